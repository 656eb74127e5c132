"""Weeks until a broken promise of a precision is noticed, and false alarms.

    python benchmarks/studies/promise_alarms.py    # needs mapie; some five minutes

Protocol. 40 rows are flagged in a week, with a promised precision of .8. An alarm is an upper
limit of ConfidenceSequence (level .9, both sides) below .8, or MAPIE's RiskMonitoring (test level
.1, of which it takes a half) above a risk of .2. Printed are the median week of the alarm in 40
runs, and the share of runs with an alarm within 40 weeks.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from mapie.exchangeability_testing import RiskMonitoring

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import describe_machine

from sklearn_rank.inference import ConfidenceSequence

WEEKS, RUNS, FLAGGED, PROMISED = 40, 40, 40, 0.8
PRECISIONS = {
    ".8, as promised": lambda week: 0.8,
    ".7 from the start": lambda week: 0.7,
    ".6 from the start": lambda week: 0.6,
    ".9, from week 11 on .6": lambda week: 0.9 if week <= 10 else 0.6,
}


def weeks_of_alarms(precision, rng):
    """First week with an alarm of either; infinite if there is none."""
    sequence = ConfidenceSequence("precision@top0.1", threshold=0.0, level=0.9)
    monitor = RiskMonitoring("precision", test_level=0.1, threshold=1.0 - PROMISED, warn=False)
    weeks = [np.inf, np.inf]
    for week in range(1, WEEKS + 1):
        y = (rng.random(FLAGGED) < precision(week)).astype(int)
        high = sequence.update(y, np.ones(FLAGGED)).high
        monitor.update(y, np.ones(FLAGGED, dtype=int))
        for i, alarm in enumerate((high < PROMISED, monitor.harmful_shift_detected)):
            weeks[i] = min(weeks[i], week) if alarm else weeks[i]
        if np.isfinite(weeks).all():
            break
    return weeks


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(describe_machine())
    rng = np.random.default_rng(0)
    for title, precision in PRECISIONS.items():
        weeks = np.array([weeks_of_alarms(precision, rng) for _ in range(RUNS)])
        for name, of_runs in zip(("ConfidenceSequence", "MAPIE"), weeks.T, strict=True):
            print(f"{title}: {name} week {np.median(of_runs):g}, {np.isfinite(of_runs).mean():g}")
