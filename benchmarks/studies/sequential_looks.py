"""Errors of intervals over several looks at the same ranker, and their widths.

    python benchmarks/studies/sequential_looks.py            # print the table, about an hour
    python benchmarks/studies/sequential_looks.py --write    # also update results/
    python benchmarks/studies/sequential_looks.py --only auc --repetitions 100
    python benchmarks/studies/sequential_looks.py --every list groups    # every measure (--write)

There are ten or a hundred updates of 100 rows, or of 50 queries of 20 rows. "fixed" is the 95 %
interval for one look, used at each of them; the others are `ConfidenceSequence`. A sequence errs
if any of its intervals misses the target; a second count starts at the third look. Widths are the
medians of the ratios to the fixed interval at the first and at the last look. Few positives are
5 % of the rows, many 30 %. Heavy tails are Cauchy scores, and log-normal noise for queries.
Targets are exact, except for "ap" (four million rows) and the mean of "ndcg@10" (a million
queries). The difference of two equally good rankers is 0.

Protocol of `--every`, written before its first run: does the sequence of any measure that is
accepted miss the fixed value of the population at any of 25 looks in more than .05 of the
histories? Nothing was chosen by these designs.

- `list`: four designs of fresh_designs.py, 200 rows a look, .05 or .3 positive;
- `difference`: two of them, the baseline with noise added to the score;
- `groups`: 50 new users a look with 1 to 12 rows (a geometric number), or 200 rows of the same 100
  users; a user has an effect on the share of positives and on the scores;
- `queries`: 20 a look, of 10 items, a quarter relevant; noise of the scores normal, or t_2;
- `query difference`: the same with a noisier baseline, four measures.

Every measure has the method "auto", and "asymptotic" where it is another one. Truth is the value
in 1,000,000 rows, or the mean over 100,000 queries. Graded measures get labels 0 to 3. A look that
is refused has no limits and misses nothing. 60 histories; a cell with a miss goes on to 100, and
with two misses to 400 (of KS with groups 20, 40 and 100). A cell that ends at 60 or 100 has an
error below .05 with confidence 95 %.
"""

import argparse
import sys
import warnings
import zlib
from functools import cache, partial
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from fresh_designs import drawn
from measuring import (
    RESULTS,
    describe_machine,
    format_table,
    stored_results,
    update_results,
    write_table,
)

from sklearn_rank.inference import ConfidenceSequence, metric_interval
from sklearn_rank.metrics import Accumulator, get_measure, get_measure_names

STORED = RESULTS / "sequential_looks.csv"
LEVEL = 0.95
ROWS, QUERIES, ITEMS = 100, 50, 20
SHARES = {"few": 0.05, "many": 0.3}
SHAPES = {"normal": (stats.norm(1.2), stats.norm()), "heavy": (stats.cauchy(1.5), stats.cauchy())}
TAU, THRESHOLD = 0.1, 1.5
# (measure, looks, part of the repetitions)
CELLS = [
    ("auc", 10, 1.0),
    ("precision@top0.1", 10, 1.0),
    ("alerts", 10, 1.0),
    ("ndcg@10", 10, 1.0),
    ("difference of ndcg@10", 10, 1.0),
    ("ap", 10, 1.0),
    ("auc", 100, 0.25),
    ("ndcg@10", 100, 0.25),
]
COLUMNS = [
    ("measure", "measure", ""),
    ("positives", "positives", ""),
    ("scores", "scores", ""),
    ("looks", "looks", "d"),
    ("method", "method", ""),
    ("error", "error", ".3f"),
    ("error_later", "from look 3", ".3f"),
    ("first_width", "width, first", ".2f"),
    ("last_width", "last", ".2f"),
    ("repetitions", "of", "d"),
]


def seeded(*key):
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def rows_of(rng, n, share, shape, *, exact=False):
    """Labels, of a fixed or a random number of positives, and scores."""
    positive = rng.random(n) < share
    if exact:
        positive = np.arange(n) < round(share * n)
    of_positive, of_negative = SHAPES[shape]
    score = np.where(
        positive, of_positive.rvs(n, random_state=rng), of_negative.rvs(n, random_state=rng)
    )
    return positive.astype(int), score


