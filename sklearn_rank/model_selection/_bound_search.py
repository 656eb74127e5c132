"""Selection by lower limits: a search by simultaneous ones, and scorers whose score is one."""

from __future__ import annotations

import math
from copy import deepcopy
from inspect import signature
from typing import Any, Literal, Self

import numpy as np
import sklearn
from scipy.sparse import issparse
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import _outer
from .._typing import AnyArray
from .._validation import (
    check_choice,
    check_flag,
    check_generator,
    check_level,
    check_qid,
    check_whole,
    is_number,
    is_whole,
    ravelled,
    refuse_misread,
)
from .._warn import warn
from ..exceptions import ScorerSetupError
from ..metrics import Measure, get_measure, get_scorer
from ..metrics._shared import MeasureLike, RankingScorer, check_name_of_ids, response_methods
from ..rankers._shared import Ranker, forget, restored_on_error, store_parameters
from ._candidates import (
    Choice,
    FitPlan,
    Fitted,
    candidates_of,
    check_splits,
    fit_candidates,
    labelled_rows,
    labels_read,
    named_grids,
    positive_rows,
    read_splits,
    refuse_repeated,
)
from ._guarantees import margins, theorems_of, usual_method
from ._held_out import HeldOut, asymptotics_of, refuse_one_list
from ._query_splitters import places_of


def _divide_metadata(
    search: Any, params: dict[str, Any], measure: Measure, n: int
) -> tuple[list[dict[str, Any]], Any, Any, AnyArray | None, dict[str, AnyArray]]:
    """Divide the parameters passed to ``fit`` by their receiver.

    Returns the parameters of each estimator, the amounts of the rows, the ids for the splitter,
    the query ids for a mean over queries, and by kind the ids that must not be in both parts of a
    split.
    """
    estimators = search._estimators()
    routing = sklearn.get_config()["enable_metadata_routing"]
    if routing:
        routed = process_routing(search, "fit", **params)
        fit_params = [dict(routed[name].fit) for name in _routing_names(len(estimators))]
        groups = dict(routed.splitter.split).get("groups")
        qid, value = map(dict(routed.scorer.score).get, ("qid", "value"))
    else:
        value = params.pop("value", None) if measure.of_amounts else None
        of_all = {name: params[name] for name in params if name not in ("groups", "qid")}
        ids = {name: params[name] for name in params if name == "qid"}
        fit_params = [of_all | (ids if ids and _takes_ids(x) else {}) for x in estimators]
        groups, qid = params.get("groups"), params.get("qid")
        if qid is None and measure.per_query:
            qid = groups
    are_queries = groups is qid
    groups = ravelled(groups, "groups")
    qid = groups if are_queries else ravelled(qid, "qid")
    of_split = qid if groups is None and not routing else groups
    if qid is None:
        refuse_one_list(measure, "groups=" if measure.per_query else "qid=")
    else:
        qid = np.asarray(check_qid(qid, n))
    wholes = {} if qid is None else {"query": qid}
    if groups is not None and not are_queries:
        wholes["group"] = np.asarray(check_qid(groups, n, name="groups"))
        units, what = (n, "rows") if qid is None else (len(np.unique(qid)), "queries")
        if len(np.unique(wholes["group"])) < units:
            if search.cv is None and qid is None:
                raise ValueError(
                    "groups was passed, but cv=None holds out rows, not groups: pass"
                    " cv=GroupShuffleSplit(1), or leave groups out."
                )
            warn(
                f"Several {what} share a group and may depend on each other, but the guarantees"
                f" and the intervals assume independent {what}.",
                UserWarning,
            )
    for of_estimator in fit_params:
        if of_estimator.get("qid") is not None:
            wholes["query"] = np.asarray(check_qid(of_estimator["qid"], n))
    return fit_params, value, of_split, qid, wholes


def _takes_ids(estimator: Any) -> bool:
    parameters = signature(estimator.fit).parameters.values()
    return any(x.name == "qid" or x.kind is x.VAR_KEYWORD for x in parameters)


