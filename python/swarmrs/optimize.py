"""minimize(): the same searches for any function of bits."""

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from swarmrs import _swarmrs
from swarmrs._base._arguments import check_arguments
from swarmrs._base._messages import Setting, check_number, check_whole, counted
from swarmrs._base._public import public
from swarmrs._base._resources import RandomState, draw_seed
from swarmrs.evaluation._estimator import ONE_EACH, Outside, numbers_for
from swarmrs.exceptions import SpecError, SwarmrsWarning
from swarmrs.filters._groups import given_groups
from swarmrs.search._options._settings import budget, check_algorithm
from swarmrs.search._results._progress import Callback
from swarmrs.search._results._selection import Seconds
from swarmrs.search._search import as_json

Cost: TypeAlias = Callable[[NDArray[np.bool_]], ArrayLike]

# An iteration of a swarm this wide already takes a gigabyte.
_MOST_BITS = 2**24


@public
@dataclass(frozen=True, eq=False)
class Minimum:
    """The best candidate a search measured, and how it was found.

    Attributes
    ----------
    x : ndarray of bool
        The candidate.
    fun : float
        What it costs.
    algorithm, params, seed : str, dict, int
        The id of the algorithm, all its hyperparameters, the random seed.
    budget : dict
        The limits in force.
    n_evaluations, n_unique : int
        Evaluations in total, and of unique candidates, which the function was given.
    n_iter : int
        Iterations done, the first being that of the initial population.
    seconds : Seconds
        Where the time went.
    stop : str
        Why the search ended, as in `Selection`.
    trace : polars.DataFrame
        A row for each iteration: the best cost so far, how many bits it has set, the spread of its
        candidates.
    """

    x: NDArray[np.bool_]
    fun: float
    algorithm: str
    params: dict[str, Setting]
    seed: int
    budget: dict[str, float | None]
    n_evaluations: int
    n_unique: int
    n_iter: int
    seconds: Seconds
    stop: str
    trace: pl.DataFrame

    def __repr__(self) -> str:
        """Return what was found in one line."""
        return (
            f"Minimum(fun={self.fun!r}, {int(self.x.sum())} of {counted(len(self.x), 'bit')} set, "
            f"by {self.algorithm}, seed {self.seed}, stop={self.stop!r})"
        )


