"""The ROC curve within its band, and which part of it a measure looks at."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray
from ..inference import RocBand, roc_band
from ..metrics._shared import as_score_generating
from ._common import COLORS, GREY, CurveDisplay, axes_of

__all__ = ["RocBandDisplay"]


# Cells of the unit square along an axis within which a drawn curve need not be exact.
CELLS = 2000


class RocBandDisplay(CurveDisplay):
    """ROC curve with a band that holds all of the true one, and the weight of a measure under it.

    Make one by :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    band : RocBand
        The curve and its band.
    estimator_name : str or None, default=None
        Name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    band_ : matplotlib Polygon
        The band.
    chance_ : matplotlib Line2D
        The diagonal: what scores without information give.
    weight_ax_ : matplotlib Axes or None
        Axes of the weight under the curve; None without ``phi``.
    ax_ : matplotlib Axes
        Axes that it is drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    sklearn_rank.inference.roc_band : The numbers.
    sklearn.metrics.RocCurveDisplay : Without a band.

    Notes
    -----
    The band is Campbell's: Kolmogorov-Smirnov rectangles moved along the curve, simultaneous and
    free of assumptions about the distribution of scores. Rows count once: ``sample_weight`` is
    refused. Of curves with many corners those are drawn that can be told apart, to 1/2000 of the
    axes; ``band`` keeps all.

    The weight of a linear rank statistic at a false positive rate is ``phi'(u)`` at ``u = 1 - p
    TPR - (1 - p) FPR``, the pooled rank there as a share, p the share of positives: what one more
    unit of area under the curve is worth there. For the AUC it is the same everywhere. A
    jump of phi is a vertical line.

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
        """Rank rows by a fitted estimator and draw the curve with its band.

        Parameters
        ----------
        estimator : object
            Fitted; ranks by ``decision_function``, else by ``predict_proba``, else, if it is no
            classifier, by ``predict``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        level : float, default=0.95
            Coverage of the band, in (0, 1).
        groups : array-like of shape (n_samples,), default=None
            Id of the group of each row, for rows that depend on each other; see
            :func:`sklearn_rank.inference.roc_band`.
        phi : ScoreGeneratingFunction, str or None, default=None
            Measure of which to draw the weight, as ``LocalAUC(0.8)``; needs a derivative.
        pos_label : int, float, bool, str or None, default=None
            The positive class. None is the ``pos_label`` of the estimator, where it or what it
            wraps has one, else 1 for labels among 0 and 1 or among -1 and 1.
        name : str or None, default=None
            Name in the legend; None is the class of the estimator.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes new ones.
        **kwargs : dict
            Handed to matplotlib's ``plot``.

        Returns
        -------
        RocBandDisplay
            The display, drawn.
        """
        return cls._of_estimator(
            estimator,
            X,
            y,
            pos_label,
            level=level,
            groups=groups,
            phi=phi,
            name=name,
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
        """Draw the curve of given scores with its band.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes.
        y_score : array-like of shape (n_samples,)
            Scores; higher is nearer to the top.
        level : float, default=0.95
            Coverage of the band, in (0, 1).
        groups : array-like of shape (n_samples,), default=None
            Id of the group of each row, for rows that depend on each other; see
            :func:`sklearn_rank.inference.roc_band`.
        phi : ScoreGeneratingFunction, str or None, default=None
            Measure of which to draw the weight, as ``LocalAUC(0.8)``; needs a derivative.
        pos_label : int, float, bool or str, default=None
            The positive class; None is 1 for labels among 0 and 1 or among -1 and 1.
        name : str or None, default=None
            Name in the legend.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes new ones.
        **kwargs : dict
            Handed to matplotlib's ``plot``.

        Returns
        -------
        RocBandDisplay
            The display, drawn.
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
            Axes to draw on; None makes new ones.
        phi : ScoreGeneratingFunction, str or None, default=None
            Measure of which to draw the weight.
        name : str or None, default=None
            Name in the legend; None is ``estimator_name``.
        **kwargs : dict
            Handed to matplotlib's ``plot``.

        Returns
        -------
        RocBandDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If phi has no derivative.
        """
        ax = axes_of(ax, figsize=(5.2, 5.2 if phi is None else 5.8), layout="constrained")
        band = self.band
        fpr, tpr = _seen(np.stack([band.fpr, band.tpr]))
        first = self._draw_curve(ax, fpr, tpr, name, kwargs)
        corners = np.concatenate([_seen(band.upper), _seen(band.lower)[:, ::-1]], axis=1)
        (self.band_,) = ax.fill(
            *corners,
            color=self.line_.get_color(),
            alpha=0.2,
            linewidth=0,
            label=f"{100 * band.level:.4g} % band for the whole curve" if first else None,
        )
        (self.chance_,) = ax.plot(
            [0, 1], [0, 1], color=GREY, linestyle=":", label="chance" if first else None
        )
        ax.set(
            xlabel="False positive rate",
            ylabel="True positive rate",
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.01),
            aspect="equal",
        )
        ax.legend(loc="lower right", fontsize="small")
        self.weight_ax_ = None if phi is None else self._draw_weight(ax, as_score_generating(phi))
        return self._drawn_on(ax)

    def _draw_weight(self, ax: Any, phi: Any) -> Any:
        """Draw the weight of phi along the false positive rate below the curve."""
        fpr, u = self._ranks()
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

    def _ranks(self) -> tuple[Any, Any]:
        """Points of the curve, close together, and the pooled rank at each as a share."""
        band = self.band
        n = band.n_pos + band.n_neg
        along = np.linspace(0.0, 2.0, 2001)
        # By the sum of both rates every point of the curve is reached once.
        fpr = np.interp(along, band.fpr + band.tpr, band.fpr)
        share = band.n_pos / n
        u = 1 - share * (along - fpr) - (1 - share) * fpr
        return fpr, np.clip(u, 1 / (n + 1), n / (n + 1))


def _seen(corners: FloatArray) -> FloatArray:
    """Corners of a curve in the unit square, without those that lie among others of their cell."""
    cell = np.floor(corners * CELLS)
    new = (cell[:, 1:] != cell[:, :-1]).any(axis=0)
    # The first and the last one of each run in a cell.
    return corners[:, np.append(True, new) | np.append(new, True)]
