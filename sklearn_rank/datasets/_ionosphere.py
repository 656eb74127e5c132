"""The Ionosphere data set, bundled with the package."""

from __future__ import annotations

import gzip
from importlib import resources
from typing import Any, Literal, overload

import numpy as np
from sklearn.utils import Bunch

from .._optional import import_pandas
from .._validation import check_flag

_DESCRIPTION = """\
Ionosphere radar returns
------------------------

Radar returns collected by a system of 16 high-frequency antennas in Goose Bay, Labrador, aimed at
free electrons in the ionosphere. A "good" return shows some structure in the ionosphere; a "bad"
one passes through it.

:Rows: 351, in the order of the source (the first 200 are nearly balanced, the last 151 are
    mostly good: shuffle before splitting by position)
:Features: 34 numbers in [-1, 1], no missing values: the real and imaginary parts of the complex
    autocorrelation at 17 pulse numbers. `V1` takes two values and `V2` is always 0.
:Target: 1 for good (225 rows), 0 for bad (126 rows)
:Source: UCI Machine Learning Repository, "Ionosphere" (1989), V. Sigillito, S. Wing, L. Hutton
    and K. Baker, https://doi.org/10.24432/C5W01B
:Licence: Creative Commons Attribution 4.0 International (CC BY 4.0),
    https://creativecommons.org/licenses/by/4.0/
:Changes: the letters g and b of the class became 1 and 0, the columns were named V1 to V34, and
    the file was compressed. No row and no value of a feature was changed.

Reference: V. G. Sigillito, S. P. Wing, L. V. Hutton and K. B. Baker (1989), "Classification of
radar returns from the ionosphere using neural networks", Johns Hopkins APL Technical Digest 10,
262-266.
"""


@overload
def load_ionosphere(*, return_X_y: Literal[False] = ..., as_frame: bool = ...) -> Bunch: ...
@overload
def load_ionosphere(*, return_X_y: Literal[True], as_frame: bool = ...) -> tuple[Any, Any]: ...
def load_ionosphere(
    *, return_X_y: bool = False, as_frame: bool = False
) -> Bunch | tuple[Any, Any]:
    """Load the Ionosphere radar returns (binary, bundled with the package).

    The data set has 351 radar returns of 34 numbers each, 225 of them "good". It is the first data
    set of the experiments in [1]_.

    =================   =====================
    Classes                                 2
    Rows per class      126 (bad), 225 (good)
    Rows                                  351
    Features                34, real, [-1, 1]
    =================   =====================

    Parameters
    ----------
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        If True, `data` is a pandas DataFrame and `target` a pandas Series. Needs pandas.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with

        data : ndarray or DataFrame of shape (351, 34)
            The features, float64.
        target : ndarray or Series of shape (351,)
            1 for good returns, 0 for bad ones, int64.
        feature_names : list of str
            ``["V1", ..., "V34"]``.
        target_names : ndarray of shape (2,)
            ``["bad", "good"]``; ``target_names[target]`` is the name of each class.
        frame : DataFrame of shape (351, 35) or None
            `data` and `target` in one frame if `as_frame`, else None.
        DESCR : str
            Origin, licence and modifications of the data.

        If `return_X_y`, the tuple ``(data, target)`` instead.

    Raises
    ------
    ImportError
        If `as_frame` and pandas is not installed.

    Notes
    -----
    The rows are in the order of the source, with the classes unevenly distributed: shuffle them,
    or split with `stratify`. Other data sets of the same literature are not bundled because of
    their licences; :func:`sklearn.datasets.fetch_openml` provides them.

    References
    ----------
    .. [1] S. Boyd, C. Cortes, M. Mohri and A. Radovanovic, "Accuracy at the top",
       NIPS 25, 2012, Section 5.

    Examples
    --------
    >>> from sklearn_rank.datasets import load_ionosphere
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((351, 34), 225)

    The Bunch also has class names and a description:

    >>> ionosphere = load_ionosphere()
    >>> [str(name) for name in ionosphere.target_names]
    ['bad', 'good']
    >>> "CC BY 4.0" in ionosphere.DESCR
    True
    """
    check_flag("return_X_y", return_X_y)
    check_flag("as_frame", as_frame)
    packed = resources.files("sklearn_rank.datasets") / "data" / "ionosphere.csv.gz"
    lines = gzip.decompress(packed.read_bytes()).decode("ascii").splitlines()
    feature_names = lines[0].split(",")[:-1]
    table = np.loadtxt(lines[1:], delimiter=",")
    data: Any = table[:, :-1].copy()
    target: Any = table[:, -1].astype(np.int64)
    frame = None
    if as_frame:
        pd = import_pandas("load_ionosphere(as_frame=True)")
        frame = pd.DataFrame(data, columns=feature_names).assign(target=target)
        data, target = frame[feature_names], frame["target"]
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=feature_names,
        target_names=np.array(["bad", "good"]),
        DESCR=_DESCRIPTION,
    )
