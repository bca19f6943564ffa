"""What the volcano has told, kept for browsers that come later, and the browsers that listen now.

A `Told` stands between the browsers (any thread) and the machine (the loop's thread): every row that the machine prints
is kept and handed on. What a person may do there is its heirs' matter: a `Room` around emulated chips, the
`ServiceRoom` of a real board.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any

from firmware.page.commands import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from firmware.page.clips import Clips

Json = dict[str, Any]
Subscriber = Callable[[str, Json], None]
"""Called with a message's name (``snapshot``, ``row``, ``room``, ``trouble``) and its data, in any thread."""

EVENTS_KEPT = 4000
"""Event rows kept since the last start of a game; the longest games have some 150 turns of about ten rows."""
CUES_KEPT = 200
"""Cue rows kept: what a browser that comes back shows of earlier speech."""
TABLE_CHANGES = frozenset({"powered_on", "ready", "resumed", "volume"})
"""Events after which the unit may speak another language or louder."""
STARTS = frozenset({"intro_started", "game_started"})
"""Events that clear the board: what happened before them is no longer to be seen."""


class Told:
    """Rows, and those who listen to them; every method may be called from any thread.

    `language` and `volume` tell the unit's present settings. `past` are rows of a game that goes on from an earlier
    run. `sound` tells where the voices are heard: ``browser`` (with `clips`), ``here`` (this machine's own
    loudspeaker) or ``none``.
    """

    def __init__(
        self,
        *,
        language: Callable[[], str],
        volume: Callable[[], int],
        past: Iterable[Json],
        sound: str,
        clips: Clips | None = None,
    ) -> None:
        self._language = language
        self._volume = volume
        self._sound = sound
        self.clips = clips
        self._lock = RLock()
        self._subscribers: list[Subscriber] = []
        self._events: deque[tuple[int, Json]] = deque(maxlen=EVENTS_KEPT)
        self._cues: deque[tuple[int, Json]] = deque(maxlen=CUES_KEPT)
        self._count = 0
        self._lights: Json = {"lit": [], "blink": False}
        for row in past:
            self._keep(plain(row))

    def do(self, command: Json) -> None:
        """Carry out a command of the page, ``{"do": name, …}``.

        Raises:
            CommandError: the command or one of its words is unknown, or it cannot be carried out now.
        """
        raise CommandError(f"do: there is nothing to do here, is {command.get('do')!r}")

    # --- what the machine says

    def hear(self, row: Json) -> None:
        """One row of the machine: kept, and given to every browser."""
        row = plain(row)
        if self.clips is not None:
            row = self.clips.addressed(row)
        with self._lock:
            changed = self._keep(row) or row.get("event") in TABLE_CHANGES
            self._publish("row", row)
            if changed:
                self._changed()

    def _keep(self, row: Json) -> bool:
        """Keep a row; whether it changes the table."""
        self._count += 1
        if "cue" in row:
            self._cues.append((self._count, row))
            if row["cue"] == "symbols":
                self._lights = {"lit": list(row.get("lit", ())), "blink": bool(row.get("blink", False))}
            return False
        if row.get("event") in STARTS:
            self._events.clear()
        self._events.append((self._count, row))
        return False

    # --- browsers

    def join(self, subscriber: Subscriber) -> Callable[[], None]:
        """Give `subscriber` a snapshot and from then on every message; the result ends it."""

        def leave() -> None:
            with self._lock:
                if subscriber in self._subscribers:
                    self._subscribers.remove(subscriber)
                    if not self._subscribers:
                        self._left()

        with self._lock:
            self._subscribers.append(subscriber)
            subscriber("snapshot", self.snapshot())
        return leave

    def _left(self) -> None:
        """The last browser has gone."""

    def snapshot(self) -> Json:
        """Everything that a browser needs: the table, the rows in their order, the effects to fetch early."""
        with self._lock:
            rows = sorted((*self._events, *self._cues), key=lambda kept: kept[0])
            effects = self.clips.effects if self.clips else ()
            return {**self._table(), "rows": [row for _, row in rows], "effects": list(effects)}

    def _table(self) -> Json:
        return {
            "language": self._language(),
            "sound": self._sound,
            "volume": self._volume(),
            "lights": self._lights,
        }

    def _publish(self, name: str, data: Json) -> None:
        for subscriber in tuple(self._subscribers):
            subscriber(name, data)

    def _changed(self) -> None:
        self._publish("room", self._table())


def plain(row: Mapping[str, Any]) -> Json:
    """A row as JSON gives it back: an independent copy of text, numbers, lists and objects."""
    copied: Json = json.loads(json.dumps(row, default=_listed))
    return copied


def _listed(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a row cannot carry {value!r}")
