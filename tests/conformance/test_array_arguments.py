"""Each array argument of each public callable refuses arrays that it would misread."""

import inspect
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from sklearn.linear_model import LogisticRegression

import sklearn_rank
from sklearn_rank import (
    bounds,
    calibration,
    clicks,
    datasets,
    inference,
    metrics,
    model_selection,
    preprocessing,
)
from sklearn_rank.inference import LabelDesign
from tests.naming import for_each

N = 60
RNG = np.random.default_rng(0)
Y = (np.arange(N) % 3 == 0).astype(float)
S = Y + RNG.normal(size=N)
QID = np.arange(N) // 6
GROUPS = np.arange(N) // 3
WEIGHT = RNG.integers(1, 4, N).astype(float)  # whole, as measures of positions need them
SETTINGS = {
    "k": 3,
    "tau": 0.3,
    "min_tpr": 0.5,
    "max_fpr": 0.5,
    "u0": 0.5,
    "threshold": 0.5,
    "p": 2,
    "phi": np.square,
    "gain": np.sqrt,
    "discount": lambda position, n: 1.0 / position,
}
QUERY_WEIGHT = 1.0 + QID
X = np.c_[S, RNG.normal(size=(N, 2))]
PROBABILITY = 1.0 / (1.0 + np.exp(-S))
POSITION = 1 + np.arange(N) % 6
CLICKS = RNG.random(N) < 0.5
ENTERED = np.arange(N) * 30.0 / N
RESOLVED = np.where(Y == 1, ENTERED + 1.0, np.nan)
MODELS = {"a": LogisticRegression(), "b": LogisticRegression(C=9)}
PERIODS = {"horizon": 3, "period": 5}
OF_TIME = {"cv": model_selection.PeriodSplit(**PERIODS)}

# A valid value of each argument that takes an array, by its name.
ARRAYS = {
    "X": X,
    "X_lower": X,
    "X_upper": X + 1.0,
    "X_val": X,
    "batch_groups": 100 + GROUPS,
    "batch_score": S,
    "by": GROUPS % 2,
    "clicks": CLICKS,
    "baseline_score": -S,
    "density_ratio": WEIGHT,
    "entered": ENTERED,
    "exchanged": CLICKS,
    "expected": np.c_[PROBABILITY, PROBABILITY],
    "expected_utility": np.array([0.3, 0.2, 0.1]),
    "groups": GROUPS,
    "compare_with": -S,
    "inclusion_probability": np.full(N, 0.5),
    "init_score": S,
    "n_relevant": 3.0 + QID,
    "outcome": S,
    "margins_neg": S[Y == 0],
    "margins_pos": S[Y == 1],
    "pair_weight": WEIGHT,
    "pool": QID < 3,
    "position": POSITION,
    "propensity": PROBABILITY,
    "proxy": PROBABILITY,
    "qid": QID,
    "qid_val": QID,
    "query_weight": QUERY_WEIGHT,
    "rank_pos": np.arange(1, 21),
    "resolved": RESOLVED,
    "sample_weight": WEIGHT,
    "score": np.array([1.0, 2.0, 3.0]),
    "score_neg": S[Y == 0],
    "score_pos": S[Y == 1],
    "scores": S,
    "scores_neg": S[Y == 0],
    "scores_pos": S[Y == 1],
    "strata": GROUPS,
    "swapped": CLICKS,
    "treatment": CLICKS,
    "value": WEIGHT,
    "y": Y,
    "y_score": S,
    "y_true": Y,
    "y_val": Y,
}
IDS = {"batch_groups", "groups", "qid", "qid_val", "strata"}
LABELS = {"y", "y_true", "y_val", "clicks", "exchanged", "swapped", "treatment"}
WEIGHTS = {"density_ratio", "pair_weight", "query_weight", "sample_weight"}
# What NumPy and scikit-learn say of arrays that they cannot read, which names no argument.
BARE = "inhomogeneous|truth value|Unknown label type|legacy multi-label|setting an array element"


