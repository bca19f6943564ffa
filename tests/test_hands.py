"""The emulated table, and through it the whole of sensing: hands, picofarads, chips, driver, pads, contact, figure."""

from __future__ import annotations

import itertools
import tomllib
from dataclasses import replace
from importlib.resources import files
from operator import methodcaller
from typing import TYPE_CHECKING

import pytest

from firmware.hal.backends import mock_hardware
from firmware.hal.hands import Hands, TableError
from firmware.hal.physics import TablePhysics, series_pf
from firmware.hal.wiring import RAIL_CODES, FigureMethod, Rail, Wiring, load_wiring
from firmware.terms import FIGURES, TOUCHES, Figure, Grip, Touch

if TYPE_CHECKING:
    from collections.abc import Callable

FIELDS = tuple(tomllib.loads((files("firmware.game.insel") / "board.toml").read_text(encoding="utf-8"))["layout"])
WIRING = load_wiring(None, FIELDS)
POLL_S = 0.02


class Ledger:
    """Stands for a chip and writes down what the hands do to its electrodes."""

    def __init__(self) -> None:
        self.pf: dict[int, float] = {}
        self.moves: list[tuple[int, float, float]] = []
        self.unhurried: list[bool] = []

    def set_pf(self, electrode: int, picofarad: float, over_s: float = 0.0, *, unhurried: bool = False) -> None:
        self.pf[electrode] = picofarad
        self.moves.append((electrode, picofarad, over_s))
        self.unhurried.append(unhurried)


def table(seed: int = 0) -> tuple[Hands, dict[int, Ledger]]:
    chips = {chip.address: Ledger() for chip in WIRING.chips}
    return Hands(WIRING, chips, seed=seed), chips


def added(act: Callable[[Hands], None], pad: str) -> float:
    """What `act` adds to a pad, in picofarads."""
    hands, _ = table()
    before = hands.pad_pf(pad)
    act(hands)
    return hands.pad_pf(pad) - before


def test_an_empty_board_is_pads_of_40_to_120_pf() -> None:
    hands, chips = table()
    own = [pf for chip in chips.values() for pf in chip.pf.values()]
    assert len(own) == 29
    assert min(own) >= 40
    assert max(own) <= 120
    assert max(own) - min(own) > 50
    assert hands.pad_pf("rock") == chips[0x5A].pf[0]


def test_a_seed_names_a_board() -> None:
    assert [table(3)[0].pad_pf(field) for field in FIELDS] == [table(3)[0].pad_pf(field) for field in FIELDS]
    assert [table(3)[0].pad_pf(field) for field in FIELDS] != [table(4)[0].pad_pf(field) for field in FIELDS]


@pytest.mark.parametrize("figure", FIGURES)
def test_a_standing_figure_adds_less_than_two_picofarads(figure: Figure) -> None:
    assert 0.8 < added(lambda hands: hands.place(figure, "ruin-n"), "ruin-n") < 1.7


@pytest.mark.parametrize("figure", FIGURES)
def test_a_gripped_figure_adds_almost_its_capacitor(figure: Figure) -> None:
    def act(hands: Hands) -> None:
        hands.place(figure, "ruin-n")
        hands.grip(figure)

    capacitor_pf = WIRING.capacitor_pf[figure]
    assert 0.7 * capacitor_pf < added(act, "ruin-n") < capacitor_pf


def test_figures_on_one_field_add_up() -> None:
    def act(hands: Hands) -> None:
        hands.place(Figure.RED, "ruin-n")
        hands.place(Figure.BLACK, "ruin-n")

    both = added(act, "ruin-n")
    one = added(lambda hands: hands.place(Figure.RED, "ruin-n"), "ruin-n")
    assert both == pytest.approx(one + series_pf(33.0, 1.7), abs=0.05)


def test_a_finger_on_a_touch_field_grounds_the_body_and_for_the_same_chip_best() -> None:
    def grip(field: str, *touches: Touch) -> float:
        def act(hands: Hands) -> None:
            hands.place(Figure.BLACK, field)
            hands.grip(Figure.BLACK)
            for touch in touches:
                hands.touch(touch)

        return added(act, field)

    assert grip("mountain-ne", Touch.ROCK) > grip("mountain-ne") + 1.0
    assert grip("ruin-n") + 0.5 < grip("ruin-n", Touch.ROCK) < grip("mountain-ne", Touch.ROCK)


def test_a_finger_on_a_touch_field_adds_far_more_than_a_figure() -> None:
    assert added(lambda hands: hands.touch(Touch.FIRE), "fire") > 50


