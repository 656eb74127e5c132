"""Reference values, slow and sure: each measure of one list, as the mean over the orders of ties.

Every function here takes one list, sorts it, and writes the definition down block of ties by
block of ties. ``check`` holds them against the plain mean over all permutations of tied items.
"""

import itertools
import math
from unittest.mock import patch

import numpy as np
from scipy.special import ndtri

from .measures import (
    ALPHA,
    BINARY_QUERIES,
    CUTOFF,
    MAX_FPR,
    MAX_GRADE,
    PERSISTENCE,
    POWER,
    QUERIES,
    TOP,
    U0,
    labels,
    smoothstep,
)


class Order:
    """Rows of one list from the top, and where its blocks of equal scores begin."""

    def __init__(self, score):
        self.rows = np.argsort(-score, kind="stable")
        ordered = score[self.rows]
        self.n = len(score)
        self.starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        self.sizes = np.append(self.starts[1:], self.n) - self.starts


class Blocks:
    """One list with its labels, from the top."""

    def __init__(self, y, order):
        self.y, self.n = y[order.rows], order.n
        self.starts, self.sizes = order.starts, order.sizes

    def mean(self, values):
        """Mean of each block, at every position."""
        return np.repeat(np.add.reduceat(values, self.starts) / self.sizes, self.sizes)

    def counts(self):
        """Positives and negatives of each block, and positives and negatives above it."""
        positives = np.add.reduceat(self.y, self.starts).astype(np.int64)
        negatives = self.sizes - positives
        above = np.cumsum(positives) - positives, np.cumsum(negatives) - negatives
        return positives, negatives, *above


def sort_lists(score, offsets):
    """Order of each list, the rows of each standing together."""
    return [Order(score[start:end]) for start, end in itertools.pairwise(offsets)]


def list_values(measure, y, offsets, orders):
    """Values of all lists; NaN where one has none."""
    function = _FUNCTIONS[measure]
    return np.array(
        [
            function(Blocks(y[start:end], order))
            for (start, end), order in zip(itertools.pairwise(offsets), orders, strict=True)
        ],
        dtype=float,
    )


# ------------------------------------------------------------------------- rank-based statistics


def _phi(measure, n):
    """Weight of each position from the top."""
    position = np.arange(1, n + 1)
    u = (n + 1 - position) / (n + 1)
    if measure == "local_auc":
        return np.where(u >= U0, u, 0.0)
    if measure == "bedroc":
        return np.exp(-ALPHA * position / n)
    if measure == "power":
        return u**POWER
    if measure == "van_der_waerden":
        return ndtri(u)
    if measure == "callable":
        return smoothstep(u)
    return np.where(position <= TOP, 1.0 / np.log2(1.0 + position), 0.0)  # top_dcg


def _statistic(measure, normalize):
    def value(blocks):
        phi = _phi(measure, blocks.n)
        n_pos = int(blocks.y.sum())
        total = (blocks.mean(phi) * blocks.y).sum()
        if normalize is None:
            return total
        if n_pos == 0:
            return math.nan
        if normalize == "mean":
            return total / n_pos
        worst, best = phi[blocks.n - n_pos :].sum(), phi[:n_pos].sum()
        return (total - worst) / (best - worst) if best > worst else math.nan

    return value


def _auc(blocks):
    """Share of pairs in the right order, ties half; counted in whole numbers."""
    positives, negatives, _, negatives_above = blocks.counts()
    n_pos, n_neg = int(positives.sum()), int(negatives.sum())
    if not n_pos or not n_neg:
        return math.nan
    below = n_neg - negatives_above - negatives
    twice = sum((positives * (2 * below + negatives)).tolist())
    return twice / (2 * n_pos * n_neg)


def _partial_auc(blocks):
    """On McClish's scale, from a curve with one step of width 1 / n_neg a negative.

    Negative i of the q in a block with p positives has p i / (q + 1) of these above it.
    """
    positives, negatives, above, _ = blocks.counts()
    n_pos, n_neg = int(positives.sum()), int(negatives.sum())
    if not n_pos or not n_neg:
        return math.nan
    first = np.repeat(np.cumsum(negatives) - negatives, negatives)
    i = np.arange(1, n_neg + 1) - first
    p, q, a = (np.repeat(counts, negatives) for counts in (positives, negatives, above))
    heights = (a + p * i / (q + 1)) / n_pos
    widths = np.clip(MAX_FPR * n_neg - np.arange(n_neg), 0.0, 1.0) / n_neg
    chance = MAX_FPR**2 / 2
    return (1 + ((heights * widths).sum() - chance) / (MAX_FPR - chance)) / 2


