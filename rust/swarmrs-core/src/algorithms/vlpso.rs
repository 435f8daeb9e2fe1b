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
use crate::operators::settings::{
    DIVISIONS, EXEMPLAR_GAP, EXEMPLAR_PULL, FULL_PARTICLES, INERTIA, INERTIA_END, ITERATIONS,
    Inertia, KEEP_CUT_BESTS, LENGTH_GAP, POPULATION_BY_FEATURES, THRESHOLD, VELOCITY_LIMIT,
    population_by_features,
};
use crate::operators::variable_length::{Rules, VariableSwarm};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, Field, Optimizer, Params, Space, Turn,
};
use serde::{Deserialize, Serialize};

/// Settings of [`Vlpso`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VlpsoParams {
    population: Option<usize>,
    iterations: u64,
    inertia: f64,
    inertia_end: f64,
    social: f64,
    velocity_limit: f64,
    threshold: f64,
    refresh_gap: usize,
    divisions: usize,
    length_gap: Option<usize>,
    full_particles: bool,
    keep_cut_bests: bool,
}

impl Default for VlpsoParams {
    fn default() -> Self {
        Self {
            population: None,
            iterations: 100,
            inertia: 0.9,
            inertia_end: 0.4,
            social: 1.494_45,
            velocity_limit: 0.6,
            threshold: 0.6,
            refresh_gap: 7,
            divisions: 12,
            length_gap: Some(9),
            full_particles: true,
            keep_cut_bests: false,
        }
    }
}

impl Params for VlpsoParams {
    const FIELDS: &'static [Field] = &[
        POPULATION_BY_FEATURES,
        ITERATIONS,
        INERTIA,
        INERTIA_END,
        EXEMPLAR_PULL,
        VELOCITY_LIMIT,
        THRESHOLD,
        EXEMPLAR_GAP,
        DIVISIONS,
        LENGTH_GAP,
        FULL_PARTICLES,
        KEEP_CUT_BESTS,
    ];
}

/// A swarm of particles of different lengths.
#[derive(Debug)]
pub struct Vlpso {
    swarm: VariableSwarm,
}

impl Algorithm for Vlpso {
    type Params = VlpsoParams;
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
        let VlpsoParams { iterations, social, velocity_limit, threshold, .. } = params;
        let rules = Rules {
            flight: Flight { social, velocity_limit, threshold },
            inertia: Inertia { start: params.inertia, end: params.inertia_end, iterations },
            refresh_gap: params.refresh_gap,
            divisions: params.divisions,
            length_gap: params.length_gap,
            full_particles: params.full_particles,
            keep_cut_bests: params.keep_cut_bests,
            search: None,
        };
        let population = population_by_features(params.population, space.n_features());
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
        assert_eq!(column("moves")[9..12], [9.0, 9.0, 10.0]);
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
        let params: VlpsoParams = crate::search::algorithm::read_params("vlpso", &given).unwrap();
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
            assert_eq!(notes.last().unwrap()[0], ("moves", 100.0));
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
