"""The core's speed against other game libraries in the same run: contacts a second, and what a copy of a game costs."""

from __future__ import annotations

import random
import statistics
import time
from typing import TYPE_CHECKING, Any

from bench_figures import Figures

from firmware.game.insel.rules import InselRules
from firmware.game.kernel import Chance
from firmware.terms import FIGURES, Contact, Touch

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.game.insel.state import InselState

ROUNDS = 7
"""Ours and the peers take turns; the median of the rounds' ratios counts."""
ROUND_S = 0.4
CLONES = 3000
MIDDLE_PLIES = 40
"""A chess game in its middle, for a copy."""
NUMBERS = {"guardian": 3, "statue": 1, "fight": 3}
"""How many of One, Two, Three are certainly allowed where a question is open."""


class Contacts:
    """Random contacts of four figures, games one after another, every event made."""

    def __init__(self, seed: int) -> None:
        self.rules, self.chance, self.random = InselRules(), Chance(), random.Random(seed)
        self.seed = seed
        self.state = self.begin()

    def begin(self) -> InselState:
        """A game in which all four have landed."""
        self.seed += 1
        boats = self.random.sample(self.rules.board.boats, len(FIGURES))
        contacts = [Contact(figure, boat, Touch.EXPLORE) for figure, boat in zip(FIGURES, boats, strict=True)]
        state = self.rules.start(contacts[0], self.seed)
        for contact in contacts:
            self.rules.accept(state, contact, self.chance)
        return state

    def play(self) -> None:
        """One contact: an answer where one is open (half of them), else an Explore of the next figure anywhere."""
        state, pending = self.state, self.state.pending
        if pending is not None and pending.kind != "hermit" and self.random.random() < 0.5:
            number = pending.price or self.random.randint(1, NUMBERS[pending.kind])
            contact = Contact(pending.figure, pending.field, (Touch.ONE, Touch.TWO, Touch.THREE)[number - 1])
        else:
            figure = FIGURES[state.turn % len(FIGURES)]
            contact = Contact(figure, self.random.choice(self.rules.board.fields), Touch.EXPLORE)
        self.rules.accept(state, contact, self.chance)
        self.chance.drawn.clear()
        if state.over:
            self.state = self.begin()


class Chess:
    """python-chess: random legal moves, games one after another."""

    def __init__(self, seed: int) -> None:
        import chess  # noqa: PLC0415 - the peer

        self.new, self.random = chess.Board, random.Random(seed)
        self.board = self.new()

    def play(self) -> None:
        """One move."""
        moves = list(self.board.legal_moves)
        if not moves or self.board.ply() > 200:
            self.board = self.new()
            moves = list(self.board.legal_moves)
        self.board.push(self.random.choice(moves))


class ConnectFour:
    """PettingZoo's connect_four_v3: random legal moves, games one after another."""

    def __init__(self, seed: int) -> None:
        from pettingzoo.classic import connect_four_v3  # noqa: PLC0415 - the peer

        self.env: Any = connect_four_v3.env()
        self.random = random.Random(seed)
        self.env.reset(seed=seed)

    def play(self) -> None:
        """One move."""
        observation, _, terminated, truncated, _ = self.env.last()
        if terminated or truncated:
            self.env.reset()
            observation = self.env.observe(self.env.agent_selection)
        self.env.step(self.random.choice([column for column, free in enumerate(observation["action_mask"]) if free]))


def core(seed: int) -> list[Figures]:
    """Contacts a second, and the time of a copy, against the peers on one core."""
    ours, chess, four = Contacts(seed), Chess(seed), ConnectFour(seed)
    speeds = [[_a_second(each.play) for each in (ours, chess, four)] for _ in range(ROUNDS)]
    mine, chess_moves, four_moves = (statistics.median(column) for column in zip(*speeds, strict=True))
    ratio = statistics.median(own / max(others) for own, *others in speeds)
    while ours.state.turn < MIDDLE_PLIES:
        ours.play()
    chess.board = chess.new()
    for _ in range(MIDDLE_PLIES):
        chess.play()
    copies = [(_clone_us(ours.state.clone), _clone_us(lambda: chess.board.copy(stack=False))) for _ in range(ROUNDS)]
    clone = statistics.median(own / other for own, other in copies)
    own_us, chess_us = (statistics.median(column) for column in zip(*copies, strict=True))
    return [
        Figures(
            "random contacts a second, every event made",
            f"{mine:,.0f}",
            f"python-chess moves {chess_moves:,.0f}, connect_four_v3 moves {four_moves:,.0f}",
            f"{ratio:.2f} times the faster",
            "more than both",
            ratio > 1,
        ),
        Figures(
            "copy of a game in its middle, µs",
            f"{own_us:.2f}",
            f"chess.Board.copy(stack=False): {chess_us:.2f}",
            f"{clone:.2f} times",
            "at most 3 times",
            clone <= 3,
        ),
    ]


def _a_second(play: Callable[[], None]) -> float:
    """How often a second, by CPU time."""
    count, began = 0, time.process_time()
    while (spent := time.process_time() - began) < ROUND_S:
        for _ in range(50):
            play()
        count += 50
    return count / spent


def _clone_us(clone: Callable[[], object]) -> float:
    began = time.process_time()
    for _ in range(CLONES):
        clone()
    return (time.process_time() - began) / CLONES * 1e6
