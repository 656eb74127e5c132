"""Every loss beside its definition, for the tests."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from sklearn_rank import losses
from tests.oracles import losses as oracles


@dataclass(frozen=True)
class Case:
    """A loss and its definition.

    ``largest`` limits the utilities, ``kinks`` says that it has no gradient somewhere, and
    ``weights`` whether items may count more or less than once.
    """

    loss: Any
    oracle: Any
    largest: float = np.inf
    kinks: bool = False
    second: bool = True
    weights: bool = True

    def __repr__(self):
        return repr(self.loss)


def _exp(d):
    return np.exp(-d)


def _short(d):
    return np.maximum(1 - d, 0)


POISSON = {
    "psi": lambda u: np.sum(xlogy(u, u) - u),
    "psi_gradient": np.log,
    "link": np.exp,
}

CASES = [
    Case(losses.PointwiseSquared(), oracles.pointwise_squared()),
    Case(losses.PointwiseLogistic(eta=4.5), oracles.pointwise_logistic(4.5), 4.5),
    Case(losses.PointwiseExponential(eta=4.0), oracles.pointwise_exponential(4.0), 4.0),
    Case(
        losses.PointwiseSquaredHinge(eta=4.0, t=1.75),
        oracles.pointwise_squared_hinge(4.0, 1.75),
        4.0,
    ),
    *(
        Case(
            losses.PointwiseDifferentiableHinge(eta=5.0, width=width),
            oracles.pointwise_differentiable_hinge(5.0, width),
            5.0,
        )
        for width in (0.3, 0.75, 3.0)
    ),
    Case(losses.PairwiseSquared(), oracles.pairwise_squared()),
    Case(losses.PairwiseLogistic(), oracles.pairwise(lambda d: oracles.softplus(-d))),
    Case(losses.PairwiseExponential(), oracles.pairwise(_exp)),
    Case(
        losses.PairwiseConvex(
            lambda d: _short(d) ** 3, lambda d: -3 * _short(d) ** 2, lambda d: 6 * _short(d)
        ),
        oracles.pairwise(lambda d: max(0.0, 1 - d) ** 3),
    ),
    Case(losses.ListwiseSoftmax(), oracles.softmax),
    Case(
        losses.ListwiseBregman(**POISSON, link_derivative=lambda s, d: np.exp(s) * d),
        oracles.bregman(POISSON["psi"], np.log, np.exp),
        weights=False,
    ),
    Case(
        losses.ListwiseBregman(
            lambda u: u @ u,
            lambda u: 2 * u,
            lambda s: s**3 + s,
            pullback=lambda s, r: 2 * (3 * s**2 + 1) * r,
        ),
        oracles.bregman(lambda u: u @ u, lambda u: 2 * u, lambda s: s**3 + s),
        second=False,
        weights=False,
    ),
    Case(losses.ComparisonLogistic(), oracles.comparison_logistic()),
    Case(losses.ComparisonHinge(margin=0.75), oracles.hinge(0.75), kinks=True, second=False),
    Case(losses.ComparisonSquaredHinge(margin=1.25), oracles.squared_hinge(1.25)),
    Case(losses.ListwiseNormalizedSoftmax(), oracles.normalized_softmax),
]
