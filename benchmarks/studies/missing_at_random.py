"""Labels missing at random given features: coverage with estimated probabilities.

    python benchmarks/studies/missing_at_random.py              # print, about 10 minutes
    python benchmarks/studies/missing_at_random.py --repetitions 50

Protocol. Lists have 3,000 rows with a score and two features. Logits of positives are ``1.3 score
+ feature + const``, those of a label ``0.8 (score + feature) + const``, so that the first feature
confounds; the second is noise. Labels, and which are known, are drawn again and again; the truth
is the value of the list with all of its labels. Right probabilities are those of logistic
regression on score and features, wrong ones those on the noise; the right proxy is the probability
to be positive. `nobody` labels the first 20 % by score and no other row. Other classifiers have
the features too, and a fifth of the repetitions. Bias is in standard deviations of the error.
"""

import argparse

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from sklearn_rank.inference import LabelDesign, metric_interval
from sklearn_rank.metrics import get_measure

N_ROWS = 3000
MEASURES = "auc", "precision@100", "recall@100"
# Shares of positives and of labels.
LISTS = {"few missing": (0.1, 0.7), "many missing": (0.1, 0.1), "few positives": (0.03, 0.05)}
SMOOTH_TREES = HistGradientBoostingClassifier(max_iter=50, max_depth=3, learning_rate=0.05)
CLASSIFIERS = {
    "forest": RandomForestClassifier(30, random_state=0),
    "forest, 20 rows a leaf": RandomForestClassifier(30, min_samples_leaf=20, random_state=0),
    "forest, calibrated": CalibratedClassifierCV(RandomForestClassifier(20, random_state=0)),
    "boosted trees": HistGradientBoostingClassifier(random_state=0),
    "boosted trees, smooth": SMOOTH_TREES,
    "25 neighbours": KNeighborsClassifier(25),
}


def chances(logit, share):
    """Probabilities of the logits plus a constant, whose mean is the share."""
    return expit(logit + brentq(lambda c: expit(logit + c).mean() - share, -30.0, 30.0))


def ways(score, features, positive):
    """Designs and proxies by what is right."""
    right, wrong = np.column_stack([score, features]), features[:, 1:]
    yield "both", LogisticRegression(), right, positive
    yield "probabilities", LogisticRegression(), right, None
    yield "proxy", LogisticRegression(), wrong, positive
    yield "neither", LogisticRegression(), wrong, None
    for name, classifier in CLASSIFIERS.items():
        yield name, classifier, right, None


def study(name, n_repetitions, rng):
    share, labelled = LISTS.get(name, LISTS["many missing"])
    features, score = rng.normal(size=(N_ROWS, 2)), rng.normal(size=N_ROWS)
    positive = chances(1.3 * score + features[:, 0], share)
    chance = chances(0.8 * (score + features[:, 0]), labelled)
    if name == "nobody":
        chance = (score >= np.quantile(score, 0.8)).astype(float)
    found, refused = {}, {}
    for repetition in range(n_repetitions):
        y = (rng.random(N_ROWS) < positive).astype(float)
        known = rng.random(N_ROWS) < chance
        for way, classifier, seen, proxy in ways(score, features, positive):
            fewer = way in CLASSIFIERS and 5 * repetition >= n_repetitions
            if fewer or (name == "nobody" and way != "both"):
                continue
            design = LabelDesign(inclusion_probability=classifier, features=seen)
            refused.setdefault(way, []).append(False)
            try:
                probability = design._probabilities(known)
            except ValueError:
                refused[way][-1] = True
                continue
            design = LabelDesign(probability, proxy=proxy)
            for measure in MEASURES:
                columns = np.where(known, y, np.nan), score
                interval = metric_interval(measure, *columns, design=design, conditional=True)
                truth = get_measure(measure)(y, score)
                row = interval.estimate - truth, truth in interval, interval.width
                found.setdefault((way, measure), []).append(row)
    for way, refusals in refused.items():
        print(f"{name:13s} {way:22s} refused {np.mean(refusals):.2f}", end="")
        for measure in MEASURES if not all(refusals) else ():
            error, covered, width = np.array(found[way, measure], dtype=float).T
            print(
                f" | {measure} {covered.mean():.3f}, bias {error.mean() / error.std():+.2f},"
                f" width {width.mean():.3f}",
                end="",
            )
        print(flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--only", choices=[*LISTS, "nobody"])
    arguments = parser.parse_args()
    for name in [arguments.only] if arguments.only else [*LISTS, "nobody"]:
        study(name, arguments.repetitions, np.random.default_rng(0))
