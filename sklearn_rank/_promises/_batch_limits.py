"""How many positives are among the first rows of a batch of which no row has a label.

The labelled rows and the rows of the batch are sorted together. Whichever labels they have, the
labelled ones are at random places. Let a of them be above the (k + 1)-th row of the batch: given
a, they are at random among the first k + a places, and of P positives there, those that are
labelled are hypergeometric. The number B that is observed gives limits of P, and ``P - B`` are
positives of the batch.

Rows of a group move together. Of the groups that have a row among the first N of the joint order,
the labelled ones are at random. Bets on what is drawn next, in a random order, give limits.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from .. import _outer
from .._partitions import refuse_collections
from .._printed import Printed, Table
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import (
    check_generator,
    check_level,
    check_number,
    check_sample_weight,
    check_samples,
    check_whole,
    refuse_misread,
)
from ..bounds._shared import sums_of_earlier
from ..inference._shared import check_joined_groups, log_binomial, read_list
from ..metrics import get_measure

if TYPE_CHECKING:
    from .._labels_in_part import Design

# Numbers of rows at which limits are computed: from the first on, each by a factor more.
FIRST_LOOK, BETWEEN_LOOKS = 10, 1.1
# Of groups, whose looks have equal parts of the error.
BETWEEN_LOOKS_OF_GROUPS = 1.3

# Looks at more rows err in nearly their whole tail.
COUNTED = 2000

# Quadrature of a normal density, from so many standard deviations below the mean.
N_NODES, LEAST = 48, -5.0

# A tail is summed over so many standard deviations.
DEVIATIONS = 12.0

# Share of the groups of which all rows count.
OF_GROUPS = 0.8


@dataclass(frozen=True, eq=False, repr=False)
class BatchLimits(Printed):
    """Limits of the number of positives among the first k rows of a batch, for several k.

    Parameters
    ----------
    k : ndarray of shape (n_k,)
        Numbers of rows, in ascending order.
    low, high : ndarray of shape (n_k,)
        Limits of the number of positives among the first k rows.
    estimate : ndarray of shape (n_k,)
        Estimated number, k times the precision of the labelled rows that rank as high; NaN where
        no labelled row does.
    order : ndarray of shape (n_batch,)
        Rows of the batch from the top, with the order of ties to which the limits belong.
    level : float
        Probability, in (0, 1), that the lower limits hold for all k; and that the upper ones do.

    See Also
    --------
    batch_limits : Computes them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.inference import BatchLimits
    >>> limits = BatchLimits(
    ...     np.array([10, 20]),
    ...     np.array([8, 11]),
    ...     np.array([10, 19]),
    ...     np.array([9.5, 15.0]),
    ...     np.arange(50),
    ...     0.95,
    ... )
    >>> limits.largest_k(0.5)
    20
    """

    k: IntArray
    low: IntArray
    high: IntArray
    estimate: FloatArray
    order: IntArray
    level: float

    def largest_k(self, min_precision: float) -> int:
        """Return the largest k whose first rows have at least a precision, by the lower limits.

        It may be chosen after looking at the limits: with probability ``level`` the precision is
        reached on this batch.

        Parameters
        ----------
        min_precision : float
            The precision, in (0, 1].

        Returns
        -------
        int
            The number of rows; 0 if the limits show it for no k.
        """
        min_precision = check_number("min_precision", min_precision, 0.0, 1.0, closed="right")
        return int(self.k[self.low / self.k >= min_precision].max(initial=0))

    def _table(self) -> Table:
        n_lines = 10
        shown = np.unique(np.geomspace(1, len(self.k), n_lines).round().astype(np.intp)) - 1
        columns = (self.k, self.low, self.high, self.estimate)
        rows = zip(*(column[shown].tolist() for column in columns), strict=True)
        title = f"positives among the first k of {len(self.order):,} rows"
        if len(self.k) > 1:
            title += ", for all k at once"
        title += f", each limit {100 * self.level:.6g} %"
        if len(self.k) > 1:
            share = self.low / self.k
            best = f"{share.max():.3g}, of the first {self.k[share.argmax()]:,}"
            title += f"\nhighest precision by low: {best}; largest_k of a higher one is 0"
        return title, ("k", "low", "high", "estimate"), rows


def batch_limits(
    y_true: Any,
    y_score: Any,
    batch_score: Any,
    *,
    k: Any = None,
    level: float = 0.95,
    density_ratio: Any = None,
    groups: Any = None,
    batch_groups: Any = None,
    pos_label: Any = None,
    design: Design = None,
    random_state: Any = None,
) -> BatchLimits:
    """Compute limits of the positives among the first k rows of a batch without labels.

    A sample of labelled rows limits the positives among the first rows of a batch before anybody
    looked at them: of the first k, at least ``low`` and at most ``high`` are positive. The limits
    hold for all k at once, so that k may be chosen by them.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes of the labelled rows.
    y_score : array-like of shape (n_samples,)
        Their scores, by a model that was not fitted or selected on them.
    batch_score : array-like of shape (n_batch,)
        Scores of the rows of the batch by the same model.
    k : int, array-like of int or None, default=None
        Numbers of rows among which one is to be chosen, each in [1, n_batch]. Fewer of them make
        the limits narrower: a single one is exact. None means all.
    level : float, default=0.95
        Probability, in (0, 1), that the lower limits hold for all ``k``; the upper limits hold
        with the same probability. Both do with ``2 * level - 1``.
    density_ratio : array-like of shape (n_samples,), default=None
        How many times as frequent rows like this are in the batch as in the sample, up to a
        factor: the weights of a covariate shift, known without the labels. Rows count that a
        random choice keeps in proportion to their ratios, about ``sum / max`` of them.
    groups, batch_groups : array-like of shape (n_samples,) and (n_batch,), default=None
        Ids of groups, such as customers, whose rows may depend on each other, in the sample and
        in the batch; no group is in both. None means independent rows.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
    design : LabelDesign, "all" or None, default=None
        How rows of the sample were chosen for labelling, if some labels of ``y_true`` are missing.
        Of the rows with labels those count that a random choice keeps, the more likely a label
        was, the fewer: they are a random sample of all rows. Where labels come late (``entered``,
        ``horizon``) the mature rows count.
    random_state : None, int, Generator or RandomState, default=None
        Random number generator or seed of the order of tied scores, of the choice of rows with
        ``design`` or ``density_ratio``, and of the order of groups. Pass an int for reproducible
        results.

    Returns
    -------
    BatchLimits
        The limits, and the order of the rows.

    Raises
    ------
    ValueError
        If an argument is not valid, or ``batch_score`` equals ``y_score``.

    See Also
    --------
    metric_interval : Interval for the precision of a population, or of a list labelled in part.
    recall_certificate : When to stop labelling the rest of a batch.
    ConfidenceSequence : Watches whether the precision stays as it was.

    Notes
    -----
    The theorem, for every number of rows (Theorem 12 of :doc:`/theory/auc_bounds`):
    labelled rows and rows of the batch are exchangeable, such as independent draws from one
    population. Then the labelled ones are at random places of the joint order, for any model and
    any labels. With B positives among the a labelled rows above the (k + 1)-th row of the batch, B
    is hypergeometric: a draws from ``k + a`` places of which P are positive. The lower limit is
    ``P - B`` for the smallest P of which B or more are not too rare, the upper one that for the
    largest P of which B or fewer are not. For a single k the probability of an error is at most
    ``1 - level``, below it only as counts are whole. Ties are put in a random order, which is part
    of the result.

    For several k there are looks at about 10 of the numbers in ``k``, 11, ... (a factor of 1.1) up
    to the largest, with the same tail at each, by which any of them errs in ``1 - level``. It is
    larger than that of a union: for k from 10 to 200 and samples of a size .009 instead of .0015.
    The theorem is about each look by itself. How looks depend on each other is that of a normal
    limit, for the labels of which it makes most errors: this is not proved for finite counts. By
    the exact law, the worst labels that a search found erred in at most ``1 - level``. Between
    looks the number of positives does not fall in k, and grows by at most the number of rows.
    Restrict ``k`` to the numbers that are in question, as ``numpy.arange(20, 201)``.

    With ``groups`` it is the groups that are exchangeable. Of those with a row among the first N
    of the joint order, at looks that are fixed in N, the labelled ones are at random. In a random
    order, bets on the positives of the next group, given its rows above and those of the groups
    that are left, multiply a capital that reaches ``1 / error`` with at most this probability
    (betting without replacement, Waudby-Smith & Ramdas). Of each group its first rows count, as
    many as four groups of five have in all. These limits are wider than those of independent
    rows, even if each group is one row.

    A batch from another time or place breaks the assumption, unless weights tell how it differs:
    limits are then too narrow, by an unknown amount. So does a sample of labels as they come, if
    positives are known earlier than negatives; mature rows are exchangeable with those of a new
    batch where the mix has not drifted since they entered. The limits say nothing of a cut-off
    that is kept for later batches.

    The cost is O((n + m) log(n + m)) for n labelled rows and m of the batch, and about half a
    second for the tail of several looks, which later calls with the same numbers reuse.

    References
    ----------
    Waudby-Smith & Ramdas (2024). Estimating means of bounded random variables by betting. JRSS B
    86.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.inference import batch_limits
    >>> rng = np.random.default_rng(0)
    >>> y = (rng.random(6000) < 0.1).astype(int)
    >>> score = 3 * y + rng.normal(size=6000)
    >>> labelled, batch = np.arange(3000), np.arange(3000, 6000)
    >>> limits = batch_limits(
    ...     y[labelled], score[labelled], score[batch], k=np.arange(50, 401)
    ... )
    >>> k = limits.largest_k(min_precision=0.8)
    >>> first = batch[limits.order[:k]]
    >>> k, limits.low[limits.k == k].item(), y[first].sum().item()
    (277, 222, 243)

    With a single k, of which 200 rows are reviewed whatever the limits are:

    >>> print(batch_limits(y[labelled], score[labelled], score[batch], k=200))
    positives among the first k of 3,000 rows, each limit 95 %
    k    low  high  estimate
    200  189   200     195.9
    """
    reason = "labels known in part belong to rows"
    refuse_collections(reason, y_true=y_true, y_score=y_score, batch_score=batch_score)
    refuse_misread(y_true=y_true, density_ratio=density_ratio, groups=groups)
    refuse_misread(batch_score=batch_score, groups=batch_groups)
    # A stream of its own: rows may have been drawn with the same seed.
    level, (rng,) = check_level(level), check_generator(random_state).spawn(1)
    columns: Any = {"design": design, "pos_label": pos_label}
    (evidence,) = read_list(get_measure("precision@1"), y_true, {"": y_score}, **columns)
    rows: Any = (
        slice(None) if evidence.partial is None else _outer.rows_at_random(evidence.partial, rng)
    )
    labels, known = evidence.data.labels[rows], evidence.data.score[rows]
    labelled_score, score = check_samples(y_score=known, batch_score=batch_score)
    if len(labels) == len(score) and np.array_equal(score, labelled_score):
        raise ValueError("batch_score equals y_score: pass the scores of the rows without labels.")
    if density_ratio is not None:
        weight = check_sample_weight(density_ratio, y_score, name="density_ratio")
        chosen = (rng.random(len(weight)) * weight.max() < weight)[rows]
        labels, labelled_score = labels[chosen], labelled_score[chosen]
    n, m = len(labels), len(score)
    numbers = _numbers_of_rows(k, m)
    order = np.lexsort((rng.random(n + m), -np.concatenate([labelled_score, score])))
    is_batch = order >= n
    # Labelled rows above each row of the batch and in all, and positives among the first of them.
    n_above = np.append(np.flatnonzero(is_batch) - np.arange(m), n)
    n_pos_above = np.append(0, np.cumsum(labels[order[~is_batch]]))
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = numbers * (n_pos_above[n_above[numbers]] / n_above[numbers])
    if (groups is None) != (batch_groups is None):
        raise ValueError(
            "groups and batch_groups belong together: pass ids of labelled rows and of the batch."
        )
    if groups is None:
        looks = _looks(numbers)
        drawn, tail = n_above[looks], tail_of_looks(tuple(looks.tolist()), n, m, 1.0 - level)
        hits = n_pos_above[drawn]
        low, least_misses = (
            [fewest_hits(*look, tail) for look in zip(looks, drawn, x, strict=True)]
            for x in (hits, drawn - hits)
        )
    else:
        if design is not None or density_ratio is not None:
            raise ValueError(
                "Groups are drawn whole, but design and density_ratio choose single rows: leave"
                " them or the groups out."
            )
        codes = check_joined_groups((groups, batch_groups), (n, m)).codes[order]
        positive = np.zeros(n + m, dtype=bool)
        positive[~is_batch] = labels[order[~is_batch]]
        of_looks = np.arange(1, n + m + 1) if k is None else numbers
        rows_of_groups = codes, is_batch, positive
        looks, low, least_misses = limits_of_groups(*rows_of_groups, of_looks, level, rng)
    least, most = _between(numbers, looks, low), numbers - _between(numbers, looks, least_misses)
    return BatchLimits(numbers, least, most, estimate, order[is_batch] - n, level)


def _numbers_of_rows(k: Any, m: int) -> IntArray:
    """Distinct numbers of rows, in ascending order."""
    if k is None:
        return np.arange(1, m + 1)
    passed = np.unique(np.atleast_1d(np.asarray(k, dtype=object)))
    if not len(passed):
        raise ValueError("k has no number: pass a number of rows, or None for all.")
    return np.array([check_whole("k", number, 1, m) for number in passed])


def _looks(numbers: IntArray, between: float = BETWEEN_LOOKS) -> IntArray:
    """Those of the numbers of rows at which limits are computed."""
    first, last = min(max(FIRST_LOOK, numbers[0]), numbers[-1]), numbers[-1]
    n_steps = ceil(log(last / first) / log(between))
    rows = np.rint(np.geomspace(first, last, n_steps + 1)).astype(np.int64)
    return np.unique(numbers[np.searchsorted(numbers, rows)])


# One of several looks errs with a probability that depends on the labels. A look alone errs in its
# tail at most, and less as counts are whole: this part is exact. Its standardised error is, in the
# normal limit, a Brownian motion at the time v = P Q / (P + Q), of P positives and Q negatives
# above the look. So labels only set the times; they are furthest apart if the first places have
# few rows of a class, and later ones as many of either.


@lru_cache(maxsize=16)
def tail_of_looks(numbers: tuple[int, ...], n: int, m: int, error: float) -> float:
    """Largest tail of each look with which any of them errs as rarely as said."""
    if len(numbers) == 1:
        return error
    looks = np.array(numbers)
    n_shares = max(ceil(2.0 * log(looks[0] * (1.0 + n / m), 2.0)), 3)
    rare = 0.5 ** (np.arange(2, n_shares + 1) / 2.0)
    shares = np.append(rare[::-1], 1.0 - rare[1:])
    counted = [_tails(int(k), n, m, shares) for k in looks[looks <= COUNTED]]
    of_labels = 0.5 + (shares[:, np.newaxis] - 0.5) * looks[0] / looks
    upper = np.maximum(np.searchsorted(shares, of_labels), 1)
    time = looks * of_labels * (1.0 - of_labels)
    related = np.sqrt(np.minimum(time[:, :-1] / time[:, 1:], BETWEEN_LOOKS**-0.5))

    def exceeds(tail: float) -> bool:
        errors = np.full(of_labels.shape, tail)
        for i, (weight, tails) in enumerate(counted):
            attained = np.where(tails <= tail, tails, 0.0).max(axis=2)
            worse = np.maximum(attained[upper[:, i]], attained[upper[:, i] - 1])
            errors[:, i] = worse @ weight
        return bool(_any_error(errors, related).max() > error)

    tails = np.geomspace(error / len(looks), error, 256)
    return float(tails[max(bisect_left(tails, True, key=exceeds) - 1, 0)])


def _tails(k: int, n: int, m: int, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Probabilities of numbers of labelled rows above a look, and the tails of their hits.

    The tails, from the mean on, are by the share of hits among all rows above. Shapes (n_drawn,)
    and (n_shares, n_drawn, n_hits).
    """
    mean = n * (k + 1) / (m + 1)
    half = 3.0 * sqrt(mean * (n + m + 1) * (m - k) / ((m + 1) * (m + 2)))
    drawn = np.unique(np.rint(np.linspace(mean - half, mean + half, 15).clip(0, n)))
    places, left = k + drawn, np.maximum(n + m - k - 1 - drawn, 0.0)
    logs = log_binomial(places, drawn) + log_binomial(left, n - drawn)
    weight = np.exp(logs - logs.max())
    hits = np.rint(shares[:, np.newaxis] * places)
    usual = drawn * hits / places
    deviation = np.sqrt(usual * (1.0 - hits / places) * k / np.maximum(places - 1.0, 1.0))
    x = np.floor(usual)[..., np.newaxis] + np.arange(8.0 * (1.0 + deviation.max()))
    places, hits, drawn = places[:, np.newaxis], hits[..., np.newaxis], drawn[:, np.newaxis]
    logs = log_binomial(hits, x) + log_binomial(places - hits, drawn - x)
    chances = np.exp(logs - log_binomial(places, drawn))
    return weight / weight.sum(), np.cumsum(chances[..., ::-1], axis=2)[..., ::-1]


