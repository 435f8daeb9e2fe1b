//! Continuous PSO with a threshold: positions in the unit cube; features with coordinates above a threshold are selected.
//!
//! For each particle at y with velocity v, personal best p and global best g, feature by feature:
//!
//! ```text
//! v <- w v + c1 r1 (p - y) + c2 r2 (g - y)    w inertia, c1 cognitive, c2 social
//! y <- y + v, clamped to [0, 1]              v is not changed by clamping
//! x <- 1 if y > θ, else 0                     θ threshold
//! ```
//!
//! r1, r2 are drawn for every feature, in this order. Initial positions are uniform, so about 4 of 10 features are selected
//! at first; velocities start at 0. The comparison in the 2D-learning paper, whose settings these are, gives no velocity
//! limit, so there is none. The coordinate of a feature removed for the size limit is set to θ.
//!
//! S.-W. Lin, K.-C. Ying, S.-C. Chen, Z.-J. Lee, Particle swarm optimization for parameter
//! determination and feature selection of support vector machines, Expert Systems with Applications
//! 35 (2008), doi:10.1016/j.eswa.2007.08.088; named `ErFS` by B. Xue, M. Zhang, W. N. Browne, IEEE
//! Trans. Cybernetics 43 (2013), doi:10.1109/TSMCB.2012.2227469

use crate::base::subset::Subset;
use crate::operators::ordering::Ties;
use crate::operators::parameters::{COGNITIVE, INERTIA, POPULATION, SOCIAL, THRESHOLD};
use crate::operators::velocity::Coefficients;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, Iteration, Optimizer, Space, params,
};
use crate::simd::words;
use crate::swarms::real::RealSwarm;

params! {
    /// Settings of [`Erfs`].
    pub struct ErfsParams {
        population: usize = 30, POPULATION;
        inertia: f64 = 0.729, INERTIA;
        cognitive: f64 = 1.49, COGNITIVE;
        social: f64 = 1.49, SOCIAL;
        threshold: f64 = 0.6, THRESHOLD;
    }
}

/// A continuous swarm.
#[derive(Debug)]
pub struct Erfs {
    n_features: usize,
    coefficients: Coefficients,
    swarm: RealSwarm,
}

impl Algorithm for Erfs {
    type Params = ErfsParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Continuous PSO with threshold",
        family: Family::Swarm,
        year: 2008,
        paper: "S.-W. Lin, K.-C. Ying, S.-C. Chen, Z.-J. Lee, Particle swarm optimization for parameter determination and feature selection of support vector machines, Expert Systems with Applications 35",
        doi: "10.1016/j.eswa.2007.08.088",
        aliases: &[],
        summary: "continuous PSO in the unit cube; a feature is selected where its coordinate exceeds a threshold",
        evaluations: Some(6000),
        objective: Objective::Error,
    };

    fn start(params: ErfsParams, space: &Space) -> Self {
        let ErfsParams { population, inertia, cognitive, social, threshold } = params;
        Self {
            n_features: space.n_features(),
            coefficients: Coefficients { inertia, cognitive, social },
            swarm: RealSwarm::new(population, threshold, Ties::Stay, space),
        }
    }
}

impl Optimizer for Erfs {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        if iteration.number == 0 {
            let n = self.n_features;
            return self.swarm.start(iteration, |_, _, rng| words::some_units(n, rng));
        }
        let coefficients = self.coefficients;
        self.swarm.advance(iteration, |particle, rng| {
            particle.step(|v, x, p, g, r1, r2| coefficients.velocity(v, x, p, g, r1, r2), rng);
        })
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        self.swarm.update(evaluations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, mean_ones, onemax};

    #[test]
    fn a_move_has_the_worked_values() {
        let params = ErfsParams::default();
        let coefficients = Coefficients {
            inertia: params.inertia,
            cognitive: params.cognitive,
            social: params.social,
        };
        // v = 0.1 and both draws 0.5; the worked values have at most five decimals, and sums of products are rounded.
        let moved = |y: f64, own: f64, global: f64| {
            let v = coefficients.velocity(0.1, y, own, global, 0.5, 0.5);
            (v, (y + v).clamp(0.0, 1.0))
        };
        let (v, y) = moved(0.5, 1.0, 0.0);
        assert!((v - 0.0729).abs() < 1e-12 && (y - 0.5729).abs() < 1e-12 && y < 0.6);
        let (v, y) = moved(0.55, 1.0, 0.9);
        assert!((v - 0.6689).abs() < 1e-12 && y == 1.0, "{v} {y}");
    }

    #[test]
    fn two_of_five_features_are_selected_initially() {
        let mut swarm = Erfs::start(ErfsParams::default(), &Space::new(100, 100));
        let sizes: usize =
            drive(&mut swarm, 1, onemax)[0].iter().map(|tried| tried.subset.count()).sum();
        // 3000 draws with probability 0.4: mean 1200, standard deviation 27.
        assert!((1119..=1281).contains(&sizes), "{sizes}");
    }

    #[test]
    fn it_beats_random_search_on_onemax() {
        // 6000 evaluations each; the mean of ten best-of-6000 fair draws has a standard error near 0.4.
        let (own, random) = (mean_ones("erfs", 200), mean_ones("random", 120));
        assert!(own - random > 1.2, "{own} {random}");
    }
}
