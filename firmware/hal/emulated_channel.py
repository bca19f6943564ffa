"""A pad's capacitance in virtual time, and what the MPR121 makes of its readings (touch, baseline).

Sources: data sheet Rev. 4, 5.6 and 5.7; AN3891 (baseline); AN3892 (touch and debounce).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from functools import cache
from statistics import NormalDist

BARE_PIN_PF = 10.0
"""An electrode with nothing wired to it; a pin has up to 15 pF (data sheet, electrical characteristics)."""


class Ramps:
    """A physical value in virtual time, as linear ramps: a pad's capacitance to ground with wire and pin, or VDD."""

    __slots__ = ("_ramps", "settled_us")

    def __init__(self, value: float = BARE_PIN_PF) -> None:
        self._ramps: list[tuple[int, int, float, float]] = [(0, 0, value, value)]
        self.settled_us = 0
        """From here on the value is constant."""

    def set(self, now_us: int, value: float, over_us: int, forget_before_us: int) -> None:
        """Move from the present value to `value` within `over_us`; nobody asks for times before the last."""
        ramps = self._ramps
        while len(ramps) > 1 and ramps[1][0] <= forget_before_us:
            del ramps[0]
        ramps.append((now_us, now_us + over_us, self.at(now_us), value))
        self.settled_us = now_us + over_us

    def at(self, time_us: int) -> float:
        """The value at `time_us`; an infinite capacitance is a short circuit."""
        for begin, end, first, last in reversed(self._ramps):
            if time_us >= end:
                return last
            if time_us >= begin:
                return first + (last - first) * (time_us - begin) / (end - begin)
        return self._ramps[0][2]


class Regime(Enum):
    """Which of the three sets of filter registers is at work; a change clears the counters."""

    EQUAL = "equal"
    RISING = "rising"
    FALLING = "falling"
    TOUCHED = "touched"


@dataclass(frozen=True, slots=True)
class BaselineFilter:
    """One regime's registers: two half deltas in counts, two numbers of values (n means n + 1)."""

    mhd: int
    nhd: int
    ncl: int
    fdl: int


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """What the registers say about one channel. Thresholds in counts; debounce n means n + 1 updates in a row."""

    touch_threshold: int
    release_threshold: int
    debounce_touch: int
    debounce_release: int
    rising: BaselineFilter
    falling: BaselineFilter
    touched: BaselineFilter
    tracking: bool


