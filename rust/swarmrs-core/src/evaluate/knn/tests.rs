use super::*;
use crate::data::dataset::{Dataset, Scale};
use crate::data::folds::{FoldSpec, Folds};
use crate::evaluate::{Classifier, Resources, ScaleFit};
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
    neighbors.classify(&found.candidates, shortlist, subset)
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
            weights: if by_distance { Weights::Distance } else { Weights::Uniform },
        };
        let folds = Folds::draw(&folds, data.codes(), 3).unwrap().0;
        let mut subset = Subset::from_fn(d, |feature| chosen >> feature & 1 == 1);
        subset.insert(0);
        let folded = FoldedTable::new(&data, &folds, ScaleFit::All).unwrap().0;
        let plan = Plan { table: &folded, spec: &spec, separation: false, resources: Resources::default(), isa: Isa::best(), ops: 0 };
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
        scale_fit: ScaleFit::All,
        folds: FoldSpec::Loo,
    };
    let resources = Resources::default();
    let folded = FoldedTable::new(&data, &folds, ScaleFit::All).unwrap().0;
    let plan = Plan {
        table: &folded,
        spec: &spec,
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
            scale_fit: ScaleFit::All,
            folds: FoldSpec::Loo,
        };
        let folds = Folds::draw(&spec.folds, data.codes(), 3).unwrap().0;
        let resources = Resources::default();
        let folded = FoldedTable::new(data, &folds, ScaleFit::All).unwrap().0;
        let mut plan = Plan {
            table: &folded,
            spec: &spec,
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
