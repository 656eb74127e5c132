"""Back-tests: by their definition, nothing that was not known then, and limits of the days."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.special import ndtri
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate

from sklearn_rank._printed import fixed
from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.model_selection import PeriodSplit, back_test
from tests.naming import for_each
from tests.oracles import back_test as oracle
from tests.oracles import orders

N, HORIZON, AS_OF = 600, 6.5, 40.0
RNG = np.random.default_rng(0)
# Quarters of days, which have no rounding errors; 0 is Monday, 1 January 2024.
ENTERED = np.floor(RNG.uniform(0, 160, size=N)) / 4
X = RNG.normal(size=(N, 3))
EVENT = RNG.random(N) < 1 / (1 + np.exp(1.5 - X[:, 0]))
RESOLVED = np.where(EVENT, ENTERED + np.ceil(RNG.exponential(12, size=N)) / 4, np.nan)
ROWS = {"entered": ENTERED, "resolved": RESOLVED, "as_of": AS_OF}
SETTINGS = {"horizon": HORIZON, "period": 5, "random_state": 0}


def dates(times):
    missing = np.isnan(times)
    found = np.datetime64("2024-01-01", "m") + (np.nan_to_num(times) * 1440).astype("m8[m]")
    return np.where(missing, np.datetime64("NaT"), found)[()]


class FirstFeature(ClassifierMixin, BaseEstimator):
    """Scores a row by its first feature, less the share of events that it was trained on."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.share_ = np.average(np.asarray(y) == self.classes_[1], weights=sample_weight)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0] - self.share_


def run(estimators, X, y, **options):
    """A back-test of which the options of the splitter stand beside the others."""
    names = ("period", "horizon", "start", "as_of", "train_for")
    periods = {name: options.pop(name) for name in names if name in options}
    return back_test(estimators, X, y, cv=PeriodSplit(**periods), **options)


MODELS = {"linear": LogisticRegression(), "first": FirstFeature()}


# ------------------------------------------------------------------------------------ the splits

WINDOWS = [
    {"period": 5, "horizon": 6.5, "start": 12, "as_of": 40},
    {"period": 0.5, "horizon": 3, "start": 12.25, "as_of": 18},
    {"period": 7, "horizon": 6.5, "start": 20, "as_of": 60, "train_for": 4.25},
    {"period": 1, "horizon": 10, "start": 11, "as_of": 38.75, "train_for": 1},
]


@pytest.mark.parametrize("options", WINDOWS, ids=str)
@pytest.mark.parametrize("as_dates", [False, True])
def test_splits_by_their_definition(options, as_dates):
    expected = oracle.periods(ENTERED.tolist(), **options)
    entered = ENTERED
    if as_dates:
        entered = pd.Series(dates(ENTERED))
        starts = {x: dates(np.array(options[x])).item() for x in ("start", "as_of")}
        options = options | starts | {"horizon": pd.Timedelta(days=options["horizon"])}
    splitter = PeriodSplit(options["period"], **{x: options[x] for x in options if x != "period"})
    found = [(train.tolist(), test.tolist()) for train, test in splitter.split(X, groups=entered)]
    assert len(found) == splitter.get_n_splits(groups=entered) > 1
    assert found == [(train, test) for _, train, test in expected]


def test_the_first_period_begins_with_the_day_on_which_one_period_is_mature():
    for entered, start in ((ENTERED + 0.75, 12.0), (dates(ENTERED + 0.75), dates(np.array(12.0)))):
        told = PeriodSplit(5, horizon=6.5, start=start).split(X, groups=entered)
        for one, other in zip(
            PeriodSplit(5, horizon=6.5).split(X, groups=entered), told, strict=True
        ):
            np.testing.assert_array_equal(np.concatenate(one), np.concatenate(other))


@pytest.mark.parametrize("routing", [False, True])
def test_the_splitter_drops_into_scikit_learn(routing):
    splitter, y = PeriodSplit(5, horizon=HORIZON), EVENT.astype(int)
    expected = [
        LogisticRegression().fit(X[train], y[train]).score(X[test], y[test])
        for train, test in splitter.split(X, y, ENTERED)
    ]
    with sklearn.config_context(enable_metadata_routing=routing):
        ids = {"params": {"groups": ENTERED}} if routing else {"groups": ENTERED}
        found = cross_validate(LogisticRegression(), X, y, cv=splitter, **ids)
        search = GridSearchCV(LogisticRegression(), {"C": [1.0, 1e-6]}, cv=splitter, refit=False)
        search.fit(X, y, groups=ENTERED)
    np.testing.assert_allclose(found["test_score"], expected)
    assert search.n_splits_ == len(expected)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"][0], np.mean(expected))


