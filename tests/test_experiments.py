"""Methods, protocols, cells and what one cell measures."""

import dataclasses
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from swarmrs import Evaluator, algorithms, compare, read_table, select
from swarmrs.data._table import Table
from swarmrs.exceptions import DataError, SpecError
from swarmrs.experiments import Estimate, Plan, Protocol
from swarmrs.experiments._design._cells import (
    OPTIONS,
    RESULTS_VERSION,
    Cell,
    Experiment,
    canonical,
    fingerprint_of,
)
from swarmrs.experiments._design._methods import read_methods
from swarmrs.experiments._design._protocols import deal
from swarmrs.experiments._execution._run_cell import run_cell, training_rows


def planned(algos: str = "bpso,sfs", runs: int = 2, **how: object) -> list[Cell]:
    settings = {"protocol": "cv3", **how}
    return Plan.of(["sklearn:iris"], algos, runs=runs, **settings).cells  # type: ignore[arg-type]


def keys(*args: object, **how: object) -> list[str]:
    return [cell.key for cell in planned(*args, **how)]  # type: ignore[arg-type]


# Methods


def test_settings_of_one_method_stand_in_brackets_and_win_over_common_ones() -> None:
    methods = read_methods("BPSO, ga[population=8,mutation_rate=0.1] ,all", {"population": 5})
    assert [method.label for method in methods] == [
        "bpso",
        "ga[population=8,mutation_rate=0.1]",
        "all",
    ]
    assert [dict(method.params) for method in methods] == [
        {"population": 5},
        {"population": 8, "mutation_rate": 0.1},
        {},
    ]
    assert [method.is_random for method in methods] == [True, True, False]


@pytest.mark.parametrize(
    ("algos", "message", "hint"),
    [
        ("bpzo", "unknown algorithm 'bpzo'", "did you mean 'bpso'?"),
        ("", "no algorithm is given", "algos="),
        ("bpso,bpso", "method 'bpso' is given twice", "once"),
        (
            "bpso[popilation=4]",
            "unknown hyperparameter of bpso 'popilation'",
            "did you mean 'population'",
        ),
        ("bpso[population]", "'population' of 'bpso[population]' has no value", "population=50"),
        ("bpso[population=4,population=5]", "population of", "once"),
        ("all[k=1]", "'all' has no hyperparameters", "leave them out"),
        ("bpso[population=4", "the brackets of 'bpso[population=4' do not match", "bpso["),
        ("bpso]", "the brackets of 'bpso]' do not match", "bpso["),
    ],
)
def test_a_method_that_cannot_be_is_refused(algos: str, message: str, hint: str) -> None:
    with pytest.raises(SpecError) as refused:
        read_methods(algos)
    assert message in str(refused.value)
    assert hint in str(refused.value.hint)


def test_a_common_setting_that_no_method_has_is_refused() -> None:
    with pytest.raises(SpecError, match="no method here has the hyperparameter 'popilation'"):
        read_methods("bpso,sfs", {"popilation": 4})


# Protocols


@given(
    st.lists(st.integers(0, 4), min_size=10, max_size=80),
    st.integers(2, 10),
    st.integers(0, 2**64 - 1),
)
def test_folds_are_even_in_every_class(classes: list[int], n_folds: int, seed: int) -> None:
    codes = np.array(classes, np.uint32)
    folds = deal(codes, n_folds, seed)
    sizes = np.bincount(folds, minlength=n_folds)
    assert sizes.max() - sizes.min() <= 1
    for code in np.unique(codes):
        within = np.bincount(folds[codes == code], minlength=n_folds)
        assert within.max() - within.min() <= 1
    assert np.array_equal(folds, deal(codes, n_folds, seed))


def test_the_folds_of_a_run_test_every_row_once() -> None:
    table = read_table("sklearn:wine")
    tested = []
    for fold in range(5):
        division = Protocol.of("cv5").divide(table, 3, fold)
        assert division.test is not None
        assert {*division.train} | {*division.test} == {*range(178)}
        assert not {*division.train} & {*division.test}
        tested += division.test.tolist()
    assert sorted(tested) == list(range(178))


@pytest.mark.parametrize(("name", "n_test"), [("wine", 54), ("breast_cancer", 171)])
def test_a_split_has_as_many_test_rows_as_the_studies_print(name: str, n_test: int) -> None:
    division = Protocol.of("split70").divide(read_table(f"sklearn:{name}"), 1, 0)
    assert division.test is not None
    assert len(division.test) == n_test


