"""Ranking labels by any regressor, classifier or ranker of queries."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import combinations
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.utils import check_array, get_tags

from .._label_orders import LabelOrders
from .._sklearn_compat import (
    BaseSearchCV,
    HasMethods,
    StrOptions,
    fit_context,
    num_samples,
    rows_at,
)
from .._typing import AnyArray, FloatArray, IntArray
from ..losses import TemplateLoss, get_loss
from ..metrics import get_measure
from ..metrics._shared import call_with_metadata, metadata_for, scores_with_ids
from ._base import check_columns, forget, in_parallel, restored_on_error
from ._list_base import LabelOrderRanker, utility_lists
from ._two_classes import fit_with_weights, weight_argument

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
    """How labels can be ranked by an estimator."""
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
        "BoostedOrderPreservingRanker(); wrap LGBMRanker and CatBoostRanker in "
        "GroupRankerAdapter(...)."
    )


def check_takes_weights(estimator: Any, reduction: Reduction) -> None:
    """Refuse weights that an estimator would not see."""
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


def _fit_label(estimator: Any, rows: LabelledRows, label: int) -> Any:
    target = np.ascontiguousarray(rows.targets[:, label])
    return fit_with_weights(estimator, rows.X, target, rows.weight)


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
    """Features of the row beside indicators of the label, for each item."""
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
                "ranker of trees, such as BoostedOrderPreservingRanker()."
            )
        self.estimator_, self.loss_ = model, getattr(model, "loss_", None)

    def _fit_regressors(self, base: Any, rows: LabelledRows) -> None:
        """Fit a regressor to the utilities of all labels, or one to those of each."""
        self.loss_ = get_loss("pointwise_squared")
        known = ~np.isnan(rows.targets)
        inner = base
        while isinstance(inner, BaseSearchCV):
            inner = inner.estimator
        if known.all() and get_tags(inner).target_tags.multi_output:
            self.estimator_ = fit_with_weights(base, rows.X, rows.targets, rows.weight)
            return
        calls = ((base, rows.only(mask), label) for label, mask in enumerate(known.T))
        models = in_parallel(self.n_jobs, _fit_label, calls)
        if len(models) == 1:
            (self.estimator_,) = models
        else:
            self.estimators_ = models

    def _with_utilities(
        self, X: Any, orders: LabelOrders, weight: FloatArray | None
    ) -> LabelledRows:
        """Rows whose labels have an order, with what is learned of each label."""
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
        """Shares of pairs that each label is expected to win, or the numbers that it wins."""
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
