"""Axes, colours, legends and labels of the displays."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np

from .._optional import import_optional

# The palette of Okabe and Ito, for all kinds of colour vision.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#767676"  # Visible on white and on black


def axes_of(ax: Any, **kwargs: Any) -> Any:
    """Return the axes to draw on; without any, create a figure with constrained layout."""
    plt = import_optional("matplotlib.pyplot", "Drawing")
    if ax is None:
        _, ax = plt.subplots(layout="constrained", **kwargs)
        ax.set_gid("own")
    return ax


def band_alpha(ax: Any, n_bands: int) -> float:
    """Return the opacity of bands: lighter for many, stronger on a dark background."""
    dark = np.mean(ax.get_facecolor()[:3]) < 0.5
    return (0.22 if n_bands <= 3 else 0.08) * (2.0 if dark else 1.0)


def wrapped(name: str, width: int) -> str:
    """Break a long name into lines."""
    return fill(name, width, break_long_words=True) if len(name) > width else name


def draw_legend(ax: Any, loc: str = "best") -> None:
    """Draw the legend, reference lines last: below own axes, and inside axes of the caller."""
    handles, labels = ax.get_legend_handles_labels()
    pairs = list(zip(handles, (wrapped(label, 54) for label in labels), strict=True))
    pairs.sort(key=lambda pair: getattr(pair[0], "get_gid", str)() == "reference")
    if ax.get_gid() != "own":
        # It takes no room, even if its entries are higher than small axes.
        ax.legend(*zip(*pairs, strict=True), fontsize="small", loc=loc).set_in_layout(False)
        return
    figure = ax.figure
    for earlier in figure.legends:
        earlier.remove()
    # A small letter is about 0.075 inches wide, and a line has room for six more.
    longest = max(len(line) for _, label in pairs for line in label.splitlines()) + 6
    columns = max(1, min(len(pairs), int(figure.get_figwidth() / (0.075 * longest))))
    figure.legend(
        *zip(*pairs, strict=True), fontsize="small", loc="outside lower center", ncols=columns
    )


def label_rows(ax: Any, names: Any, texts: Any) -> None:
    """Label the rows, the first on top, with a text to the right of each."""
    for row, text in enumerate(texts):
        ax.text(1.02, row, text, transform=ax.get_yaxis_transform(), va="center", fontsize="small")
    ax.set_yticks(range(len(names)), [wrapped(name, 24) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.3)
