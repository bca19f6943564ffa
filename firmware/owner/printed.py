"""What an original's printed overview board says, and how its numbers get into a copy of `tuning.toml`.

The file is changed line by line, so that comments and order stay. Entered numbers are known: their table's grade
becomes K once all its numbers come from the board, and its source says which ones do.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from firmware.game.insel.board import CREATURES
from firmware.terms import VolcanoError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BOARD = "owner's overview board"
MOST = 99
"""More no board prints."""


class OwnerError(VolcanoError):
    """A number or key that an owner gave cannot be used; says which and what to give instead."""


@dataclass(frozen=True, slots=True)
class Printed:
    """One number of the printed points table: where it stands in the file, and what it is for."""

    table: str
    key: str
    meaning: str

    @property
    def name(self) -> str:
        """``table.key``."""
        return f"{self.table}.{self.key}"


PRINTED = (
    Printed("ariki", "points", "points for discovering the Ariki"),
    Printed("granted_tablet", "points", "points for each stone tablet received"),
    Printed("statue_points", "each_tablet", "points for each stone tablet laid at a statue"),
    Printed("statue_points", "awakening", "further points for awakening a statue"),
    Printed("set", "tablets", "stone tablets for exploring all three sites of one kind"),
    Printed("beachcomber_bonus", "points", "points for the first visit to the Beachcomber after a statue awoke"),
    *(Printed("values", each, f"creature points when the {each} vanishes") for each in CREATURES),
    Printed("gnome", "twice_points", "further creature points for driving off the gnome twice in a row"),
    Printed("driven", "moves", "creature points when a creature moves to another field"),
    Printed("driven", "tablet", "creature points for driving off a creature with a stone tablet"),
    Printed("ariki", "cards", "Ariki cards for discovering the Ariki"),
)
"""Rulebook, Overview of the points: what the board lists by its kind; which rows it has nobody without one can know."""


@dataclass(frozen=True, slots=True)
class Present:
    """A number as a file has it; `known` if it comes from the rulebook or an original's board."""

    value: int
    grade: str
    known: bool


def present(text: str) -> Mapping[Printed, Present]:
    """The printed numbers as this tuning file has them.

    Raises:
        OwnerError: the file is no TOML, or lacks one of them.
    """
    try:
        tables = tomllib.loads(text)
        return {each: _present(tables[each.table], each.key) for each in PRINTED}
    except tomllib.TOMLDecodeError as error:
        raise OwnerError(f"is no TOML: {error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise OwnerError(f"is no tuning file: {error} is missing or no number") from error


def _present(table: Mapping[str, Any], key: str) -> Present:
    listed, _ = _from_board(table["source"])
    return Present(int(table[key]), table["grade"], table["grade"] == "K" or key in listed)


def printed(name: str) -> Printed:
    """The number of this name, ``table.key``.

    Raises:
        OwnerError: there is none.
    """
    for each in PRINTED:
        if each.name == name:
            return each
    raise OwnerError(f"{name!r} is not on the board; there are {', '.join(each.name for each in PRINTED)}")


def number(answer: str) -> int:
    """What was typed, as a number from 0 to `MOST`.

    Raises:
        OwnerError: it is none.
    """
    if not re.fullmatch(r"[0-9]{1,2}", answer):
        raise OwnerError(f"{answer!r} is no number from 0 to {MOST}")
    return int(answer)


def entered(text: str, numbers: Mapping[Printed, int]) -> str:
    """The file's text with these numbers in it, known from the board; all else stays as it is.

    Raises:
        OwnerError: the file does not write them on lines of their own.
    """
    lines = text.splitlines(keepends=True)
    for table in dict.fromkeys(each.table for each in numbers):
        span = _table(lines, table)
        values = {found["key"]: found["value"] for found in _matches(lines, span)}
        listed, source = _from_board(values.get("source", "").strip('"'))
        for each, value in numbers.items():
            if each.table == table:
                _replace(lines, span, each.key, str(value))
                listed |= {each.key}
        whole = values.keys() - {"grade", "source"} <= listed
        if whole:
            _replace(lines, span, "grade", '"K"')
        named = BOARD if whole else f"{BOARD} ({', '.join(sorted(listed))}); {source}"
        _replace(lines, span, "source", f'"{named}"')
    return "".join(lines)


def _from_board(source: str) -> tuple[set[str], str]:
    """The keys that a source says come from the board, and where the others come from."""
    found = re.fullmatch(rf"{re.escape(BOARD)} \(([a-z_, ]*)\); (.*)", source)
    return (set(found[1].split(", ")), found[2]) if found else (set(), source)


_LINE = re.compile(r"""^(?P<key>[a-z_]+)(?P<equals>\s*=\s*)(?P<value>"[^"]*"|[^#\s][^#\n]*?)(?P<rest>\s*(?:\#.*)?)$""")


def _table(lines: list[str], name: str) -> range:
    """The lines of a table, without its head."""
    heads = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    for head, following in zip(heads, [*heads[1:], len(lines)], strict=True):
        if lines[head].strip().partition("#")[0].strip() == f"[{name}]":
            return range(head + 1, following)
    raise OwnerError(f"[{name}] stands on no line of its own")


def _replace(lines: list[str], span: Iterable[int], key: str, value: str) -> None:
    for number in span:
        found = _LINE.match(lines[number].rstrip("\r\n"))
        if found and found["key"] == key:
            end = lines[number][len(lines[number].rstrip("\r\n")) :]
            lines[number] = f"{key}{found['equals']}{value}{found['rest']}{end}"
            return
    raise OwnerError(f"{key} stands on no line of its own")


def _matches(lines: list[str], span: range) -> list[re.Match[str]]:
    found = (_LINE.match(lines[number].rstrip("\r\n")) for number in span)
    return [each for each in found if each]
