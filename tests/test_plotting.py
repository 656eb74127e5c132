"""Displays: their numbers, their artists, and the lack of matplotlib."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.inference import (
    Interval,
    metric_interval,
    paired_query_test,
    precision_at_top_interval,
    roc_band,
)
from sklearn_rank.metrics import (
    Exponential,
    LocalAUC,
    ndcg_score,
    precision_at_top_curve,
    precision_at_top_score,
)
from sklearn_rank.plotting import (
    CumulativeGainDisplay,
    IntervalsDisplay,
    QueryDifferenceDisplay,
    QueryScoresDisplay,
    RocBandDisplay,
    TopOfListDisplay,
)

Y_TRUE = np.array([1, 0, 1, 1, 0, 0, 0, 1])
Y_SCORE = np.array([4, 3, 3, 2, 2, 2, 1, 0])


def test_curve_is_the_expected_precision():
    display = TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE)
    x, precision = display.line_.get_data()
    np.testing.assert_array_equal(x, np.arange(1, 9))
    for items in range(1, 8):
        expected = precision_at_top_score(Y_TRUE, Y_SCORE, tau=items / 8)
        assert precision[items - 1] == pytest.approx(expected, abs=1e-15)
    assert precision[-1] == Y_TRUE.mean()


def test_data_are_those_of_the_curve():
    weight = np.array([1.0, 0.5, 2.0, 1.0, 0.0, 1.5, 1.0, 3.0])
    display = TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE, sample_weight=weight)
    position, precision = precision_at_top_curve(Y_TRUE, Y_SCORE, sample_weight=weight)
    np.testing.assert_array_equal(display.position, position)
    np.testing.assert_array_equal(display.precision, precision)
    np.testing.assert_array_equal(display.line_.get_data(), (position, precision))


def test_constant_scores_draw_the_base_rate():
    display = TopOfListDisplay.from_predictions(Y_TRUE, np.zeros(8))
    np.testing.assert_allclose(display.line_.get_ydata(), 0.5, rtol=1e-15)
    assert set(display.base_rate_.get_ydata()) == {0.5}


def test_weight_two_is_the_row_twice():
    weight = np.array([2, 1, 1, 1, 1, 1, 1, 1])
    weighted = TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE, sample_weight=weight)
    repeated = TopOfListDisplay.from_predictions(
        np.repeat(Y_TRUE, weight), np.repeat(Y_SCORE, weight)
    )
    at = np.searchsorted(repeated.position, weighted.position)
    np.testing.assert_array_equal(repeated.position[at], weighted.position)
    np.testing.assert_allclose(repeated.precision[at], weighted.precision, rtol=1e-14)


def test_artists_and_attributes():
    display = TopOfListDisplay.from_predictions(
        Y_TRUE, Y_SCORE, name="mine", tau=(0.25, 0.5), color="red"
    )
    assert display.figure_ is display.ax_.figure
    assert set(display.base_rate_.get_ydata()) == {Y_TRUE.mean()}
    assert Y_TRUE.mean() != display.precision.mean()
    assert display.line_.get_color() == "red"
    assert display.ax_.get_xscale() == "log"
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == ["mine", "base rate"]
    assert [text.get_text() for text in display.ax_.texts] == ["25 %", "50 %"]


@pytest.mark.parametrize(("tau", "items"), [(0.25, 2), (0.35, 3), (0.4, 3), (0.01, 1)])
def test_mark_stands_where_the_share_ends(tau, items):
    display = TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE, tau=tau)
    (mark,) = set(display.ax_.lines) - {display.line_, display.base_rate_}
    assert set(mark.get_xdata()) == {items}
    (words,) = display.ax_.texts
    assert words.xy[0] == items


@pytest.mark.parametrize("tau", [0, 1, -0.1, (0.5, 1.5), float("nan")])
def test_marks_outside_the_list_are_refused(tau):
    with pytest.raises(ValueError, match="between 0 and 1"):
        TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE, tau=tau)


def test_several_on_one_axes():
    _, ax = plt.subplots()
    for name in ("one", "two"):
        display = TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE, name=name, ax=ax)
        assert display.ax_ is ax
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["one", "base rate", "two"]


def test_plot_again_under_another_name():
    display = TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE, name="old")
    first = display.ax_
    assert display.plot(name="new") is display
    assert display.ax_ is not first
    assert display.line_.get_label() == "new"


def test_from_estimator_ranks_by_the_second_class():
    X, y = load_ionosphere(return_X_y=True)
    words = np.array(["a bad return", "good"])[y]
    model = LogisticRegression().fit(X, words)
    display = TopOfListDisplay.from_estimator(model, X, words, tau=0.1)
    expected = TopOfListDisplay.from_predictions(y, model.decision_function(X))
    np.testing.assert_array_equal(display.precision, expected.precision)
    assert display.estimator_name == "LogisticRegression"


def test_from_estimator_takes_a_regressor():
    X, y = load_ionosphere(return_X_y=True)
    model = LinearRegression().fit(X, y)
    display = TopOfListDisplay.from_estimator(model, X, y, name="least squares")
    assert display.precision[-1] == y.mean()
    assert display.line_.get_label() == "least squares"


def test_words_as_labels_need_a_positive_one():
    words = np.where(Y_TRUE == 1, "a good return", "bad")
    display = TopOfListDisplay.from_predictions(words, Y_SCORE, pos_label="a good return")
    expected = TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE)
    np.testing.assert_array_equal(display.precision, expected.precision)
    with pytest.raises(ValueError, match="pos_label"):
        TopOfListDisplay.from_predictions(words, Y_SCORE)


def test_labels_alone_are_no_scores():
    X, y = load_ionosphere(return_X_y=True)
    model = VotingClassifier([("one", LogisticRegression())], voting="hard").fit(X, y)
    with pytest.raises(AttributeError, match="neither decision_function nor predict_proba"):
        TopOfListDisplay.from_estimator(model, X, y)


def test_what_is_not_fitted_is_refused():
    X, y = load_ionosphere(return_X_y=True)
    with pytest.raises(NotFittedError):
        TopOfListDisplay.from_estimator(LogisticRegression(), X, y)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    for name in [n for n in sys.modules if n.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "sklearn-rank\[plot\]"'):
        TopOfListDisplay.from_predictions(Y_TRUE, Y_SCORE)


# --------------------------------------------------------------------------------------- queries


def queries(n_queries=30):
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(n_queries), 8)
    grade = rng.integers(0, 3, size=len(qid))
    return grade, {"good": grade + rng.normal(size=len(qid)), "bad": -1.0 * grade}, qid


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
    with pytest.raises(ValueError, match="empty dict"):
        QueryScoresDisplay.from_predictions(grade, {}, qid=qid)


def test_query_scores_all_equal_and_unbounded():
    grade, _, qid = queries()
    grade = np.tile(grade[:8], 30)
    with pytest.warns(UserWarning, match="no spread"):
        display = QueryScoresDisplay.from_predictions(grade, grade, qid=qid, measure="dcg")
    assert np.isinf(display.intervals[""].high)
    display.figure_.canvas.draw()


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
    expected = paired_query_test("ndcg@3", grade, good, other, qid=qid, random_state=0)
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


# -------------------------------------------------------------------------------------- ROC band


def test_roc_band_is_drawn_as_it_is():
    band = roc_band(Y_TRUE, Y_SCORE, level=0.9)
    display = RocBandDisplay.from_predictions(Y_TRUE, Y_SCORE, level=0.9, name="mine")
    np.testing.assert_array_equal(display.line_.get_data(), [band.fpr, band.tpr])
    corners = {tuple(corner) for corner in display.band_.get_xy()}
    assert corners == {tuple(c) for c in np.concatenate([band.upper, band.lower], axis=1).T}
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == ["mine", "90 % band for the whole curve", "chance"]
    assert display.weight_ax_ is None


def test_roc_bands_on_one_axes_have_colours_of_their_own():
    first = RocBandDisplay.from_predictions(Y_TRUE, Y_SCORE, name="one")
    second = RocBandDisplay.from_predictions(Y_TRUE, -Y_SCORE, name="two", ax=first.ax_)
    assert first.line_.get_color() != second.line_.get_color()
    words = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert words == ["one", "95 % band for the whole curve", "chance", "two"]


def weight_of(display):
    (area,) = display.weight_ax_.collections
    return area.get_paths()[0].vertices


def test_weight_of_the_auc_is_even_and_that_of_the_top_is_not():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [150, 50])
    score = y + rng.normal(size=200)
    even = weight_of(RocBandDisplay.from_predictions(y, score, phi="wilcoxon"))
    assert set(even[:, 1]) == {0.0, 1.0}
    top = weight_of(RocBandDisplay.from_predictions(y, score, phi=Exponential(20)))
    assert top[top[:, 0] > 0.5, 1].max() < 0.01 * top[:, 1].max()


def test_jump_stands_where_the_list_is_cut():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [150, 50])
    score = y + rng.normal(size=200)
    display = RocBandDisplay.from_predictions(y, score, phi=LocalAUC(0.8))
    (line,) = display.weight_ax_.lines
    # The share of the negatives among the top fifth of the list.
    expected = np.mean(score[y == 0] >= np.sort(score)[-40])
    assert line.get_xdata()[0] == pytest.approx(expected, abs=0.01)
    assert "jump" in display.weight_ax_.get_ylabel()


def test_roc_band_of_an_estimator():
    X, y = load_ionosphere(return_X_y=True)
    words = np.array(["a bad return", "good"])[y]
    model = LogisticRegression().fit(X, words)
    display = RocBandDisplay.from_estimator(model, X, words)
    expected = roc_band(y, model.decision_function(X))
    np.testing.assert_array_equal(display.band.tpr, expected.tpr)
    assert display.line_.get_label() == "LogisticRegression"


# ------------------------------------------------------------------------------------- intervals


def test_intervals_one_a_row():
    intervals = {
        "one": Interval(0.8, 0.7, 0.85, 0.95, "t", "AUC"),
        "two": Interval(0.6, 0.5, 0.75, 0.95, "t", "AUC"),
    }
    display = IntervalsDisplay.from_intervals(intervals, reference=0.5)
    for row, (bar, interval) in enumerate(zip(display.bars_, intervals.values(), strict=True)):
        (segment,) = bar.lines[2][0].get_segments()
        np.testing.assert_allclose(segment, [[interval.low, row], [interval.high, row]])
    assert display.ax_.get_xlabel() == "AUC (95 %, t)"
    words = [text.get_text() for text in display.ax_.texts]
    assert words == ["0.800 [0.700, 0.850]", "0.600 [0.500, 0.750]"]


def test_intervals_that_differ_or_have_no_end():
    display = IntervalsDisplay.from_intervals(
        {
            "one": Interval(0.8, -np.inf, 0.85, 0.95, "t", "AUC"),
            "two": Interval(0.6, 0.5, 0.75, 0.9, "bca", "MAP"),
        }
    )
    assert display.ax_.get_xlabel() == "estimate"
    (segment,) = display.bars_[0].lines[2][0].get_segments()
    assert -np.inf < segment[0, 0] < display.ax_.get_xlim()[0]
    with pytest.raises(ValueError, match="intervals is empty"):
        IntervalsDisplay({}).plot()


# ------------------------------------------------------------------------------- cumulative gain


def test_gain_is_the_share_of_positives_found():
    display = CumulativeGainDisplay.from_predictions(Y_TRUE, Y_SCORE)
    # One first, then a tied pair with one, a tied three with one, none, and the last.
    expected = np.array([1, 1.5, 2, 2 + 1 / 3, 2 + 2 / 3, 3, 3, 4]) / 4
    np.testing.assert_allclose(display.gain, expected, rtol=1e-14)
    np.testing.assert_allclose(display.lift, expected / (np.arange(1, 9) / 8), rtol=1e-14)
    x, y = display.line_.get_data()
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    np.testing.assert_array_equal(display.perfect_.get_data(), [[0, 0.5, 1], [0, 1, 1]])


def test_lift_below_the_perfect_one():
    display = CumulativeGainDisplay.from_predictions(Y_TRUE, Y_SCORE, kind="lift", name="mine")
    x, y = display.line_.get_data()
    best = np.interp(x, *display.perfect_.get_data())
    assert np.all(y <= best + 1e-3)
    assert y[0] == 2
    assert set(display.random_.get_ydata()) == {1}
    with pytest.raises(ValueError, match="kind='roc'"):
        display.plot(kind="roc")


def test_gain_without_positives_is_refused():
    with pytest.raises(ValueError, match="no positives"):
        CumulativeGainDisplay.from_predictions([0, 0], [1.0, 2.0])


def test_gain_of_an_estimator():
    X, y = load_ionosphere(return_X_y=True)
    model = LogisticRegression().fit(X, y)
    display = CumulativeGainDisplay.from_estimator(model, X, y)
    second = CumulativeGainDisplay.from_estimator(model, X, y, name="again", ax=display.ax_)
    assert display.base_rate == y.mean()
    words = [text.get_text() for text in second.ax_.get_legend().get_texts()]
    assert words == ["LogisticRegression", "all positives first", "random order", "again"]


def test_intervals_at_the_marks_of_the_top():
    rng = np.random.default_rng(0)
    y_score = rng.normal(size=400)
    y_true = (rng.random(400) < 1 / (1 + np.exp(-2 * y_score))).astype(int)
    display = TopOfListDisplay.from_predictions(y_true, y_score, tau=(0.05, 0.1), level=0.9)
    for tau, interval in display.intervals.items():
        assert interval == precision_at_top_interval(y_true, y_score, tau=tau, level=0.9)
    segments = [
        tuple(path.vertices[:, 1])
        for collection in display.ax_.collections
        for path in collection.get_paths()
    ]
    assert segments == [(one.low, one.high) for one in display.intervals.values()]
    assert display.ax_.get_ylim()[0] <= min(one.low for one in display.intervals.values())
    with pytest.raises(ValueError, match="leave out sample_weight or level"):
        TopOfListDisplay.from_predictions(
            y_true, y_score, tau=0.1, level=0.9, sample_weight=np.ones(400)
        )
