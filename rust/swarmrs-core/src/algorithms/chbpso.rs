//! Chaotic binary particle swarm: binary PSO whose inertia follows a chaotic map.
//!
//! Particles move as in binary PSO, all with the same inertia w; the first move uses `inertia`, and after every move:
//!
//! ```text
//! logistic:  w <- 4 w (1 - w)
//! tent:      w <- w / 0.7 if w < 0.7, else 10/3 w (1 - w)
//! ```
//!
//! The second branch of the tent is as published; a true tent map would have 10/3 (1 - w). An initial inertia from which
//! the map reaches a fixed point (for the logistic map 0.25, 0.5, 0.75 and 1) is refused.
//!
//! L.-Y. Chuang, C.-H. Yang, J.-C. Li, Chaotic maps based on binary particle swarm optimization for
//! feature selection, Applied Soft Computing 11 (2011), doi:10.1016/j.asoc.2009.11.014

use super::bpso;
use crate::base::error::{Error, Result};
use crate::base::subset::Subset;
use crate::operators::parameters::{COGNITIVE, POPULATION, SOCIAL, VELOCITY_LIMIT};
use crate::operators::velocity::Coefficients;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, Optimizer, Space, params,
};
use crate::swarms::binary::BinarySwarm;
use serde::{Deserialize, Serialize};

params! {
    /// Settings of [`Chbpso`].
    pub struct ChbpsoParams {
        population: usize = 30, POPULATION;
        map: Map = Map::Logistic, Allowed::OneOf(&["logistic", "tent"]),
            "chaotic map that the inertia weight follows";
        inertia: f64 = 0.48, Allowed::Above(0.0, 1.0), "initial inertia weight w";
        cognitive: f64 = 2.0, COGNITIVE;
        social: f64 = 2.0, SOCIAL;
        velocity_limit: f64 = 6.0, VELOCITY_LIMIT;
    }
}

/// The chaotic map of the inertia.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Map {
    /// The logistic map.
    Logistic,
    /// The tent map as published.
    Tent,
}

impl Map {
    fn next(self, w: f64) -> f64 {
        match self {
            Self::Logistic => 4.0 * w * (1.0 - w),
            Self::Tent if w < 0.7 => w / 0.7,
            Self::Tent => 10.0 / 3.0 * w * (1.0 - w),
        }
    }

    /// True if the orbit from `w` reaches a fixed point within 8 steps.
    fn reaches_fixed_point(self, w: f64) -> bool {
        let mut orbit = std::iter::successors(Some(w), |&w| Some(self.next(w))).take(8);
        // A chaotic orbit may pass near a fixed point; only one at the fixed point is within rounding of it.
        orbit.any(|w| (self.next(w) - w).abs() < 1e-12)
    }
}

/// A binary swarm with a chaotic inertia.
#[derive(Debug)]
pub struct Chbpso {
    map: Map,
    coefficients: Coefficients,
    velocity_limit: f64,
    swarm: BinarySwarm,
}

impl Algorithm for Chbpso {
    type Params = ChbpsoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Chaotic binary PSO",
        family: Family::Swarm,
        year: 2011,
        paper: "L.-Y. Chuang, C.-H. Yang, J.-C. Li, Chaotic maps based on binary particle swarm optimization for feature selection, Applied Soft Computing 11",
        doi: "10.1016/j.asoc.2009.11.014",
        aliases: &[],
        summary: "BPSO whose inertia follows a chaotic map",
        evaluations: Some(6000),
        objective: Objective::Error,
    };

    fn check(params: &ChbpsoParams) -> Result<()> {
        if params.map.reaches_fixed_point(params.inertia) {
            let expected = "a value from which the map does not reach a fixed point";
            return Err(Error::out_of_range("inertia", params.inertia, expected));
        }
        Ok(())
    }

    fn start(params: ChbpsoParams, space: &Space) -> Self {
        let ChbpsoParams { population, map, inertia, cognitive, social, velocity_limit } = params;
        let coefficients = Coefficients { inertia, cognitive, social };
        Self { map, coefficients, velocity_limit, swarm: BinarySwarm::new(population, space) }
    }
}

impl Optimizer for Chbpso {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        if iteration.number == 0 {
            return self.swarm.start(iteration, |space, _, rng| space.random(rng));
        }
        let Self { coefficients, velocity_limit, .. } = *self;
        self.coefficients.inertia = self.map.next(coefficients.inertia);
        self.swarm.advance(iteration, |particle, rng| {
            bpso::next_position(particle, coefficients, velocity_limit, rng)
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
    use proptest::prelude::*;

    fn assert_orbit(map: Map, expected: [f64; 9]) {
        let mut w = 0.48;
        for value in expected {
            // Ten decimals are printed.
            assert!((w - value).abs() < 5e-11, "{w} {value}");
            w = map.next(w);
        }
    }

    #[test]
    fn maps_have_the_worked_orbits() {
        assert_orbit(
            Map::Logistic,
            [
                0.48,
                0.9984,
                0.006_389_76,
                0.025_395_723_9,
                0.099_003_124_3,
                0.356_806_022_8,
                0.917_981_939_5,
                0.301_164_392_9,
                0.841_857_605_5,
            ],
        );
        assert_orbit(
            Map::Tent,
            [
                0.48,
                0.685_714_285_7,
                0.979_591_836_7,
                0.066_638_900_5,
                0.095_198_429_2,
                0.135_997_756_0,
                0.194_282_508_6,
                0.277_546_440_9,
                0.396_494_915_6,
            ],
        );
    }

    #[test]
    fn the_initial_inertia_is_the_given_one() {
        let mut swarm = Chbpso::start(ChbpsoParams::default(), &Space::new(10, 10));
        drive(&mut swarm, 1, onemax);
        assert_eq!(swarm.coefficients.inertia, 0.48);
        drive(&mut swarm, 3, onemax);
        assert_eq!(swarm.coefficients.inertia, Map::Logistic.next(Map::Logistic.next(0.48)));
    }

    #[test]
    fn an_inertia_that_leads_to_a_fixed_point_is_refused() {
        for inertia in [0.25, 0.5, 0.75, 1.0] {
            let error =
                Chbpso::check(&ChbpsoParams { inertia, ..ChbpsoParams::default() }).unwrap_err();
            let expected = "expected a value from which the map does not reach a fixed point";
            assert_eq!(error.to_string(), format!("inertia is {inertia}, {expected}"));
        }
        for inertia in [0.7, 1.0] {
            let tent = ChbpsoParams { inertia, map: Map::Tent, ..ChbpsoParams::default() };
            assert!(Chbpso::check(&tent).is_err(), "{inertia}");
        }
        assert!(Chbpso::check(&ChbpsoParams::default()).is_ok());
    }

    #[test]
    fn it_beats_random_search_on_onemax() {
        // 6000 evaluations each; the mean of ten best-of-6000 fair draws has a standard error near 0.4.
        let (own, random) = (mean_ones("chbpso", 200), mean_ones("random", 120));
        assert!(own - random > 4.0, "{own} {random}");
    }

    proptest! {
        #[test]
        fn inertia_stays_within_0_and_1(start in 0.0f64..=1.0) {
            for map in [Map::Logistic, Map::Tent] {
                let orbit = std::iter::successors(Some(start), |&w| Some(map.next(w)));
                prop_assert!(orbit.take(200).all(|w| (0.0..=1.0).contains(&w)));
            }
        }
    }
}