@pytest.mark.parametrize("name", ["cv", "cv1", "cv0", "split", "split7", "split100", "LOO", ""])
def test_an_unknown_protocol_is_refused(name: str) -> None:
    with pytest.raises(SpecError, match="unknown protocol") as refused:
        Protocol.of(name)
    assert "resub" in str(refused.value.hint)


def test_more_folds_than_rows_are_refused() -> None:
    with pytest.raises(DataError, match="too few for the 200 folds"):
        Protocol.of("cv200").divide(read_table("sklearn:iris"), 1, 0)


# Cells


def test_keys_are_those_of_every_other_day() -> None:
    # They hang on what is hashed and how: another release finds the cells of an old store by them.
    assert RESULTS_VERSION == "0.1", "a new version has new keys: record them here"
    assert keys("bpso", 1) == [
        "b100ca29d776845e9932363e7dd22140",
        "a2b1a63ec03b392fdf58f79e0df94fd3",
        "573e335e877a23be1d0de6185f2648fc",
    ]


def test_a_cell_has_the_same_key_in_any_company() -> None:
    alone = keys("bpso", 1)
    assert alone == keys("sfs,bpso", 4)[3:6]
    assert len({*keys("bpso,sfs,all", 3)}) == 27


@pytest.mark.parametrize(
    "change",
    [
        {"protocol": "cv4"},
        {"random_state": 9},
        {"split_seed": 9},
        {"max_evals": 100},
        {"n_neighbors": 3},
        {"estimator": "nb"},
        {"objective": {"kind": "weighted", "alpha": 0.7}},
        {"preset": "chuang2012"},
        {"algo_params": {"population": 9}},
        {"cv_seed": 5},
        {"test_metric": "manhattan"},
    ],
    ids=str,
)
def test_whatever_changes_a_result_changes_the_key(change: dict[str, object]) -> None:
    assert not {*keys("bpso")} & {*keys("bpso", **change)}


def test_a_table_is_told_by_its_content() -> None:
    table = read_table("sklearn:iris")
    other = table.x.copy()
    other[3, 2] += 1e-12
    codes = table.codes.copy()
    codes[0] = 1
    prints = {
        fingerprint_of(table),
        fingerprint_of(dataclasses.replace(table, x=other)),
        fingerprint_of(dataclasses.replace(table, codes=codes)),
        fingerprint_of(dataclasses.replace(table, frame=table.frame.rename({table.names[0]: "z"}))),
    }
    assert len(prints) == 4
    assert fingerprint_of(dataclasses.replace(table, name="other")) in prints


def test_shards_share_all_cells_and_none_twice() -> None:
    whole = keys("bpso,sfs,all", 4)
    shards = [keys("bpso,sfs,all", 4, shard=(index, 3)) for index in (1, 2, 3)]
    assert sorted(key for shard in shards for key in shard) == sorted(whole)
    assert all(shards)


def test_a_method_without_chance_runs_again_only_on_other_rows() -> None:
    def runs(**how: object) -> dict[str, int]:
        cells = planned("bpso,sfs,cfs,all", 3, **how)
        methods = {cell.method for cell in cells}
        return {it: len({c.run for c in cells if c.method == it}) for it in sorted(methods)}

    assert runs(protocol="split70") == {"all": 3, "bpso": 3, "cfs": 3, "sfs": 3}
    once = {"all": 1, "bpso": 3, "cfs": 1, "sfs": 1}
    assert runs(protocol="split70", split_seed=1) == runs(protocol="resub") == once


def test_all_methods_are_measured_alike() -> None:
    experiment = Plan.of(["sklearn:iris"], "vlpso,bpso", protocol="resub").experiment
    names = ("cv", "n_neighbors", "metric", "scale", "objective")
    assert [experiment.options[name] for name in names] == [10, 5, "euclidean", "minmax", "error"]
    assert Plan.of(["sklearn:iris"], "bpso", protocol="loo").experiment.options["cv"] == "loo"
    study = Plan.of(["sklearn:iris"], "bpso", preset="tran2019").experiment
    assert (study.options["metric"], study.test_metric) == ("manhattan", "euclidean")


# One cell


