"""What a player thinks a place, a relic or a fight is worth, in points: the judgement of the bots.

Everything comes from a `View` and from what a family learns in a few games: estimates, not the numbers of the tuning
file. Only the points are read from there, because the overview board prints them (rulebook, Overview of the points).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from firmware.game.insel.board import CREATURES, RELIC_OF, RELICS, Kind
from firmware.game.insel.creatures import FOUGHT_WITH
from firmware.game.insel.material import Card

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firmware.game.insel.board import Board
    from firmware.game.insel.hand import View
    from firmware.game.insel.island import Keeper
    from firmware.game.insel.tuning import Tuning

# Estimates of an experienced player; points unless said otherwise.
TURNS_A_RELIC: Final = 16
"""A relic more at a site for about so many turns without a visitor."""
TURNS_A_CARD: Final = 9
TURNS_A_CHOICE: Final = 12
TURNS_A_CREDIT: Final = 20
TURNS_A_PRICE: Final = 13
"""A resting guardian asks one relic less for about so many turns without a visitor."""
RELIC_WORTH: Final = 0.5
WANTED_WORTH: Final = 0.6
"""More for a relic that a guardian still wants."""
CARD_WORTH: Final = 1.5
TABLET_WORTH: Final = 2.6
"""A point for getting it, two for laying it, less what may come between."""
GIFT_WORTH: Final = 1.1
"""A relic for a guardian at work."""
FIRST_GIFT_WORTH: Final = 1.0
FILLED_WORTH: Final = 1.5
"""That the guardian now pays."""
SAVING_WORTH: Final = 3.0
"""That island points will count, for the tablet that awakens the first statue."""
TOGETHER_WORTH: Final = 0.1
"""More for a tablet, for each that lies at the statue already: together they awaken it, scattered they do not."""
STRENGTH_WORTH: Final = 2.0
VANISHES: Final = (0.0, 0.45, 0.62, 0.8)
"""How often a creature leaves after a fight with 0 to 3 relics."""
GRIFFIN_LEAVES: Final = 0.4
URGENCY: Final = (0.0, 0.0, 0.1, 0.25, 0.6, 1.2, 2.4)
"""What it is worth to everybody to take one creature away, by how many are on the island."""
SET_WORTH: Final = (0.3, 0.8)
"""A first and a second site of one kind; the third brings a tablet."""


@dataclass(frozen=True, slots=True)
class Habit:
    """What a player likes: factors on what others think things are worth."""

    name: str
    discover: float = 1.0
    gather: float = 1.0
    people: float = 1.0
    give: float = 1.0
    lay: float = 1.0
    fight: float = 1.0
    save: float = 1.0


class Worth:
    """One player's judgement of one moment."""

    __slots__ = ("_relic_worths", "board", "habit", "island", "occupied", "tuning", "urgency", "view")

    def __init__(self, view: View, habit: Habit, board: Board, tuning: Tuning) -> None:
        self.view, self.habit, self.board, self.tuning = view, habit, board, tuning
        self.island = view.island
        self.occupied = self.island.occupied()
        self.urgency = URGENCY[min(len(self.occupied), len(URGENCY) - 1)] * habit.save
        self._relic_worths: dict[str, float] = {}

    # --- relics and tablets

    def relic(self, kind: str) -> float:
        """One more (or less) relic of this kind."""
        if not self._relic_worths:
            held = self.view.hand.relics
            wanted = {keeper.relic for keeper in self.island.keepers.values() if not keeper.resting}
            for each in RELICS:
                worth = RELIC_WORTH + (WANTED_WORTH * self.habit.give if each in wanted else 0.0)
                self._relic_worths[each] = worth * (1.0 if held[each] < 4 else 0.6)
            if "dragon" in self.island.creatures and not held["amulet"]:
                self._relic_worths["amulet"] += 0.3  # rulebook, Tips and Tricks: keep one against the dragon
        return self._relic_worths[kind]

    def cheapest(self, count: int, kinds: Sequence[str] = RELICS) -> tuple[str, ...]:
        """The relics of these kinds that the player misses least, at most `count`."""
        held = self.view.hand.relics
        ranked = sorted(kinds, key=self.relic)
        return tuple([kind for kind in ranked for _ in range(held[kind])][:count])

    def layable(self, statue: str) -> list[str]:
        """Colours of the hand that do not lie at the statue, those with doubles first, at most what it takes."""
        laid, tablets = self.island.laid[statue], self.view.hand.tablets
        fresh = [colour for colour, count in tablets.items() if count and colour not in laid]
        fresh.sort(key=lambda colour: -tablets[colour])
        return fresh[: min(3, self.tuning.statues.tablets - len(laid))]

    # --- places

    def place(self, field: str) -> float:
        """To explore the field now."""
        creature = self.occupied.get(field)
        beyond = self._field(field)
        return beyond if creature is None else self._meeting(creature, beyond)

    def _field(self, field: str) -> float:
        kind = self.board.kinds[field]
        if kind is Kind.SITE:
            return self._site(field)
        if kind is Kind.RUIN:
            return self._ruin(field)
        return self._statue(field)

    def _site(self, field: str) -> float:
        island, habit = self.island, self.habit
        site = island.sites.get(field)
        if site is None:
            worth = (RELIC_WORTH + SET_WORTH[1]) * habit.discover
            if not island.ariki_known and "ariki" in self.board.people_in[self.board.zone_of[field]]:
                worth += 1.5 * habit.discover
            return worth
        absent = island.turn - island.visited.get(field, island.turn)
        if site == "ariki":
            return min(1.5, absent / TURNS_A_CARD) * CARD_WORTH * habit.people
        if site == "beachcomber":
            return self._beachcomber(absent) * habit.people
        if site == "hermit":
            return 0.0
        relic = RELIC_OF[site]
        found = min(4.0, absent / TURNS_A_RELIC, self.view.supply[relic])
        worth = found * self.relic(relic) * habit.gather
        explored = island.explored[self.view.figure]
        if field not in explored:
            alike = sum(island.sites[each] == site for each in explored)
            worth += (SET_WORTH[alike] if alike < len(SET_WORTH) else TABLET_WORTH) * habit.discover
        return worth

    def _beachcomber(self, absent: int) -> float:
        worth = float(self.tuning.sites.beachcomber_bonus) if self.island.bonus_open else 0.0
        worths = {kind: self.relic(kind) for kind in RELICS}
        best = max(worths.values())
        worth += min(2, absent // TURNS_A_CHOICE) * best
        held = self.view.hand.relics
        return worth + min(2.0, sum((best - worths[kind]) * held[kind] for kind in RELICS))

    def _ruin(self, field: str) -> float:
        if not self.island.ariki_known:
            return -0.5
        keeper = self.island.keepers.get(field)
        held = self.view.hand.relics
        if keeper is None:
            placed = {each.relic for each in self.island.keepers.values()}
            free = [kind for kind in RELICS if kind not in placed]
            gifts = sum(min(3, held[kind]) for kind in free) / max(1, len(free))
            return (0.8 * self.habit.discover) + gifts * GIFT_WORTH * self.habit.give
        absent = self.island.turn - self.island.visited.get(field, self.island.turn)
        if keeper.resting:
            price = max(1, 3 - absent // TURNS_A_PRICE)
            return self.bought(price, keeper.relic) if held[keeper.relic] >= price else 0.0
        credit = 1 if absent >= TURNS_A_CREDIT else 0
        return self.given(keeper, min(3, held[keeper.relic]), credit)

    def given(self, keeper: Keeper, count: int, credit: int = 0) -> float:
        """To give so many relics to a guardian at work, who credits some more."""
        total = count + credit
        if not total:
            return 0.0
        worth = min(total, keeper.missing + 1) * GIFT_WORTH
        if self.view.figure not in keeper.gifts:
            worth += FIRST_GIFT_WORTH
        if total >= keeper.missing:
            worth += FILLED_WORTH
        return worth * self.habit.give - count * RELIC_WORTH * 0.5

    def bought(self, price: int, relic: str) -> float:
        """To buy a tablet from a resting guardian."""
        return TABLET_WORTH * self.habit.give - price * self.relic(relic) if self.view.heap else 0.0

    def _statue(self, field: str) -> float:
        if field in self.island.awake:
            return -0.5
        count = len(self.layable(field))
        return self.laid(field, count) if count else -0.5

    def laid(self, statue: str, count: int) -> float:
        """To lay so many tablets at a statue."""
        numbers = self.tuning.statues
        before = len(self.island.laid[statue])
        worth = count * (numbers.tablet_points + TOGETHER_WORTH * before * self.habit.save)
        if before + count >= numbers.tablets:
            worth += numbers.awakening_points
            worth += (SAVING_WORTH + self.urgency if not self.island.awake else 1.0) * self.habit.save
        return worth * self.habit.lay

    # --- creatures

    def _meeting(self, creature: str, beyond: float) -> float:
        """To meet a creature, with what the field is worth behind it."""
        if self.view.figure in self.island.strong and creature != "griffin":
            return self.gain(creature, beyond)
        held, kinds = self.view.hand.relics, FOUGHT_WITH.get(creature, RELICS)
        count = sum(held[kind] for kind in kinds)
        if creature == "gnome":
            count //= len(RELICS)
        fights = [self.fought(creature, each, beyond, kinds) for each in range(1, min(3, count) + 1)]
        return max(-0.6, *fights, -0.6)

    def gain(self, creature: str, beyond: float) -> float:
        """What it brings if the creature goes."""
        numbers = self.tuning.creatures
        points = float(numbers.values[creature])
        figure = self.view.figure
        if creature == "triton" and self.island.triton_fights[figure] < numbers.triton_fled:
            points = 1.0 if self.habit.fight > 1 else 0.3
        elif creature == "gnome" and self.island.gnome_driver == figure:
            points += numbers.gnome_twice_points
        return points * self.habit.fight + self.urgency + 0.7 * max(0.0, beyond)

    def fought(self, creature: str, count: int, beyond: float, kinds: Sequence[str]) -> float:
        """To fight with so many relics."""
        leaves = VANISHES[count] * (GRIFFIN_LEAVES if creature == "griffin" else 1.0)
        worth = leaves * self.gain(creature, beyond)
        if creature == "griffin" and count == self.tuning.creatures.strength_relics:
            worth += STRENGTH_WORTH * self.habit.fight
        spent = sum(self.relic(kind) for kind in self.cheapest(count, kinds))
        return worth - 0.7 * spent

    def fed(self, beyond: float) -> float:
        """To see the creature go by Fire, without the price."""
        numbers = self.tuning.creatures
        worth = numbers.fed_points * self.habit.fight + 0.6 * self.urgency + 0.7 * max(0.0, beyond)
        return worth - (0.5 if len(self.occupied) < len(CREATURES) - 1 else 0.0)

    def beyond(self, field: str) -> float:
        """What the field is worth without its creature."""
        return self._field(field)

    def exchange(self) -> tuple[str, str] | None:
        """The relic to give and the one to take at the Beachcomber, None if no exchange is worth it."""
        held, supply = self.view.hand.relics, self.view.supply
        gives, takes = [kind for kind in RELICS if held[kind]], [kind for kind in RELICS if supply[kind]]
        if not gives or not takes:
            return None
        give, take = min(gives, key=self.relic), max(takes, key=self.relic)
        return (give, take) if self.relic(take) - self.relic(give) > 0.2 else None

    def additional(self) -> int:
        """Cards *Additional relics* that may be played now."""
        return self.view.hand.has(Card.ADDITIONAL_RELICS) if self.view.cards_free else 0
