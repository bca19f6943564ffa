"""A volcano on a table, for tests: lines of the console go in, its rows come out (docs/console.md)."""

from __future__ import annotations

import io
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from firmware.catalogue import Catalogue, load
from firmware.console import Console
from firmware.game.registry import load_title
from firmware.journal import decode

if TYPE_CHECKING:
    from firmware.game.kernel import Record

Row = dict[str, Any]

TITLE = load_title()

GREETING_S = 3
"""The greeting's nominal time."""


@cache
def texts(language: str) -> Catalogue:
    """The catalogue of the house, loaded once for all tests."""
    return load(language)


TWO = """
chance site temple
white beach-s explore
wait 30
chance site well
red beach-sw explore
wait 30
"""
"""White lands at the temple in the south, Red at the well in the southwest."""

ARIKI = """
chance site ariki
chance spawn none
white jungle-w explore
wait 300
"""
"""White finds the Ariki; her story is heard to its end."""


class Table:
    """One volcano. `play` carries out lines; every row so far is in `rows`, every complaint in `complaints`."""

    def __init__(
        self,
        lines: str = "",
        *,
        seed: int = 7,
        language: str = "de",
        low_battery: bool = False,
        state: Row | None = None,
    ) -> None:
        self.rows: list[Row] = []
        self.complaints: list[str] = []
        self.file = io.BytesIO()
        self.console = Console(
            TITLE,
            texts,
            seed=seed,
            language=language,
            low_battery=low_battery,
            write=self._write,
            complain=self.complaints.append,
            record=self.file,
        )
        if state is None:
            self.console.power_on()
        else:
            self.console.restore(json.dumps(state))
        self.play(lines)

    def _write(self, row: Row) -> None:
        self.rows.append(json.loads(json.dumps(row)))

    def play(self, lines: str) -> Rows:
        """Carry out lines, none of which may be misuse; the rows that they made."""
        before = len(self.rows)
        for line in lines.strip().splitlines():
            self.console.command(line)
        assert not self.complaints, self.complaints
        return Rows(self.rows[before:])

    def misuse(self, line: str) -> str:
        """Carry out a line that cannot be used; the one line of complaint. Nothing else may come of it."""
        before, state = len(self.rows), self.console.unit.dump()
        self.console.command(line)
        assert self.rows[before:] == []
        assert self.console.unit.dump() == state
        (complaint,) = self.complaints
        self.complaints.clear()
        return complaint

    @property
    def all(self) -> Rows:
        """Every row so far."""
        return Rows(self.rows)

    @property
    def status(self) -> int:
        """The exit status that the console would have."""
        return self.console.status

    def state(self) -> Row:
        """What `state` prints, without the time."""
        (row,) = self.play("state")
        return {key: value for key, value in row.items() if key != "t"}

    def records(self) -> tuple[Record, ...]:
        """What `--record` has written so far."""
        return decode(self.file.getvalue()).records


class Rows(list[Row]):
    """Rows of the console, to be looked through."""

    def events(self, name: str, /, **fields: Any) -> Rows:
        """The events of a name whose fields are as given."""
        return Rows(row for row in self if row.get("event") == name and _has(row, fields))

    def cues(self, cue: str, /, **fields: Any) -> Rows:
        """The cues of a kind whose fields are as given."""
        return Rows(row for row in self if row.get("cue") == cue and _has(row, fields))

    @property
    def named(self) -> list[str]:
        """The events' names, in order."""
        return [row["event"] for row in self if "event" in row]

    @property
    def lines(self) -> list[str]:
        """What is said, by the catalogue's keys, in order."""
        return [row["line"] for row in self if row.get("cue") == "say"]

    @property
    def sounds(self) -> list[str]:
        """The sounds, in order."""
        return [row["name"] for row in self if row.get("cue") == "sound"]

    @property
    def heard(self) -> list[str]:
        """Lines and sounds, in order."""
        return [row.get("line") or row["name"] for row in self if row.get("cue") in ("say", "sound")]

    @property
    def reasons(self) -> list[str]:
        """Why contacts were rejected."""
        return [row["reason"] for row in self.events("rejected")]

    @property
    def untimed(self) -> list[Row]:
        """The rows without their times."""
        return [{key: value for key, value in row.items() if key != "t"} for row in self]


def _has(row: Row, fields: Row) -> bool:
    return all(row.get(key) == value for key, value in fields.items())
