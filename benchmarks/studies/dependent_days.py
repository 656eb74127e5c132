"""Do intervals of means over days, and of sums over days, cover where days depend?

    python benchmarks/studies/dependent_days.py            # print, about 30 minutes on a core
    python benchmarks/studies/dependent_days.py --only auc --write  # also store the results

Protocol, written before the first run. All limits are at 95 %, of 12, 30, 60 and 250 days, with
ids that are dates; beside them ids that are numbers, so that days count as independent. What lasts
is a normal autoregression with the autocorrelation 0, .3, .7 or .9 from one day to the next; the
rule for the number of transforms, and the allowance for what lasts, were chosen by normal
autoregressions alone, with and without noise of each day. 2,000 samples, of 250 days 1,000; misses
above the truth (a lower limit too high) and below it are counted by themselves. The width is that
of the interval of known long-run variance, ``2 z sqrt(S / n)``, in units of which the mean width
is given; S is n times the variance of means over many days, of 2,000 such series. Each question is
asked of one model, and of the difference of two. Every fourth sample is asked with numbers too.

`precision`: precision@40 of each day. Of the rows that the models select 20 are the same; labels
are drawn with probabilities whose logits are -.4 + u, -.2 + u + v (the first model alone) and -.6
+ u - v (the second), u and v being autoregressions of the standard deviations 1 and .5.

`profit`: profit@40 of the same rows; a positive gains a log-normal amount of mean 10 (deviation of
the logarithm 1.5, so that one amount in 200 is above 65), a negative costs 1.

`auc`: the AUC of all rows, 40 a day, a quarter of them positive, with groups=day. Negatives score
as normal numbers about .3 r, positives about 1 + .5 q for the first model and .8 + .5 p for the
second, with a correlation of .7 between the models; p, q and r are autoregressions.

Aims for 30, 60 and 250 days: cover at least .94, .94, .91 and .85 at autocorrelations 0, .3, .7
and .9 of what lasts, width at most 1.35. 12 days are to be seen, without an aim. Autocorrelations
of the values of days themselves, which noise makes smaller, are in the column `of days`.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.signal import lfilter
from scipy.special import expit, ndtr, roots_hermitenorm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine, run_cells, seeded

from sklearn_rank.inference import compare, metric_interval

KEYS = ("part", "question", "days", "lasting")
LASTING = (0.0, 0.3, 0.7, 0.9)
AIMS = dict(zip(LASTING, (0.94, 0.94, 0.91, 0.85), strict=True))
WIDTH = 1.35
DAYS = (12, 30, 60, 250)
MODELS = ("a", "b")
# Mean and standard deviations of u and v in the logits of three blocks of rows.
LOGITS = np.array([[-0.4, 1.0, 0.0], [-0.2, 1.0, 0.5], [-0.6, 1.0, -0.5]])
SPREAD, MEAN, COST = 1.5, 10.0, 1.0
BLOCKS = np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])  # Of the rows that a model selects


def autoregressions(shape, lasting, rng):
    noise = rng.normal(size=shape)
    noise[..., 1:] *= np.sqrt(1.0 - lasting**2)
    return lfilter([1.0], [1.0, -lasting], noise, axis=-1)


def chances(n_series, n_days, lasting, rng):
    """Probabilities of the labels of three blocks of rows, (n_series, n_days, 3)."""
    lasts = autoregressions((2, n_series, n_days), lasting, rng)
    return expit(LOGITS[:, 0] + np.moveaxis(lasts, 0, -1) @ LOGITS[:, 1:].T)


def true_chances():
    nodes, weights = roots_hermitenorm(80)
    deviation = np.hypot(*LOGITS[:, 1:].T)
    return expit(LOGITS[:, [0]] + deviation[:, np.newaxis] * nodes) @ (weights / weights.sum())


class OfQueries:
    """Labels or amounts of the rows that two models select each day."""

    def __init__(self, measure):
        self.measure, self.of_amounts = measure, measure.startswith("profit")

    def truth(self):
        found = BLOCKS @ true_chances()
        return 40 * ((MEAN + COST) * found - COST) if self.of_amounts else found

    def amounts(self, shape, rng):
        return rng.lognormal(np.log(MEAN) - SPREAD**2 / 2.0, SPREAD, shape)

    def series(self, lasting, rng):
        """Values of days of both models, (2, n_series, n_days), several times."""
        for _ in range(20):
            p = chances(100, 3000, lasting, rng)
            hits = rng.binomial(20, p).astype(float)
            if not self.of_amounts:
                yield np.moveaxis(hits / 20 @ BLOCKS.T, -1, 0)
                continue
            # The sum of so many amounts, by its mean and the variance of each.
            variance = MEAN**2 * np.expm1(SPREAD**2)
            total = MEAN * hits + rng.normal(size=hits.shape) * np.sqrt(variance * hits)
            yield np.moveaxis((total - COST * (20 - hits)) @ (2 * BLOCKS.T), -1, 0)

    def sample(self, n_days, lasting, rng):
        p = np.repeat(chances(1, n_days, lasting, rng)[0], 20, axis=1)
        y = (rng.random(p.shape) < p).astype(float)
        if self.of_amounts:
            y = np.where(y > 0, self.amounts(p.shape, rng), -COST)
        block = np.tile(np.repeat(np.arange(3), 20), n_days)
        noise = rng.random(block.size)
        scores = {"a": noise + (block != 2), "b": noise + (block != 1)}
        return y.ravel(), scores, np.repeat(np.arange(n_days), 60)


class OfGroups:
    """Scores of one list, whose rows are of days."""

    measure = "auc"
    shifts = np.array([[1.0, 0.5], [0.8, 0.5]])

    def truth(self):
        return ndtr(self.shifts[:, 0] / np.sqrt(2.0 + self.shifts[:, 1] ** 2 + 0.09))

    def draw(self, shape, lasting, rng):
        positive = rng.random((*shape, 40)) < 0.25
        drift = autoregressions((3, *shape), lasting, rng)[..., np.newaxis]
        noise = rng.normal(size=(2, *shape, 40))
        noise[1] = 0.7 * noise[0] + np.sqrt(1.0 - 0.7**2) * noise[1]
        centers = [mean + by * drift[i] for i, (mean, by) in enumerate(self.shifts)]
        return positive, np.where(positive, centers, 0.3 * drift[2]) + noise

    def series(self, lasting, rng):
        """Sums of the influence of the rows of days, by the distributions of both classes."""
        truth = self.truth()
        for _ in range(40):
            positive, scores = self.draw((50, 500), lasting, rng)
            found = []
            for score, auc, (mean, by) in zip(scores, truth, self.shifts, strict=True):
                above = ndtr(score / np.sqrt(1.09)) - auc
                below = ndtr((mean - score) / np.sqrt(1.0 + by**2)) - auc
                found.append(np.where(positive, above / 0.25, below / 0.75).mean(axis=-1))
            yield np.stack(found)

    def sample(self, n_days, lasting, rng):
        positive, scores = self.draw((n_days,), lasting, rng)
        rows = dict(zip(MODELS, scores.reshape(2, -1), strict=True))
        return positive.ravel().astype(int), rows, np.repeat(np.arange(n_days), 40)


PARTS = {
    "precision": OfQueries("precision@40"),
    "profit": OfQueries("profit@40"),
    "auc": OfGroups(),
}


def known_deviations(data, lasting, rng):
    """Roots of the long-run variances of one model and of the difference."""
    found = list(data.series(lasting, rng))
    means = np.concatenate([x.mean(axis=-1) for x in found], axis=1)
    n_days = found[0].shape[-1]
    return np.sqrt(n_days) * np.array([means[0].std(), (means[0] - means[1]).std()])


def correlation(data, lasting, rng):
    """Autocorrelations of the values of days of one model and of the difference."""
    first, second = next(iter(data.series(lasting, rng)))
    found = []
    for x in (first, first - second):
        x = x - x.mean()
        found.append(float((x[:, 1:] * x[:, :-1]).mean() / (x**2).mean()))
    return found


def asked(data, y, scores, day):
    """Limits of one model, and of the difference."""
    ids = {"groups" if data.measure == "auc" else "qid": day}
    one = metric_interval(data.measure, y, scores["a"], **ids)
    both = compare(data.measure, y, scores, **ids).interval
    return [(x.low, x.high) for x in (one, both)]


def misses(limits, truths):
    """Cover, misses above and below, and mean width."""
    low, high = np.moveaxis(limits, -1, 0)
    above, below = (low > truths).mean(axis=0), (high < truths).mean(axis=0)
    return 1.0 - above - below, above, below, (high - low).mean(axis=0)


def cells(part, repetitions):
    data = PARTS[part]
    truth = data.truth()
    truths = np.array([truth[0], truth[0] - truth[1]])
    for lasting in LASTING:
        rng = seeded("dependent days, truth", part, lasting)
        deviations = known_deviations(data, lasting, rng)
        of_days = correlation(data, lasting, rng)
        for n in DAYS:
            rng, limits, independent = seeded("dependent days", part, lasting, n), [], []
            for i in range(repetitions // 2 if n == 250 else repetitions):
                y, scores, day = data.sample(n, lasting, rng)
                limits.append(asked(data, y, scores, np.datetime64("2024-01-01") + day))
                if i % 4 == 0:
                    independent.append(asked(data, y, scores, day))
            cover, above, below, width = misses(limits, truths)
            unit = 2.0 * 1.959964 * deviations / np.sqrt(n)
            for i, question in enumerate(("one", "difference")):
                missed = ["cover"] * bool(cover[i] < AIMS[lasting])
                missed += ["width"] * bool(width[i] > WIDTH * unit[i])
                yield {
                    "part": part,
                    "question": question,
                    "days": n,
                    "lasting": f"{lasting:g}",
                    "of days": f"{of_days[i]:.2f}",
                    "cover": f"{cover[i]:.4f}",
                    "above": f"{above[i]:.4f}",
                    "below": f"{below[i]:.4f}",
                    "width": f"{width[i] / unit[i]:.3f}",
                    "independent": f"{misses(independent, truths)[0][i]:.4f}",
                    "missed": "" if n == 12 else " ".join(missed),
                    "samples": len(limits),
                }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repetitions", type=int, default=2000, help="samples of each cell")
    parser.add_argument("--write", action="store_true", help="store results/dependent_days.csv")
    arguments = parser.parse_args()
    print(describe_machine())
    for part in arguments.only:
        run_cells(cells(part, arguments.repetitions), "dependent_days", KEYS, arguments.write)


if __name__ == "__main__":
    main()
