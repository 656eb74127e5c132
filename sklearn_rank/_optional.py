"""The one place that imports packages which may be missing: of extras, and the heavy ones."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

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


# Nanoseconds of NumPy from which on compiled code pays, if a solver repeats them about a hundred
# times: loading numba and compiling take seconds, and the compiled loop is three times faster.
BREAK_EVEN = 10e6


def compiling_pays(nanoseconds: float) -> bool:
    """Whether to take compiled code in place of NumPy; never without numba."""
    return nanoseconds >= BREAK_EVEN and is_installed("numba")
