"""Loader of label ranking files: rows of features, each with an order of the same labels."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata
from sklearn.utils import Bunch

from .._batch_files import LineError, open_file
from .._label_orders import ABOVE, fault_of, first_bad_positions, split_order
from .._optional import import_pandas
from .._typing import AnyArray, FloatArray
from .._validation import check_flag, check_whole, is_whole

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


# Columns of labels by their names, in this order; the group is the name of the label.
RANKED = re.compile(r"rank(?:[_. -](?=.)|(?=\d+$))(.+)", re.IGNORECASE)
NUMBERED = re.compile(r"(L\d+)")


def load_label_ranking(
    path: Any,
    *,
    labels: Any = None,
    header: bool | Literal["auto"] = "auto",
    sep: str | None = None,
    missing: Any = (),
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load a label ranking data set from a CSV file or a similar text file.

    Each line holds a row of features and a ranking of the same K labels. The ranking is written in
    K columns, each with the position of its label, 1 at the top, or in one column, such as
    ``a>b=c``.

    Parameters
    ----------
    path : str, path-like or binary stream
        The file, in UTF-8. A name that ends in ``.gz`` or ``.bz2`` is decompressed.
    labels : int, array-like of str or None, default=None
        The labels or their columns:

        - None: columns ``rank1``, ..., ``rankK`` (or ``rank_car`` and so on) or ``L1``, ...,
          ``LK``; else the one column of orders such as ``a>b``, whose labels are sorted;
        - names of columns: these columns, in this order;
        - names of labels: those in the column of orders, in the order of the columns of `target`;
          without header and orders, those of the last columns;
        - an integer: the number of last columns that hold labels, in a file without header.
    header : bool or "auto", default="auto"
        Whether the first line has the names of the columns. "auto" means True if it has neither a
        number nor an order.
    sep : str or None, default=None
        Field separator, one character; a blank means any white space. None means the most frequent
        one of comma, semicolon, tab and bar in the first line, or white space if there is none.
    missing : str, number or sequence of these, default=()
        Values that mark the position of a missing label, such as 0 or "-", in addition to an empty
        field, ``?``, NA, NaN, null and None.
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        If True, `data` and `target` are pandas DataFrames, and features may be strings. Needs
        pandas.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with

        data : ndarray or DataFrame of shape (n_samples, n_features)
            The features, float64, NaN if missing; in a DataFrame, string columns are categorical.
        target : ndarray or DataFrame of shape (n_samples, n_labels)
            Positions of the labels, 1 at the top, NaN if a row does not have the label. Positions
            are as in the file, also for tied labels. For orders such as ``a>b=c`` they count from
            1 in each row, and tied labels share the mean of their positions.
        feature_names : list of str
            Names of the columns, or ``"feature_1"`` and so on.
        label_names : list of str
            Names of the labels; ``"L1"`` and so on for columns ``rank1`` and so on, or without
            names.
        target_type : str
            ``"positions"``, the value to pass to label rankers and to
            :func:`~sklearn_rank.preprocessing.label_grades`.
        frame : DataFrame or None
            `data` and `target` in one frame if `as_frame`, else None.

    Raises
    ------
    ValueError
        If a line does not have the expected format (the message names file and line), or the
        labels are not found.
    TypeError
        If a stream is in text mode, or an argument has the wrong type.
    OSError
        If the file cannot be read.
    ImportError
        If `as_frame` and pandas is not installed.

    See Also
    --------
    make_label_ranking : Generates label rankings with known optimal orders.
    sklearn_rank.preprocessing.label_grades : Converts orders of labels in memory.

    Notes
    -----
    The function reads the files of the KEBI repository [1]_ saved as CSV, those of scikit-lr (with
    the numbers of rows, features and labels, or with names, in the first line), and similar files.
    A column of a label must hold its *position*. Files whose columns are positions and hold label
    numbers look the same: convert them to orders such as ``3>1>2``. A row may have no label at
    all; leave it out before fitting a ranker, or give it ``sample_weight`` 0.

    The cost is O(size of the file) time, about one second per million fields, and about 100 bytes
    per field.

    References
    ----------
    .. [1] Cheng, Hühn & Hüllermeier (2009), *Decision tree and instance-based learning for label
       ranking*, ICML.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sklearn_rank.datasets import load_label_ranking
    >>> file = b"age,income,rank1,rank2,rank3\\n31,2.5,1,3,2\\n64,1.5,2,1,?\\n"
    >>> bunch = load_label_ranking(BytesIO(file))
    >>> bunch.data
    array([[31. ,  2.5],
           [64. ,  1.5]])
    >>> bunch.target
    array([[ 1.,  3.,  2.],
           [ 2.,  1., nan]])
    >>> bunch.label_names, bunch.target_type
    (['L1', 'L2', 'L3'], 'positions')

    A file with orders in one column and without names:

    >>> file = b"31;2.5;car>train>bus\\n64;1.5;bus=train\\n"
    >>> bunch = load_label_ranking(BytesIO(file))
    >>> bunch.label_names, bunch.target
    (['bus', 'car', 'train'], array([[3. , 1. , 2. ],
           [1.5, nan, 1.5]]))
    """
    check_flag("return_X_y", return_X_y)
    check_flag("as_frame", as_frame)
    if not (header is True or header is False or header == "auto"):
        raise ValueError(f"header={header!r} must be True, False or 'auto'.")
    if sep is not None and not (isinstance(sep, str) and len(sep) == 1):
        raise ValueError(f"sep={sep!r} must be one character or None.")
    asked = _asked(labels)
    markers = np.atleast_1d(np.asarray(missing, dtype=object))
    if as_frame:
        import_pandas("load_label_ranking(as_frame=True)")
    fields = read_fields(path, header, sep)
    layout = _layout(fields, asked)
    data = _features(fields, layout, as_frame)
    if layout.orders is None:
        label_names = layout.label_names
        target = _positions(fields, layout, markers)
    else:
        label_names, target = _orders(fields, layout.orders, layout.label_names, markers)
    return _data_set(data, target, (layout.feature_names, label_names), return_X_y, as_frame)


