"""From touched pads to a grip, in virtual time, without any chip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.hal.contact import STUCK_S, Contacts, Finger, PadReading
from firmware.hal.figures import NoFigures
from firmware.hal.levels import NOISE_COUNTS
from firmware.hal.raised import STANDING_ON_RINGS, STANDING_S
from firmware.terms import UNKNOWN, Figure, Grip, Likelihood, Touch

if TYPE_CHECKING:
    from firmware.hal.ports import GripReading

POLL_S = 0.02


class Echo:
    """A figure reader that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, float]] = []

    def likelihood(self, reading: GripReading) -> Likelihood:
        self.asked.append((reading.field, reading.rise_pf))
        return UNKNOWN


class Table:
    """Feeds contacts with readings at 50 Hz."""

    def __init__(self) -> None:
        self.reader = Echo()
        self.contacts = Contacts(self.reader)
        self.finger: Finger | None = None
        self.badge: Figure | None = None
        self.passed_pf: dict[str, float] = {}
        self.idle_pf = 80.0
        self.noise_counts = NOISE_COUNTS
        self.now = 0.0

    def hold(self, seconds: float, *touches: Touch, **rise_pf: float) -> list[Grip]:
        """These Touch fields and these fields with their rise, for so long."""
        grips = []
        for _ in range(round(seconds / POLL_S)):
            self.now += POLL_S
            reading = PadReading(
                frozenset(touches),
                frozenset(rise_pf),
                rise_pf,
                badge=self.badge,
                idle_pf=dict.fromkeys(rise_pf, self.idle_pf),
                finger=self.finger,
                noise_counts=self.noise_counts,
                passed_pf=self.passed_pf,
            )
            grip = self.contacts.update(reading, self.now)
            if grip is not None:
                grips.append(grip)
        return grips


def test_one_touch_field_and_one_gripped_field_make_a_grip() -> None:
    table = Table()
    assert table.hold(0.5, Touch.ROCK, beach=4.5) == [Grip("beach", Touch.ROCK)]
    assert table.reader.asked == [("beach", 4.5)]


def test_a_touch_field_beside_a_figure_that_is_held_already_takes_three_polls() -> None:
    table = Table()
    table.hold(1.0, beach=4.5)
    assert table.hold(0.04, Touch.ROCK, beach=4.5) == []
    assert len(table.hold(0.02, Touch.ROCK, beach=4.5)) == 1


def test_a_level_that_is_there_all_at_once_is_no_hand_that_is_still_closing() -> None:
    table = Table()
    assert table.hold(0.04, Touch.ROCK, beach=4.5) == []
    assert len(table.hold(0.04, Touch.ROCK, beach=4.5)) == 1


def test_a_level_that_began_near_the_threshold_may_be_a_hand_that_closes_slowly() -> None:
    table = Table()
    assert table.hold(0.1, Touch.ROCK, beach=0.9) == []
    assert len(table.hold(0.4, Touch.ROCK, beach=4.5)) == 1
    assert table.reader.asked == [("beach", 4.5)]


def test_two_figures_set_down_one_after_the_other_stand() -> None:
    """With 3.3 to 33 pF in their feet two of them show 2.5 to 3.0 pF together."""
    table = Table()
    for rise_pf in (6.0, 5.0, 4.0, 3.0, 2.5):
        table.hold(0.06, beach=rise_pf)
    table.hold(0.4, beach=2.5)
    assert table.hold(2.0, Touch.ROCK, beach=2.5) == []
    assert table.contacts.at_rest(table.now) == []  # not while a Touch field is down
    table.hold(0.1, beach=2.5)
    assert table.contacts.at_rest(table.now) == ["beach"]


def test_what_shows_no_more_than_the_heaviest_figure_for_a_second_stands() -> None:
    table = Table()
    table.hold(1.2, beach=1.6)
    assert table.contacts.at_rest(table.now) == ["beach"]
    assert table.hold(2.0, Touch.ROCK, beach=1.6) == []


