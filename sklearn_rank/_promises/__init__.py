"""Promises of recall and precision: limits of batches, certificates, cut-offs with goals."""

from ._batch_limits import BatchLimits, batch_limits
from ._recall_certificate import RecallCertificate, recall_certificate
from ._top_threshold import ThresholdReport, TopThresholdClassifier
