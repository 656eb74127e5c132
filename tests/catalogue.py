"""What the package offers, listed once: the conformance tests run over these lists.

To give a new measure its tests, list it in METRICS with its oracle. Estimators need no listing
to be checked by scikit-learn's own checks; list them in BIPARTITE_RANKERS for the tests that all
rankers of two classes share.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from math import inf, log2
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.tree import DecisionTreeClassifier

from sklearn_rank import (
    AccuracyAtTopRanker,
    AccuracyAtTopRankerCV,
    GroupRankerAdapter,
    OrderPreservingLabelRanker,
    OrderPreservingRanker,
    PNormPushRanker,
    RankBoostRanker,
    RankEnsemble,
    RankEnsembleClassifier,
    RankStatisticRanker,
    TopFocusedRanker,
    TopPushRanker,
    losses,
    metrics,
)
from sklearn_rank.inference._joint import joint_influence
from tests.oracles import linear_rank, orders, partial_auc, rank_correlation, roc_points


@dataclass(frozen=True)
class MetricCase:
    """A measure at one setting of its parameters, and what is true of it.

    ``function`` is one of the package, or the name of a measure that has none.
    ``oracle(y_true, y_score)`` takes lists; ``grades`` are the labels that it is tried on;
    ``undefined(y_true)`` says for which labels there is no value to compare; ``weights`` are
    "whole", "real", "relative" where of real ones only the proportions matter, or "none".
    """

    function: Callable[..., float] | str
    oracle: Callable[[list, list], float]
    parameters: dict[str, Any] = field(default_factory=dict)
    grades: tuple[int, ...] = (0, 1)
    undefined: Callable[[list], bool] = lambda y_true: False
    scorer_name: str | None = None
    weights: str = "real"
    two_dimensions: bool = True

    @property
    def greater_is_better(self) -> bool:
        return self.measure.greater_is_better

    @property
    def value_if_undefined(self) -> float:
        """What a list without a value counts unless the caller says otherwise."""
        as_scikit_learn = (metrics.ndcg_score, metrics.average_precision_score)
        return 0.0 if self.function in as_scikit_learn else np.nan

    def weighted(self, weight: Any) -> dict[str, Any]:
        """Weights of items as an argument, where the measure takes them."""
        return {} if self.weights == "none" else {"sample_weight": weight}

    @property
    def measure(self) -> metrics.Measure:
        return metrics.get_measure(self.function, **self.parameters)

    def __call__(self, y_true, y_score, **arguments):
        if not isinstance(self.function, str):
            return self.function(y_true, y_score, **self.parameters, **arguments)
        own = {name: arguments.pop(name) for name in ("rel", "undefined") if name in arguments}
        measure = metrics.get_measure(self.function, **self.parameters, **own)
        return measure(y_true, y_score, **arguments)

    def __str__(self) -> str:
        shown = ",".join(
            f"{name}={getattr(value, '__name__', value)}"
            for name, value in self.parameters.items()
        )
        return f"{getattr(self.function, '__name__', self.function)}({shown})"


def scores_for(measure, score):
    """Scores in the same order that the measure takes."""
    return expit(score) if metrics.get_measure(measure).of_probabilities else score


def _mean(measure, **parameters):
    return partial(orders.expected, measure, **parameters)


def _inverse_mean(measure, **parameters):
    return lambda y_true, y_score: 1.0 / _mean(measure, **parameters)(y_true, y_score)


def _cases(function, oracle, settings, of=_mean, said=None, **case):
    """Cases of a function, or of a measure that has none, at settings.

    A setting is the name of a scorer, parameters, and at times fields of its case alone. ``of``
    makes of the oracle one of lists; ``said`` is the name of the parameter in the oracle.
    """
    found = []
    for name, parameters, *alone in settings:
        known = {said or parameter: value for parameter, value in parameters.items()}
        measure, own = function, parameters
        if isinstance(function, str):
            measure, own = function.format(*parameters.values()), {}
        fields = case | dict(*alone)
        found.append(MetricCase(measure, of(oracle, **known), own, scorer_name=name, **fields))
    return found


def _each(parameter, values, name):
    """Settings of one parameter, each named by its value."""
    return [(name.format(value), {parameter: value}) for value in values]


def _no_positive(y_true):
    return not any(y_true)


def _no_gain(y_true):
    return not any(amount > 0 for amount in y_true)


def _one_class(y_true):
    return len(set(y_true)) < 2


# -------------------------------------------------------------------------- linear rank statistics


def smoothstep(u):
    return u * u * (3.0 - 2.0 * u)


def _linear_rank(function, phi, shape, ties="average", normalize="mean", **case):
    """A case of ``function``; ``shape`` is phi's oracle with its parameters."""

    def undefined(y_true):
        if normalize == "mean":
            return _no_positive(y_true)
        if normalize == "minmax":
            return _one_class(y_true) or linear_rank.is_constant(len(y_true), shape)
        return False

    return MetricCase(
        function,
        partial(linear_rank.statistic, phi=shape, ties=ties, normalize=normalize),
        {**phi, **({"ties": ties} if ties != "average" else {}), "normalize": normalize},
        undefined=undefined,
        **case,
    )


