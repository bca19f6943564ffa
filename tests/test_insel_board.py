"""The island's file: what it holds, and how a wrong one is named."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from firmware.config import ConfigError
from firmware.game.insel.board import PEOPLE, SITES, Kind, load_board
from firmware.terms import Figure, Touch

if TYPE_CHECKING:
    from pathlib import Path

BOARD = load_board()
TEXT = (files("firmware.game.insel") / "board.toml").read_text(encoding="utf-8")


def test_fifteen_fields_take_a_red_figure_and_there_are_four_ruins_and_four_statues() -> None:
    kinds = list(BOARD.kinds.values())
    assert [kinds.count(kind) for kind in Kind] == [15, 4, 4]
    assert len(BOARD.fields) == len(set(BOARD.fields)) == 23


def test_every_zone_has_room_for_the_four_relic_sites_and_its_people() -> None:
    for zone, fields in BOARD.zones.items():
        assert len(fields) == len(SITES) + len(BOARD.people_in[zone])
    assert sorted(person for people in BOARD.people_in.values() for person in people) == sorted(PEOPLE)


def test_boats_lie_on_five_beach_fields() -> None:
    assert len(BOARD.boats) == 5
    assert set(BOARD.boats) == set(BOARD.zones["beach"])


def test_paths_go_both_ways_and_the_introductory_walks_exist() -> None:
    for field, others in BOARD.neighbours.items():
        assert all(field in BOARD.neighbours[other] for other in others)
    assert BOARD.distance("beach-s", "jungle-s") == 1  # W1 - W2
    assert BOARD.distance("beach-sw", "jungle-w") == 2  # R1 - R2 past the statue
    assert BOARD.distance("mountain-sw", "ruin-w") == 2  # W3 - W4 past the Ariki
    assert BOARD.distance("ruin-s", "beach-s") == 2  # R5 - R6
    assert BOARD.distance("ruin-n", "ruin-n") == 0


def test_the_introductory_game_has_eleven_turns() -> None:
    assert len(BOARD.intro) == 11
    ninth = BOARD.intro[8]
    assert (ninth.figure, ninth.field, ninth.guardian, ninth.demand) == (Figure.RED, "ruin-s", "crystal", 7)
    assert (ninth.then, ninth.appears, ninth.at) == (Touch.ONE, "spider", "beach-s")
    last = BOARD.intro[10]
    assert (last.fights, last.outcome, last.creature_points) == ("spider", "vanishes", 2)


@pytest.mark.parametrize(
    ("old", "new", "where", "problem"),
    [
        ('["beach-s", "jungle-s"]', '["beach-s", "jungle-x"]', "paths.edges", "'jungle-x'"),
        ('["beach-s", "jungle-s"]', '["beach-s", "beach-s"]', "paths.edges", "two different fields"),
        ('["beach-s", "jungle-s"]', '["beach-se", "beach-s"]', "paths.edges", "there twice"),
        ('["beach-s", "jungle-s"]', '["beach-s"]', "paths.edges", "two different fields"),
        ('"beach-sw", "beach-nw"]\njungle', '"beach-sw", "beach-sw"]\njungle', "zones.beach", "there twice"),
        ('jungle    = ["jungle-n"', 'jungle    = ["beach-s"', "zones.jungle", "another zone"),
        ('ruins   = ["ruin-n"', 'ruins   = ["jungle-n"', "special.ruins", "twice on the board"),
        ('statues = ["statue-n", ', "statues = [", "special.statues", "4 items"),
        ('boats   = ["beach-ne"', 'boats   = ["jungle-n"]\nx = ["beach-ne"', "special.boats", "5 items"),
        ('boats   = ["beach-ne"', 'boats   = ["ruin-n"', "special.boats", "'ruin-n'"),
        ('ruins   = "jungle"', 'ruins   = "desert"', "special.zone.ruins", "'desert'"),
        (
            'jungle = ["ariki", "hermit"]',
            'jungle = ["ariki"]',
            "specials_in_zone.jungle",
            "1 person, with 4",
        ),
        ('"hermit"]', '"ariki"]', "specials_in_zone.jungle", "twice"),
        ('beach  = ["beachcomber"]', 'beach  = ["mermaid"]', "specials_in_zone.beach", "'mermaid'"),
        ('beach  = ["beachcomber"]', 'beach  = ["hermit"]', "specials_in_zone.jungle", "another zone"),
        ("statue-n = [0, 0.90]\n", "", "layout.statue-n", "is missing"),
        ("statue-n = [0, 0.90]", "statue-n = [400, 0.90]", "layout.statue-n", "angle"),
        ("statue-n = [0, 0.90]", "statue-n = [0, 0.90]\nstatue-x = [0, 0.9]", "layout.statue-x", "not a key"),
        ("[zones]", "colour = 1\n[zones]", "colour", "not a key"),
        ('site = "temple"', 'site = "palace"', "intro.turns.0.site", "'palace'"),
        ('field = "beach-s",     site', 'field = "ruin-s",     site', "intro.turns.0.site", "no red plastic figure"),
        ("demand = 8", "demand = 0", "intro.turns.6.guardian", "demand 0"),
        (', at = "beach-s"', "", "intro.turns.8.appears", "field `at`"),
        (', outcome = "vanishes"', "", "intro.turns.10.fights", "outcome"),
        ('figure = "white", field = "beach-s"', 'figure = "pink", field = "beach-s"', "intro.turns.0.figure", "'pink'"),
    ],
)
def test_a_wrong_file_is_named_with_line_and_key(tmp_path: Path, old: str, new: str, where: str, problem: str) -> None:
    assert TEXT.count(old) >= 1
    path = tmp_path / "board.toml"
    path.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load_board(path)
    message = str(error.value)
    file, line, key, _ = message.split(":", 3)
    assert (file, key.strip()) == (str(path), where)
    assert int(line) > 1
    assert problem in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("pattern", "new", "problem"),
    [
        (r"(?s)\[zones\].*?\n\n", "[zones]\n", "zones: has no zone"),
        (r"(?s)turns = \[.*\]", "turns = []", "turns: has no turn"),
        (r', "beach-nw"\]\njungle', "]\njungle", "no zone has the beachcomber"),
    ],
)
def test_an_island_without_zones_turns_or_people_is_refused(
    tmp_path: Path, pattern: str, new: str, problem: str
) -> None:
    path = tmp_path / "board.toml"
    text = TEXT.replace('beach  = ["beachcomber"]\njungle', "jungle").replace(
        '"beach-nw"]\n\n# Zone', '"jungle-n"]\n\n# Zone'
    )
    path.write_text(re.sub(pattern, new, text if "beachcomber" in problem else TEXT), encoding="utf-8")
    with pytest.raises(ConfigError, match=problem):
        load_board(path)


def test_an_island_in_two_pieces_is_refused(tmp_path: Path) -> None:
    lines = [line for line in TEXT.splitlines() if "ruin-w" not in line or "edges" in line or "=" in line]
    path = tmp_path / "board.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ConfigError, match="no paths lead from 'beach-ne' to 'ruin-w'"):
        load_board(path)


def test_an_owners_copy_may_have_other_paths(tmp_path: Path) -> None:
    path = tmp_path / "board.toml"
    path.write_text(TEXT.replace('["ruin-e", "jungle-se"]', '["ruin-e", "beach-se"]'), encoding="utf-8")
    assert "beach-se" in load_board(path).neighbours["ruin-e"]
