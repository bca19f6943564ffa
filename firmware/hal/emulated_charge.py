"""How the emulated MPR121 charges its channels, and auto-configuration (data sheet 5.8, 5.11; AN3889)."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.hal import registers as reg

FULL_SCALE = 1023
MOST_UA = 63


def charge_time_us(cdt: int) -> float:
    """CDT code 1..7: 0.5, 1 .. 32 microseconds; 0: off."""
    return 0.5 * (1 << cdt - 1) if cdt else 0.0


def full_charge(cdc: int, cdt: int) -> float:
    """I * T * 1024 with microamperes and microseconds: counts times picofarads times volts."""
    return cdc * charge_time_us(cdt) * 1024


def counts(charge: float, picofarad: float, vdd: float) -> float:
    """What the ADC reads by a `full_charge`: I * T * 1024 / (C * VDD) (AN3889)."""
    if not picofarad:
        return FULL_SCALE if charge else 0.0
    return min(FULL_SCALE, charge / vdd / picofarad)


@dataclass(frozen=True, slots=True)
class Found:
    """A charge that auto-configuration tried, and whether it brings the channel between LSL and USL."""

    cdc: int
    cdt: int
    in_range: bool


class ChargeRegisters:
    """CDC and CDT of the 13 channels, on the chip's register file."""

    def __init__(self, registers: bytearray) -> None:
        self._registers = registers

    def in_force(self, channel: int) -> tuple[int, int]:
        """CDC in microamperes and CDT code: the channel's own, where these are 0 the global ones."""
        registers = self._registers
        cdc = registers[reg.CDC + channel] or registers[reg.AFE1] & 0x3F
        cdt = registers[reg.CDT + channel // 2] >> 4 * (channel & 1) & 7 or registers[reg.AFE2] >> 5
        return cdc, cdt

    def store(self, channel: int, cdc: int, cdt: int) -> None:
        """Write a channel's own charge, the even channels' CDT into the low nibble."""
        shift = 4 * (channel & 1)
        register = reg.CDT + channel // 2
        self._registers[reg.CDC + channel] = cdc
        self._registers[register] = self._registers[register] & ~(0x0F << shift) | cdt << shift

    def search(self, picofarad: float, vdd: float) -> Found:
        """Auto-configuration of one channel: the shortest time that reaches TL with at most 63 uA (SCTS: 0x5D's)."""
        registers = self._registers
        usl, lsl, target = registers[reg.USL], registers[reg.LSL], registers[reg.TL]
        codes = range(1, 8) if not registers[reg.AUTO_CONFIG1] & 0x80 else (registers[reg.AFE2] >> 5,)
        cdc, cdt = MOST_UA, codes[-1]
        for code in codes:
            per_ua = counts(full_charge(1, code), picofarad, vdd) if picofarad else FULL_SCALE
            if MOST_UA * per_ua >= target << 2:
                cdc, cdt = max(1, round((target << 2) / per_ua)), code
                break
        ordered = 255 > usl > target > lsl > 0
        reached = counts(full_charge(cdc, cdt), picofarad, vdd)
        return Found(cdc, cdt, in_range=ordered and lsl << 2 <= reached <= usl << 2)

    def is_out_of_range(self, reading: int) -> bool:
        """Whether a reading lies outside LSL..USL."""
        return not self._registers[reg.LSL] << 2 <= reading <= self._registers[reg.USL] << 2
