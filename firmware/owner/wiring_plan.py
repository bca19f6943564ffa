"""The wiring plan: the Pi's header, the chips, lights, button, amplifier and supply, drawn from `wiring.toml`.

One A4 sheet on its side. Pins are drawn as on the Pi with the header at its right edge, pin 1 at the top left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from firmware.hal.registers import ELECTRODES
from firmware.hal.wiring import LOWEST_ADDRESS
from firmware.owner.paper import A4_MM, CHIP_STYLES, Paper

if TYPE_CHECKING:
    from firmware.hal.wiring import ChipWiring, Wiring

V5, V3, GND = "5 V", "3.3 V", "ground"
HEADER: tuple[str | int, ...] = (
    *(V3, V5, 2, V5, 3, GND, 4, 14, GND, 15, 17, 18, 27, GND, 22, 23, V3, 24, 10, GND),
    *(9, 25, 11, 8, GND, 7, 0, 1, 5, GND, 6, 12, 13, GND, 19, 16, 26, 20, GND, 21),
)
"""Pins 1 to 40 of the header: the BCM number, or what supplies them (Raspberry Pi documentation, GPIO)."""
PIN_OF = {each: number for number, each in enumerate(HEADER, 1) if isinstance(each, int)}
"""BCM number -> pin of the header."""

HEADER_BUS = 1
"""The I2C bus on GPIO 2 and 3 of every Raspberry Pi header."""
I2C_SDA, I2C_SCL, I2S_CLOCK, I2S_FRAME, I2S_DATA = 2, 3, 18, 19, 21
FIXED = {
    I2C_SDA: "SDA",
    I2C_SCL: "SCL",
    I2S_CLOCK: "I2S clock",
    I2S_FRAME: "I2S frame",
    I2S_DATA: "I2S data",
}
SPI = {8: "CS", 9: "DOUT", 10: "DIN", 11: "CLK"}
"""The first SPI of the Pi (CE0, MISO, MOSI, SCLK) at the terminals of an MCP3008 (its data sheet, 3.0)."""
MCP3008_SUPPLY_PIN = 17
ADDR_TO = (GND, V3, "SDA", "SCL")
"""Where ADDR goes for 0x5A, 0x5B, 0x5C and 0x5D (MPR121 data sheet, 4.1)."""

SUPPLY_V = 3.3
LIGHT_MA = 5.0
"""Below the 8 mA that a pin drives by default; five of them are half of the 50 mA that all pins together may give."""
FORWARD_V = {"red": 1.9, "yellow": 2.0, "green": 2.1, "blue or white": 3.0}
"""Typical of 5 mm LEDs at 5 mA; the data sheet of one's own knows better (green ones of the bright kind need 3 V)."""
E12 = (10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82)
"""Series of resistors in a decade (IEC 60063)."""


def resistor_ohm(forward_v: float, current_ma: float = LIGHT_MA) -> int:
    """The resistor for a light: the next value of the E12 series that lets no more than this current flow."""
    least = (SUPPLY_V - forward_v) / current_ma * 1000
    return min(ohm * step for step in (1, 10, 100, 1000) for ohm in E12 if ohm * step >= least)


class Net(NamedTuple):
    """A wire of the bus: its colour, the pin it starts at, the place of its trunk and of its rail across the sheet."""

    style: str
    pin: int
    trunk_x: float
    rail_y: float


BUS = {
    V3: Net("wire v3", 1, 10, 143),
    "SDA": Net("wire sda", 3, 15, 139),
    "SCL": Net("wire scl", 5, 20, 135),
    GND: Net("wire ground", 9, 25, 131),
}
"""Nested, so that no two cross."""

LEFT_X, RIGHT_X = 128.0, 136.0
TOP_Y, ROW_MM = 25.0, 5.0
PIN_MM = 4.4
LABEL_MM = 20.0
MARGIN_MM = 10.0
CHIP_Y, CHIP_MM = 150.0, 48.0


def draw_plan(wiring: Wiring) -> str:
    """The whole SVG file."""
    return _Plan(wiring).draw()


def _row_y(pin: int) -> float:
    return TOP_Y + (pin - 1) // 2 * ROW_MM


