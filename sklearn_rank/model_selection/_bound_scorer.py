"""Scorers whose score is a lower confidence limit."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from ..inference._influence import check_two_classes
from ..metrics import get_measure
from ..metrics._shared import MeasureLike, RankingScorer
from ._evidence import ASYMPTOTIC, AUCEvidence, check_measure, query_evidence, theorems_of

__all__ = ["BoundScorer", "check_delta", "make_bound_scorer"]

# What the limits of one model on one part are called in sklearn_rank.inference.
ONE_MODEL = {"wilson": ASYMPTOTIC, "t": ASYMPTOTIC}


def check_delta(delta: Any) -> float:
    """Check a probability of failure.

    Parameters
    ----------
    delta : float
        Probability, in (0, 1).

    Returns
    -------
    float
        The same.
    """
    if isinstance(delta, bool) or not isinstance(delta, Real) or not 0 < float(delta) < 1:
        raise ValueError(f"delta={delta!r} must be a probability of failure, in (0, 1).")
    return float(delta)


def make_bound_scorer(
    measure: str = "auc",
    *,
    delta: float = 0.05,
    method: Literal["kl", "hoeffding", "mcdiarmid", "bernstein", "wilson", "t"] = "kl",
    n_candidates: int = 1,
    qid: str | bool | None = None,
) -> BoundScorer:
    """Make a scorer of the lower confidence limit for a measure.

    With probability ``1 - delta`` the expected measure of *one* model is no less than its score on
    rows that it was not fitted to; with ``n_candidates`` that of all of so many models at once,
    each at ``delta / n_candidates``.

    Parameters
    ----------
    measure : str, default="auc"
        "auc", or the name of a mean over queries such as "ndcg@10".
    delta : float, default=0.05
        Probability with which a score may exceed what it bounds, in (0, 1); less makes the scores
        smaller.
    method : {"kl", "hoeffding", "mcdiarmid", "bernstein", "wilson", "t"}, default="kl"
        "kl" and "hoeffding" hold for every distribution and are for measures of bounded range,
        "mcdiarmid" (that of Agarwal et al.) is for the AUC and "bernstein" for means over queries.
        "wilson", for the AUC, and "t", for means over queries, are asymptotic and much narrower.
    n_candidates : int, default=1
        Number of models that are compared on the same rows, at least 1.
    qid : str, bool or None, default=None
        Under which name the scorer of a mean over queries asks for the ids where metadata routing
        is enabled; None is "groups".

    Returns
    -------
    BoundScorer
        Callable ``scorer(estimator, X, y, qid=None)``, for ``scoring=`` in scikit-learn.

    Raises
    ------
    ValueError
        If an argument is out of range, or the measure has no limit by this method.

    See Also
    --------
    BoundSearchCV : A search that knows its counts and candidates.
    sklearn_rank.metrics.get_scorer : The measure itself.
    sklearn_rank.inference.auc_interval : Both limits, and other methods.

    Notes
    -----
    A score covers one model on one part. Over K folds the mean of K scores is a lower limit for
    the mean of the fold models' expectations with probability ``1 - K delta`` only, and none for
    the model that is fitted to all rows. In a search ``n_candidates`` is the number of all
    candidates, those of all rungs for halving. Where the counts of the folds are equal the best
    candidate by "hoeffding" or "mcdiarmid" is that by the measure; so it is on one part by "kl".

    Rows count once: weights are refused. Undefined queries count as for the measure.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Corollary 6.
    .. [2] Maurer & Pontil (2009), *Empirical Bernstein bounds and sample variance penalization*,
       COLT, Theorem 4.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.model_selection import make_bound_scorer
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> scorer = make_bound_scorer("auc", delta=0.05)
    >>> cross_val_score(LogisticRegression(max_iter=1000), X, y, cv=3, scoring=scorer).round(2)
    array([0.61, 0.66, 0.84])

    What a score says:

    >>> print(scorer.statement)
    P(expected auc of the model < score) <= 0.05, for one model on rows it was not fitted to (kl)
    """
    per_query = check_measure(measure)
    delta = check_delta(delta)
    if not isinstance(n_candidates, Integral) or isinstance(n_candidates, bool):
        raise ValueError(f"n_candidates={n_candidates!r} must be a whole number of at least 1.")
    if n_candidates < 1:
        raise ValueError(f"n_candidates={n_candidates!r} must be a whole number of at least 1.")
    own, other = ("t", "wilson") if per_query else ("wilson", "t")
    known = [*theorems_of(measure)[:-1], own]
    if method not in known:
        listed = ", ".join(map(repr, known))
        hint = f"; {other!r} is for other measures" if method == other else ""
        raise ValueError(f"method={method!r} must be one of {listed} for {measure!r}{hint}.")
    if qid is not None and not per_query:
        raise ValueError(
            f"qid={qid!r} is for means over queries, and {measure!r} is of one list: leave it out."
        )
    return BoundScorer(measure, delta, method, int(n_candidates), qid)


class BoundScorer(RankingScorer):
    """Scorer of a lower confidence limit; made by :func:`make_bound_scorer`.

    Parameters
    ----------
    measure : str
        As in :func:`make_bound_scorer`.
    delta : float
        As in :func:`make_bound_scorer`.
    method : str
        As in :func:`make_bound_scorer`.
    n_candidates : int
        As in :func:`make_bound_scorer`.
    qid : str, bool or None
        As in :func:`make_bound_scorer`.

    Examples
    --------
    >>> from sklearn_rank.model_selection import make_bound_scorer
    >>> make_bound_scorer("ndcg@10", method="bernstein", n_candidates=8).statement
    'P(expected ndcg@10 of the model < score) <= 0.05, for any of 8 models on rows it was not \
fitted to (bernstein)'
    """

    def __init__(
        self,
        measure: MeasureLike,
        delta: float,
        method: str,
        n_candidates: int,
        qid: str | bool | None,
    ) -> None:
        self.delta = delta
        self.method = method
        self.n_candidates = n_candidates
        super().__init__(get_measure(measure), {}, qid, False)

    def _value(self, y_true: Any, y_score: Any, arguments: dict[str, Any]) -> float:
        arguments = {
            "delta": self.delta / self.n_candidates,
            "method": ONE_MODEL.get(self.method, self.method),
            **arguments,
        }
        if self.measure.per_query:
            return query_lower_limit(y_true, y_score, measure=self.measure, **arguments)
        return auc_lower_limit(y_true, y_score, **arguments)

    @property
    def statement(self) -> str:
        """What a score says, and of how many models."""
        models = "one model" if self.n_candidates == 1 else f"any of {self.n_candidates} models"
        asymptotic = ", asymptotic" if self.method in ONE_MODEL else ""
        return (
            f"P(expected {self.measure.name} of the model < score) <= {self.delta:g}, for"
            f" {models} on rows it was not fitted to ({self.method}{asymptotic})"
        )

    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any
    ) -> float:
        for name in ("sample_weight", "query_weight"):
            if name in kwargs:
                raise ValueError(
                    f"{name} was passed to {self!r}, but limits are for rows and queries that"
                    " count once: leave it out."
                )
        return super()._score(method_caller, estimator, X, y_true, **kwargs)

    def __repr__(self) -> str:
        return (
            f"make_bound_scorer({self.measure.name!r}, delta={self.delta!r},"
            f" method={self.method!r}, n_candidates={self.n_candidates!r})"
        )


def auc_lower_limit(y_true: Any, y_score: Any, *, delta: float, method: str) -> float:
    """Lower confidence limit for the expected AUC of a fixed function.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores.
    delta : float
        Probability with which the limit may exceed the expectation.
    method : str
        One of the theorems of :class:`AUCEvidence`.

    Returns
    -------
    float
        The limit, in [0, 1].
    """
    positive, score = check_two_classes(y_true, y_score, None)
    return float(AUCEvidence([positive], [[score]]).lower(method, np.array([delta]))[0])


def query_lower_limit(
    y_true: Any, y_score: Any, *, qid: Any, measure: MeasureLike, delta: float, method: str
) -> float:
    """Lower confidence limit for the expected value of a measure on a new query.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels.
    y_score : array-like of shape (n_samples,)
        Scores.
    qid : array-like of shape (n_samples,)
        Ids of the queries.
    measure : str
        Name of the measure.
    delta : float
        Probability with which the limit may exceed the expectation.
    method : str
        One of the theorems of :class:`QueryEvidence`.

    Returns
    -------
    float
        The limit, in the range of the measure.
    """
    evidence = query_evidence(measure, [y_true], [[y_score]], [qid])
    return float(evidence.lower(method, np.array([delta]))[0])
