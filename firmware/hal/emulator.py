"""The MPR121 at register level, in virtual time, fed with picofarads.

Source: data sheet Rev. 4 and AN3889, AN3891, AN3892, AN3895. Where these disagree or are silent, the choices are:

* debounce n needs n + 1 updates in a row (AN3892), not n; a release compares with the release threshold (5.6);
* NCL and FDL n mean n + 1, also at 255; data are limited to 0..1023; the baseline registers are 0x1E-0x2A;
* 0x5C and 0x5D are 0x10 and 0x24 after a reset (the register table; some notes print 0);
* the decision is taken on the baseline before the same update moves it; a baseline never moves past the average;
  data equal to the baseline leave it alone and clear the counters; NHD touched = 0 freezes it;
* data are rounded, not cut; the second filter averages SFI scans at their own moments;
* a soft reset is heard in Run as well; status and data keep their last values in Stop;
* Stop to Run starts the filters afresh (untouched, counters zero), and so does a change of ELE_EN or ELEPROX_EN in
  Run; a change of CL alone in Run only switches tracking on or off;
* auto-configuration runs at each Stop to Run and sees the pads as they are at that moment; its results appear with the
  first update. It takes the shortest charge time that reaches the target with at most 63 uA (with SCTS the time of
  0x5D). With it the start of the baseline follows BVA (coded as CL), without it CL. Limits out of order fail every
  channel. Reconfiguration (ARE) does not change the pace of the updates;
* the register pointer goes back to 0 at STOP unless `pointer_survives_stop` (AN3895 says it is kept; chips in the
  field do not keep it);
* a read that covers 0x00 or 0x01 releases IRQ (AN3892), other traffic does not.

The supply may sag and recover (`set_vdd`): readings scale with 1 / VDD at the moment of each scan.

Not modelled: PWM (the registers only hold their values), the hold-back of GPIO levels during a conversion, and the
ADC's loss of accuracy outside 0.7 V .. VDD - 0.7 V.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from firmware.hal import registers as reg
from firmware.hal.emulated_channel import Channel, ChannelSettings
from firmware.hal.emulated_front_end import FrontEnd
from firmware.hal.emulated_gpio import Gpio

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.hal.emulated_charge import Found

POWER_ON_RESET_VOLTS = 1.15
"""Falling VDD resets the chip (data sheet, electrical characteristics: 0.88 to 1.42 V, typically 1.15 V)."""
_RUN_BITS: Final = 0x3F
"""ELEPROX_EN and ELE_EN of the ECR: Run if any is set."""
_ARE: Final = 0x02
"""Of 0x7B: charges may change at every update."""
_MASKS = {
    **dict.fromkeys((0x2B, 0x2C, 0x2F, 0x30, 0x33, 0x36, 0x37, 0x3A, 0x3B, 0x3E), 0x3F),  # MHD and NHD: 6 bits
    reg.DEBOUNCE: 0x77,
    **dict.fromkeys(range(reg.CDC, reg.CDT), 0x3F),
    **dict.fromkeys(range(reg.CDT, reg.GPIO_CTL0), 0x77),
    reg.AUTO_CONFIG1: 0x87,
}


class Chip:
    """One MPR121. `clock` gives virtual seconds; the chip catches up with it whenever it is asked anything.

    `vdd` in volts; `noise_counts` is the standard deviation of the filtered data, drawn from `seed` alone.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        pointer_survives_stop: bool = False,
        vdd: float = 3.3,
        noise_counts: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._clock = clock
        self.pointer_survives_stop = pointer_survives_stop
        self._registers = bytearray(256)
        self._gpio = Gpio(self._registers)
        self._front_end = FrontEnd(self._registers, vdd, noise_counts, seed)
        self.powered = True
        """Whether the supply is high enough to answer."""
        self._rext_fault = False
        self.power_on_reset()

    # --- the physical side

    def set_pf(self, electrode: int, picofarad: float, over_s: float = 0.0, *, unhurried: bool = False) -> None:
        """Let an electrode (0..11) go from its present capacitance to `picofarad` in `over_s` virtual seconds.

        0 pF is a torn-off pad, infinite a short to ground (at once only). If `unhurried`, a movement that is under way
        ends no sooner than it would have.
        """
        if not 0 <= electrode < reg.ELECTRODES:
            raise ValueError(f"electrode must be 0..11, is {electrode}")
        if not picofarad >= 0.0 or (over_s > 0.0 and math.isinf(picofarad)):
            raise ValueError(f"electrode {electrode} must have 0 pF or more, not {picofarad} over {over_s} s")
        self._catch_up()
        now_us = self._now_us()
        over_us = round(over_s * 1e6)
        if unhurried:
            over_us = max(over_us, self._front_end.moves_us(electrode, now_us))
        self._front_end.set_pf(electrode, picofarad, now_us, over_us, self._window_us(now_us))
        self._stir(*self._channels.keys() & {electrode, reg.PROX})

    def pf(self, electrode: int) -> float:
        """Capacitance of an electrode now, in picofarads."""
        return self._front_end.pf(electrode, self._now_us())

    def set_vdd(self, volts: float, over_s: float = 0.0) -> None:
        """Let the supply go to `volts` in `over_s` virtual seconds; below 1.15 V the chip is reset and silent.

        It is as after power-on from the moment of the call, also where the fall takes time.
        """
        self._catch_up()
        now_us = self._now_us()
        self._front_end.set_vdd(volts, now_us, round(over_s * 1e6), self._window_us(now_us))
        self._stir(*self._channels)
        self.powered = volts >= POWER_ON_RESET_VOLTS
        if not self.powered:
            self.power_on_reset()

    @property
    def vdd(self) -> float:
        """The supply now, in volts."""
        return self._front_end.vdd.at(self._now_us())

    def power_on_reset(self) -> None:
        """The supply fell below 1.15 V and came back: every register as after power-on; the pads stay as they are."""
        self._pointer = 0
        self._reset()

    def over_current(self, *, lasting: bool = False) -> None:
        """The REXT over-current protection trips (once, if the chip runs); with `lasting` at every entry to Run."""
        self._catch_up()
        self._rext_fault = lasting
        if self._running:
            self._trip()

    def repair_rext(self) -> None:
        """The reference resistor is sound again; OVCF stays until it is cleared."""
        self._rext_fault = False

    @property
    def irq_low(self) -> bool:
        """Whether the chip pulls its IRQ line low: the status has changed and has not been read since."""
        if not self._calm:
            self._catch_up()
        return self._irq

    def gpio_output(self, electrode: int) -> bool | None:
        """The level that pin ELE4..ELE11 drives; None: high impedance."""
        return self._gpio.output(electrode)

    def drive_gpio(self, electrode: int, level: bool | None) -> None:
        """What the outside puts on pin ELE4..ELE11; None: nothing is connected."""
        self._gpio.drive(electrode, level)
        self._publish_status()

    # --- the bus side

    def write(self, message: bytes) -> None:
        """One write message: the register pointer, then values for it and the following registers; may be empty."""
        if not message:
            return
        self._pointer = message[0]
        if len(message) > 1:
            self._catch_up()
        for value in message[1:]:
            self._store(self._pointer, value)
            self._pointer = (self._pointer + 1) & 0xFF

    def read(self, size: int) -> bytes:
        """One read message of `size` bytes from the register pointer on, all of one moment."""
        first = self._pointer
        if not self._calm or first + size > reg.OUT_OF_RANGE_L:
            self._catch_up()
        self._pointer = (first + size) & 0xFF
        if first <= reg.TOUCH_STATUS_H:
            self._irq = False
        registers = self._registers
        if first + size <= len(registers):
            return bytes(registers[first : first + size])
        return bytes(registers[(first + offset) & 0xFF] for offset in range(size))

    def stop(self) -> None:
        """The master sends STOP."""
        if not self.pointer_survives_stop:
            self._pointer = 0

    # --- registers

    def _reset(self) -> None:
        self._registers[:] = bytes(256)
        self._registers[reg.AFE1] = 0x10
        self._registers[reg.AFE2] = 0x24
        self._irq = False
        self._running = False
        self._done = 0
        self._front_end.reset()
        self._found: dict[int, Found] | None = None
        self._channels: dict[int, Channel] = {}
        self._baselines = [0] * reg.CHANNELS
        self._busy: set[int] = set()
        self._calm: bool = False
        """Whether no touch can come or go before pads, supply or settings change: the status waits for nothing."""
        self._publish_pins()

    def _store(self, register: int, value: int) -> None:
        if register == reg.ECR:
            self._set_ecr(value)
        elif reg.GPIO_CTL0 <= register <= reg.GPIO_TOG:
            self._gpio.store(register, value)
            self._publish_status()
        elif register == reg.SOFT_RESET:
            if value == reg.SOFT_RESET_KEY:
                self._reset()
        elif self._running:
            return  # 5.1: lost without a sign
        elif register == reg.TOUCH_STATUS_H:
            if value & reg.OVCF:
                self._registers[register] &= ~reg.OVCF & 0xFF
        elif reg.BASELINE <= register < reg.MHDR:
            self._registers[register] = value
            self._baselines[register - reg.BASELINE] = value << 2
        elif reg.MHDR <= register <= reg.TL or reg.PWM <= register <= reg.PWM + 3:
            self._registers[register] = value & _MASKS.get(register, 0xFF)

    def _publish_pins(self) -> None:
        self._gpio.publish()
        self._publish_status()

    def _publish_status(self) -> None:
        status = self._gpio.status()
        for number, channel in self._channels.items():
            if channel.touched:
                status |= 1 << number
        self._registers[reg.TOUCH_STATUS_L] = status & 0xFF
        self._registers[reg.TOUCH_STATUS_H] = status >> 8 | self._registers[reg.TOUCH_STATUS_H] & reg.OVCF

    # --- modes

    def _set_ecr(self, value: int) -> None:
        registers = self._registers
        before = registers[reg.ECR]
        if registers[reg.TOUCH_STATUS_H] & reg.OVCF and value & _RUN_BITS:
            return  # 5.10: Run is locked until OVCF is cleared
        registers[reg.ECR] = value
        if not value & _RUN_BITS:
            self._leave_run()
        elif not before & _RUN_BITS:
            self._enter_run(auto_config=bool(registers[reg.AUTO_CONFIG0] & 1))
        elif (value ^ before) & _RUN_BITS:
            self._leave_run()
            self._enter_run(auto_config=False)
        elif value != before:
            for number, channel in self._channels.items():
                channel.settings = ChannelSettings.of(registers, number)
                self._stir(number)
        self._publish_pins()

    def _leave_run(self) -> None:
        if self._running:
            self._front_end.leave_run(self._done)
            for number, channel in self._channels.items():
                self._baselines[number] = channel.baseline
        self._running = False
        self._busy.clear()

    def _trip(self) -> None:
        """Over-current: Stop, all readings cleared, Run locked (5.10)."""
        self._leave_run()
        self._channels = {}
        self._baselines = [0] * reg.CHANNELS
        self._registers[: reg.SNAPSHOT_SIZE] = bytes(reg.SNAPSHOT_SIZE)
        self._registers[reg.TOUCH_STATUS_H] = reg.OVCF
        self._registers[reg.ECR] &= ~_RUN_BITS & 0xFF
        self._irq = True

    def _enter_run(self, *, auto_config: bool) -> None:
        if self._rext_fault:
            self._trip()
            return
        ecr = self._registers[reg.ECR]
        numbers = list(range(min(ecr & 0x0F, reg.ELECTRODES)))
        if ecr & 0x30:
            numbers.append(reg.PROX)
        if any(channel.touched for channel in self._channels.values()):
            self._irq = True  # the status is cleared
        self._running = True
        self._done = 0
        self._channels = {
            number: Channel(ChannelSettings.of(self._registers, number), self._baselines[number]) for number in numbers
        }
        self._stir(*numbers)
        self._found = self._front_end.enter_run(self._now_us(), numbers, auto_config=auto_config)

    # --- measuring

    def _now_us(self) -> int:
        return int(self._clock() * 1e6 + 0.5)

    def _window_us(self, now_us: int) -> int:
        """When the update that is being measured began; before that nobody looks at the pads again."""
        return min(now_us, self._front_end.begin_us(self._done)) if self._running else now_us

    def _catch_up(self) -> None:
        """Carry out the updates that have fallen due."""
        if not self._running:
            return
        due = self._front_end.due(self._now_us())
        if due <= self._done:
            return
        if self._busy:
            if self._done == 0:
                self._first_update()
            changes = sum([self._run_channel(number, due) for number in sorted(self._busy)])
            if changes:
                self._publish_status()
                self._irq = True
            self._calm = self._calm or self._is_calm(due)
        self._done = due

    def _stir(self, *numbers: int) -> None:
        """Something has changed for these channels."""
        self._busy.update(numbers)
        self._calm = False

    def _is_calm(self, update: int) -> bool:
        """Whether no update from `update` on can change a touch bit."""
        for number in self._busy:
            rest = self._front_end.rest(number)
            if update < rest.update or not self._channels[number].is_calm(rest.lowest, rest.highest):
                return False
        return not self._registers[reg.AUTO_CONFIG0] & _ARE

    def _first_update(self) -> None:
        """What auto-configuration has found appears, and the baselines start as BVA or CL says."""
        registers = self._registers
        start = registers[reg.ECR] >> 6
        if self._found is not None:
            start = registers[reg.AUTO_CONFIG0] >> 2 & 3
            registers[reg.OUT_OF_RANGE_L] = registers[reg.OUT_OF_RANGE_H] = 0
            for number, found in self._found.items():
                self._front_end.charge(number, found)
                if not found.in_range:
                    self._flag_out_of_range(number, failed=0x80, interrupt=0x01)
        for number, channel in self._channels.items():
            if start >= 2:
                channel.baseline = self._front_end.filtered(number, 0) & (0x3E0 if start == 2 else 0x3FF)

    def _run_channel(self, number: int, due: int) -> int:
        """All updates of one channel up to `due`; how often its touch bit changed."""
        channel = self._channels[number]
        changes = channel.changes
        front_end = self._front_end
        update = self._done
        watched = self._registers[reg.AUTO_CONFIG0] & _ARE
        while update < due:
            if not watched and (readings := front_end.noisy(number, update, due)):
                channel.steps(readings)
                update += len(readings)
                continue
            data = front_end.filtered(number, update)
            if watched and self._reconfigure(number, data, update):
                data = front_end.filtered(number, update)
                channel.baseline = data
            if front_end.noise_counts or update < front_end.rest(number).update:
                channel.step(data)
                update += 1
            else:
                if channel.advance(data, due - update):
                    self._busy.discard(number)
                update = due
        registers = self._registers
        register = reg.FILTERED_DATA + 2 * number
        registers[register] = channel.data & 0xFF
        registers[register + 1] = channel.data >> 8
        registers[reg.BASELINE + number] = channel.baseline >> 2
        return channel.changes - changes

    # --- auto-configuration: data sheet section 5.11

    def _flag_out_of_range(self, number: int, *, failed: int, interrupt: int) -> None:
        registers = self._registers
        before = registers[reg.OUT_OF_RANGE_L], registers[reg.OUT_OF_RANGE_H]
        registers[reg.OUT_OF_RANGE_L + (number >> 3)] |= 1 << (number & 7)
        registers[reg.OUT_OF_RANGE_H] |= failed
        changed = before != (registers[reg.OUT_OF_RANGE_L], registers[reg.OUT_OF_RANGE_H])
        if changed and registers[reg.AUTO_CONFIG1] & (interrupt | 0x04):
            self._irq = True

    def _reconfigure(self, number: int, data: int, update: int) -> bool:
        """ARE: search again where the data have left LSL..USL; True if that changed the charge."""
        found = self._front_end.search_again(number, data, update)
        if found is None:
            return False
        if not found.in_range:
            self._flag_out_of_range(number, failed=0x40, interrupt=0x02)
            return False
        self._registers[reg.OUT_OF_RANGE_L + (number >> 3)] &= ~(1 << (number & 7)) & 0xFF
        return self._front_end.charge(number, found)
