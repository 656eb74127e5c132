"""Names of this package that other packages of the library import, besides the public ones."""

from ._runs import JudgedRuns
