"""Influence of each item of one list on a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np
from scipy.special import digamma, zeta

from .._arguments import check_choice, check_flag
from .._lists import ScoredLists
from .._order import TiedBlocks, tied_blocks
from .._partitions import any_collection
from .._typing import FloatArray, IntArray
from .._validation import ravelled
from ..metrics import Measure
from ..metrics._shared import (
    AveragePrecisionMeasure,
    ClassInfluence,
    Normalize,
    Phi,
    ScoreGeneratingFunction,
    as_score_generating,
    linear_rank_influence_of,
    phi_of,
)
from ._samples import (
    Groups,
    OneList,
    WeightMeaning,
    check_groups,
    check_sample,
    check_two_classes,
    check_weight_meaning,
    draws_of,
    each_alone,
    refuse_collections,
    refuse_few_of_classes,
    refuse_fractions,
    whole_weights,
)


@dataclass(frozen=True, eq=False)
class CorrelationInfluence:
    """First-order influence of each item on a correlation."""

    values: FloatArray  # (n,): Influence, of mean 0; the correlation varies as their mean
    ends: tuple[float, float]


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Items in the order of their scores, from the top, and what is around each."""

    blocks: TiedBlocks  # Blocks of tied scores
    level: IntArray  # (n,): Number of distinct relevances above that of each item
    weights: FloatArray
    above: FloatArray  # (n,): Items above the block
    size: FloatArray  # (n,): Items of the block

    @classmethod
    def of(cls, data: ScoredLists) -> _Pairs:
        """Count."""
        blocks, by_grade = tied_blocks(data.score), tied_blocks(data.grade)
        level = np.empty(len(data.score), dtype=np.int64)
        level[by_grade.order] = np.repeat(np.arange(len(by_grade.starts)), by_grade.lengths())
        level = level[blocks.order]
        lengths = blocks.lengths()
        return cls(
            blocks,
            level,
            _weights_around(level, np.ones(len(level)), blocks.starts),
            np.repeat(blocks.starts, lengths).astype(np.float64),
            np.repeat(lengths, lengths).astype(np.float64),
        )

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.level)

    def agreement(self) -> FloatArray:
        """Items that both orders put on the same side of each, less those on opposite sides."""
        mass = np.bincount(self.level).astype(np.float64)
        ahead = np.cumsum(mass) - mass
        higher, equal, higher_tied, equal_tied = self.weights
        higher_below = ahead[self.level] - higher - higher_tied
        equal_below = mass[self.level] - equal - equal_tied
        lower_below = self.n - self.above - self.size - higher_below - equal_below
        return higher - (self.above - higher - equal) + lower_below - higher_below

    def equal_relevance(self) -> FloatArray:
        """Items of the relevance of each, itself included."""
        return np.bincount(self.level).astype(np.float64)[self.level]

    def to_rows(self, values: FloatArray) -> FloatArray:
        """Put values in the order of the rows. Shape (n,)."""
        rows = np.empty(self.n)
        rows[self.blocks.order] = values
        return rows


def _weights_around(level: IntArray, weight: FloatArray, starts: IntArray) -> FloatArray:
    from ._pair_kernels import pair_weights

    found = np.empty((4, len(level)))
    level, starts = (np.ascontiguousarray(one, dtype=np.int64) for one in (level, starts))
    pair_weights(level, np.ascontiguousarray(weight), starts, int(level.max()) + 1, found)
    return found


def of_tau_x(data: ScoredLists) -> CorrelationInfluence:
    """Find the influence of the items on tau-x."""
    pairs = _Pairs.of(data)
    agreement = (pairs.agreement() + pairs.weights[3] - 1.0) / (pairs.n - 1.0)
    mean = float(agreement.mean())
    return CorrelationInfluence(
        pairs.to_rows(2.0 * (agreement - mean)), (2.0 * (-1.0 - mean), 2.0 * (1.0 - mean))
    )


def of_tau_b(data: ScoredLists) -> CorrelationInfluence:
    """Find the influence of the items on tau-b."""
    pairs = _Pairs.of(data)
    others = pairs.n - 1.0
    agreement = pairs.agreement() / others
    by_grade, by_score = (
        (pairs.n - tied) / others for tied in (pairs.equal_relevance(), pairs.size)
    )
    mean, of_grade, of_score = (float(x.mean()) for x in (agreement, by_grade, by_score))
    # Scores that are all tied have correlation 0, for any divisor.
    of_score = of_score or 1.0
    divisor = float(np.sqrt(of_grade * of_score))
    tau = mean / divisor

    def moved(agrees: Any, apart_by_grade: Any, apart_by_score: Any) -> Any:
        ties = (apart_by_grade - of_grade) / of_grade + (apart_by_score - of_score) / of_score
        return 2.0 * (agrees - mean) / divisor - tau * ties

    values = pairs.to_rows(moved(agreement, by_grade, by_score))
    return CorrelationInfluence(
        values - values.mean(), (float(moved(-1.0, 1.0, 1.0)), float(moved(1.0, 1.0, 1.0)))
    )


