"""The command `volcano sounds`: build, check, list and hear sound packs."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware.audio.pack import EFFECTS, SOUNDS, PackError, load_pack, packs_folder, read_manifest, said
from firmware.config import load_configuration
from firmware.terms import Say, Sound, SoundName, VolcanoError, counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from firmware.audio.build import Built
    from firmware.audio.pack import Entry, Lines

LOUDNESS_LUFS = -18.0
LOUDNESS_TOLERANCE_LU = 0.5
PEAK_DBTP = -1.0
BAR_WIDTH = 30


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the command needs of the rest: the catalogues, where voices.toml lies, and time."""

    languages: Sequence[str]
    load: Callable[[str], Lines]
    voices: Callable[[], Path]
    clock: Callable[[], float]
    sleep: Callable[[float], None]


def add_sounds_command(commands: Any, around: Surroundings) -> None:
    """Add ``sounds`` to the subparsers of the command line; each of its actions returns an exit status."""
    parser = commands.add_parser("sounds", help="build, check, list and hear the sound packs")
    actions = parser.add_subparsers(required=True, metavar="ACTION")

    def action(name: str, run: Callable[[argparse.Namespace, Surroundings], int], text: str) -> argparse.ArgumentParser:
        added: argparse.ArgumentParser = actions.add_parser(
            name, help=text, description=text[0].upper() + text[1:] + "."
        )
        added.add_argument("--language", choices=list(around.languages), help="only this language (default: all)")
        added.add_argument("--folder", type=Path, metavar="DIR", help="where the packs lie (default: %(default)s)")
        added.set_defaults(command=lambda options: run(options, around), folder=packs_folder())
        return added

    build = action("build", _build, "make what is missing or has changed")
    build.add_argument("--engine", default="", help="pico or espeak-ng (default: the best that is installed)")
    action("check", _check, "compare the packs with the catalogues; one line per fault")
    listing = action("list", _list, "what is in the packs")
    listing.add_argument("words", nargs="*", metavar="WORD", help="only clips whose name, voice or text contain it")
    play = action("play", _play, "hear sounds and lines")
    play.add_argument("names", nargs="+", metavar="NAME", help="a sound, a line, or a clip's name as list shows it")


def _languages(options: argparse.Namespace, around: Surroundings) -> Sequence[str]:
    return [options.language] if options.language else around.languages


# --- build


def _build(options: argparse.Namespace, around: Surroundings) -> int:
    try:
        from firmware.audio.build import build_effects, build_language  # noqa: PLC0415 - numpy, and only here
        from firmware.audio.characters import load_cast  # noqa: PLC0415
        from firmware.audio.engines import find_engine  # noqa: PLC0415
    except ImportError as error:
        raise VolcanoError(f"building sounds needs numpy: pip install volcano[sounds] ({error})") from error
    _report(EFFECTS, around, lambda progress: build_effects(options.folder, progress=progress))
    cast, engine = load_cast(around.voices()), find_engine(options.engine)
    for language in _languages(options, around):
        lines = around.load(language)

        def build(progress: Callable[[int, int], None], language: str = language, lines: Lines = lines) -> Built:
            return build_language(language, lines, cast, engine, options.folder, progress=progress)

        _report(f"{language} ({engine.name})", around, build)
    return 0


