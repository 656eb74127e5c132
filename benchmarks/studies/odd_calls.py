"""Calls of the public functions and estimators with the data and habits of careless users.

    python benchmarks/studies/odd_calls.py                        # 10,000 calls
    python benchmarks/studies/odd_calls.py --calls 500 --only fit # some kinds of calls
    python benchmarks/studies/odd_calls.py --replay fit 417       # one call, with its traceback

Each call is drawn from its own seed: scales of columns from 1e-9 to 1e9, weights of every kind,
labels as words and with gaps, ids of any type, lists of one row. An answer has to keep the
relations that hold for every right answer; a refusal has to be an error of this package or of
scikit-learn with a sentence. What breaks a relation is counted as wrong, an error from elsewhere,
or a warning of NumPy, as cryptic. Calls that end in neither are listed by their message, to be
read by a person.
"""

import argparse
import collections
import signal
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import sklearn_rank as sr
from sklearn_rank import bounds, clicks, inference, metrics

sys.path.insert(0, str(Path(sr.__file__).parents[1]))
from tests import catalogue

SECONDS = 20
ERRORS = (UserWarning, ValueError, TypeError, AttributeError, NotImplementedError, MemoryError)


# Share of the arguments that are drawn from all kinds; the others are plain.
ODD = 0.4


def draw_kind(rng, plain, kinds):
    """One of the kinds, mostly the plain one."""
    return str(rng.choice(kinds)) if rng.random() < ODD else plain


class Wrong(Exception):
    """An answer that breaks a relation."""


