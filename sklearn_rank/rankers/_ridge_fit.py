"""Fits with a ridge penalty: its strength, free of units, and the stored certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._checkpoint import Checkpoints
from .._lists import Lists
from .._solvers import (
    BlockProblem,
    Design,
    LabelProblem,
    LinearProblem,
    LinearSolution,
    LossOfScores,
    solve_linear,
)
from .._typing import FloatArray, IntArray
from ..losses._shared import ThreadedLoss
from ..preprocessing import QueryNormalizer
from ._base import FitProgress, warn_not_converged

SCALE = "scale"

# Share of the curvature of the loss that "scale" is. Cross-validation on four sets of queries took
# 1 to 10 times it most often (benchmarks/results/query_rankers.csv).
SHARE = 0.1

# The same for labels, each with coefficients of its own. On six sets of label rankings values from
# a tenth to 3 times it did best, for squared and logistic losses of items and of pairs. With
# coordinates of a kernel, as many as rows as a rule, ten times it did best for "rbf" with its
# default gamma, by .02 in tau; for smoother kernels it did itself, by .006.
LABEL_SHARE, KERNEL_LABEL_SHARE = 0.01, 0.1

# Where along the utilities the slope of the loss is taken: losses with a margin have none at 0.
STEP = 0.5

# How many times the median curvature of the features one of them counts at most, so that features
# of about equal scales count as they are.
LARGEST_PART = 10.0

# Variance of a feature in a list that rounding explains, relative to the mean square.
LOST = 64 * float(np.finfo(np.float64).eps)

# Rows of which a copy is made at a time.
COPIED = 1024


def relative_alpha(alpha: Any) -> float | None:
    """Factor of ``"scale"`` or ``"0.1*scale"``; None for a number, which is absolute."""
    if not isinstance(alpha, str):
        return None
    factor, star, unit = alpha.rpartition("*")
    try:
        multiple = float(factor) if star else 1.0
    except ValueError:
        multiple = np.nan
    if unit.strip() != SCALE or not 0 <= multiple < np.inf:
        raise ValueError(
            f"alpha={alpha!r} must be a number of at least 0, 'scale', or a multiple such as "
            "'10*scale'."
        )
    return multiple


def alpha_of_curvature(alpha: Any, curvature: FloatArray) -> float:
    """Strength of the penalty where the curvature of the loss is known."""
    factor = relative_alpha(alpha)
    if factor is None:
        return float(alpha)
    typical = _typical(curvature)
    return factor * (SHARE * typical if 0.0 < typical < np.inf else 1.0)


def _typical(curvature: FloatArray) -> float:
    """Mean over features, none counted as more than ten times the median of those that vary.

    A single feature in large units would otherwise set the penalty of all.
    """
    varying = curvature[curvature > 0]
    if not len(varying):
        return 0.0
    return float(np.minimum(curvature, LARGEST_PART * np.median(varying)).mean())


def feature_curvature(items: Design, loss: LossOfScores, lists: Lists) -> FloatArray:
    """Curvature of the loss in the coefficient of each feature.

    It is the sum over the lists of the curvature of the loss between scores of minus and plus half
    the standardised utilities, times the variance of the feature in the list.
    """
    return _variances(items, lists, _curvatures(loss, lists))


def curvature_at_0(items: Design, loss: LossOfScores, lists: Lists) -> FloatArray:
    """Second derivative of a loss by the coefficient of each feature at scores of 0, about.

    That of scores that vary as the feature does within the lists. Shape (n_features,).
    """
    return _variances(items, lists, lists.totals(loss.curvature(np.zeros(items.shape[0]))))


def label_alpha(
    alpha: Any,
    scales: FloatArray,
    loss: ThreadedLoss,
    lists: Lists,
    n_labels: int,
    *,
    is_kernel: bool,
) -> float:
    """Strength of the penalty of a problem in which each label has coefficients of its own."""
    factor = relative_alpha(alpha)
    if factor is None:
        return float(alpha)
    share = KERNEL_LABEL_SHARE if is_kernel else LABEL_SHARE
    variances = scales**2
    curvature = float(_curvatures(loss, lists).sum()) / n_labels
    # Coordinates of a kernel differ in length by their nature.
    scale = curvature * (float(variances.mean()) if is_kernel else _typical(variances))
    return factor * (share * scale if 0.0 < scale < np.inf else 1.0)


def _curvatures(loss: LossOfScores, lists: Lists) -> FloatArray:
    """Curvature of the loss of each list along its standardised utilities."""
    standard = QueryNormalizer().fit_transform(
        lists.grade[:, np.newaxis], qid=lists.list_of, sample_weight=lists.weight
    )[:, 0]
    _, above = loss.value_and_gradient(STEP * standard)
    _, below = loss.value_and_gradient(-STEP * standard)
    return lists.totals(standard * (above - below)) / (2.0 * STEP)


def _variances(items: Design, lists: Lists, factor: FloatArray) -> FloatArray:
    """Sum over the lists, with factors, of the variance of each feature in the list."""
    n, n_features = items.shape
    share = lists.counts / lists.to_items(lists.sizes)
    total, last_parts = np.zeros(n_features), None
    for start in range(0, n, COPIED):
        stop = min(start + COPIED, n)
        first, last = np.searchsorted(lists.offsets, (start, stop - 1), "right") - 1
        begins = np.maximum(lists.offsets[first : last + 1], start) - start
        block: Any = items.rows(slice(start, stop))
        # The list of the first row may have begun in an earlier block.
        earlier = last_parts if lists.offsets[first] < start else None
        parts = _parts_of(block.matrix, share[start:stop], begins, earlier)
        # The last one may go on in the next.
        ends = last + 1 if lists.offsets[last + 1] <= stop else last
        total += parts.variances(factor[first:ends])
        last_parts = parts.last()
    return total


class _Parts(NamedTuple):
    """Weighted sums over the rows of lists, as far as they were seen."""

    origin: FloatArray | None
    means: Any  # (n_lists, n_features): Sums of rows times their shares
    squares: Any  # (n_lists, n_features): Sums of squares of rows times their shares

    def variances(self, factor: FloatArray) -> FloatArray:
        """Sum over the first lists, with factors, of the variances of each feature."""
        means, squares = self.means[: len(factor)], self.squares[: len(factor)]
        if self.origin is None:
            centred = (squares - means.multiply(means)).tocsr()
            # Of a feature that is constant in a list rounding is left.
            centred = centred.multiply(centred > LOST * squares).tocsr()
            return np.asarray(centred.T @ factor)
        variances = np.maximum(squares - means * means, 0.0)
        variances[variances <= LOST * LOST * self.origin[: len(factor)] ** 2] = 0.0
        return np.asarray(factor @ variances)

    def last(self) -> _Parts:
        origin = None if self.origin is None else self.origin[-1:]
        return _Parts(origin, self.means[-1:], self.squares[-1:])


def _parts_of(rows: Any, share: FloatArray, begins: IntArray, earlier: _Parts | None) -> _Parts:
    """Sums over a block of rows, which go on with those of an earlier block."""
    if sp.issparse(rows):
        columns = np.arange(len(share))
        by_list = sp.csr_array((share, columns, np.append(begins, len(share))))
        means, squares = by_list @ rows, by_list @ rows.power(2)
        if earlier is not None:
            means = sp.vstack((means[:1] + earlier.means, means[1:]), format="csr")
            squares = sp.vstack((squares[:1] + earlier.squares, squares[1:]), format="csr")
        return _Parts(None, means, squares)
    origin = rows[begins].astype(np.float64)
    if earlier is not None:
        origin[0] = earlier.origin
    moved = rows - np.repeat(origin, np.diff(begins, append=len(share)), axis=0)
    weighted = share[:, np.newaxis] * moved
    means = np.add.reduceat(weighted, begins, axis=0)
    weighted *= moved
    squares = np.add.reduceat(weighted, begins, axis=0)
    if earlier is not None:
        means[0] += earlier.means[0]
        squares[0] += earlier.squares[0]
    return _Parts(origin, means, squares)


# Name of the parameters in a checkpoint.
ITERATE = "iterate"
# Digits that evaluations of one problem share, in whatever order sums are taken.
SHARED_DIGITS = 8


def ridge_solution(
    estimator: Any,
    problem: LinearProblem | BlockProblem | LabelProblem,
    start: FloatArray | None,
    data: tuple[Any, Any],
    checkpoints: Checkpoints | None = None,
) -> LinearSolution:
    """Solve the problem of an estimator, and store its intercepts and certificate there."""
    progress = FitProgress(estimator, estimator.max_iter, *data, criterion="gradient_norm")
    n_done, keep = 0, None
    if checkpoints is not None:
        checkpoint = checkpoints.of(*_checkpoint_key(problem))
        like = {"parameters": ("f", (problem.n_parameters,)), "n_iter": ("i", ())}
        saved = checkpoint.load(ITERATE, like=like)
        if saved is not None:
            start, n_done = saved["parameters"], int(saved["n_iter"])

        def keep(n_iter: int, parameters: FloatArray) -> None:
            checkpoint.save(ITERATE, parameters=parameters, n_iter=n_done + n_iter)

    solution = solve_linear(
        problem,
        method=estimator.solver,
        tol=estimator.tol,
        max_iter=max(1, estimator.max_iter - n_done),
        start=start,
        on_iteration=lambda n_iter, *values: progress.iteration(n_done + n_iter, *values),
        keep=keep,
    )
    certificate = replace(solution.certificate, n_iter=n_done + solution.certificate.n_iter)
    if not certificate.converged:
        warn_not_converged(
            "gradient_norm",
            certificate.gradient_norm,
            n_iter=certificate.n_iter,
            max_iter=estimator.max_iter,
            tol=estimator.tol,
            regularise="raise alpha",
        )
    estimator.intercept_ = solution.intercept
    estimator.objective_ = certificate.objective
    estimator.lower_bound_ = certificate.lower_bound
    estimator.gradient_norm_ = certificate.gradient_norm
    estimator.converged_ = certificate.converged
    estimator.n_iter_ = certificate.n_iter
    progress.done()
    return solution


def _checkpoint_key(problem: LinearProblem | BlockProblem | LabelProblem) -> tuple[Any, ...]:
    """Numbers by which a problem is known again: its value and gradient at 0, and its penalty.

    They need no copy of the data, which may be anywhere. Parameters of another problem would cost
    iterations, but lead to the same minimum.
    """
    value, gradient = problem.value_and_gradient(np.zeros(problem.n_parameters))
    size = float(np.linalg.norm(gradient)) or 1.0
    numbers = [f"{number:.{SHARED_DIGITS}e}" for number in (value, size, problem.alpha)]
    return *numbers, np.round(gradient / size, SHARED_DIGITS) + 0.0
