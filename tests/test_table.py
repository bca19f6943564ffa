"""The players' side of Die Insel: what a player may do with figure, relics, tablets and Ariki cards, and why not."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.config import ConfigError
from firmware.game.insel.board import RELICS
from firmware.game.insel.material import Card, load_material
from firmware.game.insel.moves import (
    NOTHING,
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
    Rescue,
    Take,
    Trick,
    Way,
)
from firmware.game.insel.rules import InselRules
from firmware.game.insel.table import NotAllowed, Table
from firmware.game.kernel import ScriptedChance
from firmware.terms import FIGURES, Contact, Figure, Touch

if TYPE_CHECKING:
    from pathlib import Path

    from firmware.game.insel.moves import Move
    from firmware.game.insel.state import InselState
    from firmware.game.kernel import Event, Odds, Outcome

RULES = InselRules()
MATERIAL = load_material()
WHITE, RED = FIGURES[:2]
QUIET: dict[str, Outcome] = {"spawn": "none", "attack": "no", "relics": 0, "cards": 0, "beachcomber": 0}


class Quiet(ScriptedChance):
    """What a test does not script is quiet."""

    def choose(self, kind: str, odds: Odds, drawn: Outcome) -> Outcome:
        if not self.queues.get(kind) and kind in QUIET:
            return QUIET[kind]
        return super().choose(kind, odds, drawn)


class Evening:
    """A table and the volcano together."""

    def __init__(self, players: int = 2, *, level: int = 0, seed: int = 3) -> None:
        self.table = Table(RULES.board, MATERIAL, FIGURES[:players], seed=seed, level=level)
        self.chance = Quiet()
        self.states: list[InselState] = []
        self.contacts: list[Contact] = []

    def play(self, *moves: Move, **chances: Outcome) -> list[Event]:
        """Play moves, with the next draw of each kind as given; what the volcano told."""
        for kind, outcome in chances.items():
            self.chance.queue(kind, outcome)
        told: list[Event] = []
        for move in moves:
            contact = self.table.play(move)
            if contact is not None:
                if not self.states:
                    self.states.append(RULES.start(contact, 7))
                events = RULES.accept(self.states[0], contact, self.chance)
                self.table.hear(contact, events)
                self.contacts.append(contact)
                told += events
        assert not self.chance.refused
        return told

    def hold(self, figure: Figure = WHITE, *, relics: str = "", tablets: str = "", cards: str = "") -> None:
        """Put this into a figure's hand, relics from their piles."""
        hand = self.table.hands[figure]
        for relic in relics.split():
            hand.relics[relic] += 1
            self.table.supply[relic] -= 1
        for colour in tablets.split():
            self.table.heap.remove(colour)
            hand.tablets[colour] = hand.tablets.get(colour, 0) + 1
        for card in map(Card, cards.split()):
            self.table.pile.remove(card)
            hand.cards[card] = hand.cards.get(card, 0) + 1

    def refuses(self, move: Move) -> str:
        """Why a move is not allowed; nothing changes, and it is not among the moves."""
        reason = self.table.why_not(move)
        assert move not in self.table.moves()
        with pytest.raises(NotAllowed, match=r"\.$"):
            self.table.play(move)
        return reason


def landed(players: int = 2, **more: int) -> Evening:
    """White in the south at the temple, Red in the southwest at the well; White's turn."""
    evening = Evening(players, **more)
    evening.play(Land("beach-s"), site="temple")
    evening.play(Land("beach-sw"), site="well")
    return evening


def ariki_known() -> Evening:
    """White has found the Ariki in the south of the jungle, Red waits at the well; White's turn again."""
    evening = landed()
    evening.play(Go("jungle-s"), site="ariki")
    evening.play(Go("beach-sw"))
    return evening


def test_the_box_holds_what_the_rulebook_lists() -> None:
    table = Evening(4).table
    assert table.supply == dict.fromkeys(RELICS, 15)
    assert sorted(Counter(table.heap).values()) == [6] * 7
    assert len(table.pile) == 15
    assert [hand.card_count for hand in table.hands.values()] == [2] * 4


