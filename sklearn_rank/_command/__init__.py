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
            sys.stdout.flush()
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


def _run(options: Namespace) -> int:
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
    parser = ArgumentParser(
        prog=prog,
        description="Score rankings, compare rankers, and know how far to trust the numbers.",
        epilog=f"Documentation: {DOCS}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"sklearn-rank {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    def add(name: str, usage: str, summary: str, examples: str = "") -> ArgumentParser:
        return commands.add_parser(
            name,
            help=summary[0].lower() + summary[1:].rstrip("."),
            description=summary,
            epilog=dedent(examples).format(prog=prog),
            usage=f"{prog} {name} {usage}",
            formatter_class=RawDescriptionHelpFormatter,
        )

    def add_measured(name: str, summary: str, examples: str) -> tuple[ArgumentParser, Any]:
        runs = f"{prog} {name} --run RUN [RUN ...] --qrels QRELS [options]"
        command = add(name, f"FILE [options]\n       {runs}", summary, examples)
        _add_table(command)
        _add_runs(command)
        return command, _add_measures(command)

    summary = "Measure the rankings of a file, with intervals."
    examples = """\
        examples:
          {prog} evaluate predictions.csv --label clicked --score new old
          {prog} evaluate ranked.csv --label grade --score new --qid query \\
              --measure ndcg@10 'ap(rel>=1)' --format json
          {prog} evaluate --run system.run --qrels judgments.qrels \\
              --measure ndcg@10 ap

        The file has one row for each item and the names of its columns in the first
        line. Higher scores are nearer to the top. Files .gz and .bz2 are decompressed.

        Without --measure the measures are
          one list, two classes   auc ap precision@top0.1
          one list, grades        spearman tau_b
          queries, two classes    ndcg@10 ap rr
          queries, grades         ndcg@10 ndcg
          runs                    ndcg@10 ap rr"""
    evaluate, measures = add_measured("evaluate", summary, examples)
    measures.add_argument(
        "--method",
        default="auto",
        help="how intervals are made: auto; t, bootstrap or bca for queries; for one list a"
        " method of the measure (default auto)",
    )
    measures.add_argument(
        "--resamples",
        type=_number(int, "a whole number from 99 on", lambda value: value >= 99),
        default=10_000,
        metavar="N",
        help="bootstrap samples (default 10000)",
    )
    _add_level_and_output(evaluate, measures)

    summary = "Test whether one ranker is better than another."
    examples = """\
        examples:
          {prog} compare predictions.csv --label clicked --score new old
          {prog} compare predictions.csv --label clicked --score new old \\
              --measure auc --baseline old --margin 0.02
          {prog} compare --run system.run other.run --qrels judgments.qrels \\
              --measure ap

        Each difference has an interval and a p-value, both adjusted for the number of
        comparisons. Without --baseline all pairs are compared. Without --measure it is
        auc for one list of two classes, spearman for one list of grades, and ndcg@10
        for queries and runs."""
    compare, measures = add_measured("compare", summary, examples)
    measures.add_argument(
        "--baseline", metavar="NAME", help="the score or run that each other one is compared with"
    )
    measures.add_argument(
        "--margin",
        type=_number(float, "a number above 0", lambda value: 0 < value < inf),
        help="largest difference that does not matter, in units of the measure",
    )
    measures.add_argument(
        "--alternative",
        choices=("two-sided", "less", "greater", "non-inferior", "equivalent"),
        help="what is to be shown (default two-sided, with --margin non-inferior)",
    )
    measures.add_argument(
        "--method",
        choices=("auto", "randomization", "t", "wilcoxon", "swap"),
        default="auto",
        help="test: auto; randomization, t or wilcoxon for queries; swap for one list",
    )
    _add_level_and_output(compare, measures)

    doctor = add(
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
    output = doctor.add_argument_group("output")
    output.add_argument("--format", choices=("text", "json"), default="text")
    _add_output(output)

    demo = add(
        "demo", "[options]", "Compare models by the first 200 patients of a bundled data set."
    )
    demo.set_defaults(prog=prog)
    demo.add_argument(
        "--seed",
        type=_number(int, "a whole number from 0 to 4294967295", lambda value: 0 <= value < 2**32),
        default=0,
        help="seed of the held-out half (default 0)",
    )
    demo.add_argument(
        "--picture",
        default="sklearn_rank_top_of_the_list.png",
        metavar="FILE",
        help="where to save it (default %(default)s)",
    )
    return parser


def _add_table(parser: ArgumentParser) -> None:
    table = parser.add_argument_group("input: a table")
    table.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="CSV, TSV or Parquet file; - is CSV from standard input",
    )
    table.add_argument(
        "--label",
        metavar="COLUMN",
        help=f"labels or grades (default: the column {', '.join(LABELS[:-1])} or {LABELS[-1]})",
    )
    table.add_argument(
        "--score",
        metavar="COLUMN",
        nargs="+",
        action="extend",
        help="scores (default: the columns score and y_score, and those that begin with score_)",
    )
    table.add_argument(
        "--qid",
        metavar="COLUMN",
        help="query of each row (default: the column qid, if there is one)",
    )
    table.add_argument(
        "--one-list", action="store_true", help="all rows are one list, even with a column qid"
    )
    table.add_argument(
        "--groups",
        metavar="COLUMN",
        help="group of each row, such as its user; rows of one group may depend on each other",
    )
    table.add_argument(
        "--pos-label",
        metavar="LABEL",
        help="the positive class (default 1 of 0 and 1, or -1 and 1)",
    )
    table.add_argument(
        "--delimiter", metavar="CHAR", help="separator (default: a comma, in .tsv files a tab)"
    )
    part = parser.add_argument_group(
        "labels known in part",
        "Labels in empty cells are not known. The limits are for the list with all\n"
        "labels. One of the first four options says which rows have labels:",
    )
    part.add_argument(
        "--review-top",
        metavar="K",
        type=_number(int, "a whole number from 1 on", lambda value: value >= 1),
        help="the first K by the scores of --champion, and random ones of the others, or none",
    )
    part.add_argument(
        "--strata", metavar="COLUMN", help="those of each stratum are a random sample of its rows"
    )
    part.add_argument(
        "--inclusion-probability",
        metavar="COLUMN",
        help="each row had this probability to be labelled",
    )
    part.add_argument(
        "--random-labels", action="store_true", help="they are a random sample of all rows"
    )
    part.add_argument("--champion", metavar="COLUMN", help="scores that --review-top goes by")
    part.add_argument(
        "--audit",
        metavar="N",
        type=_number(int, "a whole number from 0 on", lambda value: value >= 0),
        help="how many random ones --review-top has below the first K, as a check",
    )
    part.add_argument(
        "--most-below",
        metavar="FACTOR",
        type=_number(float, "a number from 0 on", lambda value: 0 <= value < inf),
        help="where none of the others has a label: how frequent positives are there at most,"
        " relative to the last reviewed rows (default: no limit)",
    )
    part.add_argument(
        "--proxy", metavar="COLUMN", help="predicted probabilities of the missing labels"
    )


def _add_runs(parser: ArgumentParser) -> None:
    runs = parser.add_argument_group("input: files of TREC")
    runs.add_argument(
        "--run",
        metavar="FILE",
        nargs="+",
        action="extend",
        help="runs: query Q0 document rank score tag",
    )
    runs.add_argument(
        "--qrels", metavar="FILE", help="judgments: query iteration document relevance"
    )
    runs.add_argument(
        "--complete",
        action="store_true",
        help="judged queries that a run lacks count 0, as with trec_eval -c",
    )


def _add_measures(parser: ArgumentParser) -> Any:
    group = parser.add_argument_group("measures")
    group.add_argument(
        "--measure",
        metavar="NAME",
        nargs="+",
        action="extend",
        help="such as auc, ap, ndcg@10, precision@top0.05, 'ap(rel>=2)'",
    )
    group.add_argument("--list-measures", action="store_true", help="print all names and stop")
    systems = "trec_eval", "catboost", "gdeval", "letor", "lightgbm", "ranx", "sklearn", "xgboost"
    group.add_argument(
        "--convention",
        choices=("none", *systems),
        metavar="SYSTEM",
        help=f"compute measures as this system does: {', '.join(systems)}; default none,"
        " for runs trec_eval",
    )
    return group


def _add_level_and_output(parser: ArgumentParser, measures: Any) -> None:
    measures.add_argument(
        "--level",
        type=_number(float, "a number between 0 and 1", lambda value: 0 < value < 1),
        default=0.95,
        help="level of the intervals (default 0.95)",
    )
    measures.add_argument(
        "--seed", type=int, default=0, help="seed of methods that draw (default 0)"
    )
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=("text", "csv", "json"), default="text")
    _add_output(output)
    output.add_argument(
        "--plot",
        metavar="FILE",
        help="draw the intervals; the end of the name, such as .png or .svg, is the format",
    )


def _add_output(group: Any) -> None:
    group.add_argument(
        "--output", "-o", metavar="FILE", help="where to write (default: standard output)"
    )


def _number(
    kind: type[int] | type[float], what: str, fits: Callable[[float], bool]
) -> Callable[[str], float]:
    """Make the type of an argument that is a number of some range."""

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not fits(value):
            raise ArgumentTypeError(f"{text!r} is not {what}")
        return value

    return read