def _routing_names(n: int) -> list[str]:
    return ["estimator"] if n == 1 else [f"estimator_{index}" for index in range(n)]


def if_fitted_has(name: str) -> Any:
    """Decorator: the method exists if the estimators in ``_asked`` have it."""

    def check(self: Any) -> bool:
        # The AttributeError names what is missing.
        for estimator in self._asked:
            getattr(estimator, name)
        return True

    return available_if(check)


def of_fitted(name: str, summary: str, returned: str) -> Any:
    """Method of the fitted estimator, ``_best``."""

    def method(self, X: Any) -> AnyArray:
        return getattr(self._best, name)(X)

    method.__name__ = name
    method.__doc__ = (
        f"{summary} with the fitted estimator.\n\nParameters\n----------\n"
        "X : {array-like, sparse matrix} of shape (n_samples, n_features)\n    Rows.\n\n"
        f"Returns\n-------\nndarray of shape {returned}.\n"
    )
    return if_fitted_has(name)(method)


class OfFitted:
    """Methods of the fitted estimator ``_best``, which exist if those in ``_asked`` have them."""

    predict_proba = of_fitted(
        "predict_proba",
        "Predict class probabilities",
        "(n_samples, 2)\n    Probability of each class",
    )
    predict_log_proba = of_fitted(
        "predict_log_proba",
        "Predict logarithms of class probabilities",
        "(n_samples, 2)\n    Logarithm of the probability of each class",
    )
    decision_function = of_fitted(
        "decision_function",
        "Compute decision values",
        "(n_samples,)\n    Decision values; a higher value ranks a row nearer to the top",
    )


