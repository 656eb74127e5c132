"""Six sets of label rankings, their folds, the hidden labels, and the evaluation."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from measuring import data_directory
from scipy.stats import kendalltau
from sklearn.model_selection import RepeatedKFold

SETS = ("bodyfat", "glass", "housing", "iris", "vowel", "wine")
FOLDS, REPEATS, SEED = 10, 5, 42


@cache
def rows_of(name):
    """Read features and positions of labels, 1 is the top."""
    path = data_directory() / "label_ranking" / f"lr_{name}.csv.gz"
    table = pd.read_csv(path)
    ranks = table.columns.str.startswith("rank")
    return table.loc[:, ~ranks].to_numpy(float), table.loc[:, ranks].to_numpy(float)


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold of a set.

    Parameters
    ----------
    X, positions : ndarray
        Rows to learn from; positions of their labels from 1, the top, NaN is hidden.
    X_test : ndarray
        Rows to score.
    """

    X: np.ndarray
    positions: np.ndarray
    X_test: np.ndarray

    def complete(self):
        """The rows of which every label is known."""
        kept = ~np.isnan(self.positions).any(axis=1)
        return Fold(self.X[kept], self.positions[kept], self.X_test)


@cache
def fold_of(name, share, repeat, number):
    """One fold with a share of the labels hidden, and the positions of its test rows."""
    X, positions = rows_of(name)
    folds = RepeatedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=SEED)
    train, test = list(folds.split(X))[FOLDS * repeat + number]
    known = hidden(positions[train], share, FOLDS * repeat + number)
    return Fold(X[train], known, X[test]), positions[test]


def hidden(values, share, seed):
    """Hide a share of the labels at random, each by itself; two or more of each row stay."""
    order = np.random.default_rng(seed).random(values.shape)
    lost = order < share
    np.put_along_axis(lost, np.argsort(order, axis=1)[:, -2:], False, axis=1)
    return np.where(lost, np.nan, values)


def mean_tau(positions, scores):
    """Mean over the rows of Kendall's tau-b; 0 where all scores of a row are equal."""
    taus = [
        kendalltau(-p, s).statistic if np.ptp(s) > 0 else 0.0
        for p, s in zip(positions, scores, strict=True)
    ]
    return float(np.mean(taus))
