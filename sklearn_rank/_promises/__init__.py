"""Promises of recall and precision: limits of batches, certificates, cut-offs with goals."""
