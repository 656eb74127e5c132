"""Parts of ``benchmarks/studies/top_of_list.py``: data, methods, measures, statistics, the map."""
