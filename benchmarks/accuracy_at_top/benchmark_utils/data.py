"""Where the data come from and how all data sets are prepared."""

import gzip
import os
from pathlib import Path

import numpy as np
from sklearn.preprocessing import StandardScaler

SPLIT_SEED = 0
REPOSITORY = Path(__file__).resolve().parents[3]


def read_csv(name):
    """Read a csv.gz whose last column is the target, from the data directory."""
    directory = Path(os.environ.get("SKLEARN_RANK_DATA", REPOSITORY.parent / "shared" / "data"))
    path = directory / name
    if not path.is_file():
        raise FileNotFoundError(
            f"The benchmark data {name} are not in {directory}: set the environment variable"
            " SKLEARN_RANK_DATA to the directory that holds them, or leave the data set out."
        )
    with gzip.open(path, "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1]


def prepare(X, target):
    """Two thirds of the rows at random, standardised; labels -1 and +1."""
    rows = np.random.RandomState(SPLIT_SEED).permutation(len(target))[: 2 * len(target) // 3]
    X = np.ascontiguousarray(StandardScaler().fit_transform(X[rows]))
    return {"X": X, "y": np.where(target[rows] == 1, 1.0, -1.0)}
