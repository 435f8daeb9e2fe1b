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
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from swarmrs import read_table
from swarmrs.data._dataset import dataset_of
from timing import Report, add_store_option, least

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


def _file_row(path: Path, rounds: int) -> list[str]:
    read = READERS[path.suffix[1:]]

    def matrix() -> object:
        frame = read(path)
        frame.drop_in_place(TARGET)
        return frame, frame.to_numpy(order="fortran")

    frame, filled, table = least(
        rounds, [lambda: read(path), matrix, lambda: read_table(path, TARGET)]
    )
    return [
        path.stem.replace("x", " x "),
        path.suffix[1:],
        *(f"{seconds * 1e3:.0f}" for seconds in (frame, filled, table)),
        f"{table / frame:.2f}",
        f"{table / filled:.2f}",
    ]


def _array_row(rows: int, width: int, layout: str, rounds: int) -> list[str]:
    dtype, order = LAYOUTS[layout]
    X, y = _samples(rows, width)
    X = X.astype(dtype, order=order)
    ready = read_table((X, y))
    copy, table, data = least(
        rounds,
        [
            lambda: np.array(X, dtype=np.float64, order="F"),
            lambda: read_table((X, y)),
            lambda: dataset_of(ready),
        ],
    )
    return [
        f"{rows} x {width}",
        layout,
        *(f"{seconds * 1e3:.0f}" for seconds in (copy, table, data)),
        f"{table / copy:.2f}",
        f"{(table + data) / (copy + data):.2f}",
    ]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--formats", default=",".join(READERS))
    add_store_option(parser)
    options = parser.parse_args()
    report = Report("reading")
    shapes = [tuple(map(int, shape.split("x"))) for shape in options.shapes.split(",")]
    report.header(
        "rows x features", "file", "polars", "matrix", "read_table", "/ polars", "/ matrix", names=2
    )
    for rows, width in shapes:
        with tempfile.TemporaryDirectory() as folder:
            for path in _write(Path(folder), rows, width, options.formats.split(",")):
                report.row(*_file_row(path, options.rounds))
    report.header(
        "rows x features",
        "array",
        "copy",
        "read_table",
        "data set",
        "/ copy",
        "both / both",
        names=2,
    )
    for rows, width in shapes:
        for layout in LAYOUTS:
            report.row(*_array_row(rows, width, layout, options.rounds))
    if options.store:
        report.store()


if __name__ == "__main__":
    main()
