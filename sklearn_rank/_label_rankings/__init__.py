"""Label rankings: orders of labels, one list for each row, and their ranker."""

from ._label_orders import label_grades
from ._label_rankers import OrderPreservingLabelRanker
from ._label_scores import grades_of_columns, label_scores, value_of_labels