@pytest.mark.parametrize("scale", ["minmax", "standard", "none"])
@pytest.mark.parametrize("estimator", ["knn", "nb"])
def test_the_rows_held_out_are_judged_as_scikit_learn_judges_them(
    estimator: str, scale: str
) -> None:
    how: dict[str, Any] = {
        "protocol": "cv4",
        "estimator": estimator,
        "scale": scale,
        "max_evals": 200,
    }
    cells = compare(["sklearn:wine"], "bpso", runs=1, **how).cells
    table = read_table("sklearn:wine")
    for row in cells.iter_rows(named=True):
        division = Protocol.of("cv4").divide(table, row["split_seed"], row["fold"])
        assert division.test is not None
        chosen = table.locate(row["selected"])
        x, y = table.x[:, chosen], table.codes
        scaler = {"minmax": MinMaxScaler(), "standard": StandardScaler()}.get(scale)
        if scaler is not None:
            x = scaler.fit(x[division.train]).transform(x)
        model = KNeighborsClassifier(5) if estimator == "knn" else GaussianNB()
        said = model.fit(x[division.train], y[division.train]).predict(x[division.test])
        wrong = float(np.mean(said != y[division.test]))
        # Sums of a few fractions, in another order.
        assert row["test_error"] == pytest.approx(wrong, abs=1e-12)
        assert row["test_accuracy"] == pytest.approx(1 - wrong, abs=1e-12)
        assert row["test_ovr_accuracy"] == pytest.approx(1 - 2 * wrong / 3, abs=1e-12)
        balanced = balanced_accuracy_score(y[division.test], said)
        assert row["test_balanced_accuracy"] == pytest.approx(balanced, abs=1e-12)


def test_the_search_of_a_cell_is_that_of_select_on_its_training_rows() -> None:
    plan = Plan.of(["sklearn:wine"], "ga", runs=2, protocol="cv3", max_evals=300)
    cell = plan.cells[4]
    seen, division = training_rows(cell, plan.data[0].table, plan.experiment)
    assert seen.frame.height == len(division.train)
    alone = select(seen, algo="ga", cv=10, max_evals=300, random_state=2)
    row = compare(["sklearn:wine"], "ga", runs=2, protocol="cv3", max_evals=300).cells.row(
        4, named=True
    )
    assert (row["run"], row["fold"], row["seed"]) == (2, 1, 2)
    assert tuple(row["selected"]) == alone.selected
    assert (row["train_cost"], row["train_error"]) == (alone.cost, alone.scores["error"])
    assert (row["evaluations"], row["unique"]) == alone.evaluations


def test_without_rows_held_out_a_run_is_select_by_its_seed() -> None:
    found = compare(["sklearn:wine"], "bpso", runs=3, protocol="resub", max_evals=300).cells
    for row in found.iter_rows(named=True):
        alone = select("sklearn:wine", algo="bpso", max_evals=300, random_state=row["run"])
        assert tuple(row["selected"]) == alone.selected
        assert row["test_error"] is None
        steps = alone.trace.select("evaluations", "best_cost", "best_size").rows(named=True)
        assert row["trace"][0] == steps[0]
        assert row["trace"][-1] == steps[-1]
        assert all(step in steps for step in row["trace"])


def test_all_takes_every_feature_and_is_measured_once() -> None:
    found = compare(["sklearn:wine"], "all", runs=5, protocol="resub", max_features=3).cells
    row = found.row(0, named=True)
    assert (found.height, row["size"], row["evaluations"]) == (1, 13, 1)
    measured = Evaluator("sklearn:wine").measure([True] * 13)["error"][0]
    assert row["train_cost"] == row["train_error"] == measured


def test_one_far_value_in_a_test_row_leaves_the_others_as_they_were() -> None:
    table = read_table("sklearn:wine")
    plan = Plan.of({"wine": table}, "all", runs=1, protocol="cv10")
    cell = plan.cells[0]
    division = plan.experiment.protocol.divide(table, cell.split_seed, 0)
    assert division.test is not None
    x = table.x.copy(order="F")
    x[division.test[0], 4] = 1e15
    far = dataclasses.replace(table, x=x)

    n_tested = len(division.test)

    def wrong(data: Table) -> int:
        done = run_cell(cell, data, plan.experiment)
        assert done.result is not None, done.error
        return round(float(json.loads(done.result)["test"]["error"]) * n_tested)

    # Only the row of that value may be told wrong for it.
    assert abs(wrong(far) - wrong(table)) <= 1


def test_threads_change_no_result() -> None:
    how: dict[str, Any] = {"runs": 3, "protocol": "cv3", "max_evals": 300}
    one = compare(["sklearn:wine"], "bpso,vlpso", n_jobs=1, **how)
    four = compare(["sklearn:wine"], "bpso,vlpso", n_jobs=4, **how)
    timed = ["seconds", "seconds_search", "seconds_evaluate"]
    assert one.cells.drop(timed).equals(four.cells.drop(timed))


