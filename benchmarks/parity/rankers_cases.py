"""Fits of all rankers on all storages: attributes, scores and ranks, and what they refuse."""

import inspect
import pickle
import warnings
from functools import partial

import inputs as i
import numpy as np
import pandas as pd
from lightgbm import LGBMRanker
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklearn_rank import losses, rankers
from sklearn_rank.rankers import (
    AccuracyAtTopRanker,
    AccuracyAtTopRankerCV,
    GroupRankerAdapter,
    OrderPreservingLabelRanker,
    OrderPreservingRanker,
    PNormPushRanker,
    RankBoostRanker,
    RankEnsemble,
    RankStatisticRanker,
    TopFocusedRanker,
    TopPushRanker,
)

OF_CLASSES = {
    "AccuracyAtTopRanker": AccuracyAtTopRanker(tau=0.2),
    "AccuracyAtTopRanker closest": AccuracyAtTopRanker(tau=0.2, selection="closest", C=0.01),
    "AccuracyAtTopRanker pairs": AccuracyAtTopRanker(
        tau=0.2, class_weight="pairs", quantile="pairs", C=0.01
    ),
    "AccuracyAtTopRanker objective": AccuracyAtTopRanker(
        tau=0.2, selection="objective", class_weight=None
    ),
    "AccuracyAtTopRanker refine": AccuracyAtTopRanker(tau=0.2, selection="refine"),
    "AccuracyAtTopRanker rbf": AccuracyAtTopRanker(tau=0.2, kernel="rbf"),
    "AccuracyAtTopRanker poly": AccuracyAtTopRanker(
        tau=0.2, kernel="poly", kernel_params={"degree": 2}
    ),
    "AccuracyAtTopRankerCV": AccuracyAtTopRankerCV(tau=0.2, param_grid={"C": [0.01, 1.0]}, cv=3),
    "PNormPushRanker": PNormPushRanker(C=100.0),
    "PNormPushRanker rbf": PNormPushRanker(p=2.5, loss="logistic", kernel="rbf", C=100.0),
    "RankBoostRanker": RankBoostRanker(10),
    "RankBoostRanker linear": RankBoostRanker(20, weak_ranker="linear"),
    "RankBoostRanker tree": RankBoostRanker(
        5, weak_ranker=DecisionTreeClassifier(max_depth=2), random_state=0
    ),
    "TopPushRanker": TopPushRanker(0.8, C=10.0),
    "RankStatisticRanker": RankStatisticRanker(n_init=2, random_state=0),
    "RankStatisticRanker rbf": RankStatisticRanker("bedroc@20", kernel="rbf", n_folds=2),
    "TopFocusedRanker": TopFocusedRanker(LogisticRegression(), tau=0.2, cv=3),
    "TopFocusedRanker default": TopFocusedRanker(tau=0.2),
}
HINGE = OrderPreservingRanker("comparison_hinge", alpha=1.0, tol=1e-4, max_iter=1000)
OF_QUERIES = {
    "OrderPreservingRanker": OrderPreservingRanker(),
    **{
        f"OrderPreservingRanker {loss}": OrderPreservingRanker(loss, alpha=0.1)
        for loss in losses.get_loss_names()
    },
    "OrderPreservingRanker dcg": OrderPreservingRanker(
        "pointwise_squared", measure="dcg@3", alpha=0.1
    ),
    "OrderPreservingRanker spearman": OrderPreservingRanker(
        "pairwise_squared", measure="spearman"
    ),
    "OrderPreservingRanker lbfgs": OrderPreservingRanker(
        losses.ListwiseSoftmax(), measure="ndcg@5", solver="lbfgs"
    ),
    "OrderPreservingRanker zscore": OrderPreservingRanker(normalize="zscore", fit_intercept=False),
    "RankSVM": HINGE,
    "RankSVM squared_hinge": OrderPreservingRanker(
        "comparison_squared_hinge", measure="dcg", alpha=10.0, tol=1e-8, max_iter=1000
    ),
    "RankEnsemble": RankEnsemble([("a", OrderPreservingRanker()), ("b", HINGE)], cv=3),
    "RankEnsemble tuned": RankEnsemble(
        [("a", OrderPreservingRanker()), ("b", HINGE)], weights="tuned", cv=3
    ),
    "GroupRankerAdapter": GroupRankerAdapter(
        LGBMRanker(n_estimators=5, min_child_samples=3, n_jobs=1, verbose=-1)
    ),
}
OF_LABELS = {
    "OrderPreservingLabelRanker": OrderPreservingLabelRanker(),
    "OrderPreservingLabelRanker pairs": OrderPreservingLabelRanker(
        "pairwise_logistic", alpha="0.1*scale"
    ),
    "OrderPreservingLabelRanker squared": OrderPreservingLabelRanker(
        "pointwise_squared", measure="spearman", fit_intercept=False
    ),
    "OrderPreservingLabelRanker softmax": OrderPreservingLabelRanker(
        "softmax", measure="ndcg@2", alpha=0.01
    ),
    "OrderPreservingLabelRanker lbfgs": OrderPreservingLabelRanker(
        "pairwise_squared", solver="lbfgs"
    ),
}
ORDERS = i.X + i.rng.normal(size=i.X.shape)  # utilities
DATA = [
    (OF_CLASSES, {"y": i.y}),
    (OF_QUERIES, {"y": i.grades, "qid": i.qid}),
    (OF_LABELS, {"y": ORDERS}),
]
FRAME = pd.DataFrame(i.X, columns=[f"column {j}" for j in range(i.d)])
STORAGES = {
    "float32": i.X.astype(np.float32),
    "Fortran": np.asfortranarray(i.X),
    "csr": sparse.csr_array(i.X * (i.X > 0)),
    "csc": sparse.csc_matrix(i.X * (i.X > 0)),
    "frame": FRAME,
    "list": i.X.tolist(),
}


