"""How often is a gate over queries wrong, and how often does it see a true difference?

    pip install --no-deps rankkit                           # 0.1.0, the peer; needs nothing else
    python benchmarks/studies/query_gate.py                 # print, about 20 minutes on one core
    python benchmarks/studies/query_gate.py --only sizes --write

Protocol, written before the first run; nothing was chosen by these designs. A query has 100
documents, of which 1 + Poisson(Gamma(1, 4)) are relevant, up to 30; their scores are N(m, 1) with
m ~ N(1.2, 0.8), those of others N(0, 1). Two systems see these scores with noise:

- `exchangeable`: both with noise N(0, 0.6); in each drawn query both are exchanged by a coin;
- `spread`: the second with noise N(0, 0.3) and relevant documents moved by N(0, 1) of the query:
  it is much better in some queries and much worse in others;
- `skew`: as `spread`, moved up by 2.5 in one query of twenty, and down by 0.15 in all others.

Measures are NDCG@10, recall@10 and reciprocal rank, of which many values are 0 and 1. The first
100,000 queries are the population. It is weighted (exponentially tilted, as little as possible),
so that the mean differences, first minus second, of all three measures are exactly the true ones
of the cell; queries are drawn by these weights with replacement. All is at level 95 %.

Methods: `compare` (one measure), `together` (three measures in one call: limits that hold
together), `gate` (the command line: each of three measures at level 1 - 0.05 / 3), and
`bootstrap`: percentile limits of the mean difference of 2,000 resamples with the order statistics
of rankkit.compare.bootstrap_ci, by NumPy's draws instead of Python's, since rankkit takes .3 s for
500 queries. The first 20 samples of each cell also have rankkit's own verdict: `rankkit agrees` is
the share of the same ones. Its test by exchanges of signs is no part of its verdict.

`null`: true differences 0; 50, 200 and 500 queries. A sample is wrong for the first if any measure
says "first better", and for the second likewise. Aim: both together at most .05 for `compare` of
each measure, `together` and `gate`, in each cell.

`power`: true differences -.02 of all measures (the second is better); 500 queries. A sample counts
if the second is said to be better (by any measure, if there are three). Aim: `compare` not below
`bootstrap` by more than .02 (two standard errors of 2,000 samples are .022) where the null cell
with 500 queries has at most .05 for `bootstrap`.

`margin`: true differences .01 of all measures, margin .01; 500, 2,000 and 10,000 queries, "equal
within 0.01". Aim: said in at most .05 by each of `compare`, `together`, `gate`. The same is
counted with true differences 0, where "equal" is right.

`sizes`: the number of queries by the formula of `n_to_decide`, from the differences and standard
deviations of the population, with true differences 0, .005, .01 and .02 and margins none, .01 and
.02; the critical value is 1.96. Aim: `compare` decides in .77 to .83 of samples of that size,
where it is at least 50. Where the limits are at most as wide as the margin they decide always;
then the aim is at least .77.
"""

import argparse
import sys
from functools import cache
from math import ceil, isfinite
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, run_cells, seeded

from sklearn_rank.inference._by_query import growth_to_decide
from sklearn_rank.inference._compare import joint_comparison
from sklearn_rank.inference._queries import QueryValues, joint_means
from sklearn_rank.inference._results import Question
from sklearn_rank.inference._simultaneous import rankers_over_queries, simultaneous_table
from sklearn_rank.metrics import get_measure

KEYS = ("part", "design", "true", "margin", "queries", "measure", "method")
MEASURES = ("ndcg@10", "recall@10", "rr")
DESIGNS = ("exchangeable", "spread", "skew")
POPULATION, DOCUMENTS, PART, DRAWS = 100_000, 100, 5_000, 2_000
NAMES = ("first", "second")
SAID = {"first better": 0, "second better": 1}


