"""The seven Creatures of Fire: the volcano's clock, appearing, meeting, fighting, and each one's behaviour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.game.insel.board import CREATURES, RELICS, Kind
from firmware.game.insel.events import (
    ArikiCards,
    CreatureAppeared,
    CreatureMet,
    DragonAttacks,
    Fought,
    Strengthened,
)
from firmware.game.insel.play import CREATURE
from firmware.game.insel.state import FIGHT, Pending

if TYPE_CHECKING:
    from collections.abc import Iterable

    from firmware.game.insel.play import Play
    from firmware.game.kernel import Odds, Outcome
    from firmware.terms import Figure

FOUGHT_WITH = {
    "spider": ("elixir",),
    "snake": RELICS,
    "griffin": ("crystal",),
    "dragon": ("amulet",),
    "triton": ("stone",),
    "golem": ("stone",),
}
"""Creature -> relics (rulebook, Fighting creatures and Tips; triton and golem designed). The gnome's is drawn."""

AMBUSH = "ambush"
"""The dragon's `place` when it will come at the start of the next turn."""


# --- appearing


def answer_of_the_volcano(play: Play) -> None:
    """At the end of a turn the volcano may send a creature, once the Ariki is known."""
    if not play.state.ariki_turn:
        return
    creature = play.draw("spawn", _spawn_odds(play))
    if creature != "none":
        play.state.sent_turn = play.state.turn
        place = play.draw("place", _appearing_odds(play, creature))
        if place == AMBUSH:
            play.state.ambush = True
        else:
            _arrive(play, creature, place)
            _end_if_all_came(play)


def chance_of_a_creature(play: Play) -> float:
    """The volcano's clock: how likely a creature is at the end of this turn, 0..1."""
    clock, state = play.tuning.clock, play.state
    sooner = (state.turn - state.ariki_turn) // clock.sooner_every_turns[state.level]
    sooner += clock.sooner_each_fed * len(state.fed)
    loud_turns = state.turn - state.sent_turn - (clock.quiet_turns - sooner)
    if loud_turns <= 0:
        return 0.0
    return min(1.0, clock.chance[state.level] + clock.rise * (loud_turns - 1))


def _spawn_odds(play: Play) -> Odds:
    """None, or any creature off the island; a fed one is the likelier (rulebook, Tips)."""
    state = play.state
    away = [each for each in CREATURES if each not in state.creatures and not (each == "dragon" and state.ambush)]
    if not away:
        return {"none": 1.0}
    chance = chance_of_a_creature(play)
    weights = [play.tuning.clock.fed_weight if each in state.fed else 1.0 for each in away]
    share = chance / sum(weights)
    odds: dict[Outcome, float] = {"none": 1.0 - chance}
    for creature, weight in zip(away, weights, strict=True):
        odds[creature] = weight * share
    return odds


def _appearing_odds(play: Play, creature: str) -> Odds:
    """Where a creature may appear: never where another stands, and only where the voice can name the place."""
    numbers, state = play.tuning.creatures, play.state
    free = _free(play, creature)
    if creature == "dragon":
        odds: dict[Outcome, float] = dict.fromkeys(free, (1 - numbers.ambush) / len(free))
        odds[AMBUSH] = numbers.ambush
        return odds
    if creature == "gnome":
        return _favouring([each for each in free if state.sites.get(each) == "hermit"], free, numbers.gnome_at_hermit)
    if creature == "golem":
        return _favouring(_sleeping(play, free), free, numbers.golem_at_statue)
    return dict.fromkeys(free, 1.0)


def _favouring(favoured: list[str], free: list[str], share: float) -> Odds:
    """`share` for the favoured fields together, the rest for the others alike."""
    others = len(free) - len(favoured)
    if not favoured or not others:
        return dict.fromkeys(free, 1.0)
    odds: dict[Outcome, float] = dict.fromkeys(free, (1 - share) / others)
    for field in favoured:
        odds[field] = share / len(favoured)
    return odds


def _free(play: Play, creature: str, fields: Iterable[str] | None = None) -> list[str]:
    """The fields (of the board, if none are given) where no creature stands and that the volcano can name.

    The dragon alone may stand on an unexplored field (rulebook, The appearance of the creatures, its attack).
    """
    state, kinds = play.state, play.board.kinds
    taken = state.creatures.values()
    return [
        field
        for field in (play.board.fields if fields is None else fields)
        if field not in taken and (field in state.sites or creature == "dragon" or kinds[field] is not Kind.SITE)
    ]


def _sleeping(play: Play, fields: Iterable[str]) -> list[str]:
    """Those of the fields that are statues not yet awake."""
    statues, tablets = play.state.statues, play.tuning.statues.tablets
    return [field for field in fields if statues.get(field, tablets) < tablets]


def _arrive(play: Play, creature: str, place: str) -> None:
    state = play.state
    state.creatures[creature] = place
    state.fed = tuple(each for each in state.fed if each != creature)
    play.tell(CreatureAppeared(creature, place))


def _end_if_all_came(play: Play) -> None:
    """All seven at once end the game (rulebook, Object of the Game)."""
    if len(play.state.creatures) == len(CREATURES):
        play.finish("creatures")


