"""Coverage of the intervals of profits of one list, and of their differences.

    python benchmarks/studies/profit.py            # print, some ten minutes
    python benchmarks/studies/profit.py --write    # also store the results

Protocol. A list of 2,000 rows is drawn from a population, and the 50 rows of the highest score are
acted on. The truth is the mean over 4,000 lists. Seven designs: equal gains (a call costs 5 and
gains 100); lognormal gains, independent of the score; gains that grow with the score; Pareto gains
of index 2.5; few positives (1 %); scores rounded to halves; losses alone (a gain of 20 for a cost
of 20 at a precision of .3). Measures are profit@50, profit@top0.025, value_recall@50 and the
difference of two rankers' profit@50; a cell is a design and a measure: coverage of the 95 % limits
in 2,000 lists, how often the truth is below and above, and the mean width over that of the middle
95 % of the values. The designs were fixed before the first run. In it the range of amounts was
that of the list, and "with score" covered in .91; the range was extended before the run that is
stored, so that the designs are no longer fresh.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from labels_in_part import run
from measuring import RESULTS, seeded

from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import get_measure

STORED = RESULTS / "profit.csv"
DESIGNS = ("equal", "lognormal", "with score", "Pareto", "few", "ties", "losses")
MEASURES = ("profit@50", "profit@top0.025", "value_recall@50")
N = 2000


def drawn(design, rng):
    """Amounts and the scores of two rankers."""
    share = 0.01 if design == "few" else 0.05
    y = (rng.random(N) < share).astype(int)
    common = rng.normal(size=N) + (1.5 if design == "losses" else 2.5) * y
    a, b = common + 0.5 * rng.normal(size=N), common + rng.normal(size=N)
    if design == "ties":
        a, b = np.round(2.0 * a) / 2.0, np.round(2.0 * b) / 2.0
    gain, cost = 100.0, -5.0
    if design in ("lognormal", "few", "ties"):
        gain = np.exp(4.0 + rng.normal(size=N))
    if design == "with score":
        gain = np.exp(3.0 + common)
    if design == "Pareto":
        gain = 40.0 * (1.0 + rng.pareto(2.5, N))
    if design == "losses":
        gain, cost = 20.0, -20.0
    return np.where(y == 1, gain, cost), a, b


def cells(design, repetitions):
    rng = seeded("profit, truth", design)
    measures = {name: get_measure(name) for name in MEASURES}
    truths = {name: [] for name in (*MEASURES, "difference")}
    for _ in range(4000):
        amounts, a, b = drawn(design, rng)
        for name, measure in measures.items():
            truths[name].append(measure(amounts, a))
        truths["difference"].append(truths["profit@50"][-1] - measures["profit@50"](amounts, b))
    rng, found = seeded("profit, runs", design), {name: [] for name in truths}
    for _ in range(repetitions):
        amounts, a, b = drawn(design, rng)
        for name, measure in measures.items():
            interval = metric_interval(measure, amounts, a)
            found[name].append((interval.low, interval.high))
        both = compare(measures["profit@50"], amounts, {"a": a, "b": b}, random_state=0)
        found["difference"].append((both.low[0], both.high[0]))
    for name, limits in found.items():
        low, high = np.array(limits).T
        truth = np.mean(truths[name])
        spread = np.subtract(*np.quantile(truths[name], [0.975, 0.025]))
        yield {
            "design": design,
            "measure": name,
            "truth": f"{truth:.4g}",
            "cover": f"{np.mean((low <= truth) & (truth <= high)):.4f}",
            "below": f"{np.mean(truth < low):.4f}",
            "above": f"{np.mean(truth > high):.4f}",
            "width": f"{np.mean(high - low) / spread:.3f}",
            "runs": repetitions,
        }


if __name__ == "__main__":
    run(__doc__, DESIGNS, cells, STORED, 2000)
