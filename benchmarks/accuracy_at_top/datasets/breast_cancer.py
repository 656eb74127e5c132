"""Breast cancer Wisconsin, 379 x 30, from scikit-learn."""

from benchmark_utils.data import prepare
from benchopt import BaseDataset
from sklearn.datasets import load_breast_cancer


class Dataset(BaseDataset):
    """Breast cancer Wisconsin, 379 x 30."""

    name = "breast_cancer"
    requirements = ["scikit-learn"]

    def get_data(self):
        """Load, split and standardise."""
        return prepare(*load_breast_cancer(return_X_y=True))
