"""Register addresses of the MPR121 (data sheet Rev. 4, table 2), under the data sheet's own names.

The driver (`mpr121`) and the emulator (`emulator`) share only these numbers; what the bits mean each works out alone.
"""

from __future__ import annotations

from typing import Final

TOUCH_STATUS_L: Final = 0x00
TOUCH_STATUS_H: Final = 0x01
"""Bit 7 OVCF (a 1 written clears it), bit 4 ELEPROX, bits 3-0 ELE11-8."""
OUT_OF_RANGE_L: Final = 0x02
OUT_OF_RANGE_H: Final = 0x03
"""Bit 7 ACFF, bit 6 ARFF, bit 4 ELEPROX, bits 3-0 ELE11-8."""
FILTERED_DATA: Final = 0x04
"""13 pairs of LSB, MSB: ELE0-11, ELEPROX; 10 bits each."""
BASELINE: Final = 0x1E
"""13 bytes: the upper 8 of 10 bits."""
SNAPSHOT_SIZE: Final = 0x2B
"""0x00-0x2A in one read are guaranteed to be of one moment (5.3)."""
MHDR: Final = 0x2B
"""MHD, NHD, NCL, FDL rising, the same falling (0x2F), then NHD, NCL, FDL touched (0x33)."""
NHDT: Final = 0x33
MHD_PROX: Final = 0x36
"""The same eleven for ELEPROX, to 0x40."""
TOUCH_THRESHOLD: Final = 0x41
"""13 pairs of touch and release threshold, to 0x5A."""
DEBOUNCE: Final = 0x5B
"""Bits 6-4 DR (release), bits 2-0 DT (touch)."""
AFE1: Final = 0x5C
"""Bits 7-6 FFI, bits 5-0 CDC."""
AFE2: Final = 0x5D
"""Bits 7-5 CDT, bits 4-3 SFI, bits 2-0 ESI."""
ECR: Final = 0x5E
"""Electrode configuration: bits 7-6 CL, bits 5-4 ELEPROX_EN, bits 3-0 ELE_EN."""
CDC: Final = 0x5F
"""13 bytes: charge current of each channel in microamperes, 0: as 0x5C."""
CDT: Final = 0x6C
"""7 bytes: charge time of each channel, low nibble the even one, 0: as 0x5D."""
GPIO_CTL0: Final = 0x73
GPIO_CTL1: Final = 0x74
GPIO_DAT: Final = 0x75
GPIO_DIR: Final = 0x76
GPIO_EN: Final = 0x77
GPIO_SET: Final = 0x78
GPIO_CLR: Final = 0x79
GPIO_TOG: Final = 0x7A
AUTO_CONFIG0: Final = 0x7B
"""Bits 7-6 FFI (as 0x5C), bits 5-4 RETRY, bits 3-2 BVA (as CL), bit 1 ARE, bit 0 ACE."""
AUTO_CONFIG1: Final = 0x7C
"""Bit 7 SCTS, bit 2 OORIE, bit 1 ARFIE, bit 0 ACFIE."""
USL: Final = 0x7D
LSL: Final = 0x7E
TL: Final = 0x7F
SOFT_RESET: Final = 0x80
PWM: Final = 0x81
"""4 bytes, to 0x84."""

SOFT_RESET_KEY: Final = 0x63
OVCF: Final = 0x80

ELECTRODES: Final = 12
"""ELE0-11."""
CHANNELS: Final = 13
"""ELE0-11 and ELEPROX."""
PROX: Final = 12
"""Index of ELEPROX among the channels."""
