"""An ensemble for queries: scores of rankers on one scale within each query, weighted."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.model_selection import GroupKFold, KFold, check_cv
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._lists import LabelType, Lists
from .._optional import import_optional, is_installed
from .._sklearn_compat import StrOptions, fit_context, rows_at, threads_for
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import refuse_misread
from .._warn import warned_once
from ..inference import Comparison, compare
from ..metrics import get_measure
from ..metrics._shared import (
    call_with_metadata,
    has_exponential_gain,
    metadata_for,
    scores_with_ids,
)
from ..preprocessing import QueryNormalizer
from ..rankers import OrderPreservingRanker
from ..rankers._shared import (
    TIED,
    Fold,
    QueryRanker,
    as_normalizer,
    check_columns,
    check_held_out_weights,
    checked_labels,
    forget,
    held_out_value,
    is_frame,
    of_taken_rows,
    restored_on_error,
    row_keys,
    store_parameters,
)
from ._group_adapter import GroupRankerAdapter
from ._members import (
    NamedMembers,
    boosted_trees,
    categorical_columns,
    fitted_weights,
    imputer,
    numbers,
    refuse_empty_columns,
    with_indicators,
    with_ordinal_codes,
)


class Fusion:
    """Scores of members, each on one scale within each query."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.normalizer: Any = as_normalizer("rank" if name == "reciprocal_rank" else name)

    def fit(self, scores: FloatArray, qid: Any, sample_weight: Any) -> Fusion:
        """Learn the statistics of the scores of a single list; nothing for several lists."""
        largest = np.abs(scores).max(axis=0, initial=0.0, where=np.isfinite(scores))
        self.step = np.where(largest > 0, largest, 1.0) * TIED
        self.normalizer.fit(self._rounded(scores), qid=qid, sample_weight=sample_weight)
        self.n_rows = len(scores) if sample_weight is None else sample_weight.sum()
        return self

    def _rounded(self, scores: FloatArray) -> FloatArray:
        """Scores to be ranked, the same for equal rows wherever they are in a matrix."""
        if self.normalizer.method != "rank":
            return scores
        return np.rint(scores / self.step)

    def values(self, scores: FloatArray, qid: Any, sample_weight: Any = None) -> FloatArray:
        """Scores on one scale. Shape (n_samples, n_members)."""
        scores = self._rounded(scores)
        values = self.normalizer.transform(scores, qid=qid, sample_weight=sample_weight)
        if self.name != "reciprocal_rank":
            return values
        if qid is None:
            length: Any = self.n_rows
        else:
            _, code = np.unique(np.broadcast_to(np.ravel(qid), len(scores)), return_inverse=True)
            length = np.bincount(code, sample_weight)[code][:, np.newaxis]
        # The share below less the share above is a linear function of the position.
        position = (length + 1.0 - length * values) / 2.0
        return 1.0 / (60.0 + position)  # Cormack, Clarke and Büttcher (2009)


# Number of queries above which boosting holds some out to stop early.
MANY_QUERIES = 1000


