"""Pima Indians diabetes, 512 x 8."""

from benchmark_utils.data import prepare, read_csv
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Pima Indians diabetes, 512 x 8."""

    name = "pima"
    requirements = ["scikit-learn"]

    def get_data(self):
        """Read, split and standardise."""
        return prepare(*read_csv("pima_diabetes.csv.gz"))
