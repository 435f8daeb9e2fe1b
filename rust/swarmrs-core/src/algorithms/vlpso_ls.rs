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

use crate::evaluate::Protocol;
use crate::objective::Objective;
use crate::operators::learners::Flight;
use crate::operators::local_search::Effort;
use crate::operators::settings::{
    DIVISIONS, EXEMPLAR_GAP, FULL_PARTICLES, INERTIA, INERTIA_END, ITERATIONS, Inertia,
    KEEP_CUT_BESTS, LENGTH_GAP, POPULATION_BY_FEATURES, SOCIAL, THRESHOLD, VELOCITY_LIMIT,
    population_by_features,
};
use crate::operators::variable_length::{Rules, VariableSwarm};
use crate::search::{
    Algorithm, Allowed, Card, Evaluation, Family, Field, Optimizer, Params, Space, Turn,
};
use crate::subset::Subset;
use serde::{Deserialize, Serialize};

/// Settings of [`VlpsoLs`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VlpsoLsParams {
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
    tries: usize,
    flip_rate: f64,
    search_every: u64,
    search_until: u64,
}

impl Default for VlpsoLsParams {
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
            tries: 100,
            flip_rate: 0.25,
            search_every: 2,
            search_until: 20,
        }
    }
}

impl Params for VlpsoLsParams {
    const FIELDS: &'static [Field] = &[
        POPULATION_BY_FEATURES,
        ITERATIONS,
        INERTIA,
        INERTIA_END,
        SOCIAL,
        VELOCITY_LIMIT,
        THRESHOLD,
        EXEMPLAR_GAP,
        DIVISIONS,
        LENGTH_GAP,
        FULL_PARTICLES,
        KEEP_CUT_BESTS,
        Field {
            name: "tries",
            allowed: Allowed::AtLeast(1.0),
            about: "tries around each best that is searched",
        },
        Field {
            name: "flip_rate",
            allowed: Allowed::Above(0.0, 1.0),
            about: "the share of a best's features that a try looks at",
        },
        Field {
            name: "search_every",
            allowed: Allowed::AtLeast(1.0),
            about: "new bests are searched in iterations that are multiples of this",
        },
        Field {
            name: "search_until",
            allowed: Allowed::AtLeast(0.0),
            about: "and lie below this; those of the start always are",
        },
    ];
}

/// A swarm of particles of different lengths whose bests are searched.
#[derive(Debug)]
pub struct VlpsoLs {
    swarm: VariableSwarm,
}

impl Algorithm for VlpsoLs {
    type Params = VlpsoLsParams;
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
        let VlpsoLsParams { iterations, social, velocity_limit, threshold, .. } = params;
        let rules = Rules {
            flight: Flight { social, velocity_limit, threshold },
            inertia: Inertia { start: params.inertia, end: params.inertia_end, iterations },
            refresh_gap: params.refresh_gap,
            divisions: params.divisions,
            length_gap: params.length_gap,
            full_particles: params.full_particles,
            keep_cut_bests: params.keep_cut_bests,
            search: Some(Effort {
                tries: params.tries,
                flip_rate: params.flip_rate,
                every: params.search_every,
                until: params.search_until,
            }),
        };
        let population = population_by_features(params.population, space.n_features());
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
