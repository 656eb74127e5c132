"""Does the interval of the best of many rankers cover what that ranker is worth?

    python benchmarks/studies/best_of_many.py            # print the table, about 20 minutes
    python benchmarks/studies/best_of_many.py --write    # also store results/best_of_many.csv
    python benchmarks/studies/best_of_many.py --only auc --repetitions 100

Written before the first run. 2, 5 or 20 rankers score 50 positives and 450 negatives, or 50
queries of 20 rows with two grades above 0. Scores are normal with the mean ``strength * label``
and the correlation 0 or .9 within a class. All are equally strong ("equal"), the first is stronger
than all others ("one"), or strengths are evenly spaced ("spread"). In each sample the ranker with
the largest value is chosen. Its true value is that of its strength in a large sample.

- cover: share of samples in which `compare(...).best` contains it; ``below`` and ``above`` are the
  shares in which it lies outside of that limit. Aim: cover at least .935, each tail at most .04.
- alone: cover of the interval of the chosen ranker by itself.
- width: mean width over that of the interval by itself; Sidak: of the limits of all, independent.
- excess: mean of estimate less true value in widths alone; stated: mean of `best.bias`, alike.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, format_table, seeded, store_results

from sklearn_rank.inference import _level, compare, metric_interval
from sklearn_rank.metrics import get_measure

MEASURES = "auc", "ap", "precision@top0.1", "ndcg@10"
STRENGTHS = {
    "equal": lambda n: np.full(n, 1.2),
    "one": lambda n: np.where(np.arange(n) == 0, 1.7, 1.0),
    "spread": lambda n: np.linspace(0.8, 1.6, n),
}
LARGE = 4000  # samples in one for the true value


def drawn(rng, measure, strengths, correlation, n=1):
    """Labels, scores of each ranker and queries, of n samples in one."""
    if measure == "ndcg@10":
        qid = np.repeat(np.arange(50 * n), 20)
        y = np.tile(np.repeat([0, 1, 2], [14, 4, 2]), 50 * n)
    else:
        qid, y = None, np.repeat([1, 0], [50 * n, 450 * n])
    common, own = rng.standard_normal(len(y)), rng.standard_normal((len(strengths), len(y)))
    noise = np.sqrt(correlation) * common + np.sqrt(1.0 - correlation) * own
    return y, np.outer(strengths, y) + noise, qid


def cell(measure, shape, n, correlation, repetitions):
    """Cover, tails, widths and bias of one design."""
    strengths = STRENGTHS[shape](n)
    value_of, values = get_measure(measure), {}
    for strength in set(strengths.tolist()):
        rng = seeded("truth", measure, strength)
        y, (score,), qid = drawn(rng, measure, np.array([strength]), 0.0, LARGE)
        values[strength] = float(np.mean(value_of(y, score, qid=qid)))
    rng, found = seeded(measure, shape, n, correlation), []
    for _ in range(repetitions):
        y, scores, qid = drawn(rng, measure, strengths, correlation)
        compared = compare(
            measure, y, dict(enumerate(scores)), qid=qid, baseline="0", random_state=rng
        )
        best, i = compared.best, int(np.argmax(compared.values))
        true = values[strengths[i]]
        alone = metric_interval(measure, y, scores[i], qid=qid)
        sidak = metric_interval(measure, y, scores[i], qid=qid, level=0.95 ** (1.0 / n))
        found.append(
            {
                "below": true < best.low,
                "above": true > best.high,
                "alone": true in alone,
                "width": best.width,
                "Sidak": sidak.width,
                "of alone": alone.width,
                "excess": best.estimate - true,
                "stated": best.bias,
            }
        )
    mean = {name: float(np.mean([row[name] for row in found])) for name in found[0]}
    width = mean.pop("of alone")
    mean |= {name: mean[name] / width for name in ("width", "Sidak", "excess", "stated")}
    design = {"measure": measure, "rankers": n, "strengths": shape, "correlation": correlation}
    return design | {"cover": 1.0 - mean["below"] - mean["above"]} | mean


COLUMNS = [
    ("measure", "measure", ""),
    ("rankers", "rankers", "d"),
    ("strengths", "strengths", ""),
    ("correlation", "correlation", ".1f"),
    *((name, name, ".3f") for name in ("cover", "below", "above", "alone")),
    *((name, name, ".2f") for name in ("width", "Sidak", "excess", "stated")),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=MEASURES)
    parser.add_argument("--write", action="store_true", help="store results/best_of_many.csv")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    _level.MOST = _level.FEWEST  # draws: enough for a share of samples
    print(machine := describe_machine())
    with threadpool_limits(1):
        found = [
            cell(measure, shape, n, correlation, arguments.repetitions)
            for measure in arguments.only
            for shape in STRENGTHS
            for n in (2, 5, 20)
            for correlation in (0.0, 0.9)
        ]
    print(format_table(found, COLUMNS))
    if arguments.write:
        store_results("best_of_many", found, machine.splitlines()[-1])


if __name__ == "__main__":
    main()
