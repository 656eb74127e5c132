"""
Back-test: what was known then
==============================

A log of payments over 150 days. Which merchants are attacked changes within
weeks, and a fraud is reported after 8 days on average, so that a payment
without a report is certain after 28 days only. Ten payments a day are
reviewed. Should the ranking know the merchant?

A split in time that takes all labels of the past says yes: of the reviewed
payments 26 % are frauds, not 19 %. But many of these labels were not known
then. The back-test trains on those that were, and says 6 %: by then attacks
are elsewhere.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_rank.model_selection import PeriodSplit, back_test
from sklearn_rank.plotting import CurveDisplay

rng = np.random.default_rng(0)
n_days, n_a_day, n_merchants = 150, 200, 60
attacked = np.empty((n_days, n_merchants))
attacked[0] = rng.normal(size=n_merchants)
for day in range(1, n_days):
    news = rng.normal(size=n_merchants)
    attacked[day] = 0.96 * attacked[day - 1] + np.sqrt(1 - 0.96**2) * news

day = np.repeat(np.arange(n_days), n_a_day)
rows = pd.DataFrame({"amount": rng.normal(size=len(day))})
rows["merchant"] = rng.integers(n_merchants, size=len(day))
logit = 0.7 * rows.amount + 2.2 * attacked[day, rows.merchant] - 4
fraud = rng.random(len(day)) < 1 / (1 + np.exp(-logit))
entered = pd.Timestamp("2024-01-01") + pd.to_timedelta(
    day + rng.random(len(day)), "D"
)
delay = pd.to_timedelta(rng.exponential(8, size=len(day)), "D")
reported = (entered + delay).where(fraud)

amount = make_column_transformer(("passthrough", ["amount"]))
both = make_column_transformer(
    ("passthrough", ["amount"]),
    (OneHotEncoder(handle_unknown="ignore"), ["merchant"]),
)
models = {
    "amount": make_pipeline(amount, LogisticRegression()),
    "merchant too": make_pipeline(both, LogisticRegression()),
}

# %%
# Models are trained anew each week, on four weeks of payments that are mature.
how = {"measure": "precision@10", "entered": entered, "baseline": "amount"}
weeks = PeriodSplit(7, horizon=28, train_for=28, as_of="2024-05-30")
found = back_test(
    models, rows, fraud, cv=weeks, resolved=reported, random_state=0, **how
)
print(found)

# %%
# The same weeks, as if each label were known at once:
weeks = PeriodSplit(
    7, horizon=0.001, train_for=28, start="2024-02-26", as_of="2024-05-02"
)
at_once = back_test(models, rows, fraud, cv=weeks, random_state=0, **how)
print(at_once.comparison)

# %%
# The mean difference so far, with limits for each week (darker) and for all:
_, ax = plt.subplots(figsize=(7, 4), layout="constrained")
CurveDisplay.from_result(at_once.differences_so_far, ax=ax, label="labels at once")
CurveDisplay.from_result(found.differences_so_far, ax=ax, label="what was known")
ax.set_title("Precision of 10 reviews a day: gain by the merchant")
ax.legend(loc="center right")
plt.show()
