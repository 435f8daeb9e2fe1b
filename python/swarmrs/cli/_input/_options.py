"""The options of the commands: those of a search from their declaration, the others here."""

import inspect
import math
import re
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypedDict

import typer

from swarmrs._base._choices import KINDS
from swarmrs._base._messages import read_setting
from swarmrs._base._options import Option, options_of
from swarmrs.cli._input import _complete as complete
from swarmrs.cli._input._files import STREAM, check_output
from swarmrs.cli._input._signature import InForce, set_signature
from swarmrs.data._options import ReadOptions
from swarmrs.exceptions import SpecError
from swarmrs.search._options._declarations import SearchOptions

if TYPE_CHECKING:
    from swarmrs._base._messages import Setting

# Where a file is named, this is standard output.
STDOUT = Path(STREAM)


class Shorthands(TypedDict, total=False):
    """Options that stand for a part of another one, on the command line alone."""

    population: Annotated[
        int,
        Option(
            help="Population size; the same as --set population=N.",
            section="Search",
        ),
    ]
    alpha: Annotated[
        float,
        Option(
            help="Weight of the error in the objectives weighted and gaussian.",
            section="Search",
            shown="0.9, 0.98",
        ),
    ]
    gamma: Annotated[
        float,
        Option(
            help="Weight of the accuracy in the objective hybrid.",
            section="Search",
            shown="0.8",
        ),
    ]


# All declared options. Commands that exclude features do so by the option of a search.
READING = options_of(ReadOptions, "c")
DECLARED = READING | options_of(SearchOptions) | options_of(Shorthands)
_COMPLETED: dict[str, Any] = {
    "algo": complete.algorithms,
    "preset": complete.presets,
    "include": complete.columns,
    "exclude": complete.columns,
    "together": complete.column_list,
}


# Options of a command that are given, as the function that it calls takes them.
Given: TypeAlias = dict[str, Any]


