"""The vocabulary of certificates."""

import dataclasses

import numpy as np
import pytest

from sklearn_rank._solvers._result import Certificate, relative_gap
from tests.naming import for_each


@for_each(
    ("objective", "lower_bound", "expected"),
    [
        (2.0, 1.5, 0.25),
        (2.0, -2.0, 2.0),
        (-2.0, -3.0, 0.5),
        (0.0, 0.0, 0.0),
        (1.0, 1.0 + 1e-16, 0.0),
        (1.0, 1.1, 0.0),
        (0.0, -1.0, np.inf),
        (1.0, np.nan, np.nan),
        (0.0, np.nan, np.nan),
        (1.0, -np.inf, np.inf),
    ],
)
def test_the_relative_gap_is_a_share_of_the_objective(objective, lower_bound, expected):
    np.testing.assert_equal(Certificate(objective, lower_bound).relative_gap, expected)
    np.testing.assert_equal(
        relative_gap(np.full((2, 3), objective), np.full((2, 3), lower_bound)),
        np.full((2, 3), expected),
    )


def test_a_certificate_that_is_not_there_is_nan_and_none_can_be_changed():
    certificate = Certificate(1.0)
    assert np.isnan([certificate.lower_bound, certificate.gradient_norm]).all()
    assert np.isnan(certificate.relative_gap)
    with pytest.raises(dataclasses.FrozenInstanceError):
        certificate.objective = 0.0
