"""A volcano that is watched: after every line of the console, what must hold in every game is looked at.

Used by the random tests and by tools/fuzz. What is broken is raised as `BrokenError`; the lines so far reproduce it.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from firmware.catalogue import load
from firmware.console import Console
from firmware.game.insel.board import CREATURES, SITES, load_board
from firmware.game.insel.state import InselState
from firmware.game.kernel import Begun, Played, next_random, replay, unfinished
from firmware.game.registry import load_title
from firmware.terms import FIGURES, TOUCHES
from firmware.unit_state import NOT_YET, Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from firmware.catalogue import Catalogue
    from firmware.game.insel.board import Board

TITLE = load_title()
BOARD = load_board()
ANSWERS = ("one", "two", "three", "fire")
REASONS = {
    *("not_a_boat_field", "boat_taken", "too_late_to_enter", "nothing_pending", "not_yours", "wrong_number"),
    *("not_expected", "no_game"),
}


@cache
def texts(language: str) -> Catalogue:
    """The catalogue, loaded once."""
    return load(language)


class BrokenError(AssertionError):
    """Something that must always hold does not."""


def must(holds: bool, what: str) -> None:
    """Raise `BrokenError` unless it holds."""
    if not holds:
        raise BrokenError(what)


class Watched:
    """One volcano; `play` carries out a line and looks at everything. `rows` are what it said and did."""

    def __init__(self, *, seed: int = 0, language: str = "de", low_battery: bool = False) -> None:
        self.rows: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.console = Console(
            TITLE,
            texts,
            seed=seed,
            language=language,
            low_battery=low_battery,
            write=self.rows.append,
            complain=self.complaints.append,
        )
        self._cut: Any = None
        """The game at the moment of a power cut, until it goes on."""
        self.console.power_on()

    @property
    def game(self) -> Any:
        """The state of the game under way or over, None without one."""
        return self.console.unit.play.state

    def play(self, line: str) -> list[dict[str, Any]]:
        """Carry out one line and look at everything; the rows that it made.

        Raises:
            BrokenError: saying what.
        """
        before = self.game.clone() if self.game is not None else None
        begun, recorded = len(self.rows), len(self.console.records)
        if line == "power off" and before is not None and not self._ended(before):
            self._cut = before
        self.console.command(line)
        rows = self.rows[begun:]
        self._look_at_complaints()
        self._look_at_rows(rows)
        self._look_at_game(before, rows, self.console.records[recorded:])
        self._look_after_a_cut(rows)
        return rows

    def look_back(self) -> None:
        """At the end: all rows are JSON, the record replays to the same game, and a saved state is read back.

        Raises:
            BrokenError: saying what.
        """
        unit = self.console.unit
        json.dumps(self.rows)
        last = max((n for n, each in enumerate(self.console.records) if isinstance(each, Begun)), default=None)
        dumped = self.game.dump() if self.game is not None else None
        if last is not None and unit.play.rules is not None:
            state, _ = replay(unit.play.rules, self.console.records[last:])
            must(state == self.game, "the record replays to another game")
            must(
                unit.play.rules.load(json.loads(json.dumps(dumped))).dump() == dumped, "a saved game differs when read"
            )
        row = json.dumps({"event": "state", **unit.dump(unfinished(self.console.records))})
        other = Watched()
        other.console.restore(row)
        restored = other.game.dump() if other.game is not None else None
        must(restored == dumped or unit.mode in NOT_YET, "a saved unit differs when read")

    # --- what is looked at

    def _ended(self, game: Any) -> bool:
        rules = self.console.unit.play.rules
        return rules is not TITLE.game or rules.over(game)

    def _look_at_complaints(self) -> None:
        """A drawn outcome that the rules exclude is complained about; nothing else may be."""
        wrong = [each for each in self.complaints if not each.startswith("chance ") or "the rules exclude" not in each]
        self.complaints.clear()
        must(not wrong, f"complaint: {wrong}")

    def _look_at_rows(self, rows: Sequence[dict[str, Any]]) -> None:
        for row in rows:
            if row.get("event") == "rejected":
                must(row["reason"] in REASONS, f"rejected with a word of its own: {row['reason']}")
            if row.get("cue") == "say":
                text = row["text"]
                must(bool(text.strip()) and text != row["line"] and "{" not in text, f"says {text!r} for {row['line']}")

    def _look_at_game(self, before: Any, rows: Sequence[dict[str, Any]], records: Sequence[object]) -> None:
        game = self.game
        played = [each for each in records if isinstance(each, Played)]
        begun = any(isinstance(each, Begun) for each in records)
        if before is not None and game is not None and not begun and not played:
            must(game == before, "the game changed without a recorded contact")
        if isinstance(game, InselState) and (played or begun):
            look_at_state(BOARD, game)
            if begun:  # the same line may have ended the game before
                names = [row.get("event") for row in rows]
                before, rows = None, rows[names.index("game_started") :]
            look_at_points(before, game, rows)

    def _look_after_a_cut(self, rows: Sequence[dict[str, Any]]) -> None:
        if self._cut is None:
            return
        for row in rows:
            if row.get("event") == "resumed":
                must(row["pending"] == TITLE.game.pending(self._cut), "a power cut lost what was pending")
            if row.get("event") == "ready":
                raise BrokenError("a power cut lost the game")
        if self.console.unit.mode is Mode.PLAYING:
            must(any(row.get("event") == "resumed" for row in rows), "a game goes on without saying so")
            if not any("event" in row and row["event"] not in ("resumed", "rejected") for row in rows):
                must(self.game == self._cut, "a power cut changed the game")
            self._cut = None


def look_at_state(board: Board, state: InselState) -> None:
    """What a state must always be (rulebook, all sections).

    Raises:
        BrokenError: saying what.
    """
    for zone, fields in board.zones.items():
        found = [state.sites[field] for field in fields if field in state.sites]
        must(len(found) == len(set(found)), f"a site twice in the zone {zone}: {found}")
    must(sum(site in SITES for site in state.sites.values()) <= 12, "more than twelve relic sites")
    must(len(set(state.creatures.values())) == len(state.creatures), f"two creatures on a field: {state.creatures}")
    must(all(0 <= laid <= 7 for laid in state.statues.values()), f"tablets at statues: {state.statues}")
    must(not (state.ambush and "dragon" in state.creatures), "the dragon is in ambush and on the island")
    must(not state.creatures.keys() & set(state.fed), "a creature is fed and on the island")
    all_came, all_awake = len(state.creatures) == 7, list(state.statues.values()) == [7] * 4
    must(bool(state.over) == (all_came or all_awake), f"over is {state.over!r}")
    must(not (state.creatures or state.guardians) or state.ariki_turn > 0, "creatures or guardians before the Ariki")
    for creature, field in state.creatures.items():
        named = field in state.sites or field in board.ruins + board.statues
        must(named or creature == "dragon", f"{creature} on {field}, which the voice cannot name")
    if state.pending:
        must(state.places[state.pending.figure] == state.pending.field, "a decision is pending where nobody stands")
        must(not state.over, "a decision is pending after the end")
    must(len(set(state.landed.values())) == len(state.landed), "two figures landed on one field")
    must(sum(state.turns.values()) == state.turn, "turns do not add up")


def look_at_points(before: InselState | None, now: InselState, rows: Sequence[dict[str, Any]]) -> None:
    """Points never fall, and every point is told, to whom and of which kind.

    Raises:
        BrokenError: saying what.
    """
    for kind in ("island", "creature"):
        have = now.island_points if kind == "island" else now.creature_points
        had = {} if before is None else before.island_points if kind == "island" else before.creature_points
        for figure, count in have.items():
            told = sum(
                row["count"]
                for row in rows
                if row.get("event") == "points" and row["figure"] == figure and row["kind"] == kind
            )
            must(count >= had.get(figure, 0), f"{kind} points of {figure} fell")
            must(count - had.get(figure, 0) == told, f"{kind} points of {figure}: {told} told, {count} now")


# --- random people


class Dice:
    """Random numbers of the kernel's kind, the same on every machine."""

    def __init__(self, seed: int) -> None:
        self.generator = seed & ((1 << 64) - 1)

    def below(self, count: int) -> int:
        """A whole number from 0 to count - 1."""
        return int(next_random(self) * count)

    def one_of(self, things: Any) -> Any:
        """One of a sequence."""
        return things[self.below(len(things))]


