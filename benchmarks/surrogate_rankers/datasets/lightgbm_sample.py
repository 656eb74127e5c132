"""The example of LightGBM, 201 queries to train on and 50 to test on, 300 features."""

from benchmark_utils.data import read, split
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """As it is given."""

    name = "lightgbm_sample"
    requirements = ["scikit-learn"]

    def get_data(self):
        """Read both parts."""
        return split(read(["lightgbm_rank_train"], 300), read(["lightgbm_rank_test"], 300))
