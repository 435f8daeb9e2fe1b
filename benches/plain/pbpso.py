"""Probability-based binary PSO: no velocity, bits flip with a probability that the bests raise."""

from __future__ import annotations

import numpy as np
from baselines import Floats

from plain.evaluations import Bests, Evaluations, Masks, random_masks


def pbpso(
    evaluate: Evaluations,
    rng: np.random.Generator,
    population: int = 50,
    rates: tuple[float, float, float] = (0.05, 0.35, 0.65),
) -> None:
    """Spend the budget of `evaluate`.

    Parameters
    ----------
    evaluate : Evaluations
        Gives costs, and keeps the best.
    rng : Generator
        The random generator.
    population : int
        Particles.
    rates : tuple of float
        p0, p1, p2: the probability of any flip, and what own best and leader add where they differ.
    """
    x = random_masks(population, evaluate.n_features, rng)
    bests = Bests(x, evaluate(x))
    while evaluate.allows(population):
        x = x ^ (rng.random(x.shape) < flip_chances(x, bests.x, bests.leader, rates))
        bests.update(x, evaluate(x))


def flip_chances(x: Masks, own: Masks, leader: Masks, rates: tuple[float, float, float]) -> Floats:
    """Return p0 + p1 [x != own] + p2 [x != leader]; the paper's numbers exceed 1, which is 1."""
    always, by_own, by_leader = rates
    chances: Floats = np.minimum(1.0, always + by_own * (x != own) + by_leader * (x != leader))
    return chances
