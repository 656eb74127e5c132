"""Sequences and promises of a log whose labels come late."""

import pickle

import numpy as np
import pandas as pd
import pytest

from sklearn_rank.inference import (
    ConfidenceSequence,
    LabelDesign,
    batch_limits,
    recall_certificate,
)
from tests.naming import for_each
from tests.oracles.late_sequences import batches

HORIZON, LOOKS = 5.0, np.arange(3.0, 25.0, 3.0)


class Rows:
    """Rows with times in quarters of days, and what their log says on a day."""

    def __init__(self, seed=0, n=900, news=True):
        rng = np.random.default_rng(seed)
        self.entered = np.sort(np.floor(rng.uniform(0, 24, n) * 4) / 4)
        comes = rng.random(n) < 0.4
        after = np.floor(rng.exponential(4, n) * 4) / 4
        self.event = np.where(comes, self.entered + after, np.nan)
        self.resolved = self.event
        if news:  # of some that no event will come
            cleared = self.entered + np.floor(rng.uniform(0, 9, n) * 4) / 4
            self.resolved = np.where(comes, self.event, cleared)
        self.y = comes.astype(float)
        positive = comes & (self.event - self.entered <= HORIZON)
        self.score = np.round(rng.normal(size=n) + positive, 1)
        self.columns = {
            "baseline_score": rng.normal(size=n),
            "groups": rng.integers(0, 200, n),
            "qid": np.floor(self.entered).astype(int),
            "sample_weight": rng.integers(1, 4, n),
        }

    def pairs(self):
        events = [None if np.isnan(x) else x for x in self.event]
        return list(zip(self.entered, events, strict=True))

    def expected(self):
        return batches(self.pairs(), HORIZON, LOOKS)

    def update(self, sequence, day, *, rows=None, **columns):
        rows = np.flatnonzero(self.entered <= day) if rows is None else rows
        known = self.resolved[rows] <= day
        y, resolved = (np.where(known, x[rows], np.nan) for x in (self.y, self.resolved))
        design = {"entered": self.entered[rows], "resolved": resolved}
        design = {"horizon": HORIZON, "as_of": day, **design, **columns.pop("design", {})}
        return sequence.update(y, self.score[rows], design=LabelDesign(**design), **columns)


@pytest.mark.parametrize(
    ("measure", "options", "names", "news"),
    [
        ("auc", {}, [], True),
        ("auc", {}, [], False),
        ("precision@top0.2", {"threshold": 1.0}, [], True),
        ("precision@top0.2", {}, [], False),
        ("ap", {}, [], True),
        ("auc", {}, ["baseline_score"], False),
        ("auc", {}, ["groups"], True),
        ("auc", {}, ["sample_weight"], False),
        ("precision@5", {}, ["qid"], True),
        ("precision@5", {}, ["qid"], False),
        ("precision@5", {}, ["qid", "baseline_score"], True),
    ],
)
def test_a_row_counts_when_every_label_would_be_known(measure, options, names, news):
    is_trimmed = not news
    rows = Rows(news=news)
    found, expected = (ConfidenceSequence(measure, **options) for _ in range(2))
    weights = {"weights": "frequency"} if "sample_weight" in names else {}
    last = -np.inf
    for day, (numbers, labels) in zip(LOOKS, rows.expected(), strict=True):
        here = rows.entered <= day
        if is_trimmed:
            is_open = last - rows.entered < HORIZON
            day_of = rows.columns["qid"]
            here &= np.isin(day_of, day_of[is_open]) if "qid" in names else is_open
        here, last = np.flatnonzero(here), day
        columns = {name: rows.columns[name][here] for name in names}
        found = pickle.loads(pickle.dumps(found))
        rows.update(found, day, rows=here, **columns, **weights)
        if "qid" in names:  # A day counts when its last row does.
            numbers, labels = whole_days(rows, day)
        columns = {name: rows.columns[name][numbers] for name in names}
        expected.update(labels, rows.score[numbers], **columns, **weights)
    assert np.isfinite(found.interval.estimate)
    assert found.to_frame().equals(expected.to_frame())


