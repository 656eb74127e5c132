"""trec_eval through pytrec_eval; the dictionaries that it takes are made beforehand."""

import pytrec_eval
from benchmark_utils.as_dicts import as_dicts
from benchmark_utils.peer import Peer

NAMES = {
    "ndcg10_linear": ("ndcg_cut.10", "ndcg_cut_10"),
    "precision10": ("P.10", "P_10"),
    "recall10": ("recall.10", "recall_10"),
    "ap": ("map", "map"),
    "rr": ("recip_rank", "recip_rank"),
}
BY_NAME = "ties by name of the document"
IN_32_BITS = f"scores in 32 bits, which makes ties; {BY_NAME}"


class Solver(Peer):
    """One measure a time; the mean is taken in Python."""

    name = "pytrec_eval"
    requirements = ["pip::pytrec_eval-terrier"]
    measures = tuple(NAMES)
    layouts = ("ragged",)
    test_config = {
        "objective": {"measure": "ndcg10_linear"},
        "dataset": {"name": "queries", "layout": "ragged"},
    }
    why = {**dict.fromkeys(NAMES, BY_NAME), "always": IN_32_BITS}

    def convert(self):
        """Make the dictionaries and the evaluator, which keeps the labels."""
        relevance, self.scores = as_dicts(self.y_true, self.y_score, self.offsets)
        self.evaluator = pytrec_eval.RelevanceEvaluator(relevance, {NAMES[self.measure][0]})

    def compute(self):
        """Evaluate all queries."""
        key = NAMES[self.measure][1]
        values = self.evaluator.evaluate(self.scores).values()
        return sum(value[key] for value in values) / len(values)
