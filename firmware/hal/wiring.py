"""Which wire goes where: `wiring.toml`, read and checked."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware.config import read_table
from firmware.hal.registers import ELECTRODES
from firmware.terms import FIGURES, SYMBOLS, TOUCHES, Figure, Symbol, Touch

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from firmware.config import Table

OWN_WIRING = Path(__file__).with_name("wiring.toml")

LOWEST_ADDRESS = 0x5A
HIGHEST_ADDRESS = 0x5D
"""ADDR to VSS, VDD, SDA or SCL (MPR121 data sheet, 4.1): four chips on a bus at most."""

HIGHEST_PIN = 27
"""BCM 0 to 27 are on the 40-pin header."""

RESERVED_PINS = {
    0: "the HAT EEPROM",
    1: "the HAT EEPROM",
    2: "I2C (SDA)",
    3: "I2C (SCL)",
    14: "the UART",
    15: "the UART",
    18: "I2S sound",
    19: "I2S sound",
    20: "I2S sound",
    21: "I2S sound",
}
"""What the other BCM pins of this build are for."""

SPI_PINS = dict.fromkeys((7, 8, 9, 10, 11), "SPI (the MCP3008)")
"""Taken where an MCP3008 measures the batteries; GPIO 7 is CE1, which the kernel takes with the others."""

ADC_REFERENCE_V = 3.3
"""What the MCP3008 compares with: its VREF at 3V3."""


class FigureMethod(StrEnum):
    """How figures are told apart."""

    CAPACITOR = "capacitor"
    RAILS = "rails"
    COLOUR_PADS = "colour-pads"
    NOTHING = "nothing"


class Rail(StrEnum):
    """The three rings round every field's centre, each joined over the whole board and led to one electrode."""

    A = "a"
    B = "b"
    C = "c"


RAIL_CODES = {
    Figure.WHITE: frozenset({Rail.A}),
    Figure.RED: frozenset({Rail.B}),
    Figure.GREEN: frozenset({Rail.C}),
    Figure.BLACK: frozenset(Rail),
}
"""Which rails a figure's foot joins to the centre: one or three, so that one too few or too many is nobody's code."""


@dataclass(frozen=True, slots=True)
class ChipWiring:
    """One MPR121: its name, I2C address, and the electrode of each pad.

    `badges` are the colour pads: who is asked for a colour touches the one of the own figure.
    """

    name: str
    address: int
    touches: Mapping[Touch, int]
    fields: Mapping[str, int]
    rails: Mapping[Rail, int] = field(default_factory=dict)
    badges: Mapping[Figure, int] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """1 to 4, by address: how the chip is spoken of."""
        return self.address - LOWEST_ADDRESS + 1

    @property
    def title(self) -> str:
        """Name and address, for people."""
        return f"MPR121 {self.name!r} at 0x{self.address:02X}"

    def pad_title(self, pad: str) -> str:
        """A pad of this chip and where to find it, for people."""
        return f"pad {pad} ({self.title}, electrode {self.wires[pad]})"

    @property
    def wires(self) -> dict[str, int]:
        """The electrode of every pad, by name."""
        kinds: tuple[Mapping[Any, int], ...] = (self.touches, self.fields, self.rails, self.badges)
        return {str(pad): electrode for pads in kinds for pad, electrode in pads.items()}

    @property
    def electrodes(self) -> int:
        """How many electrodes to enable, from ELE0 up (register 0x5E, ELE_EN)."""
        return 1 + max(self.wires.values(), default=-1)

    @property
    def pads(self) -> tuple[str, ...]:
        """The names of all pads, by electrode."""
        wires = self.wires
        return tuple(sorted(wires, key=wires.__getitem__))


@dataclass(frozen=True, slots=True)
class BatteryAdc:
    """A voltage divider behind an MCP3008: the channel it is at, its factor, and the voltage below which it is weak."""

    channel: int
    divider: float
    low_v: float


