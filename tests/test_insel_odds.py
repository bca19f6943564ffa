"""Every draw of whole games against tuning.toml, which is read and reckoned anew here: the odds asked and what came.

Each draw is compared exactly with what the file says for its situation; the outcomes of thousands of draws of each kind
must lie within bounds that chance leaves once in a hundred thousand cases. All is seeded.
"""

from __future__ import annotations

import copy
import math
import tomllib
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from family import BOARD, Family

from firmware.game.insel.board import CREATURES, PEOPLE, RELICS, SITES
from firmware.game.insel.rules import InselRules
from firmware.game.insel.tuning import OWN_TUNING, load_tuning
from firmware.game.kernel import Chance
from firmware.terms import FIGURES, Contact, Figure, Touch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from firmware.game.insel.state import InselState
    from firmware.game.kernel import Odds, Outcome

Numbers = dict[str, Any]
Situation = tuple[Any, ...]
"""What a draw depends on: its kind first."""

NUMBERS: Numbers = tomllib.loads(OWN_TUNING.read_text(encoding="utf-8"))
LEVELS = ("beginner", "advanced", "expert")
KINDS = (
    *("site", "relics", "guardian", "demand", "cards", "beachcomber", "spawn", "attack", "place", "fight"),
    *("gnome_relic", "gnome_cards", "golem_tablet"),
)
GAMES = 24
"""Of each level."""
DRAWS = 4000
"""Of each kind at least."""
KEPT = 150
"""Contacts of each kind that are played again and again."""
MOST_SIGMAS = 4.5
LEAST_VARIANCE = 9.0
"""A cell with less says nothing about its share by the normal law."""


# --- what the file says


def expected(numbers: Numbers, situation: Situation) -> dict[Outcome, float]:
    """Outcome -> probability, of those above 0."""
    kind, *facts = situation
    shares: dict[Outcome, float] = {}
    if kind in ("site", "guardian", "gnome_relic"):
        (left,) = facts
        shares = dict.fromkeys(left, 1.0)
    elif kind == "relics":
        shares = relics(numbers["relics"], *facts)
    elif kind in ("cards", "beachcomber"):
        table = numbers["ariki_cards" if kind == "cards" else "beachcomber_later"]
        shares = dict(enumerate(row(table, *facts)))
    elif kind == "demand":
        (level,) = facts
        table = numbers["guardian_demand"]
        shares = dict.fromkeys(range(table["lowest"][level], table["highest"][level] + 1), 1.0)
    elif kind == "spawn":
        shares = spawn(numbers["clock"], *facts)
    elif kind == "attack":
        (level,) = facts
        shares = yes(numbers["dragon"]["attack_percent"][level])
    elif kind == "place":
        shares = place(numbers, *facts)
    elif kind == "fight":
        shares = fight(numbers, *facts)
    elif kind == "gnome_cards":
        shares = dict(enumerate(numbers["gnome"]["cards_weights"]))
    else:
        assert kind == "golem_tablet"
        shares = yes(numbers["golem"]["tablet_percent"])
    return normal(shares)


def normal(shares: dict[Outcome, float] | Odds) -> dict[Outcome, float]:
    whole = math.fsum(shares.values())
    return {outcome: share / whole for outcome, share in shares.items() if share > 0}


def row(table: Numbers, turns: int) -> list[float]:
    weights: list[list[float]] = table["weights"]
    return weights[bisect_right(table["from_turns"], turns) - 1]


def yes(percent: float) -> dict[Outcome, float]:
    return {"yes": percent, "no": 100 - percent}


def relics(table: Numbers, turns: int) -> dict[Outcome, float]:
    """By the curve; then one more or one less, unless that would leave 0 to 4."""
    more, less = table["one_more_percent"] / 100, table["one_less_percent"] / 100
    shares: dict[Outcome, float] = dict.fromkeys(range(5), 0.0)
    for count, weight in enumerate(row(table, turns)):
        shares[count + 1 if count < 4 else 4] += weight * more
        shares[count - 1 if count > 0 else 0] += weight * less
        shares[count] += weight * (1 - more - less)
    return shares


def spawn(clock: Numbers, level: int, since: tuple[int, int], fed: str, away: str) -> dict[Outcome, float]:
    """Quiet first, then ever likelier, by turns since the Ariki and since the last one; the fed are likelier."""
    since_ariki, since_sent = since
    fed_ones, away_ones = fed.split(), away.split()
    quiet = clock["quiet_turns"] - since_ariki // clock["sooner_every_turns"][level]
    quiet -= clock["sooner_each_fed"] * len(fed_ones)
    chance = clock["chance_percent"][level] + clock["rise_percent"] * (since_sent - quiet - 1)
    chance = min(chance, 100) / 100 if since_sent > quiet and away_ones else 0.0
    weights = {each: clock["fed_weight"] if each in fed_ones else 1 for each in away_ones}
    return {"none": 1 - chance, **{each: chance * weight / sum(weights.values()) for each, weight in weights.items()}}


