"""Columns are ranked, shown and refused as documented."""

import json
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import swarmrs
from numpy.typing import NDArray
from sklearn.datasets import load_wine
from swarmrs import rank
from swarmrs.exceptions import DataError, SpecError, SwarmrsWarning

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]


def test_the_best_come_first_and_equals_by_their_index() -> None:
    y = np.arange(40) % 2
    noise = np.arange(40) // 2 % 5
    ranking = rank(np.c_[noise, 2 * y, noise, -y], y)
    assert ranking.frame["index"].to_list() == [1, 3, 0, 2]
    assert ranking.frame["rank"].to_list() == [1, 2, 3, 4]
    assert ranking.frame["score"].to_list() == [1.0, 1.0, 0.0, 0.0]
    assert ranking.frame["levels"].to_list() == [2, 2, 1, 1]
    assert (ranking.ranked, ranking.relevant) == (4, 2)
    assert ranking.top(1).frame["index"].to_list() == [1]


def test_what_can_mislead_is_warned_of() -> None:
    y = np.arange(40) % 2
    with pytest.warns(SwarmrsWarning, match="1 feature equal to the target: 'x1'"):
        rank(np.c_[np.arange(40) // 2 % 5, y], y)


def test_scaling_and_threads_change_nothing() -> None:
    x, y = load_wine(return_X_y=True)
    frame = rank(x, y).frame
    assert rank(np.exp(x / x.max(axis=0)), y, n_jobs=2).frame.equals(frame)


def test_excluded_columns_are_not_ranked(blobs: Blobs) -> None:
    x, y = blobs
    ranking = rank(x, y, exclude=[1])
    assert 1 not in ranking.frame["index"]
    assert (ranking.frame["index"][0], ranking.ranked, ranking.relevant) == (4, 5, 1)


def test_bad_calls_are_refused(blobs: Blobs) -> None:
    with pytest.raises(SpecError, match="unknown measure 'f'"):
        rank(blobs, by="f")
    with pytest.raises(SpecError, match="top is 0, expected a whole number of 1 or more"):
        rank(blobs).top(0)
    with pytest.raises(DataError, match="has one class"):
        rank(np.eye(3), [1, 1, 1])


def test_a_table_ranks_as_its_file(blobs_csv: Path) -> None:
    table = swarmrs.read_table(blobs_csv, "tree")
    assert rank(table).frame.equals(rank(blobs_csv, "tree").frame)


class TestCommand:
    def test_table(self, cli: Callable[..., Any], blobs_csv: Path) -> None:
        code, out, err = cli("rank", blobs_csv, "--target", "tree", "--top", 2)
        assert (code, err) == (0, "")
        lines = out.splitlines()
        assert lines[0] == "data          blobs.csv: 60 rows, 6 features, 3 classes of 'tree'"
        assert lines[2] == "relevant      2 of 6 features"
        assert [line.split()[:3] for line in lines[5:]] == [["1", "1", "b"], ["2", "4", "e"]]

    def test_json(self, cli: Callable[..., Any], blobs_csv: Path) -> None:
        code, out, _ = cli("rank", blobs_csv, "--by", "mi", "--top", 3, "--format", "json", "-q")
        found = json.loads(out)
        assert code == 0
        assert (found["schema_version"], found["by"]) == (1, "mi")
        assert (found["ranked"], found["relevant"], len(found["ranking"])) == (6, 2, 3)
        first = found["ranking"][0]
        assert first == rank(blobs_csv, by="mi").frame.row(0, named=True)
        # One class of three is told apart from the rest.
        assert first["score"] == pytest.approx(log2(3) - 2 / 3)

    def test_csv(self, cli: Callable[..., Any], blobs_csv: Path) -> None:
        code, out, _ = cli("rank", blobs_csv, "--format", "csv", "--exclude", "b", "-q")
        frame = pl.read_csv(out.encode())
        assert code == 0
        assert frame.columns == ["rank", "index", "feature", "score", "levels"]
        assert frame["feature"].to_list() == ["e", "a", "c", "d", "f"]

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (["--by", "us"], "unknown measure 'us'"),
            (["--top", "0"], "top is 0, expected a whole number of 1 or more"),
            (
                [f"--exclude={column}" for column in "abcdef"],
                "every feature is excluded: nothing is left to rank",
            ),
            (["--format", "xml"], "unknown format 'xml'"),
            (["--jobs", "0"], "--jobs is 0, expected a number of threads, or -1 for all"),
        ],
    )
    def test_bad_calls(
        self, cli: Callable[..., Any], blobs_csv: Path, args: list[str], message: str
    ) -> None:
        code, out, err = cli("rank", blobs_csv, "-q", *args)
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {message}\nhint: ")

    def test_bad_data(self, cli: Callable[..., Any], write: Callable[..., Path]) -> None:
        path = write(b"a,b,c\n1,x,p\n2,y,q\n3,z,p\n")
        code, _, err = cli("rank", path, "-q")
        assert code == 1
        assert err.startswith("error: ")
        assert cli("rank", path, "-q", "--encode", "ordinal").code == 0