def test_everything_taken_back_leaves_the_empty_board() -> None:
    hands, chips = table()
    before = {address: dict(chip.pf) for address, chip in chips.items()}
    hands.place(Figure.WHITE, "beach-s")
    hands.grip(Figure.WHITE)
    hands.touch(Touch.ONE)
    hands.lay_hand("jungle-n")
    assert hands.held == {Figure.WHITE}
    assert hands.touched == {Touch.ONE}
    assert hands.where(Figure.WHITE) == "beach-s"
    hands.let_go(Figure.WHITE)
    hands.lift(Touch.ONE)
    hands.raise_hand("jungle-n")
    hands.place(Figure.WHITE, None)
    for address, chip in chips.items():
        assert chip.pf == pytest.approx(before[address])


def test_a_hand_closes_in_the_time_it_is_given() -> None:
    hands, chips = table()
    hands.place(Figure.RED, "beach-s")
    chips[0x5B].moves.clear()
    hands.grip(Figure.RED, over_s=0.4)
    (move,) = [move for move in chips[0x5B].moves if move[0] == 2]
    assert move[2] == 0.4


def test_what_else_changes_meanwhile_lets_the_hand_take_its_time() -> None:
    hands, chips = table()
    hands.place(Figure.RED, "beach-s")
    hands.grip(Figure.RED, over_s=0.4)
    coast = chips[0x5B]
    coast.unhurried.clear()
    hands.touch(Touch.ROCK, 0.02)
    hands.drift(0.01)
    hands.join(joined=True)
    assert len(coast.unhurried) >= 3
    assert all(coast.unhurried)
    coast.unhurried.clear()
    hands.let_go(Figure.RED)
    assert not all(coast.unhurried)


@pytest.mark.parametrize(
    ("act", "problem"),
    [
        (lambda hands: hands.grip("blue"), "there is no figure 'blue'; the figures are white, red, green, black"),
        (lambda hands: hands.place("red", "swamp"), "there is no field 'swamp'; the fields are beach-ne, "),
        (lambda hands: hands.touch("water"), "there is no Touch field 'water'; the Touch fields are rock, "),
        (lambda hands: hands.lay_hand("rock"), "there is no field 'rock'"),
        (lambda hands: hands.pad_pf("sky"), "there is no pad 'sky'"),
    ],
)
def test_what_the_table_does_not_have_is_named(act: Callable[[Hands], None], problem: str) -> None:
    with pytest.raises(TableError) as caught:
        act(table()[0])
    assert str(caught.value).startswith(problem)


# --- more than one player, other boards


def test_a_helper_s_finger_does_not_ground_the_other_player() -> None:
    def grip(player: int) -> float:
        def act(hands: Hands) -> None:
            hands.place(Figure.BLACK, "mountain-ne")
            hands.grip(Figure.BLACK)
            hands.touch(Touch.FIRE, player=player)

        return added(act, "mountain-ne")

    assert grip(player=0) > grip(player=1) + 1.0


def test_players_who_touch_each_other_are_one_body() -> None:
    def grip(joined: bool) -> float:
        def act(hands: Hands) -> None:
            hands.place(Figure.BLACK, "ruin-n")
            hands.grip(Figure.BLACK)
            hands.join(joined)

        return added(act, "ruin-n")

    assert grip(joined=True) > grip(joined=False) + 1.0


def black_on_batteries(field: str, body_pf: float, act: Callable[[Hands], None]) -> float:
    """What a held black figure adds to a pad, with nothing but body, earth and 20 pF of the supply behind it."""
    weak = TablePhysics(body_pf=body_pf, earth_pf=20.0, hand_pf=1e6, figure_pf=0.01)
    hands = Hands(WIRING, {chip.address: Ledger() for chip in WIRING.chips}, weak)
    hands.place(Figure.BLACK, field)
    before_pf = hands.pad_pf(field)
    hands.grip(Figure.BLACK)
    act(hands)
    return hands.pad_pf(field) - before_pf


def test_however_many_bodies_there_are_the_way_back_is_no_better_than_the_supply_s() -> None:
    """All bodies couple to one earth, and that through one capacitor to the volcano's ground."""
    added_pf = black_on_batteries("ruin-n", 300.0, lambda hands: hands.join(joined=True))
    assert added_pf == pytest.approx(series_pf(33.0, 600.0, 20.0), abs=0.1)


def test_another_body_on_a_grounded_touch_field_brings_earth_to_ground() -> None:
    added_pf = black_on_batteries("mountain-ne", 150.0, lambda hands: hands.touch(Touch.FIRE, player=1))
    earth_pf = 20.0 + series_pf(150.0, 500.0)
    assert added_pf == pytest.approx(series_pf(33.0, 150.0, earth_pf), abs=0.2)


