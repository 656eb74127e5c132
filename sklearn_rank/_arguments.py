"""Validation of arguments that are a number, a string or a flag."""

from __future__ import annotations

from collections.abc import Collection
from math import inf, nan
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np

# Positions are counted in 64 bits; no list is as long.
LAST_POSITION = 2**63 - 1

Closed: TypeAlias = Literal["both", "left", "right", "neither"]

# No file has more items; up to here float64 tells counts apart.
MOST_ITEMS = 2**53


def is_number(value: Any) -> bool:
    """Whether a value is a real number and not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of an integer type and not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_number(
    name: str,
    value: Any,
    low: float = -inf,
    high: float = inf,
    *,
    closed: Closed = "both",
    what: str = "",
) -> float:
    """Check a number in an interval, as the float64 that it becomes; NaN is in none."""
    number = _as_float(value)
    inside = (low <= number if closed in ("both", "left") else low < number) and (
        number <= high if closed in ("both", "right") else number < high
    )
    if not inside:
        raise ValueError(
            f"{name}={shown(value)} must be {_range_in_words(low, high, closed)}"
            f"{f': {what}' if what else ''}."
        )
    return number


def _as_float(value: Any) -> float:
    """The nearest float64; NaN for what is no number, or an integer beyond all of them."""
    try:
        return float(value) if is_number(value) else nan
    except OverflowError:
        return nan


def shown(value: Any) -> str:
    """Represent a value in a message, truncated if it is longer than 80 characters."""
    if isinstance(value, int) and value.bit_length() > 240:
        # Python raises an error when it converts integers of thousands of digits to text.
        return f"<an integer of {value.bit_length()} bits>"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _range_in_words(low: float, high: float, closed: Closed) -> str:
    if low == -inf and high == inf:
        return "a number" if closed == "both" else "a finite number"
    if high == inf:
        finite = "" if closed in ("both", "right") else "finite "
        start = f"of at least {low:g}" if closed in ("both", "left") else f"greater than {low:g}"
        return f"a {finite}number {start}"
    left = "[" if closed in ("both", "left") else "("
    right = "]" if closed in ("both", "right") else ")"
    return f"a number in {left}{low:g}, {high:g}{right}"


def check_share(name: str, value: Any, *, what: str = "") -> float:
    """Check a share or probability in (0, 1)."""
    return check_number(name, value, 0.0, 1.0, closed="neither", what=what)


def check_level(level: Any) -> float:
    """Check the nominal probability of an interval, in (0, 1) and not too close to the ends."""
    level = check_share("level", level)
    if level < 1e-6:
        raise ValueError(
            f"level={level:g} is so close to 0 that limits coincide: pass a probability such as"
            " 0.95."
        )
    if level > 1.0 - 1e-12:
        raise ValueError(
            f"level={level!r} is so close to 1 that limits are those of any value: pass a"
            " probability such as 0.95."
        )
    return level


def check_whole(
    name: str, value: Any, low: int = 1, high: float = inf, *, optional: bool = False
) -> int:
    """Check a whole number."""
    or_none = " or None" if optional else ""
    if not is_whole(value):
        raise TypeError(f"{name}={shown(value)} must be a whole number{or_none}.")
    # In Python's integers nothing wraps round, as it would in those of few bits.
    number = int(value)
    if not low <= number <= high:
        most = "" if high == inf else f" and at most {int(high)}"
        raise ValueError(f"{name}={shown(value)} must be at least {low}{most}{or_none}.")
    return number


def check_count(name: str, value: Any, low: int = 1) -> int:
    """Check a number of items: a whole number of at most 2^53."""
    return check_whole(name, value, low, MOST_ITEMS)


def check_position(name: str, value: Any, *, optional: bool = False) -> int:
    """Check the last position that counts, from 1; beyond the length of a list it is the list."""
    return check_whole(name, value, 1, LAST_POSITION, optional=optional)


def check_resamples(n_resamples: Any) -> int:
    """Check a number of resamples, at least 99."""
    return check_whole("n_resamples", n_resamples, 99)


def check_choice(name: str, value: Any, choices: Collection[Any], *, hint: str = "") -> None:
    """Check an argument that must be one of several strings, or None if it is among them."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}{hint}.")


def check_flag(name: str, value: Any) -> bool:
    """Check an argument that is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}={shown(value)} must be True or False.")
    return bool(value)


def check_generator(random_state: Any) -> np.random.Generator:
    """Make a random generator from ``random_state``."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state={random_state!r} must be None, a non-negative int, a Generator or a"
            " RandomState."
        ) from None
