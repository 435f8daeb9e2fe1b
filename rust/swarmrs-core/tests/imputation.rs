//! Missing values are imputed from the training rows of each fold: the scores equal those of every split evaluated alone on
//! a table imputed for it.

use proptest::prelude::*;
use std::sync::Arc;
use swarmrs_core::Result;
use swarmrs_core::base::subset::Subset;
use swarmrs_core::data::dataset::{Dataset, FoldImputer, Scale};
use swarmrs_core::data::folds::{FoldSpec, Folds};
use swarmrs_core::evaluate::{
    self, Classifier, Classify, EvaluationSpec, Measures, Metric, Resources, ScaleFit, Weights,
};

/// Columns with missing values, imputed by the mean of the known values, or by zero if there are none.
#[derive(Debug, Clone)]
struct Gappy {
    columns: Vec<Vec<Option<f64>>>,
    rows: Vec<u32>,
}

impl Gappy {
    fn new(columns: Vec<Vec<Option<f64>>>) -> Self {
        let n = columns[0].len() as u32;
        let has_gap = |&row: &u32| columns.iter().any(|column| column[row as usize].is_none());
        let rows = (0..n).filter(has_gap).collect();
        Self { columns, rows }
    }

    fn filled(&self, rows: &[u32], by: &[u32]) -> Vec<f64> {
        let values = |column: &Vec<Option<f64>>| -> Vec<f64> {
            let known: Vec<f64> = by.iter().filter_map(|&row| column[row as usize]).collect();
            let mean =
                if known.is_empty() { 0.0 } else { known.iter().sum::<f64>() / known.len() as f64 };
            rows.iter().map(|&row| column[row as usize].unwrap_or(mean)).collect()
        };
        self.columns.iter().flat_map(values).collect()
    }
}

impl FoldImputer for Gappy {
    fn rows(&self) -> &[u32] {
        &self.rows
    }

    fn values(&self, by: &[u32]) -> Result<Vec<f64>> {
        Ok(self.filled(&self.rows, by))
    }
}

fn dataset(gappy: &Gappy, codes: &[u32], by: &[u32], scale: Scale) -> Dataset {
    let all: Vec<u32> = (0..codes.len() as u32).collect();
    let names = (0..gappy.columns.len()).map(|at| format!("f{at}")).collect();
    Dataset::new(&gappy.filled(&all, by), codes.to_vec(), 3, names, scale).unwrap()
}

fn evaluator(data: &Dataset, spec: &EvaluationSpec, separation: bool) -> Box<dyn Classify> {
    evaluate::build(data, spec, separation, Resources::default()).unwrap().0
}

/// Rows of a few values each, so that distances tie; the first and the last hold the ends of each column.
fn table() -> impl Strategy<Value = (Gappy, Vec<u32>)> {
    (12usize..48, 1usize..6).prop_flat_map(|(n, d)| {
        let value = prop_oneof![
            1 => Just(None),
            2 => (0u32..5).prop_map(|level| Some(f64::from(level) * 2.0)),
            2 => (0.0..8.0).prop_map(Some),
        ];
        let column = proptest::collection::vec(value, n).prop_map(move |mut column| {
            (column[0], column[n - 1]) = (Some(0.0), Some(8.0));
            column
        });
        (
            proptest::collection::vec(column, d).prop_map(Gappy::new),
            proptest::collection::vec(0u32..3, n).prop_map(|mut codes| {
                (codes[0], codes[1]) = (0, 1);
                codes
            }),
        )
    })
}

fn spec(classifier: Classifier, metric: Metric, k: usize, folds: FoldSpec) -> EvaluationSpec {
    EvaluationSpec {
        classifier,
        k,
        metric,
        weights: Weights::Uniform,
        alpha: None,
        scale_fit: ScaleFit::All,
        folds,
    }
}

