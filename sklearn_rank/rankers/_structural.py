"""Structural support vector machines for measures of a whole list."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from .._sklearn_compat import Interval, StrOptions
from .._solvers import Design, Planes, SolverResult, solve_cutting_planes
from .._top import top_threshold
from .._typing import FloatArray
from .._warn import warn
from ..exceptions import ZeroSolutionWarning
from ._fitting import FitProgress
from ._kernel_base import OneProblemRanker
from ._query_base import MEASURE_CONSTRAINTS
from ._structural_measures import StructuralMeasure
from ._two_classes import TwoClasses

__all__ = ["StructuralRanker"]


@dataclass(frozen=True, eq=False)
class _Structural(SolverResult):
    """A solution with the threshold that belongs to it.

    Parameters
    ----------
    threshold : float or None
        The threshold; None where it depends on the scores.
    mass : float or None
        Weight of the rows that are above it; None where it is not at a number of rows.
    """

    threshold: float | None
    mass: float | None


class _WithConstant:
    """Rows with one more feature, which is 1."""

    def __init__(self, design: Design) -> None:
        self._design = design
        self.shape = design.shape[0], design.shape[1] + 1

    def scores(self, coef: FloatArray) -> FloatArray:
        return self._design.scores(coef[:-1]) + coef[-1]

    def pull_back(self, by_row: FloatArray) -> FloatArray:
        return np.append(self._design.pull_back(by_row), by_row.sum())


class StructuralRanker(OneProblemRanker):
    r"""Support vector machine for a measure of the whole list: AUC, precision at k, AP, F1.

    A structural support vector machine scores whole labellings :math:`y'` of the rows and asks
    that the true one is ahead of each other one by the loss :math:`\Delta` of that one:

    .. math::
       \min_{w, \xi \ge 0} \tfrac12 \|w\|^2 + C \xi \quad\text{such that}\quad
       w \cdot (\Psi(y) - \Psi(y')) \ge \Delta(y, y') - \xi \quad\text{for every } y',

    where :math:`\Delta` is 1 less the measure. It is the method of SVMperf, after Joachims (2005),
    and after Yue et al. (2007) for average precision. The problem is convex; the constraint that
    is violated most is found by sorting, whatever the number of labellings.

    Parameters
    ----------
    measure : str, Measure or callable, default="auc"
        What :math:`\Delta` is of, by a name of :func:`~sklearn_rank.metrics.get_measure` or what
        it takes: ``"auc"``; ``"precision@10"`` and ``"recall@10"``, for any number of rows;
        ``"precision@top0.05"``, for any share of them; ``"r_precision"``, precision among as many
        rows as there are positives, which is the precision/recall break-even point; ``"ap"``. Or
        ``"f1"``, F1 of the classification by the sign of the decision value, which is a word of
        this estimator alone since it is no measure of an order.
    C : float, default=1.0
        Cost of a unit of loss, of which the measure has at most one, positive; more fits the
        training data closer. It means the same for any number of rows; search .1 to 1000.
    reference : {"labels", "best"}, default="labels"
        What labellings of k rows are compared with, where a measure is of the top k: ``"labels"``,
        after Joachims, is all positives, whatever k is; ``"best"`` is the mean of the labellings
        of k rows that have as many positives as there can be. No effect on other measures, and
        none where k is the number of positives; see the Notes.
    pos_label : int, float, bool, str or None, default=None
        The positive class, which belongs on top. None is 1 for labels among 0 and 1 or among -1
        and 1; for all others it is the greater label, with a warning.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Inner product of rows. With "precomputed" ``fit`` takes the square matrix of the training
        rows and ``decision_function`` that of new rows with all training rows; a callable takes
        two rows and returns a number. It has to be positive semidefinite.
    gamma : float or None, default=None
        Rate of ``exp(-gamma |x - z|^2)`` and of ``(gamma x.z + coef0)^degree``; None is
        ``1 / n_features``.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant of "poly".
    kernel_params : dict or None, default=None
        Keyword arguments of a callable.
    tol : float, default=1e-4
        Relative duality gap at which the problem counts as solved, positive.
    max_iter : int, default=1000
        Most iterations, each of which adds at most two cutting planes.
    warm_start : bool, default=False
        Whether to keep the cutting planes, and to start from those of the last fit where rows,
        labels, weights, measure and kernel are the same, as along a path of ``C``. Other data
        start anew.
    verbose : int, default=0
        1 writes a line for each iteration to the standard error, first for smaller costs on the
        way to ``C``; 0 is silent.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes, ascending.
    pos_label_ : object
        The positive one of them.
    coef_ : ndarray of shape (1, n_features)
        Weights of the features. Only for ``kernel="linear"``.
    dual_coef_ : ndarray of shape (1, n_support)
        Weights of the kernel's values with the support rows. Only for other kernels.
    support_ : ndarray of shape (n_support,)
        Support rows: those whose images span all others, to rounding. Only for other kernels.
    X_fit_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support rows. Only for other kernels that are not precomputed.
    intercept_ : ndarray of shape (1,)
        ``-threshold_``.
    threshold_ : float
        Score between the classes. For "f1" it is less the weight of a feature that is 1, which
        is learned, and penalised, with the others; for measures of the top k midway from the k-th
        training score to the next one; for "auc" and "ap" that of the largest training accuracy.
    objective_ : float
        Value of the problem.
    lower_bound_ : float
        Certified: no weights have a smaller value of the problem.
    dual_gap_ : float
        ``objective_ - lower_bound_``, relative to ``objective_``.
    converged_ : bool
        Whether it is at most ``tol``.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where ``X`` has names that are all strings.

    See Also
    --------
    RankSVM : The same hinge of pairs as "auc", within queries.
    AccuracyAtTopRanker : For the top share of the list, by many convex problems.

    Notes
    -----
    With sums over ranks turned into sums over rows, the slack is this convex function of the
    scores s; :math:`P` are the positives, :math:`N` the negatives:

    - ``"auc"``: the mean over all pairs of :math:`\max(0, 1 - (s_i - s_j))`, :math:`i \in P`,
      :math:`j \in N`. With :math:`\Psi` a sum of :math:`\pm 1` the margin is 1/2 and the same
      solution has half the weights and a quarter of ``C``.
    - top k, ``"labels"``: ``1/k`` times the sum of the k largest of :math:`s_i + [i \in N]` less
      the sum over all positives of :math:`s_i`, and at least 0; for recall it is divided by the
      number of positives in place of k and 1 less k over that number is added, so that away from
      0 it is the precision with another ``C``. ``"best"``: with k times the mean over the
      positives in place of their sum (k at most their number).
    - ``"ap"``: the largest, over all orders, of 1 less average precision plus the mean over all
      pairs of :math:`s_j - s_i` where the negative is above.
    - ``"f1"``: the largest, over all sets S of rows, of :math:`1 - F_1(S)` plus
      :math:`(\sum_S s - \sum_P s) / (2 |P|)`.

    SVMperf counts the loss in percent, and documents for its error rate that its ``-c`` is
    n / 100 times the cost of a unit of hinge loss of a row: C of its problems is here 100 times
    as large where the features of labellings are divided alike. Values of ``-c`` in publications
    depend on the version and the measure; choose ``C`` anew.

    With ``"labels"`` and k less than the number of positives the slack is no bound of the loss:
    adding a number to all scores lowers it, so that features whose mean among all rows is not 0
    can make it 0 with no ranking at all, and as soon as it is 0, ``C`` has no effect. Standardise
    the features. With ``"best"`` it is a bound, and no number added to the scores changes it, but
    ``w = 0`` is the solution for every ``C``, with a ZeroSolutionWarning, exactly if the mean of
    the positives is a mean of negatives none of which counts more than 1/k: with many rows and
    classes that overlap it nearly always is (k at most the number of either class). So it is for
    "r_precision", where the two are one; "f1", too, has solutions of 0 there. On Ionosphere,
    learned from three tenths with the best ``C``, precision at the top 5 % (1 %) of the other
    rows is 0.85 (0.85) with ``"labels"`` and 0.91 (0.90) with ``"best"``; from standardised
    features 0.81 (0.55) and 0.83 (0.80).

    ``sample_weight`` counts as repetition. For "auc" and measures of the top k it may be any
    number: a row of weight 1.5 takes one and a half places. "ap" and "f1" count rows one by one,
    take whole numbers, and need memory for all repetitions.

    At tied scores several labellings are violated most; the plane is then the mean of all of
    them (for "ap" and "f1" of those that exchange rows of one class), so that no order of rows
    has a say. Nothing is random.

    An iteration costs three products with X, and between four and eight sorts, O(n log n).
    Iterations grow with ``C``, from 5 to some hundreds; the solver comes to ``C`` from smaller
    ones, and ``warm_start`` spares all but the last of them. 1e6 dense rows of 50 features take
    14 iterations and 17 seconds of one core to a gap of 1e-4 for "auc" at ``C=100``, 24 and 36 at
    ``C=1000``. Memory beside the data is some vectors of length n, and one of n_features for each
    plane, of which those go that carried nothing for 30 iterations.

    References
    ----------
    .. [1] Joachims, T. (2005). A support vector method for multivariate performance measures.
       ICML.
    .. [2] Yue, Y., Finley, T., Radlinski, F. and Joachims, T. (2007). A support vector method for
       optimizing average precision. SIGIR.
    .. [3] Kar, P., Narasimhan, H. and Jain, P. (2015). Surrogate functions for maximizing
       precision at the top. ICML.
    .. [4] Franc, V. and Sonnenburg, S. (2009). Optimized cutting plane algorithm for large-scale
       risk minimization. JMLR 10.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_rank import StructuralRanker
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.metrics import precision_at_top_score
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> ranker = make_pipeline(StandardScaler(), StructuralRanker(measure="ap"))
    >>> ranker.fit(X[::2], y[::2]).score(X[1::2], y[1::2]).__round__(2)
    0.86
    >>> bool(ranker[-1].dual_gap_ <= ranker[-1].tol)
    True

    Other values of ``C`` start from the planes that are known:

    >>> path = StructuralRanker(measure="ap", warm_start=True)
    >>> [path.set_params(C=C).fit(X, y).n_iter_ > 0 for C in (0.1, 1.0, 10.0)]
    [True, True, True]
    """

    _parameter_constraints = {
        **OneProblemRanker._parameter_constraints,
        "measure": MEASURE_CONSTRAINTS,
        "C": [Interval(Real, 0, None, closed="neither")],
        "reference": [StrOptions({"labels", "best"})],
        "warm_start": ["boolean"],
    }

    def __init__(
        self,
        measure="auc",
        *,
        C=1.0,
        reference="labels",
        pos_label=None,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1.0,
        kernel_params=None,
        tol=1e-4,
        max_iter=1000,
        warm_start=False,
        verbose=0,
    ):
        self.measure = measure
        self.C = C
        self.reference = reference
        self.pos_label = pos_label
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def _solve(self, design: Design, rows: TwoClasses, progress: FitProgress) -> _Structural:
        measure = StructuralMeasure.of(self.measure)
        mass = measure.mass(rows)
        problem = _WithConstant(design) if measure.has_constant else design
        key = self._key(design, rows, measure) if self.warm_start else None
        kept, planes = vars(self).get("_planes", (None, None))
        result = solve_cutting_planes(
            problem,
            measure.labellings(rows, mass, self.reference),
            C=float(self.C),
            tol=self.tol,
            max_iter=self.max_iter,
            planes=planes if key is not None and key == kept else None,
            on_iteration=progress.iteration,
        )
        self._planes: tuple[bytes | None, Planes | None] = (
            (None, None) if key is None else (key, result.planes)
        )
        coef, threshold = result.coef, None
        if measure.has_constant:
            coef, threshold = coef[:-1], -float(coef[-1])
        if result.certificate.converged and not coef.any():
            _warn_of_zero(measure, self.reference)
        return _Structural(coef, result.certificate, threshold, mass)

    def _key(self, design: Design, rows: TwoClasses, measure: StructuralMeasure) -> bytes:
        """Digest of all on which the planes depend."""
        digest = hashlib.blake2b(digest_size=32)
        digest.update(repr((measure, self.reference, design.shape)).encode())
        matrix = design.matrix  # type: ignore[attr-defined]
        parts = [matrix] if isinstance(matrix, np.ndarray) else _csr_parts(matrix)
        for part in (*parts, rows.positive, rows.weight):
            digest.update(np.ascontiguousarray(part).view(np.uint8).data)
        return digest.digest()

    def _threshold_of(
        self, result: SolverResult, scores: FloatArray, rounding: FloatArray, rows: TwoClasses
    ) -> float:
        threshold, mass = result.threshold, result.mass  # type: ignore[attr-defined]
        if threshold is not None:
            return float(threshold)
        if mass is not None:
            return top_threshold(scores, rows.weight, mass, rounding)[1]
        return super()._threshold_of(result, scores, rounding, rows)


def _csr_parts(matrix: Any) -> list[Any]:
    return [matrix.data, matrix.indices, matrix.indptr]


def _warn_of_zero(measure: StructuralMeasure, reference: str) -> None:
    """Warn that all rows tie."""
    if measure.kind != "top":
        instead = "raise C, pass measure='auc', or features that tell the classes apart"
    elif reference == "best":
        instead = "pass reference='labels', a larger top, or measure='auc'"
    else:
        instead = "pass measure='auc', or precision in a smaller top"
    warn(
        f"StructuralRanker learned w = 0, by which all rows tie: no weights have a smaller"
        f" structural hinge of {measure.name!r} than that by more than tol; {instead}.",
        ZeroSolutionWarning,
    )
