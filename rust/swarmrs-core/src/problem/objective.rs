//! Objectives: the cost that a search minimizes, from the scores of a subset.

use crate::base::error::{Error, Result};
use crate::base::math::sigmoid;
use crate::base::subset::Subset;
use crate::evaluate::{Measures, NumberScores};
use crate::filter::Merit;
use crate::problem::groups::{Groups, SigmaLog, Sim, Similarity};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::sync::Arc;

/// The number that a search minimizes; totally ordered, never NaN.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cost(f64);

impl Cost {
    /// A cost; NaN becomes infinity, the worst cost.
    pub fn new(value: f64) -> Self {
        // Adding 0 turns -0 into 0, because `total_cmp` orders them differently.
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

/// The score behind the loss of an objective; the loss is 1 less the score, or the error of a negated error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Score {
    /// Mean over folds of the fraction of correctly classified rows.
    Accuracy,
    /// Mean over folds of the mean recall of the classes.
    BalancedAccuracy,
    /// Mean over classes of one-versus-rest accuracy.
    OvrAccuracy,
    /// Mean over folds of the mean F1 of the classes.
    F1Macro,
    /// Mean over folds of the Matthews correlation coefficient, mapped from -1..1 to 0..1.
    MatthewsCorrcoef,
    /// The coefficient of determination, for regression.
    R2,
    /// The negated mean squared error, for regression.
    NegMeanSquaredError,
    /// The negated root mean squared error, for regression.
    NegRootMeanSquaredError,
    /// The negated mean absolute error, for regression.
    NegMeanAbsoluteError,
}

impl Score {
    /// True if it is a regression score.
    pub fn is_numeric(self) -> bool {
        self == Self::R2 || self.is_negated_error()
    }

    /// True if it is a negated regression error.
    fn is_negated_error(self) -> bool {
        matches!(
            self,
            Self::NegMeanSquaredError | Self::NegRootMeanSquaredError | Self::NegMeanAbsoluteError
        )
    }

    /// The value of the score. The best is 1, or 0 for a negated error.
    fn of(self, measures: &Measures) -> f64 {
        let number = |score: fn(&NumberScores) -> f64| {
            measures.numbers.as_ref().map_or(f64::NEG_INFINITY, score)
        };
        match self {
            Self::Accuracy => measures.accuracy,
            Self::BalancedAccuracy => measures.balanced_accuracy,
            Self::OvrAccuracy => measures.ovr_accuracy,
            Self::F1Macro => measures.f1_macro,
            Self::MatthewsCorrcoef => f64::midpoint(measures.matthews_corrcoef, 1.0),
            Self::R2 => number(|scores| scores.r2),
            Self::NegMeanSquaredError => number(|scores| scores.neg_mean_squared_error),
            Self::NegRootMeanSquaredError => number(|scores| scores.neg_root_mean_squared_error),
            Self::NegMeanAbsoluteError => number(|scores| scores.neg_mean_absolute_error),
        }
    }

    /// The loss: 1 less the score, or the error that was negated.
    pub fn loss(self, measures: &Measures) -> f64 {
        match self {
            // Without the rounding of 1 - (1 - error); custom scorers store their loss here, which may be any number.
            Self::Accuracy | Self::R2 => measures.error,
            other if other.is_negated_error() => -other.of(measures),
            other => 1.0 - other.of(measures),
        }
    }
}

/// The objective: the function from scores to a cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Objective {
    /// The error alone.
    Error,
    /// `alpha` error + (1 - `alpha`) fraction of selected features.
    Weighted {
        /// The weight of the error, in (0.5, 1].
        #[serde(default = "alpha_of_weighted")]
        alpha: f64,
    },
    /// -(`gamma` balanced accuracy + (1 - `gamma`) separation of the classes); the balanced accuracy is that of the pooled
    /// predictions of all folds.
    Hybrid {
        /// The weight of balanced accuracy, in [0, 1].
        #[serde(default = "gamma_of_hybrid")]
        gamma: f64,
    },
    /// `alpha` error + (1 - `alpha`) (1 - similarity to one selected feature per group).
    Gaussian {
        /// The weight of the error, in [0, 1].
        #[serde(default = "alpha_of_gaussian")]
        alpha: f64,
        /// The divisor of the similarity.
        #[serde(default)]
        sim: Sim,
        /// The logarithm in the standard deviation of the similarity.
        #[serde(default)]
        sigma_log: SigmaLog,
    },
    /// 1 / (1 + merit of correlation-based feature selection); no classifier during the search.
    #[serde(rename = "filter-cfs")]
    FilterCfs,
    /// The cost of relevance less mean redundancy; no classifier during the search.
    #[serde(rename = "filter-mrmr")]
    FilterMrmr,
}

fn alpha_of_weighted() -> f64 {
    0.9
}

fn gamma_of_hybrid() -> f64 {
    0.8
}

const fn alpha_of_gaussian() -> f64 {
    0.98
}

