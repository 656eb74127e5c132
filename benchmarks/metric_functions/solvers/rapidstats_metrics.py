"""rapidstats, written in Rust."""

import rapidstats
from benchmark_utils.peer import Peer


class Solver(Peer):
    """``rapidstats.metrics.roc_auc``."""

    name = "rapidstats"
    requirements = ["pip::rapidstats"]
    measures = ("auc",)
    layouts = ("single",)

    def compute(self):
        """Call it."""
        return rapidstats.metrics.roc_auc(self.y_true, self.y_score)
