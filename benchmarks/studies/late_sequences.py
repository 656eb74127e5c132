"""Do sequences and promises hold where labels come late, and what if labels count as they come?

    python benchmarks/studies/late_sequences.py            # print, an hour on one core
    python benchmarks/studies/late_sequences.py --write    # also store the results
    python benchmarks/studies/late_sequences.py --only events --repetitions 100

Protocol, written before the first run. A history has 42 rows a day at random times, for twelve
weeks, and a look at the end of each week. A tenth is positive, of scores normal with mean 1.5; the
others have mean 0. The label is an event within 28 days of entry, and is known

- `positives at once`: of positives at entry, of negatives after 28 days;
- `negatives at once`: of negatives at entry, of positives after 21 to 28 days;
- `by score`: after 28 days times the share of rows with higher scores, whatever the label;
- `events`: of an event when it comes, after an exponential time of mean 14 days. Of events after
  28 days the log holds the label 1, which is no positive. That no event came is never logged.

Three ways to look: `mature` passes the log as it stands and `design=LabelDesign(entered=,
resolved=, horizon=28, as_of=)`; `as they come` passes each week the rows whose labels have become
known (without an event after 28 days); `not yet is negative` passes the rows of the week, of which
an unknown label is 0. Sequences of level .95:

- the AUC by betting and asymptotic; precision among alerts, scores that a tenth of the rows reach;
  precision in the top tenth by betting and asymptotic; average precision; and precision of the
  first 5 of a day (`qid=`). Of `as they come` a day comes in parts, which no sequence takes, so
  that it has no such cell.
- A cut-off that promises a precision of .5 (`min_precision=0.5`), or a recall of .6, fitted each
  week from the fifth on to all rows that count so far, at level .95, and at 1 - .05/8 so that all
  eight fits hold together.

A history is a miss above if any lower limit is above the truth, a miss below if any upper limit is
below it; a promise has a miss above only, if the share of the population at the cut-off is smaller
than promised. `last` counts the last look alone. Truths are closed forms or integrals; of the
first 5 of a day the mean of 400,000 days. 1,000 histories of each cell, 100 of the other two ways.
Aim: `mature` misses in at most .05 of the histories at any look; promises of .95 do at the last
look, and those of 1 - .05/8 in any week. Nothing was chosen by these designs.
"""

import argparse
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ndtr
from top_threshold import Given

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, run_cells, seeded

from sklearn_rank.inference import ConfidenceSequence, LabelDesign
from sklearn_rank.model_selection import TopThresholdClassifier

WEEKS, A_DAY, SHARE, SHIFT, HORIZON = 12, 42, 0.1, 1.5, 28.0
KEYS = ("delay", "way", "question")
DELAYS = ("positives at once", "negatives at once", "by score", "events")
WAYS = ("mature", "as they come", "not yet is negative")
GOALS = {"min_precision": 0.5, "min_recall": 0.6}
LEVELS = {"promise": 0.95, "promise of eight": 1.0 - 0.05 / 8.0}


def reached(cut):
    """Shares of the positives and of all rows whose scores reach a cut-off."""
    recall = float(ndtr(SHIFT - cut))
    return recall, SHARE * recall + (1.0 - SHARE) * float(ndtr(-cut))


CUT = brentq(lambda cut: reached(cut)[1] - 0.1, -5.0, 5.0)


def precision(cut):
    recall, flagged = reached(cut)
    return SHARE * recall / flagged if flagged > 0.0 else 1.0


@cache
def questions():
    """Truth, sequence and whether days are queries, by name."""
    ap = quad(lambda x: precision(SHIFT + x) * np.exp(-x * x / 2) / np.sqrt(2 * np.pi), -9, 9)[0]
    rng = seeded("late sequences, truth")
    first = []
    for _ in range(400):
        positive = rng.random((1000, A_DAY)) < SHARE
        order = np.argsort(-(rng.normal(size=positive.shape) + SHIFT * positive))
        first.append(np.take_along_axis(positive, order, 1)[:, :5].mean())
    top, asymptotic = "precision@top0.1", {"method": "asymptotic"}
    auc, of_top = float(ndtr(SHIFT / np.sqrt(2.0))), precision(CUT)
    return {
        "auc": (auc, "auc", {}, False),
        "auc, asymptotic": (auc, "auc", asymptotic, False),
        "alerts": (of_top, top, {"threshold": CUT}, False),
        top: (of_top, top, {}, False),
        f"{top}, asymptotic": (of_top, top, asymptotic, False),
        "ap": (ap, "ap", {}, False),
        "precision@5 of days": (float(np.mean(first)), "precision@5", {}, True),
    }


