"""The emulated MPR121 against the data sheet, point by point, in virtual time."""

from __future__ import annotations

import errno
import math
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.hal.bus import CountingBus
from firmware.hal.emulated_bus import Disturbance, EmulatedBus
from firmware.hal.emulated_channel import BaselineFilter, Channel, ChannelSettings
from firmware.hal.emulator import Chip
from firmware.hal.mpr121 import Mpr121
from firmware.hal.ports import BusError

if TYPE_CHECKING:
    from collections.abc import Sequence

ADDRESS = 0x5A
ADAFRUIT = (0x01, 0x01, 0x0E, 0x00, 0x01, 0x05, 0x01, 0x00, 0x00, 0x00, 0x00)
LINUX = (0x01, 0x01, 0xFF, 0x02, 0x01, 0x01, 0xFF, 0x02, 0x00, 0x00, 0x00)
OURS = (0x3F, 0x3F, 0x00, 0x02, 0x01, 0x01, 0x10, 0x40, 0x00, 0x00, 0x00)


class Bench:
    """One chip on a bus with a clock that is set by hand."""

    def __init__(self, *, pointer_survives_stop: bool = False, noise_counts: float = 0.0, seed: int = 0) -> None:
        self.now = 0.0
        self.chip = Chip(
            lambda: self.now, pointer_survives_stop=pointer_survives_stop, noise_counts=noise_counts, seed=seed
        )
        self.bus = EmulatedBus({ADDRESS: self.chip})

    def write(self, register: int, *values: int) -> None:
        self.bus.writeto(ADDRESS, bytes((register, *values)))

    def read(self, register: int, size: int = 1) -> bytes:
        values = bytearray(size)
        self.bus.writeto_then_readfrom(ADDRESS, bytes((register,)), values)
        return bytes(values)

    def status(self) -> int:
        return int.from_bytes(self.read(0x00, 2), "little")

    def data(self, electrode: int = 0) -> int:
        return int.from_bytes(self.read(0x04 + 2 * electrode, 2), "little")

    def baseline(self, electrode: int = 0) -> int:
        return self.read(0x1E + electrode)[0] << 2

    def configure(
        self,
        filters: Sequence[int] = OURS,
        *,
        afe: tuple[int, int] = (0x10, 0x20),
        debounce: int = 0x00,
        thresholds: tuple[int, int] = (12, 6),
    ) -> None:
        """Stop, filters, thresholds, debounce and AFE; 0x10, 0x20 give an update each 4 ms and C = 2482 / ADC pF."""
        self.write(0x5E, 0x00)
        self.write(0x2B, *filters, *filters)
        self.write(0x41, *(thresholds * 13))
        self.write(0x5B, debounce, *afe)

    def counts(self, electrode: int, counts: float, over_s: float = 0.0) -> None:
        """Give the electrode the capacitance that reads so with 16 uA and 0.5 us at 3.3 V."""
        self.chip.set_pf(electrode, 16 * 0.5 * 1024 / (3.3 * counts), over_s)


def test_01_reset_values() -> None:
    bench = Bench()
    registers = bench.read(0x00, 0x81)
    assert {number: value for number, value in enumerate(registers) if value} == {0x5C: 0x10, 0x5D: 0x24}


def test_02_writes_in_run_are_lost_outside_ecr_and_gpio() -> None:
    bench = Bench()
    bench.write(0x5E, 0x8C)
    before = bench.read(0x00, 0x80)
    for register in [*range(0x5E), *range(0x5F, 0x73), *range(0x7B, 0x80), *range(0x81, 0x85)]:
        bench.write(register, 0x55)
    assert bench.read(0x00, 0x80) == before
    for register in range(0x73, 0x78):
        bench.write(register, 0x00 if register == 0x75 else 0x80)
        assert bench.read(register) == bytes((0x00 if register == 0x75 else 0x80,))
    bench.write(0x5E, 0x00)
    bench.write(0x41, 0x55)
    assert bench.read(0x41) == b"\x55"


def test_02_read_only_registers_stay_in_stop_and_a_written_baseline_loses_no_more_than_its_low_bits() -> None:
    bench = Bench()
    bench.write(0x00, *[0xFF] * 0x1E)
    assert bench.read(0x00, 0x1E) == bytes(0x1E)
    bench.write(0x1E, 0xAB)
    assert bench.baseline() == 0xAB << 2


def test_03_only_0x63_resets() -> None:
    bench = Bench()
    bench.write(0x41, 12)
    bench.write(0x80, 0x62)
    assert bench.read(0x41) == b"\x0c"
    bench.write(0x80, 0x63)
    assert bench.read(0x41) == b"\x00"
    assert bench.read(0x5C, 3) == b"\x10\x24\x00"


