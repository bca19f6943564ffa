"""Which figure a gripped field's picofarads speak for.

A figure made for this build has a capacitor between its metal head and its foil foot. The pad sees it in series with
the hand and with the way from the body back to the chip's ground, so a small capacitor shows almost its own value and
a large one less. How much less, the Touch field tells: the finger there sees the same body and the same way back,
without any capacitor. Figures as they were sold show nothing that an MPR121 can read.

What the volcano stands on, who plays and how the heads are painted is learnt from the grips. Each grip teaches by what
is probable about it, whoever it was: so a wrong guess is never learnt for certain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from firmware.terms import FIGURES, UNKNOWN, Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from firmware.hal.ports import GripReading
    from firmware.terms import Likelihood

RETURNS_PF = tuple(14.0 * 1.2**step for step in range(18))
"""What the way from the body back to ground may be: 14 to 310 pF, in steps of 20 %.

Body to earth is 80 to 300 pF; a mains adapter adds little to that, batteries have 20 to 90 pF to earth in series.
"""

RETURNS_AT_FIRST = tuple(math.exp(-((math.log(pf / 110.0) / 0.7) ** 2) / 2) for pf in RETURNS_PF)
"""How probable each is before any grip: a mains adapter is the usual supply; estimate. Only the ratios matter."""

SKINS_PF = ((80.0, 0.1), (140.0, 0.35), (250.0, 0.4), (450.0, 0.15))
"""Through the skin of finger and thumb into a bare head, dry to wet, and how often; estimate."""

LACQUERED_SKINS_PF = ((140.0, 0.5), (300.0, 0.5))
"""The same under lacquer, where less depends on it."""

LACQUERS_PF = (22.0, 28.0, 36.0, 46.0, 60.0)
"""In series with that, where the heads are painted; estimate."""

LACQUERED_HEADS = 0.025
LACQUERED_TOUCHES = 0.2
"""How probable painted heads and insulated Touch fields are before any grip; estimate."""

BARE_TOUCH_PF = ((130.0, 0.1), (220.0, 0.2), (370.0, 0.3), (620.0, 0.3), (1050.0, 0.1))
LACQUERED_TOUCH_PF = ((10.0, 0.25), (14.0, 0.25), (20.0, 0.25), (30.0, 0.25))
"""A fingertip on a Touch field, and how often; estimate."""

BARE_FINGER_PF = 400.0
"""The finger's, where the Touch field could not be measured."""

FINGER_SPREAD = 0.12
"""Standard deviation of ln(picofarads) of a Touch field's rise: between two steps of the fingers and the returns."""

HELPED = 0.05
LEAST_HELPED = 0.02
MOST_HELPED = 0.6
"""How often the finger on the Touch field is another player's: before any grip, and within what bounds it is learnt;
estimate."""

BODIES_PF = ((85.0, 0.25), (140.0, 0.5), (240.0, 0.25))
HELPER_PF = 60.0
"""A body to earth, and how often; and what another player's body and finger bring from earth to a Touch field: 57 to
230 pF, of which a low estimate serves best.
"""

LEAST_BODY = 1.05
"""A body is more than the way back of which it is a part; by so little already earth is as good as ground."""

STOOD = 0.5
"""How often a figure stood on its field before it was gripped: then the rise is smaller by what it showed there."""

BESIDE = ((0.0, 0.8), (0.25, 0.12), (0.5, 0.08))
"""What other figures on the field add because the hand is near them, in picofarads, and how often; estimate."""

STANDING_PF = 1.7
"""A figure's metal to its surroundings when nobody holds it; estimate."""

TOUCHED_PF = 60.0
LEAST_GRIP = 0.7
"""What is behind a head at least while a Touch field is touched, and the share of the lightest figure's rise then that
is still a grip: with 3.3 pF it is 1.4 pF, more than white and red show that merely stand.
"""

SPREAD = 0.05
"""Standard deviation as a share: parts of 5 %, and what lies between two steps."""

SURPRISE = 0.0002
"""How likely any reading at all is, whoever stands there: dirt, two hands, a finger on the bare pad.

Far from every figure's value this alone is left, and it is the same for all four.
"""

FAR = 5.0
"""What is so many standard deviations away is not looked at."""

