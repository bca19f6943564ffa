"""The words of a browser's command: a JSON object, ``{"do": name, …}``."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeVar

from firmware.terms import VolcanoError

Json = dict[str, Any]


class CommandError(VolcanoError, ValueError):
    """A command that cannot be carried out; one line for whoever sent it."""


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
