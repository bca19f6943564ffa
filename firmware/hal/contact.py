"""From pads to a grip: exactly one Touch field and exactly one gripped field, long enough to be measured.

Pure: readings and time in, a `Grip` out. What must be told apart from a grip is a figure that merely stands (its metal
alone raises a pad by one or two picofarads), hands lying about, and the same contact held on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import TYPE_CHECKING

from firmware.hal.levels import FIELD_RISE_PF, LOWEST_COUNTS
from firmware.hal.ports import GripReading
from firmware.terms import Grip, Touch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firmware.hal.ports import FigureReader
    from firmware.hal.wiring import Rail
    from firmware.terms import Figure

MEASUREMENTS = 3
"""A grip is judged by the median of three measurements that agree: one spike cannot decide."""

MOST_MEASUREMENTS = 25
"""After so many, half a second, noise is lived with."""

MEASUREMENT_GAP_S = 0.009
"""The chips have a new value every 10 ms (MPR121 data sheet, ESI x SFI); anything sooner is the same one again."""

STILL_PF = 0.2
STILL = 0.06
"""A field that wanders by no more than this stands still."""

IDLE_COUNTS = 724
"""What auto-configuration makes an idle pad read (MPR121 data sheet, 5.11): by that a count is so many picofarads."""

USUAL_IDLE_PF = 80.0
"""A pad with its wire, where nothing is known of it."""

ROUNDING_COUNTS = 0.35
"""Standard deviation of a quiet chip's reading, rounded to a whole count."""

NOISE_AT_FIRST_COUNTS = 0.5
MOST_NOISE_COUNTS = 2.0
LEARNING = 0.2
"""What is thought of a reading's noise before any grip, the most that is believed, and how fast it is learnt."""

ROUNDED_COUNTS = 0.41
"""What averaging does not take away (standard deviation): level and rest are both rounded to whole counts, by 0.29."""

ERROR_PF = 0.06
ERROR = 0.025
"""Measurements are averaged until the mean's standard error is no more than this, or this share of it."""

FAR = 4.0
FAR_SHARE = 0.02
"""So many standard deviations away, and by this share, is no noise: a hand moves."""

SLOPE_ERRORS = 3.0
"""A slope of so many standard errors is no noise either."""

SURELY = 1.5
"""So many standard errors are added to a slope that must be small."""

GROWTH_PER_S = 0.35
"""Below this share of itself a second no hand is closing that takes two seconds at most."""

GROWTH = 0.4
QUICK = 1.5
QUICK_UNSEEN_S = 0.12
SLOW_UNSEEN_S = 0.8
"""A field whose hand still closes has come to its level since it was first measured and in the time before: it grows by
no less than this share of its level in as long. Before was a moment if it was so many times the touch threshold when
first measured, or else as long as a slow hand takes to come so far.
"""

STILL_TIMES = 1.5
"""What has stood still, though it would have left its bounds so many times over if a hand were closing, has closed."""

FRESH_S = 0.5
"""A field that has been still for so long was gripped before; only the finger's landing is still to be waited for."""

STEADY_PF = 0.4
STEADY = 0.06
"""A held or standing figure's level wanders by no more than this."""

SETTLED_S = 0.1
"""A level is settled when it has been steady for so long."""

RAISED_PF = 0.5
"""Less than this is nobody's hand: a quarter of what the lightest figure (3.3 pF) adds when gripped where it stood."""

FALLEN_COUNTS = 3.0
FALLEN_NOISE = 3.0
"""Nor is a smaller fall than this a hand that has let go, or a smaller rise one that has come back: so many counts, and
so many standard deviations of the noise.
"""

GONE = 0.35
"""Below this share of its peak a hand has let go, whatever stands there: the field's rest may be known badly."""

FINGER_PF = 2.0
"""A finger on a Touch field adds more: 6 pF through lacquer on the weakest return. Less is a baseline that a sag of the
supply has taken away.
"""

STANDING_S = 10.0
"""So long a rise that a standing figure can cause, without a Touch field, is one: it came without a hand being seen."""

FLAT_S = 0.5
"""So long a field that its chip calls touched may show nothing at all."""

GLANCE_S = 1.0
"""The same beside another field that is gripped: nobody need wait for a figure that was set down unseen. And so long a
rise of no more than the heaviest figure that stands is one, though a Touch field is touched then.
"""

STUCK_S = 60.0
"""After this a touched pad is taken for its own rest (MPR121 data sheet, 5.6: write its baseline)."""

