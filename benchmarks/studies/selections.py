"""Held-out P@tau of each selection among the solutions at all candidates.

All selections and all tau share the solutions of each C. C is chosen for each of them by the
mean of P@{tau/2, tau, 2 tau, 4 tau} over three inner folds. There are 500 training rows (half of a
small set) and ten splits, or four with 100 features or more. Part "bounds" measures how loose
``lower_bound_`` is.

    python benchmarks/studies/selections.py [--write]
    python benchmarks/studies/selections.py --parts tables     (stored results)
"""

import argparse
import csv
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import RESULTS, THREAD_VARIABLES, describe_machine, store_results

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))

import numpy as np
from sklearn.preprocessing import StandardScaler
from top_of_list.data_sets import SETS, split_of
from top_of_list.methods import inner_folds, smoothed_precisions

from sklearn_rank._order import top_mass
from sklearn_rank._solvers import PivotProblem, select_solution, solve_candidates
from sklearn_rank.metrics import precision_at_top_score

TAUS = (0.01, 0.05, 0.1, 0.19)
SELECTIONS = ("average", "closest", "objective")
COSTS = 10.0 ** np.arange(-4, 1)
NAMES = (
    "ionosphere",
    "pima_diabetes",
    "breast_cancer",
    "boston_chas",
    "diabetes_top_fifth",
    "digits_8",
    "ohsumed_2",
    "mq2008_2",
    "spambase",
    "a9a",
    "w8a",
    "mslr5k_2",
    "lightgbm_rank_2",
)
BOUND_COSTS = (0.001, 0.01, 0.1, 1.0, 10.0)
BOUND_NAMES = ("ionosphere", "pima_diabetes", "breast_cancer", "diabetes_top_fifth", "digits_8")
MANY_FEATURES = 100


def solutions_of(X, y, C, selections=SELECTIONS):
    """Solutions by selection and tau."""
    share = np.where(y == 1, y.mean(), 1 - y.mean())
    problem = PivotProblem.from_rows(X, 2.0 * y - 1, C / (2 * share), np.ones(len(y)))
    tops = [(problem.mass, top_mass(problem.mass, tau)[0]) for tau in TAUS]
    solved = solve_candidates(problem, tops, scales="refine" in selections, tol=1e-5)
    return {
        (selection, tau): select_solution(solved, selection, top=k)
        for selection in selections
        for k, tau in enumerate(TAUS)
    }


def one_split(data_set, number):
    """A row for each selection and tau."""
    split = split_of(data_set, number)
    costs = COSTS if split.X.shape[1] < MANY_FEATURES else COSTS[:4]
    criterion = {}
    for train, held in inner_folds(split, 3):
        scaler = StandardScaler().fit(split.X[train])
        X, X_held = scaler.transform(split.X[train]), scaler.transform(split.X[held])
        for c, C in enumerate(costs):
            for key, solution in solutions_of(X, split.y[train], C).items():
                found = smoothed_precisions(split.y[held], X_held @ solution.coef, [key[1]])
                criterion.setdefault(key, np.zeros(len(costs)))[c] += found[0]
    best = {key: int(found.argmax()) for key, found in criterion.items()}
    scaler = StandardScaler().fit(split.X)
    X, X_test = scaler.transform(split.X), scaler.transform(split.X_test)
    fits = {c: solutions_of(X, split.y, costs[c]) for c in sorted({*best.values()})}
    for (selection, tau), c in best.items():
        solution, average = fits[c][selection, tau], fits[c]["average", tau]
        distance = average.candidates.distance
        yield {
            "set": data_set.name,
            "split": number,
            "selection": selection,
            "tau": tau,
            "C": costs[c],
            "precision": precision_at_top_score(split.y_test, X_test @ solution.coef, tau=tau),
            "least_distance": distance.min(),
            "median_averaged_distance": np.median(distance[average.averaged]),
        }


def held_out(options):
    """Rows of all sets and splits."""
    rows = []
    for data_set in SETS:
        if data_set.name not in NAMES:
            continue
        many = split_of(data_set, 0).X.shape[1] >= MANY_FEATURES
        for number in range(min(options.splits, 4 if many else options.splits)):
            rows += one_split(data_set, number)
        print(f"{data_set.name} done", flush=True)
    if options.write:
        store_results("selections", rows)
    return rows


def print_tables(rows):
    """Differences in held-out precision, and distances of candidates from their quantiles."""
    values = {}
    for row in rows:
        key = row["selection"], float(row["tau"]), row["set"]
        values.setdefault(key, {})[int(row["split"])] = float(row["precision"])
    for other in SELECTIONS[1:]:
        print(f"\naverage minus {other}: mean ± standard error over sets (won / lost by 2 errors)")
        for tau in TAUS:
            means, won, lost = [], 0, 0
            for name in NAMES:
                one, two = values["average", tau, name], values[other, tau, name]
                difference = np.array([one[split] - two[split] for split in one])
                error = difference.std(ddof=1) / np.sqrt(len(difference))
                means.append(difference.mean())
                won += difference.mean() > 2 * error
                lost += difference.mean() < -2 * error
            error = np.std(means, ddof=1) / np.sqrt(len(means))
            print(f"  {tau:4.0%}  {np.mean(means):+.3f} ± {error:.3f} ({won} / {lost})")
    print("\nmean for each set and tau: average, closest, objective")
    for name in NAMES:
        cells = [
            " ".join(f"{np.mean([*values[s, tau, name].values()]):.3f}" for s in SELECTIONS)
            for tau in TAUS
        ]
        print(f"  {name:20}" + "   ".join(cells))
    print("\nshare of fits in which candidates are more than a margin from their quantiles:")
    for tau in TAUS:
        closest = [r for r in rows if (r["selection"], float(r["tau"])) == ("closest", tau)]
        least, median = (
            np.mean([float(row[key]) > 1 for row in closest])
            for key in ("least_distance", "median_averaged_distance")
        )
        print(f"  {tau:4.0%}  the closest {least:.0%}, half of the closest tenth {median:.0%}")


def print_bounds():
    """The best value found over the lower bound, least and most over tau, for each C."""
    print("\nbest value found / lower bound, minimum and maximum over tau; C =", *BOUND_COSTS)
    for data_set in SETS:
        if data_set.name not in BOUND_NAMES:
            continue
        split, cells = split_of(data_set, 0), []
        X = StandardScaler().fit_transform(split.X)
        for C in BOUND_COSTS:
            found = solutions_of(X, split.y, C, ["refine"]).values()
            cells.append([1 / (1 - fit.certificate.relative_gap) for fit in found])
        print(
            f"  {data_set.name:20}" + "".join(f"{min(c):8.2f} -{max(c):6.2f}" for c in cells),
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--write", action="store_true", help="update results/selections.csv")
    options = parser.parse_args()
    print(describe_machine())
    rows = held_out(options) if "fits" in options.parts else None
    if "tables" in options.parts:
        if rows is None:
            with open(RESULTS / "selections.csv") as lines:
                rows = list(csv.DictReader(lines))
        print_tables(rows)
    if "bounds" in options.parts:
        print_bounds()


PARTS = ("fits", "tables", "bounds")


if __name__ == "__main__":
    main()
