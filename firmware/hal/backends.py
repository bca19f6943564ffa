"""A whole volcano's hardware: the real one, and the emulated one.

They differ in the lowest layer only: emulated chips instead of `/dev/i2c-1`, pins in memory instead of the Pi's. No
hardware library is imported before a backend is opened. Pins are there at once, for the greeting asks the push button
and the battery; bus and chips are made ready when they are first looked at, while the greeting is heard.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from firmware.hal.battery import battery
from firmware.hal.gpio import GpioButton, GpioLights, Pins, lean_gpiozero, open_pi_pins
from firmware.terms import SYMBOLS, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firmware.hal.bus import Bus, CountingBus
    from firmware.hal.calibration import Calibration
    from firmware.hal.emulated_bus import EmulatedBus
    from firmware.hal.emulator import Chip
    from firmware.hal.hands import Hands
    from firmware.hal.physics import TablePhysics
    from firmware.hal.touch_board import Mpr121Board
    from firmware.hal.wiring import Wiring
    from firmware.terms import Fault, Grip


class Hardware:
    """Everything that the loop polls and drives.

    Args:
        wiring: which pad and pin is where, as the wiring file says.
        pins: the header's.
        open_bus: the bus that the chips are on, and what opens it again when a chip is lost.
        calibration: what was learnt of the board.

    Raises:
        CalibrationError: the calibration was made for other wires.
    """

    def __init__(
        self,
        wiring: Wiring,
        pins: Pins,
        open_bus: Callable[[], tuple[Bus, Callable[[], None]]],
        calibration: Calibration | None,
    ) -> None:
        if calibration is not None:
            calibration.wired(wiring)
        self._wiring, self._open_bus, self._calibration = wiring, open_bus, calibration
        self.pins = pins
        self.lights = GpioLights(pins, wiring.lights)
        self.button = GpioButton(pins, wiring.button)
        self.battery = battery(wiring, pins)

    @cached_property
    def _opened(self) -> tuple[Bus, Callable[[], None]]:
        return self._open_bus()

    @property
    def bus(self) -> Bus:
        """What the chips are on: for those who look at them beside the game, as a check does."""
        return self._opened[0]

    def reopen_bus(self) -> None:
        """The first remedy for a bus that hangs: open it anew, and free an SDA that a chip holds. Never raises."""
        self._opened[1]()

    @cached_property
    def touch(self) -> Mpr121Board:
        """The pads."""
        from firmware.hal.touch_board import Mpr121Board  # noqa: PLC0415 - while the greeting is heard

        return Mpr121Board(self._wiring, *self._opened, self._calibration)

    def poll(self, now: float) -> Grip | None:
        """What is due at each of the 50 polls a second: the pads, and the lights' blinking. `now` as of the clock."""
        self.lights.tick(now)
        return self.touch.poll(now)

    def faults(self) -> list[Fault]:
        """What does not work now."""
        return [*self.touch.faults(), *self.lights.faults(), *self.button.faults(), *self.battery.faults()]

    def close(self) -> None:
        """Give everything back; harmless when called again."""
        if "touch" in vars(self):  # else nobody has ever looked at it
            self.touch.close()
        self.lights.close()
        self.button.close()
        self.battery.close()
        self.pins.close()


class MockHardware:
    """An emulated volcano and what a hand can do to it; the arguments are those of `mock_hardware`."""

    def __init__(
        self,
        wiring: Wiring,
        clock: Callable[[], float],
        *,
        seed: int,
        noise_counts: float,
        physics: TablePhysics | None,
        calibration: Calibration | None,
        soldered: Wiring | None,
    ) -> None:
        with lean_gpiozero():
            from firmware.hal.emulated_pins import PinsInMemory  # noqa: PLC0415 - a real board never needs it

        self.wiring = wiring
        self._clock, self._seed, self._noise_counts, self._physics = clock, seed, noise_counts, physics
        pins = PinsInMemory()
        self.adc = pins.adc
        self.hardware = Hardware(
            wiring, Pins(lambda: pins, clock), lambda: (self.bus, self.emulated_bus.reopen), calibration
        )
        if soldered is None:  # absent pads are there, though nobody reads them
            soldered = wiring if calibration is None else replace(calibration, absent=frozenset()).wired(wiring)
        self._soldered = soldered
        self.set_battery_low(False)

    @cached_property
    def hands(self) -> Hands:
        """The hands, and the table that they act on."""
        from firmware.hal.hands import Hands  # noqa: PLC0415 - while the greeting is heard
        from firmware.hal.physics import TablePhysics  # noqa: PLC0415

        return Hands(self._soldered, self._chips, self._physics or TablePhysics(), self._seed)

    @cached_property
    def _chips(self) -> Mapping[int, Chip]:
        from firmware.hal.emulator import Chip  # noqa: PLC0415

        count = len(self._soldered.chips)
        return {
            chip.address: Chip(self._clock, noise_counts=self._noise_counts, seed=self._seed * count + number)
            for number, chip in enumerate(self._soldered.chips)
        }

    @property
    def chips(self) -> Mapping[int, Chip]:
        """The chips by their addresses, wired to the table."""
        _ = self.hands
        return self._chips

    @cached_property
    def emulated_bus(self) -> EmulatedBus:
        """What can be disturbed."""
        from firmware.hal.emulated_bus import EmulatedBus  # noqa: PLC0415

        return EmulatedBus(self.chips)

    @cached_property
    def bus(self) -> CountingBus:
        """What the board is read through."""
        from firmware.hal.bus import CountingBus  # noqa: PLC0415

        return CountingBus(self.emulated_bus)

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
    return MockHardware(
        wiring,
        clock,
        seed=seed,
        noise_counts=noise_counts,
        physics=physics,
        calibration=calibration,
        soldered=soldered,
    )


def real_hardware(wiring: Wiring, clock: Callable[[], float], calibration: Calibration | None = None) -> Hardware:
    """The volcano on this Pi. Parts that do not answer are named in `faults()`; they raise nothing.

    Raises:
        CalibrationError: the calibration was made for other wires.
    """

    def open_bus() -> tuple[Bus, Callable[[], None]]:
        from firmware.hal.bus import LinuxBus  # noqa: PLC0415 - while the greeting is heard

        bus = LinuxBus(wiring.bus, clock, wiring.clock_hz)
        return bus, bus.reopen

    return Hardware(wiring, Pins(open_pi_pins, clock), open_bus, calibration)
