"""Players: what is said and heard, one cue at a time.

`SilentPlayer` only lets the nominal time pass, `RecordingPlayer` is driven by a test, `mixer.MixerPlayer` is heard.
Which cue comes next, and what may be interrupted, the unit decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from firmware.terms import Say, Sound, nominal_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firmware.audio.pack import Clip
    from firmware.terms import Cue, Fault

Audible = Say | Sound

VOLUME_STEPS = 5

FADE_MS = 80
"""Short enough for an interruption, long enough not to click."""


class Player(Protocol):
    """Plays one cue at a time."""

    def play(self, cue: Audible, following: Cue | None = None) -> None:
        """Begin `cue` now; whatever sounds is broken off.

        `following` comes next unless something intervenes: it is prepared and joins `cue` without a gap. It counts as
        begun only when the next `play` names it; a successor that is not named before the next but one `poll` ends.
        """

    def follow(self, following: Cue | None) -> None:
        """What comes next, where `play` could not be told yet; harmless when the cue has ended meanwhile."""

    def stop(self, fade_ms: int = FADE_MS) -> None:
        """Fade out what sounds; it does not count as ended."""

    def poll(self, now: float) -> bool:
        """True once when the cue begun last has ended. `now` in seconds, on the player's clock."""

    def set_volume(self, step: int) -> None:
        """Loudness from 1 to 5, at once; a step outside is brought to the nearest."""

    def faults(self) -> Sequence[Fault]:
        """Why nothing can be heard now, empty if all is well."""

    def close(self) -> None:
        """Give the sound card back; harmless when called again."""


class Clips(Protocol):
    """A sound pack as the player sees it."""

    def find(self, cue: Audible) -> Clip | None:
        """The clip of a cue, None if there is none."""


def audible(cue: Cue | None) -> Audible | None:
    """The cue if it can be heard, None for lights and for nothing."""
    return cue if isinstance(cue, Say | Sound) else None


class SilentPlayer:
    """Plays nothing for as long as each cue lasts; a successor begins exactly when its predecessor ended."""

    def __init__(self, clock: Callable[[], float], duration_ms: Callable[[Audible], int] = nominal_ms) -> None:
        self._clock = clock
        self._duration_ms = duration_ms
        self._ends: float | None = None
        self._successor: Audible | None = None
        self._handed_over: float | None = None
        self.volume = VOLUME_STEPS

    @property
    def playing(self) -> bool:
        """Whether a cue has begun whose end was not reported yet."""
        return self._ends is not None

    def play(self, cue: Audible, following: Cue | None = None) -> None:
        """Begin now, or when the predecessor ended if `cue` was announced as its successor."""
        joined = self._handed_over is not None and cue == self._successor
        begins = self._handed_over if joined and self._handed_over is not None else self._clock()
        self._ends = begins + self._duration_ms(cue) / 1000
        self._successor = audible(following)
        self._handed_over = None

    def follow(self, following: Cue | None) -> None:
        """Remember the successor."""
        if self.playing:
            self._successor = audible(following)

    def stop(self, fade_ms: int = FADE_MS) -> None:  # noqa: ARG002 - there is nothing to fade
        """Forget the cue and its successor."""
        self._ends = self._successor = self._handed_over = None

    def poll(self, now: float) -> bool:
        """True once when the nominal time is over."""
        if self._ends is None or now < self._ends:
            self._handed_over = None
            return False
        self._handed_over, self._ends = self._ends, None
        return True

    def set_volume(self, step: int) -> None:
        """Remembered only."""
        self.volume = volume_step(step)

    def faults(self) -> Sequence[Fault]:
        """Silence is what it is for."""
        return ()

    def close(self) -> None:
        """Nothing to give back."""
        self.stop()


class RecordingPlayer:
    """Notes what is asked of it; a cue ends when the test calls `finish`."""

    def __init__(self) -> None:
        self.played: list[Audible] = []
        self.followings: list[Cue | None] = []
        self.stops: list[int] = []
        self.volume = VOLUME_STEPS
        self.closed = False
        self.current: Audible | None = None
        self._ended = False

    def play(self, cue: Audible, following: Cue | None = None) -> None:
        """Note the cue and what was announced after it."""
        self.played.append(cue)
        self.followings.append(following)
        self.current = cue
        self._ended = False

    def follow(self, following: Cue | None) -> None:
        """Note it as announced with the cue."""
        if self.current is not None:
            self.followings[-1] = following

    def finish(self) -> None:
        """The current cue has ended: the next `poll` says so."""
        if self.current is None:
            raise AssertionError("nothing is being played")
        self._ended = True

    def stop(self, fade_ms: int = FADE_MS) -> None:
        """Note the fade."""
        self.stops.append(fade_ms)
        self.current = None
        self._ended = False

    def poll(self, now: float) -> bool:  # noqa: ARG002 - the test is the clock
        """True once after `finish`."""
        ended, self._ended = self._ended, False
        if ended:
            self.current = None
        return ended

    def set_volume(self, step: int) -> None:
        """Note the step."""
        self.volume = volume_step(step)

    def faults(self) -> Sequence[Fault]:
        """Nothing breaks."""
        return ()

    def close(self) -> None:
        """Note it."""
        self.closed = True


def volume_step(step: int) -> int:
    """The nearest step that exists."""
    return min(max(step, 1), VOLUME_STEPS)
