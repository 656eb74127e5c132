"""Metric functions against their peers, values judged before time counts; prints a table.

    python benchmarks/metric_functions/run.py [--quick] [--output results.csv]

Each peer runs in a fresh process, with one thread in every library. On each data set and measure
its first call is judged against a reference, with its memory; only then is it timed.
"""

import argparse
import gc
import importlib.util
import math
import statistics
import sys
import tempfile
import time
import tracemalloc
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    describe_machine,
    format_table,
    release_memory,
    resident_memory,
    run_worker,
    serve,
    write_table,
)

BENCHMARK = Path(__file__).resolve().parent
LISTS = {
    f"{size}{ties}": ("single_list", {"n_samples": int(float(size)), "decimals": decimals})
    for size in ("1e4", "1e6", "1e7")
    for ties, decimals in (("", None), (" ties", 1))
}
QUERIES = {
    f"{layout}{ties}": ("queries", {"n_queries": 10_000, "layout": layout, "decimals": decimals})
    for layout in ("ragged", "shuffled", "dense")
    for ties, decimals in (("", None), (" ties", 1))
}
DATA = {**LISTS, **QUERIES}
ASKED_FOR = ("shuffled ties", "dense ties")  # only on request: they add little
SLOW_DATA = ("1e7", "1e7 ties", "shuffled")  # --quick leaves these out too
OURS = "sklearn_rank"
SKLEARN = "scikit-learn"
BY_HAND = "numpy by hand"
# Name, file and parameters; whether --quick runs it (scikit-learn then without loops);
# distributions whose versions are printed.
PEERS = (
    (OURS, "sklearn_rank_functions", {}, True, ()),
    ("np.argsort", "numpy_sorting", {"call": "argsort"}, True, ()),
    ("np.sort", "numpy_sorting", {"call": "sort"}, False, ()),
    (BY_HAND, "numpy_by_hand", {}, True, ()),
    (SKLEARN, "scikit_learn", {"loop": True}, True, ()),
    ("scipy rankdata", "scipy_ranks", {"call": "rankdata"}, True, ()),
    ("scipy mannwhitneyu", "scipy_ranks", {"call": "mannwhitneyu"}, False, ()),
    ("rapidstats", "rapidstats_metrics", {}, False, ("rapidstats",)),
    ("rdkit", "rdkit_scoring", {}, False, ("rdkit",)),
    ("torchmetrics", "torchmetrics_functions", {}, False, ("torch", "torchmetrics")),
    ("pytrec_eval", "pytrec_eval_terrier", {}, False, ("pytrec_eval-terrier",)),
    ("ir_measures", "ir_measures_aggregate", {}, False, ("ir-measures",)),
    ("ranx", "ranx_evaluate", {}, False, ("ranx",)),
)
LEAST_ROWS_FOR_MEMORY = 500_000  # below it a call's memory drowns in the pages of the process
MOST_CALLS = 300
BUSY = 0.95
COLUMNS = [
    ("data", "data", ""),
    ("measure", "measure", ""),
    ("peer", "peer", ""),
    ("best_ms", "best ms", ".3f"),
    ("median_ms", "median", ".3f"),
    ("calls", "calls", "d"),
    ("per_argsort", "/ argsort", ".2f"),
    ("per_ours", "/ ours", ".1f"),
    ("convert_ms", "converting", ".0f"),
    ("cores", "cores", ".2f"),
    ("memory_ratio", "memory / input", ".2f"),
    ("found", "value", ".9f"),
    ("difference", "difference", ".1e"),
    ("note", "note", ""),
]


# ---------------------------------------------------------------------------------- in a worker


