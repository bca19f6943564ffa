"""The room around the volcano, as a browser sees it: the table, the figures, the hand, the switch, what was said.

A `Room` stands between the browsers (any thread) and the machine (the loop's thread). Commands become actions that the
machine runs in its own thread; every row that the machine prints is kept for browsers that come later and handed to
those that listen. Nothing here decides a rule: the page sees what a person at the table sees.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from enum import StrEnum
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from firmware.terms import FIGURES, Figure, Touch, VolcanoError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


class Machine(Protocol):
    """The running firmware."""

    @property
    def powered(self) -> bool:
        """Whether the switch is on."""

    def submit(self, action: Callable[[], None]) -> None:
        """Run `action` in the loop's thread before its next poll; may be called from any thread."""

    def listen(self, listener: Callable[[Json], None]) -> None:
        """Give every row (``{"t":…, "event":…}`` or ``{"t":…, "cue":…}``) to `listener`, in the loop's thread."""

    def power_on(self, *, held: bool = False) -> None:
        """Switch on, with the push button held or not; in the loop's thread."""

    def power_off(self) -> None:
        """Cut the power; in the loop's thread."""


class Hands(Protocol):
    """The players' hands over the board, in the loop's thread."""

    def place(self, figure: Figure, field: str | None) -> None:
        """Stand `figure` on `field`, or beside the board."""

    def grip(self, figure: Figure) -> None:
        """Take `figure` by the head."""

    def let_go(self, figure: Figure) -> None:
        """Take the hand off `figure`."""

    def touch(self, touch: Touch) -> None:
        """Lay a finger on a Touch field."""

    def lift(self, touch: Touch) -> None:
        """Take the finger away."""


class CommandError(VolcanoError, ValueError):
    """A command that the table cannot carry out; one line for whoever sent it."""


