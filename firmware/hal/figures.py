"""Which figure a gripped field's picofarads speak for.

A figure made for this build has a capacitor between its metal head and its foil foot. The pad sees it in series with
the hand and with the way from the body back to the chip's ground, so a small capacitor shows almost its own value and
a large one less. Figures as they were sold show nothing that an MPR121 can read.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from firmware.hal.wiring import FigureMethod
from firmware.terms import FIGURES, UNKNOWN, Figure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firmware.hal.ports import FigureReader
    from firmware.hal.wiring import Wiring
    from firmware.terms import Likelihood

HAND_PF = 200.0
"""Through the skin of finger and thumb into a bare metal head; estimate."""

RETURN_PF = 75.0
"""From the body to the chip's ground where no bare Touch field of the same chip helps.

Body to earth is 80 to 300 pF; a mains adapter adds little to that, batteries have 20 to 90 pF to earth in series. This
is the middle on a logarithmic scale; estimate.
"""

STANDING_PF = 1.7
"""A figure's metal to its surroundings when nobody holds it; estimate."""

SPREAD = 0.12
"""Standard deviation of ln(picofarads): parts of 5 %, hands, and the unknown return."""

NOISE_PF = 0.2
"""Standard deviation of a median of three measurements on a pad of 120 pF: one to two counts of 720."""

SURPRISE = 0.01
"""How likely any reading at all is, whoever stands there: dirt, two figures, a finger on the bare pad.

Far from every figure's value this alone is left, and it is the same for all four.
"""


class CapacitorFigures:
    """Tells figures apart by the capacitor in the foot.

    A figure may have been carried to its field in the hand, or have stood there already when it was gripped; in the
    second case the rise is smaller by what a standing figure shows. Both are thought possible.

    Args:
        capacitor_pf: each figure's capacitor.
        grounded: the fields on the chip of the Touch fields, where the touching finger grounds the body.
    """

    def __init__(self, capacitor_pf: Mapping[Figure, float], grounded: frozenset[str]) -> None:
        self._grounded = grounded
        self._centres = {
            on_touch_chip: tuple(_centres(capacitor_pf[figure], on_touch_chip) for figure in FIGURES)
            for on_touch_chip in (False, True)
        }

    def likelihood(self, field: str, delta_pf: float) -> Likelihood:
        """Likelihood of a rise of `delta_pf` on `field`, the likeliest figure's being 1; flat if it fits nobody."""
        if not delta_pf > 0:
            return UNKNOWN
        spread = math.hypot(SPREAD, NOISE_PF / delta_pf)
        value = math.log(delta_pf)
        fits = [
            SURPRISE + max(math.exp(-(((value - centre) / spread) ** 2) / 2) for centre in centres)
            for centres in self._centres[field in self._grounded]
        ]
        best = max(fits)
        white, red, green, black = (fit / best for fit in fits)
        return white, red, green, black


def _centres(capacitor_pf: float, grounded: bool) -> tuple[float, float]:
    """Ln of the rise in pF, when the figure comes in the hand and when it stood there before."""
    through_hand = HAND_PF if grounded else HAND_PF * RETURN_PF / (HAND_PF + RETURN_PF)
    to_ground = through_hand + STANDING_PF
    gripped = capacitor_pf * to_ground / (capacitor_pf + to_ground)
    standing = capacitor_pf * STANDING_PF / (capacitor_pf + STANDING_PF)
    return math.log(gripped), math.log(gripped - standing)


class NoFigures:
    """For figures as they were sold: every reading fits everybody."""

    def likelihood(self, field: str, delta_pf: float) -> Likelihood:  # noqa: ARG002  # the port's shape
        """Flat."""
        return UNKNOWN


def figure_reader(wiring: Wiring) -> FigureReader:
    """The reader that `wiring` asks for."""
    if wiring.figure_method is FigureMethod.NOTHING:
        return NoFigures()
    return CapacitorFigures(wiring.capacitor_pf, frozenset(wiring.touch_chip.fields))
