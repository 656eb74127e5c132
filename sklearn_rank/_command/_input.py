"""Rankings and labels from tables, runs and judgments, checked."""

from __future__ import annotations

import csv
import os
import shlex
import sys
import warnings
from argparse import Namespace
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from re import fullmatch, search
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._optional import import_optional
from .._typing import AnyArray, FloatArray
from .._validation import KNOWN_IN_PART, reads_as
from ..datasets import join_qrels, load_qrels, load_trec_run
from ..datasets._shared import DAMAGED, open_file
from ..inference import LabelDesign
from ..metrics import Measure, get_measure, get_measure_names, make_measure
from ._output import LABELS, CommandError, did_you_mean, listed


class MeasureInput(NamedTuple):
    """What ``metric_interval`` and ``compare`` take, and counts of queries."""

    measure: Measure
    y_true: Any
    scores: dict[str, Any]
    qid: Any = None
    groups: Any = None  # Ids of groups that depend on each other
    n_queries: int | None = None  # Those without a value included; None is one list
    n_undefined: int = 0  # Number of queries where the measure is undefined
    design: Any = None  # How labels that are known in part came about

    def value(self, name: str) -> float:
        """Evaluate the measure, without an interval. The value; NaN where it is undefined."""
        if not len(self.y_true):
            return float("nan")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            return float(self.measure(self.y_true, self.scores[name], qid=self.qid))


def _value(y_true: AnyArray, y_score: FloatArray) -> float:
    """The value of a query stands in the place of the score of its only row."""
    return float(y_score[0])


def _values_of_queries(
    measure: Measure, y_true: Any, y_score: Any, qid: Any, ideal: Any = None
) -> tuple[AnyArray, FloatArray, int, int]:
    """Ids and values of the queries that have one; numbers of all queries, of undefined ones."""
    lists = measure.lists(y_true, y_score, qid=qid, ideal=ideal)
    undefined = np.isnan(measure.values(lists))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        values, ids = measure.of_lists(lists, average=None, return_qid=True)
    defined = ~np.isnan(values)
    return ids[defined], values[defined], len(ids), int(undefined.sum())


def our_name(name: str) -> str:
    """Return the name of a measure that trec_eval calls otherwise; other names as they are."""
    whole = {"map": "ap", "recip_rank": "rr", "mrr": "rr", "rprec": "r_precision"}
    at_k = {"p": "precision", "map_cut": "ap", "ndcg_cut": "ndcg"}
    parts = fullmatch(r"(p|map_cut|ndcg_cut|recall|success)[_.@]?(\d+)", name.lower())
    if parts:
        return f"{at_k.get(parts[1], parts[1])}@{parts[2]}"
    return whole.get(name.lower(), name)


def read_measure(name: str, convention: str | None) -> Measure:
    try:
        measure = get_measure(name)
    except (TypeError, ValueError) as error:
        # The library knows other spellings too, such as those of scikit-learn.
        near = search(r"did you mean '([^']+)'", str(error))
        hint = f"; did you mean {near[1]!r}?" if near else did_you_mean(name, get_measure_names())
        raise CommandError(
            f"--measure: there is no measure {name!r}{hint or ';'} --list-measures prints all"
        ) from error
    if convention is None:
        return measure
    try:
        return get_measure(name, convention=convention)
    except TypeError:
        raise CommandError(
            f"--measure {name} has no --convention: leave out one of them"
        ) from None
    except ValueError as error:
        raise CommandError(f"--measure {name}: {error}") from error


SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}

# Bytes of the longest line that a table may have, and rows from one sign of life to the next.
LONGEST_LINE, PROGRESS = 2**26, 5_000_000

# From the names of all columns, those that are read.
Choose = Callable[[list[str]], Sequence[str]]


class Column(NamedTuple):
    name: str
    cells: list[str]  # An empty one is a missing value
    places: Sequence[int]  # Number of the line, or of the row, of each cell
    counts: str  # What is numbered

    def numbers(self) -> FloatArray:
        """Read numbers, none of which is missing; they may be infinite."""
        try:
            values = np.array([float(text) for text in self.cells])
        except ValueError:
            row, text = next(
                (i, text) for i, text in enumerate(self.cells) if not reads_as(float, text)
            )
            if not text:
                raise self.error(row, "is empty") from None
            hint = (
                ": write decimals with a point" if reads_as(float, text.replace(",", ".")) else ""
            )
            raise self.error(row, f"is {text!r}, not a number{hint}") from None
        if np.isnan(values).any():
            row = int(np.argmax(np.isnan(values)))
            raise self.error(row, "is NaN: remove the row or fill it in")
        return values

    def ids(self) -> AnyArray:
        """Take the cells as ids, none of which is missing."""
        if "" in self.cells:
            raise self.error(self.cells.index(""), "is empty")
        return np.array(self.cells)

    def error(self, row: int, what: str) -> CommandError:
        return CommandError(f"{self.counts} {self.places[row]}: column {self.name!r} {what}")


