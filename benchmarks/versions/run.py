"""Two versions of the package side by side: times, memory and values of a fixed list of cases.

    python benchmarks/versions/run.py [--before REVISION_OR_FOLDER] [--cases metrics rankers]

The version before is the last that has a tag. Run it before a change is accepted: it takes about
five minutes, and ends with 1 if something is slower. Each version runs in a process of its own,
with one thread in every library, and the two take turns: before, after, after, before and so on,
so that whatever slows the machine down for a while slows both. Times are CPU seconds. A ratio is
that of two timings that follow each other; more than 1 is slower than before.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import (
    REPOSITORY,
    describe_machine,
    format_table,
    pinned_environment,
    tree_of,
    write_table,
)

VERSIONS = ("before", "after")
SHORTEST = 0.005  # seconds for one timing: shorter calls are repeated
FEWEST = 3
FIRST_ROUNDS = 2  # of fresh processes, whose cache of compiled code is empty
SLOWER = 1.15
COLUMNS = [
    ("group", "group", ""),
    ("case", "case", ""),
    ("before_ms", "before ms", ".3f"),
    ("after_ms", "after ms", ".3f"),
    ("ratio", "ratio", ".3f"),
    ("least", "least", ".3f"),
    ("most", "most", ".3f"),
    ("rounds", "rounds", "d"),
    ("before_mb", "before MB", ".1f"),
    ("after_mb", "after MB", ".1f"),
    ("difference", "difference", ".1e"),
    ("note", "note", ""),
]


class Version:
    """A process that runs one checkout.

    Parameters
    ----------
    checkout : Path
        Folder in which ``sklearn_rank`` lies.
    **variables : str
        More environment variables.
    """

    def __init__(self, checkout, **variables):
        worker = Path(__file__).with_name("worker.py")
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, str(worker)],
            env=pinned_environment(PYTHONPATH=str(checkout), **variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )
        self.started = self.answer()
        if not Path(self.started["path"]).is_relative_to(checkout):
            sys.exit(f"{checkout}: the process imported {self.started['path']} instead.")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()

    def answer(self):
        """Read an answer; end everything if the process is gone."""
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            sys.exit("A process ended:\n" + self.errors.read()[-2000:])
        return json.loads(line)

    def ask(self, do, **request):
        """Send a request and wait for the answer."""
        self.process.stdin.write(json.dumps({"do": do, **request}) + "\n")
        self.process.stdin.flush()
        return self.answer()


def turns(rounds):
    """Order of the versions in each round: the one that came last begins the next."""
    return [VERSIONS[:: 1 if i % 2 == 0 else -1] for i in range(rounds)]


def compare(case, versions, options):
    """Time one case in both versions, and compare its values."""
    row = {"group": case.group, "case": case.name}
    with tempfile.TemporaryDirectory() as directory:
        files = {name: str(Path(directory, f"{name}.npy")) for name in VERSIONS}
        prepared = {
            name: versions[name].ask(
                "prepare", group=case.group, name=case.name, values=files[name]
            )
            for name in VERSIONS
        }
        problems = [f"{n}: {p['problem']}" for n, p in prepared.items() if "problem" in p]
        if problems:
            return {**row, "note": "; ".join(problems)}
        values = [np.load(files[name]) for name in VERSIONS]
    seconds = {name: [] for name in VERSIONS}
    once = [versions[name].ask("time", calls=1)["seconds"] for name in VERSIONS]
    calls = max(1, math.ceil(SHORTEST / max(*once, 1e-7)))
    for order in turns(number_of_rounds(calls * sum(once), options)):
        for name in order:
            seconds[name].append(versions[name].ask("time", calls=calls)["seconds"])
    for version in versions.values():
        version.ask("drop")
    return {
        **row,
        **summary(seconds),
        **{f"{name}_mb": prepared[name]["memory_mb"] for name in VERSIONS},
        **difference(*values),
    }


def number_of_rounds(seconds, options):
    """As many as asked for: fewer of long ones, and more of those that are soon over."""
    affordable, soon_over = int(options.budget / seconds), int(options.least / seconds)
    return max(FEWEST, min(options.repeats, affordable), min(5 * options.repeats, soon_over))


def summary(seconds):
    """Medians of both versions, and the ratios of the pairs."""
    ratios = [b / a for a, b in zip(seconds["before"], seconds["after"], strict=True)]
    return {
        "before_ms": 1e3 * statistics.median(seconds["before"]),
        "after_ms": 1e3 * statistics.median(seconds["after"]),
        "ratio": statistics.median(ratios),
        "least": min(ratios),
        "quartile": statistics.quantiles(ratios, n=4)[0],
        "most": max(ratios),
        "rounds": len(ratios),
    }


def difference(before, after):
    """Largest absolute difference of two arrays, NaN equal to NaN."""
    if before.shape != after.shape:
        return {"note": f"{before.size} and {after.size} numbers"}
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    largest = np.max(np.abs(before - after)[~same], initial=0.0)
    return {"difference": math.inf if np.isnan(largest) else float(largest)}


def compare_first_calls(cases, checkouts, options):
    """Import and call each case ten times in fresh processes; yield rows."""
    found = {}
    for order in turns(FIRST_ROUNDS):
        for name in order:
            with (
                tempfile.TemporaryDirectory() as empty,
                Version(checkouts[name], NUMBA_CACHE_DIR=empty) as version,
            ):
                times = {"import": version.started["imported"]}
                for case in cases:
                    answer = version.ask("first_and_tenth", group=case.group, name=case.name)
                    for call in ("first", "tenth"):
                        times[f"{case.name}, {call} call"] = answer.get(call, math.nan)
            for label, value in times.items():
                found.setdefault(label, {v: [] for v in VERSIONS})[name].append(value)
    for label, seconds in found.items():
        yield {"group": "first", "case": label, **summary(seconds)}


def conclude(rows):
    """Means of the ratios by group; what is slower, and what differs; a line each."""
    timed = [row for row in rows if row.get("ratio", math.nan) > 0]
    for group in dict.fromkeys(row["group"] for row in timed):
        ratios = [row["ratio"] for row in timed if row["group"] == group]
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        yield f"{group}: {len(ratios)} cases, geometric mean of the ratios {mean:.3f}"
    for row in timed:
        if row["ratio"] > SLOWER and row["quartile"] > 1:
            quartile = f"lower quartile {row['quartile']:.2f}"
            yield f"SLOWER  {row['case']}: {row['ratio']:.2f} ({quartile})"
    for row in rows:
        if row.get("difference"):
            yield f"DIFFERS  {row['case']}: by {row['difference']:.1e}"
        if row.get("note"):
            yield f"FAILED  {row['case']}: {row['note']}"


def parse_options(groups):
    """Options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", help="revision or folder, by default the last tag")
    parser.add_argument(
        "--after", type=Path, default=REPOSITORY, help="checkout of the new one, by default this"
    )
    parser.add_argument("--cases", nargs="+", choices=groups, default=list(groups), help="groups")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="cases with a text in the name")
    parser.add_argument("--repeats", type=int, default=5, help="rounds")
    parser.add_argument(
        "--budget", type=float, default=2, help=f"seconds for a case, but {FEWEST} rounds at least"
    )
    parser.add_argument(
        "--least", type=float, default=0.3, help="seconds for a short case: more rounds, up to 5x"
    )
    parser.add_argument("--all", action="store_true", help="the other cases too")
    parser.add_argument("--write", metavar="FILE", help="write the table to a .csv or .md too")
    return parser.parse_args()


