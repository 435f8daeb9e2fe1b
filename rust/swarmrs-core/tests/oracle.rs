//! Every evaluator against a naive reference written straight from its definition, ties included.

use proptest::prelude::*;
use swarmrs_core::dataset::{Dataset, Scale};
use swarmrs_core::evaluate::{
    self, Classifier, Classify, EvaluationSpec, Measures, Metric, Resources, Weights,
};
use swarmrs_core::folds::{FoldSpec, Folds};
use swarmrs_core::math::{ln, normal_cdf};
use swarmrs_core::objective::{Goal, Objective};
use swarmrs_core::subset::Subset;

/// A small table: few distinct values make many ties.
#[derive(Debug, Clone)]
struct Case {
    columns: Vec<f64>,
    codes: Vec<u32>,
    d: usize,
    spec: EvaluationSpec,
    scale: Scale,
    walk: Vec<Vec<usize>>,
}

impl Case {
    fn data(&self) -> Dataset {
        let names = (0..self.d).map(|f| format!("f{f}")).collect();
        Dataset::new(&self.columns, self.codes.clone(), 3, names, self.scale).unwrap()
    }

    fn evaluator(&self, threads: usize, incremental: bool, memory: u64) -> Box<dyn Classify> {
        let resources = Resources { threads, incremental, memory, ..Resources::default() };
        evaluate::build(&self.data(), &self.spec, false, resources).unwrap().0
    }

    /// A subset after each bunch of flips, never empty.
    fn subsets(&self) -> Vec<Subset> {
        let mut subset = Subset::full(self.d);
        let mut subsets = vec![subset.clone()];
        for flips in &self.walk {
            for &feature in flips {
                subset.set(feature % self.d, !subset.contains(feature % self.d));
            }
            if subset.is_empty() {
                subset.insert(0);
            }
            subsets.push(subset.clone());
        }
        subsets
    }
}

fn cases() -> impl Strategy<Value = Case> {
    (5usize..60, 1usize..12, 1usize..4, any::<u64>()).prop_flat_map(|(n, d, k, seed)| {
        let folds = prop_oneof![
            Just(FoldSpec::Loo),
            (2usize..6).prop_map(move |f| FoldSpec::Kfold { k: f.min(n), shuffle: true, seed }),
            Just(FoldSpec::Splits {
                splits: vec![
                    ((0..n as u32 - 1).collect(), vec![n as u32 - 1]),
                    ((4..n as u32).collect(), vec![1, 0, 3]),
                    ((0..4).collect(), (4..n as u32).collect()),
                ],
            }),
        ];
        let values = prop_oneof![
            proptest::collection::vec((0u8..4).prop_map(f64::from), n * d),
            proptest::collection::vec(-50.0..50.0, n * d),
        ];
        let codes = proptest::collection::vec(0u32..3, n).prop_map(|mut codes| {
            codes[0] = 0;
            codes[1] = 1;
            codes
        });
        let spec = (
            prop_oneof![Just(Classifier::Knn), Just(Classifier::Nb), Just(Classifier::NbCdf)],
            prop_oneof![Just(Metric::Manhattan), Just(Metric::Euclidean)],
            prop_oneof![Just(Weights::Uniform), Just(Weights::Distance)],
            folds,
        )
            .prop_map(move |(classifier, metric, weights, folds)| EvaluationSpec {
                classifier,
                k: k.min(n / 4),
                metric,
                weights,
                folds,
            });
        let scale = prop_oneof![Just(Scale::Minmax), Just(Scale::Standard), Just(Scale::None)];
        let flips = proptest::collection::vec(0usize..d, 1..4);
        let walk = proptest::collection::vec(flips, 1..6);
        (values, codes, spec, scale, walk).prop_map(move |(columns, codes, spec, scale, walk)| {
            Case {
                columns,
                codes,
                d,
                spec: EvaluationSpec { k: spec.k.max(1), ..spec },
                scale,
                walk,
            }
        })
    })
}

/// k-NN as the definition has it: sort by (distance, row), count votes, smallest class of the most.
fn neighbours(case: &Case, data: &Dataset, subset: &Subset, row: u32, train: &[u32]) -> u32 {
    let distance = |other: u32| -> f64 {
        let differences = subset
            .iter()
            .map(|f| (data.steps(f, row as usize) - data.steps(f, other as usize)).abs());
        match case.spec.metric {
            Metric::Manhattan => differences.sum(),
            Metric::Euclidean => differences.map(|x| x * x).sum(),
        }
    };
    let mut near: Vec<(f64, u32)> = train.iter().map(|&other| (distance(other), other)).collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    near.truncate(case.spec.k);
    let mut votes = [0.0; 3];
    for &(steps, other) in &near {
        let vote = match case.spec.weights {
            Weights::Uniform => 1.0,
            Weights::Distance if near[0].0 == 0.0 => f64::from(u8::from(steps == 0.0)),
            Weights::Distance if case.spec.metric == Metric::Euclidean => 1.0 / steps.sqrt(),
            Weights::Distance => 1.0 / steps,
        };
        votes[case.codes[other as usize] as usize] += vote;
    }
    (0..3).rev().max_by(|&a, &b| votes[a as usize].total_cmp(&votes[b as usize])).unwrap()
}