class Channel:
    """Touch decision and baseline filter of one channel, one `step` for each update.

    `advance` is many steps with one reading at once, and exactly equal to them.
    """

    __slots__ = (
        "_count",
        "_debounce",
        "_filled",
        "_regime",
        "_sum",
        "baseline",
        "changes",
        "data",
        "settings",
        "touched",
    )

    def __init__(self, settings: ChannelSettings, baseline: int) -> None:
        self.settings = settings
        self.baseline = baseline
        self.data = 0
        self.touched = False
        self.changes = 0
        """How often `touched` has changed."""
        self._debounce = 0
        self._regime = Regime.EQUAL
        self._sum = 0
        self._filled = 0
        self._count = 0

    def state(self) -> tuple[object, ...]:
        """Everything that the next step depends on, for comparison."""
        counters = (self._debounce, self._regime, self._sum, self._filled, self._count)
        return (self.data, self.baseline, self.touched, self.changes, *counters)

    def step(self, data: int) -> None:
        """One update with a reading of 0..1023 counts: the decision on the present baseline, then the baseline."""
        self.data = data
        self._decide(data)
        if not self.settings.tracking:
            return
        filter_ = self._enter_regime(data)
        if filter_ is not None:
            self._average(filter_, data, 1)

    def steps(self, readings: list[int]) -> None:
        """A step for each reading, quicker where nothing is touched."""
        settings = self.settings
        lowest = self.baseline - settings.touch_threshold
        for data in readings:
            if self.touched or self._debounce or data < lowest or not settings.tracking:
                self.step(data)
                lowest = self.baseline - settings.touch_threshold
                continue
            baseline = self.baseline
            if data == baseline:
                regime, filter_ = Regime.EQUAL, None
            elif data > baseline:
                regime, filter_ = Regime.RISING, settings.rising
            else:
                regime, filter_ = Regime.FALLING, settings.falling
            if regime is not self._regime:
                self._regime = regime
                self._sum = self._filled = self._count = 0
            if filter_ is None:
                continue
            if self._filled < filter_.fdl:
                self._sum += data
                self._filled += 1
            else:
                self._average(filter_, data, 1)
                lowest = self.baseline - settings.touch_threshold
        if readings:
            self.data = readings[-1]

    def advance(self, data: int, updates: int) -> bool:
        """`updates` steps with the same reading; True if any number of further ones would change nothing."""
        while updates > 0:
            if self._decision_pending(data):
                self.step(data)
                updates -= 1
                continue
            # The decision rests until the baseline moves, and that moves only when an average is complete.
            self.data = data
            if not self.settings.tracking:
                return True
            filter_ = self._enter_regime(data)
            if filter_ is None:
                return True
            taken = min(updates, filter_.fdl + 1 - self._filled)
            self._average(filter_, data, taken)
            updates -= taken
        return False

    def _decision_pending(self, data: int) -> bool:
        delta = self.baseline - data
        settings = self.settings
        if self.touched:
            return self._debounce > 0 or delta < settings.release_threshold
        return self._debounce > 0 or delta > settings.touch_threshold

    def _decide(self, data: int) -> None:
        delta = self.baseline - data
        settings = self.settings
        if self.touched:
            changing, needed = delta < settings.release_threshold, settings.debounce_release
        else:
            changing, needed = delta > settings.touch_threshold, settings.debounce_touch
        self._debounce = self._debounce + 1 if changing else 0
        if self._debounce > needed:
            self.touched = not self.touched
            self.changes += 1
            self._debounce = 0

    def _enter_regime(self, data: int) -> BaselineFilter | None:
        """The filter for this reading, its counters cleared if the regime is new; None: the baseline cannot move."""
        filter_: BaselineFilter | None
        if self.touched:
            regime, filter_ = Regime.TOUCHED, self.settings.touched
            if filter_.nhd == 0:
                filter_ = None
        elif data > self.baseline:
            regime, filter_ = Regime.RISING, self.settings.rising
        elif data < self.baseline:
            regime, filter_ = Regime.FALLING, self.settings.falling
        else:
            regime, filter_ = Regime.EQUAL, None
        if regime is not self._regime:
            self._regime = regime
            self._sum = self._filled = self._count = 0
        return filter_

    def _average(self, filter_: BaselineFilter, data: int, values: int) -> None:
        """Take in `values` readings (at most to the end of an average) and act on the average if it is complete."""
        self._sum += data * values
        self._filled += values
        if self._filled <= filter_.fdl:
            return
        average = (2 * self._sum + self._filled) // (2 * self._filled)
        self._sum = self._filled = 0
        away = average - self.baseline
        if abs(away) <= 2 * filter_.mhd:  # regime touched has no MHD, it is 0 there
            self.baseline = average
            self._count = 0
            return
        self._count += 1
        if self._count > filter_.ncl:
            self._count = 0
            self.baseline += int(math.copysign(min(filter_.nhd, abs(away)), away))


NOISE_STEPS = 1 << 14


@cache
def _normal() -> list[float]:
    """Standard normal values in an order that a generator of full period gives, twice over so that it can be cut."""
    spread = NormalDist()
    step, values = 0, []
    for _ in range(NOISE_STEPS):
        step = (step * 0x2C5D + 0x1B3B) % NOISE_STEPS
        mixed = (step ^ step >> 7) * 0x1F35 % NOISE_STEPS
        values.append(spread.inv_cdf((mixed + 0.5) / NOISE_STEPS))
    return values * 2


def gauss(seed: int, channel: int, update: int, updates: int = 1) -> list[float]:
    """Standard normal noise of some updates of one channel, the same on every machine; at most `NOISE_STEPS`."""
    first = (seed * 0x9E3779B1 + channel * 0x85EBCA6B >> 3) + update & NOISE_STEPS - 1
    return _normal()[first : first + updates]
