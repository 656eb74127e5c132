"""Columns of a table file as text, with the place of each row for messages."""

from __future__ import annotations

import csv
import gzip
import os
import sys
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

from .._letor_lines import open_file
from .._optional import import_optional
from ._errors import CommandError, did_you_mean, listed

__all__ = [
    "STDIN",
    "Choose",
    "Column",
    "check_columns",
    "is_number",
    "read_columns",
    "reading",
    "without_header",
]

STDIN = "-"
PARQUET = (".parquet", ".pq")
SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}

# First bytes of files that are no text, and what they are.
FORMATS = {
    b"PK\x03\x04": "a zip file, as .xlsx files are: unpack it, or save the table as CSV",
    b"\x1f\x8b": "compressed by gzip: give its name the end .gz",
    b"BZh": "compressed by bzip2: give its name the end .bz2",
    b"\xfd7zXZ": "compressed by xz: unpack it with xz -d",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it with zstd -d",
    b"7z\xbc\xaf": "a 7z file: unpack it",
    b"PAR1": "a Parquet file: give its name the end .parquet",
    b"\xd0\xcf\x11\xe0": "a file of an old version of Office: save the table as CSV",
}
# Formats that are read, by the end of the name.
READ = {".gz": b"\x1f\x8b", ".bz2": b"BZh", **dict.fromkeys(PARQUET, b"PAR1")}

# Bytes of the longest line that a table may have, and rows from one sign of life to the next.
LONGEST_LINE, PROGRESS = 2**26, 5_000_000

# From the names of all columns, those that are read.
Choose = Callable[[list[str]], Sequence[str]]


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a file."""

    name: str
    cells: list[str]  # Its cells; an empty one is a missing value
    places: Sequence[int]  # Number of the line, or of the row, of each cell
    counts: str  # What is numbered

    def error(self, row: int, what: str) -> CommandError:
        """Say what is wrong with a cell."""
        return CommandError(f"{self.counts} {self.places[row]}: column {self.name!r} {what}")


def read_columns(path: str, delimiter: str | None, choose: Choose) -> dict[str, Column]:
    """Read columns of a CSV, TSV or Parquet file."""
    if os.path.splitext(path)[1].lower() in PARQUET:
        columns = _parquet_columns(path, choose)
    else:
        columns = _csv_columns(path, _separator(path, delimiter), choose)
    if not len(next(iter(columns.values())).cells):
        raise CommandError(f"{_title(path)}: there are no rows below the names of the columns")
    return columns


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn errors of a file into messages."""
    title = _title(path)
    try:
        if path != STDIN and os.path.isfile(path):
            with open(path, "rb") as stream:
                _refuse_format(path, stream.read(8))
        yield
    except IsADirectoryError:
        raise CommandError(f"{title} is a directory: pass a file") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise CommandError(f"{title} is damaged or not compressed by gzip: {error}") from error
    except CommandError as error:
        raise CommandError(
            f"{title}, {error}" if _begins_with_place(error) else str(error)
        ) from error
    except OSError as error:
        raise CommandError(f"{title}: {error.strerror or error}") from error


def check_columns(wanted: Sequence[str], header: Sequence[str]) -> None:
    """Check that each column is there, once."""
    counts = Counter(header)
    for name in wanted:
        if not counts[name]:
            raise CommandError(
                f"there is no column {name!r}{did_you_mean(name, header) or ';'}"
                f" the columns are {listed(header)}{without_header(header)}"
            )
        if counts[name] > 1:
            raise CommandError(f"line 1: {counts[name]} columns are called {name!r}: rename them")


def without_header(header: Sequence[str]) -> str:
    """Return a clause that says that a file has no names of columns."""
    if not all(is_number(name) for name in header):
        return ""
    return ", which are numbers: the first line must name the columns"


