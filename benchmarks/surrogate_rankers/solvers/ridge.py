"""scikit-learn's ridge regression on the utilities of NDCG@10, or on the grades."""

from benchmark_utils.peer import MEASURE, Peer
from sklearn.linear_model import Ridge

from sklearn_rank.calibration import utility


class Solver(Peer):
    """Least squares, every row alike."""

    name = "Ridge"
    requirements = ["scikit-learn", "sklearn-rank"]
    parameters = {"target": ["utilities", "grades"], "tuned": [False, True]}
    default = {"alpha": 1.0}
    grid = {"alpha": tuple(10.0**power for power in range(-1, 7))}

    def fit(self, X, y, qid, parameters):
        """Fit it; the utilities are 0 in queries without a relevant row."""
        target = y
        if self.target == "utilities":
            target = utility(MEASURE, y, qid=qid, undefined=0.0)
        return Ridge(alpha=parameters["alpha"]).fit(X, target).predict
