"""Base class of rankers of queries that minimise a loss of the utilities of a measure."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lists import Lists
from .._typing import FloatArray
from .._validation import check_propensities
from .._warn import warn
from ..calibration._shared import positional_form, utilities_of, warn_if_not_positional
from ..exceptions import CalibrationWarning
from ..losses import TemplateLoss, get_loss
from ..metrics import Measure, get_measure
from ._propensity import refuse_joint_utilities, refuse_other_losses
from ._query_base import QueryRanker
from ._query_checks import check_gains

__all__ = ["CalibratedRanker", "calibrated_loss", "nothing_to_learn", "with_utilities"]


class CalibratedRanker(QueryRanker):
    """Base class of rankers with parameters ``loss`` and ``measure``, which defines utilities."""

    def _utility_lists(
        self,
        X: Any,
        y: Any,
        qid: Any,
        weights: dict[str, Any],
        *,
        reset: bool,
        propensity: Any = None,
    ) -> tuple[Any, Lists]:
        """Rows and utilities of the lists for which the measure is defined, list by list.

        With propensities the utilities are divided by them, which takes ``propensity_clip``.
        """
        warn_if_not_positional(self.measure)
        measure, _ = positional_form(self.measure)
        labels = measure.label_type(name="y")
        X, lists = self._lists(X, y, qid, weights, labels=labels, reset=reset)
        check_gains(type(self).__name__, measure, lists.labels)
        examined = None
        if propensity is not None:
            refuse_other_losses(self.loss)
            refuse_joint_utilities(measure, lists.labels)
            examined = check_propensities(propensity, X.shape[0], lists.rows)
            examined = np.maximum(examined, self.propensity_clip)
        defined = with_utilities(measure, lists, examined)
        if defined is None or not np.any(defined.grade > 0):
            raise nothing_to_learn(measure, X.shape[0])
        return X, defined

    def _loss(self, lists: Lists, *, eta: float | None = None) -> TemplateLoss:
        """The loss for lists of utilities, with a warning if it is not order-preserving.

        ``eta`` is the upper limit of the utilities where the loss has one; None is that of the
        measure, or of the lists.
        """
        return self._loss_up_to(float(lists.grade.max()), eta=eta)

    def _loss_up_to(self, found: float, *, eta: float | None = None) -> TemplateLoss:
        """The same for utilities with a known maximum."""
        largest = max(positional_form(self.measure)[1].largest or 0.0, found)
        return calibrated_loss(self.loss, self.measure, eta=eta, largest=largest)

    def score(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
    ) -> float:
        """Mean of ``measure`` over the queries.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Relevance.
        qid : array-like of shape (n_samples,), default=None
            Id of the query of each row. Optional if the ranker was fitted to one query.
        sample_weight : array-like of shape (n_samples,), default=None
            Number of times each row counts.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of the query of each row.

        Returns
        -------
        float
            Value of the measure; greater is better.

        Raises
        ------
        ValueError
            If ``qid`` is None and the ranker was fitted to several queries.

        Warns
        -----
        CalibrationWarning
            If the measure is "ap" or "err", for which no order-preserving loss is calibrated.
        QueryOverlapWarning
            If the ranker was trained on some of the queries, or on other rows of them.
        """
        warn_if_not_positional(self.measure)
        return super().score(X, y, qid=qid, sample_weight=sample_weight, query_weight=query_weight)


def with_utilities(measure: Measure, lists: Lists, examined: FloatArray | None) -> Lists | None:
    """Replace labels by utilities, and leave out lists for which the measure is undefined."""
    utilities = utilities_of(measure, lists)
    if examined is not None:
        utilities = utilities / examined
    missing = np.isnan(utilities)
    if missing.all():
        return None
    lists = lists.with_labels(np.where(missing, 0.0, utilities))
    return lists.only(~missing[lists.offsets[:-1]])


def nothing_to_learn(measure: Measure, n_rows: int) -> ValueError:
    """Error for labels that give no item a utility."""
    return ValueError(
        f"No query has a row of positive utility for {measure.name}, for example because no "
        f"query contains both relevant and other rows: check y and qid (n_samples={n_rows})."
    )


def calibrated_loss(
    loss: TemplateLoss | str, measure: Any, *, eta: float | None, largest: float
) -> TemplateLoss:
    """Make the loss for lists of utilities, with a warning if it is not order-preserving."""
    if eta is not None and not isinstance(loss, str):
        raise ValueError(
            f"eta={eta:g} applies only to losses given by name, but loss is {loss!r}: set the "
            "limit of the loss object, and leave eta out."
        )
    made = get_loss(loss) if isinstance(loss, str) else loss
    if isinstance(loss, str) and np.isfinite(made.largest_utility):
        made = get_loss(loss, eta=largest if eta is None else eta)
    if not made.is_order_preserving:
        warn(
            f"{made!r} is not order-preserving: it is not calibrated for "
            f"{get_measure(measure).name} or any other measure, and its minimiser need not order "
            "items by expected utility.",
            CalibrationWarning,
        )
    return made
