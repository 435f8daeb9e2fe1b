"""The data sets of the studies: from a directory, scikit-learn or OpenML."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from swarmrs._base._hints import named, setting
from swarmrs.data._table import Source
from swarmrs.exceptions import DataError
from swarmrs.experiments._design._tables import find_file
from swarmrs.experiments._papers._paper import Paper

# Those that scikit-learn includes.
_BUILT_IN = {"wine": "sklearn:wine", "wdbc": "sklearn:breast_cancer"}


class _Deposit(NamedTuple):
    """A data set of OpenML, and its shape, which guards against a wrong id."""

    id: int
    rows: int
    features: int


_OPENML = {
    "arrhythmia": _Deposit(5, 452, 279),
    "australian": _Deposit(40981, 690, 14),
    "ionosphere": _Deposit(59, 351, 34),
    "lsvt": _Deposit(1484, 126, 310),
    "madelon": _Deposit(1485, 2600, 500),
    "ozone_eighthr": _Deposit(1487, 2534, 72),
    "segmentation": _Deposit(36, 2310, 19),
    "sonar": _Deposit(40, 208, 60),
    "vehicle": _Deposit(54, 846, 18),
}


def origin(name: str) -> str:
    """Return where a data set can come from."""
    if name in _BUILT_IN:
        return "built in"
    folder = named("data_dir")
    return f"{folder} or {setting('fetch', True)}" if name in _OPENML else folder


def find_sources(
    paper: Paper,
    wanted: Sequence[str],
    *,
    data_dir: str | os.PathLike[str] | None,
    fetch: bool,
    must_exist: bool,
) -> tuple[dict[str, Source], dict[str, str]]:
    """Return the source of each data set, as `read_table` takes it, and why others are left out.

    Parameters
    ----------
    paper : Paper
        The study.
    wanted : sequence of str
        Their names.
    data_dir : path, optional
        The folder of files of these names.
    fetch : bool
        Whether to download data sets that are not there from OpenML.
    must_exist : bool
        Whether one that is not available is an error, and not left out.

    Raises
    ------
    DataError
        If one is not available that must be, or none is.
    """
    found: dict[str, Source] = {}
    absent: dict[str, str] = {}
    for name in wanted:
        source = None if data_dir is None else find_file(name, data_dir)
        source = source or _BUILT_IN.get(name)
        if source is not None:
            found[name] = source
        elif fetch and name in _OPENML:
            found[name] = _fetched(name)
        else:
            absent[name] = paper.absent.get(name, "not available")
    if absent and (must_exist or not found):
        raise DataError(_message(absent), _hint(absent, data_dir, fetch))
    return found, absent


def _message(absent: Mapping[str, str]) -> str:
    return "; ".join(f"'{name}' is {why}" for name, why in absent.items())


def _hint(absent: Mapping[str, str], data_dir: str | os.PathLike[str] | None, fetch: bool) -> str:
    first = next(iter(absent))
    where = (
        f"the directory of {named('data_dir')}" if data_dir is None else f"'{os.fspath(data_dir)}'"
    )
    hint = f"put {first}.parquet or {first}.csv, its classes in the last column, into {where}"
    if not fetch and any(name in _OPENML for name in absent):
        some = ", ".join(name for name in absent if name in _OPENML)
        hint += f"; {setting('fetch', True)} downloads {some} from OpenML"
    return hint


def _fetched(name: str) -> Source:
    """Download a data set of OpenML, which scikit-learn caches."""
    from sklearn.datasets import fetch_openml

    deposit = _OPENML[name]
    put = f"put {name}.parquet into the directory of {named('data_dir')}"
    hint = f"check that openml.org can be reached, or {put}"
    try:
        # Without pandas, which is not a dependency.
        bunch = fetch_openml(data_id=deposit.id, as_frame=False, parser="liac-arff")
    except Exception as problem:
        raise DataError(f"'{name}' cannot be fetched from OpenML: {problem}", hint) from None
    shape = (deposit.rows, deposit.features)
    if bunch.data.shape != shape:
        raise DataError(
            f"'{name}' of OpenML has {bunch.data.shape} rows and features, expected {shape}",
            put,
        )
    columns = [str(column) for column in bunch.feature_names]
    frame = pl.from_numpy(bunch.data, schema=columns)
    return frame.with_columns(pl.Series("class", [str(label) for label in bunch.target]))
