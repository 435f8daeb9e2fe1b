"""Who watches a search: what is told of each turn, and the patience that ends it."""

from collections.abc import Callable
from typing import NotRequired, TypeAlias, TypedDict


class Turn(TypedDict):
    """What `on_turn` is told after each turn; of several searches, also which of how many."""

    turn: int
    asked: int
    unique: int
    limit: int | None
    best_cost: float
    best_error: float
    best_loss: float
    best_size: int
    seconds: float
    run: NotRequired[int]
    runs: NotRequired[int]


OnTurn: TypeAlias = Callable[[Turn], bool | None]


class Patience:
    """Ends a search after so many turns without a better subset; told of turns in their order.

    Better is a lower cost, or the same cost with fewer features. It goes by turns alone and not by
    the clock, so that a search it ends is as reproducible as any other.

    Parameters
    ----------
    turns : int
        How many.
    on_turn : callable, optional
        Who else is told; it may end the search, too.

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

    def __init__(self, turns: int, on_turn: OnTurn | None = None) -> None:
        self.turns = turns
        self.on_turn = on_turn
        self.is_spent = False
        self._best = (float("inf"), 0)
        self._since = 0

    def __call__(self, turn: Turn) -> bool:
        """Return whether to stop."""
        is_enough = bool(self.on_turn(turn)) if self.on_turn is not None else False
        best = (turn["best_cost"], turn["best_size"])
        self._since = 0 if best < self._best else self._since + 1
        self._best = min(best, self._best)
        self.is_spent = not is_enough and self._since >= self.turns
        return is_enough or self.is_spent
