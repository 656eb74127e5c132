"""Linear rank statistics: intervals for one list, and tests of two samples."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, inf, nan
from typing import Any, Literal, get_args

import numpy as np

from .._lists import ScoredLists
from .._order import TiedBlocks, counted_blocks, places_of, tied_blocks
from .._partitions import refuse_collections
from .._typing import FloatArray, IntArray
from .._validation import (
    check_choice,
    check_generator,
    check_level,
    check_resamples,
    check_samples,
)
from ..bounds._shared import kl_limits
from ..metrics import Measure
from ..metrics._shared import (
    Evidence,
    Groups,
    Normalize,
    Phi,
    ScoreGeneratingFunction,
    as_score_generating,
    independent_units,
    phi_of,
    rank_range,
)
from ._evidence import check_joined_groups, check_pair_of_groups
from ._joint import GroupPart, Spread, robust_sums
from ._limits import BLOCK, Alternative, independent_rows, mean_of_tail, pvalue_of, safe_limits
from ._results import Comparison, Interval


def limit_range(phi: ScoreGeneratingFunction, n: int, k: int) -> tuple[float, float]:
    """Return the smallest and largest value of the functional for k positives among n."""
    # The grid is finer than the items if there are few, because phi may jump between them.
    fine = max(1, 2**14 // n)
    points = (np.arange(k * fine) + 0.5) / (n * fine)
    worst, best = float(np.sum(phi(points))), float(np.sum(phi(1.0 - points[::-1])))
    return worst / (k * fine), best / (k * fine)


def rank_target(evidence: Evidence, n: int, k: int) -> str:
    labels = f" at {k} positives of {n}" if evidence.conditional else ", random labels"
    return f"{evidence.measure.name}{labels}"


def rank_bootstrap_interval(
    evidence: Evidence,
    phi: ScoreGeneratingFunction,
    normalize: Normalize,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Interval:
    """Interval by samples of the items and half an imagined item at either end of each class."""
    data, conditional = evidence.repeat().data, evidence.conditional
    n, k = len(data.score), int(np.count_nonzero(data.positive))
    least, largest = rank_range(phi, n, k)
    if not conditional:
        ends = phi._at_ranks(np.array([1.0, float(n)]), np.array([float(n)]))
        least, largest = float(ends[0]), float(ends[1])
    blocks = tied_blocks(data.score)
    n_pos = blocks.totals(data.positive.astype(np.float64)).astype(np.intp)
    counts = np.stack([n_pos, blocks.lengths() - n_pos])
    n_blocks = len(n_pos) + 2
    # Block of each item of either class, an imagined one first and last.
    block_of = [np.repeat(np.arange(n_blocks), np.concatenate([[1], row, [1]])) for row in counts]

    def statistic(n_pos: FloatArray, n_neg: FloatArray) -> float:
        # Of counts in blocks from the top: 0 for the worst and 1 for the best order.
        with_pos = np.flatnonzero(n_pos)
        size = n_pos + n_neg
        n, k = float(size.sum()), float(n_pos.sum())
        below = (n - np.cumsum(size))[with_pos]
        value = phi._sums(below, below + size[with_pos], np.array([n]))
        mean = float(np.sum(value * n_pos[with_pos] / size[with_pos])) / k
        low, high = (least, largest) if normalize == "mean" else rank_range(phi, int(n), int(k))
        return min(max((mean - low) / (high - low), 0.0), 1.0)

    def draw() -> list[FloatArray]:
        # Counts in blocks of both classes.
        n_drawn = k if conditional else int(np.clip(rng.binomial(n, k / n), 1, n - 1))
        draws = []
        for size, blocks in zip((n_drawn, n - n_drawn), block_of, strict=True):
            # Half an imagined item at either end.
            item = (rng.random(size) * (len(blocks) - 1.0) + 0.5).astype(np.intp)
            draws.append(np.bincount(blocks[item], minlength=n_blocks).astype(np.float64))
        return draws

    value = statistic(*counts.astype(np.float64))
    draws = np.array([statistic(*draw()) for _ in range(n_resamples)])
    variance, center = float(draws.var(ddof=1)), float(draws.mean())
    low, high = safe_limits(value, center * (1.0 - center) / variance, level)
    origin, scale = (least, largest - least) if normalize == "mean" else (0.0, 1.0)
    estimate = origin + scale * value
    # Up to rounding they are in order.
    low, high = min(origin + scale * low, estimate), max(origin + scale * high, estimate)
    target = f"expected {rank_target(evidence, n, k)}"
    error = scale * float(np.sqrt(variance))
    return Interval(estimate, low, high, level, "bootstrap", target, error)


def dkw_interval(
    evidence: Evidence, phi: ScoreGeneratingFunction, normalize: Normalize, level: float
) -> Interval:
    """Interval by a band around the distribution of the scores and Chernoff's limit."""
    data, groups, conditional = evidence.data, evidence.groups, evidence.conditional
    blocks = counted_blocks(data.score, data.positive, data.weight)
    n, k, size, n_pos, below = blocks.n, blocks.k, blocks.size, blocks.n_pos, blocks.below
    if normalize == "minmax" and not conditional:
        raise ValueError(
            "normalize='minmax' needs the fraction of positives, which is random with"
            " conditional=False and method='dkw': pass conditional=True or normalize='mean'."
        )
    worst, best = rank_range(phi, n, k)
    floor, ceiling = _bounds_of(phi)
    delta = (1.0 - level) / 2.0
    factor = 2.0 * np.exp(1.0) if conditional else 2.0
    eps, n_draws = np.sqrt(np.log(factor / delta) / (2.0 * n)), float(k)
    if groups is not None:
        eps = mean_of_tail(factor, delta, independent_rows(groups.sizes()))
        n_draws = float(independent_rows(groups.sizes(data.positive)))
    estimate = float(np.sum(phi._sums(below, below + size, np.array([float(n)])) / size * n_pos))
    estimate /= k
    shifted = [(_shifted_mean(phi, blocks, x) - floor) / (ceiling - floor) for x in (-eps, eps)]
    least, most = kl_limits(np.clip(shifted, 0.0, 1.0), np.log(2.0 / delta) / n_draws)
    low = floor + (ceiling - floor) * float(least[0])
    high = floor + (ceiling - floor) * float(most[1])
    if normalize == "minmax":
        lowest, highest = limit_range(phi, n, k)
        low, high = ((x - lowest) / (highest - lowest) for x in (low, high))
        low, high = max(low, 0.0), min(high, 1.0)
        estimate = min(max((estimate - worst) / (best - worst), 0.0), 1.0)
    low, high = min(low, estimate), max(high, estimate)
    return Interval(estimate, low, high, level, "dkw", rank_target(evidence, n, k))


