"""Private names that other subpackages may import."""

from ._svmlight import DAMAGED, open_file
