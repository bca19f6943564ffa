"""The game's numbers: what the file says, and how a wrong one is named."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from firmware.catalogue import DOMAINS
from firmware.config import ConfigError
from firmware.game.insel.tuning import load_tuning

if TYPE_CHECKING:
    from pathlib import Path

TUNING = load_tuning()
TEXT = (files("firmware.game.insel") / "tuning.toml").read_text(encoding="utf-8")


def test_every_number_is_graded() -> None:
    assert set(TUNING.grades.values()) == {"K", "I", "D"}
    assert TUNING.grades["guardian_pay"] == "K"
    assert TUNING.grades["clock"] == "D"


@pytest.mark.parametrize(
    ("turns", "most"), [(0, 0), (19, 0), (20, 1), (41, 1), (42, 2), (57, 2), (58, 3), (73, 3), (74, 4), (900, 4)]
)
def test_relics_grow_with_the_turns_nobody_was_there(turns: int, most: int) -> None:
    odds = TUNING.sites.relics.at(turns)
    assert max(odds, key=lambda count: odds[count]) == most
    assert sum(odds.values()) == pytest.approx(100)


def test_one_more_or_less_never_leaves_0_to_4() -> None:
    assert dict(TUNING.sites.relics.at(0)) == pytest.approx({0: 64.0, 1: 31.5, 2: 4.5, 3: 0, 4: 0})
    assert dict(TUNING.sites.relics.at(74)) == pytest.approx({0: 0, 1: 0, 2: 0, 3: 15, 4: 85})


def test_more_and_less_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "tuning.toml"
    path.write_text(TEXT.replace("one_more_percent = 15", "one_more_percent = 25"), encoding="utf-8")
    odds = load_tuning(path).sites.relics.at(42)
    assert dict(odds) == pytest.approx({0: 0, 1: 15, 2: 60, 3: 25, 4: 0})


def test_every_demand_that_is_drawn_can_be_spoken() -> None:
    """A guardian may still miss all that he wants when the button asks him to repeat it."""
    demands = {number for odds in TUNING.guardians.demand for number, weight in odds.items() if weight}
    assert demands <= set(DOMAINS["demand"])
    assert demands <= set(DOMAINS["missing"])


def test_odds_hold_what_the_rules_allow_also_where_a_level_excludes_it() -> None:
    assert [sorted(odds) for odds in TUNING.guardians.demand] == [list(range(1, 16))] * 3
    assert [number for number, weight in TUNING.guardians.demand[2].items() if weight] == [9, 10, 11, 12]
    assert dict(TUNING.creatures.fight[0][2]) == pytest.approx({"vanishes": 0.79, "moves": 0.16, "stays": 0.05})


def test_more_relics_are_better_and_higher_levels_harder() -> None:
    vanishes = [[odds["vanishes"] for odds in level] for level in TUNING.creatures.fight]
    assert all(sorted(row) == row for row in vanishes)
    assert all(sorted(column, reverse=True) == list(column) for column in zip(*vanishes, strict=True))


@pytest.mark.parametrize(
    ("old", "new", "where", "problem"),
    [
        ("spider = 2", "spider = -1", "values.spider", "from 0"),
        ("spider = 2", "", "values.spider", "is missing"),
        ("spider = 2", "spider = 2\nunicorn = 3", "values.unicorn", "not a key"),
        ("attack_percent = [60, 75, 90]", "attack_percent = [60, 75, 190]", "dragon.attack_percent", "190"),
        ("attack_percent = [60, 75, 90]", "attack_percent = [60, 75]", "dragon.attack_percent", "3 items"),
        ("from_turns = [0, 6, 15]", "from_turns = [0, 16, 15]", "ariki_cards.from_turns", "rise from 0"),
        ("from_turns = [0, 6, 15]", "from_turns = [0, 6]", "ariki_cards.weights", "2 items"),
        ("weights = [[1, 0, 0], [0, 1, 0]", "weights = [[1, 0], [0, 1, 0]", "ariki_cards.weights", "3 weights"),
        ("weights = [[1, 0, 0], [0, 1, 0]", "weights = [[0, 0, 0], [0, 1, 0]", "ariki_cards.weights", "above 0"),
        ("[[43, 25, 32]", '[["43", 25, 32]', "fight.beginner", "'43'"),
        ("[[43, 25, 32]", "[[nan, 25, 32]", "fight.beginner", "nan"),
        ("[[43, 25, 32]", "[[1e308, 1e308, 32]", "fight.beginner", "1e+308"),
        ("leave_factor = 0.4", "leave_factor = nan", "griffin.leave_factor", "a number"),
        ("leave_factor = 0.4", f"leave_factor = {10**400}", "griffin.leave_factor", "a number"),
        ("cards_weights = [40, 40, 20]", "cards_weights = [nan, 40, 20]", "gnome.cards_weights", "a number"),
        ("relics = [3, 2, 1]", "relics = [4, 2, 1]", "resting_price.relics", "1 to 3"),
        ("lowest = [8, 8, 9]", "lowest = [8, 12, 9]", "guardian_demand.lowest", "highest is 11"),
        ("one_more_percent = 15", "one_more_percent = 95", "relics.one_more_percent", "at most 100"),
        ("by_rank = [3, 2, 1]", "by_rank = []", "guardian_pay.by_rank", "at least one"),
        ('[clock]\ngrade = "D"', '[clock]\ngrade = "Z"', "clock.grade", "'Z'"),
        ("leave_factor = 0.4", "leave_factor = true", "griffin.leave_factor", "a number"),
        ('source = "rulebook names points for the fight only; ours"', 'source = " "', "driven.source", "comes from"),
        ("[clock]", "[weather]\nx = 1\n[clock]", "weather", "not a key"),
    ],
)
def test_a_wrong_number_is_named_with_line_and_key(
    tmp_path: Path, old: str, new: str, where: str, problem: str
) -> None:
    assert TEXT.count(old) >= 1
    path = tmp_path / "tuning.toml"
    path.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load_tuning(path)
    message = str(error.value)
    file, line, key, _ = message.split(":", 3)
    assert (file, key.strip()) == (str(path), where)
    assert int(line) > 1
    assert problem in message
    assert "\n" not in message
