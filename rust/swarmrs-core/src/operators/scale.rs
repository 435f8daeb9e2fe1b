//! Costs on one scale, for rules written for errors between 0 and 1.

use crate::problem::objective::Cost;

/// The costs themselves where all lie in [0, 1]; otherwise spread so that the least is 0 and the
/// largest finite one 1.
pub fn unit_costs(costs: &[Cost]) -> Vec<f64> {
    let values: Vec<f64> = costs.iter().map(|cost| cost.value()).collect();
    if values.iter().all(|value| (0.0..=1.0).contains(value)) {
        return values;
    }
    let finite = values.iter().copied().filter(|value| value.is_finite());
    let (least, largest) = finite
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| (lo.min(value), hi.max(value)));
    let spread = largest - least;
    // Costs that are all alike are all the worst: none earns a reward.
    let place = |value: f64| {
        if spread > 0.0 { (value - least) / spread } else { 1.0 }
    };
    values.iter().map(|&value| place(value).clamp(0.0, 1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(costs: &[f64]) -> Vec<f64> {
        unit_costs(&costs.iter().map(|&cost| Cost::new(cost)).collect::<Vec<_>>())
    }

    #[test]
    fn errors_stay_as_they_are() {
        assert_eq!(scaled(&[0.2, 0.1, 1.0]), [0.2, 0.1, 1.0]);
    }

    #[test]
    fn other_costs_are_spread() {
        assert_eq!(scaled(&[-3.0, -1.0, -2.0]), [0.0, 1.0, 0.5]);
        assert_eq!(scaled(&[2.0, f64::INFINITY, 4.0]), [0.0, 1.0, 1.0]);
        assert_eq!(scaled(&[7.0, 7.0]), [1.0, 1.0]);
        assert_eq!(scaled(&[f64::INFINITY; 2]), [1.0, 1.0]);
    }
}
