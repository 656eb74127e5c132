"""Linear ranker of queries by a loss that is calibrated for a measure."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import product
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .._lists import LabelType, Lists, group_rows, refuse_single_rows
from .._partitions import is_collection, parts
from .._sklearn_compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    fit_context,
    with_callbacks,
)
from .._solvers import (
    LinearProblem,
    OnePart,
    Quadratic,
    as_design,
    choose_method,
    count_threads,
    quadratic_expansion,
    solve_linear,
    solve_linear_hinge,
    view_design,
)
from .._typing import AnyArray, BoolArray, FloatArray
from .._validation import check_propensities, check_qid, check_rows, refuse_misread, shape_of
from .._warn import warn
from ..exceptions import GrownLimitWarning
from ..losses import ComparisonHinge, ComparisonSquaredHinge, TemplateLoss, get_loss
from ..losses._shared import LossOnLists
from ..metrics import Measure
from ..metrics._shared import MeasureLike, positional_form, utilities_of, warn_if_not_positional
from ..preprocessing import METHODS, QueryNormalizer
from ._base import forget, refuse_blocked, restored_on_error, store_parameters, warn_of_scales
from ._blocked_rows import ChunkedLists, check_features, checked_part, scores_by_parts
from ._linear_base import (
    BlockLists,
    as_normalizer,
    feature_curvature,
    joined_blocks,
    read_chunk,
    refuse_cut_queries,
    relative_alpha,
    ridge_solution,
    scaled_penalties,
)
from ._list_base import QueryRanker, calibrated_loss, check_gains, in_lists


class OrderPreservingRanker(CallbackSupportMixin, QueryRanker):
    """Linear learning to rank with a loss that is calibrated for a measure.

    The measure maps relevance y to utilities v = u(y). The scores s = X w + b minimise ``sum over
    queries q of w_q l(v_q, s_q) / sum of w_q + 1 / 2 sum over features j of alpha_j w_j**2``,
    which is convex in w and b. The loss l is a sum over the items of a query or over their pairs.

    Parameters
    ----------
    loss : str or TemplateLoss, default="softmax"
        Loss: a name that :func:`sklearn_rank.losses.get_loss` takes, or a loss object. Losses that
        are not order-preserving, such as "ranknet", "listnet" and "ranksvm", give a warning. With
        "ranksvm" ("comparison_hinge") it is the ranking SVM [3]_, C of which is 1 / alpha.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="ndcg"
        Measure that defines the utilities, and that :meth:`score` computes: ``"ndcg@10"``,
        ``"dcg"``, ``"precision@5"``, ``"recall@20"``, ``"auc"``, ``"spearman"``, ``"rbp@0.8"``, or
        a custom measure with utilities (:func:`sklearn_rank.metrics.make_measure`). "ap" and "err"
        give a warning. See :func:`sklearn_rank.calibration.utility`.
    eta : float or None, default=None
        Upper limit of the utilities, greater than 0, for a ``loss`` given by name that needs one,
        such as "pointwise_logistic". None takes the limit of the measure, such as 1 for NDCG, or
        the greatest utility in the training data if the measure has no limit, such as DCG. For
        :meth:`partial_fit`, pass a limit that holds for all batches.
    alpha : float or str, default="scale"
        Strength of the penalty. A greater value shrinks the coefficients. ``"scale"``, or a
        multiple such as ``"10*scale"``, is relative to the curvature of the loss and to the
        variance of each feature within queries: it is comparable across losses and list lengths,
        and the scores do not depend on the units of the features. :meth:`partial_fit` computes it
        from the first batch in which the feature varies. A number, at least 0, is the penalty of
        every coefficient. See Notes.
    normalize : {None, "zscore", "rank", "minmax"} or QueryNormalizer, default=None
        How :class:`sklearn_rank.preprocessing.QueryNormalizer` scales features within each query.
        Scores then depend on all rows of the query, so that :meth:`predict` needs ``qid``, and X
        must be dense.
    fit_intercept : bool, default=True
        Whether to fit the intercept b, which is not penalised. Losses of score differences do not
        depend on b; it stays 0.
    solver : {"auto", "newton-cg", "lbfgs"}, default="auto"
        Newton's method with conjugate gradients, or limited-memory BFGS. "auto" is Newton's method
        if the loss has Hessian products; if it stalls, L-BFGS continues. For "comparison_hinge"
        it is a method of its own, which rounds off the kink by parabolas of decreasing width.
    tol : float, default=1e-6
        Tolerance on ``gradient_norm_``, greater than 0: at 1e-6, at most 1e-12 of the possible
        decrease of the objective is left. For "comparison_hinge" it is one on ``dual_gap_``.
    max_iter : int, default=200
        Maximum number of iterations.
    propensity_clip : float, default=0.0
        Minimum propensity, in [0, 1]; smaller propensities are raised to it. A greater value gives
        less variance and more bias against rarely examined rows. 0 does not clip.
    warm_start : bool, default=False
        Whether ``fit`` starts from the coefficients of the previous fit.
    single_list : bool, default=False
        Whether all rows belong to one query. ``fit`` then takes no ``qid``.
    n_jobs : int or None, default=None
        Number of threads, on which the result does not depend. None is 1, -1 uses all cores.
    verbose : int, default=0
        1 writes a line for each iteration to the standard error; 0 is silent.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients w.
    intercept_ : float
        Intercept b.
    alpha_ : ndarray of shape (n_features,)
        The penalty of each coefficient, alpha_j of the objective.
    varies_ : ndarray of bool of shape (n_features,)
        Whether each feature varies within a training query; else it orders nothing.
    normalizer_ : QueryNormalizer or None
        Normalises the features within each query.
    loss_ : TemplateLoss
        The loss, with its parameters.
    curvature_, slope_ : ndarray of shape (p, p) and (p,)
        Quadratic approximation of the loss of earlier batches in :meth:`partial_fit`. Not set by
        :meth:`fit`.
    total_query_weight_ : float
        Total weight of the queries of earlier batches. Not set by :meth:`fit`.
    training_queries_ : object
        Record of the training queries, by which :meth:`score` and scorers warn of them.
    n_queries_ : int
        Number of queries that were used.
    objective_ : float
        Value of the objective.
    lower_bound_ : float
        Certified lower bound of the objective over all coefficients, ``objective_ - sum over j of
        g_j**2 / (2 alpha_j)`` for the gradient g, with an intercept at its best value. NaN if an
        alpha_j is 0. For "comparison_hinge" it is the value of the dual problem.
    gradient_norm_ : float
        Norm of the gradient relative to that at 0, in a metric in which its square is the share of
        the decrease of the objective that is left, at most; see Notes.
    dual_gap_ : float
        ``objective_ - lower_bound_``, relative to the objective. Only for "comparison_hinge", in
        place of ``gradient_norm_``.
    converged_, n_iter_ : bool, int
        Whether ``gradient_norm_`` or ``dual_gap_`` is at most ``tol``, and the number of
        iterations.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen in ``fit``, and their names if they are all strings.

    See Also
    --------
    GroupRankerAdapter : Boosted trees for queries.
    sklearn_rank.calibration.regret_bound : What a small surrogate regret guarantees.

    Notes
    -----
    If the measure is undefined for a query and leaves it out, the fit leaves it out. If the
    measure counts such a query as a number, as NDCG does without a relevant row, its utilities are
    0. Long queries have more weight in a sum over items, and much more in a sum over pairs.
    ``query_weight`` changes this, and the loss stays order-preserving for any weight that does not
    depend on the labels. With propensities, ``eta=None`` is the greatest utility in the training
    data.

    The objective is a mean over queries of sums over items or pairs, so that the best number for
    alpha differs by orders of magnitude between losses, and between lists of 10 and 100 items.
    With ``"scale"``, alpha_j is a tenth of ``k v_j``. Here k is the weighted mean over the queries
    of k_q, the curvature of the loss along the standardised utilities z, ``z' (l'(v, z / 2) -
    l'(v, -z / 2))``. The unit v_j is the mean variance of the feature within the queries in which
    it varies, with weights ``w_q k_q``. A feature that varies in no query has its mean square as
    v_j; if that is 0, alpha_j is 1.

    The square of ``gradient_norm_`` bounds ``(F - F_min) / (F(0) - F_min)`` for the objective F.
    The bound on what is left is ``sum of g_j**2 / (2 alpha_j)`` or, where a weak penalty or
    rounding makes it large, half the square of the gradient in the metric of the second
    derivatives. The number of iterations does not depend on the units of the features, but a
    number as alpha does: features whose scales differ by a factor of a million or more then give a
    warning.

    A Newton step costs about ten evaluations of the loss. An evaluation takes O(n_samples
    n_features) for the scores and O(n) for a query of n rows, or O(r n) for the pairwise logistic
    loss with r relevant rows. In addition to the data, memory is a few vectors of n_samples: dense
    rows are not copied, in any order and also in float32, and products are computed in float64.
    The values of sparse float32 matrices are copied, and if fewer than half of the rows have
    positive weight, these rows are copied.

    Rows need not be in memory: X can be a dask array or dataframe with the other arguments as
    collections of the same chunks. Each evaluation, or Hessian product, is then one pass over the
    rows, to the same minimum and certificate up to rounding.

    With ``propensity`` p the utilities are ``u(y) / max(p, propensity_clip)``. If rows that are
    not examined have the label 0 and nothing is clipped, the expectation of these utilities is the
    utility of the relevance. The expected loss is then that of the relevance, up to terms without
    scores [2]_. Weights of 1 / p in ``sample_weight`` are not equivalent: a pair gets the product
    of the weights of its rows.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93.
    .. [2] Joachims, T., Swaminathan, A. and Schnabel, T. (2017). Unbiased learning-to-rank with
       biased feedback. WSDM, Section 4.
    .. [3] Joachims, T. (2002). Optimizing search engines using clickthrough data. KDD.

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
    """

    _row_types = (np.float64, np.float32)
    _parameter_constraints = {
        "propensity_clip": [Interval(Real, 0, 1, closed="both")],
        "normalize": [None, StrOptions(set(METHODS)), QueryNormalizer],
        "solver": [StrOptions({"auto", "newton-cg", "lbfgs"})],
    }

    alpha_: FloatArray
    varies_: BoolArray

    def __init__(
        self,
        loss="softmax",
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
        verbose=0,
    ):
        store_parameters(locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.normalize is None
        return tags

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
    ) -> Self:
        """Fit the coefficients by minimising the loss over the queries.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask collection} of shape (n_samples, n_features)
            Rows. Sparse matrices are converted to CSR. In dask arrays and dataframes each query
            must lie within one chunk. See Notes.
        y : array-like of shape (n_samples,)
            Relevance, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row, sortable, in any order. None treats all rows as one
            query, with a warning, and is refused in searches; a number, or ``single_list=True``,
            does so without.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows. A row of weight 2 counts as two rows, a row of weight
            0.5 as half a row, a row of weight 0 is ignored.
        query_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of the query of each row, the same for all rows of a query.
        propensity : array-like of shape (n_samples,), default=None
            If y is an observation of the relevance, such as clicks: probability in (0, 1] that
            each row was examined at the position where it was shown. The utilities are divided by
            it. This requires an order-preserving loss, and a measure for which the utility of an
            item depends on its own label only, such as "dcg". None takes y as the relevance.

        Returns
        -------
        OrderPreservingRanker
            The estimator itself.

        Raises
        ------
        ValueError
            If an argument is not valid, the measure is undefined for every query, most queries
            have one row, or ``qid`` is missing in a search or cross-validation.

        Warns
        -----
        SingleListWarning
            If ``qid`` is None without ``single_list=True``.
        CalibrationWarning
            If the loss is not order-preserving, or the measure is "ap" or "err".
        FeatureScaleWarning
            If alpha is a number and the scales of two features within the queries differ by a
            factor of 1e6 or more.
        ConvergenceWarning
            If ``gradient_norm_`` or ``dual_gap_`` does not reach ``tol``.
        """
        with restored_on_error(self), ExitStack() as exit_stack:
            # fit discards the state of partial_fit.
            forget(self, "curvature_", "slope_", "total_query_weight_")
            columns = {"X": X, "y": y, "qid": qid, "propensity": propensity}
            columns |= {"sample_weight": sample_weight, "query_weight": query_weight}
            lists = self._utilities(columns, exit_stack=exit_stack)
            loss = self._loss(lists.largest)
            choose_method(loss, self.solver)
            problem = self._problem(X, lists, loss)
            start = None
            if self.warm_start and hasattr(self, "coef_"):
                if len(self.coef_) != problem.n_features:
                    raise ValueError(
                        f"warm_start=True, but X has {problem.n_features} features and the last "
                        f"fit had {len(self.coef_)}: pass the same features or warm_start=False."
                    )
                start = self._parameters(loss)
            self._minimise(problem, start, (X, y), loss, lists)
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
    ) -> Self:
        """Fit to further whole queries, keeping an approximation of the loss of earlier ones.

        The loss of earlier queries is stored as a quadratic function. For squared losses it is
        exact: if ``alpha`` is a number, the result is that of :meth:`fit` on all queries, for any
        batches. For other losses it is the second-order expansion at the solution of each batch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Relevance, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row. An id of an earlier batch counts as another query.
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

        Warns
        -----
        SingleListWarning
            If ``qid`` is None without ``single_list=True``.
        CalibrationWarning
            If the loss is not order-preserving, or the measure is "ap" or "err".
        GrownLimitWarning
            If ``eta`` is None and utilities exceed the limit of earlier batches.
        FeatureScaleWarning
            If alpha is a number and the scales of two features within the queries differ by a
            factor of 1e6 or more.
        ConvergenceWarning
            If ``gradient_norm_`` does not reach ``tol``.

        Notes
        -----
        Memory is a matrix of n_features x n_features. In addition to the fit, a batch costs one
        Hessian product for each feature.

        A loss with a limit, ``sum v a(s) + (eta - v) b(s)``, is linear in the utilities and the
        limit. With one ``eta`` for all batches, the batches are terms of one loss. If the limit
        grows, rows keep the limit of their batch. For equal features in several batches, the sum
        is then the loss of their weighted mean utility with the weighted mean limit. It stays
        order-preserving if the share of each batch does not depend on the features; rows that
        occur mostly before the limit grew are scored too high.
        """
        refuse_blocked(self, X)
        with restored_on_error(self):
            is_first = not hasattr(self, "total_query_weight_")
            columns = {"X": X, "y": y, "qid": qid, "propensity": propensity}
            columns |= {"sample_weight": sample_weight, "query_weight": query_weight}
            lists = self._utilities(columns, add=not is_first)
            loss = self._loss(lists.largest) if is_first else self._raise_limit(lists.largest)
            choose_method(loss, self.solver, also="partial_fit")
            size = lists.blocks.n_features + self._has_intercept(loss)
            start = None if is_first else self._parameters(loss)
            if is_first:
                self.curvature_, self.slope_ = np.zeros((size, size)), np.zeros(size)
                self.total_query_weight_ = 0.0
            elif len(self.slope_) != size:
                raise ValueError(
                    f"fit_intercept={self.fit_intercept!r} differs from the value for earlier "
                    "batches: reset it, or start again with fit."
                )
            total = self.total_query_weight_ + lists.weight
            quadratic = Quadratic(self.curvature_ / total, self.slope_ / total)
            problem = self._problem(X, lists, loss, total, quadratic, add=not is_first)
            parameters = self._minimise(problem, start, (X, y), loss, lists, add=not is_first)
            expansion = quadratic_expansion(problem, parameters)
            self.curvature_ = self.curvature_ + total * expansion.curvature
            self.slope_ = self.slope_ + total * expansion.slope
            self.total_query_weight_ = total
        return self

    def predict(self, X: Any, *, qid: Any = None) -> Any:
        """Predict scores; within a query a greater score is nearer to the top.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask collection} of shape (n_samples, n_features)
            Rows, in any form that ``fit`` takes. With ``normalize``, all rows of each query.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row. Required with ``normalize`` unless the ranker was fitted
            to one query; without ``normalize`` it has no effect.

        Returns
        -------
        ndarray or dask array of shape (n_samples,)
            Scores. They order the rows of one query; scores of different queries need not be
            comparable. Scores of dask collections are lazy.

        Raises
        ------
        ValueError
            If ``qid`` is None, and the ranker normalises features within queries and was fitted to
            several.
        """
        check_is_fitted(self)
        if is_collection(X):
            return self._predict_blocks(X, qid)
        X = self._validated(X, reset=False)
        if self.normalizer_ is None:
            return self._scores(X)
        if qid is None and self.normalizer_.list_ is None:
            raise self._needs_ids("normalises features within each query")
        return self._scores(self.normalizer_.transform(X, qid=qid))

    def _raise_limit(self, largest: float) -> TemplateLoss:
        loss = self.loss_
        is_set = self.eta is not None or not isinstance(self.loss, str)
        if is_set or largest <= loss.largest_utility:
            return loss
        warn(
            f"This batch has the utility {largest:g}, greater than the limit"
            f" {loss.largest_utility:g} of earlier batches, so the limit is raised and equal"
            " utilities get lower scores than before. Pass eta=, a limit that holds for all.",
            GrownLimitWarning,
        )
        return get_loss(self.loss, eta=largest)

    def _problem(
        self,
        X: Any,
        lists: BlockLists,
        loss: TemplateLoss,
        total_weight: float | None = None,
        quadratic: Quadratic | None = None,
        *,
        add: bool = False,
    ) -> LinearProblem:
        multiple = relative_alpha(self.alpha)
        factor = 1 / (lists.weight if total_weight is None else total_weight)
        if not isinstance(lists.blocks, OnePart) and lists.largest > loss.largest_utility:
            raise ValueError(
                f"The greatest utility is {lists.largest:g}, but must be at most "
                f"{loss.largest_utility:g} for {loss!r}: raise eta."
            )
        blocks = lists.blocks.on(partial(LossOnLists, loss), loss)
        sums, curvature = blocks.total(feature_curvature)
        curvatures = factor * sums[0]
        if multiple is None:
            alpha = np.full(len(curvatures), float(self.alpha))
            sparse = sp.issparse(X)
            warn_of_scales(self, np.sqrt(curvatures), sparse=sparse, within_queries=True)
        else:
            alpha = multiple * scaled_penalties(sums, curvature, lists.weight)
            alpha = np.where(self.varies_, self.alpha_, alpha) if add else alpha
        self.alpha_, self.varies_ = alpha, (curvatures > 0) | (add and self.varies_)
        intercept = self._has_intercept(loss)
        return LinearProblem(blocks, self.alpha_, intercept, quadratic, curvatures, factor)

    def _minimise(
        self,
        problem: LinearProblem,
        start: FloatArray | None,
        data: tuple[Any, Any],
        loss: TemplateLoss,
        lists: BlockLists,
        *,
        add: bool = False,
    ) -> FloatArray:
        """Solve a problem and store what was learned; the parameters of the solution."""
        solve: Any = partial(solve_linear, method=self.solver)
        by_gap = False
        if isinstance(loss, ComparisonHinge) and self.solver == "auto":
            by_gap = True
            hinges = (partial(_on, kind) for kind in (ComparisonHinge, ComparisonSquaredHinge))
            solve = partial(solve_linear_hinge, hinges=tuple(hinges), margin=loss.margin)
        solution = ridge_solution(self, problem, start, data, solve=solve, by_gap=by_gap)
        self.coef_, self.intercept_ = solution.coef, solution.intercept
        self.loss_ = loss
        self._store_queries(lists, add=add)
        return solution.parameters

    def _utilities(
        self, columns: dict[str, Any], *, add: bool = False, exit_stack: ExitStack | None = None
    ) -> BlockLists:
        """Rows in one part or several, with the utilities of their lists that have a measure.

        ``add`` keeps what earlier batches stored.
        """
        refuse_misread(**columns)
        warn_if_not_positional(self.measure)
        measure, _ = positional_form(self.measure)
        labels = measure.label_type(name="y")
        convert = partial(with_utilities, measure, self.propensity_clip)
        X, propensity = columns["X"], columns["propensity"]
        found: Lists | BlockLists
        if exit_stack is not None and is_collection(X):
            found = blocks = self._chunked(columns, labels, convert, exit_stack)
        else:
            y, qid = columns["y"], columns["qid"]
            weights = {name: columns[name] for name in ("sample_weight", "query_weight")}
            X, found = self._lists(X, y, qid, weights, labels, reset=not add)
        check_gains(type(self).__name__, measure, found.labels)
        if propensity is not None:
            refuse_propensities(self.loss, measure, found.labels)
        if isinstance(found, Lists):
            defined = convert(found, columns)
            blocks = BlockLists.of(
                defined,
                trained_on=found.trained_on,
                labels=found.labels,
                blocks=None if defined is None else self._in_one_part(X, defined, add=add),
            )
        if not blocks.largest > 0:
            raise nothing_to_learn(measure, X.shape[0])
        return blocks

    def _loss(self, largest: float) -> TemplateLoss:
        """The loss for utilities up to ``eta``, or the limit of the measure, or ``largest``."""
        largest = max(positional_form(self.measure)[1].largest or 0.0, largest)
        return calibrated_loss(self.loss, self.measure, eta=self.eta, largest=largest)

    def _warn_of_measure(self) -> None:
        warn_if_not_positional(self.measure)

    def _has_intercept(self, loss: TemplateLoss) -> bool:
        return self.fit_intercept and not loss.is_translation_invariant

    def _parameters(self, loss: TemplateLoss) -> FloatArray:
        return np.append(self.coef_, self.intercept_) if self._has_intercept(loss) else self.coef_

    def _scores(self, X: Any) -> FloatArray:
        return _linear_scores(self.coef_, self.intercept_, X)

    def _in_one_part(self, X: Any, lists: Lists, *, add: bool) -> OnePart:
        """Rows in memory in the order of their lists."""
        self.normalizer_ = normalizer = as_normalizer(self.normalize)
        items = view_design(X, lists.rows) if normalizer is None else None
        if normalizer is not None:
            rows = in_lists(X, lists).astype(np.float64, copy=False)
            rows = normalizer.fit_transform(rows, qid=lists.list_of, sample_weight=lists.weight)
            items = as_design(rows)
            if add:
                normalizer.n_queries_ += self.n_queries_
                normalizer.list_ = None
        return OnePart(items, None, lists, count_threads(self.n_jobs))

    def _chunked(
        self,
        columns: dict[str, Any],
        labels: LabelType,
        convert: Callable[[Lists, dict[str, Any]], Lists | None],
        exit_stack: ExitStack,
    ) -> BlockLists:
        X, qid = columns["X"], columns["qid"]
        if qid is None or not shape_of(qid) or self.single_list:
            raise ValueError(
                f"{type(self).__name__} needs qid, one id per row, for rows that are not in "
                "memory, because blocks consist of whole queries: pass qid=, or rows in memory."
            )
        check_features(self, X, reset=True)
        normalizer = as_normalizer(self.normalize)
        rows, n_features = parts(**columns), self.n_features_in_
        numbers = range(len(rows.values))
        read = rows.map(read_chunk, labels, convert, n_features, normalizer, each=[numbers])
        blocks = ChunkedLists(read.persisted(exit_stack), n_features, exit_stack)
        lists = blocks.summary(joined_blocks)
        if lists is None:
            raise ValueError("No row has positive sample_weight and query_weight: give one both.")
        refuse_cut_queries(lists.ids)
        # Chunks of two classes each can contain more than two in total.
        label_values = labels.read(check_rows(lists.labels, None, name=labels.name))
        n_lists = sum(len(ids) for _, ids in lists.ids)
        refuse_single_rows(type(self).__name__, lists.n_single, n_lists)
        self.normalizer_ = normalizer
        if normalizer is not None:
            normalizer.fit(np.zeros((2, n_features)), qid=[0, 1])
            normalizer.n_queries_ = lists.n_lists
        return replace(lists, blocks=blocks, labels=label_values)

    def _predict_blocks(self, X: Any, qid: Any) -> Any:
        # Not the ranker, with the record of its training.
        score = partial(_linear_scores, self.coef_, self.intercept_)
        if self.normalizer_ is None:
            return scores_by_parts(self, X, score)
        if qid is None or not shape_of(qid):
            raise ValueError(
                f"This {type(self).__name__} normalises features within each query and needs qid "
                "to score rows: pass qid=, one id per row."
            )
        check_features(self, X, reset=False)
        normalizer, n_features = self.normalizer_, self.n_features_in_
        rows = parts(X=X, qid=qid)

        def ids_of_part(columns: dict[str, Any], number: int) -> tuple[int, AnyArray]:
            qid = columns["qid"]
            return number, group_rows(check_qid(qid, len(qid)))[0]

        def scores_of_part(columns: dict[str, Any]) -> FloatArray:
            X = checked_part(columns["X"], n_features=n_features, dtype=np.float64)
            return score(normalizer.transform(X, qid=columns["qid"]))

        ids = rows.without("X").map(ids_of_part, each=[range(len(rows.values))])
        refuse_cut_queries(tuple(ids.results()))
        return rows.map(scores_of_part).array()


def _linear_scores(coef: FloatArray, intercept: float, X: Any) -> FloatArray:
    return as_design(X).scores(coef) + intercept


def refuse_propensities(loss: TemplateLoss | str, measure: MeasureLike, labels: AnyArray) -> None:
    """Refuse losses and measures for which utilities divided by propensities mean nothing.

    Utilities must not depend on labels of other items: with examinations e of 0 and 1, the mean of
    ``u(e y) / p`` is u(y) if ``u(e y) = e u(y)``. It is tried on every examination of a short list
    of at most three of the labels.
    """
    template = get_loss(loss) if isinstance(loss, str) else loss
    if not template.is_order_preserving:
        raise ValueError(
            f"{template!r} is not order-preserving, so that propensities cannot make it unbiased: "
            "leave out propensity, or use a loss such as 'pairwise_logistic' or 'softmax'."
        )
    measure, form = positional_form(measure)

    def utilities(labels: Any) -> Any:
        values = form.utilities(Lists(labels=labels, offsets=np.array([0, len(labels)])))
        return values if measure.undefined == "skip" else np.nan_to_num(values)

    positive = np.unique(labels[labels > 0])
    positive = np.unique(positive[[0, (len(positive) - 1) // 2, -1]])
    items = np.concatenate((positive, positive[-1:], np.zeros(1, dtype=positive.dtype)))
    complete = utilities(items)
    for examined in product((False, True), repeat=len(items) - 1):
        mask = np.array([*examined, True])
        clicked = utilities(np.where(mask, items, np.zeros_like(items)))
        if not np.allclose(clicked, np.where(mask, complete, 0.0), rtol=1e-12, atol=0.0):
            raise ValueError(
                f"The utilities of {measure.name!r} depend on all labels of a query, of which "
                "clicks show only some, so that propensities cannot make them unbiased: fit "
                "with measure='dcg', 'dcg@10' or 'precision@5', for which the utility of an "
                f"item depends on its own label only, and score by {measure.name!r} where the "
                "relevance is known."
            )


def with_utilities(
    measure: Measure, clip: float, lists: Lists, columns: dict[str, Any]
) -> Lists | None:
    """Utilities, divided by propensities of at least ``clip``, of lists with a measure."""
    utilities = utilities_of(measure, lists)
    if columns["propensity"] is not None:
        propensity = check_propensities(columns["propensity"], len(columns["y"]), lists.rows)
        utilities = utilities / np.maximum(propensity, clip)
    missing = np.isnan(utilities)
    if missing.all():
        return None
    lists = lists.with_labels(np.where(missing, 0.0, utilities))
    return lists.only(~missing[lists.offsets[:-1]])


def nothing_to_learn(measure: Measure, n_rows: int) -> ValueError:
    return ValueError(
        f"No query has a row of positive utility for {measure.name}, for example because no "
        f"query contains both relevant and other rows: check y and qid (n_samples={n_rows})."
    )


def _on(kind: Any, margin: float, lists: Lists, n_threads: int = 1) -> LossOnLists:
    return LossOnLists(kind(margin), lists, n_threads)
