"""reproduce(): run the methods of published tables and compare the figures."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any

import polars as pl

from swarmrs._base._hints import named
from swarmrs._base._messages import MOST_RUNS, check_whole, counted
from swarmrs.data._table import Source
from swarmrs.exceptions import SpecError
from swarmrs.experiments._design._methods import read_methods
from swarmrs.experiments._design._protocols import Protocol
from swarmrs.experiments._design._tables import read_classes
from swarmrs.experiments._execution._workers import Progress
from swarmrs.experiments._papers import PAPERS, find_tables
from swarmrs.experiments._papers._data import find_sources, origin
from swarmrs.experiments._papers._paper import Paper, PaperTable, Setup, choose, notes_on
from swarmrs.experiments._papers._results import Reproduced, lines_of_data, lines_of_runs
from swarmrs.experiments._papers._values import FEWEST_TESTED, Sample, all_errors, facts, samples
from swarmrs.experiments._plan import Plan

# So many of the failed cells are named in a result.
_SHOWN = 3


@dataclass
class Reproduction:
    """Published tables before they are run: `Reproduction.of` takes the arguments of `reproduce`.

    Attributes
    ----------
    paper : Paper
        The study.
    tables : list of PaperTable
        Its tables.
    sources : mapping of str to Source
        The data sets that are available.
    plans : dict of (str, str) to Plan
        The comparisons that are run, by setup and data set.
    remarks : list of str
        Departures of this call from the paper.
    failed : list of (str, str)
        Which cells failed, and why.
    is_stopped : bool
        Whether the run was stopped before all cells were tried.
    """

    paper: Paper
    tables: list[PaperTable]
    sources: Mapping[str, Source]
    plans: dict[tuple[str, str], Plan]
    remarks: list[str]
    failed: list[tuple[str, str]] = field(default_factory=list)
    is_stopped: bool = False
    _cells: dict[tuple[str, str], pl.DataFrame] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        *,
        datasets: Sequence[str] | None = None,
        runs: int | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        fetch: bool = False,
        random_state: int = 1,
        split_seed: int = 1,
        max_evals: int | None = None,
    ) -> "Reproduction":
        """Check everything that can be checked before the first cell; see `reproduce`."""
        paper, tables = find_tables(name)
        n_runs = paper.runs if runs is None else check_whole("runs", runs, most=MOST_RUNS)
        sources, absent = find_sources(
            paper,
            choose(datasets, tables),
            data_dir=data_dir,
            fetch=fetch,
            must_exist=datasets is not None,
        )
        remarks = [f"{data} is left out: {why}" for data, why in absent.items()]
        remarks += _departures(paper, tables, n_runs, max_evals)
        plans = {}
        for setup, methods in setups_of(tables):
            for data, source in sources.items():
                plans[setup.name, data] = plan_of(
                    paper,
                    setup,
                    methods,
                    {data: source},
                    runs=n_runs,
                    random_state=random_state,
                    split_seed=split_seed,
                    max_evals=max_evals,
                )
        return cls(paper, tables, sources, plans, remarks)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What about the data can mislead, once for each data set."""
        return tuple(
            dict.fromkeys(warning for plan in self.plans.values() for warning in plan.warnings)
        )

    def run(
        self,
        *,
        store: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        memory: int = 2**30,
        stop: Event | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        command: str | None = None,
    ) -> None:
        """Run the cells that are not in the stores yet: a file for each setup and data set."""
        if store is not None and self.plans:
            _make_directory(Path(store))
        total, before = sum(len(plan.cells) for plan in self.plans.values()), 0
        for (setup, data), plan in self.plans.items():
            name = f"{self.paper.name}-{setup}-{data}.db"
            found = plan.run(
                None if store is None else Path(store) / name,
                n_jobs=n_jobs,
                memory=memory,
                stop=stop,
                on_progress=None if on_progress is None else _of_all(on_progress, before, total),
                command=command,
            )
            self.failed += found.failed
            self._cells[setup, data] = _wanted(found.cells, plan)
            before += len(plan.cells)
            if not found.is_complete:
                self.is_stopped = True
                return

    def results(self) -> list[Reproduced]:
        """Return the tables with our figures."""
        return [self._result(table) for table in self.tables]

    def _result(self, table: PaperTable) -> Reproduced:
        data = [name for name in self.sources if name in table.data]
        if table.setups:
            lines = lines_of_runs(table, {name: self._samples(table, name) for name in data})
        else:
            lines = lines_of_data(table, {name: self._facts(table, name) for name in data})
        failed = [f"{which} failed: {why}" for which, why in self.failed[:_SHOWN]]
        notes = (*self.remarks, *failed, *notes_on(self.paper, table, data))
        return Reproduced(
            table.name, table.title, self.paper.protocol, self.paper.citation, tuple(lines), notes
        )

    def _facts(self, table: PaperTable, data: str) -> dict[str, float]:
        handling = self.paper.handle(data)
        read = read_classes(self.sources[data], handling.target, _read(self.paper, data))
        return facts(read.as_filled(), handling, {*table.published[data, ""]})

    def _samples(self, table: PaperTable, data: str) -> dict[str, Sample]:
        """Return the runs of each method of a table on a data set, by the paper's names."""
        found: dict[str, Sample] = {}
        handling, on_training = self.paper.handle(data), table.tested == "train_accuracy"
        for setup in table.setups:
            plan = self.plans[setup.name, data]
            by_label = samples(
                self._cells[setup.name, data], plan, setup, handling, on_training=on_training
            )
            if table.prints("improvement"):
                table_of_all = plan.data[0].table.as_filled()
                preset, is_all_true = str(setup.options["preset"]), handling.is_all_true
                errors = all_errors(table_of_all, preset, is_all_true=is_all_true)
                by_label = {
                    label: replace(sample, all_errors=errors) for label, sample in by_label.items()
                }
            found |= as_named(table, setup, by_label)
        return found


