//! The swarm that draws how many members of each group are in from a normal distribution about one.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::choice::top_k;
use crate::operators::grouped_swarm::GroupedSwarm;
use crate::operators::parameters::ConstrictedParams;
use crate::problem::groups::SigmaLog;
use crate::search::algorithm::{Allowed, Evaluation, Space, Turn, params};

params! {
    /// Hyperparameters of a [`GaussianSwarm`].
    pub struct GaussianParams {
        ..swarm: ConstrictedParams;
        sigma_log: SigmaLog = SigmaLog::default(), Allowed::OneOf(&["log10", "ln"]),
            "logarithm in sigma = log(10 |group|), the spread of the number selected per group";
    }
}

/// A grouped swarm of which each group gives a normal number of members.
#[derive(Debug)]
pub struct GaussianSwarm {
    swarm: GroupedSwarm,
    sigma_log: SigmaLog,
}

impl GaussianSwarm {
    /// A swarm before its first turn.
    pub fn new(params: &GaussianParams, space: &Space) -> Self {
        let swarm = GroupedSwarm::new(&params.swarm, space);
        Self { swarm, sigma_log: params.sigma_log }
    }

    /// The subsets of this turn; the first are chosen from the first velocities by the same rule.
    pub fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        let sigma_log = self.sigma_log;
        let choose = |velocities: &[f64], rng: &mut Rng| {
            let size = velocities.len();
            top_k(velocities, taken(size, sigma_log.deviation(size), rng.normal()))
        };
        if turn.number == 0 {
            return self.swarm.start(turn, choose);
        }
        self.swarm.advance(turn, choose)
    }

    /// Learns what they cost.
    pub fn learn(&mut self, told: &[Evaluation]) {
        self.swarm.learn(told);
    }
}

/// How many of `size` members a draw `z` takes: 1 + σ z to the nearest whole number, but none at least and all at most.
pub fn taken(size: usize, sigma: f64, z: f64) -> usize {
    (1.0 + sigma * z + 0.5).floor().clamp(0.0, size as f64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::normal_cdf;

    #[test]
    fn draws_take_the_worked_numbers() {
        let of_five = |z| taken(5, SigmaLog::Log10.deviation(5), z);
        assert_eq!([of_five(0.5), of_five(-0.9), of_five(3.0)], [2, 0, 5]);
    }

    #[test]
    fn numbers_have_the_worked_chances() {
        for (size, chances) in [
            (1, vec![0.3085, 0.6915]),
            (2, vec![0.3504, 0.2993, 0.3504]),
            (5, vec![0.3843, 0.2315, 0.1956, 0.1181, 0.0509, 0.0197]),
        ] {
            let sigma = SigmaLog::Log10.deviation(size);
            let mut below = 0.0;
            for (m, chance) in chances.iter().enumerate() {
                // m members are taken up to the draw at which 1 + σ z reaches m + 1/2.
                let edge = (m as f64 - 0.5) / sigma;
                // Far wider than the rounding of the edge, far narrower than a step.
                assert_eq!(taken(size, sigma, edge - 1e-9), m);
                let up_to = if m == size { 1.0 } else { normal_cdf(edge) };
                // Four decimals are printed.
                assert!((up_to - below - chance).abs() < 5e-5, "{m} of {size}");
                assert_eq!(taken(size, sigma, edge + 1e-9), size.min(m + 1));
                below = up_to;
            }
        }
    }
}
