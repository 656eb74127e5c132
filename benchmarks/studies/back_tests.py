"""Do limits of back-tests hold at the end of every week at once, where days depend on each other?

    python benchmarks/studies/back_tests.py             # print, about an hour on one core
    python benchmarks/studies/back_tests.py --weeks 8 --write   # also store the results

Protocol, written before the first run. A history has 8, 16 or 36 weeks of days of 40 rows, 15 % of
them events, and two models that were fitted before: ``a`` scores ``(1 + d) y + e`` and ``b``
``(1 - d) y + e'``, with normal e and e' and a d of the day, an autoregression of standard
deviation .7 and persistence rho of 0, .3, .7 or .9, in its stationary state. So the values of days
of one model are correlated, and by symmetry the mean difference of precision@10 a day is 0. The
mean of one model is that of 400,000 days. ``back_test`` takes each week as a period.

Of 1,000 histories, a miss above is a lower limit above the truth, a miss below an upper limit
below it, each counted by itself: of the limits at the end of the history; of the pointwise limits
at the end of any week, which is what one risks who looks each week and believes them; and of the
limits that hold together at the end of any week. Aims at 95 %: both tails of the limits together
at most .06 for rho of 0 and .3, .09 for .7 and .15 for .9, the share by which the limits of one
end may miss by the aim for days that depend; a width at the last end of at most 1.5 of the
pointwise one for differences (those of values hold for both models at once, of which ``a`` is
counted). Nothing was chosen by these designs.

A first run led to means so far that begin with the eighth list. The second one, of the rule as it
is, has histories of its own.
"""

import argparse
import sys
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, run_cells, seeded

from sklearn_rank.metrics import get_measure
from sklearn_rank.model_selection import PeriodSplit, back_test

KEYS = ("question", "weeks", "rho")
ROWS, SHARE, SPREAD, MEASURE = 40, 0.15, 0.7, "precision@10"
COLUMNS = [(name, name, "") for name in KEYS]
COLUMNS += [
    (f"{tail}_{which}", f"{which}, {tail}", ".3f")
    for which in ("last", "pointwise", "together")
    for tail in ("above", "below")
]
COLUMNS += [("width", "width, last", ".2f"), ("histories", "histories", "")]


class Column(ClassifierMixin, BaseEstimator):
    """A model that was fitted before: its scores are a column."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, self.column]


def history(rng, n_days, rho):
    """Scores of both models, and labels, of the rows of consecutive days."""
    news = rng.normal(size=n_days) * np.sqrt(1.0 - rho**2)
    d = np.empty(n_days)
    d[0] = rng.normal()
    for day in range(1, n_days):
        d[day] = rho * d[day - 1] + news[day]
    shift = np.repeat(SPREAD * d, ROWS)
    y = rng.random(n_days * ROWS) < SHARE
    signal = np.c_[(1.0 + shift) * y, (1.0 - shift) * y]
    return signal + rng.normal(size=signal.shape), y


@cache
def truth():
    """Mean precision a day of one model, which does not depend on rho."""
    scores, y = history(seeded("truth"), 400_000, 0.0)
    return get_measure(MEASURE)(y, scores[:, 0], qid=np.repeat(np.arange(400_000), ROWS))


def cell(weeks, rho, n_histories):
    """Shares of misses, and the mean width, of the values of ``a`` and of the differences."""
    found = {"value": [], "difference": []}
    days = np.repeat(np.arange(7 * weeks + 2), ROWS)
    models = {"a": Column(0), "b": Column(1)}
    for number in range(n_histories):
        X, y = history(seeded("second run", weeks, rho, number), 7 * weeks + 2, rho)
        report = back_test(
            models,
            X,
            y,
            cv=PeriodSplit(7, horizon=1, start=2, as_of=7 * weeks + 2),
            entered=days,
            measure=MEASURE,
            random_state=number,
        )
        of_value, of_difference = report.so_far["a"], report.differences_so_far
        for name, table, true in (
            ("value", of_value, truth()),
            ("difference", of_difference, 0.0),
        ):
            each, both = (
                np.array([(one.low - true, true - one.high) for one in rows])
                for rows in (table.pointwise, table.together)
            )
            misses = each[-1] > 0.0, (each > 0.0).any(axis=0), (both > 0.0).any(axis=0)
            widths = table.together[-1].width / table.pointwise[-1].width
            found[name].append([*np.concatenate(misses), widths])
    for name, rows in found.items():
        names = [key for key, *_ in COLUMNS[len(KEYS) : -1]]
        means = dict(zip(names, np.mean(rows, axis=0).tolist(), strict=True))
        yield {"question": name, "weeks": weeks, "rho": rho, "histories": n_histories, **means}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--histories", type=int, default=1000)
    parser.add_argument("--weeks", type=int, nargs="*", default=[8, 16, 36])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    print(describe_machine())
    rows = (
        row
        for weeks in options.weeks
        for rho in (0, 0.3, 0.7, 0.9)
        for row in cell(weeks, rho, options.histories)
    )
    run_cells(rows, "back_tests", KEYS, options.write, COLUMNS)


if __name__ == "__main__":
    main()