def test_03_a_reset_in_run_stops_the_chip() -> None:
    bench = Bench()
    bench.configure()
    bench.write(0x5E, 0xCC)
    bench.now = 0.1
    assert bench.data() > 0
    bench.write(0x80, 0x63)
    bench.now = 0.2
    assert bench.read(0x00, 0x2B) == bytes(0x2B)


def test_04_reads_and_writes_count_the_register_up() -> None:
    bench = Bench()
    bench.configure()
    for electrode in range(12):
        bench.counts(electrode, 300 + 50 * electrode)
    bench.write(0x5E, 0xCC)
    bench.now = 0.1
    block = bench.read(0x00, 0x2B)
    assert block == b"".join(bench.read(register) for register in range(0x2B))
    assert [block[4 + 2 * n] | block[5 + 2 * n] << 8 for n in range(12)] == [300 + 50 * n for n in range(12)]
    assert list(block[0x1E:0x2A]) == [(300 + 50 * n) >> 2 for n in range(12)]
    bench.write(0x5E, 0x00)
    bench.write(0x41, 1, 2, 3)
    assert bench.read(0x41, 3) == b"\x01\x02\x03"


@pytest.mark.parametrize(("survives", "answer"), [(False, 0x00), (True, 0x24)])
def test_05_pointer_after_stop(survives: bool, answer: int) -> None:
    bench = Bench(pointer_survives_stop=survives)
    bench.write(0x5D)
    value = bytearray(1)
    bench.bus.readfrom_into(ADDRESS, value)
    assert value[0] == answer
    assert bench.read(0x5D) == b"\x24"  # a repeated start always works


@pytest.mark.parametrize(
    ("afe", "update_ms"),
    [
        ((0x10, 0x24), 64),  # chip default
        ((0x10, 0x20), 4),  # Adafruit
        ((0x0B, 0x24), 64),  # Linux kernel
        ((0xFF, 0x30), 10),  # Bare Conductive
        ((0x20, 0x3A), 72),  # behind glass
        ((0x90, 0x30), 10),  # ours
        ((0xFF, 0xE0), 4 * 34 * 64 * 12 / 1000),  # a scan longer than ESI replaces it
    ],
)
def test_06_updates_come_every_esi_times_sfi(afe: tuple[int, int], update_ms: float) -> None:
    bench = Bench()
    bench.configure(afe=afe)
    one_count_pf = (afe[0] & 0x3F) * 0.5 * 2 ** ((afe[1] >> 5) - 1) * 1024 / 3.3
    bench.chip.set_pf(0, one_count_pf / 800)
    bench.now = 1.0
    bench.write(0x5E, 0xCC)
    seen = []
    for updates in (1, 2, 3):
        bench.now = 1.0 + (updates * update_ms - 0.01) / 1000
        seen.append(bench.data())
        bench.now = 1.0 + updates * update_ms / 1000
        seen.append(bench.data())
        bench.chip.set_pf(0, one_count_pf / (800 - 100 * updates))
    assert seen == [0, 800, 800, 700, 700, 600]


def test_06_the_second_filter_averages_the_scans_of_an_update() -> None:
    bench = Bench()
    bench.configure()
    bench.counts(0, 800)
    bench.write(0x5E, 0xC1)
    bench.now = 0.0065  # scans at 5, 6 | 7, 8 ms
    bench.counts(0, 400)
    bench.now = 0.008
    assert bench.data() == 600


@pytest.mark.parametrize(("cl", "start"), [(0, 0x50 << 2), (1, 0x50 << 2), (2, 315 & 0x3E0), (3, 315 & 0x3FC)])
def test_07_cl_chooses_the_first_baseline(cl: int, start: int) -> None:
    bench = Bench()
    bench.configure((0, 0, 0xFF, 0xFF) * 2 + (0, 0, 0))
    bench.counts(0, 315)
    bench.write(0x1E, 0x50)
    bench.write(0x5E, cl << 6 | 1)
    bench.now = 0.004
    assert bench.data() == 315
    assert bench.baseline() == start


def test_07_cl_01_does_not_track() -> None:
    bench = Bench()
    bench.configure()
    bench.counts(0, 315)
    bench.write(0x1E, 75)
    bench.write(0x5E, 0x41)
    bench.now = 60.0
    assert bench.baseline() == 300
    bench.write(0x5E, 0xC1)  # tracking on, without a Stop
    bench.now = 61.0
    assert bench.baseline() == 315 & 0x3FC


@pytest.mark.parametrize(("delta", "touched"), [(12, False), (13, True)])
def test_08_a_touch_needs_more_than_the_threshold(delta: int, touched: bool) -> None:
    bench = Bench()
    bench.configure()
    bench.counts(0, 400)
    bench.write(0x5E, 0xC1)
    bench.now = 0.1
    bench.counts(0, 400 - delta)
    bench.now = 0.2
    assert bench.data() == 400 - delta
    assert bench.status() == int(touched)


