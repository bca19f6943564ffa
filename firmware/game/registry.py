"""The games that the volcano can moderate.

A title's rules and script are loaded when they are first asked for: the greeting is heard without them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from firmware.game.insel.board import load_board
from firmware.terms import VolcanoError

if TYPE_CHECKING:
    from pathlib import Path

    from firmware.game.insel.board import Board
    from firmware.game.insel.intro import IntroRules
    from firmware.game.insel.rules import InselRules
    from firmware.game.insel.script import InselScript
    from firmware.game.insel.tuning import Tuning
    from firmware.game.kernel import Title


TITLES = ("insel",)


class Insel:
    """Die Insel on a board, with an owner's odds if there are any; a `Title`."""

    name = "insel"

    def __init__(self, island: Board, tuning: Tuning | None = None) -> None:
        self._island = island
        self._tuning = tuning
        self.fields = island.fields

    @cached_property
    def intro(self) -> IntroRules:
        """The introductory game."""
        from firmware.game.insel.intro import IntroRules  # noqa: PLC0415 - late on purpose, as all here

        return IntroRules(self._island)

    @cached_property
    def game(self) -> InselRules:
        """The game."""
        from firmware.game.insel.rules import InselRules  # noqa: PLC0415
        from firmware.game.insel.tuning import load_tuning  # noqa: PLC0415

        return InselRules(self._island, self._tuning or load_tuning())

    @cached_property
    def script(self) -> InselScript:
        """What is said and heard."""
        from firmware.game.insel.script import InselScript  # noqa: PLC0415

        return InselScript(self._island)

    def load(self) -> None:
        """Load now what would be loaded when it is first asked for."""
        _ = self.intro, self.game, self.script


def load_title(name: str = "insel", *, board: Path | None = None, tuning: Path | None = None) -> Title:
    """A title by name, with an owner's board or odds where given; those are read, and checked, now.

    Raises:
        VolcanoError: no such title.
        ConfigError: a data file is wrong.
    """
    if name not in TITLES:
        raise VolcanoError(f"no game is called {name!r}; there are: {', '.join(TITLES)}")
    island = load_board(board)
    if tuning is None:
        return Insel(island)
    from firmware.game.insel.tuning import load_tuning  # noqa: PLC0415

    return Insel(island, load_tuning(tuning))
