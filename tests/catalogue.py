"""What the package offers, listed once: the conformance tests run over these lists.

To give a new metric its tests, list it in METRICS with its oracle. Estimators need no listing
to be checked by scikit-learn's own checks; list them in BIPARTITE_RANKERS for the tests that all
rankers of two classes share.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sklearn_rank import AccuracyAtTopRanker, metrics
from tests.oracles import orders


@dataclass(frozen=True)
class MetricCase:
    """A metric at one setting of its parameters, and what is true of it.

    ``oracle(y_true, y_score)`` takes lists; ``grades`` are the labels that it is tried on;
    ``undefined(y_true)`` says for which labels there is no value to compare.
    """

    function: Callable[..., float]
    oracle: Callable[[list, list], float]
    parameters: dict[str, Any] = field(default_factory=dict)
    grades: tuple[int, ...] = (0, 1)
    undefined: Callable[[list], bool] = lambda y_true: False
    scorer_name: str | None = None

    @property
    def greater_is_better(self) -> bool:
        return not self.function.__name__.endswith("_loss")

    def __call__(self, y_true, y_score, **arguments):
        return self.function(y_true, y_score, **self.parameters, **arguments)

    def __str__(self) -> str:
        shown = ",".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.function.__name__}({shown})"


def _mean(measure, **parameters):
    return partial(orders.expected, measure, **parameters)


def _no_positive(y_true):
    return not any(y_true)


def _one_class(y_true):
    return len(set(y_true)) < 2


METRICS = [
    *(
        MetricCase(
            metrics.precision_at_top_score,
            _mean(orders.precision_at_top, tau=tau),
            {"tau": tau},
            scorer_name=f"precision@top{tau}",
        )
        for tau in (0.2, 0.35, 0.5, 0.8)
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
            scorer_name=f"accuracy@top{tau}",
        )
        for tau in (0.2, 0.5)
    ),
    MetricCase(
        metrics.average_precision_score,
        _mean(orders.average_precision),
        undefined=_no_positive,
        scorer_name="ap",
    ),
    *(
        MetricCase(
            metrics.dcg_score,
            _mean(orders.dcg, **parameters),
            parameters,
            grades=(0, 1, 2, 4),
            scorer_name=name,
        )
        for name, parameters in (
            ("dcg", {}),
            ("dcg@3", {"k": 3}),
            (None, {"gain": "linear", "log_base": 10.0}),
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
        )
        for name, parameters in (
            ("ndcg", {}),
            ("ndcg@2", {"k": 2}),
            (None, {"k": 20, "gain": "linear"}),
        )
    ),
]

BIPARTITE_RANKERS = [
    AccuracyAtTopRanker(tau=0.2),
    AccuracyAtTopRanker(tau=0.2, class_weight="pairs", quantile="pairs", C=0.01),
    AccuracyAtTopRanker(tau=0.2, selection="objective", class_weight=None),
]