def load_class(*path, name):
    """Load one class of the benchmark without importing the peers that it does not need."""
    if str(BENCHMARK) not in sys.path:
        sys.path.insert(0, str(BENCHMARK))
    file = BENCHMARK.joinpath(*path).with_suffix(".py")
    spec = importlib.util.spec_from_file_location("_".join(path), file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def measures_of(data, request):
    """Names of the measures asked for that are for this data set."""
    from benchmark_utils import measures

    names = measures.SINGLE if data in LISTS else measures.QUERIES
    return [name for name in request["measures"] if name in names]


def objectives(request, data):
    """Return the objectives of one data set, by measure."""
    dataset, parameters = DATA[data]
    drawn = load_class("datasets", dataset, name="Dataset").get_instance(**parameters).get_data()
    judge = load_class("objective", name="Objective")
    found = {}
    for measure in measures_of(data, request):
        found[measure] = judge.get_instance(measure=measure)
        found[measure].set_data(**drawn)
    return found


def stored_references(request, data):
    """Return the file in which the judge keeps its references."""
    return Path(request["references"], f"{data}.npz")


def work(request):
    """Find the references of the judge, or measure one peer, on each data set."""
    warnings.simplefilter("ignore")
    if request["solver"] is None:
        yield from judge_all(request)
        return
    try:
        solver = load_class("solvers", request["solver"], name="Solver")
    except ImportError as error:
        yield {"not_run": f"not installed ({error})"}
        return
    for data in request["data"]:
        reports, yardstick = [], []
        layout = DATA[data][1].get("layout", "single")
        candidates = [name for name in solver.measures if name in measures_of(data, request)]
        if layout not in solver.layouts:
            for measure in candidates:
                yield {"data": data, "measure": measure, "not_run": f"not run on {layout} data"}
            continue
        if not candidates:
            continue
        drawn = objectives(request, data)
        gc.collect()
        for measure, objective in drawn.items():
            peer = solver.get_instance(**request["parameters"])
            given = objective.get_objective()
            skipped, reason = peer.skip(**given)
            if skipped:
                if not reason.startswith("does not have"):
                    yield {"data": data, "measure": measure, "not_run": reason}
                continue
            with np.load(stored_references(request, data)) as stored:
                objective.expected = float(stored[measure])
                objective.per_query = stored.get(f"{measure}, each")
            try:
                report = measure_peer(peer, objective, request)
            except Exception as error:
                report = {"note": f"{type(error).__name__}: {error}".splitlines()[0][:120]}
            reports.append({"data": data, "measure": measure, **report})
            yardstick += time_argsort(objective.score)
            if peer.is_reference:
                reports[-1].update(measure="")
                break
        best = min(yardstick, default=math.nan)
        for report in reports:
            if "best_ms" in report:
                report.update(argsort_ms=1e3 * best, per_argsort=report["best_ms"] / 1e3 / best)
            yield report


def judge_all(request):
    """Compute and keep the references of all data sets, and check the judge."""
    sys.path.insert(0, str(BENCHMARK))
    from benchmark_utils import reference

    yield {"judge": reference.check()}
    for data in request["data"]:
        kept, orders = {}, None
        for measure, objective in objectives(request, data).items():
            orders = objective.find_reference(orders)
            kept[measure] = objective.expected
            if objective.per_query is not None:
                kept[f"{measure}, each"] = objective.per_query
        np.savez(stored_references(request, data), **kept)
        yield {"data": data}


def measure_peer(peer, objective, request):
    """Judge the first call on all the data, then time it."""
    given = objective.get_objective()
    peer.set_objective(**given)
    peer.warm_up()
    peer.set_objective(**given)
    wall, cores, memory = first_call(peer)
    report = {}
    if not peer.is_reference:
        per_query = peer.per_query()
        result = (
            {"found": peer.found}
            if per_query is None
            else {
                "found": peer.found,
                "per_query": per_query,
            }
        )
        report.update(objective.evaluate_result(**result))
    walls = [wall]
    if wall < request["patience"]:
        walls, cores = time_calls(peer, request)
    if not peer.is_reference:
        # What the last call returns has to be as good as what the first did.
        report["right"] = min(
            report["right"], objective.evaluate_result(found=peer.found)["right"]
        )
        if not report["right"]:
            tied = len(np.unique(objective.score)) < objective.score.size
            reason = peer.known_reason(tied) or "not known why"
            report["note"] = f"DIFFERS: {reason}"
    if objective.score.size >= LEAST_ROWS_FOR_MEMORY:
        arrays = (given["y_true"], given["y_score"], given["qid"])
        report["memory_mb"] = memory / 1e6
        report["memory_ratio"] = memory / sum(a.nbytes for a in arrays if a is not None)
    return {
        "best_ms": 1e3 * min(walls),
        "median_ms": 1e3 * statistics.median(walls),
        "calls": len(walls),
        "cores": cores,
        "convert_ms": 1e3 * peer.converting if peer.converting > 1e-3 else math.nan,
        **report,
    }


def first_call(peer):
    """Call once; return seconds, cores busy, and the bytes by which memory rose at most.

    On Linux the rise is that of the resident size, whose peak the kernel forgets on demand: it
    counts compiled code too. Elsewhere it is what numpy and Python allocate.
    """
    resident = release_memory()
    if resident is None:
        tracemalloc.start()
    busy, start = time.process_time(), time.perf_counter()
    peer.run(None)
    wall = time.perf_counter() - start
    cores = (time.process_time() - busy) / wall
    if resident is None:
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    else:
        memory = max(resident_memory("VmHWM") - resident, 0)
    return wall, cores, memory


def time_calls(peer, request):
    """Call on fresh copies of the data, as often as the budget allows.

    Returns
    -------
    tuple of (list of float, float)
        Seconds of each call, and the cores busy over all of them.
    """
    walls, busy = [], 0.0
    while True:
        peer.refresh()
        began, start = time.process_time(), time.perf_counter()
        peer.run(None)
        walls.append(time.perf_counter() - start)
        busy += time.process_time() - began
        spent = sum(walls)
        enough = len(walls) >= request["repeats"] and spent >= request["least"]
        if enough or len(walls) >= MOST_CALLS or spent + min(walls) > request["budget"]:
            return walls, busy / spent


def time_argsort(score):
    """Seconds of sorting all scores: the yardstick, taken beside every measure of every peer."""
    walls = []
    while len(walls) < MOST_CALLS and sum(walls) < 0.05:
        fresh = score.ravel().copy()
        start = time.perf_counter()
        np.argsort(fresh)
        walls.append(time.perf_counter() - start)
    return walls


# -------------------------------------------------------------------------------- in the parent


def compare(options, references):
    """Run the judge, then all peers; return the rows of the table, and what was not run."""
    common = {name: getattr(options, name) for name in ("data", "measures")}
    common |= {name: getattr(options, name) for name in ("repeats", "budget", "least", "patience")}
    common["references"] = references
    start = time.perf_counter()
    reports, problem = run_worker(__file__, {**common, "solver": None})
    if problem:
        sys.exit(f"judge: {problem}")
    print(
        f"judge: within {reports[0]['judge']:.0e} of the mean over all orders of ties on small"
        f" lists; {len(reports) - 1} data sets, {time.perf_counter() - start:.0f} s",
        flush=True,
    )
    rows, left_out = [], []
    for label, solver, parameters, _, _ in PEERS:
        if label not in options.peers:
            continue
        start = time.perf_counter()
        if options.quick and label == SKLEARN:
            parameters = {**parameters, "loop": False}
        request = {**common, "solver": solver, "parameters": parameters}
        reports, problem = run_worker(
            __file__, request, timeout=options.timeout, POLARS_MAX_THREADS="1"
        )
        for report in reports:
            (left_out if "not_run" in report else rows).append({"peer": label, **report})
        if problem:
            left_out.append({"peer": label, "not_run": f"stopped: {problem}"})
        print(f"  {label}: {time.perf_counter() - start:.0f} s", flush=True)
        if options.output and rows:  # again and again: a long run may be interrupted
            write_table(options.output, rows, COLUMNS)
    return rows, left_out


def arrange(rows):
    """Sort the rows by data set and measure, and add the ratio to the package."""
    ours = {(r["data"], r["measure"]): r.get("best_ms", math.nan) for r in rows_of(rows, OURS)}
    for row in rows:
        row["per_ours"] = row.get("best_ms", math.nan) / ours.get(key_of(row), math.nan)
    data, peers = list(DATA), [peer[0] for peer in PEERS]
    measures = ["", *all_measures()]
    rows.sort(
        key=lambda row: (
            data.index(row["data"]),
            measures.index(row["measure"]),
            peers.index(row["peer"]),
        )
    )
    return rows


def all_measures():
    """Names of the measures, those of one list first."""
    if str(BENCHMARK) not in sys.path:
        sys.path.insert(0, str(BENCHMARK))
    from benchmark_utils import measures

    return [*measures.SINGLE, *measures.QUERIES]


def key_of(row):
    """Data set and measure."""
    return row["data"], row["measure"]


def rows_of(rows, peer, data=None, measures=None):
    """Rows of one peer that have a time, on one data set and some measures."""
    return [
        row
        for row in rows
        if row["peer"] == peer
        and "best_ms" in row
        and (data is None or row["data"] == data)
        and (measures is None or row["measure"] in measures)
    ]


def verdicts(rows):
    """Compare what was measured with the targets; one line each. A wrong value never meets one."""
    lines = []

    def verdict(found, target, holds, show):
        """One line about some rows, the least good first."""
        if not found:
            return
        missed = [row for row in found if not (holds(row) and row["right"])]
        shown = ", ".join(f"{row['measure']} {show(row)}" for row in found)
        lines.append(f"{'MISS' if missed else 'MET '}  {target}: {shown}")
        if missed and len(found) > 1:
            lines.append(f"      missed by {', '.join(row['measure'] for row in missed)}")

    ours = rows_of(rows, OURS)
    failed = [row for row in rows if row["peer"] == OURS and "best_ms" not in row]
    if ours or failed:
        wrong = [row for row in ours if not row["right"]] + failed
        lines.append(
            f"{'MISS' if wrong else 'MET '}  values equal to the judge's: "
            f"{len(ours) + len(failed) - len(wrong)} of {len(ours) + len(failed)}"
            + "".join(f"; not {row['measure']} on {row['data']}" for row in wrong)
        )
    verdicts_on_lists(rows, lines, verdict)
    verdicts_on_queries(rows, verdict)
    busy = sum(row["cores"] < BUSY for row in rows if "cores" in row)
    if busy:
        lines.append(
            f"NOTE  the machine was busy: {busy} of {len(rows)} times had under {BUSY} of a core"
        )
    for data in DATA:
        found = [row for row in rows_of(rows, OURS, data) if "memory_ratio" in row]
        verdict(
            found,
            f"{data}: memory of a call at most 4 times its input",
            lambda row: row["memory_ratio"] <= 4,
            lambda row: f"{row['memory_ratio']:.1f}",
        )
    return lines


def verdicts_on_lists(rows, lines, verdict):
    """Times on one list."""
    from benchmark_utils.measures import RANKS_ONLY

    for data, goal in (("1e4", None), ("1e6", None), ("1e7", 0.4)):
        found = rows_of(rows, OURS, data, RANKS_ONLY)
        if goal:
            target = f"{data}: at most {goal} of np.argsort"
            verdict(
                found,
                target,
                lambda row: row["per_argsort"] <= 0.4,
                lambda row: f"{row['per_argsort']:.3f}",
            )
        elif found:
            shown = ", ".join(f"{row['measure']} {row['per_argsort']:.2f}" for row in found)
            lines.append(f"NOTE  {data}: of np.argsort (a target at 1e7 only): {shown}")
    for data in ("1e6", "1e7"):
        peers = rows_of(rows, SKLEARN, data, ("auc",))
        for row in rows_of(rows, OURS, data, ("auc",)) if peers else ():
            ratio = peers[0]["best_ms"] / row["best_ms"]
            verdict(
                [row],
                f"{data}: at least 15 times faster than scikit-learn's roc_auc_score",
                lambda _, ratio=ratio: ratio >= 15,
                lambda _, ratio=ratio: f"{ratio:.1f}",
            )
    verdict(
        rows_of(rows, OURS, "1e4", RANKS_ONLY),
        "1e4: less than 0.2 ms",
        lambda row: row["best_ms"] < 0.2,
        lambda row: f"{row['best_ms']:.3f}",
    )


def verdicts_on_queries(rows, verdict):
    """Times on queries."""
    for data in ("ragged", "ragged ties"):
        verdict(
            rows_of(rows, OURS, data, ("ndcg10_exp", "ndcg10_linear")),
            f"{data}: NDCG@10 within 60 ms",
            lambda row: row["best_ms"] <= 60,
            lambda row: f"{row['best_ms']:.1f}",
        )
        for measure, goal in (("ap", 60), ("err", 200)):
            verdict(
                rows_of(rows, OURS, data, (measure,)),
                f"{data}: {measure.upper()} within {goal} ms",
                lambda row, goal=goal: row["best_ms"] <= goal,
                lambda row: f"{row['best_ms']:.1f}",
            )


def describe_left_out(left_out):
    """Say what was not run and why; one line for each peer and reason."""
    groups = {}
    for entry in left_out:
        groups.setdefault((entry["peer"], entry["not_run"]), []).append(entry)
    for (peer, reason), entries in groups.items():
        measures = dict.fromkeys(e["measure"] for e in entries if "measure" in e)
        yield f"{peer}: {reason}" + (f" ({', '.join(measures)})" if measures else "")


def describe_peers(peers):
    """Return one line with the versions of the peers that describe_machine does not know."""
    versions = []
    for label, _, _, _, names in PEERS:
        for name in names if label in peers else ():
            try:
                versions.append(f"{name} {version(name)}")
            except PackageNotFoundError:
                versions.append(f"{name} not installed")
    return ", ".join(versions)


def parse_options():
    """Options of the command line, with what --quick leaves out."""
    labels = [peer[0] for peer in PEERS]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="+", choices=DATA, metavar="DATA", help=", ".join(DATA))
    parser.add_argument(
        "--measures",
        nargs="+",
        choices=all_measures(),
        metavar="MEASURE",
        help=", ".join(all_measures()),
    )
    parser.add_argument(
        "--peers", nargs="+", choices=labels, metavar="PEER", help=", ".join(labels)
    )
    parser.add_argument(
        "--repeats", type=int, help="calls timed, and more of those that are quick"
    )
    parser.add_argument("--budget", type=float, help="seconds for the calls of one measure")
    parser.add_argument(
        "--patience",
        type=float,
        default=1.5,
        help="a first call that takes more seconds is the only one",
    )
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one process")
    parser.add_argument("--quick", action="store_true", help="smaller data, no slow peers")
    parser.add_argument("--output", help="write the table to a .csv or .md too")
    options = parser.parse_args()
    quick = options.quick
    left_out = (*ASKED_FOR, *(SLOW_DATA if quick else ()))
    options.data = options.data or [data for data in DATA if data not in left_out]
    options.measures = options.measures or all_measures()
    options.peers = options.peers or [p[0] for p in PEERS if p[3] or not quick]
    options.repeats = options.repeats or (3 if quick else 5)
    options.budget = options.budget or (0.5 if quick else 1.2)
    options.least = 0.05 if quick else 0.2  # seconds for the shortest calls, repeated more often
    return options


def main():
    """Run and print."""
    options = parse_options()
    start = time.perf_counter()
    print(describe_machine("benchopt"))
    print(describe_peers(options.peers))
    print(
        f"one thread; best and median of {options.repeats} calls, more if they are quick, within"
        f" {options.budget:g} s; memory: "
        + ("rise of the resident size" if Path("/proc/self/clear_refs").exists() else "traced")
        + "\n",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as references:
        rows, left_out = compare(options, references)
    rows = arrange(rows)
    if options.output:
        write_table(options.output, rows, COLUMNS)
    for title, names in (("One list", LISTS), ("Queries", QUERIES)):
        shown = [row for row in rows if row["data"] in names]
        if shown:
            print(f"\n{title}\n\n{format_table(shown, COLUMNS)}")
    if left_out:
        print("\nNot run\n")
        print("\n".join(describe_left_out(left_out)))
    print("\nTargets\n")
    print("\n".join(verdicts(rows)))
    print(f"\n{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__" and not serve(work):
    main()
