"""The trivial peer: w = 0, whose gap and memory show where the scales begin."""

import numpy as np
from benchmark_utils.peer import Peer


class Solver(Peer):
    """w = 0 for every candidate."""

    name = "zeros"
    tolerances = (1.0,)
    scopes = ("sample", "every")

    def solve(self, tolerance):
        """Return zeros."""
        return {"coef": np.zeros((len(self.candidates), self.X.shape[1]))}
