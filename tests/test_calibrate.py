"""`volcano calibrate`: the empty board, the map of the wires, the figures; kept, shown, backed up, taken over."""

from __future__ import annotations

import argparse
import logging
import math
import os
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from workplace import DATE, WIRING, Workplace

from firmware import start
from firmware.calibrate.command import add_calibrate_command
from firmware.calibrate.lesson import CLEAR_S
from firmware.check.command import add_check_command
from firmware.hal.calibration import FILE_NAME, Calibration, load_calibration, save_calibration
from firmware.hal.emulated_bus import Disturbance
from firmware.hal.wiring import OWN_WIRING
from firmware.terms import FIGURES, Figure, Touch, VolcanoError
from firmware.workshop import ENTER, Bench

if TYPE_CHECKING:
    from firmware.hal.backends import MockHardware
    from firmware.hal.wiring import Wiring

PADS = [pad for chip in WIRING.chips for pad in chip.wires]
SCAN_S = CLEAR_S + 3.0
TOUCHED_S = 0.6
EACH_S = 1.5


def calibrate(place: Workplace, line: str = "") -> int:
    return place.run(add_calibrate_command, f"calibrate {line}")


def kept(place: Workplace) -> Calibration | None:
    return load_calibration(place.folder / FILE_NAME)


def learnt(place: Workplace) -> Calibration:
    calibration = kept(place)
    assert calibration is not None
    return calibration


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


# --- the empty board


def test_every_pad_is_measured_and_kept_with_the_date(place: Workplace) -> None:
    assert calibrate(place) == 0
    calibration = learnt(place)
    assert calibration.made == DATE
    assert sorted(calibration.pads) == sorted(PADS)
    assert place.mock
    for pad, known in calibration.pads.items():
        assert known.idle_pf == pytest.approx(place.mock.hands.pad_pf(pad), rel=0.005)
    assert calibration.places == {}
    assert place.now - 1000 < SCAN_S + 10


def test_the_owner_is_told_and_shown_what_was_learnt(place: Workplace) -> None:
    calibrate(place)
    assert place.heard == ["calibrate-clear", "calibrate-done"]
    assert place.players[0].closed
    assert re.search(r"^beach-s +0x5B +2 +\d+\.\d\d +0\.000 +0\.70$", place.screen.text, re.MULTILINE)
    assert "figures: as the wiring file says" in place.screen.lines
    assert place.screen.lines[-1] == f"kept in {place.folder / FILE_NAME}"


def test_the_emulated_board_is_calibrated_in_silence(place: Workplace) -> None:
    assert calibrate(place, "--mock") == 0
    assert place.players == []
    assert kept(place)


def test_a_noisy_pad_is_given_a_higher_threshold_and_the_reason(tmp_path: Path) -> None:
    place = Workplace(tmp_path, noise_counts=1.5, seed=3)
    calibrate(place)
    assert re.search(r"\d x its noise of 0\.\d\d pF", place.screen.text)
    assert max(known.touch_pf for known in learnt(place).pads.values()) > 0.7


def test_a_hand_in_the_measurement_is_named_and_it_is_measured_anew(place: Workplace) -> None:
    place.at(CLEAR_S + 1.0, lambda mock: mock.hands.lay_hand("beach-s"))
    place.at(CLEAR_S + 2.0, lambda mock: mock.hands.raise_hand("beach-s"))
    assert calibrate(place) == 0
    assert re.search(r"pad beach-s moved by [\d.]+ pF while it was measured: take figures", place.screen.text)
    assert place.heard[:3] == ["calibrate-clear", "calibrate-again", "calibrate-clear"]
    assert place.mock
    assert learnt(place).pads["beach-s"].idle_pf == pytest.approx(place.mock.hands.pad_pf("beach-s"), rel=0.005)


def test_what_lies_on_a_pad_all_the_time_is_seen_by_what_was_learnt_before(place: Workplace) -> None:
    assert calibrate(place) == 0
    assert "was something on it?" not in place.screen.text, "nothing was learnt before"
    later = Workplace(place.folder)
    later.at(0.0, lambda mock: mock.hands.drift(4.0))
    later.at(0.0, lambda mock: mock.hands.lay_hand("beach-s"))
    assert calibrate(later) == 0
    (told,) = [line for line in later.screen.lines if "was something on it?" in line]
    assert re.match(rf"beach-s shows \d+\.\d pF more than on {re.escape(DATE)}: ", told)


