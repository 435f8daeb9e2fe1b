//! The model of each split: means, variances and priors of classes, from exact sums.

use super::super::folded::FoldedTable;
use super::{Likelihood, NEVER, SMOOTHING, WORST, whole};
use crate::base::cancel;
use crate::base::math::{ln, normal_cdf};
use crate::data::folds::{Folds, Split};
use crate::data::quantization::{bounds, index_bits};

/// Exact sums over rows of one class.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    n: i128,
    sum: i128,
    squares: i128,
}

impl Moments {
    fn of(values: &[i64], rows: &[u32]) -> Self {
        rows.iter().fold(Self::default(), |m, &row| {
            let x = i128::from(values[row as usize]);
            Self { n: m.n + 1, sum: m.sum + x, squares: m.squares + x * x }
        })
    }

    fn minus(self, other: Self) -> Self {
        Self {
            n: self.n - other.n,
            sum: self.sum - other.sum,
            squares: self.squares - other.squares,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            n: self.n + other.n,
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
        }
    }

    fn mean(self) -> f64 {
        if self.n == 0 { 0.0 } else { self.sum as f64 / self.n as f64 }
    }

    /// The population variance.
    fn variance(self) -> f64 {
        if self.n == 0 {
            return 0.0;
        }
        let n = self.n as f64;
        (self.n * self.squares - self.sum * self.sum) as f64 / (n * n)
    }

    /// The share below `x` of a normal distribution of this mean and sample deviation.
    fn share_below(self, x: i64) -> f64 {
        let spread = self.n * self.squares - self.sum * self.sum;
        if spread == 0 {
            return f64::from(u8::from(i128::from(x) * self.n >= self.sum));
        }
        let n = self.n as f64;
        let deviation = (spread as f64 / (n * (n - 1.0))).sqrt();
        normal_cdf((x as f64 - self.mean()) / deviation)
    }
}

/// The scaled values as integers so fine that nothing a float64 naive Bayes can see is lost: its smoothing adds 1e-9 of
/// the largest variance to every variance, which is more than (1e-5 / sqrt(n))^2 of the widest range, and half a step is
/// 2^-43 of it. The cumulative function is not smoothed and has 50 bits.
///
/// With b bits for training rows, `n * squares - sum^2` is below 2^(2b) n^2, which has to fit 127 bits. A test row may lie
/// further out: up to 2^62 steps.
fn whole_values(table: &FoldedTable<'_>, likelihood: Likelihood) -> Vec<i64> {
    let (n, block) = (table.n(), table.block);
    let finest = if likelihood == Likelihood::Density { 42 } else { 50 };
    let bits = ((126 - 2 * index_bits(n).cast_signed()) / 2).min(finest);
    let is_training = match &*table.folds {
        Folds::Partition { .. } => vec![true; n],
        Folds::Splits(splits) => {
            let mut is_training = vec![false; n];
            let rows = splits.iter().flat_map(|split| &split.train);
            rows.for_each(|&row| is_training[row as usize] = true);
            is_training
        }
    };
    let columns = || table.values.chunks_exact(n).zip(&table.quantization.quantizers);
    // The least value of the training rows of a block and their scaled range.
    let range = |column: &[f64], at: usize, weight: f64| {
        let rows = at * block..((at + 1) * block).min(n);
        let known: Vec<f64> = rows.filter(|&row| is_training[row]).map(|row| column[row]).collect();
        let (low, high) = bounds(&known);
        if known.is_empty() { (0.0, 0.0) } else { (low, (high - low) * weight) }
    };
    // Smoothing compares the variances of all features of a split, so they share a resolution.
    let mut widest = vec![0.0; n.div_ceil(block)];
    for (column, quantizer) in columns() {
        for (at, widest) in widest.iter_mut().enumerate() {
            *widest = f64::max(*widest, range(column, at, quantizer.weight()).1);
        }
    }
    let limit = libm::ldexp(1.0, 62);
    let mut values = Vec::with_capacity(table.values.len());
    for (column, quantizer) in columns() {
        for ((at, &widest), rows) in widest.iter().enumerate().zip(column.chunks(block)) {
            let (low, own) = range(column, at, quantizer.weight());
            let widest = if likelihood == Likelihood::Density { widest } else { own };
            let exponent = if widest > 0.0 { bits - 1 - libm::ilogb(widest) } else { 0 };
            let factor = quantizer.weight() * libm::ldexp(1.0, exponent);
            let whole = |x: &f64| ((x - low) * factor).round().clamp(-limit, limit) as i64;
            values.extend(rows.iter().map(whole));
        }
    }
    values
}

