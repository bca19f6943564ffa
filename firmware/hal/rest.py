"""What a chip's pads measure at rest, with whatever figure stands there, and how that follows what is measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

DRIFT_PF = 0.3
DRIFT_COUNTS = 2.5
DOUBT_S = 0.5
"""Idle levels follow changes up to this, or up to so many counts of noise, at once and smoothly; a greater rise is
believed when it is there still after so long: what a hand does the chip calls a touch by then.
"""

SURE_FALL = 2.0
"""A fall of so many times as much is no spike of noise."""

DRIFT_SHARE = 0.25
FOLLOW_S = 0.5
"""Share of a small change that one measurement moves the idle level by, no more often than this."""

CREEP_S = 1.5
"""What a level at rest has risen in this time before a touch was the hand that closed; estimate of the slowest."""

SETTLING_S = 0.5
YOUNG_S = 2.0
YOUNG_COUNTS = 1.5
GROWN_UP = 3
"""A new level at rest is the mean of what comes until it is two seconds old and differs by no more than so many counts
of noise: grips are measured from it. In its first half second the last finger may leave: then it begins anew, lower;
from its third measurement on it has gone.
"""


def drift_pf(count_pf: float) -> float:
    """What is drift or noise on a pad where a count is so much: with a long wire that is a quarter of a picofarad."""
    return max(DRIFT_PF, DRIFT_COUNTS * count_pf)


@dataclass(slots=True)
class _Young:
    """A new level at rest: since when, and the mean of how many measurements it is."""

    since_s: float
    measurements: int = 1


class RestLevels:
    """The levels at rest of one chip's pads.

    Args:
        picofarad: by electrode, nan where nothing is known; kept up to date.
    """

    def __init__(self, picofarad: list[float]) -> None:
        self._pf = picofarad
        self._doubted: dict[int, tuple[float, float]] = {}
        self._followed_s: dict[int, float] = {}
        self._young: dict[int, _Young] = {}
        self._before_pf: dict[int, tuple[float, float]] = {}
        """Since when a level at rest has been creeping up, and from where."""

    @property
    def doubtful(self) -> bool:
        """Some level has changed by more than drift and is to be seen once more."""
        return bool(self._doubted)

    def is_new(self, electrode: int) -> bool:
        """Whether a hand may still be leaving."""
        young = self._young.get(electrode)
        return young is not None and young.measurements < GROWN_UP

    def touched(self, electrode: int, now: float) -> None:
        """A hand has come: what the level has crept up just before was that hand."""
        self._doubted.pop(electrode, None)
        since_s, before_pf = self._before_pf.pop(electrode, (-math.inf, 0.0))
        if now - since_s <= CREEP_S:
            self._pf[electrode] = min(self._pf[electrode], before_pf)

    def follow(self, electrode: int, level_pf: float, count_pf: float, now: float) -> None:
        """Let an untouched pad's level at rest follow its measured one; `count_pf` is what a count is there.

        A fall is believed at once, a small one when it is seen twice: a figure was lifted off. A rise might be a hand
        on its way, which the chip will call a touch in a moment; so it must still be there a while later.
        """
        if not math.isfinite(level_pf):
            self._young.pop(electrode, None)  # no reading: a short to ground, and no hand that leaves
            return
        change_pf = level_pf - self._pf[electrode]
        if not math.isfinite(change_pf):
            self.begin(electrode, level_pf, now)
            return
        if electrode in self._young and self._grow_up(electrode, change_pf, YOUNG_COUNTS * count_pf, now):
            self._doubted.pop(electrode, None)
            return
        most_pf = drift_pf(count_pf)
        if abs(change_pf) <= most_pf:
            self._doubted.pop(electrode, None)
            if now - self._followed_s.get(electrode, -math.inf) >= FOLLOW_S:  # else a hand that closes slowly is drift
                self._followed_s[electrode] = now
                self._creep(electrode, DRIFT_SHARE * change_pf, now)
            return
        doubted_pf, since_s = self._doubted.get(electrode, (math.inf, now))
        if change_pf >= -SURE_FALL * most_pf:
            if change_pf < 0.0 and doubted_pf < self._pf[electrode]:
                level_pf = max(level_pf, doubted_pf)  # of two falls the smaller, a spike of noise is none
            elif abs(level_pf - doubted_pf) > most_pf:
                self._doubted[electrode] = level_pf, now
                return
            elif now - since_s < DOUBT_S:
                return
        self.begin(electrode, level_pf, now)

    def begin(self, electrode: int, level_pf: float, now: float) -> None:
        """A new level at rest."""
        self._doubted.pop(electrode, None)
        self._before_pf.pop(electrode, None)
        self._pf[electrode] = level_pf
        self._young[electrode] = _Young(now)

    def _creep(self, electrode: int, by_pf: float, now: float) -> None:
        """Move a level at rest a little, and know the way back."""
        if now - self._before_pf.get(electrode, (-math.inf, 0.0))[0] > CREEP_S:
            self._before_pf[electrode] = now, self._pf[electrode]
        self._pf[electrode] += by_pf

    def _grow_up(self, electrode: int, change_pf: float, noise_pf: float, now: float) -> bool:
        """Let a new level at rest settle; False if it is none any more, or something comes."""
        young = self._young[electrode]
        if now - young.since_s > YOUNG_S:
            del self._young[electrode]
        elif change_pf < -noise_pf and now - young.since_s < SETTLING_S:
            self._pf[electrode] += change_pf
            young.measurements = 1
        elif abs(change_pf) <= noise_pf:
            young.measurements += 1
            self._creep(electrode, change_pf / young.measurements, now)
        else:
            return False
        return True
