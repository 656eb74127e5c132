"""A loss as the objective of LightGBM and XGBoost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import ArrayPair, FloatArray
from ..losses import TemplateLoss
from ..losses._shared import check_loss


def boosting_objective(
    loss: TemplateLoss | str, *, utility: Callable[..., Any] | None = None
) -> BoostingObjective:
    """Make a loss the objective of the boosted trees of LightGBM or XGBoost.

    The trees then minimise the sum of the loss over the queries.

    Parameters
    ----------
    loss : str or TemplateLoss
        Loss: a name that :func:`get_loss` takes, or a loss object. A loss with an upper limit of
        the utilities needs it, such as ``get_loss("pointwise_logistic", eta=1.0)``.
    utility : callable or None, default=None
        Function of the labels and ``qid`` that returns the utilities, such as
        ``functools.partial(sklearn_rank.calibration.utility, "ndcg@10")``. None takes the labels
        as the utilities.

    Returns
    -------
    BoostingObjective
        A callable that can be pickled, copied and cloned. It returns the gradient and the
        curvature of each row. LightGBM takes it as ``LGBMRanker(objective=...)`` or as
        ``lightgbm.train({"objective": ...}, data)``, and XGBoost as ``xgboost.train(params, data,
        obj=...)`` with the ids or sizes of the queries in ``data``.

    Raises
    ------
    ValueError
        If a library calls the objective without queries, with a utility outside the domain of the
        loss, or with weights that differ within a query.

    See Also
    --------
    sklearn_rank.GroupRankerAdapter : Passes query ids to the libraries, and stops early.

    Notes
    -----
    ``XGBRanker`` accepts no objective of users, so that XGBoost needs ``xgboost.train``. CatBoost
    does not tell an objective which rows form a query, so that it cannot use one of these losses;
    ``CatBoostRanker`` refuses the objective, and ``CatBoost`` stops with an error.

    Scores start at 0. The curvature is the diagonal of the Hessian. Where that is less than a
    thousandth of its mean, or the loss has no second derivatives, it is the absolute gradient, so
    that a leaf of such rows moves by at most the learning rate. Weights of rows, which must be
    equal within each query, are the weights of the queries.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.losses import boosting_objective
    >>> objective = boosting_objective("softmax")
    >>> gradient, curvature = objective(
    ...     np.array([0.0, 1.0]), np.zeros(2), None, np.array([2])
    ... )
    >>> gradient, curvature
    (array([ 0.5, -0.5]), array([0.25, 0.25]))
    """
    return BoostingObjective(check_loss(loss), utility)


class BoostingObjective:
    """Gradient and curvature of a loss, as libraries of boosted trees call them."""

    def __init__(self, loss: TemplateLoss, utility: Callable[..., Any] | None) -> None:
        self.loss, self.utility = loss, utility

    def __repr__(self) -> str:
        return f"boosting_objective({self.loss!r}, utility={self.utility!r})"

    # LightGBM passes the groups only to a function of four arguments.
    def __call__(
        self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None
    ) -> ArrayPair:
        if hasattr(y_pred, "get_label"):
            # lightgbm.train and xgboost.train pass scores and a data set.
            y_true, y_pred, weight, group = _columns_of(y_pred, y_true)
        if group is None or not len(group):
            raise ValueError(
                f"{self!r} got no queries: use LGBMRanker, or pass group= to lightgbm.Dataset and "
                "qid= to xgboost.DMatrix."
            )
        ends = np.cumsum(np.asarray(group, dtype=np.int64))
        list_of = np.repeat(np.arange(len(ends)), group)
        utility = y_true if self.utility is None else self.utility(y_true, qid=list_of)
        weight = None if weight is None or not len(weight) else _query_weight(weight, ends)
        lists = self.loss.on(utility, np.append(0, ends), query_weight=weight)
        if not self.loss.has_curvature:
            gradient = lists.value_and_gradient(y_pred)[1]
            return gradient, np.abs(gradient)
        gradient, curvature = lists.gradient_and_curvature(y_pred)
        is_flat = curvature <= 1e-3 * curvature.mean()
        return gradient, np.where(is_flat, np.abs(gradient), curvature)

    def calc_ders_range(self, *_: Any) -> None:
        """Raise an error in CatBoost, which passes no queries."""
        raise NotImplementedError(
            f"{self!r} cannot be used in CatBoost, which passes no queries to an objective: use "
            "LightGBM or XGBoost, or one of the losses of CatBoost."
        )


def _columns_of(data: Any, scores: Any) -> tuple[Any, Any, Any, Any]:
    """Labels, scores, weights and sizes of queries of a data set of LightGBM or XGBoost."""
    if hasattr(data, "get_group"):
        group = data.get_group()
    else:
        group = np.diff(data.get_uint_info("group_ptr").astype(np.int64))
    return data.get_label(), scores, data.get_weight(), group


def _query_weight(weight: Any, ends: Any) -> FloatArray:
    """Weight of each query, from weights of queries or of rows."""
    weight = np.asarray(weight, dtype=np.float64)
    if len(weight) == len(ends):
        return weight
    by_query = weight[ends - 1]
    if not np.array_equal(weight, np.repeat(by_query, np.diff(ends, prepend=0))):
        raise ValueError(
            "Weights differ within a query, but a loss of queries has one weight for each: pass "
            "equal weights of its rows, or repeat rows."
        )
    return by_query
