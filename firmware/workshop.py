"""What `volcano check` and `volcano calibrate` share: a board on the bench, and a terminal beside it.

Everything that they need of the world is in `Surroundings`: they can be driven without terminal, clock or board.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Protocol

from firmware.audio.pack import load_pack, packs_folder
from firmware.audio.player import SilentPlayer
from firmware.config import Configuration, load_configuration, state_folder
from firmware.game.registry import load_title
from firmware.hal.backends import Hardware, mock_hardware, real_hardware
from firmware.hal.calibration import FILE_NAME, Calibration, save_calibration, usable_calibration
from firmware.hal.ports import POLLS_PER_S
from firmware.hal.wiring import Wiring, load_wiring
from firmware.terms import VolcanoError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from firmware.audio.pack import Pack
    from firmware.audio.player import Player
    from firmware.catalogue import Catalogue
    from firmware.terms import Grip

OpenBoard = Callable[[Wiring, Callable[[], float], Calibration | None], Hardware]

SERVICE = "volcano.service"
SERVICE_STATE = Path("/var/lib/volcano")
"""Its StateDirectory."""

PATIENCE_S = 5.0
"""No program that is asked takes longer."""

ENTER = "\n"
ESCAPES = {"\r": ENTER, "\x04": "q"}
"""What a terminal may send for Enter; the end of the input ends everything, as q does."""


class WorkshopError(VolcanoError):
    """The board cannot be opened for the bench; the text says what to do."""


class Terminal(Protocol):
    """Where the restorer reads and types."""

    interactive: bool
    """Whether somebody sits there: keys can be read, and what is written can be drawn over."""
    colour: bool

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines, as the window is now."""

    def unbuffered(self) -> AbstractContextManager[None]:
        """While this lasts keys are read one by one, and not shown; SIGTERM and SIGHUP end it in good order."""

    def write(self, text: str) -> None:
        """Write, at once."""

    def key(self) -> str | None:
        """A key that has been pressed since the last call, None if there was none; `ENTER` for Enter."""


class ProcessTerminal:
    """The terminal of the process, or what stands in its place."""

    def __init__(self) -> None:
        self.interactive = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
        self.colour = self.interactive and not os.environ.get("NO_COLOR")

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines, as the window is now; 80 and 24 where nobody says."""
        try:
            columns, lines = os.get_terminal_size()
        except OSError:
            columns = lines = 0
        return columns or 80, lines or 24

    @contextmanager
    def unbuffered(self) -> Iterator[None]:
        """Keys are read one by one, and not shown; SIGTERM and SIGHUP end it in good order."""
        with _ended_in_order():
            if not self.interactive:
                yield
                return
            import termios  # noqa: PLC0415 - not on every desktop, and only where there is a terminal
            import tty  # noqa: PLC0415

            before = termios.tcgetattr(sys.stdin)
            try:
                tty.setcbreak(sys.stdin)
                yield
            finally:
                termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)

    def write(self, text: str) -> None:
        """Write, at once; a terminal without a sign is no reason to stop.

        Raises:
            WorkshopError: a full disk, or a terminal that has gone.
        """
        stream = sys.stdout
        if stream is None:  # closed by the caller
            return
        try:
            stream.write(text.encode(stream.encoding, "replace").decode(stream.encoding))
            stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise WorkshopError(f"the output cannot be written: {error.strerror}") from error

    def key(self) -> str | None:
        """A key, None if there was none or nobody can type."""
        if not self.interactive or not select.select([sys.stdin], [], [], 0)[0]:
            return None
        typed = os.read(sys.stdin.fileno(), 1).decode("ascii", "replace") or "q"
        return ESCAPES.get(typed, typed)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Whoever ends the process leaves it the time to put out the lights and to give the terminal back."""

    def end(number: int, _: object) -> NoReturn:
        raise SystemExit(128 + number)

    ending = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    for number in ending:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ending:
            signal.signal(number, signal.SIG_DFL)


