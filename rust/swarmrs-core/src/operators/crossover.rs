//! Crossover of two parents.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::simd::words;

/// One-point crossover; the point is between two features.
pub fn one_point(a: &mut Subset, b: &mut Subset, rng: &mut Rng) {
    let n = a.len();
    if n > 1 {
        swap(a, b, 1 + rng.below(n - 1)..n);
    }
}

/// Uniform crossover: swaps each feature with probability 1/2.
pub fn uniform(a: &mut Subset, b: &mut Subset, rng: &mut Rng) {
    let swapped = words::drawn(a.len(), rng, |_| [(u64::MAX, 0.5)]);
    let changed = a.exclusive(b).intersection(&swapped);
    (*a, *b) = (a.exclusive(&changed), b.exclusive(&changed));
}

/// Two-point crossover; the two distinct points are uniform over the positions before, between and after features.
pub fn two_point(a: &mut Subset, b: &mut Subset, rng: &mut Rng) {
    let points = rng.distinct(2, a.len() + 1);
    swap(a, b, points[0].min(points[1])..points[0].max(points[1]));
}

fn swap(a: &mut Subset, b: &mut Subset, features: impl Iterator<Item = usize>) {
    for d in features {
        let (in_a, in_b) = (a.contains(d), b.contains(d));
        a.set(d, in_b);
        b.set(d, in_a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Phase, Streams};
    use crate::testing::bits;

    #[test]
    fn two_point_crossover_swaps_one_segment() {
        for seed in 0..50 {
            let (mut a, mut b) = (bits("000000"), bits("111111"));
            two_point(&mut a, &mut b, &mut Streams::new(seed).rng(1, Phase::Ask, 0));
            assert_eq!(a, b.complement());
            let swapped: Vec<usize> = a.iter().collect();
            assert!(!swapped.is_empty() && swapped.windows(2).all(|pair| pair[1] == pair[0] + 1));
        }
    }

    #[test]
    fn one_point_swaps_a_tail_and_uniform_any_features() {
        let mut tails = [false; 6];
        let mut is_scattered = false;
        for seed in 0..100 {
            let rng = || Streams::new(seed).rng(1, Phase::Ask, 0);
            let (mut a, mut b) = (bits("000000"), bits("111111"));
            one_point(&mut a, &mut b, &mut rng());
            assert_eq!(a, b.complement());
            let from = 6 - a.count();
            assert_eq!(a, Subset::from_indices(6, from..6));
            tails[from] = true;
            let (mut a, mut b) = (bits("000000"), bits("111111"));
            uniform(&mut a, &mut b, &mut rng());
            assert_eq!(a, b.complement());
            is_scattered |= a == bits("010110");
        }
        assert_eq!(tails, [false, true, true, true, true, true]);
        assert!(is_scattered);
        let (mut a, mut b) = (bits("0"), bits("1"));
        one_point(&mut a, &mut b, &mut Streams::new(1).rng(1, Phase::Ask, 0));
        assert_eq!((a, b), (bits("0"), bits("1")));
    }
}
