"""Distribution of independent parts of a problem over joblib workers."""

from __future__ import annotations

import pickle
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from .._typing import AnyArray, IntArray

__all__ = ["SentOnce", "Stop", "in_blocks"]

Done = TypeVar("Done")

# Addresses of arrays are multiples of this many bytes.
ALIGNED = 16

# Blocks for each worker that are handed at a time to a backend that returns all of them at once.
BLOCKS_AT_ONCE = 4


class SentOnce:
    """What all blocks need, large enough that no backend should send it with each of them.

    The arrays in it, if they are large, joblib writes once to a file in memory that its processes
    map. What it sends to dask's workers goes once to each, if its size says that it is large.
    """

    def __sizeof__(self) -> int:
        """Bytes that are sent, those of the arrays among them."""
        rest, arrays = _taken_apart(self)
        return len(rest) + sum(array.nbytes for array in arrays)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what was sent, as aligned in memory as it was, or sums would be of other bits."""
        rest, arrays = _taken_apart(state)
        if any(array.ctypes.data % ALIGNED for array in arrays if array.size):
            state = pickle.loads(rest, buffers=[array.copy() for array in arrays])
        vars(self).update(state)


def _taken_apart(value: Any) -> tuple[bytes, list[AnyArray]]:
    """Pickle without the contents of arrays, and these as bytes, not copied."""
    buffers: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return rest, [np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers]


class Stop:
    """Asks the threads of this process to give up; sent to another process, it never does."""

    def __init__(self) -> None:
        self._asked = threading.Event()

    def ask(self) -> None:
        """Ask."""
        self._asked.set()

    def __call__(self) -> bool:
        """Whether it was asked."""
        return self._asked.is_set()

    def __reduce__(self) -> tuple[Any, ...]:
        return Stop, ()


@contextmanager
def in_blocks(
    function: Callable[[Any, IntArray], Done],
    work: SentOnce,
    blocks: Sequence[IntArray],
    *,
    n_jobs: int | None,
    stop: Stop | None = None,
) -> Iterator[Iterator[Done]]:
    """Call a function for each block, by the joblib backend that is active, else by threads."""
    done = _called(function, work, blocks, effective_n_jobs(n_jobs))
    try:
        yield done
        for _ in done:  # to its end, where joblib gives back what it used
            pass
    except BaseException:
        if stop is not None:
            stop.ask()
        with warnings.catch_warnings():
            # joblib would warn of blocks that nobody took.
            warnings.simplefilter("ignore", UserWarning)
            done.close()
        raise


def _called(
    function: Callable[[Any, IntArray], Done],
    work: SentOnce,
    blocks: Sequence[IntArray],
    n_jobs: int,
) -> Generator[Done, None, None]:
    backend, _ = get_active_backend(prefer="threads")
    if backend.supports_return_generator:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        yield from parallel(delayed(function)(work, block) for block in blocks)
        return
    step = BLOCKS_AT_ONCE * n_jobs
    with Parallel(n_jobs=n_jobs, prefer="threads") as parallel:
        for first in range(0, len(blocks), step):
            some = blocks[first : first + step]
            yield from parallel(delayed(function)(work, block) for block in some)
