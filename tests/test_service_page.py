"""The page of a real board: what it shows, what it may do, and that nobody brings the game down through it."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from playroom import BOARD
from table import TITLE, Rows
from test_loop import POLL_S, Volcano
from test_page import Stream, do, request

from firmware.catalogue import load
from firmware.hal.emulated_bus import Disturbance
from firmware.page import server
from firmware.page.commands import CommandError
from firmware.page.drawing import read_island
from firmware.page.server import CONNECTIONS, LOOPBACK, STREAMS, WAITING_MESSAGES, PageServer, make_app
from firmware.page.service_page import ACTIONS, ServicePage, ServiceRoom
from firmware.terms import Fault, Figure, Part, Say, Touch
from firmware.unit_events import LANGUAGES
from firmware.unit_script import self_test

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ISLAND = read_island(BOARD)
PATIENCE_S = 30.0


class Board:
    """A volcano with its room; nothing but the page knows that somebody looks on."""

    def __init__(self, folder: Path) -> None:
        self.volcano = Volcano(folder)
        self.room = ServiceRoom(self.volcano.loop, load, fields=TITLE.fields)
        self.volcano.switch_on()

    def do(self, **command: Any) -> Rows:
        """A command of the page; the rows of the next second."""
        self.room.do(command)
        return self.volcano.run(1)

    def table(self, key: str) -> Any:
        return self.room.snapshot()[key]


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    made = Board(tmp_path)
    yield made
    made.volcano.mock.close()


# --- what it shows


def test_it_shows_what_is_told_and_where_figures_were_touched_last(board: Board) -> None:
    board.volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE)
    snapshot = board.room.snapshot()
    assert snapshot["service"] is True
    assert snapshot["sound"] == "here"
    assert snapshot["figures"] == {"white": "beach-s", "red": None, "green": None, "black": None}
    assert any(row.get("event") == "discovered" for row in snapshot["rows"])


def test_it_shows_what_is_broken_and_what_works_again(board: Board) -> None:
    heard: list[tuple[str, Any]] = []
    board.room.join(lambda name, data: heard.append((name, data)))
    board.volcano.run(2)
    assert heard[1:] == [], "without news nothing is sent"
    board.volcano.mock.emulated_bus.inject(Disturbance.NACK, address=0x5B)
    board.volcano.run(3)
    (fault,) = board.table("faults")
    assert "0x5B" in fault["text"]
    assert heard[-1][0] == "room"
    assert heard[-1][1]["faults"] == [fault]
    board.volcano.mock.emulated_bus.clear()
    board.volcano.run(20)
    assert board.table("faults") == []


def test_it_tells_faults_in_both_languages_as_the_self_test_speaks_them(board: Board) -> None:
    names = {Part.CHIP: "2", Part.PAD: "beach-ne", Part.LIGHT: "star"}
    board.room.notice([Fault(part, names.get(part, ""), "as the log says") for part in Part])
    told = {fault["part"]: fault["told"] for fault in board.table("faults")}
    assert list(told) == list(Part)
    assert told["chip"] == {"de": "Sensorchip 2 antwortet nicht.", "en": "Sensor chip 2 does not answer."}
    assert told["pad"]["de"] == "Keinen guten Kontakt hat: Strand Nordost."
    assert told["light"]["en"] == "This light is out of order: Star."
    for language in LANGUAGES:
        texts = load(language)
        spoken = " ".join(
            texts.text(item.line, item.args)
            for item in self_test([Fault(part, names.get(part, ""), "") for part in Part])
            if isinstance(item, Say)
        )
        for part in Part:
            assert told[part][language] in spoken


# --- what may be done there


def test_a_contact_by_page_counts_as_one_on_the_pads(board: Board) -> None:
    """Also where the field is dead: its chip is gone."""
    board.volcano.mock.emulated_bus.inject(Disturbance.NACK)
    board.volcano.run(3)
    assert board.table("faults")
    rows = board.do(do="contact", figure="white", field="beach-s", touch="explore")
    assert rows.events("entered", figure="white", field="beach-s")
    assert board.table("figures")["white"] == "beach-s"
    assert len(board.volcano.store.load()) == 2, "it is recorded as any other"


def test_pads_and_page_disturb_each_other_in_nothing(board: Board) -> None:
    hands = board.volcano.mock.hands
    hands.place(Figure.RED, "beach-sw")
    board.volcano.run(0.6)
    hands.grip(Figure.RED)
    board.room.do({"do": "contact", "figure": "white", "field": "beach-s", "touch": "explore"})
    hands.touch(Touch.EXPLORE)
    rows = board.volcano.run(1)
    assert [row["figure"] for row in rows.events("entered")] == ["white", "red"]
    hands.lift(Touch.EXPLORE)
    hands.let_go(Figure.RED)
    board.volcano.run(20)
    assert board.volcano.contact(Figure.GREEN, "beach-ne", Touch.EXPLORE).events("entered", figure="green")


def test_a_press_by_page_is_short_or_long(board: Board) -> None:
    assert board.do(do="press", long=False).events("intro_started")
    board.volcano.run(2)
    assert board.do(do="press", long=True).events("volume", level=4)


def test_the_real_button_goes_on_counting(board: Board) -> None:
    board.volcano.mock.press(down=True)
    board.volcano.run(0.5)
    assert board.do(do="press", long=True).events("volume", level=4)
    board.volcano.mock.press(down=False)
    assert board.volcano.run(1).named == ["intro_started"]


def test_placing_moves_the_picture_only(board: Board) -> None:
    assert board.do(do="place", figure="red", field="jungle-w") == []
    assert board.table("figures")["red"] == "jungle-w"
    board.do(do="place", figure="red", field=None)
    assert board.table("figures")["red"] is None


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ({"do": "power", "on": False}, "do: must be place, contact or press, is 'power'"),
        ({"do": "battery", "low": True}, "do: must be place, contact or press, is 'battery'"),
        ({"do": "hold", "figure": "red", "touch": "one"}, "do: must be place, contact or press, is 'hold'"),
        ({"do": "press"}, "long: must be true or false, is None"),
        ({"do": "contact", "figure": "red", "field": "moon", "touch": "one"}, "or null, is 'moon'"),
        ({"do": "contact", "figure": "red", "touch": "one"}, "figure: red stands beside the board"),
        ({"do": "contact", "figure": "red", "field": "beach-s"}, "touch: must be one of rock, explore"),
    ],
)
def test_a_wrong_command_gets_one_clear_line_and_changes_nothing(
    board: Board, command: dict[str, Any], line: str
) -> None:
    app = make_app(board.room, ISLAND)
    before = board.room.snapshot()
    status, answer = do(app, command)
    assert (status, line in answer) == (400, True)
    assert board.volcano.run(1) == []
    assert board.room.snapshot() == before


def test_more_commands_than_can_be_meant_are_refused(board: Board) -> None:
    for _ in range(ACTIONS):
        board.room.do({"do": "press", "long": True})
    with pytest.raises(CommandError, match="busy"):
        board.room.do({"do": "press", "long": True})
    board.volcano.run(POLL_S)
    board.room.do({"do": "press", "long": True})


# --- who is let in


@pytest.mark.parametrize("host", ["192.168.0.7:8005", "volcano.local:8005", "volcano"])
def test_the_house_reaches_it_by_its_address_and_its_names(board: Board, host: str) -> None:
    app = make_app(board.room, ISLAND, hosts={*LOOPBACK, "volcano", "volcano.local"})
    assert from_the_house(app, host) == 200


@pytest.mark.parametrize("host", ["example.org", "192.168.0.8", "10.0.0.1:8005", "volcano.example.org"])
def test_a_name_that_somebody_else_may_have_given_it_is_refused(board: Board, host: str) -> None:
    app = make_app(board.room, ISLAND, hosts={*LOOPBACK, "volcano", "volcano.local"})
    assert from_the_house(app, host) == 403


def from_the_house(app: Any, host: str) -> int:
    """The answer to a browser that reached this machine at 192.168.0.7."""

    async def reached(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, "server": ("192.168.0.7", 8005)}, receive, send)

    return request(reached, "GET", "/snapshot", host=host)[0]  # type: ignore[arg-type]


# --- nobody brings the game down


@pytest.fixture
def served(board: Board, monkeypatch: pytest.MonkeyPatch) -> Iterator[PageServer]:
    monkeypatch.setattr(server, "STALLED_S", 0.3)
    with PageServer(make_app(board.room, ISLAND, beat_s=0.05)) as made:
        yield made


def connect(page: PageServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", page.port), timeout=PATIENCE_S)


def answers(page: PageServer) -> int:
    asked = http.client.HTTPConnection("127.0.0.1", page.port, timeout=PATIENCE_S)
    asked.request("GET", "/snapshot", headers={"Connection": "close"})
    status = asked.getresponse().status
    asked.close()
    return status


def wait_until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


def is_cut(connection: socket.socket) -> bool:
    """Wait for the other end to close."""
    try:
        return connection.recv(65536) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET / HT",
        b"POST /do HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{",
    ],
)
def test_who_asks_for_nothing_or_never_finishes_is_cut_off(served: PageServer, begun: bytes) -> None:
    connection = connect(served)
    connection.sendall(begun)
    assert is_cut(connection)
    connection.close()
    assert answers(served) == 200


def test_connections_are_counted(served: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "STALLED_S", 1e6)
    held = [connect(served) for _ in range(CONNECTIONS)]
    wait_until(lambda: len(served._server.server_state.connections) == CONNECTIONS)
    late = connect(served)
    assert is_cut(late)
    for each in (late, *held):
        each.close()
    wait_until(lambda: not served._server.server_state.connections)
    assert answers(served) == 200


def test_listeners_are_counted(served: PageServer) -> None:
    streams = [Stream(served.port) for _ in range(STREAMS)]
    for stream in streams:
        assert stream.next()[0] == "snapshot"
    asked = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE_S)
    asked.request("GET", "/events")
    assert asked.getresponse().status == 503
    asked.close()
    for stream in streams:
        stream.close()


def test_a_listener_that_never_reads_is_cut_off_and_nothing_piles_up(board: Board, served: PageServer) -> None:
    connection = connect(served)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    wait_until(lambda: bool(board.room._subscribers))
    until = time.monotonic() + PATIENCE_S
    number = 0
    while board.room._subscribers:
        assert time.monotonic() < until
        number += 1
        board.room.hear({"t": 0.0, "cue": "say", "line": "x", "args": {}, "text": "x" * 2000, "voice": "narrator"})
        time.sleep(0.0005)
    assert number > WAITING_MESSAGES / 10
    wait_until(lambda: not served._server.server_state.connections)
    connection.close()
    assert answers(served) == 200


def test_rows_that_nobody_hears_any_more_cost_the_loop_nothing(board: Board) -> None:
    """The server's own loop has ended under a listener: the game does not notice."""
    app = make_app(board.room, ISLAND)

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def listen() -> None:
        sent = asyncio.Event()

        async def send(message: Any) -> None:
            if b"snapshot" in message.get("body", b""):
                sent.set()

        scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/events", "query_string": b""}
        scope |= {"root_path": "", "scheme": "http", "headers": [(b"host", b"localhost")]}
        stream = asyncio.ensure_future(app(scope, receive, send))
        await sent.wait()
        board.room._subscribers.append(board.room._subscribers[0])
        stream.cancel()

    asyncio.run(listen())
    assert board.room._subscribers
    assert board.do(do="press", long=True).events("volume", level=4)


