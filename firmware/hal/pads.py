"""All pads of the board: which chip to ask what and when.

While nobody plays only the chip of the Touch fields is read at every poll (2 bytes); the others take turns. As soon as
something is touched everything is read, and the chip of a gripped field is measured, and that of the rails with it.
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING

from firmware.hal.coded import Badges, Rails
from firmware.hal.contact import FINGER_PF, NOTHING, STUCK_S, Finger, PadReading
from firmware.hal.levels import SAGGING_PADS, STANDING_MOST_PF, UNSEEN_S
from firmware.hal.rest import YOUNG_S
from firmware.hal.tended_chip import BLIND_S, ChipState, TendedChip
from firmware.terms import Fault, Part

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.hal.bus import Bus
    from firmware.hal.calibration import Calibration
    from firmware.hal.wiring import ChipWiring, Wiring
    from firmware.terms import Figure, Touch

log = logging.getLogger(__name__)

GLANCE_S = 0.095
"""The other chips' status while nobody plays, and measurements of a held figure: 10 Hz, a little early for jitter."""

BADGE_GLANCE_S = 0.035
"""A chip with colour pads: at every second poll, or a tap of a tenth of a second might fall between two looks."""

CHORE_S = 0.095
"""Chores are spread over slots of a tenth of a second, a little early for jitter."""

SLOTS = 10
DRIFT_SLOT = 5
PLAYED_S = 60.0
"""Each slot reads one chip's health, by turns; where one has been reset so have the others, most likely, and all are
asked. Each chip is measured once a second, in a slot of its own: drift, and figures lifted off unseen. Where nobody has
touched anything for a minute it is done by turns, every second time.
"""

AFTER_RELEASE_S = 0.2
"""A field is measured this long after its release: by then the hand or the figure is gone."""

NEW_S = 0.3
"""A field that was just touched is measured at every poll for so long: the figure may be let go again at once."""

CROSSTALK = 0.007
MOST_CROSSTALK_PF = 1.6
"""So much of a finger's rise may show on the electrode beside its own: more than the 0.5 % that are reckoned with, less
than a hand on the lightest figure adds there (0.9 % of that finger; docs/sensing.md). Never more than this, though: a
finger that is grounded besides, or a shorted pad, has no bound, and that hand shows 1.7 pF.
"""

SWARM = 5
"""More pads than this touched anew in one poll are no fingers: the supply sags, or somebody leans on the board."""

SWARM_HANDS = 3
"""Of so many pads one at most shows a hand where it was the supply: of somebody who leans there nearly all do."""

SWARM_S = 60.0
"""So long pads of a swarm that stay touched are ignored before they are taken for at rest."""


