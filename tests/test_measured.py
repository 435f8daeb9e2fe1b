"""All evaluations of a search can be kept, and what it returns is the best of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from swarmrs import Evaluator, Selection, algorithms, select
from swarmrs.search._results._progress import Iteration
from swarmrs.search._results._selection import read_evaluations

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]
Cli = Callable[..., Any]


def evaluated_by(found: Selection) -> pl.DataFrame:
    assert found.all_evaluations is not None
    return found.all_evaluations


def pareto(measured: pl.DataFrame) -> list[tuple[int, float, list[int]]]:
    """Return the non-dominated subsets in size and error, the first evaluated of equals."""
    front: list[tuple[int, float, list[int]]] = []
    # A stable sort leaves equals in the order of evaluation.
    for _, size, _, error, chosen in measured.sort("size", "error", maintain_order=True).rows():
        if not front or error < front[-1][1]:
            front.append((size, error, chosen))
    return front


@pytest.mark.parametrize("objective", ["error", "weighted"])
@pytest.mark.parametrize("algo", [card.id for card in algorithms()])
def test_the_best_evaluation_is_returned_and_the_front_is_theirs(algo: str, objective: str) -> None:
    found = select(
        "sklearn:wine",
        algo=algo,
        objective=objective,
        random_state=4,
        max_evals=400,
        cv=5,
        keep_all=True,
    )
    measured = evaluated_by(found)
    assert measured.height == found.evaluations.unique
    assert measured["selected_indices"].n_unique() == measured.height
    assert measured["size"].equals(measured["selected_indices"].list.len())
    assert measured["iteration"].is_sorted()
    best = measured.sort("cost", "size", maintain_order=True).row(0, named=True)
    if found.ranking is not None:
        # The answer is the beginning of the ranking.
        first = found.ranking["index"][: found.size].to_list()
        assert sorted(first) == list(found.selected_indices)
        assert best["cost"] <= found.cost
    else:
        assert (best["cost"], tuple(best["selected_indices"])) == (
            found.cost,
            found.selected_indices,
        )
    assert pareto(measured) == [
        (point.size, point.error, list(point.selected_indices)) for point in found.front
    ]


def test_nothing_is_kept_unless_asked_for(blobs: Blobs) -> None:
    settings: dict[str, Any] = {"algo": "bpso", "random_state": 1, "max_evals": 90}
    without, kept = select(blobs, **settings), select(blobs, keep_all=True, **settings)
    assert without.all_evaluations is None
    assert without.trace.equals(kept.trace)


def test_numbers_are_those_of_the_evaluator(blobs: Blobs) -> None:
    measured = evaluated_by(select(blobs, algo="bpso", max_evals=90, random_state=1, keep_all=True))
    masks = np.zeros((measured.height, 6), dtype=bool)
    for mask, chosen in zip(masks, measured["selected_indices"], strict=True):
        mask[chosen.to_numpy()] = True
    assert measured["error"].to_list() == Evaluator(blobs).measure(masks)["error"].tolist()


def test_the_costs_of_a_filter_objective_are_kept(blobs: Blobs) -> None:
    settings: dict[str, Any] = {"algo": "bpso", "random_state": 1, "max_evals": 90}
    found = select(blobs, objective="filter-cfs", keep_all=True, **settings)
    assert evaluated_by(found)["cost"].min() == found.cost


def test_an_estimator_is_kept_too(blobs: Blobs) -> None:
    # The engine has no such smoothing, so that scikit-learn evaluates it.
    bayes = GaussianNB(var_smoothing=1e-8)
    found = select(blobs, algo="sfs", estimator=bayes, cv=3, keep_all=True)
    assert evaluated_by(found)["error"].min() == found.scores["error"]
    assert evaluated_by(found).height == found.evaluations.unique


def test_a_resumed_run_has_kept_what_came_before(blobs: Blobs, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"algo": "bpso", "random_state": 1, "max_evals": 300}
    settings["keep_all"] = True
    path = tmp_path / "run.ckpt"

    def stop(iteration: Iteration) -> bool:
        return iteration["iteration"] == 3

    cut = select(blobs, checkpoint=path, callback=stop, **settings)
    resumed = select(blobs, checkpoint=path, **settings)
    whole = evaluated_by(select(blobs, **settings))
    assert evaluated_by(resumed).equals(whole)
    assert evaluated_by(cut).equals(whole.head(evaluated_by(cut).height))


def test_more_subsets_than_are_spread_at_a_time() -> None:
    rng = np.random.default_rng(1)
    masks = rng.random((3000, 70)) < 0.2
    masks[:, 69] = True
    bits = np.packbits(np.pad(masks, ((0, 0), (0, 58))), axis=1, bitorder="little")
    numbers = np.arange(3000, dtype=np.float64)
    frame = read_evaluations(numbers.astype(np.uint64), numbers, numbers, bits, 70)
    assert frame["size"].to_list() == masks.sum(axis=1).tolist()
    assert frame["selected_indices"].to_list() == [np.flatnonzero(mask).tolist() for mask in masks]


def test_a_run_without_evaluations_has_an_empty_frame() -> None:
    none = np.empty(0)
    frame = read_evaluations(
        none.astype(np.uint64), none, none, np.empty((0, 8), dtype=np.uint8), 5
    )
    assert frame.shape == (0, 5)


class TestCommand:
    def test_csv_has_features_as_text(self, cli: Cli, blobs_csv: Path, tmp_path: Path) -> None:
        path = tmp_path / "all.csv"
        done = cli("select", blobs_csv, "--algo", "sfs", "--seed", 1, "--keep-all", path)
        assert done.code == 0, done.err
        found = select(blobs_csv, algo="sfs", random_state=1, keep_all=True)
        frame = pl.read_csv(path, schema_overrides={"selected_indices": pl.String})
        assert frame.columns == ["seed", "iteration", "size", "cost", "error", "selected_indices"]
        spelled = [" ".join(map(str, row)) for row in evaluated_by(found)["selected_indices"]]
        assert frame["selected_indices"].to_list() == spelled
        assert frame["cost"].to_list() == evaluated_by(found)["cost"].to_list()

    def test_parquet_has_lists_and_all_repeats(
        self, cli: Cli, blobs_csv: Path, tmp_path: Path
    ) -> None:
        path = tmp_path / "all.parquet"
        options = ("--algo", "bpso", "--seed", 3, "--repeats", 2, "--max-evals", 60)
        assert cli("select", blobs_csv, *options, "--keep-all", path).code == 0
        frame = pl.read_parquet(path)
        for seed in (3, 4):
            alone = select(blobs_csv, algo="bpso", random_state=seed, max_evals=60, keep_all=True)
            assert frame.filter(pl.col("seed") == seed).drop("seed").equals(evaluated_by(alone))

    def test_a_file_of_another_kind_is_refused_at_once(self, cli: Cli, blobs_csv: Path) -> None:
        done = cli("select", blobs_csv, "--keep-all", "all.json")
        assert (done.code, done.out) == (2, "")
        assert done.err == "error: 'all.json' ends in '.json'\nhint: known: .csv, .parquet\n"
