"""Anything array-like in; canonical arrays out, or one error that says what is wrong where.

Rows of weight 0 are absent: their labels and scores are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._typing import BoolArray, FloatArray, IntArray

__all__ = ["BinaryScores", "GradedScores", "check_binary_scores", "check_graded_scores"]

# Beyond it float64 no longer tells neighbouring integers apart: different scores would tie.
LARGEST_EXACT_INTEGER = 2**53


@dataclass(frozen=True, eq=False)
class BinaryScores:
    """Scored items of two classes, those of weight 0 removed.

    Parameters
    ----------
    positive : ndarray of bool of shape (n,)
        Whether each item is positive.
    score : ndarray of shape (n,)
        Scores without NaN.
    weight : ndarray of shape (n,)
        Positive weights.
    """

    positive: BoolArray
    score: FloatArray
    weight: FloatArray


@dataclass(frozen=True, eq=False)
class GradedScores:
    """Scored items with relevance grades, those of weight 0 removed.

    Parameters
    ----------
    grade : ndarray of shape (n,)
        Finite relevance, at least 0.
    score : ndarray of shape (n,)
        Scores without NaN.
    weight : ndarray of shape (n,)
        Positive weights.
    """

    grade: FloatArray
    score: FloatArray
    weight: FloatArray


def check_binary_scores(
    y_true: Any, y_score: Any, *, sample_weight: Any = None, pos_label: Any = None
) -> BinaryScores:
    """Check labels of two classes, their scores and weights.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of one or two classes.
    y_score : array-like of shape (n,)
        Scores.
    sample_weight : array-like of shape (n,), default=None
        Non-negative weights.
    pos_label : int, float, bool or str, default=None
        The positive class; None where the labels are among 0 and 1 or among -1 and 1, then 1.

    Returns
    -------
    BinaryScores
        Canonical arrays.
    """
    labels, score, weight, rows = _kept_rows(y_true, y_score, sample_weight)
    missing = _missing(labels)
    if missing.any():
        raise ValueError(
            f"y_true has a missing label at row {rows[np.argmax(missing)]}: remove the row or"
            " give it a label."
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
            " two: pass (y_true == c) for one class c against the rest."
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
    positive = np.asarray(labels == pos_label, dtype=bool)
    return BinaryScores(positive=positive, score=score, weight=weight)


def check_graded_scores(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> GradedScores:
    """Check relevance grades, their scores and weights.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Relevance, finite and at least 0.
    y_score : array-like of shape (n,)
        Scores.
    sample_weight : array-like of shape (n,), default=None
        Non-negative weights.

    Returns
    -------
    GradedScores
        Canonical arrays.
    """
    labels, score, weight, rows = _kept_rows(y_true, y_score, sample_weight)
    grade = _as_float(labels, "y_true")
    wrong = ~(np.isfinite(grade) & (grade >= 0))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(
            f"y_true has the relevance {grade[first]:g} at row {rows[first]}: relevance must be"
            " finite and at least 0."
        )
    return GradedScores(grade=grade, score=score, weight=weight)


def _kept_rows(
    y_true: Any, y_score: Any, sample_weight: Any
) -> tuple[np.ndarray[Any, Any], FloatArray, FloatArray, IntArray | range]:
    """Labels, scores and weights of the rows of positive weight, and which rows they are."""
    labels = _one_dimensional(y_true, "y_true")
    score = _one_dimensional(y_score, "y_score")
    n = len(labels)
    if len(score) != n:
        raise ValueError(
            f"y_true has {n} items and y_score {len(score)}: pass one score for each label."
        )
    if sample_weight is None:
        rows: IntArray | range = range(n)
        weight = np.ones(n)
    else:
        weight = _check_weights(sample_weight, n)
        rows = np.flatnonzero(weight)
        labels, score, weight = labels[rows], score[rows], weight[rows]
    score = _as_float(score, "y_score")
    missing = np.isnan(score)
    if missing.any():
        raise ValueError(
            f"y_score is NaN at row {rows[np.argmax(missing)]}: a missing score has no place in a"
            " ranking; give it one or remove the row."
        )
    return labels, score, weight, rows


def _one_dimensional(values: Any, name: str) -> np.ndarray[Any, Any]:
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked values: remove their rows.")
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(
            f"{name} has shape {array.shape}, but must be one-dimensional: pass one list at a"
            " time."
        )
    if len(array) == 0:
        raise ValueError(f"{name} is empty: pass at least one item.")
    return array


def _as_float(array: np.ndarray[Any, Any], name: str) -> FloatArray:
    if array.dtype.kind in "iu" and np.any(
        (array > LARGEST_EXACT_INTEGER) | (array < -LARGEST_EXACT_INTEGER)
    ):
        raise ValueError(
            f"{name} has integers beyond 2**53, which float64 cannot tell apart: subtract a"
            " constant first."
        )
    # astype would also read strings as numbers, dates as counts, and drop imaginary parts.
    numeric = array.dtype.kind in "biuf" or (
        array.dtype.kind == "O" and not any(isinstance(x, str | bytes) for x in array)
    )
    try:
        if numeric:
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name} must be numeric, got dtype {array.dtype}.")


def _check_weights(sample_weight: Any, n: int) -> FloatArray:
    weight = _as_float(_one_dimensional(sample_weight, "sample_weight"), "sample_weight")
    if len(weight) != n:
        raise ValueError(
            f"y_true has {n} items and sample_weight {len(weight)}: pass one weight for each."
        )
    wrong = ~(np.isfinite(weight) & (weight >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"sample_weight is {weight[row]:g} at row {row}: weights must be finite and at least"
            " 0."
        )
    with np.errstate(over="ignore"):
        total = weight.sum()
    if total == 0:
        raise ValueError("sample_weight is zero everywhere: at least one item must count.")
    if not np.isfinite(total):
        raise ValueError("sample_weight has a sum beyond float64: divide the weights.")
    return weight


def _plain(labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers that came as Python objects, as from pandas, as an array of numbers."""
    if labels.dtype.kind != "O" or any(isinstance(label, str) for label in labels):
        return labels
    plain = np.array(labels.tolist())
    return plain if plain.dtype.kind in "biuf" else labels


def _missing(labels: np.ndarray[Any, Any]) -> BoolArray:
    """Which labels are None or NaN: the values that do not equal themselves, and None."""
    if labels.dtype.kind == "O":
        return np.array([label is None or label != label for label in labels], dtype=bool)
    return np.asarray(labels != labels, dtype=bool)


def _listed(classes: Any) -> str:
    shown = ", ".join(repr(label) for label in classes[:5].tolist())
    return shown + (", ..." if len(classes) > 5 else "")
