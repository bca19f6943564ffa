"""All drawings to wire a board by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.owner.figure_foot import draw_foot
from firmware.owner.pad_board import PAD_MM, WIDTH_MM, PadBoard
from firmware.owner.wiring_plan import draw_plan

if TYPE_CHECKING:
    from firmware.hal.wiring import Wiring
    from firmware.page.drawing import Island


def wiring_drawings(
    wiring: Wiring, island: Island, width_mm: float | None = None, pad_mm: float | None = None
) -> dict[str, str]:
    """File name -> SVG.

    Args:
        wiring: where every wire goes.
        island: where the fields lie.
        width_mm: from the westmost pad's edge to the eastmost's; None for the usual one.
        pad_mm: a field's diameter; None for the usual one.

    Raises:
        OwnerError: a size is senseless, or pads of this size do not fit on a board of this width.
    """
    board = PadBoard(island, wiring, WIDTH_MM if width_mm is None else width_mm, PAD_MM if pad_mm is None else pad_mm)
    drawings = {"wiring.svg": draw_plan(wiring), "pads.svg": board.draw_map()}
    drawings |= {f"pad-sheet-{number}.svg": sheet for number, sheet in enumerate(board.draw_sheets(), 1)}
    foot = draw_foot(wiring)
    return drawings | ({"figure-foot.svg": foot} if foot else {})
