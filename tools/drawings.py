"""Draw the pictures of docs/ from the data that the firmware plays with: ``.venv/bin/python tools/drawings.py``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from firmware.game.insel.board import OWN_BOARD
from firmware.game.insel.tuning import OWN_TUNING, load_tuning
from firmware.hal.wiring import load_wiring
from firmware.owner.overview import Overview
from firmware.owner.printed import present
from firmware.owner.wiring_drawings import wiring_drawings
from firmware.page.drawing import draw_alone, read_island

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent


def island() -> str:
    """The board of Die Insel as a complete SVG file."""
    return draw_alone(read_island(OWN_BOARD))


def overview() -> str:
    """The overview board with the numbers that come with the game."""
    return Overview(load_tuning(), present(OWN_TUNING.read_text(encoding="utf-8")), "en").draw()


def wires() -> dict[str, Callable[[], str]]:
    """The drawings to wire a board by, of the wiring that comes with the firmware."""
    island = read_island(OWN_BOARD)
    drawings = wiring_drawings(load_wiring(None, [spot.field for spot in island.spots]), island)
    return {name: partial(str, drawing) for name, drawing in drawings.items()}


PICTURES = {"island.svg": island, "overview.svg": overview, **wires()}


def main() -> None:
    """Write every picture."""
    for name, draw in PICTURES.items():
        (ROOT / "docs" / name).write_text(draw(), encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
