"""Our MPR121 layer, byte for byte against the data sheet, on the emulated chip under Adafruit's own driver."""

from __future__ import annotations

import errno
import math
import subprocess
import sys
from dataclasses import replace

import pytest

from firmware.hal.bus import CountingBus, Transaction
from firmware.hal.emulated_bus import Disturbance, EmulatedBus
from firmware.hal.emulator import Chip
from firmware.hal.mpr121 import Mpr121, Snapshot
from firmware.hal.mpr121_config import Charge, Mpr121Config
from firmware.hal.ports import BusError

ADDRESS = 0x5A
PADS_PF = tuple(40.0 + 7 * electrode for electrode in range(12))
DRIVER = (121, 362)
"""Transactions and bytes of Adafruit's driver 2.1.27 alone: probe, 119 writes of two bytes, one read of one."""
OWN = (7, 3 + (2 + 51) + (2 + 20) + (2 + 5) + (3 + 85) + 3 + 4)
"""Ours: Stop, 0x2B-0x5D, 0x5F-0x72, 0x7B-0x7F, all read back, ECR, ECR read back."""


class Rig:
    """One chip with pads, a clock set by hand and a bus that records."""

    def __init__(self, electrodes: int = 12, config: Mpr121Config | None = None) -> None:
        self.now = 0.0
        self.chip = Chip(lambda: self.now)
        for electrode, picofarad in enumerate(PADS_PF):
            self.chip.set_pf(electrode, picofarad)
        self.emulated = EmulatedBus({ADDRESS: self.chip})
        self.bus = CountingBus(self.emulated, record=True)
        self.sensor = Mpr121(self.bus, ADDRESS, electrodes, config)

    def run(self, seconds: float) -> None:
        self.now += seconds

    def registers(self, first: int, size: int = 1) -> bytes:
        values = bytearray(size)
        self.emulated.writeto_then_readfrom(ADDRESS, bytes((first,)), values)
        return bytes(values)

    def counts(self) -> tuple[int, int]:
        counts = self.bus.transactions, self.bus.wire_bytes
        self.bus.clear()
        return counts


def started(electrodes: int = 12, config: Mpr121Config | None = None) -> Rig:
    rig = Rig(electrodes, config)
    rig.sensor.start()
    rig.run(0.2)
    rig.sensor.snapshot()
    rig.bus.clear()
    return rig


def test_what_the_chip_measured_before_its_configuration_is_no_reading() -> None:
    rig = Rig()
    write = rig.emulated.writeto

    def slowly(address: int, buffer: bytes, **span: int) -> None:
        if bytes(buffer) == b"\x5e\x00":
            rig.run(0.01)  # a busy Pi: the chip has time to measure before it is stopped
        write(address, buffer, **span)

    rig.emulated.writeto = slowly  # type: ignore[method-assign, assignment]
    rig.sensor.start()
    assert any(rig.registers(0x04, 24)), "there is nothing old to be mistaken"
    assert not any(rig.sensor.snapshot().filtered)
    assert rig.sensor.charges is None
    rig.run(0.2)
    snapshot = rig.sensor.snapshot()
    levels = [rig.sensor.capacitance_pf(number, snapshot.filtered[number]) for number in range(12)]
    assert levels == pytest.approx(PADS_PF, rel=0.01)


# --- encoding


def test_debounce_has_release_in_the_high_nibble() -> None:
    ((first, values), *_) = Mpr121Config(dt=2, dr=5).blocks()
    assert values[0x5B - first] == 0x52


def test_afe_registers() -> None:
    assert Mpr121Config().afe() == b"\x90\x30"
    assert Mpr121Config(ffi=3, cdc=63, cdt=7, sfi=1, esi=4).afe() == b"\xff\xec"


@pytest.mark.parametrize(("cl", "first"), [(3, 0x9D), (2, 0x99), (1, 0x95), (0, 0x91)])
def test_auto_config_repeats_ffi_and_cl(cl: int, first: int) -> None:
    assert Mpr121Config(cl=cl).auto_config() == bytes((first, 0x00, 201, 131, 181))
    assert Mpr121Config(cl=cl, ffi=0).auto_config()[0] == first & 0x3F


def test_limits_follow_from_the_supply() -> None:
    config = Mpr121Config()
    assert config.usl == round((config.vdd - 0.7) / config.vdd * 256) - 1 == 201
    assert (config.tl, config.lsl) == (round(0.9 * 201), round(0.65 * 201))


