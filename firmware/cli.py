"""The command `volcano`."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from firmware import __version__
from firmware.catalogue import load, sounds_folder
from firmware.config import PORT
from firmware.terms import VolcanoError, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from firmware.workshop import Surroundings

UNUSABLE = 2
"""Exit status for wrong input, as of a shell's own commands."""

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


def _play(options: argparse.Namespace) -> int:
    from firmware.start import play  # noqa: PLC0415 - each command loads its own

    return play(options)


def _run(options: argparse.Namespace) -> int:
    from firmware.start import run  # noqa: PLC0415

    return run(options)


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
            print(f"{options.file}: {name}: {counted(contacts, 'contact')}, the same events")
    if journal.problem:
        whole = counted(journal.whole_bytes, "byte")
        print(f"{options.file}: after {whole}: {journal.problem}; the rest is not played")
        status = 1
    return status
