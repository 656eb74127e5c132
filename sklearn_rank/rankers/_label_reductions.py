"""Reductions of label ranking to regressors, classifiers and rankers of queries."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags

from .._sklearn_compat import BaseSearchCV, num_samples, rows_at
from .._typing import AnyArray, FloatArray, IntArray
from ..metrics._shared import call_with_metadata, metadata_for, scores_with_ids
from ._fitting import in_parallel
from ._weighted_base import fit_with_weights, weight_argument

__all__ = [
    "LabelledRows",
    "Reduction",
    "check_takes_weights",
    "fit_pairs",
    "fit_queries",
    "fit_regressors",
    "pair_scores",
    "query_scores",
    "reduction_of",
    "regressor_scores",
]

Reduction: TypeAlias = Literal["regression", "pairs", "queries"]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows to learn from."""

    X: Any  # (n, n_features)
    targets: FloatArray
    weight: FloatArray | None  # (n,): Positive weights; None is 1

    def only(self, rows: AnyArray) -> LabelledRows:
        """Take some of them."""
        if rows.all():
            return self
        at = np.flatnonzero(rows)
        weight = None if self.weight is None else self.weight[at]
        return LabelledRows(rows_at(self.X, at), self.targets[at], weight)


def reduction_of(estimator: Any) -> Reduction:
    """Find how labels can be ranked by an estimator."""
    if not isinstance(estimator, type):
        if metadata_for(estimator, "fit", qid=0):
            return "queries"
        if is_regressor(estimator):
            return "regression"
        if is_classifier(estimator):
            if hasattr(estimator, "predict_proba"):
                return "pairs"
            raise TypeError(
                f"{estimator!r} has no predict_proba, which is needed to combine pairs of "
                "labels: wrap it in CalibratedClassifierCV(...) of sklearn.calibration, or pass "
                "a regressor."
            )
    raise TypeError(
        f"{estimator!r} is not a regressor, a classifier or a ranker whose fit takes qid: pass "
        "an instance such as ExtraTreesRegressor(), LogisticRegression() or "
        "BoostedOrderPreservingRanker(); wrap LGBMRanker and CatBoostRanker in "
        "GroupRankerAdapter(...)."
    )


def check_takes_weights(estimator: Any, reduction: Reduction) -> None:
    """Refuse weights that an estimator would not see."""
    argument = "sample_weight"
    if reduction == "queries":
        argument = "query_weight"
        taken = bool(metadata_for(estimator, "fit", query_weight=0))
    else:
        try:
            taken = bool(weight_argument(estimator, regressors=True))
        except TypeError:
            taken = False
    if not taken:
        raise ValueError(
            f"sample_weight was given, but fit of {type(estimator).__name__} takes no "
            f"{argument}: leave it out, or pass an estimator that takes weights, such as "
            "ExtraTreesRegressor(). A ranker in a pipeline requests them by "
            "set_fit_request(query_weight=True), with metadata routing enabled."
        )


# ---------------------------------------------------------------------- regression of utilities


def fit_regressors(estimator: Any, rows: LabelledRows, n_jobs: int | None) -> list[Any]:
    """Fit clones of a regressor to the targets."""
    known = ~np.isnan(rows.targets)
    if known.all() and _takes_several_outputs(estimator):
        return [fit_with_weights(estimator, rows.X, rows.targets, rows.weight)]
    calls = ((estimator, rows.only(has_label), label) for label, has_label in enumerate(known.T))
    return in_parallel(n_jobs, _fitted_to_label, calls)


def _takes_several_outputs(estimator: Any) -> bool:
    while isinstance(estimator, BaseSearchCV):
        estimator = estimator.estimator
    return bool(get_tags(estimator).target_tags.multi_output)


def _fitted_to_label(estimator: Any, rows: LabelledRows, label: int) -> Any:
    target = np.ascontiguousarray(rows.targets[:, label])
    return fit_with_weights(estimator, rows.X, target, rows.weight)


def regressor_scores(models: list[Any], X: Any, n_labels: int) -> FloatArray:
    """Predict the utilities of the labels. Shape (n, n_labels)."""
    if len(models) == 1:
        return np.asarray(models[0].predict(X), dtype=np.float64).reshape(-1, n_labels)
    return np.column_stack([np.ravel(one.predict(X)) for one in models]).astype(np.float64)


