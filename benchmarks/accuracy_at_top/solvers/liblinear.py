"""liblinear's dual coordinate descent, once per candidate, through scikit-learn."""

import warnings

import numpy as np
from benchmark_utils.peer import Peer
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC, _liblinear

# On spambase at C = 1 liblinear shrinks to a few rows and stalls there, however long it may run.
MAX_ITER = 2_000_000
HINGE_DUAL = 3  # liblinear's number for the L2-regularised hinge loss in the dual


class Solver(Peer):
    """``call="LinearSVC"`` is the public estimator, ``"direct"`` its compiled function alone.

    Both shift the data to the pivot, which is timed. liblinear gives no multipliers, so the
    judge uses its own lower bounds.
    """

    name = "liblinear"
    requirements = ["scikit-learn"]
    parameters = {"call": ["LinearSVC", "direct"]}
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)

    def set_up(self):
        """Prepare what the compiled function expects."""
        self.target = np.where(self.y > 0, 1.0, 0.0)
        self.class_weight = np.ones(2)
        warnings.filterwarnings("ignore", category=ConvergenceWarning)

    def solve(self, tolerance):
        """Solve all candidates."""
        fit = self._estimator if self.call == "LinearSVC" else self._direct
        return {
            "coef": np.array([fit(self.X - self.X[row], tolerance) for row in self.candidates])
        }

    def _estimator(self, X, tolerance):
        model = LinearSVC(
            loss="hinge",
            dual=True,
            fit_intercept=False,
            tol=tolerance,
            max_iter=MAX_ITER,
            random_state=0,
        )
        return model.fit(X, self.y, sample_weight=self.cost).coef_[0]

    def _direct(self, X, tolerance):
        coef, _ = _liblinear.train_wrap(
            X,
            self.target,
            False,
            HINGE_DUAL,
            tolerance,
            -1.0,
            1.0,
            self.class_weight,
            MAX_ITER,
            0,
            0.1,
            self.cost,
        )
        return coef[0]
