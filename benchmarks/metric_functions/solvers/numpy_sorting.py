"""Not peers but yardsticks: one sort of all scores."""

import numpy as np
from benchmark_utils.measures import QUERIES, SINGLE
from benchmark_utils.peer import Peer


class Solver(Peer):
    """``np.argsort`` or ``np.sort`` of all scores, within each list if they have two axes."""

    name = "numpy sorting"
    requirements = ["numpy"]
    parameters = {"call": ["argsort", "sort"]}
    measures = (*SINGLE, *QUERIES)
    is_reference = True

    def compute(self):
        """Sort."""
        return getattr(np, self.call)(self.y_score)
