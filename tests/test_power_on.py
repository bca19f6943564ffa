"""A hand on the board when the power comes on: with a calibration it spoils nothing, without one it soon heals."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from firmware.hal.backends import MockHardware, mock_hardware
from firmware.hal.learning import IdleScan, Survey
from firmware.hal.mpr121 import Mpr121
from firmware.hal.tended_chip import ChipState
from firmware.hal.wiring import load_wiring
from firmware.terms import FIGURES, TOUCHES, Figure, Grip, Touch

if TYPE_CHECKING:
    from firmware.hal.calibration import Calibration

FIELDS = tuple(tomllib.loads((files("firmware.game.insel") / "board.toml").read_text(encoding="utf-8"))["layout"])
WIRING = load_wiring(None, FIELDS)
SOME = ("mountain-ne", "beach-s", "ruin-e")
EVERYWHERE = [field if field in SOME else pytest.param(field, marks=pytest.mark.slow) for field in WIRING.fields]
"""One field of each chip at every run, all of them where time allows."""
POLL_S = 0.02
SEED = 3

HEAVY = [figure for figure in FIGURES if WIRING.capacitor_pf[figure] > 6.5]
"""Figures that raise a field by more in the hand than all four do that stand there: 6 pF."""


@cache
def learnt() -> Calibration:
    """The calibration of the board that all tests play on."""
    now = 0.0
    mock = mock_hardware(WIRING, lambda: now, seed=SEED, noise_counts=0.3)
    scan = IdleScan(Survey(mock.bus), WIRING)
    while not scan.done:
        now += POLL_S
        scan.step(now)
    return scan.calibration("2026-05-01T20:15:00")


class Board:
    """An emulated volcano whose power is still off: hands may act before the first `run`."""

    def __init__(self, calibration: Calibration | None, noise_counts: float = 0.3) -> None:
        self.now = 0.0
        self.mock: MockHardware = mock_hardware(
            WIRING, lambda: self.now, seed=SEED, noise_counts=noise_counts, calibration=calibration
        )
        self.hands = self.mock.hands
        self.touch = self.mock.hardware.touch
        self.faults: set[str] = set()

    def wait(self) -> None:
        """Hands come to rest while the power is off."""
        self.now += 1.0

    def run(self, seconds: float) -> list[Grip]:
        grips = []
        for _ in range(round(seconds / POLL_S)):
            self.now += POLL_S
            if (grip := self.touch.poll(self.now)) is not None:
                grips.append(grip)
            if all(chip.state is ChipState.OK for chip in self.touch.pads.chips):
                self.faults.update(map(str, self.touch.faults()))
        return grips

    def contact(self, figure: Figure, touch: Touch = Touch.ROCK) -> list[Grip]:
        self.hands.grip(figure)
        self.hands.touch(touch)
        grips = self.run(0.4)
        self.hands.let_go(figure)
        self.hands.lift(touch)
        return grips + self.run(0.6)


def who(grips: list[Grip], field: str, touch: Touch) -> Figure:
    """The figure that the one contact, where it must be, speaks for: twice as likely as any other."""
    (grip,) = grips
    assert (grip.field, grip.touch) == (field, touch)
    *_, second, best = sorted(grip.likelihood)
    assert best > 2 * second
    return FIGURES[grip.likelihood.index(best)]


# --- with a calibration


@pytest.mark.parametrize("figure", HEAVY)
@pytest.mark.parametrize("field", EVERYWHERE)
def test_a_figure_that_is_held_at_power_on_plays_on_at_once(field: str, figure: Figure) -> None:
    board = Board(learnt())
    board.hands.carry(figure, field)
    board.wait()
    assert board.run(0.5) == []
    board.hands.touch(Touch.EXPLORE)
    assert who(board.run(0.4), field, Touch.EXPLORE) is figure
    board.hands.lift(Touch.EXPLORE)
    board.hands.let_go(figure)
    assert board.run(0.6) == []
    assert who(board.contact(figure), field, Touch.ROCK) is figure
    assert who(board.contact(figure, Touch.TWO), field, Touch.TWO) is figure
    assert board.faults == set()


@pytest.mark.parametrize("figure", [figure for figure in FIGURES if figure not in HEAVY])
@pytest.mark.parametrize("field", EVERYWHERE)
def test_a_light_figure_might_be_some_that_stand_and_counts_from_its_next_grip(field: str, figure: Figure) -> None:
    board = Board(learnt())
    board.hands.carry(figure, field)
    board.wait()
    board.run(0.5)
    board.hands.touch(Touch.EXPLORE)
    assert board.run(0.4) == []
    board.hands.lift(Touch.EXPLORE)
    board.hands.let_go(figure)
    board.run(0.4)
    assert who(board.contact(figure), field, Touch.ROCK) is figure
    assert board.faults == set()


@pytest.mark.parametrize("touch", TOUCHES)
def test_a_finger_on_a_touch_field_at_power_on_is_a_touch(touch: Touch) -> None:
    board = Board(learnt())
    board.hands.touch(touch)
    board.hands.place(Figure.BLACK, "beach-s")
    board.wait()
    assert board.run(1.0) == []
    board.hands.grip(Figure.BLACK)
    assert who(board.run(0.4), "beach-s", touch) is Figure.BLACK
    board.hands.lift(touch)
    board.hands.let_go(Figure.BLACK)
    assert board.run(0.6) == []
    other = next(each for each in TOUCHES if each is not touch)
    assert who(board.contact(Figure.BLACK, other), "beach-s", other) is Figure.BLACK
    assert who(board.contact(Figure.BLACK, touch), "beach-s", touch) is Figure.BLACK
    assert board.faults == set()


@pytest.mark.parametrize("field", EVERYWHERE)
def test_a_hand_that_lies_on_a_field_at_power_on_leaves_nothing_behind(field: str) -> None:
    board = Board(learnt())
    board.hands.lay_hand(field)
    board.wait()
    assert board.run(3.0) == []
    board.hands.raise_hand(field)
    assert board.run(0.5) == []
    board.hands.carry(Figure.GREEN, field)
    assert who(board.contact(Figure.GREEN), field, Touch.ROCK) is Figure.GREEN
    assert board.faults == set()


def test_a_hand_across_all_touch_fields_at_power_on_leaves_nothing_behind() -> None:
    board = Board(learnt())
    for touch in TOUCHES:
        board.hands.touch(touch)
    board.wait()
    assert board.run(3.0) == []
    for touch in TOUCHES:
        board.hands.lift(touch)
    assert board.run(0.5) == []
    board.hands.place(Figure.RED, "mountain-ne")
    board.run(1.0)
    for touch in TOUCHES:
        assert who(board.contact(Figure.RED, touch), "mountain-ne", touch) is Figure.RED
    assert board.faults == set()


@pytest.mark.parametrize("field", SOME)
def test_figures_stand_where_the_game_stopped(field: str) -> None:
    board = Board(learnt())
    for figure in FIGURES:
        board.hands.place(figure, field)
    board.wait()
    assert board.run(3.0) == []
    for figure in FIGURES:
        assert who(board.contact(figure), field, Touch.ROCK) is figure
    assert board.faults == set()


@pytest.mark.parametrize("field", SOME)
def test_one_of_the_figures_that_stand_there_is_held_at_power_on(field: str) -> None:
    board = Board(learnt())
    for figure in FIGURES:
        board.hands.place(figure, field)
    board.wait()
    board.hands.grip(Figure.BLACK)
    board.wait()
    assert board.run(2.0) == []
    board.hands.let_go(Figure.BLACK)
    assert board.run(1.0) == []
    board.hands.place(Figure.BLACK, "jungle-n")
    board.run(1.0)
    assert who(board.contact(Figure.BLACK), "jungle-n", Touch.ROCK) is Figure.BLACK
    assert who(board.contact(Figure.GREEN), field, Touch.ROCK) is Figure.GREEN
    assert board.faults == set()


@pytest.mark.parametrize(("address", "electrode"), [(0x5A, 0), (0x5A, 7), (0x5B, 2), (0x5C, 9)])
def test_what_has_come_onto_a_pad_for_good_is_rest_after_ten_seconds(address: int, electrode: int) -> None:
    board = Board(learnt())
    chip = board.mock.chips[address]
    chip.set_pf(electrode, chip.pf(electrode) + 9.0)
    board.hands.place(Figure.RED, "jungle-n")
    board.wait()
    assert board.run(11.0) == []
    assert who(board.contact(Figure.RED, Touch.FIRE), "jungle-n", Touch.FIRE) is Figure.RED
    assert board.faults == set()


@pytest.mark.parametrize("field", SOME)
def test_a_hand_that_stays_longer_than_that_is_rest_until_it_goes(field: str) -> None:
    board = Board(learnt())
    board.hands.carry(Figure.BLACK, field)
    board.wait()
    assert board.run(15.0) == []
    board.hands.let_go(Figure.BLACK)
    assert board.run(0.5) == []
    assert who(board.contact(Figure.BLACK), field, Touch.ROCK) is Figure.BLACK
    assert board.faults == set()


def test_a_warm_and_damp_evening_is_no_hand() -> None:
    board = Board(learnt())
    board.hands.drift(4.0)
    board.hands.carry(Figure.BLACK, "ruin-e")
    board.wait()
    board.run(0.5)
    board.hands.touch(Touch.ONE)
    assert who(board.run(0.4), "ruin-e", Touch.ONE) is Figure.BLACK
    board.hands.lift(Touch.ONE)
    board.hands.let_go(Figure.BLACK)
    board.run(0.6)
    for figure, field in ((Figure.BLACK, "ruin-e"), (Figure.RED, "beach-s")):
        board.hands.place(figure, field)
        board.run(1.0)
        assert who(board.contact(figure), field, Touch.ROCK) is figure
    assert board.faults == set()


def test_a_calibration_of_another_board_is_named_and_left_aside(caplog: pytest.LogCaptureFixture) -> None:
    pads = {pad: replace(calibrated, idle_pf=2 * calibrated.idle_pf) for pad, calibrated in learnt().pads.items()}
    board = Board(replace(learnt(), pads=pads))
    board.run(1.0)
    named = [record.getMessage() for record in caplog.records]
    assert len(named) == 3
    assert "its pads are at 0.50 times their calibration: run volcano calibrate again" in named[0]
    board.hands.place(Figure.RED, "beach-s")
    board.run(1.0)
    assert who(board.contact(Figure.RED), "beach-s", Touch.ROCK) is Figure.RED


def test_the_stored_charges_are_used_and_auto_configuration_is_off() -> None:
    board = Board(learnt())
    board.hands.lay_hand("beach-s")
    board.wait()
    board.run(0.5)
    for address, chip in board.mock.chips.items():
        chip.write(b"\x5f")
        assert list(chip.read(12)) == [charge.cdc for charge in learnt().chips[address].charges[:12]]
        chip.write(b"\x7b")
        assert chip.read(1)[0] & 0x01 == 0


def test_noise_that_was_measured_touches_nothing() -> None:
    now = 0.0
    noisy = mock_hardware(WIRING, lambda: now, seed=SEED, noise_counts=1.5)
    scan = IdleScan(Survey(noisy.bus), WIRING)
    while not scan.done:
        now += POLL_S
        scan.step(now)
    board = Board(scan.calibration("now"), noise_counts=1.5)
    masks = 0
    for _ in range(600):
        board.run(POLL_S)
        masks |= sum(chip.mask for chip in board.touch.pads.chips)
    assert masks == 0


# --- without


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("field", ["mountain-ne", "mountain-nw", "beach-ne", "statue-w", "jungle-n", "ruin-w"])
def test_without_a_calibration_a_figure_held_at_power_on_is_known_from_its_next_grip(
    field: str, figure: Figure
) -> None:
    board = Board(None)
    board.hands.carry(figure, field)
    board.wait()
    assert board.run(5.0) == []
    board.hands.let_go(figure)
    assert board.run(0.5) == []
    assert who(board.contact(figure), field, Touch.ROCK) is figure
    board.run(10.0)
    assert who(board.contact(figure), field, Touch.ROCK) is figure
    assert board.faults == set()


@pytest.mark.parametrize("held_s", [3.0, 5.0, 7.0])  # wherever the chips' turns of being measured fall
@pytest.mark.parametrize("touch", TOUCHES)
def test_without_a_calibration_a_finger_on_a_touch_field_blinds_it_for_half_a_second_at_most(
    touch: Touch, held_s: float
) -> None:
    board = Board(None)
    board.hands.touch(touch)
    board.hands.place(Figure.RED, "beach-s")
    board.wait()
    assert board.run(held_s) == []
    board.hands.lift(touch)
    assert board.run(0.5) == []
    assert who(board.contact(Figure.RED, touch), "beach-s", touch) is Figure.RED
    board.run(10.0)
    assert who(board.contact(Figure.RED, touch), "beach-s", touch) is Figure.RED
    assert board.faults == set()


def test_without_a_calibration_charges_that_were_found_under_a_hand_are_found_anew() -> None:
    board = Board(None, noise_counts=0.0)
    board.hands.touch(Touch.ROCK)
    board.wait()
    board.run(5.0)
    board.hands.lift(Touch.ROCK)
    board.run(10.0)
    chip = board.mock.chips[0x5A]
    chip.write(b"\x04")
    assert abs(int.from_bytes(chip.read(2), "little") - 724) < 12
    assert [tended.resets for tended in board.touch.pads.chips] == [0, 0, 0]


# --- a dip of the supply in mid-contact is a power-on of one chip


@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("address", [0x5A, 0x5B])
@pytest.mark.parametrize("figure", FIGURES)
def test_a_dip_while_a_figure_is_held_makes_no_second_grip_and_spoils_no_later_one(
    figure: Figure, address: int, calibrated: bool
) -> None:
    board = Board(learnt() if calibrated else None)
    board.hands.place(figure, "beach-s")
    board.run(2.0)
    board.hands.grip(figure)
    board.hands.touch(Touch.EXPLORE)
    assert who(board.run(0.4), "beach-s", Touch.EXPLORE) is figure
    board.mock.chips[address].power_on_reset()
    assert board.run(2.5) == []
    board.hands.let_go(figure)
    board.hands.lift(Touch.EXPLORE)
    assert board.run(0.8) == []
    assert who(board.contact(figure), "beach-s", Touch.ROCK) is figure
    assert who(board.contact(figure, Touch.EXPLORE), "beach-s", Touch.EXPLORE) is figure
    assert board.faults == set()


@pytest.mark.parametrize("calibrated", [True, False])
def test_what_the_chips_measured_before_they_were_set_up_is_not_believed(
    calibrated: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Adafruit's driver leaves a chip running, with another charge, and Stop keeps its readings (data sheet, 5.1)."""
    board = Board(learnt() if calibrated else None)
    restart = Mpr121.restart

    def slow_restart(chip: Mpr121) -> None:
        board.now += 0.1  # a busy Pi: the chip measures as the driver has set it up
        restart(chip)

    monkeypatch.setattr(Mpr121, "restart", slow_restart)
    for _ in range(60):
        board.now += 0.002
        board.touch.poll(board.now)
    board.run(0.5)
    assert caplog.messages == []
    for chip in board.touch.pads.chips:
        for electrode, pad in chip.levels.pads.items():
            assert chip.levels.idle_pf[electrode] == pytest.approx(board.hands.pad_pf(pad), rel=0.01)
