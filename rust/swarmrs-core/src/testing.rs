//! Drives an optimizer without data, for the tests of algorithms.

use crate::algorithms::find;
use crate::base::parallel::Pool;
use crate::base::random::{Phase, Streams};
use crate::base::subset::Subset;
use crate::evaluate::Measures;
use crate::filter::{Filter, Levels};
use crate::problem::objective::Cost;
use crate::search::algorithm::{Evaluation, Iteration, Optimizer, Space};
use std::sync::Arc;

/// Runs at most `iterations` iterations on a cost function and returns the evaluations of each.
pub fn drive(
    optimizer: &mut dyn Optimizer,
    iterations: u64,
    cost: impl Fn(&Subset) -> f64,
) -> Vec<Vec<Evaluation>> {
    drive_seeded(1, optimizer, iterations, cost)
}

/// [`drive`] with another seed.
pub fn drive_seeded(
    seed: u64,
    optimizer: &mut dyn Optimizer,
    iterations: u64,
    cost: impl Fn(&Subset) -> f64,
) -> Vec<Vec<Evaluation>> {
    driven(seed, optimizer, iterations, cost).0
}

/// The diagnostics of an optimizer, iteration by iteration.
pub type DiagnosticRows = Vec<Vec<(&'static str, f64)>>;

/// [`drive`] that also returns what the optimizer noted of each iteration.
pub fn drive_with_diagnostics(
    optimizer: &mut dyn Optimizer,
    iterations: u64,
    cost: impl Fn(&Subset) -> f64,
) -> (Vec<Vec<Evaluation>>, DiagnosticRows) {
    driven(1, optimizer, iterations, cost)
}

fn driven(
    seed: u64,
    optimizer: &mut dyn Optimizer,
    iterations: u64,
    cost: impl Fn(&Subset) -> f64,
) -> (Vec<Vec<Evaluation>>, DiagnosticRows) {
    let (streams, pool) = (Streams::new(seed), Pool::new(1));
    let mut history: Vec<Vec<Evaluation>> = Vec::new();
    let mut diagnostics = Vec::new();
    for number in 0..iterations {
        let best = history.iter().flatten().min_by_key(|tried| tried.cost);
        let fraction = number as f64 / iterations as f64;
        let iteration = |phase| Iteration {
            number,
            fraction,
            iterations: Some(iterations),
            max_evaluations: None,
            best,
            streams: &streams,
            phase,
            pool: &pool,
        };
        let results: Vec<Evaluation> = optimizer
            .ask(&iteration(Phase::Ask))
            .into_iter()
            .map(|subset| {
                let cost = cost(&subset);
                let measures = Measures { error: cost, ..Measures::WORST };
                Evaluation { subset, measures, cost: Cost::new(cost) }
            })
            .collect();
        if results.is_empty() {
            break;
        }
        optimizer.tell(&iteration(Phase::Tell), &results);
        diagnostics.push(optimizer.diagnostics());
        history.push(results);
    }
    (history, diagnostics)
}

/// The share of features that are missing: least where all are in.
pub fn onemax(subset: &Subset) -> f64 {
    1.0 - subset.count() as f64 / subset.len() as f64
}

/// The least cost of a whole history.
pub fn least(history: &[Vec<Evaluation>]) -> f64 {
    history.iter().flatten().map(|tried| tried.cost.value()).fold(f64::INFINITY, f64::min)
}

/// The subset that a word of zeros and ones spells.
pub fn bits(word: &str) -> Subset {
    Subset::from_fn(word.len(), |at| word.as_bytes()[at] == b'1')
}

/// The least costs that ten runs of a registered algorithm with its defaults find among `n`
/// features.
pub fn ten_runs(id: &str, n: usize, iterations: u64, cost: impl Fn(&Subset) -> f64) -> Vec<f64> {
    let run = |seed| {
        let started = find(id).unwrap().start(&serde_json::Map::new(), &Space::new(n, n));
        least(&drive_seeded(seed, &mut *started.unwrap().0, iterations, &cost))
    };
    (0..10).map(run).collect()
}

/// The mean number of 50 ones that ten such runs find.
pub fn mean_ones(id: &str, iterations: u64) -> f64 {
    ten_runs(id, 50, iterations, onemax).iter().map(|cost| 50.0 * (1.0 - cost)).sum::<f64>() / 10.0
}

/// The worked example of the sequential searches: four features, written from 1 as in the spec, and their accuracies.
const TOY: [(&[usize], f64); 15] = [
    (&[1], 0.60),
    (&[2], 0.50),
    (&[3], 0.50),
    (&[4], 0.10),
    (&[1, 2], 0.65),
    (&[1, 3], 0.66),
    (&[2, 3], 0.90),
    (&[1, 4], 0.60),
    (&[2, 4], 0.50),
    (&[3, 4], 0.50),
    (&[1, 2, 3], 0.92),
    (&[1, 2, 4], 0.70),
    (&[1, 3, 4], 0.70),
    (&[2, 3, 4], 0.70),
    (&[1, 2, 3, 4], 0.80),
];

/// The cost of a subset of the worked example.
pub fn toy(subset: &Subset) -> f64 {
    let members: Vec<usize> = subset.iter().map(|feature| feature + 1).collect();
    let accuracy = TOY.iter().find(|(of, _)| *of == members).map_or(0.0, |(_, accuracy)| *accuracy);
    1.0 - accuracy
}

/// Runs an optimizer on the worked example to its end: the subset it holds after each iteration, written like `13`, and how
/// many evaluations it took.
pub fn toy_path<O: Optimizer>(
    mut optimizer: O,
    held: impl Fn(&O) -> &Subset,
) -> (Vec<String>, usize) {
    let (mut path, mut evaluations) = (Vec::new(), 0);
    while let [results] = drive(&mut optimizer, 1, toy).as_slice() {
        evaluations += results.len();
        path.push(held(&optimizer).iter().map(|feature| (feature + 1).to_string()).collect());
    }
    (path, evaluations)
}

/// A rugged cost that depends on nothing but the subset and `seed`.
pub fn rugged(seed: u64) -> impl Fn(&Subset) -> f64 {
    move |subset| {
        let features = subset.iter().map(|feature| feature as u64 + 1);
        let mixed = features.fold(seed | 1, |hash, feature| {
            (hash ^ feature.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
        });
        // A few levels only, so that ties occur.
        ((mixed >> 40) % 32) as f64 / 32.0
    }
}

/// The least cost of a subset of this size in a history.
pub fn best_of_size(history: &[Vec<Evaluation>], size: usize) -> Option<Cost> {
    let of_size = history.iter().flatten().filter(|tried| tried.subset.count() == size);
    of_size.map(|tried| tried.cost).min()
}

/// A space of three features with a table behind it: four classes of two bits each, of which feature 0 is the one,
/// feature 1 the other and feature 2 the first again.
pub fn crossed(limit: usize) -> Space {
    let codes: Vec<u32> = (0..64).map(|row| row % 4).collect();
    let bit = |at: u32| codes.iter().map(move |code| f64::from(code >> at & 1));
    let values: Vec<f64> = bit(0).chain(bit(1)).chain(bit(0)).collect();
    let levels = Arc::new(Levels::new(&values, &codes, 4, &Pool::new(1)));
    Space::new(3, limit).with_filter(Arc::new(Filter::new(levels, &[0, 1, 2], 1 << 20)))
}
