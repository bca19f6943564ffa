"""The emulated table: figures, hands and fingers, as picofarads on the pads of emulated chips.

This is what stands in for a board where there is none: whoever plays over it plays through the chips, the driver and
the whole of sensing. The physics is AN3889's: a pad's capacitance to ground, all other electrodes of its chip being
grounded while it is measured.
"""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, Protocol

from firmware.hal.physics import USUAL, series_pf
from firmware.terms import FIGURES, TOUCHES, Figure, Touch, VolcanoError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firmware.hal.physics import TablePhysics
    from firmware.hal.wiring import Wiring


class PadInput(Protocol):
    """The physical side of an emulated chip."""

    def set_pf(self, electrode: int, picofarad: float, over_s: float = 0.0) -> None:
        """Move the capacitance on `electrode` to `picofarad`, evenly over `over_s` seconds."""


class TableError(VolcanoError, ValueError):
    """Something was asked of the table that it does not have."""


class Hands:
    """The players' side of an emulated board: one body with as many hands as needed, and four figures.

    Args:
        wiring: which pad is which electrode, and the capacitors in the figures' feet.
        chips: the emulated chips by address.
        physics: what the table is made of.
        seed: of the pads' own capacitances; the same seed is the same board.
    """

    def __init__(
        self,
        wiring: Wiring,
        chips: Mapping[int, PadInput],
        physics: TablePhysics = USUAL,
        seed: int = 0,
    ) -> None:
        self._physics = physics
        self._capacitor_pf = wiring.capacitor_pf
        self._where: dict[str, tuple[int, int]] = {}
        for chip in wiring.chips:
            for pads in (chip.touches, chip.fields):
                self._where.update((str(pad), (chip.address, electrode)) for pad, electrode in pads.items())
        self._fields = wiring.fields
        self._touch_chip = wiring.touch_chip.address
        self._chips = chips
        spread = physics.highest_pad_pf - physics.lowest_pad_pf
        self._empty_pf = {
            # A checksum of the name is spread evenly enough, and the same on every machine.
            pad: physics.lowest_pad_pf + spread * zlib.crc32(f"{seed} {pad}".encode()) / 2**32
            for pad in self._where
        }
        self._stands: dict[Figure, str | None] = dict.fromkeys(FIGURES)
        self._held: set[Figure] = set()
        self._touched: set[Touch] = set()
        self._covered: set[str] = set()
        self._target_pf: dict[str, float] = {}
        self._settle()

    # --- what players do

    def place(self, figure: Figure, field: str | None) -> None:
        """Carry a figure to `field` and let it go; None puts it beside the board."""
        self._check_figure(figure)
        if field is not None:
            self._check_field(field)
        before = self._stands[figure]
        if before is not None and before != field:
            self._held.add(figure)
            self._settle()
            self._held.discard(figure)
            self._stands[figure] = None
            self._settle(self._physics.let_go_s)
        self._stands[figure] = field
        self._held.add(figure)
        self._settle()
        self._held.discard(figure)
        self._settle(self._physics.set_down_s)

    def grip(self, figure: Figure, over_s: float = 0.0) -> None:
        """Take hold of a figure's head where it stands, the hand closing in `over_s` seconds."""
        self._check_figure(figure)
        self._held.add(figure)
        self._settle(over_s)

    def let_go(self, figure: Figure) -> None:
        """Let go of a figure; harmless if nobody held it."""
        self._check_figure(figure)
        self._held.discard(figure)
        self._settle(self._physics.let_go_s)

    def touch(self, touch: Touch, over_s: float = 0.0) -> None:
        """Put a finger on a Touch field."""
        self._check_touch(touch)
        self._touched.add(touch)
        self._settle(over_s)

    def lift(self, touch: Touch) -> None:
        """Take the finger off a Touch field; harmless if there was none."""
        self._check_touch(touch)
        self._touched.discard(touch)
        self._settle(self._physics.let_go_s)

    def lay_hand(self, field: str) -> None:
        """Lay a hand on a field."""
        self._check_field(field)
        self._covered.add(field)
        self._settle(self._physics.let_go_s)

    def raise_hand(self, field: str) -> None:
        """Take that hand away; harmless if there was none."""
        self._check_field(field)
        self._covered.discard(field)
        self._settle(self._physics.let_go_s)

    # --- what lies on the table now

    def where(self, figure: Figure) -> str | None:
        """The field a figure stands on, None beside the board."""
        self._check_figure(figure)
        return self._stands[figure]

    @property
    def held(self) -> frozenset[Figure]:
        """The figures somebody holds."""
        return frozenset(self._held)

    @property
    def touched(self) -> frozenset[Touch]:
        """The Touch fields with a finger on them."""
        return frozenset(self._touched)

    def pad_pf(self, pad: str) -> float:
        """The capacitance that a field or Touch field has now or is moving to, in picofarads."""
        if pad not in self._target_pf:
            raise TableError(f"there is no pad {pad!r}; the pads are {', '.join(sorted(self._where))}")
        return self._target_pf[pad]

    # --- physics

    def _settle(self, over_s: float = 0.0) -> None:
        """Move every pad whose capacitance changes to its new value."""
        for pad, (address, electrode) in self._where.items():
            picofarad = self._empty_pf[pad] + self._added_pf(pad, address)
            if not math.isclose(picofarad, self._target_pf.get(pad, -1.0), abs_tol=1e-9):
                self._target_pf[pad] = picofarad
                self._chips[address].set_pf(electrode, picofarad, over_s)

    def _added_pf(self, pad: str, address: int) -> float:
        physics = self._physics
        return_pf = physics.return_pf
        if address == self._touch_chip:
            # The other Touch fields are grounded while this pad is measured: a finger there grounds the body.
            return_pf += physics.touch_field_pf * sum(touch != pad for touch in self._touched)
        added = 0.0
        if pad in self._touched:
            added += series_pf(physics.touch_field_pf, return_pf)
        if pad in self._covered:
            added += series_pf(physics.palm_pf, return_pf)
        for figure, field in self._stands.items():
            if field == pad:
                to_ground = physics.figure_pf
                if figure in self._held:
                    to_ground += series_pf(physics.hand_pf, return_pf)
                added += series_pf(self._capacitor_pf[figure], to_ground)
        return added

    # --- words for what is not there

    def _check_figure(self, figure: str) -> None:
        if figure not in FIGURES:
            raise TableError(f"there is no figure {figure!r}; the figures are {', '.join(FIGURES)}")

    def _check_field(self, field: str) -> None:
        if field not in self._fields:
            raise TableError(f"there is no field {field!r}; the fields are {', '.join(sorted(self._fields))}")

    def _check_touch(self, touch: str) -> None:
        if touch not in TOUCHES:
            raise TableError(f"there is no Touch field {touch!r}; the Touch fields are {', '.join(TOUCHES)}")