def _report(what: str, around: Surroundings, build: Callable[[Callable[[int, int], None]], Built]) -> None:
    began = around.clock()
    on_terminal = sys.stderr.isatty()

    def progress(done: int, of: int) -> None:
        if on_terminal and of:
            bar = "#" * (BAR_WIDTH * done // of)
            print(f"\r{what}: [{bar:{BAR_WIDTH}}] {done} of {of}", end="", file=sys.stderr, flush=True)

    try:
        built = build(progress)
    finally:
        if on_terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
    minutes, seconds = divmod(round(built.duration_ms / 1000), 60)
    print(
        f"{what}: {counted(built.clips, 'clip')}, {built.made} of them new, {minutes}:{seconds:02} minutes, "
        f"{built.bytes / 2**20:.1f} MiB, in {around.clock() - began:.1f} s"
    )


# --- check and list


def _check(options: argparse.Namespace, around: Surroundings) -> int:
    faults = [*_faults(options.folder, EFFECTS, SOUNDS)]
    for language in _languages(options, around):
        faults += _faults(options.folder, language, said(around.load(language)))
    for fault in faults:
        print(fault)
    if not faults:
        print(f"{options.folder}: every clip is there and whole")
    return 1 if faults else 0


def _faults(packs: Path, name: str, wanted: Sequence[Say | Sound]) -> Iterator[str]:
    """One line per fault of one pack, that has to hold `wanted`."""
    try:
        manifest = read_manifest(packs / name)
    except PackError as error:
        yield str(error)
        return
    for cue in manifest.pack(packs / name).lacks(wanted):
        line, text = (cue.name, str(cue.name)) if isinstance(cue, Sound) else (cue.line, cue.text)
        yield f"{name}: {line}: no clip says {text!r}; build it: volcano sounds build"
    for entry in manifest.clips:
        path = packs / name / entry.file
        try:
            whole = hashlib.sha256(path.read_bytes()).hexdigest() == entry.sha256
        except OSError as error:
            yield f"{path}: cannot be read: {error.strerror} ({entry.name})"
            continue
        if not whole:
            yield f"{path}: is damaged ({entry.name}); remove it and build again: volcano sounds build"
        if abs(entry.lufs - LOUDNESS_LUFS) > LOUDNESS_TOLERANCE_LU:
            yield f"{path}: its loudness is {entry.lufs} LUFS, not {LOUDNESS_LUFS} ({entry.name})"
        if entry.peak_db > PEAK_DBTP:
            yield f"{path}: its true peak is {entry.peak_db} dB, above {PEAK_DBTP} ({entry.name})"


def _list(options: argparse.Namespace, around: Surroundings) -> int:
    for pack, entry in _entries(options, around):
        words = f"{entry.name} {entry.voice} {entry.text}".lower()
        if all(word.lower() in words for word in options.words):
            print(
                f"{pack:8} {entry.duration_ms / 1000:5.1f} s  {entry.voice:17} {entry.name}: {entry.text}".rstrip(": ")
            )
    return 0


def _entries(options: argparse.Namespace, around: Surroundings) -> Iterator[tuple[str, Entry]]:
    for pack in (EFFECTS, *_languages(options, around)):
        for entry in read_manifest(options.folder / pack).clips:
            yield pack, entry


# --- play


def _play(options: argparse.Namespace, around: Surroundings) -> int:
    from firmware.audio.mixer import open_mixer  # noqa: PLC0415 - pygame

    cues: list[Say | Sound] = []
    for name in options.names:
        found = [entry for _, entry in _entries(options, around) if name in {entry.name, entry.line}]
        if not found:
            raise VolcanoError(f"there is no clip {name!r}; volcano sounds list shows what there is")
        cues += [_cue(entry) for entry in found]
    player = open_mixer(load_configuration(), load_pack(options.folder), around.clock)
    try:
        if not player.is_open:
            return 1
        for cue, following in zip(cues, [*cues[1:], None], strict=True):
            print(cue.name if isinstance(cue, Sound) else f"{cue.voice}: {cue.text}", flush=True)
            player.play(cue, following)
            while not player.poll(around.clock()):
                around.sleep(0.01)
        around.sleep(0.1)  # what the card still holds
    finally:
        player.close()
    return 0


def _cue(entry: Entry) -> Say | Sound:
    if not entry.voice:
        return Sound(SoundName(entry.line))
    return Say(entry.line, tuple(entry.args.items()), voice=entry.voice, text=entry.text, variant=entry.variant)