def dkw_lower_limits(
    lists: Sequence[ScoredLists], measure: Measure, deltas: FloatArray
) -> FloatArray:
    """Lower limits by a band around the distribution of the scores, labels fixed.

    Shape (n_functions,).
    """
    phi: Any = phi_of(measure)
    floor, ceiling = _bounds_of(phi)
    limits = np.empty(len(lists))
    for row, (data, delta) in enumerate(zip(lists, deltas, strict=True)):
        blocks = counted_blocks(data.score, data.positive, data.weight)
        n, k = blocks.n, blocks.k
        eps = float(np.sqrt(np.log(4.0 * np.exp(1.0) / delta) / (2.0 * n)))
        lower = (_shifted_mean(phi, blocks, -eps) - floor) / (ceiling - floor)
        limit = float(kl_limits(min(max(lower, 0.0), 1.0), np.log(2.0 / delta) / k)[0])
        limits[row] = floor + (ceiling - floor) * limit
    if getattr(measure, "normalize", "minmax") == "minmax":
        lowest, highest = limit_range(phi, n, k)
        limits = np.maximum((limits - lowest) / (highest - lowest), 0.0)
    return limits


def _shifted_mean(phi: ScoreGeneratingFunction, blocks: TiedBlocks, shift: float) -> float:
    """Mean over the positives of phi at their ranks as shares, moved down or up by a shift.

    Tied items are in random order.
    """
    by_block, rank = np.zeros(len(blocks.size)), float(blocks.n)
    for block, first, _, place in places_of(blocks.size):
        shares = (np.arange(rank, rank - len(place), -1.0) - (shift < 0.0)) / blocks.n
        by_block[block] += np.add.reduceat(phi(np.clip(shares + shift, 0.0, 1.0)), first)
        rank -= len(place)
    return float(np.sum(by_block / blocks.size * blocks.n_pos)) / blocks.k


