use super::*;
use crate::data::dataset::{Dataset, Scale};
use crate::data::folds::{FoldSpec, Folds};
use crate::evaluate::{Classifier, References, Resources, ScaleFit};
use proptest::prelude::*;

/// Values that tie, values that nearly do, and values that do not.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        (0u32..4).prop_map(|level| f64::from(level * 21845)),
        (0u32..4, 0u32..9).prop_map(|(level, off)| f64::from((level * 21840) + off)),
        (0u32..65536).prop_map(f64::from),
    ]
}

/// Columns that span 16 bits, so that a value is its own number of steps.
fn table(n: usize, columns: Vec<Vec<f64>>, codes: Vec<u32>) -> Dataset {
    let flat: Vec<f64> = columns
        .into_iter()
        .flat_map(|mut column| {
            (column[0], column[n - 1]) = (0.0, 65535.0);
            column
        })
        .collect();
    let names = (0..flat.len() / n).map(|f| format!("f{f}")).collect();
    Dataset::new(&flat, codes, 3, names, Scale::Minmax).unwrap()
}

/// The class of every case, with candidates by 32-bit keys whether or not these pay.
fn classes<K: Kernel<Value = u16>>(
    plan: &Plan<'_>,
    isa: Isa,
    subset: &Subset,
    uses_short_keys: bool,
) -> Vec<u32> {
    let Quantized::Narrow(values) = &plan.table.quantization.values else {
        panic!("a narrow table")
    };
    let mut neighbors = Neighbors::<K>::new(plan, isa, |at| values[at]);
    neighbors.uses_short_keys = uses_short_keys;
    let shortlist = neighbors.shortlist(subset);
    assert_eq!(shortlist.short.is_some(), uses_short_keys);
    let found = neighbors.find(Step::from_nothing(subset), shortlist, None);
    neighbors.classify(&found, shortlist, subset)
}

proptest! {
    #[test]
    fn short_keys_change_no_class(
        (columns, codes) in (12usize..70, 1usize..9).prop_flat_map(|(n, d)| (
            proptest::collection::vec(proptest::collection::vec(value(), n), d),
            proptest::collection::vec(0u32..3, n),
        )),
        k in 1usize..8, chosen: u16, by_distance: bool, is_loo: bool,
    ) {
        let (n, d) = (codes.len(), columns.len());
        let data = table(n, columns, codes);
        let folds = if is_loo { FoldSpec::Loo } else { FoldSpec::Kfold { k: 3, shuffle: true, seed: 1 } };
        let spec = EvaluationSpec {
            classifier: Classifier::Knn, k, metric: Metric::Euclidean, scale_fit: ScaleFit::All, folds: folds.clone(),
            weights: if by_distance { Weights::Distance } else { Weights::Uniform }, alpha: None,
        };
        let folds = Folds::draw(&folds, data.codes(), 3).unwrap().0;
        let mut subset = Subset::from_fn(d, |feature| chosen >> feature & 1 == 1);
        subset.insert(0);
        let folded = FoldedTable::new(&data, &folds, ScaleFit::All).unwrap().0;
        let plan = Plan { table: &folded, spec: &spec, complete: None, separation: false, resources: Resources::default(), isa: Isa::best(), ops: 0 };
        let exact = classes::<Euclidean16>(&plan, Isa::Scalar, &subset, false);
        for isa in [Isa::best(), Isa::Scalar] {
            prop_assert_eq!(&classes::<CoarseEuclidean<2>>(&plan, isa, &subset, true), &exact);
            prop_assert_eq!(&classes::<CoarseEuclidean<3>>(&plan, isa, &subset, true), &exact);
            prop_assert_eq!(&classes::<CoarseEuclidean<4>>(&plan, isa, &subset, true), &exact);
        }
        let spec = EvaluationSpec { metric: Metric::Manhattan, ..spec.clone() };
        let plan = Plan { spec: &spec, ..plan };
        let exact = classes::<Manhattan16>(&plan, Isa::Scalar, &subset, false);
        prop_assert_eq!(&classes::<Manhattan16>(&plan, Isa::best(), &subset, true), &exact);
    }
}

