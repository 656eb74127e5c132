"""Validation of arguments and arrays: canonical values, or an error that names the place.

Rows of weight 0 are absent: their labels and scores are not looked at. In two dimensions so are
items whose label is missing, since lists of a matrix may be of different lengths.
"""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from math import inf, nan
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import sklearn.utils
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import validation

from ._partitions import refuse_collections
from ._sklearn_compat import num_samples
from ._typing import AnyArray, BoolArray, FloatArray, IntArray
from ._warn import warn

Closed: TypeAlias = Literal["both", "left", "right", "neither"]

# Beyond it float64 does not distinguish neighbouring integers; no file has more items.
MAX_EXACT_INT = 2**53

# The product of two weights must neither overflow nor vanish.
MAX_WEIGHT_SUM = 1e150


def is_number(value: Any) -> bool:
    """Whether a value is a real number and not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of an integer type and not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def reads_as(kind: Any, text: Any) -> bool:
    """Whether a text is written as a number of a type is; "nan" and "inf" are floats."""
    try:
        kind(text)
    except (TypeError, ValueError, OverflowError):
        return False
    return "_" not in str(text)  # which Python allows between digits


COMMAS = "write it as 1234.5, as pandas.read_csv does with decimal=',' or thousands=','"


def has_commas(text: Any) -> bool:
    """Whether a text is a number with a comma before its decimals, or with marks of thousands."""
    digits = re.sub("[,' ]", "", str(text))
    return any(mark in str(text) for mark in ",'") and reads_as(float, digits)


def check_number(
    name: str,
    value: Any,
    low: float = -inf,
    high: float = inf,
    *,
    closed: Closed = "both",
    what: str = "",
) -> float:
    """Check a number in an interval, as the float64 that it becomes; NaN is in none."""
    try:
        number = float(value) if is_number(value) else nan
    except OverflowError:  # an integer beyond all of float64
        number = nan
    inside = (low <= number if closed in ("both", "left") else low < number) and (
        number <= high if closed in ("both", "right") else number < high
    )
    if not inside:
        raise ValueError(
            f"{name}={shown(value)} must be {_range_in_words(low, high, closed)}"
            f"{f': {what}' if what else ''}."
        )
    return number


def check_length(name: str, value: Any, most: float, what: str) -> float:
    """Check a positive length that is shorter than the range."""
    value = check_number(name, value, 0.0, closed="neither", what=f"of {what}")
    if value >= most < np.inf:
        percent = f"; for {value:g} per cent pass {value / 100:g}" if 1.0 < value <= 100.0 else ""
        raise ValueError(
            f"{name}={value!r} must be less than {most:g}, the length of the range{percent}."
        )
    return value


def shown(value: Any) -> str:
    """Represent a value in a message, truncated if it is longer than 80 characters."""
    if isinstance(value, int) and value.bit_length() > 240:
        # Python raises an error when it converts integers of thousands of digits to text.
        return f"<an integer of {value.bit_length()} bits>"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _range_in_words(low: float, high: float, closed: Closed) -> str:
    if low == -inf and high == inf:
        return "a number" if closed == "both" else "a finite number"
    if high == inf:
        finite = "" if closed in ("both", "right") else "finite "
        start = f"of at least {low:g}" if closed in ("both", "left") else f"greater than {low:g}"
        return f"a {finite}number {start}"
    left = "[" if closed in ("both", "left") else "("
    right = "]" if closed in ("both", "right") else ")"
    return f"a number in {left}{low:g}, {high:g}{right}"


def check_share(name: str, value: Any, *, what: str = "") -> float:
    return check_number(name, value, 0.0, 1.0, closed="neither", what=what)


def check_level(level: Any) -> float:
    """Check the nominal probability of an interval, in (0, 1) and not too close to the ends."""
    level = check_share("level", level)
    if not 1e-6 <= level <= 1.0 - 1e-12:
        raise ValueError(
            f"level={level!r} is so close to {level:.0f} that limits say nothing: pass a"
            " probability such as 0.95."
        )
    return level


def check_whole(
    name: str, value: Any, low: int = 1, high: float = inf, *, optional: bool = False
) -> int:
    or_none = " or None" if optional else ""
    if not is_whole(value):
        raise TypeError(f"{name}={shown(value)} must be a whole number{or_none}.")
    # Python's integers do not overflow.
    number = int(value)
    if not low <= number <= high:
        most = "" if high == inf else f" and at most {int(high)}"
        raise ValueError(f"{name}={shown(value)} must be at least {low}{most}{or_none}.")
    return number


def check_count(name: str, value: Any, low: int = 1) -> int:
    """Check a number of items: a whole number of at most 2^53."""
    return check_whole(name, value, low, MAX_EXACT_INT)


def check_position(name: str, value: Any, *, optional: bool = False) -> int:
    """Check the last position that counts, from 1; beyond the length of a list it is the list."""
    # Positions are counted in 64 bits.
    return check_whole(name, value, 1, 2**63 - 1, optional=optional)


def check_resamples(n_resamples: Any) -> int:
    return check_whole("n_resamples", n_resamples, 99)


def check_choice(name: str, value: Any, choices: Collection[Any], *, hint: str = "") -> None:
    """Check an argument that must be one of several strings, or None if it is among them."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}{hint}.")


def check_flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}={shown(value)} must be True or False.")
    return bool(value)


def check_generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state={random_state!r} must be None, an int, a Generator or a RandomState."
        ) from None


def check_random_state(random_state: Any) -> np.random.RandomState:
    """As scikit-learn's function, whose error does not name the argument."""
    try:
        return sklearn.utils.check_random_state(random_state)
    except ValueError:
        raise ValueError(
            f"random_state={random_state!r} must be None, a non-negative int below 2**32 or a"
            " RandomState."
        ) from None


