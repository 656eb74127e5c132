"""Conditional linear rank statistics as measures."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from .._arguments import check_choice
from .._lists import Lists, ScoredLists
from .._order import ClassBlocks, near_whole, pairs_in_order
from .._typing import FloatArray
from ._conventions import RDKIT
from ._influence import ClassInfluence, linear_rank_influence_of
from ._measure import ConventionalMeasure, Measure
from ._positional_form import PositionalForm, linear_discounts, share_of_total
from ._score_generating import (
    LocalAUC,
    Phi,
    Power,
    ScoreGeneratingFunction,
    Screening,
    Wilcoxon,
    as_score_generating,
)

Ties: TypeAlias = Literal["average", "mid", "max"]
Normalize: TypeAlias = Literal["mean", "minmax"] | None

_NO_POSITIVE = "no positive"
_NO_RANGE = "items of one class only or no place that counts"


@dataclass(frozen=True, kw_only=True, repr=False)
class _RankStatistic(Measure):
    """A linear rank statistic of two classes, and how it is normalised."""

    normalize: Normalize = "minmax"
    from_ranges = "sum"

    def __post_init__(self) -> None:
        check_choice("normalize", self.normalize, ("mean", "minmax", None))
        super().__post_init__()

    @property
    @abstractmethod
    def _phi(self) -> ScoreGeneratingFunction:
        """The score-generating function."""

    @property
    def _ties(self) -> Ties:
        return "average"

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1 between the worst and the best order; else not known."""
        inside = self.normalize == "minmax" and self._ties == "average"
        return (0.0, 1.0) if inside else (-inf, inf)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Statistic of each list."""
        # Ranks in the middle or at the top of ties tell neighbouring blocks apart.
        blocks = lists.blocks(joined=self._ties == "average")
        return statistic_of(blocks, self._phi, self._ties, self.normalize)

    @property
    def theorems(self) -> tuple[str, ...]:
        """A band around the distribution of the scores, where phi is bounded."""
        return ("dkw",) if self.has_influence and _rises_between_bounds(self._phi) else ()

    @property
    def has_influence(self) -> bool:
        """Not of sums, of ties that are not averaged, of a phi that depends on the length."""
        limit = self.normalize is not None and self._phi.is_limit_functional
        return limit and self._ties == "average"

    def influence(self, lists: ScoredLists) -> ClassInfluence | None:
        """Compute the influence of each item of one list on the statistic."""
        if not self.has_influence:
            return None
        if self.normalize == "mean":
            return linear_rank_influence_of(
                lists.positive, lists.score, self._phi, counts=lists.weight, draws=lists.draws
            )
        return _minmax_influence(lists, self._phi)


@dataclass(frozen=True, kw_only=True, repr=False)
class LinearRankMeasure(_RankStatistic):
    """Linear rank statistic with any score-generating function; see ``linear_rank_score``."""

    function = "linear_rank_score"
    has_name = False
    stem = "linear_rank"

    phi: Phi  # Nondecreasing function on (0, 1)
    ties: Ties = "average"  # What tied items count

    def __post_init__(self) -> None:
        check_choice("ties", self.ties, ("average", "mid", "max"))
        object.__setattr__(self, "phi", as_score_generating(self.phi))
        super().__post_init__()

    @property
    def is_mean_over_ties(self) -> bool:  # type: ignore[override]
        """Not where tied items count one rank."""
        return self.ties == "average"

    @property
    def lacking(self) -> str:  # type: ignore[override]
        """Why a list has no value, as in warnings, for example "no positive"."""
        return _NO_POSITIVE if self.normalize == "mean" else _NO_RANGE

    @property
    def _phi(self) -> ScoreGeneratingFunction:
        return as_score_generating(self.phi)

    @property
    def _ties(self) -> Ties:
        return self.ties


@dataclass(frozen=True, kw_only=True, repr=False)
class LocalAUCMeasure(_RankStatistic):
    """Rank statistic of the top ``1 - u0`` of the list; see ``local_auc_score``."""

    function = "local_auc_score"
    stem = "local_auc@"
    in_name = "u0"
    lacking = _NO_RANGE

    u0: float

    def __post_init__(self) -> None:
        LocalAUC(self.u0)  # refuses what is no share
        super().__post_init__()

    @property
    def _phi(self) -> ScoreGeneratingFunction:
        return LocalAUC(self.u0)


@dataclass(frozen=True, kw_only=True, repr=False)
class PNormPushMeasure(_RankStatistic):
    """Powers of the ranks of the positives; see ``p_norm_push_score``."""

    function = "p_norm_push_score"
    stem = "pnorm@"
    in_name = "p"
    lacking = _NO_RANGE

    p: float  # Exponent, positive. A greater exponent gives more weight to the top

    def __post_init__(self) -> None:
        Power(self.p)  # refuses what is no exponent
        super().__post_init__()

    @property
    def _phi(self) -> ScoreGeneratingFunction:
        return Power(self.p)


@dataclass(frozen=True, kw_only=True, repr=False)
class _EarlyRecognition(ConventionalMeasure):
    """A mean over the positives of ``exp(-alpha i / n)``, i the position from the top."""

    in_name = "alpha"
    from_ranges = "sum"
    conventions = MappingProxyType({"rdkit": RDKIT})

    alpha: float = 20.0  # Rate, positive

    def __post_init__(self) -> None:
        Screening(self.alpha)  # refuses what is no rate
        super().__post_init__()

    def _blocks(self, lists: ScoredLists) -> ClassBlocks:
        return self.rules.ordered(lists, lists.positive).blocks()


@dataclass(frozen=True, kw_only=True, repr=False)
class BEDROCMeasure(_EarlyRecognition):
    """Early recognition from 0 to 1; see ``bedroc_score``."""

    function = "bedroc_score"
    stem = "bedroc@"
    lacking = _NO_RANGE

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Value of each list."""
        blocks = self._blocks(lists)
        values = statistic_of(blocks, Screening(self.alpha), "average", "minmax")
        if self.convention is None:
            return values
        return np.where(blocks.n_other == 0, 1.0, values)

    @property
    def theorems(self) -> tuple[str, ...]:
        """A band around the distribution of the scores; none in the order of the rows."""
        return ("dkw",) if self.has_influence else ()

    @property
    def has_influence(self) -> bool:
        """False with ties in the order of the rows."""
        return self.convention is None

    def influence(self, lists: ScoredLists) -> ClassInfluence | None:
        """Compute the influence of each item of one list on the value."""
        if not self.has_influence:
            return None
        return _minmax_influence(lists, Screening(self.alpha))