def _is_parquet(path: str) -> bool:
    return os.path.splitext(path)[1].lower() in (".parquet", ".pq")


def read_columns(path: str, delimiter: str | None, choose: Choose) -> dict[str, Column]:
    if _is_parquet(path):
        columns = _parquet_columns(path, choose)
    else:
        columns = _csv_columns(path, delimiter, choose)
    if not len(next(iter(columns.values())).cells):
        raise CommandError(f"{_title(path)}: there are no rows below the names of the columns")
    return columns


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn errors of a file into messages."""
    title = _title(path)
    try:
        if path != "-" and os.path.isfile(path):
            with open(path, "rb") as stream:
                _refuse_format(path, stream.read(8))
        yield
    except IsADirectoryError:
        raise CommandError(f"{title} is a directory: pass a file") from None
    except DAMAGED as error:
        raise CommandError(f"{title} is damaged or not compressed by gzip: {error}") from error
    except CommandError as error:
        has_place = str(error).startswith(("line ", "row "))
        raise CommandError(f"{title}, {error}" if has_place else str(error)) from error
    except OSError as error:
        raise CommandError(f"{title}: {error.strerror or error}") from error


def first_line(path: str) -> str:
    """Read the first line of a text file; an empty one of a Parquet file."""
    if _is_parquet(path):
        return ""
    with reading(path), open_file(path) as stream:
        return next(_decoded(path, stream), "").strip()


def check_columns(names: Sequence[str], header: Sequence[str]) -> None:
    counts = Counter(header)
    for name in names:
        if not counts[name]:
            raise CommandError(
                f"there is no column {name!r}{did_you_mean(name, header) or ';'}"
                f" the columns are {listed(header)}{without_header(header)}"
            )
        if counts[name] > 1:
            raise CommandError(f"line 1: {counts[name]} columns are called {name!r}: rename them")


def without_header(header: Sequence[str]) -> str:
    """Return a clause that says that a file has no names of columns."""
    if not all(reads_as(float, name) for name in header):
        return ""
    return ", which are numbers: the first line must name the columns"


def _refuse_format(path: str, start: bytes) -> None:
    """Refuse a file whose first bytes are those of another format than its name says."""
    formats = {  # First bytes, what the file is, and the ends of names that are read so
        b"PK\x03\x04": ("a zip file, as .xlsx files are: unpack it, or save the table as CSV",),
        b"\x1f\x8b": ("compressed by gzip: give its name the end .gz", ".gz"),
        b"BZh": ("compressed by bzip2: give its name the end .bz2", ".bz2"),
        b"\xfd7zXZ": ("compressed by xz: unpack it with xz -d",),
        b"\x28\xb5\x2f\xfd": ("compressed by zstd: unpack it with zstd -d",),
        b"7z\xbc\xaf": ("a 7z file: unpack it",),
        b"PAR1": ("a Parquet file: give its name the end .parquet", ".parquet", ".pq"),
        b"\xd0\xcf\x11\xe0": ("a file of an old version of Office: save the table as CSV",),
    }
    for magic, (what, *ends) in formats.items():
        if start.startswith(magic) and os.path.splitext(path)[1].lower() not in ends:
            raise CommandError(f"{_title(path)} is {what}")


def _title(path: str) -> str:
    return "standard input" if path == "-" else path


def usual_delimiter(path: str) -> str:
    suffix = os.path.splitext(path.lower().removesuffix(".gz").removesuffix(".bz2"))[1]
    return "\t" if suffix == ".tsv" else ","


def _csv_columns(path: str, delimiter: str | None, choose: Choose) -> dict[str, Column]:
    if delimiter is None:
        delimiter = usual_delimiter(path)
    elif delimiter in ("\\t", "tab"):
        delimiter = "\t"
    if len(delimiter) != 1 or delimiter in '\r\n"':
        raise CommandError(f"--delimiter {delimiter!r} must be one character, or tab")
    stream = sys.stdin.buffer if path == "-" else open_file(path)
    try:
        rows = _rows(path, stream, delimiter)
        _, header = next(rows, (0, []))
        if not header:
            raise CommandError(f"{_title(path)} is empty: the first line must name the columns")
        header = [name.strip() for name in header]
        for other, name in SEPARATORS.items() if len(header) == 1 else ():
            if other != delimiter and other in header[0]:
                char = "tab" if other == "\t" else f"'{other}'"
                raise CommandError(
                    f"line 1: the only column is {header[0]!r}, whose names {name} seems to"
                    f" separate: pass --delimiter {char}"
                )
        names = list(dict.fromkeys(choose(header)))
        places, cells = _cells(rows, header, names)
    finally:
        if path != "-":
            stream.close()
    return {name: Column(name, cells[name], places, "line") for name in names}


def _cells(
    rows: Iterator[tuple[int, list[str]]], header: list[str], names: list[str]
) -> tuple[array[int], dict[str, list[str]]]:
    """Line of each row, and the cells of the named columns."""
    places = array("q")
    cells: dict[str, list[str]] = {name: [] for name in names}
    columns = [(name, header.index(name)) for name in names]
    line, name = 1, names[0]
    try:
        for line, row in rows:
            if len(row) != len(header):
                fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
                raise CommandError(f"line {line}: {fields}, but the first line has {len(header)}")
            places.append(line)
            for name, i in columns:
                cells[name].append(row[i].strip())
            if len(places) % PROGRESS == 0:
                sys.stderr.write(f"{len(places):,} rows read, reading on\n")
    except MemoryError:
        cells.clear()
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
        if number == 1 and path == "-":
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
        names = list(dict.fromkeys(choose(header)))
        table = file.read(columns=names)
    except arrow.ArrowException as error:
        raise CommandError(f"{path} cannot be read as Parquet: {error}") from error
    places = range(1, table.num_rows + 1)
    columns = {}
    for name in names:
        cells = table.column(name).to_pylist()
        text = ["" if cell is None else str(cell) for cell in cells]
        columns[name] = Column(name, text, places, "row")
    return columns


class RunRankings:
    """Runs and judgments of TREC."""

    is_one_list = False  # With all labels
    are_classes = False  # Judgments are grades
    # Measures that are taken where none is named; the first one for a comparison.
    usual_measures: tuple[str, ...] = ("ndcg@10", "ap", "rr")

    def __init__(self, options: Namespace) -> None:
        self._is_default = options.convention is None
        self._convention = options.convention or "trec_eval"
        # Systems that read runs; all order tied documents by their names.
        systems = ("trec_eval", "gdeval", "ranx")
        if self._convention not in ("none", *systems):
            raise CommandError(
                f"--convention {self._convention} is not for runs: pass one of"
                f" {listed(('none', *systems))}"
            )
        qrels = _load(load_qrels, options.qrels)
        ties = "trec" if self._convention in systems else "mean"
        self.notes: list[str] = []
        self._joined = {}
        paths = options.run
        if len(set(paths)) < len(paths):
            twice = next(path for path in paths if paths.count(path) > 1)
            raise CommandError(f"--run {twice} is given twice: give it once")
        names = [os.path.basename(path) for path in paths]
        if len(set(names)) < len(names):
            names = paths
        for name, path in zip(names, paths, strict=True):
            run = _load(load_trec_run, path, ties=ties)
            try:
                self._joined[name] = join_qrels(run, qrels, complete=options.complete)
            except ValueError:
                raise CommandError(
                    f"{path} and {options.qrels} have no query in common: the run has"
                    f" {str(run.qid[0])!r}, the judgments {str(qrels.qid[0])!r}"
                ) from None
            self._note(name, options.complete)
        self.names = tuple(self._joined)
        judged = len(set(qrels.qid.tolist()))
        against = os.path.basename(options.qrels)
        self.heading = f"{', '.join(self.names)} against {against}: {judged:,} judged queries"
        if self._convention != "none":
            self.heading += f", as {self._convention}"
        self.described: dict[str, Any] = {
            "runs": list(options.run),
            "qrels": options.qrels,
            "queries": judged,
            "convention": self._convention,
            "complete": options.complete,
        }

    def _note(self, name: str, complete: bool) -> None:
        both = self._joined[name]
        # The document without a name that stands for a missing query is not one of the run.
        documents = ~np.isin(both.qid, both.missing if complete else [])
        total, unjudged = int(documents.sum()), int((~both.judged[documents]).sum())
        if unjudged:
            self.notes.append(
                f"{name}: {unjudged:,} of {total:,} documents are not judged and count as not"
                " relevant."
            )
        if both.missing:
            became = "counted as 0" if complete else "left out; --complete counts 0 instead"
            self.notes.append(
                f"{name}: no document for {_queries(len(both.missing))} of the judgments, first"
                f" {both.missing[0]!r}: {became}."
            )
        if both.unjudged:
            self.notes.append(
                f"{name}: {_queries(len(both.unjudged))} without judgments, first"
                f" {both.unjudged[0]!r}: left out."
            )

    def measure(self, name: str) -> Measure:
        measure = read_measure(name, None)
        if self._convention != "none":
            try:
                return read_measure(name, self._convention)
            except CommandError:
                if not self._is_default:
                    raise
            note = f"{name} is not a measure of {self._convention}: it follows its definition."
            if note not in self.notes:
                self.notes.append(note)
        if measure.kind == "graded" or measure.rel is not None:
            return measure
        return get_measure(name, rel=1)

    def sample(self, measure: Measure, names: Sequence[str]) -> MeasureInput:
        """Make the sample of some of the runs, on the queries that they share."""
        results = {}
        for name in names:
            both = self._joined[name]
            ideal = both.ideal if "ideal" in measure.takes_relevant else None
            results[name] = _values_of_queries(measure, both.y_true, both.y_score, both.qid, ideal)
        shared = sorted(set.intersection(*(set(ids.tolist()) for ids, *_ in results.values())))
        ids, _, n_queries, _ = results[names[0]]
        of_values = make_measure(
            _value,
            name=measure.in_grammar()[0],  # the convention stands in the heading
            kind="graded",
            range=measure.counted_range,
            greater_is_better=measure.greater_is_better,
        )
        return MeasureInput(
            of_values,
            np.zeros(len(shared)),
            {name: values[np.isin(ids, shared)] for name, (ids, values, *_) in results.items()},
            qid=ids[np.isin(ids, shared)],
            n_queries=n_queries,
            n_undefined=max(n_undefined for *_, n_undefined in results.values()),
        )


def _load(load: Any, path: str, **options: Any) -> Any:
    with reading(path):
        try:
            return load(path, **options)
        except ValueError as error:
            raise CommandError(str(error).rstrip(".")) from error


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count:,} queries"


# Options for labels known in part; one of the first four says which rows have labels.
DESIGNS = ("review_top", "strata", "inclusion_probability", "random_labels")
DESIGN_OPTIONS = (*DESIGNS, "champion", "proxy", "audit", "most_below")


def are_booleans(texts: Iterable[str]) -> bool:
    return {text.lower() for text in texts} <= {"true", "false"}


def _read_labels(column: Column, pos_label: str | None, *, in_part: bool) -> FloatArray:
    """Read labels: numbers, or classes of which one is positive, as 0 and 1; NaN if not known."""
    known = np.array([text.lower() not in ("", "nan") for text in column.cells])
    if not known.all():
        row = int(np.argmin(known))
        if not in_part or not known.any():
            why = KNOWN_IN_PART.partition("; ")[0] if known.any() else "as all others"
            *others, last = map(flag, DESIGNS)
            raise column.error(
                row,
                f"is {column.cells[row] or 'empty'}, {why}; say which rows have labels, by"
                f" {', '.join(others)} or {last}",
            )
        cells = [column.cells[i] for i in np.flatnonzero(known)]
        places = np.asarray(column.places)[known].tolist()
        column = column._replace(cells=cells, places=places)
    values = np.full(len(known), np.nan)
    values[known] = _numbers_of_labels(column, pos_label)
    if not in_part and np.ptp(values) == 0.0:
        raise CommandError(
            f"{column.counts} {column.places[0]} and all after it: column {column.name!r} is"
            f" {column.cells[0]!r}, so that no order is better than another; pass rows of both"
            " classes, or of several grades"
        )
    return values


def _numbers_of_labels(column: Column, pos_label: str | None) -> FloatArray:
    if pos_label is not None:
        return _is_positive(column, pos_label)
    if are_booleans(column.cells):
        return np.array([text.lower() == "true" for text in column.cells], dtype=float)
    if not any(reads_as(float, text) for text in column.cells):
        counts = Counter(column.cells)
        words = sorted(counts)
        rarest = min(reversed(words), key=counts.__getitem__)
        raise column.error(
            0,
            f"is {column.cells[0]!r}: the labels are words ({listed(words)}); name the positive"
            f" class, as in --pos-label {shlex.quote(rarest)}",
        )
    return column.numbers()


def _read_design(options: Namespace, columns: dict[str, Column]) -> Any:
    """How labels that are known in part came about, with predictions of the others."""

    def numbers(name: str) -> FloatArray | None:
        column = getattr(options, name)
        return columns[column].numbers() if column else None

    if not any(getattr(options, name) for name in DESIGNS):
        return None
    strata = columns[options.strata].ids() if options.strata else None
    if options.random_labels:
        if not options.proxy:
            return "all"
        strata = np.zeros(len(columns[options.proxy].cells))
    return LabelDesign(
        inclusion_probability=numbers("inclusion_probability"),
        strata=strata,
        review_top=options.review_top,
        audit=options.audit,
        scores=numbers("champion"),
        most_below=options.most_below,
        proxy=numbers("proxy"),
    )


def _is_positive(column: Column, pos_label: str) -> FloatArray:
    positive = np.array([text == pos_label for text in column.cells])
    if not positive.any() and reads_as(float, pos_label):
        # 1 is also written 1.0, as in a column of real numbers.
        number = float(pos_label)
        positive = np.array(
            [reads_as(float, text) and float(text) == number for text in column.cells]
        )
    if not positive.any():
        raise CommandError(
            f"--pos-label {pos_label!r} is not in column {column.name!r}: its labels are"
            f" {listed(sorted(set(column.cells)))}"
        )
    return positive.astype(float)


def is_usual_score(name: str) -> bool:
    """Whether a column is a score where no option names one."""
    return name in ("score", "y_score") or name.startswith("score_")


class TableRankings:
    """Columns of a table."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        designs = [name for name in DESIGNS if getattr(options, name)]
        if len(designs) > 1:
            raise CommandError(f"{flag(designs[0])} and {flag(designs[1])} exclude each other")
        if bool(options.review_top) != bool(options.champion):
            raise CommandError("--review-top and --champion go together: pass both")
        if not options.review_top:
            _refuse(options, ("audit", "most_below"), "for --review-top")
        if not designs:
            names = ", ".join(map(flag, DESIGNS))
            _refuse(options, ("proxy",), f"for labels known in part, with one of {names}")
        with reading(options.file):
            columns = read_columns(options.file, options.delimiter, self._choose_columns)
            self._y_true = _read_labels(
                columns[self._label], options.pos_label, in_part=bool(designs)
            )
            self._design = _read_design(options, columns)
            self._scores = {name: columns[name].numbers() for name in self.names}
            self._qid = columns[self._query].ids() if self._query else None
            self._groups = columns[options.groups].ids() if options.groups else None
        self._known = self._y_true[~np.isnan(self._y_true)]
        distinct = set(np.unique(self._known).tolist())
        self.are_classes = distinct <= {0.0, 1.0} or distinct <= {-1.0, 1.0}
        self.notes: list[str] = []
        self.is_one_list = self._qid is None and self._design is None
        self.described: dict[str, Any] = {
            "file": options.file,
            "rows": len(self._y_true),
            "label": self._label,
            "pos_label": options.pos_label,
            "qid": self._query,
            "groups": options.groups,
        }
        parts = [f"{len(self._y_true):,} rows"]
        if self._design is not None:
            given = vars(options)
            self.described |= {key: given[key] for key in DESIGN_OPTIONS}
            parts.append(f"{len(self._known):,} with labels")
        if self._qid is not None:
            self.described["queries"] = len(np.unique(self._qid))
            parts.append(f"{self.described['queries']:,} queries ({self._query})")
        if self._groups is not None:
            parts.append(f"{len(np.unique(self._groups)):,} groups ({options.groups})")
        if self.are_classes:
            positive = " ".join(filter(None, (self._label, options.pos_label)))
            parts.append(f"{int((self._y_true == 1).sum()):,} positive ({positive})")
        else:
            low, high = self._known.min(), self._known.max()
            parts.append(f"labels {low:g} to {high:g} ({self._label})")
        title = "standard input" if options.file == "-" else os.path.basename(options.file)
        self.heading = f"{title}: {', '.join(parts)}"

    def _choose_columns(self, header: list[str]) -> list[str]:
        """Find the columns that are read, and what each is for."""
        options = self._options
        label = options.label
        if not label:
            labels = [name for name in LABELS if name in header]
            if len(labels) != 1:
                what = f"the columns {listed(labels)} could all be labels"
                raise CommandError(
                    f"{what if labels else 'no column of labels'}: name it with --label, one of"
                    f" {listed(header)}{without_header(header)}"
                )
            (label,) = labels
        scores = options.score or list(filter(is_usual_score, header))
        if not scores:
            raise CommandError(
                f"no column of scores: name it with --score, one of {listed(header)}"
            )
        if options.one_list and options.qid:
            raise CommandError("--one-list and --qid exclude each other: leave out one of the two")
        qid = None if options.one_list else options.qid or ("qid" if "qid" in header else None)
        o = options
        others = (qid, o.groups, o.strata, o.inclusion_probability, o.champion, o.proxy)
        names = [label, *scores, *filter(None, others)]
        check_columns(names, header)
        twice = next((name for name in scores if [label, *scores].count(name) > 1), None)
        if twice is not None:
            raise CommandError(f"column {twice!r} is named twice as label or score: name it once")
        self.names, self._label, self._query = tuple(scores), label, qid
        return names

    @property
    def usual_measures(self) -> tuple[str, ...]:
        """Measures that are taken where none is named; the first one for a comparison."""
        if self._qid is not None:
            return ("ndcg@10", "ap", "rr") if self.are_classes else ("ndcg@10", "ndcg")
        return ("auc", "ap", "precision@top0.1") if self.are_classes else ("spearman", "tau_b")

    def measure(self, name: str) -> Measure:
        convention = self._options.convention
        return read_measure(name, None if convention == "none" else convention)

    def sample(self, measure: Measure, names: Sequence[str]) -> MeasureInput:
        """Make the sample of some of the columns."""
        self._check_labels(measure)
        y_true, scores = self._y_true, {name: self._scores[name] for name in names}
        n_queries, n_undefined = self.described.get("queries"), 0
        if self._design is None and self._qid is not None:
            *_, n_queries, n_undefined = _values_of_queries(
                measure, y_true, scores[names[0]], self._qid
            )
        rest = self._qid, self._groups, n_queries, n_undefined, self._design
        return MeasureInput(measure, y_true, scores, *rest)

    def _check_labels(self, measure: Measure) -> None:
        """Raise an error where a measure cannot take the labels."""
        label_type, lowest = measure.label_type(), self._known.min()
        if measure.kind == "graded" and lowest < label_type.lowest:
            raise ValueError(
                f"column {self._label!r} has the grade {lowest:g}, but grades start at"
                f" {label_type.lowest:g}"
            )
        if measure.kind == "graded" or label_type.rel is not None or self.are_classes:
            return
        labels, counts = np.unique(self._known, return_counts=True)
        if len(labels) == 2:
            rarer = labels[0] if counts[0] < counts[1] else labels[1]
            which = "rarer" if counts[0] != counts[1] else "second"
            raise ValueError(
                f"the labels are {labels[0]:g} and {labels[1]:g}; --pos-label {rarer:g} makes the"
                f" {which} one positive"
            )
        raise ValueError(
            f"column {self._label!r} has {len(labels):,} values, but the measure takes two"
            f" classes; name the relevant grades, as in '{measure.name}(rel>={labels[-1]:g})'"
        )


# Scores by name, with the labels of what they rank.
Rankings: TypeAlias = RunRankings | TableRankings


def read_rankings(options: Namespace) -> Rankings:
    if options.run is None and options.qrels is None:
        if options.file is None:
            raise CommandError(
                "there is no input: pass FILE before the options, or --run RUN --qrels QRELS"
            )
        _refuse(options, ("complete",), "for --run and --qrels")
        return TableRankings(options)
    if options.run is None or options.qrels is None:
        raise CommandError("--run and --qrels go together: pass both")
    if options.file is not None:
        raise CommandError(f"pass FILE ({options.file}) or --run and --qrels, not both")
    table = ("label", "score", "qid", "one_list", "groups", "pos_label", "delimiter")
    _refuse(options, (*table, *DESIGN_OPTIONS), "for a table")
    return RunRankings(options)


def _refuse(options: Namespace, names: Sequence[str], meant: str) -> None:
    for name in names:
        value = getattr(options, name)
        if value is not None and value is not False:
            raise CommandError(f"{flag(name)} is {meant}: leave it out")


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