/// The training rows of each case.
pub(super) struct Training {
    likelihood: Likelihood,
    n: usize,
    n_classes: usize,
    /// All values, feature after feature.
    values: Vec<i64>,
    /// The rows of each class.
    members: Vec<Vec<u32>>,
    /// True if splits name the rows that are left out, which are fewer where each row is tested once.
    by_left_out: bool,
    splits: Vec<TrainingSplit>,
}

struct TrainingSplit {
    /// The rows tested.
    test: Vec<u32>,
    /// For each class the rows that train, or those that do not.
    rows: Vec<Vec<u32>>,
    /// The number added to every variance.
    floor: f64,
}

impl Training {
    pub fn new(table: &FoldedTable<'_>, likelihood: Likelihood) -> Self {
        let (n, n_features, n_classes) =
            (table.n(), table.data.n_features(), table.data.n_classes());
        let by_class = |rows: &mut dyn Iterator<Item = u32>| {
            let mut classes = vec![Vec::new(); n_classes];
            for row in rows {
                classes[table.codes[row as usize] as usize].push(row);
            }
            classes
        };
        let split = |test: &Vec<u32>, rows: &Vec<u32>| TrainingSplit {
            test: test.clone(),
            rows: by_class(&mut rows.iter().copied()),
            floor: 0.0,
        };
        let (by_left_out, splits) = match &*table.folds {
            Folds::Splits(splits) => {
                (false, splits.iter().map(|Split { train, test }| split(test, train)).collect())
            }
            folds @ Folds::Partition { .. } => {
                (true, folds.tests().iter().map(|test| split(test, test)).collect())
            }
        };
        let mut training = Self {
            likelihood,
            n,
            n_classes,
            values: whole_values(table, likelihood),
            members: by_class(&mut (0..n as u32)),
            by_left_out,
            splits,
        };
        for feature in 0..n_features {
            cancel::check();
            let values = training.column(feature);
            let all: Vec<Moments> =
                (0..n_classes).map(|class| training.total(values, class)).collect();
            let variances: Vec<f64> = training
                .splits
                .iter()
                .map(|split| {
                    let of_class = |class| training.moments(values, split, class, all[class]);
                    (0..n_classes).map(of_class).fold(Moments::default(), Moments::plus).variance()
                })
                .collect();
            for (split, variance) in training.splits.iter_mut().zip(variances) {
                split.floor = split.floor.max(SMOOTHING * variance);
            }
        }
        training
    }

    /// The moments of all rows of a class, where splits name the rows that are left out. Elsewhere nothing is subtracted
    /// from them, and rows that never train, up to 2^62 steps out, would overflow the sum of squares.
    fn total(&self, values: &[i64], class: usize) -> Moments {
        if self.by_left_out {
            Moments::of(values, &self.members[class])
        } else {
            Moments::default()
        }
    }

    /// The moments of the rows of a class that train in a split; `all` are the totals of the class.
    fn moments(
        &self,
        values: &[i64],
        split: &TrainingSplit,
        class: usize,
        all: Moments,
    ) -> Moments {
        let named = Moments::of(values, &split.rows[class]);
        if self.by_left_out { all.minus(named) } else { named }
    }

