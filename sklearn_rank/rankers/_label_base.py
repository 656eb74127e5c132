"""Base class of label rankers: orders of labels, their utilities, scores and positions."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._label_orders import TARGET_TYPES, LabelOrders, read_label_orders, rows_numbered
from .._lists import Lists
from .._sklearn_compat import StrOptions, check_sample_weight, rows_at
from .._typing import AnyArray, BoolArray, FloatArray
from .._validation import ravelled, validate_data
from .._warn import warn
from ..calibration._shared import utilities_of, warn_if_not_positional
from ..exceptions import CalibrationWarning
from ..metrics import Measure, get_measure, rank_positions
from ..metrics._shared import check_two_grades, scored_labels
from ._base import Ranker, refuse_blocked
from ._query_base import MEASURE_CONSTRAINTS, check_gains


def utility_lists(
    name: str, measure: Any, orders: LabelOrders, weight: FloatArray | None
) -> tuple[Lists, BoolArray]:
    """Lists of the labels of rows with their utilities, and which rows have them."""
    has_labels: BoolArray = np.logical_or.reduce(orders.known, axis=1)
    if not has_labels.all():
        # A row without labels has no list.
        orders = LabelOrders(orders.grades[has_labels], orders.labels, orders.target_type)
        weight = None if weight is None else weight[has_labels]
        lists, has_utility = utility_lists(name, measure, orders, weight)
        rows = has_labels.copy()
        rows[has_labels] = has_utility
        return lists, rows
    measure = get_measure(measure)
    if measure.positional is not None:
        warn_if_not_positional(measure)
        orders = _check_grades(name, measure, orders)
    elif not measure.compares_pairs:
        warn(
            f"{measure.name} defines no utilities of labels, so the Borda share is learned "
            "instead, which suits measures of whole orders such as 'tau_b': pass a measure with "
            "utilities, such as 'ndcg' or 'precision@1'.",
            CalibrationWarning,
        )
    lists = orders.lists(weight)
    if measure.kind == "binary" and measure.positional is not None:
        lists = lists.with_labels(lists.labels > 0)
    utilities = label_utilities(measure, lists)
    has_utility = ~np.isnan(utilities[lists.offsets[:-1]])
    if not np.any(utilities > 0):
        raise ValueError(
            f"No row of y has a label of positive utility for {measure.name} (all labels of each "
            "row are tied, or each row has one label): check y and target_type."
        )
    lists = lists.with_labels(utilities)
    if has_utility.all():
        return lists, has_utility
    orders = LabelOrders(orders.grades[has_utility], orders.labels, orders.target_type)
    utilities = utilities[lists.to_items(has_utility)]
    weight = None if weight is None else weight[has_utility]
    return orders.lists(weight).with_labels(utilities), has_utility


def _check_grades(name: str, measure: Measure, orders: LabelOrders) -> LabelOrders:
    """Check grades for a measure with utilities; those of two classes become 0 and 1."""
    grades = orders.grades
    if measure.kind == "binary":
        check_two_grades(measure, grades)
        least = 1.0 if measure.rel is None else measure.rel
        grades = np.where(np.isnan(grades), np.nan, grades >= least)
        return LabelOrders(grades, orders.labels, orders.target_type)
    low = grades < measure.label_type(name="y").lowest
    if low.any():
        row, column = np.argwhere(low)[0].tolist()
        raise ValueError(
            f"y is {grades[row, column]:g} in row {row} for label "
            f"{orders.labels.tolist()[column]!r}, but {measure.name} needs relevances of at "
            "least 0: shift them, or pass target_type='positions' if 1 is the top."
        )
    check_gains(name, measure, grades[~np.isnan(grades)])
    return orders


def label_utilities(measure: Any, lists: Lists) -> FloatArray:
    """Utilities of labels, whose order is the one to learn. Shape (n,)."""
    measure = get_measure(measure)
    if measure.positional is not None:
        return utilities_of(measure, lists)
    below = lists.lengths[lists.list_of] - rank_positions(lists.grade, qid=lists.list_of)
    with np.errstate(invalid="ignore"):
        shares = below / lists.to_items(lists.lengths - 1.0)
    constant = lists.largest(lists.grade) == -lists.largest(-lists.grade)
    return np.where(lists.to_items(constant), np.nan, shares)


class LabelOrderRanker(Ranker, metaclass=ABCMeta):
    """Base class of label rankers, whose ``predict`` returns a score for each label.

    A subclass has the parameters ``target_type`` and ``measure``; its constraints begin with
    ``**LabelOrderRanker._parameter_constraints``. Its fit begins with :meth:`_labelled`, and it
    defines ``_scores``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "measure": MEASURE_CONSTRAINTS,
        "target_type": [StrOptions(set(TARGET_TYPES))],
    }

    # Format of sparse matrices that X may be; False is none.
    _sparse: ClassVar[Any] = "csr"
    # Value of scikit-learn's validation parameter for finite X.
    _finite: Any = True

    labels_: AnyArray
    n_labels_: int
    target_type_: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        # Sparse rows with one class each need a word more: see _labelled.
        tags.input_tags.sparse = self._sparse is not False and self.target_type != "auto"
        tags.input_tags.allow_nan = self._finite == "allow-nan"
        return tags

    @abstractmethod
    def _scores(self, X: Any) -> FloatArray:
        """Scores of the labels of validated rows, of shape (n_samples, n_labels)."""

    def _checked_rows(self, X: Any, *, reset: bool) -> Any:
        refuse_blocked(self, X)
        return validate_data(
            self,
            X,
            dtype=np.float64,
            accept_sparse=self._sparse,
            ensure_all_finite=self._finite,
            reset=reset,
        )

    def _labelled(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, LabelOrders, FloatArray | None]:
        """Check the arguments of ``fit``, and store the labels.

        Rows of weight 0 are left out; the weights are None where all are 1.
        """
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y"
                " is None."
            )
        X = self._checked_rows(X, reset=True)
        check_consistent_length(X, y)
        weight = check_sample_weight(ravelled(sample_weight, "sample_weight"), X)
        rows = np.flatnonzero(weight)
        if len(rows) < len(weight):
            X, y, weight = rows_at(X, rows), rows_at(y, rows), weight[rows]
        with rows_numbered(rows):
            orders = read_label_orders(y, self.target_type)
        if issparse(X) and self.target_type == "auto" and orders.target_type == "classes":
            raise ValueError(
                "X is sparse and y has one class per row, as a classifier takes them, but"
                f" {type(self).__name__} predicts a score for each label: if that is meant, pass"
                ' target_type="classes".'
            )
        self.labels_, self.n_labels_ = orders.labels, len(orders.labels)
        self.target_type_ = orders.target_type
        return X, orders, None if np.all(weight == 1.0) else weight

    def label_grades(self, y: Any) -> FloatArray:
        """Convert orders of labels to grades, the ``y_true`` of measures.

        Parameters
        ----------
        y : array-like, sparse matrix or DataFrame
            Orders of the same labels, in the same form as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Grades, with columns in the order of :attr:`labels_`. A greater grade is nearer to the
            top, NaN is a missing label.
        """
        check_is_fitted(self)
        return read_label_orders(y, self.target_type_, self.labels_).grades

    def predict(self, X: Any) -> FloatArray:
        """Predict scores of the labels; a greater score is nearer to the top.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Scores, with columns in the order of :attr:`labels_`. They order the labels of one row;
            scores of different rows need not be comparable.
        """
        check_is_fitted(self)
        return self._scores(self._checked_rows(X, reset=False))

    def decision_function(self, X: Any) -> FloatArray:
        """Predict scores of the labels; the same as :meth:`predict`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Scores.
        """
        return self.predict(X)

    def rank(self, X: Any) -> FloatArray:
        """Predict the positions of the labels, 1 at the top.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Positions from 1, the top, with columns in the order of :attr:`labels_`. Tied labels
            get the mean of their positions.
        """
        scores = self.predict(X)
        rows = np.repeat(np.arange(len(scores)), scores.shape[1])
        return rank_positions(scores.ravel(), qid=rows).reshape(scores.shape)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean over the rows of the measure set by the parameter ``measure``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like, sparse matrix or DataFrame
            Orders of the same labels, in the same form as in ``fit``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row in the mean.

        Returns
        -------
        float
            Mean over the rows; greater is better.

        Raises
        ------
        ScorerSetupError
            If the measure does not apply to the grades, such as a measure of two classes for more
            grades.
        """
        scores = self.predict(X)
        measure = get_measure(self.measure)
        lists = scored_labels(measure, y, scores, self.label_grades, sample_weight=sample_weight)
        value = measure.of_lists(lists)
        return float(value if measure.greater_is_better else -value)
