"""The overview board, drawn for printing on A4 from whatever numbers are in force (rulebook, Overview of the points).

SVG in millimetres; words from `overview.toml`, icons from the page. The same numbers give the same picture.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from firmware.config import read_table
from firmware.game.insel.board import CREATURES, RELICS
from firmware.game.insel.creatures import FOUGHT_WITH
from firmware.game.insel.tuning import MOST_RELICS
from firmware.owner.printed import printed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from firmware.config import Table
    from firmware.game.insel.tuning import Tuning
    from firmware.owner.printed import Present, Printed

WIDTH_MM, HEIGHT_MM = 210, 297
MARGIN_MM, GUTTER_MM = 12.0, 6.0
COLUMN_MM = (WIDTH_MM - 2 * MARGIN_MM - GUTTER_MM) / 2
RIGHT_MM = MARGIN_MM + COLUMN_MM + GUTTER_MM
LINE_MM = 4.0
CHARACTER_MM = 1.72
"""Mean width of a letter at the size of the rows, generously, since the reader's font is not ours."""
RELIC_ICONS = dict(zip(RELICS, ("star", "circle", "triangle", "square"), strict=True))
"""Rulebook, Relic sites and relics: a relic and its site bear the same symbol."""
SMALL_CHARACTER_MM = 1.5
COIN_MM = 7.0
"""The round field of a value."""
WORDS = Path(__file__).with_suffix(".toml")

STYLE = """
@page { size: 210mm 297mm; margin: 0 }
text { font-family: "DejaVu Serif", "Noto Serif", Georgia, "Times New Roman", serif; fill: #2b2220; font-size: 3.15px }
.title { font-size: 12px; font-weight: bold; fill: #fff7e2 } .subtitle { font-size: 4.4px; fill: #ffe9a8 }
.caption { font-size: 4.4px; font-weight: bold; fill: #8f2f1f }
.face { fill: #fdf8ea } .small { font-size: 2.75px; fill: #5d4d44 }
.value { font-size: 4.6px; font-weight: bold; text-anchor: middle; fill: #fff } .known { font-size: 4px; fill: #c8402f }
.name { font-weight: bold; font-size: 3.7px } .column { font-size: 2.75px; fill: #5d4d44; text-anchor: middle }
.panel { fill: #fdf8ea; stroke: #b79f72; stroke-width: .35 } .rule { stroke: #e0cfa4; stroke-width: .25 }
.icon { fill: #4e4039; color: #4e4039 } .stroke { fill: none; stroke: currentColor; stroke-width: 1.8;
stroke-linecap: round; stroke-linejoin: round } .thick { stroke-width: 3.4 } .thin { stroke-width: 1.2 }
.hole { fill: #fdf8ea } .relic { fill: #2f7d8c; color: #2f7d8c } .ember { fill: #c8402f; color: #c8402f }
.coin { fill: #c8402f } .teal { fill: #2f7d8c }
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a panel: icons in front, words, a value behind (empty for none), with a mark if it is known."""

    icons: tuple[str, ...]
    words: str
    value: str = ""
    known: bool = False
    colour: str = "coin"


class Box(NamedTuple):
    """A rectangle of the page, in millimetres."""

    x: float
    y: float
    width: float
    height: float