def test_ecr_has_cl_on_top_then_eleprox_then_the_electrodes() -> None:
    assert Mpr121Config().ecr(12) == 0xCC
    assert Mpr121Config(cl=2, eleprox=3).ecr(5) == 0xB5
    assert Mpr121Config().ecr(7, cl=0) == 0x07


def test_filters_stand_in_the_data_sheets_order_for_pads_and_proximity() -> None:
    config = Mpr121Config(mhdr=1, nhdr=2, nclr=3, fdlr=4, mhdf=5, nhdf=6, nclf=7, fdlf=8, nhdt=9, nclt=10, fdlt=11)
    ((first, values), *_) = config.blocks()
    assert first == 0x2B
    assert list(values[:22]) == [*range(1, 12), *range(1, 12)]
    assert list(Mpr121Config().blocks()[0][1][:11]) == [0x3F, 0x3F, 0, 2, 1, 1, 0x10, 0x40, 0, 0, 0]


def test_thresholds_by_turns() -> None:
    pairs = tuple((20 + n, 10 + n) for n in range(13))
    assert list(Mpr121Config(thresholds=pairs).threshold_block()) == [value for pair in pairs for value in pair]


def test_charge_times_two_in_a_byte_the_even_channel_low() -> None:
    charges = tuple(Charge(10 + n, n % 8) for n in range(13))
    block = Mpr121Config(charges=charges).charge_block()
    assert list(block[:13]) == list(range(10, 23))
    assert block[13:] == bytes((0x10, 0x32, 0x54, 0x76, 0x10, 0x32, 0x04))


def test_stored_charges_switch_auto_config_off() -> None:
    assert Mpr121Config(charges=(Charge(30, 3),) * 13).auto_config()[0] == 0x9C
    assert Mpr121Config().charge_block() == bytes(20)


