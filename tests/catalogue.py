"""What the package offers, listed once: the conformance tests run over these lists.

To give a new measure its tests, list it in METRICS with its oracle. Estimators need no listing
to be checked by scikit-learn's own checks; list them in BIPARTITE_RANKERS for the tests that all
rankers of two classes share.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import inf, log2
from typing import Any

import numpy as np
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


def _mean(measure, **parameters):
    return partial(orders.expected, measure, **parameters)


def _cases(function, oracle, parameter, values, name=None, said=None, **case):
    """Cases of one parameter, each named by its value; ``said`` is its name in the oracle."""
    return [
        MetricCase(
            function.format(value) if isinstance(function, str) else function,
            _mean(oracle, **{said or parameter: value}),
            {} if isinstance(function, str) else {parameter: value},
            scorer_name=(name or function).format(value),
            **case,
        )
        for value in values
    ]


def _no_positive(y_true):
    return not any(y_true)


def _no_gain(y_true):
    return not any(amount > 0 for amount in y_true)


def _one_class(y_true):
    return len(set(y_true)) < 2


# -------------------------------------------------------------------------- linear rank statistics


def smoothstep(u):
    return u * u * (3.0 - 2.0 * u)


def _linear_rank(function, phi, ties="average", normalize="mean", shape=None, **case):
    """A case of ``function``; ``shape`` is phi's oracle and that oracle's parameters."""
    reference, own = shape

    def undefined(y_true):
        if normalize == "mean":
            return _no_positive(y_true)
        if normalize == "minmax":
            return _one_class(y_true) or linear_rank.is_constant(len(y_true), reference, **own)
        return False

    return MetricCase(
        function,
        partial(linear_rank.statistic, phi=reference, ties=ties, normalize=normalize, **own),
        {**phi, **({"ties": ties} if ties != "average" else {}), "normalize": normalize},
        undefined=undefined,
        **case,
    )


# 0.5, 0.6 and 3/7 fall on a rank over n + 1 in lists of 1, 3 and 5, of 4, and of 6.
PHIS = [
    (metrics.Wilcoxon(), (linear_rank.wilcoxon, {})),
    (metrics.LocalAUC(0), (linear_rank.local_auc, {"u0": 0})),
    (metrics.LocalAUC(0.5), (linear_rank.local_auc, {"u0": 0.5})),
    (metrics.LocalAUC(0.6), (linear_rank.local_auc, {"u0": 0.6})),
    (metrics.LocalAUC(3 / 7), (linear_rank.local_auc, {"u0": 3 / 7})),
    (metrics.LocalAUC(0.99), (linear_rank.local_auc, {"u0": 0.99})),
    (metrics.Power(0.5), (linear_rank.power, {"p": 0.5})),
    (metrics.Power(4), (linear_rank.power, {"p": 4})),
    (metrics.TopDCG(1), (linear_rank.top_dcg, {"k": 1})),
    (metrics.TopDCG(3), (linear_rank.top_dcg, {"k": 3})),
    (metrics.TopDCG(50), (linear_rank.top_dcg, {"k": 50})),
    (metrics.Exponential(1.0), (linear_rank.exponential, {"alpha": 1.0})),
    (metrics.Exponential(20), (linear_rank.exponential, {"alpha": 20})),
    (metrics.Cauchy(0.25), (linear_rank.cauchy, {"width": 0.25})),
    (metrics.VanDerWaerden(), (linear_rank.van_der_waerden, {})),
    (smoothstep, (linear_rank.of_share, {"function": smoothstep})),
]

LINEAR_RANK = [
    *(
        _linear_rank(metrics.linear_rank_score, {"phi": name}, shape=(shape, {}))
        for name, shape in (
            ("wilcoxon", linear_rank.wilcoxon),
            ("van_der_waerden", linear_rank.van_der_waerden),
        )
    ),
    # Each phi by its largest and smallest sums, and in turn by the other ways.
    *(
        _linear_rank(metrics.linear_rank_score, {"phi": phi}, ties, normalize, shape)
        for i, (phi, shape) in enumerate(PHIS)
        for ties, normalize in (
            ("max" if i % 2 else "average", "minmax"),
            (("average", "mid", "max", "average")[i % 4], (None, "mean", None, "mean")[i % 4]),
        )
        # In short lists no place counts.
        if not (phi == metrics.LocalAUC(0.99) and normalize == "minmax")
    ),
    *(
        _linear_rank(
            metrics.local_auc_score,
            {"u0": u0},
            normalize=normalize,
            shape=(linear_rank.local_auc, {"u0": u0}),
            scorer_name=f"local_auc@{u0}" if (u0, normalize) == (0.6, "minmax") else None,
        )
        for u0, normalize in ((0.6, "minmax"), (0.5, "mean"), (0.8, None))
    ),
    *(
        _linear_rank(
            metrics.p_norm_push_score,
            {"p": p},
            normalize=normalize,
            shape=(linear_rank.power, {"p": p}),
            scorer_name=f"pnorm@{p}" if normalize == "minmax" else None,
        )
        for p, normalize in ((4, "minmax"), (1, "mean"), (2.5, None))
    ),
    *_cases(
        metrics.bedroc_score,
        orders.bedroc,
        "alpha",
        (20.0, 160.9),
        "bedroc@{:g}",
        undefined=_one_class,
    ),
    *_cases(
        metrics.rie_score, orders.rie, "alpha", (20.0, 1.0), "rie@{:g}", undefined=_no_positive
    ),
]

# --------------------------------------------------------------------------- below the ROC curve

_PARTS = {
    (("max_fpr", 0.3),): "partial_auc@fpr0.3",
    (("min_tpr", 0.5),): "partial_auc@tpr0.5",
    (("max_fpr", 0.7), ("min_tpr", 0.3)): "partial_auc@fpr0.7tpr0.3",
}

# 0.3 and 0.7 cut tied blocks between two negatives and within one; 0.5 falls on a negative.
PAIRS = [
    MetricCase(
        metrics.roc_auc_score,
        _mean(orders.auc),
        undefined=_one_class,
        scorer_name="auc",
        weights="relative",
        two_dimensions=False,
    ),
    *(
        MetricCase(
            metrics.partial_auc_score,
            partial(partial_auc.partial_auc, **parameters),
            parameters,
            undefined=_one_class,
            weights="relative",
            scorer_name=_PARTS.get(tuple(parameters.items())),
        )
        for parameters in (
            {},
            *map(dict, _PARTS),
            *(
                {"max_fpr": max_fpr, "min_tpr": min_tpr, "scale": scale}
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
        )
    ),
    *(
        MetricCase(
            f"negative_height_loss@{p}",
            partial(orders.p_norm_push, p=p),
            undefined=_one_class,
            scorer_name=f"neg_negative_height_loss@{p}",
            weights="relative",
        )
        for p in (4, 2.5, inf)
    ),
    MetricCase(
        "gini",
        lambda y_true, y_score: 2 * orders.expected(orders.auc, y_true, y_score) - 1,
        undefined=_one_class,
        scorer_name="gini",
        weights="relative",
    ),
    *_cases(
        metrics.tpr_at_fpr_score,
        roc_points.tpr_at_fpr,
        "max_fpr",
        (0.3, 0.0, 0.5),
        "tpr@fpr{:g}",
        undefined=_one_class,
        weights="relative",
    ),
    *_cases(
        metrics.fpr_at_tpr_loss,
        roc_points.fpr_at_tpr,
        "min_tpr",
        (0.6, 0.5, 1.0),
        "neg_fpr@tpr{:g}",
        undefined=_one_class,
        weights="relative",
    ),
    *(
        MetricCase(
            metrics.kolmogorov_smirnov_score,
            partial(roc_points.kolmogorov_smirnov, **parameters),
            parameters,
            undefined=_one_class,
            scorer_name=None if parameters else "ks",
            weights="relative",
        )
        for parameters in ({}, {"two_sided": True})
    ),
]

# ------------------------------------------------------------------------------ top of the list

TOP = [
    *(
        case
        for function, oracle, name in (
            (metrics.precision_at_top_score, orders.precision_at_top, "precision@top{}"),
            (
                metrics.smoothed_precision_at_top_score,
                orders.smoothed_precision_at_top,
                "smoothed_precision@top{}",
            ),
        )
        for case in _cases(function, oracle, "tau", (0.2, 0.35, 0.5), name, weights="relative")
    ),
    *(
        case
        for function, oracle, values, name in (
            ("enrichment@{:g}", orders.enrichment_factor, (0.2, 0.35, 0.5), "enrichment@{:g}"),
            (metrics.lift_score, orders.lift, (0.2, 0.35, 0.01), "lift@{:g}"),
        )
        for case in _cases(
            function,
            oracle,
            "tau",
            values,
            name,
            said="fraction",
            undefined=_no_positive,
            weights="relative",
        )
    ),
    MetricCase(
        metrics.positives_at_top_score, _mean(orders.positives_at_top), scorer_name="pos@top"
    ),
    MetricCase(
        metrics.positives_at_top_score,
        _mean(orders.positives_at_top, normalize=True),
        {"normalize": True},
        undefined=_no_positive,
    ),
    *(
        MetricCase(
            metrics.accuracy_at_top_loss,
            partial(orders.accuracy_at_top, tau=tau),
            {"tau": tau},
            undefined=_one_class,
            scorer_name=f"neg_accuracy_loss@top{tau}",
            weights="relative",
        )
        for tau in (0.2, 0.5)
    ),
    *_cases(metrics.precision_at_k_score, orders.precision_at_k, "k", (3, 1, 20), "precision@{}"),
    *(
        case
        for function, oracle, name in (
            (metrics.recall_at_k_score, orders.recall_at_k, "recall@{}"),
            (metrics.f1_at_k_score, orders.f1_at_k, "f1@{}"),
        )
        for case in _cases(function, oracle, "k", (3, 1, 20), name, undefined=_no_positive)
    ),
    *_cases(
        metrics.success_at_k_score,
        orders.success,
        "k",
        (2, 3, 20),
        "success@{}",
        undefined=_no_positive,
        weights="whole",
    ),
    MetricCase(
        metrics.coverage_loss,
        _mean(orders.coverage),
        undefined=_no_positive,
        weights="whole",
        scorer_name="neg_coverage",
    ),
    MetricCase(
        metrics.r_precision_score,
        _mean(orders.r_precision),
        undefined=_no_positive,
        scorer_name="r_precision",
        weights="relative",
    ),
    *(
        MetricCase(
            metrics.average_precision_score,
            _mean(orders.average_precision, **parameters),
            parameters,
            undefined=_no_positive,
            scorer_name=name,
            weights="whole",
            two_dimensions=False,
        )
        for name, parameters in (
            ("ap", {}),
            ("ap@2", {"k": 2}),
            (None, {"k": 3, "normalize": "reachable"}),
            (None, {"k": 3, "normalize": "found"}),
            (None, {"normalize": "found"}),
        )
    ),
    *(
        MetricCase(
            metrics.reciprocal_rank_score,
            _mean(orders.reciprocal_rank, **parameters),
            parameters,
            undefined=_no_positive,
            scorer_name=name,
            weights="none",
        )
        for name, parameters in (
            ("rr", {}),
            ("rr@2", {"k": 2}),
            (None, {"k": 1}),
            (None, {"k": 20}),
        )
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


GRADED = [
    *(
        MetricCase(
            metrics.dcg_score,
            _mean(orders.dcg, **{**parameters, "gain": parameters.get("gain") or "exponential"}),
            parameters,
            grades=(0, 1, 2, 4),
            scorer_name=name,
            two_dimensions="gain" in parameters and parameters["gain"] is not None,
        )
        for name, parameters in (
            ("dcg", {}),
            ("dcg@3", {"k": 3}),
            (None, {"k": 1, "gain": None}),
            (None, {"k": 20, "gain": "exponential"}),
            (None, {"gain": "linear", "log_base": 10.0}),
            (None, {"gain": root, "log_base": 1.5}),
        )
    ),
    *(
        MetricCase(
            metrics.ndcg_score,
            _mean(orders.ndcg, **parameters),
            parameters,
            grades=(0, 1, 2, 4),
            undefined=_no_positive,
            scorer_name=name,
            two_dimensions="gain" in parameters,
        )
        for name, parameters in (
            ("ndcg", {}),
            ("ndcg@2", {"k": 2}),
            (None, {"k": 1, "gain": "exponential"}),
            (None, {"k": 20, "gain": "linear"}),
            (None, {"k": 3, "gain": root, "log_base": 10.0}),
        )
    ),
    *_cases("profit@{}", orders.profit, "k", (1, 3, 50), grades=(-2, 0, 1, 3)),
    *_cases(
        "value_recall@{}",
        orders.value_recall,
        "k",
        (1, 3),
        grades=(1, -2, 0, 3),
        undefined=_no_gain,
    ),
    *_cases(
        "profit@top{}",
        orders.precision_at_top,
        "tau",
        (0.3, 0.5),
        grades=(-2, 0, 1, 3),
        weights="relative",
    ),
    *(
        MetricCase(
            metrics.positional_score,
            _mean(orders.positional, gain=gain, discount=oracle, k=k),
            {"gain": gain, "discount": discount, "k": k},
            grades=(0, 1, 2, 4),
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
    *(
        MetricCase(
            metrics.expected_reciprocal_rank_score,
            _mean(orders.expected_reciprocal_rank, **parameters),
            parameters,
            grades=grades,
            scorer_name=name,
            weights="none",
        )
        for name, grades, parameters in (
            (None, (0, 1, 2, 4), {"max_grade": 4}),
            (None, (0, 1, 2, 4), {"max_grade": 4.5, "k": 2}),
            (None, (0, 0.5, 3), {"max_grade": 60, "k": 20}),
            # With the highest grade of these labels, which is what the name takes.
            ("err", (0, 1), {"max_grade": 1}),
            ("err@3", (0, 1), {"max_grade": 1, "k": 3}),
        )
    ),
    *(
        MetricCase(
            metrics.rank_biased_precision_score,
            _mean(orders.rank_biased_precision, **parameters),
            parameters,
            grades=grades,
            scorer_name=name,
            weights="none",
        )
        for name, grades, parameters in (
            (None, (0, 1, 2, 4), {"max_grade": 4}),
            (None, (0, 1, 2, 4), {"max_grade": 5, "persistence": 0.95, "k": 2}),
            ("rbp@0.3", (0, 1), {"max_grade": 1, "persistence": 0.3}),
        )
    ),
    MetricCase(
        metrics.spearman_score,
        orders.spearman,
        grades=(-2, 0, 1, 3),
        undefined=_one_class,
        weights="whole",
        scorer_name="spearman",
    ),
    MetricCase(
        metrics.tau_b_score,
        rank_correlation.tau_b,
        grades=(-2, 0, 1, 3),
        undefined=_one_class,
        weights="relative",
        scorer_name="tau_b",
    ),
    MetricCase(
        "top1",
        _mean(orders.top_1),
        grades=(-2, 0, 1, 3),
        undefined=_one_class,
        weights="relative",
        scorer_name="top1",
    ),
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
