//! Cross-validation folds: leave-one-out, complete, stratified k-fold, hold-out, given splits.
//!
//! Folds depend on the classes and on their own seed, not on the seed of the search, so all searches that are compared use
//! the same folds.

use crate::base::error::{Error, Result};
use crate::base::random::{Phase, Streams};
use serde::{Deserialize, Serialize};

/// The cross-validation scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "scheme", rename_all = "lowercase", deny_unknown_fields)]
pub enum FoldSpec {
    /// Every row is a fold of its own.
    Loo,
    /// Complete cross-validation: the mean over all training sets of one size. The folds drawn are those of leave-one-out;
    /// [`kept`](Self::kept) is the number of the other rows in a training set.
    Complete {
        /// The fraction of the other rows left out of a training set, in (0, 1).
        test: f64,
    },
    /// Stratified k-fold; without `shuffle` consecutive rows of a class are in the same fold.
    Kfold {
        /// The number of folds.
        k: usize,
        /// True if rows are shuffled first.
        shuffle: bool,
        /// The seed of the shuffle.
        seed: u64,
    },
    /// One stratified hold-out split.
    Holdout {
        /// The fraction of rows tested, in (0, 1).
        test: f64,
        /// The seed of the split.
        seed: u64,
    },
    /// Stratified 5-fold, repeated up to five times while the errors of a subset vary too much.
    Wrap5 {
        /// The seed of the shuffles.
        seed: u64,
    },
    /// The folds of the algorithm's paper; replaced by these before folds are drawn.
    Own {
        /// The seed of the shuffles.
        seed: u64,
    },
    /// Any (train, test) pairs of row indices.
    Splits {
        /// The pairs.
        splits: Vec<(Vec<u32>, Vec<u32>)>,
    },
}

/// The repeats of [`FoldSpec::Wrap5`] and the folds of each.
const WRAP5: (u64, usize) = (5, 5);

impl FoldSpec {
    /// The same folds under another seed.
    #[must_use]
    pub fn reseeded(self, seed: u64) -> Self {
        match self {
            Self::Kfold { k, shuffle, .. } => Self::Kfold { k, shuffle, seed },
            Self::Holdout { test, .. } => Self::Holdout { test, seed },
            Self::Wrap5 { .. } => Self::Wrap5 { seed },
            Self::Own { .. } => Self::Own { seed },
            other @ (Self::Loo | Self::Complete { .. } | Self::Splits { .. }) => other,
        }
    }

    /// The number of training rows of a split, for complete cross-validation of `n` rows.
    pub fn kept(&self, n: usize) -> Option<usize> {
        match self {
            Self::Complete { test } => Some(((1.0 - test) * (n as f64 - 1.0)).round() as usize),
            _ => None,
        }
    }
}

/// The training rows and the test rows of a split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Ascending.
    pub train: Vec<u32>,
    /// Ascending.
    pub test: Vec<u32>,
}

/// The folds of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Folds {
    /// Each row is tested once, with the rows of all other folds as training rows.
    Partition {
        /// The fold of each row.
        fold_of: Vec<u32>,
        /// The number of folds.
        n_folds: usize,
    },
    /// Any list of splits.
    Splits(Vec<Split>),
}

impl Folds {
    /// Draws the folds for rows of these classes; returns them with warnings for the user.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for more folds than rows, [`Error::BadSpec`] for splits that do not fit the table or for
    /// [`FoldSpec::Own`], which specifies no folds.
    pub fn draw(spec: &FoldSpec, codes: &[u32], n_classes: usize) -> Result<(Self, Vec<String>)> {
        Self::draw_repeat(spec, codes, n_classes, 0)
    }

    /// All repeats of the folds of `spec`: several for repeated cross-validation, else one.
    ///
    /// # Errors
    /// As for [`draw`](Self::draw).
    pub fn draw_all(
        spec: &FoldSpec,
        codes: &[u32],
        n_classes: usize,
    ) -> Result<(Vec<Self>, Vec<String>)> {
        let repeats = if matches!(spec, FoldSpec::Wrap5 { .. }) { WRAP5.0 } else { 1 };
        let drawn: Result<Vec<_>> =
            (0..repeats).map(|repeat| Self::draw_repeat(spec, codes, n_classes, repeat)).collect();
        let (folds, mut warnings): (Vec<Self>, Vec<Vec<String>>) = drawn?.into_iter().unzip();
        // The warnings are about class sizes, and the same for every repeat.
        Ok((folds, warnings.swap_remove(0)))
    }

