"""cvxpy with a new problem for every candidate, solved by Clarabel: how one writes it first."""

import cvxpy as cp
import numpy as np
from benchmark_utils import through_cvxpy
from benchmark_utils.peer import Peer


class Solver(Peer):
    """Build, compile and solve one problem per candidate."""

    name = "cvxpy_rebuilt"
    requirements = ["pip::cvxpy"]
    tolerances = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)

    def solve(self, tolerance):
        """Solve all candidates."""
        choice = through_cvxpy.options("clarabel", tolerance)
        coefs, duals, inner = [], [], 0.0
        for row in self.candidates:
            coef = cp.Variable(self.X.shape[1])
            slack = cp.Variable(len(self.y), nonneg=True)
            margin = slack >= 1 - cp.multiply(self.y, (self.X - self.X[row]) @ coef)
            value = through_cvxpy.objective_value(coef, self.cost, slack)
            problem = cp.Problem(cp.Minimize(value), [margin])
            weights, multipliers, seconds = through_cvxpy.solve(problem, coef, margin, choice)
            coefs.append(weights)
            duals.append(multipliers)
            inner += seconds
        return {"coef": np.array(coefs), "dual": np.array(duals), "inner_seconds": inner}
