"""Scores of two classes of any number, made block by block, in files that all peers can read."""

from pathlib import Path

import numpy as np

BLOCK = 1_000_000  # rows made at once, from a seed of their own
ROW_GROUP = 250_000  # of a Parquet file: engines read these side by side
KINDS = ("float64", "float32", "rounded")
SHIFT = 1.5  # of the positives: an AUC of .856


def block(number, rows, prevalence, kind):
    """Labels (int8) and scores of one block: two normal classes, one standard deviation each."""
    rng = np.random.default_rng([2026, number])
    y = (rng.random(rows) < prevalence).astype(np.int8)
    score = rng.standard_normal(rows) + SHIFT * y
    if kind == "rounded":
        score = np.round(score, 4)
    return y, score.astype("float32" if kind == "float32" else "float64", copy=False)


def blocks(n, prevalence, kind):
    """All blocks of n rows."""
    for number, start in enumerate(range(0, n, BLOCK)):
        yield block(number, min(BLOCK, n - start), prevalence, kind)


def parquet_file(folder, n, prevalence, kind):
    """Write a Parquet file of the columns ``y`` and ``s``, unless it is there; return its path."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(folder, f"scores_{n}_{prevalence:g}_{kind}.parquet")
    if path.exists():
        return path
    schema = pa.schema(
        [("y", pa.int8()), ("s", pa.float32() if kind == "float32" else pa.float64())]
    )
    unfinished = path.with_suffix(".unfinished")
    with pq.ParquetWriter(unfinished, schema, use_dictionary=["y"]) as writer:
        for y, s in blocks(n, prevalence, kind):
            writer.write_table(pa.table({"y": y, "s": s}, schema), row_group_size=ROW_GROUP)
    unfinished.rename(path)
    return path


def flat_files(folder, n, prevalence, kind):
    """Write labels and scores as two ``.npy`` files to be mapped; return their paths."""
    paths = [Path(folder, f"{part}_{n}_{prevalence:g}_{kind}.npy") for part in ("y", "s")]
    if all(path.exists() for path in paths):
        return paths
    types = np.int8, "float32" if kind == "float32" else "float64"
    maps = [
        np.lib.format.open_memmap(path.with_suffix(".unfinished"), "w+", dtype, (n,))
        for path, dtype in zip(paths, types, strict=True)
    ]
    for number, arrays in enumerate(blocks(n, prevalence, kind)):
        for mapped, values in zip(maps, arrays, strict=True):
            mapped[number * BLOCK : number * BLOCK + len(values)] = values
    for mapped, path in zip(maps, paths, strict=True):
        mapped.flush()
        path.with_suffix(".unfinished").rename(path)
    return paths
