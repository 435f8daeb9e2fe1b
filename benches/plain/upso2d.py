"""2D-learning unified PSO: a velocity of two rows learns how many features, and which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from baselines import Codes, Floats

from plain.evaluations import Bests, Evaluations, Masks, random_masks

Pull = tuple[Floats, Masks]


def upso2d(
    evaluate: Evaluations,
    rng: np.random.Generator,
    population: int = 30,
    inertia: float = 0.729,
    pull: float = 1.49,
    unification: tuple[float, float] = (0.2, 0.4),
    refresh_gap: int = 3,
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
    inertia, pull : float
        w; c1 and c2, which are equal.
    unification : tuple of float
        u of the first move and of the last: the share of the swarm's best in the social pull.
    refresh_gap : int
        Moves without a better own best after which a velocity is drawn anew.
    """
    n, moves = evaluate.n_features, max(0, evaluate.budget // population - 1)
    x = random_masks(population, n, rng)
    v = rng.random((2, population, n))
    costs = evaluate(x)
    bests = Bests(x, costs)
    influence = merits(costs)
    stall = np.zeros(population, np.int64)
    for u in np.linspace(*unification, moves) if moves > 1 else unification[:moves]:
        stalled = stall >= refresh_gap
        v[:, stalled] = rng.random((2, np.count_nonzero(stalled), n))
        stall[stalled] = 0
        r1, r2, r3, r4 = rng.random((4, population))
        pulls = [
            (pull * (u * r1 + (1 - u) * r3), bests.x),
            (pull * u * r2, np.broadcast_to(bests.leader, x.shape)),
            (pull * (1 - u) * r4, bests.x[ring_bests(bests.costs)]),
        ]
        v = learned(v, x, inertia, pulls, influence)
        x = chosen(v, rng.random(population))
        before, costs = costs, evaluate(x)
        influence = np.where(costs < before, 1.0, -1.0) * merits(costs)
        stall = np.where(bests.update(x, costs), 0, stall + 1)


def learned(
    v: Floats, x: Masks, inertia: float, pulls: Sequence[Pull], influence: Floats
) -> Floats:
    """Return w v + the weighted learning sets of exemplars + that of the particles themselves."""
    sizes, features = inertia * v
    particles = np.arange(len(x))
    lessons = [(weight, exemplar, exemplar & ~x) for weight, exemplar in pulls]
    for weight, exemplar, taught in [*lessons, (influence, x, x)]:
        count = exemplar.sum(axis=1)
        some = count > 0
        sizes[particles[some], count[some] - 1] += weight[some]
        features += weight[:, None] * taught
    return np.stack([sizes, features])


def chosen(v: Floats, u: Floats) -> Masks:
    """Spin a wheel of the sizes' likelihoods, then take as many of the most likely features."""
    wheel, features = np.maximum(v[0], 0.0), v[1]
    flat = wheel.sum(axis=1) <= 0.0
    wheel[flat] = 1.0
    ends = wheel.cumsum(axis=1)
    # A product rounded up to the whole wheel stays on its last slot that has a width.
    size = 1 + np.minimum((ends <= (u * ends[:, -1])[:, None]).sum(axis=1), ends.argmax(axis=1))
    order = np.argsort(-features, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(features.shape[1])[None], axis=1)
    taken: Masks = ranks < size[:, None]
    return taken


def merits(costs: Floats) -> Floats:
    """Return how much better than the worst each is, as a share of it."""
    worst = costs.max()
    return 1.0 - costs / worst if worst > 0.0 else np.zeros_like(costs)


def ring_bests(costs: Floats) -> Codes:
    """Return who has the best own best among each particle and its two neighbors on a ring."""
    particles = np.arange(len(costs))
    beside = np.stack([particles, particles - 1, particles + 1]) % len(costs)
    nearest: Codes = beside[costs[beside].argmin(axis=0), particles]
    return nearest
