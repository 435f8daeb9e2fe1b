//! Selection by weight, by rank and within groups.

use crate::base::isa::Isa;
use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::problem::groups::Groups;
use crate::simd::words;

/// The slot of a wheel that a pointer at `u` in [0, 1) hits; each slot is as wide as its weight.
///
/// Negative weights have no width. Where no width is left, or it is not finite, all slots are
/// equally wide.
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
        // Evenly spaced pointers may be rounded up to the very end.
        return ((u * weights.len() as f64) as usize).min(weights.len().saturating_sub(1));
    }
    // Where no end lies behind the pointer, by rounding, it hits the last slot that has a width. Any other that it hits has
    // one: its end lies behind the end before it.
    let hit = ends.partition_point(|&end| end <= u * total);
    if hit < ends.len() {
        hit
    } else {
        weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
    }
}

/// The slots that `count` evenly spaced pointers hit, the first a fraction `u` of a step from the
/// start.
pub fn universal(weights: &[f64], count: usize, u: f64) -> Vec<usize> {
    (0..count).map(|at| roulette(weights, (u + at as f64) / count as f64)).collect()
}

/// The indices of the `k` largest values; among equals the lower index goes first.
pub fn top_k(values: &[f64], k: usize) -> Subset {
    let n = values.len();
    if k == 0 || k >= n {
        return if k == 0 { Subset::empty(n) } else { Subset::full(n) };
    }
    let keys: Vec<i64> = values.iter().map(|&value| order_key(value)).collect();
    let mut sorted = keys.clone();
    let least = *sorted.select_nth_unstable_by(n - k, i64::cmp).1;
    // Of those equal to the last one chosen, as many as there is room for.
    let mut room = k - keys.iter().filter(|&&key| key > least).count();
    words::subset(n, |word| {
        let [mut bits, mut equal] = words::above_or_equal(Isa::usual(), &keys[word.range()], least);
        while room > 0 && equal != 0 {
            bits |= equal & equal.wrapping_neg();
            equal &= equal - 1;
            room -= 1;
        }
        bits
    })
}

/// A whole number that is ordered as [`f64::total_cmp`] orders the value.
fn order_key(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// A subset put together group by group: `choose` gets the values of a group's members and returns the places of those
/// it selects. Features of no group are never selected.
pub fn select_within_groups(
    values: &[f64],
    groups: &Groups,
    choose: impl Fn(&[f64], &mut Rng) -> Subset,
    rng: &mut Rng,
) -> Subset {
    let mut selected = Subset::empty(values.len());
    for members in groups.iter() {
        let of_members: Vec<f64> = members.iter().map(|&feature| values[feature]).collect();
        for place in choose(&of_members, rng).iter() {
            selected.insert(members[place]);
        }
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_wheel_has_the_worked_slots() {
        // 2D-learning paper, section 3.5: a pointer at 3.25 of 5.14 lies in the third slot.
        assert_eq!(roulette(&[0.14, 2.56, 1.35, 0.38, 0.71], 3.25 / 5.14), 2);
        let negatives = [-0.2, 0.5, 0.0, -0.1, 0.3];
        assert_eq!((roulette(&negatives, 0.1), roulette(&negatives, 0.7)), (1, 4));
    }

    #[test]
    fn a_wheel_without_width_is_fair() {
        assert_eq!(roulette(&[-1.0, 0.0, -2.0], 0.5), 1);
        assert_eq!(roulette(&[f64::INFINITY, 1.0], 0.9), 1);
        assert_eq!(roulette(&[0.0, 0.0, 0.0], 1.0 - f64::EPSILON / 2.0), 2);
    }

    #[test]
    fn ranks_have_the_worked_order() {
        let sigma = [1.31, 2.40, 0.57, 1.46, 1.30];
        assert_eq!(top_k(&sigma, 3), Subset::from_indices(5, [0, 1, 3]));
        assert_eq!(top_k(&[0.5, 0.7, 0.5, 0.5], 3), Subset::from_indices(4, [0, 1, 2]));
        assert_eq!((top_k(&sigma, 0).count(), top_k(&sigma, 5).count()), (0, 5));
    }

    #[test]
    fn even_pointers_hit_a_slot_as_often_as_its_share_says() {
        assert_eq!(universal(&[1.0, 2.0, 0.0, 1.0], 8, 0.5), [0, 0, 1, 1, 1, 1, 3, 3]);
        assert_eq!(universal(&[0.0; 4], 4, 0.3), [0, 1, 2, 3]);
        // 3 + u is rounded to 4 here, and still there is no fifth slot.
        assert_eq!(universal(&[0.0; 4], 4, 1.0 - f64::EPSILON / 2.0)[3], 3);
    }

    proptest! {
        #[test]
        fn a_wheel_never_stops_at_an_empty_slot(
            weights in proptest::collection::vec(-1.0f64..1.0, 1..20),
            u in 0.0f64..1.0,
        ) {
            let slot = roulette(&weights, u);
            prop_assert!(weights[slot] > 0.0 || weights.iter().all(|&weight| weight <= 0.0));
        }

        #[test]
        fn a_wheel_stops_where_its_slots_one_by_one_pass_the_pointer(
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
        fn the_largest_go_first_and_of_equals_the_lower_index(
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
        fn no_value_left_out_is_larger(
            values in proptest::collection::vec(-1.0f64..1.0, 1..40),
            k in 0usize..40,
        ) {
            let chosen = top_k(&values, k);
            prop_assert_eq!(chosen.count(), k.min(values.len()));
            let least = chosen.iter().map(|at| values[at]).fold(f64::INFINITY, f64::min);
            prop_assert!(chosen.complement().iter().all(|at| values[at] <= least));
        }
    }
}
