"""The reading options, each declared once: functions, commands and documentation derive from it."""

from collections.abc import Sequence
from typing import Annotated, TypedDict

from swarmrs._base._options import Option
from swarmrs._base._tasks import TASKS

IMPUTATIONS = ("mean", "median", "mode", "knn")
MISSING = ("error", *IMPUTATIONS, "drop-rows", "drop-columns", "keep")
ENCODINGS = ("error", "ordinal", "onehot")
DECIMALS = (".", ",")
FORMATS = ("csv", "tsv", "parquet", "arrow", "arff")
NULL_WORDS = ("", "?", "N/A", "NA", "NULL", "NaN", "nan", "null")


TASK = Option(
    help="What is predicted: classification or regression.",
    more="None guesses it: text, booleans and few different whole numbers are classes, other "
    "numbers are regression. Filters by entropy, which need classes, then use five bins of the "
    "target, each of about a fifth of the rows.",
    section="Data",
    brief=True,
    shown="guessed from the target",
    words=tuple(TASKS),
)


class ReadOptions(TypedDict, total=False):
    """How data is read; see `read_table`."""

    task: Annotated["str | None", TASK]
    missing: Annotated[
        str,
        Option(
            default="error",
            help="Missing values: error, drop-rows, drop-columns, keep, or imputation by mean, "
            "median, mode or knn (copies the value of the nearest row that has one).",
            more="Evaluations impute from the training rows, for each fold anew; filters, which "
            "see all rows, from all of them. ``keep`` leaves missing values to an estimator that "
            "accepts them; the native classifiers do not.",
            metavar="POLICY",
            section="Data",
            words=MISSING,
        ),
    ]
    encode: Annotated[
        str,
        Option(
            default="error",
            help="Text features: error, ordinal, onehot.",
            more="Text that is a date in every row (ISO 8601) is not text: dates become days since "
            "1970-01-01, with a notice.",
            metavar="HOW",
            section="Data",
            words=ENCODINGS,
        ),
    ]
    exclude: Annotated[
        "Sequence[str | int]",
        Option(
            default=(),
            help="Features to ignore, by name or index.",
            more="Their values are replaced by zeros, so that nothing they hold is refused or "
            "matters.",
            doors="p",
        ),
    ]
    allow_target_copy: Annotated[
        bool,
        Option(
            default=False,
            help="Allow a feature that equals the target.",
            more="Where labels are given apart from the features, such a feature is only warned "
            "of.",
            section="Data",
        ),
    ]
    input_format: Annotated[
        "str | None",
        Option(
            help="File format: csv, tsv, parquet, arrow, arff.",
            more="By default the content decides.",
            section="Reading",
            shown="what the content says",
            words=FORMATS,
        ),
    ]
    separator: Annotated[
        "str | None",
        Option(
            help="Field separator of a text file.",
            more="By default a comma, or a tab for TSV.",
            flags=("--separator", "--sep"),
            metavar="CHAR",
            section="Reading",
        ),
    ]
    decimal: Annotated[
        str,
        Option(
            default=".",
            help="Decimal mark of a CSV or TSV file.",
            metavar="CHAR",
            section="Reading",
            words=DECIMALS,
        ),
    ]
    encoding: Annotated[
        "str | None",
        Option(
            help="Encoding of a text file.",
            more="By default UTF-8.",
            section="Reading",
        ),
    ]
    null: Annotated[
        "Sequence[str]",
        Option(
            default=(),
            help="A word that stands for a missing value, beside the default ones.",
            more=f"Missing by default are empty fields and {', '.join(NULL_WORDS[1:])}.",
            metavar="WORD",
            section="Reading",
        ),
    ]
    null_only: Annotated[
        bool,
        Option(
            default=False,
            help="Drop the default words for missing values; only those given count.",
            section="Reading",
        ),
    ]
    dedupe_names: Annotated[
        bool,
        Option(
            default=False,
            help="Number columns of equal names instead of refusing them.",
            section="Reading",
        ),
    ]
    max_bytes: Annotated[
        int,
        Option(
            default=16 << 30,
            help="Largest size of the data when unpacked.",
            more="In bytes.",
            cli=str,
            metavar="SIZE",
            section="Reading",
            shown="16GiB",
        ),
    ]