def draw_labels(rng, n, queries=False):
    """Labels as users have them, and the positive class where it has to be said."""
    y = (
        rng.integers(0, 3, n)
        if queries and rng.random() < 0.5
        else (rng.random(n) < 0.3).astype(int)
    )
    kind = draw_kind(
        rng,
        "int",
        [
            "int",
            "int",
            "int",
            "bool",
            "float",
            "sign",
            "word",
            "numerals",
            "category",
            "nan",
            "none",
            "NA",
            "masked",
            "constant",
            "few",
            "float32",
            "list",
            "object",
        ],
    )
    forms = {
        "bool": lambda: y > 0,
        "float": lambda: y.astype(float),
        "float32": lambda: y.astype(np.float32),
        "sign": lambda: np.where(y > 0, 1, -1),
        "word": lambda: np.where(y > 0, "fraud", "ok"),
        "numerals": lambda: y.astype(str),
        "category": lambda: pd.Series(np.where(y > 0, "fraud", "ok")).astype("category"),
        "nan": lambda: np.where(rng.random(n) < 0.3, np.nan, y),
        "none": lambda: np.where(rng.random(n) < 0.3, None, y),
        "NA": lambda: pd.Series(y, dtype="Int64").mask(rng.random(n) < 0.3),
        "masked": lambda: np.ma.array(y, mask=rng.random(n) < 0.3),
        "constant": lambda: np.full(n, y[0]),
        "few": lambda: (np.arange(n) == n // 2).astype(int),
        "list": lambda: y.tolist(),
        "object": lambda: y.astype(object),
    }
    return kind, forms.get(kind, lambda: y)()


def draw_scores(rng, y, n):
    s = rng.normal(size=n) + np.asarray(rng.random(n) < 0.3)
    kind = draw_kind(
        rng,
        "normal",
        [
            "normal",
            "normal",
            "ties",
            "float32",
            "int",
            "tiny",
            "huge",
            "shifted",
            "nan",
            "inf",
            "constant",
            "words",
            "column",
            "series",
            "masked",
            "float16",
        ],
    )
    forms = {
        "ties": lambda: np.round(s),
        "float32": lambda: s.astype(np.float32),
        "int": lambda: np.round(10 * s).astype(int),
        "tiny": lambda: s * 1e-300,
        "huge": lambda: s * 1e300,
        "shifted": lambda: s + 1e9,
        "nan": lambda: np.where(rng.random(n) < 0.1, np.nan, s),
        "inf": lambda: np.where(rng.random(n) < 0.1, np.inf, s),
        "constant": lambda: np.zeros(n),
        "words": lambda: s.astype(str),
        "column": lambda: s[:, None],
        "series": lambda: pd.Series(s, index=np.arange(n)[::-1]),
        "masked": lambda: np.ma.array(s, mask=rng.random(n) < 0.2),
        "float16": lambda: s.astype(np.float16),
    }
    return kind, forms.get(kind, lambda: s)()


def draw_weights(rng, n):
    w = rng.integers(1, 5, n)
    kind = draw_kind(
        rng,
        "none",
        [
            "none",
            "none",
            "none",
            "counts",
            "sum to 1",
            "mean 1",
            "inverse",
            "zeros",
            "one huge",
            "tiny",
            "negative",
            "nan",
            "bool",
            "float32",
            "equal .5",
            "all zero",
            "masked",
            "list",
        ],
    )
    forms = {
        "none": lambda: None,
        "counts": lambda: w,
        "sum to 1": lambda: w / w.sum(),
        "mean 1": lambda: w / w.mean(),
        "inverse": lambda: np.where(rng.random(n) < 0.2, 39, 1),
        "zeros": lambda: w * (rng.random(n) < 0.5),
        "one huge": lambda: np.where(np.arange(n) == 0, 1e12, 1.0),
        "tiny": lambda: w * 1e-12,
        "negative": lambda: w - 2,
        "nan": lambda: np.where(np.arange(n) == 1, np.nan, w),
        "bool": lambda: rng.random(n) < 0.7,
        "float32": lambda: (w + 0.5).astype(np.float32),
        "equal .5": lambda: np.full(n, 0.5),
        "all zero": lambda: np.zeros(n),
        "masked": lambda: np.ma.array(w, mask=rng.random(n) < 0.2),
        "list": lambda: w.tolist(),
    }
    return kind, forms[kind]()


def draw_ids(rng, n, size=6):
    q = np.repeat(np.arange(-(-n // size)), size)[:n]
    kind = draw_kind(
        rng,
        "sorted",
        [
            "none",
            "sorted",
            "sorted",
            "shuffled",
            "words",
            "beyond 2**53",
            "rows",
            "constant",
            "scalar",
            "missing",
            "sizes",
            "multi",
            "category",
            "float",
            "bool",
            "date",
            "negative",
            "float32",
            "masked",
            "Int64",
        ],
    )
    forms = {
        "none": lambda: None,
        "sorted": lambda: q,
        "shuffled": lambda: rng.permutation(q),
        "words": lambda: np.array([f"q{i}" for i in q]),
        "beyond 2**53": lambda: q + 2.0**53,
        "rows": lambda: np.arange(n),
        "constant": lambda: np.zeros(n, int),
        "scalar": lambda: 0,
        "missing": lambda: np.where(rng.random(n) < 0.1, np.nan, q),
        "sizes": lambda: np.bincount(q),
        "multi": lambda: pd.MultiIndex.from_arrays([q, q % 2]),
        "category": lambda: pd.Series(q).astype("category"),
        "float": lambda: q + 0.5,
        "bool": lambda: q % 2 == 0,
        "date": lambda: np.datetime64("2026-01-01") + q,
        "negative": lambda: -q,
        "float32": lambda: (q + 2.0**24).astype(np.float32),
        "masked": lambda: np.ma.array(q, mask=rng.random(n) < 0.1),
        "Int64": lambda: pd.Series(q, dtype="Int64"),
    }
    return kind, forms[kind]()


def draw_rows(rng, n, d):
    X = rng.normal(size=(n, d))
    kind = draw_kind(
        rng,
        "normal",
        [
            "normal",
            "normal",
            "scales",
            "epoch",
            "constant",
            "outlier",
            "csr",
            "csc",
            "float32",
            "int",
            "frame",
            "zero",
            "nan",
            "duplicate",
            "tiny",
            "huge",
            "fortran",
            "int64 csr",
        ],
    )
    forms = {
        "scales": lambda: X * 10.0 ** rng.integers(-9, 10, d),
        "epoch": lambda: np.c_[X[:, 1:], 1.7e9 + 3e6 * X[:, 0]],
        "constant": lambda: np.c_[X[:, 1:], np.full(n, 7.0)],
        "outlier": lambda: np.vstack([X[1:], np.full((1, d), 1e8)]),
        "csr": lambda: sp.csr_matrix(X * (X > 0)),
        "csc": lambda: sp.csc_array(X * (X > 0)),
        "float32": lambda: X.astype(np.float32),
        "int": lambda: np.round(3 * X).astype(int),
        "frame": lambda: pd.DataFrame(X, columns=[f"c{i}" for i in range(d)]),
        "zero": lambda: np.zeros((n, d)),
        "nan": lambda: np.where(rng.random((n, d)) < 0.05, np.nan, X),
        "duplicate": lambda: np.c_[X, X],
        "tiny": lambda: X * 1e-9,
        "huge": lambda: X * 1e9,
        "fortran": lambda: np.asfortranarray(X),
        "int64 csr": lambda: _wide(sp.csr_array(X * (X > 0))),
    }
    return kind, forms.get(kind, lambda: X)()


def _wide(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def close(a, b, rtol=1e-9, atol=1e-12):
    return np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)


def call_metric(rng, told):
    case = catalogue.METRICS[rng.integers(len(catalogue.METRICS))]
    n = int(rng.choice([1, 2, 30, 31, 200]))
    told["labels"], y = draw_labels(rng, n, queries=2 in case.grades)
    told["scores"], s = draw_scores(rng, y, n)
    told["weights"], w = draw_weights(rng, n)
    told["ids"], q = draw_ids(rng, n)
    told["name"] = str(case)
    if case.weights == "none":
        told["weights"], w = "none", None
    more = {} if w is None else {"sample_weight": w}
    if q is not None:
        more["qid"] = q
    if told["labels"] in ("word", "category") and rng.random() < 0.8:
        more["pos_label"] = "fraud"
    value = case(y, s, **more)
    if not (np.isnan(value) or np.isfinite(value)):
        raise Wrong(f"value {value}")
    # Rows without weight are absent.
    if told["weights"] != "zeros" and any(_has_gaps(part) for part in (y, s, w)):
        raise Wrong(f"missing values were accepted, value {value}")
    order = rng.permutation(n)
    moved = {k: v if np.ndim(v) == 0 else _take(v, order) for k, v in more.items()}
    if not close(value, case(_take(y, order), _take(s, order), **moved), 1e-7):
        raise Wrong("depends on the order of rows")
    if told["scores"] in ("normal", "ties", "float32", "series") and not close(
        value, case(y, np.asarray(s) * 4, **more), 1e-7
    ):
        raise Wrong("depends on the scale of the scores")
    if told["ids"] in ("sorted", "shuffled", "words"):
        renamed = {**more, "qid": np.array([hash(str(i)) % 99991 for i in np.asarray(q)])}
        if len(set(renamed["qid"])) == len(set(np.asarray(q).tolist())) and not close(
            value, case(y, s, **renamed), 1e-7
        ):
            raise Wrong("depends on the names of ids")
    if told["weights"] == "sum to 1" and case.weights != "none" and n > 1:
        scaled = case(y, s, **{**more, "sample_weight": w * 64})
        if not close(value, scaled, 1e-6):
            raise Wrong(f"depends on the scale of weights: {value} and {scaled}")
    if told["weights"] in ("counts", "inverse", "zeros") and n > 1:
        repeated = {
            k: v if np.ndim(v) == 0 else np.repeat(np.asarray(v), np.asarray(w))
            for k, v in more.items()
            if k != "sample_weight"
        }
        y2, s2 = np.repeat(np.asarray(y), w), np.repeat(np.asarray(s), w)
        if len(y2) and not close(value, case(y2, s2, **repeated), 1e-6):
            raise Wrong("weights are not repetitions")


def _has_gaps(values):
    if values is None:
        return False
    return np.ma.is_masked(values) or bool(
        np.any(
            pd.isna(
                np.ma.getdata(values) if np.ma.isMA(values) else np.asarray(values, dtype=object)
            )
        )
    )


def _take(v, order):
    return (
        v.iloc[order]
        if hasattr(v, "iloc")
        else [v[i] for i in order]
        if isinstance(v, list)
        else v[order]
    )


MEASURES = [
    "auc",
    "gini",
    "ap",
    "ndcg@10",
    "ndcg",
    "dcg@5",
    "precision@5",
    "recall@10",
    "err@10",
    "rr",
    "rbp@0.8",
    "auc",
    "local_auc@0.8",
    "pnorm@4",
    "bedroc@20",
    "precision@top0.05",
    "pos@top",
    "spearman",
    "tau_b",
    "partial_auc@fpr0.1",
    "tpr@fpr0.1",
    "fpr@tpr0.9",
    "enrichment@0.1",
    "lift@0.1",
    "rie@20",
    "success@3",
    "f1@5",
]


def call_inference(rng, told):
    n = int(rng.choice([5, 40, 200]))
    told["labels"], y = draw_labels(rng, n)
    told["scores"], s = draw_scores(rng, y, n)
    told["ids"], q = draw_ids(rng, n)
    told["weights"], w = draw_weights(rng, n)
    measure = told["name"] = str(rng.choice(MEASURES))
    more = {"random_state": 0, "n_resamples": 199}
    if rng.random() < 0.4 and q is not None:
        more["qid"] = q
    elif rng.random() < 0.3 and q is not None:
        more["groups"] = q
    if w is not None:
        more["sample_weight"] = w
        kind = rng.choice(["frequency", "sampling", None])
        if kind is not None:
            more["weights"] = told["kind"] = str(kind)
    if told["labels"] in ("word", "category"):
        more["pos_label"] = "fraud"
    level = more["level"] = float(rng.choice([0.95] * 20 + [0.5, 0.999, 5e-324, 1 - 1e-16]))
    if rng.random() < 0.6:
        told["door"] = "metric_interval"
        found = inference.metric_interval(measure, y, s, **more)
        if told["weights"] not in ("none",) and told.get("kind") is None:
            raise Wrong("weights of no kind were taken")
        if not np.isnan(found.estimate) and not found.low <= found.estimate <= found.high:
            raise Wrong(f"{found}")
        if found.low == found.high and level > 0.4:
            raise Wrong(f"certain: {found}")
        text = str(found)
    else:
        told["door"] = "compare"
        b = np.asarray(draw_scores(rng, y, n)[1])
        found = inference.compare(measure, y, {"a": s, "b": b}, **more)
        if told["weights"] not in ("none",) and told.get("kind") is None:
            raise Wrong("weights of no kind were taken")
        if not np.all((np.array(found.pvalues) >= 0) & (np.array(found.pvalues) <= 1)):
            raise Wrong(f"p-values {found.pvalues}")
        text = str(found)
    if "-0.0000" in text.replace("-0.0000,", "-0.0000 ").replace("e-", "") and "-0.0000 " in text:
        raise Wrong(f"negative zero: {text}")


def all_rankers():
    base = [*catalogue.BIPARTITE_RANKERS, *catalogue.QUERY_RANKERS]
    return [
        *base,
        sr.TopFocusedRanker(LogisticRegression(), tau=0.1),
        sr.OrderPreservingRankerCV([0.1, 10.0], cv=3),
        sr.RankEnsemble([("a", sr.OrderPreservingRanker(alpha=1.0)), ("b", sr.RankSVM())]),
    ]


RANKERS = all_rankers()


def call_fit(rng, told):
    ranker = clone(RANKERS[rng.integers(len(RANKERS))])
    told["name"] = repr(ranker).replace("\n", " ")[:90]
    query = not hasattr(ranker, "pos_label")
    n, d = int(rng.choice([24, 60, 150])), int(rng.choice([1, 3, 8]))
    told["rows"], X = draw_rows(rng, n, d)
    told["labels"], y = draw_labels(rng, n, queries=query)
    told["weights"], w = draw_weights(rng, n)
    more = {} if w is None else {"sample_weight": w}
    if query:
        told["ids"], q = draw_ids(rng, n)
        if q is not None:
            more["qid"] = q
    elif told["labels"] in ("word", "category"):
        ranker.set_params(pos_label="fraud")
    before = _copy(X), _copy(y), _copy(w)
    if "C" in ranker.get_params() and rng.random() < 0.1:
        ranker.set_params(C=float(rng.choice([1e308, 5e-324, 1e-12, 1e12])))
    with warnings.catch_warnings(record=True) as told_warnings:
        warnings.simplefilter("always")
        try:
            ranker.fit(X, y, **more)
        except Exception:
            if any(name.endswith("_") and not name.startswith("_") for name in vars(ranker)):
                raise Wrong("half-fitted after an error") from None
            raise
    for w_ in told_warnings:
        if issubclass(w_.category, RuntimeWarning):
            warnings.warn_explicit(w_.message, w_.category, w_.filename, w_.lineno)
    for a, b in zip(before, (X, y, w), strict=True):
        if not _same(a, b):
            raise Wrong("an input was changed")
    if told["labels"] in ("nan", "none", "NA") and pd.isna(np.asarray(y, object)).any():
        raise Wrong("missing labels were accepted")
    if np.ma.is_masked(y) or np.ma.is_masked(w):
        raise Wrong("a mask was ignored")
    values = ranker.decision_function(X)
    if not np.all(np.isfinite(values)):
        raise Wrong("scores are not finite")
    gap = getattr(ranker, "dual_gap_", None)
    if (
        getattr(ranker, "converged_", False)
        and gap is not None
        and not np.all(np.asarray(gap) <= 0.1)
    ):
        raise Wrong(f"converged with gap {gap}")
    low, objective = getattr(ranker, "lower_bound_", None), getattr(ranker, "objective_", None)
    if (
        getattr(ranker, "converged_", False)
        and "AccuracyAtTop" not in told["name"]
        and None not in (low, objective)
        and np.isscalar(low)
        and objective - low > 0.02 * abs(objective) + 1e-9
    ):
        raise Wrong(f"converged between {low} and {objective}")
    if (
        getattr(ranker, "converged_", True) is False
        and "RankBoost" not in told["name"]
        and not any(issubclass(w_.category, ConvergenceWarning) for w_ in told_warnings)
    ):
        raise Wrong("not converged, and no warning")
    if (
        told["rows"] in ("scales", "epoch")
        and hasattr(ranker, "coef_")
        and "RankBoost" not in told["name"]  # it has no penalty
        and not told_warnings
        and np.ptp(np.log10(X.std(axis=0))) > 6.2
    ):
        raise Wrong("no warning of the scales")
    if not query and ranker.rank(X)[ranker.top(X, 1)[0]] > ranker.rank(X).min():
        raise Wrong("top(X, 1) is not first")
    if query and told["ids"] == "beyond 2**53":
        raise Wrong("float ids beyond 2**53 were accepted")


def _copy(v):
    return v.copy() if hasattr(v, "copy") else v


def _same(a, b):
    if a is None:
        return b is None
    if sp.issparse(a):
        return all(
            np.array_equal(getattr(a, k), getattr(b, k)) for k in ("data", "indices", "indptr")
        )
    if isinstance(a, pd.DataFrame | pd.Series):
        return a.equals(b)
    if isinstance(a, np.ma.MaskedArray):
        return np.array_equal(a.data, b.data) and np.array_equal(a.mask, b.mask)
    try:
        return np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)
    except TypeError:
        return list(a) == list(b) or all(x is z or x == z for x, z in zip(a, b, strict=True))


def call_threshold(rng, told):
    """The share of new rows that predict flags is the share that is meant."""
    ranker = clone(catalogue.BIPARTITE_RANKERS[rng.integers(len(catalogue.BIPARTITE_RANKERS))])
    told["name"] = repr(ranker).replace("\n", " ")[:90]
    n, d, m = 300, int(rng.choice([2, 10, 60])), 3000
    # The rows of a kernel have a unit of their own.
    units = [1.0] if getattr(ranker, "kernel", "linear") != "linear" else [1.0, 1e-6, 1e6]
    told["scale"] = scale = float(rng.choice(units))
    told["d"] = d
    beta = rng.normal(size=d) / np.sqrt(d)
    X = rng.normal(size=(n + m, d))
    told["values"] = values = int(rng.choice([0, 0, 2, 5]))
    if values:  # flags or grades, of which rows recur
        X = np.digitize(X, np.linspace(-1, 1, values + 1)[1:-1]).astype(float)
        X -= X.mean()
    y = (X @ beta + rng.normal(size=n + m) > 0.8).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category in ("ZeroSolutionWarning", "ThresholdWarning"):
            warnings.simplefilter("error", getattr(sr.exceptions, category))
        ranker.fit(scale * X[:n], y[:n])
        predicted = ranker.predict(scale * X[n:]) == 1
        scores = ranker.decision_function(scale * X[n:])
    flagged = float(np.mean(predicted))
    # Rows that tie, but for rounding, are flagged together.
    tie = 1e-6 * np.ptp(scores)
    last = np.mean(scores <= scores[predicted].min() + tie) - 1 + flagged if flagged > 0 else 0.0
    tied = np.mean(scores >= scores[~predicted].max() - tie) - flagged if flagged < 1 else 0.0
    meant = getattr(ranker, "tau", None)
    meant = float(y[:n].mean()) if meant is None else meant
    measure = str(getattr(ranker, "measure", ""))
    if "@" in measure:  # the top of the measure, a share or a number of rows
        size = float(measure.partition("@")[2].removeprefix("top"))
        meant = size if size < 1 else size / n
    told["flagged"], told["meant"] = round(flagged, 3), round(meant, 3)
    noise = 5 * np.sqrt(meant * (1 - meant) * (1 / n + 1 / m))
    if not flagged - last - noise <= meant <= flagged + tied + noise:
        raise Wrong(f"predict flags {flagged:.3f} of new rows for {meant:.3f}")


def call_search(rng, told):
    n = 60
    told["labels"], y = draw_labels(rng, n, queries=True)
    told["ids"], q = draw_ids(rng, n)
    told["routing"] = routing = bool(rng.random() < 0.5)
    name = told["name"] = str(rng.choice(["ndcg@5", "auc", "precision@5", "ap", "ndcg"]))
    ranker = sr.OrderPreservingRanker(alpha=1.0) if rng.random() < 0.6 else LogisticRegression()
    told["estimator"] = type(ranker).__name__
    if told["estimator"] == "LogisticRegression" and told["labels"] in ("nan", "none", "NA"):
        return  # the message is scikit-learn's
    X = rng.normal(size=(n, 3))
    from sklearn import config_context

    with (
        config_context(enable_metadata_routing=routing),
        warnings.catch_warnings(record=True) as told_warnings,
    ):
        warnings.simplefilter("always")
        scorer = metrics.get_scorer(
            name, **({"pos_label": "fraud"} if told["labels"] in ("word", "category") else {})
        )
        grid = {"alpha": [0.1, 1.0]} if hasattr(ranker, "alpha") else {"C": [0.1, 1.0]}
        search = GridSearchCV(ranker, grid, scoring=scorer, cv=3)
        search.fit(X, y, **({} if q is None else {"groups": q}))
    if hasattr(ranker, "alpha") and not told_warnings and told["ids"] != "scalar":
        raise Wrong("a search of a query ranker by KFold said nothing")
    if np.isnan(search.best_score_) and not told_warnings:
        raise Wrong("NaN without a word")


def call_bound(rng, told):
    name = told["name"] = str(
        rng.choice(
            [
                "auc_bound",
                "auc_sample_size_bound",
                "auc_deviation_bound",
                "auc_variance_bound",
                "pooled_distribution_bound",
            ]
        )
    )
    odd = [
        0,
        1,
        2,
        5,
        30,
        300,
        10**6,
        2**60,
        -1,
        2.5,
        "7",
        None,
        np.nan,
        np.inf,
        True,
        np.int32(9),
        1e308,
        5e-324,
    ]

    def pick(good):
        return good if rng.random() < 0.8 else odd[rng.integers(len(odd))]

    delta = pick(float(rng.uniform(0.001, 0.5)))
    n_pos, n_neg = pick(int(rng.integers(1, 200))), pick(int(rng.integers(1, 2000)))
    auc = pick(float(rng.uniform(0.3, 1)))
    told["arguments"] = repr((delta, n_pos, n_neg, auc))
    if name == "auc_bound":
        found = bounds.auc_bound(n_pos, n_neg, delta, auc=auc)
        if 1e-4 < delta < 0.4 and bounds.auc_bound(
            n_pos, n_neg, delta * 1.05, auc=auc
        ).value > found.value * (1 + 1e-12):
            raise Wrong("rises with delta")
    elif name == "auc_sample_size_bound":
        found = bounds.auc_sample_size_bound(pick(0.1), delta, pick(0.2))
    elif name == "auc_deviation_bound":
        found = bounds.auc_deviation_bound(pick(0.1), n_pos, n_neg)
    elif name == "auc_variance_bound":
        found = bounds.auc_variance_bound(n_pos, n_neg, expected_auc=auc)
    else:
        found = bounds.pooled_distribution_bound(n_pos, delta)
    if not found.value >= 0:
        raise Wrong(f"{found}")


def call_clicks(rng, told):
    n_lists, k = int(rng.choice([1, 3, 40])), 4
    position = np.tile(np.arange(1, k + 1), n_lists)
    qid = np.repeat(np.arange(n_lists), k)
    made = (rng.random(n_lists * k) < rng.choice([0.0, 0.05, 0.5, 1.0])).astype(float)
    told["name"] = "random_order_propensities"
    told["rate"] = float(made.mean())
    found = clicks.random_order_propensities(made, position, qid)
    value, error = np.asarray(found.value), found.standard_error
    sure = (
        (value == 0)
        if error is None
        else (np.asarray(error) == 0) & (np.asarray(position[:k]) != 1)
    )
    if np.any(sure & ~np.isnan(value)):
        raise Wrong(f"certain: {value} +- {error}")


CALLS = {
    "metric": (call_metric, 0.45),
    "inference": (call_inference, 0.2),
    "fit": (call_fit, 0.25),
    "search": (call_search, 0.03),
    "bound": (call_bound, 0.04),
    "clicks": (call_clicks, 0.01),
    "threshold": (call_threshold, 0.02),
}


def outcome(kind, seed):
    """How one call ended, and what it was."""
    told = {}
    with warnings.catch_warnings(record=True) as told_warnings:
        warnings.simplefilter("always")
        try:
            signal.alarm(SECONDS)
            CALLS[kind][0](np.random.default_rng([seed, list(CALLS).index(kind)]), told)
            result, message = "answer", ""
        except TimeoutError:
            result, message = "wrong", f"no end within {SECONDS} s"
        except Wrong as error:
            result, message = "wrong", str(error)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            frames = [f.filename for f in traceback.extract_tb(error.__traceback__)]
            inside = any(part in frames[-1] for part in ("sklearn_rank", "/sklearn/"))
            result = (
                "refusal"
                if isinstance(error, ERRORS) and inside and len(str(error)) > 25
                else "cryptic"
            )
            message = f"{type(error).__name__}: {error}"
        finally:
            signal.alarm(0)
    numpy_warnings = [w for w in told_warnings if issubclass(w.category, RuntimeWarning)]
    if result in ("answer", "refusal") and numpy_warnings:
        first = numpy_warnings[0]
        place = f"{first.filename}:{first.lineno}"
        result, message = "cryptic", f"warning of NumPy: {first.message} ({place})"
    return result, message, told


def _end(signum, frame):
    raise TimeoutError


def main():
    signal.signal(signal.SIGALRM, _end)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", choices=list(CALLS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--replay", nargs=2)
    parser.add_argument("--refusals", action="store_true", help="list the different refusals too")
    args = parser.parse_args()
    if args.replay:
        told = {}
        try:
            CALLS[args.replay[0]][0](
                np.random.default_rng([int(args.replay[1]), list(CALLS).index(args.replay[0])]),
                told,
            )
        finally:
            print(told)
        return
    counts, listed = collections.Counter(), {}
    shares = {k: v[1] for k, v in CALLS.items() if not args.only or k in args.only}
    for kind, share in shares.items():
        for i in range(round(args.calls * share / sum(shares.values()))):
            seed = 1_000_000 * args.seed + i
            result, message, told = outcome(kind, seed)
            counts[kind, result] += 1
            if result in ("wrong", "cryptic") or (args.refusals and result == "refusal"):
                key = (result, kind, "".join(c for c in message if not c.isdigit())[:70])
                listed.setdefault(key, []).append((seed, message, told))
    for kind in shares:
        print(kind, {r: counts[kind, r] for r in ("answer", "refusal", "wrong", "cryptic")})
    for (result, kind, _), cases in sorted(
        listed.items(), key=lambda item: (item[0][0], -len(item[1]))
    ):
        seed, message, told = cases[0]
        print(f"\n{result} x{len(cases)}: --replay {kind} {seed}\n  {message[:300]}\n  {told}")


if __name__ == "__main__":
    main()
