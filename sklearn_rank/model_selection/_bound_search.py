"""A search that knows how many candidates, rows and folds it saw, and what follows from that."""

from __future__ import annotations

import math
import warnings
from copy import deepcopy
from numbers import Integral, Real
from typing import Any

import numpy as np
import sklearn
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    ParameterGrid,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from .._arguments import check_generator
from .._typing import AnyArray
from .._validation import check_qid
from ..inference import Interval
from ..inference._shared import check_two_classes
from ..metrics import get_scorer
from ..rankers._shared import Ranker, restored_on_error
from ._bound_scorer import check_delta
from ._candidates import (
    DIGITS,
    candidate_table,
    fit_candidates,
    prior_weights,
    rank_descending,
    simplicity,
)
from ._evidence import (
    ASYMPTOTIC,
    AUCEvidence,
    Evidence,
    check_measure,
    query_evidence,
    theorems_of,
)
from ._noise import may_be_best, simultaneous_tails
from ._report import SelectionReport

__all__ = ["BoundSearchCV"]

RULES = ("max_bound", "within_noise")
HELD_OUT = 1 / 3


def _of_best(name: str) -> Any:
    """Let a method exist where the estimator has it."""

    def check(search: Any) -> bool:
        # AttributeError from here says what is missing.
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return available_if(check)