# 0.5, 0.6 and 3/7 fall on a rank over n + 1 in lists of 1, 3 and 5, of 4, and of 6.
PHIS = [
    (metrics.Wilcoxon(), linear_rank.wilcoxon),
    *(
        (metrics.LocalAUC(u0), partial(linear_rank.local_auc, u0=u0))
        for u0 in (0, 0.5, 0.6, 3 / 7, 0.99)
    ),
    *((metrics.Power(p), partial(linear_rank.power, p=p)) for p in (0.5, 4)),
    *((metrics.TopDCG(k), partial(linear_rank.top_dcg, k=k)) for k in (1, 3, 50)),
    *((metrics.Exponential(a), partial(linear_rank.exponential, alpha=a)) for a in (1.0, 20)),
    (metrics.Cauchy(0.25), partial(linear_rank.cauchy, width=0.25)),
    (metrics.VanDerWaerden(), linear_rank.van_der_waerden),
    (smoothstep, partial(linear_rank.of_share, function=smoothstep)),
]

# Of ties and of the scale, beside the defaults; in short lists LocalAUC(0.99) has no scale.
WAYS = [
    ("average", None),
    ("max", "minmax"),
    ("mid", "mean"),
    ("average", "minmax"),
    ("max", None),
]

LINEAR_RANK = [
    _linear_rank(metrics.linear_rank_score, {"phi": "wilcoxon"}, linear_rank.wilcoxon),
    _linear_rank(
        metrics.linear_rank_score, {"phi": "van_der_waerden"}, linear_rank.van_der_waerden
    ),
    # Each phi in one way, in turn: they do not know of each other.
    *(
        _linear_rank(metrics.linear_rank_score, {"phi": phi}, shape, ties, normalize)
        for (phi, shape), (ties, normalize) in zip(PHIS, cycle(WAYS))
    ),
    *(
        _linear_rank(
            function,
            {parameter: value},
            partial(oracle, **{parameter: value}),
            normalize=normalize,
            scorer_name=f"{name}@{value}" if normalize == "minmax" else None,
        )
        for function, oracle, parameter, name, values in (
            (metrics.local_auc_score, linear_rank.local_auc, "u0", "local_auc", (0.6, 0.5, 0.8)),
            (metrics.p_norm_push_score, linear_rank.power, "p", "pnorm", (4, 1, 2.5)),
        )
        for value, normalize in zip(values, ("minmax", "mean", None), strict=True)
    ),
    *_cases(
        metrics.bedroc_score,
        orders.bedroc,
        _each("alpha", (20.0, 160.9), "bedroc@{:g}"),
        undefined=_one_class,
    ),
    *_cases(
        metrics.rie_score,
        orders.rie,
        _each("alpha", (20.0, 1.0), "rie@{:g}"),
        undefined=_no_positive,
    ),
]

# --------------------------------------------------------------------------- below the ROC curve

OF_TWO_CLASSES = {"undefined": _one_class, "weights": "relative"}

