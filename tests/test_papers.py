"""The declarations of published studies: tables, verdicts, sources of data sets."""

import csv
import dataclasses
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published import transcription
from swarmrs import read_table
from swarmrs.exceptions import DataError, SpecError
from swarmrs.experiments import Reproduction, published_tables, reproduce
from swarmrs.experiments._design._methods import read_methods
from swarmrs.experiments._design._protocols import Protocol
from swarmrs.experiments._papers import PAPERS, find_tables
from swarmrs.experiments._papers._data import find_sources
from swarmrs.experiments._papers._figures import DEVIATIONS, FIGURES, judge
from swarmrs.experiments._papers._paper import ALL_DATA, PaperTable
from swarmrs.experiments._papers._results import lines_of_runs
from swarmrs.experiments._papers._values import Sample
from swarmrs.search._options._presets import presets

TABLES = [table for paper in PAPERS.values() for table in paper.tables]
ROOT = Path(__file__).parents[1]
FIGURE_FILES = ROOT / "python" / "swarmrs" / "experiments" / "_papers" / "figures"
# The reference numbers the studies.
NUMBERED = {f"{number:03}": name for number, name in enumerate(PAPERS)}

each_table = pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table.name))


# Declarations


def test_every_file_of_figures_is_a_table_that_is_declared() -> None:
    assert sorted(path.stem for path in FIGURE_FILES.iterdir()) == sorted(it.name for it in TABLES)


@each_table
def test_every_published_figure_can_be_found_again(table: PaperTable) -> None:
    run = {method for setup in table.setups for method in setup.methods}
    known = {*FIGURES, *DEVIATIONS.values()}
    for (data, method), figures in table.published.items():
        assert method in run if table.setups else method == ""
        assert {*figures} <= known
        assert figures.keys() & {"average_rank"} == (
            {"average_rank"} if data == ALL_DATA else set()
        )
        for figure in figures:
            if figure in FIGURES and FIGURES[figure].is_mark:
                assert table.marks[figure].against in run
                assert table.marks[figure].against != method
                assert figures[figure] in "+-="
            else:
                assert np.isfinite(float(figures[figure]))
        assert "rank" not in figures or table.ranked_by in figures


@each_table
def test_methods_are_ours_and_data_sets_come_from_somewhere(table: PaperTable) -> None:
    for setup in table.setups:
        assert read_methods(list(dict.fromkeys(setup.methods.values())))
        Protocol.of(setup.protocol)
    paper = PAPERS[table.study]
    assert {*paper.absent} <= {name for it in paper.tables for name in it.data}
    assert {*paper.handling} <= {name for it in paper.tables for name in it.data}


def test_the_figures_of_the_package_are_those_of_the_reference() -> None:
    # A method is not tested against itself: where the reference has such marks, they repeat the
    # cell beside them.
    itself = {
        ("VLPso", "S1"),
        ("VLPso-LS", "S1"),
        ("VLPso-LS", "S2"),
        ("VLPSO-LS", "S"),
        ("W", "S"),
    }
    expected: dict[tuple[str, str, str], list[str]] = {}
    with transcription().open() as file:
        for row in csv.DictReader(file):
            if (row["method"], row["metric"]) not in itself:
                method = "" if row["method"] == "all" else row["method"].upper()
                key = (f"{NUMBERED[row['paper']]}-{row['table']}", row["dataset"], method)
                expected.setdefault(key, []).append(row["value"])
    found = {
        (table.name, data, method.upper()): sorted(figures.values())
        for table in TABLES
        for (data, method), figures in table.published.items()
    }
    assert found == {key: sorted(values) for key, values in expected.items()}


def test_every_study_is_cited_by_its_preset() -> None:
    for table in published_tables():
        study = table["table"].partition("-")[0]
        assert table["citation"] == presets[study].citation
        assert presets[study].doi in table["citation"]
    (reproduced,) = reproduce("chuang2012-2", datasets=["wine"], runs=1, max_evals=20)
    assert f"{presets['chuang2012'].citation}." in reproduced.to_markdown().splitlines()


def test_an_unknown_study_or_table_is_refused_with_those_there_are() -> None:
    with pytest.raises(SpecError, match="unknown study 'tran2091'") as refused:
        find_tables("tran2091")
    assert "chuang2012" in str(refused.value.hint)
    with pytest.raises(SpecError, match="tran2019 has no table 'VI'") as refused:
        find_tables("tran2019-VI")
    assert "tran2019-III" in str(refused.value.hint)
    assert [table.name for table in find_tables("xue2016")[1]] == [
        "xue2016-I",
        "xue2016-II",
        "xue2016-III",
    ]


# Verdicts


