//! Variable-length PSO with local search on the own bests of particles.
//!
//! The swarm is that of `vlpso`. Whenever particles have improved their own bests, at the start and in the iterations t
//! that are multiples of `search_every` below `search_until`, each such best is searched for `tries` tries:
//!
//! ```text
//! F = max(1, floor(flip_rate |X|));  z = round(u min(F, L - |X|));  o = F - z       X the best, L its length
//! draw o features of X and z features not in X
//! b of the o goes out where some kept a of the o that is more relevant has SU(a, b) > SU(b, class)
//! f of the z comes in where SU(f, class) > the mean SU of the o with the class
//! X <- the changed X where it costs less, or as much with fewer features
//! ```
//!
//! A sample that changes nothing is drawn again, ten times at the most; then the try is skipped. A best that was improved
//! gets the coordinates 1 and 0; the particle itself does not move. All searches run side by side, one try of each a turn.
//!
//! The paper leaves the schedule and the size of the portion open and compares with all selected features; this is the
//! authors' program, which compares inside the drawn portion. Where o = 0 the mean is over X. What would exceed
//! a limit on features does not come in. Where nothing is known of the features there is no local search. Chance comes from
//! slot 2 P + i.
//!
//! B. Tran, B. Xue, M. Zhang, Variable-length particle swarm optimization for feature selection on high-dimensional
//! classification, IEEE Trans. Evolutionary Computation 23 (2019), doi:10.1109/TEVC.2018.2869405

use super::vlpso::VlpsoParams;
use crate::base::subset::Subset;
use crate::evaluate::Protocol;
use crate::operators::local_search::Effort;
use crate::operators::variable_length::{Rules, VariableSwarm};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, MOST_STEPS, MOST_TRIES, Optimizer, Space, Turn,
    params,
};

params! {
    /// Settings of [`VlpsoLs`].
    pub struct VlpsoLsParams {
        ..swarm: VlpsoParams;
        tries: usize = 100, Allowed::Whole(1, MOST_TRIES),
            "tries around each best that is searched";
        flip_rate: f64 = 0.25, Allowed::Above(0.0, 1.0),
            "the share of a best's features that a try looks at";
        search_every: u64 = 2, Allowed::Whole(1, MOST_STEPS),
            "new bests are searched in iterations that are multiples of this";
        search_until: u64 = 20, Allowed::Whole(0, MOST_STEPS),
            "and lie below this; those of the start always are";
    }
}

/// A swarm of particles of different lengths whose bests are searched.
#[derive(Debug)]
pub struct VlpsoLs {
    swarm: VariableSwarm,
}

impl Algorithm for VlpsoLs {
    type Params = VlpsoLsParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Variable-length PSO with local search",
        family: Family::Swarm,
        year: 2019,
        paper: "B. Tran, B. Xue, M. Zhang, Variable-length particle swarm optimization for feature selection on high-dimensional classification, IEEE Trans. Evolutionary Computation 23",
        doi: "10.1109/TEVC.2018.2869405",
        aliases: &["vlpsols"],
        summary: "variable-length PSO that takes redundant features out of new bests and puts relevant ones in",
        evaluations: None,
        objective: Objective::Hybrid { gamma: 0.8 },
    };
    const PROTOCOL: Protocol = Protocol::NEAREST;
    const USES_FILTER: bool = true;

    fn start(params: VlpsoLsParams, space: &Space) -> Self {
        let effort = Effort {
            tries: params.tries,
            flip_rate: params.flip_rate,
            every: params.search_every,
            until: params.search_until,
        };
        let rules = Rules { search: Some(effort), ..params.swarm.rules() };
        let population = params.swarm.population(space);
        Self { swarm: VariableSwarm::new(population, rules, space) }
    }
}