# ----------------------------------------------------------------------------- measures of queries


def _dcg(gain, cutoff):
    def value(blocks):
        k = min(cutoff, blocks.n)
        discount = 1.0 / np.log2(np.arange(2, k + 2))
        return (blocks.mean(gain(blocks.y))[:k] * discount).sum()

    return value


def _ndcg(gain):
    def value(blocks):
        k = min(CUTOFF, blocks.n)
        gains = np.sort(gain(blocks.y))[::-1]
        best = (gains[:k] / np.log2(np.arange(2, k + 2))).sum()
        return _dcg(gain, CUTOFF)(blocks) / best if best > 0 else math.nan

    return value


def _exponential(grades):
    return 2.0**grades - 1.0


def _linear(grades):
    return grades.astype(float)


def _precision(blocks):
    return blocks.mean(_linear(blocks.y))[:CUTOFF].sum() / CUTOFF


def _recall(blocks):
    n_pos = blocks.y.sum()
    return blocks.mean(_linear(blocks.y))[:CUTOFF].sum() / n_pos if n_pos else math.nan


def _average_precision(blocks):
    """Place i of a block of t with r positives holds one with chance r / t.

    Of the other r - 1, a share of (i - 1) / (t - 1) stands above it.
    """
    positives, _, above, negatives_above = blocks.counts()
    total = 0.0
    for r, size, R, N in zip(
        positives.tolist(),
        blocks.sizes.tolist(),
        above.tolist(),
        (above + negatives_above).tolist(),
        strict=True,
    ):
        for i in range(1, size + 1 if r else 1):
            others = (i - 1) * (r - 1) / (size - 1) if size > 1 else 0.0
            total += r / size * (R + 1 + others) / (N + i)
    n_pos = int(positives.sum())
    return total / n_pos if n_pos else math.nan


def _reciprocal_rank(blocks):
    """The first of r positives in a block of t is at place i if i - 1 others came before."""
    positives, _, _, negatives_above = blocks.counts()
    some = np.flatnonzero(positives)
    if not len(some):
        return math.nan
    r, size, above = (
        int(counts[some[0]]) for counts in (positives, blocks.sizes, negatives_above)
    )
    total, none_yet = 0.0, 1.0
    for i in range(1, size - r + 2):
        first = none_yet * r / (size - i + 1)
        total += first / (above + i)
        none_yet -= first
    return total


def _expected_reciprocal_rank(blocks):
    """Mean, over the sets of m items of a block, of the chance to go on through them all."""
    chances = (2.0**blocks.y - 1.0) / 2**MAX_GRADE
    total, reached = 0.0, 1.0
    for start, size in zip(blocks.starts.tolist(), blocks.sizes.tolist(), strict=True):
        going_on = [1.0] + [0.0] * size
        for i, chance in enumerate(chances[start : start + size].tolist()):
            for m in range(i + 1, 0, -1):
                share = m / (i + 1)
                going_on[m] = (1 - share) * going_on[m] + share * (1 - chance) * going_on[m - 1]
        for m in range(size):
            total += reached * (going_on[m] - going_on[m + 1]) / (start + m + 1)
        reached *= going_on[size]
    return total


def _rank_biased_precision(blocks):
    discount = (1 - PERSISTENCE) * PERSISTENCE ** np.arange(blocks.n)
    return (blocks.mean(blocks.y / MAX_GRADE) * discount).sum()


_FUNCTIONS = {
    "auc": _auc,
    "local_auc": _statistic("local_auc", "minmax"),
    "bedroc": _statistic("bedroc", "minmax"),
    "power": _statistic("power", "minmax"),
    "partial_auc": _partial_auc,
    "van_der_waerden": _statistic("van_der_waerden", "mean"),
    "top_dcg": _statistic("top_dcg", None),
    "callable": _statistic("callable", "mean"),
    "ndcg10_exp": _ndcg(_exponential),
    "ndcg10_linear": _ndcg(_linear),
    "dcg_linear": _dcg(_linear, math.inf),
    "precision10": _precision,
    "recall10": _recall,
    "query_auc": _auc,
    "ap": _average_precision,
    "rr": _reciprocal_rank,
    "err": _expected_reciprocal_rank,
    "rbp": _rank_biased_precision,
}