def test_gaps_of_a_table_are_filled_fold_by_fold_or_refused() -> None:
    table = read_table("sklearn:iris")
    column = table.frame.columns[0]
    gappy = table.frame.with_row_index().with_columns(
        pl.when(pl.col("index") % 7 == 0).then(None).otherwise(pl.col(column)).alias(column)
    )
    frame = gappy.drop("index").with_columns(pl.Series("class", table.y))
    found = compare({"gappy": frame}, "sfs", runs=1, protocol="split70", missing="median")
    assert found.failed == ()
    row = found.cells.row(0, named=True)
    plan = Plan.of({"gappy": frame}, "sfs", runs=1, protocol="split70", read={"missing": "median"})
    whole, cell = plan.data[0].table, plan.cells[0]
    seen, division = training_rows(cell, whole, plan.experiment)
    assert division.test is not None
    values = gappy[column].to_numpy()
    gaps = np.isnan(values)
    assert (seen.x[gaps[division.train], 0] == np.nanmedian(values[division.train])).all()
    # Within a search, each fold is filled by its own training rows.
    alone = select(seen, algo="sfs", random_state=1)
    assert (row["train_cost"], row["selected"]) == (alone.cost, list(alone.selected))
    once = Plan.of(
        {"gappy": frame},
        "sfs",
        runs=1,
        protocol="split70",
        read={"missing": "median"},
        imputes_once=True,
    )
    assert training_rows(once.cells[0], whole, once.experiment)[0].unfilled is None
    assert once.cells[0].key != cell.key
    assert compare({"gappy": frame}, "sfs", runs=1, missing="knn").failed == ()
    with pytest.raises(DataError, match="missing values in 1 column"):
        compare({"gappy": frame}, "sfs", runs=1)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"protocol": "resub", "split_seed": 1}, "holds out no rows"),
        ({"protocol": "loo", "cv": 10}, "protocol loo is leave-one-out"),
        ({"protocol": "resub", "test_metric": "manhattan"}, "holds out no rows"),
        ({"test_metric": "cosine"}, "unknown test_metric 'cosine'"),
        ({"estimator": "tree"}, "unknown estimator 'tree'"),
        ({"estimator": "nb", "n_neighbors": 3}, "'nb' has no neighbors"),
        ({"objective": "errors"}, "unknown objective"),
        ({"pick": "all"}, "pick"),
        ({"max_evals": 0}, "max_evals is 0"),
        ({"runs": 0}, "runs is 0"),
        ({"shard": (3, 2)}, "shard is 3/2"),
        ({"random_state": -1}, "random_state is -1"),
        ({"estimater": "nb"}, "unknown option 'estimater'"),
        ({"time_limit": 1.0}, "unknown option 'time_limit'"),
        ({"algo": "bpso"}, "unknown option 'algo'"),
        ({"estimator": SVC()}, "estimator is SVC(), which compare cannot use"),
        (
            {"estimator": KNeighborsClassifier(3), "n_neighbors": 5},
            "n_neighbors is 5, but the estimator has its own",
        ),
        (
            {"estimator": make_pipeline(MinMaxScaler(), GaussianNB()), "scale": "minmax"},
            "the pipeline scales already",
        ),
        ({"scoring": "roc_auc"}, "scoring is 'roc_auc', which compare cannot use"),
        ({"cv": StratifiedKFold(3)}, "cv is neither a number nor a word"),
        ({"feature_groups": [["a", "b"]]}, "feature_groups has columns by name"),
        (
            {"algo_params": {"population": 0}},
            "bpso: population is 0, expected a whole number from 1 to 100000",
        ),
        ({"algo_params": {"popultion": 5}}, "no method here has the hyperparameter 'popultion'"),
        ({"n_neighbors": 1000}, "sklearn:iris: n_neighbors is 1000, expected 1 to"),
        ({"cv": 1}, "sklearn:iris: folds is 1, expected 2 to"),
        ({"constant": "hide"}, "unknown policy for constant columns 'hide'"),
        ({"rare_class": "hide"}, "unknown policy for rare classes 'hide'"),
        ({"prescreen": "top"}, "prescreen is top, expected"),
        ({"objective": {"kind": "weighted", "alpha": 9.0}}, "alpha is 9, expected"),
        ({"objective": "hybrid", "estimator": "nb"}, "hybrid"),
        ({"runs": 10**9}, "runs is 1000000000, expected a whole number from 1 to 100000"),
        ({"runs": 10**5, "protocol": "cv11"}, "the comparison has 1100000 cells"),
        ({"memory": -1}, "memory is -1"),
    ],
    ids=str,
)
def test_a_bad_setting_is_refused_before_any_cell(
    how: dict[str, Any], message: str, tmp_path: Path
) -> None:
    store = tmp_path / "r.db"
    with pytest.raises(SpecError) as refused:
        compare(["sklearn:iris"], "bpso", store=store, **{"runs": 1, **how})
    assert message in str(refused.value)
    assert not store.exists()


