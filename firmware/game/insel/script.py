"""How Die Insel sounds and looks: which event is told by which lines, sounds and lights.

No rule lives here and no text: the lines are in the catalogues. Facts (places, counts, questions, points) are always
heard; the rest is chatter that gives way to the next touch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from firmware.game.insel import events as told
from firmware.game.insel.board import RELIC_OF, Kind
from firmware.game.insel.intro import TABLETS_AT_A_STATUE, IntroState
from firmware.game.insel.state import FIGHT, GUARDIAN, HERMIT, STATUE, TABLET
from firmware.terms import RELIC_SYMBOLS, Pause, Rank, Sound, SoundName, Symbol, Symbols, say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from firmware.game.insel.board import Board
    from firmware.game.kernel import Event
    from firmware.terms import Figure, Item

SYMBOL_OF = {
    **dict(zip(("temple", "well", "crystal", "tower"), RELIC_SYMBOLS, strict=True)),
    **dict(zip(("amulet", "elixir"), RELIC_SYMBOLS, strict=False)),
    "stone": Symbol.SQUARE,
    "ariki": Symbol.ARIKI,
}
"""Rulebook, Relic sites and relics; crystal is both a site and a relic."""

COMPASS = {"n": "north", "e": "east", "s": "south", "w": "west"}
PAIR_PAUSE_MS = 400
"""Point tones come in pairs so that they can be counted (rulebook, Overview of the points)."""
STORY_SENTENCES = 12
CHATTER, STORY = Rank.CHATTER, Rank.STORY

E = TypeVar("E", bound="Event")


class InselScript:
    """Events of Die Insel and of its introductory game to cues."""

    def __init__(self, board: Board) -> None:
        self.board = board

    def cues(self, events: Sequence[Event], state: Any, *, repeat: bool = False) -> list[Item]:
        """What is heard and seen; with `repeat`, points are spoken so that nobody counts twice."""
        telling = _Telling(self, events, state, repeat=repeat)
        items = [item for event in events for item in telling.tell(event)]
        if isinstance(state, IntroState):
            items += self._next_turn(state)
        keeps_lights = isinstance(events[0], told.CreaturePlaces) if events else True
        if not keeps_lights and not (items and isinstance(items[0], Symbols)):
            items.insert(0, Symbols())
        return items

    def question(self, state: Any) -> list[Item]:
        """The open question alone and in full; the introductory game says which answer it wants."""
        pending = state.pending
        if pending is None:
            return []
        if isinstance(state, IntroState):
            return self._next_turn(state)
        if pending.kind == FIGHT:
            return [*_wanted(pending.creature, pending.relics, Rank.FACT), say("fight-reminder")]
        if pending.kind == GUARDIAN:
            guardian = state.guardians[pending.field]
            waiting = say("guardian-waits", relic=guardian.relic)
            return [waiting, say("missing", missing=guardian.missing), say("guardian-reminder")]
        if pending.kind == STATUE:
            missing = TABLETS_AT_A_STATUE - state.statues[pending.field]
            return [say("tablets-missing", missing=missing), *self.asked(state)]
        return self.asked(state)

    def asked(self, state: Any) -> list[Item]:
        """What is asked as the decision opens."""
        pending = state.pending
        if pending is None:
            return []
        if pending.kind == FIGHT:
            return [say("fight-question")]
        if pending.kind == TABLET:
            relic = state.guardians[pending.field].relic
            return [say("tablet-offered", relic=relic, price=pending.price)]
        if pending.kind == STATUE:
            return [say("statue-question", most=min(3, TABLETS_AT_A_STATUE - state.statues[pending.field]))]
        return [say({GUARDIAN: "guardian-question", HERMIT: "hermit-question"}[pending.kind])]

    def hint(self, state: Any, reason: str) -> list[Item]:
        """What to do, after errors in a row."""
        if isinstance(state, IntroState):
            return self._next_turn(state)
        if state is None and reason != "boat_taken":
            return [say("how-to-start", CHATTER)]
        return [say(f"hint-{reason.replace('_', '-')}", CHATTER)]

    def resumed(self, state: Any) -> list[Item]:
        """Who was last."""
        return [say("last", figure=state.last)] if state.last else []

    def guardian_relic(self, field: str, state: Any) -> str:
        """What the guardian on a ruin wants."""
        if isinstance(state, IntroState):
            return next(turn.guardian for turn in self.board.intro if turn.field == field and turn.guardian)
        relic: str = state.guardians[field].relic
        return relic

    def place(self, field: str, state: Any) -> str:
        """A field's name: sites and persons by zone, ruins and statues by compass."""
        kind = self.board.kinds[field]
        if kind is not Kind.SITE:
            return f"{kind.value}-{COMPASS[field.rpartition('-')[2]]}"
        zone = self.board.zone_of[field]
        site = state.sites.get(field)
        if site is None:
            return f"unexplored-{zone}"
        return site if site in ("ariki", "hermit", "beachcomber") else f"{site}-{zone}"

    def _next_turn(self, state: IntroState) -> list[Item]:
        """What to do next in the introductory game; `field` is for the page, which shows where."""
        step = state.step
        if step >= len(self.board.intro):
            return []
        turn = self.board.intro[step]
        answer = "-answer" if state.pending else ""
        return [say(f"intro-go-{step + 1}{answer}", CHATTER, figure=turn.figure, field=turn.field)]


