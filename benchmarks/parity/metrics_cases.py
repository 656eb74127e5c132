"""Values, per-query values, scorers and accumulators of all measures, and what they refuse."""

import inspect
from functools import partial

import inputs as i
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from sklearn_rank import metrics
from sklearn_rank.metrics import get_measure, get_measure_names

MORE_NAMES = (
    "ap@10(rel>=2)",
    "bedroc@5",
    "pnorm@2",
    "partial_auc@fpr0.3tpr0.7",
    "partial_auc@tpr0.8",
    "negative_height_loss@inf",
    "tpr@fpr0",
    "fpr@tpr1",
    "enrichment@0.2",
    "precision@top0.2",
    "accuracy_loss@top0.2",
    "smoothed_precision@top0.2",
    "precision@3",
    "recall@3",
    "f1@3",
    "success@2",
    "ndcg@3",
    "mrr",
    "hit_rate@10",
    "kendall",
    "roc_auc",
    "average_precision",
)
NAMES = [*get_measure_names(), *MORE_NAMES]
NO_NAMES = (
    "ndcg@0",
    "ndcg@2.5",
    "ap@",
    "auc@3",
    "AUC",
    "map",
    "precision",
    "tpr@fpr2",
    "kendalltau",
)
PARAMETERS = {
    "bedroc@20": [{"alpha": 5}],
    "dcg": [{"gain": "linear"}, {"log_base": 10.0}, {"k": 3, "gain": np.sqrt}],
    "ndcg": [{"gain": "linear"}, {"log_base": 10.0}, {"k": 3, "gain": np.sqrt}, {"gain": "cubic"}],
    "ap": [{"normalize": v} for v in ("positives", "reachable", "found", "unknown")],
    "ap@10": [{"normalize": v} for v in ("positives", "reachable", "found")] + [{"k": 3}],
    "err": [{"max_grade": 3}, {"max_grade": 1}],
    "rbp@0.8": [{"max_grade": 3}, {"k": 3, "max_grade": 3}, {"persistence": 0.5}],
    "ks": [{"two_sided": True}],
    "partial_auc@fpr0.1": [{"scale": v} for v in ("raw", "mcclish", "normalized", "unknown")],
    "pnorm@4": [{"normalize": v} for v in ("minmax", "mean", None, "unknown")],
    "local_auc@0.8": [{"normalize": v} for v in ("minmax", "mean", None)],
    "pos@top": [{"normalize": True}],
}
REQUIRED = {
    "k": 3,
    "tau": 0.2,
    "max_fpr": 0.2,
    "min_tpr": 0.8,
    "p": 2.0,
    "u0": 0.6,
    "phi": "wilcoxon",
    "threshold": 0.4,
}
PHIS = {
    "wilcoxon": "wilcoxon",
    "van_der_waerden": "van_der_waerden",
    "Wilcoxon": metrics.Wilcoxon(),
    "VanDerWaerden": metrics.VanDerWaerden(),
    "LocalAUC": metrics.LocalAUC(0.6),
    "Power": metrics.Power(3),
    "Exponential": metrics.Exponential(5),
    "Cauchy": metrics.Cauchy(0.2),
    "TopDCG": metrics.TopDCG(10),
    "callable": np.square,
}


def labels_of(measure):
    """Labels or grades, and scores that order them well."""
    return (i.grades, i.by_grade) if measure.kind == "graded" else (i.y, i.score)


def questions(y, score):
    """Arguments of a call of a measure, by what is asked."""
    lists = {"qid": i.qid}
    yield "one list", (y, score), {}
    yield "ties", (y, np.round(score)), {}
    yield "constant scores", (y, np.zeros(i.n)), {}
    yield "perfect", (y, y), {}
    yield "infinite scores", (y, np.where(score > 2, np.inf, score)), {}
    yield "counts", (y, score), {"sample_weight": i.counts}
    yield "weights", (y, np.round(score)), {"sample_weight": i.weights}
    yield "queries", (y, score), lists
    yield "queries, ties", (y, np.round(score)), lists
    yield (
        "queries, shuffled words",
        (y[i.shuffled], score[i.shuffled]),
        {
            "qid": np.array([f"q{q}" for q in i.qid])[i.shuffled],
            "average": None,
            "return_qid": True,
        },
    )
    yield "each query", (y, score), {**lists, "average": None}
    yield "query weights", (y, score), {**lists, "query_weight": i.query_weight}
    yield "queries, counts", (y, np.round(score)), {**lists, "sample_weight": i.counts}
    yield "two dimensions", (y.reshape(12, 5), score.reshape(12, 5)), {}
    yield "lists of Python", (y[:20].tolist(), score[:20].tolist()), {}
    yield "float32 Series", (pd.Series(y), pd.Series(score.astype(np.float32))), {}
    yield "other direction", (y, -score), {"pos_label": 0}
    yield "words", (i.words, score), {"pos_label": "yes"}
    yield "words without pos_label", (i.words, score), {}
    yield "one row", (y[:1], score[:1]), {}
    yield "n_relevant", (y, score), {**lists, "n_relevant": np.full(i.n, 6)}
    yield "ideal", (y, score), {**lists, "ideal": np.sort(y)[::-1]}
    yield "misplaced", (y, score, i.qid), {}