def last_tag():
    """The last version that has a tag."""
    git = ["git", "-C", REPOSITORY, "describe", "--tags", "--abbrev=0"]
    told = subprocess.run(git, capture_output=True, text=True)
    return told.stdout.strip() or sys.exit("No version has a tag: pass --before.")


def main():
    """Run both versions, print."""
    from cases import GROUPS, cases_of

    options = parse_options(GROUPS)
    cases = [
        case
        for case in cases_of(options.cases, options.all or options.only)
        if not options.only or any(text in case.name for text in options.only)
    ]
    if not cases:
        sys.exit("No case has such a text in its name.")
    with tree_of(options.before or last_tag()) as before:
        checkouts = {"before": before, "after": options.after.resolve()}
        for checkout in checkouts.values():
            if not (checkout / "sklearn_rank" / "__init__.py").exists():
                sys.exit(f"{checkout} holds no sklearn_rank.")
        run(cases, checkouts, options)


def run(cases, checkouts, options):
    """Time the cases and print the table."""
    print(describe_machine())
    print(
        f"one thread; {options.repeats} rounds, fewer of long calls and more of short ones\n",
        flush=True,
    )
    rows = []

    def add(row):
        rows.append(row)
        print(f"  {row['case']}: {row.get('ratio', math.nan):.3f}", flush=True)
        if options.write:  # again and again: a long run may be interrupted
            write_table(options.write, rows, COLUMNS)

    warm = [case for case in cases if case.group != "first"]
    if warm:
        with Version(checkouts["before"]) as before, Version(checkouts["after"]) as after:
            for case in warm:
                add(compare(case, {"before": before, "after": after}, options))
    first = [case for case in cases if case.group == "first"]
    if first:
        for row in compare_first_calls(first, checkouts, options):
            add(row)
    print(f"\n{format_table(rows, COLUMNS)}\n")
    lines = list(conclude(rows))
    print("\n".join(lines))
    if any(line.startswith("SLOWER") for line in lines):
        sys.exit(1)


if __name__ == "__main__":
    main()