@dataclass(frozen=True, kw_only=True, repr=False)
class RIEMeasure(_EarlyRecognition):
    """Early recognition as a ratio to a random order; see ``rie_score``."""

    function = "rie_score"
    stem = "rie@"
    lacking = _NO_POSITIVE

    @property
    def range(self) -> tuple[float, float]:
        """From 0, without an upper end for all lists."""
        return (0.0, inf)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Ratio of each list."""
        phi, blocks = Screening(self.alpha), self._blocks(lists)
        n = near_whole(blocks.total)
        at_random = phi._sums(np.zeros_like(n), n, n) / n
        return statistic_of(blocks, phi, "average", "mean") / at_random


@dataclass(frozen=True, kw_only=True, repr=False)
class AUCMeasure(Measure):
    """Area under the ROC curve; see ``roc_auc_score``."""

    two_dimensions_are_classes = True
    weights = "relative"
    lacking = "items of one class only"
    function = "roc_auc_score"
    stem = "auc"
    from_ranges = "sum"

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    @property
    def theorems(self) -> tuple[str, ...]:
        """Inequalities for pairs of two samples."""
        return ("mcdiarmid", "hoeffding", "kl")

    @property
    def positional(self) -> PositionalForm:
        """One over the number of pairs for each positive, at linear discounts."""
        # The utility is largest with one positive, or one negative.
        return PositionalForm(
            _auc_utilities,
            linear_discounts,
            largest=1.0,
            largest_by_length=lambda n: 1 / (n - 1),
        )

    def values(self, lists: ScoredLists) -> FloatArray:
        """Area of each list."""
        if lists.weight is None:
            in_order, n_pos, n_neg = pairs_in_order(lists.score, lists.positive, lists.offsets)
        else:
            blocks = lists.blocks()
            n_pos, n_neg = blocks.n_class, blocks.n_other
            in_order = blocks.sums(blocks.of_class * (blocks.other_below + blocks.of_other / 2.0))
        with np.errstate(invalid="ignore"):
            # Sums of real weights are rounded.
            return np.minimum(in_order / (n_pos * n_neg), 1.0)

    def influence(self, lists: ScoredLists) -> ClassInfluence:
        """Compute the influence of each item of one list on the area."""
        return _minmax_influence(lists, Wilcoxon())


def _rises_between_bounds(phi: ScoreGeneratingFunction) -> bool:
    """Whether phi is finite at 0 and 1, and not the same."""
    floor, ceiling = phi(np.array([0.0, 1.0]))
    return bool(np.isfinite(floor) and np.isfinite(ceiling) and floor < ceiling)


def _minmax_influence(lists: ScoredLists, phi: ScoreGeneratingFunction) -> ClassInfluence:
    """Influence on the statistic between the worst and the best order."""
    return linear_rank_influence_of(
        lists.positive,
        lists.score,
        phi,
        normalize="minmax",
        counts=lists.weight,
        draws=lists.draws,
    )


def _auc_utilities(lists: Lists) -> FloatArray:
    positive = lists.positive.astype(np.float64)
    n_pos = lists.weighted_totals(positive)
    return share_of_total(lists, n_pos * lists.weighted_totals(1.0 - positive))


def phi_of(measure: Measure) -> ScoreGeneratingFunction | None:
    """Find the function of ranks whose statistic a measure is, up to an affine map."""
    if isinstance(measure, _RankStatistic):
        return measure._phi
    if isinstance(measure, _EarlyRecognition):
        return Screening(measure.alpha)
    return Wilcoxon() if isinstance(measure, AUCMeasure) else None


def statistic_of(
    blocks: ClassBlocks, phi: ScoreGeneratingFunction, ties: Ties, normalize: Normalize
) -> FloatArray:
    """Find the statistic of each list. The statistics; NaN where it is undefined."""
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