FINGER_REACH = math.exp(FAR * FINGER_SPREAD)
"""The same for a Touch field's rise, as a factor."""

LEAST = 1e-4
"""Ways back that are so much less likely than the likeliest are not followed up."""

NEW = 0.1
"""Share of what is thought of returns and helpers that a grip renews; the first grips renew more."""

FORGETTING = 0.01
"""Share of all that was learnt which each grip gives up: another adapter, other players, other figures."""

LEAST_BEHIND_PF = 8.0
MOST_BEHIND_PF = 450.0
"""Behind a head: skin and lacquer in series with the way back, from the weakest to the best."""

STEP = 1.06
"""What is behind a capacitor is told apart by steps of 6 %: black's rise changes by 4 % at most with each."""


@cache
def _hands(step: int) -> tuple[tuple[tuple[int, float], ...], ...]:
    """For each head: hand and way back in series, in steps, and how often; the way back is `step` steps."""
    back_pf = STEP**step
    heads: list[tuple[tuple[float, float], ...]] = [SKINS_PF]
    heads += [
        tuple((_series(skin_pf, lacquer_pf), often) for skin_pf, often in LACQUERED_SKINS_PF)
        for lacquer_pf in LACQUERS_PF
    ]
    return tuple(tuple((_step(_series(hand_pf, back_pf)), often) for hand_pf, often in head) for head in heads)


def _step(picofarad: float) -> int:
    return round(math.log(picofarad) / math.log(STEP))


@dataclass(frozen=True, slots=True)
class _Centre:
    """What a figure shows when it is gripped, in picofarads: carried there, or where it stood."""

    gripped_pf: float
    stood_pf: float


def _centres(capacitor_pf: float) -> dict[int, _Centre]:
    """By the steps of what is behind the head."""
    centres = {}
    for step in range(_step(LEAST_BEHIND_PF), _step(MOST_BEHIND_PF) + 1):
        gripped_pf = _series(capacitor_pf, STEP**step + STANDING_PF)
        centres[step] = _Centre(gripped_pf, gripped_pf - _series(capacitor_pf, STANDING_PF))
    return centres


def _shares(weights: Sequence[float]) -> list[float]:
    total = sum(weights)
    return [weight / total for weight in weights]


HEADS_AT_FIRST = (1.0 - LACQUERED_HEADS, *(LACQUERED_HEADS / len(LACQUERS_PF) for _ in LACQUERS_PF))
"""How probable each head is: bare, then each lacquer."""