def place(numbers: Numbers, creature: str, free: tuple[str, ...], favoured: tuple[str, ...]) -> dict[Outcome, float]:
    """Alike, but for the gnome's and golem's favourites and the dragon's ambush; no `creature` is named that moves."""
    if creature == "dragon":
        ambush = numbers["dragon"]["ambush_percent"] / 100
        return {"ambush": ambush, **dict.fromkeys(free, (1 - ambush) / len(free))}
    percent = {"gnome": numbers["gnome"]["at_hermit_percent"], "golem": numbers["golem"]["at_statue_percent"]}
    if creature not in percent or not favoured or len(favoured) == len(free):
        return dict.fromkeys(free, 1.0)
    share = percent[creature] / 100
    others = (1 - share) / (len(free) - len(favoured))
    return {each: share / len(favoured) if each in favoured else others for each in free}


def fight(numbers: Numbers, level: int, count: int, how: str) -> dict[Outcome, float]:
    """By level and relics; the griffin leaves rarely, a golem without a goal does not move, a triton flees first."""
    if how == "flees":
        return {"moves": 1.0}
    weights = numbers["fight"][LEVELS[level]][count - 1]
    vanishes, moves, stays = (weight / sum(weights) for weight in weights)
    if how == "griffin":
        factor = numbers["griffin"]["leave_factor"]
        vanishes, moves, stays = vanishes * factor, moves * factor, 1 - (vanishes + moves) * factor
    elif how == "cornered golem":
        factor = numbers["golem"]["leave_factor"]
        vanishes, moves, stays = (vanishes + moves) * factor, 0.0, 1 - (vanishes + moves) * factor
    return {"vanishes": vanishes, "moves": moves, "stays": stays}


# --- what a draw depends on, seen from outside


def free_fields(state: InselState, creature: str, among: tuple[str, ...] = BOARD.fields) -> tuple[str, ...]:
    """Where nobody stands and the voice has a name for; the dragon needs none."""
    named = (*state.sites, *BOARD.ruins, *BOARD.statues)
    taken = set(state.creatures.values())
    return tuple(each for each in among if each not in taken and (each in named or creature == "dragon"))


def asleep(state: InselState, fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in fields if each in state.statues and state.statues[each] < 7)


def situation_of(state: InselState, kind: str, contact: Contact, earlier: list[tuple[str, Outcome]]) -> Situation:
    """The situation at the moment of the draw."""
    where = contact.field
    if kind == "site":
        zone = BOARD.zone_of[where]
        here = [state.sites[each] for each in BOARD.zones[zone] if each in state.sites]
        people = {"beach": ["beachcomber"], "jungle": ["ariki", "hermit"]}.get(zone, [])
        return kind, tuple(each for each in (*SITES, *PEOPLE) if each in (*SITES, *people) and each not in here)
    if kind in ("relics", "cards", "beachcomber"):
        return kind, state.turn - state.visited[where]
    if kind == "guardian":
        placed = [each.relic for each in state.guardians.values()]
        return kind, tuple(each for each in RELICS if each not in placed)
    if kind == "gnome_relic":
        return kind, RELICS
    if kind in ("demand", "attack"):
        return kind, state.level
    if kind == "spawn":
        away = [each for each in CREATURES if each not in state.creatures and not (state.ambush and each == "dragon")]
        since = (state.turn - state.ariki_turn, state.turn - state.sent_turn)
        return kind, state.level, since, " ".join(sorted(state.fed)), " ".join(away)
    if kind == "place":
        return place_of(state, contact, earlier)
    if kind == "fight":
        return kind, state.level, contact.touch.number, manner(state, contact)
    return (kind,)


def place_of(state: InselState, contact: Contact, earlier: list[tuple[str, Outcome]]) -> Situation:
    (drawn, outcome), creature = earlier[-1], state.creature_on(contact.field) or ""
    if drawn == "spawn":
        free = free_fields(state, str(outcome))
        hermits = tuple(each for each in free if state.sites.get(each) == "hermit")
        favoured = {"gnome": hermits, "golem": asleep(state, free)}.get(str(outcome), ())
        return "place", str(outcome), free, favoured
    free = free_fields(state, creature)
    if creature == "golem":
        free = asleep(state, free)
    elif manner(state, contact) == "flees":
        free = free_fields(state, creature, BOARD.neighbours[contact.field])
    return "place", "", tuple(sorted(free)), ()


