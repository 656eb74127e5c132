"""
Retrieval: is the new retriever better?
=======================================

A picture search compares all 64 pixels. An index of 24 principal components is
smaller by three fifths. Is it as good, for which queries is it worse, and how
does a pipeline refuse a change that is worse?
"""

# %%
# Judgments and runs are dictionaries of queries and documents, as those of
# BEIR, MTEB, ranx and pytrec_eval. Images of the same digit are relevant.
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

X, y = load_digits(return_X_y=True)
images, queries, digits, wanted = train_test_split(
    X, y, test_size=400, stratify=y, random_state=0
)
qrels = {
    f"q{i}": {f"d{j}": 1 for j in np.flatnonzero(digits == digit)}
    for i, digit in enumerate(wanted)
}


def search(images, queries):
    similarity = normalize(queries) @ normalize(images).T
    best = np.argsort(-similarity)[:, :20]
    return {
        f"q{i}": {f"d{j}": float(similarity[i, j]) for j in row}
        for i, row in enumerate(best)
    }


pca = PCA(24, random_state=0).fit(images)
old = search(images, queries)
new = search(pca.transform(images), pca.transform(queries))

# %%
# From dictionaries to the decision
# ---------------------------------
#
# A loss below 0.02 does not matter; this was settled before. Relevant images
# that were not retrieved count.
from sklearn_rank.inference import compare

runs = {"new": new, "old": old}
found = compare("ndcg@10", qrels, runs, margin=0.02, alternative="two-sided")
print(found)

# %%
# The new index is worse, by less than 0.02. Where?
print(found.moved(5))

# %%
# At every k
# ----------
from matplotlib import pyplot as plt

from sklearn_rank.inference import curve
from sklearn_rank.plotting import CurveDisplay

figure, axes = plt.subplots(layout="constrained")
by_k = curve(
    "precision@k", qrels, runs, at=range(1, 21), baseline="old", random_state=0
)
CurveDisplay.from_result(by_k, ax=axes)
plt.show()

# %%
# A gate in a pipeline
# --------------------
#
# The command reads files of JSON, TREC or BEIR. Its exit code is 1 if the new
# run is worse. With a margin of 0.01 it is: limits from -0.012 to 0 exclude
# neither a loss of 0.012 nor one that does not matter, but they exclude 0.
import json
import subprocess
import sys
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    for name, table in {"qrels": qrels, **runs}.items():
        Path(folder, f"{name}.json").write_text(json.dumps(table))
    gate = (
        "new.json old.json --qrels qrels.json --measure ndcg@10 --fail-if worse"
    )
    for margin in ("0.02", "0.01"):
        command = [sys.executable, "-m", "sklearn_rank", "compare"]
        command += [*gate.split(), "--margin", margin]
        ended = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False
        )
        last = ended.stdout.strip().splitlines()[-1]
        print(f"margin {margin}: exit code {ended.returncode}\n{last}\n")

# %%
# Where to go next
# ----------------
#
# - :doc:`/user_guide/retrieval`: unjudged documents, ties, missing queries.
# - :doc:`/user_guide/comparisons`: several models, margins, dependent queries.
# - :doc:`/user_guide/command_line`: the gate and its output.
