"""volcano balance: the same games on any number of processes, sound statistics, tables, files, and one game told."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import distributed
import pytest

from firmware.balance.command import _bar
from firmware.balance.report import report, write
from firmware.balance.summary import Share, Summary, quantile, quantile_interval, targets
from firmware.balance.transcript import show
from firmware.balance.workers import play_all
from firmware.cli import main
from firmware.game.insel.balance import SOURCES, Contest, Outcome, new_game, play_some
from firmware.game.insel.bots import HABITS
from firmware.game.insel.material import load_material
from firmware.game.insel.rules import InselRules
from firmware.game.insel.tuning import OWN_TUNING
from firmware.terms import VolcanoError

if TYPE_CHECKING:
    from pathlib import Path

RULES, MATERIAL = InselRules(), load_material()
GAMES = 12


@cache
def outcomes() -> tuple[Outcome, ...]:
    return tuple(play_some(Contest(seed=3), range(GAMES)))


# --- games


def test_what_is_measured_adds_up() -> None:
    for outcome in outcomes():
        assert sum(outcome.sources) == sum(outcome.island_points) + sum(outcome.creature_points)
        assert outcome.sources[SOURCES.index("creatures")] == sum(outcome.creature_points)
        assert outcome.sources[SOURCES.index("ariki")] == 3
        assert outcome.saved == (outcome.statues > 0)
        assert outcome.reason == ("statues" if outcome.statues == 4 else "creatures")
        counting = outcome.island_points if outcome.saved else (0,) * 4
        assert outcome.points == tuple(map(sum, zip(counting, outcome.creature_points, strict=True)))
        assert {outcome.points[seat] for seat in outcome.winners} == {max(outcome.points)}
        assert outcome.turns < outcome.contacts < 2 * outcome.turns
        assert len(outcome.creatures) == outcome.turns // 10
        assert max(outcome.creatures) <= 7


def test_every_habit_sits_in_every_seat_equally_often() -> None:
    games = [new_game(Contest(seed=1), number, RULES, MATERIAL) for number in range(24)]
    for seat in range(4):
        sat = [game.seats[seat][0] for game in games]
        assert {habit: sat.count(habit) for habit in HABITS} == dict.fromkeys(HABITS, 6)
    assert {skill for game in games for _, skill in game.seats} == {"novice", "average", "experienced"}


@pytest.mark.parametrize("players", [1, 2, 3])
def test_fewer_players_play_to_the_end(players: int) -> None:
    (outcome,) = play_some(Contest(players=players, level=2), [1])
    assert len(outcome.points) == len(outcome.habits) == players


@pytest.mark.parametrize(("bots", "seats"), [("fighter", {"fighter"}), ("random", {"random"}), ("novice", {*HABITS})])
def test_a_table_can_be_of_one_kind(bots: str, seats: set[str]) -> None:
    game = new_game(Contest(bots=bots), 5, RULES, MATERIAL)
    assert {habit for habit, _ in game.seats} == seats
    assert bots != "novice" or {skill for _, skill in game.seats} == {"novice"}


def test_a_contest_that_cannot_be_played_is_named() -> None:
    with pytest.raises(VolcanoError, match=r"--players: must be 1 to 4, is 5"):
        Contest(players=5)
    with pytest.raises(VolcanoError, match=r"--bots: must be one of mixed.*'cheat'"):
        Contest(bots="cheat")


def test_neighbouring_seeds_and_numbers_share_no_game() -> None:
    seeds = {new_game(Contest(seed=seed), number, RULES, MATERIAL).seed for seed in range(20) for number in range(20)}
    assert len(seeds) == 400


# --- anywhere the same


def test_the_same_games_whatever_the_number_of_processes() -> None:
    contest = Contest(seed=3)
    seen: list[tuple[int, int]] = []
    two = play_all(contest, 24, jobs=2, progress=lambda done, of: seen.append((done, of)))
    assert tuple(two[:GAMES]) == outcomes()
    assert [outcome.number for outcome in two] == [*range(24)]
    assert seen[-1] == (24, 24)


def test_the_same_games_on_a_cluster() -> None:
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:  # type: ignore[no-untyped-call]
        played = play_all(Contest(seed=3), GAMES, scheduler=cluster.scheduler_address)
    assert tuple(played) == outcomes()


def test_an_owner_s_numbers_travel_to_the_workers(tmp_path: Path) -> None:
    own = tmp_path / "tuning.toml"
    text = OWN_TUNING.read_text(encoding="utf-8")
    assert "spider = 2" in text
    own.write_text(text.replace("spider = 2", "spider = 40"), encoding="utf-8")
    played = play_all(Contest(seed=3), GAMES, jobs=1, tuning=own)
    assert max(max(outcome.creature_points) for outcome in played) >= 40
    assert tuple(play_all(Contest(seed=3), GAMES, jobs=1)) == outcomes()


# --- statistics


def test_the_interval_of_a_share_is_wilson_s() -> None:
    """Wilson 1927: 10 of 100 lies between 5.5 % and 17.4 %."""
    low, high = Share(10, 100).interval
    assert (round(low, 3), round(high, 3)) == (0.055, 0.174)
    assert Share(0, 50).interval[0] == 0
    assert Share(0, 50).interval[1] > 0.05, "never seen does not mean impossible"
    assert Share(0, 0).interval == (0.0, 1.0)


def test_quantiles_by_nearest_rank() -> None:
    values = [*range(1, 101)]
    assert [quantile(values, percent) for percent in (10, 50, 90)] == [10, 50, 90]
    low, high = quantile_interval(values, 50)
    assert low < 50 < high
    assert (low, high) == (40, 60)
    assert quantile_interval([7], 90) == (7, 7)


def test_shared_wins_count_in_parts() -> None:
    one = replace(outcomes()[0], winners=(0, 1), saved=True, habits=("explorer", "builder", "fighter", "cooperative"))
    summary = Summary(Contest(), [one])
    assert [share.value for share in summary.wins_by_seat()] == [0.5, 0.5, 0, 0]
    assert summary.wins_by_habit()["builder"].value == 0.5
    assert summary.wins_by_habit(saved=False)["builder"].of == 0


def test_creatures_over_time_follows_the_games_that_still_run() -> None:
    short = replace(outcomes()[0], creatures=(1, 3))
    long = replace(outcomes()[0], creatures=(1, 1, 6))
    assert Summary(Contest(), [short, long]).creatures_over_time() == [(10, 1.0), (20, 2.0), (30, 6.0)]


def test_targets_say_what_is_met() -> None:
    habits = [*HABITS]
    games = [
        replace(
            outcomes()[0],
            turns=100 + number % 20,
            saved=number % 5 > 0,
            statues=4 * (number % 7 == 1),
            winners=(number % 4,),
            habits=(*habits[number % 4 :], *habits[: number % 4]),
        )
        for number in range(280)
    ]
    verdicts = {target.what: target.met for target in targets(Summary(Contest(), games))}
    assert verdicts["turns, 10 to 90 %"]
    assert verdicts["island saved"]
    assert verdicts["all four statues awake"]
    assert verdicts["wins by seat"]
    assert not {t.what: t.met for t in targets(Summary(Contest(level=2), games))}["island saved"]


# --- the command


def test_the_command_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, picture = tmp_path / "games.csv", tmp_path / "games.svg"
    line = ["balance", "--games", str(GAMES), "--seed", "3", "--level", "beginner", "--jobs", "1"]
    assert main([*line, "--out", str(table), "--out", str(picture)]) == 0
    out = capsys.readouterr().out
    assert f"beginner: {GAMES} games, 4 players, bots mixed, seed 3" in out
    assert "target" in out
    rows = [*csv.DictReader(table.read_text(encoding="utf-8").splitlines())]
    assert [int(row["turns"]) for row in rows] == [outcome.turns for outcome in outcomes()]
    assert rows[0]["winner_seats"] == " ".join(str(seat + 1) for seat in outcomes()[0].winners)
    assert rows[0]["points_4"] == str(outcomes()[0].points[3])
    first = picture.read_bytes()
    assert b"<svg" in first
    write(picture, [Summary(Contest(seed=3), outcomes())])
    assert picture.read_bytes() == first, "the same numbers make the same picture"


def test_a_picture_of_three_levels(tmp_path: Path) -> None:
    write(tmp_path / "all.png", [Summary(Contest(level=level), outcomes()) for level in range(3)])
    assert (tmp_path / "all.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--level", "hard"], "--level: must be one of beginner, advanced, expert, is 'hard'"),
        (["--games", "0"], "--games: must be at least 1, is 0"),
        (["--players", "7"], "--players: must be 1 to 4, is 7"),
        (["--bots", "dog"], "--bots: must be one of"),
        (["--out", "games.pdf"], "must end in .csv, .png or .svg"),
        (["--games", "1", "--level", "expert", "--out", "/nowhere/games.csv"], "cannot be written"),
        (["--tuning", "/nowhere/tuning.toml"], "/nowhere/tuning.toml"),
    ],
)
def test_wrong_input_is_named(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["balance", "--jobs", "1", *arguments]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert "Traceback" not in error


def test_the_bar_is_for_terminals(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _bar("expert")(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    bar = _bar("expert")
    bar(1, 2)
    assert "expert: [###############               ] 1 of 2" in capsys.readouterr().err
    bar(2, 2)
    assert capsys.readouterr().err.endswith("\r\033[K")


def test_the_report_gives_intervals() -> None:
    lines = [*report(Summary(Contest(seed=3), outcomes()))]
    saved = next(line for line in lines if "island saved" in line)
    assert "to" in saved
    assert sum("wins, seat" in line for line in lines) == 4


# --- one game told


@pytest.mark.parametrize(("language", "greeting", "end"), [("de", "Willkommen", "gewinn"), ("en", "Welcome", "win")])
def test_a_game_is_told_as_the_family_hears_it(language: str, greeting: str, end: str) -> None:
    told = io.StringIO()
    show(Contest(seed=3, level=2), 1, language, stream=told)
    text = told.getvalue()
    (outcome,) = play_some(Contest(seed=3, level=2), [1])
    assert greeting in text
    assert text.count("\n> white: go ") > 5
    assert end in text[-400:]
    contacts = sum(line.startswith("> ") for line in text.splitlines())
    assert contacts >= outcome.contacts
    assert "(harp)" in text
