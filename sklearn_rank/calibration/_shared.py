"""Private names that other subpackages may import."""

from ._calibration import positional_form, utilities_of, warn_if_not_positional
