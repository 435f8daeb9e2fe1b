//! How a velocity changes.

/// The pull of inertia, of one's own best and of the swarm's.
#[derive(Debug, Clone, Copy)]
pub struct Pull {
    /// The share of the old velocity that stays.
    pub inertia: f64,
    /// The weight of one's own best.
    pub cognitive: f64,
    /// The weight of the swarm's best.
    pub social: f64,
}

impl Pull {
    /// The new velocity of one dimension of a particle at `x`, with the two draws `r1` and `r2`.
    pub fn velocity(self, v: f64, x: f64, own: f64, best: f64, r1: f64, r2: f64) -> f64 {
        self.inertia * v + self.cognitive * r1 * (own - x) + self.social * r2 * (best - x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::sigmoid;

    #[test]
    fn velocity_has_the_worked_values() {
        let pull = Pull { inertia: 1.0, cognitive: 2.0, social: 2.0 };
        assert_eq!(pull.velocity(0.0, 0.0, 1.0, 1.0, 0.5, 0.25), 1.5);
        assert_eq!(pull.velocity(5.5, 0.0, 1.0, 1.0, 0.5, 0.25), 7.0);
        // Six decimals are printed.
        assert!((sigmoid(1.5) - 0.817_574).abs() < 5e-7);
    }
}
