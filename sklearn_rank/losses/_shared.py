"""Private names that other subpackages may import."""

from ._base import LossOnLists
from ._labellings import Labelling, MixedLabellings, PairLabellings, TopLabellings
from ._labellings_counted import AveragePrecisionLabellings, F1Labellings
from ._names import check_loss
from ._threads import ThreadedLoss

__all__ = [
    "AveragePrecisionLabellings",
    "F1Labellings",
    "Labelling",
    "LossOnLists",
    "MixedLabellings",
    "PairLabellings",
    "ThreadedLoss",
    "TopLabellings",
    "check_loss",
]
