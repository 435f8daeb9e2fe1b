//! Settings that mean the same in several algorithms: one name for one idea.

use crate::operators::velocity::Pull;
use crate::search::algorithm::{Allowed, Field, MOST_MEMBERS, MOST_STEPS, Params};
use serde::{Deserialize, Serialize};

/// The particles of a swarm.
pub const POPULATION: Field =
    Field { name: "population", allowed: Allowed::Whole(1, MOST_MEMBERS), about: "particles" };

/// w: the share of the old velocity that stays.
pub const INERTIA: Field =
    Field { name: "inertia", allowed: Allowed::AtLeast(0.0), about: "w, the velocity kept" };

/// c1: the weight of one's own best.
pub const COGNITIVE: Field =
    Field { name: "cognitive", allowed: Allowed::AtLeast(0.0), about: "c1, pull of the own best" };

/// c2: the weight of the swarm's best.
pub const SOCIAL: Field =
    Field { name: "social", allowed: Allowed::AtLeast(0.0), about: "c2, pull of the swarm's best" };

/// c: the weight of the exemplar, where particles learn from exemplars alone.
pub const EXEMPLAR_PULL: Field =
    Field { name: "social", allowed: Allowed::AtLeast(0.0), about: "c, pull of the exemplar" };

/// The largest velocity, in either direction.
pub const VELOCITY_LIMIT: Field = Field {
    name: "velocity_limit",
    allowed: Allowed::Above(0.0, f64::INFINITY),
    about: "velocities stay within plus and minus this",
};

/// θ: where a coordinate becomes a feature.
pub const THRESHOLD: Field = Field {
    name: "threshold",
    allowed: Allowed::Within(0.0, 0.99),
    about: "theta, a feature is in where the position lies above",
};

/// RG: the patience of 2D-learning particles.
pub const REFRESH_GAP: Field = Field {
    name: "refresh_gap",
    allowed: Allowed::Whole(1, MOST_STEPS),
    about: "RG, moves without a better own best after which a velocity is redrawn",
};

/// The particles of a swarm whose size follows from the number of features.
pub const POPULATION_BY_FEATURES: Field = Field {
    name: "population",
    allowed: Allowed::Whole(1, MOST_MEMBERS),
    about: "particles; null for a twentieth of the features, but 100 to 300",
};

/// What [`POPULATION_BY_FEATURES`] comes to.
pub fn population_by_features(given: Option<usize>, n_features: usize) -> usize {
    given.unwrap_or((n_features / 20).clamp(100, 300))
}

/// T: how often a swarm moves.
pub const ITERATIONS: Field = Field {
    name: "iterations",
    allowed: Allowed::Whole(1, MOST_STEPS),
    about: "T, moves after the start; then the search ends",
};

/// w at the last move.
pub const INERTIA_END: Field = Field {
    name: "inertia_end",
    allowed: Allowed::AtLeast(0.0),
    about: "w that inertia comes down to after all iterations",
};

/// α: the patience of learners with their exemplars.
pub const EXEMPLAR_GAP: Field = Field {
    name: "refresh_gap",
    allowed: Allowed::Whole(1, MOST_STEPS),
    about: "alpha, moves without a better own best after which exemplars are drawn anew",
};

/// D: the divisions of a swarm of different lengths.
pub const DIVISIONS: Field = Field {
    name: "divisions",
    allowed: Allowed::Whole(1, MOST_MEMBERS),
    about: "D, groups of particles of one length, at most as many as particles",
};

/// β: the patience of a swarm with its lengths.
pub const LENGTH_GAP: Field = Field {
    name: "length_gap",
    allowed: Allowed::WholeOrNull(1, MOST_STEPS),
    about: "beta, iterations without a better best after which lengths change; null for never",
};

/// Whether a division starts with one particle that has all its features.
pub const FULL_PARTICLES: Field = Field {
    name: "full_particles",
    allowed: Allowed::Flag,
    about: "whether one particle of each division starts with all its features",
};

/// Whether a cut best keeps what it was worth.
pub const KEEP_CUT_BESTS: Field = Field {
    name: "keep_cut_bests",
    allowed: Allowed::Flag,
    about: "whether an own best that was cut keeps its former cost instead of being measured",
};

/// Settings of a swarm whose velocities neither die nor explode, by the coefficients of constriction.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ConstrictedParams {
    /// Particles.
    pub population: usize,
    /// w.
    pub inertia: f64,
    /// c1.
    pub cognitive: f64,
    /// c2.
    pub social: f64,
    /// The largest velocity.
    pub velocity_limit: f64,
}

impl Default for ConstrictedParams {
    fn default() -> Self {
        Self {
            population: 30,
            inertia: 0.7298,
            cognitive: 1.49618,
            social: 1.49618,
            velocity_limit: 6.0,
        }
    }
}

impl Params for ConstrictedParams {
    const FIELDS: &'static [Field] = &[POPULATION, INERTIA, COGNITIVE, SOCIAL, VELOCITY_LIMIT];
}

impl ConstrictedParams {
    /// What moves the particles.
    pub fn pull(&self) -> Pull {
        Pull { inertia: self.inertia, cognitive: self.cognitive, social: self.social }
    }
}

/// An inertia that changes evenly over the iterations.
#[derive(Debug, Clone, Copy)]
pub struct Inertia {
    /// At the first move.
    pub start: f64,
    /// What it would be after the last.
    pub end: f64,
    /// Moves in all.
    pub iterations: u64,
}

impl Inertia {
    /// That of a move; the first is number 1.
    pub fn at(self, number: u64) -> f64 {
        let done = number.saturating_sub(1) as f64 / self.iterations as f64;
        self.start - (self.start - self.end) * done
    }
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
    fn inertia_falls_evenly() {
        let inertia = Inertia { start: 0.9, end: 0.4, iterations: 100 };
        for (number, w) in [(1, 0.900), (2, 0.895), (100, 0.405)] {
            // Decimal fractions are not exact in binary.
            assert!((inertia.at(number) - w).abs() < 1e-15);
        }
    }
}
