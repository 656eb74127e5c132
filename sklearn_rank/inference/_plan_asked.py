"""The question of a sample size plan: the given quantities and the one to compute."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from .._arguments import (
    MOST_ITEMS,
    check_choice,
    check_number,
    check_share,
    check_whole,
    is_number,
)
from ..metrics import Measure
from ..metrics._shared import AUCMeasure
from ._plan_models import PlanModel
from ._plan_questions import PLAN_ALTERNATIVES, Question
from ._plan_search import root_between, smallest_size

__all__ = ["WITH_MARGIN", "Asked", "Numbers", "check_part", "check_value"]

USUAL_POWER = 0.8

# Largest fraction of the largest possible difference or margin that the search tries.
NEARLY = 1.0 - 1e-9

WITH_MARGIN = ("non-inferior", "equivalent")


def check_part(name: str, value: Any, what: str = "") -> float:
    """Check a number in (0, 1), with a hint for percentages."""
    if is_number(value) and 1.0 < value <= 100.0:
        raise ValueError(
            f"{name}={value!r} must be a number in (0, 1): for {value:g} per cent pass"
            f" {name}={value / 100:g}."
        )
    return check_share(name, value, what=what)


def check_value(name: str, value: Any, measure: Measure) -> float:
    """Check a value of a measure, inside its range."""
    low, high = measure.counted_range
    if is_number(value) and 1.0 < value <= 100.0 and (low, high) == (0.0, 1.0):
        return check_part(name, value)
    found = check_number(name, value, low, high, closed="neither", what=f"of {measure.name}")
    if isinstance(measure, AUCMeasure) and found < 0.5:
        raise ValueError(
            f"{name}={value!r} is below 0.5, the value of a random order: negate the scores and"
            f" pass {1.0 - found:g}."
        )
    return found


@dataclass(frozen=True)
class Numbers:
    """The numbers of an interval or of a test as they were given."""

    n: Any
    level: Any
    width: Any
    difference: Any
    margin: Any
    alternative: Any
    power: Any

    @property
    def of_test(self) -> tuple[str, ...]:
        """Names of the given arguments that only a test has."""
        names = ("difference", "margin", "alternative", "power")
        return tuple(name for name in names if getattr(self, name) is not None)


@dataclass(frozen=True)
class Asked:
    """The numbers of an interval or of a test, one of which is unknown."""

    n: int | None  # Size of the sample
    level: float | None
    width: float | None = None
    question: Question | None = None  # The test; None is an interval
    difference: float | None = None  # True difference of the test
    power: float | None = None

    @classmethod
    def read(cls, measure: Measure, numbers: Numbers, n_rankers: int) -> Asked:
        """Read what is asked."""
        low, high = measure.counted_range
        if not numbers.of_test:
            return cls.interval(numbers, (high - low) * n_rankers)
        if numbers.width is not None:
            raise ValueError(
                f"width={numbers.width!r} is for an interval, but {', '.join(numbers.of_test)} for"
                " a test: pass one or the other."
            )
        return cls.test(measure, numbers)

    @classmethod
    def interval(cls, numbers: Numbers, most: float) -> Asked:
        """Check what is asked of an interval."""
        n, level, width = numbers.n, numbers.level, numbers.width
        if sum(value is None for value in (n, level, width)) != 1:
            raise ValueError(
                f"n={n!r}, width={width!r} and level={level!r}: pass two of the three and leave"
                " out the one to compute, or pass level=None to compute the level; for a test"
                " pass difference."
            )
        return cls(
            n=None if n is None else check_whole("n", n, 2, MOST_ITEMS),
            level=None if level is None else check_part("level", level),
            width=None if width is None else _check_length("width", width, most, "the interval"),
        )

    @classmethod
    def test(cls, measure: Measure, numbers: Numbers) -> Asked:
        """Check what is asked of a test."""
        low, high = measure.counted_range
        n, level, power = numbers.n, numbers.level, numbers.power
        if level is None:
            raise ValueError(
                "level=None is computed for an interval only: pass the level of the test."
            )
        level = check_part("level", level)
        n = None if n is None else check_whole("n", n, 2, MOST_ITEMS)
        question, difference = _question(measure, numbers, high - low)
        with_margin = question.alternative in WITH_MARGIN
        size = question.margin if with_margin else difference
        if n is None or (size is None and power is None):
            power = USUAL_POWER if power is None else power
        name = "margin" if with_margin else "difference"
        if sum(value is None for value in (n, size, power)) != 1:
            raise ValueError(
                f"n={n!r}, {name}={size!r} and power={power!r}: pass two of the three and leave"
                " out the one to compute."
            )
        if power is not None and (power := check_part("power", power)) <= 1.0 - level:
            raise ValueError(
                f"power={power!r} is not above 1 - level, the rejection rate of a true hypothesis:"
                " pass a greater power."
            )
        if size is not None and min(question.distances(float(difference or 0.0))) <= 0.0:
            margin = "" if question.margin is None else f" with margin={question.margin!r}"
            raise ValueError(
                f"difference={difference!r} is not in the direction of"
                f" alternative={question.alternative!r}{margin}: change its sign, or the"
                " alternative."
            )
        return cls(n, level, question=question, difference=difference, power=power)

    @property
    def unknown(self) -> str:
        """Name of the number that is to be found."""
        if self.n is None:
            return "n"
        if self.question is None:
            return "width" if self.width is None else "level"
        if self.power is None:
            return "power"
        return "margin" if self.question.alternative in WITH_MARGIN else "difference"

    def found(self, model: PlanModel, largest: float) -> float:
        """Find the number. The number; a whole one for n."""
        unknown = self.unknown
        if unknown == "n":
            return smallest_size(lambda n: self._suffices(model, n), self._wish())
        n = int(self.n or 0)
        if unknown in ("width", "power"):
            return self.value(model, n)
        if unknown == "level":
            return model.level(n, float(self.width or 0.0))
        wanted = float(self.power or 0.0)

        def seen(share: float) -> bool:
            return self.with_size(share * largest).value(model, n) >= wanted

        if not seen(NEARLY):
            raise ValueError(
                f"With n={n} the power is below {wanted:g} for every possible {unknown} of the"
                " measure: pass a greater n, or a smaller power."
            )
        return largest * root_between(seen, 0.0, NEARLY)

    def answered(self, found: float) -> Asked:
        """Set the number that was to be found. The question with its answer."""
        match self.unknown:
            case "n":
                return replace(self, n=int(found))
            case "level":
                return replace(self, level=found)
            case "width":
                return replace(self, width=found)
            case "power":
                return replace(self, power=found)
        return self.with_size(found)

    def with_size(self, size: float) -> Asked:
        """Set the difference of the test, or its margin. The question with it."""
        if self.question is not None and self.question.alternative in WITH_MARGIN:
            return replace(self, question=replace(self.question, margin=size))
        return replace(self, difference=size)

    def value(self, model: PlanModel, n: int) -> float:
        """Find the width of the interval, or the power of the test. The one or the other."""
        level = float(self.level or 0.0)
        if self.question is None:
            return model.width(n, level)
        return model.power(n, float(self.difference or 0.0), self.question, level)

    def _suffices(self, model: PlanModel, n: int) -> bool:
        value = self.value(model, n)
        if self.question is None:
            return value <= float(self.width or 0.0)
        return value >= float(self.power or 0.0)

    def _wish(self) -> str:
        if self.question is None:
            return f"width={self.width!r} at level={self.level!r}"
        return f"power={self.power!r} for difference={self.difference!r}"


def _question(measure: Measure, numbers: Numbers, most: float) -> tuple[Question, float | None]:
    """Return the test, and the difference that it should detect."""
    alternative, margin, difference = numbers.alternative, numbers.margin, numbers.difference
    if alternative is None:
        alternative = "two-sided" if margin is None else "non-inferior"
    check_choice("alternative", alternative, PLAN_ALTERNATIVES)
    if difference is not None:
        difference = _check_difference(difference, most, alternative)
    elif alternative in WITH_MARGIN:
        difference = 0.0
    if margin is not None:
        if alternative not in WITH_MARGIN:
            raise ValueError(
                f"margin={margin!r} is not used by alternative={alternative!r}: leave it out, or"
                " pass alternative='non-inferior' or 'equivalent'."
            )
        margin = _check_length("margin", margin, most, "what does not matter")
    return Question(alternative, margin, measure.greater_is_better), difference


def _check_length(name: str, value: Any, most: float, what: str) -> float:
    """Check a positive length that is shorter than the range."""
    value = check_number(name, value, 0.0, closed="neither", what=f"of {what}")
    if isfinite(most) and value >= most:
        percent = f"; for {value:g} per cent pass {value / 100:g}" if 1.0 < value <= 100.0 else ""
        raise ValueError(
            f"{name}={value!r} must be less than {most:g}, the length of the range{percent}."
        )
    return value


def _check_difference(value: Any, most: float, alternative: str) -> float:
    value = check_number("difference", value, what="of the two rankers")
    if value == 0.0 and alternative not in WITH_MARGIN:
        raise ValueError(
            "difference=0 cannot be detected by a test: pass the smallest difference that"
            " matters, or margin= to test equivalence."
        )
    if value != 0.0:
        _check_length("difference", abs(value), most, "the two rankers")
    return value
