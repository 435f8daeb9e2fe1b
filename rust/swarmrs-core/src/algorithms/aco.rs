//! Binary ant colony: ants choose between two trails per feature, selected or not; the best ant deposits pheromone.
//!
//! With pheromone τ on the two trails of every feature d:
//!
//! ```text
//! ant:   x(d) <- 1 with probability τ(d,1) / (τ(d,0) + τ(d,1))
//! then:  τ <- (1 - ρ) τ everywhere                            ρ evaporation
//!        τ(d, s(d)) <- τ(d, s(d)) + deposit, for all d        s the iteration's best ant, J its cost
//!        τ clamped to [pheromone_min, pheromone_max]; initially pheromone_max
//! deposit:  exp      exp(-a J)                                a sharpness
//!           inverse  1 / (1 + a J)
//!           elite    (1 - J) / a, from each of the a best ants
//! ```
//!
//! The comparison in the 2D-learning paper gives the number of ants, a, ρ and the limits of τ, but its reference list omits
//! the papers it cites. Its subsets have half of the features on wide data, which rules out ants of fixed size; the rest is
//! the max-min ant system without a heuristic. Of the deposit rules tried, `exp` comes closest to its naive Bayes results;
//! none reproduces its 5-NN results. Costs outside 0..1 are scaled to 0..1 within the iteration. The initial ants are the
//! random subsets that all bit-string algorithms start with.
//!
//! T. Stützle, H. H. Hoos, MAX-MIN ant system, Future Generation Computer Systems 16 (2000),
//! doi:10.1016/S0167-739X(00)00043-1

use crate::base::error::{Error, Result};
use crate::base::math::exp;
use crate::base::subset::Subset;
use crate::operators::scale::unit_costs;
use crate::operators::selection::top_k;
use crate::problem::objective::{Cost, Objective};
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, MOST_MEMBERS, Optimizer, Space, params,
};
use serde::{Deserialize, Serialize};

params! {
    /// Settings of [`Aco`].
    pub struct AcoParams {
        population: usize = 50, Allowed::Whole(1, MOST_MEMBERS), "number of ants";
        deposit: Deposit = Deposit::Exp, Allowed::OneOf(&["exp", "inverse", "elite"]),
            "deposit rule: exp or inverse for the best ant, elite for the a best ants";
        sharpness: f64 = 5.0, Allowed::Above(0.0, f64::INFINITY),
            "a, how steeply a deposit falls with cost; with elite, the number of ants that deposit";
        evaporation: f64 = 0.2, Allowed::Within(0.0, 1.0),
            "evaporation rate rho, the share of pheromone lost in an iteration";
        pheromone_min: f64 = 0.3, Allowed::Above(0.0, f64::INFINITY), "lower bound of the pheromone on a trail";
        pheromone_max: f64 = 1.5, Allowed::Above(0.0, f64::INFINITY),
            "upper bound of the pheromone on a trail, and its initial value";
    }
}

/// The deposit rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deposit {
    /// The best ant deposits exp(-a J).
    Exp,
    /// The best ant deposits 1 / (1 + a J).
    Inverse,
    /// Each of the a best ants deposits (1 - J) / a.
    Elite,
}

/// An ant colony.
#[derive(Debug)]
pub struct Aco {
    params: AcoParams,
    space: Space,
    /// The pheromone on the two trails of each feature: unselected, selected.
    trails: Vec<[f64; 2]>,
}

impl AcoParams {
    /// The ants that deposit pheromone, ascending, with their amounts.
    fn deposits(&self, costs: &[Cost]) -> Vec<(usize, f64)> {
        let (a, costs) = (self.sharpness, unit_costs(costs));
        let merits: Vec<f64> = costs.iter().map(|cost| -cost).collect();
        let n_ants = if self.deposit == Deposit::Elite { (a.round() as usize).max(1) } else { 1 };
        let amount = |cost: f64| match self.deposit {
            Deposit::Exp => exp(-a * cost),
            Deposit::Inverse => 1.0 / (1.0 + a * cost),
            Deposit::Elite => (1.0 - cost) / a,
        };
        top_k(&merits, n_ants).iter().map(|ant| (ant, amount(costs[ant]))).collect()
    }
}

impl Aco {
    /// Evaporation, deposits and clamping.
    fn update_pheromone(&mut self, evaluations: &[Evaluation]) {
        for trail in self.trails.iter_mut().flatten() {
            *trail *= 1.0 - self.params.evaporation;
        }
        let costs: Vec<Cost> = evaluations.iter().map(|ant| ant.cost).collect();
        for (ant, amount) in self.params.deposits(&costs) {
            for (d, trail) in self.trails.iter_mut().enumerate() {
                trail[usize::from(evaluations[ant].subset.contains(d))] += amount;
            }
        }
        for trail in self.trails.iter_mut().flatten() {
            *trail = trail.clamp(self.params.pheromone_min, self.params.pheromone_max);
        }
    }
}

