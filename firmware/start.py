"""`volcano play` and `volcano run`: a whole volcano put together, started, and put away.

They differ in the hardware and in who watches. What a board does not need is imported late: the greeting waits for it
otherwise.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import time
from collections import deque
from functools import cached_property
from typing import TYPE_CHECKING, Any

from firmware.audio.pack import load_pack, packs_folder
from firmware.audio.player import SilentPlayer
from firmware.catalogue import load
from firmware.config import PORT
from firmware.terms import Say, Sound, VolcanoError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from starlette.applications import Starlette

    from firmware.audio.mixer import MixerPlayer
    from firmware.audio.pack import Pack
    from firmware.audio.player import Player
    from firmware.game.kernel import Record, Title
    from firmware.hal.backends import Hardware
    from firmware.loop import Loop, Supervisor
    from firmware.page.server import PageServer
    from firmware.page.service_page import ServicePage
    from firmware.terms import Figure

MOST_SPEED = 50.0
"""The emulated chips keep up with more on any desktop."""

log = logging.getLogger("volcano")


class Setting:
    """What `play` and `run` share: configuration, title, texts, store, clock.

    With `forgiving` a wrong file of the owner's is logged, said aloud, and replaced by its default.
    """

    def __init__(self, options: argparse.Namespace, speed: float = 1.0, *, forgiving: bool = False) -> None:
        from firmware.config import ConfigError, load_configuration, state_folder  # noqa: PLC0415
        from firmware.game.registry import load_title  # noqa: PLC0415
        from firmware.hal.calibration import usable_calibration  # noqa: PLC0415
        from firmware.hal.wiring import load_wiring  # noqa: PLC0415
        from firmware.journal import Store  # noqa: PLC0415
        from firmware.writer import Writer  # noqa: PLC0415

        if not 0 < speed <= MOST_SPEED:
            raise ConfigError(f"--speed: must be above 0 and at most {MOST_SPEED}, is {speed}")
        self._problems: list[str] = []
        if forgiving:
            from firmware.service import forgiving_configuration  # noqa: PLC0415

            self.configuration, self.title, self.wiring, self._problems = forgiving_configuration()
            for problem in self._problems:
                log.error("%s", problem)
        else:
            self.configuration = load_configuration(options.config)
            self.title = load_title(board=self.configuration.board, tuning=self.configuration.tuning)
            self.wiring = load_wiring(self.configuration.wiring, self.title.fields)
        store = Store(options.state_dir or state_folder(), _warn)
        if not store.claim():
            problem = f"another volcano keeps its game in {store.folder}: end that one, or give this one a --state-dir"
            if "NOTIFY_SOCKET" not in os.environ:
                raise VolcanoError(problem)
            log.error("%s; going on all the same", problem)  # the board's own never refuses to play
        self.store = Writer(store, _warn)
        self.language = options.language or self.configuration.language
        self.seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(8))
        self._speed = speed
        self.calibration, problem = usable_calibration(options.state_dir or state_folder(), self.wiring)
        if problem:
            log.error("%s; going on without it", problem)
            self._problems.append(problem)

    def clock(self) -> float:
        """Seconds, monotonic; faster than the world with ``--speed``."""
        return time.monotonic() * self._speed

    def loop(self, hardware: Hardware, player: Player, supervisor: Supervisor | None = None) -> Loop:
        """The event loop over this hardware and player."""
        from firmware.loop import Loop  # noqa: PLC0415
        from firmware.unit_events import Settings  # noqa: PLC0415

        return Loop(
            self.title,
            load,
            hardware,
            player,
            self.store,
            settings=Settings(self.language, self.configuration.volume),
            seed=self.seed,
            clock=self.clock,
            sleep=lambda seconds: time.sleep(seconds / self._speed),
            supervisor=supervisor,
            misconfigured=bool(self._problems),
        )

    @cached_property
    def pack(self) -> Pack:
        """The sounds that are there."""
        pack = load_pack(packs_folder())
        if not pack:
            log.warning("there are no sounds; make them with: volcano sounds build")
        return pack

    def player(self, *, aloud: bool) -> Player:
        """Heard on this machine's sound card, or silent for as long as each clip lasts."""
        return self.mixer() if aloud else SilentPlayer(self.clock, self.pack.duration_ms)

    def mixer(self) -> MixerPlayer:
        """Heard on this machine's sound card."""
        from firmware.audio.mixer import open_mixer  # noqa: PLC0415

        return open_mixer(self.configuration, self.pack, self.clock)


