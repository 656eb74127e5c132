"""Do intervals cover where labels come late, and are they narrower than those of mature rows?

    python benchmarks/studies/late_labels.py          # print, about an hour on one core
    python benchmarks/studies/late_labels.py --write  # also store the results

Protocol, written before the first run. All limits are at 95 %. A tenth of the rows have an event
within the horizon of 28 days. A cell has as many rows as give 30 or 150 positives among mature
rows on average; 1,000 samples. A miss above is a lower limit above the truth, a miss below an
upper limit below it. Nothing was chosen by these designs: those by which the code was written had
uniform scores and other horizons.

Delays: `same`, all labels come after a uniform share of the horizon; `positives`, events do so,
and no event is known at the horizon only, as of chargebacks; `negatives`, the reverse, as where
cases are cleared; `score`, as `positives`, with events the sooner the higher the score.

Censoring: `entry`, rows entered on days of two horizons before the last one, uniformly, so that
half of them are mature; `left`, rows entered on days of four horizons, and a third of them is lost
from sight after an exponential time of mean 14 days; `mix`, as `entry`, but rows come through two
channels, whose shares go from .8 and .2 to .2 and .8 over time; events are three times as frequent
in the second one, and its scores are .5 higher. The channel is passed as strata.

Scores: `normal`, 1.5 higher for events; `t`, Student's with two degrees of freedom, 2.5 higher,
with `entry` only. The second model has normal noise of .7, or of Student's t of half the size.

Questions: AUC, average precision, precision, recall and mean profit of the first tenth (an event
brings an exponential amount of mean 10, others cost 1), and the differences of AUC and precision
from the second model. The truth is that of four million rows. The width is a multiple of that of
the mature rows of the same sample with `mature_only=True` (`conditional=False`, as both are of a
population). `today` is the cover of limits that take every row that is not known positive as
negative. Both are of the first 200 samples. A sample that is refused, as few rows carry the
weight, is counted by itself.

Aims: cover at least .93 in each cell; width at most 1. With `mix` the mature rows are of another
population, in which events are rarer, so that their limits are no measure of the others.
"""

import argparse
import sys
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, run_cells, seeded

from sklearn_rank.inference import LabelDesign, compare, metric_interval
from sklearn_rank.metrics import get_measure

KEYS = ("delays", "censoring", "scores", "positives", "question")
DELAYS = ("same", "positives", "negatives", "score")
CENSORING = (("entry", "normal"), ("left", "normal"), ("mix", "normal"), ("entry", "t"))
HORIZON, RATE, COST = 28.0, 0.1, 1.0
OTHERS = 200  # Samples of the mature rows, and of negatives that are not known
MEASURES = ("auc", "ap", "precision@top0.1", "recall@top0.1", "profit@top0.1")
COMPARED = ("auc", "precision@top0.1")


def draw(censoring, law, n, rng):
    """Channel, entry, event and scores of two models, of rows of one history."""
    days = HORIZON * (4 if censoring == "left" else 2)
    entered = rng.uniform(0, days, n)
    channel = np.zeros(n, dtype=int)
    rate = np.full(n, RATE)
    if censoring == "mix":
        channel = (rng.random(n) < 0.2 + 0.6 * entered / days).astype(int)
        rate = np.where(channel == 1, 0.15, 0.05)
    event = rng.random(n) < rate
    if law == "t":
        first, noise = rng.standard_t(2, n) + 2.5 * event, 0.5 * rng.standard_t(2, n)
    else:
        first, noise = rng.normal(size=n) + 1.5 * event, 0.7 * rng.normal(size=n)
    first = first + 0.5 * channel
    amounts = np.where(event, rng.exponential(10.0, n), -COST)
    return channel, entered, days, event, first, first + noise, amounts


