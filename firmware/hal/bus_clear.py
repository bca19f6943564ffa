"""A bus whose SDA a chip holds low: seen on the lines themselves, and freed by clocking the chip on.

A disturbance on SCL can leave a chip in the middle of a byte, with SDA low for good; then no master can send a START.
Opening the bus anew does nothing about that: it only opens a file. What helps is to clock the chip to the end of its
byte and to send it a STOP (I2C specification UM10204, 3.1.16, bus clear). No kernel does so on a Raspberry Pi up to 4
(i2c-bcm2835 has no recovery; the driver of the Pi 5 has one since 6.6.24), and its character device cannot give a
pin back to I2C afterwards. So the pins' own registers are used, as the tool pinctrl does: /dev/gpiomem, group gpio.

Nothing is clocked unless SDA is seen low while SCL rests high, for a whole millisecond: a bus that carries a transfer
moves SCL. A single chip that does not answer never looks like this.
"""

from __future__ import annotations

import logging
import mmap
import os
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from firmware.hal.gpio import chip_labels, header_chip
from firmware.hal.ports import PinError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

log = logging.getLogger(__name__)

PULSES = 9
"""Eight bits and an acknowledge: the longest way to a moment in which the chip lets SDA go (UM10204, 3.1.16)."""

WATCHED = 200
"""So many half periods, a millisecond, SDA must be seen low; the slowest bus allowed moves SCL every 50 us."""

HALF_PERIOD_S = 5e-6
"""Standard mode, 100 kHz: SCL is low for 4.7 us and high for 4.0 us at least (UM10204, table 10)."""

SDA_PIN = 2
SCL_PIN = 3
CLEARABLE_BUS = 1
"""I2C bus 1 is on GPIO 2 and 3 of every Raspberry Pi header."""


class Verdict(Enum):
    """What a look at the lines has shown and what came of it."""

    FREE = "free"
    """Both lines have been high: whatever is wrong, the bus is not stuck."""
    CLEARED = "cleared"
    """SDA was held low and has been freed."""
    SDA_LOW = "SDA is held low, and nine clock pulses have not freed it"
    SCL_LOW = "SCL is held low"
    """Only a master clocks: a short circuit, or a chip that is broken."""


class BusLines(Protocol):
    """SDA and SCL as bare lines with pull-ups. Only between `take` and `give_back` may they be pulled."""

    def levels(self) -> tuple[bool, bool]:
        """Whether SDA and SCL are high."""

    def take(self) -> None:
        """Part the lines from the I2C controller; both are let go."""

    def pull(self, *, sda: bool, scl: bool) -> None:
        """Pull these lines low and let the others go."""

    def give_back(self) -> None:
        """Give the lines back to the controller as they were."""

    def wait(self) -> None:
        """Let half a clock period pass."""


def clear_bus(lines: BusLines) -> Verdict:
    """Look at the lines, and if SDA is held low, clock its holder until it can be sent a STOP.

    At each pulse SDA is let go half a period after SCL: as soon as the chip does not hold it, that is a STOP. So a chip
    that was being written to never takes the pulses for a further byte.
    """
    seen = set()
    for _ in range(WATCHED):
        seen.add(lines.levels())
        if (True, True) in seen:
            return Verdict.FREE
        lines.wait()
    if not any(scl for _, scl in seen):
        return Verdict.SCL_LOW
    if seen != {(False, True)}:  # somebody else is talking
        return Verdict.FREE
    lines.take()
    try:
        for _ in range(PULSES):
            lines.pull(sda=False, scl=True)
            lines.wait()
            lines.pull(sda=True, scl=True)
            lines.wait()
            lines.pull(sda=True, scl=False)
            lines.wait()
            lines.pull(sda=False, scl=False)
            lines.wait()
            sda, scl = lines.levels()
            if not scl:
                return Verdict.SCL_LOW
            if sda:
                return Verdict.CLEARED
        return Verdict.SDA_LOW
    finally:
        lines.pull(sda=False, scl=False)
        lines.give_back()