def _bounds_of(phi: ScoreGeneratingFunction) -> tuple[float, float]:
    try:
        floor, ceiling = (float(x) for x in phi(np.array([0.0, 1.0])))
        bounded = np.isfinite(floor) and np.isfinite(ceiling)
    except ValueError:
        bounded = False
    if not bounded:
        raise ValueError(
            f"phi={phi!r} is not finite on [0, 1], but method='dkw' needs a bounded phi: pass"
            " method='influence' or 'bootstrap'."
        )
    return floor, ceiling


# ------------------------------------------------------------------------------------- two samples


# Largest numbers of additions and sums for "exact", and for "auto".
MOST_ADDITIONS, FEW_ADDITIONS = 4 * 10**9, 10**8
MOST_SUMS, FEW_SUMS = 2**22, 2**16

# From this size of the smaller class on "auto" uses the normal distribution.
MANY = 50

# Samples of fewer scores, or of more different whole numbers, are not taken for labels.
FEW_SCORES, MOST_GRADES = 10, 5


def two_sample_rank_test(
    scores_pos: Any,
    scores_neg: Any,
    *,
    phi: Phi = "wilcoxon",
    method: Literal["auto", "exact", "permutation", "normal"] = "auto",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    n_resamples: int = 10_000,
    random_state: Any = None,
    groups: Any = None,
) -> Comparison:
    """Two-sample linear rank test, such as the Wilcoxon-Mann-Whitney test.

    The null hypothesis is that two samples of scores have the same distribution. The statistic is
    ``W = sum over the first sample of a(R)`` with a(R) = phi(R / (n + 1)), where R is the rank
    among all n scores and tied scores share the mean of their values. Under the hypothesis every
    choice of k of the n values is equally likely.

    Parameters
    ----------
    scores_pos : array-like of shape (n_pos,)
        Scores of the first sample, such as the positives.
    scores_neg : array-like of shape (n_neg,)
        Scores of the second sample.
    phi : ScoreGeneratingFunction, str or callable, default="wilcoxon"
        Nondecreasing function on (0, 1). Use "wilcoxon" to detect a shift of location, and a
        function that is steep near 1 to detect differences at the top. It may depend on n and need
        not be bounded.
    method : {"auto", "exact", "permutation", "normal"}, default="auto"
        "exact" is the exact distribution of W, "permutation" draws random choices, and "normal" is
        the normal distribution with the mean and the variance of W. "auto" is "exact" if that is
        fast, else "normal" if both samples have at least 50 scores, else "permutation".
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        Alternative hypothesis: the scores of the first sample tend to be different, lower or
        higher.
    level : float, default=0.95
        Confidence level of the test, in (0, 1): a difference counts as shown if the p-value is at
        most ``1 - level``.
    n_resamples : int, default=10000
        Number of random choices for "permutation", at least 99.
    random_state : int, Generator, RandomState or None, default=None
        Random number generator or seed of "permutation". Pass an int for reproducible results.
    groups : pair of array-like of shape (n_pos,) and (n_neg,), default=None
        Group ids (patients, users) of the scores of each sample; equal ids are one group. Scores
        of different groups are independent, scores of one group may depend on each other in any
        way. None means independent scores; if they are not, the test rejects true hypotheses much
        too often.

    Returns
    -------
    Comparison
        The test, without an interval. Its estimate is W rescaled to [0, 1] between the worst and
        the best order, minus the rescaled mean of W; with Wilcoxon's phi it is AUC - 1/2. Its
        statistic is W, or the standardised W with "normal". Its ``method`` is the one that was
        used.

    Raises
    ------
    ValueError
        If an argument is not valid, one sample holds the labels of the other, "exact" would take
        too long, there is only one group, or a group has scores of both samples and the method is
        not "auto" or "normal".

    See Also
    --------
    scipy.stats.mannwhitneyu : Wilcoxon's phi only, exact only without ties.
    metric_interval : Confidence interval for the statistic as a measure.

    Notes
    -----
    All methods are conditional on the tie pattern. The two-sided p-value is twice the smaller
    one-sided p-value, at most 1. If all scores are tied, it is 1.

    "exact" sums probabilities if the values of phi are whole multiples of a unit, as for
    Wilcoxon's phi: O(n k S) time and O(k S) memory for S possible sums and the smaller class k.
    Otherwise it matches the subset sums of two halves: O(2^(n/2) n) time. It raises an error from
    about 190 / 190 scores on, or 23 / 23 with another phi. "permutation" counts the sample itself
    as one choice, and each choice takes O(n) time.

    If each of the ``groups`` lies in one sample, "exact" and "permutation" permute groups: under
    the hypothesis the groups of both samples have one distribution, including their sizes.
    "normal" compares the means of a(R) by the sums of their deviations over groups, with Student's
    distribution as in :func:`compare`. It also supports groups with scores of both
    samples, and "auto" selects it for them.

    References
    ----------
    .. [1] Hájek, Šidák & Sen (1999), *Theory of rank tests*, 2nd edition, Section 3.3.

    Examples
    --------
    >>> from sklearn_rank.inference import two_sample_rank_test
    >>> print(two_sample_rank_test([7, 6, 5], [4, 3, 2, 1], alternative="greater"))
    statistic of Wilcoxon() of samples of 3 and 4 scores
    hypothesis: equal distributions; greater; exact; level 95 %
    <BLANKLINE>
    ranker                value
    first sample         1.0000
    equal distributions  0.5000
    <BLANKLINE>
    contrast                            difference       p  conclusion
    first sample - equal distributions     +0.5000  0.0286  first sample better
    """
    check_choice("method", method, ("auto", "exact", "permutation", "normal"))
    check_choice("alternative", alternative, get_args(Alternative))
    phi = as_score_generating(phi)
    samples = {"scores_pos": scores_pos, "scores_neg": scores_neg}
    refuse_collections("all scores are ranked together", **samples, groups=groups)
    first, second = check_samples(**samples)
    _refuse_labels(scores_pos=first, scores_neg=second)
    level, n_resamples = check_level(level), check_resamples(n_resamples)
    k, n = len(first), len(first) + len(second)
    values, tied = _mean_values(phi, np.concatenate((first, second)))
    center = float(values.mean())
    check_pair_of_groups(groups)
    dependent = None if groups is None else check_joined_groups(groups, [k, n - k])
    ordered = phi._at_ranks(np.arange(1.0, n + 1.0), np.array([float(n)]))
    worst, best = float(ordered[:k].sum()), float(ordered[n - k :].sum())
    statistic = k * center if tied else float(values[:k].sum())
    observed, expected = (
        (total - worst) / (best - worst) if best > worst else 0.0
        for total in (statistic, k * center)
    )
    if tied:
        method, pvalue = method if method != "auto" else "exact", 1.0
    else:
        units, n_first, mixed = _units(values, center, k, dependent)
        if mixed and method in ("exact", "permutation"):
            raise ValueError(
                f"method={method!r} exchanges whole groups, but some groups have scores of both"
                " samples: pass method='normal', or use compare for two scores of the same"
                " items."
            )
        if dependent is not None and method in ("exact", "permutation"):
            dependent.refuse_in_time(f"method={method!r}")
        if method == "auto" and (mixed or (dependent is not None and dependent.in_time)):
            method = "normal"
        elif method == "auto":
            whole, additions, sums = _costs(units, n_first)
            is_large = min(n_first, len(units) - n_first) >= MANY
            method = "normal" if is_large else "permutation"
            if (whole is not None and additions <= FEW_ADDITIONS) or sums <= FEW_SUMS:
                method = "exact"
        if method == "normal":
            statistic, degrees = _standardize(values, center, k, dependent)
            pvalue = pvalue_of(statistic, alternative, degrees)
        else:
            if method == "exact":
                tails = _exact_tails(units, n_first)
            else:
                rng = check_generator(random_state)
                tails = _permutation_tails(units, n_first, n_resamples, rng)
            both = 2.0 * min(tails)
            pvalue = min(
                {"two-sided": both, "greater": tails[0], "less": tails[1]}[alternative], 1.0
            )
    names = ("first sample", "equal distributions")
    return Comparison(
        measure=repr(phi),
        names=names,
        values=(observed, expected),
        standard_errors=(nan, nan),
        contrasts=(" - ".join(names),),
        differences=(observed - expected,),
        low=(nan,),
        high=(nan,),
        statistics=(statistic,),
        pvalues=(pvalue,),
        level=level,
        alternative=alternative,
        margin=None,
        method=method,
        target=f"statistic of {phi!r} of samples of {k} and {n - k} scores",
        hypothesis="equal distributions",
    )