# --------------------------------------------------------------------------------- the back-test


def scorer_of(model):
    def fit(X, y):
        fitted = model.fit(X, y)
        return lambda rows: fitted.decision_function(rows).tolist()

    return fit


def value_of(labels, scores):
    return orders.expected(orders.precision_at_k, labels, scores, k=3)


@pytest.mark.filterwarnings("ignore:. days tell little")
@pytest.mark.parametrize(
    ("times", "options"),
    [
        ({}, {}),
        ({"resolved": None}, {"per": 2.5}),
        ({"as_of": 33.25}, {"train_for": 8, "start": 15.5}),
        ({"as_of": 33.25}, {"per": 5}),
    ],
    ids=str,
)
def test_values_by_their_definition(times, options):
    times = ROWS | times
    resolved = [None] * N if times["resolved"] is None else RESOLVED.tolist()
    y = [
        oracle.label(*row, HORIZON)
        for row in zip(EVENT.astype(int).tolist(), ENTERED.tolist(), resolved, strict=True)
    ]
    found = run(MODELS, X, EVENT, measure="precision@3", **times, **SETTINGS, **options)
    asked = {"horizon": HORIZON, "period": 5, "as_of": times["as_of"], "start": 12, "per": 1.0}
    asked |= options
    for name, model in MODELS.items():
        lists = oracle.values_of_lists(
            scorer_of(model), value_of, X.tolist(), y, ENTERED.tolist(), **asked
        )
        begins, starts, values = zip(*lists, strict=True)
        assert found.lists["period"] == tuple(f"{x:g}" for x in begins)
        assert found.lists["start"] == tuple(f"{x:g}" for x in starts)
        np.testing.assert_allclose(found.list_values[name], values)
        np.testing.assert_allclose(found.to_frame()[name], values)
        assert found.values[name].interval.estimate == pytest.approx(np.mean(values))
        i = [*MODELS].index(name)
        assert found.comparison.values[i] == pytest.approx(np.mean(values))
        for begin in set(begins):
            own = np.array(values)[np.array(begins) == begin]
            if len(own) > 1:
                one = found.by_period[f"{begin:g}"][name].interval
                assert one.estimate == pytest.approx(np.mean(own))
    kept = {
        row
        for _, _, test in oracle.periods(
            ENTERED.tolist(), **{x: v for x, v in asked.items() if x != "per"}
        )
        for row in test
    }
    assert set(found.rows.tolist()) <= kept
    assert found.labels.tolist() == [y[row] for row in found.rows]


def test_dates_and_numbers_are_the_same_history():
    told = {x: dates(np.array(ROWS[x])) for x in ROWS}
    found = run(MODELS, X, EVENT, measure="precision@3", **told, **SETTINGS)
    same = run(MODELS, X, EVENT, measure="precision@3", **ROWS, **SETTINGS)
    assert found.comparison == same.comparison
    assert found.periods["start"][0] == "2024-01-13"
    assert same.periods["start"][0] == "12"
    assert found.list_values == same.list_values
    # Five days do not tell how they depend on each other.
    assert found.so_far["first"].keys["at"] == (10, 15, 20, 21)
    assert found.so_far.keys["at"] == same.so_far.keys["at"]


def test_labels_may_be_words_and_open_rows_have_times_to_come():
    words, to_come = np.where(EVENT, "late", "in time"), np.where(EVENT, RESOLVED, np.inf)
    times = ROWS | {"resolved": to_come}
    found = run(MODELS, X, words, measure="precision@3", pos_label="late", **times, **SETTINGS)
    expected = run(MODELS, X, EVENT, measure="precision@3", **ROWS, **SETTINGS)
    assert found.list_values == expected.list_values