@pytest.mark.parametrize(("around_pf", "held"), [(1.65, False), (1.75, True)])
def test_noise_does_not_make_a_standing_figure_of_a_held_one_nor_the_reverse(around_pf: float, held: bool) -> None:
    """The lightest figure's grip and the heaviest figure that stands are a sixth of a picofarad apart."""
    table = Table()
    for _ in range(8):
        table.hold(0.06, beach=around_pf - 0.2)
        table.hold(0.06, beach=around_pf + 0.2)
    assert (table.contacts.at_rest(table.now) == []) is held
    grips = [
        grip for wander_pf in (-0.2, 0.2) * 8 for grip in table.hold(0.06, Touch.ROCK, beach=around_pf + wander_pf)
    ]
    assert bool(grips) is held


def leave_white(table: Table, field: str = "beach") -> None:
    """A white figure is set down on an empty field, and stands there."""
    for rise_pf in (3.0, 3.0, 1.1, 1.1):
        table.hold(0.1, **{field: rise_pf})
    assert table.contacts.at_rest(table.now) == [field]
    table.contacts.forget(field, table.now)


@pytest.mark.parametrize("lifted", [False, True])
def test_where_a_figure_was_left_what_shows_as_little_as_one_that_stands_is_a_hand(*, lifted: bool) -> None:
    table = Table()
    leave_white(table)
    table.hold(1.0)
    table.idle_pf += 0.1 if lifted else 1.1
    table.hold(1.2, beach=1.5)
    assert table.contacts.at_rest(table.now) == (["beach"] if lifted else [])
    assert len(table.hold(0.5, Touch.ROCK, beach=1.5)) == (0 if lifted else 1)


def test_a_figure_that_stands_is_known_to_do_so_after_every_grip() -> None:
    """The level at rest before it came is that of the field without it, however often it was held since."""
    table = Table()
    leave_white(table)
    table.idle_pf += 1.1
    for _ in range(3):
        table.hold(1.0)
        assert len(table.hold(0.5, Touch.ROCK, beach=1.9)) == 1
        table.hold(0.1, beach=1.9)
        table.hold(0.04, beach=1.0)  # measured on its way down, and untouched then
    table.hold(1.0)
    table.hold(1.2, beach=1.5)
    assert table.contacts.at_rest(table.now) == []
    assert len(table.hold(0.5, Touch.ROCK, beach=1.5)) == 1


def test_what_a_field_was_without_its_figure_is_not_remembered_for_ever() -> None:
    """In ten minutes an empty field may have drifted by as much as a figure shows."""
    table = Table()
    leave_white(table)
    table.now += 600.0
    table.idle_pf += 1.1
    table.hold(1.2, beach=1.5)
    assert table.contacts.at_rest(table.now) == ["beach"]


@pytest.mark.parametrize("spike_pf", [6.0, 400.0, float("inf")])
def test_one_spike_makes_no_hand_of_a_figure_that_stands(spike_pf: float) -> None:
    table = Table()
    table.hold(0.2, beach=1.5)
    table.hold(0.02, beach=spike_pf)
    table.hold(1.0, beach=1.5)
    assert table.contacts.at_rest(table.now) == ["beach"]
    assert table.hold(1.0, Touch.ROCK, beach=1.5) == []


def test_who_has_touched_a_colour_pad_may_show_as_little_as_a_figure_that_stands() -> None:
    table = Table()
    table.badge = Figure.WHITE
    table.hold(1.2, beach=1.5)
    assert table.contacts.at_rest(table.now) == []
    assert len(table.hold(0.5, Touch.ROCK, beach=1.5)) == 1


def test_what_was_there_before_somebody_touched_a_colour_pad_stands() -> None:
    table = Table()
    table.hold(0.3, beach=1.5)
    table.badge = Figure.WHITE
    table.hold(0.5, beach=1.5)
    assert table.hold(2.0, Touch.ROCK, beach=1.5) == []


def test_a_figure_that_stands_unseen_blocks_nobody_who_has_touched_a_colour_pad() -> None:
    table = Table()
    table.badge = Figure.RED
    table.hold(0.7, beach=1.5)
    assert [grip.field for grip in table.hold(0.2, Touch.ROCK, beach=1.5, jungle=9.0)] == ["jungle"]


