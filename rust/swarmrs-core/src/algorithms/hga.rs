//! Hybrid genetic algorithm: a steady-state one in which every chromosome climbs to the wanted size by local search.
//!
//! ```text
//! rem: X <- X - argmin J(X - a)       add: X <- X + argmin J(X + a)
//! ripple_rem(r) = r times rem, r - 1 times add        ripple_add(r) = r times add, r - 1 times rem
//! local improvement   |X| = d:  ripple_add(r), ripple_rem(r)
//!                     |X| < d:  ripple_add(r), d - |X| times        |X| > d:  ripple_rem(r), |X| - d times
//!
//! start   P chromosomes, each feature in with probability d / n, improved
//! repeat  two parents by rank, P(rank i) proportional to q (1 - q)^(i - 1), best first
//!         child by two-point crossover (probability pc); a feature is lost with pm, gained with pm n1 / n0; improved
//!         better than both parents: replaces the nearer one; no worse than the worse one: replaces that one;
//!         otherwise: replaces the worst of the population
//! ```
//!
//! r is `ripple`, P `population`, q `selection_pressure`, pc `crossover_rate`, pm `mutation_rate`, d `size`; n1
//! features of the child are in, n0 are out. Every rem or add is one iteration; ties go to the lowest feature. A
//! chromosome that local improvement made worse is kept. Without `size` the paper's d = n/5, 2n/5, 3n/5, 4n/5 are
//! searched for one after the other, each from a new start and for a quarter of the budget; the chromosome under way
//! when a quarter ends is dropped and the best subset evaluated wins.
//!
//! Ours, where the paper is silent: two cuts; the start is improved too; r is lowered where fewer features than that
//! are left to add, or but one to keep; a chromosome above the limit of the space loses features at random before it
//! climbs, and where d is the limit `ripple_rem` comes before `ripple_add`. Subsets are evaluated by 1-NN,
//! leave-one-out, as in the paper.
//!
//! I.-S. Oh, J.-S. Lee, B.-R. Moon, Hybrid genetic algorithms for feature selection, IEEE Trans. Pattern Analysis and
//! Machine Intelligence 26 (2004), doi:10.1109/TPAMI.2004.105

use crate::base::subset::Subset;
use crate::evaluate::Protocol;
use crate::operators::parameters::{
    CHROMOSOMES, CROSSOVER_RATE, MUTATION_RATE, SELECTION_PRESSURE, SIZE_OR_FIFTHS,
};
use crate::operators::sweep::{self, Sweep};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, Optimizer, Space, params,
};
use crate::swarms::steady::{Breeding, Parents, Population, Schedule, random_chromosome};
use std::collections::VecDeque;

params! {
    /// Settings of [`Hga`].
    pub struct HgaParams {
        population: usize = 20, CHROMOSOMES;
        crossover_rate: f64 = 1.0, CROSSOVER_RATE;
        mutation_rate: f64 = 0.1, MUTATION_RATE;
        selection_pressure: f64 = 0.25, SELECTION_PRESSURE;
        size: Option<usize> = None, SIZE_OR_FIFTHS;
        ripple: usize = 1, Allowed::Whole(1, 4),
            "ripple factor r, steps of a local search move before r - 1 steps back";
    }
}

/// A population of subsets of one size, and the one that is climbing.
#[derive(Debug)]
pub struct Hga {
    params: HgaParams,
    space: Space,
    schedule: Schedule,
    population: Population,
    /// First chromosomes that have not climbed yet.
    waiting: VecDeque<Subset>,
    climber: Option<Climber>,
}

/// A chromosome on its way to the wanted size.
#[derive(Debug)]
struct Climber {
    subset: Subset,
    /// The sweeps it has before it; when there are none it is evaluated as it is.
    left: VecDeque<Sweep>,
    /// None for a first chromosome.
    parents: Option<Parents>,
}

