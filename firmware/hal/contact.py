"""From pads to a grip: exactly one Touch field and exactly one gripped field, long enough to be measured.

Pure: readings and time in, a `Grip` out. What must be told apart from a grip is a figure that merely stands (its metal
alone raises a pad by one or two picofarads), hands lying about, and the same contact held on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from firmware.hal.levels import NOISE_COUNTS
from firmware.hal.ports import GripReading
from firmware.hal.raised import FIGURE_PF, RAISED_PF, STANDING, Raised
from firmware.hal.settling import MEASUREMENTS, MOST_MEASUREMENTS, noise_seen, settled_level
from firmware.terms import Grip, Touch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firmware.hal.ports import FigureReader
    from firmware.hal.raised import Standing
    from firmware.hal.wiring import Rail
    from firmware.terms import Figure

MEASUREMENT_GAP_S = 0.009
"""The chips have a new value every 10 ms (MPR121 data sheet, ESI x SFI); anything sooner is the same one again."""

USUAL_IDLE_PF = 80.0
"""A pad with its wire, where nothing is known of it."""

FINGER_PF = 2.0
"""A finger on a Touch field adds more: 6 pF through lacquer on the weakest return. Less is a baseline that a sag of the
supply has taken away.
"""

STUCK_S = 60.0
"""After this a touched pad is taken for its own rest (MPR121 data sheet, 5.6: write its baseline)."""

BLINK_S = 0.2
"""Where a hand has left a figure that has not become the field's rest, and the chip calls the field untouched for no
longer, it still stands there: a sag of the supply has moved the baseline. No hand lets go and comes back so soon.
"""

ANNOUNCED_PF = 0.9
"""From here somebody who has touched the own pad holds a figure that was seen to be set down: in noise its field's rest
may be known three counts too high.
"""

KNOWN_S = 300.0
"""So long an empty field's level is remembered: in that time it drifts by less than a figure shows."""

RELEASE_S = 0.03
"""A Touch field is released when it has been so for more than one poll."""


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
    noise_counts: float = NOISE_COUNTS
    """Standard deviation of a reading of the noisiest chip."""
    passed_pf: Mapping[str, float] = field(default_factory=dict)
    """By field: how much of its rise may come from fingers on the wires beside its own."""


NOTHING = PadReading()


