"""A search for distributions of labels for which a loss is not calibrated for a measure."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import linprog, minimize
from sklearn.exceptions import UndefinedMetricWarning

from ._lists import Lists
from ._printed import Printed
from ._typing import FloatArray, IntArray
from ._validation import check_choice, check_number, check_random_state, check_whole, is_whole
from .losses import TemplateLoss
from .losses._shared import check_loss
from .metrics import Measure, get_measure
from .metrics._shared import MeasureLike, positional_form, utilities_of


class Minimum(NamedTuple):
    """A small value of the expected loss."""

    score: FloatArray  # (n,)
    value: float  # The expected loss at the scores
    gap: float  # Largest difference from the infimum


class InnerRisk:
    """Expected loss of the scores of one list."""

    def __init__(self, loss: TemplateLoss, utilities: FloatArray, chances: FloatArray) -> None:
        self.shape = utilities.shape
        offsets = np.arange(self.shape[0] + 1) * self.shape[1]
        self.lists = loss.on(utilities.ravel(), offsets, query_weight=chances)
        # Scores are searched in this range about 0; exponentials hardly change beyond it.
        self.bound = 40.0 + float(utilities.max())

    def value_and_gradient(self, score: FloatArray) -> tuple[float, FloatArray]:
        values, gradient = self.lists.value_and_gradient(np.tile(score, self.shape[0]))
        return float(values.sum()), gradient.reshape(self.shape).sum(axis=0)

    def minimum(self, accuracy: float) -> Minimum:
        n = self.shape[1]
        return self._minimise(
            np.eye(n), np.full(n, -self.bound), lambda value, floor: value - floor <= accuracy
        )

    def minimum_of_constants(self) -> Minimum:
        basis = np.ones((self.shape[1], 1))
        return self._minimise(basis, np.array([-self.bound]), lambda value, floor: True)

    def minimum_in_order(self, order: IntArray, goal: float) -> Minimum:
        """Minimise over scores that do not increase along an order, until a goal is decided."""
        n = self.shape[1]
        # The first score, and the steps down from each to the next.
        basis = np.zeros((n, n))
        basis[order] = np.c_[np.ones(n), -np.tri(n, n - 1, -1)]
        lower = np.r_[-self.bound, np.zeros(n - 1)]
        return self._minimise(basis, lower, lambda value, floor: value <= goal or floor > goal)

    def _minimise(
        self, basis: FloatArray, lower: FloatArray, is_enough: Callable[[float, float], bool]
    ) -> Minimum:
        """Minimise over ``basis @ z``, z in a box from ``lower`` to the bound of the scores.

        ``is_enough`` says of a value and a floor of all values whether the search may end.
        """
        upper = np.full(len(lower), self.bound)
        box = list(zip(lower, upper, strict=True))

        def objective(z: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self.value_and_gradient(basis @ z)
            return value, basis.T @ gradient

        solution = minimize(
            objective,
            np.clip(0.0, lower, upper),
            jac=True,
            method="L-BFGS-B",
            bounds=box,
            options={"ftol": 0.0, "gtol": 1e-11, "maxiter": 300, "maxls": 40},
        )
        value, slope = objective(solution.x)
        # A convex function is above its tangent, whose least value over the box is at a corner.
        drop = np.maximum(slope * (solution.x - lower), slope * (solution.x - upper))
        best = Minimum(solution.x, value, float(drop.sum()))
        if not is_enough(value, value - best.gap):
            best = _by_planes(objective, best, box, is_enough)
        return Minimum(basis @ best.score, best.value, best.gap)


def _by_planes(
    objective: Callable[[FloatArray], tuple[float, FloatArray]],
    start: Minimum,
    box: list[tuple[float, float]],
    is_enough: Callable[[float, float], bool],
) -> Minimum:
    """Kelley's cutting planes, for losses with kinks, at which quasi-Newton steps get stuck."""
    z, best, floor = start.score, start.value, start.value - start.gap
    point, planes, heights = z, [], []
    # The last of the variables is the height above all planes.
    height, unbounded = np.eye(len(z) + 1)[-1], (None, None)
    for _ in range(200):
        value, slope = objective(point)
        if value < best:
            best, z = value, point
        if is_enough(best, floor):
            break
        planes.append(np.r_[slope, -1.0])
        heights.append(slope @ point - value)
        solution = linprog(height, A_ub=planes, b_ub=heights, bounds=[*box, unbounded])
        if not solution.success:
            break
        point, floor = solution.x[:-1], max(floor, solution.x[-1])
    return Minimum(z, best, best - floor)