    /// The number of training rows of a class in a split.
    fn count(&self, split: &TrainingSplit, class: usize) -> usize {
        let named = split.rows[class].len();
        if self.by_left_out { self.members[class].len() - named } else { named }
    }

    fn column(&self, feature: usize) -> &[i64] {
        &self.values[feature * self.n..][..self.n]
    }

    /// The terms of a feature: class after class, a number for each case; minus infinity rules a class out.
    ///
    /// Densities are relative to the best class of the case, and no class is worse than that by more than [`WORST`]. One
    /// value that is far from everything learned would else leave no bits for what the other features say. Returns whether
    /// some class was.
    pub fn terms(&self, feature: usize, terms: &mut [f64]) -> bool {
        self.log_likelihoods(feature, terms);
        if self.likelihood == Likelihood::Cumulative {
            return false;
        }
        let mut is_cut = false;
        let n_cases = terms.len() / self.n_classes;
        let mut case = 0;
        for split in &self.splits {
            let learned: Vec<usize> =
                (0..self.n_classes).filter(|&class| self.count(split, class) > 0).collect();
            for _ in &split.test {
                let places = || learned.iter().map(|class| class * n_cases + case);
                let best = places().map(|at| terms[at]).fold(f64::NEG_INFINITY, f64::max);
                for at in places() {
                    is_cut |= terms[at] - best < -WORST;
                    terms[at] = (terms[at] - best).max(-WORST);
                }
                case += 1;
            }
        }
        is_cut
    }

    fn log_likelihoods(&self, feature: usize, terms: &mut [f64]) {
        cancel::check();
        let values = self.column(feature);
        let n_cases = terms.len() / self.n_classes;
        for (class, terms) in terms.chunks_exact_mut(n_cases).enumerate() {
            let all = self.total(values, class);
            let mut places = terms.iter_mut();
            for split in &self.splits {
                let moments = self.moments(values, split, class, all);
                if self.likelihood == Likelihood::Cumulative {
                    for (&row, place) in split.test.iter().zip(places.by_ref()) {
                        *place = ln(moments.share_below(values[row as usize]));
                    }
                    continue;
                }
                let (mean, variance) = (moments.mean(), moments.variance() + split.floor);
                // No variance anywhere, or nothing to learn from: the feature says nothing.
                let is_silent = variance <= 0.0 || moments.n == 0;
                let constant = -0.5 * ln(std::f64::consts::TAU * variance);
                // The rows first: `zip` takes from its left side before it finds the right one empty.
                for (&row, place) in split.test.iter().zip(places.by_ref()) {
                    let off = values[row as usize] as f64 - mean;
                    *place = if is_silent { 0.0 } else { constant - off * off / (2.0 * variance) };
                }
            }
        }
    }

