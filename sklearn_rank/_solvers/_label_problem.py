"""Problem of linear scores of several labels with a loss of whole rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from .._typing import FloatArray, IntArray
from ._contracts import LossOfScores
from ._design import InMemoryDesign
from ._scales import Coordinates, column_scales

__all__ = ["LabelProblem"]

# Number of features up to which their second moments are diagonalised, a preconditioner.
LARGEST_FACTOR = 1000

# Rows of which each column of the mean second derivatives by the scores is estimated.
SAMPLED_ROWS = 400
# Products up to which this pays; beyond it second derivatives of two labels are left out.
MOST_PRODUCTS = 12

# Least of these that the preconditioner counts with, as a share of the largest.
LEAST_BEND = 1e-4

# Size of the scores between which the curvature of the loss is taken: those with a margin may have
# none at 0.
STEP = 0.5

# Steps in the intercepts alone, and the decrease, relative to the objective, that they leave.
INTERCEPT_STEPS, SETTLED = 30, 1e-12


@dataclass(frozen=True, eq=False)
class LabelProblem:
    """Minimise ``loss(X W + 1 b') + alpha / 2 ||W||**2`` over W and b, one column for each label.

    The parameters are the entries of W row by row, and where there are intercepts those of ``b +
    W' m`` last, the scores of the mean row m: features of any mean are as good as centred ones,
    and sparse rows stay sparse.
    """

    design: InMemoryDesign  # The rows X
    loss: LossOfScores  # Convex loss of the scores of the items, row by row
    n_labels: int
    alpha: float  # Penalty, at least 0
    fit_intercept: bool = True  # Whether there is b, which is not penalised; else it is 0
    entries: IntArray | None = None
    row_weight: FloatArray | None = None
    shifted: IntArray | None = None

    # The preconditioner costs less than a few products.
    preconditioned_at_once = True

    @property
    def _n_items(self) -> int:
        return self.design.shape[0] * self.n_labels if self.entries is None else len(self.entries)

    @property
    def n_features(self) -> int:
        """Number of coefficients of each label."""
        return self.design.shape[1]

    @property
    def n_parameters(self) -> int:
        """Number of coefficients and intercepts of all labels."""
        return (self.n_features + self.fit_intercept) * self.n_labels

    @cached_property
    def _share(self) -> FloatArray:
        """Weights of the rows, of sum 1."""
        n_rows = self.design.shape[0]
        if self.row_weight is None:
            return np.full(n_rows, 1.0 / n_rows)
        return self.row_weight / self.row_weight.sum()

    @cached_property
    def _mean(self) -> FloatArray:
        """Mean row; 0 without intercepts."""
        return self._first_moments if self.fit_intercept else np.zeros(self.n_features)

    @cached_property
    def _first_moments(self) -> FloatArray:
        return self.design.pull_back(self._share)

    @cached_property
    def _variances(self) -> FloatArray:
        """Second moments of the features about the mean row."""
        variances = column_scales(self.design, self._share) ** 2
        return variances if self.fit_intercept else variances + self._first_moments**2

    @cached_property
    def _bend(self) -> float:
        """Mean second derivative of the loss by the shift of the scores of a label."""
        direction = np.where(np.random.default_rng(0).random(self._n_items) < 0.5, -STEP, STEP)
        above = self.loss.value_and_gradient(direction)[1]
        below = self.loss.value_and_gradient(-direction)[1]
        bend = float(direction @ (above - below)) / (2 * STEP**2) / self.n_labels
        return bend if 0.0 < bend < np.inf else 1.0

    @cached_property
    def coordinates(self) -> Coordinates:
        """Coordinates in which the second derivatives by each parameter are about 1."""
        squares = self._bend * self._variances + self.alpha
        scale = np.sqrt(np.where(squares > 0, squares, 1.0))
        penalty = self.alpha / scale**2
        if self.fit_intercept:
            scale, penalty = np.append(scale, np.sqrt(self._bend)), np.append(penalty, 0.0)
        return Coordinates(np.repeat(scale, self.n_labels), np.repeat(penalty, self.n_labels))

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """What diagonalises moments of the features and the penalty together, in coordinates.

        In the coordinates both have entries of about 1 or less, whatever the units. The vectors
        turn their sum into 1, and the penalty into the values.
        """
        scale = self.coordinates.scale[:: self.n_labels][: self.n_features]
        penalty = self.alpha / scale**2
        matrix = self.design.gram(self._share) - np.outer(self._mean, self._mean)
        # Where the mean is so large that rounding of it would be a moment, features count alone.
        lost = 1e-13 * self._mean**2 > self._variances
        matrix[lost] = matrix[:, lost] = 0.0
        np.einsum("ii->i", matrix)[:] = self._variances
        matrix *= self._bend / np.outer(scale, scale)
        np.einsum("ii->i", matrix)[:] += penalty + 1e-12
        values, vectors = scipy.linalg.eigh(np.diag(penalty), matrix, check_finite=False)
        return np.clip(values, 0.0, 1.0), vectors

    def parameters(self, coef: FloatArray, intercept: FloatArray) -> FloatArray:
        """Make parameters of coefficients and intercepts; see :meth:`split`.

        Shape (n_parameters,).
        """
        if not self.fit_intercept:
            return coef.T.ravel()
        return np.vstack((coef.T, intercept + coef @ self._mean)).ravel()

    def split(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Take coefficients and intercepts out of parameters."""
        matrix = self._centred(self._matrix(parameters))
        coef = np.ascontiguousarray(matrix[: self.n_features].T)
        if not self.fit_intercept:
            return coef, np.zeros(self.n_labels)
        return coef, matrix[-1] - coef @ self._mean

    def scores(self, parameters: FloatArray) -> FloatArray:
        """Score the items. Shape (n_items,)."""
        matrix = self._matrix(parameters)
        coef = matrix[: self.n_features]
        scores = self.design.scores(coef)
        if self.fit_intercept:
            scores += matrix[-1] - self._mean @ coef
        return self._items(scores)

    def value_and_gradient(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Value of the objective, and its gradient."""
        values, by_score = self.loss.value_and_gradient(self.scores(parameters))
        penalty = self._curvature_of_penalty(parameters)
        value = float(values.sum() + 0.5 * penalty @ parameters)
        return value, self._pull_back(by_score) + penalty

    def hessian_product(self, scores: FloatArray, direction: FloatArray) -> FloatArray:
        """Product of the second derivatives with a direction. Shape (n_parameters,)."""
        by_score = self.loss.hessian_product(scores, self.scores(direction))
        return self._pull_back(by_score) + self._curvature_of_penalty(direction)

    def preconditioner(self, scores: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
        """Solver of the system in which all rows have the mean second derivatives by the scores.

        It is the Kronecker product of those with the moments of the features, and exact where the
        second derivatives are the same for all rows, as for squared losses without missing labels.
        """
        if self.n_features > LARGEST_FACTOR:
            return None
        bends, labels = scipy.linalg.eigh(self._mean_hessian(scores), check_finite=False)
        if not bends[-1] > 0:
            return None
        bends = np.maximum(bends, LEAST_BEND * bends[-1]) / self._bend
        of_penalty, features = self._moments
        of_penalty = of_penalty[:, np.newaxis]
        system = (1.0 - of_penalty) * bends + of_penalty

        def solve(residual: FloatArray) -> FloatArray:
            by_label = self._matrix(residual) @ labels
            solution = np.empty_like(by_label)
            rotated = features.T @ by_label[: self.n_features]
            solution[: self.n_features] = features @ (rotated / system)
            if self.fit_intercept:
                solution[-1] = by_label[-1] / bends
            return (solution @ labels.T).ravel()

        return solve

    def lower_bound(self, parameters: FloatArray, value: float, gradient: FloatArray) -> float:
        """Bound the minimum of the objective from below.

        The minimum over the intercepts alone is a strongly convex function of W. At W it is
        reached by steps in the intercepts, and the bound is its value less the square of its
        gradient over ``2 alpha``.
        """
        if not self.alpha > 0:
            return float("nan")
        if self.fit_intercept:
            if not self.loss.has_hessian_product:
                return float("nan")
            found = self._with_best_intercepts(parameters, value, gradient)
            if found is None:
                return float("nan")
            value, gradient = found
        by_coef = gradient[: self.n_features * self.n_labels]
        return value - float(by_coef @ by_coef) / (2 * self.alpha)

    def _with_best_intercepts(
        self, parameters: FloatArray, value: float, gradient: FloatArray
    ) -> tuple[float, FloatArray] | None:
        """Minimise over the intercepts; return the least value they can have, and the gradient."""
        bends = self._mean_hessian(self.scores(parameters))
        inverse = scipy.linalg.pinvh(bends, check_finite=False)
        parameters = parameters.copy()
        for _ in range(INTERCEPT_STEPS):
            step = inverse @ gradient[-self.n_labels :]
            decrease = float(step @ gradient[-self.n_labels :])
            if decrease <= SETTLED * abs(value):
                return value - decrease, gradient
            parameters[-self.n_labels :] -= step
            there = self.value_and_gradient(parameters)
            if not there[0] <= value:
                return None
            value, gradient = there
        return None

    def _mean_hessian(self, scores: FloatArray) -> FloatArray:
        """Second derivatives of the loss by shifts of the scores of each label, estimated.

        A product with the unit vector of a label, another one for each row, gives a column of the
        matrix of the row, and so each column of the sum from a share of the rows. Where this takes
        many products, as for more labels than rows, only the diagonal is taken.
        """
        n_rows, n_labels = self.design.shape[0], self.n_labels
        n_products = min(n_labels, -(-SAMPLED_ROWS * n_labels // n_rows))
        if n_products > MOST_PRODUCTS and self.loss.has_curvature:
            diagonal = self._by_row(self.loss.curvature(scores)).sum(axis=0)
            return self._centred(self._centred(np.diag(diagonal)).T)
        total = np.zeros((n_labels, n_labels))
        weight = np.zeros(n_labels)
        first = np.random.default_rng(0).integers(n_labels, size=n_rows)
        rows = np.arange(n_rows)
        for turn in range(n_products):
            label = (first + turn) % n_labels
            unit = np.zeros((n_rows, n_labels))
            unit[rows, label] = 1.0
            product = self._by_row(self.loss.hessian_product(scores, self._items(unit)))
            for one in range(n_labels):
                total[one] += product[label == one].sum(axis=0)
            weight += np.bincount(label, self._share, minlength=n_labels)
        total /= np.where(weight > 0, weight, 1.0)[:, np.newaxis]
        total = 0.5 * (total + total.T)
        return self._centred(self._centred(total).T)

    def _centred(self, matrix: FloatArray) -> FloatArray:
        """Take the mean over labels of one number from each row."""
        if self.shifted is None:
            return matrix
        member = (self.shifted == np.unique(self.shifted)[:, np.newaxis]).astype(np.float64)
        means = (matrix @ member.T) / member.sum(axis=1)
        return matrix - means @ member

    def _matrix(self, parameters: FloatArray) -> FloatArray:
        return parameters.reshape(-1, self.n_labels)

    def _items(self, by_row: FloatArray) -> FloatArray:
        return by_row.ravel() if self.entries is None else by_row.ravel()[self.entries]

    def _by_row(self, by_item: FloatArray) -> FloatArray:
        """Values of items as a matrix, 0 where there is none."""
        shape = (self.design.shape[0], self.n_labels)
        if self.entries is None:
            return by_item.reshape(shape)
        by_row = np.zeros(shape)
        by_row.ravel()[self.entries] = by_item
        return by_row

    def _pull_back(self, by_item: FloatArray) -> FloatArray:
        by_row = self._by_row(by_item)
        by_feature = self.design.pull_back(by_row)
        if not self.fit_intercept:
            return by_feature.ravel()
        totals = by_row.sum(axis=0)
        return np.vstack((by_feature - np.outer(self._mean, totals), totals)).ravel()

    def _curvature_of_penalty(self, direction: FloatArray) -> FloatArray:
        product = self.alpha * direction
        if self.fit_intercept:
            product[-self.n_labels :] = 0.0
        return product
