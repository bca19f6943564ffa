"""The settings of one MPR121, under the data sheet's names, and the bytes that they make.

Sources: data sheet Rev. 4 (registers 5.1-5.13), AN3889 (charge), AN3891 and AN3892 (filters, debounce).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from firmware.hal import registers as reg


@dataclass(frozen=True, slots=True)
class Charge:
    """What one channel is charged with: CDC 0..63 microamperes for the time of code CDT 0..7 (both 0: off)."""

    cdc: int
    cdt: int

    @property
    def counts_pf_v(self) -> float:
        """Counts times picofarads times VDD: 1024 CDC CDT (AN3889); CDT code n is 0.5 us * 2 ** (n - 1) (5.8)."""
        return self.cdc * 0.5 * 2 ** (self.cdt - 1) * 1024 if self.cdt else 0.0

    def picofarad(self, counts: float, vdd: float) -> float:
        """What reads `counts` when charged so at a supply of `vdd` volts (AN3889); infinite at 0 counts."""
        return self.counts_pf_v / (vdd * counts) if counts > 0 else math.inf


def decode_charges(block: bytes) -> tuple[Charge, ...]:
    """The 13 channels' own charges from 0x5F-0x72, the inverse of `Mpr121Config.charge_block`."""
    currents, times = block[: reg.CHANNELS], block[reg.CHANNELS :]
    codes = [pair >> shift & 7 for pair in times for shift in (0, 4)]
    return tuple(Charge(cdc, cdt) for cdc, cdt in zip(currents, codes, strict=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mpr121Config:
    """All settings of one chip under the data sheet's names, as register codes. The defaults are those for this board.

    They give an update each 10 ms or, with long charge times, up to 20 ms. Falling FDL 0x40 keeps a hand that closes
    slowly from being taken for drift; MHD and NHD rising 0x3F let a baseline that was seeded under a hand recover in
    half a second, by 126 counts at once or 63 each 30 ms; NHD touched 0 keeps a held pad touched.
    """

    ffi: int = 2
    """18 samples in the first filter."""
    cdc: int = 16
    """Global charge current in microamperes, where auto-configuration finds none."""
    cdt: int = 1
    """Global charge time, 0.5 us."""
    sfi: int = 2
    """10 scans in the second filter."""
    esi: int = 0
    """1 ms from scan to scan."""
    cl: int = 3
    """Tracking on, the baseline starts with all ten bits of the first reading."""
    eleprox: int = 0
    dt: int = 1
    """Two updates in a row make a touch."""
    dr: int = 1
    """Two updates in a row make a release."""
    mhdr: int = 0x3F
    nhdr: int = 0x3F
    nclr: int = 0x00
    fdlr: int = 0x02
    mhdf: int = 0x01
    nhdf: int = 0x01
    nclf: int = 0x10
    fdlf: int = 0x40
    nhdt: int = 0x00
    nclt: int = 0x00
    fdlt: int = 0x00
    thresholds: tuple[tuple[int, int], ...] = ((12, 6),) * reg.CHANNELS
    """Touch and release threshold in counts for ELE0-11 and ELEPROX."""
    ace: bool = True
    """Auto-configuration at each entry to Run; off where `charges` are given."""
    are: bool = False
    """Auto-reconfiguration in Run: makes the readings jump in mid-game."""
    retry: int = 1
    scts: bool = False
    usl: int = 201
    """(VDD - 0.7 V) / VDD * 256 at 3.3 V (5.11)."""
    lsl: int = 131
    """0.65 USL."""
    tl: int = 181
    """0.9 USL: readings of idle pads come near 724 counts."""
    charges: tuple[Charge, ...] | None = None
    """Stored CDC and CDT for ELE0-11 and ELEPROX: no auto-configuration, so no hand on a pad at power-on spoils it."""
    vdd: float = 3.3
    """Supply in volts."""

    def __post_init__(self) -> None:
        """Every code must fit its bits.

        Raises:
            ValueError: one does not; the text names it.
        """
        widths = {
            "ffi": 3,
            "cdc": 63,
            "cdt": 7,
            "sfi": 3,
            "esi": 7,
            "cl": 3,
            "eleprox": 3,
            "dt": 7,
            "dr": 7,
            "retry": 3,
        }
        widths |= dict.fromkeys(("mhdr", "nhdr", "mhdf", "nhdf", "nhdt"), 0x3F)
        widths |= dict.fromkeys(("nclr", "fdlr", "nclf", "fdlf", "nclt", "fdlt", "usl", "lsl", "tl"), 0xFF)
        for name, highest in widths.items():
            if not 0 <= getattr(self, name) <= highest:
                raise ValueError(f"{name} must be 0..{highest}, is {getattr(self, name)}")
        if len(self.thresholds) != reg.CHANNELS:
            raise ValueError(f"thresholds must be {reg.CHANNELS} pairs, are {len(self.thresholds)}")
        for number, pair in enumerate(self.thresholds):
            if not all(0 <= counts <= 0xFF for counts in pair):
                raise ValueError(f"thresholds of electrode {number} must be 0..255 counts, are {pair}")
        if self.charges is not None and len(self.charges) != reg.CHANNELS:
            raise ValueError(f"charges must be {reg.CHANNELS}, are {len(self.charges)}")

    def ecr(self, electrodes: int, cl: int | None = None) -> int:
        """0x5E for the lowest `electrodes` (1..12): CL, ELEPROX_EN, ELE_EN."""
        return (self.cl if cl is None else cl) << 6 | self.eleprox << 4 | electrodes

    def afe(self) -> bytes:
        """0x5C and 0x5D: FFI, CDC; CDT, SFI, ESI."""
        return bytes((self.ffi << 6 | self.cdc, self.cdt << 5 | self.sfi << 3 | self.esi))

    def auto_config(self) -> bytes:
        """0x7B-0x7F; FFI and BVA repeat 0x5C and CL (5.11)."""
        ace = self.ace and self.charges is None
        first = self.ffi << 6 | self.retry << 4 | self.cl << 2 | self.are << 1 | ace
        return bytes((first, self.scts << 7, self.usl, self.lsl, self.tl))

    def threshold_block(self) -> bytes:
        """0x41-0x5A: touch and release threshold by turns."""
        return bytes(counts for pair in self.thresholds for counts in pair)

    def charge_block(self) -> bytes:
        """0x5F-0x72: CDC of 13 channels, then CDT in nibbles, the even channel in the low one; zeros: as 0x5C, 0x5D."""
        charges = self.charges or (Charge(0, 0),) * reg.CHANNELS
        times = [charge.cdt for charge in charges] + [0]
        pairs = zip(times[::2], times[1::2], strict=True)
        return bytes(charge.cdc for charge in charges) + bytes(even | odd << 4 for even, odd in pairs)

    def blocks(self) -> tuple[tuple[int, bytes], ...]:
        """First register and values of each block that is written in Stop."""
        filters = bytes((self.mhdr, self.nhdr, self.nclr, self.fdlr, self.mhdf, self.nhdf, self.nclf, self.fdlf))
        filters += bytes((self.nhdt, self.nclt, self.fdlt))
        debounce = bytes((self.dr << 4 | self.dt,))
        return (
            (reg.MHDR, filters + filters + self.threshold_block() + debounce + self.afe()),
            (reg.CDC, self.charge_block()),
            (reg.AUTO_CONFIG0, self.auto_config()),
        )
