"""The tables of a comparison: files, built-in data sets, frames, each with its own name."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from swarmrs._base._hints import named
from swarmrs._base._tasks import CLASSIFICATION
from swarmrs.data._table import Data as Given
from swarmrs.data._table import Table, read_table
from swarmrs.data._target import Target
from swarmrs.exceptions import DataError, SpecError
from swarmrs.experiments._design._cells import Data, fingerprint_of

_SUFFIXES = (".parquet", ".csv", ".tsv", ".arff", ".arrow", ".feather")


def read_classes(source: Given, target: Target, read: Mapping[str, Any]) -> Table:
    """Return a table of classes, which comparisons are for.

    Raises
    ------
    DataError
        If the target is numeric.
    """
    table = read_table(source, target, **{"task": CLASSIFICATION.name, **read})
    if table.values is not None:
        raise DataError(
            f"target '{table.target}' of {table.name} is numeric, expected classes",
            "comparisons are of classifiers: search it alone",
        )
    return table


def read_data(
    given: Mapping[str, Given] | Sequence[Given],
    target: Target = None,
    *,
    data_dir: str | os.PathLike[str] | None,
    read: Mapping[str, Any],
) -> list[Data]:
    """Return the tables, each with its name and fingerprint.

    Parameters
    ----------
    given : sequence, or mapping of names
        Tables as `read_table` takes them: paths, ``sklearn:wine``, frames, pairs. A name that is no
        file is looked up in `data_dir`, with any suffix of tables.
    target : str or int, optional
        The target column of all tables, by default the last.
    data_dir : path, optional
        The folder of tables that are given by name.
    read : mapping
        Further arguments of `read_table`.

    Raises
    ------
    DataError
        If one is absent, cannot be read, or is the same as another.
    SpecError
        If none is given, or two have one name.
    """
    if not isinstance(given, Mapping | Sequence):
        raise SpecError("data is one table", "give a list of tables, or a dict with their names")
    if not given:
        raise SpecError("no data is given", "name files, or built-in tables such as sklearn:wine")
    tables: list[Data] = []
    for name, source in _named(given, data_dir):
        table = read_classes(source, target, read)
        data = Data(name or _called(table), table, fingerprint_of(table), _shared(source))
        for other in tables:
            if other.name == data.name:
                raise SpecError(
                    f"two tables are called '{data.name}'", "rename a file, or leave one out"
                )
            if other.fingerprint == data.fingerprint:
                raise DataError(
                    f"'{other.name}' and '{data.name}' are the same table", "leave one out"
                )
        tables.append(data)
    return tables


def _named(
    given: Mapping[str, Given] | Sequence[Given], data_dir: str | os.PathLike[str] | None
) -> Iterator[tuple[str | None, Given]]:
    if isinstance(given, Mapping):
        yield from given.items()
        return
    for source in given:
        yield None, _found(source, data_dir) if isinstance(source, str) else source


def _found(word: str, data_dir: str | os.PathLike[str] | None) -> str:
    """Return the file of a name, or the name as it is."""
    if data_dir is None or word.startswith("sklearn:") or Path(word).exists():
        return word
    if (path := find_file(word, data_dir)) is not None:
        return path
    raise DataError(
        f"no table '{word}' here or in '{data_dir}'", f"it may end in {', '.join(_SUFFIXES)}"
    )


def find_file(name: str, data_dir: str | os.PathLike[str]) -> str | None:
    """Return the file of this name in a directory, with any suffix of tables; None if none.

    Raises
    ------
    SpecError
        If there is no such directory.
    """
    if not Path(data_dir).is_dir():
        raise SpecError(
            f"directory '{data_dir}' does not exist", f"name one with {named('data_dir')}"
        )
    # Only names: a path could lead out of the directory.
    if Path(name).name == name:
        for suffix in ("", *_SUFFIXES):
            path = Path(data_dir) / f"{name}{suffix}"
            if path.is_file():
                return str(path)
    return None


def _called(table: Table) -> str:
    """Return the name without its file suffix, in characters that can be encoded."""
    name = table.name.encode("utf-8", "backslashreplace").decode()
    stem, dot, suffix = name.rpartition(".")
    if suffix == "gz":
        stem, dot, suffix = stem.rpartition(".")
    return stem if stem and f"{dot}{suffix}" in _SUFFIXES else name


def _shared(source: Given) -> str | None:
    """Return where another process finds a table; None if it cannot."""
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if path.startswith("sklearn:"):
            return path
        return None if path == "-" else os.path.abspath(path)
    return None
