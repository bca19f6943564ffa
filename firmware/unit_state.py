"""What of the unit is kept: its modes, a saved state as one JSON object, and the game that a journal leads to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self, cast

from firmware.game import kernel
from firmware.game.kernel import StateError
from firmware.speech import dump_items, load_items
from firmware.terms import Contact, Figure, Grip, Symbol, Touch
from firmware.unit_batteries import Batteries
from firmware.unit_events import Settings

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from firmware.game.kernel import Begun, Json, Record, Rules, Title
    from firmware.terms import Item


class Mode(StrEnum):
    """What the unit is doing."""

    OFF = "off"
    WEAK = "weak"
    GREETING = "greeting"
    SETTINGS = "settings"
    CHECKING = "checking"
    READY = "ready"
    PLAYING = "playing"
    OVER = "over"


NOT_YET = (Mode.OFF, Mode.WEAK, Mode.GREETING, Mode.SETTINGS, Mode.CHECKING)
"""Before the greeting has ended: what the journal holds has not been resumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitState:
    """The unit at one moment. What is being said is no part of it, but what would be repeated is.

    `rules` is the name of the game under way, or that will go on after the greeting, and `game` its own dump.
    """

    mode: Mode
    settings: Settings
    seed: int
    errors: int
    low_battery: bool
    weak: bool
    weakened: bool
    lit: tuple[Symbol, ...]
    asked: Grip | None
    inferred: Contact | None
    resumed: bool
    repeat: list[Item]
    rules: object
    game: Any

    def row(self) -> Json:
        """As one JSON object."""
        asked, inferred = self.asked, self.inferred
        return {
            "mode": self.mode.value,
            "language": self.settings.language,
            "volume": self.settings.volume,
            "seed": self.seed,
            "errors": self.errors,
            "low_battery": self.low_battery,
            "weak": self.weak,
            "weakened": self.weakened,
            "lit": [symbol.value for symbol in self.lit],
            "asked": [asked.field, asked.touch.value] if asked else None,
            "inferred": [inferred.figure.value, inferred.field, inferred.touch.value] if inferred else None,
            "resumed": self.resumed,
            "repeat": dump_items(self.repeat),
            "rules": self.rules,
            "game": self.game,
        }

    @classmethod
    def load(cls, row: Json, fields: Collection[str]) -> Self:
        """The state of which `row()` made this; `fields` are the title's. The game is not looked at yet.

        Raises:
            StateError: naming the key that is wrong.
        """
        try:
            mode, asked, inferred = Mode(row["mode"]), row["asked"], row["inferred"]
            return cls(
                mode=mode,
                settings=Settings(row["language"], row["volume"]).checked(),
                seed=int(row["seed"]),
                errors=int(row["errors"]),
                low_battery=bool(row["low_battery"]),
                resumed=bool(row["resumed"]),
                rules=row["rules"],
                game=row["game"],
                lit=tuple(map(Symbol, row["lit"])),
                repeat=load_items(row["repeat"]),
                asked=Grip(_field(asked[0], fields), Touch(asked[1])) if asked else None,
                inferred=Contact(Figure(inferred[0]), _field(inferred[1], fields), Touch(inferred[2]))
                if inferred
                else None,
                weak=row.get("weak") is True,  # the first states did not know of these two
                weakened=row.get("weakened") is True,
            )
        except KeyError as error:
            raise StateError(f"state: {error.args[0]} is missing") from error
        except (ValueError, TypeError, IndexError) as error:
            raise StateError(f"state: {error}") from error

    def batteries(self, now: float) -> Batteries:
        """What is known of the batteries; those that were weak are so since `now`."""
        since_s = now if self.weak else None
        return Batteries(low_at_power_on=self.low_battery, weak_since_s=since_s, told=self.weakened)

    def resting_game(self, title: Title) -> tuple[Rules[Any] | None, Any]:
        """Rules and state of its game, no rules if there is none.

        Raises:
            StateError: there is no such game, or not in this mode.
        """
        rules = rules_named(title, self.rules) if self.rules is not None else None
        game: Any = rules.load(self.game) if rules else None
        fits = {Mode.PLAYING: rules and not rules.over(game), Mode.OVER: rules and rules.over(game)}
        if not fits.get(self.mode, self.mode in NOT_YET or rules is None):
            raise StateError(f"state: mode {self.mode.value} does not go with this game of {self.rules}")
        return rules, game


def _field(name: object, fields: Collection[str]) -> str:
    if name not in fields:
        raise ValueError(f"{name!r} is no field")
    return str(name)


def rules_named(title: Title, name: object) -> Rules[Any]:
    """One of a title's two games.

    Raises:
        StateError: it has none of this name.
    """
    for rules in (title.intro, title.game):
        if rules.name == name:
            return rules
    raise StateError(f"state: rules must be {title.intro.name} or {title.game.name}, is {name!r}")


def unfinished_game(title: Title, records: Sequence[Record]) -> tuple[Rules[Any] | None, Any]:
    """What the records lead to: rules and state; no rules if it is nothing to go on with.

    Raises:
        StateError: they cannot be replayed.
    """
    if not records:
        return None, None
    rules = rules_named(title, cast("Begun", records[0]).rules)
    game, _ = kernel.replay(rules, records, compare=False)
    return (rules, game) if rules.resumes and not rules.over(game) else (None, None)
