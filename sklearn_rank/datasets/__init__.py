"""Data sets: a bundled real data set, loaders of ranking file formats, and generators."""

from .._row_batches import RowBatches
from ._bipartite_ranking import make_bipartite_ranking
from ._clicks import make_clicks
from ._ionosphere import load_ionosphere
from ._label_ranking import load_label_ranking
from ._label_ranking_draws import make_label_ranking
from ._letor import load_letor
from ._letor_parquet import letor_to_parquet
from ._subset_ranking import make_subset_ranking
from ._trec import join_qrels, load_qrels, load_trec_run

__all__ = [
    "RowBatches",
    "join_qrels",
    "letor_to_parquet",
    "load_ionosphere",
    "load_label_ranking",
    "load_letor",
    "load_qrels",
    "load_trec_run",
    "make_bipartite_ranking",
    "make_clicks",
    "make_label_ranking",
    "make_subset_ranking",
]
