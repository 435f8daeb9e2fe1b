//! Subsets from continuous positions: a feature is selected if its coordinate is above a threshold.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::search::algorithm::Space;
use crate::simd::words;

/// The features whose coordinates are above the threshold, made feasible. The coordinates of removed features are set to
/// the threshold, so that position and subset agree.
pub fn select(y: &mut [f64], threshold: f64, space: &Space, rng: &mut Rng) -> Subset {
    select_as(y, threshold, space, |feature| feature, rng)
}

/// [`select`] for a position whose coordinate `d` is that of the feature `feature_of(d)`.
pub fn select_as(
    y: &mut [f64],
    threshold: f64,
    space: &Space,
    feature_of: impl Fn(usize) -> usize,
    rng: &mut Rng,
) -> Subset {
    let above = words::all_above(rng.isa(), y, threshold);
    let mut kept = above.clone();
    space.trim_as(&mut kept, feature_of, rng);
    for d in above.difference(&kept).iter() {
        y[d] = threshold;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Phase, Streams};
    use proptest::prelude::*;

    #[test]
    fn a_coordinate_at_the_threshold_is_not_selected() {
        let mut rng = Streams::new(1).rng(0, Phase::Ask, 0);
        let subset = select(&mut [0.5729, 1.0, 0.6], 0.6, &Space::new(3, 3), &mut rng);
        assert_eq!(subset, Subset::from_indices(3, [1]));
    }

    proptest! {
        #[test]
        fn position_and_subset_agree_under_a_limit(
            mut y in proptest::collection::vec(0.0f64..=1.0, 1..30),
            limit in 1usize..30,
            seed: u64,
        ) {
            let mut rng = Streams::new(seed).rng(0, Phase::Ask, 0);
            let space = Space::new(y.len(), limit);
            let subset = select(&mut y, 0.6, &space, &mut rng);
            prop_assert!(subset.count() <= limit);
            prop_assert!((0..y.len()).all(|d| subset.contains(d) == (y[d] > 0.6)));
        }
    }
}
