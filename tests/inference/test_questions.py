"""Every measure is asked every question: it answers, or one sentence says why it cannot.

python -m tests.inference.test_questions    # print the table of the guide
"""

import re
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_rank.inference import ConfidenceSequence, compare, metric_interval, sample_size
from sklearn_rank.metrics import Accumulator, get_measure, get_measure_names
from sklearn_rank.model_selection import BoundSearchCV, cross_val_interval
from tests.catalogue import scores_for

PAGE = Path(__file__).parents[2] / "docs/user_guide/how_far_to_trust.md"
N = 960
QID, GROUPS = np.repeat(np.arange(N // 24), 24), np.repeat(np.arange(N // 4), 4)


@cache
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    grade = np.clip(np.round(X[:, 0] + rng.normal(size=N)), 0, 2)
    return X, grade, X[:, 0] + 1.2 * rng.normal(size=N), X[:, 0] + 1.5 * rng.normal(size=N)


def measure_of(name):
    on_a_scale = name.startswith(("err", "rbp"))
    return get_measure(name, max_grade=2) if on_a_scale else get_measure(name)


def labels_of(measure):
    grade = rows()[1]
    return grade if measure.kind == "graded" else (grade > 1).astype(int)


def scores_of(measure, score=2):
    return scores_for(measure, rows()[score])


def interval(measure, **ids):
    return metric_interval(measure, labels_of(measure), scores_of(measure), **ids)


def comparison(measure, **ids):
    return compare(
        measure,
        labels_of(measure),
        {"a": scores_of(measure), "b": scores_of(measure, 3)},
        random_state=0,
        **ids,
    )


def size(measure, **ids):
    low, high = measure.range
    width = 0.2 * (high - low) if np.isfinite(high - low) else 5.0
    pilot = (labels_of(measure), scores_of(measure))
    return sample_size(measure, pilot=pilot, width=width, random_state=0, **ids)


def sequence(measure, qid=None):
    looks, y = ConfidenceSequence(measure), labels_of(measure)
    for half in (slice(N // 2), slice(N // 2, N)):
        ids = {} if qid is None else {"qid": qid[half]}
        last = looks.update(y[half], scores_of(measure)[half], **ids)
    return last


def accumulator(measure, **ids):
    return metric_interval(
        Accumulator(measure).update(labels_of(measure), scores_of(measure), **ids)
    )


def estimator_of(measure):
    return LogisticRegression() if measure.kind == "binary" else Ridge()


def is_of_list(measure):
    return "influence" in measure.laws


def folds(measure):
    ids = {} if is_of_list(measure) else {"qid": QID}
    X, y = rows()[0], labels_of(measure)
    return cross_val_interval(estimator_of(measure), X, y, measure=measure, cv=3, **ids)


def search(measure):
    ids = {} if is_of_list(measure) else {"qid": QID}
    grid = {"C" if measure.kind == "binary" else "alpha": [0.1, 1.0]}
    found = BoundSearchCV(estimator_of(measure), grid, measure=measure, random_state=0)
    return found.fit(rows()[0], labels_of(measure), **ids)


LIST, QUERIES, IN_GROUPS = {}, {"qid": QID}, {"groups": GROUPS}
QUESTIONS = {
    "interval": (interval, {"list": LIST, "queries": QUERIES, "groups": IN_GROUPS}),
    "comparison": (comparison, {"list": LIST, "queries": QUERIES, "groups": IN_GROUPS}),
    "sample size": (size, {"list": LIST, "queries": QUERIES, "groups": IN_GROUPS}),
    "sequence": (sequence, {"list": LIST, "queries": QUERIES}),
    "accumulator": (accumulator, {"list": LIST, "queries": QUERIES}),
    "folds": (folds, {"": LIST}),
    "search": (search, {"": LIST}),
}
REASONS = {
    "a": (
        r"single value|variance on one list is unknown",
        "One list is a single value and does not show its variance: pass `qid`.",
    ),
    "b": (
        r"depends on the number of its items",
        "The measure depends on the first places of the list or on an extreme, so that a pilot"
        " does not show its variance in a longer list: plan queries, or a measure of a share of"
        " the list.",
    ),
    "c": (
        r"keeps all rows",
        "The accumulator keeps all rows of this measure: pass the rows to `metric_interval`.",
    ),
    "d": (
        r"no target in common",
        "The value moves if the list grows or scores tie, so that looks have no common target:"
        " pass `qid`, such as the day.",
    ),
    "e": (r"is right at 0", "The best value is 0, not the largest: choose by another measure."),
}
TITLE = ["measure"] + [
    f"{name}{', ' if units else ''}{units}"
    for name, (_, all_) in QUESTIONS.items()
    for units in all_
]


@cache
def answers():
    """Rows of the table: a tick, or the letter of the reason."""
    table = []
    for name in get_measure_names():
        cells = []
        for ask, designs in QUESTIONS.values():
            for ids in designs.values():
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        ask(measure_of(name), **ids)
                    cells.append("yes")
                except ValueError as error:
                    cells.append(reason(str(error)))
        table.append([name, *cells])
    return table


def reason(message):
    for letter, (pattern, _) in REASONS.items():
        if re.search(pattern, message):
            return letter
    raise AssertionError(f"an answer that is no reason: {message}")


def page(table):
    """The table and the reasons, as the guide has them: measures of equal answers share a row."""
    columns = list(zip(*table, strict=True))[1:]
    open_to_all = [set(column) == {"yes"} for column in columns]
    always = [name for name, yes in zip(TITLE[1:], open_to_all, strict=True) if yes]
    asked = [name for name, yes in zip(TITLE[1:], open_to_all, strict=True) if not yes]
    alike = {}
    for name, *cells in table:
        shown = tuple(cell for cell, yes in zip(cells, open_to_all, strict=True) if not yes)
        alike.setdefault(shown, []).append(f"`{name}`")
    lines = [f"Every measure answers: {'; '.join(always)}.", ""]
    lines += ["| measures | " + " | ".join(asked) + " |", "| --- " * (len(asked) + 1) + "|"]
    for cells, names in sorted(alike.items(), key=lambda item: -len(item[1])):
        lines.append(f"| {', '.join(names)} | {' | '.join(cells)} |")
    lines += ["", *(f"- {letter}: {text}" for letter, (_, text) in REASONS.items())]
    return "\n".join(lines)


@pytest.mark.slow
def test_each_question_has_an_answer_or_a_reason():
    text = PAGE.read_text(encoding="utf-8")
    # A new measure is asked too, before the page has it.
    rows_of_table = "".join(line for line in text.splitlines() if line.startswith("| `"))
    table = [row for row in answers() if f"`{row[0]}`" in rows_of_table]
    n_answers = sum(cell == "yes" for _, *cells in table for cell in cells)
    assert " ".join(page(table).split()) in " ".join(text.split())
    assert f"{n_answers} of {len(table) * (len(TITLE) - 1)}" in text


if __name__ == "__main__":
    print(page(answers()))
    print(sum(cell == "yes" for _, *cells in answers() for cell in cells))


def test_scores_that_look_reversed_are_told_by_each_door():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 4 == 0
    worse = rng.normal(size=400) - y
    many = rng.normal(size=24_000) - np.tile(y, 60)
    scores = {"a": worse, "b": -worse, "c": worse - y}
    weak, qid = 4.0 * worse + 4.0 * rng.normal(size=400), np.arange(400) // 20
    of_queries = get_measure("auc")(y, worse, qid=qid)  # which have as many positives
    doors = {
        r"y_score \(AUC 0\.2": lambda: metric_interval("ks", y, worse),
        r"scores\['a'\] \(AUC 0\.2\d*\), scores\['c'\] \(AUC 0\.0": lambda: compare(
            "ap", y, scores
        ),
        r"scores\['a'\]": lambda: metric_interval(["ap", "auc"], y, scores),
        rf"y_score \(AUC {of_queries:.4f}\)": lambda: metric_interval("ndcg@5", y, worse, qid=qid),
        r"scores\['a'\] \(AUC 0\.2\d*\), scores\['d'\]": lambda: compare(
            "ap", y, {"a": worse, "d": weak}, qid=qid
        ),
        "y_score.*": lambda: metric_interval(
            "auc", np.tile(y, 60), many, qid=np.arange(24_000) // 2000
        ),
        # Of many rows some are looked at first, and the value is of all.
        rf"y_score \(AUC {get_measure('auc')(np.tile(y, 60), many):.4f}": lambda: metric_interval(
            "ap", np.tile(y, 60), many
        ),
    }
    for text, door in doors.items():
        with pytest.warns(UserWarning, match=f"{text}.* may be reversed: negate"):
            door()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metric_interval("ap", y, worse, groups=np.arange(400) // 20)  # of dependent rows
        metric_interval("ap", y, rng.normal(size=400))
        metric_interval("ap", np.tile(y, 60), -many)
        metric_interval("ndcg@5", y, rng.normal(size=400), qid=qid)
