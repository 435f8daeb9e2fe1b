//! Filter merits: the relevance of a subset's features against their redundancy, without any classifier.
//!
//! With R the relevance of the members, summed, Q the uncertainties of all pairs of members, summed, and k members:
//!
//! ```text
//! cfs:   m = R / sqrt(k + 2 Q)                cost = 1 / (1 + m)
//! mrmr:  J = R - 2 Q / (k - 1),  J = R if k = 1    cost = 1 - max(0, J) / R of all features
//! ```
//!
//! R and Q are whole numbers of steps of 2^-30, so that they do not depend on the order in which they were summed; each
//! cost is a few operations on them, rounded alike everywhere.

use super::Levels;

/// The cost of relevance and redundancy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merit {
    /// Relevance against the root of redundancy: the merit of correlation-based selection, with uncertainties as they are.
    Cfs,
    /// The relevance of each member less its mean redundancy with the others, summed.
    Mrmr,
}

/// The steps in which uncertainties are counted, as a power of two.
const STEPS: i32 = 30;

/// An uncertainty in steps.
pub fn in_steps(uncertainty: f32) -> u32 {
    (libm::ldexp(f64::from(uncertainty), STEPS) + 0.5).floor() as u32
}

/// The relevance and redundancy of a subset, in steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sums {
    /// The relevance of its members.
    pub relevance: u64,
    /// The uncertainty of all its pairs.
    pub redundancy: u64,
    /// The number of its features, irrelevant ones counted.
    pub size: usize,
}

impl Merit {
    /// The warning where irrelevant `features` may raise the merit.
    pub fn padding(self, levels: &Levels, features: impl Iterator<Item = usize>) -> Option<String> {
        let count = features.filter(|&feature| levels.count(feature) == 1).count();
        (self == Self::Mrmr && count > 0).then(|| {
            format!(
                "{count} columns tell nothing about the class but thin out the redundancy that filter-mrmr lowers: the prescreen su>0 leaves them out"
            )
        })
    }

    /// The cost of a subset that is not empty, where all features together have relevance `all`.
    pub fn cost(self, sums: Sums, all: u64) -> f64 {
        let Sums { relevance, redundancy, size } = sums;
        let value = |steps: u64| libm::ldexp(steps as f64, -STEPS);
        match self {
            Self::Cfs => {
                let merit = value(relevance) / (size as f64 + 2.0 * value(redundancy)).sqrt();
                1.0 / (1.0 + merit)
            }
            Self::Mrmr => {
                // Over a common denominator, exact: with k - 1 others, or with one where there are none to share with.
                let others = (size - 1).max(1) as i128;
                let merit = i128::from(relevance) * others - 2 * i128::from(redundancy);
                let best = i128::from(all) * others;
                if merit <= 0 { 1.0 } else { 1.0 - merit as f64 / best as f64 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relevance .8, .6, .5; the first two share .7, the outer two .1, the last two .2.
    fn of(merit: Merit, members: &[usize]) -> f64 {
        let relevance = [0.8, 0.6, 0.5].map(in_steps).map(u64::from);
        let pairs = [(0, 1, 0.7), (0, 2, 0.1), (1, 2, 0.2)];
        let sums = Sums {
            relevance: members.iter().map(|&member| relevance[member]).sum(),
            redundancy: pairs
                .iter()
                .filter(|(a, b, _)| members.contains(a) && members.contains(b))
                .map(|(_, _, shared)| u64::from(in_steps(*shared)))
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
            // The worked example prints six decimals; steps of 2^-30 are finer.
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
    fn what_tells_nothing_costs_all_there_is() {
        let nothing = Sums { relevance: 0, redundancy: 0, size: 3 };
        assert_eq!((Merit::Cfs.cost(nothing, 0), Merit::Mrmr.cost(nothing, 0)), (1.0, 1.0));
    }

    #[test]
    fn uncertainties_are_rounded_to_the_nearest_step() {
        assert_eq!((in_steps(0.0), in_steps(1.0), in_steps(0.5)), (0, 1 << 30, 1 << 29));
        let tiny = f32::powi(2.0, -31);
        assert_eq!((in_steps(tiny), in_steps(tiny / 2.0)), (1, 0));
    }
}
