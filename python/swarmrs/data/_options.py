"""The reading options, each declared once: functions, commands and documentation derive from it."""

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    TypedDict,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

# Only the standard library is imported: the command line reads these declarations at its start.

IMPUTATIONS = ("mean", "median", "mode", "knn")
MISSING = ("error", *IMPUTATIONS, "drop-rows", "drop-columns", "keep")
ENCODINGS = ("error", "ordinal", "onehot")
DECIMALS = (".", ",")
FORMATS = ("csv", "tsv", "parquet", "arrow", "arff")
NULL_WORDS = ("", "?", "N/A", "NA", "NULL", "NaN", "nan", "null")
MAX_BYTES = 16 << 30


@dataclass(frozen=True)
class ReadOption:
    """The declaration of a reading option.

    Attributes
    ----------
    default : object
        The value where none is given.
    help : str
        What the option does, in one line; the command line shows it.
    details : str
        What the documentation of Python functions adds.
    metavar : str
        What the command line calls the value.
    choices : tuple of str
        The values to choose from, if these are all.
    aliases : tuple of str
        Other names of the flag.
    default_help : str, optional
        What None as a default means.
    """

    default: Any
    help: str
    details: str = ""
    metavar: str = ""
    choices: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    default_help: str | None = None


class ReadOptions(TypedDict, total=False):
    """How data is read; see `read_table`."""

    missing: Annotated[
        str,
        ReadOption(
            "error",
            "Missing values: error, drop-rows, drop-columns, keep, or imputation by mean, median, "
            "mode or knn (copies the value of the nearest row that has one).",
            "Evaluations impute from the training rows, for each fold anew; filters, which see all "
            "rows, from all of them. ``keep`` leaves missing values to an estimator that accepts "
            "them; the native classifiers do not.",
            metavar="POLICY",
            choices=MISSING,
        ),
    ]
    encode: Annotated[
        str,
        ReadOption(
            "error",
            "Text features: error, ordinal, onehot.",
            "Text that is a date in every row (ISO 8601) is not text: dates become days since "
            "1970-01-01, with a notice.",
            metavar="HOW",
            choices=ENCODINGS,
        ),
    ]
    exclude: Annotated[
        Sequence[str | int],
        ReadOption(
            (),
            "Features to ignore, by name or index.",
            "Their values are replaced by zeros, so that nothing they hold is refused or matters.",
        ),
    ]
    allow_target_copy: Annotated[
        bool,
        ReadOption(
            False,
            "Allow a feature that equals the target.",
            "Where labels are given apart from the features, such a feature is only warned of.",
        ),
    ]
    separator: Annotated[
        str | None,
        ReadOption(
            None,
            "Field separator of a text file.",
            "By default a comma, or a tab for TSV.",
            metavar="CHAR",
            aliases=("sep",),
        ),
    ]
    decimal: Annotated[
        str,
        ReadOption(".", "Decimal mark of a CSV or TSV file.", metavar="CHAR", choices=DECIMALS),
    ]
    encoding: Annotated[
        str | None,
        ReadOption(None, "Encoding of a text file.", "By default UTF-8.", metavar="NAME"),
    ]
    null: Annotated[
        Sequence[str],
        ReadOption(
            (),
            "A word that stands for a missing value, beside the default ones.",
            f"Missing by default are empty fields and {', '.join(NULL_WORDS[1:])}.",
            metavar="WORD",
        ),
    ]
    null_only: Annotated[
        bool,
        ReadOption(False, "Drop the default words for missing values; only those given count."),
    ]
    input_format: Annotated[
        str | None,
        ReadOption(
            None,
            "File format: csv, tsv, parquet, arrow, arff.",
            "By default the content decides.",
            metavar="NAME",
            choices=FORMATS,
            default_help="what the content says",
        ),
    ]
    dedupe_names: Annotated[
        bool, ReadOption(False, "Number columns of equal names instead of refusing them.")
    ]
    max_bytes: Annotated[
        int,
        ReadOption(MAX_BYTES, "Largest size of the data when unpacked.", metavar="SIZE"),
    ]


class Declared(NamedTuple):
    """A reading option with its type."""

    type: Any
    option: ReadOption


@cache
def read_options() -> dict[str, Declared]:
    """Return all reading options by name, in the order of their declaration."""
    hints = get_type_hints(ReadOptions, include_extras=True)
    return {name: Declared(*get_args(hint)) for name, hint in hints.items()}


def complete(options: ReadOptions | Mapping[str, Any]) -> dict[str, Any]:
    """Return options with the defaults of those that are not given."""
    defaults = {name: option.default for name, (_, option) in read_options().items()}
    return {**defaults, **options}


Function = TypeVar("Function", bound=Callable[..., object])


def takes_read_options(function: Function) -> Function:
    """Write the reading options into the signature and the docstring of a function.

    The function takes them as ``**options``; the line ``**options`` in its docstring is replaced by
    their description.

    Examples
    --------
    >>> @takes_read_options
    ... def count_rows(data, **options):
    ...     pass
    >>> [*inspect.signature(count_rows).parameters][:4]
    ['data', 'missing', 'encode', 'exclude']
    """
    signature = inspect.signature(function)
    own = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    derived = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=kind
        )
        for name, (kind, option) in read_options().items()
    ]
    function.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*own, *derived]
    )
    if function.__doc__ is not None:  # python -OO strips docstrings
        described = textwrap.indent(_description(), "    ").strip()
        function.__doc__ = function.__doc__.replace("**options", described, 1)
    return function


def _description() -> str:
    """Return the reading options as a docstring lists parameters."""
    lines = []
    for name, (kind, option) in read_options().items():
        text = " ".join(filter(None, [option.help, option.details]))
        lines.append(f"{name} : {_type_words(kind, option)}")
        lines += textwrap.wrap(text, 92, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def _type_words(kind: Any, option: ReadOption) -> str:
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    if option.choices:
        words = "{" + ", ".join(f'"{choice}"' for choice in option.choices) + "}"
    elif get_origin(parts[0]) is Sequence:
        [item] = get_args(parts[0])
        names = [part.__name__ for part in get_args(item) or (item,)]
        words = f"sequence of {' or '.join(names)}"
    else:
        words = parts[0].__name__
    return f"{words}, optional" if option.default is None else words