    fn draw_repeat(
        spec: &FoldSpec,
        codes: &[u32],
        n_classes: usize,
        repeat: u64,
    ) -> Result<(Self, Vec<String>)> {
        let n = codes.len();
        let mut warnings = Vec::new();
        let folds = match spec {
            FoldSpec::Loo => leave_one_out(n),
            &FoldSpec::Complete { test } => {
                check_fraction(test)?;
                leave_one_out(n)
            }
            &FoldSpec::Wrap5 { seed } => {
                let spec = FoldSpec::Kfold { k: WRAP5.1, shuffle: true, seed };
                return Self::draw_repeat(&spec, codes, n_classes, repeat);
            }
            FoldSpec::Own { .. } => {
                let what = "the folds of an algorithm's paper are not known without an algorithm";
                return Err(Error::BadSpec { what: what.into() });
            }
            &FoldSpec::Kfold { k, shuffle, seed } => {
                if k < 2 || k > n {
                    let expected = format!("2 to {n}, the number of rows");
                    return Err(Error::out_of_range("folds", k, &expected));
                }
                let members = members(codes, n_classes);
                for (class, rows) in members.iter().enumerate() {
                    if !rows.is_empty() && rows.len() < k {
                        warnings.push(format!(
                            "class {class} has {} row(s), fewer than the {k} folds: some folds test none of them",
                            rows.len()
                        ));
                    }
                }
                let shuffle = shuffle.then_some((seed, repeat));
                Self::Partition { fold_of: stratified(members, n, k, shuffle), n_folds: k }
            }
            &FoldSpec::Holdout { test, seed } => {
                check_fraction(test)?;
                Self::Splits(vec![holdout(members(codes, n_classes), test, seed)?])
            }
            FoldSpec::Splits { splits } => {
                let splits = splits.iter().map(|(train, test)| checked_split(train, test, n));
                let splits = splits.collect::<Result<Vec<_>>>()?;
                partition(&splits, n).unwrap_or(Self::Splits(splits))
            }
        };
        if matches!(&folds, Self::Splits(splits) if splits.is_empty()) {
            return Err(Error::BadSpec { what: "the list of splits is empty".into() });
        }
        Ok((folds, warnings))
    }

    /// The number of splits.
    pub fn n_splits(&self) -> usize {
        match self {
            Self::Partition { n_folds, .. } => *n_folds,
            Self::Splits(splits) => splits.len(),
        }
    }

    /// The test rows of each split, ascending.
    pub fn tests(&self) -> Vec<Vec<u32>> {
        match self {
            Self::Splits(splits) => splits.iter().map(|split| split.test.clone()).collect(),
            Self::Partition { fold_of, n_folds } => {
                let mut tests = vec![Vec::new(); *n_folds];
                for (row, &fold) in fold_of.iter().enumerate() {
                    tests[fold as usize].push(row as u32);
                }
                tests
            }
        }
    }

    /// The splits as lists of rows; for leave-one-out they take memory quadratic in the number of rows.
    pub fn splits(&self) -> Vec<Split> {
        match self {
            Self::Splits(splits) => splits.clone(),
            Self::Partition { fold_of, n_folds } => (0..*n_folds as u32)
                .map(|fold| {
                    let (test, train) =
                        (0..fold_of.len() as u32).partition(|&row| fold_of[row as usize] == fold);
                    Split { train, test }
                })
                .collect(),
        }
    }

    /// The size of the smallest training set.
    pub fn least_training(&self) -> usize {
        match self {
            Self::Splits(splits) => splits.iter().map(|split| split.train.len()).min().unwrap_or(0),
            Self::Partition { fold_of, n_folds } => {
                let mut sizes = vec![0; *n_folds];
                for &fold in fold_of {
                    sizes[fold as usize] += 1;
                }
                fold_of.len() - sizes.into_iter().max().unwrap_or(0)
            }
        }
    }
}

fn leave_one_out(n: usize) -> Folds {
    Folds::Partition { fold_of: (0..n as u32).collect(), n_folds: n }
}

fn check_fraction(test: f64) -> Result<()> {
    if test > 0.0 && test < 1.0 {
        return Ok(());
    }
    Err(Error::out_of_range("test", test, "a fraction between 0 and 1"))
}

