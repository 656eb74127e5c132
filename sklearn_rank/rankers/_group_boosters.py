"""How each library of boosted trees takes queries, weights, grades and validation rows."""

from __future__ import annotations

import inspect
import re
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from .._optional import import_optional
from .._typing import AnyArray, FloatArray
from ._boosting_backends import check_limits
from ._grouped_rows import GroupedRows, ValidationScores
from ._row_keys import summed

__all__ = ["GroupBooster", "Stopping", "booster_of", "unfitted"]

USED_BY = "GroupRankerAdapter"

# Parts of the messages of CatBoost about rows that teach nothing, and what they mean.
CATBOOST_SAYS = {
    "targets are equal|data is constant": "a y of one value: pass grades that differ in a query",
    "constant or ignored": "an X whose columns are constant in single precision: pass others",
    "few sampling units": "queries of equal grades, or of few rows: pass grades that differ in "
    "more queries, or bootstrap_type='No'",
}

# Names of the argument of fit that defines the queries, in order of preference.
IDS = ("group_id", "qid", "group")


class Stopping:
    """Early stopping: validation rows, values of the measure on them, and patience."""

    def __init__(self, rows: GroupedRows, scores: ValidationScores, patience: int) -> None:
        self.rows, self.scores, self.patience = rows, scores, patience

    @property
    def best(self) -> int:
        """The first round with the best value, from 0."""
        return int(np.argmax(self.scores.values))

    @property
    def is_over(self) -> bool:
        """Whether the fit is to stop."""
        return len(self.scores.values) - 1 - self.best >= self.patience


class GroupBooster:
    """Any estimator whose ``fit`` takes sizes or ids of groups."""

    # Whether the library is supported, and its parameters for early stopping.
    is_known = False
    own_stopping: tuple[str, ...] = ()
    # Parameters that make the library read the order of the rows, and as what.
    reading_order: tuple[tuple[str, str], ...] = ()

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.name = type(estimator).__name__

    def ids_argument(self) -> str:
        """Find the argument of ``fit`` that takes the queries."""
        taken = inspect.signature(self.estimator.fit).parameters
        for name in IDS:
            if name in taken:
                return name
        hint = ": make the adapter its last step" if hasattr(self.estimator, "steps") else ""
        raise TypeError(
            f"fit of {self.name} takes none of {', '.join(IDS)} to define the queries{hint}; "
            "pass a ranker such as LGBMRanker(), XGBRanker() or CatBoostRanker()."
        )

    def check_stopping(self) -> None:
        """Raise an error if early stopping is not possible, or is set twice."""
        if not self.is_known:
            raise ValueError(
                f"early_stopping=True is not supported for {self.name}: set "
                "early_stopping=False, or use LGBMRanker, XGBRanker or CatBoostRanker."
            )
        parameters = self.estimator.get_params()
        twice = [name for name in self.own_stopping if parameters.get(name) not in (None, False)]
        if twice:
            raise ValueError(
                f"early_stopping=True conflicts with {twice[0]}={parameters[twice[0]]!r} of "
                f"{self.name}: unset {twice[0]}, and set n_iter_no_change= of the adapter."
            )

    def check_order(self, row_order: str) -> None:
        """Raise an error if an order by content would destroy what a parameter reads from it."""
        parameters = self.estimator.get_params()
        for name, meaning in self.reading_order:
            value = parameters.get(name)
            if row_order == "content" and str(value).lower() not in ("none", "false", "0", "0.0"):
                raise ValueError(
                    f"{name}={value!r} of {self.name} reads the order of the rows as {meaning}, "
                    "but row_order='content' sorts them by their values: pass "
                    f"GroupRankerAdapter(..., row_order='given') with the rows in this order, or "
                    f"unset {name}."
                )

    def check_weights(self, weight: Any) -> None:
        """Raise an error for weights of rows that the library cannot count as repetition."""

    def check_rows(self, X: Any, *, of_fit: bool) -> None:
        """Raise an error for numbers that are all 0, or infinite, for the library."""
        if self.is_known:
            missing = self.estimator.get_params().get("missing", np.inf)
            check_limits(X, type(self).__name__, of_fit=of_fit, missing=missing)

    def check_labels(self, labels: FloatArray) -> None:
        """Raise an error for grades that the library does not accept."""

    def fit(self, rows: GroupedRows, stopping: Stopping | None) -> None:
        """Fit the estimator."""
        name = self.ids_argument()
        ids = rows.sizes if name == "group" else rows.codes
        weights = self._weights(rows)
        self.estimator.fit(rows.X, rows.labels, **{name: ids}, **weights)

    def _weights(self, rows: GroupedRows) -> dict[str, Any]:
        """Arguments of ``fit`` that weigh the queries."""
        if rows.query_weight is None:
            return {}
        if "query_weight" in inspect.signature(self.estimator.fit).parameters:
            return {"query_weight": rows.row_weight}
        raise ValueError(
            f"query_weight was given, but is not supported for {self.name}: leave it out, or use "
            "LGBMRanker, XGBRanker or CatBoostRanker."
        )

    def predict(self, X: Any) -> Any:
        """Score rows. Shape (n,)."""
        return self.estimator.predict(_matrix(X) if self.is_known else X)

    def importances(self) -> FloatArray:
        """Give the importances of the features. One per feature. Shape (n_features,)."""
        return self.estimator.feature_importances_

    def n_rounds(self) -> int | None:
        """Count the rounds that scores are made of. Their number; None where there is none."""
        return None


