"""Power may go between any two writes: every state that a card can then be in is tried, and none loses what was heard.

A layer between the store and the disk writes down each operation. From the first so many of them follow the states that
a cut may leave, by what POSIX promises and ext4 does: data that was not synced may be there, not there, in part, in
another order or as zeros; changes of folders happen in their order, and are certain only once the folder was synced.
"""

from __future__ import annotations

import errno
import itertools
import os
import pathlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import pytest
from table import ARIKI, TITLE, TWO, Table

from firmware.game.kernel import Begun, Ended, replay, unfinished
from firmware.journal import Store, encode
from firmware.unit_events import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from firmware.game.kernel import Record

RECORDS = Table("wait 30\n" + TWO + ARIKI).records()
"""A game of three contacts."""
TALE: tuple[Record | Settings, ...] = (
    *RECORDS[:2],
    Settings("en", 4),
    *RECORDS[2:],
    Ended("over"),
    *RECORDS[:1],
    Settings("en", 5),
    RECORDS[1],
)
"""What is kept, in this order: a game to its end, the beginning of another, and settings in between."""


# --- the layer that writes down, and fails on demand


@dataclass(frozen=True, slots=True)
class Op:
    """One operation on the disk, or the mark that the store has returned from keeping `kept`."""

    kind: str
    path: str = ""
    to: str = ""
    offset: int = 0
    data: bytes = b""
    kept: Record | Settings | None = None


