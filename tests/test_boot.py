"""The installed firmware under a real systemd: it boots, plays, is killed and goes on, hangs and is noticed, stops.

Slow: a card from `pi_root`, booted under systemd-nspawn as root; chips are emulated, and moved through a socket.
"""

from __future__ import annotations

import json
import random
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import pytest
from emulated_hands import SPEED
from pi_root import Card, Running, wait_for
from test_install import SUITES

from firmware.game.kernel import Chance, Played, Rejected, replay, unfinished
from firmware.game.registry import load_title
from firmware.journal import decode
from firmware.terms import FIGURES, TOUCHES, Contact, Figure, Touch

if TYPE_CHECKING:
    import socket
    from pathlib import Path

TITLE = load_title()
INTRO = """
white beach-s explore, red beach-sw explore, white jungle-s explore, red jungle-w explore, white mountain-sw explore,
red beach-nw explore, white ruin-w explore, white ruin-w one, red jungle-nw explore, red ruin-s explore, red ruin-s one,
white statue-w explore, red beach-s explore, red beach-s one
"""
"""Every contact of the introductory game (rulebook, The introductory game)."""
KILLS = 20
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
    """People at the table of a running card: they move figures, and hear what the volcano tells."""

    def __init__(self, pi: Running) -> None:
        self.rows: list[dict[str, Any]] = []
        self._socket: socket.socket = pi.hands()
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
        before = contacts(card)
        self.listen()
        attempt = contact
        for _ in range(TRIES):
            self.grip(attempt)
            reply = self._reply(before, card)
            self.let_go(attempt)
            if contacts(card) != before:
                return
            asked = reply == "who_asked"
            attempt = replace(contact, touch=ANSWERS[contact.figure]) if asked and attempt is contact else contact
        raise AssertionError(f"{contact}: {self.rows[-20:]}")

    def _reply(self, before: list[Contact], card: Card) -> str:
        """What the volcano says to a contact while it is held; empty if the game has it, or if nothing comes."""
        until = time.monotonic() + HOLD_S
        while contacts(card) == before and time.monotonic() < until:
            for row in self.listen():
                if row.get("event") in NO_ANSWER:
                    return str(row["event"])
        return ""


def journal(card: Card) -> list[Any]:
    """The records of the running game, as the disk has them."""
    path = card.path("/var/lib/volcano/running.journal")
    return list(decode(path.read_bytes()).records) if path.exists() else []


def contacts(card: Card) -> list[Contact]:
    return [record.contact for record in journal(card) if isinstance(record, Played)]


def possible(card: Card, chance: random.Random) -> Contact:
    """A contact that the running game accepts now and expects of this figure, found by its own rules."""
    records = unfinished(journal(card))
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


def kill_it_again_and_again(pi: Running) -> tuple[int, float]:
    """Kill it at random moments of games; what was heard before must be on the disk.

    Returns the number of contacts and the longest time from a kill to ready, in seconds.
    """
    chance = random.Random(2005)
    longest_s, played = 0.0, 0
    for number in range(KILLS):
        with Table(pi) as table:
            for _ in range(chance.randrange(1, 3)):
                table.play(possible(pi.card, chance), pi.card)
                played += 1
            known = contacts(pi.card)
            contact = possible(pi.card, chance)
            table.listen()
            table.grip(contact)
            time.sleep(chance.uniform(0.0, 0.4))
            pi.kill()
            killed = time.monotonic()
            answered = [
                row for row in table.listen() if row.get("event", "rejected") not in (*NO_ANSWER, "figure_inferred")
            ]
        wait_for(lambda: pi.show("NRestarts") == str(number + 1), pi.journal)  # noqa: B023 - used at once
        wait_for(lambda: pi.show("ActiveState") == "active", pi.journal)
        longest_s = max(longest_s, time.monotonic() - killed)
        after = contacts(pi.card)
        assert after in (known, [*known, contact])
        assert after != known or not answered, "what was answered is never lost"
        with Table(pi) as table:
            table.hear("resumed")
    return played, longest_s


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("suite", SUITES)
def test_it_boots_plays_survives_and_stops(tmp_path: Path, suite: str) -> None:
    card = Card(tmp_path, suite)
    card.install()
    card.prepare_hands()
    with card.boot() as pi:
        ready_s = pi.wait_ready()
        assert pi.show("StatusText") == "all parts answer"
        said = pi.ask("journalctl", "--no-pager", "--output=cat", "--priority=warning", "--identifier=systemd")
        assert [line for line in said.splitlines() if "volcano" in line] == []
        play_the_introductory_game(pi)

        # Installing again what is installed disturbs nobody.
        running = pi.show("MainPID")
        pi.do("/mnt/tools/install", "--no-sounds")
        assert pi.show("MainPID") == running

        played, longest_s = kill_it_again_and_again(pi)
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

        began = time.monotonic()
        pi.do("systemctl", "stop", "volcano.service")
        stop_s = time.monotonic() - began
        assert stop_s < 1.0
        assert pi.show("Result") == "success"
        assert "Traceback" not in pi.journal()
        pi.do("/mnt/tools/install", "--uninstall")
        assert pi.show("LoadState") != "loaded"
        print(
            f"\n{suite}: ready {ready_s:.1f} s after the boot began; {KILLS} kills in {played} contacts, longest "
            f"{longest_s:.1f} s to ready; a hang noticed in {noticed_s:.1f} s; stopped in {stop_s * 1000:.0f} ms"
        )