/// Log-likelihoods of naive Bayes in plain floats; a margin tells whether the answer is beyond rounding.
fn bayes(case: &Case, data: &Dataset, subset: &Subset, row: u32, train: &[u32]) -> (u32, f64) {
    let variance = |rows: &[u32], f: usize| -> (f64, f64) {
        let n = rows.len() as f64;
        let mean = rows.iter().map(|&r| data.steps(f, r as usize)).sum::<f64>() / n;
        let of = |r: u32| (data.steps(f, r as usize) - mean).powi(2);
        (mean, rows.iter().map(|&r| of(r)).sum::<f64>() / n)
    };
    let floor = 1e-9 * (0..case.d).map(|f| variance(train, f).1).fold(0.0, f64::max);
    let mut scores: Vec<(f64, u32)> = Vec::new();
    for class in 0..3 {
        let rows: Vec<u32> =
            train.iter().copied().filter(|&r| case.codes[r as usize] == class).collect();
        if rows.is_empty() {
            continue;
        }
        let mut score = ln(rows.len() as f64 / train.len() as f64);
        for f in subset.iter() {
            let (mean, spread) = variance(&rows, f);
            let x = data.steps(f, row as usize);
            if case.spec.classifier == Classifier::NbCdf {
                score += ln(share_below(x, &rows, |r| data.steps(f, r as usize)));
                continue;
            }
            let v = spread + floor;
            if v > 0.0 {
                score += -0.5 * ln(std::f64::consts::TAU * v) - (x - mean).powi(2) / (2.0 * v);
            }
        }
        scores.push((score, class));
    }
    scores.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // Among classes that are all ruled out the smallest wins for sure.
    if scores.len() == 1 || scores[1].0 == f64::NEG_INFINITY {
        return (scores[0].1, f64::INFINITY);
    }
    (scores[0].1, (scores[0].0 - scores[1].0) / scores[0].0.abs().max(1.0))
}

/// The normal cumulative function at `x`, of the mean and sample deviation that the values of `rows` have.
fn share_below(x: f64, rows: &[u32], value: impl Fn(u32) -> f64) -> f64 {
    let n = rows.len() as f64;
    let first = value(rows[0]);
    if rows.iter().all(|&row| value(row) == first) {
        return if x >= first { 1.0 } else { 0.0 };
    }
    let mean = rows.iter().map(|&row| value(row)).sum::<f64>() / n;
    let squares = rows.iter().map(|&row| (value(row) - mean).powi(2)).sum::<f64>();
    normal_cdf((x - mean) / (squares / (n - 1.0)).sqrt())
}

