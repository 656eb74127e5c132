"""Parameters of libraries of boosted trees, and held-out rows."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from .._lists import Lists
from .._optional import lightgbm_aliases
from .._typing import BoolArray
from ._base import summed

# Absolute values up to the first are 0 for a library, and beyond the second infinite.
SINGLE = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
LIMITS = {"LightGBM": (1e-35, np.inf), "XGBoost": SINGLE, "CatBoost": SINGLE}


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


def _n_held_out(fraction: Any, n: int, unit: str) -> int:
    if isinstance(fraction, Integral) and int(fraction) >= n:
        raise ValueError(
            f"validation_fraction={fraction} would hold out all {n} {unit}: pass a smaller "
            "number, or a share in (0, 1)."
        )
    number = int(fraction) if isinstance(fraction, Integral) else round(float(fraction) * n)
    return min(max(number, 1), n - 1)