def history(delays, censoring, law, n, rng):
    """Rows with the times at which labels are known, and until which rows are watched."""
    channel, entered, days, event, first, second, amounts = draw(censoring, law, n, rng)
    share = rng.random(n)
    if delays == "score":
        rank = first.argsort().argsort() / n
        share **= np.exp(3.0 * rank - 1.5)
    early = {"same": np.ones(n, dtype=bool), "negatives": ~event}.get(delays, event)
    resolved = np.where(early, entered + HORIZON * share, np.nan)
    # An event that comes late comes at the horizon.
    resolved[event & ~early] = entered[event & ~early] + HORIZON
    until = np.full(n, days)
    if censoring == "left":
        lost = rng.random(n) < 1 / 3
        until[lost] = np.minimum(entered + rng.exponential(14.0, n), days)[lost]
    known = resolved <= until
    return {
        "y": np.where(known, event, False),
        "first": first,
        "second": second,
        "value": (np.where(amounts > 0, amounts, 0.0), np.full(n, -COST)),
        "design": LabelDesign(
            entered=entered,
            resolved=np.where(known, resolved, np.nan),
            horizon=HORIZON,
            as_of=until if censoring == "left" else days,
            strata=channel if censoring == "mix" else None,
        ),
    }


@cache
def truths(censoring, law):
    rng = seeded("late labels, truth", censoring, law)
    *_, event, first, second, amounts = draw(censoring, law, 4_000_000, rng)
    found = {}
    for name in MEASURES:
        labels = amounts if name.startswith("profit") else event
        values = [float(get_measure(name)(labels, x)) for x in (first, second)]
        found[name] = values[0]
        found[f"difference of {name}"] = values[0] - values[1]
    return found


def mature_share(censoring):
    """Share of the rows that are watched for the horizon."""
    if censoring != "left":
        return 0.5
    return 0.75 * (2 / 3 + np.exp(-HORIZON / 14.0) / 3)


def limits_of(rows, question, design, **more):
    """Limits of a question; None where it is refused."""
    name = question.removeprefix("difference of ")
    more |= {"design": design}
    if name.startswith("profit"):
        more["value"] = rows["value"]
    try:
        if name != question:
            scores = {"first": rows["first"], "second": rows["second"]}
            return compare(name, rows["y"], scores, **more).interval
        return metric_interval(name, rows["y"], rows["first"], **more)
    except ValueError:
        return None


def cells(repetitions):
    questions = [*MEASURES, *(f"difference of {name}" for name in COMPARED)]
    for (censoring, law), delays, positives in product(CENSORING, DELAYS, (30, 150)):
        truth, rng = (
            truths(censoring, law),
            seeded("late labels", censoring, law, delays, positives),
        )
        n = round(positives / RATE / mature_share(censoring))
        found = {question: [] for question in questions}
        for _ in range(repetitions):
            rows = history(delays, censoring, law, n, rng)
            mature = replace(rows["design"], mature_only=True)
            for question, of_samples in found.items():
                sample, right = np.full(5, np.nan), truth[question]
                of_samples.append(sample)
                if (one := limits_of(rows, question, rows["design"])) is None:
                    continue
                sample[:3] = one.low > right, one.high < right, one.width
                if len(of_samples) > OTHERS:
                    continue
                random = {} if question.startswith("difference") else {"conditional": False}
                if (other := limits_of(rows, question, mature, **random)) is not None:
                    sample[3] = other.width
                naive = limits_of(rows, question, None)
                sample[4] = naive.low <= right <= naive.high
        for question, of_samples in found.items():
            columns = np.array(of_samples, dtype=float)
            above, below, width, _, naive = np.nanmean(columns, axis=0)
            both = ~np.isnan(columns[:, 3])
            ratio = columns[both, 2].mean() / columns[both, 3].mean()
            yield {
                **dict(zip(KEYS, (delays, censoring, law, positives, question), strict=True)),
                "cover": f"{1 - above - below:.4f}",
                "above": f"{above:.4f}",
                "below": f"{below:.4f}",
                "width": f"{width:.4f}",
                "of mature": f"{ratio:.3f}",
                "today": f"{naive:.4f}",
                "refused": int(np.isnan(columns[:, 0]).sum()),
                "samples": repetitions,
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1000, help="samples of each cell")
    parser.add_argument("--write", action="store_true", help="store results/late_labels.csv")
    arguments = parser.parse_args()
    print(describe_machine())
    run_cells(cells(arguments.repetitions), "late_labels", KEYS, arguments.write)


if __name__ == "__main__":
    main()