@pytest.mark.parametrize(("delta", "touched"), [(6, True), (5, False)])
def test_08_a_release_needs_less_than_the_threshold(delta: int, touched: bool) -> None:
    bench = Bench()
    bench.configure()
    bench.counts(0, 400)
    bench.write(0x5E, 0xC1)
    bench.now = 0.1
    bench.counts(0, 350)
    bench.now = 0.2
    assert bench.status() == 1
    bench.counts(0, 400 - delta)
    bench.now = 0.3
    assert bench.status() == int(touched)


@pytest.mark.parametrize("touch", [0, 1, 3, 7])
@pytest.mark.parametrize("release", [0, 2, 7])
def test_09_debounce_n_needs_n_plus_1_updates(touch: int, release: int) -> None:
    bench = Bench()
    bench.configure(debounce=release << 4 | touch)
    bench.counts(0, 400)
    bench.write(0x5E, 0xC1)
    bench.now = 0.1
    bench.counts(0, 300)
    bench.now = 0.1 + 0.004 * touch
    assert bench.status() == 0
    bench.now = 0.1 + 0.004 * (touch + 1)
    assert bench.status() == 1
    bench.now = 0.2
    bench.counts(0, 400)
    bench.now = 0.2 + 0.004 * release
    assert bench.status() == 1
    bench.now = 0.2 + 0.004 * (release + 1)
    assert bench.status() == 0


def test_09_an_interruption_starts_the_count_again() -> None:
    channel = Channel(_settings(debounce_touch=2), 400)
    for reading in (300, 300, 400, 300, 300):
        channel.step(reading)
    assert not channel.touched
    channel.step(300)
    assert channel.touched


def _settings(
    filters: Sequence[int] = OURS, *, touch: int = 12, release: int = 6, debounce_touch: int = 0, tracking: bool = True
) -> ChannelSettings:
    return ChannelSettings(
        touch_threshold=touch,
        release_threshold=release,
        debounce_touch=debounce_touch,
        debounce_release=1,
        rising=BaselineFilter(*filters[0:4]),
        falling=BaselineFilter(*filters[4:8]),
        touched=BaselineFilter(0, *filters[8:11]),
        tracking=tracking,
    )


def test_10_small_steps_are_followed_after_fdl_plus_1_values() -> None:
    channel = Channel(_settings((1, 1, 0, 2, 2, 1, 0, 3, 0, 0, 0)), 400)
    for _ in range(3):
        channel.step(396)
    assert channel.baseline == 400
    channel.step(396)
    assert channel.baseline == 396  # 4 <= 2 * MHD: the whole way


def test_10_large_steps_are_followed_by_nhd_after_ncl_plus_1_averages() -> None:
    channel = Channel(_settings((1, 3, 4, 1, 1, 1, 0, 0, 0, 0, 0)), 400)
    moves = []
    for _ in range(20):
        channel.step(500)
        moves.append(channel.baseline)
    assert moves == [400] * 9 + [403] * 10 + [406]


def test_10_a_change_of_regime_clears_the_counters() -> None:
    channel = Channel(_settings((1, 1, 0, 9, 1, 1, 0, 9, 0, 0, 0)), 400)
    for _ in range(9):
        channel.step(402)
    channel.step(399)
    for _ in range(9):
        channel.step(402)
    assert channel.baseline == 400
    channel.step(402)
    assert channel.baseline == 402


@pytest.mark.parametrize(
    ("filters", "afe", "debounce", "delta", "ramp_ms", "latest_ms"),
    [
        (ADAFRUIT, (0x10, 0x20), 0x00, 40, 50, 60),
        (ADAFRUIT, (0x10, 0x20), 0x00, 40, 100, None),
        (ADAFRUIT, (0x10, 0x20), 0x00, 80, 200, None),
        (ADAFRUIT, (0x10, 0x20), 0x00, 150, 400, None),
        (LINUX, (0x10, 0x20), 0x00, 150, 400, 50),
        (OURS, (0x90, 0x30), 0x11, 40, 50, 50),
        (OURS, (0x90, 0x30), 0x11, 40, 100, 60),
        (OURS, (0x90, 0x30), 0x11, 80, 200, 60),
        (OURS, (0x90, 0x30), 0x11, 150, 400, 60),
    ],
)
def test_11_slow_hands_are_eaten_by_adafruits_filter_not_by_ours(
    *,
    filters: Sequence[int],
    afe: tuple[int, int],
    debounce: int,
    delta: int,
    ramp_ms: float,
    latest_ms: float | None,
) -> None:
    bench = Bench()
    bench.configure(filters, afe=afe, debounce=debounce)
    bench.counts(0, 700)
    bench.write(0x5E, 0xC1)
    bench.now = 10.0
    bench.counts(0, 700 - delta, ramp_ms / 1000)
    touched_ms = None
    for millisecond in range(2000):
        bench.now = 10.0 + millisecond / 1000
        if bench.status():
            touched_ms = millisecond
            break
    if latest_ms is None:
        assert touched_ms is None
    else:
        assert touched_ms is not None
        assert touched_ms <= latest_ms