@pytest.mark.parametrize("before_s", [0.7, 1.5])
def test_what_a_figure_that_stands_never_shows_is_the_hand_beside_what_it_may_show(before_s: float) -> None:
    """A white figure, and a field whose wire runs beside that of the Touch field."""
    table = Table()
    table.badge = Figure.WHITE
    table.hold(1.2, beach=1.9)  # for so long that it may stand
    table.hold(before_s, beach=1.9, mountain=1.0)
    assert [grip.field for grip in table.hold(0.2, Touch.FIRE, beach=1.9, mountain=1.0)] == ["beach"]


@pytest.mark.parametrize("standing", [False, True])
def test_what_a_finger_on_the_wire_beside_its_own_passes_on_blocks_nobody(*, standing: bool) -> None:
    """Not even where a figure is known to stand, so that what shows little may be a hand."""
    table = Table()
    if standing:
        for field in ("beach", "mountain"):
            leave_white(table, field)
        table.hold(0.3)
        table.idle_pf += 1.1
    table.passed_pf = {"mountain": 1.3}
    grips = table.hold(0.3, Touch.FIRE, beach=1.9, mountain=0.9)
    assert [grip.field for grip in grips] == ["beach"]


@pytest.mark.parametrize(("rise_pf", "grips"), [(0.9, 0), (2.1, 1)])
def test_beside_the_touch_field_s_wire_a_grip_is_what_shows_more_than_its_finger_passes_on(
    rise_pf: float, grips: int
) -> None:
    table = Table()
    table.passed_pf = {"mountain": 1.3}
    assert len(table.hold(1.0, Touch.FIRE, mountain=rise_pf)) == grips


@pytest.mark.parametrize(
    ("before_pf", "then_pf", "grips"),
    [
        (11.4, 11.4, 0),
        (7.9, 8.1, 0),
        (10.7, 11.4, 1),  # on a weak return the finger brings ground nearer
        (13.4, 13.4, 1),
        (0.9, 0.9, 1),  # of a figure that stood there
        (5.9, 5.9, 1),
        (None, 11.4, 1),
    ],
)
def test_on_rings_what_a_finger_on_the_touch_field_changes_nothing_of_is_a_figure_that_stands(
    before_pf: float | None, then_pf: float, grips: int
) -> None:
    """Black shows 11.5 pF where it stands, and on batteries hardly more in a hand until that touches a Touch field."""
    table = Table()
    table.contacts = Contacts(table.reader, STANDING_ON_RINGS)
    for _ in range(2):
        if before_pf is not None:
            table.hold(0.8, beach=before_pf)
        else:
            table.hold(0.8, Touch.ROCK)
        assert len(table.hold(2.0, Touch.ROCK, beach=then_pf)) == grips
        table.hold(1.0)


def test_a_hand_that_comes_back_to_a_figure_on_rings_with_the_touch_field_touched_is_one() -> None:
    table = Table()
    table.contacts = Contacts(table.reader, STANDING_ON_RINGS)
    table.hold(0.5, beach=13.4)
    table.hold(0.5, beach=11.4)
    assert table.hold(0.5, Touch.ROCK, beach=11.4) == []
    assert len(table.hold(0.5, Touch.ROCK, beach=12.4)) == 1


@pytest.mark.parametrize("touched_s", [0.0, 0.5])
def test_a_figure_on_rings_stands_although_its_field_has_blinked(touched_s: float) -> None:
    table = Table()
    table.contacts = Contacts(table.reader, STANDING_ON_RINGS)
    table.hold(2.0, beach=11.4)
    assert table.hold(touched_s, Touch.ROCK, beach=11.4) == []
    table.hold(0.06, *([Touch.ROCK] if touched_s else []))
    assert table.hold(1.0, Touch.ROCK, beach=11.4) == []