# ------------------------------------------------------------------------------ the judge's judge


def check(n_lists=60, seed=0):
    """Hold every function against the mean over all orders of its ties, on small lists.

    On lists so small the cutoffs are 2 and 3 positions and half of the ranks.

    Returns
    -------
    float
        Largest difference found.
    """
    with patch.multiple(__name__, CUTOFF=2, TOP=3, U0=0.5):
        return _largest_difference(n_lists, np.random.RandomState(seed))


def _largest_difference(n_lists, rng):
    largest = 0.0
    for _ in range(n_lists):
        n = rng.randint(1, 7)
        score = rng.randint(0, 4, n).astype(float)
        grades = rng.randint(0, 5, n)
        for measure in _FUNCTIONS:
            graded = measure in QUERIES and measure not in BINARY_QUERIES
            y = grades if graded else labels("ap", grades)
            expected = _over_orders(measure, y, score)
            value = float(_FUNCTIONS[measure](Blocks(y, Order(score))))
            if math.isnan(value) != math.isnan(expected):
                return math.inf
            if not math.isnan(value):
                largest = max(largest, abs(value - expected))
    return largest


def _over_orders(measure, y, score):
    """Mean of the measure over all ways to break the ties of a list."""
    values = []
    for permutation in itertools.permutations(range(len(y))):
        ordered = score[list(permutation)]
        if np.all(ordered[1:] <= ordered[:-1]):
            values.append(_untied(measure, y[list(permutation)].tolist()))
    return math.fsum(values) / len(values)


def _untied(measure, y):
    """Definition of a measure for labels from the top, without ties, in plain Python."""
    n, n_pos = len(y), sum(label > 0 for label in y)
    n_neg = n - n_pos
    if "dcg" in measure and measure != "top_dcg":
        gains = [2.0**grade - 1.0 if measure.endswith("exp") else float(grade) for grade in y]
        cut = CUTOFF if measure.startswith("ndcg") else n
        value = sum(gain / math.log2(i + 2) for i, gain in enumerate(gains[:cut]))
        if measure.startswith("dcg"):
            return value
        best = sorted(gains, reverse=True)[:cut]
        best = sum(gain / math.log2(i + 2) for i, gain in enumerate(best))
        return value / best if best else math.nan
    if measure == "precision10":
        return sum(y[:CUTOFF]) / CUTOFF
    if measure == "top_dcg":
        return sum(label / math.log2(i + 2) for i, label in enumerate(y[:TOP]))
    if measure == "rbp":
        seen = sum(grade * PERSISTENCE**i for i, grade in enumerate(y))
        return (1 - PERSISTENCE) * seen / MAX_GRADE
    if measure == "err":
        value, reached = 0.0, 1.0
        for i, grade in enumerate(y):
            chance = (2**grade - 1) / 2**MAX_GRADE
            value += reached * chance / (i + 1)
            reached *= 1 - chance
        return value
    if not n_pos:
        return math.nan
    if measure == "rr":
        return 1 / (1 + y.index(1))
    if measure == "recall10":
        return sum(y[:CUTOFF]) / n_pos
    if measure == "ap":
        hits = [i for i, label in enumerate(y) if label]
        return sum((rank + 1) / (i + 1) for rank, i in enumerate(hits)) / n_pos
    if measure in ("auc", "query_auc", "partial_auc"):
        if not n_neg:
            return math.nan
        heights = [sum(y[:i]) / n_pos for i, label in enumerate(y) if not label]
        if measure != "partial_auc":
            return sum(heights) / n_neg
        area, chance = 0.0, MAX_FPR**2 / 2
        for j, height in enumerate(heights):
            area += height * max(min((j + 1) / n_neg, MAX_FPR) - j / n_neg, 0.0)
        return (1 + (area - chance) / (MAX_FPR - chance)) / 2
    weights = _phi(measure, n).tolist()
    total = sum(weight for weight, label in zip(weights, y, strict=True) if label)
    if measure in ("van_der_waerden", "callable"):
        return total / n_pos
    worst, best = sum(weights[n - n_pos :]), sum(weights[:n_pos])
    return (total - worst) / (best - worst) if best > worst else math.nan
