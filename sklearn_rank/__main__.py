"""Demonstration: ``python -m sklearn_rank`` trains for the top of the Ionosphere data."""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
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
)
from .plotting import TopOfListDisplay
from .rankers import AccuracyAtTopRanker

TAUS = (0.01, 0.05, 0.095, 0.14, 0.19)
GRID = np.logspace(-4, 0, 5)


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
    parser.add_argument("--seed", type=int, default=0, help="seed of the held-out split")
    parser.add_argument(
        "--picture",
        type=Path,
        default=Path("sklearn_rank_top_of_the_list.png"),
        help="where to save the picture",
    )
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", SmallTopWarning)

    X, y = load_ionosphere(return_X_y=True)
    split = train_test_split(X, y, test_size=0.5, stratify=y, random_state=options.seed)
    X_train, X_test, y_train, y_test = split
    print(
        f"Ionosphere: {len(y_train)} rows to train on, {len(y_test)} held out,"
        f" {X.shape[1]} features, {y.mean():.0%} positive."
    )
    print("C by 5-fold cross-validated precision at the same top.", flush=True)
    print("  compiling, the first time on a machine ...", flush=True)
    AccuracyAtTopRanker().fit(X_train, y_train)
    rows = {}
    with threadpool_limits(limits=1, user_api="blas"):  # the products are too small to share
        for name in PEERS:
            print(f"  {name} ...", flush=True)
            rows[name] = evaluate(name, X_train, X_test, y_train, y_test)
    print()
    print_table(rows, y_test)
    print()
    print(draw(rows, y_test, options.picture))


def make_ranker(tau: float) -> AccuracyAtTopRanker:
    return AccuracyAtTopRanker(tau)


def make_logistic(tau: float) -> LogisticRegression:
    return LogisticRegression(class_weight="balanced", max_iter=1000)


def make_svc(tau: float) -> LinearSVC:
    return LinearSVC(class_weight="balanced", max_iter=10_000)


PEERS = {
    "AccuracyAtTopRanker": make_ranker,
    "LogisticRegression": make_logistic,
    "LinearSVC": make_svc,
}


def evaluate(name: str, X_train: Any, X_test: Any, y_train: Any, y_test: Any) -> dict[str, Any]:
    """Search C for each tau, and score the held-out rows by the model of that search."""
    scores = {}
    seconds = 0.0
    for tau in TAUS:
        model = PEERS[name](tau)
        search = GridSearchCV(
            make_pipeline(StandardScaler(), model),
            {f"{type(model).__name__.lower()}__C": GRID},
            scoring=get_scorer(precision_at_top_score, tau=tau),
            cv=StratifiedKFold(5, shuffle=True, random_state=0),
            error_score="raise",
        )
        begin = time.perf_counter()
        search.fit(X_train, y_train)
        seconds += time.perf_counter() - begin
        scores[tau] = search.decision_function(X_test)
    return {"scores": scores, "seconds": seconds}


def print_table(rows: dict[str, dict[str, Any]], y_test: Any) -> None:
    """Print one row for each estimator; the last columns are of the model for the middle tau."""
    middle = TAUS[len(TAUS) // 2]
    heads = [f"P@{100 * tau:.3g}%" for tau in TAUS]
    heads += ["avg prec", "pos@top", "fits, s"]
    print(f"{'held out':20}" + "".join(f"{head:>10}" for head in heads))
    for name, row in rows.items():
        cells = [
            f"{precision_at_top_score(y_test, score, tau=tau):.3f}"
            for tau, score in row["scores"].items()
        ]
        cells.append(f"{average_precision_score(y_test, row['scores'][middle]):.3f}")
        cells.append(f"{positives_at_top_score(y_test, row['scores'][middle]):.1f}")
        cells.append(f"{row['seconds']:.1f}")
        print(f"{name:20}" + "".join(f"{cell:>10}" for cell in cells))
    n_fits = len(TAUS) * (len(GRID) * 5 + 1)
    print(
        "P@tau: share of positives in the top tau of the list, one model for each tau; avg prec"
        "\nand pos@top (positives above the first negative): the model for tau ="
        f" {100 * middle:.3g}%;\nfits: all {n_fits} of them."
    )


def draw(rows: dict[str, dict[str, Any]], y_test: Any, path: Path) -> str:
    """Save the picture of the top of the list, and say where, or why not."""
    middle = TAUS[len(TAUS) // 2]
    axes: Any = None
    try:
        for name, row in rows.items():
            display = TopOfListDisplay.from_predictions(
                y_test,
                row["scores"][middle],
                name=name,
                ax=axes,
                tau=TAUS if axes is None else (),
            )
            axes = display.ax_
        axes.set_title(f"Ionosphere, held out: trained for the top {100 * middle:.3g} %", pad=16)
        display.figure_.savefig(path, dpi=150, bbox_inches="tight")
    except ImportError as error:
        return f"No picture. {error}"
    except OSError as error:
        return f"No picture: {error}. Choose another place by --picture."
    return f"Picture: {path.resolve()}"


if __name__ == "__main__":
    main()
