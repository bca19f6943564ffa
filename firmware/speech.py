"""What waits to be heard: one queue, one cue at a time (pure).

The rules of interruption live here, so that the console, the page and the board behave alike: chatter gives way to
whatever comes, facts always finish, the story may be skipped (rulebook, "The Ariki's speech").
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from firmware.terms import Pause, Rank, Say, Sound, Stop, Symbols

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from firmware.terms import Cue, Item


LIGHT = (Rank.CHATTER, Rank.STORY)
"""What gives way."""


class Speech:
    """The queue. `begin()` hands out what is heard next; `ended()` says that it has been heard."""

    def __init__(self) -> None:
        self.waiting: deque[Item] = deque()
        self.current: Say | Sound | Pause | None = None

    @property
    def idle(self) -> bool:
        """Nothing is said and nothing waits."""
        return self.current is None and not self.waiting

    @property
    def telling_story(self) -> bool:
        """Whether the Ariki's story is being told."""
        return _rank(self.current) is Rank.STORY

    def add(self, items: Iterable[Item]) -> None:
        """Append to what waits."""
        self.waiting.extend(items)

    def give_way(self) -> list[Cue]:
        """Something more important comes: chatter fades out and is dropped, facts stay."""
        self.waiting = deque(item for item in self.waiting if _rank(item) not in LIGHT)
        return self._break_off(*LIGHT)

    def cut_in(self, items: Sequence[Item]) -> list[Cue]:
        """An error is heard at once: chatter breaks off for it and is then said again; facts finish first."""
        broken, lead = self.current, []
        stopped = self._break_off(*LIGHT)
        if stopped and broken is not None:
            self.waiting.appendleft(broken)
        else:
            while self.waiting and _rank(self.waiting[0]) not in LIGHT:
                lead.append(self.waiting.popleft())
        self.waiting.extendleft(reversed([*lead, *items]))
        return stopped

    def skip_story(self) -> list[Cue]:
        """The push button in the story: the rest of the story is dropped, what follows is still said."""
        self.waiting = deque(item for item in self.waiting if _rank(item) is not Rank.STORY)
        return self._break_off(Rank.STORY)

    def clear(self) -> list[Cue]:
        """Everything is dropped."""
        self.waiting.clear()
        return self._break_off(*Rank, None)

    def begin(self) -> list[Cue]:
        """The cues that begin now: lights at once, then at most one cue that takes time, if none is under way."""
        begun: list[Cue] = []
        while self.current is None and self.waiting:
            item = self.waiting.popleft()
            if isinstance(item, Symbols):
                if not (self.waiting and isinstance(self.waiting[0], Symbols)):
                    begun.append(item)
            elif isinstance(item, Pause):
                self.current = item
            elif not isinstance(item, Stop):
                self.current = item
                begun.append(item)
        return begun

    def following(self) -> Say | Sound | None:
        """The cue that comes next if nothing intervenes, so that the player can join it without a gap."""
        for item in self.waiting:
            if isinstance(item, Say | Sound):
                return item
            if isinstance(item, Pause):
                return None
        return None

    def ended(self) -> None:
        """What began last has been heard."""
        self.current = None

    def _break_off(self, *ranks: Rank | None) -> list[Cue]:
        if self.current is None or _rank(self.current) not in ranks:
            return []
        audible = not isinstance(self.current, Pause)
        self.current = None
        return [Stop()] if audible else []


def _rank(item: Item | None) -> Rank | None:
    return item.rank if isinstance(item, Say | Sound) else None
