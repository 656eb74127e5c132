"""How often promised precisions, recalls and false positive rates fail, and what is flagged.

    python benchmarks/studies/top_threshold.py            # print, about half an hour; needs mapie
    python benchmarks/studies/top_threshold.py --write    # also store the results

Protocol. Calibration rows are drawn from a pool of 400,000 rows whose scores are given, and the
promise is checked on the pool. Seven designs: 5 % positives; few (30 expected of 1,000); scores
rounded to halves; scores with t3 tails; 1 % positives; 600 groups of 5 rows that share most of
their score; and a pool whose highest scores are half of them negative, so that the precision rises
at first as the cut-off falls. A positive brings a lognormal amount of median 55, a negative costs
5, and a mean of 30 is promised. The confidence is .9. A cell is a design and a promise: the share
of runs in which it fails, at most .1 as promised, and the mean recall of what is flagged.

Beside it: the lowest cut-off that has the precision on the calibration rows; MAPIE's controller
(100 thresholds, Holm's correction as by default, and a fixed sequence) on the true
probabilities of the scores, of the first 100 runs. "batch" is min_precision with a capacity of 200
on batches of 3,000 rows, whose own precision is checked.

The numbers of failures at which tests start and their shares of the error were chosen on normal
scores (shifts of 2, 2.5 and 3 deviations, and a mixture), n from 1,000 to 20,000 and 1 and 5 %
positives. A first run on the designs here found a cut-off in half of the samples of the last one,
and a false positive rate that failed in .123 with groups. A third start and one more hit in the
effect of groups were added before the run that is stored, so that these two are no longer fresh.

Second protocol, written before its first run: `float32` and `float64` are "5 %" with scores of one
decimal in that type, checked on what `predict` flags of the pool. `Zipf 40`, `Zipf 150`, `one
large` (300 rows, 299 groups of 4) and `alike` (60 groups of 10 to 30 rows, weak effects) have
groups of the same sizes in each sample, with Laplace effects on logistic scores. Of 150 Zipf
groups the scores of the largest tenth vary 2.5 times as much (`unlike scores`), the logarithm of
the size moves the scores (`unlike sizes`), or the largest tenth has strong effects and the others
weak ones (`unlike effects`). Promised are a precision of .6, a recall of .7 and a false positive
rate of .1, and checked on 1,000 times as many groups of these sizes. Aim: fails in at most .11.

Third protocol, written before its first run, for low precisions and wide lists: 3,000 and 20,000
rows drawn from a pool. `rule` has twelve values, .11 positives in the first .36 of rows and .04
in the others; `weak`, `strong` and `even` have normal scores a deviation, 2.2 and one apart, and
.1, .2 and .5 positives; `falling` has .9 exp(-u / .15) + .01 positives at place u of 0 to 1; `t3`
has t3 tails, 1.5 apart, and .15 positives, so that the precision rises at first. Promised are the
PRECISIONS between that of all rows and that of the first hundredth. A mean value above 0 of two
amounts is the same promise: .1 of 9 and -1, .5 of 1 and -1. Beside it: the lowest of ten cut-offs
at tenths of the rows whose binomial test has a tenth of the error; "bets", the promise of a mean
value, of amounts 1 - p and -p, as where amounts differ; MAPIE as above, of the first 20 runs. Of
20,000 rows there are a quarter of the runs. Aims: fails in at most .1, is found wherever the ten
cut-offs are, and flags as many. `rare`, .015 positives 1.2 apart, was added after the first run,
which had no promise of .05.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.isotonic import IsotonicRegression

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import RESULTS, describe_machine, format_table, seeded, update_results

from sklearn_rank._promises._top_threshold import CutOffs, Goal
from sklearn_rank.model_selection import TopThresholdClassifier

STORED = RESULTS / "top_threshold.csv"
POOL, LEVEL, BATCH, CAPACITY = 400_000, 0.9, 3000, 200


class Given(ClassifierMixin, BaseEstimator):
    """Scores are a column of the rows."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X):
        return X[:, 0]


