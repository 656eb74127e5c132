"""Accuracy at the top from its definitions: slow, obvious, and independent of the package.

Labels are -1 and +1, weights are whole numbers and mean repetition: :func:`repeated` writes the
rows out. Every problem is rebuilt for every candidate and solved by cvxpy.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from tests.oracles.orders import top_count


def repeated(X, y, weight):
    """Write every row as often as its weight says."""
    weight = np.asarray(weight, dtype=int)
    return np.repeat(np.asarray(X, dtype=float), weight, axis=0), np.repeat(y, weight)


def row_costs(y, C, class_weight):
    """Cost of a unit of hinge loss for each row, by counting."""
    cost = np.zeros(len(y))
    if class_weight == "pairs":
        for i in range(len(y)):
            for j in range(len(y)):
                if y[i] == -1 and y[j] == 1:
                    cost[i] += C
                    cost[j] += C
        return cost
    for i in range(len(y)):
        if class_weight is None:
            cost[i] = C
        elif class_weight == "balanced":
            cost[i] = C * len(y) / (2 * sum(label == y[i] for label in y))
        else:
            cost[i] = C * class_weight[y[i]]
    return cost


def quantile(scores, tau):
    """Largest score that has the top count at or above it."""
    return sorted(scores, reverse=True)[top_count(len(scores), tau) - 1]


def pair_members(values, y):
    """Members of all pairs of a negative and a positive, one after the other: 2m values."""
    members = []
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] == -1 and y[j] == 1:
                members += [values[i], values[j]]
    return members


def scores_for_quantile(scores, y, convention):
    """The scores that the quantile is taken of."""
    return list(scores) if convention == "sample" else pair_members(scores, y)


def hinge(margin):
    return max(0.0, 1.0 - margin)


def loss_around(w, threshold, X, y, cost):
    """1/2 |w|^2 plus the hinge loss around a threshold."""
    total = 0.5 * sum(w_j * w_j for w_j in w)
    for x_i, y_i, c_i in zip(X, y, cost, strict=True):
        total += c_i * hinge(y_i * (np.dot(w, x_i) - threshold))
    return float(total)


def problem_two(w, pivot, X, y, cost):
    """Objective of Problem (2): the threshold is the score of the pivot."""
    return loss_around(w, np.dot(w, pivot), X, y, cost)


def problem_one(w, X, y, cost, tau, convention="sample"):
    """Objective of Problem (1): the threshold is the quantile of the scores."""
    scores = [float(np.dot(w, x_i)) for x_i in X]
    threshold = quantile(scores_for_quantile(scores, y, convention), tau)
    return loss_around(w, threshold, X, y, cost)


def pairs_objective(w, threshold, X, y, C):
    """The paper's sum over all pairs, literally: (w.x - q + 1)_+ + (q - w.x' + 1)_+."""
    total = 0.5 * float(np.dot(w, w))
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] == -1 and y[j] == 1:
                total += C * max(0.0, np.dot(w, X[i]) - threshold + 1)
                total += C * max(0.0, threshold - np.dot(w, X[j]) + 1)
    return total


def run(problem):
    problem.solve(
        solver=cp.CLARABEL,
        tol_gap_abs=1e-11,
        tol_gap_rel=1e-11,
        tol_feas=1e-11,
        reduced_tol_gap_abs=1e-9,
        reduced_tol_gap_rel=1e-9,
    )
    return float(problem.value)


def solve_primal(X, y, cost, pivot):
    """Solve Problem (2) for one pivot; the weights and the value."""
    w = cp.Variable(X.shape[1])
    hinges = cp.pos(1 - cp.multiply(y, (X - pivot) @ w))
    value = run(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + cost @ hinges)))
    return w.value, value


def solve_dual(X, y, cost, pivot):
    """Solve Eq. (3), the dual of Problem (2), for one pivot; the weights and the value."""
    alpha = cp.Variable(len(y))
    span = (X - pivot).T @ cp.multiply(y, alpha)
    objective = cp.sum(alpha) - cp.sum_squares(span) / 2
    value = run(cp.Problem(cp.Maximize(objective), [alpha >= 0, alpha <= cost]))
    return (X - pivot).T @ (y * alpha.value), value


def closest_candidates(X, y, cost, tau, pivots, convention="sample"):
    """Solution, distance to the quantile and objective of every pivot, for the paper's rule."""
    solutions, distances, objectives = [], [], []
    for pivot in pivots:
        w, value = solve_primal(X, y, cost, pivot)
        scores = [float(np.dot(w, x_i)) for x_i in X]
        q = quantile(scores_for_quantile(scores, y, convention), tau)
        solutions.append(w)
        distances.append(abs(float(np.dot(w, pivot)) - q))
        objectives.append(value)
    return np.array(solutions), np.array(distances), np.array(objectives)


def average_direction(solutions, distances, objectives, tol=1e-6):
    """Which tenth is closest to its quantiles, and the mean of its weights at norm 1.

    Where distances tie with the last one that is taken, smaller objectives come first.
    """
    count = max(1, len(distances) // 10)
    last = sorted(distances)[count - 1]
    taken = [k for k in range(len(distances)) if distances[k] < last - tol]
    tied = [k for k in range(len(distances)) if abs(distances[k] - last) <= tol]
    taken += sorted(tied, key=lambda k: objectives[k])[: count - len(taken)]
    mean = np.zeros(solutions.shape[1])
    for k in taken:
        mean += solutions[k] / np.sqrt(np.sum(solutions[k] ** 2)) / count
    return sorted(taken), mean


def best_multiple(w, X, y, cost, tau, convention="sample"):
    """The factor at which the weights have the least value of Problem (1), by bisection."""
    low, high = 0.0, 1e6
    for _ in range(300):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        values = [problem_one(a * w, X, y, cost, tau, convention) for a in (one, two)]
        low, high = (low, two) if values[0] <= values[1] else (one, high)
    return (low + high) / 2


def kernel_objective(kernel, y, cost, k):
    """Value of the kernel form of the problem of candidate k, Equation (4), from its dual."""
    n = len(y)
    shifted = np.array(
        [
            [kernel[i, j] - kernel[i, k] - kernel[k, j] + kernel[k, k] for j in range(n)]
            for i in range(n)
        ]
    )
    # A root of the positive semidefinite matrix, so that the problem is convex in form too.
    values, vectors = np.linalg.eigh(shifted)
    root = (vectors * np.sqrt(np.maximum(values, 0))).T
    a = cp.Variable(n)
    objective = cp.Maximize(cp.sum(a) - cp.sum_squares(root @ cp.multiply(y, a)) / 2)
    cp.Problem(objective, [a >= 0, a <= cost]).solve(solver=cp.CLARABEL)
    return float(objective.value)
