"""Variable-length PSO: particles search prefixes of the ranked features, which grow shorter.

Particles of all lengths share arrays as wide as the longest; `has` marks the dimensions each owns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from baselines import Codes, Floats

from plain.evaluations import Evaluations, Masks

THRESHOLD, SPEED, PULL = 0.6, 0.6, 1.49445


@dataclass
class Swarm:
    """Positions, velocities, own bests and exemplars, a row for each particle."""

    lengths: Codes
    x: Floats
    v: Floats
    best: Floats
    best_costs: Floats
    best_sizes: Floats
    exemplars: Codes
    stall: Codes

    @property
    def has(self) -> Masks:
        """Which dimensions each particle owns."""
        owned: Masks = np.arange(self.x.shape[1]) < self.lengths[:, None]
        return owned

    def chosen(self, x: Floats) -> Masks:
        """Return which dimensions positions put in."""
        return (x > THRESHOLD) & self.has

    def learn(self, rows: Codes, costs: Floats) -> None:
        """Let the particles of these rows keep their positions where these are better."""
        sizes = _sizes(self.chosen(self.x)[rows])
        better = _better(costs, sizes, self.best_costs[rows], self.best_sizes[rows])
        at = rows[better]
        self.best[at] = self.x[at]
        self.best_costs[at], self.best_sizes[at] = costs[better], sizes[better]
        self.stall[rows] = np.where(better, 0, self.stall[rows] + 1)

    @property
    def leading(self) -> tuple[float, float]:
        """The cost and the size of the best of the own bests."""
        at = np.lexsort((self.best_sizes, self.best_costs))[0]
        return self.best_costs[at], self.best_sizes[at]

    def assign(self, rows: Codes, rng: np.random.Generator) -> None:
        """Draw exemplars: itself, or the better of two others that are long enough."""
        self.stall[rows] = 0
        particles = np.arange(len(self.x))
        place = np.empty_like(particles)
        place[np.lexsort((self.best_sizes, self.best_costs))] = particles
        hits = rng.random((len(rows), self.x.shape[1])) < learning_chances(place)[rows, None]
        # The longest sit in front, so that those who have dimension d are the first `have[d]`.
        seats = np.argsort(-self.lengths, kind="stable")
        seat_of = np.argsort(seats, kind="stable")
        have = self.has.sum(axis=0)
        row, d = np.nonzero(hits & self.has[rows] & (have > 2))
        me = rows[row]
        first = rng.integers(have[d] - 1)
        second = rng.integers(have[d] - 2)
        second += second >= first
        one, two = (seats[seat + (seat >= seat_of[me])] for seat in (first, second))
        self.exemplars[rows] = rows[:, None]
        costs, sizes = self.best_costs, self.best_sizes
        wins = _better(costs[one], sizes[one], costs[two], sizes[two])
        self.exemplars[me, d] = np.where(wins, one, two)

    def move(self, inertia: float, rng: np.random.Generator) -> None:
        """Fly towards the exemplars, dimension by dimension."""
        goal = np.take_along_axis(self.best, self.exemplars, axis=0)
        pull = PULL * rng.random(self.x.shape) * (goal - self.x)
        self.v = np.clip(inertia * self.v + pull, -SPEED, SPEED)
        self.x = np.clip(self.x + self.v, 0.0, 1.0)

    def resize(self, lengths: Codes, rng: np.random.Generator) -> tuple[Codes, Codes]:
        """Cut and lengthen; return who was resized, and whose best lost a feature."""
        before = self.chosen(self.best).sum(axis=1)
        resized = np.flatnonzero(lengths != self.lengths)
        grown = ~self.has & (np.arange(self.x.shape[1]) < lengths[:, None])
        new = np.count_nonzero(grown)
        self.x[grown], self.v[grown] = rng.random(new), rng.uniform(-SPEED, SPEED, new)
        self.best[grown] = 0.0
        self.lengths, width = lengths, lengths.max()
        self.x, self.v, self.best = (a[:, :width] for a in (self.x, self.v, self.best))
        self.exemplars = self.exemplars[:, :width]
        return resized, np.flatnonzero(self.chosen(self.best).sum(axis=1) < before)


def vlpso(
    evaluate: Evaluations,
    rng: np.random.Generator,
    order: Codes,
    iterations: int = 100,
    divisions: int = 12,
    refresh_gap: int = 7,
    length_gap: int = 9,
) -> None:
    """Spend the budget of `evaluate`, or make all iterations if it allows.

    Parameters
    ----------
    evaluate : Evaluations
        Gives costs, and keeps the best.
    rng : Generator
        The random generator.
    order : ndarray of int
        The features, the most relevant first.
    iterations : int
        Moves, over which the inertia falls from 0.9 to 0.4.
    divisions : int
        Groups of particles of one length.
    refresh_gap, length_gap : int
        Moves without a better own best after which exemplars are drawn anew, and without a better
        best of all after which lengths change.
    """
    n = len(order)
    size = min(max(n // 20, 100), 300) // divisions
    every = np.arange(size * divisions)
    lengths = np.repeat(first_lengths(n, divisions), size)
    x = rng.random((len(every), n))
    x[::size] = 1.0

    def costs_of(masks: Masks) -> Floats:
        features = np.zeros((len(masks), n), np.bool_)
        features[:, order[: masks.shape[1]]] = masks
        return evaluate(features)

    v = rng.uniform(-SPEED, SPEED, x.shape)
    nothing = np.full(len(every), np.inf)
    exemplars, stall = np.zeros(x.shape, np.int64), np.zeros(len(every), np.int64)
    swarm = Swarm(lengths, x, v, x.copy(), nothing, nothing.copy(), exemplars, stall)
    swarm.learn(every, costs_of(swarm.chosen(swarm.x)))
    swarm.assign(every, rng)
    record, patience = swarm.leading, 0
    for done in range(iterations):
        if patience >= length_gap:
            patience = 0
            means = swarm.best_costs.reshape(divisions, size).mean(axis=1)
            now, best = swarm.lengths[::size], int(means.argmin())
            if now[best] < now.max():
                resized, cut = swarm.resize(np.repeat(next_lengths(now, best), size), rng)
                if not evaluate.allows(len(resized) + len(cut)):
                    return
                masks = swarm.chosen(swarm.x)[resized], swarm.chosen(swarm.best)[cut]
                costs = costs_of(np.concatenate(masks))
                swarm.best_costs[cut] = costs[len(resized) :]
                swarm.best_sizes[cut] = _sizes(masks[1])
                swarm.learn(resized, costs[: len(resized)])
                record = min(record, swarm.leading)
            swarm.assign(every, rng)
        if not evaluate.allows(len(every)):
            return
        swarm.move(0.9 - 0.5 * done / iterations, rng)
        swarm.learn(every, costs_of(swarm.chosen(swarm.x)))
        improved = swarm.leading < record
        record, patience = min(record, swarm.leading), 0 if improved else patience + 1
        if patience < length_gap:
            swarm.assign(np.flatnonzero(swarm.stall >= refresh_gap), rng)


def first_lengths(n: int, divisions: int) -> Codes:
    """Return the lengths of equal steps up to n."""
    return np.maximum(1, np.arange(1, divisions + 1) * n // divisions)


def next_lengths(lengths: Codes, best: int) -> Codes:
    """Return the lengths where division `best` stays and the others spread below it."""
    divisions = len(lengths)
    shorter = np.maximum(1, lengths[best] * np.arange(1, divisions) // divisions)
    return np.insert(shorter, best, lengths[best])


def learning_chances(place: Codes) -> Floats:
    """Return Pc, from 0.05 for place 0 to 0.5 for the last."""
    share = place / max(len(place) - 1, 1)
    chances: Floats = 0.05 + 0.45 * np.expm1(10.0 * share) / np.expm1(10.0)
    return chances


def _better(costs: Floats, sizes: Floats, old_costs: Floats, old_sizes: Floats) -> Masks:
    """Return who costs less, or as much with fewer features."""
    wins: Masks = (costs < old_costs) | ((costs == old_costs) & (sizes < old_sizes))
    return wins


def _sizes(masks: Masks) -> Floats:
    """Return how many features are in; the empty subset counts as the largest."""
    count = masks.sum(axis=1)
    return np.where(count > 0, count, np.inf)
