"""The p-norm push (Rudin 2009)."""

from __future__ import annotations

from numbers import Real

import numpy as np

from .._sklearn_compat import Interval, StrOptions
from .._solvers import Design, PNormPushProblem, SolverResult, solve_p_norm_push
from ._fitting import FitProgress
from ._kernel_base import KernelRanker, OneProblemRanker
from ._two_classes import TwoClasses

__all__ = ["PNormPushRanker"]


class PNormPushRanker(OneProblemRanker):
    r"""Linear ranker that pushes down the negatives that stand highest.

    The height of a negative j is its mean loss against the positives i, and the p-norm push is
    the p-norm of the heights,

    .. math:: R_p = \Bigl(\frac1V \sum_j v_j \Bigl(\frac1U \sum_i u_i \,
              \ell(s_j - s_i)\Bigr)^p\Bigr)^{1/p},

    with scores :math:`s = w \cdot x`, weights u of the positives and v of the negatives, and their
    sums U and V. The larger p, the more the highest negatives count. The ranker minimises

    .. math:: \tfrac12 \|w\|^2 + C \log R_p \;\text{ for } \ell(z) = e^z, \qquad
              \tfrac12 \|w\|^2 + C \, R_p \;\text{ for } \ell(z) = \log(1 + e^z).

    Both are convex.

    Parameters
    ----------
    p : float, default=4
        Exponent, at least 1 and finite; more looks nearer to the top. With 1 all pairs count
        alike.
    pos_label : int, float, bool, str or None, default=None
        The positive class, which belongs on top. None is 1 for labels among 0 and 1 or among -1
        and 1; for all others it is the greater label, with a warning.
    loss : {"exponential", "logistic"}, default="exponential"
        The loss of a pair, above. "logistic" grows linearly, so that single rows far on the wrong
        side pull less.
    C : float, default=1.0
        Factor of the push, positive; more fits the training data closer. The push is a mean over
        rows, so that the same value suits lists of any length; search .01 to 10 on standardised
        features.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Inner product of rows. With "precomputed" ``fit`` takes the square matrix of the training
        rows and ``decision_function`` that of new rows with all training rows; a callable takes
        two rows and returns a number. It has to be positive semidefinite.
    gamma : float or None, default=None
        Rate of ``exp(-gamma |x - z|^2)`` and of ``(gamma x.z + coef0)^degree``; None is
        ``1 / n_features``.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant of "poly".
    kernel_params : dict or None, default=None
        Keyword arguments of a callable.
    tol : float, default=1e-6
        Duality gap relative to the objective at which the problem counts as solved, positive.
    max_iter : int, default=200
        Most Newton steps; fits take 1 to 20, on sparse rows at large C up to 170.
    verbose : int, default=0
        1 writes a line on each step to the standard error; 0 is silent.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes, ascending.
    pos_label_ : object
        The positive one of them.
    coef_ : ndarray of shape (1, n_features)
        Weights of the features. Only for ``kernel="linear"``.
    dual_coef_ : ndarray of shape (1, n_support)
        Weights of the kernel's values with the support rows. Only for other kernels.
    support_ : ndarray of shape (n_support,)
        Support rows: those whose images span all others, to rounding. Only for other kernels.
    X_fit_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support rows. Only for other kernels that are not precomputed.
    intercept_ : ndarray of shape (1,)
        ``-threshold_``.
    threshold_ : float
        Threshold between the classes: of the largest weighted accuracy on the training rows.
    objective_ : float
        Value of the objective; with "exponential" at most 0, its value at w = 0.
    lower_bound_ : float
        Certified: no weights have a smaller objective.
    dual_gap_ : float
        Objective less lower bound, relative to the size of the objective.
    converged_ : bool
        Whether that is at most ``tol``.
    n_iter_ : int
        Number of Newton steps.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where ``X`` has names that are all strings.

    See Also
    --------
    TopPushRanker : With ``top=1`` the limit of large p: the negative that stands highest alone.
    AccuracyAtTopRanker : Trained for a share of the rows.
    sklearn_rank.metrics.negative_height_loss : The criterion with pairs counted, not a loss.
    sklearn_rank.metrics.p_norm_push_score : A power of the ranks in the pooled list.

    Notes
    -----
    With the exponential R_p falls apart,

    .. math:: \log R_p = \log \tfrac1U \sum_i u_i e^{-s_i}
              + \tfrac1p \log \tfrac1V \sum_j v_j e^{p s_j},

    which is convex, and safe for scores of any size; with p = 1 it is the logarithm of
    RankBoost's objective. With the logistic loss the logarithm would not be convex; R_p itself is,
    a monotone norm of convex functions that are not negative. As p grows, the two tend to
    the loss against the positives of the highest negative, which is the Infinite Push: R_p is
    smaller by a factor of at most ``(V / v)^(1/p)``, v the weight of that negative.

    Where the positives' mean lies among the negatives, as on many rows of few features, the limit
    has the solution w = 0 for every C, and the coefficients go to 0 as 1 / p. Their size does not
    matter for the order of the rows, but a large p learns from few negatives.

    Means over 20 halvings of standardised data, "exponential" at the best C of 1, 10, 100, 1000
    for each column, and logistic regression at its default; average precision, and smoothed
    precision in the top 5 %, of held-out rows:

    ==========  ===========  ===========  ===========  ===========
    set         p = 1        p = 4        p = 16       logistic
    ==========  ===========  ===========  ===========  ===========
    Pima        .705, .804   .708, .805   .706, .807   .711, .814
    Spambase    .943, .972   .938, .974   .924, .972   .944, .969
    Ionosphere  .920, .909   .911, .908   .895, .900   .887, .813
    ==========  ===========  ===========  ===========  ===========

    The best C was 10 on Spambase (1 for p = 16) and 1 on Ionosphere.

    Loss and penalty have the Fenchel dual ``-1/2 |X'a|^2 - f*(a)``, f the push as a function of
    the scores. Its value at the slopes ``a`` of f at the scores is the objective less half the
    squared norm of the gradient: this is ``lower_bound_``. Of log-sum-exp f* is the relative
    entropy to the weights. Gaps that rounding of the objective hides count as 0.

    Newton's method. A step takes O(n d^2) for n dense rows of d features up to 1,000, which are
    summed up in a matrix of d x d; beyond that it takes some tens of passes over the rows. The
    length of a step is found from the scores alone. No pairs are formed: sums of the logistic loss
    of all pairs take Chebyshev series on intervals of the scores, O(n) and exact to rounding. One
    million rows of 50 features take 2 to 4 seconds with "exponential" on one core, 100,000 with
    "logistic" .3 to 1; memory is some vectors of n, 100 bytes a row in all, and the matrix.
    Kernels other than "linear" make coordinates of n x n_support first. Nothing is random.

    Batches are read twice in a step with "exponential". On the workers of a cluster 8 bytes
    a row of scores come back in a step, and 32 go there.

    Weight 2 is a row twice. Tied scores need no rule in the loss: it is a function of
    differences.

    References
    ----------
    .. [1] Rudin (2009), *The P-Norm Push: A Simple Convex Ranking Algorithm that Concentrates at
       the Top of the List*, Journal of Machine Learning Research 10.
    .. [2] Agarwal (2011), *The Infinite Push: A New Support Vector Ranking Algorithm that Directly
       Optimizes Accuracy at the Absolute Top of the List*, SDM.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_rank import PNormPushRanker
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> ranker = PNormPushRanker(p=8, C=10.0).fit(X[::2], y[::2])
    >>> ranker.score(X[1::2], y[1::2]).__round__(2)
    0.89
    >>> bool(ranker.dual_gap_ <= ranker.tol)
    True
    """

    _parameter_constraints = {
        **KernelRanker._parameter_constraints,
        # Infinity goes through, to be refused with what has it.
        "p": [Interval(Real, 1, np.inf, closed="both")],
        "loss": [StrOptions({"exponential", "logistic"})],
        "C": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        p=4,
        *,
        pos_label=None,
        loss="exponential",
        C=1.0,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1.0,
        kernel_params=None,
        tol=1e-6,
        max_iter=200,
        verbose=0,
    ):
        self.p = p
        self.pos_label = pos_label
        self.loss = loss
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _check_parameters(self, *, blocked: bool) -> None:
        super()._check_parameters(blocked=blocked)
        if np.isinf(self.p):
            raise ValueError(
                f"p={self.p!r} in PNormPushRanker: the push needs a finite p; its limit is"
                " TopPushRanker(top=1), which pushes down the highest negative alone."
            )

    def _solve(self, design: Design, rows: TwoClasses, progress: FitProgress) -> SolverResult:
        problem = PNormPushProblem(
            design, rows.positive, rows.weight, float(self.p), float(self.C), self.loss
        )
        return solve_p_norm_push(
            problem, tol=self.tol, max_iter=self.max_iter, on_iteration=progress.iteration
        )
