"""Intervals, tests, sample sizes, sequences and curves of all measures that answer."""

from functools import partial
from unittest.mock import patch

import inputs as i
import numpy as np
from metrics_cases import NAMES, PHIS, attempts, labels_of

from sklearn_rank import inference, metrics
from sklearn_rank.metrics import get_measure, linear_rank_score, partial_auc_score

RESAMPLES = {"n_resamples": 199, "random_state": 0}
LIST_METHODS = (
    "auto",
    "influence",
    "bootstrap",
    "dkw",
    "wilson",
    "exact",
    "order statistics",
    "t",
)
AUC_METHODS = ("wilson", "logit-delong", "delong", "chebyshev", "kl", "mcdiarmid")
SLOW_TOO = ("auc", "ap", "ndcg@10", "precision@5", "precision@top0.2")
SCORES = {"a": i.score, "b": i.score_b, "c": np.round(i.score_b)}
GRADED_SCORES = {"a": i.by_grade, "b": np.round(i.by_grade), "c": i.score}


def interval_questions():
    lists = {"qid": i.qid}
    for method in LIST_METHODS:
        yield f"one list, {method}", {"method": method}
    for method in ("auto", "t", "bootstrap", "bca"):
        yield f"queries, {method}", {**lists, "method": method}
    yield "groups", {"groups": i.groups}
    yield "queries in groups", {**lists, "groups": i.qid // 2}
    for weights in (None, "frequency", "sampling"):
        yield f"counts, weights={weights}", {"sample_weight": i.counts, "weights": weights}
        yield f"weights, weights={weights}", {"sample_weight": i.weights, "weights": weights}
    yield "queries, counts", {**lists, "sample_weight": i.counts, "weights": "frequency"}
    yield "level", {"level": 0.5}
    yield "labels random", {"conditional": False}


def compare_questions(scores):
    lists, paired = {"qid": i.qid}, ({"a": scores["a"], "b": scores["b"]},)
    yield "two", paired, {}
    yield "three", (scores,), {}
    yield "three, baseline", (scores,), {"baseline": "b", "level": 0.9}
    yield "groups", (scores,), {"groups": i.groups}
    yield "two, groups", paired, {"groups": i.groups}
    yield "swap", paired, {"method": "swap"}
    yield "margin", paired, {"margin": 0.05}
    yield "counts", (scores,), {"sample_weight": i.counts, "weights": "frequency"}
    yield "weights", (scores,), {"sample_weight": i.weights, "weights": "sampling"}
    for method in ("auto", "randomization", "t", "wilcoxon"):
        yield f"queries, {method}", (scores,), {**lists, "method": method}
        yield f"two, queries, {method}", paired, {**lists, "method": method}
    for alternative in ("less", "greater", "non-inferior", "equivalent"):
        margin = {"margin": 0.1} if alternative in ("non-inferior", "equivalent") else {}
        yield alternative, paired, {"alternative": alternative, **margin}
        yield f"queries, {alternative}", paired, {**lists, "alternative": alternative, **margin}


def measure_cases():
    for name in NAMES:
        graded = get_measure(name).kind == "graded"
        y, score = labels_of(get_measure(name))
        scores = GRADED_SCORES if graded else SCORES
        a, b = scores["a"], scores["b"]
        for asked, keywords in interval_questions():
            call = partial(inference.metric_interval, name, y, score, **{**RESAMPLES, **keywords})
            yield f"inference metric_interval {name}, {asked}", call
        for asked, arguments, keywords in compare_questions(scores):
            if name not in SLOW_TOO and keywords.get("method") in ("wilcoxon", "swap"):
                continue
            keywords = {"random_state": 0, **keywords}
            call = partial(few_exchanges, name, y, *arguments, **keywords)
            yield f"inference compare {name}, {asked}", partial(compared, call)
        tests = {
            "compare, unpaired": partial(
                inference.compare, name, {"a": y, "b": y[::-1]}, {"a": a, "b": b}
            ),
            "accumulator_interval": partial(accumulated, name, y, score),
            "accumulator_interval, queries": partial(accumulated, name, y, score, qid=i.qid),
            "ConfidenceSequence": partial(sequence, name, y, a),
            "ConfidenceSequence, queries": partial(sequence, name, y, a, qid=i.qid),
            "ConfidenceSequence, baseline": partial(
                sequence, name, y, a, qid=i.qid, baseline_score=b
            ),
        }
        for asked, call in tests.items():
            yield f"inference {asked} {name}", call
        for asked, keywords in plans(y, score, b):
            call = partial(inference.sample_size, name, **keywords)
            yield f"inference sample_size {name}, {asked}", call


def plans(y, score, other):
    expected = {"expected": 0.7, "prevalence": 0.3}
    pilot = {"pilot": (y, score), "random_state": 0}
    yield "width", {**expected, "width": 0.1}
    yield "width by n", {**expected, "n": 500}
    yield ("difference", {**expected, "difference": 0.05, "power": 0.8, "correlation": 0.5})
    yield "pilot", {**pilot, "width": 0.1}
    yield "pilot of queries", {**pilot, "qid": i.qid, "width": 0.1}
    yield (
        "pilot of two",
        {
            "pilot": (y, score, other),
            "qid": i.qid,
            "difference": 0.05,
            "power": 0.8,
            "random_state": 0,
        },
    )


def few_exchanges(*arguments, **keywords):
    """Compare with as many exchanges as older versions were passed."""
    with patch.multiple("sklearn_rank.inference._compare", EXCHANGES=199, SWAPS=199):
        return inference.compare(*arguments, **keywords)


def compared(call):
    comparison = call()
    return comparison, attempts(comparison, "to_frame", "conclusions")


def accumulated(name, y, score, **more):
    accumulator = metrics.Accumulator(name).update(y, score, **more)
    return inference.metric_interval(accumulator)


def sequence(name, y, score, parameters=None, **more):
    looks = inference.ConfidenceSequence(name, **(parameters or {}))
    for rows in (slice(0, 25), slice(25, 40), slice(40, None)):
        looks.update(y[rows], score[rows], **{k: v[rows] for k, v in more.items()})
    return looks, attempts(looks, "to_frame", "history")


def rank_interval(phi, normalize, **options):
    measure = get_measure(linear_rank_score, phi=phi, normalize=normalize)
    return inference.metric_interval(measure, i.y, i.score, **options)


def curve_cases():
    y, score, prob = i.y, i.score, i.prob
    few = {"y_true": y, "y_score": score}
    calls = {}
    for method in AUC_METHODS:
        calls[f"metric_interval auc by {method}"] = partial(
            inference.metric_interval, "auc", y, score, method=method
        )
        calls[f"metric_interval auc by {method}, ties"] = partial(
            inference.metric_interval, "auc", y, i.ties, method=method
        )
    calls["metric_interval auc, perfect"] = partial(inference.metric_interval, "auc", y, y)
    for name, phi in PHIS.items():
        for conditional in (True, False):
            asked = f"{name}, conditional={conditional}"
            more = {"phi": phi, "conditional": conditional}
            of_ranks = get_measure(linear_rank_score, phi=phi, normalize="minmax")
            calls[f"linear_rank_influence {asked}"] = partial(
                of_ranks.influence, y, score, conditional=conditional
            )
            # Older versions have no conditional=, whose default is True.
            options = {} if conditional else {"conditional": False}
            for normalize in ("minmax", "mean", None):
                for method in ("influence", "dkw", "bootstrap"):
                    calls[f"metric_interval {asked}, {method}, {normalize}"] = partial(
                        rank_interval, phi, normalize, method=method, **options, **RESAMPLES
                    )
            calls[f"metric_interval {asked}, groups"] = partial(
                rank_interval, phi, "minmax", groups=i.groups, **options
            )
        for method in ("auto", "exact", "permutation", "normal"):
            for alternative in ("two-sided", "less", "greater"):
                calls[f"two_sample_rank_test {name}, {method}, {alternative}"] = partial(
                    inference.two_sample_rank_test,
                    score[y == 1],
                    i.ties[y == 0] + 0.1,
                    phi=phi,
                    method=method,
                    alternative=alternative,
                    **RESAMPLES,
                )
    calls["two_sample_rank_test few"] = partial(
        inference.two_sample_rank_test, score[:6], score[6:14], method="exact"
    )
    for scale in ("raw", "mcclish", "normalized"):
        for limits in ({"max_fpr": 0.3}, {"min_tpr": 0.7}, {"max_fpr": 0.5, "min_tpr": 0.4}):
            calls[f"metric_interval partial_auc, {scale}, {limits}"] = partial(
                inference.metric_interval,
                get_measure(partial_auc_score, scale=scale, **limits),
                y,
                score,
            )
    calls["partial_auc_influence"] = partial(
        get_measure(partial_auc_score, scale="raw", max_fpr=0.3).influence, y, score
    )
    for method in ("influence", "exact"):
        for tau in (0.05, 0.2, 0.5):
            for asked, more in {"": {}, ", groups": {"groups": i.groups}}.items():
                calls[f"metric_interval precision@top{tau}, {method}{asked}"] = partial(
                    inference.metric_interval,
                    f"precision@top{tau}",
                    y,
                    score,
                    method=method,
                    **more,
                )
    for asked, more in {
        "": {},
        ", groups": {"groups": i.groups},
        ", level": {"level": 0.5},
    }.items():
        for name in ("tpr@fpr", "net_benefit", "calibration@k", "precision@k"):
            calls[f"curve {name}{asked}"] = partial(
                inference.curve, name, y, prob, random_state=0, **more
            )
    for parameters in (
        {"method": "betting"},
        {"method": "asymptotic"},
        {"threshold": 0.5},
        {"intersect": True},
        {"best_after": 20},
        {"level": 0.5},
    ):
        for name in ("auc", "ndcg@10", "ap", "precision@3"):
            labels, scores = labels_of(get_measure(name))
            calls[f"ConfidenceSequence {name}, {parameters}"] = partial(
                sequence, name, labels, scores, parameters, qid=i.qid
            )
    for name, call in calls.items():
        yield f"inference {name}", call
    arguments = {
        "compare": {"measure": "auc", "y_true": y, "scores": SCORES, "random_state": 0},
        "metric_interval": {"measure": "ap", **few, "qid": i.qid, **RESAMPLES},
        "sample_size": {"measure": "auc", "expected": 0.8, "prevalence": 0.3, "width": 0.1},
        "two_sample_rank_test": {
            "scores_pos": score[y == 1],
            "scores_neg": score[y == 0],
            **RESAMPLES,
        },
        "ConfidenceSequence": {"measure": "ap"},
    }
    for name, keywords in arguments.items():
        yield from i.refusals(f"inference {name}", getattr(inference, name), **keywords)
    yield from i.refusals(
        "inference ConfidenceSequence.update",
        inference.ConfidenceSequence("ap").update,
        apply=lambda **more: inference.ConfidenceSequence("ap").update(**more),
        **few,
        qid=i.qid,
    )
    for name in ("Interval", "Intervals"):
        yield f"inference {name}()", getattr(inference, name)


def cases():
    """Names and calls."""
    yield from measure_cases()
    yield from curve_cases()
