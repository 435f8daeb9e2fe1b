"""Probability-based binary PSO: no velocity, bits flip with a chance that the bests raise."""

from __future__ import annotations

import numpy as np
from baselines import Floats

from plain.asked import Asked, Bests, Masks, random_masks


def pbpso(
    ask: Asked,
    rng: np.random.Generator,
    population: int = 50,
    rates: tuple[float, float, float] = (0.05, 0.35, 0.65),
) -> None:
    """Spend the budget of `ask`.

    Parameters
    ----------
    ask : Asked
        Gives costs, and keeps the best.
    rng : Generator
        All chance.
    population : int
        Particles.
    rates : tuple of float
        p0, p1, p2: the chance of any flip, and what own best and leader add where they differ.
    """
    x = random_masks(population, ask.n_features, rng)
    bests = Bests(x, ask(x))
    while ask.allows(population):
        x = x ^ (rng.random(x.shape) < flip_chances(x, bests.x, bests.leader, rates))
        bests.update(x, ask(x))


def flip_chances(x: Masks, own: Masks, leader: Masks, rates: tuple[float, float, float]) -> Floats:
    """Return p0 + p1 [x != own] + p2 [x != leader]; the paper's numbers exceed 1, which is 1."""
    always, by_own, by_leader = rates
    chances: Floats = np.minimum(1.0, always + by_own * (x != own) + by_leader * (x != leader))
    return chances
