"""
Labels that come late, on each day that one looks
=================================================

Payments of 60 days, of which frauds are reported within four weeks and the
others never are. What is the precision of the riskiest 5 %? It is asked on each
day from the 30th on, in four ways, until all labels are known.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from sklearn_rank.inference import LabelDesign, metric_interval

rng = np.random.default_rng(0)
entered, risk = rng.integers(0, 60, size=12_000), rng.normal(size=12_000)
fraud = rng.random(12_000) < 1 / (1 + np.exp(3 - 1.2 * risk))
delay = np.minimum(rng.exponential(10, size=12_000), 28).round()
reported = np.where(fraud, entered + delay, np.nan)
PRECISION, HORIZON = "precision@top0.05", 28


def limits(y_true, score, design=None):
    found = metric_interval(PRECISION, y_true, score, design=design)
    return found.low, found.estimate, found.high


days = np.arange(30, 91, 2)
ways = ["weighted", "mature rows only", '"not yet" is "no"', "known rows only"]
found = {way: np.empty((len(days), 3)) for way in ways}
rows_of_kind = np.empty((3, len(days)))
for i, day in enumerate(days):
    here = entered <= day
    told, score = reported[here] <= day, risk[here]
    late = {
        "entered": entered[here],
        "resolved": np.where(told, reported[here], np.nan),
        "horizon": HORIZON,
        "as_of": day,
    }
    design = LabelDesign(**late)
    known = ~np.isnan(design.labels(told))
    mature = entered[here] + HORIZON <= day
    found["weighted"][i] = limits(told, score, design)
    matured = LabelDesign(**late, mature_only=True)
    found["mature rows only"][i] = limits(told, score, matured)
    found['"not yet" is "no"'][i] = limits(told, score)
    found["known rows only"][i] = limits(told[known], score[known])
    kinds = (mature, known & ~mature, ~known)
    rows_of_kind[:, i] = [kind.sum() for kind in kinds]

# %%
truth = limits(fraud, risk)[1]
colors = dict(zip(ways, ("#0072B2", "#E69F00", "#D55E00", "#CC79A7"), strict=True))
fig, (ax, below) = plt.subplots(
    2, figsize=(7.5, 6), sharex=True, height_ratios=(3, 1), layout="constrained"
)
for way in ("mature rows only", "weighted"):
    low, _, high = found[way].T
    ax.fill_between(days, low, high, color=colors[way], alpha=0.3, linewidth=0)
for way in ways:
    style = "-" if way in ("weighted", "mature rows only") else "--"
    ax.plot(days, found[way][:, 1], style, color=colors[way], label=way)
ax.axhline(truth, color="black", linewidth=1, label="all labels")
ax.set(ylabel=PRECISION, title="Estimates, and limits of 95 % of the first two")
ax.legend(ncols=2, loc="upper right")
shades = ("#555555", "#0072B2", "#DDDDDD")
below.stackplot(
    days, rows_of_kind, labels=("mature", "early", "open"), colors=shades
)
below.set(xlabel="day of the look", ylabel="rows", xlim=(30, 90))
below.legend(loc="lower right", ncols=3)
plt.show()

# %%
# "Not yet" is not "no": while many rows are young, the precision is too low, and
# it seems to rise as reports come in. Of rows whose label is known, too many are
# frauds, as these are known first. The two others are right from the first day
# on. The weights use what is known early, too, and so their limits are narrower
# where few rows are mature.
