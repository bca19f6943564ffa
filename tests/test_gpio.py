"""Lights, button and battery over pins in memory; what a missing pin costs; which GPIO chip is the header's."""

from __future__ import annotations

from typing import Any

import pytest

from firmware.hal.battery import GpioBattery
from firmware.hal.gpio import (
    HEADER_LABELS,
    RETRY_S,
    GpioButton,
    GpioLights,
    Pins,
    chip_labels,
    header_chip,
    open_mock_pins,
)
from firmware.hal.ports import PinError
from firmware.terms import SYMBOLS, Symbol, Symbols

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
    pins = Pins(open_mock_pins, clock)
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


def test_labels_are_read_from_the_kernel(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gpiochip4").touch()

    def ioctl(_: Any, request: int, info: bytearray) -> int:
        assert request == 0x8044B401
        info[:64] = b"gpiochip4".ljust(32, b"\0") + HEADER_LABELS[0].encode().ljust(32, b"\0")
        return 0

    monkeypatch.setattr("fcntl.ioctl", ioctl)
    assert chip_labels(tmp_path) == {4: "pinctrl-rp1"}
