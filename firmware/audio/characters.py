"""From one speaker to the people of the island: what a character's voice is, and how speech becomes it."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from firmware.audio import mastering
from firmware.config import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from firmware.audio.engines import Engine, Pcm
    from firmware.audio.mastering import Signal
    from firmware.config import Table

DEEPER = 0.667
"""The second voice lies a fifth below."""
TREMOLO_HZ = 6.5
ECHO_MS = 70
HALL_SEED = 70


@dataclass(frozen=True, slots=True)
class Voice:
    """One character; the meaning of each number stands in sounds/voices.toml."""

    formants: float = 1.0
    pitch: float = 1.0
    tempo: float = 1.0
    bass_db: float = 0.0
    treble_db: float = 0.0
    band_hz: tuple[float, float] | None = None
    octave: float = 0.0
    drive_db: float = 0.0
    chorus: float = 0.0
    tremolo: float = 0.0
    echo: float = 0.0
    room: float = 0.0
    room_s: float = 1.0


LIMITS = {
    **dict.fromkeys(("formants", "pitch", "tempo"), (0.5, 2.0)),
    **dict.fromkeys(("bass_db", "treble_db"), (-12.0, 12.0)),
    "drive_db": (0.0, 12.0),
    "room_s": (0.1, 4.0),
}
"""What a voice can bear and still be understood; everything else goes from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Language:
    """How a language is spoken: the speaker's name for each engine, and words to be written as they sound."""

    speakers: Mapping[str, str]
    respell: Mapping[str, str]

    def written(self, text: str) -> str:
        """The text as the engine gets it."""
        for word, sound in self.respell.items():
            text = re.sub(rf"\b{re.escape(word)}\b", sound, text)
        return text


@dataclass(frozen=True, slots=True)
class Cast:
    """Everything that voices.toml says."""

    languages: Mapping[str, Language]
    voices: Mapping[str, Voice]


def load_cast(path: Path) -> Cast:
    """Read voices.toml.

    Raises:
        ConfigError: naming file, line and key.
    """
    table = read_table(path)
    languages, voices = table.table("languages"), table.table("voices")
    table.done()
    return Cast(
        {name: _language(languages.table(name)) for name in languages},
        {name: _voice(voices.table(name)) for name in voices},
    )


def _language(table: Table) -> Language:
    respell = table.table("respell", optional=True)
    words = {word: respell.text(word) for word in respell}
    return Language({name: table.text(name) for name in table if name != "respell"}, words)


def _voice(table: Table) -> Voice:
    band_hz: tuple[float, float] | None = None
    if "band_hz" in table:
        low, high = table.list_of("band_hz", float, size=2)
        if not 0 < low < high:
            raise table.error("band_hz", f"must be two rising frequencies, is [{low}, {high}]")
        band_hz = low, high
    numbers: dict[str, float] = {}
    for field in fields(Voice):
        if field.name != "band_hz" and field.name in table:
            low, high = LIMITS.get(field.name, (0.0, 1.0))
            numbers[field.name] = table.number(field.name, low=low, high=high)
    table.done()
    return Voice(band_hz=band_hz, **numbers)


def speak(engine: Engine, text: str, speaker: str, voice: Voice) -> Signal:
    """A finished clip of a line: in character, trimmed, levelled.

    Raises:
        EngineError: the engine cannot.
    """
    signal = _spoken(engine, text, speaker, voice, voice.pitch)
    if voice.octave:
        deep = _spoken(engine, text, speaker, voice, voice.pitch * DEEPER)
        size = min(len(signal), len(deep))  # the same speech at another pitch: they run side by side
        signal = signal[:size] + voice.octave * mastering.filtered(deep[:size], mastering.low_pass(700))
    return mastering.levelled(mastering.trimmed(_in_character(mastering.tightened(signal), voice)))


def _spoken(engine: Engine, text: str, speaker: str, voice: Voice, pitch: float) -> Signal:
    """Speech out of another throat.

    Played faster by `formants`, a voice's formants, pitch and tempo all rise by that factor; so the engine is asked for
    a pitch and a tempo lower by it, and only the formants are left to differ.
    """
    spoken: Pcm = engine.render(text, speaker, pitch=pitch / voice.formants, tempo=voice.tempo / voice.formants)
    return mastering.resampled(
        mastering.unpacked(spoken.samples), mastering.RATE_HZ / (spoken.rate_hz * voice.formants)
    )


def _in_character(signal: Signal, voice: Voice) -> Signal:
    if voice.drive_db:
        signal = mastering.driven(signal, voice.drive_db)
    if voice.bass_db or voice.treble_db:
        signal = mastering.filtered(signal, mastering.shelves(voice.bass_db, voice.treble_db))
    if voice.band_hz:
        signal = mastering.filtered(signal, mastering.band_pass(*voice.band_hz))
    if voice.chorus:
        signal = mastering.chorus(signal, voice.chorus)
    if voice.tremolo:
        signal = mastering.tremolo(signal, TREMOLO_HZ, voice.tremolo)
    if voice.echo:
        signal = mastering.echo(signal, ECHO_MS, voice.echo)
    if voice.room:
        signal = mastering.room(signal, voice.room_s, voice.room, HALL_SEED)
    return signal
