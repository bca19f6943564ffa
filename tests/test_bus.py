"""The I2C bus: the Linux one over the emulator under smbus2's system calls, the counting one, errors in words."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from firmware.hal.backends import mock_hardware, real_hardware
from firmware.hal.bus import CountingBus, LinuxBus, Transaction, bus_speed_hz
from firmware.hal.emulated_bus import Disturbance, EmulatedBus
from firmware.hal.emulated_pins import PinsInMemory
from firmware.hal.emulator import Chip
from firmware.hal.mpr121 import Mpr121
from firmware.hal.ports import BusError
from firmware.hal.wiring import load_wiring
from firmware.terms import Figure, Touch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from firmware.terms import Grip

FIELDS = tuple(tomllib.loads((files("firmware.game.insel") / "board.toml").read_text(encoding="utf-8"))["layout"])
WIRING = load_wiring(None, FIELDS)
POLL_S = 0.02

HELD_LINES = "check SDA and SCL for short circuits, then switch the power off and on"
I2C_FUNCS, I2C_RDWR, I2C_M_RD = 0x0705, 0x0707, 0x0001


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Kernel:
    """What Linux does for /dev/i2c-1: I2C_RDWR with one STOP at the end, over emulated chips."""

    def __init__(self, chips: dict[int, Chip]) -> None:
        self.chips = chips
        self.calls: list[tuple[int, ...]] = []
        self.opened = 0
        self.open_error = 0
        self.error = 0
        self._open = os.open

    def open(self, path: str, flags: int, *rest: Any) -> int:
        if not path.startswith("/dev/i2c-"):
            return self._open(path, flags, *rest)
        if self.open_error:
            raise OSError(self.open_error, os.strerror(self.open_error))
        assert path == "/dev/i2c-1"
        self.opened += 1
        return self._open(os.devnull, os.O_RDWR)

    def ioctl(self, _descriptor: int, request: int, argument: Any) -> int:
        if request == I2C_FUNCS:
            argument.value = 0x0EFF0009
            return 0
        assert request == I2C_RDWR
        if self.error:
            raise OSError(self.error, os.strerror(self.error))
        messages = [argument.msgs[number] for number in range(argument.nmsgs)]
        self.calls.append(tuple(message.flags & I2C_M_RD for message in messages))
        for message in messages:
            chip = self.chips.get(message.addr)
            if chip is None:
                raise OSError(errno.EREMOTEIO, os.strerror(errno.EREMOTEIO))
            if message.flags & I2C_M_RD:
                ctypes.memmove(message.buf, chip.read(message.len), message.len)
            else:
                chip.write(ctypes.string_at(message.buf, message.len))
        for message in messages:
            self.chips[message.addr].stop()
        return 0


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    now = 0.0
    kernel = Kernel({0x5A: Chip(lambda: now)})
    monkeypatch.setattr("smbus2.smbus2.os.open", kernel.open)
    monkeypatch.setattr("smbus2.smbus2.ioctl", kernel.ioctl)
    return kernel


def test_a_register_is_read_in_one_call_with_a_repeated_start(kernel: Kernel) -> None:
    bus = LinuxBus()
    values = bytearray(b"....")
    bus.writeto_then_readfrom(0x5A, b"?\x5c?", values, out_start=1, out_end=2, in_start=1, in_end=3)
    assert values == b".\x10\x24."
    assert kernel.calls == [(0, 1)]


def test_writes_and_reads_keep_to_their_slices(kernel: Kernel) -> None:
    bus = LinuxBus()
    bus.writeto(0x5A, b"?\x41\x0c\x06?", start=1, end=4)
    kernel.chips[0x5A].write(b"\x41")  # no STOP: the pointer stays
    values = bytearray(4)
    bus.readfrom_into(0x5A, values, start=1, end=3)
    assert values == b"\0\x0c\x06\0"
    assert kernel.calls == [(0,), (1,)]


def test_an_empty_write_probes_the_address(kernel: Kernel) -> None:
    bus = LinuxBus()
    bus.writeto(0x5A, b"")
    assert kernel.calls == [(0,)]
    with pytest.raises(BusError, match="nothing answers at 0x5B"):
        bus.writeto(0x5B, b"")


def test_adafruits_driver_and_ours_run_on_the_linux_bus(kernel: Kernel) -> None:
    chip = Mpr121(LinuxBus(), 0x5A)
    chip.start()
    assert chip.healthy()
    assert chip.status() == 0
    assert len(kernel.calls) == 121 + 7 + 2
    reads = [call for call in kernel.calls if 1 in call]
    assert set(reads) == {(0, 1)}


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (121, "nothing answers at 0x5A on I2C bus 1: check SDA, SCL, 3V3 and the ADDR wire"),
        (errno.ENXIO, "nothing answers at 0x5A on I2C bus 1: check SDA, SCL, 3V3 and the ADDR wire"),
        (
            110,
            f"I2C bus 1 does not come free (timeout at 0x5A): {HELD_LINES}",
        ),
        (
            errno.EIO,
            "I2C bus 1 lost a transfer with 0x5A (I/O error): check pull-ups, wire length and 3V3, try 100 kHz",
        ),
        (
            errno.EOPNOTSUPP,
            "I2C bus 1 fails at 0x5A: Operation not supported: check that I2C is enabled and the wires are sound",
        ),
    ],
)
def test_error_numbers_become_words(kernel: Kernel, number: int, text: str) -> None:
    kernel.error = number
    with pytest.raises(OSError, match="I2C") as caught:
        LinuxBus().writeto(0x5A, b"\x00")
    assert isinstance(caught.value, BusError)
    assert caught.value.errno == number
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOENT, "dtparam=i2c_arm=on"), (errno.EACCES, "group i2c"), (errno.EBUSY, "busy")],
)
def test_a_bus_that_cannot_be_opened_says_how_to_get_it(kernel: Kernel, number: int, words: str) -> None:
    kernel.open_error = number
    bus = LinuxBus()
    with pytest.raises(BusError, match=f"^/dev/i2c-1 .*{words}") as caught:
        bus.writeto(0x5A, b"")
    assert caught.value.errno == number
    kernel.open_error = 0
    bus.writeto(0x5A, b"")  # and is tried again


def test_a_hung_bus_is_given_up_after_a_tenth_of_a_second(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("fcntl.ioctl", lambda _, request, value: asked.append((request, value)))
    LinuxBus().writeto(0x5A, b"")
    assert asked == [(0x0702, 10)], "I2C_TIMEOUT of i2c-dev.h, in units of 10 ms; the kernel's own is a second"


@pytest.mark.parametrize("found", [100_000, 400_000, None])
def test_another_speed_than_the_wiring_asks_for_is_said_once(
    kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, found: int | None
) -> None:
    if found:
        cell = tmp_path / "i2c-1" / "of_node" / "clock-frequency"
        cell.parent.mkdir(parents=True)
        cell.write_bytes(found.to_bytes(4, "big"))
    assert bus_speed_hz(1, tmp_path) == found
    monkeypatch.setattr("firmware.hal.bus.bus_speed_hz", lambda number: bus_speed_hz(number, tmp_path))
    bus = LinuxBus(1, clock_hz=400_000)
    bus.writeto(0x5A, b"")
    bus.reopen()
    bus.writeto(0x5A, b"")
    told = "I2C bus 1 runs at 100000 Hz, wiring.toml asks for 400000: set dtparam=i2c_arm_baudrate=400000 in config.txt"
    assert caplog.messages == ([told] if found == 100_000 else [])


def test_reopen_opens_the_node_anew_and_close_may_be_called_twice(kernel: Kernel) -> None:
    bus = LinuxBus()
    assert kernel.opened == 0
    bus.writeto(0x5A, b"")
    bus.writeto(0x5A, b"")
    assert kernel.opened == 1
    bus.reopen()
    bus.writeto(0x5A, b"")
    assert kernel.opened == 2
    bus.close()
    bus.close()


def test_a_whole_volcano_plays_over_linux_s_calls(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real backend, down to smbus2; emulated are only what answers its calls, and the pins."""
    clock = Clock()
    mock = mock_hardware(WIRING, clock, seed=3)
    kernel.chips = dict(mock.chips)
    monkeypatch.setattr("firmware.hal.backends.open_pi_pins", PinsInMemory)
    hardware = real_hardware(WIRING, clock)

    def run(seconds: float) -> list[Grip]:
        grips = []
        for _ in range(round(seconds / POLL_S)):
            clock.now += POLL_S
            if (grip := hardware.poll(clock.now)) is not None:
                grips.append(grip)
        return grips

    def contact() -> list[tuple[str, Touch]]:
        mock.hands.grip(Figure.GREEN)
        mock.hands.touch(Touch.EXPLORE)
        grips = run(0.6)
        mock.hands.lift(Touch.EXPLORE)
        mock.hands.let_go(Figure.GREEN)
        run(0.6)
        return [(grip.field, grip.touch) for grip in grips]

    mock.hands.place(Figure.GREEN, "jungle-w")
    run(2.0)
    assert hardware.faults() == []
    assert contact() == [("jungle-w", Touch.EXPLORE)]
    kernel.error = errno.EREMOTEIO
    assert contact() == []
    (fault,) = hardware.faults()
    assert re.match(r"none of the 3 MPR121 can be reached: .*nothing answers at 0x5A on I2C bus 1", fault.text)
    kernel.error = 0
    run(20.0)
    assert hardware.faults() == []
    assert contact() == [("jungle-w", Touch.EXPLORE)]
    assert {call for call in kernel.calls if 1 in call} == {(0, 1)}, "never a read without its register"
    hardware.close()
    mock.close()


