"""A read-only card in a guest of QEMU: a game begins, the power goes, and the game goes on.

What the introductory game is to an ordinary card (`family`). tools/image kills the guest when this says so, looks what
was written, and starts it again.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from firmware.game.kernel import Played
from firmware.journal import decode
from firmware.terms import Contact, Figure, Touch
from guest.family import begin, main, say, tell

TURNS = ("white beach-s explore", "red beach-sw explore")
"""Two of the four enter the island (rulebook, Begin of the game); how it goes on is chance."""
RUNNING = Path("/var/lib/volcano/running.journal")
CARD = "/opt/volcano/appliance/card"


def contacts() -> list[Contact]:
    """Of the running game, as the card has them."""
    records = decode(RUNNING.read_bytes()).records if RUNNING.exists() else []
    return [each.contact for each in records if isinstance(each, Played)]


def made() -> list[Contact]:
    """What the family has done."""
    return [Contact(Figure(name), field, Touch(word)) for name, field, word in map(str.split, TURNS)]


def mounted(path: str) -> tuple[str, list[str]]:
    """File system and options."""
    kind, options = say("findmnt", "--noheadings", "--output=FSTYPE,OPTIONS", path).split()
    return kind, options.split(",")


def look_at_the_card() -> None:
    """RAM lies over a card that cannot be written, and the boot partition cannot either."""
    assert mounted("/")[0] == "overlay", "no RAM lies over the card"
    for path in (CARD, "/boot/firmware"):
        assert "ro" in mounted(path)[1], f"{path} can be written"
    Path("/etc/left-behind").touch(exist_ok=False)


def play() -> None:
    """This start's part."""
    look_at_the_card()
    if os.environ["VOLCANO_START"] == "1":
        evening = begin()
        for turn in TURNS:
            evening.family.play(turn)
        evening.hold_to_what_was_told()
        assert contacts() == made(), "the journal has another game"
        tell(f"the state lies at {say('/opt/volcano/bin/state-file', 'place')}")
        tell("cut the power")
        time.sleep(60.0)
        raise TimeoutError("the power was not cut")
    assert contacts() == made(), "the game was lost"
    evening = begin()
    (resumed,) = (row for row in evening.rows.all if row.get("event") == "resumed")
    assert resumed["figure"] == made()[-1].figure.value, "somebody else was last"
    evening.hold_to_what_was_told()


if __name__ == "__main__":
    sys.exit(main(play))
