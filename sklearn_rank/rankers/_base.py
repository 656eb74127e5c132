"""What all rankers share: labels in, scores out, a version that is stored with them."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from .._version import __version__
from .._warn import warn
from ..exceptions import VersionWarning
from ..metrics import average_precision_score
from ._two_classes import TwoClasses


class Ranker(BaseEstimator):
    """Base of all rankers, which know the version that stored them and their documentation."""

    _doc_link_module = "sklearn_rank"
    _doc_link_template = "https://sklearn-rank.readthedocs.io/en/stable/api/generated/sklearn_rank.{estimator_name}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"estimator_name": type(self).__name__}

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_sklearn_rank_version": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        version = state.pop("_sklearn_rank_version", None)
        if version != __version__:
            _warn_version(type(self).__name__, version, __version__)
        super().__setstate__(state)


class BipartiteRanker(ClassifierMixin, Ranker, metaclass=ABCMeta):
    """Base of the rankers of two classes: scikit-learn classifiers that order.

    A subclass learns ``classes_`` (through :meth:`_encode_binary`) and defines
    ``decision_function``, the score less the threshold between the classes.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _encode_binary(self, y: Any, sample_weight: Any) -> tuple[Any, Any]:
        """Return the two classes and, for each row, whether it is of the second."""
        present = y[sample_weight > 0]
        check_classification_targets(present)
        kind = type_of_target(present, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        classes = np.unique(present)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of two classes with positive sample_weight; "
                f"got one class only, {classes.tolist()[0]!r}: add rows of the other class."
            )
        return classes, y == classes[1]

    def _two_classes(self, y: Any, weight: Any) -> TwoClasses:
        """Check labels; return the rows of positive weight with their classes."""
        return TwoClasses.of_rows(*self._encode_binary(y, weight), weight)

    @abstractmethod
    def decision_function(self, X: Any) -> Any:
        """Return the score of each row less the threshold between the classes."""

    def predict(self, X: Any) -> Any:
        """Predict the class of each row by the sign of its decision value.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``classes_[1]`` where the row scores above the threshold, else ``classes_[0]``.
        """
        check_is_fitted(self)
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Average precision of the ordering, the mean over all orders of tied rows.

        All rankers of two classes share this yardstick, so that a search over several of them
        compares like with like.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each row counts, in whole numbers.

        Returns
        -------
        float
            Average precision in [0, 1]; more is better.

        See Also
        --------
        sklearn_rank.metrics.average_precision_score : The measure.
        """
        return average_precision_score(
            y,
            self.decision_function(X),
            pos_label=self.classes_[1],
            sample_weight=sample_weight,
        )


def _warn_version(name: str, stored: str | None, running: str) -> None:
    """Warn that an estimator was stored by another version."""
    warn(
        f"This {name} was stored by sklearn_rank {stored or '(unknown)'} and is read by "
        f"{running}: it may predict wrongly; fit it again with this version.",
        VersionWarning,
    )
