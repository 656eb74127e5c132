"""Loader of LETOR, MSLR and svmlight files, and their conversion to Parquet."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from .._optional import import_optional, import_pandas
from .._order import changes
from .._typing import AnyArray, IntArray
from .._validation import check_flag, check_whole
from .._warn import warn
from ._svmlight import (
    Block,
    ZeroBased,
    are_integers,
    check_format,
    ids_from,
    name_of,
    numbered_lines,
    read_blocks,
)


def load_letor(
    path: Any,
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    sparse: bool = False,
    comments: bool = False,
    n_features: int | None = None,
    zero_based: ZeroBased = "auto",
    dtype: Any = np.float64,
) -> Any:
    """Load ranking data in the svmlight format of LETOR and MSLR.

    Each line is one item: ``grade qid:ID index:value index:value ... # comment``. Features that
    are not listed are 0.

    Parameters
    ----------
    path : str, path-like, binary stream, iterable or mapping
        The data to read, which also sets the form of the result:

        - a file, or an iterable of files whose rows are concatenated: one data set;
        - a folder with files train, vali and test (``train.txt``, ``vali.txt``, ``test.txt``;
          any of them may be absent): ``bunch.train``, ``bunch.vali``, ``bunch.test``;
        - a folder of such folders Fold1, Fold2, ...: ``bunch.Fold1.train`` and so on;
        - a mapping from names to any of these: ``bunch[name]``.

        Names that end in ``.gz`` or ``.bz2`` are decompressed.
    return_X_y : bool, default=False
        If True, each data set is the tuple ``(data, target, qid)`` instead of a Bunch.
    as_frame : bool, default=False
        If True, `data` is a pandas DataFrame, `target` and `qid` are Series. Needs pandas.
    sparse : bool, default=False
        If True, `data` is a CSR matrix without explicit zeros, otherwise it is dense.
    comments : bool, default=False
        Whether to keep the text after the ``#`` of each line, which names the document in LETOR.
    n_features : int or None, default=None
        Number of features. None means the highest index in any of the files.
    zero_based : bool or "auto", default="auto"
        Whether feature indices start at 0, or at 1 as in LETOR. "auto" means 1 unless one of the
        files uses the index 0.
    dtype : dtype, default=np.float64
        Type of `data`, float64 or float32.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        A data set has the fields below. For folders and mappings the Bunch holds one data set for
        each part, all with the same features.

        data : ndarray, CSR matrix or DataFrame of shape (n_samples, n_features)
            The features; NaN where the file has NULL.
        target : ndarray or Series of shape (n_samples,)
            The relevance grades, float64.
        qid : ndarray or Series of shape (n_samples,)
            Query id of each row, in the order of the file; int64 if all ids are integers, else
            str.
        feature_names : list of str or None
            ``"feature_1"`` and so on, by the index in the file. None without `as_frame` for more
            than a million features, such as hashed ones.
        frame : DataFrame or None
            With `as_frame` the features, ``target``, ``qid`` and, if kept, ``comment``.
        comments : ndarray of str objects of shape (n_samples,)
            Comments of the rows; only with ``comments=True``.

    Raises
    ------
    ValueError
        If a line does not have the expected format or a number is not finite (the message names
        file and line), a file has no rows, a folder has no data files, or `n_features` is below an
        index.
    TypeError
        If `path` has the wrong type, a stream is in text mode, or `n_features` is not an integer.
    OSError
        If a file cannot be read.
    ImportError
        If `as_frame` and pandas is not installed.

    Warns
    -----
    UserWarning
        If concatenated files share a query id; their rows are then one query.

    See Also
    --------
    sklearn.datasets.load_svmlight_file : One file, sparse, without names and comments; it takes
        quadratic time for ``query_id=True``.
    make_subset_ranking : Generates queries with a known optimal order.

    Notes
    -----
    NULL, which the raw files of LETOR 3 and 4 use for a missing value, becomes NaN. The rankers do
    not accept NaN, so impute it first; LETOR's own "MIN" version uses the smallest value of the
    feature in the query. Rows keep the order of the files, and the rows of a query need not be
    consecutive. "auto" is wrong for files with indices from 0 that never use the index 0: pass
    `zero_based` if it is known. Load all parts of a data set in one call, so that they have the
    same features.

    The cost is O(size of the files) time, mostly in scikit-learn's parser: two to three million
    values per second on one core. Peak memory is the size of the result plus about ten thousand
    rows, 40 MB for 136 features. The 1.2 million rows of MSLR-WEB10K, of 136 features, take one to
    two minutes and 1.3 GB as float64; its five folds hold each row five times, so load a fold at a
    time, with ``n_features=136``.

    References
    ----------
    .. [1] Qin, Liu, Xu & Li (2010), *LETOR: A benchmark collection for research on learning to
       rank for information retrieval*, Information Retrieval 13.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sklearn_rank.datasets import load_letor
    >>> train = b"2 qid:10 1:0.5 2:1 # docid = a\\n0 qid:10 1:0.1 # docid = b\\n"
    >>> bunch = load_letor(BytesIO(train), comments=True)
    >>> bunch.data
    array([[0.5, 1. ],
           [0.1, 0. ]])
    >>> bunch.target, bunch.qid, bunch.comments[0]
    (array([2., 0.]), array([10, 10]), 'docid = a')

    All parts have the same features; with ``return_X_y=True`` they are tuples:

    >>> test = b"1 qid:11 3:NULL\\n"
    >>> parts = load_letor(
    ...     {"train": BytesIO(train), "test": BytesIO(test)}, return_X_y=True
    ... )
    >>> X, y, qid = parts.test
    >>> X
    array([[ 0.,  0., nan]])
    """
    check_flag("return_X_y", return_X_y)
    check_flag("as_frame", as_frame)
    check_flag("sparse", sparse)
    check_flag("comments", comments)
    check_format(zero_based, dtype)
    if n_features is not None:
        check_whole("n_features", n_features, optional=True)
    if as_frame and sparse:
        raise ValueError("as_frame=True and sparse=True exclude each other: choose one.")
    if return_X_y and comments:
        raise ValueError("comments=True is not supported with return_X_y=True: choose one.")
    pd = import_pandas("load_letor(as_frame=True)") if as_frame else None
    files = _find_files(path)
    queries: dict[bytes, int] = {}
    options = {"sparse": sparse, "zero_based": zero_based, "comments": comments, "dtype": dtype}
    tables = _map_data_sets(
        files, lambda data_set, *_: [_read_table(file, queries, **options) for file in data_set]
    )
    ids = ids_from(list(queries))
    all_tables = []
    for _, data_set in _data_sets(tables):
        all_tables += data_set
        file_of: dict[int, str] = {}
        for table in data_set:
            shared = next((query for query in np.unique(table.query) if query in file_of), None)
            if shared is not None:
                warn(
                    f"The query id {ids[shared]!s} occurs in {file_of[shared]} and in"
                    f" {table.name}: their rows are treated as one query; if they are different"
                    " queries, pass a mapping from names to files.",
                    UserWarning,
                )
                break
            file_of.update(dict.fromkeys(np.unique(table.query).tolist(), table.name))
    lowest = [b.lowest for table in all_tables for b in table.blocks if b.lowest is not None]
    widths = [max(block.X.shape[1] for block in table.blocks) for table in all_tables]
    widest = all_tables[widths.index(max(widths))].name
    columns = _Columns.of(min(lowest, default=0), max(widths), widest, n_features, zero_based)
    names = columns.names if as_frame or columns.n_features <= MOST_NAMES else None

    def join(tables: list[_Table], *_: str) -> Any:
        blocks = [block for table in tables for block in table.blocks]
        target: Any = np.concatenate([block.target for block in blocks])
        qid: Any = ids[np.concatenate([table.query for table in tables])]
        texts = np.array([text for block in blocks for text in block.comments], dtype=object)
        for table in tables:
            table.blocks.clear()
        join_blocks = _join_sparse if sparse else _join_dense
        data = join_blocks(blocks, len(target), columns.n_features, columns.shift, dtype)
        frame = None
        if pd is not None:
            data = pd.DataFrame(data, columns=names, copy=False)
            frame = data.assign(target=target, qid=qid)
            if comments:
                frame = frame.assign(comment=texts)
            target, qid = frame["target"], frame["qid"]
        if return_X_y:
            return data, target, qid
        bunch = Bunch(
            data=data, target=target, qid=qid, feature_names=names and list(names), frame=frame
        )
        if comments:
            bunch.comments = texts
        return bunch

    return _map_data_sets(tables, join)


# Names of features take more memory than most rows of hashed features.
MOST_NAMES = 1_000_000


class _Table(NamedTuple):
    """Content of one file, with the features in blocks of rows."""

    name: str
    query: IntArray  # (n_rows,): Number of the query of each row
    blocks: list[Block]


def _read_table(source: Any, queries: dict[bytes, int], **options: Any) -> _Table:
    blocks = list(read_blocks(source, queries, **options))
    name = name_of(source)
    if not blocks:
        raise ValueError(f"{name} has no rows: remove it or check that it is the right file.")
    return _Table(name, np.concatenate([block.query for block in blocks]), blocks)


def _find_files(path: Any) -> Any:
    """Lists of the files of data sets, by name where there are several."""
    if isinstance(path, Mapping):
        if not path:
            raise ValueError("path is an empty mapping: name at least one file.")
        return {str(name): _find_files(inner) for name, inner in path.items()}
    if hasattr(path, "read"):
        return [path]
    if isinstance(path, str | os.PathLike):
        return _find_in_folder(Path(path)) if os.path.isdir(path) else [Path(path)]
    if not isinstance(path, Iterable) or isinstance(path, bytes | bytearray):
        raise TypeError(
            f"path is of type {type(path).__name__}, but must be a file, a folder, an iterable of"
            " files, or a mapping from names to these; wrap bytes in io.BytesIO."
        )
    files = list(path)
    if not files:
        raise ValueError("path is empty: pass at least one file.")
    for position, file in enumerate(files):
        if not hasattr(file, "read") and (
            not isinstance(file, str | os.PathLike) or os.path.isdir(file)
        ):
            raise TypeError(
                f"path[{position}] is {file!r}, which is not a file: only rows of files are"
                " concatenated; for folders pass a mapping from names to folders."
            )
    return [file if hasattr(file, "read") else Path(file) for file in files]


def _find_in_folder(folder: Path) -> dict[str, Any]:
    is_fold: Any = re.compile(r"fold[ _-]?(\d+)", re.IGNORECASE).fullmatch
    is_part: Any = re.compile(
        r"(?P<part>train|vali|test)((?<=vali)d(ation)?)?(ing)?(set)?"
        r"(\.(txt|dat|svm|svmlight|libsvm|letor))?(\.(gz|bz2))?",
        re.IGNORECASE,
    ).fullmatch
    found: dict[Any, Path] = {}  # numbers of folds, names of parts
    for entry in sorted(folder.iterdir()):
        fold, part = is_fold(entry.name), is_part(entry.name)
        if not (fold and entry.is_dir()) and not (part and entry.is_file()):
            continue
        key = int(fold[1]) if fold else part["part"].lower()
        if key in found:
            raise ValueError(
                f"{folder} has {found[key].name} and {entry.name}, which have the same role:"
                " remove one, or pass a mapping from names to files."
            )
        found[key] = entry
    parts = [part for part in ("train", "vali", "test") if part in found]
    folds = sorted(set(found) - set(parts))
    if folds and parts:
        raise ValueError(
            f"{folder} has both {found[folds[0]].name} and {found[parts[0]].name}: pass one."
        )
    if not found:
        raise ValueError(
            f"{folder} has neither folders Fold1, Fold2, ... nor files train.txt, vali.txt,"
            " test.txt: pass the files themselves, or a mapping from names to them."
        )
    if folds:
        return {f"Fold{number}": _find_in_folder(found[number]) for number in folds}
    return {part: [found[part]] for part in parts}


def _data_sets(tree: Any, *names: str) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """The data sets of a tree of dicts, each after the names that lead to it."""
    if isinstance(tree, dict):
        for name, inner in tree.items():
            yield from _data_sets(inner, *names, name)
    else:
        yield names, tree


def _map_data_sets(tree: Any, function: Callable[..., Any], *names: str) -> Any:
    """Apply a function to each data set and its names in a tree."""
    if not isinstance(tree, dict):
        return function(tree, *names)
    return Bunch(**{name: _map_data_sets(tree[name], function, *names, name) for name in tree})


def _join_dense(blocks: list[Block], n: int, n_features: int, shift: int, dtype: Any) -> Any:
    data = np.zeros((n, n_features), dtype=dtype)
    end = n
    while blocks:
        # Each block is freed when it is copied.
        X = blocks.pop().X[:, shift:]
        data[end - len(X) : end, : X.shape[1]] = X
        end -= len(X)
    return data


def _join_sparse(blocks: list[Block], n: int, n_features: int, shift: int, dtype: Any) -> Any:
    kind = type(blocks[0].X)
    size = sum(block.X.nnz for block in blocks)
    index = np.int32 if max(size, n_features) <= np.iinfo(np.int32).max else np.int64
    values, indices = np.empty(size, dtype=dtype), np.empty(size, dtype=index)
    ends = np.zeros(n + 1, dtype=index)
    row = n
    while blocks:
        X = blocks.pop().X
        size -= X.nnz
        row -= X.shape[0]
        values[size : size + X.nnz] = X.data
        indices[size : size + X.nnz] = X.indices
        ends[row + 1 : row + 1 + X.shape[0]] = size + X.indptr[1:]
    indices -= shift
    return kind((values, indices, ends), shape=(n, n_features))


# Rows of a row group, unless one query has more.
GROUP_ROWS = 65536


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
    "target", "qid" and, if kept, "comment". Files and row groups keep queries whole, so each
    partition of ``dask.dataframe.read_parquet`` holds whole queries.

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
    >>> import pyarrow.parquet as pq
    >>> from sklearn_rank.datasets import letor_to_parquet
    >>> folder = Path(tempfile.mkdtemp())
    >>> text = "2 qid:10 1:0.5 2:1\\n0 qid:10 1:0.1\\n1 qid:11 2:3\\n"
    >>> _ = (folder / "train.txt").write_text(text)
    >>> written = letor_to_parquet(folder / "train.txt", folder / "train")
    >>> [file.name for file in written.iterdir()]
    ['part-00000.parquet']
    >>> pq.read_table(written).column_names
    ['feature_1', 'feature_2', 'target', 'qid']
    """
    import_optional("pyarrow", "letor_to_parquet")
    check_flag("comments", comments)
    rows_per_file = check_whole("rows_per_file", rows_per_file)
    files = _find_files(path)
    paths = [file for _, data_set in _data_sets(files) for file in data_set]
    if any(hasattr(file, "read") for file in paths):
        raise TypeError("path contains streams, but the text is read twice: pass names of files.")
    folder = Path(folder).absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} exists and is not empty: pass another, or remove it.")
    if not folder.parent.is_dir():
        raise FileNotFoundError(f"{folder.parent} is not a folder: create it first.")
    check_format(zero_based, dtype)
    columns = _scan(paths, n_features, zero_based)
    # It takes its name when it is complete.
    partial = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.partial")
    try:
        partial.mkdir()
        for names, data_set in _data_sets(files):
            for name in names:
                if name.startswith(".") or Path(name).name != name:
                    raise ValueError(
                        f"path has the part {name!r}, which is not a valid folder name: rename it."
                    )
            part = partial.joinpath(*names)
            part.mkdir(parents=True, exist_ok=True)
            blocks = _read_rows(data_set, columns, zero_based, dtype, comments)
            groups = _in_groups(blocks, min(GROUP_ROWS, rows_per_file))
            _write_groups(groups, part, columns.names, rows_per_file)
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
    return _map_data_sets(files, lambda _, *names: folder.joinpath(*names))


