"""Where the data come from."""

import os
from pathlib import Path

import numpy as np

from sklearn_rank.datasets import load_letor

REPOSITORY = Path(__file__).resolve().parents[3]


def data_directory():
    """Return the directory of the data: ``SKLEARN_RANK_DATA``, else beside the repository."""
    return Path(os.environ.get("SKLEARN_RANK_DATA", REPOSITORY.parent / "shared" / "data"))


def data_file(name):
    """Return the path of a file of data.

    Raises
    ------
    FileNotFoundError
        If it is not there.
    """
    path = data_directory() / name
    if not path.is_file():
        raise FileNotFoundError(
            f"The benchmark data {name} are not in {path.parent}: pass --data, or set the"
            " environment variable SKLEARN_RANK_DATA, to the directory that holds them, or leave"
            " the data set out."
        )
    return path


def read(names, n_features):
    """Read and join svmlight files, as ``(X, grade, qid)``."""
    paths = [data_file(f"{name}.svm.gz") for name in names]
    X, grade, qid = load_letor(paths, return_X_y=True, n_features=n_features, zero_based=False)
    return X, grade, np.asarray(qid)


def split(train, test):
    """Name the parts as the judge takes them."""
    X, y, qid = train
    X_test, y_test, qid_test = test
    return {
        "X": X,
        "y": y,
        "qid": qid,
        "X_test": X_test,
        "y_test": y_test,
        "qid_test": qid_test,
    }
