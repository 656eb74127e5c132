"""The measures in the positional form, utilities of the items and discounts of the positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._blocks import tied_blocks
from .._lists import Kind, Lists
from .._typing import FloatArray
from ..metrics._names import parse_measure
from ..metrics._positional import ideal_sums

__all__ = ["PositionalForm", "positional_form"]


@dataclass(frozen=True)
class PositionalForm:
    """A measure as ``b(y) + sum over positions i of discount(i) utility(item at i)``.

    Parameters
    ----------
    name : str
        Name of the measure.
    kind : {"binary", "graded"}
        Kind of lists that the measure is of.
    utilities : callable
        Utilities of the items of lists; NaN for a list for which the measure is undefined.
    discounts : callable or None
        Discounts of the positions of a list of n items, never rising; None for a measure that
        has no such form.
    largest : float or None
        Largest utility that any labels give; None where there is none.
    lacking : str
        What a list lacks for which the measure is undefined, for messages.
    lowest : float
        Smallest relevance that is allowed.
    largest_by_length : callable or None
        Largest utility that any labels of a list of n items give, where it is less than
        ``largest`` for longer lists.
    """

    name: str
    kind: Kind
    utilities: Callable[[Any], FloatArray]
    discounts: Callable[[int], FloatArray] | None
    largest: float | None
    lacking: str = "no value"
    lowest: float = 0.0
    largest_by_length: Callable[[int], float] | None = None

    def largest_among(self, n: int) -> float | None:
        """Largest utility that any labels of n items give.

        Parameters
        ----------
        n : int
            Length of the list, at least 1; its items count once.

        Returns
        -------
        float or None
            The utility; None where there is no largest one.
        """
        if self.largest_by_length is None or n < 2:
            return self.largest
        return self.largest_by_length(n)


def positional_form(measure: str) -> PositionalForm:
    """Find the positional form of a measure.

    Parameters
    ----------
    measure : str
        Name of a measure.

    Returns
    -------
    PositionalForm
        Its form; for average precision and the expected reciprocal rank the utilities whose order
        is optimal where labels are independent, and no discounts.
    """
    parsed = parse_measure(measure)
    name, parameters = parsed.function.__name__, parsed.parameters
    if name not in _FORMS:
        raise ValueError(
            f"{measure!r} gives items no utilities: measures that do are dcg, ndcg and precision,"
            " recall, auc, spearman and rbp, and with a warning ap and err; dcg and ndcg with or"
            " without a last position, as 'ndcg@10'."
        )
    return _FORMS[name](measure, **parameters)


def _cut(discount: FloatArray, k: int | None) -> FloatArray:
    if k is not None:
        discount[k:] = 0.0
    return discount


def _logarithmic(k: int | None) -> Callable[[int], FloatArray]:
    return lambda n: _cut(1 / np.log2(np.arange(2, n + 2)), k)


def _linear(n: int) -> FloatArray:
    return np.arange(n - 1, -1, -1, dtype=np.float64)


def _sums(lists: Lists, values: FloatArray) -> FloatArray:
    """Sum of the list of each item, items counted by their weights."""
    return lists.to_items(lists.weighted_totals(values))


def _dcg(name: str, k: int | None = None) -> PositionalForm:
    return PositionalForm(
        name, "graded", lambda lists: np.exp2(lists.grade) - 1, _logarithmic(k), None
    )


def _ndcg(name: str, k: int | None = None) -> PositionalForm:
    def utilities(lists: Lists) -> FloatArray:
        gains = np.exp2(lists.grade) - 1
        ideal = ideal_sums(lists, gains, "logarithmic", k)[lists.list_of]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(ideal > 0, gains / ideal, np.nan)

    return PositionalForm(
        name, "graded", utilities, _logarithmic(k), 1.0, "no item of positive gain"
    )


def _precision(name: str, k: int) -> PositionalForm:
    return PositionalForm(
        name,
        "binary",
        lambda lists: lists.positive / k,
        lambda n: _cut(np.ones(n), k),
        1.0 / k,
    )


def _recall(name: str, k: int) -> PositionalForm:
    def utilities(lists: Lists) -> FloatArray:
        positive = lists.positive.astype(np.float64)
        total = _sums(lists, positive)
        return np.where(total > 0, positive / np.where(total > 0, total, 1.0), np.nan)

    return PositionalForm(
        name, "binary", utilities, lambda n: _cut(np.ones(n), k), 1.0, "no positive item"
    )


def _auc(name: str) -> PositionalForm:
    def utilities(lists: Lists) -> FloatArray:
        positive = lists.positive.astype(np.float64)
        pairs = _sums(lists, positive) * _sums(lists, 1 - positive)
        return np.where(pairs > 0, positive / np.where(pairs > 0, pairs, 1.0), np.nan)

    return PositionalForm(
        name,
        "binary",
        utilities,
        _linear,
        1.0,
        "items of one class only",
        # One positive, or one negative.
        largest_by_length=lambda n: 1 / (n - 1),
    )


def _spearman(name: str) -> PositionalForm:
    def utilities(lists: Lists) -> FloatArray:
        if not lists.whole.all():
            raise ValueError(
                "sample_weight has a value that is not whole: Spearman's correlation counts"
                " positions."
            )
        blocks = tied_blocks(lists.grade, lists.offsets)
        weight = np.ones(len(lists.grade)) if lists.weight is None else lists.weight
        mass = blocks.totals(weight)
        through = blocks.running(mass)
        # Tied items share the middle of the positions that they take.
        middle = through - (mass - 1) / 2
        n = lists.sizes[lists.list_of]
        position = np.empty(len(n))
        position[blocks.order] = np.repeat(middle, blocks.lengths())
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(n > 1, 12 * (n - position) / (n * (n**2 - 1)), np.nan)

    return PositionalForm(
        name,
        "graded",
        utilities,
        _linear,
        2.0,
        "a single item",
        lowest=-np.inf,
        largest_by_length=lambda n: 12 / (n * (n + 1)),
    )


def _rank_biased_precision(name: str, persistence: float) -> PositionalForm:
    def utilities(lists: Lists) -> FloatArray:
        highest = lists.grade.max()
        return (1 - persistence) * lists.grade / (highest if highest > 0 else 1.0)

    return PositionalForm(
        name,
        "graded",
        utilities,
        lambda n: persistence ** np.arange(n, dtype=np.float64),
        1 - persistence,
    )


def _average_precision(name: str, k: int | None = None) -> PositionalForm:
    def utilities(lists: Lists) -> FloatArray:
        positive = lists.positive.astype(np.float64)
        return np.where(_sums(lists, positive) > 0, positive, np.nan)

    return PositionalForm(name, "binary", utilities, None, 1.0, "no positive item")


def _expected_reciprocal_rank(name: str, k: int | None = None) -> PositionalForm:
    def utilities(lists: Lists) -> FloatArray:
        return (np.exp2(lists.grade) - 1) / np.exp2(lists.grade.max())

    return PositionalForm(name, "graded", utilities, None, 1.0)


_FORMS: dict[str, Callable[..., PositionalForm]] = {
    "average_precision_score": _average_precision,
    "dcg_score": _dcg,
    "expected_reciprocal_rank_score": _expected_reciprocal_rank,
    "ndcg_score": _ndcg,
    "precision_at_k_score": _precision,
    "rank_biased_precision_score": _rank_biased_precision,
    "recall_at_k_score": _recall,
    "roc_auc_score": _auc,
    "spearman_score": _spearman,
}
