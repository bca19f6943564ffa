"""Learning the figures: what capacitor is in each foot, from a few grips.

Fed grip by grip; it neither waits nor talks. The result becomes `Calibration.figures`.
"""

from __future__ import annotations

import itertools
import math
from statistics import median
from typing import TYPE_CHECKING

from firmware.hal.calibration import CalibrationError
from firmware.hal.figures import STANDING_PF
from firmware.hal.wiring import SMALLEST_STEP
from firmware.terms import FIGURES, Figure

if TYPE_CHECKING:
    from firmware.hal.wiring import Wiring

MOST_RISE_PF = 100.0
"""The largest capacitor that a wiring file may name."""

GRIPS = 3
"""Each figure's foot is the median of so many grips."""

BODIES_PF = tuple(20.0 * 1.1**step for step in range(33))
"""From a figure's head through hand and body to ground, 20 to 420 pF: paint and dry skin to wet; estimate."""

USUAL_BODY_PF = 140.0
BODY_SPREAD = 0.7
PART_SPREAD = 0.1
"""Standard deviations of ln(picofarads): of that way, and of a foot from what the wiring file says (parts of 5 %)."""

GRIPS_SPREAD = 0.15
GRIPS_SPREAD_PF = 0.3
"""Grips of one figure differ by no more than this share and this much: hands, and a foot that stands askew."""


def signature_fields(wiring: Wiring) -> tuple[str, ...]:
    """Fields to grip figures on: those of the chip where the touching finger grounds the body; all if it has none."""
    grounded = tuple(field for chip in wiring.chips if chip.touches for field in chip.fields)
    return grounded or wiring.fields


class Signatures:
    """The capacitors in the figures' feet, from three grips of each on one of `signature_fields` with a Touch field.

    The rise counts from the empty board, so it does not matter whether the figure stood there before; no other figure
    may stand there. What the owner's hand and body take off the large capacitors is told by all four together: it is
    one and the same hand, and the feet are about what the wiring file says.
    """

    def __init__(self, wiring: Wiring) -> None:
        self._usual_pf = wiring.capacitor_pf
        self.grips: dict[Figure, list[float]] = {figure: [] for figure in FIGURES}
        """The rise at each grip of each figure, in picofarads."""

    @property
    def wanted(self) -> Figure | None:
        """The figure whose turn it is; None when all four are known."""
        return next((figure for figure in FIGURES if len(self.grips[figure]) < GRIPS), None)

    def take(self, figure: Figure, rise_pf: float) -> None:
        """Note a grip of `figure` whose field rose by `rise_pf` above the empty board.

        Raises:
            CalibrationError: no figure can do that, or the three grips differ: the figure must be gripped anew.
        """
        if not 0.0 < rise_pf < MOST_RISE_PF:
            raise CalibrationError(
                f"{figure}: a rise of {rise_pf:.1f} pF is no figure's: hold it by the head, no finger on the field"
            )
        grips = self.grips[figure]
        grips.append(rise_pf)
        if len(grips) == GRIPS and max(grips) - min(grips) > GRIPS_SPREAD_PF + GRIPS_SPREAD * median(grips):
            measured = ", ".join(f"{grip:.1f}" for grip in grips)
            grips.clear()
            raise CalibrationError(
                f"{figure}: the grips differ ({measured} pF): was it the same figure, flat on the field, by the head?"
            )

    def figures(self) -> dict[Figure, float]:
        """Each figure's foot in picofarads, for `Calibration.figures`.

        Raises:
            CalibrationError: a figure is missing, two are too near to each other, or their order is not the wiring's.
        """
        if self.wanted is not None:
            raise CalibrationError(f"{self.wanted} has not been gripped {GRIPS} times: go on")
        body_pf = min(BODIES_PF, key=self._unlikely)
        feet = {figure: round(_foot_pf(median(self.grips[figure]), body_pf), 3) for figure in FIGURES}
        by_size = sorted(FIGURES, key=self._usual_pf.__getitem__)
        for smaller, larger in itertools.pairwise(by_size):
            measured = f"{smaller} {feet[smaller]:.1f} pF, {larger} {feet[larger]:.1f} pF"
            if feet[larger] < feet[smaller]:
                raise CalibrationError(
                    f"{measured}: the wiring file has them the other way round: were the two figures swapped?"
                )
            if feet[larger] < SMALLEST_STEP * feet[smaller]:
                raise CalibrationError(
                    f"{measured}: too near to be told apart, the factor must be {SMALLEST_STEP}: "
                    "was one figure held for both? Else check their capacitors"
                )
        return feet

    def _unlikely(self, body_pf: float) -> float:
        """How much a way through hand and body contradicts the feet that the wiring file gives (a sum of squares)."""
        unlikely = (math.log(body_pf / USUAL_BODY_PF) / BODY_SPREAD) ** 2
        for figure, grips in self.grips.items():
            foot_pf = _foot_pf(median(grips), body_pf)
            unlikely += (math.log(foot_pf / self._usual_pf[figure]) / PART_SPREAD) ** 2 if foot_pf else math.inf
        return unlikely


def _foot_pf(rise_pf: float, body_pf: float) -> float:
    """The capacitor that shows as `rise_pf` in series with hand and body; 0 where none can."""
    to_ground_pf = body_pf + STANDING_PF
    return rise_pf * to_ground_pf / (to_ground_pf - rise_pf) if rise_pf < to_ground_pf else 0.0
