"""Which figure a gripped field's picofarads speak for.

A figure made for this build has a capacitor between its metal head and its foil foot. The pad sees it in series with
the hand and with the way from the body back to the chip's ground, so a small capacitor shows almost its own value and
a large one less. How much less, the Touch field tells: the finger there sees the same body and the same way back,
without any capacitor. Figures as they were sold show nothing that an MPR121 can read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from firmware.terms import FIGURES, UNKNOWN, Figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from firmware.hal.ports import GripReading
    from firmware.terms import Likelihood

RETURNS_PF = tuple(14.0 * 1.15**step for step in range(23))
"""What the way from the body back to ground may be: 14 to 300 pF, in steps of 15 %.

Body to earth is 80 to 300 pF; a mains adapter adds little to that, batteries have 20 to 90 pF to earth in series.
"""

RETURNS_AT_FIRST = tuple(math.exp(-((math.log(pf / 110.0) / 0.7) ** 2) / 2) for pf in RETURNS_PF)
"""How probable each is before any grip: a mains adapter is the usual supply; estimate. Only the ratios matter."""

HANDS_PF = (18.0, 26.0, 38.0, 55.0, 80.0, 140.0, 250.0, 450.0)
"""Through the skin of finger and thumb into the head: lacquer, dry skin, wet skin; estimate."""

HANDS_AT_FIRST = (0.01, 0.02, 0.03, 0.04, 0.1, 0.3, 0.35, 0.15)

FINGERS_PF = (10.0, 14.0, 20.0, 30.0, 130.0, 220.0, 370.0, 620.0, 1050.0)
"""A fingertip on the Touch field: the first four through lacquer, the others on bare metal; estimate."""

BARE_FINGER_PF = 400.0
"""The finger's, where the Touch field could not be measured."""

FINGER_SPREAD = 0.12
"""Standard deviation of ln(picofarads) of a Touch field's rise: between two steps of the fingers and the returns."""

HELPED = 0.05
"""How often the finger on the Touch field is another player's, which says nothing about the hand on the figure."""

STOOD = 0.5
"""How often a figure stood on its field before it was gripped: then the rise is smaller by what it showed there."""

BESIDE = ((0.0, 0.8), (0.25, 0.12), (0.5, 0.08))
"""What other figures on the field add because the hand is near them, in picofarads, and how often; estimate."""

FORGETTING = 0.05
PAINT_FORGETTING = 0.02
"""Share of what was learnt that each grip gives up: another adapter, another player; the heads stay as they are."""

STANDING_PF = 1.7
"""A figure's metal to its surroundings when nobody holds it; estimate."""

TOUCHED_PF = 60.0
LEAST_GRIP = 0.7
"""What is behind a head at least while a Touch field is touched, and the share of the lightest figure's rise then that
is still a grip: with 3.3 pF it is 1.4 pF, more than white and red show that merely stand.
"""

SPREAD = 0.05
"""Standard deviation as a share: parts of 5 %, and what lies between two steps."""

SURPRISE = 0.0005
"""How likely any reading at all is, whoever stands there: dirt, two hands, a finger on the bare pad.

Far from every figure's value this alone is left, and it is the same for all four.
"""

CLEAR = 0.9
"""Only from a reading that is so clearly one figure's something is learnt."""

TELLING = 0.3
"""Small capacitors show themselves through any skin: only those beyond this share of the largest tell of hands."""

FAR = 5.0
"""What is so many standard deviations away is not looked at."""

FINGER_REACH = math.exp(FAR * FINGER_SPREAD)
"""The same for a Touch field's rise, as a factor."""

LEAST = 1e-4
"""Ways back that are so much less likely than the likeliest are not followed up."""


class _Beliefs:
    """How probable each step is, with what the grips so far have taught."""

    def __init__(self, at_first: Sequence[float], forgetting: float = FORGETTING) -> None:
        self._forgetting = forgetting
        self._at_first = [weight / sum(at_first) for weight in at_first]
        self.weights = list(self._at_first)

    def learn(self, seen: Sequence[float]) -> None:
        """Bayes' rule, and a little forgetting; `seen` is how much of the posterior each step has."""
        total = sum(seen)
        if total > 0.0:
            self.weights = [
                (1.0 - self._forgetting) * part / total + self._forgetting * first
                for part, first in zip(seen, self._at_first, strict=True)
            ]


