"""Base class of measures, and the functions of which each is one."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import (
    MISSING,
    Field,
    FrozenInstanceError,
    dataclass,
    field,
    fields,
    is_dataclass,
    replace,
)
from functools import partial, wraps
from inspect import Parameter, Signature, cleandoc, get_annotations, signature
from math import inf, isfinite
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias, TypedDict, TypeVar, dataclass_transform

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .. import _outer
from .._lists import Kind, LabelType, Lists, ScoredLists, check_scored_lists, refuse_single_rows
from .._order import TiedBlocks
from .._partitions import any_collection
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import (
    Closed,
    are_judgments,
    check_choice,
    check_flag,
    check_number,
    check_position,
    hint_of_adaboost,
    is_number,
    is_whole,
    ravelled,
    refuse_beside_judgments,
    refuse_misread,
    shape_of,
)
from .._warn import warn
from ..exceptions import ScorerSetupError
from ._conventions import (
    ROUNDING,
    Convention,
    NamedNumber,
    PositionalForm,
    Rules,
    check_convention,
    with_ideal,
    with_n_relevant,
)
from ._evidence import Draws, Evidence, GradeTotal, Groups, LabelTotal, draws_of_places
from ._influence import ClassInfluence
from ._of_collections import value_of_collections

Average: TypeAlias = Literal["mean"] | None
Undefined: TypeAlias = Literal["skip", "raise"] | float
Value: TypeAlias = Any  # a float, or with average=None an array, or that and the ids

# Fewer rows, as in a batch, may be light by chance.
FEW_ROWS = 20


def checked(check: Callable[[str, Any], Any], default: Any = MISSING) -> Any:
    """Declare a parameter and its check; None is not checked if it is the default."""
    return field(default=default, metadata={"check": check})


def last_position() -> Any:
    return checked(partial(check_position, optional=True), None)


def one_of(*choices: str | None, default: Any = MISSING) -> Any:
    return checked(partial(check_choice, choices=choices), default)


def within(low: float, high: float, closed: Closed = "both", default: Any = MISSING) -> Any:
    return checked(partial(check_number, low=low, high=high, closed=closed), default)


@dataclass_transform(
    frozen_default=True,
    kw_only_default=True,
    field_specifiers=(checked, last_position, one_of, within),
)
class _Frozen:
    """Base class whose subclasses are frozen dataclasses without a decorator."""

    _parameters: ClassVar[tuple[Field[Any], ...]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__dataclass_params__" in vars(cls):  # a decorator makes a class with slots anew
            return
        if not get_annotations(cls) and len(cls.__bases__) == 1:  # the parameters of its base
            return
        made: Any = dataclass(frozen=True, kw_only=True, repr=False)(cls)
        cls._parameters = fields(made)
        # A decorator on the subclass sets its own and refuses to replace them.
        del cls.__setattr__, cls.__delattr__

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")


class Measure(_Frozen, ABC):
    """A ranking measure: a callable of labels and scores, with its properties.

    :func:`get_measure` makes one from a name, :func:`make_measure` from your own function. It can
    be passed wherever the name of a measure can. A subclass is a frozen dataclass of its annotated
    attributes, without a decorator; they are hashable and set by keyword. It sets ``kind`` and
    ``per_query`` and defines ``range`` and :meth:`values`. If it has a ``__post_init__``, this
    ends with that of the base class.

    Parameters
    ----------
    undefined : {"skip", "raise"}, float or None, default=None
        How a list without a value counts: "skip" leaves it out of the mean (its own value is NaN),
        "raise" raises an error, a number is its value. None is the default of the measure.
    rel : float or None, default=None
        Smallest relevant grade, for a binary measure of graded labels. None expects labels of two
        classes, or with ``convention`` applies the threshold of that system.

    Attributes
    ----------
    kind : {"binary", "graded"}
        Whether the labels are two classes or grades.
    per_query : bool
        Whether the measure is a mean over queries; False for a measure of one list.
    greater_is_better : bool
        True for a score, False for a loss.
    lacking : str
        Why a list has no value, as in warnings, for example "no positive".
    weights : {"real", "relative", "whole", "none"}
        Allowed weights of items: numbers of items, real and at least 1; relative weights; whole
        numbers of items; or none.
    depends_on_weight_scale : bool
        Whether the scale of the weights changes the value, because they are repetitions.
    name : str
        Name of the measure, as in ``get_measure(name)``, followed by its other parameters.
    range : tuple of (float, float)
        Smallest and largest value of a list; infinite if there is no limit.
    counted_range : tuple of (float, float)
        The same, including the number given as ``undefined``.
    positional : PositionalForm or None
        Utilities of the items and discounts of the positions, if the measure has them.
    has_influence : bool
        Whether the influence function of single items is implemented.
    laws : tuple of str
        Kinds of evidence for intervals and comparisons of one list, the best first.
    depends_on_length : bool
        Whether the value depends on the number of items besides their distributions.
    of_probabilities : bool
        Whether the scores are probabilities, on which the value depends beside their order.
    values_are_ends : bool
        Whether each list has the smallest or the largest value, as a success or a failure.
    scaled_by_labels : bool
        Whether the scale of the values depends on the highest grade among all lists of a call.
    theorems : tuple of str
        Inequalities that give lower confidence limits in finite samples.
    conventions : mapping of str to Rules
        Rules by which other systems compute the measure, by name of the system.
    takes_relevant : tuple of str
        Which of "n_relevant" and "ideal", the relevant items that are not among the rows, the
        measure accepts.

    See Also
    --------
    get_measure : Makes a measure from a name.
    make_measure : Makes a measure from a function.

    Examples
    --------
    >>> from sklearn_rank.metrics import get_measure
    >>> measure = get_measure("ndcg@2")
    >>> measure([2, 0, 1, 0], [1.0, 2.0, 4.0, 3.0], qid=[1, 1, 2, 2]).__round__(4)
    0.8155
    >>> measure.per_query, measure.range, measure.lacking
    (True, (0.0, 1.0), 'no item with a gain')
    """

    kind: ClassVar[Kind] = "binary"
    per_query: ClassVar[bool] = False
    greater_is_better: ClassVar[bool] = True
    lacking: ClassVar[str] = "no value"
    weights: ClassVar[Literal["real", "relative", "whole", "none"]] = "real"
    # Whether a greater value, or a smaller one, is better; not where the best value is between.
    has_direction: ClassVar[bool] = True
    # Smallest grade that is allowed, of graded measures.
    lowest: ClassVar[float] = 0.0
    # Whether the labels are amounts, which a scorer makes of classes and ``value``.
    of_amounts: ClassVar[bool] = False
    # Whether the scores are probabilities, on which the value depends beside their order.
    of_probabilities: ClassVar[bool] = False
    # Whether scikit-learn's function of this name reads two dimensions in another way.
    two_dimensions_are_classes: ClassVar[bool] = False
    # Whether it counts the items of a share of the list, rounded to whole ones.
    _rounds_top: ClassVar[bool] = False
    # Default of ``undefined``.
    undefined_counts: ClassVar[Undefined] = "skip"
    # Whether rows without a judgment do not count at all.
    of_judged: ClassVar[bool] = False
    # Name of the function, for messages; prefix of the name, the number in it, its parameter.
    function: ClassVar[str] = ""
    stem: ClassVar[str] = ""
    _number: ClassVar[NamedNumber | None] = None
    in_name: ClassVar[str | None] = None
    # Whether get_measure reads the name; otherwise it takes the function.
    has_name: ClassVar[bool] = True
    # Parameters that get_measure may set on a measure that is made; None is all.
    settable: ClassVar[tuple[str, ...] | None] = None
    conventions: ClassVar[Mapping[str, Rules]] = MappingProxyType({})
    takes_relevant: ClassVar[tuple[str, ...]] = ()
    # How the value of one list is computed from ranges of its scores. For each range take the list
    # in which the scores of all other ranges are tied. "sum" adds the differences to the value
    # with all ranges tied, as for sums over blocks of ties; "largest" takes the maximum. None: it
    # is not possible.
    from_ranges: ClassVar[Literal["sum", "largest"] | None] = None
    # Whether it is a mean over the orders of tied items, with the positives first as the best
    # order and last as the worst.
    is_mean_over_ties: ClassVar[bool] = True
    # What the value of a segment of the rows is where all rows are ranked together: that with the
    # labels of others at 0; that without the positives of others; or the share of positives among
    # its rows in the top. None has no such value.
    of_segment: ClassVar[Literal["labels", "positives", "top"] | None] = None
    # What a list is whose scores are all 1, beside which curves are drawn; "" is nothing.
    with_equal_scores: ClassVar[str] = "random order"
    # Whether it compares orders pair by pair, so that the share of items below each is learned.
    compares_pairs: ClassVar[bool] = False

    undefined: Undefined | None = None
    rel: float | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if vars(cls).get("kind", "binary") not in ("binary", "graded"):
            raise TypeError(f"kind={vars(cls)['kind']!r} must be 'binary' or 'graded'.")
        if isinstance(cls._number, NamedNumber):
            cls.in_name = cls._number.parameter

    def __post_init__(self) -> None:
        self._check_parameters()
        # Equal measures have equal fields, hashes and names.
        for name, value in list(vars(self).items()):
            if isinstance(value, np.generic):
                object.__setattr__(self, name, value.item())
        for parameter in self._parameters:
            if isinstance(parameter.default, bool):
                check_flag(parameter.name, getattr(self, parameter.name))
        # What undefined lists count is stated, so that measures that count alike are equal.
        undefined: Any = self._default_undefined if self.undefined is None else self.undefined
        if is_number(undefined):
            undefined = float(undefined)
        elif not isinstance(undefined, str) or undefined not in ("skip", "raise"):
            raise ValueError(f"undefined={undefined!r} must be 'skip', 'raise' or a number.")
        object.__setattr__(self, "undefined", undefined)
        if self.rel is not None:
            if self.kind != "binary":
                raise TypeError(
                    f"rel={self.rel!r} is for measures of two classes, but {self._title} takes"
                    " grades: leave it out."
                )
            what = "the smallest relevant grade"
            rel = check_number("rel", self.rel, closed="neither", what=what)
            object.__setattr__(self, "rel", rel)

    def _check_parameters(self) -> None:
        for parameter in self._parameters:
            value = getattr(self, parameter.name)
            if "check" in parameter.metadata and not (value is None and parameter.default is None):
                parameter.metadata["check"](parameter.name, value)

    @property
    def _default_undefined(self) -> Undefined:
        return self.undefined_counts

    # ---------------------------------------------------------------------------- its properties

    @property
    def name(self) -> str:
        """Name of the measure."""
        bare, parameters = self.in_grammar()
        text = ", ".join(f"{name}={_format_value(value)}" for name, value in parameters.items())
        if not text:
            return bare
        return f"{bare[:-1]}, {text})" if bare.endswith(")") else f"{bare}({text})"

    def in_grammar(self) -> tuple[str, dict[str, Any]]:
        """Return the name of the measure and its other parameters.

        Returns
        -------
        name : str
            The name that :func:`get_measure` takes, or else the name used in messages.
        parameters : dict
            Parameters that the name does not contain.
        """
        parameters = {}
        for parameter in self._parameters:
            default = None if parameter.default is MISSING else parameter.default
            if parameter.default_factory is not MISSING:
                default = parameter.default_factory()
            if parameter.name == "undefined":
                default = self._default_undefined
            if not _same(value := getattr(self, parameter.name), default):
                parameters[parameter.name] = value
        stem = self.stem or self.function or type(self).__name__
        number = None if self.in_name is None else getattr(self, self.in_name)
        if number is not None:
            parameters.pop(str(self.in_name), None)
            stem += ("" if "@" in stem else "@") + short(number)
        if self.has_name and self.rel is not None:
            stem += f"(rel>={short(parameters.pop('rel'))})"
        return stem, parameters

    def __repr__(self) -> str:
        bare, parameters = self.in_grammar()
        text = "".join(f", {name}={_format_value(value)}" for name, value in parameters.items())
        return f"get_measure({repr(bare) if self.has_name else self.function}{text})"

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest value of a list."""
        return (-inf, inf)

    @property
    def counted_range(self) -> tuple[float, float]:
        """Smallest and largest value of a list, including the number given as ``undefined``."""
        low, high = self.range
        value = self.undefined
        if value is None or isinstance(value, str) or value != value:
            return (low, high)
        return (min(low, value), max(high, value))

    @property
    def depends_on_weight_scale(self) -> bool:
        """Whether the scale of the weights changes the value, because they are repetitions."""
        return self.weights in ("real", "whole")

    @property
    def positional(self) -> PositionalForm | None:
        """Utilities of the items and discounts of the positions; None if it has none."""
        return None

    @property
    def has_influence(self) -> bool:
        """Whether the measure implements :meth:`influence`."""
        return type(self)._influence is not Measure._influence

    @property
    def laws(self) -> tuple[str, ...]:
        """Kinds of evidence for intervals and comparisons of one list, the best first.

        The names are those in the table of methods (``sklearn_rank.inference._methods``). Empty if
        a single list has no interval.
        """
        return (*self._own_laws, "influence") if self.has_influence else self._own_laws

    @property
    def _own_laws(self) -> tuple[str, ...]:
        """Laws besides the influence of the items."""
        return ()

    @property
    def depends_on_length(self) -> bool:
        """Whether the value depends on the number of items besides their distributions."""
        return self.weights != "relative"

    @property
    def order_counts_within(self) -> float | Literal["positives"] | None:
        """Share of the list, from the top, whose order the value depends on.

        "positives" means that the order of negatives without a positive between them does not
        matter; None that every row matters.
        """
        return 1.0

    @property
    def values_are_ends(self) -> bool:
        """Whether each list has the smallest or the largest value, as a success or a failure."""
        return False

    @property
    def scaled_by_labels(self) -> bool:
        """Whether the scale of the values depends on the highest grade among the lists."""
        return False

    @property
    def theorems(self) -> tuple[str, ...]:
        """Inequalities that give lower confidence limits for the expectation in finite samples."""
        low, high = self.counted_range
        bounded = self.per_query and isfinite(low) and isfinite(high)
        return ("hoeffding", "kl", "bernstein") if bounded else ()

    def influence(
        self, y_true: Any, y_score: Any, *, conditional: bool = True, pos_label: Any = None
    ) -> FloatArray:
        """Compute the influence of each item of one list on the measure.

        Up to terms of smaller order the measure is its target plus the mean of the influence of
        the items (Hájek projection), so that ``influence.std() / sqrt(n)`` is its standard error.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes, both present, or grades.
        y_score : array-like of shape (n_samples,)
            Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
        conditional : bool, default=True
            Whether the labels of two classes are treated as fixed: the target is then the value
            at the sample's share of positives. If False, it is the value at the population's
            share, and the influence includes that on the share.
        pos_label : int, float, bool or str, default=None
            The positive class; for a graded measure, the class that has grade 1.

        Returns
        -------
        ndarray of shape (n_samples,)
            Influence of each item, in the units of the measure and in the order of the rows, of
            mean 0, and of mean 0 within each class if ``conditional``.

        Raises
        ------
        ValueError
            If an argument is invalid, one class is absent, or the measure has no influence
            function (``has_influence``).

        See Also
        --------
        sklearn_rank.inference.metric_interval : Confidence interval from these values.

        Notes
        -----
        :doc:`/theory/inference` derives the influence functions. Tied items have the mean
        influence over their orders. The time is O(n log n).

        References
        ----------
        .. [1] Clémençon & Vayatis (2009), *Empirical performance maximization for linear rank
           statistics*, NIPS 21, Proposition 3.
        .. [2] Dodd & Pepe (2003), *Partial AUC estimation and regression*, Biometrics 59.
        .. [3] Hájek (1968), *Asymptotic normality of simple linear rank statistics under
           alternatives*, Annals of Mathematical Statistics 39.

        Examples
        --------
        >>> from sklearn_rank.metrics import get_measure
        >>> get_measure("auc").influence([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
        array([ 0.5, -0.5, -0.5,  0.5])
        """
        check_flag("conditional", conditional)
        y_true = ravelled(y_true, "y_true")
        if len(shape_of(y_true)) != 1:
            raise ValueError(
                f"y_true has {np.ndim(y_true)} dimensions, but the influence is that of the items"
                " of one list: pass one-dimensional labels and scores."
            )
        lists = self.lists(y_true, y_score, pos_label=pos_label)
        if self.kind == "binary" and not 0 < lists.positives[0] < lists.sizes[0]:
            raise ValueError("y_true holds items of one class only: pass items of both classes.")
        influence = self.influence_of(lists)
        if influence is None:
            raise ValueError(
                f"measure={self.name!r} has no influence function: resample instead,"
                " metric_interval(..., method='bootstrap')."
            )
        influence = influence.linear
        values = influence.centred()
        if conditional or influence.positive is None:
            return values
        share = influence.n_pos / influence.n
        if not isfinite(influence.label_slope):
            raise ValueError(
                f"measure={self.name!r} has no known derivative in the share of positives, which"
                " conditional=False needs: pass conditional=True."
            )
        return values + influence.label_slope * np.where(influence.positive, 1 - share, -share)

    def influence_of(self, lists: ScoredLists) -> ClassInfluence | None:
        """Compute the influence of the items of one list, as intervals take it.

        Parameters
        ----------
        lists : ScoredLists
            One list with items of both classes; the weights are whole numbers of repetitions.

        Returns
        -------
        ClassInfluence or None
            The influence, in the units of the measure; None if it is not implemented.
        """
        return self._influence(lists) if self.has_influence and lists.n_relevant is None else None

    def _influence(self, lists: ScoredLists) -> ClassInfluence:
        raise NotImplementedError

    def blocks_at_cut(self, lists: ScoredLists, blocks: TiedBlocks, law: str) -> IntArray | None:
        """Find the blocks of tied items at which limits look one by one.

        Parameters
        ----------
        lists : ScoredLists
            One list.
        blocks : TiedBlocks
            Its blocks, with their sizes and positives.
        law : {"influence", "draws"}
            What the joint distribution with other measures rests on.

        Returns
        -------
        ndarray of int or None
            Numbers of the blocks, from the top; all between two of them may be one block of their
            mean score without any change. None means that every block counts.
        """
        return None

    def draws(self, evidence: Evidence) -> Draws:
        """Read the measure of one list as a sum over independent items, given their scores.

        Parameters
        ----------
        evidence : Evidence
            One list, with the groups of its items, if any.

        Returns
        -------
        Draws
            Values and weights of the items.
        """
        return draws_of_places(self, evidence)

    def label_total(self, lists: ScoredLists) -> LabelTotal | None:
        """Write the measure of one list as a function of a sum over its labels.

        Parameters
        ----------
        lists : ScoredLists
            One list, of which only the scores are used.

        Returns
        -------
        LabelTotal or None
            Weight of the label of each item, what pairs of labels add to the sum, and the value as
            a function of the sum and of the number of positives, linear in the sum; None if it is
            no such function.
        """
        return None

    def _grade_total(self, lists: ScoredLists) -> GradeTotal | None:
        """Write the measure of one list as a sum of gains; None if it is none."""
        return None

    def evidence(self, lists: ScoredLists, groups: Groups | None = None) -> Evidence:
        """Prepare one list for intervals and comparisons.

        Parameters
        ----------
        lists : ScoredLists
            One list.
        groups : Groups or None, default=None
            Groups of the rows that depend on each other; None is independent rows.

        Returns
        -------
        Evidence
            The list with its groups; statistics of the measure are computed on demand.
        """
        self._warn_of(lists)
        return Evidence(self, lists, groups)

    def _warn_of(self, lists: ScoredLists) -> None:
        """Warn of lists whose value is hardly what is meant."""

    def _ordered(self, lists: ScoredLists) -> ScoredLists:
        """Lists whose ties are broken as the measure breaks them."""
        return lists

    # ---------------------------------------------------------------------------------- its value

    @abstractmethod
    def values(self, lists: ScoredLists) -> FloatArray:
        """Evaluate each list.

        Parameters
        ----------
        lists : ScoredLists
            The lists, whose labels are of the kind of the measure.

        Returns
        -------
        ndarray of shape (n_lists,)
            One value per list; NaN if the measure is undefined for it.
        """

    def label_type(self, pos_label: Any = None, name: str = "y_true") -> LabelType:
        """Return how the measure reads labels.

        Parameters
        ----------
        pos_label : int, float, bool or str, default=None
            The positive class; for a graded measure, the class that has grade 1.
        name : str, default="y_true"
            Name of the labels in messages.

        Returns
        -------
        LabelType
            The kind of the labels and how they are read.
        """
        return LabelType(self.kind, pos_label, self.lowest, name, self.rel)

    def _at(self, number: Any) -> Any:
        """The measure with another number in its name, such as the last position."""
        return replace(self, **{str(self.in_name): number})

    def lists(
        self,
        y_true: Any,
        y_score: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        pos_label: Any = None,
        n_relevant: Any = None,
        ideal: Any = None,
    ) -> ScoredLists:
        """Check labels and scores, and group them into lists.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_lists, n_items), or judgments
            Labels or grades. In two dimensions each row is a list, and NaN is a missing item,
            whose score is ignored. Or judgments of documents by query, with a run as
            ``y_score``, in any form that :func:`sklearn_rank.datasets.load_qrels` takes.
        y_score : array-like of the same shape, or run
            Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
        qid : array-like of shape (n_samples,), default=None
            Query id of each row, in any order. None takes all rows as one list.
        sample_weight : array-like of the same shape, default=None
            Non-negative weights, read as repetitions: weight 2 counts an item twice. If
            ``depends_on_weight_scale``, weights between 0 and 1 raise an error.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of the list of each row in the mean, equal for all rows of a list. In two
            dimensions pass one weight per list.
        pos_label : int, float, bool or str, default=None
            The positive class; for a graded measure, the class that has grade 1.
        n_relevant : int, array-like or mapping, default=None
            Number of relevant items of each list, including those that are not among the rows.
            Pass a number for one list, else one per row, or a mapping from the ids of the lists.
        ideal : array-like or mapping, default=None
            Grades of all relevant items of each list. Pass an array for one list, else a mapping
            from the ids of the lists, or in two dimensions one array per row.

        Returns
        -------
        ScoredLists
            The lists, by ascending id.
        """
        relevant = {"n_relevant": n_relevant, "ideal": ideal}
        weights = {"sample_weight": sample_weight, "query_weight": query_weight}
        if are_judgments(y_true, y_score):
            given = {"qid": qid, "pos_label": pos_label} | weights | relevant
            refuse_beside_judgments(**given)
            return _outer.rows_of_run(self, y_true, y_score)
        self._check_arguments(**weights, **relevant)
        if n_relevant is not None:
            refuse_misread(y_true=y_true, n_relevant=n_relevant)
        lists = self._read(y_true, y_score, qid=qid, pos_label=pos_label, **weights)
        # A measure of a user may have a meaning for one item.
        all_are_rows = n_relevant is None and ideal is None
        if type(self) in FUNCTIONS and len(shape_of(qid)) == 1 and all_are_rows:
            n_single = int(np.count_nonzero(lists.lengths == 1))
            refuse_single_rows(self._title, n_single, lists.n_lists)
        self._check_weights(lists)
        return self._with_relevant(lists, shape_of(y_true), sample_weight, pos_label, **relevant)

    def _with_relevant(
        self, lists: ScoredLists, shape: Any, sample_weight: Any, pos_label: Any, **relevant: Any
    ) -> ScoredLists:
        n_relevant, ideal = relevant["n_relevant"], relevant["ideal"]
        if n_relevant is None and ideal is None:
            return lists
        if sample_weight is not None:
            raise ValueError(
                "sample_weight cannot be combined with n_relevant or ideal, because it repeats"
                " items: leave out one of them."
            )
        shape = shape[:1] if shape[1:] == (1,) else shape  # a column is one list
        if ideal is None:
            return with_n_relevant(lists, shape, n_relevant)
        rel = self.label_type(pos_label).rel
        return with_ideal(lists, shape, ideal, graded=self.kind == "graded", rel=rel)

    def _check_arguments(self, **arguments: Any) -> None:
        """Refuse arguments of :meth:`lists` that the measure does not take."""
        if arguments.get("sample_weight") is not None and self.weights == "none":
            raise TypeError(
                f"{self._title} takes no sample_weight: repeat the rows, or weight whole lists"
                " with query_weight."
            )
        names = [name for name in ("n_relevant", "ideal") if arguments.get(name) is not None]
        for name in names:
            if name not in self.takes_relevant:
                instead = f"; pass {self.takes_relevant[0]}" if self.takes_relevant else ""
                raise TypeError(f"{self._title} does not depend on {name}: leave it out{instead}.")
        if len(names) > 1:
            raise ValueError("n_relevant and ideal are alternatives: leave out one of the two.")

    def _read(
        self, y_true: Any, y_score: Any, *, pos_label: Any = None, **columns: Any
    ) -> ScoredLists:
        """Make the lists of rows with ids and weights, which the measure has not checked."""
        if self.two_dimensions_are_classes:
            y_true = ravelled(y_true, "y_true")
        lists = check_scored_lists(y_true, y_score, self.label_type(pos_label), **columns)
        self._check_scores(lists)
        if self.two_dimensions_are_classes and np.shape(y_score)[1:] > (1,):
            raise ValueError(
                f"y_score has two dimensions, whose columns scikit-learn's {self._title} takes as"
                " classes: for one list per row pass y_true.ravel(), y_score.ravel() and"
                " qid=np.repeat(np.arange(n_lists), n_items)."
            )
        return lists

    def _check_scores(self, lists: ScoredLists) -> None:
        """Refuse scores that are no probabilities if the measure is of such."""
        if not self.of_probabilities:
            return
        outside = ~((lists.score >= -ROUNDING) & (lists.score <= 1.0 + ROUNDING))
        if outside.any():
            item = int(np.argmax(outside))
            row = item if lists.rows is None else int(lists.rows[item])
            raise ValueError(
                f"y_score is {lists.score[item]:.4g} at row {row}, but {self._title} is of"
                " probabilities, in [0, 1]: pass predict_proba(X)[:, 1], or calibrate the scores"
                " with sklearn.calibration.CalibratedClassifierCV."
            )

    def _check_row_weights(self, lists: Lists) -> None:
        """Refuse weights of rows that are neither numbers of items nor 1 / probabilities."""
        weight = lists.weight
        if weight is None or not self.depends_on_weight_scale:
            return
        whole = self.weights == "whole"
        wrong = weight != np.floor(weight) if whole else weight < 1.0 - ROUNDING
        if not wrong.any():
            return
        item = int(np.argmax(wrong))
        row = item if lists.rows is None else int(lists.rows[item])
        where = "" if lists.ids is None else f", in {lists.name_of(int(lists.list_of[item]))}"
        why = "a weight below 1 is neither a number of items nor 1 / probability of being drawn"
        raise ValueError(
            f"sample_weight is {weight[item]:g} in row {row}{where}: {self._title} counts"
            f" positions, and {'this is not whole' if whole else why}; leave sample_weight out,"
            " pass how many items each row stands for (rounded, if need be), weight whole queries"
            " by query_weight, or use a measure that does not depend on the scale of weights:"
            " 'auc' or get_measure('ap', convention='sklearn') for two classes, 'top1' for grades."
        )

    def _check_weights(self, lists: Lists) -> None:
        self._check_row_weights(lists)
        if self.depends_on_weight_scale:
            self._check_wide_weights(lists)

    def _check_wide_weights(self, lists: Lists) -> None:
        """Refuse weights so unequal that float64 loses the position of the lightest."""
        lost = lists.sizes > 2.0**53 * lists.smallest
        if lost.any():
            index = int(np.argmax(lost))
            raise ValueError(
                f"sample_weight sums to {lists.sizes[index]:g} in {lists.name_of(index)}, more"
                f" than 2**53 times its smallest weight: {self._title} counts positions, and"
                " float64 would lose the smallest ones; leave these items out."
            )

    def _check_fit_weights(self, lists: Lists) -> None:
        """Refuse weights by which lists take no more than one position on average."""
        if lists.weight is not None and len(lists.labels) >= FEW_ROWS:
            size = lists.sizes.mean()
            if size <= 1.0 + ROUNDING:
                each = "" if lists.n_lists == 1 else " in a list on average"
                raise ValueError(
                    f"sample_weight sums to {size:g}{each}, but {self._title} counts positions,"
                    " and a row of weight w takes w of them: pass sample_weight /"
                    " sample_weight.mean()." + hint_of_adaboost(size)
                )
        self._check_wide_weights(lists)

    def __call__(
        self,
        y_true: Any,
        y_score: Any,
        *misplaced: Any,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        average: Average = "mean",
        return_qid: bool = False,
        pos_label: Any = None,
        n_relevant: Any = None,
        ideal: Any = None,
    ) -> Value:
        """Evaluate rankings. Shape (n_lists,) or (ndarray, ndarray)."""
        if misplaced:
            # A search would turn any other error into the score NaN and continue.
            error = ScorerSetupError if hasattr(y_true, "fit") else TypeError
            raise error(
                f"{self.name} takes labels and scores, and keywords for all other arguments: for"
                " scoring= pass get_scorer(measure)."
            )
        how: Any = {"average": average, "return_qid": return_qid}
        _check_average(**how)
        relevant = {"n_relevant": n_relevant, "ideal": ideal}
        relevant = {name: value for name, value in relevant.items() if value is not None}
        columns = {"qid": qid, "sample_weight": sample_weight, "query_weight": query_weight}
        if any_collection(y_true, y_score, *columns.values(), *relevant.values()):
            columns = {"y_true": y_true, "y_score": y_score, **columns}
            return value_of_collections(self, columns, relevant, pos_label, **how)
        lists = self.lists(y_true, y_score, pos_label=pos_label, **columns, **relevant)
        if lists.rows is not None:
            # The row numbers are not needed from here on and take memory.
            lists = replace(lists, rows=None)
        return self.of_lists(lists, **how)

    def of_lists(
        self, lists: ScoredLists, *, average: Average = "mean", return_qid: bool = False
    ) -> Value:
        """Evaluate lists made by :meth:`lists`.

        Parameters
        ----------
        lists : ScoredLists
            The lists, as :meth:`lists` makes them.
        average : {"mean"} or None, default="mean"
            "mean" returns the mean over the lists, None one value per list, by ascending id.
        return_qid : bool, default=False
            Whether to also return the ids of the lists. Needs ``average=None``.

        Returns
        -------
        float or ndarray of shape (n_lists,) or (ndarray, ndarray)
            The mean for ``average="mean"``; else the values, with the ids if ``return_qid``.
        """
        _check_average(average, return_qid)
        if return_qid and lists.ids is None:
            raise ValueError("return_qid=True needs qid or one list per row: pass qid.")
        return self._combine(self._values(lists), lists, average, return_qid)

    def _values(self, lists: ScoredLists) -> FloatArray:
        """Values of the lists, of a measure of a user checked."""
        self._warn_of(lists)
        self._check_scores(lists)
        values = np.asarray(self.values(lists))
        if type(self) in FUNCTIONS:
            return values
        if values.shape != (lists.n_lists,) or values.dtype.kind not in "biuf":
            raise ValueError(
                f"{self.name} gave values of shape {values.shape} and dtype {values.dtype} for"
                f" {lists.n_lists} lists: values must be one number for each."
            )
        low, high = self.range
        largest = max(abs(low), abs(high), 1.0)
        slack = ROUNDING * largest if isfinite(largest) else 0.0
        beyond = (values < low - slack) | (values > high + slack)
        if beyond.any():
            index = int(np.argmax(beyond))
            raise ValueError(
                f"{self.name} is {values[index]:g} for {lists.name_of(index)}, outside its range"
                f" [{low:g}, {high:g}]: correct the range of the measure."
            )
        return np.clip(values.astype(np.float64, copy=False), low, high)

    def _combine(
        self,
        values: FloatArray,
        lists: Lists,
        average: Average = "mean",
        return_qid: bool = False,
    ) -> Value:
        """What the values of lists are together; the items of these are not looked at."""
        undefined = np.isnan(values)
        values = self._replace_undefined(values, lists, average)
        if average is not None:
            return self._mean(values, undefined, lists.query_weight)
        if lists.query_weight is not None:
            raise ValueError(
                "query_weight weights the mean over the lists, but average=None gives one value"
                " per list: leave it out."
            )
        return (values, lists.ids) if return_qid else values

    @property
    def _title(self) -> str:
        return self.function or self.stem.rstrip("@") or self.name

    def _mean(self, values: FloatArray, undefined: BoolArray, weight: FloatArray | None) -> float:
        """Mean over the lists, some of which had no value of their own."""
        if len(values) == 1:
            return float(values[0])
        defined = ~np.isnan(values)
        if weight is not None:
            defined &= weight > 0
            weight = weight[defined]
        if not defined.any():
            return float("nan")
        values = values[defined]
        # Sums of very large values would overflow, those of their shares of a power of 2 do not.
        exponent = int(np.frexp(np.abs(values).max())[1])
        scale = exponent if exponent > 400 else 0
        values = np.ldexp(values, -scale) if scale else values
        mean = values.mean() if weight is None else np.average(values, weights=weight)
        return float(np.ldexp(mean, scale))

    def _replace_undefined(self, values: FloatArray, lists: Lists, average: Average) -> FloatArray:
        """Values in which lists without one count what they are to count; warns of them."""
        missing = np.isnan(values)
        if lists.query_weight is not None:
            missing &= lists.query_weight > 0
        n_missing = int(np.count_nonzero(missing))
        if n_missing == 0:
            return values
        value: Any = self.undefined
        if value == "raise":
            raise ValueError(
                f"{self._title} is undefined: {lists.name_of(int(np.argmax(missing)))} has"
                f" {self.lacking}; remove it, or pass undefined='skip' or a number."
            )
        skipped = value == "skip"
        value = np.nan if skipped else float(value)
        if lists.n_lists == 1:
            which, what = "the list", f"it was set to {value:g}"
        else:
            which, what = (
                f"{n_missing} of {lists.n_lists} lists",
                f"they were counted as {value:g}",
            )
        if skipped and lists.n_lists > 1:
            what = f"they were {'set to nan' if average is None else 'left out'}"
        message = f"{self._title} is undefined for {which} ({self.lacking}): {what}."
        warn(message, UndefinedMetricWarning)
        return np.where(missing, value, values)