def _refuse_labels(**samples: FloatArray) -> None:
    """Refuse the labels of the rows whose scores are the other sample."""
    if len(set(map(len, samples.values()))) > 1:
        return
    values = {name: set(np.unique(sample).tolist()) for name, sample in samples.items()}
    labels = [name for name, x in values.items() if x <= {0.0, 1.0} or x <= {-1.0, 1.0}]
    (few, fewest), (_, most) = sorted(values.items(), key=lambda item: len(item[1]))
    if len(labels) == 1 and len(fewest) == 2 < len(most):
        raise ValueError(
            f"{labels[0]} holds the labels of two classes and the other sample does not, but each"
            " must hold the scores of one class: pass two_sample_rank_test(s[y == 1], s[y != 1])"
            " for labels y and scores s; if they are scores, add 0.5 to both samples."
        )
    # Scores of one scale are whole in both samples or in neither.
    of_grades = len(samples[few]) >= FEW_SCORES and 1 < len(fewest) <= MOST_GRADES < len(most)
    if of_grades and all(map(float.is_integer, fewest)) and not any(map(float.is_integer, most)):
        raise ValueError(
            f"{few} holds {len(fewest)} different whole numbers, as labels do, and the other"
            " sample none, but each must hold the scores of one class: pass"
            " two_sample_rank_test(s[y == c], s[y != c]) for a class c of labels y and scores s;"
            " if they are scores, add 0.5 to both samples."
        )