Labels: TypeAlias = Literal["dependent", "independent"]


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationCheck(Printed):
    """Result of a search for a counterexample to calibration.

    Parameters
    ----------
    loss : str
        The loss.
    measure : str
        The measure.
    found : bool
        Whether a counterexample was found. If not, all attributes from ``labels`` on are None.
    n_items : int
        Length of the lists.
    n_tried : int
        Number of distributions that were tried; the last one is the counterexample, if found.
    margin : float
        Minimum regret of a counterexample, as a share of the greatest regret under the
        distribution.
    labels : ndarray of shape (n_cases, n_items) or None, default=None
        Labels of the list in each case.
    probabilities : ndarray of shape (n_cases,) or None, default=None
        Probabilities of the cases.
    expected_utility : ndarray of shape (n_items,) or None, default=None
        Expected utilities of the items.
    score : ndarray of shape (n_items,) or None, default=None
        Scores of minimum expected loss, or near it if the infimum is not attained.
    order : ndarray of shape (n_items,) or None, default=None
        An order of the items, the top first, that agrees with the scores.
    best_order : ndarray of shape (n_items,) or None, default=None
        An order of greatest expected measure.
    regret : float or None, default=None
        Greatest expected measure minus that of ``order``.
    surrogate_regret : float or None, default=None
        Upper bound of the difference of the expected loss of ``score`` and its infimum.

    Examples
    --------
    >>> from sklearn_rank.calibration import check_calibration
    >>> check = check_calibration(
    ...     "pairwise_squared", "dcg", n_trials=20, random_state=0
    ... )
    >>> print(check)
    PairwiseSquared() and dcg: no counterexample found.
    Tried were 20 distributions of the labels of 3 items, which is no proof that there is none.
    """

    loss: str
    measure: str
    found: bool
    n_items: int
    n_tried: int
    margin: float
    labels: IntArray | None = None
    probabilities: FloatArray | None = None
    expected_utility: FloatArray | None = None
    score: FloatArray | None = None
    order: IntArray | None = None
    best_order: IntArray | None = None
    regret: float | None = None
    surrogate_regret: float | None = None

    def __str__(self) -> str:
        pair, lists = f"{self.loss} and {self.measure}", f"the labels of {self.n_items} items"
        if self.labels is None or self.probabilities is None:
            return (
                f"{pair}: no counterexample found.\nTried were {self.n_tried} distributions of"
                f" {lists}, which is no proof that there is none."
            )
        cases = [
            f"  labels {row.tolist()} with probability {probability:g}"
            for row, probability in zip(self.labels, self.probabilities, strict=True)
        ]
        order, best = (np.asarray(x).tolist() for x in (self.order, self.best_order))
        with np.printoptions(precision=4, suppress=True):
            lines = [
                f"{pair}: a counterexample, the last of {self.n_tried} distributions of {lists}.",
                *cases,
                f"  expected utilities   {self.expected_utility}",
                f"  scores of least loss {self.score}",
                f"These scores order the items {order}, which falls {self.regret:.4g} short of"
                f" {best}, the best order.",
            ]
        return "\n".join(lines)


def check_calibration(
    loss: TemplateLoss | str,
    measure: MeasureLike,
    *,
    n_items: int = 3,
    n_trials: int = 100,
    labels: Labels = "dependent",
    margin: float = 0.02,
    random_state: Any = None,
) -> CalibrationCheck:
    """Search for a distribution of labels for which a loss is not calibrated for a measure.

    A counterexample is a distribution of the labels of one list and a suboptimal order of its
    items, such that scores in this order come arbitrarily close to the infimum of the expected
    loss. Minimising the loss then need not give an optimal order, for any amount of data.

    Parameters
    ----------
    loss : TemplateLoss or str
        A convex loss, or its name. The utilities of the measure are passed to it.
    measure : str, Measure, ScoreGeneratingFunction or callable
        Measure that defines utilities, such as ``"ndcg@10"`` or ``"auc"``, and "ap" and "err"; see
        :func:`utility`.
    n_items : int, default=3
        Length of the list, 2 to 5. Average precision and expected reciprocal rank have
        counterexamples for 3 or more items.
    n_trials : int, default=100
        Number of distributions to try, at least 1.
    labels : {"dependent", "independent"}, default="dependent"
        "dependent": distributions on up to four vectors of labels. "independent": independent
        labels of the items.
    margin : float, default=0.02
        Minimum regret of a counterexample, as a share of the regret of the worst order, from 0.005
        to 1.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing the distributions.

    Returns
    -------
    CalibrationCheck
        The counterexample, if one was found. A search without a result is not a proof of
        calibration.

    Raises
    ------
    ValueError
        If the loss is not convex, the measure defines no utilities, or utilities above the limit
        of the loss, or an argument is not valid.

    See Also
    --------
    regret_bound : The guarantee for losses that are order-preserving.

    Notes
    -----
    Labels are 0 and 1, or grades 0, 1 and 2 for measures of grades. For each distribution, the
    expected loss is minimised over all scores, and over the convex cone of scores that agree with
    each order of positive regret. Scores are limited to 40 in absolute value, to follow minimisers
    at infinity. A minimum over a cone counts as equal to the overall minimum if it exceeds it, or
    a certified lower bound of it, by less than ``0.0025 margin**2`` of the gain by ordering. A
    list for which the measure is undefined (for example without positives) counts as a constant.
    The cost is O(n_items!) per distribution: a hundred distributions take a few seconds for three
    items, and minutes for five.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Definition
       2.3, Theorems 3.2 and 3.3.

    Examples
    --------
    The RankNet loss learns which item has the higher label more often, and is not calibrated:

    >>> from sklearn_rank.calibration import check_calibration
    >>> check = check_calibration("comparison_logistic", "ndcg", random_state=0)
    >>> check.found
    True
    """
    loss = check_loss(loss)
    if not loss.is_convex:
        raise ValueError(f"{loss!r} is not convex, so its infimum is unknown: pass a convex loss.")
    if not is_whole(n_items) or n_items not in range(2, 6):
        raise ValueError(f"n_items={n_items!r} must be a whole number from 2 to 5.")
    check_whole("n_trials", n_trials)
    check_choice("labels", labels, ("dependent", "independent"))
    check_number("margin", margin, 0.005, 1.0, closed="left")
    positional, _ = positional_form(measure)
    # Lists for which the measure is undefined count as a constant.
    counted = get_measure(positional, undefined=0.0)
    table = _Labellings(counted, int(n_items))
    random = check_random_state(random_state)
    draw = table.draw_independent if labels == "independent" else table.draw_dependent
    example, n_tried = None, 0
    while example is None and n_tried < n_trials:
        cases, probabilities = draw(random)
        example = _counterexample(loss, table, cases, probabilities, float(margin))
        n_tried += 1
    return CalibrationCheck(
        loss=repr(loss),
        measure=positional.name,
        found=example is not None,
        n_items=int(n_items),
        n_tried=n_tried,
        margin=float(margin),
        **(example or {}),
    )


