"""Four instructions for ever: what the guest's processor does when nobody wants it.

A program of its own. Whatever else it did, QEMU would have to translate with care and run slowly; this it runs at some
0.4 s of its own processor for each second of the guest's, where Python's `while True: pass` takes six.
"""

from __future__ import annotations

import ctypes
import mmap
import platform

NOTHING = {
    "aarch64": b"\x1f\x20\x03\xd5" * 3 + b"\xfd\xff\xff\x17",  # nop, nop, nop, b to the first of them
    "x86_64": b"\x90" * 3 + b"\xeb\xfb",  # nop, nop, nop, jmp to the first of them
}
"""In the machine's own words."""


def main() -> None:
    """Never comes back."""
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(NOTHING[platform.machine()])
    ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()


if __name__ == "__main__":
    main()
