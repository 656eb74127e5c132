"""Curves over all thresholds, with bands: ROC and net benefit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._validation import check_flag
from ..inference import NetBenefitCurve, RocBand, net_benefit_curve, roc_band
from ..metrics._shared import as_score_generating
from ._common import (
    COLORS,
    CURVE,
    GREY,
    QUIET,
    REFERENCE,
    CurveDisplay,
    axes_of,
    band_alpha,
    draw_legend,
    systems_of,
    visible,
    wrapped,
)


class RocBandDisplay(CurveDisplay):
    """ROC curve with a simultaneous confidence band.

    The band covers the whole true curve with a probability of at least ``level``. With ``phi``, a
    panel below the curve shows how much a linear rank statistic weighs each part of it. Create one
    with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    band : RocBand
        Curve and band.
    estimator_name : str or None, default=None
        Name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The ROC curve.
    band_ : matplotlib Polygon
        The band.
    chance_ : matplotlib Line2D
        The diagonal, which is the expected curve of random scores.
    weight_ax_ : matplotlib Axes or None
        Axes of the weight below the curve; None without ``phi``.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    sklearn_rank.inference.roc_band : Compute the band.
    sklearn.metrics.RocCurveDisplay : ROC curve without a band.

    Notes
    -----
    The band is that of Campbell (1994): the union of rectangles along the curve, whose sides are
    Kolmogorov-Smirnov quantiles. It is simultaneous and distribution-free. ``sample_weight``
    raises an error, since the band is for unweighted rows. Curves with many corners are drawn to a
    resolution of 1/2000 of the axes; ``band`` keeps all corners.

    The weight of a linear rank statistic at a false positive rate is ``phi'(u)`` at ``u = 1 - p
    TPR - (1 - p) FPR``, where p is the fraction of positives and u the pooled rank as a fraction.
    It is the gain of the statistic per unit of area under the curve at that rate. The AUC has a
    constant weight. A jump of phi is drawn as a vertical line.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.metrics import LocalAUC
    >>> from sklearn_rank.plotting import RocBandDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [300, 100])
    >>> score = y + rng.normal(size=400)
    >>> display = RocBandDisplay.from_predictions(y, score, phi=LocalAUC(0.8))
    >>> display.weight_ax_.get_xlabel()
    'False positive rate'
    """

    def __init__(self, band: RocBand, *, estimator_name: str | None = None) -> None:
        self.band = band
        self.estimator_name = estimator_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        level: float = 0.95,
        groups: Any = None,
        phi: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> RocBandDisplay:
        """Draw the ROC curve of a fitted estimator with its band.

        Parameters
        ----------
        estimator : object
            Fitted estimator. Its scores are those of ``decision_function``, otherwise of
            ``predict_proba``, otherwise, if it is not a classifier, of ``predict``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Feature values of the rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        level : float, default=0.95
            Nominal coverage of the band, in (0, 1).
        groups : array-like of shape (n_samples,), default=None
            Id of the group (patient, user) of each row. Rows of one group may depend on each
            other. None means independent rows. See
            :func:`sklearn_rank.inference.roc_band`.
        phi : ScoreGeneratingFunction, str or None, default=None
            Score-generating function whose weight is drawn below the curve, such as
            ``LocalAUC(0.8)``. It must have a derivative. None draws no weight.
        pos_label : int, float, bool, str or None, default=None
            Label of the positive class. None means the ``pos_label`` of the estimator, or of the
            estimator it wraps, if it has one. Otherwise it means 1 and requires labels in {0, 1}
            or {-1, 1}.
        name : str or None, default=None
            Name in the legend. None means the class name of the estimator.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        RocBandDisplay
            Display with the drawn plot.
        """
        return cls._of_estimator(
            estimator,
            X,
            y,
            pos_label,
            name,
            level=level,
            groups=groups,
            phi=phi,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        level: float = 0.95,
        groups: Any = None,
        phi: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> RocBandDisplay:
        """Draw the ROC curve of given scores with its band.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes.
        y_score : array-like of shape (n_samples,)
            Scores; higher is nearer to the top.
        level : float, default=0.95
            Nominal coverage of the band, in (0, 1).
        groups : array-like of shape (n_samples,), default=None
            Id of the group (patient, user) of each row. Rows of one group may depend on each
            other. None means independent rows. See
            :func:`sklearn_rank.inference.roc_band`.
        phi : ScoreGeneratingFunction, str or None, default=None
            Score-generating function whose weight is drawn below the curve, such as
            ``LocalAUC(0.8)``. It must have a derivative. None draws no weight.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
        name : str or None, default=None
            Name in the legend.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        RocBandDisplay
            Display with the drawn plot.
        """
        if "sample_weight" in kwargs:
            raise TypeError(
                "RocBandDisplay takes no sample_weight, for its band is of rows that count once:"
                " leave it out; scikit-learn's RocCurveDisplay draws a weighted curve."
            )
        band = roc_band(y_true, y_score, level=level, groups=groups, pos_label=pos_label)
        return cls(band, estimator_name=name).plot(ax=ax, phi=phi, **kwargs)

    def plot(
        self, ax: Any = None, *, phi: Any = None, name: str | None = None, **kwargs: Any
    ) -> RocBandDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        phi : ScoreGeneratingFunction, str or None, default=None
            Score-generating function whose weight is drawn below the curve.
        name : str or None, default=None
            Name in the legend. None means ``estimator_name``.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        RocBandDisplay
            The same display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``phi`` has no derivative.
        """
        ax = axes_of(ax, figsize=(5.2, 5.2 if phi is None else 5.8))
        band = self.band
        auc = f"AUC = {np.trapezoid(band.tpr, band.fpr):.2f}"
        label = self.estimator_name if name is None else name
        label = auc if label is None else f"{wrapped(label, 36)} ({auc})"
        fpr, tpr = _seen(np.stack([band.fpr, band.tpr]))
        first = self._draw_curve(ax, fpr, tpr, label, kwargs)
        corners = np.concatenate([_seen(band.upper), _seen(band.lower)[:, ::-1]], axis=1)
        n_bands = sum(line.get_gid() == CURVE for line in ax.lines)
        (self.band_,) = ax.fill(
            *corners,
            color=self.line_.get_color(),
            alpha=band_alpha(ax, n_bands),
            linewidth=0,
            label=f"{100 * band.level:.4g} % band for the whole curve" if first else None,
            gid=REFERENCE,
        )
        chance = {"color": GREY, "linestyle": ":", "linewidth": 1, "gid": REFERENCE}
        (self.chance_,) = ax.plot([0, 1], [0, 1], label="chance" if first else None, **chance)
        ax.set(
            xlabel="False positive rate",
            ylabel="True positive rate",
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.01),
            aspect="equal",
            anchor="N",  # the legend hangs below it
        )
        draw_legend(ax, below=0.0 if phi is None else 0.2)
        self.weight_ax_ = None if phi is None else self._draw_weight(ax, as_score_generating(phi))
        return self._drawn_on(ax)

    def _draw_weight(self, ax: Any, phi: Any) -> Any:
        """Draw the weight of phi against the false positive rate, below the curve."""
        band = self.band
        n, share = band.n_pos + band.n_neg, band.n_pos / (band.n_pos + band.n_neg)
        # By the sum of both rates every point of the curve is reached once.
        along = np.linspace(0.0, 2.0, 2001)
        fpr = np.interp(along, band.fpr + band.tpr, band.fpr)
        # Rank of each point in the pooled sample, as a fraction.
        u = 1 - share * (along - fpr) - (1 - share) * fpr
        u = np.clip(u, 1 / (n + 1), n / (n + 1))
        weight = np.asarray(phi.derivative(u))
        below = ax.inset_axes([0, -0.2, 1, 0.14], sharex=ax)
        below.fill_between(fpr, 0, weight, color=COLORS[4], alpha=0.6, linewidth=0)
        for jump, _ in phi.jumps:
            at = np.interp(-jump, -u, fpr)
            below.axvline(at, color=COLORS[1], linewidth=1.5)
            ax.axvline(at, color=COLORS[1], linewidth=0.8, linestyle="--", zorder=0)
        below.set_ylim(0, 1.15 * weight.max() or 1.0)
        below.set(yticks=[], xlabel="False positive rate")
        line = "\n(line: jump)" if phi.jumps else ""
        below.set_ylabel(
            f"weight of\n{phi!r}{line}", rotation=0, ha="right", va="center", fontsize="x-small"
        )
        ax.set_xlabel("")
        ax.tick_params(labelbottom=False)
        return below


