"""A restorer's bench for tests: an emulated board, a terminal that types by the clock, and hands that act by it."""

from __future__ import annotations

import argparse
import bisect
import contextlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from table import TITLE, texts

from firmware.audio.pack import Pack
from firmware.audio.player import SilentPlayer
from firmware.hal.backends import mock_hardware
from firmware.hal.wiring import load_wiring
from firmware.terms import SoundName
from firmware.workshop import Surroundings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from firmware.audio.player import Audible
    from firmware.config import Configuration
    from firmware.hal.backends import Hardware, MockHardware
    from firmware.hal.calibration import Calibration
    from firmware.hal.wiring import Wiring
    from firmware.terms import Cue

WIRING = load_wiring(None, TITLE.fields)
DATE = "2026-11-30T02:05:00+0000"


@cache
def whole_pack() -> Pack:
    """A pack in which nothing is missing; its files are not there."""
    places = {("", str(name)): (Path(), "x.wav", 500) for name in SoundName}
    for language in ("de", "en"):
        lines = texts(language)
        for line, args, _, text in lines.clips():
            places[lines.voice(line, args), text] = (Path(), "x.wav", 500)
    return Pack(places)


class Voice(SilentPlayer):
    """What was heard; a line as its name and arguments, a sound as its name."""

    def __init__(self, clock: Callable[[], float], heard: list[str]) -> None:
        super().__init__(clock)
        self.heard = heard
        self.words: list[str] = []
        self.closed = False

    def play(self, cue: Audible, following: Cue | None = None) -> None:
        args = " ".join(str(value) for _, value in getattr(cue, "args", ()))
        self.words.append(getattr(cue, "text", ""))
        self.heard.append(f"{getattr(cue, 'line', '') or getattr(cue, 'name', '')} {args}".strip())
        super().play(cue, following)

    def close(self) -> None:
        self.closed = True
        super().close()


class Screen:
    """A terminal: what was written, and keys that are pressed at their times."""

    def __init__(self, clock: Callable[[], float], *, interactive: bool = False, colour: bool = False) -> None:
        self.interactive = interactive
        self.colour = colour
        self.size = (80, 24)
        self.written: list[str] = []
        self.keys: list[tuple[float, str]] = []
        self.unbuffered_now = False
        self._clock = clock

    @contextlib.contextmanager
    def unbuffered(self) -> Iterator[None]:
        self.unbuffered_now = True
        try:
            yield
        finally:
            self.unbuffered_now = False

    def write(self, text: str) -> None:
        self.written.append(text)

    def key(self) -> str | None:
        if self.keys and self._clock() >= self.keys[0][0]:
            return self.keys.pop(0)[1]
        return None

    @property
    def text(self) -> str:
        """Everything, without colours and cursor movements."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", "".join(self.written))

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


class Workplace:
    """Runs the bench's commands in virtual time. What hands do is told beforehand, by seconds from the start."""

    def __init__(
        self,
        folder: Path,
        *,
        seed: int = 0,
        noise_counts: float = 0.0,
        interactive: bool = False,
        colour: bool = False,
        wiring: Wiring = WIRING,
        soldered: Wiring | None = None,
    ) -> None:
        self.folder = folder
        self.now = 1000.0
        self.screen = Screen(self.clock, interactive=interactive, colour=colour)
        self.heard: list[str] = []
        self.players: list[Voice] = []
        self.answers: dict[str, str] = {}
        """What programs print, by their first word."""
        self.asked: list[Sequence[str]] = []
        self.pack = whole_pack()
        self.wiring = wiring
        self._seed, self._noise_counts, self._soldered = seed, noise_counts, soldered
        self._actions: list[tuple[float, Callable[[MockHardware], object]]] = []
        self._watchers: list[Callable[[MockHardware], object]] = []
        self.mock: MockHardware | None = None
        self.around = Surroundings(
            load=texts,
            pack=lambda: self.pack,
            open_player=self._open_player,
            clock=self.clock,
            sleep=self._sleep,
            date=lambda: DATE,
            terminal=lambda: self.screen,
            ask=self._ask,
            service_state=folder / "installed",
            open_board=self._open,
            open_mock=self._open,
        )

    def clock(self) -> float:
        return self.now

    def at(self, seconds: float, action: Callable[[MockHardware], object]) -> None:
        """Do something to the emulated board so many seconds after the start, at once when it is opened if 0."""
        bisect.insort(self._actions, (1000.0 + seconds, action), key=lambda pair: pair[0])

    def watch(self, action: Callable[[MockHardware], object]) -> None:
        """Do something at every step of the clock."""
        self._watchers.append(action)

    def type(self, seconds: float, key: str) -> None:
        """Press a key."""
        self.screen.keys.append((1000.0 + seconds, key))

    def run(
        self,
        add: Callable[[argparse._SubParsersAction[argparse.ArgumentParser], Callable[[], Surroundings]], None],
        line: str,
    ) -> int:
        """Run a line of the command line; its exit status."""
        parser = argparse.ArgumentParser()
        add(parser.add_subparsers(), lambda: self.around)
        options = parser.parse_args([*line.split(), "--state-dir", str(self.folder)])
        status: int = options.command(options)
        return status

    def _sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.001)
        self._act()

    def _act(self) -> None:
        while self.mock is not None and self._actions and self._actions[0][0] <= self.now:
            self._actions.pop(0)[1](self.mock)
        for watcher in self._watchers:
            if self.mock is not None:
                watcher(self.mock)

    def _open(self, wiring: Wiring, clock: Callable[[], float], calibration: Calibration | None = None) -> Hardware:
        self.mock = mock_hardware(
            wiring,
            clock,
            seed=self._seed,
            noise_counts=self._noise_counts,
            calibration=calibration,
            soldered=self._soldered,
        )
        self._act()
        return self.mock.hardware

    def _open_player(self, configuration: Configuration, pack: Pack) -> Voice:
        self.players.append(Voice(self.clock, self.heard))
        return self.players[-1]

    def _ask(self, words: Sequence[str]) -> str | None:
        self.asked.append(words)
        return self.answers.get(words[0])
