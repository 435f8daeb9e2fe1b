"""The time of reading against that of polars: `make bench-reading`.

Files: `read_table`, from the file to a table that is checked and ready to be searched, against
polars. `polars` reads the file as a frame; an Arrow file is only mapped by it, no value is read.
`matrix` also puts the features of that frame into one array by columns, as a search needs them.

Arrays: `read_table((X, y))` against one copy of `X` as float64 by columns, which is the least that
must be done (`/ copy`); and that, with the engine's data set made of the table, against the copy
with the data set (`both / both`).

All times are milliseconds of CPU, over all threads, the least of several rounds; in each round each
contestant runs once, so that a busy machine slows all of them. Printed as Markdown. The aim is a
ratio of at most 1.5.

    python benches/reading.py --rounds 5 --shapes 100x100000,1000000x20 --formats csv,parquet
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from swarmrs import read_table
from swarmrs.data._dataset import dataset_of

SHAPES = "100x100000,200x20000,1000000x20,20000x300"
READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    "csv": pl.read_csv,
    "parquet": pl.read_parquet,
    "arrow": pl.read_ipc,
}
LAYOUTS: dict[str, tuple[Any, Any]] = {
    "float64, by rows": (np.float64, "C"),
    "float64, by columns": (np.float64, "F"),
    "float32, by rows": (np.float32, "C"),
}
TARGET = "class"


def _samples(rows: int, width: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, width)), rng.integers(0, 3, rows)


def _write(folder: Path, rows: int, width: int, formats: Sequence[str]) -> list[Path]:
    X, y = _samples(rows, width)
    names = [f"x{index}" for index in range(width)]
    frame = pl.from_numpy(X, schema=names, orient="row").with_columns(pl.Series(TARGET, y))
    writers: dict[str, Callable[[Path], object]] = {
        "csv": frame.write_csv,
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
    }
    paths = [folder / f"{rows}x{width}.{kind}" for kind in formats]
    for kind, path in zip(formats, paths, strict=True):
        writers[kind](path)
    return paths


def _least(rounds: int, calls: Sequence[Callable[[], object]]) -> list[float]:
    """Return the least CPU milliseconds of each call, after a round that is not counted."""
    times = []
    for _ in range(rounds + 1):
        times.append([_milliseconds(call) for call in calls])
    return [min(column) for column in zip(*times[1:], strict=True)]


def _milliseconds(call: Callable[[], object]) -> float:
    gc.collect()
    started = time.process_time()
    found = call()
    elapsed = time.process_time() - started
    del found  # What is built is freed outside of the time.
    return elapsed * 1e3


def _file_row(path: Path, rounds: int) -> str:
    read = READERS[path.suffix[1:]]

    def matrix() -> object:
        frame = read(path)
        frame.drop_in_place(TARGET)
        return frame, frame.to_numpy(order="fortran")

    frame, filled, table = _least(
        rounds, [lambda: read(path), matrix, lambda: read_table(path, TARGET)]
    )
    return (
        f"| {path.stem.replace('x', ' x ')} | {path.suffix[1:]} | {frame:.0f} | {filled:.0f} | "
        f"{table:.0f} | {table / frame:.2f} | {table / filled:.2f} |"
    )


def _array_row(rows: int, width: int, layout: str, rounds: int) -> str:
    dtype, order = LAYOUTS[layout]
    X, y = _samples(rows, width)
    X = X.astype(dtype, order=order)
    ready = read_table((X, y))
    copy, table, data = _least(
        rounds,
        [
            lambda: np.array(X, dtype=np.float64, order="F"),
            lambda: read_table((X, y)),
            lambda: dataset_of(ready),
        ],
    )
    return (
        f"| {rows} x {width} | {layout} | {copy:.0f} | {table:.0f} | {data:.0f} | "
        f"{table / copy:.2f} | {(table + data) / (copy + data):.2f} |"
    )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--formats", default=",".join(READERS))
    options = parser.parse_args()
    shapes = [tuple(map(int, shape.split("x"))) for shape in options.shapes.split(",")]
    print("| rows x features | file | polars | matrix | read_table | / polars | / matrix |")
    print("| --- | --- | --: | --: | --: | --: | --: |")
    for rows, width in shapes:
        with tempfile.TemporaryDirectory() as folder:
            for path in _write(Path(folder), rows, width, options.formats.split(",")):
                print(_file_row(path, options.rounds), flush=True)
    print("\n| rows x features | array | copy | read_table | data set | / copy | both / both |")
    print("| --- | --- | --: | --: | --: | --: | --: |")
    for rows, width in shapes:
        for layout in LAYOUTS:
            print(_array_row(rows, width, layout, options.rounds), flush=True)


if __name__ == "__main__":
    main()
