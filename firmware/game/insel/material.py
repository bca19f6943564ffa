"""What lies in the box beside the board: relic cards, stone tablets, Ariki cards (rulebook, Contents)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from firmware.config import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firmware.config import Table

OWN_MATERIAL = Path(__file__).with_name("material.toml")

GRADES = ("K", "I", "D")
COLOURS = 7
"""Of the tablets: one tablet of each awakens a statue (rulebook, Giving stone tablets to statues)."""
ARIKI_CARDS = 15
START_CARDS = 2
"""For each player (rulebook, Contents)."""


class Card(StrEnum):
    """The kinds of Ariki cards (rulebook, The meaning of the individual Ariki cards)."""

    DOUBLE_TURN = "double_turn"
    FLYING = "flying"
    ADDITIONAL_RELICS = "additional_relics"
    COLOURLESS_TABLET = "colourless_tablet"
    FIREPROOF_TABLET = "fireproof_tablet"
    TRICKED = "tricked"


@dataclass(frozen=True, slots=True)
class Material:
    """The contents of the box."""

    relics_of_each: int
    tablets_of_each: int
    colours: tuple[str, ...]
    free_steps: int
    """So many fields a figure walks without paying."""
    start_cards: Mapping[Card, int]
    ariki_cards: Mapping[Card, int]


def load_material(path: Path | None = None) -> Material:
    """Read the box that comes with the game, or an owner's copy.

    Raises:
        ConfigError: something in the file is missing, unknown or out of range; names file, line and key.
    """
    root = read_table(path or OWN_MATERIAL)
    opened: list[Table] = [root]

    def table(key: str) -> Table:
        found = root.table(key)
        found.text("grade", choices=GRADES)
        found.text("source")
        opened.append(found)
        return found

    colours = (named := table("colours")).list_of("names", str, size=COLOURS)
    if len(set(colours)) != COLOURS:
        raise named.error("names", f"must be {COLOURS} different colours, is {colours!r}")
    material = Material(
        relics_of_each=table("relics").whole("of_each", low=1),
        tablets_of_each=table("tablets").whole("of_each", low=1),
        colours=tuple(colours),
        free_steps=table("steps").whole("free", low=1),
        start_cards=_cards(table("start_cards"), START_CARDS),
        ariki_cards=_cards(table("ariki_cards"), ARIKI_CARDS),
    )
    for each in opened:
        each.done()
    return material


def _cards(table: Table, total: int) -> Mapping[Card, int]:
    """How many cards there are of each kind."""
    counts = {card: table.whole(card, 0, low=0) for card in Card}
    if sum(counts.values()) != total:
        raise table.error("source", f"there are {total} cards in all, here {sum(counts.values())}")
    return MappingProxyType(counts)