def test_no_score_depends_on_a_label_that_was_not_known_then():
    rng = np.random.default_rng(1)
    models = {"trees": RandomForestClassifier(3, random_state=0), "first": FirstFeature()}

    def scores(y, resolved, entered=ENTERED):
        times = ROWS | {"resolved": resolved}
        found = run(models, X, y, measure="precision@3", **times, **SETTINGS)
        begins = np.floor((entered[found.rows] - 12.0) / 5)
        return [
            np.stack([found.scores[name][begins == period] for name in models])
            for period in np.unique(begins)
        ]

    expected = scores(EVENT, RESOLVED)
    for period, before in enumerate(expected):
        start = 12.0 + 5 * period
        unknown = start < ENTERED + HORIZON
        y = np.where(unknown, rng.random(N) < 0.5, EVENT)
        late = ENTERED + rng.uniform(0, HORIZON, size=N)
        after = scores(y, np.where(unknown, np.where(y, late, np.nan), RESOLVED))
        np.testing.assert_array_equal(after[period], before)
        # What was known has a part in them.
        if period < len(expected) - 1:
            assert (after[-1] != expected[-1]).any()
        if period % 3 != 1:
            continue
        other = np.where(unknown, EVENT, rng.random(N) < 0.5)
        after = scores(other, np.where(other, ENTERED + 1, np.nan))
        assert (after[period] != before).any()


@pytest.mark.filterwarnings("ignore:. days tell little")
def test_limits_are_those_of_the_days_as_queries():
    found = run(MODELS, X, EVENT, measure="precision@3", **ROWS, **SETTINGS)
    day = np.floor(ENTERED[found.rows] - 12.0)
    for until in (10, 15, 20, 28):
        rows = day < until
        columns = {"qid": day[rows].astype("M8[D]")}
        for name, score in found.scores.items():
            one = metric_interval("precision@3", found.labels[rows], score[rows], **columns)
            at = found.so_far[name]
            if until < 28:
                (limits,) = at[until].pointwise
                assert (limits.low, limits.high) == (one.low, one.high)
            else:
                (limits,) = found.values[name].pointwise
                assert (limits.low, limits.high) == (one.low, one.high)
                assert at.pointwise[-1].low == one.low
        score = {name: score[rows] for name, score in found.scores.items()}
        both = compare("precision@3", found.labels[rows], score, **columns)
        table = found.differences_so_far
        one = table[until].interval if until < 28 else table.pointwise[-1]
        assert [one.low, one.high] == pytest.approx([both.interval.low, both.interval.high])
    assert found.comparison.interval.low == both.interval.low
    rows = (day >= 5) & (day < 10)
    one = metric_interval(
        "precision@3",
        found.labels[rows],
        found.scores["first"][rows],
        qid=day[rows].astype("M8[D]"),
    )
    assert found.by_period["17"]["first"].interval.low == one.low


def test_limits_so_far_hold_together_as_those_of_a_random_walk():
    found = run(MODELS, X, EVENT, measure="precision@3", **ROWS, **SETTINGS)
    n = np.array(found.differences_so_far.keys["at"])
    walks = np.random.default_rng(0).normal(size=(40_000, n[-1])).cumsum(axis=1)
    largest = np.abs(walks[:, n - 1] / np.sqrt(n)).max(axis=1)
    error = 1.0 - found.differences_so_far.level_of_each
    assert np.mean(largest > -ndtri(error / 2)) == pytest.approx(0.05, abs=0.005)
    # Days of different periods are as good as independent.
    table = found.differences_by_period
    n_periods = sum(not note for note in table.notes) or len(table)
    assert table.level_of_each == pytest.approx(0.95 ** (1 / n_periods), abs=5e-4)


# ---------------------------------------------------------------------------- arguments and input


def test_amounts_and_arguments_of_fits_are_those_of_the_rows():
    value, weight = RNG.normal(size=(N, 2)), RNG.uniform(size=N)
    options = {"value": value, "params": {"sample_weight": weight}, **ROWS, **SETTINGS}
    found = run({"first": FirstFeature()}, X, EVENT, measure="profit@3", **options)
    assert found.comparison is None
    day = np.floor(ENTERED[found.rows])
    y = found.labels
    for start, profit in zip(found.lists["start"], found.list_values["first"], strict=True):
        rows = found.rows[day == float(start)]
        top = rows[np.argsort(-X[rows, 0])[:3]]
        event = (RESOLVED[top] - ENTERED[top] <= HORIZON).astype(int)
        assert profit == pytest.approx(value[top, 1 - event].sum())
    ((train, _), *_) = PeriodSplit(5, horizon=HORIZON).split(X, groups=ENTERED)
    event = RESOLVED[train] - ENTERED[train] <= HORIZON
    share = np.average(event, weights=weight[train])
    row = found.rows[0]
    assert found.scores["first"][0] == pytest.approx(X[row, 0] - share)
    assert set(np.unique(y)) <= set(value.ravel())


