"""The rows of one list, each pair of a score and a label once: what measures of any size keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._lists import ScoredLists
from .._typing import AnyArray, BoolArray, FloatArray

__all__ = ["ScoreTable", "SingleWeights", "TableLists"]


@dataclass(frozen=True)
class SingleWeights:
    """What is known of the weights of single rows, which a table adds up.

    Parameters
    ----------
    n_rows : int
        Number of rows, each counted once.
    lightest : float, default=1
        Smallest weight.
    heaviest : float, default=1
        Largest weight.
    whole : bool, default=True
        Whether all are whole numbers.
    """

    n_rows: int
    lightest: float = 1.0
    heaviest: float = 1.0
    whole: bool = True

    @classmethod
    def of_rows(cls, n_rows: int, weight: FloatArray | None) -> SingleWeights:
        """Find what is to be known of the weights of some rows.

        Parameters
        ----------
        n_rows : int
            Number of rows, at least 1.
        weight : ndarray of shape (n_rows,) or None
            Positive weights; None is 1 for each.

        Returns
        -------
        SingleWeights
            That.
        """
        if weight is None:
            return cls(n_rows)
        whole = bool(np.all(weight == np.floor(weight)))
        return cls(n_rows, float(weight.min()), float(weight.max()), whole)

    def __or__(self, other: SingleWeights) -> SingleWeights:
        if not self.n_rows or not other.n_rows:
            return self if self.n_rows else other
        return SingleWeights(
            self.n_rows + other.n_rows,
            min(self.lightest, other.lightest),
            max(self.heaviest, other.heaviest),
            self.whole and other.whole,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class TableLists(ScoredLists):
    """One list whose equal rows stand as one of their weight.

    Parameters
    ----------
    single : SingleWeights
        What is known of the weights of the rows.
    """

    single: SingleWeights

    @cached_property
    def whole(self) -> BoolArray:
        """Whether all weights of rows are whole numbers: repetitions."""
        return np.array([self.single.whole])

    @cached_property
    def smallest(self) -> FloatArray:
        """Smallest weight of a row."""
        return np.array([self.single.lightest])

    @cached_property
    def has_equal_weights(self) -> bool:
        """Whether there are two rows and all weights of rows are equal."""
        return self.single.n_rows > 1 and self.single.lightest == self.single.heaviest


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Distinct pairs of a score and a label, and how often each occurs.

    Tables are not changed once they are made. A row takes the bytes of its score, of its label
    (1 of a class, 8 of a grade) and, where a row occurs more than once, 8 of its weight.

    Parameters
    ----------
    score : ndarray of shape (n,)
        Scores without NaN, ascending.
    label : ndarray of shape (n,)
        Of two classes: bool, whether the row is positive. Else float64: its grade. Ascending
        among equal scores.
    weight : ndarray of shape (n,) or None
        How often each counts; None is 1 for each.
    single : SingleWeights
        What is known of the weights of the rows of which the table was made.
    """

    score: AnyArray
    label: AnyArray
    weight: FloatArray | None
    single: SingleWeights

    @classmethod
    def of_rows(
        cls, score: AnyArray, label: AnyArray, weight: FloatArray | None = None
    ) -> ScoreTable:
        """Make the table of some rows in any order.

        Parameters
        ----------
        score : ndarray of shape (n,)
            Scores without NaN.
        label : ndarray of shape (n,)
            Whether each is positive, or its grade.
        weight : ndarray of shape (n,) or None, default=None
            Positive weights; None is 1 for each.

        Returns
        -------
        ScoreTable
            The table.
        """
        single = SingleWeights.of_rows(len(score), weight)
        if score.dtype.kind == "f":
            score = score + score.dtype.type(0.0)  # which makes one zero of both
        return cls(*_collapsed(score, label, weight), single)

    @classmethod
    def merged(cls, tables: Sequence[ScoreTable]) -> ScoreTable:
        """Make one table of several.

        Parameters
        ----------
        tables : sequence of ScoreTable
            At least one, of labels of one kind.

        Returns
        -------
        ScoreTable
            The table of the rows of all of them.
        """
        if len(tables) == 1:
            return tables[0]
        single = SingleWeights(0)
        for table in tables:
            single |= table.single
        weight = None
        if any(table.weight is not None for table in tables):
            weight = np.concatenate([table.counts for table in tables])
        score = np.concatenate([table.score for table in tables])
        label = np.concatenate([table.label for table in tables])
        return cls(*_collapsed(score, label, weight), single)

    def merge(self, other: ScoreTable) -> ScoreTable:
        """Make one table of this one and another.

        Parameters
        ----------
        other : ScoreTable
            A table of labels of the same kind.

        Returns
        -------
        ScoreTable
            The table of the rows of both.
        """
        return ScoreTable.merged([self, other])

    def __len__(self) -> int:
        return len(self.score)

    @property
    def counts(self) -> FloatArray:
        """How often each row counts."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def n_rows(self) -> int:
        """Number of rows of which the table was made, each counted once."""
        return self.single.n_rows

    @property
    def nbytes(self) -> int:
        """Memory of the table."""
        weight = 0 if self.weight is None else self.weight.nbytes
        return self.score.nbytes + self.label.nbytes + weight

    def to_lists(self) -> TableLists:
        """Make the list that measures are of.

        Returns
        -------
        TableLists
            One list without an id.
        """
        return TableLists(
            labels=self.label,
            offsets=np.array([0, len(self)]),
            weight=self.weight,
            score=self.score,
            single=self.single,
        )


def _collapsed(
    score: AnyArray, label: AnyArray, weight: FloatArray | None
) -> tuple[AnyArray, AnyArray, FloatArray | None]:
    """Sort rows by score and label, and make one of equal ones."""
    # The stable sorts below take linear time for a few sorted runs.
    order = np.lexsort((label, score))
    score, label = score[order], label[order]
    new = np.ones(len(score), dtype=bool)
    new[1:] = (score[1:] != score[:-1]) | (label[1:] != label[:-1])
    weight = None if weight is None else weight[order]
    if new.all():
        return score, label, weight
    starts = np.flatnonzero(new)
    if weight is None:
        weight = np.diff(starts, append=len(score)).astype(np.float64)
    else:
        weight = np.add.reduceat(weight, starts)
    return score[starts], label[starts], weight