def used(ranker, X, data, **more):
    """All that a fitted ranker returns."""
    ranker = clone(ranker).fit(X, **data, **more)
    told = {"fitted": ranker}
    lists = {"qid": data["qid"]} if "qid" in data else {}
    for method in ("decision_function", "predict", "predict_proba", "rank", "top"):
        if hasattr(ranker, method):
            keywords = lists if method == "rank" else {}
            told[method] = attempt(getattr(ranker, method), X, **keywords)
    told["score"] = attempt(ranker.score, X, **data)
    for method in ("staged_decision_function", "staged_predict"):
        if hasattr(ranker, method):
            told[method] = list(getattr(ranker, method)(X))
    told["pickled"] = attempt(pickle.loads(pickle.dumps(ranker)).predict, X)
    return told


def attempt(function, *arguments, **keywords):
    """What a function returns or raises."""
    try:
        return function(*arguments, **keywords)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def fit_cases():
    for models, data in DATA:
        for name, ranker in models.items():
            yield f"rankers {name}", partial(used, ranker, i.X, data)
            for storage, X in STORAGES.items():
                yield f"rankers {name}, {storage}", partial(used, ranker, X, data)
            for kind, values in {"counts": i.counts, "weights": i.weights}.items():
                call = partial(used, ranker, i.X, data, sample_weight=values)
                yield f"rankers {name}, {kind}", call
            call = partial(used, ranker, np.round(i.X), data)
            yield f"rankers {name}, repeated rows", call
            if models is OF_CLASSES:
                words = clone(ranker).set_params(pos_label="yes")
                yield f"rankers {name}, words", partial(used, words, i.X, {"y": i.words})
            if models is OF_QUERIES:
                call = partial(used, ranker, i.X, data, query_weight=i.query_weight)
                yield f"rankers {name}, query weights", call
                order = i.shuffled
                call = partial(
                    used, ranker, i.X[order], {"y": i.grades[order], "qid": i.words_of_ids[order]}
                )
                yield f"rankers {name}, shuffled words", call
            yield f"rankers {name}, unfitted", partial(clone(ranker).predict, i.X)
            yield f"rankers {name}, other features", partial(after_fit, ranker, data, i.X[:, :2])
            yield f"rankers {name}, no names", partial(after_fit, ranker, data, i.X, FRAME)
            if hasattr(ranker, "verbose"):
                yield f"rankers {name}, printed", partial(printed, ranker, data)


def after_fit(ranker, data, X, trained_on=i.X):
    return clone(ranker).fit(trained_on, **data).predict(X)


def printed(ranker, data):
    clone(ranker).set_params(verbose=1).fit(i.X, **data)


def refusal_cases():
    """One bad value of each parameter, and of each argument of fit and score."""
    for models, data in DATA:
        simplest = {type(ranker): ranker for ranker in reversed(models.values())}
        for kind, ranker in simplest.items():
            name = kind.__name__
            for parameter, value in inspect.signature(kind).parameters.items():
                for bad, wrong in i.bad_values(parameter, value.default).items():
                    call = partial(fitted_with, ranker, {parameter: wrong}, data)
                    yield f"rankers {name} refuses? {parameter}: {bad}", call
            for method in ("fit", "score"):
                yield from i.refusals(
                    f"rankers {name}.{method}",
                    getattr(kind, method),
                    *({"X", "y", "qid", "sample_weight", "query_weight", "propensity"}),
                    apply=partial(called, ranker, method, data),
                    X=i.X,
                    **data,
                )


def fitted_with(ranker, parameters, data):
    return used(clone(ranker).set_params(**parameters), i.X, data)


def called(ranker, method, data, **arguments):
    if method == "score":
        return fitted(ranker, data).score(**arguments)
    return clone(ranker).fit(**arguments).decision_function(i.X)


FITTED = {}


def fitted(ranker, data):
    """The ranker, fitted once, without its warnings."""
    if ranker not in FITTED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            FITTED[ranker] = clone(ranker).fit(i.X, **data)
    return FITTED[ranker]


