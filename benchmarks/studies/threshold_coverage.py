"""Coverage of 95 % limits of the net benefit.

The probabilities have several shapes: calibrated and not, tied, with few positives, and in groups.
The targets are means over two million draws.

    python benchmarks/studies/threshold_coverage.py
    python benchmarks/studies/threshold_coverage.py --write
"""

import argparse
import functools
import sys
from pathlib import Path

import numpy as np
from scipy.special import expit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table, seeded, store_results

from sklearn_rank.inference import net_benefit_curve

THRESHOLDS = (0.05, 0.2, 0.5, 0.8)
WAYS = {
    "plain": {},
    "standardized": {"standardized": True},
    "other share": {"prevalence": 0.1},
    "both": {"standardized": True, "prevalence": 0.1},
}
COLUMNS = [
    ("population", "population", ""),
    ("n", "n", "d"),
    ("way", "way", ""),
    ("at", "at", "g"),
    ("expected_hits", "hits", ".1f"),
    ("coverage", "coverage", ".3f"),
    ("missed_below", "below", ".3f"),
    ("missed_above", "above", ".3f"),
    ("width", "width", ".4f"),
]


def logistic_normal(rng, n, center, spread):
    """Probabilities that are true."""
    prob = expit(rng.normal(center, spread, n))
    return prob, prob


def cauchy(rng, n):
    """Scores with heavy tails, which are over-confident at both ends."""
    score = rng.standard_cauchy(n)
    return expit(score - 1.0), expit(0.5 * np.arctan(score) - 1.0)


def log_normal(rng, n):
    """Odds with a heavy tail, that are true."""
    odds = 0.1 * rng.lognormal(0.0, 2.0, n)
    return odds / (1.0 + odds), odds / (1.0 + odds)


def tied(rng, n):
    """Probabilities in steps of a tenth, thresholds among them."""
    prob = rng.beta(1, 3, n).round(1)
    return prob, np.clip(0.8 * prob + 0.02, 0.0, 1.0)


POPULATIONS = {
    "normal, 30 % positive": functools.partial(logistic_normal, center=-1.2, spread=1.5),
    "normal, 6 % positive": functools.partial(logistic_normal, center=-3.5, spread=1.2),
    "Cauchy": cauchy,
    "log-normal odds": log_normal,
    "tied": tied,
}


def truth(eta, treated, threshold, standardized=False, prevalence=None):
    """Net benefit in a population of which a large sample is given."""
    share = eta.mean()
    found, wrong = (eta * treated).mean() / share, ((1 - eta) * treated).mean() / (1 - share)
    if prevalence is not None:
        share = prevalence
    benefit = share * found - (1 - share) * wrong * threshold / (1 - threshold)
    return benefit / share if standardized else benefit


def row(population, n, way, at, hits, limits, target):
    """A row of the tables; the limits and targets of all samples."""
    low, high = np.transpose(limits)
    # Limits that touch the target hold, whatever the last digit.
    below, above = target < low - 1e-12, target > high + 1e-12
    return {
        "population": population,
        "n": n,
        "way": way,
        "at": at,
        "expected_hits": round(float(hits), 1),
        "coverage": round(float(np.mean(~below & ~above)), 3),
        "missed_below": round(float(np.mean(below)), 3),
        "missed_above": round(float(np.mean(above)), 3),
        "width": round(float(np.mean(high - low)), 4),
    }


def both_classes(rng, prob, eta):
    """Labels, drawn again until there are both classes."""
    while True:
        y = rng.random(len(prob)) < eta
        if 0 < y.sum() < len(y):
            return y


def benefits(repetitions):
    """Net benefit of independent items."""
    for name, draw in POPULATIONS.items():
        large, eta = draw(seeded(name), 2_000_000)
        for n in (100, 400):
            rng = seeded(name, n)
            found = {(way, t): [] for way in WAYS for t in THRESHOLDS}
            for _ in range(repetitions):
                prob, chance = draw(rng, n)
                y = both_classes(rng, prob, chance)
                for way, how in WAYS.items():
                    curve = net_benefit_curve(y, prob, thresholds=THRESHOLDS, **how)
                    for i, t in enumerate(THRESHOLDS):
                        found[way, t].append((curve.low[i], curve.high[i]))
            for (way, t), limits in found.items():
                target = truth(eta, large >= t, t, **WAYS[way])
                hits = n * (eta * (large >= t)).mean()
                yield row(name, n, way, t, hits, limits, target)


def grouped_benefits(repetitions):
    """Net benefit of items that share the effect of their group."""

    def draw(rng, n_groups, size):
        effect = np.repeat(rng.normal(size=n_groups), size)
        score = rng.normal(-1.5, 1.0, n_groups * size) + effect
        return expit(score), expit(score + 0.5 * effect)

    large, eta = draw(seeded("groups"), 400_000, 5)
    for n_groups, size in ((20, 5), (60, 5)):
        groups = np.repeat(np.arange(n_groups), size)
        rng = seeded("groups", n_groups)
        found = {(way, t): [] for way in WAYS for t in THRESHOLDS}
        for _ in range(repetitions):
            prob, chance = draw(rng, n_groups, size)
            y = both_classes(rng, prob, chance)
            for way, how in WAYS.items():
                curve = net_benefit_curve(y, prob, thresholds=THRESHOLDS, groups=groups, **how)
                for i, t in enumerate(THRESHOLDS):
                    found[way, t].append((curve.low[i], curve.high[i]))
        for (way, t), limits in found.items():
            target = truth(eta, large >= t, t, **WAYS[way])
            hits = len(groups) * (eta * (large >= t)).mean()
            name = f"{n_groups} groups of {size}"
            yield row(name, len(groups), way, t, hits, limits, target)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help="store the table in results/")
    options = parser.parse_args()
    print(describe_machine())
    found = [*benefits(options.repetitions), *grouped_benefits(options.repetitions)]
    print(format_table(found, COLUMNS))
    if options.write:
        store_results("threshold_coverage", found)


if __name__ == "__main__":
    main()
