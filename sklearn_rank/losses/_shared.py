"""What other rooms need of this one, beside what a user calls."""

from ._threads import ThreadedLoss

__all__ = ["ThreadedLoss"]
