"""How the cost of all candidates grows with n and d, and how far it is from its limit.

    python benchmarks/accuracy_at_top/scaling.py [--quick] [--output scaling.csv]

Simulated data, one thread, relative gap 1e-6. The limit is the time of the matrix products that
the Newton steps cannot avoid: one product of the data with a vector for each step, at the rate
that BLAS reaches on the same data, for one vector or for 32 at a time.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    best_time,
    describe_machine,
    format_table,
    run_worker,
    serve,
    write_table,
)

BENCHMARK = Path(__file__).resolve().parent
N_GRID = (250, 500, 1000, 2000, 4000)
N_FEATURES = 20
D_GRID = (10, 20, 40, 80, 160)
N_SAMPLES = 1000
BLOCK = 32

COLUMNS = [
    ("n", "n", "d"),
    ("d", "d", "d"),
    ("seconds", "total s", ".2f"),
    ("ms_per_qp", "ms/QP", ".3f"),
    ("steps", "steps/QP", ".1f"),
    ("us_per_step", "us/step", ".1f"),
    ("gemv_us", "1 product us", ".2f"),
    ("gemm_us", "1 of 32 us", ".2f"),
    ("cholesky_us", "Cholesky us", ".2f"),
    ("over_gemv", "x limit (1)", ".1f"),
    ("over_gemm", "x limit (32)", ".1f"),
    ("over_both", "x limit (1 + Cholesky)", ".1f"),
    ("gap", "claimed gap", ".0e"),
]


def work(request):
    """Solve all candidates of one simulated data set."""
    from benchopt.benchmark import Benchmark
    from scipy.linalg.lapack import dpotrf

    from sklearn_rank._solvers import PivotProblem, solve_pivots_newton

    benchmark = Benchmark(BENCHMARK)
    simulated = next(data for data in benchmark.get_datasets() if data.name == "simulated")
    data = simulated.get_instance(
        n_samples=request["n"], n_features=request["d"], seed=request["seed"]
    ).get_data()
    X, y = data["X"], data["y"]
    n, d = X.shape
    per_class = np.where(y > 0, np.count_nonzero(y > 0), np.count_nonzero(y < 0))
    cost = request["C"] * n / (2.0 * per_class)

    def solve():
        problem = PivotProblem.from_rows(X, y, cost, np.ones(n))
        return [solve_pivots_newton(problem, pivots) for pivots in problem.blocks()]

    few = PivotProblem.from_rows(X, y, cost, np.ones(n))
    solve_pivots_newton(few, few.pivots[:1])
    seconds, _, _, blocks = best_time(solve, repeats=request["repeats"], budget=request["budget"])
    steps = sum(int(block.n_iter.sum()) for block in blocks)

    columns = np.ascontiguousarray(X.T)
    rng = np.random.RandomState(0)
    vector, vectors = rng.standard_normal(d), rng.standard_normal((BLOCK, d))
    out, outs = np.empty(n), np.empty((BLOCK, n))
    square = np.asfortranarray(np.cov(columns) + np.eye(d))
    gemv = rate(lambda: np.dot(vector, columns, out=out))
    gemm = rate(lambda: np.dot(vectors, columns, out=outs)) / BLOCK
    cholesky = rate(lambda: dpotrf(square))
    yield {
        "n": n,
        "d": d,
        "seconds": seconds,
        "ms_per_qp": 1e3 * seconds / n,
        "steps": steps / n,
        "us_per_step": 1e6 * seconds / steps,
        "gemv_us": 1e6 * gemv,
        "gemm_us": 1e6 * gemm,
        "cholesky_us": 1e6 * cholesky,
        "over_gemv": seconds / (steps * gemv),
        "over_gemm": seconds / (steps * gemm),
        "over_both": seconds / (steps * (gemv + cholesky)),
        "gap": max(float(block.relative_gap.max()) for block in blocks),
    }


def rate(function):
    """Seconds of one call, the best of 20 rounds of 20 calls."""

    def several():
        for _ in range(20):
            function()

    return best_time(several, repeats=20, budget=1.0)[0] / 20


def exponent(rows, size, key):
    """Slope of ``log key`` on ``log size`` by least squares."""
    return np.polyfit(
        np.log([row[size] for row in rows]), np.log([row[key] for row in rows]), deg=1
    )[0]


def main():
    """Parse the options, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--C", nargs="+", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--budget", type=float, default=10, help="seconds for the repeats")
    parser.add_argument("--quick", action="store_true", help="the three smallest sizes, one C")
    parser.add_argument("--output", help="write the table to a .csv or .md too")
    options = parser.parse_args()
    size = 3 if options.quick else None
    print(describe_machine())
    print("one thread, all candidates, relative gap 1e-6", flush=True)
    everything = []
    for C in options.C or ((0.1,) if options.quick else (0.01, 0.1, 1.0)):
        for grown, sizes in (
            ("n", [(n, N_FEATURES) for n in N_GRID[:size]]),
            ("d", [(N_SAMPLES, d) for d in D_GRID[:size]]),
        ):
            rows = []
            for n, d in sizes:
                request = {**vars(options), "n": n, "d": d, "C": C}
                reports, problem = run_worker(__file__, request)
                if problem:
                    raise SystemExit(f"n={n}, d={d}: {problem}")
                rows += reports
            fixed = f"d = {N_FEATURES}" if grown == "n" else f"n = {N_SAMPLES}"
            print(f"\nC = {C:g}, {fixed}, {grown} grows\n\n{format_table(rows, COLUMNS)}\n")
            print(
                f"exponents in {grown}: total {exponent(rows, grown, 'seconds'):.2f}"
                f" = QPs {1 if grown == 'n' else 0} + steps {exponent(rows, grown, 'steps'):.2f}"
                f" + time of a step {exponent(rows, grown, 'us_per_step'):.2f}"
                f" (a product alone {exponent(rows, grown, 'gemv_us'):.2f})",
                flush=True,
            )
            everything += [{"C": C, "grown": grown, **row} for row in rows]
    if options.output:
        write_table(options.output, everything, [("C", "C", "g"), *COLUMNS])


if __name__ == "__main__" and not serve(work):
    main()
