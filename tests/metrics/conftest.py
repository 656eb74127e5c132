"""Metadata routing switched on, and rows of queries."""

import numpy as np
import pytest
from sklearn.experimental import enable_halving_search_cv  # noqa: F401

from tests.metrics.query_ranking import N_ITEMS


@pytest.fixture
def data():
    """Rows of queries mixed; each query shifts all its rows, so that ids matter."""
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.array(list("abcdefghi")), N_ITEMS))
    shift = np.unique(qid, return_inverse=True)[1]
    X = rng.normal(size=(len(qid), 3)) + shift[:, None]
    grade = np.clip(np.round(X[:, 0] - shift + rng.normal(size=len(qid))), 0, 3).astype(int)
    return X, grade, qid
