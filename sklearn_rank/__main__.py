"""``python -m sklearn_rank`` is the command line; without a subcommand it runs the demo."""

import sys

from ._command import main

if __name__ == "__main__":
    sys.exit(main(as_module=True))
