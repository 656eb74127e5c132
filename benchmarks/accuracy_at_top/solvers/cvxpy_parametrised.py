"""cvxpy with the pivot as a parameter of one problem, which is compiled only once."""

import cvxpy as cp
import numpy as np
from benchmark_utils import through_cvxpy
from benchmark_utils.peer import Peer


class Solver(Peer):
    """One problem for all candidates; its first compilation is not timed."""

    name = "cvxpy_parametrised"
    requirements = ["pip::cvxpy"]
    parameters = {"backend": ["clarabel", "osqp"]}
    tolerances = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)

    def set_up(self):
        """Write the problem down."""
        self.coef = cp.Variable(self.X.shape[1])
        slack = cp.Variable(len(self.y), nonneg=True)
        self.pivot = cp.Parameter(self.X.shape[1])
        scores = self.X @ self.coef - self.pivot @ self.coef
        self.margin = slack >= 1 - cp.multiply(self.y, scores)
        value = through_cvxpy.objective_value(self.coef, self.cost, slack)
        self.problem = cp.Problem(cp.Minimize(value), [self.margin])

    def solve(self, tolerance):
        """Solve all candidates."""
        choice = through_cvxpy.options(self.backend, tolerance)
        coefs, duals, inner = [], [], 0.0
        for row in self.candidates:
            self.pivot.value = self.X[row]
            weights, multipliers, seconds = through_cvxpy.solve(
                self.problem, self.coef, self.margin, choice
            )
            coefs.append(weights)
            duals.append(multipliers)
            inner += seconds
        return {"coef": np.array(coefs), "dual": np.array(duals), "inner_seconds": inner}
