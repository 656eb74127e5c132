"""torchmetrics on the CPU, which computes in 32 bits."""

import torch
import torchmetrics.retrieval as retrieval
from benchmark_utils.measures import CUTOFF, MAX_FPR
from benchmark_utils.peer import Peer
from torchmetrics.functional.classification import binary_auroc

ZEROED = "32 bits; ties in arbitrary order; labels of scores <= 0 are set to 0"


class Solver(Peer):
    """Functions for one list, classes with ``update`` and ``compute`` for queries."""

    name = "torchmetrics"
    requirements = ["pip::torch", "pip::torchmetrics"]
    measures = (
        "auc",
        "partial_auc",
        "ndcg10_linear",
        "ap",
        "rr",
    )
    layouts = ("single", "ragged")
    max_rows = 2_000_000
    why = {
        "ap": ZEROED,
        "rr": ZEROED,
        "always": "32 bits",
    }

    def convert(self):
        """Make tensors; those of 64 bits would be cast anyway."""
        torch.set_num_threads(1)
        self.target = torch.from_numpy(self.y_true)
        self.preds = torch.from_numpy(self.y_score).float()
        if self.qid is not None:
            self.indexes = torch.from_numpy(self.qid)

    def compute(self):
        """Call it."""
        if self.layout == "single":
            max_fpr = MAX_FPR if self.measure == "partial_auc" else None
            return float(
                binary_auroc(self.preds, self.target, max_fpr=max_fpr, validate_args=False)
            )
        metric = {
            "ndcg10_linear": lambda: retrieval.RetrievalNormalizedDCG(top_k=CUTOFF),
            "ap": lambda: retrieval.RetrievalMAP(),
            "rr": lambda: retrieval.RetrievalMRR(),
        }[self.measure]()
        metric.update(self.preds, self.target, indexes=self.indexes)
        return float(metric.compute())
