"""Confidence intervals for results of cross-validation, and their comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._printed import fixed
from .._sklearn_compat import num_samples
from .._validation import check_choice, check_flag, check_generator, check_level, check_whole
from ..inference import Comparison, Interval
from ..inference._shared import Question, joint_comparison
from ..metrics._shared import MeasureLike
from ._candidates import number_repeated
from ._cross_val import (
    Metadata,
    Part,
    Sample,
    bootstrap_interval,
    fit_parts,
    held_out,
    make_folds,
    measure_of_rows,
    sample_of,
)

METHODS = ("folds", "optimism", "632+")

# Largest number of folds that are printed.
MAX_PRINTED = 20


@dataclass(frozen=True, repr=False)
class CrossValInterval(Interval):
    """Confidence interval from a cross-validation, with the value of each fold.

    Parameters
    ----------
    estimate : float
        The estimate; for folds it is the mean of their values.
    low : float
        Lower limit.
    high : float
        Upper limit.
    level : float
        Nominal coverage of the interval, in (0, 1).
    method : str
        Name of the method that computed the interval.
    target : str
        The quantity that the interval estimates.
    standard_error : float or None, default=None
        Standard error of the estimate.
    fold_values : tuple of float, default=()
        Value of each fold model on its fold; empty for a bootstrap.
    fold_sizes : tuple of tuple of int, default=()
        Numbers of positives and negatives of each fold, or its number of queries.
    note : str, default=""
        Sentence that describes the model to which the interval applies.

    See Also
    --------
    cross_val_interval : Computes it.

    Examples
    --------
    >>> from sklearn_rank.model_selection import CrossValInterval
    >>> print(
    ...     CrossValInterval(
    ...         0.83,
    ...         0.75,
    ...         0.89,
    ...         0.95,
    ...         "folds",
    ...         "mean expected auc of the 2 fold models",
    ...         0.04,
    ...         (0.82, 0.84),
    ...         ((20, 80), (20, 80)),
    ...         "Each fold model was fitted to half of the rows.",
    ...     )
    ... )
    0.8300 [0.7500, 0.8900] (mean expected auc of the 2 fold models, 95 %, folds)
    Each fold model was fitted to half of the rows.
    fold   value  positives  negatives
       0  0.8200         20         80
       1  0.8400         20         80
    """

    fold_values: tuple[float, ...] = ()
    fold_sizes: tuple[tuple[int, ...], ...] = ()
    note: str = ""

    def __str__(self) -> str:
        lines = [super().__str__()] + ([self.note] if self.note else [])
        if not self.fold_values:
            return "\n".join(lines)
        names = ("positives", "negatives") if len(self.fold_sizes[0]) == 2 else ("queries",)
        lines.append("  ".join(["fold", " value", *names]))
        folds = zip(self.fold_values, self.fold_sizes, strict=True)
        for fold, (value, sizes) in enumerate(folds):
            if fold == MAX_PRINTED:
                lines.append(f"and {len(self.fold_values) - MAX_PRINTED} more")
                break
            counts = (f"{size:{len(name)}d}" for size, name in zip(sizes, names, strict=True))
            lines.append("  ".join([f"{fold:4d}", fixed(value), *counts]))
        return "\n".join(lines)


def cross_val_interval(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    measure: MeasureLike,
    cv: Any = None,
    groups: Any = None,
    qid: Any = None,
    params: dict[str, Any] | None = None,
    single_list: bool = False,
    level: float = 0.95,
    method: Literal["folds", "optimism", "632+"] = "folds",
    n_resamples: int = 200,
    n_jobs: int | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    verbose: int = 0,
) -> CrossValInterval:
    """Confidence interval for a cross-validated ranking measure.

    Let ``A_j`` be the expected measure of the model fitted without fold j. The estimate is the
    mean of the values of the K fold models on their folds, and the interval is for ``(A_1 + ... +
    A_K) / K``, the mean expected measure of these fold models. The methods "optimism" and "632+"
    are for the model fitted to all rows.

    Parameters
    ----------
    estimator : estimator
        Binary classifier, regressor or ranker, or a pipeline or search of one. It is cloned,
        whether or not it is fitted.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows; for a precomputed kernel the square matrix.
    y : array-like of shape (n_samples,)
        Labels of two classes, or grades for a mean over queries.
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts: a measure
        of one list with an influence function, such as ``"auc"`` and ``"ap"``, or a mean over
        queries, such as ``"ndcg@10"``.
    cv : int, splitter, iterable or None, default=None
        Cross-validation strategy. An int, or None for 5, is the number of folds. They are
        stratified, with ``groups`` stratified folds of whole groups
        (:class:`sklearn.model_selection.StratifiedGroupKFold`), and for queries folds of whole
        queries (:class:`QueryKFold`).
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user) of each row. Rows of different groups are independent, rows
        of one group may depend on each other in any way. Folds must keep groups whole. For a mean
        over queries without ``qid``, ``groups`` holds the query ids.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order, for a mean over queries. ``groups`` are then groups
        of queries.
    params : dict or None, default=None
        Parameters passed to the fits, such as ``{"sample_weight": weight}``; with metadata routing
        enabled they go where they are requested. It may contain ``groups`` and ``qid``. The
        measure is unweighted.
    single_list : bool, default=False
        Whether ``"ap"`` is a measure of one list although ``groups`` is given, which are then
        groups of rows. If False, ``groups`` holds the query ids of a mean over queries. Without
        ids ``"ap"`` is always a measure of one list.
    level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). A higher level gives a wider interval.
    method : {"folds", "optimism", "632+"}, default="folds"
        "folds" is for the mean of the fold models. "optimism" and "632+" are for the model fitted
        to all rows, from its value on them and from models fitted to bootstrap samples of rows
        within each class, of groups or of queries. These two do not use ``cv``.
    n_resamples : int, default=200
        Number of bootstrap samples, at least 20; each needs one fit.
    n_jobs : int or None, default=None
        Number of parallel jobs, as for joblib. The result does not depend on it.
    pos_label : int, float, bool, str or None, default=None
        Label of the positive class. None means the ``pos_label`` of the estimator, if it has one.
        Otherwise it means 1 for labels in {0, 1} or {-1, 1}; for other labels of a classifier it
        is the greater label, with a warning.
    random_state : int, RandomState, Generator or None, default=None
        Random number generator or seed. It shuffles the folds if ``cv`` is a number (None keeps
        the order of the rows), or draws the bootstrap samples. Pass an int for reproducible
        results.
    verbose : int, default=0
        Verbosity level of joblib; a greater value prints more.

    Returns
    -------
    CrossValInterval
        Estimate, limits, and value and size of each fold. Printing it shows a table.

    Raises
    ------
    TypeError
        If ``measure`` is not a measure, ``params`` is not a dict, or ``single_list`` is not a
        bool.
    ValueError
        If an argument is not valid, ids are missing, a fold of one list has one class or one row,
        or a row, query or group is in the training and the test part of a split. Errors of a fit
        are raised unchanged.

    Warns
    -----
    PositiveClassWarning
        If a classifier's labels are not in {0, 1} or {-1, 1}, and neither it nor ``pos_label``
        sets the positive class.

    See Also
    --------
    sklearn.model_selection.cross_validate : Values of the folds without an interval.
    BoundSearchCV : Search with limits that hold for the chosen candidate.
    sklearn_rank.inference.metric_interval : Interval for one fitted model on a test set.

    Notes
    -----
    **Target.** The target is not the expected measure of the model fitted to all rows, which is
    usually somewhat greater and is never scored on held-out rows. The same holds for the result of
    every cross-validation.

    **Method.** Given the labels, the variance of a fold's value comes from the influence of its
    rows, or from the values of its queries. All folds together are one sample, centred once for
    each class, with Student's quantile for the number of items (queries, groups). The limits are
    those of :func:`sklearn_rank.inference.auc_interval` with "wilson" for the AUC, and those of
    :func:`sklearn_rank.inference.metric_interval` for other measures and for queries. If the
    expectation of a measure depends on the length of the list, as for average precision, the
    target is its value for lists of the length of the folds.

    The folds are treated as independent given their models, although each row is also used for
    training. This is asymptotically correct for stable estimators, for which one row changes the
    measure by less than ``1 / n`` [1]_. Otherwise, as for outliers and very weak signal, coverage
    is below the level, but at least .90 in the study (documentation). In contrast, the mean plus
    or minus 1.96 standard deviations of K values over ``sqrt(K)`` covers .4 to .9.

    **Rows in several parts,** as in repeated folds and random splits: the influence of a row is
    its mean over these parts, so repeats hardly shorten the interval.

    **Invalid folds.** Folds of one row or of one class raise an error, because a measure of one
    list has no value there. Do not pool the scores of all folds into one list: fold models have
    different scales, and a model that predicts its training fraction of positives then has an AUC
    of 0.

    **The model fitted to all rows.** "optimism" is its value on these rows minus a correction: the
    mean, over bootstrap samples, of the value of a model on its own sample minus its value on all
    rows [3]_. "632+" is a weighted mean of the value on these rows and the mean value of the
    bootstrap models on the rows outside their samples. The weight depends on how close the latter
    is to the value of tied items, which carries no information [4]_. Both methods centre the
    interval at the corrected estimate, with the width from the mean influence of each row outside
    the samples. The variance of the correction itself is not included; the documentation has the
    coverage. For models that memorise training rows, such as forests, only "632+" is useful.

    The cost is K fits, or ``1 + n_resamples`` fits, plus O(n log n) time and O(n) memory for each.

    References
    ----------
    .. [1] Bayle, Bayle, Janson & Mackey (2020), *Cross-validation confidence intervals for test
       error*, Advances in Neural Information Processing Systems 33.
    .. [2] LeDell, Petersen & van der Laan (2015), *Computationally efficient confidence intervals
       for cross-validated area under the ROC curve estimates*, Electronic Journal of Statistics 9.
    .. [3] Efron & Gong (1983), *A leisurely look at the bootstrap, the jackknife, and
       cross-validation*, The American Statistician 37.
    .. [4] Efron & Tibshirani (1997), *Improvements on cross-validation: the .632+ bootstrap
       method*, Journal of the American Statistical Association 92.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.model_selection import cross_val_interval
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> print(
    ...     cross_val_interval(
    ...         LogisticRegression(), X, y, measure="auc", random_state=0
    ...     )
    ... )
    0.9244 [0.8821, 0.9506] (mean expected auc of the 5 fold models, 95 %, folds, wilson)
    Each was fitted to 80 % of the rows; this is not the model fitted to all rows.
    fold   value  positives  negatives
       0  0.9154         45         26
       1  0.9476         45         25
       2  0.9013         45         25
       3  0.9547         45         25
       4  0.9031         45         25
    """
    check_level(level)
    check_choice("method", method, METHODS)
    check_whole("n_resamples", n_resamples, 20)
    check_flag("single_list", single_list)
    measure = measure_of_rows(measure)
    metadata = Metadata.of(
        measure, num_samples(X), groups=groups, qid=qid, params=params, single_list=single_list
    )
    sample = sample_of(estimator, X, y, measure, metadata, pos_label)
    jobs: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
    if method == "folds":
        parts = make_folds(cv, sample, random_state)
        scores = fit_parts(sample.plan, parts, **jobs)
        folds = held_out(sample, [part.test for part in parts], [scores])
        interval = folds.interval(0, level)
        return CrossValInterval(
            estimate=float(folds.values[0].mean()),
            low=interval.low,
            high=interval.high,
            level=level,
            method=f"folds, {interval.method}",
            target=f"mean expected {sample.measure.name} of {_fold_models(parts)}",
            standard_error=interval.standard_error,
            fold_values=tuple(folds.values[0]),
            fold_sizes=tuple(folds.sizes),
            note=_note(parts, sample),
        )
    if cv is not None:
        raise ValueError(f"cv={cv!r} is for method='folds', but method={method!r}: leave cv out.")
    rng = check_generator(random_state)
    interval, note = bootstrap_interval(sample, method, n_resamples, level, rng, jobs)
    return CrossValInterval(
        estimate=interval.estimate,
        low=interval.low,
        high=interval.high,
        level=level,
        method=f"{method}, {interval.method}",
        target=f"expected {measure.name} of the model fitted to all rows",
        standard_error=interval.standard_error,
        note=note,
    )


def _fold_models(parts: Sequence[Part]) -> str:
    """Describe the fold models of the mean."""
    if len(parts) == 1:
        return "the model fitted without the held-out part"
    return f"the {len(parts)} fold models"


def _note(parts: Sequence[Part], sample: Sample) -> str:
    """Describe to which models the interval applies."""
    shares = [100.0 * len(part.train) / len(sample.labels) for part in parts]
    low, high = round(min(shares)), round(max(shares))
    share = f"{low} %" if low == high else f"{low} to {high} %"
    each = "It was" if len(parts) == 1 else "Each was"
    text = f"{each} fitted to {share} of the rows; this is not the model fitted to all rows."
    n_tests = sum(len(part.test) for part in parts)
    n_rows = len(np.unique(np.concatenate([part.test for part in parts])))
    if n_tests > n_rows:
        text += f" The {n_rows} rows held out are in {n_tests / n_rows:.3g} folds each on average."
    return text


def cross_val_compare(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    measure: MeasureLike,
    cv: Any = None,
    groups: Any = None,
    qid: Any = None,
    params: dict[str, Any] | None = None,
    single_list: bool = False,
    baseline: str | None = None,
    margin: float | None = None,
    alternative: Literal["two-sided", "less", "greater", "non-inferior", "equivalent"]
    | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    verbose: int = 0,
) -> Comparison:
    """Compare two or more estimators by cross-validation on the same folds.

    Let ``A_j`` and ``B_j`` be the expected measures of the models of two estimators fitted without
    fold j. The intervals are for the mean of ``A_j - B_j`` over the folds. The null hypothesis is
    that this mean is 0, or equal to the margin if there is one.

    Parameters
    ----------
    estimators : mapping of str to estimator, or list
        Two or more estimators, which are cloned. In a list the name of an estimator is its class,
        or it is a pair (name, estimator).
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels of two classes, or grades for a mean over queries.
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure; as for :func:`cross_val_interval`.
    cv : int, splitter, iterable or None, default=None
        Cross-validation strategy, with the same folds for all estimators; as for
        :func:`cross_val_interval`.
    groups : array-like of shape (n_samples,), default=None
        Group id of each row. For a mean over queries without ``qid`` it is the query id.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order, for a mean over queries.
    params : dict or None, default=None
        Parameters passed to the fits of all estimators; as for :func:`cross_val_interval`.
    single_list : bool, default=False
        Whether ``"ap"`` is a measure of one list; as for :func:`cross_val_interval`.
    baseline : str or None, default=None
        Estimator that every other one is compared with, ``other - baseline``. None means all
        pairs, which gives wider intervals.
    margin : float or None, default=None
        Largest difference that is of no importance, in units of the measure, greater than 0. With
        the default ``alternative`` the test is of non-inferiority: the first estimator of each
        contrast is worse than the second by less than ``margin``. This respects measures for which
        lower is better.
    alternative : {"two-sided", "less", "greater", "non-inferior", "equivalent"}, default=None
        Alternative hypothesis of each contrast: the difference is not 0; below 0; above 0; not
        worse by ``margin`` or more; or smaller than ``margin`` in both directions. None means
        "two-sided" without a margin and "non-inferior" with one.
    level : float, default=0.95
        Nominal probability, in (0, 1), that all intervals hold. For a one-sided alternative and
        for "equivalent" it is the probability for the limits on one side. The tests are at level
        ``1 - level``.
    n_jobs : int or None, default=None
        Number of parallel jobs, as for joblib. The result does not depend on it.
    pos_label : int, float, bool, str or None, default=None
        Label of the positive class; as for :func:`cross_val_interval`.
    random_state : int, RandomState, Generator or None, default=None
        Random number generator or seed. It shuffles the folds if ``cv`` is a number (None keeps
        the order of the rows) and makes the draws of the max-t method. Pass an int for
        reproducible results.
    verbose : int, default=0
        Verbosity level of joblib; a greater value prints more.

    Returns
    -------
    Comparison
        Means over the folds, differences, simultaneous intervals and adjusted p-values. Printing
        it shows a table.

    Raises
    ------
    TypeError
        If ``estimators`` is neither a mapping nor a list, or as for :func:`cross_val_interval`.
    ValueError
        If there are fewer than two estimators, a name occurs twice, ``baseline`` is not a name,
        the positive classes differ, ``margin`` does not match ``alternative`` or the measure, or
        as for :func:`cross_val_interval`.

    See Also
    --------
    cross_val_interval : Interval for one estimator.
    sklearn_rank.inference.compare : Comparison of fitted models on a test set.

    Notes
    -----
    The joint covariance of all estimators comes from the influence of each row, or the value of
    each query, on the means over the folds; groups are summed. The largest absolute statistic has
    the distribution of the maximum of correlated Student variables (max-t). A t-test of K fold
    differences, in contrast, uses only K values and ignores the number of rows.

    The comparison is of the fold models, not of the algorithms. Another estimator may be better on
    another sample of rows, which cross-validation cannot show.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.model_selection import cross_val_compare
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> models = {
    ...     "linear": LogisticRegression(),
    ...     "neighbours": KNeighborsClassifier(20),
    ... }
    >>> print(cross_val_compare(models, X, y, measure="auc", random_state=0))
    mean expected auc of the 5 fold models
    hypothesis: equal auc; two-sided; max-t; level 95 %
    <BLANKLINE>
    ranker       value  standard error
    linear      0.9244          0.0160
    neighbours  0.9132          0.0171
    <BLANKLINE>
    contrast             difference       95 % interval      p  conclusion
    linear - neighbours     +0.0112  [-0.0235, +0.0459]  0.525  no difference shown

    Test whether the linear model is worse by less than 0.05:

    >>> found = cross_val_compare(
    ...     models, X, y, measure="auc", margin=0.05, random_state=0
    ... )
    >>> found.conclusions
    ('linear not worse by 0.05 or more: shown; better: not shown',)
    """
    check_level(level)
    check_flag("single_list", single_list)
    named = _named_estimators(estimators)
    names = tuple(named)
    measure = measure_of_rows(measure)
    question = Question.of(measure, alternative, margin, level)
    contrasts = question.contrasts(names, baseline)
    metadata = Metadata.of(
        measure, num_samples(X), groups=groups, qid=qid, params=params, single_list=single_list
    )
    samples = [
        sample_of(estimator, X, y, measure, metadata, pos_label) for estimator in named.values()
    ]
    sample = samples[0]
    for name, other in zip(names, samples, strict=True):
        if not np.array_equal(sample.labels, other.labels):
            raise ValueError(
                f"{names[0]!r} and {name!r} have different positive classes: pass pos_label= for"
                " all estimators."
            )
    parts = make_folds(cv, sample, random_state)
    scores = [fit_parts(each.plan, parts, n_jobs=n_jobs, verbose=verbose) for each in samples]
    return joint_comparison(
        held_out(sample, [part.test for part in parts], scores).joint,
        names,
        contrasts,
        question,
        check_generator(random_state),
        sample.measure,
        f"mean expected {measure.name} of {_fold_models(parts)}",
    )


def _named_estimators(estimators: Any) -> dict[str, Any]:
    """Read estimators by name; those of one class without names are numbered."""
    if isinstance(estimators, Mapping):
        pairs = [(str(name), estimator) for name, estimator in estimators.items()]
    elif isinstance(estimators, list | tuple):
        names = [str(x[0]) if isinstance(x, tuple) else type(x).__name__ for x in estimators]
        pairs = [
            (name, x[1]) if isinstance(x, tuple) else (numbered, x)
            for x, name, numbered in zip(estimators, names, number_repeated(names), strict=True)
        ]
    else:
        raise TypeError(
            f"estimators is a {type(estimators).__name__}, but must be a mapping from names to"
            " estimators or a list: pass {'a': first, 'b': second}."
        )
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ValueError("estimators contains a name twice: pass unique names.")
    if len(named) < 2:
        raise ValueError(
            f"estimators contains {len(named)}, but a comparison needs at least two: use"
            " cross_val_interval for one."
        )
    return named
