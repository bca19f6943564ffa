"""The words that every part of the firmware shares.

Inputs run inward (`Grip`, `Contact`, `Press`), cues run outward (`Say`, `Sound`, `Symbols`, `Stop`).
The names are the rulebook's own. This module imports nothing of the project.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from typing import Protocol


class VolcanoError(Exception):
    """Root of all errors that a user can act on; its text is one complete line."""


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number of things for people: ``1 contact``, ``2 contacts``; `plural` where an s is not enough."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


class Figure(StrEnum):
    """The four adventurers (rulebook, Contents)."""

    WHITE = "white"
    RED = "red"
    GREEN = "green"
    BLACK = "black"


class Touch(StrEnum):
    """The six Touch fields on the board (rulebook, Contents)."""

    ROCK = "rock"
    EXPLORE = "explore"
    ONE = "one"
    TWO = "two"
    THREE = "three"
    FIRE = "fire"

    @property
    def number(self) -> int:
        """1, 2 or 3 for One, Two and Three, else 0."""
        return _NUMBERS.get(self, 0)


_NUMBERS = {Touch.ONE: 1, Touch.TWO: 2, Touch.THREE: 3}


class Symbol(StrEnum):
    """The five lights on the volcano (rulebook, Relic sites and relics)."""

    STAR = "star"
    CIRCLE = "circle"
    TRIANGLE = "triangle"
    SQUARE = "square"
    ARIKI = "ariki"


FIGURES = tuple(Figure)
TOUCHES = tuple(Touch)
SYMBOLS = tuple(Symbol)
RELIC_SYMBOLS = SYMBOLS[:4]

Likelihood = tuple[float, float, float, float]
"""How probable a reading is if the figure was white, red, green or black; all equal: the sensors cannot tell."""

UNKNOWN: Likelihood = (1.0, 1.0, 1.0, 1.0)


def certain(figure: Figure) -> Likelihood:
    """The likelihood of a reading that only `figure` can cause."""
    white, red, green, black = (1.0 if other is figure else 0.0 for other in FIGURES)
    return white, red, green, black


class Part(StrEnum):
    """What a volcano is made of, as the self-test names it."""

    BUS = "bus"
    CHIP = "chip"
    PAD = "pad"
    LIGHT = "light"
    BUTTON = "button"
    BATTERY = "battery"
    SOUND = "sound"


@dataclass(frozen=True, slots=True)
class Fault:
    """A part that does not work now; `text` is one complete line: what is wrong, and after a colon what to check.

    `name` tells parts of a kind apart: a pad's field or Touch field, a chip's number from 1, in the order of their
    addresses, a light's symbol.
    """

    part: Part
    name: str
    text: str

    def __str__(self) -> str:
        return self.text


# --- inputs


@dataclass(frozen=True, slots=True)
class Grip:
    """A figure on `field` held by the head while `touch` is touched; who it was is only likely."""

    field: str
    touch: Touch
    likelihood: Likelihood = UNKNOWN


@dataclass(frozen=True, slots=True)
class Contact:
    """What a game receives: this figure on this field with this Touch field."""

    figure: Figure
    field: str
    touch: Touch


@dataclass(frozen=True, slots=True)
class Press:
    """The push button, short or long (3 s)."""

    long: bool = False


# --- cues


class Rank(Enum):
    """What happens to a cue when something more important comes.

    FACT always finishes (points, places, counts, questions); CHATTER fades out; STORY is chatter that the push
    button may skip (the Ariki's story, rulebook "The Ariki's speech").
    """

    FACT = "fact"
    CHATTER = "chatter"
    STORY = "story"


class SoundName(StrEnum):
    """Sounds that are no speech; a cry and a defeat per creature."""

    GREETING = "greeting"
    HARP = "harp"
    POINT = "point"
    BIRD = "bird"
    ERROR = "error"
    BEEP = "beep"
    RUMBLE = "rumble"
    ERUPTION = "eruption"
    AWAKENING = "awakening"
    SPIDER = "spider"
    SNAKE = "snake"
    GRIFFIN = "griffin"
    DRAGON = "dragon"
    GNOME = "gnome"
    TRITON = "triton"
    GOLEM = "golem"
    SPIDER_GONE = "spider-gone"
    SNAKE_GONE = "snake-gone"
    GRIFFIN_GONE = "griffin-gone"
    DRAGON_GONE = "dragon-gone"
    GNOME_GONE = "gnome-gone"
    TRITON_GONE = "triton-gone"
    GOLEM_GONE = "golem-gone"


Args = tuple[tuple[str, str | int], ...]
"""Arguments of a line, sorted by name: hashable, so that (line, variant, args) names a clip."""


@dataclass(frozen=True, slots=True)
class Say:
    """One line of a catalogue; `text`, `variant` and `voice` are filled in from it when the line is to be spoken."""

    line: str
    args: Args = ()
    rank: Rank = Rank.FACT
    voice: str = ""
    text: str = ""
    variant: int = 0

    def spoken(self, text: str, variant: int, voice: str) -> Say:
        """The same line with its wording and its speaker."""
        return replace(self, text=text, variant=variant, voice=voice)


@dataclass(frozen=True, slots=True)
class Sound:
    """One sound."""

    name: SoundName
    rank: Rank = Rank.FACT


@dataclass(frozen=True, slots=True)
class Symbols:
    """The whole set of symbols now lit; `blink` for the weak battery."""

    lit: tuple[Symbol, ...] = ()
    blink: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """What is being said breaks off."""


Cue = Say | Sound | Symbols | Stop


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence inside an announcement, so that point tones are heard in pairs; no cue of its own."""

    ms: int


Item = Cue | Pause
"""What an announcement is made of."""


def say(line: str, rank: Rank = Rank.FACT, **args: str | int) -> Say:
    """A line with its arguments, for example ``say("finds", relic="amulet", count=1)``."""
    return Say(line, tuple(sorted(args.items())), rank)


class Texts(Protocol):
    """A catalogue as the unit sees it."""

    def variants(self, line: str) -> int:
        """How many wordings `line` has, at least 1."""

    def text(self, line: str, args: Args, variant: int = 0) -> str:
        """The wording of `line`."""

    def voice(self, line: str, args: Args) -> str:
        """The character who says it."""


MS_PER_CHARACTER = 65
"""Nominal speaking rate: 15 characters a second, as measured on German and English voices."""

SOUND_MS = {
    SoundName.GREETING: 3000,
    SoundName.HARP: 2500,
    SoundName.POINT: 350,
    SoundName.BIRD: 900,
    SoundName.ERROR: 600,
    SoundName.BEEP: 300,
    SoundName.RUMBLE: 3500,
    SoundName.ERUPTION: 5500,
    SoundName.AWAKENING: 3600,
    SoundName.SPIDER: 1500,
    SoundName.SNAKE: 1500,
    SoundName.GRIFFIN: 1500,
    SoundName.DRAGON: 2000,
    SoundName.GNOME: 1500,
    SoundName.TRITON: 1500,
    SoundName.GOLEM: 2000,
    SoundName.SPIDER_GONE: 1200,
    SoundName.SNAKE_GONE: 1200,
    SoundName.GRIFFIN_GONE: 1200,
    SoundName.DRAGON_GONE: 1200,
    SoundName.GNOME_GONE: 1200,
    SoundName.TRITON_GONE: 1200,
    SoundName.GOLEM_GONE: 1200,
}


def nominal_ms(cue: Cue) -> int:
    """How long a cue lasts where no sound pack says so, in milliseconds: the same on every machine."""
    if isinstance(cue, Say):
        return MS_PER_CHARACTER * len(cue.text)
    if isinstance(cue, Sound):
        return SOUND_MS[cue.name]
    return 0
