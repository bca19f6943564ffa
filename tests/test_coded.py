"""Boards whose figures say who they are: coded feet on rails, and colour pads; read through emulated chips."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from importlib.resources import files

import pytest

from firmware.hal.backends import MockHardware, mock_hardware
from firmware.hal.calibration import Calibration
from firmware.hal.coded import BADGE_S, Badges, ColourPadFigures, RailFigures, Rails, figure_reader
from firmware.hal.figures import CapacitorFigures, NoFigures
from firmware.hal.learning import IdleScan, Survey
from firmware.hal.levels import Levels
from firmware.hal.physics import condition
from firmware.hal.ports import GripReading
from firmware.hal.wiring import FigureMethod, Rail, Wiring, load_wiring
from firmware.identity import Identity, identify
from firmware.terms import FIGURES, UNKNOWN, Figure, Grip, Likelihood, Touch

FIELDS = tuple(tomllib.loads((files("firmware.game.insel") / "board.toml").read_text(encoding="utf-8"))["layout"])
WIRING = load_wiring(None, FIELDS)
TOUCH_CHIP, COAST_CHIP, JUNGLE_CHIP = WIRING.chips
MOUNTAINS = tuple(TOUCH_CHIP.fields)

RAILS = replace(
    WIRING,
    figure_method=FigureMethod.RAILS,
    chips=(TOUCH_CHIP, replace(COAST_CHIP, rails={Rail.A: 9, Rail.B: 10, Rail.C: 11}), JUNGLE_CHIP),
)
"""The rails on the coast's chip."""

COLOUR_PADS = replace(
    WIRING,
    figure_method=FigureMethod.COLOUR_PADS,
    chips=(
        replace(TOUCH_CHIP, fields={}, badges={figure: 6 + place for place, figure in enumerate(FIGURES)}),
        replace(COAST_CHIP, fields={**COAST_CHIP.fields, **dict(zip(MOUNTAINS[:3], (9, 10, 11), strict=True))}),
        replace(JUNGLE_CHIP, fields={**JUNGLE_CHIP.fields, MOUNTAINS[3]: 10}),
    ),
)
"""The colour pads on the Touch fields' chip, whose fields have moved to the others."""

POLL_S = 0.02


class Board:
    """An emulated volcano that is polled 50 times a virtual second."""

    def __init__(
        self,
        wiring: Wiring,
        under: str = "mains",
        seed: int = 0,
        calibration: Calibration | None = None,
        standing: tuple[str, ...] = (),
    ) -> None:
        self.now = 0.0
        play = condition(under)
        physics = play.physics(seed) if calibration is None else None
        self.mock: MockHardware = mock_hardware(
            wiring,
            lambda: self.now,
            seed=seed,
            noise_counts=play.noise_counts,
            physics=physics,
            calibration=calibration,
        )
        self.hands = self.mock.hands
        self.touch = self.mock.hardware.touch
        for figure, field in zip(FIGURES, standing, strict=False):
            self.hands.place(figure, field)
        self.now += 1.0
        self.run(1.0)

    def run(self, seconds: float) -> list[Grip]:
        grips = []
        for _ in range(round(seconds / POLL_S)):
            self.now += POLL_S
            if (grip := self.touch.poll(self.now)) is not None:
                grips.append(grip)
        return grips

    def contact(self, figure: Figure, touch: Touch = Touch.EXPLORE) -> list[Grip]:
        self.hands.grip(figure)
        self.run(0.3)
        self.hands.touch(touch)
        grips = self.run(0.6)
        self.hands.lift(touch)
        self.hands.let_go(figure)
        return grips + self.run(1.0)

    def tap(self, figure: Figure, seconds: float = 0.12) -> None:
        self.hands.touch_badge(figure)
        self.run(seconds)
        self.hands.lift_badge(figure)
        self.run(0.3)


def named(grips: list[Grip]) -> Figure | None:
    """Whom the one grip names when everybody is expected alike."""
    (grip,) = grips
    return identify(grip.likelihood, UNKNOWN).figure


# --- rails: what they say


