"""Cells: what a comparison consists of, each with a key that says all that fixes its result."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swarmrs import _swarmrs
from swarmrs._base._messages import check_whole, counted
from swarmrs.data._table import Table
from swarmrs.evaluation._native import COMMON
from swarmrs.evaluation._presets import find_preset, settle
from swarmrs.exceptions import SpecError
from swarmrs.experiments._methods import ALL, Method
from swarmrs.experiments._protocols import Protocol
from swarmrs.search._search import plain

# Traces move with the second number of the version, and only then; results with them.
RESULTS_VERSION = ".".join(_swarmrs.__version__.split(".")[:2])

# What one comparison may have; a plan of that many cells takes about 250 MB.
MOST_RUNS = 100_000
MOST_CELLS = 1_000_000

# What is the same whether it is said or not.
_DEFAULTS = {"cv_seed": 0, "pick": "best", "rare_class": "warn"}


@dataclass(frozen=True)
class Experiment:
    """What all cells of a store share, so that any two of them can be compared.

    Attributes
    ----------
    protocol : Protocol
        Which rows are searched and which are tested.
    seed : int
        The seed of the first run; each run has the next.
    split_seed : int or None
        What deals the rows of all runs; None if each run deals its own by its seed.
    settings : mapping
        What `select` is given beside data, method and seed.
    test_metric : str or None
        The distance on the rows held out, if it is another than that of the search.
    fills_once : bool
        Whether missing values are filled once, by all rows that a search sees, as papers do, and
        not for each of its folds by the rows that train.
    """

    protocol: Protocol
    seed: int
    split_seed: int | None
    settings: Mapping[str, Any]
    test_metric: str | None
    fills_once: bool

    @classmethod
    def of(
        cls,
        protocol: str,
        *,
        seed: int,
        split_seed: int | None,
        test_metric: str | None,
        fills_once: bool,
        settings: Mapping[str, Any],
    ) -> "Experiment":
        """Check what is given and fill in what all methods are to have alike.

        Raises
        ------
        SpecError
            If settings are unknown or do not fit the protocol.
        """
        scheme = Protocol.of(protocol)
        given = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in settings.items()
            if value is not None
        }
        study = find_preset(given.get("preset"))
        classifier = settle(given.get("classifier"), study.classifier, "knn")
        # Left to itself, each algorithm would be measured as in its paper.
        alike = {
            "classifier": classifier,
            "cv": settle(given.get("cv"), study.cv, COMMON["folds"]["k"]),
            "scale": settle(given.get("scale"), study.scale, "minmax"),
        }
        if classifier == "knn":
            alike["k"] = settle(given.get("k"), study.k, COMMON["k"])
            alike["metric"] = settle(given.get("metric"), study.metric, COMMON["metric"])
            alike["weights"] = settle(given.get("weights"), study.weights, "uniform")
        if scheme.kind == "loo":
            if given.get("cv", "loo") != "loo":
                raise SpecError(
                    f"cv is '{given['cv']}', but protocol loo leaves out one row at a time",
                    "leave cv out, or take protocol resub",
                )
            alike["cv"] = "loo"
        if not scheme.holds_out:
            for what, value in (("split_seed", split_seed), ("test_metric", test_metric)):
                if value is not None:
                    raise SpecError(
                        f"{what} is {value}, but protocol {protocol} holds out no rows",
                        "leave it out, or take protocol cv10 or split70",
                    )
        elif test_metric is None:
            test_metric = study.test_metric
        return cls(
            scheme,
            check_whole("seed", seed, 0),
            None if split_seed is None else check_whole("split_seed", split_seed, 0),
            _DEFAULTS | given | alike,
            test_metric,
            fills_once,
        )

    def settings_of(self, algo: str) -> dict[str, Any]:
        """Return what `select` is given for an algorithm."""
        settings = dict(self.settings)
        if algo == ALL and find_preset(settings.get("preset")).objective is None:
            settings.setdefault("objective", "error")
        return settings

    def to_dict(self) -> dict[str, object]:
        """Return the experiment as plain values, ready for JSON."""
        return {
            "version": RESULTS_VERSION,
            "protocol": self.protocol.name,
            "seed": self.seed,
            "split_seed": self.split_seed,
            "test_metric": self.test_metric,
            "fills_once": self.fills_once,
            **{name: self.settings[name] for name in sorted(self.settings)},
        }


@dataclass(frozen=True)
class Data:
    """A table of a comparison.

    Attributes
    ----------
    name : str
        What it is called in results.
    table : Table
        What is in it.
    fingerprint : str
        A hash of that.
    source : str or None
        Where a worker finds it: an absolute path or a built-in name; None if only this process can.
    """

    name: str
    table: Table
    fingerprint: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One search: a method on a table, by a seed, on the rows that a fold leaves.

    Attributes
    ----------
    key : str
        A hash of all that fixes the result.
    data, fingerprint : str
        The table.
    method, algo, params : str
        The label of the method, its algorithm, its settings as JSON.
    run, seed : int
        The number of the run, from 1, and the seed of its search.
    split_seed, fold : int
        What deals the rows, and which fold is held out, from 0.
    """

    key: str
    data: str
    fingerprint: str
    method: str
    algo: str
    params: str
    run: int
    seed: int
    split_seed: int
    fold: int

    def belongs_to(self, shard: tuple[int, int]) -> bool:
        """Whether this is a cell of shard i of n; of its key alone, so that shards never meet."""
        index, total = shard
        return int(self.key, 16) % total == index - 1


