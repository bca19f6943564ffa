"""A slow disk holds back what is told, never the sensing: the writer's thread, and what the loop lets be heard."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from table import ARIKI, TITLE, TWO, Table
from test_loop import POLL_S, Volcano

from firmware.game.kernel import Ended, Played, replay
from firmware.journal import Store, encode
from firmware.loop import DISK_PATIENCE_S
from firmware.terms import Figure, Say, Sound, Touch
from firmware.unit_events import Settings
from firmware.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from firmware.game.kernel import Record

RECORDS = Table("wait 30\n" + TWO + ARIKI).records()
"""A game of three contacts."""
PATIENCE_S = 20.0
"""For a thread on a busy machine; nothing waits so long when all is well."""


# --- the thread


class Card(Store):
    """A card that can be held up, and notes what came together."""

    def __init__(self, folder: Path) -> None:
        self.warnings: list[str] = []
        super().__init__(folder, self.warnings.append)
        self.came: list[tuple[Record | Settings, ...]] = []
        self.free = threading.Event()
        self.free.set()
        self.begun = threading.Event()
        self.breaks: BaseException | None = None

    def _hold(self) -> None:
        self.begun.set()
        assert self.free.wait(PATIENCE_S)
        if (error := self.breaks) is not None:
            self.breaks = None
            raise error

    def append(self, *records: Record) -> None:
        self.came.append(records)
        self._hold()
        super().append(*records)

    def save_settings(self, settings: Settings) -> None:
        self.came.append((settings,))
        self._hold()
        super().save_settings(settings)


@pytest.fixture
def card(tmp_path: Path) -> Card:
    return Card(tmp_path / "state")


@pytest.fixture
def writer(card: Card) -> Iterator[Writer]:
    made = Writer(card, card.warnings.append)
    yield made
    card.free.set()
    made.close(PATIENCE_S)


def test_what_is_handed_over_reaches_the_disk_in_its_order(card: Card, writer: Writer) -> None:
    for record in RECORDS[:2]:
        writer.append(record)
    writer.save_settings(Settings("en", 4))
    writer.append(*RECORDS[2:])
    assert writer.settled(PATIENCE_S)
    assert [each for group in card.came for each in group] == [*RECORDS[:2], Settings("en", 4), *RECORDS[2:]]
    assert card.running.read_bytes() == b"".join(map(encode, RECORDS))
    assert writer.load() == RECORDS
    assert writer.load_settings(Settings()) == Settings("en", 4)


def test_handing_over_waits_for_nothing_and_what_gathers_is_written_at_once(card: Card, writer: Writer) -> None:
    card.free.clear()
    writer.append(RECORDS[0])
    assert card.begun.wait(PATIENCE_S)
    for record in RECORDS[1:]:
        writer.append(record)
    assert not writer.settled()
    assert not card.running.exists()
    card.free.set()
    assert writer.settled(PATIENCE_S)
    assert card.came == [RECORDS[:1], RECORDS[1:]]
    assert Card(card.folder).load() == RECORDS


def test_of_several_settings_the_last_count(card: Card, writer: Writer) -> None:
    card.free.clear()
    writer.append(RECORDS[0])
    assert card.begun.wait(PATIENCE_S)
    for level in (2, 3, 4):
        writer.save_settings(Settings("de", level))
    card.free.set()
    assert writer.settled(PATIENCE_S)
    assert card.came[1:] == [(Settings("de", 4),)]


def test_a_disk_that_refuses_has_been_asked(card: Card, writer: Writer) -> None:
    """Full or read-only: said once, and nobody waits for what will not come."""
    card.folder.write_text("no folder", encoding="utf-8")
    for record in RECORDS:
        writer.append(record)
        assert writer.settled(PATIENCE_S)
    assert len(card.warnings) == 1
    card.folder.unlink()
    writer.append(Ended("over"))
    assert writer.settled(PATIENCE_S)
    assert Card(card.folder).load() == (*RECORDS, Ended("over"))


def test_an_error_that_nobody_expected_is_told_and_the_next_record_is_written(card: Card, writer: Writer) -> None:
    card.breaks = MemoryError("none left")
    writer.append(RECORDS[0])
    assert writer.settled(PATIENCE_S)
    assert card.warnings == ["journal: a record was not written: MemoryError: none left"]
    writer.append(RECORDS[0])
    assert writer.settled(PATIENCE_S)
    assert card.load() == RECORDS[:1]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_died_is_replaced(card: Card, writer: Writer) -> None:
    card.breaks = SystemExit()
    writer.append(RECORDS[0])
    first = writer._thread
    assert first is not None
    first.join(PATIENCE_S)
    assert not first.is_alive()
    assert writer.settled(), "nobody waits for a dead thread"
    writer.append(RECORDS[0])
    assert writer.settled(PATIENCE_S)
    assert card.load() == RECORDS[:1]


def test_where_no_thread_can_be_started_who_hands_over_writes(card: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    writer = Writer(card, card.warnings.append)
    writer.append(*RECORDS[:2])
    assert writer.settled()
    assert Card(card.folder).load() == RECORDS[:2]
    writer.close()


def test_the_end_waits_for_the_disk_but_not_for_ever(card: Card, writer: Writer) -> None:
    card.free.clear()
    writer.append(RECORDS[0])
    writer.close(within_s=0.01)
    assert card.warnings == ["journal: the disk does not answer; what was touched last may be lost"]
    card.free.set()
    writer.close(PATIENCE_S)
    assert Card(card.folder).load() == RECORDS[:1]
    thread = writer._thread
    assert thread is not None
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


# --- what is heard meanwhile, in virtual time


class SlowCard(Store):
    """A card that takes `sync_s` for what it is given, by the volcano's clock; nothing is on it before."""

    def __init__(self, volcano: Volcano, sync_s: float) -> None:
        super().__init__(volcano.store.folder, volcano.warnings.append)
        self.volcano, self.sync_s = volcano, sync_s
        self.under_way: list[Record] = []
        self.ready_at = 0.0

    def append(self, *records: Record) -> None:
        if not self.under_way:
            self.ready_at = self.volcano.clock.now + self.sync_s
        self.under_way += records

    def settled(self, within_s: float = 0.0) -> bool:
        if self.under_way and self.volcano.clock.now + within_s >= self.ready_at:
            super().append(*self.under_way)
            self.under_way.clear()
        return not self.under_way


