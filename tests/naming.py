"""Names of test cases that are the same in every process, as tests that run side by side need."""

import re


def shown(value):
    """The value as text, without the address of a function in memory."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))
