"""Fits that were killed go on from what they had solved, to the same bits."""

import errno
import os
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from sklearn_rank import AccuracyAtTopRanker, AccuracyAtTopRankerCV
from sklearn_rank._solvers import PivotSolver
from sklearn_rank.exceptions import CheckpointWarning
from sklearn_rank.rankers._base import FitProgress


def rows(n=140, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), np.arange(n) % 3 == 0
    X[:, 0] += y
    return X, y.astype(int)


def assert_same(one, other):
    weights = "coef_" if one.kernel == "linear" else "dual_coef_"
    for name in (weights, "candidate_objectives_", "candidate_distances_", "threshold_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.fixture
def solved(monkeypatch):
    """Numbers of pivots that were solved for, call by call."""
    calls = []
    solve = PivotSolver.__call__

    def counted(self, problem, pivots, *args):
        calls.append(len(pivots))
        return solve(self, problem, pivots, *args)

    monkeypatch.setattr(PivotSolver, "__call__", counted)
    return calls


@pytest.fixture
def killed_after(monkeypatch):
    """Run a fit and end it after some blocks, as Ctrl-C does."""

    def run(n_blocks, ranker, X, y):
        step, left = FitProgress.step, [n_blocks]

        def killed(self, found=False):
            step(self, found)
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(FitProgress, "step", killed)
            with pytest.raises(KeyboardInterrupt):
                ranker.fit(X, y)

    return run


@pytest.mark.parametrize(
    ("form", "shape", "options"),
    [
        (np.asarray, (140, 4), {}),
        (np.asarray, (140, 4), {"selection": "refine", "n_jobs": 2}),
        (np.asarray, (140, 200), {}),  # solved in the span of the rows
        (np.asarray, (140, 4), {"kernel": "rbf"}),
        (sp.csr_array, (140, 4), {}),
    ],
    ids=["dense", "refine", "wide", "kernel", "sparse"],
)
def test_a_fit_goes_on_to_the_same_bits(form, shape, options, tmp_path, killed_after, solved):
    X, y = rows(*shape)
    X = form(X)
    ranker = AccuracyAtTopRanker(tau=0.1, C=0.01, **options)
    expected = clone(ranker).fit(X, y)
    ranker.set_params(checkpoint=tmp_path / "kept")
    killed_after(3, ranker, X, y)
    assert not hasattr(ranker, "coef_")
    killed_after(4, ranker, X, y)  # three found and one solved
    solved.clear()
    ranker.fit(X, y)
    # 140 pivots are five blocks; averages of sparse data are solved for again.
    assert solved[0] == 12
    if shape == (140, 4) and "kernel" not in options:  # no folds for the threshold
        assert len(solved) == 1 + (form is sp.csr_array)
    assert_same(expected, ranker)
    assert list((tmp_path / "kept").iterdir()) == []


def test_the_forecast_is_of_what_is_left(tmp_path, killed_after, capsys):
    X, y = rows()
    ranker = AccuracyAtTopRanker(tau=0.1, C=0.01, checkpoint=tmp_path, verbose=1)
    killed_after(3, ranker, X, y)
    capsys.readouterr()
    ranker.fit(X, y)
    assert "block 2 of 2: about 0 seconds left" in capsys.readouterr().err


def test_a_fit_without_an_end_is_not_cleared(tmp_path, killed_after, solved, monkeypatch):
    X, y = rows()
    ranker = AccuracyAtTopRanker(tau=0.1, C=0.01, checkpoint=str(tmp_path))

    def failing(self):
        raise RuntimeError("a callback failed")

    with monkeypatch.context() as patch:
        patch.setattr(FitProgress, "done", failing)
        with pytest.raises(RuntimeError, match="callback"):
            ranker.fit(X, y)
    solved.clear()
    ranker.fit(X, y)
    assert solved == []


def test_other_problems_find_nothing(tmp_path, killed_after, solved):
    X, y = rows()
    ranker = AccuracyAtTopRanker(tau=0.1, C=0.01, checkpoint=tmp_path)
    killed_after(4, ranker, X, y)
    moved = X.copy()
    moved[7, 1] += 1e-12
    others = [
        (ranker, moved, y),
        (ranker, X, 1 - y),
        (clone(ranker).set_params(C=0.02), X, y),
        (clone(ranker).set_params(tau=0.2), X, y),
        (clone(ranker).set_params(tol=1e-5), X, y),
        (clone(ranker).set_params(quantile="pairs"), X, y),
    ]
    for other, X_other, y_other in others:
        solved.clear()
        found = clone(other).fit(X_other, y_other)
        assert sum(solved) == 140
        assert_same(clone(other).set_params(checkpoint=None).fit(X_other, y_other), found)
    solved.clear()
    clone(ranker).fit(X, y)
    assert sum(solved) == 12


def test_a_damaged_block_is_solved_again(tmp_path, killed_after, solved):
    X, y = rows()
    ranker = AccuracyAtTopRanker(tau=0.1, C=0.01, checkpoint=tmp_path)
    killed_after(4, ranker, X, y)
    (file,) = tmp_path.rglob("block-1.npz")
    file.write_bytes(file.read_bytes()[:-30])
    solved.clear()
    with pytest.warns(CheckpointWarning, match=r"block-1\.npz' is damaged") as caught:
        ranker.fit(X, y)
    assert caught[0].filename == __file__
    assert solved == [32, 12]
    assert_same(clone(ranker).set_params(checkpoint=None).fit(X, y), ranker)


def changed(name, value):
    def change(arrays):
        arrays[name] = value(arrays[name])

    return change


def first_as(number):
    return lambda array: np.where(np.arange(array.size).reshape(array.shape) == 0, number, array)


DAMAGE = {
    "NaN": changed("objective", first_as(np.nan)),
    "inf": changed("objective", first_as(np.inf)),
    "-inf": changed("lower_bound", first_as(-np.inf)),
    "short": changed("distance", lambda array: array[:-1]),
    "short coef": changed("coef", lambda array: array[:, 1:]),
    "words": changed("n_iter", lambda array: array.astype(str)),
    "lacks one": lambda arrays: arrays.pop("scaled"),
    "another": lambda arrays: arrays.update(more=np.zeros(2)),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_block_of_other_arrays_is_solved_again(damage, tmp_path, killed_after):
    X, y = rows()
    ranker = AccuracyAtTopRanker(tau=0.1, C=0.01, checkpoint=tmp_path)
    killed_after(4, ranker, X, y)
    (file,) = tmp_path.rglob("block-1.npz")
    with np.load(file) as saved:
        arrays = dict(saved)
    DAMAGE[damage](arrays)
    np.savez(file, **arrays)  # with checksums that are right
    with pytest.warns(CheckpointWarning, match=r"block-1\.npz' is damaged"):
        ranker.fit(X, y)
    assert_same(clone(ranker).set_params(checkpoint=None).fit(X, y), ranker)
    assert np.isfinite(ranker.dual_gap_)


def test_a_full_disk_keeps_what_was_solved_and_the_old_fit(tmp_path, solved, monkeypatch):
    X, y = rows()
    ranker = AccuracyAtTopRanker(tau=0.1, C=0.01).fit(X[:30], y[:30])
    before = ranker.coef_.copy()
    ranker.set_params(checkpoint=tmp_path)
    sync, left = os.fsync, [3]  # the folder is opened, and two blocks are written

    def full(descriptor):
        if left[0] == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        left[0] -= 1
        sync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"No space left on device.*fit again to continue"):
            ranker.fit(X, y)
    np.testing.assert_array_equal(ranker.coef_, before)
    solved.clear()
    ranker.fit(X, y)
    assert solved == [32, 32, 12]


def test_a_path_that_is_no_folder_is_refused_before_the_work(tmp_path, solved):
    (tmp_path / "file").write_text("")
    X, y = rows()
    with pytest.raises(OSError, match="checkpoint cannot be written"):
        AccuracyAtTopRanker(tau=0.1, checkpoint=tmp_path / "file").fit(X, y)
    with pytest.raises(ValueError, match="'checkpoint' parameter"):
        AccuracyAtTopRanker(tau=0.1, checkpoint=True).fit(X, y)
    assert solved == []


def test_the_search_goes_on_too(tmp_path, killed_after, solved):
    X, y = rows(70)
    search = AccuracyAtTopRankerCV(tau=0.1, Cs=[0.01, 0.1], cv=2)
    expected = clone(search).fit(X, y)
    search.set_params(checkpoint=tmp_path)
    killed_after(7, search, X, y)  # two folds of 35 rows and two blocks, for two costs each
    solved.clear()
    search.fit(X, y)
    assert solved == [3, 32, 32, 6]
    np.testing.assert_array_equal(search.scores_, expected.scores_)
    assert_same(expected, search)
    assert list(tmp_path.iterdir()) == []


def test_candidates_of_a_search_share_a_folder(tmp_path):
    X, y = rows(80)
    ranker = AccuracyAtTopRanker(tau=0.1)
    one, other = (
        GridSearchCV(ranker.set_params(checkpoint=path), {"C": [0.01, 0.1]}, cv=2).fit(X, y)
        for path in (None, tmp_path)
    )
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
    )
    assert list(tmp_path.iterdir()) == []


KILLED = """
import sys
import numpy as np
from sklearn_rank import AccuracyAtTopRanker
from tests.rankers.test_checkpoints import rows
AccuracyAtTopRanker(tau=0.1, C=1.0, checkpoint=sys.argv[1]).fit(*rows(1200, 6))
"""


@pytest.mark.slow
def test_a_process_that_was_killed(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)])
    deadline = time.monotonic() + 60
    while len(list(tmp_path.rglob("block-*.npz"))) < 5:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    n_found = len(list(tmp_path.rglob("block-*.npz")))
    assert 5 <= n_found < 38
    X, y = rows(1200, 6)
    ranker = AccuracyAtTopRanker(tau=0.1, C=1.0, checkpoint=tmp_path).fit(X, y)
    assert_same(ranker, AccuracyAtTopRanker(tau=0.1, C=1.0).fit(X, y))
    assert list(tmp_path.iterdir()) == []