class _Columns(NamedTuple):
    """Columns of all files."""

    first: int  # Index of the first feature
    n_features: int
    shift: int  # Number of columns of the parser before it
    integers: bool = True  # Whether all ids are integers

    @classmethod
    def of(
        cls, lowest: int, width: int, widest: Any, n_features: int | None, zero_based: ZeroBased
    ) -> _Columns:
        """Columns of files of this lowest index and number of parsed columns."""
        first = int(zero_based is False or (zero_based == "auto" and lowest > 0))
        # With zero_based=False the parser moves the columns.
        shift = 0 if zero_based is False else first
        n_present = width - shift
        n_features = n_present if n_features is None else check_whole("n_features", n_features)
        if n_features < n_present:
            raise ValueError(
                f"n_features={n_features} is less than the {n_present} features of {widest}:"
                " raise it or leave it out."
            )
        if not n_features:
            raise ValueError(f"{widest} has no features: pass n_features if this is intended.")
        return cls(first, n_features, shift)

    @property
    def names(self) -> list[str]:
        return [f"feature_{self.first + index}" for index in range(self.n_features)]


def _scan(paths: list[Path], n_features: int | None, zero_based: ZeroBased) -> _Columns:
    ids: set[bytes] = set()
    lowest, highest, widest = np.iinfo(np.int64).max, 0, paths[0]
    for path in paths:
        for _, line in numbered_lines(path):
            entries = line.partition(b"#")[0].split(None, 2)
            if len(entries) > 1:
                ids.add(entries[1][4:])
            if len(entries) < 3:
                continue
            low = entries[2].partition(b":")[0]
            high = entries[2].rpartition(b":")[0].rsplit(None, 1)[-1:]
            if low.isdigit() and high and high[0].isdigit():
                lowest = min(lowest, int(low))
                if int(high[0]) > highest:
                    highest, widest = int(high[0]), path
    width = highest + 1 - (zero_based is False)
    columns = _Columns.of(lowest, width, widest, n_features, zero_based)
    return columns._replace(integers=are_integers(ids))


