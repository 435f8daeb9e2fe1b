//! Gaussian naive Bayes by tabulated log-likelihoods.
//!
//! The log-likelihood of a row under a class is a sum over features, and for fixed folds the term of a feature never
//! changes. Terms become whole numbers once; a subset is then a sum of tables and the class of the greatest sum, the
//! smallest class of equals. Nothing is trained while searching.
//!
//! A term is `-ln(2 pi v) / 2 - (x - m)^2 / (2 v)` with the mean `m` and the population variance of the class in the
//! rows that train for the tested row; `v` is that variance plus 1e-9 of the largest variance any feature has over all
//! these rows. Means and variances come from exact integer sums, so leaving rows out is exact too. Terms are held to a
//! step of 2^-40 nats, or, for each case, to the finest that lets any subset sum without overflow.
//!
//! The other likelihood repeats a published error, not a method: the normal cumulative function of `(x - m) / s`, `s` the
//! sample deviation, stands where the density belongs, so that large values speak for every class and the class of the
//! smallest means tends to win. Without deviation it is 1 from the mean on and 0 before. A class with a 0 is ruled out;
//! where all are, the smallest wins.

use super::folded::FoldedTable;
use super::incremental::{Additive, Incremental, Step};
use super::{Classify, Measures, Resources, TestCases};
use crate::base::math::ln;
use crate::base::parallel::Pool;
use crate::base::subset::Subset;
use crate::simd::{self, Isa};
use std::borrow::Cow;
use training::Training;

mod training;

/// The share of the largest variance that is added to every variance, as scikit-learn does.
const SMOOTHING: f64 = 1e-9;
/// Terms are no finer than one over this.
const FINEST: f64 = (1u64 << 40) as f64;
/// The sum of all terms of a row stays below this.
const ROOM: f64 = (1u64 << 60) as f64;
/// How much less likely than the best class, in nats, a feature can make another one. Features that contradict each other
/// by more than that are as good as equal.
const WORST: f64 = (1u64 << 40) as f64;
/// Tables that are added in one go.
const TOGETHER: usize = 64;
/// The prior of a class that has no row to learn from: below any sum.
const NEVER: i64 = i64::MIN / 2;

/// The likelihood of a value under a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likelihood {
    /// The normal density: naive Bayes.
    Density,
    /// The normal cumulative function: the published error.
    Cumulative,
}

/// Log-likelihoods of each case under each class.
pub struct NaiveBayes {
    n_features: usize,
    n_classes: usize,
    cases: TestCases,
    training: Training,
    /// The priors, a number for each case: of class after class, or of the others beyond the first.
    priors: Vec<i64>,
    /// The terms, feature after feature, in the order of the priors. Empty where memory is short.
    tables: Vec<i64>,
    /// The factor of each case that makes its terms whole numbers.
    scales: Vec<f64>,
    /// For each case the term of a feature that rules a class out: below the sum of all others.
    lowest: Vec<f64>,
    /// For each case, sums up to this one are of classes that are ruled out; none where no feature does that.
    ruled_out: Option<Vec<i64>>,
    isa: Isa,
}

impl NaiveBayes {
    /// The evaluator for this table, and what a user should know about it.
    pub fn evaluator(
        table: &FoldedTable<'_>,
        likelihood: Likelihood,
        resources: Resources,
        isa: Isa,
    ) -> (Box<dyn Classify>, Option<String>) {
        let (bayes, cut) = Self::new(table, likelihood, resources.memory, isa);
        let warning = cut.map(|feature| {
            format!(
                "feature {} has values more than 10^6 standard deviations from every class: naive Bayes counts them as \
                 that far and no farther; clip them or exclude the feature",
                table.data.names()[feature]
            )
        });
        (Box::new(Incremental::new(bayes, resources, isa)), warning)
    }

