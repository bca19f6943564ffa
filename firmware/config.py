"""Configuration and other data files in TOML: typed, checked, and wrong in words.

Every file of the project (`volcano.toml`, `wiring.toml`, `board.toml`, `tuning.toml`) is read through `Table`. An error
names the file, the line, the key, what it must be and what it was.
"""

from __future__ import annotations

import os
import re
import reprlib
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from firmware.disk import read_file
from firmware.terms import VolcanoError, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")
_NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a table",
}


LOOPBACK = "127.0.0.1"
PORT = 8005
"""Of the page."""


class ConfigError(VolcanoError, ValueError):
    """A data file is wrong; the text is ``file:line: key: what it must be, what it was``."""


class _Absent:
    """Marks that a key has no default."""


ABSENT: Any = _Absent()


def _of_kind(value: Any, kind: type[T]) -> T | None:
    """The value if it is of this kind, else None: whole numbers are numbers; true, false, nan and inf are none."""
    if isinstance(value, bool) and kind is not bool:
        return None
    if kind is float and isinstance(value, int | float):
        number: Any = float(value) if abs(value) <= sys.float_info.max else None
        return cast("T | None", number)
    return value if isinstance(value, kind) else None


LONGEST = 80
"""Characters of a key or a value in an error."""
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = LONGEST


