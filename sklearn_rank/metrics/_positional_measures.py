"""Positional measures: DCG, NDCG, and those with any gain and discount."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from types import MappingProxyType
from typing import Any

import numpy as np

from .._arguments import check_number, check_position
from .._lists import Lists, ScoredLists
from .._typing import FloatArray, IntArray
from .._validation import ravelled
from ._conventions import CATBOOST, GDEVAL, LETOR, LIGHTGBM, RANX, TREC_EVAL, XGBOOST, Rules
from ._discounted import (
    Discount,
    Gain,
    Letor,
    Logarithmic,
    check_gain,
    discounted_sums,
    gains_of,
    ideal_sums,
    scaled_gains,
)
from ._measure import ConventionalMeasure, Measure
from ._positional_form import PositionalForm, cut_after, linear_discounts, logarithmic_discounts


@dataclass(frozen=True, kw_only=True, repr=False)
class PositionalMeasure(Measure):
    """Any gain, discounted by any function; see ``positional_score``."""

    kind = "graded"
    per_query = True
    function = "positional_score"
    has_name = False
    stem = "positional"
    in_name = "k"
    from_ranges = "sum"

    gain: Gain
    discount: Discount  # Discount of positions and lengths of lists
    k: int | None = None  # Last position that counts

    def __post_init__(self) -> None:
        if self.k is not None:
            check_position("k", self.k, optional=True)
        check_gain(self.gain)
        if not callable(self.discount) and self.discount not in ("logarithmic", "linear"):
            raise ValueError(
                f"discount={self.discount!r} must be 'logarithmic', 'linear' or a function of"
                " positions and lengths."
            )
        super().__post_init__()

    @property
    def positional(self) -> PositionalForm:
        """The gains and the discounts."""
        return PositionalForm(lambda lists: gains_of(lists.grade, self.gain), self._discounts)

    def _discounts(self, n: int) -> FloatArray:
        if self.discount == "linear":
            values = linear_discounts(n)
        elif self.discount == "logarithmic":
            values = logarithmic_discounts(n)
        else:
            position = np.arange(1.0, n + 1.0)
            values = np.array(self.discount(position, np.full(n, float(n))), dtype=np.float64)
        return cut_after(values, self.k)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Value of each list."""
        return discounted_sums(lists, gains_of(lists.grade, self.gain), self.discount, self.k)


@dataclass(frozen=True, kw_only=True, repr=False)
class DCGMeasure(ConventionalMeasure):
    """Discounted cumulative gain; see ``dcg_score``."""

    kind = "graded"
    per_query = True
    function = "dcg_score"
    stem = "dcg"
    in_name = "k"
    from_ranges = "sum"
    conventions = MappingProxyType(
        {
            "paper": Rules(gain="exponential"),
            "sklearn": Rules(gain="linear"),
            "catboost": replace(CATBOOST, gain="linear", chosen=("gain",), undefined="skip"),
        }
    )

    k: int | None = None  # Last position that counts
    gain: Gain | None = None  # Gain of a relevance; None is "exponential"
    log_base: float = 2.0

    def __post_init__(self) -> None:
        if self.k is not None:
            check_position("k", self.k, optional=True)
        if self.gain is not None:
            check_gain(self.gain)
        check_number("log_base", self.log_base, 1.0, inf, closed="neither")
        super().__post_init__()

    @property
    def range(self) -> tuple[float, float]:
        """From 0 on."""
        return (0.0, inf)

    @property
    def positional(self) -> PositionalForm:
        """The gains, at logarithmic discounts."""
        return PositionalForm(self._gains, self._discounts)

    def _read(self, y_true: Any, y_score: Any, **arguments: Any) -> ScoredLists:
        """Make the lists; refuse matrices that scikit-learn's function reads with another gain."""
        y_true = ravelled(y_true, "y_true")
        lists = super()._read(y_true, y_score, **arguments)
        said = self.gain is not None or self.convention is not None
        if not said and np.ndim(y_true) == 2 and not _are_classes(lists.grade):
            raise ValueError(
                f"y_true has relevances other than 0 and 1, for which {self.function} of"
                " scikit-learn uses the gain y and this one 2**y - 1: pass gain='linear' or"
                " gain='exponential'."
            )
        return lists

    def values(self, lists: ScoredLists) -> FloatArray:
        """Gain of each list."""
        top = self._leading(self.rules.ordered(lists, lists.grade))
        if top.labels is not lists.labels:
            # Whatever is left out, a relevance whose gain is infinite is refused.
            gains_of(lists.grade.max(keepdims=True), self._gain)
        return discounted_sums(top, self._gains(top), self._discount, self.k)

    def _leading(self, lists: ScoredLists) -> ScoredLists:
        """Lists whose first k items are the same; a gain of the user sees all relevances."""
        return lists if callable(self._gain) else lists.leading(self.k)

    @property
    def _gain(self) -> Gain:
        return self.gain or self.rules.gain or "exponential"

    @property
    def _discount(self) -> Logarithmic | Letor:
        return Logarithmic(float(self.log_base))

    def _gains(self, lists: Lists) -> FloatArray:
        return gains_of(lists.grade, self._gain)

    def _discounts(self, n: int) -> FloatArray:
        return cut_after(self._discount(np.arange(1.0, n + 1.0)), self.k)