def rails(**rise_pf: float) -> Likelihood:
    return RailFigures().likelihood(GripReading("beach-s", 9.0, {Rail(rail): pf for rail, pf in rise_pf.items()}))


@pytest.mark.parametrize(
    ("rise_pf", "figure"),
    [
        ({"a": 13.0, "b": 0.1, "c": -0.2}, Figure.WHITE),
        ({"a": 0.1, "b": 6.0, "c": 0.3}, Figure.RED),
        ({"a": -9.0, "b": 0.0, "c": 5.0}, Figure.GREEN),
        ({"a": 2.1, "b": 2.7, "c": 1.8}, Figure.BLACK),
    ],
)
def test_a_code_names_its_figure_whoever_is_expected(rise_pf: dict[str, float], figure: Figure) -> None:
    likelihood = rails(**rise_pf)
    prior = tuple(0.0001 if each is figure else 1.0 for each in FIGURES)
    assert identify(likelihood, (prior[0], prior[1], prior[2], prior[3])) == Identity(figure)


@pytest.mark.parametrize(
    "rise_pf",
    [
        {},
        {"a": 0.2, "b": 0.1, "c": 0.0},
        {"a": 13.0, "b": 12.0, "c": 0.2},
        {"a": 13.0, "b": 6.0, "c": 0.0},
        {"a": 20.0, "b": 11.0, "c": 11.0},
        {"a": -3.0, "b": -3.0, "c": -3.0},
        {"a": float("inf"), "b": 0.0, "c": 0.0},
        {"a": float("nan"), "b": float("nan"), "c": float("nan")},
    ],
    ids=["no rails", "a bare finger", "two rails", "half a rail", "white beside black", "falling", "short", "unknown"],
)
def test_what_is_nobodys_code_says_nothing(rise_pf: dict[str, float]) -> None:
    assert rails(**rise_pf) == UNKNOWN


def test_the_rest_of_a_rail_is_what_it_showed_before_the_field_was_touched() -> None:
    rails = Rails()
    for poll in range(100):
        now = poll * POLL_S
        standing_pf, gripped_pf = 200.0 + 8.0 * (now > 0.4), 13.0 * (now > 1.0)
        rails.measure(dict.fromkeys(Rail, standing_pf + gripped_pf), now)
        rails.follow(frozenset({"beach-s"} if now > 1.04 else ()), now)
    assert rails.rises_pf() == {"beach-s": dict.fromkeys(Rail, 13.0)}


def test_a_field_that_flickers_keeps_its_rest() -> None:
    rails = Rails()
    for poll in range(100):
        now = poll * POLL_S
        rails.measure(dict.fromkeys(Rail, 200.0 + 13.0 * (now > 1.0)), now)
        rails.follow(frozenset({"beach-s"} if now > 1.04 and not 1.4 < now < 1.6 else ()), now)
    assert rails.rises_pf() == {"beach-s": dict.fromkeys(Rail, 13.0)}


def test_rails_that_were_never_seen_without_the_grip_say_nothing() -> None:
    rails = Rails()
    for poll in range(20):
        rails.measure(dict.fromkeys(Rail, 213.0), poll * POLL_S)
        rails.follow(frozenset({"beach-s"}), poll * POLL_S)
    reading = GripReading("beach-s", 9.0, rails.rises_pf()["beach-s"])
    assert RailFigures().likelihood(reading) == UNKNOWN


# --- rails: through the chips


@pytest.mark.parametrize("under", ["mains", "battery", "painted", "noisy", "insulated-battery"])
@pytest.mark.parametrize("figure", FIGURES)
def test_rails_name_every_figure_among_others_that_stand(figure: Figure, under: str) -> None:
    board = Board(RAILS, under, seed=FIGURES.index(figure))
    others = [each for each in FIGURES if each is not figure]
    for other, field in zip(others, ("jungle-n", "ruin-s", "beach-ne"), strict=True):
        board.hands.place(other, field)
        board.run(1.2)
    board.hands.carry(figure, "beach-s")
    board.hands.touch(Touch.ROCK)
    assert named(board.run(2.0)) is figure
    board.hands.lift(Touch.ROCK)
    board.hands.let_go(figure)
    board.run(1.5)
    again = named(board.contact(figure))  # where it stood
    if figure is Figure.BLACK:  # three rings ground its foot: a hand adds little, and then the voice asks
        assert again in (figure, None)
    else:
        assert again is figure


