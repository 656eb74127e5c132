"""``sklearn_rank._solvers.solve_pivots_newton``, one thread."""

import numpy as np
from benchmark_utils.peer import Peer

from sklearn_rank._solvers import PivotProblem, solve_pivots_newton


class Solver(Peer):
    """The package's own solver, candidates in blocks as the package solves them.

    Its tolerance is the relative gap that it certifies. On all candidates the time includes
    building the problem (merging equal rows); on a sample that share is left out.
    """

    name = "sklearn_rank"
    requirements = ["sklearn-rank"]
    tolerances = (1e-6,)
    scopes = ("sample", "every")

    def set_up(self):
        """Build the problem."""
        self.problem = self._build()

    def _build(self):
        return PivotProblem.from_rows(self.X, self.y, self.cost, np.ones(len(self.y)))

    def solve(self, tolerance):
        """Solve block by block; put the solutions in the order of the candidates."""
        problem = self._build() if self.scope == "every" else self.problem
        pivot_of = dict(zip(problem.candidate_indices, problem.pivots, strict=True))
        pivots = np.array([pivot_of[row] for row in self.candidates])
        blocks = [
            solve_pivots_newton(problem, block, tol=tolerance) for block in problem.blocks(pivots)
        ]
        claimed = [np.column_stack([block.objective, block.lower_bound]) for block in blocks]
        return {
            "coef": np.concatenate([block.coef for block in blocks]),
            "claimed": np.concatenate(claimed),
        }
