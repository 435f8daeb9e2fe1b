"""The benches run: on the smallest sizes, and the page of their results is up to date."""

import sys
from importlib import import_module
from itertools import product
from pathlib import Path

import grid
import instructions
import numpy as np
import peers
import pytest
import results
from baselines import Mask
from grid import Cell, Found, Limits
from runs import Store
from timing import Report, least, random_masks

NO_LIMITS = Limits(seconds=1e-3, evaluation=np.inf, memory=np.inf)


def cell(rows: int, folds: str = "10", metric: str = "euclidean", engine: str = "a") -> Cell:
    return Cell(rows, 3, folds, metric, engine, "a machine")


@pytest.mark.parametrize(("folds", "metric"), [*product(grid.FOLDS, grid.METRICS)])
def test_all_contestants_of_a_cell_find_the_same_error(folds: str, metric: str) -> None:
    found = grid.measure(cell(60, folds, metric), NO_LIMITS)
    assert found.gap == 0
    assert found.rounds >= 1
    assert found.exact
    assert bool(found.inexact) == (metric == "euclidean")
    assert not found.sampled


def test_a_rival_that_takes_long_is_timed_on_a_sample() -> None:
    found = grid.measure(cell(3000), NO_LIMITS)
    assert found.sampled
    assert all(0 < share < 1 for share in found.sampled.values())


def test_the_grid_lists_losses_and_cells_that_were_skipped() -> None:
    report = Report("grid", is_printed=False)
    found = {
        cell(60): Found(
            1.0, {"kd-tree": 0.5, "ArgKmin": 3.0}, {"GEMM f32": 0.95}, {"kd-tree": 0.1}
        ),
        cell(61): Found(1.0, {"kd-tree": 4.0}, {"GEMM f32": 2.0}),
        cell(62): Found(skipped="too long"),
    }
    grid.render(report, found)
    text = "\n".join(report.lines)
    assert "| 60 | 0.50* kd-tree |" in text
    assert "| best exact rival | 2 | 2.25 | 0.50 | 1 below 1 | kd-tree 2 |" in text
    assert "| float32 matrix product | 2 | 1.48 | 0.95 | 0 below 0.9 | GEMM f32 2 |" in text
    assert "- 60 x 3 10 folds euclidean: 0.50 against kd-tree" in text
    assert "- 62 x 3 10 folds euclidean: too long" in text


def test_the_newest_build_of_a_stored_cell_is_shown(tmp_path: Path) -> None:
    store = Store(tmp_path / "grid.jsonl", Cell, Found)
    old, new = cell(60, engine="old"), cell(60, engine="new")
    for key, seconds in ((old, 2.0), (new, 1.0)):
        store.complete([key], lambda _, seconds=seconds: Found(seconds))  # type: ignore[misc]
    assert grid.newest(store.read()) == {new: Found(1.0)}
    store.complete([new], lambda _: Found(9.0))
    assert store.read()[new] == Found(1.0)
    store.complete([new], lambda _: Found(9.0), again=True)
    assert store.read()[new] == Found(9.0)


def test_the_page_has_what_is_stored() -> None:
    assert results.PAGE.read_text("utf-8") == results.page()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("few_features", ["--rows", "100", "--features", "2", "--repeats", "1"]),
        (
            "references",
            ["--tables", "breast_cancer", "--algorithms", "sfs", "--rounds", "1", "--evals", "60"],
        ),
        (
            "threads",
            [
                "--tables",
                "breast_cancer",
                "--algorithms",
                "bpso",
                "--rounds",
                "1",
                "--evals",
                "100",
            ],
        ),
        ("reading", ["--shapes", "20x5", "--formats", "csv", "--rounds", "1"]),
    ],
)
def test_a_bench_prints_a_table(
    name: str,
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    import_module(name).main()
    head, rule, first, *_ = capsys.readouterr().out.splitlines()
    assert head.count("|") == rule.count("|") == first.count("|")


def test_a_peer_makes_the_evaluations_that_swarmrs_makes() -> None:
    report = Report("peers", is_printed=False)
    sequential = peers.PEERS[0]
    peers.contest(report, "wine", sequential, 25)
    table, title, algo, made, ours, *_, returned, ours_returned = (
        text.strip() for text in report.lines[0].strip("|").split("|")
    )
    assert (table, algo, made, ours) == ("wine", "sfs", "25", "25")
    assert "SequentialFeatureSelector" in title
    assert returned == ours_returned


def test_a_peer_that_is_not_installed_is_reported() -> None:
    def search(accuracy: peers.Accuracy, evaluations: int) -> Mask:
        raise ImportError("no such package")

    report = Report("peers", is_printed=False)
    peers.contest(report, "wine", peers.Peer("nothing", "Nobody", "swarm", search), 20)
    assert report.lines == [
        "| wine | nothing Nobody | not available: ImportError: no such package |"
    ]


def test_instructions_that_differ_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    stored = {"avx2": {"same": 1000, "more": 1000}}
    found = {"avx2": {"same": 1019, "more": 1021, "new": 5}}
    assert instructions.compare(found, stored) == ["avx2 more", "avx2 new"]
    assert "| avx2 | more | 1000 | 1021 | +2.10% |" in capsys.readouterr().out


def test_the_least_time_of_calls_that_alternate() -> None:
    calls: list[int] = []
    times = least(2, [lambda: calls.append(0), lambda: calls.append(1)])
    assert calls == [0, 1] * 3
    assert all(seconds > 0 for seconds in times)


def test_random_masks_have_the_size_asked_for() -> None:
    assert {int(mask.sum()) for mask in random_masks(9, 4, 5)} == {4}
