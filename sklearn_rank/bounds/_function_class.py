"""Classes of infinitely many scoring functions, for uniform bounds."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Literal, TypeAlias

from .._arguments import check_choice, check_count

__all__ = ["FunctionClass"]

Kind: TypeAlias = Literal["linear", "polynomial"]
KINDS = ("linear", "polynomial")

# The smaller of degree and number of features: the number of monomials is a product of so many.
MOST_FACTORS = 1000


@dataclass(frozen=True)
class FunctionClass:
    """Class of scoring functions that a learner can choose from.

    Parameters
    ----------
    kind : {"linear", "polynomial"}
        Functions ``w.x + b``, or polynomials of a given degree.
    n_features : int
        Dimension of x, at least 1.
    degree : int or None, default=None
        Largest degree, at least 1. Needed for "polynomial", not allowed for "linear".

    Raises
    ------
    TypeError
        If a number is not whole.
    ValueError
        If a number is less than 1, if the degree is missing or not allowed, or if both the degree
        and the number of features exceed 1,000, because no sample is large enough for so many
        monomials.

    See Also
    --------
    auc_bound : Takes the class as an argument.

    Notes
    -----
    The class has to be fixed before the data are seen. Features must not be selected by the same
    labels.

    Examples
    --------
    >>> from sklearn_rank.bounds import FunctionClass
    >>> FunctionClass("linear", n_features=20).n_weights
    20
    >>> FunctionClass("polynomial", n_features=5, degree=2).n_weights
    20
    """

    kind: Kind
    n_features: int
    degree: int | None = None

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        object.__setattr__(self, "n_features", check_count("n_features", self.n_features))
        if self.kind == "polynomial":
            if self.degree is None:
                raise ValueError("kind='polynomial' needs degree, which is None: pass it.")
            object.__setattr__(self, "degree", check_count("degree", self.degree))
            if min(self.n_features, self.degree) > MOST_FACTORS:
                raise ValueError(
                    f"n_features={self.n_features} and degree={self.degree} exceed {MOST_FACTORS}"
                    " both: no sample is large enough for so many monomials; pass a lower degree."
                )
        elif self.degree is not None:
            raise ValueError(
                f"degree={self.degree!r} is not allowed for kind={self.kind!r}: leave it out."
            )

    @property
    def n_weights(self) -> int:
        """Number of non-constant monomials, ``binom(n_features + degree, degree) - 1``."""
        degree = 1 if self.degree is None else self.degree
        return comb(self.n_features + degree, degree) - 1