class CapacitorFigures:
    """Tells figures apart by the capacitor in the foot.

    A figure may have been carried to its field in the hand, or have stood there already when it was gripped. Both are
    thought possible, and so is every way back, every skin and every Touch field that the grips so far leave possible.

    Args:
        capacitor_pf: each figure's capacitor.
        grounded: the fields on the chip of the Touch fields, where the touching finger grounds the body.
    """

    def __init__(self, capacitor_pf: Mapping[Figure, float], grounded: frozenset[str]) -> None:
        self._capacitor_pf = [capacitor_pf[figure] for figure in FIGURES]
        self._grounded = grounded
        self._returns = _Beliefs(RETURNS_AT_FIRST)
        self._hands = _Beliefs(HANDS_AT_FIRST, PAINT_FORGETTING)
        self._fingers = _Beliefs([1.0] * len(FINGERS_PF))

    def likelihood(self, reading: GripReading) -> Likelihood:
        """Likelihood of the field's rise, the likeliest figure's being 1; flat if it fits nobody."""
        if not 0.0 < reading.rise_pf < math.inf:
            return UNKNOWN
        seen = alone = self._fits(reading, None)
        if reading.touch_pf is not None and reading.touch_pf > 0.0:
            together = self._fits(reading, reading.touch_pf)
            seen = together if any(together.figures) else alone
        fits = [
            SURPRISE + HELPED * part + (1.0 - HELPED) * other
            for part, other in zip(alone.figures, seen.figures, strict=True)
        ]
        best = max(fits)
        if best > CLEAR * sum(fits):
            self._returns.learn(seen.returns)
            self._fingers.learn(seen.fingers)
            if self._capacitor_pf[fits.index(best)] > TELLING * max(self._capacitor_pf):
                self._hands.learn(seen.hands)
        white, red, green, black = (fit / best for fit in fits)
        return white, red, green, black

    def _fits(self, reading: GripReading, touch_pf: float | None) -> _Fits:
        """How well the reading fits each figure, at best 1, and what it says about hand, finger and way back."""
        fits = _Fits([0.0] * len(FIGURES), [0.0] * len(RETURNS_PF), [0.0] * len(HANDS_PF), [0.0] * len(FINGERS_PF))
        likeliest = 0.0
        for place, capacitor_pf in enumerate(self._capacitor_pf):
            ways = self._ways(reading, touch_pf, capacitor_pf)
            likeliest = max(likeliest, sum(way.weight for way in ways))
            most = max(way.weight for way in ways)
            least_pf, most_pf = _window(reading, capacitor_pf)
            for number, way in enumerate(ways):
                if way.weight < LEAST * most:
                    continue
                whole, back_pf = 0.0, RETURNS_PF[number] + way.helps_pf
                for hand, hand_pf in enumerate(HANDS_PF):
                    to_ground_pf = hand_pf * back_pf / (hand_pf + back_pf)
                    if least_pf < to_ground_pf < most_pf:
                        density = _density(reading, capacitor_pf, to_ground_pf)
                        part = way.weight * self._hands.weights[hand] * density
                        fits.hands[hand] += part
                        whole += part
                if whole:
                    fits.figures[place] += whole
                    fits.returns[number] += whole
                    for finger, share in enumerate(way.fingers):
                        fits.fingers[finger] += whole * share
        if likeliest > 0.0:  # else no finger on any body shows so much or so little
            fits.figures = [part / likeliest for part in fits.figures]
        return fits

    def _ways(self, reading: GripReading, touch_pf: float | None, capacitor_pf: float) -> list[_Way]:
        """How probable each way back is, and what the finger on the Touch field adds to it."""
        near = reading.field in self._grounded
        if touch_pf is None:
            helps_pf = BARE_FINGER_PF if near and reading.touch_pf is None else 0.0
            return [_Way(believed, helps_pf, ()) for believed in self._returns.weights]
        beside_pf = capacitor_pf if near else _series(capacitor_pf, reading.idle_pf)
        least_pf, most_pf = touch_pf / FINGER_REACH, touch_pf * FINGER_REACH
        ways = []
        for return_pf, believed in zip(RETURNS_PF, self._returns.weights, strict=True):
            behind_pf = return_pf + beside_pf
            shares = []
            for finger_pf, weight in zip(FINGERS_PF, self._fingers.weights, strict=True):
                seen_pf = finger_pf * behind_pf / (finger_pf + behind_pf)
                if least_pf < seen_pf < most_pf:
                    away = math.log(touch_pf / seen_pf) / FINGER_SPREAD
                    shares.append(weight * math.exp(-away * away / 2.0))
                else:
                    shares.append(0.0)
            total = sum(shares)
            if total > 0.0:
                helps = [finger_pf if near else _series(finger_pf, reading.touch_idle_pf) for finger_pf in FINGERS_PF]
                helps_pf = sum(share * pf for share, pf in zip(shares, helps, strict=True)) / total
                ways.append(_Way(believed * total, helps_pf, tuple(share / total for share in shares)))
            else:
                ways.append(_Way(0.0, 0.0, ()))
        return ways