@pytest.mark.parametrize("algo", [card.id for card in algorithms()])
def test_what_a_search_takes_is_not_refused(algo: str) -> None:
    for how in ({}, {"prescreen": "fcbf", "max_features": 2}, {"estimator": "nb", "cv": "loo"}):
        Plan.of(["sklearn:iris", "sklearn:wine"], algo, runs=1, **how)


def test_a_table_that_cannot_be_searched_fails_in_its_own_cells() -> None:
    tiny = pl.DataFrame({"a": [1.0, 2, 3, 4, 5, 6], "y": [0, 1, 0, 1, 0, 1]})
    data: dict[str, Any] = {"tiny": tiny, "iris": "sklearn:iris"}
    found = compare(data, "all", runs=1, protocol="cv10", cv=3, n_neighbors=1)
    states = found.cells.group_by("data").agg(pl.col("state").unique().first()).rows()
    assert sorted(states) == [("iris", "done"), ("tiny", "failed")]


def test_what_is_said_and_what_goes_without_saying_are_one_experiment() -> None:
    given: dict[str, Any] = {
        "random_state": 1,
        "split_seed": None,
        "test_metric": None,
        "imputes_once": False,
    }
    one = Experiment.of("cv10", {}, **given)
    said = {"n_neighbors": np.int64(5), "metric": None, "cv": 10, "objective": {"kind": "error"}}
    other = Experiment.of("cv10", {**said, "weights": "uniform", "scale": "minmax"}, **given)
    assert canonical(one.to_dict()) == canonical(other.to_dict())
    pipe = make_pipeline(MinMaxScaler(), KNeighborsClassifier(3, metric="manhattan"))
    words = {"n_neighbors": 3, "metric": "manhattan", "scale": "fold-minmax"}
    one = Experiment.of("cv10", {"estimator": pipe}, **given)
    other = Experiment.of("cv10", words, **given)
    assert canonical(one.to_dict()) == canonical(other.to_dict())


def test_an_estimator_of_scikit_learn_runs_as_its_name_does() -> None:
    how: dict[str, Any] = {"runs": 1, "protocol": "split70", "max_evals": 100}
    one = compare(["sklearn:wine"], "bpso", estimator=GaussianNB(), **how)
    other = compare(["sklearn:wine"], "bpso", estimator="nb", scale="none", **how)
    timed = ["seconds", "seconds_search", "seconds_evaluate"]
    assert one.cells.drop(timed).equals(other.cells.drop(timed))
    assert one.settings["experiment"]["estimator"] == "nb"


def test_the_signature_has_the_options_of_a_comparison() -> None:
    parameters = inspect.signature(compare).parameters
    assert {*OPTIONS} <= {*parameters}
    assert not {"algo", "include", "time_limit"} & {*parameters}
    assert parameters["cv"].default == 10
    assert "    cv_seed : int | None, default=None\n" in str(compare.__doc__)


def test_files_are_read_as_told_and_found_by_name(tmp_path: Path) -> None:
    rows = "\n".join(f"{i},5;{i % 7};{i % 2}" for i in range(40))
    (tmp_path / "made.csv").write_text(f"a;b;y\n{rows}\n")
    how: dict[str, Any] = {"runs": 1, "protocol": "split70", "data_dir": tmp_path}
    found = compare("made", "all", read={"separator": ";", "decimal": ","}, **how)
    assert (found.failed, found.cells["n_features"].to_list()) == ((), [2])


def test_a_dry_run_estimates_and_runs_nothing(tmp_path: Path) -> None:
    store = tmp_path / "r.db"

    def estimate(runs: int) -> Estimate:
        return Plan.of(["sklearn:iris"], "sfs,all", protocol="split70", runs=runs).estimate(store)

    found = estimate(2)
    assert (found.total, found.done, found.failed) == (4, 0, 0)
    assert not store.exists()
    compare(["sklearn:iris"], "sfs,all", runs=2, protocol="split70", store=store)
    assert estimate(3).done == 4


def test_one_table_alone_is_refused_with_what_to_give() -> None:
    with pytest.raises(SpecError, match="data is one table"):
        compare(read_table("sklearn:iris").frame, "sfs")  # type: ignore[arg-type]