def shown(value: object) -> str:
    """A wrong value as an error shows it: no longer than a line has room for."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # a number of more than 4300 digits, as hexadecimal ones may be
        return "a number that is too long"


class Table:
    """One TOML table whose keys are taken by type. `done()` complains about keys that nobody took."""

    def __init__(self, values: dict[str, Any], file: str, text: str, path: tuple[str, ...] = ()) -> None:
        self.values = values
        self.file = file
        self._text = text
        self.path = path
        self._taken: set[str] = set()

    def error(self, key: str, problem: str) -> ConfigError:
        """An error about `key` of this table, with its line."""
        path = (*self.path, key)
        what = f"{'.'.join(part[:LONGEST] for part in path)}: {problem}"
        if not what.isprintable():  # keys may be any text
            what = what.encode("unicode_escape").decode()
        return ConfigError(f"{self.file}:{_line_of(self._text, path)}: {what}")

    def _take(self, key: str, kind: type[T], default: T) -> T:
        self._taken.add(key)
        if key not in self.values:
            if default is ABSENT:
                raise self.error(key, f"is missing; it must be {_NAMES[kind]}")
            return default
        value = self.values[key]
        checked = _of_kind(value, kind)
        if checked is None:
            raise self.error(key, f"must be {_NAMES[kind]}, is {shown(value)}")
        return checked

    def text(self, key: str, default: str = ABSENT, *, choices: Sequence[str] = ()) -> str:
        """A text, one of `choices` if there are any."""
        value = self._take(key, str, default)
        if choices and value not in choices:
            raise self.error(key, f"must be one of {', '.join(choices)}, is {shown(value)}")
        return value

    def whole(self, key: str, default: int = ABSENT, *, low: int | None = None, high: int | None = None) -> int:
        """A whole number from `low` to `high`."""
        value = self._take(key, int, default)
        self._check_range(key, value, low, high)
        return value

    def number(
        self, key: str, default: float = ABSENT, *, low: float | None = None, high: float | None = None
    ) -> float:
        """A number from `low` to `high`."""
        value = self._take(key, float, default)
        self._check_range(key, value, low, high)
        return value

    def _check_range(self, key: str, value: float, low: float | None, high: float | None) -> None:
        if (low is not None and value < low) or (high is not None and value > high):
            span = f"from {low}" if high is None else f"at most {high}" if low is None else f"from {low} to {high}"
            raise self.error(key, f"must be {span}, is {shown(value)}")

    def flag(self, key: str, default: bool = ABSENT) -> bool:
        """True or false."""
        return self._take(key, bool, default)

    def list_of(self, key: str, kind: type[T], default: list[T] = ABSENT, *, size: int | None = None) -> list[T]:
        """A list whose items are all of one kind (float takes whole numbers), of `size` items if given."""
        items = self._take(key, list, default)
        if size is not None and len(items) != size:
            raise self.error(key, f"must have {counted(size, 'item')}, has {len(items)}")
        checked: list[T] = []
        for item in items:
            value = _of_kind(item, kind)
            if value is None:
                raise self.error(key, f"each item must be {_NAMES[kind]}, one is {shown(item)}")
            checked.append(value)
        return checked

    def table(self, key: str, *, optional: bool = False) -> Table:
        """A table below this one; empty if it is optional and absent."""
        values: dict[str, Any] = self._take(key, dict, {} if optional else ABSENT)
        return Table(values, self.file, self._text, (*self.path, key))

    def tables(self, key: str) -> list[Table]:
        """A list of tables."""
        return [
            Table(values, self.file, self._text, (*self.path, key, str(index)))
            for index, values in enumerate(self.list_of(key, dict))
        ]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def done(self) -> None:
        """Every key must have been taken."""
        for key in self.values:
            if key not in self._taken:
                known = ", ".join(sorted(self._taken))
                raise self.error(key, f"is not a key here; known: {known}")


MOST_LEFT_OUT = 20
"""Lines that are not TOML; a file with more of them is something else, and each costs the start another look at it."""

Hear = Callable[[ConfigError], None]
"""Hears what is wrong with a file."""


def refuse(error: ConfigError) -> None:
    """Whoever asks for a file wants it right."""
    raise error


def read_table(path: Path, wrong: Hear = refuse) -> Table:
    """Read a TOML file. If `wrong` bears with them, lines that are not TOML are left out, and bytes that are no text.

    Raises:
        ConfigError: it is missing, unreadable, not UTF-8 or not TOML.
    """
    name = str(path)
    try:
        data = read_file(path)
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read: {error.strerror}") from error
    try:
        text = data.decode("utf-8-sig")  # some editors of Windows begin a file with a mark
    except UnicodeDecodeError as error:
        wrong(ConfigError(f"{name}: is not UTF-8 text (byte {error.start})"))
        text = data.decode(errors="replace")
    lines = text.split("\n")
    for attempt in range(MOST_LEFT_OUT + 1):
        try:
            return Table(tomllib.loads("\n".join(lines)), name, text)
        except (ValueError, RecursionError) as error:  # beside TOMLDecodeError: endless numbers, endless nesting
            found = re.search(r"\(at line (\d+)", str(error))
            line = f":{found[1]}" if found else ""
            problem = re.sub(r" \(at .*\)", "", str(error))
            refused = ConfigError(f"{name}{line}: is not TOML: {problem}")
            if not attempt:
                wrong(refused)
            if not found or attempt == MOST_LEFT_OUT:
                raise refused from error
            lines[int(found[1]) - 1] = ""
    raise AssertionError("the last attempt has returned or raised")


def _line_of(text: str, path: tuple[str, ...]) -> int:
    """The line of a key, found by its nearest enclosing header; tomllib keeps no positions."""
    best, best_depth = 1, -1
    header: tuple[str, ...] = ()
    latest: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if found := re.match(r"(\[\[?)\s*([^\]]+?)\s*\]", stripped):
            header = _header(found[2], latest, begins_item=found[1] == "[[")
            here = header
        elif found := re.match(r'("?[\w.-]+"?)\s*=', stripped):
            here = (*header, *found[1].strip('"').split("."))
        else:
            continue
        if here == path[: len(here)] and len(here) > best_depth:
            best, best_depth = number, len(here)
    return best


def _header(name: str, latest: dict[tuple[str, ...], int], *, begins_item: bool) -> tuple[str, ...]:
    """The path of a header; after the name of a list of tables comes the number of the item that it is in."""
    path: tuple[str, ...] = ()
    parts = [part.strip().strip('"') for part in name.split(".")]
    for number, part in enumerate(parts, 1):
        path = (*path, part)
        if begins_item and number == len(parts):
            latest[path] = latest.get(path, -1) + 1
        if path in latest:
            path = (*path, str(latest[path]))
    return path


def state_folder() -> Path:
    """Where games, settings and calibration are kept: systemd's StateDirectory, else the XDG state folder."""
    if systemd := os.environ.get("STATE_DIRECTORY"):
        return Path(systemd.split(":")[0])
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "volcano"


