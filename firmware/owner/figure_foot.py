"""What a figure needs so that the volcano can tell whose it is: a capacitor in the foot, or foil for the rails."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from firmware.hal.wiring import RAIL_CODES, FigureMethod
from firmware.owner.pad_board import GERMAN_FIGURES, draw_target
from firmware.owner.paper import Paper
from firmware.terms import FIGURES

if TYPE_CHECKING:
    from firmware.hal.wiring import Wiring

FOOT_MM = 15.0
"""Four such feet stand on one pad (`pad_board.PAD_MM`)."""
LAYERS_MM = (0.0, 0.1, 0.2)
"""Nothing between foot and pad; laminating film or two coats of lacquer; the most that is advisable."""
PERMITTIVITY = 3.2
"""Of PET film; lacquers have 3 to 4 (data sheets of films, at 1 MHz)."""
VACUUM_PF_PER_MM = 8.854e-3
"""Electric constant."""
WIDTH_MM, HEIGHT_MM = 210.0, 125.0


def layer_pf(thickness_mm: float, foot_mm: float = FOOT_MM) -> float:
    """What a layer between foot and pad lets through: a plate capacitor; infinite if there is none."""
    if thickness_mm == 0:
        return math.inf
    return VACUUM_PF_PER_MM * PERMITTIVITY * math.pi * (foot_mm / 2) ** 2 / thickness_mm


def seen_pf(capacitor_pf: float, thickness_mm: float) -> float:
    """The capacitor in series with the layer: what a pad sees of a figure that a grounded hand holds."""
    return 1 / (1 / capacitor_pf + 1 / layer_pf(thickness_mm))


def draw_foot(wiring: Wiring) -> str | None:
    """The drawing that this wiring's figures need; None if they stay as they are."""
    if wiring.figure_method is FigureMethod.CAPACITOR:
        return _draw_capacitor(wiring)
    if wiring.figure_method is FigureMethod.RAILS:
        return _draw_rails()
    return None


def _draw_capacitor(wiring: Wiring) -> str:
    paper = Paper("A capacitor in a figure's foot", WIDTH_MM, HEIGHT_MM)
    paper.text(10, 12, "A capacitor in the figure's foot", "title")
    _cut(paper)
    left, top = 124.0, 34.0
    paper.text(left, top - 8, "What the pad sees of a gripped figure", "head")
    heads = ["figure", "capacitor", *(f"{layer:g} mm" for layer in LAYERS_MM)]
    columns = (left, left + 39, left + 51, left + 63, left + 75)
    for x, text in zip(columns, heads, strict=True):
        paper.text(x, top, text, "small" if x == left else "small end")
    for row, figure in enumerate(FIGURES):
        y = top + 6 + row * 5.5
        capacitor_pf = wiring.capacitor_pf[figure]
        paper.path([(left, y - 4), (left + 75, y - 4)], "thin")
        paper.text(left, y, f"{figure}, {GERMAN_FIGURES[figure]}", "bold")
        paper.text(columns[1], y, f"{capacitor_pf:g} pF", "bold end")
        for x, layer in zip(columns[2:], LAYERS_MM, strict=True):
            paper.text(x, y, f"{seen_pf(capacitor_pf, layer):.1f}", "end")
    notes = (
        f"in pF, foot of {FOOT_MM:g} mm, under film of that thickness",
        f"(permittivity {PERMITTIVITY:g}). Bare foil on bare foil is best; more",
        "than 0.2 mm blurs the two largest into each other.",
        "",
        "C0G (NP0) capacitors, 5 % or better, leaded or SMD on",
        "short wires. No metal may bypass the capacitor: what the",
        "hand touches must not reach the foil foot by itself.",
        "",
        "Measure before gluing: head to foot is an open circuit",
        "for an ohmmeter, and the capacitor's value for a meter",
        "that shows picofarads (less what its leads show alone).",
    )
    paper.lines(left, top + 32, notes, "note", 4.4)
    return paper.svg()


