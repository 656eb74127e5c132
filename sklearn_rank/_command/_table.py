"""Columns of a CSV, TSV or Parquet file, or of CSV from standard input, as pyarrow reads them."""

from __future__ import annotations

import csv
import re
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from io import StringIO
from typing import Any

import numpy as np

from .._optional import import_optional
from .._times import hold_times
from .._typing import FloatArray
from .._validation import (
    COMMAS,
    MARKS,
    MAX_EXACT_INT,
    Coded,
    as_array,
    check_numbers,
    has_commas,
    reads_as,
)
from ._output import CommandError, listed

STDIN, FRAME = "-", "frame"


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
        """The texts by appearance; the code of a missing cell is -1."""
        both = self.texts.combine_chunks().dictionary_encode()
        codes = both.indices.fill_null(-1).to_numpy().astype(np.intp)
        return Coded(codes, as_array(both.dictionary.to_pylist()))

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of rows of each text, in the order of the codes."""
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
        """Ids of all rows: whole numbers where all are written as such, else texts."""
        self.refuse_missing()
        codes, distinct = self.codes.codes, self.codes.distinct
        if all(re.fullmatch("0|-?[1-9][0-9]{,14}", text) for text in distinct):
            return Coded(codes, distinct.astype(np.int64))
        return self.codes

    def numbers(self) -> FloatArray:
        """Numbers of all rows, which may be infinite."""
        self.refuse_missing()
        if self.floats is not None and (np.abs(self.floats) < MAX_EXACT_INT).all():
            return self.floats
        texts = self.texts.to_pylist()
        for row, text in enumerate(texts):
            if not reads_as(float, text):
                mend = f": {COMMAS}" * has_commas(text)
                raise self.error(f"is {text!r}, not a number{mend}", row)
        exact = [int(text) if reads_as(int, text) else float(text) for text in texts]
        try:
            return check_numbers(f"column {self.name!r}", exact)
        except ValueError as error:
            raise CommandError(f"{self.title}: {error}".rstrip(".")) from error

    @cached_property
    def are_times(self) -> bool:
        """Whether all texts are dates or timestamps."""
        with suppress(ValueError):
            return hold_times(self.codes)
        return True  # written in another way

    def times(self) -> Any:
        """Numbers of all rows, or texts of times; NaN or None where a cell is missing."""
        return self.texts.to_pylist() if self.floats is None else self.floats

    def refuse_missing(self, what: str = ": remove the row or fill it in") -> None:
        if self.n_missing:
            raise self.error(f"is missing{what}", self.texts.is_null().index(True).as_py())

    def error(self, what: str, row: int | None = None) -> CommandError:
        # Rows of frames count from 0, as everywhere in Python.
        where = "" if row is None else f", row {row + (self.title != FRAME)}"
        return CommandError(f"{self.title}{where}: column {self.name!r} {what}")


def _arrow(part: str = "") -> Any:
    return import_optional(f"pyarrow.{part}".rstrip("."), "Reading a table")


def title_of(path: str) -> str:
    return "standard input" if path == STDIN else path


def attempt(read: Callable[..., Any], path: str, *given: Any, **options: Any) -> Any:
    """Call a reader of a file; its errors become messages that name the file."""
    title = title_of(path)
    try:
        return read(path, *given, **options)
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
    read = _parquet if path.lower().endswith((".parquet", ".pq")) else _csv
    title, table = title_of(path), attempt(read, path, delimiter, choose)
    if not table.num_rows:
        raise CommandError(f"{title}: there are no rows below the names of the columns")
    pairs = zip(table.column_names, table.columns, strict=True)
    return {name: Column(title, name, cells, missing) for name, cells in pairs}


def _parquet(path: str, delimiter: str | None, choose: Any) -> Any:
    open(path, "rb").close()
    with _arrow("parquet").ParquetFile(path) as file:
        return file.read(columns=list(dict.fromkeys(choose(list(file.schema_arrow.names)))))


def _text_of(path: str) -> bytes:
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


def _csv(path: str, delimiter: str | None, choose: Any) -> Any:
    usual = "\t" if re.search(r"\.tsv(\.\w+)?$", path.lower()) else ","
    delimiter = {"tab": "\t", "\\t": "\t", None: usual}.get(delimiter, delimiter)
    if delimiter is None or len(delimiter) != 1 or delimiter in '\r\n"':
        raise CommandError(f"--delimiter {delimiter!r} must be one character, or tab")
    title, data = title_of(path), _text_of(path)
    lines = csv.reader(StringIO(data[: 2**20].decode(errors="replace"), None), delimiter=delimiter)
    header = [name.strip() for name in next(lines)]
    if len(header) == 1 or "Q0" in header or all(reads_as(float, name) for name in header):
        raise CommandError(
            f"{title}: the first line must name the columns, but is {listed(header)}: pass what"
            " separates them by --delimiter, as ';' or tab; files of TREC go with --qrels"
            " QRELS"
        )
    names = list(dict.fromkeys(choose(header)))
    if data.count(b'"') % 2:  # pyarrow takes all to the end of the file for one cell
        text = StringIO(data.decode(errors="replace"))
        rows = csv.reader(text, delimiter=delimiter, strict=True)
        try:
            deque(rows, maxlen=0)
        except csv.Error as error:
            where = f"{title}, line {rows.line_num}"
            raise CommandError(f"{where}: {error}: close each quote") from error
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