class ConventionalMeasure(Measure):
    """A measure that other systems compute by rules of their own."""

    convention: Convention | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.convention is not None:
            changed = {
                parameter.name: value
                for parameter in self._parameters
                if not _same(value := getattr(self, parameter.name), parameter.default)
            }
            check_convention(self._title, self.conventions, changed, self.convention)

    @property
    def has_influence(self) -> bool:
        return self.convention is None and super().has_influence

    @property
    def laws(self) -> tuple[str, ...]:
        return () if self.convention is not None else super().laws

    def label_type(self, pos_label: Any = None, name: str = "y_true") -> LabelType:
        labels = super().label_type(pos_label, name)
        if self.kind == "binary" and self.rel is None and pos_label is None:
            return replace(labels, rel=self.rules.relevant)
        return labels

    def _replace_undefined(self, values: FloatArray, lists: Lists, average: Average) -> FloatArray:
        if not self.rules.weighs_undefined:
            # Lists of weight 0 then count too.
            lists = replace(lists, query_weight=None)
        return super()._replace_undefined(values, lists, average)

    def _mean(self, values: FloatArray, undefined: BoolArray, weight: FloatArray | None) -> float:
        if weight is None or self.rules.weighs_undefined or not undefined.any():
            return super()._mean(values, undefined, weight)
        mean = float((values * np.where(undefined, 1.0, weight)).sum() / weight.sum())
        if mean > 1.0 + ROUNDING and self.rules.refuses_above_one:
            raise ValueError(
                f"{self._title} is {mean:g}, which {self.convention} does not allow: it gives"
                f" lists with {self.lacking} the query_weight 1; pass larger weights, or leave"
                " them out."
            )
        return mean

    @property
    def _default_undefined(self) -> Undefined:
        return self.undefined_counts if self.convention is None else self.rules.undefined

    @property
    def rules(self) -> Rules:
        return Rules() if self.convention is None else self.conventions[self.convention]

    def _ordered(self, lists: ScoredLists) -> ScoredLists:
        return self.rules.ordered(lists)

    def _check_arguments(self, **arguments: Any) -> None:
        rules, unseen = self.rules, "describes items that are not among the rows"
        counts_unseen = self.convention is None or rules.knows_judgments
        supported = {
            "sample_weight": (rules.weighs_items, "weights items"),
            "query_weight": (rules.weighs_lists, "weights lists"),
            "n_relevant": (counts_unseen, unseen),
            "ideal": (counts_unseen, unseen),
        }
        if self.convention in (None, "paper"):
            supported.pop("sample_weight")
        for name, (is_supported, what) in supported.items():
            if arguments.get(name) is not None and not is_supported:
                raise ValueError(
                    f"{name} {what}, which {self.convention} does not support for {self._title}:"
                    f" leave out {name} or convention."
                )
        super()._check_arguments(**arguments)