class BusRescue:
    """Frees a stuck bus, or knows why it stays stuck.

    Args:
        name: the bus, for people.
        open_lines: its lines, for one look; raises an `OSError` where they cannot be had.
    """

    def __init__(self, name: str, open_lines: Callable[[], AbstractContextManager[BusLines]]) -> None:
        self._name = name
        self._open_lines = open_lines
        self._said = ""
        self.trouble = ""
        """What holds the bus, as seen at the last look, and what to do; empty if it is not stuck."""

    def attempt(self) -> None:
        """Look, and clear if needed: 2 ms at most. Never raises; says in the log what it did or could not do."""
        try:
            with self._open_lines() as lines:
                verdict = clear_bus(lines)
        except Exception as error:  # noqa: BLE001  # whatever the pins do, the game goes on
            self.trouble = ""
            self._say(logging.INFO, f"{self._name}: SDA and SCL cannot be looked at: {error}")
            return
        match verdict:
            case Verdict.FREE:
                self.trouble = self._said = ""
            case Verdict.CLEARED:
                self.trouble = self._said = ""
                log.warning("%s was stuck: SDA was held low, clock pulses and a STOP have freed it", self._name)
            case Verdict.SDA_LOW | Verdict.SCL_LOW:
                self.trouble = (
                    f"{self._name} is stuck: {verdict.value}: check SDA and SCL for short circuits, "
                    "then switch the power off and on"
                )
                self._say(logging.WARNING, self.trouble)

    def still(self) -> str:
        """The trouble, if a new look finds that it is still there; no look is needed where there was none."""
        if self.trouble:
            self.attempt()
        return self.trouble

    def _say(self, level: int, text: str) -> None:
        if text != self._said:
            self._said = text
            log.log(level, "%s", text)


# --- the lines of a Raspberry Pi


class BcmLines:
    """GPIO 2 and 3 of a Pi up to 4 (BCM2835 peripherals, 6.1; BCM2711 the same), as 32-bit words of its GPIO block.

    GPFSEL0 has three bits a pin: 000 input, 001 output, 100 the I2C controller. It holds GPIO 0 to 9, so it is written
    only here, in the one thread that opens pins.
    """

    SIZE = 0x1000
    MEMORY = "gpiomem"
    GPFSEL0, GPCLR0, GPLEV0 = 0x00 // 4, 0x28 // 4, 0x34 // 4
    ALT0 = 0b100

    def __init__(self, words: memoryview[int], wait: Callable[[], None]) -> None:
        self._words = words
        self.wait = wait
        self._mask = 7 << 3 * SDA_PIN | 7 << 3 * SCL_PIN
        self._i2c = self.ALT0 << 3 * SDA_PIN | self.ALT0 << 3 * SCL_PIN

    def check(self) -> None:
        """Whether the pins are the I2C controller's now; raises `PinError` if not."""
        if self._words[self.GPFSEL0] & self._mask != self._i2c:
            raise PinError("GPIO 2 and 3 are not I2C pins now: is dtparam=i2c_arm=on?")

    def levels(self) -> tuple[bool, bool]:
        """Whether SDA and SCL are high; the register shows that whatever a pin's function is."""
        level = self._words[self.GPLEV0]
        return bool(level >> SDA_PIN & 1), bool(level >> SCL_PIN & 1)

    def take(self) -> None:
        """Inputs, with the output latches low."""
        self._words[self.GPCLR0] = 1 << SDA_PIN | 1 << SCL_PIN
        self._select(0)

    def pull(self, *, sda: bool, scl: bool) -> None:
        """An output is low, an input is let go."""
        self._select(sda << 3 * SDA_PIN | scl << 3 * SCL_PIN)

    def give_back(self) -> None:
        """Both pins to the I2C controller."""
        self._select(self._i2c)

    def _select(self, functions: int) -> None:
        self._words[self.GPFSEL0] = self._words[self.GPFSEL0] & ~self._mask | functions


