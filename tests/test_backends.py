"""The two backends: the emulated one can be driven and read, both share everything but bus and pins."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from firmware.hal.backends import mock_hardware, real_hardware
from firmware.hal.calibration import Calibration, CalibrationError
from firmware.hal.wiring import load_wiring
from firmware.terms import Figure, Grip, Symbol, Symbols, Touch

if TYPE_CHECKING:
    from firmware.hal.ports import Battery, PushButton, SymbolLights, TouchBoard

FIELDS = tuple(tomllib.loads((files("firmware.game.insel") / "board.toml").read_text(encoding="utf-8"))["layout"])
WIRING = load_wiring(None, FIELDS)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_importing_the_backends_loads_no_hardware_library() -> None:
    code = (
        "import sys, firmware.hal.backends\n"
        "print([name for name in sys.modules if name.split('.')[0] in "
        "('gpiozero', 'adafruit_mpr121', 'smbus2', 'lgpio', 'board', 'busio')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_emulated_volcano_is_driven_and_read_back() -> None:
    clock = Clock()
    mock = mock_hardware(WIRING, clock)
    hardware = mock.hardware
    mock.hands.place(Figure.BLACK, "ruin-e")
    grips: list[Grip] = []
    for poll in range(100):
        clock.now += 0.02
        if poll == 60:
            mock.hands.grip(Figure.BLACK)
            mock.hands.touch(Touch.FIRE)
        if (grip := hardware.poll(clock.now)) is not None:
            grips.append(grip)
    assert [(grip.field, grip.touch) for grip in grips] == [("ruin-e", Touch.FIRE)]
    assert hardware.faults() == []
    assert not hardware.button.is_pressed()
    mock.press(True)
    assert hardware.button.is_pressed()
    mock.press(False)
    assert not hardware.button.is_pressed()
    mock.set_battery_low(True)
    assert hardware.battery.is_low()
    hardware.lights.show(Symbols((Symbol.TRIANGLE,)))
    assert mock.lit() == {Symbol.TRIANGLE}
    mock.close()
    mock.close()


def test_both_backends_fit_the_ports() -> None:
    for hardware in (mock_hardware(WIRING, Clock()).hardware, real_hardware(WIRING, Clock())):
        touch: TouchBoard = hardware.touch
        lights: SymbolLights = hardware.lights
        button: PushButton = hardware.button
        battery: Battery = hardware.battery
        for part in (touch, lights, button, battery):
            part.close()
            part.close()


def test_the_poll_makes_the_lights_blink() -> None:
    clock = Clock()
    mock = mock_hardware(WIRING, clock)
    mock.hardware.lights.show(Symbols((Symbol.STAR,), blink=True))
    clock.now = 0.7
    mock.hardware.poll(clock.now)
    assert mock.lit() == set()
    clock.now = 1.2
    mock.hardware.poll(clock.now)
    assert mock.lit() == {Symbol.STAR}
    mock.close()


def test_two_emulated_volcanoes_share_nothing() -> None:
    one, other = mock_hardware(WIRING, Clock()), mock_hardware(WIRING, Clock())
    one.press(True)
    one.hardware.lights.show(Symbols((Symbol.STAR,)))
    assert not other.hardware.button.is_pressed()
    assert other.lit() == set()
    one.close()
    other.close()


def test_a_wiring_without_battery_pin_is_never_low() -> None:
    mock = mock_hardware(replace(WIRING, battery_low=None), Clock())
    mock.set_battery_low(True)
    assert not mock.hardware.battery.is_low()
    mock.close()


def test_real_hardware_where_there_is_none_names_every_part_and_raises_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("firmware.hal.gpio.chip_labels", dict)
    clock = Clock()
    hardware = real_hardware(replace(WIRING, bus=250), clock)
    for _ in range(100):
        clock.now += 0.02
        assert hardware.poll(clock.now) is None
    assert not hardware.button.is_pressed()
    assert not hardware.battery.is_low()
    faults = [str(fault) for fault in hardware.faults()]
    assert len([fault for fault in faults if "/dev/i2c-250 is missing: enable I2C" in fault]) == 1  # not once a chip
    assert len([fault for fault in faults if "no GPIO chip of a Raspberry Pi header" in fault]) == 7
    hardware.close()
    hardware.close()


def test_a_calibration_for_other_wires_opens_no_backend() -> None:
    foreign = Calibration("now", absent=frozenset({"moon"}))
    for open_hardware in (mock_hardware, real_hardware):
        with pytest.raises(CalibrationError, match="knows a pad 'moon'"):
            open_hardware(WIRING, Clock(), calibration=foreign)


def test_hands_act_on_the_wires_as_they_are_soldered() -> None:
    clock = Clock()
    mapped = Calibration("now", places={"rock": (0x5A, 1), "explore": (0x5A, 0)})
    for calibration, touch in ((None, Touch.EXPLORE), (mapped, Touch.ROCK)):
        mock = mock_hardware(WIRING, clock, calibration=calibration, soldered=mapped.wired(WIRING))
        mock.hands.place(Figure.BLACK, "ruin-e")
        grips: list[Grip] = []
        for poll in range(100):
            clock.now += 0.02
            if poll == 60:
                mock.hands.grip(Figure.BLACK)
                mock.hands.touch(Touch.ROCK)
            if (grip := mock.hardware.poll(clock.now)) is not None:
                grips.append(grip)
        assert [(grip.field, grip.touch) for grip in grips] == [("ruin-e", touch)]
        mock.close()
