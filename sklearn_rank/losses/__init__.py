"""Ranking losses of utilities and scores, most of them order-preserving."""

from typing import TYPE_CHECKING

from .._on_first_use import on_first_use
from ._base import TemplateLoss
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

if TYPE_CHECKING:
    from .._ensembles import boosting_objective

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

__getattr__, __dir__ = on_first_use(__name__, {"_ensembles": ["boosting_objective"]})
