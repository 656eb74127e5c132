"""Ranking losses of utilities and scores, most of them order-preserving."""

from ._base import TemplateLoss
from ._listwise import ListwiseBregman, ListwiseSoftmax
from ._names import get_loss, get_loss_names
from ._pairwise import PairwiseConvex, PairwiseExponential, PairwiseLogistic, PairwiseSquared
from ._pointwise import (
    PointwiseDifferentiableHinge,
    PointwiseExponential,
    PointwiseLogistic,
    PointwiseSquared,
    PointwiseSquaredHinge,
)
from ._uncalibrated import (
    ComparisonHinge,
    ComparisonLogistic,
    ComparisonSquaredHinge,
    ListwiseNormalizedSoftmax,
)

__all__ = [
    "ComparisonHinge",
    "ComparisonLogistic",
    "ComparisonSquaredHinge",
    "ListwiseBregman",
    "ListwiseNormalizedSoftmax",
    "ListwiseSoftmax",
    "PairwiseConvex",
    "PairwiseExponential",
    "PairwiseLogistic",
    "PairwiseSquared",
    "PointwiseDifferentiableHinge",
    "PointwiseExponential",
    "PointwiseLogistic",
    "PointwiseSquared",
    "PointwiseSquaredHinge",
    "TemplateLoss",
    "get_loss",
    "get_loss_names",
]
