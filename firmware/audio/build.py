"""Building sound packs: only what has changed, on all cores, and never at the cost of the pack that was there.

A clip's file is named after all that it depends on (text, voice, engine, the code that shapes it), so a file that is
there is right. Files are added first, the manifest is exchanged last, then what it no longer names is removed: a build
that is broken off leaves the old pack whole, and the next one goes on where it stopped. Clips are WAV at
the mixer's own rate: a small board has nothing to decode or resample when one is to be heard, and no encoder beyond
Python's own library is needed to build them.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from firmware.audio import characters, cries, effects, engines, mastering, synthesis
from firmware.audio.pack import EFFECTS, Entry, Manifest, PackError, read_manifest, write_manifest
from firmware.terms import MS_PER_CHARACTER, SOUND_MS, Args, SoundName, VolcanoError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

    from firmware.audio.characters import Cast
    from firmware.audio.engines import Engine
    from firmware.audio.mastering import Signal
    from firmware.audio.pack import Lines

    Progress = Callable[[int, int], None]
    """Clips done, clips to do."""

SPARE_BYTES = 8 << 20
"""What a build leaves free on the disk."""


class BuildError(VolcanoError, RuntimeError):
    """A pack cannot be built; the text says which line, voice or folder is to blame."""


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did: clips in the pack, clips made now, milliseconds of sound and bytes in all."""

    clips: int
    made: int
    duration_ms: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _Wanted:
    line: str
    args: Args
    variant: int
    voice: str
    text: str
    file: str
    nominal_ms: int
    make: Callable[[], Signal]


def _in_silence(_done: int, _all: int) -> None:
    pass


def build_language(
    language: str,
    lines: Lines,
    cast: Cast,
    engine: Engine,
    packs: Path,
    *,
    progress: Progress = _in_silence,
) -> Built:
    """Bring ``packs/language`` up to date.

    Raises:
        BuildError: a voice or speaker is not in voices.toml, the disk is full, another build is running.
        EngineError: the engine failed on a line.
    """
    wanted = list(_wanted_lines(language, lines, cast, engine))
    return _build(packs / language, wanted, f"{engine.name} {engine.version}", progress)


def build_effects(packs: Path, *, progress: Progress = _in_silence) -> Built:
    """Bring the sounds that are no speech up to date.

    Raises:
        BuildError: the disk is full, or another build is running.
    """
    code = _digest_of(effects, cries, synthesis, mastering)
    wanted = [
        _Wanted(name, (), 0, "", "", _file(code, name, str(SOUND_MS[name])), SOUND_MS[name], _maker(name))
        for name in SoundName
    ]
    return _build(packs / EFFECTS, wanted, "synthesis", progress)


def _maker(name: SoundName) -> Callable[[], Signal]:
    return lambda: effects.effect(name)


def _wanted_lines(language: str, lines: Lines, cast: Cast, engine: Engine) -> Iterator[_Wanted]:
    if language not in cast.languages:
        raise BuildError(f"voices.toml: languages.{language}: is missing; it names the speaker for each engine")
    tongue = cast.languages[language]
    if engine.name not in tongue.speakers:
        raise BuildError(f"voices.toml: languages.{language}.{engine.name}: is missing; it names the engine's speaker")
    speaker, code = tongue.speakers[engine.name], _digest_of(characters, engines, mastering)
    version = engine.version
    for line, args, variant, text in lines.clips():
        voice = lines.voice(line, args)
        if voice not in cast.voices:
            raise BuildError(f"the line {line} is spoken by {voice!r}; voices.toml knows {', '.join(cast.voices)}")
        character, written = cast.voices[voice], tongue.written(text)
        file = _file(code, engine.name, version, speaker, repr(character), written)

        def make(written: str = written, character: characters.Voice = character) -> Signal:
            return characters.speak(engine, written, speaker, character)

        yield _Wanted(line, args, variant, voice, text, file, MS_PER_CHARACTER * len(text), make)


def _digest_of(*modules: ModuleType) -> str:
    """Code that shapes a clip is part of its name, so that no version number is forgotten."""
    return hashlib.sha256(b"".join(Path(str(module.__file__)).read_bytes() for module in modules)).hexdigest()


def _file(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20] + ".wav"


def _build(folder: Path, wanted: Sequence[_Wanted], engine: str, progress: Progress) -> Built:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            return _build_alone(folder, wanted, engine, progress)
    except OSError as error:
        if isinstance(error, VolcanoError):
            raise
        raise BuildError(f"{error.filename or folder}: cannot be written: {error.strerror or error}") from error


def _build_alone(folder: Path, wanted: Sequence[_Wanted], engine: str, progress: Progress) -> Built:
    try:
        known = {entry.file: entry for entry in read_manifest(folder).clips}
    except PackError:
        known = {}
    there = {path.name for path in folder.glob("*.wav")}
    missing = {each.file: each for each in wanted if each.file not in there}
    _check_space(folder, missing.values())
    _make(folder, list(missing.values()), progress)
    measured = {file: known.get(file) or _measured(folder / file, file) for file in {each.file for each in wanted}}
    entries = tuple(_entry(each, measured[each.file]) for each in wanted)
    write_manifest(folder, Manifest(engine, entries))
    for path in folder.iterdir():
        if path.name not in measured and (path.suffix == ".wav" or path.name.startswith(".clip-")):
            path.unlink()
    sizes = sum((folder / file).stat().st_size for file in measured)
    return Built(len(measured), len(missing), sum(each.duration_ms for each in measured.values()), sizes)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One build at a time; the lock goes with the process."""
    with (folder / ".building").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BuildError(f"{folder}: another build is running there") from error
        yield


def _check_space(folder: Path, missing: Iterable[_Wanted]) -> None:
    needed = sum(each.nominal_ms for each in missing) * mastering.FILE_RATE_HZ * 2 // 1000
    free = shutil.disk_usage(folder).free
    if needed and free < needed + SPARE_BYTES:
        raise BuildError(f"{folder}: {needed >> 20} MiB are needed and {free >> 20} MiB free; make room there")


def _make(folder: Path, missing: Sequence[_Wanted], progress: Progress) -> None:
    progress(0, len(missing))
    # Threads are enough: the engines are processes of their own, and numpy's transforms run beside one another.
    with ThreadPoolExecutor(os.cpu_count() or 1) as workers:
        tasks = {workers.submit(_make_one, folder, each): each for each in missing}
        try:
            for done, task in enumerate(as_completed(tasks), 1):
                task.result()
                progress(done, len(missing))
        except BaseException:
            workers.shutdown(wait=True, cancel_futures=True)
            raise


def _make_one(folder: Path, wanted: _Wanted) -> None:
    fresh = folder / f".clip-{wanted.file}"
    try:
        mastering.write_wav(fresh, wanted.make())
        fresh.replace(folder / wanted.file)
    finally:
        fresh.unlink(missing_ok=True)


def _measured(path: Path, file: str) -> Entry:
    signal = mastering.read_wav(path)
    found = mastering.measured(signal)
    duration_ms = round(len(signal) * 1000 / mastering.RATE_HZ)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Entry("", {}, 0, "", "", file, duration_ms, round(found.lufs, 2), round(found.peak_db, 2), digest)


def _entry(wanted: _Wanted, measured: Entry) -> Entry:
    args: Mapping[str, str | int] = dict(wanted.args)
    return Entry(
        wanted.line,
        args,
        wanted.variant,
        wanted.voice,
        wanted.text,
        measured.file,
        measured.duration_ms,
        measured.lufs,
        measured.peak_db,
        measured.sha256,
    )
