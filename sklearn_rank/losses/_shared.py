"""Private names that other subpackages may import."""

from ._base import LossOnLists, ThreadedLoss
from ._labellings import (
    AveragePrecisionLabellings,
    F1Labellings,
    Labelling,
    PairLabellings,
    TopLabellings,
    mean_labelling,
)
from ._names import check_loss