def _check_average(average: Any, return_qid: Any) -> None:
    if average not in ("mean", None):
        raise ValueError(
            f"average={average!r} must be 'mean' (the mean over the lists) or None (one value per"
            " list)."
        )
    if check_flag("return_qid", return_qid) and average is not None:
        raise ValueError(
            "return_qid=True needs one value per list, but average='mean' gives one value: pass"
            " average=None."
        )


def short(number: Any) -> str:
    """Write a number in the shortest text that reads as it."""
    if is_whole(number):
        return str(int(number))
    text = f"{number:g}"
    return text if float(text) == number else repr(float(number))


def _format_value(value: Any) -> str:
    """A parameter as a name shows it: a function by its name, not by where it lies in memory."""
    if callable(value) and not is_dataclass(value):
        return str(getattr(value, "__qualname__", repr(value)))
    return repr(value)


def _same(first: Any, second: Any) -> bool:
    return first is second or (type(first) is type(second) and bool(np.all(first == second)))


Function = TypeVar("Function", bound=Callable[..., Any])

# Measures of this package in the order of import, each with its function if it has one.
FUNCTIONS: dict[type[Measure], Callable[..., Value] | None] = {}

MeasureType = TypeVar("MeasureType", bound=type[Measure])


def without_function(measure: MeasureType) -> MeasureType:
    """Decorator: registers a measure that has a name only."""
    FUNCTIONS[measure] = None
    return measure


