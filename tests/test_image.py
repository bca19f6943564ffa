"""tools/image and its guest: where the partitions lie, and what passes between the kernel and the emulated devices.

The image itself is built and booted by `tools/image --test`, which takes too long for a test run (docs/image.md).
"""

from __future__ import annotations

import errno
import struct
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest
from guest import cp2112, cuse
from guest.cp2112 import Bridge, Event, Report
from guest.cuse import I2cDevice, Opcode
from pi_root import ROOT, wait_for

from firmware.config import load_configuration
from firmware.hal.bus import CountingBus
from firmware.hal.emulated_bus import Disturbance, EmulatedBus
from firmware.hal.emulator import Chip

sys.path.insert(0, str(ROOT / "tools"))
import image_boot
import image_disk
from image_root import ARCHITECTURES, ROOT_BY_LABEL, Cache, ImageError, checksum, for_all_pis

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# --- the card


def test_the_boot_partition_begins_at_one_mebibyte_and_the_root_follows_it() -> None:
    table = image_disk.layout(800 << 20).table().splitlines()
    assert table == [
        "label: dos",
        "start=2048, size=524288, type=c, bootable",
        "start=526336, type=83",
    ]


@pytest.mark.parametrize("content_mib", [1, 700, 800, 1200, 1600, 2500])
def test_a_card_is_a_power_of_two_and_has_room_for_its_content_and_an_upgrade(content_mib: int) -> None:
    planned = image_disk.layout(content_mib << 20)
    assert planned.size_mib.bit_count() == 1
    assert planned.root_at_mib + planned.root_mib == planned.size_mib
    assert planned.root_mib >= content_mib * 1.1 + image_disk.SPARE_MIB


def test_a_card_is_no_larger_than_it_must_be() -> None:
    assert image_disk.layout(1100 << 20).size_mib == 2048
    assert image_disk.layout(1200 << 20).size_mib == 4096


def test_the_root_is_found_by_its_label_and_no_word_keeps_a_pi_4_from_starting() -> None:
    written = "console=tty0 root=/dev/mmcblk0p2 rw fsck.repair=yes net.ifnames=0 cma=64M rootwait \n"
    assert for_all_pis(written) == "root=LABEL=RASPIROOT console=tty0 rw fsck.repair=yes net.ifnames=0 rootwait\n"
    assert image_disk.ROOT_LABEL in ROOT_BY_LABEL


# --- the stages


def writing(text: str) -> Callable[[Path], None]:
    """A stage that writes this."""

    def build(part: Path) -> None:
        part.write_text(text, encoding="ascii")

    return build


def test_a_stage_is_made_once_and_again_only_from_something_else(tmp_path: Path) -> None:
    said: list[str] = []
    cache = Cache(tmp_path / "cache", said.append)
    first = cache.make("debian-arm64.tar", "old", writing("1"))
    assert cache.make("debian-arm64.tar", "old", writing("2")) == first
    assert first.read_text() == "1"
    second = cache.make("debian-arm64.tar", "new", writing("3"))
    assert (second.read_text(), first.exists()) == ("3", False)
    assert [line.split(":")[1].split()[0] for line in said] == ["made", "as", "made"]


def test_a_stage_that_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    cache = Cache(tmp_path, lambda _: None)
    whole = cache.make("card-arm64.img", "old", writing("whole"))

    def break_off(part: Path) -> None:
        part.write_text("half")
        raise ImageError("no space left")

    with pytest.raises(ImageError):
        cache.make("card-arm64.img", "new", break_off)
    assert [path.name for path in tmp_path.iterdir()] == [whole.name]


def test_a_program_that_is_interrupted_may_still_put_things_away(tmp_path: Path) -> None:
    """mmdebstrap unmounts this machine's folders then; killed, it would leave them in what somebody removes later."""
    away, ready = tmp_path / "away", tmp_path / "ready"
    program = f"trap 'echo >{away}; exit 1' TERM; echo >{ready}; while :; do sleep 0.02; done"
    lines = f"import os, signal, sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); from image_root import run\n"
    lines += f"signal.signal(signal.SIGTERM, lambda *_: sys.exit(1)); run('sh', '-c', {program!r})"
    tool = subprocess.Popen([sys.executable, "-c", lines])
    wait_for(ready.exists, "the program does not start")
    tool.terminate()
    assert tool.wait(20) == 1
    assert away.exists()


