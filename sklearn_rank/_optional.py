"""The one place that imports packages which an extra installs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# What pip installs for each package, with the least version: the same as the extras say.
REQUIREMENTS = {
    "catboost": "catboost>=1.2.8",
    "dask": "dask[array,dataframe,distributed]>=2025.5",
    "distributed": "dask[array,dataframe,distributed]>=2025.5",
    "lightgbm": "lightgbm>=4.7",
    "pandas": "pandas>=2.2",
    "pyarrow": "pyarrow>=17",
    "xgboost": "xgboost>=3.2",
}


def import_optional(module: str, used_by: str) -> Any:
    """Import a package that an extra installs, or a module of it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name not in (package, module):
            raise
        raise ImportError(
            f"{used_by} needs {package}, which is not installed: run `{_install(package)}`."
        ) from error


def import_pandas(used_by: str, otherwise: str = "leave as_frame=False for NumPy arrays") -> Any:
    """Import pandas, which no extra installs."""
    try:
        return import_module("pandas")
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        raise ImportError(
            f"{used_by} needs pandas, which is not installed: run `{_install('pandas')}`, or"
            f" {otherwise}."
        ) from error


def lightgbm_aliases(lightgbm: Any) -> dict[str, list[str]]:
    """All names of each parameter of LightGBM, the first one included."""
    return dict(lightgbm.basic._ConfigAliases._get_all_param_aliases())


def _install(package: str) -> str:
    """The command that installs a package, however this one was installed."""
    return f'python -m pip install "{REQUIREMENTS.get(package, package)}"'
