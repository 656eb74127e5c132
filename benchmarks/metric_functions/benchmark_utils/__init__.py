"""What the judge, the data sets and the peers share; nothing here imports ``sklearn_rank``."""