def _any_error(errors: FloatArray, related: FloatArray) -> FloatArray:
    """Probability that any look errs, of looks with such errors of which the next are related.

    Shapes (n_labels, n_looks) and (n_labels, n_looks - 1), correlations of a Markov chain of
    normal variables.
    """
    node, weight = np.polynomial.legendre.leggauss(N_NODES)
    bounds = -ndtri(np.maximum(errors, 1e-12))
    half = (bounds[..., np.newaxis] - LEAST) / 2.0
    value, width = LEAST + half * (1.0 + node), half * weight
    inside = np.exp(-(value[:, 0] ** 2) / 2.0) * width[:, 0] / sqrt(2.0 * pi)
    for i in range(related.shape[1]):
        r = related[:, i, np.newaxis, np.newaxis]
        rest = np.sqrt(1.0 - r * r)
        moved = (value[:, i + 1, :, np.newaxis] - r * value[:, i, np.newaxis]) / rest
        density = np.exp(-moved * moved / 2.0) / (rest * sqrt(2.0 * pi))
        inside = (density @ inside[..., np.newaxis])[..., 0] * width[:, i + 1]
    return 1.0 - inside.sum(axis=1)


def _between(numbers: IntArray, looks: IntArray, limits: Sequence[int]) -> IntArray:
    """Lower limits of the hits among so many rows of the batch, by those at the looks."""
    before = np.append(0, np.maximum.accumulate(limits))
    misses = np.minimum.accumulate((looks - limits)[::-1])[::-1]
    return np.maximum(
        before[np.searchsorted(looks, numbers, side="right")],
        numbers - np.append(misses, numbers[-1])[np.searchsorted(looks, numbers)],
    )


