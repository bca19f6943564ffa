"""The emulated table: figures, hands and fingers, as picofarads on the pads of emulated chips.

This is what stands in for a board where there is none: whoever plays over it plays through the chips, the driver and
the whole of sensing. The physics is AN3889's: a pad's capacitance to ground, all other electrodes of its chip being
shorted to ground while it is measured. Pads of the other chips float meanwhile, which leaves them their own wire's
capacitance to ground; in truth those chips ground them most of the time, so this is the worse case.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Protocol

from firmware.hal.physics import USUAL, chance, series_pf
from firmware.hal.wiring import RAIL_CODES, FigureMethod, Rail
from firmware.terms import FIGURES, TOUCHES, Figure, Touch, VolcanoError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firmware.hal.physics import TablePhysics
    from firmware.hal.wiring import Wiring

PLAYERS = 2
"""Bodies: whoever acts, and another who lends a hand."""

TINY_PF = 0.02
"""Changes by less, a third of a count at most, come at once: a ramp of them costs more than it shows."""

RING_SHARE = 0.5
"""Of a hand on a field with rails, what lies over each ring; estimate."""


class PadInput(Protocol):
    """The physical side of an emulated chip."""

    def set_pf(self, electrode: int, picofarad: float, over_s: float = 0.0, *, unhurried: bool = False) -> None:
        """Move the capacitance on `electrode` to `picofarad`, evenly over `over_s` seconds.

        If `unhurried`, a movement that is under way ends no sooner than it would have.
        """


class TableError(VolcanoError, ValueError):
    """Something was asked of the table that it does not have."""


class Hands:
    """The players' side of an emulated board: bodies with as many hands as needed, and four figures.

    Whoever acts is player 0 unless a call says otherwise.

    Args:
        wiring: which pad is which electrode, and what is in the figures' feet.
        chips: the emulated chips by address.
        physics: what table and players are like; `change` makes another of a player.
        seed: of the pads' own capacitances; the same seed is the same board.
    """

    def __init__(
        self,
        wiring: Wiring,
        chips: Mapping[int, PadInput],
        physics: TablePhysics = USUAL,
        seed: int = 0,
    ) -> None:
        self._players = [physics] * PLAYERS
        self._board = physics
        self._joined = False
        self._capacitor_pf = {
            figure: marked_pf * (1 + physics.tolerance * (2 * chance("part", seed, figure) - 1))
            for figure, marked_pf in wiring.capacitor_pf.items()
        }
        self._coded = wiring.figure_method is FigureMethod.RAILS
        self._where = wiring.places
        self._pad_at = {place: pad for pad, place in self._where.items()}
        self._fields = wiring.fields
        self._badges = wiring.badges
        self._chips = chips
        spread = physics.highest_pad_pf - physics.lowest_pad_pf
        self._empty_pf = {
            # A checksum of the name is spread evenly enough, and the same on every machine.
            pad: physics.lowest_pad_pf + spread * zlib.crc32(f"{seed} {pad}".encode()) / 2**32
            for pad in self._where
        }
        self._empty_pf |= {str(rail): physics.rail_pf for chip in wiring.chips for rail in chip.rails}
        self._drifting = {pad: 0.5 + chance("drift", seed, pad) for pad in self._where}
        self._stands: dict[Figure, str | None] = dict.fromkeys(FIGURES)
        self._held: dict[Figure, int] = {}
        self._fingers: dict[str, int] = {}
        self._covered: dict[str, int] = {}
        self._target_pf: dict[str, float] = {}
        self._settle()

    # --- what players do

    def place(self, figure: Figure, field: str | None, player: int = 0) -> None:
        """Carry a figure to `field` and let it go; None puts it beside the board."""
        self._check_figure(figure)
        if field is not None:
            self._check_field(field)
        before = self._stands[figure]
        if before is not None and before != field:
            self._held[figure] = player
            self._settle(0.0, *self._pads_under(figure))
            self._held.pop(figure)
            left = self._pads_under(figure)
            self._stands[figure] = None
            self._settle(self._players[player].let_go_s, *left)
        self._stands[figure] = field
        self._held[figure] = player
        self._settle(0.0, *self._pads_under(figure))
        self._held.pop(figure)
        self._settle(self._players[player].set_down_s, *self._pads_under(figure))

    def carry(self, figure: Figure, field: str, over_s: float = 0.0, player: int = 0) -> None:
        """Bring a figure to `field` in the hand within `over_s` seconds, and keep hold of it."""
        self._check_figure(figure)
        self._check_field(field)
        left = self._pads_under(figure)
        self._stands[figure] = None
        self._settle(self._players[player].let_go_s, *left)
        self._stands[figure] = field
        self._held[figure] = player
        self._settle(over_s, *self._pads_under(figure))

    def grip(self, figure: Figure, over_s: float = 0.0, player: int = 0) -> None:
        """Take hold of a figure's head where it stands, the hand closing in `over_s` seconds."""
        self._check_figure(figure)
        self._held[figure] = player
        self._settle(over_s, *self._pads_under(figure))

    def let_go(self, figure: Figure) -> None:
        """Let go of a figure; harmless if nobody held it."""
        self._check_figure(figure)
        player = self._held.pop(figure, 0)
        self._settle(self._players[player].let_go_s, *self._pads_under(figure))

    def touch(self, touch: Touch, over_s: float = 0.0, player: int = 0) -> None:
        """Put a finger on a Touch field."""
        self._check_touch(touch)
        self._put_finger(touch, over_s, player)

    def lift(self, touch: Touch) -> None:
        """Take the finger off a Touch field; harmless if there was none."""
        self._check_touch(touch)
        self._lift_finger(touch)

    def touch_badge(self, figure: Figure, over_s: float = 0.0, player: int = 0) -> None:
        """Put a finger on a figure's colour pad."""
        self._check_badge(figure)
        self._put_finger(figure, over_s, player)

    def lift_badge(self, figure: Figure) -> None:
        """Take the finger off a figure's colour pad; harmless if there was none."""
        self._check_badge(figure)
        self._lift_finger(figure)

    def lay_hand(self, field: str, player: int = 0) -> None:
        """Lay a hand on a field."""
        self._check_field(field)
        self._covered[field] = player
        self._settle(self._players[player].let_go_s, field)

    def raise_hand(self, field: str) -> None:
        """Take that hand away; harmless if there was none."""
        self._check_field(field)
        player = self._covered.pop(field, 0)
        self._settle(self._players[player].let_go_s, field)

    def join(self, joined: bool) -> None:
        """Both players touch each other, or part."""
        self._joined = joined
        self._settle(self._board.let_go_s)

    def change(self, physics: TablePhysics, player: int = 0) -> None:
        """From now on `player` is somebody else, or has other fingers: body, skin and ground as in `physics`."""
        self._players[player] = physics
        self._settle()

    def drift(self, picofarad: float) -> None:
        """Warmth and moisture move every pad's own capacitance, each by about so much."""
        for pad, share in self._drifting.items():
            self._empty_pf[pad] += share * picofarad
        self._settle()

    # --- what lies on the table now

    def where(self, figure: Figure) -> str | None:
        """The field a figure stands on, None beside the board."""
        self._check_figure(figure)
        return self._stands[figure]

    @property
    def held(self) -> frozenset[Figure]:
        """The figures somebody holds."""
        return frozenset(self._held)

    @property
    def touched(self) -> frozenset[Touch]:
        """The Touch fields with a finger on them."""
        return frozenset(touch for touch in TOUCHES if touch in self._fingers)

    def pad_pf(self, pad: str) -> float:
        """The capacitance that a pad has now or is moving to, in picofarads."""
        if pad not in self._target_pf:
            raise TableError(f"there is no pad {pad!r}; the pads are {', '.join(sorted(self._where))}")
        return self._target_pf[pad]

    # --- physics

    def _put_finger(self, pad: str, over_s: float, player: int) -> None:
        self._fingers[str(pad)] = player
        self._settle(over_s, str(pad))

    def _lift_finger(self, pad: str) -> None:
        player = self._fingers.pop(str(pad), 0)
        self._settle(self._players[player].let_go_s, str(pad))

    def _pads_under(self, figure: Figure) -> tuple[str, ...]:
        """The field where a figure stands, and the rails that it couples to."""
        field = self._stands[figure]
        if field is None:
            return ()
        return (field, *map(str, RAIL_CODES[figure])) if self._coded else (field,)

    def _settle(self, over_s: float = 0.0, *moved: str) -> None:
        """Move every pad whose capacitance changes to its new value.

        A hand moves the pads `moved`. On the others a hand that closes or opens just now takes as long as it does.
        """
        added_pf = {pad: self._added_pf(pad) for pad in self._where}
        crosstalk = self._board.crosstalk
        for pad, (address, electrode) in self._where.items():
            picofarad = self._empty_pf[pad] + added_pf[pad]
            for beside in (electrode - 1, electrode + 1):
                if (neighbour := self._pad_at.get((address, beside))) is not None:
                    picofarad += crosstalk * added_pf[neighbour]
            change_pf = abs(picofarad - self._target_pf.get(pad, -1.0))
            if change_pf > TINY_PF / 1000:
                self._target_pf[pad] = picofarad
                unhurried = pad not in moved or change_pf <= TINY_PF
                pad_s = over_s if change_pf > TINY_PF else 0.0
                self._chips[address].set_pf(electrode, picofarad, pad_s, unhurried=unhurried)

    def _added_pf(self, measured: str) -> float:
        """What figures, fingers and hands add to a pad, in picofarads, while that one is measured."""
        added = 0.0
        if measured in self._fingers:
            player = self._fingers[measured]
            added += series_pf(self._players[player].touch_field_pf, self._body_pf(player, measured))
        if measured in self._covered:
            player = self._covered[measured]
            added += series_pf(self._players[player].palm_pf, self._body_pf(player, measured))
        rail = Rail(measured) if self._coded and measured in tuple(Rail) else None
        if rail is not None:
            for player in self._covered.values():
                added += series_pf(RING_SHARE * self._players[player].palm_pf, self._body_pf(player, measured))
        for figure, field in self._stands.items():
            if field is not None and (field == measured or (rail is not None and rail in RAIL_CODES[figure])):
                foot_pf = self._board.ring_pf if self._coded else self._capacitor_pf[figure]
                added += series_pf(foot_pf, self._head_pf(figure, field, measured))
        return added

    def _head_pf(self, figure: Figure, field: str, measured: str) -> float:
        """A figure's metal to ground, beside its way to the pad that is measured."""
        to_ground = self._board.figure_pf
        player = self._held.get(figure)
        if player is not None:
            to_ground += series_pf(self._players[player].hand_pf, self._body_pf(player, measured))
        else:
            hands = {self._held[other] for other in self._held if self._stands[other] == field}
            to_ground += sum(self._players[hand].beside_pf for hand in hands)
        if self._coded:
            for pad in (field, *map(str, RAIL_CODES[figure])):
                if pad != measured:
                    to_ground += self._to_ground_pf(self._board.ring_pf, pad, measured)
        return to_ground

    def _body_pf(self, player: int, measured: str) -> float:
        """A body to ground: through earth, and through what it touches beside the pad that is measured.

        Another body that touches pads joins earth to ground beside the supply. Bodies that touch each other are one.
        """
        earth_pf = self._board.earth_pf
        body_pf, touching_pf = self._players[player].body_pf, self._touching_pf(player, measured)
        for other in range(PLAYERS):
            if other == player:
                continue
            other_pf, other_touching_pf = self._players[other].body_pf, self._touching_pf(other, measured)
            if self._joined:
                body_pf, touching_pf = body_pf + other_pf, touching_pf + other_touching_pf
            elif other_touching_pf:
                earth_pf += series_pf(other_pf, other_touching_pf)
        return touching_pf + series_pf(body_pf, earth_pf)

    def _touching_pf(self, player: int, measured: str) -> float:
        """What a body has to ground through the pads that it touches, the measured one left out."""
        physics = self._players[player]
        to_ground = 0.0
        for pad, finger in self._fingers.items():
            if finger == player and pad != measured:
                to_ground += self._to_ground_pf(physics.touch_field_pf, pad, measured)
        for pad, hand in self._covered.items():
            if hand == player and pad != measured:
                to_ground += self._to_ground_pf(physics.palm_pf, pad, measured)
        for figure, holder in self._held.items():
            field = self._stands[figure]
            if holder == player and field is not None and field != measured and not self._coded:
                through_pf = series_pf(physics.hand_pf, self._capacitor_pf[figure])
                to_ground += self._to_ground_pf(through_pf, field, measured)
        return to_ground

    def _to_ground_pf(self, through_pf: float, pad: str, measured: str) -> float:
        """Through `through_pf` into a pad: shorted to ground on the measured pad's chip, floating on another."""
        if self._where[pad][0] == self._where[measured][0]:
            return through_pf
        return series_pf(through_pf, self._empty_pf[pad])

    # --- words for what is not there

    def _check_figure(self, figure: str) -> None:
        if figure not in FIGURES:
            raise TableError(f"there is no figure {figure!r}; the figures are {', '.join(FIGURES)}")

    def _check_field(self, field: str) -> None:
        if field not in self._fields:
            raise TableError(f"there is no field {field!r}; the fields are {', '.join(sorted(self._fields))}")

    def _check_touch(self, touch: str) -> None:
        if touch not in TOUCHES:
            raise TableError(f"there is no Touch field {touch!r}; the Touch fields are {', '.join(TOUCHES)}")

    def _check_badge(self, figure: str) -> None:
        self._check_figure(figure)
        if figure not in self._badges:
            raise TableError(f"this board has no colour pad for {figure}")
