"""Draw the pictures of docs/ from the data that the firmware plays with: ``.venv/bin/python tools/drawings.py``."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from firmware.page.drawing import draw_alone, read_island

DOCS = Path(__file__).parent.parent / "docs"


def island() -> str:
    """The board of Die Insel as a complete SVG file."""
    return draw_alone(read_island(files("firmware.game.insel") / "board.toml"))


PICTURES = {"island.svg": island}


def main() -> None:
    """Write every picture."""
    for name, draw in PICTURES.items():
        (DOCS / name).write_text(draw(), encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
