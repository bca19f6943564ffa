"""When a hand has closed: the level of a gripped field, averaged until mean, slope and noise say that it is at rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING

from firmware.hal.raised import STILL, STILL_PF, pf_per_count

if TYPE_CHECKING:
    from firmware.hal.raised import Raised

MEASUREMENTS = 3
"""A grip is judged by the median of three measurements that agree: one spike cannot decide."""

MOST_MEASUREMENTS = 25
"""After so many, half a second, noise is lived with."""

ROUNDED_COUNTS = 0.41
"""What averaging does not take away (standard deviation): level and rest are both rounded to whole counts, by 0.29."""

ERROR_PF = 0.06
ERROR = 0.025
"""Measurements are averaged until the mean's standard error is no more than this, or this share of it."""

FAR = 4.0
FAR_SHARE = 0.02
"""So many standard deviations away, and by this share, is no noise: a hand moves."""

SLOPE_ERRORS = 3.0
"""A slope of so many standard errors is no noise either."""

SURELY = 1.5
"""So many standard errors are added to a slope that must be small."""

GROWTH_PER_S = 0.35
"""Below this share of itself a second no hand is closing that takes two seconds at most."""

GROWTH = 0.4
"""A field whose hand still closes has come to its level in the time the hand has taken so far: it grows by no less than
this share of its level in as long.
"""

STILL_TIMES = 1.5
"""What has stood still, though it would have left its bounds so many times over if a hand were closing, has closed."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A level that has come to rest, with its standard error, in picofarads."""

    rise_pf: float
    error_pf: float


def settled_level(
    samples: list[tuple[float, float]], idle_pf: float, noise_counts: float, raised: Raised
) -> Settled | None:
    """The mean of the last measurements, None while a hand may still be closing or more of them are needed.

    `samples` are seconds and picofarads, `idle_pf` the pad at rest. A hand that closes evenly raises a field by its
    whole level in as long as it has taken so far: what grows by less than `GROWTH` of that has closed, and so has what
    has stood still for longer than such a hand could.
    """
    if len(samples) < MEASUREMENTS:
        return None
    patient = len(samples) < MOST_MEASUREMENTS
    count_pf = pf_per_count(idle_pf, samples[-1][1])
    noise_pf = noise_counts * count_pf
    for count in range(len(samples), MEASUREMENTS - 1, -1):
        last = samples[-count:]
        mean_pf, slope_pf_per_s, slope_error = _line(last, noise_pf)
        if max(abs(rise_pf - mean_pf) for _, rise_pf in last) > max(FAR * noise_pf, FAR_SHARE * mean_pf):
            continue
        if abs(slope_pf_per_s) > SLOPE_ERRORS * slope_error:
            continue
        error_pf = noise_pf / math.sqrt(count)
        if patient or count < len(samples):
            if error_pf > max(ERROR_PF, ERROR * mean_pf):
                return None
            now = samples[-1][0]
            growth_pf_per_s = max(GROWTH_PER_S, GROWTH / raised.took_s(now)) * mean_pf
            still = growth_pf_per_s * (now - raised.still_since_s) > STILL_TIMES * (STILL_PF + STILL * mean_pf)
            if not still and abs(slope_pf_per_s) + SURELY * slope_error > growth_pf_per_s:
                return None
        return Settled(mean_pf, math.hypot(error_pf, ROUNDED_COUNTS * count_pf))
    return None


def noise_seen(samples: list[tuple[float, float]], idle_pf: float) -> float:
    """Standard deviation in counts by the middle second difference: neither a hand nor a spike shows; 0 if too few."""
    if len(samples) < 2 * MEASUREMENTS:
        return 0.0
    pf = [rise_pf for _, rise_pf in samples]
    second = [one - 2 * two + three for one, two, three in zip(pf, pf[1:], pf[2:], strict=False)]
    return 1.48 * median(abs(each) for each in second) / math.sqrt(6) / pf_per_count(idle_pf, pf[-1])


def _line(samples: list[tuple[float, float]], noise_pf: float) -> tuple[float, float, float]:
    """Mean, slope of the best line, and the slope's standard error."""
    mean_s, mean_pf = fmean(time_s for time_s, _ in samples), fmean(rise_pf for _, rise_pf in samples)
    spread = sum((time_s - mean_s) ** 2 for time_s, _ in samples)
    slope = sum((time_s - mean_s) * (rise_pf - mean_pf) for time_s, rise_pf in samples) / spread
    return mean_pf, slope, noise_pf / math.sqrt(spread)
