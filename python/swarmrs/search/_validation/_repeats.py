"""The same search with other seeds, or on other rows: what its runs agree on."""

from dataclasses import replace

import numpy as np
import polars as pl

from swarmrs._base._hints import setting
from swarmrs._base._messages import counted
from swarmrs.evaluation._estimator import Outside
from swarmrs.evaluation._folds import Folds
from swarmrs.exceptions import NoFeaturesError
from swarmrs.search._pool import Job, run_all
from swarmrs.search._results._progress import Callback
from swarmrs.search._results._selection import Selection
from swarmrs.search._search import Search
from swarmrs.search._validation._stability import Stability, agreed, agreement


def repeat(
    search: Search,
    seed: int,
    repeats: int,
    resample: float | None,
    *,
    threads: int,
    callback: Callback | None,
    keep_all: bool,
) -> Selection:
    """Run a search with this seed and those after it; return the best run, and what all show.

    Where each run draws its own rows, a search of all rows, with the first seed, is returned.
    """
    seeds = [(seed + number) % 2**64 for number in range(repeats)]

    def job(seed: int, draw: int | None = None) -> Job[Selection]:
        def run(threads: int, callback: Callback) -> Selection:
            here = search if draw is None or resample is None else _drawn(search, resample, draw)
            try:
                return here.run(seed, threads=threads, callback=callback, keep_all=keep_all)
            except NoFeaturesError as problem:
                if draw is None:
                    raise
                # To find nothing in some of the rows is an answer, and the other runs have theirs.
                return here.majority(seed, problem)

        return run

    jobs = [job(seed) for seed in seeds]
    if resample is not None:
        jobs = [job(seed), *(job(seed, draw) for draw, seed in enumerate(seeds))]
    # What Python measures keeps the interpreter busy, and has threads of its own.
    at_once = not isinstance(search.measure, Outside)
    ran = run_all(jobs, threads, at_once, callback)
    if resample is None:
        found = [run for run in ran.done if run is not None] or ran.cut
        ended = [run for run in ran.done if run is not None]
    else:
        # The search of all rows begins first, so that it is the first to be cut.
        found = [ran.done[0]] if ran.done[0] is not None else ran.cut[:1]
        ended = [run for run in ran.done[1:] if run is not None]
    if not found:
        raise KeyboardInterrupt
    best = min(found, key=lambda run: (run.cost, run.size))
    if ran.stop is not None:
        best = replace(best, stop=ran.stop)
    if len(ended) < 2:
        return best
    warnings = best.warnings
    if resample is None and all(run.trace.equals(best.trace) for run in ended):
        message = (
            f"all {len(ended)} runs are the same, step by step: seeds change nothing here; "
            f"{setting('resample', 0.8)} shows what other rows change"
        )
        warnings = (*warnings, message)
    empty = sum(not run.selected for run in ended)
    if empty:
        message = f"no feature survives the prescreen in {empty} of {counted(len(ended), 'run')}"
        warnings = (*warnings, message)
    stability = _compare(search, ended, best, resample, threads)
    return replace(best, stability=stability, warnings=warnings)


def _drawn(search: Search, share: float, draw: int) -> Search:
    """Return the search on a share of the rows of each class."""
    table = search.table
    folds = Folds("holdout", test=1.0 - share, seed=search.settings.outer_seed + draw)
    ((rows, _),) = folds.rows(table)
    return search.on(table.take(rows))


def _compare(
    search: Search, runs: list[Selection], best: Selection, resample: float | None, threads: int
) -> Stability:
    masks = np.array([run.support for run in runs])
    counts = masks.sum(axis=0)
    order = np.lexsort((np.arange(len(counts)), -counts))[: np.count_nonzero(counts)]
    frequency = pl.DataFrame(
        {
            "index": order,
            "feature": [search.table.names[at] for at in order],
            "frequency": counts[order] / len(runs),
        }
    )
    most = search.settings.max_features(search.table.x.shape[1])
    consensus = agreed(masks, most)
    if not len(consensus):
        # Runs that found nothing outweigh the others: what these agree on has features to measure.
        consensus = agreed(masks[masks.any(axis=1)] if counts.any() else best.support[None], most)
    return Stability(
        runs=tuple(runs),
        resample=resample,
        frequency=frequency,
        agreement=agreement(masks[:, search.free]),
        consensus=search.price(consensus.tolist(), threads),
    )
