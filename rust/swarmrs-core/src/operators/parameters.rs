//! Ranges and help texts of hyperparameters that several algorithms share.

use crate::search::algorithm::{Allowed, Described, MOST_MEMBERS, MOST_STEPS};

/// Number of particles in a swarm.
pub const POPULATION: Described = (Allowed::Whole(1, MOST_MEMBERS), "number of particles");

/// Number of particles in a swarm whose size follows from the number of features; see [`population_by_features`].
pub const POPULATION_BY_FEATURES: Described = (
    Allowed::Whole(1, MOST_MEMBERS),
    "number of particles; null for n_features / 20, but 100 at least and 300 at most",
);

/// Number of chromosomes in a population with crossover.
pub const CHROMOSOMES: Described = (Allowed::Whole(2, MOST_MEMBERS), "number of chromosomes");

/// Iterations after the first one, which evaluates the initial positions.
pub const ITERATIONS: Described =
    (Allowed::Whole(1, MOST_STEPS), "T, iterations after the initial one; then the search ends");

/// w: the inertia weight.
pub const INERTIA: Described =
    (Allowed::AtLeast(0.0), "inertia weight w, the share of the velocity that is kept");

/// w at the end of a search with falling inertia.
pub const INERTIA_END: Described =
    (Allowed::AtLeast(0.0), "inertia weight w after the last iteration; it falls linearly");

/// c1: the weight of the personal best.
pub const COGNITIVE: Described =
    (Allowed::AtLeast(0.0), "cognitive coefficient c1, the weight of the personal best");

/// c2: the weight of the global best.
pub const SOCIAL: Described =
    (Allowed::AtLeast(0.0), "social coefficient c2, the weight of the global best");

/// c: the weight of the exemplar, where particles learn from exemplars alone.
pub const EXEMPLAR_PULL: Described =
    (Allowed::AtLeast(0.0), "acceleration coefficient c, the weight of the exemplar");

/// The largest velocity, in either direction.
pub const VELOCITY_LIMIT: Described =
    (Allowed::Above(0.0, f64::INFINITY), "maximum velocity, in absolute value");

/// θ: a coordinate above it selects its feature.
pub const THRESHOLD: Described = (
    Allowed::Within(0.0, 0.99),
    "threshold theta; a feature is selected where its coordinate is above it",
);

/// RG: the refresh gap of 2D-learning particles.
pub const REFRESH_GAP: Described = (
    Allowed::Whole(1, MOST_STEPS),
    "refresh gap RG, iterations without a better personal best before a velocity is redrawn",
);

/// α: the refresh gap of particles that learn from exemplars.
pub const EXEMPLAR_GAP: Described = (
    Allowed::Whole(1, MOST_STEPS),
    "refresh gap alpha, iterations without a better personal best before exemplars are redrawn",
);

/// p0: the base flip probability of a bit.
pub const FLIP_RATE: Described =
    (Allowed::Above(0.0, 1.0), "p0, flip probability of a bit that agrees with both bests");

/// p1: added to the flip probability where the personal best differs.
pub const FLIP_COGNITIVE: Described = (
    Allowed::Within(0.0, 1.0),
    "p1, added to the flip probability where the personal best differs",
);

/// p2: added to the flip probability where the global best differs.
pub const FLIP_SOCIAL: Described =
    (Allowed::Within(0.0, 1.0), "p2, added to the flip probability where the global best differs");

/// pc of a steady-state genetic algorithm.
pub const CROSSOVER_RATE: Described =
    (Allowed::Within(0.0, 1.0), "crossover probability pc; a child has two parents or one");

/// pm of a steady-state genetic algorithm.
pub const MUTATION_RATE: Described = (
    Allowed::Within(0.0, 1.0),
    "mutation probability pm, that a selected feature of a child is dropped",
);

/// q of a steady-state genetic algorithm.
pub const SELECTION_PRESSURE: Described = (
    Allowed::Within(0.0, 0.99),
    "selection pressure q; each rank is drawn 1 - q times as often as the rank before it",
);

/// d; without it the search runs for four sizes.
pub const SIZE_OR_FIFTHS: Described = (
    Allowed::Whole(1, MOST_STEPS),
    "d, number of features to select; null searches for 1/5, 2/5, 3/5 and 4/5 of them, one after another",
);

/// d; without it the search runs through all sizes.
pub const SIZE: Described = (
    Allowed::Whole(1, MOST_STEPS),
    "d, number of features to select; null tries every size and reports the best",
);

/// Steps of a floating search past d.
pub const OVERSHOOT: Described =
    (Allowed::Whole(0, MOST_STEPS), "features by which the search goes past size before it ends");

/// The value of [`POPULATION_BY_FEATURES`], with its default.
pub fn population_by_features(given: Option<usize>, n_features: usize) -> usize {
    given.unwrap_or((n_features / 20).clamp(100, 300))
}

/// The value in iteration `t` of a hyperparameter that changes linearly from `start` in iteration 1 to `end` one iteration
/// after the last one, `iterations`.
pub fn linear_schedule(start: f64, end: f64, t: u64, iterations: u64) -> f64 {
    let done = t.saturating_sub(1) as f64 / iterations as f64;
    start - (start - end) * done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_population_is_a_twentieth_within_bounds() {
        for (n, population) in
            [(30, 100), (2308, 115), (5327, 266), (5920, 296), (10_367, 300), (12_533, 300)]
        {
            assert_eq!(population_by_features(None, n), population);
        }
        assert_eq!(population_by_features(Some(7), 2308), 7);
    }

    #[test]
    fn inertia_falls_linearly() {
        for (t, w) in [(1, 0.900), (2, 0.895), (100, 0.405)] {
            // Decimal fractions are not exact in binary.
            assert!((linear_schedule(0.9, 0.4, t, 100) - w).abs() < 1e-15);
        }
    }
}