class CapacitorFigures:
    """Tells figures apart by the capacitor in the foot.

    A figure may have been carried to its field in the hand, or have stood there already when it was gripped. Both are
    thought possible, and so is every way back, every skin and lacquer, every finger on the Touch field and whose it
    is, as far as the grips up to now leave it possible.

    Args:
        capacitor_pf: each figure's capacitor.
        grounded: the fields on the chip of the Touch fields, where the touching finger grounds the body.
    """

    def __init__(self, capacitor_pf: Mapping[Figure, float], grounded: frozenset[str]) -> None:
        self._capacitor_pf = [capacitor_pf[figure] for figure in FIGURES]
        self._centres = [_centres(figure_pf) for figure_pf in self._capacitor_pf]
        self._grounded = grounded
        self._at_first = _shares(RETURNS_AT_FIRST)
        self._returns = list(self._at_first)
        self._heads = list(HEADS_AT_FIRST)
        self._lacquered_touches = LACQUERED_TOUCHES
        self._helped = HELPED
        self._grips = 0

    def likelihood(self, reading: GripReading) -> Likelihood:
        """Likelihood of the field's rise, the likeliest figure's being 1; flat if it fits nobody."""
        if not 0.0 < reading.rise_pf < math.inf:
            return UNKNOWN
        touch_pf = reading.touch_pf if reading.touch_pf is not None and reading.touch_pf > 0.0 else None
        seen = self._judge(reading, touch_pf)
        if not seen.whole:  # no finger on any body shows so much or so little
            seen = self._judge(reading, None)
        self._learn(seen)
        fits = [SURPRISE + part for part in seen.figures]
        best = max(fits)
        white, red, green, black = (fit / best for fit in fits)
        return white, red, green, black

    def _learn(self, seen: _Seen) -> None:
        """Take over what this grip makes probable; the less, the more it looks like nobody's."""
        total = sum(seen.figures)
        if total <= 0.0:
            return
        believed = total / (total + len(FIGURES) * SURPRISE)
        self._grips += 1
        renewed = believed * max(NEW, 1.0 / (self._grips + 3))
        self._returns = [
            (1.0 - FORGETTING) * ((1.0 - renewed) * old + renewed * part / total) + FORGETTING * first
            for old, part, first in zip(self._returns, seen.returns, self._at_first, strict=True)
        ]
        heads = _shares(
            [old * (part / total / old) ** believed for old, part in zip(self._heads, seen.heads, strict=True)]
        )
        self._heads = [
            (1.0 - FORGETTING) * part + FORGETTING * first for part, first in zip(heads, HEADS_AT_FIRST, strict=True)
        ]
        if seen.own:
            lacquered = self._lacquered_touches + believed * (seen.lacquered / seen.own - self._lacquered_touches)
            self._lacquered_touches = (1.0 - FORGETTING) * lacquered + FORGETTING * LACQUERED_TOUCHES
            helped = self._helped + renewed * (1.0 - seen.own / total - self._helped)
            self._helped = min(max(helped, LEAST_HELPED), MOST_HELPED)

    def _judge(self, reading: GripReading, touch_pf: float | None) -> _Seen:
        """How well the reading fits each figure, at best 1, and what it says about everything else."""
        seen = _Seen()
        helped = list(self._helped_ways(reading, touch_pf))
        for place, (capacitor_pf, centres) in enumerate(zip(self._capacitor_pf, self._centres, strict=True)):
            ways = [*self._ways(reading, touch_pf, capacitor_pf), *helped]
            seen.whole = max(seen.whole, sum(way.weight for way in ways))
            least = LEAST * max((way.weight for way in ways), default=0.0)
            densities = _densities(reading, centres)
            for way in ways:
                if way.weight < least:
                    continue
                whole = 0.0
                for head, hands in enumerate(_hands(_step(way.back_pf))):
                    fits = 0.0
                    for step, often in hands:
                        if step in densities:
                            fits += often * densities[step]
                    if fits:
                        part = fits * way.weight * self._heads[head]
                        seen.heads[head] += part
                        whole += part
                seen.figures[place] += whole
                seen.returns[way.number] += whole
                if way.lacquered is not None:
                    seen.own += whole
                    seen.lacquered += whole * way.lacquered
        if seen.whole:
            seen.divide(seen.whole)
        return seen

    def _fingers(self) -> Iterator[tuple[float, float, bool]]:
        """Each finger in picofarads, how probable it is, and whether lacquer is under it."""
        for finger_pf, often in BARE_TOUCH_PF:
            yield finger_pf, often * (1.0 - self._lacquered_touches), False
        for finger_pf, often in LACQUERED_TOUCH_PF:
            yield finger_pf, often * self._lacquered_touches, True

    def _helped_ways(self, reading: GripReading, touch_pf: float | None) -> Iterator[_Way]:
        """Every way through earth while another player's finger is on the Touch field: that body brings earth nearer.

        Its rise says nothing about the hand on the figure, but how well it fits a finger at all.
        """
        if touch_pf is None:
            return
        fits = sum(
            believed * often * _fits_finger(touch_pf, _series(finger_pf, return_pf))
            for return_pf, believed in zip(RETURNS_PF, self._returns, strict=True)
            for finger_pf, often, _ in self._fingers()
        )
        if not fits:
            return
        near = reading.field in self._grounded
        helper_pf = HELPER_PF if near else _series(HELPER_PF, reading.touch_idle_pf)
        for number, (return_pf, believed) in enumerate(zip(RETURNS_PF, self._returns, strict=True)):
            for back_pf, often in _helped_by(return_pf, helper_pf):
                yield _Way(number, believed * fits * self._helped * often, back_pf, None)

    def _ways(self, reading: GripReading, touch_pf: float | None, capacitor_pf: float) -> Iterator[_Way]:
        """Every way from the hand to ground through earth and through the own finger on the Touch field."""
        near = reading.field in self._grounded
        beside_pf = capacitor_pf if near else _series(capacitor_pf, reading.idle_pf)
        fingers = [
            (finger_pf, often, lacquered, finger_pf if near else _series(finger_pf, reading.touch_idle_pf))
            for finger_pf, often, lacquered in self._fingers()
        ]
        for number, (return_pf, believed) in enumerate(zip(RETURNS_PF, self._returns, strict=True)):
            if touch_pf is None:
                helps_pf = BARE_FINGER_PF if near and reading.touch_pf is None else 0.0
                yield _Way(number, believed, return_pf + helps_pf, None)
                continue
            total = lacquered_total = helps_pf = 0.0
            for finger_pf, often, lacquered, help_pf in fingers:
                if fits := often * _fits_finger(touch_pf, _series(finger_pf, return_pf + beside_pf)):
                    total += fits
                    helps_pf += fits * help_pf
                    lacquered_total += lacquered * fits
            if total:
                own = believed * total * (1.0 - self._helped)
                yield _Way(number, own, return_pf + helps_pf / total, lacquered_total / total)


