"""The judge: certified gaps of the problems through a pivot, recomputed from the definition."""

import numpy as np
from benchmark_utils.certificates import Reference, dual_value, primal_value
from benchopt import BaseObjective

# Relative error allowed when a claimed lower bound is held against an upper bound.
ROUNDING = 1e-11


class Objective(BaseObjective):
    """All problems of accuracy at the top for one data set and one C.

    ``candidates="sample"`` asks for the problems of ``n_judged`` candidates, evenly spaced over
    the distinct rows; ``"every"`` asks for all of them and judges that sample.
    """

    name = "Accuracy at the top"
    url = "https://github.com/sklearn-rank/sklearn-rank"
    min_benchopt_version = "1.6"
    requirements = ["numpy", "scipy", "pip::clarabel"]

    parameters = {
        "C": [0.001, 0.01, 0.1, 1.0],
        "candidates": ["sample", "every"],
        "n_judged": [20],
        "certificate": ["own"],
    }
    test_config = {"C": 0.1, "n_judged": 3}

    def set_data(self, X, y):
        """Costs, candidates, and the bounds that the judge keeps to itself."""
        self.X, self.y = X, y
        n_pos = np.count_nonzero(y > 0)
        per_class = np.where(y > 0, n_pos, len(y) - n_pos)
        self.cost = self.C * len(y) / (2.0 * per_class)
        distinct = np.sort(np.unique(X, axis=0, return_index=True)[1])
        spaced = np.linspace(0, len(distinct) - 1, min(self.n_judged, len(distinct)))
        self.judged = distinct[np.round(spaced).astype(int)]
        self.rows = self.judged if self.candidates == "sample" else distinct
        self.reference = Reference(X, y, self.cost)

    def get_objective(self):
        """Return what a peer may see."""
        return {
            "X": self.X,
            "y": self.y,
            "cost": self.cost,
            "C": self.C,
            "candidates": self.rows,
            "scope": self.candidates,
        }

    def get_one_result(self):
        """Return the zero solution."""
        return {"coef": np.zeros((len(self.rows), self.X.shape[1]))}

    def evaluate_result(self, coef, dual=None, claimed=None, rows=None, inner_seconds=np.nan):
        """Recompute the gaps.

        ``value`` is the largest certified relative gap ``(P(w) - L) / P(w)``. With
        ``certificate="own"`` the lower bound L comes from the peer: its multipliers, evaluated
        here, or the dual value that it claims, which is checked below. With ``"best"``, and for
        peers that give neither, L is the judge's reference (Clarabel to 1e-11, evaluated here),
        or the peer's own where that is better.

        Of what a peer claims about itself, ``claimed_gap`` is the largest gap and ``claim_error``
        the largest relative error of a primal value, over all candidates solved;
        ``false_bounds`` is the number of claimed dual values, among the candidates judged, that
        exceed the reference's primal value by more than rounding.
        """
        problem = self.X, self.y, self.cost
        rows = self.rows if rows is None else np.asarray(rows)
        judged = np.flatnonzero(np.isin(rows, self.judged)) if len(rows) > 1 else [0]
        gaps, best_gaps, reference_gaps, false_bounds = [], [], [], 0
        for index in judged:
            row = rows[index]
            upper = primal_value(*problem, row, coef[index])
            known, optimum = self.reference.bounds(row)
            own = known
            if dual is not None:
                own = dual_value(*problem, row, dual[index])
            elif claimed is not None:
                own = claimed[index, 1]
                false_bounds += own > optimum * (1 + ROUNDING)
            gaps.append((upper - own) / upper)
            best_gaps.append((upper - max(own, known)) / upper)
            reference_gaps.append((optimum - known) / optimum)
        certified = gaps if self.certificate == "own" else best_gaps
        report = {
            "value": max(float(np.max(certified)), 0.0),
            "best_gap": max(float(np.max(best_gaps)), 0.0),
            "median_gap": max(float(np.median(certified)), 0.0),
            "reference_gap": float(np.max(reference_gaps)),
            "n_judged": len(gaps),
            "inner_seconds": float(inner_seconds),
            "claimed_gap": np.nan,
            "claim_error": np.nan,
            "false_bounds": int(false_bounds),
        }
        if claimed is not None:
            primal = np.array(
                [primal_value(*problem, row, w) for row, w in zip(rows, coef, strict=True)]
            )
            report["claimed_gap"] = float(np.max(1 - claimed[:, 1] / claimed[:, 0]))
            report["claim_error"] = float(np.max(np.abs(claimed[:, 0] / primal - 1)))
        return report
