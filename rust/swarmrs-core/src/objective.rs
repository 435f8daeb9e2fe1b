//! What the search lowers: an objective turns measures into a cost.

use crate::error::{Error, Result};
use crate::evaluate::Measures;
use crate::filter::Merit;
use crate::math::sigmoid;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// The one number the search lowers; totally ordered, never NaN.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cost(f64);

impl Cost {
    /// A cost; what is not a number counts as the worst there is.
    pub fn new(value: f64) -> Self {
        // Adding zero turns -0 into 0, so that equal costs are equal in order too.
        Self(if value.is_nan() { f64::INFINITY } else { value + 0.0 })
    }

    /// The number.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl Eq for Cost {}

impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cost {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// How measures become a cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Objective {
    /// The error alone.
    Error,
    /// `alpha` of the error and the rest of the share of features kept.
    Weighted {
        /// The weight of the error, in (0.5, 1].
        alpha: f64,
    },
    /// `gamma` of balanced accuracy and the rest of how far classes lie apart, negated.
    Hybrid {
        /// The weight of balanced accuracy, in [0, 1].
        gamma: f64,
    },
    /// What correlation-based selection lowers: no classifier is asked during the search.
    #[serde(rename = "filter-cfs")]
    FilterCfs,
    /// Relevance less mean redundancy, as a cost: no classifier is asked during the search.
    #[serde(rename = "filter-mrmr")]
    FilterMrmr,
}

impl Objective {
    /// Refuses weights outside their range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn check(self) -> Result<()> {
        match self {
            Self::Weighted { alpha } if !(alpha > 0.5 && alpha <= 1.0) => {
                Err(Error::out_of_range("alpha", alpha, "above 0.5, up to 1"))
            }
            Self::Hybrid { gamma } if !(0.0..=1.0).contains(&gamma) => {
                Err(Error::out_of_range("gamma", gamma, "0 to 1"))
            }
            _ => Ok(()),
        }
    }

    /// The cost of `size` features out of `n_features` that measure like this.
    pub fn cost(self, measures: &Measures, size: usize, n_features: usize) -> Cost {
        Cost::new(match self {
            // A search led by a filter is told its cost in the place of an error.
            Self::Error | Self::FilterCfs | Self::FilterMrmr => measures.error,
            Self::Weighted { alpha } => {
                alpha * measures.error + (1.0 - alpha) * (size as f64 / n_features as f64)
            }
            Self::Hybrid { gamma } => {
                let apart = sigmoid(5.0 * measures.separation);
                -(gamma * measures.balanced_accuracy + (1.0 - gamma) * apart)
            }
        })
    }

    /// The cost of the empty subset, which is never measured.
    pub fn worst(self) -> Cost {
        Cost::new(match self {
            Self::Hybrid { .. } => 0.0,
            _ => 1.0,
        })
    }

    /// Whether the distances between and within classes are needed.
    pub fn needs_separation(self) -> bool {
        matches!(self, Self::Hybrid { .. })
    }

    /// What takes the place of a classifier during the search, if anything does.
    pub fn merit(self) -> Option<Merit> {
        match self {
            Self::FilterCfs => Some(Merit::Cfs),
            Self::FilterMrmr => Some(Merit::Mrmr),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measures(error: f64, balanced_accuracy: f64, separation: f64) -> Measures {
        Measures { error, balanced_accuracy, separation, ..Measures::WORST }
    }

    #[test]
    fn weighted_has_the_worked_value() {
        let cost = Objective::Weighted { alpha: 0.9 }.cost(&measures(0.1, 0.0, 0.0), 3, 30);
        // Decimal fractions are not exact in binary.
        assert!((cost.value() - 0.10).abs() < 1e-15);
    }

    #[test]
    fn hybrid_has_the_worked_values() {
        let hybrid = Objective::Hybrid { gamma: 0.8 };
        for (balanced, apart, fitness) in
            [(1.0, 0.7 - 0.2, 0.984_828_363_995_751), (0.0, 0.2 - 0.8, 0.009_485_174_635_513)]
        {
            let cost = hybrid.cost(&measures(0.0, balanced, apart), 1, 2).value();
            // The worked example prints 15 decimals.
            assert!((cost + fitness).abs() < 1e-15, "{cost}");
        }
        assert_eq!(hybrid.cost(&measures(0.5, 0.5, 0.0), 2, 2).value(), -0.5);
    }

    #[test]
    fn nan_is_the_worst_cost() {
        assert!(Cost::new(f64::NAN) > Cost::new(1e300));
        assert_eq!(Cost::new(-0.0).cmp(&Cost::new(0.0)), Ordering::Equal);
    }

    #[test]
    fn weights_outside_their_range_are_refused() {
        let message = |o: Objective| o.check().unwrap_err().to_string();
        assert_eq!(
            message(Objective::Weighted { alpha: 0.5 }),
            "alpha is 0.5, expected above 0.5, up to 1"
        );
        assert_eq!(message(Objective::Hybrid { gamma: 2.0 }), "gamma is 2, expected 0 to 1");
    }
}
