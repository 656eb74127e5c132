"""Conversion of ranking files to Parquet, with whole queries in each file and row group."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from .._arguments import check_flag, check_whole
from .._batch_files import SvmlightBatches
from .._letor_lines import ZeroBased
from .._optional import import_optional
from .._typing import AnyArray, IntArray
from .._warn import warn
from ._letor import files_of, leaves

__all__ = ["letor_to_parquet"]

# Rows of a row group, unless one query has more: the default batch of RowBatches.from_parquet.
GROUP_ROWS = 65536

# Rows that are parsed at once.
READ_ROWS = 8192

USED_BY = "letor_to_parquet"


def letor_to_parquet(
    path: Any,
    folder: Any,
    *,
    n_features: int | None = None,
    zero_based: ZeroBased = "auto",
    comments: bool = False,
    dtype: Any = np.float32,
    rows_per_file: int = 4 * GROUP_ROWS,
) -> Any:
    """Convert LETOR and MSLR files to Parquet, which loads much faster.

    The columns are those of ``load_letor(path, as_frame=True).frame``: "feature_1" and so on,
    "target", "qid" and, if kept, "comment". Files and row groups keep queries whole, so each batch
    of :meth:`RowBatches.from_parquet`, and each partition of ``dask.dataframe.read_parquet``,
    holds whole queries.

    Parameters
    ----------
    path : str, path-like, iterable of these or mapping
        The data to read, as in :func:`~sklearn_rank.datasets.load_letor`; streams are not
        supported.
    folder : str or path-like
        Output folder, which must not exist or be empty. It appears only after all files are
        written.
    n_features : int or None, default=None
        Number of features. None means the highest index in any of the files.
    zero_based : bool or "auto", default="auto"
        Whether feature indices start at 0. "auto" means 1 unless one of the files uses the index
        0.
    comments : bool, default=False
        Whether to keep the text after the ``#`` of each line, as a string column.
    dtype : dtype, default=np.float32
        Type of the features, float32 or float64.
    rows_per_file : int, default=262144
        Largest number of rows of a file, unless one query has more.

    Returns
    -------
    folder : Path or Bunch
        The output folder. For folders and mappings of parts, a Bunch with the folder of each part,
        such as ``bunch.train``.

    Raises
    ------
    ValueError
        If a line does not have the expected format, or the rows of a query are not consecutive.
    FileExistsError
        If the folder exists and is not empty.
    OSError
        If a file cannot be read or written, as on a full disk.
    ImportError
        If pyarrow is not installed.

    Warns
    -----
    UserWarning
        If the last query of one file continues in the next.

    See Also
    --------
    RowBatches.from_parquet : Reads Parquet files with one batch in memory at a time.
    load_letor : Loads the same data into memory.

    Notes
    -----
    All features are stored, including zeros; the compression of Parquet keeps them small. With
    ``dtype=np.float32`` the values equal those of ``load_letor(dtype=np.float32)``.

    The text is read twice, first for the number of features and the type of the ids, then for the
    values, at the rate of scikit-learn's parser, two to three million values per second. Peak
    memory is that of three row groups and of the query ids, for any size of the files.

    The files are first written to a hidden folder beside `folder` whose name ends in ``.partial``.
    It is renamed to `folder` at the end and removed after an error or an interrupt. If the process
    is killed, it may remain and can be deleted.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn_rank.datasets import RowBatches, letor_to_parquet
    >>> folder = Path(tempfile.mkdtemp())
    >>> text = "2 qid:10 1:0.5 2:1\\n0 qid:10 1:0.1\\n1 qid:11 2:3\\n"
    >>> _ = (folder / "train.txt").write_text(text)
    >>> written = letor_to_parquet(folder / "train.txt", folder / "train")
    >>> [file.name for file in written.iterdir()]
    ['part-00000.parquet']
    >>> rows = RowBatches.from_parquet(written, label="target", qid="qid")
    >>> rows
    RowBatches(3 rows in 1 batches, 2 features, float32, qid)
    >>> rows.feature_names
    array(['feature_1', 'feature_2'], dtype=object)
    """
    import_optional("pyarrow", USED_BY)
    check_flag("comments", comments)
    rows_per_file = check_whole("rows_per_file", rows_per_file)
    files = files_of(path)
    paths = [file for joined in leaves(files) for file in joined]
    if any(hasattr(file, "read") for file in paths):
        raise TypeError("path contains streams, but the text is read twice: pass names of files.")
    folder = Path(folder).absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(
            f"{folder} exists and is not empty: pass another folder, or remove it."
        )
    if not folder.parent.is_dir():
        raise FileNotFoundError(f"{folder.parent} is not a folder: create it first.")
    layout = SvmlightBatches.of(paths, n_features, zero_based, False, dtype, READ_ROWS)
    with _appears_whole(folder) as partial:
        for names, joined in _parts(files):
            part = partial.joinpath(*names)
            part.mkdir(parents=True, exist_ok=True)
            groups = _groups(layout.of_files(joined), comments, min(GROUP_ROWS, rows_per_file))
            _write(groups, part, layout, rows_per_file)
    return _by_name(files, folder)


@contextmanager
def _appears_whole(folder: Path) -> Iterator[Path]:
    """Give a folder to write to, which takes its name at the end, or is removed."""
    partial = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.partial")
    try:
        partial.mkdir()
        yield partial
        if folder.exists():
            folder.rmdir()
        partial.rename(folder)
    except OSError as error:
        raise OSError(
            f"{folder} could not be written, and was removed ({error}): if the disk is full, free"
            " space or pass another folder."
        ) from error
    finally:
        # After success no folder has this name.
        shutil.rmtree(partial, ignore_errors=True)


def _parts(files: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Data sets and the names of the folders that they go to."""
    if not isinstance(files, dict):
        yield names, files
        return
    for name, inner in files.items():
        if name.startswith(".") or Path(name).name != name:
            raise ValueError(
                f"path has the part {name!r}, which is not a valid folder name: rename it."
            )
        yield from _parts(inner, (*names, name))


