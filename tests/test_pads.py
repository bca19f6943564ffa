"""The chips of the board over an emulated bus: what is read when, and what happens when something breaks."""

from __future__ import annotations

import logging
import math
import tomllib
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from firmware.hal.backends import MockHardware, mock_hardware
from firmware.hal.bus import LinuxBus
from firmware.hal.calibration import Calibration, CalibrationError
from firmware.hal.emulated_bus import Disturbance
from firmware.hal.learning import IdleScan, PadMap, Survey
from firmware.hal.levels import UNSEEN_S
from firmware.hal.pads import SWARM_S
from firmware.hal.physics import TablePhysics
from firmware.hal.registers import SNAPSHOT_SIZE
from firmware.hal.tended_chip import ChipState
from firmware.hal.touch_board import Mpr121Board
from firmware.hal.wiring import ChipWiring, load_wiring
from firmware.terms import Figure, Grip, Part, Touch

if TYPE_CHECKING:
    from firmware.hal.calibration import Place
    from firmware.hal.wiring import Wiring

FIELDS = tuple(tomllib.loads((files("firmware.game.insel") / "board.toml").read_text(encoding="utf-8"))["layout"])
WIRING = load_wiring(None, FIELDS)
TOUCH_CHIP, COAST_CHIP = 0x5A, 0x5B
POLL_S = 0.02


class Board:
    """An emulated volcano that is polled 50 times a virtual second."""

    def __init__(
        self,
        calibration: Calibration | None = None,
        soldered: Wiring | None = None,
        wiring: Wiring = WIRING,
        noise_counts: float = 0.0,
        physics: TablePhysics | None = None,
    ) -> None:
        self.now = 0.0
        self.mock: MockHardware = mock_hardware(
            wiring,
            lambda: self.now,
            noise_counts=noise_counts,
            physics=physics,
            calibration=calibration,
            soldered=soldered,
        )
        self.hands = self.mock.hands
        self.board = self.mock.hardware.touch
        self.bus = self.mock.bus

    def run(self, seconds: float) -> list[Grip]:
        grips = []
        for _ in range(round(seconds / POLL_S)):
            self.now += POLL_S
            if (grip := self.board.poll(self.now)) is not None:
                grips.append(grip)
        return grips

    def contact(self, figure: Figure = Figure.RED, touch: Touch = Touch.ROCK) -> list[Grip]:
        self.hands.grip(figure)
        self.hands.touch(touch)
        grips = self.run(0.3)
        self.hands.let_go(figure)
        self.hands.lift(touch)
        return grips + self.run(0.6)

    def supply(self, volts: float) -> None:
        """Of all chips."""
        for chip in self.mock.chips.values():
            chip.set_vdd(volts)

    def sag(self, volts: float, lasts_s: float) -> list[Grip]:
        """The supply falls to so much for so long; what came meanwhile."""
        self.supply(volts)
        grips = self.run(lasts_s)
        self.supply(3.3)
        return grips

    def lean(self, *fields: str) -> None:
        """An arm falls on these fields, and will leave them as quickly."""
        self.hands.change(TablePhysics(let_go_s=0.01))
        for field in fields:
            self.hands.lay_hand(field)

    def states(self) -> list[ChipState]:
        return [chip.state for chip in self.board.pads.chips]


@pytest.fixture
def board() -> Board:
    board = Board()
    board.run(1.0)
    return board


ALL_OK = [ChipState.OK] * 3


def test_all_chips_work_a_tenth_of_a_second_after_the_first_poll() -> None:
    board = Board()
    board.run(0.1)
    assert board.states() == ALL_OK
    assert board.board.faults() == []


def test_an_idle_second_costs_less_than_550_bytes(board: Board) -> None:
    board.run(UNSEEN_S)
    board.bus.clear()
    board.run(10.0)
    assert 250 < board.bus.wire_bytes / 10 <= 550  # the Touch chip's status alone is 50 x 5


def test_figures_that_stand_cost_nothing_more(board: Board) -> None:
    for figure, field in zip(Figure, ("beach-ne", "jungle-n", "mountain-ne", "ruin-s"), strict=True):
        board.hands.place(figure, field)
        board.run(3.0)
    board.bus.clear()
    board.run(10.0)
    assert board.bus.wire_bytes / 10 <= 550