def config_file() -> Path:
    """Where `volcano.toml` is looked for when no ``--config`` names one."""
    system = Path("/etc/volcano.toml")
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    personal = Path(base) / "volcano.toml"
    return personal if personal.exists() or not system.exists() else system


@dataclass(frozen=True, slots=True)
class Configuration:
    """What `volcano.toml` says; every key is optional."""

    language: str = "de"
    """Until the spoken settings say otherwise."""
    volume: int = 3
    """1 to 5, likewise."""
    card: str = ""
    """The sound card by name (second column of /proc/asound/cards); empty: the system's default."""
    buffer: int = 512
    """Frames a period of the mixer; 1024 where 512 crackles."""
    wiring: Path | None = None
    board: Path | None = None
    tuning: Path | None = None
    """An owner's copies of `wiring.toml`, `board.toml`, `tuning.toml`; relative to this file."""
    listen: str = LOOPBACK
    """The address at which a board serves its page; 0.0.0.0 for the whole house."""
    port: int = PORT
    """The port there."""
    names: tuple[str, ...] = ()
    """Names by which the house knows the board, beside its own and its addresses."""


def load_configuration(path: Path | None = None, wrong: Hear = refuse) -> Configuration:
    """Read `volcano.toml`; without `path`, from where it is usually looked for, and defaults if there is none.

    `wrong` hears of each key that is wrong. If it bears that, the default takes the place of this key and no other: a
    volcano without its sound card could not even say what is wrong.

    Raises:
        ConfigError: the file cannot be read, or a key is wrong.
    """
    if path is None:
        path = config_file()
        if not path.exists():
            return Configuration()
    folder, default = path.parent, Configuration()
    table = read_table(path, wrong)

    def right(take: Callable[[], T], otherwise: T) -> T:
        try:
            return take()
        except ConfigError as error:
            wrong(error)
            return otherwise

    def section(name: str) -> Table:
        return right(lambda: table.table(name, optional=True), Table({}, table.file, ""))

    def file(key: str) -> Path | None:
        name = right(lambda: own.text(key, ""), "")
        return folder / name if name else None

    sound, own, page = section("sound"), section("files"), section("page")
    nobody: list[str] = []
    configuration = Configuration(
        language=right(lambda: table.text("language", default.language, choices=("de", "en")), default.language),
        volume=right(lambda: table.whole("volume", default.volume, low=1, high=5), default.volume),
        card=right(lambda: sound.text("card", default.card), default.card),
        buffer=right(lambda: sound.whole("buffer", default.buffer, low=256, high=4096), default.buffer),
        wiring=file("wiring"),
        board=file("board"),
        tuning=file("tuning"),
        listen=right(lambda: _address(page), default.listen),
        port=right(lambda: page.whole("port", default.port, low=1, high=65535), default.port),
        names=tuple(name.lower() for name in right(lambda: page.list_of("names", str, nobody), nobody)),
    )
    for each in (sound, own, page, table):
        right(each.done, None)
    return configuration


def _address(page: Table) -> str:
    listen = page.text("listen", LOOPBACK)
    if "listen" in page:
        from ipaddress import ip_address  # noqa: PLC0415 - only where the key is used: it costs a millisecond at start

        try:
            ip_address(listen)
        except ValueError:
            raise page.error("listen", f"must be an address such as 127.0.0.1 or 0.0.0.0, is {listen!r}") from None
    return listen
