"""
Ten reviews a day
=================

Of a hundred transactions one or two are frauds, and a team can look at ten a day. From a frame
with words in it to a saved model, and to what the team will find: with an interval, beside the
usual model.
"""

# %%
# Sixty days of five hundred transactions. In most shops frauds are a little more frequent at night
# and from one country; in two shops they are large amounts of young accounts, and it is these that
# stand out enough for ten reviews a day.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

rng = np.random.default_rng(3)
n_days, n_a_day = 60, 500
n = n_days * n_a_day
frame = pd.DataFrame(
    {
        "amount": rng.lognormal(3.5, 1.0, n),
        "age": rng.exponential(400.0, n),
        "hour": rng.integers(0, 24, n),
        "shop": rng.choice(["books", "food", "games", "phones", "travel"], n),
        "country": rng.choice(["AT", "CH", "DE", "FR", "IT"], n, p=[0.1, 0.1, 0.5, 0.2, 0.1]),
    }
)
day = np.repeat(np.arange(n_days), n_a_day)
risky = frame["shop"].isin(["games", "phones"]).to_numpy()
night = (frame["hour"] < 6).to_numpy()
everywhere = -6.0 + 1.5 * night + 1.5 * (frame["country"] == "IT").to_numpy()
size = np.log(frame["amount"].to_numpy()) - 3.5
youth = -np.log1p(frame["age"].to_numpy() / 100.0)
logit = np.where(risky, -6.5 + 4.5 * size + 2.0 * youth, everywhere)
label = np.where(rng.random(n) < 1 / (1 + np.exp(-logit)), "fraud", "genuine")
print(f"{np.mean(label == 'fraud'):.2%} of {n} are frauds")

# %%
# The first forty days are there to learn from, the last twenty to see what was learned.
train, test = day < 40, day >= 40

# %%
# Any classifier that takes weights can look twice. Its strength ``C`` is chosen by precision at
# the top: ten of five hundred are two per cent. Days are held out whole.
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PowerTransformer

from sklearn_rank import TopFocusedRanker
from sklearn_rank.metrics import get_scorer

share = 10 / n_a_day
columns = make_column_transformer(
    (PowerTransformer(), ["amount", "age"]),
    (OneHotEncoder(), ["hour", "shop", "country"]),
)
logistic = make_pipeline(columns, LogisticRegression(max_iter=1000))
strengths = np.logspace(-2, 0, 3)
by_top = get_scorer(f"smoothed_precision@top{share}", pos_label="fraud")


def chosen(model, parameter):
    search = GridSearchCV(
        model, {parameter: strengths}, scoring=by_top, cv=GroupKFold(3), error_score="raise"
    )
    return search.fit(frame[train], label[train], groups=day[train])


usual = chosen(logistic, "logisticregression__C")
focused = chosen(
    TopFocusedRanker(logistic, tau=share, pos_label="fraud"), "estimator__logisticregression__C"
)

# %%
# The model goes into a file and comes out of it.
import tempfile
from pathlib import Path

import joblib

path = Path(tempfile.mkdtemp()) / "reviews.joblib"
joblib.dump(focused.best_estimator_, path)
model = joblib.load(path)

# %%
# What the team will find: the share of frauds among the first ten of each day, its mean over the
# days, and an interval for the mean over days to come. ``pos_label`` is the second class of these
# labels or the first: scorers and the ranker turn the sign, plain functions take scores by which
# the frauds are on top.
from sklearn_rank.inference import metric_interval, paired_query_test

today = {
    "logistic regression": usual.predict_proba(frame[test])[:, 0],
    "looked twice": model.predict_proba(frame[test])[:, 0],
}
intervals = {}
for name, score in today.items():
    intervals[name] = metric_interval(
        "precision@10", label[test], score, qid=day[test], pos_label="fraud"
    )
    print(f"{name}: {intervals[name]}")

# %%
# Whether the difference is more than luck is a question for a paired test over the days.
print(
    paired_query_test(
        "precision@10",
        label[test],
        today["looked twice"],
        today["logistic regression"],
        qid=day[test],
        pos_label="fraud",
        random_state=0,
    )
)

# %%
# The intervals; and the precision at other capacities, with all days in one list, where the dotted
# line is at ten a day.
from sklearn_rank.plotting import IntervalsDisplay, TopOfListDisplay

IntervalsDisplay.from_intervals(intervals)
plt.show()

# %%
figure, axes = plt.subplots()
for name, score in today.items():
    TopOfListDisplay.from_predictions(label[test] == "fraud", score, name=name, ax=axes)
axes.axvline(10 * 20, color="grey", linestyle=":")
plt.show()