@cache
def population(design):
    """Values of the measures on each query, of shape (3, 2, n)."""
    rng, found = seeded("query gate", design), []
    measures = [get_measure(name) for name in MEASURES]
    for _ in range(POPULATION // PART):
        n_relevant = np.minimum(1 + rng.poisson(rng.gamma(1.0, 4.0, PART)), 30)
        relevant = np.arange(DOCUMENTS) < n_relevant[:, np.newaxis]
        gain = rng.normal(1.2, 0.8, (PART, 1))
        score = rng.normal(size=relevant.shape) + gain * relevant
        first = score + rng.normal(0, 0.6, score.shape)
        if design == "exchangeable":
            second = score + rng.normal(0, 0.6, score.shape)
        else:
            moved = rng.normal(0, 1, (PART, 1))
            if design == "skew":
                moved = np.where(rng.random((PART, 1)) < 0.05, 2.5, -0.15)
            second = score + rng.normal(0, 0.3, score.shape) + moved * relevant
        y = relevant.astype(int)
        found.append([[m(y, s, average=None) for s in (first, second)] for m in measures])
    return np.concatenate(found, axis=2)


@cache
def weights(design, true):
    """Probabilities of queries by which the mean differences of all measures are the true ones."""
    values = population(design)
    off = values[:, 0] - values[:, 1] - true

    def tilt(x):
        score = x @ off
        top = score.max()
        weight = np.exp(score - top)
        return top + np.log(weight.sum()), off @ weight / weight.sum()

    found = minimize(tilt, np.zeros(len(off)), jac=True, method="BFGS", options={"gtol": 1e-10})
    weight = np.exp(found.x @ off - (found.x @ off).max())
    assert np.abs(off @ weight / weight.sum()).max() < 1e-6
    return np.cumsum(weight) / weight.sum()


def draw(design, true, n, rng):
    rows = np.searchsorted(weights(design, true), rng.random(n), side="right")
    values = population(design)[:, :, np.minimum(rows, POPULATION - 1)]
    if design == "exchangeable" and true == 0.0:
        values = np.where(rng.random(n) < 0.5, values, values[:, ::-1])
    return values


def verdict_of(samples, name, level, margin, rng):
    question = Question.of(get_measure(name), NAMES, None, "two-sided", margin, level)
    return joint_comparison(joint_means(samples), question, rng, "").conclusions[0]


def bootstrap(differences, level, rng):
    """Verdicts by the order statistics of rankkit, of the same resamples for all measures."""
    n = differences.shape[1]
    rows = rng.integers(n, size=(DRAWS, n)) + n * np.arange(DRAWS)[:, np.newaxis]
    counts = np.bincount(rows.ravel(), minlength=DRAWS * n).reshape(DRAWS, n)
    means = np.sort(differences @ counts.T.astype(float) / n, axis=1)
    low = means[:, int((1.0 - level) / 2.0 * DRAWS)]
    high = means[:, min(DRAWS - 1, int((1.0 + level) / 2.0 * DRAWS))]
    return [side(*limits) for limits in zip(low, high, strict=True)]


def side(low, high):
    return "first better" if low > 0 else "second better" if high < 0 else "no difference shown"


def of_rankkit(values, seed):
    from rankkit.compare import paired_compare

    second, first = (dict(enumerate(x.tolist())) for x in values[::-1])
    found = paired_compare(second, first, reps=1, boot_reps=DRAWS, seed=seed)
    return side(found.ci_lo, found.ci_hi)


def verdicts(values, margin, rng, peers):
    """What each method says of each measure."""
    ids, level = np.arange(values.shape[2]), 0.95
    samples = [
        [QueryValues(x, ids, m, (0.0, 1.0)) for x in of_both]
        for m, of_both in zip(MEASURES, values, strict=True)
    ]
    found = {
        "compare": [
            verdict_of(x, m, level, margin, rng) for x, m in zip(samples, MEASURES, strict=True)
        ],
        "gate": [
            verdict_of(x, m, 1 - 0.05 / 3, margin, rng)
            for x, m in zip(samples, MEASURES, strict=True)
        ],
    }
    table = []
    for name, both in zip(MEASURES, samples, strict=True):
        rankers = rankers_over_queries(get_measure(name), NAMES, both)
        table += rankers.differences([NAMES], measure=name)
    found["together"] = simultaneous_table(table, level, rng, "", margin=margin).conclusions
    if peers:
        found["bootstrap"] = bootstrap(values[:, 0] - values[:, 1], level, rng)
    return found


def cell(part, design, true, margin, n, repetitions):
    rng = seeded("query gate", part, design, true, margin, n)
    peers, said, agrees = margin is None, {}, []
    for i in range(repetitions):
        values = draw(design, true, n, rng)
        for method, words in verdicts(values, margin, rng, peers).items():
            said.setdefault(method, []).append(words)
        if peers and i < 20:
            theirs = [of_rankkit(x, i) for x in values]
            agrees += [a == b for a, b in zip(theirs, said["bootstrap"][-1], strict=True)]
    for method, words in said.items():
        words = np.array(words)
        columns = [(name, words[:, [i]]) for i, name in enumerate(MEASURES)]
        if method != "compare":
            columns = columns * (method == "bootstrap") + [("any of three", words)]
        for name, of_measure in columns:
            first, second = ((of_measure == x).any(axis=1) for x in SAID)
            equal = np.char.startswith(of_measure, "equal").any(axis=1)
            yield {
                "part": part,
                "design": design,
                "true": f"{true:g}",
                "margin": "" if margin is None else f"{margin:g}",
                "queries": n,
                "measure": name,
                "method": method,
                "first better": f"{first.mean():.4f}",
                "second better": f"{second.mean():.4f}",
                "either": f"{(first | second).mean():.4f}",
                "equal": f"{equal.mean():.4f}",
                "decided": f"{(first | second | equal).mean():.4f}",
                "rankkit agrees": f"{np.mean(agrees):.3f}" if method == "bootstrap" else "",
                "samples": repetitions,
            }


def null(repetitions):
    for design in DESIGNS:
        for n in (50, 200, 500):
            yield from cell("null", design, 0.0, None, n, repetitions)


def power(repetitions):
    for design in DESIGNS:
        yield from cell("power", design, -0.02, None, 500, repetitions)


def margin(repetitions):
    for design in DESIGNS:
        for true in (0.01, 0.0):
            for n in (500, 2_000, 10_000):
                yield from cell("margin", design, true, 0.01, n, repetitions)


def sizes(repetitions):
    for design in DESIGNS:
        for true in (0.0, 0.005, 0.01, 0.02):
            for within in (None, 0.01, 0.02):
                shares = np.diff(weights(design, true), prepend=0.0)
                values = population(design)
                for i, name in enumerate(MEASURES):
                    off = values[i, 0] - values[i, 1]
                    error = np.sqrt(shares @ (off - true) ** 2)
                    # A sample of one query, which must grow.
                    grown = growth_to_decide(true, error, 1.959964 * error, within or 0.0)
                    if not isfinite(grown) or grown < 50:
                        continue
                    n = ceil(grown)
                    rng = seeded("query gate, sizes", design, true, within, name)
                    count = 0
                    for _ in range(repetitions):
                        both = draw(design, true, n, rng)[i]
                        samples = [QueryValues(x, np.arange(n), name, (0.0, 1.0)) for x in both]
                        said = verdict_of(samples, name, 0.95, within, rng)
                        count += said != "no difference shown"
                    yield {
                        "part": "sizes",
                        "design": design,
                        "true": f"{true:g}",
                        "margin": "" if within is None else f"{within:g}",
                        "queries": n,
                        "measure": name,
                        "method": "compare",
                        "decided": f"{count / repetitions:.4f}",
                        "samples": repetitions,
                    }


PARTS = {
    "null": (null, 2000),
    "power": (power, 2000),
    "margin": (margin, 1000),
    "sizes": (sizes, 500),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repetitions", type=int, help="samples of each cell")
    parser.add_argument("--write", action="store_true", help="store results/query_gate.csv")
    arguments = parser.parse_args()
    print(describe_machine("rankkit"))
    for part in arguments.only:
        cells, repetitions = PARTS[part]
        rows = cells(arguments.repetitions or repetitions)
        run_cells(rows, "query_gate", KEYS, arguments.write)


if __name__ == "__main__":
    main()
