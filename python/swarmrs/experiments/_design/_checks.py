"""Checks before the first cell: options that no search of a comparison would accept."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import polars as pl

from swarmrs._base._warnings import deferred_warnings
from swarmrs.data._table import Table
from swarmrs.exceptions import DataError, SpecError
from swarmrs.experiments._design._cells import Data, Experiment
from swarmrs.experiments._design._methods import ALL, Method
from swarmrs.filters._groups import group_spec
from swarmrs.search._search import Search

# The rows of a stand-in, half of them of each class.
_ROWS = 20


def check_experiment(
    experiment: Experiment, methods: Sequence[Method], tables: Sequence[Data]
) -> None:
    """Refuse options that every cell of a method, or of a table, would refuse.

    Raises
    ------
    SpecError
        If there are such options.
    """
    options = experiment.options
    if not isinstance(options["cv"], int | str):
        raise SpecError("cv is neither a number nor a word", "each cell makes its own folds")
    groups = options["feature_groups"]
    is_word = groups is None or isinstance(groups, str)
    if not is_word or (groups and group_spec(groups, tables[0].table)[0] == "file"):
        raise SpecError(
            "feature_groups has columns by name, which differ from table to table",
            "name a method: lbm, hclust or prefix",
        )
    for width in sorted({data.table.x.shape[1] for data in tables}):
        stand_in = _stand_in(width)
        for method in methods:
            with _blaming(method.label if method.params else None):
                _check_method(method, stand_in, experiment)
    for data in tables:
        with _blaming(data.name):
            _check_evaluation(data, experiment)


def _check_method(method: Method, table: Table, experiment: Experiment) -> None:
    """Have the engine set up a search by a method; its settings do not depend on the rows."""
    # Whether folds and neighbors fit is up to the real rows.
    few = {"cv": 2} | ({"n_neighbors": 1} if experiment.options["estimator"] == "knn" else {})
    settings = experiment.settings(method.algo, method.params, **few)
    Search.of(settings.settle(table), settings).price([0])


def _check_evaluation(data: Data, experiment: Experiment) -> None:
    """Have the engine set up the evaluation, on the training rows of the first cell of a table."""
    division = experiment.protocol.divide(data.table, experiment.seed, 0)
    seen = data.table if division.test is None else data.table.take(division.train)
    if experiment.imputes_once:
        seen = seen.as_filled()
    with deferred_warnings():
        experiment.settings(ALL, {}).evaluator(seen, memory=0)


@contextmanager
def _blaming(whom: str | None) -> Iterator[None]:
    try:
        yield
    except SpecError as problem:
        message = f"{problem}" if whom is None else f"{whom}: {problem}"
        raise SpecError(message, problem.hint or "nothing was run; correct the setting") from None
    except DataError:
        # Rows that cannot be searched fail in their own cells; the others are run.
        return


def _stand_in(n_features: int) -> Table:
    """Return a small table of as many features, all of which vary and separate the classes."""
    codes = np.arange(_ROWS, dtype=np.uint32) % 2
    values = codes + np.arange(_ROWS) / (4 * _ROWS)
    x = np.asfortranarray(np.tile(values[:, np.newaxis], n_features))
    frame = pl.DataFrame(x, schema=[f"x{index}" for index in range(n_features)])
    return Table("a stand-in", frame, x, "class", codes, (0, 1))
