"""Warnings of the package, each a category of its own, and errors that end a search at once."""

__all__ = [
    "CalibrationWarning",
    "CheckpointWarning",
    "ContinuousLabelWarning",
    "GrownLimitWarning",
    "LargeGainWarning",
    "LongFitWarning",
    "MissingQueryWarning",
    "OtherTopWarning",
    "PositiveClassWarning",
    "QuantileDistanceWarning",
    "QueryOverlapWarning",
    "QuerySetupError",
    "RelativeWeightWarning",
    "ScorerSetupError",
    "SingleListWarning",
    "SmallTopWarning",
    "UnlinkedLabelWarning",
    "VersionWarning",
    "ZeroSolutionWarning",
]


class CalibrationWarning(UserWarning):
    """A loss is used for a measure that it is not calibrated with.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import CalibrationWarning
    >>> warnings.simplefilter("ignore", CalibrationWarning)
    """


class CheckpointWarning(UserWarning):
    """A file of a checkpoint is damaged, and what it held is computed again.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import CheckpointWarning
    >>> warnings.simplefilter("error", CheckpointWarning)
    """


class ContinuousLabelWarning(UserWarning):
    """A ranker of labels was given real numbers, one for each row, and took each for a label.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import ContinuousLabelWarning
    >>> warnings.simplefilter("error", ContinuousLabelWarning)
    """


class GrownLimitWarning(UserWarning):
    """A later batch has utilities beyond the limit of the loss, which grew with them.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import GrownLimitWarning
    >>> warnings.simplefilter("error", GrownLimitWarning)
    """


class LargeGainWarning(UserWarning):
    """Gains ``2**grade - 1`` differ so much that float64 holds nothing but the largest.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import LargeGainWarning
    >>> warnings.simplefilter("error", LargeGainWarning)
    """


class LongFitWarning(UserWarning):
    """A fit has begun that will take more than ten minutes.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import LongFitWarning
    >>> warnings.simplefilter("error", LongFitWarning)  # end such fits instead
    """


class MissingQueryWarning(UserWarning):
    """A run has nothing of some judged queries, which were left out.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import MissingQueryWarning
    >>> warnings.simplefilter("error", MissingQueryWarning)
    """


class OtherTopWarning(UserWarning):
    """An estimator that was trained for one share of the top is scored at another.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import OtherTopWarning
    >>> warnings.simplefilter("ignore", OtherTopWarning)
    """


class PositiveClassWarning(UserWarning):
    """An estimator was not told which class is positive and took the greater label.

    Labels among 0 and 1, -1 and 1, or False and True have 1 (True) as the positive one; of all
    others ``pos_label=`` says it.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import PositiveClassWarning
    >>> warnings.simplefilter("error", PositiveClassWarning)
    """


class QuantileDistanceWarning(UserWarning):
    """No convex problem of accuracy at the top has its pivot near the quantile of its scores.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import QuantileDistanceWarning
    >>> warnings.simplefilter("error", QuantileDistanceWarning)
    """


class QueryOverlapWarning(UserWarning):
    """A ranker is scored on queries of which it was trained on some.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import QueryOverlapWarning
    >>> warnings.simplefilter("error", QueryOverlapWarning)
    """


class QuerySetupError(BaseException):
    """A fit within cross-validation or a search got no ids of queries, or cut queries.

    Scikit-learn's cross-validation and searches turn every ``Exception`` of a fit into
    ``error_score``, NaN by default, and go on to the end, and no candidate can mend this; so it is
    a ``BaseException``, on purpose: it ends the search at the first fit, whatever ``error_score``
    is. ``except Exception`` does not catch it, ``except QuerySetupError`` does.

    See Also
    --------
    ScorerSetupError : The like of a scorer.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn_rank import RankSVM
    >>> from sklearn_rank.exceptions import QuerySetupError
    >>> X, y = np.eye(6), np.arange(6)
    >>> try:
    ...     cross_val_score(RankSVM(), X, y, cv=2)
    ... except QuerySetupError as error:
    ...     print(str(error).partition(":")[0])
    RankSVM got no qid within cross_val_score of scikit-learn
    """


class RelativeWeightWarning(UserWarning):
    """Weights that look like shares go to a measure that takes them as repetitions.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import RelativeWeightWarning
    >>> warnings.simplefilter("error", RelativeWeightWarning)
    """


class ScorerSetupError(BaseException):
    """A scorer lacks what no candidate can give it, so that a whole search would have no score.

    Raised where ids of queries, the positive class or the scale of grades are missing, or where a
    measure is passed as ``scoring=`` in place of its scorer. Scikit-learn's cross-validation and
    searches turn every ``Exception`` of a scorer into ``error_score``, NaN by default, and go on
    to the end; so this is a ``BaseException``, on purpose: it ends the search at the first
    candidate, whatever ``error_score`` is. ``except Exception`` does not catch it,
    ``except ScorerSetupError`` does.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn_rank.exceptions import ScorerSetupError
    >>> from sklearn_rank.metrics import get_scorer
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["ok", "fraud", "ok", "fraud"]
    >>> try:
    ...     cross_val_score(LogisticRegression(), X, y, cv=2, scoring=get_scorer("auc"))
    ... except ScorerSetupError as error:
    ...     print(str(error).partition(":")[0])
    The positive class is unknown
    """


class SingleListWarning(UserWarning):
    """A ranker of queries got no ids and took all rows as one list.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import SingleListWarning
    >>> warnings.simplefilter("error", SingleListWarning)
    """


class SmallTopWarning(UserWarning):
    """The top fraction holds less than one item and was taken as one item.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import SmallTopWarning
    >>> warnings.simplefilter("ignore", SmallTopWarning)
    """


class UnlinkedLabelWarning(UserWarning):
    """No row, nor a chain of rows, has two labels together, so that their scores do not compare.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import UnlinkedLabelWarning
    >>> warnings.simplefilter("error", UnlinkedLabelWarning)
    """


class VersionWarning(UserWarning):
    """A fitted estimator was stored by another version of the package than the one reading it.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import VersionWarning
    >>> warnings.simplefilter("error", VersionWarning)
    """


class ZeroSolutionWarning(UserWarning):
    """A ranker learned weights of 0, by which all rows tie.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import ZeroSolutionWarning
    >>> warnings.simplefilter("error", ZeroSolutionWarning)  # end such fits instead
    """
