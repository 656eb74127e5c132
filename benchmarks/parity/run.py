"""The same calls of two versions of the package: do they return, warn and raise the same?

    python benchmarks/parity/run.py --before REVISION_OR_FOLDER_OR_RECORDING
    python benchmarks/parity/run.py --record FILE

Each version makes the calls in processes of its own, with ``PYTHONPATH`` set to its tree. What a
call returns is compared number by number and attribute by attribute, with the types and messages
of exceptions and warnings. Prints a line for each call that differs; the exit code is then 1.
"""

import argparse
import importlib
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measuring import REPOSITORY, pinned_environment, tree_of

GROUPS = ("metrics", "inference", "rankers", "searches", "others", "shown")


def cases_of(groups):
    """Names and calls of groups, each name once."""
    cases = {}
    for group in groups:
        for name, call in importlib.import_module(f"{group}_cases").cases():
            assert name not in cases, name
            cases[name] = call
    return cases


def work(file, groups, part, parts):
    """Make every ``parts``-th call, and write the outcomes to a file."""
    from values import outcome

    cases = list(cases_of(groups).items())[part::parts]
    outcomes = {name: outcome(call) for name, call in cases}
    with open(file, "wb") as stream:
        pickle.dump(outcomes, stream)


def record(tree, groups, workers):
    """Outcomes of the calls of one version."""
    if not (tree / "sklearn_rank" / "__init__.py").exists():
        sys.exit(f"{tree} holds no sklearn_rank.")
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, str(part)) for part in range(workers)]
        environment = pinned_environment(
            PYTHONPATH=str(tree), MPLBACKEND="agg", PYTHONHASHSEED="0", COLUMNS="80"
        )
        processes = [
            subprocess.Popen(
                [
                    sys.executable,
                    __file__,
                    "--worker",
                    file,
                    ",".join(groups),
                    str(i),
                    str(workers),
                ],
                env=environment,
            )
            for i, file in enumerate(files)
        ]
        codes = [process.wait() for process in processes]
        if any(codes):
            sys.exit(f"The calls of {tree} ended with an error.")
        return {name: told for file in files for name, told in read(file).items()}


def read(file):
    """Outcomes that were stored."""
    with open(file, "rb") as stream:
        return pickle.load(stream)


def compare(before, after, ignored=()):
    """Print the differences and a summary; return whether there are any.

    Differences with one of the ignored texts are left out.
    """
    from values import differences

    n_equal = 0
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            print(f"{name}: only {'before' if name in before else 'after'}")
            continue
        told = [
            line
            for line in differences(before[name], after[name])
            if not any(text in line for text in ignored)
        ]
        n_equal += not told
        if told:
            more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
            print(f"{name}: {min(told)}{more}")
    n = len(before.keys() | after.keys())
    but = f", not counting what has {' or '.join(map(repr, ignored))}" if ignored else ""
    print(f"{n_equal:,} of {n:,} calls equal{but}")
    return n_equal < n


def main():
    """Record one version, or compare two."""
    if sys.argv[1:2] == ["--worker"]:
        file, groups, part, parts = sys.argv[2:]
        return work(file, groups.split(","), int(part), int(parts))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", help="revision, folder or recording of the earlier version")
    parser.add_argument("--after", type=Path, default=REPOSITORY, help="default: this tree")
    parser.add_argument("--record", type=Path, help="write the outcomes of --after to this file")
    parser.add_argument("--only", default=",".join(GROUPS), help="groups, separated by commas")
    parser.add_argument("--workers", type=int, default=1, help="processes of each version")
    parser.add_argument(
        "--ignore", nargs="+", default=(), metavar="TEXT", help="differences that are intended"
    )
    options = parser.parse_args()
    groups = options.only.split(",")
    after = record(options.after.resolve(), groups, options.workers)
    if options.record:
        with open(options.record, "wb") as stream:
            pickle.dump(after, stream)
    if not options.before:
        return print(f"{len(after):,} calls")
    if Path(options.before).is_file():
        before = read(options.before)
        before = {name: told for name, told in before.items() if name.split()[0] in groups}
    else:
        with tree_of(options.before) as tree:
            before = record(tree, groups, options.workers)
    return compare(before, after, options.ignore)


if __name__ == "__main__":
    sys.exit(main())
