"""``demo``: rankers that are trained for the top of the Ionosphere data, beside usual ones."""

from __future__ import annotations

import time
import warnings
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from ..datasets import load_ionosphere
from ..exceptions import SmallTopWarning
from ..metrics import (
    average_precision_score,
    get_scorer,
    positives_at_top_score,
    precision_at_top_curve,
    precision_at_top_score,
    smoothed_precision_at_top_score,
)
from ..plotting import TopOfListDisplay
from ..rankers import AccuracyAtTopRankerCV, TopFocusedRanker
from ._output import DOCS, WIDTH, aligned

TAU = 0.1  # Share of the rows that are the top
GRID = np.logspace(-3, 0, 3)
N_SPLITS = 2


def run_demo(options: Namespace) -> None:
    X, y = load_ionosphere(return_X_y=True)
    splits = StratifiedShuffleSplit(N_SPLITS, test_size=0.5, random_state=options.seed)
    parts = [(X[train], X[test], y[train], y[test]) for train, test in splits.split(X, y)]
    n_train, n_test = len(parts[0][0]), len(parts[0][1])
    print(
        f"Ionosphere data: {len(X)} rows, {X.shape[1]} features, {y.mean():.0%} positive.\n"
        f"{N_SPLITS} random splits into {n_train} rows to train on and {n_test} held-out rows.\n"
        "C is chosen by 3-fold cross-validation on the training rows.\n",
        flush=True,
    )
    rows = {}
    with warnings.catch_warnings(), threadpool_limits(limits=1, user_api="blas"):
        warnings.simplefilter("ignore", SmallTopWarning)
        for name in PEERS:
            begin = time.perf_counter()
            rows[name] = [evaluate(name, *part) for part in parts]
            print(f"{name}: fitted in {time.perf_counter() - begin:.1f} s", flush=True)
    held_out = [y_test for *_, y_test in parts]
    print(f"\n{table(rows, held_out)}\n{draw(rows, held_out, Path(options.picture))}")
    print(
        "\nNext:\n"
        f"  {options.prog} evaluate --help  # measure a file of scores, with intervals\n"
        f"  {options.prog} compare --help   # test whether one ranker is better\n"
        f"  {DOCS}  has the user guide and examples"
    )


# What makes each estimator, which chooses C by cross-validation, or the one whose C is searched.
PEERS: dict[str, Callable[[], Any]] = {
    "AccuracyAtTopRankerCV": lambda: AccuracyAtTopRankerCV(TAU, Cs=GRID, cv=folds()),
    "TopFocusedRanker": lambda: searched(
        TopFocusedRanker(LogisticRegression(max_iter=1000), tau=TAU), "estimator__C"
    ),
    "LogisticRegression": lambda: searched(LogisticRegression(max_iter=1000), "C"),
    "LinearSVC": lambda: searched(LinearSVC(max_iter=10_000), "C"),
}


def folds() -> StratifiedKFold:
    return StratifiedKFold(3, shuffle=True, random_state=0)


def searched(estimator: Any, cost: str) -> GridSearchCV:
    scoring = get_scorer(smoothed_precision_at_top_score, tau=TAU)
    return GridSearchCV(estimator, {cost: GRID}, scoring=scoring, cv=folds(), error_score="raise")


def evaluate(name: str, X_train: Any, X_test: Any, y_train: Any, y_test: Any) -> Any:
    """Scores of the held-out rows by the model found on the others."""
    model = make_pipeline(StandardScaler(), PEERS[name]())
    return model.fit(X_train, y_train).decision_function(X_test)


def table(rows: dict[str, list[Any]], held_out: list[Any]) -> str:
    """Write one row for each estimator: means over the splits. The table, and a note below it."""
    share, count = f"{100 * TAU:.3g}", int(TAU * len(held_out[0]) + 0.5)

    def mean(scores: Any, measure: Callable[..., float], **options: float) -> float:
        pairs = zip(held_out, scores, strict=True)
        return float(np.mean([measure(y, each, **options) for y, each in pairs]))

    lines = [
        ["", "", "average", "positives"],
        ["ranker", f"P@{share}% ({count})", "precision", "on top"],
    ]
    for name, scores in rows.items():
        precision = mean(scores, precision_at_top_score, tau=TAU)
        ap, on_top = mean(scores, average_precision_score), mean(scores, positives_at_top_score)
        lines.append([name, f"{precision:.3f}", f"{ap:.3f}", f"{on_top:.1f}"])
    note = (
        f"The numbers are means over the {len(held_out)} splits. P@{share}% ({count}) is the share"
        f" of positives among the first {share} % of the held-out rows, which are {count} rows."
        " Positives on top are those above the first negative. So few rows show little: the"
        " documentation has the comparison on 26 data sets."
    )
    return f"{aligned(lines)}\n{fill(note, WIDTH)}\n"


def draw(rows: dict[str, list[Any]], held_out: list[Any], path: Path) -> str:
    """Save the mean over the splits of the precision among the first rows."""
    axes: Any = None
    try:
        for name, parts in rows.items():
            curves = [
                precision_at_top_curve(y, scores)
                for y, scores in zip(held_out, parts, strict=True)
            ]
            precision = np.mean([precision for _, precision in curves], axis=0)
            display = TopOfListDisplay(curves[0][0], precision, estimator_name=name)
            axes = display.plot(ax=axes, tau=TAU if axes is None else ()).ax_
        title = f"mean over {len(held_out)} splits, models for the top {100 * TAU:.3g} %"
        axes.set_title(f"Ionosphere, held out: {title}", pad=16, fontsize="medium")
        axes.figure.savefig(path, dpi=150, bbox_inches="tight")
    except ImportError:
        return (
            "No picture, because matplotlib is not installed. To install it:\n"
            "  python -m pip install matplotlib"
        )
    except (OSError, ValueError) as error:
        return f"No picture: {error}. Choose another file with --picture."
    return f"Picture of the precision among the first rows, mean over splits:\n  {path.resolve()}"
