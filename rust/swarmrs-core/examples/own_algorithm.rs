//! Runs a search algorithm of your own on the built-in k-NN: `cargo run --release --example own_algorithm`.
//!
//! The algorithm is simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983, <https://doi.org/10.1126/science.220.4598.671>)
//! with several independent chains. Each iteration flips one bit of the subset of each chain. A chain moves to a
//! better subset always, and to a worse one with probability exp(-(increase of cost) / T), where the temperature T falls
//! to 0 in proportion to the budget that is left.

use std::error::Error;
use std::sync::Arc;
use swarmrs_core::base::clock::Clock;
use swarmrs_core::base::math::exp;
use swarmrs_core::base::parallel::Pool;
use swarmrs_core::base::random::{Phase, Streams};
use swarmrs_core::base::subset::Subset;
use swarmrs_core::data::dataset::{Dataset, Scale};
use swarmrs_core::data::folds::FoldSpec;
use swarmrs_core::evaluate::{
    Classifier, EvaluationSpec, Metric, Resources, ScaleFit, Weights, build,
};
use swarmrs_core::problem::budget::Budget;
use swarmrs_core::problem::constraints::Constraints;
use swarmrs_core::problem::objective::CostFunction;
use swarmrs_core::search::algorithm::{Evaluation, Iteration, Optimizer, Space};
use swarmrs_core::search::engine::Engine;

const N_SAMPLES: usize = 120;
const N_FEATURES: usize = 20;
const N_INFORMATIVE: usize = 4;

/// Simulated annealing: the subset of each chain with its cost.
struct Annealing {
    space: Space,
    n_chains: usize,
    /// The temperature at the start, in units of the cost.
    temperature: f64,
    chains: Vec<Evaluation>,
}

impl Optimizer for Annealing {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        if self.chains.is_empty() {
            return (0..self.n_chains)
                .map(|chain| self.space.random(&mut iteration.rng(chain)))
                .collect();
        }
        let neighbor = |(chain, state): (usize, &Evaluation)| {
            // One stream for each chain and phase: the result depends on the seed alone.
            let mut rng = iteration.rng(chain);
            let mut subset = state.subset.clone();
            let feature = rng.below(subset.len());
            subset.set(feature, !subset.contains(feature));
            // Constraints hold for every proposal: at most so many features, and at least one.
            self.space.trim(&mut subset, &mut rng);
            self.space.fill(&mut subset, &mut rng);
            subset
        };
        self.chains.iter().enumerate().map(neighbor).collect()
    }

    fn tell(&mut self, iteration: &Iteration<'_>, evaluations: &[Evaluation]) {
        if self.chains.is_empty() {
            self.chains = evaluations.to_vec();
            return;
        }
        let temperature = self.temperature * (1.0 - iteration.fraction);
        for (chain, (state, proposed)) in self.chains.iter_mut().zip(evaluations).enumerate() {
            let increase = proposed.cost.value() - state.cost.value();
            if increase <= 0.0 || iteration.rng(chain).bernoulli(exp(-increase / temperature)) {
                *state = proposed.clone();
            }
        }
    }

    /// An extra column of the trace.
    fn diagnostics(&self) -> Vec<(&'static str, f64)> {
        let total: f64 = self.chains.iter().map(|state| state.cost.value()).sum();
        vec![("mean_cost", total / self.chains.len() as f64)]
    }
}

/// Normal noise everywhere; an informative feature is greater by 1 in the second class.
fn table() -> swarmrs_core::Result<Dataset> {
    let mut rng = Streams::new(0).rng(0, Phase::Ask, 0);
    let mut columns = Vec::with_capacity(N_FEATURES * N_SAMPLES);
    for feature in 0..N_FEATURES {
        for row in 0..N_SAMPLES {
            let is_shifted = feature < N_INFORMATIVE && row % 2 == 1;
            columns.push(f64::from(u8::from(is_shifted)) + rng.normal());
        }
    }
    let classes = (0..N_SAMPLES).map(|row| (row % 2) as u32).collect();
    let names = (0..N_FEATURES).map(|feature| format!("x{feature}")).collect();
    Dataset::new(&columns, classes, 2, names, Scale::Standard)
}

fn main() -> Result<(), Box<dyn Error>> {
    let data = table()?;
    let knn = EvaluationSpec {
        classifier: Classifier::Knn,
        k: 5,
        metric: Metric::Euclidean,
        weights: Weights::Uniform,
        alpha: None,
        scale_fit: ScaleFit::All,
        folds: FoldSpec::Kfold { k: 10, shuffle: true, seed: 0 },
    };
    let pool = Arc::new(Pool::new(0));
    let resources = Resources { pool: Arc::clone(&pool), ..Resources::default() };
    let (mut evaluator, _warnings) = build(&data, &knn, false, resources)?;
    // No feature is forced in or out, and at most ten are selected.
    let constraints = Constraints::new(N_FEATURES, &[], &[], Some(10))?;
    let annealing = Annealing {
        space: constraints.space(),
        n_chains: 10,
        temperature: 0.02,
        chains: Vec::new(),
    };
    let outcome = Engine {
        optimizer: Box::new(annealing),
        evaluator: &mut *evaluator,
        cost_function: CostFunction::error(N_FEATURES),
        budget: Budget { evaluations: Some(3000), ..Budget::default() },
        streams: Streams::new(1),
        constraints: &constraints,
        pool: &pool,
        replay: None,
        memory: 1 << 26,
        clock: Clock::start(),
    }
    .run(&mut [])?;
    let best = outcome.best.ok_or("the run was interrupted before its first evaluation")?;
    let names: Vec<&str> = best.subset.iter().map(|at| data.names()[at].as_str()).collect();
    println!("selected {} of {N_FEATURES} features: {}", names.len(), names.join(" "));
    println!("cross-validation error {:.4} (optimistic)", best.measures.error);
    println!(
        "{} evaluations, {} unique, in {} iterations",
        outcome.evaluations.total, outcome.evaluations.unique, outcome.iterations
    );
    Ok(())
}