def test_rails_on_the_field_with_the_rails_own_chip_and_on_others() -> None:
    board = Board(RAILS)
    for field in ("mountain-ne", "beach-s", "ruin-e"):
        board.hands.place(Figure.GREEN, field)
        board.run(1.5)
        (grip,) = board.contact(Figure.GREEN)
        assert grip.field == field
        assert identify(grip.likelihood, UNKNOWN) == Identity(Figure.GREEN)


def test_figures_that_stand_on_rails_at_power_on_are_no_hands() -> None:
    now = 0.0
    scan = IdleScan(Survey(mock_hardware(RAILS, lambda: now, seed=2).bus), RAILS)
    while not scan.done:
        now += POLL_S
        scan.step(now)
    board = Board(
        RAILS, seed=2, calibration=scan.calibration("now"), standing=("beach-s", "ruin-e", "jungle-n", "mountain-ne")
    )
    assert [chip.mask for chip in board.touch.pads.chips] == [0, 0, 0]
    for figure, field in zip(FIGURES, ("beach-s", "ruin-e", "jungle-n", "mountain-ne"), strict=True):
        (grip,) = board.contact(figure)
        assert (grip.field, named([grip])) == (field, figure)
    assert board.touch.faults() == []


@pytest.mark.parametrize("under", ["mains", "battery"])
def test_the_three_rails_of_a_small_chip_that_rise_with_black_are_no_sag_of_the_supply(under: str) -> None:
    """Half of its pads rise alike."""
    fields = dict(COAST_CHIP.fields)
    moved = list(fields)[3:]
    small = replace(
        COAST_CHIP,
        fields={field: fields[field] for field in list(fields)[:3]},
        rails=dict(zip(Rail, (9, 10, 11), strict=True)),
    )
    free = [electrode for electrode in range(12) if electrode not in JUNGLE_CHIP.wires.values()]
    jungle = replace(JUNGLE_CHIP, fields={**JUNGLE_CHIP.fields, **dict(zip(moved, free, strict=False))})
    board = Board(replace(WIRING, figure_method=FigureMethod.RAILS, chips=(TOUCH_CHIP, small, jungle)), under)
    named_black = 0
    for field in (*small.fields, *list(jungle.fields)[:7]):
        board.hands.place(Figure.BLACK, field)
        board.run(0.6)
        named_black += named(board.contact(Figure.BLACK)) is Figure.BLACK
    assert named_black == 10


def test_a_board_with_rails_sleeps_as_cheaply_as_one_without() -> None:
    board = Board(RAILS)
    board.hands.place(Figure.RED, "beach-s")
    board.run(12.0)
    board.mock.bus.clear()
    board.run(10.0)
    assert board.mock.bus.wire_bytes / 10 <= 550


# --- colour pads: what they say


def test_the_colour_pad_names_its_figure_and_none_says_nothing() -> None:
    reader = ColourPadFigures()
    for figure in FIGURES:
        assert identify(reader.likelihood(GripReading("beach-s", 9.0, badge=figure)), UNKNOWN) == Identity(figure)
    assert reader.likelihood(GripReading("beach-s", 9.0)) == UNKNOWN


def test_the_pad_touched_last_speaks_for_fifteen_seconds() -> None:
    badges = Badges()
    badges.follow({Figure.WHITE}, 1.0)
    badges.follow({Figure.RED}, 2.0)
    badges.follow((), 2.1)
    assert badges.badge(2.0 + BADGE_S) is Figure.RED
    assert badges.badge(2.1 + BADGE_S) is None


def test_a_pad_speaks_for_one_grip_but_for_each_while_it_is_held() -> None:
    badges = Badges()
    badges.follow({Figure.RED}, 1.0)
    badges.use()
    assert badges.badge(1.0) is Figure.RED
    badges.follow((), 1.1)
    badges.use()
    assert badges.badge(1.1) is None


