"""The installed firmware under a real systemd: it boots, plays, is killed and goes on, hangs and is noticed, stops.

Slow: a card from `pi_root`, booted under systemd-nspawn as root; chips are emulated, and moved through a socket. For
the kills the card has several volcanoes: copies of the service, each with a state folder and a socket of its own.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import struct
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest
from emulated_hands import SPEED
from pi_root import DROP_IN, Card, Running, wait_for
from test_install import SUITES

from firmware.game.kernel import Chance, Played, Rejected, replay, unfinished
from firmware.game.registry import load_title
from firmware.journal import decode
from firmware.terms import FIGURES, TOUCHES, Contact, Figure, Touch

TITLE = load_title()
INTRO = """
white beach-s explore, red beach-sw explore, white jungle-s explore, red jungle-w explore, white mountain-sw explore,
red beach-nw explore, white ruin-w explore, white ruin-w one, red jungle-nw explore, red ruin-s explore, red ruin-s one,
white statue-w explore, red beach-s explore, red beach-s one
"""
"""Every contact of the introductory game (rulebook, The introductory game)."""
KILLS = int(os.environ.get("VOLCANO_KILLS", "200"))
VOLCANOES = 4
"""So many are killed side by side."""
IN_THE_GREETING = 0.15
"""Share of kills before the game goes on; the others come around a contact."""
LATEST_KILL_S = 1.8
"""After the touch: five seconds of play, so that second sentences are heard before, too."""
PAGE_OPTIONS = " --page --listen 0.0.0.0\n"
LOOK = "import urllib.request as r; print(r.urlopen('http://localhost:8005/snapshot').read().decode())"
NO_ANSWER = {"rejected", "who_asked"}
ANSWERS = dict(zip(FIGURES, (Touch.ONE, Touch.TWO, Touch.THREE, Touch.FIRE), strict=True))
"""What each figure touches when the volcano asks who it is."""
ANSWER_S = 20.0
"""Patience for what must come."""
HOLD_S = 4.0
"""How long people hold a figure that the volcano does not seem to feel. It feels one within a tenth of a second, but
not on a machine so busy that the polls come ten times too seldom."""
TRIES = 6
WATCHDOG_S = 10.0
"""As in the unit."""


class Table:
    """People at the table of a running card's volcano: they move figures, and hear what it tells.

    `name` is the service's and its folders'.
    """

    def __init__(self, pi: Running, name: str = "volcano") -> None:
        self.name = name
        self.rows: list[dict[str, Any]] = []
        self._socket = wait_for(lambda: hands(pi, name), pi.journal)
        self._socket.settimeout(0.05)
        self._rest = b""
        self._stands: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def do(self, *move: Any, then_s: float = 0.0) -> None:
        """One move of hands, and virtual seconds of rest."""
        self._socket.sendall(json.dumps(move).encode() + b"\n")
        time.sleep(then_s / SPEED)

    def kill(self) -> list[dict[str, Any]]:
        """Kill the process at the other end, as a crash or the out-of-memory killer does; what it told until then."""
        credentials = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        os.kill(struct.unpack("3i", credentials)[0], signal.SIGKILL)
        self._socket.settimeout(ANSWER_S)  # until it is gone
        return self.listen()

    def listen(self) -> list[dict[str, Any]]:
        """What has been told since the last time."""
        try:
            while data := self._socket.recv(65536):
                self._rest += data
        except (TimeoutError, ConnectionError):
            pass  # nothing more now, or never again
        *lines, self._rest = self._rest.split(b"\n")
        rows = [json.loads(line) for line in lines]
        self.rows += rows
        return rows

    def hear(self, event: str) -> None:
        """Wait until this event has been told since the volcano was started."""

        def heard() -> bool:
            self.listen()
            return any(row.get("event") == event for row in self.rows)

        wait_for(heard, lambda: f"no {event} in {self.rows[-20:]}", ANSWER_S)

    def grip(self, contact: Contact) -> None:
        """Stand the figure there, hold it and touch."""
        figure, field = contact.figure.value, contact.field
        if self._stands.get(figure) != field:
            self.do("place", figure, field, then_s=0.9)
            self._stands[figure] = field
        self.do("grip", figure, then_s=0.4)
        self.do("touch", contact.touch.value)

    def let_go(self, contact: Contact) -> None:
        self.do("lift", contact.touch.value)
        self.do("let_go", contact.figure.value, then_s=0.6)

    def play(self, contact: Contact, card: Card) -> None:
        """Make a contact until the game has it; not felt, people do it again; asked who it is, they answer.

        Raises:
            AssertionError: the game did not take it.
        """
        before = contacts(card, self.name)
        self.listen()
        attempt = contact
        for _ in range(TRIES):
            self.grip(attempt)
            reply = self._reply(before, card)
            self.let_go(attempt)
            if contacts(card, self.name) != before:
                return
            asked = reply == "who_asked"
            attempt = replace(contact, touch=ANSWERS[contact.figure]) if asked and attempt is contact else contact
        raise AssertionError(f"{contact}: {self.rows[-20:]}")

    def _reply(self, before: list[Contact], card: Card) -> str:
        """What the volcano says to a contact while it is held; empty if the game has it, or if nothing comes."""
        until = time.monotonic() + HOLD_S
        while contacts(card, self.name) == before and time.monotonic() < until:
            for row in self.listen():
                if row.get("event") in NO_ANSWER:
                    return str(row["event"])
        return ""


def hands(pi: Running, name: str) -> socket.socket | None:
    """A connection to the emulated hands; None if nobody is there yet, or just about to go."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.settimeout(ANSWER_S)
    try:
        made.connect(str(Path("/proc", str(pi.leader), "root", "run", name, "hands")))
        if made.recv(1, socket.MSG_PEEK):
            return made
    except OSError:
        pass
    made.close()
    return None


