"""The options of the commands, each described once."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swarmrs._base._messages import read_setting
from swarmrs._base._resources import MOST_THREADS
from swarmrs.cli import _complete as complete
from swarmrs.cli._files import STREAM, check_output
from swarmrs.evaluation._presets import PRESETS
from swarmrs.exceptions import SpecError

if TYPE_CHECKING:
    from swarmrs._base._messages import Setting

# What is left open is done as in the algorithm's paper, if one is at work.
OWN = "the algorithm's own"
# Where a file is named, this is standard output.
STDOUT = Path(STREAM)

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, Parquet, Arrow or ARFF, gzipped or not; - for standard input; "
        "sklearn:wine, breast_cancer, digits or iris.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COL",
        help="Column of classes, by name or index.",
        autocompletion=complete.columns,
    ),
]
Exclude = Annotated[
    list[str],
    typer.Option(
        metavar="COL",
        help="Never select this column, nor look at it; repeat.",
        autocompletion=complete.columns,
    ),
]
Include = Annotated[
    list[str],
    typer.Option(
        metavar="COL", help="Always select this column; repeat.", autocompletion=complete.columns
    ),
]
RareClass = Annotated[
    str,
    typer.Option(
        metavar="POLICY",
        help="Classes too rare for the folds: warn, error, drop, merge.",
        autocompletion=complete.words("evaluation._rare_classes", "RARE_CLASS"),
    ),
]
Constant = Annotated[
    str | None,
    typer.Option(
        metavar="POLICY",
        help="Columns with one value: drop, keep.",
        show_default="drop, or keep with a preset",
        autocompletion=complete.words("search._constraints", "CONSTANT"),
    ),
]

Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Measure as a published study does, with its budget and swarm: "
        f"{', '.join(PRESETS)}. What else is given wins.",
        autocompletion=complete.presets,
    ),
]
Classifier = Annotated[
    str | None,
    typer.Option(
        "--classifier",
        "-c",
        metavar="NAME",
        help="What measures: knn, nb, or nb-cdf, a published error.",
        show_default="knn",
        autocompletion=complete.words("evaluation._native", "CLASSIFIERS"),
    ),
]
Neighbors = Annotated[
    int | None,
    typer.Option("-k", metavar="N", help="Neighbors of k-NN.", show_default=f"5, or {OWN}"),
]
Metric = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="euclidean, manhattan.",
        show_default=f"euclidean, or {OWN}",
        autocompletion=complete.words("evaluation._native", "METRICS"),
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Votes: uniform, distance.",
        show_default="uniform",
        autocompletion=complete.words("evaluation._native", "WEIGHTS"),
    ),
]
Cv = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDS",
        help="A number of folds, loo, kfold=10,contiguous, holdout=0.3, wrap5.",
        show_default=f"10, or {OWN}",
        autocompletion=complete.words("evaluation._folds", "CVS"),
    ),
]
CvSeed = Annotated[int, typer.Option(metavar="N", help="Shuffles the folds.")]
Scale = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="minmax, standard or none; fold-minmax and fold-standard fit it inside each fold.",
        show_default="minmax",
        autocompletion=complete.words("evaluation._native", "SCALES"),
    ),
]

Algo = Annotated[
    str,
    typer.Option(
        "--algo",
        "-a",
        metavar="ID",
        help="`swarmrs algorithms` lists them.",
        autocompletion=complete.algorithms,
    ),
]
Objective = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What is lowered: error, weighted, hybrid, gaussian, filter-cfs, filter-mrmr.",
        show_default=OWN,
        autocompletion=complete.words("evaluation._objectives", "OBJECTIVES"),
    ),
]
Scoring = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What counts: accuracy, balanced_accuracy, ovr_accuracy, f1_macro, matthews_corrcoef.",
        show_default="accuracy",
        autocompletion=complete.words("evaluation._objectives", "SCORES"),
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="Weight of the error in weighted and gaussian.",
        show_default="0.9, 0.98",
    ),
]
Gamma = Annotated[
    float | None,
    typer.Option(metavar="X", help="Weight of accuracy in hybrid.", show_default="0.8"),
]
Sim = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Similarity in gaussian: plain, literal, mvn.",
        show_default="plain",
        autocompletion=complete.words("evaluation._objectives", "SIMS"),
    ),
]
SigmaLog = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Logarithm in it: log10, ln.",
        show_default="log10",
        autocompletion=complete.words("evaluation._objectives", "SIGMA_LOGS"),
    ),
]
MaxEvals = Annotated[
    int | None,
    typer.Option(metavar="N", help="Subsets to ask for.", show_default=OWN),
]
Iterations = Annotated[int | None, typer.Option(metavar="N", help="Turns of the search.")]
Population = Annotated[int | None, typer.Option(metavar="N", help="Same as --set population=N.")]
TimeLimit = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Stop after; not reproducible.")
]
TargetCost = Annotated[float | None, typer.Option(metavar="X", help="A cost that is good enough.")]
Patience = Annotated[
    int | None,
    typer.Option(metavar="N", help="Stop after so many iterations without a better subset."),
]
Settings = Annotated[
    list[str],
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the algorithm; repeat."),
]
MaxFeatures = Annotated[int | None, typer.Option(metavar="N", help="Select at most so many.")]
Together = Annotated[
    list[str],
    typer.Option(
        metavar="COLS",
        help="Columns that go in or out together: a,b,c; or encoded: those of one column of text.",
        autocompletion=complete.column_list,
    ),
]
OnePerGroup = Annotated[
    bool, typer.Option("--one-per-group", help="Select at most one column of each group.")
]
Prescreen = Annotated[
    str | None,
    typer.Option(metavar="RULE", help="Drop columns before the search: su>0, top=K, fcbf, cfs."),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        help="Columns that belong together, for algorithms that ask: as --by of group.",
        show_default="lbm",
    ),
]
Pick = Annotated[
    str,
    typer.Option(
        metavar="WHICH", help="Which of the subsets tried: best, or of the front knee, size<=K."
    ),
]
Parsimony = Annotated[
    str | None,
    typer.Option(
        metavar="RULE", help="1se: the smallest subset within one standard error of the best."
    ),
]
Repeats = Annotated[
    int,
    typer.Option(
        metavar="N", help="Search so often, by --seed and those after it; tells stability."
    ),
]
Resample = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Give each repeat such a share of the rows, drawn anew."),
]
TestSize = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE", help="Hold out such a share of the rows and measure on it what is found."
    ),
]
OuterCv = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDS", help="Hold out each fold in turn, as --cv has them; costs a search each."
    ),
]
KeepAll = Annotated[
    Path | None,
    typer.Option("--keep-all", metavar="FILE", help="Write every subset measured: csv, parquet."),
]
Seed = Annotated[
    int | None, typer.Option(metavar="N", help="Fixes all chance.", show_default="drawn")
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", metavar="N", help="Threads; 0 for all. Changes no result.")
]
Memory = Annotated[str, typer.Option(metavar="SIZE", help="For kept distances. Changes no result.")]

Trace = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a row for each iteration: csv, parquet.")
]
Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a page with figures: html. Needs swarmrs[plot]."),
]
Checkpoint = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Keep the state here, and go on from it.")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the reduced table (csv, tsv, parquet), the result (json) or code that fits a "
        "model to it (py); - prints the reduced table in place of the result.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files.")]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="Of stdout: table, json, csv.",
        autocompletion=complete.words("cli._render", "FORMATS"),
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes and no progress.")]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Show no progress.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error arose.")]


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


def parse_jobs(jobs: int) -> int:
    """Return the threads as scikit-learn counts them, where all is -1."""
    if jobs < 0:
        raise SpecError(f"jobs is {jobs}, expected 0 or more", "0 is all")
    if jobs > MOST_THREADS:
        raise SpecError(f"jobs is {jobs}, expected {MOST_THREADS} at most", "0 is all")
    return jobs or -1


def check_page(path: Path | None, force: bool) -> None:
    """Refuse, before anything is computed, a page that cannot be drawn or written at the end."""
    if path is not None:
        check_output(path, (".html",), force)
        from swarmrs.experiments._report._drawing import check_plot

        check_plot()
