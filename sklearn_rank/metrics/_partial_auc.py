"""Partial area under the ROC curve, and the p-norm of the heights of the negatives.

Neither is a function of the pooled ranks of the positives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from types import MappingProxyType
from typing import Any, Literal, Unpack

import numpy as np

from .._arguments import check_choice, check_number
from .._lists import ScoredLists
from .._order import ClassBlocks
from .._typing import BoolArray, FloatArray
from ._conventions import Rules
from ._functions import BinaryOptions, ConventionOptions, evaluate, function_of
from ._influence import ClassInfluence, partial_auc_influence_of
from ._measure import ConventionalMeasure, Measure, Value, short
from ._named_numbers import NamedNumber, exponent, limits
from ._position_sums import PowerRun
from ._score_generating import Power
from ._stopping import padded

# Nothing is left of a log-concave law so many standard deviations from its mode.
DEVIATIONS = 45.0


@dataclass(frozen=True, kw_only=True, repr=False)
class PartialAUCMeasure(ConventionalMeasure):
    """Partial area under the ROC curve; see ``partial_auc_score``."""

    weights = "relative"
    lacking = "items of one class only"
    stem = "partial_auc@"
    in_name = NamedNumber(None, limits, "fpr0.1")
    from_ranges = "sum"
    conventions = MappingProxyType({"proc": Rules(ties="lines", undefined="raise")})

    max_fpr: float = 1.0  # Largest false positive rate that counts, in (0, 1]
    min_tpr: float = 0.0  # Smallest true positive rate that counts, in [0, 1)
    scale: Literal["raw", "mcclish", "normalized"] = "raw"

    def __post_init__(self) -> None:
        check_number("max_fpr", self.max_fpr, 0.0, 1.0, closed="right")
        check_number("min_tpr", self.min_tpr, 0.0, 1.0, closed="left")
        check_choice("scale", self.scale, ("raw", "mcclish", "normalized"))
        super().__post_init__()

    @property
    def has_name(self) -> bool:  # type: ignore[override]
        """Whether there is a limit for the name to say."""
        return self.max_fpr < 1 or self.min_tpr > 0

    def in_grammar(self) -> tuple[str, dict[str, Any]]:
        """Say what the measure is called: by its limits, if it has any."""
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

    def _scaled(self, area: FloatArray) -> FloatArray:
        if self.scale == "raw":
            return area
        if self.scale == "normalized":
            return area / self._largest
        chance = max(self.max_fpr - self.min_tpr, 0.0) ** 2 / 2.0
        return (1.0 + (area - chance) / (self._largest - chance)) / 2.0

    @property
    def range(self) -> tuple[float, float]:
        """From an area of 0 to that of a perfect order."""
        low, high = self._scaled(np.array([0.0, self._largest])).tolist()
        return (low, high)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Area of each list."""
        stepped = lists.whole
        if self.rules.ties == "lines":
            stepped = np.zeros(lists.n_lists, dtype=bool)
        area = _partial_area(lists.blocks(), float(self.max_fpr), float(self.min_tpr), stepped)
        return self._scaled(np.minimum(area, self._largest))

    def influence(self, lists: ScoredLists) -> ClassInfluence | None:
        """Compute the influence of each item of one list on the area."""
        if not self.has_influence:
            return None
        raw = partial_auc_influence_of(
            lists.positive,
            lists.score,
            float(self.max_fpr),
            float(self.min_tpr),
            counts=lists.weight,
        )
        # Scales are linear in the area: this area is at 0, that one at 1.
        low, high = self.range
        origin = -low * self._largest / (high - low)
        found = raw.scaled(origin, self._largest / (high - low), copy=False)
        # The mean over the orders of ties is not the area under straight lines, if it is two-way.
        return replace(found, estimate=float(self.values(lists)[0]))


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
        Non-negative weights. Whole weights are repetitions. If a weight is not whole, only the
        proportions matter.
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
    diagonal. The time is O(n log n), the memory O(n).

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
    >>> partial_auc_score(y_true, y_score, max_fpr=0.5, scale="normalized")
    0.5
    >>> partial_auc_score(y_true, y_score, min_tpr=0.5)
    0.25
    """
    return evaluate(
        PartialAUCMeasure,
        y_true,
        y_score,
        max_fpr=max_fpr,
        min_tpr=min_tpr,
        scale=scale,
        **options,
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class NegativeHeightMeasure(Measure):
    """Height of the negatives, the highest first; see ``negative_height_loss``."""

    greater_is_better = False
    weights = "relative"
    range = (0.0, 1.0)
    lacking = "items of one class only"
    stem = "negative_height_loss@"
    in_name = NamedNumber("p", exponent, "4")

    p: float  # Norm, from 1 to infinity

    def __post_init__(self) -> None:
        check_number("p", self.p, 1.0)
        super().__post_init__()

    @property
    def from_ranges(self) -> Literal["sum"] | None:  # type: ignore[override]
        """A sum, or the highest negative alone; otherwise a power of a sum."""
        return "sum" if self.p in (1.0, inf) else None

    def values(self, lists: ScoredLists) -> FloatArray:
        """Loss of each list."""
        return _push(lists.blocks(of_negatives=True), float(self.p), lists.whole)


@function_of(NegativeHeightMeasure)
def negative_height_loss(
    y_true: Any, y_score: Any, *, p: float, **options: Unpack[BinaryOptions]
) -> Value:
    """Loss of Rudin's p-norm push: p-norm of the heights of the negatives.

    ``(mean over negatives of (h / k)**p)**(1/p)``, h the number of the k positives below the
    negative. Ties are averaged over all orders of the tied items, inside the root.

    Parameters
    ----------
    p : float
        Norm, at least 1. The loss is one minus the AUC at 1, and the share of positives below the
        highest negative at infinity (infinite push). A greater value concentrates on the top.
    sample_weight
        Non-negative weights. Whole weights are repetitions. If a weight is not whole, only the
        proportions matter.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Loss in [0, 1]; lower is better.

    See Also
    --------
    p_norm_push_score : Sum of powers of the pooled ranks of the positives.
    positives_at_top_score : Number of positives above the highest negative.

    Notes
    -----
    Rudin counts all positives tied with a negative as below it; the mean over the orders counts
    half of them at p = 1. At p = infinity a block of a positives and b negatives at the top has
    the mean ``a b / (b + 1)``. Weights that are not whole are the limit of finer and finer
    repetitions. The time is O(n log n), the memory O(n).

    References
    ----------
    .. [1] Rudin (2009), *The P-Norm Push: a simple convex ranking algorithm that concentrates at
       the top of the list*, JMLR 10.

    Examples
    --------
    >>> from sklearn_rank.metrics import negative_height_loss
    >>> y_true, y_score = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    >>> negative_height_loss(y_true, y_score, p=1)
    0.25
    >>> negative_height_loss(y_true, y_score, p=float("inf"))
    0.5
    """
    return evaluate(NegativeHeightMeasure, y_true, y_score, p=p, **options)


def _partial_area(
    blocks: ClassBlocks, max_fpr: float, min_tpr: float, whole: BoolArray
) -> FloatArray:
    """Return the raw area of each list; NaN where there is one class only."""
    positive, negative = blocks.of_class, blocks.of_other
    # Negatives that count: in the block, and below it.
    room = np.maximum(blocks.by_block(max_fpr * blocks.n_other) - blocks.other_above, 0.0)
    inside, beyond = np.minimum(room, negative), np.maximum(room - negative, 0.0)
    # Positives of the block that stand too high to count.
    lost = np.minimum(
        np.maximum(blocks.by_block(min_tpr * blocks.n_class) - blocks.class_above, 0.0), positive
    )
    pairs = (positive - lost) * beyond
    tied = np.flatnonzero((inside > 0) & (lost < positive))
    a, b, r, c = positive[tied], negative[tied], lost[tied], inside[tied]
    exact = np.broadcast_to(blocks.by_block(whole), positive.shape)[tied]
    # Limit of fine repetitions: the curve rises along the diagonal of the block.
    straight = a / (2.0 * b) * np.maximum(c - r * b / a, 0.0) ** 2
    crossing = np.flatnonzero(exact & (r > 0))
    stepped = _above_negatives(a, b, c)
    if len(crossing):
        counts = (one[crossing] for one in (a, b, r, c))
        stepped[crossing] = _above_negatives_beyond(*counts)
    pairs[tied] += np.where(exact, stepped, straight)
    with np.errstate(invalid="ignore"):
        return blocks.sums(pairs) / (blocks.n_class * blocks.n_other)


def _above_negatives(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """Mean sum, over the first c of b negatives, of how many of a positives precede each.

    Positives fall into the b + 1 gaps alike, so that j/(b+1) of them precede negative j.
    """
    full = np.floor(c)
    return a / (b + 1.0) * (full * (full + 1.0) / 2.0 + (c - full) * (full + 1.0))


def _above_negatives_beyond(
    a: FloatArray, b: FloatArray, r: FloatArray, c: FloatArray
) -> FloatArray:
    """Mean sum, over the first c of b negatives, of the positives before each that exceed r.

    Linear between whole numbers, in r and in c.
    """
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
    if len(some) == 0:
        return value
    a, b, r, c = a[some], b[some], r[some], c[some]
    mode = np.clip(np.ceil(((r - 1.0) * b - (a - r)) / (a - 1.0)), 0.0, b)
    variance = r * b * (a + b + 1.0) * (a - r + 1.0) / ((a + 1.0) ** 2 * (a + 2.0))
    # The law is log-concave: beyond so many deviations there is nothing left in float64.
    reach = np.minimum(np.ceil(DEVIATIONS * np.sqrt(variance)), np.maximum(mode, b - mode))
    width = reach.astype(np.intp) + 1
    for which, _, _ in padded(np.zeros(len(width), dtype=np.intp), width):
        counts = [one[which, np.newaxis] for one in (a, b, r, c, mode)]
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


@dataclass(frozen=True)
class _ShareOfPositives(Power):
    """The p-th power of a count as a share of another."""

    def _at_ranks(self, rank: FloatArray, n: FloatArray) -> FloatArray:
        return (rank / n) ** self.p

    def _run_sums(self, below: FloatArray, lengths: FloatArray, n: FloatArray) -> FloatArray:
        return PowerRun(float(self.p)).sums(below, lengths, n)


def _push(blocks: ClassBlocks, p: float, whole: BoolArray) -> FloatArray:
    """Loss of each list from the blocks that hold negatives; NaN where there is one class only."""
    below, tied = blocks.other_below, blocks.of_other
    top = blocks.top
    defined = (blocks.n_class > 0) & (blocks.n_other > 0)
    result = np.full(len(defined), np.nan)
    top = top[defined]
    whole_top = whole[defined]
    if p == np.inf:
        first = np.where(whole_top, blocks.of_class[top] / (blocks.of_class[top] + 1.0), 1.0)
        result[defined] = (below[top] + tied[top] * first) / blocks.n_other[defined]
        return result
    # As shares of the largest count, whose powers do not vanish.
    largest = np.ones(len(defined))
    largest[defined] = np.maximum(below[top] + tied[top], np.finfo(float).tiny)
    scale = np.broadcast_to(blocks.by_block(largest), below.shape)
    power = _ShareOfPositives(p)
    mean = power._at_ranks(below, scale)
    mixed = np.flatnonzero(tied)
    exact = np.broadcast_to(blocks.by_block(whole), below.shape)[mixed]
    mean[mixed] = np.where(
        exact,
        _mean_power(power, below[mixed], tied[mixed], scale[mixed], exact),
        _integral_power(p, below[mixed] / scale[mixed], tied[mixed] / scale[mixed]),
    )
    with np.errstate(invalid="ignore"):
        total = blocks.sums(blocks.of_class * mean) / blocks.n_class
    result[defined] = largest[defined] / blocks.n_other[defined] * total[defined] ** (1.0 / p)
    return np.minimum(result, 1.0)


def _mean_power(
    power: _ShareOfPositives,
    below: FloatArray,
    tied: FloatArray,
    scale: FloatArray,
    exact: BoolArray,
) -> FloatArray:
    """Mean of the power over the counts ``below, ..., below + tied``, where they are whole."""
    below, tied = np.where(exact, below, 0.0), np.where(exact, tied, 0.0)
    sums = power._whole_sums(below, below + tied, scale)
    return (power._at_ranks(below, scale) + sums) / (tied + 1.0)


def _integral_power(p: float, start: FloatArray, length: FloatArray) -> FloatArray:
    """Mean of ``x**p`` from ``start`` over ``length``."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        far = start**p * np.expm1((p + 1.0) * np.log1p(length / start)) * start / length
    near = (start + length) ** (p + 1.0) / length
    # Far from 0 the difference of the powers would cancel.
    return np.where(
        length < start, far, near - np.where(start > 0, start ** (p + 1.0) / length, 0.0)
    ) / (p + 1.0)