class Overview:
    """The board in one language."""

    def __init__(self, tuning: Tuning, numbers: Mapping[Printed, Present], language: str) -> None:
        self.tuning, self.numbers = tuning, numbers
        self.words: Table = read_table(WORDS).table(language)
        self._icons = _icons()
        self._used: set[str] = set()
        self._parts: list[str] = []

    def draw(self) -> str:
        """The whole SVG file."""
        self._header()
        top, tall, low, end = 39.0, 65.0, 74.0, 31.0
        self._panel(Box(MARGIN_MM, top, COLUMN_MM, tall), "relics", self._relics())
        self._panel(Box(RIGHT_MM, top, COLUMN_MM, tall), "island", self._island())
        top += tall + GUTTER_MM - 2
        self._panel(Box(MARGIN_MM, top, COLUMN_MM, low - end - 4), "cards", self._cards())
        self._panel(Box(RIGHT_MM, top, COLUMN_MM, low), "tablets", self._tablets())
        self._end(Box(MARGIN_MM, top + low - end, COLUMN_MM, end))
        self._creatures(top + low + GUTTER_MM - 2)
        icons = "".join(self._icons[name] for name in sorted(self._used))
        size = f'width="{WIDTH_MM}mm" height="{HEIGHT_MM}mm" viewBox="0 0 {WIDTH_MM} {HEIGHT_MM}"'
        head = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
            f"<title>Die Insel: {self._word('title')}</title><style>{STYLE}</style><defs>{icons}</defs>",
            f'<rect width="{WIDTH_MM}" height="{HEIGHT_MM}" fill="#fff"/>',
        ]
        return "\n".join([*head, *self._parts, "</svg>\n"])

    # --- what stands on it

    def _number(self, name: str) -> tuple[str, bool]:
        number = self.numbers[printed(name)]
        return str(number.value), number.known

    def _relics(self) -> list[Row]:
        sites = self.tuning.sites
        rows = [Row((f"{RELIC_ICONS[relic]} relic",), self._word(f"relic_{relic}")) for relic in RELICS]
        rows.append(Row((), self._word("relics_first", n=sites.discovery_relics, most=MOST_RELICS)))
        rows.append(Row(("beachcomber",), self._word("relics_beachcomber", n=sites.choice)))
        return rows

    def _island(self) -> list[Row]:
        named = {
            "island_ariki": ("ariki", "ariki.points"),
            "island_tablet": ("tablet", "granted_tablet.points"),
            "island_laid": ("statue", "statue_points.each_tablet"),
            "island_awake": ("awakening", "statue_points.awakening"),
            "island_bonus": ("beachcomber", "beachcomber_bonus.points"),
        }
        return [Row((icon,), self._word(word), *self._number(name)) for word, (icon, name) in named.items()]

    def _cards(self) -> list[Row]:
        later, gnome = self.tuning.sites.cards.values, self.tuning.creatures.gnome_cards
        return [
            Row(("ariki",), self._word("cards_first"), *self._number("ariki.cards"), "teal"),
            Row(("ariki",), self._word("cards_later"), _span(later), colour="teal"),
            Row(("gnome",), self._word("cards_gnome"), _span([gnome]), colour="teal"),
        ]

    def _tablets(self) -> list[Row]:
        pay = self.tuning.guardians
        few = self._word(
            "tablets_few",
            much=pay.much_relics,
            much_tablets=pay.much_tablets,
            little=pay.little_relics,
            little_tablets=pay.little_tablets,
        )
        return [
            Row(("guardian",), self._word("tablets_guardian"), " ".join(map(str, pay.by_rank)), colour="teal"),
            Row((), few),
            Row(("guardian",), self._word("tablets_resting"), "1", colour="teal"),
            Row(("temple",), self._word("tablets_set"), *self._number("set.tablets"), "teal"),
            Row(("golem",), self._word("tablets_golem"), "1", colour="teal"),
        ]

    # --- drawing

    def _word(self, key: str, **values: object) -> str:
        return self.words.text(key).format(**values)

    def _text(self, x: float, y: float, text: str, style: str = "") -> None:
        named = f' class="{style}"' if style else ""
        self._parts.append(f'<text x="{x:.2f}" y="{y:.2f}"{named}>{_escaped(text)}</text>')

    def _icon(self, x: float, y: float, size: float, name: str) -> None:
        icon, _, colour = name.partition(" ")
        if icon == "tablet":
            self._parts.append(
                f'<path class="ember" d="M{x + 0.25 * size:.2f} {y + size:.2f}v{-0.75 * size:.2f}'
                f'a{0.25 * size:.2f} {0.25 * size:.2f} 0 0 1 {0.5 * size:.2f} 0v{0.75 * size:.2f}z"/>'
            )
            return
        self._use(icon)
        self._parts.append(
            f'<use href="#icon-{icon}" class="icon {colour}" x="{x:.2f}" y="{y:.2f}" width="{size}" height="{size}"/>'
        )

    def _use(self, icon: str) -> None:
        """The icon's drawing goes into the file, with those it refers to."""
        if icon not in self._used:
            self._used.add(icon)
            for other in re.findall(r'href="#icon-([a-z-]+)"', self._icons[icon]):
                self._use(other)

    def _header(self) -> None:
        self._parts.append(
            '<path d="M0 0H210V31Q175 35 140 32.5T70 33T0 31Z" fill="#2f6f7d"/>'
            '<path d="M146 32.4L168 10q4 2.6 8.500.2l22.500 22.600q-26 2-53-.4z" fill="#5d4d44"/>'
            '<path d="M168 10q4 2.600 8.500.2l5 5.100-4.500 2.200-3.200-2.300-3.800 3-3.500-2.600z" fill="#c8402f"/>'
            '<path d="M172 8.500c-2-3 1.500-3.800.5-7M176 8c-1.500-2.500 1.800-3 1-5.500" fill="none" stroke="#ffe9a8" '
            'stroke-width=".9" stroke-linecap="round"/>'
        )
        self._text(MARGIN_MM, 17, self._word("title"), "title")
        self._text(MARGIN_MM, 26, self._word("subtitle"), "subtitle")

    def _frame(self, box: Box, head: str) -> None:
        x, y, width, height = box
        self._parts.append(
            f'<rect class="panel" x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" rx="2.5"/>'
        )
        self._text(x + 4, y + 7, self._word(head), "caption")

    def _panel(self, box: Box, head: str, rows: Sequence[Row]) -> None:
        """A framed list; the rows share the height by their lines."""
        self._frame(box, head)
        x, y, width, height = box
        wrapped = [self._wrapped(row, width) for row in rows]
        heights = [
            max(len(lines) * LINE_MM, COIN_MM if row.value else 0) for row, lines in zip(rows, wrapped, strict=True)
        ]
        gap = (height - 10 - sum(heights)) / len(rows)
        y += 9.5
        for row, lines, tall in zip(rows, wrapped, heights, strict=True):
            self._row(row, lines, Box(x + 4, y + gap / 2, width - 8, tall))
            y += tall + gap

    @staticmethod
    def _wrapped(row: Row, width: float) -> list[str]:
        words = width - 8 - (8 if row.icons else 0) - (_coin_width(row.value) + 4 if row.value else 0)
        return wrap(row.words, int(words / (CHARACTER_MM if row.icons else SMALL_CHARACTER_MM)))

    def _row(self, row: Row, lines: Sequence[str], box: Box) -> None:
        x, y, width, tall = box
        size = 5.5
        for number, icon in enumerate(row.icons):
            self._icon(x + number * 6, y + tall / 2 - size / 2, size, icon)
        left = x + 8 * len(row.icons)
        for number, line in enumerate(lines):
            at = y + tall / 2 + (number - len(lines) / 2) * LINE_MM + 3.1
            self._text(left, at, line, "" if row.icons else "small")
        if row.value:
            self._coin(x + width - 6, y + tall / 2, row)

    def _coin(self, x: float, y: float, row: Row) -> None:
        """The value in a rounded field as wide as it needs."""
        wide = _coin_width(row.value)
        self._parts.append(
            f'<rect class="{row.colour}" x="{x + 3.5 - wide:.2f}" y="{y - COIN_MM / 2:.2f}" '
            f'width="{wide:.2f}" height="{COIN_MM}" rx="{COIN_MM / 2}"/>'
        )
        self._text(x + 3.5 - wide / 2, y + 1.65, row.value, "value")
        if row.known:
            self._text(x + 4.2, y - 1.6, "•", "known")

    def _end(self, box: Box) -> None:
        self._frame(box, "end")
        x, y, width, _ = box
        y += 12
        for word in ("end_statues", "end_saved", "end_lost"):
            for line in wrap(self._word(word), int((width - 8) / SMALL_CHARACTER_MM)):
                self._text(x + 4, y, line, "small")
                y += 3.3

    def _creatures(self, y: float) -> None:
        """The seven: icon, name, what they are fought with, and their points."""
        height = HEIGHT_MM - MARGIN_MM - 4 - y
        width = WIDTH_MM - 2 * MARGIN_MM
        self._frame(Box(MARGIN_MM, y, width, height), "creatures")
        fought, points = MARGIN_MM + 92, MARGIN_MM + width - 12
        self._text(fought + 12, y + 7, self._word("column_relic"), "column")
        self._text(points, y + 7, self._word("column_points"), "column")
        foot = wrap(
            self._word(
                "creature_points",
                moves=self._number("driven.moves")[0],
                tablet=self._number("driven.tablet")[0],
            ),
            int((width - 8) / SMALL_CHARACTER_MM),
        )
        step = (height - 12 - 4 * len(foot)) / len(CREATURES)
        at = y + 9.5
        for number, creature in enumerate(CREATURES):
            middle = at + step / 2
            if number:
                self._parts.append(f'<path class="rule" d="M{MARGIN_MM + 4} {at:.2f}H{MARGIN_MM + width - 4:.2f}"/>')
            self._icon(MARGIN_MM + 5, middle - 4, 8, f"{creature} ember")
            gnome = creature == "gnome"
            self._text(MARGIN_MM + 17, middle + (-0.3 if gnome else 1.3), self._word(creature), "name")
            if gnome:
                more = self._number("gnome.twice_points")[0]
                self._text(MARGIN_MM + 17, middle + 3.6, self._word("note_gnome", n=more), "small")
            self._relics_of(creature, fought, middle)
            value, known = self._number(f"values.{creature}")
            self._coin(points, middle, Row((), "", value, known))
            at += step
        for line in foot:
            self._text(MARGIN_MM + 4, at + 4, line, "small")
            at += 3.6
        self._text(MARGIN_MM, HEIGHT_MM - MARGIN_MM + 1.5, self._word("known"), "small")

    def _relics_of(self, creature: str, x: float, middle: float) -> None:
        relics = FOUGHT_WITH.get(creature, ())
        if len(relics) == 1:
            self._icon(x, middle - 3, 6, f"{RELIC_ICONS[relics[0]]} relic")
            self._text(x + 8, middle + 1.2, self._word(f"relic_{relics[0]}").partition(":")[0])
            return
        for number, relic in enumerate(RELICS):
            self._icon(x + number * 6.5, middle - 2.5, 5, f"{RELIC_ICONS[relic]} relic")
        self._text(x + 28, middle + 1.2, self._word("any" if relics else "drawn"), "small")


def _coin_width(value: str) -> float:
    return max(COIN_MM, 2.7 * len(value) + 3)


def _span(odds: Iterable[Mapping[str | int, float]]) -> str:
    """The numbers that can be drawn, lowest and highest."""
    possible = sorted(int(number) for each in odds for number, weight in each.items() if weight > 0)
    low, high = possible[0], possible[-1]
    return str(low) if low == high else f"{low}\N{EN DASH}{high}"


def _icons() -> Mapping[str, str]:
    """The page's symbols by name."""
    text = files("firmware.page").joinpath("static/symbols.svg").read_text(encoding="utf-8")
    return {found[1]: found[0] for found in re.finditer(r'<symbol id="icon-([a-z-]+)".*?</symbol>', text, re.DOTALL)}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
