"""What happens in the unit, and the settings that last: the unit's own events (docs/console.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from firmware.game.kernel import Event, event

if TYPE_CHECKING:
    from firmware.game.kernel import Json
    from firmware.terms import Figure, Touch

LANGUAGES = ("de", "en")
VOLUMES = 5


@event
class PoweredOn(Event):
    """The slide switch was set to on."""


@event
class BatteryLow(Event):
    """The batteries are weak at power-on: nothing happens until the push button is pressed."""


@event
class BatteryWeakened(Event):
    """The batteries have become weak since power-on: it is said once, and the game goes on."""


@event
class Ready(Event):
    """Greeted; a game may be started."""


@event
class Resumed(Event):
    """An unfinished game goes on; the figure that acted last and the open decision."""

    figure: Figure | None = None
    pending: str | None = None

    def row(self) -> Json:
        """Both fields stand always, null if nobody has acted or nothing is open."""
        return {"event": self.name, "figure": self.figure, "pending": self.pending}


@event
class Rejected(Event):
    """An input error, with the contract's reason."""

    reason: str


@event
class Signals(Event):
    """Rock before a game: the four signals."""


@event
class Repeated(Event):
    """The last announcement, or the open question, is said again."""


@event
class Interrupted(Event):
    """The push button stopped the story."""


@event
class Volume(Event):
    """The new volume step, 1 to 5."""

    level: int


@event
class WhoAsked(Event):
    """The unit asks which figure touched."""


@event
class FigureInferred(Event):
    """The sensors could not tell; the game's course did."""

    figure: Figure


@event
class Checked(Event):
    """After the self-test: a contact, told by name; it counts for no game."""

    figure: Figure | None
    field: str
    touch: Touch

    def row(self) -> Json:
        """The figure stands always, null if the sensors cannot tell it."""
        return {"event": self.name, "figure": self.figure, "field": self.field, "touch": self.touch}


@dataclass(frozen=True, slots=True)
class Settings:
    """What lasts over power-off."""

    language: str = "de"
    volume: int = 3

    def checked(self) -> Settings:
        """The same settings.

        Raises:
            ValueError: no such language or volume step.
        """
        if self.language not in LANGUAGES or self.volume not in range(1, VOLUMES + 1):
            raise ValueError(f"language must be {' or '.join(LANGUAGES)} and volume 1 to {VOLUMES}")
        return self
