"""Direct maximisation of a linear rank statistic (Clémençon & Vayatis 2009)."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from .._lists import ScoredLists
from .._order import merge_rounded
from .._sklearn_compat import Interval
from .._solvers import (
    CumulatedPhi,
    Design,
    InMemoryDesign,
    RankStatisticProblem,
    RankStatisticSolution,
    Search,
    SolverResult,
    maximise_rank_statistic,
    solve_logistic_regression,
)
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import hint_of_adaboost
from .._warn import warn
from ..metrics import Measure, ScoreGeneratingFunction, get_measure
from ..metrics._shared import LinearRankMeasure, as_score_generating, cumulated, phi_of
from ._base import FitProgress
from ._two_classes import (
    KernelRanker,
    OneProblemRanker,
    TwoClasses,
    fit_with_weights,
    rounding_of_sums,
    weight_argument,
)

# Cells of ranks in which phi is summed up; shorter lists have a cell for each rank.
MOST_CELLS = 2**16


def read_phi(phi: Any) -> ScoreGeneratingFunction:
    if isinstance(phi, ScoreGeneratingFunction):
        return phi
    is_name = isinstance(phi, str) and phi not in ("wilcoxon", "van_der_waerden")
    # Functions of this package are measures, not score-generating functions.
    is_metric = str(getattr(phi, "__module__", "")).startswith("sklearn_rank.metrics")
    if is_name or is_metric or isinstance(phi, Measure):
        generating = phi_of(get_measure(phi))
        if generating is None:
            raise ValueError(
                f"phi={phi!r} is not a linear rank statistic: pass one, such as 'auc', "
                "'local_auc@0.8', 'pnorm@4' or 'bedroc@20', or a score-generating function, "
                "such as sklearn_rank.metrics.TopDCG(10)."
            )
        return generating
    return as_score_generating(phi)


def sums_over_ranks(phi: ScoreGeneratingFunction, length: float) -> CumulatedPhi:
    rank = np.linspace(0.0, length, 1 + int(min(np.ceil(length), MOST_CELLS)))
    sums = CumulatedPhi(rank, cumulated(phi, rank))
    if not phi._rises(np.asarray(length)):
        raise ValueError(
            f"phi={phi!r} has the same value at all {length:g} ranks, so that all orders are "
            "equally good: pass a function that varies over more of the list. A row of "
            "weight w counts as w rows: pass sample_weight / sample_weight.mean() if only the "
            f"proportions mean anything.{hint_of_adaboost(length)}"
        )
    return sums


# Values of the statistic that differ by less are equal.
ROUNDING = 1e-11


class RankStatisticRanker(OneProblemRanker):
    r"""Linear or kernel ranker that maximises a linear rank statistic directly.

    The statistic of scores :math:`s = w \cdot x` is

    .. math:: W_\varphi = \sum_{i \text{ positive}} \varphi\Bigl(\frac{R_i}{n + 1}\Bigr),

    where R is the rank among all n rows. It is neither continuous nor concave in w. The ranker
    starts from another linear classifier and ascends the statistic of kernel-smoothed ranks. It
    finds the best weights by the exact statistic, and returns them if held-out folds agree that
    they are better than the start; else it returns the start. There is no certificate of the
    distance to the maximum.

    Parameters
    ----------
    phi : str, Measure, ScoreGeneratingFunction or callable, default="local_auc@0.8"
        Score-generating function: one of :mod:`sklearn_rank.metrics`; a measure that is a linear
        rank statistic, or its name, such as ``"auc"``, ``"local_auc@0.8"``, ``"pnorm@4"`` or
        ``"bedroc@20"``; "wilcoxon"; "van_der_waerden"; or a nondecreasing function on (0, 1).
    pos_label : int, float, bool, str or None, default=None
        The class to be ranked at the top. None takes 1 if the labels are 0 and 1 or -1 and 1, and
        otherwise the greater label, with a warning.
    bandwidth : float, default=1.0
        Half-width of the kernel that smooths the ranks, in standard deviations of the scores,
        positive. A smaller value fits the training rows more closely. Each run begins with twice
        this value.
    anchor : float, default=0.5
        Weight, at least 0, of the correlation with the scores of the start, relative to the
        statistic scaled to [0, 1]. A greater value stays nearer to the start. With 0 only the
        statistic counts.
    n_init : int, default=1
        Number of runs. The first begins at the start, the others in random directions at 45
        degrees to it. With 0 the start is the solution.
    start : classifier or None, default=None
        Linear classifier with ``coef_`` whose ``fit`` takes ``sample_weight``; with a kernel it is
        fitted to the kernel coordinates of the rows. ``FrozenEstimator(classifier)`` starts from
        the ``coef_`` of a fitted classifier. None is the solution of ``LogisticRegression(C=C)``.
    C : float, default=1.0
        Inverse regularisation strength of the default start, positive. No effect with another
        ``start``.
    n_folds : int or None, default=5
        Number of folds, at least 2, in which the start and the maximisation are fitted to the
        other folds and compared on this one. The start is returned unless the maximisation is
        better by more than the standard error of the mean difference of the statistic. None
        always returns the best weights by the training rows. A fit takes up to ``n_folds`` times
        as long as with None.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Kernel, positive semidefinite. "precomputed" takes matrices in place of rows: K(X, X) in
        ``fit``, K(X_new, X) after it. A callable takes two rows and returns a number.
    gamma : float or None, default=None
        Coefficient of "rbf", ``exp(-gamma |x - z|^2)``, and "poly", ``(gamma x.z +
        coef0)^degree``. None is ``1 / n_features``.
    degree : float, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=1
        Constant term of the "poly" kernel.
    kernel_params : dict or None, default=None
        Keyword arguments of a callable kernel.
    tol : float, default=1e-4
        Tolerance on the greatest entry of the gradient of the smoothed statistic, in coordinates
        in which the rows are uncorrelated; positive.
    max_iter : int, default=1000
        Maximum number of iterations of all runs together.
    random_state : int, RandomState or None, default=None
        Seed for the directions of the runs after the first. No effect for ``n_init=1``.
    verbose : int, default=0
        1 writes a line for each iteration to the standard error; 0 is silent.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes, ascending.
    pos_label_ : object
        The positive class.
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the features, scaled so that the scores of the training rows have variance
        1, since the statistic does not depend on the scale. Only for ``kernel="linear"``.
    dual_coef_, support_, X_fit_ : ndarray
        Coefficients, indices and features of the support rows, whose images span those of all rows
        up to rounding. Only for other kernels; ``X_fit_`` not for "precomputed".
    intercept_ : ndarray of shape (1,)
        ``-threshold_``.
    threshold_ : float
        Threshold above which rows are predicted positive: it cuts the share of positives off new
        rows. It is a quantile of the training scores, or of out-of-fold scores with a kernel or
        fewer than 10 rows a feature, which takes up to five more fits.
    value_ : float
        Exact statistic of the training rows, scaled so that its worst value is 0 and its best
        value is 1.
    start_value_ : float
        The same for the start; ``value_`` is at least this.
    fold_values_ : ndarray of shape (n_folds, 2)
        Statistic of each fold for the start and for the maximisation, fitted to the other folds.
        Without rows if there was nothing to compare: ``n_folds`` is None, the start has the value
        1, or a class has fewer than two different rows.
    gradient_norm_ : float
        Greatest entry of the gradient of the smoothed statistic at the end of the run that found
        the solution; NaN if no run was needed.
    converged_ : bool
        Whether all runs reached ``tol`` within ``max_iter`` iterations.
    n_iter_ : int
        Number of iterations of all runs on all rows; 1 if none was needed.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen in ``fit``, if they are all strings.

    See Also
    --------
    TopFocusedRanker : Weights rows by the derivative of phi and refits a classifier.
    PNormPushRanker : A convex problem for the top, with a certificate.
    sklearn_rank.metrics.linear_rank_score : The statistic.

    Notes
    -----
    **When to use it.** It improves on the start if the model of the start is misspecified at the
    top and there are many rows for each feature. On 10,000 simulated rows of 10 features, where
    the top depends on another feature than the bulk, BEDROC(20) of held-out rows increases from
    .60 (logistic regression) to .69, and to .76 with ``anchor=0``. If one row in a hundred is an
    outlier, it increases from .80 to .81 with ``bandwidth=0.25``, but not with 1.

    **When it overfits.** A greater statistic on the training rows is often not one on held-out
    rows, least of all with about as many features as rows. By the folds the start is then
    returned. Equal rows are in one fold, and the folds depend on neither the order of the rows nor
    a seed. The table shows, for ``n_folds=None``, differences from logistic regression on
    standardised features as means over 20 random halvings (5 for a9a), with standard errors:

    ========================  ==============  ==============  ==============
    statistic, set, n / 2     default         b=.25           b=.25, a=0
    ========================  ==============  ==============  ==============
    BEDROC, pima, 384         -.001 +- .002   -.014 +- .004   -.025 +- .008
    BEDROC, spambase, 2,105   +.001 +- .001   +.005 +- .001   +.002 +- .002
    BEDROC, a9a, 16,280       +.002 +- .001   -.000 +- .001   -.005 +- .002
    local AUC, pima           -.005 +- .004   -.007 +- .005   -.024 +- .009
    local AUC, spambase       .000 +- .000    +.000 +- .001   -.006 +- .002
    local AUC, a9a            +.001 +- .002   -.005 +- .002   -.009 +- .001
    ========================  ==============  ==============  ==============

    Here b is ``bandwidth`` and a is ``anchor``: choose by cross-validation among 1 and .25, and 0
    and .5. A kernel with as many coordinates as rows overfits more. If the start has the value 1,
    as on separable rows, it is returned.

    **Smoothing.** With scores of variance 1 the rank of a row is the sum over the rows of the
    integral of Epanechnikov's kernel at the difference of the scores, over the bandwidth. Phi is
    averaged with a triangular kernel of half-width ``bandwidth / 4`` of the list, which removes
    its jumps. The returned solution is selected by the exact statistic, in which tied rows get the
    mean of phi over their ranks.

    An iteration takes O(n log n) and about two products with the rows. Fits take about 10 to 100
    iterations: 16,000 rows of 123 features take 1 to 4 seconds. Memory is 160 bytes per row and a
    d x d matrix. With a kernel, the random directions depend on the order of the rows. Batches are
    read about ten times for the default start, and twice for each gradient, in each fold, too.

    A row of weight 2 counts as two rows: ranks are counted in units of weight, and n is the sum of
    the weights.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_rank import RankStatisticRanker
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> ranker = RankStatisticRanker("auc").fit(X[::2], y[::2])
    >>> ranker.fold_values_.mean(axis=0).round(2)
    array([0.93, 0.91])
    >>> ranker.value_ == ranker.start_value_
    True
    """

    _criterion = "statistic"
    _parameter_constraints = {
        **KernelRanker._parameter_constraints,
        "phi": [str, Measure, ScoreGeneratingFunction, callable],
        "bandwidth": [Interval(Real, 0, 1e6, closed="right")],
        "anchor": [Interval(Real, 0, None, closed="left")],
        "n_init": [Interval(Integral, 0, None, closed="left")],
        "start": "no_validation",
        "n_folds": [Interval(Integral, 2, None, closed="left"), None],
    }

    def __init__(
        self,
        phi="local_auc@0.8",
        *,
        pos_label=None,
        bandwidth=1.0,
        anchor=0.5,
        n_init=1,
        start=None,
        C=1.0,
        n_folds=5,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1.0,
        kernel_params=None,
        tol=1e-4,
        max_iter=1000,
        random_state=None,
        verbose=0,
    ):
        super().__init__(kernel, gamma, degree, coef0, kernel_params, tol, max_iter, verbose)
        self.phi = phi
        self.pos_label = pos_label
        self.bandwidth = bandwidth
        self.anchor = anchor
        self.n_init = n_init
        self.start = start
        self.C = C
        self.n_folds = n_folds
        self.random_state = random_state

    def _check_parameters(self, *, blocked: bool) -> None:
        # Errors in these parameters are raised before a kernel is computed or rows are read.
        super()._check_parameters(blocked=blocked)
        read_phi(self.phi)
        if self.start is None:
            return
        weight_argument(self.start)
        if blocked and not isinstance(self.start, FrozenEstimator):
            raise ValueError(
                f"start={self.start!r} needs rows in memory, but X is read in blocks: pass "
                "start=None, or FrozenEstimator(classifier) of sklearn.frozen with a fitted "
                "classifier."
            )

    def _solve(self, design: Design, rows: TwoClasses, progress: FitProgress) -> SolverResult:
        phi = read_phi(self.phi)
        LinearRankMeasure(phi=phi)._check_fit_weights(_one_list(rows))
        search = Search(
            float(self.bandwidth),
            float(self.anchor),
            self.n_init,
            self.tol,
            self.max_iter,
            check_random_state(self.random_state),
        )
        problem = _problem(phi, design, rows)
        start = self._start(design, rows)
        self.fold_values_ = self._compare_in_folds(phi, problem, rows, start, search)
        search = search._replace(n_init=self._n_runs())
        return maximise_rank_statistic(problem, start, search, progress.iteration)

    def _n_runs(self) -> int:
        """Number of runs, or 0 where folds do not show that they are better than the start."""
        gain = np.diff(self.fold_values_)[:, 0]
        error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) else 0.0
        is_better = len(gain) and gain.mean() > error
        return self.n_init if is_better or self.n_folds is None else 0

    def _parameters_of_folds(self) -> dict[str, Any]:
        """Parameters of the fits to folds, which decide as the fit to all rows did."""
        return {"verbose": 0, "n_folds": None, "n_init": self._n_runs()}

    def _compare_in_folds(
        self,
        phi: ScoreGeneratingFunction,
        problem: RankStatisticProblem,
        rows: TwoClasses,
        start: FloatArray,
        search: Search,
    ) -> FloatArray:
        values = np.empty((0, 2))
        scores, terms = problem.design.scores_with_terms(start)
        if (
            self.n_folds is None
            or not self.n_init
            or problem.exact(scores, terms) >= 1.0 - ROUNDING
        ):
            return values
        fold = _folds_of(scores, rounding_of_sums(terms, len(start)), rows.positive, self.n_folds)
        for number in range(int(fold.max()) + 1 if fold.any() else 0):
            train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            rows_train, rows_test = rows.part(train), rows.part(test)
            # Some order of the rows must be better than another.
            if not all(phi._rises(part.weight.sum()) for part in (rows_test, rows_train)):
                return np.empty((0, 2))
            train_problem = _problem(phi, problem.design.rows(train), rows_train)
            test_problem = _problem(phi, problem.design.rows(test), rows_test)
            # The fit to all rows gives the same warnings.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = self._start(train_problem.design, rows_train)
            coef = maximise_rank_statistic(train_problem, start, search).coef
            statistics = [
                test_problem.exact(*test_problem.design.scores_with_terms(weights))
                for weights in (start, coef)
            ]
            values = np.vstack([values, statistics])
        return values

    def _start(self, design: Design, rows: TwoClasses) -> FloatArray:
        if self.start is None:
            return solve_logistic_regression(
                design, rows.positive, rows.weight, float(self.C)
            ).coef
        # For rows that are not in memory, the start is already fitted.
        X = design.matrix if isinstance(design, InMemoryDesign) else None
        model = fit_with_weights(self.start, X, rows.positive, rows.weight)
        coef = np.ravel(getattr(model, "coef_", []))
        n_features = design.shape[1]
        if len(coef) != n_features:
            raise TypeError(
                f"start={self.start!r} has no coef_ with {n_features} coefficients: pass a "
                "linear classifier, such as LogisticRegression(), and scale the features before "
                "this ranker."
            )
        # A frozen classifier scores its second class high, others the positive class.
        sign = rows.direction if isinstance(self.start, FrozenEstimator) else 1.0
        return sign * coef.astype(np.float64)

    def _store_certificate(self, result: SolverResult) -> None:
        certificate = result.certificate
        self.value_ = certificate.objective
        if isinstance(result, RankStatisticSolution):
            self.start_value_ = result.start_value
        self.gradient_norm_ = certificate.gradient_norm
        self.n_iter_ = max(1, certificate.n_iter)
        self.converged_ = certificate.converged
        if not certificate.converged:
            warn(
                f"RankStatisticRanker did not converge within max_iter={self.max_iter} "
                "iterations: raise max_iter, tol or bandwidth, or lower n_init.",
                ConvergenceWarning,
            )


def _problem(
    phi: ScoreGeneratingFunction, design: Design, rows: TwoClasses
) -> RankStatisticProblem:
    measure = LinearRankMeasure(phi=phi)
    lists = _one_list(rows)

    def exact(scores: FloatArray, terms: FloatArray) -> float:
        merged = merge_rounded(scores, rounding_of_sums(terms, design.shape[1]))
        return float(measure.values(replace(lists, score=merged))[0])

    sums = sums_over_ranks(phi, float(rows.weight.sum()))
    return RankStatisticProblem(design, rows.positive, rows.weight, sums, exact)


def _one_list(rows: TwoClasses) -> ScoredLists:
    n = len(rows.positive)
    return ScoredLists(rows.positive, np.array([0, n]), rows.weight, score=np.zeros(n))


def _folds_of(
    scores: FloatArray, rounding: FloatArray, positive: BoolArray, n_folds: int
) -> IntArray:
    """Fold of each row; rows of one class that score alike are in one fold."""
    fold = np.zeros(len(scores), dtype=np.int64)
    merged = merge_rounded(scores, rounding)
    numbers = []
    for of_class in (positive, ~positive):
        distinct, number = np.unique(merged[of_class], return_inverse=True)
        n_folds = min(n_folds, len(distinct))
        # Any order that the scores do not show, the same for the same scores.
        numbers.append(np.random.RandomState(0).permutation(len(distinct))[number])
    if n_folds >= 2:
        fold[positive], fold[~positive] = numbers[0] % n_folds, numbers[1] % n_folds
    return fold