class ListOptions(TypedDict, total=False):
    qid: Any
    query_weight: Any
    average: Average
    undefined: Undefined | None
    return_qid: bool
    pos_label: Any


class WeightedOptions(ListOptions, total=False):
    sample_weight: Any


class BinaryOptions(WeightedOptions, total=False):
    rel: float | None


class ConventionOptions(BinaryOptions, total=False):
    convention: Convention | None


class RelevantOptions(ConventionOptions, total=False):
    n_relevant: Any
    ideal: Any


def _common(
    y_true: Any,
    y_score: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    average: Average = "mean",
    undefined: Undefined | None = None,
    return_qid: bool = False,
    pos_label: Any = None,
    rel: float | None = None,
    n_relevant: Any = None,
    ideal: Any = None,
    convention: Convention | None = None,
) -> Value:
    """
    y_true : array-like of shape (n_samples,) or (n_lists, n_items)
        {labels}
        In two dimensions each row is a list, and NaN is a missing item.
    y_score : array-like of the same shape
        Scores; higher is nearer to the top. Infinite scores are allowed, NaN is not.
    qid : array-like of shape (n_samples,), default=None
        Query id of each row, in any order. None takes all rows as one list.
    sample_weight : array-like of the same shape, default=None
        {weights}
    query_weight : array-like of shape (n_samples,), default=None
        Weight of the list of each row in the mean, equal for all rows of a list. In two dimensions
        pass one weight per list.
    average : {{"mean"}} or None, default="mean"
        "mean" returns the mean over the lists, None one value per list, by ascending id.
    undefined : {{"skip", "raise"}}, float or None, default=None
        {undefined}
    return_qid : bool, default=False
        Whether to also return the ids of the lists. Needs ``average=None``.
    pos_label : int, float, bool or str, default=None
        {pos_label}
    rel : float or None, default=None
        Smallest relevant grade, if ``y_true`` holds grades. None expects labels of two
        classes{rel}.
    n_relevant : int, array-like or mapping, default=None
        Number of relevant items of each list, including those that are not among the rows. Pass a
        number for one list; else one number per row, equal for all rows of a list, or a mapping
        from the ids of the lists. None assumes that the rows contain all relevant items.
    ideal : array-like or mapping, default=None
        Relevances of all relevant items of each list, an alternative to ``n_relevant``; those of
        at least ``rel`` count, and :func:`bpref_score` counts the zeros too. Pass an array for one
        list; else a mapping from the ids of the lists, or in two dimensions one array per row.
    convention : {{{systems}}}, default=None
        System whose value to reproduce, with its rules for ties and for undefined lists; the guide
        :doc:`/user_guide/scoring` lists them. A conflicting parameter raises an error.
    k : int or None, default=None
        Last position that counts, at least 1. None counts all positions.
    gain : {{"exponential", "linear"}}, callable or None, default=None
        ``2**y - 1``, ``y``, or a function from the array of relevances to the array of gains, each
        at least 0. None is "exponential"; scikit-learn uses "linear".
    tau : float, default=0.05
        Share of the items that form the top, in (0, 1).
    fraction : float
        Share of the items that form the top, in (0, 1).
    alpha : float, default=20
        Rate, positive. About the top ``1 / alpha`` of the list counts: a greater rate concentrates
        on the top.
    normalize : {{"mean", "minmax"}} or None, default="minmax"
        "minmax" scales the sum so that the worst order has 0 and the best 1, "mean" divides it by
        the number of positives, None returns the sum.
    """