@dataclass(frozen=True)
class _Layout:
    """Which columns are what; `orders` is the column of orders, None where labels have columns."""

    features: list[int]
    feature_names: list[str]
    columns: list[int]
    label_names: list[str]
    orders: int | None = None


def _asked(labels: Any) -> int | list[str] | None:
    """Read the argument `labels`."""
    if labels is None:
        return None
    if is_whole(labels):
        return check_whole("labels", labels, 2, optional=True)
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise TypeError(f"labels={labels!r} must be an integer, a list of names or None.")
    names = [str(one) for one in labels]
    for at, one in enumerate(names):
        if one in names[:at]:
            raise ValueError(f"labels has {one!r} twice: pass each label once.")
    if len(names) < 2:
        raise ValueError(f"labels={names!r} must name at least two labels.")
    return names


# ------------------------------------------------------------------------------- which columns


def _layout(fields: Fields, asked: int | list[str] | None) -> _Layout:
    if asked is None and fields.n_labels is not None:
        asked = fields.n_labels
    if asked is None:
        columns, names = _columns_by_name(fields)
    elif isinstance(asked, int):
        columns, names = _last_columns(fields, asked), _numbered("L", asked)
    elif fields.names is not None and set(asked) <= set(fields.names):
        columns, names = [fields.names.index(one) for one in asked], asked
        _refuse_columns_of_other_labels(fields, columns)
    else:
        columns, names = [], asked
    orders = None
    if not columns:
        orders = _column_of_orders(fields)
        if orders is None and asked is not None and fields.names is None:
            columns = _last_columns(fields, len(names))
        elif orders is None:
            raise _no_labels(fields, names)
    features = [at for at in range(fields.width) if at not in columns and at != orders]
    if not features:
        raise ValueError(f"{fields.name} has no features besides the labels: check the file.")
    if fields.names is None:
        feature_names = _numbered("feature_", len(features))
    else:
        feature_names = [fields.names[at] for at in features]
    return _Layout(features, feature_names, columns, names, orders)


def _numbered(stem: str, n: int) -> list[str]:
    return [f"{stem}{at}" for at in range(1, n + 1)]


def _families(fields: Fields) -> list[list[tuple[int, str]]]:
    """Columns that are called like labels, with the names of these, in one list for each style."""
    found = []
    for pattern in (RANKED, NUMBERED):
        matches = [(at, pattern.fullmatch(one)) for at, one in enumerate(fields.names or [])]
        kept = [(at, match[1]) for at, match in matches if match]
        if len(kept) > 1:
            found.append(kept)
    return found


def _columns_by_name(fields: Fields) -> tuple[list[int], list[str]]:
    found = _families(fields)
    if len(found) > 1:
        ranked, numbered = (fields.named(kept[0][0]) for kept in found)
        raise ValueError(
            f"{fields.name} has the columns {ranked}, ... and {numbered}, ..., and both may be"
            " labels: pass labels= with the names of the label columns."
        )
    for kept in found:
        names = [f"L{name}" if name.isdigit() else name for _, name in kept]
        return [at for at, _ in kept], names
    return [], []


def _refuse_columns_of_other_labels(fields: Fields, columns: list[int]) -> None:
    """Refuse columns that are called like the labels and would become features."""
    for family in _families(fields):
        others = [at for at, _ in family if at not in columns]
        if 0 < len(others) < len(family):
            raise ValueError(
                f"{fields.name} has the column {fields.named(others[0])} besides those of labels=,"
                " which would become a feature: add it to labels=, or remove it from the file."
            )


def _last_columns(fields: Fields, n: int) -> list[int]:
    if fields.names is not None:
        raise ValueError(
            f"labels={n}, but {fields.name} has a header: pass the names of the columns of labels,"
            f" such as labels={fields.names[-n:]}."
        )
    if n >= fields.width:
        raise ValueError(
            f"{fields.name} has {fields.width} columns, too few for {n} labels and a feature."
        )
    return list(range(fields.width - n, fields.width))


