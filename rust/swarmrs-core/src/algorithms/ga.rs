//! Genetic algorithm: fitness-proportional selection, two-point crossover, bit-flip mutation.
//!
//! With N = `population` members of cost J, every iteration:
//!
//! ```text
//! select    parents with weight 1 - J, or max J - J with a window  pairs in the order drawn
//! cross     two-point crossover with probability pc                pc crossover_rate
//! mutate    flip every bit with probability pm                     pm mutation_rate
//! replace   gap N members by the children, the others survive
//! ```
//!
//! The settings are Grefenstette's. The comparison in the 2D-learning paper uses them, but does not specify parent sampling
//! and survival. `plain` matches its results: no window, roulette wheel selection, all members replaced. `gs3` is
//! Grefenstette's own: gap 0.9, a window of one generation, stochastic universal sampling. `gap`, `scaling` and `sampling`
//! follow `variant` unless given; the best `elite` members always survive. Survivors keep their cost and are not evaluated
//! again, so an iteration of `gs3` evaluates 72 subsets. The number of children is rounded down to even.
//!
//! Costs outside 0..1 are scaled to 0..1 within the iteration, which has the effect of a window. Random numbers after the
//! first iteration come from slot `population`: parents, then for each pair its crossover and two points, the mutations of
//! all children, survivors.
//!
//! W. Siedlecki, J. Sklansky, A note on genetic algorithms for large-scale feature selection,
//! Pattern Recognition Letters 10 (1989), doi:10.1016/0167-8655(89)90037-8; settings: J. J.
//! Grefenstette, Optimization of control parameters for genetic algorithms, IEEE Trans. Systems,
//! Man, and Cybernetics 16 (1986), doi:10.1109/TSMC.1986.289288

use crate::base::error::{Error, Result};
use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::crossover::two_point;
use crate::operators::mutation::mutated;
use crate::operators::scale::unit_costs;
use crate::operators::selection::{roulette, top_k, universal};
use crate::problem::objective::{Cost, Objective};
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, MOST_MEMBERS, Optimizer, Space, params,
};
use serde::{Deserialize, Serialize};

params! {
    /// Settings of [`Ga`].
    pub struct GaParams {
        population: usize = 80, Allowed::Whole(2, MOST_MEMBERS), "number of chromosomes";
        crossover_rate: f64 = 0.45, Allowed::Within(0.0, 1.0),
            "crossover probability pc of a pair";
        mutation_rate: f64 = 0.01, Allowed::Within(0.0, 1.0), "mutation probability pm of a bit";
        variant: Variant = Variant::Plain, Allowed::OneOf(&["plain", "gs3"]),
            "defaults of gap, scaling and sampling: 1, none, roulette (plain) or 0.9, window, universal (gs3)";
        gap: Option<f64> = None, Allowed::Above(0.0, 1.0),
            "generation gap, the fraction of the population replaced in a generation; null follows variant";
        scaling: Option<Scaling> = None, Allowed::OneOf(&["none", "window"]),
            "selection weight of a parent of cost J: 1 - J (none) or max J - J (window); null follows variant";
        sampling: Option<Sampling> = None, Allowed::OneOf(&["roulette", "universal"]),
            "parent sampling: one spin per parent (roulette) or one for all (universal); null follows variant";
        elite: usize = 0, Allowed::Whole(0, MOST_MEMBERS),
            "number of best chromosomes that survive unchanged";
    }
}

/// The defaults of gap, scaling and sampling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// 1, none, roulette.
    Plain,
    /// 0.9, window, universal.
    Gs3,
}

/// The scaling of costs to selection weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// 1 - J.
    None,
    /// max J - J.
    Window,
}

/// The sampling of parents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    /// Roulette wheel selection, one spin per parent.
    Roulette,
    /// Stochastic universal sampling, one spin for all parents.
    Universal,
}

impl GaParams {
    fn n_children(&self) -> usize {
        let gap = self.gap.unwrap_or(if self.variant == Variant::Gs3 { 0.9 } else { 1.0 });
        let replaced = (gap * self.population as f64).round() as usize;
        (replaced.min(self.population - self.elite) & !1).max(2)
    }

    /// The selection weight of each member.
    fn weights(&self, costs: &[Cost]) -> Vec<f64> {
        let is_windowed = match self.scaling {
            Some(scaling) => scaling == Scaling::Window,
            None => self.variant == Variant::Gs3,
        };
        let costs = unit_costs(costs);
        let worst = costs.iter().copied().fold(0.0, f64::max);
        costs.iter().map(|cost| if is_windowed { worst - cost } else { 1.0 - cost }).collect()
    }

    fn parents(&self, weights: &[f64], rng: &mut Rng) -> Vec<usize> {
        let default =
            if self.variant == Variant::Gs3 { Sampling::Universal } else { Sampling::Roulette };
        match self.sampling.unwrap_or(default) {
            Sampling::Roulette => {
                (0..self.n_children()).map(|_| roulette(weights, rng.unit())).collect()
            }
            Sampling::Universal => {
                let mut drawn = universal(weights, self.n_children(), rng.unit());
                rng.shuffle(&mut drawn);
                drawn
            }
        }
    }

    /// The elite, then random other members.
    fn survivors(&self, costs: &[Cost], rng: &mut Rng) -> Vec<usize> {
        let merits: Vec<f64> = costs.iter().map(|cost| -cost.value()).collect();
        let elite = top_k(&merits, self.elite);
        let others: Vec<usize> = elite.complement().iter().collect();
        let n_others = self.population - self.n_children() - self.elite;
        let drawn = rng.distinct(n_others, others.len()).into_iter().map(|index| others[index]);
        elite.iter().chain(drawn).collect()
    }
}