def journal(card: Card, name: str = "volcano") -> list[Any]:
    """The records of the running game, as the disk has them."""
    path = card.path(f"/var/lib/{name}/running.journal")
    return list(decode(path.read_bytes()).records) if path.exists() else []


def contacts(card: Card, name: str = "volcano") -> list[Contact]:
    return [record.contact for record in journal(card, name) if isinstance(record, Played)]


def possible(card: Card, chance: random.Random, name: str = "volcano") -> Contact:
    """A contact that the running game accepts now and expects of this figure, found by its own rules."""
    records = unfinished(journal(card, name))
    if records:
        state, _ = replay(TITLE.game, records)
    else:
        return Contact(FIGURES[0], "beach-s", TOUCHES[1])
    choices = [Contact(figure, field, touch) for figure in FIGURES for field in TITLE.fields for touch in TOUCHES[1:]]
    chance.shuffle(choices)
    for contact in choices:
        weights = TITLE.game.prior(state, contact.field, contact.touch)
        if weights[FIGURES.index(contact.figure)] < max(weights):
            continue
        try:
            TITLE.game.accept(state.clone(), contact, Chance())
        except Rejected:
            continue
        return contact
    raise AssertionError("the game accepts nothing")


def play_the_introductory_game(pi: Running) -> None:
    with Table(pi) as table:
        table.hear("ready")
        table.do("press", True, then_s=0.3)
        table.do("press", False)
        table.hear("intro_started")
        for words in INTRO.replace("\n", " ").split(","):
            figure, field, touch = words.split()
            table.play(Contact(Figure(figure), field, Touch(touch)), pi.card)
        table.hear("intro_finished")
        assert not [row for row in table.rows if row.get("event") in NO_ANSWER]


# --- kills


def add_volcanoes(pi: Running) -> list[str]:
    """Start copies of the installed service that differ in their folders only; their names."""
    unit = pi.card.read("/etc/systemd/system/volcano.service")
    names = [f"volcano-{number}" for number in range(1, VOLCANOES + 1)]
    for name in names:
        folders = f"StateDirectory=\nStateDirectory={name}\nRuntimeDirectory=\nRuntimeDirectory={name}\n"
        folders += f"WorkingDirectory=/run/{name}\nEnvironment=LG_WD=/run/{name}\n"
        pi.card.write(f"/etc/systemd/system/{name}.service", unit)
        pi.card.write(f"/etc/systemd/system/{name}.service.d/hands.conf", DROP_IN + folders)
    pi.do("systemctl", "daemon-reload")
    pi.do("systemctl", "start", *names)
    return names


def sentences(rows: list[dict[str, Any]]) -> int:
    """How many cues have begun since the game took a contact, the first of them at once."""
    answers = (n for n, row in enumerate(rows) if row.get("event", "rejected") not in (*NO_ANSWER, "figure_inferred"))
    first = next(answers, len(rows))
    return sum(row.get("cue") in ("say", "sound") for row in rows[first:])


def kill_it_again_and_again(pi: Running, name: str, kills: int) -> tuple[Counter[str], float]:
    """Kill it at random moments of games; what was heard past its first sentence must be on the disk, and go on.

    Returns what the kills hit, and the longest time from a kill to the next greeting, in seconds.
    """
    card, chance = pi.card, random.Random(name)
    hit: Counter[str] = Counter()
    longest_s = 0.0
    killed: float | None = None
    with Table(pi, name) as table:
        table.hear("ready")
        table.play(possible(card, chance, name), card)
    for _ in range(kills):
        known = contacts(card, name)
        contact: Contact | None = None
        with Table(pi, name) as table:
            table.hear("powered_on")
            if killed is not None:
                longest_s = max(longest_s, time.monotonic() - killed)
            if chance.random() < IN_THE_GREETING:
                time.sleep(chance.uniform(0.0, 3.0 / SPEED))
            else:
                if killed is not None:
                    table.hear("resumed")
                contact = possible(card, chance, name)
                table.listen()
                table.grip(contact)
                time.sleep(chance.uniform(0.0, LATEST_KILL_S))
            told = table.kill()
            killed = time.monotonic()
        after = contacts(card, name)
        begun = sentences(told) if contact is not None else 0
        if after == known:
            assert begun < 2, "what was heard past its first sentence is never lost"
            hit["before the contact counted" if contact is not None else "the greeting"] += 1
        else:
            assert after == [*known, contact]
            hit["after its first sentence" if begun > 1 else "in its first sentence"] += 1
    with Table(pi, name) as table:
        table.hear("resumed")
        table.play(possible(card, chance, name), card)
    assert pi.ask("systemctl", "show", "--value", "--property=NRestarts", f"{name}.service") == str(kills)
    assert not list(card.path(f"/var/lib/{name}").glob("set-aside*"))
    return hit, longest_s


