"""Scorers whose score is a lower confidence limit."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.sparse import issparse

from .._validation import check_choice, check_share, check_whole
from ..exceptions import ScorerSetupError
from ..inference._shared import check_two_classes
from ..metrics import Measure
from ..metrics._shared import MeasureLike, RankingScorer
from ._evidence import (
    ASYMPTOTIC,
    Evidence,
    is_auc,
    list_evidence,
    measure_with_limits,
    query_evidence,
)

Method: TypeAlias = Literal[
    "kl", "hoeffding", "mcdiarmid", "bernstein", "wilson", "t", "influence"
]

# Asymptotic methods for one model on one part, by their names in sklearn_rank.inference.
OF_QUERIES, OF_AUC, OF_LISTS = "t", "wilson", "influence"
ASYMPTOTIC_METHODS = (OF_QUERIES, OF_AUC, OF_LISTS)


def make_bound_scorer(
    measure: MeasureLike = "auc",
    *,
    delta: float = 0.05,
    method: Method = "kl",
    n_candidates: int = 1,
    qid: str | bool | None = None,
    pos_label: Any = None,
) -> BoundScorer:
    """Make a scorer that returns a lower confidence limit of a ranking measure.

    With probability ``1 - delta`` the expected measure of *one* model is at least its score on
    rows that it was not fitted to. With ``n_candidates`` this holds for that many models
    simultaneously, each at ``delta / n_candidates``.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable, default="auc"
        The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts: the AUC, a
        mean over queries such as ``"ndcg@10"``, or a measure of one list with an influence
        function such as ``"local_auc@0.8"``.
    delta : float, default=0.05
        Probability that the limit fails, in (0, 1). A smaller value gives smaller scores.
    method : str, default="kl"
        Methods that are valid for every distribution: "kl" and "hoeffding" for the AUC and for
        means over queries of bounded range, "mcdiarmid" (Agarwal et al.) for the AUC, and
        "bernstein" for means over queries. Asymptotic methods, which are much narrower: "wilson"
        for the AUC, "t" for means over queries, and "influence" for other measures of one list.
    n_candidates : int, default=1
        Number of models that are compared on the same rows, at least 1.
    qid : str, bool or None, default=None
        Name under which the scorer of a mean over queries requests the query ids if metadata
        routing is enabled. None means "groups".
    pos_label : int, float, bool, str or None, default=None
        Label of the positive class. None means the ``pos_label`` of the estimator, or of the
        estimator it wraps, if it has one. Otherwise it means 1 and requires labels in {0, 1} or
        {-1, 1}.

    Returns
    -------
    BoundScorer
        Callable ``scorer(estimator, X, y, qid=None)``, for ``scoring=`` in scikit-learn.

    Raises
    ------
    ValueError
        If an argument is out of range, or the method does not support the measure.

    See Also
    --------
    BoundSearchCV : Search with simultaneous lower limits for all candidates.
    sklearn_rank.metrics.get_scorer : Scorer of the measure itself.
    sklearn_rank.inference.auc_interval : Two-sided interval, with more methods.

    Notes
    -----
    A score is a limit for one model on one held-out part. Over K folds the mean of K scores is a
    lower limit for the mean expectation of the fold models with probability ``1 - K delta`` only.
    It is no limit for the model fitted to all rows. In a search, set ``n_candidates`` to the
    number of all candidates, including those of all iterations of successive halving. If the folds
    have equal counts, "hoeffding" and "mcdiarmid" select the same candidate as the measure itself,
    and so does "kl" on one part.

    Weights are not supported. The parameter ``undefined`` of the measure sets how queries without
    a value are counted.

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
    >>> model = LogisticRegression(max_iter=1000)
    >>> cross_val_score(model, X, y, cv=3, scoring=scorer).round(2)
    array([0.61, 0.66, 0.84])

    The meaning of a score, in words:

    >>> print(scorer.statement)
    With probability 0.95 the expected auc of the model is no less than the score, for one model \