def measure_cases():
    for name in NAMES:
        measure = get_measure(name)
        y, score = labels_of(measure)
        yield f"metrics {name}, attributes", partial(get_measure, name)
        for asked, arguments, keywords in questions(y, score):
            yield f"metrics {name}, {asked}", partial(measure, *arguments, **keywords)
    for name in get_measure_names():
        measure = get_measure(name)
        y, score = labels_of(measure)
        for undefined in ("skip", "raise", 0.5, "unknown"):
            call = partial(with_parameters, name, {"undefined": undefined}, y, score)
            yield f"metrics {name}, undefined={undefined}", call
        for convention in (*measure.conventions, "unknown"):
            call = partial(with_parameters, name, {"convention": convention}, y, score)
            yield f"metrics {name}, convention={convention}", call
            call = partial(with_parameters, name, {"convention": convention}, y, np.round(score))
            yield f"metrics {name}, convention={convention}, ties", call
        for parameters in (*PARAMETERS.get(name, ()), {"rel": 2}, {"nonsense": 1}):
            labels = i.grades if "rel" in parameters else y
            call = partial(with_parameters, name, parameters, labels, score)
            yield f"metrics {name}, {parameters}", call
    for name in NO_NAMES:
        yield f"metrics get_measure({name!r})", partial(get_measure, name)
    for value in (3, None, len, i.y, metrics.LocalAUC, metrics.LocalAUC(0.3), metrics.ndcg_score):
        yield (
            f"metrics get_measure of {type(value).__name__} {str(value)[:20]}",
            partial(get_measure, value),
        )


def with_parameters(name, parameters, y, score):
    measure = get_measure(name, **parameters)
    return repr(measure), measure.name, measure(y, score, qid=i.qid, average=None)


def function_cases():
    for name in metrics.__all__:
        function = getattr(metrics, name)
        if not name.endswith(("_score", "_loss", "net_benefit")):
            continue
        known = inspect.signature(function).parameters
        more = {key: value for key, value in REQUIRED.items() if key in known}
        more = {k: v for k, v in more.items() if known[k].default is inspect.Parameter.empty}
        if name == "positional_score":
            more = {"gain": np.sqrt, "discount": lambda position, n: 1 / position}
        yield f"metrics get_measure({name})", partial(get_measure, function, **more)
        yield f"metrics get_measure({name}), defaults", partial(get_measure, function)
        graded = name in METRIC_GRADED
        arguments = {"y_true": i.grades if graded else i.y, "y_score": i.prob, **more}
        yield f"metrics {name}", partial(function, **arguments)
        if "qid" in known:
            call = partial(function, **arguments, qid=i.qid, average=None, return_qid=True)
            yield f"metrics {name}, each query", call
        yield from i.refusals(f"metrics {name}", function, **arguments)
    for name, phi in PHIS.items():
        for normalize in ("minmax", "mean", None):
            for ties in ("average", "midrank", "mid", "unknown"):
                call = partial(
                    metrics.linear_rank_score, i.y, i.ties, phi=phi, normalize=normalize, ties=ties
                )
                yield f"metrics linear_rank_score {name}, {normalize}, {ties}", call
        yield f"metrics {name}, attributes", partial(attributes_of_phi, phi)
    for name, parameter in {
        "Cauchy": 0,
        "Exponential": -1,
        "LocalAUC": 1,
        "Power": 0,
        "TopDCG": 0.5,
    }.items():
        yield f"metrics {name}({parameter})", partial(getattr(metrics, name), parameter)
    yield "metrics rank_positions", partial(metrics.rank_positions, i.ties)
    yield "metrics rank_positions of queries", partial(metrics.rank_positions, i.ties, i.qid)
    yield "metrics names", lambda: (get_measure_names(), metrics.get_scorer_names())


