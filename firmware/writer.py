"""The journal's writer: a thread of its own, so that a slow disk holds back what is told next, but never the sensing.

The loop hands records over and goes on; the thread keeps them in their order, with all that has gathered meanwhile in
one sync. `settled` tells the loop whether everything is on the disk: until then it lets no second sentence begin.
"""

from __future__ import annotations

import threading
from collections import deque
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from firmware.unit_events import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firmware.game.kernel import Record
    from firmware.journal import Store

T = TypeVar("T")

CLOSING_S = 2.0
"""How long the end of the process waits for the disk; systemd kills after 3 s (TimeoutStopSec)."""


class Writer:
    """A `Store` behind a thread. Its `store` is touched by one thread at a time; `warn` gets one line.

    Nothing is raised and nothing but `load` waits for ever. A thread that died is replaced with the next record; where
    none can be started, records are written by who hands them over.
    """

    def __init__(self, store: Store, warn: Callable[[str], None]) -> None:
        self._store = store
        self._warn = warn
        self._waiting: deque[Record | Settings] = deque()
        self._writing = False
        self._closing = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._complained = False

    # --- in the loop's thread

    def load(self) -> Sequence[Record]:
        """The records of the running game, when everything handed over before is on the disk."""
        return self._undisturbed(self._store.load)

    def load_settings(self, default: Settings) -> Settings:
        """The settings of the last time, likewise."""
        return self._undisturbed(lambda: self._store.load_settings(default))

    def append(self, *records: Record) -> None:
        """Hand records over."""
        self._hand_over(records)

    def save_settings(self, settings: Settings) -> None:
        """Hand settings over."""
        self._hand_over((settings,))

    def settled(self, within_s: float = 0.0) -> bool:
        """Whether all that was handed over is on the disk, or was refused by it; waits for that at most so long."""
        with self._changed:
            return self._changed.wait_for(self._is_settled, within_s)

    def close(self, within_s: float = CLOSING_S) -> None:
        """Let the thread finish, or give it up; harmless when called again."""
        if not self.settled(within_s):
            self._warn("journal: the disk does not answer; what was touched last may be lost")
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._store.close()

    def _undisturbed(self, read: Callable[[], T]) -> T:
        with self._changed:  # the thread needs it to begin with anything
            self._changed.wait_for(self._is_settled)
            return read()

    def _is_settled(self) -> bool:
        return not self._waiting and not self._writing

    def _hand_over(self, kept: Sequence[Record | Settings]) -> None:
        with self._changed:
            self._waiting.extend(kept)
            if self._is_running():
                self._changed.notify_all()
                return
        self._write_waiting()

    def _is_running(self) -> bool:
        if self._thread is None or not self._thread.is_alive():
            self._writing = False
            self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # no more threads, or no memory for one
                self._thread = None
        return self._thread is not None

    # --- in the writer's thread

    def _run(self) -> None:
        while self._something_waits():
            self._write_waiting()

    def _something_waits(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing)
            return bool(self._waiting)

    def _write_waiting(self) -> None:
        with self._changed:
            kept = tuple(self._waiting)
            self._waiting.clear()
            self._writing = True
        try:
            for is_settings, group in groupby(kept, lambda each: isinstance(each, Settings)):
                if is_settings:
                    self._store.save_settings([each for each in group if isinstance(each, Settings)][-1])
                else:
                    self._store.append(*(each for each in group if not isinstance(each, Settings)))
        except Exception as error:  # noqa: BLE001 - whatever it is, the game goes on, and so does the record if it can
            if not self._complained:
                self._complained = True
                self._warn(f"journal: a record was not written: {type(error).__name__}: {error}")
        finally:
            with self._changed:
                self._writing = False
                self._changed.notify_all()
