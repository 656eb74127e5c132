"""Private names that other subpackages may import."""

from ._base import LossOnLists, ThreadedLoss
from ._labellings import (
    AveragePrecisionLabellings,
    F1Labellings,
    Labelling,
    MixedLabellings,
    PairLabellings,
    TopLabellings,
)
from ._names import check_loss
