"""The shim: callbacks see each block of a fit and are torn down whatever happens."""

import numpy as np
import pytest

from sklearn_rank import AccuracyAtTopRanker, AccuracyAtTopRankerCV
from sklearn_rank._validation import check_sample_weight
from tests.naming import for_each

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brings callbacks")
FitCallback, ProgressBar = callback.FitCallback, callback.ProgressBar

N_BLOCKS = 3  # of 64 rows


def data(n=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + rng.normal(size=n) > 0.3


class Recorder:
    """A callback that writes down what it is told, and may raise at a given call."""

    def __init__(self, raise_at=None):
        self.calls = []
        self.contexts = []
        self.raise_at = raise_at

    def note(self, hook, context):
        self.calls.append((hook, context.task_name, context.task_id))
        self.contexts.append(context)
        if self.raise_at == (hook, context.task_name, context.task_id):
            raise KeyError("the callback raises")

    def setup(self, estimator, context):
        self.note("setup", context)

    def teardown(self, estimator, context):
        self.note("teardown", context)

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        assert X.shape[0] == len(y)
        self.note("begin", context)

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        if context.task_name == "fit":
            self.fitted = fitted_estimator
        self.note("end", context)


EXPECTED = [
    ("setup", "fit", 0),
    ("begin", "fit", 0),
    *((hook, "block", block) for block in range(N_BLOCKS) for hook in ("begin", "end")),
    ("end", "fit", 0),
    ("teardown", "fit", 0),
]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("solver", ["newton", pytest.param("cvxpy", marks=pytest.mark.slow)])
def test_a_callback_sees_each_block(n_jobs, solver):
    X, y = data()
    recorder = Recorder()
    assert isinstance(recorder, FitCallback)
    ranker = AccuracyAtTopRanker(tau=0.2, n_jobs=n_jobs, solver=solver, tol=1e-4)
    ranker.set_callbacks(recorder).fit(X, y)
    assert recorder.calls == EXPECTED
    assert recorder.contexts[1].max_subtasks == N_BLOCKS
    plain = AccuracyAtTopRanker(tau=0.2, solver=solver, tol=1e-4).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, ranker.coef_)


def test_a_search_reports_the_blocks_of_all_folds():
    X, y = data()
    recorder = Recorder()
    search = AccuracyAtTopRankerCV(
        0.2, param_grid={"C": [0.01, 0.1, 1.0], "selection": ["average"]}, cv=2
    )
    search.set_callbacks(recorder).fit(X, y)
    blocks = [call for call in recorder.calls if call[:2] == ("begin", "block")]
    of_half = -(-len(y) // 2 // 64)
    assert len(blocks) == 2 * 3 * of_half + N_BLOCKS
    assert recorder.contexts[1].max_subtasks == len(blocks)


def test_a_second_fit_is_reported_like_the_first_and_the_estimator_given_at_the_end_is_fitted():
    X, y = data()
    recorder = Recorder()
    ranker = AccuracyAtTopRanker(tau=0.2).set_callbacks(recorder).fit(X, y)
    decision = recorder.fitted.decision_function(X)
    np.testing.assert_array_equal(decision, ranker.decision_function(X))
    ranker.fit(X, y)
    assert recorder.calls == 2 * EXPECTED


@pytest.mark.parametrize(
    "raise_at",
    [("begin", "fit", 0), ("end", "block", 1), ("begin", "block", 2), ("end", "fit", 0)],
)
def test_teardown_follows_an_error_and_nothing_else_does(raise_at):
    for n_jobs in (1, 2):
        X, y = data()
        ranker = AccuracyAtTopRanker(tau=0.2, n_jobs=n_jobs).fit(X, y)
        before = dict(vars(ranker))
        recorder = Recorder(raise_at)
        ranker.set_callbacks(recorder)
        with pytest.raises(KeyError, match="the callback raises"):
            ranker.fit(X[::-1] * 2, y[::-1])
        position = EXPECTED.index(raise_at)
        assert recorder.calls == [*EXPECTED[: position + 1], ("teardown", "fit", 0)]
        for name, value in before.items():
            np.testing.assert_array_equal(getattr(ranker, name), value)
        assert set(vars(ranker)) - set(before) == {"_skl_callbacks"}


def test_teardown_follows_an_error_of_the_solver():
    X, y = data()
    recorder = Recorder()
    with pytest.raises(ValueError, match="scores overflow"):
        AccuracyAtTopRanker(tau=0.2).set_callbacks(recorder).fit(1e200 * X, y)
    assert recorder.calls[:2] == EXPECTED[:2]
    assert recorder.calls[-1] == ("teardown", "fit", 0)
    assert ("end", "fit", 0) not in recorder.calls


def test_bad_input_never_starts_a_callback():
    X, y = data()
    recorder = Recorder()
    with pytest.raises(ValueError, match="NaN"):
        AccuracyAtTopRanker(tau=0.2).set_callbacks(recorder).fit(np.full_like(X, np.nan), y)
    assert recorder.calls == []


def test_the_progress_bar(capsys):
    pytest.importorskip("rich")
    X, y = data()
    AccuracyAtTopRanker(tau=0.2).set_callbacks(ProgressBar()).fit(X, y)
    shown = capsys.readouterr().out
    assert "AccuracyAtTopRanker" in shown
    assert "100%" in shown


def test_only_callbacks_are_accepted():
    ranker = AccuracyAtTopRanker(tau=0.2)
    with pytest.raises(TypeError, match="FitCallback protocol"):
        ranker.set_callbacks("progress")


def test_sample_weights():
    X = np.zeros((3, 1))
    np.testing.assert_array_equal(check_sample_weight(None, X), np.ones(3))
    np.testing.assert_array_equal(check_sample_weight([1, 0, 2], X), [1.0, 0.0, 2.0])
    assert check_sample_weight(np.ones(3, dtype=np.float32), X).dtype == np.float64
    with pytest.raises(ValueError, match="sample_weight is -1 at row 1: it must be finite"):
        check_sample_weight([1, -1, 1], X)
    with pytest.raises(ValueError, match="non-zero"):
        check_sample_weight([0, 0, 0], X)
    with pytest.raises(ValueError, match="sample_weight is nan at row 1: it must be finite"):
        check_sample_weight([0, np.nan, 1], X)


@for_each(
    ("weight", "message"),
    [
        ([1, -1, 1], r"^pair_weight is -1 at row 1: it must be finite and at least 0"),
        ([0, 0, 0], r"^pair_weight must contain at least one non-zero number"),
        (0, r"^pair_weight must contain at least one non-zero number"),
        ([0, np.inf, 1], r"^pair_weight is inf at row 1: it must be finite"),
        ([1, 1], r"^pair_weight.shape == \(2,\), expected \(3,\)"),
        (np.ones((3, 2)), r"^pair_weight has shape \(3, 2\), but must be one-dimensional"),
    ],
)
def test_weights_of_another_name_are_refused_by_their_name(weight, message):
    with pytest.raises(ValueError, match=message):
        check_sample_weight(weight, np.zeros((3, 1)), name="pair_weight")


def test_one_weight_for_all_rows():
    np.testing.assert_array_equal(check_sample_weight(2, np.zeros((3, 1))), [2.0, 2.0, 2.0])