def test_the_seed_shuffles() -> None:
    assert Evening(seed=1).table.heap == Evening(seed=1).table.heap
    assert Evening(seed=1).table.heap != Evening(seed=2).table.heap


# --- landing and walking


def test_everybody_lands_on_a_boat_field_of_his_own() -> None:
    evening = Evening(2, level=2)
    assert evening.table.moves() == [Land(field) for field in RULES.board.boats]
    assert "boat" in evening.refuses(Land("jungle-s"))
    evening.play(Land("beach-s"), site="temple")
    assert evening.contacts == [Contact(WHITE, "beach-s", Touch.THREE)]
    assert "Another figure" in evening.refuses(Land("beach-s"))
    evening.play(Land("beach-sw"), site="well")
    assert evening.contacts[1] == Contact(RED, "beach-sw", Touch.EXPLORE)
    assert evening.table.figure == WHITE
    assert evening.table.hands[WHITE].relics["amulet"] == 1
    assert "on the island" in evening.refuses(Land("beach-ne"))


def test_two_fields_are_free_and_each_further_one_costs_a_relic() -> None:
    evening = landed()
    reach = evening.table.island.reach("beach-s")
    assert reach["ruin-s"] == 2
    assert reach["ruin-e"] == 3
    assert "3 fields cost 1 relics" in evening.refuses(Go("ruin-e"))
    assert "do not have" in evening.refuses(Go("ruin-e", payment=Payment(("stone",))))
    assert "2 fields cost 0" in evening.refuses(Go("ruin-s", payment=Payment(("amulet",))))
    evening.play(Go("ruin-e", payment=Payment(("amulet",))))
    assert evening.table.supply["amulet"] == 15


def test_a_figure_may_stay_and_explore_again() -> None:
    evening = landed()
    evening.play(Go("beach-s"))
    assert evening.states[0].turn == 3
    assert "A turn explores" in evening.refuses(Pass())


def test_a_creature_ends_the_movement() -> None:
    evening = ariki_known()
    evening.play(Go("jungle-s"), spawn="spider", place="ruin-s")
    evening.play(Go("beach-sw"))
    reach = evening.table.island.reach("jungle-s")
    assert reach["ruin-s"] == 1
    assert reach["jungle-se"] == 2, "by the mountain, not past the spider"
    evening.table.island.creatures["snake"] = "mountain-se"
    assert evening.table.island.reach("jungle-s")["jungle-se"] > 2
    assert evening.table.island.reach("ruin-s")["jungle-se"] == 1, "who stands with a creature may leave"


def test_no_way_leads_past_creatures_on_all_sides() -> None:
    evening = landed()
    for number, field in enumerate(RULES.board.neighbours["beach-s"]):
        evening.table.island.creatures[("spider", "snake", "griffin", "gnome", "triton")[number]] = field
    assert "bars the way" in evening.refuses(Go("mountain-ne"))


def test_the_hermit_lets_a_figure_jump_in_the_same_turn() -> None:
    evening = landed()
    assert "Hermit" in evening.refuses(Go("ruin-e", Way.JUMP))
    evening.play(Go("jungle-s"), site="hermit")
    assert evening.table.phase is Phase.ANSWER
    assert {move.field for move in evening.table.moves() if isinstance(move, Go)} == {*RULES.board.fields} - {
        "jungle-s"
    }
    evening.play(Go("mountain-ne", Way.JUMP), site="tower")
    assert evening.states[0].turn == evening.table.island.turn == 3
    assert evening.table.figure == RED


def test_a_known_cave_needs_no_explore_but_must_be_open() -> None:
    evening = landed()
    assert "no open cave" in evening.refuses(Go("ruin-e", Way.CAVE))
    evening.play(Go("jungle-s"), site="hermit")
    evening.play(Pass(), Go("beach-sw"))
    evening.play(Go("ruin-e", Way.CAVE))
    assert evening.contacts[-1] == Contact(WHITE, "ruin-e", Touch.EXPLORE)
    evening.table.island.creatures["gnome"] = "jungle-s"
    assert "no open cave" in evening.refuses(Go("ruin-n", Way.CAVE))


# --- relics and tablets


