//! Cross-validation that is repeated until its error is known well enough.
//!
//! Every subset is evaluated on the same partitions, drawn one after the other. After two of them it goes on, up to the
//! last, as long as the errors seen so far spread: while their standard deviation exceeds a hundredth of their mean.
//! The result is the mean over the partitions it took.

use super::{Classify, Evaluator, Measures, Work};
use crate::base::error::Result;
use crate::base::subset::Subset;

/// One evaluator for each partition.
pub struct Repeated {
    rounds: Vec<Box<dyn Classify>>,
}

/// The standard deviation of errors at which they agree, relative to their mean.
const SPREAD: f64 = 0.01;
/// Partitions before the spread is looked at.
const FIRST: usize = 2;

impl Repeated {
    /// Measures on these partitions, in this order.
    pub fn new(rounds: Vec<Box<dyn Classify>>) -> Self {
        Self { rounds }
    }
}

/// True if errors agree: their population standard deviation is a hundredth of their mean at the most.
fn agree(errors: &[f64]) -> bool {
    let n = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / n;
    let variance = errors.iter().map(|error| (error - mean) * (error - mean)).sum::<f64>() / n;
    mean == 0.0 || variance.sqrt() / mean <= SPREAD
}

/// The mean of each score.
fn mean(rounds: &[Measures]) -> Measures {
    let mut sums = [0.0; Measures::FIELDS];
    for measures in rounds {
        for (sum, value) in sums.iter_mut().zip(measures.to_array()) {
            *sum += value;
        }
    }
    Measures::from_array(sums.map(|sum| sum / rounds.len() as f64))
}

impl Evaluator for Repeated {
    fn evaluate(&mut self, subsets: &[Subset]) -> Result<Vec<Measures>> {
        let mut seen: Vec<Vec<Measures>> = vec![Vec::new(); subsets.len()];
        for (done, round) in self.rounds.iter_mut().enumerate() {
            let is_open = |rounds: &[Measures]| {
                let errors: Vec<f64> = rounds.iter().map(|round| round.error).collect();
                // Who was left out of a round is known well enough for good.
                errors.len() == done && (done < FIRST || !agree(&errors))
            };
            let open: Vec<usize> = (0..subsets.len()).filter(|&at| is_open(&seen[at])).collect();
            if open.is_empty() {
                break;
            }
            let batch: Vec<Subset> = open.iter().map(|&at| subsets[at].clone()).collect();
            for (at, measures) in open.into_iter().zip(round.evaluate(&batch)?) {
                seen[at].push(measures);
            }
        }
        Ok(seen.iter().map(|rounds| mean(rounds)).collect())
    }

    /// The number of partitions a subset took depends on errors that its mean does not hold, so it is evaluated once more.
    fn recall(&mut self, subsets: &[Subset], _: &[Measures]) {
        // Only an interruption can fail, and it ends the run before the next iteration.
        let _ = self.evaluate(subsets);
    }

    fn work(&self) -> Work {
        self.rounds.iter().map(|round| round.work()).fold(Work::default(), |sum, work| Work {
            element_ops: sum.element_ops + work.element_ops,
            from_scratch_ops: sum.from_scratch_ops + work.from_scratch_ops,
            setup_ops: sum.setup_ops + work.setup_ops,
        })
    }
}

impl Classify for Repeated {
    /// The predictions on all partitions, those included that a measurement may do without.
    fn predict(&self, subset: &Subset) -> Vec<(u32, u32)> {
        self.rounds.iter().flat_map(|round| round.predict(subset)).collect()
    }

    fn predict_numbers(&self, subset: &Subset) -> Vec<(u32, f64)> {
        self.rounds.iter().flat_map(|round| round.predict_numbers(subset)).collect()
    }

    fn fold_sizes(&self) -> Vec<usize> {
        self.rounds.iter().flat_map(|round| round.fold_sizes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports these errors, one for each feature, and counts the subsets it evaluates.
    struct Fixed(Vec<f64>, u64);

    impl Evaluator for Fixed {
        fn evaluate(&mut self, subsets: &[Subset]) -> Result<Vec<Measures>> {
            self.1 += subsets.len() as u64;
            let first = |subset: &Subset| subset.iter().next().expect("not empty");
            Ok(subsets.iter().map(|s| Measures::from_error(self.0[first(s)])).collect())
        }

        fn work(&self) -> Work {
            Work { element_ops: self.1, from_scratch_ops: self.1, setup_ops: 0 }
        }
    }

    impl Classify for Fixed {
        fn predict(&self, _: &Subset) -> Vec<(u32, u32)> {
            vec![(0, 0)]
        }

        fn fold_sizes(&self) -> Vec<usize> {
            vec![1]
        }
    }

    #[test]
    fn it_is_repeated_while_errors_spread() {
        // Feature by feature: the errors of five rounds.
        let rounds = [
            [0.0, 0.0, 0.0, 0.0, 0.0],
            [0.200, 0.204, 9.0, 9.0, 9.0],
            [0.2, 0.3, 0.25, 0.25, 0.25],
            [0.200, 0.205, 0.202, 9.0, 9.0],
        ];
        // The second spreads by .002 / .202 = .0099. The fourth by .0025 / .2025 = .0123, and with a third round by
        // .00205 / .20233 = .0102: that is still too much, and then it meets two rounds that went wrong.
        let means = [0.0, 0.202, 0.25, (0.2 + 0.205 + 0.202 + 9.0 + 9.0) / 5.0];
        let columns = (0..5).map(|round| rounds.iter().map(|errors| errors[round]).collect());
        let boxed = columns.map(|errors| Box::new(Fixed(errors, 0)) as Box<dyn Classify>);
        let mut repeated = Repeated::new(boxed.collect());
        let subsets_of_one: Vec<Subset> = (0..4).map(|at| Subset::from_indices(4, [at])).collect();
        let scores = repeated.evaluate(&subsets_of_one).unwrap();
        for (scores, mean) in scores.iter().zip(means) {
            // Sums of decimal fractions, which are not exact in binary.
            assert!((scores.error - mean).abs() < 1e-12, "{} {mean}", scores.error);
        }
        // Two rounds for all four, then three more for the last two.
        assert_eq!(repeated.work().element_ops, 2 * 4 + 3 * 2);
    }

    #[test]
    fn a_batch_is_measured_like_its_members() {
        let make = || {
            let errors = |round: usize| (0..9).map(|f| ((f * 7 + round * 3) % 5) as f64).collect();
            let boxed = (0..5).map(|r| Box::new(Fixed(errors(r), 0)) as Box<dyn Classify>);
            Repeated::new(boxed.collect())
        };
        let subsets_of_one: Vec<Subset> = (0..9).map(|at| Subset::from_indices(9, [at])).collect();
        let together = make().evaluate(&subsets_of_one).unwrap();
        let mut alone = make();
        for (subset, scores) in subsets_of_one.iter().zip(together) {
            assert_eq!(alone.evaluate(std::slice::from_ref(subset)).unwrap(), [scores]);
        }
    }
}
