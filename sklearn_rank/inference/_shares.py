"""Limits of a sum of two shares of rows, from the limits of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import hypot, inf, isinf, sqrt
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray
from ..metrics._shared import Evidence, independent_units
from ._joint import GroupPart
from ._limits import Limits, share_limits
from ._moments import Moments


@dataclass(frozen=True, eq=False, kw_only=True)
class JoinedShares(Moments):
    """Two factors times shares of rows, or times their odds; the terms are correlated.

    The distances of their limits are added as correlated deviations are (Zou & Donner 2008).
    """

    method: str = "joined shares"
    factors: FloatArray  # (2,)
    are_odds: BoolArray  # (2,)
    shares: FloatArray  # (2,)
    draws: FloatArray  # (2,): Effective numbers of draws
    degrees: FloatArray  # (2,): Degrees of freedom of the variances
    correlation: float
    n: float  # Number of items
    allowed: Limits  # Least and largest value

    @classmethod
    def of(cls, evidence: Evidence, **more: Any) -> JoinedShares:
        """Moments of the terms of a measure of one list."""
        data, groups = evidence.data, evidence.groups
        columns = zip(*evidence.measure.shares(data), strict=True)
        factors, hits, among, are_odds = (np.array(column) for column in columns)
        draws, degrees = among @ data.counts, np.full(2, inf)
        shares = hits @ data.counts / draws
        moved = (hits - shares[:, np.newaxis] * among) / draws[:, np.newaxis]
        if groups is None:
            covariance = (moved * data.counts) @ moved.T
        else:
            sums = groups.sums(moved)
            units, _ = independent_units(sums, groups.times)
            covariance = units @ units.T
            for i, rows in enumerate(among):
                part = GroupPart(sums[i : i + 1], groups.sizes(rows), times=groups.times)
                draws[i] = min(part.draws_of_share(float(shares[i]))[0], draws[i])
                degrees[i] = part.degrees
        covariance *= np.outer(factors, factors)
        root = sqrt(covariance[0, 0] * covariance[1, 1])
        return cls(
            estimate=evidence.value,
            n=float(data.sizes[0]),
            allowed=evidence.measure.range,
            factors=factors,
            are_odds=are_odds,
            shares=shares,
            draws=draws,
            degrees=degrees,
            # Where no item moves one of the shares, they are not correlated.
            correlation=min(max(covariance[0, 1] / root, -1.0), 1.0) if root else 0.0,
            **more,
        )

    def limits(self, level: float) -> Limits:
        of_shares = share_limits(self.shares, self.draws, level, self.degrees)
        shares = np.stack([self.shares, *of_shares])
        with np.errstate(divide="ignore", invalid="ignore"):
            # The odds of a share that may be 1 have no limit.
            terms = self.factors * np.where(self.are_odds, shares / (1.0 - shares), shares)
        value, *ends = np.where(self.factors == 0.0, 0.0, terms)
        (low, high), r = np.sort(ends, axis=0), self.correlation

        def distance(a: float, b: float) -> float:
            return inf if isinf(b) else hypot(a + r * b, b * sqrt(1.0 - r * r))

        least, most = self.allowed
        below, above = distance(*(value - low)), distance(*(high - value))
        return max(self.estimate - below, least), min(self.estimate + above, most)

    def resized(self, sizes: Any, factor: float = 1.0) -> JoinedShares:
        n = float(np.sum(sizes))
        ratio = self.n / n * factor
        return replace(
            self,
            error=None if self.error is None else self.error * sqrt(ratio),
            draws=self.draws / ratio,
            degrees=np.maximum(self.degrees / (self.n / n), 1.0),
            n=n,
        )
