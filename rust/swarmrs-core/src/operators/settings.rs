//! Settings that mean the same in several algorithms: one name for one idea.

use crate::search::{Allowed, Field};

/// The particles of a swarm.
pub const POPULATION: Field =
    Field { name: "population", allowed: Allowed::AtLeast(1.0), about: "particles" };

/// w: the share of the old velocity that stays.
pub const INERTIA: Field =
    Field { name: "inertia", allowed: Allowed::AtLeast(0.0), about: "w, the velocity kept" };

/// c1: the weight of one's own best.
pub const COGNITIVE: Field =
    Field { name: "cognitive", allowed: Allowed::AtLeast(0.0), about: "c1, pull of the own best" };

/// c2: the weight of the swarm's best.
pub const SOCIAL: Field =
    Field { name: "social", allowed: Allowed::AtLeast(0.0), about: "c2, pull of the swarm's best" };

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
    allowed: Allowed::AtLeast(1.0),
    about: "RG, moves without a better own best after which a velocity is redrawn",
};