@dataclass(frozen=True, eq=False)
class Coded:
    """Values, each as the code of a distinct one."""

    codes: IntArray  # (n,): Index of the value of each row among the distinct ones
    distinct: AnyArray  # (n_distinct,): In no particular order

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Coded:
        return Coded(self.codes[rows], self.distinct)

    def used(self) -> Coded:
        """Leave out values that no row has."""
        used = np.zeros(len(self.distinct), dtype=bool)
        used[self.codes] = True
        if used.all():
            return self
        return Coded((np.cumsum(used) - 1)[self.codes], self.distinct[used])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return np.asarray(self.distinct[self.codes], dtype=dtype)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or the like, which does not equal itself."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True
    except ValueError:  # nor have arrays
        return False


def distinct_codes(values: AnyArray) -> Coded:
    """Find the distinct values by hashing."""
    table: defaultdict[Any, int] = defaultdict()
    table.default_factory = table.__len__
    codes = np.fromiter(map(table.__getitem__, values.tolist()), np.intp, len(values))
    distinct = np.empty(len(table), dtype=values.dtype)
    # Item by item, so that tuples do not become rows of an array.
    for code, value in enumerate(table):
        distinct[code] = value
    return Coded(codes, distinct)


def coded_column(values: Any) -> Coded | None:
    """Take the codes of a column of words or categories of pandas or polars."""
    if isinstance(values, Coded):
        return values
    library = type(values).__module__.partition(".")[0]
    if library == "pandas":
        if hasattr(values, "to_flat_index"):
            values = values.to_flat_index()  # several levels become tuples
        column = getattr(values, "array", values)
        dtype = getattr(column, "dtype", None)
        if dtype is None or dtype.kind != "O" or dtype.name == "object":
            return None  # objects are read from the array
        try:
            codes, distinct = column.factorize()
        except TypeError:  # values that cannot be hashed
            return None
    elif library == "polars":
        codes, distinct = _polars_codes(values, sys.modules[library])
    else:
        return None
    if codes is None or codes.ndim != 1 or not len(codes) or codes.min() < 0:
        return None
    return Coded(codes, np.asarray(distinct))


def _polars_codes(column: Any, polars: Any) -> tuple[Any, Any]:
    """Codes of a column of words or categories, and no codes where a value is missing."""
    kind = str(getattr(column, "dtype", ""))
    if not kind.startswith(("Categorical", "Enum", "String")) or column.null_count():
        return None, None
    if kind == "String":
        column = column.cast(polars.Categorical)
    distinct = column.unique()
    code_of = distinct.to_physical().to_numpy()
    place = np.zeros(int(code_of.max()) + 1 if len(code_of) else 0, dtype=np.intp)
    place[code_of] = np.arange(len(code_of))
    return place[column.to_physical().to_numpy()], np.asarray(distinct.to_list(), dtype=object)


class CheckedRows(NamedTuple):
    """Rows of positive weight, and their places in the input."""

    labels: AnyArray | Coded  # (n,): Not checked yet
    score: AnyArray | None
    weight: FloatArray | None  # (n,): Positive weights; None is 1 for each
    qid: AnyArray | Coded | None
    query_weight: FloatArray | None
    rows: IntArray | None
    n_columns: int | None  # Number of columns of two-dimensional input
    name: str  # Of the labels in messages

    @property
    def scores(self) -> AnyArray:
        if self.score is None:
            raise TypeError(f"y_score is None: pass one score for each label of {self.name}.")
        return self.score

    def where(self, index: int) -> str:
        """Name the place of a row in the input."""
        return _where(index, self.rows, self.n_columns)


def check_rows(
    labels: Any,
    y_score: Any,
    *,
    name: str = "y_true",
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    drop_queries_of_weight_0: bool = False,
) -> CheckedRows:
    """Check that labels, scores, ids and weights match, and drop rows of weight 0."""
    columns = {name: labels, "y_score": y_score, "qid": qid, "sample_weight": sample_weight}
    refuse_misread(**columns, query_weight=query_weight)
    coded = coded_column(labels)
    array = check_column(name, labels, (1, 2)) if coded is None else coded.codes
    shape = array.shape
    values: AnyArray | Coded = array.ravel() if coded is None else coded
    score = None if y_score is None else _match_scores(y_score, shape, name, values)
    if len(shape) == 2 and qid is not None:
        raise ValueError(
            f"qid is for one-dimensional {name}; in two dimensions every row is a list: leave it"
            " out."
        )
    weight = None if sample_weight is None else check_item_weights(sample_weight, shape, name)
    by_row = None if query_weight is None else _check_query_weights(query_weight, shape)
    n_columns = None
    if len(shape) == 2:
        n_columns = shape[1]
        qid = np.repeat(np.arange(shape[0]), n_columns)
    elif qid is not None:
        qid = check_qid(qid, shape[0])
    of_queries = by_row if drop_queries_of_weight_0 else None
    positive = rows = None
    for weights in (weight, of_queries):
        if weights is not None and not weights.all():
            positive = weights > 0 if positive is None else positive & (weights > 0)
    if n_columns is not None:
        positive = _present(values, n_columns, positive, name)
    if positive is not None:
        rows = np.flatnonzero(positive)
        if not len(rows):
            raise ValueError("No row has positive sample_weight and query_weight: give one both.")
        values, qid = values[rows], take(qid, rows)
        score, weight, by_row = take(score, rows), take(weight, rows), take(by_row, rows)
    if score is not None:
        score = _as_scores(score, rows, n_columns)
    return CheckedRows(values, score, weight, qid, by_row, rows, n_columns, name)


