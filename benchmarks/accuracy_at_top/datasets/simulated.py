"""Two overlapping normal classes of any size, for tests and for the scaling in n and d."""

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Two normal classes whose means differ by a distance of 2 in all."""

    name = "simulated"

    parameters = {"n_samples": [400], "n_features": [20], "seed": [0]}
    test_parameters = {"n_samples": [60], "n_features": [4], "seed": [0]}

    def get_data(self):
        """Draw the rows, a third of them positive."""
        rng = np.random.RandomState(self.seed)
        y = np.where(np.arange(self.n_samples) % 3 == 0, 1.0, -1.0)
        X = rng.standard_normal((self.n_samples, self.n_features))
        X += y[:, None] / np.sqrt(self.n_features)
        return {"X": (X - X.mean(axis=0)) / X.std(axis=0), "y": y}
