"""The island as a picture: SVG from the board's data (zones, paths, layout), without any knowledge of the rules.

Coordinates are SVG units with the crater at 0, 0 and the coast about 430 away; a field at radius 1 of the board's
layout is `FIELD_RADIUS` away. Colours are CSS classes of ``static/island.css``; icons are the symbols of
``static/symbols.svg``. The same data give the same picture, byte for byte.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from firmware.config import read_table
from firmware.terms import SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from firmware.config import Table

FIELD_RADIUS = 420
HALF_VIEW = 482
COMPASS = ("n", "ne", "e", "se", "s", "sw", "w", "nw")

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Spot:
    """A field of the board: `kind` site, ruin or statue; `at` in SVG units; `compass` one of `COMPASS`."""

    field: str
    kind: str
    zone: str
    at: Point
    compass: str
    boat: bool = False


@dataclass(frozen=True, slots=True)
class Island:
    """All fields and the paths between them."""

    spots: tuple[Spot, ...]
    paths: tuple[tuple[Point, Point], ...]


def read_island(path: Path) -> Island:
    """The picture's data from a board file.

    Raises:
        ConfigError: naming file, line and key.
    """
    board = read_table(path)
    special = board.table("special")
    kinds = {kind: special.list_of(f"{kind}s", str) for kind in ("ruin", "statue")}
    boats = special.list_of("boats", str)
    zones = board.table("zones")
    zone_of = {field: zone for zone in zones for field in zones.list_of(zone, str)}
    special_zone = special.table("zone")
    for kind, fields in kinds.items():
        zone_of |= dict.fromkeys(fields, special_zone.text(f"{kind}s"))
    kind_of = {field: kind for kind, fields in kinds.items() for field in fields}
    layout = board.table("layout")
    spots = {
        field: _spot(layout, field, kind_of.get(field, "site"), zone, boat=field in boats)
        for field, zone in zone_of.items()
    }
    paths = board.table("paths")
    edges: list[tuple[Point, Point]] = []
    for edge in paths.list_of("edges", list):
        if len(edge) != 2 or not all(end in spots for end in edge):
            raise paths.error("edges", f"must be pairs of fields that have a zone, one is {edge!r}")
        edges.append((spots[edge[0]].at, spots[edge[1]].at))
    return Island(tuple(spots.values()), tuple(edges))


def _spot(layout: Table, field: str, kind: str, zone: str, *, boat: bool) -> Spot:
    degrees, radius = layout.list_of(field, float, size=2)
    compass = field.rpartition("-")[2]
    if compass not in COMPASS:
        compass = COMPASS[round(degrees / 45) % 8]
    return Spot(field, kind, zone, polar(degrees, radius * FIELD_RADIUS), compass, boat)


def polar(degrees: float, distance: float) -> Point:
    """The point at a compass angle (0 north, clockwise) and distance."""
    angle = math.radians(degrees)
    return distance * math.sin(angle), -distance * math.cos(angle)


def draw(island: Island) -> str:
    """The island as one ``<svg>`` element, to be styled by the page.

    Every field is a ``<g data-field=…>`` with its ``data-zone``, ``data-kind`` and ``data-compass``; empty layers
    ``#tokens`` and ``#pawns`` wait for what appears in a game; lights are ``<g data-symbol=…>``.
    """
    view = f"{-HALF_VIEW} {-HALF_VIEW} {2 * HALF_VIEW} {2 * HALF_VIEW}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" id="island" class="island" role="group" viewBox="{view}">',
        _GRADIENTS,
        *_ground(),
        *_forest(island),
        *_peaks(island),
        *_paths(island),
        *_volcano(),
        *(_boat(spot) for spot in island.spots if spot.boat),
        '<g id="fields">',
        *(_field(spot) for spot in island.spots),
        '</g><g id="tokens"></g><g id="pawns"></g>',
        "</svg>",
    ]
    return "\n".join(parts)


def draw_alone(island: Island) -> str:
    """The island as a complete SVG file: with its colours and icons inside and a sea around it."""
    static = files("firmware.page") / "static"
    style = (static / "island.css").read_text(encoding="utf-8")
    symbols = (static / "symbols.svg").read_text(encoding="utf-8")
    inside = re.sub(r"</?svg[^>]*>", "", symbols)
    sea = f'<rect class="sea" x="{-HALF_VIEW}" y="{-HALF_VIEW}" width="{2 * HALF_VIEW}" height="{2 * HALF_VIEW}"/>'
    head, rest = draw(island).split("\n", 1)
    return f"{head}\n<style>{style}</style>\n<defs>{inside}</defs>\n{sea}\n{rest}\n"


_GRADIENTS = """<defs>
<radialGradient id="halo"><stop offset="0" class="halo-core"/><stop offset=".35" class="halo-glow"/>
<stop offset="1" class="halo-edge"/></radialGradient>
<radialGradient id="shallows"><stop offset=".78" class="shallow"/>
<stop offset="1" class="shallow-edge"/></radialGradient>
<radialGradient id="lava"><stop offset="0" class="lava-core"/><stop offset=".55" class="lava-glow"/>
<stop offset="1" class="lava-edge"/></radialGradient>
</defs>"""


def _ground() -> Iterator[str]:
    yield f'<circle class="shoal" r="{HALF_VIEW}" fill="url(#shallows)"/>'
    yield _blob(460, "surf surf-far")
    yield _blob(446, "surf")
    yield _blob(432, "beach")
    yield _blob(346, "grass", phase=1.1)
    yield _blob(338, "jungle", phase=1.1)
    yield _blob(214, "scree", phase=2.3)
    yield _blob(206, "mountains", phase=2.3)


def _blob(radius: float, name: str, phase: float = 0.0) -> str:
    """A closed shore line around the crater, a circle with three gentle waves on it."""
    points = []
    for degrees in range(0, 360, 4):
        angle = math.radians(degrees)
        wave = (
            0.016 * math.sin(3 * angle + phase)
            + 0.012 * math.sin(7 * angle + 2 * phase)
            + 0.006 * math.sin(17 * angle + 3 * phase)
        )
        points.append(polar(degrees, radius * (1 + wave)))
    middles = [_between(points[index - 1], point) for index, point in enumerate(points)]
    curve = " ".join(f"Q{_xy(point)} {_xy(middles[(index + 1) % len(middles)])}" for index, point in enumerate(points))
    return f'<path class="{name}" d="M{_xy(middles[0])} {curve}Z"/>'


def _sunflower(count: int, inner: float, outer: float) -> Iterator[tuple[int, Point]]:
    """Points spread evenly over a ring by the golden angle (137.508 degrees)."""
    for index in range(count):
        share = (index + 0.5) / count
        distance = math.sqrt(inner**2 + share * (outer**2 - inner**2))
        yield index, polar(index * 137.508, distance)


def _forest(island: Island) -> Iterator[str]:
    yield '<g class="forest">'
    for index, at in _sunflower(420, 216, 332):
        if _free(island, at, field=36, path=13):
            size = 8.5 + 3.5 * math.sin(index * index * 0.37)
            x, y = at
            yield (
                f'<circle class="shade" cx="{x + 2:.1f}" cy="{y + 4:.1f}" r="{size:.1f}"/>'
                f'<circle class="tree tree-{index * index // 3 % 4}" cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/>'
                f'<circle class="leaf" cx="{x - size * 0.28:.1f}" cy="{y - size * 0.34:.1f}" r="{size * 0.42:.1f}"/>'
            )
    yield "</g>"
    yield '<g class="palms">'
    for _, at in _sunflower(96, 362, 412):
        if _free(island, at, field=46, path=20):
            yield f'<use href="#icon-palm" x="{at[0] - 14:.1f}" y="{at[1] - 22:.1f}" width="28" height="28"/>'
    yield "</g>"


def _peaks(island: Island) -> Iterator[str]:
    yield '<g class="peaks">'
    standing = sorted(_sunflower(44, 128, 196), key=lambda each: each[1][1])
    for index, (x, y) in standing:
        if _free(island, (x, y), field=42, path=17):
            half = 11 + 3 * math.sin(index * index * 0.53)
            top, foot = y - 1.5 * half, y + 0.5 * half
            yield (
                f'<path class="peak-light" d="M{x - half:.1f} {foot:.1f}L{x:.1f} {top:.1f}L{x + 2:.1f} {foot:.1f}Z"/>'
                f'<path class="peak-dark" d="M{x:.1f} {top:.1f}L{x + half:.1f} {foot:.1f}L{x + 2:.1f} {foot:.1f}Z"/>'
            )
    yield "</g>"


def _paths(island: Island) -> Iterator[str]:
    yield '<g class="paths">'
    lines = " ".join(_path(start, end) for start, end in island.paths)
    yield f'<path class="path-bed" d="{lines}"/><path class="path" d="{lines}"/>'
    yield "</g>"


def _path(start: Point, end: Point) -> str:
    """A path bends outward a little, around the volcano."""
    middle = _between(start, end)
    distance = math.hypot(*middle) or 1.0
    radius = (math.hypot(*start) + math.hypot(*end)) / 2
    stretch = 1 + 1.5 * max(0.0, radius - distance) / distance
    return f"M{_xy(start)}Q{_xy((middle[0] * stretch, middle[1] * stretch))} {_xy(end)}"


def _volcano() -> Iterator[str]:
    yield '<g class="volcano"><circle class="volcano-shade" cx="4" cy="7" r="114"/>'
    count = 30
    for index in range(count):
        left, right = index * 360 / count, (index + 1) * 360 / count
        foot = [110 + 7 * math.sin(step * 2.1) for step in (index, (index + 1) % count)]
        corners = (polar(left, foot[0]), polar(right, foot[1]), polar(right, 40), polar(left, 40))
        light = 2 + 2 * math.cos(math.radians(left + 180 / count + 45)) + 0.8 * math.sin(index * 2.1)
        shade = max(0, min(4, round(light)))
        yield f'<path class="flank flank-{shade}" d="M{"L".join(_xy(corner) for corner in corners)}Z"/>'
    yield '<circle class="rim" r="44"/><circle class="crater" r="37"/>'
    yield '<circle class="lava" r="37" fill="url(#lava)"/><circle class="breath" r="72" fill="url(#lava)"/>'
    for index, symbol in enumerate(SYMBOLS):
        x, y = polar(index * 72, 77)
        yield (
            f'<g class="light" data-symbol="{symbol}" transform="translate({x:.1f} {y:.1f})">'
            '<circle class="halo" r="64" fill="url(#halo)"/><circle class="socket" r="20"/>'
            f'<use class="glyph" href="#icon-{symbol}" x="-14" y="-14" width="28" height="28"/></g>'
        )
    yield "</g>"


def _boat(spot: Spot) -> str:
    x, y = spot.at
    degrees = math.degrees(math.atan2(x, -y))
    at = polar(degrees - 6, 1.175 * math.hypot(x, y))
    return (
        f'<g class="boat" transform="translate({_xy(at)}) rotate({degrees - 22:.0f})">'
        '<use href="#icon-boat" x="-27" y="-27" width="54" height="54"/></g>'
    )


_BODIES = {
    "site": """<path class="slab-shade" d="{slab}" transform="translate(1.5 4)"/><path class="slab" d="{slab}"/>""",
    "ruin": """<circle class="slab-shade" r="26" cx="1.5" cy="4"/><circle class="slab" r="26"/>
