"""Lights and push button on GPIO pins, through gpiozero.

Real and emulated boards differ in the pin factory only. A pin that cannot be had costs that one light or button: it is
named once in the log and in `faults()`, and tried again; nothing is raised at a game.

Levels are only set and polled, never waited for: so neither PWM threads nor edges are needed, and RPi.GPIO still serves
where the kernel (since 6.6) refuses it edge detection.
"""

from __future__ import annotations

import atexit
import logging
import os
import struct
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from firmware.hal.ports import PinError
from firmware.terms import SYMBOLS, Fault, Part, Symbol, Symbols

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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

SPI_PORT = 0
SPI_DEVICE = 0
"""/dev/spidev0.0: CE0 on GPIO 8."""

RETRY_S = 10.0
"""How long to leave a pin alone that could not be had."""


def chip_labels(folder: Path = Path("/dev")) -> dict[int, str]:
    """The number and label of every GPIO chip that the kernel shows; in brackets why one does not tell its label."""
    import fcntl  # noqa: PLC0415  # not on every desktop

    labels: dict[int, str] = {}
    for path in sorted(folder.glob("gpiochip*")):
        info = bytearray(struct.calcsize("32s32sI"))
        try:
            with path.open("rb", buffering=0) as chip:
                fcntl.ioctl(chip, GET_CHIPINFO, info)
        except OSError as error:
            text = f"({error.strerror})"
        else:
            text = struct.unpack("32s32sI", info)[1].rstrip(b"\0").decode("ascii", "replace")
        labels[int(path.name.removeprefix("gpiochip"))] = text
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
    """The pin factory of the Pi this runs on: lgpio's, or RPi.GPIO's on a Pi before 5 that has no lgpio.

    Raises:
        PinError: no header, or neither library can be used; the text has both reasons.
    """
    labels = chip_labels()
    number = header_chip(labels)
    try:
        factory = _open_lgpio(number)
    except PinError as error:
        if labels[number] == "pinctrl-rp1":  # RPi.GPIO does not know the Pi 5's chip
            raise
        try:
            factory = _open_rpi_gpio()
        except PinError as second:
            raise PinError(f"{error}; nor can RPi.GPIO be used ({second})") from second
        log.info("lights and push button through RPi.GPIO: %s", error)
    else:
        log.info("lights and push button through lgpio on /dev/gpiochip%d (%s)", number, labels[number])
    return factory


@contextmanager
def lean_gpiozero() -> Iterator[None]:
    """Import gpiozero in here: it then loads what knows all installed packages (and e-mail) only when it asks for it.

    That is a third of its time and more, and it would only ask for a pin factory by its name, which we never let it do.
    """
    name = "importlib_metadata"  # by which gpiozero looks first; later the module of Python's own
    if name in sys.modules or "importlib.metadata" in sys.modules:
        yield
        return
    stand_in = ModuleType(name)
    vars(stand_in)["entry_points"] = _entry_points
    sys.modules[name] = stand_in
    try:
        yield
    finally:
        del sys.modules[name]


def _entry_points(**parameters: Any) -> Any:
    from importlib.metadata import entry_points  # noqa: PLC0415  # this is what is so long

    return entry_points(**parameters)


def _open_lgpio(number: int) -> Factory:
    _choose_lgpio_folder()
    folder = Path.cwd()
    try:
        with lean_gpiozero():
            from gpiozero.pins.lgpio import LGPIOFactory  # noqa: PLC0415  # only where pins are opened
    except ImportError as error:
        raise PinError("the Python module lgpio is missing: install python3-lgpio") from error
    except OSError as error:
        raise PinError(
            f"lgpio cannot make its named pipe: {error}: let LG_WD name a folder that is writable"
        ) from error
    finally:
        os.chdir(folder)  # lgpio goes to LG_WD when it is imported, and files are named relative to where we started
    try:
        return LGPIOFactory(chip=number)
    except Exception as error:
        raise PinError(f"/dev/gpiochip{number} cannot be opened: {error}: is the user in the group gpio?") from error


