"""What other rooms may import of this one, beside what is public."""

from ._positional import positional_form, utilities_of, warn_if_not_positional

__all__ = ["positional_form", "utilities_of", "warn_if_not_positional"]
