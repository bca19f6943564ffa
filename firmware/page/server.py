"""The page's web server: the island, the stream of messages, and commands; by default for this machine only.

Messages go to the browser as server-sent events, which reconnect by themselves and begin with a snapshot each time;
commands come as small JSON posts. Requests that name another host or come from another site are refused, so that no
web page elsewhere can play with a volcano on this machine (DNS rebinding, cross-site requests). Visitors are few and
take turns: whoever sends or takes too little for too long is cut off, and what is queued for anybody is bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from importlib.resources import files
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

from firmware.page.clips import MEDIA_TYPES
from firmware.page.commands import CommandError
from firmware.page.drawing import draw
from firmware.terms import VolcanoError

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from firmware.page.drawing import Island
    from firmware.page.told import Json, Told

STATIC = files("firmware.page") / "static"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
BODY_BYTES = 1024
"""The longest command is about 60 bytes."""
BEAT_S = 10.0
"""How often a silent stream gives a sign of life; the page calls the connection lost after three missed ones."""
WAITING_MESSAGES = 1000
"""Messages that may wait for a slow browser before its stream is cut; it reconnects and gets a snapshot."""

CONNECTIONS = 64
"""At a time; a browser opens up to six for a page. One file each: the game must always find one for its journal."""
STREAMS = 16
"""Browsers that listen at a time."""
STALLED_S = 10.0
"""So long a visitor may send no further byte of a request, or take none of an answer."""

STOPPING_S = 2.0
"""How long the end of the process waits for the page; its visitors are given one (timeout_graceful_shutdown)."""

CLIP_CACHING = "private, max-age=86400"
"""A clip's file is named after all that it depends on; a day, because owners may put their own recordings there."""

POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; media-src 'self'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"cache-control", b"no-cache"),
)


class PageError(VolcanoError, OSError):
    """The page cannot be served; says on which address and what to do."""


