"""Subset ranking with order-preserving losses, after Calauzènes, Usunier and Gallinari (2013)."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._checkpoint import Checkpoints, cleared_on_success
from .._lists import Lists
from .._row_batches import RowBatches
from .._sklearn_compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    fit_context,
    with_callbacks,
)
from .._solvers import (
    BlockProblem,
    Design,
    LinearProblem,
    Quadratic,
    choose_method,
    quadratic_expansion,
    threads_here,
)
from .._typing import FloatArray
from .._validation import check_propensities
from .._warn import warn
from ..calibration._shared import positional_form, warn_if_not_positional
from ..exceptions import GrownLimitWarning
from ..losses import TemplateLoss, get_loss, get_loss_names
from ..losses._shared import LossOnLists, ThreadedLoss
from ..metrics import Measure
from ._block_lists import BlockLists
from ._block_ranker import BlockRanker
from ._blocked_rows import is_blocked, refuse_blocked
from ._calibrated_base import CalibratedRanker, nothing_to_learn, with_utilities
from ._fitting import forget, restored_on_error
from ._penalty import absolute_alpha, alpha_of_curvature, feature_curvature, relative_alpha
from ._propensity import refuse_joint_utilities, refuse_other_losses
from ._query_base import MEASURE_CONSTRAINTS, QueryRanker, weights_of, with_query_weight
from ._query_checks import check_gains
from ._query_features import NORMALIZE_CONSTRAINTS
from ._ridge_fit import ridge_solution
from ._score_function import LinearScores

__all__ = ["OrderPreservingRanker"]


class OrderPreservingRanker(CallbackSupportMixin, BlockRanker, CalibratedRanker):
    """Linear ranker of queries that minimises a loss calibrated with a measure.

    With the utilities v = u(y) that the measure gives the items, and scores s = X w + b, it
    minimises ``sum over queries q of w_q l(v_q, s_q) / sum of w_q + alpha / 2 ||w||**2``, convex
    in w and b, where l is the loss as its definition says, a sum over the items of a query or over
    their pairs.

    Parameters
    ----------
    loss : str or TemplateLoss, default="pairwise_logistic"
        Loss, by a name that :func:`sklearn_rank.losses.get_loss` takes or made with parameters of
        its own. Losses that are not order-preserving are taken with a warning, as "ranknet",
        "listnet" and "ranksvm".
    measure : str, Measure, ScoreGeneratingFunction or callable, default="ndcg"
        The measure that gives the utilities, and of which :meth:`score` is the value: "ndcg@10",
        "dcg", "precision@5", "recall@20", "auc", "spearman", "rbp@0.8", one of your own that says
        its utilities (:func:`sklearn_rank.metrics.make_measure`); "ap" and "err" with a warning.
        See :func:`sklearn_rank.calibration.utility`.
    eta : float or None, default=None
        Upper limit of the utilities for a ``loss`` by name that needs one, as the pointwise
        logistic loss; greater than 0. None is that of the measure, 1 for NDCG, or where there is
        none, as for DCG, the largest utility in the training data; for :meth:`partial_fit` give
        one that holds for all batches.
    alpha : float or str, default="scale"
        Strength of the penalty; more is smaller coefficients. ``"scale"``, or a factor of it such
        as ``"10*scale"``, is relative to the curvature of the loss and the variance of the
        features within queries, and means the same for all losses and lengths of lists; in
        :meth:`partial_fit` it is taken from the first batch. A number, at least 0, is the alpha of
        the objective. See Notes.
    normalize : {None, "zscore", "rank", "minmax"} or QueryNormalizer, default=None
        How features are put on one scale within each query first, by
        :class:`sklearn_rank.preprocessing.QueryNormalizer`. Scores of a row then depend on the
        other rows of its query, so that :meth:`predict` needs ``qid``, and X must be dense.
    fit_intercept : bool, default=True
        Whether there is b, which is not penalised. Losses of differences of scores do not depend
        on it, and leave it at 0.
    solver : {"auto", "newton-cg", "lbfgs"}, default="auto"
        Newton's method with conjugate gradients, or limited-memory BFGS. "auto" is Newton's method
        where the loss has Hessian products. Where Newton's method cannot go on, L-BFGS does.
    tol : float, default=1e-6
        Largest norm of the gradient, relative to that at 0; greater than 0.
    max_iter : int, default=200
        Largest number of iterations.
    propensity_clip : float, default=0.0
        Least propensity, in [0, 1]: smaller ones count as this one. More is less variance, and
        more bias against rows that were rarely examined; 0 clips none.
    warm_start : bool, default=False
        Whether ``fit`` starts from the coefficients of the last fit.
    single_list : bool, default=False
        Whether all rows are one list, so that no ``qid`` is needed, and none is taken.
    n_jobs : int or None, default=None
        Number of threads that evaluate the loss; None is 1, -1 is all. The result does not depend
        on it.
    checkpoint : str, path-like or None, default=None
        Folder that keeps the parameters after each iteration of :meth:`fit`, so that a fit that
        was killed goes on from there, to the same minimum and certificate. Fits to other data may
        share it: each has a folder of its own in it, which is deleted when the fit has succeeded.
    verbose : int, default=0
        Whether to write a line for each iteration to the standard error.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients w.
    intercept_ : float
        Intercept b.
    alpha_ : float
        The penalty as a number.
    normalizer_ : QueryNormalizer or None
        What normalises the features of queries.
    loss_ : TemplateLoss
        The loss, with its parameters.
    curvature_, slope_ : ndarray of shape (p, p) and (p,)
        What :meth:`partial_fit` remembers of the loss; absent after :meth:`fit`.
    total_query_weight_ : float
        Weight of the queries that it remembers; absent after :meth:`fit`.
    training_queries_ : object
        Which queries were learned from, so that :meth:`score` and scorers can warn where some of
        them are scored: hashes of up to 100,000 ids, and digests of the labels.
    n_queries_ : int
        Number of queries that counted.
    objective_ : float
        Value of the objective.
    lower_bound_ : float
        Certified: no coefficients have a smaller objective. It is ``objective_`` less
        ``||gradient||**2 / (2 alpha)``, and NaN where an intercept is fitted or alpha is 0.
    gradient_norm_ : float
        Norm of the gradient relative to that at 0, by which the fit ends.
    converged_ : bool
        Whether ``gradient_norm_`` is at most ``tol``.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string names.

    See Also
    --------
    RankSVM : The usual loss of pairs, which is not order-preserving.
    sklearn_rank.calibration.regret_bound : What a small surrogate regret guarantees.

    Notes
    -----
    Queries for which the measure is undefined are left out where the measure leaves them out;
    where it counts them as a number, as NDCG does a query without a relevant row, their utilities
    are 0. Long queries weigh more in a sum over items, and much more in a sum over pairs;
    ``query_weight`` changes this and leaves the loss order-preserving, for any weight that does
    not depend on the labels. The upper limit ``eta`` of pointwise losses is that of the measure
    (1 for NDCG), or where there is none, as for DCG, or with propensities, the largest utility in
    the training data; give a loss object to say it.

    The objective is a mean over queries of sums over items or pairs, so that the best number
    for alpha differs by orders of magnitude between losses and between lists of 10 and 100 items.
    ``"scale"`` is a tenth of ``sum over queries of w_q k_q s_q / sum of w_q``, where s_q is the
    mean over the features of their variance in the query, and k_q the curvature of its loss along
    its utilities v, standardised there to z: ``z' (l'(v, z / 2) - l'(v, -z / 2))``. Where this
    is 0 it is 1.

    A Newton step costs some ten evaluations of the loss: O(n_samples n_features) for the scores
    and O(n) a query of n rows, but O(r n) for the pairwise logistic loss with r relevant rows.
    Memory is a few vectors of n_samples beside the data: rows of any order, and dense ones of
    float32, are not copied, and products are those of float64. A fit by "pointwise_squared" to a
    million rows of 50 features takes 66 MB beside X, where a copy of unsorted float32 rows in
    order took 866. Of sparse float32 the values are copied, and where fewer than half of the rows
    count, these are. Features of very different scales make it slow: standardise them.

    The loss is a sum over queries, so that rows need not be in memory: X may be
    :class:`sklearn_rank.datasets.RowBatches`, or a dask array or dataframe with the other
    arguments as collections that are cut alike. Each evaluation, of the objective with its
    gradient or of a Hessian product, is then one pass over the rows, in which runs of queries of
    some 4 MB go from scores to gradient while they are in the processor's cache. The minimum and
    its certificate are those of rows in memory, but for rounding. Of batches some 50 bytes a row
    are in memory at the most (utilities, and what the loss prepares of them; 16 more where ids do
    not ascend), beside one batch and the run of queries that crosses its end: 550 MB for ten
    million rows, whatever the number of features. A fit to a million rows of 136 features takes
    the time that it takes in memory, if reading them is as fast. Of collections each
    chunk is read once, and stays with its worker; vectors of ``n_features`` travel, and with
    :meth:`fit` the ids of queries once. A chunk that is lost with its worker is read again.

    With ``propensity`` p the utilities are ``u(y) / max(p, propensity_clip)``. Where a row that is
    not examined has the label 0, their mean, if nothing is clipped, is the utility of the
    relevance itself, and so the expected loss, but for terms without scores, that of the
    relevance [2]_. Weights of 1 / p in ``sample_weight`` are not the same: a pair has the product
    of the weights of its rows.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93.
    .. [2] Joachims, T., Swaminathan, A. and Schnabel, T. (2017). Unbiased learning-to-rank with
       biased feedback. WSDM, Section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank import OrderPreservingRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> qid = np.repeat(np.arange(20), 10)
    >>> y = rng.binomial(3, 1 / (1 + np.exp(-X[:, 0])))
    >>> ranker = OrderPreservingRanker(measure="ndcg@5").fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid).__round__(2)
    0.81
    >>> bool(ranker.gradient_norm_ <= ranker.tol)
    True

    Positions within each query, 1 at the top:

    >>> ranker.rank(X, qid=qid)[:10]
    array([ 5.,  6.,  1.,  9., 10.,  7.,  4.,  2.,  3.,  8.])
    """

    _row_types = (np.float64, np.float32)
    _parameter_constraints = {
        **QueryRanker._parameter_constraints,
        "loss": [StrOptions(set(get_loss_names(aliases=True))), TemplateLoss],
        "measure": MEASURE_CONSTRAINTS,
        "eta": [Interval(Real, 0, None, closed="neither"), None],
        "alpha": [Interval(Real, 0, None, closed="left"), str],
        "normalize": NORMALIZE_CONSTRAINTS,
        "fit_intercept": ["boolean"],
        "solver": [StrOptions({"auto", "newton-cg", "lbfgs"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "propensity_clip": [Interval(Real, 0, 1, closed="both")],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "checkpoint": [str, os.PathLike, None],
        "verbose": ["verbose"],
    }

    alpha_: float

    def __init__(
        self,
        loss="pairwise_logistic",
        *,
        measure="ndcg",
        eta=None,
        alpha="scale",
        normalize=None,
        fit_intercept=True,
        solver="auto",
        tol=1e-6,
        max_iter=200,
        propensity_clip=0.0,
        warm_start=False,
        single_list=False,
        n_jobs=None,
        checkpoint=None,
        verbose=0,
    ):
        self.loss = loss
        self.measure = measure
        self.eta = eta
        self.alpha = alpha
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.propensity_clip = propensity_clip
        self.warm_start = warm_start
        self.single_list = single_list
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
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
        propensity: Any = None,
    ) -> OrderPreservingRanker:
        """Minimise the loss over the queries.

        Parameters
        ----------
        X : {array-like, sparse matrix, RowBatches, dask collection} of shape (n_samples, \
n_features)
            Rows. Sparse matrices are converted to CSR. Rows that are read batch by batch
            (:class:`sklearn_rank.datasets.RowBatches`, with ``y=rows.y`` and ``qid=rows.qid``)
            need the rows of each query together; dask arrays and dataframes each query whole
            within a chunk. See Notes.
        y : array-like of shape (n_samples,)
            Relevance, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row: numbers, strings or anything that sorts, in any order.
            None takes up to 2,000 rows as one query, with a warning; a single number, or
            ``single_list=True``, does on purpose.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows: 2 is the row twice, 0 the row absent.
        query_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of the query of each row, the same for all rows of a query.
        propensity : array-like of shape (n_samples,), default=None
            Where y is what was observed of the relevance, as clicks: the probability in (0, 1]
            that each row was examined where it was shown. The utilities are divided by it. It
            needs a loss that is order-preserving, and a measure by which the utility of an item
            depends on its own label, as "dcg". None takes y as it is.

        Returns
        -------
        OrderPreservingRanker
            The estimator itself.

        Raises
        ------
        ValueError
            If an argument is not valid, the measure is undefined for every query, most queries
            have one row, or ``qid`` is missing for more than 2,000 rows.
        QuerySetupError
            If a search or cross-validation of scikit-learn passes no ``qid``, or has cut queries.
            It ends the search at once, which would turn other errors into NaN.

        Warns
        -----
        SingleListWarning
            If ``qid`` is None without ``single_list=True``.
        CalibrationWarning
            If the loss is not order-preserving, or the measure is "ap" or "err".
        ConvergenceWarning
            If the gradient norm misses ``tol``.
        """
        with (
            restored_on_error(self),
            ExitStack() as held,
            cleared_on_success(self.checkpoint, type(self).__name__) as checkpoints,
        ):
            # A fit forgets what partial_fit has seen.
            forget(self, "curvature_", "slope_", "total_query_weight_")
            weights = {"sample_weight": sample_weight, "query_weight": query_weight}
            lists: Lists | BlockLists
            problem: LinearProblem | BlockProblem
            if is_blocked(X):
                lists = self._utility_blocks(X, y, qid, weights, propensity, held)
                loss = self._loss_up_to(lists.largest, eta=self.eta)
                choose_method(loss, self.solver)
                problem = self._block_problem(lists, loss)
            else:
                rows, lists = self._utility_lists(
                    X, y, qid, weights, reset=True, propensity=propensity
                )
                loss = self._loss(lists, eta=self.eta)
                choose_method(loss, self.solver)
                problem = self._problem(self._items(rows, lists), lists, loss)
            start = None
            if self._warm_start(problem.n_features) is not None:
                start = self._parameters(loss)
            self._minimise(problem, start, (X, y), checkpoints)
            self.loss_ = loss
            self._store_queries(lists)
        return self

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        propensity: Any = None,
    ) -> OrderPreservingRanker:
        """Fit to more queries, whole ones, beside what is remembered of earlier ones.

        Of the loss of earlier queries a quadratic function is kept, exact for squared losses: for
        these, with a number for ``alpha``, the result is that of :meth:`fit` on all queries,
        whatever the batches. For others it
        is the second-order expansion where each batch ended.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Relevance, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row; a query that was in an earlier batch counts as another.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows.
        query_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of the query of each row.
        propensity : array-like of shape (n_samples,), default=None
            Probability in (0, 1] that each row was examined, as in :meth:`fit`.

        Returns
        -------
        OrderPreservingRanker
            The estimator itself.

        Raises
        ------
        ValueError
            If an argument is not valid, the measure is undefined for every query, or a utility
            exceeds ``eta``.
        QuerySetupError
            If a search or cross-validation of scikit-learn passes no ``qid``, or has cut queries.
            It ends the search at once, which would turn other errors into NaN.

        Warns
        -----
        SingleListWarning
            If ``qid`` is None without ``single_list=True``.
        CalibrationWarning
            If the loss is not order-preserving, or the measure is "ap" or "err".
        GrownLimitWarning
            If ``eta`` is None and utilities exceed the limit of earlier batches.
        ConvergenceWarning
            If the gradient norm misses ``tol``.

        Notes
        -----
        The memory is a matrix of n_features x n_features, and a batch costs one Hessian product
        for each feature beside the fit.

        A loss with a limit, ``sum v a(s) + (eta - v) b(s)``, is linear in utilities and limit.
        With one ``eta`` for all batches they are terms of one loss. Where the limit grew, rows
        keep that of their batch: for the same features in several batches the sum is the loss of
        their mean utility with the mean of the limits, weighted as they are, and it stays
        order-preserving if the share of each batch does not depend on the features; a kind of row
        that was seen mostly before the limit grew is scored too high.
        """
        refuse_blocked(self, X, ", or rows of one of the blocks() of RowBatches")
        with restored_on_error(self):
            first = not hasattr(self, "total_query_weight_")
            weights = {"sample_weight": sample_weight, "query_weight": query_weight}
            rows, lists = self._utility_lists(
                X, y, qid, weights, reset=first, propensity=propensity
            )
            loss = self._loss(lists, eta=self.eta) if first else self._grown_loss(lists)
            choose_method(loss, self.solver, also="partial_fit")
            size = rows.shape[1] + self._has_intercept(loss)
            start = None if first else self._parameters(loss)
            if first:
                self.curvature_, self.slope_ = np.zeros((size, size)), np.zeros(size)
                self.total_query_weight_ = 0.0
            elif len(self.slope_) != size:
                raise ValueError(
                    f"fit_intercept={self.fit_intercept!r} differs from that of the earlier"
                    " batches: set it back, or start anew by fit."
                )
            total = self.total_query_weight_ + weights_of(lists).sum()
            remembered = Quadratic(self.curvature_ / total, self.slope_ / total)
            items = self._items(rows, lists, add=not first)
            problem = self._problem(
                items,
                lists,
                loss,
                total_weight=total,
                quadratic=remembered,
                keep_alpha=not first,
            )
            gained = quadratic_expansion(problem, self._minimise(problem, start, (X, y)))
            self.curvature_ = self.curvature_ + total * gained.curvature
            self.slope_ = self.slope_ + total * gained.slope
            self.total_query_weight_ = total
            self.loss_ = loss
            self._store_queries(lists, add=not first)
        return self

    def _grown_loss(self, lists: Lists) -> TemplateLoss:
        """The loss of earlier batches, with a limit that holds for this one too."""
        loss, largest = self.loss_, float(lists.grade.max())
        told = self.eta is not None or not isinstance(self.loss, str)
        if told or largest <= loss.largest_utility:
            return loss
        warn(
            f"This batch has the utility {largest:g}, beyond the limit {loss.largest_utility:g} of"
            " the earlier ones, which now grows: the same utility is worth a lower score than it"
            " was. Give eta=, a limit that holds for all batches.",
            GrownLimitWarning,
        )
        return get_loss(self.loss, eta=largest)

    def _problem(
        self,
        items: Design,
        lists: Lists,
        loss: TemplateLoss,
        *,
        total_weight: float | None = None,
        quadratic: Quadratic | None = None,
        keep_alpha: bool = False,
    ) -> LinearProblem:
        """The problem of these lists, the mean over queries of this weight in all."""
        total = weights_of(lists).sum() if total_weight is None else total_weight
        weighted = with_query_weight(lists, 1 / total)
        of_lists = ThreadedLoss(loss, weighted, threads_here(self.n_jobs))
        if not (keep_alpha and isinstance(self.alpha, str)):
            self.alpha_ = absolute_alpha(self.alpha, items, of_lists, weighted)
        return LinearProblem(
            items,
            of_lists,
            alpha=self.alpha_,
            fit_intercept=self._has_intercept(loss),
            quadratic=quadratic,
        )

    def _utility_blocks(
        self,
        X: Any,
        y: Any,
        qid: Any,
        weights: dict[str, Any],
        propensity: Any,
        held: ExitStack,
    ) -> BlockLists:
        """The utilities of rows that are not in memory, as :meth:`_utility_lists` finds them."""
        columns = {"X": X, "y": y, "qid": qid, **weights}
        self._check_columns(columns)
        if isinstance(X, RowBatches):
            _, lists = self._utility_lists(X, y, qid, weights, reset=True, propensity=propensity)
            return self._batched(X, lists)
        warn_if_not_positional(self.measure)
        measure, _ = positional_form(self.measure)
        labels = measure.label_type(name="y")
        convert = partial(_utilities_of_chunk, measure, self.propensity_clip)
        found = self._chunked({**columns, "propensity": propensity}, labels, convert, held)
        check_gains(type(self).__name__, measure, found.labels)
        if propensity is not None:
            refuse_other_losses(self.loss)
            refuse_joint_utilities(measure, found.labels)
        if not found.largest > 0:
            raise nothing_to_learn(measure)
        return found

    def _block_problem(self, lists: BlockLists, loss: TemplateLoss) -> BlockProblem:
        """The problem of these lists, the mean over queries."""
        if lists.largest > loss.largest_utility:
            raise ValueError(
                f"The largest utility is {lists.largest:g}, but must be at most"
                f" {loss.largest_utility:g} for {loss!r}: raise eta above it."
            )
        blocks = lists.blocks.on(partial(LossOnLists, loss))
        factor = 1 / lists.weight
        curvature = 0.0
        if isinstance(self.alpha, str):
            relative_alpha(self.alpha)
            (curvature,) = blocks.total(_curvature)
        self.alpha_ = alpha_of_curvature(self.alpha, float(factor * curvature))
        return BlockProblem(
            blocks,
            loss,
            alpha=self.alpha_,
            fit_intercept=self._has_intercept(loss),
            factor=factor,
        )

    def _minimise(
        self,
        problem: LinearProblem | BlockProblem,
        start: FloatArray | None,
        data: tuple[Any, Any],
        checkpoints: Checkpoints | None = None,
    ) -> FloatArray:
        """Solve the problem, store its solution, and return the parameters."""
        solution = ridge_solution(self, problem, start, data, checkpoints)
        self.coef_ = solution.coef
        return solution.parameters

    def _has_intercept(self, loss: TemplateLoss) -> bool:
        return self.fit_intercept and not loss.is_translation_invariant

    def _parameters(self, loss: TemplateLoss) -> FloatArray:
        return np.append(self.coef_, self.intercept_) if self._has_intercept(loss) else self.coef_

    def _scores(self, X: Any) -> FloatArray:
        return LinearScores(self.coef_).scores(X) + self.intercept_


def _utilities_of_chunk(
    measure: Measure, clip: float, lists: Lists, columns: dict[str, Any]
) -> Lists | None:
    """Lists of utilities of a chunk; None where no list is left."""
    propensity, examined = columns["propensity"], None
    if propensity is not None:
        n_rows = len(columns["y"])
        examined = np.maximum(check_propensities(propensity, n_rows, lists.rows), clip)
    return with_utilities(measure, lists, examined)


def _curvature(items: Design, loss: LossOnLists) -> tuple[float]:
    """Curvature of the loss of a block in the coefficient of a feature."""
    return (feature_curvature(items, loss, loss.lists),)
