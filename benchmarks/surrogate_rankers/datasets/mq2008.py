"""Two of the five parts of MQ2008 of LETOR 4.0, 157 queries each, 46 features."""

from benchmark_utils.data import read, split
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Train on one part and test on the other."""

    name = "mq2008"
    requirements = ["scikit-learn"]
    parameters = {"fold": [1, 2]}

    def get_data(self):
        """Read the parts."""
        parts = ["mq2008_S1", "mq2008_S4"]
        train, test = parts[:: 1 if self.fold == 1 else -1]
        return split(read([train], 46), read([test], 46))
