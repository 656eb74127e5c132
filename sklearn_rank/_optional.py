"""The one place that imports packages which may be missing: of extras, and the heavy ones."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from typing import Any

import numpy as np

# Requirement of each optional package, as in pyproject.toml.
REQUIREMENTS = {
    "catboost": "catboost>=1.2.8",
    "cvxpy": "cvxpy>=1.6",
    "dask": "dask[array,dataframe,distributed]>=2025.5",
    "distributed": "dask[array,dataframe,distributed]>=2025.5",
    "lightgbm": "lightgbm>=4.7",
    "matplotlib": "matplotlib>=3.10.8",
    "numba": "numba>=0.61",
    "pandas": "pandas>=2.2.2",
    "pyarrow": "pyarrow>=17",
    "xgboost": "xgboost>=3.2",
}


def import_optional(module: str, used_by: str, otherwise: str = "") -> Any:
    """Import a package that may be missing, or a module of it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name not in (package, module):
            raise
        # However this package was installed.
        install = f'python -m pip install "{REQUIREMENTS.get(package, package)}"'
        raise ImportError(
            f"{used_by} needs {package}, which is not installed: run `{install}`{otherwise}."
        ) from error


def is_installed(module: str) -> bool:
    """Whether a package that may be missing is there."""
    return find_spec(module) is not None


def import_pandas(used_by: str, otherwise: str = "leave as_frame=False for NumPy arrays") -> Any:
    """Import pandas, which no extra installs."""
    return import_optional("pandas", used_by, f", or {otherwise}")


def import_dask(module: str = "dask") -> Any:
    return import_optional(module, "A dask collection")


def lightgbm_aliases(lightgbm: Any) -> dict[str, list[str]]:
    """All names of each parameter of LightGBM, the first one included."""
    return dict(lightgbm.basic._ConfigAliases._get_all_param_aliases())


def refuse_unknown_parameters(estimator: Any) -> None:
    """Refuse parameters that LightGBM or XGBoost would ignore: of an estimator, or one within."""
    lightgbm, xgboost = sys.modules.get("lightgbm"), sys.modules.get("xgboost")
    for model in (estimator, *estimator.get_params().values()):
        aliases: dict[str, Any] = {}
        if lightgbm is not None and isinstance(model, lightgbm.LGBMModel):
            parameters: dict[str, Any] = dict(signature(lightgbm.LGBMModel).parameters)
            parameters |= signature(type(model)).parameters
            aliases = lightgbm_aliases(lightgbm)
            names = set(parameters).union(*aliases.values())
            for name in sorted(set(model.get_params()) - names):
                close = get_close_matches(name, names, n=1)
                raise ValueError(
                    f"{type(model).__name__} contains {name!r}, which has no effect in LightGBM: "
                    + (f"did you mean {close[0]!r}?" if close else "remove it.")
                )
        elif xgboost is not None and isinstance(model, xgboost.XGBModel):
            parameters = dict(signature(xgboost.XGBModel).parameters)
            aliases = {"learning_rate": ["eta"], "gamma": ["min_split_loss"]}
            aliases |= {"reg_lambda": ["lambda"], "reg_alpha": ["alpha"]}
            aliases |= {"n_jobs": ["nthread"], "random_state": ["seed"]}
        # Of a parameter that is set by two names to two values the library takes one.
        params = model.get_params(deep=False) if aliases else {}
        for first, synonyms in aliases.items():
            # Libraries take the first name, if it is set, before others.
            ordered = sorted({first, *synonyms}, key=lambda x: (x != first, x not in parameters))
            taken, *others = [x for x in ordered if params.get(x) is not None] or [first]
            for name in others:
                value, other = params[taken], params[name]
                is_set = name not in parameters or other != parameters[name].default
                if is_set and not np.array_equal(value, other):
                    raise ValueError(
                        f"{type(model).__name__} has {taken}={value!r} and {name}={other!r}, "
                        f"which are two names of one parameter: set {taken} to the value that "
                        f"is meant, and leave {name} out."
                    )


# Nanoseconds of NumPy from which on compiled code pays, if a solver repeats them about a hundred
# times: loading numba and compiling take seconds, and the compiled loop is three times faster.
BREAK_EVEN = 10e6


def compiling_pays(nanoseconds: float) -> bool:
    """Whether to take compiled code in place of NumPy; never without numba."""
    return nanoseconds >= BREAK_EVEN and is_installed("numba")