def test_two_pads_at_once_speak_for_nobody() -> None:
    badges = Badges()
    badges.follow({Figure.RED, Figure.BLACK}, 1.0)
    assert badges.badge(1.0) is None
    badges.follow({Figure.BLACK}, 1.2)
    assert badges.badge(1.2) is Figure.BLACK


# --- colour pads: through the chips


@pytest.mark.parametrize("figure", FIGURES)
def test_a_tap_before_the_contact_names_the_figure(figure: Figure) -> None:
    board = Board(COLOUR_PADS)
    board.hands.place(figure, "beach-s")
    board.run(1.0)
    board.tap(figure)
    assert named(board.contact(figure)) is figure
    (again,) = board.contact(figure)  # the next player has touched none
    assert again.likelihood == UNKNOWN


def test_a_colour_pad_held_during_the_contact_names_the_figure() -> None:
    board = Board(COLOUR_PADS)
    board.hands.place(Figure.RED, "mountain-ne")
    board.run(1.0)
    board.hands.touch_badge(Figure.RED)
    assert named(board.contact(Figure.RED)) is Figure.RED
    assert named(board.contact(Figure.RED)) is Figure.RED


def test_a_colour_pad_that_shows_no_finger_speaks_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sag of the supply has taken its baseline away, and its chip calls it touched."""
    board = Board(COLOUR_PADS)
    with monkeypatch.context() as patch:
        patch.setattr(Levels, "rise_pf", lambda *_: 0.5)
        board.tap(Figure.GREEN)
        assert board.touch.pads.badges.badge(board.now) is None
    board.tap(Figure.GREEN)
    assert board.touch.pads.badges.badge(board.now) is Figure.GREEN


def test_colour_pads_on_another_chip_than_the_touch_fields_hear_a_tap_too() -> None:
    coast = replace(COAST_CHIP, fields={f: e for f, e in COAST_CHIP.fields.items() if f != "statue-w"})
    wiring = replace(
        COLOUR_PADS,
        chips=(
            TOUCH_CHIP,
            replace(coast, badges={figure: 8 + place for place, figure in enumerate(FIGURES)}),
            replace(JUNGLE_CHIP, fields={**JUNGLE_CHIP.fields, "statue-w": 10}),
        ),
    )
    for offset in range(5):
        board = Board(wiring)
        board.hands.place(Figure.GREEN, "beach-s")
        board.run(1.0 + offset * POLL_S)
        board.tap(Figure.GREEN)
        assert named(board.contact(Figure.GREEN)) is Figure.GREEN


def test_a_stuck_colour_pad_speaks_for_nobody_after_a_minute() -> None:
    board = Board(COLOUR_PADS)
    chip = board.mock.chips[TOUCH_CHIP.address]
    chip.set_pf(9, chip.pf(9) + 12.0)  # a coin on the black one
    board.run(62.0)
    board.hands.place(Figure.RED, "beach-s")
    board.run(16.0)
    (grip,) = board.contact(Figure.RED)
    assert grip.likelihood == UNKNOWN


# --- which reader


def test_the_wiring_chooses_the_reader() -> None:
    assert isinstance(figure_reader(WIRING), CapacitorFigures)
    assert isinstance(figure_reader(replace(WIRING, figure_method=FigureMethod.NOTHING)), NoFigures)
    assert isinstance(figure_reader(RAILS), RailFigures)
    assert isinstance(figure_reader(COLOUR_PADS), ColourPadFigures)


def test_the_calibration_says_what_the_feet_really_are() -> None:
    feet = {Figure.WHITE: 1.5, Figure.RED: 3.3, Figure.GREEN: 6.8, Figure.BLACK: 15.0}
    reading = GripReading("mountain-ne", 13.5)
    usual = figure_reader(WIRING).likelihood(reading)
    measured = figure_reader(WIRING, Calibration("now", figures=feet)).likelihood(reading)
    assert identify(measured, UNKNOWN) == Identity(Figure.BLACK)
    assert identify(usual, UNKNOWN) == Identity(Figure.GREEN)
