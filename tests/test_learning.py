"""Learning a board step by step, on emulated chips: idle scan, map of the wires."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from importlib.resources import files
from statistics import median

import pytest

from firmware.hal.backends import MockHardware, mock_hardware
from firmware.hal.calibration import Calibration, CalibrationError, Place
from firmware.hal.emulated_bus import Disturbance
from firmware.hal.learning import (
    IdleScan,
    PadMap,
    Survey,
    threshold_reason,
)
from firmware.hal.wiring import load_wiring
from firmware.terms import FIGURES, Part, Touch

FIELDS = tuple(tomllib.loads((files("firmware.game.insel") / "board.toml").read_text(encoding="utf-8"))["layout"])
WIRING = load_wiring(None, FIELDS)
POLL_S = 0.02


class Bench:
    """An emulated volcano on which something is learnt."""

    def __init__(self, noise_counts: float = 0.0, seed: int = 0) -> None:
        self.now = 0.0
        self.mock: MockHardware = mock_hardware(WIRING, lambda: self.now, noise_counts=noise_counts, seed=seed)
        self.hands = self.mock.hands
        self.survey = Survey(self.mock.bus, self.mock.hardware.reopen_bus)

    def scan(self, seconds: float = 3.0) -> IdleScan:
        scan = IdleScan(self.survey, WIRING)
        self.go_on(scan, seconds)
        return scan

    def go_on(self, scan: IdleScan, seconds: float = 3.0) -> None:
        for _ in range(round(seconds / POLL_S)):
            self.now += POLL_S
            scan.step(self.now)

    def map(self, pads: PadMap, seconds: float) -> list[tuple[Place, ...]]:
        told = []
        for _ in range(round(seconds / POLL_S)):
            self.now += POLL_S
            if risen := pads.step(self.survey.read()):
                told.append(risen)
        return told


def place_of(pad: str) -> Place:
    chip = WIRING.chip_of(pad)
    return chip.address, chip.wires[pad]


# --- idle scan


def test_an_idle_scan_measures_every_pad() -> None:
    bench = Bench()
    scan = bench.scan()
    assert scan.done
    assert scan.faults() == []
    calibration = scan.calibration("2026-05-01T20:15:00")
    assert calibration.made == "2026-05-01T20:15:00"
    assert calibration.wired(WIRING) == WIRING
    assert sorted(calibration.pads) == sorted(pad for chip in WIRING.chips for pad in chip.wires)
    for pad, calibrated in calibration.pads.items():
        assert calibrated.idle_pf == pytest.approx(bench.hands.pad_pf(pad), rel=0.002)
        assert calibrated.place == place_of(pad)
    for address, chip in calibration.chips.items():
        registers = bench.mock.chips[address]
        registers.write(b"\x5f")
        assert [charge.cdc for charge in chip.charges[:12]] == list(registers.read(12))


@pytest.mark.parametrize("counts", [0.5, 1.0, 2.0])
def test_noise_is_measured_and_raises_the_thresholds_that_it_would_cross(counts: float) -> None:
    bench = Bench(noise_counts=counts)
    calibration = bench.scan().calibration("now")
    noise = []
    for calibrated in calibration.pads.values():
        noise.append(calibrated.noise_pf / calibrated.idle_pf * 724)
        assert calibrated.touch_pf >= 5.99 * calibrated.noise_pf
    assert median(noise) == pytest.approx((counts**2 + 1 / 12) ** 0.5, rel=0.1)  # and the rounding to counts
    quiet = calibration.pads["rock"]
    assert quiet.touch_pf == 4.0
    assert threshold_reason(WIRING, "rock", quiet) == "usual"
    widest = max(WIRING.fields, key=lambda field: calibration.pads[field].idle_pf)
    if counts == 2.0:
        assert calibration.pads[widest].touch_pf > 0.7
        assert "x its noise of 0." in threshold_reason(WIRING, widest, calibration.pads[widest])


def test_a_pad_too_noisy_for_the_lightest_figure_is_named() -> None:
    faults = Bench(noise_counts=3.0).scan().faults()
    assert faults
    for fault in faults:
        assert fault.part is Part.PAD
        assert fault.name in WIRING.fields
        assert "is noisy" in fault.text
        assert "check supply, wire and ground" in fault.text


@pytest.mark.parametrize("pad", ["beach-s", "ruin-e"])
def test_a_hand_that_comes_during_the_scan_spoils_nothing_and_is_named(pad: str) -> None:
    bench = Bench(noise_counts=0.5)
    scan = bench.scan(1.0)
    bench.hands.lay_hand(pad)
    with pytest.raises(CalibrationError, match=rf"^pad {pad} moved by \d+\.\d pF .*: take figures and hands off"):
        bench.go_on(scan)
    with pytest.raises(CalibrationError, match="not done"):
        scan.calibration("now")


def test_a_hand_that_goes_during_the_scan_is_named() -> None:
    bench = Bench()
    bench.hands.lay_hand("beach-s")
    bench.now += 1.0
    scan = bench.scan(0.5)
    bench.hands.raise_hand("beach-s")
    with pytest.raises(CalibrationError, match="pad beach-s moved"):
        bench.go_on(scan)


def test_a_torn_pad_and_a_short_are_named_and_the_rest_is_learnt() -> None:
    bench = Bench()
    bench.mock.chips[0x5B].set_pf(2, 0.0)
    bench.mock.chips[0x5C].set_pf(1, float("inf"))
    scan = bench.scan()
    faults = scan.faults()
    assert [fault.name for fault in faults] == ["beach-s", "jungle-ne"]
    assert "pad beach-s (MPR121 'coast' at 0x5B, electrode 2) is out of range" in faults[0].text
    calibration = scan.calibration("now")
    assert {"beach-s", "jungle-ne"} & calibration.pads.keys() == set()
    assert len(calibration.pads) == 27


def test_a_missing_chip_is_named_and_the_rest_is_learnt() -> None:
    bench = Bench()
    bench.mock.emulated_bus.inject(Disturbance.NACK, address=0x5B)
    scan = bench.scan()
    (fault,) = scan.faults()
    assert (fault.part, fault.name) == (Part.CHIP, "2")
    assert "MPR121 'coast' at 0x5B: nothing answers at 0x5B" in fault.text
    assert sorted(scan.calibration("now").chips) == [0x5A, 0x5C]


@pytest.mark.parametrize("arbitrates", [True, False], ids=["a master that notices", "one that reads zeros (a Pi to 4)"])
@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_chip_that_holds_sda_is_clocked_free_as_in_a_game(when: str, *, arbitrates: bool) -> None:
    bench = Bench()
    bus = bench.mock.emulated_bus
    bus.arbitrates = arbitrates
    if when == "before":
        bus.inject(Disturbance.STUCK_SDA, bits=5)
        scan = bench.scan()
    else:
        scan = bench.scan(1.0)
        bus.inject(Disturbance.STUCK_SDA, bits=5)
        bench.go_on(scan)
    assert scan.done
    assert scan.faults() == []


def test_a_short_circuit_of_the_bus_ends_the_scan_with_what_to_do() -> None:
    bench = Bench()
    scan = bench.scan(0.5)
    bench.mock.emulated_bus.inject(Disturbance.SHORTED_SDA)
    with pytest.raises(CalibrationError, match=r"is stuck: SDA is held low.*check SDA and SCL for short circuits"):
        bench.go_on(scan)


def test_a_disturbance_only_delays_but_a_chip_that_falls_silent_ends_the_scan() -> None:
    bench = Bench()
    scan = bench.scan(0.5)
    bench.mock.emulated_bus.inject(Disturbance.NACK, address=0x5B, count=3)
    bench.go_on(scan)
    assert scan.done
    scan = bench.scan(0.5)
    bench.mock.emulated_bus.inject(Disturbance.NACK, address=0x5B)
    with pytest.raises(CalibrationError, match=r"^MPR121 'coast' at 0x5B is lost: nothing answers"):
        bench.go_on(scan)


def test_a_new_scan_keeps_figures_map_and_absent_pads() -> None:
    before = Calibration(
        "then", figures=dict.fromkeys(FIGURES, 9.0), places={"rock": (0x5A, 0)}, absent=frozenset({"two"})
    )
    after = Bench().scan().calibration("now", before)
    assert after == replace(before, made="now", chips=after.chips, pads=after.pads)
    assert len(after.pads) == 29


# --- the map


def test_every_pad_is_found_by_touching_it() -> None:
    bench = Bench(noise_counts=0.5)
    pads = PadMap()
    assert bench.map(pads, 0.1) == []
    assert not bool(pads.ready)
    bench.map(pads, 0.4)
    for pad in (*WIRING.chips[0].wires, "beach-s", "statue-w", "jungle-n", "ruin-w"):
        assert pads.ready
        if pad in WIRING.fields:
            bench.hands.lay_hand(pad)
        else:
            bench.hands.touch(Touch(pad))
        assert bench.map(pads, 1.0) == [(place_of(pad),)]
        assert not bool(pads.ready)
        pads.assign(pad, place_of(pad))
        if pad in WIRING.fields:
            bench.hands.raise_hand(pad)
        else:
            bench.hands.lift(Touch(pad))
        assert bench.map(pads, 0.5) == []
    assert pads.places["statue-w"] == place_of("statue-w")


def test_an_electrode_that_no_pad_is_wired_to_is_found_as_well() -> None:
    bench = Bench()
    pads = PadMap()
    bench.map(pads, 0.5)
    bench.mock.chips[0x5B].set_pf(11, 60.0)
    assert bench.map(pads, 0.5) == [((0x5B, 11),)]


def test_two_electrodes_that_rise_alike_are_a_bridge() -> None:
    bench = Bench()
    pads = PadMap()
    bench.map(pads, 0.5)
    for address, electrode in ((0x5B, 3), (0x5B, 4)):
        chip = bench.mock.chips[address]
        chip.set_pf(electrode, chip.pf(electrode) + 11.0)
    assert bench.map(pads, 1.0) == [((0x5B, 3), (0x5B, 4))]


def test_a_neighbour_that_rises_a_little_is_no_bridge_and_a_hand_over_the_board_no_touch() -> None:
    bench = Bench()
    pads = PadMap()
    bench.map(pads, 0.5)
    chip = bench.mock.chips[0x5B]
    for electrode in range(9):
        chip.set_pf(electrode, chip.pf(electrode) + 1.5)
    assert bench.map(pads, 1.0) == []
    assert pads.ready
    chip.set_pf(3, chip.pf(3) + 11.0)
    chip.set_pf(4, chip.pf(4) + 5.5)  # a ring under the same hand
    assert bench.map(pads, 1.0) == [((0x5B, 3),)]


def test_a_wire_that_has_its_pad_is_not_given_another() -> None:
    pads = PadMap()
    pads.assign("rock", (0x5A, 1))
    with pytest.raises(CalibrationError, match=r"wire of rock \(electrode 1 of the chip at 0x5A\) already"):
        pads.assign("fire", (0x5A, 1))
    pads.assign("rock", (0x5A, 2))
    pads.assign("fire", (0x5A, 1))
    assert pads.places == {"rock": (0x5A, 2), "fire": (0x5A, 1)}
