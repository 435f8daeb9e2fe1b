"""Callbacks of a search: what they receive after each iteration, and early stopping by patience."""

from collections.abc import Callable
from typing import NotRequired, TypeAlias, TypedDict

from swarmrs._base._public import public


@public
class Iteration(TypedDict):
    """What a callback receives after an iteration; of several searches, also which of how many."""

    iteration: int
    evaluations: int
    unique: int
    limit: int | None
    best_cost: float
    best_error: float
    best_loss: float
    best_size: int
    seconds: float
    run: NotRequired[int]
    runs: NotRequired[int]


Callback: TypeAlias = Callable[[Iteration], bool | None]


class Patience:
    """Early stopping: ends a search after so many iterations without a better subset.

    Better is a lower cost, or the same cost with fewer features. It goes by iterations alone and
    not by the clock, so that a search it ends is as reproducible as any other.

    Parameters
    ----------
    iterations : int
        How many.
    callback : callable, optional
        Another callback to call; it may end the search, too.

    Attributes
    ----------
    is_spent : bool
        Whether the search was ended here.

    Examples
    --------
    >>> patience = Patience(2)
    >>> costs = [0.5, 0.4, 0.4, 0.4]
    >>> [patience({"best_cost": cost, "best_size": 3}) for cost in costs]
    [False, False, False, True]
    """

    def __init__(self, iterations: int, callback: Callback | None = None) -> None:
        self.iterations = iterations
        self.callback = callback
        self.is_spent = False
        self._best = (float("inf"), 0)
        self._since = 0

    def __call__(self, iteration: Iteration) -> bool:
        """Return whether to stop."""
        is_enough = bool(self.callback(iteration)) if self.callback is not None else False
        best = (iteration["best_cost"], iteration["best_size"])
        self._since = 0 if best < self._best else self._since + 1
        self._best = min(best, self._best)
        self.is_spent = not is_enough and self._since >= self.iterations
        return is_enough or self.is_spent
