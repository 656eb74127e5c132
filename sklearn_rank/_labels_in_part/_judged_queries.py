"""Values of queries of which some items have no label.

Unknown labels are taken as independent given the query: the logit of the probability of each to be
positive is what scores and proxy predict, and a normal deviation of the query, which its known
labels estimate. The expected value of a query is then known, with its derivative in each label.
Labels that were drawn correct it: each with ``derivative (y - q) (1 - p) / p``, p the probability
of a label, where derivative and q are those without this label. So the mean over queries is right,
whatever was predicted, up to products of errors within a query.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

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
from ._label_bounds import values_over_labels
from ._label_design import Design, check_fitted_proxy, check_labels_in_part, check_partial_labels
from ._score_path import probabilities_of_labels

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
        filled, partial = check_partial_labels(y_true, design, **of_rows)
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
        for name in names:
            check_labels_in_part(queries.evidences(name))
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
        (sample,) = self.values().values()
        interval = sample_interval(sample, level, method)
        estimate = float(np.clip(interval.estimate, *sample.range))
        return replace(interval, estimate=estimate, target=target)

    def evidences(self, ranker: str) -> list[Evidence]:
        """Each query as a list of its own."""
        lists, ends = self.lists[ranker], self.first.offsets.tolist()
        evidences = []
        for start, stop in pairwise(ends):
            items = slice(start, stop)
            offsets = np.array([0, stop - start])
            data = ScoredLists(
                labels=lists.labels[items], score=lists.score[items], offsets=offsets
            )
            evidences.append(Evidence(self.measure, data, partial=self.partial.only(items)))
        return evidences

    def values(self) -> dict[str, QueryValues]:
        """Values of the queries, corrected by the labels that were drawn."""
        q, weights = self._probabilities()
        corrected = [self._corrected(ranker, q, weights) for ranker in self.lists]
        values, (has_value, *_), predicted, shown = map(np.stack, zip(*corrected, strict=True))
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
        evidences = [
            Evidence(self.measure, scored, partial=self.partial) for scored in self.lists.values()
        ]
        predicted = probabilities_of_labels(evidences)
        predicted = logit(np.clip(predicted, NEGLIGIBLE, 1.0 - NEGLIGIBLE))
        most, best = -np.inf, (predicted, predicted)
        differ = np.ptp(lists.labels[self.partial.known].astype(np.float64)) > 0.0
        # Of a logistic curve, averaged over normal logits of variance v, the slope is that of
        # logits divided by ``sqrt(1 + v 16^2 3 / (15 pi)^2)`` (Zeger, Liang & Albert 1988).
        attenuation = 256.0 * 3.0 / (15.0 * np.pi) ** 2
        nodes, masses = np.polynomial.hermite_e.hermegauss(7)
        # Standard deviations of the logits between queries.
        deviations = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0) if differ else (0.0,)
        for deviation in deviations:
            points = deviation * nodes if deviation else np.zeros(1)
            prior = masses / masses.sum() if deviation else np.ones(1)
            logits = predicted[:, np.newaxis] * np.sqrt(1.0 + attenuation * deviation**2) + points
            of_label = np.where(lists.labels[:, np.newaxis] > 0, logits, -logits)
            joint = lists.totals(np.where(known, log_expit(of_label), 0.0)) + np.log(prior)
            of_query = logsumexp(joint, axis=1, keepdims=True)
            if of_query.sum() > most + NEGLIGIBLE:
                most, best = of_query.sum(), (expit(logits), np.exp(joint - of_query))
        return best

    def _corrected(
        self, ranker: str, q: FloatArray, weights: FloatArray
    ) -> tuple[FloatArray, BoolArray, FloatArray, FloatArray]:
        """Values of the queries of a ranker, which there can be, and how far labels move them.

        These are the standard deviations predicted of each label, and what each label drawn did.

        Where queries may lack a value, the mean is a ratio, of which these are the linear parts.
        """
        parts, n_lists, start = [], self.first.n_lists, 0
        both, mass = np.empty((2, n_lists)), np.empty(n_lists)
        for i, evidence in enumerate(self.evidences(ranker)):
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
            both[:, i] = shown.sum(axis=1) + expected @ weight
            mass[i] = expected[1] @ weight
            mean = weight @ of_items
            deviation = odds * np.sqrt(partial.probability * mean * (1.0 - mean))
            predicted = (weight @ slopes * deviation)[:, partial.open]
            parts.append((predicted, shown))
        (value, defined), has_value = both, mass > NEGLIGIBLE
        share = defined[has_value].mean() if has_value.any() else 1.0
        ratio = value[has_value].sum() / max(defined[has_value].sum(), NEGLIGIBLE)
        predicted, shown = (
            np.concatenate([of_value - ratio * of_share for of_value, of_share in side]) / share
            for side in zip(*parts, strict=True)
        )
        return ratio + (value - ratio * defined) / share, has_value, predicted, shown

    def bounds(self, contrast: Sequence[float]) -> list[QueryValues]:
        """Smallest and largest values of a contrast in each query, over the labels not known.

        A query that may lack a value counts where this makes the mean smaller, or larger.
        """
        queries = zip(*(self.evidences(ranker) for ranker in self.lists), strict=True)
        values = [values_over_labels(evidences, contrast) for evidences in queries]
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
