"""Plans and sequences: sample sizes, and intervals that hold at every look."""