@dataclass(slots=True)
class _Fits:
    figures: list[float]
    returns: list[float]
    hands: list[float]
    fingers: list[float]


@dataclass(frozen=True, slots=True)
class _Way:
    """A way back to ground: its weight, what the touching finger adds (pF), and how probable each finger is."""

    weight: float
    helps_pf: float
    fingers: tuple[float, ...]


def _window(reading: GripReading, capacitor_pf: float) -> tuple[float, float]:
    """What must be behind a capacitor, in picofarads, if `_density` is to be more than nothing; a little more than so.

    A centre lies within `FAR` times (its `SPREAD` and the reading's error) of the rise.
    """
    error_pf, share = FAR * reading.error_pf, FAR * SPREAD
    least_pf = (reading.rise_pf - error_pf) / (1.0 + share) - BESIDE[-1][0]
    most_pf = (reading.rise_pf + error_pf) / (1.0 - share) + _series(capacitor_pf, STANDING_PF)
    return _behind_pf(least_pf, capacitor_pf), _behind_pf(most_pf, capacitor_pf)


def _behind_pf(gripped_pf: float, capacitor_pf: float) -> float:
    """What is behind a capacitor that shows so much when gripped; infinite if none could."""
    if gripped_pf >= capacitor_pf:
        return math.inf
    return capacitor_pf * gripped_pf / (capacitor_pf - gripped_pf) - STANDING_PF


def _density(reading: GripReading, capacitor_pf: float, to_ground_pf: float) -> float:
    """How well a rise fits a capacitor, 1 at a centre."""
    gripped_pf = _series(capacitor_pf, to_ground_pf + STANDING_PF)
    stood_pf = gripped_pf - _series(capacitor_pf, STANDING_PF)
    rise_pf, error2 = reading.rise_pf, reading.error_pf * reading.error_pf
    total = 0.0
    for beside_pf, often in BESIDE:
        for centre_pf, share in ((gripped_pf + beside_pf, 1.0 - STOOD), (stood_pf + beside_pf, STOOD)):
            away_pf = rise_pf - centre_pf
            away2 = away_pf * away_pf / (SPREAD * SPREAD * centre_pf * centre_pf + error2)
            if away2 < FAR * FAR:
                total += often * share * math.exp(-away2 / 2.0)
    return total


def _series(one_pf: float, other_pf: float) -> float:
    return one_pf * other_pf / (one_pf + other_pf)


def least_grip_pf(capacitor_pf: Mapping[Figure, float]) -> float:
    """The rise from which a hand holds the lightest figure; less is one that was set down and merely stands.

    With a Touch field touched there are 60 pF behind its head at least.
    """
    lightest_pf = min(capacitor_pf.values())
    return LEAST_GRIP * (_series(lightest_pf, TOUCHED_PF + STANDING_PF) - _series(lightest_pf, STANDING_PF))


class NoFigures:
    """For figures as they were sold: every reading fits everybody."""

    def likelihood(self, reading: GripReading) -> Likelihood:  # noqa: ARG002  # the port's shape
        """Flat."""
        return UNKNOWN