class LightGBM(GroupBooster):
    """LGBMRanker: sizes of groups, weights of rows, metrics by any function."""

    own_stopping = (
        "early_stopping_round",
        "early_stopping_rounds",
        "early_stopping",
        "n_iter_no_change",
    )
    is_known = True

    def check_order(self, row_order: str) -> None:
        """Raise an error for the regularization of a position bias, which has no positions."""
        name = "lambdarank_position_bias_regularization"
        if self.estimator.get_params().get(name):
            raise ValueError(
                f"{name} of {self.name} has no effect, because fit of {self.name} takes no "
                f"positions: unset {name}, or pass positions to lightgbm.Dataset(position=...) "
                "and call lightgbm.train."
            )

    def check_labels(self, labels: FloatArray) -> None:
        """Raise an error for grades without a gain."""
        parameters = self.estimator.get_params()
        objective = parameters.get("objective")
        if objective not in (None, "lambdarank", "rank_xendcg", "xendcg"):
            return
        gains = parameters.get("label_gain")
        n_gains = 31 if gains is None else len(gains)
        _refuse_grades(
            labels,
            n_gains - 1,
            f"{self.name} ({objective or 'lambdarank'}) takes whole grades from 0 to "
            f"{n_gains - 1}, one for each entry of label_gain",
            " LGBMRanker(label_gain=...) with a gain for each grade, or",
        )

    def fit(self, rows: GroupedRows, stopping: Stopping | None) -> None:
        """Fit the estimator; LightGBM prints only if requested."""
        lightgbm = import_optional("lightgbm", USED_BY)
        if not {"verbose", "verbosity"} & set(self.estimator.get_params()):
            self.estimator.set_params(verbosity=-1)
        more: dict[str, Any] = {}
        if stopping is not None:
            self.estimator.set_params(metric="None")
            scores = stopping.scores

            # A function, since LightGBM copies objects with attributes.
            def measure(y_true: Any, y_pred: FloatArray) -> tuple[str, float, bool]:
                return "measure", scores.add(y_pred), True

            more = {
                "eval_X": (_matrix(stopping.rows.X),),
                "eval_y": (stopping.rows.labels,),
                "eval_group": [stopping.rows.sizes],
                "eval_metric": measure,
                "callbacks": [lightgbm.early_stopping(stopping.patience, verbose=False)],
            }
        self.estimator.fit(
            _matrix(rows.X), rows.labels, group=rows.sizes, sample_weight=rows.row_weight, **more
        )

    def n_rounds(self) -> int:
        """Count the rounds that scores are made of. Their number."""
        booster = self.estimator.booster_
        return (
            booster.best_iteration if booster.best_iteration > 0 else booster.current_iteration()
        )