/// The sweeps of local improvement from one size to another; at most `limit` features are in at any time.
fn improvement(from: usize, to: usize, limit: usize, ripple: usize) -> VecDeque<Sweep> {
    let (mut sweeps, mut size) = (VecDeque::new(), from);
    let mut ripples = |onward: Sweep| {
        let room = match onward {
            Sweep::Add => limit - size,
            Sweep::Remove => size - 1,
        };
        let steps = ripple.min(room);
        sweeps.extend(std::iter::repeat_n(onward, steps));
        sweeps.extend(std::iter::repeat_n(onward.opposite(), steps.saturating_sub(1)));
        match onward {
            Sweep::Add => size += steps.min(1),
            Sweep::Remove => size -= steps.min(1),
        }
    };
    if from == to && to < limit {
        ripples(Sweep::Add);
        ripples(Sweep::Remove);
    } else if from == to && to > 1 {
        ripples(Sweep::Remove);
        ripples(Sweep::Add);
    }
    for _ in from..to {
        ripples(Sweep::Add);
    }
    for _ in to..from {
        ripples(Sweep::Remove);
    }
    sweeps
}

impl Hga {
    fn climb(&mut self, subset: Subset, parents: Option<Parents>) {
        let (size, limit) = (self.schedule.size(), self.space.limit());
        let left = improvement(subset.count(), size, limit, self.params.ripple);
        self.climber = Some(Climber { subset, left, parents });
    }

    fn breed(&self, iteration: &Iteration<'_>) -> (Subset, Parents) {
        let HgaParams { crossover_rate, mutation_rate, selection_pressure, .. } = self.params;
        let breeding = Breeding { crossover_rate, mutation_rate, selection_pressure };
        self.population.breed(&breeding, &self.space, &mut iteration.rng(0))
    }
}

