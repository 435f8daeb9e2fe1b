//! Initial subsets of all sizes.

use crate::base::math::{exp, ln};
use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::problem::groups::Groups;
use crate::search::algorithm::Space;

/// A random subset whose size is log-uniform from one feature to the limit. If the space has groups, features are drawn
/// from the groups in turn.
pub fn log_uniform_subset(space: &Space, rng: &mut Rng) -> Subset {
    let (n, limit) = (space.n_features(), space.limit());
    let size = exp(rng.unit() * ln(limit as f64)).round() as usize;
    let size = size.clamp(1, limit);
    match space.groups() {
        None => Subset::from_indices(n, rng.distinct(size, n)),
        Some(groups) => round_robin(groups, n, size, rng),
    }
}

/// Draws `size` features from the groups in turn, in random order; features of no group come last.
fn round_robin(groups: &Groups, n: usize, size: usize, rng: &mut Rng) -> Subset {
    let mut queues: Vec<Vec<usize>> = groups.iter().map(<[usize]>::to_vec).collect();
    for queue in &mut queues {
        rng.shuffle(queue);
    }
    rng.shuffle(&mut queues);
    let rounds = queues.iter().map(Vec::len).max().unwrap_or(0);
    let grouped = (0..rounds).flat_map(|round| queues.iter().filter_map(move |q| q.get(round)));
    let mut others: Vec<usize> = (0..n).filter(|&feature| groups.of(feature).is_none()).collect();
    rng.shuffle(&mut others);
    Subset::from_indices(n, grouped.chain(&others).copied().take(size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Phase, Streams};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn starts(space: &Space, count: usize) -> impl Iterator<Item = Subset> {
        let streams = Streams::new(1);
        (0..count).map(move |slot| log_uniform_subset(space, &mut streams.rng(0, Phase::Ask, slot)))
    }

    fn grouped(n: usize, limit: usize, members: &[&[usize]]) -> Space {
        let members = members.iter().map(|group| group.to_vec()).collect();
        Space::new(n, limit).with_groups(Arc::new(Groups::new(members, n).unwrap()))
    }

    #[test]
    fn sizes_are_log_uniform() {
        let space = Space::new(1000, 1000);
        let small = starts(&space, 3000).filter(|start| start.count() <= 10).count();
        // exp(U ln 1000) < 10.5 for a share of ln 10.5 / ln 1000 = 0.3404 of all U; four standard
        // deviations of 3000 draws are 104.
        assert!(small.abs_diff(1021) < 104, "{small}");
    }

    #[test]
    fn features_are_drawn_from_the_groups_in_turn() {
        let space = grouped(9, 9, &[&[0, 1, 2, 3], &[4, 5], &[6]]);
        for start in starts(&space, 200) {
            let of = |features: std::ops::Range<usize>| {
                features.filter(|&feature| start.contains(feature)).count()
            };
            let taken = [of(0..4), of(4..6), of(6..7), of(7..9)];
            match start.count() {
                size @ 1..=3 => assert!(taken[..3].iter().all(|&n| n <= 1) && size > taken[3]),
                4 | 5 => assert!(taken[0].abs_diff(2) <= 1 && taken[1] >= 1 && taken[2] == 1),
                size => assert_eq!(taken[3], size.saturating_sub(7), "{taken:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn subsets_are_feasible(n in 1usize..60, limit in 1usize..60, seed: u64) {
            let evens: Vec<usize> = (0..n).step_by(2).collect();
            for space in [Space::new(n, limit), grouped(n, limit, &[&evens])] {
                let mut rng = Streams::new(seed).rng(0, Phase::Ask, 0);
                let size = log_uniform_subset(&space, &mut rng).count();
                prop_assert!((1..=limit.min(n)).contains(&size));
            }
        }
    }
}
