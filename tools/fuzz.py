"""Play sequences of random contacts, presses, waits and power cuts, and hold every line to what must always be true.

Each sequence is a volcano of its own on the console. What breaks is shrunk and printed as lines for `volcano console`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from watched import Dice, Watched, random_lines

from firmware.terms import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHORTEST, LONGEST = 10, 120
"""Lines of a sequence. A whole game of four takes some 250 contacts; with ``--lines 600`` many come to their end."""
CHUNK = 50
SEED_STEP = 1 << 32
MOST_TRIES = 2000
"""Of shrinking one broken sequence."""
BAR_CHARACTERS = 40


@dataclass(frozen=True)
class Broken:
    """What broke in a sequence, and the lines up to there."""

    number: int
    seed: int
    what: str
    lines: tuple[str, ...]


@dataclass
class Tally:
    """What has been played."""

    sequences: int = 0
    lines: int = 0
    events: Counter[str] = field(default_factory=Counter)
    broken: list[Broken] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Together with another's."""
        self.sequences += other.sequences
        self.lines += other.lines
        self.events += other.events
        self.broken += other.broken


def play(number: int, seed: int, tally: Tally, longest: int = LONGEST) -> None:
    """One sequence."""
    dice = Dice(seed * SEED_STEP + number)
    length = SHORTEST + dice.below(longest - SHORTEST + 1)
    watched = Watched(seed=number)
    lines: list[str] = []
    try:
        for line in islice(random_lines(dice, lambda: watched.game), length):
            lines.append(line)
            watched.play(line)
        watched.look_back()
    except Exception as error:  # noqa: BLE001 - whatever breaks is a finding
        tally.broken.append(Broken(number, number, _named(error), tuple(lines)))
    tally.sequences += 1
    tally.lines += len(lines)
    tally.events.update(row["event"] for row in watched.rows if "event" in row)


def broken_by(seed: int, lines: Iterable[str]) -> str:
    """What these lines break, empty if nothing."""
    watched = Watched(seed=seed)
    try:
        for line in lines:
            watched.play(line)
        watched.look_back()
    except Exception as error:  # noqa: BLE001 - whatever breaks is a finding
        return _named(error)
    return ""


def shrink(found: Broken) -> Broken:
    """The same fault with as few lines as dropping them, many at a time and then one by one, leads to."""
    lines, what = list(found.lines), found.what
    tries, step = 0, max(1, len(lines) // 2)
    while step and tries < MOST_TRIES:
        start = 0
        while start < len(lines) and tries < MOST_TRIES:
            fewer = lines[:start] + lines[start + step :]
            tries += 1
            if _kind(broken_by(found.seed, fewer)) == _kind(what):
                lines = fewer
            else:
                start += step
        step //= 2
    return Broken(found.number, found.seed, broken_by(found.seed, lines) or what, tuple(lines))


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _kind(what: str) -> str:
    """A fault without its numbers and names: what shrinking has to keep."""
    return what.partition(":")[0] + what.partition(":")[2].partition(":")[0]


def _chunk(work: tuple[range, int, int]) -> Tally:
    numbers, seed, longest = work
    tally = Tally()
    for number in numbers:
        play(number, seed, tally, longest)
    return tally


def fuzz(sequences: int, seed: int, cores: int, *, first: int = 0, longest: int = LONGEST) -> Tally:
    """Play them all; the progress is shown on standard error."""
    total = Tally()
    starts = range(first, first + sequences, CHUNK)
    work = [(range(start, min(start + CHUNK, first + sequences)), seed, longest) for start in starts]
    began = time.monotonic()
    with multiprocessing.Pool(cores) as pool:
        for tally in pool.imap_unordered(_chunk, work):
            total.add(tally)
            _show(total, sequences, time.monotonic() - began)
    return total


def _show(total: Tally, sequences: int, seconds: float) -> None:
    share = total.sequences / sequences
    if sys.stderr.isatty():
        bar = "#" * round(share * BAR_CHARACTERS)
        left = seconds / share - seconds
        text = (
            f"\r[{bar:<{BAR_CHARACTERS}}] {total.sequences}/{sequences}, {len(total.broken)} broken, {left:.0f} s left "
        )
        print(text, end="\n" if total.sequences == sequences else "", file=sys.stderr, flush=True)
    elif total.sequences * 20 // sequences != (total.sequences - CHUNK) * 20 // sequences:
        print(f"{share:4.0%} after {seconds:.0f} s, {len(total.broken)} broken", file=sys.stderr, flush=True)


def report(total: Tally, seconds: float) -> None:
    """What was played, and what broke as lines of the console."""
    seen = ", ".join(f"{name} {count}" for name, count in sorted(total.events.items()))
    played = f"{counted(total.sequences, 'sequence')}, {counted(total.lines, 'line')}"
    print(f"{played} in {seconds:.0f} s; {len(total.broken)} broken")
    print(f"events: {seen}")
    kinds: dict[str, list[Broken]] = {}
    for each in sorted(total.broken, key=lambda found: len(found.lines)):
        kinds.setdefault(_kind(each.what), []).append(each)
    for alike in kinds.values():
        smallest = shrink(alike[0])
        first = min(each.number for each in alike)
        print(f"\nbroken in {counted(len(alike), 'sequence')}, first in number {first}: {smallest.what}")
        print(f"volcano console --seed {smallest.seed} <<'END'")
        print("\n".join((*smallest.lines, "END")))


def main(arguments: Sequence[str] | None = None) -> int:
    """Play; exit status 1 if something broke."""
    parser = argparse.ArgumentParser(prog="tools/fuzz", description=__doc__)
    parser.add_argument("--sequences", type=int, default=1000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the sequences (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first sequence (default: %(default)s)")
    parser.add_argument("--lines", type=int, default=LONGEST, help="of the longest sequence (default: %(default)s)")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="default: all, %(default)s")
    options = parser.parse_args(arguments)
    if options.sequences < 1 or options.cores < 1 or options.lines < SHORTEST:
        parser.error(f"--sequences and --cores must be at least 1, --lines {SHORTEST}")
    began = time.monotonic()
    total = fuzz(options.sequences, options.seed, options.cores, first=options.first, longest=options.lines)
    report(total, time.monotonic() - began)
    return 1 if total.broken else 0


if __name__ == "__main__":
    sys.exit(main())