def test_a_sleeping_board_reads_only_the_touch_chip_at_every_poll(board: Board) -> None:
    board.bus.record = True
    board.bus.clear()
    board.run(1.0)
    status = [entry.address for entry in board.bus.log if entry.written == b"\0" and len(entry.received or b"") == 2]
    assert status.count(TOUCH_CHIP) == 50
    assert 8 <= status.count(COAST_CHIP) <= 11


def test_every_chip_has_its_health_read_by_turns_ten_times_a_second(board: Board) -> None:
    board.bus.record = True
    board.bus.clear()
    board.run(10.0)
    for chip in WIRING.chips:
        health = [entry for entry in board.bus.log if entry.address == chip.address and entry.written == b"\x5c"]
        assert 30 <= len(health) <= 35


def test_one_contact_is_one_grip(board: Board) -> None:
    board.hands.place(Figure.RED, "beach-s")
    assert board.run(1.0) == []
    (grip,) = board.contact()
    assert (grip.field, grip.touch) == ("beach-s", Touch.ROCK)


def test_figures_that_merely_stand_are_no_touch(board: Board) -> None:
    for figure in Figure:
        board.hands.place(figure, "beach-s")
        board.run(0.8)
    board.hands.touch(Touch.EXPLORE)
    assert board.run(2.0) == []


def test_a_dip_of_the_supply_is_found_within_a_second_and_mended(
    board: Board, caplog: pytest.LogCaptureFixture
) -> None:
    board.hands.place(Figure.RED, "beach-s")
    board.run(1.0)
    board.mock.chips[COAST_CHIP].power_on_reset()
    board.run(1.2)
    assert board.states() == ALL_OK
    assert [chip.resets for chip in board.board.pads.chips] == [0, 1, 0]
    assert "MPR121 'coast' at 0x5B was reset" in caplog.text
    assert len(board.contact()) == 1


def test_a_dip_that_resets_all_chips_is_over_before_a_tap_is(board: Board) -> None:
    """Where one chip is found to have been reset, the others are asked at once."""
    board.run(UNSEEN_S + 1.0)  # until then each chip is measured all the time
    for start in range(10):
        board.run(start * POLL_S)
        for chip in board.mock.chips.values():
            chip.power_on_reset()
        board.run(0.22)
        assert board.states() == ALL_OK
        assert [chip.resets for chip in board.board.pads.chips] == [start + 1] * 3


def test_a_chip_that_is_missing_at_the_start_is_named_once_and_the_rest_plays(caplog: pytest.LogCaptureFixture) -> None:
    board = Board()
    board.mock.emulated_bus.inject(Disturbance.NACK, address=COAST_CHIP)
    board.run(30.0)
    assert board.states() == [ChipState.OK, ChipState.LOST, ChipState.OK]
    (fault,) = map(str, board.board.faults())
    assert "MPR121 'coast' at 0x5B is lost (beach-ne, " in fault
    assert "check SDA, SCL, 3V3 and the ADDR wire" in fault
    assert [record.getMessage() for record in caplog.records] == [fault]
    board.hands.place(Figure.RED, "jungle-s")
    board.run(1.0)
    assert len(board.contact()) == 1


