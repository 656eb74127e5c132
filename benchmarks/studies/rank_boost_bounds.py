"""Compare bounds with the test AUC of RankBoost (Section 4.5 of Agarwal et al., 2005).

Table 3 and Figure 4: both classes are mixtures of two normal distributions in 20 dimensions, with
means and variances uniform on (0, 1), and there are twelve training sequences of the sizes of
Table 3. RankBoost learns a linear function from each. The study computes its AUC on 2,500 new rows
of each class, and the lower bound: training AUC minus Corollary 18 (delta = .01) with Theorem 24
("paper"), or minus the bound by averaging ("ours"). The paper drew the distributions once. Here
each replication draws them again, and the shapes are compared by rank correlations over the twelve
sequences. The paper states neither which weak rankings RankBoost combined nor how many. Here they
are features, in 100 rounds with the coefficients of the closed form, or with those of the least
loss, which is then near its minimum. Logistic regression is included for comparison.

The choice is among the linear functions of the first 1, 2, 4, 8, 16 and 20 features, each learned
by RankBoost. One rule takes the largest training AUC, the other the largest training AUC minus its
uniform deviation at delta / 6. The sizes include some at which the bound is informative.

    python benchmarks/studies/rank_boost_bounds.py            # print the tables, five minutes
    python benchmarks/studies/rank_boost_bounds.py --write    # also store them in results/
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table, store_results

from sklearn_rank import RankBoostRanker
from sklearn_rank.bounds import FunctionClass, auc_bound
from sklearn_rank.metrics import roc_auc_score

D, DELTA, N_TEST = 20, 0.01, 2500
TABLE_3 = [
    *[(50, 50), (20, 80), (10, 90), (100, 100), (40, 160), (20, 180)],
    *[(150, 150), (60, 240), (30, 270), (200, 200), (80, 320), (40, 360)],
]
LARGE = [(2000, 2000), (20_000, 20_000)]
GRID = [1, 2, 4, 8, 16, 20]
METHODS = {"paper": "paper", "ours": "averaging"}
LEARNERS = {
    "RankBoost": RankBoostRanker(100, weak_ranker="linear"),
    "RankBoost, line search": RankBoostRanker(100, weak_ranker="linear", step="line_search"),
    "logistic regression": LogisticRegression(max_iter=1000),
}


class Mixtures:
    """Two distributions of each class, drawn at random."""

    def __init__(self, rng):
        self.rng, self.laws = rng, rng.random((2, 2, 2, D))

    def sample(self, n_pos, n_neg):
        parts = []
        for (mean, variance), size in zip(self.laws, (n_neg, n_pos), strict=True):
            component = self.rng.integers(0, 2, size)
            noise = self.rng.normal(size=(size, D))
            parts.append(mean[component] + np.sqrt(variance[component]) * noise)
        return np.vstack(parts), np.repeat([0, 1], [n_neg, n_pos])


def deviation(n_pos, n_neg, delta, d, method):
    functions = FunctionClass("linear", n_features=d)
    return auc_bound(n_pos, n_neg, delta, function_class=functions, method=method).value


def correlation(one, other):
    return np.corrcoef(rankdata(one), rankdata(other))[0, 1]


def both_aucs(learner, train, test, d=D):
    """AUC of the training rows and of new ones, of what is learned from some features."""
    (X, y), (X_test, y_test) = train, test
    learner.fit(X[:, :d], y)
    return (
        roc_auc_score(y, learner.decision_function(X[:, :d])),
        roc_auc_score(y_test, learner.decision_function(X_test[:, :d])),
    )


def figure_4(replications):
    """Means for each training sequence, and mean correlations over the sequences."""
    values = defaultdict(list)
    widths = {
        name: [deviation(*counts, DELTA, D, method) for counts in TABLE_3]
        for name, method in METHODS.items()
    }
    correlations = defaultdict(list)
    for replication in range(replications):
        mixtures = Mixtures(np.random.default_rng(replication))
        test = mixtures.sample(N_TEST, N_TEST)
        trains = [mixtures.sample(*counts) for counts in TABLE_3]
        for name, learner in LEARNERS.items():
            found = np.array([both_aucs(learner, train, test) for train in trains])
            values[name].append(found)
            limits = {key: found[:, 0] - width for key, width in widths.items()}
            for key, one in {"training": found[:, 0], **limits}.items():
                correlations[name, key].append(correlation(one, found[:, 1]))
    rows = []
    for name, found in values.items():
        mean = np.mean(found, axis=0)
        error = np.std(found, axis=0, ddof=1)[:, 1] / np.sqrt(replications)
        for k, (n_pos, n_neg) in enumerate(TABLE_3):
            row = {"learner": name, "sequence": k, "positives": n_pos, "negatives": n_neg}
            row |= {"training": mean[k, 0], "test": mean[k, 1], "standard_error": error[k]}
            row |= {key: mean[k, 0] - width[k] for key, width in widths.items()}
            rows.append(row)
    shapes = []
    for name in LEARNERS:
        keys = ["training", *METHODS]
        shapes.append({"learner": name, **{key: np.mean(correlations[name, key]) for key in keys}})
    return rows, shapes


def choice(counts, replications):
    """What each rule chooses at one size: number of features, test AUC, how often vacuous."""
    chosen, test_auc, vacuous = defaultdict(list), defaultdict(list), defaultdict(list)
    widths = {
        name: np.array([deviation(*counts, DELTA / len(GRID), d, method) for d in GRID])
        for name, method in METHODS.items()
    }
    for replication in range(replications):
        mixtures = Mixtures(np.random.default_rng([1, replication]))
        test, train = mixtures.sample(N_TEST, N_TEST), mixtures.sample(*counts)
        found = np.array([both_aucs(LEARNERS["RankBoost"], train, test, d) for d in GRID])
        limits = {"training AUC": found[:, 0], "best in hindsight": found[:, 1]}
        limits |= {name: found[:, 0] - width for name, width in widths.items()}
        for rule, limit in limits.items():
            best = int(np.argmax(limit))
            chosen[rule].append(GRID[best])
            test_auc[rule].append(found[best, 1])
            vacuous[rule].append(limit[best] <= 0.5)
    return [
        {
            "positives": counts[0],
            "negatives": counts[1],
            "rule": rule,
            "features": np.mean(chosen[rule]),
            "test": np.mean(test_auc[rule]),
            "vacuous": np.mean(vacuous[rule]) if rule in METHODS else float("nan"),
        }
        for rule in chosen
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=40)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    machine = describe_machine()
    print(machine)
    sizes = [("positives", "positives", ",d"), ("negatives", "negatives", ",d")]
    rows, shapes = figure_4(arguments.replications)
    numbers = [(key, key, ".3f") for key in ("training", "test", *METHODS)]
    print("\nFigure 4: mean AUCs and lower bounds\n")
    print(format_table(rows, [("learner", "learner", ""), *sizes, *numbers]))
    print("\nMean rank correlation with the test AUC over the twelve sequences\n")
    numbers = [(key, key, ".2f") for key in ("training", *METHODS)]
    print(format_table(shapes, [("learner", "learner", ""), *numbers]), flush=True)
    chosen = [row for counts in TABLE_3 for row in choice(counts, arguments.replications)]
    chosen += [row for counts in LARGE for row in choice(counts, 10)]
    numbers = [("features", "features", ".1f"), ("test", "test AUC", ".3f")]
    print("\nChoice of the number of features\n")
    columns = [*sizes, ("rule", "rule", ""), *numbers, ("vacuous", "vacuous", ".2f")]
    print(format_table(chosen, columns))
    if arguments.write:
        made_with = f"{machine.replace(chr(10), '; ')}; {arguments.replications} replications"
        store_results("rank_boost_bounds", rows, made_with)
        store_results("rank_boost_choice", chosen, made_with)


if __name__ == "__main__":
    main()
