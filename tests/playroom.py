"""A room around a machine that only listens, for the tests of the page."""

from __future__ import annotations

import array
import hashlib
import wave
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from firmware.audio.pack import Entry, Manifest, write_manifest
from firmware.page.drawing import read_island
from firmware.page.room import Room
from firmware.page.server import make_app
from firmware.terms import VolcanoError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from firmware.terms import Figure, Touch

BOARD = Path(str(files("firmware.game.insel") / "board.toml"))
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


class Playroom:
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


@dataclass(frozen=True)
class Recorded:
    """A clip to be made: all samples but the last 10 ms have one `height`, so that what is heard tells which it is."""

    text: str
    voice: str
    ms: int
    height: int
    ending: str = ".wav"

    @property
    def file(self) -> str:
        return hashlib.sha256(f"{self.voice}:{self.text}".encode()).hexdigest()[:20] + self.ending


TAIL_MS = 10
"""Silence at the end of each clip, so that one that is heard twice running can be told from one."""
SAMPLES_PER_MS = 24


def write_pack(folder: Path, clips: Iterable[Recorded]) -> None:
    """One folder of a sound pack; a clip without a voice is an effect, its text the name."""
    folder.mkdir(parents=True)
    entries = []
    for clip in clips:
        samples = array.array("h", [clip.height]) * ((clip.ms - TAIL_MS) * SAMPLES_PER_MS)
        samples.extend([0] * (TAIL_MS * SAMPLES_PER_MS))
        with wave.open(str(folder / clip.file), "wb") as sound:
            sound.setparams((1, 2, 1000 * SAMPLES_PER_MS, 0, "NONE", ""))
            sound.writeframes(samples)
        line, text = ("line", clip.text) if clip.voice else (clip.text, "")
        entries.append(Entry(line, {}, 0, clip.voice, text, clip.file, clip.ms, -18.0, -4.0, ""))
    write_manifest(folder, Manifest("steps", tuple(entries)))
