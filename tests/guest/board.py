"""The emulated board behind real device nodes: chips behind `/dev/i2c-1`, lights and button on a real gpiochip.

The chips and the hands are those that every test plays over; here a kernel stands between them and the firmware.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from firmware.game.registry import load_title
from firmware.hal.backends import mock_hardware
from firmware.hal.bus import CountingBus
from firmware.hal.gpio import chip_labels
from firmware.hal.wiring import load_wiring
from firmware.terms import SYMBOLS
from guest import cp2112, cuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.terms import Figure, Symbol, Touch

WIRING = load_wiring(None, load_title().fields)
PINS = (*(WIRING.lights[symbol] for symbol in SYMBOLS), WIRING.button)
LINES = {pin: line for line, pin in enumerate(PINS if WIRING.battery_low is None else (*PINS, WIRING.battery_low))}
"""The bridge's line of each header pin (BCM number) that the wiring uses."""
NODE = Path(f"/dev/i2c-{WIRING.bus}")
NODES_S = 10.0


class Board:
    """Everything that the volcano feels and shows. `hands` and the push button are for one thread alone."""

    def __init__(self) -> None:
        mock = mock_hardware(WIRING, time.monotonic)
        self._hands = mock.hands
        self.bus = CountingBus(mock.emulated_bus)
        self._bridge = cp2112.Bridge()
        self._lock = threading.Lock()

    def serve(self) -> None:
        """Make the device nodes; from then on requests are answered in threads of their own."""
        device = cuse.I2cDevice(NODE.name, self.bus)
        self._start("/dev/cuse", cuse.REQUEST_BYTES, device.answer)
        self._start("/dev/uhid", cp2112.EVENT_BYTES, self._bridge.answer, self._bridge.create())
        wait_for(lambda: NODE.exists() and cp2112.LABEL in chip_labels().values(), "the device nodes do not come")
        shutil.chown(NODE, group="i2c")  # the rule for real buses does not know this one
        NODE.chmod(0o660)

    def _start(self, path: str, size: int, answer: Callable[[bytes], bytes | None], first: bytes = b"") -> None:
        node = os.open(path, os.O_RDWR)
        if first:
            os.write(node, first)

        def serve() -> None:
            while True:
                request = os.read(node, size)
                with self._lock:
                    reply = answer(request)
                if reply is not None:
                    os.write(node, reply)

        threading.Thread(target=serve, name=path, daemon=True).start()

    # --- what people do and see

    def place(self, figure: Figure, field: str) -> None:
        """Carry a figure to a field, unless it stands there."""
        with self._lock:
            if self._hands.where(figure) != field:
                self._hands.place(figure, field)

    def grip(self, figure: Figure) -> None:
        """Take hold of its head."""
        with self._lock:
            self._hands.grip(figure)

    def touch(self, touch: Touch) -> None:
        """Put a finger there."""
        with self._lock:
            self._hands.touch(touch)

    def let_go(self, figure: Figure, touch: Touch) -> None:
        """Take all fingers away."""
        with self._lock:
            self._hands.lift(touch)
            self._hands.let_go(figure)

    def press(self, *, down: bool) -> None:
        """The push button closes to ground."""
        with self._lock:
            self._bridge.drive(LINES[WIRING.button], high=not down)

    def lit(self) -> frozenset[Symbol]:
        """The lights whose lines are high."""
        with self._lock:
            return frozenset(symbol for symbol in SYMBOLS if self._bridge.outputs >> LINES[WIRING.lights[symbol]] & 1)


def wait_for(look: Callable[[], object], otherwise: str, seconds: float = NODES_S) -> None:
    """Look until there is something to see.

    Raises:
        TimeoutError: `otherwise`, after so many seconds.
    """
    until = time.monotonic() + seconds
    while not look():
        if time.monotonic() > until:
            raise TimeoutError(otherwise)
        time.sleep(0.02)
