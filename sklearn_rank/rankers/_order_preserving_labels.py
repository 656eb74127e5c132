"""Label ranking with order-preserving losses: linear or kernel scores of the labels of a row."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csgraph
from scipy.special import expit, softmax

from .._label_orders import LabelOrders
from .._lists import Lists
from .._sklearn_compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    check_sample_weight,
    fit_context,
    with_callbacks,
)
from .._solvers import Design, LabelProblem, as_design, choose_method, threads_here
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import ravelled
from .._warn import warn
from ..calibration._shared import positional_form
from ..exceptions import UnlinkedLabelWarning
from ..losses import (
    ListwiseSoftmax,
    PointwiseLogistic,
    TemplateLoss,
    get_loss,
    get_loss_names,
)
from ..losses._shared import ThreadedLoss
from ..metrics import get_measure
from ._calibrated_base import calibrated_loss
from ._fitting import forget, restored_on_error
from ._kernel_map import KernelMap
from ._label_base import LabelOrderRanker
from ._label_utilities import utility_lists
from ._penalty import KERNEL_LABEL_SHARE, LABEL_SHARE, label_alpha
from ._query_base import weights_of, with_query_weight
from ._ridge_fit import ridge_solution
from ._score_function import KernelScores, LinearScores

__all__ = ["OrderPreservingLabelRanker"]


class OrderPreservingLabelRanker(CallbackSupportMixin, LabelOrderRanker):
    """Linear or kernel ranker of labels that minimises a loss calibrated with a measure.

    Each row has an order of the same labels, and is one list whose items are the labels. With the
    utilities v_i that the measure gives the labels of row i, and scores ``s_i = W x_i + b``, one
    for each label, it minimises ``sum over rows i of w_i l(v_i, s_i) / sum of w_i
    + alpha / 2 ||W||**2``, convex in W and b, where l is the loss as its definition says, a sum
    over the labels of the row or over their pairs.

    Parameters
    ----------
    loss : str or TemplateLoss, default="pointwise_logistic"
        Loss, by a name that :func:`sklearn_rank.losses.get_loss` takes or made with parameters of
        its own. Losses that are not order-preserving are taken with a warning, as "ranknet".
    measure : str, Measure, ScoreGeneratingFunction or callable, default="tau_b"
        The measure that gives the utilities, and of which :meth:`score` is the value. With
        "tau_b" and other measures of whole orders the utility of a label is its Borda share, the
        share of the other labels of the row that are below it, ties half; see Notes. "ndcg@3",
        "precision@1", "spearman" and others give their own utilities; "ap" and "err" with a
        warning.
    target_type : str, default="auto"
        Form of y: "auto", "utilities", "positions", "orders", "indicator" or "classes"; see
        :func:`sklearn_rank.preprocessing.label_grades`.
    alpha : float or str, default="scale"
        Strength of the penalty; more is smaller coefficients. ``"scale"``, or a factor of it such
        as ``"10*scale"``, is relative to the curvature of the loss and the variance of the
        features, and means the same for all losses, measures and numbers of labels. A number, at
        least 0, is the alpha of the objective. See Notes.
    kernel : {"linear", "rbf", "laplacian", "poly", "precomputed"} or callable, default="linear"
        Kernel, as for scikit-learn's kernel methods; "precomputed" takes K(X, X) in place of X.
        "laplacian", ``exp(-gamma ||x - z||_1)``, suits orders that change at thresholds of single
        features, where trees do well and "rbf" does not.
    gamma : float or None, default=None
        Parameter of "rbf", "laplacian" and "poly", greater than 0; None is ``1 / n_features``.
    degree : float, default=3
        Degree of "poly", at least 1.
    coef0 : float, default=1
        Constant of "poly".
    kernel_params : dict or None, default=None
        Parameters of a callable kernel.
    fit_intercept : bool, default=True
        Whether there is b, which is not penalised. Unlike for queries, losses of differences of
        scores depend on it.
    solver : {"auto", "newton-cg", "lbfgs"}, default="auto"
        Newton's method with conjugate gradients, or limited-memory BFGS. "auto" is Newton's method
        where the loss has Hessian products. Where Newton's method cannot go on, L-BFGS does.
    eta : float or None, default=None
        Upper limit of the utilities for a ``loss`` by name that needs one, as the pointwise
        logistic loss; greater than 0. None is that of the measure, 1 for Borda shares and NDCG,
        or where there is none, as for DCG, the largest utility in the training data.
    tol : float, default=1e-6
        Largest norm of the gradient, relative to that at 0; greater than 0.
    max_iter : int, default=200
        Largest number of iterations.
    warm_start : bool, default=False
        Whether ``fit`` starts from the coefficients of the last fit, where that had the same
        labels and features; of the linear kernel alone.
    n_jobs : int or None, default=None
        Number of threads that evaluate the loss; None is 1, -1 is all. The result does not depend
        on it.
    verbose : int, default=0
        Whether to write a line for each iteration to the standard error.

    Attributes
    ----------
    labels_ : ndarray of shape (n_labels,)
        Labels, in the order of the columns of scores.
    n_labels_ : int
        Number of labels.
    target_type_ : str
        Form of y that was read.
    coef_ : ndarray of shape (n_labels, n_features)
        Coefficients W; only for ``kernel="linear"``.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts b. For losses of differences of scores those of labels that rows join, and their
        coefficients, sum to 0, which no loss tells from other sums.
    dual_coef_ : ndarray of shape (n_labels, n_support)
        Coefficients of the support rows; only for other kernels.
    support_ : ndarray of shape (n_support,)
        Support rows, among those of ``fit``; only for other kernels.
    X_fit_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support rows; only for other kernels, but "precomputed".
    alpha_ : float
        The penalty as a number.
    loss_ : TemplateLoss
        The loss, with its parameters.
    probability_ : {"softmax", "sigmoid"} or None
        What turns scores into probabilities; None where nothing does. See :meth:`predict_proba`.
    n_rows_ : int
        Number of rows that counted.
    objective_ : float
        Value of the objective.
    lower_bound_ : float
        Certified: no coefficients have a smaller objective, see Notes; NaN where alpha is 0, or
        the intercepts have no minimum or the loss no Hessian products.
    gradient_norm_ : float
        Norm of the gradient relative to that at 0, by which the fit ends, of features about their
        means.
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
    OrderPreservingRanker : Ranks the rows of queries, with one score for each row.
    sklearn_rank.calibration.regret_bound : What a small surrogate regret guarantees; its
        ``n_items`` is the number of labels.

    Notes
    -----
    *Kendall's tau.* The best order by expected tau is that of Kemeny's rule, NP-hard to find, and
    tau gives labels no utilities. The Borda share is that of the mean position. It has the best
    order wherever some order agrees with all pairwise majorities and the share of a label in
    pairs rises along it, as in the models of Mallows and of Plackett and Luce; else it can differ.
    Where labels are missing at random, the share among the labels that a row has is unbiased for
    that among all. Losses that are order-preserving, then, rank by the expected share. The loss
    of pairs "ranknet" aims at the majorities themselves, often with as good or better values of
    tau, and has no such guarantee.

    *Losses.* "pairwise_logistic" and "softmax" learn the logarithm of the expected share, in
    which labels near the bottom have the largest differences, "pointwise_logistic" the log-odds,
    in which both ends have them: with linear scores of data that are not linear, this fits whole
    orders better. For measures of the top the others do as well.

    *Missing labels.* A row counts by the labels that it has. Rows in which no label is above
    another, as those with one label, teach nothing and are left out, as are those for which
    ``measure`` is undefined. Where no chain of rows joins some labels, their scores do not
    compare: :class:`~sklearn_rank.exceptions.UnlinkedLabelWarning`.

    *Penalty.* ``"scale"`` is a hundredth of ``sum over rows of w_i k_i / sum of w_i / n_labels``
    times s, where s is the mean over the features of their variance, and k_i the curvature of the
    loss of row i along its utilities v, standardised there to z:
    ``z' (l'(v, z / 2) - l'(v, -z / 2))``. Where this is 0 it is 1. With a kernel the features are
    coordinates in its space, as many as the rank of the kernel matrix, and it is a tenth.

    *Certificate.* The minimum over b alone is a function of W that is strongly convex with
    constant alpha. ``lower_bound_`` is its value at W, to which a few more steps in b alone lead,
    less ``||gradient||**2 / (2 alpha)``; it is exact to rounding.

    *Cost.* A step takes an evaluation of the loss and two products with X of all labels, and as
    many again for each conjugate gradient. These are preconditioned by the system in which all
    rows have the same second derivatives by the scores, a Kronecker product: squared losses with
    all labels take one step. Memory is a few arrays of the size of the scores, n_samples by
    n_labels, beside X; kernels take the factorisation of the kernel matrix, O(n r^2) time and
    O(n r) memory for rank r.

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

    Orders by names, some labels missing:

    >>> y = ["a>b>c", "b>a", "c>b=a"]
    >>> OrderPreservingLabelRanker().fit(X[:3], y).labels_
    array(['a', 'b', 'c'], dtype='<U1')
    """

    _parameter_constraints = {
        **LabelOrderRanker._parameter_constraints,
        "loss": [StrOptions(set(get_loss_names(aliases=True))), TemplateLoss],
        "alpha": [Interval(Real, 0, None, closed="left"), str],
        "kernel": [StrOptions({"linear", "rbf", "laplacian", "poly", "precomputed"}), callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [Interval(Real, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "fit_intercept": ["boolean"],
        "solver": [StrOptions({"auto", "newton-cg", "lbfgs"})],
        "eta": [Interval(Real, 0, None, closed="neither"), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
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
        self.loss = loss
        self.measure = measure
        self.target_type = target_type
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.eta = eta
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    @property
    def _sparse(self) -> Any:
        return False if self.kernel == "precomputed" else "csr"

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OrderPreservingLabelRanker:
        """Minimise the loss over the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. Sparse matrices are converted to CSR.
        y : array-like, sparse matrix or DataFrame
            An order of labels for each row, in the form ``target_type``: grades or utilities of
            shape (n_samples, n_labels), NaN where a label is missing, positions, an indicator,
            strings such as "a>b=c", sequences of labels, or classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; 2 is the row twice, 0 the row absent.

        Returns
        -------
        OrderPreservingLabelRanker
            The estimator itself.

        Raises
        ------
        ValueError
            If an argument is not valid, y is no order of two labels or more, or no row has one
            label above another.

        Warns
        -----
        CalibrationWarning
            If the loss is not order-preserving, the measure is "ap" or "err", or neither has the
            measure utilities nor is it a correlation of orders.
        UnlinkedLabelWarning
            If no chain of rows joins some labels.
        ConvergenceWarning
            If the gradient norm misses ``tol``.
        """
        with restored_on_error(self):
            before = dict(vars(self))
            sample_weight = ravelled(sample_weight, "sample_weight")
            data = (X, y)
            X, orders, weight = self._labelled(X, y, sample_weight)
            lists, kept = utility_lists(type(self).__name__, self.measure, orders, weight)
            self._warn_of_unlinked(orders, kept)
            taken = np.flatnonzero(check_sample_weight(sample_weight, data[0]))[kept]
            X = X if kept.all() else X[kept]
            if self.kernel == "precomputed":
                X = X[:, taken]
            loss = self._loss(lists, taken)
            choose_method(loss, self.solver)
            kernel = KernelMap.of(self)
            design = as_design(X) if kernel is None else kernel.design(X)
            problem = self._problem(design, lists, loss)
            coef = ridge_solution(self, problem, self._start(problem, before), data).coef
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
        if reset and self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"kernel='precomputed' needs a square kernel matrix, got shape {X.shape}: pass"
                " K(X, X)."
            )
        return X

    def _warn_of_unlinked(self, orders: LabelOrders, kept: BoolArray) -> None:
        """Warn where no chain of rows joins some labels."""
        parts = _parts(orders.known[kept])
        if parts.max() == 0:
            return
        names = orders.labels.tolist()
        joined = names[0], names[int(np.argmax(parts != parts[0]))]
        warn(
            f"No row with an order has {joined[0]!r} and {joined[1]!r}, nor does a chain of rows"
            " join them, so that their scores do not compare: add rows that have labels of both"
            " kinds, or leave one kind out.",
            UnlinkedLabelWarning,
        )

    def _loss(self, lists: Lists, taken: IntArray) -> TemplateLoss:
        """The loss, which takes utilities as large as these."""
        found = get_measure(self.measure)
        largest = 1.0 if found.positional is None else positional_form(found)[1].largest or 0.0
        largest = max(largest, float(lists.grade.max()))
        loss = calibrated_loss(self.loss, found, eta=self.eta, largest=largest)
        if lists.grade.max() > loss.largest_utility:
            item = int(np.argmax(lists.grade))
            place = item if lists.rows is None else int(lists.rows[item])
            row, column = divmod(place, self.n_labels_)
            raise ValueError(
                f"Label {self.labels_.tolist()[column]!r} of row {taken[row]} has the utility"
                f" {lists.grade[item]:g}, and {loss!r} takes none above {loss.largest_utility:g}:"
                " raise eta."
            )
        return loss

    def _problem(self, design: Design, lists: Lists, loss: TemplateLoss) -> LabelProblem:
        """The problem of these rows, with the mean over them."""
        weighted = with_query_weight(lists, 1 / weights_of(lists).sum())
        of_rows = ThreadedLoss(loss, weighted, threads_here(self.n_jobs))
        self.alpha_ = label_alpha(
            self.alpha,
            design,
            of_rows,
            weighted,
            self.n_labels_,
            lists.query_weight,
            share=LABEL_SHARE if self.kernel == "linear" else KERNEL_LABEL_SHARE,
        )
        shifted = None
        if loss.is_translation_invariant:
            known = np.zeros((lists.n_lists, self.n_labels_), dtype=bool)
            known.ravel()[slice(None) if lists.rows is None else lists.rows] = True
            shifted = _parts(known)
        return LabelProblem(
            design,
            of_rows,
            n_labels=self.n_labels_,
            alpha=self.alpha_,
            fit_intercept=self.fit_intercept,
            entries=lists.rows,
            row_weight=lists.query_weight,
            shifted=shifted,
        )

    def _start(self, problem: LabelProblem, before: dict[str, Any]) -> FloatArray | None:
        """Parameters of the last fit, where they are asked for and fit the problem."""
        if not self.warm_start or self.kernel != "linear" or "coef_" not in before:
            return None
        same = np.array_equal(before["labels_"], self.labels_)
        if not same or before["coef_"].shape[1] != problem.n_features:
            return None
        return problem.parameters(before["coef_"], before["intercept_"])

    def _scores(self, X: Any) -> FloatArray:
        kernel = KernelMap.of(self)
        if kernel is None:
            return LinearScores(self.coef_.T).scores(X) + self.intercept_
        rows = None if kernel.is_precomputed else self.X_fit_
        function = KernelScores(kernel, self.dual_coef_.T, self.support_, rows)
        return function.scores(X) + self.intercept_

    @property
    def predict_proba(self) -> Callable[[Any], FloatArray]:
        """Estimate the probabilities of labels, where the scores say them.

        There are such where the minimiser of the expected loss says them. With ``loss="softmax"``,
        where one label of each row has the utility 1 and the others 0, as classes with
        ``measure="precision@1"``, it is the softmax of the scores: the probability that the label
        is that one, of multinomial logistic regression. With ``loss="pointwise_logistic"`` and
        utilities of 0 and 1, as an indicator with ``measure="precision@1"``, it is their sigmoid:
        the probability that the label is relevant.

        It takes rows X of shape (n_samples, n_features), and returns probabilities of shape
        (n_samples, n_labels), by the columns of ``labels_``; only those of the softmax sum to 1.
        Elsewhere there is no such method, and the AttributeError says why.
        """
        self._refuse_probabilities()
        return self._probabilities

    def _probabilities(self, X: Any) -> FloatArray:
        scores = self.predict(X)
        return softmax(scores, axis=1) if self.probability_ == "softmax" else expit(scores)

    def _refuse_probabilities(self) -> None:
        """Say why scores are no probabilities, where they are none."""
        loss = get_loss(self.loss) if isinstance(self.loss, str) else self.loss
        if not isinstance(loss, ListwiseSoftmax | PointwiseLogistic):
            raise AttributeError(
                "predict_proba is of loss='softmax' and loss='pointwise_logistic', and loss is"
                f" {self.loss!r}, whose scores are no probabilities: use one of those, with"
                " measure='precision@1'."
            )
        if not hasattr(self, "probability_"):
            raise AttributeError(
                "predict_proba depends on the utilities of the labels: call fit first, with"
                " loss='softmax' or 'pointwise_logistic' and measure='precision@1'."
            )
        if self.probability_ is None:
            needed = (
                "one label of each row with the utility 1 and 0 for the others, as classes have"
                if isinstance(loss, ListwiseSoftmax)
                else "utilities of 0 and 1 and eta=1, as an indicator has"
            )
            raise AttributeError(
                f"predict_proba with loss={self.loss!r} needs {needed} with"
                f" measure='precision@1': {get_measure(self.measure).name} gave these labels other"
                " utilities."
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


def _parts(known: BoolArray) -> IntArray:
    """Number of the part of each label; rows, or chains of rows, join the labels of a part."""
    counts = known.astype(np.float64)
    _, parts = csgraph.connected_components(counts.T @ counts, directed=False)
    return parts
