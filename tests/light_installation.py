"""What works without numba and cvxpy: run where neither is installed.

python -m pip install scikit-learn && python -m pip install --no-deps .
python tests/light_installation.py
"""

import tempfile
from pathlib import Path

import numpy as np

from sklearn_rank import (
    AccuracyAtTopRanker,
    OrderPreservingRanker,
    PNormPushRanker,
    RankStatisticRanker,
    TopPushRanker,
)
from sklearn_rank._command import main
from sklearn_rank.datasets import load_ionosphere, make_subset_ranking
from sklearn_rank.inference import compare, metric_interval
from sklearn_rank.metrics import get_scorer, roc_auc_score, tau_b_score

for package in ("numba", "cvxpy"):
    try:
        __import__(package)
    except ImportError:
        continue
    raise SystemExit(f"{package} is installed.")

X, y = load_ionosphere(return_X_y=True)
fitted = [TopPushRanker(), PNormPushRanker(), RankStatisticRanker(n_folds=2)]
fitted += [AccuracyAtTopRanker(), AccuracyAtTopRanker(kernel="rbf", C=1e-3)]
scores = [ranker.fit(X, y).decision_function(X) for ranker in fitted]
assert all(roc_auc_score(y, values) > 0.8 for values in scores)
assert all(ranker.converged_ for ranker in fitted if hasattr(ranker, "converged_"))
assert get_scorer("auc")(fitted[0], X, y) == roc_auc_score(y, scores[0])
interval = metric_interval("precision@10", y, scores[0])
assert interval.low <= interval.estimate <= interval.high
assert 0 <= compare("auc", y, dict(zip("ab", scores[:2], strict=True))).pvalue <= 1

rows, grades, qid = make_subset_ranking(return_X_y=True, random_state=0)
for ranker in (OrderPreservingRanker(), OrderPreservingRanker("pairwise_logistic")):
    assert ranker.fit(rows, grades, qid=qid).score(rows, grades, qid=qid) > 0.5

rng = np.random.default_rng(0)
values = rng.normal(size=(2, 200_000))
assert abs(tau_b_score(*values)) < 0.01

with tempfile.TemporaryDirectory() as folder:
    table = Path(folder, "scores.csv")
    lines = (f"{label},{score}" for label, score in zip(y, scores[0], strict=True))
    table.write_text("\n".join(["y,score", *lines]))
    main(["evaluate", str(table), "--label", "y", "--score", "score"])

message = ""
try:
    AccuracyAtTopRanker(solver="cvxpy").fit(X, y)
except ImportError as error:
    message = str(error)
assert 'python -m pip install "cvxpy' in message, message
print("All of this works without numba and cvxpy.")