def _read_rows(
    paths: list[Path], columns: _Columns, zero_based: ZeroBased, dtype: Any, comments: bool
) -> Iterator[dict[str, AnyArray]]:
    """Columns of some rows, one file after the other."""
    options: Any = {"zero_based": zero_based, "comments": comments, "dtype": np.dtype(dtype)}
    last: tuple[Path, Any] | None = None
    for path in paths:
        queries: dict[bytes, int] = {}
        for block in read_blocks(path, queries, sparse=False, **options):
            width = max(block.X.shape[1] - columns.shift, 0)
            if width > columns.n_features:
                raise ValueError(f"{path} has changed since it was first read: more features.")
            qid = ids_from(list(queries), columns.integers)[block.query]
            queries.clear()
            if last is not None and last[0] != path and last[1] == qid[0]:
                warn(
                    f"The query id {qid[0]!s} is the last of {last[0]} and the first of {path}:"
                    " their rows are treated as one query; if they are different queries, pass a"
                    " mapping from names to files.",
                    UserWarning,
                )
            last = path, qid[-1]
            X = np.zeros((len(qid), columns.n_features), dtype=dtype)
            X[:, :width] = block.X[:, columns.shift :]
            texts = {"comment": np.array(block.comments, dtype=object)} if comments else {}
            yield {"X": X, "target": block.target, "qid": qid, **texts}
    if last is None:
        raise ValueError(f"{paths[0]} has no rows: check that it is the right file.")


