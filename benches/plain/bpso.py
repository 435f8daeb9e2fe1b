"""Binary PSO: a velocity per feature is the log-odds that the feature is in."""

from __future__ import annotations

import numpy as np
from baselines import Floats

from plain.evaluations import Bests, Evaluations, Masks, random_masks


def bpso(
    evaluate: Evaluations,
    rng: np.random.Generator,
    population: int = 30,
    inertia: float = 1.0,
    pull: float = 2.0,
    limit: float = 6.0,
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
    inertia, pull, limit : float
        w; c1 and c2, which are equal; the greatest velocity.
    """
    x = random_masks(population, evaluate.n_features, rng)
    v = np.zeros(x.shape)
    bests = Bests(x, evaluate(x))
    while evaluate.allows(population):
        r1, r2 = rng.random((2, *x.shape))
        v = accelerated(v, x, bests.x, bests.leader, pull * r1, pull * r2, inertia, limit)
        x = rng.random(x.shape) < 1.0 / (1.0 + np.exp(-v))
        bests.update(x, evaluate(x))


def accelerated(
    v: Floats,
    x: Masks,
    own: Masks,
    leader: Masks,
    by_own: Floats,
    by_leader: Floats,
    inertia: float,
    limit: float,
) -> Floats:
    """Return w v + c1 r1 (p - x) + c2 r2 (g - x), held within the limit."""
    at = x.astype(np.float64)
    v = inertia * v + by_own * (own - at) + by_leader * (leader - at)
    held: Floats = np.clip(v, -limit, limit)
    return held
