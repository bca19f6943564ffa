"""All pads of the board: which chip to ask what and when, and the touch board made of them.

While nobody plays only the chip of the Touch fields is read at every poll (2 bytes); the others take turns. As soon as
something is touched everything is read, and the chip of a gripped field is measured.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from firmware.hal.contact import NOTHING, Contacts, PadReading
from firmware.hal.tended_chip import ChipState, TendedChip

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.hal.bus import Bus
    from firmware.hal.ports import FigureReader
    from firmware.hal.wiring import ChipWiring, Wiring
    from firmware.terms import Fault, Grip, Touch

log = logging.getLogger(__name__)

GLANCE_S = 0.095
"""The other chips' status while nobody plays, and measurements of a held figure: 10 Hz, a little early for jitter."""

CHORE_S = 0.095
"""Chores are spread over slots of a tenth of a second, a little early for jitter: one chip's health or drift each."""

HEALTH_SLOTS = 10
"""Each chip's health once a second, in a slot of its own (four chips at most)."""

DRIFT_SLOTS = 20
DRIFT_SLOT = 5
"""One chip is measured every two seconds, in turn, in a slot without a health reading."""

AFTER_RELEASE_S = 0.2
"""A field is measured this long after its release: by then the hand or the figure is gone."""

NEW_S = 0.3
"""A field that was just touched is measured at every poll for so long: the figure may be let go again at once."""

SWARM = 5
"""More pads than this touched anew in one poll are no fingers: the supply sags, or somebody leans on the board."""

SWARM_S = 60.0
"""So long pads of a swarm that stay touched are ignored before they are taken for at rest."""

BLIND_S = 0.06
"""After a pad was re-based its chip starts counting afresh: its status means nothing for two or three updates."""


class _Station:
    """A chip's place in the round: its names, and when it is due."""

    def __init__(self, wiring: ChipWiring, bus: Bus, reopen_bus: Callable[[], None]) -> None:
        self.chip = TendedChip(wiring, bus, reopen_bus)
        self.touches = tuple(wiring.touches.items())
        self.fields = tuple(wiring.fields.items())
        self.field_bits = sum(1 << electrode for electrode in wiring.fields.values())
        self.mask = 0
        """What is touched, swarms left out."""
        self.swarm = 0
        self.swarm_since_s = 0.0
        self.glance_s = float("-inf")
        self.measure_s = float("-inf")
        self.closely_until_s = float("-inf")
        self.blind_until_s = float("-inf")

    def take(self, now: float) -> int:
        """Take over the chip's mask; returns the bits that are new."""
        if now < self.blind_until_s:
            return 0
        mask = self.chip.mask
        if mask == self.mask and not self.swarm:
            return 0
        self.swarm &= mask
        mask &= ~self.swarm
        new = mask & ~self.mask
        if self.mask & ~mask & self.field_bits:
            self.measure_s = now + AFTER_RELEASE_S
        self.mask = mask
        return new

    def ignore(self, bits: int, now: float) -> None:
        """These bits are a swarm until they are released."""
        self.mask &= ~bits
        self.swarm |= bits
        self.swarm_since_s = now

    def rises_pf(self, held: int) -> dict[str, float]:
        """The rise of each held field at the last measurement."""
        return {field: self.chip.levels.rise_pf(electrode) for field, electrode in self.fields if held >> electrode & 1}


