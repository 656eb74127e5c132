"""Click models: estimation of examination propensities by position."""

from ._interventions import random_order_propensities, swap_propensities
from ._propensities import EMPropensities, Propensities
from ._regression_em import em_propensities

__all__ = [
    "EMPropensities",
    "Propensities",
    "em_propensities",
    "random_order_propensities",
    "swap_propensities",
]
