"""The ROC curve: its parts and points, the height of the negatives."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import ceil, inf
from typing import Any, Literal, Unpack

import numpy as np

from .._lists import ScoredLists
from .._order import MASS_SLACK, TiedBlocks, counted_blocks
from .._typing import FloatArray, IntArray
from ._conventions import NamedNumber, limits, number, rules_of, share
from ._influence import (
    ClassInfluence,
    blocks_at_rate,
    by_row,
    partial_auc_influence_of,
    rate_influence,
)
from ._measure import (
    BinaryOptions,
    ConventionalMeasure,
    ConventionOptions,
    Measure,
    Value,
    function_of,
    one_of,
    short,
    within,
    without_function,
)
from ._tied_sums import NEGLIGIBLE, PowerRun, padded


class PartialAUCMeasure(ConventionalMeasure):
    weights = "relative"
    lacking = "items of one class only"
    of_segment = "positives"
    stem = "partial_auc@"
    _number = NamedNumber(None, limits, "fpr0.1")
    from_ranges = "sum"
    conventions = rules_of(proc={"ties": "lines", "undefined": "raise"})

    max_fpr: float = within(0.0, 1.0, "right", default=1.0)  # Largest rate that counts
    min_tpr: float = within(0.0, 1.0, "left", default=0.0)  # Smallest rate that counts
    scale: Literal["raw", "mcclish", "normalized"] = one_of(
        "raw", "mcclish", "normalized", default="raw"
    )

    @property
    def has_name(self) -> bool:  # type: ignore[override]
        return self.max_fpr < 1 or self.min_tpr > 0

    def in_grammar(self) -> tuple[str, dict[str, Any]]:
        bare, parameters = super().in_grammar()
        level = bare.removeprefix(self.stem)
        name = self.stem if self.has_name else self.stem.rstrip("@")
        for limit in ("max_fpr", "min_tpr"):
            if limit in parameters:
                name += limit[-3:] + short(parameters.pop(limit))
        return name + level, parameters

    @property
    def _largest(self) -> float:
        """Area of a perfect order."""
        return self.max_fpr * (1.0 - self.min_tpr)

    def _rescale(self, area: FloatArray) -> FloatArray:
        if self.scale == "raw":
            return area
        if self.scale == "normalized":
            return area / self._largest
        chance = max(self.max_fpr - self.min_tpr, 0.0) ** 2 / 2.0
        return (1.0 + (area - chance) / (self._largest - chance)) / 2.0

    @property
    def range(self) -> tuple[float, float]:
        low, high = self._rescale(np.array([0.0, self._largest])).tolist()
        return (low, high)

    def values(self, lists: ScoredLists) -> FloatArray:
        stepped = lists.whole & (self.rules.ties != "lines")
        blocks = lists.blocks()
        positive, negative = blocks.of_class, blocks.of_other
        # Negatives that count: in the block, and below it.
        room = blocks.by_block(float(self.max_fpr) * blocks.n_other) - blocks.other_above
        inside, beyond = np.clip(room, 0.0, negative), np.maximum(room - negative, 0.0)
        # Positives of the block that stand too high to count.
        lost = blocks.by_block(float(self.min_tpr) * blocks.n_class) - blocks.class_above
        lost = np.clip(lost, 0.0, positive)
        pairs = (positive - lost) * beyond
        tied = np.flatnonzero((inside > 0) & (lost < positive))
        a, b, r, c = positive[tied], negative[tied], lost[tied], inside[tied]
        exact = blocks.to_blocks(stepped)[tied]
        # Limit of fine repetitions: the curve rises along the diagonal of the block.
        straight = a / (2.0 * b) * np.maximum(c - r * b / a, 0.0) ** 2
        crossing = np.flatnonzero(exact & (r > 0))
        steps = _above_negatives(a, b, c)
        if len(crossing):
            counts = (values[crossing] for values in (a, b, r, c))
            steps[crossing] = _above_negatives_beyond(*counts)
        pairs[tied] += np.where(exact, steps, straight)
        with np.errstate(invalid="ignore"):
            area = blocks.sums(pairs) / (blocks.n_class * blocks.n_other)
        return self._rescale(np.minimum(area, self._largest))

    order_counts_within = "positives"

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        limits = float(self.max_fpr), float(self.min_tpr)
        raw = partial_auc_influence_of(lists.positive, lists.score, *limits, lists.weight)
        # Scales are linear in the area: this area is at 0, that one at 1.
        low, high = self.range
        origin = -low * self._largest / (high - low)
        influence = raw.scaled(origin, self._largest / (high - low))
        # The mean over the orders of ties is not the area under straight lines, if it is two-way.
        return replace(influence, estimate=float(self.values(lists)[0]))


@function_of(PartialAUCMeasure)
def partial_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    max_fpr: float = 1.0,
    min_tpr: float = 0.0,
    scale: Literal["raw", "mcclish", "normalized"] = "raw",
    **options: Unpack[ConventionOptions],
) -> Value:
    """Partial area under the ROC curve (partial AUC), one-way or two-way.

    ``A = integral over f from 0 to max_fpr of max(TPR(f) - min_tpr, 0)``. Ties are averaged over
    all orders of the tied items; for each order the curve is a step function.

    Parameters
    ----------
    max_fpr : float, default=1
        Largest false positive rate that counts, in (0, 1].
    min_tpr : float, default=0
        Smallest true positive rate that counts, in [0, 1).
    scale : {"raw", "mcclish", "normalized"}, default="raw"
        "raw" is the area A; "mcclish" is ``(1 + (A - c) / (top - c)) / 2``, where ``top`` is the
        area of a perfect order and c that under the diagonal; "normalized" is ``A / top``.
    sample_weight
        Non-negative weights: repetitions if all are whole; else only their proportions matter.
    convention
        System whose value to reproduce: pROC's curve is a straight line over each block of tied
        items, and a list of one class is an error. With ``scale="mcclish"`` the value is that of
        scikit-learn too.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Area: in [0, max_fpr (1 - min_tpr)] if raw, in [0, 1] if normalized; on McClish's scale
        1/2 for a random order, 1 at best, and below 1/2 for an order worse than random.

    See Also
    --------
    sklearn.metrics.roc_auc_score : With ``max_fpr`` uses McClish's scale; equal without ties.
    local_auc_score : Cuts at a share of all items.

    Notes
    -----
    If the limits cut a block of tied items, the mean over its orders is not the area under the
    diagonal of the block: with one positive, two negatives and ``max_fpr=1/2`` it is 1/3, not 1/4.
    Weights that are not whole are the limit of finer and finer repetitions, which is the
    diagonal.

    References
    ----------
    .. [1] McClish (1989), *Analyzing a portion of the ROC curve*, Medical Decision Making 9.
    .. [2] Yang, Lu, Lyu & Hu (2019), *Two-way partial AUC and its properties*, Statistical
       Methods in Medical Research 28.

    Examples
    --------
    >>> from sklearn_rank.metrics import partial_auc_score
    >>> y_true, y_score = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    >>> partial_auc_score(y_true, y_score, max_fpr=0.5)
    0.25
    >>> partial_auc_score(y_true, y_score, min_tpr=0.5)
    0.25
    """


class _Rates(Measure):
    lacking = "items of one class only"
    weights = "relative"
    range = (0.0, 1.0)


@without_function
class NegativeHeightMeasure(_Rates):
    greater_is_better = False
    stem = "negative_height_loss@"
    _number = NamedNumber("p", partial(number, also="inf"), "4")

    p: float = within(1.0, inf)  # Norm

    @property
    def from_ranges(self) -> Literal["sum"] | None:  # type: ignore[override]
        """A sum, or the highest negative alone; otherwise a power of a sum."""
        return "sum" if self.p in (1.0, inf) else None

    def values(self, lists: ScoredLists) -> FloatArray:
        blocks, p, whole = lists.blocks(of_negatives=True), float(self.p), lists.whole
        below, tied = blocks.other_below, blocks.of_other
        defined = (blocks.n_class > 0) & (blocks.n_other > 0)
        values = np.full(len(defined), np.nan)
        top = blocks.top[defined]
        if p == inf:
            n_neg = blocks.of_class[top]
            share = np.where(whole[defined], n_neg / (n_neg + 1.0), 1.0)
            values[defined] = (below[top] + tied[top] * share) / blocks.n_other[defined]
            return values
        # As shares of the largest count, whose powers do not vanish.
        largest = np.ones(len(defined))
        largest[defined] = np.maximum(below[top] + tied[top], np.finfo(float).tiny)
        scale = blocks.to_blocks(largest)
        mean = (below / scale) ** p
        mixed = np.flatnonzero(tied)
        exact, scale = blocks.to_blocks(whole)[mixed], scale[mixed]
        # Of whole numbers the mean over the counts below, ..., below + tied.
        first, n = np.where(exact, below[mixed], 0.0), np.where(exact, tied[mixed], 0.0)
        one_each = np.all(n == 1.0)
        sums = ((first + n) / scale) ** p if one_each else PowerRun(p).sums(first, n, scale)
        steps = ((first / scale) ** p + sums) / (n + 1.0)
        # Else over all real numbers between.
        with np.errstate(divide="ignore"):
            along = PowerRun(p).integral(below[mixed], tied[mixed], scale) / tied[mixed]
        mean[mixed] = np.where(exact, steps, along)
        with np.errstate(invalid="ignore"):
            total = blocks.sums(blocks.of_class * mean) / blocks.n_class
        values[defined] = largest[defined] / blocks.n_other[defined] * total[defined] ** (1.0 / p)
        return np.minimum(values, 1.0)

    @property
    def has_influence(self) -> bool:
        # The height of the highest negative is an extreme.
        return self.p < inf

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        """Influence on the power ``M = mean over negatives of h(s)^p``.

        It varies as the mean of ``h(s)^p`` over the negatives and that of ``p E[h(S)^(p - 1); S >
        x]``, S a negative, over the positives x.
        """
        p, blocks = float(self.p), counted_blocks(lists.score, lists.positive, lists.weight)
        n_pos, n_neg = blocks.n_pos, blocks.size - blocks.n_pos
        k, m = float(blocks.k), float(blocks.n - blocks.k)
        # Blocks descend: a negative has the positives below it and half of those of its own block.
        height = (k - np.cumsum(n_pos) + n_pos / 2.0) / k
        weighted = n_neg * p * height ** (p - 1.0) / m
        above = np.cumsum(weighted) - weighted / 2.0
        return ClassInfluence(
            estimate=float(self.values(lists)[0]) ** p,
            values=by_row(blocks, lists.positive, above, height**p),
            positive=lists.positive,
            # A positive below all negatives and one above, a negative likewise.
            ends=((float(weighted.sum()), 0.0), (0.0, 1.0)),
            range=(0.0, 1.0),
            label_slope=0.0,
            counts=lists.weight,
            exponent=1.0 / p,
        )


def _above_negatives(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """Mean sum, over the first c of b negatives, of how many of a positives precede each.

    Positives fall into the b + 1 gaps alike, so that j/(b+1) of them precede negative j.
    """
    full = np.floor(c)
    return a / (b + 1.0) * (full * (full + 1.0) / 2.0 + (c - full) * (full + 1.0))


def _above_negatives_beyond(
    a: FloatArray, b: FloatArray, r: FloatArray, c: FloatArray
) -> FloatArray:
    """The same of the positives that exceed r: linear between whole numbers of r and of c."""
    r0, c0 = np.floor(r), np.floor(c)
    value = np.zeros(len(a))
    for part_r, whole_r in ((1.0 - (r - r0), r0), (r - r0, r0 + 1.0)):
        for part_c, whole_c in ((1.0 - (c - c0), c0), (c - c0, c0 + 1.0)):
            some = np.flatnonzero(part_r * part_c)
            if len(some):
                counts = np.stack((a, b, whole_r, whole_c), axis=1)[some]
                # Blocks of many lists are alike.
                each, which = np.unique(counts, axis=0, return_inverse=True)
                value[some] += (part_r * part_c)[some] * _exceeding(*each.T)[which.ravel()]
    return value


def _exceeding(a: FloatArray, b: FloatArray, r: FloatArray, c: FloatArray) -> FloatArray:
    """Return the same for whole numbers, 0 <= r <= a and 0 <= c <= b.

    Once r positives have passed, and y negatives with them, the rest is a block of its own whose
    first c - y negatives count; y is negative hypergeometric.
    """
    value = np.where(r == 0, _above_negatives(a, b, c), 0.0)
    all_negatives = (c == b) & (r > 0)
    value[all_negatives] = (b * (a - r) * (a - r + 1.0) / (2.0 * (a + 1.0)))[all_negatives]
    some = np.flatnonzero((r > 0) & (r < a) & (c > 0) & (c < b))
    a, b, r, c = a[some], b[some], r[some], c[some]
    mode = np.clip(np.ceil(((r - 1.0) * b - (a - r)) / (a - 1.0)), 0.0, b)
    variance = r * b * (a + b + 1.0) * (a - r + 1.0) / ((a + 1.0) ** 2 * (a + 2.0))
    # The distribution is log-concave: further from the mode its mass is below rounding.
    furthest = np.minimum(np.ceil(NEGLIGIBLE * np.sqrt(variance)), np.maximum(mode, b - mode))
    width = furthest.astype(np.intp) + 1
    for which, _, _ in padded(np.zeros(len(width), dtype=np.intp), width):
        counts = [values[which, np.newaxis] for values in (a, b, r, c, mode)]
        value[some[which]] = _passing(int(width[which].max()), *counts)
    return value


def _passing(
    width: int, a: FloatArray, b: FloatArray, r: FloatArray, c: FloatArray, mode: FloatArray
) -> FloatArray:
    """Mean over y, by the ratios of its probabilities outwards from the most probable one."""
    up, down = mode + np.arange(float(width)), mode - np.arange(1.0, width)
    with np.errstate(divide="ignore", invalid="ignore"):
        rising = (up + r) / (up + 1.0) * np.maximum(b - up, 0.0) / (a - r + b - up)
        falling = (down + 1.0) / (down + r) * (a - r + b - down) / (b - down)
    rising[up >= b], falling[down < 0.0] = 0.0, 0.0
    np.multiply.accumulate(rising, axis=1, out=rising)
    np.multiply.accumulate(falling, axis=1, out=falling)
    chance = np.concatenate((falling[:, ::-1], np.ones_like(mode), rising[:, :-1]), axis=1)
    y = np.concatenate((down[:, ::-1], up), axis=1)
    left = np.maximum(c - y, 0.0)
    above = (a - r) * left * (left + 1.0) / (2.0 * (np.maximum(b - y, 0.0) + 1.0))
    mean: FloatArray = (chance * above).sum(axis=1) / chance.sum(axis=1)
    return mean


class _PointOfCurve(_Rates):
    from_ranges = "sum"

    @property
    def _own_laws(self) -> tuple[str, ...]:
        # A point of the curve at the extreme of a class has no influence function.
        return ("curve",) if self.has_influence else ()

    def of_rate(self, rate: float, positives: float) -> float:
        """The measure at a rate of the other class and a share of positives."""
        return rate


class TPRAtFPRMeasure(_PointOfCurve):
    of_segment = "positives"
    stem = "tpr@fpr"
    _number = NamedNumber("max_fpr", partial(share, also="0"), "0.01")

    max_fpr: float = within(0.0, 1.0, "left")

    def values(self, lists: ScoredLists) -> FloatArray:
        blocks = lists.blocks()
        allowed = self._max_negatives(blocks.n_other)
        # Among b negatives and a positives that are tied, i / (b + 1) of the positives precede
        # negative i; of ever finer repetitions all of the first share of the negatives do.
        whole = blocks.by_block(np.floor(allowed)) + 1.0 - blocks.other_above
        # Sums of real weights are rounded, and what is above may seem to be more than nothing.
        real = blocks.by_block(allowed + MASS_SLACK * blocks.n_other) - blocks.other_above
        with np.errstate(divide="ignore", invalid="ignore"):
            fine = np.where(blocks.of_other > 0, real / blocks.of_other, real >= 0)
        exact = blocks.by_block(lists.whole)
        share = np.clip(np.where(exact, whole / (blocks.of_other + 1.0), fine), 0.0, 1.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = np.minimum(blocks.sums(blocks.of_class * share) / blocks.n_class, 1.0)
        return np.where((blocks.n_class > 0) & (blocks.n_other > 0), rate, np.nan)

    def _max_negatives(self, n_neg: FloatArray) -> FloatArray:
        """Weight of the negatives that may be above the threshold, up to rounding."""
        allowed = float(self.max_fpr) * n_neg
        return allowed + 4 * np.spacing(allowed)

    @property
    def has_influence(self) -> bool:
        """Not above all negatives, where the rate hangs on the highest one."""
        return self.max_fpr > 0

    def blocks_at_cut(self, lists: ScoredLists, blocks: TiedBlocks, law: str) -> IntArray | None:
        allowed = int(self._max_negatives(np.array([float(blocks.n - blocks.k)]))[0])
        return blocks_at_rate(blocks, allowed, float(self.max_fpr), True)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        n_neg = float(lists.sizes[0] - lists.positives[0])
        allowed = int(self._max_negatives(np.array([n_neg]))[0])
        if allowed < 1:
            raise ValueError(
                f"max_fpr={self.max_fpr!r} of {n_neg:.0f} negatives is less than one, so the rate"
                " depends on the highest negative only and its variance cannot be estimated: pass"
                f" at least {ceil(1.0 / self.max_fpr - 1e-9)} negatives or a larger max_fpr."
            )
        return rate_influence(lists, allowed, float(self.max_fpr), of_positives=True)


@function_of(TPRAtFPRMeasure)
def tpr_at_fpr_score(
    y_true: Any, y_score: Any, *, max_fpr: float, **options: Unpack[BinaryOptions]
) -> Value:
    """True positive rate at a given false positive rate (TPR at FPR).

    ``TPR@FPR = (number of positives above negative j + 1) / k``, ``j = floor(max_fpr * m)``, for k
    positives and m negatives: the height of the ROC curve, a step function for every order, at
    ``max_fpr``. Ties are averaged over all orders of the tied items.

    Parameters
    ----------
    max_fpr : float
        Largest false positive rate allowed, in [0, 1). A greater value gives a greater rate.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Rate in [0, 1]; higher is better.

    See Also
    --------
    fpr_at_tpr_loss : False positive rate at a given true positive rate.
    partial_auc_score : Area under the ROC curve up to the limit.
    positives_at_top_score : Number of positives above all negatives, the case ``max_fpr=0``.
    sklearn.metrics.roc_curve : Points of the ROC curve, from which the rate can be read.

    Notes
    -----
    If negative j + 1 is the i-th of the b negatives in a block of ties with a positives, the mean
    over the orders counts ``a i / (b + 1)`` of these positives. ``tpr[fpr <= max_fpr].max()`` of
    scikit-learn's ``roc_curve`` counts none of them. For weights that are not whole, the limit of
    finer and finer repetitions, it is a line through the block, as in pROC.

    The influence of single items is known for ``max_fpr > 0`` and lists of at least
    ``1 / max_fpr`` negatives. It uses the slope of the curve over two standard deviations of the
    threshold on either side. In simulations 95 % intervals of
    :func:`sklearn_rank.inference.metric_interval` covered .92 to 1 if ``max_fpr`` allowed at least
    3 negatives, cusps of the curve and rates near 1 included, and .78 to 1 if it allowed one.

    References
    ----------
    .. [1] Pepe (2003), *The Statistical Evaluation of Medical Tests for Classification and
       Prediction*, Oxford University Press, Chapter 4.

    Examples
    --------
    >>> from sklearn_rank.metrics import tpr_at_fpr_score
    >>> tpr_at_fpr_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], max_fpr=0.1)
    0.5
    >>> tpr_at_fpr_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], max_fpr=0.5)
    1.0
    """


class FPRAtTPRMeasure(_PointOfCurve):
    greater_is_better = False
    stem = "fpr@tpr"
    _number = NamedNumber("min_tpr", partial(share, also="1"), "0.9")

    min_tpr: float = within(0.0, 1.0, "right")

    def values(self, lists: ScoredLists) -> FloatArray:
        blocks = lists.blocks()
        needed = self._min_positives(blocks.n_class)
        needed = np.where(lists.whole, np.ceil(needed), needed - MASS_SLACK * blocks.n_class)
        defined = np.flatnonzero((blocks.n_class > 0) & (blocks.n_other > 0))
        values = np.full(lists.n_lists, np.nan)
        # The topmost block down to whose end the rate is reached.
        reached = blocks.class_above + blocks.of_class >= blocks.by_block(needed)
        below = blocks.sums(np.where(reached, 0.0, 1.0))[defined].astype(np.intp)
        at = blocks.top[defined] - below
        positive, whole = blocks.of_class[at], lists.whole[defined]
        inside = np.clip(needed[defined] - blocks.class_above[at], 0.0, positive)
        inside = blocks.of_other[at] * inside / np.where(whole, positive + 1.0, positive)
        values[defined] = (blocks.other_above[at] + inside) / blocks.n_other[defined]
        return np.minimum(values, 1.0)

    def _min_positives(self, n_pos: FloatArray) -> FloatArray:
        """Weight of the positives that must be above the threshold, up to rounding."""
        needed = float(self.min_tpr) * n_pos
        return needed - 4 * np.spacing(needed)

    @property
    def has_influence(self) -> bool:
        """Not below all positives, where the rate hangs on the lowest one."""
        return self.min_tpr < 1

    def _missed(self, n_pos: float) -> int:
        """Number of positives that may be below the threshold."""
        return int(n_pos - np.ceil(self._min_positives(np.array([n_pos]))[0]))

    def blocks_at_cut(self, lists: ScoredLists, blocks: TiedBlocks, law: str) -> IntArray | None:
        missed = self._missed(float(blocks.k))
        return blocks_at_rate(blocks, missed, 1.0 - float(self.min_tpr), False)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        n_pos = float(lists.positives[0])
        missed = self._missed(n_pos)
        if missed < 1:
            least = ceil(1.0 / (1.0 - self.min_tpr) - 1e-9)
            raise ValueError(
                f"min_tpr={self.min_tpr!r} of {n_pos:.0f} positives is all of them, so the rate"
                " depends on the lowest positive only and its variance cannot be estimated: pass"
                f" at least {least} positives or a smaller min_tpr."
            )
        return rate_influence(lists, missed, 1.0 - float(self.min_tpr), of_positives=False)


@function_of(FPRAtTPRMeasure)
def fpr_at_tpr_loss(
    y_true: Any, y_score: Any, *, min_tpr: float, **options: Unpack[BinaryOptions]
) -> Value:
    """False positive rate at a given true positive rate (FPR at TPR).

    ``FPR@TPR = (number of negatives above positive j) / m``, ``j = ceil(min_tpr * k)``, for k
    positives and m negatives. Ties are averaged over all orders of the tied items.

    Parameters
    ----------
    min_tpr : float
        True positive rate to reach, in (0, 1]; .95 gives FPR95. A greater value gives a greater
        loss.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Rate in [0, 1]; lower is better.

    See Also
    --------
    tpr_at_fpr_score : True positive rate at a given false positive rate.

    Notes
    -----
    If positive j is the i-th of the a positives in a block of ties with b negatives, the mean over
    the orders counts ``b i / (a + 1)`` of these negatives. Weights that are not whole are the
    limit of finer and finer repetitions, which is a line through the block. The name of the scorer
    begins with ``"neg_"``: ``get_scorer("neg_fpr@tpr0.95")``. The influence of single items is
    that of :func:`tpr_at_fpr_score` with the classes exchanged and the list reversed.

    References
    ----------
    .. [1] Pepe (2003), *The Statistical Evaluation of Medical Tests for Classification and
       Prediction*, Oxford University Press, Chapter 4.

    Examples
    --------
    >>> from sklearn_rank.metrics import fpr_at_tpr_loss
    >>> fpr_at_tpr_loss([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], min_tpr=0.5)
    0.0
    >>> fpr_at_tpr_loss([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], min_tpr=0.9)
    0.5
    """


@without_function
class PrecisionAtRecallMeasure(FPRAtTPRMeasure):
    """Precision ``1 / (1 + odds * FPR)`` at a true positive rate; ties are averaged in the FPR."""

    function = ""
    greater_is_better = True
    lacking = "no positive"
    stem = "precision@recall"
    _number = NamedNumber("min_tpr", partial(share, also="1"), "0.8")
    is_mean_over_ties = False
    from_ranges = None  # type: ignore[assignment]

    def values(self, lists: ScoredLists) -> FloatArray:
        found = self._min_positives(lists.positives)
        found = np.maximum(np.where(lists.whole, np.ceil(found), found), 0.0)
        # Without negatives there is no rate.
        wrong = np.nan_to_num(super().values(lists)) * (lists.sizes - lists.positives)
        with np.errstate(invalid="ignore"):
            return found / (found + wrong)

    def of_rate(self, rate: float, positives: float) -> float:
        found = positives * self.min_tpr
        return found / (found + (1.0 - positives) * rate)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        """Influence on the inverse, which is linear in the false positive rate."""
        n, n_pos = float(lists.sizes[0]), float(lists.positives[0])
        found = float(np.ceil(self._min_positives(lists.positives))[0])
        odds = (n - n_pos) / found
        inverse = super()._influence(lists).scaled(-1.0 / odds, 1.0 / odds)
        # Where more are positive, the odds are smaller.
        slope = (inverse.estimate - 1.0) / inverse.estimate**2 * n**2 / (n_pos * (n - n_pos))
        return replace(inverse, label_slope=slope, exponent=-1.0)


# Standard deviations by which the difference at one threshold may gain on that at another.
GAIN = 1.4


class KolmogorovSmirnovMeasure(_Rates):
    stem = "ks"
    from_ranges = "largest"

    two_sided: bool = False

    _own_laws = ("distributions",)

    def values(self, lists: ScoredLists) -> FloatArray:
        blocks = lists.blocks()
        n_class, n_other = blocks.by_block(blocks.n_class), blocks.by_block(blocks.n_other)
        of_list = blocks.to_blocks(np.arange(lists.n_lists))
        largest = np.zeros(lists.n_lists)
        with np.errstate(divide="ignore", invalid="ignore"):
            # The difference rises only through blocks that hold positives.
            difference = (blocks.class_above + blocks.of_class) / n_class
            difference -= (blocks.other_above + blocks.of_other) / n_other
            np.maximum.at(largest, of_list, difference)
            if self.two_sided:
                before = blocks.other_above / n_other - blocks.class_above / n_class
                np.maximum.at(largest, of_list, before)
        defined = (blocks.n_class > 0) & (blocks.n_other > 0)
        return np.where(defined, np.minimum(largest, 1.0), np.nan)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        """Influence on the difference at its own threshold, which is known up to an error.

        The largest difference exceeds that of the population by what others gain on the one at
        its threshold. What one may gain is some standard deviations of the gain, less by how much
        it is behind.
        """
        blocks = counted_blocks(lists.score, lists.positive, lists.weight)
        rates = np.zeros((2, len(blocks.size) + 1))
        np.cumsum([blocks.n_pos, blocks.size - blocks.n_pos], axis=1, out=rates[:, 1:])
        draws = rates[:, -1:] * (1.0 if lists.draws is None else lists.draws / blocks.n)
        rates /= rates[:, -1:].copy()
        difference, signs = rates[0] - rates[1], (1.0, -1.0) if self.two_sided else (1.0,)
        sign = max(signs, key=lambda x: float((x * difference).max()))
        at = int(np.argmax(sign * difference))
        own, largest = rates[:, [at]], sign * float(difference[at])
        variances = rates * (1.0 - rates) + own * (1.0 - own)
        covariance = np.minimum(rates, own) - rates * own
        gains = [
            GAIN * np.sqrt(np.maximum((variances - 2.0 * x * covariance) / draws, 0.0).sum(axis=0))
            + x * sign * difference
            for x in signs
        ]
        above: FloatArray = np.where(np.arange(len(blocks.size)) < at, sign, 0.0)
        return ClassInfluence(
            estimate=min(largest, 1.0),
            values=by_row(blocks, lists.positive, above, -above),
            positive=lists.positive,
            ends=((0.0, sign), (0.0, -sign)),
            range=(-1.0, 1.0),
            label_slope=0.0,
            counts=lists.weight,
            excess=float(np.max(gains)) - largest,
        )


@function_of(KolmogorovSmirnovMeasure)
def kolmogorov_smirnov_score(
    y_true: Any, y_score: Any, *, two_sided: bool = False, **options: Unpack[BinaryOptions]
) -> Value:
    """Kolmogorov-Smirnov statistic: largest difference of true and false positive rate.

    ``KS = max over t of [P(s >= t | positive) - P(s >= t | negative)]``, t any score or a value
    above all scores. It is the two-sample Kolmogorov-Smirnov statistic of the classes, and the
    maximum of Youden's J.

    Parameters
    ----------
    two_sided : bool, default=False
        Whether to take the absolute value of the difference. The reversed perfect order then has
        the value 1 too.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Difference in [0, 1]; higher is better. With ``two_sided`` a high value can also mean a
        reversed order.

    See Also
    --------
    scipy.stats.ks_2samp : The same statistic, two-sided by default, with its test.
    roc_auc_score : A mean over pairs instead of a maximum over thresholds.

    Notes
    -----
    Thresholds lie at distinct scores, so that ties are not averaged over orders; a constant score
    has the value 0. The influence of single items is that at the best threshold. The largest of
    many differences is too large on average, by which limits are lower and wider.

    References
    ----------
    .. [1] Smirnov (1948), *Table for estimating the goodness of fit of empirical distributions*,
       Annals of Mathematical Statistics 19.

    Examples
    --------
    >>> from sklearn_rank.metrics import kolmogorov_smirnov_score
    >>> kolmogorov_smirnov_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.5
    >>> kolmogorov_smirnov_score([0, 0, 1, 1], [4.0, 3.0, 2.0, 1.0])
    0.0
    >>> kolmogorov_smirnov_score([0, 0, 1, 1], [4.0, 3.0, 2.0, 1.0], two_sided=True)
    1.0
    """
