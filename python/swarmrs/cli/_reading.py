"""The options that say how data is read, shared by all commands that read any."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, TypeAlias

import typer

from swarmrs.cli import _complete as complete
from swarmrs.cli._options import parse_size
from swarmrs.cli._signature import set_signature

# What `read_table` is given beside the data, its target and excluded columns.
Reading: TypeAlias = Mapping[str, Any]

Missing = Annotated[
    str,
    typer.Option(
        metavar="POLICY",
        help="Missing values: error, drop-rows, drop-columns, mean, median, mode, knn, keep.",
        autocompletion=complete.words("data._encode", "MISSING"),
    ),
]
Encode = Annotated[
    str,
    typer.Option(
        metavar="HOW",
        help="Text: error, ordinal, onehot.",
        autocompletion=complete.words("data._encode", "ENCODINGS"),
    ),
]
Separator = Annotated[str | None, typer.Option("--sep", metavar="CHAR", help="Field separator.")]
Decimal = Annotated[str, typer.Option(metavar="CHAR", help="Decimal mark of a CSV or TSV file.")]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", help="Encoding of a text file.")]
Null = Annotated[
    list[str], typer.Option(metavar="WORD", help="Another word for a missing value; repeat.")
]
NullOnly = Annotated[
    bool, typer.Option("--null-only", help="Only the words of --null stand for missing values.")
]
InputFormat = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="csv, tsv, parquet, arrow, arff.",
        show_default="what the content says",
        autocompletion=complete.words("data._formats", "FORMATS"),
    ),
]
DedupeNames = Annotated[bool, typer.Option("--dedupe-names", help="Number columns of equal names.")]
MaxInputBytes = Annotated[
    str, typer.Option(metavar="SIZE", help="How large the data may be when unpacked.")
]
AllowTargetCopy = Annotated[
    bool, typer.Option("--allow-target-copy", help="Allow a column equal to the target.")
]

_OPTIONS: dict[str, tuple[object, object]] = {
    "missing": (Missing, "error"),
    "encode": (Encode, "error"),
    "separator": (Separator, None),
    "decimal": (Decimal, "."),
    "encoding": (Encoding, None),
    "null": (Null, []),
    "null_only": (NullOnly, False),
    "input_format": (InputFormat, None),
    "dedupe_names": (DedupeNames, False),
    "max_input_bytes": (MaxInputBytes, "16GiB"),
    "allow_target_copy": (AllowTargetCopy, False),
}


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options in place of its parameter `reading`, which holds them then."""
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name == "reading":
            parameters += [
                parameter.replace(name=name, annotation=annotation, default=default)
                for name, (annotation, default) in _OPTIONS.items()
            ]
        else:
            parameters.append(parameter)

    @wraps(command)
    def with_options(**given: Any) -> None:
        own = {name: given.pop(name) for name in _OPTIONS}
        command(**given, reading=_collect(**own))

    set_signature(with_options, parameters)
    return with_options


def _collect(
    *, null: list[str], null_only: bool, max_input_bytes: str, **others: object
) -> Reading:
    from swarmrs.data._formats._text import NULL_WORDS

    words = [*([] if null_only else NULL_WORDS), *null]
    size = parse_size(max_input_bytes, "max-input-bytes")
    return {**others, "null_words": words, "max_bytes": size}


def words_of(settings: Mapping[str, Any]) -> list[str]:
    """Return arguments of `read_table` as options of a command.

    Examples
    --------
    >>> words_of({"target": "class", "exclude": ["id"], "separator": ";", "dedupe_names": True})
    ['--target', 'class', '--exclude', 'id', '--sep', ';', '--dedupe-names']
    """
    from swarmrs.data._formats._text import NULL_WORDS

    words: list[str] = []
    for name, value in settings.items():
        if name == "null_words":
            if not {*NULL_WORDS} <= {*value}:
                words.append("--null-only")
                words += [word for null in value if null for word in ("--null", null)]
            else:
                more = [null for null in value if null not in NULL_WORDS]
                words += [word for null in more for word in ("--null", null)]
            continue
        flag = {"separator": "--sep", "max_bytes": "--max-input-bytes"}.get(
            name, f"--{name.replace('_', '-')}"
        )
        if value is True:
            words.append(flag)
        elif isinstance(value, list):
            words += [word for item in value for word in (flag, str(item))]
        else:
            words += [flag, str(value).replace("\t", r"\t")]
    return words
