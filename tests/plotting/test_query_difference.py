"""Two rankers query by query."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.inference import compare
from sklearn_rank.metrics import make_measure, ndcg_score
from sklearn_rank.plotting import QueryDifferenceDisplay

from .lists import legend_of, queries, words


def test_query_differences_are_sorted_with_the_test():
    grade, scores, qid = queries()
    good, other = scores["good"], np.where(qid < 3, scores["good"], scores["bad"])
    display = QueryDifferenceDisplay.from_predictions(
        grade, good, other, qid=qid, measure="ndcg@3", names=("g", "o"), random_state=0
    )
    a, b = (ndcg_score(grade, s, qid=qid, k=3, average=None) for s in (good, other))
    np.testing.assert_array_equal(display.differences, np.sort(a - b)[::-1])
    assert (display.wins, display.losses) == ((a > b).sum(), (a < b).sum())
    assert display.wins + display.losses + display.ties == 30
    assert display.ties >= 3
    expected = compare(
        "ndcg@3", grade, good, other, qid=qid, random_state=0, method="randomization"
    )
    assert display.result == expected
    assert f"p = {expected.pvalue:.3g}" in display.ax_.get_title()
    assert set(display.mean_.get_ydata()) == {expected.estimate}
    np.testing.assert_array_equal(
        display.wins_.get_data().values + display.losses_.get_data().values, display.differences
    )
    words = [text.get_text() for text in display.ax_.texts]
    assert words == [f"g better: {display.wins}", f"o better: {display.losses}"]
    assert display.ax_.get_xlabel() == f"Queries, sorted (30; equal on {display.ties})"


def test_query_differences_of_estimators():
    X, y = load_ionosphere(return_X_y=True)
    qid = np.arange(len(y)) % 11
    one, two = LogisticRegression().fit(X, y), LinearRegression().fit(X, -y)
    display = QueryDifferenceDisplay.from_estimators(one, two, X, y, qid=qid, measure="auc")
    assert display.names == ("LogisticRegression", "LinearRegression")
    assert (display.wins, display.losses) == (11, 0)
    assert display.result.pvalue == 2 / 2**11


def depth(y_true, y_score):
    """Rows above the last relevant one: a loss of one's own."""
    return float(np.flatnonzero(y_true[np.argsort(-y_score, kind="stable")])[-1])


LOSS = make_measure(depth, kind="graded", range=(0.0, 7.0), greater_is_better=False)


def test_less_of_a_loss_is_a_win():
    grade, scores, qid = queries()
    grade[::8] = 1
    display = QueryDifferenceDisplay.from_predictions(
        grade, scores["good"], scores["bad"], qid=qid, measure=LOSS, random_state=0, names="gb"
    )
    a, b = (
        np.array([depth(grade[qid == q], score[qid == q]) for q in range(30)])
        for score in scores.values()
    )
    np.testing.assert_array_equal(display.differences, np.sort(a - b)[::-1])
    counts = ((a < b).sum(), (a == b).sum(), (a > b).sum())
    assert (display.wins, display.ties, display.losses) == counts
    assert display.wins > display.losses
    # Wins are drawn where the differences are negative: at the right, below the line.
    assert display.wins_.get_data().values.min() == (a - b).min()
    assert (display.losses_.get_data().values >= 0).all()
    assert words(display.ax_.texts) == [
        f"b better: {display.losses}",
        f"g better: {display.wins}",
    ]
    assert display.result == compare(
        LOSS, grade, *scores.values(), qid=qid, random_state=0, method="randomization"
    )
    assert display.ax_.get_ylabel() == "depth: g minus b"


def test_the_interval_is_a_band_around_the_mean():
    grade, scores, qid = queries()
    display = QueryDifferenceDisplay.from_predictions(
        grade, scores["good"], scores["bad"], qid=qid, measure=ndcg_score, method="t", level=0.9
    )
    interval = display.result.interval
    (band,) = display.ax_.patches[2:]
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx(
        (interval.low, interval.high)
    )
    assert legend_of(display.ax_) == [
        f"mean {interval.estimate:+.3f}, 90 % [{interval.low:+.3f}, {interval.high:+.3f}]"
    ]
    assert display.ax_.get_xlim() == (0, 30)
    assert display.ax_.get_ylim()[1] == pytest.approx(1.25 * np.abs(display.differences).max())


def test_equal_rankers_tie_on_every_query():
    grade, scores, qid = queries()
    with pytest.warns(UserWarning, match="variance cannot be estimated"):
        display = QueryDifferenceDisplay.from_predictions(
            grade, scores["good"], 2 * scores["good"], qid=qid, random_state=0
        )
    assert (display.wins, display.ties, display.losses) == (0, 30, 0)
    assert display.result.pvalue == 1.0
    assert display.ax_.get_ylim() == (-1.25, 1.25)


def test_words_as_classes_of_two_estimators():
    X, y = load_ionosphere(return_X_y=True)
    qid = np.arange(len(y)) % 11
    named = np.array(["a bad return", "good"])[y]
    models = [LogisticRegression(C=C).fit(X, named) for C in (1.0, 1e-3)]
    display = QueryDifferenceDisplay.from_estimators(
        *models,
        X,
        named,
        qid=qid,
        measure="ap",
        pos_label="good",
        names=("a", "b"),
        random_state=0,
    )
    expected = compare(
        "ap",
        y,
        *(model.decision_function(X) for model in models),
        qid=qid,
        random_state=0,
        method="randomization",
    )
    assert display.result == expected
    assert display.names == ("a", "b")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"measure": "ndgc"}, ValueError, "did you mean 'ndcg'"),
        ({"measure": depth}, TypeError, "make_measure"),
        ({"method": "sign"}, ValueError, "method='sign' must be one of"),
        ({"alternative": "more"}, ValueError, "alternative='more' must be one of"),
        ({"n_resamples": 10}, ValueError, "n_resamples=10 must be at least 99"),
        ({"qid": None}, ValueError, "qid is missing"),
    ],
)
def test_what_query_differences_refuse(arguments, error, message):
    grade, scores, qid = queries()
    with pytest.raises(error, match=message):
        QueryDifferenceDisplay.from_predictions(
            grade, *scores.values(), **{"qid": qid, **arguments}
        )