def takes(
    names: Sequence[str], parameter: str = "given"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command declared options in place of one of its parameters, which holds them then.

    What is not given is left out of it, so that a preset has its say before the defaults.
    """

    def derive(command: Callable[..., None]) -> Callable[..., None]:
        parameters: list[inspect.Parameter] = []
        for own in inspect.signature(command).parameters.values():
            derived = [_parameter(name, DECLARED[name]) for name in names]
            parameters += derived if own.name == parameter else [own]

        @wraps(command)
        def with_options(**values: Any) -> None:
            own = {name: values.pop(name) for name in names}
            # By identity: 0 equals False, and is a value.
            given = {
                name: value
                for name, value in own.items()
                if value is not None and value is not False and value != []
            }
            if "n_jobs" in names:
                # On the command line all cores are the default.
                given.setdefault("n_jobs", -1)
            command(**values, **{parameter: _parsed(given)})

        set_signature(with_options, parameters)
        return with_options

    return derive


reads_data = takes(tuple(READING), "reading")


def names_of(door: str) -> list[str]:
    """Return the names of the options of a door, in the order of their declaration."""
    return [*options_of(SearchOptions, door), *options_of(Shorthands)]


def flag_of(name: str) -> str:
    """Return the flag of an option that declares no other.

    Examples
    --------
    >>> flag_of("max_bytes")
    '--max-bytes'
    """
    return f"--{name.replace('_', '-')}"


def _parameter(name: str, option: Option) -> inspect.Parameter:
    """Return an option as typer reads it."""
    flags = option.flags or (flag_of(name),)
    shown: Any = option.shown
    if shown is None and option.default not in (None, (), False):
        shown = str(option.default)
    completion = _COMPLETED.get(name)
    if completion is None and option.words:
        completion = complete.of_words(option.words)
    is_list, is_flag = option.cli == list[str], option.cli is bool
    text = f"{option.help} Repeatable." if is_list else option.help
    declared = typer.Option(
        *flags,
        metavar=option.metavar or None,
        # typer would put a default that is words in parentheses.
        help=f"{text}  [default: {shown}]" if shown else text,
        show_default=False,
        autocompletion=completion,
    )
    default: Any = [] if is_list else False if is_flag else None
    kind = option.cli if is_list or is_flag else option.cli | None
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, declared, InForce(_in_force(option))],
    )


def _in_force(option: Option) -> object:
    """Return the default as the command line writes it; None if there is none to write."""
    if option.shown is None:
        if option.cli == list[str]:
            return list(option.default or ())
        is_word = option.cli is str and option.default is not None
        return str(option.default) if is_word else option.default
    # A default shown as several words is described, not written.
    return None if " " in option.shown else option.cli(option.shown)


def _parsed(given: Given) -> Given:
    """Return options as Python has them."""
    for name, value in given.items():
        if DECLARED[name].metavar == "SIZE":
            given[name] = parse_size(value, name)
    settings = parse_settings(given.pop("algo_params", []), given.pop("population", None))
    if settings:
        given["algo_params"] = settings
    weights = {name: given.pop(name) for name in ("alpha", "gamma") if name in given}
    if weights:
        if "objective" not in given:
            name = next(iter(weights))
            having = " or ".join(kind for kind, own in KINDS.items() if name in own)
            raise SpecError(
                f"{name} is {weights[name]}, but no objective is given",
                f"it belongs to --objective {having}",
            )
        given["objective"] = {"kind": given["objective"], **weights}
    if "cv" in given:
        given["cv"] = _whole_or_word(given["cv"])
    if "together" in given:
        given["together"] = parse_together(given["together"])
    most = given.get("max_features")
    if most is not None and (most > 1 or most == 1):
        # A share is written with a point: 1 is one feature.
        if not math.isfinite(most) or most != int(most):
            raise SpecError(f"max_features is {most:g}, expected a number of features or a share")
        given["max_features"] = int(most)
    return given


def _whole_or_word(cv: str) -> int | str:
    """Return a number of folds as one, so that it is one setting however it is written."""
    return int(cv) if re.fullmatch(r"\d{1,9}", cv) else cv


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, Parquet, Arrow or ARFF, gzipped or not; - for standard input; "
        "sklearn:wine, breast_cancer, digits, iris or diabetes.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COL",
        help="Target column, by name or index.",
        autocompletion=complete.columns,
    ),
]

Trace = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a row for each iteration: csv, parquet.")
]
Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a report with figures: html. Needs swarmrs[report]."),
]
KeepAll = Annotated[
    Path | None,
    typer.Option(
        "--keep-all", metavar="FILE", help="Write every evaluated subset to a file: csv, parquet."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the reduced table (csv, tsv, parquet), the result (json) or scikit-learn code "
        "that fits a model (py); - prints the reduced table instead of the result.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files.")]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="Output format: table, json, csv.",
        autocompletion=complete.words("cli._output._render", "FORMATS"),
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Suppress notes and progress.")]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Suppress the progress bar.")]


def parse_settings(settings: Sequence[str], population: int | None) -> "dict[str, Setting]":
    """Return settings given as ``name=value``; a value is a JSON scalar, or else text."""
    pairs = [setting.partition("=") for setting in settings]
    if population is not None:
        pairs.append(("population", "=", str(population)))
    parsed: dict[str, Setting] = {}
    for name, equals, value in pairs:
        if not (name and equals):
            raise SpecError(f"--set '{name}' has no value", "write --set name=value")
        if name in parsed:
            raise SpecError(f"{name} is set twice", "set it once")
        parsed[name] = read_setting(value)
    return parsed


def parse_size(size: str, what: str = "memory") -> int:
    """Return a number of bytes given as ``1GiB``, ``512M`` or ``1000000``."""
    match = re.fullmatch(r"(\d{1,18}(?:\.\d{1,18})?) ?([KMGT]?)(?:i?B)?", size, flags=re.IGNORECASE)
    if match is None:
        raise SpecError(f"{what} is '{size}', expected a size", "write 512MiB or 2GiB")
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))


def parse_together(given: list[str]) -> list[str | list[str]]:
    """Return the lists of columns in ``a,b,c``, and the word that stands for some as it is."""
    return [item if item == "encoded" else item.split(",") for item in given]


def check_page(path: Path | None, force: bool) -> None:
    """Refuse, before anything is computed, a page that cannot be drawn or written at the end."""
    if path is not None:
        check_output(path, (".html",), force)
        from swarmrs.experiments import check_report

        check_report()
