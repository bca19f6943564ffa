"""The supply: a supervisor's pin, a voltage behind an MCP3008, or nobody who watches it.

A loudspeaker draws an ampere for a moment and the voltage dips with each loud word. So weak is only what has been weak
for two seconds, and full only what has been full for two seconds; the first look after power-on counts at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware.hal.gpio import Line, is_active, make_input, make_mcp3008
from firmware.terms import Fault, Part

if TYPE_CHECKING:
    from firmware.hal.gpio import Pins
    from firmware.hal.wiring import BatteryAdc, Wiring

LASTING_S = 2.0
"""How long the supply must be weak, or full again, until it is believed; longer than a loud word, estimate."""

FULL_AGAIN_V = 0.2
"""Weak batteries recover by about so much when the load goes; only what is higher has been changed or charged."""

CONVERSIONS = 4
"""So many readings in a row make one voltage: their mean halves the noise of one step (10 mV at a divider of 3)."""


class _Lasting:
    """A yes or no that must last before it counts."""

    def __init__(self) -> None:
        self._level: bool | None = None
        self._since_s: float | None = None

    def take(self, level: bool, now: float) -> bool:
        """What counts, now that `level` has been seen."""
        if self._level is None:
            self._level = level
        if level is self._level:
            self._since_s = None
        elif self._since_s is None:
            self._since_s = now
        elif now - self._since_s >= LASTING_S:
            self._level, self._since_s = level, None
        return self._level


class _WatchedBattery:
    """What the two kinds have in common: a line, and the last word about it."""

    def __init__(self, pins: Pins, line: Line) -> None:
        self._clock = pins.clock
        self._line = line
        self._lasting = _Lasting()
        self._line.device()

    def faults(self) -> list[Fault]:
        """One line if the supply cannot be watched."""
        return [self._line.fault] if self._line.fault else []

    def close(self) -> None:
        """Pins given back; harmless when called again."""
        self._line.close()


class GpioBattery(_WatchedBattery):
    """A supervisor that pulls its pin low when the batteries are weak."""

    def __init__(self, pins: Pins, low_pin: int) -> None:
        super().__init__(pins, Line(pins, low_pin, Part.BATTERY, "", make_input))

    def is_low(self) -> bool:
        """Whether the batteries are weak; full while the pin cannot be had."""
        low = self._line.use(is_active)
        return low is not None and self._lasting.take(low, self._clock())

    def volts(self) -> None:
        """The supervisor tells no voltage."""


class AdcBattery(_WatchedBattery):
    """A voltage divider at one channel of an MCP3008."""

    def __init__(self, pins: Pins, adc: BatteryAdc) -> None:
        super().__init__(pins, Line(pins, adc.channel, Part.BATTERY, "", make_mcp3008, at="MCP3008 channel"))
        self._adc = adc
        self._low = False

    def is_low(self) -> bool:
        """Whether the batteries are weak; full while the MCP3008 cannot be had."""
        volts = self.volts()
        if volts is None:
            return False
        self._low = volts < self._adc.low_v + (FULL_AGAIN_V if self._low else 0.0)
        return self._lasting.take(self._low, self._clock())

    def volts(self) -> float | None:
        """The voltage before the divider; None while the MCP3008 cannot be had."""
        measured: float | None = self._line.use(_mean_voltage)
        return None if measured is None else measured * self._adc.divider


def _mean_voltage(device: Any) -> float:
    return float(sum(device.voltage for _ in range(CONVERSIONS)) / CONVERSIONS)


class FixedBattery:
    """A supply that nobody watches: a mains adapter."""

    def __init__(self, *, low: bool = False) -> None:
        self.low = low

    def is_low(self) -> bool:
        """What was said."""
        return self.low

    def volts(self) -> None:
        """Nobody knows."""

    def faults(self) -> list[Fault]:
        """None."""
        return []

    def close(self) -> None:
        """Nothing to give back."""


def battery(wiring: Wiring, pins: Pins) -> GpioBattery | AdcBattery | FixedBattery:
    """The battery that `wiring` tells of."""
    if wiring.battery_adc is not None:
        return AdcBattery(pins, wiring.battery_adc)
    return FixedBattery() if wiring.battery_low is None else GpioBattery(pins, wiring.battery_low)