class _Plan:
    def __init__(self, wiring: Wiring) -> None:
        height, width = A4_MM
        self._wiring = wiring
        self._paper = Paper("Wiring plan of the volcano", width, height)

    def draw(self) -> str:
        paper, wiring = self._paper, self._wiring
        paper.text(MARGIN_MM, 12, "Wiring plan of the volcano", "title")
        speed = f"I2C bus {wiring.bus} at {wiring.clock_hz // 1000} kHz"
        paper.text(MARGIN_MM, 17, f"{speed}. A dot joins wires, a crossing does not.", "small")
        self._header()
        self._bus()
        for place, chip in enumerate(wiring.chips):
            self._chip(place, chip)
        for symbol, gpio in wiring.lights.items():
            self._light(gpio, symbol)
        self._button(wiring.button)
        self._amplifier()
        self._supply()
        values = ", ".join(f"{colour} {resistor_ohm(volts)} Ω" for colour, volts in FORWARD_V.items())
        formula = f"R = ({SUPPLY_V} V - forward voltage of the LED) / {LIGHT_MA:g} mA, next value up: {values}."
        paper.text(MARGIN_MM, 205, formula, "small")
        return paper.svg()

    # --- the Pi

    def _header(self) -> None:
        paper = self._paper
        paper.box(LEFT_X - 4, TOP_Y - 4, 16, 19 * ROW_MM + 8, "panel", radius=1.5)
        paper.text(RIGHT_X - 4, TOP_Y - 6, "Raspberry Pi, 40 pins", "head mid")
        used = self._used()
        for pin, each in enumerate(HEADER, 1):
            left = pin % 2 == 1
            x, y = (LEFT_X if left else RIGHT_X), _row_y(pin)
            paper.box(x - PIN_MM / 2, y - PIN_MM / 2, PIN_MM, PIN_MM, _pin_style(each, pin in used))
            paper.text(x, y + 0.9, str(pin), "small mid")
            name = each if isinstance(each, str) else f"GPIO {each}"
            style = "" if pin in used else "small"
            paper.text(x - 5 if left else x + 5, y + 1, name, f"{style} end".strip() if left else style)

    def _used(self) -> set[int]:
        wiring = self._wiring
        pins = {PIN_OF[gpio] for gpio in (*FIXED, *wiring.lights.values(), wiring.button)}
        if wiring.battery_low is not None:
            pins.add(PIN_OF[wiring.battery_low])
        if wiring.battery_adc is not None:
            pins |= {PIN_OF[gpio] for gpio in SPI} | {MCP3008_SUPPLY_PIN}
        return pins | {net.pin for net in BUS.values()} | {2, 4, 6, 14}

    def _start(self, gpio: int) -> tuple[float, float, int]:
        """Where a pin's wire starts beside its label, and which way it goes: -1 left, 1 right."""
        pin = PIN_OF[gpio]
        way = -1 if pin % 2 else 1
        return (LEFT_X - LABEL_MM if way < 0 else RIGHT_X + LABEL_MM), _row_y(pin), way

    # --- what hangs on single pins

    def _light(self, gpio: int, symbol: str) -> None:
        """Pin, resistor, LED, ground, in one row."""
        paper = self._paper
        x, y, way = self._start(gpio)
        paper.path([(x, y), (x + 3 * way, y)], "wire signal")
        paper.box(min(x + 3 * way, x + 10 * way), y - 1.3, 7, 2.6)
        paper.text(x + 6.5 * way, y + 0.9, "R", "small mid")
        paper.path([(x + 10 * way, y), (x + 13 * way, y)], "wire signal")
        paper.path([(x + 13 * way, y - 1.6), (x + 13 * way, y + 1.6), (x + 16 * way, y)], "box", closed=True)
        paper.path([(x + 16 * way, y - 1.6), (x + 16 * way, y + 1.6)], "line")
        for step in (14, 15.5):
            paper.path([(x + step * way, y - 1.9), (x + (step + 1) * way, y - 2.7)], "thin")
        paper.path([(x + 16 * way, y), (x + 20 * way, y)], "wire ground")
        self._ground(x + 20 * way, y, way)
        self._named(x + 23 * way, y, way, f"light {symbol}")

    def _button(self, gpio: int) -> None:
        paper = self._paper
        x, y, way = self._start(gpio)
        paper.path([(x, y), (x + 6 * way, y)], "wire signal")
        paper.path([(x + 6 * way, y), (x + 12 * way, y - 2)], "line")
        paper.circle((x + 6 * way, y), 0.6, "dot")
        paper.circle((x + 12.5 * way, y), 0.6, "dot")
        paper.path([(x + 12.5 * way, y), (x + 20 * way, y)], "wire ground")
        self._ground(x + 20 * way, y, way)
        self._named(x + 23 * way, y, way, "push button")

    def _flag(self, gpio: int, text: str) -> None:
        """A wire that goes on elsewhere on the sheet, under this name."""
        x, y, way = self._start(gpio)
        self._paper.path([(x, y), (x + 20 * way, y)], "wire signal")
        self._paper.circle((x + 20 * way, y), 0.7, "dot")
        self._named(x + 23 * way, y, way, text)

    def _named(self, x: float, y: float, way: int, text: str) -> None:
        self._paper.text(x, y + 1, text, "bold end" if way < 0 else "bold")

    def _ground(self, x: float, y: float, way: int) -> None:
        for step, half in enumerate((1.5, 1.0, 0.5)):
            self._paper.path([(x + 0.6 * step * way, y - half), (x + 0.6 * step * way, y + half)], "line")

    # --- the bus and the chips

    def _bus(self) -> None:
        paper, end = self._paper, self._chip_box(len(self._wiring.chips) - 1)[0] + 42
        for name, net in BUS.items():
            y = _row_y(net.pin)
            start = (LEFT_X - LABEL_MM, y)
            paper.path([start, (net.trunk_x, y), (net.trunk_x, net.rail_y), (end, net.rail_y)], net.style)
            paper.text(
                LEFT_X - LABEL_MM - 2, y - 0.8, name if name in {"SDA", "SCL"} else f"{name} for the chips", "small end"
            )
            paper.text(end + 2, net.rail_y + 0.9, name, "small")

        pull_ups = (
            "Pull-ups of SDA and SCL:",
            "1.8 kΩ each in the Pi;",
            "with those of the",
            "boards no less than 1 kΩ",
        )
        paper.lines(28, 70, pull_ups, "small", 3.6)
        paper.lines(28, 88, ("The chips get 3.3 V,", "never 5 V"), "small", 3.6)
        if (bus := self._wiring.bus) != HEADER_BUS:
            elsewhere = (
                f"Drawn are bus {HEADER_BUS}'s pins:",
                f"bus {bus} has its own,",
                "where its overlay",
                "puts them",
            )
            paper.lines(28, 98, elsewhere, "small", 3.6)

    def _chip_box(self, place: int) -> tuple[float, float]:
        """Left edge and width."""
        count = len(self._wiring.chips)
        width = (self._paper.width_mm - 2 * MARGIN_MM - 4 * (count - 1)) / count
        return MARGIN_MM + place * (width + 4), width

    def _chip(self, place: int, chip: ChipWiring) -> None:
        paper = self._paper
        left, width = self._chip_box(place)
        paper.box(left, CHIP_Y, width, CHIP_MM, f"box {CHIP_STYLES[place]}", radius=1.5)
        address = ADDR_TO[chip.address - LOWEST_ADDRESS]
        terminals = (("VDD", V3), ("GND", GND), ("SDA", "SDA"), ("SCL", "SCL"), ("ADDR", address))
        for number, (terminal, net) in enumerate(terminals):
            x, rail = left + 6 + 9 * number, BUS[net]
            paper.path([(x, rail.rail_y), (x, CHIP_Y)], rail.style)
            paper.circle((x, rail.rail_y), 0.7, "dot")
            paper.text(x, CHIP_Y + 3.6, terminal, "small mid")
        paper.text(left + 3, CHIP_Y + 10, f"MPR121 {chip.name}", "head", within_mm=width - 20)
        paper.text(left + width - 3, CHIP_Y + 10, f"0x{chip.address:02X}", "head end")
        pads = {electrode: pad for pad, electrode in chip.wires.items()}
        kinds = {str(rail): f"rail {rail}" for rail in chip.rails} | {str(f): f"colour {f}" for f in chip.badges}
        for electrode in range(ELECTRODES):
            column, row = divmod(electrode, ELECTRODES // 2)
            x, y = left + 3 + column * width / 2, CHIP_Y + 16.5 + row * 5.4
            pad = pads.get(electrode)
            paper.box(x, y - 3, 6, 4.2, "box" if pad else "panel", radius=0.6)
            paper.text(x + 3, y + 0.1, str(electrode), "small mid")
            name, style = (kinds.get(pad, pad), "bold") if pad else ("free", "small")
            paper.text(x + 7.5, y + 0.1, name, style, within_mm=width / 2 - 10)

    # --- sound

    def _amplifier(self) -> None:
        """MAX98357A (its data sheet, Pin Description): 5 V, three wires of I2S, the speaker between + and -."""
        paper, x = self._paper, 226.0
        paper.box(x, 41, 37, 29, "box", radius=1.5)
        paper.text(x + 10, 67.5, "MAX98357A", "head")
        clock, frame, data = (PIN_OF[gpio] for gpio in (I2S_CLOCK, I2S_FRAME, I2S_DATA))
        below = _row_y(40) + 6
        wires = {
            "VIN": ("wire v5", [(RIGHT_X + LABEL_MM, _row_y(4)), (216, _row_y(4)), (216, 45)]),
            "BCLK": ("wire signal", [(RIGHT_X + LABEL_MM, _row_y(clock))]),
            "GND": ("wire ground", [(RIGHT_X + LABEL_MM, _row_y(14))]),
            "DIN": ("wire signal", [(RIGHT_X + LABEL_MM, _row_y(data)), (216, _row_y(data)), (216, 60)]),
            "LRC": (
                "wire signal",
                [
                    (LEFT_X - LABEL_MM, _row_y(frame)),
                    (LEFT_X - LABEL_MM - 1.5, _row_y(frame)),
                    (LEFT_X - LABEL_MM - 1.5, below),
                    (220, below),
                    (220, 65),
                ],
            ),
        }
        for number, (terminal, (style, points)) in enumerate(wires.items()):
            y = 45 + number * ROW_MM
            paper.path([*points, (x, y)], style)
            paper.text(x + 1.5, y + 1, terminal, "small")
        paper.lines(x + 12, 46, ("GAIN: open, 9 dB", "SD: open"), "small", 3.4)
        self._speaker(x + 37, 58)

    def _speaker(self, x: float, y: float) -> None:
        paper = self._paper
        for terminal, at in (("+", y - 2.5), ("-", y + 2.5)):
            paper.path([(x, at), (x + 7, at)], "wire signal")
            paper.text(x - 2.5, at + 1, terminal, "small")
        paper.box(x + 7, y - 4, 3.5, 8)
        paper.path([(x + 10.5, y - 4), (x + 15, y - 8), (x + 15, y + 8), (x + 10.5, y + 4)], "box", closed=True)
        paper.text(x + 9, y + 12, "speaker 8 Ω", "small mid")

    # --- supply

    def _supply(self) -> None:
        paper = self._paper
        x, y = 226.0, 20.0
        paper.path([(RIGHT_X + LABEL_MM, _row_y(2)), (x, _row_y(2))], "wire v5")
        paper.path([(RIGHT_X + LABEL_MM, _row_y(6)), (x, _row_y(6))], "wire ground")
        paper.box(x, y, 61, 18, "box", radius=1.5)
        paper.text(x + 2, _row_y(2) + 1, "+5 V", "small")
        paper.text(x + 2, _row_y(6) + 1, "ground", "small")
        paper.text(x + 15, y + 7, "isolated 5 V supply", "bold")
        paper.lines(x + 15, y + 11.5, ("through the slide switch", "never without isolation"), "small", 3.6)
        self._source(x, 82.0)

    def _source(self, x: float, top: float) -> None:
        """Where the 5 V come from; with what watches the batteries, if the wiring has it."""
        paper, low, adc = self._paper, self._wiring.battery_low, self._wiring.battery_adc
        watched = low is not None or adc is not None
        paper.box(x, top, 61, 43, "panel", radius=1.5)
        paper.text(x + 3, top + 6, "where the 5 V come from", "head")
        cells = ("4 AA cells, fuse", "slide switch", "5 V up-down converter")
        at = top
        for number, text in enumerate(cells if watched else ("power bank or adapter", "slide switch")):
            at = top + 9 + number * 8.5
            paper.box(x + 3, at, 33, 6, "box", radius=0.8)
            paper.text(x + 19.5, at + 4, text, "small mid")
            paper.path([(x + 19.5, at + 6), (x + 19.5, at + 8.5)], "wire v5")
        paper.text(x + 19.5, at + 11, "to the 5 V above", "small mid")
        if low is not None:
            self._flag(low, "weak batteries")
            self._watcher(x + 39, top, ("TC54VN43", "open drain"), (f"GPIO {low}", f"pin {PIN_OF[low]}"))
        elif adc is not None:
            for gpio, terminal in SPI.items():
                self._flag(gpio, f"MCP3008 {terminal}")
            self._watcher(x + 39, top, (f"{adc.divider:g} : 1", "divider"), ("MCP3008", f"CH{adc.channel}"))
            paper.text(x + 3, top + 40.8, f"MCP3008: VDD and VREF to 3.3 V (pin {MCP3008_SUPPLY_PIN})", "small")

    def _watcher(self, x: float, top: float, inside: tuple[str, str], leads_to: tuple[str, str]) -> None:
        """What the switched batteries are led to, and where that leads."""
        paper = self._paper
        paper.path([(x - 3, top + 20.5), (x, top + 20.5)], "wire v5")
        paper.box(x, top + 15.5, 20, 10, "box", radius=0.8)
        paper.lines(x + 10, top + 19.5, inside, "small mid", 3.6)
        paper.path([(x + 10, top + 25.5), (x + 10, top + 29)], "wire signal")
        paper.lines(x + 10, top + 32, leads_to, "small mid", 3.4)


def _pin_style(each: str | int, used: bool) -> str:
    if isinstance(each, str):
        return {V5: "box pin-5", V3: "box pin-3", GND: "box pin-ground"}[each]
    return "box pin-used" if used else "box"
