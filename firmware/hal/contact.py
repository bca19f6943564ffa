"""From pads to a grip: exactly one Touch field and exactly one gripped field, long enough to be measured.

Pure: readings and time in, a `Grip` out. What must be told apart from a grip is a figure that merely stands (its metal
alone raises a pad by one or two picofarads), hands lying about, and the same contact held on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from statistics import fmean, median
from typing import TYPE_CHECKING

from firmware.hal.ports import GripReading
from firmware.terms import Grip, Touch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firmware.hal.ports import FigureReader
    from firmware.hal.wiring import Rail
    from firmware.terms import Figure

MEASUREMENTS = 3
"""A grip is judged by the median of three measurements that agree: one spike cannot decide."""

MOST_MEASUREMENTS = 10
"""As many are remembered: enough to tell a closing hand from noise."""

MEASUREMENT_GAP_S = 0.009
"""The chips have a new value every 10 ms (MPR121 data sheet, ESI x SFI); anything sooner is the same one again."""

STILL_PF = 0.2
STILL = 0.02
"""Three measurements that differ by no more stand still: one count on a 120 pF pad, and this share.

So do the means of five; the means of three must agree twice as well, or a hand that closes slowly would pass.
"""

ONE_WAY_PF = 0.05
"""But three that differ by more than this and all go one way are a hand that closes: 40 ms at 1 pF a second."""

STEADY_PF = 0.4
STEADY = 0.06
"""A held or standing figure's level wanders by no more than this."""

SETTLED_S = 0.1
"""A level is settled when it has been steady for so long."""

RAISED_PF = 0.5
"""Less than this is nobody's hand: half of what the lightest figure (2.2 pF) adds when it is gripped where it stood."""

STANDING_S = 10.0
"""So long a rise that a standing figure can cause, without a Touch field, is one: it came without a hand being seen."""

GLANCE_S = 1.0
"""The same beside another field that is gripped: nobody need wait for a figure that was set down unseen."""

STUCK_S = 60.0
"""After this a touched pad is taken for its own rest (MPR121 data sheet, 5.6: write its baseline)."""

RELEASE_S = 0.03
"""A Touch field is released when it has been so for more than one poll."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a figure shows on a field when nobody holds it."""

    most_pf: float
    let_go: float
    """A hand has let go when the rise has fallen below this share of its peak, and below `most_pf`."""


STANDING = Standing(2.0, 0.65)
"""At most its metal's 1.7 pF, whatever is in its foot."""

STANDING_ON_RINGS = Standing(12.5, 0.8)
"""Its foot couples the centre to the rings beside it, of 15 pF each: 8 pF with one, 11.5 pF with three; estimate. From
a hand's 13.5 pF the fall to 11.5 is too small to be sure of; such a figure is known by standing for a second."""


@dataclass(frozen=True, slots=True)
class PadReading:
    """What the pads say at one poll: what is touched, and how far above rest the fields measured just now are."""

    touches: frozenset[Touch] = frozenset()
    fields: frozenset[str] = frozenset()
    rise_pf: Mapping[str, float] = field(default_factory=dict)
    rails_pf: Mapping[str, Mapping[Rail, float]] = field(default_factory=dict)
    """By field: how far each rail has risen since that field was touched, where the board has rails."""
    badge: Figure | None = None
    """The figure whose colour pad is held or was touched just now, where the board has such pads."""


NOTHING = PadReading()


@dataclass(slots=True)
class _Raised:
    """A field that its chip calls touched. Levels are medians of three, so one spike is no peak and no rest."""

    since_s: float
    standing: Standing = STANDING
    recent_pf: tuple[float, ...] = ()
    rise_pf: float | None = None
    peak_pf: float = 0.0
    steady_pf: float = 0.0
    steady_since_s: float = 0.0
    stands: bool = False
    """The hand has let go: it is at rest from now on."""
    stands_pf: float = 0.0
    floor_pf: float = 0.0
    """What figures show here that were let go and have not been taken for the field's rest yet."""

    def measure(self, measured_pf: float, now: float) -> None:
        self.recent_pf = (*self.recent_pf[1 - MEASUREMENTS :], measured_pf - self.floor_pf)
        rise_pf = median(self.recent_pf)
        if self.rise_pf is None or abs(rise_pf - self.steady_pf) > STEADY_PF + STEADY * rise_pf:
            self.steady_pf, self.steady_since_s = rise_pf, now
        self.rise_pf = rise_pf
        if self.stands:
            if rise_pf > self.stands_pf + RAISED_PF:
                self._grip_anew(now)
            return
        self.peak_pf = max(self.peak_pf, rise_pf)
        if self.fallen and now - self.steady_since_s >= SETTLED_S:
            self.stands, self.stands_pf = True, rise_pf

    def _grip_anew(self, now: float) -> None:
        """A hand has come back before the field was re-based: from now on the rise is what it adds."""
        self.stands = False
        self.floor_pf += self.stands_pf
        self.recent_pf = tuple(pf - self.stands_pf for pf in self.recent_pf)
        self.rise_pf = self.peak_pf = self.steady_pf = median(self.recent_pf)
        self.steady_since_s = now

    @property
    def fallen(self) -> bool:
        """The level has come down from a hand's to a standing figure's."""
        standing = self.standing
        highest_pf = min(standing.most_pf, standing.let_go * self.peak_pf, self.peak_pf - RAISED_PF)
        return self.rise_pf is not None and self.rise_pf < highest_pf

    @property
    def gripped(self) -> bool:
        """Held by a hand, as far as is known; what has not been measured might be."""
        return not self.stands and not self.fallen and (self.rise_pf is None or self.rise_pf >= RAISED_PF)

    @property
    def rests(self) -> bool:
        """The hand has let go, and the last measurement shows no new one coming."""
        return self.stands and self.recent_pf[-1] <= self.stands_pf + STILL_PF

    def may_stand(self, now: float, for_s: float) -> bool:
        """Whether it has shown no more than a standing figure can for so long."""
        return self.rise_pf is not None and self.rise_pf < self.standing.most_pf and now - self.steady_since_s >= for_s


