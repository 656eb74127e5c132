"""Fields of a file of rows: separators, header and missing values, each field with its line."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._label_orders import ABOVE
from .._letor_lines import LineError, open_file
from .._typing import AnyArray, FloatArray

__all__ = ["Fields", "is_missing", "numbers_of", "read_fields", "words_of"]

SEPARATORS = (",", ";", "\t", "|")
MISSING = frozenset(("", "?", "na", "nan", "null", "none"))


@dataclass(eq=False)
class Fields:
    """Fields of a file, as text."""

    name: str
    names: list[str] | None  # Names of the columns; None without a header
    rows: list[list[str]]  # The fields of each row, as many in each
    lines: list[int]  # Line of each row
    n_labels: int | None = None

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.rows[0])

    def column(self, at: int) -> list[str]:
        """Fields of a column."""
        return [row[at] for row in self.rows]

    def named(self, at: int) -> str:
        """What a column is called in messages."""
        return f"column {at + 1}" if self.names is None else repr(self.names[at])

    def error(self, row: int, told: str) -> LineError:
        """Make the error of a row."""
        return LineError(f"{self.name}, line {self.lines[row]}: {told}.")


def read_fields(path: Any, header: Any, sep: str | None) -> Fields:
    """Read a file."""
    name, text = _text(path)
    rows, lines = _split(name, text, sep)
    if not rows:
        raise ValueError(f"{name} has no rows: check that it is the right file.")
    n_labels = None
    if header is not True and (n_labels := _counted(rows)) is not None:
        rows, lines = rows[1:], lines[1:]
    names, first = None, lines[0]
    if header is True or (header == "auto" and n_labels is None and _are_names(rows[0])):
        names = rows[0]
        for at, one in enumerate(names):
            if one in names[:at]:
                raise LineError(
                    f"{name}, line {lines[0]}: two columns are called {one!r}; rename one."
                )
        rows, lines = rows[1:], lines[1:]
        if not rows:
            raise ValueError(f"{name} has a header and no rows: check that it is the right file.")
    width = len(rows[0] if names is None else names)
    for row, line in zip(rows, lines, strict=True):
        if len(row) != width:
            raise LineError(
                f"{name}, line {line}: {len(row)} fields, but line {first} has {width}; correct"
                " it, or pass sep= if the separator was not found."
            )
    return Fields(name=name, names=names, rows=rows, lines=lines, n_labels=n_labels)


def _text(path: Any) -> tuple[str, str]:
    is_stream = hasattr(path, "read")
    name = str(getattr(path, "name", "stream") if is_stream else path)
    stream = path if is_stream else open_file(path)
    try:
        content = stream.read()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(
            f"{name} cannot be decompressed ({error}): it is cut off or damaged; fetch it again."
        ) from error
    finally:
        if not is_stream:
            stream.close()
    if isinstance(content, str):
        raise TypeError(f"{name} gives text instead of bytes: open it in binary mode, 'rb'.")
    try:
        return name, content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise LineError(f"{name}, line {line}: not UTF-8 text; convert the file.") from error


def _split(name: str, text: str, sep: str | None) -> tuple[list[list[str]], list[int]]:
    rows: list[list[str]] = []
    lines: list[int] = []
    first = next((line for line in text.splitlines() if line.strip()), "")
    if first.lstrip().startswith(("@", "%")):
        raise ValueError(
            f"{name} is an ARFF file: pass the lines after @data as a file of their own."
        )
    if sep is None:
        counts = [first.count(one) for one in SEPARATORS]
        sep = SEPARATORS[int(np.argmax(counts))] if any(counts) else " "
    if sep.isspace() and sep != "\t":
        split = [line.split() for line in text.splitlines()]
        numbered = [(line, row) for line, row in enumerate(split, start=1) if row]
        return [row for _, row in numbered], [line for line, _ in numbered]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep, skipinitialspace=True)
    before = 0
    try:
        for row in reader:
            fields = [field.strip() for field in row]
            if any(fields):
                rows.append(fields)
                lines.append(before + 1)
            before = reader.line_num
    except csv.Error as error:
        raise LineError(f"{name}, line {reader.line_num}: {error}; correct it.") from error
    return rows, lines


def _counted(rows: list[list[str]]) -> int | None:
    """Number of labels if the first line has the numbers of rows, features and labels only."""
    if len(rows) < 2 or len(rows[0]) != 3 or not all(field.isdigit() for field in rows[0]):
        return None
    _, n_features, n_labels = map(int, rows[0])
    return n_labels if len(rows[1]) == n_features + n_labels != 3 else None


def _are_names(first: list[str]) -> bool:
    """Whether a line has no number and no order."""
    return all(ABOVE not in field and _number(field) is None for field in first)


def _number(field: str) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None


def is_missing(field: str, markers: AnyArray | None = None) -> bool:
    """Whether a field says that there is no value."""
    if field.lower() in MISSING:
        return True
    if markers is None:
        return False
    number = _number(field)
    return any(
        one == field or (number is not None and _number(str(one)) == number)
        for one in markers.tolist()
    )


def numbers_of(fields: Fields, at: int, markers: AnyArray | None = None) -> FloatArray | int:
    """Read a column as numbers, NaN where missing; the first row that has none, if one has none.

    The numbers, or the row of the first field that is none. Shape (n_rows,).
    """
    values = np.full(len(fields.rows), np.nan)
    for row, field in enumerate(fields.column(at)):
        if not is_missing(field, markers):
            number = _number(field)
            if number is None:
                return row
            values[row] = number
    return values


def words_of(fields: Fields, at: int) -> list[str | None]:
    """Read a column of words, None where missing."""
    words = [None if is_missing(field) else field for field in fields.column(at)]
    is_word = [one is not None and _number(one) is None for one in words]
    numbers = [row for row, one in enumerate(words) if one is not None and not is_word[row]]
    if numbers:
        row = is_word.index(True)
        raise fields.error(
            row,
            f"the feature {fields.named(at)} is {words[row]!r}, and a number in line"
            f" {fields.lines[numbers[0]]}; correct it, or make all of its values words",
        )
    return words