/// A row index of twelve bits leaves too few for the distance: some are dropped, and ties among the rest arise.
#[test]
fn short_keys_change_no_class_of_a_long_table() {
    let n = 2100;
    let mut random = 1u64;
    let mut draw = |below: u64| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let columns: Vec<Vec<f64>> =
        (0..24).map(|_| (0..n).map(|_| draw(65536) as f64).collect()).collect();
    let codes = (0..n).map(|_| draw(3) as u32).collect();
    let data = table(n, columns, codes);
    let folds = Folds::draw(&FoldSpec::Loo, data.codes(), 3).unwrap().0;
    let spec = EvaluationSpec {
        classifier: Classifier::Knn,
        k: 5,
        metric: Metric::Manhattan,
        weights: Weights::Uniform,
        alpha: None,
        scale_fit: ScaleFit::All,
        folds: FoldSpec::Loo,
    };
    let resources = Resources::default();
    let folded = FoldedTable::new(&data, &folds, ScaleFit::All).unwrap().0;
    let plan = Plan {
        table: &folded,
        spec: &spec,
        complete: None,
        separation: false,
        resources,
        isa: Isa::best(),
        ops: 0,
    };
    let subset = Subset::full(24);
    let run = |short| classes::<Manhattan16>(&plan, Isa::best(), &subset, short);
    assert_eq!(run(true), run(false));
}

#[test]
fn short_keys_are_used_without_ties_and_not_with_them() {
    let n = 120;
    let codes: Vec<u32> = (0..n as u32).map(|row| row % 3).collect();
    let make = |levels: usize| {
        let columns =
            (1..9).map(|f| (0..n).map(|row| (row * row * f % levels) as f64).collect()).collect();
        table(n, columns, codes.clone())
    };
    let uses_short_keys = |data: &Dataset| {
        let spec = EvaluationSpec {
            classifier: Classifier::Knn,
            k: 5,
            metric: Metric::Euclidean,
            weights: Weights::Uniform,
            alpha: None,
            scale_fit: ScaleFit::All,
            folds: FoldSpec::Loo,
        };
        let folds = Folds::draw(&spec.folds, data.codes(), 3).unwrap().0;
        let resources = Resources::default();
        let folded = FoldedTable::new(data, &folds, ScaleFit::All).unwrap().0;
        let mut plan = Plan {
            table: &folded,
            spec: &spec,
            complete: None,
            separation: false,
            resources,
            isa: Isa::best(),
            ops: 0,
        };
        let Quantized::Narrow(values) = &data.quantization().values else {
            panic!("a narrow table")
        };
        plan.coarse::<2>(|at| values[at]).is_some()
    };
    assert!(!uses_short_keys(&make(2)));
    assert!(uses_short_keys(&make(65521)));
}

/// A leave-one-out evaluator of three rows under `d` features.
fn three_rows(d: usize, metric: Metric) -> Box<dyn Classify> {
    let columns = [0.0, 0.3, 1.0].repeat(d);
    let names = (0..d).map(|feature| format!("f{feature}")).collect();
    let data = Dataset::new(&columns, vec![0, 1, 1], 2, names, Scale::Minmax).unwrap();
    let spec = EvaluationSpec {
        classifier: Classifier::Knn,
        k: 1,
        metric,
        weights: Weights::Uniform,
        alpha: None,
        scale_fit: ScaleFit::All,
        folds: FoldSpec::Loo,
    };
    crate::evaluate::build(&data, &spec, false, Resources::default()).unwrap().0
}

/// The trials of short keys on `d` features, in element operations: three pairs of rows.
fn trial_ops(d: usize) -> u64 {
    3 * (1..=4).map(|every| d.div_ceil(every) as u64).sum::<u64>()
}

#[test]
fn sums_have_32_bits_where_all_features_together_fit() {
    // 65 537 * 65 535 is 2^32 - 1. Only sums of 32 bits are tried with short keys.
    assert_eq!(three_rows(65_537, Metric::Manhattan).work().setup_ops, trial_ops(65_537));
    assert_eq!(three_rows(65_538, Metric::Manhattan).work().setup_ops, 0);
}

#[test]
fn the_farthest_rows_are_compared_before_bits_are_dropped() {
    for d in [1, 5, 100] {
        let ops = trial_ops(d) + 3 * d as u64;
        assert_eq!(three_rows(d, Metric::Euclidean).work().setup_ops, ops);
    }
}

