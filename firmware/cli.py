"""The command `volcano`."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import sys
import time
from collections import deque
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from firmware import __version__
from firmware.audio.pack import load_pack, packs_folder
from firmware.audio.player import SilentPlayer
from firmware.catalogue import load, sounds_folder
from firmware.config import PORT
from firmware.terms import Say, Sound, VolcanoError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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
    from firmware.workshop import Surroundings

UNUSABLE = 2
"""Exit status for wrong input, as of a shell's own commands."""
MOST_SPEED = 50.0
"""The emulated chips keep up with more on any desktop."""

log = logging.getLogger("volcano")

EXAMPLES = """\
examples:
  volcano play                        the island in a browser, on this machine
  volcano console                     type "button", then "white beach-s explore"
  volcano console --json < script     the same for programs
  volcano replay FILE                 play a recorded game again and compare
  volcano check                       look at a board's chips, pads, lights, button and sound
  volcano calibrate --map             teach it which wire is which
  volcano sounds build                make the voices and sounds that are missing
  volcano run                         on the board; systemd does this

Settings are read from /etc/volcano.toml or ~/.config/volcano.toml; every key is optional.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status: 0 well, 1 a comparison failed, 2 wrong input."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        options = _parser(words).parse_args(words)
        logging.basicConfig(
            level=logging.DEBUG if options.verbose else logging.INFO,
            format="%(name)s: %(levelname)s: %(message)s",
            stream=sys.stderr,
        )
        command: Callable[[argparse.Namespace], int] = options.command
        return command(options)
    except VolcanoError as error:
        print(f"volcano: {error}", file=sys.stderr)
        return UNUSABLE
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - the reader has gone
        return 0
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


class _Parser(argparse.ArgumentParser):
    """Tells a wrong argument in one line, as every other wrong input is told."""

    def error(self, message: str) -> NoReturn:
        """End with exit status 2."""
        self.exit(UNUSABLE, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="volcano",
        description="Firmware of the talking volcano of Die Insel: on a Raspberry Pi in the board, or on this machine.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"volcano {__version__}")
    parser.add_argument("--verbose", action="store_true", help="log in detail, to standard error")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    play = _command(commands, "play", _play, "the game over emulated chips, the board as a page in the browser")
    play.add_argument("--port", type=int, help=f"loopback port of the page (default: {PORT}, or a free one)")
    play.add_argument("--no-browser", action="store_true", help="do not open a browser")
    play.add_argument(
        "--sound",
        choices=("browser", "here", "none"),
        default="browser",
        help="where the voices are heard (default: %(default)s)",
    )
    play.add_argument("--speed", type=float, default=1.0, help="time runs so many times faster (default: 1)")
    _game_options(play)

    run = _command(commands, "run", _run, "on the board: the real chips, lights, button and speaker")
    run.add_argument("--mock", action="store_true", help="over emulated chips, without hands")
    run.add_argument("--page", action="store_true", help="serve the service page: what is told and broken, and touches")
    run.add_argument("--listen", metavar="ADDRESS", help="of the page; 0.0.0.0: all the house (default: this machine)")
    run.add_argument("--port", type=int, help=f"of the page (default: {PORT})")
    run.add_argument("--once", action="store_true", help="end after the first poll, to measure the start")
    _game_options(run)
    if next((word for word in words if not word.startswith("-")), "") != "run":
        _add_other_commands(commands)  # the greeting does not wait for what only these import
    return parser


def _add_other_commands(commands: Any) -> None:
    from firmware.audio.command import Surroundings, add_sounds_command  # noqa: PLC0415
    from firmware.balance.command import add_balance_command  # noqa: PLC0415
    from firmware.calibrate.command import add_calibrate_command  # noqa: PLC0415
    from firmware.check.command import add_check_command  # noqa: PLC0415
    from firmware.owner.command import add_owner_commands  # noqa: PLC0415

    console = _command(commands, "console", _console, "the unit on a terminal: one command a line, a virtual clock")
    console.epilog = CONSOLE_HELP
    console.formatter_class = argparse.RawDescriptionHelpFormatter
    console.add_argument("--game", default="insel", help="the game (default: %(default)s)")
    console.add_argument("--seed", type=int, default=0, help="chance (default: %(default)s)")
    console.add_argument("--language", choices=("de", "en"), default="de", help="default: %(default)s")
    console.add_argument("--battery", choices=("full", "low"), default="full", help="default: %(default)s")
    console.add_argument("--state", type=Path, metavar="FILE", help="start from a line that the command state printed")
    console.add_argument("--record", type=Path, metavar="FILE", help="write the journal of all games to FILE")
    console.add_argument("--json", action="store_true", help="one JSON object a line instead of text")
    console.add_argument("--board", type=Path, metavar="FILE", help="an owner's copy of board.toml")
    console.add_argument("--tuning", type=Path, metavar="FILE", help="an owner's copy of tuning.toml")

    add_owner_commands(commands)
    add_sounds_command(commands, Surroundings(("de", "en"), load, voices_file, time.monotonic, time.sleep))

    add_balance_command(commands, time.monotonic)
    add_check_command(commands, _surroundings)
    add_calibrate_command(commands, _surroundings)

    replay = _command(commands, "replay", _replay, "play a recorded game again and compare, event by event")
    replay.add_argument("file", type=Path, metavar="FILE", help="a journal")


CONSOLE_HELP = """\
commands, one a line:
  white beach-s explore     a contact: figure, field, Touch field (rock explore one two three fire)
  ? beach-s explore         a contact whose figure the sensors could not tell
  button | button long      the push button
  wait 12.5                 seconds pass; without it no time passes
  battery low | battery full
  chance KIND OUTCOME       the next draw of KIND gives OUTCOME
  power off | power on | power on held
  state                     the state as one line, for --state
  # comment, quit

