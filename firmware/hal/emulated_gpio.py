"""The emulated MPR121's pins ELE4-ELE11 as GPIO (data sheet 5.12): registers 0x73-0x7A.

Control bits CTL0 CTL1: output 00 CMOS, 11 high side only, 10 low side only; input 00 plain, 10 pull-down, 11 pull-up.
A pin that the ECR uses as an electrode is no GPIO. A plain input with nothing connected reads 0.
"""

from __future__ import annotations

from firmware.hal import registers as reg

FIRST_PIN = 4
PINS = 8
JOINED = (0, 2, 4, 12)
"""How many electrodes each code of ELEPROX_EN joins (ECR bits 5-4)."""


class Gpio:
    """The eight pins, on the chip's register file."""

    def __init__(self, registers: bytearray) -> None:
        self._registers = registers
        self._levels: list[bool | None] = [None] * PINS

    def store(self, register: int, value: int) -> None:
        """The master writes to one of 0x73-0x7A."""
        registers = self._registers
        outputs = registers[reg.GPIO_DIR]
        latch = registers[reg.GPIO_DAT]
        match register:
            case reg.GPIO_SET:
                registers[reg.GPIO_DAT] = latch | value & outputs
            case reg.GPIO_CLR:
                registers[reg.GPIO_DAT] = latch & ~(value & outputs)
            case reg.GPIO_TOG:
                registers[reg.GPIO_DAT] = latch ^ value & outputs
            case reg.GPIO_DAT:
                registers[reg.GPIO_DAT] = latch & ~outputs | value & outputs
            case _:
                registers[register] = value
        self.publish()

    def drive(self, electrode: int, level: bool | None) -> None:
        """The outside puts a level on pin ELE4..ELE11; None: nothing is connected."""
        self._levels[electrode - FIRST_PIN] = level
        self.publish()

    def output(self, electrode: int) -> bool | None:
        """The level that pin ELE4..ELE11 drives; None: high impedance."""
        registers = self._registers
        bit = 1 << electrode - FIRST_PIN
        if not registers[reg.GPIO_EN] & registers[reg.GPIO_DIR] & bit or self._is_electrode(electrode):
            return None
        level = bool(registers[reg.GPIO_DAT] & bit)
        driven = {(True, True): True, (True, False): False}.get(self._control(bit), level)
        return level if level == driven else None

    def publish(self) -> None:
        """Latch the inputs into DAT, and repeat DAT where SET, CLR and TOG are read."""
        registers = self._registers
        for pin, level in enumerate(self._levels):
            bit = 1 << pin
            if not self._is_input(pin):
                continue
            high = self._control(bit) == (True, True) if level is None else level
            registers[reg.GPIO_DAT] = registers[reg.GPIO_DAT] & ~bit | (bit if high else 0)
        for register in (reg.GPIO_SET, reg.GPIO_CLR, reg.GPIO_TOG):
            registers[register] = registers[reg.GPIO_DAT]

    def status(self) -> int:
        """Touch status bits of the inputs that are high."""
        if not self._registers[reg.GPIO_EN]:
            return 0
        high = self._registers[reg.GPIO_DAT]
        return sum(1 << FIRST_PIN + pin for pin in range(PINS) if self._is_input(pin) and high >> pin & 1)

    def _is_input(self, pin: int) -> bool:
        inputs = self._registers[reg.GPIO_EN] & ~self._registers[reg.GPIO_DIR]
        return bool(inputs >> pin & 1) and not self._is_electrode(FIRST_PIN + pin)

    def _is_electrode(self, electrode: int) -> bool:
        ecr = self._registers[reg.ECR]
        return electrode < max(ecr & 0x0F, JOINED[ecr >> 4 & 3])

    def _control(self, bit: int) -> tuple[bool, bool]:
        return bool(self._registers[reg.GPIO_CTL0] & bit), bool(self._registers[reg.GPIO_CTL1] & bit)