proptest! {
    #[test]
    fn each_split_sees_what_its_training_rows_fill(
        (gappy, codes) in table(),
        classifier in prop_oneof![Just(Classifier::Knn), Just(Classifier::Nb), Just(Classifier::NbCdf), Just(Classifier::Ridge)],
        metric in prop_oneof![Just(Metric::Manhattan), Just(Metric::Euclidean)],
        scale in prop_oneof![Just(Scale::Minmax), Just(Scale::None)],
        scheme in 0usize..4, k in 1usize..4, chosen: u8, seed: u64,
    ) {
        let folds = [
            FoldSpec::Loo,
            FoldSpec::Kfold { k: 3, shuffle: true, seed },
            FoldSpec::Kfold { k: 4, shuffle: false, seed },
            FoldSpec::Holdout { test: 0.4, seed },
        ][scheme].clone();
        let mut subset = Subset::from_fn(gappy.columns.len(), |feature| chosen >> feature & 1 == 1);
        subset.insert(0);
        let all: Vec<u32> = (0..codes.len() as u32).collect();
        let whole = dataset(&gappy, &codes, &all, scale);
        let print = whole.fingerprint().to_owned();
        let whole = whole.with_imputer(Arc::new(gappy.clone()), "mean");
        prop_assert_ne!(whole.fingerprint(), &print);

        let separation = classifier == Classifier::Knn && metric == Metric::Manhattan && scale == Scale::Minmax;
        let spec = spec(classifier, metric, k, folds);
        let mut seen = evaluator(&whole, &spec, separation);
        let predicted = seen.predict(&subset);
        let measured = seen.evaluate(std::slice::from_ref(&subset)).unwrap()[0];

        let splits = Folds::draw(&spec.folds, &codes, 3).unwrap().0.splits();
        let (mut expected, mut alone): (Vec<(u32, u32)>, Vec<Measures>) = (Vec::new(), Vec::new());
        let mut separations = 0.0;
        for split in &splits {
            let data = dataset(&gappy, &codes, &split.train, scale);
            let pair = (split.train.clone(), split.test.clone());
            let spec = EvaluationSpec { folds: FoldSpec::Splits { splits: vec![pair] }, ..spec.clone() };
            let mut one = evaluator(&data, &spec, separation);
            expected.extend(one.predict(&subset));
            let shown = one.evaluate(std::slice::from_ref(&subset)).unwrap()[0];
            separations += shown.separation * split.test.len() as f64;
            alone.push(shown);
        }
        prop_assert_eq!(predicted, expected.clone());
        // Means of fractions, summed in another order.
        let error = alone.iter().map(|shown| shown.error).sum::<f64>() / alone.len() as f64;
        prop_assert!((measured.error - error).abs() < 1e-12);
        if separation {
            // Tables filled by other rows have other lattices: each mean is off by one of more than 32 767 steps at most.
            prop_assert!((measured.separation - separations / expected.len() as f64).abs() < 4.0 / 32_767.0);
        }
    }
}

#[test]
fn repeated_folds_fill_each_time() {
    let column =
        |at: usize| (0..30).map(|row| (row % 7 != at).then_some((row * at % 5) as f64)).collect();
    let gappy = Gappy::new((1..5).map(column).collect());
    let codes: Vec<u32> = (0..30).map(|row| row % 3).collect();
    let all: Vec<u32> = (0..30).collect();
    let data = dataset(&gappy, &codes, &all, Scale::Minmax).with_imputer(Arc::new(gappy), "mean");
    let spec = spec(Classifier::Knn, Metric::Euclidean, 1, FoldSpec::Wrap5 { seed: 3 });
    let predicted = evaluator(&data, &spec, false).predict(&Subset::full(4));
    let first = EvaluationSpec { folds: FoldSpec::Kfold { k: 5, shuffle: true, seed: 3 }, ..spec };
    assert_eq!(predicted.len(), 150);
    assert_eq!(predicted[..30], evaluator(&data, &first, false).predict(&Subset::full(4)));
}

/// Fills nothing, or all of very many rows.
#[derive(Debug)]
struct Odd(Vec<u32>);

impl FoldImputer for Odd {
    fn rows(&self) -> &[u32] {
        &self.0
    }

    fn values(&self, _: &[u32]) -> Result<Vec<f64>> {
        Ok(Vec::new())
    }
}

#[test]
fn what_does_not_fill_is_refused_and_what_takes_too_much_is_said() {
    let build = |n: u32, folds: FoldSpec| {
        let columns: Vec<f64> = (0..n).map(f64::from).collect();
        let codes = (0..n).map(|row| row % 2).collect();
        let data = Dataset::new(&columns, codes, 2, vec!["a".into()], Scale::Minmax).unwrap();
        let data = data.with_imputer(Arc::new(Odd((0..n).collect())), "odd");
        let spec = spec(Classifier::Nb, Metric::Euclidean, 1, folds);
        evaluate::build(&data, &spec, false, Resources::default()).map(|built| built.1)
    };
    let message = build(20, FoldSpec::Loo).unwrap_err().to_string();
    assert_eq!(message, "missing values of 20 rows and 1 columns are not filled");
    let warnings = build(8000, FoldSpec::Loo).unwrap();
    assert!(
        warnings[0].starts_with("missing values are filled over all rows, those of test folds too")
    );
}
