//! The discretized table: the levels of each column and their relevance for the class.

use super::discretize::{self, Labels};
use super::entropy::{Logs, information, symmetrical_uncertainty};
use super::partitions::Partitions;
use crate::base::cancel;
use crate::base::parallel::Pool;

/// The discretized columns of a table.
#[derive(Debug)]
pub struct Levels {
    partitions: Partitions,
    relevances: Vec<Relevance>,
}

/// The mutual information and the symmetrical uncertainty of a column and the class.
#[derive(Debug)]
struct Relevance {
    information: f64,
    uncertainty: f32,
}

impl Levels {
    /// Discretizes `values`, column after column, by the class code of each row.
    pub fn new(values: &[f64], codes: &[u32], n_classes: usize, pool: &Pool) -> Self {
        let n_samples = codes.len();
        let logs = Logs::new(n_samples);
        let classes = Labels { codes, count: n_classes };
        let mut counts = vec![0; n_classes];
        for &code in codes {
            counts[code as usize] += 1;
        }
        let class_entropy = logs.entropy(counts);
        let columns = values.chunks_exact(n_samples).collect();
        let (levels, relevances) = pool
            .map(columns, |column| {
                let levels = discretize::levels(column, classes, &logs);
                let relevance = Relevance::new(&levels, classes, class_entropy, &logs);
                (levels, relevance)
            })
            .into_iter()
            .unzip();
        Self { partitions: Partitions::new(levels, n_samples, logs, pool), relevances }
    }

    /// The number of columns.
    pub fn n_features(&self) -> usize {
        self.relevances.len()
    }

    /// The number of levels of a column; a column of one level is constant.
    pub fn count(&self, feature: usize) -> usize {
        self.partitions.count(feature)
    }

    /// The symmetrical uncertainty of a column and the class.
    pub fn relevance(&self, feature: usize) -> f32 {
        self.relevances[feature].uncertainty
    }

    /// The mutual information of a column and the class, in bits.
    pub fn information(&self, feature: usize) -> f64 {
        self.relevances[feature].information
    }

    /// The symmetrical uncertainty of two columns, not cached; 0 if either has a single level.
    pub fn uncertainty(&self, a: usize, b: usize) -> f32 {
        // Every filter by entropy calls this, so one check makes all of them cancellable.
        cancel::check();
        self.partitions.uncertainty(a, b)
    }
}

impl Relevance {
    fn new(levels: &[u32], classes: Labels<'_>, class_entropy: f64, logs: &Logs) -> Self {
        let n_levels = 1 + levels.iter().max().map_or(0, |&level| level as usize);
        if n_levels == 1 {
            return Self { information: 0.0, uncertainty: 0.0 };
        }
        let mut counts = vec![0; n_levels];
        let mut joint = vec![0; n_levels * classes.count];
        for (&level, &code) in levels.iter().zip(classes.codes) {
            counts[level as usize] += 1;
            joint[level as usize * classes.count + code as usize] += 1;
        }
        let entropy = logs.entropy(counts);
        let joint = logs.entropy(joint);
        Self {
            information: information(entropy, class_entropy, joint),
            uncertainty: symmetrical_uncertainty(entropy, class_entropy, joint),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A table whose columns are correlated with the class, the first ones most.
    fn table(rows: &[(u32, Vec<u8>)]) -> (Vec<f64>, Vec<u32>) {
        let codes: Vec<u32> = rows.iter().map(|(code, _)| *code).collect();
        let columns = (0..rows[0].1.len()).flat_map(|feature| {
            rows.iter().map(move |(code, noise)| {
                f64::from(noise[feature] % (2 + 4 * feature as u8)) + f64::from(3 * code)
            })
        });
        (columns.collect(), codes)
    }

    proptest! {
        #[test]
        fn uncertainty_matches_entropies_of_counted_levels(
            rows in proptest::collection::vec((0u32..3, proptest::collection::vec(0u8..40, 5)), 2..150),
        ) {
            let (values, codes) = table(&rows);
            let levels = Levels::new(&values, &codes, 3, &Pool::new(1));
            let logs = Logs::new(codes.len());
            let classes = Labels { codes: &codes, count: 3 };
            let of = |feature: usize| {
                let column = &values[feature * codes.len()..][..codes.len()];
                discretize::levels(column, classes, &logs)
            };
            // The entropy of the distribution of equal keys.
            let entropy = |keys: Vec<u64>| {
                let mut sorted = keys;
                sorted.sort_unstable();
                let n = sorted.len() as f64;
                sorted.chunk_by(|a, b| a == b).map(|chunk| {
                    let share = chunk.len() as f64 / n;
                    -share * crate::base::math::log2(share)
                }).sum::<f64>()
            };
            let naive = |a: &[u32], b: &[u32]| {
                let single = |x: &[u32]| entropy(x.iter().map(|&x| u64::from(x)).collect());
                let joint = entropy(a.iter().zip(b).map(|(&a, &b)| u64::from(a) << 32 | u64::from(b)).collect());
                let sum = single(a) + single(b);
                if sum == 0.0 { 0.0 } else { 2.0 * (sum - joint) / sum }
            };
            for a in 0..5 {
                prop_assert!((f64::from(levels.relevance(a)) - naive(&of(a), &codes)).abs() < 1e-6);
                prop_assert_eq!(levels.relevance(a) > 0.0, levels.count(a) > 1);
                prop_assert_eq!(levels.count(a), 1 + *of(a).iter().max().unwrap() as usize);
                for b in 0..5 {
                    let found = levels.uncertainty(a, b);
                    prop_assert_eq!(found.to_bits(), levels.uncertainty(b, a).to_bits());
                    prop_assert!((0.0..=1.0).contains(&found));
                    prop_assert!((f64::from(found) - naive(&of(a), &of(b))).abs() < 1e-6);
                }
            }
        }

        #[test]
        fn levels_do_not_depend_on_the_number_of_threads(
            rows in proptest::collection::vec((0u32..3, proptest::collection::vec(0u8..40, 5)), 2..60),
        ) {
            let (values, codes) = table(&rows);
            let of = |threads| format!("{:?}", Levels::new(&values, &codes, 3, &Pool::new(threads)));
            prop_assert_eq!(of(1), of(2));
        }
    }
}
