"""Linear ranking of labels by a calibrated loss."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self, get_args

import numpy as np
from scipy.sparse import csgraph, issparse
from scipy.special import expit, softmax
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._lists import Lists
from .._sklearn_compat import (
    CallbackSupportMixin,
    StrOptions,
    fit_context,
    rows_at,
    with_callbacks,
)
from .._solvers import (
    LabelledRows,
    LabelProblem,
    as_design,
    choose_method,
    column_scales,
    count_threads,
    label_problem,
    solve_linear,
)
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import check_sample_weight, ravelled
from .._warn import warn
from ..exceptions import CalibrationWarning, UnlinkedLabelWarning
from ..losses import ListwiseSoftmax, PointwiseLogistic, TemplateLoss
from ..losses._shared import LossOnLists
from ..metrics import Measure, get_measure, rank_positions
from ..metrics._shared import positional_form, utilities_of, warn_if_not_positional
from ..rankers._shared import (
    ListRanker,
    calibrated_loss,
    check_gains,
    list_curvatures,
    refuse_blocked,
    relative_alpha,
    restored_on_error,
    ridge_solution,
    store_parameters,
    warn_of_scales,
    weights_of,
    with_query_weight,
)
from ._label_orders import LabelOrders, TargetType, read_label_orders, rows_numbered
from ._label_scores import check_two_grades, scored_labels


class OrderPreservingLabelRanker(CallbackSupportMixin, ListRanker):
    """Linear label ranking with a loss that is calibrated for a measure.

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
        labels and features.
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
        Coefficients W.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts b. Losses of score differences do not determine the sum of coefficients and
        intercepts over labels that are linked by rows; it is set to 0.
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
    alpha is 1.

    *Certificate.* The minimum over b alone is a function of W that is strongly convex with
    constant alpha. ``lower_bound_`` is its value at W, computed by a few further steps in b alone,
    minus ``||gradient||**2 / (2 alpha)``. It is exact up to rounding.

    *Cost.* A step takes an evaluation of the loss and two products with X for all labels, and the
    same again for each conjugate-gradient iteration; squared losses without missing labels take
    one step. In addition to X, memory is a few arrays of shape (n_samples, n_labels).

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
        "target_type": [StrOptions(set(get_args(TargetType)))],
        "solver": [StrOptions({"auto", "newton-cg", "lbfgs"})],
    }

    labels_: AnyArray
    n_labels_: int
    target_type_: str
    alpha_: float
    probability_: str | None

    def __init__(
        self,
        loss="pointwise_logistic",
        *,
        measure="tau_b",
        target_type="auto",
        alpha="scale",
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        # Sparse X with one class per row needs target_type="classes": see _labelled.
        tags.input_tags.sparse &= self.target_type != "auto"
        return tags

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
            lists, rows = utility_lists(type(self).__name__, self.measure, orders, weight)
            self._warn_of_unlinked(orders.known[rows])
            taken = np.flatnonzero(check_sample_weight(sample_weight, data[0]))[rows]
            X = X if len(rows) == X.shape[0] else X[rows]
            loss = self._loss(lists, taken)
            choose_method(loss, self.solver)
            problem = self._problem(as_design(X), lists, loss)
            start = self._start(problem, last_fit)
            solve = partial(solve_linear, method=self.solver)
            solution = ridge_solution(self, problem, start, data, solve=solve)
            self.coef_, self.intercept_ = solution.coef, solution.intercept
            self.loss_ = loss
            self.n_rows_ = lists.n_lists
            self.probability_ = _probability(loss, lists)
        return self

    def _checked_rows(self, X: Any, *, reset: bool) -> Any:
        refuse_blocked(self, X)
        return self._validated(X, reset=reset)

    def _labelled(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, LabelOrders, FloatArray | None]:
        """Check the arguments of ``fit``, and store the labels; weights of 1 are None."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y"
                " is None."
            )
        X = self._checked_rows(X, reset=True)
        check_consistent_length(X, y)
        weight = check_sample_weight(sample_weight, X)
        rows = np.flatnonzero(weight)
        if len(rows) < len(weight):
            X, y, weight = rows_at(X, rows), rows_at(y, rows), weight[rows]
        with rows_numbered(rows):
            orders = read_label_orders(y, self.target_type)
        if issparse(X) and self.target_type == "auto" and orders.target_type == "classes":
            raise ValueError(
                "X is sparse and y has one class per row, as a classifier takes them, but"
                f" {type(self).__name__} predicts a score for each label: if that is meant, pass"
                ' target_type="classes".'
            )
        self.labels_, self.n_labels_ = orders.labels, len(orders.labels)
        self.target_type_ = orders.target_type
        return X, orders, None if np.all(weight == 1.0) else weight

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

    def _problem(self, design: Any, lists: Lists, loss: TemplateLoss) -> LabelProblem:
        weighted = with_query_weight(lists, 1 / weights_of(lists).sum())
        of_rows = LossOnLists(loss, weighted, count_threads(self.n_jobs))
        scales = column_scales(design, lists.query_weight)
        warn_of_scales(self, scales, sparse=not design.is_dense)
        self.alpha_ = self._alpha(scales, of_rows)
        shifted = None
        if loss.is_translation_invariant:
            observed = np.zeros((lists.n_lists, self.n_labels_), dtype=bool)
            observed.ravel()[slice(None) if lists.rows is None else lists.rows] = True
            shifted = _label_components(observed)
        labels = self.n_labels_, self.fit_intercept
        items = LabelledRows(design, *labels, lists.rows, lists.query_weight)
        return label_problem(items, of_rows, self.alpha_, shifted)

    def _alpha(self, scales: FloatArray, loss: LossOnLists) -> float:
        factor = relative_alpha(self.alpha)
        if factor is None:
            return float(self.alpha)
        # On six sets of label rankings values from a tenth to 3 times a hundredth of the curvature
        # did best, for squared and logistic losses of items and of pairs.
        curvature = float(list_curvatures(loss).sum()) / self.n_labels_
        scale = curvature * _typical(scales**2)
        return factor * (0.01 * scale if 0.0 < scale < np.inf else 1.0)

    def _start(self, problem: LabelProblem, last_fit: dict[str, Any]) -> FloatArray | None:
        if not self.warm_start or "coef_" not in last_fit:
            return None
        same = np.array_equal(last_fit["labels_"], self.labels_)
        if not same or last_fit["coef_"].shape[1] != self.n_features_in_:
            return None
        return problem.parameters(last_fit["coef_"], last_fit["intercept_"])

    def _scores(self, X: Any) -> FloatArray:
        return as_design(X).scores(self.coef_.T) + self.intercept_

    def label_grades(self, y: Any) -> FloatArray:
        """Convert orders of labels to grades, the ``y_true`` of measures.

        Parameters
        ----------
        y : array-like, sparse matrix or DataFrame
            Orders of the same labels, in the same form as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Grades, with columns in the order of :attr:`labels_`. A greater grade is nearer to the
            top, NaN is a missing label.
        """
        check_is_fitted(self)
        return read_label_orders(y, self.target_type_, self.labels_).grades

    def predict(self, X: Any) -> FloatArray:
        """Predict scores of the labels; a greater score is nearer to the top.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Scores, with columns in the order of :attr:`labels_`. They order the labels of one row;
            scores of different rows need not be comparable.
        """
        check_is_fitted(self)
        return self._scores(self._checked_rows(X, reset=False))

    def decision_function(self, X: Any) -> FloatArray:
        """Predict scores of the labels; the same as :meth:`predict`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Scores.
        """
        return self.predict(X)

    def rank(self, X: Any) -> FloatArray:
        """Predict the positions of the labels, 1 at the top.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Positions from 1, the top, with columns in the order of :attr:`labels_`. Tied labels
            get the mean of their positions.
        """
        scores = self.predict(X)
        rows = np.repeat(np.arange(len(scores)), scores.shape[1])
        return rank_positions(scores.ravel(), qid=rows).reshape(scores.shape)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean over the rows of the measure set by the parameter ``measure``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like, sparse matrix or DataFrame
            Orders of the same labels, in the same form as in ``fit``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row in the mean.

        Returns
        -------
        float
            Mean over the rows; greater is better.

        Raises
        ------
        ScorerSetupError
            If the measure does not apply to the grades, such as a measure of two classes for more
            grades.
        """
        scores = self.predict(X)
        measure = get_measure(self.measure)
        lists = scored_labels(measure, y, scores, self.label_grades, sample_weight=sample_weight)
        value = measure.of_lists(lists)
        return float(value if measure.greater_is_better else -value)

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
        if getattr(self, "probability_", None) is not None:
            return
        loss = self.loss
        of_softmax = loss == "softmax" or isinstance(loss, ListwiseSoftmax)
        of_sigmoid = loss == "pointwise_logistic" or isinstance(loss, PointwiseLogistic)
        if not (of_softmax or of_sigmoid):
            why = (
                "is available for loss='softmax' and loss='pointwise_logistic', but loss is"
                f" {loss!r}, whose scores are not probabilities: use one of the two, with"
            )
        elif not hasattr(self, "probability_"):
            why = (
                "is defined only after fit, since it depends on the utilities of the labels: call"
                " fit first, with loss='softmax' or 'pointwise_logistic' and"
            )
        else:
            rows = (
                "one label of each row with utility 1 and the others with utility 0, such as"
                " classes"
                if of_softmax
                else "utilities 0 and 1 and eta=1, such as an indicator matrix"
            )
            measure = getattr(self.measure, "name", self.measure)
            why = (
                f"with loss={loss!r} needs {rows}, but {measure} gives other utilities for these"
                " labels: pass such labels, with"
            )
        raise AttributeError(f"predict_proba {why} measure='precision@1'.")


def _probability(loss: TemplateLoss, lists: Lists) -> str | None:
    """Function from scores to probabilities for these utilities, or None."""
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


def _typical(curvature: FloatArray) -> float:
    """Mean over features, none counted as more than ten times the median of those that vary.

    The lower one of two medians, which a second feature in large units does not move.
    """
    varying = curvature[curvature > 0]
    if not len(varying):
        return 0.0
    median = np.quantile(varying, 0.5, method="lower")
    return float(np.minimum(curvature, 10.0 * median).mean())


def utility_lists(
    name: str, measure: Any, orders: LabelOrders, weight: FloatArray | None
) -> tuple[Lists, IntArray]:
    """Lists of the labels of rows with their utilities, and the rows that have them."""
    measure = get_measure(measure)
    if measure.positional is not None:
        warn_if_not_positional(measure)
        orders = _check_grades(name, measure, orders)
    elif not measure.compares_pairs:
        warn(
            f"{measure.name} defines no utilities of labels, so the Borda share is learned "
            "instead, which suits measures of whole orders such as 'tau_b': pass a measure with "
            "utilities, such as 'ndcg' or 'precision@1'.",
            CalibrationWarning,
        )
    rows = np.flatnonzero(orders.known.any(axis=1))
    lists = orders.lists(rows, weight)
    if measure.kind == "binary" and measure.positional is not None:
        lists = lists.with_labels(lists.labels > 0)
    utilities = label_utilities(measure, lists)
    if not np.any(utilities > 0):
        raise ValueError(
            f"No row of y has a label of positive utility for {measure.name} (all labels of each "
            "row are tied, or each row has one label): check y and target_type."
        )
    has_utility = ~np.isnan(utilities[lists.offsets[:-1]])
    if not has_utility.all():
        utilities, rows = utilities[lists.to_items(has_utility)], rows[has_utility]
        lists = orders.lists(rows, weight)
    return lists.with_labels(utilities), rows


def _check_grades(name: str, measure: Measure, orders: LabelOrders) -> LabelOrders:
    grades = orders.grades
    if measure.kind == "binary":
        check_two_grades(measure, grades)
        least = 1.0 if measure.rel is None else measure.rel
        return orders._replace(grades=np.where(np.isnan(grades), np.nan, grades >= least))
    low = grades < measure.label_type(name="y").lowest
    if low.any():
        row, column = np.argwhere(low)[0].tolist()
        raise ValueError(
            f"y is {grades[row, column]:g} in row {row} for label "
            f"{orders.labels.tolist()[column]!r}, but {measure.name} needs relevances of at "
            "least 0: shift them, or pass target_type='positions' if 1 is the top."
        )
    check_gains(name, measure, grades[~np.isnan(grades)])
    return orders


def label_utilities(measure: Any, lists: Lists) -> FloatArray:
    """Utilities of labels, which define the order to learn. Shape (n,)."""
    measure = get_measure(measure)
    if measure.positional is not None:
        return utilities_of(measure, lists)
    below = lists.lengths[lists.list_of] - rank_positions(lists.grade, qid=lists.list_of)
    with np.errstate(invalid="ignore"):
        shares = below / lists.to_items(lists.lengths - 1.0)
    constant = lists.largest(lists.grade) == -lists.largest(-lists.grade)
    return np.where(lists.to_items(constant), np.nan, shares)