# Columns of ids or times.
MAY_BE_TIMES = ("qid", "groups", "strata", "by", "entered", "resolved", "horizon", "as_of")


def refuse_misread(**columns: Any) -> None:
    """Raise an error for columns of the same rows that would be misread without a word.

    These are masks, which NumPy drops, dates and complex numbers, which become other numbers, and
    columns of pandas with the same index in another order. Masked labels are missing ones. The
    columns of a design are columns of the same rows.
    """
    design = columns.pop("design", None)
    columns |= getattr(design, "__dict__", {})
    first: Any = None
    for name, values in columns.items():
        if values is None:
            continue
        if name not in ("y", "y_true"):
            refuse_mask(values, name)
        kind = getattr(getattr(values, "dtype", None), "kind", "")
        if kind == "c":
            raise ValueError(f"Complex data not supported: {name} is complex; pass real numbers.")
        if kind in ("m", "M") and name not in MAY_BE_TIMES:
            raise ValueError(
                f"{name} must be numeric, got dtype {values.dtype}: pass numbers, such as (dates -"
                " dates.min()) / np.timedelta64(1, 'D')."
            )
        if type(values).__module__.partition(".")[0] != "pandas" or not hasattr(values, "index"):
            continue
        index = values.index
        if first is None:
            first, first_index = name, index
        elif (
            len(index) == len(first_index)
            and index.nlevels == first_index.nlevels
            and not index.equals(first_index)
            and index.is_unique
            and first_index.is_unique
            and index.isin(first_index).all()
        ):
            raise ValueError(
                f"{name} has the index of {first} in another order, but rows go by position: pass"
                f" {name}.loc[{first}.index], or {name}.to_numpy() if their positions are right."
            )


def column_of(ranker: str) -> str:
    """Name of the scores of one of several rankers, or of the only one, which has no name."""
    return f"scores[{ranker!r}]" if ranker else "y_score"


@contextmanager
def naming(column: str, known: str = "y_score") -> Iterator[None]:
    """Call a column by its name where it fails a check that knows it by another."""
    try:
        yield
    except (TypeError, ValueError) as error:
        error.args = (str(error).replace(known, column),)
        raise


def take(values: Any, index: Any) -> Any:
    """Entries of an array; None of None."""
    return None if values is None else values[index]


def _match_scores(
    y_score: Any, shape: tuple[int, ...], name: str, labels: AnyArray | Coded | None = None
) -> AnyArray:
    """Scores of the same shape as the labels, in one dimension."""
    score = check_column("y_score", y_score, (1, 2))
    if score.ndim == 2 and len(shape) == 1 and labels is not None:
        label = np.asarray(labels)[0]
        if isinstance(label, str) and ">" in label:
            raise ValueError(
                f"{name} has orders of labels, such as {str(label)!r}: pass"
                f" sklearn_rank.preprocessing.label_grades({name}), one column for each label."
            )
    if score.shape != shape:
        instead = "one score for each label"
        if score.ndim != len(shape):
            instead += ", and ravel() columns"
        if score.shape == (*shape, 2):
            instead = "the probabilities of one class, predict_proba(X)[:, 1]"
        raise ValueError(f"{name} has shape {shape}, but y_score {score.shape}: pass {instead}.")
    return score.ravel()


def check_scores_of_rows(y_score: Any, shape: tuple[int, ...], rows: IntArray | None) -> AnyArray:
    """Check other scores of rows whose labels, ids and weights have been checked."""
    score = _match_scores(y_score, shape, "y_true")
    n_columns = shape[1] if len(shape) == 2 else None
    return _as_scores(score if rows is None else score[rows], rows, n_columns)


def _where(index: int, rows: IntArray | None, n_columns: int | None) -> str:
    row = index if rows is None else int(rows[index])
    if n_columns is None:
        return f"row {row}"
    return f"row {row // n_columns}, column {row % n_columns}"


def _present(
    labels: AnyArray | Coded, n_columns: int, positive: BoolArray | None, name: str
) -> BoolArray | None:
    """Mask of the entries of positive weight that have labels; None is all entries."""
    missing = are_missing(np.asarray(labels))
    if not missing.any():
        return positive
    positive = np.ones(len(missing), dtype=bool) if positive is None else positive
    present = positive & ~missing
    counts, has_labels = (x.reshape(-1, n_columns).any(axis=1) for x in (positive, present))
    if not np.array_equal(counts, has_labels):
        row = int(np.argmax(counts & ~has_labels))
        raise ValueError(f"{name} is NaN in all of row {row}, a list without items: remove it.")
    return present


def check_grades(checked: CheckedRows, lowest: float = 0.0) -> FloatArray:
    remedy = "pass grades, of two classes for example (labels == 'yes').astype(int)"
    grade = _as_float(np.asarray(checked.labels), checked.name, remedy)
    row = _first_outside(grade, lowest)
    if row is not None:
        if np.isnan(grade[row]):
            raise ValueError(missing_label(checked.name, checked.where(row)))
        bound = f" and at least {lowest:g}" if lowest > -np.inf else ""
        raise ValueError(
            f"{checked.name} has the relevance {grade[row]:g} at {checked.where(row)}:"
            f" relevance must be finite{bound}{_LABELS_FIRST * are_fractions(grade)}."
        )
    return grade


def check_scores(y_score: Any, *, name: str = "y_score") -> FloatArray:
    """Check scores that come without labels."""
    (score,) = check_samples(**{name: y_score})
    return score