def _choose_lgpio_folder() -> None:
    """Let LG_WD name a writable folder: lgpio makes a named pipe there when it is imported, and fails if it cannot."""
    for variable in ("LG_WD", "RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"):
        folder = os.environ.get(variable, "").split(":")[0]
        if folder and os.access(folder, os.W_OK | os.X_OK):
            break
    else:
        import shutil  # noqa: PLC0415  # a service has its folder
        import tempfile  # noqa: PLC0415

        folder = tempfile.mkdtemp(prefix="volcano-lgpio-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["LG_WD"] = folder


def _open_rpi_gpio() -> Factory:
    try:
        with lean_gpiozero():
            from gpiozero.pins.rpigpio import RPiGPIOFactory  # noqa: PLC0415  # only where pins are opened
    except (ImportError, RuntimeError) as error:
        raise PinError(f"{error}: install python3-lgpio or python3-rpi.gpio") from error
    try:
        return RPiGPIOFactory()
    except Exception as error:
        raise PinError(f"{error}: is the user in the group gpio?") from error


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


class Line:
    """One pin with what hangs on it, opened when needed and tried again after a failure; `at` is what `pin` counts."""

    def __init__(
        self, pins: Pins, pin: int, part: Part, name: str, make: Callable[[Factory, int], Any], *, at: str = "GPIO"
    ) -> None:
        self._pins = pins
        self._pin = pin
        self._where = f"{at} {pin}"
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
                    log.info("%s on %s is back", self._spoken, self._where)
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
        text = f"{self._spoken} on {self._where} cannot be used: {error}"
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
                log.warning("%s on %s cannot be given back: %s", self._spoken, self._where, error)

    def close(self, last: Callable[[Any], Any] | None = None) -> None:
        """Give the pin back for good; `last` is done with the device before, if there is one."""
        if last and self._device is not None:
            self.use(last)
        self._give_back()
        self._closed = True


class GpioLights:
    """The five lights; a light is on when its pin is high."""

    def __init__(self, pins: Pins, light_pins: Mapping[Symbol, int]) -> None:
        self._clock = pins.clock
        self._lines = {symbol: Line(pins, light_pins[symbol], Part.LIGHT, symbol, _make_light) for symbol in SYMBOLS}
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
        """All dark, pins given back; harmless when called again. A kernel may keep the level of a pin given back."""
        for line in self._lines.values():
            line.close(_darken)


class GpioButton:
    """The push button between its pin and ground."""

    def __init__(self, pins: Pins, pin: int) -> None:
        self._line = Line(pins, pin, Part.BUTTON, "", make_input)
        self._line.device()

    def is_pressed(self) -> bool:
        """The level now, not debounced; not pressed while the pin cannot be had."""
        return bool(self._line.use(is_active, default=False))

    def faults(self) -> list[Fault]:
        """One line if the button cannot be used."""
        return [self._line.fault] if self._line.fault else []

    def close(self) -> None:
        """Pin given back; harmless when called again."""
        self._line.close()


def make_input(factory: Factory, pin: int) -> Any:
    """A pin with its inner pull-up, active when it is pulled to ground."""
    from gpiozero import InputDevice  # noqa: PLC0415  # only where pins are opened

    return InputDevice(pin, pull_up=True, pin_factory=factory)


def make_mcp3008(factory: Factory, channel: int) -> Any:
    """An MCP3008 at the kernel's SPI; without it gpiozero clocks the same pins itself, which is said in the log."""
    from gpiozero import MCP3008  # noqa: PLC0415  # only where pins are opened

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        device = MCP3008(channel, port=SPI_PORT, device=SPI_DEVICE, pin_factory=factory)
    for warning in caught:
        log.info("MCP3008: %s", warning.message)
    return device


def is_active(device: Any) -> bool:
    """The level of an input."""
    return bool(device.is_active)


def _make_light(factory: Factory, pin: int) -> Any:
    from gpiozero import LED  # noqa: PLC0415  # only where pins are opened

    return LED(pin, pin_factory=factory)


def _light(device: Any) -> None:
    device.on()


def _darken(device: Any) -> None:
    device.off()