/// A genetic algorithm.
#[derive(Debug)]
pub struct Ga {
    params: GaParams,
    space: Space,
    /// The population; only the survivors between ask and tell.
    members: Vec<(Subset, Cost)>,
}

impl Algorithm for Ga {
    type Params = GaParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Genetic algorithm",
        family: Family::Genetic,
        year: 1989,
        paper: "W. Siedlecki, J. Sklansky, A note on genetic algorithms for large-scale feature selection, Pattern Recognition Letters 10",
        doi: "10.1016/0167-8655(89)90037-8",
        aliases: &[],
        summary: "fitness-proportional selection, two-point crossover, bit-flip mutation",
        evaluations: Some(6000),
        objective: Objective::Error,
    };

    fn check(params: &GaParams) -> Result<()> {
        let most = params.population.saturating_sub(2);
        if params.elite > most {
            let expected = format!("at most {most}, two below population");
            return Err(Error::out_of_range("elite", params.elite, &expected));
        }
        Ok(())
    }

    fn start(params: GaParams, space: &Space) -> Self {
        Self { params, space: space.clone(), members: Vec::new() }
    }
}

impl Optimizer for Ga {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let params = &self.params;
        if iteration.number == 0 {
            return (0..params.population)
                .map(|member| self.space.random(&mut iteration.rng(member)))
                .collect();
        }
        let mut rng = iteration.rng(params.population);
        let costs: Vec<Cost> = self.members.iter().map(|member| member.1).collect();
        let parents = params.parents(&params.weights(&costs), &mut rng);
        let mut children: Vec<Subset> =
            parents.into_iter().map(|parent| self.members[parent].0.clone()).collect();
        for pair in children.chunks_exact_mut(2) {
            if let [a, b] = pair
                && rng.bernoulli(params.crossover_rate)
            {
                two_point(a, b, &mut rng);
            }
        }
        for child in &mut children {
            *child = mutated(child, params.mutation_rate, params.mutation_rate, &mut rng);
            self.space.trim(child, &mut rng);
        }
        let survivors = params.survivors(&costs, &mut rng);
        self.members = survivors.into_iter().map(|member| self.members[member].clone()).collect();
        children
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        self.members.extend(evaluations.iter().map(|new| (new.subset.clone(), new.cost)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, least, mean_ones, onemax};
    use proptest::prelude::*;

    fn gs3() -> GaParams {
        GaParams { variant: Variant::Gs3, ..GaParams::default() }
    }

    #[test]
    fn gs3_evaluates_80_subsets_first_and_then_72_per_iteration() {
        let mut search = Ga::start(gs3(), &Space::new(20, 20));
        let requested: Vec<usize> = drive(&mut search, 83, onemax).iter().map(Vec::len).collect();
        assert_eq!(requested[0], 80);
        assert!(requested[1..].iter().all(|&n| n == 72));
        assert_eq!(requested.iter().sum::<usize>(), 5984);
        assert_eq!(search.members.len(), 80);
    }

    #[test]
    fn weights_have_the_worked_values() {
        let costs = [0.5, 0.25, 0.75].map(Cost::new);
        assert_eq!(GaParams::default().weights(&costs), [0.5, 0.75, 0.25]);
        assert_eq!(gs3().weights(&costs), [0.25, 0.5, 0.0]);
        let outside = [-30.0, -10.0, -20.0].map(Cost::new);
        assert_eq!(GaParams::default().weights(&outside), [1.0, 0.0, 0.5]);
        let window = GaParams { scaling: Some(Scaling::Window), ..GaParams::default() };
        assert_eq!(window.weights(&costs), [0.25, 0.5, 0.0]);
    }

    #[test]
    fn the_elite_survive() {
        let params = GaParams { elite: 3, ..GaParams::default() };
        let mut search = Ga::start(params, &Space::new(30, 30));
        let history = drive(&mut search, 20, onemax);
        // 80 - 3 is rounded down to even.
        assert!(history[1..].iter().all(|iteration| iteration.len() == 76));
        assert_eq!(
            search.members.iter().map(|member| member.1.value()).fold(1.0, f64::min),
            least(&history)
        );
    }

    #[test]
    fn too_large_an_elite_is_refused() {
        let error = Ga::check(&GaParams { elite: 79, ..GaParams::default() }).unwrap_err();
        assert_eq!(error.to_string(), "elite is 79, expected at most 78, two below population");
    }

    #[test]
    fn plain_beats_random_search_on_onemax_and_gs3_beats_plain() {
        // 6000 evaluations each; the mean of ten best-of-6000 fair draws has a standard error near 0.4.
        let (own, random) = (mean_ones("ga", 75), mean_ones("random", 120));
        assert!(own - random > 3.0, "{own} {random}");
        let mut search = Ga::start(gs3(), &Space::new(50, 50));
        let reached = 50.0 * (1.0 - least(&drive(&mut search, 83, onemax)));
        assert!(reached > own + 2.0, "{reached} {own}");
    }

    proptest! {
        #[test]
        fn the_population_keeps_its_size(
            population in 2usize..20,
            elite in 0usize..5,
            gap in proptest::option::of(0.01f64..=1.0),
            is_gs3: bool,
        ) {
            let variant = if is_gs3 { Variant::Gs3 } else { Variant::Plain };
            let elite = elite.min(population - 2);
            let params = GaParams { population, variant, gap, elite, ..GaParams::default() };
            prop_assert!(Ga::check(&params).is_ok());
            let mut search = Ga::start(params, &Space::new(10, 4));
            let history = drive(&mut search, 6, onemax);
            prop_assert_eq!(search.members.len(), population);
            prop_assert!(history.iter().flatten().all(|tried| tried.subset.count() <= 4));
        }
    }
}