def check_samples(**samples: Any) -> list[FloatArray]:
    """Check scores that come without labels, which stand in one ranking."""
    arrays = in_coarsest_type(*(check_column(name, x, (1,)) for name, x in samples.items()))
    scores = [_as_float(x, name) for x, name in zip(arrays, samples, strict=True)]
    for name, score in zip(samples, scores, strict=True):
        _refuse_nan(score, lambda row: f"row {row}", name)
    return scores


def in_coarsest_type(*parts: AnyArray) -> list[AnyArray]:
    """Parts of one ranking, numbers with a point in the coarsest of their types.

    In two types 0.1 is two numbers, and what is tied would not be. Integers are exact in each.
    """
    floats = {part.dtype for part in parts if part.dtype.kind == "f"}
    if len(floats) < 2:
        return list(parts)
    coarsest = min(floats, key=lambda dtype: dtype.itemsize)
    with np.errstate(over="ignore"):
        return [x.astype(coarsest, copy=False) if x.dtype in floats else x for x in parts]


def check_vector(
    name: str, values: Any, n: int | None = None, *, lowest: float = -np.inf
) -> FloatArray:
    """Check finite numbers, one for each row, as float64."""
    array = check_numbers(name, values)
    if n is not None and len(array) != n:
        raise ValueError(f"{name} has {len(array)} entries, but must have {n}.")
    row = _first_outside(array, lowest)
    if row is not None:
        bound = f" and at least {lowest:g}" if lowest > -np.inf else ""
        raise ValueError(f"{name} is {array[row]:g} at row {row}: it must be finite{bound}.")
    return array


def _first_outside(values: FloatArray, lowest: float) -> int | None:
    """The first entry that is not finite or below the lowest."""
    # NaN fails each comparison.
    if values.min() >= lowest and values.max() < np.inf and values.min() > -np.inf:
        return None
    return int(np.argmax(~(np.isfinite(values) & (values >= lowest))))


def check_positions(position: Any, n: int, *, name: str = "position") -> IntArray:
    values = check_vector(name, position, n)
    wrong = (values < 1) | (values != np.floor(values))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{name} is {values[row]:g} in row {row}, but must be a whole number of at least "
            "1, with 1 at the top: add 1 to positions that start at 0."
        )
    return values.astype(np.int64)


def check_propensities(propensity: Any, n: int, rows: IntArray | None = None) -> FloatArray:
    array = check_column("propensity", propensity, (0, 1))
    if array.shape != (n,):
        what = "is a single number" if array.ndim == 0 else f"has {len(array)} entries"
        raise ValueError(
            f"propensity {what} for {n} rows: pass one for each row; if you have one for each"
            " position 1, 2, ..., pass propensity[position - 1]."
        )
    values = _as_float(array, "propensity")
    values = values if rows is None else values[rows]
    bad = ~((values > 0) & (values <= 1))
    if not bad.any():
        return values
    index = int(np.argmax(bad))
    remedy = "remove rows that nobody could see, or find it from the position of the row"
    if values[index] > 1:
        remedy = "of inverse propensities pass 1 / propensity; divide estimates by the largest"
    raise ValueError(
        f"propensity is {values[index]:g} at {_where(index, rows, None)}, but must be a"
        f" probability in (0, 1]: {remedy}."
    )


def check_qid(qid: Any, n: int, *, name: str = "qid") -> AnyArray | Coded:
    coded = coded_column(qid)
    ids = check_column(name, qid, (0, 1)) if coded is None else coded.codes
    if ids.ndim == 0:
        if not is_number(ids.item()) or ids.item() != ids.item():
            column = repr(qid) if isinstance(qid, str) else "'query'"
            raise ValueError(
                f"{name} is {_describe(qid)}, not one id per row: pass a one-dimensional array,"
                f" such as {name}=frame[{column}]; if all rows are one list, leave {name} out or"
                f" pass {name}=0."
            )
        return np.broadcast_to(ids, (n,))
    if len(ids) != n:
        raise ValueError(
            f"{name} has {len(ids)} entries for {n} rows: pass one id per row. If these are the"
            f" sizes of consecutive groups, pass {name}=np.repeat(np.arange(len(sizes)), sizes)."
        )
    if coded is None and ids.dtype.kind == "O":
        coded = _code_objects(ids, name)
    if ids.dtype.kind in "cV":
        raise ValueError(f"{name} has dtype {ids.dtype}: pass integers or strings.")
    missing = are_missing(ids if coded is None else coded.distinct)
    if missing.any():
        row = int(np.argmax(missing if coded is None else missing[coded.codes]))
        raise ValueError(f"{name} is missing at row {row}: give the row an id or remove it.")
    if coded is None:
        refuse_rounded_ids(ids, name)
    else:
        refuse_rounded_ids(coded.distinct, name, lambda at: int(np.argmax(coded.codes == at)))
    return ids if coded is None else coded


def refuse_rounded_ids(ids: AnyArray, name: str, row_of: Callable[[int], int] = int) -> None:
    """Refuse floating-point ids so large that two different integers may have become one."""
    digits = 53
    if ids.dtype.kind == "f":
        digits = np.finfo(ids.dtype).nmant + 1
        bad = np.abs(ids) >= 2.0**digits
    elif ids.dtype.kind == "O":
        bad = np.array([isinstance(x, float) and abs(x) >= 2.0**53 for x in ids], dtype=bool)
    else:
        return
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"{name} is the {type(ids[at]).__name__} {ids[at]!s} at row {row_of(at)}, but from"
            f" 2**{digits} on such numbers cannot distinguish neighbouring integers, so that"
            " different ids become one: pass integers or strings, for example the column read"
            " with dtype=str or 'int64'."
        )