def test_a_missing_chip_is_tried_with_growing_pauses_and_taken_back(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    board = Board()
    board.mock.emulated_bus.inject(Disturbance.NACK, address=COAST_CHIP)
    board.bus.record = True
    board.run(60.0)
    tries = [entry for entry in board.bus.log if entry.address == COAST_CHIP and entry.written == b""]
    assert 8 <= len(tries) <= 14  # 0.25 s doubling to 8 s
    board.mock.emulated_bus.clear()
    board.run(8.5)
    assert board.states() == ALL_OK
    assert board.board.faults() == []
    assert "MPR121 'coast' at 0x5B works again" in caplog.text


def test_one_lost_transfer_is_a_disturbance(board: Board) -> None:
    board.run(UNSEEN_S)
    board.mock.emulated_bus.inject(Disturbance.IO_ERROR, address=TOUCH_CHIP, count=1)
    board.run(POLL_S)
    assert board.states()[0] is ChipState.DEGRADED
    board.run(POLL_S)
    assert board.states() == ALL_OK
    assert board.board.faults() == []


def test_a_disturbance_in_mid_contact_makes_no_second_grip(board: Board) -> None:
    board.hands.place(Figure.RED, "beach-s")
    board.run(1.0)
    board.hands.grip(Figure.RED)
    board.hands.touch(Touch.ROCK)
    grips = board.run(0.3)
    board.mock.emulated_bus.inject(Disturbance.NACK, address=TOUCH_CHIP, count=2)
    grips += board.run(1.0)
    assert len(grips) == 1


@pytest.mark.parametrize("arbitrates", [True, False])
def test_a_bus_that_a_chip_holds_is_clocked_free(
    board: Board, caplog: pytest.LogCaptureFixture, arbitrates: bool
) -> None:
    board.mock.emulated_bus.arbitrates = arbitrates
    board.mock.emulated_bus.inject(Disturbance.STUCK_SDA)
    board.run(2.5)  # where zeros are read it takes the next look at a chip's health
    assert board.states() == ALL_OK
    assert "was stuck: SDA was held low, clock pulses and a STOP have freed it" in caplog.text
    board.hands.place(Figure.RED, "beach-s")
    board.run(1.0)
    assert len(board.contact()) == 1


def test_a_short_circuit_of_the_bus_is_one_fault_and_found_to_be_gone(board: Board) -> None:
    board.mock.emulated_bus.inject(Disturbance.SHORTED_SDA)
    board.run(3.0)
    assert board.states() == [ChipState.LOST] * 3
    (fault,) = board.board.faults()
    assert (fault.part, fault.name) == (Part.BUS, "")
    assert fault.text.startswith("none of the 3 MPR121 can be reached: ")
    assert "is stuck: SDA is held low" in fault.text
    assert "switch the power off and on" in fault.text
    board.mock.emulated_bus.clear()
    board.run(10.0)
    assert board.states() == ALL_OK


def test_where_no_chip_answers_the_fault_is_what_they_share(board: Board) -> None:
    for address in (TOUCH_CHIP, COAST_CHIP):
        board.mock.emulated_bus.inject(Disturbance.NACK, address=address)
    board.run(3.0)
    assert [(fault.part, fault.name) for fault in board.board.faults()] == [(Part.CHIP, "1"), (Part.CHIP, "2")]
    board.mock.emulated_bus.inject(Disturbance.NACK)
    board.run(3.0)
    (fault,) = board.board.faults()
    assert fault.part is Part.BUS
    assert "check what they share, SDA, SCL, 3V3 and ground (nothing answers at 0x5A" in fault.text
    board.mock.emulated_bus.clear()
    board.run(10.0)
    assert board.board.faults() == []


def test_a_bus_that_is_not_there_is_one_fault() -> None:
    board = Mpr121Board(WIRING, LinuxBus(99, lambda: 0.0))
    for now in (0.0, 1.0):
        board.poll(now)
    (fault,) = board.faults()
    assert fault.text.startswith("none of the 3 MPR121 can be reached: /dev/i2c-99 is missing: enable I2C")


def test_a_chip_that_does_not_hold_what_is_written_gets_a_soft_reset(board: Board) -> None:
    chip = board.mock.chips[COAST_CHIP]
    write = chip.write
    confused = True

    def write_confused(message: bytes) -> None:
        nonlocal confused
        if message == b"\x80\x63":
            confused = False
        write(bytes((message[0], message[1] ^ 1)) + message[2:] if confused and len(message) > 2 else message)

    chip.write = write_confused  # type: ignore[method-assign]
    chip.power_on_reset()
    board.run(3.0)
    assert not confused
    assert board.states() == ALL_OK


@pytest.mark.parametrize("fault", list(Disturbance))
def test_no_fault_ever_reaches_the_loop(board: Board, fault: Disturbance) -> None:
    board.hands.place(Figure.RED, "beach-s")
    board.run(1.0)
    board.mock.emulated_bus.inject(fault, count=40, mask=0xFF)
    board.contact()
    board.mock.emulated_bus.clear()
    board.run(20.0)
    assert board.states() == ALL_OK
    assert len(board.contact()) == 1


def test_over_current_is_cleared_and_the_chip_configured_again(board: Board) -> None:
    board.mock.chips[COAST_CHIP].over_current()
    board.run(1.0)
    assert board.states() == ALL_OK
    board.hands.place(Figure.RED, "beach-s")
    board.run(1.0)
    assert len(board.contact()) == 1


@pytest.mark.parametrize("seconds", [0.0, 10.0])
def test_a_chip_whose_readings_are_all_zero_is_named_and_the_rest_plays_on(seconds: float) -> None:
    board = Board()
    board.run(seconds)
    for electrode in range(12):
        board.mock.chips[COAST_CHIP].set_pf(electrode, math.inf)
    board.run(5.0)
    (fault,) = map(str, board.board.faults())
    assert "MPR121 'coast' at 0x5B is lost" in fault
    assert "measures nothing: check its 3V3, REXT" in fault


@pytest.mark.parametrize("address", [0x5A, COAST_CHIP])
def test_a_second_dip_before_a_chip_has_settled_is_mended_as_well(address: int) -> None:
    board = Board()
    board.run(2.0)
    chip = next(each for each in board.board.pads.chips if each.address == address)
    board.mock.chips[address].power_on_reset()
    while chip.state is ChipState.OK:
        board.run(0.02)
    assert chip.state is ChipState.RECOVERING
    board.mock.chips[address].power_on_reset()
    board.run(3.0)
    assert board.states() == ALL_OK
    assert board.board.faults() == []


def test_over_current_again_and_again_names_rext(board: Board) -> None:
    board.mock.chips[COAST_CHIP].over_current(lasting=True)
    board.run(10.0)
    (fault,) = map(str, board.board.faults())
    assert "0x5B" in fault
    assert "REXT" in fault
    board.mock.chips[COAST_CHIP].repair_rext()
    board.run(20.0)
    assert board.states() == ALL_OK


def test_pads_that_all_rise_at_once_are_noise(board: Board, caplog: pytest.LogCaptureFixture) -> None:
    board.hands.place(Figure.RED, "beach-s")
    board.run(1.0)
    chips = board.mock.chips
    for address in (0x5A, 0x5C):
        for electrode in range(10):
            chips[address].set_pf(electrode, chips[address].pf(electrode) + 6.0)
    board.hands.grip(Figure.RED)
    assert board.run(2.0) == []
    assert "pads touched at once: ignored" in caplog.text


def test_a_stuck_touch_field_is_rebased_after_a_minute_and_works_again(board: Board) -> None:
    board.mock.chips[TOUCH_CHIP].set_pf(0, board.mock.chips[TOUCH_CHIP].pf(0) + 9.0)  # a coin on Rock
    board.run(62.0)
    board.hands.place(Figure.RED, "beach-s")
    board.run(1.0)
    (grip,) = board.contact(touch=Touch.EXPLORE)
    assert grip.touch is Touch.EXPLORE


def test_a_measurement_in_the_moment_of_a_grip_does_not_take_it_for_rest(board: Board) -> None:
    board.hands.place(Figure.BLACK, "beach-s")
    board.run(1.0)
    coast = board.board.pads.chips[1]
    rest_pf = coast.levels.idle_pf[2]
    board.hands.grip(Figure.BLACK)
    for _ in range(2):  # the chip has its first new value, its debounce still waits for the second
        board.now += 0.006
        assert coast.measure(board.now)
    assert coast.levels.now_pf[2] > rest_pf + 5
    assert coast.levels.idle_pf[2] == pytest.approx(rest_pf, abs=0.1)


@pytest.mark.parametrize("lasts_s", [0.01, 0.03, 0.06, 0.12])
@pytest.mark.parametrize("volts", [3.25, 3.15, 3.0])
def test_a_sag_of_the_supply_leaves_nothing_behind(board: Board, volts: float, lasts_s: float) -> None:
    """All readings rise by it, and the chips' baselines with them (AN3889); what is held meanwhile stays held."""
    for figure, field in zip(Figure, ("beach-s", "jungle-n", "mountain-ne", "ruin-s"), strict=True):
        board.hands.place(figure, field)
        board.run(1.0)
    board.hands.grip(Figure.RED)
    board.hands.touch(Touch.ROCK)
    assert len(board.run(0.4)) == 1
    board.supply(volts)
    board.now += lasts_s
    board.supply(3.3)
    assert board.run(1.0) == []
    board.hands.let_go(Figure.RED)
    board.hands.lift(Touch.ROCK)
    assert board.run(1.0) == []
    assert [chip.mask for chip in board.board.pads.chips] == [0, 0, 0]
    for figure in Figure:
        (grip,) = board.contact(figure, Touch.TWO)
        assert grip.likelihood.index(max(grip.likelihood)) == list(Figure).index(figure)
    assert board.states() == ALL_OK


@pytest.mark.parametrize("volts", [3.24, 3.08])
def test_a_sag_is_known_for_one_with_fingers_on_half_the_touch_fields(board: Board, volts: float) -> None:
    """They raise three pads of ten; the others agree, and none of them has been let go by anybody."""
    touch_chip = board.board.pads.chips[0]
    for touch in (Touch.ROCK, Touch.ONE, Touch.TWO):
        board.hands.touch(touch)
    board.run(2.0)  # the electrodes beside them show a little of it, and that is their rest by now
    rest_pf = list(touch_chip.levels.idle_pf)
    board.sag(volts, 0.08)
    board.run(0.3)
    assert touch_chip.levels.idle_pf == pytest.approx(rest_pf, abs=0.5)


def test_a_sag_is_known_for_one_while_fingers_still_move_the_pads_beside_them(board: Board) -> None:
    """Two of a hundred on each, one per cent and more apart: no pads agree but in what the sag has changed."""
    touch_chip = board.board.pads.chips[0]
    for touch in (Touch.ROCK, Touch.TWO, Touch.FIRE):
        board.hands.touch(touch)
    board.run(0.1)
    rest_pf = list(touch_chip.levels.idle_pf)
    board.sag(3.2, 0.1)
    board.run(0.1)
    assert all(now_pf > before_pf - 0.5 for now_pf, before_pf in zip(touch_chip.levels.idle_pf, rest_pf, strict=True))


@pytest.mark.parametrize("lasts_s", [0.02, 0.04])
@pytest.mark.parametrize("before_s", [0.0, 0.02, 0.04, 0.06, 0.08, 0.1])
def test_a_finger_that_comes_in_the_moment_of_a_swarm_is_none_of_it(
    board: Board, before_s: float, lasts_s: float
) -> None:
    board.hands.place(Figure.BLACK, "beach-s")
    board.run(1.0)
    board.hands.grip(Figure.BLACK)
    board.run(0.5)
    board.sag(3.22, lasts_s)
    board.run(before_s)
    board.hands.touch(Touch.FIRE)
    assert [grip.touch for grip in board.run(0.6)] == [Touch.FIRE]


def test_an_arm_that_slides_off_the_board_and_leaves_a_field_and_a_touch_field_is_no_contact(
    board: Board, caplog: pytest.LogCaptureFixture
) -> None:
    first, *others = (field for chip in board.board.pads.chips[1:] for field in chip.wiring.fields)
    board.run(0.02)
    board.hands.touch(Touch.ROCK)
    board.lean(first, *others[:7])
    grips = board.run(0.5)
    assert "pads touched at once" in caplog.text
    for field in others[:7]:
        board.hands.raise_hand(field)
    assert grips + board.run(2.0) == []


@pytest.mark.parametrize("phase_s", [0.02, 0.04, 0.06, 0.08])
def test_an_arm_that_brushes_the_board_and_stays_on_a_field_and_a_touch_field_is_no_contact(
    board: Board, phase_s: float
) -> None:
    """Most of a swarm has gone again before a tenth of a second is over: it was no supply for that."""
    first, *others = (field for chip in board.board.pads.chips[1:] for field in chip.wiring.fields)
    board.run(phase_s)
    board.hands.touch(Touch.ROCK)
    board.lean(first, *others[:7])
    grips = board.run(0.06)
    for field in others[:7]:
        board.hands.raise_hand(field)
    assert grips + board.run(2.0) == []


def test_when_all_of_a_swarm_has_gone_its_fields_are_as_good_as_any(board: Board) -> None:
    board.hands.place(Figure.RED, "beach-s")
    board.run(1.0)
    fields = tuple(board.board.pads.chips[1].wiring.fields)
    board.lean(*fields)
    board.run(1.0)
    for field in fields:
        board.hands.raise_hand(field)
    board.run(2.0)
    board.hands.grip(Figure.RED, 0.1)
    board.run(0.3)
    board.hands.touch(Touch.TWO)
    assert [grip.field for grip in board.run(1.0)] == ["beach-s"]


def test_a_pad_of_a_swarm_that_moves_when_it_is_to_be_rest_stays_in_it(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    coast = board.board.pads.chips[1]
    first, *others = coast.wiring.fields
    rebase = coast.rebase
    with monkeypatch.context() as patch:  # as where one level has just changed
        patch.setattr(coast, "rebase", lambda pad, now: pad != coast.wiring.fields[first] and rebase(pad, now))
        board.lean(first, *others)
        board.run(SWARM_S + 1.0)
    board.hands.touch(Touch.TWO)
    assert board.run(2.0) == []
    board.hands.lift(Touch.TWO)
    for field in (first, *others):
        board.hands.raise_hand(field)
    board.run(2.0)
    board.hands.place(Figure.RED, first)
    board.run(1.0)
    assert [grip.field for grip in board.contact()] == [first]


def test_a_chip_with_too_few_pads_to_know_a_sag_has_no_hands_in_a_swarm() -> None:
    touch, *others = WIRING.chips
    small = ChipWiring("small", 0x5D, {Touch.FIRE: touch.touches[Touch.FIRE]}, {"mountain-ne": 6})
    touches: dict[Touch, int] = {each: electrode for each, electrode in touch.touches.items() if each is not Touch.FIRE}
    fields = {field: electrode for field, electrode in touch.fields.items() if field != "mountain-ne"}
    wiring = replace(WIRING, chips=(replace(touch, touches=touches, fields=fields), *others, small))
    for lasts_s in (0.1, 0.3):
        board = Board(soldered=wiring, wiring=wiring)
        board.run(3.04)
        assert board.sag(3.0, lasts_s) + board.run(3.0) == []


def test_chips_that_nobody_touches_are_measured_once_a_second_while_a_touch_field_is_held(board: Board) -> None:
    board.run(UNSEEN_S)
    board.hands.touch(Touch.ROCK)
    board.run(2.0)
    board.bus.record = True
    board.bus.clear()
    board.run(10.0)
    snapshots = [entry.address for entry in board.bus.log if len(entry.received or b"") == SNAPSHOT_SIZE]
    assert snapshots.count(COAST_CHIP) <= 12


def test_what_a_chip_measures_by_the_way_is_told_of_the_fields_that_are_held_there(board: Board) -> None:
    """Once a second each chip is measured for its drift, at a poll when a held field need not be."""
    board.hands.place(Figure.BLACK, "beach-s")
    board.hands.grip(Figure.BLACK)
    board.run(1.0)
    pads, told = board.board.pads, []
    board.bus.record = True
    for _ in range(100):
        board.now += POLL_S
        board.bus.clear()
        told.append("beach-s" in pads.poll(board.now, closely=False).rise_pf)
        snapshots = [entry for entry in board.bus.log if len(entry.received or b"") == SNAPSHOT_SIZE]
        assert told[-1] == any(entry.address == COAST_CHIP for entry in snapshots)
    assert 20 <= sum(told) <= 40


@pytest.mark.parametrize("lasts_s", [0.1, 0.3])
@pytest.mark.parametrize("after_s", [0.0, 0.04, 0.08])
def test_a_figure_that_is_lifted_off_in_a_sag_leaves_the_empty_field_s_rest(
    board: Board, after_s: float, lasts_s: float
) -> None:
    """Both lower the pad, by a tenth together; the baseline follows, and only the figure's part of it is rest."""
    jungle = board.board.pads.chips[2]
    field, electrode = next(iter(jungle.wiring.fields.items()))
    empty_pf = jungle.levels.idle_pf[electrode]
    board.hands.place(Figure.BLACK, field)
    board.run(1.5)
    board.supply(3.01)
    board.run(after_s)
    board.hands.place(Figure.BLACK, None)
    board.run(lasts_s - after_s)
    board.supply(3.3)
    board.run(2.0)
    assert jungle.levels.idle_pf[electrode] == pytest.approx(empty_pf, abs=0.5)


def test_a_hand_that_comes_just_when_a_field_has_its_new_rest_is_felt_on_the_longest_wires() -> None:
    """What is written to a baseline's register loses up to three counts of the four that make a touch there."""
    board = Board(physics=TablePhysics(lowest_pad_pf=200.0, highest_pad_pf=215.0, hand_pf=30.0))
    unfelt = []
    board.run(1.0)
    for field in FIELDS:
        for moment_s in (0.36, 0.4, 0.44, 0.48):
            board.hands.place(Figure.WHITE, field)
            board.run(moment_s)
            board.hands.grip(Figure.WHITE)
            board.hands.touch(Touch.ROCK)
            if [grip.field for grip in board.run(1.0)] != [field]:
                unfelt.append((field, moment_s))
            board.hands.lift(Touch.ROCK)
            board.hands.let_go(Figure.WHITE)
            board.run(1.0)
            board.hands.place(Figure.WHITE, None)
            board.run(1.0)
    assert unfelt == []


def test_readings_that_are_none_end_no_poll(board: Board) -> None:
    chip = board.board.pads.chips[1]
    chip.levels.idle_pf[:] = [float("inf")] * len(chip.levels.idle_pf)
    assert chip.measure(board.now)
    board.run(1.0)
    assert max(chip.levels.idle_pf) < 200.0


def test_half_a_chip_s_pads_shorted_to_ground_end_no_poll(board: Board) -> None:
    """Each is taken for at rest after a minute, at no reading; the others are measured on."""
    levels = board.board.pads.chips[1].levels
    *shorted, field = board.board.pads.chips[1].wiring.fields.items()
    for _, electrode in shorted[:5]:
        board.mock.chips[COAST_CHIP].set_pf(electrode, math.inf)
        board.run(0.5)
        board.board.pads.rebase(levels.pads[electrode], board.now)
    assert [math.isinf(levels.idle_pf[electrode]) for _, electrode in shorted[:5]] == [True] * 5
    board.hands.lay_hand(field[0])
    board.run(0.5)
    assert levels.rise_pf(field[1]) > 5.0
    assert len(board.board.faults()) == 5


def test_a_reset_chip_that_is_measured_before_its_health_is_read_leaves_no_trace(board: Board) -> None:
    coast = board.board.pads.chips[1]
    rest_pf = list(coast.levels.idle_pf)
    board.mock.chips[COAST_CHIP].power_on_reset()
    assert not coast.measure(board.now)
    assert coast.state is ChipState.RECOVERING
    assert (coast.faults(), coast.levels.idle_pf, coast.levels.now_pf) == ([], rest_pf, rest_pf)
    board.run(0.2)
    assert board.states() == ALL_OK


def test_what_is_held_while_a_chip_is_lost_for_a_moment_is_one_touch(board: Board) -> None:
    board.hands.place(Figure.RED, "beach-s")
    board.run(1.0)
    board.hands.grip(Figure.RED)
    board.hands.touch(Touch.ROCK)
    assert len(board.run(0.4)) == 1
    board.mock.emulated_bus.inject(Disturbance.NACK, address=TOUCH_CHIP)
    board.run(0.5)
    assert board.states()[0] is ChipState.LOST
    board.mock.emulated_bus.clear()
    assert board.run(2.0) == []
    assert board.states() == ALL_OK
    board.hands.let_go(Figure.RED)
    board.hands.lift(Touch.ROCK)
    board.run(0.6)
    assert len(board.contact()) == 1


def test_a_chip_that_stays_lost_touches_nothing(board: Board) -> None:
    board.hands.touch(Touch.ROCK)
    board.run(0.4)
    board.mock.emulated_bus.inject(Disturbance.NACK, address=TOUCH_CHIP)
    board.run(3.0)
    assert board.board.pads.chips[0].mask == 0


def test_a_torn_off_pad_is_named(board: Board) -> None:
    board.mock.chips[COAST_CHIP].set_pf(2, 0.0)
    board.mock.chips[COAST_CHIP].power_on_reset()
    board.run(8.0)
    assert [fault for fault in map(str, board.board.faults()) if "pad beach-s" in fault and "electrode 2" in fault]


def test_a_pad_whose_wire_came_off_and_on_again_costs_no_writing() -> None:
    """It reads next to nothing, so what it reads more is no hand that the chip has missed."""
    board = Board(noise_counts=0.3)
    pf = board.hands.pad_pf("beach-s")
    coast = board.mock.chips[COAST_CHIP]
    coast.set_pf(2, 0.0)
    coast.power_on_reset()
    board.run(20.0)
    coast.set_pf(2, pf)
    board.run(70.0)
    board.hands.place(Figure.RED, "beach-ne")
    board.run(1.0)
    board.hands.grip(Figure.RED)
    board.bus.record = True
    board.bus.clear()
    board.run(10.0)
    assert [entry for entry in board.bus.log if entry.address == COAST_CHIP and len(entry.written or b"") > 1] == []


def test_a_closed_board_reads_no_more(board: Board) -> None:
    board.board.close()
    board.board.close()
    board.bus.clear()
    assert board.run(1.0) == []
    assert board.bus.transactions == 0


# --- maps


def test_a_dead_pad_that_is_mapped_away_raises_no_fault_and_the_rest_plays() -> None:
    calibration = Calibration("now", absent=frozenset({"beach-s", "two"}))
    board = Board(calibration=calibration)
    board.mock.chips[COAST_CHIP].set_pf(2, float("inf"))
    board.mock.chips[TOUCH_CHIP].set_pf(3, 0.0)
    board.run(8.0)
    assert board.states() == ALL_OK
    assert board.board.faults() == []
    board.mock.chips[COAST_CHIP].set_pf(2, 300.0)
    board.mock.chips[TOUCH_CHIP].set_pf(3, 300.0)
    assert board.run(2.0) == []
    board.hands.place(Figure.RED, "beach-sw")
    board.run(1.0)
    (grip,) = board.contact(touch=Touch.THREE)
    assert (grip.field, grip.touch) == ("beach-sw", Touch.THREE)


def test_a_board_plays_as_the_owner_has_mapped_it() -> None:
    """Every wire of every pad swapped with another's, over all four chips."""
    pads = [pad for chip in WIRING.chips for pad in chip.wires]
    anywhere = [(address, electrode) for electrode in range(12) for address in (0x5A, 0x5B, 0x5C, 0x5D)]
    places = dict(zip(pads, anywhere[7:], strict=False))
    calibration = Calibration("now", places=places)
    board = Board(calibration=calibration)
    board.run(1.0)
    assert len(board.board.pads.chips) == 4
    assert board.board.faults() == []
    assert {places[touch][0] for touch in Touch} == {0x5A, 0x5B, 0x5C, 0x5D}
    for number, field in enumerate(WIRING.fields):
        board.hands.place(Figure.GREEN, field)
        board.run(1.0)
        touch = list(Touch)[number % 6]
        (grip,) = board.contact(Figure.GREEN, touch)
        assert (grip.field, grip.touch) == (field, touch)


def test_a_board_wired_otherwise_than_the_file_says_is_learnt_by_touching_it() -> None:
    """Wires in any order: the map, then the scan, then a game."""
    pads = [pad for chip in WIRING.chips for pad in chip.wires]
    anywhere = [(address, electrode) for address in (0x5D, 0x5A, 0x5C, 0x5B) for electrode in range(12)]
    soldered = Calibration("now", places=dict(zip(pads, anywhere[5:], strict=False))).wired(WIRING)
    board = Board(soldered=soldered)
    survey, pad_map = Survey(board.bus), PadMap()

    def look(seconds: float) -> list[tuple[Place, ...]]:
        told = []
        for _ in range(round(seconds / POLL_S)):
            board.now += POLL_S
            if risen := pad_map.step(survey.read()):
                told.append(risen)
        return told

    look(0.5)
    for pad in pads:
        if pad in WIRING.fields:
            board.hands.lay_hand(pad)
        else:
            board.hands.touch(Touch(pad))
        ((place,),) = look(0.4)
        pad_map.assign(pad, place)
        if pad in WIRING.fields:
            board.hands.raise_hand(pad)
        else:
            board.hands.lift(Touch(pad))
        look(0.3)
    mapped = Calibration("now", places=pad_map.places)
    scan = IdleScan(survey, mapped.wired(WIRING))
    while not scan.done:
        board.now += POLL_S
        scan.step(board.now)
    assert scan.faults() == []
    board.board.adopt(scan.calibration("now", mapped))
    board.run(1.0)
    for number, field in enumerate(WIRING.fields[::3]):
        board.hands.place(Figure.BLACK, field)
        board.run(1.0)
        touch = list(Touch)[number % 6]
        (grip,) = board.contact(Figure.BLACK, touch)
        assert (grip.field, grip.touch) == (field, touch)
    assert board.board.faults() == []
    assert board.board.reading is not None
    assert board.board.reading.rise_pf == pytest.approx(23.5, abs=2.0)


def test_a_calibration_for_other_wires_changes_nothing(board: Board) -> None:
    with pytest.raises(CalibrationError, match="'moon'"):
        board.board.adopt(Calibration("now", absent=frozenset({"moon"})))
    board.hands.place(Figure.RED, "beach-s")
    board.run(1.0)
    assert len(board.contact()) == 1