class XGBoost(GroupBooster):
    """XGBRanker: ids of consecutive rows, one weight per query, callbacks that see the booster."""

    own_stopping = ("early_stopping_rounds",)
    is_known = True
    reading_order = (("lambdarank_unbiased", "the positions at which they were shown"),)

    def check_weights(self, weight: Any) -> None:
        """Raise an error if repeated or left out rows would move others to other positions."""
        if self.estimator.get_params().get("lambdarank_unbiased") and np.any(weight != 1):
            raise ValueError(
                f"lambdarank_unbiased=True of {self.name} reads the order of the rows as the "
                "positions at which they were shown, but rows are repeated or left out according "
                "to sample_weight: leave sample_weight out, or pass query_weight=."
            )

    def check_labels(self, labels: FloatArray) -> None:
        """Raise an error for grades without a gain."""
        parameters = self.estimator.get_params()
        objective = parameters["objective"]
        if objective == "rank:map":
            _refuse_grades(
                labels,
                1,
                f"{self.name} (rank:map) takes the grades 0 and 1",
                " y=(y > 0).astype(int), or another objective, or",
            )
        elif objective == "rank:ndcg" and parameters.get("ndcg_exp_gain", True):
            _refuse_grades(
                labels,
                31,
                f"{self.name} (rank:ndcg) takes whole grades from 0 to 31, whose gain is "
                "2**grade - 1",
                " XGBRanker(ndcg_exp_gain=False), or",
            )

    def fit(self, rows: GroupedRows, stopping: Stopping | None) -> None:
        """Fit the estimator."""
        callbacks = self.estimator.get_params().get("callbacks")
        if stopping is not None:
            watch = _xgboost_callback(self.estimator, stopping)
            self.estimator.set_params(callbacks=[*(callbacks or []), watch])
        try:
            self.estimator.fit(
                _matrix(rows.X), rows.labels, qid=rows.codes, sample_weight=rows.query_weight
            )
        finally:
            self.estimator.set_params(callbacks=callbacks)

    def n_rounds(self) -> int:
        """Count the rounds that scores are made of. Their number."""
        booster = self.estimator.get_booster()
        best = booster.attr("best_iteration")
        return booster.num_boosted_rounds() if best is None else int(best) + 1


class CatBoost(GroupBooster):
    """CatBoostRanker: ids of consecutive rows, weights of groups, metrics by an object."""

    own_stopping = ("early_stopping_rounds", "od_wait", "od_pval", "od_type")
    is_known = True
    reading_order = (("has_time", "time"),)
    printing = ("verbose", "silent", "logging_level", "verbose_eval", "metric_period")
    kinds_of_columns = ("cat_features", "text_features", "embedding_features")

    def fit(self, rows: GroupedRows, stopping: Stopping | None) -> None:
        """Fit the estimator; CatBoost prints and writes files only if requested."""
        parameters = self.estimator.get_params()
        if parameters.get("allow_writing_files") is None:
            self.estimator.set_params(allow_writing_files=False)
        more: dict[str, Any] = {}
        if not any(name in parameters for name in self.printing):
            more["verbose"] = False
        metric = None
        if stopping is not None:
            metric = CatBoostMeasure(rows, stopping)
            self.estimator.set_params(eval_metric=metric)
            kinds = {name: parameters.get(name) for name in self.kinds_of_columns}
            pool = import_optional("catboost", USED_BY).Pool
            more["eval_set"] = pool(
                _matrix(stopping.rows.X),
                stopping.rows.labels,
                group_id=stopping.rows.codes,
                **kinds,
            )
            more["early_stopping_rounds"] = stopping.patience
            more["use_best_model"] = True
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Can't optimze method", UserWarning)
            try:
                self.estimator.fit(
                    _matrix(rows.X),
                    rows.labels,
                    group_id=rows.codes,
                    group_weight=rows.row_weight,
                    **more,
                )
            except import_optional("catboost", USED_BY).CatBoostError as error:
                for said, means in CATBOOST_SAYS.items():
                    if re.search(said, str(error)):
                        raise ValueError(f"{self.name} cannot learn from {means}.") from error
                raise
        if metric is not None:
            metric.forget()

    def predict(self, X: Any) -> Any:
        """Score rows, with the number of threads set in the estimator. Shape (n,)."""
        threads = self.estimator.get_params().get("thread_count")
        return self.estimator.predict(_matrix(X), thread_count=-1 if threads is None else threads)

    def importances(self) -> FloatArray:
        """Give the importances of the features, of a kind that needs no rows. One per feature."""
        return self.estimator.get_feature_importance(type="PredictionValuesChange")

    def n_rounds(self) -> int:
        """Count the rounds that scores are made of. Their number."""
        return int(self.estimator.tree_count_)