def fewest_hits(k: int, drawn: int, hits: int, tail: float) -> int:
    """Fewest hits among k rows with which as many among the drawn ones are not too rare."""

    def is_usual(n_hits: int) -> bool:
        return tail_of_hits(hits, drawn, hits + n_hits, k + drawn) > tail

    return bisect_left(range(k), True, key=is_usual)


def tail_of_hits(hits: int, drawn: int, n_hits: int, n: int) -> float:
    """Probability of at least so many hits among drawn rows of n, of which n_hits are hits."""
    mean = drawn * n_hits / n
    half = DEVIATIONS * (1.0 + sqrt(mean * (n - n_hits) / n))
    if hits <= max(mean - half, 0):
        return 1.0
    x = np.arange(hits, min(drawn, n_hits, int(max(mean, hits) + half)) + 1.0)
    logs = log_binomial(n_hits, x) + log_binomial(n - n_hits, drawn - x)
    return float(np.exp(logs - log_binomial(n, drawn)).sum())


# Of a number of groups some are drawn at random. The rows of each are known, and the hits of those
# that were drawn. If all groups have at most a number of hits, a bet on the hits of the next drawn
# group has no gain on average: the capital of a player reaches ``1 / error`` with at most this
# probability.


def fewest_hits_of_groups(
    hits: FloatArray, sizes: IntArray, n_groups: int, n_rows: int, largest: int, tail: float
) -> int:
    """Fewest hits of all groups with which the drawn ones are not too rare.

    ``hits`` and ``sizes`` are those of the drawn groups in a random order, of ``n_groups`` with
    ``n_rows`` in all, of which the largest has so many. Shape (n_drawn,).
    """
    seen, of_rows = np.cumsum(hits) - hits, np.cumsum(sizes) - sizes
    share = (seen + 0.5) / (of_rows + 1.0)
    left = n_groups - np.arange(len(hits))
    # Hits, less those that the size foretells, from 0 on, and their mean in all groups left.
    value = hits + share * (largest - sizes)
    without = share * largest - share * (n_rows - of_rows) / left

    # Shares of the capital that are lost where the next group has no hit.
    bets = np.geomspace(1.0 / 64.0, 0.9, 8)[:, np.newaxis]

    def is_usual(total: int) -> bool:
        mean = without + (total - seen) / left
        ratio = np.divide(value, mean, out=np.ones(len(value)), where=mean > 0.0)
        gains = np.log1p(bets * (ratio - 1.0))
        capital = np.exp(np.cumsum(gains, axis=1)).mean(axis=0)
        return bool(capital.max(initial=1.0) < 1.0 / tail)

    fewest = int(hits.sum())
    return fewest + bisect_left(range(fewest, n_rows), True, key=is_usual)


