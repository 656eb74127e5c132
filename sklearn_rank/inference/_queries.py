"""Inference over queries: one value of the measure each, the interval and tests of their mean.

Such values are far from normal: Student's 95 % interval for the mean of 20 values of 0 and 1
covers as little as .83.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan, sqrt
from typing import Any, NoReturn

import numpy as np
from scipy.stats import bootstrap, rankdata, wilcoxon
from sklearn.exceptions import UndefinedMetricWarning

from .._lists import ScoredLists
from .._partitions import refuse_collections
from .._printed import ROUNDING
from .._typing import AnyArray, BoolArray, FloatArray
from .._validation import (
    check_choice,
    check_item_weights,
    column_of,
    naming,
    shape_of,
    take,
)
from .._warn import warn
from ..metrics import Measure
from ..metrics._shared import Groups, KeptValues, singleton_groups
from ._evidence import (
    WeightMeaning,
    check_groups,
    dimensions,
    refuse_few_draws,
    refuse_fractions,
    warn_of_order,
    warn_of_reversed,
)
from ._joint import GroupPart, Joint, joint_influence, mean_influences
from ._limits import (
    BLOCK,
    Alternative,
    Limits,
    excess_of,
    flipped_subsets,
    holm_adjust,
    pvalue_of,
)
from ._moments import MeanMoments
from ._results import Comparison, Interval, Question, level_of_both


@dataclass(frozen=True, eq=False)
class QueryValues:
    values: FloatArray
    ids: AnyArray  # (n_queries,)
    measure: str
    range: tuple[float, float]  # Smallest and largest value that a query can have
    groups: Groups | None = None
    weight: FloatArray | None = None
    # (n,): Independent deviations that labels not known cause and that the values do not show
    noise: Any = None
    shown: float = 0.0  # Variance of the mean by labels that were drawn, which the values show

    @property
    def mean(self) -> float:
        return float(np.average(self.values, weights=self.weight))

    @cached_property
    def part(self) -> GroupPart:
        """Sums of the deviations from the mean over the groups, each query one without groups."""
        groups = self.groups or singleton_groups(len(self.values))
        lengths = self.range[1] - self.range[0] if self.is_bounded else 0.0
        return GroupPart.of_rows(self.values[np.newaxis], groups, self.weight, lengths)

    @property
    def size_text(self) -> str:
        n, groups = len(self.values), self.groups
        if groups is None:
            return f"{n} queries"
        each = groups.in_time and n == groups.count
        return groups.size_text if each else f"{n} queries of {groups.size_text}"

    @property
    def target(self) -> str:
        in_time = self.groups is not None and self.groups.in_time
        return f"mean {self.measure} over {self.size_text if in_time else 'queries'}"

    @property
    def totals(self) -> tuple[FloatArray, FloatArray | None]:
        """The values, or their sums over groups and the sizes of these."""
        if self.groups is None:
            return self.values, None
        return self.groups.sums(self.values), self.part.sizes

    @cached_property
    def moments(self) -> MeanMoments:
        """Of the mean; without a range its limits are Student's."""
        part, length, bounded = self.part, self.range[1] - self.range[0], self.is_bounded
        variance, independent = part.variance, float(np.sum(part.corrected**2))
        units = nan
        if bounded:
            # Days that depend on each other tell as much as fewer independent ones.
            units = length / float(part.moved_together(np.array([length]))[0])
            units *= min(independent / variance, 1.0) if variance > 0.0 else 1.0
        noise = 0.0 if self.noise is None else float(self.noise @ self.noise)
        plain = self.groups is None and self.weight is None
        return MeanMoments(
            estimate=self.mean,
            error=None if self.constant else sqrt(variance + noise),
            target=self.target,
            method="wilson" if bounded else "t",
            n=float(len(self.values)),
            range=self.range,
            variance=max(variance - self.shown, 0.0),
            # Of the kurtosis over 2: by it, over the effective number, half a value counts.
            excess=excess_of(part.sums[0] / length, part.effective) if bounded else 0.0,
            effective=part.effective,
            units=units,
            degrees=part.degrees,
            are_shares=are_shares(self) and (plain or self.constant),
            of_labels=self.shown + noise,
        )

    def grouped_in_time(self) -> QueryValues:
        """With queries as groups, if their ids are times."""
        return replace(self, groups=check_groups(None, len(self.ids), self.ids))

    def only(self, rows: Any) -> QueryValues:
        """The values of some queries."""
        groups = None if self.groups is None else self.groups.only(rows)
        some: Any = {x: take(getattr(self, x), rows) for x in ("values", "ids", "weight", "noise")}
        return replace(self, groups=groups, **some)

    def less(self, other: QueryValues) -> QueryValues:
        """Differences from the values of another ranker on the same queries; 0 up to rounding."""
        difference = self.values - other.values
        largest = max(np.abs(x.values).max(initial=0.0) for x in (self, other))
        difference[np.abs(difference) <= ROUNDING * largest] = 0.0
        length = self.range[1] - self.range[0]
        of_queries = self.ids, f"difference of {self.measure}", (-length, length)
        return QueryValues(difference, *of_queries, self.groups, self.weight)

    @property
    def is_bounded(self) -> bool:
        return bool(np.isfinite(self.range).all())

    @property
    def constant(self) -> bool:
        are_equal = np.ptp(self.values) <= ROUNDING * np.abs(self.values).max()
        return self.noise is None and bool(are_equal)


