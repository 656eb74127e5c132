"""Sums over groups of dependent rows; the groups are independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._codes import Coded
from .._lists import group_rows
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import check_qid

__all__ = [
    "GroupPart",
    "Groups",
    "Spread",
    "check_groups",
    "check_groups_of_samples",
    "check_groups_of_two",
    "each_alone",
    "robust_sums",
]


@dataclass(frozen=True, eq=False)
class Groups:
    """Group of each of some rows."""

    codes: IntArray
    n_groups: int  # Number of groups, some of which may hold none of these rows

    def only(self, kept: Any) -> Groups:
        """Keep some rows. Their groups, numbered as before."""
        return Groups(self.codes[kept], self.n_groups)

    def sizes(self, kept: BoolArray | None = None) -> FloatArray:
        """Count the rows of each group. Shape (n_groups,)."""
        codes = self.codes if kept is None else self.codes[kept]
        return np.bincount(codes, minlength=self.n_groups).astype(np.float64)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum values over the rows of each group.

        Shape (n_groups,) or (n_statistics, n_groups).
        """
        if values.ndim == 1:
            weights = values.astype(np.float64, copy=False)
            return np.bincount(self.codes, weights, self.n_groups).astype(np.float64, copy=False)
        return np.stack([self.sums(row) for row in values])


def each_alone(n: int) -> Groups:
    """Make each row a group."""
    return Groups(np.arange(n), n)


def check_groups(groups: Any, n: int, *, name: str = "groups") -> Groups | None:
    """Check the ids of groups of rows. The groups, of which there are at least two."""
    if groups is None:
        return None
    ids = check_qid(groups, n, name=name)
    try:
        _, offsets, rows = group_rows(ids, by_appearance=True)
    except ValueError:
        raise ValueError(
            f"{name} mixes ids of different types: make all ids numbers or all strings."
        ) from None
    found = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    if rows is not None:
        codes = np.empty(n, dtype=np.intp)
        codes[rows] = found
        found = codes
    if len(offsets) == 2:
        raise ValueError(
            f"{name} has one group only, but the variance is estimated between groups: pass the"
            " ids of at least two groups."
        )
    return Groups(found, len(offsets) - 1)


def check_groups_of_two(groups: Any, n_first: int, n_second: int) -> Groups | None:
    """Check the ids of groups of the rows of two samples, which may share groups."""
    if groups is None:
        return None
    if not isinstance(groups, tuple | list) or len(groups) != 2 or np.ndim(groups[0]) == 0:
        raise ValueError(
            "groups must be a pair, the group ids of the first and of the second sample: pass"
            " (groups_first, groups_second)."
        )
    return _joined(groups, [n_first, n_second])


def check_groups_of_samples(
    groups: Sequence[Any] | None, sizes: Sequence[int]
) -> list[Groups | None]:
    """Check the ids of groups of the rows of several samples, which may share groups."""
    if groups is None:
        return [None] * len(sizes)
    joined = _joined(groups, sizes)
    ends = np.cumsum(sizes)
    return [joined.only(slice(end - n, end)) for n, end in zip(sizes, ends, strict=True)]


def _joined(groups: Sequence[Any], sizes: Sequence[int]) -> Groups:
    """Groups of the rows of all samples, one after the other."""
    ids = [
        _values(check_qid(one, n, name=f"groups[{i}]"))
        for i, (one, n) in enumerate(zip(groups, sizes, strict=True))
    ]
    if len({one.dtype.kind in "US" for one in ids}) > 1:
        ids = [one.astype(object) for one in ids]
    found = check_groups(np.concatenate(ids), sum(sizes))
    if found is None:
        raise ValueError("groups is None: pass the ids of the groups.")
    return found


def _values(ids: AnyArray | Coded) -> AnyArray:
    return ids.distinct[ids.codes] if isinstance(ids, Coded) else ids