@dataclass(frozen=True, slots=True)
class Wiring:
    """Every wire; pins are BCM numbers, capacitors in picofarads."""

    bus: int
    clock_hz: int
    chips: tuple[ChipWiring, ...]
    lights: Mapping[Symbol, int]
    button: int
    battery_low: int | None
    figure_method: FigureMethod
    capacitor_pf: Mapping[Figure, float]
    battery_adc: BatteryAdc | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """All field names, chip by chip."""
        return tuple(field for chip in self.chips for field in chip.fields)

    @property
    def rail_chip(self) -> ChipWiring | None:
        """The chip with the three rails, if the board has any."""
        return next((chip for chip in self.chips if chip.rails), None)

    @property
    def badges(self) -> tuple[Figure, ...]:
        """The figures that have a colour pad: all four or none."""
        return tuple(figure for figure in FIGURES if any(figure in chip.badges for chip in self.chips))

    @property
    def places(self) -> dict[str, tuple[int, int]]:
        """Where every pad is wired, chip by chip: the chip's address and the electrode."""
        return {pad: (chip.address, electrode) for chip in self.chips for pad, electrode in chip.wires.items()}

    def chip_of(self, pad: str) -> ChipWiring:
        """The chip that `pad` of any kind is wired to; KeyError if there is none."""
        for chip in self.chips:
            if pad in chip.wires:
                return chip
        raise KeyError(pad)


def load_wiring(path: Path | None, fields: Collection[str]) -> Wiring:
    """Read a wiring file, or the one that comes with the firmware if `path` is None.

    Args:
        path: the TOML file.
        fields: the names of the board's fields; each must have an electrode.

    Raises:
        ConfigError: something is wrong, missing or used twice; file, line and key are named.
    """
    root = read_table(path or OWN_WIRING)
    i2c = root.table("i2c")
    bus, clock_hz = i2c.whole("bus", 1, low=0), i2c.whole("clock_hz", 400_000, low=10_000, high=400_000)
    i2c.done()
    chips = _chips(root.table("chips"), root, fields)
    pins = _Pins()
    battery_table = root.table("battery", optional=True)
    battery_adc = _battery_adc(battery_table)
    if battery_adc is not None:
        pins.reserve(SPI_PINS)
    lights_table = root.table("lights")
    lights = {symbol: pins.take(lights_table, symbol) for symbol in SYMBOLS}
    lights_table.done()
    button_table = root.table("button")
    button = pins.take(button_table, "pin")
    button_table.done()
    battery_low = pins.take(battery_table, "low_pin") if "low_pin" in battery_table else None
    battery_table.done()
    figures = root.table("figures", optional=True)
    method = FigureMethod(figures.text("method", FigureMethod.CAPACITOR, choices=tuple(FigureMethod)))
    _check_method(method, figures, chips)
    capacitor_pf = _capacitors(figures.table("capacitor_pf", optional=True))
    figures.done()
    root.done()
    return Wiring(bus, clock_hz, chips, lights, button, battery_low, method, capacitor_pf, battery_adc)


def _chips(table: Table, root: Table, fields: Collection[str]) -> tuple[ChipWiring, ...]:
    chips: list[ChipWiring] = []
    wired: dict[tuple[str, int], str] = {}
    for name in table:
        chip_table = table.table(name)
        address = chip_table.whole("address")
        if not LOWEST_ADDRESS <= address <= HIGHEST_ADDRESS:
            span = f"0x{LOWEST_ADDRESS:02X} to 0x{HIGHEST_ADDRESS:02X}, by its ADDR wire"
            raise chip_table.error("address", f"must be {span}, is {hex(address)}")
        for other in chips:
            if other.address == address:
                raise chip_table.error("address", f"0x{address:02X} is the address of chip {other.name} already")
        touch_table = chip_table.table("touch_fields", optional=True)
        field_table = chip_table.table("fields", optional=True)
        rail_table = chip_table.table("rails", optional=True)
        badge_table = chip_table.table("colour_pads", optional=True)
        chip_table.done()
        chip = ChipWiring(
            name,
            address,
            touches={Touch(pad): number for pad, number in _electrodes(touch_table, TOUCHES, wired)},
            fields=dict(_electrodes(field_table, fields, wired)),
            rails={Rail(pad): number for pad, number in _electrodes(rail_table, tuple(Rail), wired)},
            badges={Figure(pad): number for pad, number in _electrodes(badge_table, FIGURES, wired)},
        )
        if not chip.wires:
            raise table.error(name, "has no pads; leave a chip out that is not wired")
        chips.append(chip)
    _check_complete(chips, root, fields)
    return tuple(chips)


def _electrodes(table: Table, known: Collection[str], wired: dict[tuple[str, int], str]) -> list[tuple[str, int]]:
    """The pads of one table with their electrodes; `wired` collects every (chip, electrode) that is taken."""
    chip, kind = table.path[1:]
    pairs: list[tuple[str, int]] = []
    for pad in table:
        if pad not in known:
            raise table.error(pad, f"is not one of the {kind.replace('_', ' ')}: {', '.join(sorted(known))}")
        electrode = table.whole(pad, low=0, high=ELECTRODES - 1)
        for (other, _), taken in wired.items():
            if taken == pad:
                raise table.error(pad, f"is wired to chip {other} already")
        if (chip, electrode) in wired:
            raise table.error(pad, f"electrode {electrode} of chip {chip} is wired to {wired[chip, electrode]} already")
        wired[chip, electrode] = pad
        pairs.append((pad, electrode))
    return pairs


