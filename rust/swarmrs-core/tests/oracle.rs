//! Every evaluator against a naive reference in float64, written straight from its definition on the raw values, ties
//! included: scaling and quantization are under test as well.

use proptest::prelude::*;
use swarmrs_core::base::math::{ln, normal_cdf};
use swarmrs_core::base::subset::Subset;
use swarmrs_core::data::dataset::{Dataset, Scale};
use swarmrs_core::data::folds::{FoldSpec, Folds};
use swarmrs_core::evaluate::{
    self, Classifier, Classify, EvaluationSpec, Measures, Metric, References, Resources, ScaleFit,
    Weights,
};
use swarmrs_core::problem::objective::{CostFunction, Objective};
use swarmrs_core::simd::Isa;

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
        let references = if incremental { References::Always } else { References::Never };
        let resources = Resources { references, memory, ..Resources::with_threads(threads) };
        evaluate::build(&self.data(), &self.spec, false, resources).unwrap().0
    }

    /// The float64 values that classifiers see in a split, feature after feature.
    fn scaled(&self, train: &[u32]) -> Scaled {
        let n = self.codes.len();
        let all: Vec<u32> = (0..n as u32).collect();
        let fit = if self.spec.scale_fit == ScaleFit::Train { train } else { &all };
        let columns = self.columns.chunks_exact(n).map(|column| {
            let known: Vec<f64> = fit.iter().map(|&row| column[row as usize]).collect();
            let count = known.len() as f64;
            let low = known.iter().copied().fold(f64::INFINITY, f64::min);
            let range = known.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low;
            let mean = known.iter().map(|x| x - low).sum::<f64>() / count;
            let squares = known.iter().map(|x| (x - low - mean).powi(2)).sum::<f64>();
            let unit = match self.scale {
                // An offset cancels on paper; in float64 it would cost the reference its digits.
                Scale::None => 1.0,
                Scale::Minmax | Scale::Standard if range == 0.0 => return vec![0.0; n],
                Scale::Minmax => range,
                Scale::Standard => (squares / count).sqrt(),
            };
            column.iter().map(|x| (x - low) / unit).collect()
        });
        Scaled(columns.collect())
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

/// Scaled values of a table.
struct Scaled(Vec<Vec<f64>>);

impl Scaled {
    fn at(&self, feature: usize, row: u32) -> f64 {
        self.0[feature][row as usize]
    }

    /// True if the values of these rows keep nine digits of their differences: beside an outlier among the other rows,
    /// which scaling and centering include, a float64 has fewer left.
    fn has_digits(&self, subset: &Subset, rows: &[u32]) -> bool {
        subset.iter().all(|f| {
            let largest = self.0[f].iter().fold(0.0f64, |most, value| most.max(value.abs()));
            let values = rows.iter().map(|&row| self.at(f, row));
            let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x), high.max(x))
            });
            low == high || high - low > 1e-7 * largest
        })
    }
}

