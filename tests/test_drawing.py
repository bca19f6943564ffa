"""The picture of the island, drawn from the board's data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from playroom import BOARD

from firmware.config import ConfigError
from firmware.page.drawing import Island, draw, draw_alone, read_island

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def island() -> Island:
    return read_island(BOARD)


def test_the_picture_shows_every_field_of_the_board_once(island: Island) -> None:
    drawn = re.findall(r'data-field="([^"]+)" data-kind="(\w+)"', draw(island))
    assert len(drawn) == len(set(drawn)) == 23
    kinds = [kind for _, kind in drawn]
    assert (kinds.count("site"), kinds.count("ruin"), kinds.count("statue")) == (15, 4, 4)


def test_boats_lie_at_the_five_boat_fields(island: Island) -> None:
    assert {spot.field for spot in island.spots if spot.boat} == {
        f"beach-{side}" for side in ("ne", "se", "s", "sw", "nw")
    }
    assert draw(island).count('href="#icon-boat"') == 5


def test_north_is_up_and_east_is_right(island: Island) -> None:
    at = {spot.field: spot.at for spot in island.spots}
    assert at["statue-n"] == pytest.approx((0, -378))
    assert at["statue-e"][0] > 370
    assert at["jungle-s"][1] > 250


def test_the_same_board_gives_the_same_picture(island: Island) -> None:
    assert draw(island) == draw(read_island(BOARD))


def test_the_picture_stands_alone_as_an_svg_file_with_all_its_icons(island: Island) -> None:
    picture = ET.fromstring(draw_alone(island))  # noqa: S314 - our own text
    names = {each.get("id") for each in picture.iter() if each.get("id")}
    used = {link[1:] for each in picture.iter() if (link := each.get("href", "")).startswith("#")}
    assert used
    assert used <= names


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("beach-ne = [40, 0.90]", "beach-ne = [40]", "layout.beach-ne: must have 2 items"),
        ("beach-ne = [40, 0.90]", "", "layout.beach-ne: is missing"),
        ('["beach-s", "jungle-s"],', '["beach-s", "moon"],', "paths.edges: must be pairs of fields"),
    ],
)
def test_a_wrong_board_is_named_with_line_and_key(tmp_path: Path, old: str, new: str, problem: str) -> None:
    text = BOARD.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "board.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"board\.toml:\d+: {re.escape(problem)}"):
        read_island(path)
