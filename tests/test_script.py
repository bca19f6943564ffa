"""How Die Insel is told: every event has its cues, every line its words, in both languages."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from table import TITLE, texts

from firmware import unit, unit_script
from firmware.calibrate import command, lesson
from firmware.catalogue import DOMAINS, RELIC_SITES, Catalogue, sounds_folder
from firmware.game.insel import events as told
from firmware.game.insel.board import CREATURES, RELICS
from firmware.game.insel.script import InselScript, point_tones
from firmware.game.insel.state import FIGHT, GUARDIAN, HERMIT, STATUE, TABLET, Guardian, InselState, Pending
from firmware.game.kernel import Event
from firmware.terms import FIGURES, RELIC_SYMBOLS, Figure, Pause, Rank, Say, Sound, SoundName, Symbol, Symbols

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firmware.game.insel.rules import InselRules
    from firmware.terms import Item

RULES: InselRules = TITLE.game  # type: ignore[assignment]
SCRIPT: InselScript = TITLE.script  # type: ignore[assignment]
BOARD = RULES.board
RED = Figure.RED
LANGUAGES = ("de", "en")

REASONS = (
    *("not_a_boat_field", "boat_taken", "too_late_to_enter"),
    *("nothing_pending", "not_yours", "wrong_number"),
)
"""Why a running game rejects (docs/console.md)."""


def state(site_of_jungle_w: str = "ariki") -> InselState:
    """An island on which every ruin has its guardian and much is discovered."""
    made = InselState(0, 0)
    made.statues = dict.fromkeys(BOARD.statues, 0)
    made.guardians = {
        field: Guardian(relic, 8) for field, relic in zip(("ruin-n", "ruin-e", "ruin-s", "ruin-w"), RELICS, strict=True)
    }
    made.guardians["ruin-n"] = made.guardians["ruin-n"].given(RED, 1)
    made.sites = {"beach-s": "temple", "jungle-w": site_of_jungle_w, "jungle-s": "hermit"}
    made.last = RED
    return made


PENDING = (
    Pending(FIGHT, RED, "beach-s", "spider", ("elixir",)),
    *(Pending(GUARDIAN, RED, ruin) for ruin in state().guardians),
    *(Pending(TABLET, RED, ruin, price=price) for ruin in state().guardians for price in (1, 2, 3)),
    Pending(STATUE, RED, "statue-n"),
    Pending(HERMIT, RED, "jungle-s"),
)


def samples() -> Iterator[Event]:
    """Every event with every value that changes how it is told."""
    yield from (told.IntroStarted(), told.IntroFinished(), told.Story(), told.FieldSilent("ruin-n"))
    yield from map(told.GameStarted, ("beginner", "advanced", "expert"))
    sites = (*RELIC_SITES, "ariki", "hermit", "beachcomber")
    yield from (told.Discovered(figure, "beach-s", site) for figure in FIGURES for site in sites)
    yield from (told.Entered(figure, "beach-s") for figure in FIGURES)
    yield from (told.Points(RED, count, kind) for count in range(1, 10) for kind in ("island", "creature"))
    yield from (told.Relics(RED, relic, count) for relic in RELICS for count in range(5))
    yield from (told.RelicChoice(RED, count) for count in (1, 2))
    yield from (told.ArikiCards(RED, count) for count in (1, 2))
    yield from (told.ExchangeOffered(RED), told.BeachcomberBonus(RED), told.Hermit(RED), told.Lapsed(RED))
    yield from (told.Standings(dict.fromkeys(FIGURES, total)) for total in (0, 1, 2, 150, 999))
    for ruin, relic in zip(state().guardians, RELICS, strict=True):
        yield from (told.GuardianAppeared(RED, ruin, relic, demand) for demand in range(7, 12))
        yield told.GuardianCredit(RED, ruin, 1)
        yield from (told.GuardianAsks(RED, ruin, relic, missing) for missing in range(1, 12))
        yield from (told.RelicsHanded(RED, ruin, count, missing) for count in (1, 2, 3) for missing in range(11))
        yield told.GuardianRests(ruin)
        yield from (told.TabletOffered(RED, ruin, relic, price) for price in (1, 2, 3))
    sources = ("guardian", "resting_guardian", "set", "golem")
    yield from (told.Tablets(RED, count, source) for count in range(1, 5) for source in sources)
    for statue in BOARD.statues:
        yield from (told.StatueAsks(RED, statue, missing) for missing in range(1, 8))
        yield from (told.TabletsLaid(RED, statue, count, missing) for count in (1, 2, 3) for missing in range(7))
        yield from (told.StatueAwakened(RED, statue), told.StatueGreets(RED, statue))
    yield from (told.SetCompleted(figure, site) for figure in FIGURES for site in RELIC_SITES)
    for creature, field in itertools.product(CREATURES, BOARD.fields):
        yield told.CreatureAppeared(creature, field)
        yield told.Fought(RED, creature, "relics", 1, "moves", field)
        yield told.CreaturePlaces({creature: field})
    for creature in CREATURES:
        yield from (told.CreatureMet(RED, creature, "beach-s", (relic,)) for relic in RELICS)
        yield told.Fought(RED, creature, "relics", 1, "stays")
        yield from (told.Fought(RED, creature, with_, 1, "vanishes") for with_ in ("relics", "tablet", "strength"))
    yield told.CreaturePlaces({})
    yield told.CreatureMet(RED, "snake", "beach-s", RELICS)
    yield from (told.Strengthened(figure) for figure in FIGURES)
    yield from (told.DragonAttacks(figure, "beach-s") for figure in FIGURES)
    points = {Figure.WHITE: 30, RED: 12}
    for reason, saved in (("creatures", False), ("creatures", True), ("statues", True)):
        yield told.GameOver(reason, saved, points, points, (Figure.WHITE,))
        yield told.GameOver(reason, saved, dict.fromkeys(points, 7), points, tuple(points))


SAMPLES = tuple(samples())

TOGETHER: tuple[tuple[Event, ...], ...] = (
    (told.Fought(RED, "gnome", "relics", 1, "vanishes"), told.ArikiCards(RED, 1)),
    (told.Fought(RED, "gnome", "relics", 1, "vanishes"), told.ArikiCards(RED, 2)),
    (
        told.Points(RED, 1, "creature"),
        told.Points(RED, 3, "creature"),
        told.Fought(RED, "gnome", "tablet", 1, "vanishes"),
    ),
    (told.GameOver("creatures", saved=False, points={RED: 0}, creature_points={RED: 0}, winners=(RED, Figure.WHITE)),),
)
"""Events that are told otherwise in the company of others."""


def everything_said() -> set[Say]:
    """All lines with arguments that the script can say."""
    items: list[Item] = []
    for events in (*((event,) for event in SAMPLES), *TOGETHER):
        for pending in (None, *PENDING):
            here = state()
            here.pending = pending
            items += SCRIPT.cues(events, here)
            items += SCRIPT.cues(events, here, repeat=True)
    for pending in PENDING:
        here = state()
        here.pending = pending
        items += SCRIPT.question(here)
    for reason in REASONS:
        items += SCRIPT.hint(state(), reason)
    items += SCRIPT.hint(None, "no_game")
    items += SCRIPT.resumed(state())
    for step, asked in itertools.product(range(len(BOARD.intro)), (False, True)):
        if not asked or BOARD.intro[step].then:
            intro = TITLE.intro.load({"step": step, "asked": asked, "generator": 0})
            items += SCRIPT.hint(intro, "not_expected")
    return {item for item in items if isinstance(item, Say)}


SAID = everything_said()


def lines_of_the_unit() -> set[str]:
    """The lines that the unit itself and calibration say, read from their sources."""
    trees = [ast.parse(inspect.getsource(module)) for module in (unit, unit_script, command, lesson)]
    calls = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call))
    found = set()
    for call in calls:
        if isinstance(call.func, ast.Name) and call.func.id == "say":
            found |= {str(node.value) for node in ast.walk(call.args[0]) if isinstance(node, ast.Constant)}
    return found | {"explores", "inferred"}  # chosen by the Touch field before it is said


def heard(*events: Event, repeat: bool = False, here: InselState | None = None) -> list[str]:
    """Lines and sounds."""
    items = SCRIPT.cues(events, here or state(), repeat=repeat)
    return [item.line if isinstance(item, Say) else item.name.value for item in items if isinstance(item, Say | Sound)]


def lit(*events: Event) -> tuple[Symbol, ...]:
    """What is lit in the end."""
    *_, last = [item for item in SCRIPT.cues(events, state()) if isinstance(item, Symbols)]
    return last.lit


# --- every event is told


def test_the_samples_hold_every_event_of_both_games() -> None:
    classes = {each for _, each in inspect.getmembers(told, inspect.isclass) if issubclass(each, Event)} - {Event}
    assert {type(event) for event in SAMPLES} == classes


@pytest.mark.parametrize("name", sorted({event.name for event in SAMPLES}))
def test_every_event_has_cues(name: str) -> None:
    for event in SAMPLES:
        if event.name == name:
            said = heard(event)
            told_elsewhere = name == "lapsed"
            assert bool(said) != told_elsewhere, event


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_line_is_in_the_catalogue_with_the_arguments_it_needs(language: str) -> None:
    catalogue = texts(language)
    known = set(catalogue)
    for item in SAID:
        assert item.line in known
        args = dict(item.args)
        for name in catalogue.arguments(item.line):
            assert args[name] in DOMAINS[name], item
        for variant in range(catalogue.variants(item.line)):
            assert catalogue.text(item.line, item.args, variant)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_line_of_the_catalogue_is_said(language: str) -> None:
    assert set(texts(language)) == {item.line for item in SAID} | lines_of_the_unit()


@pytest.mark.parametrize("field", BOARD.fields)
def test_a_place_is_named_by_zone_or_compass(field: str) -> None:
    place = SCRIPT.place(field, state())
    assert place in DOMAINS["place"]
    kind, _, where = field.partition("-")
    if kind in ("ruin", "statue"):
        assert place == f"{kind}-{ {'n': 'north', 'e': 'east', 's': 'south', 'w': 'west'}[where] }"
    elif field == "beach-s":
        assert place == "temple-beach"
    elif field in ("jungle-w", "jungle-s"):
        assert place == state().sites[field]
    else:
        assert place.startswith("unexplored-")


# --- how it is told


def test_point_tones_come_in_pairs() -> None:
    def tones(count: int) -> list[int]:
        groups = [0]
        for item in point_tones(count):
            if isinstance(item, Pause):
                groups.append(0)
            else:
                assert item == Sound(SoundName.POINT)
                groups[-1] += 1
        return groups[:-1]

    assert tones(1) == [1]
    assert tones(2) == [2]
    assert tones(3) == [2, 1]
    assert tones(4) == [2, 2]
    assert tones(7) == [2, 2, 2, 1]


def test_a_repetition_says_numbers() -> None:
    assert heard(told.Points(RED, 3, "island")) == ["point"] * 3
    assert heard(told.Points(RED, 3, "island"), repeat=True) == ["points"]


def test_what_the_announcement_is_about_is_lit() -> None:
    star, circle, triangle, square, ariki = Symbol
    assert lit(told.Discovered(RED, "beach-s", "well")) == (circle,)
    assert lit(told.Discovered(RED, "beach-s", "ariki")) == (ariki,)
    assert lit(told.Discovered(RED, "beach-s", "beachcomber")) == RELIC_SYMBOLS
    assert lit(told.Discovered(RED, "beach-s", "hermit")) == ()
    assert lit(told.Relics(RED, "stone", 0)) == (square,)
    assert lit(told.GuardianAsks(RED, "ruin-n", "amulet", 3)) == (star,)
    assert lit(told.TabletOffered(RED, "ruin-n", "crystal", 3)) == (triangle,)
    assert lit(told.CreatureMet(RED, "snake", "beach-s", RELICS)) == RELIC_SYMBOLS
    assert lit(told.CreatureMet(RED, "gnome", "beach-s", ("elixir",))) == (circle,)
    assert lit(told.Standings({RED: 3})) == (ariki,)


def test_whatever_is_announced_first_darkens_what_was_lit_but_rock_does_not() -> None:
    for event in SAMPLES:
        items = SCRIPT.cues([event], state())
        if isinstance(event, told.CreaturePlaces):
            assert not [item for item in items if isinstance(item, Symbols)]
        else:
            assert isinstance(items[0], Symbols)


def test_the_ariki_tells_joyfully_that_a_creature_is_gone() -> None:
    for language in LANGUAGES:
        assert texts(language).voice("creature-vanishes", (("creature", "spider"),)) == "ariki"


def test_facts_are_places_counts_points_and_questions() -> None:
    facts = {item.line for item in SAID if item.rank is Rank.FACT}
    assert facts >= {
        *("discovered", "finds", "points", "total", "place", "missing", "tablets", "tablets-missing"),
        *("guardian-demands", "guardian-question", "fight-question", "statue-question", "tablet-offered"),
        *("hermit-question", "gnome-wants", "winner", "name", "relic-choice", "ariki-cards"),
    }
    story = {item.line for item in SAID if item.rank is Rank.STORY}
    assert story == {line for line in texts("de") if line.startswith("story-")}


def test_a_fight_says_where_the_creature_went() -> None:
    assert heard(told.Fought(RED, "spider", "relics", 1, "moves", "ruin-e")) == ["spider", "creature-flees", "place"]
    assert heard(told.Fought(RED, "spider", "relics", 1, "stays")) == ["spider", "creature-stays"]
    by_strength = told.Fought(RED, "golem", "strength", 0, "vanishes")
    assert heard(by_strength) == ["golem", "golem-gone", "creature-flees-strength"]


@pytest.mark.parametrize("creature", CREATURES)
def test_the_cry_comes_first_and_what_vanishes_is_heard_to_flee(creature: str) -> None:
    for with_ in ("relics", "tablet"):
        vanished = told.Fought(RED, creature, with_, 1, "vanishes")
        assert heard(vanished) == [creature, f"{creature}-gone", "creature-vanishes"]


def test_the_volcano_erupts_only_if_the_island_is_lost() -> None:
    points = {RED: 12}
    for reason, saved, sound in (
        ("creatures", False, "eruption"),
        ("creatures", True, "rumble"),
        ("statues", True, "rumble"),
    ):
        assert heard(told.GameOver(reason, saved, points, points, (RED,)))[0] == sound


def test_a_statue_is_heard_to_awake() -> None:
    assert heard(told.StatueAwakened(RED, "statue-n")) == ["awakening", "statue-awakens"]


def test_the_result_is_told_from_last_to_first() -> None:
    points = {Figure.WHITE: 30, RED: 12, Figure.GREEN: 41}
    over = told.GameOver("statues", True, points, points, (Figure.GREEN,))
    said = [item for item in SCRIPT.cues([over], state()) if isinstance(item, Say)]
    assert [dict(item.args).get("figure") for item in said if item.line in ("name", "winner")] == [
        *("red", "white", "green"),
        "green",
    ]
    assert said[0].line == "over-rescued"


# --- German and English


def test_both_languages_have_the_same_lines_arguments_and_speakers() -> None:
    german, english = map(texts, LANGUAGES)
    assert list(german) == list(english), "in the same order, so that they can be compared side by side"
    for line in german:
        assert german.arguments(line) == english.arguments(line), line
        args = tuple((name, DOMAINS[name][0]) for name in german.arguments(line))
        assert german.voice(line, args) == english.voice(line, args), line


GLOSSARY: dict[str, dict[str, dict[str, str]]] = {
    "de": {
        "figure": {"white": "Weiß", "red": "Rot", "green": "Grün", "black": "Schwarz"},
        "relic": {"amulet": "Amulett", "elixir": "Elixier", "crystal": "Kristall", "stone": "Stein"},
        "site": {"temple": "Tempel", "well": "Brunnen", "crystal": "Kristall", "tower": "T[uü]rm"},
        "creature": {
            "spider": "Riesenspinne",
            "snake": "Schlange",
            "griffin": "Greif",
            "dragon": "Drache",
            "gnome": "Gnom",
            "triton": "Triton",
            "golem": "Lavagolem",
        },
        "place": {
            "temple-": "Tempel",
            "well-": "Brunnen",
            "crystal-": "Kristall",
            "tower-": "Turm",
            "ariki": "Ariki",
            "hermit": "Einsiedler",
            "beachcomber": "Strandgutsammlerin",
            "ruin-": "Ruine",
            "statue-": "Statue",
            "-beach": "Strand",
            "-jungle": "Dschungel",
            "-mountains": "Berge",
            "-north": "Norden",
            "-east": "Osten",
            "-south": "Süden",
            "-west": "Westen",
        },
    },
    "en": {
        "figure": {"white": "White", "red": "Red", "green": "Green", "black": "Black"},
        "relic": {"amulet": "amulet", "elixir": "elixir", "crystal": "crystal", "stone": "stone"},
        "site": {"temple": "temple", "well": "well", "crystal": "crystal", "tower": "tower"},
        "creature": {
            "spider": "giant spider",
            "snake": "snake",
            "griffin": "griffin",
            "dragon": "dragon",
            "gnome": "gnome",
            "triton": "triton",
            "golem": "lava golem",
        },
        "place": {
            "temple-": "temple",
            "well-": "well",
            "crystal-": "crystal",
            "tower-": "tower",
            "ariki": "Ariki",
            "hermit": "Hermit",
            "beachcomber": "Beachcomber",
            "ruin-": "ruin",
            "statue-": "statue",
            "-beach": "beach",
            "-jungle": "jungle",
            "-mountains": "mountains",
            "-north": "north",
            "-east": "east",
            "-south": "south",
            "-west": "west",
        },
    },
}
PRONOUNS = {"creature-stays"}
"""Lines whose second mention of an argument is a pronoun."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_keeps_to_the_glossary(language: str) -> None:
    catalogue = texts(language)
    for line, args, variant, text in catalogue.clips():
        for name, value in args:
            if spoken_about(catalogue, line, variant, name):
                for term, word in GLOSSARY[language].get(name, {}).items():
                    if term == value or (name == "place" and "-" in term and term in str(value)):
                        assert re.search(word, text, re.IGNORECASE), (line, args, text)


