"""Results as text, CSV and JSON, on standard output or in a file."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from io import StringIO
from math import isfinite
from textwrap import fill
from typing import Any

from ._errors import CommandError

# Columns of a terminal.
WIDTH = 80


def aligned(rows: Sequence[Sequence[str]], left: Iterable[int] = (0,)) -> str:
    """Set rows of cells in columns."""
    words = set(left)
    kept = [i for i in range(len(rows[0])) if any(row[i] for row in rows[1:])]
    widths = {i: max(len(row[i]) for row in rows) for i in kept}
    lines = (
        "  ".join(
            row[i].ljust(widths[i]) if i in words else row[i].rjust(widths[i]) for i in kept
        ).rstrip()
        for row in rows
    )
    return "".join(line + "\n" for line in lines)


def sentences(lines: Sequence[str]) -> str:
    """Write notes below a table."""
    if not lines:
        return ""
    wrapped = (
        fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for line in lines
    )
    return "\n" + "".join(line + "\n" for line in wrapped)


def as_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Write rows as CSV."""
    text = StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _finite(value) for name, value in row.items()})
    return text.getvalue()


def as_json(result: dict[str, Any]) -> str:
    """Write a result as JSON. The text; null where there is no value."""
    return json.dumps(_finite(result), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write(text: str, path: str | None) -> None:
    """Write results."""
    if path in (None, "-"):
        sys.stdout.write(text)
        return
    try:
        with open(str(path), "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
    except OSError as error:
        raise CommandError(f"--output {path}: {error.strerror or error}") from error


def _finite(value: Any) -> Any:
    """The value in which numbers that are not finite are missing ones."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