def wrong_arrays(name, values):
    """Arrays that no argument of the name may take, by what is wrong with them."""
    plain = np.asarray(values)
    first = np.arange(len(plain)) == 0
    number = plain.astype(float)
    blanked = np.where(first if plain.ndim == 1 else first[:, None], np.nan, number)
    within, empty = plain.astype(object), plain.astype(object)
    within.flat[0], empty.flat[0] = plain[:1], plain[:0]
    return {
        "masked": np.ma.masked_array(plain, mask=np.isnan(blanked)),
        "longer": np.concatenate([plain, plain[:1]]),
        "shorter": plain[:-1],
        "missing": blanked,
        **({} if name in IDS else {"datetime": plain.astype(int).astype("datetime64[s]")}),
        "complex": number + 1j,
        "three dimensions": np.stack([number, number])[..., None] * np.ones(2),
        **({} if name in IDS else {"text": np.array([f"t{x}" for x in range(len(plain))])}),
        "an array within": within,
        "an empty array within": empty,
        "rows of different lengths": [[*np.ravel(plain[0]), 1, 1], *plain.tolist()[1:]],
        **({"vanishing": number * 1e-320} if name in WEIGHTS else {}),
    }


# Where labels may be missing; a mask is a missing label there.
MAY_BE_MISSING = {
    ("inference.recall_certificate", "y_true"),
    ("LabelDesign.sample_weight", "y_true"),
}


def rows(**others):
    return {"y_true": Y, "y_score": S} | others