def play(options: argparse.Namespace) -> int:
    """Play over emulated chips and hands, the board as a page on this machine; the exit status."""
    from firmware.game.insel.board import OWN_BOARD  # noqa: PLC0415
    from firmware.hal.backends import mock_hardware  # noqa: PLC0415
    from firmware.page.clips import Clips  # noqa: PLC0415
    from firmware.page.drawing import read_island  # noqa: PLC0415
    from firmware.page.room import Room  # noqa: PLC0415
    from firmware.page.server import make_app  # noqa: PLC0415

    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    setting = Setting(options, options.speed)
    mock = mock_hardware(setting.wiring, setting.clock, calibration=setting.calibration)
    sound = options.sound if setting.pack and options.speed == 1 else "none"
    loop = setting.loop(mock.hardware, setting.player(aloud=sound == "here"))
    past, stands = _left_on_the_board(setting.title, setting.store.load())

    def waiting() -> list[Say | Sound]:
        return [item for item in loop.unit.speech.waiting if isinstance(item, Say | Sound)]

    room = Room(
        loop,
        mock.hands,
        mock.press,
        mock.set_battery_low,
        fields=setting.title.fields,
        language=lambda: loop.unit.settings.language,
        volume=lambda: loop.unit.settings.volume,
        past=past,
        stands=stands,
        sound=sound,
        clips=Clips(setting.pack, waiting) if sound == "browser" else None,
    )
    island = read_island(setting.configuration.board or OWN_BOARD)
    with _page_server(make_app(room, island), options.port) as server:
        print(f"The island is at {server.url} (Ctrl-C ends)", flush=True)
        if not options.no_browser:
            import webbrowser  # noqa: PLC0415

            webbrowser.open(server.url)
        _stop_on_signals(loop)
        loop.run()
    return 0


def _left_on_the_board(title: Title, records: Sequence[Record]) -> tuple[list[dict[str, Any]], dict[Figure, str]]:
    """What a game that will go on had told until the power was cut, and where each figure had its last contact."""
    from firmware.game.kernel import Begun, Played, unfinished  # noqa: PLC0415

    begun, *rest = unfinished(records) or (None,)
    names = [rules.name for rules in (title.intro, title.game) if rules.resumes]
    if not isinstance(begun, Begun) or begun.rules not in names:
        return [], {}
    played = [record for record in rest if isinstance(record, Played)]
    past = [row for record in played for row in record.events]
    stands = {record.contact.figure: record.contact.field for record in played}
    return past, {figure: field for figure, field in stands.items() if field in title.fields}


def _page_server(app: Starlette, port: int | None) -> PageServer:
    """The page on the port asked for; where none was, on the usual one or, if that is taken, on a free one."""
    from firmware.page.server import PageError, PageServer  # noqa: PLC0415

    if port is not None:
        return PageServer(app, port)
    try:
        return PageServer(app, PORT)
    except PageError:
        return PageServer(app, 0)


def run(options: argparse.Namespace) -> int:
    """Run the board, or an emulated one that nobody touches; the exit status."""
    gc.disable()  # what is made before the greeting stays: looking for garbage among it takes a twentieth of the time
    from firmware.hal.backends import mock_hardware, real_hardware  # noqa: PLC0415
    from firmware.service import Notifier, open_with_card  # noqa: PLC0415

    if not options.mock and "STATE_DIRECTORY" not in os.environ:
        _leave_the_service_alone()
    setting = Setting(options, forgiving=options.config is None)
    if options.mock:
        hardware = mock_hardware(setting.wiring, setting.clock, calibration=setting.calibration).hardware
    else:
        hardware = real_hardware(setting.wiring, setting.clock, setting.calibration)
    card = setting.configuration.card
    player = open_with_card(card, setting.mixer, setting.clock, time.sleep, _since_boot_s)
    notifier = Notifier(os.environ)
    loop = setting.loop(hardware, player, notifier)
    _stop_on_signals(loop)
    told: deque[dict[str, Any]] = deque(maxlen=100)
    if options.page:
        loop.listen(told.append)
    loop.power_on()
    log.info("greeting; polling from now on")
    page = _service_page(options, setting, loop, told) if options.page else None

    def after_first_poll() -> None:
        if options.once:
            print("polled once", flush=True)
            loop.stop()
            return
        setting.title.load()  # while the greeting is heard, and before the page needs the processor, too
        setting.pack.load()
        gc.freeze()  # nor will it ever be
        gc.enable()
        if page is not None:
            page.open()

    loop.run(after_first_poll)
    if page is not None:
        page.close()
    notifier.close()
    return 0


def _leave_the_service_alone() -> None:
    """Typed by hand: two programs on one bus would each play a game of its own with every touch."""
    from firmware.journal import Store  # noqa: PLC0415
    from firmware.workshop import SERVICE_STATE  # noqa: PLC0415

    store = Store(SERVICE_STATE, _warn)
    if SERVICE_STATE.is_dir() and not store.claim():
        raise VolcanoError("the volcano's service plays on this board: stop it first: sudo systemctl stop volcano")
    store.close()


def _service_page(options: argparse.Namespace, setting: Setting, loop: Loop, told: Iterable[Any]) -> ServicePage:
    """A board's page, to be opened later; `told` are the rows until now."""
    from firmware.game.insel.board import OWN_BOARD  # noqa: PLC0415
    from firmware.page.service_page import ServicePage, ServiceRoom  # noqa: PLC0415

    past, stands = _left_on_the_board(setting.title, setting.store.load())
    room = ServiceRoom(
        loop,
        load,
        fields=setting.title.fields,
        language=lambda: loop.unit.settings.language,
        volume=lambda: loop.unit.settings.volume,
        past=[*past, *told],
        stands=stands,
    )
    configuration = setting.configuration
    return ServicePage(
        room,
        configuration.board or OWN_BOARD,
        options.listen or configuration.listen,
        configuration.port if options.port is None else options.port,
        configuration.names,
    )


def _since_boot_s() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _warn(line: str) -> None:
    log.warning("%s", line)


def _stop_on_signals(loop: Loop) -> None:
    """Also when the terminal goes, as at the end of a login by SSH; unless whoever started this wants it to stay."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup(1)
            signal.signal(number, lambda *_: loop.stop())