class _Telling:
    """One announcement: a method per event, named after it. Lapsed decisions are not told."""

    def __init__(self, script: InselScript, events: Sequence[Event], state: Any, *, repeat: bool) -> None:
        self.script, self.events, self.state, self.repeat = script, events, state, repeat

    def tell(self, event: Event) -> list[Item]:
        """The cues of one event."""
        teller = getattr(self, f"_{event.name}", None)
        told_as: list[Item] = teller(event) if teller else []
        return told_as

    def _points(self, event: told.Points) -> list[Item]:
        tones: list[Item] = [say("points", points=event.count)] if self.repeat else point_tones(event.count)
        return [say("gnome-again", CHATTER), *tones] if self._is_gnome_bonus(event) else tones

    def _is_gnome_bonus(self, event: told.Points) -> bool:
        """Driven off twice in a row by the same player: the second creature points of one fight."""
        fought = self._other(told.Fought)
        creature_points = [
            other for other in self.events if isinstance(other, told.Points) and other.kind == "creature"
        ]
        return fought is not None and fought.creature == "gnome" and event in creature_points[1:]

    def _other(self, kind: type[E]) -> E | None:
        """The first event of a kind in this announcement."""
        return next((event for event in self.events if isinstance(event, kind)), None)

    def _intro_started(self, event: told.IntroStarted) -> list[Item]:
        return [say("intro-welcome", CHATTER)]

    def _intro_finished(self, event: told.IntroFinished) -> list[Item]:
        return [say("intro-finished", CHATTER)]

    def _game_started(self, event: told.GameStarted) -> list[Item]:
        return [say("game-started", CHATTER, level=event.level)]

    def _entered(self, event: told.Entered) -> list[Item]:
        return [say("entered", CHATTER, figure=event.figure)]

    def _discovered(self, event: told.Discovered) -> list[Item]:
        if event.site in ("temple", "well", "crystal", "tower"):
            spoken = say("discovered", figure=event.figure, site=event.site)
            return [Symbols((SYMBOL_OF[event.site],)), Sound(SoundName.HARP), spoken]
        lit = {"ariki": (Symbol.ARIKI,), "beachcomber": RELIC_SYMBOLS}.get(event.site, ())
        return [Symbols(lit), Sound(SoundName.HARP), say(f"{event.site}-found", figure=event.figure)]

    def _relics(self, event: told.Relics) -> list[Item]:
        site = next(site for site, relic in RELIC_OF.items() if relic == event.relic)
        known = self._other(told.Discovered) is None and self._other(told.Fought) is None
        visit = [say("revisited", CHATTER, figure=event.figure, site=site)] if known else []
        return [Symbols((SYMBOL_OF[event.relic],)), *visit, say("finds", relic=event.relic, found=event.count)]

    def _relic_choice(self, event: told.RelicChoice) -> list[Item]:
        return [Symbols(RELIC_SYMBOLS), say("relic-choice", choice=event.count)]

    def _exchange_offered(self, event: told.ExchangeOffered) -> list[Item]:
        return [Symbols(RELIC_SYMBOLS), say("exchange")]

    def _ariki_cards(self, event: told.ArikiCards) -> list[Item]:
        line = "gnome-cards" if self._other(told.Fought) else "ariki-cards"
        return [say(line, cards=event.count)]

    def _story(self, event: told.Story) -> list[Item]:
        return [say(f"story-{number}", STORY) for number in range(1, STORY_SENTENCES + 1)]

    def _standings(self, event: told.Standings) -> list[Item]:
        greeting = [say("ariki-again", CHATTER, figure=self.state.last)] if self.state.last else []
        return [Symbols((Symbol.ARIKI,)), *greeting, say("standings", CHATTER), *_scores(event.points)]

    def _field_silent(self, event: told.FieldSilent) -> list[Item]:
        return [say("field-silent")]

    def _guardian_appeared(self, event: told.GuardianAppeared) -> list[Item]:
        return [
            Symbols((SYMBOL_OF[event.relic],)),
            say("guardian-appears", CHATTER, relic=event.relic),
            say("guardian-demands", relic=event.relic, demand=event.demand),
            say("guardian-question"),
        ]

    def _guardian_credit(self, event: told.GuardianCredit) -> list[Item]:
        relic = self.state.guardians[event.field].relic
        return [Symbols((SYMBOL_OF[relic],)), say("guardian-credit", relic=relic)]

    def _guardian_asks(self, event: told.GuardianAsks) -> list[Item]:
        # A guardian knows who has been with him before (rulebook, The Guardians).
        given = dict(self.state.guardians[event.field].gifts)
        line = "guardian-knows" if event.figure in given else "guardian-new"
        greeting = (
            [] if self._other(told.GuardianCredit) else [say(line, CHATTER, relic=event.relic, figure=event.figure)]
        )
        return [
            Symbols((SYMBOL_OF[event.relic],)),
            *greeting,
            say("missing", missing=event.missing),
            say("guardian-question"),
        ]

    def _relics_handed(self, event: told.RelicsHanded) -> list[Item]:
        relic = self.script.guardian_relic(event.field, self.state)
        left = [say("missing", missing=event.missing)] if event.missing else []
        return [Symbols((SYMBOL_OF[relic],)), Sound(SoundName.BIRD), *left]

    def _tablets(self, event: told.Tablets) -> list[Item]:
        received: dict[str, list[Item]] = {
            "resting_guardian": [Sound(SoundName.BIRD)],
            "golem": [say("golem-tablet", CHATTER)],
        }
        return [*received.get(event.source, []), say("tablets", figure=event.figure, tablets=event.count)]

    def _guardian_rests(self, event: told.GuardianRests) -> list[Item]:
        return [say("guardian-rests", relic=self.state.guardians[event.field].relic)]

    def _tablet_offered(self, event: told.TabletOffered) -> list[Item]:
        return [
            Symbols((SYMBOL_OF[event.relic],)),
            say("tablet-offered", relic=event.relic, price=event.price),
        ]

    def _statue_asks(self, event: told.StatueAsks) -> list[Item]:
        question = self.script.asked(self.state) or [say("statue-question", most=3)]
        return [say("statue-asks", CHATTER), say("tablets-missing", missing=event.missing), *question]

    def _tablets_laid(self, event: told.TabletsLaid) -> list[Item]:
        return [Sound(SoundName.BIRD), say("tablets-missing", missing=event.missing)]

    def _statue_awakened(self, event: told.StatueAwakened) -> list[Item]:
        direction = self.script.place(event.field, self.state).partition("-")[2]
        return [Symbols((Symbol.ARIKI,)), Sound(SoundName.AWAKENING), say("statue-awakens", direction=direction)]

    def _statue_greets(self, event: told.StatueGreets) -> list[Item]:
        return [say("statue-greets")]

    def _set_completed(self, event: told.SetCompleted) -> list[Item]:
        return [say("set-completed", figure=event.figure, site=event.site)]

    def _beachcomber_bonus(self, event: told.BeachcomberBonus) -> list[Item]:
        return [say("beachcomber-bonus")]

    def _creature_appeared(self, event: told.CreatureAppeared) -> list[Item]:
        if event.creature == "dragon" and self._other(told.DragonAttacks):
            return [Sound(SoundName.RUMBLE, CHATTER)]  # from its ambush: the attack says the rest
        return [
            Sound(SoundName.RUMBLE, CHATTER),
            Sound(SoundName(event.creature)),
            say("creature-appears", creature=event.creature),
            say("appears-place", place=self.script.place(event.field, self.state)),
        ]

    def _dragon_attacks(self, event: told.DragonAttacks) -> list[Item]:
        return [Sound(SoundName.DRAGON), say("dragon-attacks", figure=event.figure)]

    def _creature_met(self, event: told.CreatureMet) -> list[Item]:
        lit = tuple(symbol for symbol in RELIC_SYMBOLS if symbol in [SYMBOL_OF[relic] for relic in event.relics])
        fought = self._other(told.Fought)
        by_strength = fought is not None and fought.with_ == "strength"
        wants = [] if by_strength else _wanted(event.creature, event.relics, CHATTER)
        if self._other(told.DragonAttacks) and event.creature == "dragon":
            return [Symbols(lit), *wants, *self.script.asked(self.state)]
        return [
            Symbols(lit),
            Sound(SoundName(event.creature)),
            say("creature-met", CHATTER, creature=event.creature),
            *wants,
            *self.script.asked(self.state),
        ]

    def _fought(self, event: told.Fought) -> list[Item]:
        items: list[Item] = [Sound(SoundName(event.creature))]
        if event.outcome == "stays":
            return [*items, say("creature-stays", creature=event.creature)]
        if event.outcome == "moves" and event.to:
            flees = say("creature-flees", creature=event.creature)
            return [*items, flees, say("place", place=self.script.place(event.to, self.state))]
        how = "creature-flees-strength" if event.with_ == "strength" else "creature-vanishes"
        return [*items, Sound(SoundName(f"{event.creature}-gone")), say(how, creature=event.creature)]

    def _strengthened(self, event: told.Strengthened) -> list[Item]:
        return [say("strengthened", figure=event.figure)]

    def _creature_places(self, event: told.CreaturePlaces) -> list[Item]:
        if not event.creatures:
            return [say("no-creatures")]
        items: list[Item] = []
        for creature, field in event.creatures.items():
            items += [say("creature-name", creature=creature), say("place", place=self.script.place(field, self.state))]
        return items

    def _hermit(self, event: told.Hermit) -> list[Item]:
        return [say("hermit-question")]

    def _game_over(self, event: told.GameOver) -> list[Item]:
        how = "over-rescued" if event.reason == "statues" else "over-saved" if event.saved else "over-lost"
        items: list[Item] = [Sound(SoundName.ERUPTION if how == "over-lost" else SoundName.RUMBLE), say(how)]
        ranked = dict(sorted(event.points.items(), key=lambda each: each[1]))
        items += _scores(ranked)
        if len(event.winners) == 1:
            return [*items, say("winner", figure=event.winners[0])]
        if not any(event.points.values()):
            return [*items, say("nobody-fought")]
        return [*items, say("shared-win"), *(say("winner-name", figure=figure) for figure in event.winners)]


def point_tones(count: int) -> list[Item]:
    """`count` tones in pairs."""
    items: list[Item] = []
    for number in range(1, count + 1):
        items.append(Sound(SoundName.POINT))
        if number % 2 == 0 or number == count:
            items.append(Pause(PAIR_PAUSE_MS))
    return items


def _wanted(creature: str, relics: Sequence[str], rank: Rank) -> list[Item]:
    """What a creature is fought with; the gnome decides when it is met."""
    wants: list[Item] = [say("creature-wants", rank, creature=creature)]
    return [*wants, say("gnome-wants", relic=relics[0])] if creature == "gnome" and relics else wants


def _scores(points: Mapping[Figure, int]) -> list[Item]:
    items: list[Item] = []
    for figure, total in points.items():
        items += [say("name", figure=figure), say("total", total=min(total, 150))]
    return items
