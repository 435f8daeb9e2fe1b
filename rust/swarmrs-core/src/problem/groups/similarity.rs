//! The similarity of a subset to the target of one selected feature per group.

use super::Groups;
use crate::base::math::{exp, ln, log10};
use crate::base::subset::Subset;
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// The logarithm in σ = log(10 |group|), the standard deviation of the number of selected features of a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SigmaLog {
    /// Base 10: σ = 1 for a group of one feature.
    #[default]
    Log10,
    /// The natural logarithm.
    Ln,
}

impl SigmaLog {
    /// σ of a group of `size` features.
    pub fn deviation(self, size: usize) -> f64 {
        let tenfold = 10.0 * size as f64;
        match self {
            Self::Log10 => log10(tenfold),
            Self::Ln => ln(tenfold),
        }
    }
}

/// The divisor of a similarity. Only with the plain one the similarity is 1 at the target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sim {
    /// 1.
    #[default]
    Plain,
    /// 2 π^(C/2) Π σ with the number C of groups, as the paper prints it.
    Literal,
    /// (2π)^(C/2) Π σ: gives the density of a multivariate normal distribution.
    Mvn,
}

/// The similarity of a subset to one selected feature per group.
#[derive(Debug, Clone)]
pub struct Similarity {
    groups: Arc<Groups>,
    /// σ of each group.
    deviations: Vec<f64>,
    divisor: f64,
}

impl Similarity {
    /// The similarity for these groups.
    pub fn new(groups: Arc<Groups>, sim: Sim, sigma_log: SigmaLog) -> Self {
        let deviations: Vec<f64> =
            groups.iter().map(|members| sigma_log.deviation(members.len())).collect();
        let product: f64 = deviations.iter().product();
        // base^(C/2)
        let power = |base: f64| exp(groups.len() as f64 / 2.0 * ln(base));
        let divisor = match sim {
            Sim::Plain => 1.0,
            Sim::Literal => 2.0 * power(PI) * product,
            Sim::Mvn => power(TAU) * product,
        };
        Self { groups, deviations, divisor }
    }

    /// exp(-1/2 Σ ((count - 1) / σ)²) over all groups, divided by the divisor; largest for one feature of each group.
    pub fn of(&self, subset: &Subset) -> f64 {
        let mut counts = vec![0u32; self.groups.len()];
        for group in subset.iter().filter_map(|feature| self.groups.of(feature)) {
            counts[group] += 1;
        }
        let squares = counts.iter().zip(&self.deviations).map(|(&count, sigma)| {
            let deviation = (f64::from(count) - 1.0) / sigma;
            deviation * deviation
        });
        exp(-0.5 * squares.sum::<f64>()) / self.divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups of 3, 1 and 5 features.
    fn similarity(sim: Sim, sigma_log: SigmaLog) -> Similarity {
        let groups = Groups::new(vec![vec![0, 1, 2], vec![3], (4..9).collect()], 10).unwrap();
        Similarity::new(Arc::new(groups), sim, sigma_log)
    }

    /// Two of the first group, one of the second, none of the third, and a feature of no group.
    fn lopsided() -> Subset {
        Subset::from_indices(10, [0, 2, 3, 9])
    }

    #[test]
    fn deviations_have_the_worked_values() {
        for (size, sigma) in [(1, 1.0), (2, 1.301_030), (3, 1.477_121), (5, 1.698_970), (10, 2.0)] {
            // Six decimals are printed.
            assert!((SigmaLog::Log10.deviation(size) - sigma).abs() < 5e-7, "{size}");
        }
    }

    #[test]
    fn similarities_have_the_worked_values() {
        for (sim, sigma_log, expected) in [
            (Sim::Plain, SigmaLog::Log10, 0.668_727),
            (Sim::Plain, SigmaLog::Ln, 0.926_915),
            (Sim::Literal, SigmaLog::Log10, 0.023_927),
            (Sim::Mvn, SigmaLog::Log10, 0.016_919),
        ] {
            let found = similarity(sim, sigma_log).of(&lopsided());
            // Six decimals are printed.
            assert!((found - expected).abs() < 5e-7, "{sim:?} {sigma_log:?}: {found}");
        }
    }

    #[test]
    fn one_feature_of_each_group_has_the_largest_similarity() {
        let target = Subset::from_indices(10, [1, 3, 7]);
        assert_eq!(similarity(Sim::Plain, SigmaLog::Log10).of(&target), 1.0);
        let largest = similarity(Sim::Literal, SigmaLog::Log10).of(&target);
        // Six decimals are printed.
        assert!((largest - 0.035_780).abs() < 5e-7, "{largest}");
    }
}
