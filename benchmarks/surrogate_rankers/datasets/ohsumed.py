"""OHSUMED of LETOR 2.0, 106 queries in five parts, 16,140 x 25."""

from benchmark_utils.data import read, split
from benchmark_utils.letor import fold_parts
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """One of its five folds; the validation part trains as well."""

    name = "ohsumed"
    requirements = ["scikit-learn"]
    parameters = {"fold": [1, 2, 3, 4, 5]}

    def get_data(self):
        """Read four parts to train on and one to test on."""
        train, vali, test = (
            [f"ohsumed_S{part}" for part in parts] for parts in fold_parts(self.fold)
        )
        return split(read(train + vali, 25), read(test, 25))
