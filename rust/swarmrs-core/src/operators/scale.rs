//! Scaling of costs to 0..1, for update rules that assume errors.

use crate::problem::objective::Cost;

/// The costs, min-max scaled unless all are in [0, 1]: the least becomes 0, the largest finite one 1.
pub fn unit_costs(costs: &[Cost]) -> Vec<f64> {
    let values: Vec<f64> = costs.iter().map(|cost| cost.value()).collect();
    if values.iter().all(|value| (0.0..=1.0).contains(value)) {
        return values;
    }
    let finite = values.iter().copied().filter(|value| value.is_finite());
    let (least, largest) = finite
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| (lo.min(value), hi.max(value)));
    let range = largest - least;
    // If all costs are equal they become 1, the worst: none earns a reward.
    let scaled = |value: f64| {
        if range > 0.0 { (value - least) / range } else { 1.0 }
    };
    values.iter().map(|&value| scaled(value).clamp(0.0, 1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(costs: &[f64]) -> Vec<f64> {
        unit_costs(&costs.iter().map(|&cost| Cost::new(cost)).collect::<Vec<_>>())
    }

    #[test]
    fn errors_are_unchanged() {
        assert_eq!(scaled(&[0.2, 0.1, 1.0]), [0.2, 0.1, 1.0]);
    }

    #[test]
    fn other_costs_are_scaled() {
        assert_eq!(scaled(&[-3.0, -1.0, -2.0]), [0.0, 1.0, 0.5]);
        assert_eq!(scaled(&[2.0, f64::INFINITY, 4.0]), [0.0, 1.0, 1.0]);
        assert_eq!(scaled(&[7.0, 7.0]), [1.0, 1.0]);
        assert_eq!(scaled(&[f64::INFINITY; 2]), [1.0, 1.0]);
    }
}
