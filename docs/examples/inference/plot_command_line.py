"""
Draw the output of the command line
===================================

``sklearn-rank evaluate --format json`` writes the values of a file of scores with their intervals;
a few lines draw them.
"""

# %%
# A file with a label and the scores of two models in each row: the held-out rows of the Ionosphere
# data.
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from sklearn_rank.datasets import load_ionosphere

X, y = load_ionosphere(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
frame = pd.DataFrame({"label": y_test})
for name, model in [
    ("score_logistic", LogisticRegression(max_iter=1000)),
    ("score_bayes", GaussianNB()),
]:
    frame[name] = model.fit(X_train, y_train).predict_proba(X_test)[:, 1].round(6)
folder = Path(tempfile.mkdtemp())
frame.to_csv(folder / "predictions.csv", index=False)

# %%
# In a shell: ``sklearn-rank evaluate predictions.csv --measure auc ap --format json``.
command = "-m sklearn_rank evaluate predictions.csv --measure auc ap --format json"
found = subprocess.run(
    [sys.executable, *command.split()],
    cwd=folder,
    capture_output=True,
    text=True,
    check=True,
)
print(found.stdout[-400:])

# %%
# The intervals, one row for each measure and score.
import matplotlib.pyplot as plt

from sklearn_rank.inference import Interval
from sklearn_rank.plotting import IntervalsDisplay

names = ("estimate", "low", "high", "level", "method", "target")
intervals = {
    f"{row['measure']} of {row['score']}": Interval(*(row[name] for name in names))
    for row in json.loads(found.stdout)["results"]
}
IntervalsDisplay.from_result(intervals)
plt.show()