docs/console.md describes every command, event, cue and draw.
"""


def voices_file() -> Path:
    """Who speaks how; beside the catalogues."""
    return sounds_folder() / "voices.toml"


def _surroundings() -> Surroundings:
    from firmware.workshop import process_surroundings  # noqa: PLC0415 - each command loads its own

    return process_surroundings(load, time.monotonic, time.sleep, lambda: time.strftime("%Y-%m-%dT%H:%M:%S%z"))


def _command(commands: Any, name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.set_defaults(command=run)
    return parser


def _game_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, metavar="FILE", help="configuration (default: see above)")
    parser.add_argument("--state-dir", type=Path, metavar="DIR", help="where games and settings are kept")
    parser.add_argument("--language", choices=("de", "en"), help="language until the settings say otherwise")
    parser.add_argument("--seed", type=int, help="chance, for a repeatable game (default: from the system)")


# --- commands


def _console(options: argparse.Namespace) -> int:
    from firmware.console import Console, Transcript, run, write_json  # noqa: PLC0415 - each command loads its own
    from firmware.game.registry import load_title  # noqa: PLC0415

    title = load_title(options.game, board=options.board, tuning=options.tuning)
    with contextlib.ExitStack() as files:
        record = None
        if options.record:
            try:
                record = files.enter_context(options.record.open("wb", buffering=0))
            except OSError as error:
                raise VolcanoError(f"{options.record}: cannot be written: {error.strerror}") from error
        files.enter_context(_writing())
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        console = Console(
            title,
            load,
            seed=options.seed,
            language=options.language,
            low_battery=options.battery == "low",
            write=write_json if options.json else Transcript(sys.stdout, colour=colour),
            complain=lambda problem: print(problem, file=sys.stderr),
            record=record,
        )
        if options.state:
            console.restore(_read_line(options.state))
        else:
            console.power_on()
        if sys.stdin is None:  # closed by the caller: the same as empty
            return run(console, ())
        return run(console, _typed_lines() if sys.stdin.isatty() else sys.stdin)


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    """A full disk under the output is one line; a reader that has gone away is no error at all."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - nothing more goes there
        raise VolcanoError(f"the output cannot be written: {error.strerror}") from error


def _read_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise VolcanoError(f"{path}: cannot be read: {reason}") from error


