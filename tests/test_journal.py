"""The journal: power may go at any instant, a card may be full or damaged, and nothing that was heard is lost."""

from __future__ import annotations

import errno
import os
import stat
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from table import ARIKI, TITLE, TWO, Table

from firmware.game.kernel import Begun, Ended, Played, replay, unfinished
from firmware.journal import (
    GAMES_KEPT,
    JournalError,
    Store,
    checked_line,
    decode,
    encode,
    parse_line,
    read_journal,
)
from firmware.terms import Contact, Figure, Touch
from firmware.unit_events import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from firmware.game.kernel import Record

RECORDS = Table("wait 30\n" + TWO + ARIKI).records()
"""A game of three contacts."""
DATA = b"".join(map(encode, RECORDS))


class Kept(Store):
    """A store that remembers what it warned of."""

    def __init__(self, folder: Path) -> None:
        self.warnings: list[str] = []
        super().__init__(folder, self.warnings.append)


@pytest.fixture
def store(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "state")


def keep(store: Store, *records: Record) -> None:
    for record in records:
        store.append(record)


# --- lines


def test_a_record_survives() -> None:
    assert decode(DATA).records == RECORDS
    assert decode(DATA).whole_bytes == len(DATA)
    assert decode(DATA).problem == ""
    ended = Ended("over")
    assert decode(encode(ended)).records == (ended,)


def test_a_line_is_a_checksum_and_one_object() -> None:
    line = encode(RECORDS[1])
    checksum, _, body = line.partition(b" ")
    assert len(checksum) == 8
    assert body.startswith(b'{"contact":["white","beach-s","explore"]')
    assert line.count(b"\n") == 1


@pytest.mark.parametrize("cut", range(len(DATA)))
def test_a_file_cut_at_any_byte_keeps_its_whole_lines(cut: int) -> None:
    journal = decode(DATA[:cut])
    whole = DATA[:cut].count(b"\n")
    assert journal.records == RECORDS[:whole]
    assert journal.whole_bytes == sum(len(encode(each)) for each in RECORDS[:whole])
    assert bool(journal.problem) == (cut > journal.whole_bytes)


@pytest.mark.parametrize("place", range(0, len(DATA), 7))
def test_a_flipped_bit_ends_what_counts(place: int) -> None:
    for bit in (0x01, 0x10, 0x80):
        damaged = bytearray(DATA)
        damaged[place] ^= bit
        if bytes(damaged).lower() == DATA:
            continue  # a checksum in capitals is the same checksum
        journal = decode(bytes(damaged))
        line = DATA[:place].count(b"\n")
        assert journal.records == RECORDS[:line]
        assert journal.problem


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"begun": "insel", "format": 2, "version": "9", "state": {}},
        {"begun": "insel", "state": {}},
        {"begun": "insel", "format": 1},
        {"contact": ["white", "beach-s"], "draws": [], "events": []},
        {"contact": ["purple", "beach-s", "explore"], "draws": [], "events": []},
        {"contact": ["white", "beach-s", "explore"], "draws": [["site"]], "events": []},
        {"contact": ["white", "beach-s", "explore"], "draws": 3, "events": []},
        {"contact": None, "draws": [], "events": []},
        {"contact": ["white", "beach-s", "explore"], "draws": [], "events": None},
        {"contact": ["white", "beach-s", "explore"], "draws": [], "events": ["entered"]},
        {"contact": ["white", "beach-s", "explore"], "draws": [["site", ["temple"]]], "events": []},
    ],
)
def test_a_whole_line_that_is_no_record_is_damage(row: dict[str, Any]) -> None:
    assert decode(checked_line(row)).problem == "line 1 is damaged"


@pytest.mark.parametrize(
    "line", [b"", b"\n", b" \n", b"00000000 {}\n", b"xxxxxxxx {}\n", checked_line({})[:-1], b"0 {}\n", b"\xff\xfe\n"]
)
def test_a_line_that_is_none_of_ours_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"checksum|invalid literal"):
        parse_line(line)


def test_a_checked_line_of_no_object_is_refused() -> None:
    body = b"[1]"
    line = b"%08x %s\n" % (zlib.crc32(body), body)
    with pytest.raises(ValueError, match="no object"):
        parse_line(line)


def test_endless_nesting_is_no_record() -> None:
    body = b'{"begun":"insel","format":1,"state":' + b"[" * 100_000
    assert decode(b"%08x %s\n" % (zlib.crc32(body), body)).problem == "line 1 is damaged"


