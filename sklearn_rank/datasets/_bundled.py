"""The bundled data sets."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .._optional import import_pandas
from .._validation import check_flag


def load_ionosphere(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
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
    return _load("ionosphere", return_X_y, as_frame, target_names=["bad", "good"])


def load_thyroid(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load patients with and without a thyroid disease (binary, bundled with the package).

    A screening list: 7,200 patients, of whom 534 (7.4 %) are ill, with six laboratory values.

    =================   =============================
    Classes                                         2
    Rows per class      6666 (normal), 534 (abnormal)
    Rows                                         7200
    Features                                  6, real
    =================   =============================

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

        data : ndarray or DataFrame of shape (7200, 6)
            The features, float64.
        target : ndarray or Series of shape (7200,)
            1 for patients whose thyroid does not function normally, else 0, int64.
        feature_names : list of str
            ``["age", "TSH", "T3", "TT4", "T4U", "FTI"]``.
        target_names : ndarray of shape (2,)
            ``["normal", "abnormal"]``.
        frame : DataFrame of shape (7200, 7) or None
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
    High `TSH` and low `FTI` are the usual markers, each a ranking of its own. Boosted trees rank
    held-out patients better than logistic regression (average precision .91 and .75).

    References
    ----------
    .. [1] R. Quinlan, "Thyroid Disease", UCI Machine Learning Repository, 1987,
       https://doi.org/10.24432/C5D010.

    Examples
    --------
    >>> from sklearn_rank.datasets import load_thyroid
    >>> from sklearn_rank.metrics import roc_auc_score
    >>> X, y = load_thyroid(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((7200, 6), 534)
    >>> round(float(roc_auc_score(y, X[:, 1])), 3)  # TSH alone
    0.989
    """
    return _load("thyroid", return_X_y, as_frame, target_names=["normal", "abnormal"])


def load_flights(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load departures and their delays (queries with grades, bundled with the package).

    Each day at 17:00 an airport asks which departures of the next hour will arrive late. A query
    is an airport of New York on a day of 2013, and its items are the departures scheduled between
    17:00 and 17:59.

    =================   ==========================================================
    Queries             1095, with 4 to 30 items
    Grades              0 (at most 15 minutes late), 1 (at most 45), 2 (at most
                        120), 3 (later, cancelled or diverted)
    Rows per grade      15958, 3530, 2862, 2076
    Rows                24426
    Features            9 numbers and 3 categories, with missing values
    =================   ==========================================================

    Parameters
    ----------
    return_X_y : bool, default=False
        If True, return ``(data, target, qid)`` instead of a Bunch.
    as_frame : bool, default=False
        If True, `data` is a pandas DataFrame, in which `origin`, `carrier` and `destination` are
        categorical, and `target` and `qid` are Series. Needs pandas.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with

        data : ndarray or DataFrame of shape (24426, 12)
            The features; in an array, float64, categories are codes into ``categories``, and
            missing values are NaN.
        target : ndarray or Series of shape (24426,)
            The grade of each departure, int64.
        qid : ndarray or Series of shape (24426,)
            Number of the query, int64, in the order of time, three a day: those below 729 are of
            January to August.
        feature_names : list of str
            Names of the columns.
        target_names : ndarray of shape (4,)
            ``["punctual", "late", "very late", "hours late"]``.
        categories : dict
            Names of the categories of `origin`, `carrier` and `destination`.
        frame : DataFrame of shape (24426, 14) or None
            `data`, `qid` and `target` in one frame if `as_frame`, else None.
        DESCR : str
            Meaning of the features, origin, licence and modifications of the data.

        If `return_X_y`, the tuple ``(data, target, qid)`` instead.

    Raises
    ------
    ImportError
        If `as_frame` and pandas is not installed.

    Notes
    -----
    Split by time: train on ``qid < 729``, test on the others. The order by `carrier_delay` is what
    an airport has without a model: of its first five, 33 % are late, where 29 % of all are, and
    35 % of the first five of `LGBMRanker`. In queries without a late flight NDCG is not defined.

    References
    ----------
    .. [1] Bureau of Transportation Statistics, "On-Time Performance Data", 2013, by the R package
       nycflights13, H. Wickham.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.datasets import load_flights
    >>> from sklearn_rank.metrics import precision_at_k_score
    >>> X, y, qid = load_flights(return_X_y=True)
    >>> X.shape, len(np.unique(qid))
    ((24426, 12), 1095)

    Share of late flights among the first five by `carrier_delay`, and among all:

    >>> test = qid >= 729
    >>> scores, late = np.nan_to_num(X[test, 6]), y[test] > 0
    >>> round(float(precision_at_k_score(late, scores, k=5, qid=qid[test])), 3)
    0.329
    >>> round(float(late.mean()), 3)
    0.287
    """
    names = ["punctual", "late", "very late", "hours late"]
    categorical = ("origin", "carrier", "destination")
    return _load("flights", return_X_y, as_frame, target_names=names, categorical=categorical)


def _load(
    name: str,
    return_X_y: bool,
    as_frame: bool,
    *,
    target_names: Sequence[str],
    categorical: Sequence[str] = (),
) -> Any:
    """Read a table of the package: features, a target, and ids of queries where it has them."""
    check_flag("return_X_y", return_X_y)
    check_flag("as_frame", as_frame)
    pd = import_pandas(f"load_{name}(as_frame=True)") if as_frame else None
    folder = resources.files("sklearn_rank.datasets") / "data"
    lines = gzip.decompress((folder / f"{name}.csv.gz").read_bytes()).decode("ascii").splitlines()
    names, *rows = csv.reader(lines)
    columns: dict[str, Any] = dict(zip(names, zip(*rows, strict=True), strict=True))
    labels: dict[str, Any] = {
        key: np.array(columns.pop(key), int) for key in ("target", "qid") if key in columns
    }
    categories = {}
    for key in categorical:
        levels, columns[key] = np.unique(columns[key], return_inverse=True)
        categories[key] = levels.tolist()
    data: Any = np.column_stack([np.array(column, float) for column in columns.values()])
    frame = None
    if pd is not None:
        data = pd.DataFrame(data, columns=list(columns))
        for key, levels in categories.items():
            data[key] = pd.Categorical.from_codes(columns[key], levels)
        frame = data.assign(**labels)
        labels = {key: frame[key] for key in labels}
    if return_X_y:
        return data, *labels.values()
    if categories:
        labels["categories"] = categories
    return Bunch(
        data=data,
        **labels,
        frame=frame,
        feature_names=list(columns),
        target_names=np.array(target_names),
        DESCR=(folder / f"{name}.rst").read_text(encoding="utf-8"),
    )
