"""ir_measures with its default provider; the dictionaries that it takes are made beforehand."""

import ir_measures
from benchmark_utils.as_dicts import as_dicts
from benchmark_utils.measures import CUTOFF
from benchmark_utils.peer import Peer

MEASURES = {
    "ndcg10_linear": ir_measures.nDCG @ CUTOFF,
    "ap": ir_measures.AP,
    "rr": ir_measures.RR,
}
BY_NAME = "ties by name of the document"
IN_32_BITS = f"scores in 32 bits, which makes ties; {BY_NAME}"


class Solver(Peer):
    """``calc_aggregate``. It calls pytrec_eval, so two measures show what it adds."""

    name = "ir_measures"
    requirements = ["pip::ir-measures"]
    measures = tuple(MEASURES)
    layouts = ("ragged",)
    test_config = {
        "objective": {"measure": "ndcg10_linear"},
        "dataset": {"name": "queries", "layout": "ragged"},
    }
    why = {**dict.fromkeys(MEASURES, BY_NAME), "always": IN_32_BITS}

    def convert(self):
        """Make the dictionaries."""
        self.relevance, self.scores = as_dicts(self.y_true, self.y_score, self.offsets)

    def compute(self):
        """Evaluate all queries."""
        measure = MEASURES[self.measure]
        return ir_measures.calc_aggregate([measure], self.relevance, self.scores)[measure]
