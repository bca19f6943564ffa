"""Playing a sound pack through SDL's mixer (pygame or pygame-ce), with or without a sound card."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from firmware.audio.player import FADE_MS, VOLUME_STEPS, SilentPlayer, audible, volume_step
from firmware.audio.sdl import RATE_HZ, SdlMixer, SoundError, abandon_sdl, spoken_card
from firmware.terms import Fault, Part, Sound, nominal_ms

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pygame

    from firmware.audio.player import Audible, Clips
    from firmware.config import Configuration
    from firmware.terms import Cue

STEP_DB = 6.0
"""Between two volume steps; five of them span 24 dB, from a whisper to the clips' full -18 LUFS."""

CACHE_BYTES = 4 << 20
"""Decoded clips kept: 43 s, all short sounds and the last lines."""

OVERDUE_S = 2.0
"""A cue that lasts this much longer than its clip shows that the sound card has stopped taking samples."""

OPENING_S = 3.0
"""How long the start waits for the card; one that takes longer is heard later (estimate: none that works does)."""

CLOSING_S = 0.5
"""How long the end of the process waits for the card: it stops within a second, even if the card hangs."""

RETRY_S = (0.25, 60.0)
"""First and longest time between two attempts to open the sound card; it doubles. At boot a card may come late."""

_log = logging.getLogger(__name__)


