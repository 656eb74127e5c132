"""The p-norm push from its definition, over pairs, and its minimum by a solver of cones."""

import cvxpy as cp
import numpy as np

LOSSES = {"exponential": np.exp, "logistic": lambda z: np.logaddexp(0.0, z)}


def push(scores, positive, weight, p, loss):
    """The p-norm over the negatives of their mean loss against the positives."""
    total, mass = 0.0, 0.0
    for j in np.flatnonzero(~positive):
        losses = [
            weight[i] * LOSSES[loss](scores[j] - scores[i]) for i in np.flatnonzero(positive)
        ]
        total += weight[j] * (sum(losses) / weight[positive].sum()) ** p
        mass += weight[j]
    return (total / mass) ** (1 / p)


def objective(coef, X, positive, weight, p, C, loss):
    found = push(X @ coef, positive, weight, p, loss)
    return 0.5 * coef @ coef + C * (np.log(found) if loss == "exponential" else found)


def by_cvxpy(X, positive, weight, p, C, loss):
    """Coefficients and value; p may be infinite."""
    u = weight[positive] / weight[positive].sum()
    v = weight[~positive] / weight[~positive].sum()
    w = cp.Variable(X.shape[1])
    up, down = X[positive] @ w, X[~positive] @ w
    if loss == "exponential":
        pushed = cp.max(down) if p == np.inf else cp.log_sum_exp(p * down + np.log(v)) / p
        found = cp.log_sum_exp(np.log(u) - up) + pushed
    else:
        heights = cp.hstack([u @ cp.logistic(down[j] - up) for j in range(len(v))])
        found = cp.max(heights) if p == np.inf else cp.pnorm(cp.multiply(v ** (1 / p), heights), p)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * found))
    value = problem.solve(solver=cp.CLARABEL)
    return w.value, value
