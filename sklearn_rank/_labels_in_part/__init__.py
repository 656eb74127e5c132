"""Labels in part: designs and plans of labels, intervals from labels known of some rows."""
