"""A whole volcano's hardware: the real one, and the emulated one.

They differ in the lowest layer only: emulated chips instead of `/dev/i2c-1`, pins in memory instead of the Pi's. No
hardware library is imported before a backend is opened.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from firmware.hal.battery import AdcBattery, FixedBattery, GpioBattery, battery
from firmware.hal.bus import CountingBus, LinuxBus
from firmware.hal.gpio import GpioButton, GpioLights, Pins, open_pi_pins
from firmware.hal.pads import Mpr121Board
from firmware.terms import SYMBOLS, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firmware.hal.bus import Bus
    from firmware.hal.calibration import Calibration
    from firmware.hal.emulated_bus import EmulatedBus
    from firmware.hal.emulated_pins import EmulatedMcp3008
    from firmware.hal.emulator import Chip
    from firmware.hal.hands import Hands
    from firmware.hal.physics import TablePhysics
    from firmware.hal.wiring import Wiring
    from firmware.terms import Fault, Grip


@dataclass(frozen=True, slots=True)
class Hardware:
    """Everything that the loop polls and drives."""

    touch: Mpr121Board
    lights: GpioLights
    button: GpioButton
    battery: GpioBattery | AdcBattery | FixedBattery
    pins: Pins
    bus: Bus
    """What the chips are on: for those who look at them beside the game, as a check does."""

    def poll(self, now: float) -> Grip | None:
        """What is due at each of the 50 polls a second: the pads, and the lights' blinking. `now` as of the clock."""
        self.lights.tick(now)
        return self.touch.poll(now)

    def faults(self) -> list[Fault]:
        """What does not work now."""
        return [*self.touch.faults(), *self.lights.faults(), *self.button.faults(), *self.battery.faults()]

    def close(self) -> None:
        """Give everything back; harmless when called again."""
        self.touch.close()
        self.lights.close()
        self.button.close()
        self.battery.close()
        self.pins.close()


@dataclass(frozen=True, slots=True)
class MockHardware:
    """An emulated volcano and what a hand can do to it."""

    hardware: Hardware
    hands: Hands
    chips: Mapping[int, Chip]
    emulated_bus: EmulatedBus
    bus: CountingBus
    wiring: Wiring
    adc: EmulatedMcp3008

    def press(self, down: bool) -> None:
        """Hold the push button down, or let it go: the pin is pulled to ground, or floats to its pull-up."""
        self._drive(self.wiring.button, low=down)

    def set_battery_low(self, low: bool) -> None:
        """Drain or change the batteries; nothing happens if the wiring has nothing that watches them."""
        if self.wiring.battery_adc is not None:
            self.adc.supply(self.wiring.battery_adc, low=low)
        if self.wiring.battery_low is not None:
            self._drive(self.wiring.battery_low, low=low)

    def lit(self) -> frozenset[Symbol]:
        """The lights that shine now, as read from their pins."""
        factory = self.hardware.pins.factory()
        return frozenset(symbol for symbol in SYMBOLS if factory.pin(self.wiring.lights[symbol]).state > 0)

    def _drive(self, number: int, *, low: bool) -> None:
        pin = self.hardware.pins.factory().pin(number)
        if low:
            pin.drive_low()
        else:
            pin.drive_high()

    def close(self) -> None:
        """Give everything back; harmless when called again."""
        self.hardware.close()


def mock_hardware(
    wiring: Wiring,
    clock: Callable[[], float],
    *,
    seed: int = 0,
    noise_counts: float = 0.0,
    physics: TablePhysics | None = None,
    calibration: Calibration | None = None,
    soldered: Wiring | None = None,
) -> MockHardware:
    """An emulated volcano.

    Args:
        wiring: which pad and pin is where, as the wiring file says.
        clock: seconds; drives chips, retries and blinking.
        seed: names the board: its pads' capacitances and the chips' noise.
        noise_counts: standard deviation of the chips' readings.
        physics: what the table is made of, if not the usual.
        calibration: what was learnt of the board.
        soldered: how the pads are really wired, if neither the file nor the calibration's map is right.

    Raises:
        CalibrationError: the calibration was made for other wires.
    """
    from firmware.hal.emulated_bus import EmulatedBus  # noqa: PLC0415  # a real board never needs it
    from firmware.hal.emulated_pins import PinsInMemory  # noqa: PLC0415
    from firmware.hal.emulator import Chip  # noqa: PLC0415
    from firmware.hal.hands import Hands  # noqa: PLC0415
    from firmware.hal.physics import TablePhysics  # noqa: PLC0415

    if soldered is None:  # absent pads are there, though nobody reads them
        soldered = wiring if calibration is None else replace(calibration, absent=frozenset()).wired(wiring)
    chips = {
        chip.address: Chip(clock, noise_counts=noise_counts, seed=seed * len(soldered.chips) + number)
        for number, chip in enumerate(soldered.chips)
    }
    hands = Hands(soldered, chips, physics or TablePhysics(), seed)
    emulated_bus = EmulatedBus(chips)
    bus = CountingBus(emulated_bus)
    pins = PinsInMemory()
    hardware = _hardware(wiring, bus, emulated_bus.reopen, Pins(lambda: pins, clock), calibration)
    mock = MockHardware(hardware, hands, chips, emulated_bus, bus, wiring, pins.adc)
    mock.set_battery_low(False)
    return mock


def real_hardware(wiring: Wiring, clock: Callable[[], float], calibration: Calibration | None = None) -> Hardware:
    """The volcano on this Pi. Parts that do not answer are named in `faults()`; they raise nothing.

    Raises:
        CalibrationError: the calibration was made for other wires.
    """
    bus = LinuxBus(wiring.bus, clock, wiring.clock_hz)
    return _hardware(wiring, bus, bus.reopen, Pins(open_pi_pins, clock), calibration)


def _hardware(
    wiring: Wiring, bus: Bus, reopen_bus: Callable[[], None], pins: Pins, calibration: Calibration | None
) -> Hardware:
    return Hardware(
        touch=Mpr121Board(wiring, bus, reopen_bus, calibration),
        lights=GpioLights(pins, wiring.lights),
        button=GpioButton(pins, wiring.button),
        battery=battery(wiring, pins),
        pins=pins,
        bus=bus,
    )
