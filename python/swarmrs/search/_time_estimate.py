"""How long a search takes, before it is begun: a model that is good to a factor of three."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from swarmrs._base._hints import setting
from swarmrs._base._messages import counted
from swarmrs._base._resources import count_threads
from swarmrs.data._table import Table
from swarmrs.search._results import Card
from swarmrs.search._settings import AUTO, Settings

if TYPE_CHECKING:
    from swarmrs.search._auto import Plan

# Nanoseconds of one thread, fitted to runs of 178 x 13 to 50 000 x 30 and 174 x 12 533 on a server
# core of 2023 with AVX2: k-NN compares every pair of rows (0.7 to 1.1 ns for 6 to 32 features, 14
# for 2500, most of which are taken from the subset before), naive Bayes reads every cell, a ridge
# classifier multiplies pairs of columns.
_PAIR = 0.7
_PAIR_FEATURE = 0.005
_CELL = 4.0
_PRODUCT = 0.2
_SET_UP = 800.0
# Imputing inside folds keeps a copy of each row with missing values for each fold.
_IMPUTED = 4.0
# A forward search seldom goes beyond so many features.
_STEPS = 10
# Seconds from which on a search is announced.
_LONG = 60.0


def estimate_seconds(
    rows: int,
    features: int,
    evaluations: int,
    *,
    classifier: str = "knn",
    imputed: bool = False,
    threads: int = 1,
) -> float:
    """Return the seconds of a search, roughly.

    Parameters
    ----------
    rows, features : int
        The size of the table.
    evaluations : int
        How many subsets are requested.
    classifier : str
        The built-in classifier: ``"knn"``, ``"ridge"``, or naive Bayes.
    imputed : bool
        Whether missing values are imputed inside the folds.
    threads : int
        How many threads evaluate.

    Examples
    --------
    >>> round(estimate_seconds(50_000, 30, 6000, threads=2) / 3600, 1)
    1.6
    """
    unique: int = min(evaluations, 2 ** min(features, 60))
    chosen = features / 2
    one = rows * chosen * _CELL
    if classifier == "knn":
        one = rows * rows * (_PAIR + _PAIR_FEATURE * chosen) * (_IMPUTED if imputed else 1.0)
    elif classifier == "ridge":
        one += rows * chosen * min(rows, chosen) * _PRODUCT * (_IMPUTED if imputed else 1.0)
    return 1e-9 * (rows * features * _SET_UP + unique * one / threads)


def count_evaluations(
    card: Card,
    features: int,
    *,
    max_evals: int | None = None,
    max_iter: int | None = None,
    params: Mapping[str, object] | None = None,
) -> int:
    """Return how many subsets a search asks for, at least roughly where it ends by itself."""
    if max_evals is not None:
        return max_evals
    own = {parameter.name: parameter.default for parameter in card.params} | dict(params or {})
    iterations = own.get("iterations") if max_iter is None else max_iter
    if "population" in own and isinstance(iterations, int):
        members = own["population"]
        # What is open is a twentieth of the features, 100 to 300, in high dimensions.
        size = members if isinstance(members, int) else min(300, max(100, features // 20))
        return iterations * size
    if card.family == "filter":
        return 1
    if card.family == "sequential":
        return int(features * min((features + 1) / 2, _STEPS))
    return card.evaluations or 0


def forecast(table: Table, settings: Settings) -> tuple[str, ...]:
    """Say how long a search takes if that is more than a minute and nothing ends it before."""
    options, card, classifier = settings.options, settings.card, settings.classifier
    if settings.algo == AUTO:
        return _forecast_auto(table, settings)
    is_filter = str(options["objective"]).startswith("filter")
    if card is None or classifier is None or is_filter or options["time_limit"] is not None:
        return ()
    rows, width = table.x.shape
    params, limits = settings.filled_up(width)
    most, iterations = limits["evaluations"], limits["iterations"]
    evaluations = count_evaluations(
        card,
        width,
        max_evals=None if most is None else int(most),
        max_iter=None if iterations is None else int(iterations),
        params=params,
    )
    seconds = options["repeats"] * estimate_seconds(
        rows,
        width,
        evaluations,
        classifier=classifier.name,
        imputed=table.unfilled is not None,
        threads=count_threads(options["n_jobs"]),
    )
    folds = str(options["outer_cv"])
    if folds.isdecimal() and int(folds) > 1:
        # Each fold searches the rows of the others; k-NN takes the square of their share.
        seconds *= 1 + int(folds) * (1 - 1 / int(folds)) ** 2
    if seconds < _LONG:
        return ()
    how = f"{evaluations} evaluations of {counted(rows, 'row')}"
    ways = [setting("time_limit"), setting("max_evals")]
    if classifier.name == "knn":
        ways.append(setting("estimator", "nb"))
    return (
        f"this search takes about {said(seconds)} by a rough estimate ({how}); "
        f"{' or '.join(ways)} shortens it",
    )


def auto_seconds(table: Table, plan: "Plan", threads: int) -> float:
    """Return the seconds of `auto`, roughly."""
    rows, width = min(len(table.x), plan.most_rows), int(table.x.shape[1])
    imputed = table.unfilled is not None
    searches = estimate_seconds(rows, min(width, 60), plan.total, imputed=imputed, threads=threads)
    # Each split quantizes the table and ranks its features by filters.
    return searches + 1e-9 * plan.n_splits * rows * width * _SET_UP * 4 / threads


def _forecast_auto(table: Table, settings: Settings) -> tuple[str, ...]:
    """Say what competes and how long that takes."""
    from swarmrs.search._auto import Plan

    options = settings.options
    plan = Plan.of(table, settings.max_features(table.x.shape[1]), options["max_evals"])
    limit = options["time_limit"]
    seconds = auto_seconds(table, plan, count_threads(options["n_jobs"]))
    how_long = f"about {said(seconds)}"
    if limit is not None and limit < seconds:
        how_long = f"at most {limit:g} seconds"
    methods = f"{counted(len(plan.methods), 'method')} ({', '.join(plan.methods)})"
    return (f"{methods} compete on {counted(plan.n_splits, 'split')} of the rows: {how_long}",)


def said(seconds: float) -> str:
    """Say how long something takes, roughly.

    Examples
    --------
    >>> said(0.2), said(8.4), said(125), said(7800), said(200_000)
    ('a second', '8 seconds', '2 minutes', '2 hours', '2 days')
    """
    for unit, length in (("day", 86_400.0), ("hour", 3600.0), ("minute", 60.0), ("second", 1.0)):
        # From one and a half on, so that no unit is rounded to one.
        if seconds >= 1.5 * length:
            return f"{round(seconds / length)} {unit}s"
    return "a second"
