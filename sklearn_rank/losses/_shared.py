"""Private names that other subpackages may import."""

from ._base import LossOnLists
from ._labellings import (
    Labelling,
    PairLabellings,
    RowLabellings,
    TopLabellings,
    average_precision_rule,
    f1_rule,
)
from ._losses import check_loss
