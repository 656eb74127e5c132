"""What other rooms may import of this one, beside what is public."""

from ._names import check_loss
from ._threads import ThreadedLoss

__all__ = ["ThreadedLoss", "check_loss"]
