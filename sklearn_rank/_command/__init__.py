"""The command line, ``sklearn-rank`` or ``python -m sklearn_rank``.

This module imports nothing heavy, so that the help comes fast.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import warnings
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from textwrap import dedent
from typing import Any

from .._version import __version__
from ._output import DESIGNS, DOCS, CommandError, flag, flags, write

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None, *, as_module: bool = False) -> int:
    """Run the program."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # names that the console cannot show
    first = arguments[0] if arguments else "-"
    if as_module and first.startswith("-") and first not in ("-h", "--help", "--version"):
        arguments = ["demo", *arguments]
    parser = make_parser("python -m sklearn_rank" if as_module else "sklearn-rank")
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
            line = shlex.join([arguments[0], *flags(error.choice), *arguments[1:]])
            again = f", as in {parser.prog} {line}" * bool(error.choice)
            sys.stderr.write(f"{title}: error: {error}{again}\n")
            code = 2
        except BrokenPipeError:
            # Stop quietly where the reader of the output has gone, as ``head`` does.
            with suppress(OSError, ValueError):
                # Else the interpreter complains when it flushes at its end.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 2 if vars(options).get("fail_if") else 0  # An unread gate does not pass
        except KeyboardInterrupt:
            code = 130  # as of shells
    # Queries whose value is set to NaN are left out of what is written.
    messages = [str(w.message).replace("set to nan", "left out") for w in caught]
    messages = [re.sub(r"scores\[(['\"])(.*?)\1\]", r"\2", text) for text in messages]
    messages = [text.replace("negate scores if", "pass --negate if") for text in messages]
    if options.command == "doctor":
        messages = [text for text in messages if TOLD_BY_DOCTOR not in text]
    for message in dict.fromkeys(messages):
        sys.stderr.write(f"{title}: warning: {message}\n")
    return code


def _run(options: Namespace) -> int:
    """Run a subcommand, which is imported now, so that the help starts at once."""
    given = vars(options)
    _place_files(given)
    inputs = [given.get("file"), given.get("qrels"), *given.get("runs", ())]
    for name in ("output", "plot"):
        for path in filter(None, inputs):
            with suppress(OSError):
                if given.get(name) and os.path.samefile(given[name], path):
                    raise CommandError(f"--{name} {path} is the input: give another name")
    if not 0 <= given.get("seed", 0) < 2**32:
        raise CommandError(f"--seed {options.seed} is not a whole number from 0 to 4294967295")
    if given.get("list_measures"):
        from ..metrics import get_measure_names

        write("".join(f"{name}\n" for name in get_measure_names()), options.output)
        return 0
    name = options.command
    module = import_module(f"._{'evaluate' if name == 'compare' else name}", __name__)
    more = [make_parser(options.prog)] * (name == "doctor")
    return getattr(module, f"run_{name}")(options, *more) or 0


def _place_files(given: dict[str, Any]) -> None:
    """Take files for runs if there are judgments, else for the only table."""
    if given.pop("json", False):
        given["format"] = "json"
    runs = given.pop("runs", ())
    if given.get("qrels") and given["file"]:
        given |= {"file": None, "runs": [given["file"], *runs]}
    elif runs:
        files = ", ".join([given["file"], *runs])
        raise CommandError(f"{files} are several files: pass one table, or runs and --qrels QRELS")


