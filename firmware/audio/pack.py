"""Sound packs: which clip belongs to a cue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Clip:
    """One sound file and how long it lasts."""

    path: Path
    duration_ms: int