def test_a_board_that_is_never_still_leaves_all_as_it_was(place: Workplace) -> None:
    for second in range(40):
        place.at(second + 0.05, lambda mock: mock.hands.lay_hand("beach-s"))
        place.at(second + 0.55, lambda mock: mock.hands.raise_hand("beach-s"))
    assert calibrate(place) == 1
    assert kept(place) is None
    assert place.screen.lines[-1].endswith("nothing has been written")
    assert place.heard[-1] == "calibrate-failed"


def test_a_chip_that_does_not_answer_leaves_all_as_it_was(place: Workplace) -> None:
    place.at(0.0, lambda mock: mock.emulated_bus.inject(Disturbance.NACK, address=0x5B))
    assert calibrate(place) == 1
    assert kept(place) is None
    assert "MPR121 'coast' at 0x5B: nothing answers" in place.screen.lines[-1]
    assert "(to go on without: --without beach-ne --without beach-se " in place.screen.lines[-1]


def test_a_bus_without_chips_leaves_all_as_it_was(place: Workplace) -> None:
    place.at(0.0, lambda mock: mock.emulated_bus.inject(Disturbance.NACK))
    assert calibrate(place) == 1
    assert kept(place) is None
    assert "--without" not in place.screen.text, "all chips at once are nothing to go on without"


def test_a_chip_whose_readings_are_all_zero_is_told_with_what_to_check(place: Workplace) -> None:
    def damage(mock: MockHardware) -> None:
        for electrode in range(12):
            mock.chips[0x5B].set_pf(electrode, math.inf)

    place.at(0.0, damage)
    assert calibrate(place) == 1
    assert kept(place) is None
    assert "MPR121 'coast' at 0x5B measures nothing: check its 3V3, REXT (75 kOhm)" in place.screen.lines[-1]


def test_a_torn_pad_is_named_and_the_others_are_kept(place: Workplace) -> None:
    place.at(0.0, lambda mock: mock.chips[0x5B].set_pf(2, 0.0))
    assert calibrate(place) == 1
    assert sorted(learnt(place).pads) == sorted({*PADS} - {"beach-s"})
    assert re.search(r"^pad beach-s .* is out of range: check for a broken wire", place.screen.text, re.MULTILINE)
    assert re.search(r"^beach-s .* not measured$", place.screen.text, re.MULTILINE)


