"""Results that the tests of displays draw."""

import numpy as np

from sklearn_rank.inference import calibration_at_top, net_benefit_curve, roc_band
from sklearn_rank.metrics import precision_at_top_curve

RESULTS = {
    "top": precision_at_top_curve,
    "calibration": calibration_at_top,
    "benefit": lambda y, score: net_benefit_curve(y, score, thresholds=np.arange(20) / 20),
    "roc": roc_band,
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
