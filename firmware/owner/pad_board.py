"""The pads of a board at their places: a map of which is which, and sheets that print each pad at its true size.

The places are those of `board.toml`, a design: no source tells where the fields of an original lie or how large it is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from firmware.hal.wiring import Rail
from firmware.owner.paper import A4_MM, CHIP_STYLES, Paper, Point
from firmware.owner.printed import OwnerError
from firmware.terms import FIGURES, TOUCHES, Figure, Touch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from firmware.hal.wiring import Wiring
    from firmware.page.drawing import Island, Spot

WIDTH_MM = 375.0
"""From the westmost pad's edge to the eastmost's: with a rim, what two A4 sheets side by side can show. Nobody has told
the size of an original board: measure one's own.
"""
RIM_MM = 2.0
"""Round the outermost pads."""
PAD_MM = 36.0
"""Four figures may stand on a field: four feet of 15 mm side by side need 15 mm * (1 + sqrt 2) = 36 mm."""
BOARDS_MM, PADS_MM = (100.0, 1500.0), (10.0, 100.0)
"""What is drawn at all."""
LEAST_GAP_MM = 6.0
"""Between neighbouring pads, so that a foot on one does not lie over the other as well; estimate."""

GAP_MM, TOUCH_MM, MOST_TOUCH_MM = 8.0, 26.0, 52.0
"""Between rows, and height and greatest width of a Touch field: a fingertip of 15 mm finds it blindly; estimate."""
TAIL_MM, TAIL_LENGTH_MM = 6.0, 16.0
"""A strip of the pad's own foil, through a slit to the underside, where the wire is clamped or glued to it."""
RING_SHARES = (0.40, 0.46, 0.62, 0.68, 0.83, 0.88, 1.0)
"""Edges of the centre and of rails a, b and c, as shares of the radius: areas much alike, gaps of a millimetre."""

WINDOW_MM = (190.0, 262.0)
"""What of the board is on one A4 sheet; printers leave some 5 mm at the edges blank."""
EDGE_MM = 10.0
RULER_MM = 100

GERMAN_TOUCHES = dict(zip(TOUCHES, ("Fels", "Erkunden", "Eins", "Zwei", "Drei", "Feuer"), strict=True))
"""As printed on a German board (rulebook, Contents)."""
GERMAN_FIGURES = dict(zip(FIGURES, ("Weiß", "Rot", "Grün", "Schwarz"), strict=True))
GERMAN_PLACES = {
    "beach": "Strand",
    "jungle": "Dschungel",
    "mountain": "Berge",
    "ruin": "Ruine",
    "statue": "Statue",
}
GERMAN_COMPASS = {"n": "N", "ne": "NO", "e": "O", "se": "SO", "s": "S", "sw": "SW", "w": "W", "nw": "NW"}


class Pad(NamedTuple):
    """A pad: its middle, width and height in millimetres from the board's upper left corner, and where it is wired.

    A field's pad is round. `place` is the chip's among the chips of the wiring.
    """

    name: str
    german: str
    at: Point
    width_mm: float
    height_mm: float
    place: int
    chip: str
    electrode: int
    round: bool

    def apart(self, other: Pad) -> float:
        """The gap to another round pad, in millimetres."""
        return math.dist(self.at, other.at) - (self.width_mm + other.width_mm) / 2