def test_another_player_sits_down_with_another_body() -> None:
    hands, _ = table()
    hands.place(Figure.BLACK, "ruin-n")
    hands.grip(Figure.BLACK)
    before = hands.pad_pf("ruin-n")
    hands.change(TablePhysics(hand_pf=30.0))
    assert hands.pad_pf("ruin-n") < before - 5.0


def test_a_pad_s_rise_shows_a_little_on_the_electrodes_beside_it() -> None:
    chips = {chip.address: Ledger() for chip in WIRING.chips}
    hands = Hands(WIRING, chips, TablePhysics(crosstalk=0.01))
    before = hands.pad_pf("mountain-ne"), hands.pad_pf("mountain-se")
    hands.touch(Touch.FIRE)
    assert hands.pad_pf("mountain-ne") - before[0] == pytest.approx(0.01 * series_pf(500.0, hands_return()), abs=0.3)
    assert hands.pad_pf("mountain-se") == before[1]


def hands_return() -> float:
    usual = TablePhysics()
    return series_pf(usual.body_pf, usual.earth_pf)


def test_drift_moves_every_pad_and_not_all_alike() -> None:
    hands, _ = table()
    before = {field: hands.pad_pf(field) for field in FIELDS}
    hands.drift(1.0)
    moved = [hands.pad_pf(field) - before[field] for field in FIELDS]
    assert all(0.4 < pf < 1.6 for pf in moved)
    assert max(moved) - min(moved) > 0.5


def coded(method: FigureMethod) -> Wiring:
    touch, coast, *others = WIRING.chips
    if method is FigureMethod.RAILS:
        coast = replace(coast, rails=dict(zip(Rail, (9, 10, 11), strict=True)))
    else:
        others = [replace(others[0], badges=dict(zip(FIGURES, (10, 11), strict=False)))]
    return replace(WIRING, chips=(touch, coast, *others), figure_method=method)


@pytest.mark.parametrize("figure", FIGURES)
def test_a_gripped_figure_raises_the_rails_of_its_code_and_no_other(figure: Figure) -> None:
    wiring = coded(FigureMethod.RAILS)
    hands = Hands(wiring, {chip.address: Ledger() for chip in wiring.chips}, TablePhysics(crosstalk=0.0))
    hands.place(figure, "ruin-n")
    standing = {rail: hands.pad_pf(rail) for rail in Rail}
    hands.grip(figure)
    rises = {rail: hands.pad_pf(rail) - standing[rail] for rail in Rail}
    assert {rail for rail, rise_pf in rises.items() if rise_pf > 0.8} == RAIL_CODES[figure]
    assert all(rises[rail] == pytest.approx(0.0, abs=1e-6) for rail in set(Rail) - RAIL_CODES[figure])


def test_standing_figures_load_the_rails() -> None:
    wiring = coded(FigureMethod.RAILS)
    hands = Hands(wiring, {chip.address: Ledger() for chip in wiring.chips})
    before = hands.pad_pf("a")
    hands.place(Figure.WHITE, "ruin-n")
    one = hands.pad_pf("a") - before
    hands.place(Figure.BLACK, "beach-s")
    assert one > 5.0
    assert hands.pad_pf("a") - before > one + 5.0


def test_a_colour_pad_is_touched_like_a_touch_field() -> None:
    wiring = coded(FigureMethod.COLOUR_PADS)
    hands = Hands(wiring, {chip.address: Ledger() for chip in wiring.chips})
    before = hands.pad_pf("white")
    hands.touch_badge(Figure.WHITE)
    assert hands.pad_pf("white") - before > 50
    assert hands.touched == frozenset()
    hands.lift_badge(Figure.WHITE)
    assert hands.pad_pf("white") == pytest.approx(before)
    with pytest.raises(TableError, match="this board has no colour pad for black"):
        hands.touch_badge(Figure.BLACK)


def test_capacitors_miss_their_marking_by_no_more_than_their_tolerance() -> None:
    marked = [added(methodcaller("place", figure, "ruin-n"), "ruin-n") for figure in FIGURES]
    off = set()
    for seed in range(8):
        for figure, nominal in zip(FIGURES, marked, strict=True):
            hands = Hands(WIRING, {chip.address: Ledger() for chip in WIRING.chips}, TablePhysics(tolerance=0.05), seed)
            before = hands.pad_pf("ruin-n")
            hands.place(figure, "ruin-n")
            off.add(round((hands.pad_pf("ruin-n") - before) / nominal, 3))
    assert len(off) > 10
    assert 0.95 <= min(off) < 1.0 < max(off) <= 1.05


