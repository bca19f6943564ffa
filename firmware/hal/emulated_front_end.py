"""The analog half of the emulated MPR121: pads and supply in virtual time, their charges, and both filters.

Sources: data sheet Rev. 4, 5.8 (charge, filters) and 5.11 (auto-configuration); AN3889.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import repeat
from statistics import NormalDist
from typing import TYPE_CHECKING

from firmware.hal import registers as reg
from firmware.hal.emulated_charge import FULL_SCALE, ChargeRegisters, Found, charge_time_us, counts, full_charge
from firmware.hal.emulated_gpio import JOINED

if TYPE_CHECKING:
    from collections.abc import Iterable

_FFI_SAMPLES = (6, 10, 18, 34)
_SFI_SCANS = (4, 6, 10, 18)

NOISE_STEPS = 1 << 14
NOISE_MOST = 4.1
"""Standard deviations: the outermost of so many values of a normal distribution are 4.01 from the middle."""

BARE_PIN_PF = 10.0
"""An electrode with nothing wired to it; a pin has up to 15 pF (data sheet, electrical characteristics)."""


class Ramps:
    """A physical value in virtual time, as linear ramps: a pad's capacitance to ground with wire and pin, or VDD."""

    __slots__ = ("_ramps", "settled_us")

    def __init__(self, value: float = BARE_PIN_PF) -> None:
        self._ramps: list[tuple[int, int, float, float]] = [(0, 0, value, value)]
        self.settled_us = 0
        """From here on the value is constant."""

    def set(self, now_us: int, value: float, over_us: int, forget_before_us: int) -> None:
        """Move from the present value to `value` within `over_us`; nobody asks for times before the last."""
        ramps = self._ramps
        while len(ramps) > 1 and ramps[1][0] <= forget_before_us:
            del ramps[0]
        ramps.append((now_us, now_us + over_us, self.at(now_us), value))
        self.settled_us = now_us + over_us

    def at(self, time_us: int) -> float:
        """The value at `time_us`; an infinite capacitance is a short circuit."""
        if time_us >= self.settled_us:
            return self._ramps[-1][3]
        for begin, end, first, last in reversed(self._ramps):
            if time_us >= end:
                return last
            if time_us >= begin:
                return first + (last - first) * (time_us - begin) / (end - begin)
        return self._ramps[0][2]

    def during(self, moments: range) -> list[float]:
        """The values at these times."""
        begin, end, first, last = self._ramps[-1]
        if moments[0] < begin:
            return [self.at(each) for each in moments]
        return [last if each >= end else first + (last - first) * (each - begin) / (end - begin) for each in moments]


@dataclass(frozen=True, slots=True)
class Rest:
    """What a channel reads while its pad and the supply are at rest, in counts."""

    update: int
    """The first update whose scans all see them so, and each after it."""
    reading: float
    """Without noise, not rounded."""
    lowest: int
    highest: int
    """What noise and rounding can make of it."""