# 0.3 and 0.7 cut tied blocks between two negatives and within one; 0.5 falls on a negative.
PAIRS = [
    *_cases(
        metrics.roc_auc_score, orders.auc, [("auc", {})], two_dimensions=False, **OF_TWO_CLASSES
    ),
    *_cases(
        metrics.partial_auc_score,
        partial_auc.partial_auc,
        [
            (None, {}),
            ("partial_auc@fpr0.3", {"max_fpr": 0.3}),
            ("partial_auc@tpr0.5", {"min_tpr": 0.5}),
            ("partial_auc@fpr0.7tpr0.3", {"max_fpr": 0.7, "min_tpr": 0.3}),
            *(
                (None, {"max_fpr": max_fpr, "min_tpr": min_tpr, "scale": scale})
                for max_fpr, min_tpr, scale in (
                    (0.3, 0.0, "raw"),
                    (0.5, 0.0, "mcclish"),
                    (1 / 3, 0.0, "normalized"),
                    (1.0, 0.5, "raw"),
                    (0.7, 0.3, "mcclish"),
                    (0.05, 0.9, "mcclish"),
                    (0.05, 0.9, "normalized"),
                )
            ),
        ],
        partial,
        **OF_TWO_CLASSES,
    ),
    *_cases(
        "negative_height_loss@{}",
        orders.p_norm_push,
        _each("p", (4, 2.5, inf), "neg_negative_height_loss@{}"),
        partial,
        **OF_TWO_CLASSES,
    ),
    *_cases(
        "gini",
        lambda y_true, y_score: 2 * orders.expected(orders.auc, y_true, y_score) - 1,
        [("gini", {})],
        partial,
        **OF_TWO_CLASSES,
    ),
    *_cases(
        metrics.tpr_at_fpr_score,
        roc_points.tpr_at_fpr,
        _each("max_fpr", (0.3, 0.0, 0.5), "tpr@fpr{:g}"),
        **OF_TWO_CLASSES,
    ),
    *_cases(
        metrics.fpr_at_tpr_loss,
        roc_points.fpr_at_tpr,
        _each("min_tpr", (0.6, 0.5, 1.0), "neg_fpr@tpr{:g}"),
        **OF_TWO_CLASSES,
    ),
    *_cases(
        "precision@recall{:g}",
        roc_points.items_a_positive,
        _each("min_recall", (0.6, 0.5, 1.0), "precision@recall{:g}"),
        _inverse_mean,
        undefined=_no_positive,
        weights="relative",
    ),
    *_cases(
        metrics.kolmogorov_smirnov_score,
        roc_points.kolmogorov_smirnov,
        [("ks", {}), (None, {"two_sided": True})],
        partial,
        **OF_TWO_CLASSES,
    ),
]

# ------------------------------------------------------------------------------ top of the list

TOP = [
    *_cases(
        metrics.precision_at_top_score,
        orders.precision_at_top,
        _each("tau", (0.2, 0.35, 0.5), "precision@top{}"),
        weights="relative",
    ),
    *_cases(
        "recall@top{}",
        orders.recall_at_top,
        _each("tau", (0.2,), "recall@top{}"),
        undefined=_no_positive,
        weights="relative",
    ),
    *_cases(
        metrics.smoothed_precision_at_top_score,
        orders.smoothed_precision_at_top,
        _each("tau", (0.2, 0.35), "smoothed_precision@top{}"),
        weights="relative",
    ),
    *_cases(
        "enrichment@{:g}",
        orders.enrichment_factor,
        _each("tau", (0.2,), "enrichment@{:g}"),
        said="fraction",
        undefined=_no_positive,
        weights="relative",
    ),
    *_cases(
        metrics.lift_score,
        orders.lift,
        _each("tau", (0.2, 0.01), "lift@{:g}"),
        said="fraction",
        undefined=_no_positive,
        weights="relative",
    ),
    *_cases(
        metrics.positives_at_top_score,
        orders.positives_at_top,
        [("pos@top", {}), (None, {"normalize": True}, {"undefined": _no_positive})],
    ),
    *_cases(
        metrics.accuracy_at_top_loss,
        orders.accuracy_at_top,
        _each("tau", (0.2, 0.5), "neg_accuracy_loss@top{}"),
        partial,
        **OF_TWO_CLASSES,
    ),
    *_cases(
        metrics.precision_at_k_score, orders.precision_at_k, _each("k", (3, 1, 20), "precision@{}")
    ),
    *_cases(
        metrics.recall_at_k_score,
        orders.recall_at_k,
        _each("k", (3, 20), "recall@{}"),
        undefined=_no_positive,
    ),
    *_cases(
        metrics.f1_at_k_score,
        orders.f1_at_k,
        _each("k", (3,), "f1@{}"),
        undefined=_no_positive,
    ),
    *_cases(
        metrics.success_at_k_score,
        orders.success,
        _each("k", (2, 20), "success@{}"),
        undefined=_no_positive,
        weights="whole",
    ),
    *_cases(
        metrics.coverage_loss,
        orders.coverage,
        [("neg_coverage", {})],
        undefined=_no_positive,
        weights="whole",
    ),
    *_cases(
        metrics.r_precision_score,
        orders.r_precision,
        [("r_precision", {})],
        undefined=_no_positive,
        weights="relative",
    ),
    *_cases(
        metrics.bpref_score,
        orders.bpref,
        [("bpref", {})],
        undefined=_no_positive,
        weights="whole",
    ),
    *_cases(
        metrics.average_precision_score,
        orders.average_precision,
        [
            ("ap", {}),
            ("ap@2", {"k": 2}),
            (None, {"k": 3, "normalize": "reachable"}),
            (None, {"k": 3, "normalize": "found"}),
            (None, {"normalize": "found"}),
        ],
        undefined=_no_positive,
        weights="whole",
        two_dimensions=False,
    ),
    *_cases(
        metrics.reciprocal_rank_score,
        orders.reciprocal_rank,
        [("rr", {}), ("rr@2", {"k": 2}), (None, {"k": 1}), (None, {"k": 20})],
        undefined=_no_positive,
        weights="none",
    ),
]