# --- through the chips


class Board:
    """An emulated volcano, polled 50 times a virtual second."""

    def __init__(
        self,
        seed: int = 0,
        noise_counts: float = 0.0,
        physics: TablePhysics | None = None,
        wiring: Wiring = WIRING,
    ) -> None:
        self.now = 0.0
        mock = mock_hardware(wiring, lambda: self.now, seed=seed, noise_counts=noise_counts, physics=physics)
        self.hands = mock.hands
        self.board = mock.hardware.touch
        self.run(0.5)

    def run(self, seconds: float) -> list[Grip]:
        grips = []
        for _ in range(round(seconds / POLL_S)):
            self.now += POLL_S
            if (grip := self.board.poll(self.now)) is not None:
                grips.append(grip)
        return grips


def surely(grip: Grip) -> Figure | None:
    """The figure that has nine tenths of a flat prior's posterior."""
    total = sum(grip.likelihood)
    return next((figure for figure, value in zip(FIGURES, grip.likelihood, strict=True) if value > 0.9 * total), None)


@pytest.mark.parametrize(
    "figure", [Figure.WHITE, *(pytest.param(figure, marks=pytest.mark.slow) for figure in FIGURES[1:])]
)
def test_every_figure_is_recognised_on_every_field_with_every_touch_field(figure: Figure) -> None:
    board = Board()
    for other, field in zip(FIGURES, ("beach-s", "jungle-n", "ruin-w", "mountain-se"), strict=True):
        board.hands.place(other, field)
        board.run(0.8)
    for field in FIELDS:
        board.hands.place(figure, field)
        assert board.run(0.8) == []
        for touch in TOUCHES:
            board.hands.grip(figure, 0.1)
            board.hands.touch(touch)
            (grip,) = board.run(0.5)
            assert (grip.field, grip.touch, surely(grip)) == (field, touch, figure)
            board.hands.let_go(figure)
            board.hands.lift(touch)
            assert board.run(0.4) == []


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_noise_of_half_a_count_hides_no_figure(seed: int) -> None:
    board = Board(seed, noise_counts=0.5)
    for figure, field, touch in itertools.product(FIGURES, FIELDS[::4], TOUCHES[::3]):
        board.hands.place(figure, field)
        assert board.run(1.0) == []
        board.hands.grip(figure)
        board.hands.touch(touch)
        (grip,) = board.run(0.5)
        assert (grip.field, grip.touch, surely(grip)) == (field, touch, figure)
        board.hands.lift(touch)
        board.hands.let_go(figure)
        assert board.run(0.6) == []


@pytest.mark.parametrize("order", ["figure first", "Touch field first"])
@pytest.mark.parametrize("figure", FIGURES)
def test_slow_players_are_understood(figure: Figure, order: str) -> None:
    board = Board()
    board.hands.place(figure, "jungle-w")
    board.run(2.0)
    if order == "figure first":
        board.hands.grip(figure, 0.6)
        assert board.run(5.0) == []
        board.hands.touch(Touch.TWO, 0.2)
    else:
        board.hands.touch(Touch.TWO, 0.2)
        assert board.run(5.0) == []
        board.hands.grip(figure, 0.6)
    (grip,) = board.run(1.5)
    assert (grip.field, grip.touch, surely(grip)) == ("jungle-w", Touch.TWO, figure)


def test_holding_on_for_two_minutes_is_one_grip() -> None:
    board = Board()
    board.hands.place(Figure.GREEN, "mountain-ne")
    board.run(1.0)
    board.hands.grip(Figure.GREEN)
    board.hands.touch(Touch.ROCK)
    assert len(board.run(130.0)) == 1


def test_hands_on_several_fields_are_no_grip() -> None:
    board = Board()
    for field in ("beach-s", "jungle-s", "ruin-s"):
        board.hands.lay_hand(field)
    board.hands.touch(Touch.ROCK)
    assert board.run(3.0) == []


def test_two_touch_fields_are_no_grip() -> None:
    board = Board()
    board.hands.place(Figure.RED, "beach-s")
    board.run(1.0)
    board.hands.touch(Touch.ONE)
    board.hands.touch(Touch.TWO)
    board.hands.grip(Figure.RED)
    assert board.run(3.0) == []


