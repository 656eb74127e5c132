"""Two rankers query by query."""

import numpy as np
import pytest

from sklearn_rank.inference import compare
from sklearn_rank.metrics import make_measure, ndcg_score
from sklearn_rank.plotting import QueryDifferenceDisplay

from .lists import legend_of, queries, words


def ndcg_of(grade, scores, qid, **options):
    return {
        name: ndcg_score(grade, score, qid=qid, average=None, **options)
        for name, score in scores.items()
    }


def test_query_differences_are_sorted_with_the_test():
    grade, scores, qid = queries()
    scores = {"g": scores["good"], "o": np.where(qid < 3, scores["good"], scores["bad"])}
    found = compare("ndcg@3", grade, scores, qid=qid, method="t", level=0.9)
    values = ndcg_of(grade, scores, qid, k=3)
    display = QueryDifferenceDisplay.from_result(found, values)
    a, b = values.values()
    np.testing.assert_array_equal(display.differences, np.sort(a - b)[::-1])
    assert (display.wins, display.losses) == ((a > b).sum(), (a < b).sum())
    assert display.wins + display.losses + display.ties == 30
    assert display.ties >= 3
    assert display.ax_.get_title() == f"p = {found.pvalue:.3g} (t, two-sided)"
    assert set(display.mean_.get_ydata()) == {found.estimate}
    np.testing.assert_array_equal(
        display.wins_.get_data().values + display.losses_.get_data().values, display.differences
    )
    assert words(display.ax_.texts) == [
        f"g better: {display.wins}",
        f"o better: {display.losses}",
    ]
    assert display.ax_.get_xlabel() == f"Queries, sorted (30; equal on {display.ties})"
    assert display.ax_.get_ylabel() == "ndcg@3: g minus o"
    interval = found.interval
    (band,) = display.ax_.patches[2:]
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx(
        (interval.low, interval.high)
    )
    assert legend_of(display) == [
        f"mean {interval.estimate:+.3f}, 90 % [{interval.low:+.3f}, {interval.high:+.3f}]"
    ]
    assert display.ax_.get_xlim() == (0, 30)
    assert display.ax_.get_ylim()[1] == pytest.approx(1.25 * np.abs(display.differences).max())


def depth(y_true, y_score):
    """Rows above the last relevant one: a loss of one's own."""
    return float(np.flatnonzero(y_true[np.argsort(-y_score, kind="stable")])[-1])


LOSS = make_measure(depth, kind="graded", range=(0.0, 7.0), greater_is_better=False)


def test_less_of_a_loss_is_a_win():
    grade, scores, qid = queries()
    grade[::8] = 1
    values = {
        name: [depth(grade[qid == q], score[qid == q]) for q in range(30)]
        for name, score in scores.items()
    }
    display = QueryDifferenceDisplay.from_result(compare(LOSS, grade, scores, qid=qid), values)
    a, b = map(np.array, values.values())
    np.testing.assert_array_equal(display.differences, np.sort(a - b)[::-1])
    counts = ((a < b).sum(), (a == b).sum(), (a > b).sum())
    assert (display.wins, display.ties, display.losses) == counts
    assert display.wins > display.losses
    # Wins are drawn where the differences are negative: at the right, below the line.
    assert display.wins_.get_data().values.min() == (a - b).min()
    assert (display.losses_.get_data().values >= 0).all()
    assert words(display.ax_.texts) == [
        f"bad better: {display.losses}",
        f"good better: {display.wins}",
    ]


def test_a_contrast_of_several_rankers_and_queries_without_a_value():
    grade, scores, qid = queries()
    scores["worse"] = -scores["good"]
    found = compare("ndcg", grade, scores, qid=qid)
    values = ndcg_of(grade, scores, qid)
    values["worse"][3] = np.nan
    display = QueryDifferenceDisplay.from_result(found["bad - worse"], values)
    assert display.names == ("bad", "worse")
    expected = np.delete(values["bad"] - values["worse"], 3)
    np.testing.assert_array_equal(display.differences, np.sort(expected)[::-1])
    with pytest.raises(ValueError, match="has 3 contrasts, but one is drawn"):
        QueryDifferenceDisplay.from_result(found, values)
    with pytest.raises(ValueError, match="values has no 'worse'"):
        QueryDifferenceDisplay.from_result(found["bad - worse"], {"bad": values["bad"]})


def test_differences_by_rounding_are_ties():
    grade, scores, qid = queries()
    values = ndcg_of(grade, scores, qid)
    same = {"good": values["good"], "bad": values["good"] * (1 + 1e-15)}
    display = QueryDifferenceDisplay.from_result(compare("ndcg", grade, scores, qid=qid), same)
    assert (display.wins, display.ties, display.losses) == (0, 30, 0)
    assert display.ax_.get_ylim() == (-1.25, 1.25)
