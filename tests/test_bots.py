"""Bots: they see what a player sees, play by the rules, are decided by their seed, and play to their habits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from firmware.game.insel.balance import Contest, new_game, play_some
from firmware.game.insel.bots import HABITS, SKILLS, Bot, RandomPlayer
from firmware.game.insel.hand import Hand, Seen, View
from firmware.game.insel.island import Island, Keeper
from firmware.game.insel.material import Card, load_material
from firmware.game.insel.moves import (
    Again,
    Burn,
    Exchange,
    Give,
    Go,
    Land,
    Lay,
    Pass,
    Payment,
    Phase,
    Question,
    Rescue,
    Take,
    Trick,
    Way,
)
from firmware.game.insel.rules import InselRules
from firmware.game.insel.state import FIGHT, GUARDIAN, STATUE, TABLET
from firmware.game.kernel import next_random
from firmware.terms import FIGURES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from firmware.game.insel.moves import Move

RULES = InselRules()
BOARD, TUNING = RULES.board, RULES.tuning
MATERIAL = load_material()
WHITE, RED = FIGURES[:2]
NO_TABLETS: dict[str, list[str]] = {statue: [] for statue in BOARD.statues}


def bot(habit: str = "cooperative", skill: str = "experienced", seed: int = 1) -> Bot:
    return Bot(HABITS[habit], replace(SKILLS[skill], error_points=0.0), BOARD, TUNING, seed)


def view(
    *,
    at: str = "jungle-s",
    phase: Phase = Phase.ANSWER,
    asked: Question | None = None,
    hand: Hand | None = None,
    **more: Any,
) -> View:
    """White at a field of an island where little is known; `more` are fields of the view or the island."""
    island = Island(BOARD, turn=40, places={WHITE: at, RED: "beach-sw"}, laid={statue: [] for statue in BOARD.statues})
    island.sites = {"jungle-w": "ariki", "jungle-s": "well"}
    island.visited = {"jungle-w": 38, "jungle-s": 38}
    island.ariki_known = True
    island.explored = {WHITE: {"jungle-s"}, RED: set()}
    island.island_points = {WHITE: 0, RED: 0}
    island.creature_points = {WHITE: 0, RED: 0}
    island.triton_fights = {WHITE: 0, RED: 0}
    for name in [name for name in more if hasattr(island, name)]:
        setattr(island, name, more.pop(name))
    made = View(
        figure=WHITE,
        hand=hand or Hand(),
        island=island,
        others={RED: Seen({}, 0, 0)},
        supply=dict.fromkeys(("amulet", "elixir", "crystal", "stone"), 15),
        burned={},
        heap=20,
        cards_free=True,
        phase=phase,
        asked=asked,
        jump=False,
        choices=0,
        exchanges=0,
        free_steps=2,
    )
    return replace(made, **more)


def holding(relics: str = "", tablets: str = "", cards: str = "") -> Hand:
    hand = Hand()
    for relic in relics.split():
        hand.relics[relic] += 1
    for colour in tablets.split():
        hand.tablets[colour] = hand.tablets.get(colour, 0) + 1
    for card in cards.split():
        hand.cards[Card(card)] = hand.cards.get(Card(card), 0) + 1
    return hand


def none() -> Sequence[Move]:
    raise AssertionError("a sensible bot needs no list of all moves")


# --- only what a player sees


@pytest.mark.parametrize("habit", HABITS)
def test_what_is_hidden_changes_no_decision(habit: str) -> None:
    """A bot decides alike when the piles are turned over and the others hold other hidden cards."""
    game = new_game(Contest(bots=habit, seed=4), 3, RULES, MATERIAL)
    table = game.table
    moves = 0
    while not table.over and moves < 160:
        moves += 1
        other = table.clone()
        other.heap.reverse()
        other.pile.reverse()
        for figure, hand in other.hands.items():
            if figure is not table.figure:
                counts = [*hand.relics.values()]
                hand.relics = dict(zip(hand.relics, (*counts[1:], counts[0]), strict=True))
                hand.cards = {Card.TRICKED: sum(hand.cards.values())}
        player = game.players[table.seat]
        assert isinstance(player, Bot)
        before = player.generator
        guess = player.choose(other.view(), none)
        player.generator = before
        assert game.step().move == guess
    assert moves > 60


def test_a_view_holds_nothing_hidden() -> None:
    table = new_game(Contest(), 0, RULES, MATERIAL).table
    seen = table.view()
    assert seen.hand is table.hand
    assert all(isinstance(other, Seen) for other in seen.others.values())
    assert isinstance(seen.heap, int)
    assert not {"pile", "hands", "generator", "heap_order"} & {*View.__slots__}


# --- chance of their own


def test_the_seed_decides() -> None:
    assert play_some(Contest(seed=5), [7]) == play_some(Contest(seed=5), [7])
    assert play_some(Contest(seed=5), [7]) != play_some(Contest(seed=6), [7])


def test_a_random_player_makes_every_move_sooner_or_later() -> None:
    allowed = [Land(field) for field in BOARD.boats]
    player = RandomPlayer(3)
    assert {player.choose(view(), lambda: allowed) for _ in range(200)} == {*allowed}


def test_novices_err_more() -> None:
    spread = {
        skill: [Bot(HABITS["builder"], SKILLS[skill], BOARD, TUNING, seed)._error() for seed in range(200)]
        for skill in SKILLS
    }
    assert max(spread["novice"]) > max(spread["average"]) > max(spread["experienced"]) > 0
    assert all(abs(sum(errors)) / 200 < 0.2 for errors in spread.values())


# --- sensible answers


def test_a_guardian_gets_what_he_misses_and_no_more() -> None:
    keepers = {"ruin-s": Keeper("stone", 2)}
    asked = Question(GUARDIAN, ("stone",))
    rich = view(at="ruin-s", asked=asked, hand=holding("stone stone stone"), keepers=keepers)
    assert bot().choose(rich, none) == Give(Payment(("stone", "stone")))
    assert bot().choose(view(at="ruin-s", asked=asked, keepers=keepers), none) == Pass()
    card = view(at="ruin-s", asked=asked, hand=holding("stone", cards="additional_relics"), keepers=keepers)
    assert bot().choose(card, none) == Give(Payment(("stone",), (1,)))


def test_a_tablet_is_bought_where_the_relics_suffice() -> None:
    asked = Question(TABLET, ("stone",), 2)
    keepers = {"ruin-s": Keeper("stone", 0, resting=True)}
    assert bot().choose(view(at="ruin-s", asked=asked, hand=holding("stone"), keepers=keepers), none) == Pass()
    enough = view(at="ruin-s", asked=asked, hand=holding("stone stone"), keepers=keepers)
    assert bot().choose(enough, none) == Give(Payment(("stone", "stone")))
    assert bot().choose(replace(enough, heap=0), none) == Pass(), "the heap is empty"


def test_tablets_are_laid_as_many_as_fit() -> None:
    laid = NO_TABLETS | {"statue-s": ["red", "blue"]}
    asked = Question(STATUE)
    seen = view(at="statue-s", asked=asked, hand=holding(tablets="red red grey white"), laid=laid)
    assert bot().choose(seen, none) == Lay(("grey", "white"))
    more = view(at="statue-s", asked=asked, hand=holding(tablets="red grey", cards="colourless_tablet"), laid=laid)
    assert bot().choose(more, none) == Lay(("grey", "red"))
    assert bot().choose(view(at="statue-s", asked=asked, hand=holding(tablets="red"), laid=laid), none) == Pass()


def test_a_creature_is_fought_with_what_it_fears() -> None:
    asked = Question(FIGHT, ("elixir",), creature="spider")
    here = {"spider": "jungle-s"}
    fight = bot("fighter").choose(view(asked=asked, hand=holding("elixir elixir elixir stone"), creatures=here), none)
    assert isinstance(fight, Give)
    assert set(fight.payment.relics) == {"elixir"}
    assert bot().choose(view(asked=asked, hand=holding("stone"), creatures=here), none) == Pass()


def test_when_the_seventh_creature_threatens_tablets_burn_and_tricks_are_played() -> None:
    crowd = dict(
        zip(
            ("spider", "snake", "griffin", "dragon", "gnome", "golem"),
            ("jungle-s", *BOARD.ruins, "statue-n"),
            strict=True,
        )
    )
    asked = Question(FIGHT, ("elixir",), creature="spider")
    assert bot().choose(view(asked=asked, hand=holding(tablets="red red grey"), creatures=crowd), none) == Burn("red")
    assert bot().choose(view(asked=asked, hand=holding(cards="tricked"), creatures=crowd), none) == Trick()
    alone = {"spider": "jungle-s"}
    assert bot().choose(view(asked=asked, hand=holding(tablets="red"), creatures=alone), none) == Pass()


def test_the_beachcomber_turns_what_is_useless_into_what_is_wanted() -> None:
    keepers = {"ruin-s": Keeper("stone", 8)}
    seen = view(hand=holding("elixir"), keepers=keepers)
    assert bot().choose(replace(seen, choices=1), none) == Take("stone")
    assert bot().choose(replace(seen, exchanges=1), none) == Exchange("elixir", "stone")
    assert bot().choose(replace(view(hand=holding("stone"), keepers=keepers), exchanges=1), none) == Pass()


def test_a_burned_tablet_is_fetched() -> None:
    seen = view(phase=Phase.START, hand=holding(cards="fireproof_tablet"))
    assert bot().choose(replace(seen, burned={"red": 1}), none) == Rescue("red")


# --- sensible ways


def test_seven_tablets_call_their_owner_to_the_statue() -> None:
    laid = NO_TABLETS | {"statue-s": ["red", "blue", "grey", "white"]}
    seen = view(phase=Phase.START, hand=holding(tablets="yellow orange purple"), laid=laid)
    assert bot().choose(seen, none) == Go("statue-s")
    far = NO_TABLETS | {"statue-n": ["red", "blue", "grey", "white"]}
    flies = view(phase=Phase.START, hand=holding(tablets="yellow orange purple", cards="flying"), laid=far)
    assert bot().choose(flies, none) == Go("statue-n", Way.FLYING)


def test_the_cave_is_used() -> None:
    sites = {"jungle-w": "ariki", "jungle-s": "hermit"}
    far = NO_TABLETS | {"statue-n": ["red", "blue", "grey", "white"]}
    hand = holding(tablets="yellow orange purple")
    assert bot().choose(view(phase=Phase.START, hand=hand, laid=far, sites=sites), none) == Go("statue-n", Way.CAVE)
    jumping = replace(view(hand=hand, laid=far, sites=sites), jump=True)
    assert bot().choose(jumping, none) == Go("statue-n", Way.JUMP)


def test_a_double_turn_is_kept_for_something_worth_it() -> None:
    sites = dict.fromkeys((field for zone in BOARD.zones.values() for field in zone), "well")
    quiet = view(phase=Phase.END, hand=holding(cards="double_turn"), sites=sites)
    quiet.island.visited = dict.fromkeys(sites, 40)
    quiet.island.explored[WHITE] = {*sites}
    quiet.island.keepers = {ruin: Keeper("stone", 5) for ruin in BOARD.ruins}
    assert bot().choose(quiet, none) == Pass()
    busy = view(at="beach-s", phase=Phase.END, hand=holding(tablets="red blue", cards="double_turn"))
    assert bot().choose(busy, none) == Again()


def test_a_bot_lands_where_a_boat_is_free() -> None:
    seen = view(phase=Phase.LAND, places={RED: "beach-s"})
    landings = {bot(seed=seed).choose(seen, none) for seed in range(40)}
    assert landings == {Land(field) for field in BOARD.boats if field != "beach-s"}


# --- habits


@pytest.mark.parametrize(("habit", "source"), [("fighter", "creatures"), ("explorer", "discoveries")])
def test_habits_show(habit: str, source: str) -> None:
    """Tables of one habit each, the same games: each habit leads in what it cares for."""

    def total(name: str) -> float:
        games = play_some(Contest(bots=name, seed=2), range(8))
        if source == "creatures":
            return sum(sum(game.creature_points) / game.turns for game in games)
        return sum(discoveries(Contest(bots=name, seed=2), number) for number in range(6))

    totals = {name: total(name) for name in HABITS}
    assert totals[habit] == max(totals.values()), totals


def discoveries(contest: Contest, number: int) -> float:
    """How many of the first 24 turns explored something new."""
    game = new_game(contest, number, RULES, MATERIAL)
    island = game.table.island
    while island.turn < 24:
        game.step()
    return len(island.sites)


def test_error_draws_come_from_the_bot_s_own_generator() -> None:
    one = bot(seed=9)
    copy = bot(seed=9)
    next_random(copy)
    one._error()
    assert one.generator == copy.generator
