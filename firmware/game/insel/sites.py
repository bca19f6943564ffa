"""Relic sites, the Ariki, the Hermit and the Beachcomber: what a field for a red plastic figure tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.game.insel.board import RELIC_OF, SITES
from firmware.game.insel.events import (
    ArikiCards,
    BeachcomberBonus,
    Discovered,
    ExchangeOffered,
    Hermit,
    RelicChoice,
    Relics,
    SetCompleted,
    Standings,
    Story,
)
from firmware.game.insel.play import ISLAND
from firmware.game.insel.state import HERMIT, Pending

if TYPE_CHECKING:
    from firmware.game.insel.play import Play
    from firmware.terms import Figure

ZONES_WITH_A_SITE = 3
"""Each relic site occurs three times on the island (rulebook, Relic sites and relics)."""


def visit_site(play: Play, figure: Figure, place: str) -> None:
    """Discover what lies on the field, or visit it again."""
    site = play.state.sites.get(place)
    known = site is not None
    if site is None:
        site = _discover(play, figure, place)
    if site == "ariki":
        _meet_ariki(play, figure, place, known=known)
    elif site == "hermit":
        play.tell(Hermit(figure))
        play.state.pending = Pending(HERMIT, figure, place)
    elif site == "beachcomber":
        _meet_beachcomber(play, figure, place, known=known)
    else:
        _gather(play, figure, place, site, known=known)


def _discover(play: Play, figure: Figure, place: str) -> str:
    """Draw the site from what its zone still lacks."""
    board, sites = play.board, play.state.sites
    zone = board.zone_of[place]
    found = [sites[each] for each in board.zones[zone] if each in sites]
    site = play.draw("site", {each: 1.0 for each in SITES + board.people_in[zone] if each not in found})
    sites[place] = site
    play.tell(Discovered(figure, place, site))
    return site


def _gather(play: Play, figure: Figure, place: str, site: str, *, known: bool) -> None:
    """Relics, more the longer nobody was there (rulebook, Relic sites and relics)."""
    numbers, state = play.tuning.sites, play.state
    count = numbers.discovery_relics
    if known:
        count = play.draw_number("relics", numbers.relics.at(play.turns_since_visit(place)))
    state.visited[place] = state.turn
    play.tell(Relics(figure, RELIC_OF[site], count))
    explored = state.explored[figure]
    if place not in explored:
        explored += (place,)
        state.explored[figure] = explored
        alike = [each for each in explored if state.sites[each] == site]
        if len(alike) == ZONES_WITH_A_SITE:
            play.tell(SetCompleted(figure, site))
            play.grant_tablets(figure, numbers.set_tablets, "set")


def _meet_ariki(play: Play, figure: Figure, place: str, *, known: bool) -> None:
    """First her points, a card and the story; later the standings and perhaps cards (rulebook, Red Adventurer)."""
    numbers, state = play.tuning.sites, play.state
    if known:
        play.tell(Standings({each: count + state.creature_points[each] for each, count in state.island_points.items()}))
        cards = play.draw_number("cards", numbers.cards.at(play.turns_since_visit(place)))
    else:
        state.ariki_turn = state.sent_turn = state.turn
        play.score(figure, numbers.ariki_points, ISLAND)
        cards = numbers.ariki_cards
    state.visited[place] = state.turn
    if cards:
        play.tell(ArikiCards(figure, cards))
    if not known:
        play.tell(Story())


def _meet_beachcomber(play: Play, figure: Figure, place: str, *, known: bool) -> None:
    """A relic of choice, later an exchange; a bonus for the first visit after a statue awoke (rulebook, Tips)."""
    numbers, state = play.tuning.sites, play.state
    choice = numbers.choice
    if known:
        choice = play.draw_number("beachcomber", numbers.choices.at(play.turns_since_visit(place)))
        play.tell(ExchangeOffered(figure))
    state.visited[place] = state.turn
    if choice:
        play.tell(RelicChoice(figure, choice))
    if not state.beachcomber_paid and play.statues_awake:
        state.beachcomber_paid = True
        play.tell(BeachcomberBonus(figure))
        play.score(figure, numbers.beachcomber_bonus, ISLAND)
