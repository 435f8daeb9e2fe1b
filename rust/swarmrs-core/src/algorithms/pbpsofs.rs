//! Probability-based binary particle swarm for feature selection: PBPSO with a cost that also
//! counts features.
//!
//! For each particle at x with own best p and swarm's best g, feature by feature, one draw each:
//!
//! ```text
//! flip x with probability  p0 + p1 [x != p] + p2 [x != g]      at most 1
//! J = α error + (1 - α) |x| / n                                α = 0.9, the weighted objective
//! ```
//!
//! p0 is `mutation_rate`, p1 is `cognitive`, p2 is `social`. The paper asks for a sum of 1 and
//! prints 1.05; with probabilities capped at 1 the printed values are kept. The empty subset costs
//! the worst, where the formula would give it 0.9.
//!
//! B. Xue, S. Nguyen, M. Zhang, A new binary particle swarm optimisation algorithm for feature
//! selection, `EvoApplications` 2014, doi:10.1007/978-3-662-45523-4_41

use crate::base::subset::Subset;
use crate::operators::flip_swarm::{FlipRates, FlipSwarm};
use crate::operators::parameters::{FLIP_COGNITIVE, FLIP_RATE, FLIP_SOCIAL, POPULATION};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, Optimizer, Space, Turn, params,
};

params! {
    /// Settings of [`Pbpsofs`].
    pub struct PbpsofsParams {
        population: usize = 50, POPULATION;
        mutation_rate: f64 = 0.05, FLIP_RATE;
        cognitive: f64 = 0.35, FLIP_COGNITIVE;
        social: f64 = 0.65, FLIP_SOCIAL;
    }
}

/// A swarm without velocities.
#[derive(Debug)]
pub struct Pbpsofs {
    rates: FlipRates,
    swarm: FlipSwarm,
}

impl Algorithm for Pbpsofs {
    type Params = PbpsofsParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Probability-based binary PSO for feature selection",
        family: Family::Swarm,
        year: 2014,
        paper: "B. Xue, S. Nguyen, M. Zhang, A new binary particle swarm optimisation algorithm for feature selection, EvoApplications",
        doi: "10.1007/978-3-662-45523-4_41",
        aliases: &[],
        summary: "PBPSO with a cost that also counts features",
        evaluations: Some(5000),
        objective: Objective::Weighted { alpha: 0.9 },
    };

    fn start(params: PbpsofsParams, space: &Space) -> Self {
        let PbpsofsParams { population, mutation_rate, cognitive, social } = params;
        let rates = FlipRates { mutation: mutation_rate, cognitive, social };
        Self { rates, swarm: FlipSwarm::new(population, space) }
    }
}

impl Optimizer for Pbpsofs {
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        if turn.number == 0 {
            return self.swarm.start(turn);
        }
        self.swarm.advance(turn, self.rates)
    }

    fn tell(&mut self, _: &Turn<'_>, told: &[Evaluation]) {
        self.swarm.learn(told);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::find;
    use crate::testing::{drive, onemax};

    #[test]
    fn it_moves_as_pbpso_and_starts_where_bpsofs_does() {
        let space = Space::new(30, 30);
        let history = |id: &str| {
            let (mut swarm, _) = find(id).unwrap().start(&serde_json::Map::new(), &space).unwrap();
            drive(&mut *swarm, 5, onemax)
        };
        let own = history("pbpsofs");
        assert_eq!(own, history("pbpso"));
        assert_eq!(own[0], history("bpsofs")[0]);
    }
}
