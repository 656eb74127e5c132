"""Do intervals of Harrell's and Uno's C cover, and those of the difference of two scores?

    python benchmarks/studies/event_order.py          # print, about half an hour on one core
    python benchmarks/studies/event_order.py --write  # also store the results

Protocol, written before the first run. All limits are at 95 %. The time of the event of a row is
exponential, with a rate of `exp(b s)`; s is normal and the first score. The second score has
normal noise of standard deviation 1 added. The horizon is the median time. `weak` has b = .5,
`strong` b = 2. Times are `exact`, or in `days` of a tenth of the horizon, rounded up, so that
events and ends of watching tie; then scores are rounded to halves too.

Rows are watched for a `uniform` time of up to two horizons, or for an exponential time of mean
half a horizon (`heavy`). A cell has as many rows as give 30 or 150 events that are seen within the
horizon on average; 2,000 samples. A miss above is a lower limit above the truth, a miss below an
upper limit below it.

Questions: Harrell's C without a horizon, Uno's C with it, and the differences of both scores. The
truth of Uno's C is the C-index of the times up to the horizon, of a million rows without
censoring. That of Harrell's C depends on how long rows are watched, and is that of 300,000 rows.
A sample that is refused, as no row was watched for the horizon, is counted by itself.

Aim: cover at least .93 in each cell.

The run that is stored was stopped after `exact`, `weak`, and went on with 1,000 samples of the
other cells for want of time.
"""

import argparse
import sys
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, run_cells, seeded

from sklearn_rank.inference import LabelDesign, compare, metric_interval
from sklearn_rank.metrics import get_measure

KEYS = ("times", "strength", "watched", "events", "question")
SLOPES = {"weak": 0.5, "strong": 2.0}


def draw(times, strength, n, rng):
    score = rng.normal(size=n)
    event = rng.exponential(np.exp(-SLOPES[strength] * score))
    horizon = np.log(2.0) if times == "exact" else 0.7  # The median is log(2) by symmetry of s
    other = score + rng.normal(size=n)
    if times == "days":
        event, score, other = np.ceil(event / 0.07) * 0.07, np.rint(2 * score), np.rint(2 * other)
    return event, {"first": score, "second": other}, horizon


def watched_for(times, watched, horizon, n, rng):
    length = rng.uniform(0, 2 * horizon, n)
    if watched == "heavy":
        length = rng.exponential(0.5 * horizon, n)
    return np.ceil(length / 0.07) * 0.07 if times == "days" else length


def asked(question, rows, horizon):
    """Limits of a question; None where it is refused."""
    event, scores, length = rows
    seen = event <= length
    design = LabelDesign(
        entered=np.zeros(len(event)),
        resolved=np.where(seen, event, np.nan),
        as_of=np.minimum(event, length),
        horizon=horizon if "Uno" in question else None,
    )
    try:
        if "difference" in question:
            return compare("c_index", seen, scores, design=design).interval
        return metric_interval("c_index", seen, scores["first"], design=design)
    except ValueError:
        return None


def truths(times, strength, watched):
    rng = seeded("event order, truth", times, strength, watched)
    event, scores, horizon = draw(times, strength, 1_000_000, rng)
    # Events at the horizon itself come before those after it.
    labels = -np.minimum(event, horizon * (1.0 + 1e-9))
    uno = [float(get_measure("c_index")(labels, x)) for x in scores.values()]
    event, scores, horizon = draw(times, strength, 300_000, rng)
    length = watched_for(times, watched, horizon, 300_000, rng)
    harrell = [
        asked("Harrell's C", (event, {"first": x}, length), horizon).estimate
        for x in scores.values()
    ]
    return {
        "Harrell's C": harrell[0],
        "Uno's C": uno[0],
        "difference of Harrell's C": harrell[0] - harrell[1],
        "difference of Uno's C": uno[0] - uno[1],
    }


def cells(repetitions):
    for times, strength, watched in product(("exact", "days"), SLOPES, ("uniform", "heavy")):
        truth = truths(times, strength, watched)
        rng = seeded("event order", times, strength, watched)
        event, _, horizon = draw(times, strength, 1_000_000, rng)
        length = watched_for(times, watched, horizon, 1_000_000, rng)
        share = np.mean(event <= np.minimum(length, horizon))
        for events in (30, 150):
            n = round(events / share)
            found = {question: [] for question in truth}
            for _ in range(repetitions):
                event, scores, _ = draw(times, strength, n, rng)
                rows = event, scores, watched_for(times, watched, horizon, n, rng)
                for question, right in truth.items():
                    if (one := asked(question, rows, horizon)) is not None:
                        sample = one.low > right, one.high < right, one.width
                        found[question].append(sample)
            for question, of_samples in found.items():
                above, below, width = np.mean(of_samples, axis=0)
                yield {
                    **dict(zip(KEYS, (times, strength, watched, events, question), strict=True)),
                    "rows": n,
                    "truth": f"{truth[question]:.4f}",
                    "cover": f"{1 - above - below:.4f}",
                    "above": f"{above:.4f}",
                    "below": f"{below:.4f}",
                    "width": f"{width:.4f}",
                    "refused": repetitions - len(of_samples),
                    "samples": repetitions,
                }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2000, help="samples of each cell")
    parser.add_argument("--write", action="store_true", help="store results/event_order.csv")
    arguments = parser.parse_args()
    print(describe_machine())
    run_cells(cells(arguments.repetitions), "event_order", KEYS, arguments.write)


if __name__ == "__main__":
    main()
