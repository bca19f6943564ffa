"""The owner of an original: entering the printed points table, and the overview board with the numbers in force."""

from __future__ import annotations

import io
import re
import tomllib
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

from firmware.cli import main
from firmware.game.insel.tuning import OWN_TUNING, load_tuning
from firmware.owner.overview import WORDS, Overview
from firmware.owner.printed import BOARD, PRINTED, OwnerError, entered, number, present, printed

if TYPE_CHECKING:
    from pathlib import Path

OWN = OWN_TUNING.read_text(encoding="utf-8")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return tmp_path / "tuning.toml"


def typed(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{each}\n" for each in answers)))


# --- numbers into the file


def test_every_number_of_the_board_is_in_the_file() -> None:
    assert len(present(OWN)) == len(PRINTED)
    assert len({each.name for each in PRINTED}) == len(PRINTED)


def test_an_entered_number_changes_its_line_and_nothing_else() -> None:
    changed = entered(OWN, {printed("driven.moves"): 2})
    before, after = OWN.splitlines(), changed.splitlines()
    different = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert [new.partition("=")[0].strip() for _, new in different] == ["source", "moves"]
    assert different[1][1] == different[1][0].replace("1", "2", 1), "the comment stays"


def test_a_table_is_known_when_all_its_numbers_are() -> None:
    half = entered(OWN, {printed("driven.moves"): 2})
    assert tomllib.loads(half)["driven"]["grade"] == "D"
    assert tomllib.loads(half)["driven"]["source"].startswith(f"{BOARD} (moves); rulebook")
    whole = tomllib.loads(entered(half, {printed("driven.tablet"): 3}))["driven"]
    assert whole == {"grade": "K", "source": BOARD, "moves": 2, "tablet": 3}


def test_entering_again_does_not_pile_up() -> None:
    once = entered(OWN, {printed("gnome.twice_points"): 4})
    assert entered(once, {printed("gnome.twice_points"): 4}) == once
    assert tomllib.loads(once)["gnome"]["grade"] == "D", "its other numbers are on no board"


def test_known_is_what_the_rulebook_or_a_board_says() -> None:
    now = present(entered(OWN, {printed("values.dragon"): 5}))
    assert now[printed("values.dragon")].known
    assert not now[printed("values.griffin")].known
    assert now[printed("ariki.points")].known


@pytest.mark.parametrize("name", [each.name for each in PRINTED])
def test_every_number_can_be_entered_and_is_played_with(name: str, copy: Path) -> None:
    value = present(OWN)[printed(name)].value
    copy.write_text(entered(OWN, {printed(name): value + 7}), encoding="utf-8")
    assert present(copy.read_text(encoding="utf-8"))[printed(name)].value == value + 7
    assert load_tuning(copy) != load_tuning()


def test_line_ends_of_another_system_stay() -> None:
    changed = entered(OWN.replace("\n", "\r\n"), {printed("values.golem"): 9})
    assert changed.count("\r\n") == changed.count("\n")
    assert "golem = 9\r\n" in changed


@pytest.mark.parametrize("answer", ["", "-1", "100", "three", "1.5", "٣"])
def test_what_is_no_number(answer: str) -> None:
    with pytest.raises(OwnerError, match="no number from 0 to 99"):
        number(answer)


def test_a_file_of_another_kind_is_refused_in_words() -> None:
    with pytest.raises(OwnerError, match="is no tuning file: 'ariki'"):
        present("[other]\n")
    with pytest.raises(OwnerError, match="is no TOML"):
        present("[other")


# --- the command


def test_tune_asks_for_every_number_and_enter_keeps_it(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(monkeypatch, *[""] * len(PRINTED))
    assert main(["tune", str(copy)]) == 0
    assert copy.read_text(encoding="utf-8") == OWN
    said = capsys.readouterr().out
    for each in PRINTED:
        assert f"{each.meaning} [{present(OWN)[each].value}, " in said
    assert "0 of " in said


def test_tune_asks_again_after_a_wrong_answer(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(monkeypatch, "many", "300", "4", *[""] * (len(PRINTED) - 1))
    assert main(["tune", str(copy)]) == 0
    assert load_tuning(copy).sites.ariki_points == 4
    assert capsys.readouterr().err.count("is no number") == 2


def test_tune_goes_on_from_the_copy(copy: Path) -> None:
    assert main(["tune", str(copy), "--set", "values.dragon=5", "--set", "values.spider=1"]) == 0
    assert main(["tune", str(copy), "--set", "values.snake = 3"]) == 0
    values = load_tuning(copy).creatures.values
    assert (values["dragon"], values["spider"], values["snake"]) == (5, 1, 3)


def test_answers_that_end_too_early_write_nothing(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(monkeypatch, "4")
    assert main(["tune", str(copy)]) == 2
    assert not copy.exists()
    assert "nothing was written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("values.dragon", "must be TABLE.KEY=NUMBER"),
        ("values.unicorn=3", "is not on the board"),
        ("values.dragon=many", "is no number"),
        ("clock.quiet_turns=3", "is not on the board"),
    ],
)
def test_a_wrong_setting_changes_nothing(
    copy: Path, setting: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", str(copy), "--set", "values.snake=3", "--set", setting]) == 2
    assert not copy.exists()
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1


def test_a_broken_copy_is_named_and_stays(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = re.sub(r"quiet_turns = \d+", 'quiet_turns = "six"', OWN)
    copy.write_text(broken, encoding="utf-8")
    assert main(["tune", str(copy), "--set", "values.snake=3"]) == 2
    assert copy.read_text(encoding="utf-8") == broken
    assert f"{copy}:" in capsys.readouterr().err


def test_the_copy_is_there_as_a_whole_or_not_at_all(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", str(copy), "--set", "values.snake=3"]) == 0
    before = copy.read_bytes()

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert main(["tune", str(copy), "--set", "values.snake=4"]) == 2
    assert copy.read_bytes() == before
    assert [each.name for each in copy.parent.iterdir()] == [copy.name], "nothing is left lying about"
    assert "No space left" in capsys.readouterr().err


def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(tmp_path / "nowhere" / "tuning.toml"), "--set", "values.snake=4"]) == 2
    assert "cannot be written" in capsys.readouterr().err


# --- the overview board


def board(language: str, text: str = OWN) -> ET.Element:
    return ET.fromstring(Overview(load_tuning(), present(text), language).draw())  # noqa: S314 - our own picture


def words_on(picture: ET.Element) -> list[str]:
    return [each.text or "" for each in picture.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_board_is_an_a4_page_of_its_own(language: str) -> None:
    picture = board(language)
    assert (picture.get("width"), picture.get("height"), picture.get("viewBox")) == ("210mm", "297mm", "0 0 210 297")
    drawn = ET.tostring(picture, encoding="unicode")
    icons = set(re.findall(r'id="(icon-[a-z-]+)"', drawn))
    used = set(re.findall(r'href="#(icon-[a-z-]+)"', drawn))
    assert used == icons, "every icon that is used is in the file, and no other"
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("language", ["de", "en"])
def test_nothing_stands_outside_the_page(language: str) -> None:
    for each in board(language).iter("{http://www.w3.org/2000/svg}text"):
        x, y = float(each.get("x", "-1")), float(each.get("y", "-1"))
        assert 10 <= x <= 200
        assert 10 <= y <= 290


def test_both_languages_have_all_words_and_use_them() -> None:
    words = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    assert words["de"].keys() == words["en"].keys()
    for language in ("de", "en"):
        overview = Overview(load_tuning(), present(OWN), language)
        overview.draw()
        overview.words.done()  # complains about a word that nothing took


def test_entered_numbers_stand_on_the_board(copy: Path, tmp_path: Path) -> None:
    svg = tmp_path / "board.svg"
    settings = [f"--set={each.name}={20 + position}" for position, each in enumerate(PRINTED)]
    assert main(["tune", str(copy), *settings]) == 0
    assert main(["overview", str(svg), "--tuning", str(copy), "--language", "en"]) == 0
    said = " ".join(words_on(ET.fromstring(svg.read_text(encoding="utf-8"))))  # noqa: S314 - our own picture
    for position, each in enumerate(PRINTED):
        assert re.search(rf"\b{20 + position}\b", said), each.name


def test_known_numbers_bear_a_mark() -> None:
    def marks(text: str) -> int:
        return words_on(board("de", text)).count("•")

    assert marks(entered(OWN, {printed("values.dragon"): 3})) == marks(OWN) + 1


def test_the_board_goes_to_standard_output(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["overview"]) == 0
    picture = capsysbinary.readouterr().out.decode()
    assert picture == Overview(load_tuning(), present(OWN), "de").draw()


def test_the_configuration_s_numbers_are_in_force(
    copy: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["tune", str(copy), "--set", "values.dragon=77"]) == 0
    configuration = tmp_path / "volcano.toml"
    configuration.write_text(f'[files]\ntuning = "{copy}"\n', encoding="utf-8")
    capsysbinary.readouterr()
    assert main(["overview", "--config", str(configuration)]) == 0
    assert b">77<" in capsysbinary.readouterr().out
