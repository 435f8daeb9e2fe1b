//! How bits flip by chance.

use crate::base::subset::Subset;

/// The chance of an absent feature to come in at which as many are expected to come as go, where
/// every present one goes with chance `rate`.
pub fn neutral_gain(rate: f64, subset: &Subset) -> f64 {
    let (n, size) = (subset.len(), subset.count());
    if size < n { rate * size as f64 / (n - size) as f64 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_come_as_go() {
        for size in 0..=20 {
            let subset = Subset::from_indices(20, 0..size);
            let comes = neutral_gain(0.05, &subset) * (20 - size) as f64;
            let goes = if size < 20 { 0.05 * size as f64 } else { 0.0 };
            // A quotient times its divisor.
            assert!((comes - goes).abs() < 1e-15, "{size}");
        }
    }
}
