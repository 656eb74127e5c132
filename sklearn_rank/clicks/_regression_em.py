"""Propensities and a relevance model from the same clicks, by expectation-maximisation."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import has_fit_parameter

from .._arguments import check_number, check_position, check_whole
from .._sklearn_compat import check_sample_weight, rows_at
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import ravelled
from .._warn import warn
from ._propensities import EMPropensities, check_clicks, check_positions

# Probabilities of a classifier are kept this far from 0 and 1, where a click has no likelihood.
LEAST = 1e-9
# Share of the largest propensity at the start: one of 1 would stay there.
START = 0.9


def em_propensities(
    X: Any,
    clicks: Any,
    position: Any,
    classifier: Any,
    *,
    sample_weight: Any = None,
    reference: int = 1,
    tol: float = 1e-4,
    max_iter: int = 200,
) -> EMPropensities:
    """Estimate position propensities from click logs by regression EM, without an experiment.

    In the position-based model ``P(click) = theta(position) gamma(x)`` both factors are learned:
    theta as a number for each position, gamma by a classifier. For rows without a click, the E
    step computes the probability of examination, and the probability of a click if examined. The M
    step averages the former at each position, and fits the classifier to the latter.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features of relevance, without the position.
    clicks : array-like of shape (n_samples,)
        Whether each row was clicked, 0 or 1. There is one row for each time that an item was
        shown.
    position : array-like of shape (n_samples,)
        Position at which the row was shown, 1 at the top.
    classifier : classifier
        Model of gamma: any classifier with ``predict_proba`` whose ``fit`` takes
        ``sample_weight``, or a pipeline that ends with one. A clone is refitted in each iteration;
        with ``warm_start=True``, if available, it continues from the previous fit.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights. A row of weight 2 counts as two rows.
    reference : int, default=1
        Position whose propensity is set to 1.
    tol : float, default=1e-4
        Tolerance on the relative change of propensities in an iteration; positive.
    max_iter : int, default=200
        Maximum number of iterations.

    Returns
    -------
    EMPropensities
        The propensities, the fitted classifier, and the log likelihood of each iteration.

    Raises
    ------
    ValueError
        If an argument is not valid, a feature is a function of the position, clicks are all 0 or
        all 1, or the classifier takes no weights.

    Warns
    -----
    ConvergenceWarning
        If the propensities still change by more than ``tol``.

    See Also
    --------
    swap_propensities : Uses an experiment; gives standard errors and needs no relevance model.

    Notes
    -----
    Only the products theta gamma(x) are observed. Theta is identified, relative to one position,
    only if rows that are equally relevant for the classifier were shown at different positions. If
    features determine positions, as with one ranker that uses the same features, the form of the
    classifier decides how clicks are attributed: flexible classifiers then explain position
    effects by relevance. To avoid this, use clicks under several rankers, or some randomisation.

    If the classifier maximises or increases the weighted likelihood, the log likelihood never
    decreases. With penalised classifiers it can decrease slightly near the end; if it decreases
    otherwise, the classifier does not estimate probabilities. The likelihood can have several
    maxima; the initial values are the click rates of the positions. Convergence is linear, so that
    the propensities can be farther from the maximum than ``tol``. Nothing is random except the
    classifier, by its ``random_state``.

    Each of ten to some hundred iterations fits the classifier to up to twice the rows; more
    iterations are needed if features and positions are correlated. Where Wang et al. [1]_ draw
    labels, each row is used here with both labels and weights.

    References
    ----------
    .. [1] Wang, X., Golbandi, N., Bendersky, M., Metzler, D. and Najork, M. (2018). Position bias
       estimation for unbiased learning to rank in personal search. WSDM, Section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.clicks import em_propensities
    >>> rng = np.random.default_rng(0)
    >>> X, position = rng.normal(size=(9000, 2)), rng.integers(1, 5, 9000)
    >>> relevant = rng.random(9000) < 1 / (1 + np.exp(-2 * X[:, 0]))
    >>> clicks = relevant & (rng.random(9000) < 1 / position)
    >>> em_propensities(X, clicks, position, LogisticRegression()).value.round(2)
    array([1.  , 0.51, 0.32, 0.26])
    """
    clicks = check_clicks(clicks)
    position = check_positions(position, len(clicks))
    reference = check_position("reference", reference)
    tol = check_number("tol", tol, 0.0, closed="neither")
    max_iter = check_whole("max_iter", max_iter)
    if getattr(X, "shape", (len(clicks),))[0] != len(clicks):
        raise ValueError(
            f"X has {X.shape[0]} rows, but clicks has {len(clicks)}: pass one value per row."
        )
    weight = check_sample_weight(ravelled(sample_weight, "sample_weight"), clicks)
    _refuse_positions_among_features(X, position)
    places, at = np.unique(position, return_inverse=True)
    if reference not in places:
        raise ValueError(
            f"No row was shown at position {reference}, the reference of the propensities: pass "
            f"reference={int(places[0])}."
        )
    if not 0 < np.sum(weight * clicks) < np.sum(weight):
        raise ValueError("clicks are all 0 or all 1: pass rows with and without clicks.")
    rate = _means(clicks, at, weight)
    base = int(np.searchsorted(places, reference))
    if not rate[base] > 0:
        raise ValueError(
            f"There is no click at position {reference}, the reference of the propensities: pass "
            f"reference={int(places[np.argmax(rate)])}."
        )
    model = _Model(classifier, X, clicks, weight)
    theta, history, change = _iterated(model, rate, at, base, tol, max_iter)
    if change > tol:
        warn(
            "The propensities did not converge: the greatest relative change in the last of "
            f"{max_iter} iterations is {change:.1e}, but tol={tol:g}: raise max_iter or tol.",
            ConvergenceWarning,
        )
    return EMPropensities(
        position=places,
        value=theta / theta[base],
        standard_error=None,
        reference=reference,
        method="expectation-maximisation",
        relevance=model.classifier,
        log_likelihood=np.array(history),
        n_iter=len(history) - 1,
        converged=change <= tol,
    )


def _iterated(
    model: _Model, rate: FloatArray, at: IntArray, base: int, tol: float, max_iter: int
) -> tuple[FloatArray, list[float], float]:
    """Propensities, the log likelihoods on the way, and the last relative change."""
    clicks, weight = model.clicks, model.weight
    theta, gamma = START * rate / rate.max(), model.fitted(np.full(len(clicks), rate.max()))
    history, change = [_log_likelihood(clicks, theta[at] * gamma, weight)], np.inf
    while change > tol and len(history) <= max_iter:
        before, chance = theta / theta[base], theta[at]
        unseen = 1.0 - chance * gamma
        examined = np.where(clicks, 1.0, chance * (1.0 - gamma) / unseen)
        theta = _means(examined, at, weight)
        gamma = model.fitted(gamma * (1.0 - chance) / unseen)
        history.append(_log_likelihood(clicks, theta[at] * gamma, weight))
        after = theta / theta[base]
        change = float(np.max(np.abs(after - before) / np.where(after > 0, after, 1.0)))
    return theta, history, change


class _Model:
    """The classifier, on clicked rows once and on each other row as relevant and as not."""

    def __init__(self, classifier: Any, X: Any, clicks: BoolArray, weight: FloatArray) -> None:
        steps = getattr(classifier, "steps", None)
        last = classifier if steps is None else steps[-1][1]
        if not hasattr(classifier, "predict_proba") or not has_fit_parameter(
            last, "sample_weight"
        ):
            raise ValueError(
                f"classifier={classifier!r} needs predict_proba, and a fit that takes"
                " sample_weight, such as LogisticRegression() or"
                " HistGradientBoostingClassifier()."
            )
        self.classifier = clone(classifier)
        self.argument = "sample_weight" if steps is None else f"{steps[-1][0]}__sample_weight"
        self.X, self.weight = X, weight
        other = np.flatnonzero(~clicks)
        self.label = np.append(np.ones(len(clicks)), np.zeros(len(other)))
        self.rows: IntArray = np.append(np.arange(len(clicks)), other)
        self.clicks = clicks
        self.twice = rows_at(X, self.rows)

    def fitted(self, relevant: FloatArray) -> FloatArray:
        """Fit it to probabilities of relevance of the rows without a click, and predict all."""
        positive = np.where(self.clicks, 1.0, relevant)[self.rows]
        share = np.where(self.label == 1, positive, 1.0 - positive)
        self.classifier.fit(
            self.twice, self.label, **{self.argument: self.weight[self.rows] * share}
        )
        column = int(np.flatnonzero(np.asarray(self.classifier.classes_) == 1)[0])
        return np.clip(self.classifier.predict_proba(self.X)[:, column], LEAST, 1.0 - LEAST)


def _means(values: Any, at: IntArray, weight: FloatArray) -> FloatArray:
    """Mean of the rows at each position, 0 where none counts."""
    mass = np.bincount(at, weights=weight)
    return np.bincount(at, weights=weight * values) / np.where(mass > 0, mass, 1.0)


def _log_likelihood(clicks: BoolArray, chance: FloatArray, weight: FloatArray) -> float:
    """Mean over the weight of the rows; places without clicks have a chance of 0."""
    likelihood = np.where(clicks, chance, 1.0 - chance)
    return float(np.sum(weight * np.log(likelihood)) / np.sum(weight))


def _refuse_positions_among_features(X: Any, position: IntArray) -> None:
    """Refuse a column that has one value at each position, and not the same at all."""
    if sp.issparse(X):
        return
    values = np.asarray(X)
    if values.ndim != 2 or values.dtype.kind not in "biuf" or len(np.unique(position)) < 2:
        return
    order = np.argsort(position, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(position[order]) > 0))
    if len(starts) == len(position):
        return
    low = np.minimum.reduceat(values[order], starts, axis=0)
    high = np.maximum.reduceat(values[order], starts, axis=0)
    with np.errstate(invalid="ignore"):
        told = np.all(low == high, axis=0) & np.any(low != low[0], axis=0)
    if told.any():
        raise ValueError(
            f"Column {int(np.argmax(told))} of X is a function of the position, so that "
            "relevance and position cannot be separated: leave it out."
        )