RELEASE_S = 0.03
"""A Touch field is released when it has been so for more than one poll."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a figure shows on a field when nobody holds it."""

    most_pf: float
    surely_pf: float
    """Hardly a grip shows so little."""
    together_pf: float
    """The same of figures that were set down there one after the other."""
    let_go: float
    """A hand has let go when the rise has fallen below this share of its peak, and below `together_pf`."""
    fall_pf: float = math.inf
    """Or by so much, where that is less."""


STANDING = Standing(2.0, 1.7, 3.3, 0.65)
"""At most its metal's 1.7 pF, whatever is in its foot; two of the others show 3.0 pF together."""

STANDING_ON_RINGS = Standing(12.5, 0.0, 12.5, 0.0, 0.9)
"""Its foot couples the centre to the rings beside it, of 15 pF each: 8 pF with one, 11.5 pF with three; estimate. From
a hand's 13.5 pF that is a small fall, and on batteries too small to be sure of: such a figure is known by standing for
a second.
"""


@dataclass(frozen=True, slots=True)
class Finger:
    """How far a touched Touch field has risen above its rest, and that rest, in picofarads."""

    rise_pf: float
    idle_pf: float


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
    idle_pf: Mapping[str, float] = field(default_factory=dict)
    """What the fields in `rise_pf` show at rest."""
    finger: Finger | None = None
    """What the one Touch field that is touched shows, while a contact is being made."""


NOTHING = PadReading()


@dataclass(slots=True)
class _Raised:
    """A field that its chip calls touched. Levels are medians of three, so one spike is no peak and no rest."""

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
    still_pf: float = 0.0
    still_since_s: float = 0.0
    stands: bool = False
    """The hand has let go: it is at rest from now on."""
    stands_pf: float = 0.0
    change_pf: float = RAISED_PF
    """The least change that is no noise."""
    floor_pf: float = 0.0
    """What figures show here that were let go and have not been taken for the field's rest yet."""

    def measure(self, measured_pf: float, idle_pf: float, noise_counts: float, now: float) -> None:
        count_pf = _count_pf(idle_pf, measured_pf)
        self.change_pf = max(RAISED_PF, (FALLEN_COUNTS + FALLEN_NOISE * noise_counts) * count_pf)
        self.recent_pf = (*self.recent_pf[1 - MEASUREMENTS :], measured_pf - self.floor_pf)
        rise_pf = median(self.recent_pf)
        if self.rise_pf is None or self.fallen:
            self.first_s = now
            self.quick = measured_pf - self.floor_pf > QUICK * max(FIELD_RISE_PF, LOWEST_COUNTS * count_pf)
        if self.rise_pf is None or abs(rise_pf - self.steady_pf) > STEADY_PF + STEADY * rise_pf:
            self.steady_pf, self.steady_since_s = rise_pf, now
        if self.rise_pf is None or abs(rise_pf - self.still_pf) > STILL_PF + STILL * rise_pf:
            self.still_pf, self.still_since_s = rise_pf, now
        self.rise_pf = rise_pf
        if self.stands:
            if rise_pf > self.stands_pf + self.change_pf:
                self._grip_anew(now)
            return
        self.peak_pf = max(self.peak_pf, rise_pf)
        if self.fallen and now - self.steady_since_s >= SETTLED_S:
            self.stands, self.stands_pf = True, rise_pf

    def _grip_anew(self, now: float) -> None:
        """A hand has come back before the field was re-based: from now on the rise is what it adds."""
        self.stands = False
        self.first_s, self.quick = now, False
        self.floor_pf += self.stands_pf
        self.recent_pf = tuple(pf - self.stands_pf for pf in self.recent_pf)
        self.rise_pf = self.peak_pf = self.steady_pf = median(self.recent_pf)
        self.steady_since_s = now

    @property
    def fallen(self) -> bool:
        """The level has come down from a hand's to a standing figure's."""
        standing = self.standing
        most_pf = max(standing.together_pf, GONE * self.peak_pf)
        highest_pf = min(
            most_pf, max(standing.let_go * self.peak_pf, self.peak_pf - standing.fall_pf), self.peak_pf - self.change_pf
        )
        return self.rise_pf is not None and self.rise_pf < highest_pf

    def took_s(self, now: float) -> float:
        """How long a hand that still closes has been closing."""
        return now - self.first_s + (QUICK_UNSEEN_S if self.quick else SLOW_UNSEEN_S)

    @property
    def gripped(self) -> bool:
        """Held by a hand, as far as is known; what has not been measured might be."""
        return not self.stands and not self.fallen and (self.rise_pf is None or self.rise_pf >= RAISED_PF)

    def surely_stands(self, now: float) -> bool:
        """Whether it has shown so little for so long that no hand holds it."""
        low = self.rise_pf is not None and self.rise_pf <= self.standing.surely_pf
        return low and now - self.steady_since_s >= GLANCE_S

    @property
    def rests(self) -> bool:
        """The hand has let go, and the last measurement shows no new one coming."""
        return self.stands and self.recent_pf[-1] <= self.stands_pf + STILL_PF

    def is_flat(self, now: float) -> bool:
        """Whether nothing has been there for a while: only the chip's baseline is wrong, after a dip of the supply."""
        return self.rise_pf is not None and self.rise_pf < RAISED_PF and now - self.steady_since_s >= FLAT_S

    def may_stand(self, now: float, for_s: float) -> bool:
        """Whether it has shown no more than a standing figure can for so long."""
        return self.rise_pf is not None and self.rise_pf < self.standing.most_pf and now - self.steady_since_s >= for_s


