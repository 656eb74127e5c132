"""Columns of a CSV, TSV or Parquet file, or of CSV from standard input, as pyarrow reads them."""

from __future__ import annotations

import csv
import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property
from io import StringIO
from typing import Any

import numpy as np

from .._optional import import_optional
from .._typing import FloatArray
from .._validation import MARKS, Coded, reads_as
from ._output import CommandError, listed

STDIN = "-"
SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


class Column:
    """Cells as text; those that are empty or hold a mark of missing cells are null."""

    def __init__(self, title: str, name: str, cells: Any, missing: Sequence[str]) -> None:
        self.title, self.name = title, name
        arrow, self._compute = _arrow(), _arrow("compute")
        if arrow.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        text = self._compute.utf8_trim_whitespace(cells.cast(arrow.string()))
        marks = arrow.array([*MARKS, *(mark.lower() for mark in missing)])
        lacking = self._compute.is_in(self._compute.utf8_lower(text), value_set=marks)
        self.texts = self._compute.if_else(lacking, arrow.scalar(None, text.type), text)

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def codes(self) -> Coded:
        """The texts in their order; the code of a missing cell is -1."""
        both = self.texts.combine_chunks().dictionary_encode()
        codes = both.indices.fill_null(-1).to_numpy()
        distinct = np.array([*both.dictionary.to_pylist(), None], dtype=object)[:-1]
        order = np.argsort(distinct)
        place = np.empty(len(order) + 1, dtype=np.intp)
        place[order], place[-1] = np.arange(len(order)), -1
        return Coded(place[codes], distinct[order])

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of rows of each text."""
        codes = self.codes
        counts = np.bincount(codes.codes[codes.codes >= 0], minlength=len(codes.distinct))
        return dict(zip(codes.distinct.tolist(), counts.tolist(), strict=True))

    @cached_property
    def values(self) -> dict[str, float]:
        """Numbers among the texts."""
        return {text: float(text) for text in self.counts if reads_as(float, text)}

    @cached_property
    def n_distinct(self) -> int:
        """Number of distinct texts, without those of missing cells."""
        return int(self._compute.count_distinct(self.texts).as_py())

    @cached_property
    def floats(self) -> FloatArray | None:
        """Numbers of all rows, NaN where a cell is missing; None where a text is no number."""
        try:
            return np.asarray(self.texts.cast(_arrow().float64()).to_numpy(), dtype=np.float64)
        except ValueError:
            return None

    @property
    def n_missing(self) -> int:
        return int(self.texts.null_count)

    def ids(self) -> Coded:
        self._refuse_missing()
        return self.codes

    def numbers(self, *, optional: bool = False) -> FloatArray:
        """Numbers, which may be infinite; NaN where a cell is missing and may be."""
        if not optional:
            self._refuse_missing()
        values = self.floats
        if values is not None and not (np.abs(values[np.isfinite(values)]) >= 2**53).any():
            return values
        texts = self.texts.to_pylist()
        for row, text in enumerate(texts):
            if text is not None and not reads_as(float, text):
                hint = ""
                if reads_as(float, text.replace(",", ".")):
                    hint = ": write decimals with a point"
                elif reads_as(float, text.replace(",", "").replace("'", "").replace(" ", "")):
                    hint = ": write numbers without separators of thousands"
                raise self.error(row, f"is {text!r}, not a number{hint}")
            if text is not None and text.lstrip("+-").isdigit() and abs(int(text)) >= 2**53:
                raise self.error(
                    row,
                    f"is {text}, beyond 2**53, where float64 does not distinguish neighbouring"
                    " integers: subtract a constant",
                )
        return np.array([np.nan if text is None else float(text) for text in texts])

    def _refuse_missing(self) -> None:
        if self.n_missing:
            row = self.texts.is_null().index(True).as_py()
            raise self.error(row, "is missing: remove the row or fill it in")

    def error(self, row: int, what: str) -> CommandError:
        return CommandError(f"{self.title}, row {row + 1}: column {self.name!r} {what}")


def _arrow(part: str = "") -> Any:
    return import_optional(f"pyarrow.{part}".rstrip("."), "Reading a table")


def title_of(path: str) -> str:
    return "standard input" if path == STDIN else path


def is_parquet(path: str) -> bool:
    return path.lower().endswith((".parquet", ".pq"))


def attempt(read: Callable[..., Any], path: str, *given: Any, **options: Any) -> Any:
    """Call a reader of a file; its errors become messages that name the file."""
    title = title_of(path)
    try:
        return read(path, *given, **options)
    except IsADirectoryError:
        raise CommandError(f"{title} is a directory: pass a file") from None
    except (ImportError, NotImplementedError, OSError, ValueError, MemoryError) as error:
        text = getattr(error, "strerror", None) or str(error) or type(error).__name__
        text = text.partition("\n")[0].rstrip(".")
        raise CommandError(text if title in text else f"{title}: {text}") from error


def read_columns(
    path: str,
    delimiter: str | None,
    missing: Sequence[str],
    choose: Callable[[list[str]], Sequence[str]],
) -> dict[str, Column]:
    """Read those columns that ``choose`` takes from the names of all."""
    read = _parquet if is_parquet(path) else _csv
    title, table = title_of(path), attempt(read, path, delimiter, choose)
    if not table.num_rows:
        raise CommandError(f"{title}: there are no rows below the names of the columns")
    pairs = zip(table.column_names, table.columns, strict=True)
    return {name: Column(title, name, cells, missing) for name, cells in pairs}


def _parquet(path: str, delimiter: str | None, choose: Any) -> Any:
    open(path, "rb").close()
    with _arrow("parquet").ParquetFile(path) as file:
        return file.read(columns=list(dict.fromkeys(choose(list(file.schema_arrow.names)))))


def text_of(path: str) -> bytes:
    """Read a text, decompressed if its name ends in .gz, .bz2, .lz4 or .zst."""
    if path == STDIN:
        data = sys.stdin.buffer.read()
    else:
        open(path, "rb").close()  # Python's errors are the clearer ones
        with _arrow().input_stream(path, compression="detect") as stream:
            data = stream.read()
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    if not data:
        raise CommandError(f"{title_of(path)} is empty: the first line must name the columns")
    if b"\0" in data[:1000] or data.startswith((b"PK\3\4", b"PAR1", b"\x1f\x8b", b"BZh")):
        raise CommandError(
            f"{title_of(path)} is not text in UTF-8: save a table of Excel as CSV UTF-8, and end"
            " the name of another file by its format, such as .parquet, .csv.gz or .csv.zst"
        )
    return data


def usual_delimiter(path: str) -> str:
    stem, end = os.path.splitext(path.lower())
    return "\t" if ".tsv" in (end, os.path.splitext(stem)[1]) else ","


def _csv(path: str, delimiter: str | None, choose: Any) -> Any:
    delimiter = {"tab": "\t", "\\t": "\t", None: usual_delimiter(path)}.get(delimiter, delimiter)
    if delimiter is None or len(delimiter) != 1 or delimiter in '\r\n"':
        raise CommandError(f"--delimiter {delimiter!r} must be one character, or tab")
    data = text_of(path)
    lines = csv.reader(StringIO(data[: 2**20].decode(errors="replace"), None), delimiter=delimiter)
    header = [name.strip() for name in next(lines)]
    if header[0].lower().startswith("sep="):
        raise CommandError(
            f"{title_of(path)}: the first line is {header[0]!r}, as Excel reads it: remove it, and"
            " pass --delimiter"
        )
    for other, name in SEPARATORS.items() if len(header) == 1 else ():
        if other != delimiter and other in header[0]:
            char = "tab" if other == "\t" else f"'{other}'"
            raise CommandError(
                f"{title_of(path)}: the only column is {header[0]!r}, whose names {name} seems to"
                f" separate: pass --delimiter {char}"
            )
    names = list(dict.fromkeys(choose(header)))
    if data.count(b'"') % 2:  # pyarrow takes all to the end of the file for one cell
        _refuse_open_quote(path, data, delimiter)
    arrow, reader = _arrow(), _arrow("csv")
    return reader.read_csv(
        arrow.BufferReader(data),
        # Rows have numbers in messages where one thread reads them.
        read_options=reader.ReadOptions(
            column_names=header, skip_rows=lines.line_num, block_size=2**26, use_threads=False
        ),
        parse_options=reader.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=reader.ConvertOptions(
            column_types=dict.fromkeys(names, arrow.string()), include_columns=names
        ),
    )


def _refuse_open_quote(path: str, data: bytes, delimiter: str) -> None:
    rows = csv.reader(StringIO(data.decode(errors="replace")), delimiter=delimiter, strict=True)
    try:
        deque(rows, maxlen=0)
    except csv.Error as error:
        raise CommandError(
            f"{title_of(path)}, line {rows.line_num}: {error}: close each quote"
        ) from error


def without_header(header: Sequence[str]) -> str:
    """Return a clause that says that a file has no names of columns."""
    if not all(reads_as(float, name) for name in header):
        return ""
    return ", which are numbers: the first line must name the columns"


def names_of(header: Sequence[str]) -> str:
    return f"{listed(header)}{without_header(header)}"
