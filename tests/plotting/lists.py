"""Results that the tests of displays draw."""

from functools import partial

import numpy as np

from sklearn_rank.inference import curve

SHARES = np.arange(1, 10) / 10
RESULTS = {
    "top": partial(curve, "precision@k", random_state=0),
    "calibration": partial(curve, "calibration@k", random_state=0),
    "benefit": partial(curve, "net_benefit", at=SHARES, random_state=0),
    "roc": partial(curve, "tpr@fpr", at=SHARES, random_state=0),
}


def queries():
    """Grades, scores of a good and a bad ranker, and ids of 30 queries of eight items."""
    rng = np.random.default_rng(0)
    grade = rng.integers(0, 3, size=240)
    scores = {"good": grade + rng.normal(size=240), "bad": rng.normal(size=240)}
    return grade, scores, np.repeat(np.arange(30), 8)


def words(texts):
    return [text.get_text() for text in texts]


def legend_of(display):
    (legend,) = [*display.figure_.legends, display.ax_.get_legend()][:1]
    return words(legend.get_texts())
