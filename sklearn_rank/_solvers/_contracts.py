"""Requirements of solvers on losses."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias

from .._arguments import check_choice
from .._typing import FloatArray

__all__ = ["LinearMethod", "LossOfScores", "LossProperties", "choose_method"]

LinearMethod: TypeAlias = Literal["newton-cg", "lbfgs"]


class LossProperties(Protocol):
    """Properties of a loss before it gets data."""

    @property
    def is_convex(self) -> bool:
        """Whether it is convex in the scores."""

    @property
    def has_hessian_product(self) -> bool:
        """Whether products with its matrix of second derivatives are known."""

    @property
    def has_curvature(self) -> bool:
        """Whether the diagonal of that matrix is known."""


class LossOfScores(LossProperties, Protocol):
    """A loss of the scores of given items: a sum over lists, convex."""

    def value_and_gradient(self, score: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Value of each list, and the gradient of their sum."""

    def hessian_product(self, score: FloatArray, direction: FloatArray, /) -> FloatArray:
        """Product of the second derivatives with a vector; called if it is known."""

    def curvature(self, score: FloatArray, /) -> FloatArray:
        """Diagonal of the second derivatives; called if it is known."""


PROPERTIES = ("is_convex", "has_hessian_product", "has_curvature")


def choose_method(loss: LossProperties, method: str = "auto", *, also: str = "") -> LinearMethod:
    """Choose a method of :func:`solve_linear` that a loss permits, or refuse the loss."""
    check_choice("method", method, ("auto", "newton-cg", "lbfgs"))
    _check_said(loss)
    if not loss.is_convex:
        raise ValueError(
            f"loss={loss!r} is not convex in the scores, so that a minimum cannot be certified: "
            "use a convex loss. A Bregman divergence is convex if its link is the inverse of "
            "psi_gradient."
        )
    # Rankers have the method as their parameter ``solver``.
    needing = also or ("solver='newton-cg'" if method == "newton-cg" else "")
    if needing and not loss.has_hessian_product:
        raise ValueError(
            f"{needing} needs Hessian products, which {loss!r} does not provide: use fit with "
            "solver='lbfgs', or define the second derivative of the loss."
        )
    if method == "lbfgs" or not loss.has_hessian_product:
        return "lbfgs"
    return "newton-cg"


def _check_said(loss: Any) -> None:
    unsaid = [name for name in PROPERTIES if not hasattr(loss, name)]
    if unsaid:
        raise TypeError(f"loss={loss!r} does not define {', '.join(unsaid)}: see LossProperties.")