    /// The logarithm of each class's share of the training rows, for each case and its scale; none is never.
    pub fn priors(&self, scales: &[f64]) -> Vec<i64> {
        let mut priors = Vec::new();
        for class in 0..self.n_classes {
            let mut scales = scales.iter();
            for split in &self.splits {
                let all: usize = (0..self.n_classes).map(|class| self.count(split, class)).sum();
                let share = self.count(split, class) as f64 / all as f64;
                let prior =
                    |&scale: &f64| if share > 0.0 { whole(ln(share), scale) } else { NEVER };
                priors.extend(scales.by_ref().take(split.test.len()).map(prior));
            }
        }
        priors
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::ScaleFit;
    use super::*;
    use crate::data::dataset::{Dataset, Scale};
    use crate::data::folds::FoldSpec;

    /// The whole numbers that one feature becomes.
    fn wholes(column: &[f64], folds: &FoldSpec, scale: Scale, likelihood: Likelihood) -> Vec<i64> {
        let codes = (0..column.len() as u32).map(|row| row % 2).collect();
        let data = Dataset::new(column, codes, 2, vec!["f".into()], scale).unwrap();
        let folds = Folds::draw(folds, data.codes(), 2).unwrap().0;
        let seen = FoldedTable::new(&data, &folds, ScaleFit::All).unwrap().0;
        whole_values(&seen, likelihood)
    }

    #[test]
    fn moments_are_those_of_the_rows_named() {
        let values = [1, 2, 7, 4];
        let (some, rest) = (Moments::of(&values, &[0, 1]), Moments::of(&values, &[2, 3]));
        for all in [some.plus(rest), Moments::of(&values, &[0, 1, 2, 3])] {
            assert_eq!((all.n, all.sum, all.squares), (4, 14, 70));
            assert_eq!((all.mean(), all.variance()), (3.5, 5.25));
            let left = all.minus(some);
            assert_eq!((left.n, left.sum, left.squares), (2, 11, 65));
        }
        let none = Moments::default();
        assert_eq!((none.mean(), none.variance()), (0.0, 0.0));
        // One row has no deviation: all below its value, none above.
        let one = Moments::of(&values, &[1]);
        assert_eq!([1, 2, 3].map(|x| one.share_below(x)), [0.0, 1.0, 1.0]);
        assert_eq!(rest.share_below(5), normal_cdf(-0.5 / 4.5f64.sqrt()));
    }

    #[test]
    fn the_widest_range_has_as_many_bits_as_products_leave() {
        let greatest = |n: u32, likelihood| {
            let column: Vec<f64> = (0..n).map(|row| f64::from(row % 2)).collect();
            let folds = FoldSpec::Kfold { k: 2, shuffle: false, seed: 0 };
            wholes(&column, &folds, Scale::Minmax, likelihood).into_iter().max().unwrap()
        };
        // A range of 1 has the highest bit alone.
        assert_eq!(greatest(600, Likelihood::Density), 1 << 41);
        assert_eq!(greatest(600, Likelihood::Cumulative), 1 << 49);
        // 14 bits of a row leave (126 - 28) / 2 = 49 for a value.
        assert_eq!(greatest(8191, Likelihood::Cumulative), 1 << 49);
        assert_eq!(greatest(8192, Likelihood::Cumulative), 1 << 48);
    }

    #[test]
    fn training_rows_set_the_resolution_and_test_rows_are_bounded() {
        let splits = vec![(vec![0, 1, 2, 3], vec![4, 5])];
        let column = [1.0, 2.0, 3.0, 2.0, 1e30, -1e30];
        let found = wholes(&column, &FoldSpec::Splits { splits }, Scale::None, Likelihood::Density);
        assert_eq!(found[..4], [0, 1 << 40, 1 << 41, 1 << 40]);
        assert_eq!(found[4..], [1 << 62, -(1 << 62)]);
    }

    #[test]
    fn any_number_of_test_rows_may_lie_far_out() {
        // Forty squares of 2^62 exceed 127 bits.
        let mut column = vec![1.0, 2.0, 3.0, 2.0];
        column.resize(44, 1e30);
        let codes = (0..44).map(|row| u32::from(row % 4 == 1)).collect();
        let data = Dataset::new(&column, codes, 2, vec!["f".into()], Scale::None).unwrap();
        let splits = FoldSpec::Splits { splits: vec![((0..4).collect(), (4..44).collect())] };
        let folds = Folds::draw(&splits, data.codes(), 2).unwrap().0;
        let table = FoldedTable::new(&data, &folds, ScaleFit::All).unwrap().0;
        let mut terms = vec![0.0; 80];
        // Densities are cut at the worst that a feature may say, cumulative shares are not.
        assert!(Training::new(&table, Likelihood::Density).terms(0, &mut terms));
        assert!(terms.iter().all(|term| term.is_finite()));
        assert!(!Training::new(&table, Likelihood::Cumulative).terms(0, &mut terms));
    }
}