def minimize(
    fn: Cost,
    n_bits: int,
    *,
    algo: str = "pbpso",
    algo_params: Mapping[str, Setting] | None = None,
    max_evals: int | None = None,
    max_iter: int | None = None,
    time_limit: float | None = None,
    target_cost: float | None = None,
    include: Sequence[int] = (),
    exclude: Sequence[int] = (),
    max_bits: int | None = None,
    groups: Sequence[Sequence[int]] | None = None,
    random_state: RandomState = None,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Callback | None = None,
) -> Minimum:
    """Search for the string of bits that costs least.

    Parameters
    ----------
    fn : callable
        Given a batch of candidates, a boolean matrix with a row for each, returns a finite number
        for each row; less is better, and negative is fine. It is not called twice for the same
        candidate. All bits 0 is a candidate like any other.
    n_bits : int
        How many bits a candidate has.
    algo : str
        The id of an algorithm; `algorithms` lists them.
    algo_params : mapping, optional
        Hyperparameters of the algorithm that differ from its defaults.
    max_evals, max_iter, time_limit, target_cost : optional
        When to stop: evaluations, iterations, seconds, a cost that is good enough. Without the
        first three, the algorithm's own number of evaluations. A time limit is not reproducible.
    include, exclude : sequence of int
        Bits that are always, or never, 1.
    max_bits : int, optional
        How many bits may be 1, the included ones counted.
    groups : sequence of sequences of int, optional
        Which bits belong together, for algorithms that ask: each bit stands in one group. By
        default all bits are one group.
    random_state : int, RandomState, Generator or None
        The seed of the search. None draws one, which the result holds.
    checkpoint : path, optional
        A file that holds what was measured. If it exists, the search goes on where it stopped and
        ends as if it never had. It cannot tell one function from another.
    callback : callable, optional
        Called after each iteration with its progress; True stops the search. What `select`
        calls the error is the cost here.

    Returns
    -------
    Minimum
        The best candidate measured; of equal ones the one with fewer bits set. After Ctrl-C the
        best so far, `stop` being ``"interrupted"``.

    Raises
    ------
    SpecError
        If a setting is unknown, out of range or does not fit the others, or if the function does
        not return a finite number for each row. What the function itself raises is passed on.

    Examples
    --------
    >>> found = minimize(lambda x: 20 - x.sum(axis=1), 20, random_state=1)
    >>> found.fun, found.x.all()
    (0.0, np.True_)
    """
    if not callable(fn):
        raise SpecError(f"fn is {fn!r}, expected a function of a matrix of bits")
    check_arguments(minimize, locals())
    if check_whole("n_bits", n_bits) > _MOST_BITS:
        raise SpecError(f"n_bits is {n_bits!r}, expected {_MOST_BITS} at most")
    forced = set(_bits("include", include, n_bits))
    barred = set(_bits("exclude", exclude, n_bits))
    _check_freedom(forced, barred, n_bits, max_bits)
    together = None
    if groups is not None:
        bits = (_bits("groups", group, n_bits) for group in groups)
        none = np.zeros(n_bits, dtype=bool)
        together = given_groups(bits, none, lambda bit: f"bit {bit}", "the lists")

    def costs(candidates: NDArray[np.bool_]) -> list[float]:
        return _check_costs(fn(candidates), candidates)

    spec = {
        "algorithm": algo,
        "params": check_algorithm(algo, algo_params),
        "seed": draw_seed(random_state),
        "evaluation": Outside.of_callable(costs).spec(),
        # The cost itself, whatever the algorithm's paper makes of an error.
        "objective": {"kind": "error"},
        "budget": {
            **budget(max_evals, max_iter, time_limit),
            "cost": None if target_cost is None else check_number("target_cost", target_cost),
        },
        "include": sorted(forced),
        "exclude": sorted(barred),
        "max_features": max_bits,
        "groups": together,
        "memory": 0,
    }
    found = json.loads(
        _swarmrs.minimize(
            costs,
            int(n_bits),
            as_json(spec),
            checkpoint=None if checkpoint is None else os.fspath(checkpoint),
            callback=callback,
        )
    )
    for message in found["warnings"]:
        warnings.warn(message, SwarmrsWarning, stacklevel=2)
    x = np.zeros(n_bits, dtype=bool)
    x[found["selected"]] = True
    return Minimum(
        x=x,
        fun=found["cost"],
        algorithm=found["algorithm"],
        params=found["params"],
        seed=found["seed"],
        budget=found["budget"],
        n_evaluations=found["evaluations"]["total"],
        n_unique=found["evaluations"]["unique"],
        n_iter=found["iterations"],
        seconds=Seconds(**found["seconds"]),
        stop=found["stop"],
        trace=pl.DataFrame(found["trace"]).drop("best_error"),
    )


def _bits(what: str, given: Sequence[int], n_bits: int) -> list[int]:
    try:
        return [range(n_bits)[bit] for bit in given]
    except (IndexError, TypeError):
        raise SpecError(
            f"{what} is {given!r}, expected numbers of bits", f"bits count from 0 to {n_bits - 1}"
        ) from None


def _check_freedom(forced: set[int], barred: set[int], n_bits: int, max_bits: int | None) -> None:
    """Refuse settings that leave nothing to choose."""
    if both := forced & barred:
        raise SpecError(f"bit {min(both)} is both included and excluded", "leave one of them out")
    if len(forced) + len(barred) == n_bits:
        raise SpecError(
            "every bit is included or excluded: nothing is left to choose", "leave some bits free"
        )
    if max_bits is not None and not (
        isinstance(max_bits, int | np.integer) and max_bits > len(forced)
    ):
        raise SpecError(
            f"max_bits is {max_bits!r}, expected a number above the {len(forced)} bits included"
        )


def _check_costs(given: ArrayLike, candidates: NDArray[np.bool_]) -> list[float]:
    costs = numbers_for(given, candidates, "the function", "candidate")
    bad = np.flatnonzero(~np.isfinite(costs))
    if len(bad):
        n_set = counted(int(candidates[bad[0]].sum()), "bit")
        raise SpecError(
            f"the function returned {costs[bad[0]]} for a candidate with {n_set} set",
            f"{ONE_EACH}; for one that is not allowed a large number",
        )
    return costs
