"""Missing values, text and suspicious columns: each policy by hand."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from swarmrs import read_table
from swarmrs.data._encode import mark_missing
from swarmrs.exceptions import DataError, SpecError

Write = Callable[..., Path]


class TestMissing:
    DATA = pl.DataFrame(
        {
            "a": [1.0, None, 3.0, 8.0, 3.0],
            "b": [float("nan"), 2.0, 2.0, 5.0, 6.0],
            "class": [0, 1, 0, 1, 0],
        }
    )

    def test_null_words(self, write: Write) -> None:
        words = b"a,class\n1,x\nNA,y\nN/A,x\n?,y\n,x\nnan,y\nnull,x\nNaN,x\n3,y\n"
        with pytest.raises(DataError, match=r"missing values in 1 column: 'a' \(7\)"):
            read_table(write(words))
        assert read_table(write(words), missing="median").x[1:4, 0].tolist() == [2, 2, 2]

    def test_many_columns_are_counted(self) -> None:
        data = pl.DataFrame({f"c{i}": [None, 1.0, 2.0] for i in range(7)} | {"class": [0, 1, 0]})
        with pytest.raises(DataError) as error:
            read_table(data)
        assert str(error.value) == (
            "missing values in 7 columns: "
            "'c0' (1), 'c1' (1), 'c2' (1), 'c3' (1), 'c4' (1) and 2 more"
        )
        assert error.value.hint == (
            'leave them out with missing="drop-rows" or "drop-columns", '
            "or impute them by median, mode or knn"
        )

    @pytest.mark.parametrize(
        ("policy", "a1", "b0"), [("median", 3.0, 3.5), ("mode", 3.0, 2.0), ("knn", 3.0, 2.0)]
    )
    def test_filled(self, policy: str, a1: float, b0: float) -> None:
        table = read_table(self.DATA, missing=policy)
        assert table.x[1, 0] == a1
        assert table.x[0, 1] == b0
        assert table.warnings == ()
        assert f"2 missing values imputed by {policy}" in table.notices

    def test_rows_dropped(self) -> None:
        table = read_table(self.DATA, missing="drop-rows")
        assert table.x.tolist() == [[3, 2], [8, 5], [3, 6]]
        assert table.codes.tolist() == [0, 1, 0]
        assert "2 rows with missing values dropped" in table.notices

    def test_columns_dropped(self) -> None:
        table = read_table(self.DATA.with_columns(c=pl.lit(2)), "class", missing="drop-columns")
        assert table.names == ["c"]
        assert "2 columns with missing values dropped: 'a', 'b'" in table.notices

    def test_an_excluded_column_is_not_dropped(self) -> None:
        table = read_table(self.DATA, missing="drop-columns", exclude=["b"])
        assert table.names == ["b"]
        with pytest.raises(SpecError) as error:
            read_table(self.DATA, missing="drop-columns", exclude=[1])
        assert str(error.value) == ("column 1 is excluded by its position while others are dropped")

    def test_kept(self) -> None:
        table = read_table(self.DATA, missing="keep")
        assert table.has_gaps
        assert np.isnan(table.x).tolist() == [[False, True], [True, False], *[[False] * 2] * 3]
        assert table.reduced(["a"]).equals(mark_missing(self.DATA).select("a", "class"))

    @pytest.mark.parametrize(
        ("policy", "what", "other"),
        [("drop-rows", "row", "drop-columns"), ("drop-columns", "column", "drop-rows")],
    )
    def test_nothing_left_is_refused(self, policy: str, what: str, other: str) -> None:
        data = pl.DataFrame({"a": [None, 2], "b": [3, None], "class": [0, 1]})
        with pytest.raises(DataError) as error:
            read_table(data, missing=policy)
        assert str(error.value) == f"every {what} of frame has missing values"
        assert error.value.hint == (
            f'impute them with missing="median", "mode" or "knn", or use missing="{other}"'
        )

    def test_rows_without_a_label_are_dropped_too(self) -> None:
        data = pl.DataFrame({"a": [1, 2, 5, 4], "class": ["x", None, "y", "x"]})
        assert read_table(data, missing="drop-rows").x.tolist() == [[1], [5], [4]]

    def test_the_nearest_row_is_that_of_the_naive_rule(self) -> None:
        rng = np.random.default_rng(3)
        x = rng.integers(0, 5, (40, 6)).astype(float)
        x[rng.random(x.shape) < 0.25] = np.nan
        x[:2] = [[0.0] * 6, [4.0] * 6]
        filled = read_table((x, np.arange(40) % 2), missing="knn").x
        for i, j in np.argwhere(np.isnan(x)):
            distances = []
            for other in np.flatnonzero(~np.isnan(x[:, j])):
                common = np.flatnonzero(~np.isnan(x[i]) & ~np.isnan(x[other]))
                steps = sum(int(x[i, at] - x[other, at]) ** 2 for at in common)
                if common.size:
                    distances.append((Fraction(6 * steps, common.size), other))
            assert filled[i, j] == x[min(distances)[1], j]

    def test_a_row_that_shares_nothing_is_given_the_mean(self) -> None:
        x = [[1.0, np.nan], [3.0, np.nan], [np.nan, 4.0]]
        assert read_table((x, [0, 1, 0]), missing="knn").x.tolist() == [[1, 4], [3, 4], [2, 4]]

    def test_text_is_filled_by_its_mode(self) -> None:
        data = pl.DataFrame({"t": ["v", None, "u", "v"], "class": [0, 1, 0, 1]})
        table = read_table(data, missing="median", encode="ordinal")
        assert table.x[:, 0].tolist() == [1, 1, 0, 1]


class TestText:
    DATA = pl.DataFrame(
        {"t": ["b", "a", "B", "b"], "n": [1, 2, 9, 3], "flag": [True, False, True, True]}
    )

    def read(self, **options: Any) -> tuple[list[str], list[list[float]]]:
        table = read_table((self.DATA, [0, 1, 0, 1]), **options)
        return table.names, table.x.tolist()

    def test_refused_by_name(self) -> None:
        with pytest.raises(DataError) as error:
            self.read()
        assert str(error.value) == "1 column of text: 't'"
        assert error.value.hint == (
            'encode text with encode="ordinal" or "onehot", or leave it out with exclude=...'
        )

    def test_ordinal(self) -> None:
        assert self.read(encode="ordinal") == (
            ["t", "n", "flag"],
            [[2, 1, 1], [1, 2, 0], [0, 9, 1], [2, 3, 1]],
        )

    def test_one_hot(self) -> None:
        names, values = self.read(encode="onehot")
        assert names == ["t=B", "t=a", "t=b", "n", "flag"]
        assert values[0] == [0, 0, 1, 1, 1]
        assert values[2] == [1, 0, 0, 9, 1]

    def test_an_excluded_column_is_not_looked_at(self) -> None:
        names, values = self.read(exclude=["t"])
        assert names == ["t", "n", "flag"]
        assert [row[0] for row in values] == [0, 0, 0, 0]

    def test_a_column_that_encoding_makes_can_be_excluded(self) -> None:
        assert self.read(encode="onehot", exclude=["t=a"])[0][1] == "t=a"
        with pytest.raises(SpecError, match="column 't=c' not found in frame"):
            self.read(encode="onehot", exclude=["t=c"])

    def test_a_made_name_that_exists_is_refused(self) -> None:
        data = pl.DataFrame({"t": ["a", "b", "a"], "t=a": [1, 2, 9], "class": [0, 1, 0]})
        with pytest.raises(
            DataError, match="the encoded table has two columns called 't=a': 1 and 3"
        ):
            read_table(data, encode="onehot")


class TestNotices:
    def test_constant_and_ordered_columns(self) -> None:
        data = pl.DataFrame(
            {"id": range(12), "one": [1] * 12, "ok": [1, 5] * 6, "class": [0, 1, 1] * 4}
        )
        table = read_table(data, "class")
        assert table.constant == (1,)
        assert table.notices == ("1 constant feature: 'one'",)
        assert table.warnings == (
            "'id' looks like a row identifier (strictly increasing); "
            'consider excluding it with exclude=["id"]',
        )
        excluded = read_table(data, "class", exclude=["id", "one"])
        assert excluded.constant == (0, 1)  # zeros now
        assert excluded.notices == excluded.warnings == ()

    def test_text_that_never_repeats(self) -> None:
        data = pl.DataFrame({"key": list("qwertzuiopas"), "class": [0, 1, 1] * 4})
        table = read_table(data, encode="ordinal")
        assert table.warnings[0].startswith("'key' looks like a row identifier")

    def test_equal_columns_are_grouped(self) -> None:
        values = [0.0, 2.0, 1.0, 0.0]
        data = pl.DataFrame(
            {"a": values, "b": values[::-1], "c": [-0.0, *values[1:]], "d": [0, 2, 1, 0]}
        )
        assert read_table((data, [0, 1, 1, 0])).notices == (
            "1 group of duplicate features: 'a' = 'c' = 'd'",
        )

    def test_a_column_equal_to_the_target(self) -> None:
        data = pl.DataFrame({"a": [1, 1, 0, 1], "b": [None, 1, 1, 0], "class": [0, 1, 1, 0]})
        with pytest.raises(DataError, match="1 feature equal to the target: 'b'"):
            read_table(data, missing="median")
        warning = "1 feature equal to the target: 'b'"
        allowed = read_table(data, missing="median", allow_target_copy=True)
        assert allowed.warnings[0] == warning
        apart = read_table((data.drop("class"), data["class"]), missing="median")
        assert apart.warnings[0] == warning
        assert read_table(data, exclude=["b"]).warnings == ()


def test_columns_of_other_kinds_are_refused() -> None:
    data = pl.DataFrame({"raw": [b"a", b"b", b"c"], "class": [0, 1, 0]})
    with pytest.raises(DataError, match=r"1 column neither number nor text: 'raw' \(Binary\)"):
        read_table(data)
