//! Variable-length PSO: particles search prefixes of the features in order of relevance, and the prefixes grow shorter.
//!
//! Features are ranked by symmetric uncertainty with the class. The population is cut into D divisions of equal size; a
//! particle of division V searches the first L = floor(V n / D) features. Each learns as in comprehensive learning PSO,
//! only from particles that are long enough:
//!
//! ```text
//! v <- w v + c r (p(e) - x), held within ±velocity_limit     c social, e the exemplar of i for feature d
//! x <- x + v, held within [0, 1]
//! a feature is in where x > θ                                θ threshold
//! Pc(i) = 0.05 + 0.45 (exp(10 (k - 1) / (P - 1)) - 1) / (exp(10) - 1)       k the rank of i's own best
//! e = i with chance 1 - Pc(i), else the better best of two others with L > d; i where there are no two
//! ```
//!
//! After `refresh_gap` (α) moves without a better own best a particle draws its exemplars anew. After `length_gap` (β)
//! iterations without a better best of all, lengths change: the division b whose own bests cost least in the mean becomes
//! the longest, the others get floor(L(b) k / D) for k = 1, 2, ... in the order of divisions. Cut particles lose
//! their tails; grown ones get new ones, with nothing in the tail of their own best. Resized positions, and own bests
//! that lost a feature, are evaluated in a turn of their own; then all draw exemplars anew. If b is the longest already,
//! only exemplars are drawn.
//!
//! Where the paper is silent or contradicts itself, with the authors' program as a witness: k advances with every
//! division but b, also where a length does not change; lengths are 1 at least; particles that do not fill a division are
//! dropped; the first particle of each division starts with all its features (`full_particles`); velocities are limited to
//! ±0.6 and start anywhere within; patience is at an end at α, not after it. The program keeps what a cut own best was
//! worth (`keep_cut_bests`). Of equal costs the smaller subset is the better best. The population is a twentieth of the
//! features, 100 to 300. Where nothing is known of the features they stay in the order of the table. Chance comes from slot
//! i for moving, P + i for exemplars, 3 P + i for growing.
//!
//! Two departures: the paper's equation for Pc lacks the -1 in the numerator, which comprehensive learning PSO has and
//! which makes Pc run from 0.05 to 0.5 exactly; and the two candidates of an exemplar are drawn directly from the
//! particles that are long enough, where the paper draws from all and rejects up to P times. The distribution is the
//! same but for the rare case that all draws are rejected.
//!
//! B. Tran, B. Xue, M. Zhang, Variable-length particle swarm optimization for feature selection on high-dimensional
//! classification, IEEE Trans. Evolutionary Computation 23 (2019), doi:10.1109/TEVC.2018.2869405

use crate::base::subset::Subset;
use crate::evaluate::Protocol;
use crate::operators::learners::Flight;
use crate::operators::parameters::{
    EXEMPLAR_GAP, EXEMPLAR_PULL, INERTIA, INERTIA_END, ITERATIONS, Inertia, POPULATION_BY_FEATURES,
    THRESHOLD, VELOCITY_LIMIT, population_by_features,
};
use crate::operators::variable_length::{Rules, VariableSwarm};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, MOST_MEMBERS, MOST_STEPS, Optimizer, Space, Turn,
    params,
};

params! {
    /// Settings of [`Vlpso`].
    pub struct VlpsoParams {
        population: Option<usize> = None, POPULATION_BY_FEATURES;
        iterations: u64 = 100, ITERATIONS;
        inertia: f64 = 0.9, INERTIA;
        inertia_end: f64 = 0.4, INERTIA_END;
        social: f64 = 1.494_45, EXEMPLAR_PULL;
        velocity_limit: f64 = 0.6, VELOCITY_LIMIT;
        threshold: f64 = 0.6, THRESHOLD;
        refresh_gap: usize = 7, EXEMPLAR_GAP;
        divisions: usize = 12, Allowed::Whole(1, MOST_MEMBERS),
            "D, number of divisions of equal particle length, at most one per particle";
        length_gap: Option<usize> = Some(9), Allowed::WholeOrNull(1, MOST_STEPS),
            "beta, iterations without a better global best before lengths change; null for never";
        full_particles: bool = true, Allowed::Flag,
            "the first particle of each division starts with all its features selected";
        keep_cut_bests: bool = false, Allowed::Flag,
            "a shortened personal best keeps its former cost instead of being evaluated again";
    }
}

impl VlpsoParams {
    /// The number of particles.
    pub fn population(&self, space: &Space) -> usize {
        population_by_features(self.population, space.n_features())
    }

    /// What the swarm does, without local search.
    pub fn rules(&self) -> Rules {
        let Self { iterations, social, velocity_limit, threshold, .. } = *self;
        Rules {
            flight: Flight { social, velocity_limit, threshold },
            inertia: Inertia { start: self.inertia, end: self.inertia_end, iterations },
            refresh_gap: self.refresh_gap,
            divisions: self.divisions,
            length_gap: self.length_gap,
            full_particles: self.full_particles,
            keep_cut_bests: self.keep_cut_bests,
            search: None,
        }
    }
}

