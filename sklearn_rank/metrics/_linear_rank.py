"""Conditional linear rank statistics: the AUC, and sums of other functions of the ranks."""

from __future__ import annotations

from abc import abstractmethod
from math import inf
from typing import Any, ClassVar, Literal, TypeAlias, Unpack

import numpy as np

from .._lists import Lists, ScoredLists
from .._order import ClassBlocks, counted_blocks, near_whole, pairs_in_order, places_of
from .._typing import BoolArray, FloatArray
from ._conventions import (
    NamedNumber,
    PositionalForm,
    linear_discounts,
    number,
    rules_of,
    share,
    share_of_total,
)
from ._evidence import LabelTotal, mean_discounts, running_mean
from ._influence import ClassInfluence, rank_influence
from ._measure import (
    BinaryOptions,
    ConventionalMeasure,
    ConventionOptions,
    Measure,
    Value,
    checked,
    function_of,
    one_of,
    without_function,
)
from ._score_generating import (
    LocalAUC,
    Phi,
    Power,
    ScoreGeneratingFunction,
    Screening,
    Wilcoxon,
    as_score_generating,
)


class AUCMeasure(Measure):
    two_dimensions_are_classes = True
    weights = "relative"
    range = (0.0, 1.0)
    lacking = "items of one class only"
    of_segment = "positives"
    stem = "auc"
    from_ranges = "sum"

    theorems = ("mcdiarmid", "hoeffding", "kl")
    _own_laws = ("placements",)

    @property
    def positional(self) -> PositionalForm:
        # The utility is largest with one positive, or one negative.
        return PositionalForm(
            _auc_utilities,
            linear_discounts,
            largest=1.0,
            largest_by_length=lambda n: 1 / (n - 1),
        )

    def values(self, lists: ScoredLists) -> FloatArray:
        if lists.weight is None:
            in_order, n_pos, n_neg = pairs_in_order(lists.score, lists.positive, lists.offsets)
        else:
            blocks = lists.blocks()
            n_pos, n_neg = blocks.n_class, blocks.n_other
            in_order = blocks.sums(blocks.of_class * (blocks.other_below + blocks.of_other / 2.0))
        with np.errstate(invalid="ignore"):
            # Sums of real weights are rounded.
            return np.minimum(in_order / (n_pos * n_neg), 1.0)

    def label_total(self, lists: ScoredLists) -> LabelTotal:
        n = float(len(lists.score))
        ranks = mean_discounts(lists.score, n - np.arange(n))

        def value(total: float, n_pos: float) -> float:
            return (total - n_pos * (n_pos + 1.0) / 2.0) / (n_pos * (n - n_pos))

        return LabelTotal(ranks, value)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        return rank_influence(lists, Wilcoxon())


def _auc_utilities(lists: Lists) -> FloatArray:
    positive = lists.positive.astype(np.float64)
    n_pos = lists.weighted_totals(positive)
    return share_of_total(lists, n_pos * lists.weighted_totals(1.0 - positive))


@function_of(AUCMeasure)
def roc_auc_score(y_true: Any, y_score: Any, **options: Unpack[BinaryOptions]) -> Value:
    """Area under the ROC curve (AUC): share of pairs of a positive and a negative in order.

    ``AUC = P(s of a positive > s of a negative) + P(equal) / 2``.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Area in [0, 1]; 1/2 for a random order; higher is better.

    See Also
    --------
    sklearn.metrics.roc_auc_score : Equal if both are defined; takes one list per call.
    local_auc_score : Counts the top of the list only.
    partial_auc_score : Area under a part of the ROC curve.

    Notes
    -----
    Two-dimensional labels raise an error, because scikit-learn takes their columns as classes. The
    weight of a pair is the product of the weights of its items. The time is O(n log n). The memory
    is O(n): for one unweighted list less than that of the arguments if scores are doubles, and at
    most four times it if labels and scores take few bytes.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Equation 4.

    Examples
    --------
    >>> from sklearn_rank.metrics import roc_auc_score
    >>> roc_auc_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.75
    >>> roc_auc_score(
    ...     [1, 0, 0, 1], [2.0, 1.0, 5.0, 5.0], qid=[7, 7, 3, 3], average=None
    ... )
    array([0.5, 1. ])
    """