# ----------------------------------------------------------------------------- graded relevance


def logarithmic(position, n_items):
    return 1 / log2(1 + position)


def linear(position, n_items):
    return n_items - position


def reciprocal(position, n_items):
    return 1 / position


def share_left(position, n_items):
    return 1 - (position - 1) / n_items


def root(grade):
    return np.sqrt(grade)


def _dcg(labels, gain="exponential", **parameters):
    return orders.dcg(labels, gain=gain or "exponential", **parameters)


GRADES, AMOUNTS = {"grades": (0, 1, 2, 4)}, {"grades": (-2, 0, 1, 3)}
FLAT = {"two_dimensions": False}

GRADED = [
    *_cases(
        metrics.dcg_score,
        _dcg,
        [
            ("dcg", {}, FLAT),
            ("dcg@3", {"k": 3}, FLAT),
            (None, {"k": 1, "gain": None}, FLAT),
            (None, {"k": 20, "gain": "exponential"}),
            (None, {"gain": "linear", "log_base": 10.0}),
            (None, {"gain": root, "log_base": 1.5}),
        ],
        **GRADES,
    ),
    *_cases(
        metrics.ndcg_score,
        orders.ndcg,
        [
            ("ndcg", {}, FLAT),
            ("ndcg@2", {"k": 2}, FLAT),
            (None, {"k": 1, "gain": "exponential"}),
            (None, {"k": 20, "gain": "linear"}),
            (None, {"k": 3, "gain": root, "log_base": 10.0}),
        ],
        undefined=_no_positive,
        **GRADES,
    ),
    *(
        case
        for name, ks in (("profit@{}", (1, 3, 50)), ("uplift@{}", (3,)))
        for case in _cases(name, orders.profit, _each("k", ks, name), **AMOUNTS)
    ),
    *_cases(
        "value_recall@{}",
        orders.value_recall,
        _each("k", (1, 3), "value_recall@{}"),
        grades=(1, -2, 0, 3),
        undefined=_no_gain,
    ),
    *(
        case
        for name, taus in (("profit@top{}", (0.3, 0.5)), ("uplift@top{}", (0.3,)))
        for case in _cases(
            name,
            orders.precision_at_top,
            _each("tau", taus, name),
            weights="relative",
            **AMOUNTS,
        )
    ),
    *_cases("qini", orders.qini, [("qini", {})], weights="relative", **AMOUNTS),
    *_cases("auuc", orders.auuc, [("auuc", {})], weights="relative", **AMOUNTS),
    *_cases("autoc", orders.autoc, [("autoc", {})], **AMOUNTS),
    *_cases(
        "lorenz@{}",
        orders.lorenz,
        _each("tau", (0.3, 0.05, 0.5), "lorenz@{}"),
        undefined=_no_gain,
        weights="relative",
        **GRADES,
    ),
    *_cases(
        "insurance_gini",
        orders.insurance_gini,
        [("insurance_gini", {})],
        undefined=_no_gain,
        weights="relative",
        **GRADES,
    ),
    *(
        MetricCase(
            metrics.positional_score,
            _mean(orders.positional, gain=gain, discount=oracle, k=k),
            {"gain": gain, "discount": discount, "k": k},
            **GRADES,
        )
        for gain, discount, oracle, k in (
            ("exponential", "logarithmic", logarithmic, None),
            ("linear", "logarithmic", logarithmic, 2),
            ("linear", "linear", linear, None),
            ("exponential", "linear", linear, 1),
            (root, reciprocal, reciprocal, None),
            ("linear", share_left, share_left, 3),
            ("linear", reciprocal, reciprocal, 20),
        )
    ),
    *_cases(
        metrics.expected_reciprocal_rank_score,
        orders.expected_reciprocal_rank,
        [
            (None, {"max_grade": 4}, GRADES),
            (None, {"max_grade": 4.5, "k": 2}, GRADES),
            (None, {"max_grade": 60, "k": 20}, {"grades": (0, 0.5, 3)}),
            # With the highest grade of these labels, which is what the name takes.
            ("err", {"max_grade": 1}),
            ("err@3", {"max_grade": 1, "k": 3}),
        ],
        weights="none",
    ),
    *_cases(
        metrics.rank_biased_precision_score,
        orders.rank_biased_precision,
        [
            (None, {"max_grade": 4}, GRADES),
            (None, {"max_grade": 5, "persistence": 0.95, "k": 2}, GRADES),
            ("rbp@0.3", {"max_grade": 1, "persistence": 0.3}),
        ],
        weights="none",
    ),
    *_cases(
        metrics.spearman_score,
        orders.spearman,
        [("spearman", {})],
        partial,
        undefined=_one_class,
        weights="whole",
        **AMOUNTS,
    ),
    *_cases(
        metrics.tau_b_score,
        rank_correlation.tau_b,
        [("tau_b", {})],
        partial,
        **AMOUNTS,
        **OF_TWO_CLASSES,
    ),
    *(
        case
        for oracle in (rank_correlation.somers_d, rank_correlation.c_index)
        for name in [oracle.__name__]
        for case in _cases(name, oracle, [(name, {})], partial, **AMOUNTS, **OF_TWO_CLASSES)
    ),
    *_cases("top1", orders.top_1, [("top1", {})], **AMOUNTS, **OF_TWO_CLASSES),
]

