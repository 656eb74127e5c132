"""One version of the package: prepares cases and calls them when it is told to.

Reads a request a line from standard input, and answers each with a line of JSON. Times are CPU
seconds of the process: with one thread they are the time of a call but for what it has to wait.
"""

import gc
import json
import os
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import numpy as np
from cases import find_case
from measuring import release_memory, resident_memory


class Worker:
    """The imported package and the case at hand.

    Parameters
    ----------
    package : module
        The version that is measured.
    """

    def __init__(self, package):
        self.package = package
        self.call = None

    def prepare(self, group, name, values):
        """Make a case, call it twice, and store its numbers in a file.

        The first call, whatever it compiles, is timed apart; the memory is that of the second.
        """
        self.call = None
        self.call = find_case(group, name).make(self.package)
        gc.collect()
        start = time.process_time()
        found = self.call()
        first = time.process_time() - start
        np.save(values, numbers(found))
        del found
        before = release_memory()
        self.call()
        memory = float("nan") if before is None else resident_memory("VmHWM") - before
        return {"first": first, "memory_mb": max(memory, 0) / 1e6}

    def time(self, calls):
        """CPU seconds of one of several calls in a row, garbage collected before them."""
        gc.collect()
        start = time.process_time()
        for _ in range(calls):
            self.call()
        return {"seconds": (time.process_time() - start) / calls}

    def drop(self):
        """Forget the case."""
        self.call = None
        gc.collect()
        return {}

    def first_and_tenth(self, group, name):
        """CPU seconds of the first and of the tenth call of a case."""
        call = find_case(group, name).make(self.package)
        seconds = []
        for _ in range(10):
            start = time.process_time()
            call()
            seconds.append(time.process_time() - start)
        return {"first": seconds[0], "tenth": seconds[-1]}


def numbers(found):
    """What a call returned, as one array in 64 bits."""
    if isinstance(found, tuple):
        return np.concatenate([numbers(part) for part in found])
    return np.asarray(found, dtype=np.float64).ravel()


def main():
    """Import the package, say which, and answer."""
    # Whatever is printed by a case must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    start = time.process_time()
    import sklearn_rank

    imported = time.process_time() - start
    worker = Worker(sklearn_rank)
    answer = {"path": sklearn_rank.__file__, "imported": imported}
    print(json.dumps(answer), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(worker, request.pop("do"))(**request)
        except Exception as error:
            answer = {"problem": f"{type(error).__name__}: {error}".splitlines()[0][:120]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
