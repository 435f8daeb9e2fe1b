//! Continuous positions as subsets: a feature is selected where its coordinate lies above a threshold.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::search::algorithm::Space;
use crate::simd::words;

/// The features whose coordinates lie above the threshold, trimmed to what the space allows. The coordinates of trimmed
/// features are set back to the threshold, so that position and subset agree.
pub fn select(y: &mut [f64], threshold: f64, space: &Space, rng: &mut Rng) -> Subset {
    select_as(y, threshold, space, |feature| feature, rng)
}

/// [`select`] where coordinate `d` stands for the feature `of(d)`.
pub fn select_as(
    y: &mut [f64],
    threshold: f64,
    space: &Space,
    of: impl Fn(usize) -> usize,
    rng: &mut Rng,
) -> Subset {
    let above = words::all_above(rng.isa(), y, threshold);
    let mut kept = above.clone();
    space.trim_as(&mut kept, of, rng);
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
    fn a_position_at_the_threshold_is_out() {
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
