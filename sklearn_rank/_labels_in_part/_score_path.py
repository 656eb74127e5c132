"""Score limits for a value of one list of which some labels are known.

A hypothesis gives each row that could have stayed without a label a probability q to be positive.
The measure then has a value, with the derivative u in each label, and the labelled rows have a
score, which estimates by how much the labels of all rows move the value from the hypothesis: the
excess of the sum that the measure is of ``q + (y - q) / p``, p the probability of a label, over
the sum that has the value of the hypothesis. For a ratio of linear sums that is the sum of ``u (y
- q) / p``; average precision has products of labels too, whose estimates are products. From the
hypothesis of score 0 the path changes q in the direction in which the value changes most for the
evidence it costs, up and down, until the score is as large as the level allows. Its variance is
that at the hypothesis, so that a sample without positives still leaves room for some.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from math import hypot, inf, sqrt
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from .._order import tied_blocks
from .._typing import AnyArray, ArrayPair, BoolArray, FloatArray, IntArray
from ..bounds._shared import NEGLIGIBLE, TINY
from ..inference import Interval
from ..inference._shared import (
    MOST_STEPS,
    Joint,
    Limits,
    LimitsAt,
    influence_of,
    joint_influence,
    single,
    two_sided_quantile,
)
from ..metrics._shared import (
    AtLabels,
    Evidence,
    FractionalList,
    Groups,
    LabelTotal,
    PartialLabels,
    levels_of,
)
from ._label_bounds import target_in_part, without_rounding

# Length of a step of the path, in standard deviations of the statistic and as a change of logits.
STEP, LARGEST_CHANGE = 0.35, 0.75

# Of rows with probabilities that are as good as 0 or 1, so many are expected to be otherwise.
NEARLY_NONE = 0.01

# From so many labels that carry the variance on, it is at least what their residuals show.
MANY_LABELS = 10.0

# Of a logistic curve, averaged over normal logits of variance v, the slope is that of logits
# divided by ``sqrt(1 + v 16^2 3 / (15 pi)^2)`` (Zeger, Liang & Albert 1988).
ATTENUATION = 256.0 * 3.0 / (15.0 * np.pi) ** 2

# Standard deviations of the logits between queries.
DEVIATIONS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)

# How near to 0 the statistic of the estimate is.
TOLERANCE = 0.02

# A step that changes the value by less, in standard deviations, is the last.
LEAST_CHANGE = 1e-4

# Lists with completed labels whose variance is averaged.
N_COMPLETED = 8

# Of more rows, those that are alike are joined.
MANY_ROWS = 2**13


class Hypothesis(NamedTuple):
    """Probabilities of the unknown labels, and what the known ones say of them."""

    logits: FloatArray  # (n_open,): Of the rows that could have stayed without a label
    value: float
    direction: FloatArray  # (n_open,): In which the logits change the value most
    score: float  # By how much the labels move the value from the hypothesis, as estimated
    deviation: float  # Standard deviation of the score
    skewness: float

    def excess(self, sign: float, z: float) -> float:
        """By how much the score exceeds its quantile, that of a skew variable.

        Cornish and Fisher's term has ``z**2 - 1``. With ``z**2`` the limits of few counts are
        those of their mid-p-values.
        """
        tail = max(0.0, sign * self.skewness) * z * z / 6.0
        return sign * self.score / self.deviation - z - tail


class ScorePath:
    """Hypotheses from the estimate up and down."""

    def __init__(
        self,
        terms: Sequence[tuple[float, LabelTotal | FractionalList | MeanOfParts]],
        labels: FloatArray,
        partial: PartialLabels,
        q: FloatArray,
        groups: Groups | None = None,
        counts: FloatArray | None = None,
        whole: tuple[FloatArray, IntArray, IntArray] | None = None,
    ) -> None:
        # Labels of a longer list, of which some rows are rows of this one, and which.
        self._whole = whole
        counts = np.ones(len(labels)) if counts is None else counts
        self._terms, self._labels = terms, labels.copy()
        with np.errstate(divide="ignore"):
            odds, factor = 1.0 / partial.probability - 1.0, 1.0 / partial.probability
        most = float(logit(1.0 - NEARLY_NONE / max(float(counts[partial.open].sum()), 1.0)))
        facts = np.zeros(len(labels), dtype=bool)
        if partial.batches is not None:
            q = np.clip(q, expit(-most), expit(most))
            odds, factor = self._mean_of_batches(*partial.batches, q, partial)
            facts = partial.batches[0][-1] == 0.0
        self._rows = np.flatnonzero(odds > 0.0)
        self._odds, self._sampled = odds[self._rows], partial.known[self._rows]
        self._counts = counts[self._rows]
        drawn = self._rows[self._sampled]
        self._of_sample, self._factor = labels[drawn], factor[drawn]
        # Labels that the last batch had before it are known in every hypothesis, up to rounding.
        self._facts = facts[drawn]
        known = drawn[self._facts]
        self._known = known, np.clip(labels[known], expit(-most), expit(most))
        self._groups = None if groups is None else groups.only(drawn)
        self._per_label = self._odds[self._sampled] * self._factor
        self._most, self._start = most, np.clip(logit(q[self._rows]), -most, most)
        self._least = LEAST_CHANGE * self._at(self._start).deviation
        self._sides: dict[float, list[Hypothesis]] = {}

    def _at_labels(self, labels: FloatArray, shift: Any = 0.0) -> AtLabels:
        """Value and slopes of the contrast."""
        factors, functions = zip(*self._terms, strict=True)
        parts = zip(*(function.at(labels, shift) for function in functions), strict=True)
        return AtLabels(*(sum(map(mul, factors, of_rankers)) for of_rankers in parts))

    def _mean_of_batches(
        self, odds: FloatArray, factor: FloatArray, q: FloatArray, partial: PartialLabels
    ) -> ArrayPair:
        """Odds and factors of the mean of the batches, weighted by their precision at labels q."""
        slope = self._at_labels(np.where(partial.open, q, self._labels)).slope
        variances = odds @ (slope**2 * q * (1.0 - q))
        least = max(variances.max(), TINY) * NEGLIGIBLE
        precision = 1.0 / np.maximum(variances, least)
        weights = precision / precision.sum()
        odds = weights**2 @ odds
        # Rows that a batch with nearly all of the precision is sure to label add no variance.
        odds[partial.known & (odds < NEGLIGIBLE)] = 0.0
        return odds, weights @ factor

    @cached_property
    def estimate(self) -> Hypothesis:
        """The hypothesis on the path that fits the labels."""
        at = self._at(self._start)
        for _ in range(MOST_STEPS):
            statistic = at.score / at.deviation
            if abs(statistic) < TOLERANCE:
                break
            after = self._moved(at, float(np.clip(statistic, -2.0 * STEP, 2.0 * STEP)))
            nearer = abs(statistic) - abs(after.score / after.deviation)
            if abs(after.value - at.value) <= self._least and nearer < TOLERANCE:
                break
            at = after
        return at

    @property
    def at_estimate(self) -> FloatArray:
        """Labels of which the estimate is the value: those of all open rows are probabilities."""
        labels = self._labels.copy()
        labels[self._rows] = expit(self.estimate.logits)
        labels[self._known[0]] = self._known[1]
        return labels

    def completed(self, rng: np.random.Generator) -> BoolArray:
        """Labels of all rows, the unknown ones drawn with the probabilities of the estimate."""
        labels = self.at_estimate
        labels[self._rows[self._sampled]] = self._of_sample
        if self._whole is not None:
            of_path, (labels, rows, cells) = labels, self._whole
            labels[rows] = of_path[cells]
        return rng.random(len(labels)) < labels

    def limits(self, level: float) -> Limits:
        z = two_sided_quantile(level)
        return without_rounding((self._limit(1.0, z), self._limit(-1.0, z)))

    def _limit(self, sign: float, z: float) -> float:
        """Value where the statistic of the sign is the quantile, between two steps of the path."""
        path = self._sides.setdefault(sign, [self.estimate])
        for i in range(1, MOST_STEPS):
            if i == len(path):
                path.append(self._moved(path[-1], -sign * STEP))
            before, after = (at.excess(sign, z) for at in path[i - 1 : i + 1])
            change = path[i].value - path[i - 1].value
            if after >= 0.0:
                return path[i].value - change * after / (after - min(before, 0.0))
            if after <= before and abs(change) <= self._least:
                break
        # Nothing that is known stands against it: as far as the labels can bring the value, and
        # what steps that are too short to count leave of the way.
        ends = [path[-1].value, *(self._extreme(path[-1], -sign, x) for x in (-inf, 0.5))]
        return (min(ends) if sign > 0.0 else max(ends)) - sign * self._least

    def _extreme(self, at: Hypothesis, sign: float, share: float) -> float:
        """Value where the rows that are so far on their way to 0 or 1 are there."""
        ahead = np.sign(sign * at.direction)
        arrives = (ahead != 0.0) & (ahead * at.logits >= share * self._most)
        self._labels[self._rows] = np.where(arrives, ahead > 0.0, expit(at.logits))
        self._labels[self._rows[self._sampled]] = self._of_sample
        return self._at_labels(self._labels).value

    def _moved(self, at: Hypothesis, length: float) -> Hypothesis:
        """Hypothesis after a step of a length in standard deviations of the score."""
        ahead = np.sign(length) * at.direction
        change = np.clip(abs(length) / at.deviation * ahead, -LARGEST_CHANGE, LARGEST_CHANGE)
        logits = np.clip(at.logits + change, -self._most, self._most)
        return at if np.array_equal(logits, at.logits) else self._at(logits)

    def _at(self, logits: FloatArray) -> Hypothesis:
        q = expit(logits)
        self._labels[self._rows] = q
        self._labels[self._known[0]] = self._known[1]
        sampled, shift = self._sampled, np.zeros(len(self._labels))
        residual = self._of_sample - q[sampled]
        shift[self._rows[sampled]] = (self._factor - self._facts) * residual
        value, slopes, score = self._at_labels(self._labels, shift)
        slope = slopes[self._rows]
        direction = slope * self._odds
        # Moments of the score by row: of the rows that may be drawn, and of those that were.
        weight = self._counts * direction * slope
        square = weight * q * (1.0 - q)
        cube = square * slope * (1.0 - 2.0 * q) * (self._odds - 1.0)
        variance, third = float(square.sum()), float(cube.sum())
        drawn = square[sampled] * self._factor
        if drawn.sum() > variance:
            variance = float(drawn.sum())
            third = float(cube[sampled] @ self._factor)
        # If the probabilities q tell nothing of the labels, squared errors are larger by the
        # spread of q. Drawn rows where q differs test that: the term is divided by their number,
        # and one half.
        apart = weight * (q - weight @ q / max(float(weight.sum()), TINY)) ** 2
        mass = np.where(weight > 0.0, self._counts * self._odds, 0.0)
        differs = (mass > 0.0) * (q - mass @ q / max(float(mass.sum()), TINY)) ** 2
        n_apart = float(differs[sampled].sum()) / float(np.max(differs, initial=TINY))
        variance += float(apart.sum()) / (0.5 + n_apart)
        # What the residuals show, where enough of them carry it.
        shifts = slope[sampled] * residual * np.sqrt(self._per_label)
        squares = shifts**2
        if self._groups is not None:
            # By so much the labels of a group that were drawn move the score together.
            of_rows, squares = float(squares.sum()), self._groups.sums(shifts) ** 2
            together = max(float(squares.sum()) / of_rows, 1.0) if of_rows else 1.0
            variance, third = variance * together, third * together**2
        if (shown := float(squares.sum())) > variance:
            n_effective = shown**2 / float(squares @ squares)
            variance += min(n_effective / MANY_LABELS, 1.0) * (shown - variance)
        deviation = max(sqrt(variance), TINY)
        return Hypothesis(logits, value, direction, score, deviation, third / deviation**3)


def probabilities_of_labels(evidences: Sequence[Evidence]) -> FloatArray:
    """Probability of each label to be positive, as scores and proxy predict it where labels are.

    The path starts from these. A wrong prediction costs width; where it is wrong over whole ranges
    of positions, also coverage while there are few labels.
    """
    return predicted_labels(
        evidences[0].data.labels, shares_of_ranks(evidences), evidences[0].partial
    )


def shares_of_ranks(evidences: Sequence[Evidence]) -> list[FloatArray]:
    """Rank of each row within its list, as a share, for each ranker."""
    return [_rank_shares(x.data.score, x.data.offsets) for x in evidences]


def _rank_shares(score: AnyArray, offsets: IntArray) -> FloatArray:
    blocks, n = tied_blocks(score, offsets), np.diff(offsets)
    above = blocks.to_items(blocks.starts + blocks.lengths() / 2.0) - np.repeat(offsets[:-1], n)
    return np.asarray(1.0 - above / np.repeat(n, n))


def predicted_labels(labels: AnyArray, shares: list[FloatArray], partial: Any) -> FloatArray:
    """Regress the known labels on ranks and proxy."""
    known, n = partial.known, len(labels)
    if np.all(labels[known] == labels[known][0]):
        return np.full(n, (labels[known].sum() + 0.5) / (known.sum() + 1.0))
    columns = columns_of_labels(shares, partial, np.bincount(labels[known].astype(bool)).min())
    return columns.chances(known, labels, np.ones(n, dtype=bool))


class LabelColumns(NamedTuple):
    """What labels are regressed on: a line in each column, linear splines in the first ones."""

    values: FloatArray  # (n_items, n_columns)
    knots: FloatArray  # (n_splines, n_knots)

    def chances(self, train: BoolArray, labels: AnyArray, test: BoolArray) -> FloatArray:
        """Probability of the labels of some rows to be positive, regressed on others."""
        from sklearn.linear_model import LogisticRegression

        of_train, of_test = self.values[train], self.values[test]
        splines = [
            3.0 * np.interp(x, knots, height)
            for x, knots in zip(of_train.T, self.knots, strict=False)
            for height in np.eye(len(knots))
        ]
        # Few positives have labels: by so much slopes are shrunk.
        model = LogisticRegression(C=0.1, solver="newton-cholesky")
        model.fit(np.column_stack([of_train, *splines]), labels[train])
        slopes, heights = np.split(model.coef_[0], [of_test.shape[1]])
        logits = of_test @ slopes + model.intercept_
        of_each = heights.reshape(self.knots.shape)
        for x, knots, height in zip(of_test.T, self.knots, of_each, strict=False):
            logits += np.interp(x, knots, 3.0 * height)
        return np.asarray(expit(logits))


def columns_of_labels(
    shares: list[FloatArray], partial: PartialLabels, n_rare: int
) -> LabelColumns:
    """What labels are regressed on; so many labels of the rarer class are known."""
    if partial.proxy is not None:
        shares = [*shares, np.clip(partial.proxy, 1e-6, 1.0 - 1e-6)]
    # Given its probability of a label, a row with a label is like one without.
    columns = np.column_stack([*map(logit, shares), np.log(partial.probability)])
    scale = columns.std(axis=0)
    columns = (columns - columns.mean(axis=0)) / np.where(scale > NEGLIGIBLE, scale, 1.0)
    if partial.proxy is not None:
        # The slope of a good proxy is large: it is shrunk by 100 times less.
        columns[:, -2] *= 10.0
    # Logits are a line and a linear spline: a knot for ten labels of the rarer class (Peduzzi et
    # al. 1996), and n^(1/3) at most.
    n_knots = min(n_rare // 10, round(np.cbrt(partial.known.sum())))
    splined = columns[:, : len(shares) if n_knots > 2 else 0]
    knots = np.linspace(splined.min(axis=0), splined.max(axis=0), max(n_knots, 1), axis=1)
    return LabelColumns(columns, knots)


def score_path_of(evidences: Sequence[Evidence], contrast: Sequence[float] = (1.0,)) -> ScorePath:
    """Walk of a contrast of the values of rankers that scored the same rows.

    Without the rows whose labels move no value, as those below the first k of a precision. Of many
    rows, those that are alike are joined.
    """
    first: Any = evidences[0]
    factors, functions = zip(
        *((c, x.label_function) for c, x in zip(contrast, evidences, strict=True) if c),
        strict=True,
    )
    labels, partial, groups = first.data.labels.astype(np.float64), first.partial, first.groups
    q = probabilities_of_labels(evidences)
    rows = np.arange(len(labels))
    if all(x.is_linear for x in functions):
        rows = np.flatnonzero(np.any([x.weights for x in functions], axis=0))
        functions = tuple(x._replace(weights=x.weights[rows]) for x in functions)
    whole = np.where(partial.known, labels, q), rows, np.arange(len(rows))
    q, counts = q[rows], np.ones(len(rows))
    if len(rows) > MANY_ROWS and partial.batches is None:
        eps = np.finfo(np.float64).eps
        logits = logit(np.clip(q, eps, 1.0 - eps))
        levels = [x.levels(1.0 / len(functions) ** 2) for x in functions]
        first, cells = _cells(levels, partial.only(rows), logits)
        whole = (*whole[:2], cells)
        counts = np.bincount(cells).astype(np.float64)
        functions = tuple(
            x.joined(level[first], cells, counts)
            for x, level in zip(functions, levels, strict=True)
        )
        rows, q = rows[first], expit(np.bincount(cells, logits) / counts)
    terms = list(zip(factors, functions, strict=True))
    groups = None if groups is None else groups.only(rows)
    return ScorePath(terms, labels[rows], partial.only(rows), q, groups, counts, whole)


class MeanOfParts(NamedTuple):
    """Mean over parts of a list of functions of their labels."""

    functions: Sequence[LabelTotal | FractionalList]
    rows: Sequence[IntArray]  # Of each part

    def at(self, labels: FloatArray, shift: Any = 0.0) -> AtLabels:
        shift, slope, parts = np.broadcast_to(shift, labels.shape), np.zeros(len(labels)), []
        for function, rows in zip(self.functions, self.rows, strict=True):
            parts.append(function.at(labels[rows], shift[rows]))
            slope[rows] += parts[-1].slope / len(self.rows)
        value, excess = np.mean([(part.value, part.excess) for part in parts], axis=0).tolist()
        return AtLabels(value, slope, excess)


def score_path_of_parts(
    parts: Sequence[Evidence],
    rows: Sequence[IntArray],
    labels: AnyArray,
    partial: PartialLabels,
    groups: Groups | None = None,
) -> ScorePath:
    """Walk of the mean over parts of a list."""
    ranks, n_parts = (
        np.zeros(len(labels)),
        np.bincount(np.concatenate(rows), minlength=len(labels)),
    )
    for part, at in zip(parts, rows, strict=True):
        ranks[at] += _rank_shares(part.data.score, part.data.offsets) / n_parts[at]
    mean = MeanOfParts([part.label_function for part in parts], rows)
    q = predicted_labels(labels, [ranks], partial)
    return ScorePath([(1.0, mean)], labels.astype(np.float64), partial, q, groups)


def _cells(
    levels: Sequence[FloatArray], partial: PartialLabels, logits: FloatArray
) -> tuple[IntArray, IntArray]:
    """Join rows without labels that are alike to the path: a row of each cell, and cells of rows.

    Of one level, with probabilities of a label that agree to 1 / 50, and logits to 1 / 10.
    """
    odds, cells = np.log(partial.probability), np.zeros(len(logits), dtype=np.int64)
    columns = [(odds, np.ptp(odds) / 0.02), (logits, np.ptp(logits) / 0.1)]
    for level in (*levels, *(levels_of(*column) for column in columns)):
        keys = level.astype(np.int64)
        keys -= keys.min()
        cells = np.unique(cells * (keys.max() + 1) + keys, return_inverse=True)[1]
    known = np.flatnonzero(partial.known)
    cells[known] = len(cells) + np.arange(len(known))
    distinct, cells = np.unique(cells, return_inverse=True)
    rows = np.empty(len(distinct), dtype=np.intp)
    rows[cells] = np.arange(len(cells))
    return rows, cells


def score_limits(
    evidences: Sequence[Evidence], contrast: Sequence[float] = (1.0,)
) -> tuple[float, float, LimitsAt]:
    """Estimate of a contrast, its standard error, and limits at each level.

    Of a single ranker with the limits that its list has with all labels.
    """
    path, first = score_path_of(evidences, contrast), evidences[0]
    if not np.isfinite(path.estimate.value):
        measure = first.measure
        raise ValueError(
            f"{measure.name} is not defined for the labels of this list, as it has"
            f" {measure.lacking}: pass a list that may hold both classes."
        )
    if first.conditional:
        return path.estimate.value, path.estimate.deviation, path.limits

    def joint_of(labels: BoolArray) -> Joint:
        if labels.all() or not labels.any():
            raise ValueError(
                "The known labels are of one class, which does not tell how much lists of the"
                " population differ: pass more labels, or leave conditional out."
            )
        completed = [(x.measure, replace(x.data, labels=labels)) for x in evidences]
        influences = [influence_of(*x, conditional=False) for x in completed]
        return joint_influence(influences, conditional=False, groups=first.groups)

    def distances(labels: BoolArray, level: float) -> Limits:
        whole = replace(first, partial=None, data=replace(first.data, labels=labels))
        found = single(whole).interval(level)
        return found.estimate - found.low, found.high - found.estimate

    return limits_of_population(
        path, contrast, joint_of, distances if len(evidences) == 1 else None
    )


def limits_of_population(
    path: ScorePath,
    contrast: Sequence[float],
    joint_of: Callable[[BoolArray], Joint],
    distances: Callable[[BoolArray, float], Limits] | None = None,
) -> tuple[float, float, LimitsAt]:
    """Estimate, standard error, and limits that add the variance of lists with all labels.

    Its mean over lists of which the labels are completed; the distances of the limits from the
    estimate, of the lists by their standard error or as given, are added in squares (Zou & Donner
    2008).
    """
    rng = np.random.default_rng(0)
    completed = [path.completed(rng) for _ in range(N_COMPLETED)]
    joints = map(joint_of, completed)
    moments = [x.variance_of(np.array(contrast)) for x in joints]
    variance, degrees = np.mean(moments, axis=0).tolist()
    value, error = path.estimate.value, sqrt(variance)

    def limits(level: float) -> Limits:
        of_lists = [(two_sided_quantile(level, degrees) * error,) * 2]
        if distances is not None:
            of_lists = [distances(labels, level) for labels in completed]
        below, above = np.sqrt(np.mean(np.square(of_lists), axis=0)).tolist()
        low, high = path.limits(level)
        return value - hypot(value - low, below), value + hypot(high - value, above)

    return value, hypot(path.estimate.deviation, error), limits


def score_interval(evidence: Evidence, level: float) -> Interval:
    value, error, limits = score_limits([evidence])
    low, high = np.clip(limits(level), *evidence.measure.range).tolist()
    error = 0.0 if error <= TINY else error
    return Interval(value, low, high, level, "score", target_in_part(evidence), error)
