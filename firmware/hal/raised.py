"""A field that its chip calls touched: whether a hand holds a figure there, or one merely stands, or nothing does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from firmware.hal.levels import FIELD_RISE_PF, HAND_PF, IDLE_COUNTS, LOWEST_COUNTS

SPIKE = 3
"""Levels are medians of so many measurements: one spike is no peak and no rest."""

STILL_PF = 0.2
STILL = 0.06
"""A field that wanders by no more than this stands still."""

STEADY_PF = 0.4
STEADY = 0.06
STEADY_NOISE = 2.5
"""A held or standing figure's level wanders by no more than this, or by so many standard deviations of the noise."""

SETTLED_S = 0.1
"""A level is settled when it has been steady for so long."""

FIGURE_PF = 0.6
"""A figure that was left on a field has raised its level at rest by so much, half of what white shows, or has gone."""

RAISED_PF = 0.5
"""Less than this is nobody's hand: a quarter of what the lightest figure (3.3 pF) adds when gripped where it stood."""

FALLEN_COUNTS = 3.0
FALLEN_NOISE = 3.0
"""Nor is a smaller fall than this a hand that has let go, or a smaller rise one that has come back: so many counts, and
so many standard deviations of the noise.
"""

GONE = 0.35
"""Below this share of its peak a hand has let go, whatever stands there: the field's rest may be known badly."""

STEP_COUNTS = 1.5
"""A level at rest wanders by a count, rounding alone."""

STANDING_S = 10.0
"""So long a rise that a standing figure can cause, without a Touch field, is one: it came without a hand being seen."""

FLAT_S = 0.5
"""So long a field that its chip calls touched may show nothing at all."""

SURELY_S = 0.6
"""So long a rise of no more than the heaviest figure that stands is one, even if a Touch field is touched then."""

GLANCE_S = 1.0
"""So long a rise that may be one's is one beside another field that is gripped: nobody need wait for it."""

QUICK = 1.5
QUICK_UNSEEN_S = 0.12
SLOW_UNSEEN_S = 0.8
"""A hand that still closes began before its field was first measured: a moment before if the field was so many times
the touch threshold then, noise apart, or else as long as a slow hand takes to come so far.
"""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a figure shows on a field when nobody holds it."""

    most_pf: float
    surely_pf: float
    """Hardly a grip shows so little: what does for long stands."""
    together_pf: float
    """The same of figures that were set down there one after the other."""
    let_go: float
    """A hand has let go when the rise has fallen below this share of its peak, and below `together_pf`."""
    fall_pf: float = math.inf
    """Or by so much, where that is less."""
    unmoved_pf: tuple[float, float] = (math.inf, math.inf)
    """What lies between these and shows no more than before the Touch field was touched is no hand either."""

    def is_unmoved(self, rise_pf: float) -> bool:
        """Whether it may stand although no hand was seen to let go."""
        lowest_pf, highest_pf = self.unmoved_pf
        return lowest_pf <= rise_pf <= highest_pf


STANDING = Standing(2.0, HAND_PF, 3.3, 0.65)
"""At most its metal's 1.7 pF, whatever is in its foot; two of the others show 3.0 pF together."""

STANDING_ON_RINGS = Standing(12.5, 0.0, 12.5, 0.0, 0.9, (7.0, 12.0))
"""Its foot couples the centre to the rings beside it, of 15 pF each: 8 pF with one, 11.5 pF with three; estimate. From
a hand's 13.5 pF that is a small fall, and on batteries too small to be sure of. Such a figure is known by standing for
a second, or by the Touch field: on batteries a hand shows half a picofarad more as soon as its owner's finger, the
shortest way to ground, is on one. Through a painted head, a lacquered Touch field or with a helper's finger it may not,
and a figure that was carried there and not let go is not felt: the price of no ghosts.
"""

MORE_PF = 0.3
MORE_ERRORS = 5.0
"""So much more, and so many standard errors of the level, is more; what was before has an error, too."""