class Pads:
    """The chips of a board, polled together.

    Args:
        wiring: which pad is where.
        bus: the I2C bus they all are on.
        reopen_bus: called when a chip is lost, the first remedy for a bus that hangs.
    """

    def __init__(self, wiring: Wiring, bus: Bus, reopen_bus: Callable[[], None]) -> None:
        self._stations = [_Station(chip, bus, reopen_bus) for chip in wiring.chips]
        self._first = next(station for station in self._stations if station.touches)
        self._others = [station for station in self._stations if station is not self._first]
        self._place: dict[str, tuple[_Station, int]] = {
            str(pad): (station, electrode)
            for station in self._stations
            for pads in (station.touches, station.fields)
            for pad, electrode in pads
        }
        self._slot = 0
        self._chore_s = float("-inf")
        self._all_well = False
        self._masks: tuple[int, ...] = ()
        self._named: tuple[frozenset[Touch], frozenset[str]] = (NOTHING.touches, NOTHING.fields)

    @property
    def chips(self) -> list[TendedChip]:
        """The chips, for those who look after the board."""
        return [station.chip for station in self._stations]

    def faults(self) -> list[Fault]:
        """Chips and pads that do not work now."""
        return [fault for station in self._stations for fault in station.chip.faults()]

    def poll(self, now: float, *, closely: bool) -> PadReading:
        """Read what is due. `closely`: a contact is being made, measure every gripped field at every poll."""
        if not self._all_well:
            self._revive(now)
        first = self._first
        first.chip.read_mask(now)
        awake = first.chip.mask
        for station in self._others:
            if awake or station.mask or now >= station.glance_s:
                station.chip.read_mask(now)
                station.glance_s = now + GLANCE_S
        if now >= self._chore_s:
            self._chores(now)
        if not (awake or first.mask) and all(not station.chip.mask and not station.mask for station in self._others):
            return NOTHING
        return self._reading(now, closely)

    def _reading(self, now: float, closely: bool) -> PadReading:
        new = [station.take(now) for station in self._stations]
        if (count := sum(bits.bit_count() for bits in new)) > SWARM:
            log.warning("%d pads touched at once: ignored", count)
            for station, bits in zip(self._stations, new, strict=True):
                station.ignore(bits, now)
        touches, fields = self._names()
        rise_pf: dict[str, float] = {}
        for station, bits in zip(self._stations, new, strict=True):
            held = station.mask & station.field_bits
            if bits:
                station.closely_until_s = now + NEW_S
            due = (closely and touches) or now < station.closely_until_s or now >= station.measure_s
            if held and due and station.chip.measure(now):
                station.measure_s = now + GLANCE_S
                rise_pf.update(station.rises_pf(held))
        return PadReading(touches, fields, rise_pf)

    def _names(self) -> tuple[frozenset[Touch], frozenset[str]]:
        masks = tuple(station.mask for station in self._stations)
        if masks != self._masks:
            self._masks = masks
            self._named = (
                frozenset(touch for touch, electrode in self._first.touches if self._first.mask >> electrode & 1),
                frozenset(
                    field
                    for station in self._stations
                    for field, electrode in station.fields
                    if station.mask >> electrode & 1
                ),
            )
        return self._named

    def rebase(self, pad: str, now: float) -> None:
        """Take a pad's present level for its rest."""
        station, electrode = self._place[pad]
        if station.chip.rebase(electrode, now):
            station.mask &= ~(1 << electrode)
            station.blind_until_s = now + BLIND_S
            station.measure_s = now + AFTER_RELEASE_S

    # --- chores

    def _revive(self, now: float) -> None:
        for station in self._stations:
            station.chip.revive(now)
        self._all_well = all(station.chip.state is ChipState.OK for station in self._stations)

    def _chores(self, now: float) -> None:
        """One slot of the round: health, drift, what a release has left behind, and swarms that do not go."""
        self._chore_s = now + CHORE_S
        self._slot += 1
        turn = self._slot % HEALTH_SLOTS
        if turn < len(self._stations):
            self._stations[turn].chip.check(now)
        if self._slot % DRIFT_SLOTS == DRIFT_SLOT:
            self._stations[self._slot // DRIFT_SLOTS % len(self._stations)].chip.measure(now)
        for station in self._stations:
            if not station.mask & station.field_bits and station.measure_s <= now:
                station.measure_s = float("inf")
                station.chip.measure(now)
            if station.swarm and now - station.swarm_since_s >= SWARM_S:
                self._settle_swarm(station, now)
        self._all_well = all(station.chip.state is ChipState.OK for station in self._stations)

    @staticmethod
    def _settle_swarm(station: _Station, now: float) -> None:
        for _, electrode in (*station.touches, *station.fields):
            if station.swarm >> electrode & 1:
                station.chip.rebase(electrode, now)
        station.swarm = 0
        station.blind_until_s = now + BLIND_S


class Mpr121Board:
    """The touch board: pads in, grips out (port `TouchBoard`)."""

    def __init__(
        self, wiring: Wiring, bus: Bus, reader: FigureReader, reopen_bus: Callable[[], None] = lambda: None
    ) -> None:
        self.pads = Pads(wiring, bus, reopen_bus)
        self._contacts = Contacts(reader)
        self._closed = False

    def poll(self, now: float) -> Grip | None:
        """Called 50 times a second; a `Grip` once per contact. `now` in seconds, monotonic."""
        if self._closed:
            return None
        contacts = self._contacts
        reading = self.pads.poll(now, closely=not contacts.answered)
        if reading is NOTHING and contacts.idle:
            return None
        grip = contacts.update(reading, now)
        for pad in contacts.at_rest(now):
            self.pads.rebase(pad, now)
        return grip

    def faults(self) -> list[Fault]:
        """Chips and pads that do not work now, empty if all is well."""
        return self.pads.faults()

    def close(self) -> None:
        """Polls no more; harmless when called again."""
        self._closed = True
