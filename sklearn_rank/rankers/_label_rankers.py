"""Rankers of labels: linear and kernel scores by a calibrated loss, or any estimator."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph
from scipy.special import expit, softmax
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.utils import check_array, get_tags

from .._label_orders import LabelOrders
from .._lists import Lists
from .._sklearn_compat import (
    BaseSearchCV,
    CallbackSupportMixin,
    HasMethods,
    StrOptions,
    check_sample_weight,
    fit_context,
    num_samples,
    rows_at,
    with_callbacks,
)
from .._solvers import (
    InMemoryDesign,
    LabelProblem,
    OnePart,
    as_design,
    choose_method,
    column_scales,
    count_threads,
    solve_linear,
)
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import ravelled
from .._warn import collected, warn
from ..calibration._shared import positional_form
from ..exceptions import UnlinkedLabelWarning
from ..losses import ListwiseSoftmax, PointwiseLogistic, TemplateLoss, get_loss
from ..losses._shared import LossOnLists
from ..metrics import get_measure
from ..metrics._shared import call_with_metadata, metadata_for, scores_with_ids
from ._base import (
    check_columns,
    forget,
    in_parallel,
    restored_on_error,
    store_parameters,
    warn_of_scales,
)
from ._linear_base import label_alpha, ridge_solution
from ._list_base import (
    LOSS_CONSTRAINTS,
    LabelOrderRanker,
    calibrated_loss,
    utility_lists,
    weights_of,
    with_query_weight,
)
from ._two_classes import (
    check_kernel_shape,
    fit_with_weights,
    fitted_scores,
    kernel_of,
    weight_argument,
)

Reduction: TypeAlias = Literal["regression", "pairs", "queries"]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows with targets for the labels."""

    X: Any  # (n, n_features)
    targets: FloatArray  # (n, n_labels): NaN where a label is missing
    weight: FloatArray | None  # (n,): Positive weights; None is 1

    def only(self, mask: AnyArray) -> LabelledRows:
        if mask.all():
            return self
        rows = np.flatnonzero(mask)
        weight = None if self.weight is None else self.weight[rows]
        return LabelledRows(rows_at(self.X, rows), self.targets[rows], weight)


def reduction_of(estimator: Any) -> Reduction:
    if not isinstance(estimator, type):
        if metadata_for(estimator, "fit", qid=0):
            return "queries"
        if is_regressor(estimator):
            return "regression"
        if is_classifier(estimator):
            if hasattr(estimator, "predict_proba"):
                return "pairs"
            raise TypeError(
                f"{estimator!r} has no predict_proba, which is needed to combine pairs of "
                "labels: wrap it in CalibratedClassifierCV(...) of sklearn.calibration, or pass "
                "a regressor."
            )
    raise TypeError(
        f"{estimator!r} is not a regressor, a classifier or a ranker whose fit takes qid: pass "
        "an instance such as ExtraTreesRegressor(), LogisticRegression() or "
        "GroupRankerAdapter(LGBMRanker())."
    )


def check_takes_weights(estimator: Any, reduction: Reduction) -> None:
    argument = "sample_weight"
    if reduction == "queries":
        argument = "query_weight"
        is_accepted = bool(metadata_for(estimator, "fit", query_weight=0))
    else:
        try:
            is_accepted = bool(weight_argument(estimator, regressors=True))
        except TypeError:
            is_accepted = False
    if not is_accepted:
        raise ValueError(
            f"sample_weight was given, but fit of {type(estimator).__name__} takes no "
            f"{argument}: leave it out, or pass an estimator that takes weights, such as "
            "ExtraTreesRegressor(). A ranker in a pipeline requests them by "
            "set_fit_request(query_weight=True), with metadata routing enabled."
        )


# Rows of a leaf that are tried, as a number or a share; with the last a tree is one leaf.
LEAVES = (1, 5, 20, 80, 0.9)


def _fit_forest(forest: Any, X: Any, y: FloatArray, weight: FloatArray | None) -> Any:
    """Fit a forest with leaves of the size that predicts rows out of bag best."""
    errors = []
    for size in LEAVES:
        candidate = clone(forest).set_params(min_samples_leaf=size, bootstrap=True, oob_score=True)
        with collected():  # a few rows may be in all bags
            candidate = fit_with_weights(candidate, X, y, weight)
        squares = ((candidate.oob_prediction_ - y) ** 2).reshape(len(y), -1)
        errors.append(np.average(squares.mean(axis=1), weights=weight))
    best_forest = clone(forest).set_params(min_samples_leaf=LEAVES[int(np.argmin(errors))])
    return fit_with_weights(best_forest, X, y, weight)


