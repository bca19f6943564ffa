"""The page of a real board: what the volcano tells, its faults, and a second way to touch and to press.

Contacts and presses from the page reach the unit as those of the pads and of the button do; they disturb neither, so a
board with a dead field can be played on. What a browser asks is one command, nothing is held: a browser that goes away
in the middle leaves nothing behind. There is no switch and no battery here, those are real.
"""

from __future__ import annotations

import logging
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING, Protocol

from firmware.page.commands import CommandError, beside, flag, place, word
from firmware.page.told import Told
from firmware.terms import FIGURES, Figure, Grip, Press, Touch, VolcanoError, certain
from firmware.unit_events import LANGUAGES
from firmware.unit_script import fault_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from firmware.page.server import PageServer
    from firmware.page.told import Json
    from firmware.terms import Fault, Texts

ACTIONS = 8
"""Commands that may wait for the next poll, 20 ms at most; more are refused."""

log = logging.getLogger(__name__)


class Board(Protocol):
    """The running firmware of a board."""

    def submit(self, action: Callable[[], None]) -> None:
        """Run `action` in the loop's thread before its next poll; may be called from any thread."""

    def listen(self, listener: Callable[[Json], None]) -> None:
        """Give every row to `listener`, in the loop's thread."""

    def listen_to_faults(self, listener: Callable[[Sequence[Fault]], None]) -> None:
        """Give what is broken to `listener`, once a second, in the loop's thread."""

    def grip(self, grip: Grip) -> None:
        """Somebody holds a figure and touches; in the loop's thread."""

    def press(self, press: Press) -> None:
        """Somebody presses the button; in the loop's thread."""


class ServiceRoom(Told):
    """What a board tells and what is broken; every method may be called from any thread but its creation.

    `fields` are the board's field ids; figures stand where they were touched last (`stands` at first), or where a
    browser has put them. `texts` gives the catalogue of a language: faults are told in the words of the self-test.
    `language`, `volume`, `past` as for `Told`.
    """

    def __init__(
        self,
        board: Board,
        texts: Callable[[str], Texts],
        *,
        fields: Sequence[str],
        language: Callable[[], str] = lambda: "de",
        volume: Callable[[], int] = lambda: 3,
        past: Iterable[Json] = (),
        stands: Mapping[Figure, str] | None = None,
    ) -> None:
        self._board = board
        self.fields = frozenset(fields)
        self._figures: dict[Figure, str | None] = {**dict.fromkeys(FIGURES), **(stands or {})}
        self._texts = cache(texts)
        """Read at the first fault: most boards have none."""
        self._faults: Sequence[Fault] = ()
        self._faults_told: list[Json] = []
        self._waiting = 0
        super().__init__(language=language, volume=volume, past=past, sound="here")
        board.listen(self.hear)
        board.listen_to_faults(self.notice)

    # --- what the board says

    def notice(self, faults: Sequence[Fault]) -> None:
        """What is broken now."""
        with self._lock:
            if list(faults) != list(self._faults):
                self._faults = tuple(faults)
                self._faults_told = [self._fault(fault) for fault in faults]
                self._changed()

    def _fault(self, fault: Fault) -> Json:
        """The part, its name in every language, and the line of the log, which is as exact as the hardware knows."""
        told = {
            language: " ".join(self._texts(language).text(line.line, line.args) for line in fault_lines(fault))
            for language in LANGUAGES
        }
        return {"part": fault.part, "told": told, "text": fault.text}

    def _keep(self, row: Json) -> bool:
        changed = super()._keep(row)
        figure, field = row.get("figure"), row.get("field")
        if "event" in row and figure in FIGURES and field in self.fields and self._figures[Figure(figure)] != field:
            self._figures[Figure(figure)] = field
            return True
        return changed

    def _table(self) -> Json:
        return {
            **super()._table(),
            "service": True,
            "on": True,
            "button": False,
            "battery_low": False,
            "hold": None,
            "faults": self._faults_told,
            "figures": {figure.value: field for figure, field in self._figures.items()},
        }

    # --- what a person does

    def do(self, command: Json) -> None:
        """Carry out a command of the page: ``place``, ``contact`` or ``press``.

        Raises:
            CommandError: the command or one of its words is unknown, or too many wait.
        """
        name = command.get("do")
        match name:
            case "place":
                self._place(word(command, "figure", Figure), place(command, self.fields))
            case "contact":
                figure, field = word(command, "figure", Figure), place(command, self.fields)
                touch = word(command, "touch", Touch)
                if field is None:
                    raise beside(figure)
                grip = Grip(field, touch, certain(figure))
                self._act(lambda: self._board.grip(grip))
                self._place(figure, field)
            case "press":
                press = Press(long=flag(command, "long"))
                self._act(lambda: self._board.press(press))
            case _:
                raise CommandError(f"do: must be place, contact or press, is {name!r}")

    def _place(self, figure: Figure, field: str | None) -> None:
        with self._lock:
            if self._figures[figure] != field:
                self._figures[figure] = field
                self._changed()

    def _act(self, action: Callable[[], None]) -> None:
        with self._lock:
            if self._waiting >= ACTIONS:
                raise CommandError("the volcano is busy; try again", "refused_busy")
            self._waiting += 1

        def act() -> None:
            with self._lock:
                self._waiting -= 1
            action()

        self._board.submit(act)


class ServicePage:
    """A board's page, opened when the volcano is ready: what it needs is imported in a thread, beside the greeting.

    A page that cannot be served is one line in the log; the board plays on.
    """

    def __init__(
        self, room: ServiceRoom, board_file: Path, listen: str, port: int, names: Collection[str] = ()
    ) -> None:
        self._room = room
        self._board_file = board_file
        self._listen, self._port, self._names = listen, port, names
        self._server: PageServer | None = None
        self._closed = False
        self._opening = Thread(target=self._open, name="page-opening", daemon=True)

    def open(self) -> None:
        """Begin; `log` tells when the page is there."""
        try:
            self._opening.start()
        except RuntimeError as error:  # no more threads, or no memory for one
            log.warning("the page is not served: %s", error)

    def _open(self) -> None:
        try:
            from firmware.page.drawing import read_island  # noqa: PLC0415 - not before the volcano is ready
            from firmware.page.server import PageServer, make_app, names_of_this_machine  # noqa: PLC0415

            logging.getLogger("uvicorn").setLevel(logging.WARNING)
            hosts = {*names_of_this_machine(), *self._names}
            server = PageServer(
                make_app(self._room, read_island(self._board_file), hosts=hosts), self._port, self._listen
            )
            server.start()
        except ImportError as error:
            log.warning("the page is not served: install what it needs: pip install 'volcano[page]' (%s)", error)
        except VolcanoError as error:
            log.warning("the page is not served: %s", error)
        else:
            self._server = server
            log.info("the page is at %s", server.url)
            if self._closed:
                server.stop()

    def close(self) -> None:
        """Serve no more; harmless when called again, or before it was opened."""
        self._closed = True
        if self._server is not None:
            self._server.stop()
