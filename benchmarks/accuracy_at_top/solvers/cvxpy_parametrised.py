"""cvxpy with the pivot as a parameter of one problem, which is compiled only once."""

import cvxpy as cp
import numpy as np
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
        value = cp.sum_squares(self.coef) / 2 + self.cost @ slack
        self.problem = cp.Problem(cp.Minimize(value), [self.margin])

    def solve(self, tolerance):
        """Solve all candidates."""
        if self.backend == "clarabel":
            options = {
                "solver": cp.CLARABEL,
                "tol_gap_abs": tolerance,
                "tol_gap_rel": tolerance,
                "tol_feas": tolerance,
            }
        else:
            options = {
                "solver": cp.OSQP,
                "eps_abs": tolerance,
                "eps_rel": tolerance,
                "max_iter": 20_000,
            }
        coefs, duals, inner = [], [], 0.0
        for row in self.candidates:
            self.pivot.value = self.X[row]
            self.problem.solve(**options)
            coefs.append(self.coef.value)
            duals.append(self.margin.dual_value)
            inner += self.problem.solver_stats.solve_time
        return {"coef": np.array(coefs), "dual": np.array(duals), "inner_seconds": inner}
