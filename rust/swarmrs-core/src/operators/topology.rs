//! Who learns from whom.

use crate::base::subset::Subset;
use crate::problem::objective::Cost;

/// The particle with the best own best among `particle` and its two neighbours on a ring.
///
/// They are looked at in the order itself, before, after; the first of equals wins.
pub fn ring_best(own: &[(Subset, Cost)], particle: usize) -> usize {
    let n = own.len();
    [particle, (particle + n - 1) % n, (particle + 1) % n]
        .into_iter()
        .min_by_key(|&neighbour| own[neighbour].1)
        .unwrap_or(particle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_looks_to_both_sides_and_closes() {
        let own: Vec<(Subset, Cost)> =
            [0.3, 0.3, 0.1, 0.2, 0.2].map(|cost| (Subset::empty(1), Cost::new(cost))).into();
        let best: Vec<usize> = (0..5).map(|particle| ring_best(&own, particle)).collect();
        assert_eq!(best, [4, 2, 2, 2, 4]);
        assert_eq!(ring_best(&own[..2], 1), 1, "among equals a particle follows itself");
        assert_eq!(ring_best(&own[..1], 0), 0);
    }
}
