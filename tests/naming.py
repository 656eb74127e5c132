"""Cases of tests: all in one test, or with names that are the same in every process."""

import re
from functools import wraps


def shown(value):
    """The value as text, without the address of a function in memory."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


def for_each(names, cases):
    """Runs a test for each case, as one test: an error names its case.

    For the same few lines over a catalogue. `pytest.mark.parametrize` starts as many tests,
    which takes longer than most of them, and gives each fixtures of its own.
    """
    names, cases = [names] if isinstance(names, str) else [*names], [*cases]

    def decorate(test):
        @wraps(test)
        def of_all():
            for case in cases:
                try:
                    test(**dict(zip(names, [case] if len(names) == 1 else case, strict=True)))
                except BaseException as error:
                    error.add_note(f"{', '.join(names)}: {shown(case)[:500]}")
                    raise

        del of_all.__wrapped__  # whose arguments pytest would look for as fixtures
        return of_all

    return decorate
