"""Searches, held-out intervals and comparisons and splits."""

from functools import partial

import inputs as i
from metrics_cases import attempts
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import metrics, model_selection
from sklearn_rank.model_selection import BoundSearchCV, QueryKFold
from sklearn_rank.rankers import AccuracyAtTopRanker, OrderPreservingRanker

GRID = {"C": [0.01, 0.1, 1.0, 10.0]}
ALPHAS = {"alpha": [1.0, 0.1, 0.01]}
LISTS = {"qid": i.qid}
ONE_SPLIT = KFold(2, shuffle=True, random_state=0)


def logistic():
    return make_pipeline(StandardScaler(), LogisticRegression())


def searched(make, X, y, **data):
    search = make()
    search.fit(X, y, **data)
    return search, attempt_all(search, X), search.cv_results_


def attempt_all(search, X):
    found = {}
    for method in ("decision_function", "predict", "rank"):
        try:
            found[method] = getattr(search, method)(X)
        except Exception as error:
            found[method] = f"{type(error).__name__}: {error}"
    return found


def search_cases():
    for measure in (
        "auc",
        "ap",
        "ndcg@10",
        "precision@top0.2",
        "local_auc@0.6",
        "spearman",
        "gini",
    ):
        graded = measure in ("ndcg@10", "spearman")
        y = i.grades if graded else i.y
        estimator = Ridge() if graded else LogisticRegression()
        grid = {"alpha": GRID["C"]} if graded else GRID
        for method in ("auto", "kl", "hoeffding", "mcdiarmid", "max-t", "unknown"):
            for cv in (None, ONE_SPLIT):
                make = partial(
                    BoundSearchCV,
                    estimator,
                    grid,
                    measure=measure,
                    method=method,
                    cv=cv,
                    random_state=0,
                )
                name = f"BoundSearchCV {measure}, {method}, {cv}"
                yield name, partial(searched, make, i.X, y)
                yield f"{name}, queries", partial(searched, make, i.X, y, **LISTS)
        for method in ("kl", "hoeffding", "unknown"):
            for parameters in ({}, {"n_candidates": 4}, {"level": 0.8}, {"qid": "qid"}):
                told = {"delta": 0.2} if "level" in parameters else parameters
                yield (
                    f"make_bound_scorer {measure}, {method}, {told}",
                    partial(bound_scored, estimator, y, measure, method=method, **parameters),
                )
        yield (
            f"cross_val_score {measure}",
            partial(
                cross_val_score,
                estimator,
                i.X,
                y,
                scoring=metrics.get_scorer(measure, single_list=True),
            ),
        )
    for rule in ("max_bound", "within_noise", "unknown"):
        for prior in (None, [0.1, 0.2, 0.3, 0.4], [1.0]):
            make = partial(
                BoundSearchCV,
                LogisticRegression(),
                GRID,
                rule=rule,
                prior=prior,
                complexity="C",
                random_state=0,
            )
            yield f"BoundSearchCV {rule}, prior {prior}", partial(searched, make, i.X, i.y)
    make = partial(BoundSearchCV, logistic(), {"logisticregression__C": [0.1, 1]}, random_state=0)
    yield "BoundSearchCV of a pipeline", partial(searched, make, i.X, i.y)
    yield "BoundSearchCV of words", partial(searched, partial(make, pos_label="yes"), i.X, i.words)
    yield "BoundSearchCV without refit", partial(searched, partial(make, refit=False), i.X, i.y)
    make = partial(
        BoundSearchCV, AccuracyAtTopRanker(0.2), GRID, measure="precision@top0.2", random_state=0
    )
    yield "BoundSearchCV of AccuracyAtTopRanker", partial(searched, make, i.X, i.y)
    make = partial(
        BoundSearchCV, OrderPreservingRanker(), ALPHAS, measure="ndcg@10", cv=3, random_state=0
    )
    yield "BoundSearchCV of OrderPreservingRanker", partial(searched, make, i.X, i.grades, **LISTS)
    make = partial(GridSearchCV, OrderPreservingRanker(), ALPHAS, cv=GroupKFold(3))
    yield "GridSearchCV without routing", partial(searched, make, i.X, i.grades, **LISTS)
    make = partial(
        GridSearchCV, LogisticRegression(), GRID, scoring=metrics.get_scorer("local_auc@0.6")
    )
    yield "GridSearchCV", partial(searched, make, i.X, i.y)


def bound_scored(estimator, y, measure, **parameters):
    scorer = model_selection.make_bound_scorer(measure, **parameters)
    estimator.fit(i.X, y)
    lists = LISTS if "qid" in parameters else {}
    return scorer, scorer(estimator, i.X, y, **lists), attempts(scorer, "statement")


