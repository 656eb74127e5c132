"""Labels, scores and queries that are drawn."""

import numpy as np

Y_TRUE = np.array([1, 0, 1, 1, 0, 0, 0, 1])
Y_SCORE = np.array([4, 3, 3, 2, 2, 2, 1, 0])


def queries(n_queries=30):
    """Grades, scores of two rankers, and ids."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(n_queries), 8)
    grade = rng.integers(0, 3, size=len(qid))
    return grade, {"good": grade + rng.normal(size=len(qid)), "bad": -1.0 * grade}, qid


def words(texts):
    """Texts of artists."""
    return [text.get_text() for text in texts]


def legend_of(ax):
    """Texts of the legend."""
    return words(ax.get_legend().get_texts())
