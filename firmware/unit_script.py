"""What the unit itself says at some length: the four signals, the self-test, and contacts by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.terms import FIGURES, SYMBOLS, TOUCHES, Part, Rank, Sound, SoundName, Symbols, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firmware.terms import Fault, Figure, Item, Say, Touch

RAILS = ("a", "b", "c")
"""The joined rings round the fields' centres, on boards that have them."""

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

MOST_NAMED = 9
MOST_COUNTED = 40
"""So many parts are named, and so many counted: a board has 29 pads, five lights, button, battery and sound."""


def self_test(faults: Sequence[Fault]) -> list[Item]:
    """Every light with its name, the sounds, which parts do not work; and how the check of contacts goes on."""
    items: list[Item] = [say("self-test")]
    for symbol in SYMBOLS:
        items += [Symbols((symbol,)), say("light", symbol=symbol)]
    items += [Symbols(), Sound(SoundName.HARP), Sound(SoundName.POINT), Sound(SoundName.ERROR)]
    items.append(say("faults", faults=min(len(faults), MOST_COUNTED)) if faults else say("no-faults"))
    if len(faults) > MOST_NAMED:
        items.append(say("faults-many"))
    for fault in faults[:MOST_NAMED]:
        items += fault_lines(fault)
    return [*items, Symbols(SYMBOLS), say("check-mode")]


_SINGLE = {
    Part.BUS: say("fault-bus"),
    Part.BUTTON: say("fault-button"),
    Part.BATTERY: say("fault-battery"),
    Part.SOUND: say("fault-sound"),
}
"""Parts of which a volcano has one."""


def fault_lines(fault: Fault) -> list[Say]:
    """What does not work, by the name of the part."""
    match fault.part:
        case Part.PAD:
            return [say("fault-pad"), pad_name(fault.name)]
        case Part.LIGHT:
            return [say("fault-light"), say("light", symbol=fault.name)]
        case Part.CHIP:
            return [say("fault-chip", chip=int(fault.name))]
        case _:
            return [_SINGLE[fault.part]]


def contact_names(figure: Figure | None, field: str, touch: Touch) -> list[Item]:
    """A contact by name: the figure, None if unknown, the field, the Touch field."""
    who = say("figure-unknown") if figure is None else say("figure-name", figure=figure)
    return [who, say("field-name", field=field), say("touch-name", touch=touch)]


def pad_name(pad: str) -> Say:
    """The name of a Touch field, a rail, a colour pad or, what all others are, a field."""
    if pad in TOUCHES:
        return say("touch-name", touch=pad)
    if pad in FIGURES:
        return say("badge-name", figure=pad)
    return say("rail-name", rail=pad) if pad in RAILS else say("field-name", field=pad)
