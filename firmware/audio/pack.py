"""Sound packs: one folder a language, and one of effects, each with a manifest and its sound files.

A clip is found by who speaks and what is said. So a clip can never say anything but the catalogue's text, whatever was
edited since the pack was built: what is not in the pack stays silent until it is built again. The manifest also has the
clip's name (line, arguments, wording), for those who want to record their own.
"""

from __future__ import annotations

import json
import logging
import os
from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from firmware.terms import Say, Sound, SoundName, VolcanoError, nominal_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from firmware.terms import Args

FORMAT = 1
MANIFEST = "manifest.json"
EFFECTS = "effects"

T = TypeVar("T")
C = TypeVar("C", bound="Say | Sound")

Place = tuple[Path, str, int]
"""A clip's folder, its file in there, its milliseconds."""

_log = logging.getLogger(__name__)


class PackError(VolcanoError, ValueError):
    """A manifest is missing or wrong; the text names the file and what to do."""


@dataclass(frozen=True, slots=True)
class Clip:
    """One sound file and how long it lasts."""

    path: Path
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A clip in a manifest. An effect has no voice; its line is its name."""

    line: str
    args: Mapping[str, str | int]
    variant: int
    voice: str
    text: str
    file: str
    duration_ms: int
    lufs: float
    peak_db: float
    sha256: str

    @property
    def name(self) -> str:
        """For people: the line with its arguments and, from the second, its wording."""
        args = ", ".join(f"{key}={value}" for key, value in self.args.items())
        return self.line + (f"({args})" if args else "") + (f" #{self.variant + 1}" if self.variant else "")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What one folder of a pack holds, and what made it."""

    engine: str
    clips: tuple[Entry, ...]

    def pack(self, folder: Path) -> Pack:
        """These clips alone; they lie in `folder`."""
        places = {(each.voice, each.text or each.line): (folder, each.file, each.duration_ms) for each in self.clips}
        return Pack(places)


class Lines(Protocol):
    """A catalogue as a pack sees it."""

    def clips(self) -> Iterator[tuple[str, Args, int, str]]:
        """Line, arguments, variant and text of every clip."""

    def voice(self, line: str, args: Args) -> str:
        """The character who says it."""


SOUNDS = tuple(map(Sound, SoundName))
"""What the effects have to hold."""


def said(lines: Lines) -> list[Say]:
    """What a language's pack has to hold: every text of every voice once."""
    cues = [
        Say(line, args).spoken(text, variant, lines.voice(line, args)) for line, args, variant, text in lines.clips()
    ]
    return list({(cue.voice, cue.text): cue for cue in cues}.values())


def packs_folder() -> Path:
    """Where packs are built and found: the service's state folder, else the XDG data folder."""
    if systemd := os.environ.get("STATE_DIRECTORY"):
        return Path(systemd.split(":")[0]) / "sounds"
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "volcano" / "sounds"


def read_manifest(folder: Path) -> Manifest:
    """The manifest of one folder.

    Raises:
        PackError: it is missing or damaged.
    """
    return _read(folder, lambda held: Manifest(held["engine"], tuple(Entry(**entry) for entry in held["clips"])))


def _read(folder: Path, take: Callable[[dict[str, Any]], T]) -> T:
    """What `take` finds in a folder's manifest; what it cannot find is damage."""
    path = folder / MANIFEST
    try:
        held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if held["format"] != FORMAT:
            raise PackError(
                f"{path}: is of format {held['format']}, not {FORMAT}; build it again: volcano sounds build"
            )
        return take(held)
    except FileNotFoundError as error:
        raise PackError(f"{path}: there is no sound pack; build it: volcano sounds build") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, PackError):
            raise
        raise PackError(f"{path}: is damaged ({error}); build it again: volcano sounds build") from error


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Put a manifest in place at one stroke; before that the old one holds."""
    held = {"format": FORMAT, "engine": manifest.engine, "clips": [asdict(entry) for entry in manifest.clips]}
    fresh = folder / f".{MANIFEST}.{os.getpid()}"
    try:
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(held, file, ensure_ascii=False, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(folder / MANIFEST)
    finally:
        fresh.unlink(missing_ok=True)


class Pack:
    """All clips of all languages that are there.

    Args:
        places: (voice, text), of a sound ("", name), to folder, file and milliseconds.
        manifests: files that have more; where two have a clip, the first counts. They are read one by one as far as a
            clip is looked for: the greeting does not wait for all. A damaged one is logged and left out.
    """

    def __init__(self, places: Mapping[tuple[str, str], Place] | None = None, manifests: Iterable[Path] = ()) -> None:
        self._places = dict(places or {})
        self._unread = deque(manifests)

    def find(self, cue: Say | Sound) -> Clip | None:
        """The clip of a line with its text and voice filled in, or of a sound; None if there is none."""
        key = ("", cue.name) if isinstance(cue, Sound) else (cue.voice, cue.text)
        while key not in self._places and self._unread:
            self._read_next()
        place = self._places.get(key)
        return None if place is None else _clip(*place)

    def lacks(self, cues: Iterable[C]) -> list[C]:
        """Those of `cues` for which there is no clip."""
        return [cue for cue in cues if self.find(cue) is None]

    def duration_ms(self, cue: Say | Sound) -> int:
        """How long a cue lasts: its clip, or its nominal time if there is none."""
        clip = self.find(cue)
        return nominal_ms(cue) if clip is None else clip.duration_ms

    def clips(self) -> Iterator[Clip]:
        """Every clip once."""
        self.load()
        yield from (_clip(*place) for place in dict.fromkeys(self._places.values()))

    def __len__(self) -> int:
        self.load()
        return len(self._places)

    def __bool__(self) -> bool:
        """Whether there is any manifest, whole or damaged, or any clip."""
        return bool(self._places or self._unread)

    def load(self) -> None:
        """Read what has not been read yet."""
        while self._unread:
            self._read_next()

    def _read_next(self) -> None:
        manifest = self._unread.popleft()
        try:
            found = _read(manifest.parent, _places)
        except PackError as error:
            _log.warning("%s", error)
            return
        for key, file, duration_ms in found:
            self._places.setdefault(key, (manifest.parent, file, duration_ms))


def _clip(folder: Path, file: str, duration_ms: int) -> Clip:
    return Clip(folder / file, duration_ms)


def load_pack(*folders: Path) -> Pack:
    """The packs below each folder."""
    return Pack(manifests=[path for folder in folders for path in sorted(folder.glob(f"*/{MANIFEST}"))])


def _places(held: dict[str, Any]) -> list[tuple[tuple[str, str], str, int]]:
    """Who says what, the file and its milliseconds: all that playing needs, read at every start."""
    return [
        ((entry["voice"], entry["text"] or entry["line"]), entry["file"], int(entry["duration_ms"]))
        for entry in held["clips"]
    ]
