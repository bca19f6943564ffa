"""Draw the pictures of docs/ from the data that the firmware plays with: ``.venv/bin/python tools/drawings.py``."""

from __future__ import annotations

from pathlib import Path

from firmware.game.insel.tuning import OWN_TUNING, load_tuning
from firmware.owner.overview import Overview
from firmware.owner.printed import present
from firmware.page.drawing import draw_alone, read_island

ROOT = Path(__file__).parent.parent


def island() -> str:
    """The board of Die Insel as a complete SVG file."""
    return draw_alone(read_island(ROOT / "firmware/game/insel/board.toml"))


def overview() -> str:
    """The overview board with the numbers that come with the game."""
    return Overview(load_tuning(), present(OWN_TUNING.read_text(encoding="utf-8")), "en").draw()


PICTURES = {"island.svg": island, "overview.svg": overview}


def main() -> None:
    """Write every picture."""
    for name, draw in PICTURES.items():
        (ROOT / "docs" / name).write_text(draw(), encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
