"""The pins of a Pi in memory, and the emulated MCP3008 at their SPI, under the drivers that the real board uses.

Source of the MCP3008: MCP3004/3008 data sheet (DS21295), 5.0 and 6.1. VREF is at 3V3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpiozero.pins.mock import MockFactory, MockPin

from firmware.hal.wiring import ADC_REFERENCE_V

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from firmware.hal.wiring import BatteryAdc

STEPS = 1024
CHANNELS = 8
RESULT_BITS = 10


class EmulatedMcp3008:
    """Eight voltages, told bit by bit as the chip is clocked."""

    bits_per_word = 8

    def __init__(self) -> None:
        self.volts = [0.0] * CHANNELS
        """What lies at each channel, in volts."""

    def supply(self, wired: BatteryAdc, *, low: bool) -> None:
        """Full or nearly empty batteries behind the divider."""
        self.volts[wired.channel] = wired.low_v * (0.9 if low else 1.2) / wired.divider

    def transfer(self, words: Sequence[int]) -> list[int]:
        """One select: what comes out while these bytes go in, as long as they are."""
        bits = iter([bool(word >> place & 1) for word in words for place in range(7, -1, -1)])
        answer = list(self._answer(bits))
        return [
            sum(bit << 7 - place for place, bit in enumerate(answer[at : at + 8])) for at in range(0, 8 * len(words), 8)
        ]

    def _answer(self, bits: Iterator[bool]) -> Iterator[bool]:
        """Start bit, single-ended or not, three bits of channel; a clock to sample, a zero, the result, then zeros."""
        for start in bits:
            yield False
            if start:
                break
        command = []
        for bit in bits:
            yield False
            command.append(bit)
            if len(command) == 4:
                break
        else:
            return
        single, high, middle, low = command
        channel = high << 2 | middle << 1 | low
        volts = self.volts[channel] - (0.0 if single else self.volts[channel ^ 1])
        result = min(max(int(volts * STEPS / ADC_REFERENCE_V), 0), STEPS - 1)
        told = [False, False, *(bool(result >> place & 1) for place in range(RESULT_BITS - 1, -1, -1))]
        for number, _ in enumerate(bits):
            yield number < len(told) and told[number]

    def close(self) -> None:
        """The SPI is given back; nothing to do."""


class PinsInMemory(MockFactory):  # type: ignore[misc]  # gpiozero has no types
    """A pin factory whose pins can be driven and read, with an MCP3008 at every SPI."""

    def __init__(self) -> None:
        super().__init__(pin_class=MockPin)
        self.adc = EmulatedMcp3008()

    def _get_spi_class(self, shared: bool, hardware: bool) -> Callable[..., EmulatedMcp3008]:  # noqa: ARG002  # gpiozero's
        return lambda **_: self.adc
