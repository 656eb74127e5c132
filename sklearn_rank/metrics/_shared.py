"""Names of this package that other packages of the library import, besides the public ones."""

from ._conventions import PositionalForm
from ._evidence import (
    AtLabels,
    Draws,
    Evidence,
    FractionalList,
    Groups,
    LabelTotal,
    PartialLabels,
    levels_of,
    singleton_groups,
)
from ._grammar import MeasureLike, get_measures, measure_at, names_of
from ._in_time import FEWEST_TIMES, autocorrelations, independent_units, look_dependent
from ._influence import (
    ABSOLUTE_VARIANCE,
    ClassInfluence,
    Normalize,
    RateCurve,
    rank_range,
    share_at,
    upto_from,
    with_half_more,
)
from ._linear_rank import LinearRankMeasure, phi_of, rank_bias
from ._of_collections import KeptValues, ListInParts
from ._positional import has_exponential_gain
from ._profit import (
    amounts_of,
    influence_of_top,
    refuse_amounts,
    refuse_value,
    warn_of_positive_cost,
)
from ._rank_correlation import CIndexMeasure, sums_over_pairs
from ._score_generating import Phi, ScoreGeneratingFunction, as_score_generating, cumulated
from ._scorer import (
    RESPONSE_METHODS,
    RankingScorer,
    call_with_metadata,
    check_fixed_scale,
    check_name_of_ids,
    metadata_for,
    own_pos_label,
    ranking_scores,
    refuse_level,
    response_method,
    response_methods,
    scores_with_ids,
    warn_of_trained_queries,
)
from ._utilities import positional_form, utilities_of, warn_if_not_positional
