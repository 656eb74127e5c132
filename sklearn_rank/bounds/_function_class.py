"""Classes of infinitely many functions, from which a training set chooses one."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Literal, TypeAlias

from .._arguments import check_choice, check_whole

__all__ = ["FunctionClass"]

Kind: TypeAlias = Literal["linear", "polynomial"]
KINDS = ("linear", "polynomial")


@dataclass(frozen=True)
class FunctionClass:
    """A class of scoring functions of which a training set may choose any.

    Parameters
    ----------
    kind : {"linear", "polynomial"}
        Functions ``w.x + b``, or polynomials of a degree.
    n_features : int
        Dimension of x, at least 1.
    degree : int or None, default=None
        Largest degree, at least 1; needed for "polynomial", and only there.

    Raises
    ------
    TypeError
        If a number is not a whole one.
    ValueError
        If a number is less than 1, or the degree is missing or of another kind.

    See Also
    --------
    auc_bound : What it is an argument of.

    Notes
    -----
    The class has to be fixed before the data are seen: features that were chosen by these labels
    make another one.

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
        check_whole("n_features", self.n_features)
        if self.kind == "polynomial":
            if self.degree is None:
                raise ValueError("kind='polynomial' needs degree, which is None: pass it.")
            check_whole("degree", self.degree)
        elif self.degree is not None:
            raise ValueError(
                f"degree={self.degree!r} does not belong to kind={self.kind!r}: leave it out."
            )

    @property
    def n_weights(self) -> int:
        """Number of monomials but the constant, ``binom(n_features + degree, degree) - 1``."""
        degree = 1 if self.degree is None else int(self.degree)
        return comb(int(self.n_features) + degree, degree) - 1