def held_out_cases():
    own = {"estimator": LogisticRegression(), "X": i.X, "y": i.y, "random_state": 0}
    lists = {"estimator": OrderPreservingRanker(), "X": i.X, "y": i.grades, **LISTS}
    two = {"a": LogisticRegression(), "b": LogisticRegression(C=0.01), "c": Ridge()}
    rankers = {"a": OrderPreservingRanker(), "b": OrderPreservingRanker("softmax", alpha=1.0)}
    both = {"X": i.X, "y": i.y, "random_state": 0}
    of_lists = {"X": i.X, "y": i.grades, **LISTS, "random_state": 0}
    for name in metrics.get_measure_names():
        for method in ("folds", "632+"):
            more = {"measure": name, "method": method}
            if method != "folds":
                more["cv"] = 20
            yield (
                f"cross_val_interval {name}, {method}",
                partial(model_selection.cross_val_interval, **own, **more),
            )
        yield (
            f"cross_val_interval {name}, queries",
            partial(model_selection.cross_val_interval, **lists, measure=name, cv=3),
        )
        yield (
            f"cross_val_interval {name}, groups",
            partial(model_selection.cross_val_interval, **own, measure=name, groups=i.groups),
        )
        yield (
            f"cross_val_compare {name}",
            partial(model_selection.cross_val_compare, two, **both, measure=name),
        )
        yield (
            f"cross_val_compare {name}, queries",
            partial(model_selection.cross_val_compare, rankers, **of_lists, measure=name, cv=3),
        )
    for parameters in (
        {"baseline": "b"},
        {"margin": 0.1},
        {"groups": i.groups},
        {"level": 0.5},
        {"cv": 3},
    ):
        yield (
            f"cross_val_compare {list(parameters)}",
            partial(model_selection.cross_val_compare, two, **both, measure="auc", **parameters),
        )
    yield from i.refusals(
        "cross_val_interval", model_selection.cross_val_interval, **own, measure="auc"
    )
    yield from i.refusals(
        "cross_val_interval of queries",
        model_selection.cross_val_interval,
        *("X", "y", "qid", "cv", "measure"),
        **lists,
        measure="ndcg@10",
    )
    yield from i.refusals(
        "cross_val_compare",
        model_selection.cross_val_compare,
        estimators=two,
        **both,
        measure="auc",
    )
    yield from i.refusals(
        "BoundSearchCV",
        BoundSearchCV,
        apply=lambda **more: searched(partial(BoundSearchCV, **more), i.X, i.y),
        estimator=LogisticRegression(),
        param_grid=GRID,
        random_state=0,
    )
    yield from i.refusals(
        "BoundSearchCV.fit",
        BoundSearchCV(LogisticRegression()).fit,
        apply=lambda **data: searched(
            partial(BoundSearchCV, LogisticRegression(), GRID, random_state=0), **data
        ),
        X=i.X,
        y=i.y,
    )
    yield from i.refusals("make_bound_scorer", model_selection.make_bound_scorer)


def split_cases():
    data = {"X": i.X, "y": i.grades, "groups": i.qid}
    for splitter in (
        QueryKFold(3),
        QueryKFold(3, random_state=0),
        QueryKFold(3, shuffle=False),
        QueryKFold(3, stratify="length", random_state=0),
        QueryKFold(3, stratify="relevance", random_state=0),
        QueryKFold(100),
    ):
        name = " ".join(repr(splitter).split())
        yield name, lambda cv=splitter: (list(cv.split(**data)), cv.get_n_splits())
        for kind, ids in i.IDS.items():
            yield (
                f"{name} refuses? {kind}",
                lambda cv=splitter, ids=ids: list(cv.split(i.X, i.grades, ids)),
            )
    yield from i.refusals(
        "QueryKFold", QueryKFold, apply=lambda **more: list(QueryKFold(**more).split(**data))
    )
    for parameters in (
        {},
        {"test_size": 0.5},
        {"test_size": 3},
        {"train_size": 4},
        {"stratify": "length"},
        {"stratify": ("length", "relevance")},
        {"test_size": 2.0},
    ):
        yield (
            f"query_train_test_split {list(parameters.items())!s:.40}",
            partial(
                model_selection.query_train_test_split,
                i.X,
                i.grades,
                **LISTS,
                random_state=0,
                **parameters,
            ),
        )
    for kind, ids in i.IDS.items():
        yield (
            f"query_train_test_split refuses? {kind}",
            partial(model_selection.query_train_test_split, i.X, qid=ids, random_state=0),
        )


def cases():
    """Names and calls."""
    for group in (search_cases, held_out_cases, split_cases):
        for name, call in group():
            yield f"searches {name}", call
