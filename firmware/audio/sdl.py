"""SDL's mixer, opened through the one module of pygame (or pygame-ce) that the volcano needs."""

from __future__ import annotations

import atexit
import importlib.util
import logging
import os
import sys
from array import array
from pathlib import Path
from typing import TYPE_CHECKING

from firmware.terms import VolcanoError

if TYPE_CHECKING:
    import pygame

RATE_HZ = 48_000
"""Common I2S amplifiers refuse 24 and 22.05 kHz, so the mixer always runs at this rate (MAX98357A data sheet)."""

_log = logging.getLogger(__name__)


class SoundError(VolcanoError, OSError):
    """The sound card cannot be opened; the text names it and what to check."""


def spoken_card(name: str) -> str:
    """What messages call the card of this name, empty for the system's default."""
    return f"sound card {name}" if name else "the default sound card"


class SdlMixer:
    """SDL's mixer, opened: 16 bit, one channel, `RATE_HZ`.

    Args:
        card: as of `MixerPlayer`.
        buffer: frames per period.

    Raises:
        SoundError: the card is missing or refuses.
    """

    def __init__(self, card: str, buffer: int) -> None:
        if card:
            os.environ["AUDIODEV"] = card if ":" in card else f"plughw:CARD={card},DEV=0"
            os.environ.setdefault("SDL_AUDIODRIVER", "alsa")
            if ":" not in card and os.environ["SDL_AUDIODRIVER"] == "alsa" and not Path("/proc/asound", card).exists():
                raise SoundError(
                    f"there is no sound card {card}: its name must stand in /proc/asound/cards; silent until then"
                )
        # SDL must leave SIGTERM and SIGINT alone, or the service cannot be stopped; it reads that when it starts.
        os.environ.setdefault("SDL_NO_SIGNAL_HANDLERS", "1")
        try:
            _bare_pygame()
            import pygame.base  # noqa: PLC0415 - only who plays needs it
            import pygame.mixer  # noqa: PLC0415
        except ImportError as problem:
            raise SoundError(f"pygame cannot be imported: install it again; silent ({problem})") from problem
        self._mixer = pygame.mixer
        self.error = pygame.base.error
        if os.environ.get("SDL_AUDIODRIVER", "alsa") == "alsa":
            _hush_alsa()
        if os.environ.get("SDL_AUDIODRIVER") == "alsa":
            _feel_card(os.environ.get("AUDIODEV", "default"))
        try:
            pygame.mixer.init(RATE_HZ, -16, 1, buffer, allowedchanges=0)
        except pygame.base.error as problem:
            raise SoundError(
                f"{spoken_card(card)} cannot be opened: check the card and its overlay; silent until then ({problem})"
            ) from problem
        pygame.mixer.set_num_channels(2)
        self.channels = (pygame.mixer.Channel(0), pygame.mixer.Channel(1))
        self.nothing = self.silence(1)

    def decode(self, path: Path) -> pygame.mixer.Sound:
        """The whole clip in memory; raises OSError, ValueError or `error`."""
        return self._mixer.Sound(str(path))

    def silence(self, duration_ms: int) -> pygame.mixer.Sound:
        """At least a millisecond of it."""
        return self._mixer.Sound(buffer=array("h", bytes(2 * max(1, duration_ms * RATE_HZ // 1000))))

    def close(self) -> None:
        """Give the card back; takes as long as the card does, for ever if it hangs."""
        # A sound that ends within pygame's quit reads what that has freed (pygame 2.6), or waits for the interpreter's
        # lock with SDL's in hand while quit waits the other way round (pygame-ce 2.5.6): so nothing sounds any more.
        # Twice, for what is queued begins where something is stopped.
        if self._mixer.get_init():
            self._mixer.stop()
            self._mixer.stop()
        self._mixer.quit()


def _bare_pygame() -> None:
    """Let ``import pygame.mixer`` load that and what it asks for, not all of pygame.

    The package itself would load windows, fonts, sprites and, where it is installed, numpy: five to ten times the time
    and 24 MiB that a volcano has no use for. So the package is put in place without being run. Its mixer does not know
    the difference (pygame 2.5 and 2.6, pygame-ce 2.5); whoever imports pygame afterwards gets only these modules.
    """
    if "pygame" in sys.modules:
        return
    found = importlib.util.find_spec("pygame")
    if found is None:
        raise ImportError("there is no module pygame")
    sys.modules["pygame"] = importlib.util.module_from_spec(found)
    import pygame.base  # noqa: PLC0415
    import pygame.mixer  # noqa: PLC0415

    # At the end it would load what else there is, only to close it.
    atexit.unregister(pygame.base.quit)
    atexit.register(pygame.mixer.quit)


def abandon_sdl() -> None:
    """Let the process end although the card hangs: SDL would wait for it then. Waits for nothing, not for an import."""
    for name in ("pygame.base", "pygame.mixer"):
        if (quit_it := getattr(sys.modules.get(name), "quit", None)) is not None:
            atexit.unregister(quit_it)


def _feel_card(device: str) -> None:
    """Open the card through ALSA as SDL will, and close it: if it hangs or takes its time, then here.

    pygame keeps the interpreter's lock while it opens the mixer, so that no thread could go on meanwhile, and no signal
    be heard; ctypes gives it away. What does not work is told by SDL. The numbers are those of alsa/pcm.h.
    """
    import ctypes  # noqa: PLC0415 - only where ALSA may be asked

    playback, without_waiting, s16_le, interleaved, latency_us = 0, 1, 2, 3, 40_000
    try:
        alsa = ctypes.CDLL("libasound.so.2")
        card = ctypes.c_void_p()
        if alsa.snd_pcm_open(ctypes.byref(card), device.encode(), playback, without_waiting) == 0:
            alsa.snd_pcm_set_params(card, s16_le, interleaved, 1, RATE_HZ, 0, latency_us)
            alsa.snd_pcm_close(card)
    except (OSError, AttributeError) as problem:
        _log.debug("the card is not felt before it is opened: %s", problem)


def _hush_alsa() -> None:
    """Let alsa-lib print nothing: what fails is told once, in our words.

    Its handler of errors (snd_lib_error_set_handler) becomes a function of the C library that takes no notice of its
    arguments. One in Python would need the interpreter's lock, in whatever thread SDL happens to be.
    """
    import ctypes  # noqa: PLC0415 - only where ALSA may be asked

    try:
        alsa = ctypes.CDLL("libasound.so.2")  # as SDL does
        alsa.snd_lib_error_set_handler(ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p))
    except (OSError, AttributeError) as problem:
        _log.debug("alsa-lib prints what it likes: %s", problem)
