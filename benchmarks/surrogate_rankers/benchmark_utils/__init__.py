"""What the data sets, the judge and the peers share."""