@without_function
class GiniMeasure(Measure):
    lacking = AUCMeasure.lacking
    weights = "relative"
    range = (-1.0, 1.0)
    of_segment = "positives"
    stem = "gini"
    from_ranges = "sum"

    def values(self, lists: ScoredLists) -> FloatArray:
        return 2.0 * AUCMeasure().values(lists) - 1.0

    _own_laws = ("placements",)

    def label_total(self, lists: ScoredLists) -> LabelTotal:
        area = AUCMeasure().label_total(lists)
        return area._replace(value=lambda total, n_pos: 2.0 * area.value(total, n_pos) - 1.0)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        return AUCMeasure()._influence(lists).scaled(0.5, 0.5)


Ties: TypeAlias = Literal["average", "mid", "max"]
Normalize: TypeAlias = Literal["mean", "minmax"] | None


class _OfRanks(Measure):
    """The sum of a function of the ranks of the positives, on one of three scales."""

    lacking = "items of one class only or no place that counts"
    from_ranges = "sum"
    _ties: ClassVar[Ties] = "average"
    _scale: ClassVar[Normalize] = "minmax"

    @property
    @abstractmethod
    def _phi(self) -> ScoreGeneratingFunction:
        """The score-generating function."""

    def values(self, lists: ScoredLists) -> FloatArray:
        # Ranks in the middle or at the top of ties tell neighbouring blocks apart.
        blocks = self._ordered(lists).blocks(joined=self._ties == "average")
        return statistic_of(blocks, self._phi, self._ties, self._scale)

    @property
    def theorems(self) -> tuple[str, ...]:
        """A band around the distribution of the scores, where phi is bounded."""
        if not self.has_influence:
            return ()
        floor, ceiling = self._phi(np.array([0.0, 1.0]))
        bounded = np.isfinite(floor) and np.isfinite(ceiling) and floor < ceiling
        return ("dkw",) if bounded else ()

    @property
    def has_influence(self) -> bool:
        """Not of sums, of ties that are not averaged, of a phi that depends on the length."""
        limit = self._scale is not None and self._phi.is_limit_functional
        return limit and self._ties == "average"

    @property
    def _own_laws(self) -> tuple[str, ...]:
        if self._scale is None or self._ties != "average":
            return ()
        return ("ranks",) if self._phi.is_limit_functional else ("rank sums",)

    def _unit(self, sizes: FloatArray) -> FloatArray:
        """What the statistic of lists of these sizes is divided by."""
        return np.ones(len(sizes))

    @property
    def depends_on_length(self) -> bool:
        return not self.has_influence

    @property
    def order_counts_within(self) -> float | Literal["positives"] | None:
        return within_order_of(self._phi)

    def label_total(self, lists: ScoredLists) -> LabelTotal | None:
        return rank_total(lists, self._phi, self._scale)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        return rank_influence(lists, self._phi, self._scale or "mean")


class _RankStatistic(_OfRanks):
    normalize: Normalize = one_of("mean", "minmax", None, default="minmax")

    @property
    def _scale(self) -> Normalize:  # type: ignore[override]
        return self.normalize

    @property
    def range(self) -> tuple[float, float]:
        inside = self.normalize == "minmax" and self._ties == "average"
        return (0.0, 1.0) if inside else (-inf, inf)


class LinearRankMeasure(_RankStatistic):
    has_name = False
    stem = "linear_rank"

    phi: Phi  # Nondecreasing function on (0, 1)
    ties: Ties = one_of("average", "mid", "max", default="average")  # What tied items count

    def __post_init__(self) -> None:
        object.__setattr__(self, "phi", as_score_generating(self.phi))
        super().__post_init__()

    @property
    def is_mean_over_ties(self) -> bool:  # type: ignore[override]
        return self.ties == "average"

    @property
    def lacking(self) -> str:  # type: ignore[override]
        return "no positive" if self.normalize == "mean" else _OfRanks.lacking

    @property
    def _phi(self) -> ScoreGeneratingFunction:
        return as_score_generating(self.phi)

    @property
    def _ties(self) -> Ties:  # type: ignore[override]
        return self.ties