def _fit_label(fit: Any, estimator: Any, rows: LabelledRows, label: int) -> Any:
    target = np.ascontiguousarray(rows.targets[:, label])
    return fit(estimator, rows.X, target, rows.weight)


def _fit_pair(estimator: Any, rows: LabelledRows, label: int, other: int) -> Any:
    """Fit a classifier to which of two labels is above; a number where it is always the same."""
    # Missing labels make it NaN, which is neither above nor below.
    lead = rows.targets[:, label] - rows.targets[:, other]
    differ = (lead > 0) | (lead < 0)
    is_above = (lead[differ] > 0).astype(np.int64)
    if len(is_above) == 0:
        return 0.5
    if is_above[0] == is_above.max() == is_above.min():
        return float(is_above[0])
    rows = rows.only(differ)
    return fit_with_weights(estimator, rows.X, is_above, rows.weight)


def _is_linear(model: Any, n_features: int) -> bool:
    """Whether a fitted ranker, what it ends in, or all its members are linear in the features."""
    steps = getattr(model, "steps", None)
    if steps:
        return _is_linear(steps[-1][1], n_features)
    members = getattr(model, "estimators_", None)
    if members is not None and len(members):
        return all(_is_linear(member, n_features) for member in members)
    return np.size(getattr(model, "coef_", ())) == n_features


def _items(X: Any, row: IntArray, label: IntArray, n_labels: int) -> Any:
    n_items, n_features = len(row), X.shape[1]
    if sp.issparse(X):
        indicators = sp.csr_matrix(
            (np.ones(n_items), label, np.arange(n_items + 1)), shape=(n_items, n_labels)
        )
        return sp.hstack([X[row], indicators], format="csr")
    items = np.zeros((n_items, n_features + n_labels))
    items[:, :n_features] = X[row]
    items[np.arange(n_items), n_features + label] = 1.0
    return items