/// A swarm of particles of different lengths.
#[derive(Debug)]
pub struct Vlpso {
    swarm: VariableSwarm,
}

impl Algorithm for Vlpso {
    type Params = VlpsoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Variable-length PSO",
        family: Family::Swarm,
        year: 2019,
        paper: "B. Tran, B. Xue, M. Zhang, Variable-length particle swarm optimization for feature selection on high-dimensional classification, IEEE Trans. Evolutionary Computation 23",
        doi: "10.1109/TEVC.2018.2869405",
        aliases: &[],
        summary: "particles search prefixes of the features ranked by relevance, which grow shorter when the swarm stalls",
        evaluations: None,
        objective: Objective::Hybrid { gamma: 0.8 },
    };
    const PROTOCOL: Protocol = Protocol::NEAREST;
    const USES_FILTER: bool = true;

    fn start(params: VlpsoParams, space: &Space) -> Self {
        let (population, rules) = (params.population(space), params.rules());
        Self { swarm: VariableSwarm::new(population, rules, space) }
    }
}

impl Optimizer for Vlpso {
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
    use crate::search::algorithm::read_params;
    use crate::testing::{drive, drive_noting, least, onemax};

    fn start(n: usize) -> Vlpso {
        Vlpso::start(VlpsoParams::default(), &Space::new(n, n))
    }

    #[test]
    fn each_division_starts_with_one_full_particle() {
        let history = drive(&mut start(240), 1, onemax);
        assert_eq!(history[0].len(), 96);
        let full = |division: usize| Subset::from_indices(240, 0..20 * (division + 1));
        for (at, tried) in history[0].iter().enumerate() {
            let division = at / 8;
            if at % 8 == 0 {
                assert_eq!(tried.subset, full(division));
            } else {
                assert!(tried.subset.difference(&full(division)).is_empty());
                assert!(tried.subset != full(division));
            }
        }
    }

    #[test]
    fn lengths_change_after_nine_iterations_without_progress_and_no_sooner() {
        // The full particle of the first division is the best there is.
        let first = Subset::from_indices(240, 0..20);
        let cost = |x: &Subset| if *x == first { 0.1 } else { 0.2 + 1e-4 * x.count() as f64 };
        let (history, notes) = drive_noting(&mut start(240), 14, cost);
        let column = |name: &str| -> Vec<f64> {
            let of = |row: &Vec<(&str, f64)>| row.iter().find(|(key, _)| *key == name).unwrap().1;
            notes.iter().map(of).collect()
        };
        // Turns 0 to 9 are the start and nine moves; the tenth iteration begins with new lengths.
        assert_eq!(column("length_changed").iter().position(|&is| is > 0.0), Some(10));
        assert_eq!(column("best_division")[9], 1.0);
        assert_eq!(column("iteration")[9..12], [9.0, 9.0, 10.0]);
        assert_eq!(column("max_length")[9..12], [240.0, 20.0, 20.0]);
        // 11 divisions are resized to floor(20 k / 12); own bests that lost a feature are evaluated again.
        let positions = history[10].len();
        assert!((88..=176).contains(&positions), "{positions}");
        assert!(history[10..].iter().flatten().all(|x| x.subset.difference(&first).is_empty()));
    }

    #[test]
    fn without_a_gap_lengths_never_change() {
        // As a user says it.
        let given = serde_json::from_str(r#"{"length_gap": null}"#).unwrap();
        let params = read_params("vlpso", &VlpsoParams::default(), &given).unwrap();
        let mut swarm = Vlpso::start(params, &Space::new(240, 240));
        let history = drive(&mut swarm, 200, |_| 0.5);
        assert_eq!(history.len(), 101);
        assert!(history.iter().all(|turn| turn.len() == 96));
    }

    #[test]
    fn the_longest_never_grows_and_all_iterations_are_done() {
        for seed in 0..4 {
            let mut swarm = start(60);
            let (history, notes) = drive_noting(&mut swarm, 300, crate::testing::rugged(seed));
            let longest: Vec<f64> = notes.iter().map(|row| row[3].1).collect();
            assert!(longest.is_sorted_by(|a, b| a >= b), "{longest:?}");
            assert_eq!(notes.last().unwrap()[0], ("iteration", 100.0));
            // The end is the swarm's own: all iterations are done.
            assert!(history.len() < 300);
        }
    }

    #[test]
    fn it_finds_a_planted_subset_among_the_first() {
        let planted = Subset::from_indices(60, [0, 1, 3, 4]);
        let history = drive(&mut start(60), 300, |x| x.distance(&planted) as f64 / 60.0);
        assert!(least(&history) <= 1.0 / 60.0, "{}", least(&history));
    }
}