def spoken_about(catalogue: Catalogue, line: str, variant: int, name: str) -> bool:
    """Whether the wording depends on this argument; a guardian's relic may only choose his voice."""
    others = [(each, DOMAINS[each][0]) for each in catalogue.arguments(line) if each != name]
    said = {
        catalogue.text(line, tuple(sorted([*others, (name, value)])), variant)
        for value in itertools.islice(DOMAINS[name], 4)
    }
    return len(said) > 1


STRANGERS = {
    "de": ("Monster", "Ungeheuer", "Eremit", "Bestie", "Spinnentier", "Zaubertrank", "Göttin", "untersuch"),
    "en": ("monster", "eremite", "potion", "goddess", "scavenger", "slab", "investigate"),
}
"""Words for what the glossary names otherwise."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_uses_another_word_than_the_glossary(language: str) -> None:
    for line, _, _, text in texts(language).clips():
        assert not [word for word in STRANGERS[language] if word.lower() in text.lower()], (line, text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_clip_is_clean_text(language: str) -> None:
    halves = ("creature-appears", "creature-flees")  # the place follows and ends the sentence
    for line, args, _, text in texts(language).clips():
        assert text == " ".join(text.split()), (line, args)
        assert not set(text) & set("{}$[]*<>"), (line, args)
        assert text[-1] in ".!?:" or line in halves, (line, args)
        assert "None" not in text


def test_wordings_of_a_line_differ() -> None:
    for language in LANGUAGES:
        catalogue = texts(language)
        for line in catalogue:
            args = tuple((name, DOMAINS[name][0]) for name in catalogue.arguments(line))
            said: list[Any] = [catalogue.text(line, args, variant) for variant in range(catalogue.variants(line))]
            assert len(set(said)) == len(said), line


def test_the_sources_name_their_glossary() -> None:
    for language, word in (("de", "Strandgutsammlerin"), ("en", "Beachcomber")):
        head = Path(sounds_folder() / f"{language}.ftl").read_text(encoding="utf-8")[:600]
        assert word in head
