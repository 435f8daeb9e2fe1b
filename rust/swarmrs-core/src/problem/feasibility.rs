//! What a choice must obey where what is chosen differs in size, or excludes each other.

use crate::base::subset::Subset;

/// Which units may be in at once. A unit is what an algorithm chooses: a feature, or features that go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    /// How many features may be in.
    limit: usize,
    /// How many features each unit has.
    sizes: Vec<usize>,
    /// The groups each unit has members of; no group may be met twice.
    groups: Vec<Vec<usize>>,
    n_groups: usize,
}

impl Fit {
    /// At most `limit` features out of units of these sizes, each of which has members of these groups out of
    /// `n_groups`.
    pub fn new(limit: usize, sizes: Vec<usize>, groups: Vec<Vec<usize>>, n_groups: usize) -> Self {
        Self { limit, sizes, groups, n_groups }
    }

    /// Takes units in the order given, each if it fits beside those taken before.
    pub fn take(&self, units: impl IntoIterator<Item = usize>) -> Subset {
        let mut taken = Subset::empty(self.sizes.len());
        let mut met = vec![false; self.n_groups];
        let mut room = self.limit;
        for unit in units {
            let groups = &self.groups[unit];
            if self.sizes[unit] <= room && groups.iter().all(|&group| !met[group]) {
                room -= self.sizes[unit];
                for &group in groups {
                    met[group] = true;
                }
                taken.insert(unit);
            }
        }
        taken
    }

    /// A number of units that no choice which fits exceeds.
    pub fn most(&self) -> usize {
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable();
        let (mut room, mut by_size) = (self.limit, 0);
        for size in sizes {
            if size > room {
                break;
            }
            room -= size;
            by_size += 1;
        }
        let alone = self.groups.iter().filter(|groups| groups.is_empty()).count();
        let mut groups: Vec<usize> = self.groups.iter().flatten().copied().collect();
        groups.sort_unstable();
        groups.dedup();
        by_size.min(alone + groups.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fit() -> impl Strategy<Value = Fit> {
        let unit = (1usize..4, proptest::collection::btree_set(0usize..4, 0..3));
        (3usize..9, proptest::collection::vec(unit, 1..9)).prop_map(|(limit, units)| {
            let (sizes, groups): (Vec<_>, Vec<_>) = units.into_iter().unzip();
            let groups = groups.into_iter().map(|groups| groups.into_iter().collect()).collect();
            Fit::new(limit, sizes, groups, 4)
        })
    }

    fn obeys(fit: &Fit, units: &Subset) -> bool {
        let mut groups: Vec<usize> =
            units.iter().flat_map(|unit| fit.groups[unit].clone()).collect();
        groups.sort_unstable();
        let is_met_once = groups.windows(2).all(|pair| pair[0] != pair[1]);
        is_met_once && units.iter().map(|unit| fit.sizes[unit]).sum::<usize>() <= fit.limit
    }

    proptest! {
        #[test]
        fn what_is_taken_fits_and_nothing_more_would(
            fit in fit(), order in Just((0..9).collect::<Vec<usize>>()).prop_shuffle(),
        ) {
            let n = fit.sizes.len();
            let asked: Vec<usize> = order.into_iter().filter(|&unit| unit < n).collect();
            let taken = fit.take(asked.iter().copied());
            prop_assert!(obeys(&fit, &taken) && taken.contains(asked[0]));
            for unit in (0..n).filter(|&unit| !taken.contains(unit)) {
                prop_assert!(!obeys(&fit, &taken.with(unit)));
            }
            prop_assert_eq!(fit.take(taken.iter()), taken);
        }

        #[test]
        fn no_choice_that_fits_has_more_units_than_most(fit in fit()) {
            let n = fit.sizes.len();
            let all = (0..1u32 << n).map(|bits| Subset::from_fn(n, |unit| bits >> unit & 1 == 1));
            let largest = all.filter(|units| obeys(&fit, units)).map(|units| units.count()).max();
            prop_assert!(largest.is_some_and(|largest| largest <= fit.most()));
        }
    }
}
