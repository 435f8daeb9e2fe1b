//! Minimizes a cost of your own over bit strings: `cargo run --release --example own_objective`.
//!
//! The problem is maximum cut: split the nodes of a graph in two parts so that as many edges as possible have their ends in
//! different parts. A bit says which part a node is in. The graph is bipartite under a hidden labeling, so the best cut has
//! all of its edges.

use serde_json::json;
use std::error::Error;
use swarmrs_core::base::random::{Phase, Streams};
use swarmrs_core::base::subset::Subset;
use swarmrs_core::evaluate::{Evaluator, Measures};
use swarmrs_core::run::{Run, Spec};

const N_NODES: usize = 24;
const N_EDGES: usize = 70;

/// The cost of a cut: the number of edges within a part.
struct Uncut {
    edges: Vec<(usize, usize)>,
}

impl Evaluator for Uncut {
    fn evaluate(&mut self, subsets: &[Subset]) -> swarmrs_core::Result<Vec<Measures>> {
        let cost = |part: &Subset| {
            let is_uncut = |&&(a, b): &&(usize, usize)| part.contains(a) == part.contains(b);
            self.edges.iter().filter(is_uncut).count() as f64
        };
        // Lower is better, and any finite number will do.
        Ok(subsets.iter().map(|part| Measures::from_error(cost(part))).collect())
    }

    /// The empty part is a cut like any other.
    fn allows_empty(&self) -> bool {
        true
    }
}

/// Random edges between nodes of different hidden labels.
fn graph() -> Vec<(usize, usize)> {
    let mut rng = Streams::new(0).rng(0, Phase::Ask, 0);
    let mut label: Vec<bool> = (0..N_NODES).map(|node| node % 2 == 0).collect();
    rng.shuffle(&mut label);
    let mut edges = Vec::with_capacity(N_EDGES);
    while edges.len() < N_EDGES {
        let (a, b) = (rng.below(N_NODES), rng.below(N_NODES));
        if label[a] != label[b] && !edges.contains(&(a, b)) && !edges.contains(&(b, a)) {
            edges.push((a, b));
        }
    }
    edges
}

fn main() -> Result<(), Box<dyn Error>> {
    for algorithm in ["random", "sffs", "ga", "pbpso", "upso2d"] {
        let spec: Spec = serde_json::from_value(json!({
            "algorithm": algorithm,
            "seed": 1,
            // For tables only; required all the same.
            "evaluation": {"classifier": "knn", "weights": "uniform", "folds": {"scheme": "loo"}},
            "objective": {"kind": "error"},
            "budget": {"evaluations": 4000, "cost": 0.0},
            "memory": 1 << 26,
        }))?;
        let scorer = Uncut { edges: graph() };
        let found = Run::over_bits(&spec, N_NODES, Box::new(scorer))?.execute(None, &mut [])?;
        println!(
            "{algorithm:7} {:2} of {N_EDGES} edges uncut after {:4} evaluations ({:?})",
            found.cost.value(),
            found.evaluations.total,
            found.stop,
        );
    }
    Ok(())
}
