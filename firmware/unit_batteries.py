"""What the unit knows of its batteries: weak at power-on, or since; that they have become weak is said once."""

from __future__ import annotations

WEAKENED_S = 5.0
"""Batteries are weak in mid-game when they have been so for so long: a loud note makes them dip for less; estimate."""


class Batteries:
    """Times in seconds. `low_at_power_on`: they were weak then; `told`: it has been said that they became so since."""

    def __init__(self, *, low_at_power_on: bool = False, weak_since_s: float | None = None, told: bool = False) -> None:
        self.low_at_power_on = low_at_power_on
        self.told = told
        self._weak_since_s = weak_since_s

    def measure(self, now: float, *, low: bool) -> None:
        """The supply as it is now."""
        if not low:
            self._weak_since_s = None
        elif self._weak_since_s is None:
            self._weak_since_s = now

    @property
    def weak(self) -> bool:
        """Whether they are weak now."""
        return self._weak_since_s is not None

    @property
    def low(self) -> bool:
        """Whether they were weak at power-on, or are now."""
        return self.low_at_power_on or self.weak

    @property
    def due_s(self) -> float | None:
        """When it is to be said that they have become weak; None if they have not, or if it is known."""
        if self._weak_since_s is None or self.low_at_power_on or self.told:
            return None
        return self._weak_since_s + WEAKENED_S
