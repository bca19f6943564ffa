"""A sheet of paper in millimetres: the SVG that the wiring's drawings are made of."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Point = tuple[float, float]

A4_MM = (210.0, 297.0)
"""ISO 216, upright."""

STYLE = """
text { font-family: "DejaVu Sans", "Noto Sans", Arial, Helvetica, sans-serif; fill: #22262b; font-size: 2.9px }
.title { font-size: 6px; font-weight: bold } .head { font-size: 3.8px; font-weight: bold }
.small { font-size: 2.5px; fill: #4a5058 } .mid { text-anchor: middle } .end { text-anchor: end }
.bold { font-weight: bold } .white { fill: #fff } .note { font-size: 2.7px; fill: #4a5058 }
.line, .thin, .dash, .wire { fill: none; stroke: #22262b; stroke-linecap: round; stroke-linejoin: round }
.line { stroke-width: .4 } .thin { stroke-width: .2 } .dash { stroke-width: .25; stroke-dasharray: 1.6 1.1 }
.wire { stroke-width: .55 } .dot { fill: #22262b } .box { fill: #fff; stroke: #22262b; stroke-width: .35 }
.panel { fill: #f3f5f7; stroke: #9aa3ad; stroke-width: .25 } .v5 { stroke: #b3261e } .v3 { stroke: #d9730d }
.ground { stroke: #22262b } .sda { stroke: #1f5fbf } .scl { stroke: #1b8a4b } .signal { stroke: #7a3fa0 }
.pin-5 { fill: #f2b8b5 } .pin-3 { fill: #fbd9ae } .pin-ground { fill: #d5dadf } .pin-used { fill: #e3d3ef }
.chip-0 { fill: #cfe3f7 } .chip-1 { fill: #f8e0b8 } .chip-2 { fill: #cfe9cf } .chip-3 { fill: #ead3ee }
"""
SIZES_MM = {"title": 6.0, "head": 3.8, "small": 2.5, "note": 2.7}
PLAIN_MM = 2.9
"""Letters as in `STYLE`."""
LETTER = 0.66
"""Mean width of a bold letter as a share of its size, generously, since the reader's font is not ours."""
CHIP_STYLES = ("chip-0", "chip-1", "chip-2", "chip-3")
"""Pale, and told apart in grey print by what stands on them; four chips are the most (MPR121 data sheet, 4.1)."""


class Paper:
    """Collects shapes; points and sizes in millimetres from the upper left corner."""

    def __init__(self, title: str, width_mm: float, height_mm: float) -> None:
        self.title, self.width_mm, self.height_mm = title, width_mm, height_mm
        self._parts: list[str] = []

    def svg(self) -> str:
        """The whole file. Its page has no margins, so that a browser prints it at its true size."""
        width, height = _n(self.width_mm), _n(self.height_mm)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}mm" height="{height}mm" '
            f'viewBox="0 0 {width} {height}">\n<title>{escape(self.title)}</title>'
            f"<style>@page {{ size: {width}mm {height}mm; margin: 0 }}{STYLE}</style>\n"
            f'<rect width="{width}" height="{height}" fill="#fff"/>'
        )
        return "\n".join([head, *self._parts, "</svg>\n"])

    def text(
        self, x: float, y: float, text: str, style: str = "", *, within_mm: float = math.inf, turn: int = 0
    ) -> None:
        """A line of text on the base line `y`.

        Args:
            x: its start, or what `style` says: middle or end.
            y: its base line.
            text: what stands there.
            style: one or more of the classes above.
            within_mm: letters are pressed together where the text would be longer.
            turn: degrees, clockwise.
        """
        size = next((each for kind, each in SIZES_MM.items() if kind in style.split()), PLAIN_MM)
        pressed = ""
        if len(text) * size * LETTER > within_mm:
            pressed = f' textLength="{_n(within_mm)}" lengthAdjust="spacingAndGlyphs"'
        turned = f' transform="rotate({turn} {_n(x)} {_n(y)})"' if turn else ""
        self._add(f'<text x="{_n(x)}" y="{_n(y)}"{_class(style)}{pressed}{turned}>{escape(text)}</text>')

    def lines(self, x: float, y: float, texts: Iterable[str], style: str = "", step: float = 3.9) -> None:
        """Lines of text, one below the other."""
        for number, text in enumerate(texts):
            self.text(x, y + number * step, text, style)

    def path(self, points: Iterable[Point], style: str = "line", *, closed: bool = False) -> None:
        """Straight lines from point to point."""
        corners = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        self._add(f'<path d="M{corners}{"Z" if closed else ""}"{_class(style)}/>')

    def box(self, x: float, y: float, width: float, height: float, style: str = "box", *, radius: float = 0.0) -> None:
        """A rectangle, its corners rounded by `radius`."""
        corner = f' rx="{_n(radius)}"' if radius else ""
        self._add(f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"{corner}{_class(style)}/>')

    def circle(self, at: Point, radius: float, style: str = "box") -> None:
        """A circle."""
        self._add(f'<circle cx="{_n(at[0])}" cy="{_n(at[1])}" r="{_n(radius)}"{_class(style)}/>')

    def ring(self, at: Point, inner: float, outer: float, style: str = "box") -> None:
        """A ring, the inside left open."""
        x, y = at
        turns = " ".join(
            f"M{_n(x - radius)} {_n(y)}a{_n(radius)} {_n(radius)} 0 1 0 {_n(2 * radius)} 0"
            f"a{_n(radius)} {_n(radius)} 0 1 0 {_n(-2 * radius)} 0z"
            for radius in (outer, inner)
        )
        self._add(f'<path d="{turns}" fill-rule="evenodd"{_class(style)}/>')

    def clip(self, x: float, y: float, width: float, height: float) -> None:
        """What follows up to `unclip` is seen in this rectangle only."""
        window = f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"/>'
        self._add(f'<clipPath id="window">{window}</clipPath><g clip-path="url(#window)">')

    def unclip(self) -> None:
        """End of `clip`."""
        self._add("</g>")

    def _add(self, shape: str) -> None:
        self._parts.append(shape)


def _class(style: str) -> str:
    return f' class="{style}"' if style else ""


def _n(number: float) -> str:
    """A number, exact to a hundredth of a millimetre, as short as can be."""
    text = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