def _code_objects(values: AnyArray, name: str) -> Coded:
    try:
        return distinct_codes(values)
    except TypeError:
        raise ValueError(
            f"{name} has unhashable values, such as lists: pass numbers or strings."
        ) from None


def _describe(values: Any) -> str:
    """Show a number, or the type of a value that is no array."""
    if np.ndim(values) == 0 and np.asarray(values).dtype.kind != "O":
        return repr(values)
    return f"a {type(values).__name__}"


def are_usual_labels(labels: AnyArray) -> bool:
    """Whether labels are among 0 and 1 or among -1 and 1, so that 1 is the positive class."""
    return _usual_positive(plain_numbers(labels)) is not None


def _usual_positive(labels: AnyArray) -> BoolArray | None:
    """Which labels are 1, if they are numbers among 0 and 1 or among -1 and 1; else None."""
    if labels.dtype.kind not in "biuf":
        return None
    positive = np.asarray(labels == 1, dtype=bool)
    n_pos = np.count_nonzero(positive)
    # The others are all 0, or all -1: found without a sort.
    usual = np.count_nonzero(labels) == n_pos or (
        np.count_nonzero(labels == -1) == len(labels) - n_pos
    )
    return positive if usual else None


def codes_of_missing(labels: Any) -> list[float]:
    """Numbers beside 0 and 1 that may mark labels which are not known, if all others are such.

    These are negative whole numbers, except in -1 and 1, and 9, 99, 999 and 9999.
    """
    values = plain_numbers(np.asarray(labels))
    if values.dtype.kind not in "iuf":
        return []
    others = values[(values != 0) & (values != 1) & (values == values)]
    if not 0 < len(others) < len(values) or not _may_mark(others[0]):
        return []
    codes: list[float] = np.unique(others).tolist()
    usual = codes == [-1] and not (values == 0).any()
    return [] if usual or not all(map(_may_mark, codes)) else codes


def _may_mark(label: float) -> bool:
    return label in (9, 99, 999, 9999) or (-inf < label < 0 and label == round(label))


def class_among(classes: AnyArray, pos_label: Any, what: str) -> Any:
    """Find the class that an argument names as the positive one."""
    if np.ndim(pos_label) == 0:
        for label in classes:
            if label == pos_label:
                return label
    raise ValueError(
        f"pos_label={pos_label!r} is not among the {what}, {_listed(classes)}: pass one of them."
    )


def check_positive(checked: CheckedRows, pos_label: Any = None) -> BoolArray:
    """Check that labels are of two classes, and find the rows of the positive one."""
    labels = checked.labels
    if not isinstance(labels, Coded):
        if labels.dtype.kind not in "OSU":
            return _positive_among(labels, checked.name, pos_label, checked.where)
        labels = _code_objects(labels, checked.name)
    labels = labels.used()
    codes = labels.codes

    def where(label: int) -> str:
        return checked.where(int(np.argmax(codes == label)))

    sizes = np.bincount(codes)
    return _positive_among(labels.distinct, checked.name, pos_label, where, sizes)[codes]


_LABELS_FIRST = "; of labels and scores the labels come first"


def are_fractions(labels: AnyArray) -> bool:
    """Whether labels are hardly such, since some are no whole numbers."""
    return labels.dtype.kind == "f" and bool(np.any(labels != np.round(labels)))


def _positive_among(
    labels: AnyArray,
    name: str,
    pos_label: Any,
    where: Callable[[int], str],
    sizes: Any = 1,
) -> BoolArray:
    """Which labels, of so many rows each, are positive, if they are of two classes."""
    positive = None if pos_label is not None else _usual_positive(labels)
    if positive is not None:
        return positive
    missing = are_missing(labels)
    if missing.any():
        raise ValueError(missing_label(name, where(int(np.argmax(missing)))))
    labels = plain_numbers(labels)
    try:
        classes = np.unique(labels)
    except TypeError:
        raise ValueError(
            f"{name} mixes labels of different types: make them all numbers or all strings."
        ) from None
    if len(classes) > 2:
        refuse_marks(classes, name)
        raise ValueError(
            f"{name} has {len(classes)} classes ({_listed(classes)}), but this measure is for two:"
            f" pass ({name} == c) for a class c, or ({name} >= c) for grades"
            f"{_LABELS_FIRST * are_fractions(classes)}."
        )
    if pos_label is None:
        if not are_usual_labels(classes):
            rare = min(classes[::-1], key=lambda label: np.sum((labels == label) * sizes))
            raise ValueError(
                f"{name} takes value in {{{_listed(classes)}}} and pos_label is not specified:"
                f" either make {name} take value in {{0, 1}} or {{-1, 1}} or pass pos_label"
                f" explicitly, such as pos_label={_listed([rare])}."
            )
        pos_label = 1
    elif len(classes) == 2:
        pos_label = class_among(classes, pos_label, f"labels of {name}")
    return np.asarray(labels == pos_label, dtype=bool)


# Marks of missing cells in small letters, as R, SQL, Hive, Excel, SAS and pandas write them.
MARKS = ("", "na", "n/a", "#n/a", "<na>", "null", r"\n", "none", "nan", "?", ".")

# Why rows with missing labels must be neither removed nor filled in.
KNOWN_IN_PART = (
    "so labels are known in part: removing such rows or counting them as 0 biases the AUC and the"
    " precision at the top unless the rows with labels are a random sample, and measures of the"
    " first k even then; pass all rows and design=, a LabelDesign, to metric_interval, compare,"
    " curve or cross_val_interval, and to fits and scorers"
    " the rows with labels, with sample_weight=design.sample_weight(y) of these"
)


