"""The words of a browser's command: a JSON object, ``{"do": name, …}``."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from firmware.terms import VolcanoError

if TYPE_CHECKING:
    from firmware.terms import Figure

Json = dict[str, Any]


class CommandError(VolcanoError, ValueError):
    """A command that cannot be carried out; one line for whoever sent it.

    `word` is the key of the page's own words for it (``refused_…`` in words.js), where a page in order can meet it.
    """

    def __init__(self, text: str, word: str = "") -> None:
        super().__init__(text)
        self.word = word


def beside(figure: Figure) -> CommandError:
    """A figure that is to be touched, and stands on no field."""
    return CommandError(f"figure: {figure} stands beside the board; place it on a field first", "refused_aside")


W = TypeVar("W", bound=StrEnum)


def word(command: Json, key: str, kind: type[W]) -> W:
    """The word under `key`, one of an enum's.

    Raises:
        CommandError: it is missing or unknown.
    """
    value: Any = command.get(key)
    try:
        return kind(value)
    except ValueError:
        raise CommandError(f"{key}: must be one of {', '.join(kind)}, is {value!r}") from None


def place(command: Json, fields: frozenset[str]) -> str | None:
    """The field under ``field``, None: beside the board.

    Raises:
        CommandError: it is none of `fields`.
    """
    field = command.get("field")
    if field is None or (isinstance(field, str) and field in fields):
        return field
    raise CommandError(f"field: must be one of {', '.join(sorted(fields))} or null, is {field!r}")


def flag(command: Json, key: str) -> bool:
    """The truth under `key`.

    Raises:
        CommandError: it is neither true nor false.
    """
    value = command.get(key)
    if isinstance(value, bool):
        return value
    raise CommandError(f"{key}: must be true or false, is {value!r}")
