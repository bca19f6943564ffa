"""Engines that turn a text into speech: Pico, else espeak-ng.

Each line is spoken by a process of its own: Pico's second sentence in one process differs from its first (it reads
what the first left in memory), and a pack must come out the same every time. Only the build of a sound pack comes here.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Protocol

from firmware.terms import VolcanoError

TIMEOUT_S = 60


class EngineError(VolcanoError, OSError):
    """No engine can be had, or it failed on a line; the text says which and what to do."""


@dataclass(frozen=True, slots=True)
class Pcm:
    """Raw speech: 16 bit little-endian, one channel."""

    samples: bytes
    rate_hz: int


class Engine(Protocol):
    """A speech synthesiser whose speaker can be varied in pitch and tempo."""

    name: str
    """As in voices.toml, where each language names its speaker for it."""

    @property
    def version(self) -> str:
        """Part of what a clip depends on."""

    def render(self, text: str, speaker: str, *, pitch: float, tempo: float) -> Pcm:
        """Speak; `pitch` and `tempo` are factors on the speaker's own. The same arguments give the same samples.

        Raises:
            EngineError: it cannot.
        """


class Pico:
    """SVOX Pico as packed in py-nanotts: 16 kHz, one female speaker a language."""

    name = "pico"

    @staticmethod
    def is_here() -> bool:
        """Whether the package is installed."""
        return importlib.util.find_spec("py_nanotts") is not None

    @property
    def version(self) -> str:
        """That of the package."""
        return importlib.metadata.version("py-nanotts")

    def render(self, text: str, speaker: str, *, pitch: float, tempo: float) -> Pcm:
        """Half volume: at full volume Pico clips. Its mark-up begins with ``<``, so that character is not spoken."""
        program = (
            "import sys, py_nanotts; voice, pitch, speed = sys.argv[1:]; text = sys.stdin.buffer.read().decode();"
            "sys.stdout.buffer.write(py_nanotts.NanoTTS().speak("
            "text, voice=voice, pitch=float(pitch), speed=float(speed), volume=0.5))"
        )
        command = [sys.executable, "-c", program, speaker, f"{pitch:.4f}", f"{tempo:.4f}"]
        return Pcm(_output(command, _plain(text), self.name), 16_000)


class Espeak:
    """espeak-ng (the Debian package): 22.05 kHz, hard to understand in German, but found everywhere."""

    name = "espeak-ng"
    PROGRAM = "espeak-ng"
    WORDS_A_MINUTE = 160

    @staticmethod
    def is_here() -> bool:
        """Whether the program is installed."""
        return shutil.which(Espeak.PROGRAM) is not None

    @property
    def version(self) -> str:
        """What the program says of itself, without the path of its data."""
        return " ".join(_output([self.PROGRAM, "--version"], "", self.name).decode().split()[3:4])

    def render(self, text: str, speaker: str, *, pitch: float, tempo: float) -> Pcm:
        """Its pitch runs from 0 to 99 and 50 is the speaker's own; its rate is in words a minute."""
        height, rate = round(min(max(50 * pitch, 0), 99)), round(self.WORDS_A_MINUTE * tempo)
        command = [self.PROGRAM, "-v", speaker, "-p", str(height), "-s", str(rate), "--stdin", "--stdout"]
        sound = _output(command, text, self.name)
        if sound[:4] != b"RIFF" or sound[36:40] != b"data":
            raise EngineError(f"{self.name}: gave no sound for {text!r}")
        return Pcm(sound[44:], int.from_bytes(sound[24:28], "little"))


def find_engine(name: str = "") -> Engine:
    """The engine of that name, or the best that is installed.

    Raises:
        EngineError: there is none.
    """
    known: dict[str, type[Pico | Espeak]] = {engine.name: engine for engine in (Pico, Espeak)}
    if name and name not in known:
        raise EngineError(f"there is no engine {name!r}; known: {', '.join(known)}")
    for engine in [known[name]] if name else known.values():
        if engine.is_here():
            return engine()
    raise EngineError(
        f"the engine {name or 'that speaks'} is missing: install the package py-nanotts (pip install volcano[sounds]), "
        "or espeak-ng (apt install espeak-ng)"
    )


def _plain(text: str) -> str:
    """A text in which Pico finds no mark-up."""
    return text.replace("<", " ")


def _output(command: list[str], text: str, engine: str) -> bytes:
    try:
        # The text goes through standard input, the rest are names and numbers of ours; no shell is involved.
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=TIMEOUT_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(f"{engine}: {error}") from error
    if done.returncode or not done.stdout:
        told = done.stderr.decode(errors="replace").strip().splitlines()
        raise EngineError(f"{engine}: failed on {text!r}: {told[-1] if told else f'exit status {done.returncode}'}")
    return done.stdout
