"""Base classes of rankers of lists: rows of queries, or labels of rows."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import check_is_fitted

from .._lists import (
    LabelType,
    Lists,
    TrainingQueries,
    check_lists,
    refuse_single_rows,
    treat_as_one_list,
)
from .._partitions import any_collection
from .._sklearn_compat import StrOptions
from .._typing import AnyArray, FloatArray
from .._validation import labels_of_fit, ravelled, refuse_marks, refuse_words, shape_of
from .._warn import warn
from ..exceptions import CalibrationWarning, LargeGainWarning, ScorerSetupError
from ..losses import TemplateLoss, get_loss, get_loss_names
from ..metrics import Measure, ScoreGeneratingFunction, get_measure, rank_positions
from ..metrics._shared import check_fixed_scale, has_exponential_gain, warn_of_trained_queries
from ._base import Ranker, refuse_blocked
from ._blocked_rows import extreme_labels


def check_gains(name: str, measure: Measure, y: FloatArray) -> None:
    if y.dtype.kind not in "biuf" or not has_exponential_gain(measure):
        return
    largest = float(y.max(initial=0))
    # float64 holds the sum of 2**g - 1 and a few gains of 1 for smaller ones.
    if not largest > np.finfo(np.float64).nmant - 2:
        return
    stem = "dcg" if measure.in_grammar()[0].startswith("dcg") else "ndcg"
    line = f'pass measure=get_measure("{stem}", gain="linear")'
    if largest >= np.finfo(np.float64).maxexp:
        raise ValueError(
            f"y contains the relevance {largest:g}, whose gain 2**y - 1 in {measure.name} is "
            f"infinite: if y is a count or an amount and not a grade, {line}."
        )
    warn(
        f"{name} got the relevance {largest:g}, whose gain 2**y - 1 in {measure.name} is so "
        f"great that a relevance of 1 is lost in float64 rounding, and {largest - 10:g} gains a "
        f"thousandth of it: if y is a count or an amount and not a grade, {line}.",
        LargeGainWarning,
    )


def check_held_out_weights(measure: Measure, lists: Lists, remedy: str = "") -> None:
    try:
        measure._check_weights(lists)
    except ValueError as error:
        raise ValueError(
            f"Held-out queries are scored by their weights. {error}{remedy}"
        ) from None


def held_out_value(measure: Measure, y: Any, qid: Any, **weights: Any) -> Callable[[Any], float]:
    """Value of a measure on held-out queries as a function of their scores; more is better."""
    lists = measure.lists(y, np.zeros(len(y)), qid=qid, **weights)
    if np.isnan(measure.values(lists)).all():
        raise ValueError(
            f"{measure.name} is undefined for all held-out queries: hold out more queries by "
            "validation_fraction=, or pass X_val=, y_val= and qid_val=."
        )
    # Queries without a value are warned of here, once.
    measure.of_lists(lists)
    sign = 1.0 if measure.greater_is_better else -1.0

    def value(scores: Any) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            return sign * float(measure.of_lists(lists.scored_by(scores, (len(lists.labels),))))

    return value


def weights_of(lists: Lists) -> FloatArray:
    return np.ones(lists.n_lists) if lists.query_weight is None else lists.query_weight


def with_query_weight(lists: Lists, factor: float) -> Lists:
    return replace(lists, query_weight=weights_of(lists) * factor)


def in_lists(X: Any, lists: Lists) -> Any:
    return X if lists.rows is None else X[lists.rows]


def checked_labels(y: Any) -> AnyArray:
    options = {"dtype": None, "ensure_2d": False, "ensure_min_samples": 0, "input_name": "y"}
    y = column_or_1d(check_array(labels_of_fit(y), **options), warn=True)
    refuse_words(y)
    refuse_marks(y, "y")
    return y


def remembered_lists(y: AnyArray, labels: LabelType, *, qid: Any, **weights: Any) -> Lists:
    lists = check_lists(
        y, labels, qid=qid, drop_queries_of_weight_0=True, by_appearance=True, **weights
    )
    if lists.weight is not None and np.all(lists.weight == 1):
        lists = replace(lists, weight=None)
    labels_of_items = y if lists.rows is None else y[lists.rows]
    # A single number for all rows is not an id.
    ids = lists.ids if shape_of(qid) else None
    return replace(lists, trained_on=TrainingQueries.of(ids, lists.offsets, labels_of_items))


class ListRanker(Ranker, metaclass=ABCMeta):
    """Base class of rankers of lists: rows of queries, or labels of rows."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "measure": [str, Measure, ScoreGeneratingFunction, callable],
        "loss": [StrOptions(set(get_loss_names(aliases=True))), TemplateLoss],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @abstractmethod
    def _scores(self, X: Any) -> FloatArray:
        """Scores of validated rows, or of the labels of each."""


