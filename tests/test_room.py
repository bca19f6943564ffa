"""The room: what stands on the table, who hears what, and in which thread."""

from __future__ import annotations

from threading import Thread

import pytest
from playroom import Json, Playroom

from firmware.page.commands import CommandError
from firmware.terms import Figure, Touch


@pytest.fixture
def table() -> Playroom:
    return Playroom()


def test_hands_move_in_the_loops_thread_only(table: Playroom) -> None:
    table.room.do({"do": "place", "figure": "white", "field": "beach-s"})
    assert table.hands.done == []
    table.machine.turn()
    assert table.hands.done == [("place", Figure.WHITE, "beach-s")]


def test_a_hold_grips_the_figure_then_touches_and_a_release_undoes_both(table: Playroom) -> None:
    table.room.place(Figure.RED, "beach-sw")
    table.room.do({"do": "hold", "figure": "red", "touch": "explore"})
    assert table.room.snapshot()["hold"] == {"figure": "red", "touch": "explore"}
    table.room.do({"do": "release"})
    table.room.do({"do": "release"})
    table.machine.turn()
    assert table.hands.done[1:] == [
        ("grip", Figure.RED),
        ("touch", Touch.EXPLORE),
        ("lift", Touch.EXPLORE),
        ("let go", Figure.RED),
    ]
    assert table.room.snapshot()["hold"] is None


def test_a_figure_beside_the_board_cannot_touch(table: Playroom) -> None:
    with pytest.raises(CommandError, match="green stands beside the board"):
        table.room.hold(Figure.GREEN, Touch.ONE)
    table.machine.turn()
    assert table.hands.done == []


def test_one_hand_holds_one_thing(table: Playroom) -> None:
    table.room.place(Figure.RED, "beach-sw")
    table.room.hold(Figure.RED, Touch.ONE)
    table.room.hold(Figure.RED, Touch.TWO)
    table.room.place(Figure.RED, None)
    table.machine.turn()
    assert table.hands.done[-5:] == [
        ("grip", Figure.RED),
        ("touch", Touch.TWO),
        ("lift", Touch.TWO),
        ("let go", Figure.RED),
        ("place", Figure.RED, None),
    ]
    assert table.hands.done.count(("lift", Touch.ONE)) == 1


def test_the_button_held_at_the_switch_opens_the_settings(table: Playroom) -> None:
    table.room.do({"do": "button", "pressed": True})
    table.room.do({"do": "power", "on": True})
    table.room.do({"do": "power", "on": True})
    table.room.do({"do": "button", "pressed": False})
    table.room.do({"do": "power", "on": False})
    table.room.do({"do": "power", "on": True})
    table.machine.turn()
    assert table.machine.switched == ["on held", "off", "on"]
    assert table.pressed == [True, False]


def test_the_lights_go_out_with_the_switch(table: Playroom) -> None:
    table.room.power(on=True)
    table.machine.tell(cue="symbols", lit=["star"])
    assert table.room.snapshot()["lights"] == {"lit": ["star"], "blink": False}
    table.room.power(on=False)
    assert table.room.snapshot()["lights"] == {"lit": [], "blink": False}


def test_weak_batteries(table: Playroom) -> None:
    table.room.do({"do": "battery", "low": True})
    table.machine.turn()
    assert table.weak == [True]
    assert table.room.snapshot()["battery_low"] is True


def test_a_snapshot_holds_the_rows_in_their_order_since_the_game_began(table: Playroom) -> None:
    table.machine.tell(event="discovered", figure=Figure.WHITE, field="beach-s", site="temple")
    table.machine.tell(cue="sound", name="harp")
    table.machine.tell(event="game_started", level="expert")
    table.machine.tell(cue="say", line="x", args={}, text="Los!", voice="narrator")
    table.machine.tell(event="entered", figure=Figure.RED, field="beach-sw")
    rows = table.room.snapshot()["rows"]
    assert [row.get("event", row.get("cue")) for row in rows] == ["sound", "game_started", "say", "entered"]
    assert rows[-1] == {"t": 1.0, "event": "entered", "figure": "red", "field": "beach-sw"}


