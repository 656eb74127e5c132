"""Label rankings: orders of labels, one list for each row, and their ranker."""