def test_12_a_held_touch_stays_with_nhd_0() -> None:
    bench = Bench()
    bench.configure(OURS)
    bench.counts(0, 700)
    bench.write(0x5E, 0xC1)
    bench.now = 1.0
    bench.counts(0, 640)
    bench.now = 121.0
    assert bench.status() == 1
    assert bench.baseline() == 700


def test_12_a_held_touch_decays_with_01_10_ff() -> None:
    bench = Bench()
    bench.configure((*OURS[:8], 0x01, 0x10, 0xFF))
    bench.counts(0, 700)
    bench.write(0x5E, 0xC1)
    bench.now = 1.0
    bench.counts(0, 640)
    one_step_s = 0.004 * 17 * 256
    bench.now = 1.1 + 54 * one_step_s
    assert bench.status() == 1
    bench.now = 1.1 + 56 * one_step_s  # 60 counts less than RTH 6
    assert bench.status() == 0


def test_13_over_current_stops_and_locks_the_chip_until_1_is_written() -> None:
    bench = Bench()
    bench.configure()
    bench.counts(0, 400)
    bench.write(0x5E, 0xC5)
    bench.now = 0.1
    assert bench.data() == 400
    bench.chip.over_current()
    assert bench.read(0x00, 0x2B) == b"\x00\x80" + bytes(0x29)
    assert bench.read(0x5E) == b"\xc0"
    bench.write(0x5E, 0xC5)
    assert bench.read(0x5E) == b"\xc0"
    bench.write(0x01, 0x00)
    assert bench.status() == 0x8000
    bench.write(0x01, 0x80)
    assert bench.status() == 0
    bench.write(0x5E, 0xC5)
    bench.now = 0.2
    assert bench.data() == 400


def test_13_a_broken_reference_resistor_trips_at_every_start() -> None:
    bench = Bench()
    bench.chip.over_current(lasting=True)
    bench.write(0x5E, 0x8C)
    assert bench.status() == 0x8000
    bench.write(0x01, 0x80)
    bench.write(0x5E, 0x8C)
    assert bench.status() == 0x8000
    bench.chip.repair_rext()
    bench.write(0x01, 0x80)
    bench.write(0x5E, 0x8C)
    assert bench.read(0x5E) == b"\x8c"
    assert bench.status() == 0


def test_14_irq_falls_with_every_change_and_rises_when_the_status_is_read() -> None:
    bench = Bench()
    bench.configure()
    bench.counts(0, 400)
    bench.write(0x5E, 0xC1)
    bench.now = 0.1
    lines = []
    for counts in (300, 400):
        lines.append(bench.chip.irq_low)
        bench.counts(0, counts)
        bench.now += 0.1
        lines.append(bench.chip.irq_low)
        bench.data()
        lines.append(bench.chip.irq_low)
        bench.status()
    assert lines == [False, True, True] * 2
    assert not bench.chip.irq_low


def test_14_a_touch_that_is_over_before_anybody_looks_is_still_told() -> None:
    bench = Bench()
    bench.configure((*OURS[:8], 0x3F, 0x00, 0x00))  # calibrated out within two updates
    bench.counts(0, 400)
    bench.write(0x5E, 0xC1)
    bench.now = 0.1
    bench.counts(0, 300)
    bench.now = 0.3
    assert bench.chip.irq_low
    assert bench.status() == 0


def test_14_a_status_that_a_restart_clears_is_told() -> None:
    bench = Bench()
    bench.configure()
    bench.counts(0, 400)
    bench.write(0x5E, 0xC1)
    bench.now = 0.1
    bench.counts(0, 300)
    bench.now = 0.2
    assert bench.status() == 1
    bench.write(0x5E, 0x00)
    lines = [bench.chip.irq_low]
    bench.write(0x5E, 0xC1)
    lines.append(bench.chip.irq_low)
    assert lines == [False, True]
    assert bench.status() == 0


@pytest.mark.parametrize("picofarad", [math.inf, 0.0, 5000.0])
def test_15_auto_config_flags_short_and_open_pads(picofarad: float) -> None:
    bench = Bench()
    bench.configure(afe=(0x90, 0x30))
    bench.write(0x7B, 0x9D, 0x01, 201, 131, 181)
    for electrode in range(12):
        bench.chip.set_pf(electrode, 30 + 10 * electrode)
    bench.chip.set_pf(7, picofarad)
    bench.write(0x5E, 0xCC)
    assert bench.read(0x5F) == b"\x00"  # not before the chip has run
    bench.now = 0.1
    assert bench.read(0x02, 2) == b"\x80\x80"
    assert bench.chip.irq_low  # ACFIE
    for electrode in set(range(12)) - {7}:
        assert 131 << 2 <= bench.data(electrode) <= 201 << 2
        assert abs(bench.data(electrode) - 724) < 12
        assert bench.read(0x5F + electrode)[0] > 0