def test_an_empty_pile_gives_nothing() -> None:
    evening = landed()
    evening.hold(RED, relics="amulet " * 13)
    evening.play(Go("beach-s"), relics=3)
    assert evening.table.hands[WHITE].relics["amulet"] == 2
    assert evening.table.supply["amulet"] == 0


def test_a_guardian_takes_one_to_three_of_his_relic() -> None:
    evening = ariki_known()
    evening.hold(relics="stone stone stone stone elixir")
    evening.play(Go("ruin-s"), guardian="stone", demand=8)
    assert "not asked for" in evening.refuses(Give(Payment(("elixir",))))
    assert "One to three" in evening.refuses(Give(Payment(("stone",) * 4)))
    assert "One to three" in evening.refuses(Give(NOTHING))
    evening.play(Give(Payment(("stone",) * 3)))
    assert evening.contacts[-1].touch is Touch.THREE
    assert evening.table.island.keepers["ruin-s"].missing == 5
    assert evening.table.supply["stone"] == 14


def test_a_resting_guardian_wants_his_price() -> None:
    evening = ariki_known()
    evening.hold(relics="stone stone stone")
    evening.play(Go("ruin-s"), guardian="stone", demand=2)
    evening.play(Give(Payment(("stone", "stone"))))
    assert evening.table.hands[WHITE].tablet_count == 3, "two players: the first place is worth three"
    evening.play(Go("beach-sw"), Go("ruin-s"))
    assert evening.table.asked is not None
    price = evening.table.asked.price
    assert price == 3
    assert "costs 3" in evening.refuses(Give(Payment(("stone",))))
    evening.hold(relics="stone stone")
    evening.play(Give(Payment(("stone",) * 3)))
    assert evening.table.hands[WHITE].tablet_count == 4


def test_each_colour_lies_once_at_a_statue() -> None:
    evening = ariki_known()
    evening.hold(tablets="red red blue grey white")
    evening.play(Go("statue-s"))
    assert "Each colour" in evening.refuses(Lay(("red", "red")))
    assert "One to three" in evening.refuses(Lay(("red", "blue", "grey", "white")))
    assert "do not have" in evening.refuses(Lay(("yellow",)))
    evening.play(Lay(("red", "blue")))
    assert evening.table.island.laid["statue-s"] == ["red", "blue"]
    evening.play(Go("beach-sw"), Go("statue-s"))
    assert "Each colour" in evening.refuses(Lay(("red",)))
    evening.play(Lay(("grey",)))
    assert evening.table.island.laid["statue-s"] == ["red", "blue", "grey"]
    assert evening.states[0].statues["statue-s"] == 3


def test_a_colourless_tablet_lies_twice() -> None:
    evening = ariki_known()
    evening.hold(tablets="red red", cards="colourless_tablet")
    evening.play(Go("statue-s"), Lay(("red", "red")))
    assert evening.table.island.laid["statue-s"] == ["red", "red"]
    assert evening.table.discards == [Card.COLOURLESS_TABLET]


def test_with_an_empty_heap_there_are_points_but_no_tablets() -> None:
    evening = ariki_known()
    evening.table.heap.clear()
    evening.hold(relics="stone stone")
    evening.play(Go("ruin-s"), guardian="stone", demand=2)
    before = evening.states[0].island_points[WHITE]
    evening.play(Give(Payment(("stone", "stone"))))
    assert evening.table.hands[WHITE].tablet_count == 0
    assert evening.states[0].island_points[WHITE] == before + 3


def test_the_beachcomber_gives_a_choice_and_exchanges_each_card_once() -> None:
    evening = landed()
    evening.play(Go("beach-se"), site="beachcomber")
    assert evening.table.choices == 1
    assert "no exchange" in evening.refuses(Exchange("amulet", "stone"))
    evening.play(Take("stone"))
    evening.play(Go("beach-sw"), Go("beach-se"), beachcomber=1)
    evening.play(Take("crystal"))
    assert evening.table.exchanges == 2, "cards that the player had when she offered it"
    assert "no elixir" in evening.refuses(Exchange("elixir", "stone"))
    assert "no stone to get" in evening.refuses(Exchange("stone", "stone"))
    evening.play(Exchange("amulet", "elixir"), Exchange("stone", "elixir"))
    assert evening.table.hands[WHITE].relics == {"amulet": 0, "elixir": 2, "crystal": 1, "stone": 0}
    assert evening.table.figure == RED