@dataclass(slots=True)
class _Seen:
    """What a reading says; every list is a share of `whole`, which is how well the Touch field's rise fits at all."""

    figures: list[float] = field(default_factory=lambda: [0.0] * len(FIGURES))
    returns: list[float] = field(default_factory=lambda: [0.0] * len(RETURNS_PF))
    heads: list[float] = field(default_factory=lambda: [0.0] * len(HEADS_AT_FIRST))
    own: float = 0.0
    """That the finger on the Touch field belongs to the hand on the figure."""
    lacquered: float = 0.0
    whole: float = 0.0

    def divide(self, whole: float) -> None:
        self.figures = [part / whole for part in self.figures]
        self.returns = [part / whole for part in self.returns]
        self.heads = [part / whole for part in self.heads]
        self.own /= whole
        self.lacquered /= whole


@dataclass(frozen=True, slots=True)
class _Way:
    """A way from the hand to ground: which return it is by, its weight, and what it has in picofarads altogether."""

    number: int
    weight: float
    back_pf: float
    lacquered: float | None
    """How probable lacquer under the own finger is; None if there is none, or it is another player's."""


def _helped_by(return_pf: float, helper_pf: float) -> list[tuple[float, float]]:
    """What a way back of body and earth in series becomes when another body joins earth to ground, and how often."""
    bodies = [(body_pf, often) for body_pf, often in BODIES_PF if body_pf > LEAST_BODY * return_pf]
    total = sum(often for _, often in bodies)
    return [
        (_series(body_pf, body_pf * return_pf / (body_pf - return_pf) + helper_pf), often / total)
        for body_pf, often in bodies
    ] or [(return_pf, 1.0)]


def _fits_finger(touch_pf: float, seen_pf: float) -> float:
    if not touch_pf < seen_pf * FINGER_REACH or not seen_pf < touch_pf * FINGER_REACH:
        return 0.0
    away = math.log(touch_pf / seen_pf) / FINGER_SPREAD
    return math.exp(-away * away / 2.0)


def _densities(reading: GripReading, centres: Mapping[int, _Centre]) -> dict[int, float]:
    """How well a rise fits a capacitor, 1 at a centre, by what is behind it; steps that are left out do not fit."""
    rise_pf, error2 = reading.rise_pf, reading.error_pf * reading.error_pf
    error_pf, share = FAR * reading.error_pf, FAR * SPREAD
    least_pf = (rise_pf - error_pf) / (1.0 + share) - BESIDE[-1][0]
    most_pf = (rise_pf + error_pf) / (1.0 - share)
    densities = {}
    for step, centre in centres.items():
        if centre.gripped_pf < least_pf or centre.stood_pf > most_pf:
            continue
        total = 0.0
        for beside_pf, often in BESIDE:
            for shown_pf, so_often in ((centre.gripped_pf, 1.0 - STOOD), (centre.stood_pf, STOOD)):
                away_pf, spread_pf = rise_pf - shown_pf - beside_pf, SPREAD * (shown_pf + beside_pf)
                away2 = away_pf * away_pf / (spread_pf * spread_pf + error2)
                if away2 < FAR * FAR:
                    total += often * so_often * math.exp(-away2 / 2.0)
        if total:
            densities[step] = total
    return densities


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