def test_a_field_that_only_its_noise_has_touched_blocks_nobody() -> None:
    """On a wire of 200 pF a count is 0.28 pF, and what wanders about 0.45 pF shows now more than a hand, now less."""
    table = Table()
    table.idle_pf, table.noise_counts = 200.0, 1.0
    table.hold(0.1, jungle=1.1)
    for _ in range(6):
        table.hold(0.06, beach=5.0, jungle=0.2)
        table.hold(0.06, beach=5.0, jungle=0.7)
    assert len(table.hold(0.2, Touch.ROCK, beach=5.0, jungle=0.6)) == 1


def test_a_moment_of_noise_is_no_hand_that_lets_go() -> None:
    table = Table()
    table.idle_pf, table.noise_counts = 200.0, 1.0
    for rise_pf, seconds in ((2.5, 0.04), (3.9, 0.06), (2.8, 0.06), (3.6, 0.06), (2.1, 0.04)):
        table.hold(seconds, Touch.ROCK, Touch.ONE, beach=rise_pf)
    table.hold(0.2, Touch.ROCK, Touch.ONE, beach=3.2)
    assert len(table.hold(0.6, Touch.ROCK, beach=3.2)) == 1


def let_go(table: Table) -> None:
    """A black figure is gripped and let go while two fingers lie on Touch fields, so that its rest stays as it was."""
    for rise_pf in (20.0, 20.0, 20.0, 12.0, 6.0, 1.9):
        table.hold(0.06, Touch.ROCK, Touch.ONE, beach=rise_pf)
    table.hold(0.3, Touch.ROCK, Touch.ONE, beach=1.9)


def test_a_figure_that_stands_does_so_when_its_field_has_blinked() -> None:
    """A sag of the supply moves the baseline, and the chip calls the field untouched for a moment."""
    table = Table()
    let_go(table)
    table.hold(0.1, Touch.ROCK)
    assert table.hold(0.5, Touch.ROCK, beach=1.9) == []
    assert len(table.hold(0.5, Touch.ROCK, beach=21.0)) == 1
    ((_, rise_pf),) = table.reader.asked
    assert rise_pf == pytest.approx(19.1)


def test_a_sag_in_the_moment_of_letting_go_makes_no_grip_of_the_figure_that_is_left() -> None:
    table = Table()
    table.hold(0.5, beach=13.0)
    table.hold(0.02, beach=7.0)
    table.hold(0.02, beach=1.5)
    table.hold(0.08)
    assert table.hold(0.5, Touch.ROCK, beach=1.5) == []


def test_what_has_sagged_below_rest_and_comes_back_is_no_hand() -> None:
    table = Table()
    table.hold(0.2, beach=0.0)
    table.hold(0.2, beach=-1.6)
    assert table.hold(0.4, Touch.ROCK, beach=0.1) == []


def test_a_field_that_shows_nothing_when_it_is_let_go_is_forgotten() -> None:
    """Another figure may be gripped there at once."""
    table = Table()
    table.hold(0.5, beach=5.0)
    table.hold(0.04, beach=0.2)
    table.hold(0.16)
    assert len(table.hold(0.5, Touch.ROCK, beach=2.5)) == 1


@pytest.mark.parametrize("forgotten", [False, True])
def test_what_was_untouched_for_longer_or_has_a_new_rest_is_looked_at_anew(*, forgotten: bool) -> None:
    table = Table()
    let_go(table)
    table.hold(0.1 if forgotten else 0.3, Touch.ROCK)
    if forgotten:
        table.contacts.forget("beach", table.now)
    assert len(table.hold(0.5, Touch.ROCK, beach=1.9)) == 1


def test_a_hand_that_comes_in_the_moment_when_a_figure_is_known_to_stand_is_not_taken_for_rest() -> None:
    table = Table()
    table.hold(0.62, beach=1.2)
    table.hold(0.02, beach=1.9)
    assert table.contacts.at_rest(table.now) == []
    table.hold(0.06, beach=3.0)
    assert len(table.hold(0.4, Touch.ROCK, beach=3.0)) == 1


def test_a_white_figure_that_is_held_for_long_is_held() -> None:
    """It adds 1.9 pF or more where it stood."""
    table = Table()
    table.hold(3.0, beach=1.9)
    assert table.contacts.at_rest(table.now) == []
    assert len(table.hold(0.5, Touch.ROCK, beach=1.9)) == 1


