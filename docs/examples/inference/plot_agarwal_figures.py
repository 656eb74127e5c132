"""
Number of test items for a guaranteed AUC
=========================================

Figures 1 and 2 of Agarwal, Graepel, Herbrich, Har-Peled and Roth (2005), *Generalization bounds
for the area under the ROC curve*, computed again, with a bound that is always smaller than theirs.
"""

# %%
# Figure 1: deviations that are exceeded with probability .01 at most
# --------------------------------------------------------------------
#
# All curves hold for every distribution, except the normal approximation, which needs large samples.
# Hoeffding's argument of 1963 for means over pairs gives a smaller bound than McDiarmid's, which is
# that of the paper.
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from sklearn_rank.bounds import auc_bound, auc_variance_bound

# sphinx_gallery_thumbnail_number = 2

delta = 0.01
shares = (0.5, 0.1, 0.01)
sizes = np.unique(np.geomspace(100, 100_000, 61).astype(int))
styles = {"chebyshev": "-.", "mcdiarmid": "-", "hoeffding": "--"}
names = {
    "chebyshev": "Chebyshev",
    "mcdiarmid": "McDiarmid",
    "hoeffding": "Hoeffding",
    "kl": "KL",
}

figure, axes = plt.subplots(
    1, 3, figsize=(10, 3.6), sharey=True, layout="constrained"
)
for axis, share in zip(axes, shares, strict=True):
    counts = [
        (max(round(share * n), 1), n - max(round(share * n), 1)) for n in sizes
    ]
    for method, style in styles.items():
        widths = [auc_bound(m, n, delta, method=method).value for m, n in counts]
        axis.loglog(sizes, widths, style, label=names[method])
    errors = [np.sqrt(auc_variance_bound(m, n).value) for m, n in counts]
    axis.loglog(
        sizes,
        norm.ppf(1 - delta / 2) * np.array(errors),
        ":",
        label="normal, worst case",
    )
    axis.set(xlabel="items", title=f"{share:.0%} positive", ylim=(0.004, 1.1))
    axis.set_xticks([100, 1000, 10_000], ["100", "1,000", "10,000"])
    axis.set_yticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
axes[0].set_ylabel("deviation of the AUC")
handles, labels = axes[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=4)

# %%
# If the observed AUC is near 1, the relative entropy form of Hoeffding's bound (KL) has a much
# higher lower limit; here for 10 % positives.
figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
values = np.linspace(0.5, 1, 101)
for m, n, style in ((10, 90, "-"), (100, 900, "--"), (1000, 9000, "-.")):
    for method, colour in (("mcdiarmid", "#D55E00"), ("kl", "#0072B2")):
        limits = [
            value
            - auc_bound(m, n, delta, method=method, auc=auc, side="lower").value
            for value, auc in zip(
                values, values if method == "kl" else [None] * 101, strict=True
            )
        ]
        label = f"{names[method]}, {m} and {n} items"
        axis.plot(values, limits, style, color=colour, label=label)
axis.plot(values, values, color="0.6", linewidth=0.8)
axis.set(xlabel="observed AUC", ylabel="lower limit (99 %)", ylim=(0, 1.02))
figure.legend(loc="outside right center")

# %%
# Figure 2: test items for the AUC, in multiples of those for the error rate
# --------------------------------------------------------------------------
#
# The factor is :math:`1/(\rho(1-\rho))`, with :math:`\rho` the share of positives, and with
# Hoeffding's bound :math:`1/\min(\rho, 1-\rho)`.
from math import ceil, log

from sklearn_rank.bounds import auc_sample_size_bound

epsilon = 0.001
fractions = np.linspace(0.02, 0.98, 97)
of_error = ceil(
    log(2 / delta) / (2 * epsilon**2)
)  # Hoeffding's inequality, Equation 16
figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
for method, style in (("mcdiarmid", "-"), ("hoeffding", "--")):
    sizes = [
        auc_sample_size_bound(epsilon, delta, rho, method=method).value
        for rho in fractions
    ]
    axis.plot(fractions, np.array(sizes) / of_error, style, label=names[method])
axis.set(
    xlabel="share of positives",
    ylabel="items / items for the error rate",
    ylim=(0, 55),
)
axis.legend()
plt.show()

# %%
# These are guarantees for every distribution. For the accuracy on ordinary data use
# :func:`sklearn_rank.inference.metric_interval` and :func:`sklearn_rank.inference.sample_size`
# without a ``method``.