def queries_of(rng, n, share, shape):
    """Labels of items and two columns of scores that are equally good."""
    relevant = (rng.random((n, ITEMS)) < share).astype(int)
    draw = rng.standard_normal if shape == "normal" else lambda size: np.exp(rng.normal(size=size))
    return relevant, relevant + draw(relevant.shape), relevant + draw(relevant.shape)


@cache
def target_of(measure, share, shape):
    """What the intervals of a cell are for."""
    rng = seeded("target", measure, share, shape)
    of_positive, of_negative = SHAPES[shape]
    if measure.startswith("difference"):
        return 0.0
    if measure == "auc":
        positions = of_positive.ppf((np.arange(400_000) + 0.5) / 400_000)
        return float(of_negative.cdf(positions).mean())
    if measure in ("precision@top0.1", "alerts"):
        threshold = THRESHOLD
        if measure != "alerts":
            threshold = brentq(
                lambda t: share * of_positive.sf(t) + (1 - share) * of_negative.sf(t) - TAU, -9, 99
            )
        found = share * of_positive.sf(threshold)
        return found / (found + (1 - share) * of_negative.sf(threshold))
    if measure == "ap":
        return get_measure("ap")(*rows_of(rng, 4_000_000, share, shape, exact=True))
    parts = (queries_of(rng, 100_000, share, shape)[:2] for _ in range(10))
    return float(np.mean([get_measure(measure)(*part) for part in parts]))


def sequences_of(measure):
    """The confidence sequences of a cell, by name."""
    if measure == "alerts":
        return {"betting": ConfidenceSequence("precision@top0.1", threshold=THRESHOLD)}
    if measure == "ap":
        return {"asymptotic": ConfidenceSequence("ap")}
    name = measure.removeprefix("difference of ")
    return {
        method: ConfidenceSequence(name, method=method) for method in ("betting", "asymptotic")
    }


class Fixed:
    """The interval for one look, all of [0, 1] where there is none."""

    def __init__(self, measure):
        self.name = measure.removeprefix("difference of ")
        self.accumulator = None if measure == "alerts" else Accumulator(self.name)
        self.values = np.empty(0)

    def update(self, y, *scores, qid=None):
        if len(scores) == 2:
            measure = get_measure(self.name)
            a, b = (measure(y, score, qid=qid, average=None) for score in scores)
            self.values = np.append(self.values, a - b)
            half = stats.t.ppf((1 + LEVEL) / 2, len(self.values) - 1)
            half *= self.values.std(ddof=1) / len(self.values) ** 0.5
            return self.values.mean() - half, self.values.mean() + half
        if self.accumulator is None:
            self.values = np.append(self.values, y[scores[0] >= THRESHOLD])
            test = stats.binomtest(int(self.values.sum()), len(self.values))
            return tuple(test.proportion_ci(LEVEL, "wilson"))
        self.values = np.append(self.values, y.mean())
        self.accumulator.update(y, *scores, qid=qid)
        if not 0 < self.values.mean() < 1:
            return 0.0, 1.0
        found = metric_interval(self.accumulator, level=LEVEL)
        return found.low, found.high


def sequence_of_looks(rng, measure, share, shape, n_looks):
    """Limits of each method at each look."""
    sequences, fixed = sequences_of(measure), Fixed(measure)
    limits = {method: [] for method in ("fixed", *sequences)}
    for look in range(n_looks):
        given = {}
        if "ndcg" in measure:
            y, *scores = (column.ravel() for column in queries_of(rng, QUERIES, share, shape))
            scores = scores if measure.startswith("difference") else scores[:1]
            given["qid"] = np.repeat(np.arange(QUERIES) + QUERIES * look, ITEMS)
        else:
            y, *scores = rows_of(rng, ROWS, share, shape)
        limits["fixed"].append(fixed.update(y, *scores, **given))
        if len(scores) == 2:
            given["baseline_score"] = scores[1]
        for method, sequence in sequences.items():
            found = sequence.update(y, scores[0], **given)
            limits[method].append((found.low, found.high))
    return {method: np.array(found) for method, found in limits.items()}


