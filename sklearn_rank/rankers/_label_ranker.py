"""Ranking labels by any regressor, classifier or ranker of queries."""

from __future__ import annotations

from copy import deepcopy
from numbers import Integral
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import validate_data

from .._label_orders import LabelOrders
from .._sklearn_compat import HasMethods, StrOptions, fit_context
from .._typing import FloatArray
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
    r"""Rank the labels of each row by any regressor, classifier or ranker of queries.

    - A **regressor** is fitted to the utilities that ``measure`` gives the labels of each row,
      for "tau_b" the Borda share

      .. math:: v_i = \frac{\#\{j : i \succ j\} + \#\{j \neq i : i \sim j\} / 2}{m - 1},

      the share of the other m - 1 labels of the row that are below label i, ties half. Its
      predictions are the scores. A regressor that minimises squared error estimates
      :math:`E[v_i \mid x]`, and the order of these is the one to show: the pointwise squared loss
      is order-preserving, and has a regret bound for positional measures with constant
      :math:`\sqrt 2` ([1]_, Table 2).
    - A **classifier** with ``predict_proba`` is fitted to each pair of labels, on the rows that
      have both and do not tie them: which is above ([2]_). The score of label i is
      :math:`\sum_{j \neq i} \hat P(i \succ j \mid x) / (n_\text{labels} - 1)`, the expected
      Borda share.
    - A **ranker of queries**, whose ``fit`` takes ``qid``, is fitted to the labels of each row as
      the items of a query. Their features are those of the row and an indicator for each label,
      their relevance the grade. What it minimises is its own matter.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The regressor, classifier or ranker of queries; pipelines and searches that end in one,
        too. None is ``ExtraTreesRegressor(n_estimators=100)``. It is cloned.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="tau_b"
        The measure of which :meth:`score` is the value, and whose utilities regressors are fitted
        to: its own if it is positional, as "ndcg@3" is, else Borda shares. Classifiers learn
        which label of a pair has more of these, not how much. Rankers of queries are handed the
        grades as they are where it is positional, else the levels of the row, 0 the lowest.
    target_type : str, default="auto"
        Form of y: "auto", "utilities", "positions", "orders", "indicator" or "classes"; see
        :func:`sklearn_rank.preprocessing.label_grades`.
    voting : {"soft", "hard"}, default="soft"
        How classifiers of pairs make scores: "soft" takes the means of their probabilities,
        "hard" counts the labels that each is above more likely than not, and breaks ties by
        these means. Regressors and rankers of queries make no use of it.
    n_jobs : int or None, default=None
        Number of fits of labels or pairs at a time, and of trees of the default forest; None
        is 1, -1 is all.
    random_state : int, RandomState or None, default=None
        Seed of the default forest; an estimator that is given has its own.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator, where one ranks all labels: a regressor of several outputs without
        missing labels, or a ranker of queries.
    estimators_ : list of estimators
        Else the fitted ones. Regressors: one for each label. Classifiers: one for each pair
        i < j of labels, in lexicographic order, whose class 1 is "i is above j"; a number, the
        share of 1, for pairs that are in the same order in all rows (0 or 1) or in none (1/2).
    reduction_ : {"regression", "pairs", "queries"}
        How the labels are ranked.
    loss_ : TemplateLoss or None
        The loss of the scores whose minimiser is learned: pointwise squared for regressors, that
        of the ranker of queries where it says so, None for classifiers.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_labels_ : int
        Number of labels.
    target_type_ : str
        What ``y`` was read as.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where ``X`` has names that are all strings.

    See Also
    --------
    sklearn_rank.preprocessing.label_grades : The forms in which orders of labels are read.
    OrderPreservingLabelRanker : Linear or with a kernel, with a loss that fits the measure.
    BoostedOrderPreservingRanker : Trees for rankings of queries.

    Notes
    -----
    **Which one.** The forest is a good default where orders follow from regions of the features;
    with few rows, much noise or a linear rule ``LabelRanker(LogisticRegression())`` is better. A
    regressor of medians or quantiles, or of another loss than the squared, does not estimate what
    the bound is about.

    Soft votes estimate the expected Borda share of each label, and order by it. Hard votes order
    as the majority of each pair does, which maximises the expected tau where the majorities have
    no cycle: on sets with many labels forests gain by them, and linear classifiers of few labels
    lose.

    **Missing labels.** Where some are missing, a regressor is fitted for each label to the rows
    that have it, and a classifier to the rows that have the pair. No label is filled in: for
    labels that are missing at random, the Borda share among those of the row has the expectation
    of that among all.

    **Rows** whose utilities are undefined, as where all labels are tied or there is one label
    only, are left out. A row of weight 0 is absent. ``sample_weight`` is handed on, as
    ``query_weight`` to rankers of queries, and refused where the estimator takes none.

    Regressors and classifiers get ``X`` as it is given, so that frames, sparse matrices and
    missing values are theirs to judge. Of a linear ranker of queries the scores of all rows would
    have the same order, and it is refused.

    The time is that of the fit of the estimator: of one fit for regressors of several outputs,
    of ``n_labels`` fits for others, of ``n_labels (n_labels - 1) / 2`` for classifiers. A ranker
    of queries sees ``n_samples n_labels`` rows of ``n_features + n_labels`` features, in the
    memory of such a matrix, sparse if ``X`` is.

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
        tags.input_tags = deepcopy(get_tags(self._base()).input_tags)
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
            An order of the labels for each row, in the form that ``target_type`` says.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; one of weight 0 is absent.

        Returns
        -------
        LabelRanker
            The ranker itself.

        Raises
        ------
        TypeError
            If the estimator is neither regressor nor classifier nor ranker of queries, or a
            classifier without ``predict_proba``.
        ValueError
            If ``y`` is not what ``target_type`` says, no row has an order, a label is in no row
            that has one, the estimator does not take weights that are given, or a ranker of
            queries is linear.

        Warns
        -----
        CalibrationWarning
            If ``measure`` has no utilities and is no correlation of whole orders.
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
                f"The label {label!r} is in no row of y whose labels have an order: leave out its"
                " column, or add rows that have it."
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
