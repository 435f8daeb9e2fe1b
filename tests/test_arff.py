"""ARFF: what is understood, and what is refused on which line."""

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from swarmrs import read_table
from swarmrs.data._formats._arff import is_arff, parse_arff
from swarmrs.exceptions import DataError

Write = Callable[..., Path]

HEADER = """% about
@RELATION 'some flowers'

@attribute "petal, width" REAL
@attribute n INTEGER
@Attribute color {red, 'dark \\'blue\\'', green}
@ATTRIBUTE note string
@attribute class {a,b}
@DATA
"""


def frame(text: str) -> pl.DataFrame:
    return parse_arff(text, "data.arff", dedupe_names=False).frame


def test_every_kind_of_attribute_and_quote() -> None:
    rows = """0.5, 3, red, 'one, two', a
% a comment among rows
?,4,'dark \\'blue\\'',"say \\"hi\\"\\n",b

1e3 ,-5,?,plain,a
"""
    found = frame(HEADER + rows)
    assert found.columns == ["petal, width", "n", "color", "note", "class"]
    assert found.rows() == [
        (0.5, 3, "red", "one, two", "a"),
        (None, 4, "dark 'blue'", 'say "hi"\n', "b"),
        (1000.0, -5, None, "plain", "a"),
    ]
    assert found.schema["n"] == pl.Int64


def test_long_whole_numbers_are_warned_of() -> None:
    text = "@relation r\n@attribute a integer\n@attribute c {x,y}\n@data\n%s,x\n2,y\n"
    long = parse_arff(text % ("9" * 30), "d", dedupe_names=False)
    assert long.warnings == ("1 column of whole numbers too long, rounded: 'a'",)
    assert parse_arff(text % "1e30", "d", dedupe_names=False).warnings == ()


def test_a_quoted_question_mark_is_no_missing_value() -> None:
    found = frame("@relation r\n@attribute t string\n@attribute c {a,b}\n@data\n'?',a\n?,b\n")
    assert found["t"].to_list() == ["?", None]


def test_sparse_rows_leave_out_zeros_and_first_values() -> None:
    head = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c {x,y}\n@data\n"
    found = frame(head + "{0 1.5, 2 y}\n{}\n{1 ?}\n{ 1 7 }\n2,3,y\n")
    assert found.rows() == [
        (1.5, 0, "y"),
        (0, 0, "x"),
        (0, None, "x"),
        (0, 7, "x"),
        (2, 3, "y"),
    ]


def test_the_content_decides(write: Write) -> None:
    rows = "".join(f"{i}.5,{i},red,t,{'ab'[i % 2]}\n" for i in (3, 1, 2, 5))
    raw = (HEADER + rows).replace("\n", "\r\n").encode()
    for name, content in (("data.txt", raw), ("data.arff.gz", gzip.compress(raw))):
        table = read_table(write(content, name), exclude=["note", "color"])
        assert table.x[:, 0].tolist() == [3.5, 1.5, 2.5, 5.5]
        assert table.labels == ("a", "b")
        assert "the target is the last column, 'class'" in table.notices
    assert not is_arff(b"@relation_of,class\n1,x\n")
    assert is_arff(b"\n  % c\n\n@attribute a real\n")


HEAD = "@relation r\n@attribute a numeric\n@attribute c {x,y}\n"
BAD = [
    (f"{HEAD}@data\n1,x\nfive,y\n", "line 6: 'a' is 'five', expected a number"),
    (f"{HEAD}@data\n1,x\n,y\n", "line 6: 'a' is '', expected a number"),
    (f"{HEAD}@data\n1,x\n\n% c\n2,z\n", "line 8: 'c' is 'z', which is not declared"),
    (f"{HEAD}@data\n1,x,2\n", "line 5: 3 values, expected 2"),
    (f"{HEAD}@data\n1\n", "line 5: 1 value, expected 2"),
    (f"{HEAD}@data\n1,'x\n", "line 5: a quote is never closed"),
    (f"{HEAD}@data\n1,x,{{5}}\n", "line 5: a row with a weight"),
    (f"{HEAD}@data\n{{0 1\n", "line 5: a sparse row has no closing brace"),
    (f"{HEAD}@data\n{{0 1,2 x}}\n", "line 5: index 2, expected 1 to 1"),
    (f"{HEAD}@data\n{{1 x,0 1}}\n", "line 5: index 0, expected 2 to 1"),
    (f"{HEAD}@data\n{{a b}}\n", "line 5: a sparse row is not of pairs"),
    (f"{HEAD}@data\n", " has no rows"),
    (HEAD, " has no @data line"),
    ("@relation r\n@data\n1\n", "line 2: @data before any @attribute"),
    ("@relation r\n@attribute a\n@data\n", "line 2: @attribute without a name and a type"),
    ("@relation r\n@attribute a {x,y\n", "line 2: the values of 'a' have no closing brace"),
    ("@relation r\n@attribute a {x,y,x}\n", "line 2: 'a' declares 'x' twice"),
    ("@relation r\n@attribute a {x,,y}\n", "line 2: 'a' declares an empty value"),
    ("@relation r\n@attribute a {'x,y}\n", "line 2: a quote is never closed"),
    ("@relation r\n@attribute a relational\n", "line 2: 'a' is of the unknown type 'relational'"),
    ("@relation r\n@inputs a\n", "line 2: '@inputs' is no declaration"),
    (
        "@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n",
        " has two columns called 'a': 1 and 2",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_bad_files_are_refused_with_their_line(text: str, message: str) -> None:
    with pytest.raises(DataError) as error:
        frame(text)
    separator = "" if message.startswith(" ") else ", "
    assert str(error.value) == f"data.arff{separator}{message}"
    assert error.value.hint


VALUES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6).filter(
    lambda text: text.strip() == text
)


@given(st.lists(st.tuples(VALUES, st.floats(allow_nan=False)), min_size=1, max_size=5))
def test_quoted_values_and_numbers_come_back(rows: list[tuple[str, float]]) -> None:
    def quote(text: str) -> str:
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"

    nominal = dict.fromkeys(text for text, _ in rows)
    declared = ",".join(quote(value) for value in nominal)
    lines = "".join(f"{quote(text)},{quote(text)},{number!r}\n" for text, number in rows)
    found = frame(
        f"@relation r\n@attribute s string\n@attribute n {{{declared}}}\n@attribute v real\n"
        f"@data\n{lines}"
    )
    expected = [(text, text, number) for text, number in rows]
    assert found.with_columns(pl.col("v").cast(pl.Float64)).rows() == expected