class History:
    """Rows in order of entry; what the log says of them on a day."""

    def __init__(self, delay, rng):
        n = 7 * WEEKS * A_DAY
        self.entered = np.sort(rng.uniform(0.0, 7 * WEEKS, n).reshape(-1, A_DAY), axis=None)
        self.day = np.floor(self.entered).astype(int)
        comes = rng.random(n) < SHARE
        after = np.full(n, HORIZON)
        if delay == "events":
            # So that a tenth has an event within the horizon.
            comes = rng.random(n) < SHARE / -np.expm1(-HORIZON / 14.0)
            after = np.where(comes, rng.exponential(14.0, n), np.inf)
        self.positive = comes & (after <= HORIZON)
        self.score = rng.normal(size=n) + SHIFT * self.positive
        if delay == "positives at once":
            after = np.where(self.positive, 0.0, HORIZON)
        elif delay == "negatives at once":
            after = np.where(self.positive, rng.uniform(21.0, 28.0, n), 0.0)
        elif delay == "by score":
            share = np.argsort(np.argsort(-self.score)) / n
            after = HORIZON * share
        self.logged, self.resolved = comes, self.entered + after
        # When a label counts if labels count as they come.
        self.told = np.where(self.positive, self.resolved, self.entered + np.fmin(after, HORIZON))

    def log(self, as_of):
        """Rows that have entered, with the labels and times that are known."""
        rows = np.flatnonzero(self.entered <= as_of)
        known = self.resolved[rows] <= as_of
        y = np.where(known, self.logged[rows], np.nan)
        resolved = np.where(known, self.resolved[rows], np.nan)
        design = LabelDesign(
            entered=self.entered[rows], resolved=resolved, horizon=HORIZON, as_of=as_of
        )
        return rows, y, design

    def update(self, way, week):
        """Rows, labels and design of the update at the end of a week."""
        as_of = 7.0 * week
        if way == "mature":
            return self.log(as_of)
        if way == "as they come":
            rows = np.flatnonzero((self.told <= as_of) & (self.told > as_of - 7.0))
            return rows, self.positive[rows].astype(float), None
        rows = np.flatnonzero((self.entered <= as_of) & (self.entered > as_of - 7.0))
        return rows, (self.positive[rows] & (self.told[rows] <= as_of)).astype(float), None

    def counting(self, way, week):
        """Rows and labels to which a promise is fitted at the end of a week."""
        as_of = 7.0 * week
        if way == "mature":
            rows = np.flatnonzero(self.entered + HORIZON <= as_of)
            return rows, self.positive[rows]
        known = (self.told <= as_of) & (self.entered <= as_of)
        rows = np.flatnonzero(known if way == "as they come" else self.entered <= as_of)
        return rows, (self.positive & known)[rows]


def misses_of_sequence(history, way, name):
    """Whether limits are above and below the truth at any look, and at the last one."""
    truth, measure, options, of_days = questions()[name]
    sequence = ConfidenceSequence(measure, **options)
    for week in range(1, WEEKS + 1):
        rows, y, design = history.update(way, week)
        qid = history.day[rows] if of_days else None
        sequence.update(y, history.score[rows], qid=qid, design=design)
    limits = np.array([(found.low, found.high) for found in sequence.history])
    above, below = limits[:, 0] > truth + 1e-12, limits[:, 1] < truth - 1e-12
    width = limits[-1, 1] - limits[-1, 0]
    return above.any(), below.any(), (above | below).any(), above[-1] or below[-1], width


def misses_of_promise(history, way, goal, level):
    """Whether a cut-off has less than it promises in any week, and in the last one."""
    broken, flagged = [], 0.0
    for week in range(5, WEEKS + 1):
        rows, positive = history.counting(way, week)
        X, y = history.score[rows, np.newaxis], positive.astype(int)
        flag = TopThresholdClassifier(Given().fit(X, y), cv="prefit", level=level, **goal)
        cut = flag.fit(X, y).threshold_
        ((name, promised),) = goal.items()
        kept = precision(cut) if name == "min_precision" else reached(cut)[0]
        broken.append(kept < promised)
        flagged = reached(cut)[1]
    return any(broken), False, any(broken), broken[-1], flagged


def cells(delay, repetitions):
    """Rows of results: misses by way and question; width at the last look, or share flagged."""
    for way in WAYS:
        n = repetitions if way == "mature" else -(-repetitions // 10)
        asked = {
            name: (misses_of_sequence, (name,))
            for name in questions()
            if way != "as they come" or not name.endswith("days")
        }
        for goal, value in GOALS.items():
            for title, level in LEVELS.items():
                asked[f"{title}, {goal}"] = misses_of_promise, ({goal: value}, level)
        for name, (misses, arguments) in asked.items():
            start = time.perf_counter()
            found = np.array(
                [
                    misses(History(delay, seeded("late sequences", delay, i)), way, *arguments)
                    for i in range(n)
                ],
                dtype=float,
            )
            above, below, any_look, last, width = found.mean(axis=0)
            yield {
                "delay": delay,
                "way": way,
                "question": name,
                "above": float(above),
                "below": float(below),
                "any": float(any_look),
                "last": float(last),
                "width": float(width),
                "histories": n,
                "seconds": round(time.perf_counter() - start),
            }


COLUMNS = [
    *((key, key, "") for key in KEYS),
    *((key, key, ".3f") for key in ("above", "below", "any", "last", "width")),
    ("histories", "of", "d"),
    ("seconds", "s", "d"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=DELAYS, default=list(DELAYS))
    parser.add_argument("--repetitions", type=int, default=1000, help="histories of each cell")
    parser.add_argument("--write", action="store_true", help="store results/late_sequences.csv")
    arguments = parser.parse_args()
    print(describe_machine())
    for delay in arguments.only:
        of_delay = cells(delay, arguments.repetitions)
        run_cells(of_delay, "late_sequences", KEYS, arguments.write, COLUMNS)


if __name__ == "__main__":
    main()