def pool(design):
    """Scores, labels and groups of a population, and the size of a calibration sample."""
    rng = seeded("top threshold", design)
    share = {"few": 0.03, "1 %": 0.01}.get(design, 0.05)
    y = rng.random(POOL) < share
    groups, n = np.arange(POOL), 1000 if design == "few" else 3000
    noise = rng.standard_t(3, POOL) if design == "tails" else rng.normal(size=POOL)
    shift = {"few": 3.2, "1 %": 3.5, "tails": 4.5, "ties": 3.0, "5 %": 2.6}.get(design, 3.0)
    if design == "groups":
        groups = groups // 5
        common = rng.random(POOL // 5) < share
        y = np.where(rng.random(POOL) < 0.8, common[groups], y)
        noise = 0.8 * rng.normal(size=POOL // 5)[groups] + 0.6 * noise
    score = noise + shift * y
    if design == "spoiled":
        score += np.where((rng.random(POOL) < 0.003) & ~y, 8.0, 0.0)
    if design == "ties":
        score = np.round(2.0 * score) / 2.0
    if design.startswith("float"):
        score = np.round(score, 1).astype(design)
    return score, y, groups, n


def mapie_of(probability, positive, risk, goal, method):
    """Threshold of MAPIE's controller, None if it finds none."""
    from mapie.risk_control import BinaryClassificationController

    controller = BinaryClassificationController(
        lambda X: np.column_stack([1.0 - X[:, 0], X[:, 0]]), risk, goal, LEVEL, fwer_method=method
    )
    controller.calibrate(probability[:, np.newaxis], positive.astype(int))
    return controller.best_predict_param


def cells(design, repetitions):
    score, y, groups, n = pool(design)
    order = np.argsort(-score, kind="stable")
    descending, hits = score[order], np.cumsum(y[order])
    model = IsotonicRegression(out_of_bounds="clip").fit(score, y)
    probability = model.predict(score)
    goal = 0.5 if design in ("few", "1 %", "spoiled") else 0.8
    promises = {
        "min_precision": ("precision", goal),
        "min_recall": ("recall", 0.6),
        "max_fpr": ("fpr", 0.01),
        "min_value": ("value", 30.0),
    }
    gains = np.exp(4.0 + seeded("amounts", design).normal(size=POOL))
    mean_amount = np.cumsum(np.where(y, gains, -5.0)[order]) / np.arange(1.0, POOL + 1.0)

    def shares(cut):
        """Precision, recall and false positive rate of the pool above a cut-off."""
        k = np.searchsorted(-descending, -cut, side="right")
        n_pos = hits[k - 1] if k else 0
        precision, value = (n_pos / k, mean_amount[k - 1]) if k else (1.0, np.inf)
        return precision, n_pos / hits[-1], (k - n_pos) / (POOL - hits[-1]), value

    rng = seeded("runs", design, *[SEED] * bool(SEED))
    outcomes = {}

    def record(title, promise, cut):
        name, value = promises[promise]
        precision, recall, fpr, amount = shares(cut)
        failed = {"precision": precision < value, "recall": recall < value, "fpr": fpr > value}
        failed["value"] = amount < value
        outcomes.setdefault((title, promise), []).append((failed[name], recall, cut < np.inf))

    for run in range(repetitions):
        if design == "groups":
            chosen = rng.choice(POOL // 5, n // 5, replace=False)
            rows = (5 * chosen[:, np.newaxis] + np.arange(5)).ravel()
        else:
            rows = rng.choice(POOL, n, replace=False)
        X, labels = score[rows, np.newaxis], y[rows].astype(int)
        of_groups = {"groups": groups[rows]} if design == "groups" else {}
        amounts = {"value": (gains[rows], -5.0)}
        for promise, (_, value) in promises.items():
            flag = TopThresholdClassifier(
                Given().fit(X, labels), cv="prefit", level=LEVEL, **{promise: value}
            )
            flag.fit(X, labels, **of_groups, **(amounts if promise == "min_value" else {}))
            cut = flag.threshold_
            if design.startswith("float"):
                cut = score[flag.predict(score[:, np.newaxis]) == 1].min(initial=np.inf)
            record("promise", promise, cut)
        if design.startswith("float"):
            continue
        by_score = np.argsort(-X[:, 0], kind="stable")
        precision = np.cumsum(labels[by_score]) / np.arange(1.0, n + 1.0)
        reached = np.flatnonzero(precision >= goal)
        cut = X[by_score[reached[-1]], 0] if len(reached) else np.inf
        record("read off", "min_precision", cut)
        if design != "groups":
            flag = TopThresholdClassifier(
                Given().fit(X, labels),
                min_precision=goal,
                capacity=CAPACITY,
                cv="prefit",
                level=LEVEL,
                random_state=run,
            ).fit(X, labels)
            batch = rng.choice(POOL, BATCH, replace=False)
            flagged = flag.predict(score[batch, np.newaxis]) == 1
            wrong = bool(flagged.any()) and y[batch][flagged].mean() < goal
            recall = y[batch][flagged].sum() / y[batch].sum()
            outcomes.setdefault(("batch", "min_precision"), []).append(
                (wrong, recall, flagged.any())
            )
        if run < 100:
            for promise, (risk, value) in list(promises.items())[:3]:
                for method in ("bonferroni_holm", "fixed_sequence"):
                    found = mapie_of(probability[rows], labels == 1, risk, value, method)
                    cut = np.inf if found is None else _least(score, probability, found)
                    record(f"MAPIE {method}", promise, cut)
    for (title, promise), found in outcomes.items():
        failed, recall, found_any = np.array(found, dtype=float).T
        yield {
            "design": design,
            "promise": promise,
            "method": title,
            "fails": f"{failed.mean():.4f}",
            "recall": f"{recall.mean():.4f}",
            "found": f"{found_any.mean():.3f}",
            "runs": len(failed),
        }


OF_GROUPS = {
    name: np.maximum(300 // np.arange(1, n + 1), 1)
    for name, n in (
        ("Zipf 40", 40),
        ("Zipf 150", 150),
        ("unlike scores", 150),
        ("unlike sizes", 150),
        ("unlike effects", 150),
    )
}
OF_GROUPS |= {"one large": np.r_[300, np.full(299, 4)], "alike": np.arange(60) % 21 + 10}


def sample_of_groups(design, rng, times=1):
    """Scores, labels and groups of rows of groups of given sizes."""
    sizes = np.tile(OF_GROUPS[design], times)
    n, large = len(sizes), np.arange(len(sizes)) % len(OF_GROUPS[design]) < 15
    groups = np.repeat(np.arange(n), sizes)
    effect = np.full(n, 0.3 if design == "alike" else 1.0)
    if design == "unlike effects":
        effect = np.where(large, 2.0, 0.3)
    score = rng.laplace(0.0, effect)[groups] + rng.logistic(size=len(groups))
    if design == "unlike scores":
        score *= np.where(large, 2.5, 1.0)[groups]
    if design == "unlike sizes":
        score += 0.5 * np.log(sizes)[groups]
    y = rng.random(len(groups)) < 0.3
    return score + 4.0 * y, y, groups


def cells_of_groups(design, repetitions):
    score, y, _ = sample_of_groups(design, seeded("groups", design), 1000)
    positive, negative = np.sort(score[y]), np.sort(score[~y])
    promises = {"min_precision": 0.6, "min_recall": 0.7, "max_fpr": 0.1}
    for promise, value in promises.items():
        rng, found = seeded("runs of groups", SEED, design, promise), []
        for _ in range(repetitions):
            score, y, groups = sample_of_groups(design, rng)
            X, labels = score[:, np.newaxis], y.astype(int)
            flag = TopThresholdClassifier(
                Given().fit(X, labels), cv="prefit", level=LEVEL, **{promise: value}
            ).fit(X, labels, groups=groups)
            above, wrong = (
                len(x) - np.searchsorted(x, flag.threshold_) for x in (positive, negative)
            )
            recall, fpr = above / len(positive), wrong / len(negative)
            failed = {
                "min_precision": above < value * (above + wrong),
                "min_recall": recall < value,
                "max_fpr": fpr > value,
            }
            found.append((failed[promise], recall, np.isfinite(flag.threshold_)))
        failed, recall, found_any = np.array(found, dtype=float).T
        yield {
            "design": design,
            "promise": promise,
            "method": "promise",
            "fails": f"{failed.mean():.4f}",
            "recall": f"{recall.mean():.4f}",
            "found": f"{found_any.mean():.3f}",
            "runs": len(failed),
        }


WIDE = {
    f"{name} {n}": (name, n)
    for n in (3000, 20000)
    for name in ("rule", "weak", "strong", "even", "falling", "t3", "rare")
}
PRECISIONS = (0.05, 0.08, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)


def wide_pool(name):
    """Scores and labels of a population."""
    rng = seeded("wide", name)
    place = rng.random(POOL)
    if name == "rule":
        score = -np.floor(place / 0.09)
        return score, rng.random(POOL) < np.where(score > -4.0, 0.11, 0.04)
    if name == "falling":
        return -place, rng.random(POOL) < 0.9 * np.exp(-place / 0.15) + 0.01
    share, shift = {
        "weak": (0.1, 1.0),
        "strong": (0.2, 2.2),
        "even": (0.5, 1.0),
        "t3": (0.15, 1.5),
        "rare": (0.015, 1.2),
    }[name]
    y = rng.random(POOL) < share
    noise = rng.standard_t(3, POOL) if name == "t3" else rng.normal(size=POOL)
    return noise + shift * y, y


def cells_of_wide(design, repetitions):
    name, n = WIDE[design]
    score, y = wide_pool(name)
    order = np.argsort(-score, kind="stable")
    descending, hits = score[order], np.cumsum(y[order])
    probability = IsotonicRegression(out_of_bounds="clip").fit(score, y).predict(score)
    delta, tenths = 1.0 - LEVEL, np.arange(1, 11) * n // 10
    for goal in PRECISIONS:
        if not hits[-1] / POOL < goal < hits[POOL // 100] / (POOL // 100):
            continue
        rng, outcomes = seeded("wide runs", design, goal, SEED), {}
        for run in range(repetitions // (4 if n > 3000 else 1)):
            rows = rng.integers(POOL, size=n)
            cutoffs = CutOffs.of(score[rows], y[rows])
            by_amounts = CutOffs.of(score[rows], y[rows], None, y[rows] - goal)
            places = np.unique(np.searchsorted(cutoffs.n_flagged, tenths))
            numbers = cutoffs.n_pos[places] - 1.0, cutoffs.n_flagged[places]
            kept = {
                "promise": np.flatnonzero(cutoffs.certified(Goal("precision", goal), delta)),
                "bets": np.flatnonzero(by_amounts.certified(Goal("mean value", 0.0), delta)),
                "ten cut-offs": places[binom.sf(*numbers, goal) <= delta / 10],
            }
            cuts = {key: cutoffs.threshold[x[-1]] if len(x) else np.inf for key, x in kept.items()}
            for method in ("bonferroni_holm", "fixed_sequence") if run < MAPIE_RUNS else ():
                found = mapie_of(probability[rows], y[rows], "precision", goal, method)
                cut = np.inf if found is None else _least(score, probability, found)
                cuts[f"MAPIE {method}"] = cut
            for method, cut in cuts.items():
                k = int(np.searchsorted(-descending, -cut, side="right"))
                n_pos = hits[k - 1] if k else 0
                outcomes.setdefault(method, []).append((n_pos < goal * k, n_pos / hits[-1], k > 0))
        for method, found in outcomes.items():
            failed, recall, found_any = np.array(found, dtype=float).mean(axis=0)
            yield {
                "design": design,
                "promise": f"min_precision {goal:g}",
                "method": method,
                "fails": f"{failed:.4f}",
                "recall": f"{recall:.4f}",
                "found": f"{found_any:.3f}",
                "runs": len(outcomes[method]),
            }


def _least(score, probability, threshold):
    """Lowest score whose probability reaches a threshold."""
    above = score[probability >= threshold]
    return above.min() if len(above) else np.inf


FLOATS, SEED = ("float32", "float64"), 0
DESIGNS = ("5 %", "few", "ties", "tails", "1 %", "groups", "spoiled", *FLOATS, *OF_GROUPS, *WIDE)
MAPIE_RUNS = 20


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--only", nargs="+", choices=DESIGNS, default=DESIGNS)
    parser.add_argument("--seed", type=int, default=0, help="of the second protocol")
    parser.add_argument("--write", action="store_true", help=f"store results/{STORED.name}")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(describe_machine())
    SEED = arguments.seed
    rows = [
        row
        for design in arguments.only
        for row in (
            cells_of_groups if design in OF_GROUPS else cells_of_wide if design in WIDE else cells
        )(design, arguments.repetitions)
    ]
    print(format_table(rows, [(key, key, "") for key in rows[0]]))
    if arguments.write:
        update_results(STORED.stem, rows, ("design", "promise", "method"))