def is_number(text: str) -> bool:
    """Tell whether a text is a number. Whether it is; "nan" and "inf" are."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse_format(path: str, start: bytes) -> None:
    """Refuse a file whose first bytes are those of another format than its name says."""
    own = READ.get(os.path.splitext(path)[1].lower())
    for magic, what in FORMATS.items():
        if start.startswith(magic) and magic != own:
            raise CommandError(f"{_title(path)} is {what}")


def _begins_with_place(error: CommandError) -> bool:
    return str(error).startswith(("line ", "row "))


def _title(path: str) -> str:
    return "standard input" if path == STDIN else path


def _separator(path: str, delimiter: str | None) -> str:
    if delimiter is not None:
        delimiter = "\t" if delimiter in ("\\t", "tab") else delimiter
        if len(delimiter) != 1 or delimiter in '\r\n"':
            raise CommandError(f"--delimiter {delimiter!r} must be one character, or tab")
        return delimiter
    base, suffix = os.path.splitext(path.lower())
    if suffix in (".gz", ".bz2"):
        suffix = os.path.splitext(base)[1]
    return "\t" if suffix == ".tsv" else ","


def _open(path: str) -> IO[bytes]:
    return sys.stdin.buffer if path == STDIN else open_file(path)


def _csv_columns(path: str, separator: str, choose: Choose) -> dict[str, Column]:
    stream = _open(path)
    try:
        rows = _rows(path, stream, separator)
        _, header = next(rows, (0, []))
        if not header:
            raise CommandError(f"{_title(path)} is empty: the first line must name the columns")
        header = [name.strip() for name in header]
        _check_separator(header, separator)
        wanted = list(dict.fromkeys(choose(header)))
        places, cells = _cells(rows, header, [header.index(name) for name in wanted])
    finally:
        if path != STDIN:
            stream.close()
    return {
        name: Column(name, one, places, "line") for name, one in zip(wanted, cells, strict=True)
    }


def _cells(
    rows: Iterator[tuple[int, list[str]]], header: list[str], wanted: list[int]
) -> tuple[array[int], list[list[str]]]:
    """Line of each row, and the cells of the wanted columns."""
    places = array("q")
    cells: list[list[str]] = [[] for _ in wanted]
    line, name = 1, header[wanted[0]]
    try:
        for line, row in rows:
            if len(row) != len(header):
                fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
                raise CommandError(f"line {line}: {fields}, but the first line has {len(header)}")
            places.append(line)
            for column, i in zip(cells, wanted, strict=True):
                name = header[i]
                column.append(row[i].strip())
            if len(places) % PROGRESS == 0:
                sys.stderr.write(f"{len(places):,} rows read, reading on\n")
    except MemoryError:
        for column in cells:
            column.clear()
        raise CommandError(
            f"line {line}: there is no memory for column {name!r} of more rows: pass fewer rows,"
            " or accumulate batches of them (sklearn_rank.metrics.Accumulator)"
        ) from None
    return places, cells


def _rows(path: str, stream: IO[bytes], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the number of its first line."""
    reader = csv.reader(_decoded(path, stream), delimiter=separator, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise CommandError(f"line {line}: {error}; check the quotes from here on") from error


def _decoded(path: str, stream: IO[bytes]) -> Iterator[str]:
    for number, line in enumerate(iter(partial(stream.readline, LONGEST_LINE), b""), 1):
        if number == 1 and path == STDIN:
            _refuse_format(path, line)
        if len(line) == LONGEST_LINE:
            raise CommandError(
                f"line {number} has more than {LONGEST_LINE:,} bytes: pass a table with one line"
                " for each row"
            )
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise CommandError(
                f"line {number}: the text is not UTF-8 (byte {line[error.start]:#04x}): save the"
                " file as UTF-8"
            ) from error
        yield text.removeprefix("\ufeff") if number == 1 else text


def _check_separator(header: list[str], separator: str) -> None:
    """Refuse a header of one name that holds another separator."""
    if len(header) > 1:
        return
    for other, name in SEPARATORS.items():
        if other != separator and other in header[0]:
            said = "tab" if other == "\t" else f"'{other}'"
            raise CommandError(
                f"line 1: the only column is {header[0]!r}, whose names {name} seems to separate:"
                f" pass --delimiter {said}"
            )


def _parquet_columns(path: str, choose: Choose) -> dict[str, Column]:
    try:
        parquet = import_optional("pyarrow.parquet", "Reading a Parquet file")
        arrow = import_optional("pyarrow", "Reading a Parquet file")
    except ImportError as error:
        raise CommandError(str(error)) from error
    if not os.path.isfile(path):
        open(path, "rb").close()
    try:
        file = parquet.ParquetFile(path)
        header = list(file.schema_arrow.names)
        wanted = list(dict.fromkeys(choose(header)))
        table = file.read(columns=wanted)
    except arrow.ArrowException as error:
        raise CommandError(f"{path} cannot be read as Parquet: {error}") from error
    places = range(1, table.num_rows + 1)
    return {
        name: Column(name, [_text(cell) for cell in table.column(name).to_pylist()], places, "row")
        for name in wanted
    }


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)
