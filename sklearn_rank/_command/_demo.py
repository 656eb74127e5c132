"""``demo``: are other models better than logistic regression among the first 200 patients?"""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from .._optional import import_optional
from ..datasets import load_thyroid
from ..inference import Comparison, compare
from ..metrics import precision_at_top_curve
from ..plotting import CurveDisplay, IntervalsDisplay
from ..rankers import RankEnsembleClassifier
from ._output import DOCS


def make_models() -> dict[str, Any]:
    boosted = HistGradientBoostingClassifier(random_state=0)
    return {
        "linear": make_pipeline(StandardScaler(), LogisticRegression()),
        "boosted": boosted,
        "bag": BaggingClassifier(boosted, 3, random_state=0),
        "ensemble": RankEnsembleClassifier(random_state=0),
    }


def run_demo(options: Namespace) -> None:
    capacity = 200
    X, y = load_thyroid(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=options.seed
    )
    print(
        f"Thyroid data: {len(X):,} patients, {y.mean():.1%} of them ill; one half trains the"
        f" models.\nOf the other {len(X_test):,} a laboratory can follow up {capacity}, whom"
        " logistic regression ranks.\nDo boosted trees, a bag of three, or the ensemble find more"
        " of the ill?\n",
        flush=True,
    )
    scores = {}
    with threadpool_limits(limits=1, user_api="blas"):
        for name, model in make_models().items():
            begin = time.perf_counter()
            scores[name] = model.fit(X_train, y_train).decision_function(X_test)
            print(f"{name}: fitted in {time.perf_counter() - begin:.1f} s", flush=True)
    comparison = compare(f"recall@{capacity}", y_test, scores, baseline="linear", random_state=0)
    print(f"\n{comparison}\n\n{draw(y_test, scores, comparison, capacity, Path(options.picture))}")
    print(
        "\nNext:\n"
        f"  {options.prog} doctor FILE      # what is in a file of scores\n"
        f"  {options.prog} compare --help   # test whether one ranker is better\n"
        f"  {DOCS}  has the user guide and examples"
    )


def draw(y: Any, scores: dict[str, Any], comparison: Comparison, capacity: int, path: Path) -> str:
    """Save the precision along each list, beside the differences at the capacity."""
    try:
        drawing = import_optional("matplotlib.figure", "Drawing")
        figure = drawing.Figure(figsize=(10, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        curves = {name: precision_at_top_curve(y, score) for name, score in scores.items()}
        CurveDisplay.from_result(curves, ax=left)
        left.axvline(capacity, color="grey")
        IntervalsDisplay.from_result(comparison, ax=right)
        right.set_xlabel(f"difference of {comparison.measure}")
        figure.savefig(path, dpi=150)
    except ImportError:
        return (
            "No picture, because matplotlib is not installed. To install it:\n"
            "  python -m pip install matplotlib"
        )
    except (OSError, ValueError) as error:
        return f"No picture: {error}. Choose another file with --picture."
    return f"Picture of the lists and of the differences:\n  {path.resolve()}"
