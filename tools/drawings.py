"""Draw the pictures of docs/ from the data that the firmware plays with: ``.venv/bin/python tools/drawings.py``."""

from __future__ import annotations

from pathlib import Path

from firmware.page.drawing import draw_alone, read_island

ROOT = Path(__file__).parent.parent


def island() -> str:
    """The board of Die Insel as a complete SVG file."""
    return draw_alone(read_island(ROOT / "firmware/game/insel/board.toml"))


PICTURES = {"island.svg": island}


def main() -> None:
    """Write every picture."""
    for name, draw in PICTURES.items():
        (ROOT / "docs" / name).write_text(draw(), encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
