"""Small data of all kinds, and bad values of arguments by their names."""

import inspect
from functools import partial

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n, d = 60, 4
y = (rng.random(n) < 0.35).astype(int)
grades = rng.integers(0, 4, n)
qid = np.repeat(np.arange(12), 5)
y[qid == 3] = grades[qid == 3] = 0
y[qid == 7], grades[qid == 7] = 1, 3
score = np.round(y + rng.normal(size=n), 6)
score_b = np.round(score + rng.normal(size=n), 6)
ties = np.round(score)
by_grade = np.round(grades + rng.normal(size=n), 6)
prob = 1 / (1 + np.exp(-score))
X = np.round(np.c_[score, by_grade, rng.normal(size=(n, d - 2))], 6)
counts = rng.integers(0, 4, n)
weights = np.round(rng.uniform(0.2, 3, n), 6)
query_weight = np.round(rng.uniform(0.2, 3, 12), 6)[qid]
words = np.where(y, "yes", "no")
words_of_ids = np.array([f"q{q}" for q in qid])
groups = rng.permutation(n) // 3
shuffled = rng.permutation(n)


def with_value(array, value, place=1):
    """A copy with one other value."""
    copy = np.array(array, dtype=object if isinstance(value, str) else float)
    copy[place] = value
    return copy


def bad_arrays(array):
    """Arrays that take the place of a valid one."""
    return {
        "NaN": with_value(array, np.nan),
        "infinite": with_value(array, np.inf),
        "short": array[:-1],
        "empty": array[:0],
        "two columns": np.c_[array, array],
        "word": with_value(array, "a"),
        "None": None,
        "scalar": 1.0,
        "complex": array + 1j,
    }


SHARE = {"0": 0, "1": 1, "2": 2.0, "negative": -0.1, "NaN": np.nan, "word": "a", "True": True}
LABELS = {
    **bad_arrays(y),
    "one class": np.zeros(n, int),
    "only positives": np.ones(n, int),
    "three classes": grades,
    "words": words,
    "negative grades": grades - 1,
    "fractions": y + 0.5,
    "missing": pd.Series(y, dtype="Int64").mask(y == 1),
}
SCORES = {**bad_arrays(score), "constant": np.zeros(n), "outside [0, 1]": 3 * score}
WEIGHTS = {
    "negative": with_value(weights, -1),
    "NaN": with_value(weights, np.nan),
    "short": weights[:-1],
    "zero": np.zeros(n),
    "scalar": 2.0,
    "word": "balanced",
}
IDS = {
    "short": qid[:-1],
    "missing": with_value(qid, np.nan),
    "two columns": np.c_[qid, qid],
    "scalar": 0,
    "constant": np.zeros(n, int),
    "rows": np.arange(n),
    "sizes": np.bincount(qid),
}
BAD = {
    **dict.fromkeys(("y_true", "y", "y_true_a", "y_true_b"), LABELS),
    **dict.fromkeys(
        ("y_score", "y_score_a", "y_score_b", "y_prob", "scores_pos", "scores_neg"), SCORES
    ),
    "X": {
        **bad_arrays(score),
        "NaN in X": with_value(X, np.nan),
        "infinite in X": with_value(X, np.inf),
        "fewer rows": X[:-1],
        "constant": np.ones((n, d)),
        "huge": X * 1e9,
    },
    "sample_weight": WEIGHTS,
    "query_weight": {**WEIGHTS, "differs within a query": weights},
    "propensity": {**WEIGHTS, "above 1": weights + 1},
    "qid": IDS,
    "groups": IDS,
    "k": {"0": 0, "negative": -1, "fraction": 2.5, "word": "a", "True": True, "huge": 10**6},
    "pos_label": {"absent": 7, "word": "yes", "other class": 0},
    "average": {"macro": "macro"},
    "undefined": {"word": "unknown", "NaN": np.nan, "raise": "raise", "number": 0.25},
    "measure": {
        "unknown": "unknown",
        "near": "ndgc@10",
        "number": 3,
        "function": len,
        "None": None,
    },
    **dict.fromkeys(
        (
            "tau",
            "fraction",
            "max_fpr",
            "min_tpr",
            "u0",
            "level",
            "delta",
            "persistence",
            "threshold",
        ),
        SHARE,
    ),
    "random_state": {"word": "a"},
    "n_jobs": {"word": "a"},
    "verbose": {"word": "a"},
}


def bad_values(name, default):
    """Bad values of a parameter: by its name, otherwise by the type of its default."""
    if name in BAD:
        return BAD[name]
    if isinstance(default, bool):
        return {"word": "unknown"}
    if isinstance(default, str):
        return {"unknown": "unknown", "number": 3}
    if isinstance(default, int | float):
        return {"negative": -1, "NaN": np.nan, "word": "unknown", "0": 0}
    return {"word": "unknown", "negative": -1}


def refusals(label, function, *names, apply=None, **arguments):
    """Cases of a function with one bad argument each, and with an unknown keyword.

    ``names`` restricts the parameters; ``apply`` calls the function, if it takes more.
    """
    apply = apply or (lambda **keywords: function(**keywords))
    for name, parameter in inspect.signature(function).parameters.items():
        if (names and name not in names) or parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            continue
        for kind, value in bad_values(name, parameter.default).items():
            yield f"{label} refuses? {name}: {kind}", partial(apply, **{**arguments, name: value})
    yield f"{label} refuses? unknown keyword", partial(apply, **arguments, unknown=1)
