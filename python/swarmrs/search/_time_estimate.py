"""How long a search takes, before it is begun: a model that is good to a factor of three."""

from collections.abc import Mapping
from math import comb
from typing import TYPE_CHECKING, Any

from swarmrs._base._hints import setting
from swarmrs._base._messages import counted
from swarmrs._base._resources import count_threads
from swarmrs.data._table import Table
from swarmrs.search._options._cards import Card
from swarmrs.search._options._settings import AUTO, Settings

if TYPE_CHECKING:
    from swarmrs.search._auto import Plan

# Nanoseconds of one thread, fitted to runs of 178 x 13 to 50 000 x 30 and 174 x 12 533 on server
# cores with AVX2 and AVX-512: k-NN compares every pair of rows (0.7 to 1.1 ns for 6 to 32 features
# with AVX2, 0.2 to 0.3 with AVX-512; 14 for 2500, most of which are taken from the subset before),
# naive Bayes reads every cell, a ridge classifier multiplies pairs of columns.
_PAIR = 0.45
_PAIR_FEATURE = 0.005
_CELL = 4.0
_PRODUCT = 0.2
_SET_UP = 800.0
# A kd-tree finds the neighbors of a row under up to 8 features of many rows in 1 to 33 us.
_TREE_FEATURES = 8
_TREE_LEAST, _TREE_ROW, _TREE_GROWTH = 1000.0, 300.0, 1.73
# Up to so many features, the mean over all subsets is taken, else a subset of half of them.
_FEW = 30
# Imputing inside folds keeps a copy of each row with missing values for each fold.
_IMPUTED = 4.0
# A forward search seldom goes beyond so many features.
_STEPS = 10
# Seconds from which on a search is announced.
_LONG = 60.0
# The samples of rows that are proposed for long tables.
_FEWER = (10_000, 2000)


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
    1.1
    """
    unique = _unique(evaluations, features)
    one = subset_seconds(rows, features, classifier=classifier, imputed=imputed)
    return 1e-9 * rows * features * _SET_UP + unique * one / threads


def subset_seconds(
    rows: int, features: int, *, classifier: str = "knn", imputed: bool = False
) -> float:
    """Return the seconds of one thread for a random subset, roughly.

    Examples
    --------
    >>> round(subset_seconds(327_000, 8), 1)
    1.2
    """
    if classifier == "knn" and features <= _FEW:
        sizes = range(1, features + 1)
        total = sum(comb(features, size) * _knn(rows, size, imputed) for size in sizes)
        return 1e-9 * total / ((1 << features) - 1)
    chosen = features / 2
    if classifier == "knn":
        return 1e-9 * _knn(rows, chosen, imputed)
    one = rows * chosen * _CELL
    if classifier == "ridge":
        one += rows * chosen * min(rows, chosen) * _PRODUCT * (_IMPUTED if imputed else 1.0)
    return 1e-9 * one


def _knn(rows: int, size: float, imputed: bool) -> float:
    """Return the nanoseconds of k-NN on a subset of so many features."""
    pairs = rows * rows * (_PAIR + _PAIR_FEATURE * size) * (_IMPUTED if imputed else 1.0)
    if size > _TREE_FEATURES or imputed:
        return pairs
    tree: float = rows * max(_TREE_LEAST, _TREE_ROW * _TREE_GROWTH**size)
    return min(pairs, tree)


def _unique(evaluations: int, features: int) -> int:
    """Return how many of the subsets requested can be distinct."""
    return min(evaluations, int(2 ** min(features, 60)) - 1)


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
    """Say how long a search takes if that is more than a minute and nothing ends it before.

    Of `auto` it is always said, with what competes.
    """
    return _forecast_auto(table, settings) if settings.algo == AUTO else announce(table, settings)


def announce(table: Table, settings: Settings) -> tuple[str, ...]:
    """Say how long one search takes if that is more than a minute and nothing ends it before."""
    options, card, classifier = settings.options, settings.card, settings.classifier
    if settings.algo == AUTO:
        return ()
    is_filter = str(options["objective"]).startswith("filter")
    if card is None or classifier is None or is_filter or options["time_limit"] is not None:
        return ()
    (total, width), most = table.x.shape, settings.rows
    rows = total if most is None else min(total, most)
    params, limits = settings.filled_up(width)
    most_evals, iterations = limits["evaluations"], limits["iterations"]
    evaluations = count_evaluations(
        card,
        width,
        max_evals=None if most_evals is None else int(most_evals),
        max_iter=None if iterations is None else int(iterations),
        params=params,
    )
    threads = count_threads(options["n_jobs"])
    how: dict[str, Any] = {
        "classifier": classifier.name,
        "imputed": table.unfilled is not None,
    }
    seconds = estimate_seconds(rows, width, evaluations, threads=threads, **how)
    if rows < total:
        # What is selected is scored on all rows.
        seconds += estimate_seconds(total, width, 1, threads=threads, **how)
    seconds *= settings.repeats
    folds = str(options["outer_cv"])
    # More folds than rows are refused later.
    n_folds = int(folds) if folds.isdecimal() and len(folds) <= len(str(total)) else 0
    if n_folds > 1:
        # Each fold searches the rows of the others; k-NN takes the square of their share.
        seconds *= 1 + n_folds * (1 - 1 / n_folds) ** 2
    if seconds < _LONG:
        return ()
    one = subset_seconds(rows, width, **how) / threads
    each = f"{one:.2g} s" if one >= 0.1 else f"{1000 * one:.2g} ms"
    what = f"{counted(_unique(evaluations, width), 'evaluation')} of {each}"
    ways = [setting("rows", fewer) for fewer in _FEWER if rows >= 2 * fewer][:1]
    ways.append(setting("time_limit", 600 if seconds > 600 else 60))
    if not most_evals and len(ways) < 2:
        ways.append(setting("max_evals"))
    return (
        f"this search takes about {said(seconds)} by a rough estimate: {what}; "
        f"try {' or '.join(ways)}",
    )


def auto_seconds(table: Table, plan: "Plan", threads: int) -> float:
    """Return the seconds of `auto`, roughly."""
    rows, width = min(len(table.x), plan.most_rows), int(table.x.shape[1])
    imputed = table.unfilled is not None
    searches = estimate_seconds(rows, min(width, 60), plan.total, imputed=imputed, threads=threads)
    if rows < len(table.x):
        searches += subset_seconds(len(table.x), min(width, 60), imputed=imputed) / threads
    # Each split quantizes the table and ranks its features by filters.
    return searches + 1e-9 * plan.n_splits * rows * width * _SET_UP * 4 / threads


def _forecast_auto(table: Table, settings: Settings) -> tuple[str, ...]:
    """Say what competes and how long that takes."""
    from swarmrs.search._auto import Plan

    options = settings.options
    width = table.x.shape[1]
    plan = Plan.of(table, settings.max_features(width), options["max_evals"], settings.rows)
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