class _Station:
    """A chip's place in the round: its names, and when it is due."""

    def __init__(
        self,
        wiring: ChipWiring,
        bus: Bus,
        reopen_bus: Callable[[], None],
        calibration: Calibration | None,
        standing_pf: float,
    ) -> None:
        self.chip = TendedChip(wiring, bus, reopen_bus, calibration, standing_pf)
        self.touches = tuple(wiring.touches.items())
        self.fields = tuple(wiring.fields.items())
        self.rails = tuple(wiring.rails.items())
        self.badges = tuple(wiring.badges.items())
        self.finger_bits = sum(1 << electrode for electrode in (*wiring.touches.values(), *wiring.badges.values()))
        self.field_bits = sum(1 << electrode for electrode in wiring.fields.values())
        self.every_s = BADGE_GLANCE_S if self.badges else GLANCE_S
        self.mask = 0
        """What is touched, swarms left out."""
        self.swarm = 0
        self.swarm_since_s = 0.0
        self.glance_s = float("-inf")
        self.measure_s = float("-inf")
        self.measured_s = float("-inf")
        self.closely_until_s = float("-inf")
        self.young_until_s = float("-inf")
        """Until then the level at rest of a field that was let go is measured again and again."""
        self.blind_until_s = float("-inf")

    def take(self, now: float) -> tuple[int, bool]:
        """Take over the chip's mask; returns the bits that are new, and whether a field was released."""
        if now < self.blind_until_s:
            return 0, False
        mask = self.chip.mask
        if mask == self.mask and not self.swarm:
            return 0, False
        self.swarm &= mask
        if self.chip.baselines.sagged_s >= self.swarm_since_s:
            self.swarm = 0  # it was the supply, and who is touched now is a hand
        mask &= ~self.swarm
        new = mask & ~self.mask
        released = bool(self.mask & ~mask & self.field_bits)
        if released:
            self.measure_s = now + AFTER_RELEASE_S
            self.young_until_s = now + YOUNG_S
        self.mask = mask
        return new, released

    def ignore(self, bits: int, now: float) -> None:
        """These bits are a swarm until they are released."""
        self.mask &= ~bits
        self.swarm |= bits
        self.chip.levels.doubt_baselines()
        self.swarm_since_s = now

    def rises_pf(self, held: int) -> dict[str, float]:
        """The rise of each held field at the last measurement."""
        return {field: self.chip.levels.rise_pf(electrode) for field, electrode in self.fields if held >> electrode & 1}

    def idles_pf(self, held: int) -> dict[str, float]:
        """What each held field shows at rest."""
        return {field: self.chip.levels.idle_pf[electrode] for field, electrode in self.fields if held >> electrode & 1}

    def passed_pf(self, held: int) -> dict[str, float]:
        """How much of each held field's rise may come from fingers on the wires beside its own."""
        passed_pf = {}
        fingers = self.mask & self.finger_bits
        for field, electrode in self.fields:
            beside = [each for each in (electrode - 1, electrode + 1) if each >= 0 and fingers >> each & 1]
            if beside and held >> electrode & 1:
                passed_pf[field] = min(CROSSTALK * sum(map(self.chip.levels.rise_pf, beside)), MOST_CROSSTALK_PF)
        return passed_pf


