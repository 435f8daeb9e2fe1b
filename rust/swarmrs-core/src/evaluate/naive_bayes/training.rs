//! What each split learns: means, variances and priors of classes, from exact sums.

use super::super::seen::Seen;
use super::{Likelihood, NEVER, SMOOTHING, whole};
use crate::folds::{Folds, Split};
use crate::math::{ln, normal_cdf};

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

/// Who trains for whom.
pub(super) struct Training {
    likelihood: Likelihood,
    n: usize,
    n_classes: usize,
    /// All values, feature after feature.
    values: Vec<i64>,
    /// The rows of each class.
    members: Vec<Vec<u32>>,
    /// Whether splits name the rows that are left out, which are fewer where each row is tested once.
    by_left_out: bool,
    splits: Vec<TrainingSplit>,
}

struct TrainingSplit {
    /// The rows tested.
    test: Vec<u32>,
    /// For each class the rows that train, or those that do not.
    rows: Vec<Vec<u32>>,
    /// What is added to every variance.
    floor: f64,
}

impl Training {
    pub fn new(seen: &Seen<'_>, likelihood: Likelihood) -> Self {
        let (n, n_features, n_classes) = (seen.n(), seen.data.n_features(), seen.data.n_classes());
        let by_class = |rows: &mut dyn Iterator<Item = u32>| {
            let mut classes = vec![Vec::new(); n_classes];
            for row in rows {
                classes[seen.codes[row as usize] as usize].push(row);
            }
            classes
        };
        let split = |test: &Vec<u32>, rows: &Vec<u32>| TrainingSplit {
            test: test.clone(),
            rows: by_class(&mut rows.iter().copied()),
            floor: 0.0,
        };
        let (by_left_out, splits) = match &*seen.folds {
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
            values: (0..n_features * n).map(|at| i64::from(seen.grid.at(at))).collect(),
            members: by_class(&mut (0..n as u32)),
            by_left_out,
            splits,
        };
        for feature in 0..n_features {
            let values = training.column(feature);
            let all: Vec<Moments> =
                training.members.iter().map(|rows| Moments::of(values, rows)).collect();
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

    /// The moments of the rows of a class that train in a split; `all` are those of the whole class.
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

    /// How many rows of a class train in a split.
    fn count(&self, split: &TrainingSplit, class: usize) -> usize {
        let named = split.rows[class].len();
        if self.by_left_out { self.members[class].len() - named } else { named }
    }

    fn column(&self, feature: usize) -> &[i64] {
        &self.values[feature * self.n..][..self.n]
    }

    /// The terms of a feature: class after class, a number for each case; minus infinity rules a class out.
    pub fn terms(&self, feature: usize, terms: &mut [f64]) {
        let values = self.column(feature);
        let n_cases = terms.len() / self.n_classes;
        for (class, terms) in terms.chunks_exact_mut(n_cases).enumerate() {
            let all = Moments::of(values, &self.members[class]);
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

    /// The logarithm of each class's share of the training rows, for each case; none is never.
    pub fn priors(&self, scale: f64) -> Vec<i64> {
        let mut priors = Vec::new();
        for class in 0..self.n_classes {
            for split in &self.splits {
                let all: usize = (0..self.n_classes).map(|class| self.count(split, class)).sum();
                let share = self.count(split, class) as f64 / all as f64;
                let prior = if share > 0.0 { whole(ln(share), scale) } else { NEVER };
                priors.extend(std::iter::repeat_n(prior, split.test.len()));
            }
        }
        priors
    }
}