def of_spearman(data: ScoredLists) -> CorrelationInfluence:
    """Find the influence of the items on Spearman's correlation.

    With u and v the middle ranks by score and by relevance as shares of the list, less one half,
    an item has ``12 (u v + p + q)`` less the mean: p is the mean of v over the items that it is
    below by score, q that of u over those that it is below by relevance, ties counted half.
    """
    n = len(data.score)
    blocks = [tied_blocks(values) for values in (data.score, data.grade)]
    ranks = []
    for one in blocks:
        middle = 0.5 - (one.starts + one.lengths() / 2.0) / n
        share = np.empty(n)
        share[one.order] = np.repeat(middle, one.lengths())
        ranks.append(share)
    found = ranks[0] * ranks[1]
    mean = float(found.mean())
    for one, other in zip(blocks, reversed(ranks), strict=True):
        sums = one.totals(other)
        above = (np.cumsum(sums) - sums / 2.0) / n
        found[one.order] += np.repeat(above, one.lengths())
    found *= 12.0
    found -= found.mean()
    return CorrelationInfluence(found, (-3.0 - 36.0 * mean, 3.0 - 36.0 * mean))


def of_tau_ap(data: ScoredLists) -> CorrelationInfluence:
    """Find the influence of the items on tau-AP."""
    pairs = _Pairs.of(data)
    above, size = pairs.above, pairs.size
    right = pairs.weights[0] + pairs.weights[1] / 2.0
    # Of the others of the block, those that belong above the item: each has place r in 1..size.
    tied_right = pairs.weights[2] + (pairs.weights[3] - 1.0) / 2.0
    each = tied_right / np.maximum(size - 1.0, 1.0)
    # Sums over its places of 1 / m and 1 / m^2, m the items above it; then of (r - 1) / m,
    # (r - 1) / m^2 and (r - 1)^2 / m^2.
    ones, squares = _place_sums(above, size)
    first = above == 0.0
    ratio = np.where(first, size - 1.0, size - above * ones)
    by_square = np.where(first, ones, ones - above * squares)
    of_squares = np.where(first, size - 1.0, size - 2.0 * above * ones + above**2 * squares)
    share = (right * ones + each * ratio) / size
    # What an item above adds, if it belongs there, and what its presence takes.
    gain, loss = ones / size, (right * squares + each * by_square) / size
    gain[first] = loss[first] = 0.0
    lower = _weights_around(
        pairs.level.max() - pairs.level[::-1],
        gain[::-1],
        pairs.n - np.append(pairs.blocks.starts[1:], pairs.n)[::-1],
    )[:2, ::-1]
    upto = np.cumsum(loss)
    last = np.repeat(np.append(pairs.blocks.starts[1:], pairs.n) - 1, pairs.blocks.lengths())
    added = lower[0] + lower[1] / 2.0 - (upto[-1] - upto[last])
    among = size * np.maximum(size - 1.0, 1.0)
    inside = (right * by_square + each * of_squares) / among
    if not pairs.blocks.untied:
        of_block = np.add.reduceat(inside, pairs.blocks.starts)
        others = np.repeat(of_block, pairs.blocks.lengths()) - inside
        added += np.where(size > 1.0, ratio / among * (size - 1.0 - tied_right) - others, 0.0)
    values = 2.0 * (share + added)
    mean = float(share.mean())
    return CorrelationInfluence(
        pairs.to_rows(values - values.mean()),
        (-2.0 * max(float(loss.sum()), mean), 2.0 * max(float((gain - loss).sum()), 1.0 - mean)),
    )


