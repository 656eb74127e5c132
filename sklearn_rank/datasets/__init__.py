"""Data sets: bundled real data, loaders of ranking file formats, and generators."""

from ._bundled import load_flights, load_ionosphere, load_thyroid
from ._letor import letor_to_parquet, load_letor
from ._runs import join_qrels
from ._synthetic import (
    make_bipartite_ranking,
    make_clicks,
    make_label_ranking,
    make_subset_ranking,
)
from ._trec import load_qrels, load_trec_run

__all__ = [
    "join_qrels",
    "letor_to_parquet",
    "load_flights",
    "load_ionosphere",
    "load_letor",
    "load_qrels",
    "load_thyroid",
    "load_trec_run",
    "make_bipartite_ranking",
    "make_clicks",
    "make_label_ranking",
    "make_subset_ranking",
]
