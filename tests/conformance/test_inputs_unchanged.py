"""Nothing that a user passes is changed: neither its numbers nor the layout of sparse matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from sklearn_rank import TopFocusedRanker
from tests.catalogue import BIPARTITE_CLASSES, QUERY_RANKERS

N, D = 40, 4


def unsorted_csr(dense, index=np.int32, *, duplicates=False):
    """Entries of each row in falling order of columns, some zeros stored, some entries in two."""
    data, indices, indptr = [], [], [0]
    for row in dense:
        for j in range(len(row) - 1, -1, -1):
            if row[j] or j == 0:
                parts = [row[j] / 2, row[j] / 2] if duplicates and j == 1 else [row[j]]
                data += parts
                indices += [j] * len(parts)
        indptr.append(len(data))
    X = sp.csr_array((np.array(data), np.array(indices), np.array(indptr)), shape=dense.shape)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return X


def draw():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.6)
    return dense, (dense[:, 0] + rng.normal(size=N) > 0).astype(int)


def read_only(dense):
    copy = dense.copy()
    copy.flags.writeable = False
    return copy


FORMS = {
    "by columns": np.asfortranarray,
    "read-only": read_only,
    "unsorted csr": unsorted_csr,
    "csr with duplicates": lambda dense: unsorted_csr(dense, duplicates=True),
    "csr of 64 bits": lambda dense: unsorted_csr(dense, np.int64),
    "csc": sp.csc_matrix,
}


def snapshot(X):
    """What X holds, and how."""
    if not sp.issparse(X):
        return X.flags.f_contiguous, X.tobytes()
    names = ("data", "indices", "indptr")
    # Whether indices are sorted is asked of a copy, since the answer is stored.
    return [(name, getattr(X, name).dtype, getattr(X, name).tobytes()) for name in names]


@pytest.mark.parametrize(
    "ranker", [*BIPARTITE_CLASSES, TopFocusedRanker(), *QUERY_RANKERS[1::2]], ids=repr
)
@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.FeatureScaleWarning")
@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.ZeroSolutionWarning")
def test_fits_change_no_input(ranker):
    for form in FORMS:
        assert_unchanged(ranker, form)


def assert_unchanged(ranker, form):
    dense, y = draw()
    X = FORMS[form](dense)
    if sp.issparse(X) and not ranker.__sklearn_tags__().input_tags.sparse:
        return
    if "64" in form and "DecisionTree" in repr(ranker):
        return  # scikit-learn's trees refuse such indices
    weight, more = 1 + np.arange(N) % 2, {}
    if ranker in QUERY_RANKERS:
        more = {"qid": np.arange(N)[::-1] // 8}
    arrays = [X, y, weight, *more.values()]
    before = [snapshot(array) for array in arrays]
    fitted = clone(ranker).fit(X, y, sample_weight=weight, **more)
    fitted.decision_function(X)
    assert [snapshot(array) for array in arrays] == before
