"""Warnings of the package, each a category of its own so that it can be filtered by name."""

__all__ = [
    "CalibrationWarning",
    "MissingQueryWarning",
    "RelativeWeightWarning",
    "SingleListWarning",
    "SmallTopWarning",
    "VersionWarning",
]


class CalibrationWarning(UserWarning):
    """A loss is used for a measure that it is not calibrated with.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import CalibrationWarning
    >>> warnings.simplefilter("ignore", CalibrationWarning)
    """


class MissingQueryWarning(UserWarning):
    """A run has nothing of some judged queries, which were left out.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import MissingQueryWarning
    >>> warnings.simplefilter("error", MissingQueryWarning)
    """


class RelativeWeightWarning(UserWarning):
    """Weights that look like shares go to a measure that takes them as repetitions.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import RelativeWeightWarning
    >>> warnings.simplefilter("error", RelativeWeightWarning)
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


class VersionWarning(UserWarning):
    """A fitted estimator was stored by another version of the package than the one reading it.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import VersionWarning
    >>> warnings.simplefilter("error", VersionWarning)
    """
