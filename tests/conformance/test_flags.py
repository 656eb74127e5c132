"""Arguments that are True or False: whatever else is taken for one of them would be the wrong one.

"False" is true. A new flag is found here by its default; what it needs is a call.
"""

import importlib
import inspect
import warnings
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

import sklearn_rank
from sklearn_rank import (
    bounds,
    datasets,
    inference,
    metrics,
    model_selection,
    plotting,
    preprocessing,
)
from tests.naming import for_each

from .test_estimators import FOR_CHECKS
from .test_inputs import OTHERS

WRONG = ["False", 1, np.array([True, False])]

# What a search or a comparison found: fields of records, which users read and do not pass.
RECORDS = {"CalibrationCheck", "Propensities", "SelectionReport"}
# Of scikit-learn's own making.
INHERITED = {"get_params", "set_params"}

X = np.random.default_rng(0).normal(size=(40, 2))
y = (X[:, 0] > 0).astype(int)
PROB = 1 / (1 + np.exp(-X[:, 0]))
qid = np.repeat(np.arange(8), 5)
LISTS = metrics.get_measure("ndcg").lists(y, X[:, 0], qid=qid)


def of_metric(function):
    """A call of a metric function on one list, for its flags."""
    known = OTHERS | {"alpha": 2.0, "persistence": 0.5, "weights": np.ones(40)}
    return partial(
        function,
        y,
        X[:, 0],
        **{
            name: known[name]
            for name, one in inspect.signature(function).parameters.items()
            if one.default is inspect.Parameter.empty and one.kind is one.KEYWORD_ONLY
        },
    )


def of_estimator(kind):
    """A fit, since estimators check their parameters there."""

    def call(**flag):
        if issubclass(kind, model_selection.BoundSearchCV):
            return kind(LogisticRegression(), {}, **flag).fit(X, y)
        return kind(**FOR_CHECKS.get(kind.__name__, {}), **flag).fit(X, y)

    return call


MARGINS = {"radius": 9.0, "norm": 1.0, "rho": 1.0}
NDCG, LIFT = metrics.get_measure("ndcg"), inference.curve("lift", y, PROB, at=[0.3, 0.6])
FITS = [LogisticRegression(), LogisticRegression(C=0.1)]
CALLS = {
    datasets.load_letor: lambda **flag: datasets.load_letor(BytesIO(b"1 qid:1 1:2\n"), **flag),
    datasets.letor_to_parquet: lambda **flag: as_parquet(b"1 qid:1 1:2\n", **flag),
    metrics.Measure.of_lists: partial(NDCG.of_lists, LISTS),
    metrics.Measure.__call__: partial(NDCG, y, X[:, 0], qid=qid),
    metrics.Measure.influence: partial(metrics.get_measure("auc").influence, y > 0, X[:, 0]),
    plotting.CurveDisplay.from_result: partial(plotting.CurveDisplay.from_result, LIFT),
    plotting.CurveDisplay.plot: plotting.CurveDisplay(LIFT).plot,
}
CALLS |= {
    call.func: call
    for call in (
        partial(bounds.accuracy_at_top_margin_bound, [0.5], [0.5], 0.1, **MARGINS),
        partial(bounds.auc_margin_bound, [0.5], [0.5], 0.1, **MARGINS),
        partial(datasets.load_qrels, {"q": {"d": 1}}),
        partial(datasets.make_bipartite_ranking, 4),
        partial(datasets.make_label_ranking, 4),
        partial(datasets.make_subset_ranking, 4),
        partial(metrics.get_scorer, "ndcg"),
        partial(metrics.net_benefit, y, PROB, threshold=0.5),
        partial(metrics.make_measure, lambda y, s: 0.0),
        partial(preprocessing.label_grades, ["a>b"]),
        partial(model_selection.cross_val_compare, FITS, X, y > 0, measure="auc"),
        partial(model_selection.cross_val_interval, FITS[0], X, y > 0, measure="auc"),
    )
}


def as_parquet(text, **flag):
    """Lines written as Parquet, and removed."""
    with TemporaryDirectory() as folder:
        lines = Path(folder) / "lines.txt"
        lines.write_bytes(text)
        datasets.letor_to_parquet(lines, Path(folder) / "rows", **flag)


def flags_of(thing):
    """Names of the parameters whose default is True or False, and of those that may be None."""
    return [
        name
        for name, one in inspect.signature(thing).parameters.items()
        if isinstance(one.default, bool) or str(one.annotation) == "bool | None"
    ]


def callables():
    """Every public function, class and method, outside of inference."""
    for room in ["sklearn_rank", *(f"sklearn_rank.{name}" for name in sklearn_rank.__all__)]:
        try:
            module = importlib.import_module(room)
        except ModuleNotFoundError:
            continue
        for name in module.__all__:
            thing = getattr(module, name)
            if getattr(inference, name, None) is thing or name in RECORDS:
                continue
            if inspect.isfunction(thing):
                yield thing
            elif inspect.isclass(thing):
                yield thing
                for attribute, method in vars(thing).items():
                    public = not attribute.startswith("_") or attribute == "__call__"
                    if inspect.isfunction(method) and public and attribute not in INHERITED:
                        yield method


def cases():
    found = {}
    for thing in callables():
        try:
            flags = flags_of(thing)
        except (TypeError, ValueError):
            continue
        for flag in flags:
            found[f"{thing.__qualname__}-{flag}"] = (thing, flag)
    return found


CASES = cases()


def call_of(thing):
    if thing in CALLS:
        return CALLS[thing]
    if inspect.isclass(thing) and issubclass(thing, BaseEstimator):
        return of_estimator(thing)
    if getattr(thing, "__name__", "").endswith(("_score", "_loss")):
        return of_metric(thing)
    # A measure, and functions of no other argument.
    return thing


def test_the_flags_are_found():
    assert {
        "BoundSearchCV-refit",
        "OrderPreservingRanker-warm_start",
        "auc_margin_bound-fixed",
        "get_loss_names-order_preserving",
        "load_letor-sparse",
        "make_measure-per_query",
        "ndcg_score-return_qid",
        "positives_at_top_score-normalize",
    } <= set(CASES)


@for_each("case", CASES)
def test_what_is_not_true_or_false_is_refused(case):
    thing, flag = CASES[case]
    call = call_of(thing)
    for value in (*WRONG, np.False_, np.True_):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not isinstance(value, np.bool_):
                with pytest.raises((TypeError, ValueError), match=f"'?{flag}'?.*must be") as told:
                    call(**{flag: value})
                assert "True or False" in str(told.value) or "bool" in str(told.value)
                continue
            try:
                call(**{flag: value})
            except (TypeError, ValueError, ImportError) as error:
                # Of what goes together, not of the flag itself.
                assert "must be True or False" not in str(error)  # noqa: PT017