class Disk:
    """Notes every operation below `folder`; `fails` is asked before each and may raise."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.ops: list[Op] = []
        self.fails: Callable[[Op], None] = lambda _: None
        self._patch(monkeypatch)

    def note(self, op: Op) -> None:
        self.fails(op)
        self.ops.append(op)

    def name(self, path: os.PathLike[str] | str) -> str:
        return str(pathlib.Path(path).relative_to(self.folder))

    def _patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        real_open, real_sync, disk = pathlib.Path.open, os.fsync, self

        def open_(path: pathlib.Path, mode: str = "r", *arguments: Any, **more: Any) -> Any:
            if not path.is_relative_to(disk.folder) or mode == "rb":
                return real_open(path, mode, *arguments, **more)
            assert mode in ("ab", "wb"), mode
            if not path.exists():
                disk.note(Op("make", disk.name(path)))
            elif mode == "wb":
                disk.note(Op("truncate", disk.name(path)))
            return Noted(disk, path, real_open(path, mode, buffering=0))

        def sync(descriptor: int) -> None:
            path = pathlib.Path(f"/proc/self/fd/{descriptor}").readlink()
            if path.is_relative_to(disk.folder):
                disk.note(Op("sync folder" if path.is_dir() else "sync", disk.name(path)))
            real_sync(descriptor)

        monkeypatch.setattr(pathlib.Path, "open", open_)
        monkeypatch.setattr(os, "fsync", sync)
        for kind in ("rename", "replace", "unlink", "mkdir"):
            self._patch_folder_change(monkeypatch, kind)

    def _patch_folder_change(self, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
        real, disk = getattr(pathlib.Path, kind), self

        def change(path: pathlib.Path, *arguments: Any, **more: Any) -> Any:
            if path.is_relative_to(disk.folder) and not (kind == "mkdir" and path.exists()):
                to = disk.name(arguments[0]) if kind in ("rename", "replace") else ""
                disk.note(Op("rename" if to else kind, disk.name(path), to))
            return real(path, *arguments, **more)

        monkeypatch.setattr(pathlib.Path, kind, change)


class Noted:
    """A file whose writes are noted; unbuffered, so that each is one operation."""

    def __init__(self, disk: Disk, path: pathlib.Path, file: Any) -> None:
        self._disk, self._path, self._file = disk, path, file
        self.fileno, self.flush, self.tell = file.fileno, file.flush, file.tell

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: bytes) -> int:
        end = os.fstat(self._file.fileno()).st_size
        self._disk.note(Op("write", self._disk.name(self._path), offset=end, data=data))
        return int(self._file.write(data))

    def truncate(self, size: int) -> int:
        if size != os.fstat(self._file.fileno()).st_size:
            self._disk.note(Op("truncate", self._disk.name(self._path), offset=size))
        return int(self._file.truncate(size))


# --- what a cut leaves


@dataclass
class Inode:
    """A file's data: what is certain, and what has been written since."""

    certain: bytes = b""
    since: list[Op] = field(default_factory=list)

    def after(self, ops: list[Op]) -> bytes:
        data = self.certain
        for op in ops:
            if op.kind == "truncate":
                data = data[: op.offset]
            else:
                data = data.ljust(op.offset, b"\0")
                data = data[: op.offset] + op.data + data[op.offset + len(op.data) :]
        return data

    def possible(self) -> set[bytes]:
        """Any of the writes since the last sync, in full or in part."""
        found = set()
        for number in range(len(self.since) + 1):
            for some in itertools.combinations(self.since, number):
                found.add(self.after(list(some)))
                if some and (data := some[-1].data):
                    for part in (data[:1], data[: len(data) // 2], data[:-1], bytes(len(data)), data[:9] + bytes(30)):
                        found.add(self.after([*some[:-1], replace(some[-1], data=part)]))
        return found


def states(ops: list[Op]) -> Iterator[dict[str, bytes | None]]:
    """Every state that the disk may be in when the power goes after these operations; None is a folder."""
    names: dict[str, Inode | None] = {}
    history = [dict(names)]
    certain = 0
    for op in ops:
        if op.kind in ("write", "truncate"):
            inode = names[op.path]
            assert inode is not None
            inode.since.append(op)
        elif op.kind == "sync":
            inode = names[op.path]
            assert inode is not None
            inode.certain, inode.since = inode.after(inode.since), []
        elif op.kind == "sync folder":
            certain = len(history) - 1
        elif op.kind != "kept":
            names = dict(names)
            if op.kind == "make":
                names[op.path] = Inode()
            elif op.kind == "mkdir":
                names[op.path] = None
            elif op.kind == "unlink":
                del names[op.path]
            else:
                names[op.to] = names.pop(op.path)
            history.append(names)
    for held in history[certain:]:
        inodes = {id(inode): sorted(inode.possible()) for inode in held.values() if inode is not None}
        for choice in itertools.product(*inodes.values()):
            data = dict(zip(inodes, choice, strict=True))
            yield {name: None if inode is None else data[id(inode)] for name, inode in held.items()}


def lay(folder: Path, state: dict[str, bytes | None]) -> None:
    """Put a state on a real disk. A file whose folder did not last is gone with it."""
    folder.mkdir()
    for name, data in sorted(state.items()):
        path = folder / name
        if data is None:
            path.mkdir(exist_ok=True)
        elif path.parent.is_dir():
            path.write_bytes(data)


# --- the tale, cut everywhere


class Kept(Store):
    """A store that remembers what it warned of."""

    def __init__(self, folder: Path) -> None:
        self.warnings: list[str] = []
        super().__init__(folder, self.warnings.append)


def keep(store: Store, each: Record | Settings) -> None:
    if isinstance(each, Settings):
        store.save_settings(each)
    else:
        store.append(each)


@pytest.fixture
def told(tmp_path: Path) -> list[Op]:
    """Every operation of the tale."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        disk = Disk(tmp_path / "told", monkeypatch)
        store = Kept(tmp_path / "told")
        for each in TALE:
            keep(store, each)
            disk.ops.append(Op("kept", kept=each))
        assert store.warnings == []
    return disk.ops


DEFAULT = Settings("de", 1)


def running(kept: list[Record]) -> list[Record]:
    """The records since the last game began."""
    begun = max((number for number, record in enumerate(kept) if isinstance(record, Begun)), default=0)
    return kept[begun:]


def test_the_layer_sees_everything(told: list[Op], tmp_path: Path) -> None:
    """Without a cut the operations lead to exactly what is on the disk."""
    (state,) = states([*told, Op("sync folder")])
    there = {path for path in (tmp_path / "told").rglob("*") if path.is_file()}
    assert {str(path.relative_to(tmp_path / "told")): path.read_bytes() for path in there} == {
        name: data for name, data in state.items() if data is not None
    }


def test_nothing_that_was_heard_is_lost_wherever_the_power_goes(told: list[Op], tmp_path: Path) -> None:
    number = 0
    for cut in range(len(told) + 1):
        before = [op.kept for op in told[:cut] if op.kept is not None]
        under_way = next((op.kept for op in told[cut:] if op.kept is not None), None)
        records = [each for each in before if not isinstance(each, Settings)]
        settings = [each for each in before if isinstance(each, Settings)]
        for state in states(told[:cut]):
            number += 1
            folder = tmp_path / f"{number}"
            lay(folder, state)
            store = Kept(folder)
            loaded, which = list(store.load()), f"after {cut} of {len(told)} operations: {sorted(state)}"
            allowed = [running(records)]
            if under_way is not None and not isinstance(under_way, Settings):
                allowed.append(running([*records, under_way]))
                if isinstance(under_way, Begun):
                    allowed.append([])  # the old game is over and put away, the new one was never heard
            assert loaded in allowed, which
            chosen = store.load_settings(DEFAULT)
            assert chosen in [settings[-1] if settings else DEFAULT, under_way], which
            # And it goes on from there.
            store.append(Ended("stopped"))
            assert list(Kept(folder).load()) == [*loaded, Ended("stopped")], which
            store.save_settings(Settings("de", 2))
            assert Kept(folder).load_settings(DEFAULT) == Settings("de", 2), which
    assert number > 3 * len(told), "the cuts leave more than one state each"


def test_of_records_that_were_written_together_the_first_ones_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer's thread keeps with one sync what has gathered: a game's end and the next one's beginning, too."""
    disk = Disk(tmp_path / "told", monkeypatch)
    store = Kept(tmp_path / "told")
    batches = [RECORDS[:2], [*RECORDS[2:], Ended("over"), *RECORDS[:2]], [RECORDS[2]]]
    for batch in batches:
        store.append(*batch)
        disk.ops.append(Op("kept", data=bytes(len(batch))))
    assert len([op for op in disk.ops if op.kind == "sync"]) == 4, "one each, and one for the game that ends in between"
    monkeypatch.undo()
    number = 0
    for cut in range(len(disk.ops) + 1):
        before = sum(len(op.data) for op in disk.ops[:cut] if op.kind == "kept")
        under_way = next((len(op.data) for op in disk.ops[cut:] if op.kind == "kept"), 0)
        everything = [record for batch in batches for record in batch]
        allowed = [running(everything[:end]) for end in range(before, before + under_way + 1)]
        for state in states(disk.ops[:cut]):
            number += 1
            lay(tmp_path / f"{number}", state)
            loaded = list(Kept(tmp_path / f"{number}").load())
            put_away = not loaded and Ended("over") in everything[: before + under_way]
            assert loaded in allowed or put_away, f"after {cut} of {len(disk.ops)} operations: {sorted(state)}"


def test_a_game_that_was_cut_can_be_played_on(told: list[Op], tmp_path: Path) -> None:
    """What is loaded is a game that its rules lead to again, not just lines."""
    for number, state in enumerate(states(told[: len(told) * 2 // 3])):
        lay(tmp_path / f"{number}", state)
        if records := unfinished(Kept(tmp_path / f"{number}").load()):
            game, _ = replay(TITLE.game, records)
            assert not TITLE.game.over(game)


# --- a disk that fails


FAULTS = {"full": errno.ENOSPC, "read-only": errno.EROFS, "broken": errno.EIO}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_operation_ends_no_game_and_what_is_there_stays_sound(
    fault: str, told: list[Op], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It begins at one operation and stays to the end; afterwards the disk is sound again."""
    count = sum(op.kind != "kept" for op in told)
    disk = Disk(tmp_path, monkeypatch)
    for first in range(count):
        folder = tmp_path / f"{fault}-{first}"
        done = 0

        def fail(op: Op, first: int = first) -> None:
            nonlocal done
            done += 1
            if done > first:
                raise OSError(FAULTS[fault], os.strerror(FAULTS[fault]))

        disk.fails = fail
        store = Kept(folder)
        for each in TALE:
            keep(store, each)
        assert len(store.warnings) == 1, "said once"
        assert os.strerror(FAULTS[fault]) in store.warnings[0]
        disk.fails = lambda _: None
        loaded = list(Kept(folder).load())
        everything = [each for each in TALE if not isinstance(each, Settings)]
        assert any(loaded == running(everything[:end]) for end in range(len(everything) + 1)) or loaded == []
        # With room again nothing is missing between.
        store.append(RECORDS[2])
        assert list(Kept(folder).load()) == [*RECORDS[:2], RECORDS[2]]


def test_a_fault_that_passes_leaves_no_gap(told: list[Op], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One operation fails, the next do not: a loose card."""
    disk = Disk(tmp_path, monkeypatch)
    for bad in range(sum(op.kind != "kept" for op in told)):
        folder = tmp_path / f"{bad}"
        done = 0

        def fail(op: Op, bad: int = bad) -> None:
            nonlocal done
            done += 1
            if done == bad + 1:
                raise OSError(errno.EIO, os.strerror(errno.EIO))

        disk.fails = fail
        store = Kept(folder)
        for each in TALE:
            keep(store, each)
        disk.fails = lambda _: None
        store.append(RECORDS[2])
        assert list(Kept(folder).load()) == [*RECORDS[:2], RECORDS[2]]


def test_an_old_card_that_is_read_only_is_still_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "state"
    store = Kept(folder)
    for each in TALE:
        keep(store, each)
    whole = store.running.read_bytes()
    store.running.write_bytes(whole + encode(RECORDS[2])[:20])
    disk = Disk(folder, monkeypatch)

    def fail(_: Op) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    disk.fails = fail
    again = Kept(folder)
    assert list(again.load()) == list(RECORDS[:2])
    assert again.load_settings(DEFAULT) == Settings("en", 5)
    again.append(RECORDS[2])
    assert again.warnings
    assert store.running.read_bytes().startswith(whole)


@pytest.mark.parametrize("line", [0, 1])
def test_what_is_damaged_while_the_card_is_full_is_set_aside_later(
    line: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records behind the damage would be lost at the next start."""
    lines = [encode(record) for record in RECORDS[:3]]
    lines[line] = b"#" + lines[line][1:]
    damaged = b"".join(lines)
    folder = tmp_path / "state"
    folder.mkdir()
    (folder / "running.journal").write_bytes(damaged)
    disk = Disk(folder, monkeypatch)

    def fail(_: Op) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    disk.fails = fail
    store = Kept(folder)
    assert list(store.load()) == list(RECORDS[:line])
    disk.fails = lambda _: None
    store.append(*RECORDS[line:2])
    assert list(Kept(folder).load()) == list(RECORDS[:2])
    (aside,) = folder.glob("set-aside-*")
    assert aside.read_bytes() == damaged


def test_wherever_the_power_goes_what_is_damaged_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = encode(RECORDS[0]) + b"#" + b"".join(map(encode, RECORDS[1:3]))
    folder = tmp_path / "told"
    folder.mkdir()
    disk = Disk(folder, monkeypatch)
    with (folder / "running.journal").open("wb") as file:
        file.write(damaged)
        os.fsync(file.fileno())
    disk.ops.append(Op("sync folder"))
    there = len(disk.ops)
    Kept(folder).load()
    monkeypatch.undo()
    for cut in range(there, len(disk.ops) + 1):
        for number, state in enumerate(states(disk.ops[:cut])):
            held = {data for name, data in state.items() if name.startswith(("running", "set-aside"))}
            assert damaged in held, f"after {cut} operations, state {number}: {sorted(state)}"


# --- settings


@pytest.mark.parametrize("damage", [b"", b"my shopping list\n", b"\0" * 60])
def test_damaged_settings_are_set_aside_and_those_before_count(tmp_path: Path, damage: bytes) -> None:
    store = Kept(tmp_path)
    store.save_settings(Settings("en", 4))
    store.save_settings(Settings("en", 5))
    (tmp_path / "settings.json").write_bytes(damage)
    assert store.load_settings(DEFAULT) == Settings("en", 4)
    (warning,) = store.warnings
    assert "settings.json is damaged" in warning
    assert (tmp_path / "set-aside-000001.json").read_bytes() == damage
    store.save_settings(Settings("de", 3))
    assert Kept(tmp_path).load_settings(DEFAULT) == Settings("de", 3)
