"""RDKit, whose functions take lists that are sorted already; sorting is timed."""

import numpy as np
from benchmark_utils.measures import ALPHA
from benchmark_utils.peer import Peer
from rdkit.ML.Scoring.Scoring import CalcAUC, CalcBEDROC


class Solver(Peer):
    """``CalcAUC`` and ``CalcBEDROC``."""

    name = "rdkit"
    requirements = ["pip::rdkit"]
    measures = ("auc", "bedroc")
    layouts = ("single",)
    max_rows = 2_000_000
    why = {"auc": "ties in input order", "bedroc": "ties in input order"}

    def compute(self):
        """Sort and call."""
        order = np.argsort(-self.y_score, kind="stable")
        labels = self.y_true[order, None].tolist()
        if self.measure == "auc":
            return CalcAUC(labels, 0)
        return CalcBEDROC(labels, 0, ALPHA)
