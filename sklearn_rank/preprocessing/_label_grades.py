"""Orders of labels in any form as the matrix that measures take."""

from __future__ import annotations

from typing import Any

from .._arguments import check_flag
from .._label_orders import TargetType, read_label_orders
from .._typing import AnyArray, FloatArray

__all__ = ["label_grades"]


def label_grades(
    y: Any,
    *,
    target_type: TargetType = "auto",
    labels: Any = None,
    return_labels: bool = False,
) -> FloatArray | tuple[FloatArray, AnyArray]:
    """Turn orders of labels, one for each row, into grades: more is nearer to the top.

    The grade of a label in an order is the number of labels of the row below it. What has grades
    already keeps them.

    Parameters
    ----------
    y : array-like, sparse matrix or DataFrame
        The orders, in the form that ``target_type`` says.
    target_type : str, default="auto"
        Form of ``y``:

        - "utilities": one column for each label, more is nearer to the top, NaN is missing;
        - "positions": one column for each label, 1 is the top, NaN is missing. Tied labels have
          one number: of those that they share the first, the middle or the last, or one without a
          gap after it. Where labels are missing, positions among all labels are taken too;
        - "orders": for each row a string such as ``"a>b=c"``, or a sequence of labels from the
          top, tied ones in a sequence of their own; labels that it does not name are missing;
        - "indicator": 0 or 1 for each label, sparse too;
        - "classes": one label for each row, which is above all others;
        - "auto": what it looks like. Numbers that read as positions and as utilities are refused.
    labels : array-like of shape (n_labels,), default=None
        The labels in the order of the columns; columns of a DataFrame are put in this order. None
        is the columns as they are, or the labels that occur, sorted.
    return_labels : bool, default=False
        Whether to return the labels too.

    Returns
    -------
    grades : ndarray of shape (n_samples, n_labels)
        Grades, NaN where a label is missing.
    labels : ndarray of shape (n_labels,)
        The labels; with ``return_labels=True``.

    Raises
    ------
    ValueError
        If a row is not what ``target_type`` says or has no label, a label occurs twice in a row,
        or there is one label only.

    Warns
    -----
    ContinuousLabelWarning
        If classes are real numbers.

    See Also
    --------
    sklearn_rank.metrics.rank_positions : Positions from scores.
    sklearn.preprocessing.label_binarize : Indicators of classes.

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

    Measures take one list for each row:

    >>> from sklearn_rank.metrics import tau_b_score
    >>> y = label_grades([[1, 3, 2], [2, 1, 3]], target_type="positions")
    >>> tau_b_score(y, [[0.9, 0.1, 0.5], [0.9, 0.5, 0.1]]).__round__(4)
    0.6667
    """
    check_flag("return_labels", return_labels)
    found = read_label_orders(y, target_type, labels)
    return (found.grades, found.labels) if return_labels else found.grades