def _column_of_orders(fields: Fields) -> int | None:
    found = [
        at for at in range(fields.width) if any(ABOVE in field for field in fields.column(at))
    ]
    if len(found) > 1:
        raise ValueError(
            f"{fields.name} has orders in {fields.named(found[0])} and {fields.named(found[1])}:"
            " keep one of these columns."
        )
    return found[0] if found else None


def _no_labels(fields: Fields, names: list[str]) -> ValueError:
    if names and fields.names is not None:
        absent = next(one for one in names if one not in fields.names)
        return ValueError(
            f"{fields.name} has no column {absent!r}, and no column of orders such as 'a>b'; its"
            f" columns are {fields.names}."
        )
    told = "no header" if fields.names is None else f"the columns {fields.names}"
    remedy = "their number" if fields.names is None else "the names of their columns"
    return ValueError(
        f"{fields.name} has {told}, no columns rank1, rank2, ... or L1, L2, ..., and no column of"
        f" orders such as 'a>b', so that its labels are not known: pass labels= with {remedy}."
    )


# ------------------------------------------------------------------------------- their contents


def _features(fields: Fields, layout: _Layout, as_frame: bool) -> Any:
    values = [numbers_of(fields, at) for at in layout.features]
    words = {}
    for place, (at, name) in enumerate(zip(layout.features, layout.feature_names, strict=True)):
        row = values[place]
        if isinstance(row, int):
            if not as_frame:
                raise fields.error(
                    row,
                    f"the feature {name!r} is {fields.rows[row][at]!r}, which is not a number;"
                    " pass as_frame=True and encode it, for example by OneHotEncoder, or"
                    " header=True if this line has the names of the columns",
                )
            words[name] = words_of(fields, at)
    if not as_frame:
        return np.column_stack(values)
    pd = import_pandas("load_label_ranking(as_frame=True)")
    columns = dict(zip(layout.feature_names, values, strict=True))
    return pd.DataFrame(columns | {name: pd.Categorical(column) for name, column in words.items()})


def _positions(fields: Fields, layout: _Layout, markers: AnyArray) -> FloatArray:
    target = np.empty((len(fields.rows), len(layout.columns)))
    for column, (at, name) in enumerate(zip(layout.columns, layout.label_names, strict=True)):
        found = numbers_of(fields, at, markers)
        if isinstance(found, int):
            raise fields.error(
                found,
                f"the position of the label {name!r} is {fields.rows[found][at]!r}, which is no"
                " number; leave it empty if the label is missing, or pass missing=",
            )
        target[:, column] = found
    rows = np.flatnonzero(~np.isnan(target).all(axis=1))
    bad = first_bad_positions(target[rows])
    if bad is not None:
        row = int(rows[bad])
        told = [fields.rows[row][at] for at in layout.columns]
        hint = (
            "add 1 to all, or pass missing=0 if 0 says that a label is missing"
            if np.nanmin(target[row]) == 0
            else "number the labels from 1, the top, tied ones alike, as in 1, 2, 2, 4"
        )
        raise fields.error(row, f"{told} are not positions of {len(told)} labels; {hint}")
    return target


def _orders(
    fields: Fields, at: int, names: list[str], markers: AnyArray
) -> tuple[list[str], FloatArray]:
    rows = [
        [] if is_missing(field, markers) else _levels(fields, row, field)
        for row, field in enumerate(fields.column(at))
    ]
    if not names:
        named = {one for levels in rows for level in levels for one in level}
        names = sorted(named, key=_natural)
    column = {one: place for place, one in enumerate(names)}
    depths = np.full((len(rows), len(names)), np.inf)
    for row, levels in enumerate(rows):
        for depth, level in enumerate(levels):
            for one in level:
                if one not in column:
                    raise fields.error(
                        row, f"the label {one!r} is not among {names}; add it to labels="
                    )
                depths[row, column[one]] = depth
    return names, np.where(np.isinf(depths), np.nan, rankdata(depths, axis=1))


def _levels(fields: Fields, row: int, order: str) -> list[list[str]]:
    """Labels of an order, level by level from the top."""
    levels = split_order(order)
    fault = fault_of(levels)
    if fault is not None:
        raise fields.error(row, f"the order {order!r} {fault}")
    return levels


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Key that sorts L2 before L10."""
    parts = re.split(r"(\d+)", name)
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def _data_set(
    data: Any,
    target: Any,
    names: tuple[list[str], list[str]],
    return_X_y: bool,
    as_frame: bool,
) -> Any:
    frame = None
    if as_frame:
        twice = [one for one in names[1] if one in names[0]]
        if twice:
            raise ValueError(
                f"{twice[0]!r} is the name of a feature and of a label, but as_frame=True needs"
                " unique names: rename one."
            )
        pd = import_pandas("load_label_ranking(as_frame=True)")
        target = pd.DataFrame(target, columns=names[1])
        frame = pd.concat([data, target], axis=1)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=list(names[0]),
        label_names=list(names[1]),
        target_type="positions",
        frame=frame,
    )