def whole_days(rows, look):
    """Rows and labels of the days whose rows have all become mature since the look before."""
    day, numbers = rows.columns["qid"], []
    for one in np.unique(day):
        last = rows.entered[day == one].max() + HORIZON
        if look - 3.0 < last <= look:
            numbers += np.flatnonzero(day == one).tolist()
    within = rows.event[numbers] - rows.entered[numbers] <= HORIZON
    return numbers, within.astype(int)


def test_times_may_be_dates_and_labels_of_any_kind():
    rows, start = Rows(), pd.Timestamp("2024-01-01")
    found, expected = ConfidenceSequence("auc", pos_label="fraud"), ConfidenceSequence("auc")
    for day in LOOKS:
        rows.update(expected, day)
        here = np.flatnonzero(rows.entered <= day)
        known = rows.resolved[here] <= day
        entered, resolved = (
            start + pd.to_timedelta(pd.Series(x[here]), "D") for x in (rows.entered, rows.resolved)
        )
        y = pd.Series(np.where(rows.y[here] == 1.0, "fraud", "fine"), dtype="str").where(known)
        design = LabelDesign(
            entered=entered,
            resolved=resolved.where(known),
            horizon=pd.Timedelta(days=HORIZON),
            as_of=start + pd.Timedelta(days=day),
        )
        found.update(y, rows.score[here], design=design)
    assert found.to_frame().equals(expected.to_frame())


def test_times_may_be_rounded_sums():
    rng = np.random.default_rng(0)
    entered, y = rng.integers(0, 200, 400), rng.integers(0, 2, 400)
    score, looks = y + rng.normal(size=400), np.arange(30, 260, 7)
    sequences = [ConfidenceSequence("auc") for _ in range(2)]
    for sequence, unit in zip(sequences, (1.0, 10.0), strict=True):
        for look in looks:
            here = entered <= look
            times = {"entered": entered[here] / unit, "as_of": look / unit}
            resolved = np.where(y == 1, (entered + 21) / unit, np.nan)[here]
            design = LabelDesign(**times, resolved=resolved, horizon=21 / unit)
            sequence.update(y[here], score[here], design=design)
    assert sequences[0].to_frame().equals(sequences[1].to_frame())


def test_labels_that_are_known_early_do_not_count_early():
    rows, sequence = Rows(), ConfidenceSequence("auc")
    assert np.isnan(rows.update(sequence, 3.0).estimate)
    rows.resolved = np.where(rows.y == 1.0, rows.event, np.nan)
    other = ConfidenceSequence("auc")
    rows.update(other, 3.0)
    for day in LOOKS[1:]:
        assert rows.update(sequence, day) == rows.update(other, day)


def test_chosen_rows_count_as_a_random_sample_of_all():
    rows, sequence = Rows(n=3000), ConfidenceSequence("precision@top0.2", threshold=-np.inf)
    rng = np.random.default_rng(1)
    p = np.where(rows.score > 0.5, 0.9, 0.3)
    chosen = rng.random(3000) < p
    rows.resolved = np.where(chosen, rows.resolved, np.nan)
    rows.y[~chosen] = np.nan
    for day in LOOKS:
        n = int((rows.entered <= day).sum())
        design = {"inclusion_probability": p[:n], "pool": chosen[:n]}
        interval = rows.update(sequence, day, design=design)
    counted = [number for numbers, _ in rows.expected() for number in numbers]
    positive = rows.event[counted] - rows.entered[counted] <= HORIZON
    # 0.3 of the rows count, of all scores alike.
    assert abs(sequence.to_frame()["n"].iloc[-1] / len(counted) - 0.3) < 0.03
    assert abs(interval.estimate - positive.mean()) < 0.06
    assert abs(positive[chosen[counted]].mean() - positive.mean()) > 0.05


