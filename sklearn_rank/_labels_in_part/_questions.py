"""Questions of labels in part: intervals of a list, of queries and of folds, and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._lists import numbers_of_queries
from .._partitions import refuse_collections
from .._sklearn_compat import rows_at
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import Coded, are_missing, check_qid, column_of, is_number, shape_of
from .._warn import warn
from ..inference import Comparison, Interval
from ..inference._shared import (
    Joint,
    LimitsAt,
    Question,
    check_groups,
    check_lists,
    comparison_of_limits,
    joint_comparison,
    joint_influence,
    joint_means,
)
from ..metrics import Measure
from ..metrics._shared import Evidence, Groups
from ._event_order import is_of_event_times, order_of_events
from ._judged_queries import BOUNDED, JudgedQueries, limits_of_bounds
from ._label_bounds import bounds_interval, is_bounded, label_bounds, target_in_part
from ._label_design import (
    Design,
    LabelDesign,
    check_fitted_proxy,
    check_labels_in_part,
    check_partial_labels,
)
from ._late_labels import LateLabels
from ._score_path import (
    limits_of_population,
    score_interval,
    score_limits,
    score_path_of,
    score_path_of_parts,
)


def lists_in_part(
    measure: Measure,
    y_true: Any,
    scores: Sequence[Any],
    *,
    design: Design,
    conditional: bool | None = None,
    name: str = "y_true",
    **rows: Any,
) -> list[Evidence]:
    """Evidence of each of several rankers that scored the same rows of one list."""
    read: Any = {x: rows.get(x) for x in ("sample_weight", "pos_label")}
    y_true, partial = check_partial_labels(y_true, design, name, **read)
    evidences = check_lists(measure, y_true, scores, name=name, **rows)
    labels = evidences[0].data.labels
    if conditional is None:
        # This list, where nothing tells how much lists of the population differ.
        conditional = bool(partial.unreachable.any() or not measure.has_influence)
        conditional |= not np.ptp(labels[partial.known].astype(np.float64))
    evidences = [replace(x, partial=partial, conditional=conditional) for x in evidences]
    check_labels_in_part(evidences)
    check_fitted_proxy(labels, partial)
    return evidences


def interval_in_part(
    measure: Measure,
    y_true: Any,
    y_score: Any,
    rows: dict[str, Any],
    level: float,
    method: str,
    conditional: bool | None,
) -> Interval:
    if "qid" in rows:
        if method not in ("auto", "t", "bounds"):
            raise ValueError(f"method={method!r} does not support design: leave method out.")
        queries = JudgedQueries.of(measure, y_true, {"": y_score}, **rows)
        of_values = "auto" if method == "bounds" else method
        return queries.interval(level, of_values, bool(conditional))
    if method not in ("auto", "score", "bounds"):
        raise ValueError(
            f"method={method!r} needs all labels, but design says that some are not known: leave"
            " method out."
        )
    (evidence,) = lists_in_part(measure, y_true, [y_score], conditional=conditional, **rows)
    return _interval_of_list(evidence, level, method)


def _interval_of_list(evidence: Evidence, level: float, method: str = "auto") -> Interval:
    bounded = is_bounded(evidence)
    if method not in ("auto", "bounds" if bounded else "score"):
        many = "none" if bounded else "a sample"
        raise ValueError(
            f"method={method!r} does not support design, which says that {many} of the rows not"
            " reviewed have labels: leave method out."
        )
    return bounds_interval(evidence) if bounded else score_interval(evidence, level)


def compare_in_part(
    question: Question,
    y_true: Any,
    scores: Mapping[str, Any],
    rows: dict[str, Any],
    rng: np.random.Generator,
) -> Comparison:
    if "qid" in rows:
        queries = JudgedQueries.of(question.measure, y_true, scores, **rows)
        if queries.is_bounded:
            return _of_bounds(queries, question)
        samples = queries.values()
        joint = joint_means(list(samples.values()))
        found = joint_comparison(joint, question, rng, queries.target())
        contrasts = np.vstack([np.eye(len(samples)), question.matrix])
        corrections = queries.corrections(samples, contrasts, found.interval_level)
        return replace(found, corrections=corrections)
    evidences = lists_in_part(
        question.measure, y_true, list(scores.values()), names=list(map(column_of, scores)), **rows
    )
    singles = [_interval_of_list(evidence, question.level) for evidence in evidences]
    values = np.array([single.estimate for single in singles])

    def limits_of(row: FloatArray) -> tuple[float, LimitsAt]:
        contrast = row.tolist()
        if is_bounded(evidences[0]):
            both = label_bounds(evidences, contrast)
            return sum(both) / 2.0, lambda _: both
        limits = score_limits(evidences, contrast)[2]
        # The walks of single values and of their difference end at other probabilities.
        return float(np.clip(row @ values, *limits(question.level))), limits

    target = target_in_part(evidences[0])
    return comparison_of_limits(question, values, limits_of, target, singles[0].method)


def _of_bounds(queries: JudgedQueries, question: Question) -> Comparison:
    """Compare means over queries by the limits of each over all labels that are not known."""

    def limits_of(row: FloatArray) -> tuple[float, LimitsAt]:
        sides = queries.bounds(row.tolist())
        middle = sum(side.mean for side in sides) / 2.0
        return middle, lambda level: limits_of_bounds(sides, level)

    values = [limits_of(row)[0] for row in np.eye(len(question.names))]
    return comparison_of_limits(question, values, limits_of, queries.target(), BOUNDED)


def interval_of_folds(
    sample: Any, tests: Sequence[IntArray], scores: Sequence[FloatArray], level: float
) -> tuple[Interval, list[float]]:
    """Score limits of the mean over the folds of one list; the values of the folds, too."""
    rows = np.unique(np.concatenate(tests))
    tests = [np.searchsorted(rows, test) for test in tests]
    partial, ids = sample.partial.only(rows), sample.groups
    groups = check_groups(None if ids is None else ids[rows], len(rows))
    sample = sample._replace(labels=sample.labels[rows], partial=partial)
    folds = sample.held_out(tests, scores)
    evidences = []
    for (data,), test in zip(folds.lists, tests, strict=True):
        evidence = folds.measure.evidence(data, None if groups is None else groups.only(test))
        evidences.append(replace(evidence, partial=partial.only(test)))
        check_labels_in_part(evidences[-1:])
    path = score_path_of_parts(evidences, tests, sample.labels, partial, groups)

    def joint_of(labels: BoolArray) -> Joint:
        completed = sample._replace(labels=labels.astype(np.int64)).held_out(tests, scores)
        return joint_influence(completed.pooled, groups=groups)

    _, error, limits = limits_of_population(path, [1.0], joint_of)
    low, high = np.clip(limits(level), *folds.measure.range).tolist()
    values = [score_path_of([evidence]).estimate.value for evidence in evidences]
    return Interval(path.estimate.value, low, high, level, "score", "", error), values


def call_as_of(
    door: Callable[..., Any],
    measure: Any,
    y_true: Any,
    scores: Any,
    *,
    design: LabelDesign,
    **columns: Any,
) -> Any:
    """Ask of the rows whose labels are known on a day, and say in the target which these are."""
    weighted = any(columns.get(name) is not None for name in ("sample_weight", "weights"))
    if isinstance(y_true, Mapping) or weighted:
        raise ValueError(
            "design says when labels came, which is for rows that all rankers scored: pass one"
            " array of labels, and leave sample_weight and weights out."
        )
    refuse_collections("labels that come late belong to rows", y_true=y_true, scores=scores)
    columns = {name: x for name, x in columns.items() if x is not None}
    of_times = is_of_event_times(measure)
    late = LateLabels.of(design, y_true, columns.pop("pos_label", None), at_any_time=of_times)
    n, known, bounded = len(late.labels), late.known, False
    if not known.any():
        raise ValueError(
            f"No label is known: the horizon is {late.horizon:g} days, and rows were watched for"
            f" {late.watched.max():g} at most. Pass a later as_of or a shorter horizon."
        )
    if not (of_times or {"qid", "groups"} & set(columns)):
        late.warn_of_days(design.entered)
    y_now, rows, how = late.labels, known, "all labels known"
    if of_times:
        measure, y_now, how = order_of_events(late, vars(design) | columns)
        rows = ~np.isnan(y_now)
    elif design.mature_only and "qid" not in columns:
        rows, how = late.cohort, "mature rows only"
    elif known.all():
        pass
    elif "qid" in columns:
        queries = numbers_of_queries(check_qid(columns["qid"], n))
        whole = np.bincount(queries, ~late.cohort) == 0
        rows, how = whole[queries], f"{whole.sum():,} of {len(whole):,} queries are mature"
    elif late.reaches:
        within = " within strata" * (design.strata is not None)
        how = "weighted by the inverse probability of censoring, taken as independent of score and"
        how += f" event{within}"
        weight, groups = late.weights(check_groups(columns.get("groups"), n))
        columns |= {"sample_weight": weight, "groups": groups, "weights": "sampling"}
    else:
        rows, bounded, how = np.ones(n, dtype=bool), True, "any labels of open rows"
    if not rows.any():
        raise ValueError(f"No label is known ({how}): pass a later as_of, or a shorter horizon.")
    y_now, shares = y_now[rows], late.probability[rows]
    if np.isnan(y_now).any():
        is_sample = shares.all() and not bounded
        way: Any = {"inclusion_probability": shares} if is_sample else {"pool": ~np.isnan(y_now)}
        columns["design"] = LabelDesign(**way)
        for name in {"by", "value"} & set(columns):
            raise ValueError(
                f"{name} is for labels that are all known, but {int(np.isnan(y_now).sum()):,} are"
                f" not ({how}): pass a later as_of or a shorter horizon, or leave {name} out."
            )
        if bounded and shares.all():
            where = " of a stratum" * (design.strata is not None)
            warn(
                f"No row{where} was watched for the horizon of {late.horizon:g} days, but for"
                f" {late.watched[~known].max():g} at most: the limits are those over all labels"
                " that open rows can have; for others pass a shorter horizon or a later as_of.",
                UserWarning,
            )
    at, names = np.flatnonzero(rows), ("scores", "qid", "groups", "by", "value", "sample_weight")
    found = {
        name: _only(at, n, name, x) if name in names else x
        for name, x in {**columns, "scores": scores}.items()
    }
    try:
        result = door(measure, y_now, found.pop("scores"), **found)
    except ValueError as error:
        if "weights" not in columns or "sampl" not in str(error):
            raise
        raise ValueError(
            f"{error} The weights are those of labels that come late, and the design with"
            " mature_only=True has none."
        ) from error
    return replace(result, target=f"{result.target}; {late.text}; {how}")


def _only(at: IntArray, n: int, name: str, values: Any) -> Any:
    """Some rows of a column of n, or of several columns."""
    if values is None:
        return None
    if isinstance(values, Mapping):
        return {x: _only(at, n, f"{name}[{x!r}]", column) for x, column in values.items()}
    if isinstance(values, Groups):
        return values.only(at)
    if name == "value" and isinstance(values, tuple):
        return tuple(x if is_number(x) else _only(at, n, name, x) for x in values)
    shape = shape_of(values)
    if shape[:1] != (n,):
        raise ValueError(
            f"{name} has {(*shape, 1)[0]} rows for {n} labels: pass one entry per row."
        )
    # The rows that are asked have other numbers.
    missing = name != "value" and len(shape) == 1 and are_missing(np.asarray(values))
    if np.any(missing):
        row = int(np.argmax(missing))
        raise ValueError(f"{name} is missing at row {row}: pass it, or leave the row out.")
    return values[at] if isinstance(values, Coded) else rows_at(values, at)
