"""What swarms share: a budget, a cache of evaluated subsets, the personal bests of particles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from baselines import Floats
from numpy.typing import NDArray

Masks = NDArray[np.bool_]
Costs = Callable[[Masks], Floats]


class Evaluations:
    """Evaluates whole batches of subsets within a budget, and none of them twice.

    Parameters
    ----------
    costs : callable
        Gives the cost of each row of a batch of masks; never called for the empty subset.
    n_features : int
        How many features there are.
    budget : int
        The number of evaluations, those of known subsets included, as papers count.
    worst : float
        The cost of the empty subset.
    """

    def __init__(self, costs: Costs, n_features: int, budget: int, worst: float = 1.0) -> None:
        self.n_features, self.budget = n_features, budget
        self.count = 0
        self.best_cost, self.best = np.inf, np.zeros(n_features, np.bool_)
        self._costs = costs
        self._known = {self.best.tobytes(): worst}

    def allows(self, count: int) -> bool:
        """Whether so many subsets fit the budget: a batch is never cut."""
        return self.count + count <= self.budget

    @property
    def measured(self) -> Masks:
        """The subsets that were evaluated, in their order."""
        rows = [np.frombuffer(key, np.bool_) for key in self._known]
        return np.array(rows[1:])

    def __call__(self, masks: Masks) -> Floats:
        """Return the cost of each row."""
        self.count += len(masks)
        keys = [mask.tobytes() for mask in masks]
        new = {key: row for row, key in enumerate(keys) if key not in self._known}
        if new:
            rows = list(new.values())
            self._known.update(zip(new, self._costs(masks[rows]).tolist(), strict=True))
        costs = np.array([self._known[key] for key in keys])
        self._keep_best(masks, costs)
        return costs

    def _keep_best(self, masks: Masks, costs: Floats) -> None:
        """Of equal costs the smaller subset is better, then the one evaluated first."""
        sizes = masks.sum(axis=1)
        first = np.lexsort((sizes, costs))[0]
        if (costs[first], sizes[first]) < (self.best_cost, self.best.sum()):
            self.best_cost, self.best = float(costs[first]), masks[first].copy()


class Bests:
    """The best position of each particle, replaced on strict improvement, and who leads.

    Parameters
    ----------
    x : ndarray of bool
        The first positions, a row each.
    costs : ndarray of float
        What they cost.
    """

    def __init__(self, x: Masks, costs: Floats) -> None:
        self.x, self.costs = x.copy(), costs.copy()
        self._leader = int(costs.argmin())

    @property
    def leader(self) -> Masks:
        """The best of all."""
        best: Masks = self.x[self._leader]
        return best

    def update(self, x: Masks, costs: Floats) -> Masks:
        """Learn a generation and tell who improved."""
        record = self.costs[self._leader]
        improved: Masks = costs < self.costs
        self.x[improved], self.costs[improved] = x[improved], costs[improved]
        first = int(self.costs.argmin())
        if self.costs[first] < record:
            self._leader = first
        return improved


def random_masks(population: int, n_features: int, rng: np.random.Generator) -> Masks:
    """Draw fair bits; a row of none gets one random feature."""
    x = rng.random((population, n_features)) < 0.5
    empty = np.flatnonzero(~x.any(axis=1))
    x[empty, rng.integers(n_features, size=len(empty))] = True
    return x
