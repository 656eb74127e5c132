"""Readers of label orders, one order per row, from all supported input formats.

All forms become grades: one column for each label, more is nearer to the top, NaN where the label
is missing in the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.utils.multiclass import type_of_target

from .._lists import Lists
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import (
    KNOWN_IN_PART,
    check_choice,
    check_flag,
    is_missing,
    ravelled,
    reads_as,
    refuse_mask,
)
from .._warn import warn
from ..exceptions import ContinuousLabelWarning

TargetType: TypeAlias = Literal["auto", "utilities", "positions", "orders", "indicator", "classes"]


class RowError(ValueError):
    """Error in a row, with its number among the rows that were read."""

    def __init__(self, before: str, row: Any, after: str) -> None:
        self.before, self.row, self.after = before, int(row), after
        super().__init__(f"{before} {self.row}{after}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.before, self.row, self.after)


@contextmanager
def rows_numbered(rows: IntArray) -> Iterator[None]:
    """Use the given row numbers in errors that are raised in the body."""
    try:
        yield
    except RowError as error:
        raise RowError(error.before, rows[error.row], error.after) from None


class LabelOrders(NamedTuple):
    """Orders of the same labels, one for each row."""

    grades: FloatArray
    labels: AnyArray  # (n_labels,)
    target_type: str  # Form of y: a ``TargetType`` except "auto"

    @property
    def known(self) -> BoolArray:
        """Mask of the labels that each row has, of shape (n_rows, n_labels)."""
        return ~np.isnan(self.grades)

    def lists(self, rows: Any = slice(None), weight: FloatArray | None = None) -> Lists:
        """One list for each of some rows, which have a weight each."""
        grades, known = self.grades[rows], self.known[rows]
        entries = None if known.all() else np.flatnonzero(known)
        return Lists(
            labels=grades.ravel() if entries is None else grades.ravel()[entries],
            offsets=np.append(0, np.cumsum(known.sum(axis=1))),
            ids=np.arange(len(known)),
            query_weight=None if weight is None else weight[rows],
            rows=entries,
        )


def read_label_orders(y: Any, target_type: str = "auto", labels: Any = None) -> LabelOrders:
    check_choice("target_type", target_type, get_args(TargetType))
    known = None if labels is None else _check_names(labels)
    y, names = _separate_names(y)
    if names is None and not sp.issparse(y):
        y = ravelled(y, "y") if target_type in ("auto", "orders", "classes") else y
    is_column = getattr(y, "ndim", 1) == 1 and not isinstance(y, str | bytes)
    if target_type in ("auto", "orders") and is_column:
        _refuse_other_signs(list(y) if isinstance(y, list) else np.asarray(y, object).tolist())
    if target_type == "auto":
        target_type = _infer_type(y)
    if target_type == "orders":
        if isinstance(y, str | bytes) or sp.issparse(y):
            raise ValueError(
                f"y is one {type(y).__name__}: pass one order per row, such as ['a>b', 'b>a']."
            )
        orders = _read_orders(y.tolist() if hasattr(y, "tolist") else list(y), known)
    elif target_type == "classes":
        orders = _read_classes(y, known)
    else:
        orders = _read_matrix(y, names, target_type, known)
    if len(orders.labels) < 2:
        single = orders.labels.tolist()
        what = f"one label only, {single[0]!r}" if single else "no label"
        raise ValueError(
            f"y has {what} (one class), but an order needs two labels: pass one column for each."
        )
    if not orders.known.any():
        raise ValueError("y has no label in any row: pass at least one order of two labels.")
    return orders


def label_grades(
    y: Any, *, target_type: TargetType = "auto", labels: Any = None, return_labels: bool = False
) -> FloatArray | tuple[FloatArray, AnyArray]:
    """Convert orders of labels, one for each row, to grades for label ranking.

    The grade of a label is the number of labels of the row below it; a greater grade is nearer to
    the top. Utilities and indicators are kept as grades.

    Parameters
    ----------
    y : array-like, sparse matrix or DataFrame
        The orders, in the form set by ``target_type``.
    target_type : str, default="auto"
        Form of ``y``:

        - "utilities": one column for each label. A greater value is nearer to the top, NaN is a
          missing label;
        - "positions": one column for each label. 1 is the top, NaN is a missing label. Tied labels
          have equal numbers: the first, the middle or the last of the positions that they share,
          or consecutive numbers without gaps. With missing labels, positions among all labels are
          also accepted;
        - "orders": for each row, a string such as ``"a>b=c"``, or a sequence of labels from the
          top in which tied labels form an inner sequence. Labels that are not named are missing;
        - "indicator": 0 or 1 for each label, dense or sparse;
        - "classes": one label for each row, which is above all others;
        - "auto": inferred from the data. Numbers that can be both positions and utilities raise an
          error, and so do texts with another sign than ``>`` between the same labels.
    labels : array-like of shape (n_labels,), default=None
        Labels in the order of the columns; the columns of a DataFrame are reordered accordingly.
        None keeps the columns, or takes the sorted labels that occur.
    return_labels : bool, default=False
        Whether to return the labels as well.

    Returns
    -------
    grades : ndarray of shape (n_samples, n_labels)
        Grades; NaN for missing labels.
    labels : ndarray of shape (n_labels,)
        The labels. Only with ``return_labels=True``.

    Raises
    ------
    ValueError
        If a row does not have the form set by ``target_type`` or has no label, a label occurs
        twice in a row, or there is only one label.

    Warns
    -----
    ContinuousLabelWarning
        If classes are real numbers.

    See Also
    --------
    sklearn_rank.metrics.rank_positions : Computes positions from scores.
    sklearn.preprocessing.label_binarize : Converts classes to indicators.

    Notes
    -----
    O(n_samples n_labels log n_labels) time, O(n_samples n_labels) memory.

    Examples
    --------
    >>> from sklearn_rank.preprocessing import label_grades
    >>> label_grades(["a>b=c", "c>a"], return_labels=True)
    (array([[ 2.,  0.,  0.],
           [ 0., nan,  1.]]), array(['a', 'b', 'c'], dtype='<U1'))
    >>> label_grades([[1, 3, 2], [2, 1, 3]], target_type="positions")
    array([[2., 0., 1.],
           [1., 2., 0.]])
    """
    check_flag("return_labels", return_labels)
    orders = read_label_orders(y, target_type, labels)
    return (orders.grades, orders.labels) if return_labels else orders.grades


def _check_names(labels: Any) -> AnyArray:
    names = np.asarray(labels)
    if names.ndim != 1:
        raise ValueError(f"labels has shape {names.shape}: pass one name for each label.")
    if twice := repeated(names.tolist()):
        raise ValueError(f"labels contains {twice[0]!r} twice: pass each label once.")
    return names


def repeated(values: list[Any]) -> list[Any]:
    """Values of a list that repeat an earlier value."""
    return [value for i, value in enumerate(values) if value in values[:i]]


def _separate_names(y: Any) -> tuple[Any, AnyArray | None]:
    """A matrix, and the names of its columns where it has some."""
    if isinstance(y, np.ma.MaskedArray):
        remedy = "pass y.astype(float).filled(np.nan), in which a masked label is missing"
        refuse_mask(y, "y", remedy if y.ndim == 2 and y.dtype.kind in "biuf" else "")
        return y.data, None
    names = getattr(y, "columns", None)
    if names is None or sp.issparse(y):
        return y, None
    array = y.to_numpy()
    if array.shape[1] == 1:
        return array[:, 0], None
    return array, np.asarray(list(names))


def _infer_type(y: Any) -> str:
    if sp.issparse(y):
        return "indicator" if _is_binary(y.data) else "utilities"
    try:
        array = np.asarray(y)
    except ValueError:  # rows of different lengths
        array = np.empty(len(y), dtype=object)
        array[:] = list(y)
    if array.ndim == 1:
        rows = array.tolist()
        _refuse_written_numbers([label for row in rows if _is_sequence(row) for label in row])
        texts = array.dtype.kind in "OSUT"
        if texts and any(_is_sequence(row) or ">" in str(row) for row in rows):
            return "orders"
        return "classes"
    if _has_texts(array):
        _refuse_written_numbers(array.ravel().tolist())
        return "orders"
    values = _as_matrix(array)
    if _is_binary(values):
        return "indicator"
    if first_bad_positions(values, strictly=True) is None:
        raise ValueError(
            f"y has rows such as {_format_row(values[0])}, which can be positions (1 is the"
            " top) or utilities (greater is better): pass target_type='positions' or"
            " target_type='utilities', or target_type='orders' if they are labels from the top."
        )
    if np.all(np.sort(values, axis=1) == np.arange(values.shape[1])):
        raise ValueError(
            f"y has rows such as {_format_row(values[0])}, which can be utilities (greater is"
            " better) or label numbers from the top, as from argsort: pass target_type='utilities'"
            " or target_type='orders'; to positions from 0 add 1."
        )
    return "utilities"


def _refuse_written_numbers(entries: list[Any]) -> None:
    """Raise an error if all texts are numbers, whose meaning is ambiguous."""
    texts = [entry for entry in entries if isinstance(entry, str)]
    if texts and all(is_missing(entry) or reads_as(float, entry) for entry in entries):
        raise ValueError(
            f"y has numbers that are written as text, such as {texts[0]!r}: pass numbers,"
            " such as y.astype(float), or target_type='orders' if they are names of labels"
            " from the top."
        )


def _refuse_other_signs(rows: list[Any]) -> None:
    """Raise an error if all texts name the same labels with another sign between them than ">"."""
    if not all(isinstance(row, str) for row in rows):
        return
    texts = set(rows)
    signs = ["->"] if any(">" in text for text in texts) else [*"→≻<,;|/:\t-_ "]
    for sign in signs if len(texts) > 1 else ():
        labels = [
            {label.strip() for label in text.replace("=", sign).split(sign)} for text in texts
        ]
        if len(labels[0]) > 1 and all(of_row == labels[0] for of_row in labels):
            orders = f"text.replace({sign!r}, '>')" if sign != "<" else "text.split('<')[::-1]"
            raise ValueError(
                f"y has texts such as {rows[0]!r}, in all of which {sign!r} is between the same"
                f" labels: pass the orders [{orders} for text in y], or target_type='classes' if"
                " they are names of classes."
            )


def _has_texts(array: AnyArray) -> bool:
    if array.dtype.kind == "O":
        return any(isinstance(value, str) for value in array.ravel().tolist())
    return array.dtype.kind in "SUT"


def _is_binary(values: Any) -> bool:
    return bool(np.isin(np.asarray(values), (0, 1)).all())


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _format_row(row: Any) -> str:
    return str([int(value) if float(value).is_integer() else float(value) for value in row])


# ------------------------------------------------------------------ one column for each label


def _read_matrix(
    y: Any, names: AnyArray | None, target_type: str, labels: AnyArray | None
) -> LabelOrders:
    values = _as_matrix(y)
    if labels is None:
        labels = np.arange(values.shape[1]) if names is None else _check_names(names)
    elif values.shape[1] != len(labels):
        raise ValueError(
            f"y has {values.shape[1]} columns, but there are {len(labels)} labels: pass one"
            " column for each label, with NaN if it is missing."
        )
    elif names is not None:
        values = values[:, _places(names, labels)]
    if np.isinf(values).any():
        row, column = np.argwhere(np.isinf(values))[0].tolist()
        raise RowError(
            "y is infinite at row",
            row,
            f", column {column}: pass finite numbers, NaN where a label is missing.",
        )
    if target_type == "indicator":
        wrong = ~(np.isin(values, (0, 1)) | np.isnan(values))
        if wrong.any():
            row, column = np.argwhere(wrong)[0].tolist()
            raise RowError(
                f"y is {values[row, column]:g} at row",
                row,
                f", column {column}, but an indicator is 0 or 1: pass target_type='utilities' for"
                " amounts, or 'positions'.",
            )
    if target_type == "positions":
        _check_positions(values)
        # How many labels of the row are lower than each; NaN stays.
        missing = np.isnan(values)
        rank = rankdata(np.where(missing, np.inf, -values), method="min", axis=1)
        values = np.where(missing, np.nan, rank - 1.0)
    return LabelOrders(values, labels, target_type)


def _as_matrix(y: Any) -> FloatArray:
    """Numbers of two dimensions as float64; NaN stays."""
    if sp.issparse(y):
        return np.asarray(y.toarray(), dtype=np.float64)
    try:
        values = np.asarray(y)
        if values.dtype.kind == "O":
            missing = [is_missing(value) for value in values.ravel().tolist()]
            values = np.where(np.reshape(missing, values.shape), np.nan, values)
        if values.dtype.kind == "c" or _has_texts(values):
            raise TypeError
        values = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "y has entries that are not numbers: pass target_type='orders' for names of"
            " labels from the top, or a matrix with one column for each label."
        ) from None
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.ndim != 2:
        raise ValueError(f"y has {values.ndim} dimensions: pass shape (n_samples, n_labels).")
    return np.asarray(values)


def _places(names: AnyArray, labels: AnyArray) -> list[int]:
    """Column of each label in a matrix with named columns."""
    column = {label: index for index, label in enumerate(names.tolist())}
    missing = [label for label in labels.tolist() if label not in column]
    if missing:
        raise ValueError(
            f"y has no column {missing[0]!r}, but {names.tolist()}: name the columns after"
            f" the labels, {labels.tolist()}."
        )
    return [column[label] for label in labels.tolist()]


def _check_positions(values: FloatArray) -> None:
    bad = first_bad_positions(values)
    if bad is None:
        return
    row = values[bad]
    known = row[~np.isnan(row)]
    before = f"y has the positions {_format_row(known)} in row"
    if not len(known):
        return
    if known.min() == 0:
        raise RowError(before, bad, ", but positions begin with 1 (the top): add 1.")
    if known.min() < 1 or known.max() > values.shape[1]:
        raise RowError(
            before,
            bad,
            f", outside 1 to {values.shape[1]}: pass positions (1 is the top), or"
            " target_type='utilities' if greater is better.",
        )
    raise RowError(
        before,
        bad,
        ", which skip or repeat a position: number the labels of a row from 1 on, with equal"
        " numbers for ties (1, 2, 2, 3 or 1, 2, 2, 4), or pass target_type='utilities' if greater"
        " is better.",
    )


def first_bad_positions(values: FloatArray, *, strictly: bool = False) -> int | None:
    """Find the first row that holds no positions.

    Tied labels may have the first, the middle or the last of the positions that they share, or one
    number without a gap after it. Of rows without some labels the positions may be those among
    all.
    """
    n_labels = values.shape[1]
    size = (~np.isnan(values)).sum(axis=1)
    with np.errstate(invalid="ignore"):
        inside = ((values >= 1) & (values <= n_labels)) | np.isnan(values)
    good = inside.all(axis=1) & (size > 0)
    complete = good & (size == n_labels)
    full = values[complete]
    methods = ("min", "max", "average", "dense")
    equal = [(full == rankdata(full, method, axis=1)).all(axis=1) for method in methods]
    good[complete] = np.any(equal, axis=0)
    partial = good & (size < n_labels)
    if strictly and partial.any():
        some = np.sort(values[partial], axis=1)
        with np.errstate(invalid="ignore"):
            clear = (np.diff(some, axis=1) > 0) | np.isnan(some[:, 1:])
        whole = (some % 1 == 0) | np.isnan(some)
        good[partial] = clear.all(axis=1) & whole.all(axis=1)
    return None if good.all() else int(np.argmin(good))


# ----------------------------------------------------------------- names of labels, from the top


def _read_orders(rows: list[Any], labels: AnyArray | None) -> LabelOrders:
    """Orders as strings "a>b=c" or as sequences of names, tied ones in a sequence of their own."""
    parsed = [_read_levels(row, index) for index, row in enumerate(rows)]
    present = {label for levels in parsed for level in levels for label in level}
    if labels is None:
        try:
            labels = np.asarray(sorted(present))
        except TypeError:
            raise ValueError(
                "y mixes labels of different types: make them all numbers or all strings."
            ) from None
    column = {label: index for index, label in enumerate(labels.tolist())}
    if not present <= column.keys():
        column |= {str(label): index for label, index in column.items()}
    grades = np.full((len(parsed), len(labels)), np.nan)
    for row, levels in enumerate(parsed):
        below = sum(map(len, levels))
        for level in levels:
            below -= len(level)
            for label in level:
                if label not in column:
                    raise _unknown_label(label, row, labels)
                grades[row, column[label]] = below
    return LabelOrders(grades, labels, "orders")


def _unknown_label(label: Any, row: int, labels: AnyArray) -> RowError:
    return RowError(
        f"y has the label {label!r} in row",
        row,
        f", which is not one of {labels.tolist()}: pass rows of these labels.",
    )


def _read_levels(row: Any, index: int) -> list[list[Any]]:
    """Labels of a row, level by level from the top."""
    hint = ""
    if isinstance(row, str):
        levels: list[list[Any]] = split_order(row)
        hint = ", or pass target_type='classes' if it is the name of a class"
    elif isinstance(row, Set | Mapping):
        raise RowError(
            f"y has a {type(row).__name__} in row",
            index,
            ", which has no order: pass a list of labels from the top; for sets of relevant labels"
            " use MultiLabelBinarizer.",
        )
    elif _is_sequence(row):
        levels = [list(level) if _is_sequence(level) else [level] for level in row]
        levels = [present for level in levels if (present := _drop_missing(level))]
    else:
        levels = [_drop_missing([row])]
    fault = fault_of(levels)
    if fault is not None:
        raise RowError(f"y is {row!r} in row", index, f", which {fault}{hint}.")
    return levels


def split_order(order: str) -> list[list[str]]:
    """Split an order such as ``"a>b=c"`` into its levels, from the top."""
    if not order.strip():
        return []
    return [[label.strip() for label in level.split("=")] for level in order.split(">")]


def fault_of(levels: list[list[Any]]) -> str | None:
    """Describe the error in the levels of an order."""
    seen: set[Any] = set()
    for label in (label for level in levels for label in level):
        if label == "":
            return "has no label beside a sign: write 'a>b' for a above b and 'a=b' for a tie"
        if label in seen:
            return f"has the label {label!r} twice: name each label once"
        seen.add(label)
    return None


def _drop_missing(level: Sequence[Any]) -> list[Any]:
    return [label for label in level if not is_missing(label) and label != ""]


# -------------------------------------------------------------------------- one class for a row


def _read_classes(y: Any, labels: AnyArray | None) -> LabelOrders:
    """The class of each row, above all others."""
    array = np.asarray(y)
    if array.ndim != 1:
        raise ValueError(
            f"y has shape {array.shape}, but target_type='classes' needs one class per row:"
            " pass one dimension, or another target_type."
        )
    missing = [row for row, label in enumerate(array.tolist()) if is_missing(label)]
    if missing:
        after = f" (NaN or None), {KNOWN_IN_PART}."
        raise RowError("y has a missing label at row", missing[0], after)
    if array.dtype.kind == "f" and np.isinf(array).any():
        raise RowError("y is infinity at row", np.argmax(np.isinf(array)), ".")
    if array.dtype.kind == "O":
        array = np.asarray(array.tolist())
    if labels is None:
        labels = np.unique(array)
        numbers = array
        if array.dtype.kind in "SU" and all(reads_as(float, label) for label in labels.tolist()):
            numbers = array.astype(np.float64)
        if type_of_target(numbers) == "continuous":
            warn(
                f"y has {len(labels)} distinct real numbers, and each is taken as a label:"
                " for amounts use a regressor; for orders pass one column for each label.",
                ContinuousLabelWarning,
            )
    column = {label: index for index, label in enumerate(labels.tolist())}
    columns = [column.get(label, -1) for label in array.tolist()]
    if -1 in columns:
        row = columns.index(-1)
        raise _unknown_label(array.tolist()[row], row, labels)
    grades = np.zeros((len(array), len(labels)))
    grades[np.arange(len(array)), columns] = 1.0
    return LabelOrders(grades, labels, "classes")