class LabelRanker(LabelOrderRanker):
    r"""Label ranking by any regressor, classifier or ranker of queries.

    - A **regressor** is fitted to the utilities of the labels of each row, defined by ``measure``.
      For "tau_b" the utility is the Borda share

      .. math:: v_i = \frac{\#\{j : i \succ j\} + \#\{j \neq i : i \sim j\} / 2}{m - 1},

      the share of the other m - 1 labels of the row that are below label i, where ties count one
      half. The predictions are the scores. A regressor that minimises squared error estimates
      :math:`E[v_i \mid x]`, whose order is optimal: the pointwise squared loss is
      order-preserving, and has a regret bound for positional measures with constant
      :math:`\sqrt 2` ([1]_, Table 2).
    - A **classifier** with ``predict_proba`` is fitted for each pair of labels to predict which is
      above ([2]_), on the rows that have both labels untied. The score of label i is
      :math:`\sum_{j \neq i} \hat P(i \succ j \mid x) / (n_\text{labels} - 1)`, the expected Borda
      share.
    - A **ranker of queries**, whose ``fit`` takes ``qid``, is fitted to the labels of each row as
      the items of a query. The features of an item are those of the row and an indicator for each
      label, its relevance is the grade. The ranker uses its own loss.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Regressor, classifier or ranker of queries, or a pipeline or search that ends in one. None
        is ``ExtraTreesRegressor(n_estimators=100)`` with ``min_samples_leaf`` chosen; see Notes.
        The estimator is cloned.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="tau_b"
        Measure that :meth:`score` computes, and that defines the utilities to which regressors are
        fitted: its own if it is positional, such as ``"ndcg@3"``, else Borda shares. Classifiers
        learn which label of a pair has the greater utility. Rankers of queries get the grades if
        the measure is positional, else the levels of the row, with 0 the lowest.
    target_type : str, default="auto"
        Form of y: "auto", "utilities", "positions", "orders", "indicator" or "classes"; see
        :func:`sklearn_rank.preprocessing.label_grades`.
    voting : {"soft", "hard"}, default="soft"
        How classifiers of pairs are combined into scores. "soft" averages their probabilities.
        "hard" counts the labels that a label is more likely above than below, and breaks ties by
        these averages. No effect on regressors and rankers of queries.
    n_jobs : int or None, default=None
        Number of labels or pairs fitted in parallel, and of trees of the default forest. None is
        1, -1 uses all cores.
    random_state : int, RandomState or None, default=None
        Seed of the default forest; an estimator that is passed has its own.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator, if a single one ranks all labels: a multi-output regressor without
        missing labels, or a ranker of queries.
    estimators_ : list of estimators
        Otherwise the fitted estimators. Regressors: one for each label. Classifiers: one for each
        pair i < j of labels, in lexicographic order, whose class 1 is "i is above j". For pairs
        that have the same order in all rows, the number 0 or 1 instead; for pairs that are ordered
        in no row, 1/2.
    reduction_ : {"regression", "pairs", "queries"}
        How label ranking is reduced to the estimator's task.
    loss_ : TemplateLoss or None
        Loss of the scores: pointwise squared for regressors, the loss of the ranker of queries if
        it has one, None for classifiers.
    labels_ : ndarray of shape (n_labels,)
        Labels, in the order of the columns of scores.
    n_labels_ : int
        Number of labels.
    target_type_ : str
        Form in which ``y`` was read.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen in ``fit``, and their names if they are all strings.

    See Also
    --------
    sklearn_rank.preprocessing.label_grades : The accepted forms of orders of labels.
    OrderPreservingLabelRanker : Linear or kernel ranker with a loss calibrated for the measure.
    GroupRankerAdapter : Boosted trees for rankings of queries.

    Notes
    -----
    **Choice of estimator.** The forest is a good default if orders depend on regions of the
    feature space. With few rows or a linear rule, ``LabelRanker(LogisticRegression())`` is better.
    The default forest has leaves of at least 1, 5, 20 or 80 rows, or one leaf, which ranks all
    rows by the mean utilities: the size with the least squared error on the rows that are out of
    bag, in forests with bootstrap samples. Noisy orders take large leaves. The regret bound
    requires squared error: it does not hold for regressors of medians or quantiles, or with other
    losses.

    Soft votes estimate the expected Borda share of each label and order by it. Hard votes follow
    the majority of each pair, which maximises the expected tau if the majorities have no cycle:
    they improve forests on data with many labels, and worsen linear classifiers on few labels.

    **Missing labels.** A regressor for a label is fitted to the rows that have the label, and a
    classifier to the rows that have the pair. No label is imputed.

    **Rows.** Rows whose utilities are undefined, because all labels are tied or only one label is
    present, are left out, as are rows of weight 0. ``sample_weight`` is passed to the estimator,
    to rankers of queries as ``query_weight``; an estimator that takes no weights raises an error.
    A linear ranker of queries would give all rows the same order, and raises an error.

    The time is that of one fit of the estimator for multi-output regressors (about five for the
    default), of ``n_labels`` fits for other regressors, and of ``n_labels (n_labels - 1) / 2``
    fits for classifiers. A ranker of queries is fitted to a matrix of ``n_samples n_labels`` rows
    and ``n_features + n_labels`` features, sparse if ``X`` is.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank. Machine Learning 93, Section 2 and
       Table 2.
    .. [2] Hüllermeier, E., Fürnkranz, J., Cheng, W. and Brinker, K. (2008). Label ranking by
       learning pairwise preferences. Artificial Intelligence 172.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank import LabelRanker
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> y = ["tea>milk>beer", "tea>milk>beer", "beer>tea>milk", "beer>tea>milk"]
    >>> ranker = LabelRanker(random_state=0).fit(X, y)
    >>> ranker.labels_.tolist()
    ['beer', 'milk', 'tea']
    >>> ranker.rank([[0.0], [3.0]])
    array([[3., 2., 1.],
           [1., 3., 2.]])
    >>> LabelRanker(LogisticRegression(), voting="hard").fit(X, y).score(X, y)
    1.0
    """

    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "voting": [StrOptions({"soft", "hard"})],
    }

    def __init__(
        self,
        estimator=None,
        *,
        measure="tau_b",
        target_type="auto",
        voting="soft",
        n_jobs=None,
        random_state=None,
    ):
        store_parameters(locals())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        sparse = tags.input_tags.sparse
        tags.input_tags = deepcopy(get_tags(self._base()).input_tags)
        tags.input_tags.sparse &= sparse
        return tags

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return ExtraTreesRegressor(100, random_state=self.random_state, n_jobs=self.n_jobs)

    loss_: TemplateLoss | None

    # The estimator checks its own parameters.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LabelRanker:
        """Fit the estimator to the orders of the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows, as the estimator takes them.
        y : array-like, sparse matrix or DataFrame
            An order of the labels for each row, in the form set by ``target_type``.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; rows of weight 0 are ignored.

        Returns
        -------
        LabelRanker
            The ranker itself.

        Raises
        ------
        TypeError
            If the estimator is not a regressor, classifier or ranker of queries, or is a
            classifier without ``predict_proba``.
        ValueError
            If ``y`` does not have the form set by ``target_type``, no row has an order, a label
            occurs in no row with an order, the estimator does not take the weights, or the ranker
            of queries is linear.

        Warns
        -----
        CalibrationWarning
            If ``measure`` defines no utilities and is not a correlation of whole orders.
        """
        with restored_on_error(self):
            base = self._base()
            get_measure(self.measure)
            self.reduction_ = reduction_of(base)
            X, orders, weight = self._labelled(X, y, sample_weight)
            if weight is not None:
                check_takes_weights(base, self.reduction_)
            rows = self._with_utilities(X, orders, weight)
            forget(self, "estimator_", "estimators_")
            if self.reduction_ == "queries":
                self._fit_queries(base, rows)
            elif self.reduction_ == "pairs":
                pairs = combinations(range(self.n_labels_), 2)
                calls = ((base, rows, *pair) for pair in pairs)
                self.estimators_ = in_parallel(self.n_jobs, _fit_pair, calls)
                self.loss_ = None
            else:
                self._fit_regressors(base, rows)
        return self

    def _fit_queries(self, base: Any, rows: LabelledRows) -> None:
        row, label = np.nonzero(~np.isnan(rows.targets))
        items = _items(rows.X, row, label, self.n_labels_)
        query_weight = None if rows.weight is None else rows.weight[row]
        targets = rows.targets[row, label]
        model = call_with_metadata(
            clone(base), "fit", items, targets, qid=row, query_weight=query_weight
        )
        if _is_linear(model, items.shape[1]):
            raise ValueError(
                f"{base!r} is linear and would give all rows the same order of labels: use "
                "OrderPreservingLabelRanker(), which has coefficients for each label, or pass a "
                "ranker of trees, such as GroupRankerAdapter(LGBMRanker())."
            )
        self.estimator_, self.loss_ = model, getattr(model, "loss_", None)

    def _fit_regressors(self, base: Any, rows: LabelledRows) -> None:
        self.loss_ = get_loss("pointwise_squared")
        observed = ~np.isnan(rows.targets)
        fit = _fit_forest if self.estimator is None else fit_with_weights
        estimator = base
        while isinstance(estimator, BaseSearchCV):
            estimator = estimator.estimator
        if observed.all() and get_tags(estimator).target_tags.multi_output:
            self.estimator_ = fit(base, rows.X, rows.targets, rows.weight)
            return
        calls = ((fit, base, rows.only(mask), label) for label, mask in enumerate(observed.T))
        models = in_parallel(self.n_jobs, _fit_label, calls)
        if len(models) == 1:
            (self.estimator_,) = models
        else:
            self.estimators_ = models

    def _with_utilities(
        self, X: Any, orders: LabelOrders, weight: FloatArray | None
    ) -> LabelledRows:
        lists, has_utility = utility_lists(type(self).__name__, self.measure, orders, None)
        utilities = np.full(orders.grades.shape, np.nan)[has_utility]
        utilities.reshape(-1)[slice(None) if lists.rows is None else lists.rows] = lists.grade
        absent = np.isnan(utilities).all(axis=0)
        if absent.any():
            label = orders.labels.tolist()[int(np.argmax(absent))]
            raise ValueError(
                f"The label {label!r} occurs in no row of y with an order: remove the label, or "
                "add rows that contain it."
            )
        rows = LabelledRows(X, orders.grades, weight).only(has_utility)
        if self.reduction_ != "queries":
            return replace(rows, targets=utilities)
        if get_measure(self.measure).positional is not None:
            return rows
        # Levels of each row, 0 the lowest; NaN stays.
        missing = np.isnan(rows.targets)
        ranks = rankdata(np.where(missing, np.inf, rows.targets), method="dense", axis=1)
        return replace(rows, targets=np.where(missing, np.nan, ranks - 1.0))

    def _checked_rows(self, X: Any, *, reset: bool) -> Any:
        """Check number and names of features; regressors and classifiers check the rest."""
        check_columns(self, X, reset=reset)
        if self.reduction_ != "queries":
            return X
        return check_array(
            X, dtype=np.float64, accept_sparse="csr", ensure_all_finite=False, estimator=self
        )

    def _scores(self, X: Any) -> FloatArray:
        n_labels = self.n_labels_
        if self.reduction_ == "pairs":
            return self._pair_scores(X)
        if self.reduction_ == "queries":
            row = np.repeat(np.arange(X.shape[0]), n_labels)
            items = _items(X, row, np.tile(np.arange(n_labels), X.shape[0]), n_labels)
            scores = scores_with_ids(self.estimator_, items, row)
        elif hasattr(self, "estimator_"):
            scores = self.estimator_.predict(X)
        else:
            scores = np.column_stack([np.ravel(model.predict(X)) for model in self.estimators_])
        return np.asarray(scores, dtype=np.float64).reshape(-1, n_labels)

    def _pair_scores(self, X: Any) -> FloatArray:
        n_labels = self.n_labels_
        shares, votes = np.zeros((2, num_samples(X), n_labels))
        pairs = combinations(range(n_labels), 2)
        for model, (label, other) in zip(self.estimators_, pairs, strict=True):
            probability = model if isinstance(model, float) else model.predict_proba(X)[:, 1]
            lead = 2.0 * probability - 1.0
            shares[:, label] += lead
            shares[:, other] -= lead
            votes[:, label] += np.sign(lead)
            votes[:, other] -= np.sign(lead)
        shares = (shares / (n_labels - 1) + 1.0) / 2.0
        return (votes + n_labels - 1) / 2.0 + shares / 3.0 if self.voting == "hard" else shares