def test_queries_are_those_of_the_days():
    class DaysOnly(FirstFeature):
        def fit(self, X, y, qid=None):
            self.days_ = np.unique(qid)
            return super().fit(X, y)

    found = run({"days": DaysOnly()}, X, EVENT, measure="precision@3", **ROWS, **SETTINGS)
    assert found.names == ("days",)


def test_what_is_printed_is_what_the_tables_say():
    one = run({"start": FirstFeature()}, X, EVENT, measure="precision@3", **ROWS, **SETTINGS)
    both = run(MODELS, X, EVENT, measure="precision@3", **ROWS, **SETTINGS)
    for found in (one, both):
        lines = str(found).splitlines()
        table = found.so_far if found is one else found.differences_so_far
        for start, end in zip(found.periods["start"], found.periods["end"], strict=True):
            (line,) = [x for x in lines if x.startswith(f"{start} ")]
            if start == "12":
                assert "[" not in line
                continue
            assert f"[{fixed(table[end].pointwise[0].low, sign=found is both)}, " in line
        again = pickle.loads(pickle.dumps(found))
        assert again == found
        assert again.to_frame().equals(found.to_frame())
        assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["names"] == [*found.names]
        assert found._repr_html_().count("<table") == (2 if found is one else 3)
    assert one.to_frame().columns.tolist() == ["start"]
    assert one.to_frame()["start"].mean() == pytest.approx(one.values.interval.estimate)


HEADS = {"estimators": MODELS, "X": X, "y": EVENT, "measure": "precision@3", **ROWS, **SETTINGS}
LONG = "No row that entered from 45 on was mature at as_of=40, with horizon=40: pass"


@for_each(
    ("told", "message"),
    [
        ({"resolved": ENTERED - EVENT}, "was resolved before it entered"),
        ({"y": np.where(EVENT, np.nan, 0.0)}, "was resolved, but y_true has no label"),
        ({"resolved": None, "y": np.where(EVENT, np.nan, 0.0)}, "is mature, but y has no label"),
        ({"horizon": 40}, LONG),
        ({"start": 3.0}, "No row to train on was mature at 3, the start of a period, with hor"),
        ({"train_for": 0.01, "start": 9.6}, "pass a later start, a longer train_for or a shorter"),
        ({"y": EVENT & (ENTERED > 20), "resolved": None}, "were mature at 12, .*one label only"),
        ({"entered": dates(ENTERED)}, "entered holds times without a time zone, but resolved hol"),
        (
            {"entered": pd.Series(dates(ENTERED)).dt.tz_localize("UTC"), "resolved": None},
            "entered holds times with a time zone, but as_of holds numbers",
        ),
        ({"entered": np.where(EVENT, np.nan, ENTERED)}, "entered has no time at row"),
        ({"entered": ENTERED[:-1], "resolved": None}, "entered has 599 times for 600 rows"),
        ({"per": 2}, "period=5 is no multiple of per=2: pass a period of whole lists"),
        ({"as_of": 38, "per": 5, "start": 30}, "All rows of no list are mature"),
        ({"baseline": "none"}, "baseline='none' is not among the rankers"),
        ({"estimators": {}}, "estimators is empty"),
        ({"period": 0}, "period=0 must be a finite number greater than 0"),
    ],
)
def test_bad_input_says_what_mends_it(told, message):
    with pytest.raises(ValueError, match=message):
        run(**HEADS | told)


def test_the_periods_are_those_of_a_splitter():
    with pytest.raises(TypeError, match=r"cv=5 must be a PeriodSplit, such as "):
        back_test(MODELS, X, EVENT, cv=5, entered=ENTERED, measure="precision@3")
    splitter = PeriodSplit(5, horizon=HORIZON)
    back_test(MODELS, X, EVENT, cv=splitter, entered=ENTERED, measure="precision@3")
    assert (splitter.start, splitter.as_of) == (None, None)


def test_the_splitter_says_how_it_gets_the_times():
    with pytest.raises(ValueError, match=r"got no groups, the time at which each row entered"):
        next(PeriodSplit(5, horizon=6.5).split(X))
