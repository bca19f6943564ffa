"""A chip that holds SDA is clocked free: on emulated lines, and by the registers of the two kinds of Raspberry Pi."""

from __future__ import annotations

import logging
import mmap
from typing import TYPE_CHECKING, Any

import pytest

from firmware.hal.bus import LinuxBus
from firmware.hal.bus_clear import BcmLines, Rp1Lines, Verdict, clear_bus, pi_lines
from firmware.hal.emulated_bus import Disturbance, EmulatedBus
from firmware.hal.emulator import Chip
from firmware.hal.ports import BusError, PinError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from firmware.hal.emulated_bus import EmulatedLines

PIN_BITS = 1 << 2 | 1 << 3


def bus_with(*faults: Disturbance, bits: int = 8, arbitrates: bool = True) -> EmulatedBus:
    bus = EmulatedBus({0x5A: Chip(lambda: 0.0), 0x5B: Chip(lambda: 0.0)}, arbitrates=arbitrates)
    for fault in faults:
        bus.inject(fault, bits=bits)
    return bus


def read(bus: EmulatedBus, address: int = 0x5A) -> bytes:
    values = bytearray(2)
    bus.writeto_then_readfrom(address, b"\x5c", values)
    return bytes(values)


# --- the sequence


@pytest.mark.parametrize("bits", range(1, 9))
def test_a_chip_in_the_middle_of_a_byte_is_clocked_to_its_end_and_sent_a_stop(bits: int) -> None:
    bus = bus_with(Disturbance.STUCK_SDA, bits=bits)
    with bus._lines() as lines:
        emulated: Any = lines
        assert lines.levels() == (False, True)
        assert clear_bus(lines) is Verdict.CLEARED
        assert lines.levels() == (True, True)
        assert (emulated.pulses, emulated.stops) == (bits, 1), "no pulse more than needed"
        assert not emulated._taken
    assert read(bus) == b"\x10\x24"


@pytest.mark.parametrize(
    ("fault", "verdict", "pulses"),
    [(Disturbance.SHORTED_SDA, Verdict.SDA_LOW, 9), (Disturbance.STUCK_SCL, Verdict.SCL_LOW, 0)],
)
def test_a_short_circuit_stays(fault: Disturbance, verdict: Verdict, pulses: int) -> None:
    with bus_with(fault)._lines() as lines:
        emulated: Any = lines
        assert clear_bus(lines) is verdict
        assert emulated.pulses == pulses, "nine pulses are enough, and SCL at ground is not fought against"
        assert not emulated._taken


def test_a_sound_bus_is_left_alone() -> None:
    for fault in (None, Disturbance.NACK, Disturbance.TIMEOUT):
        with bus_with(*([fault] if fault else []))._lines() as lines:
            assert clear_bus(lines) is Verdict.FREE


def test_a_bus_on_which_somebody_talks_is_left_alone() -> None:
    class Talking:
        """Zeros, clocked by somebody else."""

        def __init__(self) -> None:
            self.scl = True

        def levels(self) -> tuple[bool, bool]:
            self.scl = not self.scl
            return False, self.scl

        def take(self) -> None:
            raise AssertionError

        pull: Any = take
        give_back = take

        def wait(self) -> None:
            pass

    assert clear_bus(Talking()) is Verdict.FREE


def test_lines_of_the_controller_may_not_be_pulled() -> None:
    with bus_with()._lines() as lines, pytest.raises(ValueError, match="take them first"):
        lines.pull(sda=True, scl=False)


# --- the bus


def test_reopening_frees_a_held_sda_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    bus = bus_with(Disturbance.STUCK_SDA)
    with pytest.raises(BusError, match="does not come free"):
        read(bus)
    bus.reopen()
    assert read(bus) == b"\x10\x24"
    assert [record.getMessage() for record in caplog.records] == [
        "the emulated I2C bus was stuck: SDA was held low, clock pulses and a STOP have freed it"
    ]


def test_a_master_without_arbitration_takes_a_held_sda_for_zeros() -> None:
    bus = bus_with(Disturbance.STUCK_SDA, arbitrates=False)
    bus.writeto(0x77, b"")  # every address seems to be there
    assert read(bus) == b"\0\0"
    values = bytearray(b"ab")
    bus.readfrom_into(0x5A, values)
    assert values == b"\0\0"
    bus.reopen()
    assert read(bus) == b"\x10\x24"


