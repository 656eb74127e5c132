"""Anything array-like in; canonical arrays out, or one error that says what is wrong where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._typing import BoolArray, FloatArray

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
    labels = _one_dimensional(y_true, "y_true")
    score = _check_scores(y_score, len(labels))
    weight, kept = _check_weights(sample_weight, len(labels))
    missing = _missing(labels)
    if missing.any():
        raise ValueError(
            f"y_true has a missing label at row {np.argmax(missing)}: remove the row or give it"
            " a label."
        )
    classes = np.unique(labels)
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
    return BinaryScores(positive=positive[kept], score=score[kept], weight=weight[kept])


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
    grade = _as_float(_one_dimensional(y_true, "y_true"), "y_true")
    score = _check_scores(y_score, len(grade))
    weight, kept = _check_weights(sample_weight, len(grade))
    wrong = ~(np.isfinite(grade) & (grade >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"y_true has the relevance {grade[row]:g} at row {row}: relevance must be finite and"
            " at least 0."
        )
    return GradedScores(grade=grade[kept], score=score[kept], weight=weight[kept])


def _one_dimensional(values: Any, name: str) -> np.ndarray[Any, Any]:
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
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numeric, got dtype {array.dtype}.") from None


def _check_scores(y_score: Any, n: int) -> FloatArray:
    score = _as_float(_one_dimensional(y_score, "y_score"), "y_score")
    if len(score) != n:
        raise ValueError(
            f"y_true has {n} items and y_score {len(score)}: pass one score for each label."
        )
    missing = np.isnan(score)
    if missing.any():
        raise ValueError(
            f"y_score is NaN at row {np.argmax(missing)}: a missing score has no place in a"
            " ranking; give it one or remove the row."
        )
    return score


def _check_weights(sample_weight: Any, n: int) -> tuple[FloatArray, Any]:
    """Weights and the selection of those that are positive."""
    if sample_weight is None:
        return np.ones(n), slice(None)
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
    kept = weight > 0
    if not kept.any():
        raise ValueError("sample_weight is zero everywhere: at least one item must count.")
    return weight, kept


def _missing(labels: np.ndarray[Any, Any]) -> BoolArray:
    """Which labels are None or NaN: the values that do not equal themselves, and None."""
    if labels.dtype.kind == "O":
        return np.array([label is None or label != label for label in labels], dtype=bool)
    return np.asarray(labels != labels, dtype=bool)


def _listed(classes: Any) -> str:
    shown = ", ".join(repr(label) for label in classes[:5].tolist())
    return shown + (", ..." if len(classes) > 5 else "")