def _in_groups(blocks: Iterator[dict[str, AnyArray]], most: int) -> Iterator[dict[str, AnyArray]]:
    """Columns of rows of whole queries, `most` at most unless one query has more."""
    seen: set[Any] = set()
    rows: dict[str, AnyArray] = {}
    for block in blocks:
        rows = {
            name: np.concatenate((rows[name], block[name])) if rows else block[name]
            for name in block
        }
        while len(rows["qid"]) > most:
            begins = np.flatnonzero(changes(rows["qid"]))[1:]
            if not len(begins):
                break
            end = int(begins[max(int(np.sum(begins <= most)) - 1, 0)])
            yield _check_new({name: column[:end] for name, column in rows.items()}, seen)
            rows = {name: column[end:] for name, column in rows.items()}
    yield _check_new(rows, seen)


def _check_new(rows: dict[str, AnyArray], seen: set[Any]) -> dict[str, AnyArray]:
    qid = rows["qid"]
    for query in qid[changes(qid)].tolist():
        if query in seen:
            raise ValueError(
                f"The rows of the query {query!s} are not consecutive, but Parquet files must hold"
                " whole queries: sort the lines by query; if different queries have the same id,"
                " pass a mapping from names to files."
            )
        seen.add(query)
    return rows


def _write_groups(
    groups: Iterator[dict[str, AnyArray]], folder: Path, names: list[str], rows_per_file: int
) -> None:
    pa = import_optional("pyarrow", "letor_to_parquet")
    written = number = 0
    with ExitStack() as stack:
        writer: Any = None
        for rows in groups:
            X, n_rows = rows.pop("X"), len(rows["qid"])
            columns = {name: np.ascontiguousarray(X[:, i]) for i, name in enumerate(names)}
            table = pa.table(columns | rows)
            if writer is None or written + n_rows > rows_per_file:
                stack.close()
                file = folder / f"part-{number:05d}.parquet"
                writer = stack.enter_context(_open_parquet(file, table.schema))
                written, number = 0, number + 1
            writer.write_table(table, row_group_size=n_rows)
            written += n_rows


@contextmanager
def _open_parquet(file: Path, schema: Any) -> Iterator[Any]:
    pa = import_optional("pyarrow", "letor_to_parquet")
    parquet = import_optional("pyarrow.parquet", "letor_to_parquet")
    with pa.OSFile(str(file), "wb") as sink:
        writer = parquet.ParquetWriter(sink, schema, write_page_checksum=True)
        try:
            yield writer
            writer.close()
        finally:
            # Otherwise its destructor closes a failed writer again.
            writer.is_open = False