class Room:
    """What stands on the table and what the volcano has said; every method may be called from any thread.

    `fields` are the board's field ids. `press` and `set_battery_low` drive the push button and the supply of the
    emulated hardware, in the loop's thread. `language` and `volume` tell the unit's present settings. `past` are rows
    of a game that goes on from an earlier run, `stands` is where its figures were left. `sound` tells where the voices
    are heard: ``browser`` (with `clips`), ``here`` (this machine's own loudspeaker) or ``none``.
    """

    def __init__(
        self,
        machine: Machine,
        hands: Hands,
        press: Callable[[bool], None],
        set_battery_low: Callable[[bool], None],
        *,
        fields: Sequence[str],
        language: Callable[[], str] = lambda: "de",
        volume: Callable[[], int] = lambda: 3,
        past: Iterable[Json] = (),
        stands: Mapping[Figure, str] | None = None,
        sound: str = "none",
        clips: Clips | None = None,
    ) -> None:
        self._machine = machine
        self._hands = hands
        self._press = press
        self._set_battery_low = set_battery_low
        self._language = language
        self._volume = volume
        self._sound = sound
        self.clips = clips
        self.fields = frozenset(fields)
        self._lock = RLock()
        self._subscribers: list[Subscriber] = []
        self._events: deque[tuple[int, Json]] = deque(maxlen=EVENTS_KEPT)
        self._cues: deque[tuple[int, Json]] = deque(maxlen=CUES_KEPT)
        self._count = 0
        self._figures: dict[Figure, str | None] = dict.fromkeys(FIGURES)
        self._hold: tuple[Figure, Touch] | None = None
        self._on = machine.powered
        self._button = False
        self._battery_low = False
        self._lights: Json = {"lit": [], "blink": False}
        for row in past:
            self._keep(plain(row))
        for figure, field in (stands or {}).items():
            self.place(figure, field)
        machine.listen(self.hear)

    # --- what the machine says

    def hear(self, row: Json) -> None:
        """One row of the machine: kept, and given to every browser."""
        row = plain(row)
        if self.clips is not None:
            row = self.clips.addressed(row)
        with self._lock:
            self._keep(row)
            self._publish("row", row)
            if row.get("event") in TABLE_CHANGES:
                self._publish("room", self._table())

    def _keep(self, row: Json) -> None:
        self._count += 1
        if "cue" in row:
            self._cues.append((self._count, row))
            if row["cue"] == "symbols":
                self._lights = {"lit": list(row.get("lit", ())), "blink": bool(row.get("blink", False))}
            return
        if row.get("event") in STARTS:
            self._events.clear()
        self._events.append((self._count, row))

    # --- browsers

    def join(self, subscriber: Subscriber) -> Callable[[], None]:
        """Give `subscriber` a snapshot and from then on every message; the result ends it.

        When the last browser leaves, hand and button are let go: nobody is there to hold them.
        """

        def leave() -> None:
            with self._lock:
                if subscriber in self._subscribers:
                    self._subscribers.remove(subscriber)
                    if not self._subscribers:
                        self.release()
                        self.button(pressed=False)

        with self._lock:
            self._subscribers.append(subscriber)
            subscriber("snapshot", self.snapshot())
        return leave

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
            "on": self._on,
            "button": self._button,
            "battery_low": self._battery_low,
            "figures": {figure.value: field for figure, field in self._figures.items()},
            "hold": {"figure": self._hold[0].value, "touch": self._hold[1].value} if self._hold else None,
            "lights": self._lights,
        }

    def _publish(self, name: str, data: Json) -> None:
        for subscriber in tuple(self._subscribers):
            subscriber(name, data)

    def _changed(self) -> None:
        self._publish("room", self._table())

    # --- what a person does

    def do(self, command: Json) -> None:
        """Carry out a command of the page, ``{"do": name, …}``.

        Raises:
            CommandError: the command or one of its words is unknown, or the table stands otherwise.
        """
        name = command.get("do")
        match name:
            case "place":
                field = command.get("field")
                self.place(word(command, "figure", Figure), None if field is None else self._field(field))
            case "hold":
                self.hold(word(command, "figure", Figure), word(command, "touch", Touch))
            case "release":
                self.release()
            case "button":
                self.button(pressed=flag(command, "pressed"))
            case "power":
                self.power(on=flag(command, "on"))
            case "battery":
                self.battery(low=flag(command, "low"))
            case _:
                raise CommandError(f"do: must be place, hold, release, button, power or battery, is {name!r}")

    def _field(self, field: object) -> str:
        if isinstance(field, str) and field in self.fields:
            return field
        raise CommandError(f"field: must be one of {', '.join(sorted(self.fields))} or null, is {field!r}")

    def place(self, figure: Figure, field: str | None) -> None:
        """Stand `figure` on `field`, None: beside the board. A hand that holds it lets go first."""
        with self._lock:
            if self._hold and self._hold[0] is figure:
                self.release()
            self._figures[figure] = field
            self._act(lambda: self._hands.place(figure, field))
            self._changed()

    def hold(self, figure: Figure, touch: Touch) -> None:
        """Grip `figure` where it stands and touch `touch`, until `release`.

        Raises:
            CommandError: the figure stands beside the board.
        """
        with self._lock:
            if self._figures[figure] is None:
                raise CommandError(f"figure: {figure} stands beside the board; place it on a field first")
            self.release()
            self._hold = (figure, touch)

            def grip_and_touch() -> None:
                self._hands.grip(figure)
                self._hands.touch(touch)

            self._act(grip_and_touch)
            self._changed()

    def release(self) -> None:
        """Lift the finger and let the figure go; harmless when nothing is held."""
        with self._lock:
            if self._hold is None:
                return
            figure, touch = self._hold
            self._hold = None

            def lift_and_let_go() -> None:
                self._hands.lift(touch)
                self._hands.let_go(figure)

            self._act(lift_and_let_go)
            self._changed()

    def button(self, *, pressed: bool) -> None:
        """Press the push button or let it go."""
        with self._lock:
            if pressed is not self._button:
                self._button = pressed
                self._act(lambda: self._press(pressed))
                self._changed()

    def power(self, *, on: bool) -> None:
        """Slide the switch; the push button may be held meanwhile."""
        with self._lock:
            if on is self._on:
                return
            self._on = on
            if on:
                held = self._button
                self._act(lambda: self._machine.power_on(held=held))
            else:
                self._lights = {"lit": [], "blink": False}
                self._act(self._machine.power_off)
            self._changed()

    def battery(self, *, low: bool) -> None:
        """Put in weak or full batteries."""
        with self._lock:
            if low is not self._battery_low:
                self._battery_low = low
                self._act(lambda: self._set_battery_low(low))
                self._changed()

    def _act(self, action: Callable[[], None]) -> None:
        def act() -> None:
            try:
                action()
            except VolcanoError as error:
                with self._lock:
                    self._publish("trouble", {"text": str(error)})

        self._machine.submit(act)


W = TypeVar("W", bound=StrEnum)


def word(command: Json, key: str, kind: type[W]) -> W:
    """The word under `key`, one of an enum's.

    Raises:
        CommandError: it is missing or unknown.
    """
    value: Any = command.get(key)
    try:
        return kind(value)
    except ValueError:
        raise CommandError(f"{key}: must be one of {', '.join(kind)}, is {value!r}") from None


def flag(command: Json, key: str) -> bool:
    """The truth under `key`.

    Raises:
        CommandError: it is neither true nor false.
    """
    value = command.get(key)
    if isinstance(value, bool):
        return value
    raise CommandError(f"{key}: must be true or false, is {value!r}")


def plain(row: Mapping[str, Any]) -> Json:
    """A row as JSON gives it back: an independent copy of text, numbers, lists and objects."""
    copied: Json = json.loads(json.dumps(row, default=_listed))
    return copied


def _listed(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a row cannot carry {value!r}")
