"""Lights, push button and battery on GPIO pins, through gpiozero.

Real and emulated boards differ in the pin factory only. A pin that cannot be had costs that one light or button: it is
named once in the log and in `faults()`, and tried again; nothing is raised at a game.
"""

from __future__ import annotations

import logging
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware.hal.ports import PinError
from firmware.terms import SYMBOLS, Fault, Part, Symbol, Symbols

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

log = logging.getLogger(__name__)

Factory = Any
"""A gpiozero pin factory; gpiozero has no types."""

HEADER_LABELS = ("pinctrl-rp1", "pinctrl-bcm2711", "pinctrl-bcm2835")
"""What the kernel calls the GPIO chip behind the 40-pin header on a Pi 5, a Pi 4, and all before and the Zeros.

The number of the chip has changed between kernels (4 to 0 on the Pi 5), the label has not.
"""

GET_CHIPINFO = 0x8044B401
"""GPIO_GET_CHIPINFO_IOCTL of the kernel's gpio.h: name and label, 32 bytes each, and the number of lines."""

BLINK_HZ = 1.0
NAMES = {Part.BUTTON: "push button", Part.BATTERY: "low-battery signal"}
"""What single parts are called in messages."""

RETRY_S = 10.0
"""How long to leave a pin alone that could not be had."""


def chip_labels(folder: Path = Path("/dev")) -> dict[int, str]:
    """The number and label of every GPIO chip that the kernel shows and lets us open."""
    import fcntl  # noqa: PLC0415  # not on every desktop

    labels: dict[int, str] = {}
    for path in sorted(folder.glob("gpiochip*")):
        info = bytearray(struct.calcsize("32s32sI"))
        try:
            with path.open("rb", buffering=0) as chip:
                fcntl.ioctl(chip, GET_CHIPINFO, info)
        except OSError as error:
            log.warning("%s cannot be asked for its label: %s", path, error.strerror)
            continue
        _, label, _ = struct.unpack("32s32sI", info)
        labels[int(path.name.removeprefix("gpiochip"))] = label.rstrip(b"\0").decode("ascii", "replace")
    return labels


def header_chip(labels: Mapping[int, str]) -> int:
    """The number of the GPIO chip behind the header.

    Raises:
        PinError: this is no Raspberry Pi, or the chips may not be opened.
    """
    for label in HEADER_LABELS:
        for number, found in sorted(labels.items()):
            if found == label:
                return number
    seen = ", ".join(f"gpiochip{number} {label}" for number, label in sorted(labels.items())) or "none at all"
    raise PinError(f"no GPIO chip of a Raspberry Pi header ({seen}): is this a Pi, and is the user in the group gpio?")


def open_pi_pins() -> Factory:
    """The pin factory of the Pi this runs on.

    Raises:
        PinError: no header, or lgpio is not installed.
    """
    number = header_chip(chip_labels())
    try:
        from gpiozero.pins.lgpio import LGPIOFactory  # noqa: PLC0415  # only where pins are opened
    except ImportError as error:
        raise PinError("the Python module lgpio is missing: install python3-lgpio") from error
    try:
        return LGPIOFactory(chip=number)
    except Exception as error:
        raise PinError(f"/dev/gpiochip{number} cannot be opened: {error}") from error


def open_mock_pins() -> Factory:
    """A pin factory of pins in memory, with PWM as on a Pi."""
    from gpiozero.pins.mock import MockFactory, MockPWMPin  # noqa: PLC0415  # only where pins are opened

    return MockFactory(pin_class=MockPWMPin)


class Pins:
    """Opens a pin factory when it is first needed, again after a failure, and gives it back once."""

    def __init__(self, open_factory: Callable[[], Factory], clock: Callable[[], float]) -> None:
        self._open_factory = open_factory
        self.clock = clock
        self._factory: Factory = None
        self._again_s = float("-inf")
        self._fault = ""

    def factory(self) -> Factory:
        """The factory.

        Raises:
            PinError: it cannot be had; it is tried again every `RETRY_S` seconds only.
        """
        if self._factory is None:
            if self.clock() < self._again_s:
                raise PinError(self._fault)
            try:
                self._factory = self._open_factory()
            except PinError as error:
                self._again_s, self._fault = self.clock() + RETRY_S, str(error)
                raise
        return self._factory

    def close(self) -> None:
        """Give every pin back; harmless when called again."""
        if self._factory is not None:
            self._factory.close()
            self._factory = None