@dataclass(slots=True)
class Raised:
    """What is known of such a field; rises are above its rest."""

    since_s: float
    standing: Standing = STANDING
    first_s: float = 0.0
    quick: bool = False
    """Since when it has been measured above a standing figure's level, and whether it was there all at once."""
    recent_pf: tuple[float, ...] = ()
    rise_pf: float | None = None
    peak_pf: float = 0.0
    steady_pf: float = 0.0
    steady_since_s: float = 0.0
    mean_pf: float = 0.0
    mean_of: int = 0
    """What it has been since when without wandering: its first level, and the mean of so many measurements."""
    still_pf: float = 0.0
    still_since_s: float = 0.0
    high_s: float = 0.0
    """When the level was a hand's last."""
    stands: bool = False
    """The hand has let go: it is at rest from now on."""
    stands_pf: float = 0.0
    change_pf: float = RAISED_PF
    """The least change that is no noise."""
    step_pf: float = STILL_PF
    """The least change that is more than one count."""
    floor_pf: float = 0.0
    """What figures show here that were let go and have not been taken for the field's rest yet."""
    idle_pf: float = 0.0
    """The field's rest."""
    before_pf: float = 0.0
    """What it showed before the Touch field was touched."""
    passed_pf: float = 0.0
    """How much of its rise may come from fingers on the wires beside its own."""
    on_figure: bool = False
    """A figure is known to stand here: what shows more is a hand."""

    def measure(self, measured_pf: float, idle_pf: float, noise_counts: float, now: float) -> None:
        """Take one measurement: the rise, the pad at rest, both in picofarads, and how much of it may be noise."""
        self.idle_pf = idle_pf
        count_pf = pf_per_count(idle_pf, measured_pf)
        self.change_pf = max(RAISED_PF, (FALLEN_COUNTS + FALLEN_NOISE * noise_counts) * count_pf)
        self.step_pf = max(STILL_PF, STEP_COUNTS * count_pf)
        self.recent_pf = (*self.recent_pf[1 - SPIKE :], measured_pf - self.floor_pf)
        rise_pf = median(self.recent_pf)
        if self.rise_pf is None or self.fallen:
            self.first_s = now
            threshold_pf = max(FIELD_RISE_PF, LOWEST_COUNTS * count_pf)
            noise_pf = FALLEN_NOISE * noise_counts * count_pf
            self.quick = measured_pf - self.floor_pf > QUICK * threshold_pf + noise_pf
        wanders_pf = max(STEADY_PF, STEADY_NOISE * noise_counts * count_pf) + STEADY * rise_pf
        if self.rise_pf is None or abs(rise_pf - self.steady_pf) > wanders_pf:
            self._begin_steady(rise_pf, now)
        else:
            self.mean_of += 1
            self.mean_pf += (rise_pf - self.mean_pf) / self.mean_of
        if self.rise_pf is None or abs(rise_pf - self.still_pf) > STILL_PF + STILL * rise_pf:
            self.still_pf, self.still_since_s = rise_pf, now
        self.rise_pf = rise_pf
        if self.stands:
            if rise_pf > self.stands_pf + self.change_pf:
                self._grip_anew(now)
            return
        self.peak_pf = max(self.peak_pf, rise_pf)
        if not self.fallen:
            self.high_s = now
        elif now - max(self.steady_since_s, self.high_s) >= SETTLED_S:
            self.stands, self.stands_pf = True, max(rise_pf, 0.0)  # less than rest is a sag of the supply

    def _grip_anew(self, now: float) -> None:
        """A hand has come back before the field was re-based: from now on the rise is what it adds."""
        self.stands, self.on_figure, self.before_pf = False, True, 0.0
        self.first_s, self.quick = now, False
        self.floor_pf += self.stands_pf
        self.recent_pf = tuple(pf - self.stands_pf for pf in self.recent_pf)
        self.rise_pf = self.peak_pf = median(self.recent_pf)
        self._begin_steady(self.rise_pf, now)

    def _begin_steady(self, rise_pf: float, now: float) -> None:
        self.steady_pf, self.steady_since_s = rise_pf, now
        self.mean_pf, self.mean_of = rise_pf, 1

    @property
    def fallen(self) -> bool:
        """The level has come down from a hand's to a standing figure's."""
        standing = self.standing
        most_pf = max(standing.together_pf, GONE * self.peak_pf)
        highest_pf = min(
            most_pf, max(standing.let_go * self.peak_pf, self.peak_pf - standing.fall_pf), self.peak_pf - self.change_pf
        )
        return self.rise_pf is not None and self.rise_pf < highest_pf

    @property
    def leaves_something(self) -> bool:
        """Whether the hand has let go, or just does so by the last measurement, of a figure that shows."""
        if not self.recent_pf:
            return False
        last_pf, standing = self.recent_pf[-1], self.standing
        most_pf = standing.together_pf if self.stands else min(standing.together_pf, standing.let_go * self.peak_pf)
        return self._raised_pf <= last_pf < most_pf or standing.is_unmoved(last_pf)

    @property
    def _raised_pf(self) -> float:
        return max(RAISED_PF, self.passed_pf)

    def took_s(self, now: float) -> float:
        """How long a hand that still closes has been closing."""
        return now - self.first_s + (QUICK_UNSEEN_S if self.quick else SLOW_UNSEEN_S)

    @property
    def gripped(self) -> bool:
        """Held by a hand, as far as is known; what has not been measured might be."""
        return not self.stands and not self.fallen and (self.rise_pf is None or self.rise_pf >= self._raised_pf)

    def surely_stands(self, now: float) -> bool:
        """Whether it has shown so little for so long that no hand holds it."""
        low = self.rise_pf is not None and self.mean_pf <= self.standing.surely_pf and not self.on_figure
        return low and now - self.steady_since_s >= SURELY_S

    def stood_before(self, settled_pf: float, error_pf: float) -> bool:
        """Whether it is a figure on rings that stood like this before the Touch field was touched."""
        more_pf = max(MORE_PF, MORE_ERRORS * error_pf)
        return self.standing.is_unmoved(settled_pf) and settled_pf - self.before_pf < more_pf

    def rests(self, now: float, *, announced: bool) -> bool:
        """Whether no hand is there, and the last measurement shows none coming.

        It has let go, or a figure was set down unseen, or nothing is there and only the chip's baseline is wrong.
        `announced`: somebody has said that a grip comes; what shows as little as a figure that stands may be it.
        """
        if self.stands:
            return self.recent_pf[-1] <= self.stands_pf + STILL_PF
        comes = self.rise_pf is not None and self.recent_pf[-1] > self.rise_pf + self.step_pf
        stands = self.may_stand(now, STANDING_S) or (not announced and self.surely_stands(now))
        return not comes and (self.is_flat(now) or stands)

    def is_flat(self, now: float) -> bool:
        """Whether nothing has been there for a while."""
        return self._has_shown_less(RAISED_PF, FLAT_S, now)

    def may_stand(self, now: float, for_s: float) -> bool:
        """Whether it has shown no more than a standing figure can for so long."""
        return self._has_shown_less(self.standing.most_pf, for_s, now)

    def _has_shown_less(self, picofarad: float, for_s: float, now: float) -> bool:
        return self.rise_pf is not None and self.mean_pf < picofarad and now - self.steady_since_s >= for_s

    def hardly_held(self, now: float) -> bool:
        """Whether a field beside it that is gripped has the hand: it may show a standing figure, or nothing."""
        return self.is_flat(now) or self.surely_stands(now) or self.may_stand(now, GLANCE_S)


def pf_per_count(idle_pf: float, rise_pf: float) -> float:
    """How many picofarads a count is, at idle_pf + rise_pf on a pad that reads `IDLE_COUNTS` at rest."""
    return max(idle_pf + rise_pf, idle_pf) ** 2 / (IDLE_COUNTS * idle_pf)
