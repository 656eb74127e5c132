"""``doctor``: what a file of predictions holds, what can be computed, and by which command."""

from __future__ import annotations

import os
import shlex
import warnings
from argparse import ArgumentParser, Namespace
from math import isnan

from .._printed import fixed
from ._evaluate import Result, compare_rankings, evaluate, notes_of
from ._examined import Examined, option, rows
from ._output import LABELS, CommandError, as_json, listed, sentences, write
from ._rankings import is_usual_score, read_rankings


def run_doctor(options: Namespace, parser: ArgumentParser) -> int:
    """Examine the file and write the report. The exit code, 0 if something can be computed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        doctor = Doctor(options, parser)
    doctor.blocked += [
        str(warning.message)
        for warning in caught
        if warning.category.__name__ != "UndefinedMetricWarning"
    ]
    write(doctor.as_json() if options.format == "json" else doctor.as_text(), options.output)
    return 0 if doctor.commands else 1


class Doctor:
    """What is found out about a file."""

    def __init__(self, options: Namespace, parser: ArgumentParser) -> None:
        self.options, self.parser = options, parser
        self.table = Examined(options)
        self.blocked = self.table.blocked
        self.can: list[str] = []
        self.commands: list[str] = []
        if self.table.label is not None and self.table.usable:
            self._ask(self.table.label.name, list(self.table.usable))

    def _ask(self, label: str, names: list[str]) -> None:
        """Ask the package what can be computed, and write the commands."""
        table, path = self.table, self.options.file
        arguments = [path if not path.startswith("-") else os.path.join(".", path)]
        if table.delimiter is not None:
            mark = "tab" if table.delimiter == "\t" else table.delimiter
            arguments.append(option("delimiter", mark))
        if [name for name in table.header if name in LABELS] != [label]:
            arguments.append(option("label", label))
        if list(filter(is_usual_score, table.header)) != names:
            arguments += [option("score", name) for name in names]
        arguments += table.arguments
        groups = [option("groups", table.groups.name)] if table.groups else []
        try:
            results = self._evaluate([*arguments, *groups])
            if groups and not any(result.method for result in results):
                without = self._evaluate(arguments)
                if any(result.method for result in without):
                    why = next((result.note for result in results), "")
                    self.table.say("groups", f"Not used, for {why}.")
                    results, groups = without, []
            arguments += groups
        except CommandError as error:
            self.blocked.append(f"{error}.")
            return
        self._summarise(results)
        if all(isnan(result.value) for result in results):
            return
        self.commands.append(self._command("evaluate", arguments))
        for name in names:
            self._direction(name)
        if len(names) > 1:
            options = self.parser.parse_args(["compare", *arguments])
            title = self.rankings.usual_measures[0]
            comparison, notes = compare_rankings(self.rankings, title, options)
            if comparison is None:
                self.blocked += notes
            else:
                self.can.append(f"{title}: comparison of {listed(names)}.")
                self.commands.append(self._command("compare", arguments))

    def _command(self, name: str, arguments: list[str]) -> str:
        return f"{self.options.prog} {shlex.join([name, *arguments])}"

    def _evaluate(self, arguments: list[str]) -> list[Result]:
        self.asked = self.parser.parse_args(["evaluate", *arguments])
        self.rankings = read_rankings(self.asked)
        return [
            self._result(name, title)
            for title in self.rankings.usual_measures
            for name in self.rankings.names
        ]

    def _result(self, name: str, title: str) -> Result:
        return evaluate(self.rankings, name, title, self.rankings.measure(title), self.asked)

    def _summarise(self, results: list[Result]) -> None:
        """Say what has a value and an interval, and what not, and why."""
        can: dict[str, list[str]] = {}
        notes: dict[str, list[str]] = {}
        for title in self.rankings.usual_measures:
            of_measure = [result for result in results if result.measure == title]
            for note in notes_of(of_measure, self.rankings.measure(title)):
                rest = note.removeprefix(title)
                notes.setdefault(rest, []).append("" if rest == note else title)
            alone = [r for r in of_measure if not r.method and not isnan(r.value)]
            estimated = [r for r in of_measure if r.method]
            for what, found in (("value and interval", estimated), ("value only", alone)):
                if found:
                    scores = listed([result.score for result in found])
                    can.setdefault(f"of {scores}: {what}.", []).append(title)
        self.can += [f"{', '.join(titles)} {rest}" for rest, titles in can.items()]
        self.blocked += [", ".join(titles) + rest for rest, titles in notes.items()]

    def _direction(self, name: str) -> None:
        """Say whether a score orders the rows the wrong way, perfectly, or not surely at all."""
        title, chance = ("auc", 0.5) if self.rankings.are_classes else ("tau_b", 0.0)
        result = self._result(name, title)
        limits = f"{title} {fixed(result.value)}, 95 % interval"
        limits += f" [{fixed(result.low)}, {fixed(result.high)}]"
        if result.value == 1.0 and result.low > chance:
            self.table.say("score", f"{name}: {title} is 1, no error at all: a leak of the label?")
        elif result.high < chance:
            other = ", or the positive class is another" * self.table.guessed_positive
            text = f"below {chance:g}, the value of a random order: it looks reversed{other}"
            self.table.say("score", f"{name}: {limits}, is {text}.")
        elif result.low <= chance <= result.high:
            text = f"holds {chance:g}: the rows do not show that it orders better than chance"
            self.table.say("score", f"{name}: {limits}, {text}.")

    def _sections(self) -> dict[str, list[str]]:
        sections = {
            "Found": [text for texts in self.table.findings.values() for text in texts],
            "Can be computed": self.can,
            "Blocked or limited": self.blocked,
            "Commands": self.commands,
        }
        return {title: list(dict.fromkeys(lines)) for title, lines in sections.items() if lines}

    def as_text(self) -> str:
        columns = rows(len(self.table.header), "column")
        text = f"{os.path.basename(self.options.file)}: {rows(self.table.n)}, {columns}\n"
        for title, lines in self._sections().items():
            whole = "".join(f"\n{line}" for line in lines) + "\n"  # to be copied
            text += f"\n{title}{whole if title == 'Commands' else sentences(lines)}"
        return text

    def as_json(self) -> str:
        table, sections = self.table, self._sections()
        return as_json(
            {
                "command": "doctor",
                "input": {
                    "file": self.options.file,
                    "rows": table.n,
                    "columns": table.header,
                    "label": table.label and table.label.name,
                    "scores": [facts.name for facts in table.scores],
                    "qid": table.qid and table.qid.name,
                    "groups": table.groups and table.groups.name,
                },
                "found": sections.get("Found", []),
                "computable": sections.get("Can be computed", []),
                "blocked": sections.get("Blocked or limited", []),
                "commands": self.commands,
            }
        )
