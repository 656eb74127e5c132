"""Spambase, 3,067 x 57."""

from benchmark_utils.data import prepare, read_csv
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Spambase, 3,067 x 57."""

    name = "spambase"
    requirements = ["scikit-learn"]

    def get_data(self):
        """Read, split and standardise."""
        return prepare(*read_csv("spambase.csv.gz"))
