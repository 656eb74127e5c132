"""Level, width and power of the limits of differences of two rankers, where the margin is true.

    python benchmarks/studies/differences_at_margin.py            # print, about ten minutes
    python benchmarks/studies/differences_at_margin.py --write    # also store the results
    python benchmarks/studies/differences_at_margin.py --only lists --repetitions 200
    python benchmarks/studies/differences_at_margin.py --power    # twins, beside exchanges

Protocol. Scores are ``shift y + common + scale noise`` with the same common part for two rankers
and scales of 1 for the first and 0.3 for the second, which is better. The truth is their
difference on four samples of a million rows; for folds, the mean over 20,000 lists of the length
of a fold. A margin equal to it is the boundary of non-inferiority. Each cell has 2,000 samples
(folds 500, twins 1,000), and its seed depends on the design alone. It counts

- `low` and `high`: how often the one-sided 5 % limit excludes the truth from below (a wrong
  "not inferior" at that margin) and from above; at most .07 is the aim;
- `width`: the mean distance of these limits over that of the 5 % and 95 % quantiles of the
  difference; at most 1.15 is the aim;
- `cover`, `width95`: coverage of the two-sided 95 % interval, and its mean length over the
  distance of the quantiles of 2.5 % and 97.5 %; for groups the aim is at least .93 and at most
  1.25;
- `different`: how often the two-sided 5 % test of no difference finds the second ranker better;
- `at twice`: how often non-inferiority with a margin of twice the difference is shown;

for "Student", the interval from the covariance of the influence values alone, and for "compare".

Twins have the same signal, and each noise of its own of .03 or .1 of the spread, as a model and
the same after training on other rows have: their difference is 0. The aims are a width of the
95 % interval of at most 1.25, .03 to .06 outside of it, and (`--power`) .9 of the power of the
test by exchanges. Limits of twins were chosen on normal tails with a shift of 1.5; the share of
what pairs add that is left out, also by the cells of lists below: those of logistic tails, and of
a noise of .3, were not looked at before. With failures
the second of two such rankers places three items in a hundred at random: a sample of few positives
lacks those that decide, and no aim is set.

Forms were chosen on tails Cauchy, lognormal, logistic, t(3), and normal with 2 % of ten times the
spread; 60/60, 100/100, 15/150, 25/200, 30/600 positives and negatives; 15 to 45 groups of 4 to 6.
The cells here were not looked at before: "target" cells are those of the aim, the others further
tails, sizes and measures. Variants that were dropped there: a fixed half item at either end (too
wide, or too narrow where the variance is largest), the variance tilted to the hypothesis by third
moments (these are too uncertain where it matters: in half of the samples they had the wrong sign),
and constrained estimates with variances ``A (1 - A)`` (no better than Student's).
"""

import argparse
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import stdtrit
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import RESULTS, describe_machine, format_table, seeded, write_table

from sklearn_rank.inference import compare
from sklearn_rank.inference._evidence import check_lists
from sklearn_rank.inference._simultaneous import joint_on_list
from sklearn_rank.metrics import get_measure
from sklearn_rank.model_selection import cross_val_compare