class Contacts:
    """Finds grips in the readings of successive polls."""

    def __init__(self, reader: FigureReader, standing: Standing = STANDING, least_pf: float = RAISED_PF) -> None:
        self._reader = reader
        self._standing = standing
        self._least_pf = least_pf
        """Less than this is no grip, but a figure that stands unseen, or crosstalk of the Touch field."""
        self._raised: dict[str, Raised] = {}
        self._blinked: dict[str, tuple[Raised, float]] = {}
        """The fields where a figure was left and that are touched no more, and since when."""
        self._without_pf: dict[str, tuple[float, float]] = {}
        """By field where a figure was left: the level at rest before any was, and when that was known last."""
        self._touched_since_s: dict[Touch, float] = {}
        self._released_s: float | None = None
        self._pair: tuple[Touch, str] | None = None
        self._samples: list[tuple[float, float]] = []
        self._fingers_pf: list[float] = []
        self._announced: tuple[Figure | None, float] = None, math.inf
        """Whose colour pad has said that a grip comes, and when: what is touched since then may be it, even if it shows
        no more than a figure that stands.
        """
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
        if reading.badge is not self._announced[0]:
            self._announced = reading.badge, math.inf if reading.badge is None else now
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
            self._fingers_pf.clear()
        if reading.finger is not None and reading.finger.rise_pf < FINGER_PF:
            return None
        if name not in reading.rise_pf or (self._samples and now - self._samples[-1][0] < MEASUREMENT_GAP_S):
            return None
        idle_pf = _known_idle_pf(reading, name)
        self._samples = [*self._samples[1 - MOST_MEASUREMENTS :], (now, self._raised[name].recent_pf[-1])]
        if reading.finger is not None:
            self._fingers_pf = [*self._fingers_pf[1 - MEASUREMENTS :], reading.finger.rise_pf]
        noise_counts = max(noise_seen(self._samples, idle_pf), reading.noise_counts)
        settled = settled_level(self._samples, idle_pf, noise_counts, self._raised[name])
        if settled is None or settled.rise_pf < self._least_grip_pf(self._raised[name]):
            return None
        if self._raised[name].stood_before(settled.rise_pf, settled.error_pf):
            return None
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
        gripped = [
            name
            for name, raised in self._raised.items()
            if raised.gripped and (self._is_announced(raised) or not raised.surely_stands(now))
        ]
        for doubted in (Raised.hardly_held, Raised.surely_stands):
            if len(gripped) > 1:
                gripped = [name for name in gripped if not doubted(self._raised[name], now)] or gripped
        return gripped

    def _least_grip_pf(self, raised: Raised) -> float:
        """Where one was announced and a figure is known to stand, hardly anything else shows even half a grip."""
        if raised.on_figure and self._is_announced(raised):
            return min(self._least_pf, ANNOUNCED_PF)
        return self._least_pf

    def _is_announced(self, raised: Raised) -> bool:
        return raised.since_s >= self._announced[1]

    def _follow_touches(self, touches: frozenset[Touch], now: float) -> None:
        if touches and not self._touched_since_s:
            for raised in (*self._raised.values(), *(gone for gone, _ in self._blinked.values())):
                raised.before_pf = raised.mean_pf
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
            gone = self._raised.pop(name)
            if gone.leaves_something:
                self._blinked[name] = gone, now
                self._leave(name, gone, now)
        for name in sorted(reading.fields):  # a set's order differs from run to run
            if name not in self._raised:
                blinked, gone_s = self._blinked.pop(name, (None, now))
                known = blinked if now - gone_s <= BLINK_S else None
                self._raised[name] = known or Raised(now, self._standing)
            raised = self._raised[name]
            if name in reading.rise_pf:
                idle_pf = _known_idle_pf(reading, name)
                if raised.rise_pf is None:
                    raised.on_figure = self._has_figure(name, idle_pf, now)
                raised.passed_pf = reading.passed_pf.get(name, 0.0)
                raised.measure(reading.rise_pf[name], idle_pf, reading.noise_counts, now)

    def forget(self, field: str, now: float) -> None:
        """Its level at rest is new: what was known of it is so no more."""
        raised = self._raised.pop(field, None)
        if raised is not None and raised.rise_pf is not None and raised.mean_pf + raised.floor_pf >= RAISED_PF:
            self._leave(field, raised, now)
        self._blinked.pop(field, None)

    def _leave(self, field: str, raised: Raised, now: float) -> None:
        """A figure was left there, the first, or one more."""
        without_pf = raised.idle_pf
        if self._has_figure(field, raised.idle_pf, now):
            without_pf, _ = self._without_pf[field]
        self._without_pf[field] = without_pf, now

    def _has_figure(self, field: str, idle_pf: float, now: float) -> bool:
        without_pf, known_s = self._without_pf.get(field, (math.inf, now))
        return idle_pf - without_pf >= FIGURE_PF and now - known_s <= KNOWN_S

    def at_rest(self, now: float) -> list[str]:
        """The pads whose present level is their rest from now on: figures let go, and whatever is stuck.

        Fields wait until no Touch field is down: re-basing a pad interrupts its whole chip.
        """
        if self._touched_since_s:
            return [str(touch) for touch, since_s in self._touched_since_s.items() if now - since_s >= STUCK_S]
        return [
            name
            for name, raised in self._raised.items()
            if raised.rests(now, announced=self._is_announced(raised)) or now - raised.since_s >= STUCK_S
        ]


def _known_idle_pf(reading: PadReading, name: str) -> float:
    idle_pf = reading.idle_pf.get(name, USUAL_IDLE_PF)
    return idle_pf if 0.0 < idle_pf < math.inf else USUAL_IDLE_PF
