//! Filter objectives: relevance against redundancy of the features of a subset, without a classifier.
//!
//! With R the sum of the relevance of the k members, and Q the sum of the uncertainties of all pairs of members:
//!
//! ```text
//! cfs:   m = R / sqrt(k + 2 Q)                cost = 1 / (1 + m)
//! mrmr:  J = R - 2 Q / (k - 1),  J = R if k = 1    cost = 1 - max(0, J) / R of all features
//! ```
//!
//! R and Q are fixed-point numbers in units of 2^-30, so the sums do not depend on the order of the terms.

use super::Levels;

/// A filter objective, a function of relevance and redundancy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merit {
    /// The merit of correlation-based feature selection; an uncertainty of 0 counts as 0.
    Cfs,
    /// The sum over members of relevance less mean redundancy with the other members.
    Mrmr,
}

/// Fractional bits of fixed-point uncertainties.
const FRACTION_BITS: i32 = 30;

/// An uncertainty in fixed point, in units of 2^-30.
pub fn fixed_point(uncertainty: f32) -> u32 {
    (libm::ldexp(f64::from(uncertainty), FRACTION_BITS) + 0.5).floor() as u32
}

/// The relevance and redundancy of a subset, in fixed point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sums {
    /// The sum of the relevance of its members.
    pub relevance: u64,
    /// The sum of the uncertainty of all pairs of members.
    pub redundancy: u64,
    /// The number of members, irrelevant ones included.
    pub size: usize,
}

impl Merit {
    /// The warning if irrelevant `features` may lower the cost.
    pub fn irrelevance_warning(
        self,
        levels: &Levels,
        features: impl Iterator<Item = usize>,
    ) -> Option<String> {
        let count = features.filter(|&feature| levels.count(feature) == 1).count();
        (self == Self::Mrmr && count > 0).then(|| {
            format!(
                "{count} columns are irrelevant for the class, but selecting them lowers the mean redundancy of filter-mrmr: the prescreen su>0 drops them"
            )
        })
    }

    /// The cost of a non-empty subset; `total_relevance` is the sum over all features.
    pub fn cost(self, sums: Sums, total_relevance: u64) -> f64 {
        let Sums { relevance, redundancy, size } = sums;
        let value = |fixed: u64| libm::ldexp(fixed as f64, -FRACTION_BITS);
        match self {
            Self::Cfs => {
                let merit = value(relevance) / (size as f64 + 2.0 * value(redundancy)).sqrt();
                1.0 / (1.0 + merit)
            }
            Self::Mrmr => {
                // J and R are multiplied by k - 1, by 1 for k = 1, so that both are exact integers.
                let others = (size - 1).max(1) as i128;
                let merit = i128::from(relevance) * others - 2 * i128::from(redundancy);
                let best = i128::from(total_relevance) * others;
                if merit <= 0 { 1.0 } else { 1.0 - merit as f64 / best as f64 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relevance .8, .6, .5; uncertainty .7 of the first two, .1 of first and third, .2 of the last two.
    fn of(merit: Merit, members: &[usize]) -> f64 {
        let relevance = [0.8, 0.6, 0.5].map(fixed_point).map(u64::from);
        let pairs = [(0, 1, 0.7), (0, 2, 0.1), (1, 2, 0.2)];
        let sums = Sums {
            relevance: members.iter().map(|&member| relevance[member]).sum(),
            redundancy: pairs
                .iter()
                .filter(|(a, b, _)| members.contains(a) && members.contains(b))
                .map(|(_, _, shared)| u64::from(fixed_point(*shared)))
                .sum(),
            size: members.len(),
        };
        merit.cost(sums, relevance.iter().sum())
    }

    const SUBSETS: [&[usize]; 4] = [&[0], &[0, 1], &[0, 2], &[0, 1, 2]];

    #[test]
    fn mrmr_has_the_worked_values() {
        let (merits, fitness) = ([0.8, 0.0, 1.1, 0.9], [0.421_053, 0.0, 0.578_947, 0.473_684]);
        for ((members, merit), fitness) in SUBSETS.into_iter().zip(merits).zip(fitness) {
            let found = 1.0 - of(Merit::Mrmr, members);
            // The worked example prints six decimals; units of 2^-30 are finer.
            assert!((found - fitness).abs() < 5e-7, "{members:?} {found}");
            assert!((found * 1.9 - merit).abs() < 1e-7, "{members:?} {found}");
        }
    }

    #[test]
    fn cfs_has_the_worked_values() {
        let merits = [0.8, 0.759_257, 0.876_460, 0.849_706];
        for (members, merit) in SUBSETS.into_iter().zip(merits) {
            let found = 1.0 / of(Merit::Cfs, members) - 1.0;
            // The worked example prints six decimals.
            assert!((found - merit).abs() < 5e-7, "{members:?} {found}");
        }
    }

    #[test]
    fn irrelevant_features_cost_1() {
        let nothing = Sums { relevance: 0, redundancy: 0, size: 3 };
        assert_eq!((Merit::Cfs.cost(nothing, 0), Merit::Mrmr.cost(nothing, 0)), (1.0, 1.0));
    }

    #[test]
    fn uncertainties_are_rounded_to_nearest() {
        assert_eq!((fixed_point(0.0), fixed_point(1.0), fixed_point(0.5)), (0, 1 << 30, 1 << 29));
        let tiny = f32::powi(2.0, -31);
        assert_eq!((fixed_point(tiny), fixed_point(tiny / 2.0)), (1, 0));
    }
}