class OrderPreservingLabelRanker(CallbackSupportMixin, LabelOrderRanker):
    """Linear or kernel label ranking with a loss that is calibrated for a measure.

    Each row has an order of the same labels, and is treated as a list whose items are the labels.
    The measure defines utilities v_i of the labels of row i. The scores ``s_i = W x_i + b``, one
    for each label, minimise ``sum over rows i of w_i l(v_i, s_i) / sum of w_i + alpha / 2
    ||W||**2``, which is convex in W and b. The loss l is a sum over the labels of the row or over
    their pairs.

    Parameters
    ----------
    loss : str or TemplateLoss, default="pointwise_logistic"
        Loss: a name that :func:`sklearn_rank.losses.get_loss` takes, or a loss object. Losses that
        are not order-preserving, such as "ranknet", give a warning.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="tau_b"
        Measure that defines the utilities, and that :meth:`score` computes. For "tau_b" and other
        measures of whole orders, the utility of a label is its Borda share: the share of the other
        labels of the row that are below it, where ties count one half; see Notes. ``"ndcg@3"``,
        ``"precision@1"``, "spearman" and others define their own utilities; "ap" and "err" give a
        warning.
    target_type : str, default="auto"
        Form of y: "auto", "utilities", "positions", "orders", "indicator" or "classes"; see
        :func:`sklearn_rank.preprocessing.label_grades`.
    alpha : float or str, default="scale"
        Strength of the penalty. A greater value shrinks the coefficients. ``"scale"``, or a
        multiple such as ``"10*scale"``, is relative to the curvature of the loss and the variance
        of the features, so that it is comparable across losses, measures and numbers of labels. A
        number, at least 0, is the alpha of the objective. See Notes.
    kernel : {"linear", "rbf", "laplacian", "poly", "precomputed"} or callable, default="linear"
        Kernel, as in scikit-learn's kernel methods. "precomputed" takes K(X, X) in place of X.
        "laplacian", ``exp(-gamma ||x - z||_1)``, suits orders that change at thresholds of single
        features, for which trees work well and "rbf" does not.
    gamma : float or None, default=None
        Parameter of "rbf", "laplacian" and "poly", greater than 0; None is ``1 / n_features``.
    degree : float, default=3
        Degree of "poly", at least 1.
    coef0 : float, default=1
        Constant term of the "poly" kernel.
    kernel_params : dict or None, default=None
        Parameters of a callable kernel.
    fit_intercept : bool, default=True
        Whether to fit the intercepts b, which are not penalised. Losses of score differences
        depend on them, unlike in rankers of queries.
    solver : {"auto", "newton-cg", "lbfgs"}, default="auto"
        Newton's method with conjugate gradients, or limited-memory BFGS. "auto" is Newton's method
        if the loss has Hessian products. If Newton's method stalls, L-BFGS continues.
    eta : float or None, default=None
        Upper limit of the utilities, greater than 0, for a ``loss`` given by name that needs one,
        such as "pointwise_logistic". None takes the limit of the measure, such as 1 for Borda
        shares and NDCG, or the greatest utility in the training data if the measure has no limit,
        such as DCG.
    tol : float, default=1e-6
        Tolerance on ``gradient_norm_``, greater than 0: at 1e-6, at most 1e-12 of the possible
        decrease of the objective is left.
    max_iter : int, default=200
        Maximum number of iterations.
    warm_start : bool, default=False
        Whether ``fit`` starts from the coefficients of the previous fit, if that had the same
        labels and features. Only for the linear kernel.
    n_jobs : int or None, default=None
        Number of threads, on which the result does not depend. None is 1, -1 uses all cores.
    verbose : int, default=0
        1 writes a line for each iteration to the standard error; 0 is silent.

    Attributes
    ----------
    labels_ : ndarray of shape (n_labels,)
        Labels, in the order of the columns of scores.
    n_labels_ : int
        Number of labels.
    target_type_ : str
        Form of y that was read.
    coef_ : ndarray of shape (n_labels, n_features)
        Coefficients W. Only for ``kernel="linear"``.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts b. Losses of score differences do not determine the sum of coefficients and
        intercepts over labels that are linked by rows; it is set to 0.
    dual_coef_ : ndarray of shape (n_labels, n_support)
        Coefficients of the support rows. Only for other kernels.
    support_ : ndarray of shape (n_support,)
        Indices of the support rows among the rows of ``fit``. Only for other kernels.
    X_fit_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support rows. Only for other kernels, except "precomputed".
    alpha_ : float
        The penalty alpha as a number.
    loss_ : TemplateLoss
        The loss, with its parameters.
    probability_ : {"softmax", "sigmoid"} or None
        Function that maps scores to probabilities; None if there is none. See
        :meth:`predict_proba`.
    n_rows_ : int
        Number of rows that were used.
    objective_ : float
        Value of the objective.
    lower_bound_ : float
        Certified lower bound of the objective over all coefficients; see Notes. NaN if alpha is 0,
        the minimum over the intercepts does not exist, or the loss has no Hessian products.
    gradient_norm_ : float
        Norm of the gradient relative to that at 0, in a metric in which its square is the share of
        the decrease of the objective that is left, at most, as in
        :class:`OrderPreservingRanker`.
    converged_, n_iter_ : bool, int
        Whether ``gradient_norm_`` is at most ``tol``, and the number of iterations.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen in ``fit``, and their names if they are all strings.

    See Also
    --------
    OrderPreservingRanker : Ranks the rows of queries, with one score for each row.
    sklearn_rank.calibration.regret_bound : What a small surrogate regret guarantees; its
        ``n_items`` is the number of labels.

    Notes
    -----
    *Kendall's tau* defines no utilities of labels, and its best order is NP-hard to find. Losses
    that are order-preserving rank by the expected Borda share, that is by mean position. This
    order has the greatest expected tau if some order agrees with all pairwise majorities and the
    share of a label in pairs increases along it, as in the models of Mallows and of Plackett and
    Luce. The pairwise loss "ranknet" targets the majorities, often with values of tau as good or
    better, but without such a guarantee.

    *Losses.* "pairwise_logistic" and "softmax" estimate the logarithm of the expected share,
    "pointwise_logistic" the log-odds: if a linear model is misspecified, the latter fits whole
    orders better. For measures of the top, the three do equally well.

    *Missing labels.* The loss of a row is over the labels that are present. Rows in which no label
    is above another, such as rows with one label, are left out, as are rows for which ``measure``
    is undefined. If no chain of rows links some labels, their scores are not comparable, and
    :class:`~sklearn_rank.exceptions.UnlinkedLabelWarning` is issued.

    *Penalty.* ``"scale"`` is a hundredth of ``sum over rows of w_i k_i / sum of w_i / n_labels``
    times s. Here s is the mean variance of the features, none counted as more than ten times the
    median of those that vary (the lower one of two), and k_i is the curvature of the loss of row i
    along its standardised utilities z, ``z' (l'(v, z / 2) - l'(v, -z / 2))``. If this is 0,
    alpha is 1. With a kernel, the features are coordinates in its feature space, as many as the
    rank of the kernel matrix, s is their plain mean variance, and the factor is a tenth
    instead of a hundredth.

    *Certificate.* The minimum over b alone is a function of W that is strongly convex with
    constant alpha. ``lower_bound_`` is its value at W, computed by a few further steps in b alone,
    minus ``||gradient||**2 / (2 alpha)``. It is exact up to rounding.

    *Cost.* A step takes an evaluation of the loss and two products with X for all labels, and the
    same again for each conjugate-gradient iteration; squared losses without missing labels take
    one step. In addition to X, memory is a few arrays of shape (n_samples, n_labels). Kernels
    require a factorisation of the kernel matrix, O(n r^2) time and O(n r) memory for rank r.

    References
    ----------
    .. [1] Calauzènes, C., Usunier, N. and Gallinari, P. (2013). Calibration and regret bounds
       for order-preserving surrogate losses in learning to rank. Machine Learning 93, Section 2.
    .. [2] Cheng, W., Dembczyński, K. and Hüllermeier, E. (2010). Label ranking methods based on
       the Plackett-Luce model. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank import OrderPreservingLabelRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> utility = X @ rng.normal(size=(3, 4)) + 0.5 * rng.normal(size=(200, 4))
    >>> ranker = OrderPreservingLabelRanker().fit(X[:100], utility[:100])
    >>> ranker.score(X[100:], utility[100:]).__round__(2)
    0.72
    >>> ranker.rank(X[:2])
    array([[4., 3., 2., 1.],
           [4., 3., 1., 2.]])
    """

    _parameter_constraints = {
        "loss": LOSS_CONSTRAINTS,
        "kernel": [StrOptions({"linear", "rbf", "laplacian", "poly", "precomputed"}), callable],
        "solver": [StrOptions({"auto", "newton-cg", "lbfgs"})],
    }

    alpha_: float
    probability_: str | None

    def __init__(
        self,
        loss="pointwise_logistic",
        *,
        measure="tau_b",
        target_type="auto",
        alpha="scale",
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        fit_intercept=True,
        solver="auto",
        eta=None,
        tol=1e-6,
        max_iter=200,
        warm_start=False,
        n_jobs=None,
        verbose=0,
    ):
        store_parameters(locals())

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OrderPreservingLabelRanker:
        """Fit the coefficients by minimising the loss over the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. Sparse matrices are converted to CSR.
        y : array-like, sparse matrix or DataFrame
            An order of labels for each row, in the form set by ``target_type``: grades or
            utilities of shape (n_samples, n_labels) with NaN for missing labels, positions, an
            indicator matrix, strings such as "a>b=c", sequences of labels, or classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows. A row of weight 2 counts as two rows, a row of weight
            0 is ignored.

        Returns
        -------
        OrderPreservingLabelRanker
            The estimator itself.

        Raises
        ------
        ValueError
            If an argument is not valid, y has fewer than two labels, or no row has one label above
            another.

        Warns
        -----
        CalibrationWarning
            If the loss is not order-preserving, the measure is "ap" or "err", or the measure
            neither defines utilities nor is a correlation of orders.
        UnlinkedLabelWarning
            If no chain of rows links some labels.
        FeatureScaleWarning
            If the scales of two features differ by a factor of 1e6 or more.
        ConvergenceWarning
            If ``gradient_norm_`` does not reach ``tol``.
        """
        with restored_on_error(self):
            last_fit = dict(vars(self))
            sample_weight = ravelled(sample_weight, "sample_weight")
            data = (X, y)
            X, orders, weight = self._labelled(X, y, sample_weight)
            lists, has_utility = utility_lists(type(self).__name__, self.measure, orders, weight)
            self._warn_of_unlinked(orders.known[has_utility])
            taken = np.flatnonzero(check_sample_weight(sample_weight, data[0]))[has_utility]
            X = X if has_utility.all() else X[has_utility]
            if self.kernel == "precomputed":
                X = X[:, taken]
            loss = self._loss(lists, taken)
            choose_method(loss, self.solver)
            kernel = kernel_of(self)
            design: Any = as_design(X) if kernel is None else kernel.design(X)
            problem = self._problem(design, lists, loss)
            start = self._start(problem, last_fit)
            solve = partial(solve_linear, method=self.solver)
            solution = ridge_solution(self, problem, start, data, solve=solve)
            coef, self.intercept_ = solution.coef, solution.intercept
            forget(self, "coef_", "dual_coef_", "support_", "X_fit_")
            if kernel is None:
                self.coef_ = coef
            else:
                support, dual_coef = kernel.expansion(coef.T)
                self.dual_coef_ = np.ascontiguousarray(dual_coef.T)
                self.support_ = taken[support]
                if not kernel.is_precomputed:
                    self.X_fit_ = X[support]
            self.loss_ = loss
            self.n_rows_ = lists.n_lists
            self.probability_ = _probability(loss, lists)
        return self

    def _checked_rows(self, X: Any, *, reset: bool) -> Any:
        X = super()._checked_rows(X, reset=reset)
        if reset:
            check_kernel_shape(self, X)
        return X

    def _warn_of_unlinked(self, observed: BoolArray) -> None:
        components = _label_components(observed)
        if components.max() == 0:
            return
        names = self.labels_.tolist()
        unlinked = names[int(np.argmax(components != components[0]))]
        warn(
            f"No row with an order contains both {names[0]!r} and {unlinked!r}, and no chain "
            "of rows links them, so that their scores are not comparable: add rows that contain "
            "labels of both groups, or remove one group.",
            UnlinkedLabelWarning,
        )

    def _loss(self, lists: Lists, taken: IntArray) -> TemplateLoss:
        measure = get_measure(self.measure)
        largest = 1.0 if measure.positional is None else positional_form(measure)[1].largest or 0.0
        largest = max(largest, float(lists.grade.max()))
        loss = calibrated_loss(self.loss, measure, eta=self.eta, largest=largest)
        if lists.grade.max() > loss.largest_utility:
            item = int(np.argmax(lists.grade))
            place = item if lists.rows is None else int(lists.rows[item])
            row, column = divmod(place, self.n_labels_)
            raise ValueError(
                f"Label {self.labels_.tolist()[column]!r} of row {taken[row]} has the utility "
                f"{lists.grade[item]:g}, but {loss!r} allows at most {loss.largest_utility:g}: "
                "raise eta."
            )
        return loss

    def _problem(self, design: InMemoryDesign, lists: Lists, loss: TemplateLoss) -> LabelProblem:
        weighted = with_query_weight(lists, 1 / weights_of(lists).sum())
        of_rows = LossOnLists(loss, weighted, count_threads(self.n_jobs))
        scales = column_scales(design, lists.query_weight)
        if self.kernel == "linear":
            warn_of_scales(self, scales, sparse=not design.is_dense)
        self.alpha_ = label_alpha(self, scales, of_rows)
        shifted = None
        if loss.is_translation_invariant:
            observed = np.zeros((lists.n_lists, self.n_labels_), dtype=bool)
            observed.ravel()[slice(None) if lists.rows is None else lists.rows] = True
            shifted = _label_components(observed)
        return LabelProblem(
            OnePart(design, of_rows),
            n_labels=self.n_labels_,
            alpha=self.alpha_,
            fit_intercept=self.fit_intercept,
            entries=lists.rows,
            row_weight=lists.query_weight,
            shifted=shifted,
        )

    def _start(self, problem: LabelProblem, last_fit: dict[str, Any]) -> FloatArray | None:
        if not self.warm_start or self.kernel != "linear" or "coef_" not in last_fit:
            return None
        same = np.array_equal(last_fit["labels_"], self.labels_)
        if not same or last_fit["coef_"].shape[1] != problem.n_features:
            return None
        return problem.parameters(last_fit["coef_"], last_fit["intercept_"])

    def _scores(self, X: Any) -> FloatArray:
        return fitted_scores(self, slice(None)).scores(X) + self.intercept_

    @property
    def predict_proba(self) -> Callable[[Any], FloatArray]:
        """Estimate the probabilities of labels, for losses that define them.

        The method exists for two losses. For ``loss="softmax"``, if one label of each row has
        utility 1 and the others 0, such as classes with ``measure="precision@1"``, it returns the
        softmax of the scores: the probability of each class, as in multinomial logistic
        regression. For ``loss="pointwise_logistic"`` with utilities 0 and 1, such as an indicator
        matrix with ``measure="precision@1"``, it returns the sigmoid of the scores: the
        probability that each label is relevant.

        It takes rows X of shape (n_samples, n_features) and returns probabilities of shape
        (n_samples, n_labels), with columns in the order of ``labels_``. Only those of the softmax
        sum to 1. In all other cases an AttributeError gives the reason.
        """
        self._refuse_probabilities()
        return self._probabilities

    def _probabilities(self, X: Any) -> FloatArray:
        scores = self.predict(X)
        return softmax(scores, axis=1) if self.probability_ == "softmax" else expit(scores)

    def _refuse_probabilities(self) -> None:
        loss = get_loss(self.loss) if isinstance(self.loss, str) else self.loss
        if not isinstance(loss, ListwiseSoftmax | PointwiseLogistic):
            raise AttributeError(
                "predict_proba is available for loss='softmax' and loss='pointwise_logistic', "
                f"but loss is {self.loss!r}, whose scores are not probabilities: use one of the "
                "two, with measure='precision@1'."
            )
        if not hasattr(self, "probability_"):
            raise AttributeError(
                "predict_proba is defined only after fit, since it depends on the utilities of "
                "the labels: call fit first, with loss='softmax' or 'pointwise_logistic' and "
                "measure='precision@1'."
            )
        if self.probability_ is None:
            requirement = (
                "one label of each row with utility 1 and the others with utility 0, such as "
                "classes,"
                if isinstance(loss, ListwiseSoftmax)
                else "utilities 0 and 1 and eta=1, such as an indicator matrix,"
            )
            raise AttributeError(
                f"predict_proba with loss={self.loss!r} needs {requirement} and "
                f"measure='precision@1', but {get_measure(self.measure).name} gives other "
                "utilities for these labels."
            )


def _probability(loss: TemplateLoss, lists: Lists) -> str | None:
    """What turns scores into probabilities of labels with these utilities."""
    if not np.isin(lists.grade, (0.0, 1.0)).all():
        return None
    if isinstance(loss, ListwiseSoftmax) and np.all(lists.totals(lists.grade) == 1.0):
        return "softmax"
    if isinstance(loss, PointwiseLogistic) and loss.eta == 1.0:
        return "sigmoid"
    return None


def _label_components(observed: BoolArray) -> IntArray:
    """Number of the part of each label; rows, or chains of rows, join the labels of a part."""
    counts = observed.astype(np.float64)
    _, components = csgraph.connected_components(counts.T @ counts, directed=False)
    return components