def _place_sums(above: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums of 1/m and 1/m^2 over ``above <= m < above + size``, but m = 0."""
    least = np.maximum(above, 1.0)
    ones, squares = 1.0 / least, 1.0 / least**2
    ones[(above == 0.0) & (size == 1.0)] = squares[(above == 0.0) & (size == 1.0)] = 0.0
    tied = np.flatnonzero(size > 1.0)
    low, high = least[tied], above[tied] + size[tied]
    ones[tied] = digamma(high) - digamma(low)
    squares[tied] = zeta(2.0, low) - zeta(2.0, high)
    return ones, squares


def measure_influence(
    measure: Measure,
    y_true: Any,
    scores: Sequence[Any],
    *,
    conditional: bool,
    pos_label: Any,
    name: str = "y_true",
) -> list[ClassInfluence]:
    """Find the influence of the same items on the measure of several scorers."""
    given = {"conditional": conditional, "pos_label": pos_label, "name": name}
    return weighted_influence(measure, y_true, scores, None, None, None, **given)[0]


def weighted_influence(
    measure: Measure,
    y_true: Any,
    scores: Sequence[Any],
    sample_weight: Any,
    weights: WeightMeaning,
    groups: Any,
    *,
    conditional: bool,
    pos_label: Any,
    name: str = "y_true",
) -> tuple[list[ClassInfluence], Groups | None]:
    """Find the influence of the same rows, with weights, on the measure of several scorers."""
    # Differences need both scores of each row, which counts of scores do not keep.
    refuse_collections("scorers are compared row by row", **{name: y_true}, y_score=tuple(scores))
    sampled = check_weight_meaning(weights, sample_weight)
    if sampled:
        refuse_sampling(measure)
    measure._check_arguments(sample_weight=sample_weight)
    y_true = ravelled(y_true, name)
    first = check_two_classes(
        y_true,
        scores[0],
        pos_label,
        name=name,
        rel=measure.rel,
        sample_weight=sample_weight,
    )
    shape = np.shape(y_true)
    dependent = check_groups(groups, shape[0])
    if dependent is not None and first.rows is not None:
        dependent = dependent.only(first.rows)
    if sampled:
        dependent = dependent or each_alone(len(first.labels))
    else:
        refuse_fractions(sample_weight)
    found = []
    for i, y_score in enumerate(scores):
        data = first.scored_by(y_score, shape) if i else first
        if dependent is not None and not sampled:
            sample = OneList(data, dependent).repeated()
            data, of_rows = sample.data, sample.groups
        found.append(
            sampling_influence(measure, data)
            if sampled
            else influence_of(measure, data, conditional=conditional)
        )
    return found, dependent if sampled or dependent is None else of_rows


def sample_influence(
    measure: Measure,
    y_true: Any,
    y_score: Any,
    *,
    conditional: bool,
    pos_label: Any,
    name: str = "y_true",
) -> ClassInfluence:
    """Find the influence of the items of one sample, or of the rows of a table of their counts."""
    if not any_collection(y_true, y_score):
        (found,) = measure_influence(
            measure, y_true, (y_score,), conditional=conditional, pos_label=pos_label, name=name
        )
        return found
    refuse_unknown(measure)
    data, _ = check_sample(y_true, y_score, pos_label, measure=measure)
    return influence_of(measure, data, conditional=conditional)


def refuse_unknown(measure: Measure) -> None:
    """Raise an error for a measure without an influence function."""
    if measure.kind != "binary" or not measure.has_influence:
        raise ValueError(_UNKNOWN.format(measure.name))


_UNKNOWN = (
    "measure={!r} has no influence function, so its variance on one list is unknown: pass"
    " influence= to make_measure; for a mean over queries pass qid to compare, metric_interval or"
    " paired_query_test; for a phi that depends on the length of the list use"
    " linear_rank_interval(method='bootstrap')."
)


def influence_of(measure: Measure, data: ScoredLists, *, conditional: bool) -> ClassInfluence:
    """Find the influence of the items of one list."""
    refuse_unknown(measure)
    influence = measure.influence(data)
    if influence is None:
        raise ValueError(_UNKNOWN.format(measure.name))
    if not conditional and not isfinite(influence.label_slope):
        raise ValueError(
            f"measure={measure.name!r} has no known derivative in the fraction of positives, which"
            " conditional=False needs: pass conditional=True."
        )
    return influence


def refuse_sampling(measure: Measure) -> None:
    """Raise an error for a measure that has no interval for rows of unequal probabilities."""
    known = measure.kind == "binary" and measure.has_influence and measure.weights != "none"
    if known and (
        measure.weights == "relative"
        or isinstance(measure, AveragePrecisionMeasure)
        or phi_of(measure) is not None
    ):
        return
    raise ValueError(
        f"{measure.name} of one list has no interval for weights='sampling': use a measure of"
        " shares that has an influence function, such as 'auc', 'partial_auc@fpr0.1',"
        " 'precision@top0.05', 'tpr@fpr0.1', 'ap' or 'bedroc@20', or report the value alone."
    )


def sampling_influence(measure: Measure, data: ScoredLists) -> ClassInfluence:
    """Find the influence of rows on a measure of the population that they were drawn from."""
    refuse_few_of_classes(data)
    weight = data.counts / data.counts.min()
    data = replace(data, weight=weight)
    counted = replace(data, weight=whole_weights(data), draws=draws_of(data))
    found = influence_of(measure, counted, conditional=False)
    estimate = found.estimate
    if measure.weights == "whole":
        # The ends are those of one item above all repetitions, and a drawn row is many of them.
        found = replace(found, ends=None)
    else:
        estimate = float(measure.values(data)[0])
    return replace(found, estimate=estimate, counts=None, sampling_weight=weight)


def list_target(
    measure: Measure, samples: Sequence[ClassInfluence], groups: Sequence[Groups | None]
) -> str:
    """Describe the measure and the items."""
    texts = []
    for one, dependent in zip(samples, groups, strict=True):
        text = f"{one.n:.0f} items, {one.n_pos:.0f} positive"
        if dependent is not None:
            text += f", in {int((dependent.sizes() > 0).sum())} groups"
        texts.append(text)
    return f"{measure.name} on {' and on '.join(texts)}"


# Reason why functions with one value for each row do not support collections.
ONE_EACH = "the influence is an array with one value for each row"


def check_limit(phi: Phi, instead: str) -> ScoreGeneratingFunction:
    """Read a score-generating function that does not depend on the length of the list."""
    function = as_score_generating(phi)
    if not function.is_limit_functional:
        raise ValueError(
            f"phi={function!r} depends on the length of the list, so the statistic has no"
            f" influence function: {instead}."
        )
    return function


def linear_rank_influence(
    y_true: Any,
    y_score: Any,
    *,
    phi: Phi = "wilcoxon",
    conditional: bool = True,
    normalize: Normalize = "minmax",
    pos_label: Any = None,
) -> FloatArray:
    """Influence function of a linear rank statistic, one value per item (Hájek projection).

    Up to terms of smaller order ``W / k = target + mean(influence)``. With F the distribution of
    all scores, G that of the k positives, m negatives, p = k / n and
    ``T(x) = integral over u >= x of phi'(F(u)) dG(u)``, a positive at x has the influence
    ``(phi(F(x)) + p T(x)) / p`` and a negative ``T(x)``, each less the mean of its class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores; a higher score ranks an item nearer to the top. Infinite scores are allowed, NaN is
        not.
    phi : ScoreGeneratingFunction, str or callable, default="wilcoxon"
        Nondecreasing function on (0, 1) that does not depend on the length of the list.
    conditional : bool, default=True
        Whether the labels are treated as fixed. If True, the target is E[phi(F) | positive] at the
        sample's fraction of positives, k / n. If False, it is at the population's fraction of
        positives, and the influence includes that on k.
    normalize : {"mean", "minmax"}, default="minmax"
        "mean" is the mean of phi over the positives; "minmax" rescales it so that the worst order
        has the value 0 and the best order 1.
    pos_label : int, float, bool or str, default=None
        Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.

    Returns
    -------
    ndarray of shape (n_samples,)
        Influence values in the order of the rows, with mean 0, and with mean 0 within each class
        if ``conditional``.

    Raises
    ------
    ValueError
        If an argument is not valid, one class is absent, the worst and the best order have the
        same mean with "minmax", or phi depends on the length of the list.
    TypeError
        If ``conditional`` is not a bool.

    See Also
    --------
    linear_rank_interval : Confidence interval from these values.
    partial_auc_influence : Influence function of the partial AUC.

    Notes
    -----
    Each item of a tied block gets the mean of phi over the ranks of the block. Items of a block
    count each other with the part that lies above, which is one half for Wilcoxon's phi. A jump D
    of phi at u0 adds ``D eta`` below the quantile u0 to p T. Here eta is the fraction of positives
    at the jump, estimated within sqrt(n) ranks on either side or within the tied block; without
    this term the variance is several times too large. If phi has no ``derivative``, a difference
    quotient over the same ranks replaces it and includes the jumps. The paper attaches T to the
    positives only. The cost is O(n log n) time and O(n) memory.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Proposition 3.
    .. [2] Hájek (1968), *Asymptotic normality of simple linear rank statistics under
       alternatives*, Annals of Mathematical Statistics 39.

    Examples
    --------
    >>> from sklearn_rank.inference import linear_rank_influence
    >>> y_true, y_score = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    >>> linear_rank_influence(y_true, y_score, phi="wilcoxon").round(2)
    array([ 0.5, -0.5, -0.5,  0.5])
    """
    check_choice("normalize", normalize, ("mean", "minmax"))
    conditional = check_flag("conditional", conditional)
    refuse_collections(ONE_EACH, y_true=y_true, y_score=y_score)
    data = check_two_classes(y_true, y_score, pos_label)
    function = check_limit(phi, "resample instead, linear_rank_interval(method='bootstrap')")
    found = linear_rank_influence_of(data.positive, data.score, function, normalize=normalize)
    influence = found.centred()
    if not conditional:
        share = float(data.positive.mean())
        influence += found.label_slope * np.where(data.positive, 1.0 - share, -share)
    return influence