def _seen(corners: FloatArray) -> FloatArray:
    """Corners of a curve, without those that nobody can tell from their neighbours."""
    return corners[:, visible(*corners)]


# Where the vertical axis begins and ends, by the largest benefit or, if that is less, by this one.
BELOW, ABOVE, LEAST_TOP = 0.15, 1.05, 0.001


class DecisionCurveDisplay(CurveDisplay):
    """Decision curve: net benefit against the threshold probability.

    The plot also shows the net benefit of treating all items and of treating none. A model is
    useful at the thresholds where its curve is above both. Create one with :meth:`from_estimator`
    or :meth:`from_predictions`.

    Parameters
    ----------
    curves : dict of str to NetBenefitCurve
        Curves by their names in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve; if there are several, the last one.
    lines_ : dict of str to matplotlib Line2D
        All curves by name.
    bands_ : dict of str to matplotlib FillBetweenPolyCollection
        Confidence limits by name; empty if ``band=False``.
    treat_all_ : matplotlib Line2D
        Net benefit of treating all items.
    treat_none_ : matplotlib Line2D
        Net benefit of treating no item.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.

    See Also
    --------
    sklearn_rank.inference.net_benefit_curve : Compute the curve.
    sklearn_rank.metrics.net_benefit : Net benefit at one threshold, for scorers.
    TopCalibrationDisplay : Calibration of the probabilities at the top.

    Notes
    -----
    ``sample_weight`` raises an error, since the limits are for unweighted rows. The limits are
    pointwise. The vertical axis ends slightly below 0; the line of treating all items leaves the
    plot there.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn_rank.plotting import DecisionCurveDisplay
    >>> display = DecisionCurveDisplay.from_predictions(
    ...     [1, 1, 0, 0], [0.9, 0.2, 0.5, 0.1], thresholds=[0.1, 0.2], name="model"
    ... )
    >>> display.curves["model"].net_benefit
    array([0.44444444, 0.4375    ])
    """

    def __init__(self, curves: Mapping[str, NetBenefitCurve]) -> None:
        self.curves = dict(curves)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        thresholds: Any = None,
        positive_fraction: float | None = None,
        standardized: bool = False,
        level: float = 0.95,
        groups: Any = None,
        band: bool = True,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> DecisionCurveDisplay:
        """Draw the decision curve of a fitted classifier.

        Parameters
        ----------
        estimator : object
            Fitted classifier with ``predict_proba``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Feature values of the rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        thresholds : float, array-like of shape (n_thresholds,) or None, default=None
            Threshold probabilities, in [0, 1). None means 0, 0.01, ..., 0.99.
        positive_fraction : float or None, default=None
            Fraction of positives in the target population, in (0, 1). None means that of the
            sample.
        standardized : bool, default=False
            Whether to divide the net benefit by the fraction of positives. The maximum is then 1.
        level : float, default=0.95
            Nominal coverage of the limits at each threshold, in (0, 1).
        groups : array-like of shape (n_samples,), default=None
            Id of the group (patient, user) of each row. Rows of one group may depend on each
            other. None means independent rows. See
            :func:`sklearn_rank.inference.net_benefit_curve`.
        band : bool, default=True
            Whether to draw the confidence limits.
        pos_label : int, float, bool, str or None, default=None
            Label of the positive class. None means the ``pos_label`` of the estimator, or of the
            estimator it wraps, if it has one. Otherwise it means 1 and requires labels in {0, 1}
            or {-1, 1}.
        name : str or None, default=None
            Name in the legend. None means the class name of the estimator.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        DecisionCurveDisplay
            Display with the drawn plot.
        """
        return cls._of_estimator(
            estimator,
            X,
            y,
            pos_label,
            name,
            of_probabilities=True,
            thresholds=thresholds,
            positive_fraction=positive_fraction,
            standardized=standardized,
            level=level,
            groups=groups,
            band=band,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        thresholds: Any = None,
        positive_fraction: float | None = None,
        standardized: bool = False,
        level: float = 0.95,
        groups: Any = None,
        band: bool = True,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> DecisionCurveDisplay:
        """Draw the decision curves of given probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes, both present.
        y_prob : array-like of shape (n_samples,), mapping of str to array-like, or data frame
            Probabilities of the positive class, in [0, 1], of one model or of several by name.
        thresholds : float, array-like of shape (n_thresholds,) or None, default=None
            Threshold probabilities, in [0, 1). None means 0, 0.01, ..., 0.99.
        positive_fraction : float or None, default=None
            Fraction of positives in the target population, in (0, 1). None means that of the
            sample.
        standardized : bool, default=False
            Whether to divide the net benefit by the fraction of positives. The maximum is then 1.
        level : float, default=0.95
            Nominal coverage of the limits at each threshold, in (0, 1).
        groups : array-like of shape (n_samples,), default=None
            Id of the group (patient, user) of each row. Rows of one group may depend on each
            other. None means independent rows. See
            :func:`sklearn_rank.inference.net_benefit_curve`.
        band : bool, default=True
            Whether to draw the confidence limits.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None means 1 and requires labels in {0, 1} or {-1, 1}.
        name : str or None, default=None
            Name in the legend. Not allowed if ``y_prob`` has names.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        DecisionCurveDisplay
            Display with the drawn plot.
        """
        if "sample_weight" in kwargs:
            raise TypeError(
                "DecisionCurveDisplay takes no sample_weight, for its limits are of rows that"
                " count once: leave it out; sklearn_rank.metrics.net_benefit takes weights."
            )
        curves = {
            system: net_benefit_curve(
                y_true,
                prob,
                thresholds=thresholds,
                positive_fraction=positive_fraction,
                standardized=standardized,
                level=level,
                groups=groups,
                pos_label=pos_label,
            )
            for system, prob in systems_of(y_prob, name).items()
        }
        return cls(curves).plot(ax=ax, band=band, **kwargs)

    def plot(self, ax: Any = None, *, band: bool = True, **kwargs: Any) -> DecisionCurveDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None creates new axes.
        band : bool, default=True
            Whether to draw the confidence limits.
        **kwargs : dict
            Keyword arguments passed to matplotlib's ``plot``.

        Returns
        -------
        DecisionCurveDisplay
            The same display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``curves`` is empty.
        """
        check_flag("band", band)
        if not self.curves:
            raise ValueError("curves is empty: pass at least one.")
        ax = axes_of(ax)
        first = not any(line.get_gid() == CURVE for line in ax.lines)
        self.lines_, self.bands_ = {}, {}
        for name, curve in self.curves.items():
            self._draw_curve(ax, curve.threshold, curve.net_benefit, name, kwargs)
            self.lines_[name] = self.line_
            if band:
                self.bands_[name] = self._draw_band(
                    ax, curve.threshold, curve.low, curve.high, len(self.curves)
                )
        labels = ("treat all", "treat none") if first else (None, None)
        (self.treat_all_,) = ax.plot(
            curve.threshold, curve.treat_all, **QUIET, linestyle="--", label=labels[0]
        )
        self.treat_none_ = ax.axhline(0.0, **QUIET, linestyle=":", label=labels[1])
        heights = [c.high if band else c.net_benefit for c in self.curves.values()]
        top = float(np.max(np.concatenate([*heights, curve.treat_all, [LEAST_TOP]])))
        top = top if first else max(top, ax.get_ylim()[1] / ABOVE)
        ax.set(
            xlabel="Threshold probability",
            ylabel="Standardized net benefit" if curve.standardized else "Net benefit",
            ylim=(-BELOW * top, ABOVE * top),
        )
        draw_legend(ax)
        return self._drawn_on(ax)
