"""What clicks say once it is known where they could happen: propensities of positions."""

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
