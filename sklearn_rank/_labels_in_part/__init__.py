"""Labels in part: designs and plans of labels, intervals from labels known of some rows."""

from ._label_design import (
    Design,
    LabelDesign,
    check_fitted_proxy,
    check_partial_labels,
    labelled_sample,
    random_rows,
    rows_at_random,
)
from ._label_plan import LabelPlan, plan_labels
from ._late_labels import in_words
from ._log import rows_of_look
from ._questions import (
    call_as_of,
    compare_in_part,
    interval_in_part,
    interval_of_folds,
    lists_in_part,
)
