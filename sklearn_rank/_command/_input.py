"""Which of the two kinds of input the options name."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from ._errors import CommandError
from ._rankings import Rankings
from ._run_rankings import RunRankings
from ._table_rankings import TableRankings

__all__ = ["read_rankings"]


def read_rankings(options: Namespace) -> Rankings:
    """Read the files of the command line. What was read."""
    if options.run is None and options.qrels is None:
        if options.file is None:
            raise CommandError(
                "there is no input: pass FILE before the options, or --run RUN --qrels QRELS"
            )
        _refuse(options, ("complete",), "for --run and --qrels")
        return TableRankings(options)
    if options.run is None or options.qrels is None:
        raise CommandError("--run and --qrels go together: pass both")
    if options.file is not None:
        raise CommandError(f"pass FILE ({options.file}) or --run and --qrels, not both")
    table = ("label", "score", "qid", "one_list", "groups", "pos_label", "delimiter")
    _refuse(options, table, "for a table")
    return RunRankings(options)


def _refuse(options: Namespace, names: Sequence[str], meant: str) -> None:
    for name in names:
        if getattr(options, name):
            raise CommandError(f"--{name.replace('_', '-')} is {meant}: leave it out")