def test_an_architecture_s_stages_leave_the_other_s_alone(tmp_path: Path) -> None:
    cache = Cache(tmp_path, lambda _: None)
    made = [cache.make(f"debian-{name}.tar", "x", writing("")) for name in ARCHITECTURES]
    assert all(path.exists() for path in made)


def test_an_image_is_made_anew_when_a_file_it_holds_has_changed(tmp_path: Path) -> None:
    (tmp_path / "firmware").mkdir()
    path = tmp_path / "firmware/unit.py"
    path.write_text("a")
    before = checksum(tmp_path, "firmware")
    path.write_text("b")
    assert checksum(tmp_path, "firmware") != before


# --- the boot


def test_the_kernel_is_told_the_root_the_card_and_the_test() -> None:
    words = image_boot.command_line("ttyAMA0").split()
    assert f"root=LABEL={image_disk.ROOT_LABEL}" in words
    assert "console=ttyAMA0" in words
    card = load_configuration(ROOT / "tests/guest/volcano.toml").card
    assert f"snd_aloop.id={card}" in words
    mounted = next(word for word in words if word.startswith("systemd.mount-extra=")).split(":")[1]
    assert f"systemd.run={mounted}/guest/run" in words
    assert (ROOT / "tests/guest/run").stat().st_mode & 0o111


def test_the_guest_plays_at_full_volume() -> None:
    """Softer clips would not be heard as they were decoded."""
    settings = tomllib.loads((ROOT / "tests/guest/volcano.toml").read_text(encoding="utf-8"))
    assert settings["volume"] == 5


def test_only_the_guest_s_own_lines_are_told_and_all_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "console.log"
    console = ["[    0.000000] Linux\n", "\n", "image-test: time ready 27.2\r\n", "image-test: passed\n"]
    assert list(image_boot.told(iter(console), log)) == ["time ready 27.2", "passed"]
    assert log.read_bytes().decode() == "".join(console)


# --- what it says


def image(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "tools/image", *options], capture_output=True, text=True, check=False, timeout=60)


def test_help_does_nothing_else() -> None:
    done = image("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: sudo tools/image")


def test_a_wrong_architecture_is_named() -> None:
    done = image("--arch", "riscv64")
    assert done.returncode == 2
    assert "riscv64" in done.stderr


# --- the bus, as the kernel asks for it


class Kernel:
    """The kernel's half of CUSE: it fetches what it is asked for from the caller's memory, and asks again."""

    def __init__(self, device: I2cDevice) -> None:
        self.device = device
        self.asked = 0

    def request(self, opcode: int, body: bytes = b"") -> tuple[int, bytes]:
        """Error number and body of the reply."""
        self.asked += 1
        length = cuse.IN_HEADER.size + len(body)
        reply = self.device.answer(cuse.IN_HEADER.pack(length, opcode, self.asked, 0, 0, 0, 0, 0, 0) + body)
        assert reply is not None
        length, error, unique = cuse.OUT_HEADER.unpack_from(reply)
        assert (length, unique) == (len(reply), self.asked)
        return -error, reply[cuse.OUT_HEADER.size :]

    def ioctl(self, memory: dict[int, bytearray], command: int, pointer: int) -> int:
        """An ioctl of a program with this memory (address -> bytes); its result, or minus the error number."""
        seen, room = b"", 0
        pieces: list[cuse.Piece] = []
        for _ in range(5):
            body = cuse.IOCTL_IN.pack(1, 1, command, pointer, len(seen), room) + seen
            error, reply = self.request(Opcode.IOCTL, body)
            if error:
                return -error
            result, flags, ins, outs = cuse.IOCTL_OUT.unpack_from(reply)
            rest = reply[cuse.IOCTL_OUT.size :]
            if not flags & cuse.RETRY:
                for where, length in pieces:
                    memory[where][:length], rest = rest[:length], rest[length:]
                return int(result)
            asked = list(cuse.IOVEC.iter_unpack(rest))
            assert len(asked) == ins + outs
            seen = b"".join(bytes(memory[where][:length]) for where, length in asked[:ins])
            pieces = [(where, length) for where, length in asked[ins:]]
            room = sum(length for _, length in pieces)
        raise AssertionError("it is never content")