impl Objective {
    /// The gaussian objective as published, but without the divisor.
    pub const fn gaussian(sigma_log: SigmaLog) -> Self {
        Self::Gaussian { alpha: alpha_of_gaussian(), sim: Sim::Plain, sigma_log }
    }

    /// Checks the ranges of the weights.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn check(self) -> Result<()> {
        match self {
            Self::Weighted { alpha } if !(alpha > 0.5 && alpha <= 1.0) => {
                Err(Error::out_of_range("alpha", alpha, "above 0.5, up to 1"))
            }
            Self::Gaussian { alpha, .. } if !(0.0..=1.0).contains(&alpha) => {
                Err(Error::out_of_range("alpha", alpha, "0 to 1"))
            }
            Self::Hybrid { gamma } if !(0.0..=1.0).contains(&gamma) => {
                Err(Error::out_of_range("gamma", gamma, "0 to 1"))
            }
            _ => Ok(()),
        }
    }

    /// True if it needs the distances between and within classes.
    pub fn needs_separation(self) -> bool {
        matches!(self, Self::Hybrid { .. })
    }

    /// True if it needs feature groups.
    pub fn needs_groups(self) -> bool {
        matches!(self, Self::Gaussian { .. })
    }

    /// The filter objective that replaces a classifier during the search, if any.
    pub fn merit(self) -> Option<Merit> {
        match self {
            Self::FilterCfs => Some(Merit::Cfs),
            Self::FilterMrmr => Some(Merit::Mrmr),
            _ => None,
        }
    }
}

/// The cost function of a search: an objective, its score and its feature groups.
#[derive(Debug, Clone)]
pub struct CostFunction {
    objective: Objective,
    /// The requested score; None for the default of the objective.
    score: Option<Score>,
    n_features: usize,
    /// Only for an objective that needs groups.
    similarity: Option<Similarity>,
}

impl CostFunction {
    /// The cost of subsets of `n_features` features by an objective, with its default score if `score` is None.
    ///
    /// # Errors
    /// [`Error::BadSpec`] if the objective needs groups and there are none.
    pub fn new(
        objective: Objective,
        score: Option<Score>,
        n_features: usize,
        groups: Option<Arc<Groups>>,
    ) -> Result<Self> {
        let similarity = match (objective, groups) {
            (Objective::Gaussian { sim, sigma_log, .. }, Some(groups)) => {
                Some(Similarity::new(groups, sim, sigma_log))
            }
            (Objective::Gaussian { .. }, None) => {
                let what = "the gaussian objective needs features in groups";
                return Err(Error::BadSpec { what: what.into() });
            }
            _ => None,
        };
        Ok(Self { objective, score, n_features, similarity })
    }

