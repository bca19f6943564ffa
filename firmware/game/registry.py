"""The games that the volcano can moderate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.game.insel.board import load_board
from firmware.game.insel.intro import IntroRules
from firmware.game.insel.rules import InselRules
from firmware.game.insel.script import InselScript
from firmware.game.insel.tuning import load_tuning
from firmware.game.kernel import Title
from firmware.terms import VolcanoError

if TYPE_CHECKING:
    from pathlib import Path


TITLES = ("insel",)


def load_title(name: str = "insel", *, board: Path | None = None, tuning: Path | None = None) -> Title:
    """A title by name, with an owner's board or odds where given.

    Raises:
        VolcanoError: no such title.
        ConfigError: a data file is wrong.
    """
    if name not in TITLES:
        raise VolcanoError(f"no game is called {name!r}; there are: {', '.join(TITLES)}")
    island = load_board(board)
    return Title(name, island.fields, IntroRules(island), InselRules(island, load_tuning(tuning)), InselScript(island))