def limits_of_groups(
    codes: IntArray,
    is_batch: BoolArray,
    positive: BoolArray,
    numbers: IntArray,
    level: float,
    rng: np.random.Generator,
) -> tuple[IntArray, list[int], list[int]]:
    """Numbers of rows of the batch, and the fewest hits and misses among them.

    Of the places of the joint order the first rows of each group count, up to a number that most
    groups do not reach.
    """
    n_groups, earlier = int(codes.max()) + 1, sums_of_earlier(codes, np.ones(len(codes)))
    labelled, batch = np.unique(codes[~is_batch]), np.unique(codes[is_batch])
    if len(both := np.intersect1d(labelled, batch)):
        raise ValueError(
            f"groups and batch_groups have {len(both)} ids in common, so that labelled groups"
            " are not drawn at random: leave the labelled rows of these groups out."
        )
    order = rng.permutation(labelled)
    # Above these about so many rows of the batch are.
    above = np.minimum(
        np.rint(n_groups / len(batch) * _looks(numbers, BETWEEN_LOOKS_OF_GROUPS)), len(codes)
    )
    places = np.unique(above.astype(np.intp))

    def fewest(place: int, hits: bool) -> int:
        sizes = np.bincount(codes[:place])
        most = int(np.ceil(np.quantile(sizes[sizes > 0], OF_GROUPS)))
        rows = np.flatnonzero(earlier[:place] < most)
        of_rows = codes[rows]
        sizes = np.bincount(of_rows, minlength=n_groups)
        drawn = order[sizes[order] > 0]
        n = np.bincount(of_rows, positive[rows] == hits, n_groups)[drawn]
        options = int(np.count_nonzero(sizes)), len(rows), most, (1.0 - level) / len(places)
        return max(fewest_hits_of_groups(n, sizes[drawn], *options) - int(n.sum()), 0)

    low, misses = ([fewest(place, hits) for place in places] for hits in (True, False))
    return np.cumsum(is_batch, dtype=np.intp)[places - 1], low, misses