def test_15_auto_config_with_a_fixed_time_changes_the_current_only() -> None:
    bench = Bench()
    bench.configure(afe=(0x90, 0x90))  # 4 us
    bench.write(0x7B, 0x9D, 0x80, 201, 131, 181)
    bench.chip.set_pf(0, 90.0)
    bench.write(0x5E, 0xC1)
    bench.now = 0.1
    assert bench.read(0x6C) == b"\x04"
    assert abs(bench.data() - 724) < 12


def test_15_are_makes_the_data_jump_under_a_hand() -> None:
    bench = Bench()
    bench.configure(afe=(0x90, 0x30))
    bench.write(0x7B, 0x9F, 0x00, 201, 131, 181)
    bench.chip.set_pf(0, 50.0)
    bench.write(0x5E, 0xC1)
    bench.now = 1.0
    bench.chip.set_pf(0, 100.0)
    bench.now = 2.0
    assert abs(bench.data() - 724) < 12
    assert bench.status() == 0


def test_15_bva_below_the_data_as_with_linux_value_0x0b() -> None:
    bench = Bench()
    bench.configure((0, 0, 0xFF, 0xFF) * 2 + (0, 0, 0), afe=(0x10, 0x20))
    bench.write(0x7B, 0x0B, 0x00, 201, 131, 181)
    bench.chip.set_pf(0, 50.0)
    bench.write(0x5E, 0xC1)
    bench.now = 0.1
    assert bench.baseline() == bench.data() & 0x3E0 < bench.data()


@pytest.mark.parametrize(("ele_en", "electrodes"), [(1, 1), (5, 5), (11, 11), (12, 12), (15, 12)])
def test_16_ele_en_counts_from_ele0(ele_en: int, electrodes: int) -> None:
    bench = Bench()
    bench.configure()
    bench.write(0x5E, 0xC0 | ele_en)
    bench.now = 0.1
    assert [bench.data(n) > 0 for n in range(12)] == [n < electrodes for n in range(12)]


@pytest.mark.parametrize(("prox", "joined"), [(1, 2), (2, 4), (3, 12)])
def test_16_eleprox_is_the_sum_of_the_joined_electrodes(prox: int, joined: int) -> None:
    bench = Bench()
    bench.configure()
    for electrode in range(12):
        bench.chip.set_pf(electrode, 3.0 + electrode)
    bench.write(0x5E, 0xC0 | prox << 4)
    bench.now = 0.1
    total = sum(3.0 + electrode for electrode in range(joined))
    assert bench.data(12) == round(16 * 0.5 * 1024 / (3.3 * total))
    bench.chip.set_pf(0, 9.0 * total)
    bench.now = 0.2
    assert bench.status() == 1 << 12


def test_17_gpio_set_clear_and_toggle() -> None:
    bench = Bench()
    for register in (0x76, 0x77):
        bench.write(register, 0xF0)
    bench.write(0x78, 0xFF)
    assert bench.read(0x75) == b"\xf0"  # outputs only
    bench.write(0x79, 0x10)
    bench.write(0x7A, 0x30)
    assert bench.read(0x75, 6) == b"\xd0\xf0\xf0\xd0\xd0\xd0"
    assert [bench.chip.gpio_output(pin) for pin in range(4, 12)] == [None] * 4 + [True, False, True, True]


@pytest.mark.parametrize(
    ("ctl0", "ctl1", "low", "high"),
    [(0, 0, False, True), (1, 1, None, True), (1, 0, False, None)],
)
def test_17_gpio_output_modes(ctl0: int, ctl1: int, low: bool | None, high: bool | None) -> None:
    bench = Bench()
    bench.write(0x73, ctl0, ctl1, 0, 1, 1)
    assert bench.chip.gpio_output(4) is low
    bench.write(0x78, 1)
    assert bench.chip.gpio_output(4) is high


def test_17_electrodes_go_before_gpio() -> None:
    bench = Bench()
    bench.write(0x76, 0xFF, 0xFF, 0xFF)
    assert bench.chip.gpio_output(11) is True
    bench.write(0x5E, 0xCB)  # ELE0-10
    assert bench.chip.gpio_output(10) is None
    assert bench.chip.gpio_output(11) is True


def test_17_gpio_inputs_show_in_the_status_without_irq() -> None:
    bench = Bench()
    bench.write(0x77, 0x83)
    bench.chip.drive_gpio(11, True)
    assert bench.status() == 1 << 11
    assert bench.read(0x75) == b"\x80"
    bench.chip.drive_gpio(11, False)
    assert bench.status() == 0
    bench.write(0x73, 0x03, 0x01)  # ELE4 pull-up, ELE5 pull-down
    assert bench.status() == 1 << 4
    assert not bench.chip.irq_low


