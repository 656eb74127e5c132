"""
The measures beside those of other packages
===========================================

Values and times of every package that installs, from one run of
``python benchmarks/run_metric_functions.py --write``, which stores them with versions and machine.
What is printed and drawn here is read from that file.
"""

# %%
# Values first. A judge that shares no code with the package computes each measure as the mean over
# all orders of tied items, in 64 bits; a query without a relevant row counts 0, except in AUC,
# which leaves out queries of one class. The data are ten thousand queries of 1 to 199 rows, and a
# list of a million rows; "ties" are the same scores rounded to one decimal.
import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm

published = Path("../../benchmarks/published/metric_functions.csv")
with published.open() as lines:
    stored = list(csv.DictReader(lines))
print(stored[0]["machine"])
print(", ".join(dict.fromkeys(row["version"] for row in stored)))

# %%
# Who agrees, and who does not and why. A reason is a set of rules: what ties count, what an empty
# query counts, what P@k of a short list is divided by, how many bits. The judge computes the value
# by these rules too: "=" says that it finds the package's number by them (to 2e-6 where the sums
# are in 32 bits), "?" that there is no such number, since the order of ties follows from a sort
# that promises none, or the curve is another one.
ours = "sklearn_rank"
rows = [row for row in stored if row["measure"] and row["found"]]
for data in ("ragged", "ragged ties", "1e6", "1e6 ties"):
    print(f"\n{data}")
    judged = {row["measure"]: row["expected"] for row in rows if row["data"] == data}
    for measure, value in judged.items():
        print(f"    {measure} {float(value):.6f}", end="")
    print("\n")
    agree, differ = {}, {}
    for row in rows:
        if row["data"] != data:
            continue
        if float(row["right"]):
            agree.setdefault(row["peer"], []).append(row["measure"])
            continue
        proof = "?" if not row["by_rules"] else "=" if float(row["explained"]) else "DOUBTFUL"
        found = f"{row['measure']} {float(row['difference']):+.1e}"
        differ.setdefault((row["peer"], row["reason"], proof), []).append(found)
    for peer, measures in agree.items():
        print(f"{peer:<18} agrees: {', '.join(measures)}")
    for (peer, reason, proof), measures in differ.items():
        print(f"{peer:<18} {proof} {reason}\n{'':<22}{', '.join(measures)}")

# %%
# How long a call takes, as a multiple of ours, whose milliseconds stand below the names. White on
# dark is slower; below 1 the other one is faster. A cross marks another value than the judge's.
# "numpy by hand" is the sort and the sums alone, without checks and mostly without ties: near to
# what can be reached. What some packages ask for beforehand (dictionaries, matrices, sorted
# rankings, compiling) is not in the time; ``convert_ms`` of the file has it.


def draw(axes, data):
    """Times of one data set as a table in colours."""
    found = {(row["peer"], row["measure"]): row for row in rows if row["data"] == data}
    measures = [measure for peer, measure in found if peer == ours]
    peers = list(dict.fromkeys(peer for peer, _ in found if peer != ours))
    base = {measure: float(found[ours, measure]["best_ms"]) for measure in measures}
    ratio = np.full((len(peers), len(measures)), np.nan)
    for i, peer in enumerate(peers):
        for j, measure in enumerate(measures):
            if (peer, measure) in found:
                row = found[peer, measure]
                ratio[i, j] = float(row["best_ms"]) / base[measure]
                mark = "" if float(row["right"]) or abs(float(row["difference"])) < 1e-6 else " ×"
                color = "white" if ratio[i, j] > 10 else "black"
                text = f"{ratio[i, j]:.2g}" if ratio[i, j] < 10 else f"{ratio[i, j]:.0f}"
                axes.text(j, i, text + mark, ha="center", va="center", color=color, fontsize=8)
    axes.imshow(ratio, cmap="cividis_r", norm=LogNorm(0.3, 300), aspect="auto")
    labels = [f"{measure}\n{base[measure]:.3g} ms" for measure in measures]
    axes.set_xticks(range(len(measures)), labels, rotation=40, ha="right", fontsize=8)
    axes.set_yticks(range(len(peers)), peers, fontsize=8)
    axes.set_title(f"{data}: time / ours")


for pair in (("ragged", "ragged ties"), ("1e6", "1e6 ties")):
    figure, panels = plt.subplots(1, 2, figsize=(13, 5.2), layout="constrained")
    for axes, data in zip(panels, pair, strict=True):
        draw(axes, data)
plt.show()