class _Notes(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Once, whatever the number of its lines."""
        if (line := record.getMessage()) not in self.lines:
            self.lines.append(line)


@contextmanager
def noticed() -> Iterator[list[str]]:
    """What the hardware logs meanwhile, kept for the command to tell: it would tear its table, and be told twice.

    With ``--verbose`` it is logged as well.
    """
    ours, notes = logging.getLogger("firmware"), _Notes()
    ours.addHandler(notes)
    ours.propagate = logging.getLogger().isEnabledFor(logging.DEBUG)
    try:
        yield notes.lines
    finally:
        ours.propagate = True
        ours.removeHandler(notes)


def ask(words: Sequence[str]) -> str | None:
    """What a program prints, None if it is not there, fails or takes too long."""
    try:
        done = subprocess.run(  # noqa: S603 - the words are ours
            list(words), capture_output=True, text=True, timeout=PATIENCE_S, check=True, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _open_mock(wiring: Wiring, clock: Callable[[], float], calibration: Calibration | None) -> Hardware:
    return mock_hardware(wiring, clock, calibration=calibration).hardware


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the commands need of the rest.

    `clock` in seconds, monotonic; `date` is ISO 8601 of now; `ask` runs a program and gives what it printed, None if it
    is not there or fails; `service_state` is where the service keeps its own; `open_board` opens this Pi's board,
    `open_mock` the emulated one of `--mock`.
    """

    load: Callable[[str], Catalogue]
    pack: Callable[[], Pack]
    open_player: Callable[[Configuration, Pack], Player]
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    date: Callable[[], str]
    terminal: Callable[[], Terminal] = ProcessTerminal
    ask: Callable[[Sequence[str]], str | None] = ask
    service_state: Path = SERVICE_STATE
    open_board: OpenBoard = real_hardware
    open_mock: OpenBoard = _open_mock


def process_surroundings(
    load: Callable[[str], Catalogue],
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    date: Callable[[], str],
) -> Surroundings:
    """This machine and this terminal, with sounds from wherever they were built."""

    def open_player(configuration: Configuration, pack: Pack) -> Player:
        from firmware.audio.mixer import open_mixer  # noqa: PLC0415 - pygame only where something is heard

        return open_mixer(configuration, pack, clock)

    return Surroundings(
        load=load,
        pack=lambda: load_pack(SERVICE_STATE / "sounds", packs_folder()),
        open_player=open_player,
        clock=clock,
        sleep=sleep,
        date=date,
    )


def board_folder(service_state: Path) -> Path:
    """Where this machine's board keeps what it has learnt: the installed service's folder, wherever this was typed."""
    installed = service_state.is_dir() and "STATE_DIRECTORY" not in os.environ
    return service_state if installed else state_folder()


class Bench:
    """A board on the bench: its files, and its hardware from when it is first needed.

    Raises:
        VolcanoError: a file of the owner's is wrong.
    """

    def __init__(self, options: argparse.Namespace, around: Surroundings) -> None:
        self.mock: bool = options.mock
        self.around = around
        self.terminal: Terminal = around.terminal()
        self.record: Callable[[float], None] | None = None
        """Hears the time of each poll just before it, if a trace is to be recorded."""
        self.config_file: Path | None = options.config
        self.configuration = load_configuration(options.config)
        title = load_title(board=self.configuration.board, tuning=self.configuration.tuning)
        self.fields = title.fields
        self.wiring = load_wiring(self.configuration.wiring, self.fields)
        """As the wiring file says."""
        self.folder: Path = options.state_dir or (state_folder() if self.mock else board_folder(around.service_state))
        """Where what the board has learnt is kept."""
        if self.folder.exists() and not self.folder.is_dir():
            raise WorkshopError(f"{self.folder} is no folder: name one with --state-dir")
        if self.folder.exists() and not os.access(self.folder, os.R_OK | os.X_OK):
            raise WorkshopError(f"{self.folder} may not be read: it is the service's: begin the command with sudo")
        self.calibration_file = self.folder / FILE_NAME
        self.calibration, self.calibration_problem = usable_calibration(self.folder, self.wiring)
        self.wired = self.calibration.wired(self.wiring) if self.calibration else self.wiring
        """As the board's map says, if the owner has made one."""

    @property
    def installed(self) -> bool:
        """Whether this machine's service plays on the board."""
        return not self.mock and self.around.service_state.is_dir()

    def check_writable(self) -> None:
        """Better now than after a long lesson.

        Raises:
            WorkshopError: the folder of the calibration may not be written.
        """
        if self.folder.exists() and not os.access(self.folder, os.W_OK):
            raise WorkshopError(f"{self.folder} may not be written: it is the service's: begin the command with sudo")

    def save(self, calibration: Calibration) -> None:
        """Keep it; what root has written is handed to the folder's owner, or the service could not read it.

        Raises:
            CalibrationError: it cannot be written.
        """
        save_calibration(self.calibration_file, calibration)
        if os.geteuid() == 0:
            owner = self.folder.stat()
            os.chown(self.calibration_file, owner.st_uid, owner.st_gid)

    def running(self) -> bool:
        """Whether the service runs."""
        words = ("systemctl", "show", "--property=ActiveState", "--value", SERVICE)  # is-active fails for "activating"
        return self.around.ask(words) in ("active", "activating", "reloading")

    @cached_property
    def hardware(self) -> Hardware:
        """The board, opened as a game does.

        Raises:
            WorkshopError: the service holds it.
        """
        if not self.mock and self.running():
            raise WorkshopError(
                "the volcano is running and holds bus and pins: stop it first: sudo systemctl stop volcano"
                " (afterwards: sudo systemctl start volcano)"
            )
        return (self.around.open_mock if self.mock else self.around.open_board)(
            self.wiring, self.around.clock, self.calibration
        )

    def player(self, pack: Pack) -> Player:
        """What the voice comes from; the emulated board is silent."""
        if self.mock:
            return SilentPlayer(self.around.clock, pack.duration_ms)
        return self.around.open_player(self.configuration, pack)

    def close(self) -> None:
        """Give the board back."""
        if "hardware" in self.__dict__:
            self.hardware.close()

    def ticks(self, seconds: float | None) -> Iterator[float]:
        """The time, as often as a game polls, for so long, or for ever if None."""
        clock = self.around.clock
        end = None if seconds is None else clock() + seconds
        while end is None or clock() < end:
            now = clock()
            yield now
            self.around.sleep(max(0.0, now + 1 / POLLS_PER_S - clock()))

    def polls(self, seconds: float | None) -> Iterator[tuple[float, Grip | None]]:
        """Poll the board as a game does for so long, or for ever if None: the time and the contact of each poll."""
        for now in self.ticks(seconds):
            if self.record is not None:
                self.record(now)
            yield now, self.hardware.poll(now)
