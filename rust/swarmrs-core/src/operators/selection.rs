//! Selection: roulette wheel, stochastic universal sampling, the k largest, and within groups.

use crate::base::isa::Isa;
use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::problem::groups::Groups;
use crate::simd::words;

/// Roulette wheel selection: the index that a pointer at `u` in [0, 1) hits, in proportion to the weights.
///
/// Negative weights count as 0. If the sum is 0 or not finite, all weights count as equal.
pub fn roulette(weights: &[f64], u: f64) -> usize {
    let mut total = 0.0;
    let ends: Vec<f64> = weights
        .iter()
        .map(|weight| {
            total += weight.max(0.0);
            total
        })
        .collect();
    if !(total > 0.0 && total.is_finite()) {
        // `universal` may round `u` up to 1.
        return ((u * weights.len() as f64) as usize).min(weights.len().saturating_sub(1));
    }
    // If rounding puts the pointer past the last end, the last positive weight is hit. Any other hit has a positive weight,
    // because its end is above the previous end.
    let hit = ends.partition_point(|&end| end <= u * total);
    if hit < ends.len() {
        hit
    } else {
        weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
    }
}

/// Stochastic universal sampling: the indices that `count` evenly spaced pointers hit, the first at `u` steps.
pub fn universal(weights: &[f64], count: usize, u: f64) -> Vec<usize> {
    (0..count).map(|pointer| roulette(weights, (u + pointer as f64) / count as f64)).collect()
}

/// The indices of the `k` largest values; ties go to the lower index.
pub fn top_k(values: &[f64], k: usize) -> Subset {
    let n = values.len();
    if k == 0 || k >= n {
        return if k == 0 { Subset::empty(n) } else { Subset::full(n) };
    }
    let keys: Vec<i64> = values.iter().map(|&value| order_key(value)).collect();
    let mut sorted = keys.clone();
    let least = *sorted.select_nth_unstable_by(n - k, i64::cmp).1;
    // The number of selected values that equal the k-th largest.
    let mut n_equal = k - keys.iter().filter(|&&key| key > least).count();
    words::subset(n, |word| {
        let [mut bits, mut equal] = words::above_or_equal(Isa::usual(), &keys[word.range()], least);
        while n_equal > 0 && equal != 0 {
            bits |= equal & equal.wrapping_neg();
            equal &= equal - 1;
            n_equal -= 1;
        }
        bits
    })
}

/// An integer key with the order of [`f64::total_cmp`].
fn order_key(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// Selects within each group: `select` gets the values of a group's members and returns the positions of the selected ones.
/// Features of no group are never selected.
pub fn select_within_groups(
    values: &[f64],
    groups: &Groups,
    select: impl Fn(&[f64], &mut Rng) -> Subset,
    rng: &mut Rng,
) -> Subset {
    let mut selected = Subset::empty(values.len());
    for members in groups.iter() {
        let of_members: Vec<f64> = members.iter().map(|&feature| values[feature]).collect();
        for position in select(&of_members, rng).iter() {
            selected.insert(members[position]);
        }
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn roulette_has_the_worked_values() {
        // 2D-learning paper, section 3.5: a pointer at 3.25 of 5.14 lies in the third slot.
        assert_eq!(roulette(&[0.14, 2.56, 1.35, 0.38, 0.71], 3.25 / 5.14), 2);
        let negatives = [-0.2, 0.5, 0.0, -0.1, 0.3];
        assert_eq!((roulette(&negatives, 0.1), roulette(&negatives, 0.7)), (1, 4));
    }

    #[test]
    fn roulette_without_positive_weights_is_uniform() {
        assert_eq!(roulette(&[-1.0, 0.0, -2.0], 0.5), 1);
        assert_eq!(roulette(&[f64::INFINITY, 1.0], 0.9), 1);
        assert_eq!(roulette(&[0.0, 0.0, 0.0], 1.0 - f64::EPSILON / 2.0), 2);
    }

    #[test]
    fn top_k_has_the_worked_values() {
        let sigma = [1.31, 2.40, 0.57, 1.46, 1.30];
        assert_eq!(top_k(&sigma, 3), Subset::from_indices(5, [0, 1, 3]));
        assert_eq!(top_k(&[0.5, 0.7, 0.5, 0.5], 3), Subset::from_indices(4, [0, 1, 2]));
        assert_eq!((top_k(&sigma, 0).count(), top_k(&sigma, 5).count()), (0, 5));
    }

    #[test]
    fn universal_sampling_is_proportional_to_the_weights() {
        assert_eq!(universal(&[1.0, 2.0, 0.0, 1.0], 8, 0.5), [0, 0, 1, 1, 1, 1, 3, 3]);
        assert_eq!(universal(&[0.0; 4], 4, 0.3), [0, 1, 2, 3]);
        // 3 + u is rounded to 4 here.
        assert_eq!(universal(&[0.0; 4], 4, 1.0 - f64::EPSILON / 2.0)[3], 3);
    }

    proptest! {
        #[test]
        fn roulette_never_selects_a_weight_of_0(
            weights in proptest::collection::vec(-1.0f64..1.0, 1..20),
            u in 0.0f64..1.0,
        ) {
            let slot = roulette(&weights, u);
            prop_assert!(weights[slot] > 0.0 || weights.iter().all(|&weight| weight <= 0.0));
        }

        #[test]
        fn roulette_matches_a_linear_scan(
            weights in proptest::collection::vec(prop_oneof![-1.0f64..1.0, Just(0.0), Just(1e-17)], 1..200),
            u in 0.0f64..1.0,
        ) {
            let wide = || weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
            let total: f64 = wide().map(|(_, weight)| weight).sum();
            prop_assume!(total > 0.0);
            let mut reached = 0.0;
            let passed = wide().find(|(_, weight)| {
                reached += **weight;
                u * total < reached
            });
            let expected = passed.or(wide().next_back()).map(|(slot, _)| slot);
            prop_assert_eq!(Some(roulette(&weights, u)), expected);
        }

        #[test]
        fn top_k_matches_a_stable_sort(
            values in proptest::collection::vec(
                prop_oneof![-1.0f64..1.0, Just(0.0), Just(-0.0), Just(0.5)], 1..200,
            ),
            k in 0usize..200,
        ) {
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
            order.truncate(k);
            prop_assert_eq!(top_k(&values, k), Subset::from_indices(values.len(), order));
        }

        #[test]
        fn top_k_leaves_no_larger_value(
            values in proptest::collection::vec(-1.0f64..1.0, 1..40),
            k in 0usize..40,
        ) {
            let chosen = top_k(&values, k);
            prop_assert_eq!(chosen.count(), k.min(values.len()));
            let least = chosen.iter().map(|i| values[i]).fold(f64::INFINITY, f64::min);
            prop_assert!(chosen.complement().iter().all(|i| values[i] <= least));
        }
    }
}
