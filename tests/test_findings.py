"""What is concluded from cells: runs out of folds, ranks out of means, and what is left out."""

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from experiment_cells import cell, failed, frame, made_comparison
from swarmrs.cli._output._findings import findings_table
from swarmrs.exceptions import DataError, SpecError
from swarmrs.experiments._analysis._statistics import (
    friedman,
    holm,
    paired_t,
    rank_sum,
    signed_rank,
)
from swarmrs.experiments._analysis._summary import summary


def scored(data: str, method: str, run: int, accuracy: float, fold: int = 0) -> dict[str, object]:
    known: dict[str, Any] = {"test_accuracy": accuracy, "test_error": 1 - accuracy}
    return cell(data, method, run, fold, train_error=1 - accuracy, train_cost=1 - accuracy, **known)


def test_a_run_is_the_mean_over_its_folds() -> None:
    found = summary(
        frame(
            [
                scored("wine", "ga", 1, 0.5, fold=0),
                scored("wine", "ga", 1, 1.0, fold=1),
                scored("wine", "ga", 2, 0.9, fold=0),
                scored("wine", "ga", 2, 1.0, fold=1),
            ]
        )
    )
    (entry,) = found.entries
    assert entry.runs == 2
    assert (entry.mean, entry.best) == pytest.approx((0.85, 0.95))
    assert entry.std == pytest.approx(np.std([0.75, 0.95], ddof=1))
    assert entry.reduction == 70


def test_the_order_of_cells_does_not_matter() -> None:
    cells = made_comparison(["wine", "zoo"], ["ga", "aco", "bpso"])
    shuffled = cells.sample(fraction=1, shuffle=True, seed=3)
    assert summary(shuffled).to_dict() == summary(cells).to_dict()


def test_ranks_are_of_the_means_of_data_sets() -> None:
    cells = made_comparison(["iris", "sonar", "wine", "zoo"], ["ga", "aco", "bpso"], runs=7)
    found = summary(cells)
    assert found.blocks == "data sets"
    assert found.friedman is not None
    means = [
        [1 - found.entry(data, name).mean for name in found.methods]  # type: ignore[union-attr]
        for data in found.datasets
    ]
    test = friedman(means)
    assert test is not None
    assert (found.friedman.ranks == test.ranks).all()
    assert [row.average_rank for row in found.overall] == test.average_ranks.tolist()
    first, *others = np.transpose(means)
    chances = [signed_rank(other, first).p for other in others]
    assert [row.holm for row in found.overall[1:]] == holm(chances).tolist()
    assert found.reference == found.methods[0]
    assert found.overall[0].tally is None


def test_one_data_set_is_tested_over_its_runs() -> None:
    cells = made_comparison(["wine"], ["aco", "bpso", "ga"], runs=9, folds=1)
    found = summary(cells, reference="bpso")
    assert found.blocks == "runs"
    assert found.ranked_on == tuple(range(9))
    assert any("one data set" in note for note in found.notes)
    errors = {
        str(method): mine.sort("run")["test_error"].to_numpy()
        for (method,), mine in cells.group_by("method")
    }
    test = friedman(np.transpose([errors[name] for name in found.methods]))
    assert found.friedman is not None
    assert test is not None
    assert (found.friedman.nemenyi == test.nemenyi).all()
    chances = []
    for row in found.versus:
        theirs, ours = errors[row.method], errors["bpso"]
        assert row.pairs == 9
        assert row.t == pytest.approx(paired_t(theirs, ours))
        assert row.signed_rank == pytest.approx(signed_rank(theirs, ours))
        assert row.rank_sum == pytest.approx(rank_sum(theirs, ours))
        chances.append(signed_rank(theirs, ours).p)
    assert [row.holm for row in found.versus] == pytest.approx(holm(chances).tolist())


def test_signs_say_who_is_better() -> None:
    cells = [
        scored("wine", method, run, base + run / 1000 + noise * run**2)
        for run in range(1, 13)
        for method, base, noise in (("ga", 0.8, 0), ("aco", 0.7, 1e-5), ("same", 0.8, 0))
    ]
    found = summary(frame(cells), reference="ga")
    rows = {row.method: row for row in found.versus}
    assert (rows["aco"].verdict, rows["aco"].t_verdict, rows["aco"].effect) == ("+", "+", 1)
    assert (rows["same"].verdict, rows["same"].t_verdict, rows["same"].effect) == ("=", "=", 0.5)
    turned = {row.method: row for row in summary(frame(cells), reference="aco").versus}
    assert (turned["ga"].verdict, turned["ga"].t_verdict, turned["ga"].effect) == ("-", "-", 0)
    accuracies = summary(frame(cells), reference="ga", measure="test_accuracy").versus
    errors = summary(frame(cells), reference="ga", measure="test_error").versus
    for one, other in zip(accuracies, errors, strict=True):
        assert one.verdict == other.verdict
        assert one.effect == other.effect


def test_pairs_are_runs_of_the_same_number() -> None:
    ours = [scored("wine", "ga", run, 0.5 + run / 100) for run in (1, 2, 3, 5)]
    theirs = [scored("wine", "aco", run, 0.4 + run / 100) for run in (2, 3, 4, 5)]
    (row,) = summary(frame(ours + theirs), reference="ga").versus
    assert row.pairs == 3
    assert row.t is not None
    assert row.t.p == 0


def test_a_single_run_stands_for_every_one() -> None:
    ours = [scored("wine", "ga", run, 0.5 + run**2 / 100) for run in range(1, 6)]
    (row,) = summary(frame([*ours, scored("wine", "sfs", 1, 0.4)]), reference="ga").versus
    assert row.pairs == 5
    assert row.rank_sum is None
    assert row.effect == 1


