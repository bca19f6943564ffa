"""The catalogues: what of Fluent is understood, what is refused and where, what is compiled."""

from __future__ import annotations

import builtins
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from firmware.catalogue import (
    DOMAINS,
    NARRATOR,
    Catalogue,
    CatalogueError,
    compile_text,
    load,
    sounds_folder,
    write_compiled,
)

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
names = { $figure ->
    [white] White
   *[red] Red
 }
    .part = a figure's name
greets = { names } says hello.
    .voice = guardian-{ $relic }
    .other = Hello from
        { names }!
counts = { $points ->
    [0] None.
    [one] One point.
   *[other] { $points } points.
 }
quote = { "{" }done{ "}" }
"""


def catalogue(source: str = SOURCE) -> Catalogue:
    return Catalogue("en", compile_text(source, "en.ftl"))


# --- Fluent


def test_a_line_has_a_text_wordings_and_a_voice() -> None:
    made = catalogue()
    args = (("figure", "white"), ("relic", "stone"))
    assert list(made) == ["greets", "counts", "quote"], "a part is no line"
    assert made.variants("greets") == 2
    assert made.text("greets", args) == "White says hello."
    assert made.text("greets", args, 1) == "Hello from White!"
    assert made.voice("greets", args) == "guardian-stone"
    assert made.voice("counts", ()) == NARRATOR
    assert made.text("quote", ()) == "{done}"


@pytest.mark.parametrize(("points", "said"), [(0, "None."), (1, "One point."), (2, "2 points."), (7, "7 points.")])
def test_numbers_choose_by_value_then_by_one_and_other(points: int, said: str) -> None:
    assert catalogue().text("counts", (("points", points),)) == said


def test_an_unknown_value_takes_the_default() -> None:
    assert catalogue().text("greets", (("figure", "purple"),)) == "Red says hello."


def test_an_unknown_line_is_spoken_as_its_name_rather_than_breaking_a_game() -> None:
    made = catalogue()
    assert made.text("missing-line", ()) == "missing-line"
    assert made.variants("missing-line") == 1
    assert made.voice("missing-line", ()) == NARRATOR


def test_the_clips_are_the_product_of_the_arguments_and_wordings() -> None:
    made = catalogue()
    assert made.arguments("greets") == ("figure", "relic")
    clips = list(made.clips())
    assert len([clip for clip in clips if clip[0] == "greets"]) == 4 * 4 * 2
    assert len([clip for clip in clips if clip[0] == "counts"]) == len(DOMAINS["points"])
    assert ("quote", (), 0, "{done}") in clips


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("good = Yes.\n\nbad line\n", "en.ftl:3: "),
        ("a = One.\na = Two.\n", "en.ftl: a: stands twice"),
        ("a = { b }\n", "en.ftl: a: refers to b"),
        ("a = { b }\nb = { a }\n", "refers back"),
        ("a = { $colour }\n", r"a: \$colour is no argument"),
        ("a = { NUMBER($points) }\n", "FunctionReference is not supported"),
        ("a = { -term }\n", "TermReference is not supported"),
        ("a =\n    .voice = ariki\n", "a: has no text"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(source: str, told: str) -> None:
    with pytest.raises(CatalogueError, match=told) as refused:
        compile_text(source, "en.ftl")
    assert "\n" not in str(refused.value)


# --- files


@pytest.mark.parametrize("language", ["de", "en"])
def test_what_is_compiled_is_what_was_written(language: str) -> None:
    folder = sounds_folder()
    held = json.loads((folder / f"{language}.json").read_text(encoding="utf-8"))
    source = (folder / f"{language}.ftl").read_text(encoding="utf-8")
    assert held["lines"] == compile_text(source, "x"), "compile the catalogues again"


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_compiled_file_is_fresh_to_the_byte(language: str, tmp_path: Path) -> None:
    folder = sounds_folder()
    shutil.copy(folder / f"{language}.ftl", tmp_path)
    assert write_compiled(language, tmp_path).read_bytes() == (folder / f"{language}.json").read_bytes()


def test_the_board_needs_no_fluent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_fluent(name: str, *rest: Any) -> Any:
        if name.startswith("fluent"):
            raise ImportError(name)
        return original(name, *rest)

    original = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", without_fluent)
    assert load("de").text("welcome", ()) == load("de").text("welcome", ())
    (tmp_path / "en.ftl").write_text("a = Yes.\n", encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"needs the package fluent\.syntax"):
        load("en", tmp_path)


def test_an_edited_source_counts_before_what_was_compiled(tmp_path: Path) -> None:
    (tmp_path / "en.ftl").write_text("a = Before.\n", encoding="utf-8")
    write_compiled("en", tmp_path)
    assert load("en", tmp_path).text("a", ()) == "Before."
    (tmp_path / "en.ftl").write_text("a = After.\n", encoding="utf-8")
    assert load("en", tmp_path).text("a", ()) == "After."


def test_the_compiled_file_alone_is_enough(tmp_path: Path) -> None:
    (tmp_path / "en.ftl").write_text("a = Yes.\n", encoding="utf-8")
    write_compiled("en", tmp_path)
    (tmp_path / "en.ftl").unlink()
    assert load("en", tmp_path).text("a", ()) == "Yes."


@pytest.mark.parametrize("held", ["", "{", "[]", "{}", '{"format": 1}', '{"format": 1, "source": "x", "lines": 3}'])
def test_a_broken_compiled_file_is_named(tmp_path: Path, held: str) -> None:
    (tmp_path / "en.json").write_text(held, encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"en\.json|en\.ftl"):
        load("en", tmp_path).text("a", ())


def test_a_source_that_is_no_utf_8_is_named(tmp_path: Path) -> None:
    (tmp_path / "de.ftl").write_bytes("a = Weiß.\n".encode("latin-1"))
    with pytest.raises(CatalogueError, match=r"de\.ftl: is not UTF-8"):
        load("de", tmp_path)


def test_a_missing_catalogue_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"en\.ftl: is missing.*VOLCANO_SOUNDS"):
        load("en", tmp_path)


def test_the_folder_may_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOLCANO_SOUNDS", str(tmp_path))
    assert sounds_folder() == tmp_path
    monkeypatch.delenv("VOLCANO_SOUNDS")
    assert (sounds_folder() / "de.ftl").exists()
