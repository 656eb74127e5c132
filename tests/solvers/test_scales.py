"""Scales of columns, from which coordinates and warnings come."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_rank._solvers import as_design, column_scales


def columns():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(5000, 6))
    z *= [1.0, 1e-9, 1e9, 1e4, 1.0, 0.0]
    z += [0.0, 0.0, 0.0, 1.7e9, 0.0, 0.1]
    z[:, 4] = z[:, 4] > 2
    return z


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sp.csr_array, as_design])
def test_scales_are_standard_deviations_for_any_mean_and_unit(kind):
    X = columns()
    wanted = X.std(axis=0)
    wanted[-1] = 0.0
    np.testing.assert_allclose(column_scales(kind(X)), wanted, rtol=1e-4)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_weights_are_repetitions_and_one_row_of_1e8_hides_no_other_column(kind):
    X = columns()[:50]
    X[7, 0] = 1e8
    weight = np.random.default_rng(1).integers(0, 3, 50).astype(float)
    found = column_scales(kind(X), weight)
    np.testing.assert_allclose(
        found, column_scales(np.repeat(X, weight.astype(int), axis=0)), rtol=1e-4
    )


def test_constant_columns_of_a_sparse_matrix_have_no_scale():
    constants = np.array([0.1, 0.3, 1 / 3, 0.7, 1e9 / 7])
    assert column_scales(sp.csr_array(np.tile(constants, (7, 1)))).tolist() == [0.0] * 5


def test_entries_that_a_sparse_matrix_has_twice_are_summed():
    twice = sp.csr_array((np.ones(3), np.array([0, 0, 0]), np.array([0, 2, 3])), shape=(2, 1))
    assert column_scales(twice) == pytest.approx([0.5])
    assert len(twice.data) == 3
