"""Writes bad-input.md from real runs: `.venv/bin/python docs/bad_input.py`.

Each file is written to a temporary folder and passed to the real command. The page shows the
messages and the exit codes; a test runs the script again and compares.
"""

import gzip
import io
import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import polars as pl
from swarmrs.cli import main

PAGE = Path(__file__).with_name("bad-input.md")

INTRO = """# Bad input

Messages of the command line for flawed tables and settings files. A note says how the data was
read, a warning says what can mislead; with either the exit code is 0. An error is one line, with a
hint below it. The exit code is 1 for data and 2 for options. In Python the same input raises
`DataError` or `SpecError` with the same message.

The column "file" shows the first characters of a text file; `⏎` is a line end. This page is written
by `docs/bad_input.py`, which creates the files and runs the commands.
"""

LONG = 60


class Case(NamedTuple):
    """A flawed file, its flaw, and the arguments of `swarmrs`."""

    about: str
    file: str
    content: bytes
    command: str = "select FILE"


def frame_bytes(write: Callable[[pl.DataFrame, io.BytesIO], object], rows: int) -> bytes:
    """Return a compressed table of zeros."""
    out = io.BytesIO()
    write(pl.DataFrame({"a": [0.0] * rows, "class": [0, 1] * (rows // 2)}), out)
    return out.getvalue()


# The exit code is 0 only if the table was read and searched.
SEARCH = "select FILE --algo sfs --cv 2 -k 1"

ROWS = b"1,2,x\n2,3,y\n3,9,x\n7,1,y\n"
RARE = b"a,class\n" + b"1,x\n2,y\n3,x\n4,y\n" * 5 + b"7,z\n9,z\n"
LONE = b"a,class\n" + b"1,x\n2,y\n3,x\n4,y\n" * 5 + b"7,z\n"
SMALL = b"a,b,class\n" + ROWS * 5
ARFF = b"@relation r\n@attribute a numeric\n@attribute class {x, y}\n@data\n"

PRICES = b"a,price\n" + b"".join(b"%d,%d\n" % (row % 7, row * row % 83) for row in range(60))
PEOPLE = (
    b"a,name\n"
    + b"".join(b"%d,person %d\n" % (row % 7, row // 2 * 2) for row in range(50))
    + (b"".join(b"%d,person %d\n" % (row % 7, row) for row in range(51, 90)))
)
DATES = b"a,day,class\n1,2024-01-01,x\n2,2024-03-01,y\n3,2024-01-07,x\n7,2024-02-29,y\n"

NAMES = [
    Case("duplicate column names", "d.csv", b"a,b,a,class\n1,2,3,x\n2,3,4,y\n"),
    Case(
        "the same, allowed",
        "d.csv",
        b"a,b,a,class\n1,2,3,x\n2,3,4,y\n7,1,1,x\n2,2,5,y\n",
        f"{SEARCH} --dedupe-names",
    ),
    Case("an unnamed column", "d.csv", b"a,,class\n" + ROWS, SEARCH),
    Case("an unknown target column", "d.csv", b"a,b,class\n" + ROWS, "select FILE -t clas"),
]
BYTES = [
    Case("Latin-1 in a value", "d.csv", "a,class\n1,x\n2,\u00e4\n".encode("latin1")),
    Case("Latin-1 in the header", "d.csv", "gr\u00f6\u00dfe,class\n1,x\n2,y\n".encode("latin1")),
    Case("UTF-16", "d.csv", "a,class\n1,x\n".encode("utf-16")),
    Case(
        "a byte order mark, CRLF",
        "d.csv",
        b"\xef\xbb\xbfa,b,class\r\n1,2,x\r\n2,3,y\r\n3,9,x\r\n7,1,y\r\n",
        SEARCH,
    ),
    Case("a quoted line end", "d.csv", b'"a\nb",class\n1,x\n2,y\n1,x\n2,y\n', SEARCH),
    Case("gzip", "d.csv.gz", gzip.compress(b"a,b,class\n" + ROWS, mtime=0), SEARCH),
    Case("truncated gzip", "d.csv.gz", gzip.compress(b"a,b,class\n" + ROWS, mtime=0)[:-9]),
    Case("lines that end in CR only", "d.csv", b"a,class\r1,x\r2,y\r"),
    Case("a binary file", "d.csv", b"\x7fELF\x02\x01\x01\x00"),
    Case("a spreadsheet", "d.xlsx", b"PK\x03\x04\x14\x00"),
    Case("damaged Parquet", "d.parquet", b"PAR1 and no more"),
    Case("an Arrow stream", "d.arrow", b"\xff\xff\xff\xff\xa8\x00"),
]
SIZES = [
    Case(
        "gzip beyond the size limit",
        "d.csv.gz",
        gzip.compress(b"a,b,class\n" + ROWS * 100_000, mtime=0),
        "select FILE --max-bytes 1MiB",
    ),
    Case(
        "Parquet beyond the size limit",
        "d.parquet",
        frame_bytes(pl.DataFrame.write_parquet, 200_000),
        "select FILE --max-bytes 1MiB",
    ),
    Case(
        "Arrow beyond the size limit",
        "d.arrow",
        frame_bytes(pl.DataFrame.write_ipc, 200_000),
        "select FILE --max-bytes 1MiB",
    ),
]
FIELDS = [
    Case("semicolons", "d.csv", b"a;b;class\n1;2;x\n2;3;y\n"),
    Case("tabs", "d.csv", b"a\tb\tclass\n1\t2\tx\n2\t3\ty\n"),
    Case(
        "tabs on standard input",
        "-",
        b"a\tb\tclass\n1\t2\tx\n2\t3\ty\n3\t9\tx\n7\t1\ty\n",
        f"{SEARCH} --input-format tsv",
    ),
    Case("more fields than the header", "d.csv", b"a,b,class\n1,2,x\n2,3,y,9\n"),
    Case("fewer fields than the header", "d.csv", b"a,b,class\n1,2,x\n3\n4,1,y\n5,5,x\n6,1,y\n"),
    Case(
        "the same, rows dropped",
        "d.csv",
        b"a,b,class\n1,2,x\n3\n4,1,y\n5,5,x\n6,1,y\n",
        f"{SEARCH} --missing drop-rows",
    ),
    Case("text after a quote", "d.csv", b'a,b,class\n1,2,x\n2,"3" y,y\n3,9,x\n'),
    Case(
        "trailing commas",
        "d.csv",
        b"a,b,class,\n" + ROWS.replace(b"\n", b",\n"),
        SEARCH,
    ),
    Case("an unclosed quote", "d.csv", b'a,b,class\n1,2,"x\n2,3,y\n'),
    Case("an empty file", "d.csv", b""),
    Case("a header without rows", "d.csv", b"a,b,class\n"),
]
NUMBERS = [
    Case("a decimal comma", "d.csv", b"a;class\n1,5;x\n2,25;y\n3;x\n4;y\n", "select FILE --sep ;"),
    Case(
        "the same, read",
        "d.csv",
        b"a;class\n1,5;x\n2,25;y\n3;x\n4;y\n",
        f"{SEARCH} --sep ; --decimal ,",
    ),
    Case("thousands separators", "d.csv", b'a,class\n"1,234,567",x\n"2,250.5",y\n3,x\n'),
    Case("an ambiguous comma", "d.csv", b'a,class\n"1,234",x\n"2,250",y\n3,x\n'),
    Case("a word among numbers", "d.csv", b"a,class\n1,x\nlow,y\n3,x\n4,y\n5,y\n"),
    Case(
        "the same, read as missing",
        "d.csv",
        b"a,class\n1,x\nlow,y\n3,x\n4,y\n5,y\n",
        f"{SEARCH} --null low --missing drop-rows",
    ),
    Case("spaces around values", "d.csv", b"a, b,class\n1, 2,x\n2, 3,y\n3, 9,x\n4, 1,y\n", SEARCH),
    Case("dates", "d.csv", DATES, SEARCH),
    Case("a number of 5000 digits", "d.csv", b"a,class\n" + b"9" * 5000 + b",x\n1,y\n2,x\n3,y\n"),
    Case("infinite values", "d.csv", b"a,b,class\n1,inf,x\n2,-inf,y\n3,1,x\n"),
    Case(
        "a decimal number after integers",
        "d.csv",
        b"a,class\n" + b"1,x\n2,y\n" * 100 + b"0.5,x\n",
        SEARCH,
    ),
    Case(
        "integers of 20 digits",
        "d.csv",
        b"a,class\n12345678901234567891,x\n2,y\n3,x\n4,y\n",
        SEARCH,
    ),
]
MISSING = [
    Case("markers of missing values", "d.csv", b"a,b,class\nNA,1,x\n?,2,y\n3,,x\n5,nan,y\n"),
    Case(
        "the same, imputed",
        "d.csv",
        b"a,b,class\nNA,1,x\n?,2,y\n3,,x\n5,nan,y\n",
        f"{SEARCH} --missing median",
    ),
    Case(
        "the same, columns dropped",
        "d.csv",
        b"a,b,class\nNA,1,x\n?,2,y\n3,7,x\n5,1,y\n",
        f"{SEARCH} --missing drop-columns",
    ),
    Case(
        "the same, kept",
        "d.csv",
        b"a,b,class\nNA,1,x\n?,2,y\n3,,x\n5,nan,y\n",
        "select FILE --missing keep",
    ),
    Case(
        "an empty column",
        "d.csv",
        b"a,b,class\n?,1,x\n,2,y\nNA,3,x\n",
        "select FILE --missing median",
    ),
    Case("a missing class label", "d.csv", b"a,class\n1,x\n2,\n3,y\n"),
]
COLUMNS = [
    Case("a constant feature", "d.csv", b"a,b,class\n1,5,x\n2,5,y\n1,5,x\n2,5,y\n", SEARCH),
    Case("only constant features", "d.csv", b"a,class\n5,x\n5,y\n5,x\n5,y\n", "select FILE --cv 2"),
    Case("identical features", "d.csv", b"a,b,class\n1,1,x\n2,2,y\n4,4,x\n2,2,y\n", SEARCH),
    Case("text features", "d.csv", b"t,a,class\nu,1,x\nv,2,y\nu,3,x\nv,5,y\n"),
    Case(
        "the same, encoded",
        "d.csv",
        b"t,a,class\nu,1,x\nv,2,y\nu,3,x\nv,5,y\n",
        f"{SEARCH} --encode onehot",
    ),
    Case(
        "the same, selected together",
        "d.csv",
        b"t,a,class\nu,1,x\nv,2,y\nu,3,x\nv,5,y\n",
        f"{SEARCH} --encode onehot --together encoded",
    ),
    Case(
        "an identifier",
        "d.csv",
        b"id,a,class\n" + b"".join(b"%d,%d,%c\n" % (i, i * 7 % 5, b"xy"[i % 2]) for i in range(12)),
        SEARCH,
    ),
    Case("a copy of the target", "d.csv", b"a,b,class\n1,x,x\n2,y,y\n3,x,x\n"),
    Case(
        "the same, allowed",
        "d.csv",
        b"a,b,class\n1,1,1\n2,0,0\n3,1,1\n5,0,0\n",
        f"{SEARCH} --allow-target-copy",
    ),
    Case("no feature beside the target", "d.csv", b"class\nx\ny\nx\n"),
]
CLASSES = [
    Case("a single class", "d.csv", b"a,class\n1,x\n2,x\n"),
    Case("a target with one value", "d.csv", b"a,y\n1,0.5\n2,0.5\n2,0.5\n"),
    Case(
        "fractions as classes",
        "d.csv",
        b"a,y\n1,0.5\n2,0.7\n2,0.7\n",
        "select FILE --task classification",
    ),
    Case(
        "a numeric target with many values",
        "d.csv",
        b"a,y\n" + b"".join(b"%d,%d\n" % (i * 7 % 50, i % 25) for i in range(50)),
        SEARCH,
    ),
    Case("prices as the target", "d.csv", PRICES, SEARCH),
    Case("prices as classes", "d.csv", PRICES, "select FILE --task classification"),
    Case("names as the target", "d.csv", PEOPLE),
    Case("a class for every row", "d.csv", b"a,class\n1,x\n2,y\n3,z\n"),
    Case("a class with fewer rows than folds", "d.csv", RARE, "select FILE --algo sfs"),
    Case("the same, refused", "d.csv", RARE, "select FILE --algo sfs --rare-class error"),
    Case("the same, dropped", "d.csv", RARE, "select FILE --algo sfs --rare-class drop"),
    Case("the same, merged", "d.csv", RARE, "select FILE --algo sfs --rare-class merge"),
    Case("a class with one row", "d.csv", LONE, "select FILE --algo sfs --cv loo"),
    Case("the same, refused", "d.csv", LONE, "select FILE --algo sfs --cv loo --rare-class error"),
]
WEKA = [
    Case(
        "a date with a format",
        "d.arff",
        b'@relation r\n@attribute a date "yyyy"\n@attribute class {x, y}\n@data\n'
        b'"2001",x\n"2002",y\n"2001",x\n"2004",y\n',
        SEARCH,
    ),
    Case(
        "a date in another format",
        "d.arff",
        b'@relation r\n@attribute a date "yyyy"\n@attribute class {x, y}\n@data\n2001,x\nsoon,y\n',
    ),
    Case("an undeclared value", "d.arff", ARFF + b"1,x\n2,z\n"),
    Case("text in a numeric attribute", "d.arff", ARFF + b"1,x\ntwo,y\n"),
    Case("too few values", "d.arff", ARFF + b"1,x\n2\n"),
    Case("an unknown type", "d.arff", ARFF.replace(b"numeric", b"relational") + b"1,x\n"),
    Case("no rows", "d.arff", ARFF),
]
TRUST = [
    Case(
        "hold-out and outer folds together",
        "d.csv",
        SMALL,
        "select FILE --test-size 0.3 --outer-cv 5",
    ),
    Case("a hold-out above 1", "d.csv", SMALL, "select FILE --test-size 30"),
    Case("more outer folds than rows of a class", "d.csv", SMALL, f"{SEARCH} --outer-cv 12"),
    Case("a class with fewer rows than outer folds", "d.csv", RARE, f"{SEARCH} --outer-cv 5"),
    Case("no repeats", "d.csv", SMALL, "select FILE --repeats 0"),
    Case("resampling without repeats", "d.csv", SMALL, "select FILE --resample 0.8"),
    Case("repeats of a deterministic search", "d.csv", SMALL, f"{SEARCH} --repeats 3"),
    Case(
        "one checkpoint for several runs", "d.csv", SMALL, "select FILE --repeats 3 --checkpoint c"
    ),
    Case("an unknown rule", "d.csv", SMALL, "select FILE --pick 1sd"),
    Case("a format without rows", "d.csv", SMALL, "select FILE --keep-all all.json"),
]
OUTPUTS = [
    Case("two outputs to one file", "d.csv", SMALL, "select FILE -o r.csv --trace ./r.csv"),
    Case("the input as the output", "d.csv", SMALL, "select FILE -o d.csv --force"),
    Case("a store that is a table", "d.csv", SMALL, "compare FILE -a sfs --store d.csv"),
    Case("a missing folder", "d.csv", SMALL, "select FILE -o nowhere/r.csv"),
    Case("an unknown file extension", "d.csv", SMALL, "select FILE -o r.xlsx"),
]
SETTINGS = [
    Case("an unknown key", "swarmrs.toml", b"[select]\nalog = 'sfs'\n", "select sklearn:wine"),
    Case("an unknown table", "swarmrs.toml", b"[selct]\nalgo = 'sfs'\n", "select sklearn:wine"),
    Case("a key of no command", "swarmrs.toml", b"sed = 1\n", "select sklearn:wine"),
    Case(
        "text for a number", "swarmrs.toml", b"[select]\ncv-seed = 'five'\n", "select sklearn:wine"
    ),
    Case("a number for a flag", "swarmrs.toml", b"quiet = 1\n", "describe sklearn:wine"),
    Case("not TOML", "swarmrs.toml", b"[select\n", "select sklearn:wine"),
    Case(
        "the same, ignored",
        "swarmrs.toml",
        b"[select\n",
        "select sklearn:wine --algo sfs --isolated",
    ),
    Case("a value out of range", "swarmrs.toml", b"cv = 0\n", "evaluate sklearn:wine"),
    Case("a missing settings file", "swarmrs.toml", b"seed = 1\n", "config --config lab.toml"),
]
SECTIONS = {
    "Names": NAMES,
    "Encodings and file formats": BYTES,
    "Sizes": SIZES,
    "Lines and fields": FIELDS,
    "Numbers": NUMBERS,
    "Missing values": MISSING,
    "Features": COLUMNS,
    "Classes": CLASSES,
    "ARFF": WEKA,
    "Validation": TRUST,
    "Outputs": OUTPUTS,
    "Settings in swarmrs.toml": SETTINGS,
}


def run(case: Case) -> tuple[int, str]:
    """Run the command on a file; return its exit code and its messages."""
    said = io.StringIO()
    stdin = sys.stdin
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        if case.file == "-":
            sys.stdin = io.TextIOWrapper(io.BytesIO(case.content))
        else:
            Path(case.file).write_bytes(case.content)
        words = [case.file if word == "FILE" else word for word in case.command.split()]
        try:
            with redirect_stderr(said), redirect_stdout(io.StringIO()):
                main(words)
        except SystemExit as end:
            return int(end.code or 0), said.getvalue()
        finally:
            sys.stdin = stdin
    raise AssertionError("a command ends the process")


def shown(content: bytes) -> str:
    """Return the first characters of a text file as a cell of the table."""
    text = content.decode("utf-8-sig", "replace")
    if "\ufffd" in text or not all(char.isprintable() or char in "\r\n\t" for char in text):
        return "not UTF-8 text"
    if not text:
        return "nothing"
    more = "…" if len(text) > LONG else ""
    text = text[:LONG]
    for mark, sign in {"\r\n": "⏎", "\n": "⏎", "\r": "␍", "\t": "⇥", "|": "\\|"}.items():
        text = text.replace(mark, sign)
    return f"`{text}{more}`"


def page() -> str:
    """Return the page."""
    parts = [INTRO]
    for title, cases in SECTIONS.items():
        parts.append(f"## {title}\n")
        rows = [
            "| input | file | command | messages | exit code |",
            "| --- | --- | --- | --- | --- |",
        ]
        for case in cases:
            code, said = run(case)
            lines = "<br>".join(said.replace("|", "\\|").replace("<", "&lt;").splitlines())
            command = case.command.replace("FILE", case.file)
            quoted = command.replace("--sep ;", "--sep ';'")
            rows.append(
                f"| {case.about} | {shown(case.content)} | `swarmrs {quoted}` | {lines} | {code} |"
            )
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
