"""How fits grow with the length of a list."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmark_utils.fit_times import counted_products, cpu_time
from sklearn_rank import OrderPreservingRanker, RankSVM

LENGTHS = (1_000, 3_000, 10_000, 30_000, 100_000)
N_FEATURES = 10
# Loss, relevant rows, longest list
CASES = (
    ("softmax", "a tenth", 100_000),
    ("pointwise_squared", "a tenth", 100_000),
    ("pairwise_squared", "a tenth", 100_000),
    ("pairwise_exponential", "a tenth", 100_000),
    ("pairwise_logistic", "100", 100_000),
    ("pairwise_logistic", "a tenth", 10_000),
    ("RankSVM hinge", "a tenth", 100_000),
    ("RankSVM squared_hinge", "a tenth", 100_000),
)
COLUMNS = [
    ("loss", "loss", ""),
    ("relevant", "relevant rows", ""),
    ("length", "rows of the list", "d"),
    ("seconds", "CPU seconds", ".3f"),
    ("n_iter", "steps", "d"),
    ("per_row_and_product", "ns / row and product", ".0f"),
    ("exponent", "exponent", ".2f"),
    ("converged", "converged", ""),
]


def run(quick=False):
    """Yield the table; "exponent" is that between a row and the one above."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    for name, relevant, longest in CASES:
        before = None
        for length in [n for n in LENGTHS[: 3 if quick else None] if n <= longest]:
            row = {"loss": name, "relevant": relevant, "length": length}
            row |= timed(name, length, 100 if relevant == "100" else length // 10)
            each = row["seconds"] / row["products"]
            row["per_row_and_product"] = 1e9 * each / length
            if before:
                row["exponent"] = float(np.log(each / before[1]) / np.log(length / before[0]))
            before = length, each
            rows.append(row)
            print(f"  {name}, {relevant}, {length}: {row['seconds']:.3f} s", flush=True)
    yield "surrogate_lengths", "One list, 10 features, one thread", rows, COLUMNS


def timed(name, length, n_relevant):
    """Time a fit to one list with so many relevant rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((length, N_FEATURES))
    order = np.argsort(-(X[:, 0] + rng.standard_normal(length)))
    y = np.zeros(length)
    y[order[:n_relevant]] = rng.integers(1, 4, n_relevant)
    if name.startswith("RankSVM"):
        ranker = RankSVM(name.split()[1], C=1e3 / (length * n_relevant), tol=1e-3)
    else:
        power = 2 if name.startswith("pairwise") else 1
        ranker = OrderPreservingRanker(name, measure="dcg", alpha=1e-3 * length**power)
    seconds, fitted = cpu_time(lambda: ranker.fit(X, y, qid=0))
    products, _ = counted_products(lambda: ranker.fit(X, y, qid=0))
    return {
        "seconds": seconds,
        "n_iter": fitted.n_iter_,
        "products": products,
        "converged": "yes" if fitted.converged_ else "no",
    }