impl Optimizer for VlpsoLs {
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        self.swarm.ask(turn)
    }

    fn tell(&mut self, turn: &Turn<'_>, told: &[Evaluation]) {
        self.swarm.tell(turn, told);
    }

    fn notes(&self) -> Vec<(&'static str, f64)> {
        self.swarm.notes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::parallel::Pool;
    use crate::filter::{Filter, Levels};
    use crate::testing::{Noted, drive, drive_noting};
    use std::sync::Arc;

    const N: usize = 48;

    /// Two classes and 48 features: every fourth follows the class but for some rows, fewer the earlier it stands; the one
    /// after it is its copy; the other two are noise.
    fn space() -> Space {
        let codes: Vec<u32> = (0..120).map(|row| row % 2).collect();
        let value = |feature: usize, row: usize| {
            let (kind, signal) = (feature % 4, feature / 4);
            let is_wrong = row * 7 % 120 < 3 * signal;
            match kind {
                0 | 1 => f64::from(codes[row] ^ u32::from(is_wrong)),
                _ => ((row * (2 * feature + 3)) % 31) as f64,
            }
        };
        let values: Vec<f64> = (0..N)
            .flat_map(|feature| (0..120).map(move |row| (feature, row)))
            .map(|(f, r)| value(f, r))
            .collect();
        let levels = Arc::new(Levels::new(&values, &codes, 2, &Pool::new(1)));
        let all: Vec<usize> = (0..N).collect();
        Space::new(N, N).with_filter(Arc::new(Filter::new(levels, &all, 1 << 20)))
    }

    fn few() -> VlpsoLsParams {
        let swarm = VlpsoParams { population: Some(24), ..VlpsoParams::default() };
        VlpsoLsParams { swarm, ..VlpsoLsParams::default() }
    }

    fn started(space: &Space) -> VlpsoLs {
        let params = VlpsoLsParams { tries: 10, ..few() };
        VlpsoLs::start(params, space)
    }

    /// Lower for every fourth feature, higher for all others.
    fn cost(x: &Subset) -> f64 {
        let good = x.iter().filter(|feature| feature % 4 == 0).count();
        0.5 - 0.03 * good as f64 + 0.01 * (x.count() - good) as f64
    }

    fn column(notes: &Noted, name: &str) -> Vec<f64> {
        let of = |row: &Vec<(&str, f64)>| row.iter().find(|(key, _)| *key == name).unwrap().1;
        notes.iter().map(of).collect()
    }

    #[test]
    fn bests_are_searched_side_by_side_after_the_start() {
        let (history, notes) = drive_noting(&mut started(&space()), 12, cost);
        assert_eq!(column(&notes, "searches")[0], 24.0);
        // A start of 24, ten rounds with a try of each, then the first move.
        assert_eq!(column(&notes, "iteration")[..12], [[0.0; 11].as_slice(), &[1.0]].concat());
        assert_eq!(history[0].len(), 24);
        assert!(history[1..11].iter().all(|turn| (1..=24).contains(&turn.len())));
        assert!(column(&notes, "successes")[10] > 0.0);
        // A try changes at most a quarter of what it starts from, which is a best or an earlier try.
        for tried in &history[1] {
            let near = |start: &Evaluation| {
                tried.subset.distance(&start.subset) <= (start.subset.count() / 4).max(1)
            };
            assert!(history[0].iter().any(near));
        }
    }

    #[test]
    fn it_searches_on_schedule_and_does_all_iterations() {
        let (history, notes) = drive_noting(&mut started(&space()), 2000, cost);
        let iterations = column(&notes, "iteration");
        let searched = column(&notes, "searches");
        for (t, n) in iterations.iter().zip(&searched) {
            assert!(*n == 0.0 || *t == 0.0 || (*t < 20.0 && t % 2.0 == 0.0), "{n} in {t}");
        }
        assert!(searched.iter().filter(|n| **n > 0.0).count() > 1);
        assert_eq!(iterations.last(), Some(&100.0));
        assert!(history.len() < 2000);
    }

    #[test]
    fn local_search_is_worth_its_evaluations() {
        let least = |turns: Vec<Vec<Evaluation>>| {
            turns.into_iter().flatten().map(|tried| tried.cost.value()).fold(1.0, f64::min)
        };
        let plain = few();
        let space = space();
        let with = least(drive(&mut VlpsoLs::start(plain.clone(), &space), 3, cost));
        // The first three turns: a start and two rounds of search, against a start and two moves without a filter.
        let without = least(drive(&mut VlpsoLs::start(plain, &Space::new(N, N)), 3, cost));
        assert!(with < without, "{with} {without}");
    }
}
