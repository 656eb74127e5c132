"""Cross-validation: folds, fits, intervals of the mean over the folds, and comparisons.

Each row, or query, has an influence on the mean through every part that holds it out. If each row
is in one part, this is the influence within its fold, so all folds are one sample with the number
of all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import sklearn
from sklearn.base import is_classifier
from sklearn.model_selection import KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter

from .. import _outer
from .._printed import fixed
from .._sklearn_compat import num_samples
from .._times import hold_times
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import (
    check_choice,
    check_generator,
    check_level,
    check_qid,
    check_whole,
    is_whole,
    ravelled,
    refuse_misread,
    shown,
)
from ..inference import Comparison, Interval, metric_interval
from ..inference._shared import (
    Question,
    check_groups,
    joint_comparison,
    joint_influence,
    refuse_several_groups,
)
from ..metrics import Measure, get_measure
from ..metrics._shared import Groups, MeasureLike, PartialLabels, response_methods
from ._candidates import (
    FitPlan,
    Split,
    check_splits,
    fit_parts,
    labelled_rows,
    labels_read,
    number_repeated,
    positive_rows,
    read_splits,
)
from ._held_out import HeldOut, refuse_one_list
from ._query_splitters import QueryKFold, groups_for, places_of, queries_of

if TYPE_CHECKING:
    from .._labels_in_part import Design


def _routed(plan: FitPlan) -> FitPlan:
    """Find which of the parameters ``fit`` takes, the names of the ids, and whether by routing."""
    routed = bool(sklearn.get_config()["enable_metadata_routing"])
    if not routed and plan.ids is not None and has_fit_parameter(plan.estimator, "qid"):
        return plan._replace(ids_as=("qid",))
    router = MetadataRouter(owner="cross-validation").add(
        estimator=plan.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit")
    )
    with sklearn.config_context(enable_metadata_routing=True):
        # A ranker of queries asks for qid under the name groups; another may ask for qid itself.
        requested = set() if plan.ids is None else router.consumes("fit", ("groups", "qid"))
        if not routed and not requested:
            return plan
        metadata = plan.params | dict.fromkeys(requested, plan.ids)
        of_fit = dict(process_routing(router, "fit", **metadata).estimator.fit) if metadata else {}
    ids_as = tuple(name for name, value in of_fit.items() if value is plan.ids)
    params = {name: of_fit[name] for name in of_fit if name not in ids_as}
    return plan._replace(params=params, ids_as=ids_as, routed=True)


class Sample(NamedTuple):
    """Rows, labels and ids for the measure and for the fits."""

    measure: Measure
    plan: FitPlan
    labels: AnyArray  # (n_samples,): 0 and 1, or grades
    qid: AnyArray | None  # (n_samples,); None is one list
    groups: AnyArray | None  # (n_samples,)
    partial: PartialLabels | None  # Known labels; None if all are known

    @property
    def positive(self) -> BoolArray | None:
        of_classes = self.qid is None and self.measure.kind == "binary"
        return self.labels == 1 if of_classes else None

    def labelled(self, rows: IntArray) -> IntArray:
        return rows if self.partial is None else rows[self.partial.known[rows]]

    @property
    def units(self) -> AnyArray | None:
        """Ids of the units that folds keep whole."""
        return self.qid if self.groups is None else self.groups

    def held_out(self, tests: Sequence[IntArray], *scores: Sequence[FloatArray]) -> HeldOut:
        """Candidates on held-out parts, by the scores of each on each part."""
        labels, of_parts = [self.labels[rows] for rows in tests], list(zip(*scores, strict=True))
        qid = None if self.qid is None else [self.qid[rows] for rows in tests]
        return HeldOut(self.measure, labels, of_parts, qid, rows=tests, least=1)


def samples_of(
    estimators: Sequence[Any],
    X: Any,
    y: Any,
    measure: Measure,
    pos_label: Any,
    design: Design,
    groups: Any,
    qid: Any,
    params: Any,
) -> list[Sample]:
    """Read the rows, the ids, which may be among the parameters of ``fit``, and the labels."""
    if params is not None and not isinstance(params, dict):
        raise TypeError(
            f"params is a {type(params).__name__}, but must be a dict from names to arguments"
            " of fit: pass params={'sample_weight': weight}."
        )
    params, ids = dict(params or {}), {"qid": qid, "groups": groups}
    for name, value in ids.items():
        within = params.pop(name, None)
        if value is not None and within is not None:
            raise ValueError(f"{name} was passed twice, also in params: leave out one of the two.")
        ids[name] = within if value is None else value
    if ids["qid"] is None:
        refuse_one_list(measure)
    refuse_misread(**params | {"X": X, "y": y, "design": design}, **ids)
    for name, value in ids.items():
        if value is not None:
            ids[name] = np.asarray(check_qid(ravelled(value, name), num_samples(X), name=name))
    qid, groups = ids.values()
    if qid is not None and groups is not None:
        _, first, query = np.unique(qid, return_index=True, return_inverse=True)
        if (differs := groups[first][query] != groups).any():
            refuse_several_groups(f"the query {qid.tolist()[int(np.argmax(differs))]!r}")
    value = params.pop("value", None) if measure.of_amounts else None
    if y is None:
        raise ValueError("This requires y to be passed, but the target y is None.")
    partial = None
    if design is not None:
        y, partial = _outer.check_partial_labels(y, design, "y", qid, pos_label)
        _outer.check_fitted_proxy(y, partial)
        if partial.unreachable.any():
            raise ValueError(
                f"By the design {int(partial.unreachable.sum())} rows could have no label, so"
                " nothing tells how fold models rank them: label a random sample of them, or pass"
                " the scores of fitted models to metric_interval, for the limits over all labels."
            )
    X, y = labelled_rows(X, y)
    samples = []
    for estimator in estimators:
        label, positive = positive_rows([estimator], y, measure, pos_label, qid is not None)
        labels, read = labels_read(measure, y, positive, value)
        ids, methods = groups if qid is None else qid, response_methods(measure)
        plan = FitPlan(estimator, X, y, params, label, ids, methods=methods)
        samples.append(Sample(read, _routed(plan), labels, qid, groups, partial))
    return samples


def make_folds(cv: Any, sample: Sample, random_state: Any) -> list[Split]:
    """Split the rows into folds, and raise an error for folds without a value."""
    if isinstance(cv, int):
        check_whole("cv", cv, 2)
    seed = None if random_state is None else int(check_generator(random_state).integers(2**31))
    y, units = sample.plan.y, sample.units
    if cv is None or is_whole(cv):
        splitter, y = _make_splitter(5 if cv is None else cv, sample, seed)
        units = places_of(units, len(y))
    else:
        splitter = check_cv(cv, y, classifier=is_classifier(sample.plan.estimator))
    splits = read_splits(splitter, sample.plan.X, y, groups_for(splitter, units))
    if sample.qid is None and any(len(test) == 1 for _, test in splits):
        raise ValueError(
            f"A fold of one row has no value of {sample.measure.name!r}, and scores of different"
            f" fold models must not be pooled: pass cv=5, not leave-one-out."
        )
    ids = {"group": sample.groups, "query": sample.qid}
    wholes = {name: values for name, values in ids.items() if values is not None}
    check_splits(splits, None, wholes)
    labelled = [(sample.labelled(train), sample.labelled(test)) for train, test in splits]
    check_splits(labelled, sample.positive, {})
    return [(train, test) for (train, _), (_, test) in zip(labelled, splits, strict=True)]


def _make_splitter(n_folds: int, sample: Sample, seed: int | None) -> tuple[Any, AnyArray]:
    """Return the splitter for a number of folds, and the labels that it stratifies by."""
    shuffle = {"shuffle": seed is not None, "random_state": seed}
    units = sample.units
    if sample.positive is None:
        return (KFold if units is None else QueryKFold)(n_folds, **shuffle), sample.plan.y
    known, labels = sample.labelled(np.arange(len(sample.labels))), sample.labels
    for name, of_class in (("positive", sample.positive), ("negative", ~sample.positive)):
        of_class = np.intersect1d(known, np.flatnonzero(of_class))
        count = len(of_class) if units is None else len(np.unique(units[of_class]))
        if count < n_folds:
            what = f"{count} {name}s" if units is None else f"{name}s in {count} groups only"
            mend = f"pass cv={count}, or more data" if count > 1 else "pass more data"
            raise ValueError(
                f"y has {what}, but each of {n_folds} folds needs at least one: {mend}."
            )
    if len(labels) - len(known) >= n_folds:
        # Rows without a label are spread over the folds, too.
        labels = np.full(len(labels), -1)
        labels[known] = sample.labels[known]
    kind = StratifiedKFold if units is None else StratifiedGroupKFold
    return kind(n_folds, **shuffle), labels


def _joined(sample: Sample, tests: Sequence[IntArray], scores: Sequence[FloatArray]) -> FloatArray:
    """Scores of all rows, each by the model that was fitted without its query."""
    rows, n = np.concatenate(tests), len(sample.labels)
    if len(rows) != n or len(np.unique(rows)) < n:
        raise ValueError(
            "design with queries needs folds that hold out each query once: pass a number as cv,"
            " or QueryKFold."
        )
    return np.concatenate(list(scores))[np.argsort(rows)]


def _groups_of_units(sample: Sample, parts: HeldOut) -> Groups | None:
    """Groups of all units that are held out, in the order in which they are pooled."""
    ids = sample.units if hold_times(sample.qid) else sample.groups
    if ids is None:
        return None
    rows = np.unique(np.concatenate(parts.units))
    if sample.qid is not None:
        known, first = np.unique(sample.qid, return_index=True)
        rows = first[np.searchsorted(known, rows)]
    return check_groups(ids[rows], len(rows))


def bootstrap_interval(
    sample: Sample, n_resamples: int, level: float, rng: np.random.Generator, n_jobs: int | None
) -> tuple[Interval, str]:
    """Correct the value of the model fitted to all rows by fits to bootstrap samples.

    Returns the interval for this model, and a sentence on the estimate.
    """
    all_rows = np.arange(len(sample.labels))
    drawn, copies = zip(*(_draw_rows(sample, rng) for _ in range(n_resamples)), strict=True)
    parts = [(train, all_rows) for train in (all_rows, *drawn)]
    (fits,) = fit_parts([sample.plan], parts, n_jobs, [None, *copies])
    scores = [fit.scores for fit in fits]
    whole = sample.held_out([all_rows], scores[:1])
    outside = [np.setdiff1d(all_rows, train) for train in drawn]
    unseen = sample.held_out(outside, [s[o] for s, o in zip(scores[1:], outside, strict=True)])
    left_out = float(np.mean([part[0].estimate for part in unseen.influences]))
    sign, inside, tied, overfit = whole.sign, float(whole.means[0]), whole.chance, 0.0
    if tied is None:
        raise ValueError(
            f"{sample.measure.name!r} has no known value for a random order, which method='632+'"
            " needs: pass method='folds'."
        )
    # Both values are weighed by the overfitting rate.
    outer = sign * left_out
    if inside > tied:
        outer = max(outer, tied)
        overfit = max(inside - outer, 0.0) / (inside - tied)
    # A bootstrap sample has a share 1 - 1/e of the rows, about.
    weight = 0.632 / (1.0 - 0.368 * overfit)
    estimate = sign * ((1.0 - weight) * inside + weight * outer)
    estimate = float(np.clip(estimate, *sample.measure.counted_range))
    interval = unseen.interval(level, _groups_of_units(sample, unseen), estimate)
    return interval, (
        f"Apparent {fixed(sign * inside)}, and {fixed(left_out)} on rows outside of the samples,"
        f" by {n_resamples} bootstrap samples."
    )


def _draw_rows(sample: Sample, rng: np.random.Generator) -> tuple[IntArray, IntArray | None]:
    """Draw a bootstrap sample with rankable rows inside and outside it, and number its copies."""
    all_rows, copies = np.arange(len(sample.labels)), None
    positive = np.zeros(len(all_rows), bool) if sample.positive is None else sample.positive
    classes = [all_rows[positive == of_class] for of_class in np.unique(positive)[::-1]]
    for _ in range(1000):
        if sample.units is None:
            train = np.sort(np.concatenate([rng.choice(rows, len(rows)) for rows in classes]))
        else:
            # Whole queries or groups.
            units = queries_of(sample.units, len(all_rows), "The bootstrap")
            drawn = rng.integers(units.count, size=units.count)
            counts = np.bincount(drawn, minlength=units.count)[units.of_rows]
            train = np.repeat(all_rows, counts)
            copies = np.arange(len(train)) - np.repeat(np.cumsum(counts) - counts, counts)
        sides = train, np.setdiff1d(all_rows, train)
        if all(len(np.unique(positive[rows])) == len(classes) for rows in sides):
            return train, copies
    raise ValueError(
        "None of 1000 bootstrap samples has both classes inside and outside the sample: pass more"
        " rows, or more groups, of the rarer class."
    )


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
    bias : None
        Not estimated.
    corrections : tuple, default=()
        Empty.
    fold_values : tuple of float, default=()
        Value of each fold model on its fold; empty for a bootstrap.
    fold_sizes : tuple of tuple of int, default=()
        Numbers of positives and negatives of each fold, or its number of queries or of items.
    fold_units : tuple of str, default=()
        Names of what ``fold_sizes`` counts.
    note : str, default=""
        Sentence that describes the model to which the interval applies.

    See Also
    --------
    cross_val_interval : Computes it.

    Examples
    --------
    >>> from sklearn_rank.model_selection import CrossValInterval
    >>> print(CrossValInterval(0.83, 0.75, 0.89, 0.95, "632+", "expected auc"))
    0.8300 [0.7500, 0.8900] (expected auc, 95 %, 632+)
    """

    fold_values: tuple[float, ...] = ()
    fold_sizes: tuple[tuple[int, ...], ...] = ()
    fold_units: tuple[str, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        lines = [super().__str__()] + ([self.note] if self.note else [])
        if self.fold_values:
            lines.append("  ".join(["fold", " value", *self.fold_units]))
        folds = zip(self.fold_values, self.fold_sizes, strict=True)
        for fold, (value, sizes) in enumerate(folds):
            columns = zip(sizes, self.fold_units, strict=True)
            counts = (f"{size:{len(name)}d}" for size, name in columns)
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
    design: Design = None,
    level: float = 0.95,
    method: Literal["folds", "632+"] = "folds",
    n_jobs: int | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> CrossValInterval:
    """Confidence interval for a cross-validated ranking measure.

    Let ``A_j`` be the expected measure of the model fitted without fold j. The estimate is the
    mean of the values of the K fold models on their folds, and the interval is for ``(A_1 + ... +
    A_K) / K``, the mean expected measure of these fold models. The method "632+" is for the model
    fitted to all rows.

    Parameters
    ----------
    estimator : estimator
        Binary classifier, regressor or ranker, or a pipeline or search of one. It is cloned,
        whether or not it is fitted.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows; for a precomputed kernel the square matrix.
    y : array-like of shape (n_samples,)
        Labels of two classes, or grades.
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts: a measure
        of one list with an influence function, such as ``"auc"`` and ``"ap"``, or a mean over
        queries, such as ``"ndcg@10"``.
    cv : int, splitter, iterable or None, default=None
        Cross-validation strategy. An int, or None for 5, is the number of folds. They are
        stratified, with ``groups`` stratified folds of whole groups
        (:class:`sklearn.model_selection.StratifiedGroupKFold`), and for queries folds of whole
        queries (:class:`QueryKFold`). For a bootstrap it is the number of samples, each of which
        needs one fit, at least 20; None means 200.
    groups : array-like of shape (n_samples,), default=None
        Id of the group (patient, user) of each row. Rows of different groups are independent, rows
        of one group may depend on each other in any way. Folds must keep groups whole.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order, for a mean over queries. ``groups`` are then groups
        of queries.
    params : dict or None, default=None
        Parameters passed to the fits, such as ``{"sample_weight": weight}``; with metadata routing
        enabled they go where they are requested. It may contain ``groups`` and ``qid``, and for
        measures of amounts, such as ``"profit@50"``, ``value``: see
        :func:`sklearn_rank.metrics.get_scorer`. The measure is unweighted.
    design : LabelDesign, "all" or None, default=None
        How rows were chosen for labelling, if some labels of ``y`` are missing; as for
        :func:`sklearn_rank.inference.metric_interval`, and for the population as there. Fits use
        the rows with labels, weighted if ``params`` has ``design.sample_weight(y)``.
    level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). A higher level gives a wider interval.
    method : {"folds", "632+"}, default="folds"
        "folds" is for the mean of the fold models. "632+" is for the model fitted to all rows,
        from its value on them and from models fitted to bootstrap samples of rows within each
        class, of groups or of queries.
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

    Returns
    -------
    CrossValInterval
        Estimate, limits, and value and size of each fold. Printing it shows a table.

    Raises
    ------
    TypeError
        If ``measure`` is not a measure, or ``params`` is not a dict.
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
    every cross-validation. Limits are asymptotic, for independent rows, queries or groups, at the
    labels of the folds.

    **Method.** Given the labels, the variance of a fold's value comes from the influence of its
    rows, or from the values of its queries. All folds together are one sample, centred once for
    each class. The limits are those of :func:`sklearn_rank.inference.metric_interval` for this
    influence: "wilson" for the AUC, "influence" for other measures, of several folds with
    Student's quantile, and those of a mean for queries. The target is that of the population there
    too: the mean bias of the folds, of bootstraps that of a list of all rows, is subtracted from
    the limits. One fold is one list.

    The folds are treated as independent given their models, although each row is also used for
    training. This is asymptotically correct for stable estimators, for which one row changes the
    measure by less than ``1 / n`` [1]_. Otherwise, as for outliers and very weak signal, coverage
    is below the level (measured in :doc:`/benchmarks/inference`).

    **Rows in several parts,** as in repeated folds and random splits: the influence of a row is
    its mean over these parts, so repeats hardly shorten the interval.

    Do not pool the scores of all folds into one list: fold models have different scales.

    **The model fitted to all rows.** "632+" is a weighted mean of its value on these rows and the
    mean value of the bootstrap models on the rows outside their samples. The weight depends on how
    close the latter is to the value of tied items, which carries no information [3]_. The interval
    is centred at this estimate, with the width from the mean influence of each row outside the
    samples; the variance of the correction is not included.

    **Labels known in part.** With ``design``, fits use the rows with labels, and all rows of a
    fold are ranked. The score limits of :func:`sklearn_rank.inference.metric_interval` for the
    mean of the folds' values with all labels, and the limits that these labels would give, are
    joined: their distances from the estimate are added in squares. A mean over queries takes the
    scores of all folds. Rows of which none was to be labelled are refused.

    The cost is K fits, or ``1 + n_resamples`` fits, plus O(n log n) time and O(n) memory for each.

    References
    ----------
    .. [1] Bayle, Bayle, Janson & Mackey (2020), *Cross-validation confidence intervals for test
       error*, Advances in Neural Information Processing Systems 33.
    .. [2] LeDell, Petersen & van der Laan (2015), *Computationally efficient confidence intervals
       for cross-validated area under the ROC curve estimates*, Electronic Journal of Statistics 9.
    .. [3] Efron & Tibshirani (1997), *Improvements on cross-validation: the .632+ bootstrap
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
    0.9244 [0.8825, 0.9505] (mean expected auc of the 5 fold models, 95 %, folds, wilson)
    Each was fitted to 80 % of the rows; this is not the model fitted to all rows.
    fold   value  positives  negatives
       0  0.9154         45         26
       1  0.9476         45         25
       2  0.9013         45         25
       3  0.9547         45         25
       4  0.9031         45         25
    """
    check_level(level)
    check_choice("method", method, ("folds", "632+"))
    measure = get_measure(measure)
    (sample,) = samples_of([estimator], X, y, measure, pos_label, design, groups, qid, params)
    of_folds: dict[str, Any] = {}
    if method == "folds":
        parts = make_folds(cv, sample, random_state)
        (fits,) = fit_parts([sample.plan], parts, n_jobs)
        scores, tests = [fit.scores for fit in fits], [test for _, test in parts]
        note = _note(parts, sample)
        folds = sample.held_out(tests, scores)
        target = f"mean expected {sample.measure.name} of {folds.scored_models}"
        if sample.partial is None:
            interval = folds.interval(level, _groups_of_units(sample, folds))
            values = [part[0].estimate for part in folds.influences]
            units = tuple(folds.sizes)
            sizes = [*zip(*folds.sizes.values(), strict=True)]
        else:
            target += f", {sample.partial.text}"
            values, sizes, units = [], [], ("labels", "rows")
            if sample.qid is None:
                interval, values = _outer.interval_of_folds(sample, tests, scores, level)
                sizes = [(len(sample.labelled(test)), len(test)) for test in tests]
            else:
                labels = np.where(sample.partial.known, sample.labels, np.nan)
                columns: Any = {"qid": sample.qid, "groups": sample.groups, "design": design}
                score = _joined(sample, tests, scores)
                interval = metric_interval(sample.measure, labels, score, level=level, **columns)
        of_folds = {"fold_values": tuple(values), "fold_sizes": tuple(sizes), "fold_units": units}
    else:
        if design is not None:
            raise ValueError(
                f"design={shown(design)} is for method='folds', but method={method!r}: leave"
                " design out."
            )
        n_resamples = check_whole("cv", 200 if cv is None else cv, 20)
        rng = check_generator(random_state)
        interval, note = bootstrap_interval(sample, n_resamples, level, rng, n_jobs)
        target = f"expected {measure.name} of the model fitted to all rows"
    texts = {"method": f"{method}, {interval.method}", "target": target, "note": note}
    return CrossValInterval(**vars(interval) | texts | of_folds | {"bias": None})


def _note(parts: Sequence[Split], sample: Sample) -> str:
    shares = [100.0 * len(train) / len(sample.labels) for train, _ in parts]
    low, high = round(min(shares)), round(max(shares))
    share = f"{low} %" if low == high else f"{low} to {high} %"
    each = "It was" if len(parts) == 1 else "Each was"
    text = f"{each} fitted to {share} of the rows; this is not the model fitted to all rows."
    n_tests = sum(len(test) for _, test in parts)
    n_rows = len(np.unique(np.concatenate([test for _, test in parts])))
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
    baseline: str | None = None,
    margin: float | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    pos_label: Any = None,
    random_state: Any = None,
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
        Labels of two classes, or grades.
    measure : str, Measure, ScoreGeneratingFunction or callable
        The measure; as for :func:`cross_val_interval`.
    cv : int, splitter, iterable or None, default=None
        Cross-validation strategy, with the same folds for all estimators; as for
        :func:`cross_val_interval`.
    groups : array-like of shape (n_samples,), default=None
        Group id of each row; as for :func:`cross_val_interval`.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order, for a mean over queries.
    params : dict or None, default=None
        Parameters passed to the fits of all estimators; as for :func:`cross_val_interval`.
    baseline : str or None, default=None
        Estimator that every other one is compared with, ``other - baseline``. None means all
        pairs, which gives wider intervals.
    margin : float or None, default=None
        Largest difference that is of no importance, in units of the measure, greater than 0. The
        test is then of non-inferiority: the first estimator of each contrast is worse than the
        second by less than ``margin``. This respects measures for which lower is better.
    level : float, default=0.95
        Nominal probability, in (0, 1), that all intervals hold. With a margin it is the
        probability for the limits on one side. The tests are at level ``1 - level``.
    n_jobs : int or None, default=None
        Number of parallel jobs, as for joblib. The result does not depend on it.
    pos_label : int, float, bool, str or None, default=None
        Label of the positive class; as for :func:`cross_val_interval`.
    random_state : int, RandomState, Generator or None, default=None
        Random number generator or seed. It shuffles the folds if ``cv`` is a number (None keeps
        the order of the rows) and makes the draws of the max-t method. Pass an int for
        reproducible results.

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
        the positive classes differ, ``margin`` does not match the measure, or as for
        :func:`cross_val_interval`.

    See Also
    --------
    cross_val_interval : Interval for one estimator.
    sklearn_rank.inference.compare : Comparison of fitted models on a test set.

    Notes
    -----
    The joint covariance of all estimators comes from the influence of each row, or the value of
    each query, on the means over the folds; groups are summed. The largest absolute statistic has
    the distribution of the maximum of correlated Student variables (max-t).

    The comparison is of the fold models, not of the algorithms on other samples of rows.

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
    standard errors are of each ranker alone, not adjusted for choosing the best
    <BLANKLINE>
    ranker       value  standard error
    linear      0.9244          0.0160
    neighbours  0.9132          0.0171
    <BLANKLINE>
    contrast             difference       95 % interval      p  conclusion
    linear - neighbours     +0.0112  [-0.0239, +0.0462]  0.525  no difference shown
    """
    check_level(level)
    named = named_estimators(estimators)
    names = tuple(named)
    measure = get_measure(measure)
    question = Question.of(measure, names, baseline, None, margin, level)
    ids = groups, qid, params
    samples = samples_of_names(named, X, y, measure, pos_label, None, *ids)
    sample = samples[0]
    parts = make_folds(cv, sample, random_state)
    fits = fit_parts([x.plan for x in samples], parts, n_jobs)
    scores = [[fit.scores for fit in of_one] for of_one in fits]
    tests, rng = [test for _, test in parts], check_generator(random_state)
    folds = sample.held_out(tests, *scores)
    target = f"mean expected {measure.name} of {folds.scored_models}"
    grouped = _groups_of_units(sample, folds)
    joint = joint_influence(folds.pooled, groups=grouped)
    if grouped is None:
        joint = replace(joint, pairs=folds.pairs)
    return joint_comparison(joint, replace(question, measure=sample.measure), rng, target)


def samples_of_names(named: Mapping[str, Any], *rows: Any) -> list[Sample]:
    """Samples of several estimators, which have the same positive class."""
    samples, first = samples_of([*named.values()], *rows), next(iter(named))
    for name, other in zip(named, samples, strict=True):
        if not np.array_equal(samples[0].labels, other.labels):
            raise ValueError(
                f"{first!r} and {name!r} have different positive classes: pass pos_label."
            )
    return samples


def named_estimators(estimators: Any, least: int = 2) -> dict[str, Any]:
    """Read estimators by name; estimators of one class without names are numbered."""
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
    if len(named) < least:
        raise ValueError(
            f"estimators contains {len(named)}, but a comparison needs at least two: use"
            " cross_val_interval for one."
            if least > 1
            else "estimators is empty: pass {'a': first}."
        )
    return named