_COMMON = signature(_common).parameters


def function_of(measure: type[Measure]) -> Callable[[Function], Function]:
    """Decorator: makes a function of its name, its own parameters and its docstring.

    The measure supplies the value and the common parameters. An entry that the docstring has under
    Parameters, Raises or Warns replaces the common one, and keeps its type if it states none.
    """

    def complete(function: Function) -> Function:
        @wraps(function)
        def completed(*args: Any, **options: Any) -> Value:
            function(*args, **options)  # an error if a required argument is missing
            for name in options:
                if name not in signed.__signature__.parameters:
                    raise TypeError(
                        f"{measure.function}() got an unexpected keyword argument {name!r}"
                    )
            parameters = {name: options.pop(name) for name in options.keys() - of_call}
            return measure(**parameters)(*args, **options)

        of_call = signature(Measure.__call__).parameters.keys()
        signed: Any = completed
        signed.__signature__ = _signature(function, measure)
        if function.__doc__:
            signed.__doc__ = _docstring(completed, measure)
        measure.function = function.__name__
        FUNCTIONS[measure] = completed
        return signed

    return complete


def _signature(function: Function, measure: type[Measure]) -> Signature:
    """Labels and scores, the parameters of the measure, then the common ones."""
    declared = signature(function)
    absent = {
        "sample_weight": measure.weights == "none",
        "rel": measure.kind == "graded",
        "n_relevant": "n_relevant" not in measure.takes_relevant,
        "ideal": "ideal" not in measure.takes_relevant,
        "convention": not measure.conventions,
    }
    common = [parameter for name, parameter in _COMMON.items() if not absent.get(name)]
    parameters = [
        parameter
        for name, parameter in declared.parameters.items()
        if name not in _COMMON and parameter.kind is not Parameter.VAR_KEYWORD
    ]
    return declared.replace(parameters=[*common[:2], *parameters, *common[2:]])


