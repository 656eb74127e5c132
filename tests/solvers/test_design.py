"""The linear operator through which solvers meet the data, against numpy."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank._solvers._design import Design, as_design
from tests.naming import for_each

FORMS = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def rows(n=9, d=5, seed=0):
    """Rows with many zeros, among them an empty row and an empty column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    X[2], X[:, 3] = 0.0, 0.0
    return X, rng


@forms
def test_products_are_those_of_the_matrix(form):
    X, rng = rows()
    design = as_design(form(X))
    w, many, g, weight = (
        rng.normal(size=5),
        rng.normal(size=(5, 3)),
        rng.normal(size=9),
        rng.random(9),
    )
    assert design.shape == (9, 5)
    for found, expected in [
        (design.scores(w), X @ w),
        (design.scores(many), X @ many),
        (design.pull_back(g), X.T @ g),
        (design.gram(weight), X.T @ np.diag(weight) @ X),
        (design.absolute_scores(w), np.abs(X) @ np.abs(w)),
        (design.squared_norms(), np.linalg.norm(X, axis=1) ** 2),
        (design.to_array(), X),
    ]:
        assert type(found) is np.ndarray
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)


@forms
@pytest.mark.parametrize(
    "index", [slice(1, 6, 2), np.array([4, 0, 4]), np.arange(9) % 2 == 0, np.array([], dtype=int)]
)
def test_some_rows_are_a_design(form, index):
    X, _ = rows()
    part = as_design(form(X)).rows(index)
    assert isinstance(part, Design)
    assert part.shape == X[index].shape
    np.testing.assert_array_equal(part.to_array(), X[index])


def test_float_data_are_not_copied():
    X, _ = rows()
    assert as_design(X).matrix is X
    csr = sp.csr_array(X)
    assert np.shares_memory(as_design(csr).matrix.data, csr.data)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool, np.float32])
def test_other_real_numbers_become_float64(dtype):
    for form in (np.asarray, sp.csr_array):
        X = np.array([[1, 0, 1], [0, 0, 1]], dtype=dtype)
        design = as_design(form(X))
        assert design.matrix.dtype == np.float64
        np.testing.assert_array_equal(design.scores(np.array([0.5, 1.0, 0.25])), [0.75, 0.25])


@for_each(
    "X",
    [np.ones(3), np.ones((2, 2, 2)), np.array([["a"]]), np.array([[1j]]), sp.csr_array([[1j]])],
)
def test_what_is_no_matrix_of_real_numbers_is_refused(X):
    with pytest.raises(ValueError, match=r"X has shape \(.*\) and dtype .*, but must"):
        as_design(X)


@forms
def test_gram_matrix_follows_its_weights(form):
    """Few weights change, or most; and the caller writes to what it gets."""
    X, rng = rows()
    design, weight = as_design(form(X)), np.zeros(9)
    for n_changed in (9, 1, 4, 5, 0, 9, 2):
        weight = weight.copy()
        weight[rng.permutation(9)[:n_changed]] = rng.random(n_changed)
        gram, sums = design.gram_and_sums(weight, weight[:, np.newaxis])
        np.testing.assert_allclose(gram, X.T @ np.diag(weight) @ X, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(sums[:, 0], X.T @ weight, rtol=1e-12, atol=1e-12)
        gram += 1.0


@forms
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_no_rows_and_no_features(form, shape):
    design = as_design(form(np.zeros(shape)))
    np.testing.assert_array_equal(design.scores(np.ones(shape[1])), np.zeros(shape[0]))
    np.testing.assert_array_equal(design.pull_back(np.ones(shape[0])), np.zeros(shape[1]))
    assert design.gram(np.ones(shape[0])).shape == (shape[1], shape[1])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_equal_rows_have_equal_keys_in_canonical_form(form):
    X = np.array([[0.0, 1.0, 2.0], [-0.0, 1.0, 2.0], [0.0, 1.0, 0.0], [0.0, 1.0, 2.0 + 1e-15]])
    keys = as_design(form(X)).canonical().row_keys()
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    stored = sp.csr_array((np.array([0.0, 1.0, 1.0, 1.0]), [0, 2, 1, 2], [0, 4]), shape=(1, 3))
    (key,) = as_design(stored).canonical().row_keys()
    assert key == as_design(sp.csr_array(X[:1])).canonical().row_keys()[0]
    assert stored.nnz == 4
