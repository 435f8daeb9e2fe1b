"""Cells: the searches of a comparison, each with a key that hashes all its result depends on."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swarmrs import _swarmrs
from swarmrs._base._messages import MOST_RUNS, Setting, check_whole, counted
from swarmrs._base._options import options_of
from swarmrs.data._table import Table
from swarmrs.evaluation._native import Classifier
from swarmrs.evaluation._objectives import is_native_score, read_objective
from swarmrs.exceptions import SpecError
from swarmrs.experiments._design._methods import ALL, Method
from swarmrs.experiments._design._protocols import Protocol
from swarmrs.search._options._declarations import SearchOptions
from swarmrs.search._options._settings import OF_CLASSIFIERS, Settings
from swarmrs.search._search import as_json

# Traces change with the second number of the version, and only then; results with them.
RESULTS_VERSION = ".".join(_swarmrs.__version__.split(".")[:2])

# A plan of that many cells takes about 250 MB.
MOST_CELLS = 1_000_000

# The options of a search that `compare` has. Hyperparameters belong to methods, all others to the
# experiment.
OPTIONS = options_of(SearchOptions, "m")
# Options that the first stores did not have; None is what was done without them.
_ADDED = ("ridge_alpha", "rows")
_SHARED = tuple(name for name in OPTIONS if name != "algo_params")
# Those that `all` has no use for: it does not search.
_OF_A_SEARCH = (
    *("max_evals", "max_iter", "max_features", "prescreen", "feature_groups", "pick", "rows"),
)


@dataclass(frozen=True)
class Experiment:
    """The settings that all cells of a store share, so that any two of them can be compared.

    Attributes
    ----------
    protocol : Protocol
        Which rows are searched and which are tested.
    seed : int
        The random seed of the first run; each run has the next.
    split_seed : int or None
        The seed of the train/test split of all runs; None if each run is split by its own seed.
    options : mapping
        The options of a search that all methods share, as values of JSON.
    test_metric : str or None
        The distance on held-out rows, if it is another than that of the search.
    imputes_once : bool
        Whether missing values are imputed once, from all rows that a search sees, as papers do it,
        and not for each of its folds from the training rows.
    """

    protocol: Protocol
    seed: int
    split_seed: int | None
    options: Mapping[str, Any]
    test_metric: str | None
    imputes_once: bool

    @classmethod
    def of(
        cls,
        protocol: str,
        options: Mapping[str, Any],
        *,
        random_state: int,
        split_seed: int | None,
        test_metric: str | None,
        imputes_once: bool,
    ) -> "Experiment":
        """Check the options given and fill them up, so that all methods are evaluated alike.

        Raises
        ------
        SpecError
            If options are unknown or do not fit the protocol.
        """
        scheme, settings = Protocol.of(protocol), Settings.of(options)
        shared = _resolve(settings)
        if scheme.kind == "loo":
            if options.get("cv", "loo") != "loo":
                raise SpecError(
                    f"cv is '{options['cv']}', but protocol loo is leave-one-out",
                    "leave cv out, or use protocol resub",
                )
            shared["cv"] = "loo"
        if not scheme.holds_out:
            for name, value in (("split_seed", split_seed), ("test_metric", test_metric)):
                if value is not None:
                    raise SpecError(
                        f"{name} is {value}, but protocol {protocol} holds out no rows",
                        "leave it out, or use protocol cv10 or split70",
                    )
        elif test_metric is None and settings.preset is not None:
            test_metric = settings.preset.test_metric
        return cls(
            scheme,
            check_whole("random_state", random_state, 0),
            None if split_seed is None else check_whole("split_seed", split_seed, 0),
            shared,
            test_metric,
            imputes_once,
        )

    def settings(self, algo: str, params: Mapping[str, Setting], **run: Any) -> Settings:
        """Return the settings of a search by a method; `run` has further options of this search."""
        options = {**self.options, **run}
        if algo != ALL:
            return Settings.of({**options, "algo": algo, "algo_params": params})
        options = {name: value for name, value in options.items() if name not in _OF_A_SEARCH}
        if options["objective"] == "paper":
            options["objective"] = "error"
        # A backward search evaluates all features first, and this one has no second iteration.
        return Settings.of({**options, "algo": "gsbs", "max_evals": 1, "constant": "keep"})

    def to_dict(self) -> dict[str, object]:
        """Return the experiment as plain values, ready for JSON."""
        return {
            "version": RESULTS_VERSION,
            "protocol": self.protocol.name,
            "seed": self.seed,
            "split_seed": self.split_seed,
            "test_metric": self.test_metric,
            "imputes_once": self.imputes_once,
            **{
                name: self.options[name]
                for name in sorted(self.options)
                # An option added later leaves the keys of other cells as they are.
                if name not in _ADDED or self.options[name] is not None
            },
        }


def _resolve(settings: Settings) -> dict[str, Any]:
    """Return the options that methods share, each with the value that is used, ready for JSON.

    Raises
    ------
    SpecError
        If the engine does not have the estimator or the score.
    """
    filled: dict[str, Any] = {**settings.options}
    options = {
        name: filled[name].item() if isinstance(filled[name], np.generic) else filled[name]
        for name in _SHARED
    }
    estimator, scoring = options["estimator"], options["scoring"]
    own = {name: options[name] for name in OF_CLASSIFIERS}
    classifier = Classifier.of(estimator, **own)
    if classifier is None:
        raise SpecError(
            f"estimator is {' '.join(repr(estimator).split())}, which compare cannot use",
            "give 'knn', 'nb', 'ridge', or KNeighborsClassifier, GaussianNB or RidgeClassifier "
            "with settings that run natively; SwarmSelector takes any estimator",
        )
    if not is_native_score(scoring):
        raise SpecError(
            f"scoring is {scoring!r}, which compare cannot use",
            f"known: {', '.join(OPTIONS['scoring'].words)}",
        )
    own |= {name: getattr(classifier, name) for name in classifier.own}
    objective = read_objective(options["objective"]) or {"kind": "paper"}
    return {
        **options,
        **own,
        "estimator": classifier.name,
        "scale": classifier.scaling(options["scale"]),
        # As in scikit-learn, None is 5 folds.
        "cv": 5 if options["cv"] is None else options["cv"],
        "objective": objective if len(objective) > 1 else objective["kind"],
    }


@dataclass(frozen=True)
class Data:
    """A table of a comparison.

    Attributes
    ----------
    name : str
        Its name in results.
    table : Table
        Its samples.
    fingerprint : str
        A hash of them.
    source : str or None
        Where a worker finds it: an absolute path or a built-in name; None if only this process can.
    """

    name: str
    table: Table
    fingerprint: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One search: a method on a table, by a seed, on the rows that are not held out.

    Attributes
    ----------
    key : str
        A hash of all that the result depends on.
    data, fingerprint : str
        The table.
    method, algo, params : str
        The label of the method, its algorithm, its hyperparameters as JSON.
    run, seed : int
        The number of the run, from 1, and the random seed of its search.
    split_seed, fold : int
        The seed of the train/test split, and the fold that is held out, from 0.
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

    def __str__(self) -> str:
        """Return which cell it is."""
        return f"{self.method} on {self.data}, run {self.run}, fold {self.fold}, seed {self.seed}"

    def belongs_to(self, shard: tuple[int, int]) -> bool:
        """Whether this is a cell of shard i of n: by its key alone, so shards never overlap."""
        index, total = shard
        return int(self.key, 16) % total == index - 1


def list_cells(
    data: Sequence[Data], methods: Sequence[Method], runs: int, experiment: Experiment
) -> list[Cell]:
    """Return all cells, run by run, so that an unfinished comparison is a fair one.

    A deterministic method has one run where all runs see the same rows.

    Raises
    ------
    SpecError
        If there would be more cells than a store is made for.
    """
    check_runs(runs, experiment.seed)
    protocol = experiment.protocol
    splits_differ = protocol.holds_out and experiment.split_seed is None
    n_runs = {method.label: runs if method.is_random or splits_differ else 1 for method in methods}
    total = sum(n_runs.values()) * len(data) * protocol.n_folds
    if total > MOST_CELLS:
        raise SpecError(
            f"the comparison has {total} cells ({counted(len(data), 'table')} x "
            f"{counted(len(methods), 'method')} x {counted(runs, 'run')} x "
            f"{counted(protocol.n_folds, 'fold')}), at most {MOST_CELLS} fit into one",
            "reduce the runs, or divide it into several comparisons",
        )
    shared = experiment.to_dict()
    # A cell has its own seeds in place of these two: further runs change no key.
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
    """Refuse a number of runs that is out of range.

    Raises
    ------
    SpecError
        If it is one.
    """
    check_whole("runs", runs, most=MOST_RUNS)
    check_whole("the seed of the last run", seed + runs - 1, 0)


def canonical(value: object) -> str:
    """Return canonical JSON: keys sorted, no blanks, no NaN.

    Examples
    --------
    >>> canonical({"b": 1, "a": [2.5, None]})
    '{"a":[2.5,null],"b":1}'
    """
    return as_json(value, sort_keys=True, separators=(",", ":"))


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
