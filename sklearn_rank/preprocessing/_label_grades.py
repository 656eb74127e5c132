"""Conversion of orders of labels to a matrix of grades."""

from __future__ import annotations

from typing import Any

from .._arguments import check_flag
from .._label_orders import TargetType, read_label_orders
from .._typing import AnyArray, FloatArray


def label_grades(
    y: Any,
    *,
    target_type: TargetType = "auto",
    labels: Any = None,
    return_labels: bool = False,
) -> FloatArray | tuple[FloatArray, AnyArray]:
    """Convert orders of labels, one for each row, to grades for label ranking.

    The grade of a label is the number of labels of the row below it; a greater grade is nearer to
    the top. Utilities and indicators are kept as grades.

    Parameters
    ----------
    y : array-like, sparse matrix or DataFrame
        The orders, in the form set by ``target_type``.
    target_type : str, default="auto"
        Form of ``y``:

        - "utilities": one column for each label. A greater value is nearer to the top, NaN is a
          missing label;
        - "positions": one column for each label. 1 is the top, NaN is a missing label. Tied labels
          have equal numbers: the first, the middle or the last of the positions that they share,
          or consecutive numbers without gaps. With missing labels, positions among all labels are
          also accepted;
        - "orders": for each row, a string such as ``"a>b=c"``, or a sequence of labels from the
          top in which tied labels form an inner sequence. Labels that are not named are missing;
        - "indicator": 0 or 1 for each label, dense or sparse;
        - "classes": one label for each row, which is above all others;
        - "auto": inferred from the data. Numbers that can be both positions and utilities raise an
          error.
    labels : array-like of shape (n_labels,), default=None
        Labels in the order of the columns; the columns of a DataFrame are reordered accordingly.
        None keeps the columns, or takes the sorted labels that occur.
    return_labels : bool, default=False
        Whether to return the labels as well.

    Returns
    -------
    grades : ndarray of shape (n_samples, n_labels)
        Grades; NaN for missing labels.
    labels : ndarray of shape (n_labels,)
        The labels. Only with ``return_labels=True``.

    Raises
    ------
    ValueError
        If a row does not have the form set by ``target_type`` or has no label, a label occurs
        twice in a row, or there is only one label.

    Warns
    -----
    ContinuousLabelWarning
        If classes are real numbers.

    See Also
    --------
    sklearn_rank.metrics.rank_positions : Computes positions from scores.
    sklearn.preprocessing.label_binarize : Converts classes to indicators.

    Notes
    -----
    O(n_samples n_labels log n_labels) time, O(n_samples n_labels) memory.

    Examples
    --------
    >>> from sklearn_rank.preprocessing import label_grades
    >>> label_grades(["a>b=c", "c>a"], return_labels=True)
    (array([[ 2.,  0.,  0.],
           [ 0., nan,  1.]]), array(['a', 'b', 'c'], dtype='<U1'))
    >>> label_grades([[1, 3, 2], [2, 1, 3]], target_type="positions")
    array([[2., 0., 1.],
           [1., 2., 0.]])

    Measures treat each row as one list:

    >>> from sklearn_rank.metrics import tau_b_score
    >>> y = label_grades([[1, 3, 2], [2, 1, 3]], target_type="positions")
    >>> tau_b_score(y, [[0.9, 0.1, 0.5], [0.9, 0.5, 0.1]]).__round__(4)
    0.6667
    """
    check_flag("return_labels", return_labels)
    found = read_label_orders(y, target_type, labels)
    return (found.grades, found.labels) if return_labels else found.grades
