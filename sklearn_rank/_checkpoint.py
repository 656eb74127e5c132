"""Checkpoint files of a fit, from which an interrupted fit continues."""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from importlib.metadata import version
from io import BytesIO
from numbers import Integral, Real
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import scipy.sparse as sp

from ._typing import AnyArray
from ._version import __version__
from ._warn import warn
from .exceptions import CheckpointWarning

# Libraries on whose versions the bits of results depend.
LIBRARIES = ("numba", "numpy", "scipy")

# Bytes of an array that are copied at a time.
COPIED_BYTES = 2**24

# Under this name a file says which problem it belongs to.
PROBLEM = "problem"

# What reading a file raises that was cut off or written over.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, NotImplementedError)


def fingerprint(kind: str, *parts: Any) -> str:
    """Name a problem, such that another problem, or another version, has another name."""
    digest = blake2b(digest_size=16)
    versions = {library: version(library) for library in LIBRARIES}
    for piece in _pieces(({"sklearn-rank": __version__} | versions, kind, *parts)):
        digest.update(piece)
    return f"{kind}-{digest.hexdigest()}"


def _pieces(part: Any) -> Iterator[bytes]:
    """Bytes that no other part has."""
    if isinstance(part, np.generic):
        part = part.item()
    if part is None or isinstance(part, bool | str | bytes | Integral | Real):
        # Numbers that are equal and of two types are two parts: they may compute other bits.
        value = repr(part).encode()
        yield f"{type(part).__name__} {len(value)} ".encode()
        yield value
    elif isinstance(part, np.ndarray) and part.dtype.kind in "biufcmMSU":
        yield f"array {part.dtype.str} {part.shape} ".encode()
        # In the order of C, a few rows at a time.
        rows = np.atleast_1d(part)
        step = max(1, COPIED_BYTES * len(rows) // max(1, rows.nbytes))
        for start in range(0, len(rows), step):
            yield rows[start : start + step].tobytes()
    elif sp.issparse(part):
        matrix = sp.csr_array(part)
        yield b"sparse "
        yield from _pieces((matrix.shape, matrix.data, matrix.indices, matrix.indptr))
    elif isinstance(part, Mapping):
        yield f"mapping {len(part)} ".encode()
        for key in sorted(part):
            yield from _pieces(key)
            yield from _pieces(part[key])
    elif isinstance(part, list | tuple):
        yield f"sequence {len(part)} ".encode()
        for item in part:
            yield from _pieces(item)
    else:
        kind = f"dtype {part.dtype}" if isinstance(part, np.ndarray) else type(part).__name__
        raise TypeError(f"A checkpoint cannot identify a problem by a value of {kind}.")


class Checkpoint:
    """Named sets of arrays in a folder, all of one problem."""

    def __init__(self, path: str | os.PathLike[str], fingerprint: str) -> None:
        self.folder = Path(path) / fingerprint
        # A folder that cannot be written to is found before the work, not after it.
        self.save("opened")

    def load(
        self, name: str, like: Mapping[str, tuple[str, tuple[int, ...]]] | None = None
    ) -> dict[str, AnyArray] | None:
        """Read arrays; None where none were saved or the file is damaged."""
        file = self._file(name)
        try:
            with np.load(BytesIO(file.read_bytes()), allow_pickle=False) as saved:
                arrays = dict(saved)
                problem = str(arrays.pop(PROBLEM))
            floats = [array for array in arrays.values() if array.dtype.kind == "f"]
            if any(np.isnan(array).any() for array in floats):
                raise ValueError("not a number")
            if like is not None:
                types = {key: (array.dtype.kind, array.shape) for key, array in arrays.items()}
                if types != like or not all(np.isfinite(array).all() for array in floats):
                    raise ValueError("other arrays")
        except FileNotFoundError:
            return None
        except DAMAGED:
            warn(
                f"The file {str(file)!r} is damaged: its content is computed again.",
                CheckpointWarning,
            )
            return None
        if problem != self.folder.name:
            raise ValueError(
                f"The file {str(file)!r} belongs to another problem, {problem!r}: delete the"
                f" folder {str(self.folder)!r}, or pass another checkpoint."
            )
        return arrays

    def save(self, name: str, **arrays: Any) -> None:
        """Write arrays, in place of those of the same name."""
        buffer = BytesIO()
        arrays[PROBLEM] = self.folder.name
        np.savez(buffer, **arrays)
        file = self._file(name)
        try:
            try:
                self._write(file, buffer.getbuffer())
            except FileNotFoundError:  # whoever solved the same problem first cleared the folder
                self._write(file, buffer.getbuffer())
        except OSError as error:
            raise OSError(
                error.errno,
                f"The checkpoint cannot be written ({error.strerror}). What was saved is kept: fix"
                " this and fit again to continue, or pass another folder",
                str(self.folder),
            ) from error

    def clear(self) -> None:
        """Delete the files of the problem, and its folder, but not the folder of all problems.

        What cannot be deleted stays, for the next fit to the same problem.
        """
        with suppress(OSError):
            for file in (*self.folder.glob("*.npz"), *self.folder.glob("*.part")):
                file.unlink(missing_ok=True)
            self.folder.rmdir()

    def _file(self, name: str) -> Path:
        if not re.fullmatch("[a-z0-9-]+", name):
            raise ValueError(f"name={name!r} must contain only a-z, 0-9 and hyphens.")
        return self.folder / f"{name}.npz"

    def _write(self, file: Path, content: memoryview) -> None:
        """Give a file its content at once, or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f"{uuid4().hex}.part"
        try:
            with part.open("xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            part.replace(file)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise


class Checkpoints:
    """The checkpoints of one fit, which may solve several problems."""

    def __init__(self, path: str | os.PathLike[str], kind: str) -> None:
        self._path, self._kind = path, kind
        self.opened: list[Checkpoint] = []

    def of(self, *parts: Any) -> Checkpoint:
        """Open the checkpoint of a problem."""
        checkpoint = Checkpoint(self._path, fingerprint(self._kind, *parts))
        self.opened.append(checkpoint)
        return checkpoint


@contextmanager
def cleared_on_success(
    path: str | os.PathLike[str] | None, kind: str
) -> Iterator[Checkpoints | None]:
    """Keep the checkpoints of a fit until it has succeeded."""
    checkpoints = None if path is None else Checkpoints(path, kind)
    yield checkpoints
    for checkpoint in checkpoints.opened if checkpoints is not None else ():
        checkpoint.clear()