    /// The same for subsets of the features `allowed`; groups are restricted to these.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn within(
        objective: Objective,
        score: Option<Score>,
        allowed: &Subset,
        groups: Option<&Groups>,
    ) -> Result<Self> {
        let groups = groups.map(|groups| Arc::new(groups.within(allowed)));
        Self::new(objective, score, allowed.len(), groups)
    }

    /// The error alone, of subsets of `n_features` features.
    pub fn error(n_features: usize) -> Self {
        Self { objective: Objective::Error, score: None, n_features, similarity: None }
    }

    /// The objective.
    pub fn objective(&self) -> Objective {
        self.objective
    }

    /// The cost of a subset with these scores.
    pub fn cost(&self, measures: &Measures, subset: &Subset) -> Cost {
        let loss = || self.score.unwrap_or(Score::Accuracy).loss(measures);
        Cost::new(match self.objective {
            Objective::Error => loss(),
            // Filter evaluators store their cost as the error.
            Objective::FilterCfs | Objective::FilterMrmr => measures.error,
            Objective::Weighted { alpha } => {
                let fraction = subset.count() as f64 / self.n_features as f64;
                alpha * loss() + (1.0 - alpha) * fraction
            }
            Objective::Hybrid { gamma } => {
                let separation = sigmoid(5.0 * measures.separation);
                // As in the paper, of the pooled predictions of all folds.
                let score = self
                    .score
                    .map_or(measures.pooled_balanced_accuracy, |score| score.of(measures));
                -(gamma * score + (1.0 - gamma) * separation)
            }
            Objective::Gaussian { alpha, .. } => {
                let similarity = self.similarity.as_ref().map_or(0.0, |sim| sim.of(subset));
                alpha * loss() + (1.0 - alpha) * (1.0 - similarity)
            }
        })
    }

    /// The cost of the empty subset, which is never evaluated.
    pub fn worst(&self) -> Cost {
        Cost::new(match self.objective {
            Objective::Hybrid { .. } => 0.0,
            // Regression errors have no upper bound.
            _ if self.score.is_some_and(Score::is_negated_error) => f64::INFINITY,
            _ => 1.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measures(error: f64, pooled_balanced_accuracy: f64, separation: f64) -> Measures {
        Measures { error, pooled_balanced_accuracy, separation, ..Measures::WORST }
    }

    #[test]
    fn weighted_has_the_worked_value() {
        let weighted =
            CostFunction::new(Objective::Weighted { alpha: 0.9 }, None, 30, None).unwrap();
        let cost = weighted.cost(&measures(0.1, 0.0, 0.0), &Subset::from_indices(30, 0..3));
        // Decimal fractions are not exact in binary.
        assert!((cost.value() - 0.10).abs() < 1e-15);
    }

    #[test]
    fn hybrid_has_the_worked_values() {
        let hybrid = CostFunction::new(Objective::Hybrid { gamma: 0.8 }, None, 2, None).unwrap();
        let any = Subset::full(2);
        for (balanced, apart, fitness) in
            [(1.0, 0.7 - 0.2, 0.984_828_363_995_751), (0.0, 0.2 - 0.8, 0.009_485_174_635_513)]
        {
            let cost = hybrid.cost(&measures(0.0, balanced, apart), &any).value();
            // The worked example prints 15 decimals.
            assert!((cost + fitness).abs() < 1e-15, "{cost}");
        }
        assert_eq!(hybrid.cost(&measures(0.5, 0.5, 0.0), &any).value(), -0.5);
    }

    #[test]
    fn gaussian_has_the_worked_value() {
        let read = serde_json::from_str::<Objective>(r#"{"kind": "gaussian"}"#).unwrap();
        let members = vec![vec![0, 1, 2], vec![3], (4..9).collect()];
        let groups = Arc::new(Groups::new(members, 9).unwrap());
        let gaussian = CostFunction::new(read, None, 9, Some(groups)).unwrap();
        let cost = |error| {
            gaussian.cost(&measures(error, 0.0, 0.0), &Subset::from_indices(9, [0, 2, 3])).value()
        };
        // Six decimals are printed.
        assert!((cost(0.1) - (1.0 - 0.895_375)).abs() < 5e-7, "{}", cost(0.1));
        assert!(cost(1.0) < gaussian.worst().value());
        let refused = CostFunction::new(read, None, 9, None).unwrap_err().to_string();
        assert_eq!(refused, "the gaussian objective needs features in groups");
    }

    #[test]
    fn a_cost_uses_the_requested_score() {
        let measures = Measures {
            error: 0.3,
            accuracy: 0.7,
            balanced_accuracy: 0.625,
            ovr_accuracy: 0.75,
            f1_macro: 0.5,
            matthews_corrcoef: 0.25,
            ..Measures::WORST
        };
        let cost = |objective, score| {
            let function = CostFunction::new(objective, score, 4, None).unwrap();
            function.cost(&measures, &Subset::full(4)).value()
        };
        for (score, loss) in [
            (None, 0.3),
            (Some(Score::Accuracy), 0.3),
            (Some(Score::BalancedAccuracy), 0.375),
            (Some(Score::OvrAccuracy), 0.25),
            (Some(Score::F1Macro), 0.5),
            (Some(Score::MatthewsCorrcoef), 0.375),
        ] {
            assert_eq!(cost(Objective::Error, score), loss);
        }
        assert_eq!(cost(Objective::Weighted { alpha: 0.75 }, Some(Score::OvrAccuracy)), 0.4375);
        assert_eq!(cost(Objective::Hybrid { gamma: 1.0 }, Some(Score::F1Macro)), -0.5);
        assert_eq!(cost(Objective::Hybrid { gamma: 1.0 }, Some(Score::BalancedAccuracy)), -0.625);
    }

    #[test]
    fn a_negated_regression_error_has_the_error_as_loss() {
        let numbers = NumberScores {
            r2: 0.75,
            neg_mean_squared_error: -9.0,
            neg_root_mean_squared_error: -3.0,
            neg_mean_absolute_error: -2.0,
        };
        let measures = Measures { error: 0.25, numbers: Some(numbers), ..Measures::WORST };
        let function = |score| CostFunction::new(Objective::Error, score, 4, None).unwrap();
        for (score, cost, worst) in [
            (None, 0.25, 1.0),
            (Some(Score::R2), 0.25, 1.0),
            (Some(Score::NegMeanSquaredError), 9.0, f64::INFINITY),
            (Some(Score::NegRootMeanSquaredError), 3.0, f64::INFINITY),
            (Some(Score::NegMeanAbsoluteError), 2.0, f64::INFINITY),
        ] {
            assert_eq!(function(score).cost(&measures, &Subset::full(4)).value(), cost);
            assert_eq!(function(score).worst().value(), worst);
        }
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
        let (sim, sigma_log) = (Sim::Plain, SigmaLog::Log10);
        let gaussian = Objective::Gaussian { alpha: 1.5, sim, sigma_log };
        assert_eq!(message(gaussian), "alpha is 1.5, expected 0 to 1");
        assert_eq!(message(Objective::Hybrid { gamma: 2.0 }), "gamma is 2, expected 0 to 1");
    }
}