def _docstring(function: Any, measure: type[Measure]) -> str:
    """The whole docstring, in numpydoc's order of sections."""
    text = cleandoc(function.__doc__)
    head, *parts = re.split(r"^(\w[\w ]+)\n-+\n", text, flags=re.MULTILINE)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    parameters = function.__signature__.parameters
    entries = _entries(cleandoc(_common.__doc__ or "").format_map(_phrases(measure)))
    for name, entry in _entries(sections.pop("Parameters", "")).items():
        typed, _, description = entry.partition("\n")
        if " : " not in typed:
            typed = entries[name].partition("\n")[0]
        entries[name] = f"{typed}\n{description}"
    may_lack = measure.lacking != Measure.lacking
    conflicts = " or conflicts with ``convention``" if measure.conventions else ""
    lacks = ', or if a list is undefined\n    and ``undefined="raise"``' if may_lack else ""
    raises = {"ValueError": f"ValueError\n    If an argument is invalid{conflicts}{lacks}."}
    raises["TypeError"] = "TypeError\n    If an argument is unknown or of a wrong type."
    warns = {}
    if measure._rounds_top:
        warns["SmallTopWarning"] = (
            f"SmallTopWarning\n    If ``{measure.in_name} * n`` rounds to 0 for a list: its top is"
            " then one item."
        )
    if may_lack:
        warns["UndefinedMetricWarning"] = (
            "UndefinedMetricWarning\n    If lists are undefined; one warning with their number."
        )
    composed = {
        "Parameters": [entries[name] for name in parameters],
        "Returns": [sections.pop("Returns").rstrip()],
        "Raises": [*(raises | _entries(sections.pop("Raises", ""))).values()],
        "Warns": [*(warns | _entries(sections.pop("Warns", ""))).values()],
    }
    for name, section in composed.items():
        if section:
            head += "\n".join([name, "-" * len(name), *section]) + "\n\n"
    if "time" not in sections.setdefault("Notes", ""):
        cost = "The time is O(n log n), the memory O(n)."
        sections["Notes"] = f"{sections['Notes'].rstrip()}\n{cost}\n\n".lstrip()
    for name in ("See Also", "Notes", "References", "Examples"):
        if name in sections:
            head += f"{name}\n{'-' * len(name)}\n{sections[name]}"
    return head.rstrip() + "\n"


