"""CPU seconds and memory of linear fits, each case in a fresh process."""

import time

import numpy as np
from measuring import release_memory, resident_memory
from scipy.stats import rankdata

from .data_sets import hidden

ROWS, FEATURES, LABELS, CALLS = 20_000, 9, 9, 10
PLAIN = {"labels": LABELS, "dtype": "float64", "missing": 0.0, "ties": False, "loss": None}
RANKER = "OrderPreservingLabelRanker"
LOSSES = (
    "pointwise_squared",
    "pointwise_logistic",
    "pairwise_squared",
    "pairwise_logistic",
    "softmax",
    "comparison_logistic",
)


def cases():
    """What is timed: the plain case by ranker and peers, then one thing changed at a time."""
    rankers = [{"method": RANKER, **PLAIN}]
    rankers += [{**rankers[0], "loss": loss} for loss in LOSSES]
    rankers += [
        {**rankers[0], **changed}
        for changed in (
            {"dtype": "float32"},
            {"missing": 0.3},
            {"missing": 0.6},
            {"ties": True},
            {"missing": 0.3, "ties": True},
            {"labels": 3},
            {"labels": 30},
            {"labels": 30, "missing": 0.3},
        )
    ]
    rankers += [
        {**rankers[0], "labels": 30, "loss": loss}
        for loss in ("pairwise_logistic", "comparison_logistic")
    ]
    peers = [
        {"method": method, **PLAIN, "labels": labels}
        for method in ("LinearRegression", "Ridge")
        for labels in (3, LABELS, 30)
    ]
    return rankers + peers


def made(case):
    """Rows, and positions by a linear rule with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, FEATURES))
    scores = X @ rng.normal(size=(FEATURES, case["labels"]))
    scores += 2.0 * rng.normal(size=scores.shape)
    if case["ties"]:
        scores = np.round(scores / 3.0)
    positions = rankdata(-hidden(scores, case["missing"], 0), axis=1, nan_policy="omit")
    return X.astype(case["dtype"]), positions


def estimator_of(case):
    """The estimator of a case."""
    if case["method"] == RANKER:
        from sklearn_rank import OrderPreservingLabelRanker

        loss = {} if case["loss"] is None else {"loss": case["loss"]}
        return OrderPreservingLabelRanker(target_type="positions", **loss)
    from sklearn import linear_model

    return getattr(linear_model, case["method"])()


def work(request):
    """Fit ten times; the memory is that of the last one on top of what was there."""
    X, positions = made(request)
    estimator = estimator_of(request)
    seconds, wall = [], []
    for call in range(CALLS):
        before = release_memory() if call == CALLS - 1 else None
        start, clock = time.process_time(), time.perf_counter()
        estimator.fit(X, positions)
        seconds.append(time.process_time() - start)
        wall.append(time.perf_counter() - clock)
    rise = float("nan") if before is None else (resident_memory("VmHWM") - before) / 1e6
    yield {
        "first": seconds[0],
        "tenth": seconds[-1],
        "best": min(seconds[1:]),
        "wall": wall[-1],
        "memory": rise,
        "input": (X.nbytes + positions.nbytes) / 1e6,
    }
