"""The catalogues: every sentence of a language, written in Fluent, compiled so that the Pi parses nothing.

``sounds/de.ftl`` is the source, ``sounds/de.json`` what is loaded. A message is a line; its attribute ``voice`` names
the character who says it (default: the narrator); any further attribute is one more wording. Messages may refer to
others (``{ relic-names }``) and select on an argument. Other Fluent features are refused when it is compiled, by name.
"""

from __future__ import annotations

import itertools
import json
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware.terms import FIGURES, SYMBOLS, TOUCHES, VolcanoError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from firmware.terms import Args

NARRATOR = "narrator"
FORMAT = 1

ZONES = ("beach", "jungle", "mountains")
RELIC_SITES = ("temple", "well", "crystal", "tower")
DIRECTIONS = ("north", "east", "south", "west")

DOMAINS: Mapping[str, Sequence[str | int]] = {
    "figure": tuple(figure.value for figure in FIGURES),
    "relic": ("amulet", "elixir", "crystal", "stone"),
    "site": RELIC_SITES,
    "creature": ("spider", "snake", "griffin", "dragon", "gnome", "triton", "golem"),
    "direction": DIRECTIONS,
    "symbol": tuple(symbol.value for symbol in SYMBOLS),
    "level": ("beginner", "advanced", "expert"),
    "volume": range(1, 6),
    "place": (
        *(f"{site}-{zone}" for zone in ZONES for site in RELIC_SITES),
        *("ariki", "hermit", "beachcomber"),
        *(f"{kind}-{direction}" for kind in ("ruin", "statue") for direction in DIRECTIONS),
        *(f"unexplored-{zone}" for zone in ZONES),
    ),
    "found": range(5),
    "cards": range(1, 3),
    "choice": range(1, 3),
    "demand": range(7, 13),
    "most": range(1, 4),
    "missing": range(13),
    "price": range(1, 4),
    "tablets": range(1, 5),
    "points": range(1, 10),
    "total": range(151),
    "faults": range(1, 41),
    "touch": tuple(touch.value for touch in TOUCHES),
    "field": (
        *(f"beach-{way}" for way in ("ne", "se", "s", "sw", "nw")),
        *(f"jungle-{way}" for way in ("n", "ne", "se", "s", "w", "nw")),
        *(f"mountain-{way}" for way in ("ne", "se", "sw", "nw")),
        *(f"{kind}-{way}" for kind in ("ruin", "statue") for way in ("n", "e", "s", "w")),
    ),
    "chip": range(1, 5),
    "rail": ("a", "b", "c"),
}
"""Every argument with the values it takes in play: a line's clips are the product over the arguments it names."""


class CatalogueError(VolcanoError):
    """A catalogue is missing or wrong; the text names file and line (message)."""


Pattern = list[Any]
"""Compiled: texts, ``{"arg": name}`` and ``{"select": name, "cases": [[key, pattern], ...], "default": index}``."""


class Catalogue:
    """One language's lines."""

    def __init__(self, language: str, lines: Mapping[str, Mapping[str, Any]]) -> None:
        self.language = language
        self._lines = lines

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def variants(self, line: str) -> int:
        """How many wordings a line has; 1 for an unknown line."""
        return len(self._lines[line]["wordings"]) if line in self._lines else 1

    def text(self, line: str, args: Args, variant: int = 0) -> str:
        """The wording; an unknown line is spoken as its name rather than breaking a game."""
        if line not in self._lines:
            return line
        return _render(self._lines[line]["wordings"][variant], dict(args))

    def voice(self, line: str, args: Args) -> str:
        """The character who says it."""
        return _render(self._lines[line]["voice"], dict(args)) if line in self._lines else NARRATOR

    def arguments(self, line: str) -> tuple[str, ...]:
        """The arguments that a line's sound depends on, sorted."""
        entry = self._lines[line]
        return tuple(sorted({name for pattern in (*entry["wordings"], entry["voice"]) for name in _names(pattern)}))

    def clips(self) -> Iterator[tuple[str, Args, int, str]]:
        """Every clip that a sound pack needs: line, arguments, variant, text."""
        for line in self._lines:
            names = self.arguments(line)
            for values in itertools.product(*(DOMAINS[name] for name in names)):
                args = tuple(zip(names, values, strict=True))
                for variant in range(self.variants(line)):
                    yield line, args, variant, self.text(line, args, variant)


def _render(pattern: Pattern, args: Mapping[str, str | int]) -> str:
    parts: list[str] = []
    for part in pattern:
        if isinstance(part, str):
            parts.append(part)
        elif "arg" in part:
            parts.append(str(args.get(part["arg"], "")))
        else:
            parts.append(_render(_chosen(part, args.get(part["select"])), args))
    return "".join(parts)


def _chosen(select: Mapping[str, Any], value: str | int | None) -> Pattern:
    cases = select["cases"]
    wanted = [str(value)] if not isinstance(value, int) else [str(value), "one" if value == 1 else "other"]
    for key in wanted:
        for name, pattern in cases:
            if name == key:
                chosen: Pattern = pattern
                return chosen
    fallback: Pattern = cases[select["default"]][1]
    return fallback


def _names(pattern: Pattern) -> Iterator[str]:
    for part in pattern:
        if isinstance(part, dict):
            yield part.get("arg") or part["select"]
            for _, case in part.get("cases", ()):
                yield from _names(case)


# --- files


