"""The other end of SDL's disk driver, for tests: a pipe instead of a file, read at the pace of the test.

The mixer waits until somebody listens, so nothing depends on how fast a machine is, and the time may be what was heard.
"""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from firmware.audio.sdl import RATE_HZ

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

FRAME_BYTES = 2
PIPE_BYTES = 4096
"""The least that Linux gives."""
AHEAD_S = 0.2
"""The mixer is ahead of the listener by less: the pipe, 4 KiB of its own and two periods, as a sound card would be."""


class Speaker:
    """Everything that leaves the mixer is in `heard`, 16 bit, one channel. As a clock it says how long that is."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        os.mkfifo(path)
        self._pipe: int | None = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        os.set_blocking(self._pipe, True)
        self.heard = bytearray()
        monkeypatch.setenv("SDL_AUDIODRIVER", "disk")
        monkeypatch.setenv("SDL_DISKAUDIOFILE", str(path))
        monkeypatch.setenv("SDL_DISKAUDIODELAY", "0")

    def __call__(self) -> float:
        """Seconds since it was switched on."""
        return len(self.heard) / (FRAME_BYTES * RATE_HZ)

    def listen(self, frames: int) -> None:
        """Hear on."""
        assert self._pipe is not None, "it is switched off"
        goal = len(self.heard) + FRAME_BYTES * frames
        while len(self.heard) < goal:
            came = os.read(self._pipe, goal - len(self.heard))
            assert came, "the mixer has closed the pipe"
            self.heard += came

    def close(self) -> None:
        """Nobody listens any more: the mixer's next sample finds no reader, and it can be closed."""
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None