class _Line:
    """One pin with what hangs on it, opened when needed and tried again after a failure."""

    def __init__(self, pins: Pins, pin: int, part: Part, name: str, make: Callable[[Factory, int], Any]) -> None:
        self._pins = pins
        self._pin = pin
        self._part = part
        self._name = name
        self._make = make
        self._device: Any = None
        self._again_s = float("-inf")
        self._closed = False
        self.fault: Fault | None = None

    @property
    def _spoken(self) -> str:
        """For people."""
        return f"the {self._name} {self._part}" if self._name else f"the {NAMES[self._part]}"

    def device(self) -> Any:
        """The gpiozero device, or None while the pin cannot be had."""
        if self._device is None and not self._closed and self._pins.clock() >= self._again_s:
            try:
                self._device = self._make(self._pins.factory(), self._pin)
            except Exception as error:  # noqa: BLE001  # gpiozero and lgpio raise errors of many kinds
                self._fail(error)
            else:
                if self.fault:
                    log.info("%s on GPIO %d is back", self._spoken, self._pin)
                self.fault = None
        return self._device

    def use(self, action: Callable[[Any], Any], default: Any = None) -> Any:
        """Do something with the device; `default` while it cannot be had."""
        device = self.device()
        if device is None:
            return default
        try:
            return action(device)
        except Exception as error:  # noqa: BLE001  # gpiozero and lgpio raise errors of many kinds
            self._give_back()
            self._fail(error)
            return default

    def _fail(self, error: Exception) -> None:
        self._again_s = self._pins.clock() + RETRY_S
        text = f"{self._spoken} on GPIO {self._pin} cannot be used: {error}"
        fault = Fault(self._part, self._name, text)
        if fault != self.fault:
            log.warning("%s", fault)
        self.fault = fault

    def _give_back(self) -> None:
        device, self._device = self._device, None
        if device is not None:
            try:
                device.close()
            except Exception as error:  # noqa: BLE001  # the pin is lost either way
                log.warning("%s on GPIO %d cannot be given back: %s", self._spoken, self._pin, error)

    def close(self) -> None:
        """Give the pin back for good."""
        self._give_back()
        self._closed = True


class GpioLights:
    """The five lights; a light is on when its pin is high."""

    def __init__(self, pins: Pins, light_pins: Mapping[Symbol, int]) -> None:
        self._clock = pins.clock
        self._lines = {symbol: _Line(pins, light_pins[symbol], Part.LIGHT, symbol, _make_light) for symbol in SYMBOLS}
        self._shown = Symbols()
        self._since_s = 0.0
        self._lit: frozenset[Symbol] | None = None
        self.tick(self._clock())

    def show(self, symbols: Symbols) -> None:
        """Light exactly these; a blink begins with the light on."""
        now = self._clock()
        if not (symbols.blink and self._shown.blink):
            self._since_s = now
        self._shown = symbols
        self._lit = None
        self.tick(now)

    def tick(self, now: float) -> None:
        """Blink, if asked to; to be called at least ten times a second. `now` in seconds, as of the clock."""
        dark = self._shown.blink and (now - self._since_s) * BLINK_HZ % 1.0 >= 0.5
        lit = frozenset(() if dark else self._shown.lit)
        if lit != self._lit:
            self._lit = lit
            for symbol, line in self._lines.items():
                line.use(_light if symbol in lit else _darken)

    def faults(self) -> list[Fault]:
        """One line per light that cannot be used."""
        return [line.fault for line in self._lines.values() if line.fault]

    def close(self) -> None:
        """All dark, pins given back; harmless when called again."""
        for line in self._lines.values():
            line.close()


class GpioButton:
    """The push button between its pin and ground."""

    def __init__(self, pins: Pins, pin: int) -> None:
        self._line = _Line(pins, pin, Part.BUTTON, "", _make_input)
        self._line.device()

    def is_pressed(self) -> bool:
        """The level now, not debounced; not pressed while the pin cannot be had."""
        return bool(self._line.use(_is_active, default=False))

    def faults(self) -> list[Fault]:
        """One line if the button cannot be used."""
        return [self._line.fault] if self._line.fault else []

    def close(self) -> None:
        """Pin given back; harmless when called again."""
        self._line.close()


class GpioBattery:
    """A supervisor that pulls its pin low when the batteries are weak."""

    def __init__(self, pins: Pins, low_pin: int) -> None:
        self._line = _Line(pins, low_pin, Part.BATTERY, "", _make_input)
        self._line.device()

    def is_low(self) -> bool:
        """Whether the batteries are weak; full while the pin cannot be had."""
        return bool(self._line.use(_is_active, default=False))

    def faults(self) -> list[Fault]:
        """One line if the signal cannot be read."""
        return [self._line.fault] if self._line.fault else []

    def close(self) -> None:
        """Pin given back; harmless when called again."""
        self._line.close()


class FixedBattery:
    """A supply that nobody watches: a mains adapter, or a wiring without a low-battery pin."""

    def __init__(self, *, low: bool = False) -> None:
        self.low = low

    def is_low(self) -> bool:
        """What was said."""
        return self.low

    def faults(self) -> list[Fault]:
        """None."""
        return []

    def close(self) -> None:
        """Nothing to give back."""


def _make_light(factory: Factory, pin: int) -> Any:
    from gpiozero import PWMLED  # noqa: PLC0415  # only where pins are opened

    return PWMLED(pin, pin_factory=factory)


def _make_input(factory: Factory, pin: int) -> Any:
    from gpiozero import DigitalInputDevice  # noqa: PLC0415  # only where pins are opened

    return DigitalInputDevice(pin, pull_up=True, pin_factory=factory)


def _light(device: Any) -> None:
    device.value = 1.0


def _darken(device: Any) -> None:
    device.value = 0.0


def _is_active(device: Any) -> bool:
    return bool(device.is_active)
