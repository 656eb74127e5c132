"""What every fit shares: what is forgotten, given back, and said of a miss."""

import re
import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning

from sklearn_rank.rankers._fitting import forget, restored_on_error, warn_not_converged


class Estimator:
    pass


def test_an_error_gives_back_what_was_fitted():
    estimator = Estimator()
    estimator.coef_ = before = [1.0]

    def fail():
        with restored_on_error(estimator):
            estimator.coef_, estimator.other_ = [2.0], 3
            raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        fail()
    assert vars(estimator) == {"coef_": before}
    assert estimator.coef_ is before


def test_without_an_error_what_is_fitted_stays():
    estimator = Estimator()
    with restored_on_error(estimator):
        estimator.coef_ = 2
    assert estimator.coef_ == 2


def test_attributes_are_forgotten_whether_they_are_there_or_not():
    estimator = Estimator()
    estimator.coef_, estimator.dual_coef_ = 1, 2
    forget(estimator, "coef_", "support_")
    assert vars(estimator) == {"dual_coef_": 2}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("gradient_norm", 0.012, "raise alpha", ""),
            "The gradient norm relative to that at 0 is 1.2e-02 after 7 iterations and misses"
            " tol=0.001; raise max_iter or tol, raise alpha, or standardise the features.",
        ),
        (
            ("relative_gap", 0.5, "lower C", "2 of 9 problems"),
            "2 of 9 problems missed tol=0.001: the largest relative duality gap is 5.0e-01 after 7"
            " iterations; raise max_iter or tol, lower C, or standardise the features.",
        ),
    ],
)
def test_a_miss_says_what_missed_by_how_much_and_what_to_do(arguments, message):
    criterion, value, regularise, problems = arguments
    with pytest.warns(ConvergenceWarning, match=f"^{re.escape(message)}$"):
        warn_not_converged(
            criterion, value, n_iter=7, tol=1e-3, regularise=regularise, problems=problems
        )


def test_the_warning_points_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_not_converged("relative_gap", 1.0, n_iter=1, tol=0.1, regularise="lower C")
    assert caught[0].filename == __file__