/// Calls `check` with the plan of a leave-one-out 1-NN by Euclidean distance on columns of `n` values.
fn with_plan(columns: &[f64], n: usize, check: impl FnOnce(&mut Plan<'_>, &[u16])) {
    with_plan_of(columns, n, (1, Metric::Euclidean), check);
}

/// Calls `check` with the plan of a leave-one-out k-NN on columns of `n` values.
fn with_plan_of(
    columns: &[f64],
    n: usize,
    (k, metric): (usize, Metric),
    check: impl FnOnce(&mut Plan<'_>, &[u16]),
) {
    let names = (0..columns.len() / n).map(|feature| format!("f{feature}")).collect();
    let codes = (0..n as u32).map(|row| row % 2).collect();
    let data = Dataset::new(columns, codes, 2, names, Scale::Minmax).unwrap();
    let spec = EvaluationSpec {
        classifier: Classifier::Knn,
        k,
        metric,
        weights: Weights::Uniform,
        alpha: None,
        scale_fit: ScaleFit::All,
        folds: FoldSpec::Loo,
    };
    let folds = Folds::draw(&spec.folds, data.codes(), 2).unwrap().0;
    let table = FoldedTable::new(&data, &folds, ScaleFit::All).unwrap().0;
    let resources = Resources::default();
    let isa = Isa::best();
    let mut plan = Plan {
        table: &table,
        spec: &spec,
        complete: None,
        separation: false,
        resources,
        isa,
        ops: 0,
    };
    let Quantized::Narrow(values) = &data.quantization().values else { panic!("a narrow table") };
    check(&mut plan, values);
}

#[test]
fn as_few_bits_are_dropped_as_leave_squared_distances_32_bits() {
    let bits = |d: usize| {
        let mut found = None;
        with_plan(&[0.0, 1.0].repeat(d), 2, |plan, values| {
            found = plan.bits_to_lose(|at| values[at]);
        });
        found
    };
    // The longest distance is 65 535 sqrt(d) / 2^lost + sqrt(d), which has to be below sqrt(2^32 - 2^20) = 65 528.
    let longest = |d: f64, lost: i32| d.sqrt() * (65_535.0 / 2f64.powi(lost) + 1.0);
    assert!(longest(15.0, 2) < 65_528.0 && longest(16.0, 2) > 65_528.0);
    assert_eq!([bits(1), bits(15), bits(16)], [Some(2), Some(2), Some(3)]);
    assert!(longest(63.0, 3) < 65_528.0 && longest(64.0, 3) > 65_528.0);
    assert_eq!([bits(63), bits(64)], [Some(3), Some(4)]);
    assert!(longest(255.0, 4) < 65_528.0 && longest(256.0, 4) > 65_528.0);
    assert_eq!([bits(255), bits(256)], [Some(4), None]);
}

#[test]
fn the_greatest_short_keys_stay_free_and_large_tables_are_bounded() {
    // Fifteen features of 65 534 steps between the first two rows, and one of a little less.
    let bits = |last: f64| {
        let mut found = None;
        let columns = [[0.0, 1.0, 0.5].repeat(15), vec![0.0, last, 1.0]].concat();
        with_plan(&columns, 3, |plan, values| found = plan.bits_to_lose(|at| values[at]));
        found
    };
    let longest = |last: f64| 65_534.0 / 4.0 * (15.0 + last * last).sqrt() + 4.0;
    // Between sqrt(2^32 - 2^21) and sqrt(2^32 - 2^20), then between that and 2^16.
    assert!((65_522.0..65_526.0).contains(&longest(0.996_576)));
    assert_eq!(bits(0.996_576), Some(2));
    assert!((65_530.0..65_534.0).contains(&longest(0.998_522)));
    assert_eq!(bits(0.998_522), Some(3));
    // Pairs of 4095 rows under 33 features are too many to compare: the distances to the centroid bound theirs.
    let columns: Vec<f64> =
        (0..33 * 4095).map(|at| f64::from(at * (at / 4095 + 1) % 4093)).collect();
    with_plan(&columns, 4095, |plan, values| {
        assert_eq!(plan.bits_to_lose(|at| values[at]), Some(3));
        assert_eq!(plan.ops, 33 * 4095);
        let all = Distances::<Euclidean16>::new(plan.table, Isa::best(), |at| values[at]);
        let (farthest, bound) = (all.farthest(), all.farthest_at_most());
        assert!(farthest <= bound && bound <= 4.0 * farthest);
    });
}

#[test]
fn the_farthest_rows_are_found_in_every_block() {
    // The ends of the one feature are two rows of 40, wherever they stand.
    for (low, high) in [(0, 39), (5, 6), (17, 3), (38, 20)] {
        let mut column: Vec<f64> = (0..40).map(|row| 30.0 + f64::from(row % 7)).collect();
        (column[low], column[high]) = (0.0, 65.0);
        with_plan(&column, 40, |plan, values| {
            let all = Distances::<Euclidean16>::new(plan.table, Isa::best(), |at| values[at]);
            let resolution = plan.table.quantization.resolution;
            assert_eq!(all.farthest(), resolution * resolution);
        });
    }
}

#[test]
fn sums_of_long_columns_are_built_feature_after_feature() {
    // 3200 rows of 8 bytes are more than the cache holds of a feature; tests of two rows keep that quick.
    let (n, d) = (3200, 40);
    let columns: Vec<f64> = (0..n * d).map(|at| (at * at % 7919) as f64 / 13.0).collect();
    let codes: Vec<u32> = (0..n as u32).map(|row| row % 2).collect();
    let names = (0..d).map(|feature| format!("f{feature}")).collect();
    let data = Dataset::new(&columns, codes, 2, names, Scale::None).unwrap();
    assert!(matches!(data.quantization().values, Quantized::Wide(_)));
    let splits = vec![((2..n as u32).collect(), vec![0, 1])];
    let spec = EvaluationSpec {
        classifier: Classifier::Knn,
        k: 3,
        metric: Metric::Manhattan,
        weights: Weights::Uniform,
        alpha: None,
        scale_fit: ScaleFit::All,
        folds: FoldSpec::Splits { splits },
    };
    let build = |references| {
        let resources = Resources { references, ..Resources::default() };
        crate::evaluate::build(&data, &spec, false, resources).unwrap().0
    };
    let (mut kept, mut fresh) = (build(References::Always), build(References::Never));
    for size in [40, 39, 20, 36] {
        let subset = [Subset::from_indices(d, 0..size)];
        assert_eq!(kept.evaluate(&subset).unwrap(), fresh.evaluate(&subset).unwrap());
    }
}

#[test]
fn short_keys_are_for_few_neighbors_of_few_rows() {
    let fits = |n: u32, k| {
        let column: Vec<f64> = (0..n).map(f64::from).collect();
        let mut found = [false; 2];
        with_plan_of(&column, n as usize, (k, Metric::Manhattan), |plan, _| {
            found = [plan.fits_short_keys(true), plan.fits_short_keys(false)];
        });
        found
    };
    assert_eq!(fits(30, 10), [true, false]);
    assert_eq!(fits(30, 11), [false; 2]);
    assert_eq!(fits(4095, 1), [true, false]);
    assert_eq!(fits(4096, 1), [false; 2]);
}

/// The undecided cases of all features, the operations of the trials, and whether 32-bit keys are used.
fn trial(columns: &[f64], n: usize) -> (usize, u64, bool) {
    let mut found = (0, 0, false);
    with_plan_of(columns, n, (1, Metric::Manhattan), |plan, values| {
        let mut neighbors = Neighbors::<Manhattan16>::new(plan, Isa::best(), |at| values[at]);
        neighbors.uses_short_keys = true;
        let undecided = neighbors.undecided(&Subset::full(columns.len() / n));
        let ops = neighbors.try_short_keys();
        found = (undecided, ops, neighbors.uses_short_keys);
    });
    found
}

/// Ten rows under one feature that is not whole in steps. For the third, the nearest, the second and the third nearest
/// lie within a step of each other; every other row has a nearest one that is certain.
const ROWS_OF_ONE_DOUBT: [f64; 10] =
    [0.0, 10_000.3, 20_000.3, 30_000.3, 30_001.3, 36_000.0, 40_000.0, 47_000.0, 55_000.0, 65_535.0];

#[test]
fn short_keys_are_used_where_a_tenth_of_the_cases_is_undecided_and_no_more() {
    // Four trials, each of the one feature: 45 pairs of ten rows, 36 of nine.
    assert_eq!(trial(&ROWS_OF_ONE_DOUBT, 10), (1, 4 * 45, true));
    let nine = [&ROWS_OF_ONE_DOUBT[..7], &ROWS_OF_ONE_DOUBT[8..]].concat();
    assert_eq!(trial(&nine, 9), (1, 4 * 36, false));
}

#[test]
fn short_keys_are_not_used_where_undecided_cases_have_many_features() {
    // One undecided case in each of four trials: 4 d <= 2 * 4 * 10 rows.
    let uses_short_keys = |d| trial(&ROWS_OF_ONE_DOUBT.repeat(d), 10).2;
    assert!(uses_short_keys(20));
    assert!(!uses_short_keys(21));
}

#[test]
fn trials_take_every_feature_every_second_third_and_fourth() {
    let columns: Vec<f64> = (0..35).map(|value| f64::from(value * value % 37)).collect();
    // Ten pairs of five rows.
    assert_eq!(trial(&columns, 5).1, 10 * (7 + 4 + 3 + 2));
}