class PadBoard:
    """All pads of a board; those that a calibration has mapped away are left out.

    `width_mm` is from the westmost pad's edge to the eastmost's, `side_mm` what the round board measures with its rim.

    Raises:
        OwnerError: a size is senseless, or pads would touch each other.
    """

    def __init__(self, island: Island, wiring: Wiring, width_mm: float = WIDTH_MM, pad_mm: float = PAD_MM) -> None:
        for what, mm, (low, high) in (("board", width_mm, BOARDS_MM), ("pad", pad_mm, PADS_MM)):
            if not low <= mm <= high:
                raise OwnerError(f"a {what} must be {low:g} to {high:g} mm wide, is {mm:g} mm")
        self.wiring, self.width_mm, self.pad_mm = wiring, width_mm, pad_mm
        across = [spot.at[0] for spot in island.spots]
        if not (span := max(across) - min(across)):
            raise OwnerError("all fields lie on one line from north to south: a width says nothing of such a board")
        self._scale = (width_mm - pad_mm) / span
        reach_mm = max(math.hypot(*spot.at) for spot in island.spots) * self._scale
        self.side_mm = 2 * (reach_mm + pad_mm / 2 + RIM_MM)
        self.middle = (self.side_mm / 2, self.side_mm / 2)
        self.paths = [(self._at(start), self._at(end)) for start, end in island.paths]
        wired = {pad for chip in wiring.chips for pad in chip.wires}
        self.fields = [self._field(spot) for spot in island.spots if spot.field in wired]
        self._check_gaps()
        top = self.side_mm + GAP_MM
        touches = [touch for touch in TOUCHES if touch in wired]
        self.others = list(self._row(touches, [GERMAN_TOUCHES[touch] for touch in touches], top))
        if wiring.badges:
            top += TOUCH_MM + GAP_MM
            self.others += self._row(wiring.badges, [GERMAN_FIGURES[figure] for figure in wiring.badges], top)
        self.height_mm = top + TOUCH_MM + 2
        inner = min((math.dist(pad.at, self.middle) for pad in self.fields), default=self.side_mm / 2)
        self.crater_mm = max(0.0, 2 * (inner - pad_mm / 2 - 3))
        """Diameter that the pads leave free for the volcano, which covers the innermost tails."""

    def _at(self, point: Point) -> Point:
        return self.middle[0] + point[0] * self._scale, self.middle[1] + point[1] * self._scale

    def _field(self, spot: Spot) -> Pad:
        return self._pad(spot.field, german_name(spot.field), self._at(spot.at), self.pad_mm, self.pad_mm)

    def _pad(self, name: str, german: str, at: Point, width: float, height: float) -> Pad:
        chip = self.wiring.chip_of(name)
        place = self.wiring.chips.index(chip)
        is_round = name in chip.fields
        return Pad(name, german, at, width, height, place, chip.name, chip.wires[name], is_round)

    def _row(self, names: Iterable[Touch | Figure], germans: list[str], top: float) -> Iterator[Pad]:
        width = min(MOST_TOUCH_MM, (self.side_mm - (len(germans) + 1) * GAP_MM) / max(1, len(germans)))
        step = width + GAP_MM
        left = self.middle[0] - step * (len(germans) - 1) / 2
        for number, (name, german) in enumerate(zip(names, germans, strict=True)):
            yield self._pad(str(name), german, (left + number * step, top + TOUCH_MM / 2), width, TOUCH_MM)

    def _check_gaps(self) -> None:
        for number, pad in enumerate(self.fields):
            for other in self.fields[:number]:
                if pad.apart(other) < LEAST_GAP_MM:
                    raise OwnerError(
                        f"pads of {self.pad_mm:g} mm do not fit on a board of {self.width_mm:g} mm: {other.name} and "
                        f"{pad.name} would be {pad.apart(other):.1f} mm apart, {LEAST_GAP_MM:g} mm are needed"
                    )

    def tail(self, pad: Pad) -> list[Point]:
        """The strip of foil that leads a pad's wire away: toward the volcano, or past what lies in between."""
        x, y = pad.at
        if not pad.round:
            top = y - pad.height_mm / 2
            return _strip((x, top + 2), -math.pi / 2, GAP_MM)
        inward = math.atan2(self.middle[1] - y, self.middle[0] - x)
        root, end = pad.width_mm / 2 - 1, pad.width_mm / 2 + TAIL_LENGTH_MM
        for turn in (0, 30, -30, 60, -60, 90, -90, 120, -120, 150, -150, 180):
            angle = inward + math.radians(turn)
            tip = (x + end * math.cos(angle), y + end * math.sin(angle))
            others = (math.dist(tip, other.at) - other.width_mm / 2 for other in self.fields if other is not pad)
            if min(others, default=math.inf) > TAIL_MM / 2 + 1:
                break
        return _strip((x + root * math.cos(angle), y + root * math.sin(angle)), angle, TAIL_LENGTH_MM + 1)

    # --- the map

    def draw_map(self) -> str:
        """Every pad with its chip and electrode on one A4 sheet, and a list to tick off."""
        paper = Paper("Pads and electrodes of the board", *A4_MM)
        paper.text(EDGE_MM, 13, "Pads and electrodes", "title")
        paper.text(EDGE_MM, 18, "The number is the electrode, the colour the chip; north is up.", "small")
        scale = min((A4_MM[0] - 2 * EDGE_MM) / self.side_mm, 200 / self.height_mm)
        left = (A4_MM[0] - self.side_mm * scale) / 2

        def onto(point: Point) -> Point:
            return left + point[0] * scale, 21 + point[1] * scale

        paper.circle(onto(self.middle), self.side_mm / 2 * scale, "panel")
        for start, end in self.paths:
            paper.path([onto(start), onto(end)], "dash")
        paper.circle(onto(self.middle), self.crater_mm / 2 * scale, "box")
        paper.text(*onto((self.middle[0], self.middle[1] + 2)), "volcano", "small mid")
        for pad in (*self.fields, *self.others):
            x, y = onto(pad.at)
            wide, high = pad.width_mm * scale, pad.height_mm * scale
            style = f"box {CHIP_STYLES[pad.place]}"
            if pad.round:
                paper.circle((x, y), wide / 2, style)
            else:
                paper.box(x - wide / 2, y - high / 2, wide, high, style, radius=1)
            paper.text(x, y - 0.4, str(pad.electrode), "head mid")
            paper.text(x, y + 3.2, pad.name, "small mid", within_mm=wide - 1.5)
        self._list(paper, 21 + self.height_mm * scale + 8)
        return paper.svg()

    def _list(self, paper: Paper, top: float) -> None:
        width = (A4_MM[0] - 2 * EDGE_MM) / len(self.wiring.chips)
        for place, chip in enumerate(self.wiring.chips):
            left = EDGE_MM + place * width
            paper.box(left, top, width - 3, 6, f"box {CHIP_STYLES[place]}", radius=0.8)
            paper.text(left + 2, top + 4.2, f"{chip.name}  0x{chip.address:02X}", "bold", within_mm=width - 7)
            for number, pad in enumerate(chip.pads):
                y = top + 10.5 + number * 4.3
                paper.box(left + 1, y - 2.4, 2.8, 2.8)
                kind = "rail " if pad in chip.rails else "colour " if pad in chip.badges else ""
                paper.text(left + 10, y, str(chip.wires[pad]), "bold end")
                paper.text(left + 12, y, f"{kind}{pad}", "small", within_mm=width - 15)

    # --- the sheets at true size

    def draw_sheets(self) -> list[str]:
        """The pads at their true size, on as many A4 sheets as the board needs; row by row."""
        columns = math.ceil(self.side_mm / WINDOW_MM[0] - 1e-9)
        rows = math.ceil(self.height_mm / WINDOW_MM[1] - 1e-9)
        return [self._sheet(column, row, columns, rows) for row in range(rows) for column in range(columns)]

    def _sheet(self, column: int, row: int, columns: int, rows: int) -> str:
        number = row * columns + column + 1
        paper = Paper(f"Pad sheet {number} of {columns * rows}", *A4_MM)
        width, height = WINDOW_MM
        shift = (EDGE_MM - column * width, EDGE_MM - row * height)
        paper.clip(EDGE_MM, EDGE_MM, width, height)
        paper.circle(_moved(self.middle, shift), self.crater_mm / 2, "dash")
        x, y = _moved(self.middle, shift)
        paper.text(x - self.crater_mm / 4, y + 7, f"volcano, {self.crater_mm:.0f} mm", "small mid")
        for pad in (*self.fields, *self.others):
            x, y = _moved(pad.at, shift)
            reach = max(pad.width_mm, pad.height_mm) / 2 + TAIL_LENGTH_MM
            if abs(x - EDGE_MM - width / 2) < width / 2 + reach and abs(y - EDGE_MM - height / 2) < height / 2 + reach:
                self._true_size(paper, pad, shift)
        paper.unclip()
        self._marks(paper, column, row, columns, rows)
        paper.path([(x, 284) for x in (EDGE_MM, EDGE_MM + RULER_MM)], "thin")
        for millimetre in range(0, RULER_MM + 1, 10):
            paper.path(
                [(EDGE_MM + millimetre, 284), (EDGE_MM + millimetre, 284 - (3 if millimetre % 50 else 4))], "thin"
            )
        paper.text(EDGE_MM + RULER_MM + 2, 284, f"must measure {RULER_MM} mm: print at 100 %, not fitted", "small")
        paper.text(EDGE_MM, 290, f"Pad sheet {number} of {columns * rows}", "bold")
        size = f"{self.width_mm:g} mm from west to east, pads {self.pad_mm:g} mm; cut the foil along solid lines;"
        way = "fold dashed strips through a slit" if self.wiring.rail_chip is None else "dots: through to the underside"
        paper.text(EDGE_MM + 32, 290, f"{size} {way}", "small")
        return paper.svg()

    def _true_size(self, paper: Paper, pad: Pad, shift: Point) -> None:
        x, y = _moved(pad.at, shift)
        style = CHIP_STYLES[pad.place]
        rails = self.wiring.rail_chip
        if not pad.round or rails is None:
            strip = [_moved(point, shift) for point in self.tail(pad)]
            paper.path(strip, f"dash {style}", closed=True)
        if not pad.round:
            wide, high = pad.width_mm, pad.height_mm
            paper.box(x - wide / 2, y - high / 2, wide, high, f"box {style}")
        elif rails is None:
            paper.circle((x, y), pad.width_mm / 2, f"box {style}")
        else:
            rings = CHIP_STYLES[self.wiring.chips.index(rails)]
            draw_target(paper, (x, y), pad.width_mm / 2, (style, rings))
            below = y + pad.height_mm / 2
            paper.text(x, below + 4, pad.german, "mid")
            where = f"{pad.name}: {pad.chip} {pad.electrode}"
            paper.text(x, below + 7.5, where, "small mid", within_mm=pad.width_mm)
            return
        within_mm = 0.9 * pad.width_mm
        paper.text(x, y - 2.6, pad.german, "mid", within_mm=within_mm)
        paper.text(x, y + 1.4, pad.name, "bold mid", within_mm=within_mm)
        paper.text(x, y + 5.2, f"{pad.chip} {pad.electrode}", "small mid", within_mm=within_mm)

    def _marks(self, paper: Paper, column: int, row: int, columns: int, rows: int) -> None:
        """Crop marks at the corners; on edges that join, two crosses that must meet and the other sheet's number."""
        width, height = WINDOW_MM
        for x, out_x in ((EDGE_MM, -1), (EDGE_MM + width, 1)):
            for y, out_y in ((EDGE_MM, -1), (EDGE_MM + height, 1)):
                paper.path([(x + out_x, y), (x + 6 * out_x, y)], "thin")
                paper.path([(x, y + out_y), (x, y + 6 * out_y)], "thin")
        for way, x in ((-1, EDGE_MM), (1, EDGE_MM + width)):
            if 0 <= column + way < columns:
                for share in (0.25, 0.75):
                    _cross(paper, (x, EDGE_MM + share * height))
                other = f"sheet {row * columns + column + way + 1}"
                paper.text(x + 4.5 * way + 1, EDGE_MM + height / 2, other, "small mid", turn=-90)
        for way, y in ((-1, EDGE_MM), (1, EDGE_MM + height)):
            if 0 <= row + way < rows:
                for share in (0.25, 0.75):
                    _cross(paper, (EDGE_MM + share * width, y))
                other = f"sheet {(row + way) * columns + column + 1}"
                paper.text(EDGE_MM + width / 2, y + 4 * way + 1, other, "small mid")