def transfer(kernel: Kernel, *messages: tuple[int, int, bytes]) -> tuple[int, list[bytes]]:
    """I2C_RDWR with messages (address, flags, bytes or room); the result, and the bytes of each afterwards."""
    memory = {0x1000 * number: bytearray(data) for number, (_, _, data) in enumerate(messages, 3)}
    table = b"".join(
        struct.pack("<HHHxxQ", address, flags, len(data), 0x1000 * number)
        for number, (address, flags, data) in enumerate(messages, 3)
    )
    memory |= {0x1000: bytearray(struct.pack("<QI4x", 0x2000, len(messages))), 0x2000: bytearray(table)}
    result = kernel.ioctl(memory, cuse.I2C_RDWR, 0x1000)
    return result, [bytes(memory[0x1000 * number]) for number in range(3, 3 + len(messages))]


@pytest.fixture
def bus() -> EmulatedBus:
    return EmulatedBus({0x5A: Chip(lambda: 0.0)})


@pytest.fixture
def kernel(bus: EmulatedBus) -> Kernel:
    return Kernel(I2cDevice("i2c-1", bus))


def test_the_device_is_named_and_may_look_into_the_caller_s_memory(kernel: Kernel) -> None:
    error, reply = kernel.request(Opcode.INIT, cuse.INIT_IN.pack(7, 41, 0, 0))
    assert error == 0
    major, minor, _, flags, longest_read, longest_write, *_ = cuse.INIT_OUT.unpack_from(reply)
    assert (major, minor, flags) == (7, 31, cuse.UNRESTRICTED_IOCTL)
    assert longest_read == longest_write == 4096
    assert 80 + longest_write <= cuse.REQUEST_BYTES, "fuse.h: the kernel refuses a read with less room"
    assert reply[cuse.INIT_OUT.size :] == b"DEVNAME=i2c-1\0"


def test_a_register_is_read_with_a_repeated_start(kernel: Kernel) -> None:
    result, (_, read) = transfer(kernel, (0x5A, 0, b"\x5c"), (0x5A, cuse.READ, b"??"))
    assert (result, read) == (2, b"\x10\x24")  # MPR121 data sheet, 5.8: after a reset
    assert kernel.asked == 4, "head, table, bytes, answer"


def test_registers_are_written(kernel: Kernel) -> None:
    assert transfer(kernel, (0x5A, 0, b"\x41\x0c\x06"))[0] == 1
    assert transfer(kernel, (0x5A, 0, b"\x41"), (0x5A, cuse.READ, b"??"))[1][1] == b"\x0c\x06"


def test_without_a_register_a_read_is_a_transfer_of_its_own(kernel: Kernel) -> None:
    assert transfer(kernel, (0x5A, cuse.READ, b"??")) == (1, [b"\0\0"])


def test_an_empty_write_probes_an_address(kernel: Kernel) -> None:
    assert transfer(kernel, (0x5A, 0, b""))[0] == 1
    assert transfer(kernel, (0x5B, 0, b""))[0] == -121  # EREMOTEIO


def test_an_error_of_the_bus_reaches_the_caller_with_its_number(kernel: Kernel, bus: EmulatedBus) -> None:
    bus.inject(Disturbance.TIMEOUT, count=1)
    assert transfer(kernel, (0x5A, 0, b"\x00"))[0] == -errno.ETIMEDOUT
    assert transfer(kernel, (0x5A, 0, b"\x00"))[0] == 1


def test_each_transfer_is_one_on_the_bus(bus: EmulatedBus) -> None:
    counting = CountingBus(bus)
    transfer(Kernel(I2cDevice("i2c-1", counting)), (0x5A, 0, b"\x00"), (0x5A, cuse.READ, bytes(43)))
    assert (counting.transactions, counting.wire_bytes) == (1, 1 + 1 + 1 + 43)


@pytest.mark.parametrize(
    "messages",
    [
        [(0x5A, 0, b"\x00"), (0x5B, cuse.READ, b"?")],
        [(0x5A, cuse.READ, b"?"), (0x5A, 0, b"\x00")],
        [(0x5A, 0, b"\x00")] * 3,
    ],
)
def test_a_transfer_that_the_bus_does_not_know_is_refused(
    kernel: Kernel, messages: list[tuple[int, int, bytes]]
) -> None:
    assert transfer(kernel, *messages)[0] == -errno.EOPNOTSUPP


