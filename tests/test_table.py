"""Reading tables: every kind of source, every policy, every refusal with its words."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from swarmrs import read_table
from swarmrs.exceptions import SwarmrsError

Write = Callable[..., Path]

CSV = b"a,b,class\n1,0.5,x\n2,0.25,y\n3,0.125,x\n"


def frame() -> pl.DataFrame:
    return pl.read_csv(CSV)


class TestSources:
    def check(self, source: Any, target: Any = "class") -> None:
        table = read_table(source, target)
        assert table.names == ["a", "b"]
        assert table.x.tolist() == [[1, 0.5], [2, 0.25], [3, 0.125]]
        assert table.x.flags.f_contiguous
        assert table.x.dtype == np.float64
        assert table.codes.tolist() == [0, 1, 0]
        assert table.codes.dtype == np.uint32
        assert table.labels == ("x", "y")
        assert table.y.tolist() == ["x", "y", "x"]

    def test_csv(self, write: Write) -> None:
        self.check(write(CSV))
        self.check(str(write(CSV)))

    def test_tsv(self, write: Write) -> None:
        self.check(write(CSV.replace(b",", b"\t"), "data.tsv"))

    def test_gzip(self, write: Write) -> None:
        self.check(write(gzip.compress(CSV), "data.csv.gz"))
        self.check(write(gzip.compress(CSV.replace(b",", b"\t")), "data.tsv.gz"))

    def test_parquet(self, tmp_path: Path) -> None:
        frame().write_parquet(tmp_path / "data.parquet")
        self.check(tmp_path / "data.parquet")

    def test_arrow(self, tmp_path: Path) -> None:
        frame().write_ipc(tmp_path / "data.feather", compression="lz4")
        self.check(tmp_path / "data.feather")

    def test_a_format_can_be_asked_for(self, write: Write) -> None:
        self.check(read_table(write(CSV.replace(b",", b"\t")), input_format="tsv"))
        with pytest.raises(SwarmrsError, match="is not a readable Parquet file"):
            read_table(write(CSV), input_format="parquet")

    def test_any_other_separator_by_option(self, write: Write) -> None:
        table = read_table(write(CSV.replace(b",", b";")), separator=";")
        assert table.names == ["a", "b"]

    @pytest.mark.parametrize("encoding", ["latin1", "utf-16"])
    def test_any_other_encoding_by_option(self, write: Write, encoding: str) -> None:
        raw = "größe,class\n1,ä\n2,ö\n1,ä\n".encode(encoding)
        table = read_table(write(raw), encoding=encoding)
        assert table.names == ["größe"]
        assert table.labels == ("ä", "ö")

    def test_frames(self) -> None:
        self.check(frame())
        self.check(frame().lazy())
        self.check(pd.DataFrame(frame().to_dict(as_series=False)))

    def test_anything_that_streams_arrow(self) -> None:
        class Streams:
            def __arrow_c_stream__(self, requested_schema: object = None) -> object:
                return frame().__arrow_c_stream__(requested_schema)

        self.check(Streams())

    def test_pairs_and_arrays(self) -> None:
        features, labels = frame().drop("class"), frame()["class"]
        self.check(features, labels)
        self.check((features, labels.to_list()))
        table = read_table(features.to_numpy(), labels.to_numpy())
        assert table.names == ["x0", "x1"]
        assert table.labels == ("x", "y")

    def test_pandas_nullable_and_categorical_columns(self) -> None:
        data = pd.DataFrame(
            {
                "a": pd.array([1, None, 3], dtype="Int64"),
                "b": pd.Categorical(["u", "v", "u"]),
                "class": ["x", "y", "x"],
            }
        )
        table = read_table(data, missing="median", encode="ordinal")
        assert table.x.tolist() == [[1, 0], [2, 1], [3, 0]]

    @pytest.mark.parametrize(
        ("name", "shape", "classes"),
        [
            ("wine", (178, 13), 3),
            ("breast_cancer", (569, 30), 2),
            ("digits", (1797, 64), 10),
            ("iris", (150, 4), 3),
        ],
    )
    def test_built_in(self, name: str, shape: tuple[int, int], classes: int) -> None:
        table = read_table(f"sklearn:{name}")
        assert table.x.shape == shape
        assert len(table.labels) == classes
        assert not any("target" in notice for notice in table.notices)

    def test_a_table_is_itself(self) -> None:
        table = read_table(frame())
        assert read_table(table) is table


class TestTarget:
    def test_default_is_the_last_column_and_said(self) -> None:
        table = read_table(frame())
        assert table.target == "class"
        assert table.notices == ("the target is the last column, 'class'",)

    @pytest.mark.parametrize("target", ["g", 0, "0", -3, "-3"])
    def test_by_name_or_index(self, target: str | int) -> None:
        data = pl.DataFrame({"g": [True, False, True], "h": [3, 4, 9], "i": [1, 7, 2]})
        table = read_table(data, target)
        assert table.target == "g"
        assert table.labels == (False, True)
        assert table.notices == ()

    @pytest.mark.parametrize(("n", "is_warned"), [(20, False), (21, True)])
    def test_many_different_numbers_are_warned_of(self, n: int, is_warned: bool) -> None:
        labels = list(range(n)) * 2
        values = np.random.default_rng(0).random((2 * n, 1))
        message = f"target 'class' has {n} different numbers in {2 * n} rows: are they classes?"
        assert (message in read_table(values, labels).warnings) == is_warned
        assert read_table(values, [str(label) for label in labels]).warnings == ()
        assert read_table(np.repeat(values, 3, 0), labels * 3).warnings == ()

    def test_a_name_goes_before_an_index(self) -> None:
        data = pl.DataFrame({"1": [1, 2, 1], "0": [0, 0, 1]})
        assert read_table(data, "1").target == "1"

    def test_classes_are_sorted_by_their_bytes(self) -> None:
        table = read_table(np.zeros((5, 1)), ["b", "é", "B", "a", "b"])
        assert table.labels == ("B", "a", "b", "é")
        assert table.codes.tolist() == [2, 3, 0, 1, 2]

    def test_whole_numbers_are_sorted_as_numbers(self) -> None:
        assert read_table(np.zeros((4, 1)), [10, 9, -1, 9]).labels == (-1, 9, 10)

    def test_labels_do_not_hide_a_feature_of_that_name(self) -> None:
        table = read_table(frame().select("a", pl.col("b").alias("class")), ["x", "y", "x"])
        assert table.names == ["a", "class"]
        assert table.reduced(["class"]).columns == ["class", "class_"]


def test_the_reduced_table_keeps_types_and_target() -> None:
    data = pl.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.0, 0.1], "class": ["x", "y", "x"]})
    assert_frame_equal(read_table(data).reduced(["a"]), data.select("a", "class"))


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        (
            {"target": "clas"},
            "column 'clas' not found in frame",
            "did you mean 'class'? 3 columns: 'a', 'b', 'class'",
        ),
        (
            {"target": 3},
            "column '3' not found in frame",
            "3 columns: 'a', 'b', 'class'",
        ),
        (
            {"missing": "mediam"},
            "unknown policy for missing values 'mediam'",
            "did you mean 'median'? "
            "known: error, mean, median, mode, knn, drop-rows, drop-columns, keep",
        ),
        (
            {"encode": "hot"},
            "unknown encoding of text 'hot'",
            "did you mean 'onehot'? known: error, ordinal, onehot",
        ),
        ({"target": [0, 1]}, "3 rows but 2 labels", "give a label for each row"),
    ],
)
def test_bad_calls_are_refused_in_these_words(
    call: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(SwarmrsError) as error:
        read_table(frame(), **call)
    assert str(error.value) == message
    assert error.value.hint == hint
