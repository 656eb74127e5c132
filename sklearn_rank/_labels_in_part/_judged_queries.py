"""Values of queries of which some items have no label.

Unknown labels are taken as independent given the query: the logit of the probability of each to be
positive is what scores and proxy predict, and a normal deviation of the query, which its known
labels estimate. The expected value of a query is then known, with its derivative in each label.
Labels that were drawn correct it: each with ``derivative (y - q) (1 - p) / p``, p the probability
of a label, where derivative and q are those without this label. So the mean over queries is right,
whatever was predicted, up to products of errors within a query.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, TypeAlias

import numpy as np
from scipy.special import expit, log_expit, logit, logsumexp

from .._lists import ScoredLists
from .._printed import ROUNDING
from .._typing import ArrayPair, BoolArray, FloatArray
from .._validation import column_of, naming
from ..bounds._shared import NEGLIGIBLE
from ..inference import Interval
from ..inference._shared import Limits, QueryValues, groups_of_queries, sample_interval
from ..metrics import Measure
from ..metrics._shared import Evidence, Groups, PartialLabels
from ._judged_grades import GradeModel, corrected_values
from ._label_bounds import values_over_grades, values_over_labels
from ._label_design import (
    Design,
    check_fitted_proxy,
    check_grades_in_part,
    check_labels_in_part,
    check_partial_labels,
    refuse_chosen_of_queries,
)
from ._score_path import ATTENUATION, DEVIATIONS, predicted_labels, shares_of_ranks

# Of a query the value and how often there is one, as expected from the labels; for both the
# standard deviations that unknown labels are predicted to cause, and by what each drawn corrects.
Part: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]

# A sample may have so many labels of the rarer class fewer than expected.
UNSEEN = 4.0


def expected_value(evidence: Evidence, q: FloatArray) -> ArrayPair:
    """Mean over independent labels of probabilities q, exact, for each row of q.

    It is 0 where it is not defined, and has beside it how often it is defined: shape (2,
    n_points). Then the derivatives in each label, of shape (2, n_points, n_items).

    With ``c = 1 - q + q z`` the product of all c generates the number of positives, and the sum
    over labels is taken at the labels ``q z / c``; z goes round the roots of unity. The same
    items are certain in all rows. O(n m) time for numbers of positives below m.
    """
    measure, data, total = evidence.measure, evidence.data, evidence.known_total
    n, is_open = q.shape[1], (q > 0.0) & (q < 1.0)
    of_open = np.where(is_open, q, 0.0).sum(axis=1).max()
    # From one positive fewer than are certain, to more than there are with a probability of 1e-9.
    least = max(int((q[0] == 1.0).sum()) - 1, 0)
    m = min(int(is_open[0].sum()), int(of_open + 7.0 * np.sqrt(of_open) + 9.0)) + 3
    m += 1 - m % 2  # Without the root -1, at which c may be 0
    n_pos = np.minimum(least + np.arange(m), n).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        start = np.asarray(total.value(np.zeros(m), n_pos), dtype=np.float64)
        factor = total.value(np.ones(m), n_pos) - start
    # Where all labels are equal, there is one value, if any.
    for number in {0.0, float(n)} & set(n_pos.tolist()):
        of_class = replace(data, labels=np.full(n, number > 0.0, dtype=data.labels.dtype))
        start[n_pos == number], factor[n_pos == number] = measure.values(of_class)[0], 0.0
    has_value = np.isfinite(start)
    counted = has_value.copy()
    if isinstance(measure.undefined, float):
        start[~has_value], counted[~has_value] = measure.undefined, True
    numbers = np.stack([start, factor, counted])
    numbers[:, ~counted] = 0.0
    of_numbers = np.fft.rfft(numbers) / m
    of_numbers[:, 1:] *= 2.0  # The other half of the roots is conjugate
    root = np.exp(2j * np.pi / m * np.arange(of_numbers.shape[1]))[:, np.newaxis]
    c = 1.0 + q[:, np.newaxis] * (root - 1.0)  # (n_points, n_roots, n)
    of_numbers = of_numbers * (c.prod(axis=2) * root[:, 0] ** -least)[:, np.newaxis]
    sums, slopes = total.total(q[:, np.newaxis] * root / c)
    start, factor, counted = np.moveaxis(of_numbers, 1, 0)
    both = np.stack([start + factor * sums, counted])
    # In a label: by the product, and by its part in the sum.
    in_labels = np.einsum("vbm,bmn->vbn", both, (root - 1.0) / c).real
    in_labels[0] += np.einsum("bm,bmn->bn", factor, slopes * root / c**2).real
    return both.real.sum(axis=2), in_labels


@dataclass(frozen=True, eq=False)
class JudgedQueries:
    """Queries that several rankers scored, and which of their labels are known, item by item."""

    measure: Measure
    lists: dict[str, ScoredLists]
    partial: PartialLabels
    groups: Groups | None = None  # Of the queries

    @cached_property
    def is_graded(self) -> bool:
        """Whether labels are more than two classes, or a proxy is no probability."""
        proxy, grades = self.partial.proxy, self.first.labels[self.partial.known]
        of_classes = np.isin(grades, (0, 1)).all()
        return not of_classes or (proxy is not None and bool(np.any((proxy < 0) | (proxy > 1))))

    @classmethod
    def of(
        cls,
        measure: Measure,
        y_true: Any,
        scores: Mapping[str, Any],
        *,
        qid: Any,
        design: Design,
        sample_weight: Any = None,
        weights: Any = None,
        groups: Any = None,
        pos_label: Any = None,
    ) -> JudgedQueries:
        of_rows = {"qid": qid, "sample_weight": sample_weight}
        graded = measure.kind == "graded"
        filled, partial = check_partial_labels(y_true, design, of_grades=graded, **of_rows)
        shape, names = np.shape(filled), list(scores)
        with naming(column_of(names[0])):
            first = measure.lists(filled, scores[names[0]], qid=qid, pos_label=pos_label)
        lists = {}
        for name in names:
            with naming(column_of(name)):
                lists[name] = first.scored_by(scores[name], shape)
                measure._check_scores(lists[name])
        of_queries = groups_of_queries(groups, first, shape, np.ones(first.n_lists, dtype=bool))
        partial = partial if first.rows is None else partial.only(first.rows)
        queries = cls(measure, lists, partial, of_queries)
        check_fitted_proxy(first.labels, partial)
        refuse_chosen_of_queries(queries.joined[0], queries.shares)
        for joined, parts in zip(queries.joined, queries.evidences, strict=True):
            if queries.is_graded:
                check_grades_in_part(joined, parts)
            else:
                check_labels_in_part(parts)
        return queries

    @property
    def first(self) -> ScoredLists:
        return next(iter(self.lists.values()))

    def target(self, conditional: bool = False) -> str:
        if not self.is_bounded:
            groups = self.groups
            over = groups.size_text if groups is not None and groups.in_time else "queries"
            return f"mean {self.measure.name} over {over}, {self.partial.text}"
        n_open, these = int(self.partial.unreachable.sum()), "these " * conditional
        return f"mean {self.measure.name} over {these}queries for any labels of {n_open} rows"

    @property
    def is_bounded(self) -> bool:
        """Whether there are rows without labels of which no sample was to be labelled."""
        return bool(self.partial.unreachable.any())

    def interval(self, level: float, method: str, conditional: bool) -> Interval:
        target = self.target(conditional)
        if self.is_bounded:
            sides = self.bounds([1.0])
            low, high = (side.mean for side in sides)
            estimate = (low + high) / 2.0
            if conditional:
                return Interval(estimate, low, high, 1.0, "bounds", target)
            return Interval(estimate, *limits_of_bounds(sides, level), level, BOUNDED, target)
        samples = self.values()
        (sample,), corrections = samples.values(), self.corrections(samples, np.eye(1), level)
        interval = sample_interval(sample, level, method)
        estimate = float(np.clip(interval.estimate, *sample.range))
        return replace(interval, estimate=estimate, target=target, corrections=corrections)

    def corrections(
        self, samples: Mapping[str, QueryValues], contrasts: FloatArray, level: float
    ) -> tuple[Interval, ...]:
        """By how much contrasts of values exceed those with the grades of a judge as labels."""
        proxy, grades = self.partial.proxy, self.first.labels[self.partial.known]
        if self.measure.kind != "graded" or proxy is None:
            return ()
        if proxy.min() < 0.0 or proxy.max() > grades.max():
            return ()
        first = next(iter(samples.values()))
        counted = np.isin(np.asarray(self.first.ids), first.ids)
        target = f"{first.measure} beyond the proxy's"
        noises = [x.noise for x in samples.values()]
        excess, undefined = [], self.measure.undefined
        for lists, sample in zip(self.lists.values(), samples.values(), strict=True):
            by_proxy = self.measure.values(replace(lists, labels=proxy))[counted]
            # Queries to which the judge gives no gain are left out of the mean by the proxy.
            left = undefined if isinstance(undefined, float) else np.nanmean(by_proxy)
            by_proxy[np.isnan(by_proxy)] = left
            excess.append(sample.values - by_proxy)
        found = []
        for row in contrasts:
            noise = None if first.noise is None else row @ noises
            of_row = QueryValues(
                row @ excess, first.ids, target, (-np.inf, np.inf), first.groups, noise=noise
            )
            found.append(sample_interval(of_row, level))
        return tuple(found)

    @property
    def joined(self) -> list[Evidence]:
        """All queries of each ranker."""
        return [Evidence(self.measure, x, partial=self.partial) for x in self.lists.values()]

    @cached_property
    def shares(self) -> list[FloatArray]:
        return shares_of_ranks(self.joined)

    @cached_property
    def evidences(self) -> list[list[Evidence]]:
        """Of each ranker each query as a list of its own."""
        items = [slice(*x) for x in pairwise(self.first.offsets.tolist())]
        parts = [self.partial.only(x) for x in items]
        return [
            [
                Evidence(
                    self.measure,
                    ScoredLists(
                        labels=lists.labels[x],
                        score=lists.score[x],
                        offsets=np.array([0, x.stop - x.start]),
                    ),
                    partial=part,
                )
                for x, part in zip(items, parts, strict=True)
            ]
            for lists in self.lists.values()
        ]

    def values(self) -> dict[str, QueryValues]:
        """Values of the queries, corrected by the labels that were drawn."""
        ratios = map(_as_ratio, self._parts())
        values, (has_value, *_), predicted, shown = map(np.stack, zip(*ratios, strict=True))
        # Queries that cannot have a value are refused, or left out with a warning.
        self.measure._replace_undefined(np.where(has_value, 0.0, np.nan), self.first, None)
        if has_value.sum() < 2:
            raise ValueError(
                f"{self.measure.name} has a value for {has_value.sum()} queries, but at least two"
                " are needed: pass more queries with a value."
            )
        drawn = self.first.labels[self.partial.known & self.partial.open] > 0
        n_rare = max(float(min(drawn.sum(), (~drawn).sum())), 0.5)
        predicted *= np.sqrt(1.0 + UNSEEN / n_rare)
        noise: Any = _noise_not_shown(predicted, shown) / has_value.sum()
        noise = noise if noise.any() else [None] * len(noise)
        groups = None if self.groups is None else self.groups.only(has_value)
        common = (self.measure.name, self.measure.counted_range, groups)
        ids = np.asarray(self.first.ids)[has_value]
        squares = [float(x @ x) / has_value.sum() ** 2 for x in shown]
        columns = zip(self.lists, values, noise, squares, strict=True)
        return {
            ranker: QueryValues(value[has_value], ids, *common, noise=of_labels, shown=square)
            for ranker, value, of_labels, square in columns
        }

    def _probabilities(self) -> ArrayPair:
        """Probability of each label at the points of its query, and the weights of these."""
        lists, known = self.first, self.partial.known[:, np.newaxis]
        predicted = predicted_labels(self.first.labels, self.shares, self.partial)
        predicted = logit(np.clip(predicted, NEGLIGIBLE, 1.0 - NEGLIGIBLE))
        most, best = -np.inf, (predicted, predicted)
        differ = np.ptp(lists.labels[self.partial.known].astype(np.float64)) > 0.0
        nodes, masses = np.polynomial.hermite_e.hermegauss(7)
        for deviation in DEVIATIONS if differ else (0.0,):
            points = deviation * nodes if deviation else np.zeros(1)
            prior = masses / masses.sum() if deviation else np.ones(1)
            logits = predicted[:, np.newaxis] * np.sqrt(1.0 + ATTENUATION * deviation**2) + points
            of_label = np.where(lists.labels[:, np.newaxis] > 0, logits, -logits)
            joint = lists.totals(np.where(known, log_expit(of_label), 0.0)) + np.log(prior)
            of_query = logsumexp(joint, axis=1, keepdims=True)
            if of_query.sum() > most + NEGLIGIBLE:
                most, best = of_query.sum(), (expit(logits), np.exp(joint - of_query))
        return best

    def _parts(self) -> list[list[Part]]:
        """Of each ranker the parts of its queries."""
        if self.is_graded:
            model = GradeModel.of(self.first, self.shares, self.partial)
            found = list(corrected_values(zip(*self.evidences, strict=True), model))
            numbers = range(len(self.lists))
            return [[tuple(x[i] for x in of_query) for of_query in found] for i in numbers]
        q, weights = self._probabilities()
        return [list(self._corrected(of_ranker, q, weights)) for of_ranker in self.evidences]

    def _corrected(
        self, evidences: list[Evidence], q: FloatArray, weights: FloatArray
    ) -> Iterator[Part]:
        """Parts of the queries of a ranker, of labels of two classes."""
        start = 0
        for i, evidence in enumerate(evidences):
            partial: Any = evidence.partial
            y, drawn = evidence.data.labels > 0, partial.known & partial.open
            points = weights[i] > NEGLIGIBLE
            weight = weights[i][points] / weights[i][points].sum()
            of_items = q[start : start + len(y), points].T
            start += len(y)
            labels = np.where(partial.known, y, of_items)
            expected, slopes = expected_value(evidence, labels)
            # Without a label, its query has other weights.
            q_drawn = of_items[:, drawn]
            without = weight[:, np.newaxis] / np.where(y[drawn], q_drawn, 1.0 - q_drawn)
            without /= without.sum(axis=0)
            odds = (1.0 - partial.probability) / partial.probability
            residual = odds[drawn] * (y[drawn] - (without * q_drawn).sum(axis=0))
            shown = (without * slopes[:, :, drawn]).sum(axis=1) * residual
            spread = (weight @ of_items) * (weight @ (1.0 - of_items))
            deviation = odds * np.sqrt(partial.probability * spread)
            predicted = (weight @ slopes * deviation)[:, partial.open]
            yield expected @ weight, predicted, shown

    def bounds(self, contrast: Sequence[float]) -> list[QueryValues]:
        """Smallest and largest values of a contrast in each query, over the labels not known.

        A query that may lack a value counts where this makes the mean smaller, or larger.
        """
        queries = zip(*self.evidences, strict=True)
        of_query = values_over_labels
        if self.is_graded:
            grades = np.append(0.0, self.first.labels[self.partial.known])
            of_query = functools.partial(values_over_grades, np.unique(grades))
        values = [of_query(evidences, contrast) for evidences in queries]
        may_lack, never = (
            np.array([of_any(np.isnan(x)) for x in values]) for of_any in (np.any, np.all)
        )
        if never.all():
            raise ValueError(f"{self.measure.name} is undefined: {self.measure.lacking}.")
        ends = np.array([np.multiply(x, self.measure.counted_range) for x in contrast if x])
        common = (self.measure.name, (ends.min(axis=1).sum(), ends.max(axis=1).sum()))
        sides = []
        for side, sign in enumerate((1.0, -1.0)):
            numbers = [sign * x[side][~np.isnan(x[side])] for x in values]
            least = np.array([min(of_query, default=np.nan) for of_query in numbers])
            least[np.abs(least) <= ROUNDING] = 0.0
            most = _least_mean(least[~may_lack], least[may_lack & ~never])
            counted = ~may_lack | (~never & (least <= most + ROUNDING))
            groups = None if self.groups is None else self.groups.only(counted)
            ids = np.flatnonzero(counted)
            sides.append(QueryValues(sign * least[counted] + 0.0, ids, *common, groups))
        return sides


def _as_ratio(parts: list[Part]) -> tuple[FloatArray, BoolArray, FloatArray, FloatArray]:
    """Values of the queries of a ranker, which there can be, and how far labels move them.

    Where queries may lack a value, the mean is a ratio, of which these are the linear parts.
    """
    expected, predicted, shown = zip(*parts, strict=True)
    has_value = np.array([mass > NEGLIGIBLE for _, mass in expected])
    value, defined = np.array([x + y.sum(axis=1) for x, y in zip(expected, shown, strict=True)]).T
    share = defined[has_value].mean() if has_value.any() else 1.0
    ratio = value[has_value].sum() / max(defined[has_value].sum(), NEGLIGIBLE)
    moved = (
        np.concatenate([of_value - ratio * of_share for of_value, of_share in side]) / share
        for side in (predicted, shown)
    )
    return ratio + (value - ratio * defined) / share, has_value, *moved


# Limits of a population of queries, of which the bounds of each are known.
BOUNDED = "wilson of bounds"


def limits_of_bounds(sides: Sequence[QueryValues], level: float) -> Limits:
    """Lower limit of the mean of the smallest values of queries, upper one of the largest."""
    limits = []
    for side, sample in enumerate(sides):
        if sample.part.count < 2:
            limits.append(sample.range[side])
            continue
        with warnings.catch_warnings():
            # Bounds are often the same for all queries, as 0 where no label is known.
            warnings.simplefilter("ignore", UserWarning)
            interval = sample_interval(sample, level)
        limits.append((interval.low, interval.high)[side])
    return limits[0], limits[1]


def _noise_not_shown(predicted: FloatArray, shown: FloatArray) -> FloatArray:
    """Deviations that labels may cause and that the spread of the values lacks, by ranker.

    Positives that no sample holds show no variance: the predicted one is the least, for each
    ranker and each difference of two. Shape (n_rankers, n_open).
    """
    units = np.eye(len(predicted))
    contrasts = [*units, *(one - other for one, other in combinations(units, 2))]
    lacking = 0.0
    for contrast in contrasts:
        least, seen = np.sum((contrast @ predicted) ** 2), np.sum((contrast @ shown) ** 2)
        if least > seen:
            lacking = max(lacking, 1.0 - float(seen / least))
    return predicted * np.sqrt(lacking)


def _least_mean(always: FloatArray, optional: FloatArray) -> float:
    """Smallest mean of values of which the optional ones may be left out, but not all."""
    sums = always.sum() + np.append(0.0, np.cumsum(np.sort(optional)))
    counts = len(always) + np.arange(len(sums))
    return float((sums[counts > 0] / counts[counts > 0]).min())