def _by_name(files: Any, folder: Path) -> Any:
    if not isinstance(files, dict):
        return folder
    return Bunch(**{name: _by_name(inner, folder / name) for name, inner in files.items()})


class _Rows(NamedTuple):
    """Rows that follow each other, the comments None where they are not kept."""

    X: Any
    target: Any
    qid: Any
    comments: Any

    def then(self, other: _Rows) -> _Rows:
        pairs = zip(self, other, strict=True)
        return _Rows(*(None if pair[0] is None else np.concatenate(pair) for pair in pairs))

    def cut(self, rows: slice) -> _Rows:
        return _Rows(*(None if column is None else column[rows] for column in self))

    def begins(self) -> IntArray:
        """Rows at which a query begins, the first one not among them."""
        return np.flatnonzero(self.qid[1:] != self.qid[:-1]) + 1


def _groups(source: SvmlightBatches, comments: bool, most: int) -> Iterator[_Rows]:
    """Rows of whole queries, `most` at most unless one query has more."""
    seen: set[Any] = set()
    rest: _Rows | None = None
    for rows in _read(source, comments):
        rest = rows if rest is None else rest.then(rows)
        while len(rest.qid) > most:
            begins = rest.begins()
            if not len(begins):
                break
            end = int(begins[max(int(np.sum(begins <= most)) - 1, 0)])
            yield _new_queries(rest.cut(slice(end)), seen)
            rest = rest.cut(slice(end, None))
    if rest is None:
        raise ValueError(f"{source.paths[0]} has no rows: check that it is the right file.")
    yield _new_queries(rest, seen)


def _read(source: SvmlightBatches, comments: bool) -> Iterator[_Rows]:
    last: tuple[Any, Any] | None = None
    for batch in source.batches(comments):
        path, qid = batch["path"], batch["qid"]
        if last is not None and last[0] != path and last[1] == qid[0]:
            warn(
                f"The query id {qid[0]!s} is the last of {last[0]} and the first of {path}: their"
                " rows are treated as one query; if they are different queries, pass a mapping"
                " from names to files.",
                UserWarning,
            )
        last = path, qid[-1]
        kept = np.array(batch["comments"], dtype=object) if comments else None
        yield _Rows(batch["X"], batch["y"], qid, kept)


def _new_queries(rows: _Rows, seen: set[Any]) -> _Rows:
    for query in rows.qid[np.r_[0, rows.begins()]].tolist():
        if query in seen:
            raise ValueError(
                f"The rows of the query {query!s} are not consecutive, but Parquet files must hold"
                " whole queries: sort the lines by query; if different queries have the same id,"
                " pass a mapping from names to files."
            )
        seen.add(query)
    return rows


def _write(
    groups: Iterator[_Rows], folder: Path, layout: SvmlightBatches, rows_per_file: int
) -> None:
    """Write groups of rows, each as a row group."""
    pa = import_optional("pyarrow", USED_BY)
    written = number = 0
    with ExitStack() as stack:
        writer: Any = None
        for rows in groups:
            table = pa.table(_columns(rows, layout.feature_names))
            n_rows = len(rows.qid)
            if writer is None or written + n_rows > rows_per_file:
                stack.close()
                file = folder / f"part-{number:05d}.parquet"
                writer = stack.enter_context(_new_file(file, table.schema))
                written, number = 0, number + 1
            writer.write_table(table, row_group_size=n_rows)
            written += n_rows


@contextmanager
def _new_file(file: Path, schema: Any) -> Iterator[Any]:
    pa, parquet = import_optional("pyarrow", USED_BY), import_optional("pyarrow.parquet", USED_BY)
    with pa.OSFile(str(file), "wb") as sink:
        writer = parquet.ParquetWriter(sink, schema, write_page_checksum=True)
        try:
            yield writer
            writer.close()
        finally:
            # Else it would close again what has failed, when it is deleted.
            writer.is_open = False


def _columns(rows: _Rows, names: list[str]) -> dict[str, AnyArray]:
    columns = {name: np.ascontiguousarray(rows.X[:, i]) for i, name in enumerate(names)}
    columns |= {"target": rows.target, "qid": rows.qid}
    return columns if rows.comments is None else columns | {"comment": rows.comments}
