"""A cut-off, or a number of rows of each batch, with a promise on what is flagged."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from math import ceil, exp, expm1, inf, log, sqrt
from typing import Any, Literal, Self

import numpy as np
from scipy.special import ndtri, stdtr
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, is_classifier
from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from .. import _outer
from .._printed import Printed
from .._sklearn_compat import num_samples
from .._typing import AnyArray, ArrayPair, BoolArray, FloatArray, IntArray
from .._validation import (
    check_choice,
    check_generator,
    check_item_weights,
    check_level,
    check_number,
    check_share,
    check_whole,
    in_coarsest_type,
    is_number,
    is_whole,
    refuse_misread,
)
from .._warn import warn
from ..bounds._shared import (
    TINY,
    chance_of_amounts,
    chance_of_hits,
    last_of,
    precision_cutoffs,
    sums_of_earlier,
)
from ..exceptions import ThresholdWarning
from ..inference import BatchLimits, batch_limits
from ..inference._shared import check_groups
from ..metrics import get_measure
from ..metrics._shared import Groups, amounts_of, ranking_scores, warn_of_positive_cost
from ..model_selection._shared import (
    OfFitted,
    Sample,
    check_scores,
    fit_part,
    fit_parts,
    make_folds,
    places_of,
    refuse_repeated,
    samples_of,
)
from ..rankers._shared import restored_on_error, store_parameters

# Largest factor of the number of calibration rows that a report recommends.
MAX_GROWTH = 100.0

SHARES_BY_PARAMETER: Any = {
    "min_precision": "precision",
    "min_recall": "recall",
    "max_fpr": "false positive rate",
}

# Number of rows of each class from which on scores of new rows without any error are suspicious.
MIN_OF_CLASS = 20


@dataclass(frozen=True)
class Goal:
    """A share that is promised."""

    name: Literal["precision", "recall", "false positive rate", "mean value"]
    value: float
    of_value: str = ""  # Meaning of the precision, if all amounts are equal

    @property
    def in_sequence(self) -> bool:
        """Whether the share falls as the cut-off does, as is assumed."""
        return self.name in ("precision", "mean value")

    @property
    def text(self) -> str:
        if self.of_value:
            return self.of_value
        side = "at most" if self.name == "false positive rate" else "at least"
        return f"{self.name} of {side} {self.value:g}"


@dataclass(frozen=True, eq=False)
class CutOffs:
    """Cut-offs of a labelled sample in descending order, with the rows above each."""

    threshold: FloatArray  # (n_cutoffs,): Scores of at least this are flagged
    n_flagged: FloatArray
    n_pos: FloatArray  # Positives among those flagged
    positive: BoolArray  # (n_samples,): Rows from the top
    codes: IntArray | None = None  # (n_samples,): Their groups
    amounts: Any = None  # (n_samples,): What they bring, if a mean value is promised

    @classmethod
    def of(
        cls,
        scores: FloatArray,
        positive: BoolArray,
        groups: Groups | None = None,
        amounts: FloatArray | None = None,
    ) -> CutOffs:
        order = np.argsort(-scores, kind="stable")
        scores = scores[order]
        ends = np.append(np.flatnonzero(scores[1:] != scores[:-1]), len(scores) - 1)
        # A cut-off is just above the next lower score, given which the rows above are independent.
        threshold = np.append(np.nextafter(scores[ends[:-1] + 1], np.inf), -np.inf)
        positive = positive[order]
        n_flagged, n_pos = (x.astype(np.float64) for x in (ends + 1, np.cumsum(positive)[ends]))
        codes = None if groups is None else groups.codes[order]
        amounts = None if amounts is None else amounts[order]
        return cls(threshold, n_flagged, n_pos, positive, codes, amounts)

    def hits(self, goal: Goal) -> ArrayPair:
        """Hits and rows above each cut-off; of groups, the effective numbers."""
        are_missed = goal.name == "false positive rate"
        above = self.n_flagged - self.n_pos if are_missed else self.n_pos
        n = self.n_flagged if goal.name == "precision" else np.full(len(above), above[-1])
        effect = 1.0 if self.codes is None else self._effects(self.codes, goal, above, n)
        return (n - above if are_missed else above) / effect, n / effect

    def _effects(self, codes: IntArray, goal: Goal, above: FloatArray, n: Any) -> Any:
        """By how much a class above cut-offs varies more than independent rows would, at least 1.

        One, and the correlation within groups times the other rows of the group of a row. One more
        row of the class, with its group, keeps a few from looking independent.
        """
        of_class = self.positive == (goal.name != "false positive rate")
        # Sums over pairs of rows of a group, of the products of deviations and of ones.
        if goal.name == "precision":
            last, share = n.astype(np.intp) - 1, above / n
            before, earlier = (sums_of_earlier(codes, x) for x in (of_class, np.ones(len(codes))))
            terms = 2.0 * before * of_class, before + earlier * of_class, 2.0 * earlier
            both, one, pairs = (np.cumsum(x)[np.newaxis, last] for x in terms)
            products, weights = both - 2.0 * share * one + share**2 * pairs, []
        else:
            # One effect for all cut-offs: where the sample has the share that is in question.
            codes, n = codes[of_class], n[0]
            share = above[np.searchsorted(above, goal.value * n)] / n
            deviations, sizes = (np.arange(n) < share * n - 0.5) - share, np.bincount(codes)
            products = np.bincount(codes, deviations) ** 2 - np.bincount(codes, deviations**2)
            pairs, weights = sizes * (sizes - 1.0), [np.maximum(sizes - 1.0, 1.0)]  # Rows alike
        others = pairs.sum(axis=0) / n
        correlations = [
            (np.sum(products / w, axis=0) + 1.0)
            / (share * (1.0 - share) * np.sum(pairs / w, axis=0) + 1.0)
            for w in [*weights, np.maximum(others, TINY)]
        ]
        return 1.0 + np.max(correlations, axis=0, initial=0.0) * others

    def chances(self, goal: Goal, times: float) -> FloatArray:
        """P-values of each cut-off, of so many times the rows, against a share below the goal."""
        if goal.name == "mean value":
            return chance_of_amounts(self.amounts, self.n_flagged, goal.value, times, self.codes)
        hits, n = (times * numbers for numbers in self.hits(goal))
        share = 1.0 - goal.value if goal.name == "false positive rate" else goal.value
        chance = chance_of_hits(hits, n, share)
        if self.codes is None:
            return chance
        sizes = np.bincount(self.codes, self.positive == (goal.name == "recall"))
        rows, of_row = sizes.sum(), sizes @ sizes / sizes.sum()
        effect = times * rows / n[0]
        # Shares of groups are skew, as beta variables are of this correlation: the sum is more
        # skew than the binomial number of effective rows.
        correlation = min((effect - 1.0) / max(of_row - 1.0, TINY), 1.0)
        variances = sizes * (1.0 + correlation * (sizes - 1.0))
        pull = 2.0 * correlation / (1.0 + correlation)
        unit = 1.0 + pull * np.average(sizes - 1.0, weights=variances)
        skewness = (2.0 * share - 1.0) * (unit / effect - 1.0)
        z = less_skew(ndtri(chance), skewness / sqrt(n[0] * share * (1.0 - share)))
        return np.asarray(stdtr(max(times * rows / of_row - 1.0, 1.0), z))

    def observed(self, goal: Goal) -> FloatArray:
        """Value in the sample above each cut-off."""
        if goal.name == "mean value":
            return np.cumsum(self.amounts)[self.n_flagged.astype(np.intp) - 1] / self.n_flagged
        hits, of_rows = self.hits(goal)
        share = hits / of_rows
        return 1.0 - share if goal.name == "false positive rate" else share

    def guaranteed(self, goal: Goal, delta: float) -> FloatArray:
        """Best value that could be promised of each cut-off, on a grid; NaN if there is none."""
        observed, least, most = self.observed(goal), 0.0, 1.0
        if goal.name == "mean value":
            least, most = self.amounts.min(), observed.max()
        values = np.union1d(np.linspace(least, most, 201)[1:-1], goal.value)
        if goal.name == "false positive rate":
            values = values[::-1]
        guaranteed = np.full(len(observed), np.nan)
        for value in values.tolist():
            guaranteed[self.certified(replace(goal, value=value), delta)] = value
        if goal.in_sequence:
            # By assumption a cut-off above a tested one has at least its value.
            return np.asarray(np.fmax.accumulate(guaranteed[::-1])[::-1])
        return guaranteed

    def certified(self, goal: Goal, delta: float, times: float = 1.0) -> BoolArray:
        """Cut-offs that keep a promise; any is wrong with probability delta at most.

        Of so many times the rows.
        """
        if goal.name == "precision":
            hits, n = (times * numbers for numbers in self.hits(goal))
            return precision_cutoffs(hits, np.maximum.accumulate(n), goal.value, delta)
        return np.asarray(self.chances(goal, times) <= delta)


@dataclass(frozen=True, repr=False)
class ThresholdReport(Printed):
    """What a threshold promises, by which theorem, and what the labelled rows showed.

    Parameters
    ----------
    rule : str
        Which rows are flagged, in words.
    promises : tuple of str
        What is promised, in words.
    level : float
        Probability, in (0, 1), that all promises hold.
    threshold : float
        Cut-off of the scores; NaN where the number of rows is chosen for each batch.
    n_flagged, n_found : int
        Calibration rows above the cut-off, and the positives among them.
    n_samples, n_pos : int
        Calibration rows, and the positives among them.
    theorem : str
        Why the promises hold.
    assumption : str
        What they rest on.
    impossible : str, default=""
        What could not be promised, and what would make it possible.

    See Also
    --------
    TopThresholdClassifier : Has it as ``report_``.

    Examples
    --------
    >>> from sklearn_rank.model_selection import ThresholdReport
    >>> report = ThresholdReport(
    ...     "Flags rows of score 1.5 and more",
    ...     ("precision of at least 0.8 on new rows",),
    ...     0.95,
    ...     *(1.5, 40, 38, 300, 60),
    ...     "exact binomial tests",
    ...     "rows are alike",
    ... )
    >>> print(report)
    Flags rows of score 1.5 and more.
    Promised with confidence 95 %: precision of at least 0.8 on new rows.
    Of 300 calibration rows 40 are flagged, with 38 of 60 positives: precision 0.950, recall 0.633.
    Proof: exact binomial tests.
    It holds where rows are alike.
    """

    rule: str
    promises: tuple[str, ...]
    level: float
    threshold: float
    n_flagged: int
    n_found: int
    n_samples: int
    n_pos: int
    theorem: str
    assumption: str
    impossible: str = ""

    def __str__(self) -> str:
        lines = [*([self.impossible] if self.impossible else []), f"{self.rule}."]
        if self.promises:
            promised = ", and ".join(self.promises)
            lines.append(f"Promised with confidence {100 * self.level:g} %: {promised}.")
        if self.n_flagged:
            lines.append(
                f"Of {self.n_samples:,} calibration rows {self.n_flagged:,} are flagged, with"
                f" {self.n_found:,} of {self.n_pos:,} positives: precision"
                f" {self.n_found / self.n_flagged:.3f}, recall {self.n_found / self.n_pos:.3f}."
            )
        if self.promises:
            lines += [f"Proof: {self.theorem}.", f"It holds where {self.assumption}."]
        return "\n".join(lines)


class TopThresholdClassifier(OfFitted, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Flag rows by a cut-off, or the first rows of each batch, with a promise on new rows.

    A cut-off that is read off a curve keeps its precision on new rows in about half of all cases.
    Here, with probability ``level`` over the calibration rows, the cut-off keeps on new rows
    what is promised: at least a precision or a recall, at most a false positive rate. With
    ``capacity`` the first rows of each batch are flagged.

    Parameters
    ----------
    estimator : classifier
        Classifier of two classes. It is cloned and fitted, or with ``cv="prefit"`` used as it is.
    min_precision : float or None, default=None
        Share, in (0, 1), of the flagged rows that are positive, at least.
    min_recall : float or None, default=None
        Share, in (0, 1), of the positives that are flagged, at least.
    max_fpr : float or None, default=None
        Share, in (0, 1), of the negatives that are flagged, at most.
    min_value : float or None, default=None
        Mean value of the flagged rows, at least. The values are those of ``value``, or those of
        each row that ``fit`` gets.
    value : pair of float or None, default=None
        With ``min_value``, what each flagged row brings if it is positive, and if it is not: the
        gain and the loss, which is negative for a cost. The mean value is then reached from a
        precision of ``(min_value - loss) / (gain - loss)`` on.
    capacity : int, float or None, default=None
        Largest number of rows of a batch, that is of one call of ``predict``, that are flagged; a
        float in (0, 1) is a share of the batch. With ``min_precision`` the precision of the
        flagged rows of *this batch* is promised.
    maximize : {"recall", "precision"} or None, default=None
        Whether the lowest or the highest cut-off is taken of those that keep the promises. None
        means "precision" if ``min_recall`` is the only promise, else "recall".
    level : float, default=0.95
        Probability, in (0, 1), that all promises hold.
    cv : int, splitter, iterable, "prefit" or None, default=None
        Which rows calibrate the cut-off. None holds out a third of the rows, stratified, or of the
        groups; the classifier is fitted to the others and not again, likewise with an iterable of
        one split. With several folds, the calibration has the scores of the fold models, and the
        classifier is fitted to all rows. "prefit" calibrates on all rows, to which the classifier
        must not have been fitted.
    n_jobs : int or None, default=None
        Number of parallel fits, as for joblib. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Random number generator or seed of the split, and of the order of ties at a capacity. Pass
        an int for reproducible results.
    pos_label : int, float, bool, str or None, default=None
        Label of the positive class. None means the ``pos_label`` of the estimator, or 1 for labels
        in {0, 1} or {-1, 1}; for other labels it is the greater label, with a warning.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (2,)
        Class labels.
    pos_label_ : label
        The positive class.
    threshold_ : float
        Scores of at least this are flagged: the next number above a calibration score, in its
        type, such as float32. They are those of ``decision_function``, or else of
        ``predict_proba``, for the positive class. ``inf`` flags nothing. With a share as
        ``capacity`` alone, what this share of the calibration rows reach, for rows that come one
        by one, while ``predict`` flags the share of each batch. NaN for a number of rows, or if
        the number is chosen for each batch.
    report_ : ThresholdReport
        What is promised, why, on what assumption, and what could not be promised.
    calibration_scores_ : ndarray of shape (n_calibration,)
        Scores of the calibration rows.
    calibration_positive_ : ndarray of shape (n_calibration,)
        Whether they are positive.
    n_features_in_ : int
        Number of features, if the classifier has it.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the classifier has them.

    See Also
    --------
    sklearn.model_selection.TunedThresholdClassifierCV : Maximises a score, without a promise.
    sklearn_rank.inference.batch_limits : Limits for the first k rows of a batch.
    BoundSearchCV : Chooses among classifiers with a guarantee.

    Notes
    -----
    Several promises have an equal part of ``1 - level`` each.

    **Recall and false positive rate** rise as the cut-off falls, so that one exact binomial test
    decides: the cut-off is the highest whose recall is shown, or the lowest whose false positive
    rate is. **Precision** is tested at cut-offs from the top down, whose numbers of rows are fixed
    in advance: as many as let one negative among them still show the precision, then two
    negatives, and so on. A test is passed by the binomial p-value of its cut-off, or by the least
    p-value at looks from there on, at n / 1.1^i of n rows, if one so small is rare enough where
    each row is positive with the promised precision; the tests end where both fail. Of the error
    ``1 - level`` the cut-off has ``0.6 min_precision`` at first, and what each look that is passed
    leaves to it. This is exact where the precision falls as the cut-off does. Tied rows are
    flagged together or not at all.

    **A mean value** of amounts that differ is tested at all cut-offs at once, by bets on the
    amounts from the top down, for any distribution of them.

    **A batch.** With ``capacity`` and ``min_precision``,
    :func:`~sklearn_rank.inference.batch_limits` gives the largest number of rows, up to the
    capacity, whose precision is shown on this batch, for any model.

    **Groups.** Rows of a group are held out together. They count as fewer rows, by as much as the
    hits of groups vary more than those of independent rows, and recall and the false positive rate
    have Student's quantile of the effective number of groups, less what their shares are skew:
    hardly anything is promised of few groups of very unequal sizes. Bets on amounts are on the sum
    of each group. The promise is then asymptotic in the number of groups: at ``level=0.9`` it
    failed in at most .09 of the samples where large groups differ from small ones, and in up to
    .17 where rows depend strongly in two of 20 groups and hardly in the others. Without groups
    promises are exact, for the share in the population, except with several folds.

    The promise is for the classifier that was calibrated. With several folds another one, fitted
    to all rows, is used, and the promise is approximate. It is for rows like those of the
    calibration; :class:`~sklearn_rank.inference.ConfidenceSequence` watches whether they stay so.
    Where labels come late, with ``design``, the rows of ``fit`` are those that are old enough for
    every label to be known, and not those with a label (:doc:`/user_guide/score_to_action`): then
    the promise holds where the mix has not drifted since they entered. One that is made anew holds
    with ``level`` each time.
    Weights passed to ``fit`` go to the classifier; each calibration row of positive weight counts
    once.

    ``predict`` takes O(n) time beside the scores; with ``capacity`` and ``min_precision`` O(n log
    n).

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.model_selection import TopThresholdClassifier
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> flag = TopThresholdClassifier(
    ...     LogisticRegression(), min_recall=0.8, level=0.9, random_state=0
    ... ).fit(X, y)
    >>> print(flag.report_)
    Flags rows of score 1.19402 and more.
    Promised with confidence 90 %: recall of at least 0.8 on new rows.
    Of 117 calibration rows 73 are flagged, with 65 of 75 positives: precision 0.890, recall 0.867.
    Proof: an exact binomial test, as the share is monotone in the cut-off.
    It holds where new rows are drawn as the calibration rows were.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        min_precision: float | None = None,
        min_recall: float | None = None,
        max_fpr: float | None = None,
        min_value: float | None = None,
        value: tuple[float, float] | None = None,
        capacity: float | None = None,
        maximize: Literal["recall", "precision"] | None = None,
        level: float = 0.95,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        pos_label: Any = None,
    ) -> None:
        store_parameters(locals())

    def fit(self, X: Any, y: Any, value: Any = None, **params: Any) -> Self:
        """Fit the classifier and calibrate the cut-off.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        value : array-like of shape (n_samples,) or (n_samples, 2), or pair, default=None
            With ``min_value``, what each row brings if it is flagged, as for
            :func:`sklearn_rank.metrics.get_scorer`.
        **params : dict
            ``groups``, the id of the group of each row; ``design``, a
            :class:`~sklearn_rank.inference.LabelDesign` if labels are known in part or come late:
            those rows count whose labels are a random sample of all, such as the mature ones; and
            arguments of the classifier's ``fit``, such as ``sample_weight``; with metadata routing
            they go where they are requested.

        Returns
        -------
        TopThresholdClassifier
            The fitted classifier.

        Raises
        ------
        TypeError
            If ``estimator`` is not a classifier.
        ValueError
            If an argument is not valid, nothing is promised, promises contradict each other, or
            the calibration rows lack a class.

        Warns
        -----
        UserWarning
            If no cut-off keeps a promise, so that nothing, or everything, is flagged.
        ThresholdWarning
            If a prefit classifier separates the calibration rows without an error, as on rows that
            it was fitted to.
        PositiveClassWarning
            If the labels are not in {0, 1} or {-1, 1} and there is no ``pos_label``.
        """
        with restored_on_error(self):
            self._fit(X, y, value, params)
        return self

    def _fit(self, X: Any, y: Any, value: Any, params: dict[str, Any]) -> None:
        refuse_misread(X=X, y=y, value=value)
        if (design := params.pop("design", None)) is not None:
            columns = {**params, "value": value}
            of_fit = columns, self.pos_label, self.cv, self.random_state
            X, y, params = _outer.labelled_sample(design, X, y, *of_fit)
            value = params.pop("value")
        goals = self._goals(value)
        # What predict goes by, whatever the parameters are set to afterwards.
        self._stored = goals, self.capacity, self.level, self.random_state
        if not (hasattr(self.estimator, "fit") and is_classifier(self.estimator)):
            raise TypeError(
                f"{self.estimator!r} is not a classifier: pass a classifier, such as"
                " LogisticRegression(), which keeps the order of X if that is a column of scores."
            )
        measure = get_measure("auc")
        ids = None, None, params
        (sample,) = samples_of([self.estimator], X, y, measure, self.pos_label, None, *ids)
        amounts = None
        if any(goal.name == "mean value" for goal in goals):
            amounts = amounts_of(sample.labels, value)
        self.pos_label_ = sample.plan.pos_label
        scores, rows, n_folds = self._calibrate(sample)
        if (weight := sample.plan.params.get("sample_weight")) is not None:
            has_weight = check_item_weights(weight, sample.labels.shape, "y")[rows] > 0
            scores, rows = scores[has_weight], rows[has_weight]
        positive = sample.labels[rows] == 1
        if not positive.any() or positive.all():
            raise ValueError(
                f"The {len(rows)} calibration rows with sample_weight above 0 are of one class:"
                " pass rows of both classes."
            )
        groups = None
        if sample.groups is not None:
            if self._in_batch:
                raise ValueError(
                    "The promise for a batch is for independent rows, as predict does not get the"
                    " groups of the batch: leave capacity out, or ask batch_limits, which takes"
                    " groups and batch_groups."
                )
            groups = check_groups(sample.groups[rows], len(rows))
        self.classes_ = self.estimator_.classes_
        self.calibration_scores_, self.calibration_positive_ = scores, positive
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        if amounts is not None:
            amounts = amounts[rows]
            if self.min_value <= amounts.min():
                raise ValueError(
                    f"min_value={self.min_value:g} is reached by any row, as the lowest amount is"
                    f" {amounts.min():g}: pass a greater min_value."
                )
        self._cutoffs = cutoffs = CutOffs.of(scores, positive, groups, amounts)
        place, impossible, self.threshold_ = None, "", np.nan
        if not self._in_batch and goals:
            place, impossible = self._choose(cutoffs, goals)
            self.threshold_ = inf if place is None else float(cutoffs.threshold[place])
        how = "" if groups is None else " (asymptotic in the groups)"
        promises = [f"{goal.text} on new rows{how}" for goal in goals if self.threshold_ < inf]
        if self._in_batch:
            promises = [f"{goals[0].text} of the rows that are flagged in a batch"]
        n_flagged = 0 if place is None else int(cutoffs.n_flagged[place])
        n_found = 0 if place is None else int(cutoffs.n_pos[place])
        self.report_ = ThresholdReport(
            rule=self._rule(),
            promises=tuple(promises),
            level=self.level,
            threshold=self.threshold_,
            n_flagged=n_flagged,
            n_found=n_found,
            n_samples=len(rows),
            n_pos=int(positive.sum()),
            theorem=self._theorem(goals, groups),
            assumption=self._assumption(goals, groups, n_folds),
            impossible=impossible,
        )
        if not goals and not is_whole(self.capacity):
            n_above = largest_number(self.capacity, len(rows))
            place = int(np.searchsorted(cutoffs.n_flagged, n_above, "right"))
            self.threshold_ = float(cutoffs.threshold[place - 1]) if place else inf
        if impossible:
            warn(f"{impossible} {self.report_.rule}.", UserWarning)
        are_many = min(positive.sum(), np.sum(~positive)) >= MIN_OF_CLASS
        if n_folds == 0 and are_many and scores[positive].min() > scores[~positive].max():
            warn(
                "The scores of the prefit classifier separate the classes of the calibration rows"
                " without an error, as they do on rows that it was fitted to, where a promise is"
                " worth nothing: pass rows that it has not seen.",
                ThresholdWarning,
            )

    @property
    def _in_batch(self) -> bool:
        """Whether the precision of each batch is promised."""
        goals, capacity, *_ = self._stored
        return capacity is not None and any(goal.name == "precision" for goal in goals)

    def _goals(self, value: Any) -> list[Goal]:
        """Check the parameters, and return what is promised, with the ``value`` of ``fit``."""
        check_level(self.level)
        check_choice("maximize", self.maximize, (None, "recall", "precision"))
        goals = [
            Goal(goal, check_share(name, share))
            for name, goal in SHARES_BY_PARAMETER.items()
            if (share := getattr(self, name)) is not None
        ]
        if value is not None:
            if self.min_value is None or self.value is not None or self.capacity is not None:
                raise ValueError(
                    "value in fit is for min_value=, of rows whose amounts differ: pass min_value,"
                    " and leave value and capacity of the class out."
                )
            if isinstance(value, tuple) and all(map(is_number, value)):
                goals.append(self._goal_of_value(value))
            else:
                goals.append(Goal("mean value", check_number("min_value", self.min_value)))
        elif self.min_value is not None or self.value is not None:
            goals.append(self._goal_of_value(self.value))
        if self.capacity is None and not goals:
            raise ValueError(
                "Nothing is promised and no capacity is given: pass min_precision=, min_recall=,"
                " max_fpr=, min_value= or capacity=."
            )
        if self.capacity is not None:
            largest_number(self.capacity, 1)
            if self.min_recall is not None:
                raise ValueError(
                    f"capacity={self.capacity!r} limits what is flagged, so that no recall can be"
                    " promised: leave capacity or min_recall out."
                )
            if len(goals) > 1 and any(goal.name == "precision" for goal in goals):
                raise ValueError(
                    "With capacity the precision is that of a batch, and the false positive rate"
                    " that of all new rows: pass capacity with one of min_precision, min_value and"
                    " max_fpr."
                )
        return goals

    def _goal_of_value(self, value: Any) -> Goal:
        """The precision from which on the flagged rows have the value of two amounts."""
        pair = value if isinstance(value, tuple | list) else ()
        if self.min_value is None or len(pair) != 2:
            raise ValueError(
                f"min_value={self.min_value!r} and value={value!r} belong together: pass"
                " both, as min_value=0 and value=(100, -5), the gain and the loss of a row, or the"
                " values of each row to fit."
            )
        least = check_number("min_value", self.min_value)
        gain, loss = (check_number("value", x) for x in pair)
        if not loss < least < gain:
            raise ValueError(
                f"min_value={least:g} must be above the loss {loss:g} and below the gain {gain:g}"
                " of a row: pass value=(gain, loss) in this order."
            )
        warn_of_positive_cost(gain, loss)
        share = (least - loss) / (gain - loss)
        meaning = f"mean value of at least {least:g} (precision {share:.3g})"
        return Goal("precision", share, meaning)

    def _calibrate(self, sample: Sample) -> tuple[FloatArray, IntArray, int]:
        """Scores and numbers of the calibration rows, and the number of folds; 0 for prefit."""
        plan, rows = sample.plan, np.arange(len(sample.labels))
        if isinstance(self.cv, str):
            check_choice("cv", self.cv, ("prefit",))
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
            return self._scores(plan.X), rows, 0
        rng, cv = check_generator(self.random_state), self.cv
        if cv is None:
            kind = StratifiedShuffleSplit if sample.groups is None else GroupShuffleSplit
            split = kind(1, test_size=1 / 3, random_state=int(rng.integers(2**31)))
            # The split depends on the order of the groups and not on their names.
            places = places_of(sample.groups, len(rows))
            if places is not None and np.max(places) == 0:
                raise ValueError(
                    "groups has one group only, of which no part can be held out: leave groups out"
                    " if rows are independent, or pass rows of more groups."
                )
            cv = list(split.split(rows, sample.labels, places))
        parts = make_folds(cv, sample, None if self.random_state is None else rng)
        refuse_repeated(parts)
        rows = np.concatenate([test for _, test in parts])
        (fits,) = fit_parts([plan], parts, self.n_jobs, keep_model=len(parts) == 1)
        self.estimator_ = fits[0].model
        if len(parts) > 1:
            everything = np.arange(len(sample.labels))
            self.estimator_ = fit_part(plan, 0, everything, everything[:1], keep_model=True).model
        return np.concatenate([fit.scores for fit in fits]), rows, len(parts)

    def _choose(self, cutoffs: CutOffs, goals: list[Goal]) -> tuple[int | None, str]:
        """Number of the cut-off, None to flag nothing, and what could not be promised."""
        delta = (1.0 - self.level) / len(goals)
        n, impossible = len(cutoffs.threshold), []
        allowed, flags_none = np.ones(n, dtype=bool), True
        for goal in goals:
            certified = cutoffs.certified(goal, delta)
            if not certified.any():
                impossible.append(_why_impossible(cutoffs, goal, delta, self.level))
            if goal.name == "recall":
                certified[-1], flags_none = True, False  # All rows are flagged.
            allowed &= certified
        of_recall = all(goal.name == "recall" for goal in goals)
        highest = (self.maximize or ("precision" if of_recall else "recall")) == "precision"
        places = np.flatnonzero(allowed)
        if not len(places) and not (flags_none and impossible):
            promised = ", and ".join(goal.text for goal in goals)
            raise ValueError(
                f"No cut-off has {promised} with confidence {100 * self.level:g} %: pass"
                " less of one of them, a better classifier, or more calibration rows."
                f" {' '.join(impossible)}".rstrip()
            )
        if not len(places):
            return None, " ".join(impossible)
        return int(places[0 if highest else -1]), " ".join(impossible)

    def _rule(self) -> str:
        if np.isfinite(self.threshold_):
            rule = f"Flags rows of score {self.threshold_:.6g} and more"
        elif np.isnan(self.threshold_):
            rule = "Flags the first rows of a batch"
        else:
            rule = "Flags nothing" if self.threshold_ > 0.0 else "Flags all rows"
        if self.capacity is None:
            return rule
        rows = is_whole(self.capacity)
        most = f"{self.capacity:,} rows" if rows else f"{100 * self.capacity:g} %"
        return f"{rule}, at most {most} of a batch"

    def _theorem(self, goals: list[Goal], groups: Groups | None) -> str:
        if self._in_batch:
            return "calibration rows are at random places among those of the batch (batch_limits)"
        if any(goal.name == "mean value" for goal in goals):
            what = "amounts" if groups is None else "amounts of groups"
            return f"bets on the {what} above cut-offs, of all at once (Ville's inequality)"
        if groups is not None:
            return "binomial tests of the numbers of rows and of groups that count as independent"
        if any(goal.name == "precision" for goal in goals):
            return "exact binomial tests of cut-offs in an order that is fixed in advance"
        return "an exact binomial test, as the share is monotone in the cut-off"

    def _assumption(self, goals: list[Goal], groups: Groups | None, n_folds: int) -> str:
        rows = "new rows are drawn as the calibration rows were"
        if n_folds == 0:
            rows += ", to which the classifier was not fitted"
        if n_folds > 1:
            rows += ", and the model of all rows ranks as those of the folds (approximate)"
        if groups is not None:
            rows += ", groups are many, and rows depend alike in all of them"
        for goal in [] if self._in_batch else goals:
            if goal.in_sequence:
                rows += f", and the {goal.name} does not rise as the cut-off falls"
            if goal.name == "mean value":
                rows += ", and no loss is larger than those of the calibration rows"
        return rows

    def predict(self, X: Any) -> AnyArray:
        """Flag rows of a batch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows of the batch, which matters with ``capacity``.

        Returns
        -------
        ndarray of shape (n_samples,)
            The positive class for rows that are flagged, else the other class.

        Raises
        ------
        ValueError
            If the classifier returns NaN as a score.

        Warns
        -----
        ThresholdWarning
            If ``capacity`` is for a batch, but the call has fewer rows than one flag needs, or
            one of which a number of rows is flagged.
        """
        check_is_fitted(self, "report_")
        goals, capacity, *_ = self._stored
        scores = self._scores(X)
        most = largest_number(capacity, len(scores))
        if capacity is not None and len(scores) and (most == 0 or len(scores) == 1):
            effect = "limits nothing" if most else "flags nothing"
            alone = "" if goals else ", or compare the score of each row with threshold_"
            if most and not goals:
                alone += ", after a fit with a share as capacity"
            warn(
                f"capacity={capacity!r} is for the rows of one call, and {effect} where X has"
                f" {len(scores)}: pass all rows of a batch at once{alone}.",
                ThresholdWarning,
            )
        flagged = np.zeros(len(scores), dtype=bool)
        if self._in_batch:
            if most:
                limits, (goal,) = self._limits(scores, most), goals
                flagged[limits.order[: limits.largest_k(goal.value)]] = True
        else:
            flagged |= not goals or self._reached(scores)
            if np.count_nonzero(flagged) > most:
                flagged = self._first(scores, most)
        of_pos = int(self.classes_[1] == self.pos_label_)
        return np.where(flagged, self.classes_[of_pos], self.classes_[1 - of_pos])

    def limits(self, X: Any) -> BatchLimits:
        """Compute limits of the positives among the first rows of a batch, up to the capacity.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows of the batch, at least one.

        Returns
        -------
        BatchLimits
            The limits for all numbers of rows at once, and the order of the rows.
        """
        check_is_fitted(self, "report_")
        scores = self._scores(X)
        return self._limits(scores, max(largest_number(self._stored[1], len(scores)), 1))

    def guarantees(self, X: Any = None) -> dict[str, AnyArray]:
        """Compute what could be promised of each number of flagged rows, beside what is seen.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or None, default=None
            Rows of a batch, where the promise is for the batch, that is with ``capacity`` and
            ``min_precision``; otherwise not used.

        Returns
        -------
        dict of str to ndarray of shape (n_cutoffs,)
            Columns of a table: "n_flagged", the calibration rows above each cut-off or the first
            rows of a batch, in ascending order; by the name of each promise, such as "precision",
            the value in the calibration sample or its estimate in the batch; and, such as
            "precision guaranteed", what could be promised, NaN for nothing. What is read at a goal
            that was chosen in advance holds with probability ``level``, at all numbers
            together.
        """
        check_is_fitted(self, "report_")
        goals, _, level, _ = self._stored
        if not goals:
            raise ValueError(
                "Nothing is promised: pass min_precision=, min_recall=, max_fpr= or min_value=."
            )
        if self._in_batch:
            if X is None:
                raise ValueError("The promise is for a batch: pass the rows of a batch as X.")
            limits = self.limits(X)
            seen, least = limits.estimate / limits.k, limits.low / limits.k
            name = goals[0].name
            return {"n_flagged": limits.k, name: seen, f"{name} guaranteed": least}
        cutoffs, delta = self._cutoffs, (1.0 - level) / len(goals)
        table: dict[str, AnyArray] = {"n_flagged": cutoffs.n_flagged}
        for goal in goals:
            table[goal.name] = cutoffs.observed(goal)
            table[f"{goal.name} guaranteed"] = cutoffs.guaranteed(goal, delta)
        return table

    @property
    def _asked(self) -> list[Any]:
        return [getattr(self, "estimator_", self.estimator)]

    @property
    def _best(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def _scores(self, X: Any) -> FloatArray:
        scores = ranking_scores(self.estimator_, X, self.pos_label_)
        return check_scores(scores, self.estimator_, num_samples(X))

    def _reached(self, scores: FloatArray) -> BoolArray:
        """Which scores reach the cut-off, in the coarser type of these and of the calibration."""
        scores, known = in_coarsest_type(scores, self.calibration_scores_)
        if np.isinf(self.threshold_):
            return np.asarray(scores >= self.threshold_)
        return np.asarray(scores > known[self.calibration_scores_ < self.threshold_].max())

    def _limits(self, scores: FloatArray, most: int) -> BatchLimits:
        """Limits for up to ``most`` rows of a batch."""
        labels, k = (self.calibration_positive_, self.calibration_scores_), np.arange(1, most + 1)
        *_, level, seed = self._stored
        return batch_limits(*labels, scores, k=k, level=level, random_state=seed)

    def _first(self, scores: FloatArray, k: int) -> BoolArray:
        """Whether each row is among the first k, with ties at the end in random order."""
        flagged = np.zeros(len(scores), dtype=bool)
        if k:
            cut = np.partition(scores, len(scores) - k)[len(scores) - k]
            flagged = scores > cut
            tied, rng = np.flatnonzero(scores == cut), check_generator(self._stored[-1])
            flagged[rng.permutation(tied)[: k - np.count_nonzero(flagged)]] = True
        return flagged

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        tags.input_tags = deepcopy(inner.input_tags)
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing of the fits and of the split.

        Returns
        -------
        MetadataRouter
            The requests.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=mapping)
        split = MethodMapping().add(caller="fit", callee="split")
        is_splitter = hasattr(self.cv, "get_metadata_routing")
        splitter = self.cv if is_splitter else GroupShuffleSplit()
        return router.add(splitter=splitter, method_mapping=split)


def largest_number(capacity: float | None, n: int) -> int:
    """Number of rows of a batch of n that are flagged at most."""
    if capacity is None:
        return n
    if is_whole(capacity):
        return min(check_whole("capacity", capacity, 1), n)
    what = "a share of a batch, or a whole number of rows, such as 50"
    return int(check_share("capacity", capacity, what=what) * n * (1.0 + 1e-12))


def less_skew(z: FloatArray, skewness: float) -> FloatArray:
    """Quantiles of a studentized sum that is skew to the left, made normal (Hall 1992)."""
    if skewness > 0.0:
        z = np.clip(z, -38.0, 8.0)  # the ends of what is not rounded
        z = z + skewness * (2.0 * z**2 + 1.0) / 6.0 + skewness**2 * z**3 / 27.0
    return z


def _why_impossible(cutoffs: CutOffs, goal: Goal, delta: float, level: float) -> str:
    """Best value that the labels show, and number of labels that would be enough."""
    text = f"No cut-off has {goal.text} with confidence {100 * level:g} %"
    if goal.in_sequence:
        least = float(cutoffs.amounts.min()) if goal.name == "mean value" else 0.001

        def shown(value: float) -> IntArray:
            return np.flatnonzero(cutoffs.certified(replace(goal, value=value), delta))

        values = np.linspace(least, goal.value, 513)[:-1]
        if (most := last_of(values, lambda value: len(shown(value)) > 0)) > least:
            share = cutoffs.n_flagged[shown(most)[-1]] / len(cutoffs.positive)
            text += (
                f": the most that is shown is a {goal.name} of {most:.3f}, of the first"
                f" {100 * share:.3g} % of these rows"
            )

    def is_missed(log_times: float) -> bool:
        return not cutoffs.certified(goal, delta, exp(log_times)).any()

    if is_missed(log(MAX_GROWTH)):
        return f"{text}, and no number of rows like these would do."
    logs = np.linspace(0.0, log(MAX_GROWTH), 513)[:-1]
    more = expm1(last_of(logs, is_missed)) * len(cutoffs.positive)
    return f"{text}; some {ceil(1.02 * more):,} more calibration rows like these would do."
