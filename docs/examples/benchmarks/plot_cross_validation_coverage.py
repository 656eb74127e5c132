"""
Coverage and width of cross-validation intervals
================================================

Nominal 95 % intervals for the mean of the fold models, by four methods, and the loss of seven
rules that choose a model. The figures show the stored results of two simulation studies.
"""

# %%
# Intervals
# ---------
#
# ``python benchmarks/studies/cross_validation.py`` draws 200 samples of each design. Each dot is a
# design: 5 to 100 positives, normal and heavy-tailed features, five or ten folds, groups, queries
# and repeated folds.
import csv
from pathlib import Path

import matplotlib.pyplot as plt

results = Path("../../../benchmarks/results")
with (results / "cross_validation.csv").open() as lines:
    rows = [
        row
        for row in csv.DictReader(lines)
        if row["design"] not in ("bootstrap", "compare")
    ]
ways = {
    "cross_val_interval": ("#0072B2", "o"),
    "mean ± 1.96 standard errors": ("#D55E00", "v"),
    "corrected resampled t": ("#009E73", "s"),
    "all scores in one list": ("#CC79A7", "x"),
}
labels = dict.fromkeys(
    ("folds", "groups", "queries", "repeated"), "cross_val_interval"
) | {
    "naive": "mean ± 1.96 standard errors",
    "corrected t": "corrected resampled t",
    "one list": "all scores in one list",
}
figure, axes = plt.subplots(figsize=(8, 4.6), layout="constrained")
for name, (color, mark) in ways.items():
    found = [row for row in rows if labels.get(row["method"]) == name]
    width = [float(row["width"]) for row in found]
    coverage = [float(row["coverage"]) for row in found]
    axes.plot(width, coverage, mark, color=color, alpha=0.75, label=name)
axes.axhline(0.95, color="0.5", linewidth=1)
axes.set(
    xlabel="mean width of the interval", ylabel="coverage of nominal 95 % intervals"
)
figure.legend(loc="outside upper center", ncols=2)
plt.show()

# %%
# ``cross_val_interval`` covers at least .90 in every design. The naive interval covers less than
# the nominal level in all of them. An interval from the scores of all folds in one list never
# covers in the design with leave-one-out and a strong penalty (the cross at 0).

# %%
# The choice of a model
# ---------------------
#
# ``python benchmarks/studies/selection_by_bound.py`` chooses among twelve logistic regressions and
# measures how much AUC the choice loses against the best of the twelve: a hundred samples for each
# of four cases. Bars are means, whiskers two standard errors.
with (results / "selection_by_bound.csv").open() as lines:
    choices = [
        row for row in csv.DictReader(lines) if row["rule"].endswith(", 5 folds")
    ]
rules = list(
    dict.fromkeys(row["rule"].removesuffix(", 5 folds") for row in choices)
)
cases = list(dict.fromkeys((row["truth"], row["counts"]) for row in choices))
figure, panels = plt.subplots(
    1, 4, figsize=(11, 3.4), sharey=True, sharex=True, layout="constrained"
)
for panel, (truth, counts) in zip(panels, cases, strict=True):
    found = [
        row for row in choices if (row["truth"], row["counts"]) == (truth, counts)
    ]
    at = [rules.index(row["rule"].removesuffix(", 5 folds")) for row in found]
    error = [2 * float(row["loss_se"]) for row in found]
    color = "#0072B2" if truth == "linear" else "#E69F00"
    panel.barh(at, [float(row["loss"]) for row in found], xerr=error, color=color)
    panel.set_title(
        f"{truth} truth,\n{counts} positives/negatives", fontsize="medium"
    )
    panel.set_yticks(range(len(rules)), rules)
panels[0].invert_yaxis()
figure.supxlabel("loss in AUC against the best candidate")
plt.show()
