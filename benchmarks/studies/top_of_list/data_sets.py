"""All available sets of two classes, and the splits of their rows."""

import gzip
import zlib
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from measuring import data_directory
from sklearn import datasets
from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit

from sklearn_rank.datasets import load_letor

from . import generators

N_TRAIN = 500
N_TEST = 1000
OF_QUERY = 40


@dataclass(frozen=True)
class DataSet:
    """Where the rows of a set come from.

    Parameters
    ----------
    name : str
        Shown in the tables.
    kind : {"dev", "confirm", "made"}
        Constants were chosen on "dev"; "made" is drawn afresh for every split.
    load : callable
        Returns ``(X, y, queries)``, ``queries`` being None where rows are independent; for "made"
        it takes a number of rows and a generator of random numbers.
    n_train : int
        Rows to train on where the set is made at full size.
    """

    name: str
    kind: str
    load: object
    n_train: int = N_TRAIN


@dataclass(frozen=True)
class Split:
    """Rows to train on and rows to test on.

    Parameters
    ----------
    X, y, queries : ndarray
        The training rows; ``queries`` is None or the query of each.
    X_test, y_test : ndarray
        The test rows.
    share : float
        Share of the whole set that this split uses; 0 where rows were drawn for it.
    """

    X: np.ndarray
    y: np.ndarray
    queries: np.ndarray | None
    X_test: np.ndarray
    y_test: np.ndarray
    share: float


def _path(name):
    path = data_directory() / name
    if not path.is_file():
        raise FileNotFoundError(f"{name} is not in {path.parent}")
    return path


def _read(name):
    with gzip.open(_path(name), "rt") as lines:
        return np.loadtxt(lines, delimiter=",", skiprows=1)


def _csv(name):
    """Distinct rows of a file whose last column is the target."""
    table = np.unique(_read(f"{name}.csv.gz"), axis=0)
    return table[:, :-1], table[:, -1].astype(int), None


def _graded(names, n_features, grade, of_query=OF_QUERY):
    """Documents of queries, so many at random of each at most: is the grade at least this?"""
    parts, rng = [], np.random.default_rng(0)
    for name in names:
        X, y, qid = load_letor(
            _path(f"{name}.svm.gz"), return_X_y=True, n_features=n_features, zero_based=False
        )
        rows = {}
        for row in rng.permutation(len(y)):
            rows.setdefault(qid[row], []).append(row)
        kept = np.concatenate([found[:of_query] for found in rows.values()])
        parts.append((X[kept], y[kept], [f"{name} {query}" for query in qid[kept]]))
    X, y, queries = (np.concatenate(of_parts) for of_parts in zip(*parts, strict=True))
    return X, (y >= grade).astype(int), np.unique(queries, return_inverse=True)[1]


def _first_label(name, n_labels):
    """Is the label that comes first most often the first one?"""
    table = _read(f"label_ranking/{name}.csv.gz")
    first = np.argmin(table[:, -n_labels:], axis=1)
    return table[:, :-n_labels], (first == np.bincount(first).argmax()).astype(int), None


def _of_sklearn(load, positive):
    X, y = load(return_X_y=True)
    return X, (y == positive).astype(int), None


def _diabetes():
    X, y = datasets.load_diabetes(return_X_y=True)
    return X, (y >= np.quantile(y, 0.8)).astype(int), None


def _made(kind):
    def load(n, rng):
        return *generators.draw(n, rng, **generators.KINDS[kind]), None

    return load


OHSUMED = tuple(f"ohsumed_S{part}" for part in range(1, 6))
LIGHTGBM = ("lightgbm_rank_train", "lightgbm_rank_test")
MQ2008 = ("mq2008_S1", "mq2008_S4")

SETS = [
    DataSet("ionosphere", "dev", partial(_csv, "ionosphere")),
    DataSet("pima_diabetes", "dev", partial(_csv, "pima_diabetes")),
    DataSet("spambase", "dev", partial(_csv, "spambase")),
    DataSet("breast_cancer", "dev", partial(_of_sklearn, datasets.load_breast_cancer, 0)),
    DataSet("boston_chas", "confirm", partial(_csv, "boston_chas")),
    DataSet("a9a", "confirm", partial(_csv, "a9a_train")),
    DataSet("w8a", "confirm", partial(_csv, "w8a_train")),
    DataSet("digits_8", "confirm", partial(_of_sklearn, datasets.load_digits, 8)),
    DataSet("digits_3", "confirm", partial(_of_sklearn, datasets.load_digits, 3)),
    DataSet("wine_2", "confirm", partial(_of_sklearn, datasets.load_wine, 1)),
    DataSet("diabetes_top_fifth", "confirm", _diabetes),
    DataSet("vowel_first", "confirm", partial(_first_label, "lr_vowel", 11)),
    DataSet("housing_first", "confirm", partial(_first_label, "lr_housing", 6)),
    DataSet("glass_first", "confirm", partial(_first_label, "lr_glass", 6)),
    DataSet("mq2008_1", "confirm", partial(_graded, MQ2008, 46, 1)),
    DataSet("mq2008_2", "confirm", partial(_graded, MQ2008, 46, 2)),
    DataSet("ohsumed_1", "confirm", partial(_graded, OHSUMED, 25, 1)),
    DataSet("ohsumed_2", "confirm", partial(_graded, OHSUMED, 25, 2)),
    DataSet("mslr5k_2", "confirm", partial(_graded, ("mslr5k_train",), 136, 2)),
    DataSet("lightgbm_rank_2", "confirm", partial(_graded, LIGHTGBM, 300, 2)),
    DataSet("lightgbm_rank_3", "confirm", partial(_graded, LIGHTGBM, 300, 3)),
    *(DataSet(f"made_{kind}", "made", _made(kind)) for kind in generators.KINDS),
]


@cache
def loaded(data_set):
    """Rows, target and queries of a set, read once."""
    return data_set.load()


def split_of(data_set, number, n_train=N_TRAIN, n_test=N_TEST):
    """Split ``number`` of a set: always the same rows.

    At most ``n_train`` rows, and at most half of a small set, are trained on; at most ``n_test``
    or a tenth of the set, whichever is more, are tested on. Rows of one query stay together.
    """
    if data_set.kind == "made":
        return _fresh(data_set, number, n_train, 5 * n_test)
    n = len(loaded(data_set)[1])
    n_train = min(n_train, n // 2)
    return _parted(data_set, number, n_train, min(n - n_train, max(n_test, n // 10)))


def _fresh(data_set, number, n_train, n_test):
    rng = np.random.default_rng(_seed(data_set, number))
    X, y, _ = data_set.load(n_train + n_test, rng)
    return Split(X[:n_train], y[:n_train], None, X[n_train:], y[n_train:], 0.0)


def _seed(data_set, number):
    return zlib.crc32(f"{data_set.name} {number}".encode())


def _parted(data_set, number, n_train, n_test):
    X, y, queries = loaded(data_set)
    n, seed = len(y), _seed(data_set, number)
    if queries is None:
        splits = StratifiedShuffleSplit(1, train_size=n_train, test_size=n_test, random_state=seed)
    else:
        splits = GroupShuffleSplit(
            1, train_size=n_train / n, test_size=n_test / n, random_state=seed
        )
    train, test = next(splits.split(X, y, queries))
    return Split(
        X[train],
        y[train],
        None if queries is None else queries[train],
        X[test],
        y[test],
        (len(train) + len(test)) / n,
    )
