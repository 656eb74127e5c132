"""
How many test items an interval or a test needs
===============================================

Two curves for planning a test set: the width of the 95 % interval of an AUC, and the power of a
test for the difference of two AUCs, by the number of items.
"""

# %%
# Expected are an AUC of .85 and one positive in ten. How many items give an interval of width .1?
import matplotlib.pyplot as plt
import numpy as np

from sklearn_rank.inference import sample_size

expected = {"expected": 0.85, "prevalence": 0.1}
plan = sample_size("auc", **expected, width=0.1)
print(plan)

# %%
# How many items does a test need to detect a difference of .02 with a power of .8? Models that make
# the same errors, whose scores correlate within a class, need far fewer.
sizes = np.geomspace(300, 20_000, 25).astype(int)
tests = {
    correlation: sample_size(
        "auc", **expected, difference=0.02, correlation=correlation
    )
    for correlation in (0.3, 0.6, 0.9)
}
for correlation, test in tests.items():
    print(f"correlation {correlation}: {test.n:,} items")

# %%
# With ``n`` the width, or the power, is computed. Dots mark the planned sizes.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
widths = [sample_size("auc", **expected, n=n).width for n in sizes]
left.semilogx(sizes, widths, color="#0072B2")
left.plot(plan.n, plan.width, "o", color="#0072B2")
left.set(ylabel="width of the 95 % interval of the AUC", ylim=(0, None))
styles = {0.3: ("#D55E00", ":"), 0.6: ("#0072B2", "--"), 0.9: ("#009E73", "-")}
for correlation, (color, line) in styles.items():
    question = {"difference": 0.02, "correlation": correlation}
    powers = [sample_size("auc", **expected, **question, n=n).power for n in sizes]
    right.semilogx(sizes, powers, line, color=color, label=f"{correlation}")
    right.plot(tests[correlation].n, tests[correlation].power, "o", color=color)
right.set(ylabel="power to detect a difference of .02", ylim=(0, 1.02))
for axes in (left, right):
    axes.set_xticks([300, 1000, 3000, 10_000], ["300", "1,000", "3,000", "10,000"])
    axes.minorticks_off()
    axes.set_xlabel("test items, 10 % positive")
    axes.grid(alpha=0.3)
figure.legend(title="correlation\nof the scores", loc="outside right center")
plt.show()