METRIC_GRADED = {
    "dcg_score",
    "ndcg_score",
    "expected_reciprocal_rank_score",
    "positional_score",
    "rank_biased_precision_score",
    "spearman_score",
    "tau_b_score",
}


def attributes_of_phi(phi):
    if not isinstance(phi, metrics.ScoreGeneratingFunction):
        return phi if isinstance(phi, str) else "callable"
    u = np.linspace(0, 1, 11)
    return phi, phi(u), phi.derivative(u) if phi.has_derivative else None


def scorer_cases():
    estimator = LogisticRegression().fit(i.X, i.y)
    for name in metrics.get_scorer_names():
        y, _ = labels_of(get_measure(name.removeprefix("neg_")))
        yield f"metrics scorer {name}", partial(scored, name, estimator, y)
        yield f"metrics scorer {name}, queries", partial(scored, name, estimator, y, qid=i.qid)
        yield (
            f"metrics scorer {name}, single_list",
            partial(scored, name, estimator, y, {"single_list": True}),
        )
    for parameters in (
        {"qid": "qid"},
        {"qid": False},
        {"qid": 3},
        {"pos_label": 0},
        {"pos_label": 7},
        {"undefined": 0.0},
        {"nonsense": 1},
        {"k": 2},
    ):
        for name in ("auc", "ndcg@10", "ap"):
            yield (
                f"metrics scorer {name}, {parameters}",
                partial(scored, name, estimator, i.y, parameters),
            )


def scored(name, estimator, y, parameters=None, **metadata):
    scorer = metrics.get_scorer(name, **(parameters or {}))
    return repr(scorer), scorer(estimator, i.X, y, **metadata)


def accumulator_cases():
    for name in NAMES:
        measure = get_measure(name)
        y, score = labels_of(measure)
        yield f"metrics Accumulator {name}", partial(accumulated, name, y, score)
        yield (
            f"metrics Accumulator {name}, ties and counts",
            partial(accumulated, name, y, np.round(score), sample_weight=i.counts),
        )
        yield (
            f"metrics Accumulator {name}, queries",
            partial(accumulated, name, y, np.round(score), qid=i.qid),
        )
    yield "metrics Accumulator merged", merged
    yield from i.refusals("metrics Accumulator", metrics.Accumulator, measure="auc")
    update = metrics.Accumulator("ndcg@10").update
    yield from i.refusals(
        "metrics Accumulator.update",
        update,
        apply=lambda **arguments: metrics.Accumulator("ndcg@10").update(**arguments),
        y_true=i.y,
        y_score=i.score,
        qid=i.qid,
    )


def accumulated(name, y, score, parameters=None, **more):
    accumulator = metrics.Accumulator(name, **(parameters or {}))
    seen = []
    for rows in (slice(0, 25), slice(25, 40), slice(40, None)):
        accumulator.update(y[rows], score[rows], **{k: v[rows] for k, v in more.items()})
        seen.append(repr(accumulator))
    return seen, accumulator, attempts(accumulator, "result", "query_values", "table")


def attempts(value, *names):
    """Methods without arguments: what each returns or raises."""
    found = {}
    for name in names:
        try:
            found[name] = getattr(value, name)
            found[name] = found[name]() if callable(found[name]) else found[name]
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def merged():
    parts = [
        metrics.Accumulator("ap").update(i.y[rows], i.score[rows], qid=i.qid[rows])
        for rows in (slice(0, 25), slice(25, None))
    ]
    return attempts(parts[0].merge(parts[1]), "result", "query_values")


def own_cases():
    def mean_of_positives(y, score):
        return score[y == 1].mean()

    for parameters in (
        {},
        {"name": "own"},
        {"kind": "graded"},
        {"kind": "unknown"},
        {"range": (1, 0)},
        {"per_query": False},
        {"greater_is_better": False},
        {"undefined": 0.0},
        {"lacking": "no item"},
    ):
        measure = partial(metrics.make_measure, mean_of_positives, **parameters)
        yield (
            f"metrics make_measure {parameters}",
            lambda make=measure: (
                make(),
                make()(i.y, i.score),
                make()(i.y, i.score, qid=i.qid, average=None),
            ),
        )
    yield from i.refusals("metrics make_measure", metrics.make_measure, func=mean_of_positives)


def cases():
    """Names and calls."""
    yield from measure_cases()
    yield from function_cases()
    yield from scorer_cases()
    yield from accumulator_cases()
    yield from own_cases()