def other_cases():
    data = {"y": i.grades, "qid": i.qid}

    def warm(ranker, X, **data):
        ranker = clone(ranker).set_params(warm_start=True).fit(X, **data)
        return used(ranker.set_params(max_iter=50), X, data), ranker.fit(X, **data)

    for name in ("OrderPreservingRanker", "RankSVM"):
        yield f"rankers {name}, warm start", partial(warm, OF_QUERIES[name], i.X, **data)
    yield (
        "rankers OrderPreservingRanker.partial_fit",
        lambda: (
            OrderPreservingRanker()
            .partial_fit(i.X[:30], i.grades[:30], qid=i.qid[:30])
            .partial_fit(i.X[30:], i.grades[30:], qid=i.qid[30:])
        ),
    )
    yield (
        "rankers OrderPreservingRanker, propensity",
        partial(
            used, OrderPreservingRanker(), i.X, {**data, "y": i.y}, propensity=1 / (1 + i.weights)
        ),
    )
    yield (
        "rankers OrderPreservingRanker, one list",
        partial(used, OrderPreservingRanker(single_list=True), i.X, {"y": i.grades}),
    )
    yield (
        "rankers OrderPreservingRanker, no qid",
        partial(used, OrderPreservingRanker(), i.X, {"y": i.grades}),
    )
    yield (
        "rankers OrderPreservingRanker, zero weights",
        partial(used, OrderPreservingRanker(), i.X, data, sample_weight=(i.qid > 3).astype(int)),
    )
    yield (
        "rankers OrderPreservingRanker, seen queries",
        lambda: OrderPreservingRanker().fit(i.X, **data).score(i.X, i.grades, qid=i.qid),
    )
    yield (
        "rankers OrderPreservingRanker, few iterations",
        partial(used, OrderPreservingRanker(max_iter=1), i.X, data),
    )
    yield (
        "rankers OrderPreservingRanker, scales",
        partial(used, OrderPreservingRanker(), i.X * [1e-6, 1, 1e6, 1], data),
    )
    yield (
        "rankers RankSVM, few iterations",
        partial(used, clone(HINGE).set_params(max_iter=1), i.X, data),
    )
    yield (
        "rankers GroupRankerAdapter, boosting",
        partial(used, GroupRankerAdapter(HistGradientBoostingRegressor(max_iter=5)), i.X, data),
    )
    yield (
        "rankers LabelRanker, missing",
        partial(
            used, OrderPreservingLabelRanker(), i.X, {"y": np.where(ORDERS > 1, np.nan, ORDERS)}
        ),
    )
    for kernel in ("linear", "rbf", "poly", "sigmoid", "laplacian", "cosine"):
        for kind in (AccuracyAtTopRanker, PNormPushRanker):
            yield (
                f"rankers {kind.__name__}, {kernel} kernel",
                partial(used, kind(kernel=kernel), i.X, {"y": i.y}),
            )
    for selection in ("average", "closest", "objective", "refine"):
        for quantile in ("sample", "pairs", "negatives"):
            for weight in ("balanced", "pairs", None):
                ranker = AccuracyAtTopRanker(
                    0.1, selection=selection, quantile=quantile, class_weight=weight, C=0.1
                )
                name = f"rankers AccuracyAtTopRanker {selection}, {quantile}, {weight}"
                yield name, partial(used, ranker, i.X, {"y": i.y})
    for rule in ("best", "one_se", "unknown"):
        ranker = AccuracyAtTopRankerCV(
            0.2, param_grid={"C": [0.01, 1.0], "tau": [0.1, 0.2]}, cv=3, rule=rule
        )
        yield f"rankers AccuracyAtTopRankerCV {rule}", partial(used, ranker, i.X, {"y": i.y})
    yield (
        "rankers AccuracyAtTopRanker.margin_bound",
        lambda: AccuracyAtTopRanker(0.2).fit(i.X, i.y).margin_bound(i.X, i.y),
    )
    yield (
        "rankers AccuracyAtTopRanker, few iterations",
        partial(used, AccuracyAtTopRanker(0.2, max_iter=1, tol=1e-12), i.X, {"y": i.y}),
    )
    yield (
        "rankers AccuracyAtTopRanker, small top",
        partial(used, AccuracyAtTopRanker(0.001), i.X, {"y": i.y}),
    )
    yield (
        "rankers AccuracyAtTopRanker, cvxpy",
        partial(used, AccuracyAtTopRanker(0.2, solver="cvxpy"), i.X[:30], {"y": i.y[:30]}),
    )
    for name in rankers.__all__:
        kind = getattr(rankers, name)
        yield f"rankers {name}()", partial(described, kind)


def described(kind):
    ranker = kind()
    tags = ranker.__sklearn_tags__()
    return ranker, repr(ranker.get_params()), repr(tags), str(ranker.get_metadata_routing())


def cases():
    """Names and calls."""
    yield from fit_cases()
    yield from refusal_cases()
    yield from other_cases()
