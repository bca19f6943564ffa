"""What `volcano run` needs as a service that systemd starts at boot: word to systemd, patience, and forgiveness.

Nobody sits at the board's terminal. A wrong file or a late sound card must not keep the volcano from playing, and a
program that hangs must be noticed by somebody else: systemd, whose watchdog is fed from here.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from firmware.config import Configuration, load_configuration
from firmware.game.registry import load_title
from firmware.hal.wiring import load_wiring
from firmware.terms import VolcanoError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping, Sequence

    from firmware.game.kernel import Title
    from firmware.hal.wiring import Wiring
    from firmware.terms import Fault

T = TypeVar("T")

FEEDS = 4
"""How often the watchdog is fed in its time; sd_watchdog_enabled(3) recommends at least two."""

MOST_NAMED = 9
"""So many faults stand in the status: systemd takes no notice of a word of more than 4096 bytes (PIPE_BUF)."""

BOOTING_S = 30.0
"""A sound card that has not come so long after the kernel started is not just late. On-board and I2S cards are there
within seven seconds; the rest is for slow SD cards."""

CARD_WAIT_S = 10.0
CARD_LOOK_S = 0.05

log = logging.getLogger("volcano.service")


# --- word to systemd


class Notifier:
    """Datagrams to the socket that systemd names in ``NOTIFY_SOCKET`` (sd_notify(3)); without one, nothing is said.

    Args:
        environment: the process's environment, for ``NOTIFY_SOCKET``, ``WATCHDOG_USEC`` and ``WATCHDOG_PID``.

    A socket that does not answer is logged once: it must not end a game.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._socket: socket.socket | None = None
        self._every_s = _feed_every_s(environment)
        self._due = float("-inf")
        self._status = ""
        self._unsaid: dict[str, str] = {}
        """By kind, what systemd had no room for: without READY it would end what plays, and start it again."""
        self._address = environment.get("NOTIFY_SOCKET", "")
        """Until the first word: the greeting is not held back by what only systemd hears."""

    def ready(self) -> None:
        """The greeting is being heard and everything has been polled once."""
        self._send("READY=1")

    def served(self, now: float) -> None:
        """Sensing, game and sound have just been served; feeds the watchdog when it is time. `now` in seconds."""
        if self._every_s is not None and now >= self._due:
            self._due = now + self._every_s
            self._send("WATCHDOG=1")
        elif self._unsaid:
            self._say()

    def faults(self, faults: Sequence[Fault]) -> None:
        """What is broken now, for ``systemctl status``; what to check stands in the log."""
        broken = [fault.text.partition(": ")[0] for fault in faults[:MOST_NAMED]]
        if (others := len(faults) - MOST_NAMED) > 0:
            broken.append(f"and {others} more")
        status = f"not working: {'; '.join(broken)}" if faults else "all parts answer"
        if status != self._status:
            self._status = status
            self._send(f"STATUS={status}")

    def stopping(self) -> None:
        """The loop has ended; what follows is putting things away."""
        self._send("STOPPING=1")

    def close(self) -> None:
        """Say no more; harmless when called again."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _send(self, word: str) -> None:
        self._unsaid[word.partition("=")[0]] = word
        self._say()

    def _connect(self) -> None:
        import socket  # noqa: PLC0415

        address, self._address = self._address, ""
        # Linux's abstract namespace (unix(7))
        name = "\0" + address[1:] if address.startswith("@") else address
        made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        made.setblocking(False)  # a full queue costs one word, not the game's time
        try:
            made.connect(name)
        except OSError as error:
            log.warning("systemd cannot be told anything: %s: %s", address, error.strerror)
            made.close()
        else:
            self._socket = made

    def _say(self) -> None:
        if self._address:
            self._connect()
        if self._socket is None:
            return
        try:
            self._socket.send("\n".join(self._unsaid.values()).encode())
        except BlockingIOError:
            return  # systemd is busy: again at the next poll
        except OSError as error:
            log.warning("systemd does not listen any more: %s", error.strerror)
            self.close()
        self._unsaid.clear()


def _feed_every_s(environment: Mapping[str, str]) -> float | None:
    """Seconds between two feeds; None if nobody watches this process."""
    try:
        watch_s = int(environment["WATCHDOG_USEC"]) / 1e6
        watched = int(environment.get("WATCHDOG_PID", os.getpid()))
    except (KeyError, ValueError):
        return None
    return watch_s / FEEDS if watch_s > 0 and watched == os.getpid() else None


# --- patience


class LateCard(Protocol):
    """A player whose sound card may come later."""

    @property
    def is_open(self) -> bool:
        """Whether a sound card is in use."""

    def poll(self, now: float) -> bool:
        """Try again when it is time."""


P = TypeVar("P", bound=LateCard)


def open_with_card(
    card: str,
    open_player: Callable[[], P],
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    since_boot_s: Callable[[], float],
    *,
    cards: Path = Path("/proc/asound"),
) -> P:
    """Open the player; while the machine itself still boots, let a late card come: the greeting is meant to be heard.

    Args:
        card: the card's name as configured; empty, or with a colon, if it is no name in `cards`.
        open_player: opens it. A player without its card tries again when it is polled, but ever more seldom.
        clock: seconds, monotonic; the one that the player has.
        sleep: seconds.
        since_boot_s: seconds since the kernel started. After `BOOTING_S` nothing is waited for.
        cards: the folder that has an entry of its name for each card that is there.
    """
    until = clock() + CARD_WAIT_S

    def patient() -> bool:
        return clock() < until and since_boot_s() < BOOTING_S

    named = bool(card) and ":" not in card
    while named and not (cards / card).exists() and patient():
        sleep(CARD_LOOK_S)
    player = open_player()
    while not player.is_open and patient():
        sleep(CARD_LOOK_S)
        player.poll(clock())
    return player


# --- forgiveness


def forgiving_configuration() -> tuple[Configuration, Title, Wiring, list[str]]:
    """The owner's files, each wrong one and each wrong key of `volcano.toml` replaced by its default; a line for each.

    A file that was asked for on a command line is none of these: whoever types it reads the error.
    """
    problems: list[str] = []

    def note(error: VolcanoError) -> None:
        line = f"{error}; going on without it"
        if line not in problems:
            problems.append(line)

    def instead(wrong: Callable[[], T], default: Callable[[], T]) -> T:
        try:
            return wrong()
        except VolcanoError as error:
            note(error)
            return default()

    configuration = instead(lambda: load_configuration(wrong=note), Configuration)
    board, tuning = configuration.board, configuration.tuning
    title = instead(lambda: load_title(board=board, tuning=tuning), load_title)
    wiring = instead(lambda: load_wiring(configuration.wiring, title.fields), lambda: load_wiring(None, title.fields))
    return configuration, title, wiring, problems
