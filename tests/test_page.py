"""The page without a browser: the picture of the island, the room, and the web server."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
from importlib.resources import files
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from firmware.config import ConfigError
from firmware.page.drawing import Island, draw, draw_alone, read_island
from firmware.page.room import CommandError, Room
from firmware.page.server import BODY_BYTES, LOOPBACK, PageError, PageServer, make_app
from firmware.terms import FIGURES, TOUCHES, Figure, SoundName, Touch, VolcanoError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.applications import Starlette

BOARD = Path(str(files("firmware.game.insel") / "board.toml"))
STATIC = files("firmware.page") / "static"
Json = dict[str, Any]


class Machine:
    """A loop that runs what was submitted when `turn` is called, as the real one does before a poll."""

    def __init__(self) -> None:
        self.powered = False
        self.switched: list[str] = []
        self.waiting: list[Callable[[], None]] = []
        self.arrived = Event()
        self.listeners: list[Callable[[Json], None]] = []

    def submit(self, action: Callable[[], None]) -> None:
        self.waiting.append(action)
        self.arrived.set()

    def turn(self) -> None:
        waiting, self.waiting = self.waiting, []
        for action in waiting:
            action()

    def listen(self, listener: Callable[[Json], None]) -> None:
        self.listeners.append(listener)

    def tell(self, **row: Any) -> None:
        for listener in self.listeners:
            listener({"t": 1.0, **row})

    def power_on(self, *, held: bool = False) -> None:
        self.powered = True
        self.switched.append("on held" if held else "on")

    def power_off(self) -> None:
        self.powered = False
        self.switched.append("off")


class Hands:
    """Hands that write down what they do."""

    def __init__(self) -> None:
        self.done: list[tuple[object, ...]] = []
        self.clumsy = False

    def place(self, figure: Figure, field: str | None) -> None:
        if self.clumsy:
            raise VolcanoError(f"{figure} fell over")
        self.done.append(("place", figure, field))

    def grip(self, figure: Figure) -> None:
        self.done.append(("grip", figure))

    def let_go(self, figure: Figure) -> None:
        self.done.append(("let go", figure))

    def touch(self, touch: Touch) -> None:
        self.done.append(("touch", touch))

    def lift(self, touch: Touch) -> None:
        self.done.append(("lift", touch))


class Table:
    """A room with everything around it."""

    def __init__(self, **more: Any) -> None:
        self.machine = Machine()
        self.hands = Hands()
        self.pressed: list[bool] = []
        self.weak: list[bool] = []
        self.island = read_island(BOARD)
        self.room = Room(
            self.machine,
            self.hands,
            self.pressed.append,
            self.weak.append,
            fields=[spot.field for spot in self.island.spots],
            **more,
        )
        self.app = make_app(self.room, self.island)


@pytest.fixture
def table() -> Table:
    return Table()


@pytest.fixture
def island() -> Island:
    return read_island(BOARD)


# --- the picture


def test_the_picture_shows_every_field_of_the_board_once(island: Island) -> None:
    drawn = re.findall(r'data-field="([^"]+)" data-kind="(\w+)"', draw(island))
    assert len(drawn) == len(set(drawn)) == 23
    kinds = [kind for _, kind in drawn]
    assert (kinds.count("site"), kinds.count("ruin"), kinds.count("statue")) == (15, 4, 4)


def test_boats_lie_at_the_five_boat_fields(island: Island) -> None:
    assert {spot.field for spot in island.spots if spot.boat} == {
        f"beach-{side}" for side in ("ne", "se", "s", "sw", "nw")
    }
    assert draw(island).count('href="#icon-boat"') == 5


def test_north_is_up_and_east_is_right(island: Island) -> None:
    at = {spot.field: spot.at for spot in island.spots}
    assert at["statue-n"] == pytest.approx((0, -378))
    assert at["statue-e"][0] > 370
    assert at["jungle-s"][1] > 250


def test_the_same_board_gives_the_same_picture(island: Island) -> None:
    assert draw(island) == draw(read_island(BOARD))


def test_the_picture_stands_alone_as_an_svg_file_with_all_its_icons(island: Island) -> None:
    picture = ET.fromstring(draw_alone(island))  # noqa: S314 - our own text
    names = {each.get("id") for each in picture.iter() if each.get("id")}
    used = {link[1:] for each in picture.iter() if (link := each.get("href", "")).startswith("#")}
    assert used
    assert used <= names


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("beach-ne = [40, 0.90]", "beach-ne = [40]", "layout.beach-ne: must have 2 items"),
        ("beach-ne = [40, 0.90]", "", "layout.beach-ne: is missing"),
        ('["beach-s", "jungle-s"],', '["beach-s", "moon"],', "paths.edges: must be pairs of fields"),
    ],
)
def test_a_wrong_board_is_named_with_line_and_key(tmp_path: Path, old: str, new: str, problem: str) -> None:
    text = BOARD.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "board.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"board\.toml:\d+: {re.escape(problem)}"):
        read_island(path)


# --- the room


def test_hands_move_in_the_loops_thread_only(table: Table) -> None:
    table.room.do({"do": "place", "figure": "white", "field": "beach-s"})
    assert table.hands.done == []
    table.machine.turn()
    assert table.hands.done == [("place", Figure.WHITE, "beach-s")]


def test_a_hold_grips_the_figure_then_touches_and_a_release_undoes_both(table: Table) -> None:
    table.room.place(Figure.RED, "beach-sw")
    table.room.do({"do": "hold", "figure": "red", "touch": "explore"})
    assert table.room.snapshot()["hold"] == {"figure": "red", "touch": "explore"}
    table.room.do({"do": "release"})
    table.room.do({"do": "release"})
    table.machine.turn()
    assert table.hands.done[1:] == [
        ("grip", Figure.RED),
        ("touch", Touch.EXPLORE),
        ("lift", Touch.EXPLORE),
        ("let go", Figure.RED),
    ]
    assert table.room.snapshot()["hold"] is None


def test_a_figure_beside_the_board_cannot_touch(table: Table) -> None:
    with pytest.raises(CommandError, match="green stands beside the board"):
        table.room.hold(Figure.GREEN, Touch.ONE)
    table.machine.turn()
    assert table.hands.done == []


def test_one_hand_holds_one_thing(table: Table) -> None:
    table.room.place(Figure.RED, "beach-sw")
    table.room.hold(Figure.RED, Touch.ONE)
    table.room.hold(Figure.RED, Touch.TWO)
    table.room.place(Figure.RED, None)
    table.machine.turn()
    assert table.hands.done[-5:] == [
        ("grip", Figure.RED),
        ("touch", Touch.TWO),
        ("lift", Touch.TWO),
        ("let go", Figure.RED),
        ("place", Figure.RED, None),
    ]
    assert table.hands.done.count(("lift", Touch.ONE)) == 1


def test_the_button_held_at_the_switch_opens_the_settings(table: Table) -> None:
    table.room.do({"do": "button", "pressed": True})
    table.room.do({"do": "power", "on": True})
    table.room.do({"do": "power", "on": True})
    table.room.do({"do": "button", "pressed": False})
    table.room.do({"do": "power", "on": False})
    table.room.do({"do": "power", "on": True})
    table.machine.turn()
    assert table.machine.switched == ["on held", "off", "on"]
    assert table.pressed == [True, False]


def test_the_lights_go_out_with_the_switch(table: Table) -> None:
    table.room.power(on=True)
    table.machine.tell(cue="symbols", lit=["star"])
    assert table.room.snapshot()["lights"] == {"lit": ["star"], "blink": False}
    table.room.power(on=False)
    assert table.room.snapshot()["lights"] == {"lit": [], "blink": False}


def test_weak_batteries(table: Table) -> None:
    table.room.do({"do": "battery", "low": True})
    table.machine.turn()
    assert table.weak == [True]
    assert table.room.snapshot()["battery_low"] is True


def test_a_snapshot_holds_the_rows_in_their_order_since_the_game_began(table: Table) -> None:
    table.machine.tell(event="discovered", figure=Figure.WHITE, field="beach-s", site="temple")
    table.machine.tell(cue="sound", name="harp")
    table.machine.tell(event="game_started", level="expert")
    table.machine.tell(cue="say", line="x", args={}, text="Los!", voice="narrator")
    table.machine.tell(event="entered", figure=Figure.RED, field="beach-sw")
    rows = table.room.snapshot()["rows"]
    assert [row.get("event", row.get("cue")) for row in rows] == ["sound", "game_started", "say", "entered"]
    assert rows[-1] == {"t": 1.0, "event": "entered", "figure": "red", "field": "beach-sw"}


def test_earlier_speech_is_kept_within_bounds(table: Table) -> None:
    table.machine.tell(event="game_started", level="expert")
    for _ in range(1000):
        table.machine.tell(cue="sound", name="point")
    rows = table.room.snapshot()["rows"]
    assert len(rows) == 201
    assert rows[0]["event"] == "game_started"


def test_a_game_that_goes_on_shows_what_lies_on_the_board() -> None:
    past = [{"t": 0.0, "event": "discovered", "figure": "red", "field": "jungle-w", "site": "ariki"}]
    assert Table(past=past).room.snapshot()["rows"] == past


def test_browsers_hear_rows_and_changes_after_their_snapshot(table: Table) -> None:
    heard: list[tuple[str, Json]] = []
    leave = table.room.join(lambda name, data: heard.append((name, data)))
    table.machine.tell(cue="sound", name="harp")
    table.room.place(Figure.BLACK, "beach-se")
    leave()
    table.machine.tell(cue="sound", name="bird")
    assert [name for name, _ in heard] == ["snapshot", "row", "room"]
    assert heard[2][1]["figures"] == {"white": None, "red": None, "green": None, "black": "beach-se"}


def test_when_the_last_browser_leaves_nobody_holds_anything(table: Table) -> None:
    first, second = (table.room.join(lambda *_: None) for _ in range(2))
    table.room.place(Figure.RED, "beach-sw")
    table.room.hold(Figure.RED, Touch.EXPLORE)
    table.room.button(pressed=True)
    first()
    assert table.room.snapshot()["hold"] is not None
    second()
    second()
    table.machine.turn()
    assert table.hands.done[-1] == ("let go", Figure.RED)
    assert table.pressed == [True, False]


def test_what_hands_cannot_do_is_told_to_the_browser_and_ends_nothing(table: Table) -> None:
    heard: list[tuple[str, Json]] = []
    table.room.join(lambda name, data: heard.append((name, data)))
    table.hands.clumsy = True
    table.room.place(Figure.RED, "beach-sw")
    table.machine.turn()
    assert heard[-1] == ("trouble", {"text": "red fell over"})


def test_the_language_is_the_units() -> None:
    languages = iter(["de", "en"])
    room = Table(language=lambda: next(languages)).room
    assert [room.snapshot()["language"] for _ in range(2)] == ["de", "en"]


def test_rows_and_browsers_come_from_different_threads(table: Table) -> None:
    heard: list[int] = []

    def count(name: str, data: Json) -> None:
        if name == "row":
            heard.append(data["number"])

    def speak() -> None:
        for number in range(300):
            table.machine.tell(cue="sound", name="point", number=number)

    def come_and_go() -> None:
        for _ in range(100):
            table.room.join(lambda *_: None)()
            table.room.snapshot()

    table.room.join(count)
    threads = [Thread(target=speak), Thread(target=come_and_go), Thread(target=come_and_go)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == list(range(300))


# --- the server


def request(app: Starlette, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, Json, bytes]:
    """One request straight into the application: status, headers, body."""
    named = {"host": "127.0.0.1:8000"} | {name.replace("_", "-"): value for name, value in headers.items()}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        "server": ("127.0.0.1", 8000),
        "client": ("127.0.0.1", 50000),
    }
    sent: list[Any] = []
    incoming = [body]

    async def receive() -> Json:
        if not incoming:
            await asyncio.Event().wait()  # the browser stays
        return {"type": "http.request", "body": incoming.pop(), "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answered, b"".join(message.get("body", b"") for message in sent[1:])


def do(app: Starlette, command: object, **headers: str) -> tuple[int, str]:
    """A command and the one line of its answer."""
    body = command if isinstance(command, bytes) else json.dumps(command).encode()
    headers = {"content_type": "application/json"} | headers
    status, _, answer = request(app, "POST", "/do", body, **headers)
    return status, json.loads(answer)["error"] if answer.startswith(b"{") else answer.decode()


def test_a_command_of_the_page_moves_a_figure(table: Table) -> None:
    assert do(table.app, {"do": "place", "figure": "white", "field": "beach-s"}) == (204, "")
    assert table.room.snapshot()["figures"]["white"] == "beach-s"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ({"do": "fly"}, "do: must be place, hold, release, button, power or battery, is 'fly'"),
        ({}, "do: must be place, hold, release, button, power or battery, is None"),
        (
            {"do": "place", "figure": "blue", "field": None},
            "figure: must be one of white, red, green, black, is 'blue'",
        ),
        ({"do": "place", "figure": "red", "field": ["a"]}, "or null, is ['a']"),
        ({"do": "place", "figure": "red", "field": "moon"}, "or null, is 'moon'"),
        ({"do": "hold", "figure": "red"}, "touch: must be one of rock, explore, one, two, three, fire, is None"),
        (
            {"do": "hold", "figure": ["red"], "touch": "one"},
            "figure: must be one of white, red, green, black, is ['red']",
        ),
        ({"do": "hold", "figure": "red", "touch": "one"}, "figure: red stands beside the board"),
        ({"do": "power", "on": 1}, "on: must be true or false, is 1"),
        (["place"], "a command must be one JSON object, is list"),
        (b"place white", "a command must be one JSON object, this is no JSON"),
        (b"\xff\xfe", "a command must be one JSON object, this is no JSON"),
        (b"[" * 1000, "a command must be one JSON object, this is no JSON"),
    ],
)
def test_a_wrong_command_gets_one_clear_line_and_changes_nothing(table: Table, command: object, line: str) -> None:
    before = table.room.snapshot()
    status, answer = do(table.app, command)
    assert status == 400
    assert line in answer
    assert "\n" not in answer
    assert table.room.snapshot() == before
    assert table.machine.waiting == []


def test_a_long_body_is_refused(table: Table) -> None:
    assert do(table.app, b" " * (BODY_BYTES + 1))[0] == 413


def test_a_form_of_another_site_cannot_command(table: Table) -> None:
    command = {"do": "power", "on": True}
    assert do(table.app, command, content_type="text/plain")[0] == 400
    assert do(table.app, command, origin="http://example.org")[0] == 403
    assert do(table.app, command, origin="null")[0] == 403
    assert do(table.app, command, origin="http://127.0.0.1:8001")[0] == 403
    assert do(table.app, command, sec_fetch_site="cross-site")[0] == 403
    assert table.machine.waiting == []
    assert do(table.app, command, origin="http://127.0.0.1:8000", sec_fetch_site="same-origin")[0] == 204


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org", "", "[::1", "192.168.0.7:8000"])
def test_another_host_name_is_refused(table: Table, host: str) -> None:
    status, _, body = request(table.app, "GET", "/snapshot", host=host)
    assert status == 403
    assert b"the request names" in body


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:8000"])
def test_loopback_has_several_names(table: Table, host: str) -> None:
    assert request(table.app, "GET", "/snapshot", host=host)[0] == 200


def test_the_service_page_of_a_board_may_name_its_host(table: Table) -> None:
    app = make_app(table.room, table.island, hosts={*LOOPBACK, "volcano.local"})
    assert request(app, "GET", "/snapshot", host="volcano.local:8000")[0] == 200


def test_the_page_holds_the_island_and_nothing_from_elsewhere(table: Table) -> None:
    status, headers, body = request(table.app, "GET", "/")
    page = body.decode()
    assert status == 200
    assert page.count("data-field=") == 23
    assert "<!-- symbols" not in page
    assert "<!-- island" not in page
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<style|style=|\son\w+=|<script(?![^>]*src=)|javascript:", page)
    assert {each["touch"] for each in _attributes(page, "touch")} == set(TOUCHES)
    assert {each["figure"] for each in _attributes(page, "figure")} == set(FIGURES)
    for link in re.findall(r'(?:href|src)="(/[^"]+)"', page):
        assert request(table.app, "GET", link)[0] == 200


def _attributes(page: str, name: str) -> list[dict[str, str]]:
    return [{name: value} for value in re.findall(rf'<button[^>]* data-{name}="(\w+)"', page)]


def test_no_file_of_the_page_names_another_server() -> None:
    for file in STATIC.iterdir():
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/", "")
        assert not re.search(r"https?:|//[a-z]+\.", text), file.name


def test_nothing_outside_the_static_folder_is_served(table: Table) -> None:
    for path in ("/static/../server.py", "/static/%2e%2e/server.py", "/clips/x.wav", "/static/"):
        assert request(table.app, "GET", path)[0] == 404


def test_clips_are_served_when_there_are_any(table: Table, tmp_path: Path) -> None:
    (tmp_path / "harp.wav").write_bytes(b"RIFF")
    app = make_app(table.room, table.island, clips=tmp_path)
    assert request(app, "GET", "/clips/harp.wav")[::2] == (200, b"RIFF")


# --- the words


def words() -> dict[str, set[str]]:
    """The keys of each language in words.js."""
    text = (STATIC / "words.js").read_text(encoding="utf-8").split("const WORDS", 1)[1].split("\n};", 1)[0]
    german, english = re.split(r"\n  en: \{", text)
    return {
        name: set(re.findall(r'(?:^|[{,])\s*"?([a-z][\w-]*)"?: "', part, re.MULTILINE))
        for name, part in (("de", german), ("en", english))
    }


def test_both_languages_have_the_same_words() -> None:
    german, english = words().values()
    assert german == english
    assert len(german) > 80


def test_every_name_that_the_page_shows_has_a_word_and_every_sound_a_picture() -> None:
    known = words()["de"]
    assert {*FIGURES, *TOUCHES} <= known
    icons = set(re.findall(r'id="icon-([\w]+)"', (STATIC / "symbols.svg").read_text(encoding="utf-8")))
    for sound in set(SoundName) - {SoundName.POINT}:
        assert sound in known or f"s_{sound}" in known, sound
        assert sound in icons
    script = "".join((STATIC / name).read_text(encoding="utf-8") for name in ("page.js", "speech.js", "island.js"))
    for key in re.findall(r'word\("(\w+)"', script):
        assert key in known, key
    html = (STATIC / "page.html").read_text(encoding="utf-8")
    for key in re.findall(r'data-(?:text|label|title)="(\w+)"', html):
        assert key in known, key


# --- the stream, over a real socket


@pytest.fixture
def served(table: Table) -> Iterator[tuple[Table, PageServer]]:
    with PageServer(make_app(table.room, table.island, beat_s=0.05)) as server:
        yield table, server


class Stream:
    """A browser's EventSource."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        self.connection.request("GET", "/events")
        self.answer = self.connection.getresponse()
        assert self.answer.headers["content-type"].startswith("text/event-stream")

    def next(self, *wanted: str) -> tuple[str, Json]:
        """The next message, of one of the `wanted` names if there are any."""
        name = ""
        while line := self.answer.readline().decode().rstrip("\n"):
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: ") and (not wanted or name in wanted):
                self.answer.readline()
                return name, json.loads(line[6:])
            elif line.startswith(("data: ", "retry: ")):
                self.answer.readline()
        return "", {}

    def close(self) -> None:
        self.answer.close()
        self.connection.close()