def query_values_of(
    measure: Measure,
    y_true: Any,
    scores: Mapping[str, Any],
    *,
    qid: Any = None,
    sample_weight: Any = None,
    weights: WeightMeaning = None,
    groups: Any = None,
    pos_label: Any = None,
    least: int = 2,
    in_chunks: bool = False,
) -> dict[str, QueryValues]:
    if qid is None and dimensions(y_true) != 2:
        raise ValueError(
            "qid is missing, but the test is over queries: pass qid, the query id of each row."
            " For one list use metric_interval or compare without method."
        )
    query_weight = None
    if weights == "sampling":
        sample_weight, query_weight = None, sample_weight
        if qid is None and np.ndim(query_weight) == 2:
            raise ValueError(
                "sample_weight has one value per item, but with weights='sampling' a query is"
                " drawn as a whole: pass one 1 / probability per query, in two dimensions one per"
                " row."
            )
    refuse_fractions(sample_weight)
    rows = {"qid": qid, "sample_weight": sample_weight, "pos_label": pos_label}
    if in_chunks:
        if groups is not None:
            reason = "groups are compared row by row"
            refuse_collections(reason, y_true=y_true, qid=qid, groups=groups, **scores)
        samples, _ = on_same_queries(
            measure,
            scores,
            lambda name: measure(y_true, scores[name], average=None, return_qid=True, **rows),
        )
        return {name: sample.grouped_in_time() for name, sample in samples.items()}
    default = next(iter(scores))
    with naming(column_of(default)):
        lists = measure.lists(y_true, scores[default], **rows)
    shape = shape_of(y_true)
    weight = None if query_weight is None else _weight_of_queries(query_weight, lists, shape)

    scored = {default: lists}

    def evaluate(name: str) -> tuple[FloatArray, AnyArray]:
        if name != default:
            scored[name] = lists.scored_by(scores[name], shape)
        return measure.of_lists(scored[name], average=None, return_qid=True)

    samples, defined = on_same_queries(measure, scores, evaluate, least)
    warn_of_reversed(scored)
    if weight is not None:
        weight = weight[defined]
        refuse_few_draws(weight, "queries")
    dependent, ids = groups_of_queries(groups, lists, shape, defined), samples[default].ids
    in_order = ids.dtype.kind in "iu" and bool((ids[1:] == ids[:-1] + 1).all())
    if dependent is None and qid is not None and in_order:
        warn_of_order(np.stack([sample.values for sample in samples.values()]))
    # By appearance, so that draws do not depend on what the ids are called.
    starts = lists.offsets[:-1]
    order = np.argsort(starts[defined] if lists.rows is None else lists.rows[starts][defined])
    return {
        name: replace(sample, groups=dependent, weight=weight).only(order)
        for name, sample in samples.items()
    }