class QueryRanker(ListRanker):
    """Base class of rankers of queries, whose ``predict`` returns scores.

    A subclass has the parameters ``measure`` and ``single_list``, and defines ``_scores``; its fit
    ends with :meth:`_store_queries`.
    """

    _parameter_constraints = {"single_list": ["boolean"]}

    # Dtypes of X that fit takes without conversion; others are converted to the first.
    _row_types: ClassVar[Any] = np.float64

    n_queries_: int
    training_queries_: TrainingQueries

    # With metadata routing, one array groups=... then reaches the splitter and all methods.
    __metadata_request__fit = {"qid": "groups"}
    __metadata_request__predict = {"qid": "groups"}
    __metadata_request__decision_function = {"qid": "groups"}
    __metadata_request__score = {"qid": "groups"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    @property
    def classes_(self) -> Any:
        """Not available: a ranker of queries is no classifier. The error names what is one."""
        name = type(self).__name__
        raise AttributeError(
            f"{name} ranks the rows of queries and has no classes_: use TopFocusedRanker, which "
            "is a classifier, for one list with two classes; for several "
            f"columns of relevance MultiOutputRegressor({name}(...)) of sklearn.multioutput."
        )

    def _needs_ids(self, why: str) -> ValueError:
        return ValueError(
            f"This {type(self).__name__} {why} and needs qid to score rows: pass qid=, one id per"
            " row, with all rows of each query, or qid=0 if all rows are one query (in a pipeline"
            " groups=, with metadata routing enabled; cross_val_predict passes no ids: for train,"
            " test in QueryKFold().split(X, y, qid) fit to train and predict(X[test],"
            " qid=qid[test]))."
        )

    def _checked_labelled(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, AnyArray]:
        self._refuse_blocks(X)
        return self._validated(X, y, dtype=self._row_types, y_numeric=True, reset=reset)

    def _refuse_blocks(self, X: Any) -> None:
        refuse_blocked(self, X, ", or use OrderPreservingRanker")

    def _checked_rows(self, X: Any) -> Any:
        self._refuse_blocks(X)
        return self._validated(X, reset=False)

    def _lists(
        self, X: Any, y: Any, qid: Any, weights: dict[str, Any], labels: LabelType, reset: bool
    ) -> tuple[Any, Lists]:
        """Check the arguments of ``fit``; the rows as they came, and their lists."""
        X, y = self._checked_labelled(X, y, reset=reset)
        refuse_words(y)
        name = type(self).__name__
        self._check_ids(qid, len(y))
        lists = remembered_lists(y, labels, qid=qid, **weights)
        refuse_single_rows(name, int(np.count_nonzero(lists.lengths == 1)), lists.n_lists)
        return X, lists

    def _check_ids(self, qid: Any, n: int) -> None:
        name, single_list = type(self).__name__, getattr(self, "single_list", False)
        if single_list and qid is not None and shape_of(qid):
            raise ValueError(
                f"{name} got both qid and single_list=True, which treats all rows as one query: "
                "leave out one of the two."
            )
        if qid is None and not single_list:
            instead = "pass qid=0 or set single_list=True"
            treat_as_one_list(f"{name} got no qid for {n} rows", instead)

    def _store_queries(self, lists: Any, *, add: bool = False) -> None:
        """Store how many queries were learned from, and which; ``add`` keeps those of batches."""
        queries = lists.trained_on
        if queries is None:
            raise ValueError("lists were not made by _lists: pass those that it returned.")
        self.n_queries_ = lists.n_lists + (self.n_queries_ if add else 0)
        self.training_queries_ = self.training_queries_.joined(queries) if add else queries

    def predict(self, X: Any, *, qid: Any = None) -> FloatArray:
        """Predict scores; within a query a greater score is nearer to the top.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row. It has no effect.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores. They order the rows of one query; scores of different queries need not be
            comparable.
        """
        check_is_fitted(self)
        return self._scores(self._checked_rows(X))

    def decision_function(self, X: Any, *, qid: Any = None) -> FloatArray:
        """Predict scores; the same as :meth:`predict`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row, as in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores.
        """
        return self.predict(X, qid=qid)

    def rank(self, X: Any, qid: Any = None) -> FloatArray:
        """Predict the positions of rows within their queries, 1 at the top.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row. None treats all rows as one query.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positions from 1, the top. Tied rows get the mean of their positions.
        """
        return rank_positions(self.predict(X, qid=qid), qid=qid)

    def _warn_of_measure(self) -> None:
        """Warn of a measure for which the loss is not calibrated."""

    def score(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
    ) -> float:
        """Mean over the queries of the measure set by the parameter ``measure``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Relevance.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row. Optional if the ranker was fitted to one query.
        sample_weight : array-like of shape (n_samples,), default=None
            Number of times each row counts.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of the query of each row.

        Returns
        -------
        float
            Mean over the queries; greater is better.

        Raises
        ------
        QuerySetupError
            If the ranker was trained on other rows of most of the queries.
        ScorerSetupError
            If the ranker was fitted to several queries and ``qid`` is None, ``measure`` is "err"
            or "rbp" without ``max_grade`` and there are grades other than 0 and 1, or gains
            ``2**y - 1`` overflow.

        Warns
        -----
        CalibrationWarning
            If the ranker learns utilities, and the measure is "ap" or "err", for which no
            order-preserving loss is calibrated.
        QueryOverlapWarning
            If the ranker was trained on some of the queries, or on other rows of them.
        """
        self._warn_of_measure()
        check_is_fitted(self)
        if qid is None and self.n_queries_ > 1:
            raise ScorerSetupError(
                f"This {type(self).__name__} was fitted to {self.n_queries_} queries, but score "
                "got no qid: pass qid=, one id per row, or qid=0 if all rows are one query (in a"
                " pipeline or search groups=, after"
                " sklearn.set_config(enable_metadata_routing=True); for permutation_importance"
                " scoring=functools.partial(get_scorer('ndcg'), qid=qid))."
            )
        measure = get_measure(self.measure)
        weights = {"sample_weight": sample_weight, "query_weight": query_weight}
        in_memory = not any_collection(X, y, qid, *weights.values())
        y = np.asarray(ravelled(y, "y")) if in_memory else y
        labels = y if in_memory else extreme_labels(y)
        try:
            check_fixed_scale(measure, labels)
            check_gains(type(self).__name__, measure, labels)
        except ValueError as error:
            raise ScorerSetupError(str(error)) from None
        scores = self.predict(X, qid=qid)
        if in_memory:
            warn_of_trained_queries(self, y, qid, weights)
        value = measure(y, scores, qid=qid, **weights)
        return float(value if measure.greater_is_better else -value)


def standardised_utilities(lists: Lists) -> FloatArray:
    """Utilities less their mean in each list, in standard deviations; 0 where all are equal."""
    share = lists.counts / lists.to_items(lists.sizes)
    centred = lists.grade - lists.to_items(lists.totals(share * lists.grade))
    spread = np.sqrt(lists.totals(share * centred * centred))
    constant = lists.largest(lists.grade) == -lists.largest(-lists.grade)
    return centred / lists.to_items(np.where(constant, np.inf, spread))


def calibrated_loss(
    loss: TemplateLoss | str, measure: Any, *, eta: float | None, largest: float
) -> TemplateLoss:
    if eta is not None and not isinstance(loss, str):
        raise ValueError(
            f"eta={eta:g} applies only to losses given by name, but loss is {loss!r}: set the "
            "limit of the loss object, and leave eta out."
        )
    template = get_loss(loss) if isinstance(loss, str) else loss
    if isinstance(loss, str) and np.isfinite(template.largest_utility):
        template = get_loss(loss, eta=largest if eta is None else eta)
    if not template.is_order_preserving:
        warn(
            f"{template!r} is not order-preserving: it is not calibrated for "
            f"{get_measure(measure).name} or any other measure, and its minimiser need not order "
            "items by expected utility.",
            CalibrationWarning,
        )
    return template