def refuse_marks(labels: Any, name: str) -> None:
    """Raise an error for values that may mark rows without a label, beside two classes."""
    values = as_array(labels)
    marks: list[Any] = codes_of_missing(values)
    if not marks and values.dtype.kind in "OSU":
        distinct = {str(label): label for label in values.ravel().tolist()}
        texts = [text for text in distinct if isinstance(distinct[text], str)]
        marks = [text for text in texts if text.strip().lower() in MARKS]
        marks = marks if len(marks) == 1 and len(distinct) == 3 else []
    if marks:
        raise ValueError(
            f"{name} has {_listed(np.array(marks, dtype=object))} beside two classes: if that"
            f" marks rows without a label, pass NaN there, {KNOWN_IN_PART}; if these are grades,"
            f" pass them as 0, 1, 2, ..., np.unique({name}, return_inverse=True)[1]."
        )


def hint_of_adaboost(total: float) -> str:
    """Hint for a message on weights, if they may come from AdaBoostClassifier."""
    if abs(total - 1.0) > 1e-6:
        return ""
    return (
        " AdaBoostClassifier passes weights of sum 1: use BaggingClassifier(...) for rankers of"
        " two classes, RankEnsemble(...) for those of queries."
    )


def missing_label(name: str, where: str) -> str:
    return f"{name} has a missing label at {where} (NaN or None), {KNOWN_IN_PART}."


def refuse_missing_labels(labels: Any, name: str = "y", weight: Any = None) -> None:
    """Raise an error for masked labels and rows of positive weight without a label."""
    refuse_mask(labels, name)
    if coded_column(labels) is not None:  # which has no missing value
        return
    try:
        array = as_array(labels)
    except ValueError:  # of different lengths: refused where they are read
        return
    missing = are_missing(array.ravel()).reshape(array.shape)
    rows = missing.any(axis=tuple(range(1, missing.ndim))) if missing.ndim else missing
    if weight is not None:
        rows &= np.asarray(weight).ravel() > 0
    if rows.any():
        raise ValueError(missing_label(name, f"row {int(np.argmax(rows))}"))


def refuse_mask(values: Any, name: str, instead: str = "") -> None:
    """Raise an error for masked values, because NumPy would drop the mask."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        instead = instead or (
            "pass the rows without masked values, such as"
            f" np.asarray({name})[~np.ma.getmaskarray({name})]"
        )
        raise ValueError(f"{name} has masked values, and their mask would be ignored: {instead}.")


def labels_of_fit(y: Any) -> Any:
    """Labels, none of them missing: numbers that came as objects as an array of numbers."""
    refuse_missing_labels(y)
    try:
        array = as_array(y)
    except ValueError:
        raise ValueError("y has rows of different lengths: pass one label per row.") from None
    if array.dtype.kind == "V":
        raise ValueError(f"y has dtype {array.dtype}: pass numbers or strings.")
    plain = _hashable_labels(array, "y")
    # NumPy would give each text of a list the bytes of the longest.
    return y if plain is array and not isinstance(y, list | tuple) else plain


def refuse_words(y: AnyArray) -> None:
    if y.dtype.kind not in "biuf":
        raise ValueError(
            f"y must be numeric relevance, got dtype {y.dtype}: pass grades, such as (y == "
            "'yes').astype(int) for two classes."
        )


def validate_data(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """Call scikit-learn's function after checks of masks and missing labels."""
    refuse_misread(X=X, y=y)
    if not (y is None or isinstance(y, str)):
        y = labels_of_fit(y)
        if options.get("y_numeric"):
            refuse_words(np.asarray(y))
    try:
        return validation.validate_data(estimator, X, y, **options)
    except ValueError as error:
        if hasattr(X, "columns") and "could not convert string to float" in str(error):
            raise ValueError(
                f"X has a column of words or categories ({error}), but {type(estimator).__name__}"
                " takes numbers: encode it, such as make_pipeline(make_column_transformer("
                "(OneHotEncoder(), ['column']), remainder='passthrough'), ranker)."
            ) from None
        raise


def ravelled(values: Any, name: str) -> Any:
    """Take a column for a vector, with a warning; leave all else as it is."""
    if type(values) is not np.ndarray:
        refuse_collections(**{name: values})
        refuse_mask(values, name)
    shape = shape_of(values, ragged=())  # refused where it is read
    if len(shape) != 2 or shape[1] != 1:
        return values
    warn(
        f"{name} is a column, of shape {shape}, and was read as one dimension: pass"
        f" np.ravel({name}). (One list per row takes two columns or more.)",
        DataConversionWarning,
    )
    return np.asarray(values).ravel()


def as_array(values: Any) -> AnyArray:
    """Make an array, one of objects if there are words, or integers that would be rounded.

    NumPy would take the bytes of the longest for each, and make words of numbers beside them.
    """
    if not isinstance(values, list | tuple):
        return np.asarray(values)
    if {str, bytes, np.str_} & set(map(type, values)):
        return np.array(values, dtype=object)
    array = np.asarray(values)
    return np.asarray(values, dtype=object) if _may_be_rounded(array) else array


# Columns of a document in frames: ours and those of PyTerrier, ir_datasets, ranx and BEIR.
DOCUMENTS = ("docno", "doc_id", "docid", "document_id", "corpus-id", "document")


def is_file(source: Any) -> bool:
    return isinstance(source, str | os.PathLike) or hasattr(source, "read")


def column_names(source: Any) -> list[str] | None:
    """Names of the columns of a frame, or of a mapping of columns with documents."""
    if isinstance(source, Mapping):
        of_entries = any(isinstance(x, Mapping) for x in source.values())
        return None if of_entries or not set(source) & set(DOCUMENTS) else list(source)
    names = getattr(source, "column_names", getattr(source, "columns", None))
    return None if names is None else list(names)