def _mean_values(phi: ScoreGeneratingFunction, score: FloatArray) -> tuple[FloatArray, bool]:
    """Values of phi, whose mean tied scores share; and whether all are equal."""
    n = len(score)
    blocks = tied_blocks(score)
    size = blocks.lengths().astype(np.float64)
    below = n - blocks.starts - size
    of_blocks = phi._sums(below, below + size, np.array([float(n)])) / size
    return blocks.to_items(of_blocks), len(of_blocks) == 1 or bool(of_blocks[0] == of_blocks[-1])


def _units(
    values: FloatArray, center: float, k: int, groups: Groups | None
) -> tuple[FloatArray, int, bool]:
    """Exchanged values, those of the first sample first; their number; whether groups mix."""
    if groups is None:
        return values, k, False
    in_sample = np.arange(len(values)) < k
    in_first, in_second = groups.sizes(in_sample) > 0, groups.sizes(~in_sample) > 0
    totals = groups.sums(values - center)
    ordered = np.concatenate([totals[in_first], totals[~in_first]])
    return ordered, int(np.count_nonzero(in_first)), bool((in_first & in_second).any())


def _standardize(
    values: FloatArray, center: float, k: int, groups: Groups | None
) -> tuple[float, float]:
    n = len(values)
    if groups is None:
        variance = k * (n - k) / (n * (n - 1.0)) * float(np.sum((values - center) ** 2))
        return (float(values[:k].sum()) - k * center) / float(np.sqrt(variance)), inf
    parts = [
        GroupPart.of_rows(sign * values[np.newaxis, rows], groups.only(rows))
        for sign, rows in ((1.0, slice(None, k)), (-1.0, slice(k, None)))
    ]
    difference = float(values[:k].mean() - values[k:].mean())
    if min(part.count for part in parts) < 2:
        raise ValueError(
            "A sample has one group only, but the variance is estimated between groups: pass"
            " scores of at least two groups in each sample."
        )
    units, degrees = independent_units(robust_sums(parts)[0], groups.times)
    error = float(np.sqrt(np.sum(units**2)))
    if error <= 1e-12 * float(np.ptp(values)):
        raise ValueError(
            "The sums over groups are equal within each sample, so the statistic is infinite:"
            " pass method='permutation', or more groups."
        )
    return difference / error, min(Spread.of_groups(parts).of(np.ones(1)), float(degrees))


def _whole(values: FloatArray) -> IntArray | None:
    """Values as whole multiples of a unit above the smallest; None if there is no unit."""
    levels = np.unique(values)
    if len(levels) == 2:
        return np.asarray(values == levels[1], dtype=np.intp)
    # Mean ranks of tied items are halves.
    unit = 1.0 / (2.0 * (len(values) + 1.0))
    multiples = np.rint((values - levels[0]) / unit)
    if np.abs((values - levels[0]) / unit - multiples).max() > 1e-7:
        return None
    whole = multiples.astype(np.intp)
    return whole // np.gcd.reduce(whole)