class BoundSearchCV(OfFitted, MetaEstimatorMixin, Ranker):
    """Hyperparameter search by simultaneous lower confidence limits of a ranking measure.

    Let ``A_c`` be the expected measure of candidate c. The limits ``L_c`` satisfy ``P(A_c < L_c)
    <= (1 - level) pi_c``, and the prior weights ``pi_c`` sum to 1. Therefore the limit of the
    chosen candidate holds with probability ``level``, whichever is chosen.

    Parameters
    ----------
    estimator : estimator, list or dict
        Binary classifier or ranker; it is cloned. Several estimators of one kind are also
        accepted: a list of estimators or of pairs (estimator, grid), or a dict of these by name.
        In a list the name of an estimator is its class name in lower case.
    param_grid : dict, list of dict or None, default=None
        Values to try by parameter name, as in :class:`sklearn.model_selection.ParameterGrid`. None
        means the estimator without changes; it is required for several estimators, whose grids are
        in the pairs.
    measure : str, Measure, ScoreGeneratingFunction or callable, default="auc"
        The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts. It is a
        mean over queries if ``fit`` gets query ids (see Notes), which ``"ndcg@10"`` needs;
        otherwise a measure of one list with an influence function, such as ``"auc"``, ``"ap"``,
        ``"precision@top0.1"`` and ``"local_auc@0.8"``. Of a loss, such as ``"fpr@tpr0.9"``, the
        limits are upper ones and the best candidate has the smallest.
    level : float, default=0.95
        Probability that the limits of all candidates hold, in (0, 1). A greater value gives lower
        limits.
    method : str, default="auto"
        Method of the limits. Methods that are valid for every distribution: "kl" and "hoeffding"
        (the AUC and means over queries of bounded range), "mcdiarmid" (Agarwal et al., for the
        AUC), "bernstein" (means over queries), "exact" (the precision at the top) and "dkw" (other
        rank statistics of one list, such as ``"local_auc@0.8"``, ``"pnorm@4"``). "max-t", for all
        measures, is asymptotic, uses the joint covariance of the candidates, and is much narrower.
        "auto" is a guarantee if there is one, else "max-t". The guarantee is "kl" for one held-out
        part and "hoeffding" for several; "exact"; or "dkw" if the parts are large enough (see
        Notes).
    cv : int, splitter, iterable or None, default=None
        Cross-validation strategy. None means one held-out part of a third of the rows, stratified,
        or of a third of the queries for a mean over queries. An int is the number of folds, of
        whole queries for a mean over queries.
    prior : array-like, callable or None, default=None
        Weights ``pi_c`` in the order of the grid, or a function of the parameters. They must not
        depend on the data, and are divided by their sum. None means equal weights. For several
        estimators the parameters passed to the function include the name as "estimator".
    refit : bool, default=True
        Whether to refit the chosen candidate to all rows. If False and there is one held-out part,
        ``best_estimator_`` is the model that was scored, to which the guarantee applies. With
        several parts there is then no ``best_estimator_``.
    rule : {"max_bound", "within_noise"}, default="max_bound"
        "max_bound" chooses the candidate with the largest lower limit. "within_noise" chooses the
        simplest candidate that simultaneous one-sided paired tests at level ``1 - level`` do not
        distinguish from the best.
    complexity : str, callable or None, default=None
        Name of a parameter, or function of the parameters, that measures complexity; a smaller
        value is simpler. None means the order of the grid, simplest first. It also resolves ties
        of "max_bound".
    n_jobs : int or None, default=None
        Number of parallel jobs, as for joblib. The result does not depend on it.
    error_score : "raise" or nan, default=nan
        If "raise", a failing fit raises its error. If nan, it warns and its candidate is excluded.
    random_state : int, RandomState, Generator or None, default=None
        Random number generator or seed of the split for ``cv=None`` and of the draws for
        simultaneous limits and tests. Pass an int for reproducible results.
    pos_label : int, float, bool, str or None, default=None
        Label of the positive class. None means the ``pos_label`` of the estimator, or of the
        estimator it wraps, if it has one. Otherwise it means 1 for labels in {0, 1} or {-1, 1};
        for other labels of a classifier it is the greater label, with a warning.

    Attributes
    ----------
    best_index_ : int
        Index of the chosen candidate.
    best_params_ : dict
        Parameters of the chosen candidate.
    best_score_ : float
        Mean of the measure of the chosen candidate over the held-out parts.
    best_bound_ : float
        Lower limit of the chosen candidate; of a loss the upper limit.
    best_estimator_ : estimator
        Model of the chosen candidate; see ``refit``.
    fold_estimators_ : list of estimator
        Models of the chosen candidate, one for each part; only with ``refit=False``.
    cv_results_ : dict
        One array per column with one value per candidate. The columns are those of
        :class:`sklearn.model_selection.GridSearchCV`, "estimator" (the names of several
        estimators), "lower_bound" (of a loss "upper_bound"), "rank_bound", "prior", "delta"
        (probability of failure of each candidate) and "may_be_best".
    report_ : SelectionReport
        Report of the choice, the guarantee and the quantity it applies to. Printing it shows the
        text.
    n_splits_ : int
        Number of held-out parts.
    scorer_ : RankingScorer
        Scorer of the measure.
    classes_ : ndarray of shape (2,)
        Class labels, if the estimator is a classifier.
    n_features_in_ : int
        Number of features, if the estimator provides it.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        Names of the features, if the estimator was fitted to a data frame.

    See Also
    --------
    make_bound_scorer : Scorer of a lower limit, for the searches of scikit-learn.
    sklearn.model_selection.GridSearchCV : Search by the mean score.

    Notes
    -----
    **Target of the guarantee.** One part without refit: the expected measure of
    ``best_estimator_``, given the labels and the rows it was fitted to (Theorem 10 of [1]_ for
    "mcdiarmid"). For "exact" and "dkw" it is the measure of a population with the fraction of
    positives of the part. Several parts: the mean of the expected measures of the *fold models* of
    the chosen candidate. Folds depend on each other, so their limits are wider than that of one
    part with all their rows. After a refit nothing is guaranteed, because the model is a new one;
    ``report_`` has the asymptotic interval.

    **Difference to the largest mean.** With equal weights "mcdiarmid", "hoeffding" and "kl" order
    the candidates by their means; ``prior``, "bernstein" and "max-t" do not.
    ``rule="within_noise"`` keeps the truly best candidate with probability ``level``,
    asymptotically. The limits hold for either rule.

    **Several parts.** They must not share rows, as repeated folds do. "exact" and "dkw" divide
    ``1 - level`` between the parts. Asymptotic limits treat the parts as independent.

    **Choice of method by "auto".** It depends on counts and not on scores. "dkw" is used if the
    limit of a perfect order, for the given counts of each part, candidates and ``level``, keeps
    two thirds of its distance to the value of tied rows. Pass ``method="dkw"`` for the guarantee
    with fewer rows.

    Rows must be independent, and each counts once; weights may be passed to the fits, but not to
    the measure. Of a list that is labelled in part pass a random sample of all rows; the user
    guide :doc:`/user_guide/labels_in_part` shows how to keep one of the labelled rows. A candidate
    that failed still counts in the guarantee. Beyond the fits the cost is O(C n log n) time and
    O(C n) memory for C candidates and n held-out rows.

    ``qid``, the query id of each row, makes any measure a mean over queries, and the queries the
    sample; splits keep queries whole. ``groups`` are then groups of queries. For a measure of
    queries such as ``"ndcg@10"``, ``groups`` without ``qid`` are the query ids. With metadata
    routing, ``groups`` are passed to the splitter and the fits that request them, and for measures
    of queries they are the query ids. Without it, ``groups`` are passed to the splitter, ``qid``
    to each ``fit`` that takes it, and everything else to ``fit``.

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
    Chosen from 5 candidates: {'C': 10.0}, because its lower limit is the largest.
    Scored by the auc of one list on one held-out part: 75 positives and 42 negatives.
    Guaranteed (95 %): on new data the expected auc of best_estimator_ is at least 0.6934 (0.8902 \
observed, minus 0.1968 for 5 candidates and 42 negatives).
    Proof: sklearn_rank, Proofs of bounds, Theorem 4, by Hoeffding (1963), Section 5b, min(n_pos, \
n_neg) independent pairs, in Chernoff's form.
    It holds where the functions do not depend on the sample that is scored; items are \
independent given their labels.
    Asymptotically (95 %, max-t): it is between 0.7600 and 0.9502, whichever candidate was chosen.
    4 of 5 candidates do not differ significantly from the best; the choice among them is \
arbitrary.
    best_estimator_ is the model that was scored; the limits are for this model.

    The simplest candidate that is not significantly worse:

    >>> search.set_params(rule="within_noise").fit(X, y).best_params_
    {'C': 0.01}
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        measure: MeasureLike = "auc",
        level: float = 0.95,
        method: str = "auto",
        cv: Any = None,
        prior: Any = None,
        refit: bool = True,
        rule: str = "max_bound",
        complexity: Any = None,
        n_jobs: int | None = None,
        error_score: Any = np.nan,
        random_state: Any = None,
        pos_label: Any = None,
    ) -> None:
        store_parameters(locals())

    # ------------------------------------------------------------------------------------- fitting

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit every candidate to the training parts and choose the best one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; for a precomputed kernel the square matrix.
        y : array-like of shape (n_samples,)
            Labels of two classes, or grades.
        **params : dict
            ``design``, a :class:`~sklearn_rank.inference.LabelDesign` if labels are known in part
            or come late: those rows count whose labels are a random sample of all, such as the
            mature ones. ``qid``, ``groups``, for measures such as ``"profit@50"`` ``value`` (see
            :func:`sklearn_rank.metrics.get_scorer`), and the parameters of the estimator's
            ``fit``; see Notes of the class.

        Returns
        -------
        BoundSearchCV
            The fitted search.

        Raises
        ------
        TypeError
            If ``refit`` is not a bool.
        ValueError
            If an argument is not valid, all fits fail, a part has only one class, a row is held
            out twice, or a row, query or group is in the training and the test part of a split.

        Warns
        -----
        FitFailedWarning
            If some fits fail and ``error_score`` is nan.
        PositiveClassWarning
            If a classifier's labels are not in {0, 1} or {-1, 1}, and neither it nor the search
            has a ``pos_label``.
        UserWarning
            If several rows of one list, or several queries, share a group.
        """
        with restored_on_error(self):
            self._fit(X, y, params)
        return self

    def _fit(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        measure = get_measure(self.measure)
        self._check_parameters()
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        refuse_misread(**params | {"X": X, "y": y})
        if (design := params.pop("design", None)) is not None:
            of_fit = params, self.pos_label, self.cv, self.random_state
            X, y, params = _outer.labelled_sample(design, X, y, *of_fit)
        X, y = labelled_rows(X, y)
        divided = _divide_metadata(self, params, measure, len(y))
        params_of_each, value, of_split, qid, wholes = divided
        of_queries = qid is not None
        self._check_method(measure, of_queries)
        estimators = self._estimators()
        pos_label, positive = positive_rows(estimators, y, measure, self.pos_label, of_queries)
        methods = response_methods(measure)
        bases = [
            (FitPlan(estimator, X, y, fit_params, pos_label, methods=methods, name=name), grid)
            for (name, estimator, grid), fit_params in zip(
                named_grids(self.estimator, self.param_grid), params_of_each, strict=True
            )
        ]
        candidates = candidates_of(bases, self.prior, self.complexity)
        rng = check_generator(self.random_state)
        splitter = self._splitter(y, measure, of_queries, int(rng.integers(2**31)))
        made_here = self.cv is None or is_whole(self.cv)
        if made_here:
            of_split = places_of(qid if of_split is None else of_split, len(y))
        splits = read_splits(splitter, X, y, of_split)
        check_splits(splits, None if of_queries else positive, wholes)
        refuse_repeated(splits)
        fits = fit_candidates(candidates, splits, self)
        scored = np.flatnonzero([not any(fit.failure for fit in parts) for parts in fits])
        if not len(scored):
            raise ValueError(
                f"Each of the {len(fits)} candidates failed on some part, so none can be chosen:"
                " see the warning of failed fits, or pass error_score='raise'."
            )
        tests = [test for _, test in splits]
        labels, read = labels_read(measure, y, positive, value)
        evidence = HeldOut(
            read,
            [labels[test] for test in tests],
            [[fits[c][part].scores for c in scored] for part in range(len(splits))],
            None if qid is None else [qid[test] for test in tests],
        )
        self.n_splits_ = len(splits)
        is_usual, way = of_queries == measure.per_query, "qid" if of_queries else "single_list"
        scorer = {} if is_usual else {way: True}
        self.scorer_ = get_scorer(measure, pos_label=pos_label, **scorer)
        method = self.method
        if method == "auto":
            method = usual_method(evidence, 1.0 - self.level, len(candidates))
        choice = Choice(candidates, scored, evidence, method, self.level, self.rule, rng)
        self.cv_results_ = choice.results(fits)
        self.best_index_ = choice.index
        self.best_params_ = candidates[choice.index].setting
        self.best_score_ = choice.value
        self.best_bound_ = choice.limit
        self.report_ = choice.report(self.refit)
        self._keep_models(candidates[choice.index], fits[choice.index])

    def _check_parameters(self) -> None:
        check_level(self.level)
        check_choice("rule", self.rule, ("max_bound", "within_noise"))
        check_flag("refit", self.refit)
        score = self.error_score
        if score != "raise" and not (is_number(score) and math.isnan(score)):
            raise ValueError(f"error_score={score!r} must be 'raise' or nan.")

    def _check_method(self, measure: Measure, of_queries: bool) -> None:
        theorems = theorems_of(measure, of_queries)
        hint = f" for the measure {measure.name!r}{' over queries' if of_queries else ''}"
        if measure.per_query and not of_queries:
            hint += " of one list, since fit got no ids"
        check_choice("method", self.method, ("auto", *theorems, "max-t"), hint=hint)

    def _splitter(self, y: AnyArray | None, measure: Measure, of_queries: bool, seed: int) -> Any:
        if self.cv is None:
            of_classes = StratifiedShuffleSplit if measure.kind == "binary" else ShuffleSplit
            kind = GroupShuffleSplit if of_queries else of_classes
            return kind(1, test_size=1 / 3, random_state=seed)
        if is_whole(self.cv):
            check_whole("cv", self.cv, 2)
            if of_queries:
                return GroupKFold(self.cv)
        return check_cv(self.cv, y, classifier=is_classifier(self._estimators()[0]))

    def _keep_models(self, plan: FitPlan, fits: list[Fitted]) -> None:
        """Store the models of the chosen candidate, and delete the models of an earlier fit."""
        of_best = ("classes_", "n_features_in_", "feature_names_in_")
        forget(self, "best_estimator_", "fold_estimators_", *of_best)
        if self.refit:
            best = clone(plan.estimator).set_params(**clone(self.best_params_, safe=False))
            self.best_estimator_ = best.fit(plan.X, plan.y, **plan.params)
        else:
            self.fold_estimators_ = [fit.model for fit in fits]
            if len(fits) == 1:
                self.best_estimator_ = self.fold_estimators_[0]
        for name in of_best:
            if hasattr(getattr(self, "best_estimator_", None), name):
                setattr(self, name, getattr(self.best_estimator_, name))

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Score the predictions of ``best_estimator_`` by the measure.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels or grades.
        **params : dict
            ``qid``, the query id of each row, for a mean over queries; ``groups`` for a measure of
            queries such as ``"ndcg@10"``.

        Returns
        -------
        float
            The value of the measure; a greater value is better.
        """
        best = self._best
        if sklearn.get_config()["enable_metadata_routing"]:
            params = process_routing(self, "score", **params).scorer.score
        return self.scorer_(best, X, y, **params)

    predict = of_fitted("predict", "Predict", "(n_samples,)\n    Predictions of the estimator")

    @if_fitted_has("rank")
    def rank(self, X: Any, qid: Any = None) -> AnyArray:
        """Compute the rank of each row within its query with ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        qid : array-like of shape (n_samples,), default=None
            Query id of each row, in any order. None means one query.

        Returns
        -------
        ndarray of shape (n_samples,)
            Ranks from 1, the top.
        """
        return self._best.rank(X, qid=qid)

    @property
    def _asked(self) -> list[Any]:
        best = getattr(self, "best_estimator_", None)
        return self._estimators() if best is None else [best]

    @property
    def _best(self) -> Any:
        check_is_fitted(self, "best_index_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"This {type(self).__name__} has no best_estimator_: with refit=False and"
                f" {self.n_splits_} held-out parts there is one model per part, in"
                " fold_estimators_."
            )
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        estimator, *others = self._estimators()
        tags, inner = super().__sklearn_tags__(), get_tags(estimator)
        for kind in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags"):
            setattr(tags, kind, deepcopy(getattr(inner, kind)))
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_class = False
        tags.target_tags.required = True
        tags.input_tags = deepcopy(inner.input_tags)
        for estimator in others:
            inputs = get_tags(estimator).input_tags
            tags.input_tags.sparse &= inputs.sparse
            tags.input_tags.allow_nan &= inputs.allow_nan
        return tags

    def _estimators(self) -> list[Any]:
        return [estimator for _, estimator, _ in named_grids(self.estimator, self.param_grid)]

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing of the fits, the splitter and the measure.

        Returns
        -------
        MetadataRouter
            The requests.
        """
        measure = get_measure(self.measure)
        made_here = self.cv is None or is_whole(self.cv)
        splitter = self._splitter(None, measure, measure.per_query, 0) if made_here else self.cv
        # For a measure of queries the group ids are the query ids.
        scorer = get_scorer(measure, qid=None if measure.per_query else True)
        if sklearn.get_config()["enable_metadata_routing"]:
            # Weights may be for the fits; in the limits each row and query counts once.
            requests = get_routing_for_object(scorer).score.requests
            weights = [name for name in ("sample_weight", "query_weight") if name in requests]
            scorer.set_score_request(**dict.fromkeys(weights, False))
            if measure.of_amounts:
                scorer.set_score_request(value=True)

        def mapping(caller: str, callee: str) -> MethodMapping:
            return MethodMapping().add(caller=caller, callee=callee)

        router = MetadataRouter(owner=self)
        estimators = self._estimators()
        for name, estimator in zip(_routing_names(len(estimators)), estimators, strict=True):
            router.add(method_mapping=mapping("fit", "fit"), **{name: estimator})
        of_scorer = mapping("fit", "score").add(caller="score", callee="score")
        router.add(scorer=scorer, method_mapping=of_scorer)
        return router.add(splitter=splitter, method_mapping=mapping("fit", "split"))


Method = Literal["kl", "hoeffding", "mcdiarmid", "bernstein", "wilson", "t", "influence"]


def make_bound_scorer(
    measure: MeasureLike = "auc",
    *,
    level: float = 0.95,
    method: Method = "kl",
    n_candidates: int = 1,
    qid: str | bool | None = None,
    pos_label: Any = None,
) -> RankingScorer:
    """Make a scorer that returns a lower confidence limit of a ranking measure.

    With probability ``level`` the expected measure of *one* model, or of a loss its negative,
    is at least its score on rows that it was not fitted to. With ``n_candidates`` this holds for
    that many models simultaneously, each at ``1 - (1 - level) / n_candidates``.

    Parameters
    ----------
    measure : str, Measure, ScoreGeneratingFunction or callable, default="auc"
        The measure, in any form that :func:`sklearn_rank.metrics.get_measure` accepts: the AUC, a
        mean over queries such as ``"ndcg@10"``, or a measure of one list with an influence
        function such as ``"local_auc@0.8"``.
    level : float, default=0.95
        Probability that the limit holds, in (0, 1). A greater value gives smaller scores.
    method : str, default="kl"
        Methods that are valid for every distribution: "kl" and "hoeffding" for the AUC and for
        means over queries of bounded range, "mcdiarmid" (Agarwal et al.) for the AUC, and
        "bernstein" for means over queries. Asymptotic methods, which are much narrower: "wilson"
        for the AUC, the Gini coefficient and means over queries of bounded range, "t" for means
        over queries, and "influence" for measures of one list.
    n_candidates : int, default=1
        Number of models that are compared on the same rows, at least 1.
    qid : str, bool or None, default=None
        Name under which the scorer requests the query ids if metadata routing is enabled; its
        limit is for the mean over queries. None means "groups" for a measure of queries such as
        ``"ndcg@10"``, and the measure of one list for others, such as ``"auc"``.
    pos_label : int, float, bool, str or None, default=None
        Label of the positive class. None means the ``pos_label`` of the estimator, or of the
        estimator it wraps, if it has one. Otherwise it means 1 and requires labels in {0, 1} or
        {-1, 1}.

    Returns
    -------
    RankingScorer
        Callable ``scorer(estimator, X, y, qid=None)``, for ``scoring=`` in scikit-learn. Its
        attribute ``statement`` says what a score means.

    Raises
    ------
    ValueError
        If an argument is out of range, or the method does not support the measure.

    See Also
    --------
    BoundSearchCV : Search with simultaneous lower limits for all candidates.
    sklearn_rank.metrics.get_scorer : Scorer of the measure itself.
    sklearn_rank.inference.metric_interval : Two-sided interval, with more methods.

    Notes
    -----
    A score is a limit for one model on one held-out part. Over K folds the mean of K scores is a
    lower limit for the mean expectation of the fold models with probability ``1 - K (1 - level)``
    only. It is no limit for the model fitted to all rows. In a search, set ``n_candidates`` to the
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
    >>> scorer = make_bound_scorer("auc", level=0.95)
    >>> model = LogisticRegression(max_iter=1000)
    >>> cross_val_score(model, X, y, cv=3, scoring=scorer).round(2)
    array([0.61, 0.66, 0.84])

    The meaning of a score, in words:

    >>> print(scorer.statement)
    With probability 0.95 the expected auc of the model is no less than the score, for one model \
on rows it was not fitted to (kl).
    """
    measure = get_measure(measure)
    check_level(level)
    check_whole("n_candidates", n_candidates)
    check_name_of_ids(qid)
    of_queries = measure.per_query or bool(qid)
    if not of_queries:
        refuse_one_list(measure)
    asymptotic = asymptotics_of(measure, of_queries)
    hint = f" for {measure.name!r}{' over queries' if of_queries else ''}"
    if method in ("wilson", "t", "influence"):
        hint += f"; {method!r} is for other measures"
    check_choice("method", method, (*theorems_of(measure, of_queries), *asymptotic), hint=hint)
    kwargs = {} if pos_label is None else {"pos_label": pos_label}
    return _BoundScorer(float(level), method, int(n_candidates), measure, kwargs, qid)


class _BoundScorer(RankingScorer):
    """Scorer of a lower confidence limit."""

    def __init__(
        self, level: float, method: str, n_candidates: int, measure: Measure, kwargs: Any, qid: Any
    ) -> None:
        self.level, self.method, self.n_candidates = level, method, n_candidates
        self.of_queries = measure.per_query or bool(qid)
        super().__init__(measure, kwargs, qid, False)

    def _check_queries(self, estimator: Any, given: bool) -> None:
        if given and not self.of_queries:
            raise ScorerSetupError(
                f"qid was passed to {self!r}, whose limit is for one list: make it with qid='qid'"
                " for the mean over queries, or leave qid out."
            )
        if self.of_queries and not given:
            raise ScorerSetupError(
                f"{self!r} got no qid, but its limit is for queries: pass qid=, in a search"
                " fit(..., groups=...), after sklearn.set_config(enable_metadata_routing=True)."
            )
        super()._check_queries(estimator, given)

    def _value(self, y_true: Any, y_score: Any, **arguments: Any) -> float:
        qid = [arguments["qid"]] if self.of_queries else None
        pos_label = arguments.get("pos_label")
        model = HeldOut(self.measure, [y_true], [[y_score]], qid, pos_label=pos_label)
        deltas = np.array([(1.0 - self.level) / self.n_candidates])
        if self.method in asymptotics_of(self.measure, self.of_queries):
            lower = model.asymptotic_limits(deltas, self.method)[0]
        else:
            lower = np.maximum(model.means - margins(model, self.method, deltas), model.range[0])
        # The scorer has the sign.
        return model.sign * float(lower[0])

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
        of_method = asymptotics_of(self.measure, self.of_queries)
        asymptotic = ", asymptotic" if self.method in of_method else ""
        queries = " over queries" if self.of_queries and not self.measure.per_query else ""
        of_loss = "" if self.measure.greater_is_better else "minus "
        return (
            f"With probability {self.level:.6g} {of_loss}the expected {self.measure.name}{queries}"
            f" of the model is no less than the score, for {models} on rows it was not fitted to"
            f" ({self.method}{asymptotic})."
        )

    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any
    ) -> float:
        for name in ("sample_weight", "query_weight"):
            if name in kwargs:
                raise ScorerSetupError(
                    f"{name} was passed to {self!r}, but limits take no weights: leave it out."
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
            f"make_bound_scorer({self.measure.name!r}, level={self.level!r},"
            f" method={self.method!r}, n_candidates={self.n_candidates!r}"
            + ("" if self._qid is None else f", qid={self._qid!r}")
            + "".join(f", {name}={value!r}" for name, value in self._kwargs.items())
            + ")"
        )
