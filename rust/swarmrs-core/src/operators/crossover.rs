//! How two parents make children.

use crate::streams::Rng;
use crate::subset::Subset;

/// Swaps what lies between two distinct points, each equally likely to lie before, between or after
/// features.
pub fn two_point(a: &mut Subset, b: &mut Subset, rng: &mut Rng) {
    let points = rng.distinct(2, a.len() + 1);
    for d in points[0].min(points[1])..points[0].max(points[1]) {
        let (in_a, in_b) = (a.contains(d), b.contains(d));
        a.set(d, in_b);
        b.set(d, in_a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::{Phase, Streams};
    use crate::testing::bits;

    #[test]
    fn a_cross_swaps_one_segment() {
        for seed in 0..50 {
            let (mut a, mut b) = (bits("000000"), bits("111111"));
            two_point(&mut a, &mut b, &mut Streams::new(seed).rng(1, Phase::Ask, 0));
            assert_eq!(a, b.complement());
            let swapped: Vec<usize> = a.iter().collect();
            assert!(!swapped.is_empty() && swapped.windows(2).all(|at| at[1] == at[0] + 1));
        }
    }
}
