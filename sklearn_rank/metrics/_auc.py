"""The AUC and the Gini coefficient."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal, Unpack

import numpy as np

from .._lists import LabelType, Lists, ScoredLists, check_lists
from .._order import pairs_in_order
from .._typing import AnyArray, BoolArray, FloatArray
from ._conventions import PositionalForm, linear_discounts, share_of_total
from ._functions import BinaryOptions, evaluate, function_of
from ._influence import ClassInfluence, rank_influence
from ._measure import Measure, Value, one_of
from ._score_generating import Wilcoxon


class AUCMeasure(Measure):
    """Area under the ROC curve; see ``roc_auc_score``."""

    two_dimensions_are_classes = True
    weights = "relative"
    range = (0.0, 1.0)
    lacking = "items of one class only"
    stem = "auc"
    from_ranges = "sum"

    @property
    def theorems(self) -> tuple[str, ...]:
        """Inequalities for pairs of two samples."""
        return ("mcdiarmid", "hoeffding", "kl")

    @property
    def positional(self) -> PositionalForm:
        """One over the number of pairs for each positive, at linear discounts."""
        # The utility is largest with one positive, or one negative.
        return PositionalForm(
            _auc_utilities,
            linear_discounts,
            largest=1.0,
            largest_by_length=lambda n: 1 / (n - 1),
        )

    def values(self, lists: ScoredLists) -> FloatArray:
        if lists.weight is None:
            in_order, n_pos, n_neg = pairs_in_order(lists.score, lists.positive, lists.offsets)
        else:
            blocks = lists.blocks()
            n_pos, n_neg = blocks.n_class, blocks.n_other
            in_order = blocks.sums(blocks.of_class * (blocks.other_below + blocks.of_other / 2.0))
        with np.errstate(invalid="ignore"):
            # Sums of real weights are rounded.
            return np.minimum(in_order / (n_pos * n_neg), 1.0)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        return rank_influence(lists, Wilcoxon())


def _auc_utilities(lists: Lists) -> FloatArray:
    positive = lists.positive.astype(np.float64)
    n_pos = lists.weighted_totals(positive)
    return share_of_total(lists, n_pos * lists.weighted_totals(1.0 - positive))


_AUC = AUCMeasure()


@dataclass(frozen=True, kw_only=True, repr=False)
class MultiClassAUCMeasure(Measure):
    """Mean AUC of the classes, or of pairs of them; see ``roc_auc_score``."""

    by_class = True
    two_dimensions_are_classes = False
    lacking = "no item of one of the classes"
    weights = "relative"
    range = (0.0, 1.0)
    stem = "auc"

    # Each class against the rest, or each against each
    multi_class: Literal["ovr", "ovo"] = one_of("ovr", "ovo")
    class_average: Literal["macro", "weighted"] = one_of("macro", "weighted", default="macro")
    labels: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        if self.labels is not None:
            object.__setattr__(self, "labels", tuple(np.asarray(self.labels).tolist()))
            if len(set(self.labels)) < len(self.labels):
                raise ValueError(f"labels={self.labels!r} repeats a class: pass each class once.")
        super().__post_init__()

    def _read(
        self, y_true: Any, y_score: Any, *, pos_label: Any = None, **columns: Any
    ) -> ScoredLists:
        """Make the lists: labels are columns, and scores have one row for each item."""
        if pos_label is not None:
            raise ValueError(
                f"pos_label={pos_label!r} sets one positive class, but with multi_class= each"
                " class is positive in turn: leave out one of the two."
            )
        score = np.asarray(y_score)
        if score.ndim != 2 or score.shape[1] < 2 or score.dtype.kind not in "biuf":
            raise ValueError(
                f"y_score has shape {score.shape} and dtype {score.dtype}, but with multi_class="
                " it must have one column of numbers for each class."
            )
        score = score.astype(np.float64, copy=False)
        column = _columns(y_true, self.labels, score.shape[1], columns.get("sample_weight"))
        lists = check_lists(column, LabelType("graded", name="y_true"), **columns)
        if len(column) != len(score):
            raise ValueError(
                f"y_true has {len(column)} labels, but y_score has {len(score)} rows: pass one row"
                " of scores for each label."
            )
        score = score if lists.rows is None else score[lists.rows]
        if np.isnan(score).any():
            row, bad = (int(i) for i in np.argwhere(np.isnan(score))[0])
            row = row if lists.rows is None else int(lists.rows[row])
            raise ValueError(
                f"y_score is NaN at row {row}, column {bad}: remove or score the row."
            )
        return ScoredLists(
            labels=lists.labels.astype(np.intp),
            offsets=lists.offsets,
            weight=lists.weight,
            ids=lists.ids,
            query_weight=lists.query_weight,
            rows=lists.rows,
            score=score,
        )

    def values(self, lists: ScoredLists) -> FloatArray:
        n_classes = lists.score.shape[1]
        of_class = lists.labels == np.arange(n_classes)[:, np.newaxis]
        mass = np.stack([lists.weighted_totals(rows.astype(np.float64)) for rows in of_class])
        share = mass / mass.sum(axis=0)
        complete: BoolArray = np.logical_and.reduce(mass > 0)
        result = np.full(lists.n_lists, np.nan)
        if not complete.any():
            return result
        areas, weights = [], []
        for positive, others in self._comparisons(n_classes):
            rows = np.isin(lists.labels, [positive, *others]) & lists.to_items(complete)
            lengths = lists.totals(rows.astype(np.int64))[complete]
            two_classes = ScoredLists(
                labels=lists.labels[rows] == positive,
                offsets=np.append(0, np.cumsum(lengths)),
                weight=None if lists.weight is None else lists.weight[rows],
                score=np.ascontiguousarray(lists.score[rows, positive]),
            )
            areas.append(_AUC.values(two_classes))
            compared = [positive] if self.multi_class == "ovr" else [positive, *others]
            frequency = share[compared].sum(axis=0)[complete]
            weights.append(frequency if self.class_average == "weighted" else frequency**0)
        result[complete] = np.average(areas, axis=0, weights=weights)
        return result

    def _comparisons(self, n_classes: int) -> list[tuple[int, list[int]]]:
        """Which class stands against which others."""
        if self.multi_class == "ovo":
            return [(a, [b]) for a, b in permutations(range(n_classes), 2)]
        return [(a, [b for b in range(n_classes) if b != a]) for a in range(n_classes)]


@function_of(AUCMeasure, MultiClassAUCMeasure)
def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    multi_class: Literal["ovr", "ovo"] | None = None,
    class_average: Literal["macro", "weighted"] = "macro",
    labels: Any = None,
    **options: Unpack[BinaryOptions],
) -> Value:
    """Area under the ROC curve (AUC): share of pairs of a positive and a negative in order.

    ``AUC = P(s of a positive > s of a negative) + P(equal) / 2``. With ``multi_class``, let A(a |
    b) be the AUC of class a against class b by the scores of class a. "ovr" is the mean of A(a |
    not a) over the classes. "ovo" is the mean of ``(A(a | b) + A(b | a)) / 2`` over the pairs of
    classes, the M of Hand and Till.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, or with ``multi_class`` of two or more.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not. With
        ``multi_class`` one column for each class; they need not be probabilities.
    multi_class : {"ovr", "ovo"} or None, default=None
        "ovr" compares each class with the rest, "ovo" each pair of classes. None expects two
        classes.
    class_average : {"macro", "weighted"}, default="macro"
        With ``multi_class``: "macro" is the plain mean over the classes or pairs, "weighted"
        weights a class or pair by its share of the items.
    labels : array-like of shape (n_classes,), default=None
        With ``multi_class``: the class of each column. None takes the classes that occur,
        ascending.
    undefined
        How a list counts that has one class, or with ``multi_class`` lacks a class: "skip" leaves
        it out of the mean (its own value is NaN), "raise" raises an error, a number is its value.
        None is "skip".

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Area in [0, 1]; 1/2 for a random order; higher is better.

    See Also
    --------
    sklearn.metrics.roc_auc_score : Equal if both are defined; takes one list per call.
    local_auc_score : Counts the top of the list only.
    partial_auc_score : Area under a part of the ROC curve.

    Notes
    -----
    Two-dimensional labels raise an error, because scikit-learn takes their columns as classes. The
    weight of a pair is the product of the weights of its items. "ovr" depends on the class
    frequencies, also with "macro"; "ovo" with "macro" does not. The time is O(n log n), times the
    number of classes with ``multi_class``. The memory is O(n): for one unweighted list less than
    that of the arguments if scores are doubles, and at most four times it if labels and scores
    take few bytes.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Equation 4.
    .. [2] Hand & Till (2001), *A simple generalisation of the area under the ROC curve for
       multiple class classification problems*, Machine Learning 45.

    Examples
    --------
    >>> from sklearn_rank.metrics import roc_auc_score
    >>> roc_auc_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.75
    >>> roc_auc_score(
    ...     [1, 0, 0, 1], [2.0, 1.0, 5.0, 5.0], qid=[7, 7, 3, 3], average=None
    ... )
    array([0.5, 1. ])

    Three classes, one column of scores for each:

    >>> y_score = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5], [0.4, 0.5, 0.1]]
    >>> round(roc_auc_score(["a", "b", "c", "a"], y_score, multi_class="ovo"), 4)
    0.9167
    """
    if multi_class is not None:
        return evaluate(
            MultiClassAUCMeasure,
            y_true,
            y_score,
            multi_class=multi_class,
            class_average=class_average,
            labels=labels,
            **options,
        )
    if labels is not None or class_average != "macro":
        raise ValueError(
            "labels= and class_average= are for more than two classes: pass multi_class='ovr' or"
            " 'ovo' too, or leave them out."
        )
    if _has_columns(y_true, y_score):
        raise ValueError(
            f"y_score has shape {np.shape(y_score)}, one column for each class: pass"
            " multi_class='ovr' or 'ovo', or the column of the positive class."
        )
    return evaluate(AUCMeasure, y_true, y_score, **options)


def _has_columns(y_true: Any, y_score: Any) -> bool:
    try:
        return np.ndim(y_score) == 2 and np.shape(y_score)[1] > 1 and np.ndim(y_true) == 1
    except ValueError:  # rows of different lengths, which the measure refuses
        return False


def _columns(
    y_true: Any, labels: tuple[Any, ...] | None, n_columns: int, sample_weight: Any
) -> AnyArray:
    """Column of the class of each item; of items of weight 0 any."""
    y_true = np.asarray(y_true)
    if y_true.ndim != 1:
        raise ValueError(f"y_true has shape {y_true.shape}, but must be one label for each item.")
    counted = np.ones(len(y_true), dtype=bool)
    if sample_weight is not None and np.shape(sample_weight) == y_true.shape:
        counted = np.asarray(sample_weight) != 0
    try:
        present = np.unique(y_true[counted])
    except TypeError:
        raise ValueError(
            "y_true has labels of different types or missing labels: make them all numbers or all"
            " strings, and remove rows without a label."
        ) from None
    classes = present if labels is None else np.asarray(labels)
    if len(classes) != n_columns:
        raise ValueError(
            f"y_true has {len(classes)} classes, but y_score has {n_columns} columns: pass"
            " labels=, the class of each column."
            if labels is None
            else f"labels has {len(classes)} classes, but y_score has {n_columns} columns: pass"
            " one class for each."
        )
    order = np.argsort(classes)
    place = np.minimum(np.searchsorted(classes, y_true, sorter=order), n_columns - 1)
    column = order[place]
    unknown = counted & (classes[column] != y_true)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"y_true has the label {y_true[row : row + 1].tolist()[0]!r} at row {row}, which is"
            f" not among the labels {classes.tolist()}."
        )
    return column


class GiniMeasure(Measure):
    """Twice the area under the ROC curve, less 1; see ``gini_score``."""

    lacking = _AUC.lacking
    weights = "relative"
    range = (-1.0, 1.0)
    stem = "gini"
    from_ranges = "sum"

    def values(self, lists: ScoredLists) -> FloatArray:
        return 2.0 * _AUC.values(lists) - 1.0

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        return _AUC._influence(lists).scaled(0.5, 0.5, copy=False)


@function_of(GiniMeasure)
def gini_score(y_true: Any, y_score: Any, **options: Unpack[BinaryOptions]) -> Value:
    """Gini coefficient of credit scoring (accuracy ratio, Somers' D): twice the AUC minus 1.

    ``Gini = P(s of a positive > s of a negative) - P(s of a positive < s of a negative)
    = 2 AUC - 1``.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Coefficient in [-1, 1]; 0 for a random order; higher is better.

    See Also
    --------
    roc_auc_score : The AUC; a limit L for it gives the limit 2 L - 1 for the coefficient.
    kolmogorov_smirnov_score : Another common measure of credit scoring.

    Notes
    -----
    The coefficient is the accuracy ratio of the cumulative accuracy profile: the area between
    profile and diagonal, divided by that of the best order. It is not the Gini coefficient of
    incomes. The time is O(n log n), the memory O(n).

    References
    ----------
    .. [1] Hand & Till (2001), *A simple generalisation of the area under the ROC curve for
       multiple class classification problems*, Machine Learning 45.

    Examples
    --------
    >>> from sklearn_rank.metrics import gini_score
    >>> gini_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.5
    """
