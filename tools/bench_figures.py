"""What `tools/bench` reports: ours and a named peer's figures, measured in the same run."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Figures:
    """One line of the report; `target` as it is printed, `met` None if there is none."""

    what: str
    ours: str
    peer: str
    result: str
    target: str = ""
    met: bool | None = None


def report(rows: Sequence[Figures]) -> None:
    """One table."""
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for row in rows:
        verdict = "" if row.met is None else "met" if row.met else "MISSED"
        if colour and verdict:
            verdict = f"\x1b[{32 if row.met else 31}m{verdict}\x1b[0m"
        print(f"{row.what}\n    ours    {row.ours}\n    peer    {row.peer}\n    result  {row.result}")
        if row.target:
            print(f"    target  {row.target}: {verdict}")
