//! Selection by weight, by rank and within groups.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::problem::groups::Groups;

/// The slot of a wheel that a pointer at `u` in [0, 1) hits; each slot is as wide as its weight.
///
/// Negative weights have no width. Where no width is left, or it is not finite, all slots are
/// equally wide.
pub fn roulette(weights: &[f64], u: f64) -> usize {
    let total: f64 = weights.iter().map(|weight| weight.max(0.0)).sum();
    if !(total > 0.0 && total.is_finite()) {
        // Evenly spaced pointers may be rounded up to the very end.
        return ((u * weights.len() as f64) as usize).min(weights.len().saturating_sub(1));
    }
    let (mut reached, mut last) = (0.0, 0);
    for (slot, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            reached += weight;
            last = slot;
            if u * total < reached {
                break;
            }
        }
    }
    last
}

/// The slots that `count` evenly spaced pointers hit, the first a fraction `u` of a step from the
/// start.
pub fn universal(weights: &[f64], count: usize, u: f64) -> Vec<usize> {
    (0..count).map(|at| roulette(weights, (u + at as f64) / count as f64)).collect()
}

/// The indices of the `k` largest values; among equals the lower index goes first.
pub fn top_k(values: &[f64], k: usize) -> Subset {
    let mut order: Vec<usize> = (0..values.len()).collect();
    if (1..values.len()).contains(&k) {
        order.select_nth_unstable_by(k - 1, |&a, &b| {
            values[b].total_cmp(&values[a]).then(a.cmp(&b))
        });
    }
    order.truncate(k);
    Subset::from_indices(values.len(), order)
}

/// A subset put together group by group: `choose` gets the values of a group's members and returns the places of those
/// it selects. Features of no group are never selected.
pub fn within_groups(
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
