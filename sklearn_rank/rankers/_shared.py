"""Private names that other subpackages may import."""

from ._base import Ranker, forget, restored_on_error, store_parameters
from ._two_classes import positive_or_second
