"""Values of a measure on all queries."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import make_measure, ndcg_score
from sklearn_rank.plotting import QueryScoresDisplay

from .lists import queries, words


def test_query_scores_are_the_measure_and_its_interval():
    grade, scores, qid = queries()
    display = QueryScoresDisplay.from_predictions(grade, scores, qid=qid, measure="ndcg@3")
    for row, (name, score) in enumerate(scores.items()):
        expected = ndcg_score(grade, score, qid=qid, k=3, average=None)
        np.testing.assert_array_equal(display.values[name], expected)
        interval = metric_interval("ndcg@3", grade, score, qid=qid)
        assert display.intervals[name] == interval
        (segment,) = display.bars_[row].lines[2][0].get_segments()
        np.testing.assert_allclose(segment[:, 0], [interval.low, interval.high])
        assert display.bars_[row].lines[0].get_xdata()[0] == interval.estimate
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == list(scores)
    assert display.ax_.get_xlabel() == "ndcg@3 of a query (30 queries)"
    assert display.ax_.yaxis_inverted()


def test_query_histograms_hold_every_query():
    grade, scores, qid = queries()
    display = QueryScoresDisplay.from_predictions(
        grade, scores["good"], qid=qid, name="mine", measure="ndcg@3"
    )
    (shape,) = display.shapes_
    corners = shape.get_paths()[0].vertices
    assert corners[:, 1].max() == -corners[:, 1].min() < 0.5
    counts, _ = np.histogram(display.values["mine"], np.linspace(0, 1, 26))
    heights = np.unique(np.round(corners[corners[:, 1] > 0, 1] / corners[:, 1].max(), 9))
    assert set(heights) == set(np.round(np.unique(counts[counts > 0]) / counts.max(), 9))


def test_query_scores_of_an_estimator():
    X, y = load_ionosphere(return_X_y=True)
    qid = np.arange(len(y)) % 7
    model = LogisticRegression().fit(X, y)
    display = QueryScoresDisplay.from_estimator(model, X, y, qid=qid, measure="auc")
    expected = metric_interval("auc", y, model.decision_function(X), qid=qid)
    assert display.intervals == {"LogisticRegression": expected}


def test_query_scores_refuse_a_name_for_several():
    grade, scores, qid = queries()
    with pytest.raises(ValueError, match="name='x' is for one ranker"):
        QueryScoresDisplay.from_predictions(grade, scores, qid=qid, name="x")
    with pytest.raises(ValueError, match="y_score holds 0 rankers"):
        QueryScoresDisplay.from_predictions(grade, {}, qid=qid)


def test_query_scores_all_equal_and_unbounded():
    grade, _, qid = queries()
    grade = np.tile(grade[:8], 30)
    with pytest.warns(UserWarning, match="variance cannot be estimated"):
        display = QueryScoresDisplay.from_predictions(grade, grade, qid=qid, measure="dcg")
    assert np.isinf(display.intervals[""].high)
    display.figure_.canvas.draw()


def first_gain(y_true, y_score):
    """Half the grade at the top: a measure of one's own."""
    return y_true[np.argmax(y_score)] / 2


OWN = make_measure(first_gain, kind="graded", range=(0.0, 1.0))


def test_query_scores_of_a_measure_of_ones_own():
    grade, scores, qid = queries()
    display = QueryScoresDisplay.from_predictions(grade, scores, qid=qid, measure=OWN)
    for name, score in scores.items():
        expected = [first_gain(grade[qid == q], score[qid == q]) for q in range(30)]
        np.testing.assert_array_equal(display.values[name], expected)
        assert display.intervals[name] == metric_interval(OWN, grade, score, qid=qid)
    assert display.ax_.get_xlabel() == "first_gain of a query (30 queries)"
    # The histograms span the range of the measure, whatever the values.
    ends = display.shapes_[1].get_paths()[0].vertices[:, 0]
    assert (ends.min(), ends.max()) == (0.0, 1.0)


def test_names_come_from_a_frame():
    grade, scores, qid = queries()
    display = QueryScoresDisplay.from_predictions(grade, pd.DataFrame(scores), qid=qid)
    expected = QueryScoresDisplay.from_predictions(grade, scores, qid=qid)
    assert words(display.ax_.get_yticklabels()) == ["good", "bad"]
    assert display.intervals == expected.intervals
    with pytest.raises(ValueError, match="name='x' is for one ranker"):
        QueryScoresDisplay.from_predictions(grade, pd.DataFrame(scores), qid=qid, name="x")


def test_numbers_stand_beside_the_rows():
    grade, scores, qid = queries()
    display = QueryScoresDisplay.from_predictions(
        grade, scores, qid=qid, measure=ndcg_score, level=0.9
    )
    expected = [
        f"{i.estimate:.3f}\n[{i.low:.3f}, {i.high:.3f}]" for i in display.intervals.values()
    ]
    assert words(display.ax_.texts) == expected
    assert [text.get_position()[1] for text in display.ax_.texts] == [0, 1]
    assert "90 % interval" in display.ax_.get_title(loc="left")
    assert display.ax_.get_legend() is None


def test_weights_of_items_reach_the_measure():
    grade, scores, qid = queries()
    weight = np.random.default_rng(1).integers(1, 3, len(qid))
    display = QueryScoresDisplay.from_predictions(
        grade, scores["good"], qid=qid, sample_weight=weight, weights="frequency"
    )
    repeated = QueryScoresDisplay.from_predictions(
        np.repeat(grade, weight), np.repeat(scores["good"], weight), qid=np.repeat(qid, weight)
    )
    np.testing.assert_allclose(display.values[""], repeated.values[""], rtol=1e-12)


def test_either_class_of_a_classifier_can_be_the_positive_one():
    X, y = load_ionosphere(return_X_y=True)
    qid = np.arange(len(y)) % 7
    named = np.array(["a bad return", "good"])[y]
    model = LogisticRegression().fit(X, named)
    display = QueryScoresDisplay.from_estimator(
        model, X, named, qid=qid, measure="ap", name="m", pos_label="good"
    )
    expected = metric_interval("ap", y, model.decision_function(X), qid=qid)
    assert display.intervals == {"m": expected}
    turned = QueryScoresDisplay.from_estimator(
        model, X, named, qid=qid, measure="ap", pos_label="a bad return"
    )
    expected = metric_interval("ap", 1 - y, -model.decision_function(X), qid=qid)
    assert turned.intervals == {"LogisticRegression": expected}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"measure": "ndgc"}, ValueError, "did you mean 'ndcg'"),
        ({"measure": 3}, TypeError, "measure=3 must be the name of a measure"),
        ({"measure": first_gain}, TypeError, "make_measure"),
        ({"method": "z"}, ValueError, "method='z' must be one of"),
        ({"level": 1.0}, ValueError, "level=1.0 must be a number in"),
        ({"qid": None}, ValueError, "qid is missing"),
        ({"random_state": "x"}, ValueError, "random_state='x' must be None"),
    ],
)
def test_what_query_scores_refuse(arguments, error, message):
    grade, scores, qid = queries()
    with pytest.raises(error, match=message):
        QueryScoresDisplay.from_predictions(grade, scores, **{"qid": qid, **arguments})