class _Labellings:
    """All labels of a short list.

    The labels of an item; all labels and their utilities, of shape (n_cases, n); all orders, of
    shape (n!, n); and the measure of each order for each vector of labels.
    """

    def __init__(self, measure: Measure, n: int) -> None:
        self.grid = (0, 1) if measure.kind == "binary" else (0, 1, 2)
        self.labels = labels = np.array(list(product(self.grid, repeat=n)))
        self.orders = orders = np.array(list(permutations(range(n))))
        # Each vector of labels with the scores of each order.
        y_true = np.repeat(labels, len(orders), axis=0)
        y_score = np.tile(-np.argsort(orders, axis=1), (len(labels), 1))
        qid = np.repeat(np.arange(len(y_true)), n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            values = measure(y_true.ravel(), y_score.ravel(), qid=qid, average=None)
        items = labels.ravel() == 1 if measure.kind == "binary" else labels.ravel().astype(float)
        utilities = utilities_of(measure, Lists(items, n * np.arange(len(labels) + 1)))
        self.utilities = utilities.reshape(labels.shape)
        self.values = np.asarray(values).reshape(len(labels), len(orders))

    def draw_dependent(self, random: Any) -> tuple[IntArray, FloatArray]:
        """Two to four cases, whose probabilities are multiples of .05 and can be written down."""
        size, parts = random.randint(2, 5), 20
        cases = random.choice(len(self.labels), size, replace=False)
        cuts = np.sort(random.choice(parts - 1, size - 1, replace=False)) + 1
        return cases, np.diff(np.r_[0, cuts, parts]) / parts

    def draw_independent(self, random: Any) -> tuple[IntArray, FloatArray]:
        """Products of distributions of the labels of the items."""
        chances = random.dirichlet(np.full(len(self.grid), 0.7), self.labels.shape[1])
        places = np.searchsorted(self.grid, self.labels)
        probabilities = np.prod(np.take_along_axis(chances.T, places, axis=0), axis=1)
        return np.arange(len(self.labels)), probabilities / probabilities.sum()


def _counterexample(
    loss: TemplateLoss, table: _Labellings, cases: IntArray, chances: FloatArray, margin: float
) -> dict[str, Any] | None:
    expected = chances @ table.values[cases]
    regret = expected.max() - expected
    # Orders that differ by rounding, as a share of the largest difference under any labels.
    if regret.max() < 1e-2 * np.ptp(table.values, axis=1).max():
        return None
    risk = InnerRisk(loss, table.utilities[cases], chances)
    constant = risk.minimum_of_constants().value
    least = risk.minimum(np.inf)
    # In bounds, surrogate regrets are as the squares of regrets; this share of the gain by
    # ordering counts as none.
    allowed = 2.5e-3 * margin**2 * max(constant - least.value, 0.0) + 1e-10 * abs(constant)
    if least.gap > allowed / 4:
        least = risk.minimum(allowed / 4)
    floor = least.value - least.gap
    bad = np.flatnonzero(regret > margin * regret.max())
    for k in bad[np.argsort(-regret[bad])]:
        minimum = risk.minimum_in_order(table.orders[k], floor + allowed)
        if minimum.value <= floor + allowed:
            return {
                "labels": table.labels[cases],
                "probabilities": chances,
                "expected_utility": chances @ table.utilities[cases],
                "score": minimum.score,
                "order": table.orders[k],
                "best_order": table.orders[int(np.argmax(expected))],
                "regret": float(regret[k]),
                "surrogate_regret": max(float(minimum.value - floor), 0.0),
            }
    return None