# --- files for replay


def test_two_games_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "two.journal"
    path.write_bytes(DATA + encode(Ended("over")) + DATA)
    journal = read_journal(path)
    assert sum(isinstance(each, Begun) for each in journal.records) == 2
    assert unfinished(journal.records) == list(RECORDS)


@pytest.mark.parametrize(("data", "told"), [(b"", "empty"), (b"hello\n", "line 1"), (DATA[:20], "line 1")])
def test_a_file_without_a_record_is_named(tmp_path: Path, data: bytes, told: str) -> None:
    path = tmp_path / "x.journal"
    path.write_bytes(data)
    with pytest.raises(JournalError, match=rf"x\.journal: .*{told}"):
        read_journal(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot be read: No such file"):
        read_journal(tmp_path / "none")


# --- the state folder


def test_the_running_game_comes_back(store: Kept, tmp_path: Path) -> None:
    assert store.load() == ()
    keep(store, *RECORDS)
    assert Kept(store.folder).load() == RECORDS
    assert store.warnings == []


@pytest.mark.parametrize("cut", range(1, len(DATA), 13))
def test_after_a_power_cut_while_writing_the_game_goes_on_and_can_be_recorded(store: Kept, cut: int) -> None:
    store.folder.mkdir()
    store.running.write_bytes(DATA[:cut])
    whole = store.load()
    assert whole == RECORDS[: DATA[:cut].count(b"\n")]
    if not whole:
        assert not store.running.exists()
        return
    keep(store, *RECORDS[len(whole) :])
    assert store.running.read_bytes() == DATA
    assert store.warnings == []


def test_a_damaged_file_is_set_aside_and_its_whole_part_goes_on(store: Kept) -> None:
    store.folder.mkdir()
    damaged = bytearray(DATA)
    damaged[len(encode(RECORDS[0])) + 30] ^= 1
    store.running.write_bytes(damaged)
    assert store.load() == RECORDS[:1]
    (warning,) = store.warnings
    assert "line 2 is damaged" in warning
    assert (store.folder / "set-aside-000001.journal").read_bytes() == bytes(damaged)
    assert store.running.read_bytes() == encode(RECORDS[0])


def test_a_foreign_file_is_set_aside_never_overwritten(store: Kept) -> None:
    store.folder.mkdir()
    for number in (1, 2):
        store.running.write_bytes(b"my shopping list\n")
        assert store.load() == ()
        assert (store.folder / f"set-aside-{number:06}.journal").read_bytes() == b"my shopping list\n"
    keep(store, *RECORDS)
    assert store.load() == RECORDS


def test_a_new_game_puts_the_finished_one_away(store: Kept) -> None:
    keep(store, *RECORDS, Ended("over"), *RECORDS[:1])
    assert store.load() == RECORDS[:1]
    kept = read_journal(store.folder / "games" / "game-000001.journal")
    assert kept.records == (*RECORDS, Ended("over"))


def test_only_the_last_games_are_kept(store: Kept) -> None:
    games = store.folder / "games"
    games.mkdir(parents=True)
    for number in range(1, GAMES_KEPT + 3):
        (games / f"game-{number:06}.journal").write_bytes(b"")
    keep(store, RECORDS[0], RECORDS[0])
    names = sorted(path.name for path in games.iterdir())
    assert len(names) == GAMES_KEPT
    assert names[-1] == f"game-{GAMES_KEPT + 3:06}.journal"


def test_a_folder_belongs_to_one_volcano_at_a_time(store: Kept) -> None:
    """Of two that append to one game each would cut off what the other has written."""
    assert store.claim()
    other = Kept(store.folder)
    assert not other.claim()
    other.close()
    assert not Kept(store.folder).claim(), "the first one still has it"
    store.close()
    store.close()
    assert Kept(store.folder).claim()


def test_a_folder_that_cannot_be_made_is_nobody_else_s(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    assert Kept(tmp_path / "file" / "state").claim()


# --- a full, missing or read-only card


class Disk:
    """A disk that may be full: of what is written the end does not fit."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False
        self.sync = os.fsync
        monkeypatch.setattr(os, "fsync", self.fsync)

    def fsync(self, descriptor: int) -> None:
        if self.full and stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - 9)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.sync(descriptor)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def test_a_full_disk_is_said_once_and_raises_nothing(store: Kept, disk: Disk) -> None:
    disk.full = True
    keep(store, *RECORDS, Ended("over"), *RECORDS)
    store.save_settings(Settings("en", 5))
    (warning,) = store.warnings
    assert "No space left on device" in warning


@pytest.mark.parametrize("first", range(len(RECORDS)))
def test_what_a_full_disk_refused_is_written_when_there_is_room(store: Kept, disk: Disk, first: int) -> None:
    keep(store, *RECORDS[:first])
    disk.full = True
    keep(store, *RECORDS[first:-1])
    disk.full = False
    keep(store, RECORDS[-1])
    assert store.running.read_bytes() == DATA, "no line is missing and none stands twice"
    state, _ = replay(TITLE.game, Kept(store.folder).load())
    assert TITLE.game.last(state) is Figure.WHITE


def test_a_torn_tail_that_a_full_disk_could_not_lose_is_cut_off_by_the_next_record(store: Kept, disk: Disk) -> None:
    store.folder.mkdir()
    store.running.write_bytes(DATA[:-10])
    disk.full = True
    assert store.load() == RECORDS[:-1]
    disk.full = False
    keep(store, RECORDS[-1])
    assert store.running.read_bytes() == DATA


def test_what_never_reached_the_disk_is_forgotten_at_the_next_power_on(store: Kept, disk: Disk) -> None:
    keep(store, *RECORDS[:2])
    disk.full = True
    keep(store, RECORDS[2])
    disk.full = False
    assert store.load() == RECORDS[:2]
    keep(store, Ended("stopped"))
    assert store.load() == (*RECORDS[:2], Ended("stopped"))


def test_half_a_line_on_a_full_disk_does_not_spoil_the_next(
    store: Kept, monkeypatch: pytest.MonkeyPatch, disk: Disk
) -> None:
    keep(store, *RECORDS[:2])
    with store.running.open("ab") as file:
        file.write(encode(RECORDS[2])[:25])
    keep(store, *RECORDS[2:])
    assert store.running.read_bytes() == DATA


def test_a_new_game_on_a_disk_that_was_full_is_recorded_later(store: Kept, disk: Disk) -> None:
    keep(store, *RECORDS, Ended("over"))
    disk.full = True
    keep(store, *RECORDS[:2])
    disk.full = False
    keep(store, *RECORDS[2:])
    assert store.running.read_bytes() == DATA
    assert read_journal(store.folder / "games" / "game-000001.journal").records == (*RECORDS, Ended("over"))


def test_a_folder_that_cannot_be_made_ends_no_game(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    store = Kept(tmp_path / "file" / "state")
    assert store.load() == ()
    keep(store, *RECORDS)
    store.save_settings(Settings())
    assert store.load_settings(Settings("en", 2)) == Settings("en", 2)
    assert all("\n" not in warning for warning in store.warnings)
    assert store.warnings


def test_a_running_journal_that_is_a_folder_ends_no_game(store: Kept) -> None:
    store.running.mkdir(parents=True)
    assert store.load() == ()
    keep(store, RECORDS[1])
    assert store.warnings


# --- settings


def test_settings_survive(store: Kept) -> None:
    assert store.load_settings(Settings("en", 2)) == Settings("en", 2)
    store.save_settings(Settings("de", 5))
    assert store.load_settings(Settings("en", 2)) == Settings("de", 5)
    assert store.warnings == []
    assert not list(store.folder.glob("*.new"))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"\xff\x00",
        checked_line({"language": "fr", "volume": 3}),
        checked_line({"language": "de", "volume": 9}),
        checked_line({"language": "de", "volume": "3"}),
        checked_line({"language": ["de"], "volume": 3}),
        checked_line({"language": "de", "loudness": 3}),
        checked_line({"language": "de", "volume": 3})[:-4],
    ],
)
def test_damaged_settings_are_said_and_the_configured_ones_count(store: Kept, data: bytes) -> None:
    store.folder.mkdir()
    (store.folder / "settings.json").write_bytes(data)
    assert store.load_settings(Settings("en", 2)) == Settings("en", 2)
    (warning,) = store.warnings
    assert "settings.json" in warning


def test_a_contact_is_kept_word_for_word() -> None:
    played = Played(Contact(Figure.RED, "beach-s", Touch.FIRE), (("relics", 3), ("fight", "stays")), ({"event": "x"},))
    assert decode(encode(played)).records == (played,)