def plan(
    data: Sequence[Data], methods: Sequence[Method], runs: int, experiment: Experiment
) -> list[Cell]:
    """Return all cells, run by run, so that an unfinished comparison is a fair one.

    A method without chance has one run where all runs see the same rows.

    Raises
    ------
    SpecError
        If there would be more cells than a store is made for.
    """
    check_runs(runs, experiment.seed)
    protocol = experiment.protocol
    deals_anew = protocol.holds_out and experiment.split_seed is None
    n_runs = {method.label: runs if method.has_chance or deals_anew else 1 for method in methods}
    total = sum(n_runs.values()) * len(data) * protocol.n_folds
    if total > MOST_CELLS:
        raise SpecError(
            f"the comparison has {total} cells ({counted(len(data), 'table')} x "
            f"{counted(len(methods), 'method')} x {counted(runs, 'run')} x "
            f"{counted(protocol.n_folds, 'fold')}), at most {MOST_CELLS} fit into one",
            "take fewer runs, or make several comparisons of it",
        )
    shared = experiment.to_dict()
    # The seeds of a cell stand for these two: other runs may join and change nothing.
    del shared["seed"], shared["split_seed"]
    # A key is a hash of canonical JSON; all but its end is the same for a method on a table.
    heads = {}
    for table in data:
        for method in methods:
            params = canonical(dict(method.params))
            content = {"experiment": shared, "data": table.fingerprint, "algo": method.algo}
            head = canonical(content | {"params": params}).removesuffix("}")
            heads[table.name, method.label] = params, head
    cells = []
    for run in range(1, runs + 1):
        seed = experiment.seed + run - 1
        split_seed = seed if experiment.split_seed is None else experiment.split_seed
        for table in data:
            for method in methods:
                if run > n_runs[method.label]:
                    continue
                params, head = heads[table.name, method.label]
                what = (table.name, table.fingerprint, method.label, method.algo, params)
                for fold in range(protocol.n_folds):
                    rows = f"[{split_seed},{fold}]" if protocol.holds_out else "null"
                    whole = f'{head},"rows":{rows},"seed":{seed}}}'
                    key = hashlib.blake2b(whole.encode(), digest_size=16).hexdigest()
                    cells.append(Cell(key, *what, run, seed, split_seed, fold))
    return cells


def check_runs(runs: int, seed: int) -> None:
    """Refuse a number of runs that is none, or that no comparison can have.

    Raises
    ------
    SpecError
        If it is one.
    """
    check_whole("runs", runs, most=MOST_RUNS)
    check_whole("the seed of the last run", seed + runs - 1, 0)


def canonical(value: object) -> str:
    """Return JSON of which there is one only: keys sorted, no blanks, no NaN.

    Examples
    --------
    >>> canonical({"b": 1, "a": [2.5, None]})
    '{"a":[2.5,null],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, default=plain)


def fingerprint_of(table: Table) -> str:
    """Return a hash of all that a search can see of a table."""
    head = canonical([table.names, [str(label) for label in table.labels], list(table.x.shape)])
    values = np.ascontiguousarray(table.x, "<f8").tobytes()
    codes = np.ascontiguousarray(table.codes, "<u4").tobytes()
    hashed = hashlib.blake2b(digest_size=16)
    mark = "" if table.unfilled is None else table.unfilled.mark
    for part in (head.encode(), values, codes, mark.encode()):
        hashed.update(len(part).to_bytes(8, "little"))
        hashed.update(part)
    return hashed.hexdigest()