impl Algorithm for Hga {
    type Params = HgaParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Hybrid genetic algorithm",
        family: Family::Genetic,
        year: 2004,
        paper: "I.-S. Oh, J.-S. Lee, B.-R. Moon, Hybrid genetic algorithms for feature selection, IEEE Trans. PAMI 26",
        doi: "10.1109/TPAMI.2004.105",
        aliases: &[],
        summary: "steady-state GA with local search: each child is brought to the wanted size by greedy additions and removals",
        evaluations: Some(8000),
        objective: Objective::Error,
    };
    const PROTOCOL: Protocol = Protocol::LEAVE_ONE_OUT;
    const PRESETS: &'static [(&'static str, &'static str)] = &[
        ("hga(1)", r#"{"ripple": 1}"#),
        ("hga(2)", r#"{"ripple": 2}"#),
        ("hga(3)", r#"{"ripple": 3}"#),
        ("hga(4)", r#"{"ripple": 4}"#),
    ];

    fn start(params: HgaParams, space: &Space) -> Self {
        let schedule = Schedule::new(params.size, space);
        let (population, waiting) = (Population::default(), VecDeque::new());
        Self { params, space: space.clone(), schedule, population, waiting, climber: None }
    }
}

impl Optimizer for Hga {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        if self.schedule.advance(iteration.fraction) {
            let size = self.schedule.size();
            self.population = Population::default();
            self.climber = None;
            self.waiting = (0..self.params.population)
                .map(|slot| random_chromosome(&self.space, size, &mut iteration.rng(slot)))
                .collect();
        }
        if self.climber.is_none() {
            if let Some(subset) = self.waiting.pop_front() {
                self.climb(subset, None);
            } else {
                let (child, parents) = self.breed(iteration);
                self.climb(child, Some(parents));
            }
        }
        self.climber.as_ref().map_or_else(Vec::new, |climber| match climber.left.front() {
            Some(sweep) => sweep.of(&climber.subset),
            None => vec![climber.subset.clone()],
        })
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        let (Some(best), Some(mut climber)) = (sweep::best(evaluations), self.climber.take())
        else {
            return;
        };
        climber.subset = best.subset.clone();
        climber.left.pop_front();
        if !climber.left.is_empty() {
            self.climber = Some(climber);
            return;
        }
        match climber.parents {
            Some(parents) => self.population.replace(parents, climber.subset, best.cost),
            None => self.population.insert(climber.subset, best.cost),
        }
    }

    fn is_eligible(&self, subset: &Subset) -> bool {
        self.schedule.accepts(subset.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, rugged, toy};
    use proptest::prelude::*;

    /// The number of subsets that these sweeps evaluate over `n` features, from `size` on.
    fn evaluations(sweeps: impl IntoIterator<Item = Sweep>, n: usize, mut size: usize) -> usize {
        let mut requested = 0;
        for sweep in sweeps {
            match sweep {
                Sweep::Add => (requested, size) = (requested + n - size, size + 1),
                Sweep::Remove => (requested, size) = (requested + size, size - 1),
            }
        }
        requested
    }

    #[test]
    fn ripple_moves_take_the_worked_numbers_of_evaluations() {
        use Sweep::{Add, Remove};
        assert_eq!(improvement(1, 2, 5, 2), [Add, Add, Remove]);
        assert_eq!(evaluations(improvement(1, 2, 5, 2), 5, 1), 4 + 3 + 3);
        assert_eq!(improvement(3, 2, 5, 2), [Remove, Remove, Add]);
        assert_eq!(evaluations(improvement(3, 2, 5, 2), 5, 3), 3 + 2 + 4);
        assert_eq!(improvement(2, 2, 5, 1), [Add, Remove]);
        assert_eq!(improvement(0, 2, 5, 1), [Add, Add]);
        // At the limit it first makes room; alone at the limit it cannot move.
        assert_eq!(improvement(3, 3, 3, 2), [Remove, Remove, Add, Add]);
        assert_eq!(improvement(1, 1, 1, 4), []);
    }

    #[test]
    fn local_improvement_of_the_worked_example_takes_its_path() {
        let params = HgaParams { size: Some(2), ..HgaParams::default() };
        let mut search = Hga::start(params, &Space::new(4, 4));
        search.schedule.advance(0.0);
        search.climb(Subset::from_indices(4, [0, 2]), None);
        let history = drive(&mut search, 2, toy);
        assert_eq!(history.iter().map(Vec::len).sum::<usize>(), 5);
        let (found, cost) = &search.population.members()[0];
        assert!(found.iter().eq([1, 2]));
        assert_eq!(cost.value(), 1.0 - 0.90);
    }

    proptest! {
        #[test]
        fn improvement_ends_at_its_size_within_the_limit(
            limit in 1usize..20, from in 0usize..20, to in 1usize..20, ripple in 1usize..5,
        ) {
            let (from, to) = (from.min(limit), to.min(limit));
            let mut size = from;
            for sweep in improvement(from, to, limit, ripple) {
                size = match sweep { Sweep::Add => size + 1, Sweep::Remove => size - 1 };
                prop_assert!((1..=limit).contains(&size));
            }
            prop_assert_eq!(size, to);
        }

        #[test]
        fn every_member_has_the_wanted_size(
            n in 2usize..12, limit in 1usize..12, size in 1usize..12, ripple in 1usize..5, seed: u64,
        ) {
            let space = Space::new(n, limit);
            let params = HgaParams { size: Some(size), ripple, population: 4, ..HgaParams::default() };
            let mut search = Hga::start(params, &space);
            let history = drive(&mut search, 100, rugged(seed));
            let size = size.min(space.limit());
            let members = search.population.members();
            prop_assert!(members.iter().all(|(subset, _)| subset.count() == size));
            prop_assert!(members.windows(2).all(|pair| pair[0].1 <= pair[1].1));
            prop_assert!(history.iter().flatten().all(|t| (1..=space.limit()).contains(&t.subset.count())));
        }
    }
}
