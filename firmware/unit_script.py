"""What the unit itself says at some length: the four signals and the self-test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.terms import SYMBOLS, Rank, Sound, SoundName, Symbols, say

if TYPE_CHECKING:
    from firmware.terms import Item

_CHATTER = Rank.CHATTER
"""Also of the sounds: cut short, they must not be taken for the next contact's."""

SIGNALS: tuple[Item, ...] = (
    say("signal-place", _CHATTER),
    Sound(SoundName.HARP, _CHATTER),
    say("signal-points", _CHATTER),
    Sound(SoundName.POINT, _CHATTER),
    Sound(SoundName.POINT, _CHATTER),
    say("signal-creature", _CHATTER),
    Sound(SoundName.SPIDER, _CHATTER),
    say("signal-error", _CHATTER),
    Sound(SoundName.ERROR, _CHATTER),
)
"""A new place, two points, a creature, an input error (rulebook, The functions of the Touch field "Rock")."""

MOST_FAULTS = 9
"""More are said as so many."""


def self_test(faults: int) -> list[Item]:
    """Every light with its name, the sounds, how many parts do not work, and the settings again."""
    items: list[Item] = [say("self-test")]
    for symbol in SYMBOLS:
        items += [Symbols((symbol,)), say("light", symbol=symbol)]
    items += [Symbols(), Sound(SoundName.HARP), Sound(SoundName.POINT), Sound(SoundName.ERROR)]
    items.append(say("faults", faults=min(faults, MOST_FAULTS)) if faults else say("no-faults"))
    return [*items, Symbols(SYMBOLS), say("settings")]
