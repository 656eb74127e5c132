"""Anything array-like in; canonical arrays out, or one error that says what is wrong where.

Rows of weight 0 are absent: their labels and scores are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = [
    "BinaryScores",
    "GradedScores",
    "check_binary_scores",
    "check_graded_scores",
    "check_qid",
    "check_scores",
]

# Beyond it float64 no longer tells neighbouring integers apart: different scores would tie.
LARGEST_EXACT_INTEGER = 2**53

# The product of two weights must neither overflow nor vanish.
LARGEST_WEIGHT = 1e150


@dataclass(frozen=True, eq=False)
class Scores:
    """Scored items of one or more lists, those of weight 0 removed.

    Parameters
    ----------
    score : ndarray of shape (n,)
        Scores without NaN.
    weight : ndarray of shape (n,) or None
        Positive weights; None is 1 for each.
    qid : ndarray of shape (n,) or None
        Id of the list of each item, none missing; None is one list.
    query_weight : ndarray of shape (n,) or None
        Non-negative weight of the list of each item, as given; None is 1 for each.
    """

    score: FloatArray
    weight: FloatArray | None
    qid: AnyArray | None
    query_weight: FloatArray | None


@dataclass(frozen=True, eq=False)
class BinaryScores(Scores):
    """Scored items of two classes, those of weight 0 removed.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
        Whether each item is positive.
    """

    positive: BoolArray


@dataclass(frozen=True, eq=False)
class GradedScores(Scores):
    """Scored items with relevance grades, those of weight 0 removed.

    Parameters
    ----------
    grade : ndarray of shape (n,)
        Finite relevance.
    """

    grade: FloatArray


def check_binary_scores(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    qid: Any = None,
    query_weight: Any = None,
) -> BinaryScores:
    """Check labels of two classes, their scores and weights.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_lists, n_items)
        Labels of one or two classes; in two dimensions one list per row.
    y_score : array-like of the same shape
        Scores.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights.
    pos_label : int, float, bool or str, default=None
        The positive class; None where the labels are among 0 and 1 or among -1 and 1, then 1.
    qid : array-like of shape (n,), default=None
        Id of the list of each item.
    query_weight : array-like of shape (n,) or (n_lists,), default=None
        Non-negative weight of the list of each item; one per row of two dimensions.

    Returns
    -------
    BinaryScores
        Canonical arrays.
    """
    kept = _kept_rows(y_true, y_score, sample_weight, qid, query_weight)
    return BinaryScores(positive=_positive(kept, pos_label), **kept.arrays)


def check_graded_scores(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    qid: Any = None,
    query_weight: Any = None,
    lowest: float = 0.0,
) -> GradedScores:
    """Check relevance grades, their scores and weights.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_lists, n_items)
        Relevance, finite and at least ``lowest``; in two dimensions one list per row.
    y_score : array-like of the same shape
        Scores.
    sample_weight : array-like of the same shape, default=None
        Non-negative weights.
    pos_label : int, float, bool or str, default=None
        Where given, ``y_true`` holds labels of two classes: this one has relevance 1, the other 0.
    qid : array-like of shape (n,), default=None
        Id of the list of each item.
    query_weight : array-like of shape (n,) or (n_lists,), default=None
        Non-negative weight of the list of each item; one per row of two dimensions.
    lowest : float, default=0
        Smallest relevance that is allowed.

    Returns
    -------
    GradedScores
        Canonical arrays.
    """
    kept = _kept_rows(y_true, y_score, sample_weight, qid, query_weight)
    if pos_label is not None:
        grade = _positive(kept, pos_label).astype(np.float64)
    else:
        grade = _as_float(kept.labels, "y_true")
        # NaN fails each comparison.
        if not (grade.min() >= lowest and grade.max() < np.inf and grade.min() > -np.inf):
            first = int(np.argmax(~(np.isfinite(grade) & (grade >= lowest))))
            bound = f" and at least {lowest:g}" if lowest > -np.inf else ""
            raise ValueError(
                f"y_true has the relevance {grade[first]:g} at {kept.where(first)}: relevance must"
                f" be finite{bound}."
            )
    return GradedScores(grade=grade, **kept.arrays)


def check_scores(y_score: Any) -> FloatArray:
    """Check scores that come without labels.

    Parameters
    ----------
    y_score : array-like of shape (n,)
        Scores.

    Returns
    -------
    ndarray of shape (n,)
        Scores without NaN.
    """
    score = _as_float(_array(y_score, "y_score", (1,)), "y_score")
    _refuse_nan(score, lambda row: f"row {row}")
    return score


def check_qid(qid: Any, n: int) -> AnyArray:
    """Check the ids of the lists of rows.

    Parameters
    ----------
    qid : array-like of shape (n,)
        One id per row, of any type that can be sorted.
    n : int
        Number of rows.

    Returns
    -------
    ndarray of shape (n,)
        Ids, none of them missing.
    """
    ids = _array(qid, "qid", (0, 1))
    if ids.ndim == 0:
        return np.broadcast_to(ids, (n,))
    if len(ids) != n:
        raise ValueError(
            f"qid has {len(ids)} entries for {n} rows: pass one id per row. If these are the sizes"
            " of consecutive groups, pass qid=np.repeat(np.arange(len(sizes)), sizes)."
        )
    missing = _missing(ids)
    if missing.any():
        raise ValueError(
            f"qid is missing at row {int(np.argmax(missing))}: give the row an id or remove it."
        )
    return ids


@dataclass(frozen=True, eq=False)
class _Kept:
    """Rows of positive weight, and where they stood in what was passed."""

    labels: AnyArray
    arrays: dict[str, Any]
    rows: IntArray | None
    n_columns: int | None

    def where(self, index: int) -> str:
        row = index if self.rows is None else int(self.rows[index])
        return _place(row, self.n_columns)


def _kept_rows(
    y_true: Any, y_score: Any, sample_weight: Any, qid: Any, query_weight: Any
) -> _Kept:
    labels = _array(y_true, "y_true", (1, 2))
    score = _array(y_score, "y_score", (1, 2))
    if labels.ndim == 2 or score.ndim == 2:
        if labels.shape != score.shape:
            raise ValueError(
                f"y_true has shape {labels.shape} and y_score {score.shape}: pass one score for"
                " each label."
            )
        if qid is not None:
            raise ValueError(
                "qid is for one-dimensional y_true and y_score; in two dimensions every row is a"
                " list: leave it out."
            )
    elif len(score) != len(labels):
        raise ValueError(
            f"y_true has {len(labels)} items and y_score {len(score)}: pass one score for each"
            " label."
        )
    shape = labels.shape
    weight = None if sample_weight is None else _check_weights(sample_weight, shape)
    by_row = None if query_weight is None else _check_query_weights(query_weight, shape)
    n_columns = None
    if len(shape) == 2:
        n_columns = shape[1]
        qid = np.repeat(np.arange(shape[0]), n_columns)
        labels, score = labels.ravel(), score.ravel()
    elif qid is not None:
        qid = check_qid(qid, shape[0])
    rows = None
    if weight is not None and not weight.all():
        rows = np.flatnonzero(weight)
        labels, score, weight = labels[rows], score[rows], weight[rows]
        qid = None if qid is None else qid[rows]
        by_row = None if by_row is None else by_row[rows]
    score = _as_float(score, "y_score")
    arrays = {"score": score, "weight": weight, "qid": qid, "query_weight": by_row}
    kept = _Kept(labels=labels, arrays=arrays, rows=rows, n_columns=n_columns)
    _refuse_nan(score, kept.where)
    return kept


def _positive(kept: _Kept, pos_label: Any) -> BoolArray:
    """Which rows are of the positive class."""
    labels = kept.labels
    if pos_label is None and labels.dtype.kind in "biuf":
        positive = np.asarray(labels == 1, dtype=bool)
        n_pos = np.count_nonzero(positive)
        # The usual labels, found without a sort: the others are all 0, or all -1.
        if np.count_nonzero(labels) == n_pos or np.count_nonzero(labels == -1) == (
            len(labels) - n_pos
        ):
            return positive
    missing = _missing(labels)
    if missing.any():
        raise ValueError(
            f"y_true has a missing label at {kept.where(int(np.argmax(missing)))}: remove the row"
            " or give it a label."
        )
    labels = _plain(labels)
    try:
        classes = np.unique(labels)
    except TypeError:
        raise ValueError(
            "y_true mixes labels of different types: make them all numbers or all strings."
        ) from None
    if len(classes) > 2:
        raise ValueError(
            f"y_true has {len(classes)} classes ({_listed(classes)}), but this measure is for"
            " two: pass (y_true == c) for one class c against the rest, or (y_true >= c) for"
            " grades."
        )
    if pos_label is None:
        if labels.dtype.kind not in "biuf" or not (
            np.isin(classes, [0, 1]).all() or np.isin(classes, [-1, 1]).all()
        ):
            raise ValueError(
                f"y_true takes value in {{{_listed(classes)}}} and pos_label is not specified:"
                " either make y_true take value in {0, 1} or {-1, 1} or pass pos_label"
                " explicitly."
            )
        pos_label = 1
    elif len(classes) == 2 and pos_label not in classes.tolist():
        raise ValueError(
            f"pos_label={pos_label!r} is not among the labels of y_true, {_listed(classes)}: pass"
            " one of them."
        )
    return np.asarray(labels == pos_label, dtype=bool)


def _array(values: Any, name: str, dimensions: tuple[int, ...]) -> AnyArray:
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked values: remove their rows.")
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{name} has rows of different lengths: pass one-dimensional arrays and qid, the id of"
            " the list of each item."
        ) from None
    if array.ndim not in dimensions:
        wanted = "one-dimensional" if 2 not in dimensions else "one- or two-dimensional"
        raise ValueError(f"{name} has shape {array.shape}, but must be {wanted}.")
    if array.size == 0:
        raise ValueError(f"{name} is empty: pass at least one item.")
    return array


def _as_float(array: AnyArray, name: str) -> FloatArray:
    if (
        array.dtype.kind in "iu"
        and array.dtype.itemsize == 8
        and (array.max() > LARGEST_EXACT_INTEGER or array.min() < -LARGEST_EXACT_INTEGER)
    ):
        raise ValueError(
            f"{name} has integers beyond 2**53, which float64 cannot tell apart: subtract a"
            " constant first."
        )
    # astype would also read strings as numbers, dates as counts, and drop imaginary parts.
    numeric = array.dtype.kind in "biuf" or (
        array.dtype.kind == "O" and not any(isinstance(x, str | bytes) for x in array.flat)
    )
    try:
        if numeric and array.dtype.kind == "O":
            plain = [np.nan if _is_missing(value) else value for value in array.flat]
            return np.array(plain, dtype=np.float64).reshape(array.shape)
        if numeric:
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name} must be numeric, got dtype {array.dtype}.")


def _refuse_nan(score: FloatArray, where: Any) -> None:
    if np.isnan(score.min()):
        row = int(np.argmax(np.isnan(score)))
        raise ValueError(
            f"y_score is NaN at {where(row)}: a missing score has no place in a ranking; give it"
            " one or remove the row."
        )


def _check_weights(sample_weight: Any, shape: tuple[int, ...]) -> FloatArray:
    array = _array(sample_weight, "sample_weight", (1, 2))
    if array.shape != shape:
        if len(shape) == 1 and array.ndim == 1:
            raise ValueError(
                f"y_true has {shape[0]} items and sample_weight {len(array)}: pass one weight for"
                " each."
            )
        raise ValueError(
            f"sample_weight has shape {array.shape} and y_true {shape}: pass one weight for each"
            " item; weights of whole lists are query_weight."
        )
    weight = _finite_weights(array.ravel(), "sample_weight")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if total == 0:
        raise ValueError("sample_weight is zero everywhere: at least one item must count.")
    if total > LARGEST_WEIGHT or weight[weight > 0].min() < 1 / LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight must sum to at most {LARGEST_WEIGHT:g}, and positive weights be at"
            f" least {1 / LARGEST_WEIGHT:g}: weights of pairs are products; scale them."
        )
    return weight


def _check_query_weights(query_weight: Any, shape: tuple[int, ...]) -> FloatArray:
    array = _array(query_weight, "query_weight", (1,))
    if len(array) != shape[0]:
        if len(shape) == 2:
            raise ValueError(
                f"query_weight has {len(array)} entries for {shape[0]} lists: pass one for each."
            )
        raise ValueError(
            f"query_weight has {len(array)} entries for {shape[0]} rows: pass the weight of the"
            " query of each row, for example"
            " query_weight[np.unique(qid, return_inverse=True)[1]]."
        )
    weight = _finite_weights(array, "query_weight")
    return np.repeat(weight, shape[1]) if len(shape) == 2 else weight


def _finite_weights(array: AnyArray, name: str) -> FloatArray:
    weight = _as_float(array, name)
    if not (weight.min() >= 0 and weight.max() < np.inf):
        row = int(np.argmax(~(np.isfinite(weight) & (weight >= 0))))
        raise ValueError(
            f"{name} is {weight[row]:g} at row {row}: weights must be finite and at least 0."
        )
    return weight


def _place(row: int, n_columns: int | None) -> str:
    if n_columns is None:
        return f"row {row}"
    return f"row {row // n_columns}, column {row % n_columns}"


def _plain(labels: AnyArray) -> AnyArray:
    """Numbers that came as Python objects, as from pandas, as an array of numbers."""
    if labels.dtype.kind != "O" or any(isinstance(label, str) for label in labels):
        return labels
    plain = np.array(labels.tolist())
    return plain if plain.dtype.kind in "biuf" else labels


def _missing(labels: AnyArray) -> BoolArray:
    """Which labels are None or NaN: the values that do not equal themselves, and None."""
    if labels.dtype.kind == "O":
        return np.array([_is_missing(label) for label in labels], dtype=bool)
    if labels.dtype.kind in "biu":
        return np.zeros(0, dtype=bool)
    return np.asarray(labels != labels, dtype=bool)


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA says neither yes nor no
        return True


def _listed(classes: Any) -> str:
    shown = ", ".join(repr(label) for label in classes[:5].tolist())
    return shown + (", ..." if len(classes) > 5 else "")
