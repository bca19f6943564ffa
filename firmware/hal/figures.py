"""Which figure a gripped field's picofarads speak for.

A figure made for this build has a capacitor between its metal head and its foil foot. The pad sees it in series with
the hand and with the way from the body back to the chip's ground, so a small capacitor shows almost its own value and
a large one less. Figures as they were sold show nothing that an MPR121 can read.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from firmware.terms import FIGURES, UNKNOWN, Figure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firmware.hal.ports import GripReading
    from firmware.terms import Likelihood

HAND_PF = 200.0
"""Through the skin of finger and thumb into a bare metal head; estimate."""

RETURNS_PF = (20.0, 30.0, 45.0, 68.0, 100.0, 150.0)
"""What the way from the body to the chip's ground may be, where no bare Touch field of the same chip helps.

Body to earth is 80 to 300 pF; a mains adapter adds little to that, batteries have 20 to 90 pF to earth in series.
Which it is, is learnt from the grips.
"""

AT_FIRST = (0.01, 0.03, 0.1, 0.2, 0.33, 0.33)
"""How probable each return is before any grip: a mains adapter is the usual supply; estimate."""

FORGETTING = 0.03
"""Share of what was learnt about the return that each grip gives up: another adapter, another player's shoes."""

STANDING_PF = 1.7
"""A figure's metal to its surroundings when nobody holds it; estimate."""

SPREAD = 0.08
"""Standard deviation of ln(picofarads): parts of 5 %, hands, and returns between two of the steps."""

NOISE_PF = 0.2
"""Standard deviation of a median of three measurements on a pad of 120 pF: one to two counts of 720."""

SURPRISE = 0.01
"""How likely any reading at all is, whoever stands there: dirt, two figures, a finger on the bare pad.

Far from every figure's value this alone is left, and it is the same for all four.
"""


class CapacitorFigures:
    """Tells figures apart by the capacitor in the foot.

    A figure may have been carried to its field in the hand, or have stood there already when it was gripped; in the
    second case the rise is smaller by what a standing figure shows. Both are thought possible, and so is every return
    that the grips so far leave possible.

    Args:
        capacitor_pf: each figure's capacitor.
        grounded: the fields on the chip of the Touch fields, where the touching finger grounds the body.
    """

    def __init__(self, capacitor_pf: Mapping[Figure, float], grounded: frozenset[str]) -> None:
        self._grounded = grounded
        self._grounded_centres = [_centres(capacitor_pf[figure], HAND_PF) for figure in FIGURES]
        self._centres = [
            [_centres(capacitor_pf[figure], HAND_PF * return_pf / (HAND_PF + return_pf)) for figure in FIGURES]
            for return_pf in RETURNS_PF
        ]
        self._weights = list(AT_FIRST)
        """How probable each of `RETURNS_PF` is."""

    def likelihood(self, reading: GripReading) -> Likelihood:
        """Likelihood of the field's rise, the likeliest figure's being 1; flat if it fits nobody."""
        delta_pf = reading.rise_pf
        if not 0.0 < delta_pf < math.inf:
            return UNKNOWN
        if reading.field in self._grounded:
            return _scaled(_fits(delta_pf, self._grounded_centres))
        fits = [_fits(delta_pf, centres) for centres in self._centres]
        likelihood = _scaled(
            [sum(w * fit[place] for w, fit in zip(self._weights, fits, strict=True)) for place in range(len(FIGURES))]
        )
        self._learn(fits)
        return likelihood

    def _learn(self, fits: list[list[float]]) -> None:
        """Bayes' rule on the returns, whoever it was."""
        weights = [weight * sum(fit) for weight, fit in zip(self._weights, fits, strict=True)]
        total = sum(weights)
        self._weights = [
            (1.0 - FORGETTING) * weight / total + FORGETTING * at_first
            for weight, at_first in zip(weights, AT_FIRST, strict=True)
        ]


def _fits(delta_pf: float, figures_centres: list[tuple[float, float]]) -> list[float]:
    """How well a rise fits each figure, 1 at a centre; never less than `SURPRISE`."""
    spread = math.hypot(SPREAD, NOISE_PF / delta_pf)
    value = math.log(delta_pf)
    return [
        SURPRISE + max(math.exp(-(((value - centre) / spread) ** 2) / 2) for centre in centres)
        for centres in figures_centres
    ]


def _scaled(fits: list[float]) -> Likelihood:
    best = max(fits)
    white, red, green, black = (fit / best for fit in fits)
    return white, red, green, black


def _centres(capacitor_pf: float, through_hand_pf: float) -> tuple[float, float]:
    """Ln of the rise in pF, when the figure comes in the hand and when it stood there before."""
    to_ground_pf = through_hand_pf + STANDING_PF
    gripped_pf = capacitor_pf * to_ground_pf / (capacitor_pf + to_ground_pf)
    standing_pf = capacitor_pf * STANDING_PF / (capacitor_pf + STANDING_PF)
    return math.log(gripped_pf), math.log(gripped_pf - standing_pf)


class NoFigures:
    """For figures as they were sold: every reading fits everybody."""

    def likelihood(self, reading: GripReading) -> Likelihood:  # noqa: ARG002  # the port's shape
        """Flat."""
        return UNKNOWN