@pytest.mark.parametrize(
    ("name", "value"), [("ffi", 4), ("cdc", 64), ("dt", 8), ("mhdr", 64), ("fdlf", 256), ("cl", -1), ("usl", 300)]
)
def test_codes_that_do_not_fit_are_named(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be 0\\.\\..*{value}"):
        replace(Mpr121Config(), **{name: value})  # type: ignore[arg-type]


def test_tables_of_the_wrong_size_are_named() -> None:
    with pytest.raises(ValueError, match="thresholds must be 13"):
        Mpr121Config(thresholds=((12, 6),) * 12)
    with pytest.raises(ValueError, match="thresholds of electrode 2"):
        Mpr121Config(thresholds=(*(((12, 6),) * 2), (256, 6), *(((12, 6),) * 10)))
    with pytest.raises(ValueError, match="charges must be 13"):
        Mpr121Config(charges=(Charge(1, 1),))
    with pytest.raises(ValueError, match=r"electrodes must be 1\.\.12"):
        Mpr121(EmulatedBus({}), ADDRESS, 13)


# --- start


def test_adafruits_driver_alone() -> None:
    from adafruit_mpr121 import MPR121  # noqa: PLC0415 - as in the driver layer

    rig = Rig()
    driver = MPR121(rig.bus, ADDRESS)
    assert rig.counts() == DRIVER
    assert rig.registers(0x5E) == b"\x8f"
    rig.run(1.0)
    rig.chip.set_pf(5, 400.0)
    rig.run(0.1)
    assert driver.touched() == 1 << 5
    assert driver.filtered_data(5) == 6


def test_start_is_the_drivers_reset_and_one_stop_of_ours() -> None:
    rig = Rig(electrodes=9)
    rig.sensor.start()
    assert rig.counts() == (DRIVER[0] + OWN[0], DRIVER[1] + OWN[1])
    assert rig.registers(0x5E) == b"\xc9"
    rig.bus.log.clear()
    rig.sensor.restart()
    config = Mpr121Config()
    (_, main), _, _ = config.blocks()
    writes = [transaction for transaction in rig.bus.log if transaction.received is None]
    assert writes == [
        Transaction(ADDRESS, b"\x5e\x00", None),
        Transaction(ADDRESS, b"\x2b" + main, None),
        Transaction(ADDRESS, b"\x5f" + bytes(20), None),
        Transaction(ADDRESS, b"\x7b\x9d\x00\xc9\x83\xb5", None),
        Transaction(ADDRESS, b"\x5e\xc9", None),
    ]
    assert rig.counts() == OWN


def test_start_imports_no_board_and_the_module_no_driver() -> None:
    program = """
import sys
import firmware.hal.mpr121, firmware.hal.bus, firmware.hal.emulated_bus, firmware.hal.emulator
assert not {"adafruit_mpr121", "busio", "board", "smbus2", "adafruit_bus_device"} & set(sys.modules)
chip = firmware.hal.emulator.Chip(lambda: 0.0)
firmware.hal.mpr121.Mpr121(firmware.hal.emulated_bus.EmulatedBus({0x5A: chip}), 0x5A).start()
assert "adafruit_mpr121" in sys.modules
assert not {"board", "RPi.GPIO", "lgpio"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def test_a_missing_chip_is_named_with_its_wires() -> None:
    sensor = Mpr121(EmulatedBus({}), 0x5C)
    with pytest.raises(BusError, match=r"^nothing answers at 0x5C .*ADDR wire$") as caught:
        sensor.start()
    assert caught.value.errno == 121


def test_a_stuck_bus_at_start_is_told_apart_from_a_missing_chip() -> None:
    rig = Rig()
    rig.emulated.inject(Disturbance.STUCK_SDA)
    with pytest.raises(BusError, match="does not come free") as caught:
        rig.sensor.start()
    assert caught.value.errno == errno.ETIMEDOUT


def test_a_chip_that_is_no_mpr121_is_named() -> None:
    rig = Rig()
    rig.emulated.inject(Disturbance.BYTE_FLIP, mask=0xFF)
    with pytest.raises(BusError, match=r"MPR121 at 0x5A .*0x5D"):
        rig.sensor.start()


def test_a_lost_transfer_in_the_middle_of_the_start() -> None:
    rig = Rig()
    rig.sensor.start()
    rig.emulated.inject(Disturbance.IO_ERROR, count=1)
    with pytest.raises(BusError, match="lost a transfer with 0x5A"):
        rig.sensor.restart()


def test_a_register_that_does_not_hold_is_named() -> None:
    rig = Rig()
    rig.sensor.start()
    rig.emulated.inject(Disturbance.BYTE_FLIP, count=1, byte=0x5B - 0x2B, mask=0x10)
    with pytest.raises(BusError, match="MPR121 at 0x5A: register 0x5B reads 0x01, written was 0x11"):
        rig.sensor.restart()


def test_a_chip_that_will_not_run_points_to_rext() -> None:
    rig = Rig()
    rig.chip.over_current(lasting=True)
    with pytest.raises(BusError, match=r"register 0x5E .*REXT"):
        rig.sensor.start()


def test_foreign_errors_get_address_and_words() -> None:
    class Foreign(EmulatedBus):
        def writeto_then_readfrom(self, *_: object, **__: object) -> None:
            raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(BusError, match=r"MPR121 at 0x5A does not answer \(Input/output error\)") as caught:
        Mpr121(Foreign({}), ADDRESS).status()
    assert caught.value.errno == errno.EIO


# --- reading


def test_status_is_one_transaction_and_twelve_bits() -> None:
    rig = started()
    rig.chip.set_pf(3, 80.0)
    rig.chip.set_pf(11, 150.0)
    rig.run(0.1)
    assert rig.sensor.status() == 1 << 3 | 1 << 11
    assert rig.bus.log == [Transaction(ADDRESS, b"\x00", b"\x08\x08")]
    assert rig.counts() == (1, 5)


def test_status_hides_proximity() -> None:
    rig = started(config=Mpr121Config(eleprox=3))
    for electrode in range(12):
        rig.chip.set_pf(electrode, 2 * PADS_PF[electrode])
    rig.run(0.2)
    assert rig.registers(0x01)[0] & 0x10
    assert rig.sensor.status() == 0x0FFF


def test_snapshot_is_one_transaction_of_43_bytes() -> None:
    rig = started(electrodes=10)
    rig.chip.set_pf(2, math.inf)
    rig.run(0.1)
    snapshot = rig.sensor.snapshot()
    assert rig.counts() == (1, 2 + 1 + 43)
    assert snapshot.touched == 1 << 2
    assert snapshot.out_of_range == 0
    assert snapshot.filtered[2] == 0
    assert all(abs(snapshot.filtered[n] - 724) < 12 for n in range(10) if n != 2)
    assert snapshot.filtered[10:] == (0, 0, 0)
    assert all(0 <= 724 - snapshot.baseline[n] + 12 <= 24 for n in range(10))


def test_snapshot_decodes_ten_bits_low_byte_first() -> None:
    registers = bytearray(43)
    registers[:6] = b"\x01\x98\x04\x82\x34\x02"
    registers[0x1E] = 0xFF
    assert Snapshot.decode(bytes(registers)) == Snapshot(0x801, 0x204, (0x234, *[0] * 12), (0x3FC, *[0] * 12))


def test_a_shorted_pad_is_out_of_range() -> None:
    rig = Rig()
    rig.chip.set_pf(4, math.inf)
    rig.sensor.start()
    rig.run(0.2)
    assert rig.sensor.snapshot().out_of_range == 1 << 4


def test_charges_are_learnt_from_the_first_snapshot_with_readings() -> None:
    rig = Rig()
    rig.sensor.start()
    rig.bus.clear()
    rig.sensor.snapshot()
    assert rig.counts() == (1, 46)  # nothing to learn before the first update
    assert rig.sensor.charges is None
    rig.run(0.1)
    rig.sensor.snapshot()
    assert rig.counts() == (2, 46 + 23)
    rig.sensor.snapshot()
    assert rig.counts() == (1, 46)


def test_capacitance_is_measured_in_picofarads() -> None:
    rig = started()
    snapshot = rig.sensor.snapshot()
    for electrode, picofarad in enumerate(PADS_PF):
        assert rig.sensor.capacitance_pf(electrode, snapshot.filtered[electrode]) == pytest.approx(picofarad, rel=0.001)
    assert rig.sensor.capacitance_pf(0, 0) == math.inf


def test_capacitance_by_the_global_charge_where_a_channel_has_none() -> None:
    sensor = Mpr121(EmulatedBus({}), ADDRESS, config=Mpr121Config(ace=False))
    assert sensor.capacitance_pf(0, 210) == pytest.approx(11.8, abs=0.05)


# --- over-current, silent reset


def test_over_current_is_counted_cleared_and_cured_by_a_restart() -> None:
    rig = started()
    rig.chip.over_current()
    assert rig.sensor.status() == 0
    assert rig.sensor.over_current == 1
    assert rig.counts() == (2, 5 + 3)
    assert rig.registers(0x01) == b"\x00"
    assert not rig.sensor.healthy()
    rig.sensor.restart()
    assert rig.sensor.healthy()
    rig.run(0.1)
    assert rig.sensor.snapshot().filtered[0] > 700
    rig.chip.over_current()
    rig.sensor.snapshot()
    assert rig.sensor.over_current == 2


def test_a_silent_reset_is_found_by_three_bytes_and_cured_without_adafruits_driver() -> None:
    rig = started()
    assert rig.sensor.healthy()
    assert rig.counts() == (1, 6)
    charges = rig.sensor.charges
    rig.chip.power_on_reset()
    assert not rig.sensor.healthy()
    rig.bus.clear()
    rig.sensor.restart()
    assert rig.counts() == (OWN[0] + 1, OWN[1] + (2 + 13) + 13)  # 13 baselines written and read back
    assert rig.sensor.healthy()
    assert rig.sensor.charges == charges


def test_a_restart_under_a_hand_keeps_charges_and_baselines() -> None:
    rig = started()
    charges, baselines = rig.registers(0x5F, 20), rig.registers(0x1E, 13)
    rig.chip.set_pf(0, 60.0)
    rig.run(0.1)
    rig.chip.power_on_reset()
    rig.sensor.snapshot()  # all zero, and not to be remembered
    rig.sensor.restart()
    assert rig.sensor.healthy()
    rig.run(0.1)
    assert rig.sensor.status() == 1
    assert rig.registers(0x5F, 20) == charges
    assert rig.registers(0x1E, 1) == baselines[:1]
    assert rig.registers(0x7B)[0] & 1 == 0
    rig.chip.set_pf(0, PADS_PF[0])
    rig.run(0.1)
    assert rig.sensor.status() == 0


def test_a_finger_on_a_pad_at_start_is_forgotten_as_soon_as_it_lets_go() -> None:
    rig = Rig(config=Mpr121Config(charges=started().sensor.charges))
    rig.chip.set_pf(0, 46.0)  # about 95 counts, within 2 * MHD rising
    rig.sensor.start()
    rig.run(10.0)
    rig.chip.set_pf(0, PADS_PF[0])
    rig.run(0.1)
    snapshot = rig.sensor.snapshot()
    assert snapshot.baseline[0] == snapshot.filtered[0] & 0x3FC


def test_relearn_lets_auto_config_run_again() -> None:
    rig = started()
    rig.chip.set_pf(0, 110.0)
    before = rig.sensor.charges
    rig.sensor.relearn()
    rig.run(0.1)
    assert abs(rig.sensor.snapshot().filtered[0] - 724) < 12
    assert rig.sensor.charges != before


def test_stored_charges_are_used_from_the_start() -> None:
    learnt = started().sensor.charges
    rig = Rig(config=Mpr121Config(charges=learnt))
    rig.chip.set_pf(0, 60.0)  # a hand at power-on
    rig.sensor.start()
    rig.run(0.1)
    rig.bus.clear()
    snapshot = rig.sensor.snapshot()
    assert rig.counts() == (1, 46)
    assert rig.sensor.capacitance_pf(0, snapshot.filtered[0]) == pytest.approx(60.0, rel=0.002)


# --- changing in mid-game


def test_thresholds_change_in_one_stop_and_a_held_pad_stays_held() -> None:
    rig = started(electrodes=11)
    rig.chip.set_pf(3, 80.0)
    rig.run(0.1)
    assert rig.sensor.status() == 1 << 3
    before = rig.registers(0x1E, 12)
    rig.bus.clear()
    rig.sensor.set_thresholds({3: (40, 20), 5: (30, 15)})
    stops = [transaction for transaction in rig.bus.log if transaction.written == b"\x5e\x00"]
    assert len(stops) == 1
    assert (
        rig.registers(0x41, 26) == Mpr121Config().threshold_block()[:6] + b"\x28\x14\x0c\x06\x1e\x0f" + b"\x0c\x06" * 7
    )
    assert rig.registers(0x5E)[0] & 0x3F == 11
    assert rig.sensor.healthy()
    rig.run(0.1)
    assert rig.registers(0x1E, 12) == before
    assert rig.sensor.status() == 1 << 3
    rig.chip.power_on_reset()
    rig.sensor.restart()
    assert rig.registers(0x47, 2) == b"\x28\x14"  # they outlive a reset


def test_thresholds_before_the_charges_are_known_do_not_spoil_auto_config() -> None:
    rig = Rig()
    rig.sensor.start()
    rig.sensor.set_thresholds({0: (40, 20)})
    rig.run(0.2)
    assert abs(rig.sensor.snapshot().filtered[0] - 724) < 12
    assert rig.registers(0x41, 2) == b"\x28\x14"


def test_impossible_thresholds_change_nothing() -> None:
    rig = started()
    with pytest.raises(ValueError, match="electrode 3"):
        rig.sensor.set_thresholds({3: (300, 6)})
    assert rig.counts() == (0, 0)
    assert rig.sensor.config.thresholds[3] == (12, 6)


def test_a_stuck_pad_is_rebased_and_the_others_keep_their_touch() -> None:
    rig = started()
    rig.chip.set_pf(1, 60.0)
    rig.chip.set_pf(2, 80.0)
    rig.run(120.0)
    assert rig.sensor.status() == 0b110
    rig.sensor.rebase(1)
    rig.run(0.1)
    assert rig.sensor.status() == 0b100
    snapshot = rig.sensor.snapshot()
    assert abs(snapshot.baseline[1] - snapshot.filtered[1]) <= 4
    assert rig.sensor.healthy()
    rig.chip.set_pf(1, 90.0)
    rig.run(0.1)
    assert rig.sensor.status() == 0b110


@pytest.mark.parametrize("finger_pf", [16.0, 60.0, 500.0])
def test_a_baseline_that_was_seeded_under_a_hand_recovers_in_half_a_second(finger_pf: float) -> None:
    rig = Rig()
    rig.chip.set_pf(4, PADS_PF[4] + finger_pf)
    rig.sensor.start()
    rig.run(3.0)
    rig.chip.set_pf(4, PADS_PF[4])
    rig.run(0.5)
    snapshot = rig.sensor.snapshot()
    assert snapshot.filtered[4] > 840
    assert 0 <= snapshot.filtered[4] - snapshot.baseline[4] <= 3
    rig.chip.set_pf(4, PADS_PF[4] + finger_pf)
    rig.run(0.1)
    assert rig.sensor.status() == 1 << 4


def test_a_baseline_is_given_to_a_pad_that_is_not_at_rest() -> None:
    rig = started()
    empty_pf = 0.8 * PADS_PF[4]
    rig.sensor.set_thresholds({4: (40, 20)}, {4: rig.sensor.counts(4, empty_pf)})
    assert rig.registers(0x1E + 4)[0] == round(rig.sensor.snapshot().filtered[4] / 0.8) >> 2
    rig.run(0.1)
    assert rig.sensor.status() == 1 << 4
    rig.sensor.restart()  # a restart keeps it
    rig.run(0.1)
    assert rig.sensor.status() == 1 << 4