def n_here(rows):
    return np.count_nonzero(rows.entered <= 15.0)


def late_row(rows):
    """One more row that entered long ago."""
    for name in ("entered", "event", "resolved", "y", "score"):
        setattr(rows, name, np.append(getattr(rows, name), getattr(rows, name)[0]))
    return {"rows": np.flatnonzero(rows.entered <= 15.0)}


def only(condition):
    return lambda rows: {"rows": np.flatnonzero(condition(rows.entered))}


@for_each(
    ("change", "message"),
    [
        (only(lambda x: (x > 12.0) & (x <= 15.0)), "of the 1.. rows that were open at the last"),
        (only(lambda x: (x > 7.5) & (x <= 15.0)), "nothing tells whether an event came"),
        (late_row, "^1 rows that were mature at an earlier look"),
        (lambda rows: {"design": {"horizon": 6.0}}, "horizon is 6 days, but was 5"),
        (lambda rows: {"design": {"as_of": None}}, "pass it as as_of"),
        (lambda rows: {"design": {"as_of": np.full(n_here(rows), 15.0)}}, "pass it as as_of"),
        (lambda rows: {"day": 11.0}, "as_of is 11.0, before the last look at 12.0"),
        (lambda rows: {"design": of_dates(rows)}, "numbers in one update"),
    ],
)
def test_what_would_count_wrongly_is_refused(change, message):
    rows, sequence = Rows(), ConfidenceSequence("auc")
    for day in LOOKS[:4]:
        rows.update(sequence, day)
    before = pickle.dumps(sequence)
    options = change(rows)
    with pytest.raises(ValueError, match=message):
        rows.update(sequence, options.pop("day", 15.0), **options)
    assert pickle.dumps(sequence) == before


def of_dates(rows):
    here, start = rows.entered <= 15.0, np.datetime64("2024-01-01T00:00")
    entered, resolved = (
        start + np.where(np.isnan(x), 9e3, 24 * 60 * x).astype("timedelta64[m]")
        for x in (rows.entered[here], rows.resolved[here])
    )
    resolved[~(rows.resolved[here] <= 15.0)] = "NaT"
    return {"entered": entered, "resolved": resolved, "as_of": start + np.timedelta64(15, "D")}


def test_a_log_is_passed_in_every_update_or_in_none():
    rows, sequence = Rows(), ConfidenceSequence("auc")
    y, score = np.r_[1, 0, 1, 0], np.arange(4.0)
    rows.update(sequence, 3.0)
    with pytest.raises(ValueError, match="in every update"):
        sequence.update(y, score)
    sequence.update([], [])
    rows.update(sequence, 9.0)
    other = ConfidenceSequence("auc")
    other.update(y, score)
    with pytest.raises(ValueError, match="in every update"):
        rows.update(other, 9.0)


# ---------------------------------------------------------------------------------------- promises


def test_mature_rows_are_the_sample_of_batches():
    rows, batch = Rows(n=3000), np.random.default_rng(1).normal(size=500)
    ((numbers, labels),) = batches(rows.pairs(), HORIZON, [20.0])
    here = rows.entered <= 20.0
    resolved = np.where(rows.resolved <= 20.0, rows.resolved, np.nan)[here]
    times = {"entered": rows.entered[here], "resolved": resolved, "as_of": 20.0}
    design = LabelDesign(**times, horizon=HORIZON)
    y = np.where(np.isnan(resolved), np.nan, rows.y[here])
    found = batch_limits(y, rows.score[here], batch, design=design, random_state=0)
    expected = batch_limits(labels, rows.score[numbers], batch, random_state=0)
    np.testing.assert_array_equal(found.low, expected.low)
    np.testing.assert_array_equal(found.high, expected.high)
    with pytest.raises(ValueError, match="when a review may stop"):
        recall_certificate(y, design=design)
