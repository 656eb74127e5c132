"""Does a smaller value of Problem (1) rank better? The paper's rule, the best value, refinement.

Each of several stratified partitions trains on 30 % of the rows and scores the other 70 %. All
methods choose among, or start from, the same solutions of Problem (2), with the same C. For each
tau the study prints:

- the value of Problem (1) on the training rows in units of that of w = 0, and P@tau on the
  training and the held-out rows, with standard errors, at the C that is best on average for the
  method (the paper's protocol, which is optimistic for all methods alike);
- the paired differences of refinement from the others at the same C, over all C;
- the share of (partition, C) in which a smaller value of Problem (1) has a larger P@tau.

    python benchmarks/studies/refine.py
    python benchmarks/studies/refine.py --data pima_diabetes.csv.gz --partitions 6
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine

from sklearn_rank._order import quantile_at_mass, top_mass
from sklearn_rank._solvers import PivotProblem, best_scales, refine_top, solve_pivots_newton
from sklearn_rank.datasets import load_ionosphere
from sklearn_rank.metrics import precision_at_top_score

TAUS = (0.01, 0.05, 0.095, 0.14, 0.19)
COSTS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
METHODS = ("closest", "objective", "scaled", "refine")


def choices(problem, top, coefs, primal, seconds):
    """The weights of every method, from all solutions of Problem (2)."""
    scores = problem.scores(coefs)
    quantile = quantile_at_mass(scores, problem.mass, top)
    distance = np.abs(scores[np.arange(len(coefs)), problem.pivots] - quantile)
    tied = np.flatnonzero(distance <= distance.min() + 1e-6)
    scale, scaled = best_scales(problem, coefs, top)
    start = time.perf_counter()
    refined = refine_top(problem, coefs, top)
    seconds.append(time.perf_counter() - start)
    best = np.argmin(scaled)
    return {
        "closest": coefs[tied[np.argmin(primal[tied])]],
        "objective": coefs[np.argmin(problem.objective(coefs, scores, quantile))],
        "scaled": scale[best] * coefs[best],
        "refine": refined.coef,
    }


def value(problem, coef, top):
    scores = problem.scores(coef)
    return float(problem.objective(coef, scores, quantile_at_mass(scores, problem.mass, top)))


def partitions(X, y, count):
    """Arrays (partition, C, tau, method) of values of (1), training and held-out P@tau."""
    shape = (count, len(COSTS), len(TAUS), len(METHODS))
    values, inside, outside = np.empty(shape), np.empty(shape), np.empty(shape)
    seconds = []
    splits = StratifiedShuffleSplit(count, train_size=0.3, random_state=0).split(X, y)
    for p, (train, test) in enumerate(splits):
        scaler = StandardScaler().fit(X[train])
        X_train, X_test, label = scaler.transform(X[train]), scaler.transform(X[test]), y[train]
        share = np.where(label == 1, label.mean(), 1 - label.mean())
        ones = np.ones(len(train))
        for c, C in enumerate(COSTS):
            problem = PivotProblem.from_rows(X_train, 2.0 * label - 1, C / (2 * share), ones)
            solutions = solve_pivots_newton(problem, problem.pivots)
            for t, tau in enumerate(TAUS):
                top, _ = top_mass(ones, tau)
                chosen = choices(problem, top, solutions.coef, solutions.objective, seconds)
                for m, method in enumerate(METHODS):
                    coef, cell = chosen[method], (p, c, t, m)
                    values[cell] = value(problem, coef, top) / problem.cost.sum()
                    inside[cell] = precision_at_top_score(label, X_train @ coef, tau=tau)
                    outside[cell] = precision_at_top_score(y[test], X_test @ coef, tau=tau)
    return values, inside, outside, seconds


def mean_and_error(sample):
    return f"{np.mean(sample):+.3f} ± {np.std(sample, ddof=1) / np.sqrt(len(sample)):.3f}"


def report(name, X, y, count):
    values, inside, outside, seconds = partitions(X, y, count)
    print(
        f"\n{name}: {count} partitions, {round(0.3 * len(y))} training rows, {X.shape[1]} features"
    )
    print(f"refinement: median time {np.median(seconds):.2f} s, maximum {max(seconds):.2f} s")
    print(f"{'':36}" + "".join(f"{f'tau {tau:.1%}':>18}" for tau in TAUS))
    parts = (("value of (1) / that of 0", values), ("training P@tau", inside), ("P@tau", outside))
    for title, table in parts:
        for m, method in enumerate(METHODS):
            cells = []
            for t in range(len(TAUS)):
                best = int(np.argmax(outside[:, :, t, m].mean(axis=0)))
                cells.append(f"{mean_and_error(table[:, best, t, m])[1:]:>18}")
            print(f"{title + ', ' + method:36}" + "".join(cells))
    refine = METHODS.index("refine")
    for m, method in enumerate(METHODS[:-1]):
        # Over C first: the partitions are the sample.
        difference = (outside[..., refine] - outside[..., m]).mean(axis=1)
        cells = [f"{mean_and_error(difference[:, t]):>18}" for t in range(len(TAUS))]
        print(f"{'same C: refine - ' + method:36}" + "".join(cells))
    for c, C in enumerate(COSTS):
        difference = outside[:, c, :, refine] - outside[:, c, :, 0]
        cells = [f"{mean_and_error(difference[:, t]):>18}" for t in range(len(TAUS))]
        print(f"{f'C = {C:g}: refine - closest':36}" + "".join(cells))
    # Among the methods at one partition and C: rank correlation of value and precision.
    cells = []
    for t in range(len(TAUS)):
        found = []
        for p in range(count):
            for c in range(len(COSTS)):
                v, q = values[p, c, t], outside[p, c, t]
                if np.ptp(v) > 0 and np.ptp(q) > 0:
                    found.append(-spearmanr(v, q).statistic)
        cells.append(f"{np.mean(found):>+18.2f}" if found else f"{'':18}")
    print(f"{'rank corr. (lower value, P)':36}" + "".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--partitions", type=int, default=12)
    parser.add_argument(
        "--data", type=Path, help="CSV file with a header and labels 0 and 1 in the last column"
    )
    arguments = parser.parse_args()
    X, labels = load_ionosphere(return_X_y=True)
    sets = [("Ionosphere", X, (labels == np.unique(labels)[1]).astype(float))]
    if arguments.data is not None:
        if not arguments.data.exists():
            sys.exit(f"{arguments.data} is not there.")
        table = np.loadtxt(arguments.data, delimiter=",", skiprows=1)
        sets.append((arguments.data.name, table[:, :-1], table[:, -1]))
    print(describe_machine())
    start = time.perf_counter()
    with threadpool_limits(1):
        for name, X, y in sets:
            report(name, X, y, arguments.partitions)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