def test_a_touch_field_that_shows_no_finger_is_none() -> None:
    """The chip may call it touched, when a sag of the supply has taken its baseline away."""
    table = Table()
    table.finger = Finger(0.4, 80.0)
    assert table.hold(2.0, Touch.ROCK, beach=9.0) == []
    table.finger = Finger(6.0, 80.0)
    assert len(table.hold(0.2, Touch.ROCK, beach=9.0)) == 1


@pytest.mark.parametrize(
    ("touches", "fields"),
    [
        ((), {"beach": 9.0}),
        ((Touch.FIRE,), {}),
        ((Touch.ONE, Touch.TWO), {"beach": 9.0}),
        ((Touch.ONE,), {"beach": 9.0, "jungle": 9.0}),
        ((Touch.ONE, Touch.TWO, Touch.THREE), {"beach": 9.0, "jungle": 9.0, "ruin": 9.0}),
        ((Touch.ONE,), {"beach": 0.3}),
    ],
    ids=["no Touch field", "no field", "two Touch fields", "two fields", "many pads", "hardly anything"],
)
def test_anything_else_makes_none(touches: tuple[Touch, ...], fields: dict[str, float]) -> None:
    assert Table().hold(2.0, *touches, **fields) == []


def test_less_than_the_lightest_figure_s_grip_is_a_figure_that_stands_unseen() -> None:
    table = Table()
    table.contacts = Contacts(table.reader, least_pf=1.6)
    assert table.hold(2.0, Touch.ROCK, beach=1.2) == []
    assert len(table.hold(0.6, Touch.ROCK, beach=2.0)) == 1


@pytest.mark.parametrize(
    ("badge", "known", "grips"), [(Figure.WHITE, True, 1), (None, True, 0), (Figure.WHITE, False, 0)]
)
def test_who_has_touched_a_colour_pad_may_show_less_where_a_figure_was_seen_to_be_set_down(
    badge: Figure | None, known: bool, grips: int
) -> None:
    """In noise the field's rest may be known too high."""
    table = Table()
    table.contacts = Contacts(table.reader, least_pf=1.4)
    leave_white(table)
    table.hold(0.3)
    if known:
        table.idle_pf += 1.1
    table.badge = badge
    assert len(table.hold(1.0, Touch.ROCK, beach=1.2)) == grips


def test_holding_on_for_two_minutes_makes_one_grip() -> None:
    table = Table()
    assert len(table.hold(120.0, Touch.EXPLORE, beach=4.5)) == 1


def test_another_field_needs_the_touch_field_released_first() -> None:
    table = Table()
    table.hold(0.5, Touch.EXPLORE, beach=4.5)
    assert table.hold(1.0, Touch.EXPLORE, jungle=9.0) == []
    table.hold(0.1)
    assert table.hold(0.5, Touch.EXPLORE, jungle=9.0) == [Grip("jungle", Touch.EXPLORE)]


def test_a_flicker_of_the_touch_field_is_no_release() -> None:
    table = Table()
    table.hold(0.5, Touch.EXPLORE, beach=4.5)
    table.hold(0.02, beach=4.5)
    assert table.hold(0.5, Touch.EXPLORE, beach=4.5) == []


def test_the_same_figure_may_answer_with_another_touch_field_at_once() -> None:
    table = Table()
    table.hold(0.5, Touch.EXPLORE, beach=4.5)
    table.hold(0.1, beach=4.5)
    assert table.hold(0.5, Touch.TWO, beach=4.5) == [Grip("beach", Touch.TWO)]


@pytest.mark.parametrize("first", ["figure", "Touch field"])
def test_the_second_hand_may_come_seconds_later(first: str) -> None:
    table = Table()
    early = table.hold(6.0, beach=4.5) if first == "figure" else table.hold(6.0, Touch.FIRE)
    assert early == []
    assert table.hold(0.2, Touch.FIRE, beach=4.5) == [Grip("beach", Touch.FIRE)]


