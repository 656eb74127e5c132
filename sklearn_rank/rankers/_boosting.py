"""Boosted trees for any loss of the scores, grown by LightGBM or XGBoost, and early stopping.

This module contains the loop over the rounds. It gets gradient and curvature at the scores of all
rows from an objective, passes them to a backend that grows one tree, and gets the value on
held-out rows from a monitor. A backend only grows trees and scores rows.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from inspect import signature
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from .._lists import Lists
from .._optional import import_optional, lightgbm_aliases
from .._sklearn_compat import Interval, RealNotInt, StrOptions, check_monotonic_cst
from .._solvers import count_threads
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ._base import summed


def category_codes(estimator: Any, X: Any, *, reset: bool = False) -> Any:
    """Replace the category columns of a frame by their codes."""
    is_pandas = hasattr(X, "iloc") and hasattr(X, "columns")
    dtypes = enumerate(X.dtypes if is_pandas else ())
    by_column = {j: dtype.categories for j, dtype in dtypes if hasattr(dtype, "categories")}
    if reset:
        estimator.categories_ = by_column
    categories = estimator.categories_
    if categories and not is_pandas:
        raise ValueError(
            f"Columns {list(categories)} of the X of fit are categories: pass X as a pandas "
            "DataFrame with the same columns."
        )
    new_columns = [X.columns[j] for j in by_column if j not in categories]
    if new_columns:
        raise ValueError(
            f"The column {new_columns[0]!r} is of categories, but was not in fit: pass "
            f"X.astype({{{new_columns[0]!r}: ...}}) with the dtype of the X of fit."
        )
    if not categories or X.shape[1] <= max(categories):  # validate_data refuses the latter
        return X
    X = X.copy(deep=False)
    for j, values in categories.items():
        codes = values.get_indexer(X.iloc[:, j])
        X.isetitem(j, np.where(codes < 0, np.nan, codes))
    return X


# Gradient and curvature by each score, for the scores of the rows in their order.
Objective: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

# Number of rows converted to dense at once.
BLOCK = 2**14

# Absolute values up to the first are 0 for a library, and beyond the second infinite.
SINGLE = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
LIMITS = {"LightGBM": (1e-35, np.inf), "XGBoost": SINGLE, "CatBoost": SINGLE}


def tree_settings(estimator: Any, seed: int) -> SimpleNamespace:
    """Parameters of an estimator as backends take them, with a seed of everything random."""
    constraints = check_monotonic_cst(estimator, estimator.monotonic_cst)
    settings = {
        "monotonic_cst": constraints if np.any(constraints) else None,
        "backend_params": with_categories(estimator),
        "n_threads": count_threads(estimator.n_jobs),
        "seed": seed,
    }
    return SimpleNamespace(**{**vars(estimator), **settings})


def with_categories(estimator: Any) -> Mapping[str, Any]:
    params = estimator.backend_params or {}
    if not estimator.categories_:
        return params
    columns = np.atleast_1d(params.get("categorical_feature", [])).tolist()
    return {**params, "categorical_feature": [*columns, *estimator.categories_]}


# Parameters of trees, for scikit-learn's validation.
TREE_CONSTRAINTS: dict[str, Any] = {
    "backend": [StrOptions({"lightgbm", "xgboost"})],
    "learning_rate": [Interval(Real, 0, 1000, closed="right")],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
    "l2_regularization": [Interval(Real, 0, None, closed="left")],
    "max_features": [Interval(RealNotInt, 0, 1, closed="right")],
    "monotonic_cst": ["array-like", dict, None],
    "backend_params": [dict, None],
}


class Trees:
    """Trees of LightGBM or XGBoost, which score rows; equal if all trees are equal."""

    def __init__(self, model: Any, n_features: int, base_score: float, n_threads: int) -> None:
        self.model, self.n_features = model, n_features
        self.base_score, self.n_threads = base_score, n_threads

    @property
    def _is_lightgbm(self) -> bool:
        return hasattr(self.model, "num_trees")

    @property
    def n_trees(self) -> int:
        model = self.model
        return int(model.num_trees() if self._is_lightgbm else model.num_boosted_rounds())

    def scores(self, X: Any, n_trees: int | None = None) -> FloatArray:
        """Scores of rows, with the base score. Shape (n_rows,)."""
        n_trees = self.n_trees if n_trees is None else n_trees
        if n_trees == 0:
            return np.full(X.shape[0], self.base_score)
        if self._is_lightgbm:
            raw: Any = self.model.predict(
                as_rows(X), raw_score=True, num_iteration=n_trees, num_threads=self.n_threads
            )
            return np.asarray(raw, dtype=np.float64) + self.base_score
        xgboost = import_optional("xgboost", "backend='xgboost'")
        self.model.set_param({"nthread": self.n_threads})
        raw = np.empty(X.shape[0])
        for start in range(0, X.shape[0], BLOCK):
            rows = slice(start, start + BLOCK)
            data = xgboost.DMatrix(
                _dense(X[rows]),
                nthread=self.n_threads,
                feature_types=self.model.feature_types,
                enable_categorical=True,
            )
            raw[rows] = self.model.predict(data, output_margin=True, iteration_range=(0, n_trees))
        return raw + self.base_score

    def importances(self) -> FloatArray:
        """Gain of the splits of each feature, of sum 1 where there is a split."""
        if self._is_lightgbm:
            gains = np.asarray(self.model.feature_importance("gain"), dtype=np.float64)
        else:
            by_name = self.model.get_score(importance_type="total_gain")
            gains = np.array([by_name.get(f"f{j}", 0.0) for j in range(self.n_features)])
        return gains / gains.sum() if gains.sum() > 0 else gains

    def _text(self) -> str | bytes:
        if self._is_lightgbm:
            # The rest are parameters of the fit.
            return self.model.model_to_string(num_iteration=-1).partition("\nparameters:")[0]
        return bytes(self.model.save_raw())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trees):
            return NotImplemented
        return self.base_score == other.base_score and self._text() == other._text()

    __hash__ = None  # type: ignore[assignment]


def _refuse_reserved_params(
    backend_params: Mapping[str, Any], reasons: Mapping[str, str], backend: str
) -> None:
    """Refuse what an estimator sets by a parameter of its own, or what would break the fit."""
    for name in backend_params:
        if not isinstance(name, str):
            raise ValueError(
                f"backend_params contains the key {name!r}: use the names of parameters of "
                f"{backend}, such as {{'max_bin': 63}}."
            )
        if name in reasons:
            raise ValueError(
                f"backend_params contains {name!r}, which cannot be set for {backend} here: "
                f"{reasons[name]}."
            )


def _refuse_unused_params(
    unused: Iterable[str], names: Iterable[str], backend: str, source: str = "backend_params"
) -> None:
    """Refuse parameters that the library would ignore, and name the nearest that it has."""
    for name in unused:
        matches = get_close_matches(name, list(names), n=1)
        raise ValueError(
            f"{source} contains {name!r}, which has no effect in {backend} here: "
            + (f"did you mean {matches[0]!r}?" if matches else "remove it.")
        )


# Parameters of XGBoost's estimators that have other names.
XGBOOST_NAMES = {
    "learning_rate": ["eta"],
    "gamma": ["min_split_loss"],
    "reg_lambda": ["lambda"],
    "reg_alpha": ["alpha"],
    "n_jobs": ["nthread"],
    "random_state": ["seed"],
}


def refuse_unknown_parameters(estimator: Any) -> None:
    """Refuse parameters that LightGBM or XGBoost would ignore: of an estimator, or one within."""
    lightgbm, xgboost = sys.modules.get("lightgbm"), sys.modules.get("xgboost")
    for model in (estimator, *estimator.get_params().values()):
        if lightgbm is not None and isinstance(model, lightgbm.LGBMModel):
            parameters: dict[str, Any] = dict(signature(lightgbm.LGBMModel).parameters)
            parameters |= signature(type(model)).parameters
            aliases = lightgbm_aliases(lightgbm)
            names = {name for synonyms in aliases.values() for name in synonyms} | set(parameters)
            unknown = sorted(set(model.get_params()) - names)
            _refuse_unused_params(unknown, names, "LightGBM", type(model).__name__)
            _refuse_conflicting_aliases(model, parameters, aliases)
        elif xgboost is not None and isinstance(model, xgboost.XGBModel):
            parameters = dict(signature(xgboost.XGBModel).parameters)
            _refuse_conflicting_aliases(model, parameters, XGBOOST_NAMES)
            extra_names = set(model.get_params(deep=False)) - set(parameters)
            params = model.get_xgb_params()
            _refuse_unused_xgboost_params(xgboost, params, extra_names, 1, type(model).__name__)


def _refuse_conflicting_aliases(
    model: Any, parameters: Mapping[str, Any], aliases: Mapping[str, list[str]]
) -> None:
    """Refuse a parameter set by two names to two values, of which the library takes one."""
    params = model.get_params(deep=False)
    for first, synonyms in aliases.items():
        # Libraries take the first name, if it is set, before others.
        names = sorted({first, *synonyms}, key=lambda x: (x != first, x not in parameters))
        set_names = [name for name in names if params.get(name) is not None]
        for name in set_names[1:]:
            value, other = params[set_names[0]], params[name]
            is_set = name not in parameters or other != parameters[name].default
            if is_set and not np.array_equal(value, other):
                raise ValueError(
                    f"{type(model).__name__} has {set_names[0]}={value!r} and {name}={other!r}, "
                    f"which are two names of one parameter: set {set_names[0]} to the value that "
                    f"is meant, and leave {name} out."
                )


def _refuse_unused_xgboost_params(
    xgboost: Any,
    params: Mapping[str, Any],
    names: Collection[str],
    n_features: int,
    source: str = "backend_params",
) -> None:
    """Refuse those of some parameters of which XGBoost says that it does not use them."""
    if not names:
        return
    data = xgboost.DMatrix(np.zeros((2, n_features)), np.zeros(2))
    checked = {**params, "validate_parameters": True, "verbosity": 1}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        config = json.loads(xgboost.Booster(checked, [data]).save_config())
    messages = [str(warning.message) for warning in caught]
    unused = [
        name
        for message in messages
        if "are not used" in message
        for name in re.findall('"(.*?)"', message)
        if name in names
    ]
    _refuse_unused_params(unused, _nested_names(config), "XGBoost", source)


def _nested_names(config: Mapping[str, Any]) -> Iterator[str]:
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from _nested_names(value)
        else:
            yield name


def _reasons(names_of: Mapping[str, str]) -> dict[str, str]:
    """Why each parameter must not be set, given the names for each reason."""
    return {name: reason for reason, names in names_of.items() for name in names.split()}


# Parameters that backend_params must not contain, by the names of both backends.
_SHARED = _reasons(
    {
        "set loss": "objective app application objective_type loss",
        "set measure": "metric metrics metric_types eval_metric",
        "set n_estimators": "n_estimators num_iterations num_iteration n_iter num_tree num_trees"
        " num_round num_rounds nrounds num_boost_round max_iter",
        "set learning_rate": "learning_rate eta shrinkage_rate",
        "set max_leaf_nodes": "max_leaf_nodes num_leaves num_leaf max_leaves max_leaf",
        "set max_depth": "max_depth",
        "set l2_regularization": "l2_regularization lambda_l2 reg_lambda lambda",
        "set max_features": "feature_fraction_bynode sub_feature_bynode colsample_bynode",
        "set monotonic_cst": "monotonic_cst monotone_constraints mc monotone_constraint",
        "set n_jobs": "n_jobs num_threads num_thread nthread nthreads",
        "set random_state": "random_state seed random_seed",
        "set early_stopping and n_iter_no_change": "early_stopping early_stopping_round"
        " early_stopping_rounds n_iter_no_change",
        "set verbose": "verbose verbosity",
        "a ranker computes one score": "num_class num_classes",
        "scores start at the constant that minimises the loss": "base_score boost_from_average",
    }
)

_LIGHTGBM = _SHARED | _reasons(
    {
        "set min_samples_leaf": "min_samples_leaf min_data_in_leaf min_data_per_leaf min_data"
        " min_child_samples",
        "boosting adds trees without reweighting": "boosting boosting_type boost",
        "leaves are constant": "linear_tree linear_trees",
        "set loss, since this belongs to LightGBM's own objectives": "is_unbalance unbalance"
        " unbalanced_sets scale_pos_weight sigmoid alpha reg_sqrt fair_c poisson_max_delta_step"
        " tweedie_variance_power label_gain lambdarank_truncation_level lambdarank_norm"
        " objective_seed lambdarank_position_bias_regularization",
    }
)

_XGBOOST = _SHARED | _reasons(
    {
        "set min_samples_leaf": "min_child_weight",
        "set loss, since this belongs to XGBoost's own objectives": "scale_pos_weight",
        "the ranker uses trees": "booster",
        "a ranker computes one score": "multi_strategy",
    }
)


def _constraints(settings: SimpleNamespace) -> dict[str, Any]:
    constraints = settings.monotonic_cst
    return {} if constraints is None else {"monotone_constraints": tuple(constraints.tolist())}


class LightGBMGrower:
    """Grows trees by LightGBM on fixed rows."""

    def __init__(self, X: Any, settings: SimpleNamespace, X_val: Any) -> None:
        _refuse_reserved_params(settings.backend_params, _LIGHTGBM, "LightGBM")
        self.lightgbm = import_optional("lightgbm", "backend='lightgbm'")
        self.settings = settings
        check_limits(X, "LightGBM")
        if not (X.data if sp.issparse(X) else X).any():
            # Rows without any value end LightGBM by an error; a constant splits as little.
            n = X.shape[0]
            X = sp.csr_matrix((np.ones(n), np.zeros(n, int), np.arange(n + 1)), shape=X.shape)
        aliases = lightgbm_aliases(self.lightgbm)  # LightGBM passes over unknown names
        names = {name for synonyms in aliases.values() for name in synonyms}
        _refuse_unused_params(sorted(set(settings.backend_params) - names), names, "LightGBM")
        params = self._params()
        columns = _pop_categorical_columns(params, aliases["categorical_feature"], X, settings)
        data = self.lightgbm.Dataset(
            as_rows(X),
            np.zeros(X.shape[0]),
            params=params,
            categorical_feature=columns or "auto",
        )
        self.booster = self.lightgbm.Booster(params, data)
        if X_val is not None:
            validation = self.lightgbm.Dataset(
                as_rows(X_val), np.zeros(X_val.shape[0]), reference=data, params=params
            )
            self.booster.add_valid(validation, "validation")

    def _params(self) -> dict[str, Any]:
        """The settings as parameters; sums do not depend on the number of threads."""
        settings = self.settings
        max_leaves = settings.max_leaf_nodes
        if max_leaves is None:
            max_leaves = 2 ** min(settings.max_depth or 17, 17)
        return {
            "feature_pre_filter": False,
            "deterministic": True,
            # Bins of many rows are of a sample, the same one each time.
            "data_random_seed": 1,
            "force_col_wise": not settings.backend_params.get("force_row_wise", False),
            **settings.backend_params,
            "objective": "none",
            "metric": "none",
            "verbosity": -1,
            "learning_rate": settings.learning_rate,
            "num_leaves": min(max_leaves, 131072),
            "max_depth": settings.max_depth or -1,
            "min_data_in_leaf": settings.min_samples_leaf,
            "lambda_l2": settings.l2_regularization,
            "feature_fraction_bynode": settings.max_features,
            "num_threads": settings.n_threads,
            "seed": settings.seed,
            **_constraints(settings),
        }

    @property
    def n_trees(self) -> int:
        return int(self.booster.num_trees())

    def grow(self, objective: Objective) -> bool:
        """Grow a tree along the gradient at the scores so far; whether it splits."""
        return not self.booster.update(fobj=lambda scores, _: objective(scores))

    def training_scores(self) -> FloatArray:
        return _evaluated_scores(self.booster.eval_train)

    def validation_scores(self) -> FloatArray:
        return _evaluated_scores(self.booster.eval_valid)

    def trees(self, n_trees: int, base_score: float) -> Trees:
        # LightGBM takes 0 iterations as all.
        text = self.booster.model_to_string(num_iteration=n_trees)
        if n_trees == 0:
            text = self.lightgbm.Booster(self._params(), self.booster.train_set).model_to_string()
        model = self.lightgbm.Booster(model_str=text)
        n_features = self.booster.num_feature()
        return Trees(model, n_features, base_score, self.settings.n_threads)


class XGBoostGrower:
    """As :class:`LightGBMGrower`, by XGBoost, which holds rows in single precision."""

    def __init__(self, X: Any, settings: SimpleNamespace, X_val: Any) -> None:
        _refuse_reserved_params(settings.backend_params, _XGBOOST, "XGBoost")
        self.xgboost = import_optional("xgboost", "backend='xgboost'")
        self.settings, self.n_features = settings, X.shape[1]
        params = self._params()
        columns = _pop_categorical_columns(params, ["categorical_feature"], X, settings)
        _refuse_unused_xgboost_params(
            self.xgboost, params, settings.backend_params, self.n_features
        )
        check_limits(X, "XGBoost")
        max_bin = params.get("max_bin", 256)
        options: dict[str, Any] = {"nthread": settings.n_threads}
        if columns:
            kinds = ["c" if j in columns else "q" for j in range(self.n_features)]
            options |= {"feature_types": kinds, "enable_categorical": True}
        self.data = self.xgboost.QuantileDMatrix(_dense(X), max_bin=max_bin, **options)
        cache = [self.data]
        if X_val is not None:
            self.validation = self.xgboost.DMatrix(_dense(X_val), **options)
            cache.append(self.validation)
        self.booster = self.xgboost.Booster(params, cache)
        self.n_trees = 0

    def _params(self) -> dict[str, Any]:
        settings = self.settings
        return {
            "tree_method": "hist",
            "grow_policy": "lossguide",
            **settings.backend_params,
            "objective": "reg:squarederror",
            "disable_default_eval_metric": True,
            "base_score": 0.0,
            "verbosity": 0,
            "learning_rate": settings.learning_rate,
            "max_leaves": settings.max_leaf_nodes or 0,
            "max_depth": settings.max_depth or 0,
            "min_child_weight": settings.min_samples_leaf,
            "reg_lambda": settings.l2_regularization,
            "colsample_bynode": settings.max_features,
            "nthread": settings.n_threads,
            "seed": settings.seed,
            **_constraints(settings),
        }

    def grow(self, objective: Objective) -> bool:
        self.booster.update(
            self.data,
            self.n_trees,
            fobj=lambda scores, _: objective(scores.astype(np.float64)),
        )
        self.n_trees += 1
        return True

    def training_scores(self) -> FloatArray:
        return self.booster.predict(self.data, output_margin=True).astype(np.float64)

    def validation_scores(self) -> FloatArray:
        return self.booster.predict(self.validation, output_margin=True).astype(np.float64)

    def trees(self, n_trees: int, base_score: float) -> Trees:
        if n_trees:
            model = self.booster[:n_trees]
        else:
            # A booster of no rounds has no slice.
            model = self.xgboost.Booster(self._params(), [self.data]).copy()
        return Trees(model, self.n_features, base_score, self.settings.n_threads)


def _evaluated_scores(evaluate: Callable[..., Any]) -> FloatArray:
    """Scores that LightGBM passes to a measure when it evaluates one."""
    values: list[FloatArray] = []

    def measure(scores: FloatArray, _: Any) -> tuple[str, float, bool]:
        values.append(scores.copy())
        return "measure", 0.0, True

    evaluate(feval=measure)
    return values[0]


def _pop_categorical_columns(
    params: dict[str, Any], names: Iterable[str], X: Any, settings: SimpleNamespace
) -> list[int]:
    """Take the numbers of columns of categories, lists or texts with commas, out of parameters."""
    entries = [params.pop(name) for name in names if name in params]
    values = [str(value) for entry in entries for value in np.atleast_1d(entry)]
    try:
        columns = [int(value) for value in ",".join(values).split(",")] if values else []
    except ValueError:
        columns = [-1]
    if not all(0 <= column < X.shape[1] for column in columns):
        raise ValueError(
            f"categorical_feature={entries[0]!r} in backend_params must be a list of the numbers "
            f"of columns of X, from 0 to {X.shape[1] - 1}, such as [0]."
        )
    values = X[:, columns].toarray() if sp.issparse(X) else X[:, columns]
    if np.any((values < 0) | (values % 1 > 0)):
        raise ValueError(
            f"The columns {columns} of X, which are of categories, contain negative numbers or "
            "fractions: number the categories from 0, such as by OrdinalEncoder."
        )
    if settings.monotonic_cst is not None and np.any(settings.monotonic_cst[columns]):
        raise ValueError(
            f"monotonic_cst constrains one of the columns {columns}, which are of categories and "
            "have no order: leave it out, or pass numbers."
        )
    return columns


def as_rows(X: Any) -> Any:
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


def check_limits(
    X: Any, library: str, *, of_fit: bool = True, missing: float | None = None
) -> None:
    """Refuse rows whose numbers are all 0 for a library, or some infinite, unless missing."""
    if hasattr(X, "select_dtypes"):
        X = X.select_dtypes("number").to_numpy(np.float64, na_value=np.nan)
    values = X.data if sp.issparse(X) else X
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f" or not values.size:
        return
    size = float(max(np.fmax.reduce(values, axis=None), -np.fmin.reduce(values, axis=None)))
    least, largest = LIMITS[library]
    if (size > largest and size != missing) or (of_fit and 0.0 < size <= least):
        remedy = "divide each column by a number, the same in fit and predict"
        raise ValueError(
            f"The largest absolute value of X is {size:g}, which {library} takes for "
            f"{'infinity' if size > largest else '0'}: "
            f"{'replace it' if np.isinf(size) else remedy}."
        )


def _dense(X: Any) -> Any:
    """Rows in single precision; what a sparse matrix does not hold is 0, not missing."""
    check_limits(X, "XGBoost", of_fit=False)
    return (X.toarray() if sp.issparse(X) else X).astype(np.float32)


def check_validation_data(early_stopping: bool, X_val: Any, **labels: Any) -> bool:
    """Check which arguments of validation came together; whether there are validation data."""
    data = {"X_val": X_val, **labels}
    absent = [name for name, value in data.items() if value is None]
    present = [name for name in data if name not in absent]
    if present and absent:
        raise ValueError(
            f"fit got {' and '.join(present)} without {' and '.join(absent)}: pass all of"
            f" {', '.join(data)}, or none of them."
        )
    if present and not early_stopping:
        raise ValueError(
            f"fit got {', '.join(present)}, which early_stopping=False does not use: set "
            "early_stopping=True, or leave them out."
        )
    return bool(present)


def refuse_held_out_clicks(X_val: Any) -> None:
    """Refuse to hold out queries whose relevance is clicks."""
    if X_val is None:
        raise ValueError(
            "early_stopping=True holds out queries, and their clicks are biased towards items "
            "shown at the top: pass X_val, y_val and qid_val with known relevance, or "
            "early_stopping=False."
        )


def held_out_lists(lists: Lists, fraction: Any, random_state: Any) -> BoolArray:
    """Draw the lists that are held out: at least one, and not all. Shape (n_lists,)."""
    n = lists.n_lists
    if n < 2:
        raise ValueError(
            "early_stopping=True holds out whole queries, but the number of queries of positive "
            f"weight is {n}: pass qid= of several queries, X_val=, y_val= and qid_val= of other "
            "queries, or early_stopping=False."
        )
    order = check_random_state(random_state).permutation(n)
    mask = np.zeros(n, dtype=bool)
    mask[order[: _n_held_out(fraction, n, "queries")]] = True
    return mask


def hold_out_rows(labels: AnyArray, fraction: Any, random_state: Any) -> tuple[IntArray, IntArray]:
    """Rows to train on and rows that are held out, a share of the rows of each class."""
    random = check_random_state(random_state)
    share = fraction / len(labels) if isinstance(fraction, Integral) else fraction
    mask = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        if len(rows) < 2:
            raise ValueError(
                "early_stopping=True holds out rows of each class, but the class "
                f"{label.item()!r} has one row: pass X_val= and y_val=, or early_stopping=False."
            )
        mask[random.permutation(rows)[: _n_held_out(share, len(rows), "rows")]] = True
    return np.flatnonzero(~mask), np.flatnonzero(mask)


def _n_held_out(fraction: Any, n: int, unit: str) -> int:
    if isinstance(fraction, Integral) and int(fraction) >= n:
        raise ValueError(
            f"validation_fraction={fraction} would hold out all {n} {unit}: pass a smaller "
            "number, or a share in (0, 1)."
        )
    number = int(fraction) if isinstance(fraction, Integral) else round(float(fraction) * n)
    return min(max(number, 1), n - 1)


# Minimum curvature of a row, where the initial mean is 1: rows without curvature, such as those
# far on the wrong side of a hinge, would give unlimited steps.
LEAST_CURVATURE = 1e-3


# Held-out rows, and the value of their scores, in their order; more is better.
Monitor: TypeAlias = tuple[Any, Callable[[FloatArray], float]]


class BoostedFit(NamedTuple):
    trees: Trees  # The trees up to the best round
    n_rounds: int  # Number of rounds that were run
    validation_values: FloatArray | None
    train_scores: FloatArray  # (n_rows,): Scores of the rows by these trees


def boost(
    X: Any,
    objective: Objective,
    settings: SimpleNamespace,
    *,
    base_score: float = 0.0,
    total_weight: float | None = None,
    monitor: Monitor | None = None,
    on_round: Callable[[int, float | None], None] | None = None,
) -> BoostedFit:
    """Grow trees one by one along the gradient of an objective, scaled to a mean curvature of 1.

    Parameters of the backends that are sums of curvatures then count rows.
    """
    held_out, value_of = (None, None) if monitor is None else monitor
    grower_class: Any = LightGBMGrower if settings.backend == "lightgbm" else XGBoostGrower
    grower: LightGBMGrower | XGBoostGrower = grower_class(X, settings, held_out)
    scaled = _scaled_objective(objective, base_score, float(total_weight or X.shape[0]))
    values = [] if value_of is None else [value_of(grower.validation_scores() + base_score)]
    sizes, best, n_rounds = [0], 0, 0
    while n_rounds < settings.n_estimators:
        has_split = grower.grow(scaled)
        n_rounds += 1
        sizes.append(grower.n_trees)
        if value_of is not None:
            values.append(value_of(grower.validation_scores() + base_score))
            best = n_rounds if values[-1] > values[best] else best
        if on_round is not None:
            on_round(n_rounds, values[-1] if values else None)
        # Without a split the next round would be the same, unless it draws other features.
        if not has_split and settings.max_features == 1.0:
            break
        if value_of is not None and n_rounds - best >= settings.n_iter_no_change:
            break
    n_trees = sizes[best] if value_of is not None else grower.n_trees
    trees = grower.trees(n_trees, base_score)
    is_last = n_trees == grower.n_trees
    scores = grower.training_scores() + base_score if is_last else trees.scores(X)
    return BoostedFit(trees, n_rounds, np.array(values) if values else None, scores)


def _scaled_objective(objective: Objective, base_score: float, total_weight: float) -> Objective:
    """Objective with a mean curvature of 1 at the start, nowhere less than a floor."""
    factor: float | None = None

    def scaled(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        nonlocal factor
        with np.errstate(over="ignore", invalid="ignore"):
            gradient, curvature = objective(scores + base_score)
        if not (np.isfinite(gradient).all() and np.isfinite(curvature).all()):
            raise ValueError(
                "The loss or its derivatives overflow float64 at the scores of the trees so "
                "far: lower learning_rate, or raise l2_regularization."
            )
        if factor is None:
            total = float(curvature.sum())
            if not total > 0.0:
                raise ValueError(
                    f"The curvature of the loss is 0 for all rows (n_samples = {len(scores)}) "
                    "before the first tree, so that no tree can be grown: check labels and ids."
                )
            factor = total_weight / total
        return gradient * factor, np.maximum(curvature * factor, LEAST_CURVATURE)

    return scaled
