//! Simple steady-state genetic algorithm for subsets of a requested size.
//!
//! ```text
//! start   P chromosomes, each feature selected with probability d / n
//! repeat  two parents by rank, P(rank i) proportional to q (1 - q)^(i - 1), best first
//!         child by two-point crossover (probability pc); mutation drops a feature with pm, adds one with pm n1 / n0
//!         J'(c) = J(c) + w ||c| - d|
//!         better than both parents: replaces the nearer one; no worse than the worse one: replaces that one;
//!         otherwise: replaces the worst of the population
//! ```
//!
//! P is `population`, q `selection_pressure`, pc `crossover_rate`, pm `mutation_rate`, w `penalty`, d `size`; n1 features of
//! the child are selected, n0 are not. The start is one iteration, every child is one. Without `size` the paper's d = n/5,
//! 2n/5, 3n/5, 4n/5 are searched for one after another, each from a new start and with a quarter of the budget, and the
//! result is the best of all; the default budget gives each the 2000 evaluations of the comparison.
//!
//! The paper leaves the number of cuts, w and the stopping criterion open: two cuts, 0.5 and a budget are ours. Random
//! features above the limit of the space are removed. If no chromosome of size d was evaluated, which w makes unlikely, the
//! result is the best one of another size, without repair. Subsets are evaluated by 1-NN with leave-one-out, as in the
//! paper.
//!
//! I.-S. Oh, J.-S. Lee, B.-R. Moon, Hybrid genetic algorithms for feature selection, IEEE Trans. Pattern Analysis and
//! Machine Intelligence 26 (2004), doi:10.1109/TPAMI.2004.105

use crate::base::subset::Subset;
use crate::evaluate::Protocol;
use crate::operators::parameters::{
    CHROMOSOMES, CROSSOVER_RATE, MUTATION_RATE, SELECTION_PRESSURE, SIZE_OR_FIFTHS,
};
use crate::problem::objective::{Cost, Objective};
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, Optimizer, Space, params,
};
use crate::swarms::steady::{Breeding, Parents, Population, Schedule, random_chromosome};

params! {
    /// Settings of [`Sga`].
    pub struct SgaParams {
        population: usize = 20, CHROMOSOMES;
        crossover_rate: f64 = 1.0, CROSSOVER_RATE;
        mutation_rate: f64 = 0.1, MUTATION_RATE;
        selection_pressure: f64 = 0.25, SELECTION_PRESSURE;
        size: Option<usize> = None, SIZE_OR_FIFTHS;
        penalty: f64 = 0.5, Allowed::AtLeast(0.0),
            "penalty w, added to the cost for each feature more or fewer than size";
    }
}

/// A simple steady-state genetic algorithm.
#[derive(Debug)]
pub struct Sga {
    params: SgaParams,
    space: Space,
    schedule: Schedule,
    population: Population,
    /// The parents of the proposed child; None for the initial population.
    parents: Option<Parents>,
}

impl Sga {
    fn penalized(&self, tried: &Evaluation) -> Cost {
        let difference = tried.subset.count().abs_diff(self.schedule.size());
        Cost::new(tried.cost.value() + self.params.penalty * difference as f64)
    }
}

impl Algorithm for Sga {
    type Params = SgaParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Simple genetic algorithm of a wanted size",
        family: Family::Genetic,
        year: 2004,
        paper: "I.-S. Oh, J.-S. Lee, B.-R. Moon, Hybrid genetic algorithms for feature selection, IEEE Trans. PAMI 26",
        doi: "10.1109/TPAMI.2004.105",
        aliases: &[],
        summary: "steady-state GA with a penalty for each feature off the wanted size",
        evaluations: Some(8000),
        objective: Objective::Error,
    };
    const PROTOCOL: Protocol = Protocol::LEAVE_ONE_OUT;

    fn start(params: SgaParams, space: &Space) -> Self {
        let schedule = Schedule::new(params.size, space);
        let population = Population::default();
        Self { params, space: space.clone(), schedule, population, parents: None }
    }
}

impl Optimizer for Sga {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let SgaParams { crossover_rate, mutation_rate, selection_pressure, .. } = self.params;
        if self.schedule.advance(iteration.fraction) {
            self.population = Population::default();
            self.parents = None;
            let size = self.schedule.size();
            return (0..self.params.population)
                .map(|slot| random_chromosome(&self.space, size, &mut iteration.rng(slot)))
                .collect();
        }
        let breeding = Breeding { crossover_rate, mutation_rate, selection_pressure };
        let (child, parents) = self.population.breed(&breeding, &self.space, &mut iteration.rng(0));
        self.parents = Some(parents);
        vec![child]
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        for tried in evaluations {
            let cost = self.penalized(tried);
            match self.parents {
                Some(parents) => self.population.replace(parents, tried.subset.clone(), cost),
                None => self.population.insert(tried.subset.clone(), cost),
            }
        }
    }

    fn is_eligible(&self, subset: &Subset) -> bool {
        self.schedule.accepts(subset.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drive;

    #[test]
    fn the_population_converges_to_the_requested_size() {
        let params = SgaParams { size: Some(6), ..SgaParams::default() };
        let mut search = Sga::start(params, &Space::new(30, 30));
        let history = drive(&mut search, 500, |subset| 1.0 - subset.count() as f64 / 30.0);
        assert_eq!(search.population.members().len(), 20);
        let (best, _) = &search.population.members()[0];
        assert_eq!(best.count(), 6, "a penalty of .5 outweighs the gain of another feature");
        assert_eq!(history[0].len(), 20);
        assert!(history[1..].iter().all(|iteration| iteration.len() == 1));
    }

    #[test]
    fn without_a_size_four_sizes_are_searched_one_after_another() {
        let mut search = Sga::start(SgaParams::default(), &Space::new(30, 30));
        let history = drive(&mut search, 400, |_| 0.5);
        let starts: Vec<usize> =
            (0..400).filter(|&iteration| history[iteration].len() == 20).collect();
        assert_eq!(starts, [0, 100, 200, 300]);
        for (start, size) in starts.into_iter().zip([6.0, 12.0, 18.0, 24.0]) {
            let sizes: usize = history[start].iter().map(|tried| tried.subset.count()).sum();
            // Four standard errors of the mean of 20 chromosomes are at most 2.4.
            assert!((sizes as f64 / 20.0 - size).abs() < 2.5);
        }
    }
}