def manner(state: InselState, contact: Contact) -> str:
    """How the creature on the contact's field behaves in a fight; the triton's fights count the present one."""
    creature = state.creature_on(contact.field) or ""
    if creature == "triton" and state.triton_fights[contact.figure] <= NUMBERS["triton"]["fled_fights"]:
        return "flees" if free_fields(state, creature, BOARD.neighbours[contact.field]) else ""
    if creature == "golem" and not asleep(state, free_fields(state, creature)):
        return "cornered golem"
    return "griffin" if creature == "griffin" else ""


# --- games


class Observer(Chance):
    """Seeded chance that notes every draw with its situation, the odds asked and what came."""

    def __init__(self) -> None:
        super().__init__()
        self.contact = Contact(FIGURES[0], "", Touch.EXPLORE)
        self.seen: dict[Situation, Draws] = defaultdict(Draws)
        self.counts: Counter[str] = Counter()
        self.noted: list[str] = []

    def draw(self, state: Any, kind: str, odds: Odds) -> Outcome:
        situation = situation_of(state, kind, self.contact, self.drawn)
        outcome = super().draw(state, kind, odds)
        draws = self.seen[situation]
        draws.outcomes[outcome] += 1
        asked = {each: weight for each, weight in odds.items() if weight > 0}
        if asked not in draws.odds:
            draws.odds.append(asked)
        self.counts[kind] += 1
        self.noted.append(kind)
        return outcome


