"""The parts of ``label_ranking.py``."""