def sounds_folder() -> Path:
    """Where catalogues and sounds lie: $VOLCANO_SOUNDS, the checkout's sounds/, or inside the installed package."""
    if chosen := os.environ.get("VOLCANO_SOUNDS"):
        return Path(chosen)
    here = Path(__file__).resolve().parent
    checkout = here.parent / "sounds"
    return checkout if checkout.is_dir() else here / "sounds"


def load(language: str, folder: Path | None = None) -> Catalogue:
    """The catalogue of a language. A source newer than what was compiled is compiled in memory where Fluent is there.

    Raises:
        CatalogueError: it is missing or broken.
    """
    folder = folder or sounds_folder()
    source, compiled = folder / f"{language}.ftl", folder / f"{language}.json"
    try:
        text = source.read_text(encoding="utf-8") if source.exists() else None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"is not UTF-8 text (byte {error.start})"
        raise CatalogueError(f"{source}: {reason}") from error
    if compiled.exists():
        try:
            held = json.loads(compiled.read_text(encoding="utf-8"))
            if held["format"] == FORMAT and (text is None or held["source"] == _digest(text)):
                return Catalogue(language, dict(held["lines"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CatalogueError(f"{compiled}: is no compiled catalogue: {error}") from error
    if text is None:
        raise CatalogueError(f"{source}: is missing; the folder of the sounds can be set with VOLCANO_SOUNDS")
    return Catalogue(language, compile_text(text, str(source)))


def write_compiled(language: str, folder: Path) -> Path:
    """Compile ``folder/<language>.ftl`` to JSON beside it."""
    source = folder / f"{language}.ftl"
    text = source.read_text(encoding="utf-8")
    held = {"format": FORMAT, "source": _digest(text), "lines": compile_text(text, str(source))}
    target = source.with_suffix(".json")
    target.write_text(json.dumps(held, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return target


def _digest(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


# --- compilation


def compile_text(text: str, file: str) -> dict[str, dict[str, Any]]:
    """Fluent source to compiled lines.

    Raises:
        CatalogueError: fluent.syntax is not installed, the source does not parse, or it uses what we do not support.
    """
    try:
        from fluent.syntax import FluentParser, ast  # noqa: PLC0415 - only where texts are edited, never on the Pi
    except ImportError as error:
        raise CatalogueError(f"{file}: was edited; compiling it needs the package fluent.syntax") from error
    messages: dict[str, Any] = {}
    for entry in FluentParser().parse(text).body:
        if isinstance(entry, ast.Junk):
            line = text.count("\n", 0, entry.span.start) + 1 if entry.span else "?"
            raise CatalogueError(f"{file}:{line}: {entry.annotations[0].message}")
        if isinstance(entry, ast.Message):
            if entry.id.name in messages:
                raise CatalogueError(f"{file}: {entry.id.name}: stands twice")
            messages[entry.id.name] = entry
    return _Compiler(file, messages, ast).lines()


class _Compiler:
    def __init__(self, file: str, messages: dict[str, Any], ast: Any) -> None:
        self.file, self.messages, self.ast = file, messages, ast

    def lines(self) -> dict[str, dict[str, Any]]:
        lines: dict[str, dict[str, Any]] = {}
        for name, message in self.messages.items():
            attributes = {each.id.name: self._pattern(each.value, (name,)) for each in message.attributes}
            voice = attributes.pop("voice", [NARRATOR])
            if message.value is None:
                raise CatalogueError(f"{self.file}: {name}: has no text")
            if "part" in attributes:
                continue
            lines[name] = {"voice": voice, "wordings": [self._pattern(message.value, (name,)), *attributes.values()]}
            for argument in {arg for pattern in (voice, *lines[name]["wordings"]) for arg in _names(pattern)}:
                if argument not in DOMAINS:
                    raise CatalogueError(
                        f"{self.file}: {name}: ${argument} is no argument; known: {', '.join(DOMAINS)}"
                    )
        return lines

    def _pattern(self, pattern: Any, within: tuple[str, ...]) -> Pattern:
        parts: Pattern = []
        for element in pattern.elements:
            if isinstance(element, self.ast.TextElement):
                parts.append(" ".join(element.value.split("\n")))
            else:
                parts += self._expression(element.expression, within)
        joined: Pattern = []
        for part in parts:
            if isinstance(part, str) and joined and isinstance(joined[-1], str):
                joined[-1] += part
            else:
                joined.append(part)
        return joined

    def _expression(self, expression: Any, within: tuple[str, ...]) -> Pattern:
        ast = self.ast
        if isinstance(expression, ast.StringLiteral):
            return [expression.value]
        if isinstance(expression, ast.VariableReference):
            return [{"arg": expression.id.name}]
        if isinstance(expression, ast.MessageReference):
            name = expression.id.name
            if name not in self.messages or name in within:
                raise CatalogueError(f"{self.file}: {within[0]}: refers to {name}, which is missing or refers back")
            return self._pattern(self.messages[name].value, (*within, name))
        if isinstance(expression, ast.SelectExpression) and isinstance(expression.selector, ast.VariableReference):
            cases = [[_key(variant.key), self._pattern(variant.value, within)] for variant in expression.variants]
            default = next(i for i, variant in enumerate(expression.variants) if variant.default)
            return [{"select": expression.selector.id.name, "cases": cases, "default": default}]
        raise CatalogueError(f"{self.file}: {within[0]}: {type(expression).__name__} is not supported here")


def _key(key: Any) -> str:
    return str(getattr(key, "name", None) or key.value)
