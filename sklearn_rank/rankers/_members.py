"""Named members of an ensemble, as parameters and checked."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import Bunch

from .._sklearn_compat import BaseComposition, HasMethods
from .._typing import FloatArray


class NamedMembers(BaseComposition):
    """Mixin of estimators with a parameter ``estimators``: names and members, or None."""

    estimators: Any
    weights: Any
    # What a user would pass, in a message.
    _example: str

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters, and those of members as ``name__parameter``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the members.

        Returns
        -------
        dict
            The parameters.
        """
        if self.estimators is None:
            return super().get_params(deep=deep)
        return self._get_params("estimators", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, members by name, and parameters of members as ``name__parameter``.

        Parameters
        ----------
        **params : dict
            The parameters.

        Returns
        -------
        estimator
            The estimator itself.
        """
        if self.estimators is None and "estimators" not in params:
            return super().set_params(**params)
        self._set_params("estimators", **params)
        return self

    @property
    def named_estimators(self) -> Bunch:
        """The unfitted members, by name."""
        return Bunch(**dict(self.estimators or []))

    def _checked_members(self) -> tuple[list[str], list[Any]]:
        """Names and members that were passed."""
        pairs = self.estimators
        named = all(isinstance(p, tuple) and len(p) == 2 and isinstance(p[0], str) for p in pairs)
        if not pairs or not named:
            raise ValueError(
                "estimators must be a non-empty list of pairs of a name and an estimator, such "
                f"as {self._example}."
            )
        names, members = [p[0] for p in pairs], [p[1] for p in pairs]
        self._validate_names(names)
        scored = HasMethods(["fit", "get_params"])
        for name, member in zip(names, members, strict=True):
            if isinstance(member, type) or not scored.is_satisfied_by(member):
                raise ValueError(
                    f"The member {name!r} is not an estimator, got {member!r}: pass an instance "
                    "of a class with fit and predict."
                )
        return names, members

    def _given_weights(self, n_members: int) -> FloatArray | None:
        """Weights of the members, of sum 1; None if they are to be fitted. Shape (n_members,)."""
        if isinstance(self.weights, str):
            return None if self.weights == "fitted" else np.full(n_members, 1.0 / n_members)
        weights = np.asarray(self.weights, dtype=np.float64)
        valid = weights.shape == (n_members,) and np.all(weights >= 0.0)
        if not valid or not 0.0 < weights.sum() < np.inf:
            raise ValueError(
                f"weights={self.weights!r} must contain {n_members} numbers of at least 0, one for"
                " each member, and not all 0."
            )
        return weights / weights.sum()
