"""Dates become numbers, with a note, and are written as they were."""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from swarmrs import describe, read_table, select
from swarmrs.exceptions import DataError

Cli = Callable[..., Any]
DAYS = ["2024-01-01", "1969-12-31", "2024-02-29", "1970-01-01"] * 2


def with_classes(**columns: Any) -> pl.DataFrame:
    frame = pl.DataFrame(columns)
    return frame.with_columns(pl.Series("class", (["x", "y"] * frame.height)[: frame.height]))


def test_text_that_is_dates_is_read_as_days(tmp_path: Path) -> None:
    with_classes(day=DAYS).write_csv(tmp_path / "d.csv")
    table = read_table(tmp_path / "d.csv")
    assert table.frame["day"].to_list() == [19723, -1, 19782, 0] * 2
    assert "1 column of dates read as days since 1970-01-01: 'day'" in table.notices


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ([date(1970, 1, 2), date(1969, 1, 1)], [1, -365]),
        ([datetime(1970, 1, 2, 12), datetime(1970, 1, 1)], [1.5, 0]),
        ([time(1), time(0, 0, 1, 500_000)], [3600, 1.5]),
        ([timedelta(days=2), timedelta(hours=-6)], [2, -0.25]),
        (["1970-01-02 12:00", "1970-01-01 00:00"], [1.5, 0]),
        (["1970-01-02T12:00:00", "1970-01-01T00:00:00"], [1.5, 0]),
        (["1970-01-02T12:00:00Z", "1970-01-01T00:00:00Z"], [1.5, 0]),
        (["1970-01-02T12:00:00.250", "1970-01-01T00:00:00.000"], [1.5 + 0.25 / 86400, 0]),
        (["1970-01-02T12:00:00+12:00", "1970-01-01T00:00:00-06:00"], [1, 0.25]),
    ],
)
def test_types_of_dates(tmp_path: Path, values: list[Any], numbers: list[float]) -> None:
    frame = with_classes(a=[*values, None] * 2)
    frame.write_parquet(tmp_path / "d.parquet")
    table = read_table(tmp_path / "d.parquet", missing="keep")
    assert table.x[:2, 0].tolist() == numbers
    back = table.reduced(["a"])["a"]
    if isinstance(values[0], str) and "+" in values[0]:
        assert back.to_list()[:2] == ["1970-01-02T00:00:00+0000", "1970-01-01T06:00:00+0000"]
    else:
        assert back.to_list() == frame["a"].to_list()


@pytest.mark.parametrize(
    "values",
    [
        ["2024-01-01", "soon"],
        ["2024-01-01", "2024-13-01"],
        ["2024-1-1", "2024-1-2"],
        ["2024-01-01", "2024-01-01 10:00"],
        ["20240101x", "20240102x"],
    ],
)
def test_other_text_stays_text(values: list[str]) -> None:
    with pytest.raises(DataError, match="1 column of text: 'a'"):
        read_table(with_classes(a=values * 2))


def test_a_target_of_dates_is_labels() -> None:
    table = read_table(pl.DataFrame({"a": range(8), "day": DAYS}))
    assert table.labels[0] == "1969-12-31"


def test_a_missing_date_is_filled_as_a_number() -> None:
    frame = with_classes(day=["2024-01-01", None, "2024-01-03", "2024-01-03"], a=range(4))
    table = read_table(frame, missing="median")
    assert table.reduced(["day"])["day"].to_list() == ["2024-01-01", *["2024-01-03"] * 3]


def test_one_hot_encoding_makes_no_columns_of_dates() -> None:
    table = read_table(with_classes(day=DAYS, c=["u", "v"] * 4), encode="onehot")
    assert table.names == ["day", "c=u", "c=v"]


def test_many_values_of_text_are_warned_of() -> None:
    frame = with_classes(code=[f"c{row % 21}" for row in range(42)], b=["u", "v"] * 21)
    message = "1 column of text became many: 'code' (21)"
    assert message in read_table(frame, encode="onehot").warnings
    assert message not in read_table(frame, encode="ordinal").warnings
    few = with_classes(code=[f"c{row % 20}" for row in range(40)])
    assert read_table(few, encode="onehot").warnings == ()


def test_describe_knows_dates() -> None:
    found = describe(with_classes(day=DAYS, at=[time(1), time(2)] * 4, c=["u", "v"] * 4))
    kinds = {column.name: (column.kind, column.action, column.reason) for column in found.columns}
    assert kinds["day"] == ("date", "search", "as a number")
    assert kinds["at"] == ("time", "search", "as a number")
    assert kinds["c"][:2] == ("text", "refuse")


class TestReducedTable:
    FRAME = pl.DataFrame(
        {
            "size": ["low", "high", None, "mid"] * 10,
            "ok": [True, False, False, None] * 10,
            "day": ["2024-01-01", "2024-03-01"] * 20,
            "n": [3, 1, 2, 5] * 10,
            "class": ["x", "y"] * 20,
        }
    )

    def test_text_booleans_and_dates_are_written_as_they_were(
        self, cli: Cli, tmp_path: Path
    ) -> None:
        self.FRAME.write_csv(tmp_path / "d.csv")
        options = ("--encode", "ordinal", "--missing", "mode", "--algo", "sfs", "--cv", "2")
        included = [word for name in ("size", "ok", "day") for word in ("--include", name)]
        done = cli(
            *("select", tmp_path / "d.csv", *options, *included),
            *("-o", tmp_path / "out.csv"),
        )
        assert done.code == 0
        assert "codes         size: 0 high, 1 low, 2 mid\n" in done.out
        written = pl.read_csv(tmp_path / "out.csv")
        assert written["size"].to_list() == ["low", "high", "high", "mid"] * 10
        assert written["ok"].to_list() == [True, False, False, False] * 10
        assert written["day"].to_list() == self.FRAME["day"].to_list()
        assert written["class"].to_list() == self.FRAME["class"].to_list()

    def test_a_result_has_the_key_of_the_codes(self) -> None:
        found = select(
            self.FRAME.drop("ok"), algo="sfs", cv=2, encode="ordinal", missing="mode",
            include=["size"],
        )  # fmt: skip
        assert found.to_dict()["data"]["codes"] == {"size": ["high", "low", "mid"]}  # type: ignore[index]
        assert select((np.eye(4), [0, 1] * 2), algo="sfs", cv=2, estimator="nb").data["codes"] == {}

    def test_what_a_mean_filled_stays_a_number(self) -> None:
        table = read_table(self.FRAME, missing="mean", encode="ordinal")
        assert table.reduced(["ok"])["ok"].to_list()[:4] == [1, 0, 0, 1 / 3]

    def test_columns_of_one_hot_encoding_stay_as_they_are(self) -> None:
        table = read_table(self.FRAME.drop("ok"), missing="mode", encode="onehot")
        assert table.reduced(["size=low"])["size=low"].to_list()[:4] == [1, 0, 0, 0]
