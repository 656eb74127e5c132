"""RankBoost for two classes, and its weak rankings: stumps with exact thresholds, and features.

Freund, Iyer, Schapire and Singer (2003). The weight of a pair of a negative and a positive row is
the product of a weight of each, so that no pair is ever formed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from .._typing import AnyArray, BoolArray, FloatArray


def by_columns(X: Any) -> Any:
    """Rows in a form that has fast columns. Shape (n_rows, n_features)."""
    if not sp.issparse(X):
        return X
    columns = sp.csc_array(X, copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns


def column(X: Any, j: int) -> FloatArray:
    if not sp.issparse(X):
        return np.asarray(X[:, j])
    values = np.zeros(X.shape[0])
    part = slice(X.indptr[j], X.indptr[j + 1])
    values[X.indices[part]] = X.data[part]
    return values


def column_ranges(X: Any) -> FloatArray:
    """Largest less smallest value of each column. Shape (n_features,)."""
    if sp.issparse(X):
        return np.asarray((X.max(axis=0) - X.min(axis=0)).toarray()).ravel()
    return np.asarray(np.ptp(X, axis=0))


# Rankings whose |r| differs by less are equally good, since sums of weights are rounded.
SAME = 1e-12


class WeakRanking(NamedTuple):
    """A weak ranking, its values on the rows, of a range up to 1, and how well it orders pairs."""

    ranking: Any
    values: AnyArray
    r: float


# Of the signed weights of the rows, those of a class of sum 1: a weak ranking h of large ``|r|``,
# ``r = signed @ h``, if any.
WeakSearch: TypeAlias = Callable[[FloatArray], WeakRanking | None]


@dataclass(frozen=True)
class Stump:
    """Whether a feature exceeds a threshold."""

    feature: int
    threshold: float

    def values(self, X: Any) -> AnyArray:
        return column(X, self.feature) > self.threshold


class Stumps:
    """All stumps of the features of some rows, which are sorted by each column.

    Of the column j, ``order[begin[j]:split[j]]`` are rows by ascending value from the lowest on,
    and ``order[split[j]:begin[j + 1]]``, of a sparse one those above 0, by descending value. A
    threshold may lie after the rows of which the next value differs, the ``ends``.
    """

    def __init__(self, X: Any) -> None:
        self._matrix = X
        n, d = X.shape
        begin = X.indptr if sp.issparse(X) else n * np.arange(d + 1)
        self.begin = begin.astype(np.int64)
        self.order = np.empty(self.begin[-1], dtype=np.int32)
        self.ends = np.empty(self.begin[-1], dtype=bool)
        self.split = self.begin[1:].copy()
        for j in range(d):
            self._sort(j)

    def _sort(self, j: int) -> None:
        X, begin = self._matrix, self.begin[j]
        if sp.issparse(X):
            part = slice(X.indptr[j], X.indptr[j + 1])
            rows, values = X.indices[part], X.data[part]
        else:
            rows, values = np.arange(X.shape[0]), np.ascontiguousarray(X[:, j])
        by_value = np.argsort(values)
        rows, values = rows[by_value], values[by_value]
        has_zeros = len(values) < X.shape[0]
        n_low = int(np.searchsorted(values, 0.0)) if has_zeros else len(values)
        self.split[j] = begin + n_low
        for part, step in ((slice(None, n_low), 1), (slice(n_low, None), -1)):
            part_rows, part_values = rows[part][::step], values[part][::step]
            if len(part_rows) == 0:
                continue
            places = slice(begin, begin + len(part_rows))
            self.ends[places] = np.append(part_values[1:] != part_values[:-1], has_zeros)
            self.order[places] = part_rows
            begin += len(part_rows)

    def threshold(self, j: int, place: int) -> float:
        descending = place >= self.split[j]
        end = self.begin[j + 1] if descending else self.split[j]
        rows = self.order[place : min(place + 2, end)]
        values = column(self._matrix, j)[rows]
        value, next_value = float(values[0]), float(values[1]) if len(values) > 1 else 0.0
        low, high = (next_value, value) if descending else (value, next_value)
        # Halved before they are added, so that large values do not overflow.
        middle = low / 2 + high / 2
        return middle if low <= middle < high else low

    def best(self, signed: FloatArray) -> WeakRanking | None:
        """Stump of the largest ``|r|``; of equal ones the first feature, the lowest threshold."""
        j = _first_of_best(self._largest_sums(signed))
        place, r = self._best_place(signed, j)
        if r == 0.0:
            return None
        stump = Stump(j, self.threshold(j, place))
        return WeakRanking(stump, stump.values(self._matrix), r)

    def _largest_sums(self, signed: FloatArray) -> FloatArray:
        """Largest size of a sum of ``signed`` up to an end, of each feature."""
        sums = signed[self.order]
        starts = np.stack((self.begin[:-1], self.split), axis=1).ravel()
        used = np.flatnonzero(np.diff(starts, append=self.begin[-1]))
        largest = np.zeros(len(starts))
        if len(used):
            starts = starts[used]
            # Sums begin anew at each start.
            sums[starts[1:]] -= np.add.reduceat(sums, starts)[:-1]
            np.cumsum(sums, out=sums)
            sums *= self.ends
            highest, lowest = np.maximum.reduceat(sums, starts), np.minimum.reduceat(sums, starts)
            largest[used] = np.maximum(highest, -lowest)
        return largest.reshape(-1, 2).max(axis=1)

    def _best_place(self, signed: FloatArray, j: int) -> tuple[int, float]:
        """End of the largest sum of a feature, of equal ones the lowest threshold; its r."""
        best = 0, 0.0
        for begin, end, step in (
            (self.begin[j], self.split[j], 1),
            (self.split[j], self.begin[j + 1], -1),
        ):
            sums = np.cumsum(signed[self.order[begin:end]]) * self.ends[begin:end]
            size = np.abs(sums[::step])
            # From the lowest threshold on, which is the last where values descend.
            if len(size) and size.max() > abs(best[1]) + SAME:
                place = int(np.argmax(size >= size.max() - SAME))
                place = place if step > 0 else len(size) - 1 - place
                best = int(begin) + place, -step * float(sums[place])
        return best


@dataclass(frozen=True)
class FeatureRanking:
    """A feature, divided by its range."""

    feature: int
    range: float  # Its largest less its smallest value

    def values(self, X: Any) -> AnyArray:
        return column(X, self.feature) / self.range


def best_feature(X: Any) -> WeakSearch:
    """Search for the feature of the largest ``|r|``, divided by its range; constant ones never."""
    ranges = column_ranges(X)

    def best(signed: FloatArray) -> WeakRanking | None:
        r = np.zeros(len(ranges))
        np.divide(X.T @ signed, ranges, out=r, where=ranges > 0)
        j = _first_of_best(r)
        if ranges[j] == 0:
            return None
        ranking = FeatureRanking(j, float(ranges[j]))
        return WeakRanking(ranking, ranking.values(X), float(r[j]))

    return best


def _first_of_best(r: FloatArray) -> int:
    """First entry whose size is, but for rounding, the largest."""
    size = np.abs(r)
    return int(np.argmax(size >= size.max() - SAME))


# A weak ranking that some of the pairs contradict by rounding alone gets no larger coefficient.
LARGEST_STEP = 5.0


class PairWeights:
    """The weights of pairs of a negative row a and a positive row b, given scores H of the rows.

    They are proportional to ``w_a w_b exp(H(a) - H(b))``, products of a weight of each row.
    """

    def __init__(self, positive: BoolArray, weight: FloatArray) -> None:
        self._sign = np.where(positive, 1.0, -1.0)
        self._classes = [np.flatnonzero(positive == kind) for kind in (False, True)]
        masses = [weight[rows].sum() for rows in self._classes]
        self._log_odds_of_masses = float(np.log(masses[0]) - np.log(masses[1]))
        self._log_share = np.log(weight)
        for rows, mass in zip(self._classes, masses, strict=True):
            self._log_share[rows] -= np.log(mass)
        self.scores = np.zeros(len(weight))
        self.signed = np.empty(len(weight))
        self._weigh()

    def _weigh(self) -> None:
        """Weights from the logarithms, which neither overflow nor lose what is small."""
        exponent = self._log_share - self._sign * self.scores
        self._log_sums = []
        for rows in self._classes:
            largest = exponent[rows].max()
            weights = np.exp(exponent[rows] - largest)
            total = weights.sum()
            self.signed[rows] = self._sign[rows] * (weights / total)
            self._log_sums.append(float(largest + np.log(total)))

    def add(self, amount: AnyArray) -> None:
        self.scores += amount
        self._weigh()

    @property
    def log_loss(self) -> float:
        """Logarithm of the mean over pairs of ``exp(H(a) - H(b))``, by their first weights."""
        return self._log_sums[0] + self._log_sums[1]

    @property
    def threshold(self) -> float:
        """Threshold t of the scores H of the least ``sum_a w_a e^(H-t) + sum_b w_b e^(t-H)``."""
        return 0.5 * (self._log_odds_of_masses + self._log_sums[0] - self._log_sums[1])


class RankBoostResult(NamedTuple):
    """Result of boosting."""

    rankings: list[Any]  # The weak rankings, one a round
    alphas: FloatArray  # (n_rounds,): Their coefficients
    log_loss: FloatArray  # (n_rounds,): Logarithm of the exponential loss after each round
    thresholds: FloatArray
    largest_r: float
    converged: bool


def rank_boost(
    search: WeakSearch,
    pairs: PairWeights,
    n_rounds: int,
    *,
    learning_rate: float,
    tol: float,
    is_exact: bool = True,
    on_round: Callable[[float, float], None] = lambda alpha, log_loss: None,
) -> RankBoostResult:
    """Boost weak rankings, of which one with ``|r|`` of at most ``tol`` is of no use.

    ``is_exact`` says whether the search finds the best of all.
    """
    # Weak ranking, coefficient, logarithm of the loss and threshold of each round.
    rounds: list[tuple[Any, float, float, float]] = []
    separates, best = False, None
    for _ in range(n_rounds):
        best = search(pairs.signed)
        if best is None or abs(best.r) <= tol:
            break
        separates = abs(best.r) >= 1.0 - SAME
        if separates:
            # No pair is against it: it decides, and the rankings before it order within.
            total = np.sum(np.abs([alpha for _, alpha, *_ in rounds]))
            alpha = np.copysign(max(LARGEST_STEP, 1.0 + total), best.r)
        else:
            alpha = learning_rate * np.clip(np.arctanh(best.r), -LARGEST_STEP, LARGEST_STEP)
        pairs.add(alpha * best.values)
        rounds.append((best.ranking, float(alpha), pairs.log_loss, pairs.threshold))
        best = None
        on_round(float(alpha), pairs.log_loss)
        if separates:
            break
    if best is None and is_exact:
        best = search(pairs.signed)
    none = 0.0 if is_exact else float("nan")
    largest_r = none if best is None else abs(best.r)
    alphas, log_loss, thresholds = (np.array([x[k] for x in rounds]) for k in (1, 2, 3))
    chosen, converged = [ranking for ranking, *_ in rounds], separates or largest_r <= tol
    return RankBoostResult(chosen, alphas, log_loss, thresholds, largest_r, converged)
