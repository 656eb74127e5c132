"""Readers of label orders, one order per row, from all supported input formats.

All forms become grades: one column for each label, more is nearer to the top, NaN where the label
is missing in the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.utils.multiclass import type_of_target

from ._arguments import check_choice
from ._codes import is_missing
from ._lists import Lists
from ._typing import AnyArray, BoolArray, FloatArray, IntArray
from ._validation import KNOWN_IN_PART, ravelled, refuse_mask
from ._warn import warn
from .exceptions import ContinuousLabelWarning

TargetType: TypeAlias = Literal["auto", "utilities", "positions", "orders", "indicator", "classes"]
TARGET_TYPES = ("auto", "utilities", "positions", "orders", "indicator", "classes")

ABOVE, LEVEL = ">", "="


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


@dataclass(frozen=True, eq=False)
class LabelOrders:
    """Orders of the same labels, one for each row."""

    grades: FloatArray
    labels: AnyArray  # (n_labels,)
    target_type: str  # What was read, one of ``TARGET_TYPES`` but "auto"

    @property
    def known(self) -> BoolArray:
        """Mask of the labels that each row has, of shape (n_rows, n_labels)."""
        return ~np.isnan(self.grades)

    def lists(self, query_weight: FloatArray | None = None) -> Lists:
        """Make lists of them, one for each row."""
        known = self.known
        entries = None if known.all() else np.flatnonzero(known)
        grades = self.grades.ravel()
        return Lists(
            labels=grades if entries is None else grades[entries],
            offsets=np.append(0, np.cumsum(known.sum(axis=1))),
            ids=np.arange(len(known)),
            query_weight=query_weight,
            rows=entries,
        )


def read_label_orders(
    y: Any, target_type: str = "auto", labels: Any = None, *, name: str = "y"
) -> LabelOrders:
    """Read orders of labels in any form."""
    check_choice("target_type", target_type, TARGET_TYPES)
    known = None if labels is None else _checked_names(labels)
    y, names = _columns(y)
    if names is None and not sp.issparse(y):
        y = ravelled(y, name) if target_type in ("auto", "orders", "classes") else y
    if target_type == "auto":
        target_type = _guess(y, name)
    if target_type == "orders":
        found = _read_orders(_rows_of(y, name), known, name)
    elif target_type == "classes":
        found = _read_classes(y, known, name)
    else:
        found = _read_matrix(y, names, target_type, known, name)
    if len(found.labels) < 2:
        told = f"one label only, {found.labels.tolist()[0]!r}" if len(found.labels) else "no label"
        raise ValueError(
            f"{name} has {told} (one class), but an order needs at least two labels: pass one"
            " column for each label."
        )
    if not found.known.any():
        raise ValueError(f"{name} has no label in any row: pass at least one order of two labels.")
    return found


def _checked_names(labels: Any) -> AnyArray:
    names = np.asarray(labels)
    if names.ndim != 1:
        raise ValueError(f"labels has shape {names.shape}: pass one name for each label.")
    listed = names.tolist()
    for at, one in enumerate(listed):
        if one in listed[:at]:
            raise ValueError(f"labels contains {one!r} twice: pass each label once.")
    return names


def _columns(y: Any) -> tuple[Any, AnyArray | None]:
    """A matrix, and the names of its columns where it has some."""
    if isinstance(y, np.ma.MaskedArray):
        filled = "y.astype(float).filled(np.nan), in which a masked label is missing"
        of_numbers = y.ndim == 2 and y.dtype.kind in "biuf"
        refuse_mask(y, "y", f"pass {filled}" if of_numbers else "")
        return y.data, None
    names = getattr(y, "columns", None)
    if names is None or sp.issparse(y):
        return y, None
    array = y.to_numpy()
    if array.shape[1] == 1:
        return array[:, 0], None
    return array, np.asarray(list(names))


def _guess(y: Any, name: str) -> str:
    """Infer ``target_type`` from the values."""
    if sp.issparse(y):
        return "indicator" if _is_binary(y.data) else "utilities"
    try:
        array = np.asarray(y)
    except ValueError:  # rows of different lengths
        array = np.empty(len(y), dtype=object)
        array[:] = list(y)
    if array.ndim == 1:
        _refuse_written_numbers(
            [one for row in array.tolist() if _is_sequence(row) for one in row], name
        )
        texts = array.dtype.kind in "OSUT"
        if texts and any(_is_sequence(one) or ABOVE in str(one) for one in array.tolist()):
            return "orders"
        return "classes"
    if _has_texts(array):
        _refuse_written_numbers(array.ravel().tolist(), name)
        return "orders"
    values = _as_matrix(array, name)
    if _is_binary(values):
        return "indicator"
    if first_bad_positions(values, strictly=True) is None:
        raise ValueError(
            f"{name} has rows such as {_shown(values[0])}, which can be positions (1 is the top)"
            " or utilities (greater is better): pass target_type='positions' or"
            " target_type='utilities', or target_type='orders' if they are labels from the top."
        )
    if np.array_equal(np.sort(values, axis=1), np.tile(np.arange(values.shape[1]), (len(y), 1))):
        raise ValueError(
            f"{name} has rows such as {_shown(values[0])}, which can be utilities (greater is"
            " better) or label numbers from the top, as from argsort: pass target_type='utilities'"
            " or target_type='orders'; to positions from 0 add 1."
        )
    return "utilities"


def _refuse_written_numbers(entries: list[Any], name: str) -> None:
    """Raise an error for texts that all are numbers, of which the meaning is not clear."""
    texts = [one for one in entries if isinstance(one, str)]
    if texts and all(is_missing(one) or _reads_as_number(one) for one in entries):
        raise ValueError(
            f"{name} has numbers that are written as text, such as {texts[0]!r}: pass numbers,"
            f" such as {name}.astype(float), or target_type='orders' if they are names of labels"
            " from the top."
        )


def _has_texts(array: AnyArray) -> bool:
    if array.dtype.kind == "O":
        return any(isinstance(one, str) for one in array.ravel().tolist())
    return array.dtype.kind in "SUT"


def _reads_as_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _is_binary(values: Any) -> bool:
    return bool(np.isin(np.asarray(values), (0, 1)).all())


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _shown(row: Any) -> str:
    return str([int(one) if float(one).is_integer() else float(one) for one in row])


# ------------------------------------------------------------------ one column for each label


def _read_matrix(
    y: Any, names: AnyArray | None, target_type: str, labels: AnyArray | None, name: str
) -> LabelOrders:
    """Utilities, positions or indicators."""
    values = _as_matrix(y, name)
    if labels is None:
        labels = np.arange(values.shape[1]) if names is None else _checked_names(names)
    elif values.shape[1] != len(labels):
        raise ValueError(
            f"{name} has {values.shape[1]} columns, but there are {len(labels)} labels: pass one"
            " column for each label, with NaN if it is missing."
        )
    elif names is not None:
        values = values[:, _places(names, labels, name)]
    if np.isinf(values).any():
        row, column = np.argwhere(np.isinf(values))[0].tolist()
        raise RowError(
            f"{name} is infinite at row",
            row,
            f", column {column}: pass finite numbers, NaN where a label is missing.",
        )
    if target_type == "indicator":
        wrong = ~(np.isin(values, (0, 1)) | np.isnan(values))
        if wrong.any():
            row, column = np.argwhere(wrong)[0].tolist()
            raise RowError(
                f"{name} is {values[row, column]:g} at row",
                row,
                f", column {column}, but an indicator is 0 or 1: pass target_type='utilities' for"
                " amounts, or 'positions'.",
            )
    if target_type == "positions":
        _check_positions(values, name)
        values = _below(-values)
    return LabelOrders(values, labels, target_type)


def _as_matrix(y: Any, name: str) -> FloatArray:
    """Numbers of two dimensions as float64; NaN stays."""
    if sp.issparse(y):
        return np.asarray(y.toarray(), dtype=np.float64)
    try:
        values = np.asarray(y)
        if values.dtype.kind == "O":
            missing = [is_missing(one) for one in values.ravel().tolist()]
            values = np.where(np.reshape(missing, values.shape), np.nan, values)
        if values.dtype.kind == "c" or _has_texts(values):
            raise TypeError
        values = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} has entries that are not numbers: pass target_type='orders' for names of"
            " labels from the top, or a matrix with one column for each label."
        ) from None
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.ndim != 2:
        raise ValueError(f"{name} has {values.ndim} dimensions: pass shape (n_samples, n_labels).")
    return np.asarray(values)


def _places(names: AnyArray, labels: AnyArray, name: str) -> list[int]:
    """Column of each label in a matrix with named columns."""
    at = {one: place for place, one in enumerate(names.tolist())}
    missing = [one for one in labels.tolist() if one not in at]
    if missing:
        raise ValueError(
            f"{name} has no column {missing[0]!r}, but {names.tolist()}: name the columns after"
            f" the labels, {labels.tolist()}."
        )
    return [at[one] for one in labels.tolist()]


def _below(heights: FloatArray) -> FloatArray:
    """How many labels of the row are lower than each; NaN stays."""
    missing = np.isnan(heights)
    rank = rankdata(np.where(missing, np.inf, heights), method="min", axis=1)
    return np.where(missing, np.nan, rank - 1.0)


def _check_positions(values: FloatArray, name: str) -> None:
    bad = first_bad_positions(values)
    if bad is None:
        return
    row = values[bad]
    known = row[~np.isnan(row)]
    told = f"{name} has the positions {_shown(known)} in row"
    if not len(known):
        return
    if known.min() == 0:
        raise RowError(told, bad, ", but positions begin with 1 (the top): add 1.")
    if known.min() < 1 or known.max() > values.shape[1]:
        raise RowError(
            told,
            bad,
            f", outside 1 to {values.shape[1]}: pass positions (1 is the top), or"
            " target_type='utilities' if greater is better.",
        )
    raise RowError(
        told,
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
    ascending = np.sort(values, axis=1)
    size = (~np.isnan(values)).sum(axis=1)
    with np.errstate(invalid="ignore"):
        inside = ((values >= 1) & (values <= n_labels)) | np.isnan(values)
    good = inside.all(axis=1) & (size > 0)
    complete = good & (size == n_labels)
    good[complete] = _are_positions(ascending[complete])
    partial = good & (size < n_labels)
    if strictly and partial.any():
        some = ascending[partial]
        with np.errstate(invalid="ignore"):
            clear = (np.diff(some, axis=1) > 0) | np.isnan(some[:, 1:])
        whole = (some % 1 == 0) | np.isnan(some)
        good[partial] = clear.all(axis=1) & whole.all(axis=1)
    return None if good.all() else int(np.argmin(good))


def _are_positions(ascending: FloatArray) -> BoolArray:
    """Whether sorted rows without missing entries are positions."""
    place = np.arange(1.0, ascending.shape[1] + 1)
    new = np.diff(ascending, axis=1, prepend=-np.inf) > 0
    last = np.diff(ascending, axis=1, append=np.inf) > 0
    first_place = np.maximum.accumulate(np.where(new, place, 0.0), axis=1)
    backwards = np.where(last, place, np.inf)[:, ::-1]
    last_place = np.minimum.accumulate(backwards, axis=1)[:, ::-1]
    of_ties = (
        first_place,
        last_place,
        (first_place + last_place) / 2,
        np.cumsum(new, axis=1),
    )
    return np.any([(ascending == one).all(axis=1) for one in of_ties], axis=0)


# ----------------------------------------------------------------- names of labels, from the top


def _rows_of(y: Any, name: str) -> list[Any]:
    if isinstance(y, str | bytes) or sp.issparse(y):
        raise ValueError(
            f"{name} is one {type(y).__name__}: pass one order for each row, for example ['a>b',"
            " 'b>a']."
        )
    return y.tolist() if hasattr(y, "tolist") else list(y)


def _read_orders(rows: list[Any], labels: AnyArray | None, name: str) -> LabelOrders:
    """Orders as strings "a>b=c" or as sequences of names, tied ones in a sequence of their own."""
    parsed = [_levels(row, at, name) for at, row in enumerate(rows)]
    named = {one for levels in parsed for level in levels for one in level}
    if labels is None:
        try:
            labels = np.asarray(sorted(named))
        except TypeError:
            raise ValueError(
                f"{name} mixes labels of different types: make them all numbers or all strings."
            ) from None
    column = {one: place for place, one in enumerate(labels.tolist())}
    if not named <= column.keys():
        column |= {str(one): place for one, place in column.items()}
    grades = np.full((len(parsed), len(labels)), np.nan)
    for at, levels in enumerate(parsed):
        below = sum(map(len, levels))
        for level in levels:
            below -= len(level)
            for one in level:
                if one not in column:
                    raise RowError(
                        f"{name} has the label {one!r} in row",
                        at,
                        f", which is not one of {labels.tolist()}: pass rows of these labels.",
                    )
                grades[at, column[one]] = below
    return LabelOrders(grades, labels, "orders")


def _levels(row: Any, at: int, name: str) -> list[list[Any]]:
    """Labels of a row, level by level from the top."""
    hint = ""
    if isinstance(row, str):
        levels: list[list[Any]] = split_order(row)
        hint = ", or pass target_type='classes' if it is the name of a class"
    elif isinstance(row, Set | Mapping):
        raise RowError(
            f"{name} has a {type(row).__name__} in row",
            at,
            ", which has no order: pass a list of labels from the top; for sets of relevant labels"
            " use MultiLabelBinarizer.",
        )
    elif _is_sequence(row):
        levels = [list(level) if _is_sequence(level) else [level] for level in row]
        levels = [kept for level in levels if (kept := _present(level))]
    else:
        levels = [_present([row])]
    fault = fault_of(levels)
    if fault is not None:
        raise RowError(f"{name} is {row!r} in row", at, f", which {fault}{hint}.")
    return levels


def split_order(order: str) -> list[list[str]]:
    """Split an order such as ``"a>b=c"`` into its levels, from the top."""
    if not order.strip():
        return []
    return [[one.strip() for one in level.split(LEVEL)] for level in order.split(ABOVE)]


def fault_of(levels: list[list[Any]]) -> str | None:
    """Describe the error in the levels of an order."""
    seen: set[Any] = set()
    for one in (one for level in levels for one in level):
        if one == "":
            return (
                f"has no label beside a sign: write 'a{ABOVE}b' for a above b and 'a{LEVEL}b' for"
                " a tie"
            )
        if one in seen:
            return f"has the label {one!r} twice: name each label once"
        seen.add(one)
    return None


def _present(level: Sequence[Any]) -> list[Any]:
    return [one for one in level if not is_missing(one) and one != ""]


# -------------------------------------------------------------------------- one class for a row


def _read_classes(y: Any, labels: AnyArray | None, name: str) -> LabelOrders:
    """The class of each row, above all others."""
    array = np.asarray(y)
    if array.ndim != 1:
        raise ValueError(
            f"{name} has shape {array.shape}, but target_type='classes' needs one class per row:"
            " pass one dimension, or another target_type."
        )
    missing = [at for at, one in enumerate(array.tolist()) if is_missing(one)]
    if missing:
        row = missing[0]
        raise RowError(
            f"{name} has a missing label at row", row, f" (NaN or None), {KNOWN_IN_PART}."
        )
    if array.dtype.kind == "f" and np.isinf(array).any():
        raise RowError(f"{name} is infinity at row", np.argmax(np.isinf(array)), ".")
    if array.dtype.kind == "O":
        array = np.asarray(array.tolist())
    if labels is None:
        labels = np.unique(array)
        written = array
        if array.dtype.kind in "SU" and all(map(_reads_as_number, labels.tolist())):
            written = array.astype(np.float64)
        if type_of_target(written) == "continuous":
            warn(
                f"{name} has {len(labels)} distinct real numbers, and each is taken as a label:"
                " for amounts use a regressor; for orders pass one column for each label.",
                ContinuousLabelWarning,
            )
    place = {one: column for column, one in enumerate(labels.tolist())}
    columns = [place.get(one, -1) for one in array.tolist()]
    if -1 in columns:
        bad = columns.index(-1)
        raise RowError(
            f"{name} has the label {array.tolist()[bad]!r} in row",
            bad,
            f", which is not one of {labels.tolist()}: pass rows of these labels.",
        )
    grades = np.zeros((len(array), len(labels)))
    grades[np.arange(len(array)), columns] = 1.0
    return LabelOrders(grades, labels, "classes")