def test_a_closing_hand_is_not_measured_before_it_has_closed() -> None:
    table = Table()
    for step in range(25):  # 1.2 to 4.5 pF in half a second
        assert table.hold(POLL_S, Touch.ROCK, beach=1.2 + 3.3 * step / 25) == []
    assert len(table.hold(0.2, Touch.ROCK, beach=4.5)) == 1
    ((_, rise_pf),) = table.reader.asked
    assert rise_pf == pytest.approx(4.5, abs=0.03)


def test_a_hand_that_takes_a_second_and_a_half_is_waited_for() -> None:
    for final_pf in (2.0, 5.0, 12.0, 24.0):
        table = Table()
        for step in range(75):
            assert table.hold(POLL_S, Touch.ROCK, beach=final_pf * (step + 1) / 76) == []
        assert len(table.hold(0.4, Touch.ROCK, beach=final_pf)) == 1
        ((_, rise_pf),) = table.reader.asked
        assert rise_pf == pytest.approx(final_pf, rel=0.05)


def test_noise_only_delays() -> None:
    table = Table()
    noise = (0.25, -0.2, 0.15, -0.25, 0.2, -0.1, 0.2, -0.15, 0.1, -0.2)
    grips = [grip for n in noise * 2 for grip in table.hold(POLL_S, Touch.ROCK, beach=4.5 + n)]
    assert len(grips) == 1
    assert table.reader.asked[0][1] == pytest.approx(4.5, abs=0.2)


def test_one_spike_does_not_decide() -> None:
    table = Table()
    for rise_pf in (4.5, 12.0, 4.5):
        assert table.hold(POLL_S, Touch.ROCK, beach=rise_pf) == []
    table.hold(0.2, Touch.ROCK, beach=4.5)
    assert [rise for _, rise in table.reader.asked] == [4.5]


def test_a_figure_that_was_let_go_is_at_rest_and_no_grip() -> None:
    table = Table()
    table.hold(0.3, beach=16.0)
    assert table.contacts.at_rest(table.now) == []
    table.hold(0.2, beach=1.6)
    assert table.contacts.at_rest(table.now) == ["beach"]
    assert table.hold(1.0, Touch.ROCK, beach=1.6) == []


def test_a_level_that_fell_to_a_third_was_let_go_however_badly_the_rest_is_known() -> None:
    table = Table()
    table.hold(0.3, beach=13.0)
    table.hold(0.3, beach=2.4)
    assert table.hold(1.0, Touch.ROCK, beach=2.4) == []
    assert table.hold(0.3, Touch.ROCK, beach=2.4, jungle=4.5) == [Grip("jungle", Touch.ROCK)]


def test_a_field_that_seems_touched_and_shows_nothing_comes_to_rest() -> None:
    table = Table()
    table.hold(0.4, beach=0.1)
    assert table.contacts.at_rest(table.now) == []
    table.hold(0.3, beach=0.1)
    assert table.contacts.at_rest(table.now) == ["beach"]


def test_a_figure_let_go_does_not_block_another_that_is_gripped() -> None:
    table = Table()
    table.hold(0.3, beach=16.0)
    assert table.hold(0.3, Touch.ROCK, beach=1.6, jungle=4.5) == [Grip("jungle", Touch.ROCK)]


def test_a_figure_set_down_unseen_blocks_nobody_for_longer_than_a_second() -> None:
    table = Table()
    table.hold(1.1, beach=1.6)
    assert table.hold(0.3, Touch.ROCK, beach=1.6, jungle=4.5) == [Grip("jungle", Touch.ROCK)]


def test_a_figure_set_down_unseen_comes_to_rest() -> None:
    table = Table()
    table.hold(STANDING_S - 1.0, beach=1.8)
    assert table.contacts.at_rest(table.now) == []
    table.hold(1.2, beach=1.8)
    assert table.contacts.at_rest(table.now) == ["beach"]