fn bits(measures: &Measures) -> [u64; Measures::FIELDS] {
    measures.to_array().map(f64::to_bits)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn predictions_are_those_of_the_definition(case in cases()) {
        let data = case.data();
        let folds = Folds::draw(&case.spec.folds, &case.codes, 3).unwrap().0;
        let evaluator = case.evaluator(1, true, 1 << 30);
        for subset in case.subsets() {
            let mut predicted = evaluator.predict(&subset).into_iter();
            for split in folds.splits() {
                for &row in &split.test {
                    let (got_row, got) = predicted.next().unwrap();
                    prop_assert_eq!(got_row, row);
                    match case.spec.classifier {
                        Classifier::Knn => {
                            prop_assert_eq!(got, neighbours(&case, &data, &subset, row, &split.train));
                        }
                        Classifier::Nb | Classifier::NbCdf => {
                            let (expected, margin) = bayes(&case, &data, &subset, row, &split.train);
                            // The reference sums floats, the evaluator whole numbers: a nearer call than this is a tie.
                            if margin > 1e-6 {
                                prop_assert_eq!(got, expected);
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn any_walk_gives_the_bits_of_a_fresh_start(case in cases(), threads in 1usize..4, batch in 1usize..4) {
        let subsets = case.subsets();
        let fresh = case.evaluator(1, false, 1 << 30).measure(&subsets).unwrap();
        // From no room at all to room for a few and for all.
        for memory in [0, 40_000, 1 << 30] {
            let mut walker = case.evaluator(threads, true, memory);
            let mut walked = Vec::new();
            for some in subsets.chunks(batch) {
                walked.extend(walker.measure(some).unwrap());
            }
            for (a, b) in walked.iter().zip(&fresh) {
                prop_assert_eq!(bits(a), bits(b));
            }
        }
    }

    #[test]
    fn work_never_exceeds_the_cheapest_way_known_in_advance(case in cases()) {
        let subsets = case.subsets();
        let mut evaluator = case.evaluator(1, true, 1 << 30);
        let mut bound = 0;
        let scratch_ops = |subset: &Subset| {
            let mut one = case.evaluator(1, false, 1 << 30);
            one.measure(std::slice::from_ref(subset)).unwrap();
            one.work().from_scratch_ops
        };
        let per_feature = scratch_ops(&Subset::from_indices(case.d, [0]));
        for subset in &subsets {
            evaluator.measure(std::slice::from_ref(subset)).unwrap();
            bound += per_feature * subset.count().min(case.d - subset.count()) as u64;
        }
        // All features once; with one subset a turn, its leader is kept as it is built.
        let work = evaluator.work();
        prop_assert!(work.element_ops <= bound + per_feature * case.d as u64);
        // Getting ready: all rows under all features, then under all, a half, a third and a quarter of them.
        let trials: usize = (1..=4).map(|every| case.d.div_ceil(every)).sum();
        prop_assert!(work.setup_ops <= per_feature * (case.d + trials) as u64);
        let scratch: u64 = subsets.iter().map(scratch_ops).sum();
        prop_assert_eq!(work.from_scratch_ops, scratch);
    }

    #[test]
    fn a_recalled_past_leaves_the_same_answers_and_work(case in cases(), known in 0usize..6) {
        let subsets = case.subsets();
        let mut whole = case.evaluator(1, true, 1 << 30);
        let mut resumed = case.evaluator(2, true, 1 << 30);
        for (turn, some) in subsets.chunks(2).enumerate() {
            let measures = whole.measure(some).unwrap();
            if turn < known {
                resumed.recall(some, &measures);
            } else {
                let again = resumed.measure(some).unwrap();
                prop_assert_eq!(again.iter().map(bits).collect::<Vec<_>>(), measures.iter().map(bits).collect::<Vec<_>>());
            }
            prop_assert_eq!(whole.work(), resumed.work());
        }
    }
}

/// 002's separation straight from its definition, over the rows that train for each tested one.
fn separation(case: &Case, data: &Dataset, subset: &Subset) -> f64 {
    let folds = Folds::draw(&case.spec.folds, &case.codes, 3).unwrap().0;
    let (mut other, mut same, mut cases) = (0u64, 0u64, 0u64);
    let farthest = 65535 * subset.count() as u64;
    for split in folds.splits() {
        for &row in &split.test {
            let distances = |is_same: bool| {
                split
                    .train
                    .iter()
                    .filter(move |&&r| {
                        (case.codes[r as usize] == case.codes[row as usize]) == is_same
                    })
                    .map(|&r| -> u64 {
                        let value = |f, r: u32| data.steps(f, r as usize);
                        subset.iter().map(|f| (value(f, row) - value(f, r)).abs() as u64).sum()
                    })
            };
            other += distances(false).min().unwrap_or(farthest);
            same += distances(true).max().unwrap_or(0);
            cases += 1;
        }
    }
    let all = (cases * farthest) as f64;
    other as f64 / all - same as f64 / all
}

proptest! {
    #[test]
    fn separation_is_that_of_the_definition(case in cases(), threads in 1usize..3, incremental: bool) {
        let spec = EvaluationSpec { classifier: Classifier::Knn, metric: Metric::Manhattan, ..case.spec.clone() };
        let case = Case { spec, scale: Scale::Minmax, ..case };
        let (data, subsets) = (case.data(), case.subsets());
        let resources = Resources { threads, incremental, ..Resources::default() };
        let mut evaluator = evaluate::build(&data, &case.spec, true, resources).unwrap().0;
        for (measures, subset) in evaluator.measure(&subsets).unwrap().iter().zip(&subsets) {
            prop_assert_eq!(measures.separation, separation(&case, &data, subset));
        }
    }
}

#[test]
fn the_hybrid_objective_has_its_worked_values() {
    // A and B of class 0, C and D of class 1; fifths are exact in 16 bits.
    let columns = [0.0, 0.2, 0.8, 1.0, 1.0, 0.0, 0.8, 0.2];
    let names = vec!["f1".to_owned(), "f2".to_owned()];
    let data = Dataset::new(&columns, vec![0, 0, 1, 1], 2, names, Scale::Minmax).unwrap();
    let spec = EvaluationSpec {
        classifier: Classifier::Knn,
        k: 1,
        metric: Metric::Manhattan,
        weights: Weights::Uniform,
        folds: FoldSpec::Loo,
    };
    let mut evaluator = evaluate::build(&data, &spec, true, Resources::default()).unwrap().0;
    let hybrid = Goal::new(Objective::Hybrid { gamma: 0.8 }, None, 2, None).unwrap();
    for (features, fitness) in
        [(vec![0], 0.984_828_363_995_751), (vec![1], 0.009_485_174_635_513), (vec![0, 1], 0.5)]
    {
        let subset = Subset::from_indices(2, features);
        let measures = evaluator.measure(std::slice::from_ref(&subset)).unwrap()[0];
        // The worked example prints 15 decimals.
        let cost = hybrid.cost(&measures, &subset).value();
        assert!((cost + fitness).abs() < 1e-15, "{subset:?}: {cost}");
    }
    let wrong = EvaluationSpec { metric: Metric::Euclidean, ..spec };
    let refused = evaluate::build(&data, &wrong, true, Resources::default()).err().unwrap();
    assert_eq!(
        refused.to_string(),
        "the hybrid objective needs classifier knn, metric manhattan and scale minmax"
    );
}
