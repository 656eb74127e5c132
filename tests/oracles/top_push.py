"""Positives above the top of other rows, from the definitions: by cvxpy, and by linprog."""

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog


def loss_of(name, u):
    if name == "squared_hinge":
        return cp.square(cp.pos(1 + u))
    if name == "hinge":
        return cp.pos(1 + u)
    return cp.logistic(u) / np.log(2)


def minimise(objective, constraints=()):
    problem = cp.Problem(cp.Minimize(objective), list(constraints))
    problem.solve(solver=cp.CLARABEL)
    return problem.value


def top_mean(X, positive, reference, weight, mass, loss, C):
    """Least value of 1/2 |w|^2 + C mean loss(T - s_i), T the mean of the top of the reference."""
    w = cp.Variable(X.shape[1])
    scores = X @ w
    # A sum of the largest scores is repeated by whole weights, not by the solver's own atom.
    repeated = cp.hstack(
        [scores[row] for row, k in zip(reference, weight, strict=True) for _ in range(int(k))]
    )
    top = cp.sum_largest(repeated, mass) / mass
    costs = weight_of(positive)
    losses = loss_of(loss, top - scores[positive])
    return minimise(0.5 * cp.sum_squares(w) + C * (costs @ losses))


def small_cost(X, positive, reference, mass):
    """Solution for costs near 0, over the cost and the slope of the loss at 0."""
    # The losses are linear: the mean of the positives less the nearest mean of a top.
    b = cp.Variable(len(reference), nonneg=True)
    distance = X[positive].mean(axis=0) - X[reference].T @ b
    minimise(cp.sum_squares(distance), [cp.sum(b) == 1, b <= 1 / mass])
    return distance.value


def weight_of(positive):
    return np.full(len(positive), 1 / len(positive))


def infinite_push(X, positive, negative, loss, C):
    """Least value of 1/2 |w|^2 + C max over negatives j of mean over i of loss(s_j - s_i)."""
    w = cp.Variable(X.shape[1])
    scores = X @ w
    means = [cp.sum(loss_of(loss, scores[j] - scores[positive])) for j in negative]
    return minimise(0.5 * cp.sum_squares(w) + C * cp.max(cp.hstack(means)) / len(positive))


def subgradient_at_zero(X, positive, reference, weight, mass):
    """Least absolute entry sum of a subgradient of the objective at w = 0, but for a factor."""
    # All scores tie there: T has a subgradient for any weights b of the top.
    n, d = len(reference), X.shape[1]
    weight = np.asarray(weight, dtype=float)
    mean = np.average(X[positive], axis=0, weights=weight[positive])
    equal = np.hstack((np.vstack((X[reference].T, np.ones(n))), np.eye(d + 1, 2 * d)))
    equal[:d, n + d :] = -np.eye(d)
    cost = np.append(np.zeros(n), np.ones(2 * d))
    bounds = [(0, limit) for limit in weight[reference] / mass] + [(0, None)] * (2 * d)
    found = linprog(cost, A_eq=equal, b_eq=np.append(mean, 1.0), bounds=bounds, method="highs")
    return found.fun


def largest_collapsing_mass(X, positive, reference):
    """Largest mass at which the mean of the positives is in the reduced hull of the reference."""
    # Least cap t with sum b = 1, 0 <= b <= t, X'b = mean; its inverse is the mass.
    n, d = len(reference), X.shape[1]
    equal = np.zeros((d + 1, n + 1))
    equal[:d, :n], equal[d, :n] = X[reference].T, 1.0
    right = np.append(X[positive].mean(axis=0), 1.0)
    caps = np.hstack((np.eye(n), -np.ones((n, 1))))
    cost = np.append(np.zeros(n), 1.0)
    found = linprog(cost, caps, np.zeros(n), equal, right, bounds=(0, None), method="highs")
    return 1 / found.fun if found.status == 0 else 0.0
