"""The concordance of scores and times of events that are known in part: Harrell's and Uno's C.

Of two rows it is known whose event comes first if one came while both were watched. Harrell's C is
the share of these pairs in which that row has the higher score. Uno's C weights each pair by the
inverse of the probability that both rows were watched for so long, up to a horizon.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, ClassVar

import numpy as np

from .._lists import ScoredLists
from .._typing import FloatArray, IntArray
from .._validation import take
from ..metrics import Measure
from ..metrics._shared import CIndexMeasure, sums_over_pairs
from ._late_labels import Censoring, LateLabels


def is_of_event_times(measure: Any) -> bool:
    """Whether a question is of the C-index, which has a value for labels of times only."""
    several = measure if isinstance(measure, list | tuple) else [measure]
    stems = [x.lower() if isinstance(x, str) else getattr(x, "stem", "") for x in several]
    if (found := CIndexMeasure.stem in stems) and len(stems) > 1:
        raise ValueError(
            "c_index compares times of events, and other measures labels at a horizon: ask for"
            " c_index by itself."
        )
    return found


class HarrellMeasure(CIndexMeasure):
    """Of grades ``-2 i`` for an event at the i-th time, ``-2 i - 1`` for a row censored then."""

    # Exponent of the probability of being watched, of which pairs get the inverse
    power: ClassVar[float] = 0.0

    def values(self, lists: ScoredLists) -> FloatArray:
        _, _, pairs, right = self._pairs(lists)
        return np.array([right.sum() / pairs.sum()])

    def _pairs(self, data: ScoredLists) -> tuple[Censoring, FloatArray, FloatArray, FloatArray]:
        """Weight of each event; of pairs in which it is the first; of those in the right order."""
        code = -data.grade
        times, censored = code // 2.0, code % 2.0 > 0.0
        censoring = Censoring.of(times, censored, np.zeros(len(code), dtype=np.intp))
        weight = np.where(censored, 0.0, censoring.per_label[censoring.slot] ** self.power)
        later = len(code) - np.searchsorted(np.sort(code), code, "right")
        right = weight * (later + _signs_before(-code, data.score)) / 2.0
        return censoring, weight, weight * later, right

    def _influence_of_items(self, data: ScoredLists) -> tuple[FloatArray, tuple[float, float]]:
        """Of what each row moves the sum over pairs, as the first, as the second, by its weight.

        The derivative of the quotient of both sums by the number of rows that are alike.
        """
        censoring, weight, pairs, right = self._pairs(data)
        value = float(right.sum() / pairs.sum())
        as_first, code = right - value * pairs, -data.grade
        order = np.argsort(code)
        upto = np.append(0.0, np.cumsum(weight[order]))
        before = upto[np.searchsorted(code[order], code)]
        more = 1.0 + weight  # by which products of weights are divided
        signs = _signs_before(code, data.score, more) / more - _signs_before(code, data.score)
        as_second = (0.5 - value) * before - signs / 2.0
        by_weight = censoring.moved(censoring.slot, self.power * as_first)
        scale = len(code) / float(pairs.sum())
        # A row that comes before all others is at an end.
        low, high = scale * (len(code) - 1.0) * np.array([-value, 1.0 - value])
        return scale * (as_first + as_second + by_weight), (low, high)


class UnoMeasure(HarrellMeasure):
    power = 2.0


def _signs_before(code: FloatArray, score: FloatArray, weight: Any = None) -> FloatArray:
    """Sums over rows of lower codes of the sign by which a score exceeds theirs.

    Times the product of the weights of both rows. Shape (n_rows,).
    """
    n, signs = len(code), np.zeros(len(code))
    level: IntArray = np.unique(score, return_inverse=True)[1].astype(np.uint32)
    opposite = level.max() - level
    for sign, of_side, other in ((1.0, level, opposite), (-1.0, opposite, level)):
        order = np.lexsort((other, code))  # so that no rows of a code are a pair
        sums = sums_over_pairs(of_side[order], np.array([0, n]), np.arange(n), take(weight, order))
        signs[order] += sign * sums
    return signs


def order_of_events(late: LateLabels, given: dict[str, Any]) -> tuple[Measure, FloatArray, str]:
    """The measure, the grades of the rows in order of risk, and what the pairs are."""
    for name in ("pool", "strata", "mature_only", "qid"):
        if given.get(name) is not None and given[name] is not False:
            raise ValueError(
                f"{name} is not supported by c_index of times of events: leave it out."
            )
    if (wrong := (late.labels == 0.0) & (late.watched < late.horizon)).any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"Row {row} was resolved without an event, but c_index compares times of events: pass"
            " no time as resolved of such rows, and as as_of the time until which each row was"
            " watched."
        )
    is_event = late.labels == 1.0
    grades = -2.0 * np.unique(late.watched, return_inverse=True)[1] - ~is_event
    if not is_event.any() or grades[is_event].max() == grades.min():
        raise ValueError("No event came while another row was watched: pass rows with events.")
    if not isfinite(late.horizon):
        return HarrellMeasure(), grades, "pairs of which the first event is known (Harrell's C)"
    if not late.mature.any():
        raise ValueError(
            f"No row was watched for the horizon, which is {late.horizon:g} days: pass a shorter"
            " one, or none for Harrell's C, the share of the pairs that are known."
        )
    how = (
        "pairs weighted by the inverse probability of censoring, taken as independent of the score"
    )
    return UnoMeasure(), grades, f"{how} (Uno's C)"