# --- the dragon's attack


def dragon_at_the_start(play: Play, figure: Figure, place: str) -> None:
    """At an Explore on a field without a creature the dragon may come (rulebook, Exception and Tips)."""
    state, numbers = play.state, play.tuning.creatures
    lair = state.creatures.get("dragon")
    if (lair is None and not state.ambush) or state.creature_on(place):
        return
    if lair is None:
        state.ambush = False
        _arrive(play, "dragon", place)
        play.tell(DragonAttacks(figure, place))
        _end_if_all_came(play)
    elif (
        play.board.distances[lair][place] <= numbers.range_paths[state.level]
        and play.draw("attack", numbers.attack[state.level]) == "yes"
    ):
        state.creatures["dragon"] = place
        play.tell(DragonAttacks(figure, place))


# --- meeting and fighting


def meet(play: Play, figure: Figure, place: str, creature: str) -> bool:
    """The creature on the field cries. True if it fled at once from the figure's strength, else a fight is open."""
    state = play.state
    if creature == "gnome":
        relics: tuple[str, ...] = (play.draw("gnome_relic", dict.fromkeys(RELICS, 1.0)),)
    else:
        relics = FOUGHT_WITH[creature]
    play.tell(CreatureMet(figure, creature, place, relics))
    if figure in state.strong and creature != "griffin":
        state.strong = tuple(each for each in state.strong if each != figure)
        del state.creatures[creature]
        play.tell(Fought(figure, creature, "strength", 0, "vanishes"))
        _reward(play, figure, creature, play.tuning.creatures.values[creature])
        return True
    state.pending = Pending(FIGHT, figure, place, creature, relics)
    return False


def satisfy(play: Play, figure: Figure, creature: str) -> None:
    """A tablet drives off any creature, which comes back the sooner (rulebook, Fighting creatures and Tips)."""
    state = play.state
    del state.creatures[creature]
    state.fed += (creature,)
    play.tell(Fought(figure, creature, "tablet", 1, "vanishes"))
    _reward(play, figure, creature, play.tuning.creatures.fed_points)


def fight(play: Play, figure: Figure, place: str, creature: str, count: int) -> bool:
    """A fight with `count` relics; True if the creature left the field."""
    state, numbers = play.state, play.tuning.creatures
    goals, flees = _goals(play, figure, place, creature)
    if creature == "triton":
        state.triton_fights[figure] += 1
    outcome = play.draw("fight", {"moves": 1.0} if flees else _fight_odds(play, creature, count, goals))
    to = None
    if outcome == "vanishes":
        del state.creatures[creature]
    elif outcome == "moves":
        to = state.creatures[creature] = play.draw("place", dict.fromkeys(goals, 1.0))
    play.tell(Fought(figure, creature, "relics", count, outcome, to))
    if outcome == "vanishes":
        _reward(play, figure, creature, numbers.values[creature])
    elif outcome == "moves":
        _reward(play, figure, creature, 0 if flees else numbers.moved_points)
    if creature == "griffin" and count == numbers.strength_relics and figure not in state.strong:
        state.strong += (figure,)
        play.tell(Strengthened(figure))
    return outcome != "stays"


def _goals(play: Play, figure: Figure, place: str, creature: str) -> tuple[list[str], bool]:
    """Where the creature can move to, and whether it is the triton that only flees (rulebook, Tips)."""
    if creature == "golem":
        return _sleeping(play, _free(play, creature)), False
    if creature == "triton" and play.state.triton_fights[figure] < play.tuning.creatures.triton_fled:
        near = _free(play, creature, play.board.neighbours[place])
        if near:
            return near, True
    return _free(play, creature), False


def _fight_odds(play: Play, creature: str, count: int, goals: list[str]) -> Odds:
    """The level's odds, as far as this creature keeps to them."""
    numbers = play.tuning.creatures
    odds = numbers.fight[play.state.level][count - 1]
    leaves = 1 - odds["stays"]
    if creature == "griffin":
        rarely = numbers.griffin_leaves
        return {"vanishes": odds["vanishes"] * rarely, "moves": odds["moves"] * rarely, "stays": 1 - leaves * rarely}
    if creature == "golem" and not goals:
        return {"vanishes": leaves * numbers.golem_leaves, "stays": 1 - leaves * numbers.golem_leaves}
    return odds


def _reward(play: Play, figure: Figure, creature: str, points: int) -> None:
    """Points for a creature that left the field, and what it leaves behind."""
    state, numbers = play.state, play.tuning.creatures
    play.score(figure, points, CREATURE)
    if creature == "gnome":
        twice = state.gnome_driver == figure
        state.gnome_driver = None if twice else figure
        if twice:
            play.score(figure, numbers.gnome_twice_points, CREATURE)
        cards = play.draw_number("gnome_cards", numbers.gnome_cards)
        if cards:
            play.tell(ArikiCards(figure, cards))
    elif creature == "golem" and play.draw("golem_tablet", numbers.golem_tablet) == "yes":
        play.grant_tablets(figure, 1, "golem")
