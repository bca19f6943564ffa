"""The journal: the one record format of running games, recorded games, replay and resumption.

A file of lines, each a CRC-32 (eight hex digits), a space and one JSON object: a game that began, every accepted
contact with its draws and events, its end. Power may go at any instant: a torn last line is dropped, what was
whole counts. A file that is no journal is set aside under another name, never overwritten.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from firmware import __version__
from firmware.disk import free_name, read_file, replace_file, sync_folder
from firmware.game.kernel import Begun, Ended, Played, Record
from firmware.terms import Contact, Figure, Touch, VolcanoError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from firmware.unit_events import Settings

FORMAT = 1
GAMES_KEPT = 100
"""Finished games kept as records; some 30 KiB each."""


class JournalError(VolcanoError):
    """A file that is no journal, or cannot be read."""


@dataclass(frozen=True, slots=True)
class Journal:
    """What a file held: its records, the bytes they take, and what was wrong behind them (empty if nothing)."""

    records: tuple[Record, ...]
    whole_bytes: int
    problem: str = ""


def encode(record: Record) -> bytes:
    """One line."""
    if isinstance(record, Begun):
        row: dict[str, Any] = {"begun": record.rules, "format": FORMAT, "version": __version__, "state": record.state}
    elif isinstance(record, Played):
        contact = record.contact
        touched = [contact.figure.value, contact.field, contact.touch.value]
        row = {"contact": touched, "draws": record.draws, "events": record.events}
    else:
        row = {"ended": record.reason}
    return checked_line(row)


def checked_line(row: dict[str, Any]) -> bytes:
    """A JSON object as one line with its checksum."""
    body = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def parse_line(line: bytes) -> dict[str, Any]:
    """The object of a checked line.

    Raises:
        ValueError: not a line of ours, or damaged.
    """
    checksum, _, body = line.rstrip(b"\n").partition(b" ")
    if len(checksum) != 8 or not line.endswith(b"\n") or int(checksum, 16) != zlib.crc32(body):
        raise ValueError("checksum")
    try:
        row = json.loads(body)
    except RecursionError as error:
        raise ValueError("endless nesting") from error
    if not isinstance(row, dict):
        raise ValueError("no object")  # noqa: TRY004 - the caller knows one error
    return row


def decode(data: bytes) -> Journal:
    """The whole records at the beginning of `data`."""
    records: list[Record] = []
    position = 0
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        try:
            records.append(_record(parse_line(line)))
        except (ValueError, KeyError, TypeError, IndexError):
            torn = position + len(line) == len(data)
            problem = "the last line is torn" if torn and records else f"line {number} is damaged"
            return Journal(tuple(records), position, problem)
        position += len(line)
    return Journal(tuple(records), position)


def _record(row: dict[str, Any]) -> Record:
    if "begun" in row:
        if row["format"] != FORMAT:
            raise ValueError("format")
        return Begun(str(row["begun"]), row["state"])
    if "ended" in row:
        return Ended(str(row["ended"]))
    figure, field, touch = row["contact"]
    draws = tuple((str(kind), outcome) for kind, outcome in row["draws"])
    events = tuple(row["events"])
    if not all(isinstance(outcome, str | int) for _, outcome in draws) or not all(isinstance(e, dict) for e in events):
        raise TypeError("draws or events")
    return Played(Contact(Figure(figure), str(field), Touch(touch)), draws, events)


def read_journal(path: Path) -> Journal:
    """A journal file, for replay.

    Raises:
        JournalError: it cannot be read or holds no record.
    """
    try:
        journal = decode(read_file(path))
    except OSError as error:
        raise JournalError(f"{path}: cannot be read: {error.strerror}") from error
    if not journal.records:
        raise JournalError(f"{path}: is no journal of a game: {journal.problem or 'it is empty'}")
    return journal


class Store:
    """The state folder: the running game, finished games, settings. Never raises into a game; `warn` gets one line."""

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        self.folder = folder
        self.warn = warn
        self.running = folder / "running.journal"
        self._settings = folder / "settings.json"
        self._earlier_settings = folder / "settings-earlier.json"
        self._complained = False
        self._unwritten: list[Record] = []
        """What the disk refused; it is tried again with the next record, so that no record is missing between."""
        self._whole_bytes: int | None = None
        """The length of what is good in the running game's file; None: all of it."""
        self._damaged: tuple[bytes, Journal] | None = None
        """What the file held that is to be set aside, and could not be yet."""
        self._claim: int | None = None

    def claim(self) -> bool:
        """Whether the folder is this process's alone, from now to its end; two would write into each other's game.

        What cannot be locked is nobody else's: a folder that cannot be made, a file system that knows no locks.
        """
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._claim = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(self._claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    def load(self) -> tuple[Record, ...]:
        """The records of the running game. A torn tail is cut off; a damaged or foreign file is set aside."""
        self._unwritten.clear()  # after a power cut only what is on the disk has happened
        self._whole_bytes = self._damaged = None
        try:
            data = read_file(self.running)
        except FileNotFoundError:
            return ()
        except OSError as error:
            self.warn(f"journal: {self.running} cannot be read: {error.strerror}; a new game will be recorded there")
            return ()
        journal = decode(data)
        if journal.problem:
            self._mend(data, journal)
        return journal.records

    def _mend(self, data: bytes, journal: Journal) -> None:
        torn = bool(journal.records) and journal.problem == "the last line is torn"
        with self._complaining():
            if torn:
                self._whole_bytes = journal.whole_bytes  # the next record cuts the tail off if the disk is full now
                replace_file(self.running, data[: journal.whole_bytes])
            else:
                self._damaged = data, journal
                self._set_aside()

    def _set_aside(self) -> None:
        """Keep what is damaged under another name, on the disk before the running game's file has it no more."""
        if self._damaged is None:
            return
        data, journal = self._damaged
        aside = free_name(self.folder, "set-aside", ".journal")
        replace_file(aside, data)
        self.warn(f"journal: {self.running}: {journal.problem}; the file is kept as {aside}")
        if journal.records:
            replace_file(self.running, data[: journal.whole_bytes])
        else:
            self.running.unlink()
        self._damaged = None

    def append(self, *records: Record) -> None:
        """Keep records; they are on the disk when this returns, unless the disk refuses them."""
        self._unwritten += records
        with self._complaining():
            self.folder.mkdir(parents=True, exist_ok=True)
            while self._unwritten:
                later = (n for n, record in enumerate(self._unwritten) if n and isinstance(record, Begun))
                game = self._unwritten[: next(later, None)]
                self._write(game)
                del self._unwritten[: len(game)]

    def settled(self, within_s: float = 0.0) -> bool:  # noqa: ARG002 - nothing is ever under way
        """Everything that was handed over is on the disk, or was refused by it."""
        return True

    def close(self) -> None:
        """Nothing is under way; the folder is free for another process."""
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None

    def _write(self, records: Sequence[Record]) -> None:
        """Records of one game, with one sync."""
        self._set_aside()
        if self._whole_bytes is None:
            self._whole_bytes = self.running.stat().st_size if self.running.exists() else 0
        if isinstance(records[0], Begun) and self._whole_bytes:
            self._put_away()
        lines = b"".join(map(encode, records))
        with self.running.open("ab") as file:
            self._whole_bytes = min(self._whole_bytes, file.tell())
            file.truncate(self._whole_bytes)  # half a line, where the disk was full before
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
        if not self._whole_bytes:
            sync_folder(self.folder)
        self._whole_bytes += len(lines)

    def _put_away(self) -> None:
        """Keep the finished game under the next number and drop the oldest."""
        games = self.folder / "games"
        games.mkdir(exist_ok=True)
        self.running.rename(free_name(games, "game", ".journal"))
        self._whole_bytes = 0
        for old in sorted(games.glob("game-*.journal"))[:-GAMES_KEPT]:
            old.unlink()

    def load_settings(self, default: Settings) -> Settings:
        """The settings of the last time; the ones before if those are damaged, and `default` if there are none."""
        for path in (self._settings, self._earlier_settings):
            try:
                row = parse_line(read_file(path))
                return type(default)(**row).checked()
            except FileNotFoundError:
                continue
            except (OSError, ValueError, TypeError) as error:
                self.warn(f"settings: {path} is damaged ({error}); going on with earlier ones or as configured")
                with self._complaining():
                    path.replace(free_name(self.folder, "set-aside", path.suffix))
        return default

    def save_settings(self, settings: Settings) -> None:
        """Keep the settings, and the ones before."""
        with self._complaining():
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self._settings, checked_line(asdict(settings)), earlier=self._earlier_settings)

    @contextmanager
    def _complaining(self) -> Iterator[None]:
        """A full or read-only disk is said once; the game goes on without a record."""
        try:
            yield
        except OSError as error:
            if not self._complained:
                self._complained = True
                self.warn(f"journal: {self.folder} cannot be written: {error.strerror}; the game is not recorded")
