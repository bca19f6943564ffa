"""What the firmware needs of the hardware.

Each port has a real and a mock backend that differ in the lowest layer only. No port may raise into a game: a missing
or broken part is logged once, named in `faults()`, and tried again.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from firmware.terms import VolcanoError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from firmware.hal.wiring import Rail
    from firmware.terms import Fault, Figure, Grip, Likelihood, Symbols


POLLS_PER_S = 50
"""How often the hardware is polled: ten milliseconds on average are added to a touch; the chips need 20 to 50."""


class HardwareError(VolcanoError, OSError):
    """A part does not answer; the text names chip, pad or pin and what to check."""


class BusError(HardwareError):
    """Nothing answers on the I2C bus, or the bus itself is stuck."""


class PinError(HardwareError):
    """A GPIO pin cannot be opened."""


class TouchBoard(Protocol):
    """The board's pads: 23 fields and 6 Touch fields on up to four MPR121."""

    def poll(self, now: float) -> Grip | None:
        """Called `POLLS_PER_S` times a second; a `Grip` once per contact, when settled. `now` in seconds, monotonic."""

    def faults(self) -> Sequence[Fault]:
        """What does not work now, empty if all is well."""

    def close(self) -> None:
        """Give the hardware back; harmless when called again."""


@dataclass(frozen=True, slots=True)
class GripReading:
    """What was measured while a figure was gripped and a Touch field touched. Rises in picofarads."""

    field: str
    rise_pf: float
    """How far the gripped field has risen above its rest."""
    rails_pf: Mapping[Rail, float] = dataclasses.field(default_factory=dict)
    """How far each rail has risen above its rest; empty on a board without rails."""
    badge: Figure | None = None
    """The figure whose colour pad goes with this grip, if one does."""
    error_pf: float = 0.1
    """Standard error of `rise_pf`."""
    idle_pf: float = 80.0
    """The field at rest."""
    touch_pf: float | None = None
    """How far the Touch field has risen above its rest, None where it could not be measured."""
    touch_idle_pf: float = 80.0
    """The Touch field at rest."""


class FigureReader(Protocol):
    """What a grip's reading says about the figure."""

    def likelihood(self, reading: GripReading) -> Likelihood:
        """Likelihood of `reading` for white, red, green and black."""


class SymbolLights(Protocol):
    """The five lights."""

    def show(self, symbols: Symbols) -> None:
        """Light exactly these; blink at 1 Hz if asked."""

    def close(self) -> None:
        """All dark, pins given back."""


class PushButton(Protocol):
    """The push button on the volcano."""

    def is_pressed(self) -> bool:
        """The level now, not debounced; the loop polls it."""

    def close(self) -> None:
        """Pin given back."""


class Battery(Protocol):
    """The supply."""

    def is_low(self) -> bool:
        """Whether the batteries are weak."""

    def volts(self) -> float | None:
        """Their voltage, for the check; None if nobody measures it."""

    def close(self) -> None:
        """Pin given back."""