    /// The tables, and the first feature of which some terms are cut off.
    fn new(
        table: &FoldedTable<'_>,
        likelihood: Likelihood,
        memory: u64,
        isa: Isa,
    ) -> (Self, Option<usize>) {
        let data = table.data;
        let (n_features, n_classes) = (data.n_features(), data.n_classes());
        let cases = TestCases::new(data, table.drawn);
        let training = Training::new(table, likelihood);
        let n_terms = n_classes * cases.n_cases();
        let fits = (n_features * n_terms * size_of::<i64>()) as u64 <= memory / 2;
        let mut all = Vec::with_capacity(if fits { n_features * n_terms } else { 0 });
        let mut terms = vec![0.0; n_terms];
        let n_cases = cases.n_cases();
        let mut most = vec![0.0; n_cases];
        let mut rules_out = false;
        let mut cut = None;
        for feature in 0..n_features {
            if training.terms(feature, &mut terms) {
                cut.get_or_insert(feature);
            }
            for (case, most) in most.iter_mut().enumerate() {
                let sizes = terms[case..].iter().step_by(n_cases.max(1)).map(|term| term.abs());
                *most += sizes.filter(|size| size.is_finite()).fold(0.0, f64::max);
            }
            rules_out |= terms.contains(&f64::NEG_INFINITY);
            if fits {
                all.extend_from_slice(&terms);
            }
        }
        // No class that is left falls as low as this: the least prior is that of a single row.
        let lines: Vec<f64> =
            most.iter().map(|most| -most - ln(data.n_samples() as f64) - 1.0).collect();
        let lowest: Vec<f64> = lines.iter().map(|line| line - 1.0).collect();
        let scale = |(most, lowest): (&f64, &f64)| {
            let all = if rules_out { most - lowest * n_features as f64 } else { *most };
            libm::ldexp(1.0, libm::ilogb(ROOM / all.max(1.0))).min(FINEST)
        };
        let scales: Vec<f64> = most.iter().zip(&lowest).map(scale).collect();
        let line = || lines.iter().zip(&scales).map(|(&line, &scale)| whole(line, scale)).collect();
        let mut bayes = Self {
            n_features,
            n_classes,
            priors: Vec::new(),
            tables: Vec::new(),
            lowest,
            ruled_out: rules_out.then(line),
            isa,
            cases,
            training,
            scales,
        };
        bayes.priors = bayes.sides(bayes.training.priors(&bayes.scales));
        bayes.tables = all.chunks_exact(n_terms).flat_map(|terms| bayes.wholes(terms)).collect();
        (bayes, cut)
    }

    /// Terms as whole numbers.
    fn wholes(&self, terms: &[f64]) -> Vec<i64> {
        let cases = self.lowest.iter().zip(&self.scales).cycle();
        let term = |(term, (&lowest, &scale)): (&f64, (&f64, &f64))| whole(term.max(lowest), scale);
        self.sides(terms.iter().zip(cases).map(term).collect())
    }

    /// Log-posteriors relative to class 0: the greatest stays the greatest, and one class is saved.
    /// Not where classes are ruled out, which is a matter of how low a sum is.
    fn sides(&self, mut all: Vec<i64>) -> Vec<i64> {
        if self.ruled_out.is_none() {
            let others = all.split_off(self.cases.n_cases());
            let first = all.into_iter().cycle();
            all = others.into_iter().zip(first).map(|(other, first)| other - first).collect();
        }
        all
    }

    /// The terms of a feature as whole numbers, class after class.
    fn table(&self, feature: usize) -> Cow<'_, [i64]> {
        if self.tables.is_empty() {
            let mut terms = vec![0.0; self.n_classes * self.cases.n_cases()];
            self.training.terms(feature, &mut terms);
            Cow::Owned(self.wholes(&terms))
        } else {
            let n_sums = self.n_sums();
            Cow::Borrowed(&self.tables[feature * n_sums..][..n_sums])
        }
    }

    /// The sums of a step.
    fn sums(&self, step: &Step<'_, i64>) -> Vec<i64> {
        let mut sums = step.from.unwrap_or(&self.priors).to_vec();
        let tables = |features: &[u32]| -> Vec<Cow<'_, [i64]>> {
            features.iter().map(|&feature| self.table(feature as usize)).collect()
        };
        // Few at a time: tables that are not at hand are made for this.
        for some in step.add.chunks(TOGETHER) {
            simd::add_tables(self.isa, &mut sums, &tables(some));
        }
        for some in step.remove.chunks(TOGETHER) {
            simd::remove_tables(self.isa, &mut sums, &tables(some));
        }
        sums
    }

    /// The class of the greatest sum, the smallest of equals.
    fn classes(&self, sums: &[i64]) -> Vec<u32> {
        let mut classes = vec![0; self.cases.n_cases()];
        let Some(lines) = &self.ruled_out else {
            let mut best = vec![0; classes.len()];
            simd::greatest(self.isa, &mut best, sums, &mut classes);
            return classes;
        };
        // However often a class is ruled out, it is as good as any other that is; one that nothing was learned of is not.
        let level = |(&sum, &line): (&i64, &i64)| if sum > NEVER / 2 { sum.max(line) } else { sum };
        let mut first: Vec<i64> = sums.iter().zip(lines.iter().cycle()).map(level).collect();
        let others = first.split_off(classes.len());
        simd::greatest(self.isa, &mut first, &others, &mut classes);
        classes
    }
}

/// A term as a whole number.
fn whole(term: f64, scale: f64) -> i64 {
    (term * scale).round() as i64
}