def test_a_crowd_of_posts_while_a_game_is_played(board: Board, served: PageServer) -> None:
    """Each is answered, refused or dropped; the loop takes what it is given and plays on."""
    answered: list[int] = []

    def shout() -> None:
        asked = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE_S)
        for _ in range(40):
            body = json.dumps({"do": "contact", "figure": "white", "field": "jungle-s", "touch": "three"})
            asked.request("POST", "/do", body, {"Content-Type": "application/json"})
            answer = asked.getresponse()
            answer.read()
            answered.append(answer.status)
        asked.close()

    crowd = [threading.Thread(target=shout) for _ in range(6)]
    for each in crowd:
        each.start()
    while any(each.is_alive() for each in crowd):
        board.volcano.run(POLL_S)
    assert len(answered) == 240
    assert set(answered) <= {204, 400}
    board.volcano.run(20)
    assert board.volcano.contact(Figure.RED, "beach-sw", Touch.EXPLORE).events("entered", figure="red")


# --- opened when the volcano is ready


def opened(room: ServiceRoom, listen: str = "127.0.0.1", port: int = 0) -> ServicePage:
    page = ServicePage(room, BOARD, listen, port)
    page.open()
    page._opening.join(PATIENCE_S)
    return page


def test_it_is_opened_in_a_thread_and_closed(board: Board, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    page = opened(board.room)
    assert page._server is not None
    assert answers(page._server) == 200
    assert caplog.messages == [f"the page is at {page._server.url}"]
    page.close()
    page.close()
    with pytest.raises(ConnectionError):
        connect(page._server)


def test_a_page_that_cannot_be_served_is_one_line(
    board: Board, served: PageServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(board.room, port=served.port).close()
    opened(board.room, listen="192.0.2.1").close()
    monkeypatch.setitem(__import__("sys").modules, "firmware.page.server", None)
    opened(board.room).close()
    taken, foreign, missing = caplog.messages
    assert "Address already in use" in taken
    assert taken.startswith(f"the page is not served: 127.0.0.1:{served.port}: ")
    assert "192.0.2.1" in foreign
    assert "pip install 'volcano[page]'" in missing
    assert board.do(do="press", long=True).events("volume", level=4)


def test_without_room_for_a_thread_the_board_plays_without_its_page(
    board: Board, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ServicePage(board.room, BOARD, "127.0.0.1", 0)
    start, opening = threading.Thread.start, page._opening

    def full(thread: threading.Thread) -> None:
        if thread is opening or thread.name == "page":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", full)
    page.open()
    page.close()
    opened(board.room).close()
    assert caplog.messages == ["the page is not served: can't start new thread"] * 2


def test_a_page_that_does_not_end_holds_nothing_up(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is being sent from a disk that hangs, say."""
    disk = threading.Event()
    monkeypatch.setattr(server, "STOPPING_S", 0.05)
    page = PageServer(make_app(board.room, ISLAND))
    shutdown = page._server.shutdown

    async def hang(sockets: list[socket.socket] | None = None) -> None:
        disk.wait(PATIENCE_S)
        await shutdown(sockets)

    monkeypatch.setattr(page._server, "shutdown", hang)
    page.start()
    page.stop()
    assert page._thread.is_alive()
    disk.set()
    page._thread.join(PATIENCE_S)
    page.stop()
    with pytest.raises(ConnectionError):
        connect(page)


def test_closing_before_it_was_opened_is_harmless(board: Board) -> None:
    ServicePage(board.room, BOARD, "127.0.0.1", 0).close()