def _by_query(
    values: AnyArray, lists: ScoredLists, shape: tuple[int, ...]
) -> tuple[AnyArray, AnyArray, BoolArray]:
    """Values of the first items of queries and of all items; and which items differ."""
    rows = np.arange(len(lists.labels)) if lists.rows is None else lists.rows
    of_items = values[rows // shape[1] if len(shape) == 2 else rows]
    of_queries = of_items[lists.offsets[:-1]]
    return of_queries, of_items, of_items != lists.to_items(of_queries)


def _name_of_query(lists: ScoredLists, items: BoolArray) -> str:
    query = np.searchsorted(lists.offsets, int(np.argmax(items)), "right") - 1
    return lists.name_of(int(query))


def _weight_of_queries(
    query_weight: Any, lists: ScoredLists, shape: tuple[int, ...]
) -> FloatArray:
    """Inverse probability of each query, the same for all its rows."""
    by_row = check_item_weights(query_weight, shape[:1], "y_true")
    weight, of_items, differs = _by_query(by_row, lists, shape)
    if differs.any() or not weight.all():
        query = _name_of_query(lists, differs if differs.any() else of_items == 0.0)
        raise ValueError(
            f"sample_weight {'differs' if differs.any() else 'is 0'} within"
            f" {query}, but with weights='sampling' a query is drawn as a whole:"
            " pass the same 1 / probability, above 0, for all rows of a query."
        )
    return weight


def accumulated_values(measure: Measure, queries: KeptValues) -> QueryValues:
    if queries.query_weight is not None:
        raise ValueError(
            "query_weight gives queries different weights, but the interval is for the mean over"
            " identically distributed queries: leave query_weight out."
        )
    samples, _ = on_same_queries(measure, [""], lambda _: queries.combine(measure, None, True))
    return samples[""].grouped_in_time()


def on_same_queries(
    measure: Measure,
    names: Iterable[str],
    evaluate: Callable[[str], tuple[FloatArray, AnyArray]],
    least: int = 2,
) -> tuple[dict[str, QueryValues], BoolArray]:
    """Values and ids of the queries for each ranker, and which of them have a value."""
    samples: dict[str, QueryValues] = {}
    defined = np.empty(0, dtype=bool)
    for name in names:
        with warnings.catch_warnings(), naming(column_of(name)):
            if samples:
                # Undefined queries depend on the labels, which are the same for all rankers: warn
                # once.
                warnings.simplefilter("ignore", UndefinedMetricWarning)
            values, ids = evaluate(name)
        refuse_infinite(measure.name, values, ids)
        if not samples:
            defined = ~np.isnan(values)
        elif not np.array_equal(defined, ~np.isnan(values)):
            query = ids.tolist()[int(np.argmax(defined == np.isnan(values)))]
            raise ValueError(
                f"{measure.name} is defined for the query {query!r} with the scores of one system"
                " but not of another: remove the query or set undefined= of the measure."
            )
        if np.count_nonzero(defined) < least:
            raise ValueError(
                f"{measure.name} has a value for {np.count_nonzero(defined)} of {len(ids)}"
                f" queries, but at least {'two are' if least > 1 else 'one is'} needed: pass more"
                " queries with a value."
            )
        samples[name] = QueryValues(
            values[defined], ids[defined], measure.name, measure.counted_range
        )
    return samples, defined


def groups_of_queries(
    groups: Any, lists: ScoredLists, shape: tuple[int, ...], defined: BoolArray
) -> Groups | None:
    """Group of each query that has a value; all rows of a query are in one."""
    by_row = check_groups(groups, shape[0])
    if by_row is None:
        return None
    codes, _, differs = _by_query(by_row.codes, lists, shape)
    if differs.any():
        refuse_several_groups(_name_of_query(lists, differs))
    distinct, renumbered = np.unique(codes[defined], return_inverse=True)
    if len(distinct) < 2:
        raise ValueError(
            "groups has one group only with queries that have a value, but the variance needs at"
            " least two: pass queries of at least two groups."
        )
    if by_row is groups:  # of several samples
        return replace(groups, codes=codes[defined])
    return replace(by_row, codes=renumbered, n_groups=len(distinct))


def refuse_several_groups(query: str) -> NoReturn:
    raise ValueError(
        f"groups has different ids within {query}: pass groups of whole queries; for groups that"
        " recur in several queries pass qid alone, as of days, or groups alone, which takes all"
        " rows as one list."
    )


def refuse_infinite(name: str, values: FloatArray, ids: AnyArray) -> None:
    if np.isinf(values).any():
        raise ValueError(
            f"{name} is infinite for the query {ids.tolist()[int(np.argmax(np.isinf(values)))]!r}:"
            " remove the query or choose another measure."
        )


def joint_means(samples: Sequence[QueryValues]) -> Joint:
    """Means of the values of several rankers on the same queries, and their covariance."""
    first, values = samples[0], np.stack([sample.values for sample in samples])
    influences = mean_influences(values, first.range, first.weight)
    joint = joint_influence(influences, groups=first.groups)
    joint = replace(joint, singles=[sample.moments for sample in samples])
    if first.noise is None:
        return joint
    return joint.with_units(np.stack([sample.noise for sample in samples]))


def are_shares(sample: QueryValues) -> bool:
    """Whether all values are at the ends of the range, as 0 and 1."""
    return _are_at(sample.values, *sample.range)


def _are_at(values: FloatArray, low: float, high: float) -> bool:
    if not np.isfinite([low, high]).all():
        return False
    distance = np.minimum(np.abs(values - low), np.abs(values - high))
    return bool(np.all(distance <= ROUNDING * (high - low)))


def sample_interval(
    sample: QueryValues,
    level: float,
    method: str = "auto",
    n_resamples: int = 10_000,
    rng: np.random.Generator | None = None,
) -> Interval:
    """Interval for the mean of values of queries; a generator is for the bootstrap only."""
    check_choice("method", method, ("auto", "t", "bootstrap", "bca"))
    if method in ("bootstrap", "bca") and n_resamples * (1 - level) < 2:
        raise ValueError(
            f"n_resamples={n_resamples} is too small for level={level}: pass at least"
            f" {int(np.ceil(2 / (1 - level)))}."
        )
    if sample.constant:
        warn(
            f"The {sample.measure} is {sample.mean:.4g} for all {sample.size_text}, so its"
            " variance cannot be estimated: the limits are as if half a value more were at either"
            " end of the range of the measure.",
            UserWarning,
        )
        method = "auto"
    if method == "auto":
        return sample.moments.interval(level)
    if method == "t":
        return _interval(sample, sample.moments.student_limits(level), level, method)
    _refuse_sampling(sample, method, "method='t'")
    totals, sizes = sample.totals
    of_groups = (totals,) if sizes is None else (totals, sizes)
    kind = {"bootstrap": "percentile", "bca": "BCa"}[method]
    found = bootstrap(
        of_groups,
        lambda x, n=None, axis=-1: x.mean(axis) if n is None else x.sum(axis) / n.sum(axis),
        paired=True,
        vectorized=True,
        batch=max(1, BLOCK // (4 * len(totals))),
        n_resamples=n_resamples,
        confidence_level=level,
        method=kind,
        rng=rng,
    )
    return _interval(sample, found.confidence_interval, level, method)


def sample_test(
    sample: QueryValues,
    test: str,
    alternative: Alternative,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[float, float, str, Interval]:
    method, level = test, level_of_both(level, alternative)
    # No limits where these would not be those of the test.
    limits: Limits = nan, nan
    if method != "t":
        _refuse_sampling(sample, method, "method='t', or compare without method")
    if method == "randomization":
        totals, sizes = sample.totals
        flips = flipped_subsets(totals, n_resamples, rng, sizes)
        statistic, pvalue = sample.mean, flips.pvalue(alternative)
        if not (sample.constant or _are_at(np.abs(sample.values), 0.0, sample.range[1])):
            limits = flips.limits(level)
        method = "exact randomization" if flips.exact else method
    elif not sample.values.any():
        statistic, pvalue = 0.0, 1.0
    elif method == "t":
        error = sample.moments.error or 0.0
        if error <= ROUNDING * np.abs(sample.values).max():
            raise ValueError(
                f"All differences of the {sample.size_text} are {sample.mean:.4g}, so the t"
                " statistic is infinite: pass method='randomization' or 'wilcoxon'."
            )
        statistic = sample.mean / error
        pvalue = pvalue_of(statistic, alternative, sample.moments.degrees)
    elif sample.groups is None:
        statistic, pvalue = wilcoxon(sample.values, zero_method="pratt", alternative=alternative)
    else:
        # The sum of the signed ranks, and exchanges of whole groups.
        ranks = rankdata(np.abs(sample.values)) * np.sign(sample.values)
        flips = flipped_subsets(sample.groups.sums(ranks), n_resamples, rng)
        statistic, pvalue = ranks.sum(), flips.pvalue(alternative)
    if test == "t" or not sample.values.any():
        interval = sample_interval(sample, level, "t")
    else:
        interval = _interval(sample, limits, level, test)
    return float(statistic), float(pvalue), method, interval


def compare_samples(
    question: Question,
    samples: Mapping[str, QueryValues],
    method: str,
    n_resamples: int,
    rng: np.random.Generator,
) -> Comparison:
    measure, pairs = question.measure, question.contrasts
    level = 1.0 - (1.0 - question.level) / len(pairs)
    alternative: Any = question.alternative
    differences = [samples[a].less(samples[b]) for a, b in pairs]
    statistics, pvalues, methods, intervals = zip(
        *(
            sample_test(sample, method, alternative, level, n_resamples, rng)
            for sample in differences
        ),
        strict=True,
    )
    return question.answer(
        " / ".join(dict.fromkeys(methods)) + (", Holm" if len(pairs) > 1 else ""),
        f"mean {measure.name} over {next(iter(samples.values())).size_text}",
        {
            "randomization": f"{measure.name} exchangeable within each query",
            "t": f"equal mean {measure.name}",
            "wilcoxon": f"differences of {measure.name} symmetric about 0",
        }[method],
        values=[sample.mean for sample in samples.values()],
        standard_errors=[sample.moments.error or 0.0 for sample in samples.values()],
        differences=[interval.estimate for interval in intervals],
        low=[interval.low for interval in intervals],
        high=[interval.high for interval in intervals],
        statistics=statistics,
        pvalues=holm_adjust(pvalues),
        difference_errors=[interval.standard_error or nan for interval in intervals],
    )


def _refuse_sampling(sample: QueryValues, method: str, instead: str) -> None:
    if sample.groups is not None:
        sample.groups.refuse_in_time(f"method={method!r}")
    if sample.weight is not None:
        raise ValueError(
            f"method={method!r} is for queries of equal probability and does not support"
            f" weights='sampling': pass {instead}."
        )


def _interval(sample: QueryValues, limits: Any, level: float, method: str) -> Interval:
    low, high = limits if np.isnan(limits[0]) else np.clip(limits, *sample.range)
    if low == high:
        warn(
            f"The interval at level {level:g} has no width, because most queries have the same"
            " value: raise the level or pass method='t'.",
            UserWarning,
        )
    found = sample.moments
    named: Any = level, method, found.target, found.error
    return Interval(sample.mean, float(low), float(high), *named)
