"""Score-generating functions, which weight the ranks of a linear rank statistic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.special import ndtri

from .._order import MASS_SLACK, MAX_PLACES, places_of
from .._typing import BoolArray, FloatArray
from .._validation import check_number, check_position
from ._tied_sums import LogarithmicRun, NormalQuantileRun, PowerRun


class ScoreGeneratingFunction(ABC):
    """Base class of score-generating functions phi of linear rank statistics.

    phi is a nondecreasing function on [0, 1]: an item of rank R among n, rank n being the top,
    contributes ``phi(R / (n + 1))``. Subclasses are :class:`Wilcoxon`, :class:`LocalAUC`,
    :class:`Power`, :class:`TopDCG`, :class:`Exponential`, :class:`Cauchy` and
    :class:`VanDerWaerden`. Your own subclass defines ``__call__``, the value at points of [0, 1],
    and optionally the attributes below.

    Attributes
    ----------
    jumps : tuple of (float, float)
        Position and height of each jump of phi.
    lipschitz : float or None
        Smallest L with ``|phi(u) - phi(v)| <= L |u - v|``; infinite if there is none, None if it
        is unknown. Bounds that need it raise an error in both cases.
    has_derivative : bool
        Whether the class defines ``derivative``. If it does not, influence functions use
        difference quotients.
    is_limit_functional : bool
        Whether phi does not depend on n, so that the statistic has a limit.

    References
    ----------
    .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
       statistics*, NIPS 21, Definition 1 and, for the subclasses, Section 2.

    Examples
    --------
    >>> from sklearn_rank.metrics import ScoreGeneratingFunction, Wilcoxon
    >>> isinstance(Wilcoxon(), ScoreGeneratingFunction)
    True

    Your own function:

    >>> import numpy as np
    >>> from sklearn_rank.metrics import linear_rank_score
    >>> class Squared(ScoreGeneratingFunction):
    ...     def __call__(self, u):
    ...         return np.asarray(u) ** 2
    >>> linear_rank_score([1, 0, 1], [3.0, 2.0, 1.0], phi=Squared())
    0.625
    """

    jumps: tuple[tuple[float, float], ...] = ()
    is_limit_functional: bool = True

    # Whether phi is constant between its jumps.
    _only_jumps = False

    @property
    def lipschitz(self) -> float | None:
        """Lipschitz constant of phi; None if it is unknown."""
        return None

    @abstractmethod
    def __call__(self, u: Any) -> FloatArray:
        """Value at ``u``."""

    @property
    def has_derivative(self) -> bool:
        """Whether the class defines :meth:`derivative`."""
        return type(self).derivative is not ScoreGeneratingFunction.derivative

    def derivative(self, u: Any) -> FloatArray:
        """Derivative of the continuous part of phi at ``u``.

        Parameters
        ----------
        u : array-like
            Points of [0, 1].

        Returns
        -------
        ndarray
            The derivative.

        Raises
        ------
        ValueError
            If phi defines no derivative.
        """
        raise ValueError(f"{self!r} has no derivative.")

    def _at_ranks(self, rank: FloatArray, n: FloatArray) -> FloatArray:
        """Values of ascending ranks in lists of ``n``."""
        return self(rank / (n + 1.0))

    def _rises(self, n: FloatArray) -> BoolArray:
        """Whether the order counts in lists of ``n``: the last rank has more than the first."""
        return self._at_ranks(np.ceil(n), n) > self._at_ranks(np.ones_like(n), n)

    def _whole_sums(self, below: FloatArray, upto: FloatArray, n: FloatArray) -> FloatArray:
        """Sums over the ranks ``below + 1, ..., upto``, both whole; ``n`` broadcasts."""
        lengths = upto - below
        if np.all(lengths == 1.0):
            return self._at_ranks(upto, n)
        return self._run_sums(below, lengths, np.broadcast_to(n, below.shape))

    def _run_sums(self, below: FloatArray, lengths: FloatArray, n: FloatArray) -> FloatArray:
        """Sums over runs of whole ``lengths`` of ranks after ``below``: rank by rank."""
        if (total := lengths.sum()) > MAX_PLACES:
            raise ValueError(
                f"The lists have {total:g} ranks to sum {self!r} over, more than the limit of"
                f" {MAX_PLACES:g}: pass weights of a smaller scale, or a score-generating"
                " function of this package, whose sums have a closed form."
            )
        sums = np.zeros(len(below))
        some = np.flatnonzero(lengths)
        below, lengths, n = below[some], lengths[some], n[some]
        for inside, first, block, place in places_of(lengths):
            values = self._at_ranks(below[inside][block] + place + 1.0, n[inside][block])
            sums[some[inside]] += np.add.reduceat(values, first)
        return sums

    def _sums(self, below: FloatArray, upto: FloatArray, n: FloatArray) -> FloatArray:
        """Sums over the ranks in ``(below, upto]``, a part of a rank counting by its share."""
        # A sum of weights rounded above n would reach a rank that does not exist.
        upto = np.minimum(upto, n)
        first, last = np.floor(below), np.ceil(upto)
        sums = self._whole_sums(first, last, n)
        cut = np.flatnonzero((first != below) | (last != upto))
        if len(cut):
            n = np.broadcast_to(n, below.shape)[cut]
            sums[cut] -= (below[cut] - first[cut]) * self._at_ranks(first[cut] + 1.0, n)
            sums[cut] -= (last[cut] - upto[cut]) * self._at_ranks(last[cut], n)
        return sums


Phi: TypeAlias = ScoreGeneratingFunction | str | Callable[[FloatArray], Any]


@dataclass(frozen=True)
class Wilcoxon(ScoreGeneratingFunction):
    """Identity phi of the Wilcoxon-Mann-Whitney statistic, an affine function of the AUC.

    Examples
    --------
    >>> from sklearn_rank.metrics import Wilcoxon, linear_rank_score
    >>> linear_rank_score([1, 0, 1], [3.0, 2.0, 1.0], phi=Wilcoxon())
    0.5
    """

    lipschitz = 1.0

    def __call__(self, u: Any) -> FloatArray:
        return np.asarray(u, dtype=np.float64)

    def derivative(self, u: Any) -> FloatArray:
        return np.ones_like(self(u))

    def _whole_sums(self, below: FloatArray, upto: FloatArray, n: FloatArray) -> FloatArray:
        return (upto - below) * (below + upto + 1.0) / (2.0 * (n + 1.0))


def ranks_below(u0: float, n: FloatArray) -> FloatArray:
    """Find the last rank below a share of the list, by the very comparison of shares."""
    last = np.ceil(u0 * (n + 1.0)) - 1.0
    last = np.where(last / (n + 1.0) >= u0, last - 1.0, last)
    return np.where((last + 1.0) / (n + 1.0) < u0, last + 1.0, last)


@dataclass(frozen=True)
class LocalAUC(ScoreGeneratingFunction):
    """Truncated phi of the local AUC, ``u 1{u >= u0}``: only the top ``1 - u0`` counts.

    Parameters
    ----------
    u0 : float
        Share of the list, from the bottom, that does not count, in [0, 1). A greater value
        concentrates on the top.

    Examples
    --------
    >>> from sklearn_rank.metrics import LocalAUC
    >>> LocalAUC(0.8)([0.5, 0.9])
    array([0. , 0.9])
    """

    u0: float

    def __post_init__(self) -> None:
        check_number("u0", self.u0, 0.0, 1.0, closed="left", what="the share left out")

    @property
    def jumps(self) -> tuple[tuple[float, float], ...]:  # type: ignore[override]
        """One jump of height ``u0`` at ``u0``."""
        return ((self.u0, self.u0),) if self.u0 > 0 else ()

    @property
    def lipschitz(self) -> float:
        """Infinite, unless ``u0`` is 0."""
        return np.inf if self.u0 > 0 else 1.0

    def __call__(self, u: Any) -> FloatArray:
        u = np.asarray(u, dtype=np.float64)
        return np.where(u >= self.u0, u, 0.0)

    def derivative(self, u: Any) -> FloatArray:
        return np.where(np.asarray(u, dtype=np.float64) >= self.u0, 1.0, 0.0)

    def _whole_sums(self, below: FloatArray, upto: FloatArray, n: FloatArray) -> FloatArray:
        below = np.maximum(below, ranks_below(self.u0, n))
        upto = np.maximum(upto, below)
        return (upto - below) * (below + upto + 1.0) / (2.0 * (n + 1.0))


@dataclass(frozen=True)
class Power(ScoreGeneratingFunction):
    """Power phi of the p-norm push of pooled ranks: ``phi(u) = u**p``.

    Parameters
    ----------
    p : float
        Exponent, positive. A greater exponent gives more weight to the top.

    Examples
    --------
    >>> from sklearn_rank.metrics import Power
    >>> Power(2)([0.5, 1.0])
    array([0.25, 1.  ])
    """

    p: float

    def __post_init__(self) -> None:
        check_number("p", self.p, 0.0, closed="neither", what="the exponent")

    @property
    def lipschitz(self) -> float:
        """The constant ``p``; infinite for p < 1."""
        return float(self.p) if self.p >= 1 else np.inf

    def __call__(self, u: Any) -> FloatArray:
        return np.asarray(u, dtype=np.float64) ** self.p

    def _run_sums(self, below: FloatArray, lengths: FloatArray, n: FloatArray) -> FloatArray:
        return PowerRun(float(self.p)).sums(below, lengths, n + 1.0)

    def derivative(self, u: Any) -> FloatArray:
        with np.errstate(divide="ignore"):
            return self.p * np.asarray(u, dtype=np.float64) ** (self.p - 1.0)


@dataclass(frozen=True)
class TopDCG(ScoreGeneratingFunction):
    """Discount of ``DCG@k`` as phi: ``1 / log2(n - R + 2)`` for the top ``k`` ranks R, else 0.

    Parameters
    ----------
    k : int
        Number of top ranks that count, at least 1.

    Notes
    -----
    phi depends on the length n of the list. So it has no value at a point of [0, 1], and the
    statistic has no limit.

    Examples
    --------
    >>> from sklearn_rank.metrics import TopDCG, linear_rank_score
    >>> linear_rank_score([1, 0, 1], [3.0, 2.0, 1.0], phi=TopDCG(3), normalize=None)
    1.5
    """

    k: int

    is_limit_functional = False
    lipschitz = np.inf

    def __post_init__(self) -> None:
        check_position("k", self.k)

    def __call__(self, u: Any) -> FloatArray:
        """Raise: the value depends on the length of the list."""
        raise ValueError(
            "TopDCG depends on the length of the list and has no value at a point of [0, 1]."
        )

    def _at_ranks(self, rank: FloatArray, n: FloatArray) -> FloatArray:
        position = n - rank + 1.0
        # Sums of real weights are rounded.
        counts = position * (1.0 - MASS_SLACK) <= self.k
        return np.where(counts, np.log(2.0) / np.log1p(np.maximum(position, 0.5)), 0.0)

    def _rises(self, n: FloatArray) -> BoolArray:
        # Places count from the top: the first has more than any other.
        return n > 1.0

    def _sums(self, below: FloatArray, upto: FloatArray, n: FloatArray) -> FloatArray:
        # Places count from the top, where those of real weights begin.
        n = np.broadcast_to(n, below.shape)
        begin, end = (np.clip(n - rank, 0.0, self.k) for rank in (upto, below))
        sums = np.zeros(len(below))
        some = np.flatnonzero(end > begin)
        sums[some] = LogarithmicRun().sums_between(begin[some], end[some], n[some])
        sums[some] *= np.log(2.0)
        return sums


@dataclass(frozen=True)
class Exponential(ScoreGeneratingFunction):
    """Exponential phi of BEDROC and RIE: ``phi(u) = exp(-alpha (1 - u))``.

    Parameters
    ----------
    alpha : float
        Rate, positive. About the top ``1 / alpha`` of the list counts: a greater rate concentrates
        on the top.

    References
    ----------
    .. [1] Truchon & Bayly (2007), *Evaluating virtual screening methods*, Journal of Chemical
       Information and Modeling 47.

    Examples
    --------
    >>> from sklearn_rank.metrics import Exponential
    >>> Exponential(20.0)([1.0])
    array([1.])
    """

    alpha: float

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, 0.0, closed="neither", what="the rate")

    @property
    def lipschitz(self) -> float:
        """``alpha``."""
        return float(self.alpha)

    def __call__(self, u: Any) -> FloatArray:
        return np.exp(-self.alpha * (1.0 - np.asarray(u, dtype=np.float64)))

    def derivative(self, u: Any) -> FloatArray:
        return self.alpha * self(u)

    def _rate(self, n: FloatArray) -> FloatArray:
        """How much a rank adds to the exponent."""
        return self.alpha / (n + 1.0)

    def _at_ranks(self, rank: FloatArray, n: FloatArray) -> FloatArray:
        return np.exp(self._rate(n) * (rank - n - 1.0))

    def _whole_sums(self, below: FloatArray, upto: FloatArray, n: FloatArray) -> FloatArray:
        rate = self._rate(n)
        # A geometric series from the highest rank downwards.
        series = np.expm1(-rate * (upto - below)) / np.expm1(-rate)
        return self._at_ranks(upto, n) * series


@dataclass(frozen=True)
class Cauchy(ScoreGeneratingFunction):
    """Convex phi with a Cauchy kernel: ``1 - arctan((1 - u) / width) / arctan(1 / width)``.

    phi rises from 0 to 1. A rank at a share v of the list below the top has the weight
    ``1 / (1 + (v / width)^2)`` relative to the top; it is one half at ``v = width``.

    Parameters
    ----------
    width : float
        Share of the list, positive. A smaller value concentrates on the top.

    Examples
    --------
    >>> from sklearn_rank.metrics import Cauchy
    >>> phi = Cauchy(0.25)
    >>> (phi.derivative([1.0, 0.75, 0.5]) / phi.derivative(1.0)).round(3)
    array([1. , 0.5, 0.2])
    """

    width: float

    def __post_init__(self) -> None:
        check_number("width", self.width, 0.0, closed="neither", what="a share of the list")

    @property
    def lipschitz(self) -> float:
        """The derivative at the top."""
        return float(1.0 / (self.width * np.arctan(1.0 / self.width)))

    def __call__(self, u: Any) -> FloatArray:
        below = (1.0 - np.asarray(u, dtype=np.float64)) / self.width
        return 1.0 - np.arctan(below) / np.arctan(1.0 / self.width)

    def derivative(self, u: Any) -> FloatArray:
        below = (1.0 - np.asarray(u, dtype=np.float64)) / self.width
        return self.lipschitz / (1.0 + below**2)


class Screening(Exponential):
    """The exponential of the position as a share of the list, not of n + 1."""

    def _rate(self, n: FloatArray) -> FloatArray:
        return self.alpha / n


@dataclass(frozen=True)
class VanDerWaerden(ScoreGeneratingFunction):
    """Normal scores phi: the quantile function of the standard normal distribution.

    References
    ----------
    .. [1] van der Waerden (1952), *Order tests for the two-sample problem and their power*,
       Indagationes Mathematicae 14.

    Examples
    --------
    >>> from sklearn_rank.metrics import VanDerWaerden
    >>> VanDerWaerden()([0.5, 0.975]).round(2)
    array([0.  , 1.96])
    """

    lipschitz = np.inf

    def __call__(self, u: Any) -> FloatArray:
        return np.asarray(ndtri(np.asarray(u, dtype=np.float64)))

    def _at_ranks(self, rank: FloatArray, n: FloatArray) -> FloatArray:
        # From the nearer end, beside which n + 1 may be rounded to n.
        above = n - rank + 1.0
        value: FloatArray = ndtri(np.minimum(rank, above) / (n + 1.0))
        return np.where(rank <= above, value, -value)

    def _run_sums(self, below: FloatArray, lengths: FloatArray, n: FloatArray) -> FloatArray:
        # Ranks of the upper half have the values of those from the other end, negated.
        run, upto = NormalQuantileRun(), below + lengths
        middle = np.clip(np.floor((n + 1.0) / 2.0), below, upto)
        lower = run.sums(below, middle - below, n + 1.0)
        return lower - run.sums(n - upto, upto - middle, n + 1.0)

    def derivative(self, u: Any) -> FloatArray:
        return np.sqrt(2.0 * np.pi) * np.exp(self(u) ** 2 / 2.0)


@dataclass(frozen=True)
class _FromCallable(ScoreGeneratingFunction):
    """A function of the user, of which only its values are known."""

    function: Callable[[FloatArray], Any]

    def __call__(self, u: Any) -> FloatArray:
        points = np.atleast_1d(np.asarray(u, dtype=np.float64))
        values = np.asarray(self.function(points), dtype=np.float64)
        if values.shape != points.shape:
            raise ValueError(
                f"phi returned shape {values.shape} for {points.shape}: it must return one value"
                " for each point."
            )
        if not np.isfinite(values).all():
            bad = points[np.argmax(~np.isfinite(values))]
            raise ValueError(f"phi is not finite at {bad:g}: it must be finite on (0, 1).")
        order = np.argsort(points, kind="stable")
        points, ordered = points[order], values[order]
        falls = ordered[1:] < ordered[:-1]
        if falls.any():
            bad = int(np.argmax(falls))
            raise ValueError(
                f"phi decreases between {points[bad]:g} and {points[bad + 1]:g}: it must be"
                " nondecreasing."
            )
        return values


def as_score_generating(phi: Phi) -> ScoreGeneratingFunction:
    if isinstance(phi, ScoreGeneratingFunction):
        return phi
    named = {"wilcoxon": Wilcoxon, "van_der_waerden": VanDerWaerden}
    if isinstance(phi, str) and phi in named:
        return named[phi]()
    if callable(phi) and not isinstance(phi, type):
        return _FromCallable(phi)
    raise ValueError(
        f"phi={phi!r} must be a score-generating function such as LocalAUC(0.8), a function on"
        f" (0, 1), or one of the names {sorted(named)}."
    )


def cumulated(phi: ScoreGeneratingFunction, rank: FloatArray) -> FloatArray:
    """Sum a score-generating function over the lowest ranks of a list. Shape (m,)."""
    sums = phi._sums(rank[:-1], rank[1:], np.asarray(rank[-1]))
    return np.append(0.0, np.cumsum(sums))