class Guard:
    """Lets requests through that were meant for this server and come from its own page, and adds the headers."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                named = {name.lower() for name, _ in message["headers"]}
                added = [(name, value) for name, value in HEADERS if name not in named]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        problem = self._problem(Request(scope)) if scope["type"] == "http" else None
        app = PlainTextResponse(problem + "\n", 403) if problem else self._app
        await app(scope, receive, send_with_headers)

    def _problem(self, request: Request) -> str | None:
        host = request.headers.get("host", "")
        reached = (request.scope.get("server") or ("",))[0]  # an address cannot be rebound, only a name can
        if _hostname(host) not in {*self._hosts, reached}:
            return f"this page is served for {', '.join(sorted(self._hosts))} only, the request names {host!r}"
        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return f"the request comes from another site ({origin})"
        if request.headers.get("sec-fetch-site") == "cross-site" and request.method != "GET":
            return "the request comes from another site"
        return None


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def make_app(room: Told, island: Island, *, hosts: Collection[str] = LOOPBACK, beat_s: float = BEAT_S) -> Starlette:
    """The page over `room`.

    ``GET /`` the page, ``GET /events`` the stream, ``GET /snapshot`` the room once, ``POST /do`` a command,
    ``GET /clips/…`` a sound that a row names.
    """
    page = _page(island)
    streams: set[asyncio.Task[Any]] = set()

    async def index(_: Request) -> Response:
        return HTMLResponse(page)

    async def snapshot(_: Request) -> Response:
        return JSONResponse(room.snapshot())

    async def events(_: Request) -> Response:
        if len(streams) >= STREAMS:
            return PlainTextResponse(f"{STREAMS} browsers listen already\n", 503)
        return EventStream(room, beat_s, streams)

    async def do(request: Request) -> Response:
        try:
            room.do(await _command(request))
        except CommandError as error:
            return JSONResponse({"error": str(error), "word": error.word}, 400)
        except _TooLongError:
            return JSONResponse({"error": f"a command has at most {BODY_BYTES} bytes"}, 413)
        except ClientDisconnect:
            return Response(status_code=400)
        return Response(status_code=204)

    async def clip(request: Request) -> Response:
        path = room.clips.path(**request.path_params) if room.clips else None
        if path is None or not path.is_file():
            return PlainTextResponse("no clip\n", 404)
        return FileResponse(path, media_type=MEDIA_TYPES[path.suffix], headers={"Cache-Control": CLIP_CACHING})

    routes: list[Route | Mount] = [
        Route("/", index),
        Route("/events", events),
        Route("/snapshot", snapshot),
        Route("/do", do, methods=["POST"]),
        Route("/clips/{pack}/{file}", clip),
        Mount("/static", StaticFiles(packages=[("firmware.page", "static")])),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, hosts=hosts)])
    app.state.streams = streams
    return app


def _page(island: Island) -> str:
    html = (STATIC / "page.html").read_text(encoding="utf-8")
    symbols = (STATIC / "symbols.svg").read_text(encoding="utf-8")
    return html.replace("<!-- symbols -->", symbols).replace("<!-- island -->", draw(island))


class _TooLongError(Exception):
    pass


async def _command(request: Request) -> Json:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise CommandError("a command must be sent as application/json")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES:
            raise _TooLongError
    try:
        command = json.loads(body)
    except (ValueError, RecursionError):
        raise CommandError("a command must be one JSON object, this is no JSON") from None
    if not isinstance(command, dict):
        raise CommandError(f"a command must be one JSON object, is {type(command).__name__}")
    return command


class EventStream(Response):
    """Server-sent events: ``snapshot`` first, then ``row``, ``room``, ``trouble`` as they come, ``beat`` in silence.

    The room hears at once when the browser goes, also while nothing is being sent. `streams` are the tasks of all open
    streams; one that is cancelled ends its response properly.
    """

    media_type = "text/event-stream"

    def __init__(self, room: Told, beat_s: float, streams: set[asyncio.Task[Any]]) -> None:
        self.status_code = 200
        self.background = None
        self.body = b""
        self.init_headers()
        del self.headers["content-length"]
        self._room = room
        self._beat_s = beat_s
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Send until the browser goes or the server stops."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        speaking = asyncio.create_task(self._send_all(send))
        going = asyncio.create_task(_gone(receive))
        self._streams.add(speaking)
        try:
            await asyncio.wait((speaking, going), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._streams.discard(speaking)
            speaking.cancel()
            going.cancel()
            (ended, _) = await asyncio.gather(speaking, going, return_exceptions=True)
        if isinstance(ended, Exception) and not isinstance(ended, OSError):  # OSError: the browser went meanwhile
            raise ended
        await send({"type": "http.response.body", "body": b""})

    async def _send_all(self, send: Send) -> None:
        loop = asyncio.get_running_loop()
        speaking = asyncio.current_task()
        messages: asyncio.Queue[tuple[str, Json]] = asyncio.Queue()

        def add(name: str, data: Json) -> None:
            messages.put_nowait((name, data))
            if messages.qsize() > WAITING_MESSAGES and speaking is not None:
                speaking.cancel()

        def put(name: str, data: Json) -> None:
            with contextlib.suppress(RuntimeError):  # the server's loop has ended
                loop.call_soon_threadsafe(add, name, data)

        leave = self._room.join(put)
        try:
            message = "retry: 1000\n\n"
            while True:
                await send({"type": "http.response.body", "body": message.encode(), "more_body": True})
                try:
                    async with asyncio.timeout(self._beat_s):  # wait_for may swallow a cancellation
                        name, data = await messages.get()
                except TimeoutError:
                    name, data = "beat", {}
                message = f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
        finally:
            leave()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class _Visit(H11Protocol):
    """One connection; cut off when there are too many, and when nothing moves on it for `STALLED_S`."""

    _seen: object = None
    _look: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()
        else:
            self._look = self.loop.call_later(STALLED_S, self._look_after)

    def _look_after(self) -> None:
        """A request that is still the same and not complete, or none at all: nobody is there who wants something."""
        cycle = self.cycle
        if cycle is self._seen and (cycle is None or cycle.more_body or cycle.response_complete):
            self.transport.abort()
            return
        self._seen = cycle
        self._look = self.loop.call_later(STALLED_S, self._look_after)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stall = self.loop.call_later(STALLED_S, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stall is not None:
            self._stall.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._look, self._stall):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)


def names_of_this_machine() -> frozenset[str]:
    """The names by which a browser in the house may ask for this machine, beside its addresses."""
    name = socket.gethostname().lower()
    return LOOPBACK | {name, f"{name}.local"}


class PageServer:
    """The page on a port of this machine, by default for itself only, in a thread of its own; a context manager.

    Port 0 takes a free one; `url` tells where the page is. `start` returns when it answers.

    Raises:
        PageError: the port is taken or may not be used; by `start`: there is no room for the thread.
    """

    def __init__(self, app: Starlette, port: int = 0, host: str = "127.0.0.1") -> None:
        self._socket = _listen(host, port)
        self.port: int = self._socket.getsockname()[1]
        everywhere = host in ("0.0.0.0", "::")  # noqa: S104 - only whoever asks for it is served everywhere
        where = socket.gethostname() if everywhere else f"[{host}]" if ":" in host else host
        self.url = f"http://{where}:{self.port}/"
        config = uvicorn.Config(
            app,
            http=_Visit,
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._answering = Event()
        self._server = _Server(config, self._answering, app.state.streams)
        self._thread = Thread(target=self._run, name="page", daemon=True)

    def _run(self) -> None:
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._answering.set()

    def start(self) -> None:
        """Serve until `stop`."""
        try:
            self._thread.start()
        except RuntimeError as error:  # no more threads, or no memory for one
            self._socket.close()
            raise PageError(str(error)) from error
        self._answering.wait()

    def stop(self) -> None:
        """End the streams and the thread, or leave it to the process's end; harmless when called again."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(STOPPING_S)
        if not self._thread.is_alive():
            self._socket.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Server(uvicorn.Server):
    """uvicorn that tells when it answers and ends open streams at once: a browser would hold them for ever."""

    def __init__(self, config: uvicorn.Config, answering: Event, streams: set[asyncio.Task[Any]]) -> None:
        super().__init__(config)
        self._answering = answering
        self._streams = streams

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._answering.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for task in tuple(self._streams):
            task.cancel()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise PageError(f"{host}:{port}: the page cannot listen there: {reason}; choose another with --port") from error
    return listening
