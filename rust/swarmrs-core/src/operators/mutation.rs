//! Bit-flip mutation.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::simd::words;

/// The probability of adding an unselected feature that keeps the expected size if every selected feature is dropped with
/// probability `rate`.
pub fn neutral_gain(rate: f64, subset: &Subset) -> f64 {
    let (n, size) = (subset.len(), subset.count());
    if size < n { rate * size as f64 / (n - size) as f64 } else { 0.0 }
}

/// The flip probability p0 + p1 [x != p] + p2 [x != g] of a bit, at most 1.
pub fn flip_probability([p0, p1, p2]: [f64; 3], differs_from_p: bool, differs_from_g: bool) -> f64 {
    let added = |rate: f64, differs: bool| if differs { rate } else { 0.0 };
    (p0 + added(p1, differs_from_p) + added(p2, differs_from_g)).min(1.0)
}

/// Flips each bit of x with [`flip_probability`]; `rates` are those of unselected and of selected features. One uniform
/// number is drawn for every feature, in order.
pub fn flipped([x, p, g]: [&Subset; 3], rates: [[f64; 3]; 2], rng: &mut Rng) -> Subset {
    let flips = words::drawn(x.len(), rng, |word| {
        let [x, p, g] = [x.words()[word.at], p.words()[word.at], g.words()[word.at]];
        let has_equal_rates = rates[0] == rates[1];
        let mut classes = [(0, 0.0); 8];
        for (class, (bits, probability)) in classes.iter_mut().enumerate() {
            let [is_in, from_p, from_g] = [class & 1 != 0, class & 2 != 0, class & 4 != 0];
            let where_is = |set: u64, value: bool| if value { set } else { !set };
            *probability = flip_probability(rates[usize::from(is_in)], from_p, from_g);
            *bits = where_is(x ^ p, from_p) & where_is(x ^ g, from_g);
            // With equal rates, unselected and selected features are one class.
            *bits &= if !has_equal_rates {
                where_is(x, is_in)
            } else if is_in {
                0
            } else {
                u64::MAX
            };
        }
        classes
    });
    x.exclusive(&flips)
}

/// Drops each selected feature with probability `loss` and adds each other feature with probability `gain`. One uniform
/// number is drawn for every feature, in order.
pub fn mutated(subset: &Subset, loss: f64, gain: f64, rng: &mut Rng) -> Subset {
    let flips = words::drawn(subset.len(), rng, |word| {
        let is_in = subset.words()[word.at];
        [(is_in, loss), (!is_in, gain)]
    });
    subset.exclusive(&flips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flip_probabilities_are_those_of_the_paper() {
        let of = |from_p, from_g| flip_probability([0.05, 0.35, 0.65], from_p, from_g);
        assert_eq!(of(false, false), 0.05);
        assert_eq!(of(true, false), 0.05 + 0.35);
        assert_eq!(of(false, true), 0.05 + 0.65);
        assert_eq!(of(true, true), 1.0);
    }

    #[test]
    fn neutral_gain_keeps_the_expected_size() {
        for size in 0..=20 {
            let subset = Subset::from_indices(20, 0..size);
            let added = neutral_gain(0.05, &subset) * (20 - size) as f64;
            let dropped = if size < 20 { 0.05 * size as f64 } else { 0.0 };
            // A quotient times its divisor may be rounded.
            assert!((added - dropped).abs() < 1e-15, "{size}");
        }
    }
}
