"""What inner rings ask of outer ones: the extension points, imported when they are used."""

from __future__ import annotations

from ._on_first_use import on_first_use

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        # Of margin_bound of accuracy at the top.
        "bounds": ["accuracy_at_top_margin_bound"],
        # Of scorers of label rankings.
        "_label_rankings": ["grades_of_columns", "label_scores", "value_of_labels"],
        # Of judgments and runs in place of labels and scores.
        "datasets._questions": ["call_on_runs", "pilot_of_runs"],
        "datasets._runs": ["rows_of_run"],
        # Of the argument design= of intervals, comparisons, folds, sequences and batches.
        "_labels_in_part": [
            "LabelDesign",
            "call_as_of",
            "check_fitted_proxy",
            "check_partial_labels",
            "compare_in_part",
            "in_words",
            "interval_in_part",
            "interval_of_folds",
            "labelled_sample",
            "lists_in_part",
            "random_rows",
            "rows_at_random",
            "rows_of_look",
        ],
    },
)