class CatBoostMeasure:
    """A measure as CatBoost takes metrics: a function of scores and labels, without queries.

    CatBoost asks for its value on the training rows and then on the validation rows, each whole
    and in their order, once a round.
    """

    def __init__(self, rows: GroupedRows, stopping: Stopping) -> None:
        self._scores: ValidationScores | None = stopping.scores
        self._labels: AnyArray = stopping.rows.labels.astype(np.float32)
        self._alike = np.array_equal(rows.labels.astype(np.float32), self._labels)
        self._is_second = False

    def __deepcopy__(self, memo: Any) -> CatBoostMeasure:
        # CatBoost copies its parameters, but the values are needed here.
        return self

    def __getstate__(self) -> dict[str, Any]:
        # CatBoost has put functions beside the methods that cannot be pickled.
        return {"_scores": None, "_labels": np.empty(0), "_alike": False, "_is_second": False}

    def forget(self) -> None:
        """Release the rows, since a fitted model keeps its metric."""
        self._scores, self._labels = None, np.empty(0)

    def is_max_optimal(self) -> bool:
        """Whether greater is better."""
        return True

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value, which is not a sum over rows."""
        return error

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """Evaluate scores of the validation rows."""
        if self._alike:
            self._is_second = not self._is_second
            is_validation = not self._is_second
        else:
            is_validation = np.array_equal(np.asarray(target, dtype=np.float32), self._labels)
        if self._scores is None or not is_validation:
            return 0.0, 1.0
        return self._scores.add(approxes[0]), 1.0


def _xgboost_callback(estimator: Any, stopping: Stopping) -> Any:
    """What XGBoost asks after each round whether to stop."""
    xgboost = import_optional("xgboost", USED_BY)
    base: Any = xgboost.callback.TrainingCallback
    # XGBoost keeps the scores of a matrix that it has seen, and adds those of the new trees.
    matrix = xgboost.DMatrix(
        _matrix(stopping.rows.X),
        missing=estimator.missing,
        enable_categorical=estimator.enable_categorical,
        feature_types=estimator.feature_types,
        nthread=estimator.n_jobs,
    )

    class Watch(base):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            stopping.scores.add(model.predict(matrix, output_margin=True))
            return stopping.is_over

        def after_training(self, model: Any) -> Any:
            values = stopping.scores.values
            model.set_attr(
                best_iteration=str(stopping.best), best_score=str(values[stopping.best])
            )
            return model

    return Watch()


def _matrix(X: Any) -> Any:
    """Rows as libraries take them: of sparse ones a matrix, without duplicates, of 32 bits."""
    if not sp.issparse(X):
        return X
    X = summed(sp.csr_matrix(X))
    if X.indices.dtype == np.int32 or max(X.nnz, *X.shape) >= 2**31:
        return X
    rows = sp.csr_matrix(X.shape, dtype=X.dtype)
    rows.data = X.data
    rows.indices, rows.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return rows


def _refuse_grades(labels: FloatArray, largest: int, takes: str, mends: str) -> None:
    """Refuse grades that are not whole or not from 0 to the largest."""
    bad = (labels != np.floor(labels)) | (labels < 0) | (labels > largest)
    if bad.any():
        raise ValueError(
            f"{takes}, but y contains {labels[bad][0]:g}: pass{mends} grades in this range, such "
            "as ranks of the distinct grades, y=np.unique(y, return_inverse=True)[1]."
        )


KNOWN = {
    ("lightgbm", "LGBMRanker"): LightGBM,
    ("xgboost", "XGBRanker"): XGBoost,
    ("catboost", "CatBoostRanker"): CatBoost,
}


def booster_of(estimator: Any) -> GroupBooster:
    """Find the adapter of an estimator by its class."""
    for one in type(estimator).__mro__:
        known = KNOWN.get((one.__module__.partition(".")[0], one.__name__))
        if known is not None:
            return known(estimator)
    return GroupBooster(estimator)


def unfitted(estimator: Any) -> Any:
    """Copy an estimator without what it learned. One with the same parameters."""
    if isinstance(booster_of(estimator), CatBoost):
        # It copies lists, such as cat_features, and clone wants the same objects.
        return type(estimator)(**estimator.get_params(deep=False))
    return clone(estimator)
