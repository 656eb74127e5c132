"""LightGBM, XGBoost and CatBoost as rankers of queries."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection
from copy import copy
from inspect import signature
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import (
    assert_all_finite,
    check_consistent_length,
    check_random_state,
    column_or_1d,
    get_tags,
)
from sklearn.utils.validation import check_is_fitted

from .._lists import LabelType, Lists
from .._optional import import_optional, lightgbm_aliases, refuse_unknown_parameters
from .._order import stable_order
from .._sklearn_compat import HasMethods, StrOptions, fit_context, rows_at
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import (
    check_positions,
    check_vector,
    hint_of_adaboost,
    labels_of_fit,
    refuse_marks,
    refuse_misread,
    validate_data,
)
from .._warn import warn
from ..exceptions import LargeGainWarning
from ..metrics import Measure, get_measure
from ..metrics._shared import check_fixed_scale
from ..rankers._shared import (
    QueryRanker,
    check_columns,
    forget,
    held_out_value,
    is_frame,
    mixed_bits,
    refuse_blocked,
    restored_on_error,
    row_keys,
    store_parameters,
    summed,
)


class GroupedRows(NamedTuple):
    """Rows of queries, one query after the other."""

    X: Any
    labels: FloatArray
    sizes: IntArray
    query_weight: FloatArray | None
    position: IntArray | None = None
    init_score: FloatArray | None = None

    @property
    def codes(self) -> IntArray:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def row_weight(self) -> FloatArray | None:
        return None if self.query_weight is None else np.repeat(self.query_weight, self.sizes)


def ordered_by_content(X: Any, lists: Lists, *columns: AnyArray) -> Lists:
    """Order the rows of each query, and the queries, by hashes of features, labels and columns."""
    n = X.shape[0]
    rows = np.arange(n) if lists.rows is None else lists.rows
    keys = row_keys(X, lists.to_rows(lists.labels, n), *columns)[rows]
    # A row of weight 2 counts as two of them.
    repeated = keys if lists.weight is None else keys * lists.weight.astype(np.uint64)
    list_keys = np.add.reduceat(repeated, lists.offsets[:-1])
    if lists.query_weight is not None:
        list_keys += mixed_bits(lists.query_weight - 1.0)
    list_order = np.argsort(list_keys)
    list_rank = np.empty(lists.n_lists, dtype=np.intp)
    list_rank[list_order] = np.arange(lists.n_lists)
    order = np.argsort(keys)
    order = order[stable_order(lists.to_items(list_rank)[order])]
    return lists.take(list_order, order)


def grouped_rows(X: Any, lists: Lists, **columns: AnyArray) -> GroupedRows:
    rows, labels, sizes = lists.rows, lists.grade, lists.lengths
    if lists.weight is not None:
        counts = lists.weight.astype(np.intp)
        rows = np.repeat(np.arange(X.shape[0]) if rows is None else rows, counts)
        labels = np.repeat(labels, counts)
        sizes = np.add.reduceat(counts, lists.offsets[:-1])
    if rows is not None:
        X = rows_at(X, rows)
        columns = {name: values[rows] for name, values in columns.items()}
    return GroupedRows(X, labels, sizes, lists.query_weight, **columns)


class EarlyStopping:
    """Validation rows, and the values of a measure on them, round by round; more is better."""

    def __init__(self, measure: Measure, rows: GroupedRows, patience: int) -> None:
        self.rows, self.patience = rows, patience
        self.values: list[float] = []
        self._value = held_out_value(
            measure, rows.labels, rows.codes, query_weight=rows.row_weight
        )

    def add(self, scores: Any) -> float:
        self.values.append(self._value(scores))
        return self.values[-1]

    @property
    def best(self) -> int:
        return int(np.argmax(self.values))


class GroupBooster:
    """Any estimator whose ``fit`` takes sizes or ids of groups."""

    # Whether the library is supported, and its parameters for early stopping.
    is_supported = False
    stopping_params: tuple[str, ...] = ()
    # Parameter that makes the library read positions or times from the order of the rows.
    order_param = ""
    # Characters that the library refuses in names of features.
    forbidden = "(?!)"
    # Columns of fit that the library takes, beside features and labels.
    columns: tuple[str, ...] = ()

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.name = type(estimator).__name__

    def ids_argument(self) -> str:
        parameters = signature(self.estimator.fit).parameters
        for name in ("group_id", "qid", "group"):
            if name in parameters:
                return name
        hint = ": make the adapter its last step" if hasattr(self.estimator, "steps") else ""
        raise TypeError(
            f"fit of {self.name} takes none of group_id, qid, group to define the queries"
            f"{hint}; pass a ranker such as LGBMRanker(), XGBRanker() or CatBoostRanker()."
        )

    def check_stopping(self) -> None:
        if not self.is_supported:
            raise ValueError(
                f"early_stopping=True is not supported for {self.name}: set "
                "early_stopping=False, or use LGBMRanker, XGBRanker or CatBoostRanker."
            )
        parameters = self.estimator.get_params()
        for name in self.stopping_params:
            if parameters.get(name) not in (None, False):
                raise ValueError(
                    f"early_stopping=True conflicts with {name}={parameters[name]!r} of "
                    f"{self.name}: unset {name}, and set n_iter_no_change= of the adapter."
                )

    def check_columns(self, columns: Collection[str], row_order: str, weight: Any) -> None:
        """Raise an error for columns, an order or weights of rows that the library cannot use."""
        for name in columns:
            if name not in self.columns:
                alternative = "XGBRanker" if name == "position" else "XGBRanker or CatBoostRanker"
                raise ValueError(
                    f"{name} was given, but is not supported for {self.name}: leave it out, or "
                    f"use LGBMRanker, {alternative}."
                )
        value = self.estimator.get_params().get(self.order_param)
        if value and row_order == "content" and "position" not in columns:
            alternative = "position= to fit, or " if "position" in self.columns else ""
            raise ValueError(
                f"{self.order_param}={value!r} of {self.name} reads positions or times from the "
                "order of the rows, but row_order='content' sorts them by their values: pass "
                f"{alternative}GroupRankerAdapter(..., row_order='given') with the rows in this "
                f"order, or unset {self.order_param}."
            )

    def order_by_position(self, lists: Lists, position: IntArray) -> Lists:
        """Rows in the order in which the library takes those at given positions."""
        return lists

    def rows(self, X: Any) -> Any:
        """Rows as the library takes them: of sparse ones a matrix of floats without duplicates."""
        if not self.is_supported:
            return X
        if sp.issparse(X):
            X = summed(sp.csr_matrix(X, dtype=np.float32 if X.dtype == np.float32 else np.float64))
            # It takes indices of 32 bits where these are enough.
            return sp.csr_matrix((X.data, X.indices, X.indptr), X.shape)
        if not is_frame(X):
            return X.astype(X.dtype.newbyteorder("="), copy=False)
        names = [self.name_of_feature(name) for name in X.columns]
        if names != [str(name) for name in X.columns]:
            X = X[:]
            X.columns = names
        return X

    def name_of_feature(self, name: Any) -> str:
        return re.sub(self.forbidden, lambda found: f"%{ord(found[0]):x}", str(name))

    def fit(self, rows: GroupedRows, stopping: EarlyStopping | None) -> None:
        name = self.ids_argument()
        arguments: dict[str, Any] = {name: rows.sizes if name == "group" else rows.codes}
        if rows.query_weight is not None:
            if "query_weight" not in signature(self.estimator.fit).parameters:
                raise ValueError(
                    f"query_weight was given, but is not supported for {self.name}: leave it "
                    "out, or use LGBMRanker, XGBRanker or CatBoostRanker."
                )
            arguments["query_weight"] = rows.row_weight
        self.estimator.fit(rows.X, rows.labels, **arguments)

    def predict(self, X: Any, init_score: FloatArray | None = None, **options: Any) -> Any:
        scores = self.estimator.predict(X, **options)
        return scores if init_score is None else scores + init_score

    def importances(self) -> FloatArray:
        return self.estimator.feature_importances_

    def n_rounds(self) -> int | None:
        """Number of rounds of which scores are sums; None where there are no rounds."""
        return None


class LightGBM(GroupBooster):
    """LGBMRanker: sizes of groups, weights of rows, metrics by any function."""

    stopping_params = (
        "early_stopping_round",
        "early_stopping_rounds",
        "early_stopping",
        "n_iter_no_change",
    )
    is_supported = True
    forbidden = r'[",:\[\]{}]'
    columns = ("position", "init_score")

    def rows(self, X: Any) -> Any:
        if is_frame(X) and not hasattr(X, "iloc"):
            strings = [name for name in X.columns if X[name].to_numpy().dtype.kind not in "biuf"]
            if strings:
                # They would end the process.
                raise ValueError(
                    f"{self.name} takes columns of words and categories in pandas frames only, "
                    f"but X has {', '.join(map(repr, strings))}: pass X.to_pandas(), with these "
                    "columns as dtype 'category'."
                )
        return super().rows(X)

    def parameter(self, name: str) -> Any:
        """Value of a parameter, by whichever of its names it is set."""
        values = self.estimator.get_params()
        aliases = lightgbm_aliases(import_optional("lightgbm", "GroupRankerAdapter"))[name]
        return next((values[alias] for alias in aliases if values.get(alias) is not None), None)

    def check_columns(self, columns: Collection[str], row_order: str, weight: Any) -> None:
        name = "lambdarank_position_bias_regularization"
        if self.estimator.get_params().get(name) and "position" not in columns:
            raise ValueError(
                f"{name} of {self.name} has no effect without positions: pass position=, the "
                f"position at which each row was shown, to fit, or unset {name}."
            )
        # Others compute their gradients without the positions.
        for name, values in {
            "objective": (None, "lambdarank"),
            "boosting": (None, "gbdt", "gbrt", "dart", "goss"),
        }.items():
            value = self.parameter(name)
            if "position" in columns and value not in values:
                raise ValueError(
                    f"position= has no effect with {name}={value!r} of {self.name}: leave it out, "
                    f"or leave {name} at its default."
                )

    def fit(self, rows: GroupedRows, stopping: EarlyStopping | None) -> None:
        lightgbm = import_optional("lightgbm", "GroupRankerAdapter")
        # LightGBM prints only if requested.
        if not {"verbose", "verbosity"} & set(self.estimator.get_params()):
            self.estimator.set_params(verbosity=-1)
        # Its default metric, NDCG, refuses labels that an objective of the user may take.
        if callable(self.parameter("objective")) and self.parameter("metric") is None:
            self.estimator.set_params(metric="None")
        options: dict[str, Any] = {"callbacks": []}
        if isinstance(categories := self.parameter("categorical_feature"), list | tuple):
            options["categorical_feature"] = [
                self.name_of_feature(name) if isinstance(name, str) else name
                for name in categories
            ]
        if rows.position is not None:
            options["callbacks"].append(_position_callback(rows.position))
        if stopping is not None:
            self.estimator.set_params(metric="None")
            add = stopping.add

            # A function, since LightGBM copies objects with attributes.
            def measure(y_true: Any, y_pred: FloatArray) -> tuple[str, float, bool]:
                return "measure", add(y_pred), True

            held_out = stopping.rows
            options |= {
                "eval_X": (held_out.X,),
                "eval_y": (held_out.labels,),
                "eval_group": [held_out.sizes],
                "eval_init_score": None if held_out.init_score is None else [held_out.init_score],
                "eval_metric": measure,
            }
            options["callbacks"].append(lightgbm.early_stopping(stopping.patience, verbose=False))
        with warnings.catch_warnings():
            # LightGBM warns that it ignores a parameter that it does use.
            warnings.filterwarnings("ignore", "(cat|categorical)_(feature|column)s? ", UserWarning)
            self.estimator.fit(
                rows.X,
                rows.labels,
                group=rows.sizes,
                sample_weight=rows.row_weight,
                init_score=rows.init_score,
                **options,
            )

    def n_rounds(self) -> int:
        best = self.estimator.booster_.best_iteration
        return best if best > 0 else self.estimator.booster_.current_iteration()


def _position_callback(position: IntArray) -> Callable[[Any], None]:
    """Callback of LightGBM that gives positions to the training rows, which LGBMRanker cannot."""

    def before_first_round(env: Any) -> None:
        if env.iteration == env.begin_iteration:
            env.model.train_set.set_position(position.astype(np.int32))
            # The objective reads them when it is made.
            env.model.reset_parameter({"objective": "lambdarank"})

    before_first_round.before_iteration = True  # type: ignore[attr-defined]
    return before_first_round


class XGBoost(GroupBooster):
    """XGBRanker: ids of consecutive rows, one weight per query, callbacks that see the booster."""

    stopping_params = ("early_stopping_rounds",)
    is_supported = True
    forbidden = r"[\[\]<]"
    order_param = "lambdarank_unbiased"
    columns = ("position", "init_score")

    def check_columns(self, columns: Collection[str], row_order: str, weight: Any) -> None:
        is_unbiased = self.estimator.get_params().get("lambdarank_unbiased")
        if "position" in columns and not is_unbiased:
            raise ValueError(
                f"position= has no effect on {self.name} without lambdarank_unbiased=True: set "
                "it, or leave position= out."
            )
        repeats = weight is not None and np.any(np.asarray(weight) != 1)
        if is_unbiased and "position" not in columns and repeats:
            raise ValueError(
                f"lambdarank_unbiased=True of {self.name} reads the order of the rows as the "
                "positions at which they were shown, but rows are repeated or left out according "
                "to sample_weight: leave sample_weight out, or pass query_weight=."
            )
        super().check_columns(columns, row_order, weight)

    def order_by_position(self, lists: Lists, position: IntArray) -> Lists:
        item_position = position if lists.rows is None else position[lists.rows]
        order = np.lexsort((item_position, lists.list_of))
        lists, item_position = lists.take(np.arange(lists.n_lists), order), item_position[order]
        expected = 1 + np.arange(len(order)) - lists.to_items(lists.offsets[:-1])
        invalid = (item_position != expected) | (lists.counts != 1)
        if invalid.any():
            item = int(np.argmax(invalid))
            raise ValueError(
                f"{self.name} takes the rows of a query for those at the positions 1, 2, ..., but "
                f"in {lists.name_of(int(lists.list_of[item]))} row {expected[item]} is at "
                f"position {item_position[item]} and has the weight {lists.counts[item]:g}: pass "
                "each row that was shown once, or use LGBMRanker, which takes positions with gaps."
            )
        return lists

    def fit(self, rows: GroupedRows, stopping: EarlyStopping | None) -> None:
        callbacks = self.estimator.get_params().get("callbacks")
        if stopping is not None:
            # Not by set_params, which sets the parameters of a fitted model, lists among them.
            self.estimator.callbacks = [*(callbacks or []), self._callback(stopping)]
        try:
            self.estimator.fit(
                rows.X,
                rows.labels,
                qid=rows.codes,
                sample_weight=rows.query_weight,
                base_margin=rows.init_score,
            )
        finally:
            self.estimator.callbacks = callbacks

    def predict(self, X: Any, init_score: FloatArray | None = None, **options: Any) -> Any:
        return super().predict(X, base_margin=init_score)

    def n_rounds(self) -> int:
        booster = self.estimator.get_booster()
        best = booster.attr("best_iteration")
        return booster.num_boosted_rounds() if best is None else int(best) + 1

    def _callback(self, stopping: EarlyStopping) -> Any:
        xgboost = import_optional("xgboost", "GroupRankerAdapter")
        base: Any = xgboost.callback.TrainingCallback
        # XGBoost keeps the scores of a matrix that it has seen, and adds those of the new trees.
        matrix = xgboost.DMatrix(
            stopping.rows.X,
            base_margin=stopping.rows.init_score,
            missing=self.estimator.missing,
            enable_categorical=self.estimator.enable_categorical,
            feature_types=self.estimator.feature_types,
            nthread=self.estimator.n_jobs,
        )

        class ValidationCallback(base):
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                stopping.add(model.predict(matrix, output_margin=True))
                return len(stopping.values) - 1 - stopping.best >= stopping.patience

            def after_training(self, model: Any) -> Any:
                best = stopping.best
                model.set_attr(best_iteration=str(best), best_score=str(stopping.values[best]))
                return model

        return ValidationCallback()


class CatBoost(GroupBooster):
    """CatBoostRanker: ids of consecutive rows, weights of groups, metrics by an object."""

    stopping_params = ("early_stopping_rounds", "od_wait", "od_pval", "od_type")
    is_supported = True
    order_param = "has_time"
    verbosity_params = ("verbose", "silent", "logging_level", "verbose_eval", "metric_period")
    column_params = ("cat_features", "text_features", "embedding_features")
    columns = ("init_score",)

    def fit(self, rows: GroupedRows, stopping: EarlyStopping | None) -> None:
        # CatBoost prints and writes files only if requested.
        parameters = self.estimator.get_params()
        if parameters.get("allow_writing_files") is None:
            self.estimator.set_params(allow_writing_files=False)
        loss = parameters.get("objective") or parameters.get("loss_function")
        if str(loss).startswith("QuerySoftMax") and rows.labels.max() > 30:
            warn(
                f"{self.name} got the relevance {rows.labels.max():g}, and steps of QuerySoftMax "
                "are in proportion to it, so that its first rounds may lose all order: pass "
                "y / y.max(), whose scores have the same optimum.",
                LargeGainWarning,
            )
        options: dict[str, Any] = {}
        if not any(name in parameters for name in self.verbosity_params):
            options["verbose"] = False
        metric = None
        if stopping is not None:
            metric = CatBoostMeasure(rows, stopping)
            self.estimator.set_params(eval_metric=metric)
            kinds = {name: parameters.get(name) for name in self.column_params}
            pool = import_optional("catboost", "GroupRankerAdapter").Pool
            options["eval_set"] = pool(
                stopping.rows.X,
                stopping.rows.labels,
                group_id=stopping.rows.codes,
                baseline=stopping.rows.init_score,
                **kinds,
            )
            options["early_stopping_rounds"] = stopping.patience
            options["use_best_model"] = True
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Can't optimze method", UserWarning)
            self.estimator.fit(
                rows.X,
                rows.labels,
                group_id=rows.codes,
                group_weight=rows.row_weight,
                baseline=rows.init_score,
                **options,
            )
        if metric is not None:
            metric.stopping = None

    def predict(self, X: Any, init_score: FloatArray | None = None, **options: Any) -> Any:
        threads = self.estimator.get_params().get("thread_count")
        return super().predict(X, init_score, thread_count=-1 if threads is None else threads)

    def importances(self) -> FloatArray:
        # This kind needs no rows.
        return self.estimator.get_feature_importance(type="PredictionValuesChange")

    def n_rounds(self) -> int:
        return int(self.estimator.tree_count_)


class CatBoostMeasure:
    """A measure as CatBoost takes metrics: a function of scores and labels, without queries.

    It is asked for on the training rows and then on the validation rows, once a round.
    """

    def __init__(self, rows: GroupedRows, stopping: EarlyStopping) -> None:
        self.stopping: EarlyStopping | None = stopping
        labels, others = (part.labels.astype(np.float32) for part in (rows, stopping.rows))
        self.same_labels, self.is_validation = np.array_equal(labels, others), True

    def __deepcopy__(self, memo: Any) -> CatBoostMeasure:
        # CatBoost copies its parameters, but the values are needed here.
        return self

    def __getstate__(self) -> dict[str, Any]:
        # CatBoost has put functions beside the methods that cannot be pickled.
        return {"stopping": None}

    def is_max_optimal(self) -> bool:
        return True

    def get_final_error(self, error: float, weight: float) -> float:
        return error

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        if self.stopping is None:
            return 0.0, 1.0
        if self.same_labels:
            self.is_validation = not self.is_validation
        else:
            labels = self.stopping.rows.labels.astype(np.float32)
            self.is_validation = np.array_equal(np.asarray(target, dtype=np.float32), labels)
        return self.stopping.add(approxes[0]) if self.is_validation else 0.0, 1.0


def booster_of(estimator: Any) -> GroupBooster:
    adapters = {
        ("lightgbm", "LGBMRanker"): LightGBM,
        ("xgboost", "XGBRanker"): XGBoost,
        ("catboost", "CatBoostRanker"): CatBoost,
    }
    for cls in type(estimator).__mro__:
        adapter = adapters.get((cls.__module__.partition(".")[0], cls.__name__))
        if adapter is not None:
            return adapter(estimator)
    return GroupBooster(estimator)


def unfitted(estimator: Any) -> Any:
    if isinstance(booster_of(estimator), CatBoost):
        # It copies lists, such as cat_features, and clone wants the same objects.
        return type(estimator)(**estimator.get_params(deep=False))
    return clone(estimator)


def held_out_lists(lists: Lists, fraction: Any, random_state: Any) -> BoolArray:
    """Draw the lists that are held out: at least one, and not all. Shape (n_lists,)."""
    n = lists.n_lists
    if n < 2:
        raise ValueError(
            "early_stopping=True holds out whole queries, but the number of queries of positive "
            f"weight is {n}: pass qid= of several queries, X_val=, y_val= and qid_val= of other "
            "queries, or early_stopping=False."
        )
    if isinstance(fraction, Integral) and int(fraction) >= n:
        raise ValueError(
            f"validation_fraction={fraction} would hold out all {n} queries: pass a smaller "
            "number, or a share in (0, 1)."
        )
    number = int(fraction) if isinstance(fraction, Integral) else round(float(fraction) * n)
    order = check_random_state(random_state).permutation(n)
    return np.isin(np.arange(n), order[: min(max(number, 1), n - 1)])


class GroupRankerAdapter(QueryRanker):
    r"""Adapt LGBMRanker, XGBRanker or CatBoostRanker to query ids, searches and pipelines.

    These libraries require the rows of a query to be consecutive, and take different arguments.
    The adapter takes ids of any type in any order (``qid``, or ``groups`` with metadata routing),
    sorts the rows and translates the weights. It scores and stops early by any measure of this
    package, and works in searches, pipelines and cross-validation.

    Parameters
    ----------
    estimator : estimator or None, default=None
        ``LGBMRanker``, ``XGBRanker``, ``CatBoostRanker`` or a subclass; or any estimator whose
        ``fit`` takes ``group_id``, ``qid`` or ``group`` (sizes); the first of these in its
        signature is used. None is ``LGBMRanker()``. The estimator is cloned.
    measure : str, Measure or function, default="ndcg"
        Measure for :meth:`score` and ``early_stopping``: any value that
        :func:`~sklearn_rank.metrics.get_measure` takes. It does not change the loss of the
        estimator.
    early_stopping : bool, default=False
        Whether to stop when ``measure`` on held-out queries no longer improves. The estimator sets
        the maximum number of rounds.
    validation_fraction : float or int, default=0.1
        Share (float in (0, 1)) or number (int) of the queries held out for early stopping if
        ``fit`` gets no ``X_val``.
    n_iter_no_change : int, default=20
        Number of rounds without improvement after which the fit stops, at least 1.
    random_state : int, RandomState or None, default=None
        Seed for drawing the held-out queries. The estimator has its own seed.
    row_order : {"content", "given"}, default="content"
        Order in which queries and their rows are passed to the estimator. "content" sorts by
        hashes of their values, so that the model does not depend on the order of the rows or on
        the ids. "given" takes queries as they appear and keeps the order of the rows of a query.
        The order affects the model, because all scores are tied at the start and the libraries
        break ties by position. Options that read positions or time from the order of the rows,
        ``lambdarank_unbiased`` of XGBoost without ``position`` and ``has_time`` of CatBoost,
        require "given".
    single_list : bool, default=False
        Whether all rows belong to one query. ``fit`` then takes no ``qid``.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    best_iteration_ : int
        Number of rounds (trees) used for scoring, for the three libraries.
    validation_score_ : ndarray of shape (n_rounds,)
        Value of ``measure`` on the validation queries after each round; greater is better. Only
        with ``early_stopping``.
    stopping_measure_ : str
        Name of the measure of ``validation_score_``.
    needs_init_score_ : bool
        Whether ``fit`` got ``init_score``, which :meth:`predict` then needs.
    n_queries_ : int
        Number of queries of the fit, held-out ones included.
    training_queries_ : object
        Record of these queries, by which :meth:`score` and scorers warn of them.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of features seen in ``fit``, and their names if they are all strings.

    See Also
    --------
    OrderPreservingRanker : Linear ranker with a loss calibrated for the measure.

    Notes
    -----
    None of the libraries has row weights that count as repetition, so that rows are repeated
    according to ``sample_weight``, which must consist of whole numbers. Parameters that the
    library would ignore raise an error. The user guide lists the differences of the libraries.

    With ``early_stopping``, all three libraries evaluate ``measure`` itself, averaged over the
    orders of tied rows. The ``metric`` of the estimator is not evaluated.

    ``X`` is passed to the estimator in another order of its rows, a copy. Columns of numbers
    become those of NumPy, whatever holds them, and a table of pyarrow a pandas frame; in names
    that the library refuses ``[`` becomes ``%5b``. LightGBM and CatBoost print nothing and
    CatBoost writes no files, unless the estimator's parameters request it. Sorting takes
    O(n_samples (n_features + log n_samples)) time.

    Examples
    --------
    >>> from lightgbm import LGBMRanker
    >>> from sklearn_rank import GroupRankerAdapter
    >>> from sklearn_rank.datasets import make_subset_ranking
    >>> X, y, qid = make_subset_ranking(60, n_items=8, return_X_y=True, random_state=0)
    >>> ids = [f"query {q}" for q in qid]
    >>> booster = LGBMRanker(n_estimators=20, num_leaves=4, n_jobs=1)
    >>> ranker = GroupRankerAdapter(booster, measure="ndcg@5").fit(X, y, qid=ids)
    >>> ranker.score(X, y, qid=ids) > 0.8
    True
    """

    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "row_order": [StrOptions({"content", "given"})],
    }

    def __init__(
        self,
        estimator=None,
        *,
        measure="ndcg",
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=20,
        random_state=None,
        row_order="content",
        single_list=False,
    ):
        store_parameters(locals())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        if self.estimator is not None and not booster_of(self.estimator).is_supported:
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def __sklearn_clone__(self) -> GroupRankerAdapter:
        bare = copy(self)
        bare.estimator = None
        cloned = super(GroupRankerAdapter, bare).__sklearn_clone__()
        cloned.estimator = None if self.estimator is None else unfitted(self.estimator)
        return cloned

    # The estimator checks its own parameters.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        position: Any = None,
        init_score: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        qid_val: Any = None,
    ) -> Self:
        """Sort the rows by query and fit the estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows, as the estimator takes them.
        y : array-like of shape (n_samples,)
            Relevance, as the estimator takes it.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row, sortable, in any order. None treats all rows as one
            query, with a warning, and is refused in searches; a number, or ``single_list=True``,
            does so without.
        sample_weight : array-like of shape (n_samples,), default=None
            Number of times each row counts, whole numbers; rows of weight 0 are ignored.
        query_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of the query of each row, the same for all rows of a query; queries
            of weight 0 are ignored.
        position : array-like of shape (n_samples,), default=None
            If y is clicks: position at which each row was shown, 1 is the top. ``LGBMRanker``
            (with the objective "lambdarank") and ``XGBRanker(lambdarank_unbiased=True)`` then
            estimate the bias of the positions. XGBoost requires the positions 1, 2, ... of each
            query without a gap. ``early_stopping`` then needs ``X_val`` with known relevance.
        init_score : array-like of shape (n_samples,), default=None
            Score of each row to which the trees are added: ``init_score`` of LightGBM,
            ``base_margin`` of XGBoost, ``baseline`` of CatBoost. :meth:`predict` then needs it
            too, and queries are held out for early stopping, not passed as ``X_val``.
        X_val : {array-like, sparse matrix, DataFrame} of shape (n_val, n_features), default=None
            Validation rows for early stopping, instead of held-out queries.
        y_val : array-like of shape (n_val,), default=None
            Relevance of the validation rows.
        qid_val : array-like of shape (n_val,), default=None
            Query ids of the validation rows.

        Returns
        -------
        GroupRankerAdapter
            The ranker itself.

        Raises
        ------
        TypeError
            If ``fit`` of the estimator takes no groups or query ids.
        ValueError
            If ``sample_weight`` is not whole, the estimator has no query weights, positions or
            initial scores, has parameters that have no effect, cannot stop early or has early
            stopping set as well, most queries have one row, or ``qid`` is missing in a search or
            cross-validation. What the library refuses, such as grades, is its own error.

        Warns
        -----
        SingleListWarning
            If ``qid`` is None without ``single_list=True``.
        UndefinedMetricWarning
            If ``measure`` is undefined for some of the validation queries.
        LargeGainWarning
            If CatBoost learns by QuerySoftMax from grades above 30.
        """
        with restored_on_error(self):
            estimator = self.estimator
            if estimator is None:
                estimator = import_optional("lightgbm", type(self).__name__).LGBMRanker()
            booster = booster_of(unfitted(estimator))
            booster.ids_argument()
            refuse_unknown_parameters(booster.estimator)
            columns = {"position": position, "init_score": init_score}
            weights = {"sample_weight": sample_weight, "query_weight": query_weight}
            refuse_misread(X=X, y=y, qid=qid, **weights, **columns)
            columns = {name: values for name, values in columns.items() if values is not None}
            booster.check_columns(columns, self.row_order, sample_weight)
            data = {"X_val": X_val, "y_val": y_val, "qid_val": qid_val}
            absent = [name for name, value in data.items() if value is None]
            present = [name for name in data if name not in absent]
            if present and absent:
                raise ValueError(
                    f"fit got {' and '.join(present)} without {' and '.join(absent)}: pass all of"
                    f" {', '.join(data)}, or none of them."
                )
            if present and not self.early_stopping:
                raise ValueError(
                    f"fit got {', '.join(present)}, which early_stopping=False does not use: set "
                    "early_stopping=True, or leave them out."
                )
            if position is not None and self.early_stopping and X_val is None:
                raise ValueError(
                    "early_stopping=True holds out queries, and their clicks are biased towards "
                    "items shown at the top: pass X_val, y_val and qid_val with known relevance, "
                    "or early_stopping=False."
                )
            if init_score is not None and present:
                raise ValueError(
                    "fit got init_score, but none for the rows of X_val: leave out X_val, y_val "
                    "and qid_val, so that queries of X are held out."
                )
            X, lists = self._repeatable_lists(X, y, qid, **weights)
            if init_score is not None:
                columns["init_score"] = check_vector("init_score", init_score, X.shape[0])
            if position is not None:
                columns["position"] = check_positions(position, X.shape[0])
            lists = self._order_rows(X, lists, *reversed(columns.values()))
            if position is not None:
                lists = booster.order_by_position(lists, columns["position"])
            self._store_queries(lists)
            forget(self, "validation_score_", "stopping_measure_", "best_iteration_")
            stopping = None
            if self.early_stopping:
                booster.check_stopping()
                if present:
                    X_val, held_out = self._repeatable_lists(X_val, y_val, qid_val, reset=False)
                    rows = grouped_rows(X_val, self._order_rows(X_val, held_out))
                else:
                    mask = held_out_lists(lists, self.validation_fraction, self.random_state)
                    rows, lists = grouped_rows(X, lists.only(mask), **columns), lists.only(~mask)
                measure = get_measure(self.measure)
                check_fixed_scale(measure, rows.labels)
                self.stopping_measure_ = measure.name
                stopping = EarlyStopping(measure, rows, self.n_iter_no_change)
            booster.fit(grouped_rows(X, lists, **columns), stopping)
            self.estimator_ = booster.estimator
            self.needs_init_score_ = init_score is not None
            if stopping is not None:
                self.validation_score_ = np.array(stopping.values)
            n_rounds = booster.n_rounds()
            if n_rounds is not None:
                self.best_iteration_ = n_rounds
        return self

    def _repeatable_lists(
        self, X: Any, y: Any, qid: Any, *, reset: bool = True, **weights: Any
    ) -> tuple[Any, Lists]:
        # The library checks the grades.
        grades = LabelType("graded", lowest=-np.inf, name="y")
        X, lists = self._lists(X, y, qid, weights, grades, reset)
        if not lists.whole.all():
            raise ValueError(
                "sample_weight is not whole, but rows are repeated by it, because no library has "
                "row weights that count as repetition: pass whole numbers, or query_weight=, the "
                "weight of the query of each row."
                + hint_of_adaboost(np.sum(weights["sample_weight"]))
            )
        return X, lists

    def _order_rows(self, X: Any, lists: Lists, *columns: AnyArray) -> Lists:
        return ordered_by_content(X, lists, *columns) if self.row_order == "content" else lists

    def _checked_labelled(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, AnyArray]:
        X = self._checked(X, self.estimator, y, reset=reset)
        check_consistent_length(X, y)
        y = column_or_1d(labels_of_fit(y), warn=True)
        refuse_marks(y, "y")
        assert_all_finite(y, input_name="y")
        return X, y

    def _checked_rows(self, X: Any) -> Any:
        return self._checked(X, self.estimator_)

    def _checked(
        self, X: Any, estimator: Any, y: Any = "no_validation", *, reset: bool = False
    ) -> Any:
        """Check the shape of rows, as the library takes them; it checks their values."""
        booster = booster_of(estimator)
        if y is None or is_frame(X):
            return booster.rows(check_columns(self, X, y, reset=reset))
        refuse_blocked(self, X)
        # CatBoost takes strings in object arrays.
        dtype = None if isinstance(booster, CatBoost) else "numeric"
        options = {"dtype": dtype, "accept_sparse": "csr", "ensure_all_finite": False}
        return booster.rows(validate_data(self, X, reset=reset, **options))

    def predict(self, X: Any, *, qid: Any = None, init_score: Any = None) -> FloatArray:
        """Predict scores; within a query a greater score is nearer to the top.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row. It has no effect.
        init_score : array-like of shape (n_samples,), default=None
            Score of each row to which the trees are added; required if ``fit`` got one.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores. They order the rows of one query; scores of different queries need not be
            comparable.

        Raises
        ------
        ValueError
            If ``fit`` got ``init_score``, and ``predict`` does not. :meth:`score` and :meth:`rank`
            then raise this error too.
        """
        check_is_fitted(self)
        X = self._checked_rows(X)
        if init_score is not None:
            return self._scores(X, check_vector("init_score", init_score, X.shape[0]))
        if self.needs_init_score_:
            raise ValueError(
                f"This {type(self).__name__} was fitted with init_score: pass predict(X, "
                "init_score=...), zeros for the sum of the trees alone, and instead of score and "
                "rank call a measure, such as ndcg_score(y, scores, qid=qid), or rank_positions("
                "scores, qid=qid) of sklearn_rank.metrics."
            )
        return self._scores(X)

    def _scores(self, X: Any, init_score: FloatArray | None = None) -> FloatArray:
        scores = booster_of(self.estimator_).predict(X, init_score)
        return np.asarray(scores, dtype=np.float64)

    @property
    def feature_importances_(self) -> FloatArray:
        """Feature importances of the estimator's default kind.

        Returns
        -------
        ndarray of shape (n_features,)
            Importance of each feature.
        """
        check_is_fitted(self)
        return booster_of(self.estimator_).importances()