class FrontEnd:
    """Twelve pads, the supply, and how they are measured, on the chip's register file. Times in microseconds.

    An update takes `period_us`, in which the second filter sees its scans; number 0 is the first after Stop to Run.
    """

    def __init__(self, registers: bytearray, vdd: float, noise_counts: float, seed: int) -> None:
        self.vdd = Ramps(vdd)
        self.noise_counts = noise_counts
        self._registers = registers
        self._charge_registers = ChargeRegisters(registers)
        self._pads = [Ramps() for _ in range(reg.ELECTRODES)]
        self._noise = _normal(noise_counts) if noise_counts else []
        self._seed = seed
        self._updates_ever = 0
        self._at_rest: dict[int, Rest] = {}
        """By channel, until its pad, its charge or the supply changes."""
        self.reset()

    def reset(self) -> None:
        """As after power-on; pads, supply and noise stay as they are."""
        self.period_us = self._run_us = self._scan_us = self._scans = 0
        self._charges = [(0, 0)] * reg.CHANNELS
        self._noise_starts = [0] * reg.CHANNELS
        """Where in the noise each channel's first update of this run has its own."""

    # --- pads and supply

    def set_pf(self, electrode: int, picofarad: float, now_us: int, over_us: int, forget_before_us: int) -> None:
        """Let a pad go to `picofarad` within `over_us`; nobody asks for times before the last."""
        self._pads[electrode].set(now_us, picofarad, over_us, forget_before_us)
        for channel in (electrode, reg.PROX):
            self._at_rest.pop(channel, None)

    def moves_us(self, electrode: int, now_us: int) -> int:
        """How long a pad will still be on its way, 0 if it is not."""
        return max(0, self._pads[electrode].settled_us - now_us)

    def set_vdd(self, volts: float, now_us: int, over_us: int, forget_before_us: int) -> None:
        """The same for the supply."""
        self.vdd.set(now_us, volts, over_us, forget_before_us)
        self._at_rest.clear()

    def pf(self, channel: int, time_us: int) -> float:
        """Capacitance of a channel."""
        return sum(pad.at(time_us) for pad in self._pads_of(channel))

    def _pads_of(self, channel: int) -> list[Ramps]:
        """One; ELEPROX sees all that it joins."""
        if channel < reg.PROX:
            return self._pads[channel : channel + 1]
        return self._pads[: JOINED[self._registers[reg.ECR] >> 4 & 3]]

    # --- the run

    def enter_run(self, now_us: int, channels: Iterable[int], *, auto_config: bool) -> dict[int, Found] | None:
        """Charge and pace of this run, and what auto-configuration has found for each channel (5.11)."""
        self._run_us = now_us
        self._at_rest.clear()
        seeds = (self._seed * 0x9E3779B1 + channel * 0x85EBCA6B >> 3 for channel in range(reg.CHANNELS))
        self._noise_starts = [seed + self._updates_ever for seed in seeds]
        self._charges = [self._charge_registers.in_force(channel) for channel in range(reg.CHANNELS)]
        found = {channel: self._search(channel, now_us) for channel in channels} if auto_config else None
        for channel, each in (found or {}).items():
            self._charges[channel] = (each.cdc, each.cdt)
        self._pace(channels)
        return found

    def _pace(self, channels: Iterable[int]) -> None:
        """Times of scans and updates: a scan that takes longer than ESI replaces it (5.8)."""
        afe1, afe2 = self._registers[reg.AFE1], self._registers[reg.AFE2]
        busy_us = sum(2 * charge_time_us(self._charges[each][1]) for each in channels) * _FFI_SAMPLES[afe1 >> 6]
        self._scan_us = max(1000 << (afe2 & 7), round(busy_us))
        self._scans = _SFI_SCANS[afe2 >> 3 & 3]
        self.period_us = self._scan_us * self._scans

    def leave_run(self, updates: int) -> None:
        """Stop after so many updates; the noise goes on from there."""
        self._updates_ever += updates

    def begin_us(self, update: int) -> int:
        """When an update of this run begins."""
        return self._run_us + update * self.period_us

    def due(self, now_us: int) -> int:
        """How many updates of this run are over."""
        return (now_us - self._run_us) // self.period_us

    # --- readings

    def rest(self, channel: int) -> Rest:
        """What a channel reads once its pad and the supply are at rest, and from which update on."""
        if (rest := self._at_rest.get(channel)) is None:
            settled_us = max(self.vdd.settled_us, *(pad.settled_us for pad in self._pads_of(channel)))
            update = -((self._run_us + self._scan_us - settled_us) // self.period_us)
            moment_us = self.begin_us(update) + self._scan_us
            charge = full_charge(*self._charges[channel])
            reading = counts(charge, self.pf(channel, moment_us), self.vdd.at(moment_us))
            most = NOISE_MOST * self.noise_counts
            rest = Rest(update, reading, _rounded(reading - most), _rounded(reading + most))
            self._at_rest[channel] = rest
        return rest

    def filtered(self, channel: int, update: int) -> int:
        """Output of the second filter for an update, in counts."""
        rest = self.rest(channel)
        if update >= rest.update:
            reading = rest.reading
        else:
            begin_us = self.begin_us(update)
            moments = range(begin_us + self._scan_us, begin_us + self.period_us + 1, self._scan_us)
            picofarads = map(sum, zip(*(pad.during(moments) for pad in self._pads_of(channel)), strict=True))
            charge = full_charge(*self._charges[channel])
            reading = sum(map(counts, repeat(charge), picofarads, self.vdd.during(moments))) / self._scans
        if self._noise:
            reading += self._noise[self._noise_starts[channel] + update & NOISE_STEPS - 1]
        return _rounded(reading)

    def noisy(self, channel: int, update: int, due: int) -> list[int]:
        """The same for the updates from `update` to before `due`, or some of them; none without noise or rest."""
        rest = self._at_rest.get(channel) or self.rest(channel)
        if update < rest.update or not self._noise:
            return []
        first = self._noise_starts[channel] + update & NOISE_STEPS - 1
        middle = rest.reading + 0.5
        if due - update == 1:  # often: while a grip is made all is measured at every poll
            readings = [int(middle + self._noise[first])]
        else:
            readings = [int(middle + noise) for noise in self._noise[first : first + min(due - update, NOISE_STEPS)]]
        if rest.lowest == 0 or rest.highest == FULL_SCALE:
            readings = [max(0, min(FULL_SCALE, reading)) for reading in readings]
        return readings

    # --- auto-configuration: data sheet section 5.11

    def charge(self, channel: int, found: Found) -> bool:
        """Charge a channel so from now on, and let its registers tell it. Whether that is new."""
        changed = (found.cdc, found.cdt) != self._charges[channel]
        self._charges[channel] = (found.cdc, found.cdt)
        self._at_rest.pop(channel, None)
        self._charge_registers.store(channel, found.cdc, found.cdt)
        return changed

    def search_again(self, channel: int, data: int, update: int) -> Found | None:
        """Auto-reconfiguration at the end of an update; None where its data lie between LSL and USL."""
        if not self._charge_registers.is_out_of_range(data):
            return None
        return self._search(channel, self.begin_us(update + 1))

    def _search(self, channel: int, time_us: int) -> Found:
        return self._charge_registers.search(self.pf(channel, time_us), self.vdd.at(time_us))


def _rounded(reading: float) -> int:
    """To whole counts, 0..1023."""
    return max(0, min(FULL_SCALE, int(reading + 0.5)))


@cache
def _normal(deviation: float) -> list[float]:
    """Normal values, the same on every machine, in an order of full period, twice over so that it can be cut."""
    spread = NormalDist()
    step, values = 0, []
    for _ in range(NOISE_STEPS):
        step = (step * 0x2C5D + 0x1B3B) % NOISE_STEPS
        mixed = (step ^ step >> 7) * 0x1F35 % NOISE_STEPS
        values.append(deviation * spread.inv_cdf((mixed + 0.5) / NOISE_STEPS))
    return values * 2
