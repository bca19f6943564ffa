"""Which sounds a browser may fetch, and where: those that a sound pack has for what is said and heard.

A clip's address is ``/clips/<pack>/<file>``. Addresses are given out with the rows, and only what was given out is
served; so no request can name a file that is not in a manifest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from firmware.terms import Say, Sound, SoundName

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

Json = dict[str, Any]

AHEAD = 3
"""Clips that a browser fetches before they are told: some seconds of speech, also over a slow connection."""

MEDIA_TYPES = {".wav": "audio/wav", ".flac": "audio/flac", ".ogg": "audio/ogg", ".mp3": "audio/mpeg"}
"""Ending of a sound file -> its media type (IANA); no other file is given out, whatever a manifest names."""


class Clip(Protocol):
    """One sound file and how long it lasts."""

    @property
    def path(self) -> Path:
        """The file, in its pack's folder."""

    @property
    def duration_ms(self) -> int:
        """How long it lasts."""


class Pack(Protocol):
    """The sound packs."""

    def find(self, cue: Say | Sound) -> Clip | None:
        """The clip of a line with its text and voice filled in, or of a sound; None if there is none."""


class Clips:
    """The clips of `pack` under their addresses; `waiting` are the cues that come after the one being told."""

    def __init__(self, pack: Pack, waiting: Callable[[], Sequence[Say | Sound]] = lambda: ()) -> None:
        self._pack = pack
        self._waiting = waiting
        self._paths: dict[tuple[str, str], Path] = {}
        self.effects = tuple(
            address for name in SoundName if (address := self._address(pack.find(Sound(name)))) is not None
        )
        """Addresses of all sounds that are no speech: short, and heard again and again."""

    def addressed(self, row: Json) -> Json:
        """`row`, and if it is a cue with a clip the ``clip``'s address, its ``ms``, and ``next``: addresses to fetch.

        To be called while the row is being told, in the loop's thread.
        """
        clip = self._of(row)
        address = self._address(clip)
        if clip is None or address is None:
            return row
        ahead = (self._address(self._pack.find(cue)) for cue in self._waiting()[:AHEAD])
        return {**row, "clip": address, "ms": clip.duration_ms, "next": [each for each in ahead if each is not None]}

    def path(self, pack: str, file: str) -> Path | None:
        """The file at the address ``/clips/pack/file`` if it was given out, None if not."""
        return self._paths.get((pack, file))

    def _of(self, row: Json) -> Clip | None:
        match row:
            case {"cue": "say", "voice": str(voice), "text": str(text)}:
                return self._pack.find(Say("", voice=voice, text=text))
            case {"cue": "sound", "name": str(name)} if name in list(SoundName):
                return self._pack.find(Sound(SoundName(name)))
        return None

    def _address(self, clip: Clip | None) -> str | None:
        if clip is None or clip.path.suffix not in MEDIA_TYPES:
            return None
        pack, file = clip.path.parent.name, clip.path.name
        self._paths[pack, file] = clip.path
        return f"/clips/{quote(pack)}/{quote(file)}"
