"""summary(): descriptive statistics and tests of a comparison."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from swarmrs._base._messages import check_word, counted, quoted
from swarmrs.exceptions import DataError
from swarmrs.experiments._analysis._findings import Entry, Findings, Overall, Versus
from swarmrs.experiments._analysis._runs import (
    DONE,
    MEASURES,
    Runs,
    Values,
    collect,
    costs,
    default_measure,
    is_accuracy,
    labelled,
    scoring_of,
)
from swarmrs.experiments._analysis._statistics import (
    LEVEL,
    Tested,
    friedman,
    holm,
    improvement,
    mid_ranks,
    moments,
    paired_t,
    places,
    rank_sum,
    reduction,
    signed_rank,
    tally,
    vargha_delaney,
    verdict,
)
from swarmrs.experiments._design._methods import ALL


class _Sample(NamedTuple):
    """The runs of a method on a data set, and their costs by the measure that is compared."""

    runs: Runs
    costs: Values


_Samples = Mapping[tuple[str, str], _Sample]


class _Blocks(NamedTuple):
    """The blocks of the ranks: their kind, their names, and a row of costs for each."""

    kind: str
    names: tuple[str | int, ...]
    costs: Values


def summary(
    cells: pl.DataFrame,
    *,
    measure: str | None = None,
    reference: str | None = None,
    cost_of_all: Mapping[str, float] | None = None,
) -> Findings:
    """Compare the methods of a frame of cells.

    A run's value is the mean over its folds; runs with a fold that is not finished are left out.
    Ranks and the tests over data sets go by the means of runs.

    Parameters
    ----------
    cells : polars.DataFrame
        A row for each cell, as `cells_frame` gives them.
    measure : str, optional
        The column of the cells that is compared. By default the score of the searches on held-out
        rows, mostly the test accuracy; where there are none the training error, or loss, or the
        training cost.
    reference : str, optional
        The method that the others are tested against; by default that of the best average rank.
    cost_of_all : mapping, optional
        The cost of all features by data set, in this measure (of an accuracy 1 - accuracy): the
        reference of PI(%). By default that of the method ``"all"``, if it is there.

    Returns
    -------
    Findings

    Raises
    ------
    SpecError
        If there is no such measure or method.
    DataError
        If no run is finished.
    """
    if measure is not None:
        check_word("measure", measure, tuple(MEASURES))
    runs = collect(labelled(cells))
    scoring = scoring_of(cells)
    measure = measure or default_measure(runs, scoring)
    samples = {
        (each.data, each.method): _Sample(each, costs(each.values[measure], measure))
        for each in runs
        if not np.isnan(each.values[measure]).any()
    }
    if not samples:
        raise DataError(f"no run has a {MEASURES[measure]}", "compare by another measure")
    datasets = tuple(sorted({data for data, _ in samples}))
    names = sorted({method for _, method in samples})
    if reference is not None:
        check_word("method", reference, names)
    blocks = _blocks(datasets, names, samples)
    # Without a block that all methods share, they are all alike.
    ranks = np.array([mid_ranks(row) for row in blocks.costs]).reshape(-1, len(names))
    average = ranks.mean(axis=0) if len(ranks) else np.full(len(names), (len(names) + 1) / 2)
    order = sorted(range(len(names)), key=lambda at: (average[at], names[at]))
    methods = tuple(names[at] for at in order)
    reference = reference or methods[0]
    table = blocks.costs[:, order]
    of_all = {data: each.costs.mean() for (data, name), each in samples.items() if name == ALL}
    of_all |= cost_of_all or {}
    versus = tuple(row for data in datasets for row in _versus(data, reference, methods, samples))
    overall = _overall(table, methods, average[order], methods.index(reference))
    return Findings(
        measure=measure,
        scoring=scoring,
        reference=reference,
        datasets=datasets,
        methods=methods,
        entries=tuple(
            entry
            for data in datasets
            for entry in _entries(data, methods, samples, measure, of_all.get(data))
        ),
        versus=versus,
        overall=overall,
        blocks=blocks.kind,
        ranked_on=blocks.names,
        friedman=friedman(table),
        notes=(
            *_notes(cells, datasets, samples, blocks),
            *_too_few(versus, overall, blocks),
        ),
    )


def _blocks(datasets: Sequence[str], methods: Sequence[str], samples: _Samples) -> _Blocks:
    """Return the means of the data sets that all methods have; of a single one, its runs."""
    table: list[list[float]]
    if len(datasets) > 1:
        whole = [data for data in datasets if all((data, name) in samples for name in methods)]
        table = [[moments(samples[data, name].costs).mean for name in methods] for data in whole]
        return _Blocks("data sets", tuple(whole), np.array(table).reshape(-1, len(methods)))
    present = [samples[datasets[0], name] for name in methods]
    # A deterministic method is run once: every run would be the same.
    numbers = [set(each.runs.numbers.tolist()) for each in present if each.costs.size > 1]
    common = sorted(set.intersection(*numbers)) if numbers else [0]
    table = [[_in_run(each, run) for each in present] for run in common]
    return _Blocks("runs", tuple(common), np.array(table).reshape(-1, len(methods)))


def _in_run(sample: _Sample, run: int) -> float:
    alone = sample.costs.size == 1
    return float(sample.costs[0 if alone else np.searchsorted(sample.runs.numbers, run)])


def _paired(first: _Sample, second: _Sample) -> tuple[Values, Values]:
    """Return the costs of the runs both have; a single run is paired with every one."""
    if first.costs.size == 1 or second.costs.size == 1:
        one, other = np.broadcast_arrays(first.costs, second.costs)
        return one, other
    _, ours, theirs = np.intersect1d(first.runs.numbers, second.runs.numbers, return_indices=True)
    return first.costs[ours], second.costs[theirs]


def _entries(
    data: str, methods: Sequence[str], samples: _Samples, measure: str, of_all: float | None
) -> Iterator[Entry]:
    """Yield a row for each method that has the measure on a data set."""
    present = [method for method in methods if (data, method) in samples]
    summed = [moments(samples[data, method].costs) for method in present]
    contest = places([each.mean for each in summed])
    for method, (mean, std, best), place in zip(present, summed, contest, strict=True):
        runs = samples[data, method].runs
        means = {name: float(values.mean()) for name, values in runs.values.items()}
        yield Entry(
            data=data,
            method=method,
            runs=runs.numbers.size,
            incomplete=runs.incomplete,
            mean=1 - mean if is_accuracy(measure) else mean,
            std=std,
            best=1 - best if is_accuracy(measure) else best,
            improvement=None if of_all is None else improvement(mean, of_all),
            place=int(place),
            size=means["size"],
            n_features=runs.n_features,
            reduction=reduction(means["size"], runs.n_features),
            train_error=None if math.isnan(means["train_error"]) else means["train_error"],
            train_loss=None if math.isnan(means["train_loss"]) else means["train_loss"],
            evaluations=means["evaluations"],
            unique=means["unique"],
            seconds_search=means["seconds_search"],
            seconds_evaluate=means["seconds_evaluate"],
            seconds=means["seconds"],
        )


def _versus(
    data: str, reference: str, methods: Sequence[str], samples: _Samples
) -> Iterator[Versus]:
    """Yield the tests of the reference against every other method on one data set."""
    if (data, reference) not in samples:
        return
    ours = samples[data, reference]
    others = [name for name in methods if name != reference and (data, name) in samples]
    pairs = [_paired(samples[data, name], ours) for name in others]
    signed = [signed_rank(*pair) if pair[0].size > 1 else None for pair in pairs]
    corrected = _holm(signed)
    for name, pair, ranks, p in zip(others, pairs, signed, corrected, strict=True):
        theirs = samples[data, name]
        is_sample = min(theirs.costs.size, ours.costs.size) > 1
        t = paired_t(*pair) if pair[0].size > 1 else None
        yield Versus(
            data=data,
            method=name,
            pairs=pair[0].size,
            t=t,
            t_verdict=None if t is None else _t_verdict(t),
            signed_rank=ranks,
            holm=p,
            verdict=None if ranks is None or p is None else verdict(ranks.lean, p),
            rank_sum=rank_sum(theirs.costs, ours.costs) if is_sample else None,
            effect=vargha_delaney(theirs.costs, ours.costs),
        )


def _t_verdict(t: Tested) -> str:
    """Return the sign of a paired t as the tables of 2D-UPSO have it: equal and unclear differ."""
    sign = verdict(t.lean, t.p)
    return "?" if sign == "=" and t.lean else sign


def _holm(tests: Sequence[Tested | None]) -> list[float | None]:
    """Return the corrected p-values of those tests that could be done."""
    corrected = iter(holm([test.p for test in tests if test is not None]).tolist())
    return [None if test is None else next(corrected) for test in tests]


def _overall(
    table: Values, methods: Sequence[str], average: Values, reference: int
) -> tuple[Overall, ...]:
    """Return a row for each method; `table` has a row of costs for each block."""
    others = [at for at in range(len(methods)) if at != reference]
    ours = table[:, reference]
    signed = [signed_rank(table[:, at], ours) if len(table) > 1 else None for at in others]
    tests = dict(zip(others, zip(signed, _holm(signed), strict=True), strict=True))
    return tuple(
        Overall(
            method=method,
            average_rank=float(average[at]),
            place=int(place),
            tally=None if at == reference else tally(ours, table[:, at]),
            signed_rank=tests.get(at, (None, None))[0],
            holm=tests.get(at, (None, None))[1],
        )
        for at, (method, place) in enumerate(zip(methods, places(average), strict=True))
    )


def _notes(
    cells: pl.DataFrame,
    datasets: Sequence[str],
    samples: _Samples,
    blocks: _Blocks,
) -> Iterator[str]:
    """Yield what is left out, and why."""
    unfinished = cells.height - cells.filter(pl.col("state") == DONE).height
    if unfinished:
        yield f"{counted(unfinished, 'cell')} of {cells.height} not finished"
    empty = cells.filter(pl.col("stop") == "no_features").height if "stop" in cells.columns else 0
    if empty:
        where = f"{empty} of {counted(cells.height, 'cell')}"
        yield (
            f"no feature survives the prescreen in {where}: the majority class is predicted there"
        )
    incomplete = sum(each.runs.incomplete for each in samples.values())
    if incomplete:
        yield f"{counted(incomplete, 'run')} left out, because not all folds are finished"
    if blocks.kind == "data sets" and len(blocks.names) < len(datasets):
        missing = [data for data in datasets if data not in blocks.names]
        yield f"not ranked, because some method has no finished run there: {quoted(missing)}"
    elif blocks.kind == "runs":
        yield "one data set: ranks and tests are over its runs, and say nothing about other data"


def _too_few(
    versus: Sequence[Versus], overall: Sequence[Overall], blocks: _Blocks
) -> Iterator[str]:
    """Say where there are too few runs or data sets for any difference to be significant."""
    few: dict[tuple[int, int], list[str]] = {}
    for data in dict.fromkeys(row.data for row in versus):
        mine = [row for row in versus if row.data == data]
        pairs = max(row.pairs for row in mine)
        # Where differences tie the test is approximate, and may say more.
        is_found = any(row.verdict in ("+", "-") for row in mine)
        if not is_found and pairs < _needed(len(mine)):
            few.setdefault((pairs, len(mine)), []).append(data)
    n_data = len({row.data for row in versus})
    for (pairs, n_tests), names in few.items():
        where = "" if len(names) == n_data else f" on {quoted(names)}"
        yield _says_too_few(counted(pairs, "run"), "runs", n_tests) + where
    n_tests, n_blocks = len(overall) - 1, len(blocks.names)
    is_found = any(row.holm is not None and row.holm <= LEVEL for row in overall)
    if blocks.kind == "data sets" and n_tests and not is_found and n_blocks < _needed(n_tests):
        yield _says_too_few(counted(n_blocks, "data set"), "data sets", n_tests)


def _needed(n_tests: int) -> int:
    """Return the least number of pairs with which one of several signed-rank tests can succeed.

    Of n pairs without ties the least two-sided p is 2 / 2**n, and Holm multiplies it by the number
    of tests.
    """
    return math.ceil(math.log2(2 * n_tests / LEVEL))


def _says_too_few(had: str, what: str, n_tests: int) -> str:
    others = counted(n_tests, "other method")
    return (
        f"{had}: too few for a significant difference; signed-rank tests against {others} need "
        f"{_needed(n_tests)} {what} or more"
    )
