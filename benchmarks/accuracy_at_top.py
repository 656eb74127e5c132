"""Seconds of accuracy at the top: whole fits, one of their problems by cvxpy, and searches.

    python benchmarks/accuracy_at_top.py [--parts fits problems searches] [--only pima]

Every row is of a process of its own with one thread in each library, after one small fit that
loads the compiled loops. ``fits`` have two jobs and wall times, the others CPU times. ``problems``
are those of 20 rows, whose pivot is
a parameter of one problem of cvxpy that Clarabel solves to 1e-6; beside them the time of a whole
fit over its number of distinct rows. ``searches`` stand beside ``GridSearchCV`` over the same
candidates.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from measuring import data_directory, describe_machine, format_table, run_worker, serve

COLUMNS = [
    ("part", "part", ""),
    ("name", "data", ""),
    ("what", "what", ""),
    ("rows", "rows", "d"),
    ("features", "features", "d"),
    ("seconds", "s", ".3f"),
    ("peer", "peer s", ".3f"),
    ("gap", "largest gap", ".0e"),
    ("difference", "difference", ".0e"),
]
ALL = ("average", "closest", "objective")
REQUESTS = {  # data, most rows, values of C, selections and shares
    "fits": [
        ("pima_diabetes", 512, (0.001, 0.01, 0.1, 1.0)),
        ("spambase", 3067, (0.001, 0.01, 0.1, 1.0)),
        ((10_000, 30), None, (0.01, 1.0)),
    ],
    "problems": [("pima_diabetes", 512, (0.001, 0.01, 0.1, 1.0))],
    "searches": [
        (name, rows, ALL) for name, rows in (("ionosphere", None), ("pima_diabetes", None))
    ]
    + [("spambase", 500, ALL)],
}


def load(data, most):
    """Rows and labels of a file, or simulated ones."""
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    if isinstance(data, str):
        path = Path(data_directory(), f"{data}.csv.gz")
        table = np.genfromtxt(path, delimiter=",", skip_header=1)
        table = table[np.sort(rng.permutation(len(table))[:most])]
        X, y = table[:, :-1], table[:, -1]
    else:
        n, d = data
        X = rng.normal(size=(n, d))
        signal = X[:, : d // 2] @ rng.normal(size=d // 2) / np.sqrt(d)
        y = signal + rng.normal(size=n) > 1.0
    return StandardScaler().fit_transform(X), np.asarray(y, dtype=float)


def fits(X, y, costs):
    from sklearn_rank import AccuracyAtTopRanker

    for C in costs:
        fit = AccuracyAtTopRanker(0.05, C=C, n_jobs=2).fit
        seconds, ranker = timed(fit, X, y, clock=time.perf_counter)
        yield {"what": f"C={C:g}", "seconds": seconds, "gap": ranker.dual_gap_}


def problems(X, y, costs):
    import cvxpy as cp

    from sklearn_rank import AccuracyAtTopRanker

    n, d = X.shape
    sign = np.where(y == 1, 1.0, -1.0)
    w, pivot, slack = cp.Variable(d), cp.Parameter(d), cp.Variable(n, nonneg=True)
    margins = cp.multiply(sign, X @ w) - sign * (pivot @ w)
    for C in costs:
        cost = C * n / (2 * np.where(y == 1, np.sum(y), n - np.sum(y)))
        objective = cp.Minimize(cp.sum_squares(w) / 2 + cost @ slack)
        problem = cp.Problem(objective, [margins >= 1 - slack])

        def solve(row, problem=problem):
            pivot.value = X[row]
            problem.solve(
                cp.CLARABEL, tol_gap_abs=1e-6, tol_gap_rel=1e-6, tol_feas=1e-6, max_threads=1
            )

        solve(0)
        peer, _ = timed(lambda: [solve(row) for row in range(0, n, n // 20)])
        seconds, ranker = timed(AccuracyAtTopRanker(0.05, C=C).fit, X, y)
        share = 1 / len(np.unique(X, axis=0))
        row = {"what": f"one problem, C={C:g}", "gap": ranker.dual_gap_}
        yield row | {"seconds": seconds * share, "peer": peer / len(range(0, n, n // 20))}


def searches(X, y, selections):
    from sklearn.model_selection import GridSearchCV

    from sklearn_rank import AccuracyAtTopRanker, AccuracyAtTopRankerCV
    from sklearn_rank.metrics import get_scorer

    grid = {"C": np.logspace(-3, -1, 5), "selection": selections, "tau": (0.025, 0.05, 0.1)}
    search = AccuracyAtTopRankerCV(
        0.05, param_grid={"C": grid["C"], "selection": selections, "tau": list(grid["tau"])}
    )
    seconds, search = timed(search.fit, X, y)
    scorer = get_scorer("smoothed_precision@top0.05")
    peer, by_grid = timed(GridSearchCV(AccuracyAtTopRanker(0.05), grid, scoring=scorer).fit, X, y)
    scores = [np.sort(one.cv_results_["mean_test_score"]) for one in (search, by_grid)]
    difference = float(np.abs(np.subtract(*scores)).max())
    yield {"what": "45 candidates", "seconds": seconds, "peer": peer, "difference": difference}


def timed(function, *arguments, clock=time.process_time):
    start = clock()
    found = function(*arguments)
    return clock() - start, found


def work(request):
    from sklearn_rank import AccuracyAtTopRanker

    warnings.simplefilter("ignore")
    X, y = load(request["data"], request["most"])
    AccuracyAtTopRanker().fit(X[:60], np.arange(60) % 2)
    for row in globals()[request["part"]](X, y, request["settings"]):
        yield {"rows": len(X), "features": X.shape[1]} | row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=REQUESTS, default=list(REQUESTS))
    parser.add_argument("--only", default="", help="data with this in the name")
    options = parser.parse_args()
    print(describe_machine("cvxpy", "clarabel"))
    rows = []
    for part in options.parts:
        for data, most, settings in REQUESTS[part]:
            name = data if isinstance(data, str) else "simulated"
            if options.only not in name:
                continue
            request = {"part": part, "data": data, "most": most, "settings": settings}
            reports, problem = run_worker(__file__, request)
            rows += [{"part": part, "name": name, **report} for report in reports]
            if problem:
                print(f"{part}, {name}: {problem}")
    print(format_table(rows, COLUMNS))


if __name__ == "__main__" and not serve(work):
    main()
