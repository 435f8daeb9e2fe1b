//! Feasibility of sets of units that differ in size or belong to exclusive groups.

use crate::base::subset::Subset;

/// The sets of units that are feasible. A unit is a feature, or several features that are selected together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feasibility {
    /// The maximum number of selected features.
    limit: usize,
    /// The number of features of each unit.
    sizes: Vec<usize>,
    /// The exclusive groups of each unit's features; two selected units must not share a group.
    groups: Vec<Vec<usize>>,
    n_groups: usize,
}

impl Feasibility {
    /// At most `limit` features, in units of these sizes with features of these groups out of `n_groups`.
    pub fn new(limit: usize, sizes: Vec<usize>, groups: Vec<Vec<usize>>, n_groups: usize) -> Self {
        Self { limit, sizes, groups, n_groups }
    }

    /// Takes units in the given order, each if it is feasible with those taken before.
    pub fn take(&self, units: impl IntoIterator<Item = usize>) -> Subset {
        let mut taken = Subset::empty(self.sizes.len());
        let mut is_group_taken = vec![false; self.n_groups];
        let mut capacity = self.limit;
        for unit in units {
            let groups = &self.groups[unit];
            if self.sizes[unit] <= capacity && groups.iter().all(|&group| !is_group_taken[group]) {
                capacity -= self.sizes[unit];
                for &group in groups {
                    is_group_taken[group] = true;
                }
                taken.insert(unit);
            }
        }
        taken
    }

    /// An upper bound on the number of units of a feasible set.
    pub fn upper_bound(&self) -> usize {
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable();
        let (mut capacity, mut by_size) = (self.limit, 0);
        for size in sizes {
            if size > capacity {
                break;
            }
            capacity -= size;
            by_size += 1;
        }
        let ungrouped = self.groups.iter().filter(|groups| groups.is_empty()).count();
        let mut groups: Vec<usize> = self.groups.iter().flatten().copied().collect();
        groups.sort_unstable();
        groups.dedup();
        by_size.min(ungrouped + groups.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn feasibility() -> impl Strategy<Value = Feasibility> {
        let unit = (1usize..4, proptest::collection::btree_set(0usize..4, 0..3));
        (3usize..9, proptest::collection::vec(unit, 1..9)).prop_map(|(limit, units)| {
            let (sizes, groups): (Vec<_>, Vec<_>) = units.into_iter().unzip();
            let groups = groups.into_iter().map(|groups| groups.into_iter().collect()).collect();
            Feasibility::new(limit, sizes, groups, 4)
        })
    }

    fn is_feasible(feasibility: &Feasibility, units: &Subset) -> bool {
        let mut groups: Vec<usize> =
            units.iter().flat_map(|unit| feasibility.groups[unit].clone()).collect();
        groups.sort_unstable();
        let is_exclusive = groups.windows(2).all(|pair| pair[0] != pair[1]);
        is_exclusive
            && units.iter().map(|unit| feasibility.sizes[unit]).sum::<usize>() <= feasibility.limit
    }

    proptest! {
        #[test]
        fn taken_units_are_feasible_and_no_other_can_be_added(
            feasibility in feasibility(), order in Just((0..9).collect::<Vec<usize>>()).prop_shuffle(),
        ) {
            let n = feasibility.sizes.len();
            let requested: Vec<usize> = order.into_iter().filter(|&unit| unit < n).collect();
            let taken = feasibility.take(requested.iter().copied());
            prop_assert!(is_feasible(&feasibility, &taken) && taken.contains(requested[0]));
            for unit in (0..n).filter(|&unit| !taken.contains(unit)) {
                prop_assert!(!is_feasible(&feasibility, &taken.with(unit)));
            }
            prop_assert_eq!(feasibility.take(taken.iter()), taken);
        }

        #[test]
        fn no_feasible_set_exceeds_the_upper_bound(feasibility in feasibility()) {
            let n = feasibility.sizes.len();
            let all = (0..1u32 << n).map(|bits| Subset::from_fn(n, |unit| bits >> unit & 1 == 1));
            let largest = all.filter(|units| is_feasible(&feasibility, units)).map(|units| units.count()).max();
            prop_assert!(largest.is_some_and(|largest| largest <= feasibility.upper_bound()));
        }
    }
}
