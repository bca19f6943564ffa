"""`volcano run --mock` with a socket that moves the emulated hands: for tests only, and no part of what is installed.

It is put on a test's card and started by a drop-in of the service in place of `volcano`. Each line from the socket is
one JSON list, a method of `Hands` and its arguments, or ["press", true]; every row since the start goes back as a line.
Time runs `SPEED` times faster.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware import cli, start
from firmware.hal import backends
from firmware.loop import Loop

if TYPE_CHECKING:
    from firmware.hal.backends import MockHardware

SPEED = 3.0
"""More, and on a loaded machine the polls come too seldom for a hand to be told from its figure."""


class Gate:
    """The socket: what comes in is done in the loop's thread, what the volcano tells goes out to everybody."""

    def __init__(self, path: Path) -> None:
        self.mock: MockHardware | None = None
        self.loop: Loop | None = None
        self._told: list[bytes] = []
        self._connections: list[socket.socket] = []
        self._lock = threading.Lock()
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path.unlink(missing_ok=True)
        self._server.bind(str(path))
        self._server.listen()

    def serve(self) -> None:
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._server.accept()
            with self._lock, suppress(OSError):
                connection.sendall(b"".join(self._told))
                self._connections.append(connection)
            threading.Thread(target=self._listen, args=(connection,), daemon=True).start()

    def _listen(self, connection: socket.socket) -> None:
        with suppress(ConnectionError), connection.makefile("r", encoding="utf-8") as lines:
            for line in lines:
                assert self.loop is not None
                self.loop.submit(partial(self._move, *json.loads(line)))

    def _move(self, name: str, *arguments: Any) -> None:
        assert self.mock is not None
        if name == "press":
            self.mock.press(*arguments)
        else:
            getattr(self.mock.hands, name)(*arguments)

    def tell(self, row: Any) -> None:
        line = json.dumps(row).encode() + b"\n"
        with self._lock:
            self._told.append(line)
            for connection in list(self._connections):
                try:
                    connection.sendall(line)
                except OSError:
                    self._connections.remove(connection)


def main() -> int:
    """Start the volcano, with the gate in place of fingers and ears."""
    gate = Gate(Path(os.environ["RUNTIME_DIRECTORY"]) / "hands")
    open_mock, make_loop = backends.mock_hardware, Loop.__init__

    def mock_hardware(*arguments: Any, **more: Any) -> MockHardware:
        gate.mock = open_mock(*arguments, **more)
        return gate.mock

    def loop(self: Loop, *arguments: Any, **more: Any) -> None:
        make_loop(self, *arguments, **more)
        gate.loop = self
        self.listen(gate.tell)
        gate.serve()

    backends.mock_hardware = mock_hardware
    Loop.__init__ = loop  # type: ignore[method-assign]
    start.Setting = partial(start.Setting, speed=SPEED)  # type: ignore[misc, assignment]
    return cli.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