METRICS = [*LINEAR_RANK, *PAIRS, *TOP, *GRADED]

# One case of every function, for what does not depend on its own parameters.
FUNCTIONS = list({type(case.measure): case for case in reversed(METRICS)}.values())[::-1]

# One case of every way in, for what the input code does for all of them.
WAYS_IN = list({(c.grades, c.weights, c.two_dimensions): c for c in FUNCTIONS[::-1]}.values())

BIPARTITE_RANKERS = [
    AccuracyAtTopRanker(tau=0.2),
    AccuracyAtTopRanker(
        tau=0.2, selection="closest", class_weight="pairs", quantile="pairs", C=0.01
    ),
    AccuracyAtTopRanker(tau=0.2, selection="refine", C=0.01),
    AccuracyAtTopRanker(tau=0.2, selection="objective", class_weight=None, kernel="rbf"),
    PNormPushRanker(C=100.0),
    PNormPushRanker(p=2.5, loss="logistic", kernel="rbf", C=100.0),
    RankBoostRanker(10),
    RankBoostRanker(20, weak_ranker="linear", learning_rate=0.5),
    RankBoostRanker(5, weak_ranker=DecisionTreeClassifier(max_depth=2), random_state=0),
    TopPushRanker(0.8, C=10.0),
    TopPushRanker(0.7, loss="hinge", C=100.0),
    TopPushRanker(0.8, loss="logistic"),
    RankStatisticRanker(n_init=2, n_folds=2, random_state=0),
    RankStatisticRanker("bedroc@20", kernel="rbf"),
]


# Rankers that fit others or search: what holds for them is in tests/rankers.
META_RANKERS = [
    AccuracyAtTopRankerCV(),
    GroupRankerAdapter(),
    RankEnsemble(),
    RankEnsembleClassifier(),
    TopFocusedRanker(),
]

QUERY_RANKERS = [
    OrderPreservingRanker(),
    OrderPreservingRanker("pointwise_squared", measure="dcg@3", alpha=0.1),
    OrderPreservingRanker("pairwise_squared", measure="spearman"),
    OrderPreservingRanker(losses.ListwiseSoftmax(), measure="ndcg@5", solver="lbfgs"),
]

# Rankers of labels: y is an order of the same labels for each row.
LABEL_RANKERS = [
    OrderPreservingLabelRanker(),
    OrderPreservingLabelRanker("pairwise_logistic", alpha="0.1*scale"),
    OrderPreservingLabelRanker("pointwise_squared", measure="spearman", fit_intercept=False),
    OrderPreservingLabelRanker("softmax", measure="ndcg@2", alpha=0.01),
    OrderPreservingLabelRanker("pairwise_squared", solver="lbfgs"),
]


# One of each class, for what does not depend on how it is fitted.
def _one_of_each_class(rankers):
    return list({type(ranker): ranker for ranker in reversed(rankers)}.values())


BIPARTITE_CLASSES = _one_of_each_class(BIPARTITE_RANKERS)
QUERY_CLASSES = _one_of_each_class(QUERY_RANKERS)
LABEL_CLASSES = _one_of_each_class(LABEL_RANKERS)


def variance_of_influence(influence):
    """Variance of a statistic given the labels."""
    return float(joint_influence([influence]).covariance[0, 0])
