"""Minimum of a loss of linear scores with a penalty: Newton's method with all second derivatives.

Features are brought to units of about 1 in extended precision, and the penalty with them, so that
the units in which the rows came do not matter.
"""

import numpy as np


def in_units(X, origin, units):
    """Rows about an origin in units, rounded once, after extended precision."""
    moved = np.asarray(X, dtype=np.longdouble) - np.asarray(origin, dtype=np.longdouble)
    return np.asarray(moved / np.asarray(units, dtype=np.longdouble), dtype=np.float64)


class Objective:
    """``sum of losses of Z u + b + sum of penalty_j u_j**2 / 2``, with an intercept or without."""

    def __init__(self, Z, loss, penalty, *, intercept):
        ones = np.ones((len(Z), 1))
        self.Z = np.hstack((Z, ones)) if intercept else Z
        self.loss = loss
        self.penalty = np.append(penalty, [0.0] * intercept)

    def value(self, u):
        losses = self.loss.value_and_gradient(self.Z @ u)[0]
        return float(np.sum(losses, dtype=np.longdouble) + 0.5 * np.sum(self.penalty * u * u))

    def gradient(self, u):
        return self.Z.T @ self.loss.value_and_gradient(self.Z @ u)[1] + self.penalty * u

    def hessian(self, u):
        """By products with the loss's second derivatives, or by differences of gradients."""
        if self.loss.has_hessian_product:
            scores = self.Z @ u
            columns = [self.Z.T @ self.loss.hessian_product(scores, z) for z in self.Z.T]
            return np.column_stack(columns) + np.diag(self.penalty)
        units = 1e-6 * np.eye(len(u))
        columns = [(self.gradient(u + e) - self.gradient(u - e)) / 2e-6 for e in units]
        return np.column_stack(columns)

    def minimum(self):
        """Where the objective is least; steps that would rise are damped."""
        u, damping = np.zeros(self.Z.shape[1]), 0.0
        for _ in range(500):
            gradient, hessian = self.gradient(u), self.hessian(u)
            least = 1e-13 + 1e-15 * np.median(np.diag(hessian))
            system = hessian + max(damping, least) * np.eye(len(u))
            step = -np.linalg.solve(system, gradient)
            value = self.value(u)
            if not self.value(u + step) <= value + 1e-14 * abs(value):
                damping = max(10 * damping, 1e-6)
                continue
            u, damping = u + step, damping / 10 if damping > 1e-8 else 0.0
            if not damping and -gradient @ step <= 1e-24 * abs(value):
                break
        return u

    def left(self, u):
        """Share of the decrease from 0 on that is left at u, by the second derivatives."""
        best = self.minimum()
        hessian = self.hessian(best)
        return ((u - best) @ hessian @ (u - best)) / (best @ hessian @ best)