on rows it was not fitted to (kl).
    """
    measure = measure_with_limits(measure)
    check_share("delta", delta, what="the probability of failure")
    check_whole("n_candidates", n_candidates)
    asymptotic = OF_QUERIES if measure.per_query else OF_AUC if is_auc(measure) else OF_LISTS
    hint = f" for {measure.name!r}"
    if method in ASYMPTOTIC_METHODS:
        hint += f"; {method!r} is for other measures"
    check_choice("method", method, (*measure.theorems, asymptotic), hint=hint)
    if qid is not None and not measure.per_query:
        raise ValueError(
            f"qid={qid!r} is for means over queries, but {measure.name!r} is a measure of one"
            " list: leave qid out."
        )
    kwargs = {} if pos_label is None else {"pos_label": pos_label}
    return BoundScorer(measure, kwargs, float(delta), method, int(n_candidates), qid)


class BoundScorer(RankingScorer):
    """Scorer of a lower confidence limit, returned by :func:`make_bound_scorer`.

    Parameters
    ----------
    measure : Measure
        As in :func:`make_bound_scorer`.
    kwargs : dict
        ``pos_label``, if it is given.
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
    'With probability 0.95 the expected ndcg@10 of the model is no less than the score, for any \
of 8 models on rows it was not fitted to (bernstein).'
    """

    def __init__(
        self,
        measure: Measure,
        kwargs: dict[str, Any],
        delta: float,
        method: str,
        n_candidates: int,
        qid: str | bool | None,
    ) -> None:
        self.delta = delta
        self.method = method
        self.n_candidates = n_candidates
        super().__init__(measure, kwargs, qid, False)

    def _check_queries(self, estimator: Any, given: bool) -> None:
        if self.measure.per_query and not given:
            raise ScorerSetupError(
                f"{self!r} got no qid, but its limit is for queries: pass qid= when you call it,"
                " in a search fit(..., groups=...), after"
                " sklearn.set_config(enable_metadata_routing=True)."
            )
        super()._check_queries(estimator, given)

    def _value(self, y_true: Any, y_score: Any, arguments: dict[str, Any]) -> float:
        evidence: Evidence
        pos_label = arguments.get("pos_label")
        if self.measure.per_query:
            evidence = query_evidence(
                self.measure, [y_true], [[y_score]], [arguments["qid"]], pos_label=pos_label
            )
        else:
            lists = check_two_classes(y_true, y_score, pos_label, rel=self.measure.rel)
            evidence = list_evidence(self.measure, [lists.positive], [[lists.score]])
        method = ASYMPTOTIC if self.method in ASYMPTOTIC_METHODS else self.method
        return float(evidence.lower(method, np.array([self.delta / self.n_candidates]))[0])

    def _value_of_labels(
        self, y_true: Any, y_score: Any, read: Any, arguments: dict[str, Any]
    ) -> float:
        raise ScorerSetupError(
            f"{self!r} needs one label per row, but the estimator predicts several: pass"
            " get_scorer(measure), and compute limits with sklearn_rank.inference.metric_interval"
            " on rows that the estimator was not fitted to."
        )

    @property
    def statement(self) -> str:
        """Meaning of a score in words, with the number of models that it covers."""
        models = "one model" if self.n_candidates == 1 else f"any of {self.n_candidates} models"
        asymptotic = ", asymptotic" if self.method in ASYMPTOTIC_METHODS else ""
        return (
            f"With probability {1 - self.delta:.6g} the expected {self.measure.name} of the model"
            f" is no less than the score, for {models} on rows it was not fitted to"
            f" ({self.method}{asymptotic})."
        )

    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any
    ) -> float:
        for name in ("sample_weight", "query_weight"):
            if name in kwargs:
                raise ScorerSetupError(
                    f"{name} was passed to {self!r}, but limits do not support weights: leave"
                    f" {name} out."
                )
        shape = y_true.shape if issparse(y_true) else np.shape(y_true)
        if issparse(y_true) or len(shape) > 2 or (len(shape) == 2 and shape[1] > 1):
            raise ValueError(
                f"y has shape {shape}, but the limit needs one label per row: pass one of the"
                " columns, as an array."
            )
        if isinstance(getattr(estimator, "classes_", None), list):
            raise ValueError(
                f"{type(estimator).__name__} was fitted to several outputs, but a ranking needs"
                " one: fit it to one column of y."
            )
        return super()._score(method_caller, estimator, X, y_true, **kwargs)

    def __repr__(self) -> str:
        return (
            f"make_bound_scorer({self.measure.name!r}, delta={self.delta!r},"
            f" method={self.method!r}, n_candidates={self.n_candidates!r}"
            + "".join(f", {name}={value!r}" for name, value in self._kwargs.items())
            + ")"
        )