def _costs(values: FloatArray, k: int) -> tuple[IntArray | None, int, int]:
    """Whole values if there are, additions that they take, and sums to list without them."""
    n = len(values)
    few = min(k, n - k)
    additions = sums = 0
    if (whole := _whole(values)) is not None:
        additions = n * (few + 1) * (int(np.sort(whole)[n - few :].sum()) + 1)
    half = (n + 1) // 2
    for j in range(min(few, half) + 1):
        sums += comb(half, j)
        if sums > MOST_SUMS:
            break
    return whole, additions, sums


def _exact_tails(values: FloatArray, k: int) -> tuple[float, float]:
    """Probabilities that the sum of k random values is at least, and at most, the observed."""
    n = len(values)
    whole, additions, sums = _costs(values, k)
    if sums > MOST_SUMS and (whole is None or additions > MOST_ADDITIONS):
        raise ValueError(
            f"method='exact' would take too long for {k} and {n - k} scores with this phi: pass"
            " method='permutation' or 'normal'."
        )
    # Of the two classes the smaller is summed; the other sum is the rest.
    swapped = 2 * k > n
    if swapped:
        values = values[::-1]
        whole = None if whole is None else whole[::-1]
        k = n - k
    if whole is not None and (additions <= FEW_ADDITIONS or sums > MOST_SUMS):
        tails = _whole_tails(whole, k)
    else:
        tails = _matched_tails(values, k)
    return (tails[1], tails[0]) if swapped else tails


def _whole_tails(values: IntArray, k: int) -> tuple[float, float]:
    """Tails of sums of whole values, the items being looked at one after the other."""
    n = len(values)
    observed = int(values[:k].sum())
    largest = int(np.sort(values)[n - k :].sum())
    probability = np.zeros((k + 1, largest + 1))
    probability[0, 0] = 1.0
    n_chosen = np.arange(k + 1.0)
    for i, value in enumerate(np.sort(values)):
        take = np.clip((k - n_chosen) / (n - i), 0.0, 1.0)[:, np.newaxis]
        gained = probability[:-1, : largest + 1 - value] * take[:-1]
        probability *= 1.0 - take
        probability[1:, value:] += gained
    return float(probability[k, observed:].sum()), float(probability[k, : observed + 1].sum())


def _matched_tails(values: FloatArray, k: int) -> tuple[float, float]:
    """Tails of sums of any values, from the subset sums of two halves."""
    n = len(values)
    observed = float(values[:k].sum())
    slack = 1e-11 * float(np.abs(values).sum())
    ordered = np.sort(values)
    # Alternate values balance the halves.
    left, right = (_subset_sums(ordered[start::2], k) for start in (0, 1))
    at_least, at_most = 0, 0
    for j, sums in enumerate(left):
        if not 0 <= k - j < len(right) or len(sums) == 0:
            continue
        rest = np.sort(right[k - j])
        at_least += len(sums) * len(rest) - int(
            np.searchsorted(rest, observed - slack - sums, "left").sum()
        )
        at_most += int(np.searchsorted(rest, observed + slack - sums, "right").sum())
    total = comb(n, k)
    return at_least / total, at_most / total


def _subset_sums(values: FloatArray, k: int) -> list[FloatArray]:
    sums = [np.zeros(1)] + [np.zeros(0)] * min(k, len(values))
    for value in values:
        for j in range(len(sums) - 1, 0, -1):
            sums[j] = np.concatenate((sums[j], sums[j - 1] + value))
    return sums


def _permutation_tails(
    values: FloatArray, k: int, n_resamples: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Tails from random choices, the sample itself being one of them."""
    n = len(values)
    observed = float(values[:k].sum())
    slack = 1e-11 * float(np.abs(values).sum())
    few = min(k, n - k)
    total = float(values.sum())
    at_least, at_most, left = 1, 1, n_resamples
    while left > 0:
        rows = min(left, max(1, BLOCK // n))
        shuffled = rng.permuted(np.broadcast_to(values, (rows, n)), axis=1)
        sums = shuffled[:, :few].sum(axis=1)
        if few < k:
            sums = total - sums
        at_least += int(np.count_nonzero(sums >= observed - slack))
        at_most += int(np.count_nonzero(sums <= observed + slack))
        left -= rows
    return at_least / (n_resamples + 1.0), at_most / (n_resamples + 1.0)