def default_rankers(
    X: Any, lists: Lists, measure: Any, random_state: Any
) -> tuple[list[str], list[Any]]:
    """Names and rankers for queries whose rows are of this kind."""
    n, categories = len(lists.labels), categorical_columns(X)
    seeds = [int(s) for s in check_random_state(random_state).randint(2**31 - 1, size=3)]
    grades, measure = lists.grade, get_measure(measure)
    are_small = grades.max() <= 30  # lambdarank has gains for these grades by default
    gain = "exponential" if are_small and has_exponential_gain(measure) else "linear"
    are_grades = are_small and np.all(grades == np.floor(grades))
    boosted: Any
    if is_installed("lightgbm") and are_grades and lists.whole.all():
        is_large = lists.n_lists > MANY_QUERIES
        on_values, on_ranks = (lambdarank(seed, is_large) for seed in seeds[:2])
        bag = [("values", on_values), ("ranks", with_ranks(on_ranks))]
        boosted = requesting_weights(RankEnsemble(bag, weights="equal", measure=measure))
    else:
        boosted = boosted_trees(HistGradientBoostingRegressor, n, categories, seeds[0])
        boosted = with_ranks(boosted)
    trees = ExtraTreesRegressor(
        100, min_samples_leaf=max(5, n // 25_000), max_features=1 / 3, random_state=seeds[2]
    )
    linear = requesting_weights(
        OrderPreservingRanker("softmax", measure=get_measure("dcg", gain=gain), normalize="zscore")
    )
    return ["boosted", "extra trees", "linear"], [
        with_ordinal_codes(boosted, categories),
        with_ordinal_codes(with_ranks(trees), categories),
        with_indicators(imputer(), linear, categories),
    ]


def with_ranks(member: Any) -> Any:
    """The member on features and their ranks within each query, in which each row counts once."""
    with config_context(enable_metadata_routing=True):
        ranks = QueryNormalizer("rank").set_fit_request(sample_weight=False)
        ranks.set_transform_request(sample_weight=False)
    features = FeatureUnion([("values", "passthrough"), ("ranks", ranks)])
    return make_pipeline(numbers(), features, requesting_weights(member))


def requesting_weights(step: Any) -> Any:
    """The last step of a pipeline, to which weights are passed on."""
    with config_context(enable_metadata_routing=True):
        weights = ["sample_weight"] + ["query_weight"] * isinstance(step, QueryRanker)
        return step.set_fit_request(**dict.fromkeys(weights, True))


def lambdarank(seed: int, is_large: bool) -> GroupRankerAdapter:
    """LightGBM's lambdarank; of many queries it holds some out to stop early."""
    ranker = import_optional("lightgbm", "RankEnsemble").LGBMRanker(
        learning_rate=0.05,
        n_estimators=1000 if is_large else 150,
        num_leaves=31 if is_large else 15,
        subsample=0.8,
        subsample_freq=1,
        colsample_bytree=0.5,
        random_state=seed,
        n_jobs=1,
        deterministic=True,
        force_row_wise=True,
    )
    # It stops by NDCG, its own objective.
    return GroupRankerAdapter(ranker, early_stopping=is_large, random_state=seed)


class RankEnsemble(NamedMembers, QueryRanker):
    """The ensemble for queries: scores of several rankers, standardised within each query.

    Boosted trees that are trained for NDCG, averages of randomised trees, and a linear ranker err
    in different places, and their weighted mean is often better than each. The weights come from
    queries that the members have not seen. No parameter needs tuning.

    Parameters
    ----------
    estimators : list of (str, estimator) or None, default=None
        Names and members: rankers of queries, pipelines, and regressors or classifiers, which are
        fitted without ids. The score of a classifier is ``decision_function`` or
        ``predict_proba``, or with more than two classes the expected class. None is two
        ``LGBMRanker``, :class:`~sklearn.ensemble.ExtraTreesRegressor` of the grades, and
        :class:`OrderPreservingRanker` on features normalised within queries; one ``LGBMRanker``
        and the randomised trees also see the ranks of the features within queries. Without
        LightGBM, for grades that are not whole numbers up to 30, and for weights of rows that are
        not whole, the first is :class:`~sklearn.ensemble.HistGradientBoostingRegressor`.
    weights : {"fitted", "equal"} or array-like of shape (n_members,), default="fitted"
        Weights of the members: fitted to the measure on held-out queries and drawn to each other;
        equal, or given numbers of at least 0, which needs one fit of each member only.
    fusion : {"zscore", "rank", "minmax", "reciprocal_rank"}, default="zscore"
        Scale of the scores: as in :class:`sklearn_rank.preprocessing.QueryNormalizer`, or
        ``1 / (60 + position)`` for "reciprocal_rank".
    measure : str, Measure, ScoreGeneratingFunction or callable, default="ndcg"
        Measure that weights are fitted to, by which ``comparison_`` compares, and that
        :meth:`score` computes.
    cv : int, splitter, iterable or None, default=5
        Folds of whole queries for fitted weights: their number, a splitter that takes groups, or
        pairs of training and test indices. None is 5.
    single_list : bool, default=False
        Whether all rows belong to one query. ``fit`` then takes no ``qid``.
    n_jobs : int or None, default=None
        Number of fits in parallel. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the default members; those of ``estimators`` have their own.
    verbose : int, default=0
        Verbosity level of joblib; a greater value prints more.

    Attributes
    ----------
    estimators_ : list of estimators
        The members, fitted to all rows.
    named_estimators_ : Bunch
        The same, by name.
    weights_ : ndarray of shape (n_members,)
        Weights of the members, with sum 1. Members of weight 0 are not asked for scores.
    comparison_ : Comparison
        Values of the measure on held-out queries, of each member and of the ensemble, and the
        differences ``member - ensemble`` with simultaneous intervals: the ensemble is better than
        the best member, whichever that is, if all upper limits are below 0. Only with fitted
        weights.
    held_out_scores_ : ndarray of shape (n_samples, n_members)
        Scores of the rows by fits without their queries, NaN for rows of weight 0. Only with
        fitted weights.
    fit_times_ : ndarray of shape (n_members,)
        Seconds of all fits of each member.
    fusion_ : object
        Scales the scores of the members.
    training_queries_ : object
        Record of the training queries, by which :meth:`score` and scorers warn of them.
    n_queries_ : int
        Number of queries that were used.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen in ``fit``, and their names if they are all strings.

    See Also
    --------
    RankEnsembleClassifier : The ensemble for one list of two classes.
    OrderPreservingRanker : One linear ranker, with a certified optimum.
    sklearn_rank.plotting.IntervalsDisplay : Draws ``comparison_``.

    Notes
    -----
    Scores are standardised over the rows that are scored together, so pass all rows of a query
    with their ids. An ensemble fitted to one query scales rows without ids by the statistics of
    that query.

    Weights are fitted as in :class:`RankEnsembleClassifier`. The values of ``comparison_`` are of
    weights that were fitted without the fold of a query. For fitted weights, members score
    held-out rows without weights: a member that normalises features within queries counts each
    held-out row once.

    The default members take missing values, and data frames with columns of strings or categories.
    Data frames are passed to members as they are, other rows as an array, which may contain NaN if
    every member takes it. Members get ``qid``, ``sample_weight`` and ``query_weight`` if their
    ``fit`` takes them; pipelines get what their steps request. A member that is fitted without
    ids counts a row by the product of both weights. Weights that a member does not take raise an
    error.

    The cost is that of ``cv + 1`` fits of each member, or of one fit if weights are not fitted.

    References
    ----------
    .. [1] Cormack, G. V., Clarke, C. L. A. and Büttcher, S. (2009). Reciprocal rank fusion
       outperforms Condorcet and individual rank learning methods. SIGIR, equation 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> from sklearn_rank import OrderPreservingRanker, RankEnsemble
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> qid = np.repeat(np.arange(20), 10)
    >>> y = rng.binomial(3, 1 / (1 + np.exp(-X[:, 0])))
    >>> ensemble = RankEnsemble(
    ...     [
    ...         ("linear", OrderPreservingRanker("softmax", normalize="zscore")),
    ...         ("trees", HistGradientBoostingRegressor(max_iter=5)),
    ...     ],
    ...     measure="ndcg@5",
    ... ).fit(X, y, qid=qid)
    >>> print(ensemble.comparison_)
    mean ndcg@5 over 20 queries
    hypothesis: equal ndcg@5; two-sided; max-t; level 95 %; adjusted for 2 contrasts
    best: linear, 0.8023 [0.7167, 0.8640], counting the choice among 3
    <BLANKLINE>
    ranker     value  standard error  95 % interval, all together
    ensemble  0.7974          0.0326             [0.7126, 0.8649]
    linear    0.8023          0.0328             [0.7167, 0.8698]
    trees     0.7672          0.0357             [0.6762, 0.8417]
    <BLANKLINE>
    contrast           difference       95 % interval      p  conclusion
    linear - ensemble     +0.0049  [-0.0450, +0.0549]  0.961  no difference shown
    trees - ensemble      -0.0301  [-0.0732, +0.0129]  0.196  no difference shown
    linear - ensemble: 3 queries better, 17 equal, 0 worse; about 3,800 queries would decide
    trees - ensemble: 7 queries better, 2 equal, 11 worse; about 74 queries would decide
    """

    _parameter_constraints = {
        "estimators": [list, None],
        "weights": [StrOptions({"equal", "fitted"}), "array-like"],
        "fusion": [StrOptions({"zscore", "rank", "minmax", "reciprocal_rank"})],
    }
    _sparse = False
    _example = '[("linear", OrderPreservingRanker()), ("trees", regressor)]'

    def __init__(
        self,
        estimators=None,
        *,
        weights="fitted",
        fusion="zscore",
        measure="ndcg",
        cv=5,
        single_list=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        store_parameters(locals())

    @property
    def _finite(self) -> bool | str:
        return "allow-nan"

    def _checked_labelled(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, AnyArray]:
        if not is_frame(X):
            return super()._checked_labelled(X, y, reset=reset)
        X = check_columns(self, X, y, reset=reset)
        check_consistent_length(X, y)
        return X, checked_labels(y)

    def _checked_rows(self, X: Any) -> Any:
        if not is_frame(X):
            return super()._checked_rows(X)
        return check_columns(self, X, reset=False)

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
    ) -> Self:
        """Fit the members to folds and to all rows, and the weights to held-out scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as the members take them.
        y : array-like of shape (n_samples,)
            Relevance, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row, sortable, in any order. None treats all rows as one
            query, with a warning, and is refused in searches; a number, or ``single_list=True``,
            does so without.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows. A row of weight 2 counts as two rows, a row of weight
            0.5 as half a row, a row of weight 0 is ignored.
        query_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of the query of each row, the same for all rows of a query.

        Returns
        -------
        RankEnsemble
            The estimator itself.

        Raises
        ------
        ValueError
            If an argument is not valid, a member does not take weights that are given, there are
            fewer queries than folds, or ``sample_weight`` is not whole and the measure takes no
            other weights.

        Warns
        -----
        SingleListWarning
            If ``qid`` is None without ``single_list=True``.
        """
        with restored_on_error(self):
            measure = get_measure(self.measure)
            weights = {"sample_weight": sample_weight, "query_weight": query_weight}
            refuse_misread(X=X, y=y, qid=qid, **weights)
            X, lists = self._lists(X, y, qid, weights, LabelType("graded", name="y"), reset=True)
            if self.estimators is None:
                names, members = default_rankers(X, lists, measure, self.random_state)
            else:
                names, members = self._checked_members()
            n_rows, n = len(X), len(lists.labels)
            rows = np.arange(n) if lists.rows is None else lists.rows
            items = rows_at(X, rows)
            # Weights where some were given.
            metadata = metadata_of(lists, None if sample_weight is None else lists.counts)
            for name, member in zip(names, members, strict=True):
                _check_weights(name, member, _metadata_for(member, metadata))
            folds: list[Fold] = []
            if self._fixed_weights(len(names)) is None:
                check_held_out_weights(measure, lists, ", or pass weights='equal'.")
                folds = query_folds(self.cv, items, lists, n_rows)
                test_rows = np.sort(np.concatenate([test for _, test in folds]))
                if not np.array_equal(test_rows, np.arange(n)):
                    raise ValueError(
                        "cv must hold out every query exactly once for weights='fitted': pass an"
                        " int, or a splitter whose test parts together contain all rows."
                    )
            if self.estimators is None:
                refuse_empty_columns(items, folds or [(np.arange(n), np.arange(0))])
            fit = partial(_fitted, items, lists.grade, metadata)
            score = partial(_score_rows, items, lists.list_of)
            scores = self._fit_members(names, members, folds, n, fit, score)
            forget(self, "held_out_scores_")
            if folds:
                self.held_out_scores_ = np.full((n_rows, len(names)), np.nan)
                self.held_out_scores_[rows] = scores
                self._held_out = lists, rows, folds
            # Members scale the rows of a single query by its statistics from fit, with weights.
            ids = None if lists.n_lists == 1 else lists.list_of
            scores = self._named(_member_scores(self.estimators_, items, ids))
            self.fusion_ = Fusion(self.fusion).fit(scores, lists.list_of, lists.weight)
            self._fit_weights()
            self._store_queries(lists)
        return self

    def predict(self, X: Any, *, qid: Any = None) -> FloatArray:
        """Predict scores; within a query a greater score is nearer to the top.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All rows of each query.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row. Optional if the ensemble was fitted to one query, whose
            statistics then scale the rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Weighted means of the scaled scores of the members.

        Raises
        ------
        ValueError
            If ``qid`` is None and the ensemble was fitted to several queries.
        """
        check_is_fitted(self)
        X = self._checked_rows(X)
        if qid is None and self.n_queries_ > 1:
            raise self._needs_ids(f"was fitted to {self.n_queries_} queries")
        members = [
            member if weight > 0.0 else None
            for member, weight in zip(self.estimators_, self.weights_, strict=True)
        ]
        scores = self._named(_member_scores(members, X, qid))
        return self.fusion_.values(scores, qid) @ self.weights_

    def _held_out_values(self) -> FloatArray:
        """Scores of held-out rows on one scale, in the order of the lists."""
        lists, rows, _ = self._held_out
        scores = self.held_out_scores_[rows]
        fusion = Fusion(self.fusion_.name).fit(scores, lists.list_of, lists.weight)
        return fusion.values(scores, lists.list_of, lists.weight)

    def _fitted_weights(self, values: FloatArray, items: Any) -> FloatArray:
        """Weights fitted to the measure on some of the items. Shape (n_members,)."""
        lists = self._held_out[0]
        metadata = metadata_at(metadata_of(lists, lists.weight), items)
        value = held_out_value(self._measure, lists.grade[items], **metadata)
        return fitted_weights(values[items], value)

    def _fit_weights(self) -> None:
        """Set the weights, fixed or fitted to the scores of held-out rows."""
        weights = self._fixed_weights(len(self.estimators_))
        self._measure = get_measure(self.measure)
        if weights is None:
            values = self._held_out_values()
            weights = self._fitted_weights(values, np.arange(len(values)))
        self.weights_ = weights

    def _compare(self, members: dict[str, FloatArray]) -> Comparison:
        (lists, rows, folds), values = self._held_out, self._held_out_values()
        ensemble = np.empty(len(values))
        for train, test in folds:
            ensemble[test] = values[test] @ self._fitted_weights(values, train)
        systems = {"ensemble": ensemble}
        systems |= {name: scores[rows] for name, scores in members.items()}
        options: dict[str, Any] = {"baseline": "ensemble", "random_state": 0}
        if lists.query_weight is not None:
            weight = lists.to_items(lists.query_weight)
            options |= {"sample_weight": weight, "weights": "sampling"}
        elif lists.weight is not None:
            options |= {"sample_weight": lists.weight, "weights": "frequency"}
        return compare(self._measure, lists.grade, systems, qid=lists.list_of, **options)

    def _scores(self, X: Any) -> FloatArray:
        return self.predict(X)


def _metadata_for(member: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    """Metadata of a member; without ids it counts a row by the product of both weights."""
    weight, last = metadata["query_weight"], member
    while hasattr(last, "steps"):
        last = last[-1]
    if weight is None or metadata_for(last, "fit", qid=metadata["qid"]):
        return metadata
    row_weight = metadata["sample_weight"]
    product = weight if row_weight is None else weight * row_weight
    return metadata | {"sample_weight": product, "query_weight": None}


def _check_weights(name: str, member: Any, metadata: dict[str, Any]) -> None:
    for weight in ("sample_weight", "query_weight"):
        values = metadata[weight]
        if values is not None and not metadata_for(member, "fit", **{weight: values}):
            raise ValueError(
                f"The member {name!r}, {type(member).__name__}, takes no {weight}: leave out the "
                "weights or the member, or request the weights in a step of its pipeline by "
                f"set_fit_request({weight}=True), with metadata routing enabled."
            )


def _fitted(X: Any, y: FloatArray, metadata: dict[str, Any], member: Any, rows: IntArray) -> Any:
    of_rows = metadata_at(_metadata_for(member, metadata), rows)
    with warned_once(), threads_for(X):
        return call_with_metadata(clone(member), "fit", rows_at(X, rows), y[rows], **of_rows)


def _score_rows(X: Any, qid: IntArray, model: Any, rows: IntArray) -> FloatArray:
    with threads_for(X):
        return scores_with_ids(model, rows_at(X, rows), qid[rows] if qid.any() else None)


def _member_scores(members: list[Any], X: Any, qid: Any) -> FloatArray:
    """Scores of members, 0 of those that are None. Shape (n_samples, n_members)."""
    zeros = np.zeros(len(X))
    return np.column_stack([zeros if m is None else scores_with_ids(m, X, qid) for m in members])


def query_folds(cv: Any, items: Any, lists: Lists, n_rows: int) -> list[Fold]:
    """Folds of lists, or of the rows of one list with equal rows in one fold."""
    cv = 5 if cv is None else cv
    groups = lists.list_of
    if isinstance(cv, int | np.integer):
        if lists.n_lists == 1:
            distinct, place = np.unique(row_keys(items, lists.labels), return_inverse=True)
            if len(groups) < cv:
                raise ValueError(
                    f"cv={cv} needs at least {cv} rows of one query, got n_samples={len(groups)}: "
                    "pass more rows or a smaller cv."
                )
            # Fewer folds where the rows are enough, but not different.
            n_folds = min(int(cv), max(2, len(distinct)))
            held_out = [np.isin(place, test) for _, test in KFold(n_folds).split(distinct)]
            return [(np.flatnonzero(~test), np.flatnonzero(test)) for test in held_out]
        if lists.n_lists < cv:
            raise ValueError(
                f"cv={cv} needs at least {cv} queries, got {lists.n_lists}: pass a smaller cv."
            )
        return list(GroupKFold(int(cv)).split(groups, groups=groups))
    if lists.rows is not None:
        cv = of_taken_rows(cv, lists.rows, n_rows)
    folds = list(check_cv(cv).split(groups, lists.labels, groups))
    for train, test in folds:
        shared = np.intersect1d(groups[train], groups[test])
        if len(shared) and lists.n_lists > 1:
            raise ValueError(
                f"cv splits {len(shared)} queries, such as {lists.name_of(int(shared[0]))},"
                " between training and test: pass an int, or a splitter that keeps groups whole."
            )
    return folds


def metadata_of(lists: Lists, sample_weight: FloatArray | None) -> dict[str, Any]:
    weight = lists.query_weight
    by_item = None if weight is None else lists.to_items(weight)
    return {"qid": lists.list_of, "sample_weight": sample_weight, "query_weight": by_item}


def metadata_at(metadata: dict[str, Any], items: IntArray) -> dict[str, Any]:
    return {name: None if values is None else values[items] for name, values in metadata.items()}
