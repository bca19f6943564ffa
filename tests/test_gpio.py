"""Lights, button and battery over pins in memory; what a missing pin costs; which GPIO chip is the header's."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from firmware.hal.battery import GpioBattery
from firmware.hal.emulated_pins import PinsInMemory
from firmware.hal.gpio import (
    HEADER_LABELS,
    RETRY_S,
    GpioButton,
    GpioLights,
    Pins,
    chip_labels,
    header_chip,
    open_pi_pins,
)
from firmware.hal.ports import PinError
from firmware.terms import SYMBOLS, Symbol, Symbols

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PINS = dict(zip(SYMBOLS, (5, 6, 16, 26, 25), strict=True))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pins(clock: Clock) -> Any:
    pins = Pins(PinsInMemory, clock)
    yield pins
    pins.close()


def lit(pins: Pins) -> set[Symbol]:
    return {symbol for symbol, pin in PINS.items() if pins.factory().pin(pin).state > 0}


def test_exactly_the_symbols_shown_are_lit(pins: Pins) -> None:
    lights = GpioLights(pins, PINS)
    assert lit(pins) == set()
    lights.show(Symbols((Symbol.STAR, Symbol.ARIKI)))
    assert lit(pins) == {Symbol.STAR, Symbol.ARIKI}
    lights.show(Symbols((Symbol.CIRCLE,)))
    assert lit(pins) == {Symbol.CIRCLE}


def test_blinking_is_once_a_second_and_begins_lit(pins: Pins, clock: Clock) -> None:
    lights = GpioLights(pins, PINS)
    clock.now = 7.3
    lights.show(Symbols((Symbol.STAR,), blink=True))
    seen = []
    for tenth in range(20):
        clock.now = 7.3 + tenth / 10 + 0.01
        lights.tick(clock.now)
        seen.append(bool(lit(pins)))
    assert seen == ([True] * 5 + [False] * 5) * 2


def test_steady_lights_stay_lit(pins: Pins, clock: Clock) -> None:
    lights = GpioLights(pins, PINS)
    lights.show(Symbols((Symbol.STAR,)))
    for tenth in range(20):
        clock.now = tenth / 10
        lights.tick(clock.now)
        assert lit(pins) == {Symbol.STAR}


def test_closed_lights_are_dark_and_close_twice(pins: Pins) -> None:
    lights = GpioLights(pins, PINS)
    lights.show(Symbols(SYMBOLS))
    lights.close()
    lights.close()
    assert lit(pins) == set()
    lights.show(Symbols(SYMBOLS))
    assert lit(pins) == set()


def test_the_button_is_pressed_while_its_pin_is_low(pins: Pins) -> None:
    button = GpioButton(pins, 17)
    assert not button.is_pressed()
    pins.factory().pin(17).drive_low()
    assert button.is_pressed()
    pins.factory().pin(17).drive_high()
    assert not button.is_pressed()
    button.close()
    button.close()
    assert not button.is_pressed()


def test_a_pin_in_use_costs_one_light_only(pins: Pins, caplog: pytest.LogCaptureFixture) -> None:
    button = GpioButton(pins, PINS[Symbol.SQUARE])
    lights = GpioLights(pins, PINS)
    lights.show(Symbols(SYMBOLS))
    assert lit(pins) - {Symbol.SQUARE} == {Symbol.STAR, Symbol.CIRCLE, Symbol.TRIANGLE, Symbol.ARIKI}
    (fault,) = lights.faults()
    assert str(fault).startswith("the square light on GPIO 26 cannot be used: ")
    assert caplog.text.count("the square light") == 1
    button.close()


def test_a_light_whose_pin_comes_free_is_lit_again(pins: Pins, clock: Clock) -> None:
    button = GpioButton(pins, PINS[Symbol.SQUARE])
    lights = GpioLights(pins, PINS)
    button.close()
    clock.now = RETRY_S
    lights.show(Symbols((Symbol.SQUARE,)))
    assert lit(pins) == {Symbol.SQUARE}
    assert lights.faults() == []


def test_without_any_gpio_nothing_is_raised_and_it_is_tried_again(clock: Clock) -> None:
    tries = []

    def no_factory() -> Any:
        tries.append(clock.now)
        raise PinError("no GPIO here")

    pins = Pins(no_factory, clock)
    lights, button, battery = GpioLights(pins, PINS), GpioButton(pins, 17), GpioBattery(pins, 27)
    for second in range(25):
        clock.now = float(second)
        lights.show(Symbols(SYMBOLS[: second % 5]))
        assert not button.is_pressed()
        assert not battery.is_low()
    assert len(lights.faults()) == 5
    assert "the push button on GPIO 17 cannot be used: no GPIO here" in map(str, button.faults())
    assert tries == [0.0, 10.0, 20.0]


@pytest.mark.parametrize(
    ("labels", "number"),
    [
        ({0: "pinctrl-bcm2835", 1: "raspberrypi-exp-gpio"}, 0),
        ({0: "pinctrl-bcm2711", 1: "raspberrypi-exp-gpio"}, 0),
        ({0: "gpio-brcmstb@107d508500", 4: "pinctrl-rp1"}, 4),
        ({0: "pinctrl-rp1", 10: "gpio-brcmstb@107d508500"}, 0),
    ],
    ids=["Zero 2", "Pi 4", "Pi 5 before 6.6.45", "Pi 5 after"],
)
def test_the_header_is_found_by_its_label(labels: dict[int, str], number: int) -> None:
    assert header_chip(labels) == number


def test_a_machine_without_a_header_is_told_so() -> None:
    with pytest.raises(PinError, match=r"no GPIO chip of a Raspberry Pi header \(gpiochip0 INT34C5:00\)"):
        header_chip({0: "INT34C5:00"})
    with pytest.raises(PinError, match="none at all"):
        header_chip({})


def test_a_chip_that_does_not_tell_its_label_is_named_with_the_reason(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "gpiochip0").touch()  # a file answers no such call
    labels = chip_labels(tmp_path)
    assert labels == {0: "(Inappropriate ioctl for device)"}
    with pytest.raises(PinError, match=r"\(gpiochip0 \(Inappropriate ioctl for device\)\): is this a Pi"):
        header_chip(labels)
    assert caplog.records == [], "who asks again and again fills no log"


def test_labels_are_read_from_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gpiochip4").touch()

    def ioctl(_: Any, request: int, info: bytearray) -> int:
        assert request == 0x8044B401
        info[:64] = b"gpiochip4".ljust(32, b"\0") + HEADER_LABELS[0].encode().ljust(32, b"\0")
        return 0

    monkeypatch.setattr("fcntl.ioctl", ioctl)
    assert chip_labels(tmp_path) == {4: "pinctrl-rp1"}


# --- the libraries beneath: lgpio, else RPi.GPIO

LGPIO = """
import os
os.chdir(os.environ["LG_WD"])  # what lgpio does when it is imported
os.mkfifo(".lgd-nfy0")
opened = []