def test_18_a_brown_out_resets_one_chip_and_leaves_the_pads() -> None:
    now = 0.0
    chips = {address: Chip(lambda: now) for address in (0x5A, 0x5B)}
    bus = EmulatedBus(chips)
    drivers = [Mpr121(bus, address) for address in chips]
    for driver in drivers:
        driver.start()
    chips[0x5A].set_pf(3, 55.0)
    chips[0x5A].power_on_reset()
    assert [driver.healthy() for driver in drivers] == [False, True]
    assert chips[0x5A].pf(3) == 55.0
    values = bytearray(2)
    bus.writeto_then_readfrom(0x5A, b"\x5c", values)
    assert values == b"\x10\x24"


@pytest.mark.parametrize(
    ("fault", "number"),
    [(Disturbance.NACK, 121), (Disturbance.TIMEOUT, errno.ETIMEDOUT), (Disturbance.IO_ERROR, errno.EIO)],
)
def test_19_faults_for_the_next_transfers_of_one_address(fault: Disturbance, number: int) -> None:
    now = 0.0
    bus = EmulatedBus({0x5A: Chip(lambda: now), 0x5B: Chip(lambda: now)})
    bus.inject(fault, address=0x5A, count=2)
    bus.writeto(0x5B, b"")
    for _ in range(2):
        with pytest.raises(OSError, match="0x5A") as caught:
            bus.writeto(0x5A, b"")
        assert caught.value.errno == number
    bus.writeto(0x5A, b"")


def test_19_faults_until_cleared_strike_the_whole_bus() -> None:
    bench = Bench()
    bench.bus.inject(Disturbance.NACK)
    for _ in range(20):
        with pytest.raises(OSError, match="nothing answers"):
            bench.read(0x00)
    bench.bus.clear()
    bench.read(0x00)


def test_19_no_chip_no_acknowledge() -> None:
    bench = Bench()
    with pytest.raises(OSError, match="nothing answers at 0x5D") as caught:
        bench.bus.writeto(0x5D, b"")
    assert caught.value.errno == 121


def test_19_stuck_sda_needs_clock_pulses_and_a_stop() -> None:
    bench = Bench()
    bench.bus.inject(Disturbance.STUCK_SDA)
    for _ in range(10):
        with pytest.raises(OSError, match="does not come free") as caught:
            bench.read(0x00)
        assert caught.value.errno == errno.ETIMEDOUT
    bench.bus.reopen()
    bench.read(0x00)


def test_19_a_torn_read_mixes_two_moments() -> None:
    bench = Bench()
    bench.configure()
    bench.counts(0, 255)
    bench.write(0x5E, 0xC1)
    bench.now = 0.1
    assert bench.data() == 0x0FF
    bench.counts(0, 256)
    bench.now = 0.2
    bench.bus.inject(Disturbance.TORN_READ, count=1)
    assert bench.data() == 0x1FF
    assert bench.data() == 0x100


def test_19_a_byte_flip() -> None:
    bench = Bench()
    bench.bus.inject(Disturbance.BYTE_FLIP, count=1, byte=1, mask=0x80)
    assert bench.read(0x5C, 2) == b"\x10\xa4"
    assert bench.read(0x5C, 2) == b"\x10\x24"


def test_20_one_poll_of_four_chips_is_four_transactions() -> None:
    now = 0.0
    chips = {address: Chip(lambda: now) for address in range(0x5A, 0x5E)}
    bus = CountingBus(EmulatedBus(chips))
    drivers = [Mpr121(bus, address) for address in chips]
    for driver in drivers:
        driver.start()
    bus.clear()
    assert [driver.status() for driver in drivers] == [0, 0, 0, 0]
    assert (bus.transactions, bus.wire_bytes) == (4, 20)


@pytest.mark.parametrize(
    ("cdc", "cdt_code", "picofarad"), [(16, 1, 11.8), (63, 3, 120.0), (40, 7, 2000.0), (1, 1, 0.9)]
)
def test_21_counts_follow_from_picofarads(cdc: int, cdt_code: int, picofarad: float) -> None:
    bench = Bench()
    bench.configure(afe=(cdc, cdt_code << 5))
    bench.chip.set_pf(0, picofarad)
    bench.write(0x5E, 0xC1)
    bench.now = 10.0
    cdt_us = 0.5 * 2 ** (cdt_code - 1)
    assert bench.data() == round(cdc * cdt_us * 1024 / (picofarad * 3.3))


def test_21_a_bare_finger_with_adafruits_settings_takes_210_counts_to_50() -> None:
    bench = Bench()
    bench.configure(ADAFRUIT)
    bench.chip.set_pf(0, 11.8)
    bench.write(0x5E, 0x8C)
    bench.now = 1.0
    assert bench.data() == 210
    bench.chip.set_pf(0, 50.0)
    bench.now = 1.1
    assert bench.data() == 50
    assert bench.status() == 1