impl Additive for NaiveBayes {
    type Sum = i64;

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_sums(&self) -> usize {
        self.priors.len()
    }

    fn ops(&self) -> u64 {
        self.n_sums() as u64
    }

    fn setup_ops(&self) -> u64 {
        (self.n_features * self.n_sums()) as u64
    }

    fn evaluate(&self, step: Step<'_, i64>, _: Option<&Pool>) -> Measures {
        let sums = self.sums(&step);
        let measures = self.cases.score(&self.classes(&sums));
        if let Some(keep) = step.keep {
            keep.copy_from_slice(&sums);
        }
        measures
    }

    fn build(&self, step: Step<'_, i64>) {
        let sums = self.sums(&step);
        if let Some(keep) = step.keep {
            keep.copy_from_slice(&sums);
        }
    }
}

impl Classify for Incremental<NaiveBayes> {
    fn predict(&self, subset: &Subset) -> Vec<(u32, u32)> {
        let bayes = self.additive();
        let add: Vec<u32> = subset.iter().map(|feature| feature as u32).collect();
        let step = Step { from: None, remove: Vec::new(), subset, add, keep: None };
        let classes = bayes.classes(&bayes.sums(&step));
        bayes.cases.rows().iter().copied().zip(classes).collect()
    }

    fn fold_sizes(&self) -> Vec<usize> {
        self.additive().cases.fold_sizes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::ScaleFit;
    use super::*;
    use crate::data::dataset::{Dataset, Scale};
    use crate::data::folds::{FoldSpec, Folds};

    /// Leave-one-out tables of a likelihood, made with so much memory.
    fn bayes(columns: &[f64], codes: &[u32], likelihood: Likelihood, memory: u64) -> NaiveBayes {
        let names = (0..columns.len() / codes.len()).map(|f| format!("f{f}")).collect();
        let data = Dataset::new(columns, codes.to_vec(), 2, names, Scale::Minmax).unwrap();
        let folds = Folds::draw(&FoldSpec::Loo, data.codes(), 2).unwrap().0;
        let seen = FoldedTable::new(&data, &folds, ScaleFit::All).unwrap().0;
        NaiveBayes::new(&seen, likelihood, memory, Isa::Scalar).0
    }

    #[test]
    fn the_sum_of_all_terms_of_a_case_fits() {
        // Half of the features put the second class some 200 nats below the first, the others rule it out.
        let far = [0.0, 1.0, 2.0, 30.0, 31.5, 33.0];
        let constant = [0.0, 1.0, 2.0, 5.0, 5.0, 5.0];
        let d = 300;
        let columns = [far, constant].concat().repeat(d / 2);
        let bayes = bayes(&columns, &[0, 0, 0, 1, 1, 1], Likelihood::Cumulative, 1 << 30);
        let lines = bayes.ruled_out.as_ref().unwrap();
        assert_eq!((bayes.scales.len(), bayes.lowest.len(), lines.len()), (6, 6, 6));
        for ((&scale, &lowest), &line) in bayes.scales.iter().zip(&bayes.lowest).zip(lines) {
            // No class that is left is as low as the line, and one that is ruled out is lower.
            let most = -lowest - 2.0 - ln(6.0);
            assert!((line as f64 - (lowest + 1.0) * scale).abs() <= 1.0);
            let sum = (most - lowest * d as f64) * scale;
            assert!(sum <= ROOM && (scale == FINEST || sum > ROOM / 2.0), "{scale} {lowest}");
        }
        assert!(bayes.scales[0] < FINEST);
        // However a subset is built, every sum stays within the room.
        let all = Subset::full(d);
        let add = (0..d as u32).collect();
        let sums =
            bayes.sums(&Step { from: None, add, remove: Vec::new(), subset: &all, keep: None });
        assert!(sums.iter().all(|&sum| (sum as f64).abs() <= ROOM));
    }

    #[test]
    fn tables_are_held_where_half_of_the_memory_is_enough() {
        let columns: Vec<f64> = (0..24).map(|value| f64::from(value * value % 23)).collect();
        let codes = [0, 1, 0, 1, 1, 0];
        // Four features of two classes and six cases, 8 bytes each.
        let bytes = 4 * 2 * 6 * 8;
        let of = |memory| bayes(&columns, &codes, Likelihood::Density, memory);
        let (held, not_held) = (of(2 * bytes), of(2 * bytes - 2));
        assert_eq!((held.tables.len(), not_held.tables.len()), (4 * 6, 0));
        for feature in 0..4 {
            assert_eq!(held.table(feature), not_held.table(feature));
        }
        assert_eq!((held.ops(), held.setup_ops()), (6, 24));
    }
}