# --- fights


def spider_met() -> Evening:
    """White meets the spider at the ruin in the south."""
    evening = ariki_known()
    evening.play(Go("jungle-s"), spawn="spider", place="ruin-s")
    evening.play(Go("beach-sw"))
    evening.hold(relics="elixir elixir stone", tablets="red blue")
    evening.play(Go("ruin-s"))
    return evening


def test_a_fight_takes_the_relics_that_the_creature_fears() -> None:
    evening = spider_met()
    assert "not asked for" in evening.refuses(Give(Payment(("stone",))))
    evening.play(Give(Payment(("elixir", "elixir"))), fight="stays")
    assert evening.contacts[-1] == Contact(WHITE, "ruin-s", Touch.TWO)
    assert evening.table.figure == RED
    assert evening.table.island.creatures == {"spider": "ruin-s"}


def test_who_does_not_fight_ends_the_turn_and_may_leave() -> None:
    evening = spider_met()
    evening.play(Pass(), Go("beach-sw"))
    evening.play(Go("jungle-s"))
    assert evening.states[0].creatures == {"spider": "ruin-s"}


def test_a_tablet_burns_and_only_a_fireproof_card_brings_it_back() -> None:
    evening = spider_met()
    assert "no grey tablet" in evening.refuses(Burn("grey"))
    evening.play(Burn("red"), guardian="stone", demand=8)
    assert evening.contacts[-1].touch is Touch.FIRE
    assert evening.table.burned == {"red": 1}
    assert "fireproof" in evening.refuses(Rescue("red"))
    evening.hold(cards="fireproof_tablet")
    assert "No blue" in evening.refuses(Rescue("blue"))
    evening.play(Rescue("red"))
    assert evening.table.hands[WHITE].tablets == {"red": 1, "blue": 1}
    assert evening.table.phase is Phase.ANSWER, "the guardian still waits"


def test_tricked_stands_for_a_tablet() -> None:
    evening = spider_met()
    assert "tricked" in evening.refuses(Trick())
    evening.hold(cards="tricked")
    evening.play(Trick(), guardian="stone", demand=8)
    assert evening.contacts[-1].touch is Touch.FIRE
    assert evening.table.hands[WHITE].tablet_count == 2
    assert "Only creatures" in evening.refuses(Trick())


# --- Ariki cards


def test_no_card_in_the_first_turn() -> None:
    evening = Evening()
    evening.hold(cards="double_turn")
    evening.play(Land("beach-s"), site="temple")
    assert evening.table.figure == RED, "White was not even asked whether to play the double turn"


def test_flying_comes_at_the_beginning_of_the_turn() -> None:
    evening = landed()
    assert "another field" in evening.refuses(Go("beach-s", Way.FLYING))
    evening.play(Go("mountain-ne", Way.FLYING), site="tower")
    hand = evening.table.hands[WHITE]
    assert hand.has(Card.FLYING) == 0
    assert evening.table.discards == [], "a start card leaves the game"
    evening.play(Go("beach-sw"))
    assert "flying" in evening.refuses(Go("ruin-n", Way.FLYING))


def test_a_double_turn_comes_at_the_end() -> None:
    evening = landed()
    evening.hold(cards="double_turn")
    assert "at the end" in evening.refuses(Again())
    evening.play(Go("beach-s"))
    assert evening.table.phase is Phase.END
    evening.play(Again())
    assert evening.table.figure == WHITE
    evening.play(Go("jungle-s"), site="well")
    assert evening.table.figure == RED
    assert evening.table.discards == [Card.DOUBLE_TURN]


def test_additional_relics_count_as_one_or_two_of_any_kind() -> None:
    evening = ariki_known()
    evening.hold(relics="stone")
    evening.play(Go("ruin-s"), guardian="stone", demand=8)
    assert "1 or 2" in evening.refuses(Give(Payment((), (3,))))
    assert Give(Payment(("stone",), (1,))) in evening.table.moves()
    evening.play(Give(Payment(("stone",), (2,))))
    assert evening.contacts[-1].touch is Touch.THREE
    assert evening.states[0].guardians["ruin-s"].missing == 5