def test_21_a_pad_can_be_moved_slowly() -> None:
    bench = Bench()
    bench.chip.set_pf(4, 20.0)
    bench.chip.set_pf(4, 60.0, over_s=2.0)
    bench.now = 0.5
    assert bench.chip.pf(4) == pytest.approx(30.0)
    bench.chip.set_pf(4, 20.0, over_s=1.0)
    bench.now = 1.0
    assert bench.chip.pf(4) == pytest.approx(25.0)
    bench.now = 9.0
    assert bench.chip.pf(4) == pytest.approx(20.0)


def test_21_what_changes_a_little_meanwhile_ends_no_movement_unless_it_is_hurried() -> None:
    bench = Bench()
    bench.chip.set_pf(4, 60.0)
    bench.chip.set_pf(4, 80.0, over_s=1.0)
    bench.now = 0.5
    bench.chip.set_pf(4, 90.0, unhurried=True)
    assert bench.chip.pf(4) == pytest.approx(70.0)
    bench.now = 0.75
    assert bench.chip.pf(4) == pytest.approx(80.0)
    bench.chip.set_pf(4, 60.0, over_s=0.5, unhurried=True)  # later than it would have ended: takes its own time
    bench.now = 1.0
    assert bench.chip.pf(4) == pytest.approx(70.0)
    bench.chip.set_pf(4, 50.0)
    assert bench.chip.pf(4) == 50.0


@pytest.mark.parametrize(
    ("electrode", "picofarad", "over_s"), [(12, 1.0, 0), (-1, 1.0, 0), (0, -1.0, 0), (0, math.nan, 0), (0, math.inf, 1)]
)
def test_21_impossible_pads_are_refused(electrode: int, picofarad: float, over_s: float) -> None:
    with pytest.raises(ValueError, match="electrode"):
        Bench().chip.set_pf(electrode, picofarad, over_s)


def test_noise_is_the_seeds_alone_and_has_the_width_asked_for() -> None:
    def readings(seed: int) -> list[int]:
        bench = Bench(noise_counts=2.0, seed=seed)
        bench.configure()
        bench.counts(0, 400)
        bench.write(0x5E, 0xC1)
        values = []
        for step in range(1, 2001):
            bench.now = step * 0.004
            values.append(bench.data())
        return values

    first = readings(1)
    assert first == readings(1)
    assert first != readings(2)
    mean = sum(first) / len(first)
    assert mean == pytest.approx(400, abs=0.2)
    assert math.sqrt(sum((value - mean) ** 2 for value in first) / len(first)) == pytest.approx(2.0, rel=0.1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(690, 730), max_size=80))
def test_quick_steps_are_steps(readings: list[int]) -> None:
    slow, quick = (Channel(_settings(OURS), 710) for _ in range(2))
    for reading in readings:
        slow.step(reading)
    quick.steps(readings)
    assert quick.state() == slow.state()


# --- the supply


def test_readings_scale_with_the_supply_and_come_back() -> None:
    bench = Bench()
    bench.configure()
    bench.counts(0, 400)
    bench.write(0x5E, 0xC1)
    bench.now = 0.1
    assert bench.data() == 400
    bench.chip.set_vdd(3.0)
    bench.now = 0.2
    assert bench.data() == 440  # I * T * 1024 / (C * VDD), AN3889
    bench.chip.set_vdd(3.3, over_s=0.04)
    assert bench.chip.vdd == 3.0
    bench.now = 0.22
    assert bench.chip.vdd == pytest.approx(3.15)
    bench.now = 0.3
    assert bench.data() == 400


def test_a_deep_dip_resets_and_silences_the_chip() -> None:
    bench = Bench()
    bench.configure()
    bench.write(0x5E, 0xC1)
    bench.chip.set_vdd(1.0)
    with pytest.raises(BusError, match="0x5A"):
        bench.read(0x5E)
    bench.chip.set_vdd(3.3)
    assert bench.read(0x5C, 3) == bytes((0x10, 0x24, 0x00))  # as after power-on


# --- skipping ahead is exactly equal to going step by step

_filters = st.tuples(
    st.tuples(st.integers(0, 63), st.integers(0, 63), st.integers(0, 20), st.integers(0, 70)),
    st.tuples(st.integers(0, 63), st.integers(0, 63), st.integers(0, 20), st.integers(0, 70)),
    st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 20)),
)


