"""rows=N: a sample of the rows is searched, and what it selects is scored on all of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from swarmrs import Evaluator, read_table, select
from swarmrs.exceptions import SpecError
from swarmrs.search._options._settings import Settings
from swarmrs.search._rows import sample_rows, shares
from swarmrs.search._search import Search

XY = tuple[NDArray[np.float64], NDArray[np.int64]]


@pytest.fixture(scope="module")
def tall() -> XY:
    """Return 3000 rows of 6 features, of which the second and the fifth tell the class."""
    rng = np.random.default_rng(5)
    y = rng.choice(3, 3000, p=[0.7, 0.25, 0.05])
    x = rng.normal(size=(3000, 6))
    x[:, 1] += 2 * (y == 1)
    x[:, 4] += 2 * (y == 2)
    return x, y


def drawn(data: XY, n: int, seed: int) -> XY:
    """Return the rows that a search with this seed has."""
    rows = sample_rows(read_table(data), n, seed)
    assert rows is not None
    return data[0][rows], data[1][rows]


def test_a_sample_has_the_shares_of_the_classes(tall: XY) -> None:
    table = read_table(tall)
    rows = sample_rows(table, 300, 7)
    assert rows is not None
    assert len(set(rows)) == 300
    assert (np.diff(rows) > 0).all()
    expected = 300 * np.bincount(table.codes) / 3000
    assert np.abs(np.bincount(table.codes[rows]) - expected).max() < 1
    again = sample_rows(table, 300, 7)
    other = sample_rows(table, 300, 8)
    assert again is not None
    assert other is not None
    assert (rows == again).all()
    assert not (rows == other).all()
    assert sample_rows(table, 3000, 7) is None


@pytest.mark.parametrize("n", [4, 5, 50, 999])
def test_every_class_has_a_row_and_the_sum_is_right(n: int) -> None:
    for counts in ([997, 1, 1, 1], [250, 250, 250, 250], [500, 498, 1, 1]):
        sizes = shares(np.array(counts), n)
        assert sum(sizes) == n
        assert min(sizes) >= 1
        assert all(size <= count for size, count in zip(sizes, counts, strict=True))


def test_numeric_targets_are_sampled_at_random() -> None:
    y = np.arange(500) / 7
    table = read_table((np.random.default_rng(1).normal(size=(500, 3)), y), task="regression")
    rows = sample_rows(table, 100, 3)
    assert rows is not None
    assert len(set(rows)) == 100


@pytest.mark.parametrize("estimator", ["knn", "nb", "ridge"])
def test_the_search_is_that_of_the_sample_and_the_score_that_of_all_rows(
    tall: XY, estimator: str
) -> None:
    options: dict[str, Any] = {"algo": "bpso", "max_evals": 300, "estimator": estimator}
    found = select(tall, rows=400, random_state=3, **options)
    alone = select(drawn(tall, 400, 3), random_state=3, **options)
    assert found.trace.equals(alone.trace)
    assert found.selected_indices == alone.selected_indices
    assert found.rows is not None
    assert found.rows == (400, 3000, 3000, alone.cost, alone.loss)
    scores = Evaluator(tall, estimator=estimator).measure(found.support)
    for name, value in found.scores.items():
        assert scores[name][0] == value
    whole = select(tall, random_state=3, **options)
    assert found.data["fingerprint"] == whole.data["fingerprint"]
    assert found.data["rows"] == 3000
    assert found.baseline == whole.baseline


def test_numbers_and_other_estimators_are_scored_on_all_rows(tall: XY) -> None:
    x, y = tall
    found = select((x, x[:, 1] * 2 + y), task="regression", algo="sfs", rows=200, random_state=1)
    scores = Evaluator((x, x[:, 1] * 2 + y), task="regression").measure(found.support)
    assert scores["r2"][0] == found.scores["r2"]
    model = LogisticRegression()
    outside = select(tall, estimator=model, algo="sfs", max_features=2, rows=200, random_state=1)
    search = Search.of(read_table(tall), Settings.of({"estimator": model, "algo": "sfs"}))
    assert outside.scores["error"] == search.price(outside.selected_indices).error


def test_a_table_that_is_small_enough_is_searched_as_a_whole(blobs: XY) -> None:
    whole = select(blobs, algo="bpso", random_state=1, max_evals=90)
    found = select(blobs, algo="bpso", random_state=1, max_evals=90, rows=10**6)
    assert found.rows is None
    assert found.trace.equals(whole.trace)


def test_an_explicit_number_wins_over_that_of_auto(tall: XY) -> None:
    own = select(tall, random_state=1)
    given = select(tall, random_state=1, rows=500)
    for found, searched in ((own, 2000), (given, 500)):
        assert found.rows is not None
        assert found.competition is not None
        assert found.rows[:3] == (searched, 3000, 3000)
        assert found.competition.n_rows == searched
        scores = Evaluator(tall).measure(found.support)
        assert scores["error"][0] == found.scores["error"]
        assert found.front[0].scores == found.scores


def test_outer_folds_come_first(tall: XY) -> None:
    found = select(tall, algo="sfs", rows=300, random_state=1, outer_cv=3)
    assert found.held_out is not None
    assert found.rows is not None
    assert found.rows[:3] == (300, 3000, 3000)
    for part in found.held_out.parts:
        assert part.n_train == 2000
        assert part.selection.rows is not None
        assert part.selection.rows[:3] == (300, 2000, 2000)


def test_held_out_rows_are_not_drawn(tall: XY) -> None:
    found = select(tall, algo="sfs", rows=300, random_state=1, test_size=0.2)
    assert found.held_out is not None
    assert found.rows is not None
    assert found.rows[:3] == (300, 2400, 2400)
    assert found.held_out.parts[0].n_test == 600


def test_each_repeat_draws_its_own_rows(tall: XY) -> None:
    found = select(tall, algo="sfs", rows=400, random_state=1, repeats=3)
    assert found.stability is not None
    runs = found.stability.runs
    for seed, run in zip((1, 2, 3), runs, strict=True):
        alone = select(drawn(tall, 400, seed), algo="sfs", random_state=seed)
        assert run.selected_indices == alone.selected_indices
    assert found.cost == min(run.cost for run in runs)


def test_a_checkpoint_is_that_of_the_sample(tall: XY, tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    options: dict[str, Any] = {"algo": "bpso", "random_state": 1}
    whole = select(tall, rows=200, max_evals=120, **options)

    def stop(iteration: Any) -> bool:
        return bool(iteration["iteration"] == 1)

    select(tall, rows=200, max_evals=120, checkpoint=path, callback=stop, **options)
    resumed = select(tall, rows=200, max_evals=120, checkpoint=path, **options)
    assert resumed.trace.equals(whole.trace)
    assert resumed.scores == whole.scores
    with pytest.raises(SpecError, match="made from other data"):
        select(tall, rows=201, max_evals=120, checkpoint=path, **options)


def test_missing_values_are_imputed_from_the_rows_in_use(tall: XY) -> None:
    x = tall[0].copy()
    x[::7, 2] = np.nan
    found = select((x, tall[1]), missing="median", algo="sfs", rows=200, random_state=1)
    scores = Evaluator(read_table((x, tall[1]), missing="median")).measure(found.support)
    assert scores["error"][0] == found.scores["error"]


@pytest.mark.parametrize(
    "options", [{"cv": [([0, 1], [2])]}, {"scorer": lambda masks: masks[:, 0]}]
)
def test_searches_that_are_tied_to_their_rows_are_refused(
    tall: XY, options: dict[str, Any]
) -> None:
    with pytest.raises(SpecError, match="drawn"):
        select(tall, algo="bpso", rows=100, **options)


@pytest.mark.parametrize("rows", [0, 1, -5, 2, 10.5, True])
def test_a_number_of_rows_that_cannot_be_is_refused(tall: XY, rows: Any) -> None:
    with pytest.raises(SpecError, match="rows"):
        select(tall, algo="bpso", rows=rows)


def test_the_time_limit_covers_the_score_on_all_rows(
    tall: XY, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"algo": "sfs", "rows": 400, "random_state": 1}
    within = select(tall, time_limit=60, **options)
    assert within.budget["seconds"] == 60
    assert within.rows is not None
    assert within.rows.scored == 3000
    monkeypatch.setattr(Search, "price_within", lambda *_: None)
    late = select(tall, time_limit=60, **options)
    assert late.rows is not None
    assert late.rows[:3] == (400, 400, 3000)
    assert late.cost == late.rows.cost
    assert late.data["rows"] == 3000


def test_an_interrupted_score_on_all_rows_costs_no_result(
    tall: XY, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "price_within", interrupt)
    options: dict[str, Any] = {"algo": "sfs", "rows": 400, "random_state": 1}
    found = select(tall, on_interrupt="return", **options)
    assert found.stop == "interrupted"
    assert found.rows is not None
    assert found.rows[:3] == (400, 400, 3000)
    with pytest.raises(KeyboardInterrupt):
        select(tall, **options)


def test_a_price_that_takes_too_long_is_given_up() -> None:
    rng = np.random.default_rng(1)
    table = read_table((rng.random((60_000, 12)), rng.integers(0, 2, 60_000)))
    search = Search.of(table, Settings.of({"algo": "bpso"}))
    assert search.price_within(0.05, range(12)) is None


def test_the_command_prints_the_rows(tall: XY, tmp_path: Path, cli: Callable[..., Any]) -> None:
    path = tmp_path / "tall.csv"
    table = read_table(tall)
    table.reduced(table.names).write_csv(path)
    command = ("select", path, "--algo", "sfs", "--rows", "200", "--seed", "1", "-q")
    done = cli(*command)
    assert "rows          searched on 200 of 3000, scored on all\n" in done.out
    plain = json.loads(cli(*command, "--format", "json").out)
    assert plain["rows"]["searched"] == 200
    assert plain["rows"]["total"] == plain["rows"]["scored"] == plain["data"]["rows"] == 3000
