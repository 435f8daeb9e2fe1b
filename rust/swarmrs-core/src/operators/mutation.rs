//! Probabilities at which bits flip.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::simd::words;

/// The probability of an absent feature to come in at which as many are expected to come as go, where
/// every present one goes with probability `rate`.
pub fn neutral_gain(rate: f64, subset: &Subset) -> f64 {
    let (n, size) = (subset.len(), subset.count());
    if size < n { rate * size as f64 / (n - size) as f64 } else { 0.0 }
}

/// The flip probability p0 + p1 [x != p] + p2 [x != g] of a bit, at most 1.
pub fn flip_probability([p0, p1, p2]: [f64; 3], differs_from_p: bool, differs_from_g: bool) -> f64 {
    let added = |rate: f64, differs: bool| if differs { rate } else { 0.0 };
    (p0 + added(p1, differs_from_p) + added(p2, differs_from_g)).min(1.0)
}

/// The subset that x becomes where each bit flips with [`flip_probability`], by the rates of bits that are out and of
/// those that are in. One unit is drawn for every feature, in order.
pub fn flipped([x, p, g]: [&Subset; 3], rates: [[f64; 3]; 2], rng: &mut Rng) -> Subset {
    let flips = words::drawn(x.len(), rng, |word| {
        let [x, p, g] = [x.words()[word.at], p.words()[word.at], g.words()[word.at]];
        let is_alike = rates[0] == rates[1];
        let mut classes = [(0, 0.0); 8];
        for (class, (bits, probability)) in classes.iter_mut().enumerate() {
            let [is_in, from_p, from_g] = [class & 1 != 0, class & 2 != 0, class & 4 != 0];
            let of = |set: u64, is_of: bool| if is_of { set } else { !set };
            *probability = flip_probability(rates[usize::from(is_in)], from_p, from_g);
            *bits = of(x ^ p, from_p) & of(x ^ g, from_g);
            // With equal rates, bits that are out and in make one class.
            *bits &= if !is_alike {
                of(x, is_in)
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

/// The subset that loses each feature with one probability and gains each other one with another. One unit is drawn for
/// every feature, in order.
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
    fn flip_probabilities_are_the_printed_table() {
        let of = |from_p, from_g| flip_probability([0.05, 0.35, 0.65], from_p, from_g);
        assert_eq!(of(false, false), 0.05);
        assert_eq!(of(true, false), 0.05 + 0.35);
        assert_eq!(of(false, true), 0.05 + 0.65);
        assert_eq!(of(true, true), 1.0);
    }

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