def rows_of_cell(measure, n_looks, positives, shape, repetitions):
    """One row for each method."""
    share = SHARES[positives]
    target = target_of(measure, share, shape)
    rng = seeded(measure, n_looks, positives, shape)
    found = [sequence_of_looks(rng, measure, share, shape, n_looks) for _ in range(repetitions)]
    rows = []
    for method in found[0]:
        limits = np.array([one[method] for one in found])
        fixed = np.array([one["fixed"] for one in found])
        missed = (limits[..., 0] > target) | (limits[..., 1] < target)
        with np.errstate(divide="ignore", invalid="ignore"):
            widths = np.ptp(limits, axis=2) / np.ptp(fixed, axis=2)
        first, last = np.nanmedian(widths[:, [0, -1]], axis=0)
        rows.append(
            {
                "measure": measure,
                "positives": positives,
                "scores": shape,
                "looks": n_looks,
                "method": method,
                "error": float(missed.any(axis=1).mean()),
                "error_later": float(missed[:, 2:].any(axis=1).mean()),
                "first_width": float(first),
                "last_width": float(last),
                "repetitions": repetitions,
            }
        )
    return rows


EVERY = RESULTS / "sequences.csv"
SHARE_OF = {"junk": 0.05, "cliff": 0.3, "ceiling": 0.3, "tails": 0.05}
DOORS = {
    "list": list(SHARE_OF),
    "difference": ["cliff", "tails"],
    "groups": ["new users", "same users"],
    "queries": ["normal", "t2"],
    "query difference": ["normal", "t2"],
}
EVERY_COLUMNS = [
    ("door", "door", ""),
    ("design", "design", ""),
    ("measure", "measure", ""),
    ("method", "method", ""),
    ("truth", "truth", ".4f"),
    ("missed", "missed", ".3f"),
    ("below", "too high", ".3f"),
    ("above", "too low", ".3f"),
    ("width", "last width", ".3f"),
    ("refused", "looks refused", ".3f"),
    ("histories", "of", "d"),
]


def columns_of(rng, door, design, n=None, look=0, effects=None):
    """Columns of a look; of n rows or queries for the truth, whose rows are all of other users."""
    columns = {}
    if door in ("list", "difference"):
        y, score = drawn(design, n or 200, SHARE_OF[design], rng)
    elif door == "groups":
        if n:
            effect = rng.normal(size=n)
        elif design == "same users":
            columns["groups"] = rng.integers(0, 100, 200)
            effect = effects[columns["groups"]]
        else:
            columns["groups"] = np.repeat(np.arange(50), np.minimum(rng.geometric(0.25, 50), 12))
            effect = rng.normal(size=50)[columns["groups"]]
            columns["groups"] += 50 * look
        y = (rng.random(len(effect)) < expit(effect - 2.0)).astype(int)
        score = rng.normal(size=len(y)) + 1.5 * y + 0.7 * effect
    else:
        n = n or 20
        y = (rng.random(10 * n) < 0.25).astype(int)
        columns["qid"] = np.repeat(np.arange(n) + n * look, 10)
        score = y + (rng.normal if design == "normal" else partial(rng.standard_t, 2))(size=10 * n)
    if "difference" in door:
        columns["baseline_score"] = score + rng.normal(size=y.shape)
    return {"y": y, "grades": y * rng.integers(1, 4, y.shape), "score": score, **columns}


def measures_of(door):
    """Names, their measures and methods; rows above a fixed score are "alerts"."""
    names = [name for name in get_measure_names() if name != "tpr@fpr0.01"]
    names += ["alerts", "tpr@fpr0.1", "enrichment@0.1"]
    if door == "query difference":
        names = ["ndcg@10", "dcg@10", "ap", "lift@0.1"]
    for name in names:
        given = {"threshold": THRESHOLD} if name == "alerts" else {}
        measure = get_measure("precision@top0.1" if given else name)
        for method in ("auto",) if given else ("auto", "asymptotic"):
            yield name, measure, partial(ConfidenceSequence, measure, method=method, **given)


