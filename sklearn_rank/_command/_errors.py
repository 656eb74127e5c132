"""The error that ends a command: its message goes to standard error, and the exit code is 2."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

# Names that a message lists at most.
SHOWN = 20


class CommandError(Exception):
    """The input or an option is not valid; the message says what, where, and what to do."""


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """Return a clause that suggests the nearest of some names."""
    lower = {one.lower(): one for one in reversed(names)}
    close = get_close_matches(name.lower(), list(lower), n=1)
    return f"; did you mean {lower[close[0]]!r}?" if close else ""


def listed(names: Sequence[str]) -> str:
    """Write names one after the other, not more than fit into a message."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(repr(name) for name in names[:SHOWN]) + more
