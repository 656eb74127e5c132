"""Adapter and ensembles: rankers made of the estimators of other libraries."""
