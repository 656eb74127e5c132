"""Odd numbers as parameters: every one is refused in a sentence, or gives finite scores."""

import decimal
import fractions

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import InvalidParameterError

from sklearn_rank import TopFocusedRanker
from sklearn_rank._sklearn_compat import Interval
from sklearn_rank.datasets import make_label_ranking, make_subset_ranking
from tests.catalogue import BIPARTITE_RANKERS, LABEL_RANKERS, META_RANKERS, QUERY_RANKERS

NO_NUMBERS = [True, "1", 1j, fractions.Fraction(1, 3), decimal.Decimal("0.3"), np.array(0.5)]
OUT_OF_RANGE = [np.nan, 2**2000, -(2**2000), 2**63, 1e308, 5e-324, -np.inf, np.inf]

RANKERS = {
    type(ranker): ranker
    for ranker in [*BIPARTITE_RANKERS, *META_RANKERS, *QUERY_RANKERS, *LABEL_RANKERS]
}


def numeric_parameters(ranker):
    """Names of the parameters with an interval of numbers."""
    return [
        name
        for name, allowed in ranker._parameter_constraints.items()
        if any(isinstance(one, Interval) for one in allowed)
    ]


def data_of(ranker):
    if type(ranker) in map(type, LABEL_RANKERS):
        X, y = make_label_ranking(40, n_labels=3, return_X_y=True, random_state=0)
        return (X, 0.5 * y), {}
    if hasattr(ranker, "single_list"):
        X, y, qid = make_subset_ranking(16, n_items=6, return_X_y=True, random_state=0)
        return (X, y), {"qid": qid}
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return (X, (X[:, 0] + rng.normal(size=80) > 0.5).astype(int)), {}


CASES = [
    pytest.param(ranker, name, id=f"{cls.__name__}-{name}")
    for cls, ranker in RANKERS.items()
    for name in numeric_parameters(ranker)
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("ranker", "name"), CASES)
def test_odd_numbers(ranker, name):
    base = LogisticRegression() if isinstance(ranker, TopFocusedRanker) else None
    (X, y), ids = data_of(ranker)
    i = sum(map(ord, name)) % len(NO_NUMBERS)
    for value in (*NO_NUMBERS[i : i + 2], *OUT_OF_RANGE):
        ranker = clone(ranker)
        if base is not None:
            ranker.set_params(estimator=base)
        if "max_iter" in ranker.get_params():
            ranker.set_params(max_iter=20)
        ranker.set_params(**{name: value})
        try:
            scores = ranker.fit(X, y, **ids).decision_function(X, **ids)
        except InvalidParameterError as error:
            assert f"'{name}' parameter" in str(error)  # noqa: PT017
        except ValueError as error:
            assert name in str(error), value  # noqa: PT017
        else:
            # An array may be a value of several; a string may be a name.
            refused = [one for one in NO_NUMBERS if not isinstance(one, str | np.ndarray)]
            assert not any(value is one for one in refused)
            assert np.isfinite(scores).all(), value
