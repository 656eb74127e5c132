"""
Retrieval: is a smaller index as good at every k?
=================================================

Images of digits are retrieved by the cosine of their vectors: of all 64 pixels, or of their first
24 principal components, which take a third of the memory. Judgments and runs are dictionaries of
queries and documents; a document is relevant if it is the same digit.
"""

# %%
# The limits of all k hold together, so that k may be chosen after looking.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

from sklearn_rank.inference import curve
from sklearn_rank.plotting import CurveDisplay

X, y = load_digits(return_X_y=True)
documents, queries, labels, wanted = train_test_split(
    X, y, test_size=400, stratify=y, random_state=0
)
qrels = {
    f"q{i}": {f"d{j}": 1 for j in np.flatnonzero(labels == digit)}
    for i, digit in enumerate(wanted)
}


def search(documents, queries, depth=50):
    """The first documents of each query with their scores."""
    similarity = normalize(queries) @ normalize(documents).T
    best = np.argsort(-similarity)[:, :depth]
    return {
        f"q{i}": {f"d{j}": float(similarity[i, j]) for j in row}
        for i, row in enumerate(best)
    }


small = PCA(24, random_state=0).fit(documents)
runs = {
    "pixels": search(documents, queries),
    "components": search(small.transform(documents), small.transform(queries)),
}
found = curve(
    "precision@k", qrels, runs, at=range(1, 51), baseline="pixels", random_state=0
)
print(found.conclusions)

figure, axes = plt.subplots(layout="constrained")
CurveDisplay.from_result(found, ax=axes)
axes.axhline(-0.02, color="grey", linestyle=":")
plt.show()