def kill_them_all(pi: Running) -> tuple[Counter[str], float]:
    """`KILLS` in all, of several volcanoes side by side."""
    names, each = add_volcanoes(pi), -(-KILLS // VOLCANOES)
    with ThreadPoolExecutor(VOLCANOES) as people:
        killing = [people.submit(kill_it_again_and_again, pi, name, each) for name in names]
        results = [done.result() for done in killing]
    pi.do("systemctl", "stop", *names)
    return sum((hit for hit, _ in results), Counter()), max(longest_s for _, longest_s in results)


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("suite", SUITES)
def test_it_boots_plays_survives_and_stops(tmp_path: Path, suite: str) -> None:
    card = Card(tmp_path, suite)
    card.install()
    card.prepare_hands()
    with card.boot() as pi:
        ready_s = pi.wait_ready()
        assert pi.show("StatusText") == "not working: there is no sound card MAX98357A", "all that this Pi lacks"
        said = pi.ask("journalctl", "--no-pager", "--output=cat", "--priority=warning", "--identifier=systemd")
        assert [line for line in said.splitlines() if "volcano" in line] == []
        play_the_introductory_game(pi)

        # Installing again what is installed disturbs nobody.
        running = pi.show("MainPID")
        pi.do("/mnt/tools/install", "--no-sounds")
        assert pi.show("MainPID") == running

        began = time.monotonic()
        hit, longest_s = kill_them_all(pi)
        assert hit.total() >= KILLS
        assert len(hit) == 4 or KILLS < 100, "some kills of each kind"
        killing_s = time.monotonic() - began
        assert not list(card.path("/var/lib/volcano").glob("set-aside*"))

        # A hang is noticed: the process stands still, and systemd lets another take its place.
        hung = pi.show("MainPID")
        began = time.monotonic()
        pi.kill(signal.SIGSTOP)
        wait_for(lambda: pi.show("MainPID") not in {hung, "0"} and pi.show("ActiveState") == "active", pi.journal)
        noticed_s = time.monotonic() - began
        assert noticed_s < 2 * WATCHDOG_S

        # A wrong configuration is said aloud, and the game goes on.
        card.write("/etc/volcano.toml", "volume = 11\n")
        pi.do("systemctl", "restart", "volcano.service")
        with Table(pi) as table:
            wait_for(
                lambda: [row for row in table.listen() if row.get("line") == "misconfigured"],
                lambda: f"{table.rows}",
                ANSWER_S,
            )
        assert "volcano.toml:1: volume: must be from 1 to 5, is 11" in pi.journal()

        # Its page is served under the drop-in's keys, to the whole house.
        pi.do("/mnt/tools/install", "--no-sounds", "--page")
        card.write("/etc/systemd/system/volcano.service.d/with-page.conf", DROP_IN.rstrip() + PAGE_OPTIONS)
        pi.do("systemctl", "daemon-reload")
        pi.do("systemctl", "restart", "volcano.service")
        shown = json.loads(wait_for(lambda: pi.ask("python3", "-c", LOOK), pi.journal))
        assert shown["service"] is True
        assert [fault["text"].partition(":")[0] for fault in shown["faults"]] == [
            "the default sound card cannot be opened"
        ]
        assert any(row.get("event") == "powered_on" for row in shown["rows"])

        began = time.monotonic()
        pi.do("systemctl", "stop", "volcano.service")
        stop_s = time.monotonic() - began
        assert stop_s < 1.0
        assert pi.show("Result") == "success"
        assert "Traceback" not in pi.journal()
        pi.do("/mnt/tools/install", "--uninstall")
        assert pi.show("LoadState") != "loaded"
        print(
            f"\n{suite}: ready {ready_s:.1f} s after the boot began; {hit.total()} kills in {killing_s:.0f} s, "
            + ", ".join(f"{count} {what}" for what, count in hit.most_common())
            + f"; longest {longest_s:.1f} s to the next greeting; a hang noticed in {noticed_s:.1f} s; stopped in "
            f"{stop_s * 1000:.0f} ms"
        )