def test_used_up_cards_are_shuffled_again_without_start_cards() -> None:
    evening = landed()
    table = evening.table
    table.discards, table.pile = [Card.TRICKED, Card.FLYING], []
    evening.play(Go("jungle-s"), site="ariki")
    assert len(table.pile) == 1
    assert table.discards == []
    assert table.hands[WHITE].card_count == 3
    table.pile.clear()
    evening.play(Go("beach-sw"), Go("jungle-s"), cards=1)
    assert table.hands[WHITE].card_count == 3, "where no card is left none is dealt"


# --- whole games


@settings(max_examples=9, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(0, 2))
def test_whatever_is_played_nothing_is_lost_and_the_table_knows_what_the_volcano_knows(
    seed: int, players: int, level: int
) -> None:
    table = Table(RULES.board, MATERIAL, FIGURES[:players], seed=seed, level=level)
    chance = ScriptedChance()
    state: InselState | None = None
    number = 0
    while not table.over:
        moves = table.moves()
        assert moves, "there is always something to do"
        move = moves[(seed + number * 7919) % len(moves)]
        number += 1
        assert table.why_not(move) == ""
        copy = table.clone() if number % 20 == 0 else None
        contact = table.play(move)
        assert copy is None or copy.moves() == moves, "a clone does not follow"
        if contact is not None:
            state = RULES.start(contact, seed) if state is None else state
            table.hear(contact, RULES.accept(state, contact, chance))
            check(table, state)


def check(table: Table, state: InselState) -> None:
    """Cards and tablets are all somewhere; the open island is what the volcano thinks it is."""
    hands = table.hands.values()
    for relic in RELICS:
        assert table.supply[relic] + sum(hand.relics[relic] for hand in hands) == MATERIAL.relics_of_each
    laid = [colour for colours in table.island.laid.values() for colour in colours]
    burned = sum(table.burned.values())
    assert len(table.heap) + len(laid) + burned + sum(hand.tablet_count for hand in hands) == 42
    assert len(table.pile) + len(table.discards) + sum(sum(hand.cards.values()) for hand in hands) == 15
    assert all(
        min([*hand.tablets.values(), *hand.cards.values(), *hand.start_cards.values(), 0]) == 0 for hand in hands
    )
    island = table.island
    assert island.creatures == state.creatures
    assert island.sites == state.sites
    assert island.visited == state.visited
    assert {statue: len(colours) for statue, colours in island.laid.items()} == state.statues
    assert {place: (each.relic, each.missing, each.resting) for place, each in island.keepers.items()} == {
        place: (each.relic, each.missing, each.resting) for place, each in state.guardians.items()
    }
    assert (island.island_points, island.creature_points) == (state.island_points, state.creature_points)
    assert island.strong == {*state.strong}
    assert island.gnome_driver == state.gnome_driver
    assert island.triton_fights == state.triton_fights
    assert island.explored == {figure: {*fields} for figure, fields in state.explored.items()}
    if not state.over:
        assert island.turn == state.turn
        if table.asked is not None:
            assert state.pending is not None
            assert (state.pending.kind, state.pending.figure) == (table.asked.kind, table.figure)


# --- the box's file

TEXT = (files("firmware.game.insel") / "material.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "where", "problem"),
    [
        ("flying = 3", "flying = 4", "ariki_cards.source", "there are 15 cards in all, here 16"),
        ("flying = 1", "flying = -1", "start_cards.flying", "-1"),
        ('"grey"', '"blue"', "colours.names", "7 different"),
        ("tricked = 2", "tricked = 2\njoker = 1", "ariki_cards.joker", "not a key"),
        ("free = 2", "free = 0", "steps.free", "must be from 1"),
    ],
)
def test_a_wrong_number_in_the_box_is_named(tmp_path: Path, old: str, new: str, where: str, problem: str) -> None:
    path = tmp_path / "material.toml"
    assert old in TEXT
    path.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load_material(path)
    assert where in str(error.value)
    assert problem in str(error.value)