/// The partition that splits form if each row is tested once and every split trains on all rows it does not test.
/// Partitions are faster to evaluate than general splits.
fn partition(splits: &[Split], n: usize) -> Option<Folds> {
    let mut fold_of = vec![None; n];
    for (fold, Split { train, test }) in (0..).zip(splits) {
        // Training and test rows are disjoint, so equal counts mean that they cover the table.
        if train.len() + test.len() != n {
            return None;
        }
        for &row in test {
            if fold_of[row as usize].replace(fold).is_some() {
                return None;
            }
        }
    }
    let fold_of = fold_of.into_iter().collect::<Option<Vec<u32>>>()?;
    Some(Folds::Partition { fold_of, n_folds: splits.len() })
}

fn members(codes: &[u32], n_classes: usize) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); n_classes];
    for (row, &code) in codes.iter().enumerate() {
        members[code as usize].push(row as u32);
    }
    members
}

/// The fold of each row. The rows of each class are assigned to the folds in turn; the next class continues with the next
/// fold. `shuffle` is a seed and the number of the repeat. Without it the folds are those of scikit-learn's
/// `StratifiedKFold`, which visits the classes in the order of their first rows.
fn stratified(
    mut members: Vec<Vec<u32>>,
    n: usize,
    k: usize,
    shuffle: Option<(u64, u64)>,
) -> Vec<u32> {
    let mut fold_of = vec![0; n];
    if shuffle.is_none() {
        members.sort_by_key(|rows| rows.first().copied());
    }
    let mut next = 0;
    for (class, mut rows) in members.into_iter().enumerate() {
        let mut folds: Vec<usize> = (0..rows.len()).map(|i| (next + i) % k).collect();
        next = (next + rows.len()) % k;
        if let Some((seed, repeat)) = shuffle {
            Streams::new(seed).rng(repeat, Phase::Folds, class).shuffle(&mut rows);
        } else {
            folds.sort_unstable();
        }
        for (row, fold) in rows.into_iter().zip(folds) {
            fold_of[row as usize] = fold as u32;
        }
    }
    fold_of
}

fn holdout(members: Vec<Vec<u32>>, fraction: f64, seed: u64) -> Result<Split> {
    let streams = Streams::new(seed);
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (class, mut rows) in members.into_iter().enumerate() {
        streams.rng(0, Phase::Folds, class).shuffle(&mut rows);
        let n_test = (rows.len() as f64 * fraction).round() as usize;
        test.extend_from_slice(&rows[..n_test]);
        train.extend_from_slice(&rows[n_test..]);
    }
    if train.is_empty() || test.is_empty() {
        return Err(Error::out_of_range(
            "test",
            fraction,
            "a fraction that leaves rows on both sides",
        ));
    }
    train.sort_unstable();
    test.sort_unstable();
    Ok(Split { train, test })
}