@function_of(LinearRankMeasure)
def linear_rank_score(
    y_true: Any,
    y_score: Any,
    *,
    phi: Phi,
    ties: Ties = "average",
    normalize: Normalize = "minmax",
    **options: Unpack[BinaryOptions],
) -> Value:
    """Linear rank statistic: sum of a function phi of the ranks of the positives.

    ``W = sum over positives of phi(R / (n + 1))``, R the rank among all n items, n at the top.

    Parameters
    ----------
    phi : ScoreGeneratingFunction, str or callable
        Nondecreasing function on (0, 1): an object such as :class:`LocalAUC`, "wilcoxon",
        "van_der_waerden", or a function from an array to an array.
    ties : {"average", "mid", "max"}, default="average"
        Value of tied items: "average" is the mean of phi over their ranks, which is the mean over
        all orders; "mid" is phi at their middle rank; "max" is phi at their highest rank, as in
        the definition of the paper.
    undefined
        How a list counts that has no positives, or with "minmax" one class or no rank that counts;
        None is "skip".

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The statistic; higher is better.

    See Also
    --------
    roc_auc_score : The statistic with ``phi(u) = u``.
    local_auc_score : Counts the top of the list only.
    positional_score : For graded relevance and discounts of the position from the top.

    Notes
    -----
    With ``normalize="minmax"`` and tied items the value can be outside [0, 1] unless
    ``ties="average"``. An item of real weight w takes w ranks, with fractions of a rank counted in
    proportion. The time is O(n log n), the memory O(n); one unweighted list takes one sort of the
    values, and phi at the ranks of the positives.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Definition 1.

    Examples
    --------
    >>> from sklearn_rank.metrics import Exponential, linear_rank_score
    >>> y_true, y_score = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    >>> round(linear_rank_score(y_true, y_score, phi=Exponential(5.0)), 4)
    0.8034
    >>> round(linear_rank_score(y_true, y_score, phi=lambda u: u, normalize="mean"), 4)
    0.6
    """


class LocalAUCMeasure(_RankStatistic):
    stem = "local_auc@"
    _number = NamedNumber("u0", share, "0.8")

    u0: float = checked(lambda _, u0: LocalAUC(u0))

    @property
    def _phi(self) -> ScoreGeneratingFunction:
        return LocalAUC(self.u0)


@function_of(LocalAUCMeasure)
def local_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    u0: float,
    normalize: Normalize = "minmax",
    **options: Unpack[BinaryOptions],
) -> Value:
    """Local AUC: rank statistic of the positives in the top ``1 - u0`` of the list.

    ``W = sum over positives of u 1{u >= u0}`` at ``u = R / (n + 1)``, R the rank, n at the top.

    Parameters
    ----------
    u0 : float
        Share of the list, from the bottom, that does not count, in [0, 1), as in the paper: the
        share of the top is ``1 - u0``. 0 is the AUC; a greater value concentrates on the top.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The statistic; higher is better.

    See Also
    --------
    linear_rank_score : The same with ``phi=LocalAUC(u0)``.
    partial_auc_score : Cuts the ROC curve at a false positive rate.

    Notes
    -----
    The cut is a share of all items; that of the partial AUC is a share of the negatives.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Section 2.

    Examples
    --------
    >>> from sklearn_rank.metrics import local_auc_score
    >>> round(local_auc_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], u0=0.5), 4)
    0.5714
    """


class PNormPushMeasure(_RankStatistic):
    stem = "pnorm@"
    _number = NamedNumber("p", number, "4")

    p: float = checked(lambda _, p: Power(p))

    @property
    def _phi(self) -> ScoreGeneratingFunction:
        return Power(self.p)


@function_of(PNormPushMeasure)
def p_norm_push_score(
    y_true: Any,
    y_score: Any,
    *,
    p: float,
    normalize: Normalize = "minmax",
    **options: Unpack[BinaryOptions],
) -> Value:
    """P-norm push statistic: sum of the p-th powers of the ranks of the positives.

    ``W = sum over positives of (R / (n + 1))**p``, R the rank among all n items, n at the top.

    Parameters
    ----------
    p : float
        Exponent, positive. 1 is the AUC; a greater exponent gives more weight to the top.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        The statistic; higher is better.

    See Also
    --------
    linear_rank_score : The same with ``phi=Power(p)``.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Section 2.

    Examples
    --------
    >>> from sklearn_rank.metrics import p_norm_push_score
    >>> round(p_norm_push_score([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], p=2), 4)
    0.75
    """


class _EarlyRecognition(ConventionalMeasure, _OfRanks):
    """A mean over the positives of ``exp(-alpha i / n)``, i the position from the top."""

    _number = NamedNumber("alpha", number, "20")
    conventions = rules_of(rdkit={})

    alpha: float = checked(lambda _, alpha: Screening(alpha), 20.0)

    depends_on_length = False

    @property
    def _phi(self) -> ScoreGeneratingFunction:
        return Screening(self.alpha)