def test_earlier_speech_is_kept_within_bounds(table: Playroom) -> None:
    table.machine.tell(event="game_started", level="expert")
    for _ in range(1000):
        table.machine.tell(cue="sound", name="point")
    rows = table.room.snapshot()["rows"]
    assert len(rows) == 201
    assert rows[0]["event"] == "game_started"


def test_a_game_that_goes_on_shows_what_lies_on_the_board() -> None:
    past = [{"t": 0.0, "event": "discovered", "figure": "red", "field": "jungle-w", "site": "ariki"}]
    assert Playroom(past=past).room.snapshot()["rows"] == past


def test_the_figures_of_a_game_that_goes_on_stand_where_they_were_left() -> None:
    table = Playroom(stands={Figure.RED: "jungle-w", Figure.BLACK: "beach-s"})
    assert table.room.snapshot()["figures"] == {"white": None, "red": "jungle-w", "green": None, "black": "beach-s"}
    assert table.hands.done == []
    table.machine.turn()
    assert table.hands.done == [("place", Figure.RED, "jungle-w"), ("place", Figure.BLACK, "beach-s")]


def test_browsers_hear_of_another_volume() -> None:
    volume = [3]
    table = Playroom(volume=lambda: volume[0], sound="here")
    heard: list[tuple[str, Json]] = []
    table.room.join(lambda name, data: heard.append((name, data)))
    volume[0] = 4
    table.machine.tell(event="volume", level=4)
    assert [(name, data.get("volume")) for name, data in heard] == [("snapshot", 3), ("row", None), ("room", 4)]
    assert heard[0][1]["sound"] == "here"
    assert heard[0][1]["effects"] == []


def test_browsers_hear_rows_and_changes_after_their_snapshot(table: Playroom) -> None:
    heard: list[tuple[str, Json]] = []
    leave = table.room.join(lambda name, data: heard.append((name, data)))
    table.machine.tell(cue="sound", name="harp")
    table.room.place(Figure.BLACK, "beach-se")
    leave()
    table.machine.tell(cue="sound", name="bird")
    assert [name for name, _ in heard] == ["snapshot", "row", "room"]
    assert heard[2][1]["figures"] == {"white": None, "red": None, "green": None, "black": "beach-se"}


def test_when_the_last_browser_leaves_nobody_holds_anything(table: Playroom) -> None:
    first, second = (table.room.join(lambda *_: None) for _ in range(2))
    table.room.place(Figure.RED, "beach-sw")
    table.room.hold(Figure.RED, Touch.EXPLORE)
    table.room.button(pressed=True)
    first()
    assert table.room.snapshot()["hold"] is not None
    second()
    second()
    table.machine.turn()
    assert table.hands.done[-1] == ("let go", Figure.RED)
    assert table.pressed == [True, False]


def test_what_hands_cannot_do_is_told_to_the_browser_and_ends_nothing(table: Playroom) -> None:
    heard: list[tuple[str, Json]] = []
    table.room.join(lambda name, data: heard.append((name, data)))
    table.hands.clumsy = True
    table.room.place(Figure.RED, "beach-sw")
    table.machine.turn()
    assert heard[-1] == ("trouble", {"text": "red fell over"})


def test_the_language_is_the_units() -> None:
    languages = iter(["de", "en"])
    room = Playroom(language=lambda: next(languages)).room
    assert [room.snapshot()["language"] for _ in range(2)] == ["de", "en"]


def test_rows_and_browsers_come_from_different_threads(table: Playroom) -> None:
    heard: list[int] = []

    def count(name: str, data: Json) -> None:
        if name == "row":
            heard.append(data["number"])

    def speak() -> None:
        for number in range(300):
            table.machine.tell(cue="sound", name="point", number=number)

    def come_and_go() -> None:
        for _ in range(100):
            table.room.join(lambda *_: None)()
            table.room.snapshot()

    table.room.join(count)
    threads = [Thread(target=speak), Thread(target=come_and_go), Thread(target=come_and_go)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == list(range(300))