<circle class="ring" r="21"/>
<use class="ruin-columns" href="#icon-ruin" x="-17" y="-18" width="34" height="34"/>""",
    "statue": """<ellipse class="slab-shade" cx="1.5" cy="19" rx="25" ry="12"/>
<ellipse class="slab" cy="15" rx="24" ry="11"/>
<use class="statue-head" href="#icon-statue" x="-25" y="-36" width="50" height="54"/>""",
}


def _field(spot: Spot) -> str:
    boat = "yes" if spot.boat else "no"
    return (
        f'<g class="field" data-field="{escape(spot.field)}" data-kind="{spot.kind}" data-zone="{escape(spot.zone)}" '
        f'data-compass="{spot.compass}" data-boat="{boat}" transform="translate({_xy(spot.at)})">'
        f'<circle class="reach" r="34"/><circle class="mark" r="33"/>{_BODIES[spot.kind].format(slab=_slab(spot))}</g>'
    )


def _slab(spot: Spot) -> str:
    """A hewn stone with seven corners, each field's turned differently."""
    turn = spot.at[0] * 0.7 + spot.at[1] * 0.3
    corners = [polar(turn + corner * 360 / 7, 26 + 2 * math.sin(corner * 2.7 + turn)) for corner in range(7)]
    return f"M{'L'.join(_xy(corner) for corner in corners)}Z"


def _free(island: Island, at: Point, *, field: float, path: float) -> bool:
    """Whether nothing may be in the way of a thing at `at`: no field, no path."""
    if any(math.dist(at, spot.at) < field for spot in island.spots):
        return False
    return all(_distance_to_line(at, *ends) >= path for ends in island.paths)


def _distance_to_line(at: Point, start: Point, end: Point) -> float:
    across = (end[0] - start[0], end[1] - start[1])
    length = across[0] ** 2 + across[1] ** 2
    share = ((at[0] - start[0]) * across[0] + (at[1] - start[1]) * across[1]) / length if length else 0.0
    share = max(0.0, min(1.0, share))
    return math.dist(at, (start[0] + share * across[0], start[1] + share * across[1]))


def _between(start: Point, end: Point) -> Point:
    return (start[0] + end[0]) / 2, (start[1] + end[1]) / 2


def _xy(point: Iterable[float]) -> str:
    return " ".join(f"{each:.1f}" for each in point)