def are_judgments(y_true: Any, scores: Any = None, of_each: bool = False) -> bool:
    """Whether labels are judgments by query; a mapping may have those ``of_each`` ranker."""
    if isinstance(y_true, np.ndarray):
        return False
    columns = column_names(y_true)
    if is_file(y_true) or {*map(str, columns or ())} & set(DOCUMENTS):
        return True
    runs = list(scores.values()) if isinstance(scores, Mapping) else []
    if not isinstance(y_true, Mapping) or columns:
        # An array of labels would not be rows of judgments, whatever the scores are.
        may_be = not hasattr(y_true, "dtype") and any(isinstance(x, Mapping) for x in runs)
        return may_be or _are_tuples(y_true)
    if not of_each or any(isinstance(x, Mapping | set | frozenset) for x in y_true.values()):
        return True
    return any(
        isinstance(x, Mapping)
        or is_file(x)
        or (isinstance(x, list | tuple) and x and isinstance(x[0], str | tuple))
        or not set(column_names(x) or ()).isdisjoint(DOCUMENTS)
        for x in runs
    )


def _are_tuples(rows: Any) -> bool:
    """Whether rows are an iterator, or tuples (text, document, number), as labels never are."""
    first: Any = rows[0] if isinstance(rows, list | tuple) and rows else ()
    is_row = isinstance(first, list | tuple) and len(first) > 2 and isinstance(first[0], str)
    return hasattr(rows, "__next__") or (is_row and is_number(first[2]))


def refuse_beside_judgments(**columns: Any) -> None:
    for name, column in columns.items():
        if column is not None:
            raise TypeError(f"{name} is for rows, but y_true has judgments: leave {name} out.")


