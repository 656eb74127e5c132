"""Choose a class of functions from training data alone, by a bound for the whole class."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler
from sklearn.utils.validation import check_is_fitted

from .._typing import AnyArray, FloatArray
from .._validation import check_choice, check_share, is_number, is_whole
from .._warn import warn
from ..bounds import Bound, FunctionClass, auc_bound
from ..metrics import roc_auc_score
from ..metrics._shared import own_pos_label
from ..rankers import AccuracyAtTopRanker
from ..rankers._shared import BipartiteRanker, restored_on_error, store_parameters
from ._candidates import prior_weights

CLASSES = ("degree", "features", "margin")
METHODS = ("averaging", "paper", "central", "strict", "freund")

# A limit at this value is vacuous: a random order has this AUC, and a threshold above all scores
# has this risk.
CHANCE = 0.5


class StructuralRankSelection(BipartiteRanker):
    """Structural risk minimisation for ranking: model selection by a bound on training data.

    The candidates are nested classes of models, and no rows are held out. Class j with the part
    ``delta_j`` of delta has the lower limit ``L_j = training AUC - sup |AUC - expected AUC|`` for
    any model learned in it. The class with the largest limit is chosen, and the limit holds with
    probability ``1 - delta``.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Estimator fitted in each class: a classifier with linear ``coef_`` and
        ``decision_function``; None means logistic regression. For "margin" a ranker with ``C`` and
        ``margin_bound``; None means :class:`sklearn_rank.AccuracyAtTopRanker`.
    classes : {"degree", "features", "margin"}, default="degree"
        "degree": polynomials of increasing degree. "features": linear functions of the first
        features, for an increasing number of features. "margin": linear functions of bounded norm
        and margin, with the values of ``C`` as candidates.
    grid : sequence or None, default=None
        Degrees, numbers of features, or values of ``C``, ascending. None means 1 to 3 for
        "degree"; 1, 2, 4, ... and all features for "features"; 1e-4, 1e-3, ..., 1 for "margin".
    delta : float, default=0.05
        Probability that the limit of at least one class fails, in (0, 1). A smaller value gives
        lower limits.
    weights : array-like, callable or None, default=None
        Weights of the classes in the order of the grid, or a function of its values, that divide
        delta; they are divided by their sum. None means equal weights. Not supported by "margin".
    method : {"averaging", "paper", "central", "strict", "freund"}, default="averaging"
        Uniform bound, as in :func:`sklearn_rank.bounds.auc_bound`; "averaging" is by far the
        tightest; "paper" is the bound of Agarwal et al. "margin" supports "averaging" only.
    radius : float or None, default=None
        Upper limit of the norm of every row, chosen independently of the data. Required for
        "margin" and used by it only.
    pos_label : int, float, bool, str or None, default=None
        Label of the positive class. None means the ``pos_label`` of the estimator, if it has one.
        Otherwise it means 1 for labels in {0, 1} or {-1, 1}; for other labels it is the greater
        label, with a warning. It is also passed to the estimator of "margin".

    Attributes
    ----------
    best_index_ : int
        Index of the chosen class in the grid.
    best_value_ : int or float
        Degree, number of features or ``C`` of the chosen class.
    best_estimator_ : estimator
        Model of the chosen class, fitted to all rows.
    grid_ : list
        Values of the grid.
    bounds_ : list of Bound
        Bound of each class; for "margin" on the risk at the learned
        threshold.
    training_scores_ : ndarray of shape (n_classes,)
        Training AUC of each class.
    limits_ : ndarray of shape (n_classes,)
        Lower limit of the expected AUC of each class, which may be negative; for "margin" upper
        limit of the risk.
    is_vacuous_ : bool
        Whether all limits are vacuous: none excludes a model that is no better than chance.
    classes_ : ndarray of shape (2,)
        Class labels, ascending; a greater decision value favours the second.
    pos_label_ : object
        Label of the positive class.
    n_features_in_ : int
        Number of features.

    Warns
    -----
    PositiveClassWarning
        If ``pos_label`` is None and the labels are not in {0, 1} or {-1, 1}.
    UserWarning
        If every limit is vacuous, as it is for a few hundred rows.

    See Also
    --------
    BoundSearchCV : Search with held-out rows, with much tighter limits.
    sklearn_rank.bounds.auc_bound : The uniform bound for the AUC.
    sklearn_rank.bounds.accuracy_at_top_margin_bound : The bound for the risk at a threshold.

    Notes
    -----
    The classes must not depend on the data. "degree" and "features" standardise the features with
    the same rows; this is valid because linear functions stay linear and polynomials keep their
    degree. *Selecting* or sorting features by the labels is not valid, and "features" uses the
    columns in the given order. "margin" does not standardise, because a norm depends on the scale.

    "margin" does not divide delta, because its bound holds simultaneously for all norms,
    thresholds and margins of a grid, and so for every ``C``. The risk is ``1/2 (P(score > t |
    negative) + P(score < t | positive))`` at the learned threshold t.

    A limit of 1/2 or less (for the risk, of 1/2 or more) is called vacuous. If all limits are
    vacuous, the choice depends on the shape of the bound only.

    The cost is one fit per class; the time of the bounds is negligible.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Corollary 18 and Section 4.5.
    .. [2] Boyd, Cortes, Mohri & Radovanovic (2012), *Accuracy at the Top*, NIPS 25, Theorem 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.model_selection import StructuralRankSelection
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> y = X[:, 0] ** 2 + X[:, 1] ** 2 + rng.normal(size=4000) > 2
    >>> search = StructuralRankSelection(grid=[1, 2, 3]).fit(X, y)
    >>> search.best_value_
    2
    >>> search.limits_.round(2)
    array([0.39, 0.73, 0.67])
    """

    _sparse = False

    def __init__(
        self,
        estimator: Any = None,
        *,
        classes: str = "degree",
        grid: Sequence[Any] | None = None,
        delta: float = 0.05,
        weights: Any = None,
        method: Any = "averaging",
        radius: float | None = None,
        pos_label: Any = None,
    ) -> None:
        store_parameters(locals())

    def fit(self, X: Any, y: Any) -> StructuralRankSelection:
        """Fit a model in each class and choose the one with the best limit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.

        Returns
        -------
        StructuralRankSelection
            The fitted selection.

        Raises
        ------
        TypeError
            If the estimator is not linear, or has no ``margin_bound`` for "margin".
        ValueError
            If an argument is not valid.
        """
        with restored_on_error(self):
            self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        check_share("delta", self.delta, what="the probability of failure")
        check_choice("classes", self.classes, CLASSES)
        check_choice("method", self.method, METHODS)
        self._check_used()
        X, y = self._validated(X, y)
        rows = self._two_classes(y, np.ones(len(y)), own_pos_label(self.estimator))
        self.classes_, self.pos_label_, positive = rows.classes, rows.pos_label, rows.positive
        grid = self._checked_grid(X.shape[1])
        margin = self.classes == "margin"
        if margin:
            models, bounds = self._fit_margins(X, y, grid)
        else:
            models, bounds = self._fit_classes(X, y, positive, grid)
        self.grid_, self.bounds_ = grid, bounds
        self.training_scores_ = np.array(
            [
                roc_auc_score(positive, self._towards_positive(model.decision_function(X)))
                for model in models
            ]
        )
        values = np.array([bound.value for bound in bounds])
        self.limits_ = values if margin else self.training_scores_ - values
        self.best_index_ = int(np.argmin(values) if margin else np.argmax(self.limits_))
        self.best_value_ = grid[self.best_index_]
        self.best_estimator_ = models[self.best_index_]
        best = float(self.limits_[self.best_index_])
        self.is_vacuous_ = best >= CHANCE if margin else best <= CHANCE
        if self.is_vacuous_:
            limit = (
                f"risk is at most {best:.3g}" if margin else f"expected AUC is at least {best:.3g}"
            )
            warn(
                f"The guarantee is vacuous: for the best class the {limit}, but a random ranking"
                f" has 0.5. The choice {self.classes}={self.best_value_!r} depends on the shape of"
                " the bound alone: pass more rows, or hold some out with BoundSearchCV.",
                UserWarning,
            )

    def _check_used(self) -> None:
        if self.classes != "margin":
            if self.radius is not None:
                raise ValueError(
                    f"radius={self.radius!r} is not used by classes={self.classes!r}: leave it"
                    " out."
                )
            return
        if self.method != "averaging":
            raise ValueError(
                f"method={self.method!r} is not used by classes='margin', which has one bound:"
                " leave it out."
            )
        if self.weights is not None:
            raise ValueError(
                "weights is not used by classes='margin', whose bound holds for every C"
                " simultaneously: leave it out."
            )

    def _checked_grid(self, n_features: int) -> list[Any]:
        if self.grid is None:
            if self.classes == "degree":
                return [1, 2, 3]
            if self.classes == "margin":
                return [1e-4, 1e-3, 1e-2, 1e-1, 1.0]
            powers = 2 ** np.arange(int(np.log2(n_features)) + 1)
            return [int(j) for j in np.unique([*powers, n_features])]
        grid = list(self.grid)
        if not grid:
            raise ValueError("grid is empty: pass at least one class.")
        is_kind, what = is_whole, "whole number of at least 1"
        if self.classes == "margin":
            is_kind, what = is_number, "positive number"
        for value in grid:
            if not is_kind(value) or value <= 0:
                raise ValueError(f"grid contains {value!r}, but must contain a {what}.")
        if any(b <= a for a, b in pairwise(grid)):
            raise ValueError(f"grid={grid} must be ascending, with the simplest class first.")
        if self.classes == "features" and grid[-1] > n_features:
            raise ValueError(
                f"grid contains {grid[-1]}, but X has {n_features} features: pass no more than"
                " that."
            )
        return grid

    def _fit_classes(
        self, X: FloatArray, y: AnyArray, positive: AnyArray, grid: Any
    ) -> tuple[list[Any], list[Bound]]:
        learner = LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator
        weights = prior_weights(
            [self.weights(value) for value in grid] if callable(self.weights) else self.weights,
            [{self.classes: value} for value in grid],
        )
        n_pos = int(np.count_nonzero(positive))
        n_neg = len(y) - n_pos
        models, bounds = [], []
        features: list[Any]
        for value, weight in zip(grid, weights, strict=True):
            if self.classes == "degree":
                features = [StandardScaler(), PolynomialFeatures(value, include_bias=False)]
                functions = FunctionClass("polynomial", X.shape[1], degree=int(value))
            else:
                features = [FunctionTransformer(_select_columns, kw_args={"n": int(value)})]
                functions = FunctionClass("linear", int(value))
            model = make_pipeline(*features, StandardScaler(), clone(learner)).fit(X, y)
            _check_linear(model, X)
            models.append(model)
            options: Any = {"function_class": functions, "method": self.method, "side": "lower"}
            bounds.append(auc_bound(n_pos, n_neg, self.delta * float(weight), **options))
        return models, bounds

    def _fit_margins(self, X: FloatArray, y: AnyArray, grid: Any) -> tuple[list[Any], list[Bound]]:
        """Fit rankers of each regularisation, whose bounds hold at once."""
        learner = AccuracyAtTopRanker() if self.estimator is None else self.estimator
        if not hasattr(learner, "margin_bound") or "C" not in learner.get_params():
            raise TypeError(
                f"estimator={learner!r} has no C and margin_bound, which classes='margin' needs:"
                " pass an AccuracyAtTopRanker."
            )
        if self.radius is None:
            raise ValueError(
                "radius is None, but classes='margin' needs an upper limit of the norm of every"
                " row, known before the data: pass radius=."
            )
        params = {"pos_label": self.pos_label_} if "pos_label" in learner.get_params() else {}
        models = [clone(learner).set_params(C=value, **params).fit(X, y) for value in grid]
        return models, [
            model.margin_bound(X, y, radius=self.radius, delta=self.delta) for model in models
        ]

    def decision_function(self, X: Any) -> FloatArray:
        """Compute decision values with the model of the chosen class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Decision values; a greater value favours ``classes_[1]``.
        """
        check_is_fitted(self)
        return self.best_estimator_.decision_function(self._validated(X, reset=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.classes == "margin"
        return tags


def _select_columns(X: FloatArray, n: int) -> FloatArray:
    return X[:, :n]


def _check_linear(model: Pipeline, X: FloatArray) -> None:
    """Raise an error for a learner whose functions are not in the class of the bound."""
    learner = model[-1]
    coef = np.asarray(getattr(learner, "coef_", np.empty(0)), dtype=np.float64)
    Z = model[:-1].transform(X)
    if coef.shape in ((Z.shape[1],), (1, Z.shape[1])) and hasattr(learner, "decision_function"):
        scores = np.asarray(learner.decision_function(Z))
        residuals = scores - Z @ coef.ravel()
        if np.ptp(residuals) <= 1e-6 * max(float(np.ptp(scores)), 1e-300) + 1e-12:
            return
    raise TypeError(
        f"{type(learner).__name__} does not score by X @ coef_ plus a constant, which the bound"
        " requires: pass a linear classifier, such as LogisticRegression."
    )
