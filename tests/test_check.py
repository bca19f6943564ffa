"""`volcano check`: what it finds on an emulated board, what it says, and how it is told."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import platform
import re
import signal
import struct
import subprocess
import sys
import termios
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from test_bus import Kernel
from workplace import DATE, WIRING, Voice, Workplace

from firmware import cli
from firmware.audio.pack import Pack
from firmware.catalogue import load
from firmware.check.command import add_check_command
from firmware.check.live import figure_words
from firmware.check.report import model
from firmware.hal.backends import mock_hardware, real_hardware
from firmware.hal.calibration import FILE_NAME, Calibration, save_calibration
from firmware.hal.emulated_bus import Disturbance
from firmware.hal.emulated_pins import PinsInMemory
from firmware.hal.ports import PinError
from firmware.hal.trace import read_trace
from firmware.terms import FIGURES, UNKNOWN, Fault, Figure, Part, Symbol, Touch, VolcanoError
from firmware.workshop import ask

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.hal.backends import MockHardware

COAST_CHIP = 0x5B
KEPT_TRACE = Path(__file__).parent / "traces" / "emulated-contact.jsonl"
AUTOMATIC_S = 8.0
"""The automatic part takes less."""


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def check(place: Workplace, line: str = "") -> int:
    return place.run(add_check_command, f"check {line}")


def faults(place: Workplace) -> list[str]:
    lines = place.screen.lines
    (start,) = [number for number, line in enumerate(lines) if re.fullmatch(r"\d+ faults?:", line)]
    assert int(lines[start].split()[0]) == len(lines[start + 1 :])
    return lines[start + 1 :]


def has(name: str, place: Workplace) -> str:
    """The line of a part."""
    return next(line for line in place.screen.lines if line.startswith(f"{name} "))


# --- a sound board


def test_a_sound_board_has_no_faults(place: Workplace) -> None:
    assert check(place) == 0
    assert place.screen.lines[-1] == "no faults"
    assert has("bus", place).endswith("I2C bus 1: 3 of 3 chips answer")
    assert re.search(r"touch at 0x5A: 10 pads of \d+ to \d+ pF, noise 0.0 counts$", has("chip 1", place))
    assert has("button", place).endswith("not pressed")
    assert has("battery", place).endswith("full (the signal on GPIO 27)")
    assert re.search(r"white [\d.]+, red .*; as the wiring file says$", has("figures", place))
    assert has("calibration", place).endswith("none yet (volcano calibrate)")
    assert place.now - 1000 < AUTOMATIC_S


def test_every_light_is_lit_in_turn_and_all_are_dark_afterwards(place: Workplace) -> None:
    seen: list[frozenset[Symbol]] = []

    def look(mock: MockHardware) -> None:
        if not seen or seen[-1] != mock.lit():
            seen.append(mock.lit())

    for tenth in range(80):
        place.at(tenth / 10, look)
    check(place)
    assert seen == [frozenset(), *(frozenset({symbol}) for symbol in Symbol), frozenset()]


def test_a_harp_is_played(place: Workplace) -> None:
    assert check(place) == 0
    assert place.heard == ["harp"]
    assert place.players[0].closed


def test_the_emulated_board_is_silent(place: Workplace) -> None:
    assert check(place, "--mock") == 0
    assert place.players == []
    assert "emulated, silent: a harp was played" in has("sound", place)


def test_the_board_is_given_back(place: Workplace) -> None:
    check(place)
    assert place.mock
    before = place.mock.bus.transactions
    place.mock.hardware.poll(place.now + 1)
    assert place.mock.bus.transactions == before


def test_a_board_on_the_kernel_s_own_bus_is_looked_at_alike(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    soldered = mock_hardware(WIRING, place.clock)
    kernel = Kernel(dict(soldered.chips))
    monkeypatch.setattr("smbus2.smbus2.os.open", kernel.open)
    monkeypatch.setattr("smbus2.smbus2.ioctl", kernel.ioctl)
    monkeypatch.setattr("firmware.hal.backends.open_pi_pins", PinsInMemory)
    place.around = replace(place.around, open_board=real_hardware)
    pads = {pad["pad"]: pad["pf"] for chip in told(place)["chips"] for pad in chip["pads"]}
    assert pads == {pad: pytest.approx(soldered.hands.pad_pf(pad), rel=0.01) for pad in pads}
    assert len(pads) == 29
    assert kernel.opened == 1


# --- what is broken


def broken(place: Workplace, action: Callable[[MockHardware], object], seconds: float = 0.0) -> list[str]:
    place.at(seconds, action)
    assert check(place) == 1
    return faults(place)


def test_a_chip_that_does_not_answer_is_one_fault_with_its_remedy(place: Workplace) -> None:
    (fault,) = broken(place, lambda mock: mock.emulated_bus.inject(Disturbance.NACK, address=COAST_CHIP))
    assert "MPR121 'coast' at 0x5B is lost" in fault
    assert "check SDA, SCL, 3V3 and the ADDR wire" in fault
    assert "2 of 3 chips answer" in has("bus", place)
    assert "nothing answers at 0x5B" in has("chip 2", place)


def test_a_chip_at_an_address_that_nobody_named_is_told(place: Workplace) -> None:
    def rewire(mock: MockHardware) -> None:
        mock.emulated_bus.chips[0x5D] = mock.emulated_bus.chips.pop(COAST_CHIP)

    lost, stranger = broken(place, rewire)
    assert "'coast' at 0x5B is lost" in lost
    assert stranger == "a chip answers at 0x5D that the wiring file does not name: check the ADDR wires"


def test_a_torn_wire_and_a_short_are_named(place: Workplace) -> None:
    def damage(mock: MockHardware) -> None:
        mock.chips[COAST_CHIP].set_pf(2, 0.0)
        mock.chips[COAST_CHIP].set_pf(5, math.inf)

    torn, shorted = broken(place, damage)
    assert torn.startswith("pad beach-s (MPR121 'coast' at 0x5B, electrode 2) is out of range: check")
    assert shorted.startswith("pad statue-n (MPR121 'coast' at 0x5B, electrode 5) is out of range: check")


def test_a_pin_without_a_wire_is_named(place: Workplace) -> None:
    (fault,) = broken(place, lambda mock: mock.chips[COAST_CHIP].set_pf(2, 11.0))
    assert "pad beach-s (MPR121 'coast' at 0x5B, electrode 2) has only 11.0 pF, as without a wire" in fault


SUPPLIES_V = (3.0, 3.6)
"""What a chip of a 3.3 V supply may get: 10 % less or more. Readings are as wrong as it is."""


@pytest.mark.parametrize("volts", SUPPLIES_V)
@pytest.mark.parametrize("seed", range(3))
def test_no_pad_on_a_wire_is_taken_for_a_loose_one(tmp_path: Path, seed: int, volts: float) -> None:
    """From the shortest wire to the longest: 29 pads a board, most of them short."""
    place = Workplace(tmp_path, seed=seed, noise_counts=0.5)
    levels_pf = Random(seed)

    def wire(mock: MockHardware) -> None:
        for chip in mock.chips.values():
            chip.set_vdd(volts)
            for electrode in range(12):
                chip.set_pf(electrode, min(levels_pf.uniform(20.0, 210.0) for _ in range(3)))
        mock.chips[COAST_CHIP].set_pf(2, 20.0)

    place.at(0.0, wire)
    assert check(place) == 0, faults(place)


@pytest.mark.parametrize("volts", SUPPLIES_V)
def test_every_pin_without_a_wire_is_told(place: Workplace, volts: float) -> None:
    """A pin has up to 15 pF of its own."""
    coast = WIRING.chips[1]

    def tear(mock: MockHardware) -> None:
        chip = mock.chips[coast.address]
        chip.set_vdd(volts)
        for number, electrode in enumerate(coast.wires.values()):
            chip.set_pf(electrode, 15.0 - number)

    told = broken(place, tear)
    assert [pad for pad in coast.wires if not any(line.startswith(f"pad {pad} ") for line in told)] == []


def all_zero(mock: MockHardware) -> None:
    for electrode in range(12):
        mock.chips[COAST_CHIP].set_pf(electrode, math.inf)


def test_a_chip_whose_readings_are_all_zero_is_damaged(place: Workplace) -> None:
    (fault,) = broken(place, all_zero)
    assert fault.startswith("MPR121 'coast' at 0x5B ")
    assert "(beach-ne, beach-se, " in fault
    assert "measures nothing" in fault
    assert "REXT (75 kOhm)" in fault
    assert has("chip 2", place).endswith("coast at 0x5B: measures nothing")


def test_a_chip_that_is_damaged_while_it_is_looked_at_is_told_as_well(place: Workplace) -> None:
    (fault,) = broken(place, all_zero, 4.0)
    assert fault.startswith("MPR121 'coast' at 0x5B ")
    assert "measures nothing" in fault


def test_noise_does_not_hide_that_a_chip_is_damaged(tmp_path: Path) -> None:
    (fault,) = broken(Workplace(tmp_path, noise_counts=1.5), all_zero, 4.0)
    assert "measures nothing" in fault


@pytest.mark.parametrize("pf", [0.0, 8.0, math.inf])
@pytest.mark.parametrize("seconds", [2.0, 4.0, 6.5])
def test_a_wire_that_breaks_after_it_was_looked_at_is_told(place: Workplace, pf: float, seconds: float) -> None:
    (fault,) = broken(place, lambda mock: mock.chips[COAST_CHIP].set_pf(2, pf), seconds)
    assert fault.startswith("pad beach-s (MPR121 'coast' at 0x5B, electrode 2) ")
    assert re.search("is out of range: check for a broken wire|has only .* pF, as without a wire", fault)


def test_what_has_healed_is_no_fault_any_more(place: Workplace) -> None:
    place.at(1.4, lambda mock: mock.emulated_bus.inject(Disturbance.NACK, address=COAST_CHIP))
    place.at(3.0, lambda mock: mock.emulated_bus.clear())
    assert check(place) == 0
    assert "0x5B: nothing answers" in has("chip 2", place)
    told = [line for line in place.screen.lines if line.startswith("noticed ")]
    assert len(told) == 2
    assert "is lost" in told[0]
    assert told[1].endswith("MPR121 'coast' at 0x5B works again")


@pytest.mark.parametrize("seconds", [0.5, 1.0, 1.2, 1.5, 6.8])
def test_a_dip_while_pads_are_measured_makes_no_fault_of_any(place: Workplace, seconds: float) -> None:
    place.at(seconds, lambda mock: mock.chips[COAST_CHIP].power_on_reset())
    assert check(place) == 0
    assert place.screen.lines[-1] == "no faults"


def test_a_chip_whose_pads_are_all_left_out_is_no_stranger(place: Workplace) -> None:
    absent = frozenset(pad for chip in WIRING.chips if chip.address == COAST_CHIP for pad in chip.pads)
    save_calibration(place.folder / FILE_NAME, Calibration("2026-05-01T10:00", absent=absent))
    assert check(place) == 0
    assert "2 of 2 chips answer" in has("bus", place)


def test_noise_is_named_where_it_is(tmp_path: Path) -> None:
    quiet, noisy = Workplace(tmp_path, noise_counts=1.5, seed=2), Workplace(tmp_path, noise_counts=5.0, seed=2)
    assert check(quiet) == 0
    assert re.search(r"noise [12]\.\d counts", has("chip 1", quiet))
    assert check(noisy) == 1
    assert len([fault for fault in faults(noisy) if "is noisy, " in fault and "check ground" in fault]) > 15


def test_a_hand_on_the_board_is_told_and_is_no_fault(place: Workplace) -> None:
    place.at(0.4, lambda mock: mock.hands.touch(Touch.FIRE))
    assert check(place) == 0
    assert has("chip 1", place).endswith("; touched: fire")


def test_a_pin_that_cannot_be_had_is_one_fault_for_each_light(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PinError("GPIO 5 is busy: is another program using it?")

    monkeypatch.setattr("firmware.hal.gpio._make_light", refuse)
    assert check(place) == 1
    assert len([fault for fault in faults(place) if "light on GPIO" in fault and "is busy" in fault]) == 5


def test_what_cannot_be_asked_is_neither_up_nor_full(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PinError("no GPIO chip of a Raspberry Pi header")

    monkeypatch.setattr("firmware.hal.battery.make_input", refuse)
    monkeypatch.setattr("firmware.hal.gpio.make_input", refuse)
    row = told(place)
    assert row["button"] == {"pressed": None}
    assert row["battery"] == {"low": None, "volts": None, "source": "the signal on GPIO 27"}
    assert len(row["faults"]) == 2
    check(place)
    assert has("button", place).endswith("cannot be asked")
    assert "cannot be asked (the signal on GPIO 27)" in has("battery", place)


def test_a_button_that_is_always_down_is_stuck(place: Workplace) -> None:
    (fault,) = broken(place, lambda mock: mock.press(down=True))
    assert fault == "the push button is down all the time: is it stuck, or its wire shorted to ground?"


def test_a_button_that_is_pressed_for_a_while_is_not(place: Workplace) -> None:
    place.at(1.0, lambda mock: mock.press(down=True))
    assert check(place) == 0
    assert has("button", place).endswith(" pressed")


def test_weak_batteries_are_a_fault(place: Workplace) -> None:
    (fault,) = broken(place, lambda mock: mock.set_battery_low(low=True))
    assert fault == "the batteries are weak: change them, or check the signal on GPIO 27"


@pytest.mark.parametrize(
    ("answer", "told", "fault"),
    [
        ("throttled=0x0", "never too low", None),
        ("throttled=0x50005", "too low now", "supply is too low now: check the adapter"),
        ("throttled=0x50000", "since it was switched on", "too low since it was switched on: check the adapter"),
        ("throttled=0x80008", "too hot now", None),
        ("nonsense", "unknown answer of vcgencmd: nonsense", None),
    ],
)
def test_the_pi_s_own_word_on_its_supply(place: Workplace, answer: str, told: str, fault: str | None) -> None:
    place.answers["vcgencmd"] = answer
    assert check(place) == (1 if fault else 0)
    assert told in has("supply", place)
    if fault:
        assert [line for line in faults(place) if fault in line]


def test_without_the_program_the_supply_is_not_asked(place: Workplace) -> None:
    assert check(place) == 0
    assert "cannot be asked here" in has("supply", place)


def test_missing_clips_are_one_fault(place: Workplace) -> None:
    place.pack = Pack({})
    assert check(place) == 1
    (fault,) = faults(place)
    texts = load("de")
    every = len({(texts.voice(line, args), text) for line, args, _, text in texts.clips()})
    what = f"{every} of {every} German clips and 23 sounds are missing"
    assert fault == f"{what}: make them with: volcano sounds build", "as many as sounds build makes"


def test_a_sound_card_that_cannot_be_opened_is_its_own_fault(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = Fault(Part.SOUND, "", "no sound card: check card under [sound]")
    monkeypatch.setattr(Voice, "faults", lambda _: [silent])
    assert check(place) == 1
    assert faults(place) == [silent.text]
    assert "no sound" in has("sound", place)


def test_a_sound_that_never_ends_is_a_fault(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Voice, "poll", lambda *_: False)
    assert check(place) == 1
    (fault,) = faults(place)
    assert "does not play to the end: check it with aplay -l" in fault


# --- calibration


def test_the_calibration_s_date_is_told(place: Workplace) -> None:
    save_calibration(place.folder / FILE_NAME, Calibration("2026-05-01T10:00", absent=frozenset({"ruin-w"})))
    assert check(place) == 0
    assert has("calibration", place).endswith("made 2026-05-01T10:00, 0 pads, without ruin-w")
    assert "9 pads of" in has("chip 3", place)


def test_figures_that_were_measured_are_told(place: Workplace) -> None:
    feet = dict(zip(FIGURES, (3.1, 7.0, 14.0, 31.0), strict=True))
    save_calibration(place.folder / FILE_NAME, Calibration("2026-05-01T10:00", figures=feet))
    check(place)
    assert has("figures", place).endswith("in pF: white 3.1, red 7.0, green 14.0, black 31.0; as measured")


def test_a_damaged_calibration_is_a_fault(place: Workplace) -> None:
    (place.folder / FILE_NAME).write_text("{}", encoding="utf-8")
    assert check(place) == 1
    (fault,) = faults(place)
    assert FILE_NAME in fault
    assert "volcano calibrate" in fault


def test_where_the_newest_was_damaged_it_is_told_that_the_one_before_is_used(place: Workplace) -> None:
    path = place.folder / FILE_NAME
    save_calibration(path, Calibration("2026-05-01T10:00"))
    save_calibration(path, Calibration("2026-06-01T10:00"))
    path.write_bytes(path.read_bytes()[:40])
    for _ in range(2):
        later = Workplace(place.folder)
        assert check(later) == 0
        assert has("calibration", later).endswith(
            "made 2026-05-01T10:00, 0 pads; the one before, since there is no calibration.json"
        )


def test_a_calibration_for_another_board_is_a_fault(place: Workplace) -> None:
    save_calibration(place.folder / FILE_NAME, Calibration("2026-05-01T10:00", absent=frozenset({"lagoon"})))
    assert check(place) == 1
    (fault,) = faults(place)
    assert "'lagoon'" in fault


# --- who holds the board


@pytest.mark.parametrize("state", ["active", "activating"])
def test_while_the_service_runs_one_line_says_what_to_type(place: Workplace, state: str) -> None:
    place.answers["systemctl"] = state
    with pytest.raises(VolcanoError, match="sudo systemctl stop volcano") as refused:
        check(place)
    assert "\n" not in str(refused.value)
    assert place.mock is None, "nothing was opened"


SYSTEMCTL = """#!/bin/sh
echo activating
[ "$1" = show ] || exit 3  # as systemctl is-active does in every state but active
"""


def test_a_service_that_is_starting_is_seen(place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "systemctl"
    program.write_text(SYSTEMCTL, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    place.around = replace(place.around, ask=ask)
    with pytest.raises(VolcanoError, match="sudo systemctl stop volcano"):
        check(place)


def test_the_emulated_board_does_not_care(place: Workplace) -> None:
    place.answers["systemctl"] = "active"
    assert check(place, "--mock") == 0


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(VolcanoError, match=r"file is no folder: name one with --state-dir"):
        check(Workplace(tmp_path / "file"))


# --- what happens meanwhile


def test_what_breaks_after_its_turn_is_told_as_well(place: Workplace) -> None:
    (fault,) = broken(place, lambda mock: mock.emulated_bus.inject(Disturbance.NACK, address=COAST_CHIP), 4.0)
    assert "'coast' at 0x5B is lost" in fault


def test_a_dip_of_the_supply_that_was_mended_is_no_fault_but_told(place: Workplace) -> None:
    place.at(3.0, lambda mock: mock.chips[COAST_CHIP].power_on_reset())
    assert check(place) == 0
    assert place.screen.lines[-2:] == [
        "noticed      MPR121 'coast' at 0x5B was reset (a dip of its 3V3?) and is configured again",
        "no faults",
    ]


def test_what_is_told_as_a_fault_is_not_told_again(place: Workplace, caplog: pytest.LogCaptureFixture) -> None:
    broken(place, lambda mock: mock.emulated_bus.inject(Disturbance.NACK, address=COAST_CHIP))
    assert place.screen.text.count("'coast' at 0x5B is lost") == 1
    assert caplog.messages == [], "and not in the midst of the table"


def test_a_bus_without_chips_is_one_fault(place: Workplace) -> None:
    (fault,) = broken(place, lambda mock: mock.emulated_bus.inject(Disturbance.NACK))
    assert fault.startswith("none of the 3 MPR121 can be reached: check what they share, SDA, SCL, 3V3 and ground")
    assert "0 of 3 chips answer" in has("bus", place)
    assert "is lost" not in place.screen.text


# --- the table


def touch_two(place: Workplace) -> None:
    place.at(9.0, lambda mock: mock.hands.place(Figure.WHITE, "beach-s"))
    place.at(10.0, lambda mock: mock.hands.grip(Figure.WHITE))
    place.at(10.2, lambda mock: mock.hands.touch(Touch.EXPLORE))


def drawn(place: Workplace) -> list[list[str]]:
    """The table each time it was drawn, without colours."""
    tables = [text for text in place.screen.written if text.startswith("\x1b[H")]
    return [re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).splitlines() for text in tables]


def test_on_a_terminal_a_pad_that_is_touched_lights_up_with_its_name(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    touch_two(place)
    place.type(12.0, "q")
    assert check(place) == 0
    first, last = drawn(place)[0], drawn(place)[-1]
    assert not [line for line in first if "*" in line]
    assert re.findall(r"\*([\w-]+)", "\n".join(last)) == ["explore", "beach-s"]
    assert re.match(r"last contact: white \d+ %.*; beach-s, explore", last[0])
    assert place.screen.lines[-1] == "no faults"


def test_the_table_fits_on_a_terminal_of_80_times_24_and_has_every_pad(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    place.type(9.0, "q")
    check(place)
    table = drawn(place)[-1]
    assert len(table) <= 23
    assert max(map(len, table)) <= 80
    assert set(re.findall(r"[ *]([a-z-]+) +5[ABC]\.", "\n".join(table))) == {*WIRING.fields, *Touch}


@pytest.mark.parametrize("size", [(80, 10), (40, 24), (20, 5), (1, 1), (300, 90)])
def test_on_a_small_terminal_the_pads_that_are_touched_come_first(tmp_path: Path, size: tuple[int, int]) -> None:
    place = Workplace(tmp_path, interactive=True)
    place.screen.size = size
    touch_two(place)
    place.type(12.0, "q")
    check(place)
    columns, lines = size
    for table in drawn(place):
        assert len(table) < max(lines, 5)
        assert max(map(len, table[2:])) < max(columns, 2)
    if 20 <= columns <= 80:
        assert table[2].startswith("*explore")
    if size == (80, 10):
        assert table[-1] == "17 more: enlarge the window"


def test_the_rise_of_a_pad_is_shown_in_picofarads(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    place.at(9.0, lambda mock: mock.hands.touch(Touch.FIRE))
    place.type(9.4, "q")
    check(place)
    (cell,) = re.findall(r"\*fire +5A\.5 +([\d.]+) +\+([\d.]+) pF", "\n".join(drawn(place)[-1]))
    assert place.mock
    assert float(cell[0]) == pytest.approx(place.mock.hands.pad_pf("fire"), rel=0.03)
    assert float(cell[1]) > 20


def test_a_chip_that_is_lost_shows_no_levels_and_why(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    place.at(0.0, lambda mock: mock.emulated_bus.inject(Disturbance.NACK, address=COAST_CHIP))
    place.type(9.0, "q")
    assert check(place) == 1
    table = "\n".join(drawn(place)[-1])
    assert re.search(r"beach-s +5B\.2 +- +- pF", table)
    assert "coast at 0x5B: nothing answers" in table


def test_a_chip_that_measures_nothing_shows_no_levels_either(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    place.at(9.0, all_zero)
    place.type(12.0, "q")
    assert check(place) == 1
    last = place.screen.text[place.screen.text.rindex("last contact:") :]
    assert re.search(r"beach-ne +5B.0 +- +- pF", last)
    assert "coast at 0x5B: measures nothing" in last


def test_colours_only_where_they_are_wanted(tmp_path: Path) -> None:
    for colour in (True, False):
        place = Workplace(tmp_path, interactive=True, colour=colour)
        touch_two(place)
        place.type(11.0, "q")
        check(place)
        assert any("\x1b[7m*beach-s" in text for text in place.screen.written) is colour


def test_what_was_written_before_the_table_comes_back_after_it(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    place.type(9.0, "q")
    check(place)
    text = "".join(place.screen.written)
    assert text.index("calibration") < text.index("\x1b[?1049h") < text.index("\x1b[?1049l") < text.index("no faults")


def test_pads_that_were_touched_keep_a_mark_and_those_that_were_not_are_named_at_the_end(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    touch_two(place)
    place.at(11.0, lambda mock: mock.hands.lift(Touch.EXPLORE))
    place.at(11.0, lambda mock: mock.hands.let_go(Figure.WHITE))
    place.type(13.0, "q")
    assert check(place) == 0
    assert re.findall(r"\+([a-z][\w-]+)", "\n".join(drawn(place)[-1])) == ["explore", "beach-s"]
    missing = ", ".join(pad for chip in WIRING.chips for pad in chip.pads if pad not in ("explore", "beach-s"))
    assert has("pads", place) == f"pads         2 of 29 were touched, not {missing}"
    assert place.screen.lines[-2] == "figures      1 of 4 were recognised, not red, green, black"


def test_what_breaks_while_the_board_is_touched_is_told_at_the_end(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    place.at(9.0, lambda mock: mock.emulated_bus.inject(Disturbance.NACK, address=COAST_CHIP))
    place.type(11.0, "q")
    assert check(place) == 1
    assert [fault for fault in faults(place) if "0x5B is lost" in fault]


def test_the_button_is_shown_down(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    place.at(9.0, lambda mock: mock.press(down=True))
    place.type(9.5, "q")
    check(place)
    assert drawn(place)[-1][1].startswith("button  down")


def test_seconds_end_the_table(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    assert check(place, "--seconds 3") == 0
    assert 3 < place.now - 1000 < AUTOMATIC_S + 3.1


def test_ctrl_c_ends_the_table_and_the_faults_are_still_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Workplace(tmp_path, interactive=True)
    place.at(0.0, lambda mock: mock.press(down=True))

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    place.at(9.0, interrupt)
    assert check(place) == 1
    assert len(faults(place)) == 1


def test_without_a_terminal_there_is_no_table_and_the_check_ends_by_itself(place: Workplace) -> None:
    assert check(place) == 0
    assert "\x1b" not in "".join(place.screen.written)


def test_without_a_terminal_seconds_tell_contacts_by_the_line(place: Workplace) -> None:
    touch_two(place)
    assert check(place, "--seconds 5") == 0
    assert re.search(r"white \d+ %.*; beach-s, explore$", has("contact", place))


@pytest.mark.parametrize("seconds", ["-1", "nan", "inf"])
def test_wrong_seconds_are_refused(place: Workplace, seconds: str) -> None:
    with pytest.raises(VolcanoError, match="--seconds: must be 0 or more"):
        check(place, f"--seconds={seconds}")


def test_likelihoods_in_words() -> None:
    assert figure_words(UNKNOWN) == "unknown"
    assert figure_words((0.0, 0.0, 1.0, 0.0)) == "green 100 %"
    assert figure_words((0.9, 0.0, 0.05, 0.05)) == "white 90 %, green 5 %, black 5 %"


# --- for programs


def told(place: Workplace, line: str = "--json") -> dict[str, Any]:
    check(place, line)
    (text,) = place.screen.lines
    row: dict[str, Any] = json.loads(text)
    return row


def test_json_is_one_object_with_everything(place: Workplace) -> None:
    row = told(place)
    assert row["well"] is True
    assert row["faults"] == []
    assert [(chip["number"], chip["address"], chip["state"]) for chip in row["chips"]] == [
        (1, "0x5A", "ok"),
        (2, "0x5B", "ok"),
        (3, "0x5C", "ok"),
    ]
    pads = {pad["pad"]: pad for chip in row["chips"] for pad in chip["pads"]}
    assert set(pads) == {*WIRING.fields, *Touch}
    assert place.mock
    for name, pad in pads.items():
        assert pad["pf"] == pytest.approx(place.mock.hands.pad_pf(name), rel=0.01)
        assert abs(pad["baseline"] - pad["counts"]) < 4
        assert pad["cdc_ua"] > 0 < pad["cdt_code"]
    assert row["lights"] == dict.fromkeys(Symbol, True)
    assert (row["button"], row["battery"]["low"], row["supply"]) == ({"pressed": False}, False, None)


def test_json_names_each_fault_by_part(place: Workplace) -> None:
    place.at(0.0, lambda mock: mock.emulated_bus.inject(Disturbance.NACK, address=COAST_CHIP))
    row = told(place)
    assert row["well"] is False
    ((part, name, text),) = [(fault["part"], fault["name"], fault["text"]) for fault in row["faults"]]
    assert (part, name) == ("chip", "2")
    assert "0x5B" in text
    assert row["chips"][1]["error"]
    assert row["chips"][1]["pads"] == []


def test_json_shows_no_table(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    assert told(place)["mock"] is False


def test_a_short_is_null_not_infinite(place: Workplace) -> None:
    place.at(0.0, lambda mock: mock.chips[COAST_CHIP].set_pf(5, math.inf))
    pads = {pad["pad"]: pad for pad in told(place)["chips"][1]["pads"]}
    assert pads["statue-n"]["pf"] is None


# --- the report


def test_a_report_has_versions_files_faults_readings_and_the_log(place: Workplace) -> None:
    place.answers["journalctl"] = "[1.2] volcano: greeting\n"
    place.at(0.0, lambda mock: mock.emulated_bus.inject(Disturbance.NACK, address=COAST_CHIP))
    file = place.folder / "report.txt"
    assert check(place, f"--report {file}") == 1
    text = file.read_text(encoding="utf-8")
    for part in (
        "== Versions\nvolcano ",
        "smbus2 ",
        platform.release(),
        "== Faults\nchip 2: MPR121 'coast' at 0x5B is lost",
        "== What the check saw\nbus ",
        "rock         Touch field electrode  0:",
        "registers from 0x2B: 3f",
        "== Wiring\nas it comes with the firmware",
        "== The service's last words\n[1.2] volcano: greeting",
        DATE,
    ):
        assert part in text, part


def test_a_report_holds_the_owner_s_files(place: Workplace) -> None:
    config = place.folder / "volcano.toml"
    config.write_text('language = "en"\n', encoding="utf-8")
    save_calibration(place.folder / FILE_NAME, Calibration("2026-05-01T10:00"))
    assert check(place, f"--config {config} --report {place.folder / 'report.txt'}") == 0
    text = (place.folder / "report.txt").read_text(encoding="utf-8")
    assert 'language = "en"' in text
    assert '"made": "2026-05-01T10:00"' in text


def test_a_report_tells_nobody_s_name(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/somewhere/margarete"))
    monkeypatch.setattr(platform, "node", lambda: "margaretes-pi")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/somewhere/margarete/.config")
    place.answers["journalctl"] = "margaretes-pi: /somewhere/margarete/volcano.toml: margarete was here"
    check(place, f"--report {place.folder / 'report.txt'}")
    assert "margarete" not in (place.folder / "report.txt").read_text(encoding="utf-8")


def test_a_report_that_cannot_be_written_is_one_line(place: Workplace) -> None:
    place.at(0.0, lambda mock: mock.press(down=True))
    with pytest.raises(VolcanoError, match="cannot be written"):
        check(place, f"--report {place.folder / 'nowhere' / 'report.txt'}")
    assert faults(place) == ["the push button is down all the time: is it stuck, or its wire shorted to ground?"]


def test_the_model_is_the_pi_s_own_word(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(b"Raspberry Pi Zero 2 W Rev 1.0\0")
    assert model(tmp_path / "model") == "Raspberry Pi Zero 2 W Rev 1.0"
    assert model(tmp_path / "none") == platform.machine()


def test_only_json_goes_with_a_replay(place: Workplace) -> None:
    for line in ("--seconds 3", f"--report {place.folder / 'x'}", f"--trace {place.folder / 'x'}"):
        with pytest.raises(VolcanoError, match="only --json goes with it"):
            check(place, f"--replay {KEPT_TRACE} {line}")
    assert not (place.folder / "x").exists()


# --- the process's own terminal

KEYS = """
from firmware.workshop import ProcessTerminal
terminal = ProcessTerminal()
with terminal.unbuffered():
    terminal.write(f"{terminal.interactive} {terminal.colour} {terminal.size}\\n")
    typed = []
    while len(typed) < 3:
        if (key := terminal.key()) is not None:
            typed.append(key)
    terminal.write(repr(typed))
