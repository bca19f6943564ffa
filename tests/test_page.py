"""The page without a browser: the web server, its refusals, its stream, and the page's words."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playroom import Json, Playroom, Recorded, write_pack

from firmware.audio.pack import load_pack
from firmware.page.clips import Clips
from firmware.page.server import BODY_BYTES, LOOPBACK, PageError, PageServer, make_app
from firmware.terms import FIGURES, TOUCHES, Part, Sound, SoundName

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.applications import Starlette

STATIC = files("firmware.page") / "static"


@pytest.fixture
def table() -> Playroom:
    return Playroom()


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


def test_a_command_of_the_page_moves_a_figure(table: Playroom) -> None:
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
def test_a_wrong_command_gets_one_clear_line_and_changes_nothing(table: Playroom, command: object, line: str) -> None:
    before = table.room.snapshot()
    status, answer = do(table.app, command)
    assert status == 400
    assert line in answer
    assert "\n" not in answer
    assert table.room.snapshot() == before
    assert table.machine.waiting == []


def test_a_long_body_is_refused(table: Playroom) -> None:
    assert do(table.app, b" " * (BODY_BYTES + 1))[0] == 413


def test_a_form_of_another_site_cannot_command(table: Playroom) -> None:
    command = {"do": "power", "on": True}
    assert do(table.app, command, content_type="text/plain")[0] == 400
    assert do(table.app, command, origin="http://example.org")[0] == 403
    assert do(table.app, command, origin="null")[0] == 403
    assert do(table.app, command, origin="http://127.0.0.1:8001")[0] == 403
    assert do(table.app, command, sec_fetch_site="cross-site")[0] == 403
    assert table.machine.waiting == []
    assert do(table.app, command, origin="http://127.0.0.1:8000", sec_fetch_site="same-origin")[0] == 204


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org", "", "[::1", "192.168.0.7:8000"])
def test_another_host_name_is_refused(table: Playroom, host: str) -> None:
    status, _, body = request(table.app, "GET", "/snapshot", host=host)
    assert status == 403
    assert b"the request names" in body


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:8000"])
def test_loopback_has_several_names(table: Playroom, host: str) -> None:
    assert request(table.app, "GET", "/snapshot", host=host)[0] == 200


def test_the_service_page_of_a_board_may_name_its_host(table: Playroom) -> None:
    app = make_app(table.room, table.island, hosts={*LOOPBACK, "volcano.local"})
    assert request(app, "GET", "/snapshot", host="volcano.local:8000")[0] == 200


def test_the_page_holds_the_island_and_nothing_from_elsewhere(table: Playroom) -> None:
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


def test_nothing_outside_the_static_folder_is_served(table: Playroom) -> None:
    for path in ("/static/../server.py", "/static/%2e%2e/server.py", "/clips/x.wav", "/static/"):
        assert request(table.app, "GET", path)[0] == 404


# --- clips


@pytest.fixture
def sounding(tmp_path: Path) -> Playroom:
    """A playroom with a pack of two sounds and one line."""
    write_pack(tmp_path / "effects", [Recorded("harp", "", 40, 1000), Recorded("point", "", 20, 2000)])
    write_pack(tmp_path / "de", [Recorded("Hallo!", "ariki", 30, 3000)])
    (tmp_path / "de" / "secret.wav").write_bytes(b"RIFF")
    clips = Clips(load_pack(tmp_path), lambda: [Sound(SoundName.BIRD), *[Sound(SoundName.POINT)] * 9])
    return Playroom(sound="browser", clips=clips)


def test_a_row_that_is_heard_carries_its_clip_and_the_next_one(sounding: Playroom) -> None:
    sounding.machine.tell(cue="say", line="hello", args={}, text="Hallo!", voice="ariki")
    sounding.machine.tell(cue="say", line="hello", args={}, text="Hallo!", voice="hermit")
    sounding.machine.tell(cue="sound", name="bird")
    sounding.machine.tell(cue="symbols", lit=["star"])
    sounding.machine.tell(event="points", figure="red", count=3)
    said, *others = sounding.room.snapshot()["rows"]
    assert said["ms"] == 30
    assert re.fullmatch(r"/clips/de/\w+\.wav", said["clip"])
    assert said["next"] == [sounding.room.snapshot()["effects"][1]] * 2
    assert all({"clip", "ms", "next"}.isdisjoint(row) for row in others)


def test_the_clip_that_a_row_names_is_served_with_its_type_and_may_be_kept(sounding: Playroom) -> None:
    sounding.machine.tell(cue="sound", name="harp")
    (row,) = sounding.room.snapshot()["rows"]
    status, headers, body = request(sounding.app, "GET", row["clip"])
    assert status == 200
    assert body[:4] == b"RIFF"
    assert headers["content-type"] == "audio/wav"
    assert headers["cache-control"] == "private, max-age=86400"
    assert headers["x-content-type-options"] == "nosniff"
    assert request(sounding.app, "GET", row["clip"], host="example.org")[0] == 403


def test_only_clips_that_were_named_are_served(sounding: Playroom) -> None:
    effects = sounding.room.snapshot()["effects"]
    assert len(effects) == 2
    assert [request(sounding.app, "GET", address)[0] for address in effects] == [200, 200]
    for path in (
        "de/secret.wav",
        "de/manifest.json",
        "effects/../de/secret.wav",
        "effects/%2e%2e/de/secret.wav",
        "de",
        "",
    ):
        assert request(sounding.app, "GET", f"/clips/{path}")[0] == 404, path


def test_a_clip_that_has_gone_and_a_file_that_is_no_sound_are_not_served(tmp_path: Path) -> None:
    write_pack(tmp_path / "effects", [Recorded("harp", "", 40, 1000), Recorded("bird", "", 40, 1000, ending=".py")])
    table = Playroom(sound="browser", clips=Clips(load_pack(tmp_path)))
    (address,) = table.room.snapshot()["effects"]
    next((tmp_path / "effects").glob("*.wav")).unlink()
    assert request(table.app, "GET", address)[0] == 404


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
    icons = set(re.findall(r'id="icon-([\w-]+)"', (STATIC / "symbols.svg").read_text(encoding="utf-8")))
    for sound in set(SoundName) - {SoundName.POINT}:
        assert sound in known or f"s_{sound}" in known, sound
        assert sound in icons
    assert {f"check_{part}" for part in Part} <= known, "what to do about a fault"
    script = "".join(
        file.read_text(encoding="utf-8")
        for file in STATIC.iterdir()
        if file.name.endswith(".js") and file.name != "words.js"
    )
    for key in re.findall(r'word\("(\w+)"', script):
        assert key in known, key
    html = (STATIC / "page.html").read_text(encoding="utf-8")
    for key in re.findall(r'data-(?:text|label|title)="(\w+)"', html):
        assert key in known, key


@pytest.mark.parametrize(
    ("start", "pattern"),
    [("refused_", r'"refused_(\w+)"'), ("why_", r'Rejected\("(\w+)"\)')],
    ids=["of the page's rooms", "of the game and the unit"],
)
def test_every_refusal_has_its_words(start: str, pattern: str) -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(str(files("firmware"))).rglob("*.py"))
    known = {key.removeprefix(start) for key in words()["de"] if key.startswith(start)}
    assert set(re.findall(pattern, sources)) == known


# --- the stream, over a real socket


@pytest.fixture
def served(table: Playroom) -> Iterator[tuple[Playroom, PageServer]]:
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


def test_a_stream_begins_with_a_snapshot_and_goes_on_with_rows(served: tuple[Playroom, PageServer]) -> None:
    table, server = served
    stream = Stream(server.port)
    name, snapshot = stream.next()
    assert name == "snapshot"
    assert snapshot["on"] is False
    table.machine.tell(cue="say", line="x", args={}, text="Grüß\nGott", voice="narrator")
    assert stream.next("row")[1]["text"] == "Grüß\nGott"
    stream.close()


def test_a_silent_stream_gives_signs_of_life(served: tuple[Playroom, PageServer]) -> None:
    stream = Stream(served[1].port)
    assert [stream.next()[0] for _ in range(3)] == ["snapshot", "beat", "beat"]
    stream.close()


def test_a_browser_that_comes_back_gets_what_it_missed(served: tuple[Playroom, PageServer]) -> None:
    table, server = served
    first = Stream(server.port)
    first.next()
    first.close()
    table.machine.tell(event="discovered", figure="white", field="beach-s", site="temple")
    second = Stream(server.port)
    assert second.next()[1]["rows"][-1]["site"] == "temple"
    second.close()


def test_a_browser_that_goes_lets_go(served: tuple[Playroom, PageServer]) -> None:
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


def test_stop_ends_open_streams_at_once(table: Playroom, caplog: pytest.LogCaptureFixture) -> None:
    server = PageServer(table.app)
    server.start()
    stream = Stream(server.port)
    stream.next()
    server.stop()
    server.stop()
    assert b"event" not in stream.answer.read()
    assert caplog.records == []
    stream.close()


def test_a_taken_port_is_named(table: Playroom, served: tuple[Playroom, PageServer]) -> None:
    with pytest.raises(PageError, match=rf"127\.0\.0\.1:{served[1].port}: .*; choose another with --port"):
        PageServer(table.app, served[1].port)
    with pytest.raises(PageError, match="70000"):
        PageServer(table.app, 70000)
