"""Events of Die Insel; names and fields are the console's contract (docs/console.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.game.kernel import Event, event

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from firmware.terms import Figure


@event
class IntroStarted(Event):
    """The introductory game begins (rulebook, Introductory Game and Course of Play)."""


@event
class IntroFinished(Event):
    """The eleventh turn of the introductory game is over."""


@event
class GameStarted(Event):
    """A regular game begins at `level` beginner, advanced or expert."""

    level: str


@event
class Entered(Event):
    """A figure lands on a boat field."""

    figure: Figure
    field: str


@event
class Discovered(Event):
    """A site or person is found: temple, well, crystal, tower, ariki, hermit or beachcomber."""

    figure: Figure
    field: str
    site: str


@event
class Points(Event):
    """`count` points of `kind` island or creature."""

    figure: Figure
    count: int
    kind: str


@event
class Relics(Event):
    """0 to 4 relics from a site."""

    figure: Figure
    relic: str
    count: int


@event
class RelicChoice(Event):
    """Relics of the player's choice, from the Beachcomber."""

    figure: Figure
    count: int


@event
class ExchangeOffered(Event):
    """The Beachcomber exchanges any relics."""

    figure: Figure


@event
class ArikiCards(Event):
    """Ariki cards from the Ariki or the gnome."""

    figure: Figure
    count: int


@event
class Story(Event):
    """The Ariki tells the story of the island."""


@event
class Standings(Event):
    """The sum of island and creature points of every figure that entered."""

    points: Mapping[Figure, int]


@event
class FieldSilent(Event):
    """A ruin before the Ariki is known."""

    field: str


@event
class GuardianAppeared(Event):
    """A guardian names his relic and how many he wants."""

    figure: Figure
    field: str
    relic: str
    demand: int


@event
class GuardianCredit(Event):
    """The guardian credits the visitor with relics (rulebook, "I am also crediting you with")."""

    figure: Figure
    field: str
    count: int


@event
class GuardianAsks(Event):
    """A guardian at work names what is missing and waits for One, Two or Three."""

    figure: Figure
    field: str
    relic: str
    missing: int


@event
class RelicsHanded(Event):
    """Relics are handed in; `missing` is what the guardian still wants."""

    figure: Figure
    field: str
    count: int
    missing: int


@event
class Tablets(Event):
    """Stone tablets granted; `source` guardian, resting_guardian, set or golem."""

    figure: Figure
    count: int
    source: str


@event
class GuardianRests(Event):
    """The guardian has paid out and rests."""

    field: str


@event
class TabletOffered(Event):
    """A resting guardian offers one tablet for `price` relics."""

    figure: Figure
    field: str
    relic: str
    price: int


@event
class StatueAsks(Event):
    """A sleeping statue asks for tablets; `missing` of seven."""

    figure: Figure
    field: str
    missing: int


@event
class TabletsLaid(Event):
    """Tablets are laid at a statue."""

    figure: Figure
    field: str
    count: int
    missing: int


@event
class StatueAwakened(Event):
    """The seventh tablet awakens the statue."""

    figure: Figure
    field: str


@event
class StatueGreets(Event):
    """A statue that is awake greets the visitor."""

    figure: Figure
    field: str


@event
class SetCompleted(Event):
    """The player has explored all three sites of one kind."""

    figure: Figure
    site: str


@event
class BeachcomberBonus(Event):
    """The first visit to the Beachcomber after the first statue awoke."""

    figure: Figure


@event
class CreatureAppeared(Event):
    """The volcano sends a creature."""

    creature: str
    field: str


@event
class DragonAttacks(Event):
    """The dragon flies to the player."""

    figure: Figure
    field: str


@event
class CreatureMet(Event):
    """A creature stands in the way; `relics` are the kinds it is fought with."""

    figure: Figure
    creature: str
    field: str
    relics: Sequence[str]


@event
class Fought(Event):
    """A fight `with_` relics, tablet or strength; `outcome` vanishes, moves or stays; `to` only with moves."""

    figure: Figure
    creature: str
    with_: str
    count: int
    outcome: str
    to: str | None = None


@event
class Strengthened(Event):
    """Three crystals against the griffin: the next other creature takes flight."""

    figure: Figure


@event
class CreaturePlaces(Event):
    """Where every creature stands: creature -> field."""

    creatures: Mapping[str, str]


@event
class Lapsed(Event):
    """A pending decision lapses because another turn begins."""

    figure: Figure


@event
class Hermit(Event):
    """The Hermit lets the figure jump to any field and explore it."""

    figure: Figure


@event
class GameOver(Event):
    """The end: `reason` creatures or statues; `points` are those that count."""

    reason: str
    saved: bool
    points: Mapping[Figure, int]
    creature_points: Mapping[Figure, int]
    winners: Sequence[Figure]
