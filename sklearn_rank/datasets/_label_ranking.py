"""Label rankings from text files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.utils import Bunch

from .._label_orders import ABOVE, fault_of, first_bad_positions, repeated, split_order
from .._optional import import_pandas
from .._typing import FloatArray
from .._validation import check_flag, check_whole, is_whole
from ._svmlight import DAMAGED, LineError, name_of, open_source

SEPARATORS = (",", ";", "\t", "|")
MISSING = frozenset(("", "?", "na", "nan", "null", "none"))


class Fields(NamedTuple):
    name: str
    names: list[str] | None  # Names of the columns; None without a header
    rows: list[list[str]]  # The fields of each row, as many in each
    lines: list[int]  # Line of each row
    n_labels: int | None

    @property
    def width(self) -> int:
        return len(self.rows[0])

    def column(self, at: int) -> list[str]:
        return [row[at] for row in self.rows]

    def name_of(self, at: int) -> str:
        """What a column is called in messages."""
        return f"column {at + 1}" if self.names is None else repr(self.names[at])

    def error(self, row: int, message: str) -> LineError:
        return LineError(f"{self.name}, line {self.lines[row]}: {message}.")


def _read_fields(path: Any, header: Any, sep: str | None) -> Fields:
    name, text = _text(path)
    rows, lines = _split(name, text, sep)
    if not rows:
        raise ValueError(f"{name} has no rows: check that it is the right file.")
    n_labels = None
    if (
        header is not True
        and len(rows) > 1
        and len(rows[0]) == 3
        and all(map(str.isdigit, rows[0]))
    ):
        # The first line has the numbers of rows, features and labels.
        _, n_features, n_last = map(int, rows[0])
        if len(rows[1]) == n_features + n_last != 3:
            n_labels, rows, lines = n_last, rows[1:], lines[1:]
    names, line_of_width = None, lines[0]
    if header is True or (
        header == "auto"
        and n_labels is None
        and all(ABOVE not in field and _number(field) is None for field in rows[0])
    ):
        names = rows[0]
        if twice := repeated(names):
            raise LineError(
                f"{name}, line {lines[0]}: two columns are called {twice[0]!r}; rename one."
            )
        rows, lines = rows[1:], lines[1:]
        if not rows:
            raise ValueError(f"{name} has a header and no rows: check that it is the right file.")
    width = len(rows[0] if names is None else names)
    for row, line in zip(rows, lines, strict=True):
        if len(row) != width:
            raise LineError(
                f"{name}, line {line}: {len(row)} fields, but line {line_of_width} has {width};"
                " correct it, or pass sep= if the separator was not found."
            )
    return Fields(name, names, rows, lines, n_labels)


def _text(path: Any) -> tuple[str, str]:
    name = name_of(path)
    try:
        with open_source(path) as stream:
            content: Any = stream.read()
    except DAMAGED as error:
        raise ValueError(
            f"{name} cannot be decompressed ({error}): it is cut off or damaged; fetch it again."
        ) from error
    if isinstance(content, str):
        raise TypeError(f"{name} gives text instead of bytes: open it in binary mode, 'rb'.")
    try:
        return name, content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise LineError(f"{name}, line {line}: not UTF-8 text; convert the file.") from error


def _split(name: str, text: str, sep: str | None) -> tuple[list[list[str]], list[int]]:
    first = next((line for line in text.splitlines() if line.strip()), "")
    if first.lstrip().startswith(("@", "%")):
        raise ValueError(
            f"{name} is an ARFF file: pass the lines after @data as a file of their own."
        )
    if sep is None:
        sep = max(SEPARATORS, key=first.count)
        sep = sep if sep in first else " "
    rows: list[list[str]] = []
    lines: list[int] = []
    if sep.isspace() and sep != "\t":
        for number, line in enumerate(text.splitlines(), start=1):
            if fields := line.split():
                rows.append(fields)
                lines.append(number)
        return rows, lines
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


def _number(field: str) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None


def is_missing(field: str, markers: frozenset[Any] = frozenset()) -> bool:
    if field.lower() in MISSING:
        return True
    return bool(markers) and (field in markers or _number(field) in markers)


def _numbers(
    fields: Fields, at: int, markers: frozenset[Any] = frozenset()
) -> tuple[FloatArray, int | None]:
    """A column as numbers, NaN where missing, and the first row that has none."""
    values = np.full(len(fields.rows), np.nan)
    for row, field in enumerate(fields.column(at)):
        if not is_missing(field, markers):
            number = _number(field)
            if number is None:
                return values, row
            values[row] = number
    return values, None


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
    wanted = _check_labels(labels)
    marks = list(map(str, np.atleast_1d(np.asarray(missing, dtype=object)).tolist()))
    markers = frozenset({*marks, *map(_number, marks)} - {None})
    pd = import_pandas("load_label_ranking(as_frame=True)") if as_frame else None
    fields = _read_fields(path, header, sep)
    columns, label_names, of_orders = _find_labels(fields, wanted)
    features = [at for at in range(fields.width) if at not in columns and at != of_orders]
    if not features:
        raise ValueError(f"{fields.name} has no features besides the labels: check the file.")
    if fields.names is None:
        feature_names = [f"feature_{i}" for i in range(1, len(features) + 1)]
    else:
        feature_names = [fields.names[at] for at in features]
    data = _read_features(fields, features, feature_names, pd)
    if of_orders is None:
        target: Any = _read_positions(fields, columns, label_names, markers)
    else:
        label_names, target = _read_orders(fields, of_orders, label_names, markers)
    frame = None
    if pd is not None:
        both = [name for name in label_names if name in feature_names]
        if both:
            raise ValueError(
                f"{both[0]!r} is the name of a feature and of a label, but as_frame=True needs"
                " unique names: rename one."
            )
        target = pd.DataFrame(target, columns=label_names)
        frame = pd.concat([data, target], axis=1)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=feature_names,
        label_names=list(label_names),
        target_type="positions",
        frame=frame,
    )


def _check_labels(labels: Any) -> int | list[str] | None:
    if labels is None:
        return None
    if is_whole(labels):
        return check_whole("labels", labels, 2, optional=True)
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise TypeError(f"labels={labels!r} must be an integer, a list of names or None.")
    names = [str(name) for name in labels]
    if twice := repeated(names):
        raise ValueError(f"labels has {twice[0]!r} twice: pass each label once.")
    if len(names) < 2:
        raise ValueError(f"labels={names!r} must name at least two labels.")
    return names


# ------------------------------------------------------------------------------- which columns


def _find_labels(
    fields: Fields, labels: int | list[str] | None
) -> tuple[list[int], list[str], int | None]:
    """Columns of positions, names of their labels, and else the column of orders."""
    if labels is None:
        labels = fields.n_labels
    families = _families(fields)
    columns, names = [], []
    if isinstance(labels, int):
        columns, names = _last_columns(fields, labels), [f"L{i}" for i in range(1, labels + 1)]
    elif labels is None:
        if len(families) > 1:
            ranked, numbered = (fields.name_of(family[0][0]) for family in families)
            raise ValueError(
                f"{fields.name} has the columns {ranked}, ... and {numbered}, ..., and both may be"
                " labels: pass labels= with the names of the label columns."
            )
        for family in families:
            columns = [at for at, _ in family]
            names = [f"L{name}" if name.isdigit() else name for _, name in family]
    else:
        names = labels
        if fields.names is not None and set(labels) <= set(fields.names):
            columns = [fields.names.index(name) for name in labels]
            for family in families:
                others = [at for at, _ in family if at not in columns]
                if 0 < len(others) < len(family):
                    raise ValueError(
                        f"{fields.name} has the column {fields.name_of(others[0])} besides those"
                        " of labels=, which would become a feature: add it to labels=, or remove"
                        " it from the file."
                    )
    if columns:
        return columns, names, None
    of_orders = [at for at in range(fields.width) if any(ABOVE in f for f in fields.column(at))]
    if len(of_orders) > 1:
        raise ValueError(
            f"{fields.name} has orders in {fields.name_of(of_orders[0])} and"
            f" {fields.name_of(of_orders[1])}: keep one of these columns."
        )
    if of_orders:
        return [], names, of_orders[0]
    if names and fields.names is None:
        return _last_columns(fields, len(names)), names, None
    if names and fields.names is not None:
        absent = next(name for name in names if name not in fields.names)
        raise ValueError(
            f"{fields.name} has no column {absent!r}, and no column of orders such as 'a>b'; its"
            f" columns are {fields.names}."
        )
    has = "no header" if fields.names is None else f"the columns {fields.names}"
    remedy = "their number" if fields.names is None else "the names of their columns"
    raise ValueError(
        f"{fields.name} has {has}, no columns rank1, rank2, ... or L1, L2, ..., and no column of"
        f" orders such as 'a>b', so that its labels are not known: pass labels= with {remedy}."
    )


def _families(fields: Fields) -> list[list[tuple[int, str]]]:
    """Columns that are called like labels, with the names of these, in one list for each style."""
    families = []
    for pattern in (RANKED, NUMBERED):
        matches = [(at, pattern.fullmatch(name)) for at, name in enumerate(fields.names or [])]
        family = [(at, match[1]) for at, match in matches if match]
        if len(family) > 1:
            families.append(family)
    return families


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


# ------------------------------------------------------------------------------- their contents


def _read_features(fields: Fields, features: list[int], names: list[str], pd: Any) -> Any:
    """Features as an array, or in a frame, where columns of words are categories."""
    columns: dict[str, Any] = {}
    for at, name in zip(features, names, strict=True):
        columns[name], bad = _numbers(fields, at)
        if bad is None:
            continue
        if pd is None:
            raise fields.error(
                bad,
                f"the feature {name!r} is {fields.rows[bad][at]!r}, which is not a number;"
                " pass as_frame=True and encode it, for example by OneHotEncoder, or"
                " header=True if this line has the names of the columns",
            )
        words = [None if is_missing(field) else field for field in fields.column(at)]
        numbers = [i for i, word in enumerate(words) if word and _number(word) is not None]
        if numbers:
            raise fields.error(
                bad,
                f"the feature {fields.name_of(at)} is {words[bad]!r}, and a number in line"
                f" {fields.lines[numbers[0]]}; correct it, or make all of its values words",
            )
        columns[name] = pd.Categorical(words)
    return np.column_stack(list(columns.values())) if pd is None else pd.DataFrame(columns)


def _read_positions(
    fields: Fields, columns: list[int], names: list[str], markers: frozenset[Any]
) -> FloatArray:
    target = np.empty((len(fields.rows), len(columns)))
    for label, (at, name) in enumerate(zip(columns, names, strict=True)):
        target[:, label], bad = _numbers(fields, at, markers)
        if bad is not None:
            raise fields.error(
                bad,
                f"the position of the label {name!r} is {fields.rows[bad][at]!r}, which is no"
                " number; leave it empty if the label is missing, or pass missing=",
            )
    rows = np.flatnonzero(~np.isnan(target).all(axis=1))
    bad = first_bad_positions(target[rows])
    if bad is not None:
        row = int(rows[bad])
        hint = (
            "add 1 to all, or pass missing=0 if 0 says that a label is missing"
            if np.nanmin(target[row]) == 0
            else "number the labels from 1, the top, tied ones alike, as in 1, 2, 2, 4"
        )
        positions = [fields.rows[row][at] for at in columns]
        raise fields.error(row, f"{positions} are not positions of {len(names)} labels; {hint}")
    return target


def _read_orders(
    fields: Fields, at: int, names: list[str], markers: frozenset[Any]
) -> tuple[list[str], FloatArray]:
    """Names of the labels, L2 before L10 where none are passed, and their positions."""
    orders = []
    for row, field in enumerate(fields.column(at)):
        orders.append([] if is_missing(field, markers) else split_order(field))
        if orders[-1] and (fault := fault_of(orders[-1])) is not None:
            raise fields.error(row, f"the order {field!r} {fault}")
    if not names:

        def natural(name: str) -> list[tuple[bool, int, str]]:
            parts = re.split(r"(\d+)", name)
            return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]

        named = {name for levels in orders for level in levels for name in level}
        names = sorted(named, key=natural)
    column = {name: label for label, name in enumerate(names)}
    depths = np.full((len(orders), len(names)), np.inf)
    for row, levels in enumerate(orders):
        for depth, level in enumerate(levels):
            for name in level:
                if name not in column:
                    raise fields.error(
                        row, f"the label {name!r} is not among {names}; add it to labels="
                    )
                depths[row, column[name]] = depth
    return names, np.where(np.isinf(depths), np.nan, rankdata(depths, axis=1))
