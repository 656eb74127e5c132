"""Private names that other subpackages may import."""

from ._base import LossOnLists
from ._labellings import (
    AveragePrecisionLabellings,
    F1Labellings,
    Labelling,
    PairLabellings,
    TopLabellings,
    mean_labelling,
)
from ._losses import check_loss