def test_q_ends_it_and_leaves_all_as_it_was(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    place.type(2.0, "q")
    assert calibrate(place) == 1
    assert kept(place) is None
    assert place.screen.lines[-1] == "ended; nothing has been written"


def test_on_a_terminal_progress_is_drawn_and_the_figures_are_offered(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    place.type(SCAN_S + 1, "n")
    assert calibrate(place) == 0
    assert "measuring in 3 s" in place.screen.text
    assert "measuring [##############################] 100%" in place.screen.text
    assert "Teach it the figures, too? [y/n] n" in place.screen.text
    assert place.now - 1000 > SCAN_S


def test_the_running_service_is_not_disturbed(place: Workplace) -> None:
    place.answers["systemctl"] = "active"
    with pytest.raises(VolcanoError, match="sudo systemctl stop volcano"):
        calibrate(place)
    assert place.mock is None


def test_after_it_a_hand_at_power_on_spoils_nothing(place: Workplace) -> None:
    """The calibration is loaded when the board is opened, here by a check."""
    calibrate(place)
    later = Workplace(place.folder)
    later.at(0.0, lambda mock: mock.hands.touch(Touch.FIRE))
    later.at(0.5, lambda mock: mock.hands.lift(Touch.FIRE))
    later.at(8.0, lambda mock: mock.hands.place(Figure.BLACK, "mountain-ne"))
    later.at(9.0, lambda mock: mock.hands.grip(Figure.BLACK))
    later.at(9.3, lambda mock: mock.hands.touch(Touch.FIRE))
    assert later.run(add_check_command, "check --seconds 6") == 0
    assert re.search(r"black \d+ %.*; mountain-ne, fire", later.screen.text)


# --- the map


def shuffled(wiring: Wiring) -> Wiring:
    """The same chips with every pad at another electrode of its chip."""
    chips = []
    for chip in wiring.chips:
        wires = list(chip.wires)
        turned = dict(zip(wires, [chip.wires[pad] for pad in (*wires[3:], *wires[:3])], strict=True))
        chips.append(
            replace(
                chip,
                touches={touch: turned[touch] for touch in chip.touches},
                fields={field: turned[field] for field in chip.fields},
            )
        )
    return replace(wiring, chips=tuple(chips))


def finger(mock: MockHardware, pad: str, *, down: bool) -> None:
    """A bare finger on a pad of whatever kind."""
    if pad in list(Touch):
        (mock.hands.touch if down else mock.hands.lift)(Touch(pad))
    else:
        (mock.hands.lay_hand if down else mock.hands.raise_hand)(pad)


class Owner:
    """Does what the voice says: touches the pad that is named, except those that cannot be found."""

    def __init__(self, place: Workplace, *, dead: tuple[str, ...] = (), skip: str = "key") -> None:
        self.place, self.dead, self.skip = place, dead, skip
        self.told = 0
        self.asked: list[str] = []
        place.watch(self.listen)

    def listen(self, mock: MockHardware) -> None:
        for text in self.place.screen.written[self.told :]:
            line = text.strip()
            if found := re.fullmatch(r"([\w-]+): touch it", line):
                self.obey(found[1], self.place.now - 1000)
        self.told = len(self.place.screen.written)

    def obey(self, pad: str, now: float) -> None:
        self.asked.append(pad)
        if pad not in self.dead:
            self.place.at(now + 1.2, lambda mock: finger(mock, pad, down=True))
            self.place.at(now + 1.2 + TOUCHED_S, lambda mock: finger(mock, pad, down=False))
        elif self.skip == "key":
            self.place.type(now + 0.3, ENTER)
        else:
            self.place.at(now + 0.3, lambda mock: mock.press(down=True))
            self.place.at(now + 0.6, lambda mock: mock.press(down=False))


def places(wiring: Wiring) -> dict[str, tuple[int, int]]:
    return {pad: (chip.address, electrode) for chip in wiring.chips for pad, electrode in chip.wires.items()}


def test_wires_may_be_soldered_in_any_order(tmp_path: Path) -> None:
    soldered = shuffled(WIRING)
    place = Workplace(tmp_path, soldered=soldered)
    owner = Owner(place)
    assert calibrate(place, "--map") == 0
    assert owner.asked == PADS
    calibration = learnt(place)
    assert calibration.places == places(soldered)
    assert {pad: known.place for pad, known in calibration.pads.items()} == places(soldered)
    named = [line for line in place.heard if line.startswith(("field-name", "touch-name"))]
    assert [line.split()[1] for line in named] == PADS
    assert place.heard.count("bird") == len(PADS) - 1, "the last one gives way to what comes next"


def plays(later: Workplace, field: str, touch: Touch) -> None:
    """Green is known where it is held, as it was learnt before."""
    later.at(9.0, lambda mock: mock.hands.place(Figure.GREEN, field))
    later.at(10.0, lambda mock: mock.hands.grip(Figure.GREEN))
    later.at(10.3, lambda mock: mock.hands.touch(touch))
    assert later.run(add_check_command, "check --seconds 6") == 0
    assert re.search(rf"green \d+ %.*; {field}, {touch}", later.screen.text)


def test_touch_fields_on_more_chips_than_one_play_too_and_the_better_way_is_told(tmp_path: Path) -> None:
    touch, coast, jungle = WIRING.chips
    touches = dict(touch.touches)
    fire = touches.pop(Touch.FIRE)
    fields = {**touch.fields, "beach-s": fire}
    on_coast = {field: electrode for field, electrode in coast.fields.items() if field != "beach-s"}
    soldered = replace(
        WIRING,
        chips=(
            replace(touch, touches=touches, fields=fields),
            replace(coast, touches={Touch.FIRE: coast.fields["beach-s"]}, fields=on_coast),
            jungle,
        ),
    )
    place = Workplace(tmp_path, soldered=soldered)
    Owner(place)
    assert calibrate(place, "--map") == 0
    assert learnt(place).places == places(soldered)
    assert "the Touch fields are on 2 chips: contacts are surest with all on one" in place.screen.lines
    plays(Workplace(tmp_path, soldered=soldered), "beach-s", Touch.FIRE)


def test_a_board_with_its_map_plays(tmp_path: Path) -> None:
    soldered = shuffled(WIRING)
    place = Workplace(tmp_path, soldered=soldered)
    Owner(place)
    calibrate(place, "--map")
    plays(Workplace(tmp_path, soldered=soldered), "mountain-sw", Touch.TWO)


@pytest.mark.parametrize("skip", ["key", "button"])
def test_a_pad_that_is_skipped_is_asked_for_again_and_a_half_map_is_not_written(tmp_path: Path, skip: str) -> None:
    place = Workplace(tmp_path, interactive=skip == "key")
    owner = Owner(place, dead=("one", "ruin-w"), skip=skip)
    if skip == "key":
        place.at(70.0, lambda _: place.type(place.now - 1000, "n"))
    assert calibrate(place, "--map") == 1
    assert owner.asked == [*PADS, "one", "ruin-w"]
    assert kept(place) is None
    left_out = "(to leave them out: --without one --without ruin-w)"
    assert place.screen.lines[-1] == f"not found: one, ruin-w {left_out}; nothing has been written"


def test_a_half_map_is_written_when_the_owner_says_so(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    Owner(place, dead=("ruin-w",))
    place.at(60.0, lambda _: place.type(place.now - 1000, "y"))
    place.at(85.0, lambda _: place.type(place.now - 1000, "n"))
    assert calibrate(place, "--map") == 0
    assert "Leave out ruin-w, and keep the rest of the map? [y/n] y" in place.screen.text
    assert learnt(place).absent == {"ruin-w"}
    assert "ruin-w" not in learnt(place).places
    assert len(learnt(place).places) == len(PADS) - 1


def test_a_dead_pad_that_is_named_is_not_asked_for(place: Workplace) -> None:
    owner = Owner(place)
    assert calibrate(place, "--map --without ruin-w") == 0
    assert owner.asked == [pad for pad in PADS if pad != "ruin-w"]
    assert learnt(place).absent == {"ruin-w"}


def test_single_pads_can_be_mapped_anew(tmp_path: Path) -> None:
    fields = {**WIRING.chips[1].fields, "beach-s": 9}
    soldered = replace(WIRING, chips=(WIRING.chips[0], replace(WIRING.chips[1], fields=fields), WIRING.chips[2]))
    place = Workplace(tmp_path, soldered=soldered)
    owner = Owner(place)
    assert calibrate(place, "--map beach-s") == 0
    assert owner.asked == ["beach-s"]
    assert learnt(place).places == places(soldered)


def test_a_pad_that_was_left_out_comes_back_when_it_is_mapped(place: Workplace) -> None:
    save_calibration(place.folder / FILE_NAME, Calibration("2026-01-01", absent=frozenset({"ruin-w", "ruin-n"})))
    Owner(place)
    assert calibrate(place, "--map ruin-w") == 0
    assert learnt(place).absent == {"ruin-n"}


def test_another_pad_s_wire_is_refused_and_asked_for_again(place: Workplace) -> None:
    place.at(1.0, lambda mock: mock.hands.touch(Touch.ONE))
    place.at(1.6, lambda mock: mock.hands.lift(Touch.ONE))
    place.at(3.0, lambda mock: mock.hands.touch(Touch.ROCK))
    place.at(3.6, lambda mock: mock.hands.lift(Touch.ROCK))
    assert calibrate(place, "--map rock") == 0
    assert "that is the wire of one (electrode 2 of the chip at 0x5A) already" in place.screen.text
    assert learnt(place).places == places(WIRING)
    assert place.heard.count("calibrate-again") == 1


def test_two_that_rise_alike_are_no_answer(place: Workplace) -> None:
    for pad in ("beach-s", "beach-sw"):
        place.at(1.0, partial(finger, pad=pad, down=True))
        place.at(1.6, partial(finger, pad=pad, down=False))
    place.at(3.0, lambda mock: finger(mock, "beach-s", down=True))
    place.at(3.6, lambda mock: finger(mock, "beach-s", down=False))
    assert calibrate(place, "--map beach-s") == 0
    assert "electrode 2 of 0x5B and electrode 3 of 0x5B rose alike" in place.screen.text
    assert learnt(place).places["beach-s"] == (0x5B, 2)


def test_a_chip_that_falls_silent_in_the_map_is_told_and_looked_for(tmp_path: Path) -> None:
    soldered = shuffled(WIRING)
    place = Workplace(tmp_path, soldered=soldered)
    Owner(place)
    place.at(10.0, lambda mock: mock.emulated_bus.inject(Disturbance.NACK, address=0x5C))
    place.at(14.0, lambda mock: mock.emulated_bus.clear())
    place.at(20.0, lambda mock: mock.chips[0x5B].power_on_reset())
    assert calibrate(place, "--map") == 0
    text = place.screen.text
    assert text.count("MPR121 'jungle' at 0x5C: nothing answers at 0x5C") == 1
    assert text.count("MPR121 'coast' at 0x5B: measures nothing: check its 3V3") == 1
    assert text.count("all chips answer again") == 2
    assert learnt(place).places == places(soldered)


@pytest.mark.parametrize("line", ["", "--map"])
@pytest.mark.parametrize("arbitrates", [True, False], ids=["a master that notices", "one that reads zeros (a Pi to 4)"])
def test_a_bus_that_a_chip_holds_is_freed_in_a_lesson_as_in_a_game(
    place: Workplace, line: str, *, arbitrates: bool
) -> None:
    def hold(mock: MockHardware) -> None:
        mock.emulated_bus.arbitrates = arbitrates
        mock.emulated_bus.inject(Disturbance.STUCK_SDA, bits=5)

    Owner(place)
    place.at(0.0, hold)
    place.at(6.0, hold)
    assert calibrate(place, line) == 0
    assert "noticed: the emulated I2C bus was stuck: SDA was held low" in place.screen.text
    assert len(learnt(place).pads) == len(PADS)


def test_ctrl_c_says_what_was_written(tmp_path: Path) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    for seconds, said in ((2.0, "nothing has been written"), (SCAN_S + 3, "the pads are kept, the figures stay")):
        place = Workplace(tmp_path)
        place.at(seconds, interrupt)
        with pytest.raises(KeyboardInterrupt):
            calibrate(place, "--figures")
        assert place.screen.lines[-1].startswith(f"ended; {said}")
        assert place.players[0].closed


def test_q_in_the_map_leaves_all_as_it_was(tmp_path: Path) -> None:
    place = Workplace(tmp_path, interactive=True)
    place.type(3.0, "q")
    assert calibrate(place, "--map") == 1
    assert kept(place) is None


def test_the_map_is_asked_in_the_owner_s_language(place: Workplace) -> None:
    config = place.folder / "volcano.toml"
    config.write_text('language = "en"\n', encoding="utf-8")
    Owner(place)
    assert calibrate(place, f"--map beach-s --config {config}") == 0
    assert place.players[0].words[:2] == ["Touch:", "Beach south."]


def test_rails_are_not_asked_for_and_stay_where_the_wiring_file_has_them(place: Workplace) -> None:
    source = OWN_WIRING.read_text(encoding="utf-8")
    rails = "[chips.coast.rails]\na = 9\nb = 10\nc = 11\n\n[chips.jungle]"
    source = source.replace("[chips.jungle]", rails).replace('method = "capacitor"', 'method = "rails"')
    (place.folder / "wiring.toml").write_text(source, encoding="utf-8")
    (place.folder / "volcano.toml").write_text('[files]\nwiring = "wiring.toml"\n', encoding="utf-8")
    owner = Owner(place)
    assert calibrate(place, f"--map --config {place.folder / 'volcano.toml'}") == 0
    assert owner.asked == PADS
    assert learnt(place).places == {**places(WIRING), "a": (0x5B, 9), "b": (0x5B, 10), "c": (0x5B, 11)}
    assert learnt(place).pads["a"].place == (0x5B, 9)
    later = Workplace(place.folder)
    later.at(9.0, lambda mock: mock.hands.place(Figure.BLACK, "beach-s"))
    later.at(10.0, lambda mock: mock.hands.grip(Figure.BLACK))
    later.at(10.3, lambda mock: mock.hands.touch(Touch.THREE))
    assert later.run(add_check_command, f"check --seconds 6 --config {place.folder / 'volcano.toml'}") == 0
    assert re.search(r"black \d+ %.*; beach-s, three", later.screen.text)


@pytest.mark.parametrize("line", ["--map lagoon", "--without lagoon", "--map rock --without lagoon"])
def test_a_pad_that_is_not_there_is_refused(place: Workplace, line: str) -> None:
    with pytest.raises(VolcanoError, match="'lagoon' is no pad; there are rock, explore"):
        calibrate(place, line)


# --- figures


def put_away(mock: MockHardware, figure: Figure) -> None:
    mock.hands.place(figure, None)


class Player:
    """Holds the figure that is named on a field, and touches Explore."""

    def __init__(self, place: Workplace, field: str = "mountain-ne", swap: dict[Figure, Figure] | None = None) -> None:
        self.place, self.field, self.swap = place, field, swap or {}
        self.told = 0
        place.watch(self.listen)

    def listen(self, mock: MockHardware) -> None:
        for text in self.place.screen.written[self.told :]:
            line = text.strip()
            found = re.match(r"(\w+): hold it and touch Explore|(\w+): [\d.]+ pF \((1|2) of 3\)", line)
            if found:
                figure = Figure(found[1] or found[2])
                self.hold(self.swap.get(figure, figure), self.place.now - 1000)
        self.told = len(self.place.screen.written)

    def hold(self, figure: Figure, now: float) -> None:
        at, field = self.place.at, self.field
        for other in FIGURES:
            if other is not figure:
                at(now + 0.4, partial(put_away, figure=other))
        at(now + 0.8, lambda mock: mock.hands.place(figure, field))
        at(now + 1.6, lambda mock: mock.hands.grip(figure))
        at(now + 1.8, lambda mock: mock.hands.touch(Touch.EXPLORE))
        at(now + 2.4, lambda mock: mock.hands.lift(Touch.EXPLORE))
        at(now + 2.4, lambda mock: mock.hands.let_go(figure))


def test_the_figures_feet_are_measured_in_three_grips_each(place: Workplace) -> None:
    Player(place)
    assert calibrate(place, "--figures") == 0
    assert learnt(place).figures == {
        figure: pytest.approx(foot, rel=0.12) for figure, foot in WIRING.capacitor_pf.items()
    }
    assert place.heard.count("calibrate-heard") == 12
    assert place.heard[place.heard.index("calibrate-clear") + 1] == "calibrate-figure"
    assert [line for line in place.heard if line.startswith("figure-name")][-3:] == [
        "figure-name red",
        "figure-name green",
        "figure-name black",
    ]
    assert re.search(r"^figures: white \d", place.screen.text, re.MULTILINE)


def test_swapped_figures_are_noticed_and_what_was_learnt_before_them_is_kept(place: Workplace) -> None:
    Player(place, swap={Figure.WHITE: Figure.BLACK, Figure.BLACK: Figure.WHITE})
    assert calibrate(place, "--figures") == 1
    assert "the wiring file has them the other way round" in place.screen.lines[-1]
    assert place.screen.lines[-1].endswith("; the pads are kept, the figures stay as they were")
    assert sorted(learnt(place).pads) == sorted(PADS)
    assert learnt(place).figures == {}


def test_a_chip_that_falls_silent_among_the_figures_is_told_and_goes_on_when_it_answers(place: Workplace) -> None:
    Player(place)
    place.at(SCAN_S + 6, lambda mock: mock.emulated_bus.inject(Disturbance.NACK, address=0x5B))
    place.at(SCAN_S + 10, lambda mock: mock.emulated_bus.clear())
    assert calibrate(place, "--figures") == 0
    text = place.screen.text
    assert len(re.findall("^MPR121 'coast' at 0x5B is lost", text, re.MULTILINE)) == 1
    assert text.index("is lost") < text.index("all chips answer again") < text.index("black: ")


def test_a_field_where_the_finger_does_not_ground_the_body_is_refused(place: Workplace) -> None:
    Player(place, field="beach-s")
    place.screen.interactive = True
    place.type(SCAN_S + 8, "q")
    assert calibrate(place, "--figures") == 1
    assert "beach-s is none of mountain-ne" in place.screen.text


def test_without_explore_another_touch_field_is_named(place: Workplace) -> None:
    save_calibration(place.folder / FILE_NAME, Calibration("2026-01-01", absent=frozenset({"explore"})))
    place.screen.interactive = True
    place.type(SCAN_S + 1, "q")
    assert calibrate(place, "--figures") == 1
    assert "white: hold it and touch Rock" in place.screen.lines


def test_without_any_touch_field_no_figure_can_be_held(place: Workplace) -> None:
    save_calibration(place.folder / FILE_NAME, Calibration("2026-01-01", absent=frozenset(map(str, Touch))))
    assert calibrate(place, "--figures") == 1
    assert place.screen.lines[-1].startswith("figures cannot be held on this board: no field or no Touch field is left")


def test_figures_without_capacitors_have_nothing_to_be_learnt(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    wiring = Path(tmp_path / "wiring.toml")
    source = OWN_WIRING.read_text(encoding="utf-8")
    wiring.write_text(source.replace('method = "capacitor"', 'method = "nothing"'), encoding="utf-8")
    (tmp_path / "volcano.toml").write_text('[files]\nwiring = "wiring.toml"\n', encoding="utf-8")
    with pytest.raises(VolcanoError, match="told apart by nothing"):
        calibrate(place, f"--figures --config {tmp_path / 'volcano.toml'}")


# --- the file


@pytest.mark.parametrize("line", ["--show", "--backup x", "--restore x", "--forget"])
@pytest.mark.parametrize("lesson", ["--map", "--map rock", "--figures", "--without rock"])
def test_what_shows_or_forgets_does_not_learn(place: Workplace, line: str, lesson: str) -> None:
    calibrate(place)
    with pytest.raises(VolcanoError, match="go without --map, --figures and --without"):
        calibrate(place, f"{lesson} {line}")
    assert learnt(place).absent == frozenset()


def test_without_a_touch_field_the_page_is_left(place: Workplace) -> None:
    assert calibrate(place, " ".join(f"--without {touch}" for touch in Touch)) == 0
    assert (
        place.screen.lines[-1] == "no Touch field is left: contacts can be made on the page only (volcano run --page)"
    )
    later = Workplace(place.folder)
    assert later.run(add_check_command, "check") == 0
    assert "4 pads of" in later.screen.text


def test_what_is_known_is_shown_without_a_board(place: Workplace) -> None:
    calibrate(place)
    other = Workplace(place.folder)
    other.answers["systemctl"] = "active"
    assert calibrate(other, "--show") == 0
    assert other.mock is None
    assert other.screen.lines[0] == f"learnt on {DATE}"
    assert len(other.screen.lines) == len(PADS) + 4


def test_where_nothing_is_known_nothing_can_be_shown_or_backed_up(place: Workplace) -> None:
    for line in ("--show", f"--backup {place.folder / 'backup'}"):
        assert calibrate(place, line) == 1
    assert place.screen.lines == ["nothing has been learnt of this board yet: volcano calibrate"] * 2


def test_a_backup_is_one_file_that_can_be_restored(place: Workplace, tmp_path: Path) -> None:
    calibrate(place)
    before = learnt(place)
    backup = tmp_path / "backup.json"
    assert calibrate(place, f"--backup {backup}") == 0
    assert calibrate(place, "--forget") == 0
    assert kept(place) is None
    assert calibrate(place, f"--restore {backup}") == 0
    assert learnt(place) == before


def test_a_backup_of_another_board_or_a_damaged_one_is_refused(place: Workplace, tmp_path: Path) -> None:
    calibrate(place)
    before = learnt(place)
    save_calibration(tmp_path / "other.json", Calibration("2026-01-01", absent=frozenset({"lagoon"})))
    (tmp_path / "damaged.json").write_text("{}", encoding="utf-8")
    for name in ("other.json", "damaged.json", "none.json"):
        with pytest.raises(VolcanoError) as refused:
            calibrate(place, f"--restore {tmp_path / name}")
        assert "\n" not in str(refused.value)
    assert learnt(place) == before


def test_what_changes_under_a_running_volcano_counts_from_the_next_start(place: Workplace, tmp_path: Path) -> None:
    place.answers["systemctl"] = "active"
    assert calibrate(place, "--without ruin-w") == 0
    assert place.screen.lines == [
        "left out: ruin-w",
        "it counts from the next start: sudo systemctl restart volcano",
    ]


def test_a_pad_is_left_out_without_a_lesson(place: Workplace) -> None:
    calibrate(place)
    assert calibrate(place, "--without ruin-w --without ruin-n") == 0
    assert learnt(place).absent == {"ruin-w", "ruin-n"}
    assert learnt(place).pads["beach-s"]


def test_a_damaged_calibration_is_learnt_anew_but_not_shown(place: Workplace) -> None:
    (place.folder / FILE_NAME).write_text("{}", encoding="utf-8")
    with pytest.raises(VolcanoError, match="damaged"):
        calibrate(place, "--show")
    assert calibrate(place) == 0
    assert "beginning anew" in place.screen.text
    assert learnt(place).made == DATE


def test_a_disk_that_refuses_is_one_line(place: Workplace, tmp_path: Path) -> None:
    calibrate(place)
    with pytest.raises(VolcanoError, match="cannot be written"):
        calibrate(place, f"--backup {tmp_path / 'nowhere' / 'backup'}")


def test_on_an_installed_board_it_is_the_service_that_learns(
    place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "somebody"))
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    options = argparse.Namespace(mock=False, config=None, state_dir=None)
    assert Bench(options, place.around).folder == tmp_path / "somebody" / "volcano"
    (tmp_path / "installed").mkdir()
    assert Bench(options, place.around).folder == tmp_path / "installed"
    options.mock = True
    assert Bench(options, place.around).folder == tmp_path / "somebody" / "volcano"
    options.mock = False
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "unit"))
    assert Bench(options, place.around).folder == tmp_path / "unit"


def test_what_root_has_learnt_belongs_to_the_service(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[Path, int, int]] = []
    monkeypatch.setattr(os, "chown", lambda *given_to: given.append(given_to))
    owner = place.folder.stat()
    for uid in (1000, 0):
        monkeypatch.setattr(os, "geteuid", lambda uid=uid: uid)
        assert calibrate(place, "--without ruin-w") == 0
    assert given == [(place.folder / FILE_NAME, owner.st_uid, owner.st_gid)]


def test_where_a_service_is_installed_the_way_back_is_told(place: Workplace) -> None:
    place.around.service_state.mkdir()
    assert calibrate(place) == 0
    assert place.screen.lines[-1] == "to play: sudo systemctl start volcano"


@pytest.mark.parametrize("line", ["", "--map", "--without ruin-w", "--forget"])
def test_a_folder_that_may_not_be_written_is_told_before_the_lesson(
    place: Workplace, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: path != place.folder or not mode & os.W_OK)
    with pytest.raises(VolcanoError, match="begin the command with sudo"):
        calibrate(place, line)
    assert place.mock is None


def test_a_folder_that_may_not_be_read_is_told(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: path != place.folder)
    with pytest.raises(VolcanoError, match=r"may not be read.*begin the command with sudo"):
        calibrate(place, "--show")


# --- at the start of the volcano


def setting(folder: Path, *, forgiving: bool = False) -> start.Setting:
    options = argparse.Namespace(config=None, state_dir=folder, language=None, seed=1)
    return start.Setting(options, forgiving=forgiving)


@pytest.fixture
def no_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.mark.usefixtures("no_config")
def test_the_volcano_starts_with_what_was_learnt(place: Workplace, caplog: pytest.LogCaptureFixture) -> None:
    calibrate(place)
    started = setting(place.folder)
    assert started.calibration == learnt(place)
    assert started._problems == []
    assert caplog.messages == []


@pytest.mark.usefixtures("no_config")
@pytest.mark.parametrize("forgiving", [True, False])
def test_a_damaged_calibration_is_told_and_the_volcano_starts_without(
    place: Workplace, caplog: pytest.LogCaptureFixture, forgiving: bool
) -> None:
    (place.folder / FILE_NAME).write_text("{}", encoding="utf-8")
    with caplog.at_level(logging.ERROR):
        started = setting(place.folder, forgiving=forgiving)
    assert started.calibration is None
    (problem,) = started._problems
    assert FILE_NAME in problem
    assert [line for line in caplog.messages if line.endswith("going on without it")]