def test_a_figure_let_go_and_gripped_again_is_gripped() -> None:
    table = Table()
    table.hold(0.3, beach=4.5)
    table.hold(0.3, beach=1.2)
    assert table.hold(0.3, Touch.ROCK, beach=4.5) == [Grip("beach", Touch.ROCK)]
    assert table.reader.asked[0][1] == pytest.approx(3.3)


def test_a_second_figure_set_down_beside_one_just_let_go_is_let_go_too() -> None:
    table = Table()
    for rise_pf in (9.0, 1.4, 5.9, 2.7):  # green gripped, green stands, red gripped beside it, both stand
        table.hold(0.3, beach=rise_pf)
    assert table.contacts.at_rest(table.now) == ["beach"]
    assert table.hold(0.5, Touch.ROCK, beach=2.7) == []


def test_no_field_is_rebased_while_a_new_hand_is_coming() -> None:
    table = Table()
    table.hold(0.3, beach=4.5)
    table.hold(0.3, beach=1.2)
    table.hold(POLL_S, beach=2.0)
    assert table.contacts.at_rest(table.now) == []


def test_no_field_is_rebased_while_a_touch_field_is_down() -> None:
    table = Table()
    table.hold(0.3, beach=16.0)
    table.hold(0.5, Touch.ROCK, beach=1.6)
    assert table.contacts.at_rest(table.now) == []


def test_a_stuck_pad_comes_to_rest_after_a_minute() -> None:
    table = Table()
    table.hold(STUCK_S - 1.0, beach=30.0)
    assert table.contacts.at_rest(table.now) == []
    table.hold(2.0, beach=30.0)
    assert table.contacts.at_rest(table.now) == ["beach"]


def test_a_stuck_touch_field_comes_to_rest_after_a_minute() -> None:
    table = Table()
    table.hold(STUCK_S + 1.0, Touch.TWO)
    assert table.contacts.at_rest(table.now) == ["two"]


def test_idle_means_nothing_is_remembered() -> None:
    table = Table()
    assert table.contacts.idle
    table.hold(0.1, beach=4.5)
    assert not bool(table.contacts.idle)
    table.hold(0.5, Touch.ROCK, beach=4.5)
    table.hold(0.06)
    assert (table.contacts.answered, table.contacts.idle) == (False, True)


@pytest.mark.parametrize("idle_pf", [80.0, 0.0, float("nan"), float("inf")])
@pytest.mark.parametrize("rise_pf", [float("nan"), float("inf"), float("-inf"), -5.0, 1e12])
def test_readings_out_of_this_world_do_no_harm(rise_pf: float, idle_pf: float) -> None:
    """A torn read may say anything."""
    contacts = Contacts(NoFigures())
    for poll in range(60):
        told = rise_pf if poll % 3 == 0 else 4.5
        fields = frozenset({"beach"})
        finger = Finger(told, idle_pf)
        reading = PadReading(frozenset({Touch.ROCK}), fields, {"beach": told}, {}, None, {"beach": idle_pf}, finger)
        contacts.update(reading, poll * POLL_S)


STRETCHES = st.lists(
    st.tuples(
        st.integers(1, 12),
        st.sets(st.sampled_from([Touch.ROCK, Touch.ONE, Touch.FIRE]), max_size=2),
        st.dictionaries(st.sampled_from(["beach", "jungle", "ruin"]), st.floats(0.1, 30.0), max_size=2),
    ),
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(STRETCHES)
def test_never_two_grips_without_a_release_and_never_one_without_both_down(
    stretches: list[tuple[int, set[Touch], dict[str, float]]],
) -> None:
    contacts = Contacts(NoFigures())
    now, released = 0.0, True
    recent: list[PadReading] = []
    for polls, touches, rise_pf in stretches:
        for _ in range(polls):
            now += POLL_S
            reading = PadReading(frozenset(touches), frozenset(rise_pf), rise_pf)
            recent = [*recent[-2:], reading]
            released = released or not touches
            grip = contacts.update(reading, now)
            if grip is not None:
                assert released, "a second grip without a release"
                released = False
                for seen in recent:
                    assert seen.touches == {grip.touch}
                    assert seen.rise_pf[grip.field] >= 0.5
                assert len(recent) == 3