def test_a_stream_begins_with_a_snapshot_and_goes_on_with_rows(served: tuple[Table, PageServer]) -> None:
    table, server = served
    stream = Stream(server.port)
    name, snapshot = stream.next()
    assert name == "snapshot"
    assert snapshot["on"] is False
    table.machine.tell(cue="say", line="x", args={}, text="Grüß\nGott", voice="narrator")
    assert stream.next("row")[1]["text"] == "Grüß\nGott"
    stream.close()


def test_a_silent_stream_gives_signs_of_life(served: tuple[Table, PageServer]) -> None:
    stream = Stream(served[1].port)
    assert [stream.next()[0] for _ in range(3)] == ["snapshot", "beat", "beat"]
    stream.close()


def test_a_browser_that_comes_back_gets_what_it_missed(served: tuple[Table, PageServer]) -> None:
    table, server = served
    first = Stream(server.port)
    first.next()
    first.close()
    table.machine.tell(event="discovered", figure="white", field="beach-s", site="temple")
    second = Stream(server.port)
    assert second.next()[1]["rows"][-1]["site"] == "temple"
    second.close()


def test_a_browser_that_goes_lets_go(served: tuple[Table, PageServer]) -> None:
    table, server = served
    first, second = Stream(server.port), Stream(server.port)
    first.next()
    second.next()
    table.room.button(pressed=True)
    first.close()
    assert second.next("room")[1]["button"] is True
    assert second.next()[0] == "beat"
    assert table.room.snapshot()["button"] is True
    table.machine.arrived.clear()
    second.close()
    assert table.machine.arrived.wait(5)
    table.machine.turn()
    assert table.pressed == [True, False]


def test_stop_ends_open_streams_at_once(table: Table, caplog: pytest.LogCaptureFixture) -> None:
    server = PageServer(table.app)
    server.start()
    stream = Stream(server.port)
    stream.next()
    server.stop()
    server.stop()
    assert b"event" not in stream.answer.read()
    assert caplog.records == []
    stream.close()


def test_a_taken_port_is_named(table: Table, served: tuple[Table, PageServer]) -> None:
    with pytest.raises(PageError, match=rf"127\.0\.0\.1:{served[1].port}: .*; choose another with --port"):
        PageServer(table.app, served[1].port)
    with pytest.raises(PageError, match="70000"):
        PageServer(table.app, 70000)