def _linux() -> LinuxBus:
    return LinuxBus()


def _emulated() -> EmulatedBus:
    return EmulatedBus({})


def _counting() -> CountingBus:
    return CountingBus(EmulatedBus({}))


@pytest.mark.parametrize("make", [_linux, _emulated, _counting])
def test_the_lock_is_held_by_one(make: Callable[[], LinuxBus | EmulatedBus | CountingBus]) -> None:
    bus = make()
    assert bus.try_lock()
    assert not bus.try_lock()
    bus.unlock()
    assert bus.try_lock()


def test_counting_counts_address_bytes_and_keeps_transactions() -> None:
    now = 0.0
    bus = CountingBus(EmulatedBus({0x5A: Chip(lambda: now)}), record=True)
    bus.writeto(0x5A, b"")
    bus.writeto(0x5A, b"?\x41\x0c", start=1)
    values = bytearray(4)
    bus.writeto_then_readfrom(0x5A, b"\x41", values, in_start=2)
    bus.readfrom_into(0x5A, values, end=1)
    assert values == b"\0\0\x0c\0"
    assert bus.transactions == 4
    assert bus.wire_bytes == 1 + 3 + (1 + 1 + 1 + 2) + 2
    assert bus.log == [
        Transaction(0x5A, b"", None),
        Transaction(0x5A, b"\x41\x0c", None),
        Transaction(0x5A, b"\x41", b"\x0c\x00"),
        Transaction(0x5A, None, b"\x00"),
    ]
    bus.clear()
    assert (bus.transactions, bus.wire_bytes, bus.log) == (0, 0, [])


def test_a_failed_transaction_counts_and_leaves_the_buffer_alone() -> None:
    now = 0.0
    emulated = EmulatedBus({0x5A: Chip(lambda: now)})
    bus = CountingBus(emulated, record=True)
    emulated.inject(Disturbance.IO_ERROR, count=2)
    values = bytearray(b"ab")
    with pytest.raises(BusError):
        bus.writeto_then_readfrom(0x5A, b"\x00", values)
    with pytest.raises(BusError):
        bus.readfrom_into(0x5A, values)
    assert values == b"ab"
    assert (bus.transactions, bus.wire_bytes) == (2, 5 + 3)
    assert bus.log == [Transaction(0x5A, b"\x00", b""), Transaction(0x5A, None, b"")]
