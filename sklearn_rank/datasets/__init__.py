"""Data: bundled real sets, with their origin and licence."""

from ._ionosphere import load_ionosphere

__all__ = ["load_ionosphere"]