@dataclass(frozen=True, slots=True)
class _Settled:
    """A level that has come to rest, with its standard error."""

    rise_pf: float
    error_pf: float
    noise_counts: float
    """What the measurements themselves show of noise (standard deviation), rounding included."""
    freedoms: int


def _settled(
    samples: list[tuple[float, float]], idle_pf: float, noise_counts: float, raised: _Raised
) -> _Settled | None:
    """The mean of the last measurements, None while a hand may still be closing or more of them are needed.

    `samples` are seconds and picofarads, `idle_pf` the pad at rest, `fresh`: the field had not been raised and steady
    before. A hand that closes evenly raises a field by its whole level in as long as it has taken so far, so what
    grows by less than `GROWTH_PER_S` of itself has closed.
    """
    if len(samples) < MEASUREMENTS:
        return None
    patient = len(samples) < MOST_MEASUREMENTS
    count_pf = _count_pf(idle_pf, samples[-1][1])
    noise_pf = noise_counts * count_pf
    for count in range(len(samples), MEASUREMENTS - 1, -1):
        last = samples[-count:]
        mean_pf, slope_pf_per_s, slope_error, residual_pf = _line(last, noise_pf)
        if max(abs(rise_pf - mean_pf) for _, rise_pf in last) > max(FAR * noise_pf, FAR_SHARE * mean_pf):
            continue
        if abs(slope_pf_per_s) > SLOPE_ERRORS * slope_error:
            continue
        error_pf = noise_pf / math.sqrt(count)
        if patient or count < len(samples):
            if error_pf > max(ERROR_PF, ERROR * mean_pf):
                return None
            now = samples[-1][0]
            growth_pf_per_s = max(GROWTH_PER_S, GROWTH / raised.took_s(now)) * mean_pf
            still = growth_pf_per_s * (now - raised.still_since_s) > STILL_TIMES * (STILL_PF + STILL * mean_pf)
            if not still and abs(slope_pf_per_s) + SURELY * slope_error > growth_pf_per_s:
                return None
        seen_counts = max(residual_pf / count_pf, ROUNDING_COUNTS)
        return _Settled(mean_pf, math.hypot(error_pf, ROUNDED_COUNTS * count_pf), seen_counts, count - 2)
    return None


def _count_pf(idle_pf: float, rise_pf: float) -> float:
    """How many picofarads a count is, at idle_pf + rise_pf on a pad that reads `IDLE_COUNTS` at rest."""
    return max(idle_pf + rise_pf, idle_pf) ** 2 / (IDLE_COUNTS * idle_pf)


def _known_idle_pf(reading: PadReading, name: str) -> float:
    idle_pf = reading.idle_pf.get(name, USUAL_IDLE_PF)
    return idle_pf if 0.0 < idle_pf < math.inf else USUAL_IDLE_PF


def _noise_counts(samples: list[tuple[float, float]], idle_pf: float) -> float | None:
    """Standard deviation of a measurement by the middle second difference, where neither a hand nor a spike shows."""
    if len(samples) < 2 * MEASUREMENTS:
        return None
    pf = [rise_pf for _, rise_pf in samples]
    second = [one - 2 * two + three for one, two, three in zip(pf, pf[1:], pf[2:], strict=False)]
    seen = 1.48 * median(abs(each) for each in second) / math.sqrt(6) / _count_pf(idle_pf, pf[-1])
    return max(seen, ROUNDING_COUNTS)


