"""Tables that once ended as a bug, or in the words of a library."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from swarmrs import FilterSelector, compare, describe, read_table, select
from swarmrs.exceptions import DataError, SpecError

Cli = Callable[..., Any]
Write = Callable[..., Path]

ROWS = b"1,2,x\n2,3,y\n3,9,x\n7,1,y\n"
SEARCH = ("--algo", "sfs", "--cv", "2", "-k", "1")


class TestArffDates:
    @pytest.mark.parametrize(
        ("pattern", "first", "second"),
        [
            ("", "2001-04-03T12:12:12", "2001-04-04T00:00:00"),
            ('"yyyy"', "2001", "2002"),
            ("'yyyy-MM-dd'", "2001-04-03", "2002-05-06"),
            ('"yyyy-MM-dd HH:mm:ss"', "2001-04-03 12:12:12", "2001-04-04 00:00:00"),
            ('"dd/MM/yy"', "03/04/01", "04/04/01"),
            ("\"yyyy-MM-dd'T'HH:mm\"", "2001-04-03T12:12", "2001-04-04T00:00"),
        ],
    )
    def test_a_format_is_read(
        self, write: Write, cli: Cli, pattern: str, first: str, second: str
    ) -> None:
        rows = f'"{first}",x\n"{second}",y\n"{first}",x\n?,y\n'
        head = f"@relation r\n@attribute a date {pattern}\n@attribute class {{x,y}}\n@data\n"
        path = write((head + rows).encode(), "d.arff")
        table = read_table(path, missing="keep")
        assert table.frame["a"][0] < table.frame["a"][1]
        assert table.frame["a"].null_count() == 1
        assert cli("describe", path).code == 0

    def test_another_value_is_refused_with_its_line(self, write: Write) -> None:
        head = b'@relation r\n@attribute a date "yyyy-MM-dd"\n@attribute class {x,y}\n@data\n'
        path = write(head + b"2001-01-02,x\nsoon,y\n2001-01-02,x\n", "d.arff")
        with pytest.raises(DataError, match="line 6: 'a' is 'soon', expected a date") as caught:
            read_table(path)
        assert caught.value.hint == "write it as yyyy-MM-dd; a missing value is ?"

    def test_an_unknown_pattern_is_text(self, write: Write) -> None:
        head = b'@relation r\n@attribute a date "EEE w"\n@attribute class {x,y}\n@data\n'
        path = write(head + b"'Mon 1',x\n'Tue 2',y\n'Tue 2',y\n", "d.arff")
        with pytest.raises(DataError, match="1 column of text: 'a'"):
            read_table(path)


class TestLongNumbers:
    @pytest.mark.parametrize("digits", [309, 4301, 9000])
    def test_in_csv(self, write: Write, cli: Cli, digits: int) -> None:
        path = write(f"a,class\n{'9' * digits},x\n1,y\n2,x\n3,y\n".encode())
        code, _, err = cli("select", path)
        assert (code, err.count("error: ")) == (1, 1)
        assert "infinite values in 1 column: 'a' (1)" in err

    def test_in_arff(self, write: Write, cli: Cli) -> None:
        head = "@relation r\n@attribute a numeric\n@attribute class {x,y}\n@data\n"
        path = write(f"{head}{'9' * 5000},x\n1,y\n2,x\n3,y\n".encode(), "d.arff")
        assert cli("select", path).code == 1
        path = write(f"{head}{{{'0' * 5000} 1}}\n1,y\n".encode(), "d.arff")
        assert "a sparse row is not of pairs" in cli("select", path).err

    def test_as_a_column(self, blobs_csv: Path, cli: Cli) -> None:
        code, _, err = cli("select", blobs_csv, "--target", "9" * 5000)
        assert (code, err.count("error: ")) == (2, 1)


class TestLines:
    def test_separators_at_the_line_ends(self, write: Write, cli: Cli) -> None:
        path = write(b"a,b,class,,\n" + ROWS.replace(b"\n", b",,\n"))
        code, _, err = cli("select", path, *SEARCH)
        assert code == 0
        assert "note: 2 columns left out: lines end in ',' and nothing after\n" in err
        assert "note: the target is the last column, 'class'\n" in err
        assert "without a name" not in err

    def test_a_named_column_or_a_value_is_kept(self, write: Write) -> None:
        table = read_table(write(b"a,class,\n1,x,5\n2,y,\n3,x,\n"), "class", missing="median")
        assert table.names == ["a", "column_3"]
        with pytest.raises(DataError, match=r"target 'c' of data\.csv has no value at all"):
            read_table(write(b"a,class,c\n1,x,\n2,y,\n3,x,\n"))

    def test_text_after_a_quote(self, write: Write, cli: Cli) -> None:
        path = write(b'a,b,class\n1,2,x\n\n2,"x" y,y\n3,9,x\n')
        code, _, err = cli("select", path)
        assert code == 1
        assert err == (
            "error: data.csv, line 4: a quoted field goes on after its quote\n"
            "hint: quote the whole field, or write ',' after the quote\n"
        )

    def test_a_suffix_in_capitals(self, tmp_path: Path, blobs_csv: Path, cli: Cli) -> None:
        for name in ("out.CSV", "out.Parquet", "out.TSV", "out.JSON", "out.PY"):
            assert cli("select", blobs_csv, *SEARCH, "-o", tmp_path / name).code == 0
        assert (tmp_path / "out.Parquet").read_bytes().startswith(b"PAR1")
        assert json.loads((tmp_path / "out.JSON").read_text())["size"]
        assert read_table(tmp_path / "out.TSV").labels == ("ash", "birch", "cedar")


class TestNames:
    def test_the_target_is_no_feature(self, blobs_csv: Path, cli: Cli) -> None:
        for option in ("--include", "--exclude", "--together"):
            code, _, err = cli("select", blobs_csv, option, "tree")
            assert code == 2
            assert "error: column 'tree' is the target of blobs.csv, not a feature\n" in err
        with pytest.raises(SpecError, match="column 'tree' is the target"):
            describe(blobs_csv, exclude=["tree"])

    def test_a_link_to_nothing(self, tmp_path: Path, cli: Cli) -> None:
        (tmp_path / "link.csv").symlink_to("gone.csv")
        code, _, err = cli("select", tmp_path / "link.csv")
        assert code == 1
        assert "is a link to 'gone.csv', which does not exist\n" in err
        assert "did you mean" not in err


def test_messages_cut_long_names(cli: Cli, tmp_path: Path) -> None:
    frame = pl.DataFrame({"n" * 9000: ["u", "v"] * 4, "class": ["a" * 9000, "b"] * 3 + ["c", "d"]})
    frame.write_csv(tmp_path / "d.csv")
    for options in ((), ("--encode", "ordinal", "--rare-class", "error")):
        code, _, err = cli("select", tmp_path / "d.csv", *options)
        assert code == 1
        assert max(map(len, err.splitlines())) < 600


class TestDescribe:
    def test_long_labels_and_names_are_cut(self, cli: Cli, tmp_path: Path) -> None:
        frame = pl.DataFrame({"n" * 9000: [1, 2, 3, 4], "class": ["a" * 99_999, "b"] * 2})
        frame.write_csv(tmp_path / "d.csv")
        out = cli("describe", tmp_path / "d.csv", "--encode", "ordinal").out
        assert max(map(len, out.splitlines())) < 300
        plain = json.loads(cli("describe", tmp_path / "d.csv", "-f", "json").out)
        assert plain["classes"][0]["label"] == "a" * 99_999

    def test_what_the_target_misses_is_counted(self, cli: Cli, write: Write) -> None:
        path = write(b"a,class\n1,x\n2,\n3,y\n4,y\n")
        out = cli("describe", path).out
        assert "missing       1 value of the target\n" in out
        path = write(b"a,class\n1,x\n,\n3,\n,y\n4,x\n")
        out = cli("describe", path).out
        assert "missing       1 value in 1 column, 1 value of the target\n" in out


# Names that look like patterns of names, but are none to polars where they name a series.
PATTERNS = ["*", "^f.*", "f0", "f.*$"]


@pytest.mark.parametrize("missing", ["mean", "median", "knn", "drop-columns"])
def test_names_that_are_patterns_name_one_column(missing: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 4))
    y = np.arange(60) % 2
    x[:, 1] += 3 * y
    x[::7, 0] = np.nan
    frame = pl.DataFrame({name: x[:, at] for at, name in enumerate(PATTERNS)})
    frame = frame.with_columns(frame["*"].fill_nan(None), pl.Series("class", y))
    table = read_table(frame, "class", missing=missing)
    expected = PATTERNS[1:] if missing == "drop-columns" else PATTERNS
    assert table.names == expected
    known = ~np.isnan(x[:, 0])
    if missing in ("mean", "median"):
        filled = getattr(np, missing)(x[known, 0])
        np.testing.assert_allclose(table.x[~known, 0], filled)
    np.testing.assert_array_equal(table.x[:, -3:], x[:, 1:])
    found = select(table, algo="sfs", max_features=1, outer_cv=3)
    assert found.selected == ("^f.*",)
    assert table.reduced(found.selected).columns == ["^f.*", "class"]


@pytest.mark.parametrize("name", ["^f.*$", "^$"])
@pytest.mark.parametrize("values", [[0.5, 1.5], ["low", "high"], [None, 1.0]])
def test_a_name_that_is_a_regular_expression_is_refused(
    tmp_path: Path, name: str, values: list[Any]
) -> None:
    frame = pl.DataFrame({"f0": [1.0, 2.0] * 9, name: values * 9, "class": ["x", "y", "y"] * 6})
    frame.write_csv(tmp_path / "data.csv")
    frame.write_parquet(tmp_path / "data.parquet")
    for source in (frame, pd.DataFrame(frame.to_dict(as_series=False)), *tmp_path.iterdir()):
        with pytest.raises(DataError, match="a regular expression"):
            read_table(source, "class")
        with pytest.raises(DataError, match="a regular expression"):
            describe(source, "class")


def test_a_code_that_makes_a_regular_expression_is_refused() -> None:
    frame = pl.DataFrame({"^f": ["a$", "b"] * 9, "class": ["x", "y", "y"] * 6})
    with pytest.raises(DataError, match=r"'\^f=a\$', which polars reads as a regular"):
        read_table(frame, "class", encode="onehot")


def test_text_under_such_a_name_is_described(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("f0,f1,*\n" + "".join(f"{at},{at % 3}x,{'ab'[at % 2]}\n" for at in range(30)))
    assert [column.name for column in describe(path).columns] == ["f0", "f1"]


def test_an_array_of_records_is_refused() -> None:
    x = np.array([[(0.5, 1)] * 3] * 20, dtype=[("value", "f4"), ("count", "i4")])
    with pytest.raises(DataError, match="neither number nor text"):
        select((x, np.arange(20) % 2), algo="sfs")


@pytest.mark.parametrize("x", [[[1, 2], [3]], [[{1}, [[1], [2, 3]]], [[4], 5]]])
def test_rows_that_make_no_table_are_refused(x: Any) -> None:
    with pytest.raises(DataError, match="X is no table"):
        FilterSelector().fit(x, [0, 1])


def test_a_column_that_begins_with_a_range_is_text() -> None:
    x = np.full((8, 2), 0.5, dtype=object)
    x[0, 0] = range(0)
    assert read_table((x, [0, 1] * 4), encode="ordinal").frame["x0"].n_unique() == 2


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_infinities_in_a_row_are_described() -> None:
    x = np.array([[-np.inf, 1.0], [-np.inf, 2.0], [-np.inf, 0.5], [1.0, 3.0]] * 3)
    assert "infinite values" in str(describe((x, [0, 1] * 6)).refusal)


def test_a_feature_may_be_excluded_by_name_and_by_index() -> None:
    x, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    frame = pl.DataFrame(x, schema=["a", "b", "c"])
    assert "a" not in select((frame, y), algo="sfs", exclude=["a", 0]).selected
    x[0, 1] = np.nan
    frame = pl.DataFrame(x, schema=["a", "b", "c"])
    found = select((frame, y), algo="sfs", exclude=["a", 0], missing="mean")
    assert "a" not in found.selected


def test_a_comparison_refuses_settings_that_are_not_finite() -> None:
    x, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    with pytest.raises(SpecError, match="rows is nan, expected a finite number"):
        compare({"made": (x, y)}, algos="sfs", runs=1, rows=float("nan"))
    with pytest.raises(SpecError, match="unknown option"):
        compare({"made": (x, y)}, algos="sfs", runs=1, read={1: 2})  # type: ignore[dict-item]


@pytest.mark.parametrize("encoding", ["|", "base64", "a\0b", "undefined"])
def test_an_unknown_encoding_is_refused_whatever_the_format(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b,class\n" + ROWS)
    for options in ({}, {"input_format": "parquet"}, {"input_format": "arrow"}):
        for door in (read_table, describe):
            with pytest.raises(SpecError, match="unknown encoding"):
                door(path, encoding=encoding, **options)  # type: ignore[arg-type]