def _entries(section: str) -> dict[str, str]:
    entries = re.findall(r"^\S.*(?:\n[ \n].*)*", section, flags=re.MULTILINE)
    return {entry.split(" : ")[0].split("\n")[0]: entry.rstrip() for entry in entries}


def _phrases(measure: type[Measure]) -> dict[str, str]:
    """What the common parameters mean to the measure."""
    binary, conventions = measure.kind == "binary", measure.conventions
    weights = {
        "real": """Non-negative weights, read as repetitions: weight 2 counts an item twice. The
    scale changes the value, and weights between 0 and 1 raise an error.""",
        "whole": """Non-negative whole weights, read as repetitions: weight 2 counts an item
    twice. The scale changes the value.""",
        "relative": "Non-negative weights of the items. Only their proportions matter.",
        "top": """Non-negative weights. If all are whole, they are repetitions, and n is their
    sum; else only their proportions matter, and the top has its share of their sum.""",
    }
    counts = measure.undefined_counts
    default = f'"{counts}"' if isinstance(counts, str) else f"{counts:g}"
    if conventions:
        default += ", or with ``convention`` the rule of that system"
    undefined = "Has no effect: the measure is defined for every list."
    if measure.lacking != Measure.lacking:
        undefined = (
            f'How a list counts that has {measure.lacking}: "skip" leaves it out of the\n    mean'
            ' (its own value is NaN), "raise" raises an error, a number is its value. None is\n   '
            f" {default}."
        )
    labels = "Labels of two classes."
    if not binary:
        above = "" if measure.lowest == -inf else f" and at least {measure.lowest:g}"
        labels = f"Relevance of the items, finite{above}."
    rel = any(rules.relevant is not None for rules in conventions.values())
    return {
        "labels": labels,
        "weights": weights.get("top" if measure._rounds_top else str(measure.weights), ""),
        "undefined": undefined,
        "pos_label": (
            "Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}."
            if binary
            else "Class that has relevance 1, if ``y_true`` holds labels of two classes. None"
            " expects\n    relevances."
        ),
        "rel": ", or with ``convention`` applies the threshold of that system" if rel else "",
        "systems": ", ".join(f'"{name}"' for name in conventions),
    }
