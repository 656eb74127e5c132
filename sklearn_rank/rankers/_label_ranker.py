"""Ranking labels by any regressor, classifier or ranker of queries."""

from __future__ import annotations

from copy import deepcopy
from numbers import Integral
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.utils import check_array, get_tags

from .._label_orders import LabelOrders
from .._sklearn_compat import HasMethods, StrOptions, fit_context
from .._typing import FloatArray
from .._validation import validate_data
from ..losses import TemplateLoss, get_loss
from ..metrics import get_measure
from ._blocked_rows import refuse_blocked
from ._fitting import forget, restored_on_error
from ._label_base import LabelOrderRanker
from ._label_reductions import (
    LabelledRows,
    check_takes_weights,
    fit_pairs,
    fit_queries,
    fit_regressors,
    pair_scores,
    query_scores,
    reduction_of,
    regressor_scores,
)
from ._label_utilities import utility_lists

__all__ = ["LabelRanker"]


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
        is ``ExtraTreesRegressor(n_estimators=100)``. The estimator is cloned.
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
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen in ``fit``, if they are all strings.

    See Also
    --------
    sklearn_rank.preprocessing.label_grades : The accepted forms of orders of labels.
    OrderPreservingLabelRanker : Linear or kernel ranker with a loss calibrated for the measure.
    BoostedOrderPreservingRanker : Trees for rankings of queries.

    Notes
    -----
    **Choice of estimator.** The forest is a good default if orders depend on regions of the
    feature space. With few rows, much noise or a linear rule,
    ``LabelRanker(LogisticRegression())`` is better. The regret bound requires squared error: it
    does not hold for regressors of medians or quantiles, or with other losses.

    Soft votes estimate the expected Borda share of each label and order by it. Hard votes follow
    the majority of each pair, which maximises the expected tau if the majorities have no cycle:
    they improve forests on data with many labels, and worsen linear classifiers on few labels.

    **Missing labels.** If labels are missing, a regressor for a label is fitted to the rows that
    have the label, and a classifier to the rows that have the pair. No label is imputed: if labels
    are missing at random, the Borda share among the labels of the row has the same expectation as
    the share among all labels.

    **Rows.** Rows whose utilities are undefined, because all labels are tied or only one label is
    present, are left out, as are rows of weight 0. ``sample_weight`` is passed to the estimator,
    to rankers of queries as ``query_weight``; an estimator that takes no weights raises an error.

    Regressors and classifiers get ``X`` unchanged, so they decide whether they take frames, sparse
    matrices and missing values. A linear ranker of queries raises an error, since it would give
    all rows the same order.

    The time is that of one fit of the estimator for multi-output regressors, of ``n_labels`` fits
    for other regressors, and of ``n_labels (n_labels - 1) / 2`` fits for classifiers. A ranker of
    queries is fitted to a matrix of ``n_samples n_labels`` rows and ``n_features + n_labels``
    features, sparse if ``X`` is.

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
        **LabelOrderRanker._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict"]), None],
        "voting": [StrOptions({"soft", "hard"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
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
        self.estimator = estimator
        self.measure = measure
        self.target_type = target_type
        self.voting = voting
        self.n_jobs = n_jobs
        self.random_state = random_state

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
            self._fit(base, X, orders, weight)
        return self

    def _fit(self, base: Any, X: Any, orders: LabelOrders, weight: FloatArray | None) -> None:
        rows = self._with_utilities(X, orders, weight)
        forget(self, "estimator_", "estimators_")
        self.loss_: TemplateLoss | None = None
        if self.reduction_ == "queries":
            self.estimator_ = fit_queries(base, rows)
            self.loss_ = getattr(self.estimator_, "loss_", None)
            return
        if self.reduction_ == "pairs":
            self.estimators_ = fit_pairs(base, rows, self.n_jobs)
            return
        self.loss_ = get_loss("pointwise_squared")
        models = fit_regressors(base, rows, self.n_jobs)
        if len(models) == 1:
            self.estimator_ = models[0]
        else:
            self.estimators_ = models

    def _with_utilities(
        self, X: Any, orders: LabelOrders, weight: FloatArray | None
    ) -> LabelledRows:
        """Rows whose labels have an order, with what is learned of each label."""
        lists, kept = utility_lists(type(self).__name__, self.measure, orders, None)
        utilities = np.full(orders.grades.shape, np.nan)[kept]
        utilities.reshape(-1)[slice(None) if lists.rows is None else lists.rows] = lists.grade
        absent = np.isnan(utilities).all(axis=0)
        if absent.any():
            label = orders.labels.tolist()[int(np.argmax(absent))]
            raise ValueError(
                f"The label {label!r} occurs in no row of y with an order: remove the label, or "
                "add rows that contain it."
            )
        every = LabelledRows(X, orders.grades, weight).only(kept)
        if self.reduction_ != "queries":
            return LabelledRows(every.X, utilities, every.weight)
        if get_measure(self.measure).positional is not None:
            return every
        return LabelledRows(every.X, _levels(every.targets), every.weight)

    def _checked_rows(self, X: Any, *, reset: bool) -> Any:
        """Check number and names of features; regressors and classifiers check the rest."""
        refuse_blocked(self, X)
        if len(getattr(X, "shape", (0, 0))) == 1:
            raise ValueError(
                "Expected 2D array, got 1D array instead. Reshape your data: X.reshape(-1, 1) if"
                " it is one feature, X.reshape(1, -1) if it is one row."
            )
        validate_data(self, X, reset=reset, skip_check_array=True)
        if self.reduction_ != "queries":
            return X
        return check_array(
            X, dtype=np.float64, accept_sparse="csr", ensure_all_finite=False, estimator=self
        )

    def _scores(self, X: Any) -> FloatArray:
        if self.reduction_ == "queries":
            return query_scores(self.estimator_, X, self.n_labels_)
        if self.reduction_ == "pairs":
            return pair_scores(self.estimators_, X, self.n_labels_, hard=self.voting == "hard")
        models = [self.estimator_] if hasattr(self, "estimator_") else self.estimators_
        return regressor_scores(models, X, self.n_labels_)


def _levels(grades: FloatArray) -> FloatArray:
    """Numbers of the levels of each row, 0 the lowest; NaN stays."""
    missing = np.isnan(grades)
    levels = rankdata(np.where(missing, np.inf, grades), method="dense", axis=1) - 1.0
    return np.where(missing, np.nan, levels)
