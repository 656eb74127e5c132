"""``demo``: are other models better than logistic regression among the first 200 patients?"""

from __future__ import annotations

import time
from argparse import Namespace
from typing import Any

from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from .._sklearn_compat import threads_for
from ..datasets import load_thyroid
from ..inference import compare
from ..rankers import RankEnsembleClassifier
from ._evaluate import save_plot
from ._output import DOCS

CAPACITY = 200


def make_models() -> dict[str, Any]:
    boosted = HistGradientBoostingClassifier(random_state=0)
    return {
        "linear": make_pipeline(StandardScaler(), LogisticRegression()),
        "boosted": boosted,
        "bag": BaggingClassifier(boosted, 3, random_state=0),
        "ensemble": RankEnsembleClassifier(random_state=0),
    }


def run_demo(options: Namespace) -> None:
    X, y = load_thyroid(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=options.seed
    )
    print(
        f"Thyroid data: {len(X):,} patients, {y.mean():.1%} of them ill; one half trains the"
        f" models.\nOf the other {len(X_test):,} a laboratory can follow up {CAPACITY}, whom"
        " logistic regression ranks.\nDo boosted trees, a bag of three, or the ensemble find more"
        " of the ill?\n",
        flush=True,
    )
    scores = {}
    with threadpool_limits(limits=1, user_api="blas"), threads_for(X):
        for name, model in make_models().items():
            begin = time.perf_counter()
            scores[name] = model.fit(X_train, y_train).decision_function(X_test)
            print(f"{name}: fitted in {time.perf_counter() - begin:.1f} s", flush=True)
    comparison = compare(f"recall@{CAPACITY}", y_test, scores, baseline="linear", random_state=0)
    print(
        f"\n{comparison}\n\nNext:\n"
        f"  {options.prog} doctor FILE      # what is in a file of scores\n"
        f"  {options.prog} compare --help   # test whether one ranker is better\n"
        f"  {DOCS}  has the user guide and examples"
    )
    if options.plot is not None:
        save_plot({comparison.measure: comparison}, options.plot)
