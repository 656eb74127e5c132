"""Ranking losses of utilities and scores, most of them order-preserving."""

from ._base import TemplateLoss
from ._boosting import boosting_objective
from ._losses import (
    ListwiseBregman,
    ListwiseNormalizedSoftmax,
    ListwiseSoftmax,
    PointwiseDifferentiableHinge,
    PointwiseExponential,
    PointwiseLogistic,
    PointwiseSquared,
    PointwiseSquaredHinge,
    get_loss,
    get_loss_names,
)
from ._pairwise import (
    ComparisonHinge,
    ComparisonLogistic,
    ComparisonSquaredHinge,
    PairwiseConvex,
    PairwiseExponential,
    PairwiseLogistic,
    PairwiseSquared,
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
    "boosting_objective",
    "get_loss",
    "get_loss_names",
]