@cache
def make_parser(prog: str) -> ArgumentParser:
    style: dict[str, Any] = {"formatter_class": RawDescriptionHelpFormatter}
    about = "Score rankings, compare rankers, and know how far to trust the numbers."
    epilog = f"Documentation: {DOCS}"
    parser = ArgumentParser(prog=prog, description=about, epilog=epilog, **style)
    parser.add_argument("--version", action="version", version=f"sklearn-rank {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (summary, examples, groups) in COMMANDS.items():
        usage = "[options]" if name == "demo" else "FILE [options]"
        if RUNS in groups:
            usage += f"\n       {prog} {name} RUN [RUN ...] --qrels QRELS [options]"
        command = commands.add_parser(
            name,
            help=summary[0].lower() + summary[1:].rstrip("."),
            description=summary,
            epilog=dedent(examples).format(prog=prog),
            usage=f"{prog} {name} {usage}",
            **style,
        )
        command.set_defaults(prog=prog)
        for title, *lines in map(str.splitlines, groups):
            group = command.add_argument_group(title)
            one_of = group.add_mutually_exclusive_group()
            for line in lines:
                _add(group, one_of, line)
    return parser


def _add(group: Any, one_of: Any, line: str) -> None:
    """Add an option as a line of the help describes it."""
    written, text = line.split("  ", 1)
    *names, last = written.split()
    how: dict[str, Any] = {"metavar": last.rstrip("."), "help": text.strip()}
    if last.startswith("-"):
        names, how = [last], {"action": "store_true", "help": how["help"]}
    elif last.endswith("..."):
        how |= {"nargs": "+", "action": "extend"} if names else {"nargs": "*"}
        names = names or ["runs"]
    elif not names:
        names, how["nargs"] = [last.lower()], "?"
    if "|" in last or last in VERDICTS:
        how["choices"] = VERDICTS.get(last, last.split("|"))
    if last in KINDS:
        how["type"] = KINDS[last]
    if default := re.search(r" \(([\w.]+)\)$", text):
        how["default"] = default[1]
    options = one_of if names[0] in ONE_OF else group
    options.add_argument(*names, **how)


TABLE = """\
input: a table
FILE                     CSV, TSV or Parquet; - is CSV from standard input
--label COLUMN           labels or grades (label, y_true, relevance; else guessed)
--score COLUMN...        scores (score, y_score, score_...; else guessed)
--negate COLUMN...       scores of which low values belong at the top
--qid COLUMN             query of each row (qid, if there is such a column)
--one-list               all rows are one list, even with a column qid
--groups COLUMN          user of each row; rows of one may depend on each other
--pos-label LABEL        the positive class (1 of 0 and 1, or -1 and 1)
--neg-label LABEL...     the negative classes, where more than one value is left
--missing TEXT...        marks of missing cells besides NA, N/A, NULL, None, NaN, \\N, ? and .
--delimiter CHAR         separator (a comma; in .tsv files a tab)"""
IN_PART = """\
labels known in part: one of the first six options says which rows have labels
--review-top K           the first K by --champion, and --audit random ones of the others
--strata COLUMN          those of a stratum are a random sample of its rows
--inclusion-probability COLUMN  probability of each row to be labelled
--pool                   others, as the first ones of several scores or runs: the rest is unknown
--random-labels          they are a random sample of all rows
--entered COLUMN         labels come late, until --horizon days after this time
--champion COLUMN        scores that --review-top goes by
--audit N                number of random ones below the first K
--most-below FACTOR      without an audit: how frequent are positives there at most
--proxy COLUMN           predicted probabilities of the missing labels
--resolved COLUMN        time at which the label became known, missing where it is open
--horizon DAYS           an event counts if it came so soon after --entered
--as-of TIME             when we look, or the column until when each row was watched (the last one)
--mature-only            count only rows that were watched for the horizon"""
RUNS = """\
input: runs and judgments, as TREC, BEIR or JSON
RUN...                   runs: query Q0 document rank score tag
--qrels FILE             judgments: query iteration document relevance
--complete               judged queries that a run lacks count 0, as with trec_eval -c
--shared                 judged queries that a run lacks are left out of all runs
--condensed              documents without a judgment are left out, not irrelevant"""
OUTPUT = """\
output
--format text|csv|json|markdown  how the results are written (text)
--json                   the same as --format json
--output -o FILE         where to write (standard output)
--plot FILE              draw the intervals, in the format of the end of the name"""
MEASURES = """\
measures
--measure NAME...        such as auc, ndcg@10, recall@10,25, 'ap(rel>=2)'
--list-measures          print all names and stop
--value AMOUNT...        what a positive and a negative bring, numbers or columns: for profit@50
--convention SYSTEM      as trec_eval, lightgbm, sklearn, ... do (none; for runs trec_eval)
--level LEVEL            level of the intervals (0.95)
--seed SEED              seed of methods that draw (0)
"""
INTERVALS = """\
--method METHOD          t, bootstrap or bca for queries, or one of the measure (auto)
--resamples N            bootstrap samples (10000)"""
TESTS = """\
--baseline NAME          score or run that each other one is compared with
--margin MARGIN          largest difference that does not matter
--fail-if VERDICT...     worse, not-better, inconclusive: exit code 1 if a difference is so
--alternative two-sided|less|greater|non-inferior|equivalent  what is to be shown
--method METHOD          randomization, t or wilcoxon for queries; swap for one list (auto)"""
DEMO = """\
data and picture
--seed SEED              seed of the held-out half (0)
--plot FILE              draw the differences"""

# Types of values; a word in brackets at the end of a line is the default.
KINDS: dict[str, Any] = dict.fromkeys(("K", "N", "SEED"), int)
KINDS |= dict.fromkeys(("DAYS", "FACTOR", "LEVEL", "MARGIN"), float)
TOLD_BY_DOCTOR = "may be reversed: "  # With an interval of the direction
VERDICTS = {"VERDICT...": ["worse", "not-better", "inconclusive"]}
ONE_OF = (
    "--qid",
    "--one-list",
    "--complete",
    "--shared",
    *map(flag, DESIGNS),
)  # Of each group one is given at most
# Summary, examples and groups of options of each subcommand.
COMMANDS = {
    "evaluate": (
        "Measure the rankings of a file, with intervals.",
        """\
        examples:
          {prog} evaluate predictions.csv --label clicked --score new old
          {prog} evaluate ranked.csv --label grade --score new --qid query \\
              --measure ndcg@10 'ap(rel>=1)' --format json
          {prog} evaluate system.run --qrels judgments.qrels \\
              --measure ndcg@10 ap

        The file has one row for each item and the names of its columns in the first
        line. Higher scores are nearer to the top. Files .gz, .bz2, .lz4 and .zst are
        decompressed. Without --measure the measures are auc, ap and precision@top0.1
        for one list of two classes, spearman and tau_b for grades; ndcg@10, ap and rr
        for queries, ndcg@10 and ndcg for queries with grades.""",
        (TABLE, IN_PART, RUNS, OUTPUT, MEASURES + INTERVALS),
    ),
    "compare": (
        "Test whether one ranker is better than another.",
        """\
        examples:
          {prog} compare predictions.csv --label clicked --score new old
          {prog} compare predictions.csv --label clicked --score new old \\
              --measure auc --baseline old --margin 0.02
          {prog} compare system.run other.run --qrels judgments.qrels \\
              --measure ndcg@10 --margin 0.01 --fail-if worse

        Each difference has an interval and a p-value, both adjusted for the number of
        comparisons. Without --baseline all pairs are compared. Without --measure it is
        the first one that evaluate takes. With --margin the test is of non-inferiority.

        With --fail-if the first ranker of a difference, as new of new - old, is better
        than the second, worse, equal within --margin, or it is inconclusive. These
        verdicts hold together at --level, by all measures. The exit code is 1 if one is
        named by --fail-if, else 0, and 2 after an error.""",
        (TABLE, IN_PART, RUNS, OUTPUT, MEASURES + TESTS),
    ),
    "doctor": (
        "Say what is in a file, what can be computed, and by which command.",
        """\
        examples:
          {prog} doctor predictions.csv
          {prog} doctor predictions.csv --label clicked --score new old
          {prog} doctor system.run other.run --qrels judgments.qrels

        It says what each column seems to be, which measures and comparisons are
        possible or blocked and by what, and prints the commands. Options that you pass
        replace guesses. The exit code is 0 if something can be computed, 1 if nothing,
        2 if the file cannot be read.""",
        (
            TABLE,
            IN_PART,
            RUNS,
            OUTPUT.replace("|csv", "").replace("|markdown", "").partition("--plot")[0],
        ),
    ),
    "demo": ("Compare models by the first 200 patients of a bundled data set.", "", (DEMO,)),
}