@dataclass
class Draws:
    """All draws of one situation."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    odds: list[dict[Outcome, float]] = field(default_factory=list)


class Games:
    """Games that the family plays on the rules alone, and contacts of theirs that are played again with other luck."""

    def __init__(self, rules: InselRules) -> None:
        self.rules, self.chance = rules, Observer()
        self.kept: dict[str, list[tuple[InselState, Contact]]] = defaultdict(list)
        self.running: InselState | None = None
        self.seed = 0

    def play_all(self, games: int) -> None:
        for level in ("one", "two", "three"):
            for self.seed in range(games):
                self.running = None
                Family(
                    self.line, self.state, players=2 + self.seed % 3, level=level, seed=self.seed, clumsy=False
                ).game()

    def state(self) -> Any:
        return self.running

    def line(self, line: str) -> list[dict[str, Any]]:
        if line.startswith("wait"):
            return []
        figure, place, touch = line.split()
        contact = Contact(Figure(figure), place, Touch(touch))
        if self.running is None:
            self.running = self.rules.start(contact, self.seed)
        before = self.running.clone()
        rows = self.accept(self.running, contact)
        for kind in set(self.chance.noted):
            if len(self.kept[kind]) < KEPT:
                self.kept[kind].append((before, contact))
        return rows

    def accept(self, state: InselState, contact: Contact) -> list[dict[str, Any]]:
        self.chance.contact = contact
        self.chance.drawn.clear()
        self.chance.noted.clear()
        return [event.row() for event in self.rules.accept(state, contact, self.chance)]

    def play_again(self, draws: int, kinds: tuple[str, ...] = KINDS) -> None:
        """Until there are so many draws of each kind."""
        for kind in kinds:
            number = 0
            while self.chance.counts[kind] < draws:
                before, contact = self.kept[kind][number % len(self.kept[kind])]
                state = before.clone()
                number += 1
                state.generator = number * 0x9E3779B9 + self.chance.counts[kind]
                self.accept(state, contact)


@cache
def observed() -> Observer:
    """The draws of games with the numbers that come with the game."""
    games = Games(InselRules())
    games.play_all(GAMES)
    games.play_again(DRAWS)
    return games.chance


def group_of(situation: Situation) -> str:
    """Draws that are counted together: of a kind, by level, row of the curve, relics and manner of fighting."""
    kind, *facts = situation
    if kind in ("relics", "cards", "beachcomber"):
        table = NUMBERS[{"relics": "relics", "cards": "ariki_cards", "beachcomber": "beachcomber_later"}[kind]]
        return f"{kind} row {bisect_right(table['from_turns'], facts[0])}"
    if kind in ("fight", "attack", "demand"):
        return " ".join(map(str, situation))
    if kind == "spawn":
        return f"{kind} level {facts[0]}"
    return f"{kind} of {facts[0]}" if kind == "place" else kind


def misfits(observer: Observer, numbers: Numbers, kind: str) -> list[str]:
    """Where odds or outcomes are not what the numbers say, one line each."""
    found: list[str] = []
    sums: dict[tuple[str, Outcome], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for situation, draws in observer.seen.items():
        if situation[0] != kind:
            continue
        shares = expected(numbers, situation)
        found += [
            f"{situation}: asked {normal(odds)}, the file says {shares}"
            for odds in draws.odds
            if normal(odds) != pytest.approx(shares, abs=1e-9)
        ]
        count = draws.outcomes.total()
        for outcome in shares.keys() | draws.outcomes.keys():
            cell = sums[group_of(situation), outcome]
            share = shares.get(outcome, 0.0)
            cell[0] += draws.outcomes[outcome]
            cell[1] += share * count
            cell[2] += share * (1 - share) * count
    for (group, outcome), (came, mean, variance) in sums.items():
        if variance >= LEAST_VARIANCE and abs(came - mean) > MOST_SIGMAS * math.sqrt(variance):
            found.append(f"{group}: {outcome} came {came:.0f} times, expected {mean:.0f}")
    return found


# --- tests


@pytest.mark.parametrize("kind", KINDS)
def test_draws_follow_the_file(kind: str) -> None:
    assert observed().counts[kind] >= DRAWS
    assert misfits(observed(), NUMBERS, kind) == []


def test_all_situations_have_come() -> None:
    """Else a row of the file would be proved by nobody."""
    seen = {group_of(situation) for situation in observed().seen}
    for kind, table in (("relics", "relics"), ("cards", "ariki_cards"), ("beachcomber", "beachcomber_later")):
        assert {f"{kind} row {number + 1}" for number in range(len(NUMBERS[table]["from_turns"]))} <= seen
    assert {
        f"fight {level} {count} {how}" for level in range(3) for count in (1, 2, 3) for how in ("", "griffin")
    } <= seen
    assert any("cornered golem" in group for group in seen)
    assert any("flees" in group for group in seen)
    assert {f"place of {each}" for each in (*CREATURES, "")} <= seen


DRAWN_FROM = {
    "relics": "relics",
    "ariki_cards": "cards",
    "beachcomber_later": "beachcomber",
    "guardian_demand": "demand",
    "clock": "spawn",
    "fight": "fight",
    "griffin": "fight",
    "dragon": "attack",
    "gnome": "gnome_cards",
    "golem": "golem_tablet",
}
ELSEWHERE = {
    ("golem", "leave_factor"): "fight",
    ("golem", "at_statue_percent"): "place",
    ("gnome", "at_hermit_percent"): "place",
    ("dragon", "ambush_percent"): "place",
}
NOT_DRAWN = {("griffin", "strength_relics"), ("gnome", "twice_points"), ("dragon", "range_paths")}


def mutations() -> Iterator[tuple[str, str, Numbers]]:
    """Every number that draws depend on, a tenth more, at least one more where it counts turns or relics."""
    for table, kind in DRAWN_FROM.items():
        for key, value in NUMBERS[table].items():
            if key in ("grade", "source") or (table, key) in NOT_DRAWN:
                continue
            for path in paths(value):
                changed = copy.deepcopy(NUMBERS)
                holder, last = changed[table], key
                for index in path:
                    holder, last = holder[last], index
                counts = key in (
                    "from_turns",
                    "lowest",
                    "highest",
                    "quiet_turns",
                    "sooner_every_turns",
                    "sooner_each_fed",
                )
                holder[last] += max(1, round(holder[last] / 10)) if counts else holder[last] / 10
                yield f"{table}.{key}{list(path)}", ELSEWHERE.get((table, key), kind), changed


def paths(value: Any) -> Iterator[tuple[int, ...]]:
    """Where numbers stand in a value; a weight alone in its row is the whole of it, whatever its size."""
    if isinstance(value, int | float):
        yield ()
    elif value and isinstance(value[0], list):
        for number, each in enumerate(value):
            if sum(weight > 0 for weight in each) > 1:
                yield from ((number, *path) for path in paths(each))
    else:
        yield from ((number,) for number, each in enumerate(value) if each)


MUTATIONS = list(mutations())


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "changed"), [each[1:] for each in MUTATIONS], ids=[each[0] for each in MUTATIONS])
def test_a_number_changed_by_a_tenth_would_be_noticed(kind: str, changed: Numbers) -> None:
    assert misfits(observed(), changed, kind)


@pytest.mark.slow
def test_outcomes_alone_give_a_changed_weight_away(tmp_path: Path) -> None:
    """With the odds out of sight: what came from a file with other numbers is not what this file lets expect."""
    text = OWN_TUNING.read_text(encoding="utf-8")
    other = tmp_path / "tuning.toml"
    other.write_text(text.replace("cards_weights = [40, 40, 20]", "cards_weights = [40, 44, 20]"), encoding="utf-8")
    games = Games(InselRules(tuning=load_tuning(other)))
    games.play_all(4)
    games.play_again(25_000, ("gnome_cards",))
    for draws in games.chance.seen.values():
        draws.odds.clear()
    assert any("expected" in each for each in misfits(games.chance, NUMBERS, "gnome_cards"))
    assert not misfits(games.chance, tomllib.loads(other.read_text(encoding="utf-8")), "gnome_cards")
