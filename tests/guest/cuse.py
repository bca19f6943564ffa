"""An I2C bus as `/dev/i2c-N`, served by a program: CUSE, the kernel's character devices in user space.

Pure: a request as read from `/dev/cuse` goes in, the reply to write there comes out. What is served is what a bus needs
that is used through I2C_RDWR alone. Sources: the kernel's interface headers fuse.h (7.31), i2c.h and i2c-dev.h; numbers
are of a little-endian 64-bit machine.
"""

from __future__ import annotations

import errno
import itertools
from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firmware.hal.bus import Bus

REQUEST_BYTES = 8192
"""What a read of /dev/cuse must offer (FUSE_MIN_READ_BUFFER): enough for `LONGEST_BYTES` and its headers."""
LONGEST_BYTES = 4096

IN_HEADER = Struct("<IIQQIIIHH")
OUT_HEADER = Struct("<IiQ")
INIT_IN = Struct("<IIII")
INIT_OUT = Struct("<IIIIIIII40x")
OPEN_OUT = Struct("<QIi")
IOCTL_IN = Struct("<QIIQII")
IOCTL_OUT = Struct("<iIII")
IOVEC = Struct("<QQ")
RDWR = Struct("<QI4x")
"""i2c_rdwr_ioctl_data: where the messages are, and how many."""
MESSAGE = Struct("<HHHxxQ")
"""i2c_msg: address, flags, length, where its bytes are."""

FUSE = (7, 31)
UNRESTRICTED_IOCTL = 1
"""The program says which memory of the caller it wants to see: the kernel knows nothing of I2C's structures."""
RETRY = 4
"""FUSE_IOCTL_RETRY: ask again, with this memory."""
DIRECT_IO_NONSEEKABLE = 1 | 4

I2C_FUNCS = 0x0705
I2C_RDWR = 0x0707
FUNCTIONS = Struct("<Q").pack(1)
"""I2C_FUNC_I2C: plain transfers, no SMBus."""
READ = 1
"""I2C_M_RD."""


class Opcode(IntEnum):
    """Requests that are answered with more than "cannot"."""

    OPEN = 14
    RELEASE = 18
    FLUSH = 25
    INTERRUPT = 36
    IOCTL = 39
    INIT = 4096


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a transfer, and where its bytes are in the caller's memory."""

    address: int
    reads: bool
    length: int
    pointer: int


Piece = tuple[int, int]
"""Of the caller's memory: from where, how many bytes."""


class I2cDevice:
    """The device `name` (i2c-1), and the bus behind it."""

    def __init__(self, name: str, bus: Bus) -> None:
        self.name = name
        self.bus = bus
        self._files = itertools.count(1)

    def answer(self, request: bytes) -> bytes | None:
        """The reply to one request; None if none is expected."""
        length, opcode, unique, *_ = IN_HEADER.unpack_from(request)
        try:
            body = self._body(opcode, request[IN_HEADER.size : length])
        except OSError as error:
            return OUT_HEADER.pack(OUT_HEADER.size, -(error.errno or errno.EIO), unique)
        return None if body is None else OUT_HEADER.pack(OUT_HEADER.size + len(body), 0, unique) + body

    def _body(self, opcode: int, body: bytes) -> bytes | None:
        match opcode:
            case Opcode.INIT:
                major, minor, *_ = INIT_IN.unpack_from(body)
                version = min((major, minor), FUSE)
                return (
                    INIT_OUT.pack(*version, 0, UNRESTRICTED_IOCTL, LONGEST_BYTES, LONGEST_BYTES, 0, 0)
                    + f"DEVNAME={self.name}\0".encode()
                )
            case Opcode.OPEN:
                return OPEN_OUT.pack(next(self._files), DIRECT_IO_NONSEEKABLE, 0)
            case Opcode.RELEASE | Opcode.FLUSH:
                return b""
            case Opcode.INTERRUPT:
                return None  # every request is answered at once
            case Opcode.IOCTL:
                return self._ioctl(body)
            case _:
                raise OSError(errno.ENOSYS, "not served")

    def _ioctl(self, body: bytes) -> bytes:
        _, _, command, pointer, _, out_bytes = IOCTL_IN.unpack_from(body)
        seen = body[IOCTL_IN.size :]
        if command == I2C_FUNCS:
            return _done(0, FUNCTIONS) if out_bytes else _ask_for([], [(pointer, len(FUNCTIONS))])
        if command == I2C_RDWR:
            return self._transfer(pointer, seen, out_bytes)
        raise OSError(errno.ENOTTY, "no ioctl of this device")

    def _transfer(self, pointer: int, seen: bytes, out_bytes: int) -> bytes:
        """Three times the kernel is asked for more: the head, the table of messages, the bytes of each."""
        wanted = [(pointer, RDWR.size)]
        if len(seen) < RDWR.size:
            return _ask_for(wanted, [])
        where, count = RDWR.unpack_from(seen)
        wanted.append((where, count * MESSAGE.size))
        table = RDWR.size + count * MESSAGE.size
        if len(seen) < table:
            return _ask_for(wanted, [])
        messages = [
            Message(address, bool(flags & READ), length, place)
            for address, flags, length, place in MESSAGE.iter_unpack(seen[RDWR.size : table])
        ]
        written = [(each.pointer, each.length) for each in messages if not each.reads and each.length]
        read = [(each.pointer, each.length) for each in messages if each.reads]
        if len(seen) < table + sum(length for _, length in written) or out_bytes < sum(length for _, length in read):
            return _ask_for(wanted + written, read)
        return _done(len(messages), carry_out(self.bus, messages, seen[table:]))


def carry_out(bus: Bus, messages: Sequence[Message], written: bytes) -> bytes:
    """One transfer over the bus, START to STOP; `written` has the bytes of all its write messages. What was read.

    Raises:
        OSError: a chip or the bus failed, or the messages are no transfer that the bus knows.
    """
    match messages:
        case [Message(reads=False, length=length, address=address)]:
            bus.writeto(address, written[:length])
            return b""
        case [Message(reads=True, length=length, address=address)]:
            buffer = bytearray(length)
            bus.readfrom_into(address, buffer)
            return bytes(buffer)
        case [Message(reads=False, address=address) as first, Message(reads=True, length=length, address=same)] if (
            address == same
        ):
            buffer = bytearray(length)
            bus.writeto_then_readfrom(address, written[: first.length], buffer)
            return bytes(buffer)
    raise OSError(errno.EOPNOTSUPP, "no transfer that the bus knows")


def _done(result: int, read: bytes) -> bytes:
    return IOCTL_OUT.pack(result, 0, 0, 0) + read


def _ask_for(seen: list[Piece], filled: list[Piece]) -> bytes:
    """Ask again, with these pieces of the caller's memory in the request, and room for these in the reply."""
    return IOCTL_OUT.pack(0, RETRY, len(seen), len(filled)) + b"".join(IOVEC.pack(*piece) for piece in seen + filled)
