"""What describe() finds, and that a search does as it says."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from swarmrs import describe, read_table, select
from swarmrs.exceptions import DataError, SpecError

Cli = Callable[..., Any]

FRAME = pl.DataFrame(
    {
        "id": range(12),
        "size": [3.5, 1.0, None, 2.0] * 3,
        "color": ["red", "blue", None, "red"] * 3,
        "one": [7] * 12,
        "ok": [True, False, False] * 4,
        "twin": [True, False, False] * 4,
        "raw": [bytes([row]) for row in range(12)],
        "far": [1.0, float("inf"), 2.0] * 4,
        "copy": ["x", "y", "y", "x"] * 3,
        "class": ["x", "y", "y", "x"] * 3,
    }
)


def actions(**options: Any) -> dict[str, tuple[str, str]]:
    return {
        column.name: (column.action, column.reason) for column in describe(FRAME, **options).columns
    }


def test_every_column_is_found_as_it_is() -> None:
    found = describe(FRAME)
    assert (found.rows, found.target, found.classes) == (12, "class", {"x": 6, "y": 6})
    rows = found.frame.select("name", "kind", "missing", "distinct", "least", "greatest", "remark")
    assert rows.rows() == [
        ("id", "whole", 0, 12, 0, 11, "looks like a row identifier"),
        ("size", "number", 3, 3, 1, 3.5, ""),
        ("color", "text", 3, 2, None, None, ""),
        ("one", "whole", 0, 1, 7, 7, ""),
        ("ok", "boolean", 0, 2, 0, 1, "equal to 'twin'"),
        ("twin", "boolean", 0, 2, 0, 1, "equal to 'ok'"),
        ("raw", "Binary", 0, 12, None, None, ""),
        ("far", "number", 0, 3, 1, 2, ""),
        ("copy", "text", 0, 2, None, None, "equal to the target"),
    ]
    assert found.memory == 12 * 9 * 20
    assert found.refusal == "1 feature equal to the target: 'copy'"
    assert found.hint == (
        "leave them out with exclude=..., or go on with read_table(..., allow_target_copy=True)"
    )


def test_what_select_would_do_by_default() -> None:
    assert actions() == {
        "id": ("search", ""),
        "size": ("refuse", "3 missing values: missing=..."),
        "color": ("refuse", "text: encode=..."),
        "one": ("leave out", "constant"),
        "ok": ("search", ""),
        "twin": ("search", ""),
        "raw": ("refuse", "neither number nor text"),
        "far": ("refuse", "4 infinite values"),
        "copy": ("refuse", "equal to the target"),
    }


def test_what_select_would_do_by_policies() -> None:
    out: dict[str, Any] = {"exclude": ["raw", "far", "copy"]}
    filled = actions(missing="median", encode="onehot", **out)
    assert filled["size"] == ("search", "imputed by median")
    assert filled["color"] == ("search", "encoded onehot, imputed by mode")
    assert filled["raw"] == ("leave out", "excluded")
    dropped = actions(missing="drop-columns", encode="ordinal", **out)
    assert dropped["size"] == dropped["color"] == ("leave out", "missing values")
    kept = actions(missing="keep", encode="ordinal", allow_target_copy=True)
    assert kept["size"] == ("search", "")
    assert kept["copy"] == ("search", "encoded ordinal")
    described = describe(FRAME, missing="median", encode="onehot", **out)
    assert described.refusal is None
    assert described.memory == 12 * 10 * 20
    assert "1 constant feature: 'one'" in described.notices
    assert described.warnings[-1].startswith("'id' looks like a row identifier")


def test_a_target_without_classes_is_described() -> None:
    numbers = describe(FRAME, "size")
    assert (numbers.task, numbers.classes) == ("regression", {})
    assert "target 'size' (numbers)" in repr(numbers)
    found = describe(FRAME, "size", task="classification")
    assert (found.task, found.classes) == ("classification", {})
    assert found.refusal == "target 'size' of frame is continuous, expected classes"
    assert describe(FRAME.drop("copy"), "color").classes == {"blue": 3, "red": 6}


def test_null_words_are_those_of_text_files(tmp_path: Path) -> None:
    FRAME.select("id", "class").write_csv(tmp_path / "d.csv")
    FRAME.select("id", "class").write_parquet(tmp_path / "d.parquet")
    found = describe(tmp_path / "d.csv", null=["-"], null_only=True)
    assert (found.kind, found.null_words) == ("CSV", ("-",))
    found = describe(tmp_path / "d.parquet")
    assert (found.kind, found.null_words) == ("Parquet", ())


def test_a_table_that_was_read_is_refused() -> None:
    with pytest.raises(SpecError, match="is described already"):
        describe(read_table("sklearn:iris"))


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, 0.0, 1.0, 2.0]), st.just(3.0), st.sampled_from(["u", "v"])
        ),
        min_size=4,
        max_size=9,
    ),
    st.sampled_from(["error", "median", "mode", "knn", "drop-columns"]),
    st.sampled_from(["error", "ordinal"]),
)
def test_a_search_does_as_described(
    rows: list[tuple[float | None, float, str]], missing: str, encode: str
) -> None:
    names = ["a", "b", "c"]
    data = (pl.DataFrame(rows, schema=names, orient="row"), [0, 1] * (len(rows) // 2) + [0])
    data = (data[0], data[1][: len(rows)])
    found = describe(data, missing=missing, encode=encode)
    refused = [column.name for column in found.columns if column.action == "refuse"]
    if found.refusal is not None:
        with pytest.raises(DataError, match=re.escape(found.refusal)):
            read_table(data, missing=missing, encode=encode)
        return
    table = read_table(data, missing=missing, encode=encode)
    assert refused == []
    searched = {column.name for column in found.columns if column.action == "search"}
    constant = {table.names[at] for at in table.constant}
    assert set(table.names) - constant == searched


def test_python_objects_are_counted() -> None:
    mixed = pl.Series("mixed", [{1}, {1}, "x", None, object, 2.5], dtype=pl.Object)
    frame = pl.DataFrame({"a": [1.0, 2.0, 4.0, 3.0, 5.0, 6.0], "class": [0, 1] * 3})
    found = describe(frame.with_columns(mixed), "class")
    assert found.frame.filter(pl.col("name") == "mixed")["distinct"].to_list() == [4]


def test_constant_columns_are_left_out_of_a_search() -> None:
    x = np.random.default_rng(3).random((30, 4))
    x[:, [1, 3]] = 5
    table = read_table(x, [0, 1, 2] * 10)
    found = select(table, algo="random", max_evals=200, cv=3, random_state=1)
    names = {name for point in found.front for name in point.selected}
    assert names <= {"x0", "x2"}
    kept = select(table, algo="sbs", cv=3, constant="keep", include=["x1"])
    assert "x1" in kept.selected
    assert "x3" in select(table, algo="sfs", cv=3, include=["x3"]).selected
    with pytest.raises(SpecError, match="unknown policy for constant columns 'none'"):
        select(table, constant="none")
    with pytest.raises(DataError, match="every column of array is constant"):
        select((np.ones((6, 2)), [0, 1] * 3))
    only = select(
        (np.ones((6, 2)), [0, 1] * 3),
        algo="sfs",
        scorer=lambda masks: [1 - mask.sum() / 2 for mask in masks],
    )
    assert only.size == 2


class TestCommand:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "found.parquet"
        FRAME.write_parquet(path)
        return path

    def test_a_table_for_people(self, cli: Cli, path: Path) -> None:
        code, out, err = cli("describe", path, "--exclude", "copy")
        assert code == 0
        assert err == "note: the target is the last column, 'class'\n"
        lines = out.splitlines()
        assert lines[:8] == [
            "data          found.parquet, Parquet: 12 rows, 9 features and the target",
            "target        'class': 2 classes",
            "  x  6  50.0 %  ##############################",
            "  y  6  50.0 %  ##############################",
            "missing       6 values in 2 columns",
            "memory        about 2.11 KiB, and what --memory allows",
            "select would  refuse it: 1 column neither number nor text: 'raw' (Binary)",
            "              convert them to numbers, or leave them out with --exclude",
        ]
        assert lines[8].split()[:2] == ["command", "swarmrs"]
        assert lines[8].endswith(
            "--target class --missing median --encode onehot "
            "--exclude copy --exclude id --exclude raw --exclude far"
        )
        assert lines[9] == "time          about a second, by a rough estimate"
        assert lines[11].split() == [
            *("INDEX", "COLUMN", "TYPE", "MISSING", "DISTINCT", "LEAST", "GREATEST"),
            *("SELECT", "WOULD"),
        ]
        assert (
            " ".join(lines[12].split())
            == "0 id whole 0 12 0 11 search; looks like a row identifier"
        )

    def test_json_and_csv(self, cli: Cli, path: Path) -> None:
        plain = json.loads(cli("describe", path, "-f", "json", "-q").out)
        found = describe(path)
        text = json.dumps(found.to_dict()).replace(
            "read_table(..., allow_target_copy=True)", "--allow-target-copy"
        )
        for name in ("exclude", "encode", "missing"):
            text = text.replace(f"{name}=...", f"--{name}")
        assert plain == json.loads(text)
        assert plain["classes"] == [{"label": "x", "rows": 6}, {"label": "y", "rows": 6}]
        lines = cli("describe", path, "-f", "csv", "-q").out.splitlines()
        assert lines[0] == ",".join(found.frame.columns)
        assert lines[1] == "0,id,whole,0,12,0.0,11.0,search,,looks like a row identifier"

    def test_of_many_columns_those_that_matter(self, cli: Cli, tmp_path: Path) -> None:
        values = np.random.default_rng(0).random((6, 60))
        values[:, 50] = 1
        frame = pl.from_numpy(values).with_columns(pl.Series("class", [0, 1] * 3))
        frame.write_csv(tmp_path / "wide.csv")
        lines = cli("describe", tmp_path / "wide.csv").out.splitlines()
        assert lines[-2].split()[:2] == ["50", "column_50"]
        assert lines[-1] == "and 59 columns more; --all shows them"
        assert len(cli("describe", tmp_path / "wide.csv", "--all").out.splitlines()) > 60

    def test_what_cannot_be_read_is_refused(self, cli: Cli, tmp_path: Path) -> None:
        (tmp_path / "bad.csv").write_bytes(b"")
        code, out, err = cli("describe", tmp_path / "bad.csv")
        assert (code, out) == (1, "")
        assert err.startswith("error: bad.csv is empty\nhint: ")
