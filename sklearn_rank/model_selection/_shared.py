"""Names that other subpackages import from this one, besides the public names."""

from ._bound_search import OfFitted
from ._candidates import check_scores, fit_part, fit_parts, refuse_repeated
from ._cross_val import Sample, make_folds, samples_of
from ._query_splitters import places_of
