"""The touch board: pads in, grips out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.hal.coded import feet_pf, figure_reader
from firmware.hal.contact import NOTHING, Contacts
from firmware.hal.figures import least_grip_pf
from firmware.hal.pads import Pads
from firmware.hal.raised import RAISED_PF, STANDING, STANDING_ON_RINGS
from firmware.hal.wiring import FigureMethod

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.hal.bus import Bus
    from firmware.hal.calibration import Calibration
    from firmware.hal.ports import FigureReader, GripReading
    from firmware.hal.wiring import Wiring
    from firmware.terms import Fault, Grip, Likelihood


class _Noting:
    """A figure reader that remembers what it was asked."""

    def __init__(self, reader: FigureReader) -> None:
        self._reader = reader
        self.reading: GripReading | None = None

    def likelihood(self, reading: GripReading) -> Likelihood:
        self.reading = reading
        return self._reader.likelihood(reading)


class Mpr121Board:
    """The touch board: pads in, grips out (port `TouchBoard`).

    Args:
        wiring: which pad is where, as the wiring file says.
        bus: the I2C bus that the chips are on.
        reopen_bus: called when a chip is lost.
        calibration: of this board.

    Raises:
        CalibrationError: the calibration was made for other wires.
    """

    def __init__(
        self,
        wiring: Wiring,
        bus: Bus,
        reopen_bus: Callable[[], None] = lambda: None,
        calibration: Calibration | None = None,
    ) -> None:
        self._file_wiring = wiring
        self._bus = bus
        self._reopen_bus = reopen_bus
        self._closed = False
        self.adopt(calibration)

    def adopt(self, calibration: Calibration | None) -> None:
        """Start all chips anew with another calibration, or with none; the contact under way is forgotten.

        Raises:
            CalibrationError: it was made for other wires; nothing has changed.
        """
        self.wiring = self._file_wiring if calibration is None else calibration.wired(self._file_wiring)
        """Where the pads are, by the calibration's map."""
        self.pads = Pads(self.wiring, self._bus, self._reopen_bus, calibration)
        self._noting = _Noting(figure_reader(self.wiring, calibration))
        made_here = self.wiring.figure_method in {FigureMethod.CAPACITOR, FigureMethod.COLOUR_PADS}
        least_pf = least_grip_pf(feet_pf(self.wiring, calibration)) if made_here else RAISED_PF
        standing = STANDING_ON_RINGS if self.wiring.rail_chip else STANDING
        self._contacts = Contacts(self._noting, standing, least_pf)

    @property
    def reading(self) -> GripReading | None:
        """What was measured for the last grip."""
        return self._noting.reading

    def poll(self, now: float) -> Grip | None:
        """Called 50 times a second; a `Grip` once per contact. `now` in seconds, monotonic."""
        if self._closed:
            return None
        contacts = self._contacts
        reading = self.pads.poll(now, closely=not contacts.answered, falling=contacts.falling)
        if reading is NOTHING and contacts.idle:
            return None
        grip = contacts.update(reading, now)
        if grip is not None:
            self.pads.badges.use()
        for pad in contacts.at_rest(now):
            self.pads.rebase(pad, now)
        for pad in self.pads.take_rebased():
            contacts.forget(pad, now)
        return grip

    def faults(self) -> list[Fault]:
        """Chips and pads that do not work now, empty if all is well."""
        return self.pads.faults()

    def close(self) -> None:
        """Polls no more; harmless when called again."""
        self._closed = True