@pytest.mark.parametrize(
    ("figure", "printed", "ours", "deviation", "expected"),
    [
        ("accuracy", "90.00", 91.4, "1.50", "agrees within 0.93 sd"),
        ("accuracy", "90.00", 91.6, "1.50", "better by 1.07 sd"),
        ("accuracy", "90.00", 85.5, "1.50", "worse by 3.00 sd"),
        ("error", "0.2000", 0.21, "5.0E-03", "worse by 2.00 sd"),
        ("error", "0.2000", 0.19, "5.0E-03", "better by 2.00 sd"),
        # A deviation of rounding noise: only the last place counts.
        ("error", "0.2085", 0.20854, "5.62E-17", "agrees"),
        ("error", "0.2085", 0.2127, "5.62E-17", "worse by 0.0042"),
        # However it is printed.
        ("error", "0", 0.0491, "0", "worse by 0.0491"),
        # No deviation: the tolerance of the figure.
        ("accuracy", "90.00", 93.0, None, "agrees"),
        ("best_accuracy", "90.00", 93.2, None, "better by 3.20"),
        ("size", "50.0", 54.9, None, "agrees"),
        ("size", "50.0", 56.0, None, "larger by 6.00"),
        ("size", "4", 3.0, None, "agrees"),
        ("size", "4", 2.5, None, "smaller by 1.50"),
        ("rank", "3", 4.0, None, "agrees"),
        ("rank", "3", 1.0, None, "better by 2"),
        ("classes", "16", 13.0, None, "smaller by 3"),
        ("smallest_class", "4", 3.4, None, "agrees"),
        ("vs_all", "+", "+", None, "agrees"),
        ("vs_all", "+", "=", None, "differs"),
        ("minutes", "8.0", 0.1, None, "faster 80 times"),
        ("minutes", "0.1", 0.25, None, "slower 2.5 times"),
        ("accuracy", "90.00", None, "1.50", ""),
        ("accuracy", None, 90.0, None, ""),
    ],
)
def test_the_rule_of_verdicts(
    figure: str,
    printed: str | None,
    ours: float | str | None,
    deviation: str | None,
    expected: str,
) -> None:
    assert str(judge(FIGURES[figure], printed, ours, deviation)) == expected


NUMBERS = [name for name, it in FIGURES.items() if not (it.is_mark or it.is_ratio)]


@given(
    figure=st.sampled_from(NUMBERS),
    value=st.floats(0, 1000),
    deviation=st.none() | st.floats(0, 10).map(str),
)
def test_what_is_printed_agrees_with_what_it_was_rounded_from(
    figure: str, value: float, deviation: str | None
) -> None:
    printed = f"{value:.{FIGURES[figure].digits}f}"
    assert judge(FIGURES[figure], printed, value, deviation).verdict == "agrees"


def sample(*accuracies: float, all_errors: tuple[float, float] = (0.5, 0.4)) -> Sample:
    values = np.array(accuracies)
    runs = {"accuracy": values, "error": 1 - values, "size": values, "seconds": values}
    return Sample(np.arange(1, len(values) + 1), runs, 10, all_errors)


def test_figures_of_runs() -> None:
    runs = sample(0.7, 0.9)
    assert runs.figure("accuracy") == pytest.approx(80)
    assert runs.figure("best_accuracy") == pytest.approx(90)
    assert runs.deviation("accuracy") == pytest.approx(100 * np.std([0.7, 0.9], ddof=1))
    assert sample(0.7).deviation("accuracy") is None
    assert runs.figure("reduction") == pytest.approx(92)
    assert runs.figure("minutes") == pytest.approx(0.8 / 60)
    assert runs.figure("improvement") == pytest.approx(60)
    assert runs.figure("improvement_correct") == pytest.approx(50)


def test_marks_need_runs_and_a_direction() -> None:
    low, high = sample(*np.linspace(0.1, 0.2, 8)), sample(*np.linspace(0.5, 0.9, 8))
    assert (high.mark(low, "accuracy"), low.mark(high, "accuracy")) == ("+", "-")
    assert low.mark(low, "accuracy") == "="
    # One run of a method that is deterministic is held against all of the other.
    assert high.mark(sample(0.3), "accuracy") == "+"
    assert sample(0.3).mark(high, "accuracy") == "-"
    assert sample(0.9, 0.8).mark(sample(0.3), "accuracy") is None
    # Runs are paired by number, where one of them is missing too.
    late = dataclasses.replace(low, numbers=low.numbers + 1)
    assert high.mark(late, "accuracy") == "+"
    assert high.mark(dataclasses.replace(low, numbers=low.numbers + 3), "accuracy") is None


