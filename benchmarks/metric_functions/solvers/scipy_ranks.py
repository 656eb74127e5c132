"""scipy: the AUC from mid-ranks, or from the test of Mann and Whitney."""

from benchmark_utils.peer import Peer
from scipy import stats


class Solver(Peer):
    """``rankdata`` and the formula, or ``mannwhitneyu(method="asymptotic")``, which does more."""

    name = "scipy"
    requirements = ["scipy"]
    parameters = {"call": ["rankdata", "mannwhitneyu"]}
    measures = ("auc",)
    layouts = ("single",)

    def compute(self):
        """Call it."""
        positive = self.y_true == 1
        n_pos = int(positive.sum())
        n_neg = len(positive) - n_pos
        if self.call == "rankdata":
            ranks = stats.rankdata(self.y_score)[positive].sum()
            return (ranks - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)
        test = stats.mannwhitneyu(
            self.y_score[positive], self.y_score[~positive], method="asymptotic"
        )
        return test.statistic / (n_pos * n_neg)