def _check_complete(chips: list[ChipWiring], root: Table, fields: Collection[str]) -> None:
    wired = {pad for chip in chips for pad in chip.wires}
    together = {"six Touch fields": [chip.name for chip in chips if chip.touches]}
    together["three rails"] = [chip.name for chip in chips if chip.rails]
    for pads, names in together.items():
        if len(names) > 1:
            raise root.error("chips", f"the {pads} must be on one chip, they are on {' and '.join(names)}")
    missing = [pad for pad in (*TOUCHES, *fields) if pad not in wired]
    if together["three rails"]:
        missing += [f"rail {rail}" for rail in Rail if rail not in wired]
    if any(chip.badges for chip in chips):
        missing += [f"the {figure} colour pad" for figure in FIGURES if figure not in wired]
    if missing:
        raise root.error("chips", f"no electrode is given for {', '.join(missing)}")


def _check_method(method: FigureMethod, figures: Table, chips: Collection[ChipWiring]) -> None:
    """Whether the method has the pads that it goes by, and rails their method: only rails need figures of their own."""
    rails = any(chip.rails for chip in chips)
    if method is FigureMethod.RAILS and not rails:
        raise figures.error("method", "is 'rails', but no chip has any; wire a, b and c in a table chips.NAME.rails")
    if rails and method is not FigureMethod.RAILS:
        raise figures.error("method", f"must be 'rails' where a chip has them, is '{method}'")
    if method is FigureMethod.COLOUR_PADS and not any(chip.badges for chip in chips):
        raise figures.error(
            "method", "is 'colour-pads', but no chip has any; wire the four in a table chips.NAME.colour_pads"
        )


class _Pins:
    """GPIO pins taken so far."""

    def __init__(self) -> None:
        self._used: dict[int, str] = {}
        self._reserved = dict(RESERVED_PINS)

    def reserve(self, pins: Mapping[int, str]) -> None:
        """These are for something else, too."""
        self._reserved.update(pins)

    def take(self, table: Table, key: str) -> int:
        pin = table.whole(key, low=0, high=HIGHEST_PIN)
        owner = ".".join((*table.path, key))
        if pin in self._reserved:
            raise table.error(key, f"GPIO {pin} is needed for {self._reserved[pin]}; take another")
        if pin in self._used:
            raise table.error(key, f"GPIO {pin} is used for {self._used[pin]} already")
        self._used[pin] = owner
        return pin


def _battery_adc(table: Table) -> BatteryAdc | None:
    if "mcp3008_channel" not in table:
        for key in ("divider", "low_v"):
            if key in table:
                raise table.error(key, "is for an MCP3008; give its mcp3008_channel")
        return None
    if "low_pin" in table:
        raise table.error("mcp3008_channel", "the batteries have a low_pin already; one of the two watches them")
    channel = table.whole("mcp3008_channel", low=0, high=7)
    divider = table.number("divider", 3.0, low=1.0, high=100.0)
    low_v = table.number("low_v", 4.4, low=0.1)
    if low_v >= ADC_REFERENCE_V * divider:
        highest = f"the divider ends at {ADC_REFERENCE_V * divider:g} V ({ADC_REFERENCE_V} V at the MCP3008)"
        raise table.error("low_v", f"{low_v:g} V cannot be measured; {highest}")
    return BatteryAdc(channel, divider, low_v)


SMALLEST_STEP = 1.5
"""Neighbouring capacitors must differ by this factor, or hand and body blur them into one."""


def _capacitors(table: Table) -> Mapping[Figure, float]:
    usual = {Figure.WHITE: 3.3, Figure.RED: 6.8, Figure.GREEN: 15.0, Figure.BLACK: 33.0}
    capacitor_pf = {figure: table.number(figure, usual[figure], low=1.0, high=100.0) for figure in FIGURES}
    table.done()
    ordered = sorted(capacitor_pf.items(), key=lambda pair: pair[1])
    for (smaller, low_pf), (larger, high_pf) in itertools.pairwise(ordered):
        if high_pf < SMALLEST_STEP * low_pf:
            raise table.error(
                larger, f"{high_pf:g} pF is too near to {smaller}'s {low_pf:g} pF; the factor must be {SMALLEST_STEP}"
            )
    return capacitor_pf