def test_improvement_is_measured_from_all_features() -> None:
    cells = [scored("wine", "all", 1, 1 - 0.6007), scored("wine", "ga", 1, 1 - 0.2259)]
    found = summary(frame(cells))
    entry = found.entry("wine", "ga")
    assert entry is not None
    assert entry.improvement == pytest.approx(62.394, abs=1e-3)
    given = summary(frame(cells), cost_of_all={"wine": 0.4518}).entry("wine", "ga")
    assert given is not None
    assert given.improvement == pytest.approx(50)
    assert summary(frame(cells[1:])).entries[0].improvement is None


def test_what_is_not_finished_is_left_out_and_told() -> None:
    cells = [
        scored(data, method, run, 0.8, fold)
        for data in ("wine", "zoo", "iris")
        for method in ("ga", "aco")
        for run in (1, 2)
        for fold in (0, 1)
    ]
    cells = [each for each in cells if (each["data"], each["method"]) != ("zoo", "aco")]
    cells[0] = failed("wine", "ga", 1, 0, "no luck")
    found = summary(frame([*cells, failed("zoo", "aco", 1, 0, "no luck")]))
    entry = found.entry("wine", "ga")
    assert entry is not None
    assert (entry.runs, entry.incomplete) == (1, 1)
    assert found.entry("zoo", "aco") is None
    assert found.ranked_on == ("iris", "wine")
    assert found.notes == (
        "2 cells of 21 not finished",
        "1 run left out, because not all folds are finished",
        "not ranked, because some method has no finished run there: 'zoo'",
        "2 runs: too few for a significant difference; signed-rank tests against 1 other method "
        "need 6 runs or more",
        "2 data sets: too few for a significant difference; signed-rank tests against 1 other "
        "method need 6 data sets or more",
    )


@pytest.mark.parametrize(
    ("n_methods", "runs", "needed"), [(2, 3, 6), (2, 5, 6), (2, 6, None), (5, 7, 8), (5, 8, None)]
)
def test_too_few_runs_for_any_difference_are_told(
    n_methods: int, runs: int, needed: int | None
) -> None:
    # The first method is better in every run, by another difference each time.
    cells = [
        scored("wine", f"m{method}", run, 0.9 - method * (0.05 + run / 1000))
        for method in range(n_methods)
        for run in range(runs)
    ]
    found = summary(frame(cells))
    notes = [note for note in found.notes if "too few" in note]
    is_found = [row.verdict == "+" for row in found.versus]
    if needed is None:
        assert not notes
        assert all(is_found)
    else:
        (note,) = notes
        assert note.startswith(f"{runs} runs: ")
        assert f"need {needed} runs or more" in note
        assert not any(is_found)


def test_nothing_finished_is_an_error() -> None:
    with pytest.raises(DataError, match="no cell is finished"):
        summary(frame([failed("wine", "ga", 1, 0, "no luck")]))
    with pytest.raises(DataError, match="no run has all of its folds finished"):
        summary(frame([scored("wine", "ga", 1, 0.5, 0), failed("wine", "ga", 1, 1, "no luck")]))
    with pytest.raises(DataError, match="no run has a test balanced accuracy"):
        summary(frame([scored("wine", "ga", 1, 0.5)]), measure="test_balanced_accuracy")


def test_unknown_names_are_refused() -> None:
    cells = frame([scored("wine", "ga", 1, 0.5)])
    with pytest.raises(SpecError, match="unknown measure 'accuracy'"):
        summary(cells, measure="accuracy")
    with pytest.raises(SpecError, match="unknown method 'gaa'") as problem:
        summary(cells, reference="gaa")
    assert "did you mean 'ga'" in str(problem.value.hint)


def test_settings_tell_methods_apart_where_they_differ() -> None:
    def settings(data: str, **params: object) -> dict[str, object]:
        return scored(data, "ga", 1, 0.5) | {"params": json.dumps(params)}

    by_data = [settings("wine", population=10), settings("zoo", population=20)]
    assert summary(frame(by_data)).methods == ("ga",)
    both = [settings("wine", population=n, elite=1, mode="x") for n in (10, 20)]
    assert summary(frame(both)).methods == ("ga (population=10)", "ga (population=20)")
    alone = [settings("wine"), settings("wine", population=20)]
    assert set(summary(frame(alone)).methods) == {"ga", "ga (population=20)"}


def test_protocols_tell_data_sets_apart_where_they_differ() -> None:
    cells = [scored("wine", "ga", 1, 0.5), scored("wine", "ga", 1, 0.6) | {"protocol": "loo"}]
    assert summary(frame(cells)).datasets == ("wine [cv10]", "wine [loo]")


def test_without_a_test_part_the_training_error_is_compared() -> None:
    cells = frame([scored("wine", "ga", 1, 0.75)]).with_columns(
        test_accuracy=pl.lit(None, pl.Float64)
    )
    found = summary(cells)
    assert found.measure == "train_error"
    assert found.entries[0].mean == 0.25


def test_the_json_is_strict_and_the_table_has_every_row() -> None:
    cells = made_comparison(["wine", "zoo"], ["ga", "aco", "bpso"])
    plain = summary(cells).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    text = findings_table(plain)
    assert text.count("wine") == text.count("zoo") == 3
    assert "friedman" in text


def test_equal_methods_share_the_first_place() -> None:
    cells = [scored(d, m, r, 0.5) for d in ("wine", "zoo") for m in ("ga", "aco") for r in (1, 2)]
    found = summary(frame(cells))
    assert [row.place for row in found.overall] == [1, 1]
    assert [row.average_rank for row in found.overall] == [1.5, 1.5]
    assert found.friedman is not None
    assert found.friedman.chi_square.p == 1
    assert all(row.holm in (None, 1) for row in found.overall)