def reproduce(
    name: str,
    *,
    datasets: Sequence[str] | None = None,
    runs: int | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    fetch: bool = False,
    store: str | os.PathLike[str] | None = None,
    random_state: int = 1,
    split_seed: int = 1,
    max_evals: int | None = None,
    n_jobs: int | None = None,
    memory: int = 2**30,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[Reproduced]:
    """Reproduce published tables: our figures beside those printed.

    A mean agrees with a published one if it lies within one published standard deviation of it;
    where none is published, within a tolerance of the figure.

    Parameters
    ----------
    name : str
        ``"tran2019-III"`` for a table of a study, ``"tran2019"`` for all of them.
    datasets : sequence of str, optional
        Some of its data sets; by default all that are available.
    runs : int, optional
        The runs of each method; by default as many as in the paper.
    data_dir : path, optional
        The folder of the data sets, in files of their names.
    fetch : bool
        Whether to download data sets that are not there from OpenML.
    store : path, optional
        The directory of the stores; the same call continues where it stopped.
    random_state : int
        The random seed of the first run.
    split_seed : int
        The seed of the train/test split of all runs, where a paper holds out rows.
    max_evals : int, optional
        Maximum number of subset evaluations of each search; by default as in the paper.
    n_jobs, memory, on_progress
        As for `compare`.

    Returns
    -------
    list of Reproduced
        The tables, with a line for each figure.

    Raises
    ------
    SpecError
        If there is no such table or data set, or a store holds another experiment.
    DataError
        If a data set is not available or cannot be read.

    Examples
    --------
    >>> (table,) = reproduce("chuang2012-2", datasets=["wine"], runs=1, max_evals=40)
    >>> [(line.data, line.method, line.figure, line.published) for line in table.lines]
    [('wine', 'CD-BPSO', 'accuracy', '99.44')]
    """
    found = Reproduction.of(
        name,
        datasets=datasets,
        runs=runs,
        data_dir=data_dir,
        fetch=fetch,
        random_state=random_state,
        split_seed=split_seed,
        max_evals=max_evals,
    )
    found.run(store=store, n_jobs=n_jobs, memory=memory, on_progress=on_progress)
    return found.results()


def published_tables(name: str | None = None) -> list[dict[str, Any]]:
    """Return the published tables that can be reproduced, as plain values.

    Parameters
    ----------
    name : str, optional
        A table or a study, as for `reproduce`; by default all of them.

    Returns
    -------
    list of dict
        ``table``, ``title``, ``citation``, ``runs`` (None for tables about data sets), ``methods``
        and ``data``: the data sets, with where each comes from.

    Raises
    ------
    SpecError
        If there is no such study or table.

    Examples
    --------
    >>> [table["table"] for table in published_tables("xue2014")]
    ['xue2014-2', 'xue2014-3', 'xue2014-4']
    """
    chosen = [find_tables(name)] if name else [(each, [*each.tables]) for each in PAPERS.values()]
    return [
        {
            "table": table.name,
            "title": table.title,
            "citation": paper.citation,
            "runs": paper.runs if table.setups else None,
            "methods": [method for method in table.methods if method],
            "data": {data: paper.absent.get(data, origin(data)) for data in table.data},
        }
        for paper, tables in chosen
        for table in tables
    ]


def _departures(
    paper: Paper, tables: Sequence[PaperTable], n_runs: int, max_evals: int | None
) -> Iterator[str]:
    """Yield the departures of a call from the paper."""
    if not any(table.setups for table in tables):
        return
    if n_runs != paper.runs:
        yield f"each method has {counted(n_runs, 'run')}, not {paper.runs}"
    if max_evals is not None:
        yield f"searches stop after {max_evals} evaluations, not as in the paper"
    if n_runs < FEWEST_TESTED and any(table.marks for table in tables):
        yield f"tests are left out: they need {FEWEST_TESTED} runs or more"


def plan_of(
    paper: Paper,
    setup: Setup,
    methods: Sequence[str],
    source: Mapping[str, Source],
    *,
    runs: int,
    random_state: int = 1,
    split_seed: int = 1,
    max_evals: int | None = None,
) -> Plan:
    """Return the plan of methods of a setup, by the paper's names, on one data set."""
    (data,) = source
    return Plan.of(
        source,
        list(dict.fromkeys(setup.methods[method] for method in methods)),
        target=paper.handle(data).target,
        read=_read(paper, data),
        runs=runs,
        protocol=setup.protocol,
        random_state=random_state,
        split_seed=split_seed if Protocol.of(setup.protocol).holds_out else None,
        # No paper imputes anew for the folds of a search.
        imputes_once=True,
        **_options(setup, data, max_evals),
    )


def as_named(table: PaperTable, setup: Setup, by_label: Mapping[str, Sample]) -> dict[str, Sample]:
    """Return the runs that a table needs of a setup by the paper's names of the methods."""
    labels = {method: label_of(setup.methods[method]) for method in table.needs(setup)}
    return {method: by_label[label] for method, label in labels.items() if label in by_label}


def setups_of(tables: Sequence[PaperTable]) -> list[tuple[Setup, list[str]]]:
    """Return the setups of some tables, each with the methods that these need of it."""
    found: dict[str, tuple[Setup, dict[str, None]]] = {}
    for table in tables:
        for setup in table.setups:
            _, methods = found.setdefault(setup.name, (setup, {}))
            methods |= dict.fromkeys(table.needs(setup))
    return [(setup, list(methods)) for setup, methods in found.values()]


def _options(setup: Setup, data: str, max_evals: int | None) -> dict[str, Any]:
    options: dict[str, Any] = {**setup.options, "max_evals": max_evals}
    if setup.has_groups:
        _, (about,) = find_tables("xue2016-I")
        options["feature_groups"] = f"lbm={about.published[data, '']['groups']}"
    return options


def _read(paper: Paper, data: str) -> dict[str, Any]:
    handling = paper.handle(data)
    # Classes that are used as a feature may be text.
    encode = "error" if handling.target is None else "ordinal"
    return {"missing": handling.missing or paper.missing, "encode": encode}


def _wanted(cells: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Leave out the cells that a store has of other methods or further runs."""
    labels = [method.label for method in plan.methods]
    runs = max(cell.run for cell in plan.cells)
    return cells.filter(pl.col("method").is_in(labels), pl.col("run") <= runs)


def _of_all(
    on_progress: Callable[[Progress], None], before: int, total: int
) -> Callable[[Progress], None]:
    """Report the progress of one plan as that of all; the time of later plans is not known."""

    def report(progress: Progress) -> None:
        is_last = before + progress.total == total
        left = progress.left if is_last else None
        on_progress(replace(progress, done=before + progress.done, total=total, left=left))

    return report


@cache
def label_of(method: str) -> str:
    """Return our name of a method in results."""
    (read,) = read_methods(method)
    return read.label


def _make_directory(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise SpecError(
            f"'{path}' cannot be a directory of stores: {problem.strerror}",
            f"give {named('store')} another name",
        ) from None