STORED = RESULTS / "differences_at_margin.csv"
TAILS = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "t(2)": lambda rng, shape: rng.standard_t(2, shape),
    "Laplace": lambda rng, shape: rng.laplace(size=shape),
    "Gumbel": lambda rng, shape: rng.gumbel(size=shape),
    "logistic": lambda rng, shape: rng.logistic(size=shape),
}
TARGET = ("bedroc@20", "precision@top0.1", "ap", "auc")
FURTHER = ("local_auc@0.8", "partial_auc@fpr0.1", "tpr@fpr0.1")
SCALES = np.array([[1.0], [0.3]])
TWINS = {
    "twins .03": 0.03,
    "twins .1": 0.1,
    "twins .3": 0.3,
    "failures .03": 0.03,
}  # Noise of either ranker
FAILURES = 0.03  # Share of items
LARGE, SAMPLES, LISTS = 1_000_000, 4, 20_000
CONTRAST = np.array([1.0, -1.0])
METHODS = ("auto", "swap")
# Name, kind, tails, shift, positives and negatives (or groups of them), measures.
DESIGNS = [
    *(
        ("target", "lists", tails, 1.5, sizes, TARGET)
        for tails in ("normal", "t(2)")
        for sizes in ((100, 100), (20, 200))
    ),
    *(
        ("further", "lists", tails, shift, sizes, TARGET + FURTHER)
        for tails, shift in (("Laplace", 1.5), ("Gumbel", 2.0), ("normal", 0.5))
        for sizes in ((50, 50), (40, 400))
    ),
    *(
        (name, "groups", tails, 1.5, sizes, TARGET)
        for name, sizes in (("target", (20, 20)), ("further", (10, 40)))
        for tails in ("normal", "t(2)")
    ),
    *(("target", "folds", tails, 1.5, (100, 100), TARGET) for tails in ("normal", "t(2)")),
    *(
        ("target", kind, tails, shift, sizes, TARGET)
        for kind in ("twins .03", "twins .1")
        for tails, shift in (("Laplace", 2.0), ("Gumbel", 1.5), ("t(2)", 2.0))
        for sizes in ((20, 180), (60, 540), (200, 1800))
    ),
    *(
        ("further", kind, "logistic", 2.5, sizes, TARGET)
        for kind in ("twins .1", "twins .3", "lists")
        for sizes in ((30, 300), (80, 80))
    ),
    *(
        ("further", "failures .03", "normal", 1.5, sizes, TARGET)
        for sizes in ((20, 180), (200, 1800))
    ),
]
ALIKE, ICC = 5, 0.7  # Rows of a group, of one class; share of the group in the spread of each part
FOLDS = 5


def drawn(rng, kind, tails, shift, sizes):
    """Labels, scores of both rankers and groups of one sample."""
    draw = TAILS[tails]
    if kind != "groups":
        y = np.arange(sum(sizes)) < sizes[0]
        scales = TWINS.get(kind, SCALES)
        scores = shift * y + draw(rng, len(y)) + scales * draw(rng, (2, len(y)))
        if kind.startswith("failures"):
            scores[1] = np.where(rng.random(len(y)) < FAILURES, draw(rng, len(y)), scores[1])
        return y, scores, None
    groups = np.repeat(np.arange(sum(sizes)), ALIKE)
    y = groups < sizes[0]

    def part(*rankers):
        of_groups = draw(rng, (*rankers, sum(sizes)))[..., groups]
        return np.sqrt(ICC) * of_groups + np.sqrt(1.0 - ICC) * draw(rng, (*rankers, len(y)))

    return y, shift * y + part() + SCALES * part(2), groups