@pytest.mark.parametrize("arbitrates", [True, False])
def test_a_short_circuit_is_named_until_it_is_gone(caplog: pytest.LogCaptureFixture, arbitrates: bool) -> None:
    bus = bus_with(Disturbance.SHORTED_SDA, arbitrates=arbitrates)
    bus.reopen()
    bus.reopen()
    text = (
        "the emulated I2C bus is stuck: SDA is held low, and nine clock pulses have not freed it: "
        "check SDA and SCL for short circuits, then switch the power off and on"
    )
    with pytest.raises(BusError) as caught:
        read(bus)
    assert (str(caught.value), caught.value.errno) == (text, 110)
    assert [record.getMessage() for record in caplog.records] == [text], "once"
    bus.clear()
    assert read(bus) == b"\x10\x24", "and the next transfer looks anew"


def test_without_the_lines_it_is_said_once_and_the_timeout_speaks(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    bus = bus_with(Disturbance.STUCK_SDA)
    bus.lines_seen = False
    bus.reopen()
    bus.reopen()
    with pytest.raises(BusError, match=r"does not come free .*, then switch the power off and on$"):
        read(bus)
    assert [record.getMessage() for record in caplog.records] == [
        "the emulated I2C bus: SDA and SCL cannot be looked at: /dev/gpiomem is missing"
    ]


# --- the registers of the two kinds of Pi, over the emulated lines


class Wires:
    """What the pins of a Pi do to the lines of an emulated bus: low outputs pull."""

    def __init__(self, lines: EmulatedLines) -> None:
        self.lines = lines
        lines.take()
        self.driven: set[int] = set()
        self.history: list[tuple[int, ...]] = []

    def drive(self, low: set[int]) -> None:
        if low != self.driven:
            self.driven = low
            self.history.append(tuple(sorted(low)))
            self.lines.pull(sda=2 in low, scl=3 in low)

    @property
    def levels(self) -> int:
        sda, scl = self.lines.levels()
        return sda << 2 | scl << 3


class BcmBlock:
    """GPFSEL0, GPSET0, GPCLR0 and GPLEV0 as the BCM2835 peripherals manual (6.1) tells of them."""

    def __init__(self, wires: Wires, fsel: int) -> None:
        self.wires = wires
        self.fsel = fsel
        self.latch = 0xFFFFFFFF

    def __getitem__(self, word: int) -> int:
        return {0: self.fsel, 0x34 // 4: self.wires.levels}[word]

    def __setitem__(self, word: int, value: int) -> None:
        match word * 4:
            case 0x00:
                self.fsel = value
            case 0x28:
                self.latch &= ~value
            case _:
                raise AssertionError(f"register {word * 4:#x} is none of its business")
        outputs = {pin for pin in (2, 3) if self.fsel >> 3 * pin & 7 == 1}
        self.wires.drive({pin for pin in outputs if not self.latch >> pin & 1})


class Rp1Block:
    """CTRL of GPIO 2 and 3 and SYS_RIO0 with its atomic aliases (RP1 peripherals, 3.1)."""

    def __init__(self, wires: Wires, function: int) -> None:
        self.wires = wires
        self.control = {2: 0xC80 | function, 3: 0xC80 | function}
        self.out = self.oe = 0xFFFFFFF

    def __getitem__(self, word: int) -> int:
        if word == 0x10008 // 4:
            return self.wires.levels
        return self.control[(word - 1) // 2]

    def __setitem__(self, word: int, value: int) -> None:
        match word * 4:
            case 0x13000:
                self.out &= ~value
            case 0x13004:
                self.oe &= ~value
            case 0x12004:
                self.oe |= value
            case address if address in (2 * 8 + 4, 3 * 8 + 4):
                self.control[(word - 1) // 2] = value
            case _:
                raise AssertionError(f"register {word * 4:#x} is none of its business")
        outputs = {pin for pin in (2, 3) if self.control[pin] & 0x1F == 5 and self.oe >> pin & 1}
        self.wires.drive({pin for pin in outputs if not self.out >> pin & 1})


OTHER_PINS = 0b001_010_011_000_001_001 << 12
I2C_FSEL = OTHER_PINS | 4 << 6 | 4 << 9 | 1


@pytest.mark.parametrize("bits", [1, 5, 8])
def test_the_registers_of_a_pi_up_to_4(bits: int) -> None:
    with bus_with(Disturbance.STUCK_SDA, bits=bits)._lines() as emulated:
        wires: Any = Wires(emulated)  # type: ignore[arg-type]
        block: Any = BcmBlock(wires, I2C_FSEL)
        lines = BcmLines(block, lambda: None)
        lines.check()
        assert clear_bus(lines) is Verdict.CLEARED
        assert block.fsel == I2C_FSEL, "GPIO 2 and 3 are I2C pins again, the others are as they were"
        assert wires.history == [(3,), (2, 3), (2,), ()] * bits
        assert emulated.levels() == (True, True)


@pytest.mark.parametrize("bits", [1, 5, 8])
def test_the_registers_of_a_pi_5(bits: int) -> None:
    with bus_with(Disturbance.STUCK_SDA, bits=bits)._lines() as emulated:
        wires: Any = Wires(emulated)  # type: ignore[arg-type]
        block: Any = Rp1Block(wires, 3)
        lines = Rp1Lines(block, lambda: None)
        lines.check()
        before = dict(block.control)
        assert clear_bus(lines) is Verdict.CLEARED
        assert block.control == before
        assert wires.history[-1] == ()
        assert emulated.levels() == (True, True)


@pytest.mark.parametrize(
    "lines",
    [
        BcmLines(BcmBlock(Wires(bus_with()._lines().__enter__()), OTHER_PINS), lambda: None),  # type: ignore[arg-type]
        Rp1Lines(Rp1Block(Wires(bus_with()._lines().__enter__()), 5), lambda: None),  # type: ignore[arg-type]
    ],
)
def test_pins_that_are_no_i2c_pins_are_left_alone(lines: BcmLines | Rp1Lines) -> None:
    with pytest.raises(PinError, match=r"GPIO 2 and 3 are not I2C pins now: is dtparam=i2c_arm=on\?"):
        lines.check()


# --- opening them


class Time:
    """Seconds that pass by a microsecond whenever somebody looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1e-6
        return self.now


@pytest.fixture
def pi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of devices with a Pi's registers as a file: GPIO 2 and 3 are I2C pins, both lines low."""
    monkeypatch.setattr("firmware.hal.bus_clear.chip_labels", lambda _: {0: "pinctrl-bcm2711"})
    (tmp_path / "gpiomem").write_bytes(I2C_FSEL.to_bytes(4, "little").ljust(BcmLines.SIZE, b"\0"))
    return tmp_path


@pytest.fixture
def registers(pi: Path) -> Iterator[mmap.mmap]:
    with (pi / "gpiomem").open("r+b") as file, mmap.mmap(file.fileno(), BcmLines.SIZE) as memory:
        yield memory


def test_the_registers_are_mapped_word_by_word_and_a_line_that_stays_low_is_named(
    pi: Path, registers: mmap.mmap
) -> None:
    registers[0x34] = 1 << 3  # SCL is high, SDA low; the file answers nothing, as if it were shorted
    time = Time()
    with pi_lines(1, time, pi) as lines:
        assert lines.levels() == (False, True)
        assert clear_bus(lines) is Verdict.SDA_LOW
    assert int.from_bytes(registers[:4], "little") == I2C_FSEL
    assert registers[0x28] == PIN_BITS
    assert 200 * 5e-6 + 9 * 4 * 5e-6 <= time.now < 0.002, "half periods of 5 us; two milliseconds at most"


def test_a_clock_that_stands_still_holds_nobody_up(pi: Path) -> None:
    with pi_lines(1, lambda: 0.0, pi) as lines:
        assert clear_bus(lines) is Verdict.SCL_LOW


@pytest.mark.parametrize(
    ("label", "bus", "words"),
    [
        ("pinctrl-rp1", 1, "gpiomem0"),
        ("gpio-mockup", 1, "is this a Pi"),
        ("pinctrl-bcm2711", 3, "only the pins of I2C bus 1 are known, not those of bus 3"),
    ],
)
def test_lines_that_cannot_be_had(pi: Path, monkeypatch: pytest.MonkeyPatch, label: str, bus: int, words: str) -> None:
    monkeypatch.setattr("firmware.hal.bus_clear.chip_labels", lambda _: {0: label})
    with pytest.raises(OSError, match=words), pi_lines(bus, Time(), pi):
        pass


def test_the_linux_bus_looks_at_its_lines_when_it_is_reopened(
    pi: Path, registers: mmap.mmap, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Time()
    monkeypatch.setattr("firmware.hal.bus.pi_lines", lambda number, clock: pi_lines(number, clock, pi))
    bus = LinuxBus(1, time)
    bus.reopen()
    with pytest.raises(BusError, match=r"^I2C bus 1 is stuck: SCL is held low: check SDA and SCL for short circuits"):
        bus.writeto(0x5A, b"")
    registers[0x34] = PIN_BITS
    with pytest.raises(BusError, match="/dev/i2c-1 is missing"):
        bus.writeto(0x5A, b"")


def test_a_machine_without_such_pins_reopens_quietly(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    LinuxBus(1, Time()).reopen()
    assert caplog.records == []
