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
from ..rankers import AccuracyAtTopRanker, TopFocusedRanker
from ._output import DOCS, WIDTH, aligned

TAUS = (0.1,)
GRID = np.logspace(-3, 0, 3)
N_SPLITS = 2
# The model of the last columns and of the picture.
MIDDLE = 0.1
# Held-out rows that a top needs: of fewer the precision says nothing.
LEAST_ROWS = 5


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
            print(f"fitting {name} ...", end="", flush=True)
            begin = time.perf_counter()
            rows[name] = [evaluate(name, *part) for part in parts]
            n_fits = N_SPLITS * len(TAUS) * (len(GRID) * 3 + 1)
            print(f" {n_fits} fits in {time.perf_counter() - begin:.1f} s")
    held_out = [y_test for *_, y_test in parts]
    print(f"\n{table(rows, held_out)}\n{draw(rows, held_out, Path(options.picture))}")
    print(
        "\nNext:\n"
        f"  {options.prog} evaluate --help  # measure a file of scores, with intervals\n"
        f"  {options.prog} compare --help   # test whether one ranker is better\n"
        f"  {DOCS}  has the user guide and examples"
    )


# What makes each estimator for a share of the top, and what its cost is called.
PEERS: dict[str, tuple[Callable[[float], Any], str]] = {
    "AccuracyAtTopRanker": (AccuracyAtTopRanker, "C"),
    "TopFocusedRanker": (
        lambda tau: TopFocusedRanker(LogisticRegression(max_iter=1000), tau=tau),
        "estimator__C",
    ),
    "LogisticRegression": (lambda tau: LogisticRegression(max_iter=1000), "C"),
    "LinearSVC": (lambda tau: LinearSVC(max_iter=10_000), "C"),
}


def rows_of(tau: float, n_rows: int) -> int:
    """Count the rows of a top, as :func:`precision_at_top_score` does."""
    return int(tau * n_rows + 0.5)


def evaluate(name: str, X_train: Any, X_test: Any, y_train: Any, y_test: Any) -> dict[float, Any]:
    """Search C for each share of the top, and score the held-out rows by the model found."""
    make, cost = PEERS[name]
    scores = {}
    for tau in TAUS:
        search = GridSearchCV(
            make_pipeline(StandardScaler(), make(tau)),
            {f"{name.lower()}__{cost}": GRID},
            scoring=get_scorer(smoothed_precision_at_top_score, tau=tau),
            cv=StratifiedKFold(3, shuffle=True, random_state=0),
            error_score="raise",
        )
        scores[tau] = search.fit(X_train, y_train).decision_function(X_test)
    return scores


def table(rows: dict[str, list[Any]], held_out: list[Any]) -> str:
    """Write one row for each estimator: means over the splits. The table, and a note below it."""
    n_rows = len(held_out[0])
    taus = [tau for tau in TAUS if rows_of(tau, n_rows) >= LEAST_ROWS]
    heads = [f"P@{100 * tau:.3g}% ({rows_of(tau, n_rows)})" for tau in taus]

    def mean(parts: Any, measure: Callable[..., float], at: float, **options: float) -> float:
        pairs = zip(held_out, parts, strict=True)
        return float(np.mean([measure(y, scores[at], **options) for y, scores in pairs]))

    lines = [
        ["", *([""] * len(heads)), "average", "positives"],
        ["ranker", *heads, "precision", "on top"],
    ]
    for name, parts in rows.items():
        cells = [f"{mean(parts, precision_at_top_score, tau, tau=tau):.3f}" for tau in taus]
        cells.append(f"{mean(parts, average_precision_score, MIDDLE):.3f}")
        cells.append(f"{mean(parts, positives_at_top_score, MIDDLE):.1f}")
        lines.append([name, *cells])
    share, count = f"{100 * MIDDLE:.3g}", rows_of(MIDDLE, n_rows)
    note = (
        f"The numbers are means over the {len(held_out)} splits. P@{share}% ({count}) is the share"
        f" of positives among the first {share} % of the held-out rows, which are {count} rows."
        " Average precision and the number of positives above the"
        f" first negative (positives on top) are those of the model for the first {share} %."
        " So few rows show little: the documentation has the comparison on 26 data sets."
    )
    return f"{aligned(lines)}\n{fill(note, WIDTH)}\n"


def draw(rows: dict[str, list[Any]], held_out: list[Any], path: Path) -> str:
    """Save the mean over the splits of the precision among the first rows."""
    axes: Any = None
    try:
        for name, parts in rows.items():
            curves = [
                precision_at_top_curve(y, scores[MIDDLE])
                for y, scores in zip(held_out, parts, strict=True)
            ]
            precision = np.mean([precision for _, precision in curves], axis=0)
            display = TopOfListDisplay(curves[0][0], precision, estimator_name=name)
            axes = display.plot(ax=axes, tau=MIDDLE if axes is None else ()).ax_
        title = f"mean over {len(held_out)} splits, models for the top {100 * MIDDLE:.3g} %"
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