impl Algorithm for Aco {
    type Params = AcoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Binary ant colony",
        family: Family::Ant,
        year: 2000,
        paper: "T. Stützle, H. H. Hoos, MAX-MIN ant system, Future Generation Computer Systems 16",
        doi: "10.1016/S0167-739X(00)00043-1",
        aliases: &[],
        summary: "ant colony with two trails per feature, selected or not, and bounded pheromone",
        evaluations: Some(6000),
        objective: Objective::Error,
    };

    fn check(params: &AcoParams) -> Result<()> {
        if params.pheromone_min > params.pheromone_max {
            let expected = format!("pheromone_max {} or less", params.pheromone_max);
            return Err(Error::out_of_range("pheromone_min", params.pheromone_min, &expected));
        }
        Ok(())
    }

    fn start(params: AcoParams, space: &Space) -> Self {
        let trails = vec![[params.pheromone_max; 2]; space.n_features()];
        Self { params, space: space.clone(), trails }
    }
}

impl Optimizer for Aco {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let ant = |slot| {
            let mut rng = iteration.rng(slot);
            if iteration.number == 0 {
                return self.space.random(&mut rng);
            }
            let mut path = Subset::from_fn(self.space.n_features(), |d| {
                let [unselected, selected] = self.trails[d];
                rng.bernoulli(selected / (unselected + selected))
            });
            self.space.trim(&mut path, &mut rng);
            path
        };
        (0..self.params.population).map(ant).collect()
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        self.update_pheromone(evaluations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Measures;
    use crate::testing::{drive, least, onemax};
    use proptest::prelude::*;

    fn evaluation(cost: f64, n: usize) -> Evaluation {
        let cost = Cost::new(cost);
        Evaluation { subset: Subset::full(n), measures: Measures::WORST, cost }
    }

    #[test]
    fn a_pheromone_update_has_the_worked_values() {
        let mut colony = Aco::start(AcoParams::default(), &Space::new(1, 1));
        let deposits = colony.params.deposits(&[Cost::new(0.2), Cost::new(0.1), Cost::new(0.1)]);
        // Six decimals are printed; ties go to the first ant.
        assert!(deposits.len() == 1 && deposits[0].0 == 1);
        assert!((deposits[0].1 - 0.606_531).abs() < 5e-7);
        for k in 1..=8 {
            colony.update_pheromone(&[evaluation(0.1, 1)]);
            let [out, within] = colony.trails[0];
            assert_eq!(within, 1.5);
            let share = within / (out + within);
            // A product of eight factors is exact to a few last bits.
            assert!((out - (1.5 * 0.8f64.powi(k)).max(0.3)).abs() < 1e-12);
            match k {
                1 => assert!((out - 1.2).abs() < 1e-12 && (share - 0.555_556).abs() < 5e-7),
                7 => assert!((out - 0.314_573).abs() < 5e-7),
                8 => assert!(out == 0.3 && (share - 0.833_333).abs() < 5e-7),
                _ => {}
            }
        }
    }

    #[test]
    fn inverse_and_elite_deposits_have_the_worked_values() {
        let costs = [0.5, 0.1, 0.9, 0.3].map(Cost::new);
        let of = |deposit, sharpness| {
            AcoParams { deposit, sharpness, ..AcoParams::default() }.deposits(&costs)
        };
        assert_eq!(of(Deposit::Inverse, 5.0), [(1, 1.0 / 1.5)]);
        assert_eq!(of(Deposit::Elite, 2.0), [(1, 0.45), (3, 0.35)]);
        assert_eq!(of(Deposit::Elite, 9.0).len(), 4);
    }

    #[test]
    fn a_lower_bound_above_the_upper_bound_is_refused() {
        let error =
            Aco::check(&AcoParams { pheromone_min: 2.0, ..AcoParams::default() }).unwrap_err();
        assert_eq!(error.to_string(), "pheromone_min is 2, expected pheromone_max 1.5 or less");
    }

    #[test]
    fn every_deposit_beats_random_search_on_onemax() {
        // 6000 evaluations each; the best of so many fair draws has 40 ones at most in ten runs.
        for deposit in [Deposit::Exp, Deposit::Inverse, Deposit::Elite] {
            let params = AcoParams { deposit, ..AcoParams::default() };
            let mut colony = Aco::start(params, &Space::new(50, 50));
            let reached = least(&drive(&mut colony, 120, onemax));
            assert!(reached <= 0.16, "{deposit:?} {reached}");
        }
    }

    proptest! {
        #[test]
        fn pheromone_stays_within_its_limits(
            costs in proptest::collection::vec(-1e3f64..1e3, 1..20),
            deposit in prop_oneof![
                Just(Deposit::Exp), Just(Deposit::Inverse), Just(Deposit::Elite)
            ],
        ) {
            let mut colony =
                Aco::start(AcoParams { deposit, ..AcoParams::default() }, &Space::new(5, 5));
            for cost in costs {
                colony.update_pheromone(&[evaluation(cost, 5), evaluation(0.5, 5)]);
                for [out, within] in &colony.trails {
                    prop_assert!((0.3..=1.5).contains(out) && (0.3..=1.5).contains(within));
                    let share = within / (out + within);
                    prop_assert!((0.3 / 1.8..=1.5 / 1.8).contains(&share));
                }
            }
        }
    }
}
