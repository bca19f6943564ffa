"""What the emulated MPR121 makes of a channel's readings: touch and baseline.

Sources: data sheet Rev. 4, 5.6 and 5.7; AN3891 (baseline); AN3892 (touch and debounce).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Self

from firmware.hal import registers as reg


class Regime(Enum):
    """Which of the three sets of filter registers is at work; a change clears the counters."""

    EQUAL = "equal"
    RISING = "rising"
    FALLING = "falling"
    TOUCHED = "touched"


EQUAL, RISING, FALLING, TOUCHED = Regime  # looking a member up takes as long as half a step


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

    @classmethod
    def of(cls, registers: bytearray, channel: int) -> Self:
        """As the chip's registers stand now."""
        base = reg.MHD_PROX if channel == reg.PROX else reg.MHDR
        touch, release = registers[reg.TOUCH_THRESHOLD + 2 * channel :][:2]
        debounce = registers[reg.DEBOUNCE]
        return cls(
            touch_threshold=touch,
            release_threshold=release,
            debounce_touch=debounce & 7,
            debounce_release=debounce >> 4 & 7,
            rising=BaselineFilter(*registers[base : base + 4]),
            falling=BaselineFilter(*registers[base + 4 : base + 8]),
            touched=BaselineFilter(0, *registers[base + 8 : base + 11]),
            tracking=registers[reg.ECR] >> 6 != 1,
        )


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
        self._regime = EQUAL
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
        for data in readings:
            above = data - self.baseline
            if self.touched or self._debounce or -above > settings.touch_threshold or not settings.tracking:
                self.step(data)
                continue
            if above == 0:
                regime, filter_ = EQUAL, None
            elif above > 0:
                regime, filter_ = RISING, settings.rising
            else:
                regime, filter_ = FALLING, settings.falling
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
        if readings:
            self.data = readings[-1]

    def is_calm(self, lowest: int, highest: int) -> bool:
        """Whether no readings within these bounds can change `touched`, however the baseline follows them."""
        settings = self.settings
        if self.touched:
            held = not settings.tracking or settings.touched.nhd == 0
            return held and self.baseline - highest >= settings.release_threshold
        follows = max(self.baseline, highest, -(-self._sum // max(1, self._filled)))  # an average under way counts, too
        return follows - lowest <= settings.touch_threshold

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
            regime, filter_ = TOUCHED, self.settings.touched
            if filter_.nhd == 0:
                filter_ = None
        elif data > self.baseline:
            regime, filter_ = RISING, self.settings.rising
        elif data < self.baseline:
            regime, filter_ = FALLING, self.settings.falling
        else:
            regime, filter_ = EQUAL, None
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
