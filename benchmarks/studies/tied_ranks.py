"""Coverage of the intervals for linear rank statistics of tied scores.

    python benchmarks/studies/tied_ranks.py [--replications 300]

The populations have few or many distinct scores, so every functional is a sum: normal scores,
untied and rounded, two and five levels, one block of most negatives, one block of half the
positives, and rounded heavy tails. The study covers every score-generating function of the package
and one user-defined function.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table

from sklearn_rank.inference import metric_interval
from sklearn_rank.metrics import (
    Exponential,
    LocalAUC,
    Power,
    VanDerWaerden,
    Wilcoxon,
    get_measure,
    linear_rank_score,
)

PHIS = {
    "u": Wilcoxon(),
    "u^3": Power(3),
    "exp 5": Exponential(5.0),
    "exp 20": Exponential(20.0),
    "local .8": LocalAUC(0.8),
    "local .95": LocalAUC(0.95),
    "normal": VanDerWaerden(),
    "callable": lambda u: u * (u >= 0.8),
}
CLASSES = ((10, 90), (30, 300), (50, 50))


def rounded(pos, neg, step, reach):
    """Chances of each rounded score, ascending, in either class."""
    edges = np.arange(-reach, reach, step)
    return tuple(np.diff(np.r_[0.0, side.cdf(edges), 1.0]) for side in (pos, neg))


def untied(pos, neg, n_points=4000):
    """So many points that ties are rare."""
    share = np.linspace(0, 1, n_points + 1)[1:-1]
    edges = np.unique(np.r_[pos.ppf(share), neg.ppf(share)])
    return tuple(np.diff(np.r_[0.0, side.cdf(edges), 1.0]) for side in (pos, neg))


def lowest_tied(of_pos, of_neg, pos, neg):
    """These shares of both classes have one score, below all others."""
    parts = zip((of_pos, of_neg), untied(pos, neg), strict=True)
    return tuple(np.r_[share, (1 - share) * rest] for share, rest in parts)


NORMAL = stats.norm(1.2), stats.norm()
POPULATIONS = {
    "untied": untied(*NORMAL),
    "two levels": (np.array([0.2, 0.8]), np.array([0.9, 0.1])),
    "five levels": (
        np.array([0.02, 0.1, 0.2, 0.33, 0.35]),
        np.array([0.3, 0.3, 0.2, 0.15, 0.05]),
    ),
    "rounded to 1": rounded(*NORMAL, 1.0, 60.0),
    "rounded to .25": rounded(*NORMAL, 0.25, 60.0),
    "lowest 84 % tied": lowest_tied(0.3, 0.9, stats.norm(1.0), stats.norm()),
    "highest tied": tuple(
        side[::-1] for side in lowest_tied(0.5, 0.05, stats.norm(-1.0), stats.norm())
    ),
    "Cauchy, rounded": rounded(stats.cauchy(2), stats.cauchy(), 1.0, 2000.0),
    "t2, rounded": rounded(stats.t(2, 2), stats.t(2), 0.5, 400.0),
    "perfect": (np.array([0.0, 1.0]), np.array([1.0, 0.0])),
}


def functional(phi, of_pos, of_neg, share):
    """E[phi(F) | positive] between worst and best, tied items in random order."""
    mass = share * of_pos + (1 - share) * of_neg
    upto, value = np.cumsum(mass), np.zeros(len(mass))
    for some, n_points in ((mass < 1e-3, 9), (mass >= 1e-3, 4000)):
        within = (np.arange(n_points) + 0.5) / n_points
        u = upto[some, None] - mass[some, None] * (1 - within)
        value[some] = phi(np.clip(u, 1e-9, 1 - 1e-9).ravel()).reshape(u.shape).mean(axis=1)
    u = (np.arange(200_000) + 0.5) / 200_000 * share
    worst, best = phi(u).mean(), phi(1 - u).mean()
    return (of_pos @ value - worst) / (best - worst)


def row(name, n_pos, n_neg, label, replications):
    of_pos, of_neg = (side / side.sum() for side in POPULATIONS[name])
    phi, y_true = PHIS[label], np.arange(n_pos + n_neg) < n_pos
    target = functional(phi, of_pos, of_neg, n_pos / (n_pos + n_neg))
    rng, levels, found = np.random.default_rng([n_pos, n_neg]), np.arange(len(of_pos)), []
    for _ in range(replications):
        counts = rng.multinomial(n_pos, of_pos), rng.multinomial(n_neg, of_neg)
        score = np.concatenate([np.repeat(levels, count) for count in counts])
        found.append(metric_interval(get_measure(linear_rank_score, phi=phi), y_true, score))
    covers = [one.low - 1e-9 <= target <= one.high + 1e-9 for one in found]
    return {
        "population": name,
        "positives/negatives": f"{n_pos}/{n_neg}",
        "phi": label,
        "covers": np.mean(covers),
        "bias": np.mean([one.estimate for one in found]) - target,
        "estimated": np.mean([one.bias for one in found]),
        "width": np.mean([one.width for one in found]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=300)
    arguments = parser.parse_args()
    print(describe_machine())
    rows = []
    for name in POPULATIONS:
        here = [
            row(name, *counts, label, arguments.replications)
            for counts in CLASSES
            for label in PHIS
        ]
        columns = [("positives/negatives", "positives/negatives", ""), ("phi", "phi", "")]
        columns += [(key, key, ".3f") for key in ("covers", "bias", "estimated", "width")]
        print(f"\n{name}\n")
        print(format_table(here, columns), flush=True)
        rows += here
    covers = np.array([one["covers"] for one in rows])
    print(
        f"\n{len(rows)} cells, {arguments.replications} samples each: minimum {covers.min():.3f},"
        f" 5 % quantile {np.quantile(covers, 0.05):.3f}, median {np.median(covers):.3f}"
    )


if __name__ == "__main__":
    main()