def random_lines(dice: Dice, game: Callable[[], Any]) -> Iterator[str]:
    """What people do, mostly with sense: land, explore, answer; also ask, press, err, wait and cut the power.

    Some people like some fields more than others, and some volcanoes hurry: else few games would come to an end.
    """
    liked = dice.one_of((BOARD.fields, BOARD.fields, BOARD.statues + BOARD.ruins, BOARD.fields[:8] + BOARD.statues[:1]))
    hurry = dice.one_of((0, 1, 1, 8))
    yield "wait 40"
    while True:
        kind = dice.below(100)
        if kind < 62:
            if hurry and dice.below(12) < hurry:
                yield f"chance spawn {dice.one_of(CREATURES)}"
            yield _turn(dice, game(), liked)
            if dice.below(2):
                yield f"wait {dice.one_of((3, 15, 40))}"
        elif kind < 70:
            yield f"{dice.one_of(FIGURES)} {dice.one_of(BOARD.fields)} {dice.one_of(TOUCHES)}"
        elif kind < 75:
            yield f"? {dice.one_of(BOARD.fields)} {dice.one_of(TOUCHES)}"
        elif kind < 78:
            yield f"{dice.one_of(FIGURES)} {dice.one_of(BOARD.fields)} rock"
        elif kind < 82:
            yield dice.one_of(("button", "button", "button", "button long"))
        elif kind < 90:
            yield f"wait {dice.one_of((0.4, 2, 6, 12, 30, 60, 95, 1300))}"
        elif kind < 98:
            draw = dice.one_of((*sorted(TITLE.game.chances), "site"))
            yield f"chance {draw} {dice.one_of(sorted(TITLE.game.chances[draw], key=str))}"
        else:
            yield "power off"
            yield dice.one_of(("power on", "power on", "power on held"))
            yield f"wait {dice.one_of((1, 10, 40))}"


def _turn(dice: Dice, game: Any, liked: Sequence[str]) -> str:
    """An answer of whoever is asked, the next turn of the introduction, or an Explore somewhere."""
    pending = getattr(game, "pending", None)
    if pending and pending.kind != "hermit" and dice.below(10) < 7:
        return f"{pending.figure} {pending.field} {dice.one_of(ANSWERS)}"
    if game is not None and not isinstance(game, InselState) and dice.below(10) < 8:
        turn = BOARD.intro[min(game.step, len(BOARD.intro) - 1)]
        return f"{turn.figure} {turn.field} {dice.one_of(('explore', turn.then or 'explore'))}"
    figure = dice.one_of(FIGURES)
    if not isinstance(game, InselState) or game.over:
        return f"{figure} {dice.one_of(BOARD.boats)} {dice.one_of(('one', 'two', 'three', 'explore', 'explore'))}"
    if figure not in game.landed and dice.below(5):
        return f"{figure} {dice.one_of(BOARD.boats)} explore"
    return f"{figure} {dice.one_of(liked if game.ariki_turn and dice.below(2) else BOARD.fields)} explore"
