"""The supply: a supervisor's pin, an MCP3008 by its bits, and what counts as weak."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from firmware.config import ConfigError
from firmware.hal.backends import mock_hardware
from firmware.hal.battery import FULL_AGAIN_V, LASTING_S, AdcBattery, FixedBattery, GpioBattery
from firmware.hal.emulated_pins import EmulatedMcp3008, PinsInMemory
from firmware.hal.gpio import Pins, make_mcp3008
from firmware.hal.ports import PinError
from firmware.hal.wiring import BatteryAdc, load_wiring

if TYPE_CHECKING:
    from pathlib import Path

    from firmware.hal.ports import Battery

FIELDS = tuple(tomllib.loads((files("firmware.game.insel") / "board.toml").read_text(encoding="utf-8"))["layout"])
SHIPPED = (files("firmware.hal") / "wiring.toml").read_text(encoding="utf-8")
ADC = BatteryAdc(channel=2, divider=3.0, low_v=4.4)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Supply:
    """Batteries behind a divider at an emulated MCP3008, looked at once a second as the loop does."""

    def __init__(self) -> None:
        self.clock = Clock()
        factory = PinsInMemory()
        self.adc = factory.adc
        self.pins = Pins(lambda: factory, self.clock)
        self.volts(6.0)
        self.battery = AdcBattery(self.pins, ADC)

    def volts(self, volts: float) -> None:
        self.adc.volts[ADC.channel] = volts / ADC.divider

    def seconds(self, count: int) -> list[bool]:
        seen = []
        for _ in range(count):
            self.clock.now += 1.0
            seen.append(self.battery.is_low())
        return seen


@pytest.fixture
def supply() -> Any:
    supply = Supply()
    yield supply
    supply.battery.close()
    supply.pins.close()


def volts(battery: Battery) -> float | None:
    return battery.volts()


# --- the MCP3008


@pytest.mark.parametrize("volts", [0.0, 0.5, 1.65, 3.0, 3.2])
@pytest.mark.parametrize("channel", [0, 5, 7])
def test_gpiozero_s_driver_reads_the_emulated_chip(channel: int, volts: float) -> None:
    factory = PinsInMemory()
    factory.adc.volts[channel] = volts
    factory.adc.volts[channel ^ 1] = 1.0
    device = make_mcp3008(factory, channel)
    assert device.voltage == pytest.approx(volts, abs=3.3 / 1023)
    device.close()
    factory.close()


def test_the_bits_are_those_of_the_data_sheet() -> None:
    adc = EmulatedMcp3008()
    adc.volts[6] = 3.3 * 0b1010110011 / 1024 + 0.001
    adc.volts[7] = adc.volts[6] / 2
    assert adc.transfer([0b00000001, 0b1110_0000, 0]) == [0, 0b10, 0b10110011], "figure 6-1: the last ten bits"
    assert adc.transfer([0b11110_000, 0, 0]) == [0b1, 0b01011001, 0b10000000], "without leading zeros as early"
    assert adc.transfer([0b00000001, 0b0110_0000, 0]) == [0, 0b1, 0b01011001], "differential: 6 over 7"
    assert adc.transfer([0, 0, 0]) == [0, 0, 0], "no start bit, no answer"
    assert adc.transfer([0b00000001]) == [0]


def test_a_voltage_beyond_the_reference_reads_full() -> None:
    factory = PinsInMemory()
    factory.adc.volts[0] = 5.0
    device = make_mcp3008(factory, 0)
    assert device.voltage == pytest.approx(3.3)
    device.close()
    factory.close()


# --- the divider, and what counts as weak


def test_the_voltage_is_that_before_the_divider(supply: Supply) -> None:
    supply.volts(5.1)
    assert supply.battery.volts() == pytest.approx(5.1, abs=0.02)
    supply.volts(9.0)
    assert supply.battery.volts() == pytest.approx(9.0, abs=0.02)


def test_a_loud_word_is_no_weak_battery(supply: Supply) -> None:
    assert not supply.battery.is_low()
    for _ in range(10):
        supply.volts(4.0)
        assert not any(supply.seconds(int(LASTING_S)))
        supply.volts(5.0)
        assert not any(supply.seconds(1))


def test_a_weak_battery_is_believed_after_two_seconds_and_stays_weak_as_it_recovers(supply: Supply) -> None:
    assert not supply.battery.is_low()
    supply.volts(4.3)
    assert supply.seconds(4) == [False, False, True, True]
    supply.volts(4.4 + FULL_AGAIN_V - 0.05)
    assert all(supply.seconds(10)), "recovered, not changed"
    supply.volts(6.0)
    assert supply.seconds(4) == [True, True, False, False]


def test_batteries_that_are_weak_at_power_on_are_known_at_once(supply: Supply) -> None:
    supply.volts(4.0)
    assert supply.battery.is_low()


def test_a_supervisor_s_pin_must_be_low_for_two_seconds_as_well() -> None:
    clock = Clock()
    pins = Pins(PinsInMemory, clock)
    battery = GpioBattery(pins, 27)
    assert not battery.is_low()
    assert volts(battery) is None
    seen = []
    pins.factory().pin(27).drive_low()
    for tenth in range(25):
        clock.now = tenth / 10
        seen.append(battery.is_low())
    assert seen == [False] * 20 + [True] * 5
    pins.factory().pin(27).drive_high()
    assert battery.is_low()
    clock.now += LASTING_S
    assert not battery.is_low()
    battery.close()
    battery.close()
    assert not battery.is_low()
    pins.close()


def test_a_missing_mcp3008_is_named_and_counts_as_full() -> None:
    def no_factory() -> Any:
        raise PinError("no GPIO here")

    battery = AdcBattery(Pins(no_factory, Clock()), ADC)
    assert not battery.is_low()
    assert battery.volts() is None
    assert [str(fault) for fault in battery.faults()] == [
        "the low-battery signal on MCP3008 channel 2 cannot be used: no GPIO here"
    ]
    battery.close()


def test_a_fixed_battery_says_what_it_was_told() -> None:
    assert not FixedBattery().is_low()
    assert FixedBattery(low=True).is_low()
    assert volts(FixedBattery()) is None
    assert FixedBattery().faults() == []


# --- wiring.toml


def wiring_with(tmp_path: Path, battery: str, star: int = 5) -> Path:
    line = next(line for line in SHIPPED.splitlines() if line.startswith("low_pin"))
    path = tmp_path / "wiring.toml"
    path.write_text(SHIPPED.replace(line, battery).replace("star = 5 ", f"star = {star} "), encoding="utf-8")
    return path


def test_an_emulated_volcano_measures_its_batteries(tmp_path: Path) -> None:
    path = wiring_with(tmp_path, "mcp3008_channel = 7\ndivider = 2\nlow_v = 3.3\n")
    clock = Clock()
    mock = mock_hardware(load_wiring(path, FIELDS), clock)
    battery = mock.hardware.battery
    assert battery.volts() == pytest.approx(3.3 * 1.2, abs=0.02)
    assert not battery.is_low()
    mock.set_battery_low(True)
    battery.is_low()
    clock.now = LASTING_S
    assert battery.is_low()
    assert mock.hardware.faults() == []
    mock.close()


def test_the_usual_divider_and_limit(tmp_path: Path) -> None:
    wiring = load_wiring(wiring_with(tmp_path, "mcp3008_channel = 0"), FIELDS)
    assert wiring.battery_adc == BatteryAdc(0, 3.0, 4.4)
    assert wiring.battery_low is None
    assert load_wiring(None, FIELDS).battery_adc is None


@pytest.mark.parametrize(
    ("battery", "star", "problem"),
    [
        ("mcp3008_channel = 8", 5, "battery.mcp3008_channel: must be from 0 to 7, is 8"),
        ("mcp3008_channel = 0\nlow_pin = 27", 5, "battery.mcp3008_channel: the batteries have a low_pin already"),
        ("mcp3008_channel = 0\ndivider = 1\n", 5, "battery.low_v: 4.4 V cannot be measured; the divider ends at 3.3 V"),
        ("mcp3008_channel = 0\ndivider = 0.5\n", 5, "battery.divider: must be from 1.0 to 100.0, is 0.5"),
        ("low_pin = 27\nlow_v = 3.0", 5, "battery.low_v: is for an MCP3008; give its mcp3008_channel"),
        ("mcp3008_channel = 0", 7, "lights.star: GPIO 7 is needed for SPI (the MCP3008); take another"),
        ("mcp3008_channel = 0", 11, "lights.star: GPIO 11 is needed for SPI (the MCP3008); take another"),
    ],
)
def test_a_wrong_battery_is_named(tmp_path: Path, battery: str, star: int, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_wiring(wiring_with(tmp_path, battery, star), FIELDS)
    assert problem in str(caught.value)


def test_without_an_mcp3008_the_spi_pins_are_free(tmp_path: Path) -> None:
    assert load_wiring(wiring_with(tmp_path, "low_pin = 27", 8), FIELDS).lights