def _cut(paper: Paper) -> None:
    """The figure from the side, cut open; larger than life."""
    x, pad_y = 42.0, 100.0
    paper.path(
        [(x - 30, pad_y + 3.2), (x + 30, pad_y + 3.2), (x + 30, pad_y + 10), (x - 30, pad_y + 10)], "panel", closed=True
    )
    paper.box(x - 26, pad_y + 1.6, 52, 1.6, "box pin-3")
    paper.box(x - 26, pad_y, 52, 1.6, "box chip-0")
    paper.box(x - 15, pad_y - 1.8, 30, 1.8, "box pin-3")
    body = [
        *((x - 15, pad_y - 1.8), (x - 15, pad_y - 9), (x - 8, pad_y - 18), (x - 11, pad_y - 46), (x - 5, pad_y - 54)),
        *((x + 5, pad_y - 54), (x + 11, pad_y - 46), (x + 8, pad_y - 18), (x + 15, pad_y - 9), (x + 15, pad_y - 1.8)),
    ]
    paper.path(body, "panel", closed=True)
    paper.circle((x, pad_y - 60), 8, "box pin-3")
    paper.path([(x, pad_y - 52), (x, pad_y - 26)], "wire v3")
    paper.path([(x - 6, pad_y - 26), (x + 6, pad_y - 26)], "wire")
    paper.path([(x - 6, pad_y - 23), (x + 6, pad_y - 23)], "wire")
    paper.path([(x, pad_y - 23), (x, pad_y - 1)], "wire v3")
    paper.path([(x + 20, pad_y + 2.4), (x + 34, pad_y + 2.4), (x + 34, pad_y + 13)], "wire sda")
    names = (
        (pad_y - 60, x + 8, "head: bare metal, gripped", "by thumb and finger"),
        (pad_y - 38, x, "wire through the hollow body", ""),
        (pad_y - 24.5, x + 6, "C0G capacitor", ""),
        (pad_y - 8, x + 15, "body of plastic", ""),
        (pad_y - 0.9, x + 15, "foot: flat foil on", "2 mm of foam, glued"),
    )
    for number, (y, from_x, first, second) in enumerate(names):
        at = (34, 56, 69, 81, 91)[number]
        paper.path([(from_x, y), (70, at - 1)], "thin")
        paper.text(71.5, at, first)
        paper.text(71.5, at + 3.9, second)
    paper.path([(x + 26, pad_y + 0.8), (80, 104)], "thin")
    paper.text(81.5, 105, "film, lacquer or nothing")
    paper.path([(x + 26, pad_y + 2.4), (80, 109.5)], "thin")
    paper.text(81.5, 110.5, "the field's pad")
    paper.text(x + 36, 116, "wire to its electrode")
    paper.text(x - 28, pad_y + 8, "board", "small")


def _draw_rails() -> str:
    paper = Paper("Feet for a board with rails", WIDTH_MM, HEIGHT_MM)
    paper.text(10, 12, "The foot's foil for a board with rails", "title")
    for number, figure in enumerate(FIGURES):
        x = 28 + number * 48
        draw_target(paper, (x, 45), 18, ("pin-3", "pin-3"), RAIL_CODES[figure], holes=False)
        paper.text(x, 71, f"{figure}, {GERMAN_FIGURES[figure]}", "bold mid")
        paper.text(x, 75.5, f"centre and {', '.join(sorted(RAIL_CODES[figure]))}", "small mid")
    notes = (
        "Seen from below. Foil on the coloured parts only; a foot's foil is joined above it and led to the bare head.",
        "The foot is as wide as the field's pad, so that its rings lie over the board's. Between them lies film or",
        "lacquer of 0.1 to 0.2 mm, on the whole board: bare foil would join rails when a foot is set down askew.",
        "One or three rings: a foot that stands askew and joins one ring too few or too many has nobody's code.",
        "One figure stands on a field's rings at a time; others wait beside it until it is their turn.",
    )
    paper.lines(10, 87, notes, "note", 4.6)
    return paper.svg()
