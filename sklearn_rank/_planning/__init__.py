"""Plans and sequences: sample sizes, and intervals that hold at every look."""

from ._confidence_sequence import ConfidenceSequence
from ._sample_size import SampleSizePlan, sample_size
