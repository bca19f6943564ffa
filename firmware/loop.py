"""The event loop: polls the hardware, feeds the unit, plays its cues, keeps its records.

The only place with a clock (injected). It does one thing after the other in one thread; nothing that the hardware, the
player or the disk does may end a game.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol

from firmware.console import output_row
from firmware.game.kernel import Record, unfinished
from firmware.hal.ports import POLLS_PER_S
from firmware.terms import Fault, Part, Press, Say, Sound, Stop, Symbols
from firmware.unit import Unit
from firmware.unit_events import Settings
from firmware.unit_state import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firmware.audio.player import Player
    from firmware.game.kernel import Json, Title
    from firmware.hal.ports import Battery, PushButton, SymbolLights
    from firmware.terms import Grip, Texts

DEBOUNCE_S = 0.03
LONG_PRESS_S = 3.0
STUCK_PRESS_S = 30.0
"""A button held so long is stuck: it is reported and then ignored until it is released."""

DISK_GRACE_S = 0.015
"""How long an answer waits for the disk before it begins all the same: less than a poll, so no poll is late."""
DISK_PATIENCE_S = 3.0
"""How long the second sentence waits for the disk: a card that collects its garbage takes up to a second (estimate)."""

FAULTS_EVERY_S = 1.0
"""How often the hardware is asked what is broken."""
STUCK_BUTTON = Fault(
    Part.BUTTON,
    "",
    f"the push button has been held for more than {STUCK_PRESS_S:.0f} s: is it stuck, or its wire shorted to ground?",
)

log = logging.getLogger("volcano.loop")


class Hardware(Protocol):
    """Everything that the loop polls and drives."""

    @property
    def lights(self) -> SymbolLights:
        """The five symbols."""

    @property
    def button(self) -> PushButton:
        """The push button."""

    @property
    def battery(self) -> Battery:
        """The supply."""

    def poll(self, now: float) -> Grip | None:
        """A settled contact, once."""

    def faults(self) -> Sequence[Fault]:
        """What does not work."""

    def close(self) -> None:
        """Give everything back."""


class Store(Protocol):
    """What lasts over power-off: what is handed over is kept in its order."""

    def load(self) -> Sequence[Record]:
        """The records of the running game."""

    def append(self, record: Record) -> None:
        """Take a record."""

    def settled(self, within_s: float = 0.0) -> bool:
        """Whether all is on the disk, or refused by it; waits for that at most so long."""

    def load_settings(self, default: Settings) -> Settings:
        """The settings of the last time."""

    def save_settings(self, settings: Settings) -> None:
        """Take the settings."""

    def close(self) -> None:
        """Nothing more comes; what was taken is kept now, or never."""


class Supervisor(Protocol):
    """Who hears how the loop fares, and acts if it hears nothing."""

    def ready(self) -> None:
        """Everything has been polled once."""

    def served(self, now: float) -> None:
        """A poll is over: sensing, game and sound were served. Told after every poll."""

    def faults(self, faults: Sequence[Fault]) -> None:
        """What does not work now; told once a second."""

    def stopping(self) -> None:
        """The loop has ended."""


class Unsupervised:
    """Nobody listens."""

    def ready(self) -> None:
        """Not told."""

    def served(self, now: float) -> None:
        """Not told."""

    def faults(self, faults: Sequence[Fault]) -> None:
        """Not told."""

    def stopping(self) -> None:
        """Not told."""


class ButtonWatch:
    """Levels of the push button to presses: short at release, long once after 3 s; contact bounce is waited out."""

    def __init__(self) -> None:
        self._level = False
        self._changed_at = 0.0
        self._down_at: float | None = None
        self._reported_long = False
        self.stuck = False

    def update(self, level: bool, now: float) -> Press | None:
        """The level at `now`; a press when one is complete."""
        if level != self._level:
            self._level, self._changed_at = level, now
        if now - self._changed_at < DEBOUNCE_S:
            return None
        if self._level and self._down_at is None:
            self._down_at, self._reported_long = self._changed_at, False
        elif self._level and self._down_at is not None:
            held = now - self._down_at
            self.stuck = held >= STUCK_PRESS_S
            if held >= LONG_PRESS_S and not self._reported_long:
                self._reported_long = True
                return Press(long=True)
        elif self._down_at is not None:
            self._down_at, self.stuck = None, False
            return None if self._reported_long else Press()
        return None

    def hold(self, now: float) -> None:
        """The button is already down at power-on: its release is no press."""
        self._level, self._changed_at, self._down_at, self._reported_long = True, now - DEBOUNCE_S, now, True


class Loop:
    """One volcano with its hardware, in one thread."""

    def __init__(
        self,
        title: Title,
        texts: Callable[[str], Texts],
        hardware: Hardware,
        player: Player,
        store: Store,
        *,
        settings: Settings | None = None,
        seed: int = 0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        supervisor: Supervisor | None = None,
        misconfigured: bool = False,
    ) -> None:
        self._title, self._texts = title, texts
        self._hardware, self._player, self._store = hardware, player, store
        self._defaults = settings or Settings()
        self._seed = seed
        self._clock, self._sleep = clock, sleep
        self._supervisor: Supervisor = supervisor or Unsupervised()
        self._misconfigured = misconfigured
        self._started = clock()
        self._listeners: list[Callable[[Json], None]] = []
        self._fault_listeners: list[Callable[[Sequence[Fault]], None]] = []
        self._actions: deque[Callable[[], None]] = deque()
        self._stopping = False
        """No threading.Event: its lock, taken twice by a signal within the handler of another, would never be free."""
        self._watch = ButtonWatch()
        self._said_stuck = False
        self._faults_due = self._started
        self._heard = False
        """The cue has been heard to its end, and the unit was not told yet."""
        self._unjoined = False
        """The cue began before the disk had all: the player knows no successor."""
        self._unsettled_since: float | None = None
        self._said_slow = False
        self._blank = Unit(title, texts, settings=self._defaults)
        self.unit = self._blank

    # --- from any thread

    @property
    def powered(self) -> bool:
        """Whether the slide switch is on."""
        return self.unit.mode is not Mode.OFF

    def submit(self, action: Callable[[], None]) -> None:
        """Run `action` in the loop's thread before its next poll."""
        self._actions.append(action)

    def stop(self) -> None:
        """End `run` after the present poll; from a handler of signals, too, however many come."""
        self._stopping = True

    # --- in the loop's thread

    def listen(self, listener: Callable[[Json], None]) -> None:
        """Give every row, as the console prints it, to `listener`."""
        self._listeners.append(listener)

    def listen_to_faults(self, listener: Callable[[Sequence[Fault]], None]) -> None:
        """Tell `listener` once a second what is broken."""
        self._fault_listeners.append(listener)

    def grip(self, grip: Grip) -> None:
        """Somebody holds a figure and touches."""
        self.unit.grip(self._clock(), grip)
        self._carry_out()

    def press(self, press: Press) -> None:
        """Somebody has pressed the button."""
        self.unit.press(self._clock(), press)
        self._carry_out()

    def power_on(self, *, held: bool | None = None) -> None:
        """Switch on: what the journal holds goes on. Without `held` the button itself tells whether it is down."""
        now = self._clock()
        down = self._hardware.button.is_pressed() if held is None else held
        settings = self._store.load_settings(self._defaults)
        self._player.set_volume(settings.volume)
        self._seed += 1
        self.unit = Unit(self._title, self._texts, settings=settings, seed=self._seed)
        self._watch = ButtonWatch()
        if down:
            self._watch.hold(now)
        self.unit.power_on(
            now,
            low_battery=self._hardware.battery.is_low(),
            held=down,
            unfinished=unfinished(self._store.load()),
            misconfigured=self._misconfigured,
        )
        self._carry_out()

    def power_off(self) -> None:
        """Cut the power: nothing is saved, nothing is said."""
        self._break_off()
        self._hardware.lights.show(Symbols())
        self.unit = self._blank

    def step(self) -> None:
        """One poll: everything that has happened since the last one."""
        while self._actions:
            self._actions.popleft()()
        now = self._clock()
        grip = self._hardware.poll(now)
        press = self._watch.update(self._hardware.button.is_pressed(), now)
        if now >= self._faults_due:
            self._faults_due = now + FAULTS_EVERY_S
            self._note_faults(now)
            self.unit.battery(now, self._hardware.battery.is_low())
        unit = self.unit
        if unit.mode is Mode.OFF:
            return
        if self._player.poll(now):
            self._heard = True
        if (self._heard or self._unjoined) and (not self._unjoined or self._safe(now)):
            self._unjoined = False
            if self._heard:
                self._heard = False
                unit.finished(now)
                self._carry_out()
            else:
                self._player.follow(unit.speech.following())
        if press is not None:
            self.press(press)
        if grip is not None:
            self.grip(grip)
        if (due := unit.next_timer()) is not None and due <= now:
            unit.tick(now)
            self._carry_out()

    def run(self, after_first_poll: Callable[[], None] | None = None) -> None:
        """Poll until `stop()`; late polls are not made up for. Whatever ends it, all is put away, the record first."""
        with ExitStack() as ending:
            ending.callback(self._hardware.close)
            ending.callback(self._player.close)
            ending.callback(self.power_off)
            ending.callback(self._store.close)
            ending.callback(self._supervisor.stopping)
            self._poll_until_stopped(after_first_poll)

    def _poll_until_stopped(self, after_first_poll: Callable[[], None] | None) -> None:
        period = 1 / POLLS_PER_S
        due = self._clock()
        first = True
        while not self._stopping:
            self.step()
            if first:
                first = False
                self._supervisor.ready()
                if after_first_poll is not None:
                    after_first_poll()
                if not self._stopping:
                    self._title.load()  # while the greeting is heard
            self._supervisor.served(self._clock())
            due = max(due + period, self._clock())
            self._sleep(max(0.0, due - self._clock()))

    def _note_faults(self, now: float) -> None:
        """For voice and log. There parts name their own faults (`hal.ports`); the button's is seen only here."""
        faults = [*self._hardware.faults(), *self._player.faults()]
        if self._watch.stuck:
            faults.append(STUCK_BUTTON)
            if not self._said_stuck:
                log.warning("%s", STUCK_BUTTON)
                if self.unit.mode is Mode.SETTINGS:  # since power-on: it leads in, and would never lead out
                    self.press(Press())
        self._said_stuck = self._watch.stuck
        if self.unit.problem:
            log.warning("%s", self.unit.problem)
            self.unit.problem = ""
        if self.unit.mode is not Mode.OFF:
            self.unit.broken(now, faults)
            self._carry_out()
        self._supervisor.faults(faults)
        for listener in self._fault_listeners:
            listener(faults)

    def _carry_out(self) -> None:
        """Do what the unit says. What must last is handed over first, and mostly is on the disk before it is told."""
        now = self._clock()
        outputs = self.unit.take()
        kept = [output for output in outputs if isinstance(output, Record | Settings)]
        for each in kept:
            if isinstance(each, Settings):
                self._store.save_settings(each)
            else:
                self._store.append(each)
        if kept:
            self._store.settled(DISK_GRACE_S)
        for output in outputs:
            self._tell(output_row(output), now)
            if isinstance(output, Settings):
                self._player.set_volume(output.volume)
            elif isinstance(output, Say | Sound):
                self._heard = False
                self._unjoined = not self._safe(now)
                self._player.play(output, None if self._unjoined else self.unit.speech.following())
            elif isinstance(output, Symbols):
                self._hardware.lights.show(output)
            elif isinstance(output, Stop):
                self._break_off()

    def _break_off(self) -> None:
        self._heard = self._unjoined = False
        self._player.stop()

    def _safe(self, now: float) -> bool:
        """Whether a further sentence may begin: the disk has everything, or has been waited for long enough."""
        if self._store.settled():
            if self._said_slow:
                log.warning("journal: the disk answers again")
            self._unsettled_since, self._said_slow = None, False
            return True
        if self._unsettled_since is None:
            self._unsettled_since = now
        if now - self._unsettled_since < DISK_PATIENCE_S:
            return False
        if not self._said_slow:
            self._said_slow = True
            log.warning(
                "journal: the disk has not answered for %.0f s: check the card; the game goes on", DISK_PATIENCE_S
            )
        return True

    def _tell(self, row: Json | None, now: float) -> None:
        if row is not None:
            timed = {"t": round(now - self._started, 3), **row}
            for listener in self._listeners:
                listener(timed)
