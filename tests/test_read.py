"""Reading files: what is understood, and what is refused in which words."""

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from swarmrs import _read, read_table
from swarmrs.exceptions import DataError, SpecError

Write = Callable[..., Path]

CSV = b"a,b,class\n1,0.5,x\n2,0.25,y\n3,0.125,x\n"


class TestText:
    def test_numbers_in_odd_clothes(self, write: Write) -> None:
        table = read_table(write(b' a , b,class\r\n 1,2.5e3,x\r\n"2", -3,y\r\n3,+4,x\r\n'))
        assert table.names == ["a", "b"]
        assert table.x.tolist() == [[1, 2500], [2, -3], [3, 4]]

    def test_byte_order_mark_quoted_line_end_and_blank_lines(self, write: Write) -> None:
        table = read_table(write(b'\xef\xbb\xbf"a\n1",class\n\n1,x\n2,y\n1,x\n\n\n'))
        assert table.names == ["a\n1"]
        assert table.x.tolist() == [[1], [2], [1]]

    def test_the_whole_file_decides_a_type(self, write: Write) -> None:
        rows = b"".join(b"%d,%d\n" % (i, i % 2) for i in range(2000))
        table = read_table(write(b"a,class\n" + rows + b"0.5,1\n"))
        assert table.x[-1].tolist() == [0.5]

    def test_long_whole_numbers(self, write: Write) -> None:
        table = read_table(write(b"a,class\n12345678901234567890,x\n2,y\n3,x\n"))
        assert table.x[0, 0] == 12345678901234567890.0

    def test_a_tab_can_be_written_as_in_a_shell(self, write: Write) -> None:
        raw = CSV.replace(b",", b"\t")
        assert read_table(write(raw), separator=r"\t").names == ["a", "b"]
        with pytest.raises(SpecError, match="separator '::' is not one character"):
            read_table(write(raw), separator="::")

    def test_an_unnamed_column_is_numbered(self, write: Write) -> None:
        table = read_table(write(b",b,class\n5,1,x\n2,3,y\n9,2,x\n"))
        assert table.names == ["column_1", "b"]
        assert "1 column without a name: 'column_1'" in table.notices


@given(
    st.lists(
        st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.integers()),
        min_size=2,
        max_size=9,
    )
)
def test_numbers_come_back_bit_for_bit(rows: list[tuple[float, int]]) -> None:
    text = "".join(
        f"{real!r},{whole},{index % 2}\n" for index, (real, whole) in enumerate(rows * 2)
    )
    raw = _read._parse_text(f"r,w,class\n{text}".encode(), "made", ",", None)
    expected = [(real, float(whole)) for real, whole in rows * 2]
    assert raw.frame.select(pl.col("r", "w").cast(pl.Float64)).rows() == expected


REFUSED = [
    (b"", "data.csv is empty", "the first line must hold the column names"),
    (b"a,b,class\n", "data.csv has no rows", "there must be a line for each sample"),
    (
        b"a,b,a,class\n1,2,3,x\n",
        "data.csv has two columns called 'a': 1 and 3",
        "rename one of them; the first line must hold the names",
    ),
    (
        b"a,class\n1,x\n2,x\n",
        "target 'class' of data.csv has one class, expected 2 or more",
        "name the column of classes with --target",
    ),
    (
        b"a,class\n1,x\n2,y\n3,z\n",
        "target 'class' of data.csv has a class for every row",
        "name the column of classes with --target",
    ),
    (
        b"a,y\n1,0.5\n2,0.7\n2,0.7\n",
        "target 'y' of data.csv is continuous, expected classes",
        "name the column of classes with --target",
    ),
    (
        b"a,class\n1,x\n2,\n3,y\n",
        "target 'class' of data.csv has 1 missing value",
        "remove these rows, or use --missing drop-rows",
    ),
    (
        b"a,b,class\n1,inf,x\n2,-inf,y\n3,1,x\n",
        "infinite values in 1 column: 'b' (2)",
        "replace them, or leave the columns out with --exclude",
    ),
    (
        b"a\tb\tclass\n1\t2\tx\n2\t3\ty\n",
        "data.csv has one column when split at ','",
        r"read it with --sep '\t'",
    ),
    (
        b"a;b;class\n1;2;x\n2;3;y\n",
        "data.csv has one column when split at ','",
        "read it with --sep ';'",
    ),
    (b"class\nx\ny\nx\n", "data.csv has no column beside the target 'class'", None),
    (
        b"a,b,class\n1,2,x\n2,3,y,9\n",
        "data.csv, line 3: 4 fields, expected 3",
        "quote fields that hold ',', or remove the surplus",
    ),
    (
        b'a,b,class\n1,2,"x\n2,3,y\n',
        "data.csv has a quote that is never closed",
        "close it or remove it",
    ),
    (
        "a,class\n1,x\n2,ä\n".encode("latin1"),
        "data.csv, line 3: byte 14 is not UTF-8",
        "read it with --encoding latin1 if that is how it was written",
    ),
    (
        "a,class\n1,x\n".encode("utf-16"),
        "data.csv is UTF-16 text",
        "read it with --encoding utf-16",
    ),
    (b"a,class\r1,x\r2,y\r", "data.csv ends its lines by CR alone", "convert the line ends to LF"),
    (b"PK\x03\x04\0\0\0", "data.csv is not text", "give a CSV, TSV or Parquet file"),
    (b"PAR1 no more", "data.csv is not a readable Parquet file", "write it again"),
    (
        b"a,b,class\n?,1,x\n,2,y\nNA,3,x\n",
        "1 column without any value: 'a'",
        "leave them out with --exclude",
    ),
]


@pytest.mark.parametrize(("content", "message", "hint"), REFUSED)
def test_bad_files_are_refused_in_these_words(
    write: Write, content: bytes, message: str, hint: str | None
) -> None:
    policy = "median" if "without any value" in message else "error"
    with pytest.raises(DataError) as error:
        read_table(write(content), missing=policy)
    assert str(error.value) == message
    assert error.value.hint == hint


def test_a_missing_file_offers_its_neighbor(write: Write) -> None:
    path = write(CSV, "flowers.csv")
    with pytest.raises(DataError) as error:
        read_table(path.with_name("flower.csv"))
    assert str(error.value) == f"file '{path.with_name('flower.csv')}' does not exist"
    assert error.value.hint == f"did you mean '{path}'?"


def test_a_directory_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        read_table(tmp_path)


def test_gzip_that_unpacks_too_far_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_read, "BOMB_BYTES", 1 << 20)
    path = write(gzip.compress(CSV + b"0,0,x\n" * 500_000), "bomb.csv.gz")
    with pytest.raises(DataError, match=r"bomb.csv.gz unpacks to more than 2 MiB"):
        read_table(path)


def test_damaged_gzip_is_refused(write: Write) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_table(write(gzip.compress(CSV)[:-9], "cut.csv.gz"))


def test_unknown_built_in_data_offers_the_nearest() -> None:
    with pytest.raises(SpecError) as error:
        read_table("sklearn:wne")
    assert str(error.value) == "unknown built-in data set 'wne'"
    assert error.value.hint == "did you mean 'wine'? known: breast_cancer, digits, iris, wine"