/// A table of one kind of values: few distinct ones, evenly spread, or hostile to fixed point.
fn values(n: usize, d: usize) -> impl Strategy<Value = Vec<f64>> {
    let outlier = move |scale: f64| {
        (proptest::collection::vec(-3.0..3.0, n * d), proptest::collection::vec(0..n, d)).prop_map(
            move |(mut values, rows)| {
                rows.iter().enumerate().for_each(|(f, row)| values[f * n + row] *= scale);
                values
            },
        )
    };
    prop_oneof![
        proptest::collection::vec((0u8..4).prop_map(f64::from), n * d),
        proptest::collection::vec(-50.0..50.0, n * d),
        // One outlier in each column.
        outlier(1e4),
        outlier(1e6),
        outlier(1e9),
        // Heavy tails.
        proptest::collection::vec((-9.0..9.0).prop_map(swarmrs_core::base::math::exp), n * d),
        // Tiny differences beside a large offset.
        proptest::collection::vec((0u8..40).prop_map(|x| 1e6 + f64::from(x) * 1e-7), n * d),
        // Features on scales of their own.
        proptest::collection::vec(-1.0..1.0, n * d).prop_map(move |mut values: Vec<f64>| {
            for (feature, column) in (0i32..).zip(values.chunks_exact_mut(n)) {
                for x in column {
                    *x *= 10f64.powi(3 * (feature % 5) - 6);
                }
            }
            values
        }),
    ]
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
        let values = values(n, d);
        let codes = proptest::collection::vec(0u32..3, n).prop_map(|mut codes| {
            codes[0] = 0;
            codes[1] = 1;
            codes
        });
        let spec = (
            prop_oneof![
                Just(Classifier::Knn),
                Just(Classifier::Nb),
                Just(Classifier::NbCdf),
                Just(Classifier::Ridge)
            ],
            prop_oneof![Just(None), (0.5f64..200.0).prop_map(Some)],
            prop_oneof![Just(Metric::Manhattan), Just(Metric::Euclidean)],
            prop_oneof![Just(Weights::Uniform), Just(Weights::Distance)],
            prop_oneof![3 => Just(ScaleFit::All), 1 => Just(ScaleFit::Train)],
            folds,
        )
            .prop_map(move |(classifier, alpha, metric, weights, scale_fit, folds)| {
                let k = k.min(n / 4);
                EvaluationSpec { classifier, k, metric, weights, alpha, scale_fit, folds }
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

/// The k nearest rows by definition, the lower row of equals, with their weights. Distances are equal if they differ by
/// 2^-40 of the k-th at most. None where a difference is so near to that limit that rounding decides.
fn nearest(
    case: &Case,
    x: &Scaled,
    subset: &Subset,
    row: u32,
    train: &[u32],
) -> Option<Vec<(f64, usize)>> {
    const TIE: f64 = 1.0 / (1u64 << 40) as f64;
    let distance = |other: u32| -> f64 {
        let differences = subset.iter().map(|f| (x.at(f, row) - x.at(f, other)).abs());
        match case.spec.metric {
            Metric::Manhattan => differences.sum(),
            Metric::Euclidean => differences.map(|x| x * x).sum(),
        }
    };
    let mut near: Vec<(f64, u32)> = train.iter().map(|&other| (distance(other), other)).collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    let kth = near[case.spec.k - 1].0;
    // Sums of float64 values that are equal on paper differ in the last digits.
    let is_doubtful = |&(distance, _): &(f64, u32)| {
        ((distance - kth).abs() - TIE * kth).abs() <= 0.01 * TIE * kth && kth > 0.0
    };
    if near.iter().any(is_doubtful) {
        return None;
    }
    let rank = |&(distance, row): &(f64, u32)| {
        let is_tied = (distance - kth).abs() <= TIE * kth;
        if is_tied { (1, row) } else { (if distance < kth { 0 } else { 2 }, 0) }
    };
    near.sort_by_key(rank);
    near.truncate(case.spec.k);
    let is_on_top = near.iter().any(|&(distance, _)| distance == 0.0);
    let weight = |distance: f64| match case.spec.weights {
        Weights::Uniform => 1.0,
        Weights::Distance if is_on_top => f64::from(u8::from(distance == 0.0)),
        Weights::Distance if case.spec.metric == Metric::Euclidean => 1.0 / distance.sqrt(),
        Weights::Distance => 1.0 / distance,
    };
    Some(near.iter().map(|&(distance, other)| (weight(distance), other as usize)).collect())
}

/// k-NN classification as the definition has it: the smallest class of the most votes. None where votes by distance are
/// too near to each other for float64 to tell, or neighbors are.
fn neighbors(case: &Case, x: &Scaled, subset: &Subset, row: u32, train: &[u32]) -> Option<u32> {
    let mut votes = [0.0; 3];
    for (vote, other) in nearest(case, x, subset, row, train)? {
        votes[case.codes[other] as usize] += vote;
    }
    let best = votes.iter().copied().fold(0.0, f64::max);
    let off = |class: &u32| (best - votes[*class as usize]) / best;
    let is_doubtful = (0..3).any(|class| (1e-13..1e-9).contains(&off(&class)));
    (0..3).find(|class| off(class) <= 1e-13).filter(|_| !is_doubtful)
}

/// Log-likelihoods of naive Bayes in plain floats; a margin tells whether the answer is beyond rounding.
fn bayes(case: &Case, x: &Scaled, subset: &Subset, row: u32, train: &[u32]) -> (u32, f64) {
    let variance = |rows: &[u32], f: usize| -> (f64, f64) {
        let n = rows.len() as f64;
        let mean = rows.iter().map(|&r| x.at(f, r)).sum::<f64>() / n;
        let of = |r: u32| (x.at(f, r) - mean).powi(2);
        (mean, rows.iter().map(|&r| of(r)).sum::<f64>() / n)
    };
    let floor = 1e-9 * (0..case.d).map(|f| variance(train, f).1).fold(0.0, f64::max);
    let mut scores: Vec<(f64, u32)> = Vec::new();
    let mut is_certain = true;
    for class in 0..3 {
        let rows: Vec<u32> =
            train.iter().copied().filter(|&r| case.codes[r as usize] == class).collect();
        if rows.is_empty() {
            continue;
        }
        is_certain &= case.spec.classifier == Classifier::NbCdf || x.has_digits(subset, &rows);
        let mut score = ln(rows.len() as f64 / train.len() as f64);
        for f in subset.iter() {
            let (mean, spread) = variance(&rows, f);
            let value = x.at(f, row);
            if case.spec.classifier == Classifier::NbCdf {
                score += ln(share_below(value, &rows, |r| x.at(f, r)));
                continue;
            }
            let v = spread + floor;
            if v > 0.0 {
                score += -0.5 * ln(std::f64::consts::TAU * v) - (value - mean).powi(2) / (2.0 * v);
            }
        }
        scores.push((score, class));
    }
    scores.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // Beyond 2^40 nats, features that contradict each other are as good as equal.
    if case.spec.classifier == Classifier::Nb && scores.iter().any(|(score, _)| *score < -1e12) {
        return (scores[0].1, 0.0);
    }
    if !is_certain {
        return (scores[0].1, 0.0);
    }
    // Among classes that are all ruled out the smallest wins for sure.
    if scores.len() == 1 || scores[1].0 == f64::NEG_INFINITY {
        return (scores[0].1, f64::INFINITY);
    }
    (scores[0].1, (scores[0].0 - scores[1].0) / scores[0].0.abs().max(1.0))
}

/// k-NN regression as the definition has it: the weighted mean of the nearest rows. Whether the weights have digits comes
/// second: values scaled by a large range lose those of near rows.
fn mean_of_neighbors(
    case: &Case,
    numbers: &[f64],
    x: &Scaled,
    subset: &Subset,
    row: u32,
    train: &[u32],
) -> (f64, bool) {
    let Some(near) = nearest(case, x, subset, row, train) else { return (f64::NAN, false) };
    let total: f64 = near.iter().map(|(weight, _)| weight).sum();
    let mean = near.iter().map(|&(weight, other)| weight * numbers[other]).sum::<f64>() / total;
    let n = case.codes.len();
    let is_clear = |f: usize, other: usize| {
        let off = (x.at(f, row) - x.at(f, other as u32)).abs();
        let largest = x.0[f].iter().fold(0.0f64, |most, value| most.max(value.abs()));
        off > 1e-8 * largest || case.columns[f * n + row as usize] == case.columns[f * n + other]
    };
    let is_certain = case.spec.weights == Weights::Uniform
        || near.iter().all(|&(_, other)| subset.iter().all(|f| is_clear(f, other)));
    (mean, is_certain)
}

/// Ridge classification by definition: the class of the greatest decision value. A margin tells whether the answer is
/// beyond rounding.
fn ridge(case: &Case, x: &Scaled, subset: &Subset, row: u32, train: &[u32]) -> (u32, f64) {
    let targets = [0, 1, 2].map(|class| {
        let of = |&code: &u32| if code == class { 1.0 } else { -1.0 };
        case.codes.iter().map(of).collect::<Vec<f64>>()
    });
    let (decisions, is_certain) = ridge_values(case, &targets, x, subset, row, train);
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| decisions[b].total_cmp(&decisions[a]).then(a.cmp(&b)));
    let (best, next) = (decisions[order[0]], decisions[order[1]]);
    let margin = if is_certain { (best - next) / best.abs().max(1.0) } else { 0.0 };
    (order[0] as u32, margin)
}

/// Ridge regression in plain floats: the normal equations of each target by Gaussian elimination. Values are taken
/// relative to a training row before their mean is, targets are centered, and features are divided by their standard
/// deviations: none of it changes anything but rounding. Whether the answer is beyond rounding comes second.
fn ridge_values(
    case: &Case,
    targets: &[Vec<f64>],
    x: &Scaled,
    subset: &Subset,
    row: u32,
    train: &[u32],
) -> (Vec<f64>, bool) {
    let n = train.len() as f64;
    let alpha = case.spec.alpha.unwrap_or(case.codes.len() as f64);
    let centered = |values: Vec<f64>| -> (Vec<f64>, f64) {
        let mean = values.iter().sum::<f64>() / n;
        (values.iter().map(|value| value - mean).collect(), mean)
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut features, mut tested) = (Vec::new(), Vec::new());
    for f in subset.iter() {
        let off = |r: u32| x.at(f, r) - x.at(f, train[0]);
        let (values, mean) = centered(train.iter().map(|&r| off(r)).collect());
        features.push(values);
        tested.push(off(row) - mean);
    }
    let units: Vec<f64> = features.iter().map(|f| (dot(f, f) + alpha).sqrt()).collect();
    let targets: Vec<(Vec<f64>, f64)> = targets
        .iter()
        .map(|target| centered(train.iter().map(|&r| target[r as usize]).collect()))
        .collect();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (i, f) in features.iter().enumerate() {
        let mut equation: Vec<f64> = Vec::new();
        for (j, g) in features.iter().enumerate() {
            let penalty = if i == j { alpha } else { 0.0 };
            equation.push((dot(f, g) + penalty) / units[i] / units[j]);
        }
        equation.extend(targets.iter().map(|(target, _)| dot(f, target) / units[i]));
        rows.push(equation);
    }
    let s = features.len();
    let mut least = 1.0f64;
    for pivot in 0..s {
        least = least.min(rows[pivot][pivot]);
        for other in (0..s).filter(|&other| other != pivot) {
            let factor = rows[other][pivot] / rows[pivot][pivot];
            let pivots = rows[pivot].clone();
            let terms = rows[other].iter_mut().zip(pivots).skip(pivot);
            terms.for_each(|(term, pivot)| *term -= factor * pivot);
        }
    }
    let value = |(at, target): (usize, &(Vec<f64>, f64))| {
        let weight = |i: usize| rows[i][s + at] / rows[i][i] / units[i];
        let terms = tested.iter().enumerate().map(|(i, value)| weight(i) * value);
        terms.sum::<f64>() + target.1
    };
    let values = targets.iter().enumerate().map(value).collect();
    // The elimination loses as many digits as the least pivot has zeros. With more features than rows, the evaluator solves
    // a system of rows, where the greatest features hide the others.
    let hides = units.iter().any(|unit| unit * unit > 1e8 * alpha) && s > train.len();
    (values, least > 1e-7 && !hides && x.has_digits(subset, train))
}

/// A numeric target for a case, and the evaluator of it; naive Bayes has none and becomes k-NN.
fn numeric(mut case: Case, noise: &[f64], offset: f64) -> (Case, Vec<f64>) {
    if matches!(case.spec.classifier, Classifier::Nb | Classifier::NbCdf) {
        case.spec.classifier = Classifier::Knn;
    }
    let numbers: Vec<f64> =
        case.codes.iter().zip(noise).map(|(&code, x)| offset + f64::from(code) + x).collect();
    (case, numbers)
}

fn numeric_evaluator(case: &Case, numbers: &[f64], resources: Resources) -> Box<dyn Classify> {
    let data = case.data().with_numbers(numbers.to_vec()).unwrap();
    evaluate::build(&data, &case.spec, false, resources).unwrap().0
}

/// R2, negated mean squared error, its root and mean absolute error by definition.
fn scores_of(truth: &[f64], predicted: &[f64]) -> [f64; 4] {
    let n = truth.len() as f64;
    let mean = truth.iter().sum::<f64>() / n;
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        truth.iter().zip(predicted).map(|(&is, &said)| of(is, said)).sum()
    };
    let squares = sum(&|is, said| (is - said).powi(2));
    let r2 = 1.0 - squares / sum(&|is, _| (is - mean).powi(2));
    [r2, -squares / n, -(squares / n).sqrt(), -sum(&|is, said| (is - said).abs()) / n]
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

/// The case cut down to its first rows and some classes, under complete cross-validation.
fn complete(case: Case, n: usize, test: f64, n_classes: u32) -> Case {
    let rows = case.codes.len();
    let n = n.min(rows);
    let columns = case.columns.chunks_exact(rows).flat_map(|column| &column[..n]).copied();
    Case {
        columns: columns.collect(),
        codes: case.codes[..n].iter().map(|code| code % n_classes).collect(),
        spec: EvaluationSpec {
            classifier: Classifier::Knn,
            weights: Weights::Uniform,
            scale_fit: ScaleFit::All,
            folds: FoldSpec::Complete { test },
            ..case.spec
        },
        ..case
    }
}

fn bits(measures: &Measures) -> [u64; Measures::FIELDS] {
    measures.to_array().map(f64::to_bits)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn predictions_are_those_of_the_definition(case in cases()) {
        let folds = Folds::draw(&case.spec.folds, &case.codes, 3).unwrap().0;
        let evaluator = case.evaluator(1, true, 1 << 30);
        for subset in case.subsets() {
            let mut predicted = evaluator.predict(&subset).into_iter();
            for split in folds.splits() {
                let x = case.scaled(&split.train);
                for &row in &split.test {
                    let (got_row, got) = predicted.next().unwrap();
                    prop_assert_eq!(got_row, row);
                    match case.spec.classifier {
                        Classifier::Knn => {
                            if let Some(expected) = neighbors(&case, &x, &subset, row, &split.train) {
                                prop_assert_eq!(got, expected);
                            }
                        }
                        Classifier::Nb | Classifier::NbCdf => {
                            let (expected, margin) = bayes(&case, &x, &subset, row, &split.train);
                            // The reference sums floats, the evaluator whole numbers: a nearer call than this is a tie.
                            if margin > 1e-6 {
                                prop_assert_eq!(got, expected);
                            }
                        }
                        Classifier::Ridge => {
                            let (expected, margin) = ridge(&case, &x, &subset, row, &split.train);
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
    fn predicted_numbers_are_those_of_the_definition(
        case in cases(), noise in proptest::collection::vec(-1.0f64..1.0, 60), offset in prop_oneof![Just(0.0), Just(1e6)],
    ) {
        let (case, numbers) = numeric(case, &noise, offset);
        let n = numbers.len();
        let folds = Folds::draw(&case.spec.folds, &vec![0; n], 1).unwrap().0;
        let mut evaluator = numeric_evaluator(&case, &numbers, Resources::default());
        for subset in case.subsets() {
            let said = evaluator.predict_numbers(&subset);
            prop_assert!(evaluator.predict(&subset).is_empty());
            let mut predicted = said.iter();
            for split in folds.splits() {
                let x = case.scaled(&split.train);
                for &row in &split.test {
                    let &(got_row, got) = predicted.next().unwrap();
                    prop_assert_eq!(got_row, row);
                    let (expected, is_certain) = if case.spec.classifier == Classifier::Knn {
                        mean_of_neighbors(&case, &numbers, &x, &subset, row, &split.train)
                    } else {
                        let target = [numbers.clone()];
                        let (values, is_certain) = ridge_values(&case, &target, &x, &subset, row, &split.train);
                        (values[0], is_certain)
                    };
                    // An outlier of 1e9 leaves the other values of its column seven digits, and without it the prediction
                    // lies far outside of what was learned; the offset costs the reference digits.
                    let tolerance = 1e-5 * (expected - offset).abs().max(1.0) + 1e-13 * offset;
                    prop_assert!(!is_certain || (got - expected).abs() < tolerance, "{got} {expected}");
                }
            }
            // Scores are those of the predictions, fold by fold, and of leave-one-out all together.
            let measures = evaluator.evaluate(std::slice::from_ref(&subset)).unwrap()[0];
            let scores = measures.numbers.unwrap();
            let truth: Vec<f64> = said.iter().map(|&(row, _)| numbers[row as usize]).collect();
            let values: Vec<f64> = said.iter().map(|&(_, value)| value).collect();
            let sizes = evaluator.fold_sizes();
            let pooled = scores_of(&truth, &values);
            let is_pooled = sizes.len() == values.len();
            let mut expected = [0.0; 4];
            let mut start = 0;
            for &size in &sizes {
                let fold = scores_of(&truth[start..start + size], &values[start..start + size]);
                expected.iter_mut().zip(fold).for_each(|(mean, score)| *mean += score / sizes.len() as f64);
                start += size;
            }
            if sizes.contains(&1) {
                expected[0] = pooled[0];
            }
            let found = [
                scores.r2, scores.neg_mean_squared_error, scores.neg_root_mean_squared_error, scores.neg_mean_absolute_error,
            ];
            for (found, expected) in found.into_iter().zip(if is_pooled { pooled } else { expected }) {
                prop_assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found} {expected}");
            }
            prop_assert_eq!(measures.error, 1.0 - scores.r2);
            prop_assert!((measures.pooled_error - 1.0 + pooled[0]).abs() < 1e-6 * pooled[0].abs().max(1.0));
        }
    }

    #[test]
    fn predicted_numbers_have_the_same_bits_on_any_path(
        case in cases(), noise in proptest::collection::vec(-1.0f64..1.0, 60), threads in 1usize..4, batch in 1usize..4,
    ) {
        let (case, numbers) = numeric(case, &noise, 0.0);
        let subsets = case.subsets();
        let scalar = Resources { references: References::Never, isa: Some(Isa::Scalar), ..Resources::default() };
        let fresh = numeric_evaluator(&case, &numbers, scalar).evaluate(&subsets).unwrap();
        for memory in [0, 40_000, 1 << 30] {
            let resources = Resources { memory, references: References::Always, ..Resources::with_threads(threads) };
            let mut walker = numeric_evaluator(&case, &numbers, resources);
            let walked: Vec<Measures> =
                subsets.chunks(batch).flat_map(|some| walker.evaluate(some).unwrap()).collect();
            for (a, b) in walked.iter().zip(&fresh) {
                prop_assert_eq!(bits(a), bits(b));
            }
        }
    }

    #[test]
    fn complete_cross_validation_is_the_mean_over_all_splits(
        case in cases(), n in 5usize..12, test in prop_oneof![Just(0.5), 0.1..0.8], n_classes in 2u32..4,
    ) {
        let mut case = complete(case, n, test, n_classes);
        let n = case.codes.len();
        let kept = ((1.0 - test) * (n as f64 - 1.0)).round() as usize;
        case.spec.k = case.spec.k.min(kept);
        let mut evaluator = case.evaluator(1, true, 1 << 30);
        let x = case.scaled(&[]);
        for subset in case.subsets() {
            // Of each class and row, the share of splits that predict it.
            let mut expected = vec![[0.0; 3]; n];
            for row in 0..n as u32 {
                let mut splits = 0.0;
                for chosen in 0u32..1 << n {
                    if chosen >> row & 1 == 1 || chosen.count_ones() as usize != kept {
                        continue;
                    }
                    let train: Vec<u32> = (0..n as u32).filter(|row| chosen >> row & 1 == 1).collect();
                    let class = neighbors(&case, &x, &subset, row, &train).unwrap();
                    expected[row as usize][class as usize] += 1.0;
                    splits += 1.0;
                }
                expected[row as usize].iter_mut().for_each(|share| *share /= splits);
            }
            let mut shares = vec![[0.0; 3]; n];
            for prediction in evaluator.distribution(&subset) {
                shares[prediction.row as usize][prediction.class as usize] += prediction.probability;
            }
            for (row, (share, expected)) in shares.iter().zip(&expected).enumerate() {
                for (a, b) in share.iter().zip(expected) {
                    // Twelve weights, each off by 2^-40 at most.
                    prop_assert!((a - b).abs() < 2e-11, "row {row}: {share:?} {expected:?}");
                }
            }
            for (row, class) in evaluator.predict(&subset) {
                let share = shares[row as usize];
                prop_assert!(share.iter().all(|&other| other <= share[class as usize]));
            }
            let measures = evaluator.evaluate(std::slice::from_ref(&subset)).unwrap()[0];
            let right = |row: usize| shares[row][case.codes[row] as usize];
            let accuracy = (0..n).map(right).sum::<f64>() / n as f64;
            prop_assert!((measures.accuracy - accuracy).abs() < 1e-12);
            let recalls: Vec<f64> = (0..3u32).filter_map(|class| {
                let rows: Vec<usize> = (0..n).filter(|&row| case.codes[row] == class).collect();
                let recall = rows.iter().map(|&row| right(row)).sum::<f64>() / rows.len() as f64;
                (!rows.is_empty()).then_some(recall)
            }).collect();
            let balanced = recalls.iter().sum::<f64>() / recalls.len() as f64;
            prop_assert!((measures.balanced_accuracy - balanced).abs() < 1e-12);
            prop_assert_eq!(measures.balanced_accuracy, measures.pooled_balanced_accuracy);
        }
    }

    #[test]
    fn complete_cross_validation_has_the_same_bits_on_any_path(
        case in cases(), test in prop_oneof![Just(0.5), 0.2..0.8], threads in 1usize..4, batch in 1usize..4,
    ) {
        let n = case.codes.len();
        let case = complete(case, n, test, 3);
        prop_assume!(case.spec.k as f64 + 0.5 < (1.0 - test) * (n as f64 - 1.0));
        let subsets = case.subsets();
        let resources = Resources { references: References::Never, isa: Some(Isa::Scalar), ..Resources::default() };
        let mut scalar = evaluate::build(&case.data(), &case.spec, false, resources).unwrap().0;
        let fresh = scalar.evaluate(&subsets).unwrap();
        for memory in [0, 40_000, 1 << 30] {
            let mut walker = case.evaluator(threads, true, memory);
            let walked: Vec<Measures> =
                subsets.chunks(batch).flat_map(|some| walker.evaluate(some).unwrap()).collect();
            for (a, b) in walked.iter().zip(&fresh) {
                prop_assert_eq!(bits(a), bits(b));
            }
        }
    }

    #[test]
    fn any_walk_gives_the_bits_of_a_fresh_start(case in cases(), threads in 1usize..4, batch in 1usize..4) {
        let subsets = case.subsets();
        let fresh = case.evaluator(1, false, 1 << 30).evaluate(&subsets).unwrap();
        // From no room at all to room for a few and for all.
        for memory in [0, 40_000, 1 << 30] {
            let mut walker = case.evaluator(threads, true, memory);
            let mut walked = Vec::new();
            for some in subsets.chunks(batch) {
                walked.extend(walker.evaluate(some).unwrap());
            }
            for (a, b) in walked.iter().zip(&fresh) {
                prop_assert_eq!(bits(a), bits(b));
            }
        }
    }

    #[test]
    fn work_never_exceeds_the_cheapest_way_known_in_advance(mut case in cases()) {
        // A ridge fit is no sum over features.
        if case.spec.classifier == Classifier::Ridge {
            case.spec.classifier = Classifier::Knn;
        }
        let subsets = case.subsets();
        let mut evaluator = case.evaluator(1, true, 1 << 30);
        let mut bound = 0;
        let scratch_ops = |subset: &Subset| {
            let mut one = case.evaluator(1, false, 1 << 30);
            one.evaluate(std::slice::from_ref(subset)).unwrap();
            one.work().from_scratch_ops
        };
        let per_feature = scratch_ops(&Subset::from_indices(case.d, [0]));
        for subset in &subsets {
            evaluator.evaluate(std::slice::from_ref(subset)).unwrap();
            bound += per_feature * subset.count().min(case.d - subset.count()) as u64;
        }
        // All features once; with one subset a batch, its leader is kept as it is built.
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
        for (batch, some) in subsets.chunks(2).enumerate() {
            let measures = whole.evaluate(some).unwrap();
            if batch < known {
                resumed.recall(some, &measures);
            } else {
                let again = resumed.evaluate(some).unwrap();
                prop_assert_eq!(again.iter().map(bits).collect::<Vec<_>>(), measures.iter().map(bits).collect::<Vec<_>>());
            }
            prop_assert_eq!(whole.work(), resumed.work());
        }
    }
}

/// The separation of classes straight from its definition, over the rows that train for each tested one.
fn separation(case: &Case, subset: &Subset) -> f64 {
    let folds = Folds::draw(&case.spec.folds, &case.codes, 3).unwrap().0;
    let (mut other, mut same, mut cases) = (0.0, 0.0, 0.0);
    let farthest = subset.count() as f64;
    for split in folds.splits() {
        let x = case.scaled(&split.train);
        for &row in &split.test {
            let distances = |is_same: bool| -> Vec<f64> {
                let class = |r: u32| case.codes[r as usize];
                let rows = split.train.iter().filter(|&&r| (class(r) == class(row)) == is_same);
                rows.map(|&r| subset.iter().map(|f| (x.at(f, row) - x.at(f, r)).abs()).sum())
                    .collect()
            };
            let nearest = distances(false).into_iter().reduce(f64::min);
            other += nearest.unwrap_or(farthest);
            same += distances(true).into_iter().fold(0.0, f64::max);
            cases += 1.0;
        }
    }
    (other - same) / (cases * farthest)
}

proptest! {
    #[test]
    fn separation_is_that_of_the_definition(case in cases(), threads in 1usize..3, incremental: bool) {
        let spec = EvaluationSpec {
            classifier: Classifier::Knn, metric: Metric::Manhattan, scale_fit: ScaleFit::All, ..case.spec.clone()
        };
        let case = Case { spec, scale: Scale::Minmax, ..case };
        let (data, subsets) = (case.data(), case.subsets());
        let references = if incremental { References::Always } else { References::Never };
        let resources = Resources { references, ..Resources::with_threads(threads) };
        let mut evaluator = evaluate::build(&data, &case.spec, true, resources).unwrap().0;
        for (measures, subset) in evaluator.evaluate(&subsets).unwrap().iter().zip(&subsets) {
            // Each difference is off by one of more than 32 767 steps at most, in either mean.
            prop_assert!((measures.separation - separation(&case, subset)).abs() < 2.0 / 32_767.0);
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
        alpha: None,
        scale_fit: ScaleFit::All,
        folds: FoldSpec::Loo,
    };
    let mut evaluator = evaluate::build(&data, &spec, true, Resources::default()).unwrap().0;
    let hybrid = CostFunction::new(Objective::Hybrid { gamma: 0.8 }, None, 2, None).unwrap();
    for (features, fitness) in
        [(vec![0], 0.984_828_363_995_751), (vec![1], 0.009_485_174_635_513), (vec![0, 1], 0.5)]
    {
        let subset = Subset::from_indices(2, features);
        let measures = evaluator.evaluate(std::slice::from_ref(&subset)).unwrap()[0];
        // The worked example prints 15 decimals.
        let cost = hybrid.cost(&measures, &subset).value();
        assert!((cost + fitness).abs() < 1e-15, "{subset:?}: {cost}");
    }
    let wrong = EvaluationSpec { metric: Metric::Euclidean, ..spec };
    let refused = evaluate::build(&data, &wrong, true, Resources::default()).err().unwrap();
    assert_eq!(
        refused.to_string(),
        "the hybrid objective needs classifier knn, metric manhattan and scale minmax fitted on all rows"
    );
}

#[test]
fn what_needs_classes_refuses_numbers() {
    let case = Case {
        columns: (0..20).map(|x| f64::from(x * x % 7)).collect(),
        codes: (0..10).map(|row| row % 3).collect(),
        d: 2,
        spec: EvaluationSpec {
            classifier: Classifier::Knn,
            k: 1,
            metric: Metric::Manhattan,
            weights: Weights::Uniform,
            alpha: None,
            scale_fit: ScaleFit::All,
            folds: FoldSpec::Loo,
        },
        scale: Scale::Minmax,
        walk: Vec::new(),
    };
    let numbers: Vec<f64> = (0..10).map(f64::from).collect();
    let data = case.data().with_numbers(numbers).unwrap();
    let refused = |spec: EvaluationSpec, separation| {
        let built = evaluate::build(&data, &spec, separation, Resources::default());
        built.err().map(|error| error.to_string())
    };
    let of = |classifier| EvaluationSpec { classifier, ..case.spec.clone() };
    assert_eq!(refused(of(Classifier::Knn), false), None);
    assert_eq!(refused(of(Classifier::Ridge), false), None);
    let complete = EvaluationSpec { folds: FoldSpec::Complete { test: 0.5 }, ..case.spec.clone() };
    for (spec, separation, what) in [
        (of(Classifier::Nb), false, "naive Bayes"),
        (of(Classifier::NbCdf), false, "naive Bayes"),
        (of(Classifier::Knn), true, "the hybrid objective"),
        (complete, false, "complete cross-validation"),
    ] {
        let message = format!("{what} needs classes, and the target is numeric");
        assert_eq!(refused(spec, separation), Some(message));
    }
}