def heard(volcano: Volcano, start: int) -> list[Any]:
    """Sounds and lines that have begun since `start`."""
    return [each for each in volcano.log[start:] if isinstance(each, Say | Sound)]


@pytest.fixture
def volcano(tmp_path: Path) -> Iterator[Volcano]:
    made = Volcano(tmp_path)
    made.switch_on()
    yield made
    made.mock.close()


def slow(volcano: Volcano, sync_s: float) -> SlowCard:
    card = SlowCard(volcano, sync_s)
    volcano.loop._store = card
    return card


def test_the_first_sentence_waits_for_no_disk_and_the_second_does(volcano: Volcano) -> None:
    usual = Volcano(volcano.store.folder.with_name("usual"))
    usual.switch_on()
    for each in (usual, volcano):
        each.begun = len(each.log)  # type: ignore[attr-defined]
    card = slow(volcano, 2.9)
    for each in (usual, volcano):
        each.contact(Figure.WHITE, "beach-s", Touch.EXPLORE)
        each.run(0.5)
    assert heard(volcano, volcano.begun) == heard(usual, usual.begun)[:1]  # type: ignore[attr-defined]
    while card.under_way:
        assert len(heard(volcano, volcano.begun)) == 1  # type: ignore[attr-defined]
        volcano.run(POLL_S)
    for each in (usual, volcano):
        each.run(20)
    assert heard(volcano, volcano.begun) == heard(usual, usual.begun)  # type: ignore[attr-defined]
    assert volcano.warnings == []
    usual.mock.close()


@pytest.mark.parametrize("sync_s", [0.0, 0.01, 0.05, 0.4, 1.0, 2.5])
def test_nothing_heard_past_its_first_sentence_is_lost(volcano: Volcano, sync_s: float) -> None:
    """At every poll: what a power cut would leave has every contact of which a second sentence has begun."""
    card = slow(volcano, sync_s)
    told: list[tuple[Sequence[Record], int]] = []
    hand_over = card.append

    def append(*records: Record) -> None:
        told.append((records, len(heard(volcano, 0))))
        hand_over(*records)

    card.append = append  # type: ignore[method-assign]
    seen = 0
    for figure, field in ((Figure.WHITE, "beach-s"), (Figure.RED, "beach-sw"), (Figure.GREEN, "beach-ne")):
        volcano.contact(figure, field, Touch.EXPLORE)
        for _ in range(round(12 / POLL_S)):
            volcano.run(POLL_S)
            begun = len(heard(volcano, 0))
            safe = [record for records, before in told for record in records if begun > before + 1]
            on_disk = Store(card.folder, print).load()
            assert list(on_disk[: len(safe)]) == safe
            seen = max(seen, len(safe))
    assert seen >= 4
    assert [type(record) for record in Store(card.folder, print).load()[1:]] == [Played] * 3


def test_without_delay_sentences_join(volcano: Volcano, monkeypatch: pytest.MonkeyPatch) -> None:
    """The player is told the successor as soon as the disk has everything, so that there is no gap between the two."""
    followings: list[object] = []
    monkeypatch.setattr(volcano.player, "follow", followings.append)
    slow(volcano, 0.1)
    volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE)
    (following,) = followings
    volcano.run(20)
    assert following in heard(volcano, 0)


def test_a_disk_that_never_answers_is_named_once_and_the_game_goes_on(
    volcano: Volcano, caplog: pytest.LogCaptureFixture
) -> None:
    card = slow(volcano, 1e9)
    begun = len(volcano.log)
    volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE)
    volcano.run(DISK_PATIENCE_S - 1.5)
    assert len(heard(volcano, begun)) == 1
    volcano.run(1.5)
    assert len(heard(volcano, begun)) > 1
    volcano.run(15)
    assert volcano.contact(Figure.RED, "beach-sw", Touch.EXPLORE).events("entered", figure="red")
    volcano.run(15)
    named = "journal: the disk has not answered for 3 s: check the card; the game goes on"
    assert caplog.messages == [named]
    card.ready_at = 0.0
    volcano.contact(Figure.GREEN, "beach-ne", Touch.EXPLORE)
    volcano.run(5)
    assert caplog.messages == [named, "journal: the disk answers again"]
    records = Store(card.folder, print).load()
    game, _ = replay(TITLE.game, records)
    assert game.dump() == volcano.loop.unit.play.state.dump()


def test_an_answer_meanwhile_cuts_in_as_ever(volcano: Volcano) -> None:
    """Held back or not, what is pressed and touched counts at once."""
    slow(volcano, 2.5)
    volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE)
    assert volcano.press(0.3).events("repeated")
    volcano.run(20)
    assert volcano.contact(Figure.RED, "beach-sw", Touch.EXPLORE).events("entered", figure="red")


def test_switching_off_forgets_what_was_held_back(volcano: Volcano) -> None:
    slow(volcano, 2.5)
    volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE)
    volcano.run(1)
    volcano.loop.power_off()
    assert volcano.run(5) == []
    volcano.loop._store.settled()
    assert volcano.switch_on().events("resumed", figure="white")