def shape_of(values: Any, ragged: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """Shape of an array; what is said of rows of different lengths, or an error."""
    try:
        # An attribute, as not every array takes functions of NumPy.
        shape: tuple[int, ...] = (values if hasattr(values, "shape") else as_array(values)).shape
        return shape
    except ValueError:
        if ragged is None:
            raise ValueError("Rows are of different lengths: pass one value per row.") from None
        return ragged


def array_of_labels(labels: Any, name: str = "y_true") -> AnyArray:
    """Labels of rows: numbers, NaN where missing, or words; a masked label is missing."""
    if isinstance(labels, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(labels)
        labels = labels.data.astype(object)
        labels[masked] = None
    return _hashable_labels(check_column(name, labels, (1, 2)), name)


def _hashable_labels(labels: AnyArray, name: str) -> AnyArray:
    plain = plain_numbers(labels)
    if plain.dtype.kind == "O":
        _code_objects(plain.ravel(), name)  # refuses arrays and lists
    return plain


def check_numbers(name: str, values: Any) -> FloatArray:
    """Check that there is one number for each row, which may be missing or infinite."""
    return _as_float(check_column(name, values), name)


def check_sample_weight(sample_weight: Any, X: Any, *, name: str = "sample_weight") -> Any:
    """As scikit-learn's private function, which knows weights of no other name."""
    n = num_samples(X)
    if sample_weight is None:
        return np.ones(n)
    if is_number(sample_weight):
        sample_weight = np.full(n, sample_weight)
    array = check_column(name, sample_weight)
    if array.shape != (n,):
        raise ValueError(
            f"{name}.shape == {array.shape}, expected {(n,)}: pass one weight for each row."
        )
    weight = _finite_weights(array, name)
    if not weight.any():
        raise ValueError(f"{name} must contain at least one non-zero number.")
    return weight


def check_column(name: str, values: Any, dimensions: tuple[int, ...] = (1,)) -> AnyArray:
    """Make an array of a column, or of several, of any type."""
    if type(values) is not np.ndarray:
        refuse_collections(**{name: values})
        refuse_mask(values, name)
    try:
        array = as_array(values)
    except ValueError:
        raise ValueError(
            f"{name} has rows of different lengths: pass one-dimensional arrays and qid, the id of"
            " the list of each item."
        ) from None
    array = ravelled(array, name)
    if array.ndim not in dimensions:
        if array.ndim == 0:
            raise ValueError(f"{name} is {_describe(values)}: pass an array of one entry per row.")
        expected = "one-dimensional: pass one column"
        if 2 in dimensions:
            expected = "one- or two-dimensional"
        raise ValueError(f"{name} has shape {array.shape}, but must be {expected}.")
    if array.size == 0:
        raise ValueError(f"{name} is empty: pass at least one item.")
    return array


def _as_float(array: AnyArray, name: str, remedy: str = "pass numbers") -> FloatArray:
    if (
        array.dtype.kind in "iu"
        and array.dtype.itemsize == 8
        and (array.max() > MAX_EXACT_INT or array.min() < -MAX_EXACT_INT)
    ):
        raise ValueError(
            f"{name} has integers beyond 2**53, which float64 cannot distinguish: subtract a"
            " constant first."
        )
    # astype would also read strings as numbers, dates as counts, and drop imaginary parts.
    kind = array.dtype.kind
    cells = array.ravel().tolist() if kind in "OUS" else []
    words = [x for x in cells if isinstance(x, str | bytes)]
    numeric = kind in "biuf" or (kind == "O" and not words)
    pair = None
    try:
        if numeric and kind == "O":
            plain = [np.nan if is_missing(value) else value for value in array.flat]
            result = np.array(plain, dtype=np.float64).reshape(array.shape)
            pair = _find_rounded_pair(plain, result)
        elif numeric:
            with np.errstate(over="ignore"):
                result = array.astype(np.float64, copy=False)
            if array.dtype.itemsize > 8:
                pair = _find_rounded_pair(array.ravel(), result)
    except OverflowError:
        raise ValueError(
            f"{name} has a number beyond 1.8e308, the largest of float64: scale the numbers."
        ) from None
    except (TypeError, ValueError):
        numeric = False
    if not numeric:
        got = f"words such as {shown(words[0])}" if words else f"dtype {array.dtype}"
        remedy = COMMAS if words and has_commas(words[0]) else remedy
        raise ValueError(f"{name} must be numeric, got {got}: {remedy}.")
    if pair is not None:
        raise ValueError(
            f"{name} has the different numbers {pair[0]} and {pair[1]}, which float64 cannot"
            " distinguish: subtract a constant first, or pass ranks."
        )
    return result


def _may_be_rounded(array: AnyArray) -> bool:
    """Whether integers may have been rounded where NumPy joined them with other numbers."""
    if array.dtype.kind != "f" or array.dtype.itemsize < 8:
        return False
    size = np.abs(array)
    return bool(np.any((size >= MAX_EXACT_INT) & (size < np.inf)))


def _find_rounded_pair(exact: Any, rounded: FloatArray) -> tuple[Any, Any] | None:
    """Two different numbers that are one in float64, if there are such."""
    pairs = list(zip(rounded.ravel().tolist(), exact, strict=True))
    if all(number == value or number != number for number, value in pairs):
        return None
    known: dict[float, Any] = {}
    for number, value in pairs:
        if number == number and known.setdefault(number, value) != value:
            return known[number], value
    return None


def _as_scores(array: AnyArray, rows: IntArray | None, n_columns: int | None) -> AnyArray:
    """Scores in the type in which they came, where float64 has the same order of them."""
    is_float = array.dtype.kind == "f" and array.dtype.itemsize <= 8
    if is_float or (array.dtype.kind in "iu" and array.dtype.itemsize <= 4):
        score = array.astype(array.dtype.newbyteorder("="), copy=False)
    else:
        score = _as_float(array, "y_score")
    _refuse_nan(score, lambda index: _where(index, rows, n_columns))
    return score


def _refuse_nan(score: AnyArray, where: Any, name: str = "y_score") -> None:
    if score.dtype.kind == "f" and np.isnan(score.min()):
        row = int(np.argmax(np.isnan(score)))
        raise ValueError(f"{name} is NaN at {where(row)}: give a score or remove the row.")


def check_item_weights(sample_weight: Any, shape: tuple[int, ...], name: str) -> FloatArray:
    """Check weights of items: finite, at least 0 and not all 0."""
    array = check_column("sample_weight", sample_weight, (1, 2))
    if array.shape != shape:
        raise ValueError(
            f"sample_weight has shape {array.shape}, but {name} {shape}: pass one weight for each"
            " item; to weight whole lists pass query_weight."
        )
    weight = _finite_weights(array.ravel(), "sample_weight")
    if not weight.any():
        raise ValueError("sample_weight is zero for all items: give one item a positive weight.")
    return weight


def _check_query_weights(query_weight: Any, shape: tuple[int, ...]) -> FloatArray:
    array = check_column("query_weight", query_weight, (1,))
    if len(array) != shape[0]:
        each = "list" if len(shape) == 2 else "row, that of its query"
        raise ValueError(
            f"query_weight has {len(array)} entries for {shape[0]} {each.partition(',')[0]}s: pass"
            f" one for each {each}, such as query_weight[np.unique(qid, return_inverse=True)[1]]."
        )
    weight = _finite_weights(array, "query_weight")
    return np.repeat(weight, shape[1]) if len(shape) == 2 else weight


def _finite_weights(array: AnyArray, name: str) -> FloatArray:
    weight = check_vector(name, array, lowest=0.0)
    with np.errstate(over="ignore"):
        total = weight.sum()
    smallest = np.min(weight, where=weight > 0, initial=np.inf)
    if total > MAX_WEIGHT_SUM or smallest < 1 / MAX_WEIGHT_SUM:
        raise ValueError(
            f"{name} must sum to at most {MAX_WEIGHT_SUM:g}, and positive weights be at least"
            f" {1 / MAX_WEIGHT_SUM:g}, or their products overflow float64: scale them."
        )
    return weight


def plain_numbers(values: AnyArray) -> AnyArray:
    """Numbers of any type that came as Python objects, with NaN where they are missing.

    Other values, and numbers that float64 cannot hold, stay as they are.
    """
    if values.dtype.kind != "O":
        return values
    numbers: list[Any] = []
    for value in values.flat:
        if not isinstance(value, Real | Decimal | np.bool_):
            if not is_missing(value):
                return values
            value = nan
        numbers.append(value)
    plain = np.array(numbers)
    try:
        plain = plain if plain.dtype.kind in "biuf" else plain.astype(np.float64)
    except (OverflowError, ValueError):
        return values
    return values if _may_be_rounded(plain) else plain.reshape(values.shape)


def are_missing(labels: AnyArray) -> BoolArray:
    """Which labels are None or NaN: the values that do not equal themselves, and None."""
    if labels.dtype.kind == "O":
        return np.array([is_missing(label) for label in labels], dtype=bool)
    if labels.dtype.kind in "biu":
        return np.zeros(len(labels), dtype=bool)
    return np.asarray(labels != labels, dtype=bool)


def _listed(classes: Any) -> str:
    values = [x.item() if isinstance(x, np.generic) else x for x in classes[:5]]
    return ", ".join(map(shown, values)) + (", ..." if len(classes) > 5 else "")