@pytest.mark.parametrize("crosstalk", [0.0, 0.006])
def test_a_field_whose_wire_runs_beside_that_of_the_touch_field_is_nobody_s_grip(crosstalk: float) -> None:
    wiring = replace(WIRING, figure_method=FigureMethod.NOTHING)  # the lightest foot is not known there
    board = Board(physics=TablePhysics(crosstalk=crosstalk, earth_pf=2000.0, body_pf=300.0), wiring=wiring)
    for figure, field in ((Figure.RED, "beach-s"), (Figure.WHITE, "mountain-ne")):
        board.hands.place(figure, field)
        assert board.run(1.0) == []
        for touch, together in itertools.product(TOUCHES, (True, False)):
            board.hands.touch(touch)
            assert together or board.run(1.0) == []
            board.hands.grip(figure)
            (grip,) = board.run(0.5)
            assert (grip.field, grip.touch) == (field, touch)
            board.hands.let_go(figure)
            board.hands.lift(touch)
            assert board.run(0.6) == []


def test_fingers_on_the_wires_on_both_sides_hide_no_hand_between_them() -> None:
    """The one on the colour pad and that on the Touch field ground each other: both show far more than one alone."""
    touch, coast, jungle = WIRING.chips
    between, *others = touch.fields
    mountains = {between: 6} | {field: electrode for electrode, field in enumerate(others, 8)}
    touch = replace(touch, fields=mountains, badges={Figure.WHITE: 7})
    coast = replace(coast, badges=dict(zip(FIGURES[1:], (9, 10, 11), strict=True)))
    wiring = replace(WIRING, figure_method=FigureMethod.COLOUR_PADS, chips=(touch, coast, jungle))
    board = Board(wiring=wiring)
    board.hands.place(Figure.WHITE, between)
    board.run(1.5)
    board.hands.touch_badge(Figure.WHITE)
    assert board.run(0.3) == []
    board.hands.grip(Figure.WHITE)
    assert board.run(0.3) == []
    board.hands.touch(Touch.FIRE)
    (grip,) = board.run(0.5)
    assert grip.field == between


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_on_rails_that_is_let_go_on_batteries_is_no_grip_until_it_is_held(figure: Figure) -> None:
    board = Board(wiring=coded(FigureMethod.RAILS), physics=TablePhysics(earth_pf=30.0))
    for field in FIELDS[::3]:
        board.hands.place(figure, field)
        assert board.run(1.0) == []
        board.hands.touch(Touch.ROCK)
        assert board.run(1.0) == []
        board.hands.lift(Touch.ROCK)
        board.run(0.5)
        board.hands.place(figure, None)
        board.run(0.5)
        board.hands.carry(figure, field, 0.1)
        assert board.run(1.0) == []
        board.hands.touch(Touch.ROCK)
        (grip,) = board.run(0.5)
        assert (grip.field, grip.touch) == (field, Touch.ROCK)
        board.hands.lift(Touch.ROCK)
        board.hands.let_go(figure)
        board.run(0.6)


def test_one_of_several_figures_on_a_field_is_recognised() -> None:
    board = Board()
    for figure in FIGURES:
        board.hands.place(figure, "statue-n")
        board.run(1.0)
    for figure in FIGURES:
        board.hands.grip(figure)
        board.hands.touch(Touch.EXPLORE)
        (grip,) = board.run(0.4)
        assert (grip.field, surely(grip)) == ("statue-n", figure)
        board.hands.let_go(figure)
        board.hands.lift(Touch.EXPLORE)
        board.run(1.0)


@pytest.mark.parametrize("figure", [Figure.WHITE, Figure.BLACK])
def test_a_grip_of_more_than_a_minute_leaves_no_deaf_field(figure: Figure) -> None:
    """After a minute the held level is taken for rest; a second after the hand has gone, so is what is left."""
    board = Board()
    board.hands.place(figure, "statue-n")
    board.run(1.5)
    board.hands.grip(figure)
    board.hands.touch(Touch.ONE)
    assert len(board.run(65.0)) == 1
    board.hands.lift(Touch.ONE)
    board.hands.let_go(figure)
    assert board.run(1.0) == []
    board.hands.grip(figure)
    board.hands.touch(Touch.TWO)
    (grip,) = board.run(0.5)
    assert (grip.touch, surely(grip)) == (Touch.TWO, figure)


@pytest.mark.parametrize(("noise_counts", "least", "most"), [(0.0, 0.3, 0.5), (1.2, 0.9, 1.5)])
def test_a_chip_s_noise_is_heard_before_the_first_grip(noise_counts: float, least: float, most: float) -> None:
    board = Board(noise_counts=noise_counts)
    board.run(10.0)
    assert all(least < chip.levels.noise_counts < most for chip in board.board.pads.chips)
