"""Ranking support vector machines: for pairs of queries, and for a measure of a whole list."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, Literal, Self

import numpy as np

from .._lists import LabelType, Lists
from .._row_batches import RowBatches
from .._sklearn_compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    fit_context,
    with_callbacks,
)
from .._solvers import (
    Design,
    HingeProblem,
    LinearProblem,
    Planes,
    SolverResult,
    count_threads,
    solve_cutting_planes,
    solve_linear,
    solve_linear_hinge,
)
from .._typing import FloatArray
from .._validation import hint_of_adaboost
from .._warn import warn
from ..exceptions import ZeroSolutionWarning
from ..losses import ComparisonHinge, ComparisonSquaredHinge
from ..losses._shared import (
    AveragePrecisionLabellings,
    F1Labellings,
    Labelling,
    LossOnLists,
    PairLabellings,
    TopLabellings,
    mean_labelling,
)
from ..metrics import get_measure
from ..metrics._shared import MeasureLike
from ._base import (
    FitProgress,
    forget,
    is_blocked,
    restored_on_error,
    store_certificate,
)
from ._kernel_base import LinearScores, OneProblemRanker
from ._linear_base import NORMALIZE_CONSTRAINTS, BlockLists, BlockRanker, curvature_at_0, has_pairs
from ._list_base import MEASURE_CONSTRAINTS, QueryRanker, weights_of, with_query_weight
from ._two_classes import TwoClasses, mass_of_top

# Relevances, of which only the order counts.
RELEVANCE = LabelType("graded", lowest=-np.inf, name="y")


class RankSVM(CallbackSupportMixin, BlockRanker):
    """Ranking SVM: linear learning to rank with the hinge loss of pairs within queries.

    With scores s = X w, it minimises ``1 / 2 ||w||**2 + C sum over queries q of w_q L_q / sum of
    w_q``, where L is the sum over pairs of rows of a query with y_i > y_j of
    ``max(0, 1 - (s_i - s_j))``, or of its square.

    Use it as a baseline: the loss depends on which row of a pair has the higher label, not on the
    difference. It is not calibrated for any positional measure, and with noisy labels its
    minimiser need not order by expected utility.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Hinge loss of pairs or its square.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="ndcg"
        The measure that :meth:`score` computes; it has no effect on the fit.
    C : float, default=1.0
        Factor of the loss, greater than 0. A smaller value shrinks the coefficients.
    normalize : {None, "zscore", "rank", "minmax"} or QueryNormalizer, default=None
        How to scale features within each query before fitting, by
        :class:`sklearn_rank.preprocessing.QueryNormalizer`. The score of a row then depends on the
        other rows of its query, so that :meth:`predict` needs ``qid``, and X must be dense.
    tol : float, default=1e-4
        Tolerance, greater than 0: for "hinge" on the duality gap relative to the objective, for
        "squared_hinge" on ``gradient_norm_``.
    max_iter : int, default=1000
        Maximum number of iterations.
    warm_start : bool, default=False
        Whether ``fit`` starts from the coefficients of the previous fit.
    single_list : bool, default=False
        Whether all rows belong to one query. ``fit`` then takes no ``qid``.
    n_jobs : int or None, default=None
        Number of threads that evaluate the loss. None is 1, -1 uses all cores. The result does not
        depend on it.
    verbose : int, default=0
        1 writes the progress to the standard error; 0 is silent.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients w.
    normalizer_ : QueryNormalizer or None
        Normalises the features within each query.
    training_queries_ : object
        Hashes of up to 100,000 ids of training queries, and digests of their labels. :meth:`score`
        and scorers use them to warn when training queries are scored.
    n_queries_ : int
        Number of queries.
    objective_ : float
        Value of the objective.
    lower_bound_ : float
        Certified lower bound of the objective over all coefficients.
    dual_gap_ : float
        ``objective_ - lower_bound_``, relative to the objective. Only for "hinge".
    gradient_norm_ : float
        Norm of the gradient relative to that at 0, in a metric in which its square is the share of
        the decrease of the objective that is left, at most, as in
        :class:`OrderPreservingRanker`. Only for "squared_hinge".
    converged_ : bool
        Whether ``dual_gap_`` or ``gradient_norm_`` is at most ``tol``.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen in ``fit``, if they are all strings.

    See Also
    --------
    OrderPreservingRanker : Linear ranker with losses that are calibrated for a measure.

    Notes
    -----
    ``C`` has the same scale as in SVMrank, which also divides by the number of queries. A step
    costs O(n log n) for a query of n rows, for any number of pairs, and the products with X. The
    hinge is smoothed by parabolas of decreasing width. The derivatives of the smoothed hinge give
    a feasible dual point, and from it the lower bound. Dense rows are not copied, in any order and
    also in float32; products are computed in float64.

    Rows need not be in memory: X can be :class:`sklearn_rank.datasets.RowBatches`, or a dask array
    or dataframe with the other arguments as collections of the same chunks. Each evaluation is
    then one pass over the rows, as in :class:`OrderPreservingRanker`, with the same minimum and
    lower bound. A fit takes about a hundred passes for "hinge" and about twenty for
    "squared_hinge".

    References
    ----------
    .. [1] Joachims, T. (2002). Optimizing search engines using clickthrough data. KDD.
    .. [2] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Remark 2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank import RankSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> qid = np.repeat(np.arange(20), 10)
    >>> y = rng.binomial(3, 1 / (1 + np.exp(-X[:, 0])))
    >>> ranker = RankSVM(measure="ndcg@5").fit(X, y, qid=qid)
    >>> bool(ranker.dual_gap_ <= ranker.tol)
    True
    """

    _row_types = (np.float64, np.float32)
    _parameter_constraints = {
        **QueryRanker._parameter_constraints,
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "normalize": NORMALIZE_CONSTRAINTS,
    }

    def __init__(
        self,
        loss="hinge",
        *,
        measure="ndcg",
        C=1.0,
        normalize=None,
        tol=1e-4,
        max_iter=1000,
        warm_start=False,
        single_list=False,
        n_jobs=None,
        verbose=0,
    ):
        self.loss = loss
        self.measure = measure
        self.C = C
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.single_list = single_list
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
    ) -> RankSVM:
        """Fit the coefficients by minimising the loss of the pairs of all queries.

        Parameters
        ----------
        X : {array-like, sparse matrix, RowBatches, dask collection} of shape (n_samples, \
n_features)
            Rows. Sparse matrices are converted to CSR. In
            :class:`sklearn_rank.datasets.RowBatches` (passed with ``y=rows.y`` and
            ``qid=rows.qid``) the rows of each query must be consecutive. In dask arrays and
            dataframes each query must lie within one chunk. See Notes.
        y : array-like of shape (n_samples,)
            Relevance; only its order matters.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row: numbers, strings or any sortable values, in any order.
            None treats up to 2,000 rows as one query, with a warning. A single number, or
            ``single_list=True``, treats any number of rows as one query without a warning.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows. A row of weight 2 counts as two rows, a row of weight
            0 is ignored.
        query_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of the query of each row, the same for all rows of a query.

        Returns
        -------
        RankSVM
            The estimator itself.

        Raises
        ------
        ValueError
            If an argument is not valid, no query has rows of different relevance, most queries
            have one row, or ``qid`` is missing for more than 2,000 rows.

        Warns
        -----
        SingleListWarning
            If ``qid`` is None without ``single_list=True``.
        FeatureScaleWarning
            If the scales of two features within the queries differ by a factor of 1e6 or more.
        ConvergenceWarning
            If the duality gap (hinge) or the gradient norm (squared hinge) does not reach ``tol``.
        """
        with restored_on_error(self), ExitStack() as held:
            # An invalid measure raises an error here rather than after the fit, in score.
            get_measure(self.measure)
            weights = {"sample_weight": sample_weight, "query_weight": query_weight}
            criterion: Literal["relative_gap", "gradient_norm"]
            criterion = "relative_gap" if self.loss == "hinge" else "gradient_norm"
            problem: Any
            lists: Lists | BlockLists
            if is_blocked(X):
                lists = self._relevance_blocks(X, y, qid, weights, held)
                problem = self._block_problem(lists)
            else:
                rows, lists = self._lists(X, y, qid, weights, labels=RELEVANCE)
                _check_pairs(has_pairs(lists))
                problem = self._problem(self._items(rows, lists), lists)
            progress = FitProgress(self, self.max_iter, X, y, criterion=criterion)
            solve = solve_linear_hinge if self.loss == "hinge" else solve_linear
            solution = solve(
                problem,
                tol=self.tol,
                max_iter=self.max_iter,
                start=self._warm_start(problem.n_features),
                on_iteration=progress.iteration,
            )
            store_certificate(self, solution.certificate, criterion, regularise="lower C")
            self.coef_ = solution.coef
            self._store_queries(lists)
            progress.done()
        return self

    def _problem(self, design: Design, lists: Lists) -> HingeProblem | LinearProblem:
        weighted = with_query_weight(_as_utilities(lists), self.C / weights_of(lists).sum())
        threads = count_threads(self.n_jobs)

        def on(loss: Any, margin: float) -> LossOnLists:
            return LossOnLists(loss(margin), weighted, threads)

        squared = on(ComparisonSquaredHinge, 1.0)
        bends = curvature_at_0(design, squared, weighted)
        self._warn_of_scales(bends, design)
        if self.loss == "hinge":
            hinges = partial(on, ComparisonHinge), partial(on, ComparisonSquaredHinge)
            return HingeProblem(design, *hinges, alpha=1.0, bends=bends)
        return LinearProblem(design, squared, alpha=1.0, bends=bends)

    def _relevance_blocks(
        self, X: Any, y: Any, qid: Any, weights: dict[str, Any], held: ExitStack
    ) -> BlockLists:
        columns = {"X": X, "y": y, "qid": qid, **weights}
        self._check_columns(columns)
        if isinstance(X, RowBatches):
            _, lists = self._lists(X, y, qid, weights, labels=RELEVANCE)
            blocks = self._batched(X, _as_utilities(lists))
        else:
            blocks = self._chunked(columns, RELEVANCE, _as_utilities, held)
        _check_pairs(blocks.differ)
        return blocks

    def _block_problem(self, lists: BlockLists) -> HingeProblem | LinearProblem:
        factor = self.C / lists.weight
        hinges = partial(_hinge_on, ComparisonHinge), partial(_hinge_on, ComparisonSquaredHinge)
        squared = ComparisonSquaredHinge(1.0)
        blocks = lists.blocks.on(partial(LossOnLists, squared))
        bends = factor * blocks.total(_curvature)[0]
        self._warn_of_scales(bends)
        settings = {"alpha": 1.0, "factor": factor, "bends": bends}
        if self.loss == "hinge":
            return HingeProblem(lists.blocks, *hinges, **settings)
        return LinearProblem(blocks, squared, **settings)

    def _scores(self, X: Any) -> FloatArray:
        return LinearScores(self.coef_).scores(X)


def _as_utilities(lists: Lists, columns: Any = None) -> Lists:
    """Lists of relevances from 0 on; losses take utilities, of which here the order counts."""
    return lists.with_labels(lists.grade - lists.grade.min())


def _hinge_on(loss: Any, lists: Lists, margin: float) -> LossOnLists:
    return LossOnLists(loss(margin), lists)


def _curvature(items: Design, loss: LossOnLists) -> tuple[FloatArray]:
    """Second derivatives of the squared hinge of a block by the coefficients, about."""
    return (curvature_at_0(items, loss, loss.lists),)


def _check_pairs(has_pairs: bool) -> None:
    if not has_pairs:
        raise ValueError(
            "No query has rows of different relevance, so that there are no pairs to learn "
            "from: each query has one class only; check y and qid."
        )


POSSIBLE = (
    "'auc', 'ap', 'precision@10' and 'recall@10' (any number of rows), 'precision@top0.05' (any"
    " share of them), 'r_precision' (the precision/recall break-even point) and 'f1'"
)


@dataclass(frozen=True)
class StructuralMeasure:
    """A measure with its most violated labellings."""

    name: str
    kind: Literal["pairs", "top", "order", "set"]  # What its labellings are of
    k: int | None = None  # Number of rows in the top
    tau: float | None = None

    @classmethod
    def of(cls, measure: MeasureLike) -> Self:
        if measure == "f1":
            return cls("f1", "set")
        if measure == "prbep":
            raise ValueError(
                "measure='prbep', the precision/recall break-even point, is called 'r_precision':"
                " pass measure='r_precision'."
            )
        known = get_measure(measure)
        name, parameters = known.in_grammar()
        # The value for lists without positives has no effect, since both classes are present.
        if not parameters.keys() - {"undefined"}:
            if name == "auc":
                return cls(name, "pairs")
            if name == "ap":
                return cls(name, "order")
            if name == "r_precision":
                return cls(name, "top")
            if name.startswith("precision@top"):
                return cls(name, "top", tau=known.tau)  # type: ignore[attr-defined]
            if name.startswith(("precision@", "recall@")) and known.rel is None:
                return cls(name, "top", k=known.k)  # type: ignore[attr-defined]
        raise ValueError(
            f"measure={measure!r} is not supported by StructuralRanker: use {POSSIBLE}."
        )

    @property
    def has_constant(self) -> bool:
        """Whether the rows need a feature that is 1, since the value of a score counts."""
        return self.kind == "set"

    def mass(self, rows: TwoClasses) -> float | None:
        """Weight of the top; None for measures without a top."""
        if self.kind != "top":
            return None
        n_neg, n_pos = rows.masses
        mass = float(n_pos)
        if self.tau is not None:
            mass = mass_of_top(rows.weight, self.tau)
        elif self.k is not None:
            mass = float(self.k)
        if mass >= n_neg + n_pos:
            raise ValueError(
                f"measure={self.name!r} has {mass:g} rows in the top, but there are only "
                f"{n_neg + n_pos:g}, so that all orders are equally good: pass a smaller top."
                + hint_of_adaboost(n_neg + n_pos)
            )
        return mass

    def labellings(
        self,
        rows: TwoClasses,
        mass: float | None,
        reference: Literal["labels", "best"],
        auc_share: float,
    ) -> Callable[[FloatArray], Labelling]:
        """Function from scores to their most violated labelling."""
        labellings: Callable[[FloatArray], Labelling]
        pairs = PairLabellings(rows.positive, rows.weight)
        if self.kind == "pairs":
            return pairs
        if mass is not None:
            unit = rows.masses[1] if self.name.startswith("recall") else mass
            labellings = TopLabellings(
                rows.positive, rows.weight, mass=mass, unit=float(unit), reference=reference
            )
        else:
            fractional = np.flatnonzero(rows.weight != np.floor(rows.weight))
            if len(fractional):
                row = fractional[0]
                raise ValueError(
                    f"measure={self.name!r} needs whole sample_weight, which is "
                    f"{rows.weight[row]:g} in row {rows.taken[row]}: pass whole numbers of "
                    "repetitions, or measure='auc' or 'precision@k', which take fractional "
                    "weights." + hint_of_adaboost(rows.weight.sum())
                )
            by_kind: Any = {"order": AveragePrecisionLabellings, "set": F1Labellings}
            labellings = by_kind[self.kind](rows.positive, rows.weight)
        if self.kind == "order" or auc_share == 0:
            return labellings
        return partial(mean_labelling, labellings, pairs, auc_share)


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
    r"""Structural SVM for a ranking measure: AUC, precision at k, average precision or F1.

    A structural support vector machine scores labellings :math:`y'` of all rows, and requires that
    the true labelling exceeds every other by a margin of its loss :math:`\Delta`:

    .. math::
       \min_{w, \xi \ge 0} \tfrac12 \|w\|^2 + C \xi \quad\text{such that}\quad
       w \cdot (\Psi(y) - \Psi(y')) \ge \Delta(y, y') - \xi \quad\text{for every } y',

    where :math:`\Delta` is 1 minus the measure. Where the measure sees only a top or a set of the
    rows, the slack is the mean of that of the measure and that of the AUC, since the first says
    nothing about the order of the other rows. This is the method of SVMperf by Joachims (2005),
    and of Yue et al. (2007) for average precision. The problem is convex, and the most violated
    constraint is found by sorting.

    Parameters
    ----------
    measure : str, Measure or callable, default="auc"
        Measure to optimise, as a name or another value that
        :func:`~sklearn_rank.metrics.get_measure` takes: ``"auc"``; ``"precision@10"`` and
        ``"recall@10"``, with any number of rows; ``"precision@top0.05"``, with any share of the
        rows; ``"r_precision"``, precision among as many rows as there are positives, which is the
        precision/recall break-even point; ``"ap"``. In addition ``"f1"``, F1 of the classification
        by the sign of the decision value; this name is special to this estimator, since F1 is not
        a ranking measure.
    C : float, default=1.0
        Cost of a unit of loss, positive; the loss is at most 1. A greater value fits the training
        data more closely. Its scale does not depend on the number of rows; search .1 to 1000.
    reference : {"labels", "best"}, default="best"
        Reference labelling for measures of the top k. ``"best"`` compares with the mean of the
        labellings of k rows that have the maximum number of positives, so that the slack bounds
        the loss. ``"labels"``, after Joachims, compares with all positives, for any k. No effect
        on other measures, or if k is at least the number of positives; see Notes.
    auc_share : float, default=0.5
        Share of the slack of the AUC in the slack, at least 0 and less than 1. A greater value
        orders the whole list more and its top less. No effect for "auc" and "ap", which order the
        whole list. See Notes for 0.
    pos_label : int, float, bool, str or None, default=None
        The positive class: its rows are to be ranked at the top. None takes 1 if the labels are 0
        and 1 or -1 and 1, and otherwise the greater label, with a warning.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Kernel. With "precomputed", ``fit`` takes the square kernel matrix of the training rows and
        ``decision_function`` the matrix of new rows by training rows. A callable takes two rows
        and returns a number. The kernel must be positive semidefinite.
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
        Tolerance on the relative duality gap, positive.
    max_iter : int, default=1000
        Maximum number of iterations. Each adds at most two cutting planes.
    warm_start : bool, default=False
        Whether to keep the cutting planes and start from those of the previous fit, if rows,
        labels, weights, measure and kernel are the same, as along a path of ``C``. Fits to other
        data start without planes.
    verbose : int, default=0
        1 writes a line for each iteration to the standard error, including those for smaller costs
        on the path to ``C``; 0 is silent.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes, ascending.
    pos_label_ : object
        The positive class.
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the features. Only for ``kernel="linear"``.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the kernel values between a row and the support rows. Only for other
        kernels.
    support_ : ndarray of shape (n_support,)
        Indices of the support rows, whose images span those of all rows up to rounding. Only for
        other kernels.
    X_fit_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support rows. Only for other kernels, except "precomputed".
    intercept_ : ndarray of shape (1,)
        ``-threshold_``.
    threshold_ : float
        Threshold above which rows are predicted positive: it cuts the share of the top that the
        measure is of, else the share of positives of the training rows, off new rows. It is a
        quantile of the training scores, or of out-of-fold scores with a kernel or fewer than 10
        rows a feature, which takes up to five more fits.
    constant_ : float
        Coefficient of a constant feature, which is learned and penalised like the others. Only
        for "f1".
    objective_ : float
        Value of the objective.
    lower_bound_ : float
        Certified lower bound of the objective over all coefficients.
    dual_gap_ : float
        ``objective_ - lower_bound_``, relative to ``objective_``.
    converged_ : bool
        Whether ``dual_gap_`` is at most ``tol``.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen in ``fit``, if they are all strings.

    See Also
    --------
    RankSVM : The hinge loss of pairs, as for "auc", within queries.
    AccuracyAtTopRanker : Accuracy at the top share of the list, by many convex problems.

    Notes
    -----
    The slack is a convex function of the scores s, for positives :math:`P` and negatives
    :math:`N`:

    - ``"auc"``: the mean over all pairs of :math:`\max(0, 1 - (s_i - s_j))`, :math:`i \in P`,
      :math:`j \in N`. If :math:`\Psi` is defined with :math:`\pm 1`, the margin is 1/2, and the
      same solution has half the coefficients and a quarter of ``C``.
    - top k, ``"labels"``: ``1/k`` times the difference of the sum of the k greatest
      :math:`s_i + [i \in N]` and the sum of :math:`s_i` over all positives, with
      :math:`k - |P|` times the mean over the negatives added to the latter, and at least 0. For
      recall, it is divided by the number of positives instead of k, and 1 minus k over that number
      is added, so that where it is positive it equals precision with another ``C``. ``"best"``:
      with k times the mean over the positives instead of that sum (k at most their number).
    - ``"ap"``: the maximum over all orders of 1 minus average precision plus the mean over all
      pairs of :math:`s_j - s_i` if the negative is above, else 0.
    - ``"f1"``: the maximum over all sets S of rows of :math:`1 - F_1(S)` plus
      :math:`(\sum_S s - \sum_P s) / (2 |P|)`.

    For measures of the top k and "f1" the slack is ``auc_share`` times that of "auc" plus ``1 -
    auc_share`` times that above, and all certificates are for this problem.

    SVMperf counts the loss in percent: for its error rate, its ``-c`` is documented as n / 100
    times the cost of a unit of hinge loss of a row. With the same scaling of the features of
    labellings, ``C`` here is 100 times its value there. Published values of ``-c`` depend on the
    version and the measure, so tune ``C``.

    **Why a share of the AUC.** The slack of the top k is 0 once the positives are far above the
    others in the mean, and ``C`` then has no effect; on classes that overlap, and with ``"best"``
    more often, it is least for ``w = 0``, which orders nothing. The order of the rows beyond the
    top never counts. On halves of 12 sets with and without standardised features, precision in
    the top 5 % of the other half is below that of logistic regression by .14 at most with the
    default, by up to .17 with ``"labels"``, and with ``auc_share=0`` by up to .58 and .28. The
    term of the negatives in ``"labels"`` keeps the slack when a constant is added to the scores.
    Without it, as in SVMperf, features whose mean is not 0 can make the slack 0 with any order,
    also the reverse.

    No solution ranks backwards in the mean: each slack but that of "f1" is at least its value at 0
    less a positive multiple of the difference of the mean scores of positives and negatives. Where
    this difference is not positive, ``w = 0`` has a smaller objective. If 0 is the solution there
    is a ZeroSolutionWarning. With ``auc_share=0`` and ``"best"`` that is so for every ``C`` if and
    only if the mean of the positives is a weighted mean of negatives with weights of at most 1/k
    (k at most the number of either class).

    ``sample_weight`` counts as repetition. For "auc" and measures of the top k it can be any
    number: a row of weight 1.5 takes one and a half places. "ap" and "f1" require whole numbers,
    and memory for all repetitions.

    With tied scores, several labellings are most violated. The cutting plane is then the mean over
    all of them (for "ap" and "f1", over those that exchange rows of one class), so that ties are
    not broken by the order of the rows. If scores tie only up to rounding, fits to two orders can
    still differ within ``tol``. Nothing is random.

    An iteration costs three products with X and four to eight sorts, O(n log n). The number of
    iterations increases with ``C``, from 5 to some hundreds. The solver follows a path of smaller
    costs to ``C``; with ``warm_start``, only the last step is needed. For "auc" with 1e6 dense
    rows of 50 features, a gap of 1e-4 takes 14 iterations and 17 seconds on one core at ``C=100``,
    and 24 iterations and 36 seconds at ``C=1000``. In addition to the data, memory is some vectors
    of length n, and one of n_features for each plane; planes that are inactive for 30 iterations
    are dropped.

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

    With ``warm_start``, fits for other values of ``C`` reuse the cutting planes:

    >>> path = StructuralRanker(measure="ap", warm_start=True)
    >>> [path.set_params(C=C).fit(X, y).n_iter_ > 0 for C in (0.1, 1.0, 10.0)]
    [True, True, True]
    """

    _parameter_constraints = {
        **OneProblemRanker._parameter_constraints,
        "measure": MEASURE_CONSTRAINTS,
        "reference": [StrOptions({"labels", "best"})],
        "auc_share": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        measure="auc",
        *,
        C=1.0,
        reference="best",
        auc_share=0.5,
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
        super().__init__(kernel, gamma, degree, coef0, kernel_params, tol, max_iter, verbose)
        self.measure = measure
        self.C = C
        self.reference = reference
        self.auc_share = auc_share
        self.pos_label = pos_label
        self.warm_start = warm_start

    def _parameters_of_folds(self) -> dict[str, Any]:
        """Parameters of the fits to folds: rounding chooses among planes short of the minimum."""
        return {"verbose": 0}

    def _solve(self, design: Design, rows: TwoClasses, progress: FitProgress) -> SolverResult:
        measure = StructuralMeasure.of(self.measure)
        mass = measure.mass(rows)
        problem = _WithConstant(design) if measure.has_constant else design
        key = self._key(design, rows, measure) if self.warm_start else None
        last_key, planes = vars(self).get("_planes", (None, None))
        result = solve_cutting_planes(
            problem,
            measure.labellings(rows, mass, self.reference, float(self.auc_share)),
            C=float(self.C),
            tol=self.tol,
            max_iter=self.max_iter,
            planes=planes if key is not None and key == last_key else None,
            on_iteration=progress.iteration,
        )
        self._planes: tuple[bytes | None, Planes | None] = (
            (None, None) if key is None else (key, result.planes)
        )
        coef = result.coef
        forget(self, "constant_")
        if measure.has_constant:
            coef, self.constant_ = coef[:-1], rows.direction * float(coef[-1])
        if result.certificate.converged and not coef.any():
            parameter = "auc_share" if measure.kind in ("top", "set") else "C"
            warn(
                "StructuralRanker has the solution w = 0, so that all rows tie: no coefficients "
                f"lower the structural hinge of {measure.name!r} below its value at 0 by more "
                f"than tol; raise {parameter}, standardise the features, pass measure='auc', or "
                "features that separate the classes.",
                ZeroSolutionWarning,
            )
        return SolverResult(coef, result.certificate)

    def _only_differences(self) -> bool:
        return not StructuralMeasure.of(self.measure).has_constant

    def _key(self, design: Design, rows: TwoClasses, measure: StructuralMeasure) -> bytes:
        digest = hashlib.blake2b(digest_size=32)
        parameters = measure, self.reference, float(self.auc_share), design.shape
        digest.update(repr(parameters).encode())
        matrix = design.matrix  # type: ignore[attr-defined]
        parts = (
            [matrix]
            if isinstance(matrix, np.ndarray)
            else [matrix.data, matrix.indices, matrix.indptr]
        )
        for part in (*parts, rows.positive, rows.weight):
            digest.update(np.ascontiguousarray(part).view(np.uint8).data)
        return digest.digest()

    def _share_of_top(self, rows: TwoClasses) -> float | None:
        mass = StructuralMeasure.of(self.measure).mass(rows)
        return None if mass is None else float(mass / rows.weight.sum())