def _typed_lines() -> Any:
    """Lines from a terminal, with a prompt and editing."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401, PLC0415 - gives input() editing and history
    print("Type commands such as: wait 10, button, white beach-s explore. quit ends.", file=sys.stderr)
    with contextlib.suppress(EOFError):
        while True:
            yield input("volcano> ")


def _replay(options: argparse.Namespace) -> int:
    from firmware.game.kernel import Begun, Played, StateError, replay  # noqa: PLC0415
    from firmware.game.registry import load_title  # noqa: PLC0415
    from firmware.journal import read_journal  # noqa: PLC0415

    journal = read_journal(options.file)
    title = load_title()
    rules = {each.name: each for each in (title.intro, title.game)}
    starts = [number for number, record in enumerate(journal.records) if isinstance(record, Begun)]
    status = 0
    for start, end in zip(starts, [*starts[1:], len(journal.records)], strict=True):
        game = journal.records[start:end]
        begun = journal.records[start]
        contacts = sum(isinstance(record, Played) for record in game)
        name = begun.rules if isinstance(begun, Begun) else ""
        try:
            if name not in rules:
                raise StateError(f"the record is of {name!r}, which is no game here")  # noqa: TRY301 - one report below
            replay(rules[name], game)
        except StateError as error:
            print(f"{options.file}: {name}: {error}")
            status = 1
        else:
            print(f"{options.file}: {name}: {contacts} contacts, the same events")
    if journal.problem:
        print(f"{options.file}: after {journal.whole_bytes} bytes: {journal.problem}; the rest is not played")
        status = 1
    return status


def _play(options: argparse.Namespace) -> int:
    from firmware.game.insel.board import OWN_BOARD  # noqa: PLC0415
    from firmware.hal.backends import mock_hardware  # noqa: PLC0415
    from firmware.page.clips import Clips  # noqa: PLC0415
    from firmware.page.drawing import read_island  # noqa: PLC0415
    from firmware.page.room import Room  # noqa: PLC0415
    from firmware.page.server import make_app  # noqa: PLC0415

    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    setting = _Setting(options, options.speed)
    mock = mock_hardware(setting.wiring, setting.clock, calibration=setting.calibration)
    sound = options.sound if len(setting.pack) and options.speed == 1 else "none"
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


def _run(options: argparse.Namespace) -> int:
    from firmware.hal.backends import mock_hardware, real_hardware  # noqa: PLC0415
    from firmware.service import Notifier, open_with_card  # noqa: PLC0415

    setting = _Setting(options, forgiving=options.config is None)
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
        if page is not None:
            page.open()
        if options.once:
            print("polled once", flush=True)
            loop.stop()

    loop.run(after_first_poll)
    if page is not None:
        page.close()
    notifier.close()
    return 0


def _service_page(options: argparse.Namespace, setting: _Setting, loop: Loop, told: Iterable[Any]) -> ServicePage:
    """A board's page, to be opened later; `told` are the rows until now."""
    from firmware.game.insel.board import OWN_BOARD  # noqa: PLC0415
    from firmware.page.service_page import ServicePage, ServiceRoom  # noqa: PLC0415

    past, stands = _left_on_the_board(setting.title, setting.store.load())
    room = ServiceRoom(
        loop,
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


class _Setting:
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
        self.store = Writer(Store(options.state_dir or state_folder(), _warn), _warn)
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
        if not len(pack):
            log.warning("there are no sounds; make them with: volcano sounds build")
        return pack

    def player(self, *, aloud: bool) -> Player:
        """Heard on this machine's sound card, or silent for as long as each clip lasts."""
        return self.mixer() if aloud else SilentPlayer(self.clock, self.pack.duration_ms)

    def mixer(self) -> MixerPlayer:
        """Heard on this machine's sound card."""
        from firmware.audio.mixer import MixerPlayer  # noqa: PLC0415

        return MixerPlayer(self.pack, self.clock, card=self.configuration.card, buffer=self.configuration.buffer)


def _warn(line: str) -> None:
    log.warning("%s", line)


def _stop_on_signals(loop: Loop) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: loop.stop())
