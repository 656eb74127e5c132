"""The first 5,000 rows of MSLR-WEB10K, 43 queries, 136 features."""

from benchmark_utils.data import read, split
from benchopt import BaseDataset
from sklearn.model_selection import GroupKFold


class Dataset(BaseDataset):
    """One of five folds of queries."""

    name = "mslr_sample"
    requirements = ["scikit-learn"]
    parameters = {"fold": [1, 2, 3, 4, 5]}

    def get_data(self):
        """Read, and split by query."""
        X, y, qid = read(["mslr5k_train"], 136)
        train, test = list(GroupKFold(5).split(X, y, qid))[self.fold - 1]
        return split((X[train], y[train], qid[train]), (X[test], y[test], qid[test]))
