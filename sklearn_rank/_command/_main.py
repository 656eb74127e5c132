"""The program: it reads its arguments, runs a subcommand and reports errors."""

from __future__ import annotations

import os
import sys
import warnings
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress

from ._errors import CommandError
from ._options import make_parser

MODULE = "python -m sklearn_rank"
SCRIPT = "sklearn-rank"

# The exit code of shells after an interrupt from the keyboard.
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None, *, as_module: bool = False) -> int:
    """Run the program."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = make_parser(MODULE if as_module else SCRIPT)
    if as_module and (not given or _is_option_of_demo(given[0])):
        given = ["demo", *given]
    options = parser.parse_args(given)
    if options.command is None:
        parser.print_help()
        return 0
    title = f"{parser.prog} {options.command}"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _run(options)
            sys.stdout.flush()
            code = 0
        except CommandError as error:
            sys.stderr.write(f"{title}: error: {error}\n")
            code = 2
        except BrokenPipeError:
            code = _after_closed_pipe()
        except KeyboardInterrupt:
            code = INTERRUPTED
    _report(title, caught)
    return code


def _is_option_of_demo(argument: str) -> bool:
    return argument.startswith("-") and argument not in ("-h", "--help", "--version")


def _run(options: Namespace) -> None:
    # Each subcommand is imported when it runs, so that the help starts at once.
    if options.command == "demo":
        from ._demo import run_demo

        run_demo(options)
    elif options.command == "evaluate":
        from ._evaluate import run_evaluate

        run_evaluate(options)
    else:
        from ._evaluate import run_compare

        run_compare(options)


def _after_closed_pipe() -> int:
    """Stop quietly where the reader of the output has gone, as ``head`` does."""
    with suppress(OSError, ValueError):
        # Else the interpreter complains when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _report(title: str, caught: Sequence[warnings.WarningMessage]) -> None:
    """Write each warning once; undefined queries stand in the results."""
    told = dict.fromkeys(
        str(one.message) for one in caught if one.category.__name__ != "UndefinedMetricWarning"
    )
    for message in told:
        sys.stderr.write(f"{title}: warning: {message}\n")
