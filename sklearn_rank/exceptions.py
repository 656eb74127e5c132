"""Warning categories of the package, and errors of query ids and scorers."""

__all__ = [
    "CalibrationWarning",
    "ContinuousLabelWarning",
    "FeatureScaleWarning",
    "GrownLimitWarning",
    "LargeGainWarning",
    "LongFitWarning",
    "MissingQueryWarning",
    "OtherTopWarning",
    "PositiveClassWarning",
    "QuantileDistanceWarning",
    "QueryOverlapWarning",
    "QuerySetupError",
    "ScorerSetupError",
    "SingleListWarning",
    "SmallTopWarning",
    "ThresholdWarning",
    "UnlinkedLabelWarning",
    "VersionWarning",
    "ZeroSolutionWarning",
]


class CalibrationWarning(UserWarning):
    """A loss is used for a measure for which it is not calibrated.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import CalibrationWarning
    >>> warnings.simplefilter("ignore", CalibrationWarning)
    """


class ContinuousLabelWarning(UserWarning):
    """A label ranker treats real numbers, one for each row, as class labels.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import ContinuousLabelWarning
    >>> warnings.simplefilter("error", ContinuousLabelWarning)
    """


class FeatureScaleWarning(UserWarning):
    """The scales of two features differ so much that a penalty treats them unequally.

    The solution then depends on the units of the features: a feature in large units is hardly
    penalised, one in small units is left out. The scale is the standard deviation, or its mean
    within the queries.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import FeatureScaleWarning
    >>> warnings.simplefilter("error", FeatureScaleWarning)
    """


class GrownLimitWarning(UserWarning):
    """A later batch has utilities above the limit of the loss, and the limit is raised.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import GrownLimitWarning
    >>> warnings.simplefilter("error", GrownLimitWarning)
    """


class LargeGainWarning(UserWarning):
    """Grades are so large that small gains are lost in rounding, or first rounds overshoot.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import LargeGainWarning
    >>> warnings.simplefilter("error", LargeGainWarning)
    """


class LongFitWarning(UserWarning):
    """The remaining fit is expected to take more than ten minutes.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import LongFitWarning
    >>> warnings.simplefilter("error", LongFitWarning)  # end such fits instead
    """


class MissingQueryWarning(UserWarning):
    """A run contains no results for some judged queries, which are left out.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import MissingQueryWarning
    >>> warnings.simplefilter("error", MissingQueryWarning)
    """


class OtherTopWarning(UserWarning):
    """An estimator trained for one top share is scored at another.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import OtherTopWarning
    >>> warnings.simplefilter("ignore", OtherTopWarning)
    """


class PositiveClassWarning(UserWarning):
    """The positive class is not set, and the greater label is taken.

    For the labels 0 and 1, -1 and 1, or False and True, the positive class is 1 or True. For other
    labels, set it by ``pos_label=``.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import PositiveClassWarning
    >>> warnings.simplefilter("error", PositiveClassWarning)
    """


class QuantileDistanceWarning(UserWarning):
    """No solution of accuracy at the top has its pivot near the quantile of its scores.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import QuantileDistanceWarning
    >>> warnings.simplefilter("error", QuantileDistanceWarning)
    """


class QueryOverlapWarning(UserWarning):
    """A ranker is scored on queries that include some of its training queries.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import QueryOverlapWarning
    >>> warnings.simplefilter("error", QueryOverlapWarning)
    """


class QuerySetupError(ValueError):
    """A ranker got no query ids in a search, or is scored on parts of its training queries.

    See Also
    --------
    ScorerSetupError : The corresponding error of scorers.
    QueryOverlapWarning : Warning if few of the queries were trained on.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank import OrderPreservingRanker
    >>> from sklearn_rank.exceptions import QuerySetupError
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = np.ones((90, 1)), np.arange(90) % 3
    >>> try:
    ...     cross_val_score(OrderPreservingRanker(), X, y, error_score="raise")
    ... except QuerySetupError as error:
    ...     print(str(error).partition(",")[0])
    OrderPreservingRanker got no qid for 72 rows
    """


class ScorerSetupError(ValueError):
    """A scorer is not set up correctly, so that no candidate of a search could be scored.

    Raised if query ids, the positive class or the scale of grades are missing, or if a measure is
    passed as ``scoring=`` instead of its scorer. In a search, ``error_score="raise"`` raises it at
    the first candidate; by default scikit-learn sets the scores to NaN and warns with its text.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_rank.exceptions import ScorerSetupError
    >>> from sklearn_rank.metrics import get_scorer
    >>> X, y = [[0.0], [1.0]], ["ok", "fraud"]
    >>> try:
    ...     get_scorer("auc")(LogisticRegression().fit(X, y), X, y)
    ... except ScorerSetupError as error:
    ...     print(str(error).partition(":")[0])
    The positive class is unknown
    """


class SingleListWarning(UserWarning):
    """A ranker of queries got no query ids and treats all rows as one query.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import SingleListWarning
    >>> warnings.simplefilter("error", SingleListWarning)
    """


class SmallTopWarning(UserWarning):
    """The top share is less than one item and is taken as one item.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import SmallTopWarning
    >>> warnings.simplefilter("ignore", SmallTopWarning)
    """


class ThresholdWarning(UserWarning):
    """A threshold may not hold on new rows.

    They tie or score where no training row does, or the rows that it was calibrated on are
    probably training rows.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import ThresholdWarning
    >>> warnings.simplefilter("error", ThresholdWarning)
    """


class UnlinkedLabelWarning(UserWarning):
    """No chain of rows links two labels, so that their scores are not comparable.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import UnlinkedLabelWarning
    >>> warnings.simplefilter("error", UnlinkedLabelWarning)
    """


class VersionWarning(UserWarning):
    """A fitted estimator was pickled with another version of the package.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import VersionWarning
    >>> warnings.simplefilter("error", VersionWarning)
    """


class ZeroSolutionWarning(UserWarning):
    """A ranker has coefficients of 0, so that all rows are tied.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import ZeroSolutionWarning
    >>> warnings.simplefilter("error", ZeroSolutionWarning)  # end such fits instead
    """
