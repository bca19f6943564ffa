"""What waits to be heard: one queue, one cue at a time (pure).

The rules of interruption live here, so that the console, the page and the board behave alike: chatter gives way to
whatever comes, facts always finish, the story may be skipped (rulebook, "The Ariki's speech").
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from firmware.terms import Pause, Rank, Say, Sound, SoundName, Stop, Symbol, Symbols

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from firmware.terms import Cue, Item, Texts


LIGHT = (Rank.CHATTER, Rank.STORY)
"""What gives way."""


class Speech:
    """The queue, in the words of `texts`. `begin()` hands out what is heard next; `ended()`: it has been heard."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self._wordings: dict[str, int] = {}
        """Line -> the wording it had last."""
        self.waiting: deque[Item] = deque()
        self.current: Say | Sound | Pause | None = None
        self._earlier: tuple[Item, ...] = ()
        """Facts of earlier announcements that were still to be heard when the present one began."""

    @property
    def idle(self) -> bool:
        """Nothing is said and nothing waits."""
        return self.current is None and not self.waiting

    @property
    def telling_story(self) -> bool:
        """Whether the Ariki's story is being told, or follows what is being said."""
        return any(_rank(item) is Rank.STORY for item in (self.current, *self.waiting))

    def add(self, items: Iterable[Item]) -> list[Item]:
        """Append to what waits; the items with their wordings."""
        worded = self._worded(items)
        self.waiting.extend(worded)
        return worded

    def _worded(self, items: Iterable[Item]) -> list[Item]:
        """Give every line its wording and voice; the same wording is never chosen twice running."""
        worded: list[Item] = []
        for item in items:
            if isinstance(item, Say) and not item.text:
                variant = (self._wordings.get(item.line, -1) + 1) % self.texts.variants(item.line)
                self._wordings[item.line] = variant
                text = self.texts.text(item.line, item.args, variant)
                worded.append(item.spoken(text, variant, self.texts.voice(item.line, item.args)))
            else:
                worded.append(item)
        return worded

    def give_way(self) -> list[Cue]:
        """Something more important comes: chatter fades out and is dropped, facts stay."""
        self.waiting = deque(item for item in self.waiting if _rank(item) not in LIGHT)
        return self._break_off(*LIGHT)

    def announce(self) -> list[Cue]:
        """A new announcement follows: chatter gives way, what is left counts as earlier."""
        stopped = self.give_way()
        under_way = [] if self.current is None else [self.current]
        self._earlier = (*under_way, *self.waiting)
        return stopped

    def remark(self, items: Iterable[Item]) -> None:
        """Facts beside the announcement: they follow what waits, and are heard also if that is to be said again."""
        self._earlier = (*self._earlier, *self.add(items))

    def again(self) -> list[Cue]:
        """The announcement is to be said again from its beginning; earlier facts, not heard yet, come first."""
        self.waiting = deque(item for item in self.waiting if self._is_earlier(item))
        return [] if self._is_earlier(self.current) else self._break_off(*Rank, None)

    def _is_earlier(self, item: Item | None) -> bool:
        return any(item is each for each in self._earlier)

    def cut_in(self, items: Sequence[Item]) -> list[Cue]:
        """An error is heard at once: chatter breaks off for it and is then said again; facts finish first."""
        broken, lead = self.current, []
        stopped = self._break_off(*LIGHT)
        if stopped and broken is not None:
            self.waiting.appendleft(broken)
        else:
            while self.waiting and _rank(self.waiting[0]) not in LIGHT:
                lead.append(self.waiting.popleft())
        self.waiting.extendleft(reversed([*lead, *self._worded(items)]))
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


# --- announcements as JSON, for a saved state


def dump_items(items: Iterable[Item]) -> list[list[Any]]:
    """Items as JSON rows; wordings are chosen anew when they are said."""
    rows: list[list[Any]] = []
    for item in items:
        if isinstance(item, Say):
            rows.append(["say", item.line, item.rank.value, dict(item.args)])
        elif isinstance(item, Sound):
            rows.append(["sound", item.name.value, item.rank.value])
        elif isinstance(item, Symbols):
            rows.append(["symbols", [symbol.value for symbol in item.lit]])
        elif isinstance(item, Pause):
            rows.append(["pause", item.ms])
    return rows


def load_items(rows: Iterable[Sequence[Any]]) -> list[Item]:
    """The items of which `dump_items` made the rows.

    Raises:
        ValueError: a row is none of those.
    """
    items: list[Item] = []
    for row in rows:
        match row:
            case ["say", str(line), rank, dict(args)]:
                items.append(Say(line, tuple(sorted(args.items())), Rank(rank)))
            case ["sound", name, rank]:
                items.append(Sound(SoundName(name), Rank(rank)))
            case ["symbols", list(lit)]:
                items.append(Symbols(tuple(map(Symbol, lit))))
            case ["pause", int(ms)]:
                items.append(Pause(ms))
            case _:
                raise ValueError(f"{row!r} is nothing that can be said or shown")
    return items