def test_a_test_of_another_against_the_method_is_turned() -> None:
    _, (table,) = find_tables("xue2014-3")
    swarm, search = sample(*np.linspace(0.8, 0.9, 8)), sample(0.5)
    methods = {"LFS": search, "GSBS": search, "PBPSOfs": swarm}
    found = {
        it.method: it.ours
        for it in lines_of_runs(table, {"sonar": methods})
        if it.figure == "vs_pbpsofs"
    }
    assert found == {"LFS": "+", "GSBS": "+"}


def test_ranks_are_places_and_their_averages_are_over_the_data_at_hand() -> None:
    _, (table,) = find_tables("hafiz2018-4")
    first = {name: sample(0.9 - at / 100) for at, name in enumerate(table.methods)}
    second = first | {"2D-UPSO": sample(0.95)}
    lines = list(lines_of_runs(table, {"wine": first, "sonar": second}))
    ranks = {(it.data, it.method): it.ours for it in lines if it.figure == "rank"}
    assert [ranks["wine", name] for name in table.methods] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert ranks["sonar", "2D-UPSO"] == 1
    (average,) = (it for it in lines if (it.data, it.method) == (ALL_DATA, "2D-UPSO"))
    printed = [int(table.published[data, "2D-UPSO"]["rank"]) for data in ("wine", "sonar")]
    assert (average.ours, average.published) == (4.5, f"{np.mean(printed):.2f}")
    # Places among some of the methods are no places among all.
    del second["GA"]
    lines = list(lines_of_runs(table, {"sonar": second}))
    assert all(it.ours is None for it in lines if "rank" in it.figure)


# Data sets


def test_a_data_set_that_is_not_at_hand_is_named_with_what_to_do() -> None:
    with pytest.raises(DataError, match="'german' is not available") as refused:
        reproduce("xue2016-II", datasets=["wine", "german"])
    assert "german.parquet" in str(refused.value.hint)
    assert "fetch" not in str(refused.value.hint)
    with pytest.raises(DataError, match="'sonar' is not available") as refused:
        reproduce("xue2014-2", datasets=["sonar"])
    assert "fetch=True downloads sonar from OpenML" in str(refused.value.hint)
    with pytest.raises(DataError, match="no public collection"):
        reproduce("tran2019-III", datasets=["lung_cancer_gems"])
    with pytest.raises(SpecError, match="unknown data set of this table 'sonr'"):
        reproduce("xue2014-2", datasets=["sonr"])
    with pytest.raises(SpecError, match="does not exist"):
        reproduce("xue2014-2", data_dir="nowhere")


def test_of_all_data_sets_those_at_hand_are_taken() -> None:
    found = Reproduction.of("chuang2012-2", runs=1)
    assert [*found.sources] == ["wine", "wdbc"]
    assert "segmentation is left out: not available" in found.remarks
    with pytest.raises(DataError, match="'srbct' is not available"):
        Reproduction.of("tran2019-III")


def openml(monkeypatch: pytest.MonkeyPatch, answer: Callable[..., Any]) -> None:
    monkeypatch.setattr("sklearn.datasets.fetch_openml", answer)


def test_openml_is_asked_only_if_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    requests = []

    def answer(**how: Any) -> SimpleNamespace:
        requests.append(how)
        x = np.arange(208 * 60, dtype=float).reshape(208, 60)
        x[0, 0] = np.nan
        return SimpleNamespace(
            data=x,
            target=np.array(["Mine", "Rock"] * 104, dtype=object),
            feature_names=[f"attribute_{at}" for at in range(60)],
        )

    openml(monkeypatch, answer)
    how: dict[str, Any] = {"data_dir": None, "must_exist": False}
    with pytest.raises(DataError):
        find_sources(PAPERS["xue2014"], ["sonar"], fetch=False, **how)
    assert not requests
    found, absent = find_sources(PAPERS["xue2014"], ["sonar", "zoo"], fetch=True, **how)
    table = read_table(found["sonar"], missing="mean")
    assert (table.x.shape, table.labels) == ((208, 60), ("Mine", "Rock"))
    assert absent == {"zoo": "not available"}
    assert [it["data_id"] for it in requests] == [40]


def test_what_openml_cannot_give_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(**_: Any) -> None:
        raise OSError("no route to host")

    openml(monkeypatch, unreachable)
    with pytest.raises(DataError, match=r"'sonar' cannot be fetched.*no route to host") as refused:
        reproduce("xue2014-2", datasets=["sonar"], fetch=True)
    assert "data_dir" in str(refused.value.hint)
    openml(monkeypatch, lambda **_: SimpleNamespace(data=np.zeros((3, 2))))
    with pytest.raises(DataError, match=r"has \(3, 2\) rows and features"):
        reproduce("xue2014-2", datasets=["sonar"], fetch=True)
