"""Figures that say who they are: by a coded foot on rails, or by a colour pad that the player touches.

On a board with rails every field is a centre with three rings round it, each joined over the whole board. A figure's
foot joins the centre with one ring or with all three, so one ring too few or too many is nobody's code; a bare finger
joins none. Rails tell who it was, and the fields where.
"""

from __future__ import annotations

import math
from collections import deque
from statistics import median
from typing import TYPE_CHECKING

from firmware.hal.figures import CapacitorFigures, NoFigures
from firmware.hal.wiring import RAIL_CODES, FigureMethod, Rail
from firmware.terms import FIGURES, TOUCHES, UNKNOWN, Figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from firmware.hal.calibration import Calibration
    from firmware.hal.ports import FigureReader, GripReading
    from firmware.hal.wiring import Wiring
    from firmware.terms import Likelihood

JOINED_PF = 0.8
"""The highest rail of a gripped figure rises at least so much; four counts on a rail of 200 pF."""

JOINED_SHARE = 0.6
OPEN_SHARE = 0.3
"""Rails that the foot joins rise alike, the others hardly: what lies between these shares of the highest is neither."""

MISREAD = 0.005
"""How likely a clean code is another figure's: two faults at once, as a dirty ring and a torn one."""

WRONG_PAD = 0.005
"""How likely a player touches another figure's colour pad."""

MEASUREMENTS = 5
"""Each rail's level is the median of so many."""

REST_S = 0.15
"""What the rails showed so long before a field was touched is their rest: a hand on its way is none."""

FLICKER_S = 0.3
"""A field that is touched again so soon has been held all the time, as far as its rest goes."""

HISTORY = 50
"""So many measurements are remembered: a second's, when each poll measures."""

BADGE_S = 15.0
"""A colour pad speaks for the next grip within so many seconds."""


class Rails:
    """What the rails rise by with a grip: their change since just before the field was touched.

    What other figures do to them where they stand does not count, and neither does a figure that nobody can tell from a
    held one: on a weak return a hand adds little to what the rings beside the foot do.
    """

    def __init__(self) -> None:
        self._recent: deque[tuple[float, Mapping[Rail, float]]] = deque(maxlen=HISTORY)
        self._rest_pf: dict[str, Mapping[Rail, float]] = {}
        """By field: the rails' levels before it was touched."""
        self._released_s: dict[str, float] = {}

    def measure(self, levels_pf: Mapping[Rail, float], now: float) -> None:
        """Take all rails' levels; `now` in seconds."""
        self._recent.append((now, levels_pf))

    def follow(self, fields: frozenset[str], now: float) -> None:
        """Take the fields that are touched now."""
        for field in fields:
            self._released_s.pop(field, None)
            if field not in self._rest_pf and (rest_pf := self._before(now - REST_S)):
                self._rest_pf[field] = rest_pf
        for field in self._rest_pf.keys() - fields:
            if now - self._released_s.setdefault(field, now) >= FLICKER_S:
                del self._rest_pf[field], self._released_s[field]

    def _before(self, time_s: float) -> Mapping[Rail, float]:
        return next((levels for measured_s, levels in reversed(self._recent) if measured_s <= time_s), {})

    def rises_pf(self) -> dict[str, dict[Rail, float]]:
        """By field: how far each rail is above its level before that field was touched."""
        last = [levels for _, levels in self._recent][-MEASUREMENTS:]
        return {
            field: {rail: median(levels[rail] for levels in last) - before_pf for rail, before_pf in rest_pf.items()}
            for field, rest_pf in self._rest_pf.items()
        }


class RailFigures:
    """Tells figures apart by the rails that rise with the grip."""

    def likelihood(self, reading: GripReading) -> Likelihood:
        """The figure whose code the rails show; flat if they show none."""
        return _only(_of_code(reading.rails_pf), MISREAD)


def _of_code(rails_pf: Mapping[Rail, float]) -> Figure | None:
    highest_pf = max(rails_pf.values(), default=0.0)
    if not JOINED_PF <= highest_pf < math.inf:
        return None
    if any(OPEN_SHARE * highest_pf < rise_pf < JOINED_SHARE * highest_pf for rise_pf in rails_pf.values()):
        return None
    joined = frozenset(rail for rail, rise_pf in rails_pf.items() if rise_pf >= JOINED_SHARE * highest_pf)
    return next((figure for figure, code in RAIL_CODES.items() if code == joined), None)


class Badges:
    """Which colour pad goes with the next grip: the one that is held, or was touched last."""

    def __init__(self) -> None:
        self._last: Figure | None = None
        self._last_s = -math.inf
        self._held: frozenset[Figure] = frozenset()

    def follow(self, held: Iterable[Figure], now: float) -> None:
        """Take the colour pads that are touched now; two at once speak for nobody, and neither does what was before."""
        self._held = frozenset(held)
        if self._held:
            (self._last, *others) = self._held
            if others:
                self._last = None
            self._last_s = now

    def badge(self, now: float) -> Figure | None:
        """The figure of the next grip, if a colour pad speaks for one."""
        return self._last if now - self._last_s <= BADGE_S else None

    def use(self) -> None:
        """A grip has been made: a pad that is not held any more has spoken."""
        if not self._held:
            self._last = None


class ColourPadFigures:
    """Goes by the colour pad that was touched."""

    def likelihood(self, reading: GripReading) -> Likelihood:
        """The figure of the colour pad; flat without one."""
        return _only(reading.badge, WRONG_PAD)


def _only(figure: Figure | None, doubt: float) -> Likelihood:
    if figure is None:
        return UNKNOWN
    white, red, green, black = (1.0 if each is figure else doubt for each in FIGURES)
    return white, red, green, black


def feet_pf(wiring: Wiring, calibration: Calibration | None = None) -> dict[Figure, float]:
    """The figures' capacitors as the wiring file says, or as `calibration` has measured them."""
    return dict(wiring.capacitor_pf) | dict(calibration.figures if calibration else {})


def figure_reader(wiring: Wiring, calibration: Calibration | None = None) -> FigureReader:
    """The reader that `wiring` asks for, with the figures' feet as `calibration` has measured them."""
    match wiring.figure_method:
        case FigureMethod.RAILS:
            return RailFigures()
        case FigureMethod.COLOUR_PADS:
            return ColourPadFigures()
        case FigureMethod.NOTHING:
            return NoFigures()
        case FigureMethod.CAPACITOR:
            grounding = [chip for chip in wiring.chips if len(chip.touches) == len(TOUCHES)]
            return CapacitorFigures(
                feet_pf(wiring, calibration), frozenset(field for chip in grounding for field in chip.fields)
            )