class MixerPlayer:
    """Plays the clips of a pack through SDL's mixer, which stays open for good: opening and closing pops.

    Args:
        clips: the pack.
        clock: monotonic seconds, the same clock as in `poll`.
        card: name of the sound card (second column of /proc/asound/cards) or a complete ALSA name with a colon; empty:
            SDL chooses, or the environment does (SDL_AUDIODRIVER, AUDIODEV).
        buffer: frames per period, 512 (10.7 ms) or, where that crackles, 1024.

    Without a sound card one warning is logged, cues last as long as their clips, and the card is tried again. It is
    opened and closed in a thread: neither start, game nor end waits for a card that hangs.
    """

    def __init__(
        self,
        clips: Clips,
        clock: Callable[[], float],
        *,
        card: str = "",
        buffer: int = 512,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self._clips = clips
        self._clock = clock
        self._card = card
        self._buffer = buffer
        self._cache = _Cache(cache_bytes)
        self._named: set[str] = set()
        self._silent = SilentPlayer(clock, self._duration_ms)
        self._volume = 1.0
        self._mixer: SdlMixer | None = None
        self._opening: _Opening | None = None
        self._retry_s = RETRY_S[0]
        self._retry_at = clock()
        self._problem = ""
        """Why there is no sound card; empty while there is one."""
        self._closed = False
        # The side of the mixer that sounds, and what is queued behind it.
        self._deck = 0
        self._overdue_at: float | None = None
        self._successor: Audible | None = None
        self._handed_over = False
        self._sounding: list[pygame.mixer.Sound] = []
        self._opening = _Opening(card, buffer)
        self._opening.join(OPENING_S)
        self._try_again(self._retry_at)
        if self._opening is not None:
            self._problem = f"{spoken_card(card)} does not open: check the card and its wires; silent until it does"
            self._name_once(self._problem)

    @property
    def is_open(self) -> bool:
        """Whether a sound card is in use."""
        return self._mixer is not None

    # --- the port

    def play(self, cue: Audible, following: Cue | None = None) -> None:
        """Begin now, unless `cue` is the successor that has begun by itself."""
        self._try_again(self._clock())
        if self._mixer is None:
            self._silent.play(cue, following)
            return
        joined = self._handed_over and cue == self._successor
        self._handed_over = False
        self._successor = None
        if joined:
            self._sounding = self._sounding[1:]
        else:
            self._fade(self._mixer, FADE_MS)
            self._sounding = [self._sound(self._mixer, cue)]
            self._channel(self._mixer).play(self._sounding[0])
        self._overdue_at = self._clock() + self._sounding[0].get_length() + OVERDUE_S
        self.follow(following)

    def follow(self, following: Cue | None) -> None:
        """Queue the successor behind what sounds; if that has just ended unnoticed, it begins at once."""
        self._silent.follow(following)
        successor = audible(following)
        if self._mixer is None or self._overdue_at is None or self._successor is not None or successor is None:
            return
        self._successor = successor
        self._sounding.append(self._sound(self._mixer, successor))
        self._channel(self._mixer).queue(self._sounding[1])

    def stop(self, fade_ms: int = FADE_MS) -> None:
        """Fade out; the successor is forgotten."""
        self._silent.stop()
        self._overdue_at = self._successor = None
        self._handed_over = False
        self._sounding = []
        if self._mixer is not None:
            self._fade(self._mixer, fade_ms)

    def poll(self, now: float) -> bool:
        """True once when the cue begun last has ended."""
        self._try_again(now)
        if self._mixer is None:
            return self._silent.poll(now)
        if self._handed_over:
            self.stop()  # the unit went another way
            return False
        if self._overdue_at is None:
            return False
        channel = self._channel(self._mixer)
        begun = channel.get_queue() is None if self._successor is not None else not channel.get_busy()
        if not begun and now < self._overdue_at:
            return False
        if not begun:
            self._lose(f"{spoken_card(self._card)} takes no more samples: check its wires; silent until it does")
        self._overdue_at = None
        self._handed_over = begun and self._successor is not None
        return True

    def set_volume(self, step: int) -> None:
        """At once, for what sounds and what is to come."""
        self._silent.set_volume(step)
        self._volume = 10 ** ((volume_step(step) - VOLUME_STEPS) * STEP_DB / 20)
        for sound in self._sounding:
            sound.set_volume(self._volume)

    def faults(self) -> list[Fault]:
        """The sound card if there is none, or if it takes nothing."""
        return [Fault(Part.SOUND, "", self._problem)] if self._problem else []

    def close(self) -> None:
        """Break off and close the mixer; a card that hangs is left to the kernel."""
        self.stop(0)
        self._closed = True
        self._cache.clear()
        mixer, self._mixer = self._mixer, None
        opening, self._opening = self._opening, None
        if mixer is None and opening is None:
            return

        def end() -> None:
            if opening is not None:
                opening.give_up()
            last = mixer if opening is None else opening.mixer
            if last is not None:
                last.close()

        ending = _in_thread(end)
        if ending is not None:
            ending.join(CLOSING_S)
        if ending is None or ending.is_alive():
            abandon_sdl()

    # --- clips

    def _duration_ms(self, cue: Audible) -> int:
        clip = self._clips.find(cue)
        return nominal_ms(cue) if clip is None else clip.duration_ms

    def _sound(self, mixer: SdlMixer, cue: Audible) -> pygame.mixer.Sound:
        """The decoded clip, or silence of its nominal length."""
        clip = self._clips.find(cue)
        sound: pygame.mixer.Sound | None = None
        if clip is None:
            self._name_once(f"no clip for {_name(cue)}: build the sounds again (volcano sounds build)")
        else:
            sound = self._cache.get(clip.path)
            if sound is None:
                try:
                    sound = mixer.decode(clip.path)
                except (OSError, ValueError, mixer.error) as error:
                    self._name_once(f"{clip.path}: the clip for {_name(cue)} cannot be read: {error}")
                else:
                    self._cache.put(clip.path, sound)
        if sound is None:
            sound = mixer.silence(nominal_ms(cue))
        sound.set_volume(self._volume)
        return sound

    def _name_once(self, problem: str) -> None:
        if problem not in self._named:
            self._named.add(problem)
            _log.warning("%s", problem)

    # --- the mixer's two channels: one sounds while the other fades out

    def _channel(self, mixer: SdlMixer) -> pygame.mixer.Channel:
        return mixer.channels[self._deck]

    def _fade(self, mixer: SdlMixer, fade_ms: int) -> None:
        channel = self._channel(mixer)
        if not channel.get_busy():
            return
        # SDL plays what is queued after a fade, too, so something inaudible takes the successor's place.
        channel.queue(mixer.nothing)
        channel.fadeout(max(fade_ms, 1))
        self._deck = 1 - self._deck
        mixer.channels[self._deck].stop()

    # --- losing and finding the sound card

    def _take(self, opening: _Opening) -> None:
        if opening.mixer is None:
            self._problem = str(opening.problem)
            self._retry_at = self._clock() + self._retry_s
            self._retry_s = min(2 * self._retry_s, RETRY_S[1])
            self._name_once(self._problem)
            return
        self._mixer = opening.mixer
        self._retry_s = RETRY_S[0]
        if self._problem:
            self._problem = ""
            _log.warning("%s works again", spoken_card(self._card))

    def _lose(self, problem: str) -> None:
        _log.warning("%s", problem)
        self._problem = problem
        mixer, self._mixer = self._mixer, None
        self._cache.clear()
        self._sounding = []
        self._successor = None
        self._opening = _Opening(self._card, self._buffer, stale=mixer)

    def _try_again(self, now: float) -> None:
        """Without a card: start or finish an attempt to open it, never in the middle of a cue."""
        if self._mixer is not None or self._closed or self._silent.playing:
            return
        if self._opening is None:
            if now >= self._retry_at:
                self._opening = _Opening(self._card, self._buffer)
        elif self._opening.done:
            opening, self._opening = self._opening, None
            self._take(opening)


def _name(cue: Audible) -> str:
    if isinstance(cue, Sound):
        return f"the sound {cue.name}"
    args = ", ".join(f"{name} {value}" for name, value in cue.args)
    return f"the line {cue.line}, wording {cue.variant}, voice {cue.voice}" + (f", with {args}" if args else "")


class _Cache:
    """Decoded clips by file; those unused for longest go when there are too many bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sounds: OrderedDict[Path, pygame.mixer.Sound] = OrderedDict()
        self.bytes = 0

    def get(self, path: Path) -> pygame.mixer.Sound | None:
        sound = self._sounds.get(path)
        if sound is not None:
            self._sounds.move_to_end(path)
        return sound

    def put(self, path: Path, sound: pygame.mixer.Sound) -> None:
        self._sounds[path] = sound
        self.bytes += _bytes(sound)
        while self.bytes > self._limit and len(self._sounds) > 1:
            _, dropped = self._sounds.popitem(last=False)
            self.bytes -= _bytes(dropped)

    def clear(self) -> None:
        self._sounds.clear()
        self.bytes = 0


def _bytes(sound: pygame.mixer.Sound) -> int:
    return round(sound.get_length() * RATE_HZ) * 2


class _Opening:
    """One attempt to open the mixer, in a thread: ALSA may take its time. `stale` is closed before."""

    def __init__(self, card: str, buffer: int, *, stale: SdlMixer | None = None) -> None:
        self._card = card
        self._buffer = buffer
        self._stale = stale
        self._given_up = False
        self.mixer: SdlMixer | None = None
        self.problem: SoundError | None = None
        self._thread = _in_thread(self._open)
        if self._thread is None:
            self.problem = SoundError(f"{spoken_card(card)} is not opened: no thread can be started; silent until then")

    @property
    def done(self) -> bool:
        return self._thread is None or not self._thread.is_alive()

    def join(self, within_s: float | None = None) -> None:
        if self._thread is not None:
            self._thread.join(within_s)

    def give_up(self) -> None:
        """Wait for its end, and let it open nothing that it has not begun with."""
        self._given_up = True
        self.join()

    def _open(self) -> None:
        try:
            if self._stale is not None:
                self._stale.close()
            if not self._given_up:
                self.mixer = SdlMixer(self._card, self._buffer)
        except SoundError as error:
            self.problem = error
        except Exception as error:  # noqa: BLE001 - whatever it is, the game goes on, without sound
            what = f"{type(error).__name__}: {error}"
            self.problem = SoundError(f"{spoken_card(self._card)} cannot be opened: {what}; silent until then")


def _in_thread(work: Callable[[], None]) -> threading.Thread | None:
    """A thread that does `work`; None if there is no room for one."""
    thread = threading.Thread(target=work, name="sound", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread


def open_mixer(configuration: Configuration, clips: Clips, clock: Callable[[], float]) -> MixerPlayer:
    """The clips on the sound card that the owner has named."""
    return MixerPlayer(clips, clock, card=configuration.card, buffer=configuration.buffer)