class Pads:
    """The chips of a board, polled together.

    Args:
        wiring: which pad is where.
        bus: the I2C bus they all are on.
        reopen_bus: called when a chip is lost, the first remedy for a bus that hangs.
        calibration: of this board, whose map is in `wiring` already.
    """

    def __init__(
        self, wiring: Wiring, bus: Bus, reopen_bus: Callable[[], None], calibration: Calibration | None = None
    ) -> None:
        standing_pf = math.inf if wiring.rail_chip else STANDING_MOST_PF
        self._stations = [_Station(chip, bus, reopen_bus, calibration, standing_pf) for chip in wiring.chips]
        self._prompt = [station for station in self._stations if station.touches]
        self._others = [station for station in self._stations if not station.touches]
        self._rail_station = next((station for station in self._stations if station.rails), None)
        self._rails = Rails()
        self.badges = Badges()
        """Which colour pad speaks for the next grip."""
        self._badge_since_s: dict[Figure, float] = {}
        self._rebased: list[str] = []
        self._place: dict[str, tuple[_Station, int]] = {
            pad: (station, electrode)
            for station in self._stations
            for pad, electrode in station.chip.wiring.wires.items()
        }
        self._slot = 0
        self._resets = 0
        self._touched_s = float("-inf")
        """When anything was touched last."""
        self._chore_s = float("-inf")
        self._all_well = False
        self._masks: tuple[int, ...] = ()
        self._named: tuple[frozenset[Touch], frozenset[str], frozenset[Figure]] = (
            NOTHING.touches,
            NOTHING.fields,
            frozenset(),
        )

    @property
    def chips(self) -> list[TendedChip]:
        """The chips, for those who look after the board."""
        return [station.chip for station in self._stations]

    def faults(self) -> list[Fault]:
        """Chips and pads that do not work now; the bus, where no chip does."""
        faults = [fault for station in self._stations for fault in station.chip.faults()]
        lost = [fault for fault in faults if fault.part is Part.CHIP]
        return [self._bus_fault()] if 1 < len(lost) == len(self._stations) else faults

    def _bus_fault(self) -> Fault:
        """One reason of all, or what they share."""
        reasons = list(dict.fromkeys(chip.lost_by for chip in self.chips))
        why = reasons[0] if len(reasons) == 1 else f"check what they share, SDA, SCL, 3V3 and ground ({reasons[0]})"
        return Fault(Part.BUS, "", f"none of the {len(self._stations)} MPR121 can be reached: {why}")

    def poll(self, now: float, *, closely: bool, falling: bool = False) -> PadReading:
        """Read what is due.

        `closely`: a contact may be made, measure every gripped field at every poll while a Touch field is touched.
        `falling`: a hand is letting go, measure them in any case.
        """
        if not self._all_well:
            self._revive(now)
        awake = 0
        for station in self._prompt:
            station.chip.read_mask(now)
            awake |= station.chip.mask
        for station in self._others:
            if awake or station.mask or now >= station.glance_s:
                station.chip.read_mask(now)
                station.glance_s = now + station.every_s
        if now >= self._chore_s:
            self._chores(now)
        if self._at_rest():
            return NOTHING
        self._touched_s = now
        return self._reading(now, closely, falling)

    def _at_rest(self) -> bool:
        return not any(station.chip.mask or station.mask or station.swarm for station in self._stations)

    def _reading(self, now: float, closely: bool, falling: bool) -> PadReading:
        taken = [station.take(now) for station in self._stations]
        if (count := sum(bits.bit_count() for bits, _ in taken)) > SWARM:
            log.warning("%d pads touched at once: ignored", count)
            for station, (bits, _) in zip(self._stations, taken, strict=True):
                station.ignore(bits, now)
                if bits:
                    self._measure(station, now)
            self._judge_swarm(count)
        touches, fields, badges = self._names()
        if (rails := self._rail_station) is not None:
            self._rails.follow(fields, now)
            if any(released for _, released in taken):
                rails.measure_s = now + AFTER_RELEASE_S
        closely = closely and bool(touches)
        rise_pf: dict[str, float] = {}
        idle_pf: dict[str, float] = {}
        passed_pf: dict[str, float] = {}
        for station, (bits, _) in zip(self._stations, taken, strict=True):
            held = station.mask & station.field_bits
            if bits:
                station.closely_until_s = now + NEW_S
            due = closely or falling or now < station.closely_until_s or now >= station.measure_s
            due = due and bool(station.mask or station is rails)
            if station.measured_s == now or (due and self._measure(station, now)):
                if due:
                    station.measure_s = now + GLANCE_S
                rise_pf.update(station.rises_pf(held))
                idle_pf.update(station.idles_pf(held))
                passed_pf.update(station.passed_pf(held))
        self._follow_badges(badges, now)
        rails_pf = self._rails.rises_pf() if closely else {}
        finger = self._measure_finger(touches, now) if closely and fields else None
        noise_counts = max(station.chip.levels.noise_counts for station in self._stations)
        return PadReading(
            touches, fields, rise_pf, rails_pf, self.badges.badge(now), idle_pf, finger, noise_counts, passed_pf
        )

    def _measure_finger(self, touches: frozenset[Touch], now: float) -> Finger | None:
        """The Touch field's level: it tells the way from the body back to ground."""
        if len(touches) != 1:
            return None
        (touch,) = touches
        station, electrode = self._place[touch]
        if station.measured_s != now and not self._measure(station, now):
            return None
        levels = station.chip.levels
        return Finger(levels.rise_pf(electrode), levels.idle_pf[electrode])

    def _measure(self, station: _Station, now: float) -> bool:
        """Measure a chip; False if it could not be done."""
        if not station.chip.measure(now):
            return False
        station.measured_s = now
        if station.rails:
            levels_pf = {rail: station.chip.levels.now_pf[electrode] for rail, electrode in station.rails}
            self._rails.measure(levels_pf, now)
        return True

    def _names(self) -> tuple[frozenset[Touch], frozenset[str], frozenset[Figure]]:
        masks = tuple(station.mask for station in self._stations)
        if masks != self._masks:
            self._masks = masks
            stations = self._stations
            self._named = (
                frozenset(touch for station in stations for touch, bit in station.touches if station.mask >> bit & 1),
                frozenset(field for station in stations for field, bit in station.fields if station.mask >> bit & 1),
                frozenset(badge for station in stations for badge, bit in station.badges if station.mask >> bit & 1),
            )
        return self._named

    def _follow_badges(self, held: frozenset[Figure], now: float) -> None:
        """A colour pad that is held for a minute is stuck and speaks for nobody, nor does one that shows no finger."""
        if not held and not self._badge_since_s:
            return
        self._badge_since_s = {figure: self._badge_since_s.get(figure, now) for figure in held}
        self.badges.follow([figure for figure in held if self._rise_pf(figure) >= FINGER_PF], now)
        for figure, since_s in self._badge_since_s.items():
            if now - since_s >= STUCK_S:
                self.rebase(figure, now)

    def _rise_pf(self, pad: str) -> float:
        station, electrode = self._place[pad]
        return station.chip.levels.rise_pf(electrode)

    def rebase(self, pad: str, now: float) -> bool:
        """Take a pad's present level for its rest; False if that cannot be done now."""
        station, electrode = self._place[pad]
        if not station.chip.rebase(electrode, now):
            return False
        station.mask &= ~(1 << electrode)
        station.blind_until_s = now + BLIND_S
        station.measure_s = now + AFTER_RELEASE_S
        station.young_until_s = now + YOUNG_S
        self._rebased.append(pad)
        return True

    def take_rebased(self) -> list[str]:
        """The pads whose level at rest is a new one since this was asked last."""
        rebased, self._rebased = self._rebased, []
        return rebased

    # --- chores

    def _revive(self, now: float) -> None:
        for station in self._stations:
            station.chip.revive(now)
        self._all_well = all(station.chip.state is ChipState.OK for station in self._stations)

    def _chores(self, now: float) -> None:
        """One slot of the round: health, drift, what a release has left behind, and swarms that do not go."""
        self._chore_s = now + CHORE_S
        if self._slot == 0:  # nobody knows yet which hands were there: it is seen when they go
            for station in self._stations:
                station.young_until_s = now + UNSEEN_S
        self._slot += 1
        turn = self._slot % SLOTS
        self._check_health(now)
        idle = now - self._touched_s > PLAYED_S and self._slot // SLOTS % 2
        if 0 <= turn - DRIFT_SLOT < len(self._stations) and not idle:
            self._measure(self._stations[turn - DRIFT_SLOT], now)
        for station in self._stations:
            for electrode in station.chip.levels.hands_gone(now):
                pad = station.chip.levels.pads[electrode]
                if self._names()[0] <= {pad}:  # as with every field: not while another Touch field is down
                    self.rebase(pad, now)
            at_rest = not station.mask & station.field_bits
            due = station.measure_s <= now or station.chip.levels.doubtful
            if at_rest and due and self._measure(station, now):
                station.measure_s = now if now < station.young_until_s else float("inf")
            if station.swarm and now - station.swarm_since_s >= SWARM_S:
                self._settle_swarm(station, now)
            elif station.swarm:
                self._measure(station, now)  # a sag of the supply is seen by that, and its traces are mended
        self._all_well = all(station.chip.state is ChipState.OK for station in self._stations)

    def _check_health(self, now: float) -> None:
        self.chips[self._slot % len(self._stations)].check(now)
        if sum(chip.resets for chip in self.chips) != self._resets:
            for chip in self.chips:
                chip.check(now)
            self._resets = sum(chip.resets for chip in self.chips)

    def _judge_swarm(self, count: int) -> None:
        """If hardly any pad of a swarm shows a hand it was the supply: those that do somebody has touched just then."""
        hands = [
            station.swarm & station.chip.levels.touched() if len(station.chip.levels.pads) >= SAGGING_PADS else 0
            for station in self._stations
        ]
        if SWARM_HANDS * sum(bits.bit_count() for bits in hands) <= count:
            for station, bits in zip(self._stations, hands, strict=True):
                station.swarm &= ~bits

    def _settle_swarm(self, station: _Station, now: float) -> None:
        """Take it for rest; what moves just then is looked at later."""
        for electrode, pad in station.chip.levels.pads.items():
            if station.swarm >> electrode & 1 and self.rebase(pad, now):
                station.swarm &= ~(1 << electrode)
        station.swarm_since_s = now
