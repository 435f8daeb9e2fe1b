//! Selects features of a table: `cargo run --release --example select`.
//!
//! The table is made here: 120 rows of three classes, 20 features of which the first three separate the classes.

use serde_json::json;
use std::error::Error;
use std::ops::ControlFlow;
use swarmrs_core::base::random::{Phase, Streams};
use swarmrs_core::data::dataset::{Dataset, Scale};
use swarmrs_core::evaluate::Resources;
use swarmrs_core::run::{Run, Spec};
use swarmrs_core::search::observer::{IterationRecord, Observer};

const N_SAMPLES: usize = 120;
const N_FEATURES: usize = 20;
const N_INFORMATIVE: usize = 3;
const N_CLASSES: usize = 3;

/// Normal noise everywhere; the mean of an informative feature grows by 1.5 from class to class.
fn table() -> swarmrs_core::Result<Dataset> {
    let mut rng = Streams::new(0).rng(0, Phase::Ask, 0);
    let mut columns = Vec::with_capacity(N_FEATURES * N_SAMPLES);
    for feature in 0..N_FEATURES {
        for row in 0..N_SAMPLES {
            let class = row % N_CLASSES;
            let mean = if feature < N_INFORMATIVE { 1.5 * class as f64 } else { 0.0 };
            columns.push(mean + rng.normal());
        }
    }
    let classes = (0..N_SAMPLES).map(|row| (row % N_CLASSES) as u32).collect();
    let names = (0..N_FEATURES).map(|feature| format!("x{feature}")).collect();
    Dataset::new(&columns, classes, N_CLASSES, names, Scale::Standard)
}

/// Prints each improvement, and stops the run after a number of iterations without one.
struct Patience {
    iterations: u64,
    last: Option<(u64, f64)>,
}

impl Observer for Patience {
    fn iteration_done(&mut self, record: &IterationRecord<'_>) -> ControlFlow<()> {
        let cost = record.best.cost.value();
        match self.last {
            Some((improved, best)) if cost >= best => {
                if record.iteration - improved >= self.iterations {
                    return ControlFlow::Break(());
                }
            }
            _ => {
                let size = record.best.subset.count();
                println!("iteration {:3}: error {cost:.4}, {size} features", record.iteration);
                self.last = Some((record.iteration, cost));
            }
        }
        ControlFlow::Continue(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let data = table()?;
    let spec: Spec = serde_json::from_value(json!({
        "algorithm": "upso2d",
        "seed": 1,
        "evaluation": {
            "classifier": "knn",
            "k": 5,
            "metric": "euclidean",
            "weights": "uniform",
            "folds": {"scheme": "kfold", "k": 10, "shuffle": true, "seed": 0},
        },
        "objective": {"kind": "error"},
        "budget": {"evaluations": 6000},
        "memory": 1 << 28,
    }))?;
    let mut patience = Patience { iterations: 30, last: None };
    let run = Run::new(&spec, &data, Resources::with_threads(0), None)?;
    let selection = run.execute(None, &mut [&mut patience])?;

    let names: Vec<&str> = selection.selected.iter().map(|&at| data.names()[at].as_str()).collect();
    println!("selected {} of {} features: {}", selection.size, data.n_features(), names.join(" "));
    println!(
        "accuracy {:.4} (optimistic: these folds chose the features)",
        selection.scores.accuracy
    );
    println!("stopped after {} evaluations: {:?}", selection.evaluations.total, selection.stop);
    Ok(())
}
