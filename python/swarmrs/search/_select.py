"""select(): from a table to a selection."""

import warnings
from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from swarmrs._base._arguments import check_arguments
from swarmrs._base._choices import ON_INTERRUPT
from swarmrs._base._hints import named, setting
from swarmrs._base._messages import check_word, refuse_unknown
from swarmrs._base._options import options_of, takes_options
from swarmrs._base._resources import count_threads, draw_seed
from swarmrs.data._options import ReadOptions
from swarmrs.data._read import is_frame
from swarmrs.data._table import Data, Table, read_table
from swarmrs.data._target import Target
from swarmrs.exceptions import SpecError, SwarmrsWarning
from swarmrs.search._options._declarations import SearchOptions
from swarmrs.search._options._settings import Settings
from swarmrs.search._options._types import OPTION_TYPES
from swarmrs.search._results._progress import Callback
from swarmrs.search._results._selection import Selection
from swarmrs.search._search import Search
from swarmrs.search._time_estimate import announce
from swarmrs.search._validation._nested import cross_validate, hold_out
from swarmrs.search._validation._repeats import repeat

_OWN_READ_OPTIONS = {"missing", "encode", "exclude"}


@takes_options(SearchOptions, OPTION_TYPES)
def select(
    data: Data,
    target: Target = None,
    *,
    read: Mapping[str, Any] | None = None,
    missing: str = "error",
    encode: str = "error",
    **options: Unpack[SearchOptions],
) -> Selection:
    """Search for the feature subset with the best score: wrapper feature selection.

    Parameters
    ----------
    data : array, frame, str, path, Table or (X, y)
        The samples; see `read_table`. A data frame reaches an estimator of scikit-learn as it is,
        its text included, unless `missing` or `encode` changes its values.
    target : array-like, str or int, optional
        The class or number of each sample, or the column that holds it. By default the last column.
    read : mapping, optional
        How a file is read: further arguments of `read_table`, such as ``{"decimal": ","}``.
    missing, encode : str
        How missing values and text are handled; see `read_table`.
    {options}

    Returns
    -------
    Selection
        The best subset evaluated, or the one picked.

    Raises
    ------
    SpecError
        If an option is unknown, out of range or does not fit the others, or if no evaluated subset
        is small enough to be picked.
    DataError
        If the data is absent, unreadable or cannot be searched as it is.

    Examples
    --------
    >>> result = select("sklearn:wine", algo="sfs", max_features=2)
    >>> result.selected
    ('alcohol', 'flavanoids')
    """
    refuse_unknown(options, options_of(SearchOptions, "p"))
    check_arguments(select, {"read": read, "missing": missing, "encode": encode, **options})
    reading: dict[str, Any] = dict(read or {})
    # The others are arguments of this call.
    refuse_unknown(reading, sorted(options_of(ReadOptions, "p").keys() - _OWN_READ_OPTIONS))
    settings = Settings.of(options)
    options = settings.options
    check_word("on_interrupt", options["on_interrupt"], ON_INTERRUPT)
    # An estimator may name the columns of a data frame, or encode their text itself.
    frame = data[0] if isinstance(data, tuple) else data
    is_kept = settings.classifier is None and options["scorer"] is None and is_frame(frame)
    is_kept = is_kept and encode == "error" and missing in ("error", "keep")
    table = read_table(
        data,
        target,
        missing=missing,
        encode="ordinal" if is_kept else encode,
        exclude=options["exclude"],
        **{"task": settings.task, **reading},
    )
    if is_kept:
        table = table.with_samples(frame)
    for message in announce(table, settings):
        warnings.warn(message, SwarmrsWarning, stacklevel=2)
    selection = run_search(table, settings)
    if selection.stop == "interrupted" and options["on_interrupt"] == "raise":
        raise KeyboardInterrupt
    for message in selection.warnings:
        warnings.warn(message, SwarmrsWarning, stacklevel=2)
    return selection


def run_search(table: Table, settings: Settings) -> Selection:
    """Search a table, once or several times; score the selection on held-out rows if requested."""
    options = settings.options
    n_runs = settings.repeats
    drawn = _check_share("resample", options["resample"])
    held = _check_share("test_size", options["test_size"])
    outer_cv, checkpoint = options["outer_cv"], options["checkpoint"]
    if drawn is not None and n_runs == 1:
        raise SpecError(
            f"{named('resample')} needs {named('repeats')}: one run has no stability",
            f"repeat the search with {setting('repeats', 20)}",
        )
    if held is not None and outer_cv is not None:
        raise SpecError("test_size and outer_cv both hold out rows", "give only one of them")
    if checkpoint is not None and (n_runs > 1 or outer_cv is not None):
        raise SpecError(
            "a checkpoint is for one search, not for several", "search without a checkpoint"
        )
    seed, threads = draw_seed(options["random_state"]), count_threads(options["n_jobs"])
    search = Search.of(settings.settle(table), settings, options["n_jobs"])
    keep_all, callback = options["keep_all"], options["callback"]

    def procedure(search: Search, threads: int, callback: Callback | None) -> Selection:
        if n_runs == 1:
            return search.run(
                seed, threads=threads, checkpoint=checkpoint, callback=callback, keep_all=keep_all
            )
        return repeat(
            search, seed, n_runs, drawn, threads=threads, callback=callback, keep_all=keep_all
        )

    if held is not None:
        return hold_out(search, held, procedure, threads, callback)
    if outer_cv is not None:
        return cross_validate(search, outer_cv, seed, procedure, threads, callback)
    return procedure(search, threads, callback)


def _check_share(what: str, share: object) -> float | None:
    """Return a share of rows if it is one, and not all or none of them."""
    if share is None:
        return None
    if isinstance(share, float | np.floating) and 0 < share < 1:
        return float(share)
    raise SpecError(f"{what} is {share!r}, expected a share of the rows between 0 and 1")
