"""The ensemble of a list, by its definition."""

import cvxpy as cp
import numpy as np


def average_precision(positive, score, weight):
    """Of scores without ties."""
    order = sorted(range(len(score)), key=lambda i: -score[i])
    hits = total = value = 0.0
    for i in order:
        total += weight[i]
        if positive[i]:
            hits += weight[i]
            value += weight[i] * hits / total
    return value / hits


def standardised(odds, weight):
    mean = weight @ odds / weight.sum()
    return (odds - mean) / np.sqrt(weight @ (odds - mean) ** 2 / weight.sum())


def moves(shares):
    """Shares after half of an equal share goes from one member to another."""
    step = 0.5 / len(shares)
    for i in range(len(shares)):
        for j in range(len(shares)):
            if i != j and shares[i] > step / 2:
                moved = np.array(shares)
                moved[i] -= step
                moved[j] += step
                yield moved


def calibration(score, positive, weight):
    """Slope and constant of the log-odds in a score."""
    sign = np.where(positive, 1.0, -1.0)
    slope, constant = cp.Variable(), cp.Variable()
    loss = weight @ cp.logistic(-cp.multiply(sign, slope * score + constant))
    penalty = cp.square(slope) / (2 * 100.0)
    cp.Problem(cp.Minimize(loss + penalty)).solve(solver="CLARABEL")
    return float(slope.value), float(constant.value)
