"""Reading files: what is understood, and what is refused in which words."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from swarmrs import read_table
from swarmrs.data._formats._text import parse_text
from swarmrs.data._options import NULL_WORDS
from swarmrs.data._read import Raw
from swarmrs.exceptions import DataError, SpecError

Write = Callable[..., Path]

CSV = b"a,b,class\n1,0.5,x\n2,0.25,y\n3,0.125,x\n"


def parse(content: bytes, separator: str = ",", decimal: str = ".") -> Raw:
    return parse_text(
        content,
        "made",
        separator=separator,
        decimal=decimal,
        null_words=NULL_WORDS,
        dedupe_names=False,
    )


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

    @pytest.mark.parametrize(
        ("first", "last", "dtype"),
        [
            ("1", "2", pl.Int64),
            ("1", "0.5", pl.Float64),
            ("0.5", "1", pl.Float64),
            ("1", "+2 ", pl.Int64),
            ("1", "word", pl.String),
            ("", "7", pl.Int64),
            ("", "true", pl.Boolean),
            ("true", "word", pl.String),
            ('"1"', '" 2.5"', pl.Float64),
        ],
    )
    def test_rows_past_those_that_are_looked_at_first(
        self, first: str, last: str, dtype: type[pl.DataType]
    ) -> None:
        for n in (20, 99, 100, 101, 300):
            text = "a,class\n" + f"{first},x\n" * n + f"{last},y\n" * 3
            assert parse(text.encode()).frame.dtypes == [dtype, pl.String]

    def test_a_late_point_beside_decimal_commas_is_no_number(self) -> None:
        text = b"a;class\n" + b"1,5;x\n" * 200 + b"2.5;y\n" * 3
        assert parse(text, separator=";", decimal=",").frame.dtypes == [pl.String, pl.String]

    def test_long_whole_numbers(self, write: Write) -> None:
        table = read_table(write(b"a,class\n12345678901234567890,x\n2,y\n3,x\n"))
        assert table.x[0, 0] == 12345678901234567890.0

    def test_a_tab_can_be_written_as_in_a_shell(self, write: Write) -> None:
        raw = CSV.replace(b",", b"\t")
        assert read_table(write(raw), separator=r"\t").names == ["a", "b"]
        for bad in ("::", "", "ä", '"', "\n"):
            with pytest.raises(SpecError, match="is not one character"):
                read_table(write(raw), separator=bad)

    def test_an_unnamed_column_is_numbered(self, write: Write) -> None:
        table = read_table(write(b",b,class\n5,1,x\n2,3,y\n9,2,x\n"))
        assert table.names == ["column_1", "b"]
        assert table.warnings == ("1 column without a name: 'column_1'",)

    def test_long_whole_numbers_are_warned_of(self, write: Write) -> None:
        for digits in ("12345678901234567890", "9" * 45):
            table = read_table(write(f"a,b,class\n{digits},1,x\n2,2,y\n3,7,x\n".encode()))
            assert table.x[0, 0] == float(digits)
            assert table.x[1].tolist() == [2, 2]
            assert table.warnings == ("1 column of whole numbers too long, rounded: 'a'",)
        exact = write(b"a,class\n9007199254740992,x\n2,y\n3,x\n")
        assert read_table(exact).warnings == ()

    def test_equal_names_are_numbered_if_asked(self, write: Write) -> None:
        path = write(b"a,a_2,a,a,class\n1,2,3,4,x\n2,3,4,9,y\n7,1,0,2,x\n")
        table = read_table(path, dedupe_names=True)
        assert table.names == ["a", "a_2", "a_3", "a_4"]
        assert "2 columns renamed: 'a_3', 'a_4'" in table.notices

    def test_a_decimal_comma(self, write: Write) -> None:
        content = b"a;b;class\n1,5; -2,25 ;x\n2;3e1;y\n,5;NA;x\n7;1;y\n"
        table = read_table(write(content), separator=";", decimal=",", missing="drop-rows")
        assert table.x.tolist() == [[1.5, -2.25], [2, 30], [7, 1]]
        quoted = write(b'a,class\n"1,5",x\n2,y\n"0,5",x\n')
        assert read_table(quoted, decimal=",").x.tolist() == [[1.5], [2], [0.5]]

    def test_a_point_is_no_number_where_the_comma_is_decimal(self, write: Write) -> None:
        with pytest.raises(DataError, match="1 column of text: 'a'"):
            read_table(write(b"a;class\n1.234;x\n2,5;y\n3;x\n"), separator=";", decimal=",")

    def test_words_for_missing_values(self, write: Write) -> None:
        path = write(b"a,class\n1,x\n-,y\nNA,x\n,y\n5,x\n")
        extended = read_table(path, null=["-"], missing="median")
        assert extended.x[:, 0].tolist() == [1, 3, 3, 3, 5]
        assert extended.notices[0] == (
            "missing are empty fields, '?', 'N/A', 'NA', 'NULL', 'NaN', 'nan', 'null', '-'; "
            "read_table(..., null=...) adds words"
        )
        only = read_table(path, null=["-"], null_only=True, missing="mode", encode="ordinal")
        assert only.x[:, 0].tolist() == [0, 0, 2, 0, 1]
        with pytest.raises(SpecError, match="null is 'NA', expected a list"):
            read_table(path, null="NA")

    def test_short_lines_are_counted(self, write: Write) -> None:
        path = write(b"\na,b,class\n1,2,x\n\n3\n4,1,y\n5,6\n7,7,x\n")
        table = read_table(path, missing="drop-rows")
        assert table.x.tolist() == [[1, 2], [4, 1], [7, 7]]
        said = "2 lines have fewer than 3 fields, the first is line 5"
        assert table.warnings == (said,)
        with pytest.raises(DataError) as error:
            read_table(write(b"y,a,b\n0,1,2\n1,3\n0,4,1\n"), "y")
        assert str(error.value) == (
            "missing values in 1 column: 'b' (1); "
            "1 line has fewer than 3 fields, the first is line 3"
        )

    def test_lines_without_any_value_are_left_out_and_counted(self, write: Write) -> None:
        table = read_table(write(b"a,class\n1,x\n,\nNA, ?\n2,y\n\n1,x\n"))
        assert table.x.tolist() == [[1], [2], [1]]
        assert "2 lines without any value left out" in table.notices


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
    raw = parse(f"r,w,class\n{text}".encode())
    expected = [(real, float(whole)) for real, whole in rows * 2]
    assert raw.frame.select(pl.col("r", "w").cast(pl.Float64)).rows() == expected


REFUSED = [
    (b"", "data.csv is empty", "the first line must hold the column names"),
    (b"a,b,class\n", "data.csv has no rows", "there must be a line for each sample"),
    (
        b"a,b,a,class\n1,2,3,x\n",
        "data.csv has two columns called 'a': 1 and 3",
        "rename one of them, or number them with read_table(..., dedupe_names=True)",
    ),
    (
        b"a,class\n1,x\n2,x\n",
        "target 'class' of data.csv has one class, expected 2 or more",
        "name the column of classes with target=...",
    ),
    (
        b"a,class\n1,x\n2,y\n3,z\n",
        "target 'class' of data.csv has a class for every row",
        "name the column of classes with target=...",
    ),
    (
        b"a,y\n1,0.5\n2,0.5\n2,0.5\n",
        "target 'y' of data.csv has one value, expected 2 or more",
        "give numbers as the target, or predict classes",
    ),
    (
        b"a,class\n1,x\n2,\n3,y\n",
        "target 'class' of data.csv has 1 missing value",
        'remove these rows, or use missing="drop-rows"',
    ),
    (
        b"a,b,class\n1,inf,x\n2,-inf,y\n3,1,x\n",
        "infinite values in 1 column: 'b' (2)",
        "replace them, or leave the columns out with exclude=...",
    ),
    (
        b"a\tb\tclass\n1\t2\tx\n2\t3\ty\n",
        "data.csv has one column when split at ','",
        r'read it with read_table(..., separator="\t")',
    ),
    (
        b"a;b;class\n1;2;x\n2;3;y\n",
        "data.csv has one column when split at ','",
        'read it with read_table(..., separator=";")',
    ),
    (
        b"class\nx\ny\nx\n",
        "data.csv has no column beside the target 'class'",
        "there must be a column for each feature",
    ),
    (
        b"a,b,class\n1,2,x\n2,3,y,9\n",
        "data.csv, line 3: 4 fields, expected 3",
        "quote fields that hold ',', or remove the surplus",
    ),
    (
        b'a,b,class\n1,2,"x\n2,3,y\n',
        "data.csv, line 2: a quote is never closed",
        "close it or remove it",
    ),
    (
        b'a,"b,class\n1,2,x\n2,3,y\n',
        "data.csv, line 1: a quote is never closed",
        "close it or remove it",
    ),
    (
        b"\n\na,b,class\n1,2,x\n2,3,y,9\n",
        "data.csv, line 5: 4 fields, expected 3",
        "quote fields that hold ',', or remove the surplus",
    ),
    (
        b"a,b,class\n1,2,x\n3\n4,1,y\n",
        "target 'class' of data.csv has 1 missing value; "
        "1 line has fewer than 3 fields, the first is line 3",
        'remove these rows, or use missing="drop-rows"',
    ),
    (
        b'a,class\n"1,5",x\n"2,25",y\n3,x\n',
        "1 column of text: 'a'",
        "'a' holds numbers with a decimal comma: read it with read_table(..., decimal=\",\")",
    ),
    (
        b'a,class\n"1,234,567",x\n"2,250.5",y\n3,x\n',
        "1 column of text: 'a'",
        "'a' holds numbers like 1,234,567: remove the commas between thousands",
    ),
    (
        b'a,class\n"1,234",x\n"2,250",y\n3,x\n',
        "1 column of text: 'a'",
        "'a' holds numbers like 1,234: read it with "
        'read_table(..., decimal=",") if the comma is a decimal one, '
        "else remove it",
    ),
    (
        b"t,a,class\nu,1,x\nv,2,y\nu,low,x\n",
        "2 columns of text: 't', 'a'",
        "'a' holds numbers but for 'low': correct that, "
        'or treat it as missing with read_table(..., null=["low"])',
    ),
    (
        b"a,b,class\n1,x,x\n2,y,y\n3,x,x\n",
        "1 feature equal to the target: 'b'",
        "leave them out with exclude=..., or go on with read_table(..., allow_target_copy=True)",
    ),
    (
        b"a,b,class\n1,1.0,1\n2,0,0\n3,1,1\n",
        "1 feature equal to the target: 'b'",
        "leave them out with exclude=..., or go on with read_table(..., allow_target_copy=True)",
    ),
    (
        b"g\xf6\xdfe,class\n1,x\n2,y\n",
        "data.csv, line 1: byte 1 is not UTF-8",
        'read it with read_table(..., encoding="latin1") if that is how it was written',
    ),
    (
        b"\xef\xbb\xbfa,class\n1,\xe4\n",
        "data.csv, line 2: byte 13 is not UTF-8",
        'read it with read_table(..., encoding="latin1") if that is how it was written',
    ),
    (
        "a,class\n1,x\n".encode("utf-32"),
        "data.csv is UTF-32 text",
        'read it with read_table(..., encoding="utf-32")',
    ),
    (
        "a,class\n1,x\n2,ä\n".encode("latin1"),
        "data.csv, line 3: byte 14 is not UTF-8",
        'read it with read_table(..., encoding="latin1") if that is how it was written',
    ),
    (
        "a,class\n1,x\n".encode("utf-16"),
        "data.csv is UTF-16 text",
        'read it with read_table(..., encoding="utf-16")',
    ),
    (b"a,class\r1,x\r2,y\r", "data.csv ends its lines by CR alone", "convert the line ends to LF"),
    (
        b"\x7fELF\0\0\0",
        "data.csv is not text",
        "give a CSV, TSV, Parquet, Arrow or ARFF file",
    ),
    (
        b"PK\x03\x04\0\0\0",
        "data.csv is a zip archive or a spreadsheet",
        "save the table as CSV",
    ),
    (b"BZh91AY", "data.csv is packed by bzip2", "unpack it, or pack it by gzip"),
    (
        b"FEA1\0\0",
        "data.csv is a Feather file of version 1",
        "write it again as version 2, or as Parquet",
    ),
    (
        b"\xff\xff\xff\xff\xa8",
        "data.csv is an Arrow stream",
        "write it as an Arrow file, or as Parquet",
    ),
    (b"PAR1 no more", "data.csv is not a readable Parquet file", "write it again"),
    (b"ARROW1 no more", "data.csv is not a readable Arrow file", "write it again"),
    (
        b"a,b,class\n?,1,x\n,2,y\nNA,3,x\n",
        "1 column without any value: 'a'",
        "leave them out with exclude=...",
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


def test_unknown_built_in_data_offers_the_nearest() -> None:
    with pytest.raises(SpecError) as error:
        read_table("sklearn:wne")
    assert str(error.value) == "unknown built-in data set 'wne'"
    assert (
        error.value.hint
        == "did you mean 'wine'? known: breast_cancer, diabetes, digits, iris, wine"
    )
