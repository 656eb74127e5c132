"""
Clinical prediction: compare two AUCs, and plan the next study
==============================================================

Two laboratory values rank 7,200 patients by the risk of thyroid disease. Is one
better by more than chance, also where only few false alarms are acceptable, and
how many cases does the next study need?
"""

# %%
# A high TSH and a low FTI speak for disease, so FTI gets a minus sign. An AUC
# below 0.5 shows a forgotten sign.
from sklearn_rank.datasets import load_thyroid
from sklearn_rank.inference import compare, metric_interval, sample_size

X, y = load_thyroid(return_X_y=True, as_frame=True)
scores = {"TSH": X["TSH"], "FTI": -X["FTI"]}
for name, score in scores.items():
    print(name, metric_interval("auc", y, score))
print(compare("auc", y, scores))

# %%
# First the AUCs with 95 % intervals, then their difference with its interval
# and p-value. The comparison knows that both values come from the same
# patients; whether two intervals overlap does not answer the question.
#
# Few false alarms: the partial AUC
# ---------------------------------
#
# The area at false positive rates up to 0.1 is 0.1 at best.
print(compare("partial_auc@fpr0.1", y, scores))

# %%
# The picture shows both curves with bands; this area is grey.
import matplotlib.pyplot as plt

from sklearn_rank.inference import curve
from sklearn_rank.plotting import CurveDisplay

figure, axes = plt.subplots(layout="constrained")
found = curve("tpr@fpr", y, scores, random_state=0)
CurveDisplay.from_result(found, ax=axes)
axes.axvspan(0, 0.1, color="grey", alpha=0.2)
plt.show()

# %%
# How many cases does the next study need?
# ----------------------------------------
#
# It is to show a difference of 0.05, the smallest that matters, with power 0.8.
# These patients are the pilot: they tell how the two values vary together.
# First as many are ill as here, then half of them, as in a study that picks
# cases and controls.
for share in (None, 0.5):
    plan = sample_size(
        "auc",
        difference=0.05,
        power=0.8,
        pilot=(y, scores),
        prevalence=share,
        random_state=0,
    )
    print(plan, end="\n\n")

# %%
# The last line is the range that the pilot allows. Name the difference that
# matters: the one that a pilot shows is too uncertain to plan with.
#
# Is a cheaper marker as good?
# ----------------------------
#
# FTI is computed from TT4 and T4U. Does TT4 alone do? If a loss of 0.03 in AUC
# does not matter, and this was settled before, ``margin`` asks:
pair = {"TT4": -X["TT4"], "FTI": -X["FTI"]}
print(compare("auc", y, pair, margin=0.03))

# %%
# Why these intervals?
# --------------------
#
# The usual standard error of an AUC is too small when there are few cases or
# the AUC is near 1. ``metric_interval`` takes a Wilson-type interval. If a
# patient has several rows, pass ``groups=`` with the patient ids.
#
# Where to go next
# ----------------
#
# - :doc:`/user_guide/comparisons`: two or more scores, margins, many lists.
# - :doc:`/user_guide/sample_size`: plans from a pilot or a published value.
# - :doc:`/user_guide/how_far_to_trust`: what each interval covers.