def test_what_it_can_is_told_and_what_it_cannot_is_refused(kernel: Kernel) -> None:
    memory = {0x1000: bytearray(8)}
    assert kernel.ioctl(memory, cuse.I2C_FUNCS, 0x1000) == 0
    assert memory[0x1000] == b"\x01" + bytes(7)
    assert kernel.ioctl(memory, 0x0720, 0x1000) == -errno.ENOTTY  # I2C_SMBUS
    assert kernel.request(99) == (errno.ENOSYS, b"")


def test_every_file_is_opened_and_closed(kernel: Kernel) -> None:
    handles = []
    for _ in range(2):
        error, reply = kernel.request(Opcode.OPEN, bytes(8))
        assert error == 0
        handles.append(cuse.OPEN_OUT.unpack(reply)[0])
    assert len(set(handles)) == 2
    assert kernel.request(Opcode.FLUSH, bytes(24)) == kernel.request(Opcode.RELEASE, bytes(24)) == (0, b"")


# --- the header, as the kernel's driver of the bridge asks for it


class Driver:
    """The driver's half of UHID: feature reports are got and set."""

    def __init__(self, bridge: Bridge) -> None:
        self.bridge = bridge

    def get(self, report: int) -> tuple[int, bytes]:
        reply = self.bridge.answer(struct.pack("<IIBB", Event.GET_REPORT, 7, report, 0))
        assert reply is not None
        kind, number, error, size = struct.unpack_from("<IIHH", reply)
        assert (kind, number, size) == (Event.GET_REPORT_REPLY, 7, len(reply) - 12)
        return error, reply[12:]

    def set(self, report: int, *values: int) -> None:
        data = bytes((report, *values))
        event = struct.pack("<IIBBH", Event.SET_REPORT, 8, report, 0, len(data)) + data.ljust(4096, b"\0")
        assert self.bridge.answer(event) == struct.pack("<IIH", Event.SET_REPORT_REPLY, 8, 0)

    def levels(self) -> int:
        return self.get(Report.GPIO_GET)[1][1]


@pytest.fixture
def driver() -> Driver:
    return Driver(Bridge())


def test_the_bridge_says_what_it_is(driver: Driver) -> None:
    event = driver.bridge.create()
    assert len(event) <= cp2112.EVENT_BYTES
    kind, name, _, _, size, bus, vendor, product, _, _, descriptor = cp2112.CREATE.unpack(event)
    assert (kind, bus, vendor, product) == (Event.CREATE, 3, 0x10C4, 0xEA90)
    assert name.rstrip(b"\0") == b"Emulated CP2112"
    assert descriptor[:size] == cp2112.report_descriptor()
    assert driver.get(Report.VERSION) == (0, bytes((0x05, 0x0C, 2)))  # AN495, 0x05: part number of a CP2112


@pytest.mark.parametrize(("report", "size"), [(0x02, 5), (0x03, 2), (0x05, 3), (0x06, 14), (0x20, 2)])
def test_every_report_has_the_length_that_the_driver_insists_on(driver: Driver, report: int, size: int) -> None:
    error, data = driver.get(report)
    assert (error, len(data), data[0]) == (0, size, report)


def test_an_unknown_report_is_an_error(driver: Driver) -> None:
    assert driver.get(0x21) == (cp2112.EIO, b"")


def test_lines_are_inputs_and_high_at_first(driver: Driver) -> None:
    assert driver.levels() == 0xFF
    assert driver.bridge.outputs == 0


def test_an_output_follows_the_driver_and_only_the_masked_lines_change(driver: Driver) -> None:
    driver.set(Report.GPIO_CONFIG, 0b0001_1111, 0xFF, 0, 0)
    driver.set(Report.GPIO_SET, 0b0000_0101, 0b0000_0111)
    assert driver.bridge.outputs == 0b0000_0101
    assert driver.levels() == 0b1110_0101
    driver.set(Report.GPIO_SET, 0b0000_0000, 0b0000_0001)
    assert driver.bridge.outputs == 0b0000_0100


def test_an_input_follows_the_outside_and_an_output_does_not(driver: Driver) -> None:
    driver.set(Report.GPIO_CONFIG, 0b0001_1111, 0xFF, 0, 0)
    driver.bridge.drive(5, high=False)
    driver.bridge.drive(0, high=True)
    assert driver.levels() == 0b1100_0000
    driver.bridge.drive(5, high=True)
    assert driver.levels() == 0b1110_0000


def test_other_events_need_no_answer(driver: Driver) -> None:
    assert driver.bridge.answer(struct.pack("<I", 2).ljust(cp2112.EVENT_BYTES, b"\0")) is None  # the device is started
