"""What an emulated table is made of, and under which conditions people play at it.

Written down before anything was tuned against it. Numbers come from the MPR121's data sheet and AN3889 where those say
something, from measurements of bodies for ESD testing, and otherwise are estimates from sizes and materials; each says
which. `TUNING` is what thresholds may be tuned with; `HOLD_OUT` is looked at for the report only.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from enum import Enum

from firmware.terms import VolcanoError


@dataclass(frozen=True, slots=True)
class Range:
    """From `low` to `high`; what is drawn from it lies evenly on a logarithmic scale."""

    low: float
    high: float

    def at(self, share: float) -> float:
        """The value at `share`, 0 the lowest and 1 the highest."""
        return self.low * math.exp(share * math.log(self.high / self.low))

    def draw(self, *names: object) -> float:
        """A value that these names have for ever, on every machine."""
        return self.at(chance(*names))


def chance(*names: object) -> float:
    """A number of 0 up to 1 that belongs to these names: two checksums mixed, since one alone is not even enough."""
    text = " ".join(map(str, names)).encode()
    mixed = (zlib.crc32(text) * 0x9E3779B97F4A7C15 ^ zlib.adler32(text) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
    mixed = (mixed ^ mixed >> 31) * 0xD6E8FEB86659FD93 & (2**64 - 1)
    return (mixed >> 32) / 2**32


def series_pf(*parts: float) -> float:
    """Capacitors in series, in picofarads."""
    return 1.0 / sum(1.0 / part for part in parts)


@dataclass(frozen=True, slots=True)
class TablePhysics:
    """One table and one player, in picofarads and seconds. Estimates unless a source is given."""

    lowest_pad_pf: float = 40.0
    highest_pad_pf: float = 120.0
    """A pad with its wire: foil or copper of a few square centimetres and 20 to 60 cm of wire."""

    tolerance: float = 0.0
    """Share by which a figure's capacitor may miss its marking."""

    figure_pf: float = 1.7
    """A figure's metal to everything around it, nobody holding it: the self-capacitance of a 3 cm body."""

    beside_pf: float = 0.3
    """What a hand adds to a figure that stands beside the gripped one: finger and body 2 cm apart."""

    hand_pf: float = 200.0
    """Through the skin of finger and thumb into a bare metal head: the layer of skin is hundreds of picofarads."""

    body_pf: float = 150.0
    """A body to earth (the human-body models of ESD testing take 100 to 150 pF)."""

    earth_pf: float = 1000.0
    """The volcano's ground to earth: a mains adapter couples by about a nanofarad, batteries by 20 to 90 pF."""

    touch_field_pf: float = 500.0
    """A fingertip on bare metal; an insulated Touch field has 10 to 30 pF instead."""

    palm_pf: float = 12.0
    """A hand lying on a field through print and lacquer."""

    crosstalk: float = 0.002
    """Share of a pad's rise that shows on the electrode beside it on the same chip.

    The neighbour is shorted to ground meanwhile (AN3889), so little passes: 15 pF between two wires of 30 cm, and some
    hundred ohms in the chip's switch, leave one or two thousandths.
    """

    rail_pf: float = 200.0
    """A rail of a board with rails: 23 rings with the wires between them."""

    ring_pf: float = 15.0
    """From a figure's foot to a ring or to the centre of a field with rails: 4 cm2 through 0.5 mm of lacquer."""

    let_go_s: float = 0.15
    """How long fingers take to leave a figure's head or a Touch field's metal."""

    set_down_s: float = 0.3
    """From a figure's foot meeting a field to the last finger leaving its head."""


USUAL = TablePhysics()
"""A table that nothing is said about."""


class Supply(Enum):
    """What the volcano runs on: its ground's capacitance to earth, in picofarads."""

    MAINS = Range(500.0, 2000.0)
    """An adapter with a capacitor across its barrier, a nanofarad or two (safety class Y), and its cord; estimate."""
    BATTERY = Range(20.0, 50.0)
    """Cells in the volcano: a box of 15 cm over a table; estimate."""
    BANK = Range(40.0, 90.0)
    """A power bank with its cable beside the board; estimate."""


BODY_PF = Range(80.0, 300.0)
"""Standing people measure 100 to 150 pF by a bridge and 200 to 400 pF by sharing a charge (N. Jonassen, Human body
capacitance: static or dynamic concept?, EOS/ESD symposium 1998); sitting ones somewhat less."""

DRY_HAND_PF = Range(100.0, 400.0)
"""Two fingertips on a head: a square centimetre of horny layer, 15 to 40 micrometres thick; estimate."""

WET_HAND_PF = Range(300.0, 1000.0)
"""The same where sweat or water bridges the ridges of the skin; estimate."""

PAINT_PF = Range(30.0, 80.0)
"""In series with the skin: 50 to 100 micrometres of lacquer under one or two square centimetres; estimate."""

DRY_FINGER_PF = Range(200.0, 1000.0)
"""A fingertip pressed flat on bare metal; estimate from the same layer of skin."""