def calls():
    """A callable and its arguments, by name."""
    fits = {"X": X, "y": Y, "sample_weight": WEIGHT}
    queries = {"qid": QID, "query_weight": QUERY_WEIGHT}
    found = {}
    for name in metrics.__all__:
        function = getattr(metrics, name)
        if inspect.isfunction(function):
            parameters = inspect.signature(function).parameters
            if "y_score" in parameters and "y_true" in parameters:
                arguments = rows(
                    **{k: ARRAYS[k] for k in ("qid", "sample_weight", "query_weight")}
                )
                known = {k: v for k, v in arguments.items() if k in parameters}
                if name == "net_benefit":
                    known["y_score"] = PROBABILITY
                settings = {
                    p.name: SETTINGS[p.name]
                    for p in parameters.values()
                    if p.default is p.empty and p.name not in known
                }
                found[f"metrics.{name}"] = partial(function, **settings), known
    found |= {
        "metrics.rank_positions": (metrics.rank_positions, {"y_score": S, "qid": QID}),
        "metrics.effect_amounts": (
            metrics.effect_amounts,
            {name: ARRAYS[name] for name in ("outcome", "treatment", "propensity", "expected")},
        ),
        "Measure.influence": (metrics.get_measure("auc").influence, rows()),
        "Accumulator.update": (
            lambda **k: metrics.Accumulator("auc").update(**k),
            rows(sample_weight=WEIGHT),
        ),
        "inference.metric_interval": (
            lambda **k: inference.metric_interval("auc", **k),
            rows(groups=GROUPS),
        ),
        "inference.metric_interval of weights": (
            lambda **k: inference.metric_interval("auc", weights="sampling", **k),
            rows(sample_weight=WEIGHT),
        ),
        "inference.metric_interval of queries": (
            lambda **k: inference.metric_interval("ndcg", **k),
            rows(qid=QID, groups=QID // 2),
        ),
        "inference.metric_interval in part": (
            lambda **k: inference.metric_interval("auc", design="all", **k),
            rows(groups=GROUPS),
        ),
        "inference.metric_interval of amounts": (
            lambda **k: inference.metric_interval("profit@top0.3", **k),
            rows(value=WEIGHT),
        ),
        "inference.compare of amounts": (
            lambda y_true, scores, value: inference.compare(
                "profit@top0.3", y_true, {"a": scores, "b": S}, value=value
            ),
            {"y_true": Y, "scores": -S, "value": WEIGHT},
        ),
        "inference.metric_interval in segments": (
            lambda **k: inference.metric_interval(["auc", "ap"], **k),
            rows(by=GROUPS % 2),
        ),
        "inference.curve": (
            lambda **k: inference.curve("lift", at=[0.1, 0.3], **k),
            {"y_true": Y, "scores": S, "groups": GROUPS},
        ),
        "inference.compare": (
            lambda y_true, scores, groups: inference.compare(
                "auc", y_true, {"a": scores, "b": S}, groups=groups
            ),
            {"y_true": Y, "scores": -S, "groups": GROUPS},
        ),
        "inference.compare of queries": (
            lambda y_true, scores, qid: inference.compare(
                "ndcg", y_true, {"a": scores, "b": S}, qid=qid
            ),
            {"y_true": Y, "scores": -S, "qid": QID},
        ),
        "inference.compare in part": (
            lambda y_true, scores: inference.compare(
                "auc", y_true, {"a": scores, "b": S}, design="all"
            ),
            {"y_true": Y, "scores": -S},
        ),
        "inference.batch_limits": (
            inference.batch_limits,
            rows(batch_score=-S, density_ratio=WEIGHT),
        ),
        "inference.batch_limits of groups": (
            inference.batch_limits,
            rows(batch_score=-S, groups=GROUPS, batch_groups=100 + GROUPS),
        ),
        "inference.recall_certificate": (
            lambda y_true: inference.recall_certificate(y_true, design="all", recall=0.9),
            {"y_true": Y},
        ),
        "inference.plan_labels": (
            lambda **k: inference.plan_labels("auc", budget=20, **k),
            {"scores": S, "proxy": PROBABILITY},
        ),
        "inference.two_sample_rank_test": (
            inference.two_sample_rank_test,
            {"scores_pos": S[Y == 1], "scores_neg": S[Y == 0]},
        ),
        "inference.sample_size": (
            lambda y_true, y_score, groups: inference.sample_size(
                "auc", width=0.1, pilot=(y_true, y_score), groups=groups
            ),
            rows(groups=GROUPS),
        ),
        "ConfidenceSequence.update": (
            lambda **k: inference.ConfidenceSequence("auc", method="betting").update(**k),
            rows(),
        ),
        "ConfidenceSequence.update in part": (
            lambda **k: inference.ConfidenceSequence("precision@top0.3").update(design="all", **k),
            rows(),
        ),
        "LabelDesign.sample_weight": (
            lambda strata, y_true: LabelDesign(strata=strata).sample_weight(y_true),
            {"strata": np.zeros(N), "y_true": Y},
        ),
        "LabelDesign of times": (
            lambda y_true, **times: LabelDesign(horizon=2, **times).sample_weight(y_true),
            {"y_true": Y, "entered": S - S.min(), "resolved": S - S.min() + 1, "as_of": S + 99},
        ),
        "LabelDesign of a pool": (
            lambda pool, y_true: LabelDesign(pool=pool).sample_weight(y_true),
            {"pool": np.ones(N), "y_true": Y},
        ),
        "LabelDesign of a review": (
            lambda scores, y_true: LabelDesign(review_top=N, scores=scores).sample_weight(y_true),
            {"scores": S, "y_true": Y},
        ),
        "model_selection.cross_val_interval": (
            lambda **k: model_selection.cross_val_interval(
                LogisticRegression(), measure="auc", cv=3, **k
            ),
            {"X": X, "y": Y, "groups": GROUPS},
        ),
        "model_selection.cross_val_compare": (
            lambda **k: model_selection.cross_val_compare(MODELS, measure="auc", cv=3, **k),
            {"X": X, "y": Y, "groups": GROUPS},
        ),
        "model_selection.back_test": (
            lambda **k: model_selection.back_test(MODELS, measure="precision@2", **OF_TIME, **k),
            {"X": X, "y": Y, "entered": ENTERED, "resolved": RESOLVED},
        ),
        "model_selection.back_test of amounts": (
            lambda **k: model_selection.back_test(MODELS, measure="profit@2", **OF_TIME, **k),
            {"X": X, "y": Y, "entered": ENTERED, "value": WEIGHT},
        ),
        "bounds.auc_margin_bound": (
            lambda **k: bounds.auc_margin_bound(delta=0.1, radius=9.0, norm=1.0, rho=0.1, **k),
            {"score_pos": S[Y == 1], "score_neg": S[Y == 0]},
        ),
        "bounds.accuracy_at_top_margin_bound": (
            lambda **k: bounds.accuracy_at_top_margin_bound(
                delta=0.1, radius=9.0, norm=1.0, rho=0.1, **k
            ),
            {"margins_pos": S[Y == 1], "margins_neg": S[Y == 0]},
        ),
        "bounds.precision_at_top_bound": (
            lambda **k: bounds.precision_at_top_bound(n=N, delta=0.1, tau=0.1, **k),
            {"rank_pos": np.arange(1, 21)},
        ),
        "clicks.click_amounts": (
            clicks.click_amounts,
            {"clicks": CLICKS, "propensity": PROBABILITY},
        ),
        "clicks.team_outcomes": (
            clicks.team_outcomes,
            {"clicks": np.c_[CLICKS, 1 - CLICKS], "groups": GROUPS},
        ),
        "clicks.random_order_propensities": (
            clicks.random_order_propensities,
            {"clicks": CLICKS, "position": POSITION, "qid": QID},
        ),
        "clicks.swap_propensities": (
            partial(clicks.swap_propensities, exchanged=2 + QID // 2),
            {"clicks": np.ones(N), "position": POSITION, "qid": QID, "swapped": QID % 2},
        ),
        "clicks.swap_propensities of drawn positions": (
            partial(clicks.swap_propensities, np.ones(N), POSITION, QID, swapped=QID % 2),
            {"exchanged": 2 + QID // 2},
        ),
        "calibration.list_regret_bound": (
            lambda **k: calibration.list_regret_bound("pointwise_squared", "dcg", 0.1, **k),
            {"expected_utility": ARRAYS["expected_utility"], "score": ARRAYS["score"]},
        ),
        "metrics.ap of a run": (
            metrics.average_precision_score,
            rows(qid=QID, n_relevant=3.0 + QID),
        ),
        "metrics.ndcg of a run": (
            partial(metrics.ndcg_score, convention="trec_eval"),
            rows(qid=QID, ideal=None),
        ),
        "ConfidenceSequence.update of two": (
            lambda **k: inference.ConfidenceSequence("auc", method="asymptotic").update(**k),
            rows(baseline_score=-S),
        ),
        "plan_labels of two": (
            lambda **k: inference.plan_labels("auc", budget=20, **k),
            {"scores": S, "compare_with": -S, "proxy": PROBABILITY},
        ),
        "LabelDesign of probabilities": (
            lambda inclusion_probability: LabelDesign(
                inclusion_probability=inclusion_probability
            ).sample_weight(Y),
            {"inclusion_probability": np.full(N, 0.5)},
        ),
        "GroupRankerAdapter.fit from scores": (
            lambda **k: sklearn_rank.GroupRankerAdapter(
                LGBMRanker(n_estimators=2, verbose=-1)
            ).fit(**k),
            {"X": X, "y": Y, "qid": QID, "init_score": S},
        ),
        "GroupRankerAdapter.fit with early stopping": (
            lambda **k: sklearn_rank.GroupRankerAdapter(
                LGBMRanker(n_estimators=2, verbose=-1), early_stopping=True
            ).fit(X, Y, qid=QID, **k),
            {"X_val": X, "y_val": Y, "qid_val": 100 + QID},
        ),
        "calibration.utility": (
            lambda **k: calibration.utility("ndcg", **k),
            {"y_true": Y, "qid": QID, "sample_weight": WEIGHT},
        ),
        "preprocessing.QueryNormalizer": (
            lambda X, qid: preprocessing.QueryNormalizer().fit(X, qid=qid).transform(X, qid=qid),
            {"X": X, "qid": QID},
        ),
        "AccuracyAtTopRanker.fit": (
            lambda **k: sklearn_rank.AccuracyAtTopRanker(tau=0.3).fit(**k),
            fits,
        ),
        "TopPushRanker.fit": (lambda **k: sklearn_rank.TopPushRanker().fit(**k), fits),
        "PNormPushRanker.fit": (lambda **k: sklearn_rank.PNormPushRanker().fit(**k), fits),
        "RankBoostRanker.fit": (
            lambda **k: sklearn_rank.RankBoostRanker(n_estimators=2).fit(**k),
            fits,
        ),
        "TopFocusedRanker.fit": (
            lambda **k: sklearn_rank.TopFocusedRanker(LogisticRegression(), cv=2).fit(**k),
            {"X": X, "y": Y, "sample_weight": WEIGHT, "groups": GROUPS},
        ),
        "OrderPreservingRanker.fit": (
            lambda **k: sklearn_rank.OrderPreservingRanker(measure="dcg").fit(**k),
            {"X": X, "y": Y, "sample_weight": WEIGHT, **queries, "propensity": PROBABILITY},
        ),
        "GroupRankerAdapter.fit": (
            lambda **k: sklearn_rank.GroupRankerAdapter(
                LGBMRanker(n_estimators=2, verbose=-1)
            ).fit(**k),
            {"X": X, "y": Y, "sample_weight": WEIGHT, **queries},
        ),
        "TopThresholdClassifier.fit": (
            lambda **k: model_selection.TopThresholdClassifier(
                LogisticRegression(), min_precision=0.3, random_state=0
            ).fit(**k),
            {"X": X, "y": Y, "sample_weight": WEIGHT},
        ),
        "TopThresholdClassifier.fit of a fitted one": (
            lambda **k: model_selection.TopThresholdClassifier(
                LogisticRegression().fit(X, Y), cv="prefit", min_precision=0.3
            ).fit(**k),
            {"X": X, "y": Y, "sample_weight": WEIGHT},
        ),
        "TopThresholdClassifier.fit of values": (
            lambda **k: model_selection.TopThresholdClassifier(
                LogisticRegression(), min_value=0.01, random_state=0
            ).fit(**k),
            {"X": X, "y": Y, "value": WEIGHT},
        ),
        "BoundSearchCV.fit": (
            lambda **k: model_selection.BoundSearchCV(
                LogisticRegression(), {"C": [1, 9]}, measure="auc", random_state=0
            ).fit(**k),
            {"X": X, "y": Y, "sample_weight": WEIGHT},
        ),
    }
    return found


CALLS = calls()
# Arrays that need not have one entry for each row.
OF_OTHER_ROWS = {"batch_score", "batch_groups", "rank_pos", "X_val", "y_val", "qid_val"}
OF_OTHER_ROWS |= {"scores_pos", "scores_neg", "score_pos", "score_neg"}
OF_OTHER_ROWS |= {"margins_pos", "margins_neg"}
# Arguments that are no columns of rows: numbers, grids, folds of others.
NO_ROWS = {"at", "batches", "features", "k", "n_items", "prior", "tau", "thresholds", "weights"}


@pytest.mark.filterwarnings("ignore")
@for_each("name", CALLS)
def test_wrong_arrays_are_refused(name):
    function, arguments = CALLS[name]
    function(**arguments)
    arrays = [argument for argument in arguments if argument in ARRAYS]
    in_part = name.endswith("in part") or name.startswith("inference.recall_certificate")
    taken = []
    for argument in arrays:
        for kind, wrong in wrong_arrays(argument, arguments[argument]).items():
            if kind in ("longer", "shorter") and (argument in OF_OTHER_ROWS or len(arrays) == 1):
                continue
            if kind in ("masked", "missing") and argument == "y_true" and in_part:
                continue
            if kind == "missing" and argument[0] == "X" and name.startswith(("Group", "preproc")):
                continue  # trees and normalizers take them
            if kind in ("vanishing", "an array within") and name == "BoundSearchCV.fit":
                continue  # only its estimator takes weights
            if kind == "datetime" and argument == "by":
                continue  # segments may be dates
            if name.startswith("LabelDesign") and argument == "y_true":
                continue  # only which labels are known counts
            try:
                function(**arguments | {argument: wrong})
            except (TypeError, ValueError) as error:
                inner = name in ("TopThresholdClassifier.fit", "BoundSearchCV.fit")
                bare = "broadcast" if inner or argument == "X" else "could not (convert|be broad)"
                own = argument[0] != "X" and not (inner and argument == "sample_weight")
                bare = f"{bare}|{BARE}" if own else bare
                if re.search(bare, str(error)):
                    taken.append((argument, kind))
            else:
                taken.append((argument, kind))
    assert taken == []


@pytest.mark.filterwarnings("ignore")
@for_each("name", CALLS)
def test_columns_of_pandas_in_another_order_are_refused(name):
    function, arguments = CALLS[name]
    columns = {
        argument: (pd.DataFrame if np.ndim(values) == 2 else pd.Series)(values)
        for argument, values in arguments.items()
        if argument in ARRAYS and argument not in OF_OTHER_ROWS and len(values) == N
    }
    taken = []
    for argument, column in columns.items() if len(columns) > 1 else ():
        other = column.sample(frac=1, random_state=0)
        try:
            function(**arguments | columns | {argument: other})
        except ValueError as error:
            if "another order" in str(error):
                continue
        taken.append(argument)
    assert taken == []


def array_arguments():
    """Names of the arguments of public callables that are documented as arrays."""
    modules = bounds, calibration, clicks, inference, metrics, model_selection, preprocessing
    found = {}
    for module in (sklearn_rank, *modules):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.ismodule(thing) or not callable(thing):
                continue
            callables = {name: thing}
            if inspect.isclass(thing):
                methods = ("fit", "partial_fit", "update", "sample_weight", "influence", "lists")
                callables |= {
                    f"{name}.{m}": getattr(thing, m) for m in methods if hasattr(thing, m)
                }
            for key, function in callables.items():
                text = inspect.getdoc(function) or ""
                text = text.partition("Parameters\n---")[2].partition("\n\n")[0]
                for argument in re.findall(r"^(\w+) : [^\n]*array-like", text, re.MULTILINE):
                    found.setdefault(argument, set()).add(key)
    return found


def test_every_array_argument_is_tried():
    """A new argument belongs into the calls above, or among those that are no rows."""
    tried = {argument for _, arguments in CALLS.values() for argument in arguments}
    assert {
        name: where for name, where in array_arguments().items() if name not in tried | NO_ROWS
    } == {}


WRONG = {"object": object(), "text": "banana", "-1": -1, "nan": np.nan, "list": [], "dict": {}}
# What one of these may be: ids of one query, names, grades and labels, found wrong where they meet
# the data, and settings of joblib.
MAY_BE = {
    "-1": {"qid", "groups", "rel", "shift", "clear_shift"},
    "text": {"qid"},
    "nan": {"error_score"},
    "list": {"random_state", "stratify"},
    "dict": {"params"},
}
ANYTHING = {"pos_label", "n_jobs"}


def of_scalars():
    """Public callables with valid arguments, and whose signature has the others."""
    y_true, of_fit = {"y_true": Y}, {"X": X, "y": Y, "measure": "auc", "cv": 3}
    search, folds = model_selection.BoundSearchCV, model_selection.QueryKFold
    run = [("q", "d", 1.0)]
    calls = {
        inference.metric_interval: rows(measure="auc"),
        inference.compare: {**y_true, "measure": "auc", "scores": {"a": S, "b": -S}},
        inference.curve: {**y_true, "measure": "lift", "scores": S, "at": [0.1, 0.3]},
        inference.batch_limits: rows(batch_score=-S),
        inference.recall_certificate: {**y_true, "design": "all", "recall": 0.9},
        inference.plan_labels: {
            "measure": "auc",
            "scores": S,
            "proxy": PROBABILITY,
            "budget": 20,
        },
        inference.sample_size: {"measure": "auc", "width": 0.1, "pilot": (Y, S)},
        inference.ConfidenceSequence: {"measure": "auc", "method": "betting"},
        model_selection.cross_val_interval: {"estimator": LogisticRegression(), **of_fit},
        model_selection.cross_val_compare: {
            "estimators": MODELS,
            **of_fit,
        },
        model_selection.back_test: {
            "estimators": MODELS,
            "X": X,
            "y": Y,
            "entered": ENTERED,
            "measure": "precision@2",
            **OF_TIME,
        },
        model_selection.PeriodSplit: PERIODS,
        model_selection.make_bound_scorer: {"measure": "auc"},
        model_selection.query_train_test_split: {"qid": QID},
        metrics.get_scorer: {"measure": "auc"},
        metrics.get_measure: {"measure": "auc"},
        metrics.Accumulator: {"measure": "auc"},
        calibration.check_calibration: {
            "loss": "pointwise_squared",
            "measure": "dcg",
            "n_items": 3,
            "n_trials": 2,
        },
        calibration.regret_bound: {
            "loss": "pointwise_squared",
            "measure": "dcg",
            "surrogate_regret": 0.1,
            "n_items": 3,
        },
        bounds.auc_bound: {"n_pos": 20, "n_neg": 40, "delta": 0.1},
        datasets.make_bipartite_ranking: {"n_samples": 50},
        datasets.make_label_ranking: {"n_samples": 50},
        datasets.make_subset_ranking: {"n_queries": 5},
        datasets.make_clicks: {"y": Y, "y_score": S, "qid": QID},
        datasets.join_qrels: {"run": run, "qrels": run},
        search: {"estimator": LogisticRegression(), "param_grid": {"C": [1, 9]}, "measure": "auc"},
        folds: {},
    }
    used = {
        search: lambda **k: search(**k).fit(X, Y),
        folds: lambda **k: list(folds(**k).split(X, Y, QID)),
        model_selection.PeriodSplit: lambda **k: list(
            model_selection.PeriodSplit(**k).split(X, Y, ENTERED)
        ),
        model_selection.query_train_test_split: partial(
            model_selection.query_train_test_split, X, Y
        ),
    }
    return [
        pytest.param(used.get(one, one), inspect.signature(one), arguments, id=one.__name__)
        for one, arguments in calls.items()
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "signature", "arguments"), of_scalars())
def test_a_wrong_scalar_is_an_error_that_names_its_argument(function, signature, arguments):
    function(**arguments)
    left = {"X", "y", "estimator", "estimators", "param_grid", "run", "qrels", "arrays"}
    wrong = []
    for name in signature.parameters.keys() - left - ANYTHING:
        for kind, value in WRONG.items():
            if name in MAY_BE.get(kind, ()) or (name in ARRAYS and name not in IDS):
                continue
            try:
                function(**arguments | {name: value})
            except (TypeError, ValueError) as error:
                if name in str(error):
                    continue
            wrong.append((name, kind))
    assert wrong == []
