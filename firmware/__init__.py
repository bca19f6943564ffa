"""Firmware of the volcano: the talking game master of *Die Insel*."""

__version__ = "0.1.0"