/// Checks and sorts a split given by the user.
fn checked_split(train: &[u32], test: &[u32], n: usize) -> Result<Split> {
    let bad = |what: String| Error::BadSpec { what };
    let sorted = |rows: &[u32], part: &str| {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        match rows.last() {
            None => Err(bad(format!("a split has no {part} rows"))),
            Some(&last) if last as usize >= n => {
                Err(bad(format!("a split names row {last} of a table of {n}")))
            }
            _ if rows.windows(2).any(|pair| pair[0] == pair[1]) => {
                Err(bad(format!("a split names a {part} row twice")))
            }
            _ => Ok(rows),
        }
    };
    let split = Split { train: sorted(train, "training")?, test: sorted(test, "test")? };
    match split.test.iter().find(|row| split.train.binary_search(row).is_ok()) {
        Some(row) => Err(bad(format!("a split trains on row {row} and tests it"))),
        None => Ok(split),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kfold(k: usize, shuffle: bool, seed: u64) -> FoldSpec {
        FoldSpec::Kfold { k, shuffle, seed }
    }

    proptest! {
        #[test]
        fn folds_are_stratified_to_within_one_row(
            codes in proptest::collection::vec(0u32..4, 10..80), k in 2usize..10, shuffle: bool, seed: u64,
        ) {
            let (folds, warnings) = Folds::draw(&kfold(k, shuffle, seed), &codes, 4).unwrap();
            let splits = folds.splits();
            prop_assert_eq!(splits.len(), k);
            prop_assert_eq!(splits.iter().map(|s| s.test.len()).sum::<usize>(), codes.len());
            prop_assert!(folds.tests().iter().eq(splits.iter().map(|s| &s.test)));
            for class in 0..4 {
                let counts: Vec<usize> = splits.iter()
                    .map(|s| s.test.iter().filter(|&&r| codes[r as usize] == class).count()).collect();
                prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
                let total: usize = counts.iter().sum();
                let is_warned = warnings.iter().any(|w| w.starts_with(&format!("class {class} has {total} ")));
                prop_assert_eq!(is_warned, total > 0 && total < k);
            }
            let sizes: Vec<usize> = splits.iter().map(|s| s.test.len()).collect();
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            prop_assert_eq!(folds.least_training(), splits.iter().map(|s| s.train.len()).min().unwrap());
        }

        #[test]
        fn splits_that_form_folds_become_a_partition(codes in proptest::collection::vec(0u32..3, 6..40), k in 2usize..6, dropped in 0u32..6) {
            let (folds, _) = Folds::draw(&kfold(k, true, 3), &codes, 3).unwrap();
            let mut splits: Vec<_> = folds.splits().into_iter().map(|s| (s.train, s.test)).collect();
            let draw = |splits: &[(Vec<u32>, Vec<u32>)]| {
                Folds::draw(&FoldSpec::Splits { splits: splits.to_vec() }, &codes, 3).unwrap().0
            };
            prop_assert_eq!(&draw(&splits), &folds);
            // A duplicate fold, a missing fold, or a row that neither trains nor is tested.
            prop_assert!(matches!(draw(&[&splits[..], &splits[..1]].concat()), Folds::Splits(_)));
            prop_assert!(matches!(draw(&splits[1..]), Folds::Splits(_)));
            splits[0].0.retain(|&row| row != dropped);
            prop_assert_eq!(matches!(draw(&splits), Folds::Splits(_)), folds.splits()[0].train.contains(&dropped));
        }
    }

    #[test]
    fn repeats_of_wrap5_differ_and_the_first_is_5_fold() {
        let codes: Vec<u32> = (0..60).map(|row| row % 3).collect();
        let (all, _) = Folds::draw_all(&FoldSpec::Wrap5 { seed: 7 }, &codes, 3).unwrap();
        assert_eq!(all.len(), 5);
        assert!(all.iter().all(|folds| folds.n_splits() == 5));
        assert!((0..5).all(|a| (0..a).all(|b| all[a] != all[b])));
        assert_eq!(all[0], Folds::draw(&kfold(5, true, 7), &codes, 3).unwrap().0);
        let (one, _) = Folds::draw_all(&FoldSpec::Loo, &codes, 3).unwrap();
        assert_eq!(one.len(), 1);
        assert!(Folds::draw(&FoldSpec::Own { seed: 7 }, &codes, 3).is_err());
    }

    #[test]
    fn unshuffled_folds_are_runs_of_rows_within_a_class() {
        let (folds, _) = Folds::draw(&kfold(2, false, 0), &[0, 0, 0, 0, 1, 1], 2).unwrap();
        assert_eq!(folds, Folds::Partition { fold_of: vec![0, 0, 1, 1, 0, 1], n_folds: 2 });
    }

    #[test]
    fn a_holdout_is_stratified() {
        let codes = [vec![0; 70], vec![1; 30]].concat();
        let (folds, _) = Folds::draw(&FoldSpec::Holdout { test: 0.3, seed: 4 }, &codes, 2).unwrap();
        let split = &folds.splits()[0];
        assert_eq!(split.test.len(), 30);
        assert_eq!(split.test.iter().filter(|&&row| row < 70).count(), 21);
    }

    #[test]
    fn splits_that_do_not_fit_are_refused() {
        let draw = |splits: Vec<(Vec<u32>, Vec<u32>)>| {
            Folds::draw(&FoldSpec::Splits { splits }, &[0, 1, 0], 2).unwrap_err().to_string()
        };
        assert_eq!(draw(vec![]), "the list of splits is empty");
        assert_eq!(draw(vec![(vec![0], vec![3])]), "a split names row 3 of a table of 3");
        assert_eq!(draw(vec![(vec![0, 1], vec![1])]), "a split trains on row 1 and tests it");
        assert_eq!(draw(vec![(vec![], vec![1])]), "a split has no training rows");
        assert_eq!(draw(vec![(vec![0, 0], vec![1])]), "a split names a training row twice");
        let many = Folds::draw(&kfold(4, true, 0), &[0, 1, 0], 2).unwrap_err().to_string();
        assert_eq!(many, "folds is 4, expected 2 to 3, the number of rows");
    }
}