def labels_for(measure, columns):
    """Grades, but for measures whose labels are probabilities or classes."""
    has_grades = measure.kind == "graded" and not measure.name.startswith(("err", "rbp"))
    return columns["grades" if has_grades else "y"]


def truth_of(name, measure, columns):
    labels = labels_for(measure, columns)
    if name == "alerts":
        return float(labels[columns["score"] >= THRESHOLD].mean())
    given = {"qid": columns["qid"], "average": None} if "qid" in columns else {}
    scores = [x for key, x in columns.items() if key.endswith("score")]
    values = [np.asarray(measure(labels, score, **given)) for score in scores]
    return float(np.nanmean(values[0] - values[1] if len(values) == 2 else values[0]))


def every_history(make, measure, door, design, i):
    """Limits of the looks, those that were refused NaN, and the method."""
    rng, limits, sequence = seeded("every", door, design, i), [], make()
    effects = rng.normal(size=100)
    for look in range(25):
        columns = columns_of(rng, door, design, look=look, effects=effects)
        labels, score = labels_for(measure, columns), columns["score"]
        given = {name: columns[name] for name in columns.keys() - {"y", "grades", "score"}}
        try:
            found = sequence.update(labels, score, **given)
            limits.append((found.low, found.high))
        except ValueError:
            limits.append((np.nan, np.nan))
    return np.array(limits), sequence.interval.method if sequence.n_looks else ""


def every_measure(door, design, seed, only=None):
    """One row for each measure, or of those, and method that is accepted."""
    n = 100_000 if "quer" in door else 1_000_000
    everything = columns_of(seeded("every truth", door, design), door, design, n)
    methods = set()
    for name, measure, make in measures_of(door):
        stages = (20, 40, 100) if (door, name) == ("groups", "ks") else (60, 100, 400)
        if only and name not in only:
            continue
        limits, used = every_history(make, measure, door, design, (seed, 0))
        if not used or (name, used) in methods:
            continue
        methods.add((name, used))
        truth, found = truth_of(name, measure, everything), [limits]
        for most, number in enumerate(stages):
            for i in range(len(found), number):
                found.append(every_history(make, measure, door, design, (seed, i))[0])
            limits = np.array(found)
            below, above = limits[..., 0] > truth + 1e-9, limits[..., 1] < truth - 1e-9
            wrong = below | above
            if wrong.any(axis=1).sum() <= most:
                break
        yield {
            "door": door,
            "design": design,
            "measure": name,
            "method": used,
            "truth": truth,
            "missed": float(wrong.any(axis=1).mean()),
            "below": float(below.any(axis=1).mean()),
            "above": float(above.any(axis=1).mean()),
            "width": float(np.nanmedian(np.ptp(limits[:, -1], axis=1))),
            "refused": float(np.isnan(limits[..., 0]).mean()),
            "histories": len(found),
        }


def every(doors, only=None, write=False, seed=0):
    for door in doors:
        for design in DOORS[door]:
            rows = []
            for row in every_measure(door, design, seed, only):
                print(*row.values(), flush=True)
                rows.append(row)
            if write:
                update_results(EVERY.stem, rows, ("door", "design", "measure", "method"))


def main(only=None, repetitions=200, write=False):
    rows = []
    for measure, n_looks, part in CELLS:
        if only and measure not in only:
            continue
        for positives in SHARES:
            for shape in SHAPES:
                some = max(round(part * repetitions), 1)
                cell = rows_of_cell(measure, n_looks, positives, shape, some)
                print(format_table(cell, COLUMNS), flush=True)
                rows += cell
    print(describe_machine())
    print(format_table(rows, COLUMNS))
    if write:
        made = {row["measure"] for row in rows}
        others = [row for row in stored_results(STORED.stem) if row["measure"] not in made]
        write_table(STORED, others + rows, COLUMNS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", help="measures")
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--every", nargs="+", choices=DOORS, help="every measure by these doors")
    parser.add_argument("--seed", type=int, default=0, help="of --every")
    parser.add_argument("--write", action="store_true", help=f"store the rows in {STORED.name}")
    arguments = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if arguments.every:
            every(arguments.every, arguments.only, arguments.write, arguments.seed)
        else:
            main(arguments.only, arguments.repetitions, arguments.write)
