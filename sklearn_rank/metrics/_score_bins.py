"""Weights of the classes in bins of scores: a tree over the bits of the scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray

# The sign, the exponent and 6 more bits of a score make a bin at first.
ROOT_BITS = 18
# Bins into which a bin that is too large is divided, as a power of 2.
NODE_BITS = 14

# Rows that are counted at once.
CHUNK = 2**16

# What happens to the rows of a bin, beside those of the kernels: they count no more.
COUNT, TAKE, REST, DONE = -1, -2, -3, -4

# Cells that are no bins: rows that are kept now, and rows whose order has been seen.
KEPT, SEEN = -1, -2

_ENDS = (np.iinfo(np.int64).max, np.iinfo(np.int64).min)


@dataclass(frozen=True, eq=False)
class Cells:
    """Bins that hold rows, by ascending score."""

    low: IntArray  # (n,): Lowest and highest code of a row of each
    high: IntArray  # (n,): Lowest and highest code of a row of each
    neg: FloatArray  # (n,): Weight of the negatives and of the positives of each
    pos: FloatArray  # (n,): Weight of the negatives and of the positives of each
    n_rows: IntArray  # (n,): Number of rows of each, or fewer where equal rows came as one
    bin: IntArray  # (n,): Bin that each is; KEPT or SEEN for what is a part of one

    def __len__(self) -> int:
        return len(self.low)

    def at(self, which: AnyArray) -> Cells:
        """Take some of them."""
        return Cells(
            self.low[which],
            self.high[which],
            self.neg[which],
            self.pos[which],
            self.n_rows[which],
            self.bin[which],
        )

    @classmethod
    def joined(cls, parts: list[Cells]) -> Cells:
        """Put several together, by ascending score. All of them."""
        together = cls(
            np.concatenate([one.low for one in parts]),
            np.concatenate([one.high for one in parts]),
            np.concatenate([one.neg for one in parts]),
            np.concatenate([one.pos for one in parts]),
            np.concatenate([one.n_rows for one in parts]),
            np.concatenate([one.bin for one in parts]),
        )
        return together.at(np.argsort(together.low))

    @property
    def mixed(self) -> BoolArray:
        """Which hold both classes at more than one score, in an order that is not known."""
        return (self.neg > 0) & (self.pos > 0) & (self.low < self.high) & (self.bin >= 0)


def _more(n: int) -> int:
    return n + n // 4 + 64


class TakenRows:
    """Rows of the bins of which all are kept, class by class."""

    def __init__(self, n_neg: int, n_pos: int, weighted: bool) -> None:
        self.taken = np.zeros(2, dtype=np.int64)
        self.codes = [np.empty(n, dtype=np.int64) for n in (n_neg, n_pos)]
        # Of rows without weights there is no entry.
        self.weights = [np.empty(n + 1 if weighted else 0) for n in (n_neg, n_pos)]

    def grow(self) -> None:
        """Make room for more rows."""
        self.codes = [np.resize(codes, _more(len(codes))) for codes in self.codes]
        self.weights = [
            np.resize(weights, _more(len(weights))) if len(weights) else weights
            for weights in self.weights
        ]

    def sort(self) -> None:
        """Sort the rows of each class by score, in place."""
        for one in (0, 1):
            n = int(self.taken[one])
            self.codes[one] = self.codes[one][:n]
            if len(self.weights[one]):
                order = np.argsort(self.codes[one])
                self.weights[one] = self.weights[one][:n][order]
                self.codes[one] = self.codes[one][order]
            else:
                self.codes[one].sort()

    def masses(self) -> list[float]:
        """Weights of the negatives and of the positives that are kept. These two."""
        return [
            float(weights.sum()) if len(weights) else float(n)
            for weights, n in zip(self.weights, self.taken.tolist(), strict=True)
        ]

    def cells(self, low: IntArray, high: IntArray) -> Cells:
        """Find what cells hold of sorted rows."""
        masses, n_rows = [], np.zeros(len(low), dtype=np.int64)
        for codes, weights in zip(self.codes, self.weights, strict=True):
            begin, end = np.searchsorted(codes, low), np.searchsorted(codes, high, "right")
            mass = (end - begin).astype(np.float64)
            n_rows += end - begin
            if len(weights):
                upto = np.append(0.0, np.cumsum(weights))
                mass = np.where(end > begin, upto[end] - upto[begin], 0.0)
            masses.append(mass)
        return Cells(low, high, masses[0], masses[1], n_rows, np.full(len(low), KEPT))

    def edges_within(self, low: int, high: int, most: int) -> IntArray:
        """Cut a range of scores where its sorted rows are too many. Shape (n,)."""
        edges: list[int] = []
        place = [int(np.searchsorted(codes, low)) for codes in self.codes]
        while True:
            ahead = [at + most // 2 for at in place]
            found = [
                int(codes[at])
                for codes, at in zip(self.codes, ahead, strict=True)
                if at < len(codes)
            ]
            edge = min(found, default=high + 1)
            if edge == (edges[-1] if edges else low):
                edge += 1  # behind rows that are equal
            if edge > high:
                return np.array(edges, dtype=np.int64)
            edges.append(edge)
            place = [int(np.searchsorted(codes, edge)) for codes in self.codes]

    def blocks(self, inside: list[slice], whole: Cells) -> tuple[FloatArray, FloatArray]:
        """Blocks of tied rows, ascending, with cells of which no rows are kept among them.

        Weights of the classes; neighbouring blocks of one class come as one. Shape (n_blocks,).
        """
        from ._table_kernels import blocks_between

        rows = []
        for codes, weights, part in zip(self.codes, self.weights, inside, strict=True):
            rows += [codes[part], weights[part] if len(weights) else weights]
        size = 2 * (min(len(rows[0]), len(rows[2])) + len(whole)) + 1
        neg, pos = np.empty(size), np.empty(size)
        n = blocks_between(*rows, whole.low, whole.neg, whole.pos, neg, pos)
        return neg[:n], pos[:n]


class ScoreBins:
    """Weights of the classes in bins of scores.

    A bin holds the scores whose codes begin with the same bits; one that is too large for its rows
    to be kept is divided by further bits. It takes 14 MB, and 1 more for each division.
    """

    def __init__(self) -> None:
        n_bins = 2**ROOT_BITS
        self._shift = np.array([64 - ROOT_BITS])
        self._base = np.array([-n_bins // 2])
        self._first = np.array([0])
        self._child = np.full(n_bins, COUNT, dtype=np.int64)
        self._count = np.zeros((n_bins, 2), dtype=np.int64)
        self._mass = np.zeros((n_bins, 2))
        self._ends = np.tile(np.array(_ENDS), (n_bins, 1))

    def add(
        self,
        score: AnyArray,
        positive: BoolArray,
        weight: FloatArray | None,
        rows: TakenRows | None = None,
    ) -> None:
        """Count rows, and keep those of the bins of which all are kept."""
        from ._table_kernels import scan

        rows = TakenRows(0, 0, False) if rows is None else rows
        weight = np.empty(0) if weight is None else weight
        tree = (self._shift, self._base, self._first, self._child)
        counts = (self._count, self._mass, self._ends, rows.taken)
        n_done = 0
        while n_done < len(score):
            # Some at a time, whose copies in another type take no memory.
            part = slice(n_done, n_done + CHUNK)
            bits = np.ascontiguousarray(score[part], dtype=np.float64).view(np.int64)
            given = bits, positive[part], np.ascontiguousarray(weight[part])
            stopped = scan(*given, *tree, *counts, *rows.codes, *rows.weights)
            n_done += len(bits) if stopped < 0 else stopped
            if stopped >= 0:
                rows.grow()

    def count_repetitions(self) -> None:
        """Take the weights of the bins for numbers of rows."""
        self._count = self._mass.astype(np.int64)

    def merge(self, other: ScoreBins) -> None:
        """Add the rows of other bins; neither has a bin that was divided."""
        self._count += other._count
        self._mass += other._mass
        low, high = other._ends.T
        np.minimum(self._ends[:, 0], low, out=self._ends[:, 0])
        np.maximum(self._ends[:, 1], high, out=self._ends[:, 1])

    def cells(self) -> Cells:
        """Find the bins that hold rows."""
        bins = np.flatnonzero((self._child < 0) & (self._child > DONE) & self._count.any(axis=1))
        low, high = self._ends[bins].T
        neg, pos = self._mass[bins].T
        cells = Cells(low, high, neg, pos, self._count[bins].sum(axis=1), bins)
        return cells.at(np.argsort(low))

    def masses(self) -> FloatArray:
        """Weights of the negatives and of the positives. These, whatever has been divided."""
        leaves = self._child < 0
        return self._mass[leaves].sum(axis=0)

    def is_taken(self, bins: IntArray) -> BoolArray:
        """Say of which bins the rows are kept now. Whether they are. Shape (n,)."""
        return (bins >= 0) & (self._child[np.maximum(bins, 0)] == TAKE)

    def read_again(self, taken: IntArray, divided: IntArray, weighted: bool) -> TakenRows:
        """Say what happens to rows that come again. Room for the rows that are kept."""
        self._child[(self._child < 0) & (self._child > DONE)] = REST
        self._child[taken] = TAKE
        for one in divided:
            self._divide(int(one))
        n_neg, n_pos = self._count[taken].sum(axis=0).tolist()
        return TakenRows(n_neg, n_pos, weighted)

    def _divide(self, one: int) -> None:
        low, high = self._ends[one].tolist()
        shift = 0
        while (high >> shift) - (low >> shift) >= 2**NODE_BITS:
            shift += 1
        base = low >> shift
        n_bins = (high >> shift) - base + 1
        self._child[one] = len(self._shift)
        self._shift = np.append(self._shift, shift)
        self._base = np.append(self._base, base)
        self._first = np.append(self._first, len(self._child))
        self._child = np.append(self._child, np.full(n_bins, COUNT))
        self._count = np.concatenate([self._count, np.zeros((n_bins, 2), dtype=np.int64)])
        self._mass = np.concatenate([self._mass, np.zeros((n_bins, 2))])
        self._ends = np.concatenate([self._ends, np.tile(np.array(_ENDS), (n_bins, 1))])

    def finish(self) -> None:
        """Be done with the bins whose rows are kept."""
        self._child[self._child == TAKE] = DONE

    def start_again(self) -> None:
        """Forget what was counted since rows began to come again."""
        counting = self._child == COUNT
        self._count[counting] = 0
        self._mass[counting] = 0.0
        self._ends[counting] = _ENDS
