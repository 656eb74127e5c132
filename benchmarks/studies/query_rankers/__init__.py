"""Parts of ``benchmarks/studies/query_rankers.py``: data, methods, choices, store, tests."""