@settings(max_examples=150, deadline=None)
@given(
    filters=_filters,
    touch=st.integers(0, 40),
    release=st.integers(0, 40),
    debounce=st.integers(0, 7),
    tracking=st.booleans(),
    holds=st.lists(st.tuples(st.integers(600, 760), st.integers(1, 300)), min_size=1, max_size=6),
)
def test_advance_equals_step_by_step(
    *,
    filters: tuple[tuple[int, ...], ...],
    touch: int,
    release: int,
    debounce: int,
    tracking: bool,
    holds: list[tuple[int, int]],
) -> None:
    flat = [value for filter_ in filters for value in filter_]
    rules = _settings(flat, touch=touch, release=release, debounce_touch=debounce, tracking=tracking)
    jumping, stepping = Channel(rules, 700), Channel(rules, 700)
    for reading, updates in holds:
        at_rest = jumping.advance(reading, updates)
        for _ in range(updates):
            stepping.step(reading)
        assert jumping.state() == stepping.state()
        if at_rest:
            before = stepping.state()
            stepping.step(reading)
            assert stepping.state() == before


@settings(max_examples=25, deadline=None)
@given(
    moves=st.lists(
        st.tuples(st.integers(0, 11), st.floats(20.0, 140.0), st.sampled_from((0.0, 0.03, 0.7)), st.floats(0.0, 3.0)),
        max_size=8,
    )
)
def test_a_chip_that_is_rarely_asked_equals_one_that_is_asked_always(
    moves: list[tuple[int, float, float, float]],
) -> None:
    chips = []
    for poll_s in (0.005, None):
        bench = Bench()
        Mpr121(bench.bus, ADDRESS).start()
        bench.now = 0.5
        for electrode, picofarad, over_s, wait_s in moves:
            bench.chip.set_pf(electrode, picofarad, over_s)
            end = bench.now + wait_s
            while poll_s is not None and bench.now + poll_s < end:
                bench.now += poll_s
                bench.status()
            bench.now = end
        chips.append(bench.read(0x00, 0x80))
    assert chips[0] == chips[1]


@settings(max_examples=40, deadline=None)
@given(
    noise_counts=st.sampled_from((0.0, 0.3, 2.0)),
    moves=st.lists(
        st.tuples(
            st.integers(0, 1), st.floats(20.0, 140.0), st.sampled_from((0.0, 0.03, 0.7)), st.sampled_from((1, 2, 90))
        ),
        max_size=9,
    ),
)
def test_a_chip_that_is_asked_for_its_status_alone_tells_all_touches_in_time(
    noise_counts: float, moves: list[tuple[int, float, float, int]]
) -> None:
    benches = [Bench(noise_counts=noise_counts) for _ in range(2)]
    for bench in benches:
        Mpr121(bench.bus, ADDRESS).start()
    told: list[list[tuple[bool, int]]] = [[], []]
    for electrode, picofarad, over_s, polls in moves:
        for bench, heard, size in zip(benches, told, (2, 0x2B), strict=True):
            bench.chip.set_pf(electrode, picofarad, over_s)
            for _ in range(polls):
                bench.now += 0.007
                heard.append((bench.chip.irq_low, int.from_bytes(bench.read(0x00, size)[:2], "little")))
    assert told[0] == told[1]
    assert benches[0].read(0x00, 0x80) == benches[1].read(0x00, 0x80)


@pytest.mark.parametrize(
    ("before", "bounds", "readings"),
    [
        ((), (688, 700), (688, 688, 700, 688)),
        ((), (687, 700), (687, 687)),
        ((), (688, 701), (701, 701, 701, 688, 688)),  # the baseline follows
        ((710, 710), (690, 701), (701, 690, 690)),  # the average under way is of higher readings
        ((687,), (687, 700), (687,)),  # one update is left to a touch
        ((600, 600), (600, 694), (694, 694, 600, 694)),
        ((600, 600), (600, 695), (695, 695)),
        ((600, 600, 695), (600, 695), (695,)),
    ],
)
def test_where_a_channel_is_calm_no_reading_within_the_bounds_changes_its_touch(
    before: Sequence[int], bounds: tuple[int, int], readings: Sequence[int]
) -> None:
    channel = Channel(_settings(debounce_touch=1), 700)
    for reading in before:
        channel.step(reading)
    calm, changes = channel.is_calm(*bounds), channel.changes
    for reading in readings:
        channel.step(reading)
    assert calm == (channel.changes == changes)


def test_a_channel_whose_baseline_follows_a_held_hand_is_never_calm() -> None:
    channel = Channel(_settings((*OURS[:8], 1, 0, 0)), 700)
    channel.step(600)
    assert channel.touched
    assert not channel.is_calm(600, 600)


def test_three_chips_polled_fifty_times_a_second_run_much_faster_than_real_time() -> None:
    now = 0.0
    chips = {address: Chip(lambda: now) for address in (0x5A, 0x5B, 0x5C)}
    bus = EmulatedBus(chips)
    drivers = [Mpr121(bus, address, electrodes) for address, electrodes in zip(chips, (12, 11, 6), strict=True)]
    for driver in drivers:
        driver.start()
    begin = time.process_time()
    for poll in range(3000):
        now = 1.0 + poll / 50
        drivers[2].status()
        if poll % 5 == 0:
            drivers[0].status()
            drivers[1].status()
    assert time.process_time() - begin < 60 / 150