WET_FINGER_PF = Range(600.0, 2000.0)
"""Estimate."""

INSULATED_PF = Range(10.0, 30.0)
"""A fingertip through half a millimetre to a millimetre of lacquer or acrylic; estimate."""

PALM_PF = Range(4.0, 30.0)
"""A hand that lies on a field, flat or by its edge; estimate."""

PART_TOLERANCE = 0.05
"""C0G capacitors of a few picofarads are sold with 0.1 to 0.25 pF or 5 %."""

WIRED_PAD_PF = Range(30.0, 210.0)
"""A pad of 10 pF on 20 to 200 pF of wire: 30 cm beside nothing up to 2 m in a cable; estimate. Within what an electrode
can measure (data sheet, electrical characteristics: 10 pF to 2 nF)."""

BESIDE_PF = Range(0.1, 0.5)
"""A hand beside a standing figure; estimate."""

USUAL_CLOSING_S = Range(0.03, 0.3)
SLOW_CLOSING_S = Range(0.4, 1.5)
"""How long a hand takes to close round a head; estimate."""

SAG_VOLTS = Range(0.05, 0.3)
SAG_S = Range(0.005, 0.12)
"""How far and how long 3V3 sags when the loudspeaker peaks on weak batteries; estimate. All readings scale with 1 / VDD
meanwhile (AN3889: I * T * 1024 / (C * VDD))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Under what people play."""

    name: str
    supply: Supply = Supply.MAINS
    insulated: bool = False
    """Touch fields and colour pads under lacquer instead of bare metal."""
    wet: bool = False
    painted: bool = False
    """Heads under lacquer."""
    standing: int = 0
    """How many other figures stand on the gripped one's field."""
    noise_counts: float = 0.3
    """Standard deviation of a reading after the chip's own averaging (18 samples, 10 scans); estimate."""
    drift_pf_per_min: float = 0.05
    """Of every pad, by warmth and moisture; estimate."""
    crosstalk: float = 0.002
    closing_s: Range = USUAL_CLOSING_S
    two_players: bool = False
    """By turns another player's finger is on the Touch field, or both touch each other."""
    dips_per_min: float = 0.0
    """Sags of the supply by `SAG_VOLTS`; one in ten resets the chips."""

    def physics(self, board: int, player: int = 0, moment: int = 0) -> TablePhysics:
        """One board (its pads' spread, its ground), one player (the body) and one moment (skin, pressure)."""
        skin = WET_HAND_PF if self.wet else DRY_HAND_PF
        finger = INSULATED_PF if self.insulated else WET_FINGER_PF if self.wet else DRY_FINGER_PF
        when = (self.name, board, player, moment)
        hand_pf = skin.draw("hand", *when)
        if self.painted:
            hand_pf = series_pf(hand_pf, PAINT_PF.draw("paint", self.name, board))
        return TablePhysics(
            lowest_pad_pf=WIRED_PAD_PF.low,
            highest_pad_pf=WIRED_PAD_PF.high,
            tolerance=PART_TOLERANCE,
            beside_pf=BESIDE_PF.draw("beside", *when),
            hand_pf=hand_pf,
            body_pf=BODY_PF.draw("body", self.name, board, player),
            earth_pf=self.supply.value.draw("earth", self.name, board),
            touch_field_pf=finger.draw("finger", *when),
            palm_pf=PALM_PF.draw("palm", *when),
            crosstalk=self.crosstalk,
        )


TUNING = (
    Condition(name="mains"),
    Condition(name="bank", supply=Supply.BANK),
    Condition(name="battery", supply=Supply.BATTERY),
    Condition(name="wet", supply=Supply.BATTERY, wet=True),
    Condition(name="painted", supply=Supply.BANK, painted=True),
    Condition(name="insulated", insulated=True),
    Condition(name="insulated-battery", supply=Supply.BATTERY, insulated=True),
    Condition(name="standing", supply=Supply.BANK, standing=2),
    Condition(name="noisy", noise_counts=1.0),
    Condition(name="drifting", drift_pf_per_min=0.5, crosstalk=0.005),
    Condition(name="slow", closing_s=SLOW_CLOSING_S),
    Condition(name="two-players", supply=Supply.BANK, two_players=True),
    Condition(name="dips", dips_per_min=6.0),
)
"""What thresholds may be tuned with."""

HOLD_OUT = (Condition(name="hold-out", painted=True, standing=3),)
"""Mains, painted heads, three other figures on the field: never used for tuning. No condition above has painted heads
on mains, nor paint and company together."""

CONDITIONS = {condition.name: condition for condition in (*TUNING, *HOLD_OUT)}


class ConditionError(VolcanoError, ValueError):
    """There is no condition of that name."""


def condition(name: str) -> Condition:
    """The condition of that name.

    Raises:
        ConditionError: there is none; the text names those there are.
    """
    if name not in CONDITIONS:
        raise ConditionError(f"there is no condition {name!r}; the conditions are {', '.join(CONDITIONS)}")
    return CONDITIONS[name]