class BoundSearchCV(MetaEstimatorMixin, Ranker):
    """Choose parameters by lower limits that hold for all candidates at once.

    With ``A_c`` the expected measure of candidate c and limits ``L_c`` with
    ``P(A_c < L_c) <= delta pi_c``, where the prior weights ``pi_c`` sum to 1, the limit of
    whichever candidate is chosen holds with probability ``1 - delta``.

    Parameters
    ----------
    estimator : estimator
        Classifier of two classes, or ranker; it is cloned.
    param_grid : dict or list of dict
        Values to try by parameter name, as in :class:`sklearn.model_selection.ParameterGrid`.
    measure : str, default="auc"
        "auc", or the name of a mean over queries such as "ndcg@10", for which ids are passed to
        ``fit`` as ``groups``.
    delta : float, default=0.05
        Probability with which the limit of any candidate may fail, in (0, 1).
    theorem : {"auto", "kl", "hoeffding", "mcdiarmid", "bernstein", "max-t"}, default="auto"
        Where the limits come from. "kl", "hoeffding" and "mcdiarmid" (that of Agarwal et al., for
        the AUC) hold for every distribution, and so does "bernstein", for means over queries.
        "max-t" is asymptotic, from the joint covariance of the candidates, and much narrower.
        "auto" is "kl" for one held-out part and "hoeffding" for several.
    cv : int, splitter, iterable or None, default=None
        How parts are held out. None is one part of a third of the rows (stratified; of the queries
        for a mean over queries), a number that of folds (over queries likewise).
    prior : array-like, callable or None, default=None
        Weights ``pi_c`` in the order of the grid, or a function of the parameters, fixed before
        the data are seen; they are divided by their sum. None is equal weights.
    refit : bool, default=True
        Whether to fit the chosen candidate to all rows. Else ``best_estimator_`` is the model that
        was scored, the one that has a guarantee; with several parts there is none.
    rule : {"max_bound", "within_noise"}, default="max_bound"
        Choose the largest lower limit; or the simplest of the candidates that a simultaneous
        paired test at ``delta`` cannot tell from the best.
    complexity : str, callable or None, default=None
        What is simpler: name of a parameter or function of the parameters, less being simpler;
        None is the order of the grid, the simplest first. It decides ties of "max_bound" too.
    n_jobs : int or None, default=None
        Number of fits at a time, as for joblib. The result does not depend on it.
    error_score : "raise" or nan, default=nan
        Whether a failing fit raises, or warns and excludes its candidate.
    verbose : int, default=0
        How much joblib tells of the progress.
    random_state : int, RandomState, Generator or None, default=None
        Source of the split for ``cv=None`` and of the draws for simultaneous limits and tests.

    Attributes
    ----------
    best_index_ : int
        The candidate that was chosen.
    best_params_ : dict
        Its parameters.
    best_score_ : float
        Mean over the parts of its measure.
    best_bound_ : float
        Its lower limit.
    best_estimator_ : estimator
        See ``refit``.
    fold_estimators_ : list of estimator
        Models of the chosen candidate, one for each part; with ``refit=False``.
    cv_results_ : dict
        A column of one value per candidate under each name: as in
        :class:`sklearn.model_selection.GridSearchCV`, and "lower_bound", "rank_bound", "prior",
        "delta" (each one's probability of failure) and "may_be_best".
    report_ : SelectionReport
        What is guaranteed, and of which quantity; print it.
    n_splits_ : int
        Number of held-out parts.
    scorer_ : RankingScorer
        The measure.
    classes_ : ndarray of shape (2,)
        Labels, of classifiers.
    n_features_in_ : int
        Number of features, of estimators that know it.

    See Also
    --------
    make_bound_scorer : Limits for searches of scikit-learn.
    StructuralRankSelection : Nothing held out.
    sklearn.model_selection.GridSearchCV : By the mean score.

    Notes
    -----
    **What is guaranteed.** One part without refit: the expected measure of ``best_estimator_``,
    given the labels and the rows it was fitted to (Theorem 10 of [1]_ for "mcdiarmid"). Several
    parts: the mean of the expected measures of the *fold models* of the chosen candidate; folds
    depend on each other, so that their limits are wider than that of one part with all their rows.
    After a refit: nothing, for the model is another one; ``report_`` has the asymptotic interval.

    **When the choice differs from that of the largest mean.** For equal weights "mcdiarmid",
    "hoeffding" and "kl" order the candidates as their means do. They differ by ``prior``, with
    "bernstein" and "max-t", whose widths depend on the candidate, and by ``rule="within_noise"``.
    That rule compares each candidate with all others by one-sided simultaneous tests; the one that
    is truly the best is kept with probability ``1 - delta``, in the limit. Several parts are taken
    as independent there. The limits hold for whatever is chosen by either rule.

    Rows are independent, and each counts once; weights may be passed to the fits, but not to the
    measure. A candidate that failed counts in the guarantee. Beyond the fits O(C n log n) time for
    C candidates and n held-out rows, O(C n) memory.

    With metadata routing, ``groups`` reach the splitter, the measure and fits that ask for them.
    Without it, ``groups`` are for splitter and measure, all else is for ``fit``, and ``qid`` is
    taken for ``groups`` if these are not given and the measure is a mean over queries.

    References
    ----------
    .. [1] Agarwal, Graepel, Herbrich, Har-Peled & Roth (2005), *Generalization bounds for the
       area under the ROC curve*, JMLR 6, Theorem 10.
    .. [2] Hsu (1996), *Multiple comparisons*, Chapman & Hall, Section 4.1: comparisons with the
       best.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> from sklearn_rank.model_selection import BoundSearchCV
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> grid = {"C": [0.001, 0.01, 0.1, 1.0, 10.0]}
    >>> model = LogisticRegression(max_iter=1000)
    >>> search = BoundSearchCV(model, grid, refit=False, random_state=0).fit(X, y)
    >>> print(search.report_)
    auc of 5 candidates on one held-out part (75/42 positives/negatives)
    chosen by max_bound: candidate 4, {'C': 10.0}
      0.8902, lower limit 0.6934 for the expected auc of the model fitted without the held-out part
    guaranteed: AUC of the chosen function - expected AUC <= 0.1968 with probability 0.95 given \
the labels [sklearn_rank, Proofs of bounds, Theorem 4, by Hoeffding (1963), Section 5b, \
min(n_pos, n_neg) independent pairs, in Chernoff's form]
        where the functions do not depend on the sample that is scored
        where items are independent given their labels
    asymptotic: 0.8902 [0.7756, 0.9500] (expected auc of the model fitted without the held-out \
part, 95 %, max-t)
    may be the best, asymptotically: 4 of 5
    best_estimator_: the model that was scored; the lower limit is for it

    The simplest that is not worse for certain:

    >>> search.set_params(rule="within_noise").fit(X, y).best_params_
    {'C': 0.01}
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        measure: str = "auc",
        delta: float = 0.05,
        theorem: str = "auto",
        cv: Any = None,
        prior: Any = None,
        refit: bool = True,
        rule: str = "max_bound",
        complexity: Any = None,
        n_jobs: int | None = None,
        error_score: Any = np.nan,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.measure = measure
        self.delta = delta
        self.theorem = theorem
        self.cv = cv
        self.prior = prior
        self.refit = refit
        self.rule = rule
        self.complexity = complexity
        self.n_jobs = n_jobs
        self.error_score = error_score
        self.verbose = verbose
        self.random_state = random_state

    # ------------------------------------------------------------------------------------- fitting

    def fit(self, X: Any, y: Any = None, **params: Any) -> BoundSearchCV:
        """Fit every candidate to the training parts and choose one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; for a precomputed kernel the square matrix.
        y : array-like of shape (n_samples,)
            Labels of two classes, or grades for a mean over queries.
        **params : dict
            ``groups``, and what the estimator's ``fit`` takes; see Notes of the class.

        Returns
        -------
        BoundSearchCV
            The search itself.

        Raises
        ------
        ValueError
            If an argument is not valid, all fits fail, a part has one class only, or a row or
            query is both held out and trained on.

        Warns
        -----
        FitFailedWarning
            If some fits fail and ``error_score`` is nan.
        UserWarning
            If the measure is the AUC and several rows share a group.
        """
        with restored_on_error(self):
            self._fit(X, y, params)
        return self

    def _fit(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        per_query = self._check_parameters()
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        X, y = indexable(X, y)
        y = column_or_1d(y, warn=True)
        if not len(y):
            raise ValueError("X and y have 0 samples: pass some.")
        fit_params, groups, qid = self._route(params, per_query, len(y))
        positive = None if per_query and not is_classifier(self.estimator) else self._positive(y)
        candidates = list(ParameterGrid(self.param_grid))
        weights = prior_weights(self.prior, candidates)
        order = simplicity(self.complexity, candidates)
        rng = check_generator(self.random_state)
        splitter = self._splitter(y, per_query, int(rng.integers(2**31)))
        splits = [
            (np.asarray(train), np.asarray(test))
            for train, test in splitter.split(X, y, groups=groups)
        ]
        _check_splits(splits, None if per_query else positive, qid)
        theorem = self._theorem(len(splits))
        fits = fit_candidates(
            self.estimator,
            candidates,
            splits,
            X,
            y,
            fit_params,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            keep=not self.refit,
            error_score=self.error_score,
        )
        alive = np.array([all(not one.failure for one in of_one) for of_one in fits])
        if not alive.any():
            raise ValueError(
                f"Each of the {len(fits)} candidates failed on some part, so that none can be"
                " chosen: see the warning of failed fits, or pass error_score='raise'."
            )
        labels = y if positive is None else positive.astype(int)
        scored = [of_one for of_one, ok in zip(fits, alive, strict=True) if ok]
        evidence = self._evidence(labels, qid, splits, scored)
        self.n_splits_ = len(splits)
        self.scorer_ = get_scorer(self.measure)
        self._choose(evidence, theorem, weights, order, alive, candidates, fits, rng)
        chosen = fits[self.best_index_]
        for name in ("best_estimator_", "fold_estimators_"):
            if hasattr(self, name):
                delattr(self, name)
        if self.refit:
            best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
            self.best_estimator_ = best.fit(X, y, **fit_params)
        else:
            self.fold_estimators_ = [one.model for one in chosen]
            if len(splits) == 1:
                self.best_estimator_ = self.fold_estimators_[0]

    def _check_parameters(self) -> bool:
        """Check what does not depend on data; return whether the measure is over queries."""
        per_query = check_measure(self.measure)
        check_delta(self.delta)
        for name, choices in (("theorem", ("auto", *theorems_of(self.measure))), ("rule", RULES)):
            if getattr(self, name) not in choices:
                listed = ", ".join(map(repr, choices))
                raise ValueError(
                    f"{name}={getattr(self, name)!r} must be one of {listed} for the measure"
                    f" {self.measure!r}."
                )
        if self.theorem == "auto" and theorems_of(self.measure) == (ASYMPTOTIC,):
            raise ValueError(
                f"theorem='auto' has no theorem for {self.measure!r}, whose values have no known"
                f" range: pass theorem={ASYMPTOTIC!r} for asymptotic limits."
            )
        score = self.error_score
        if score != "raise" and not (isinstance(score, Real) and math.isnan(score)):
            raise ValueError(f"error_score={score!r} must be 'raise' or nan.")
        return per_query

    def _theorem(self, n_parts: int) -> str:
        if self.theorem != "auto":
            return self.theorem
        return "kl" if n_parts == 1 else "hoeffding"

    def _positive(self, y: AnyArray) -> AnyArray:
        """Which rows are of the second class."""
        assert_all_finite(y, input_name="y")
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        classes = np.unique(y)
        if kind != "binary" and len(classes) != 1:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        known = classes[-1] if is_classifier(self.estimator) else None
        return check_two_classes(y, np.zeros(len(y)), known, name="y").positive

    def _splitter(self, y: AnyArray | None, per_query: bool, seed: int) -> Any:
        if self.cv is None:
            kind = GroupShuffleSplit if per_query else StratifiedShuffleSplit
            return kind(1, test_size=HELD_OUT, random_state=seed)
        if per_query and isinstance(self.cv, Integral):
            return GroupKFold(self.cv)
        return check_cv(self.cv, y, classifier=is_classifier(self.estimator))

    def _route(
        self, params: dict[str, Any], per_query: bool, n: int
    ) -> tuple[dict[str, Any], Any, Any]:
        """Return arguments of ``fit``, groups of the splitter, and ids of the queries."""
        if sklearn.get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **params)
            fit_params = dict(routed.estimator.fit)
            groups = dict(routed.splitter.split).get("groups")
            qid = dict(routed.scorer.score).get("qid")
        else:
            fit_params = {name: value for name, value in params.items() if name != "groups"}
            groups = params.get("groups")
            if groups is None and per_query:
                groups = params.get("qid")
            qid = groups
        if not per_query:
            if groups is not None and len(np.unique(check_qid(groups, n))) < n:
                if self.cv is None:
                    raise ValueError(
                        "groups were passed, but cv=None holds out rows, not groups: pass"
                        " cv=GroupShuffleSplit(1), or leave groups out."
                    )
                warnings.warn(
                    "Rows share groups, and so may depend on each other: what is said to be"
                    " guaranteed, and the intervals, are for independent rows.",
                    UserWarning,
                    stacklevel=4,
                )
            return fit_params, groups, None
        if qid is None:
            raise ValueError(
                f"{self.measure!r} is a mean over queries, but fit got no ids: pass groups=, one"
                " id per row."
            )
        return fit_params, groups, check_qid(qid, n)

    def _evidence(self, labels: AnyArray, qid: Any, splits: Any, fits: Any) -> Evidence:
        scores = [[of_one[part].scores for of_one in fits] for part in range(len(splits))]
        tests = [test for _, test in splits]
        if qid is None:
            return AUCEvidence([labels[test] == 1 for test in tests], scores)
        return query_evidence(
            self.measure, [labels[t] for t in tests], scores, [qid[t] for t in tests]
        )

    def _choose(
        self,
        evidence: Evidence,
        theorem: str,
        weights: Any,
        order: Any,
        alive: Any,
        candidates: Any,
        fits: Any,
        rng: np.random.Generator,
    ) -> None:
        """Limits for each candidate, the choice, and what is said of it."""
        n = len(candidates)
        held = weights[alive]
        shares = held / held.sum()
        deltas = self.delta * held
        if theorem == ASYMPTOTIC:
            deltas = simultaneous_tails(evidence, self.delta, shares, rng)
            unclipped = lower = evidence.lower(theorem, deltas)
        else:
            # Cut off at the end of the range, limits would tie that differ.
            unclipped = evidence.means - evidence.widths(theorem, deltas)
            lower = np.maximum(unclipped, evidence.limits[0])
        stays = may_be_best(evidence, self.delta, rng)
        place = order[alive]
        rounded = np.round(unclipped, DIGITS)
        among = stays if self.rule == "within_noise" else rounded == rounded.max()
        best = int(np.flatnonzero(among)[np.argmin(place[among])])

        def spread(values: Any, missing: Any = np.nan) -> AnyArray:
            column = np.full((n, *values.shape[1:]), missing, dtype=values.dtype)
            column[alive] = values
            return column

        table = candidate_table(candidates, fits)
        for part, column in enumerate(spread(evidence.values).T):
            table[f"split{part}_test_score"] = column
        table["mean_test_score"] = spread(evidence.means)
        table["std_test_score"] = spread(evidence.values.std(axis=1))
        table["rank_test_score"] = rank_descending(table["mean_test_score"])
        table["lower_bound"] = spread(lower)
        table["rank_bound"] = rank_descending(spread(unclipped))
        table["prior"], table["delta"] = weights, spread(deltas)
        table["may_be_best"] = spread(stays, False)
        self.cv_results_ = table
        self.best_index_ = int(np.flatnonzero(alive)[best])
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(evidence.means[best])
        self.best_bound_ = float(lower[best])
        equal = np.full(len(held), 1.0 / len(held))
        low, high = evidence.asymptotic_limits(
            simultaneous_tails(evidence, self.delta / 2.0, equal, rng)
        )
        one = evidence.n_parts == 1
        target = (
            f"expected {self.measure} of the model fitted without the held-out part"
            if one
            else f"mean expected {self.measure} of the {evidence.n_parts} fold models"
        )
        if self.refit:
            remark = "fitted anew to all rows; nothing is guaranteed of it"
        elif one:
            remark = "the model that was scored; the lower limit is for it"
        else:
            remark = "none, since there are several fold models and refit=False"
        self.report_ = SelectionReport(
            measure=self.measure,
            candidate=self.best_index_,
            params=self.best_params_,
            rule=self.rule,
            n_candidates=n,
            n_parts=evidence.n_parts,
            counts=evidence.counts(),
            value=self.best_score_,
            lower=self.best_bound_,
            target=target,
            bound=None
            if theorem == ASYMPTOTIC
            else evidence.bound(theorem, best, self.delta, held, n),
            interval=Interval(
                estimate=self.best_score_,
                low=float(low[best]),
                high=float(high[best]),
                level=1.0 - self.delta,
                method="max-t",
                target=target,
            ),
            may_be_best=tuple(np.flatnonzero(table["may_be_best"]).tolist()),
            covers_best_estimator=one and not self.refit,
            remark=remark,
        )

    # ------------------------------------------------------------------- what the best one can do

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Value of the measure for ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels or grades.
        **params : dict
            ``groups`` for a mean over queries, the ids of the queries.

        Returns
        -------
        float
            The value; more is better.
        """
        self._check_has_best()
        if sklearn.get_config()["enable_metadata_routing"]:
            params = process_routing(self, "score", **params).scorer.score
        return self.scorer_(self.best_estimator_, X, y, **params)

    @_of_best("predict")
    def predict(self, X: Any) -> AnyArray:
        """Predict by ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Its predictions.
        """
        self._check_has_best()
        return self.best_estimator_.predict(X)

    @_of_best("predict_proba")
    def predict_proba(self, X: Any) -> AnyArray:
        """Predict probabilities by ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Its probabilities.
        """
        self._check_has_best()
        return self.best_estimator_.predict_proba(X)

    @_of_best("predict_log_proba")
    def predict_log_proba(self, X: Any) -> AnyArray:
        """Predict logarithms of probabilities by ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Its logarithms of probabilities.
        """
        self._check_has_best()
        return self.best_estimator_.predict_log_proba(X)

    @_of_best("decision_function")
    def decision_function(self, X: Any) -> AnyArray:
        """Score rows by ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Its scores.
        """
        self._check_has_best()
        return self.best_estimator_.decision_function(X)

    @_of_best("rank")
    def rank(self, X: Any, qid: Any = None) -> AnyArray:
        """Find the positions of rows within their queries, by ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row; None is one query.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positions from 1, the top.
        """
        self._check_has_best()
        return self.best_estimator_.rank(X, qid=qid)

    def _check_has_best(self) -> None:
        check_is_fitted(self, "best_index_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"This {type(self).__name__} has no best_estimator_: with refit=False and"
                f" {self.n_splits_} held-out parts there is one model a part, in fold_estimators_."
            )

    @property
    def classes_(self) -> AnyArray:
        """Labels, of classifiers."""
        _of_fitted(self, "classes_")
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features, of estimators that know it."""
        _of_fitted(self, "n_features_in_")
        return self.best_estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> AnyArray:
        """Names of the features, of estimators that were fitted to a frame."""
        _of_fitted(self, "feature_names_in_")
        return self.best_estimator_.feature_names_in_

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"estimator_name": f"model_selection.{type(self).__name__}"}

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_class = False
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        tags.target_tags = deepcopy(inner.target_tags)
        tags.target_tags.required = True
        tags.input_tags = deepcopy(inner.input_tags)
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Say what is handed on: to the fits, the splitter and the measure.

        Returns
        -------
        MetadataRouter
            The requests.
        """
        per_query = check_measure(self.measure)
        scorer = get_scorer(self.measure)
        if sklearn.get_config()["enable_metadata_routing"]:
            # Weights may be for the fits; in the limits each row and query counts once.
            known = get_routing_for_object(scorer).score.requests
            weights = [name for name in ("sample_weight", "query_weight") if name in known]
            scorer.set_score_request(**dict.fromkeys(weights, False))
        router = MetadataRouter(owner=self)
        router.add(
            estimator=self.estimator,
            method_mapping=MethodMapping().add(caller="fit", callee="fit"),
        )
        router.add(
            scorer=scorer,
            method_mapping=MethodMapping()
            .add(caller="fit", callee="score")
            .add(caller="score", callee="score"),
        )
        router.add(
            splitter=self._splitter(None, per_query, 0)
            if self.cv is None or isinstance(self.cv, Integral)
            else self.cv,
            method_mapping=MethodMapping().add(caller="fit", callee="split"),
        )
        return router


