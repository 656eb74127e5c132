"""Makes rank_compare_2indep.json: DeLong's interval as statsmodels has it.

pip install statsmodels==0.15.0 && python tests/golden/rank_compare_2indep.py
"""

import json
from pathlib import Path

import numpy as np
import statsmodels
from statsmodels.stats.nonparametric import rank_compare_2indep


def cases():
    rng = np.random.default_rng(2005)
    for n_pos, n_neg, n_values in ((5, 7, 4), (30, 70, 12), (60, 20, 1000), (12, 12, 6)):
        yield rng.integers(0, n_values, n_pos) + n_values // 4, rng.integers(0, n_values, n_neg)


def main():
    results = []
    for pos, neg in cases():
        found = rank_compare_2indep(pos, neg, use_t=False)
        low, high = found.conf_int(alpha=0.05)
        results.append(
            {
                "pos": pos.tolist(),
                "neg": neg.tolist(),
                "auc": float(found.prob1),
                "standard_error": float(np.sqrt(found.var_prob)),
                "low": float(low),
                "high": float(high),
            }
        )
    content = {"statsmodels": statsmodels.__version__, "cases": results}
    Path(__file__).with_suffix(".json").write_text(json.dumps(content) + "\n")


if __name__ == "__main__":
    main()
