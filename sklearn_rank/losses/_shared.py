"""Private names that other subpackages may import."""

from ._base import LossOnLists
from ._losses import check_loss
