"""Label rankings: orders of labels, one list for each row, and their ranker."""

from ._label_orders import label_grades, read_label_orders, rows_numbered
from ._label_rankers import OrderPreservingLabelRanker