def has_exponential_gain(measure: Measure) -> bool:
    """Say whether a measure gains ``2**y - 1`` from an item of relevance y."""
    if isinstance(measure, DCGMeasure):
        return isinstance(measure._gain, str) and measure._gain == "exponential"
    gain = measure.gain if isinstance(measure, PositionalMeasure) else None
    return isinstance(gain, str) and gain == "exponential"


def _on_one_scale(
    values: FloatArray, exponent: IntArray | None, wanted: IntArray | None
) -> FloatArray:
    """Bring what was divided by powers of 2 to what others were divided by."""
    if exponent is None and wanted is None:
        return values
    shift = (0 if exponent is None else exponent) - (0 if wanted is None else wanted)
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(values, shift)


def _by_item(lists: Lists, by_list: IntArray | None) -> IntArray | None:
    return None if by_list is None else lists.to_items(by_list)


@dataclass(frozen=True, kw_only=True, repr=False)
class NDCGMeasure(DCGMeasure):
    """Discounted cumulative gain as a share of that of the best order; see ``ndcg_score``."""

    lacking = "no item with a gain"
    undefined_counts = 0.0
    function = "ndcg_score"
    stem = "ndcg"
    takes_relevant = ("ideal",)
    conventions = MappingProxyType(
        {
            "paper": Rules(gain="exponential", knows_judgments=True),
            "sklearn": Rules(gain="linear", undefined=0.0),
            "xgboost": replace(
                XGBOOST, gain="exponential", weighs_undefined=False, refuses_above_one=True
            ),
            "lightgbm": replace(LIGHTGBM, gain="exponential", weighs_undefined=False),
            "catboost": replace(CATBOOST, gain="linear", chosen=("gain",), undefined=1.0),
            "trec_eval": replace(TREC_EVAL, gain="linear"),
            "gdeval": replace(GDEVAL, gain="exponential"),
            "ranx": replace(RANX, gain="linear", chosen=("gain",)),
            "letor": replace(LETOR, gain="exponential", discount="letor"),
        }
    )

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to 1."""
        return (0.0, 1.0)

    @property
    def positional(self) -> PositionalForm:
        """The gains divided by the ideal sum of the list, at logarithmic discounts."""
        return PositionalForm(self._utilities, self._discounts, largest=1.0)

    def values(self, lists: ScoredLists) -> FloatArray:
        """Share of each list."""
        discount = self._discount
        top = self._leading(self.rules.ordered(lists, lists.grade))
        best: Lists = lists.ideal or lists
        if lists.ideal is None:
            # Gains ascend with the relevance: the best order begins with the most relevant.
            best = self._leading(replace(lists, score=lists.grade))
        gains, exponent = scaled_gains(top, self._gains(top))
        own, its = gains, exponent
        if top.labels is not best.labels:
            own, its = scaled_gains(best, self._gains(best))
        ideal = ideal_sums(best, own, discount, self.k)
        sums = _on_one_scale(discounted_sums(top, gains, discount, self.k), exponent, its)
        with np.errstate(invalid="ignore"):
            return np.minimum(sums / ideal, 1.0)

    @property
    def _discount(self) -> Logarithmic | Letor:
        return Letor() if self.rules.discount == "letor" else super()._discount

    def _utilities(self, lists: Lists) -> FloatArray:
        self._check_fit_weights(lists)
        gains, exponent = scaled_gains(lists, self._gains(lists))
        best = lists.ideal if isinstance(lists, ScoredLists) else None
        of_best, its = gains, exponent
        if best is not None:
            of_best, its = scaled_gains(best, self._gains(best))
        ideal = lists.to_items(ideal_sums(best or lists, of_best, self._discount, self.k))
        if best is not None:
            gains = _on_one_scale(gains, _by_item(lists, exponent), _by_item(lists, its))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(ideal > 0, gains / ideal, np.nan)


def _are_classes(grade: FloatArray) -> bool:
    return bool(np.all((grade == 0) | (grade == 1)))