class BEDROCMeasure(_EarlyRecognition):
    stem = "bedroc@"
    range = (0.0, 1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        values = super().values(lists)
        if self.convention is None:
            return values
        return np.where(lists.positives == lists.sizes, 1.0, values)


@function_of(BEDROCMeasure)
def bedroc_score(
    y_true: Any, y_score: Any, *, alpha: float = 20.0, **options: Unpack[ConventionOptions]
) -> Value:
    """BEDROC: Boltzmann-enhanced discrimination of the ROC curve, in [0, 1].

    The mean over the positives of ``exp(-alpha i / n)``, i the position from the top among n
    items, scaled so that the worst order has 0 and the best order 1.

    Parameters
    ----------
    convention
        System whose value to reproduce: tied items stay in the order of the rows, a list without
        positives counts 0, one without negatives 1. A conflicting parameter raises an error.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        BEDROC in [0, 1]; higher is better.

    See Also
    --------
    rie_score : The same sum as a ratio to its mean for a random order.
    linear_rank_score : With ``phi=Exponential(alpha)``, similar with ``n + 1`` in place of n.

    Notes
    -----
    Without ties the value equals that of RDKit. With ties RDKit depends on the order of the rows.

    References
    ----------
    .. [1] Truchon & Bayly (2007), *Evaluating virtual screening methods*, Journal of Chemical
       Information and Modeling 47, Equation 36.

    Examples
    --------
    >>> from sklearn_rank.metrics import bedroc_score
    >>> round(
    ...     bedroc_score([1, 0, 1, 0, 0, 0], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], alpha=5.0),
    ...     4,
    ... )
    0.8224
    """


class RIEMeasure(_EarlyRecognition):
    stem = "rie@"
    range = (0.0, inf)
    lacking = "no positive"
    theorems = ()
    _scale = "mean"

    def values(self, lists: ScoredLists) -> FloatArray:
        return super().values(lists) / self._unit(near_whole(lists.sizes))

    def label_total(self, lists: ScoredLists) -> None:
        """None is known."""

    def _unit(self, sizes: FloatArray) -> FloatArray:
        return mean_at_random(self._phi, sizes)

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        unit = float(self._unit(lists.sizes)[0])
        return rank_influence(lists, self._phi, "mean").scaled(0.0, unit)


@function_of(RIEMeasure)
def rie_score(
    y_true: Any, y_score: Any, *, alpha: float = 20.0, **options: Unpack[ConventionOptions]
) -> Value:
    """Robust initial enhancement (RIE): early recognition relative to a random order.

    The mean over the positives of ``exp(-alpha i / n)``, i the position from the top among n
    items, divided by the mean over all items.

    Parameters
    ----------
    convention
        System whose value to reproduce: tied items stay in the order of the rows, and a list
        without positives counts 0. A conflicting parameter raises an error.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Ratio, at least 0; 1 for a random order; higher is better.

    See Also
    --------
    bedroc_score : The same sum scaled to [0, 1].

    References
    ----------
    .. [1] Sheridan, Singh, Fluder & Kearsley (2001), *Protocols for bridging the peptide to
       nonpeptide gap in topological similarity searches*, Journal of Chemical Information and
       Computer Sciences 41.

    Examples
    --------
    >>> from sklearn_rank.metrics import rie_score
    >>> round(
    ...     rie_score([1, 0, 1, 0, 0, 0], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], alpha=5.0), 4
    ... )
    2.0303
    """


def phi_of(measure: Measure) -> ScoreGeneratingFunction | None:
    """Find the function of ranks whose statistic a measure is, up to an affine map."""
    if isinstance(measure, _OfRanks):
        return measure._phi
    return Wilcoxon() if isinstance(measure, AUCMeasure) else None


def rank_total(
    lists: ScoredLists, phi: ScoreGeneratingFunction, normalize: Normalize
) -> LabelTotal:
    n = float(len(lists.score))
    values = phi._at_ranks(n - np.arange(n), np.array([n]))
    best, worst = running_mean(values), running_mean(values[::-1])

    def value(total: float, n_pos: float) -> float:
        if normalize != "minmax":
            return total / n_pos if normalize == "mean" else total
        low = worst(n_pos)
        return (total / n_pos - low) / (best(n_pos) - low)

    return LabelTotal(mean_discounts(lists.score, values), value)


def within_order_of(phi: ScoreGeneratingFunction) -> float | Literal["positives"]:
    # Over a jump of phi a negative moves the positives by its own place.
    if not phi.jumps:
        return "positives"
    return 1.0 - phi.u0 if isinstance(phi, LocalAUC) else 1.0


def mean_at_random(phi: ScoreGeneratingFunction, n: FloatArray) -> FloatArray:
    return phi._sums(np.zeros_like(n), n, n) / n


def statistic_of(
    blocks: ClassBlocks, phi: ScoreGeneratingFunction, ties: Ties, normalize: Normalize
) -> FloatArray:
    n, k = near_whole(blocks.total), blocks.n_class
    of_block = blocks.by_block(n)
    below = blocks.below
    upto = below + blocks.of_class + blocks.of_other
    if ties == "average":
        sums = phi._sums(below, upto, of_block)
        mixed = np.flatnonzero(blocks.of_other)
        sums[mixed] *= blocks.of_class[mixed] / (blocks.of_class[mixed] + blocks.of_other[mixed])
        statistic = blocks.sums(sums)
    else:
        rank = upto if ties == "max" else (below + upto + 1.0) / 2.0
        statistic = blocks.sums(blocks.of_class * phi._at_ranks(rank, of_block))
    if normalize is None:
        return statistic
    with np.errstate(invalid="ignore", divide="ignore"):
        if normalize == "mean":
            return np.where(k > 0, statistic / k, np.nan)
        worst = phi._sums(np.zeros_like(n), k, n)
        best = phi._sums(n - k, n, n)
        relative = (statistic - worst) / (best - worst)
        if ties == "average":
            # In [0, 1] up to rounding; other ranks of ties may lie beyond.
            relative = np.clip(relative, 0.0, 1.0)
        # By counts: of real weights, sums that are equal differ by rounding.
        defined = (k > 0) & (blocks.n_other > 0) & phi._rises(n)
        return np.where(defined, relative, np.nan)


def rank_bias(
    positive: BoolArray,
    score: FloatArray,
    phi: ScoreGeneratingFunction,
    counts: FloatArray | None = None,
) -> float:
    """Estimate by how much the mean statistic exceeds its target on average, labels fixed.

    The mean over the positives of ``E[phi(R / (n + 1))] - phi(F)``, where the rank R of an item at
    a given score is normal with the mean and the variance that the other items give it. Tied items
    are those of a continuous score in random order: each stands at every place of its block alike,
    and its share of the classes of the block is below it.
    """
    blocks = counted_blocks(score, positive, counts)
    n, k, n_pos, size = blocks.n, blocks.k, blocks.n_pos, blocks.size
    some = np.flatnonzero(n_pos)
    pos_above, above = (np.cumsum(n_pos) - n_pos)[some], (np.cumsum(size) - size)[some]
    n_pos, size = n_pos[some], size[some]
    total = 0.0
    for inside, _, block, place in places_of(size):
        length, in_class = size[inside][block], n_pos[inside][block]
        share = (place + 0.5) / length
        gain = _gains(
            phi,
            n,
            k,
            pos_above[inside][block] + share * in_class,
            above[inside][block] + place + 0.5,
        )
        total += float(np.sum(in_class / length * gain))
    return total / k


def _gains(
    phi: ScoreGeneratingFunction, n: int, k: int, above: FloatArray, all_above: FloatArray
) -> FloatArray:
    """Bias at places with so many positives, and so many items, above."""
    cdf_pos = (k - above) / k
    cdf_neg = (n - k - (all_above - above)) / (n - k)
    cdf = (n - all_above) / n
    mean = (1.0 + (k - 1) * cdf_pos + (n - k) * cdf_neg) / (n + 1.0)
    variance = (k - 1) * cdf_pos * (1.0 - cdf_pos) + (n - k) * cdf_neg * (1.0 - cdf_neg)
    half_width = np.sqrt(3.0 * np.maximum(variance, 0.0)) / (n + 1.0)
    # Within the list, and as far on either side, so that the mean stays.
    ends = 0.5 / (n + 1.0)
    half_width = np.minimum(half_width, np.maximum(np.minimum(mean, 1.0 - mean) - ends, 0.0))
    of_list = np.array([float(n)])

    def continuous(rank: FloatArray) -> FloatArray:
        jumped = sum(height * (rank / (n + 1.0) >= u0) for u0, height in phi.jumps)
        return phi._at_ranks(rank, of_list) - jumped

    expected = np.zeros(len(cdf))
    # Three nodes are exact for the normal distribution up to phi of degree five.
    for weight, sign in ((1 / 6, -1.0), (2 / 3, 0.0), (1 / 6, 1.0)):
        expected += weight * continuous((mean + sign * half_width) * (n + 1.0))
    return expected - continuous(cdf * (n + 1.0))