class Rp1Lines:
    """GPIO 2 and 3 of a Pi 5 (RP1 peripherals, 3.1): IO_BANK0, then SYS_RIO0 with its registers to set and clear bits.

    CTRL of a pin: bits 4-0 are its function, 3 the I2C controller, 5 SYS_RIO; bits 15-12 override output and enable.
    """

    SIZE = 0x30000
    MEMORY = "gpiomem0"
    RIO_OUT, RIO_OE, RIO_IN = 0x10000, 0x10004, 0x10008
    SET, CLEAR = 0x2000, 0x3000
    FUNCTION = 0x1F
    OVERRIDES = 0xF000
    I2C, SYS_RIO = 3, 5

    def __init__(self, words: memoryview[int], wait: Callable[[], None]) -> None:
        self._words = words
        self.wait = wait
        self._controls: dict[int, int] = {}

    def check(self) -> None:
        """Whether the pins are the I2C controller's now; raises `PinError` if not."""
        if any(self._words[_control(pin)] & self.FUNCTION != self.I2C for pin in (SDA_PIN, SCL_PIN)):
            raise PinError("GPIO 2 and 3 are not I2C pins now: is dtparam=i2c_arm=on?")

    def levels(self) -> tuple[bool, bool]:
        """Whether SDA and SCL are high, whatever a pin's function is."""
        level = self._words[self.RIO_IN // 4]
        return bool(level >> SDA_PIN & 1), bool(level >> SCL_PIN & 1)

    def take(self) -> None:
        """Inputs, with the output latches low."""
        both = 1 << SDA_PIN | 1 << SCL_PIN
        self._words[(self.RIO_OUT + self.CLEAR) // 4] = both
        self._words[(self.RIO_OE + self.CLEAR) // 4] = both
        for pin in (SDA_PIN, SCL_PIN):
            control = self._controls[pin] = self._words[_control(pin)]
            self._words[_control(pin)] = control & ~(self.FUNCTION | self.OVERRIDES) | self.SYS_RIO

    def pull(self, *, sda: bool, scl: bool) -> None:
        """An output is low, an input is let go."""
        low = sda << SDA_PIN | scl << SCL_PIN
        self._words[(self.RIO_OE + self.SET) // 4] = low
        self._words[(self.RIO_OE + self.CLEAR) // 4] = (1 << SDA_PIN | 1 << SCL_PIN) & ~low

    def give_back(self) -> None:
        """Both pins to the I2C controller."""
        for pin, control in self._controls.items():
            self._words[_control(pin)] = control


def _control(pin: int) -> int:
    """The word of a pin's CTRL, behind its STATUS."""
    return 2 * pin + 1


@contextmanager
def pi_lines(bus: int, clock: Callable[[], float], folder: Path = Path("/dev")) -> Iterator[BusLines]:
    """The lines of I2C bus `bus` on the header of this Pi, for one look.

    Args:
        bus: the number in /dev/i2c-N.
        clock: seconds, for half periods of 5 us.
        folder: where the devices are.

    Raises:
        PinError: this is no Pi, another bus, or its pins are something else now.
        OSError: the registers cannot be opened.
    """
    if bus != CLEARABLE_BUS:
        raise PinError(f"only the pins of I2C bus {CLEARABLE_BUS} are known, not those of bus {bus}")
    labels = chip_labels(folder)
    kind = Rp1Lines if labels[header_chip(labels)] == "pinctrl-rp1" else BcmLines

    def wait() -> None:
        until_s = clock() + HALF_PERIOD_S
        for _ in range(1000):  # a clock that stands still holds nobody up
            if clock() >= until_s:
                return

    descriptor = os.open(folder / kind.MEMORY, os.O_RDWR | os.O_SYNC | os.O_CLOEXEC)
    try:
        with mmap.mmap(descriptor, kind.SIZE) as memory, memoryview(memory) as view, view.cast("I") as words:
            lines = kind(words, wait)
            lines.check()
            yield lines
    finally:
        os.close(descriptor)
