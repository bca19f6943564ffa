"""wiring.toml: the file that comes with the firmware, and one clear line for each way to get a copy wrong."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from firmware.config import ConfigError
from firmware.hal.wiring import RAIL_CODES, RESERVED_PINS, FigureMethod, Rail, load_wiring
from firmware.terms import FIGURES, SYMBOLS, TOUCHES, Figure

if TYPE_CHECKING:
    from pathlib import Path

BOARD = tomllib.loads((files("firmware.game.insel") / "board.toml").read_text(encoding="utf-8"))
FIELDS = tuple(BOARD["layout"])
SHIPPED = (files("firmware.hal") / "wiring.toml").read_text(encoding="utf-8")


def test_the_shipped_wiring_serves_every_pad_once() -> None:
    wiring = load_wiring(None, FIELDS)
    assert sorted(wiring.fields) == sorted(FIELDS)
    assert len(FIELDS) == 23
    assert set(wiring.chip_of("rock").touches) == set(TOUCHES)
    assert [chip.address for chip in wiring.chips] == [0x5A, 0x5B, 0x5C]
    assert sum(len(chip.pads) for chip in wiring.chips) == 29


def test_the_shipped_wiring_leaves_only_top_electrodes_unused() -> None:
    for chip in load_wiring(None, FIELDS).chips:
        assert sorted((*chip.touches.values(), *chip.fields.values())) == list(range(chip.electrodes))
        assert chip.electrodes < 12


def test_pads_are_named_in_the_order_of_their_electrodes() -> None:
    chip = load_wiring(None, FIELDS).chip_of("rock")
    assert chip.pads[:6] == ("rock", "explore", "one", "two", "three", "fire")
    assert load_wiring(None, FIELDS).chip_of(chip.pads[6]) == chip


def test_the_shipped_pins_keep_clear_of_i2c_sound_and_uart() -> None:
    wiring = load_wiring(None, FIELDS)
    assert wiring.battery_low is not None
    pins = [*wiring.lights.values(), wiring.button, wiring.battery_low]
    assert len(set(pins)) == 7
    assert set(wiring.lights) == set(SYMBOLS)
    assert not set(pins) & set(RESERVED_PINS)


def test_the_shipped_figures_carry_four_capacitors() -> None:
    wiring = load_wiring(None, FIELDS)
    assert wiring.figure_method is FigureMethod.CAPACITOR
    assert [wiring.capacitor_pf[figure] for figure in FIGURES] == [3.3, 6.8, 15.0, 33.0]


def copy(tmp_path: Path, old: str, new: str) -> Path:
    assert SHIPPED.count(old) == 1, "the line to spoil must be found once"
    path = tmp_path / "wiring.toml"
    path.write_text(SHIPPED.replace(old, new), encoding="utf-8")
    return path


def line_of(text: str) -> int:
    return 1 + SHIPPED[: SHIPPED.index(text)].count("\n")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("beach-ne = 0\n", "beach-ne = 12\n", "chips.coast.fields.beach-ne: must be from 0 to 11, is 12"),
        ("beach-ne = 0\n", "beach-ne = -1\n", "chips.coast.fields.beach-ne: must be from 0 to 11, is -1"),
        ("beach-ne = 0\n", "beach-xx = 0\n", "chips.coast.fields.beach-xx: is not one of the fields: beach-ne, "),
        ("rock = 0\n", "stone = 0\n", "chips.touch.touch_fields.stone: is not one of the touch fields: explore, "),
        ("ruin-w = 9\n", "", "chips: no electrode is given for ruin-w"),
        ("fire = 5\n", "", "chips: no electrode is given for fire"),
        ("ruin-w = 9\n", "beach-s = 9\n", "chips.jungle.fields.beach-s: is wired to chip coast already"),
        ("ruin-w = 9\n", "ruin-w = 8\n", "ruin-w: electrode 8 of chip jungle is wired to ruin-s already"),
        ("mountain-ne = 6\n", "mountain-ne = 0\n", "mountain-ne: electrode 0 of chip touch is wired to rock already"),
        ("address = 0x5C", "address = 0x5B", "chips.jungle.address: 0x5B is the address of chip coast already"),
        ("address = 0x5C", "address = 0x58", "chips.jungle.address: must be 0x5A to 0x5D, by its ADDR wire, is 0x58"),
        ("star = 5 ", "star = 2 ", "lights.star: GPIO 2 is needed for I2C (SDA); take another"),
        ("star = 5 ", "star = 18 ", "lights.star: GPIO 18 is needed for I2S sound; take another"),
        ("pin = 17 ", "pin = 14 ", "button.pin: GPIO 14 is needed for the UART; take another"),
        ("pin = 17 ", "pin = 5 ", "button.pin: GPIO 5 is used for lights.star already"),
        ("low_pin = 27", "low_pin = 17", "battery.low_pin: GPIO 17 is used for button.pin already"),
        ("low_pin = 27", "low_pin = 28", "battery.low_pin: must be from 0 to 27, is 28"),
        ("star = 5 ", "moon = 5 ", "lights.star: is missing; it must be a whole number"),
        (
            'method = "capacitor"',
            'method = "magic"',
            "figures.method: must be one of capacitor, rails, colour-pads, nothing, is 'magic'",
        ),
        ("red = 6.8", "red = 3.6", "figures.capacitor_pf.red: 3.6 pF is too near to white's 3.3 pF"),
        ("clock_hz = 400000", "clock_hz = 1000000", "i2c.clock_hz: must be from 10000 to 400000, is 1000000"),
        ("bus = 1 ", 'bus = "1" ', "i2c.bus: must be a whole number, is '1'"),
        ("bus = 1 ", "bus = 1\nspeed = 3", "i2c.speed: is not a key here; known: bus, clock_hz"),
    ],
)
def test_a_wrong_copy_is_named_in_one_line(tmp_path: Path, old: str, new: str, problem: str) -> None:
    path = copy(tmp_path, old, new)
    with pytest.raises(ConfigError) as caught:
        load_wiring(path, FIELDS)
    assert problem in str(caught.value)
    assert str(caught.value).startswith(f"{path}:")
    assert "\n" not in str(caught.value)


def test_the_line_of_a_wrong_electrode_is_named(tmp_path: Path) -> None:
    path = copy(tmp_path, "statue-s = 7\n", "statue-s = 99\n")
    with pytest.raises(ConfigError, match=rf":{line_of('statue-s = 7')}: chips\.coast\.fields\.statue-s"):
        load_wiring(path, FIELDS)


def test_the_touch_fields_must_share_a_chip(tmp_path: Path) -> None:
    text = SHIPPED.replace("fire = 5\n", "").replace(
        "[chips.coast.fields]", "[chips.coast.touch_fields]\nfire = 11\n\n[chips.coast.fields]"
    )
    path = tmp_path / "wiring.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="the six Touch fields must be on one chip, they are on touch and coast"):
        load_wiring(path, FIELDS)


RAILS = "[chips.rails]\naddress = 0x5D\n[chips.rails.rails]\na = 0\nb = 1\nc = 2\n"
COLOUR_PADS = "[chips.colours]\naddress = 0x5D\n[chips.colours.colour_pads]\nwhite = 0\nred = 1\ngreen = 2\nblack = 3\n"


def with_method(tmp_path: Path, method: str, chip: str = "") -> Path:
    """A copy that tells figures apart by `method`, with one chip more."""
    path = copy(tmp_path, 'method = "capacitor"', f'method = "{method}"')
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{chip}", encoding="utf-8")
    return path


def test_a_board_with_rails(tmp_path: Path) -> None:
    wiring = load_wiring(with_method(tmp_path, "rails", RAILS), FIELDS)
    assert wiring.figure_method is FigureMethod.RAILS
    assert wiring.rail_chip is wiring.chip_of("b")
    assert wiring.rail_chip is not None
    assert wiring.rail_chip.rails == {Rail.A: 0, Rail.B: 1, Rail.C: 2}
    assert wiring.rail_chip.pads == ("a", "b", "c")
    assert wiring.rail_chip.electrodes == 3
    assert load_wiring(None, FIELDS).rail_chip is None


def test_one_rail_too_few_or_too_many_is_nobody_s_code() -> None:
    codes = {code: figure for figure, code in RAIL_CODES.items()}
    assert set(codes.values()) == set(FIGURES)
    for code in codes:
        for rail in Rail:
            assert code ^ {rail} not in codes


@pytest.mark.parametrize("method", ["colour-pads", "capacitor", "nothing"])
def test_colour_pads_go_with_every_method(tmp_path: Path, method: str) -> None:
    wiring = load_wiring(with_method(tmp_path, method, COLOUR_PADS), FIELDS)
    assert wiring.badges == FIGURES
    assert wiring.chip_of("green").badges[Figure.GREEN] == 2
    assert wiring.chip_of("green").electrodes == 4
    assert load_wiring(None, FIELDS).badges == ()


@pytest.mark.parametrize(
    ("method", "chip", "problem"),
    [
        ("rails", "", "figures.method: is 'rails', but no chip has any; wire a, b and c"),
        ("colour-pads", "", "figures.method: is 'colour-pads', but no chip has any; wire the four"),
        ("capacitor", RAILS, "figures.method: must be 'rails' where a chip has them, is 'capacitor'"),
        ("rails", RAILS.replace("b = 1\n", ""), "chips: no electrode is given for rail b"),
        (
            "rails",
            RAILS.replace("b = 1", "b = 0"),
            "chips.rails.rails.b: electrode 0 of chip rails is wired to a already",
        ),
        ("rails", RAILS.replace("c = 2", "d = 2"), "chips.rails.rails.d: is not one of the rails: a, b, c"),
        (
            "rails",
            RAILS.replace("c = 2\n", "[chips.jungle.rails]\nc = 11\n"),
            "chips: the three rails must be on one chip, they are on jungle and rails",
        ),
        ("nothing", COLOUR_PADS.replace("red = 1\n", ""), "chips: no electrode is given for the red colour pad"),
        (
            "nothing",
            COLOUR_PADS.replace("red", "blue"),
            "chips.colours.colour_pads.blue: is not one of the colour pads: black, green, red, white",
        ),
    ],
)
def test_rails_and_colour_pads_are_all_there_or_none(tmp_path: Path, method: str, chip: str, problem: str) -> None:
    path = with_method(tmp_path, method, chip)
    with pytest.raises(ConfigError) as caught:
        load_wiring(path, FIELDS)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_board_on_mains_needs_no_battery_pin(tmp_path: Path) -> None:
    path = copy(tmp_path, "low_pin = 27 ", "# low_pin = 27 ")
    assert load_wiring(path, FIELDS).battery_low is None
