"""What other rooms may import of this one, beside what is public."""

from ._threads import ThreadedLoss

__all__ = ["ThreadedLoss"]
