"""How sure the result of a cross-validation is, and of which models it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._arguments import check_choice, check_flag, check_generator, check_level, check_whole
from .._sklearn_compat import num_samples
from ..inference import Interval
from ..metrics._shared import MeasureLike
from ._cross_val_design import Metadata, Sample, folds_of, measure_of_rows, sample_of
from ._cross_val_evidence import held_out
from ._cross_val_fits import Part, fit_parts
from ._cross_val_optimism import bootstrap_interval

__all__ = ["CrossValInterval", "cross_val_interval", "fold_models"]

METHODS = ("folds", "optimism", "632+")

# Folds that are printed one by one.
PRINTED = 20


@dataclass(frozen=True, repr=False)
class CrossValInterval(Interval):
    """Interval for what a cross-validation estimates, with the folds that it is made of.

    Parameters
    ----------
    estimate : float
        The estimate: for folds the mean of their values, as cross-validation has it.
    low : float
        Lower limit.
    high : float
        Upper limit.
    level : float
        Nominal probability, in (0, 1), that the interval covers its target.
    method : str
        How it was made.
    target : str
        The quantity that it is for.
    standard_error : float or None, default=None
        Standard error of the estimate.
    fold_values : tuple of float, default=()
        Value of each fold model on its fold; empty for a bootstrap.
    fold_sizes : tuple of tuple of int, default=()
        Positives and negatives of each fold, or its queries.
    note : str, default=""
        What it is of, and what it is not, in a sentence.

    See Also
    --------
    cross_val_interval : Makes it.

    Examples
    --------
    >>> from sklearn_rank.model_selection import CrossValInterval
    >>> print(CrossValInterval(
    ...     0.83, 0.75, 0.89, 0.95, "folds", "mean expected auc of the 2 fold models", 0.04,
    ...     (0.82, 0.84), ((20, 80), (20, 80)), "Each fold model was fitted to half of the rows."))
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
            if fold == PRINTED:
                lines.append(f"and {len(self.fold_values) - PRINTED} more")
                break
            counts = (f"{size:{len(name)}d}" for size, name in zip(sizes, names, strict=True))
            lines.append("  ".join([f"{fold:4d}", f"{value:.4f}", *counts]))
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
    """Interval for what cross-validation estimates.

    With ``A_j`` the expected measure of the model that was fitted without fold j, the estimate
    is the mean over the K folds of the values that these models have on their folds, and the
    interval is for ``(A_1 + ... + A_K) / K``: the fold models as they are. Other methods are for
    the model that is fitted to all rows.

    Parameters
    ----------
    estimator : estimator
        Classifier of two classes, regressor or ranker, pipeline or search; it is cloned, whether
        or not it is fitted.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows; for a precomputed kernel the square matrix.
    y : array-like of shape (n_samples,)
        Labels of two classes, or grades for a mean over queries.
    measure : str, Measure, ScoreGeneratingFunction or callable
        A measure of one list with an influence, as ``"auc"`` and ``"ap"``, or a mean over
        queries, as ``"ndcg@10"``; as :func:`sklearn_rank.metrics.get_measure` takes it.
    cv : int, splitter, iterable or None, default=None
        The folds. A number, or None for 5, is of stratified folds, of folds of whole groups
        (:class:`sklearn.model_selection.StratifiedGroupKFold`) or of whole queries
        (:class:`QueryKFold`).
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user) of each row; groups are independent, rows of one group may
        depend on each other in any way. Folds must keep groups whole. For a mean over queries
        without ``qid`` they are the ids of the queries.
    qid : array-like of shape (n_samples,), default=None
        Id of the query of each row, the rows in any order; for a mean over queries. ``groups`` are
        then groups of queries.
    params : dict or None, default=None
        What fits get, as ``{"sample_weight": weight}``; with metadata routing enabled, where it is
        asked for. It may hold ``groups`` and ``qid``. The measure counts each row once.
    single_list : bool, default=False
        Whether ``groups`` are of rows for ``"ap"`` too, which is then of one list, as it is where
        there are no ids at all. Else they are the queries of a mean over queries.
    level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). A higher level gives a wider interval.
    method : {"folds", "optimism", "632+"}, default="folds"
        The mean of the fold models as they are; or the model fitted to all rows, by its value on
        them and by models fitted to bootstrap samples: of rows within each class, of groups or of
        queries. These two take no ``cv``.
    n_resamples : int, default=200
        Bootstrap samples, at least 20; each is a fit.
    n_jobs : int or None, default=None
        Number of fits at a time, as for joblib. The result does not depend on it.
    pos_label : int, float, bool, str or None, default=None
        The positive class. None is the ``pos_label`` of the estimator, else 1 of the usual labels;
        of others of a classifier the greater, with a warning.
    random_state : int, RandomState, Generator or None, default=None
        Source of the folds that a number stands for, where None takes the rows in their order; or
        of the bootstrap samples.
    verbose : int, default=0
        How much joblib tells of the progress.

    Returns
    -------
    CrossValInterval
        Estimate, limits, and value and size of each fold; print it.

    Raises
    ------
    TypeError
        If ``measure`` is no measure, ``params`` no dict, or ``single_list`` no bool.
    ValueError
        If an argument is not valid, ids are missing, a fold has one class or one row where it is
        to be ranked, or a row, query or group is both held out and trained on. What a fit raises.

    Warns
    -----
    PositiveClassWarning
        If a classifier's labels are not among 0 and 1 or among -1 and 1, and neither it nor
        ``pos_label`` says which is positive.

    See Also
    --------
    sklearn.model_selection.cross_validate : The values of the folds alone.
    BoundSearchCV : Limits that hold for whichever candidate is chosen.
    sklearn_rank.inference.metric_interval : One fixed model on a test set.

    Notes
    -----
    **Which number it is.** Not the expected measure of the model that is fitted to all rows, which
    mostly is somewhat better; nothing that is held out sees that model. The same holds for the
    values that any cross-validation prints.

    **How.** Given the labels, the value of a fold varies with the rows of the fold by their
    influence on it, or by the values of its queries, and their influence on the mean over the
    folds is that over K. All folds together are one sample, centred once for each class, with
    Student's quantile for as many items (queries, groups) as there are. Limits are those of
    :func:`sklearn_rank.inference.auc_interval` by "wilson" for the AUC, those of
    :func:`sklearn_rank.inference.metric_interval` for other measures and for queries. The values
    of a measure whose expectation depends on the length of the list, as average precision, are
    those of lists as long as the folds.

    The folds count as independent given their models. They are not quite, since each row is also
    trained on; that vanishes for estimators that are stable, in the sense that one row more or
    less moves the measure by less than ``1 / n`` [1]_. Where it does not, as for outliers and
    hardly any signal, coverage is below the level: .90 at the least in the user guide's study.
    The mean plus or minus 1.96 standard deviations of K values over ``sqrt(K)`` covers .4 to .9.

    **Rows in several parts,** as of repeated folds and random splits: a row moves the mean by the
    mean of its influence in them, so that repeats make the interval hardly shorter.

    **What is refused.** Folds of one row, and folds of one class, rank nothing. To put the scores
    of all folds into one list is no remedy: models of different folds have different scales, and a
    model that scores by the share of positives that it saw has there an AUC of 0.

    **The model fitted to all rows.** "optimism" is its value on these rows less the mean, over the
    bootstrap samples, of what models fitted to a sample are worth more on it than on all rows
    [3]_. "632+" weighs its value on these rows against the mean value of those models on the rows
    outside of their samples, by how far the latter lies towards the value of items that are all
    tied, which is no information [4]_. Either has the limits that the rows outside of the samples
    give, by the mean influence of each row, about the corrected estimate. The spread of the
    correction itself is not among it: the user guide has what is covered. For models that learn
    rows by heart, as forests do, only "632+" is of use.

    K fits, or ``1 + n_resamples``; beyond them O(n log n) time for each fit and O(n) memory for
    each.

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
    >>> print(cross_val_interval(LogisticRegression(), X, y, measure="auc", random_state=0))
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
    read = measure_of_rows(measure)
    metadata = Metadata.of(
        read, num_samples(X), groups=groups, qid=qid, params=params, single_list=single_list
    )
    sample = sample_of(estimator, X, y, read, metadata, pos_label)
    jobs = {"n_jobs": n_jobs, "verbose": verbose}
    if method == "folds":
        return _of_folds(sample, fold_parts(cv, sample, random_state), level, jobs)
    if cv is not None:
        raise ValueError(f"cv={cv!r} is for method='folds', but method={method!r}: leave cv out.")
    rng = check_generator(random_state)
    found = bootstrap_interval(sample, method, n_resamples, level, rng, jobs)
    return CrossValInterval(
        estimate=found.limits.estimate,
        low=found.limits.low,
        high=found.limits.high,
        level=level,
        method=f"{method}, {found.limits.method}",
        target=f"expected {read.name} of the model fitted to all rows",
        standard_error=found.limits.standard_error,
        note=found.note,
    )


def _of_folds(
    sample: Sample, parts: Sequence[Part], level: float, jobs: dict[str, Any]
) -> CrossValInterval:
    """Interval for the mean of the fold models."""
    scores = fit_parts(sample.plan, parts, **jobs)
    found = held_out(sample, [part.test for part in parts], [scores])
    limits = found.interval(0, level)
    return CrossValInterval(
        estimate=float(found.values[0].mean()),
        low=limits.low,
        high=limits.high,
        level=level,
        method=f"folds, {limits.method}",
        target=f"mean expected {sample.measure.name} of {fold_models(parts)}",
        standard_error=limits.standard_error,
        fold_values=tuple(found.values[0]),
        fold_sizes=tuple(found.sizes),
        note=_note(parts, sample),
    )


def fold_parts(cv: Any, sample: Sample, random_state: Any) -> list[Part]:
    """Cut the rows into folds.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        As for :func:`cross_val_interval`.
    sample : Sample
        The sample.
    random_state : int, RandomState, Generator or None
        As for :func:`cross_val_interval`.

    Returns
    -------
    list of Part
        The folds.
    """
    if cv is not None and not hasattr(cv, "split") and isinstance(cv, int):
        check_whole("cv", cv, 2)
    seed = None
    if random_state is not None:
        seed = int(check_generator(random_state).integers(2**31))
    return [Part(train, test) for train, test in folds_of(cv, sample, seed)]


def fold_models(parts: Sequence[Part]) -> str:
    """Say of which models the mean is.

    Parameters
    ----------
    parts : sequence of Part
        The folds.

    Returns
    -------
    str
        The words.
    """
    if len(parts) == 1:
        return "the model fitted without the held-out part"
    return f"the {len(parts)} fold models"


def _note(parts: Sequence[Part], sample: Sample) -> str:
    """Say what the interval is for, and what it is not for."""
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