def _line(samples: list[tuple[float, float]], noise_pf: float) -> tuple[float, float, float, float]:
    """Mean, slope of the best line, the slope's standard error, and the standard deviation from the line."""
    mean_s, mean_pf = fmean(time_s for time_s, _ in samples), fmean(rise_pf for _, rise_pf in samples)
    spread = sum((time_s - mean_s) ** 2 for time_s, _ in samples)
    slope = sum((time_s - mean_s) * (rise_pf - mean_pf) for time_s, rise_pf in samples) / spread
    squares = sum((rise_pf - mean_pf - slope * (time_s - mean_s)) ** 2 for time_s, rise_pf in samples)
    return mean_pf, slope, noise_pf / math.sqrt(spread), math.sqrt(squares / (len(samples) - 2))


class Contacts:
    """Finds grips in the readings of successive polls."""

    def __init__(self, reader: FigureReader, standing: Standing = STANDING, least_pf: float = RAISED_PF) -> None:
        self._reader = reader
        self._standing = standing
        self._least_pf = least_pf
        """Less than this is no grip, but a figure that stands unseen, or crosstalk of the Touch field."""
        self._raised: dict[str, _Raised] = {}
        self._touched_since_s: dict[Touch, float] = {}
        self._released_s: float | None = None
        self._pair: tuple[Touch, str] | None = None
        self._fresh = True
        """Whether the pair's field had not been steady for long when the Touch field came to it."""
        self._samples: list[tuple[float, float]] = []
        self._fingers_pf: list[float] = []
        self._noise_counts = NOISE_AT_FIRST_COUNTS
        self.answered = False
        """The Touch field that is down has had its grip; it must be released before the next."""

    @property
    def idle(self) -> bool:
        """Nothing is touched and nothing remembered."""
        return not self._raised and not self._touched_since_s and not self.answered

    @property
    def falling(self) -> bool:
        """A hand is letting go somewhere: soon it is known what stands there."""
        return any(raised.fallen and not raised.stands for raised in self._raised.values())

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
            self._fresh = now - self._raised[name].still_since_s < FRESH_S
            self._samples.clear()
            self._fingers_pf.clear()
        if reading.finger is not None and reading.finger.rise_pf < FINGER_PF:
            return None
        if name not in reading.rise_pf or (self._samples and now - self._samples[-1][0] < MEASUREMENT_GAP_S):
            return None
        idle_pf = _known_idle_pf(reading, name)
        self._samples = [*self._samples[1 - MOST_MEASUREMENTS :], (now, self._raised[name].recent_pf[-1])]
        if reading.finger is not None:
            self._fingers_pf = [*self._fingers_pf[1 - MEASUREMENTS :], reading.finger.rise_pf]
        seen_counts = _noise_counts(self._samples, idle_pf)
        settled = _settled(self._samples, idle_pf, max(seen_counts or 0.0, self._noise_counts), self._raised[name])
        if settled is None:
            return None
        if settled.rise_pf < self._least_pf:
            return None
        learnt = LEARNING * min(settled.freedoms / (MEASUREMENTS + 1), 1.0)
        seen2 = min(settled.noise_counts, MOST_NOISE_COUNTS) ** 2
        self._noise_counts = math.sqrt((1.0 - learnt) * self._noise_counts**2 + learnt * seen2)
        self.answered = True
        self._pair = None
        measured = GripReading(
            name,
            settled.rise_pf,
            reading.rails_pf.get(name, {}),
            reading.badge,
            error_pf=settled.error_pf,
            idle_pf=idle_pf,
            touch_pf=median(self._fingers_pf) if self._fingers_pf else None,
            touch_idle_pf=reading.finger.idle_pf if reading.finger else USUAL_IDLE_PF,
        )
        return Grip(name, touch, self._reader.likelihood(measured))

    def _gripped(self, now: float) -> list[str]:
        """The fields that hands hold; where there are several, those that may just be standing figures do not count."""
        gripped = [name for name, raised in self._raised.items() if raised.gripped and not raised.surely_stands(now)]
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
                raised.measure(reading.rise_pf[name], _known_idle_pf(reading, name), self._noise_counts, now)

    def at_rest(self, now: float) -> list[str]:
        """The pads whose present level is their rest from now on: figures let go, and whatever is stuck.

        Fields wait until no Touch field is down: re-basing a pad interrupts its whole chip.
        """
        if self._touched_since_s:
            return [str(touch) for touch, since_s in self._touched_since_s.items() if now - since_s >= STUCK_S]
        return [
            name
            for name, raised in self._raised.items()
            if raised.rests
            or raised.is_flat(now)
            or now - raised.since_s >= STUCK_S
            or raised.may_stand(now, STANDING_S)
            or raised.surely_stands(now)
        ]
