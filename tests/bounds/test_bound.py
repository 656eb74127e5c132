"""What a bound is: a number with its source, which prints as a sentence."""

from math import inf, nan

import pytest

from sklearn_rank.bounds import Bound


def test_prints_what_it_says_and_of_what():
    found = Bound(0.125, "Author (2000), Theorem 1", "|a - b|", 0.1, "the labels", ("c is true",))
    assert float(found) == 0.125
    assert str(found) == (
        "With probability 0.9 given the labels: |a - b| <= 0.125.\n"
        "Proof: Author (2000), Theorem 1.\n"
        "It holds where c is true."
    )
    assert str(Bound(inf, "Theorem 2", "a")) == "Always: a <= inf.\nProof: Theorem 2."
    two = Bound(0.1, "Theorem 3", "a", 0.5, assumptions=("b is", "c is"))
    assert two.proof == "Proof: Theorem 3.\nIt holds where b is; c is."


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((nan, "Theorem 1", "a"), "value=nan must be a number of at least 0"),
        ((-0.1, "Theorem 1", "a"), "value=-0.1 must be a number of at least 0"),
        ((0.1, "Theorem 1", "a", 1.0), r"delta=1.0 must be a number in \[0, 1\)"),
        ((0.1, "", "a"), "must name its theorem and its target"),
        ((0.1, "Theorem 1", ""), "must name its theorem and its target"),
    ],
)
def test_refusals(given, message):
    with pytest.raises(ValueError, match=message):
        Bound(*given)