def truths(rng, kind, tails, shift, sizes, measures):
    if kind.startswith("twins"):
        return {get_measure(measure).name: 0.0 for measure in measures}
    if kind == "folds":
        sizes = tuple(size // FOLDS for size in sizes)
        lists = [drawn(rng, kind, tails, shift, sizes) for _ in range(LISTS)]
        y = np.concatenate([one[0] for one in lists])
        scores = np.concatenate([one[1] for one in lists], axis=1)
        qid = np.repeat(np.arange(LISTS), sum(sizes))
        samples = [(y, scores, {"qid": qid})]
    else:
        rows = ALIKE if kind == "groups" else 1
        many = tuple(round(LARGE / rows * size / sum(sizes)) for size in sizes)
        samples = [(*drawn(rng, kind, tails, shift, many)[:2], {}) for _ in range(SAMPLES)]
    found = {}
    for measure in map(get_measure, measures):
        values = [[float(measure(y, s, **given)) for s in scores] for y, scores, given in samples]
        found[measure.name] = float(np.mean(values, axis=0) @ CONTRAST)
    return found


class Column(ClassifierMixin, BaseEstimator):
    """Ranks by a column, without anything to learn."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, self.column]


def limits(difference, error, degrees):
    """The difference, its one-sided 5 % limits, and its two-sided ones."""
    quantiles = stdtrit(degrees, [0.95, 0.975])
    ends = [difference + sign * quantile * error for quantile in quantiles for sign in (-1, 1)]
    return [difference, *ends]


def forms(kind, sample, measure, seed):
    y, scores, groups = sample
    if kind == "folds":
        asked = {"measure": measure, "cv": FOLDS, "random_state": seed}
        models = {"a": Column(0), "b": Column(1)}
        sided, both = (
            cross_val_compare(models, scores.T, y.astype(int), **asked, **more)
            for more in ({"margin": 0.1}, {})
        )
        ends = [x for found in (sided, both) for x in (found.low[0], found.high[0])]
        return {"compare": [sided.differences[0], *ends]}
    joint, _, _ = joint_on_list(check_lists(get_measure(measure), y, list(scores), groups=groups))
    difference = float(CONTRAST @ joint.estimates)
    error = np.sqrt(max(CONTRAST @ joint.covariance @ CONTRAST, 0.0))
    (adapted,), (degrees,) = joint.standard_errors(CONTRAST[np.newaxis])
    return {
        "Student": limits(difference, error, joint.spread.of(CONTRAST)),
        "compare": limits(difference, adapted, degrees),
    }


def cells(design, repetitions):
    name, kind, tails, shift, sizes, measures = design
    repetitions //= {"folds": 4, "twins": 2, "failures": 2}.get(kind.split()[0], 1)
    rng = seeded("differences at the margin", kind, tails, str(shift), str(sizes))
    truth = truths(rng, kind, tails, shift, sizes, measures)
    found = {}
    for i in range(repetitions):
        sample = drawn(rng, kind, tails, shift, sizes)
        for measure in measures:
            for form, ends in forms(kind, sample, measure, i).items():
                found.setdefault((measure, form), []).append(ends)
    for (measure, form), rows in found.items():
        difference, low, high, low_of_both, high_of_both = np.array(rows).T
        true = truth[get_measure(measure).name]
        apart, apart_of_both = (
            np.subtract(*np.quantile(difference, [1.0 - tail, tail])) for tail in (0.05, 0.025)
        )
        slack = 1e-12
        yield {
            "cells": name,
            "kind": kind,
            "measure": measure,
            "size": "/".join(map(str, sizes)),
            "tails": tails,
            "shift": shift,
            "form": form,
            "truth": f"{true:.4f}",
            "low": f"{np.mean(low > true + slack):.4f}",
            "high": f"{np.mean(high < true - slack):.4f}",
            "width": f"{np.mean(high - low) / apart:.3f}",
            "cover": f"{np.mean((low_of_both <= true) & (true <= high_of_both)):.4f}",
            "width95": f"{np.mean(high_of_both - low_of_both) / apart_of_both:.3f}",
            "different": f"{np.mean(high_of_both < 0.0):.4f}",
            "at twice": f"{np.mean(low > 2.0 * true):.4f}",
            "repetitions": repetitions,
        }


def power(repetitions):
    """Share of samples in which a better twin is found, by `compare` and by exchanges of ranks."""
    for sizes, ahead in (((20, 180), 0.15), ((60, 540), 0.05)):
        for kind, measure in product(list(TWINS)[:2], ("ap", "bedroc@20", "auc")):
            rng = seeded("a better twin", kind, str(sizes), measure)
            found = []
            for i in range(repetitions):
                y, scores, _ = drawn(rng, kind, "Gumbel", 1.5, sizes)
                named = {"a": scores[0] + ahead * y, "b": scores[1]}
                of = (compare(measure, y, named, method=x, random_state=i) for x in METHODS)
                found.append([x.pvalue <= 0.05 and x.differences[0] > 0.0 for x in of])
            shares = np.mean(found, axis=0)
            yield {"size": "/".join(map(str, sizes)), "kind": kind, "measure": measure} | {
                method: f"{share:.3f}" for method, share in zip(METHODS, shares, strict=True)
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--only", choices=("lists", "groups", "folds", "twins", "failures"))
    parser.add_argument("--power", action="store_true", help="power of twins alone")
    parser.add_argument("--write", action="store_true", help=f"store results/{STORED.name}")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(describe_machine())
    found = []
    with threadpool_limits(1):
        if arguments.power:
            found += power(arguments.repetitions // 10)
        for design in () if arguments.power else DESIGNS:
            if arguments.only in (None, design[1].split()[0]):
                found += cells(design, arguments.repetitions)
                print(design[:5], flush=True)
    print(format_table(found, [(key, key, "") for key in found[0]]))
    if arguments.write:
        write_table(STORED, found, ())


if __name__ == "__main__":
    main()
