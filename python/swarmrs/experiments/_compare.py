"""compare(): methods on tables, run by run and fold by fold, into a store."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from swarmrs._base._arguments import check_arguments
from swarmrs._base._messages import refuse_unknown
from swarmrs._base._options import options_of, takes_options
from swarmrs.data._options import ReadOptions
from swarmrs.data._table import Data as Given
from swarmrs.data._target import Target
from swarmrs.experiments._execution._workers import Progress
from swarmrs.experiments._plan import Comparison, Plan
from swarmrs.search._options._declarations import SearchOptions
from swarmrs.search._options._types import OPTION_TYPES


# Three options of a search mean something of their own here.
@takes_options(SearchOptions, OPTION_TYPES, door="m")
def compare(  # type: ignore[misc]
    data: Mapping[str, Given] | Sequence[Given] | str | os.PathLike[str],
    algos: str | Sequence[str],
    *,
    target: Target = None,
    read: Mapping[str, Any] | None = None,
    missing: str = "error",
    encode: str = "error",
    data_dir: str | os.PathLike[str] | None = None,
    runs: int = 10,
    protocol: str = "cv10",
    store: str | os.PathLike[str] | None = None,
    random_state: int = 1,
    split_seed: int | None = None,
    test_metric: str | None = None,
    shard: tuple[int, int] | None = None,
    cluster: str | None = None,
    n_jobs: int | None = None,
    memory: int = 2**30,
    on_progress: Callable[[Progress], None] | None = None,
    **options: Unpack[SearchOptions],
) -> Comparison:
    """Compare methods on tables by their scores on held-out rows.

    Every method, table, run and fold is a cell. All methods are evaluated alike, by 5-NN and 10
    folds unless options say otherwise. Cells that the store has are not run again.

    Parameters
    ----------
    data : sequence, mapping, str or path
        Tables as `read_table` takes them, in a list; a mapping gives them names.
    algos : str or sequence of str
        Methods: ``"bpso,vlpso[population=50],all"``; ``all`` selects every feature.
    target : str or int, optional
        The column of classes, by default the last.
    read : mapping, optional
        How files are read: further arguments of `read_table`, such as ``{"decimal": ","}``.
    missing, encode : str
        As for `read_table`; but ``"mean"``, ``"median"`` and ``"mode"`` are those of training rows
        where the protocol holds out others.
    data_dir : str or path, optional
        The folder of tables that are given by name.
    runs : int
        The runs of each method. Run r has the random seed ``random_state + r - 1``, the same for
        all methods. A deterministic method has one run where all runs see the same rows.
    protocol : str
        ``"cv10"`` or another number of folds: nested cross-validation with these outer folds.
        ``"split70"``: 70 percent of the rows are searched, the others held out. ``"resub"``: all
        rows are searched and none held out. ``"loo"``: the same with leave-one-out evaluation.
    store : path, optional
        The file of all cells; the same call continues where it stopped.
    random_state : int
        The random seed of the first run.
    split_seed : int, optional
        Use one train/test split, of this seed, for all runs. By default each run has its own, by
        its seed, the same for all methods.
    test_metric : str, optional
        The distance of knn on held-out rows. By default that of the search, with preset
        ``"tran2019"`` Euclidean.
    shard : (int, int), optional
        Run only part i of n, i from 1; `swarmrs.experiments.merge` joins the stores.
    cluster : str, optional
        The address of a dask scheduler, or ``"local"``. Workers read tables by their paths.
    n_jobs : int, optional
        Number of threads; -1 is all. Cells run in parallel, on one thread each as long as there are
        enough of them. It changes no result.
    memory : int
        Bytes for cached distances, of all running cells together. It changes no result.
    on_progress : callable, optional
        Called with the progress, several times a second.
    {options}

    Returns
    -------
    Comparison
        The cells and their settings.

    Raises
    ------
    SpecError
        If an option is unknown, out of range or does not fit the others, or the store holds another
        experiment.
    DataError
        If a table cannot be used.
    StoreError
        If the store is damaged or cannot be written; finished cells are stored.
    ClusterError
        If the cluster cannot be reached or is lost; finished cells are stored.

    Examples
    --------
    >>> found = compare(["sklearn:iris"], "sfs,all", runs=2, protocol="split70")
    >>> found.cells.select("method", "run", "size", "state").rows()
    [('sfs', 1, 2, 'done'), ('sfs', 2, 3, 'done'), ('all', 1, 4, 'done'), ('all', 2, 4, 'done')]
    """
    check_arguments(compare, {**locals(), **options})
    refuse_unknown(read or {}, options_of(ReadOptions, "p"))
    plan = Plan.of(
        [data] if isinstance(data, str | os.PathLike) else data,
        algos,
        target=target,
        read={"missing": missing, "encode": encode, **(read or {})},
        data_dir=data_dir,
        runs=runs,
        protocol=protocol,
        random_state=random_state,
        split_seed=split_seed,
        test_metric=test_metric,
        shard=shard,
        **options,
    )
    return plan.run(store, n_jobs=n_jobs, memory=memory, cluster=cluster, on_progress=on_progress)