def _settled(samples_pf: list[float]) -> float | None:
    """The median of the last measurements, None while a hand is still closing.

    Three that hardly differ are enough, unless each is above (or below) the one before. If noise spoils that, the means
    of two threes decide, or of two fives.
    """
    last = samples_pf[-MEASUREMENTS:]
    if len(last) < MEASUREMENTS:
        return None
    middle, spread = median(last), max(last) - min(last)
    still_pf = STILL_PF + STILL * middle
    one_way = middle == last[1] and spread > ONE_WAY_PF
    if spread <= still_pf and not one_way:
        return middle
    if _moved_pf(samples_pf, 3) <= still_pf / 2 or _moved_pf(samples_pf, 5) <= still_pf:
        return median(samples_pf[-2 * MEASUREMENTS :])
    return None


def _moved_pf(samples_pf: list[float], count: int) -> float:
    """How far the mean of the last `count` is from that of the `count` before; infinite if there are not so many."""
    if len(samples_pf) < 2 * count:
        return inf
    return abs(fmean(samples_pf[-count:]) - fmean(samples_pf[-2 * count : -count]))


class Contacts:
    """Finds grips in the readings of successive polls."""

    def __init__(self, reader: FigureReader, standing: Standing = STANDING) -> None:
        self._reader = reader
        self._standing = standing
        self._raised: dict[str, _Raised] = {}
        self._touched_since_s: dict[Touch, float] = {}
        self._released_s: float | None = None
        self._pair: tuple[Touch, str] | None = None
        self._samples: list[float] = []
        self._sampled_s = float("-inf")
        self.answered = False
        """The Touch field that is down has had its grip; it must be released before the next."""

    @property
    def idle(self) -> bool:
        """Nothing is touched and nothing remembered."""
        return not self._raised and not self._touched_since_s and not self.answered

    def update(self, reading: PadReading, now: float) -> Grip | None:
        """Take one poll's reading; `now` in seconds."""
        self._follow_touches(reading.touches, now)
        self._follow_fields(reading, now)
        gripped = self._gripped(now)
        if self.answered or len(reading.touches) != 1 or len(gripped) != 1:
            self._pair = None
            return None
        (touch,), (name,) = reading.touches, gripped
        if self._pair != (touch, name):
            self._pair = (touch, name)
            self._samples.clear()
            self._sampled_s = float("-inf")
        if name not in reading.rise_pf or now - self._sampled_s < MEASUREMENT_GAP_S:
            return None
        self._sampled_s = now
        self._samples = [*self._samples[1 - MOST_MEASUREMENTS :], self._raised[name].recent_pf[-1]]
        rise_pf = _settled(self._samples)
        if rise_pf is None:
            return None
        self.answered = True
        self._pair = None
        measured = GripReading(name, rise_pf, reading.rails_pf.get(name, {}), reading.badge)
        return Grip(name, touch, self._reader.likelihood(measured))

    def _gripped(self, now: float) -> list[str]:
        """The fields that hands hold; where there are several, those that may just be standing figures do not count."""
        gripped = [name for name, raised in self._raised.items() if raised.gripped]
        if len(gripped) > 1:
            gripped = [name for name in gripped if not self._raised[name].may_stand(now, GLANCE_S)] or gripped
        return gripped

    def _follow_touches(self, touches: frozenset[Touch], now: float) -> None:
        if touches:
            self._released_s = None
        elif self.answered:
            if self._released_s is None:
                self._released_s = now
            elif now - self._released_s >= RELEASE_S:
                self.answered = False
        if self._touched_since_s.keys() != touches:
            self._touched_since_s = {touch: self._touched_since_s.get(touch, now) for touch in touches}

    def _follow_fields(self, reading: PadReading, now: float) -> None:
        for name in [name for name in self._raised if name not in reading.fields]:
            del self._raised[name]
        for name in reading.fields:
            raised = self._raised.setdefault(name, _Raised(now, self._standing))
            if name in reading.rise_pf:
                raised.measure(reading.rise_pf[name], now)

    def at_rest(self, now: float) -> list[str]:
        """The pads whose present level is their rest from now on: figures let go, and whatever is stuck.

        Fields wait until no Touch field is down: re-basing a pad interrupts its whole chip.
        """
        if self._touched_since_s:
            return [str(touch) for touch, since_s in self._touched_since_s.items() if now - since_s >= STUCK_S]
        return [
            name
            for name, raised in self._raised.items()
            if raised.rests or now - raised.since_s >= STUCK_S or raised.may_stand(now, STANDING_S)
        ]
