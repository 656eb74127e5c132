"""Baseline rankers with losses that are not order-preserving."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

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
    BlockHingeProblem,
    BlockProblem,
    Design,
    HingeProblem,
    LinearProblem,
    count_threads,
    solve_linear,
    solve_linear_hinge,
)
from .._typing import FloatArray
from ..losses import ComparisonHinge, ComparisonSquaredHinge
from ..losses._shared import LossOnLists, ThreadedLoss
from ..metrics import get_measure
from ._base import (
    FitProgress,
    forget,
    is_blocked,
    restored_on_error,
    warn_not_converged,
    warn_of_scales,
)
from ._block_ranker import NORMALIZE_CONSTRAINTS, BlockLists, BlockRanker, has_pairs
from ._kernel_base import LinearScores
from ._query_base import MEASURE_CONSTRAINTS, QueryRanker, weights_of, with_query_weight
from ._ridge_fit import curvature_at_0

# Relevances, of which only the order counts.
RELEVANCE = LabelType("graded", lowest=-np.inf, name="y")

# For each loss the certificate by which its fit ends, and the attribute that keeps it.
CERTIFICATES: dict[str, tuple[Literal["relative_gap", "gradient_norm"], str]] = {
    "hinge": ("relative_gap", "dual_gap_"),
    "squared_hinge": ("gradient_norm", "gradient_norm_"),
}


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
        "measure": MEASURE_CONSTRAINTS,
        "C": [Interval(Real, 0, None, closed="neither")],
        "normalize": NORMALIZE_CONSTRAINTS,
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
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
            criterion, attribute = CERTIFICATES[self.loss]
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
            certificate = solution.certificate
            accuracy = getattr(certificate, criterion)
            if not certificate.converged:
                warn_not_converged(
                    criterion,
                    accuracy,
                    n_iter=certificate.n_iter,
                    max_iter=self.max_iter,
                    tol=self.tol,
                    regularise="lower C",
                )
            forget(self, "dual_gap_", "gradient_norm_")
            setattr(self, attribute, accuracy)
            self.coef_ = solution.coef
            self._store_queries(lists)
            self.objective_ = certificate.objective
            self.lower_bound_ = certificate.lower_bound
            self.converged_ = certificate.converged
            self.n_iter_ = certificate.n_iter
            progress.done()
        return self

    def _problem(self, design: Design, lists: Lists) -> HingeProblem | LinearProblem:
        weighted = with_query_weight(_as_utilities(lists), self.C / weights_of(lists).sum())
        threads = count_threads(self.n_jobs)

        def on(loss: Any, margin: float) -> ThreadedLoss:
            return ThreadedLoss(loss(margin), weighted, threads)

        squared = on(ComparisonSquaredHinge, 1.0)
        bends = curvature_at_0(design, squared, weighted)
        row: Any = design.rows(slice(0, 1))
        sparse = sp.issparse(row.matrix)
        warn_of_scales(self, np.sqrt(bends), sparse=sparse, within_queries=True)
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

    def _block_problem(self, lists: BlockLists) -> BlockHingeProblem | BlockProblem:
        factor = self.C / lists.weight
        hinges = partial(_hinge_on, ComparisonHinge), partial(_hinge_on, ComparisonSquaredHinge)
        squared = ComparisonSquaredHinge(1.0)
        blocks = lists.blocks.on(partial(LossOnLists, squared))
        bends = factor * blocks.total(_curvature)[0]
        warn_of_scales(self, np.sqrt(bends), within_queries=True)
        settings = {"alpha": 1.0, "factor": factor, "bends": bends}
        if self.loss == "hinge":
            return BlockHingeProblem(lists.blocks, *hinges, **settings)
        return BlockProblem(blocks, squared, **settings)

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
