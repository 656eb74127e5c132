"""What the program writes: results as text, CSV and JSON, and the error that ends it.

This module imports nothing heavy, so that the help comes fast.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from io import StringIO
from textwrap import fill
from typing import Any

DOCS = "https://sklearn-rank.readthedocs.io"

# Options that say which rows have labels.
DESIGNS = ("review_top", "strata", "inclusion_probability", "pool", "random_labels", "entered")

# Columns of a terminal.
WIDTH = 80

# Names that a message lists at most.
SHOWN = 20


class CommandError(Exception):
    """The input or an option is not valid; the message says what, where, and what to do.

    Where it has several readings, ``choice`` is an option that takes one of them.
    """

    def __init__(self, message: str, choice: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.choice = choice or {}


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def flags(options: dict[str, Any]) -> list[str]:
    """Write options with their values, as many times as they have some."""
    return [
        flag(name) if x is True else f"{flag(name)}={x}"
        for name, value in options.items()
        for x in (value if isinstance(value, list) else [value])
        if x is not None and x is not False
    ]


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """Return a clause that suggests the nearest of some names."""
    lower = {known.lower(): known for known in reversed(names)}
    close = get_close_matches(name.lower(), list(lower), n=1)
    return f"; did you mean {lower[close[0]]!r}?" if close else ""


def listed(names: Sequence[str]) -> str:
    """Write names one after the other, not more than fit into a message."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(repr(name) for name in names[:SHOWN]) + more


def sentences(lines: Sequence[str]) -> str:
    """Write notes below a table."""
    style: Any = {"break_long_words": False, "break_on_hyphens": False}
    wrapped = [fill(line, WIDTH, subsequent_indent="  ", **style) for line in lines]
    return "".join(f"{line}\n" for line in ("", *wrapped)) if lines else ""


def as_csv(rows: Sequence[dict[str, Any]]) -> str:
    text = StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_json(result: dict[str, Any]) -> str:
    """Write a result as JSON. The text; null where there is no value."""
    return json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write(text: str, path: str | None) -> None:
    """Write all of the output, or raise an error that says why not."""
    try:
        if path in (None, "-"):
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            with open(str(path), "w", encoding="utf-8", newline="") as stream:
                stream.write(text)
    except BrokenPipeError:
        raise
    except (OSError, ValueError, AttributeError) as error:  # closed, or None without a console
        where = "standard output" if path in (None, "-") else f"--output {path}"
        raise CommandError(f"{where}: {getattr(error, 'strerror', None) or error}") from error
