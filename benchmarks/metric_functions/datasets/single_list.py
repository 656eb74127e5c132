"""One list of binary labels, one in ten positive."""

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Normal scores, those of the positives moved up by 1; ``decimals=1`` makes heavy ties."""

    name = "single_list"
    requirements = ["numpy"]

    parameters = {"n_samples": [10_000, 1_000_000], "decimals": [None, 1], "seed": [0]}
    test_parameters = {"n_samples": [1_000], "decimals": [None, 1], "seed": [0]}

    def get_data(self):
        """Draw the scores."""
        rng = np.random.RandomState(self.seed)
        grades = (rng.uniform(size=self.n_samples) < 0.1).astype(np.int64)
        score = rng.standard_normal(self.n_samples)
        score += grades
        if self.decimals is not None:
            score = np.round(score, self.decimals)
        return {"grades": grades, "score": score, "qid": None, "offsets": None}
