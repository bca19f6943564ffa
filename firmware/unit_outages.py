"""What breaks while people play is told of once: without it they would touch a dead field again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.terms import Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firmware.terms import Fault

OUTAGE_S = 5.0
"""A loose plug comes back within a second or two, and nobody need hear of it; estimate."""

TOLD_OF = frozenset({Part.BUS, Part.CHIP, Part.BUTTON})
"""Without these a hand gets no answer. Of a pad or a light the self-test tells; without sound nothing is heard."""


class Outages:
    """Parts that do not work, since when, and which were told of since power-on. Times in seconds."""

    def __init__(self) -> None:
        self._since_s: dict[tuple[Part, str], float] = {}
        self._told: set[tuple[Part, str]] = set()

    def due(self, now: float, faults: Sequence[Fault], *, aloud: bool) -> list[Fault]:
        """Which of the present faults are to be told now; none, but they are kept in mind, if not `aloud`."""
        present = {(fault.part, fault.name): fault for fault in faults if fault.part in TOLD_OF}
        self._since_s = {part: self._since_s.get(part, now) for part in present}
        if not aloud:
            return []
        due = [part for part, since_s in self._since_s.items() if now >= since_s + OUTAGE_S and part not in self._told]
        self._told.update(due)
        return [present[part] for part in due]
