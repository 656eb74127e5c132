"""Many lists with grades from 0 to 4: ragged, ragged with the rows shuffled, or one length."""

import numpy as np
from benchopt import BaseDataset
from scipy.special import expit


class Dataset(BaseDataset):
    """Scores between 0 and 1, correlated with the grade; ``decimals=1`` makes heavy ties.

    ``layout="ragged"``: lengths from 1 to 199 at random, rows by ascending id. ``"shuffled"``:
    the same rows in random order. ``"dense"``: 100 rows each, arrays with two axes.
    """

    name = "queries"
    requirements = ["numpy", "scipy"]

    parameters = {
        "n_queries": [10_000],
        "layout": ["ragged", "shuffled", "dense"],
        "decimals": [None, 1],
        "seed": [0],
    }
    test_parameters = {
        "n_queries": [50],
        "layout": ["ragged", "shuffled", "dense"],
        "decimals": [None, 1],
        "seed": [0],
    }

    def get_data(self):
        """Draw the lists."""
        rng = np.random.RandomState(self.seed)
        lengths = rng.randint(1, 200, self.n_queries)
        if self.layout == "dense":
            lengths = np.full(self.n_queries, 100)
        n = int(lengths.sum())
        grades = rng.choice(5, n, p=[0.5, 0.25, 0.15, 0.07, 0.03]).astype(np.int64)
        score = expit(rng.standard_normal(n) + 0.5 * grades - 0.5)
        if self.decimals is not None:
            score = np.round(score, self.decimals)
        ids = 7 + 3 * np.arange(self.n_queries, dtype=np.int64)
        qid, offsets = np.repeat(ids, lengths), np.append(0, np.cumsum(lengths))
        if self.layout == "dense":
            shape = self.n_queries, 100
            grades, score, qid = grades.reshape(shape), score.reshape(shape), None
        elif self.layout == "shuffled":
            rows = rng.permutation(n)
            grades, score, qid, offsets = grades[rows], score[rows], qid[rows], None
        return {"grades": grades, "score": score, "qid": qid, "offsets": offsets}
