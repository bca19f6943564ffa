"""The room around an emulated volcano: the table, the figures, the hand, the switch.

Commands of the browsers become actions that the machine runs in its own thread. Nothing here decides a rule: the page
sees what a person at the table sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from firmware.page.commands import CommandError, beside, flag, place, word
from firmware.page.told import Told
from firmware.terms import FIGURES, Figure, Touch, VolcanoError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from firmware.page.clips import Clips
    from firmware.page.told import Json


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


class Room(Told):
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
        super().__init__(language=language, volume=volume, past=past, sound=sound, clips=clips)
        self._machine = machine
        self._hands = hands
        self._press = press
        self._set_battery_low = set_battery_low
        self.fields = frozenset(fields)
        self._figures: dict[Figure, str | None] = dict.fromkeys(FIGURES)
        self._hold: tuple[Figure, Touch] | None = None
        self._on = machine.powered
        self._button = False
        self._battery_low = False
        for figure, field in (stands or {}).items():
            self.place(figure, field)
        machine.listen(self.hear)

    def _left(self) -> None:
        """Nobody is there to hold anything."""
        self.release()
        self.button(pressed=False)

    def _table(self) -> Json:
        return {
            **super()._table(),
            "on": self._on,
            "button": self._button,
            "battery_low": self._battery_low,
            "figures": {figure.value: field for figure, field in self._figures.items()},
            "hold": {"figure": self._hold[0].value, "touch": self._hold[1].value} if self._hold else None,
        }

    # --- what a person does

    def do(self, command: Json) -> None:
        """Carry out a command of the page, ``{"do": name, …}``.

        Raises:
            CommandError: the command or one of its words is unknown, or the table stands otherwise.
        """
        name = command.get("do")
        match name:
            case "place":
                self.place(word(command, "figure", Figure), place(command, self.fields))
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
                raise beside(figure)
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