def german_name(field: str) -> str:
    """What a field is called in German, from its place and compass direction; empty for names of another board."""
    place, _, compass = field.rpartition("-")
    if place in GERMAN_PLACES and compass in GERMAN_COMPASS:
        return f"{GERMAN_PLACES[place]} {GERMAN_COMPASS[compass]}"
    return ""


def draw_target(
    paper: Paper,
    at: Point,
    radius: float,
    styles: tuple[str, str],
    joined: Iterable[str] = Rail,
    *,
    holes: bool = True,
) -> None:
    """A field's centre and its three rings: only those in `joined` are coloured; `styles` of centre and rings.

    With `holes`, a dot is where the foil goes through to the underside.
    """
    x, y = at
    edges = [share * radius for share in RING_SHARES]
    paper.circle(at, edges[0], f"box {styles[0]}")
    holes_x = [x]
    for rail, inner, outer in zip(Rail, edges[1::2], edges[2::2], strict=True):
        paper.ring(at, inner, outer, f"box {styles[1]}" if rail in joined else "box")
        paper.text(x, y - (inner + outer) / 2 + 0.9, str(rail), "small mid")
        holes_x.append(x + (inner + outer) / 2)
    for hole_x in holes_x if holes else ():
        paper.circle((hole_x, y), 0.7, "dot")


def _strip(root: Point, angle: float, length: float) -> list[Point]:
    """The corners of a strip `TAIL_MM` wide from a point on, at an angle in radians."""
    along, across = (math.cos(angle), math.sin(angle)), (-math.sin(angle), math.cos(angle))
    return [
        (root[0] + far * along[0] + side * across[0], root[1] + far * along[1] + side * across[1])
        for far, side in ((0, -TAIL_MM / 2), (length, -TAIL_MM / 2), (length, TAIL_MM / 2), (0, TAIL_MM / 2))
    ]


def _moved(point: Point, shift: Point) -> Point:
    return point[0] + shift[0], point[1] + shift[1]


def _cross(paper: Paper, at: Point) -> None:
    x, y = at
    paper.circle(at, 2, "thin")
    paper.path([(x - 3.5, y), (x + 3.5, y)], "thin")
    paper.path([(x, y - 3.5), (x, y + 3.5)], "thin")