"""


def test_a_terminal_gives_its_keys_one_by_one() -> None:
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS", "LINES"}}
    child = subprocess.Popen([sys.executable, "-c", KEYS], stdin=slave, stdout=slave, env=environment)
    os.close(slave)
    shown = b""
    while b"\n" not in shown:
        shown += os.read(master, 100)
    os.write(master, b"x\nq")
    with contextlib.suppress(OSError):  # the end of the other side
        while data := os.read(master, 100):
            shown += data
    assert child.wait(10) == 0
    os.close(master)
    assert shown.decode().split("\r\n") == ["True True (100, 24)", "['x', '\\n', 'q']"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_whoever_is_ended_gives_the_terminal_back(number: signal.Signals) -> None:
    master, slave = os.openpty()
    before = termios.tcgetattr(slave)
    heard = f"import signal\nsignal.signal({int(number)}, signal.SIG_DFL)\n{KEYS}"  # whoever runs this may ignore it
    child = subprocess.Popen([sys.executable, "-c", heard], stdin=slave, stdout=slave)
    assert b"True" in os.read(master, 100)
    assert termios.tcgetattr(slave) != before
    child.send_signal(number)
    assert child.wait(10) == 128 + number
    assert termios.tcgetattr(slave) == before
    os.close(slave)
    os.close(master)


def test_an_output_that_cannot_be_written_is_one_line() -> None:
    command = f"import sys; from firmware.cli import main; sys.exit(main(['check', '--replay', {str(KEPT_TRACE)!r}]))"
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ran = subprocess.run([sys.executable, "-c", command], stdout=full, stderr=subprocess.PIPE, check=False)
    assert ran.returncode == 2
    assert ran.stderr.decode().splitlines()[0] == "volcano: the output cannot be written: No space left on device"


def test_the_command_line_knows_both_commands(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "--replay", str(KEPT_TRACE)]) == 0
    assert "beach-s, explore" in capfd.readouterr().out
    assert cli.main(["calibrate", "--show", "--state-dir", str(tmp_path)]) == 1
    assert "nothing has been learnt" in capfd.readouterr().out


# --- traces


def test_what_is_recorded_can_be_replayed(place: Workplace) -> None:
    file = place.folder / "trace.jsonl"
    touch_two(place)
    assert check(place, f"--mock --seconds 8 --trace {file}") == 0
    assert json.loads(file.read_text(encoding="utf-8").splitlines()[0])["source"] == "emulated"
    other = Workplace(place.folder)
    assert check(other, f"--replay {file}") == 0
    assert re.search(r"white \d+ %.*; beach-s, explore", other.screen.text)
    assert other.screen.lines[-1].startswith("1 contact in ")
    assert other.mock is None


def test_a_trace_is_there_line_by_line(place: Workplace) -> None:
    """A dip that ends the Pi is to be seen in it."""
    file = place.folder / "trace.jsonl"
    polls: list[int] = []
    place.at(3.0, lambda _: polls.append(len(read_trace(file).polls)))
    assert check(place, f"--mock --trace {file}") == 0
    assert polls[0] >= 149


def test_a_trace_knows_the_feet_as_they_were_measured(place: Workplace) -> None:
    """Else its replay would take one figure for another."""
    file = place.folder / "trace.jsonl"
    feet = dict(zip(FIGURES, (2.0, 4.0, 8.0, 16.0), strict=True))
    save_calibration(place.folder / FILE_NAME, Calibration("2026-05-01T10:00", figures=feet))
    assert check(place, f"--mock --trace {file}") == 0
    assert read_trace(file).capacitor_pf == feet


def test_a_replay_as_json(place: Workplace) -> None:
    assert check(place, f"--json --replay {KEPT_TRACE}") == 0
    row = json.loads(place.screen.text)
    assert [(each["field"], each["touch"]) for each in row["contacts"]] == [("beach-s", "explore")]


def test_a_trace_that_cannot_be_written_is_one_line(place: Workplace) -> None:
    with pytest.raises(VolcanoError, match="cannot be written"):
        check(place, f"--trace {place.folder / 'nowhere' / 'trace.jsonl'}")


def test_a_file_that_is_no_trace_is_one_line(place: Workplace) -> None:
    (place.folder / "x").write_text("hello\n", encoding="utf-8")
    with pytest.raises(VolcanoError, match=":1: "):
        check(place, f"--replay {place.folder / 'x'}")
