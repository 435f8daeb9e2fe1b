"""compare(): methods on tables, run by run and fold by fold, into a store."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Event
from typing import Any, TypedDict, Unpack

import polars as pl

from swarmrs._base._arguments import check_arguments
from swarmrs._base._messages import Setting, check_whole, check_word
from swarmrs._base._resources import count_threads
from swarmrs.data._table import Data as Given
from swarmrs.data._target import Target
from swarmrs.evaluation._native import METRICS
from swarmrs.exceptions import SpecError
from swarmrs.experiments._cells import Cell, Data, Experiment, check_runs, plan
from swarmrs.experiments._checks import check_experiment
from swarmrs.experiments._cluster import cluster_workers
from swarmrs.experiments._frame import cells_frame, settings
from swarmrs.experiments._methods import Method, read_methods
from swarmrs.experiments._run import Outcome, Progress, Threads, Workers, run_cells
from swarmrs.experiments._store import DataRow, Store
from swarmrs.experiments._tables import read_data
from swarmrs.search._select import select


class Settings(TypedDict, total=False):
    """What all methods of a comparison have alike; as for `select`."""

    preset: str | None
    classifier: str | None
    k: int | None
    metric: str | None
    weights: str | None
    cv: int | str | None
    cv_seed: int
    scale: str | None
    scoring: str | None
    objective: str | None
    alpha: float | None
    gamma: float | None
    sim: str | None
    sigma_log: str | None
    max_evals: int | None
    iterations: int | None
    max_features: int | None
    prescreen: str | None
    groups: str | None
    pick: str
    rare_class: str
    constant: str | None


@dataclass(frozen=True)
class Plan:
    """All that a comparison is to do, checked.

    Attributes
    ----------
    experiment : Experiment
        What all cells share.
    data : list of Data
        The tables.
    methods : list of Method
        The methods.
    cells : list of Cell
        What to run; of a shard its own cells alone.
    reading : mapping
        How tables are read.
    """

    experiment: Experiment
    data: list[Data]
    methods: list[Method]
    cells: list[Cell]
    reading: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        data: Mapping[str, Given] | Sequence[Given],
        algos: str | Sequence[str],
        *,
        target: Target = None,
        runs: int = 10,
        protocol: str = "cv10",
        seed: int = 1,
        split_seed: int | None = None,
        test_metric: str | None = None,
        params: Mapping[str, Setting] | None = None,
        shard: tuple[int, int] | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        reading: Mapping[str, Any] | None = None,
        fills_once: bool = False,
        **shared: Unpack[Settings],
    ) -> "Plan":
        """Check everything that can be checked before the first cell; see `compare`."""
        check_settings(shared)
        methods = read_methods(algos, params)
        reading = dict(reading or {})
        experiment = Experiment.of(
            protocol,
            seed=seed,
            split_seed=split_seed,
            test_metric=test_metric,
            fills_once=fills_once,
            settings=shared,
        )
        check_runs(runs, experiment.seed)
        if shard is not None:
            shard = _shard(shard)
        if test_metric is not None:
            check_word("test metric", test_metric, METRICS)
        tables = read_data(data, target, data_dir=data_dir, reading=reading)
        check_experiment(experiment, methods, tables)
        cells = plan(tables, methods, runs, experiment)
        if shard is not None:
            cells = [cell for cell in cells if cell.belongs_to(shard)]
        return cls(experiment, tables, methods, cells, reading)

    def enter(self, store: Store, command: str | None = None) -> None:
        """Write the cells into a store, where they are not there yet."""
        rows = [
            DataRow(
                it.name,
                it.fingerprint,
                rows=it.table.x.shape[0],
                features=it.table.x.shape[1],
                classes=len(it.table.labels),
            )
            for it in self.data
        ]
        store.plan(self.experiment, rows, self.cells, command)


@dataclass(frozen=True, eq=False)
class Comparison:
    """What a comparison found.

    Attributes
    ----------
    cells : polars.DataFrame
        A row for each cell; see `swarmrs.experiments.cells_frame`.
    settings : dict
        What all cells share, with versions; see `swarmrs.experiments.settings`.
    failed : tuple of (str, str)
        Which cells failed in this call, and why.
    is_complete : bool
        Whether all cells were tried; not so after a stop.
    """

    cells: pl.DataFrame
    settings: dict[str, Any]
    failed: tuple[tuple[str, str], ...]
    is_complete: bool


def check_settings(shared: Mapping[str, Any]) -> None:
    """Refuse what is no setting that all methods of a comparison share."""
    for name in shared:
        check_word("setting of a comparison", name, [*Settings.__annotations__])


def compare(
    data: Mapping[str, Given] | Sequence[Given] | str | os.PathLike[str],
    algos: str | Sequence[str],
    *,
    target: Target = None,
    runs: int = 10,
    protocol: str = "cv10",
    store: str | os.PathLike[str] | None = None,
    seed: int = 1,
    split_seed: int | None = None,
    test_metric: str | None = None,
    params: Mapping[str, Setting] | None = None,
    shard: tuple[int, int] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    cluster: str | None = None,
    n_jobs: int | None = None,
    memory: int = 2**30,
    missing: str = "error",
    encode: str = "error",
    on_progress: Callable[[Progress], None] | None = None,
    **shared: Unpack[Settings],
) -> Comparison:
    """Compare methods on tables, with rows that no search has seen.

    Every method, table, run and fold is a cell. All methods are measured alike, by 5-NN and ten
    folds unless said otherwise, and not each as in its paper. Cells that the store has are not run
    again.

    Parameters
    ----------
    data : sequence, mapping, str or path
        Tables as `read_table` takes them, in a list; a mapping gives them names.
    algos : str or sequence of str
        Methods: ``"bpso,vlpso[population=50],all"``; ``all`` takes every feature.
    target : str or int, optional
        The column of classes, by default the last.
    runs : int
        The runs of each method. Run r has the seed ``seed + r - 1``, the same for all methods. A
        method without chance has one run where all runs see the same rows.
    protocol : str
        ``"cv10"`` or another number of folds: each fold is tested by what was found without it.
        ``"split70"``: 70 percent of the rows are searched, the others tested. ``"resub"``: all rows
        are searched and nothing is tested. ``"loo"``: the same, measured by leaving one out.
    store : path, optional
        The file that keeps the cells; the same call goes on where it stopped.
    seed : int
        The seed of the first run.
    split_seed : int, optional
        Deal the rows once, by this seed, for all runs. By default each run deals its own by its
        seed, the same for all methods.
    test_metric : str, optional
        The distance on the rows held out. By default that of the search, with preset ``"002"``
        Euclidean.
    params : mapping, optional
        Settings for all methods that have them.
    shard : (int, int), optional
        Run only part i of n, i from 1; `swarmrs.experiments.merge` joins the stores.
    data_dir : str or path, optional
        The folder in which tables are found by their names.
    cluster : str, optional
        The address of a dask scheduler, or ``"local"``. Workers read tables by their paths.
    n_jobs : int, optional
        Threads, by scikit-learn's convention. Cells run side by side, on one thread each as long as
        there are enough of them. It changes no result.
    memory : int
        Bytes for kept distances, of all cells under way together. It changes no result.
    missing, encode : str
        As for `read_table`; but ``"mean"``, ``"median"`` and ``"mode"`` look at training rows alone
        where the protocol holds others out.
    on_progress : callable, optional
        Told how far the comparison is, several times a second.
    **shared
        What all methods have alike, as for `select`: `preset`, `classifier`, `k`, `metric`,
        `weights`, `cv`, `cv_seed`, `scale`, `scoring`, `objective`, `alpha`, `gamma`, `sim`,
        `sigma_log`, `max_evals`, `iterations`, `max_features`, `prescreen`, `groups`, `pick`,
        `rare_class`, `constant`.

    Returns
    -------
    Comparison

    Raises
    ------
    SpecError
        If a setting is wrong, or the store holds another experiment.
    DataError
        If a table cannot be used.
    StoreError
        If the store is damaged or cannot be written; what was finished is stored.
    ClusterError
        If the cluster cannot be reached or is lost; what was finished is stored.

    Examples
    --------
    >>> found = compare(["sklearn:iris"], "sfs,all", runs=2, protocol="split70")
    >>> found.cells.select("method", "run", "size", "state").rows()
    [('sfs', 1, 2, 'done'), ('sfs', 2, 2, 'done'), ('all', 1, 4, 'done'), ('all', 2, 4, 'done')]
    """
    check_arguments(compare, locals())
    check_arguments(select, shared)
    threads, n_bytes = count_threads(n_jobs), check_whole("memory", memory, 0)
    check_settings(shared)
    planned = Plan.of(
        [data] if isinstance(data, str | os.PathLike) else data,
        algos,
        target=target,
        runs=runs,
        protocol=protocol,
        seed=seed,
        split_seed=split_seed,
        test_metric=test_metric,
        params=params,
        shard=shard,
        data_dir=data_dir,
        reading={"missing": missing, "encode": encode},
        **shared,
    )
    with Store(":memory:" if store is None else store) as kept:
        planned.enter(kept)
        outcome = carry_out(
            planned, kept, n_jobs=threads, memory=n_bytes, cluster=cluster, show=on_progress
        )
        failed = tuple((describe(cell), text) for cell, text in outcome.failed)
        return Comparison(cells_frame(kept), settings(kept), failed, not outcome.is_stopped)


def carry_out(
    planned: Plan,
    store: Store,
    *,
    n_jobs: int | None,
    memory: int,
    cluster: str | None,
    stop: Event | None = None,
    show: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Run what a plan has and the store has not."""
    data = {table.name: table for table in planned.data}
    threads = count_threads(n_jobs)
    memory = check_whole("memory", memory, 0)
    have = {"threads": threads, "memory": memory}
    workers: AbstractContextManager[Workers]
    if cluster is None:
        workers = Threads(data, planned.experiment, **have)
    else:
        how = planned.reading
        workers = cluster_workers(cluster, data, planned.experiment, reading=how, **have)
    stop, show = stop or Event(), show or (lambda _: None)
    with workers as hands:
        return run_cells(planned.cells, store, hands, stop=stop, show=show)


def describe(cell: Cell) -> str:
    """Say which cell it is."""
    return f"{cell.method} on {cell.data}, run {cell.run}, fold {cell.fold}, seed {cell.seed}"


def _shard(shard: tuple[int, int]) -> tuple[int, int]:
    if len(shard) != 2:
        raise SpecError(f"shard is {shard!r}, expected two numbers: part i of n")
    index, total = (check_whole("shard", part, 0) for part in shard)
    if not 1 <= index <= total:
        raise SpecError(f"shard is {index}/{total}, expected i/n with i from 1 to n", "write 1/4")
    return index, total
