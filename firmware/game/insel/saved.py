"""Reading a saved state of Die Insel: every key is checked, so that a damaged line is named instead of played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware.game.insel.board import CREATURES, PEOPLE, RELICS, SITES, Kind
from firmware.game.insel.state import FIGHT, GUARDIAN, HERMIT, QUESTIONS, STATUE, TABLET, Guardian, InselState, Pending
from firmware.game.insel.tuning import LEVELS, MOST_AT_ONCE
from firmware.game.kernel import StateError
from firmware.terms import FIGURES, Figure, counted

if TYPE_CHECKING:
    from collections.abc import Collection

    from firmware.game.insel.board import Board
    from firmware.game.insel.tuning import Tuning
    from firmware.game.kernel import Json

_MOST = 10**9
"""Above every count and turn number of a game."""


def load_state(row: Json, board: Board, tuning: Tuning) -> InselState:
    """The state from which `InselState.dump` made `row`.

    Raises:
        StateError: naming the key that is missing, unknown or wrong.
    """
    return _Reader(row, board, tuning).state()


class _Row:
    """A JSON object whose keys are taken by type."""

    def __init__(self, value: Any, path: str = "") -> None:
        self.path = path
        if not isinstance(value, dict):
            raise self.error("", f"must be an object, is {value!r}")
        self.values: dict[str, Any] = value

    def error(self, key: str, problem: str) -> StateError:
        """An error about one key."""
        path = ".".join(part for part in (self.path, key) if part)
        return StateError(f"state: {path or 'the whole'}: {problem}")

    def take(self, key: str) -> Any:
        """A value that must be there."""
        if key not in self.values:
            raise self.error(key, "is missing")
        return self.values[key]

    def row(self, key: str) -> _Row:
        """An object below this one."""
        return _Row(self.take(key), f"{self.path}.{key}" if self.path else key)

    def items(self, key: str) -> list[Any]:
        """A list."""
        value = self.take(key)
        if not isinstance(value, list):
            raise self.error(key, f"must be a list, is {value!r}")
        return value

    def whole(self, key: str, low: int = 0, high: int = _MOST) -> int:
        """A whole number."""
        value = self.take(key)
        if type(value) is not int or not low <= value <= high:
            raise self.error(key, f"must be a whole number from {low} to {high}, is {value!r}")
        return value

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self.take(key)
        if not isinstance(value, bool):
            raise self.error(key, f"must be true or false, is {value!r}")
        return value

    def word(self, key: str, choices: Collection[str]) -> str:
        """One of the words."""
        return self.check(key, self.take(key), choices)

    def words(self, key: str, choices: Collection[str]) -> tuple[str, ...]:
        """A list of different words."""
        words = tuple(self.check(key, each, choices) for each in self.items(key))
        if len(set(words)) != len(words):
            raise self.error(key, f"has a word twice: {words!r}")
        return words

    def check(self, key: str, value: Any, choices: Collection[str]) -> str:
        """That a value is one of the words."""
        if not isinstance(value, str) or value not in choices:
            raise self.error(key, f"must be one of {', '.join(choices) or 'nothing here'}, is {value!r}")
        return value

    def figure(self, key: str) -> Figure:
        """A figure."""
        return Figure(self.word(key, FIGURES))

    def only(self, keys: Collection[str]) -> None:
        """No other keys are known."""
        for key in self.values:
            if key not in keys:
                raise self.error(key, f"is not a key here; known: {', '.join(keys)}")


class _Reader:
    """One state line against one board."""

    def __init__(self, row: Json, board: Board, tuning: Tuning) -> None:
        self.row = _Row(row)
        self.board = board
        self.tuning = tuning

    def state(self) -> InselState:
        """The whole state."""
        row = self.row
        state = InselState(row.whole("generator", high=(1 << 64) - 1), LEVELS.index(row.word("level", LEVELS)))
        row.only(state.dump())
        state.turn = row.whole("turn")
        state.over = row.word("over", ("", "creatures", "statues"))
        for number, value in enumerate(row.items("figures")):
            self._figure(state, _Row(value, f"figures.{number}"))
        state.last = self._entered(state, "last")
        if state.landed and state.last is None:
            raise row.error("last", "must be a figure that entered, is null")
        state.gnome_driver = self._entered(state, "gnome_driver")
        self._island(state)
        self._creatures(state)
        self._explored(state)
        self._end(state)
        if row.take("pending") is not None:
            state.pending = self._pending(state, row.row("pending"))
            if state.over:
                raise row.error("pending", "nothing is open after the end")
        return state

    def _entered(self, state: InselState, key: str) -> Figure | None:
        return None if self.row.take(key) is None else Figure(self.row.word(key, state.landed))

    def _figure(self, state: InselState, row: _Row) -> None:
        figure = row.figure("figure")
        if figure in state.landed:
            raise row.error("figure", f"{figure.value} has entered twice")
        landed = row.word("landed", self.board.boats)
        if landed in state.landed.values():
            raise row.error("landed", f"two figures landed at {landed!r}")
        state.landed[figure] = landed
        state.places[figure] = row.word("place", self.board.fields)
        state.turns[figure] = row.whole("turns", 1, state.turn)
        state.last_turn[figure] = row.whole("last_turn", 1, state.turn)
        state.island_points[figure] = row.whole("island_points")
        state.creature_points[figure] = row.whole("creature_points")
        state.explored[figure] = row.words("explored", self.board.fields)
        state.triton_fights[figure] = row.whole("triton_fights")
        if row.flag("strong"):
            state.strong += (figure,)
        row.only(_FIGURE_KEYS)

    def _island(self, state: InselState) -> None:
        board, row = self.board, self.row
        sites = row.row("sites")
        for place in sites.values:
            if board.kinds.get(place) is not Kind.SITE:
                raise sites.error(place, "takes no red plastic figure")
            zone = board.zone_of[place]
            site = sites.word(place, SITES + board.people_in[zone])
            if site in [state.sites[each] for each in board.zones[zone] if each in state.sites]:
                raise sites.error(place, f"the zone {zone} has the {site} twice")
            state.sites[place] = site
        statues = row.row("statues")
        statues.only(board.statues)
        state.statues = {place: statues.whole(place, high=self.tuning.statues.tablets) for place in board.statues}
        state.ariki_turn = row.whole("ariki_turn", high=state.turn)
        if (state.ariki_turn > 0) != ("ariki" in state.sites.values()):
            raise row.error("ariki_turn", f"is {state.ariki_turn}, but the sites say otherwise about the Ariki")
        state.beachcomber_paid = row.flag("beachcomber_paid")
        guardians = row.row("guardians")
        for place in guardians.values:
            guardian = self._guardian(state, guardians, place)
            if guardian.relic in [each.relic for each in state.guardians.values()]:
                raise guardians.error(place, f"two guardians want {guardian.relic}")
            state.guardians[place] = guardian
        visited = row.row("visited")
        dated = {place for place, site in state.sites.items() if site != HERMIT} | state.guardians.keys()
        visited.only(sorted(dated))
        state.visited = {place: visited.whole(place, 1, state.turn) for place in visited.values}
        for place in sorted(dated - visited.values.keys()):
            raise visited.error(place, "is missing")

    def _guardian(self, state: InselState, guardians: _Row, place: str) -> Guardian:
        guardians.check(place, place, self.board.ruins)
        row = guardians.row(place)
        row.only(("relic", "demand", "gifts", "resting"))
        gifts: dict[Figure, int] = {}
        for pair in row.items("gifts"):
            if not isinstance(pair, list) or len(pair) != 2 or type(pair[1]) is not int or pair[1] < 1:
                raise row.error("gifts", f"must be pairs of a figure and a number, one is {pair!r}")
            figure = Figure(row.check("gifts", pair[0], state.landed))
            if figure in gifts:
                raise row.error("gifts", f"{figure.value} is there twice")
            gifts[figure] = pair[1]
        guardian = Guardian(
            row.word("relic", RELICS), row.whole("demand", 1), tuple(gifts.items()), resting=row.flag("resting")
        )
        if guardian.resting != (guardian.missing == 0):
            raise row.error("resting", f"is {guardian.resting}, and {counted(guardian.missing, 'relic')} to come")
        return guardian

    def _creatures(self, state: InselState) -> None:
        row = self.row
        creatures = row.row("creatures")
        creatures.only(CREATURES)
        for creature in creatures.values:
            place = creatures.word(creature, self.board.fields)
            if place in state.creatures.values():
                raise creatures.error(creature, f"another creature stands at {place!r}")
            if creature != "dragon" and self.board.kinds[place] is Kind.SITE and place not in state.sites:
                raise creatures.error(creature, f"{place!r} is not discovered; only the dragon may stand there")
            state.creatures[creature] = place
        state.ambush = row.flag("ambush")
        if state.ambush and "dragon" in state.creatures:
            raise row.error("ambush", "the dragon is on the island already")
        state.fed = row.words("fed", [each for each in CREATURES if each not in state.creatures])
        state.sent_turn = row.whole("sent_turn", high=state.turn)

    def _end(self, state: InselState) -> None:
        """The game has ended exactly when it must (rulebook, Object of the Game)."""
        end = ""
        if len(state.creatures) == len(CREATURES):
            end = "creatures"
        elif all(laid == self.tuning.statues.tablets for laid in state.statues.values()):
            end = "statues"
        if state.over != end:
            raise self.row.error("over", f"is {state.over!r}, by the creatures and statues it must be {end!r}")

    def _explored(self, state: InselState) -> None:
        """Only fields with a discovered relic site have been explored."""
        sites = {place for place, site in state.sites.items() if site not in PEOPLE}
        for number, places in enumerate(state.explored.values()):
            for place in places:
                if place not in sites:
                    raise self.row.error(f"figures.{number}.explored", f"{place!r} has no discovered relic site")

    def _pending(self, state: InselState, row: _Row) -> Pending:
        row.only(("kind", "figure", "field", "creature", "relics", "price"))
        kind = row.word("kind", (*QUESTIONS, HERMIT))
        figure = Figure(row.word("figure", state.landed))
        place = row.word("field", _where(state, kind))
        if place != state.places[figure]:
            raise row.error("field", f"must be where the figure is, {state.places[figure]!r}, is {place!r}")
        fights = kind == FIGHT
        creature = row.word("creature", [state.creature_on(place) or ""] if fights else [""])
        relics = row.words("relics", RELICS if fights else ())
        if fights and not relics:
            raise row.error("relics", "a fight needs at least one kind")
        offered = kind == TABLET
        return Pending(kind, figure, place, creature, relics, row.whole("price", offered, offered * MOST_AT_ONCE))


_FIGURE_KEYS = (
    "figure",
    "landed",
    "place",
    "turns",
    "last_turn",
    "island_points",
    "creature_points",
    "explored",
    "triton_fights",
    "strong",
)


def _where(state: InselState, kind: str) -> list[str]:
    """The fields on which a decision of this kind can be open."""
    if kind == FIGHT:
        return list(state.creatures.values())
    if kind == STATUE:
        return list(state.statues)
    if kind == HERMIT:
        return [place for place, site in state.sites.items() if site == HERMIT]
    return [place for place, guardian in state.guardians.items() if guardian.resting == (kind != GUARDIAN)]
