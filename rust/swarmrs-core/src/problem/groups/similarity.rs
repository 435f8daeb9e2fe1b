//! The similarity of a subset to one feature of each group.

use super::Groups;
use crate::base::math::{exp, ln, log10};
use crate::base::subset::Subset;
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// The logarithm in σ = log(10 |group|), how far the number of features taken from a group may lie from one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SigmaLog {
    /// Of base 10: σ is 1 for a group of one.
    #[default]
    Log10,
    /// The natural one.
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

/// The normalization of a similarity. Only the plain one is 1 at the target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sim {
    /// Nothing.
    #[default]
    Plain,
    /// 2 π^(C/2) times all σ, as the paper prints it, C being the number of groups.
    Literal,
    /// (2π)^(C/2) times all σ: the density of a multivariate normal distribution.
    Mvn,
}

/// Compares the number of features a subset has of each group with one.
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
        let spread: f64 = deviations.iter().product();
        // π and 2π to the power of half the number of groups.
        let power = |base: f64| exp(groups.len() as f64 / 2.0 * ln(base));
        let divisor = match sim {
            Sim::Plain => 1.0,
            Sim::Literal => 2.0 * power(PI) * spread,
            Sim::Mvn => power(TAU) * spread,
        };
        Self { groups, deviations, divisor }
    }

    /// exp(-1/2 Σ ((count - 1) / σ)²) over all groups, divided: the more, the nearer to one feature of each.
    pub fn of(&self, subset: &Subset) -> f64 {
        let mut counts = vec![0u32; self.groups.len()];
        for group in subset.iter().filter_map(|feature| self.groups.of(feature)) {
            counts[group] += 1;
        }
        let squares = counts.iter().zip(&self.deviations).map(|(&count, sigma)| {
            let off = (f64::from(count) - 1.0) / sigma;
            off * off
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
    fn one_of_each_group_is_the_target() {
        let target = Subset::from_indices(10, [1, 3, 7]);
        assert_eq!(similarity(Sim::Plain, SigmaLog::Log10).of(&target), 1.0);
        let most = similarity(Sim::Literal, SigmaLog::Log10).of(&target);
        // Six decimals are printed.
        assert!((most - 0.035_780).abs() < 5e-7, "{most}");
    }
}