# -------------------------------------------------------------------------- classifiers of pairs


def fit_pairs(estimator: Any, rows: LabelledRows, n_jobs: int | None) -> list[Any]:
    """Fit clones of a classifier to pairs of labels."""
    pairs = combinations(range(rows.targets.shape[1]), 2)
    return in_parallel(n_jobs, _fitted_to_pair, ((estimator, rows, *pair) for pair in pairs))


def _fitted_to_pair(estimator: Any, rows: LabelledRows, first: int, second: int) -> Any:
    # Missing labels make it NaN, which is neither above nor below.
    lead = rows.targets[:, first] - rows.targets[:, second]
    decided = (lead > 0) | (lead < 0)
    is_above = (lead[decided] > 0).astype(np.int64)
    if len(is_above) == 0:
        return 0.5
    if is_above[0] == is_above.max() == is_above.min():
        return float(is_above[0])
    taken = rows.only(decided)
    return fit_with_weights(estimator, taken.X, is_above, taken.weight)


def pair_scores(models: list[Any], X: Any, n_labels: int, *, hard: bool) -> FloatArray:
    """Join the classifiers of pairs to scores of the labels. Shape (n, n_labels)."""
    shares, votes = np.zeros((2, num_samples(X), n_labels))
    for model, (first, second) in zip(models, combinations(range(n_labels), 2), strict=True):
        lead = 2.0 * (model if isinstance(model, float) else model.predict_proba(X)[:, 1]) - 1.0
        shares[:, first] += lead
        shares[:, second] -= lead
        votes[:, first] += np.sign(lead)
        votes[:, second] -= np.sign(lead)
    shares = (shares / (n_labels - 1) + 1.0) / 2.0
    return (votes + n_labels - 1) / 2.0 + shares / 3.0 if hard else shares


# ----------------------------------------------------------------------------- queries of labels


def fit_queries(estimator: Any, rows: LabelledRows) -> Any:
    """Fit a clone of a ranker of queries to the labels of each row."""
    row, label = np.nonzero(~np.isnan(rows.targets))
    items = _items(rows.X, row, label, rows.targets.shape[1])
    given = {"qid": row, "query_weight": None if rows.weight is None else rows.weight[row]}
    model = call_with_metadata(clone(estimator), "fit", items, rows.targets[row, label], **given)
    if _is_linear(model, items.shape[1]):
        raise ValueError(
            f"{estimator!r} is linear and would give all rows the same order of labels: use "
            "OrderPreservingLabelRanker(), which has coefficients for each label, or pass a "
            "ranker of trees, such as BoostedOrderPreservingRanker()."
        )
    return model


def _is_linear(model: Any, n_features: int) -> bool:
    """Whether a fitted ranker, what it ends in, or all its members are linear in the features."""
    steps = getattr(model, "steps", None)
    if steps:
        return _is_linear(steps[-1][1], n_features)
    members = getattr(model, "estimators_", None)
    if members is not None and len(members):
        return all(_is_linear(one, n_features) for one in members)
    return np.size(getattr(model, "coef_", ())) == n_features


def _items(X: Any, row: IntArray, label: IntArray, n_labels: int) -> Any:
    """Features of the row beside indicators of the label, for each item."""
    n_items, n_features = len(row), X.shape[1]
    if sp.issparse(X):
        indicators = sp.csr_matrix(
            (np.ones(n_items), label, np.arange(n_items + 1)), shape=(n_items, n_labels)
        )
        return sp.hstack([X[row], indicators], format="csr")
    items = np.zeros((n_items, n_features + n_labels))
    items[:, :n_features] = X[row]
    items[np.arange(n_items), n_features + label] = 1.0
    return items


def query_scores(model: Any, X: Any, n_labels: int) -> FloatArray:
    """Score the labels of rows by a ranker of queries. Shape (n, n_labels)."""
    row = np.repeat(np.arange(X.shape[0]), n_labels)
    items = _items(X, row, np.tile(np.arange(n_labels), X.shape[0]), n_labels)
    return np.asarray(scores_with_ids(model, items, row), dtype=np.float64).reshape(-1, n_labels)