@dataclass(frozen=True, eq=False)
class GroupPart:
    """Contribution of the rows of one class of one sample to statistics, group by group."""

    sums: FloatArray
    sizes: FloatArray  # (n_groups,): Number of rows of the part in each group, or their weight
    sampled: bool = False
    share: FloatArray = field(init=False)  # (n_groups,): Share of the rows in each group
    count: int = field(init=False)  # Number of groups that hold rows
    worth: float = field(init=False)
    effective: float = field(init=False)

    def __post_init__(self) -> None:
        squares = self.sizes**2
        object.__setattr__(self, "share", self.sizes / self.sizes.sum())
        count = int(np.count_nonzero(self.sizes))
        worth = self.sizes.sum() ** 2 / squares.sum() if self.sampled else count
        object.__setattr__(self, "count", count)
        object.__setattr__(self, "worth", float(worth))
        object.__setattr__(self, "effective", float(squares.sum() ** 2 / (squares**2).sum()))

    @classmethod
    def of_rows(
        cls, values: FloatArray, groups: Groups, weight: FloatArray | None = None
    ) -> GroupPart:
        """Sum the rows of a part."""
        if weight is not None:
            share = weight / weight.sum()
            apart = values - (values @ share)[:, np.newaxis]
            return cls(groups.sums(apart * share), groups.sums(weight / weight.max()), True)
        apart = values - values.mean(axis=1, keepdims=True)
        return cls(groups.sums(apart / values.shape[1]), groups.sizes())

    def corrected(self) -> FloatArray:
        """Correct for the mean that was estimated from the same groups.

        The sums over ``sqrt(1 - share)``; NaN for a group that holds all rows. Shape
        (n_statistics, n_groups).
        """
        left = np.where(self.share < 1.0, 1.0 - self.share, np.nan)
        return self.sums / np.sqrt(left)


def robust_sums(parts: Sequence[GroupPart]) -> FloatArray:
    """Sum the parts by group, each corrected for the mean that was estimated from the same groups.

    A sum is divided by ``sqrt(1 - share)``: without bias where rows are independent, and then the
    sample variance over the number of rows (Bell & McCaffrey 2002, CR2 with the classes as
    regressors).
    """
    return np.sum([part.corrected() for part in parts], axis=0)


@dataclass(frozen=True, eq=False)
class Spread:
    """Independent parts of a covariance, with the degrees of freedom of each."""

    covariances: FloatArray  # (n_parts, n_statistics, n_statistics)
    degrees: FloatArray  # (n_parts,): Degrees of freedom of each, at least 1
    overlap: FloatArray

    @classmethod
    def of_groups(cls, parts: Sequence[GroupPart]) -> Spread:
        """Describe the covariance of sums over groups."""
        profile = np.stack([part.share**2 for part in parts])
        profile /= np.sqrt((profile**2).sum(axis=1, keepdims=True))
        return cls(
            np.stack([part.corrected() @ part.corrected().T for part in parts]),
            np.array([max(part.effective - 1.0, 1.0) for part in parts]),
            profile @ profile.T,
        )

    def of(self, contrast: FloatArray) -> float:
        """Find the degrees of freedom of the variance of a contrast."""
        return self.least(contrast[np.newaxis])

    def least(self, contrasts: FloatArray) -> float:
        """Find the least degrees of freedom of the variances of several contrasts."""
        variances = np.stack(
            [np.einsum("mi,mi->m", contrasts @ one, contrasts) for one in self.covariances]
        )
        # Rounding may leave a variance just below 0.
        variances = np.maximum(variances, 0.0)
        if not np.isfinite(variances).all() or not variances.any(axis=0).all():
            return float(self.degrees.min())
        weight = variances / variances.sum(axis=0)
        weight /= np.sqrt(self.degrees)[:, np.newaxis]
        return float(1.0 / np.einsum("pm,pm->m", self.overlap @ weight, weight).max())
