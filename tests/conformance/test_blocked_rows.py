"""Rows that are not in memory: a ranker takes them block by block, or refuses them by name.

No ranker brings them into memory without a word.
"""

import numpy as np
import pytest
from sklearn.base import clone

from tests.catalogue import BIPARTITE_RANKERS, LABEL_RANKERS, META_RANKERS, QUERY_RANKERS

from .test_estimators import FOR_CHECKS

da = pytest.importorskip("dask.array")

EVERY = [*META_RANKERS, *BIPARTITE_RANKERS, *QUERY_RANKERS, *LABEL_RANKERS]
# One of each class, the first of the catalogue, with members that are fitted fast.
RANKERS = {
    name: clone(ranker).set_params(**FOR_CHECKS.get(name, {}))
    for name, ranker in {type(one).__name__: one for one in reversed(EVERY)}.items()
}
BLOCK_BY_BLOCK = {
    "OrderPreservingRanker",
    "PNormPushRanker",
    "RankStatisticRanker",
    "TopPushRanker",
}

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
y = (X @ [1.0, 0.5, 0.0] + rng.normal(size=120) > 0.5).astype(int)
qid = np.repeat(np.arange(12), 10)


def collections():
    return da.from_array(X, chunks=(40, 3)), da.from_array(y, chunks=40)


def ids_of(ranker, ids):
    of_queries = type(ranker).__name__ in {type(one).__name__ for one in QUERY_RANKERS}
    of_queries |= type(ranker).__name__ == "GroupRankerAdapter"
    return {"qid": ids} if of_queries or type(ranker).__name__ == "RankEnsemble" else {}


def fitted(ranker):
    if type(ranker).__name__ in {type(one).__name__ for one in LABEL_RANKERS}:
        return clone(ranker).fit(X, np.argsort(X, axis=1) + 0.5, **ids_of(ranker, qid))
    return clone(ranker).fit(X, y, **ids_of(ranker, qid))


@pytest.fixture(params=RANKERS)
def name(request):
    if request.param == "GroupRankerAdapter":
        pytest.importorskip("lightgbm")
    return request.param


def test_a_fit_is_that_of_memory_or_is_refused(name):
    ranker, rows = RANKERS[name], collections()
    ids = ids_of(ranker, da.from_array(qid, chunks=40))
    if name in BLOCK_BY_BLOCK:
        found = clone(ranker).fit(*rows, **ids)
        np.testing.assert_allclose(found.coef_, fitted(ranker).coef_, rtol=1e-6, atol=1e-9)
    else:
        with pytest.raises(TypeError, match=f"^{name} needs X in memory"):
            clone(ranker).fit(*rows, **ids)


def test_scores_are_those_of_memory_or_are_refused(name):
    ranker, (X_dask, _) = fitted(RANKERS[name]), collections()
    score = getattr(ranker, "decision_function", ranker.predict)
    try:
        found = score(X_dask)
    except TypeError as error:
        assert str(error).startswith(f"{name} needs X in memory")  # noqa: PT017
        assert name not in BLOCK_BY_BLOCK
    else:
        np.testing.assert_allclose(np.asarray(found), score(X), rtol=1e-9)
        assert isinstance(found, da.Array)


def test_queries_of_partial_fit_are_in_memory():
    ranker, (X_dask, _) = fitted(RANKERS["OrderPreservingRanker"]), collections()
    with pytest.raises(TypeError, match="needs X in memory"):
        ranker.partial_fit(X_dask, y, qid=qid)
