//! What the tests of the whole crate share: a made table, runs on it, and scorers that need no table.

// Each test crate uses its own part of this file.
#![allow(dead_code)]

use serde_json::{Map, Value};
use std::ops::ControlFlow;
use swarmrs_core::algorithms::{Entry, find};
use swarmrs_core::base::clock::Clock;
use swarmrs_core::base::error::Result;
use swarmrs_core::base::parallel::Pool;
use swarmrs_core::base::random::Streams;
use swarmrs_core::base::subset::Subset;
use swarmrs_core::data::dataset::{Dataset, Scale};
use swarmrs_core::data::folds::FoldSpec;
use swarmrs_core::evaluate::{
    Classifier, EvaluationRequest, Evaluator, Measures, Metric, Resources, ScaleFit, Weights,
};
use swarmrs_core::problem::budget::Budget;
use swarmrs_core::problem::constraints::Constraints;
use swarmrs_core::problem::objective::CostFunction;
use swarmrs_core::run::selection::Selection;
use swarmrs_core::run::{Answer, Run, Spec};
use swarmrs_core::search::algorithm::{Evaluation, Optimizer};
use swarmrs_core::search::engine::{Engine, Outcome};
use swarmrs_core::search::observer::{IterationRecord, Observer};

/// Rows and features of the made table.
pub const N_SAMPLES: usize = 60;
/// ... of which the first five tell the three classes apart, each less than the one before.
pub const N_FEATURES: usize = 16;

/// The made table. Row i is of class i mod 3. Noise comes from s <- (1103515245 s + 12345) mod 2^31, from s = 1, column
/// after column, as (s div 65536) mod 100; to feature f < 5 of a row of class c is added c (50 - 8 f).
pub fn table() -> Dataset {
    let mut state: u64 = 1;
    let mut columns = Vec::with_capacity(N_FEATURES * N_SAMPLES);
    for feature in 0..N_FEATURES {
        for row in 0..N_SAMPLES {
            state = (1_103_515_245 * state + 12_345) % (1 << 31);
            let signal = if feature < 5 { (row % 3) * (50 - 8 * feature) } else { 0 };
            columns.push((state / 65_536 % 100) as f64 + signal as f64);
        }
    }
    let codes = (0..N_SAMPLES as u32).map(|row| row % 3).collect();
    let names = (0..N_FEATURES).map(|feature| format!("f{feature}")).collect();
    Dataset::new(&columns, codes, 3, names, Scale::Minmax).unwrap()
}

/// A run of `algorithm` on the made table: 3-NN, Manhattan, five folds. A population that follows from the number of
/// features is made small, so that a short run has many iterations.
pub fn spec(algorithm: &str, evaluations: u64) -> Spec {
    let defaults = find(algorithm).unwrap().defaults();
    let small = defaults.get("population").is_some_and(Value::is_null);
    Spec {
        algorithm: algorithm.to_owned(),
        params: params(if small { r#"{"population": 12}"# } else { "{}" }),
        seed: 1,
        evaluation: EvaluationRequest {
            classifier: Classifier::Knn,
            k: Some(3),
            metric: Some(Metric::Manhattan),
            weights: Weights::Uniform,
            alpha: None,
            scale_fit: ScaleFit::All,
            folds: FoldSpec::Kfold { k: 5, shuffle: false, seed: 0 },
        },
        objective: None,
        scoring: None,
        budget: Budget { evaluations: Some(evaluations), ..Budget::default() },
        include: Vec::new(),
        exclude: Vec::new(),
        max_features: None,
        prescreen: None,
        together: Vec::new(),
        one_per_group: false,
        groups: None,
        answer: Answer::Best,
        memory: 1 << 26,
    }
}

/// Runs a spec on the made table.
pub fn select(spec: &Spec, resources: Resources, observers: &mut [&mut dyn Observer]) -> Selection {
    let data = table();
    let run = Run::new(spec, &data, resources, None);
    run.and_then(|run| run.execute(None, observers))
        .unwrap_or_else(|error| panic!("{}: {error}", spec.algorithm))
}

/// A selection as JSON without what no two runs share: its times.
pub fn timeless(selection: &Selection) -> Value {
    let mut value = serde_json::to_value(selection).unwrap();
    value.as_object_mut().unwrap().remove("seconds");
    value
}

/// Costs from a function of the subset.
pub struct Scorer<F>(pub F);

impl<F: Fn(&Subset) -> f64 + Send> Evaluator for Scorer<F> {
    fn evaluate(&mut self, subsets: &[Subset]) -> Result<Vec<Measures>> {
        Ok(subsets.iter().map(|subset| Measures::from_error((self.0)(subset))).collect())
    }
}

/// Settings from JSON text.
pub fn params(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap()
}

/// Runs an optimizer on `n` features, of which at most `limit` may be in, against a scorer.
pub fn search(
    optimizer: Box<dyn Optimizer>,
    (n, limit): (usize, usize),
    evaluations: u64,
    seed: u64,
    score: impl Fn(&Subset) -> f64 + Send,
) -> Outcome {
    let constraints = Constraints::new(n, &[], &[], Some(limit)).unwrap();
    let engine = Engine {
        optimizer,
        evaluator: &mut Scorer(score),
        cost_function: CostFunction::error(n),
        budget: Budget { evaluations: Some(evaluations), ..Budget::default() },
        streams: Streams::new(seed),
        constraints: &constraints,
        pool: &Pool::new(1),
        replay: None,
        memory: 1 << 24,
        clock: Clock::start(),
    };
    engine.run(&mut []).unwrap()
}

/// The optimizer of an entry with some settings changed.
pub fn started(entry: &Entry, (n, limit): (usize, usize), given: &str) -> Box<dyn Optimizer> {
    let space = Constraints::new(n, &[], &[], Some(limit)).unwrap().space();
    entry.start(&params(given), &space).unwrap_or_else(|error| panic!("{}: {error}", entry.id)).0
}

/// Calls a function with every iteration, and goes on.
pub struct Watch<F>(pub F);

impl<F: FnMut(&IterationRecord<'_>)> Observer for Watch<F> {
    fn iteration_done(&mut self, record: &IterationRecord<'_>) -> ControlFlow<()> {
        (self.0)(record);
        ControlFlow::Continue(())
    }
}

/// Stops a run after so many iterations.
pub struct StopAfter(pub u64);

impl Observer for StopAfter {
    fn iteration_done(&mut self, record: &IterationRecord<'_>) -> ControlFlow<()> {
        if record.iteration + 1 >= self.0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Whether the first is what a run should prefer, were both measured in this order.
pub fn beats(new: &Evaluation, old: &Evaluation) -> bool {
    (new.cost, new.subset.count()) < (old.cost, old.subset.count())
}
