"""`volcano run`, its header being the eight lines of an emulated bridge: for tests, no part of what is installed.

A drop-in of the service starts it in place of `volcano`. Two things are other than on a Pi: gpiozero is told which
model this is, and each pin is looked for on the bridge's line of that pin. All else is the firmware as installed. Every
row that it tells goes to the file `rows` in its runtime directory.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpiozero.pins.local import LocalPiFactory

from firmware import cli
from firmware.hal import gpio
from firmware.loop import Loop
from guest.board import LINES
from guest.cp2112 import LABEL

if TYPE_CHECKING:
    from collections.abc import Callable

PI_4B = 0xC03111
"""Revision code of a Pi 4 Model B: its header has every pin of the wiring."""
WITH_A_PIN = (
    *("gpio_claim_input", "gpio_claim_output", "gpio_claim_alert", "gpio_free", "gpio_get_mode"),
    *("gpio_read", "gpio_write", "tx_pwm", "callback"),
)
"""What gpiozero calls of lgpio with a chip and a pin."""


def on_the_bridge(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same with the bridge's line in place of the pin."""

    def call(chip: int, pin: int, *more: Any) -> Any:
        return function(chip, LINES[pin], *more)

    return call


def main() -> int:
    """Start the volcano."""
    gpio.HEADER_LABELS = (LABEL,)  # type: ignore[assignment]  # one label, where a Pi has one of three
    LocalPiFactory._get_revision = lambda _: PI_4B
    lgpio = importlib.import_module("lgpio")  # not on every desktop
    for name in WITH_A_PIN:
        setattr(lgpio, name, on_the_bridge(getattr(lgpio, name)))
    rows = (Path(os.environ["RUNTIME_DIRECTORY"]) / "rows").open("w", encoding="utf-8", buffering=1)
    make_loop = Loop.__init__

    def loop(self: Loop, *arguments: Any, **more: Any) -> None:
        make_loop(self, *arguments, **more)
        self.listen(lambda row: print(json.dumps(row), file=rows))

    Loop.__init__ = loop  # type: ignore[method-assign]
    return cli.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
