"""The command line, ``sklearn-rank`` or ``python -m sklearn_rank``.

This module imports nothing heavy, so that the help comes fast.
"""

from __future__ import annotations

import os
import sys
import warnings
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from contextlib import suppress
from textwrap import dedent
from typing import Any

from .._version import __version__
from ._output import DOCS, LABELS, CommandError, write

__all__ = ["main"]

inf = float("inf")


def main(arguments: Sequence[str] | None = None, *, as_module: bool = False) -> int:
    """Run the program."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # names that the console cannot show
    parser = make_parser("python -m sklearn_rank" if as_module else "sklearn-rank")
    general = ("-h", "--help", "--version")
    if as_module and (
        not arguments or (arguments[0].startswith("-") and arguments[0] not in general)
    ):
        arguments = ["demo", *arguments]
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    title = f"{parser.prog} {options.command}"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            code = _run(options)
        except CommandError as error:
            sys.stderr.write(f"{title}: error: {error}\n")
            code = 2
        except BrokenPipeError:
            # Stop quietly where the reader of the output has gone, as ``head`` does.
            with suppress(OSError, ValueError):
                # Else the interpreter complains when it flushes at its end.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 0
        except KeyboardInterrupt:
            code = 130  # as of shells
    # Undefined queries stand in the results.
    messages = (str(w.message) for w in caught if w.category.__name__ != "UndefinedMetricWarning")
    for message in dict.fromkeys(messages):
        sys.stderr.write(f"{title}: warning: {message}\n")
    return code


def _refuse_to_overwrite(options: Namespace) -> None:
    """Raise an error if the output would replace a file of the input."""
    given = vars(options)
    inputs = [given.get("file"), given.get("qrels"), *(given.get("run") or ())]
    for name in ("output", "plot"):
        for path in filter(None, inputs):
            with suppress(OSError):
                if given.get(name) and os.path.samefile(given[name], path):
                    raise CommandError(f"--{name} {path} is the input: give another name")


def _run(options: Namespace) -> int:
    _refuse_to_overwrite(options)
    # Each subcommand is imported when it runs, so that the help starts at once.
    if options.command == "demo":
        from ._demo import run_demo

        run_demo(options)
    elif options.command == "doctor":
        from ._doctor import run_doctor

        return run_doctor(options, make_parser(options.prog))
    elif options.list_measures:
        from ..metrics import get_measure_names

        write("".join(f"{name}\n" for name in get_measure_names()), options.output)
    elif options.command == "evaluate":
        from ._evaluate import run_evaluate

        run_evaluate(options)
    else:
        from ._evaluate import run_compare

        run_compare(options)
    return 0


def make_parser(prog: str) -> ArgumentParser:
    style: dict[str, Any] = {"formatter_class": RawDescriptionHelpFormatter}
    parser = ArgumentParser(
        prog=prog,
        description="Score rankings, compare rankers, and know how far to trust the numbers.",
        epilog=f"Documentation: {DOCS}",
        **style,
    )
    parser.add_argument("--version", action="version", version=f"sklearn-rank {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    def make(name: str, usage: str, summary: str, examples: str = "") -> ArgumentParser:
        return commands.add_parser(
            name,
            help=summary[0].lower() + summary[1:].rstrip("."),
            description=summary,
            epilog=dedent(examples).format(prog=prog),
            usage=f"{prog} {name} {usage}",
            **style,
        )

    runs = "--run RUN [RUN ...] --qrels QRELS [options]"
    evaluate = make(
        "evaluate",
        f"FILE [options]\n       {prog} evaluate {runs}",
        "Measure the rankings of a file, with intervals.",
        """\
        examples:
          {prog} evaluate predictions.csv --label clicked --score new old
          {prog} evaluate ranked.csv --label grade --score new --qid query \\
              --measure ndcg@10 'ap(rel>=1)' --format json
          {prog} evaluate --run system.run --qrels judgments.qrels \\
              --measure ndcg@10 ap

        The file has one row for each item and the names of its columns in the first
        line. Higher scores are nearer to the top. Files .gz, .bz2, .lz4 and .zst are
        decompressed.

        Without --measure the measures are
          one list, two classes   auc ap precision@top0.1
          one list, grades        spearman tau_b
          queries, two classes    ndcg@10 ap rr
          queries, grades         ndcg@10 ndcg
          runs                    ndcg@10 ap rr""",
    )
    add = _add_measured(evaluate)
    add("--method", default="auto", help="t, bootstrap or bca for queries, or one of the measure")
    draws = _number(int, "a whole number from 99 on", lambda value: value >= 99)
    add("--resamples", metavar="N", type=draws, default=10_000, help="bootstrap samples (10000)")
    compare = make(
        "compare",
        f"FILE [options]\n       {prog} compare {runs}",
        "Test whether one ranker is better than another.",
        """\
        examples:
          {prog} compare predictions.csv --label clicked --score new old
          {prog} compare predictions.csv --label clicked --score new old \\
              --measure auc --baseline old --margin 0.02
          {prog} compare --run system.run other.run --qrels judgments.qrels \\
              --measure ap

        Each difference has an interval and a p-value, both adjusted for the number of
        comparisons. Without --baseline all pairs are compared. Without --measure it is
        auc for one list of two classes, spearman for one list of grades, and ndcg@10
        for queries and runs.""",
    )
    add = _add_measured(compare)
    add("--baseline", metavar="NAME", help="score or run that each other one is compared with")
    above = _number(float, "a number above 0", lambda value: 0 < value < inf)
    add("--margin", type=above, help="largest difference that does not matter")
    alternatives = ("two-sided", "less", "greater", "non-inferior", "equivalent")
    text = "what is to be shown (two-sided; with --margin non-inferior)"
    add("--alternative", choices=alternatives, help=text)
    methods = ("auto", "randomization", "t", "wilcoxon", "swap")
    text = "test: randomization, t or wilcoxon for queries; swap for one list"
    add("--method", choices=methods, default="auto", help=text)
    doctor = make(
        "doctor",
        "FILE [options]",
        "Say what is in a file, what can be computed, and by which command.",
        """\
        examples:
          {prog} doctor predictions.csv
          {prog} doctor predictions.csv --label clicked --score new old

        It says what each column seems to be, what is odd about labels, queries and
        scores, which measures and comparisons are possible or blocked and by what, and
        prints the commands for them. Options that you pass replace guesses. The exit
        code is 0 if something can be computed, 1 if nothing, 2 if the file cannot be
        read.""",
    )
    doctor.set_defaults(prog=prog)
    _add_table(doctor)
    _add_output(doctor, "text", "json")
    demo = make(
        "demo", "[options]", "Compare models by the first 200 patients of a bundled data set."
    )
    demo.set_defaults(prog=prog)
    seeds = _number(int, "a whole number from 0 to 4294967295", lambda value: 0 <= value < 2**32)
    demo.add_argument("--seed", type=seeds, default=0, help="seed of the held-out half (0)")
    demo.add_argument("--plot", metavar="FILE", help="draw the differences")
    return parser


def _add_table(parser: ArgumentParser) -> None:
    add = parser.add_argument_group("input: a table").add_argument
    column: dict[str, Any] = {"metavar": "COLUMN"}
    several: dict[str, Any] = {"nargs": "+", "action": "extend"}
    add(
        "file", nargs="?", metavar="FILE", help="CSV, TSV or Parquet; - is CSV from standard input"
    )
    add("--label", **column, help=f"labels or grades ({', '.join(LABELS[:-1])} or {LABELS[-1]})")
    add("--score", **column, **several, help="scores (score, y_score, score_...)")
    add("--qid", **column, help="query of each row (qid, if there is such a column)")
    add("--one-list", action="store_true", help="all rows are one list, even with a column qid")
    add("--groups", **column, help="user of each row; rows of one may depend on each other")
    add("--pos-label", metavar="LABEL", help="the positive class (1 of 0 and 1, or -1 and 1)")
    text = "the negative classes, where more than one value is left"
    add("--neg-label", metavar="LABEL", **several, help=text)
    text = "marks of missing cells besides empty ones, NA, N/A, NULL, None, NaN, \\N, ? and ."
    add("--missing", metavar="TEXT", **several, help=text)
    add("--delimiter", metavar="CHAR", help="separator (a comma; in .tsv files a tab)")
    add = parser.add_argument_group(
        "labels known in part",
        "Missing labels are not known, and the limits allow for them. One of the first\n"
        "five options says which rows have labels:",
    ).add_argument
    first = _number(int, "a whole number from 1 on", lambda value: value >= 1)
    text = "the first K by the scores of --champion, and --audit random ones of the others"
    add("--review-top", metavar="K", type=first, help=text)
    add("--strata", **column, help="those of a stratum are a random sample of its rows")
    add("--inclusion-probability", **column, help="probability of each row to be labelled")
    text = "others than these, such as the first ones of several scores: the rest is not known"
    add("--pool", action="store_true", help=text)
    add("--random-labels", action="store_true", help="they are a random sample of all rows")
    add("--champion", **column, help="scores that --review-top goes by")
    drawn = _number(int, "a whole number from 0 on", lambda value: value >= 0)
    add("--audit", metavar="N", type=drawn, help="number of random ones below the first K (none)")
    most = _number(float, "a number from 0 on", lambda value: 0 <= value < inf)
    text = "with no label below: how frequent positives are there at most, relative to the cut"
    add("--most-below", metavar="FACTOR", type=most, help=text)
    add("--proxy", **column, help="predicted probabilities of the missing labels")


def _add_measured(parser: ArgumentParser) -> Callable[..., Any]:
    """Add what evaluate and compare share; the function that adds more measures' options."""
    _add_table(parser)
    several: dict[str, Any] = {"nargs": "+", "action": "extend"}
    add = parser.add_argument_group("input: files of TREC").add_argument
    add("--run", metavar="FILE", **several, help="runs: query Q0 document rank score tag")
    add("--qrels", metavar="FILE", help="judgments: query iteration document relevance")
    text = "judged queries that a run lacks count 0, as with trec_eval -c"
    add("--complete", action="store_true", help=text)
    _add_output(parser, "text", "csv", "json").add_argument(
        "--plot", metavar="FILE", help="draw the intervals, in the format of the end of the name"
    )
    add = parser.add_argument_group("measures").add_argument
    text = "such as auc, ap, ndcg@10, precision@top0.05, 'ap(rel>=2)'"
    add("--measure", metavar="NAME", **several, help=text)
    add("--list-measures", action="store_true", help="print all names and stop")
    systems = "trec_eval", "catboost", "gdeval", "letor", "lightgbm", "ranx", "sklearn", "xgboost"
    text = f"as this system does: {', '.join(systems)} (none; for runs trec_eval)"
    add("--convention", choices=("none", *systems), metavar="SYSTEM", help=text)
    level = _number(float, "a number between 0 and 1", lambda value: 0 < value < 1)
    add("--level", type=level, default=0.95, help="level of the intervals (0.95)")
    add("--seed", type=int, default=0, help="seed of methods that draw (0)")
    return add


def _add_output(parser: ArgumentParser, *formats: str) -> Any:
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=formats, default="text")
    group.add_argument("--output", "-o", metavar="FILE", help="where to write (standard output)")
    return group


def _number(kind: type[int] | type[float], what: str, fits: Callable[..., bool]) -> Any:
    """Make the type of an argument that is a number of some range."""

    def read(text: str) -> float:
        with suppress(ValueError):
            if fits(value := kind(text)):
                return value
        raise ArgumentTypeError(f"{text!r} is not {what}")

    return read
