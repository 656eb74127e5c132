"""
Clinical prediction: compare two AUCs on 300 patients
=====================================================

A new risk score is to replace the one in use. Is its AUC greater by more than
chance, and how many more patients would show a difference that matters?
"""

# %%
# The data are simulated: 300 patients, about a fifth of whom have the disease,
# and two risk scores. Replace ``patients`` by your own frame with one row per
# patient.
import numpy as np
import pandas as pd

from sklearn_rank.inference import compare, metric_interval

rng = np.random.default_rng(0)
disease = rng.random(300) < 0.2
severity = rng.normal(1.3 * disease)
patients = pd.DataFrame(
    {
        "disease": np.where(disease, "yes", "no"),
        "new_score": severity + rng.normal(0, 0.4, 300),
        "score_in_use": severity + rng.normal(0, 0.8, 300),
    }
)

y = patients["disease"]
scores = patients[["new_score", "score_in_use"]]
for name in scores:
    print(name, metric_interval("auc", y, scores[name], pos_label="yes"))
found = compare("auc", y, scores, pos_label="yes")
print(found)

# %%
# The first two lines are the AUCs with their 95 % intervals. The last line of
# the table is the comparison: the difference, its interval and the p-value.
# Both scores see the same patients, so their errors are correlated. The
# comparison takes this into account; overlapping intervals of the two AUCs do
# not answer the question.
#
# The picture
# -----------
#
# The line is the interval of the difference. If it contains 0, the data do not
# show which score is better.
import matplotlib.pyplot as plt

from sklearn_rank.plotting import IntervalsDisplay

IntervalsDisplay.from_intervals(found)
plt.show()

# %%
# How many patients show a difference?
# ------------------------------------
#
# Name the difference that matters to patients, here 0.03. The 300 patients are
# the pilot: they show how the two scores vary together.
from sklearn_rank.inference import sample_size

plan = sample_size(
    "auc",
    difference=0.03,
    power=0.8,
    pilot=(y, scores),
    pos_label="yes",
    random_state=0,
)
print(plan)
print(f"{plan.n - len(patients)} patients more than the {len(patients)} here")

# %%
# The first line of the plan is the number of patients in all. Its last line is
# the range of sizes that the pilot allows, since the variance in the pilot is
# an estimate. Do not plan with the difference that the pilot shows: it is too
# uncertain.
#
# The curve has the power at other sizes. The band is again the uncertainty of
# the pilot.
curve = plan.curve(np.geomspace(100, 4 * plan.n, 20).astype(int))
# sphinx_gallery_thumbnail_number = 2
figure, axes = plt.subplots(layout="constrained")
axes.plot(curve.n, curve.values)
axes.fill_between(curve.n, curve.low, curve.high, alpha=0.2)
axes.axhline(0.8, color="grey", linestyle=":")
axes.axvline(len(patients), color="grey", linestyle="--")
axes.set(xlabel="patients (dashed: today)", ylabel="power", ylim=(0, 1))
plt.show()

# %%
# If the new score only has to be as good
# ---------------------------------------
#
# A cheaper or safer score may replace the one in use if it is not worse by more
# than a margin. Choose this question and the margin before you look at the
# data: the test has one side, so its interval has level 90 % and its
# conclusions need less evidence.
print(compare("auc", y, scores, pos_label="yes", margin=0.03))

# %%
# Why this interval?
# ------------------
#
# The usual standard error of an AUC is too small when there are few patients
# with the disease or when the AUC is near 1. ``metric_interval`` uses a
# Wilson-type interval, whose coverage is measured in
# :doc:`/user_guide/how_far_to_trust`. Visits of the same patient are not
# independent: pass ``groups=`` with the patient ids if a patient has several
# rows.
#
# Where to go next
# ----------------
#
# - :doc:`/user_guide/rank_tests`: tests of two or more scores on one list.
# - :doc:`/user_guide/sample_size`: plans from a formula, a pilot or a published
#   value.
# - :doc:`/user_guide/plotting`: ROC bands, calibration and decision curves.
