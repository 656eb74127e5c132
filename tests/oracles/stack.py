"""The weights of an ensemble, by their definition."""

import cvxpy as cp
import numpy as np


def weights(odds, positive, weight):
    """Weights of standardised log-odds, and the constant."""
    mean = weight @ odds / weight.sum()
    spread = np.sqrt(weight @ (odds - mean) ** 2 / weight.sum())
    z, sign = (odds - mean) / spread, np.where(positive, 1.0, -1.0)
    w, b = cp.Variable(z.shape[1], nonneg=True), cp.Variable()
    loss = weight @ cp.logistic(-cp.multiply(sign, z @ w + b))
    penalty = cp.sum_squares(w - cp.sum(w) / z.shape[1]) + 0.01 * cp.sum_squares(w)
    cp.Problem(cp.Minimize(loss + penalty / 2)).solve(solver="CLARABEL")
    return w.value, float(b.value)
