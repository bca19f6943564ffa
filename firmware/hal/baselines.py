"""Where a chip's baselines have left its pads' rest, and what they should be.

The chip itself decides what is touched, by its baselines. They follow what it measures, so a sag of the supply takes
them away; and their registers have eight bits of the ten. Pure: snapshots in, counts out.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firmware.hal.levels import Levels
    from firmware.hal.mpr121 import Snapshot

OFF_COUNTS = 5
"""A baseline so far above rest was taken there by a sag of the supply, or crept there with the noise: all readings rise
when VDD falls, and a baseline follows upward at once, but not down again. More than a step of a baseline's register;
half of it is enough where a pad seems touched that shows no hand.
"""

MEND_PAUSE_S = 0.3
"""Baselines are put back to rest at most so often: the chip's status means nothing for a moment each time."""

MISSED_S = 0.08
STEP_COUNTS = 4
"""A field that shows a hand for so long without being called touched has a baseline below its rest: what is written to
the register loses up to a step, less one, and a hand that comes before it has risen again is not enough below it.
"""


class Baselines:
    """Of one chip.

    Args:
        levels: its pads', which have taken over each snapshot before it is looked at here.
    """

    def __init__(self, levels: Levels) -> None:
        self._levels = levels
        self._put_s = -math.inf
        self.sagged_s = -math.inf
        """When they were found taken away by a sag of the supply that has gone."""
        self._missed: frozenset[int] = frozenset()
        """The fields that show a hand and are not called touched, all since then."""
        self._missed_since_s = 0.0

    def wrong(self, snapshot: Snapshot, mask: int, now: float) -> Mapping[int, float]:
        """What baselines should be put to, in counts by electrode; nothing where all are well, or were put just now.

        Else pads that nobody touches would seem touched, and those that are held would not.
        """
        if now - self._put_s < MEND_PAUSE_S or not (rest := self._levels.rest_counts()):
            return {}
        if self._missed_for_long(mask | snapshot.touched, now):
            rest = {electrode: rest[electrode] + STEP_COUNTS - 1 for electrode in self._missed}
        elif self._sag_has_gone(snapshot, rest):
            self.sagged_s = now
            self._levels.doubt_baselines()
        else:
            return {}
        self._put_s = now
        return rest

    def _missed_for_long(self, touched: int, now: float) -> bool:
        missed = self._levels.missed(touched)
        if not missed & self._missed:
            self._missed, self._missed_since_s = missed, now
        self._missed &= missed
        return bool(self._missed) and now - self._missed_since_s >= MISSED_S

    def _sag_has_gone(self, snapshot: Snapshot, rest: Mapping[int, float]) -> bool:
        """Whether a sag of the supply has taken the baselines away, and is over."""
        off = {electrode: snapshot.baseline[electrode] - counts for electrode, counts in rest.items()}
        unheld = snapshot.touched & self._levels.touchable & ~self._levels.touched()
        seeming = any(unheld >> each & 1 and above > OFF_COUNTS / 2 for each, above in off.items())
        if not seeming and median(off.values()) <= OFF_COUNTS:
            return False
        return median(snapshot.filtered[electrode] - counts for electrode, counts in rest.items()) <= OFF_COUNTS / 2