def _of_fitted(search: BoundSearchCV, name: str) -> None:
    if not hasattr(search, "best_estimator_"):
        raise AttributeError(
            f"{type(search).__name__} has no {name} without a fitted best_estimator_."
        )


def _check_splits(splits: Any, positive: Any, qid: Any) -> None:
    """Refuse splits that no statement about held-out rows is true of."""
    if not splits:
        raise ValueError("cv gave no split: pass a splitter that holds out some rows.")
    for part, (train, test) in enumerate(splits):
        both = np.intersect1d(train, test)
        if len(both):
            raise ValueError(
                f"Row {both[0]} is both trained on and held out in split {part}: pass a cv whose"
                " parts are disjoint."
            )
        if len(np.unique(test)) < len(test):
            raise ValueError(f"Split {part} holds out a row twice: pass a cv that does not.")
        if positive is not None:
            n_pos = int(np.count_nonzero(positive[test]))
            if n_pos in (0, len(test)):
                kind = "positive" if n_pos == 0 else "negative"
                raise ValueError(
                    f"The {len(test)} rows held out in split {part} are of one class, with no"
                    f" {kind}: pass stratified folds, or fewer."
                )
        if qid is not None:
            cut = np.intersect1d(qid[train], qid[test])
            if len(cut):
                raise ValueError(
                    f"The query {cut.tolist()[0]!r} is cut by split {part}: pass a cv that keeps"
                    " queries whole, as GroupKFold or GroupShuffleSplit."
                )
