"""Demonstration: ``python -m sklearn_rank`` trains for the top of the Ionosphere data."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from .datasets import load_ionosphere
from .exceptions import SmallTopWarning
from .metrics import (
    average_precision_score,
    get_scorer,
    positives_at_top_score,
    precision_at_top_score,
    smoothed_precision_at_top_score,
)
from .plotting import TopOfListDisplay
from .rankers import AccuracyAtTopRanker, TopFocusedRanker

TAUS = (0.05, 0.1, 0.19)
GRID = np.logspace(-3, 1, 5)
N_SPLITS = 4
# The model whose picture is drawn.
MIDDLE = 0.1


def main(arguments: list[str] | None = None) -> None:
    """Run the demonstration.

    Parameters
    ----------
    arguments : list of str or None, default=None
        Command line; None is that of the process.
    """
    parser = argparse.ArgumentParser(
        prog="python -m sklearn_rank",
        description="Train for the top of the Ionosphere list, beside what a user would pick.",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the held-out splits")
    parser.add_argument(
        "--picture",
        type=Path,
        default=Path("sklearn_rank_top_of_the_list.png"),
        help="where to save the picture",
    )
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", SmallTopWarning)

    X, y = load_ionosphere(return_X_y=True)
    splits = StratifiedShuffleSplit(N_SPLITS, test_size=0.5, random_state=options.seed)
    parts = [(X[train], X[test], y[train], y[test]) for train, test in splits.split(X, y)]
    print(
        f"Ionosphere, {N_SPLITS} splits: {len(parts[0][0])} rows to train on,"
        f" {len(parts[0][1])} held out, {X.shape[1]} features, {y.mean():.0%} positive."
    )
    print("C by 3-fold cross-validated smoothed precision at the same top.", flush=True)
    print("  compiling, the first time on a machine ...", flush=True)
    AccuracyAtTopRanker().fit(X, y)
    rows = {}
    with threadpool_limits(limits=1, user_api="blas"):  # the products are too small to share
        for name in PEERS:
            print(f"  {name} ...", flush=True)
            begin = time.perf_counter()
            found = [evaluate(name, *part) for part in parts]
            rows[name] = {"parts": found, "seconds": time.perf_counter() - begin}
    held_out = [y_test for *_, y_test in parts]
    print()
    print_table(rows, held_out)
    print()
    print(draw(rows, held_out[0], options.picture))


def make_ranker(tau: float) -> AccuracyAtTopRanker:
    return AccuracyAtTopRanker(tau)


def make_focused(tau: float) -> TopFocusedRanker:
    return TopFocusedRanker(LogisticRegression(max_iter=1000), tau=tau)


def make_logistic(tau: float) -> LogisticRegression:
    return LogisticRegression(max_iter=1000)


def make_svc(tau: float) -> LinearSVC:
    return LinearSVC(max_iter=10_000)


# What makes each estimator, and what its cost is called.
PEERS = {
    "AccuracyAtTopRanker": (make_ranker, "C"),
    "TopFocusedRanker": (make_focused, "estimator__C"),
    "LogisticRegression": (make_logistic, "C"),
    "LinearSVC": (make_svc, "C"),
}


def evaluate(name: str, X_train: Any, X_test: Any, y_train: Any, y_test: Any) -> dict[float, Any]:
    """Search C for each tau, and score the held-out rows by the model of that search."""
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


def print_table(rows: dict[str, dict[str, Any]], held_out: list[Any]) -> None:
    """Print one row for each estimator: means over the splits."""
    heads = [f"P@{100 * tau:.3g}%" for tau in TAUS] + ["avg prec", "pos@top", "fits, s"]
    print(f"{'held out, mean':20}" + "".join(f"{head:>10}" for head in heads))

    def mean(row: dict[str, Any], measure: Callable[..., float], at: float, **of: float) -> float:
        pairs = zip(held_out, row["parts"], strict=True)
        return float(np.mean([measure(y, scores[at], **of) for y, scores in pairs]))

    for name, row in rows.items():
        cells = [f"{mean(row, precision_at_top_score, tau, tau=tau):.3f}" for tau in TAUS]
        cells.append(f"{mean(row, average_precision_score, MIDDLE):.3f}")
        cells.append(f"{mean(row, positives_at_top_score, MIDDLE):.1f}")
        cells.append(f"{row['seconds']:.1f}")
        print(f"{name:20}" + "".join(f"{cell:>10}" for cell in cells))
    n_fits = len(held_out) * len(TAUS) * (len(GRID) * 3 + 1)
    print(
        "P@tau: share of positives in the top tau of the list, one model for each tau; avg prec"
        "\nand pos@top (positives above the first negative): the model for tau ="
        f" {100 * MIDDLE:.3g}%;\nfits: all {n_fits} of them. So few rows say little: the user"
        " guide has 26 data sets."
    )


def draw(rows: dict[str, dict[str, Any]], y_test: Any, path: Path) -> str:
    """Save the picture of the top of the first split, and say where, or why not."""
    axes: Any = None
    try:
        for name, row in rows.items():
            display = TopOfListDisplay.from_predictions(
                y_test,
                row["parts"][0][MIDDLE],
                name=name,
                ax=axes,
                tau=TAUS if axes is None else (),
            )
            axes = display.ax_
        axes.set_title(f"Ionosphere, held out: trained for the top {100 * MIDDLE:.3g} %", pad=16)
        display.figure_.savefig(path, dpi=150, bbox_inches="tight")
    except ImportError as error:
        return f"No picture. {error}"
    except OSError as error:
        return f"No picture: {error}. Choose another place by --picture."
    return f"Picture: {path.resolve()}"


if __name__ == "__main__":
    main()
