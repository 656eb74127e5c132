"""What every fit shares: what is forgotten, given back, and said of a miss."""

import re
import warnings
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sklearn_rank import AccuracyAtTopRanker, OrderPreservingRanker
from sklearn_rank.exceptions import FeatureScaleWarning, LongFitWarning
from sklearn_rank.rankers import _base as _fitting
from sklearn_rank.rankers._base import (
    warn_not_converged,
    warn_of_scales,
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("gradient_norm", 0.012, 7, "raise alpha", ""),
            "The gradient norm relative to that at 0 is 1.2e-02 after 7 iterations and did"
            " not reach tol=0.001; raise max_iter or tol, raise alpha, or standardise the"
            " features.",
        ),
        (
            ("relative_gap", 0.5, 8, "lower C", "2 of 9 problems"),
            "2 of 9 problems did not reach tol=0.001: the largest relative duality gap is 5.0e-01"
            " after 7 iterations; raise tol, lower C, or standardise the features.",
        ),
    ],
)
def test_a_miss_says_what_missed_by_how_much_and_what_to_do(arguments, message):
    criterion, value, max_iter, regularise, problems = arguments
    estimator = SimpleNamespace(max_iter=max_iter, tol=1e-3)
    with pytest.warns(ConvergenceWarning, match=f"^{re.escape(message)}$"):
        warn_not_converged(estimator, criterion, value, 7, regularise, problems)


def test_the_warning_points_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_not_converged(SimpleNamespace(max_iter=1, tol=0.1), "relative_gap", 1.0, 1, "")
    assert caught[0].filename == __file__


def rows(n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        # Of four blocks, two are left after the second.
        (301, "about 10 minutes"),
        (3600, "about 2 hours"),
        (86400, "about 2 days"),
    ],
)
def test_a_fit_that_takes_long_says_so_once_and_names_another_ranker(
    monkeypatch, seconds, message
):
    monkeypatch.setattr(_fitting, "perf_counter", count(step=seconds).__next__)
    with pytest.warns(LongFitWarning) as caught:
        AccuracyAtTopRanker(tau=0.1, C=0.1).fit(*rows(256))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert str(caught[0].message).startswith(f"The remaining fit takes {message}: ")
    assert "TopFocusedRanker" in str(caught[0].message)


@pytest.mark.parametrize("seconds", [299, 0.9])
def test_a_fit_that_does_not_take_long_says_nothing(monkeypatch, seconds):
    monkeypatch.setattr(_fitting, "perf_counter", count(step=seconds).__next__)
    AccuracyAtTopRanker(tau=0.1, C=0.1).fit(*rows(256))


def test_the_forecast_waits_for_seconds_of_steps(monkeypatch):
    times = iter([0.0, 1e-6, 2e-6, 2.5])
    monkeypatch.setattr(_fitting, "perf_counter", times.__next__)
    AccuracyAtTopRanker(tau=0.1, C=0.1).fit(*rows(256))


def test_verbose_says_what_is_left(monkeypatch, capsys):
    monkeypatch.setattr(_fitting, "perf_counter", count(step=50).__next__)
    AccuracyAtTopRanker(tau=0.1, C=0.1, verbose=1).fit(*rows(320))
    assert capsys.readouterr().err.splitlines() == [
        "block 2 of 5: about 2 minutes left",
        "block 4 of 5: about 50 seconds left",
    ]
    AccuracyAtTopRanker(tau=0.1, C=0.1).fit(*rows(320))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_forecast_that_is_an_error_leaves_the_ranker_as_it_was(monkeypatch, n_jobs):
    X, y = rows(800)
    ranker = AccuracyAtTopRanker(tau=0.1, C=0.1, n_jobs=n_jobs).fit(X[:20], y[:20])
    before = ranker.coef_
    monkeypatch.setattr(_fitting, "perf_counter", count(step=1000).__next__)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LongFitWarning)
        with pytest.raises(LongFitWarning, match="about 3 hours"):
            ranker.fit(X, y)
    assert ranker.coef_ is before


@pytest.mark.parametrize(
    ("estimator", "options", "line"),
    [
        (AccuracyAtTopRanker(), {}, "make_pipeline(StandardScaler(), AccuracyAtTopRanker(...))"),
        (AccuracyAtTopRanker(), {"sparse": True}, "StandardScaler(with_mean=False)"),
        (
            OrderPreservingRanker(),
            {"within_queries": True},
            'or OrderPreservingRanker(normalize="zscore")',
        ),
    ],
)
def test_scales_that_differ_by_a_million_are_told_with_the_line_that_mends(
    estimator, options, line
):
    with pytest.warns(FeatureScaleWarning, match=re.escape(line)) as told:
        warn_of_scales(estimator, np.array([1e9, 1.0, 0.0, 2.0]), **options)
    assert "features 0 and 1 differ by a factor of 1.0e+09" in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_scales(estimator, np.array([9e5, 1.0, 0.0, 2.0]), **options)
        warn_of_scales(estimator, np.zeros(3), **options)