def gpiochip_open(number):
    if number == 9:
        raise RuntimeError("can not open gpiochip")
    opened.append(number)
    return 1

def gpiochip_close(handle):
    pass

def __getattr__(name):
    if name.isupper():
        return len(name)
    raise AttributeError(name)
"""


@pytest.fixture
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of libraries for GPIO, none yet; what was imported from it is forgotten afterwards."""
    folder = tmp_path / "libraries"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    for variable in ("LG_WD", "RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("LG_WD", "")  # so that it is put back
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def forget() -> None:
        for name in ("lgpio", "gpiozero.pins.lgpio", "RPi", "RPi.GPIO", "gpiozero.pins.rpigpio"):
            sys.modules.pop(name, None)

    forget()
    yield folder
    forget()


@pytest.fixture
def lgpio(libraries: Path) -> Path:
    """The folder that lgpio may be told to use."""
    (libraries / "lgpio.py").write_text(LGPIO, encoding="utf-8")
    pipes = libraries.parent / "pipes"
    pipes.mkdir()
    return pipes


def board(monkeypatch: pytest.MonkeyPatch, labels: dict[int, str]) -> None:
    monkeypatch.setattr("firmware.hal.gpio.chip_labels", lambda: labels)


def missing(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


def test_gpiozero_still_finds_pin_factories_by_name_though_it_was_imported_without_what_finds_them() -> None:
    code = (
        "import sys\n"
        "from firmware.hal.gpio import lean_gpiozero\n"
        "with lean_gpiozero():\n"
        "    import gpiozero.devices, gpiozero.pins.mock\n"
        "print(*[name for name in ('importlib_metadata', 'importlib.metadata') if name in sys.modules])\n"
        "for module in (gpiozero.devices, gpiozero.pins.mock):\n"
        "    print(*sorted({found.name for found in module.entry_points(group='gpiozero_pin_factories')}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded, *found = done.stdout.splitlines()
    assert loaded == ""
    assert all({"lgpio", "mock", "rpigpio"} <= set(names.split()) for names in found)
    assert len(found) == 2


def test_lgpio_opens_the_chip_with_the_right_label_and_it_is_said_which(
    lgpio: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setenv("LG_WD", str(lgpio))
    board(monkeypatch, {0: "gpio-brcmstb", 4: "pinctrl-rp1"})
    factory = open_pi_pins()
    assert sys.modules["lgpio"].opened == [4]
    assert caplog.messages == ["lights and push button through lgpio on /dev/gpiochip4 (pinctrl-rp1)"]
    factory.close()


def test_lgpio_does_not_take_the_working_folder_along(lgpio: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LG_WD", str(lgpio))
    board(monkeypatch, {0: "pinctrl-bcm2711"})
    before = os.getcwd()  # noqa: PTH109 - what relative names are relative to
    open_pi_pins().close()
    assert os.getcwd() == before  # noqa: PTH109 - as above
    assert stat.S_ISFIFO((lgpio / ".lgd-nfy0").stat().st_mode)


@pytest.mark.parametrize(
    "variables",
    [
        {"LG_WD": "/proc/none", "RUNTIME_DIRECTORY": "PIPES:/run/other"},
        {"XDG_RUNTIME_DIR": "PIPES"},
        {"LG_WD": "PIPES", "RUNTIME_DIRECTORY": "/run/other"},
    ],
)
def test_lgpio_s_pipe_gets_a_folder_that_is_writable(
    lgpio: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value.replace("PIPES", str(lgpio)))
    board(monkeypatch, {0: "pinctrl-bcm2711"})
    open_pi_pins().close()
    assert os.environ["LG_WD"] == str(lgpio)
    assert [path.name for path in lgpio.iterdir()] == [".lgd-nfy0"]


def test_without_any_such_folder_lgpio_gets_a_fresh_one(
    lgpio: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board(monkeypatch, {0: "pinctrl-bcm2711"})
    open_pi_pins().close()
    (pipe,) = tmp_path.glob("volcano-lgpio-*/.lgd-nfy0")
    assert os.environ["LG_WD"] == str(pipe.parent)


@pytest.mark.parametrize("reason", ["", "This module can only be run on a Raspberry Pi!"])
def test_a_pi_without_lgpio_and_rpi_gpio_says_why_not_either(
    libraries: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    missing(monkeypatch, "lgpio", *([] if reason else ["RPi"]))
    if reason:  # what RPi.GPIO does on other computers
        (libraries / "RPi").mkdir()
        (libraries / "RPi" / "__init__.py").touch()
        (libraries / "RPi" / "GPIO.py").write_text(f"raise RuntimeError({reason!r})\n", encoding="utf-8")
    board(monkeypatch, {0: "pinctrl-bcm2835"})
    with pytest.raises(PinError) as caught:
        open_pi_pins()
    assert str(caught.value).startswith(
        "the Python module lgpio is missing: install python3-lgpio; nor can RPi.GPIO be used ("
    )
    assert f"{reason}: install python3-lgpio or python3-rpi.gpio" in str(caught.value)


def test_a_pi_5_is_not_asked_for_rpi_gpio(libraries: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing(monkeypatch, "lgpio")
    board(monkeypatch, {0: "pinctrl-rp1"})
    with pytest.raises(PinError, match=r"^the Python module lgpio is missing: install python3-lgpio$"):
        open_pi_pins()


def test_a_chip_that_may_not_be_opened_is_named(lgpio: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing(monkeypatch, "RPi")
    board(monkeypatch, {9: "pinctrl-bcm2711"})
    with pytest.raises(PinError, match=r"^/dev/gpiochip9 cannot be opened: can not open gpiochip: .*group gpio\?; nor"):
        open_pi_pins()


@pytest.mark.filterwarnings("ignore")  # fake_rpi is of 2020
def test_without_lgpio_the_lights_shine_through_rpi_gpio(
    libraries: Path,
    monkeypatch: pytest.MonkeyPatch,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A smoke test: fake_rpi's RPi.GPIO keeps no level, so what is written to it is noted."""
    import fake_rpi  # noqa: PLC0415 - prints when imported

    fake_rpi.toggle_print(False)
    caplog.set_level(logging.INFO)
    levels: dict[int, bool] = {}
    monkeypatch.setattr(type(fake_rpi.RPi.GPIO), "output", lambda _, pin, level: levels.update({pin: bool(level)}))
    monkeypatch.setitem(sys.modules, "RPi", fake_rpi.RPi)
    monkeypatch.setitem(sys.modules, "RPi.GPIO", fake_rpi.RPi.GPIO)
    missing(monkeypatch, "lgpio")
    monkeypatch.setattr("gpiozero.pins.local.LocalPiFactory._get_revision", lambda _: 0xA02082)  # a Pi 3B
    board(monkeypatch, {0: "pinctrl-bcm2835"})
    pins = Pins(open_pi_pins, clock)
    lights = GpioLights(pins, PINS)
    lights.show(Symbols((Symbol.STAR, Symbol.SQUARE)))
    assert {symbol for symbol, pin in PINS.items() if levels[pin]} == {Symbol.STAR, Symbol.SQUARE}
    assert lights.faults() == []
    lights.close()
    assert not any(levels.values())
    pins.close()
    assert caplog.messages == [
        "lights and push button through RPi.GPIO: the Python module lgpio is missing: install python3-lgpio"
    ]
    capsys.readouterr()
