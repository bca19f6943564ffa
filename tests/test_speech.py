"""What may interrupt what: chatter gives way, facts finish, the story may be skipped."""

from __future__ import annotations

import pytest
from table import texts

from firmware.speech import Speech, dump_items, load_items
from firmware.terms import Item, Pause, Rank, Say, Sound, SoundName, Stop, Symbol, Symbols, say


def worded(line: str, rank: Rank = Rank.FACT) -> Say:
    return say(line, rank).spoken(f"{line}.", 0, "narrator")


FACT, OTHER = worded("fact"), worded("other-fact")
CHATTER = worded("chatter", Rank.CHATTER)
MORE = worded("more-chatter", Rank.CHATTER)
STORY = [worded(f"story-{number}", Rank.STORY) for number in range(1, 4)]
HARP, ERROR = Sound(SoundName.HARP), Sound(SoundName.ERROR)
STAR, DARK = Symbols((Symbol.STAR,)), Symbols()


def speech(*items: Item) -> Speech:
    """A speech that has begun."""
    made = Speech(texts("de"))
    made.add(items)
    made.begin()
    return made


def rest(made: Speech) -> list[Item]:
    """Everything that is still said, in order."""
    said: list[Item] = [] if made.current is None else [made.current]
    for _ in range(100):
        made.ended()
        begun = made.begin()
        said += begun
        if isinstance(made.current, Pause):
            said.append(made.current)
        if made.idle:
            return said
    raise AssertionError("it never ends")


def test_one_cue_at_a_time_in_order() -> None:
    made = Speech(texts("de"))
    made.add([FACT, HARP, OTHER])
    assert made.begin() == [FACT]
    assert made.begin() == [], "it is still being said"
    made.ended()
    assert made.begin() == [HARP]
    made.ended()
    assert made.begin() == [OTHER]
    assert not made.idle
    made.ended()
    assert made.begin() == []
    assert made.idle


def test_lights_take_no_time_and_only_the_last_of_a_row_counts() -> None:
    made = Speech(texts("de"))
    made.add([DARK, STAR, FACT, DARK])
    assert made.begin() == [STAR, FACT]
    made.ended()
    assert made.begin() == [DARK]


def test_a_pause_takes_its_time_and_is_no_cue() -> None:
    made = Speech(texts("de"))
    made.add([Pause(400), FACT])
    assert made.begin() == []
    assert made.current == Pause(400)
    made.ended()
    assert made.begin() == [FACT]


def test_chatter_fades_and_facts_finish() -> None:
    made = speech(CHATTER, FACT, MORE, STAR, *STORY, OTHER)
    assert made.give_way() == [Stop()]
    assert rest_after(made) == [FACT, STAR, OTHER]
    made = speech(FACT, CHATTER)
    assert made.give_way() == []
    assert rest(made) == [FACT]


def rest_after(made: Speech) -> list[Item]:
    return [*made.begin(), *rest(made)[1:]]


def test_a_pause_between_points_is_not_broken_off_by_a_contact() -> None:
    made = speech(Pause(400), FACT)
    assert made.give_way() == []
    assert made.current == Pause(400)


def test_only_the_story_is_skipped() -> None:
    made = speech(*STORY, CHATTER, FACT)
    assert (made.telling_story, made.skip_story(), made.telling_story) == (True, [Stop()], False)
    assert rest_after(made) == [CHATTER, FACT]


def test_a_story_that_follows_is_skipped_while_a_fact_finishes() -> None:
    made = speech(FACT, *STORY, OTHER)
    assert (made.telling_story, made.skip_story(), made.telling_story) == (True, [], False)
    assert rest(made) == [FACT, OTHER]


def test_an_error_comes_at_once_and_what_broke_off_is_said_again() -> None:
    made = speech(CHATTER, FACT)
    assert made.cut_in([ERROR]) == [Stop()]
    assert rest_after(made) == [ERROR, CHATTER, FACT]


def test_an_error_waits_for_facts_but_not_for_chatter() -> None:
    made = speech(FACT, STAR, OTHER, CHATTER, HARP)
    assert made.cut_in([ERROR]) == []
    assert rest(made) == [FACT, STAR, OTHER, ERROR, CHATTER, HARP]


def test_an_error_in_silence() -> None:
    made = Speech(texts("de"))
    assert made.cut_in([ERROR]) == []
    assert made.begin() == [ERROR]


def test_a_repetition_drops_the_announcement_but_no_earlier_fact() -> None:
    made = speech(HARP, FACT, CHATTER)
    assert made.announce() == []
    made.add([OTHER, MORE])
    assert made.again() == []
    made.add([worded("again")])
    assert rest(made) == [HARP, FACT, worded("again")]


def test_a_repetition_of_the_only_announcement_begins_anew() -> None:
    made = Speech(texts("de"))
    assert made.announce() == []
    made.add([FACT, OTHER])
    made.begin()
    assert made.again() == [Stop()]
    assert made.idle


def test_equal_facts_of_two_announcements_are_told_apart() -> None:
    made = speech(HARP, worded("name"))
    made.announce()
    made.add([worded("name")])
    made.again()
    assert rest(made) == [HARP, worded("name")]


def test_clearing_drops_everything() -> None:
    made = speech(FACT, OTHER)
    assert made.clear() == [Stop()]
    assert made.idle
    assert speech(Pause(400)).clear() == [], "silence needs no stop"
    assert Speech(texts("de")).clear() == []


def test_the_next_cue_is_known_if_nothing_comes_between() -> None:
    assert speech(FACT, STAR, HARP).following() == HARP
    assert speech(FACT, Pause(400), HARP).following() is None
    assert speech(FACT).following() is None
    assert speech(FACT, STAR).following() is None


def test_an_announcement_survives_json() -> None:
    items: list[Item] = [STAR, HARP, say("finds", relic="amulet", found=2), Pause(400), say("more", Rank.STORY)]
    assert load_items(dump_items(items)) == items
    spoken = Say("name", (("figure", "red"),)).spoken("Rot:", 1, "narrator")
    assert load_items(dump_items([spoken])) == [say("name", figure="red")], "the wording is chosen anew"


@pytest.mark.parametrize(
    "row", [[], ["say"], ["say", 1, "fact", {}], ["sound", "drum", "fact"], ["symbols", ["moon"]], 7]
)
def test_what_is_no_announcement_is_refused(row: list[object]) -> None:
    with pytest.raises(ValueError, match=r"is nothing that can be|is not a valid"):
        load_items([row])
